"""Labels: bundles that were made, and making one; what was printed before is printed again only with a reason."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from logistics_batch.errors import UsageError
from logistics_batch.flows.labels.orders import Chosen, LabelChoice, choose_orders
from logistics_batch.flows.labels.printing import LAYOUTS, file_of_bundle, files_of_bundle, print_files
from logistics_batch.ledger import StoredRun
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.job import Printer
from logistics_batch.model.run_reports import PrintState
from logistics_batch.web.workbench.asked import Changed, Download, Moved, NotThere, PageData, PageRequest
from logistics_batch.web.workbench.rendering import in_address
from logistics_batch.web.workbench.work import Begun

_BUNDLES: Final = 50
_MOST_NUMBERS: Final = 1000
_LISTED: Final = 200
_LONGEST_REASON: Final = 500
_KEY: Final = "labels"
_OF_ITS_ORDERS: Final = ("labels", "pick_list")
_WATCHED: Final = "2s"  # the page is waited for


def bundles(asked: PageRequest) -> PageData:
    """The bundles that were made last, and the form for another."""
    mark, found = asked.mark, asked.parts.ledger.runs.latest(limit=_BUNDLES, kind="labels")
    lines = [
        {"id": each.id, "job": each.job, "started_at": each.started_at, "exit_code": each.exit_code}
        | {"counts": dict(each.summary), "stopped": each.stopped}
        for each in found
    ]
    begun = [each for each in asked.on.work.all() if each.key.startswith(_key(asked))]
    going = [{"what": each.what, "who": each.who, "at": each.at} for each in begun if not each.outcome]
    ended = [{"what": each.what, "outcome": each.outcome, "failed": each.failed} for each in begun if each.outcome]
    return PageData(
        "labels.html", {"bundles": lines, "going": going, "ended": ended, "layouts": list(LAYOUTS), "mark": mark}
    )


def bundle(asked: PageRequest) -> PageData:
    """One bundle: what is in it, and its files."""
    name = asked.path["name"]
    run = asked.parts.ledger.runs.get(name)
    if run is None or run.kind != "labels":
        raise NotThere(f"There is no bundle “{name}”.")
    files = [{"name": file, "bytes": size} for file, size in _files(asked, run).items()]
    data = {"id": run.id, "job": run.job, "started_at": run.started_at, "counts": dict(run.summary)}
    return PageData(
        "bundle.html", data | {"stopped": run.stopped, "files": files, "queues": list(asked.on.print_queues)}
    )


def file(asked: PageRequest) -> Download:
    """One file of a bundle."""
    bundle_id, _, name = asked.path["name"].partition("/")
    return Download(f"{bundle_id} {name}", _file(asked, bundle_id, name).read_bytes())


def _file(asked: PageRequest, bundle_id: str, name: str) -> Path:
    """Where a file of a bundle lies. Raises NotThere."""
    run = asked.parts.ledger.runs.get(bundle_id)
    found = file_of_bundle(asked.parts, bundle_id, name)
    if run is None or found is None or name not in _files(asked, run):
        raise NotThere("This bundle has no such file here.")
    return found


def _files(asked: PageRequest, run: StoredRun) -> dict[str, int]:
    """The files of a bundle with their sizes: for people of partners none that names orders which are not in it, but of
    a bundle that their jobs, or they themselves, made of what they see.
    """
    files = files_of_bundle(asked.parts, run.id)
    if not asked.who.partners or asked.who.name in asked.parts.ledger.labels.printed_by(run.id):
        return files
    if run.job in {each.name for each in asked.on.jobs().usable}:
        return files
    return {name: size for name, size in files.items() if name.startswith(_OF_ITS_ORDERS)}


def to_queue(asked: PageRequest) -> Moved:
    """Give a PDF of a bundle to a print queue; it counts as no further copy, for nobody knows whether paper came."""
    name, of, queue = (asked.form.get(each, "") for each in ("name", "bundle", "queue"))
    if queue not in asked.on.print_queues:
        raise UsageError("No print queue is chosen.", remedy="Choose one; the settings name them ([web] print_queues).")
    if not name.endswith(".pdf"):
        raise NotThere("This bundle has no such PDF here.")
    (job,) = print_files(asked.parts, [_file(asked, of, name)], Printer(queue=queue, wait=_WATCHED), bundle_id=of)
    told = job.issue(of)
    if told is not None and job.state is PrintState.REFUSED:
        raise UsageError(told.reason, remedy="See to the printer, then print it again.")
    return Moved(
        f"/labels/{in_address(of)}", f"{told.reason} {told.fix}" if told else f"{name} was printed as {job.number}."
    )


def look(asked: PageRequest) -> PageData:
    """What would be printed: which orders, which of them again, and what has no label; nothing is asked for yet."""
    chosen = _chosen(asked)
    orders = sorted((*chosen.orders, *chosen.printed_before), key=lambda each: each.place)
    prints = {each.awb_number for each in chosen.orders}
    lines = [
        {
            "reference": each.reference,
            "awb_number": each.awb_number,
            "labels": each.packages,
            "copies": each.copies,
            "printed_at": each.printed_at,
            "prints": each.awb_number in prints,
        }
        for each in orders[:_LISTED]
    ]
    missing = [
        {"reference": each.reference_number, "awb_number": each.awb_number, "reason": each.reason, "fix": each.remedy}
        for each in chosen.missing[:_LISTED]
    ]
    words = {name: asked.form.get(name, "").strip() for name in ("orders", "run", "layout", "reason")}
    data = {
        "lines": lines,
        "missing": missing,
        "orders_count": len(orders),
        "prints": len(prints),
        "again": sum(bool(each.copies) for each in chosen.orders),
        "left_out": len(chosen.printed_before),
        "missing_count": len(chosen.missing),
        "of": chosen.in_words,
        "seen": _seen(chosen),
    }
    return PageData("labels_look.html", data | {"asked_for": words})


def print_them(asked: PageRequest) -> Moved:
    """Make the bundle that was looked at; where one of its labels was printed meanwhile, make none."""
    chosen = _chosen(asked)
    if asked.form.get("seen") != _seen(chosen):
        raise Changed("Some of these labels were printed, or orders came or went, since this was shown.")
    if not chosen.orders:
        raise UsageError("There is nothing to print.", remedy="Give a reason to print again what was printed.")
    choice, who = _choice(asked), asked.who.name
    layout, reason = _layout(asked), asked.form.get("reason", "").strip()

    def make() -> tuple[str, str]:
        # Each import of the label flow pulls in what writes PDF; the pages start without.
        from logistics_batch.flows.labels.labels import LabelsPlan, make_labels

        with asked.on.calling() as parts:
            plan = LabelsPlan(orders=choice, layout=layout, reprint_reason=reason, who=who)
            # What somebody does not see is not printed either.
            seen = asked.parts.ledger if asked.who.partners else parts.ledger
            report = make_labels(replace(parts, person=who, ledger=seen), plan)
        words = f"{counted(report.labels, 'label')} of {counted(report.orders, 'order')}, {len(report.missing)} missing"
        return f"Bundle {report.bundle_id}: {words}.", f"/labels/{report.bundle_id}"

    what = f"Labels of {counted(len(chosen.orders), 'order')}"
    begun = asked.on.work.begin(Begun(_key(asked), what, who, asked.now), make)
    if begun.failed:
        raise UsageError(begun.outcome)
    return Moved(
        begun.page or "/labels", begun.outcome or f"{what} are being fetched; this page shows the bundle then."
    )


def _key(asked: PageRequest) -> str:
    """Of bundles that are made here: one at a time for the people of the same partners, who see each other's."""
    return f"{_KEY} of {', '.join(sorted(asked.who.partners))};" if asked.who.partners else _KEY


