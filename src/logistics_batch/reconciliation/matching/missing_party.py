"""Notices of one invoice number whose suppliers and sites cannot be compared, since one side does not name them.

Two suppliers may use one number. Where a reply names neither, what stands on the lines tells which notice is which, if
it leaves no choice; else each of them may be any of the others, and none is called lost or extra.
"""

import polars as pl

_PARTIES = (("parties", "supplier", "supplier_name"), ("places", "site", "site_name"))
_SIDES = ("announced", "returned")


def pairs_by_contents(
    left: pl.DataFrame, right: pl.DataFrame, *, lines: tuple[pl.DataFrame, pl.DataFrame]
) -> pl.DataFrame:
    """Pairs (`announced`, `returned`) with the same invoice number, SKUs and quantities, where they leave no choice.

    left, right: notices with `header_keys`; lines: of both legs, with `notice`, `sku` and `units`. What the service
    accepted comes first.
    """
    few = (left.join(right, on="invoice", how="semi"), right.join(left, on="invoice", how="semi"))
    sides = [
        side.join(_contents(own, side[leg]), left_on=leg, right_on="notice")
        for leg, side, own in zip(_SIDES, few, lines, strict=True)
    ]
    found = _candidates(sides[0], sides[1], on=["invoice", "contents"])
    accepted = _no_choice(found.filter("accepted"))
    others = found.join(accepted, on="returned", how="anti").filter(~pl.col("accepted"))
    return pl.concat([accepted, _no_choice(others)]).select(_SIDES)


def with_possible(notices: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """The notices with `possible` and `rivals`.

    possible: how many unpaired notices of the other leg each may be, by invoice number and as far as parties can be
    compared; rivals: how many of its own leg, itself among them, may be one of these. Both null where there are none.
    left, right: the unpaired notices of both legs.
    """
    both = _candidates(left, right, on=["invoice"])
    for leg, other in (_SIDES, _SIDES[::-1]):
        rivals = both.group_by("invoice").agg(pl.col(leg).n_unique().alias("rivals"))
        possible = both.group_by(leg, "invoice").agg(pl.col(other).n_unique().alias("possible"))
        told = possible.join(rivals, on="invoice").select(leg, "possible", "rivals")
        notices = notices.join(told, on=leg, how="left", maintain_order="left", suffix="_returned")
    names = ("possible", "rivals")
    return notices.with_columns(pl.coalesce(name, f"{name}_returned") for name in names).drop(
        f"{name}_returned" for name in names
    )


def names_nobody() -> pl.Expr:
    """Supplier or site of a notice are not known at all."""
    return (pl.col("party") == "") | (pl.col("place") == "")


def _contents(lines: pl.DataFrame, notices: pl.Series) -> pl.DataFrame:
    """`notice` and `contents`, SKUs with their quantities as text; without notices whose lines cannot be told."""
    ours = lines.filter(pl.col("notice").is_in(notices.implode()))
    summed = ours.group_by("notice", "sku").agg(pl.col("units").sum(), pl.col("units").null_count().alias("unread"))
    told = summed.sort("notice", "sku").group_by("notice", maintain_order=True)
    text = pl.format("{}={}", "sku", "units").str.join("\x1f")
    whole = told.agg(text.alias("contents"), ((pl.col("unread") > 0) | (pl.col("sku") == "")).any().alias("blurred"))
    return whole.filter(~pl.col("blurred")).select("notice", "contents")


def _candidates(left: pl.DataFrame, right: pl.DataFrame, *, on: list[str]) -> pl.DataFrame:
    """Unpaired notices that may be the same: the invoice number is, and no party that both name contradicts."""
    named = [side.filter(pl.col("invoice") != "") for side in (left, right)]
    both = named[0].join(named[1], on=on, suffix="_returned", maintain_order="left")
    return both.filter(~pl.any_horizontal(_contradict(*names) for names in _PARTIES))


def _contradict(together: str, *names: str) -> pl.Expr:
    """Both sides name a supplier (or site) in the same field, and not one that the other side knows."""
    filled = {
        name: pl.col(name).fill_null("").str.strip_chars() != "" for one in names for name in (one, f"{one}_returned")
    }
    comparable = pl.any_horizontal(filled[name] & filled[f"{name}_returned"] for name in names)
    shared = pl.col(together).list.set_intersection(pl.col(f"{together}_returned")).list.len() > 0
    return comparable & ~shared


def _no_choice(found: pl.DataFrame) -> pl.DataFrame:
    return found.filter((pl.len().over("announced") == 1) & (pl.len().over("returned") == 1))
