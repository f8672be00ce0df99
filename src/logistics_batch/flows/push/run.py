"""The life of a push run: it begins or goes on, what came before is settled, it ends with totals and an exit code.

Later it is read back from the ledger, with what its rows have become since.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath

from logistics_batch.errors import (
    FileHeld,
    LedgerRefused,
    LogisticsBatchError,
    StoreError,
    UsageError,
    as_told,
)
from logistics_batch.flows.asns.search import confirm_marked
from logistics_batch.flows.doubts.settle import settle_due
from logistics_batch.flows.files.answer_names import name_of, places_of
from logistics_batch.flows.files.deliver import (
    Delivered,
    FileReports,
    acknowledge,
    deliver,
    deliver_stale,
)
from logistics_batch.flows.files.purge import purge_old
from logistics_batch.flows.files.waiting_files import follow_held_files, follow_left_files
from logistics_batch.flows.orders.awb_ownership import find_missing_numbers
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.flows.push.dispatch import send_in_turn
from logistics_batch.flows.push.run_record import (
    new_run_id,
    recover_orphans,
    send_beside_others,
    stopping_early,
    told_of_move,
    told_of_never_sent,
    told_of_other_addresses,
)
from logistics_batch.intake.stores.store import RemoteFile
from logistics_batch.ledger import FATE_OF_STATE, Arrival, StoredDocument, StoredFile, StoredRun
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.model.report import Fate, RunReport, Tally, added, exit_code, tally_of
from logistics_batch.paper.answers.json_answers import report_json_text

_MOST_NOTES = 50  # kept with a run


@dataclass
class PushRun:
    """A push run while it goes on.

    notes: what the report should mention. undelivered: answers that could not be written, and files that could not be
    put away. sent_along: documents of earlier files that a person released and that went out with this run.
    unacknowledged: files whose sender may not have got an acknowledgement yet; it is written with their results.
    waiting: how many documents are to be sent, as far as files were read. names: of the files that it met. left: files
    that should be taken and cannot be, with the reason; None if nobody looked. waits: waiting may mend what stopped it.
    pauses, paused_seconds: how often and how long it waited for the service, also between its tries.
    """

    id: str
    job: str
    stopped: str = ""
    remedy: str = ""
    waits: bool = False
    pauses: int = 0
    paused_seconds: int = 0
    notes: list[Issue] = field(default_factory=list)
    undelivered: list[str] = field(default_factory=list)
    sent_along: tuple[int, ...] = ()
    waiting: int = 0
    unacknowledged: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    left: Sequence[tuple[RemoteFile, Issue]] | None = None

    @property
    def waited(self) -> dict[str, int]:
        """How often and how long it waited, for its summary; nothing if it did not."""
        return {"pauses": self.pauses, "paused_seconds": self.paused_seconds} if self.pauses else {}


@contextmanager
def run_of(
    parts: Parts, job: str, *, business_date: date, meant: tuple[set[str], str] | None = None
) -> Iterator[PushRun]:
    """A new run, or an interrupted one that goes on under its own id; doubts that are due are settled first.

    meant: for a push by hand, the contents and the operation that tell which interrupted run is meant.
    Call while holding the ledger's sending lock.
    """
    now = parts.clock.now()
    taken_over = recover_orphans(parts)
    day = business_date.isoformat()
    files = parts.ledger.files
    left = (
        found
        for found in parts.ledger.runs.interrupted(job=job, business_date=day)
        if meant is None
        or any(each.sha256 in meant[0] and each.operation == meant[1] for each in files.of_run(run=found.id))
    )
    interrupted = next(left, None)
    run = PushRun(interrupted.id if interrupted else new_run_id(parts), job, notes=taken_over)
    if interrupted is None:
        parts.ledger.runs.start(run.id, job=job, kind="push", business_date=day, now=now.isoformat())
    else:
        run.pauses = interrupted.summary.get("pauses", 0)
        run.paused_seconds = interrupted.summary.get("paused_seconds", 0)
        if interrupted.finished_at:  # else it died, and waited for nothing
            between = now - datetime.fromisoformat(interrupted.finished_at)
            run.pauses += 1
            run.paused_seconds += max(0, round(between.total_seconds()))
            parts.ledger.runs.resume(run.id)
    try:
        with stopping_early():
            run.notes += [*told_of_move(parts), *told_of_other_addresses(parts)]
            run.notes += settle_due(parts, run=run.id, give_up=False).notes
            find_missing_numbers(parts)
            purge_old(parts)
            run.waiting = parts.ledger.documents.count_planned_of(run.id)
            yield run
    except BaseException as error:
        told = as_told(error)
        if isinstance(told, LogisticsBatchError):
            with suppress(LedgerRefused):  # a ledger that takes nothing any more does not take this either
                parts.ledger.runs.finish(
                    run.id, exit_code=told.exit_code, summary=run.waited, now=parts.now, stopped=told.message
                )
        raise


def plan_anew(parts: Parts, run: PushRun, file: StoredFile, arrival: Arrival) -> None:
    """Make what was not sent of an interrupted file anew by its mapping as it is now; what was sent stays.

    Raises UsageError if some of it was sent and the mapping does not take the file any more.
    """
    if arrival.held is not None and parts.ledger.planning.sent_of(file.id):
        raise UsageError(
            f"{file.name} was interrupted, and by its mapping as it was corrected since it is held: "
            f"{arrival.held.message}",
            remedy=f"Some of it was sent already: correct the mapping once more. {arrival.held.remedy}".strip(),
        )
    parts.ledger.require_lock()
    stay = parts.ledger.planning.replan_file(file.id, arrival)
    stayed = [(".documents_stay", {"count": stay})] if stay else []
    run.notes.append(Issue.of("file.made_anew", name=file.name, stay=stayed))
    run.waiting = parts.ledger.documents.count_planned_of(run.id)
    run.unacknowledged.add(file.id)


def plan_arrival(parts: Parts, run: PushRun, arrival: Arrival) -> None:
    """Write a file into the ledger, and tell its sender that it was read and when the result will come.

    One that the ledger cannot take as it was read is written as held.
    """
    parts.ledger.require_lock()
    try:
        with holding_file(arrival.source.name):
            file_id = parts.ledger.planning.plan_file(run.id, arrival)
    except FileHeld as held:
        file_id = parts.ledger.planning.plan_file(run.id, replace(arrival, mapped=None, held=held))
    run.waiting += parts.ledger.documents.planned_in(file_id)
    due = parts.clock.now() + timedelta(seconds=parts.client.pacer.seconds_for(run.waiting))
    receipt = acknowledge(parts, parts.ledger.files.get(file_id), result_due=due.isoformat(timespec="seconds"))
    run.notes += receipt.notes
    if receipt.failed:
        run.unacknowledged.add(file_id)


def send(parts: Parts, run: PushRun) -> None:
    """Everything that this run's files ask for goes out; then doubts that became due are settled."""
    planned = parts.ledger.documents.planned_of(run.id)
    run.sent_along = tuple(planned.filter("send_approved")["id"])
    is_shared = parts.ledger.lanes.are_shared
    if is_shared and (planned.height or parts.ledger.attempts.left_of(run.id)):
        result = send_beside_others(parts, run=run.id)
    else:
        result = send_in_turn(parts, planned, run=run.id)
    run.stopped, run.remedy = result.stopped, result.remedy
    run.waits = bool(result.stopped) and not result.lasting
    run.pauses += result.pauses
    run.paused_seconds += round(result.paused_seconds)
    run.notes += [*result.notes, *recover_orphans(parts)]
    if is_shared:
        parts.ledger.awb_numbers.doubt_shared(run.id, at=parts.now)
    if not run.stopped:
        run.notes += settle_due(parts, run=run.id, give_up=False).notes
        find_missing_numbers(parts)
        run.notes += confirm_marked(parts) if parts.policy.marks_asns else []


