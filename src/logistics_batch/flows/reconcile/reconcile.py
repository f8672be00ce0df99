"""The reconciliation of ASNs: ask the service, read the ledger and the receipts, judge, write it down for people."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path, PurePosixPath
from zoneinfo import ZoneInfo

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.asns.fetch import AsnRange, asn_range
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run_record import recorded_run
from logistics_batch.flows.reconcile.earlier_receipts import (
    Counting,
    KnownLines,
    all_receipts,
    followed,
    furthest_statuses,
    judged_invoices,
    keep_seen,
    known_receipts,
    with_missing_lists,
)
from logistics_batch.flows.reconcile.gather import Gathered, gather, order_numbers
from logistics_batch.flows.reconcile.goods_list import ListKind, ReadList
from logistics_batch.flows.reconcile.memory import REPORT, WORKBOOK, recalled, remember
from logistics_batch.flows.reconcile.notices import Scope, announced_frames, returned_frames
from logistics_batch.flows.reconcile.receipts import (
    PURCHASE_ORDERS,
    RECEIPTS,
    counted_lists,
    list_by_hand,
    list_from,
)
from logistics_batch.flows.reconcile.unsent import unsent_rows
from logistics_batch.intake.names import printable
from logistics_batch.messages.words import shortened
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.job import JobPlace, Lists, Margin, ReconcileJob, Tolerance
from logistics_batch.model.reconciliation import Discrepancy, Earlier, Reconciliation, Standing
from logistics_batch.model.report import ExitCode
from logistics_batch.model.run_reports import ReconcileReport
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.data import reconciliation_csv, reconciliation_document, reconciliation_json
from logistics_batch.paper.reconciliation.page import reconciliation_page
from logistics_batch.paper.reconciliation.workbook import reconciliation_workbook, whole_tables
from logistics_batch.reconciliation import (
    BY_SKU,
    MEASURES,
    TOLERATED,
    Legs,
    Limit,
    Rules,
    ToleranceMeasure,
    audit,
    discounts_not_returned,
    unknown_statuses,
    without_rates,
)
from logistics_batch.specification import nearest

_GIVE = {
    ToleranceMeasure.UNITS: "units or percent",
    ToleranceMeasure.AMOUNT: 'amount: "1.00", or percent',
    ToleranceMeasure.DAYS: "days",
}
_NOT = {
    "percent": "is not measured in percent",
    "units": "is not counted in units",
    "amount": "is not measured in rupees",
    "days": "is not measured in days",
}


def limits_of(tolerance: Mapping[str, Tolerance]) -> dict[Discrepancy, Limit]:
    """The tolerances by class; raises UsageError for a class that knows none, or not of that kind."""
    limits: dict[Discrepancy, Limit] = {}
    for name, given in tolerance.items():
        if name not in list(TOLERATED):
            raise UsageError(f'The class "{name}" has no tolerance.', remedy=nearest(name, [*TOLERATED]))
        code = Discrepancy(name)
        suppliers = {who: _limit(code, margin) for who, margin in given.suppliers.items()}
        skus = {sku: _limit(code, margin) for sku, margin in given.skus.items()}
        if suppliers and MEASURES[code] is ToleranceMeasure.DAYS:
            raise UsageError(f"{code} has one tolerance for all suppliers.", remedy="Remove suppliers from it.")
        if skus and code not in BY_SKU:
            raise UsageError(f"{code} has one tolerance for all SKUs.", remedy="Remove skus from it.")
        limits[code] = replace(_limit(code, given), suppliers=suppliers, skus=skus)
    return limits


def _limit(code: Discrepancy, margin: Margin) -> Limit:
    days = margin.days if isinstance(margin, Tolerance) else None
    given = {"percent": margin.percent, "units": margin.units, "amount": margin.amount, "days": days}
    measure = MEASURES[code]
    fitting = {measure.value} if measure is ToleranceMeasure.DAYS else {measure.value, "percent"}
    for name, value in given.items():
        if value is not None and name not in fitting:
            raise UsageError(f"{code} {_NOT[name]}.", remedy=f"Give {_GIVE[measure]}.")
    percent, units, amount = (
        None if given[name] is None else Decimal(str(given[name])) for name in ("percent", "units", "amount")
    )
    return Limit(percent=percent, units=units, amount=amount, days=days)


_WORDS_NAMED = 5


@dataclass(frozen=True, slots=True)
class ListPlan:
    """Where a list is read from: a file by hand, or the place of a job, whose mapping stands beside it."""

    path: Path | None = None
    mapping: str | None = None
    place: Lists | None = None


@dataclass(frozen=True, slots=True)
class ReconcilePlan:
    """What is to be reconciled.

    by: created, modified or delivery; date_from, date_to: both ends inclusive, in the service's zone.
    receipts, purchase_orders: what was received and ordered; where nothing is given, nothing is said about it.
    tolerance: by class; what is not named has none (prices: 0.01 INR).
    claim_days: how long after its delivery date goods can be claimed.
    previous: whether what analysts wrote is read back from the workbook that lies where results go; previous_path: a
    workbook by hand instead. By hand nothing is said of earlier nights without one.
    output: a folder for the report; None: one under the reports. results: where else it goes.
    """

    by: str
    date_from: date | None
    date_to: date | None
    business_date: date
    receipts: ListPlan = ListPlan()
    purchase_orders: ListPlan = ListPlan()
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)
    claim_days: int = 60
    output: Path | None = None
    results: JobPlace | None = None
    job: str = ""
    previous: bool = False
    previous_path: Path | None = None


def plan_of_job(job: ReconcileJob, business_date: date) -> ReconcilePlan:
    """What a job file asks for on one day."""
    date_from, date_to = job.window.around(business_date)
    return ReconcilePlan(
        by=job.window.by,
        date_from=date_from,
        date_to=date_to,
        business_date=business_date,
        receipts=ListPlan(place=job.receipts and job.receipts.on(business_date)),
        purchase_orders=ListPlan(place=job.purchase_orders and job.purchase_orders.on(business_date)),
        tolerance=job.tolerance,
        claim_days=job.claim_days,
        results=job.results_place,
        job=job.name,
        previous=job.previous is not None,
    )


def run_reconcile(parts: Parts, plan: ReconcilePlan) -> ReconcileReport:
    """Reconcile a range of ASNs and write the report, also when there is nothing to report.

    Raises:
        UsageError: a range without both ends, an unknown class of tolerance, a mapping that is not for lists.
        KeyRefused, ServiceMisaddressed, RunStopped: the service could not be asked.
        FileHeld: a list or the earlier workbook given by hand cannot be read.
        StoreError: a place could not be read or written.
        LogisticsBatchError: the sums do not tie out; no report was written.
    """
    wanted = asn_range(plan.by, plan.date_from, plan.date_to)
    limits = limits_of(plan.tolerance)
    job = plan.job or "reconcile"
    with recorded_run(parts, letter="R", kind="reconcile", job=job, business_date=plan.business_date) as run:
        asked = _ask(parts, plan, wanted)
        account = _account(parts, plan, run.id, asked, limits)
        files, delivered = _hand_over(parts, plan, account)
        differs = account.result.exceptions.height > 0
        code = ExitCode.DOUBT if not account.complete else ExitCode.ROWS_NOT_DONE if differs else ExitCode.DONE
        report = ReconcileReport(
            run=run.id,
            exit_code=code,
            complete=account.complete,
            counts=dict(account.result.classes.select("class", "lines").iter_rows()),
            document=reconciliation_document(account),
            doubts=account.doubts,
            notes=account.notes,
            files=files,
            delivered=delivered,
        )
        remember(parts, account, series=asked.earlier.series)
        run.ended(report.exit_code, report.counts)
    return report


@dataclass(frozen=True, slots=True)
class _Asked:
    """What lists, service, ledger and earlier reports say. receipts: as the lists of the range have them."""

    earlier: Earlier
    receipts: ReadList
    known: KnownLines | None
    orders: ReadList
    scope: Scope
    gathered: Gathered
    notes: tuple[str, ...]


def _ask(parts: Parts, plan: ReconcilePlan, wanted: AsnRange) -> _Asked:
    receipts = _read(parts, plan.receipts, RECEIPTS, since=wanted.date_from, on=plan.business_date)
    orders = counted_lists(
        _read(parts, plan.purchase_orders, PURCHASE_ORDERS, since=wanted.date_from, on=plan.business_date)
    )
    earlier = recalled(
        parts,
        job=plan.job,
        workbook=plan.previous_path,
        results=plan.results if plan.previous else None,
        business_date=plan.business_date,
    )
    run = earlier.run if earlier.told else ""
    known = known_receipts(parts, job=plan.job, run=run, until=plan.business_date)
    invoices, notes = followed(earlier if earlier.told else Earlier(), wanted, receipts, known)
    scope = Scope(wanted, ZoneInfo(parts.policy.timezone), invoices)
    gathered = gather(parts, scope, receipts, orders)
    return _Asked(earlier, receipts, known, orders, scope, gathered, notes)


def _compared(parts: Parts, plan: ReconcilePlan, asked: _Asked) -> tuple[Legs, Counting]:
    """The legs, and the receipts as far back as the ASNs want them."""
    scope, on = asked.scope, plan.business_date
    legs = _legs(parts, scope, asked.gathered, receipts=asked.receipts, orders=asked.orders)
    judged = judged_invoices(legs, asked.gathered, scope)
    counting = all_receipts(
        parts,
        plan.receipts.place,
        asked.receipts,
        asked.known,
        judged=judged,
        followed=scope.followed.keys(),
        on=on,
    )
    told = counting.receipts
    none_came = plan.receipts.place is not None and asked.receipts.lines is None
    unopened = with_missing_lists(counting.unopened, told, legs, none_came=none_came)
    unsent = unsent_rows(parts, scope, on)
    whole = replace(legs, received=told.lines, unread=told.unread, unopened=unopened, unsent_rows=unsent)
    return whole, counting


def _account(
    parts: Parts, plan: ReconcilePlan, run: str, asked: _Asked, limits: dict[Discrepancy, Limit]
) -> ReconciliationReport:
    wanted, earlier = asked.scope.wanted, asked.earlier
    legs, counting = _compared(parts, plan, asked)
    receipts = counting.receipts
    gathered, orders = asked.gathered, asked.orders
    rules = Rules(
        plan.business_date,
        limits=limits,
        complete=gathered.complete,
        claim_days=plan.claim_days,
        due=(wanted.date_from, wanted.date_to) if wanted.by == "delivery" else None,
        followed=frozenset(asked.scope.followed),
        whole=gathered.complete and receipts.complete and orders.complete,
    )
    if (booked_within := limits.get(Discrepancy.NOT_RECEIVED, Limit()).days) is not None:
        rules = replace(rules, grace_days=booked_within)
    result = audit(legs, rules=rules, earlier=earlier)
    asked_for = ((plan.receipts, receipts, RECEIPTS), (plan.purchase_orders, orders, PURCHASE_ORDERS))
    missing = tuple(kind.word for given, read, kind in asked_for if given != ListPlan() and read.lines is None)
    if RECEIPTS.word in missing:
        result = without_rates(result)
    known = None if counting.known is None else KnownLines(counting.known, legs.unread)
    keep_seen(parts, legs.returned_notices, known, run=run, job=plan.job, business_date=plan.business_date)
    doubts = [doubt for read in (receipts, orders) for doubt in read.doubts]
    notes = [note for read in (receipts, orders) for note in read.notes]
    return ReconciliationReport(
        run=run,
        by=wanted.by,
        date_from=wanted.date_from,
        date_to=wanted.date_to,
        timezone=parts.policy.timezone,
        business_date=plan.business_date,
        made_at=parts.clock.now(),
        result=result,
        receipts_compared=receipts.lines is not None,
        orders_compared=orders.lines is not None,
        missing=missing,
        not_read=receipts.unread,
        doubts=(
            *gathered.doubts,
            *doubts,
            *_not_compared(missing, result),
            *earlier.doubts,
            *_without_receipts(result, receipts),
        ),
        notes=(
            *notes,
            *gathered.notes,
            *_unreturned(result, legs),
            *_not_understood(legs),
            *earlier.notes,
            *asked.notes,
        ),
        log=_log(plan, gathered, {"Receipts": receipts, "Purchase orders": orders}, rules),
    )


def _not_compared(missing: tuple[str, ...], result: Reconciliation) -> tuple[str, ...]:
    if RECEIPTS.word not in missing:
        return ()
    lines = counted(result.match_rate.lines, "line")
    return (f"Not compared with receipts: {lines}. What is called matched agrees with the service; no rate is given.",)


def _hand_over(
    parts: Parts, plan: ReconcilePlan, account: ReconciliationReport
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Write reconciliation.xlsx, .html, .csv and .json; returns the local files and what was delivered elsewhere.

    Tables that are longer than a sheet of the workbook are written as CSV, too.
    An earlier workbook at the same place may hold analysts' notes: it moves to the folder `earlier` beside it.
    Raises StoreError if a place cannot be written.
    """
    papers = {
        WORKBOOK: reconciliation_workbook(account),
        f"{REPORT}.html": reconciliation_page(account),
        f"{REPORT}.csv": reconciliation_csv(account),
        f"{REPORT}.json": reconciliation_json(account),
        **whole_tables(account),
    }
    stamp = f"{account.made_at:%Y%m%d-%H%M%S}"
    folder = (plan.output or parts.reports / REPORT / account.run).absolute()
    _put(parts, JobPlace(folder=str(folder), path="/"), papers, stamp=stamp)
    delivered: tuple[str, ...] = ()
    if plan.results is not None:
        delivered = _put(parts, plan.results.on(account.business_date), papers, stamp=stamp)
    return tuple(folder / name for name in papers), delivered


