"""What the service and the ledger know about a range: fetched, searched again where one side shows nothing, deduped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from logistics_batch.flows.asns.fetch import FetchedAsns, fetch_asns, fetch_by_invoice, record_identity
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.answer_checks import (
    as_seen,
    hidden,
    invoices,
    not_asked_for,
    nothing_of_ours,
    unseen_note,
)
from logistics_batch.flows.reconcile.goods_list import ReadList
from logistics_batch.flows.reconcile.notices import Scope, announced_documents, in_scope
from logistics_batch.intake.names import printable
from logistics_batch.ledger import StoredDocument
from logistics_batch.model.spelling import folded
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
