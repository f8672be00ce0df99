"""What the API document leaves open, as switches with a default each."""

from dataclasses import dataclass, fields, replace
from typing import Any, get_type_hints

from logistics_batch.sandbox.events.oddities import EVENT_DISORDERS, EVENT_FORMS, read_shares

CHOICES = {
    "duplicate_reference": ("refuse", "replay", "error"),
    "order_id_reading": ("fetch_both", "both", "id", "reference"),
    "unknown_order_status": (400, 404),
    "multi_order_labels": ("one_pdf", "one_pdf_reversed", "first_only", "refused"),
    "multi_order_bad_number": ("refuse", "skip"),
    "asn_envelope": ("list", "pass", "success", "bare", "results", "data", "by_id", "single"),
    "asn_count": ("total", "shown", "absent"),
    "asn_lines_form": ("list", "by_id"),
    "asn_lines_key": ("sku_lines", "lines", "items"),
    "asn_parties": ("both", "id", "name", "object"),
    "asn_replies": ("id", "text", "record", "bare", "empty"),
    "asn_errors": ("fail", "detail"),
    "asn_duplicate": ("allow", "refuse"),
    "asn_identity": ("parties_and_invoice", "invoice", "refuse"),
}
_YEAR_SECONDS = 31_536_000
_RANGES = {  # of numbers; other seconds go from 0 to a year
    "asn_page_cap": (0, 1_000_000),
    "webhook_attempts": (1, 1_000),
    "link_lifetime_seconds": (-1, _YEAR_SECONDS),
}
SHARES = {"event_form": EVENT_FORMS, "event_disorder": EVENT_DISORDERS}


@dataclass(frozen=True)
class Switches:
    """How the sandbox behaves where the document says "not shown".

    ``duplicate_reference``: the answer to a second create of a live reference (API §8.4): ``refuse`` 400, ``replay``
    the first answer again with 200, ``error`` 500.
    ``order_id_reading``: what ``{orderId}`` of GET and PUT /orders/shipment may be (API §4.5, §4.7): ``id`` AWB number
    or order id, ``reference`` the reference number alone, ``both`` either, ``fetch_both`` either for GET, id for PUT.
    ``unknown_order_status``: 400 or 404 for an order that is not there (API §7).
    ``multi_order_labels``: a label call for several orders (API §4.4): ``one_pdf`` for all in the order asked or
    ``one_pdf_reversed``, ``first_only`` the first order's label without a word, or ``refused``.
    ``multi_order_bad_number``: an unknown or cancelled order among several: ``refuse`` the whole call, or ``skip`` it.
    ``effect_delay_seconds``: creates, updates and cancels are answered at once and happen so much later: until then
    nobody sees them, and what is not allowed by then (a reference that was taken meanwhile) is lost.
    ``numbers_for_strings``: answers about orders and ASNs give numbers and booleans where String is published, and
    strings where numbers are (API §2).
    ``asn_envelope``: the body of the ASN fetch (API §4.1): ``list`` ``{count, next, previous, result}``, ``pass`` and
    ``success`` the same list inside ``{status, message}``, ``bare`` the list alone, ``results`` and ``data`` the list
    under that key, ``by_id`` ``{status, message}`` with an object keyed by id, ``single`` one record alone as itself.
    ``asn_page_cap``: the ASN fetch shows this many records at most, without a word (API §8.7); 0: all.
    ``asn_count``: what ``count`` then says: ``total`` all that were found, ``shown``, ``absent`` no count at all.
    ``asn_lines_form``, ``asn_lines_key``: the lines of a fetched ASN as ``list`` or as object ``by_id``, and under
    which name: ``sku_lines lines items``.
    ``asn_parties``: supplier and site of a fetched ASN: ``both`` id and name, ``id`` alone, ``name`` in the place of
    the id, ``object`` ``{id, name}`` in its place.
    ``asn_replies``: the answer to create and update of an ASN (API §4.2, §4.3): PASS with ``id`` and invoice number,
    with a ``text``, with the whole ``record``; the record ``bare``; or an ``empty`` body.
    ``asn_errors``: failures of the ASN endpoints (API §7): ``fail`` the FAIL envelope, ``detail`` ``{detail}``.
    ``asn_duplicate``: a second ASN of the same identity: ``allow`` or ``refuse``.
    ``asn_identity``: how PUT finds its ASN (API §4.3): ``parties_and_invoice`` supplier, site and invoice number,
    ``invoice`` the number alone, ``refuse`` never.
    ``link_lifetime_seconds``: how long a label link works (API §8.5); -1: it has expired when it is given.
    ``webhook_first_retry_seconds``, ``webhook_attempts``, ``webhook_timeout_seconds``: event deliveries; each pause is
    four times the last and up to a quarter more, each attempt has its own time limit (API §6).
    ``event_form``: events in other forms than the document's, with the share of each: ``older=0.2,comment_null=0.1``;
    forms: ``older comment_null plain_awb mobile_with_country naive_times utc_times trip_created``.
    ``event_disorder``: events at the wrong time, with the share of each: ``duplicate out_of_order late replayed``.
    ``event_late_seconds``: how late those are (replayed ones five times as much). ``event_seed``: what is drawn from.
    """

    duplicate_reference: str = "refuse"
    order_id_reading: str = "fetch_both"
    unknown_order_status: int = 400
    multi_order_labels: str = "one_pdf"
    multi_order_bad_number: str = "refuse"
    effect_delay_seconds: float = 0.0
    numbers_for_strings: bool = False
    asn_envelope: str = "list"
    asn_page_cap: int = 0
    asn_count: str = "total"
    asn_lines_form: str = "list"
    asn_lines_key: str = "sku_lines"
    asn_parties: str = "both"
    asn_replies: str = "id"
    asn_errors: str = "fail"
    asn_duplicate: str = "allow"
    asn_identity: str = "parties_and_invoice"
    link_lifetime_seconds: float = 900.0
    webhook_first_retry_seconds: float = 0.5
    webhook_attempts: int = 4
    webhook_timeout_seconds: float = 5.0
    event_form: str = ""
    event_disorder: str = ""
    event_late_seconds: float = 2.0
    event_seed: int = 0

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
    choices = [str(choice) for choice in CHOICES.get(name, ())]
    if choices and text not in choices:
        raise ValueError(f"switch {name} takes {', '.join(choices)}, not {given!r}")
    if name in SHARES:
        return _shares(name, text)
    try:
        number: float = kind(text)
    except ValueError:
        raise ValueError(f"switch {name} takes a number, not {given!r}") from None
    low, high = _RANGES.get(name, (0, _YEAR_SECONDS) if kind is float else (number, number))
    if not low <= number <= high:
        raise ValueError(f"switch {name} takes a number from {low} to {high}, not {given!r}")
    return number


def _shares(name: str, text: str) -> str:
    try:
        read_shares(text, SHARES[name])
    except ValueError as error:
        raise ValueError(f"switch {name}: {error}") from None
    return text
