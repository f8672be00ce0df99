"""One supplier in two spellings, on an invoice number that several suppliers use.

"Acme Ltd" and "ACME LIMITED" are one where every other supplier of the number is another one for certain; else it is
not told, and nothing is matched by it.
"""

import polars as pl

from logistics_batch.reconciliation.name_likeness import are_others

_MOST = 20  # notices of one invoice number on a side; more are no shared number but a wrong column


def spelled_otherwise(left: pl.DataFrame, right: pl.DataFrame, *, keys: tuple[str, str]) -> pl.DataFrame:
    """Pairs (`keys`: the id of each side) with one invoice number whose suppliers are one, spelled otherwise.

    left, right: an id, `invoice`, and as lists `parties` and `places` (normalised). Sites must not differ.
    """
    sides = [
        side.filter((pl.col("invoice") != "") & (pl.len().over("invoice") <= _MOST)).select(
            key, "invoice", "parties", "places"
        )
        for key, side in zip(keys, (left, right), strict=True)
    ]
    both = sides[0].join(sides[1], on="invoice", suffix="_right", maintain_order="left")
    several = pl.max_horizontal(pl.col(key).n_unique().over("invoice") for key in keys) > 1
    both = _judged(both.filter(several))
    alone = pl.all_horizontal((~pl.col("others").fill_null(False)).sum().over(key) == 1 for key in keys)
    shared = pl.col("places").list.set_intersection("places_right").list.len() > 0
    unsaid = pl.any_horizontal(pl.col(name).list.len() == 0 for name in ("places", "places_right"))
    return both.filter(alone & ~pl.col("others").fill_null(True) & (shared | unsaid)).select(keys)


def _judged(both: pl.DataFrame) -> pl.DataFrame:
    """The pairs with `others`; worked out once for each pair of names, of which there are few."""
    named = both.with_columns(pl.col(f"parties{end}").list.join("|").alias(f"named{end}") for end in ("", "_right"))
    few = named.unique(["named", "named_right"])
    verdicts = [are_others(ours, theirs) for ours, theirs in few.select("parties", "parties_right").iter_rows()]
    told = few.select("named", "named_right").with_columns(pl.Series("others", verdicts, pl.Boolean))
    return named.join(told, on=["named", "named_right"], how="left", maintain_order="left")