def _put(parts: Parts, place: JobPlace, papers: dict[str, bytes], *, stamp: str) -> tuple[str, ...]:
    folder = PurePosixPath(place.path)
    with closing(parts.open_store(place)) as store:
        if store.exists(str(folder / WORKBOOK)):
            store.move(str(folder / WORKBOOK), to_folder=str(folder / "earlier"), name=f"{REPORT}_until_{stamp}.xlsx")
        return store.put_all(place.path, papers)


def _read(parts: Parts, source: ListPlan, kind: ListKind, *, since: date, on: date) -> ReadList:
    """The list, as of a business date; none if none was given."""
    if source.place is not None:
        return list_from(parts, source.place, kind=kind, since=since, business_date=on)
    if source.path is None:
        return ReadList(None)
    if source.mapping is None:
        raise UsageError(f"It is not said how {source.path} is to be read.", remedy=f"Give {kind.option}-mapping NAME.")
    return list_by_hand(parts, source.path, kind=kind, mapping=source.mapping, business_date=on)


def _legs(parts: Parts, scope: Scope, gathered: Gathered, *, receipts: ReadList, orders: ReadList) -> Legs:
    announced_notices, announced_lines = announced_frames(gathered.documents, scope, orders=order_numbers(orders))
    returned_notices, returned_lines = returned_frames(gathered.records, scope, furthest=furthest_statuses(parts))
    return Legs(
        announced_notices=announced_notices,
        announced_lines=announced_lines,
        returned_notices=returned_notices,
        returned_lines=returned_lines,
        received=receipts.lines,
        ordered=orders.lines,
        unread=receipts.unread,
    )


