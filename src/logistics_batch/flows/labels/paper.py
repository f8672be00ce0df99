"""What a label run hands over: the bundle, its manifest and its index, each label and each lost one listed once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from logistics_batch.flows.labels.fetch import LabelFile, LabelLost
from logistics_batch.flows.labels.orders import LabelOrder, missing_label
from logistics_batch.flows.labels.sorting import group_of, natural
from logistics_batch.model.counting import counted
from logistics_batch.model.run_reports import MissingLabel
from logistics_batch.paper.labels.barcodes import Proof
from logistics_batch.paper.labels.bundle import Bundle, BundleOptions, FitLabels, OrderedLabel, build_bundle
from logistics_batch.paper.labels.manifest import ManifestLine, Pick

_MANY_GROUPS = 2  # with fewer orders a group than this, separators would double the paper


@dataclass(frozen=True, slots=True)
class Printed:
    """A bundle with what its manifest and index show; `orders` are those with all their labels in it."""

    bundle: Bundle
    lines: tuple[ManifestLine, ...]
    missing: tuple[MissingLabel, ...]
    orders: tuple[LabelOrder, ...]
    picks: tuple[Pick, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Collected:
    labels: list[OrderedLabel] = field(default_factory=list)
    owners: list[tuple[LabelOrder, LabelFile]] = field(default_factory=list)
    missing: list[MissingLabel] = field(default_factory=list)


def put_together(
    orders: Sequence[LabelOrder],
    files: dict[str, tuple[LabelFile, ...] | LabelLost],
    *,
    keys: Sequence[str],
    options: BundleOptions,
    fit: FitLabels | None = None,
) -> Printed:
    """Bundle what can be printed of the sorted orders; an order goes in whole or is listed as missing."""
    collected = _collect(orders, files, keys)
    groups = len({label.group for label in collected.labels})
    separators = options.separators and groups * _MANY_GROUPS <= len(collected.labels)
    options = replace(options, separators=separators)
    bundle = build_bundle(collected.labels, options, fit=fit)
    missing = {
        order.awb_number: missing_label(
            order.document, f"the label cannot be printed: {lost.reason}", "choose another layout"
        )
        for lost in bundle.left_out
        for order, _ in [collected.owners[lost.label]]
    }
    inside = {order.awb_number for order, _ in collected.owners} - set(missing)
    lines = _lines(collected, bundle)
    whole = tuple(order for order in orders if order.awb_number in inside)
    return Printed(
        bundle,
        lines,
        (*collected.missing, *missing.values()),
        whole,
        _picks([order for order in whole if not order.copies], lines, keys),
        tuple(_notes([owner for owner in collected.owners if owner[0].awb_number in inside])),
    )


def _collect(
    orders: Sequence[LabelOrder], files: dict[str, tuple[LabelFile, ...] | LabelLost], keys: Sequence[str]
) -> _Collected:
    collected = _Collected()
    twins = _twins(files)
    for order in orders:
        found = files[order.awb_number]
        if isinstance(found, LabelLost):
            collected.missing.append(missing_label(order.document, found.reason, found.remedy))
        elif any(file.sha256 in twins for file in found):
            collected.missing.append(
                missing_label(
                    order.document,
                    "the service gave the very same label for another package too: one of them is wrong",
                    "ask the operator of the service, with both AWBs",
                )
            )
        else:
            _add(collected, order, found, group_of(order, keys))
    return collected


def _add(collected: _Collected, order: LabelOrder, files: Sequence[LabelFile], group: str) -> None:
    before = 0
    for file in files:
        packages = tuple(_package_awb(order, before + number) for number in range(1, file.pages + 1))
        before += file.pages
        collected.labels.append(
            OrderedLabel(file.awb_number, file.path, order.awb_number, file.pages, group, order.cash, packages)
        )
        collected.owners.append((order, file))


def _twins(files: dict[str, tuple[LabelFile, ...] | LabelLost]) -> set[str]:
    """Contents that came for more than one AWB."""
    seen = Counter(file.sha256 for found in files.values() if not isinstance(found, LabelLost) for file in found)
    return {digest for digest, count in seen.items() if count > 1}


def _lines(collected: _Collected, bundle: Bundle) -> tuple[ManifestLine, ...]:
    seen: Counter[str] = Counter()
    lines = []
    for placed in bundle.placed:
        order, file = collected.owners[placed.label]
        seen[order.awb_number] += 1
        number = seen[order.awb_number]
        lines.append(
            ManifestLine(
                sequence=placed.sequence,
                part=placed.part,
                page=placed.page,
                awb_number=_package_awb(order, number),
                reference_number=order.reference,
                name=order.text("customer_name"),
                pincode=order.text("delivery_postal_code"),
                items=", ".join(f"{item.name} x {_number(item.quantity)}" for item in order.items)
                if number == 1
                else "",
                quantity=_number(sum((item.quantity for item in order.items), Decimal(0))) if number == 1 else "",
                cash=order.cash if number == 1 else Decimal(0),
                group=collected.labels[placed.label].group,
                file=order.document.file_name,
                sheet=order.document.sheet,
                rows=order.document.rows,
                package=f"{number} of {order.packages}" if order.packages > 1 else "",
                copy=order.copies + 1,
                sha256=file.sha256,
                change=placed.change,
            )
        )
    return tuple(lines)


def _package_awb(order: LabelOrder, number: int) -> str:
    return order.children[number - 1] if number <= len(order.children) else order.awb_number


def _number(quantity: Decimal) -> str:
    return f"{quantity.normalize():f}"


def _picks(orders: Sequence[LabelOrder], lines: Sequence[ManifestLine], keys: Sequence[str]) -> tuple[Pick, ...]:
    """What is to be taken for each group, by bin and SKU; for a reprint it was taken before."""
    numbers: dict[str, list[int]] = {}
    for line in lines:
        numbers.setdefault(line.reference_number, []).append(line.sequence)
    wanted: dict[str, dict[tuple[str, str], list[tuple[Decimal, LabelOrder]]]] = {}
    for order in orders:
        group = wanted.setdefault(group_of(order, keys), {})
        for item in order.items:
            group.setdefault((item.bin, item.name), []).append((item.quantity, order))
    return tuple(
        Pick(
            group=group,
            bin=place,
            sku=sku,
            quantity=sum((amount for amount, _ in found), Decimal(0)),
            orders=len({order.awb_number for _, order in found}),
            labels=tuple(sorted({number for _, order in found for number in numbers[order.reference]})),
        )
        for group, places in wanted.items()
        for (place, sku), found in sorted(places.items(), key=lambda pick: _walk(pick[0]))
    )


def _walk(place_and_sku: tuple[str, str]) -> tuple[object, ...]:
    place, sku = place_and_sku
    return (not place, natural(place), natural(sku))


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
