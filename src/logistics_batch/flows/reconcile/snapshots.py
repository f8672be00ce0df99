"""What every reconciliation saw, kept as Parquet files: the legs as they came, and what was found."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.asns.ranges import AsnRange
from logistics_batch.flows.parts import Parts
from logistics_batch.model.reconciliation import Outcome, Reconciliation
from logistics_batch.reconciliation import Legs, further_status

_FOLDER = "reconciliation"
_ABOUT = "snapshot.json"
_FOUND = "found"
_KNOWN = "known"
_STATUSES = "statuses.parquet"
_KEPT_DAYS = 180  # the furthest status of an ASN that no report has seen since
_LEGS = tuple(one.name for one in fields(Legs))
_NIGHT = re.compile(r"(\d{4}-\d{2}-\d{2})_(.+)")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One reconciliation as it was kept.

    legs: as the auditor took them. found: LINES_SCHEMA, the lines that did not agree in every respect.
    about: window, job, completeness, counts and where the raw replies lie.
    """

    run: str
    business_date: date
    window: AsnRange
    complete: bool
    legs: Legs
    found: pl.DataFrame
    about: dict[str, Any]
    folder: Path


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Under which a reconciliation was made, as far as a reader of its snapshot needs them.

    known: KNOWN_LINES, all rows of receipts that the next report has to know of; None: there never were any.
    """

    run: str
    job: str
    business_date: date
    window: AsnRange
    complete: bool
    raw_replies: str
    known: pl.DataFrame | None = None


def keep_snapshot(parts: Parts, legs: Legs, result: Reconciliation, *, made: Circumstances) -> Path:
    """Write the legs and what was found, whole or not at all; returns the folder."""
    home = parts.files / _FOLDER
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    landing = home / f".{uuid4().hex}.part"
    landing.mkdir(mode=0o700)
    frames = {name: getattr(legs, name) for name in _LEGS} | {_FOUND: result.differing, _KNOWN: made.known}
    for name, frame in frames.items():
        if frame is not None:
            frame.write_parquet(landing / f"{name}.parquet")
    (landing / _ABOUT).write_text(json.dumps(_about(result, made), indent=1), encoding="utf-8")
    _remember_statuses(home / _STATUSES, legs.returned_notices, on=made.business_date)
    return landing.rename(home / f"{made.business_date}_{made.run}")


def _about(result: Reconciliation, made: Circumstances) -> dict[str, Any]:
    return {
        "run": made.run,
        "job": made.job,
        "business_date": made.business_date.isoformat(),
        "by": made.window.by,
        "from": made.window.date_from.isoformat(),
        "to": made.window.date_to.isoformat(),
        "complete": made.complete,
        "raw_replies": made.raw_replies,
        "lines": dict(result.classes.select("class", "lines").iter_rows()),
    }


def furthest_statuses(parts: Parts) -> Mapping[str, str]:
    """The furthest status that earlier reports saw, by the service's id of the ASN."""
    known = _known_statuses(parts.files / _FOLDER / _STATUSES)
    return {} if known is None else dict(known.select("record_id", "status").iter_rows())


def _known_statuses(path: Path) -> pl.DataFrame | None:
    """None if there are none, or if a power cut damaged the file: then they are gathered anew."""
    try:
        return pl.read_parquet(path) if path.is_file() else None
    except (pl.exceptions.PolarsError, OSError):
        return None


def _remember_statuses(path: Path, notices: pl.DataFrame, *, on: date) -> None:
    seen = notices.filter(pl.col("record_id") != "").select(
        "record_id", further_status("furthest_status", "status").alias("status"), pl.lit(on).alias("seen")
    )
    known = _known_statuses(path)
    recent = pl.col("seen") >= on - timedelta(days=_KEPT_DAYS)
    together = seen if known is None else pl.concat([seen, known.filter(recent)])
    landing = path.with_name(f".{uuid4().hex}.part")
    together.unique("record_id", keep="first", maintain_order=True).write_parquet(landing)
    landing.replace(path)


def snapshot_names(parts: Parts) -> list[str]:
    """The nights that were kept, as "business date_run", the oldest first."""
    home = parts.files / _FOLDER
    names = [path.name for path in home.iterdir() if _NIGHT.fullmatch(path.name)] if home.is_dir() else []
    return sorted(names)


def load_snapshot(parts: Parts, named: str) -> Snapshot:
    """The reconciliation of a run's id, or the last one of a business date.

    Raises UsageError if none was kept under that name, or if it is damaged.
    """
    names = snapshot_names(parts)
    fitting = [name for name in names if named in (name, *name.split("_", 1))]
    if not fitting:
        latest = ", ".join(names[-3:]) or "none yet"
        raise UsageError(
            f'No reconciliation "{named}" is kept.',
            remedy=f"Name a run or a business date; the latest are: {latest}.",
        )
    folder = parts.files / _FOLDER / fitting[-1]
    try:
        return _read(folder)
    except (pl.exceptions.PolarsError, OSError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"The reconciliation kept in {folder} cannot be read.", remedy="Name another one; this one is damaged."
        ) from error


@dataclass(frozen=True, slots=True)
class Known:
    """Receipts as earlier reports read them. lines: KNOWN_LINES; unread: UNREAD_ROWS."""

    lines: pl.DataFrame
    unread: pl.DataFrame


def known_receipts(parts: Parts, *, job: str, run: str, until: date) -> Known | None:
    """What the last report of a job up to a day knew of receipts; or that of the run of that id, where job is "".

    None if there is none, or if it never knew of receipts.
    """
    for name in reversed(snapshot_names(parts)):
        folder = parts.files / _FOLDER / name
        day, its_run = name.split("_", 1)
        try:
            about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
            if date.fromisoformat(day) <= until and (its_run == run or (job and about["job"] == job)):
                known = folder / f"{_KNOWN}.parquet"
                if not known.exists():
                    return None
                return Known(pl.read_parquet(known), pl.read_parquet(folder / "unread.parquet"))
        except (pl.exceptions.PolarsError, OSError, KeyError, TypeError, ValueError):
            continue  # damaged: an earlier one knows nearly as much
    return None


def exceptions_of(parts: Parts, run: str) -> dict[str, str]:
    """The invoice number of each exception that a run's report listed, by exception_id; none if it was not kept."""
    kept = [name for name in snapshot_names(parts) if name.split("_", 1)[1] == run]
    try:
        found = pl.read_parquet(parts.files / _FOLDER / kept[-1] / f"{_FOUND}.parquet") if kept else None
    except (pl.exceptions.PolarsError, OSError):
        found = None
    if found is None:
        return {}
    listed = found.filter(pl.col("outcome").is_in([Outcome.EXCEPTION.value, Outcome.ACCEPTED.value]))
    return dict(listed.select("exception_id", "invoice_number").iter_rows())


def _read(folder: Path) -> Snapshot:
    about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    frames = {path.stem: pl.read_parquet(path) for path in folder.glob("*.parquet")}
    found = frames.pop(_FOUND)
    frames.pop(_KNOWN, None)
    day_from, day_to = (date.fromisoformat(about[name]) for name in ("from", "to"))
    return Snapshot(
        run=about["run"],
        business_date=date.fromisoformat(about["business_date"]),
        window=AsnRange(about["by"], day_from, day_to),
        complete=about["complete"],
        legs=Legs(**frames),
        found=found,
        about=about,
        folder=folder,
    )
