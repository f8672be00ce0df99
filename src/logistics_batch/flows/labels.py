"""Labels for the printer: choose the orders, sort them as people walk, fetch, bundle, hand over, remember."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath

from logistics_batch.errors import UsageError
from logistics_batch.flows.label_fetch import LabelSource
from logistics_batch.flows.label_orders import Chosen, choose_orders
from logistics_batch.flows.label_paper import Printed, put_together
from logistics_batch.flows.label_sorting import DEFAULT_KEYS, sort_orders
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.run_record import recorded_run
from logistics_batch.model.job import Place
from logistics_batch.model.report import ExitCode
from logistics_batch.paper.label_bundle import BundleOptions
from logistics_batch.paper.label_bundle_layout import Layout
from logistics_batch.paper.label_check import limit_decoding
from logistics_batch.paper.manifest import Manifest, MissingLabel, index_csv
from logistics_batch.paper.manifest_pages import manifest_pdf
from logistics_batch.paper.manifest_words import counted


@dataclass(frozen=True, slots=True)
class LabelsPlan:
    """What is to be printed, and how.

    run: the orders of a run (its id, or a job's name for its latest run). orders: references or AWB numbers. Neither:
    all accepted orders whose label was never printed.
    sort: see `label_sorting.sort_orders`; empty: the default. max_pages: of one part.
    output: a folder for the bundle; None: a new folder under the reports. results: where else it goes, into a folder
    named after the bundle.
    reprint_reason: why labels are printed again; without one, labels that were printed are left out.
    who: who asked for it; job: the job's name, "" by hand.
    """

    run: str = ""
    orders: tuple[str, ...] = ()
    layout: str = "4x6"
    sort: tuple[str, ...] = ()
    reverse: bool = False
    max_pages: int = 200
    output: Path | None = None
    results: Place | None = None
    reprint_reason: str = ""
    business_date: date | None = None
    who: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What came of a label run.

    labels, orders: how many are in the bundle. missing: asked for and not there. printed_before: left out because they
    were printed. files: the paths written on this machine. delivered: where else, as "store:path".
    """

    bundle_id: str
    exit_code: int
    labels: int
    orders: int
    missing: tuple[MissingLabel, ...]
    printed_before: tuple[str, ...]
    files: tuple[Path, ...]
    delivered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the run, for its summary."""
        return {
            "labels": self.labels,
            "orders": self.orders,
            "missing": len(self.missing),
            "printed_before": len(self.printed_before),
        }


def make_labels(parts: Parts, plan: LabelsPlan) -> LabelReport:
    """Make one print bundle with manifest and index; also when there is nothing to print.

    Labels count as printed once the bundle lies in all its places.

    Raises:
        UsageError: unknown layout, sort key or run; nothing was asked of the service.
        RunStopped: the API key is refused, the service is not there, or the process was asked to end.
        StoreError: the bundle could not be written; its labels stay unprinted.
    """
    layout = _layout(plan.layout)
    keys = plan.sort or DEFAULT_KEYS
    day = plan.business_date or parts.clock.now().date()
    with recorded_run(parts, letter="L", kind="labels", job=plan.job or "labels", business_date=day) as run:
        chosen = choose_orders(parts, run=plan.run, numbers=plan.orders, reprint=bool(plan.reprint_reason))
        orders = sort_orders(chosen.orders, keys, kept=parts.kept_names())
        limit_decoding()
        files = LabelSource(parts).fetch_all(orders)
        options = BundleOptions(layout, plan.max_pages, plan.reverse, title=f"Labels {run.id}")
        printed = put_together(orders, files, keys=keys, options=options)
        manifest = _manifest(parts, plan, run.id, chosen, printed)
        report = _hand_over(parts, plan, chosen, printed, manifest)
        run.ended(report.exit_code, report.counts)
    return report


def _layout(name: str) -> Layout:
    try:
        return Layout(name)
    except ValueError:
        raise UsageError(f'There is no layout "{name}".', remedy=f"Known layouts: {', '.join(Layout)}.") from None


def _manifest(parts: Parts, plan: LabelsPlan, bundle_id: str, chosen: Chosen, printed: Printed) -> Manifest:
    now = parts.clock.now()
    by = f" by {plan.who}" if plan.who else ""
    turned = ", printed from the last to the first" if plan.reverse else ""
    facts = (
        ("Job", plan.job),
        ("Orders", chosen.in_words),
        ("Business date", (plan.business_date or now.date()).isoformat()),
        ("Made", f"{now.isoformat(sep=' ', timespec='minutes')}{by}"),
        ("Layout", plan.layout),
        ("Sorted by", ", ".join(plan.sort or DEFAULT_KEYS) + turned),
    )
    notes = list(printed.bundle.warnings)
    if chosen.printed_before:
        notes.append(
            f"{counted(len(chosen.printed_before), 'order')} printed before and left out; "
            "to print them again give --reprint and a reason"
        )
    return Manifest(
        bundle_id=bundle_id,
        facts=facts,
        files=tuple(part.name for part in printed.bundle.parts),
        lines=printed.lines,
        missing=(*chosen.missing, *printed.missing),
        reprint_reason=plan.reprint_reason,
        notes=tuple(notes),
    )


def _hand_over(parts: Parts, plan: LabelsPlan, chosen: Chosen, printed: Printed, manifest: Manifest) -> LabelReport:
    contents = {part.name: part.content for part in printed.bundle.parts}
    contents |= {"index.csv": index_csv(manifest), "manifest.pdf": manifest_pdf(manifest)}
    folder = plan.output or parts.reports / "labels" / manifest.bundle_id
    _remove_earlier(folder, keep=set(contents))
    _put(parts, Place(folder=str(folder.absolute())), "/", contents)
    delivered: tuple[str, ...] = ()
    if plan.results is not None:
        place = plan.results.on(plan.business_date or parts.clock.now().date())
        delivered = _put(parts, place, str(PurePosixPath(place.path) / manifest.bundle_id), contents)
    if printed.orders:
        parts.ledger.record_print(
            manifest.bundle_id,
            [order.awb_number for order in printed.orders],
            reason=plan.reprint_reason,
            who=plan.who,
            at=parts.clock.now().isoformat(),
        )
    return LabelReport(
        bundle_id=manifest.bundle_id,
        exit_code=_exit_code(chosen, manifest),
        labels=len(manifest.lines),
        orders=len(printed.orders),
        missing=manifest.missing,
        printed_before=tuple(order.reference for order in chosen.printed_before),
        files=tuple(folder / name for name in contents),
        delivered=delivered,
        notes=manifest.notes,
    )


def _put(parts: Parts, place: Place, path: str, contents: dict[str, bytes]) -> tuple[str, ...]:
    store = parts.open_store(place)
    try:
        for name, content in contents.items():
            store.put(str(PurePosixPath(path) / name), content)
        return tuple(f"{store.label}:{PurePosixPath(path) / name}" for name in contents)
    finally:
        store.close()


def _remove_earlier(folder: Path, *, keep: set[str]) -> None:
    """Parts of an earlier bundle must not lie among those of this one."""
    if folder.is_dir():
        for pattern in ("labels.pdf", "labels_part-[0-9][0-9]*-of-[0-9][0-9]*.pdf"):
            for old in folder.glob(pattern):
                if old.name not in keep:
                    old.unlink()


def _exit_code(chosen: Chosen, manifest: Manifest) -> int:
    if chosen.doubtful:
        return ExitCode.DOUBT
    return ExitCode.ROWS_NOT_DONE if manifest.missing else ExitCode.DONE
