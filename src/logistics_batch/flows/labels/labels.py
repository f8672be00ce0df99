"""Labels for the printer: choose the orders, sort them as people walk, fetch, bundle, hand over, remember."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath

import polars as pl

from logistics_batch.errors import SettingsError, UsageError
from logistics_batch.flows.files.receive import ReceivedFile, arrival_of
from logistics_batch.flows.labels.fetch import LabelSource
from logistics_batch.flows.labels.orders import (
    DEFAULT_KEYS,
    ITEM_AND_HEADER_CHANGES,
    LATELY,
    Chosen,
    LabelChoice,
    LabelOrder,
    choose_orders,
    sort_orders,
    source_of,
)
from logistics_batch.flows.labels.paper import Printed, put_together
from logistics_batch.flows.labels.printing import check_printing, print_files
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run_record import recorded_run
from logistics_batch.model.counting import counted
from logistics_batch.model.document import Operation, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace, Printer
from logistics_batch.model.report import ExitCode
from logistics_batch.model.run_reports import LabelReport, PrintJob, PrintState
from logistics_batch.paper.labels.barcodes import can_read_barcodes
from logistics_batch.paper.labels.bundle import BundleOptions
from logistics_batch.paper.labels.check import limit_decoding
from logistics_batch.paper.labels.judge import LabelJudge
from logistics_batch.paper.labels.layout import Fitted, StockLayout
from logistics_batch.paper.labels.manifest import Manifest, PrintedBefore, index_csv
from logistics_batch.paper.labels.papers import bundle_of, manifest_pdf, pick_list_pdf
from logistics_batch.processes import is_gone, this_process

_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
_BETWEEN_CELLS = (",", ";", "\t")
_GIVE_MAPPING = "Give --mapping to read a spreadsheet."


def named_orders(parts: Parts, text: str, *, mapping: str | None) -> LabelChoice:
    """The orders that a person names, in the order in which they stand.

    text: numbers with commas between them, or the path of a file: with one number a line, or read by `mapping`, which
    is one for label.create.

    Raises:
        UsageError: the file is missing or cannot be read, no order is named, or the mapping is for something else.
        FileHeld: the file as a whole cannot be read by the mapping.
    """
    path = Path(text)
    if mapping is not None:
        named = _mapped(parts, path, mapping)
    elif _is_file(path):
        named = LabelChoice(numbers=_listed(path))
    elif _is_meant_as_file(parts, text):
        raise UsageError(
            f"There is no file {text}, and no order with that number was sent from here.",
            remedy="Check the name and the folder.",
        )
    else:
        named = LabelChoice(numbers=tuple(number.strip() for number in text.split(",") if number.strip()))
    if not named.numbers:  # no choice at all would mean every order that was never printed
        raise UsageError(f'"{text}" names no order.', remedy="Give references or AWB numbers, or leave --orders out.")
    return named


def _listed(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as a list with one number a line.", remedy=_GIVE_MAPPING) from error
    for number, line in enumerate(lines, start=1):
        if any(mark in line.strip() for mark in _BETWEEN_CELLS):  # what stands there may be a customer's: never shown
            raise UsageError(
                f"{path} is no list with one number a line: line {number} holds several values.", remedy=_GIVE_MAPPING
            )
    return tuple(line.strip() for line in lines if line.strip())


def _is_meant_as_file(parts: Parts, text: str) -> bool:
    """Whether a text that is no file was meant as one: by its ending, or by a slash that is no part of a reference."""
    if Path(text).suffix.lower() in _ENDINGS:
        return True
    if "," in text or not ("/" in text or "\\" in text):
        return False
    return not parts.ledger.documents.select(operations=[Operation.ORDER_CREATE], references=[text.strip()])


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a long list is no possible file name
        return False


def _mapped(parts: Parts, path: Path, name: str) -> LabelChoice:
    """The orders of a sheet. Rows without a usable number are named as they can be looked for there: nothing is printed
    for them, and they are listed as missing."""
    mapping = parts.mapping(name)
    if mapping.operation is not Operation.LABEL_CREATE:
        raise UsageError(f"The mapping {name} is for {mapping.operation}.", remedy="Name one for label.create.")
    if not _is_file(path):
        raise UsageError(f"No such file: {path}.", remedy="Check the name and the folder.")
    arrival = arrival_of(parts, ReceivedFile(path, path.name), mapping, business_date=parts.clock.now().date())
    if arrival.held is not None:
        raise arrival.held
    mapped = arrival.mapped
    if mapped is None:
        return LabelChoice()
    keep = {number.strip(): each.keep for each in mapped.documents for number in each.reference.split(",")}
    values = {issue.row: issue.value for issue in reversed(mapped.issues)}
    stopped = mapped.rows.filter(pl.col("state").is_in([RowState.INVALID.value, RowState.BLOCKED.value]))
    unread = [
        f"{values.get(row) or key or 'the cell is blank'} (row {row})"
        for row, key in stopped.select("row", "key").iter_rows()
    ]
    return LabelChoice(numbers=(*keep, *unread), keep=keep)


_NAMES = 20  # orders named in one note
# The names of what a bundle consists of. The manifest moves last: it tells whose the other files are.
_BUNDLE_FILES = (
    *("labels.pdf", "labels_part-[0-9][0-9]*-of-[0-9][0-9]*.pdf", "labels_[0-9][0-9]*_*.pdf"),
    *("pick_list.pdf", "index.csv", "manifest.pdf"),
)


@dataclass(frozen=True, slots=True)
class LabelsPlan:
    """What is to be printed, and how.

    orders: which. sort: see `label_sorting.sort_orders`; empty: the default. max_pages: of one part. per_group: each
    group in files of its own.
    output: a folder for the bundle, what an earlier one left there is put aside; None: a new folder under the reports,
    as for a bundle without labels if the folder holds another. results: where else it goes, into a folder
    named after the bundle.
    reprint_reason: why labels are printed again; without one, labels that were printed are left out. printer: where
    the bundle is printed once it lies in all its places; None: people print it.
    who: who asked for it; job: the job's name, "" by hand.
    """

    orders: LabelChoice = field(default_factory=LabelChoice)
    layout: str = "4x6"
    sort: tuple[str, ...] = ()
    reverse: bool = False
    per_group: bool = False
    max_pages: int = 200
    output: Path | None = None
    results: JobPlace | None = None
    reprint_reason: str = ""
    printer: Printer | None = None
    business_date: date | None = None
    who: str = ""
    job: str = ""


def make_labels(parts: Parts, plan: LabelsPlan) -> LabelReport:
    """Make one print bundle with manifest and index; also when there is nothing to print.

    Labels count as printed once the bundle lies in all its places.

    Raises:
        UsageError: unknown layout, sort key or run, or nothing here can print; nothing was asked of the service. Or
            another label run printed some of the same orders meanwhile; nothing stays written.
        SettingsError: several orders a call need what reads barcodes.
        RunStopped: the API key is refused, the service is not there, or the process was asked to end.
        StoreError: the bundle could not be written; its labels stay unprinted.
        LedgerRefused: it is an older copy, which does not know what was printed.
    """
    parts.ledger.itself.require_newest()
    if plan.layout not in list(StockLayout):
        raise UsageError(f'There is no layout "{plan.layout}".', remedy=f"Known layouts: {', '.join(StockLayout)}.")
    if parts.policy.label_orders_per_call > 1 and not can_read_barcodes():
        raise SettingsError(
            "label_orders_per_call asks for labels of several orders at once, and nothing here can read barcodes to "
            "prove which page belongs to whom.",
            remedy='Install the extra "barcodes", as in pip install "logistics-batch[barcodes]", or remove the key.',
        )
    if plan.printer is not None:
        check_printing(plan.printer)
    keys = plan.sort or DEFAULT_KEYS
    day = plan.business_date or parts.clock.now().date()
    owed = _printed_before_a_death(parts)
    with recorded_run(parts, letter="L", kind="labels", job=plan.job or "labels", business_date=day) as run:
        chosen = choose_orders(parts, plan.orders, reprint=bool(plan.reprint_reason))
        orders = sort_orders(chosen.orders, keys, kept=parts.kept_names())
        limit_decoding()
        files = LabelSource(parts).fetch_all(orders)
        title = f"Labels {run.id}"
        layout = StockLayout(plan.layout)
        options = BundleOptions(layout, plan.max_pages, plan.reverse, title=title, per_group=plan.per_group)
        printed = put_together(orders, files, keys=keys, options=options, fit=partial(_fitted, parts))
        last = parts.ledger.labels.last_prints([order.awb_number for order in printed.orders])
        copies = {number: line.copy for number, line in last.items()}
        _refuse_printed_meanwhile(
            [order for order in printed.orders if copies.get(order.awb_number, 0) != order.copies]
        )
        manifest = _manifest(parts, plan, run.id, chosen, printed)
        report = replace(_hand_over(parts, plan, chosen, printed, manifest), owed=owed)
        if plan.printer is not None and report.labels:
            paths = [path for path in report.files if path.name in manifest.files]
            jobs = print_files(parts, paths, plan.printer, bundle_id=report.bundle_id)
            _note_printing(parts, report.bundle_id, jobs)  # what is not known to be printed waits for a person
            report = replace(report, printing=jobs)
        if report.unprinted:
            report = replace(report, exit_code=int(ExitCode.DOUBT))
        run.ended(report.exit_code, report.counts)
    return report


def _fitted(parts: Parts, paths: Sequence[Path]) -> list[Fitted]:
    """How each of these labels, which are larger than the stock, is painted on it."""
    parts.progress.start("Fitting larger labels", len(paths))
    found: list[Fitted] = []
    with closing(LabelJudge()) as judge, ThreadPoolExecutor(judge.processes) as workers:
        for fitted in workers.map(lambda path: judge.fit(path.read_bytes()), paths):
            found.append(fitted)
            parts.progress.advance()
    parts.progress.done()
    return found


def _refuse_printed_meanwhile(others: Sequence[LabelOrder]) -> None:
    """Two people who print at the same time must not get the same labels twice."""
    if others:
        raise UsageError(
            f"Another label run printed {counted(len(others), 'order')} of this one meanwhile, the first "
            f"{others[0].reference}. Nothing was written.",
            remedy="Print again: what was printed is then left out.",
        )


def _printed_before_a_death(parts: Parts) -> tuple[Issue, ...]:
    """What nobody told of the printing of earlier runs: their labels count as printed, and their programs died."""
    found: list[Issue] = []
    for bundle_id in parts.ledger.labels.printing_now():
        notes = parts.ledger.runs.notes_of(bundle_id)
        if notes and all(is_gone(note.given["process"]) is not False for note in notes):
            died = "The program died before it was known whether the labels were printed."
            parts.ledger.runs.finish(bundle_id, exit_code=ExitCode.DOUBT, summary={}, now=parts.now, stopped=died)
            found += notes
    return tuple(found)


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
    notes = [*printed.bundle.warnings, *printed.notes, *_order_notes(parts, plan.orders, chosen)]
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
        printed_before=tuple(
            PrintedBefore(order.reference, order.awb_number, *source_of(order.document), order.copies)
            for order in chosen.printed_before
        ),
        picks=printed.picks,
        reprint_reason=plan.reprint_reason,
        notes=tuple(notes),
    )


def _order_notes(parts: Parts, choice: LabelChoice, chosen: Chosen) -> Iterator[str]:
    """Remarks for the manifest and the screen, each with the references of its orders."""
    if chosen.cancelled:
        yield f"cancelled, so without a label; do not pick: {_names(chosen.cancelled)}"
    uncertain = [order.reference for order in chosen.orders if not order.items_certain]
    if uncertain:
        yield (
            "items were changed after the order was sent, and which it has now is not certain; look it up at the "
            f"service before picking: {_names(uncertain)}"
        )
    printed = chosen.printed_before
    if not choice.named:  # those of which the service accepted a change that was asked for lately
        since = (parts.clock.now() - LATELY).date().isoformat()
        changes = parts.ledger.documents.select(
            operations=ITEM_AND_HEADER_CHANGES, states=["accepted"], planned_from=since
        )
        numbers = tuple({change.awb_number or change.reference: None for change in changes})
        printed = choose_orders(parts, LabelChoice(numbers=numbers)).printed_before if numbers else ()
    outdated = [order.reference for order in printed if order.changed_at > order.printed_at]
    if outdated:
        yield f"label printed before the order was changed: {_names(outdated)}; reprint, and check the items"


def _names(references: Sequence[str]) -> str:
    more = len(references) - _NAMES
    named = ", ".join(references[:_NAMES])
    return f"{named} and {counted(more, 'more order')}" if more > 0 else named


def _hand_over(parts: Parts, plan: LabelsPlan, chosen: Chosen, printed: Printed, manifest: Manifest) -> LabelReport:
    contents = {part.name: part.content for part in printed.bundle.parts}
    contents |= {"index.csv": index_csv(manifest), "manifest.pdf": manifest_pdf(manifest)}
    if manifest.picks:
        contents["pick_list.pdf"] = pick_list_pdf(manifest)
    folder = _folder(parts, plan, manifest)
    left: tuple[str, ...] = ()
    if plan.output not in (None, folder):
        left = (f"nothing to print; {plan.output} still holds an earlier bundle and is left as it is",)
    places = [JobPlace(folder=str(folder.absolute()))]
    if plan.results is not None:
        results = plan.results.on(plan.business_date or parts.clock.now().date())
        places.append(results.model_copy(update={"path": str(PurePosixPath(results.path) / manifest.bundle_id)}))
    written = [parts.put_all(place, contents) for place in places]
    if plan.printer is not None:  # whoever dies from here on says nothing more
        jobs = [PrintJob(name, plan.printer.queue, PrintState.UNKNOWN) for name in manifest.files]
        _note_printing(parts, manifest.bundle_id, jobs)
    others = parts.ledger.labels.record_print(
        manifest.bundle_id,
        {order.awb_number: order.copies for order in printed.orders},
        reason=plan.reprint_reason,
        who=plan.who,
        at=parts.now,
    )
    if others:
        _note_printing(parts, manifest.bundle_id, ())
        for place in places:
            with closing(parts.open_store(place)) as store:
                for name in contents:
                    store.remove(str(PurePosixPath(place.path) / name))
        _refuse_printed_meanwhile([order for order in printed.orders if order.awb_number in others])
    code = ExitCode.DOUBT if chosen.doubtful else ExitCode.ROWS_NOT_DONE if manifest.missing else ExitCode.DONE
    return LabelReport(
        bundle_id=manifest.bundle_id,
        exit_code=code,
        labels=len(manifest.lines),
        orders=len(printed.orders),
        missing=manifest.missing,
        printed_before=tuple(order.reference for order in chosen.printed_before),
        files=tuple(folder / name for name in contents),
        delivered=tuple(path for paths in written[1:] for path in paths),
        notes=(*manifest.notes, *left),
    )


def _note_printing(parts: Parts, bundle_id: str, jobs: Sequence[PrintJob]) -> None:
    """Keep with the run what a person has to see to at the printer, and which program says so."""
    told = (job.issue(bundle_id) for job in jobs)
    notes = [Issue.of(each.code, **each.given, process=this_process()) for each in told if each]
    parts.ledger.runs.keep_notes(bundle_id, notes)


def _folder(parts: Parts, plan: LabelsPlan, manifest: Manifest) -> Path:
    """Where the bundle goes; one without labels never takes the place of one that may still have to be printed."""
    if plan.output is None or (not manifest.lines and _files_of_bundle(plan.output)):
        return parts.reports / "labels" / manifest.bundle_id
    _put_aside(plan.output, before=manifest.bundle_id)
    return plan.output


def _files_of_bundle(folder: Path) -> list[Path]:
    return [path for pattern in _BUNDLE_FILES for path in sorted(folder.glob(pattern))]


def _put_aside(folder: Path, *, before: str) -> None:
    """Move the files of an earlier bundle into `earlier/ITS-ID`, that they do not lie among those of the next.

    before: the id of the next bundle; it names the place where the earlier id is not known.
    """
    manifest = folder / "manifest.pdf"
    earlier = bundle_of(manifest.read_bytes()) if manifest.is_file() else ""
    place = folder / "earlier" / (earlier if earlier not in ("", before) else f"before-{before}")
    for path in _files_of_bundle(folder):
        place.mkdir(parents=True, exist_ok=True)
        goal, number = place / path.name, 1
        while goal.exists():
            number += 1
            goal = place / f"{path.stem}-{number}{path.suffix}"
        path.rename(goal)
