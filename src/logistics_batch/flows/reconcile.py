"""The reconciliation of ASNs: ask the service, read the ledger and the receipts, judge, write it down for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from logistics_batch.errors import UsageError
from logistics_batch.flows.fetch_asns import AsnRange, asn_range
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile_gather import Gathered, gather
from logistics_batch.flows.reconcile_limits import limits_of
from logistics_batch.flows.reconcile_notices import Scope, announced_frames, returned_frames, unsent_frame
from logistics_batch.flows.reconcile_output import hand_over
from logistics_batch.flows.reconcile_previous import Previous, previous_at, previous_by_hand
from logistics_batch.flows.reconcile_receipts import (
    LOOK_BACK_DAYS,
    Receipts,
    ReceiptsPlace,
    receipts_by_hand,
    receipts_from,
)
from logistics_batch.flows.run_record import recorded_run
from logistics_batch.flows.snapshots import Circumstances, furthest_statuses, keep_snapshot
from logistics_batch.model.document import Operation
from logistics_batch.model.job import Place, ReconcileJob, Tolerance
from logistics_batch.model.reconciliation import Discrepancy, Reconciliation
from logistics_batch.model.reconciliation_history import Watch
from logistics_batch.model.report import ExitCode
from logistics_batch.paper.reconciliation_account import Account
from logistics_batch.paper.reconciliation_data import reconciliation_document
from logistics_batch.reconciliation import TOLERATED, Legs, Limit, Rules, audit

_NO_RECEIPTS = Receipts(None)


@dataclass(frozen=True, slots=True)
class ReconcilePlan:
    """What is to be reconciled.

    by: created, modified or delivery; date_from, date_to: both ends inclusive, in the service's zone.
    receipts_path: a receipts file by hand; receipts: where a job's receipts files lie; with either, receipts_mapping
    or the place's own says how to read them. Neither: nothing is said about receiving.
    tolerance: by class; what is not named has none (prices: 0.01 INR).
    grace_days: a line is judged as not received from the day after its delivery date + grace_days, unless `tolerance`
    says NOT_RECEIVED otherwise. claim_days: how long after its delivery date goods can be claimed.
    previous: whether the workbook that lies where results go is read back; previous_path: a workbook by hand instead.
    output: a folder for the report; None: one under the reports. results: where else it goes.
    """

    by: str
    date_from: date | None
    date_to: date | None
    business_date: date
    receipts_path: Path | None = None
    receipts_mapping: str | None = None
    receipts: ReceiptsPlace | None = None
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)
    grace_days: int = 1
    claim_days: int = 60
    output: Path | None = None
    results: Place | None = None
    job: str = ""
    previous: bool = False
    previous_path: Path | None = None


def plan_of_job(job: ReconcileJob, business_date: date) -> ReconcilePlan:
    """What a job file asks for on one day."""
    date_from, date_to = job.window.around(business_date)
    receipts = None
    if job.receipts is not None:
        place = job.receipts.place.on(business_date)
        receipts = ReceiptsPlace(place, job.receipts.pattern, job.receipts.mapping)
    return ReconcilePlan(
        by=job.window.by,
        date_from=date_from,
        date_to=date_to,
        business_date=business_date,
        receipts=receipts,
        tolerance=job.tolerance,
        claim_days=job.claim_days,
        results=job.results_place,
        job=job.name,
        previous=job.previous is not None,
    )


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What came of a reconciliation.

    complete: nothing is known to be missing in it; `doubts` say what may be. counts: lines by class, exceptions and
    others. document: the report for programs, as in reconciliation.json. files: written on this machine;
    delivered: where else, as "store:path".
    """

    run: str
    exit_code: int
    complete: bool
    counts: dict[str, int]
    document: dict[str, Any] = field(repr=False)
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    delivered: tuple[str, ...] = ()


def run_reconcile(parts: Parts, plan: ReconcilePlan) -> ReconcileReport:
    """Reconcile a range of ASNs and write the report, also when there is nothing to report.

    Raises:
        UsageError: a range without both ends, an unknown class of tolerance, a mapping that is not for receipts.
        KeyRefused, ServiceMisaddressed, RunStopped: the service could not be asked.
        FileHeld: the receipts file or the earlier workbook given by hand cannot be read.
        StoreError: a place could not be read or written.
        LogisticsBatchError: the sums do not tie out; no report was written.
    """
    wanted = asn_range(plan.by, plan.date_from, plan.date_to)
    limits = limits_of(plan.tolerance)
    job = plan.job or "reconcile"
    with recorded_run(parts, letter="R", kind="reconcile", job=job, business_date=plan.business_date) as run:
        account = _account(parts, plan, run.id, wanted, limits)
        files, delivered = hand_over(parts, account, output=plan.output, results=plan.results)
        report = ReconcileReport(
            run=run.id,
            exit_code=_exit_code(account),
            complete=account.complete,
            counts=dict(account.result.classes.select("class", "lines").iter_rows()),
            document=reconciliation_document(account),
            doubts=account.doubts,
            notes=account.notes,
            files=files,
            delivered=delivered,
        )
        run.ended(report.exit_code, report.counts)
    return report


