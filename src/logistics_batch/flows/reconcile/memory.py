"""What reconciliations remember from night to night: in the ledger; and what analysts wrote in yesterday's
workbook, or elsewhere since.
"""

import json
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Final
from uuid import uuid4

import polars as pl

from logistics_batch.errors import FileHeld, FileUnstable, FileVanished, LedgerBusy, UsageError
from logistics_batch.flows.files.foreign_files import workbook_entries
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.intake.names import printable
from logistics_batch.intake.stores.store import FileStore, RemoteFile
from logistics_batch.ledger import StoredNight
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.model.reconciliation import (
    ACCEPTED_SCHEMA,
    ENTRIES,
    MEMORY_SCHEMA,
    TREND_SCHEMA,
    Earlier,
    Entries,
    Standing,
    State,
)
from logistics_batch.paper.answers.result_csv import csv_bytes
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.reconciliation import COMPARED_SCHEMA, REMEMBERED_DAYS, ExceptionChange, compared

REPORT: Final = "reconciliation"
WORKBOOK: Final = f"{REPORT}.xlsx"
ACCEPTED: Final = "Accepted"
"""The status of what an analyst accepted, as it stands in the workbook."""
_LONGEST_COMMENT: Final = 4000
_OVER_AFTER: Final = timedelta(hours=12)  # a report that began so long ago and has no end was cut short


def open_exceptions(parts: Parts, series: str) -> pl.DataFrame:
    """The exceptions of a series that are not resolved, as MEMORY_SCHEMA has them."""
    listed = remembered(parts, series, date.max).listed
    return listed.filter(pl.col("standing") != Standing.RESOLVED.value)


def exceptions_since(parts: Parts, series: str, day: date) -> pl.DataFrame:
    """The exceptions of a series that are open or were resolved since a day, as MEMORY_SCHEMA has them."""
    return _from_ledger(parts.ledger.exceptions.of_series(series, resolved_since=day.isoformat()))


def write_entries(
    parts: Parts, night: StoredNight, lines: Collection[Mapping[str, Any]], words: Mapping[str, str], *, why: str
) -> None:
    """Write owner or status beside exceptions, and why behind what is commented; the report of the next night has it.

    lines: the exceptions as they were shown. words: `owner` and `status`, those that change. Raises LedgerBusy while a
    report of theirs is made: it read what was written before.
    """
    now = parts.clock.now()
    told = f"{why} ({parts.person}, {now.date().isoformat()})"
    written = {
        str(line["exception_id"]): {**words, "comment": _behind(str(line["comment"] or ""), told)} for line in lines
    }
    since = (now - _OVER_AFTER).isoformat()
    if not parts.ledger.exceptions.write(night.series, written, none_running_since=since):
        raise LedgerBusy("A report of these exceptions is being made.", remedy="Write it once the report is there.")


def _behind(before: str, told: str) -> str:
    return f"{before} / {told}"[-_LONGEST_COMMENT:] if before.strip() else told


LOOK_BACK_DAYS = 31
"""So many days a dated folder is looked for, the latest first."""

_AGAIN = "Repair the workbook (the replaced one is in the folder “earlier”) and reconcile again with --previous FILE."
_NAMED = 3
_OF_LEDGER: Final = {"owner": "owner", "comment": "comment", "status": "analyst_status"}
_COLUMNS: Final = ("standing", "first_seen", "last_seen", "gone_since")
_FACTS: Final = {
    name: kind for name, kind in MEMORY_SCHEMA.items() if name not in (*_COLUMNS, *ENTRIES, *ACCEPTED_SCHEMA)
}
_SIZES: Final = ("code", "qty_affected", "impact_inr")


