"""What is timed: each function does one whole piece of work and says what came out, so that results can be compared."""

import hashlib
import json
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from inputs import PADDED

MAPPING = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Ship To}
  customer_mobile: {from: Phone, read: mobile}
  customer_email: {from: Email}
  delivery_address: {join: [Addr 1, Addr 2, City, State], with: ", "}
  delivery_postal_code: {from: PIN, read: pincode, required: true}
  priority: {from: Prio}
  expected_delivery_time: {from: Deliver by, read: {date: "%d/%m/%Y", at: "18:00"}}
  is_cod: {from: Payment, read: {lookup: {COD: "true", Prepaid: "false"}}}
  cash_on_delivery: {sum: Price, times: Qty, when: {Payment: COD}}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer, required: true}
  item_price_per_each: {from: Price, read: money}
  item_category: {from: Category}
  brand: {from: Brand}
  weight: {from: Weight (g), read: {unit: g -> kg}}
keep:
  bin: {from: Bin}
  route: {from: Route}
ignore: [Order Date, Description, Remarks]
"""


def map_ours(source: Path, target: Path) -> dict[str, Any]:
    """Read, map, judge by the contract, and write the documents."""
    from logistics_batch.intake.readers import read_file
    from logistics_batch.mapping import RunValues, load_mapping
    from logistics_batch.mapping.whole_file import apply_mapping

    mapping = load_mapping(MAPPING, path="benchmark", read_lookup=lambda name: name)
    sheets = read_file(source, name=source.name, options=mapping.read_options)
    values = RunValues(file_name=source.name, business_date=date(2026, 11, 3), timezone="Asia/Kolkata")
    mapped = apply_mapping(mapping, sheets, run_values=values)
    with target.open("w", encoding="utf-8") as out:
        out.writelines(f"{document.body}\n" for document in mapped.documents)
    return _mapped(target, len(mapped.documents), sorted({issue.row for issue in mapped.issues}))


def map_hand(source: Path, target: Path) -> dict[str, Any]:
    """The same by csv and pydantic."""
    from map_by_hand import map_by_hand

    return _mapped(target, *map_by_hand(source, target))


def map_polars(source: Path, target: Path) -> dict[str, Any]:
    """The same by bare polars expressions."""
    from map_by_polars import map_by_polars

    return _mapped(target, *map_by_polars(source, target))


def _mapped(target: Path, documents: int, bad_rows: list[int]) -> dict[str, Any]:
    """What a mapping found; the documents by their bytes."""
    with target.open("rb") as written:
        digest = hashlib.file_digest(written, "sha256").hexdigest()
    bad = hashlib.sha256(json.dumps(bad_rows).encode()).hexdigest()
    return {"documents": documents, "bad_rows": len(bad_rows), "digests": [digest, bad]}


def map_floor(source: Path, target: Path) -> dict[str, Any]:
    """No mapping at all: polars reads every cell as text and writes it out again. Nothing can be faster."""
    import polars as pl

    pl.read_csv(source, infer_schema=False).write_ndjson(target)
    return {}


def read_ours(source: Path, target: Path) -> dict[str, Any]:
    """Every cell as text, with true row numbers, hidden rows, error cells and leading zeros, behind the guards."""
    from logistics_batch.intake.readers import read_file
    from logistics_batch.model.sheet import ReadOptions

    del target
    sheet = read_file(source, name=source.name, options=ReadOptions())[0]
    last = sheet.frame.to_series(sheet.width)
    thousands = (sheet.frame.height - 1) // 1_000
    padded = (last.str.len_chars() == len(PADDED)).sum()
    if (len(sheet.hidden_rows), (last == "#N/A").sum(), padded) != (thousands, thousands, thousands * 999):
        raise SystemExit("Hidden rows, error cells or number formats are not honoured.")
    return {"rows": sheet.frame.height}


def read_fastexcel(source: Path, target: Path) -> dict[str, Any]:
    """The fastest way to Arrow: no true rows, no hidden rows, no error cells, no number formats."""
    del target
    sheet = import_module("fastexcel").read_excel(source).load_sheet(0, header_row=None)
    return {"rows": sheet.to_arrow().num_rows}


def read_calamine(source: Path, target: Path) -> dict[str, Any]:
    """The bare reader under ours: values as Python objects."""
    from python_calamine import CalamineWorkbook

    del target
    rows = CalamineWorkbook.from_path(str(source)).get_sheet_by_index(0).to_python()
    return {"rows": len(rows)}


ANSWERED_WRONG = 100  # of so many rows one is wrong


def answer_ours(source: Path, target: Path) -> dict[str, Any]:
    """The workbook is read, and comes back with an answer beside every row, wrong cells coloured and commented."""
    import polars as pl

    from logistics_batch.flows.files.foreign_files import answer_files
    from logistics_batch.intake.readers import read_file
    from logistics_batch.model.issue import Issue, Place
    from logistics_batch.model.report import FATES, Fate, FileReport
    from logistics_batch.model.sheet import ReadOptions

    sheet = read_file(source, name=source.name, options=ReadOptions())[0]
    is_sent = pl.col("row") % ANSWERED_WRONG != 0
    rows = sheet.frame.slice(1).select(
        pl.lit(sheet.name).alias("sheet"),
        "row",
        pl.format("A-{}", "row").alias("document"),
        pl.when(is_sent).then(pl.lit(Fate.ACCEPTED.value)).otherwise(pl.lit(Fate.INVALID.value)).alias("fate"),
        pl.when(is_sent).then(pl.format("SH-{}", "row")).otherwise(pl.lit("")).alias("awb_number"),
    )
    texts = [pl.lit("").alias(name) for name in FATES if name not in rows.columns]
    issues = tuple(
        Issue.of("mobile", Place(row, "Column 3", f"C{row}", "98", field="mobile"), digits=2)
        for row in rows.filter(~is_sent)["row"]
    )
    report = FileReport(
        file=source.name,
        sha256="",
        size=source.stat().st_size,
        run="20261103-211500-ab12",
        mapping="orders",
        mapping_digest="",
        sheet=sheet.name,
        header_row=1,
        rows_read=rows.height,
        rows=rows.with_columns(texts).select(*FATES),
        issues=issues,
    )
    found, _ = answer_files(report, source, name=source.name, kind="xlsx", options=ReadOptions(), formats=("xlsx",))
    target.write_bytes(found["result.xlsx"])
    return {"rows_answered": rows.height, "cells_marked": len(issues)}


def answer_openpyxl(source: Path, target: Path) -> dict[str, Any]:
    """The usual way: load everything, add cells, colours and comments, save. Values of formulas are lost."""
    from openpyxl import load_workbook
    from openpyxl.comments import Comment
    from openpyxl.styles import PatternFill

    book = load_workbook(source)
    sheet = book.worksheets[0]
    first = sheet.max_column + 1
    red = PatternFill("solid", fgColor="FFFFC9C4")
    marked = 0
    for row in range(2, sheet.max_row + 1):
        right = row % ANSWERED_WRONG
        texts = (
            ["accepted", "", "", f"SH-{row}"] if right else ["invalid", "No mobile number.", "Write ten digits.", ""]
        )
        for column, text in enumerate([*texts, "20261103-211500-ab12"], first):
            sheet.cell(row, column, text or None)
        if not right:
            cell = sheet.cell(row, 3)
            cell.fill, cell.comment = red, Comment("No mobile number.", "us")
            marked += 1
    book.save(target)
    return {"rows_answered": sheet.max_row - 1, "cells_marked": marked}


def read_openpyxl(source: Path, target: Path) -> dict[str, Any]:
    """The usual library, in its fast mode."""
    from openpyxl import load_workbook

    del target
    book = load_workbook(source, read_only=True, data_only=True)
    return {"rows": sum(1 for _ in book.worksheets[0].iter_rows(values_only=True))}


def read_pandas(source: Path, target: Path) -> dict[str, Any]:
    """What most people write; it reads by openpyxl, not in its fast mode."""
    del target
    return {"rows": len(import_module("pandas").read_excel(source, header=None, dtype=str))}


def lines_auditor(source: Path, target: Path) -> dict[str, Any]:
    """Both tables of ASN lines through the auditor."""
    return _lines("auditor", source, target)


def lines_read(source: Path, target: Path) -> dict[str, Any]:
    """Both tables read, nothing else."""
    return _lines("read", source, target)


def lines_polars(source: Path, target: Path) -> dict[str, Any]:
    """Both tables by a bare join."""
    return _lines("polars", source, target)


def lines_datacompy(source: Path, target: Path) -> dict[str, Any]:
    """Both tables by datacompy."""
    return _lines("datacompy", source, target)


def lines_pandas(source: Path, target: Path) -> dict[str, Any]:
    """Both tables by a merge of pandas."""
    return _lines("pandas", source, target)


def _lines(way: str, source: Path, target: Path) -> dict[str, Any]:
    from reconcile_ways import WAYS

    del target
    return WAYS[way](source)


WORK = {
    each.__name__: each
    for each in (
        *(map_ours, map_hand, map_polars, map_floor),
        *(answer_ours, answer_openpyxl),
        *(lines_auditor, lines_read, lines_polars, lines_datacompy, lines_pandas),
        *(read_ours, read_fastexcel, read_calamine, read_openpyxl, read_pandas),
    )
}


def child(name: str, source: str, target: str) -> None:
    """Do one piece of work in this process and print its time, processor time, memory and result as JSON."""
    import resource
    import sys
    import time

    begin = time.perf_counter()
    found = WORK[name](Path(source), Path(target))
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    processor, peak = used.ru_utime + used.ru_stime, used.ru_maxrss
    megabytes = peak / 1024 if sys.platform == "linux" else peak / 1024**2
    print(json.dumps({"seconds": seconds, "processor": processor, "peak_mb": megabytes, "found": found}))


if __name__ == "__main__":
    import sys

    child(*sys.argv[1:4])
