"""Broken rules to issues: which row, which cell, what stands there, what to write instead."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.reading import Words
from logistics_batch.mapping.rows.header import Header
from logistics_batch.model.issue import Issue, Place, cell_address
from logistics_batch.model.sheet import Sheet

SHOWN_CHARACTERS: Final = 200


@dataclass(slots=True)
class Findings:
    """Broken rules as they are found; of several on one cell the first counts.

    column is the sheet's column number; 0 stands for the row as a whole.
    """

    rows: list[pl.DataFrame] = field(default_factory=list)
    words: list[tuple[str, str, Words]] = field(default_factory=list)

    def add(self, rows: pl.Series, column: int | None, rule: str, words: Words) -> None:
        """These rows break a rule in a column."""
        if rows.len():
            self.rows.append(
                pl.DataFrame(
                    {"row": rows.cast(pl.UInt32)},
                ).with_columns(
                    pl.lit(column or 0, dtype=pl.UInt16).alias("column"),
                    pl.lit(len(self.words), dtype=pl.UInt32).alias("words"),
                )
            )
            field, _, code = rule.rpartition("|")
            self.words.append((field, code, words))

    def frame(self) -> pl.DataFrame:
        """row, column, words (an index), in row order."""
        schema = {"row": pl.UInt32, "column": pl.UInt16, "words": pl.UInt32}
        together = pl.concat([pl.DataFrame(schema=schema), *self.rows])
        return together.unique(["row", "column"], keep="first", maintain_order=True).sort(
            "row", "column", maintain_order=True
        )

    def bad_rows(self) -> pl.Series:
        """The numbers of all rows with a finding."""
        return pl.concat([pl.Series("row", [], dtype=pl.UInt32), *(each["row"] for each in self.rows)]).unique()

    def issues(self, sheet: Sheet, header: Header, *, fallback: int) -> tuple[Issue, ...]:
        """Every finding as an issue; `fallback` is the column to point to where a rule is about the whole row."""
        found = self.frame().with_columns(
            pl.when(pl.col("column") == 0).then(pl.lit(fallback, dtype=pl.UInt16)).otherwise("column").alias("column")
        )
        places, cells = sheet.places(found), _cells(sheet, found)
        of_second = sheet.origins.columns if sheet.origins else ()
        issues = (
            self._issue(words, place, texts=of_second if place[0] else header.texts, value=value or "", made=made)
            for words, made, place, value in zip(
                found["words"], found["column"] != places["column"], places.iter_rows(), cells, strict=True
            )
            if place[1] is not None  # what a row without lines lacks is told of already
        )
        if sheet.origins is None:
            return tuple(issues)
        return tuple(dict.fromkeys(sorted(issues, key=lambda issue: (issue.sheet, issue.row))))

    def _issue(self, words: int, at: tuple[str, int, int], *, texts: Sequence[str], value: str, made: bool) -> Issue:
        """One finding at its place; `name` in its values is the column's: of a made cell that where it stands."""
        sheet, row, column = at
        field, code, message = self.words[words]
        first, second = message(value)
        if isinstance(second, str):  # words that have not come into the catalogue yet
            first, second = code, {"reason": first, "remedy": second}
        name = texts[column - 1].strip() if column <= len(texts) else ""
        if made and "name" in second:
            second = {**second, "name": name}
        place = Place(row, name, cell_address(row, column), value[:SHOWN_CHARACTERS], sheet, field)
        return Issue.of(first, place, **second)


def _cells(sheet: Sheet, found: pl.DataFrame) -> list[str | None]:
    """The raw text of each cell that a finding points to."""
    texts = pl.repeat(None, found.height, dtype=pl.String, eager=True)
    places = sheet.frame["row"].search_sorted(found["row"])
    for number in found["column"].unique():
        own = (found["column"] == number).arg_true()
        texts = texts.scatter(own, sheet.frame[str(number)].gather(places.gather(own)))
    return texts.to_list()