def _choice(asked: PageRequest) -> LabelChoice:
    """Which orders the form names. Raises UsageError where it names both ways, or too many."""
    numbers = [part.strip() for line in asked.form.get("orders", "").splitlines() for part in line.split(",")]
    numbers = [number for number in numbers if number]
    run = asked.form.get("run", "").strip()
    if run and numbers:
        raise UsageError("Both a run and numbers are given.", remedy="Give one of the two.")
    if not run and not numbers and asked.form.get("all") != "yes" and not asked.form.get("seen"):
        raise UsageError("No order is chosen.", remedy="Write numbers or a run, or mark all that were never printed.")
    if len(numbers) > _MOST_NUMBERS:
        raise UsageError(f"More than {_MOST_NUMBERS:,} numbers are given.", remedy="Print them in several bundles.")
    return LabelChoice(run=run, numbers=tuple(numbers))


def _chosen(asked: PageRequest) -> Chosen:
    choice, reason = _choice(asked), asked.form.get("reason", "").strip()
    _layout(asked)
    if len(reason) > _LONGEST_REASON:
        raise UsageError("The reason is longer than a few lines.", remedy="Say it in a sentence.")
    return choose_orders(asked.parts, choice, reprint=bool(reason))


def _layout(asked: PageRequest) -> str:
    layout = asked.form.get("layout", "") or LAYOUTS[0]
    if layout not in LAYOUTS:
        raise UsageError("No paper is chosen.", remedy="Choose one.")
    return layout


def _seen(chosen: Chosen) -> str:
    """A digest of what would be printed, and how often it was before."""
    told: list[Any] = [sorted((each.awb_number, each.copies) for each in chosen.orders)]
    told += [sorted(each.awb_number for each in chosen.printed_before), len(chosen.missing)]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
