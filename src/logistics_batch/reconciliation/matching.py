"""Which notice of one leg is which of another: in tiers, the strictest first, one to one, each match with its tier.

A notice without an invoice number is matched with nothing. A looser tier applies only where it leaves no choice.
"""

from collections.abc import Iterator

import polars as pl

from logistics_batch.reconciliation.spelled_otherwise import spelled_otherwise
from logistics_batch.reconciliation.unnamed import by_contents, names_nobody, with_possible

TIERS = {
    1: "invoice, supplier, site and batch",
    2: "invoice, supplier and site; batch not alike",
    3: "invoice and site; supplier not alike",
    4: "invoice number alone",
    5: "invoice, SKUs and quantities; supplier and site cannot be compared",
}

NOTICES_SCHEMA = {
    "notice": pl.UInt32,
    "announced": pl.UInt32,  # index in the announced leg, null where it has none
    "returned": pl.UInt32,  # index in the returned leg, null where it has none
    "tier": pl.UInt8,  # null where there is no pair
    "duplicate": pl.Boolean,  # the service has another one like it, which comes first
    "possible": pl.UInt32,  # how many of the other leg it may be, as the parties cannot be compared; null for none
    "rivals": pl.UInt32,  # how many of its own leg may be one of these, itself among them
    "perhaps_again": pl.Boolean,  # the service has another one of its invoice, and one of the two names no parties
}

Lines = tuple[pl.DataFrame, pl.DataFrame]


def match_notices(announced: pl.DataFrame, returned: pl.DataFrame, *, lines: Lines) -> pl.DataFrame:
    """Pair announced with returned notices; both need `header_keys` and `units`, the sum of their quantities.

    lines: the announced and the returned lines, with `notice`, `sku` and `units`. Every notice of either leg stands
    exactly once in the result (NOTICES_SCHEMA).
    """
    left, right = announced.rename({"notice": "announced"}), returned.rename({"notice": "returned"})
    certain = _without_choice(left, right)
    left, right = (
        side.join(certain, on=leg, how="anti", maintain_order="left")
        for leg, side in (("announced", left), ("returned", right))
    )
    exact = _by_invoice_supplier_site(left, right)
    pairs = list(_pair_off(exact, taken=None))
    for candidates in (_by_another_spelling(left, right), _by_invoice_and_site(left, right), _by_invoice(left, right)):
        pairs += list(_pair_off(candidates, taken=pl.concat(pairs) if pairs else None))
    paired = pl.concat(pairs) if pairs else exact.select("announced", "returned", "tier").clear()
    like = by_contents(*_unpaired(left, right, paired), lines=lines)
    paired = pl.concat([paired, like.with_columns(pl.lit(5, pl.UInt8).alias("tier"))])
    return _with_the_unpaired(left, right, paired=pl.concat([certain, paired]), exact=exact)


