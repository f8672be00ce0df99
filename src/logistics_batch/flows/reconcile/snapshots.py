"""What the next reconciliation has to know of what this one saw: rows of receipts, and how far ASNs were."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from uuid import uuid4

import polars as pl

from logistics_batch.flows.parts import Parts
from logistics_batch.reconciliation import further_status

_FOLDER = "reconciliation"
_ABOUT = "snapshot.json"
_STATUSES = "statuses.parquet"
_KEPT_DAYS = 180  # the furthest status of an ASN that no report has seen since
_NIGHT = re.compile(r"(\d{4}-\d{2}-\d{2})_(.+)")


@dataclass(frozen=True, slots=True)
class KnownLines:
    """Receipts as reports read them. lines: KNOWN_LINES; unread: UNREAD_ROWS."""

    lines: pl.DataFrame
    unread: pl.DataFrame


def keep_seen(
    parts: Parts, returned_notices: pl.DataFrame, known: KnownLines | None, *, run: str, job: str, business_date: date
) -> None:
    """Write what a report saw, whole or not at all. known: None where there never were any receipts."""
    home = parts.files / _FOLDER
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    _remember_statuses(home / _STATUSES, returned_notices, on=business_date)
    landing = home / f".{uuid4().hex}.part"
    landing.mkdir(mode=0o700)
    if known is not None:
        known.lines.write_parquet(landing / "known.parquet")
        known.unread.write_parquet(landing / "unread.parquet")
    (landing / _ABOUT).write_text(json.dumps({"job": job}), encoding="utf-8")
    landing.rename(home / f"{business_date}_{run}")


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


def known_receipts(parts: Parts, *, job: str, run: str, until: date) -> KnownLines | None:
    """What the last report of a job up to a day knew of receipts; or that of the run of that id, where job is "".

    None if there is none, or if it never knew of receipts.
    """
    home = parts.files / _FOLDER
    nights = [found for path in (home.iterdir() if home.is_dir() else ()) if (found := _NIGHT.fullmatch(path.name))]
    for found in sorted(nights, key=lambda night: night[0], reverse=True):
        folder = home / found[0]
        try:
            about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
            if date.fromisoformat(found[1]) <= until and (found[2] == run or (job and about["job"] == job)):
                if not (folder / "known.parquet").exists():
                    return None
                return KnownLines(pl.read_parquet(folder / "known.parquet"), pl.read_parquet(folder / "unread.parquet"))
        except (pl.exceptions.PolarsError, OSError, KeyError, TypeError, ValueError):
            continue  # damaged: an earlier one knows nearly as much
    return None
