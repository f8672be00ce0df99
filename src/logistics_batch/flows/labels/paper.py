"""What a label run hands over: the bundle, its manifest and its index, each label and each lost one listed once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from logistics_batch.flows.labels.fetch import LabelFile, LabelLost
from logistics_batch.flows.labels.orders import LabelOrder, group_of, missing_label, natural
from logistics_batch.model.counting import counted
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.paper.labels.barcodes import Proof
from logistics_batch.paper.labels.bundle import Bundle, BundleOptions, FitLabels, OrderedLabel, build_bundle
from logistics_batch.paper.labels.manifest import ManifestLine, Pick

_MANY_GROUPS = 2  # with fewer orders a group than this, separators would double the paper
_TWIN = "the service gave the very same label for another package too: one of them is wrong"


@dataclass(frozen=True, slots=True)
class Printed:
    """A bundle with what its manifest and index show; `orders` are those with all their labels in it."""

    bundle: Bundle
    lines: tuple[ManifestLine, ...]
    missing: tuple[MissingLabel, ...]
    orders: tuple[LabelOrder, ...]
    picks: tuple[Pick, ...] = ()
    notes: tuple[str, ...] = ()


def put_together(
    orders: Sequence[LabelOrder],
    files: Mapping[str, tuple[LabelFile, ...] | LabelLost],
    *,
    keys: Sequence[str],
    options: BundleOptions,
    fit: FitLabels | None = None,
) -> Printed:
    """Bundle what can be printed of the sorted orders; an order goes in whole or is listed as missing."""
    labels, owners, missing = list[OrderedLabel](), list[tuple[LabelOrder, LabelFile]](), list[MissingLabel]()
    seen = Counter(file.sha256 for found in files.values() if not isinstance(found, LabelLost) for file in found)
    for order in orders:
        found = files[order.awb_number]
        if isinstance(found, LabelLost):
            missing.append(missing_label(order.document, found.reason, found.remedy))
        elif any(seen[file.sha256] > 1 for file in found):
            missing.append(missing_label(order.document, _TWIN, "ask the operator of the service, with both AWBs"))
        else:
            awbs, group = iter(order.package_awbs), group_of(order, keys)
            for file in found:
                own = tuple(islice(awbs, file.pages))
                label = OrderedLabel(file.awb_number, file.path, order.awb_number, file.pages, group, order.cash, own)
                labels.append(label)
            owners += [(order, file) for file in found]
    groups = len({label.group for label in labels})
    options = replace(options, separators=options.separators and groups * _MANY_GROUPS <= len(labels))
    bundle = build_bundle(labels, options, fit=fit)
    unfit = {owners[label][0].awb_number: (owners[label][0], reason) for label, reason in bundle.left_out.items()}
    missing += [
        missing_label(order.document, f"the label cannot be printed: {reason}", "choose another layout")
        for order, reason in unfit.values()
    ]
    inside = [(order, file) for order, file in owners if order.awb_number not in unfit]
    whole = {order.awb_number for order, _ in inside}
    printed = tuple(order for order in orders if order.awb_number in whole)
    lines = tuple(_lines(bundle, labels, owners))
    picks = tuple(_picks([order for order in printed if not order.copies], lines, keys))
    return Printed(bundle, lines, tuple(missing), printed, picks, tuple(_notes(inside)))


def _lines(
    bundle: Bundle, labels: Sequence[OrderedLabel], owners: Sequence[tuple[LabelOrder, LabelFile]]
) -> Iterator[ManifestLine]:
    """What the manifest says of each page, in walking order."""
    seen: Counter[str] = Counter()
    for placed in bundle.placed:
        order, file = owners[placed.label]
        seen[order.awb_number] += 1
        number, awbs = seen[order.awb_number], order.package_awbs
        line = ManifestLine(
            sequence=placed.sequence,
            part=placed.part,
            page=placed.page,
            awb_number=awbs[number - 1],
            reference_number=order.reference,
            name=order.text("customer_name"),
            pincode=order.text("delivery_postal_code"),
            group=labels[placed.label].group,
            file=order.document.file_name,
            sheet=order.document.sheet,
            rows=order.document.rows,
            package=f"{number} of {len(awbs)}" if len(awbs) > 1 else "",
            copy=order.copies + 1,
            sha256=file.sha256,
            change=placed.change,
        )
        if number == 1:
            items = ", ".join(f"{item.name} x {_number(item.quantity)}" for item in order.items)
            quantity = _number(sum((item.quantity for item in order.items), Decimal(0)))
            line = replace(line, items=items, quantity=quantity, cash=order.cash)
        yield line


def _number(quantity: Decimal) -> str:
    return f"{quantity.normalize():f}"


def _picks(orders: Sequence[LabelOrder], lines: Sequence[ManifestLine], keys: Sequence[str]) -> Iterator[Pick]:
    """What is to be taken for each group, by bin and SKU; for a reprint it was taken before."""
    numbers: dict[str, list[int]] = {}
    for line in lines:
        numbers.setdefault(line.reference_number, []).append(line.sequence)
    wanted: dict[str, dict[tuple[str, str], list[tuple[Decimal, LabelOrder]]]] = {}
    for order in orders:
        group = wanted.setdefault(group_of(order, keys), {})
        for item in order.items:
            group.setdefault((item.bin, item.name), []).append((item.quantity, order))

    def walk(pick: tuple[tuple[str, str], object]) -> tuple[object, ...]:
        (bin, sku), _ = pick
        return not bin, natural(bin), natural(sku)

    for name, places in wanted.items():
        for (bin, sku), found in sorted(places.items(), key=walk):
            quantity = sum((amount for amount, _ in found), Decimal(0))
            count = len({order.awb_number for _, order in found})
            labels = sorted({number for _, order in found for number in numbers[order.reference]})
            yield Pick(name, bin, sku, quantity, count, tuple(labels))


def _notes(owners: Sequence[tuple[LabelOrder, LabelFile]]) -> Iterator[str]:
    """What the barcodes did not prove; labels that were kept from an earlier run were judged then."""
    unread = [order.awb_number for order, file in owners if file.proof is Proof.UNREAD]
    if unread:
        yield (
            f"on {counted(len(unread), 'label file')} no barcode with the AWB could be read (the first: {unread[0]}); "
            "scan the printed labels before handing over"
        )
    blind = sum(file.proof is Proof.NOT_TRIED for _, file in owners)
    if blind:
        files = counted(blind, "label file")
        yield f'the barcodes of {files} were not read back: the extra "barcodes" is not installed'
