"""Which orders want a label: by run, by number or because they were never printed; and what is in them now.

The order in which people walk: labels sorted by keys, blanks last, numbers as numbers.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.comparison import accepted_changes, cash_of
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import PrintLine, StoredDocument
from logistics_batch.model.order_state import CANCELLED, status_word
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.specification import nearest

LATELY = timedelta(days=7)  # how long a run that asks for no certain orders tells of a cancellation or change
ITEM_AND_HEADER_CHANGES = ("order.update", "order.add_items", "order.delete_items")
_OPEN_STATES = frozenset({"sending", "in_doubt", "held"})
_DROPPED_STATES = frozenset({"superseded", "abandoned"})  # no longer wanted by anybody


_Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PickedItem:
    """One item of an order; bin: where it lies, "" if that is not known."""

    name: str
    quantity: Decimal
    bin: str = ""


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """An accepted order as the label flow sees it.

    body: the payload as it was sent, with the header fields of later accepted changes. items: those that it has now, of
    its kits too; items_certain: whether all changes of them could be followed. changed_at: when the service last
    accepted a change of the order, "" if never. copies: how often its label was printed so far; printed_at: when last,
    "" if never. keep: what the mappings keep of it, the label sheet's before the order's. place: in file order, or in
    the order of a list.
    """

    document: StoredDocument
    body: dict[str, Any]
    items: tuple[PickedItem, ...] = ()
    items_certain: bool = True
    changed_at: str = ""
    copies: int = 0
    printed_at: str = ""
    keep: Mapping[str, str] = field(default_factory=dict)
    place: int = 0

    @property
    def awb_number(self) -> str:
        """The order's AWB."""
        return self.document.awb_number

    @property
    def reference(self) -> str:
        """The order's reference number."""
        return self.document.reference

    @property
    def children(self) -> tuple[str, ...]:
        """The AWB of each package; none for a single one."""
        return self.document.child_awb_numbers

    @property
    def package_awbs(self) -> tuple[str, ...]:
        """The AWB on each of its labels: the package's own, the order's where packages have none."""
        return self.children or (self.awb_number,) * self.packages

    @property
    def packages(self) -> int:
        """How many packages, and so labels, the order was created with (API §2.3)."""
        if self.children:
            return len(self.children)
        count = self.body.get("packages_count")
        sent = _items_of(self.document.payload)
        named = {item["package_id"] for item in sent if item.get("package_id")}
        return max(1, count if isinstance(count, int) else 0, len(named))

    @property
    def cash(self) -> Decimal:
        """Rupees to collect on delivery, 0 when prepaid."""
        return cash_of(self.body)

    def text(self, field: str) -> str:
        """A header field of the payload as text, "" if it was not sent."""
        return str(self.body.get(field) or "")


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """Which orders are asked for; nothing: all that were never printed.

    run: its id, or a job's name for its latest run. day: a business date. numbers: references or AWB numbers; keep:
    what the sheet that names them says of each beside.
    """

    run: str = ""
    day: date | None = None
    numbers: Sequence[str] = ()
    keep: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """Whether certain orders are asked for, so that each of them is to be accounted for."""
        return bool(self.run or self.numbers or self.day)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was asked for.

    orders: to be printed, in file order. missing: asked for, but without a label. printed_before: left out because
    their label was printed and no reprint was asked for. doubtful: something asked for is in doubt or held.
    cancelled: references that nobody asked for by name, left out because the order was cancelled lately.
    """

    orders: tuple[LabelOrder, ...] = ()
    missing: tuple[MissingLabel, ...] = ()
    printed_before: tuple[LabelOrder, ...] = ()
    doubtful: bool = False
    in_words: str = ""
    cancelled: tuple[str, ...] = ()


def choose_orders(parts: Parts, choice: LabelChoice, *, reprint: bool = False) -> Chosen:
    """The orders of a run, a day or a list, or all that were never printed.

    Raises:
        UsageError: there is no such run.
    """
    documents, numbers = parts.ledger.documents, list[str]()
    if choice.run:
        run_id = parts.run_called(choice.run).id
        found = documents.select(operations=["order.create"], run=run_id)
        in_words = f"of run {run_id}"
    elif choice.day:
        runs = parts.ledger.runs.runs_of(choice.day.isoformat())
        found = [each for run in runs for each in documents.select(operations=["order.create"], run=run.id)]
        in_words = f"of {choice.day.isoformat()}"
    elif choice.numbers:
        numbers = list(dict.fromkeys(filter(None, map(str.strip, choice.numbers))))
        found = documents.select(operations=["order.create"], references=numbers)
        in_words = f"{len(numbers)} by number"
    else:
        found = parts.ledger.labels.unprinted_orders()
        in_words = "accepted and never printed"
    known = {name for each in found for name in (each.reference, each.awb_number)}
    found += documents.of_packages([number for number in numbers if number not in known])
    known |= {number for each in found for number in each.child_awb_numbers}
    why, remedy = "no order with this reference or AWB was sent from here", "check the number"
    unknown = [MissingLabel(number, "", why, remedy) for number in numbers if number not in known]
    wanted = [document for document in _latest(found) if document.state not in _DROPPED_STATES]
    chosen = _sift(parts, wanted, choice, reprint=reprint)
    return replace(chosen, missing=(*unknown, *chosen.missing), in_words=in_words)


def _latest(documents: Iterable[StoredDocument]) -> list[StoredDocument]:
    """One document a reference: the accepted and living one, else the latest."""

    def rank(document: StoredDocument) -> tuple[bool, int]:
        return document.state == "accepted" and document.rule != "cancelled", document.id

    best = {document.key: document for document in sorted(documents, key=rank)}
    return sorted(best.values(), key=lambda document: document.id)


def _sift(parts: Parts, documents: Sequence[StoredDocument], choice: LabelChoice, *, reprint: bool) -> Chosen:
    """What is printed of the documents that were asked for, and what becomes of the others."""
    changes = accepted_changes(parts, documents)
    prints = parts.ledger.labels.last_prints([document.awb_number for document in documents])
    places = {number.strip(): place for place, number in reversed(list(enumerate(choice.numbers)))}
    cancelled = _cancelled(parts, documents, changes)
    orders, missing, printed = list[LabelOrder](), list[MissingLabel](), list[LabelOrder]()
    for document in documents:
        lost = _why_no_label(document, cancelled=document.id in cancelled)
        if lost is not None:
            if choice.named or not (document.id in cancelled or document.purged):
                missing.append(missing_label(document, *lost))
            continue
        names = (document.reference, document.awb_number, *document.child_awb_numbers)
        name = next((name for name in names if name in places), "")
        later = changes.get(document.id, [])
        order = _label_order(document, later, prints.get(document.awb_number), choice.keep.get(name, {}))
        order = replace(order, place=places.get(name, document.id))
        (printed if order.copies and not reprint else orders).append(order)
    doubtful = any(document.state in _OPEN_STATES for document in documents)
    lately = (parts.clock.now() - LATELY).isoformat()
    told = () if choice.named else tuple(each.reference for each in documents if cancelled.get(each.id, "") > lately)
    return Chosen(tuple(orders), tuple(missing), tuple(printed), doubtful, cancelled=told)


def _label_order(
    document: StoredDocument, changes: Sequence[StoredDocument], printed: PrintLine | None, keep: Mapping[str, str]
) -> LabelOrder:
    """The order as it is now; keep: what the sheet that asks for its label says of it."""
    body, items, certain = _contents_of(document, changes)
    if items and "bin" in keep:
        items = (replace(items[0], bin=keep["bin"]), *items[1:])
    return LabelOrder(
        document=document,
        body=body,
        items=items,
        items_certain=certain,
        changed_at=changes[-1].accepted_at if changes else "",
        copies=printed.copy if printed else 0,
        printed_at=printed.at if printed else "",
        keep={name: value for name, value in {**document.keep, **keep}.items() if name.partition(":")[0] != "bin"},
    )


def _cancelled(
    parts: Parts, documents: Sequence[StoredDocument], changes: Mapping[int, Sequence[StoredDocument]]
) -> dict[int, str]:
    """The orders that were cancelled by hand, from here, or as the service showed them; when, "" if by hand."""
    found = {document.id: "" for document in documents if document.rule == "cancelled"}
    for number, later in changes.items():
        found |= dict.fromkeys((number for each in later if each.operation == "order.cancel"), later[-1].accepted_at)
    accepted = [document.id for document in documents if document.state == "accepted"]
    seen = parts.ledger.orders.sent(document_ids=accepted)
    found |= {each.document_id: each.state.asked_at for each in seen if status_word(each.state.status) == CANCELLED}
    return found


_NOT_ACCEPTED = {
    "planned": ("the order was not sent yet", "run the job again, then print"),
    "sending": ("the order is being sent", 'run "logistics-batch settle --wait", then print'),
    "in_doubt": ("it is in doubt whether the service has the order", 'run "logistics-batch settle --wait", then print'),
    "refused": ("the service refused the order", "correct the row and drop the file again"),
    "held": ("the order is held until a person decides", 'see "logistics-batch held list"'),
}


def _why_no_label(document: StoredDocument, *, cancelled: bool) -> tuple[str, str] | None:
    """Why an order has no label, and what to do; None where it has one."""
    if document.state != "accepted":
        reason, remedy = _NOT_ACCEPTED[document.state]
        return f"{reason}: {document.reason}" if document.reason else reason, remedy
    if cancelled:
        return "the order was cancelled", "nothing; do not pick it"
    if not document.awb_number:
        return "the AWB is not known", "look the order up with the operator of the service"
    return ("its content is no longer kept", "print its label at the service") if document.purged else None


def missing_label(document: StoredDocument, reason: str, remedy: str) -> MissingLabel:
    """An order of the ledger without a label."""
    return MissingLabel(document.reference, document.awb_number, reason, remedy, *source_of(document))


def source_of(document: StoredDocument) -> tuple[str, str, tuple[int, ...]]:
    """The file, sheet and rows that an order came from."""
    return document.file_name, document.sheet, document.rows


# -- what an order consists of now: as it was sent, with the changes that the service accepted since ------------------


def _contents_of(
    document: StoredDocument, changes: Sequence[StoredDocument]
) -> tuple[dict[str, Any], tuple[PickedItem, ...], bool]:
    """The payload of an order whose bytes are kept, with its later header fields, its items after its accepted changes
    (oldest first), and whether every change of the items could be followed."""
    body = document.payload
    sent = _items_of(body)
    ids = _with_ids(sent, {} if body.get("kit_skus") else document.items)
    # Under their ids; an item whose id is not known has its place instead.
    items = {name: (item, _bin(document, place)) for place, (name, item) in enumerate(ids, start=1)}
    certain = True
    for change in changes:
        told = change.payload
        if change.operation == "order.update":
            body |= {name: value for name, value in told.items() if name != "item_details"}
        certain = certain and not change.purged
        for place, (item_id, item) in enumerate((told.get("item_details") or {}).items(), start=1):
            known = items.get(item_id)
            if (change.operation == "order.add_items") == (known is not None):
                certain = False  # added twice, or changed without being there: it may be either way
            else:
                items[item_id] = ({**known[0], **item}, known[1]) if known is not None else (item, _bin(change, place))
        for item_id in told.get("item_list") or ():
            certain = items.pop(item_id, None) is not None and certain
    now = tuple(
        PickedItem(str(item.get("item_name") or ""), Decimal(str(item.get("item_quantity") or 1)), bin)
        for item, bin in items.values()
    )
    return body, now, certain


def _items_of(body: Mapping[str, Any]) -> list[_Item]:
    """The items of an order's payload and of its kits, as they were sent."""
    kits = body.get("kit_skus") or []
    return [*(body.get("item_details") or []), *(item for kit in kits for item in kit.get("item_details", []))]


