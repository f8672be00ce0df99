"""Tables that are longer than a sheet of the workbook: whole in a CSV file beside it, and a link that leads there."""

from collections.abc import Iterable

import polars as pl

from logistics_batch.paper.answers.result_csv import csv_bytes
from logistics_batch.paper.reconciliation.data import plain
from logistics_batch.paper.reconciliation.tables import LARGEST_SHEET, WITH_ALL_EXCEPTIONS, TableLayout, whole_table


def whole_tables(tables: Iterable[tuple[TableLayout, pl.DataFrame]]) -> dict[str, bytes]:
    """By name the CSV files of the tables that a sheet does not hold, with its headings; of most reports none.

    Exceptions stand in reconciliation.csv anyway.
    """
    return {
        whole_table(layout.title): csv_bytes(_texts(layout, frame))
        for layout, frame in tables
        if frame.height > LARGEST_SHEET and layout.title not in WITH_ALL_EXCEPTIONS
    }


def _texts(layout: TableLayout, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        plain(column.field, frame.schema[column.field]).fill_null("").alias(column.title) for column in layout.columns
    )
