"""The patterns of mapping files: `*` for anything, `?` for one character; case and outer blanks do not matter."""

from collections.abc import Sequence

import polars as pl

from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.header import Header


def fits(cell: pl.Expr, patterns: Sequence[str]) -> pl.Expr:
    """Whether a trimmed cell fits one of the patterns; a blank cell fits only the pattern "".

    The pattern runs in polars' own engine, which cannot backtrack.
    """
    alternatives = "|".join(_regex(pattern.strip()) for pattern in patterns)
    blank_fits = any(not pattern.strip() for pattern in patterns)
    return cell.str.contains(f"(?is)^(?:{alternatives})$").fill_null(value=blank_fits)


def _regex(pattern: str) -> str:
    return pl.escape_regex(pattern).replace(r"\*", ".*").replace(r"\?", ".")


def name_fits(name: str, pattern: str) -> bool:
    """Whether the name of a sheet fits a pattern.

    >>> name_fits("Order Lines", "*lines")
    True
    """
    return bool(pl.select(fits(pl.lit(name.strip()), [pattern])).item())


def where(mapping: Mapping, header: Header, conditions: dict[str, list[str]]) -> list[tuple[str, pl.Expr]]:
    """Each condition as the header's text and whether the row fits; columns that the sheet lacks are left out."""
    found: list[tuple[str, pl.Expr]] = []
    for name, patterns in conditions.items():
        column = header.column(mapping.names_of(name))
        if column is not None:
            found.append((header.texts[column - 1].strip(), fits(pl.col(f"c{column}"), patterns)))
    return found
