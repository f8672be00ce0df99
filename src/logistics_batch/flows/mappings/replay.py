"""What a changed mapping would make of the files that came last, beside what the one that is there makes of them."""

import json
from collections.abc import Mapping as ReadOnly
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.doubts.held import flat
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.mappings.mapping_files import tried
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredFile
from logistics_batch.mapping import Mapping
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import FATES, FileReport

_ROWS_SHOWN, _VALUES_SHOWN = 10, 4
_NOT_KEPT: Final = "The file as it came is not kept here any more."


@dataclass(frozen=True, slots=True)
class Replayed:
    """A file read by both. why_not: why it could not be, in words, "" if it was.

    before, after: its rows by fate, as a run would find them now. differ: how many of them come out otherwise. rows:
    the first of these: where they stand, both fates, why, and each value of the payload that differs.
    """

    file: int
    name: str
    received_at: str
    why_not: str = ""
    before: ReadOnly[str, int] | None = None
    after: ReadOnly[str, int] | None = None
    differ: int = 0
    rows: tuple[dict[str, Any], ...] = ()


def replay(parts: Parts, files: Sequence[StoredFile], *, before: Mapping, after: Mapping) -> list[Replayed]:
    """Map each file by both, beside what the ledger knows now; nothing is written or called."""
    return [_replayed(parts, file, before=before, after=after) for file in files]


def _replayed(parts: Parts, file: StoredFile, *, before: Mapping, after: Mapping) -> Replayed:
    head = (file.id, file.name, file.received_at)
    path = kept_file(parts, file)
    if not path.exists():
        return Replayed(*head, _NOT_KEPT)
    try:
        old, new = (tried(parts, mapping, path, name=file.name) for mapping in (before, after))
    except LogisticsBatchError as error:
        return Replayed(*head, f"{error.message} {error.remedy}".strip())
    if new.reason and new.reason != old.reason:
        return Replayed(*head, f"Held as a whole: {new.reason} {new.remedy}".strip())
    both = _rows(old).join(_rows(new), on=["sheet", "row"], how="full", coalesce=True, suffix=":after")
    is_same = pl.col("fate").eq_missing(pl.col("fate:after")) & pl.col("body").eq_missing(pl.col("body:after"))
    differing = both.filter(~is_same).sort("sheet", "row")
    shown = tuple(map(_told, differing.head(_ROWS_SHOWN).iter_rows(named=True)))
    return Replayed(*head, before=_counts(old), after=_counts(new), differ=differing.height, rows=shown)


def _rows(report: FileReport) -> pl.DataFrame:
    """Each row with its fate, why, and the payload of its document."""
    causes = [(each.place.sheet or report.sheet, each.place.row, each.reason) for each in report.issues]
    schema = pl.Schema({"sheet": pl.String(), "row": FATES["row"], "why": pl.String()})
    first = pl.DataFrame(causes, schema=schema, orient="row").unique(["sheet", "row"], keep="first")
    bodies = report.documents.select(pl.col("key").alias("document"), "body").unique("document", keep="first")
    rows = report.rows.select("sheet", "row", "fate", "document", "code", "values")
    return rows.join(first, on=["sheet", "row"], how="left").join(bodies, on="document", how="left")


def _told(line: ReadOnly[str, Any]) -> dict[str, Any]:
    found = Issue(line["code:after"], values=line["values:after"]) if line["code:after"] else None
    bodies = (dict(flat(json.loads(line[name]))) if line[name] else {} for name in ("body", "body:after"))
    old, new = bodies
    differing = [
        (name, old.get(name, ""), new.get(name, "")) for name in {**old, **new} if old.get(name) != new.get(name)
    ]
    return {
        "sheet": line["sheet"],
        "row": line["row"],
        "before": line["fate"] or "",
        "after": line["fate:after"] or "",
        "why": line["why:after"] or (found.reason if found else ""),
        "differing": differing[:_VALUES_SHOWN] if old and new else [],
        "more": max(0, len(differing) - _VALUES_SHOWN) if old and new else 0,
    }


def _counts(report: FileReport) -> dict[str, int]:
    return {fate.value: count for fate, count in report.counts.items() if count}
