"""What the service and the ledger know about a range: fetched, searched again where one side shows nothing, deduped.

Why the service's answers cannot be taken at their word, though each of them looks whole; and marks that nobody sees.

A reply may hold a zero width space, a soft hyphen or a byte order mark in a SKU or invoice number. People read the same
name, so ASNs are compared without them, and a note shows where they stand.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from logistics_batch.api.answers import asn_header
from logistics_batch.flows.asns.fetch import FetchedAsns, fetch_asns, fetch_by_invoice, record_identity
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.goods_list import ReadList
from logistics_batch.flows.reconcile.notices import Scope, announced_documents, in_scope
from logistics_batch.intake.names import printable
from logistics_batch.ledger import StoredDocument
from logistics_batch.messages.words import shortened
from logistics_batch.model.counting import counted
from logistics_batch.model.spelling import folded, is_unseen
from logistics_batch.reconciliation import order_number_of

SEARCHED_BY_INVOICE = 2_000
"""So many ASNs that the range does not show are searched, one by one; none is called missing that was not."""

_OVERLAP = timedelta(days=1)
# A document in these states may stand in the service.
_MAY_BE_THERE = ("accepted", "in_doubt", "sending")


@dataclass(frozen=True, slots=True)
class Gathered:
    """The service's records and the ledger's documents.

    complete: the service's answer was whole as far as can be tested; `doubts` say why not. folder: its raw replies.
    notes: what else a reader should know of the answers.
    """

    records: tuple[dict[str, Any], ...] = field(repr=False)
    documents: list[StoredDocument] = field(repr=False)
    complete: bool
    doubts: tuple[str, ...]
    requests: int
    folder: Path | None
    notes: tuple[str, ...] = ()


def gather(parts: Parts, scope: Scope, receipts: ReadList, orders: ReadList) -> Gathered:
    """Ask the service for the range, then by invoice number for what files or receipts name and the range lacks.

    ASNs of the purchase orders are announced whatever their dates.

    An ASN whose delivery date was changed at the service is not in the range, and still not missing.
    """
    wanted = scope.wanted
    if wanted.by != "delivery":  # moments: in which zone the service's days are is not documented
        wanted = replace(wanted, date_from=wanted.date_from - _OVERLAP, date_to=wanted.date_to + _OVERLAP)
    range_answers = fetch_asns(parts, wanted)
    fetched = _as_seen(range_answers)
    returned = invoices(fetched.records)
    received = [] if receipts.lines is None else receipts.lines["invoice_number"].drop_nulls().to_list()
    named = [] if orders.lines is None else orders.lines["invoice_number"].drop_nulls().to_list()
    announced = announced_documents(
        parts.ledger,
        scope,
        references={*returned, *received, *named, *scope.followed.values()},
        orders=order_numbers(orders),
    )
    documents = [document for document in announced if not document.purged]
    absent = _absent(documents, scope, returned=returned, received=received)
    asked, left = absent[:SEARCHED_BY_INVOICE], absent[SEARCHED_BY_INVOICE:]
    search_answers = fetch_by_invoice(parts, asked, answered=True)
    searched = _as_seen(search_answers)
    unsearched, first = "invoice numbers that the range does not show were not searched one by one", left[:1]
    doubts = (
        *hidden(searched, fetched, scope),
        *not_asked_for(searched, asked),
        *nothing_of_ours(announced, scope, (fetched, searched)),
        *(f"{len(left)} {unsearched} (the first: {printable(number)})." for number in first),
    )
    purged = len(announced) - len(documents)
    gone = "announced ASNs are no longer kept in full (ledger.purge_after), and cannot be compared."
    return Gathered(
        records=tuple({**fetched.by_identity, **searched.by_identity}.values()),
        documents=documents,
        complete=fetched.complete and searched.complete and not (doubts or purged),
        doubts=(*_doubts(fetched), *_doubts(searched), *doubts, *((f"{purged} {gone}",) if purged else ())),
        requests=fetched.requests + searched.requests,
        folder=fetched.folder,
        notes=(
            *(fetched.notes if fetched.complete else ()),
            *unseen_note((*range_answers.records, *search_answers.records)),
        ),
    )


def _as_seen(fetched: FetchedAsns) -> FetchedAsns:
    return replace(fetched, by_identity={record_identity(one): one for one in map(as_seen, fetched.records)})


def order_numbers(orders: ReadList) -> frozenset[str]:
    """The numbers of the purchase orders, as they are compared."""
    numbers = [] if orders.lines is None else orders.lines["po_number"].drop_nulls().to_list()
    return frozenset(order_number_of(number) for number in numbers) - {""}


def _absent(
    documents: Sequence[StoredDocument], scope: Scope, *, returned: Sequence[str], received: Sequence[str]
) -> list[str]:
    """Invoice numbers of which the range shows fewer ASNs than files announced, then others followed or received."""
    shown = Counter(folded(number) for number in returned)
    announced: Counter[str] = Counter()
    wanted: dict[str, str] = {}
    for document in documents:
        if document.state in _MAY_BE_THERE and in_scope(document, scope):
            number = folded(document.reference)
            announced[number] += 1
            if announced[number] > shown[number]:
                wanted.setdefault(number, document.reference)
    known = {*shown, *(folded(document.reference) for document in documents)}
    for number in (*scope.followed.values(), *received):
        if folded(number) not in known:
            wanted.setdefault(folded(number), number.strip())
    return [number for number in wanted.values() if number]


def _doubts(fetched: FetchedAsns) -> tuple[str, ...]:
    return () if fetched.complete else fetched.notes


ENOUGH_TO_TELL = 3
"""So many accepted ASNs must all be absent before the answer is doubted instead of calling them missing."""


def of_the_range(fetched: FetchedAsns, scope: Scope) -> FetchedAsns:
    """Without the ASNs that show another date than was asked for: a service may not know the filter. They are told."""
    days = [scope.day_of(getattr(asn_header(one), f"{scope.wanted.by}_date")) for one in fetched.records]
    each = zip(fetched.by_identity.items(), days, strict=True)
    ours = dict(one for one, day in each if day is None or scope.holds(day))
    others = len(days) - len(ours)
    if not others:
        return fetched
    lie = "lies" if others == 1 else "lie"
    note = f"{counted(others, 'ASN')} that the service returned {lie} outside the range {scope.wanted}: left out."
    return replace(fetched, by_identity=ours, notes=(*fetched.notes, note))


def invoices(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The invoice numbers that the service shows."""
    return [asn_header(dict(record)).invoice_number for record in records]


