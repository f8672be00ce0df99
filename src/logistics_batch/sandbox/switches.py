"""What the API document leaves open, as switches with a default each."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from logistics_batch.sandbox.contract.forms import first_of

_YEAR_SECONDS = 31_536_000
_Seconds = Annotated[float, Field(ge=0, le=_YEAR_SECONDS)]


class Switches(BaseModel):
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
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, str_strip_whitespace=True)

    duplicate_reference: Literal["refuse", "replay", "error"] = "refuse"
    order_id_reading: Literal["fetch_both", "both", "id", "reference"] = "fetch_both"
    unknown_order_status: Annotated[Literal[400, 404], BeforeValidator(int)] = 400
    multi_order_labels: Literal["one_pdf", "one_pdf_reversed", "first_only", "refused"] = "one_pdf"
    multi_order_bad_number: Literal["refuse", "skip"] = "refuse"
    effect_delay_seconds: _Seconds = 0.0
    numbers_for_strings: bool = False
    asn_envelope: Literal["list", "pass", "success", "bare", "results", "data", "by_id", "single"] = "list"
    asn_page_cap: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    asn_count: Literal["total", "shown", "absent"] = "total"
    asn_lines_form: Literal["list", "by_id"] = "list"
    asn_lines_key: Literal["sku_lines", "lines", "items"] = "sku_lines"
    asn_parties: Literal["both", "id", "name", "object"] = "both"
    asn_replies: Literal["id", "text", "record", "bare", "empty"] = "id"
    asn_errors: Literal["fail", "detail"] = "fail"
    asn_duplicate: Literal["allow", "refuse"] = "allow"
    asn_identity: Literal["parties_and_invoice", "invoice", "refuse"] = "parties_and_invoice"
    link_lifetime_seconds: Annotated[float, Field(ge=-1, le=_YEAR_SECONDS)] = 900.0
    webhook_first_retry_seconds: _Seconds = 0.5
    webhook_attempts: Annotated[int, Field(ge=1, le=1_000)] = 4
    webhook_timeout_seconds: _Seconds = 5.0

    def changed(self, changes: dict[str, Any]) -> "Switches":
        """These switches with `changes` (values of their own type, or as text); ValueError names what is wrong."""
        unknown = sorted(set(changes) - set(Switches.model_fields))
        if unknown:
            raise ValueError(f"unknown switch {unknown[0]!r}; there are {', '.join(Switches.model_fields)}")
        try:
            return Switches.model_validate(self.model_dump() | changes)
        except ValidationError as error:
            raise ValueError(f"switch {first_of(error)}") from None
