"""Broken rules to issues: which row, which cell, what stands there, what to write instead."""

from dataclasses import dataclass, replace
from dataclasses import field as field_of
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.reading import Said, about
from logistics_batch.mapping.rows.header import Header
from logistics_batch.model.issue import Issue, Place, cell_address
from logistics_batch.model.sheet import Sheet

SHOWN_CHARACTERS: Final = 200


@dataclass(slots=True)
class Findings:
    """Broken rules as they are found; of several on one cell the first counts.

    rows: for each of `rules` the rows that break it, with its column, 0 for the row as a whole. rules: each with the
    field of the mapping that it is about. notes: what was seen and breaks none.
    """

    rows: list[pl.DataFrame] = field_of(default_factory=list)
    rules: list[tuple[str, Said]] = field_of(default_factory=list)
    notes: list[Issue] = field_of(default_factory=list)

    def add(self, rows: pl.Series, column: int | None, field: str, said: Said) -> None:
        """These rows break a rule in a column."""
        if rows.len():
            place, rule = pl.lit(column or 0, dtype=pl.UInt16), pl.lit(len(self.rules), dtype=pl.UInt32)
            self.rows.append(rows.cast(pl.UInt32).alias("row").to_frame().with_columns(column=place, rule=rule))
            self.rules.append((field, said))

    def frame(self) -> pl.DataFrame:
        """row, column, rule (an index), in row order."""
        schema = {"row": pl.UInt32, "column": pl.UInt16, "rule": pl.UInt32}
        together = pl.concat([pl.DataFrame(schema=schema), *self.rows])
        once = together.unique(["row", "column"], keep="first", maintain_order=True)
        return once.sort("row", "column", maintain_order=True)

    def issues(self, sheet: Sheet, header: Header, *, fallback: int) -> tuple[Issue, ...]:
        """Every finding as an issue; `fallback` is the column to point to where a rule is about the whole row."""
        found = self.frame().with_columns(pl.col("column").replace(0, fallback))
        places, of_second = sheet.places(found), sheet.origins.columns if sheet.origins else ()
        made = found["column"] != places["column"]
        issues: list[Issue] = []
        for rule, is_made, place, cell in zip(
            found["rule"], made, places.iter_rows(), _cells(sheet, found), strict=True
        ):
            name, row, column = place
            if row is None:  # what a row without lines lacks is told of already
                continue
            field, said = self.rules[rule]
            value, texts = cell or "", of_second if name else header.texts
            text = texts[column - 1].strip() if column <= len(texts) else ""
            told = about(said, value)
            # Where a cell was made, `name` is that of the column in which it stands.
            if is_made and "name" in told.given:
                told = Issue.of(told.code, **{**told.given, "name": text})
            address = cell_address(*sheet.above.get(column, (row, column)))
            at = Place(row, text, address, value[:SHOWN_CHARACTERS], name, field)
            issues.append(replace(told, place=at))
        if sheet.origins is None:
            return tuple(issues)
        return tuple(dict.fromkeys(sorted(issues, key=lambda issue: (issue.sheet, issue.row))))


def _cells(sheet: Sheet, found: pl.DataFrame) -> list[str | None]:
    """The raw text of each cell that a finding points to."""
    texts = pl.repeat(None, found.height, dtype=pl.String, eager=True)
    places = sheet.frame["row"].search_sorted(found["row"])
    for number in found["column"].unique():
        own = (found["column"] == number).arg_true()
        texts = texts.scatter(own, sheet.frame[str(number)].gather(places.gather(own)))
    return texts.to_list()
