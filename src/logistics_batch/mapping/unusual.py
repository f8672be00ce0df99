"""Most cells of a column are spelt alike: they are read by one pattern, and only the others go the long way."""

from collections.abc import Callable
from functools import partial

import polars as pl

LongWay = Callable[[pl.Expr], pl.Expr]


def where_unusual(text: pl.Expr, usual: str, long_way: LongWay) -> pl.Expr:
    """A cell as it stands where it fits the pattern `usual`, else what `long_way` makes of it.

    The long way must give the cell itself where the pattern fits: then this changes nothing but the time it takes. It
    sees one column only, and no row but the unusual ones.
    """
    read = partial(_read, usual=usual, long_way=long_way)
    return text.map_batches(read, return_dtype=pl.String, is_elementwise=True)


def _read(cells: pl.Series, *, usual: str, long_way: LongWay) -> pl.Series:
    places = (~cells.str.contains(usual)).arg_true()
    if places.is_empty():
        return cells
    unusual = cells.gather(places).rename("cell").to_frame()
    return cells.clone().scatter(places, unusual.select(long_way(pl.col("cell"))).to_series())