def hidden(searched: FetchedAsns, fetched: FetchedAsns, scope: Scope) -> tuple[str, ...]:
    """What gives a cut answer away: ASNs of the range that only a search by invoice number shows."""
    others = searched.by_identity.keys() - fetched.by_identity
    unseen = [one for identity, one in searched.by_identity.items() if identity in others and scope.is_surely_in(one)]
    if not unseen:
        return ()
    first = asn_header(unseen[0]).invoice_number
    found = f"{len(unseen)} ASNs of the range were found by invoice number only (the first: {first})"
    return (f"{found}: the service's answers for the range were cut.",)


def not_asked_for(searched: FetchedAsns, numbers: Sequence[str]) -> tuple[str, ...]:
    """Searches by invoice number that show other ASNs, and none with (or with a part of) a number asked for."""
    asked = [folded(number) for number in numbers]
    shown = invoices(searched.records)
    if not shown or any(number in folded(one) for one in shown for number in asked):
        return ()
    searches = f"Asked for {len(asked)} invoice numbers one by one (the first: {numbers[0]}), the service returned"
    return (f'{searches} only ASNs with other numbers (the first: "{shown[0]}"): what it lacks cannot be told.',)


def nothing_of_ours(
    documents: Iterable[StoredDocument], scope: Scope, answers: Sequence[FetchedAsns]
) -> tuple[str, ...]:
    """An answer that shows none of the ASNs that the service accepted: rather a wrong answer than so many losses."""
    ours = {folded(one.reference) for one in documents if one.state == "accepted" and in_scope(one, scope)}
    shown = {folded(number) for answer in answers for number in invoices(answer.records)}
    if len(ours) < ENOUGH_TO_TELL or ours & shown:
        return ()
    returned = f"{sum(len(answer.records) for answer in answers)} ASNs" if shown else "no ASN"
    found = f"The service returned {returned} and none of the {len(ours)} that it accepted in this range"
    remedy = "Check service.base_url, the API key, and whether its answers show the invoice numbers."
    return (f"{found}: whether they are missing cannot be told. {remedy}",)


_JOINERS: Final = "\u200c\u200d"  # Indian scripts cannot be written without them
_KEYS: Final = ("invoice_number", "sku_name", "name", "item_name", "sku")
_NAMED: Final = 3
_DEEPEST: Final = 6


def as_seen(value: Any, *, depth: int = 0) -> Any:
    """A value of JSON without the marks that nobody sees in its texts; itself where there are none.

    >>> as_seen({"sku_name": "W-1\\u200b", "qty": 5})
    {'sku_name': 'W-1', 'qty': 5}
    """
    if isinstance(value, str):
        return value if value.isprintable() else "".join(c for c in value if c in _JOINERS or not is_unseen(c))
    if depth < _DEEPEST and isinstance(value, dict):
        return {name: as_seen(each, depth=depth + 1) for name, each in value.items()}
    if depth < _DEEPEST and isinstance(value, list):
        return [as_seen(each, depth=depth + 1) for each in value]
    return value


def unseen_note(records: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Which invoice numbers and SKUs of the service hold such marks, which the note shows; none if none does."""
    found = dict.fromkeys(text for record in records for text in _keys(record) if as_seen(text) != text)
    if not found:
        return ()
    first = shortened([f'"{printable(text)}"' for text in found], limit=_NAMED)
    texts = f"{counted(len(found), 'text')} of the service's replies"
    return (f"Marks that nobody sees stand in {texts} ({first}): invoice numbers and SKUs are compared without.",)


def _keys(value: Any, *, depth: int = 0) -> Iterable[str]:
    """The texts under the names by which ASNs and their lines are known."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(each, str):
                yield from [each] if name in _KEYS else []
            elif depth < _DEEPEST:
                yield from _keys(each, depth=depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each, depth=depth + 1)
