"""What a run of a job, or a push by hand, prints."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from logistics_batch.cli.show import (
    IN_ORDER,
    plain,
    print_json,
    print_push,
    print_run_json,
    sentence,
    shown_path,
    took,
)
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run import PastRun, answers_of_run
from logistics_batch.messages import moment
from logistics_batch.model.counting import counted, summed_up
from logistics_batch.model.discrepancy import MEANINGS, Discrepancy
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import ExitCode, RunReport
from logistics_batch.model.run_reports import (
    LabelReport,
    OrderStatusReport,
    PrintJob,
    PrintState,
    ReconcileReport,
    asked_in_words,
)
from logistics_batch.operate.run_job import OF_REPORTS, JobOutcome

_SETTLED_SHOWN = 10


def print_outcome(parts: Parts, outcome: JobOutcome, *, as_json: bool) -> None:
    """The report of a job of any kind."""
    if as_json and isinstance(outcome.report, RunReport):
        print_run_json(outcome.report)
    elif as_json:
        print_json(outcome.document())
    elif isinstance(outcome.report, RunReport):
        report = outcome.report
        print_push(report, answers_of_run(parts, report.run) if report.run else [])
    elif isinstance(outcome.report, ReconcileReport):
        print_reconciliation(outcome.report)
    elif isinstance(outcome.report, LabelReport):
        print_labels(outcome.report)
    elif isinstance(outcome.report, OrderStatusReport):
        print_order_status(outcome.report)
    else:
        click.echo(f"{outcome.line}.")


_MEANINGS = {
    None: "under way, or interrupted",
    ExitCode.DONE: "nothing left to do",
    ExitCode.USAGE: "it could not run as it is set up",
    ExitCode.ROWS_NOT_DONE: "not everything could be done",
    ExitCode.DOUBT: "something is in doubt or held",
    ExitCode.STOPPED_EARLY: "stopped early",
    ExitCode.BUSY: "another run held the ledger",
}


def print_past_run(parts: Parts, past: PastRun, account: dict[str, Any]) -> None:
    """A run that is over: its head, its files, and what else is known of it; account: as `run_account` gives it."""
    stored, report = past.stored, past.report
    lasted = took(stored.started_at, stored.finished_at)
    lasted = f", took {lasted}" if lasted else ""
    click.echo(f"{stored.kind} for {stored.business_date}, began {moment(stored.started_at)}{lasted}")
    code = "" if stored.exit_code is None else f"exit {stored.exit_code}: "
    meaning, _ = OF_REPORTS.get((stored.kind, stored.exit_code), (_MEANINGS.get(stored.exit_code, ""), ""))
    click.echo(f"{code}{meaning}")
    if report.files:
        counts = report.counts
        rows = ", ".join(f"{counts[fate]:,} {fate.value.replace('_', ' ')}" for fate in IN_ORDER if counts[fate])
        click.echo(f"{counted(len(report.files), 'file')}, {rows or 'no rows'}{report.in_documents}")
    elif stored.summary and stored.kind != "push":
        click.echo(summed_up(stored.summary))
    click.echo()
    print_push(report, answers_of_run(parts, report.run))
    if settled := account["settled"]:
        click.echo(f"Found out in it of earlier files: {counted(len(settled), 'document')} accepted after a doubt.")
        for each in settled[:_SETTLED_SHOWN]:
            click.echo(f"  {plain(each['reference'])} {plain(each['awb_number'])}".rstrip())
    if account["reports"]:
        click.echo(f"Report: {account['reports']}")
    for alert in account["alerts"]:
        over = f"; over since {moment(alert['over_at'])}" if alert["over_at"] else ""
        click.echo(f"Alert ({alert['told']}{over}): {plain(alert['title'])}")
    if account["next"]:
        click.echo(f"Next: {account['next']}")


def print_reconciliation(report: ReconcileReport) -> None:
    """The doubts first, then the lines of each class, then where the report lies."""
    for doubt in report.doubts:
        click.echo(f"May be incomplete: {plain(doubt)}")
    click.echo(f"Run {report.run}")
    for code, count in report.counts.items():
        if count:
            click.echo(f"  {code:<22} {count:>7}  {plain(explained(code))}".rstrip())
    if not any(report.counts.values()):
        click.echo("  There was nothing to compare.")
    _print_end(report.notes, report.files, report.delivered)


def _print_end(notes: Iterable[str], files: Iterable[Path], delivered: Iterable[str]) -> None:
    """What should be known besides, and where a report lies."""
    for note in notes:
        click.echo(f"Note: {plain(note)}")
    for path in (*map(str, files), *map(shown_path, delivered)):
        click.echo(f"  {path}")


def explained(code: str) -> str:
    """What a class of a reconciliation says; nothing for lines without exception.

    >>> explained("matched")
    ''
    """
    return MEANINGS[Discrepancy(code)].says if code in list(Discrepancy) else ""


def print_labels(report: LabelReport) -> None:
    """What is in the bundle, what is missing first."""
    for lost in report.missing:
        name = lost.reference_number or lost.awb_number
        click.echo(f"Missing: {plain(name)}: {sentence(lost.reason)} What to do: {sentence(lost.remedy)}")
    of = f"{counted(report.labels, 'label')} of {counted(report.orders, 'order')}"
    missing = f", {len(report.missing):,} missing" if report.missing else ""
    click.echo(f"Bundle {report.bundle_id}: {of}{missing}.")
    _print_end(report.notes, report.files, report.delivered)
    print_printing(report.printing, report.unprinted)


def print_printing(jobs: Sequence[PrintJob], unprinted: Sequence[Issue]) -> None:
    """What became of the files of a bundle at the printer, what was not printed last."""
    for job in jobs:
        if job.state is PrintState.PRINTED:
            click.echo(f"Printed: {plain(job.file)} as {plain(job.number)}.")
    for each in unprinted:
        click.echo(f"{plain(each.reason)}\nWhat to do: {plain(each.fix)}")


def print_order_status(report: OrderStatusReport) -> None:
    """What was asked and what differs, then where the report and the feed lie; last what could not be delivered."""
    click.echo(f"Run {report.run}: {counted(report.orders, 'order')}, {report.at_end:,} of them at their end.")
    click.echo(f"  {sentence(plain(asked_in_words(report.asked)))}")
    click.echo(f"  {report.differences:,} not as they were sent, or short.")
    _print_end((), report.files, (*report.delivered, *report.feed.delivered))
    for failed in (*report.failed, report.feed.failed):
        if failed:
            click.echo(f"Not delivered: {plain(failed)}")