def deliver_answers(parts: Parts, run: PushRun) -> None:
    """The results of this run's files, and of earlier files whose documents changed meanwhile."""
    files = parts.ledger.files.of_run(run=run.id)
    parts.progress.start("Writing results", len(files))
    for file in files:
        first = file.state == "planned"
        delivered = deliver(parts, file, acknowledge=file.id in run.unacknowledged, first=first)
        run.undelivered += delivered.failed
        run.notes += delivered.notes
        parts.progress.advance()
    parts.progress.done()
    for delivered in deliver_stale(parts, leave_out_run=run.id):
        # Of other runs: this one has done what it was to do.
        run.notes += [*unwritten(delivered.failed), *delivered.notes]


def unwritten(failed: Iterable[str]) -> list[Issue]:
    """Notes on answers that could not be written."""
    return [Issue.of("answers.unwritten", why=why) for why in failed]


def is_finished(parts: Parts, file: StoredFile) -> bool:
    """Whether a file may be put away: its answers are written and none of its rows waits to be sent."""
    return file.state == "reported" and not parts.ledger.documents.planned_in(file.id)


def _told_of(files: Sequence[object], along: Sequence[StoredDocument]) -> Iterator[Issue]:
    """What is noted of a run beside what it noted itself: that it found no file, and what went out along with it.

    One note for all that did, and one for each that was not accepted.
    """
    if not files:
        yield Issue("file.none")
    if not along:
        return
    fates = Counter(FATE_OF_STATE[document.state] for document in along)
    yield Issue.of("sending.released", fates=[f"{number} {fate}" for fate, number in fates.items()])
    for document in along:
        fate = FATE_OF_STATE[document.state]
        if fate is not Fate.ACCEPTED:
            why = [document.why.pair] if document.why.code else []
            yield Issue.of("sending.released_one", reference=document.reference, fate=fate, why=why)