def _account(
    parts: Parts, plan: ReconcilePlan, run: str, wanted: AsnRange, limits: dict[Discrepancy, Limit]
) -> Account:
    scope = Scope(wanted, ZoneInfo(parts.policy.timezone))
    receipts = _receipts(parts, plan, wanted)
    gathered = gather(parts, scope, receipts)
    rules = _rules(plan, limits, complete=gathered.complete)
    previous = _previous(parts, plan)
    due = (wanted.date_from, wanted.date_to) if wanted.by == "delivery" else None
    watch = Watch(plan.business_date, due, complete=gathered.complete and receipts.complete)
    legs = _legs(parts, scope, gathered, receipts)
    result = audit(legs, rules=rules, earlier=previous.earlier, watch=watch)
    made = Circumstances(
        run=run,
        job=plan.job or "by hand",
        business_date=plan.business_date,
        window=wanted,
        complete=gathered.complete and receipts.complete,
        raw_replies=str(gathered.folder or ""),
    )
    keep_snapshot(parts, legs, result, made=made)
    said = receipts.notes
    return Account(
        run=run,
        by=wanted.by,
        date_from=wanted.date_from,
        date_to=wanted.date_to,
        timezone=parts.policy.timezone,
        business_date=plan.business_date,
        made_at=parts.clock.now(),
        result=result,
        receipts_compared=receipts.lines is not None,
        doubts=(*gathered.doubts, *(() if receipts.complete else said), *previous.doubts),
        notes=(*gathered.notes, *(said if receipts.complete else ()), *_unreturned(result), *previous.notes),
        log=_log(plan, gathered, receipts, rules),
    )


def _rules(plan: ReconcilePlan, limits: dict[Discrepancy, Limit], *, complete: bool) -> Rules:
    booked_within = limits.get(Discrepancy.NOT_RECEIVED)
    grace_days = plan.grace_days if booked_within is None or booked_within.days is None else booked_within.days
    return Rules(plan.business_date, grace_days, limits, complete=complete, claim_days=plan.claim_days)


def _exit_code(account: Account) -> int:
    if not account.complete:
        return ExitCode.DOUBT
    return ExitCode.ROWS_NOT_DONE if account.result.exceptions.height else ExitCode.DONE


def _receipts(parts: Parts, plan: ReconcilePlan, wanted: AsnRange) -> Receipts:
    if plan.receipts is not None:
        return receipts_from(parts, plan.receipts, since=wanted.date_from, business_date=plan.business_date)
    if plan.receipts_path is None:
        return _NO_RECEIPTS
    if plan.receipts_mapping is None:
        raise UsageError(
            f"It is not said how {plan.receipts_path} is to be read.", remedy="Give --receipts-mapping NAME."
        )
    return receipts_by_hand(parts, plan.receipts_path, mapping=plan.receipts_mapping, business_date=plan.business_date)


def _previous(parts: Parts, plan: ReconcilePlan) -> Previous:
    if plan.previous_path is not None:
        return previous_by_hand(parts, plan.previous_path)
    if plan.previous and plan.results is not None:
        return previous_at(parts, plan.results, plan.business_date)
    return Previous()


def _legs(parts: Parts, scope: Scope, gathered: Gathered, receipts: Receipts) -> Legs:
    announced_notices, announced_lines = announced_frames(gathered.documents, scope)
    returned_notices, returned_lines = returned_frames(gathered.records, scope, furthest=furthest_statuses(parts))
    # A row that could not be read shows no date, so rows of the days before the range are looked at, too.
    since = scope.wanted.date_from - timedelta(days=LOOK_BACK_DAYS)
    rows = parts.ledger.rows_not_sent(operation=Operation.ASN_CREATE.value, planned_from=since.isoformat())
    return Legs(
        announced_notices=announced_notices,
        announced_lines=announced_lines,
        returned_notices=returned_notices,
        returned_lines=returned_lines,
        received=receipts.lines,
        unsent_rows=unsent_frame(rows),
    )


def _unreturned(result: Reconciliation) -> tuple[str, ...]:
    return tuple(
        f"The service's replies lack {name} for {count} ASNs that were sent with it; it could not be compared."
        for name, count in result.not_returned.items()
    )


def _log(plan: ReconcilePlan, gathered: Gathered, receipts: Receipts, rules: Rules) -> tuple[tuple[str, str], ...]:
    judged = (code for code in TOLERATED if code is not Discrepancy.NOT_RECEIVED)  # which the days of grace tell
    limits = ((f"Tolerance {code}", str(rules.limit(code))) for code in judged)
    return (
        ("Job", plan.job or "by hand"),
        ("Requests to the service", str(gathered.requests)),
        ("Raw replies", str(gathered.folder) if gathered.folder else "none"),
        ("Receipts", ", ".join(receipts.files) or "none"),
        ("Days of grace", f"{rules.grace_days}; delivery dates up to {rules.judged_until} are judged for receiving"),
        ("Claim window", f"{rules.claim_days} days from the delivery date"),
        *limits,
    )