def _bin(document: StoredDocument, place: int) -> str:
    """The bin of an item, from 1, as the mapping keeps it: that of the first row is the first item's."""
    return document.keep.get(f"bin:{place}") or (document.keep.get("bin", "") if place == 1 else "")


def _with_ids(sent: Sequence[_Item], told: Mapping[str, _Item]) -> Iterator[tuple[str | int, _Item]]:
    """Each item that was sent, under the id that the service told for it (API §4.6)."""
    free = dict(told)
    names = [_name(item) for item in sent]
    for place, item in enumerate(sent):
        same = [item_id for item_id, other in free.items() if _name(other) == names[place]]
        if names.count(names[place]) > 1:
            same = [item_id for item_id in same if _quantity(free[item_id]) == _quantity(item)]
        if same:
            del free[same[0]]
        yield (same[0] if same else place), item


def _name(item: _Item) -> str:
    return " ".join(str(item.get("item_name") or "").split()).casefold()


def _quantity(item: _Item) -> Decimal | None:
    try:
        return Decimal(str(item.get("item_quantity") or 1))
    except InvalidOperation:
        return None


DEFAULT_KEYS = ("hub", "route", "pincode", "sku", "file")

_DIGITS = re.compile(r"(\d+)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
# Leading keys of these make groups with subtotals and separators; so do `keep` names.
_GROUPING = ("hub", "route", "cut_off", "single")


def sort_orders(
    orders: Sequence[LabelOrder], keys: Sequence[str] = DEFAULT_KEYS, *, kept: Collection[str] = ()
) -> list[LabelOrder]:
    """The orders in walking order; equal ones stay in file order, or in that of the list.

    keys: of `hub route pincode cut_off single sku bin file`, or a name that a mapping keeps. kept: the names that
    mappings keep now, beside those of the orders; a misspelt key is refused also when there is nothing to sort.

    Raises:
        UsageError: a key is none of these.
    """
    known = [*_KEYS, *sorted({*kept, *(name for order in orders for name in order.keep)} - set(_KEYS))]
    unknown = next((key for key in keys if key not in known), None)
    if unknown is not None:
        raise UsageError(f'Labels cannot be sorted by "{unknown}".', remedy=nearest(unknown, known))
    return sorted(orders, key=lambda order: (*(_rank(order, key) for key in keys), order.place))


def _rank(order: LabelOrder, key: str) -> tuple[object, ...]:
    if key == "file":
        return (order.place,)
    value = value_of(order, key)
    return (not value, natural(value), value)  # the value itself, so that a group stays together


def group_of(order: LabelOrder, keys: Sequence[str] = DEFAULT_KEYS) -> str:
    """The group of an order: the values of the grouping keys that lead the sort, "" if none does.

    A key that makes no group (as `sku`) ends the lead. A date-time is shown to the minute.
    """
    words = []
    for key in keys:
        if key in _KEYS and key not in _GROUPING:
            break
        value = value_of(order, key)
        words.append(f"{value[:10]} {value[11:16]}" if _MOMENT.match(value) else value or f"no {key.replace('_', ' ')}")
    return " · ".join(words)


def value_of(order: LabelOrder, key: str) -> str:
    """What an order has for a sort key, as text."""
    found = _KEYS.get(key)
    return found(order) if found else order.keep.get(key, "")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """How people sort a text that holds numbers: R-2 before R-10."""
    pieces = _DIGITS.split(text.casefold())
    numbers = [piece.lstrip("0") for piece in pieces]  # compared by length, then by digits: some have thousands
    return tuple(
        (0, len(numbers[place]), numbers[place]) if place % 2 else (1, 0, piece) for place, piece in enumerate(pieces)
    )


def _skus(order: LabelOrder) -> list[str]:
    return list(dict.fromkeys(item.name for item in order.items))


_KEYS: dict[str, Callable[[LabelOrder], str]] = {
    "hub": lambda order: order.document.delivery_hub or order.text("delivery_hub"),
    "route": lambda order: order.keep.get("route", ""),
    "pincode": lambda order: order.text("delivery_postal_code"),
    "cut_off": lambda order: order.keep.get("cut_off", "") or order.text("expected_delivery_time"),
    "single": lambda order: "one SKU" if len(_skus(order)) <= 1 else "several SKUs",
    "sku": lambda order: " ".join(_skus(order)),
    "bin": lambda order: next((item.bin for item in order.items if item.bin), ""),  # the first that is known
    "file": lambda order: order.document.file_name,
}