def finish(parts: Parts, run: PushRun) -> RunReport:
    """Close the run and write its own report, also when it found nothing."""
    parts.ledger.require_lock()
    files = parts.ledger.files.of_run(run=run.id)
    reports = FileReports(parts.ledger.documents.file_report, [file.id for file in files])
    tally = tally_of(reports)
    follow_held_files(parts, run.job, files)
    if run.left is not None:
        follow_left_files(parts, run.job, run.left)
    notes = [*run.notes, *told_of_never_sent(parts.ledger.documents.never_sent(but_of=run.id))]
    if run.pauses:
        notes.append(Issue.of("sending.paused", times=run.pauses, seconds=run.paused_seconds))
    parts.ledger.runs.keep_notes(run.id, notes[:_MOST_NOTES])
    # It has no row here, but counts for the exit code.
    own = {key for report in reports for key in report.documents["key"]} if run.sent_along else set()
    along = [each for each in parts.ledger.documents.stored(run.sent_along) if each.key not in own]
    stopped = " ".join(part for part in (run.stopped, run.remedy, *run.undelivered) if part)
    report = RunReport(
        run.id,
        run.job,
        reports,
        stopped=stopped,
        waits=run.waits,
        names=tuple(sorted(run.names | {file.name for file in files})),
        left=len(run.left or ()),
        notes=(*notes, *_told_of(reports, along)),
        tally=tally,
    )
    counts, held = Counter(report.counts), bool(tally.held_files)
    counts.update(FATE_OF_STATE[document.state] for document in along)
    code = exit_code(counts, file_held=held, stopped=bool(stopped))
    unwritten = _put_report(parts, replace(report, exit_code=code))
    if unwritten:  # what was sent is told all the same
        stopped, code = f"{stopped} {unwritten}".strip(), exit_code(counts, file_held=held, stopped=True)
    summary = {str(fate): n for fate, n in report.counts.items()} | ({"released": len(along)} if along else {})
    summary |= {"files_held": tally.held_files, "left": report.left} | tally.by_thing | run.waited
    parts.ledger.runs.finish(run.id, exit_code=code, summary=summary, now=parts.now, stopped=stopped)
    return replace(report, stopped=stopped, exit_code=code)


def _put_report(parts: Parts, report: RunReport) -> str:
    """Write a run's own report; "" if that went well, else what is told instead."""
    store = parts.open_store(JobPlace(folder=str(parts.reports)))
    try:
        store.put(f"/run-{report.run}.json", (text.encode() for text in report_json_text(report)))
    except StoreError as error:
        return f"The report of the run could not be written: {error.message} {error.remedy}".strip()
    finally:
        store.close()
    return ""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as the ledger holds it, with what its rows have become by now, of each file and in all."""

    stored: StoredRun
    report: RunReport
    files: tuple[tuple[StoredFile, Tally], ...]


def past_run(parts: Parts, run_id: str) -> PastRun:
    """One run by its id, or the latest run of a job by the job's name.

    Raises UsageError if there is none.
    """
    stored = parts.run_called(run_id)
    tallies = parts.ledger.documents.tallies(stored.id)
    files = [each for each in parts.ledger.files.of_run(run=stored.id) if each.id in tallies]
    along = parts.ledger.documents.sent_along(stored.id)
    told = (note for note in _told_of(files, along) if note.code != "file.none" or stored.kind == "push")
    report = RunReport(
        stored.id,
        stored.job,
        FileReports(parts.ledger.documents.file_report, list(tallies)),
        stopped=stored.stopped,
        left=stored.summary.get("left", 0),
        notes=(*parts.ledger.runs.notes_of(stored.id), *told),
        exit_code=stored.exit_code or 0,
        tally=added(tallies.values()),
    )
    return PastRun(stored, report, tuple((each, tallies[each.id]) for each in files))


def write_again(parts: Parts, run_id: str) -> list[Delivered]:
    """Write every result file of a run again, from the ledger, and the acknowledgements as things stand now.

    Raises UsageError if there is no such run; LedgerBusy while another run writes.
    """
    found = past_run(parts, run_id)
    with parts.ledger.sending(f"runs report {found.stored.id}"):
        return [deliver(parts, file, acknowledge=True) for file in parts.ledger.files.of_run(run=found.stored.id)]


def answers_of_run(parts: Parts, run_id: str) -> list[tuple[str, list[str]]]:
    """The name of each file of a run, in their order, and the start of its answers' names at each place.

    Files of one name are told apart by where they lay, also in their archive. Of a file whose answers could not be
    written yet there are none.
    """
    files = parts.ledger.files.of_run(run=run_id)
    times = Counter(file.name for file in files)
    answers = []
    for file in files:
        lay = [str(file.origin[each]) for each in ("path", "inside") if each in file.origin]
        found: list[str] = []
        for place in places_of(parts, file) if file.state != "planned" else ():
            with closing(parts.open_store(place)) as store:
                path = PurePosixPath(place.path) / name_of(parts, store, place, file)
                kind, _, root = store.label.partition(":")
                found.append(f"{root}/{str(path).lstrip('/')}" if kind == "folder" else f"{store.label}:{path}")
        answers.append((file.name if times[file.name] == 1 or not lay else "/".join(lay), found))
    return answers