def _unreturned(result: Reconciliation, legs: Legs) -> tuple[str, ...]:
    without = discounts_not_returned(legs)
    lacking = result.not_returned | ({"discounts": without} if without else {})
    return tuple(
        f"The service's replies lack {name}, or show it in a form that cannot be read, for {counted(count, 'ASN')} "
        "sent with it; it could not be compared."
        for name, count in lacking.items()
    )


def _not_understood(legs: Legs) -> tuple[str, ...]:
    words = unknown_statuses(legs.returned_notices)
    if not words:
        return ()
    named = shortened([f'"{printable(word)}" ({count})' for word, count in words], limit=_WORDS_NAMED)
    asns = counted(sum(count for _, count in words), "ASN")
    return (f"The service's API does not know the status of {asns}: {named}. Nothing is concluded from it.",)


def _without_receipts(result: Reconciliation, receipts: ReadList) -> tuple[str, ...]:
    """What is said where receipts showed what is open, and tonight there were none."""
    if receipts.lines is not None or not result.previous_run:
        return ()
    unchecked = (pl.col("standing") == Standing.NOT_CHECKED.value) & pl.col("by_receipts")
    left = result.remembered.filter(unchecked).height
    words = "that receipts showed could not be checked, since no receipts were compared tonight"
    return (f"{counted(left, 'open exception')} {words}.",) if left else ()


def _log(
    plan: ReconcilePlan, gathered: Gathered, lists: Mapping[str, ReadList], rules: Rules
) -> tuple[tuple[str, str], ...]:
    judged = (code for code in TOLERATED if code is not Discrepancy.NOT_RECEIVED)  # which the days of grace tell
    limits = ((f"Tolerance {code}", str(rules.limit(code))) for code in judged)
    return (
        ("Job", plan.job or "by hand"),
        ("Requests to the service", str(gathered.requests)),
        ("Raw replies", str(gathered.folder) if gathered.folder else "none"),
        *((name, ", ".join(read.files) or "none") for name, read in lists.items()),
        ("Days of grace", f"{rules.grace_days}; delivery dates up to {rules.judged_until} are judged for receiving"),
        ("Not compared", "item description, serial number and tracking level of lines"),
        ("Claim window", f"{rules.claim_days} days from the delivery date"),
        *limits,
    )