def _without_choice(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Pairs of the first tier whose invoice stands once on each side: most, and found without ranking any."""
    alike = ["invoice", "party", "place", "batch_key"]
    known = (pl.col("party") != "") & (pl.col("place") != "") & (pl.col("invoice") != "")
    sides = [
        side.select(leg, *alike).filter(pl.col("invoice").is_unique() & known)
        for leg, side in (("announced", left), ("returned", right))
    ]
    both = sides[0].join(sides[1], on=alike, maintain_order="left")
    return both.select("announced", "returned", pl.lit(1, pl.UInt8).alias("tier"))


def _open(notices: pl.DataFrame) -> pl.DataFrame:
    return notices.filter(pl.col("invoice") != "")


def _by_invoice_supplier_site(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    sides = [_open(side).explode("parties").explode("places") for side in (left, right)]
    joined = sides[0].join(sides[1], on=["invoice", "parties", "places"], suffix="_returned")
    batch_alike = pl.col("batch_key") == pl.col("batch_key_returned")
    return _ranked(joined.with_columns(pl.when(batch_alike).then(1).otherwise(2).cast(pl.UInt8).alias("tier")))


def _by_another_spelling(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    likely = spelled_otherwise(left, right, keys=("announced", "returned"))
    joined = left.join(likely, on="announced").join(right, on="returned", suffix="_returned")
    return _ranked(joined.with_columns(pl.lit(3, pl.UInt8).alias("tier")))


def _by_invoice_and_site(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    sides = []
    for side in (left, right):
        exploded = _open(side).explode("places").filter(pl.col("places").is_not_null())
        one_party = pl.col("party").n_unique().over("invoice", "places") == 1
        sides.append(exploded.filter(one_party))
    joined = sides[0].join(sides[1], on=["invoice", "places"], suffix="_returned")
    return _ranked(joined.with_columns(pl.lit(3, pl.UInt8).alias("tier")))


def _by_invoice(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    only_one = pl.struct("party", "place").n_unique().over("invoice") == 1
    sides = [_open(side).filter(only_one) for side in (left, right)]
    joined = sides[0].join(sides[1], on="invoice", suffix="_returned")
    return _ranked(joined.with_columns(pl.lit(4, pl.UInt8).alias("tier")))


def _ranked(candidates: pl.DataFrame) -> pl.DataFrame:
    """The likeliest pairs first: same batch, accepted by the service, not over, nearest in quantity, oldest."""
    over = pl.col("status").fill_null("").str.strip_chars().str.to_lowercase() == "expired"
    distance = (pl.col("units") - pl.col("units_returned")).abs()
    ordered = candidates.with_columns(distance.alias("distance")).sort(
        "tier", pl.col("accepted").not_(), over, "distance", "announced", "returned", maintain_order=True
    )
    return ordered.select("announced", "returned", "tier").unique(
        ["announced", "returned"], keep="first", maintain_order=True
    )


def _pair_off(candidates: pl.DataFrame, *, taken: pl.DataFrame | None) -> Iterator[pl.DataFrame]:
    """One to one: in each round the pairs that are first for both of their sides."""
    left = candidates if taken is None else _without(candidates, taken)
    while left.height:
        first = (pl.int_range(pl.len()).over("announced") == 0) & (pl.int_range(pl.len()).over("returned") == 0)
        chosen = left.filter(first)
        yield chosen
        left = _without(left, chosen)


def _without(candidates: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    open_left = candidates.join(taken, on="announced", how="anti", maintain_order="left")
    return open_left.join(taken, on="returned", how="anti", maintain_order="left")


def _unpaired(left: pl.DataFrame, right: pl.DataFrame, paired: pl.DataFrame) -> Lines:
    return (
        left.join(paired, on="announced", how="anti", maintain_order="left"),
        right.join(paired, on="returned", how="anti", maintain_order="left"),
    )


def _with_the_unpaired(
    left: pl.DataFrame, right: pl.DataFrame, *, paired: pl.DataFrame, exact: pl.DataFrame
) -> pl.DataFrame:
    lonely = _unpaired(left, right, paired)
    every = pl.concat([paired, lonely[0].select("announced"), lonely[1].select("returned")], how="diagonal")
    again = _repeated(right, paired=paired, exact=exact)
    strange = lonely[1].filter(~pl.col("returned").is_in(again.implode()))
    marked = with_possible(every, lonely[0], strange).with_columns(
        pl.col("returned").is_in(again.implode()).fill_null(False).alias("duplicate"),
        pl.col("returned")
        .is_in(_perhaps_again(strange, right, paired).implode())
        .fill_null(False)
        .alias("perhaps_again"),
    )
    return marked.with_row_index("notice").select(pl.col(name).cast(kind) for name, kind in NOTICES_SCHEMA.items())


def _repeated(right: pl.DataFrame, *, paired: pl.DataFrame, exact: pl.DataFrame) -> pl.Series:
    """The service's notices that repeat another one: alike in invoice, supplier and site, or left over by a pair.

    Of those that name no supplier or site nobody can say whether they are alike.
    """
    marked = _open(right).with_columns(pl.col("returned").is_in(paired["returned"].implode()).alias("paired"))
    ordered = marked.filter(~names_nobody()).sort(
        pl.col("paired").not_(), "created_at", "returned", maintain_order=True
    )
    later = ordered.filter(pl.int_range(pl.len()).over("invoice", "party", "place") > 0)["returned"]
    left_over = exact.join(paired, on="returned", how="anti")["returned"]
    return pl.concat([later, left_over]).unique()


def _perhaps_again(strange: pl.DataFrame, right: pl.DataFrame, paired: pl.DataFrame) -> pl.Series:
    """Notices of which the service may hold another one: it is paired, and one of the two names no parties."""
    others = right.join(paired, on="returned", how="semi").select("invoice", names_nobody().alias("nobody"))
    both = _open(strange).select("returned", "invoice", names_nobody().alias("silent")).join(others, on="invoice")
    return both.filter(pl.col("silent") | pl.col("nobody"))["returned"].unique()


def match_receipts(groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """Which notice each group of receipt lines belongs to.

    groups: `group`, `invoice`, `party`, `place` (normalised, "" where the receipt does not say).
    targets: `notice`, `invoice`, `parties`, `places`, `batch_key`, in order of preference.
    Returns `group`, `notice`, `tier`; a group that fits no notice is absent.
    """
    named = _open(targets).with_columns(
        pl.col("parties").list.sort().list.join("|").alias("all_parties"),
        pl.col("places").list.sort().list.join("|").alias("all_places"),
    )
    wanted = _open(groups)
    tiers = (_receipts_exact, _receipts_by_another_spelling, _receipts_by_site, _receipts_by_invoice)
    found = [tier(wanted, named).select("group", "notice", "tier") for tier in tiers]
    return pl.concat(found).unique("group", keep="first", maintain_order=True)


def _receipts_exact(groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    exploded = targets.explode("parties").explode("places")
    joined = groups.join(
        exploded,
        left_on=["invoice", "party", "place"],
        right_on=["invoice", "parties", "places"],
        maintain_order="left_right",
    )
    # Receipts carry no batch, so a notice with one is matched without it.
    return joined.with_columns(pl.when(pl.col("batch_key") == "").then(1).otherwise(2).cast(pl.UInt8).alias("tier"))


def _receipts_by_another_spelling(groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    named = groups.filter(pl.col("party") != "").with_columns(
        pl.concat_list("party").alias("parties"),
        pl.concat_list("place").list.eval(pl.element().filter(pl.element() != "")).alias("places"),
    )
    likely = spelled_otherwise(named, targets, keys=("group", "notice"))
    return likely.with_columns(pl.lit(3, pl.UInt8).alias("tier"))


def _receipts_by_site(groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    exploded = targets.explode("places").filter(pl.col("places").is_not_null())
    one_target = exploded.filter(pl.col("all_parties").n_unique().over("invoice", "places") == 1)
    one_group = groups.filter(pl.col("party").n_unique().over("invoice", "place") == 1)
    joined = one_group.join(
        one_target, left_on=["invoice", "place"], right_on=["invoice", "places"], maintain_order="left_right"
    )
    return joined.with_columns(pl.lit(3, pl.UInt8).alias("tier"))


def _receipts_by_invoice(groups: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    one_target = targets.filter(pl.struct("all_parties", "all_places").n_unique().over("invoice") == 1)
    one_group = groups.filter(pl.struct("party", "place").n_unique().over("invoice") == 1)
    joined = one_group.join(one_target, on="invoice", maintain_order="left_right")
    return joined.with_columns(pl.lit(4, pl.UInt8).alias("tier"))