def recalled(
    parts: Parts, *, job: str, workbook: Path | None, results: JobPlace | None, business_date: date
) -> Earlier:
    """The memory of a job's reconciliations, with what analysts wrote since; by hand that of the named workbook.

    workbook: one that a person names. results: where a job's last one lies; None: none is read back. Raises UsageError
    or FileHeld for a workbook by hand that is not there or cannot be read, StoreError if the place cannot be reached.
    """
    entries: Entries | None = None
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    if workbook is not None:
        if not workbook.is_file():
            raise UsageError(f"There is no workbook {workbook}.", remedy="Check the path after --previous.")
        entries = _read(parts, workbook)
    elif results is not None:
        entries, doubts, notes = _written_at(parts, results, business_date)
    ids = [] if entries is None else entries.by_exception["exception_id"].to_list()
    series = job or (parts.ledger.exceptions.series_with(ids) if ids else None) or ""
    earlier = replace(remembered(parts, series, business_date), series=series)
    if not (job or workbook or results):
        return replace(earlier, told=False)
    when = f" of {earlier.business_date}" if earlier.business_date else ""
    wrote = "" if entries is None else ", and what analysts wrote"
    source = f"Compared with the report{when}, run {printable(earlier.run)}{wrote}."
    notes += (source if earlier.run else "There is no earlier report: every exception counts as new.",)
    if entries is None:
        return replace(earlier, doubts=doubts, notes=notes)
    other = bool(entries.run and earlier.run and entries.run != earlier.run)
    return replace(
        earlier,
        listed=_with_entries(earlier.listed, _new_of(parts, series, entries), of_another=other),
        doubts=(*doubts, *(f"{one} {_AGAIN}" for one in entries.unread)),
        notes=(*notes, *((_of_another(entries.run),) if other else ()), *entries.notes, *_strangers(entries, earlier)),
    )


def _new_of(parts: Parts, series: str, entries: Entries) -> Entries:
    """What was written in the workbook; what stands there as the last report put it was not.

    So it takes nothing back that was written elsewhere since.
    """
    nights = parts.ledger.exceptions.nights(series)
    if not nights:
        return entries
    put = parts.ledger.exceptions.as_after(nights[-1]).select(
        "exception_id", *(pl.col(column).alias(f"{name}_put") for column, name in _OF_LEDGER.items())
    )
    both = entries.by_exception.join(put, on="exception_id", how="left", maintain_order="left")
    written = (
        pl.when((_plain(name) != _plain(f"{name}_put")).fill_null(True)).then(name).alias(name) for name in ENTRIES
    )
    return replace(entries, by_exception=both.with_columns(written).select(entries.by_exception.columns))


def _plain(name: str) -> pl.Expr:
    """What stands in a cell, without blanks around it; null where the ledger does not know what was put there."""
    text = pl.col(name).str.strip_chars()
    return text if name.endswith("_put") else text.fill_null("")


def _with_entries(listed: pl.DataFrame, entries: Entries, *, of_another: bool) -> pl.DataFrame:
    """The exceptions with what was written beside them; of_another: in a workbook that is not the last report's."""
    # Who wrote into an older workbook has not seen what the exception has become.
    unseen = (pl.col("state") == State.CHANGED.value) & of_another
    return (
        listed.join(entries.by_exception, on="exception_id", how="left", suffix="_written", maintain_order="left")
        .with_columns(pl.when(~unseen).then("analyst_status_written").alias("analyst_status_written"))
        .with_columns(pl.coalesce(f"{name}_written", name).alias(name) for name in ENTRIES)
        .select(*MEMORY_SCHEMA)
    )


def _of_another(run: str) -> str:
    return (
        f"The workbook that was read back is that of run {printable(run)}: its entries count, but no Status beside "
        "what changed after it was accepted."
    )


def _strangers(entries: Entries, earlier: Earlier) -> tuple[str, ...]:
    """What is written beside exceptions that no report of the ledger has listed of late."""
    written = pl.any_horizontal(pl.col(name).fill_null("").str.strip_chars() != "" for name in ENTRIES)
    unknown = entries.by_exception.filter(written).join(earlier.listed, on="exception_id", how="anti")["exception_id"]
    if unknown.is_empty():
        return ()
    named = ", ".join(printable(one) for one in unknown.head(_NAMED))
    return (f"Notes beside {counted(len(unknown), 'exception')} that the ledger does not know stay there ({named}).",)


