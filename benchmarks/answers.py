"""The answers to a file, written alone: `report` keeps what became of its rows, `write` answers it."""

import pickle
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import polars as pl
from alternatives import MAPPING

from logistics_batch.flows.files.foreign_files import answer_files, map_file
from logistics_batch.mapping import RunValues, load_mapping
from logistics_batch.model.report import FATES, Fate, FileReport
from logistics_batch.model.sheet import ReadOptions


def report(source: Path, kept: Path) -> None:
    """Keep the report of a run in which the service took all that can go out."""
    mapping = load_mapping(MAPPING, path="benchmark.yaml", read_lookup=str)
    values = RunValues(file_name=source.name, business_date=date(2026, 11, 3), timezone="Asia/Kolkata")
    mapped = map_file(source, mapping, name=source.name, run_values=values).mapped
    assert mapped is not None
    is_sent = pl.col("state") == "ready"
    rows = mapped.rows.with_columns(
        pl.lit(mapped.sheet).alias("sheet"),
        pl.col("key").fill_null("").alias("document"),
        pl.when(is_sent).then(pl.lit(Fate.ACCEPTED.value)).otherwise("state").alias("fate"),
        pl.when(is_sent).then(pl.format("AWB-{}", "key")).otherwise(pl.lit("")).alias("awb_number"),
    )
    texts = [name for name in FATES if name not in rows.columns]
    rows = rows.with_columns(pl.lit("").alias(name) for name in texts).select(
        pl.col(name).fill_null("") if kind == pl.String else name for name, kind in FATES.items()
    )
    told = FileReport(
        file=source.name,
        sha256="0" * 64,
        size=source.stat().st_size,
        run="20261103-P1",
        mapping="benchmark",
        mapping_digest="",
        sheet=mapped.sheet,
        header_row=mapped.header_row,
        rows_read=rows.height,
        rows=rows,
        issues=mapped.issues,
    )
    kept.write_bytes(pickle.dumps(replace(told, issues=tuple(told.issues))))


def write(source: Path, kept: Path) -> None:
    """Write the result workbook, the CSV and the fix file."""
    told = pickle.loads(kept.read_bytes())
    options = ReadOptions(key=("Order No",), filled_down=("Order No",))
    files, _ = answer_files(told, source, name=source.name, kind="csv", options=options, formats=("xlsx", "csv"))
    for name, content in files.items():
        source.with_suffix(f".{name}").write_bytes(content)


if __name__ == "__main__":
    {"report": report, "write": write}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
