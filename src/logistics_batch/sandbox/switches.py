"""What the API document leaves open, as switches with a default each."""

from dataclasses import dataclass, fields, replace
from typing import Any, get_type_hints

from logistics_batch.sandbox.events_oddities import EVENT_DISORDERS, EVENT_FORMS, read_shares

CHOICES = {
    "duplicate_reference": ("refuse", "replay", "error"),
    "asn_envelope": ("list", "pass", "bare"),
}
SHARES = {"event_form": EVENT_FORMS, "event_disorder": EVENT_DISORDERS}


@dataclass(frozen=True)
class Switches:
    """How the sandbox behaves where the document says "not shown".

    ``duplicate_reference``: the answer to a second create of a live reference (API §8.4): ``refuse`` 400, ``replay``
    the first answer again with 200, ``error`` 500.
    ``fetch_by_reference``: whether GET of an order also knows reference numbers (API §4.5 names an id only).
    ``asn_envelope``: the body of the ASN fetch: ``list`` ``{count, next, previous, result}``, ``pass`` the same list
    inside ``{status, message}``, ``bare`` the list alone.
    ``link_lifetime_seconds``: how long a label link works (API §8.5).
    ``webhook_first_retry_seconds``, ``webhook_attempts``, ``webhook_timeout_seconds``: event deliveries; each pause is
    four times the last and up to a quarter more, each attempt has its own time limit (API §6).
    ``event_form``: events in other forms than the document's, with the share of each: ``older=0.2,comment_null=0.1``;
    forms: ``older comment_null plain_awb mobile_with_country naive_times utc_times trip_created``.
    ``event_disorder``: events at the wrong time, with the share of each: ``duplicate out_of_order late replayed``.
    ``event_late_seconds``: how late those are (replayed ones five times as much). ``event_seed``: what is drawn from.
    ``move_orders_every_seconds``: every so often each open order goes one status on; 0: orders move only when told.
    """

    duplicate_reference: str = "refuse"
    fetch_by_reference: bool = True
    asn_envelope: str = "list"
    link_lifetime_seconds: float = 900.0
    webhook_first_retry_seconds: float = 0.5
    webhook_attempts: int = 4
    webhook_timeout_seconds: float = 5.0
    event_form: str = ""
    event_disorder: str = ""
    event_late_seconds: float = 2.0
    event_seed: int = 0
    move_orders_every_seconds: float = 0.0

    def changed(self, changes: dict[str, Any]) -> "Switches":
        """These switches with `changes` (values of their own type, or as text); ValueError names what is wrong."""
        kinds = get_type_hints(Switches)
        unknown = sorted(set(changes) - set(kinds))
        if unknown:
            raise ValueError(f"unknown switch {unknown[0]!r}; there are {', '.join(kinds)}")
        values: dict[str, Any] = {name: _value(name, kinds[name], given) for name, given in changes.items()}
        return replace(self, **values)

    def as_dict(self) -> dict[str, Any]:
        """Name and value of each switch."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _value(name: str, kind: type, given: object) -> object:
    text = str(given).strip().lower() if isinstance(given, bool) else str(given).strip()
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(f"switch {name} takes true or false, not {given!r}")
        return text == "true"
    if name in CHOICES and text not in CHOICES[name]:
        raise ValueError(f"switch {name} takes {', '.join(CHOICES[name])}, not {given!r}")
    if name in SHARES:
        return _shares(name, text)
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"switch {name} takes a number, not {given!r}") from None


def _shares(name: str, text: str) -> str:
    try:
        read_shares(text, SHARES[name])
    except ValueError as error:
        raise ValueError(f"switch {name}: {error}") from None
    return text
