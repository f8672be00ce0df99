"""Columns that analysts added to the workbook: read by heading, kept by exception, written again the next night."""

import re
from collections.abc import Iterator, Sequence

import polars as pl

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import OWN_SCHEMA
from logistics_batch.paper.reconciliation_columns import EXCEPTIONS, GONE, STATUS_TITLE, Column, Kind

_ID = "exception_id"
_WIDTH = 24.0

_NOT_SPOKEN = re.compile(r"[\s_.:-]+")


def plain_title(title: str) -> str:
    """A heading for comparing: "Exception ID" is `exception_id`."""
    return _NOT_SPOKEN.sub("", title).casefold()


_OURS = frozenset(plain_title(column.title) for column in (*EXCEPTIONS, *GONE))


def own_values(below: pl.DataFrame, headings: Sequence[str], *, identity: str) -> pl.DataFrame:
    """What stands under headings that are not ours: `exception_id`, and a column of texts a heading.

    below: the rows below the headings, with a column "1", "2", … a heading. identity: which one has the exception_id.
    """
    places: dict[str, str] = {}
    for place, heading in enumerate(headings, 1):
        title = " ".join(heading.split())
        if title and plain_title(title) not in (_OURS | {plain_title(known) for known in places}):
            places[title] = str(place)
    texts = (pl.col(place).fill_null("").alias(title) for title, place in places.items())
    return below.select(pl.col(identity).fill_null("").str.strip_chars().alias(_ID), *texts)


def nameless_columns(below: pl.DataFrame, headings: Sequence[str]) -> int:
    """How many columns have something in them and no heading."""
    bare = [str(place) for place, heading in enumerate(headings, 1) if not heading.strip()]
    filled = below.select((pl.col(place).fill_null("").str.strip_chars() != "").any() for place in bare)
    return sum(filled.row(0)) if bare else 0


def taken_headings(below: pl.DataFrame, headings: Sequence[str], *, ours: Sequence[Column]) -> list[str]:
    """Headings of columns with something in them that stand twice, or that are the report's own on another sheet."""
    seen: set[str] = set()
    found: list[str] = []
    here = {plain_title(column.title) for column in ours}
    for place, heading in enumerate(headings, 1):
        title = plain_title(heading)
        if title in seen or title in _OURS - here:
            written = below.select((pl.col(str(place)).fill_null("").str.strip_chars() != "").any()).item()
            found += [" ".join(heading.split())] if title and written else []
        seen.add(title)
    return found


def own_together(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Each exception once, from all sheets; in a column the first word that is not blank counts."""
    frames = list(_under_one_name(parts))
    rows = pl.concat([pl.DataFrame(schema=OWN_SCHEMA), *frames], how="diagonal").filter(pl.col(_ID) != "")
    filled = (
        pl.col(name).filter(pl.col(name).str.strip_chars() != "").first().fill_null("")
        for name in rows.columns
        if name != _ID
    )
    return rows.group_by(_ID, maintain_order=True).agg(*filled)


def _under_one_name(parts: Sequence[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same heading in other letters or blanks is the same column."""
    first: dict[str, str] = {}
    for part in parts:
        yield part.rename({name: first.setdefault(plain_title(name), name) for name in part.columns})


def with_own(frame: pl.DataFrame, columns: Sequence[Column], own: pl.DataFrame) -> tuple[pl.DataFrame, list[Column]]:
    """A list of exceptions with the analysts' own columns, which stand behind their status."""
    names = {title: f"own {title}" for title in own.columns if title != _ID}
    joined = frame.join(own.rename(names), on=_ID, how="left", maintain_order="left")
    added = [Column(title, name, Kind.ENTRY, _WIDTH) for title, name in names.items()]
    behind = [column.title for column in columns].index(STATUS_TITLE) + 1
    return joined, [*columns[:behind], *added, *columns[behind:]]


def taken_note(sheet: str, headings: Sequence[str]) -> str:
    """Which columns cannot be carried on because of their names, in words."""
    named = ", ".join(f'"{heading}"' for heading in headings)
    return (
        f'Sheet "{sheet}" of the earlier workbook has a column of yours under a heading that is taken ({named}): what '
        "is written there stayed in it. Give it a heading of its own."
    )


def nameless_note(sheet: str, count: int) -> str:
    """Which columns cannot be carried on, in words."""
    return (
        f'Sheet "{sheet}" of the earlier workbook has {counted(count, "column")} without a heading: what is written '
        "there stayed in it."
    )
