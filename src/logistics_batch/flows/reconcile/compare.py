"""Two nights that were kept, compared: what came, went and changed, on the screen and as files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.snapshots import Snapshot, load_snapshot
from logistics_batch.paper.result_csv import csv_bytes
from logistics_batch.reconciliation import Change, Comparison, Night, compare


@dataclass(frozen=True, slots=True)
class ComparedNights:
    """What came of it; warnings: what to bear in mind, files: what was written."""

    first: Snapshot
    second: Snapshot
    comparison: Comparison
    warnings: tuple[str, ...]
    files: tuple[Path, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Differences by change, every change."""
        found = dict(self.comparison.exceptions.group_by("change").len().iter_rows())
        return {change.value: found.get(change.value, 0) for change in Change}

    @property
    def document(self) -> dict[str, Any]:
        """All of it for programs; numbers are exact decimal texts."""
        nights = {"first": self.first, "second": self.second}
        return {
            **{name: night.about for name, night in nights.items()},
            "warnings": list(self.warnings),
            "counts": self.counts,
            "exceptions": _texts(self.comparison.exceptions).to_dicts(),
            "asns": _texts(self.comparison.notices).to_dicts(),
            "asn_values": _texts(self.comparison.values).to_dicts(),
        }


def compare_nights(parts: Parts, first: str, second: str, *, output: Path | None = None) -> ComparedNights:
    """Compare two reconciliations, each named by its run or business date, and write what changed.

    Writes exceptions.csv, asns.csv, asn_values.csv and comparison.json to `output`, or to a folder of the reports.
    Raises UsageError if one of the two was not kept.
    """
    earlier, later = load_snapshot(parts, first), load_snapshot(parts, second)
    found = compare(Night(earlier.legs, earlier.found), Night(later.legs, later.found))
    compared = ComparedNights(earlier, later, found, _warnings(earlier, later), ())
    folder = output or parts.reports / "reconciliation" / f"{earlier.run}_to_{later.run}"
    folder.mkdir(parents=True, exist_ok=True)
    papers = {
        "exceptions.csv": csv_bytes(_texts(found.exceptions)),
        "asns.csv": csv_bytes(_texts(found.notices)),
        "asn_values.csv": csv_bytes(_texts(found.values)),
        "comparison.json": json.dumps(compared.document, ensure_ascii=False, indent=1).encode(),
    }
    for name, content in papers.items():
        (folder / name).write_bytes(content)
    files = tuple((folder / name).absolute() for name in papers)
    return ComparedNights(earlier, later, found, compared.warnings, files)


def _warnings(first: Snapshot, second: Snapshot) -> tuple[str, ...]:
    said = [f"The report of {night.run} may be incomplete." for night in (first, second) if not night.complete]
    if first.window.by != second.window.by:
        said.append(f"The nights have different ranges: {first.window} and {second.window}.")
    if first.business_date > second.business_date:
        said.append("The first night is later than the second.")
    return tuple(said)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.all().cast(pl.String).fill_null(""))