def _written_at(
    parts: Parts, results: JobPlace, business_date: date
) -> tuple[Entries | None, tuple[str, ...], tuple[str, ...]]:
    """What the latest workbook where results go says, or why nothing can be read (doubts, notes).

    With `{date}` in the path it is that of the latest day that has one.
    """
    with closing(parts.open_store(results)) as store:
        found = _latest(store, results, business_date)
        if found is None:
            place = f"{store.label}{PurePosixPath('/', results.path)}".removeprefix("folder:").rstrip("/")
            return None, (), (f"No earlier workbook lies in {place}.",)
        where = f"{store.label}:{found.path}"
        try:
            with holding_file(found.name):
                return _fetched(parts, store, found), (), ()
        except (FileHeld, FileVanished, FileUnstable) as error:
            told = (
                f"The earlier workbook {printable(where)} cannot be read: {error.message} What analysts wrote in it is "
                "missing here. It was moved to the folder “earlier”; repair it there and reconcile again with "
                "--previous FILE."
            )
            return None, (told,), ()


def _latest(store: FileStore, results: JobPlace, business_date: date) -> RemoteFile | None:
    paths = [results.on(business_date - timedelta(days=days)).path for days in range(LOOK_BACK_DAYS + 1)]
    for path in dict.fromkeys(paths):
        if store.exists(str(PurePosixPath(path) / WORKBOOK)):
            return next((file for file in store.list(path) if file.name == WORKBOOK and not file.is_link), None)
    return None


def _fetched(parts: Parts, store: FileStore, file: RemoteFile) -> Entries:
    folder = parts.files / "reconciliation"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    landing = folder / f"previous-{uuid4().hex}.xlsx"
    try:
        store.fetch(file, to=landing)
        return _read(parts, landing)
    finally:
        landing.unlink(missing_ok=True)


def _read(parts: Parts, path: Path) -> Entries:
    return parts.limited(workbook_entries, about=WORKBOOK, returns=(Entries,))(path, name=WORKBOOK)


def remembered(parts: Parts, series: str, business_date: date) -> Earlier:
    """What the ledger knows of a series."""
    memory = parts.ledger.exceptions
    nights = memory.nights(series)
    if not nights:
        return Earlier()
    since = (business_date - timedelta(days=REMEMBERED_DAYS)).isoformat()
    listed = _from_ledger(memory.of_series(series, resolved_since=since))
    figures = [json.loads(night.figures) for night in nights]
    trend = pl.DataFrame(
        [[one[name] for name in TREND_SCHEMA] for one in figures], _texts_of(TREND_SCHEMA), orient="row"
    )
    each = _typed(trend, TREND_SCHEMA).unique("business_date", keep="last").sort("business_date")
    last = nights[-1]
    return Earlier(last.run, date.fromisoformat(last.business_date), listed, each)


def remember(parts: Parts, account: ReconciliationReport, *, series: str) -> None:
    """Write down how each exception stands after a report, and the report's figures."""
    [figures] = _as_texts(account.trend.tail(1)).to_dicts()
    window = {"by": account.by, "from": account.date_from.isoformat(), "to": account.date_to.isoformat()}
    told = account.result.remembered
    accepted = pl.struct(_text(name).alias(name.removeprefix("accepted_")) for name in ACCEPTED_SCHEMA)
    listed = told.select(
        "exception_id",
        *(_text(name) for name in (*_COLUMNS, *_SIZES)),
        *(pl.col(name).alias(column) for column, name in _OF_LEDGER.items()),
        pl.when(pl.col("accepted_code").fill_null("") != "").then(accepted.struct.json_encode()).alias("accepted"),
        pl.struct(_text(name) for name in _FACTS).struct.json_encode().alias("facts"),
    )
    parts.ledger.exceptions.remember(
        series, account.run, account.business_date.isoformat(), json.dumps(figures | window), listed
    )


def _from_ledger(stored: pl.DataFrame) -> pl.DataFrame:
    """The exceptions (EXCEPTIONS) as MEMORY_SCHEMA has them."""
    names = {name.removeprefix("accepted_"): name for name in ACCEPTED_SCHEMA}
    facts = _decoded(stored["facts"], _FACTS)
    accepted = _decoded(stored["accepted"].replace("", "{}"), names).rename(names)
    columns = stored.select(*_COLUMNS, *(pl.col(column).alias(name) for column, name in _OF_LEDGER.items()))
    return _typed(pl.concat([facts, accepted, columns], how="horizontal"), MEMORY_SCHEMA)


def _decoded(texts: pl.Series, names: Mapping[str, Any]) -> pl.DataFrame:
    """The values of JSON objects, as texts."""
    return texts.str.json_decode(pl.Struct(_texts_of(names))).struct.unnest()


def _texts_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(schema, pl.String)


def _text(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String)


def _as_texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().cast(pl.String))


def _typed(texts: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Texts in the types of a schema; an unknown text is "", any other unknown value null."""
    return texts.select(_value(name, kind).alias(name) for name, kind in schema.items())


def _value(name: str, kind: pl.DataType) -> pl.Expr:
    text = pl.col(name)
    if kind == pl.String:
        return text.fill_null("")
    if kind == pl.Boolean:
        return text == "true"
    filled = pl.when(text != "").then(text)
    return filled.str.to_date("%Y-%m-%d") if kind == pl.Date else filled.cast(kind)


@dataclass(frozen=True, slots=True)
class ComparedNights:
    """Two nights side by side. exceptions: COMPARED_SCHEMA; warnings: what to bear in mind; files: what was written."""

    first: StoredNight
    second: StoredNight
    exceptions: pl.DataFrame
    warnings: tuple[str, ...]
    files: tuple[Path, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Differences by change, every change."""
        found = dict(self.exceptions.group_by("change").len().iter_rows())
        return {change.value: found.get(change.value, 0) for change in ExceptionChange}


def document_of(nights: ComparedNights) -> dict[str, Any]:
    """All of a comparison for programs; numbers are exact decimal texts."""
    about = {
        name: {"run": night.run, "business_date": night.business_date, "job": night.series} | json.loads(night.figures)
        for name, night in (("first", nights.first), ("second", nights.second))
    }
    listed = _as_texts(nights.exceptions).fill_null("").to_dicts()
    return about | {"warnings": list(nights.warnings), "counts": nights.counts, "exceptions": listed}


def compare_nights(parts: Parts, first: str, second: str, *, output: Path | None = None) -> ComparedNights:
    """Compare the exceptions of two reconciliations, each named by its run or business date.

    Writes exceptions.csv and comparison.json to `output`, or to a folder of the reports. Raises UsageError if one of
    the two is not known.
    """
    earlier, later = _night(parts, first), _night(parts, second)
    told = compared(_stood_after(parts, earlier), _stood_after(parts, later))
    folder = output or parts.reports / "reconciliation" / f"{earlier.run}_to_{later.run}"
    folder.mkdir(parents=True, exist_ok=True)
    files = tuple((folder / name).absolute() for name in ("exceptions.csv", "comparison.json"))
    nights = ComparedNights(earlier, later, told, _warnings(earlier, later), files)
    files[0].write_bytes(csv_bytes(_as_texts(told).fill_null("")))
    files[1].write_text(json.dumps(document_of(nights), ensure_ascii=False, indent=1), encoding="utf-8")
    return nights


def _night(parts: Parts, name: str) -> StoredNight:
    found = parts.ledger.exceptions.named(name)
    if not found:
        raise UsageError(
            f'No reconciliation "{name}" is known.',
            remedy="Name a run or a business date; `logistics-batch runs` lists the runs.",
        )
    return found[-1]


def _stood_after(parts: Parts, night: StoredNight) -> pl.DataFrame:
    """The exceptions as they stood after a night: `standing`, and what `compared` takes."""
    stored = parts.ledger.exceptions.as_after(night)
    facts = _decoded(stored["facts"], COMPARED_SCHEMA).select(list(COMPARED_SCHEMA)[2:7])
    told = pl.concat([stored.select("exception_id", "standing", *_SIZES), facts], how="horizontal")
    return _typed(told, {name: MEMORY_SCHEMA[name] for name in told.columns})


def _warnings(first: StoredNight, second: StoredNight) -> tuple[str, ...]:
    figures = {night.run: json.loads(night.figures) for night in (first, second)}
    told = [f"The report of {run} may be incomplete." for run, one in figures.items() if one["complete"] != "true"]
    windows = [f"{one['by']} {one['from']} to {one['to']}" for one in (figures[first.run], figures[second.run])]
    if figures[first.run]["by"] != figures[second.run]["by"]:
        told.append(f"The nights have different ranges: {windows[0]} and {windows[1]}.")
    if first.business_date > second.business_date:
        told.append("The first night is later than the second.")
    return tuple(told)
