"""Which notice of one leg is which of another: in tiers, the strictest first, one to one, each match with its tier.

A notice without an invoice number is matched with nothing. A looser tier applies only where it leaves no choice. Two
suppliers may use one number: where a reply names neither (a missing party), what stands on the lines tells which notice
is which, if it leaves no choice; else each of them may be any of the others, and none is called lost or extra.
"""

from collections.abc import Iterator

import polars as pl

from logistics_batch.reconciliation.matching.names import other_parties

TIERS = {
    1: "invoice, supplier, site and batch",
    2: "invoice, supplier and site; batch not alike",
    3: "invoice and site; supplier not alike",
    4: "invoice number alone",
    5: "invoice, SKUs and quantities; supplier and site cannot be compared",
}
_NOTICES_SCHEMA = {
    "notice": pl.UInt32,
    "announced": pl.UInt32,  # index in the announced leg, null where it has none
    "returned": pl.UInt32,  # index in the returned leg, null where it has none
    "tier": pl.UInt8,  # null where there is no pair
    "duplicate": pl.Boolean,  # the service has another one like it, which comes first
    "possible": pl.UInt32,  # how many of the other leg it may be, as the parties cannot be compared; null for none
    "rivals": pl.UInt32,  # how many of its own leg may be one of these, itself among them
    "perhaps_again": pl.Boolean,  # the service has another one of its invoice, and one of the two names no parties
}
_MOST = 20  # notices of one invoice number on a side; more are no shared number but a wrong column
_SIDES = ("announced", "returned")

Lines = tuple[pl.DataFrame, pl.DataFrame]
_PARTIES = (("parties", "supplier", "supplier_name"), ("places", "site", "site_name"))


def match_notices(announced: pl.DataFrame, returned: pl.DataFrame, *, lines: Lines) -> pl.DataFrame:
    """Pair announced with returned notices; both need `header_keys` and `units`, the sum of their quantities.

    lines: the announced and the returned lines, with `notice`, `sku` and `units`. Every notice of either leg stands
    exactly once in the result (_NOTICES_SCHEMA).
    """
    left, right = announced.rename({"notice": "announced"}), returned.rename({"notice": "returned"})
    certain = _without_choice(left, right)
    left, right = _unpaired(left, right, certain)
    exact = _by_invoice_supplier_site(left, right)
    paired = exact.clear()
    for candidates in (
        exact,
        _of_tier(3, left, right, spelled_otherwise(left, right, keys=_SIDES), on=None),
        _of_tier(3, *(_one_party_a_site(side) for side in (left, right)), on=["invoice", "places"]),
        _of_tier(4, *(_one_party_an_invoice(side) for side in (left, right)), on=["invoice"]),
    ):
        paired = pl.concat([paired, *_pair_off(_without(candidates, paired))])
    by_contents = _pairs_by_contents(*_unpaired(left, right, paired), lines=lines)
    paired = pl.concat([paired, by_contents.with_columns(pl.lit(5, pl.UInt8).alias("tier"))])
    return _with_the_unpaired(left, right, paired=pl.concat([certain, paired]), exact=exact)


def _without_choice(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Pairs of the first tier whose invoice stands once on each side: most, and found without ranking any."""
    alike = ["invoice", "party", "place", "batch_key"]
    known = pl.all_horizontal(pl.col(name) != "" for name in alike[:3]) & pl.col("invoice").is_unique()
    ours, theirs = left.filter(known).select("announced", *alike), right.filter(known).select("returned", *alike)
    both = ours.join(theirs, on=alike, maintain_order="left")
    return both.select(*_SIDES, pl.lit(1, pl.UInt8).alias("tier"))


def _open(notices: pl.DataFrame) -> pl.DataFrame:
    return notices.filter(pl.col("invoice") != "")


def _by_invoice_supplier_site(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    sides = [_open(side).explode("parties").explode("places") for side in (left, right)]
    joined = sides[0].join(sides[1], on=["invoice", "parties", "places"], suffix="_returned")
    batch_alike = pl.col("batch_key") == pl.col("batch_key_returned")
    return _ranked(joined.with_columns(pl.when(batch_alike).then(1).otherwise(2).cast(pl.UInt8).alias("tier")))


def _of_tier(
    tier: int, left: pl.DataFrame, right: pl.DataFrame, pairs: pl.DataFrame | None = None, *, on: list[str] | None
) -> pl.DataFrame:
    """Candidates that are alike in these columns, or those of given pairs."""
    if pairs is not None:
        joined = left.join(pairs, on="announced").join(right, on="returned", suffix="_returned")
    else:
        joined = left.join(right, on=on, suffix="_returned")
    return _ranked(joined.with_columns(pl.lit(tier, pl.UInt8).alias("tier")))


def _one_party_a_site(notices: pl.DataFrame) -> pl.DataFrame:
    exploded = _open(notices).explode("places").filter(pl.col("places").is_not_null())
    return exploded.filter(pl.col("party").n_unique().over("invoice", "places") == 1)


def _one_party_an_invoice(notices: pl.DataFrame) -> pl.DataFrame:
    return _open(notices).filter(pl.struct("party", "place").n_unique().over("invoice") == 1)


def spelled_otherwise(left: pl.DataFrame, right: pl.DataFrame, *, keys: tuple[str, str]) -> pl.DataFrame:
    """Pairs (`keys`: the id of each side) of a shared invoice number whose suppliers are one, spelled otherwise.

    "Acme Ltd" and "ACME LIMITED" are one where every other supplier of the number is another one for certain.
    left, right: an id, `invoice`, and as lists `parties` and `places` (normalised). Sites must not differ.
    """
    sides = [
        _open(side).filter(pl.len().over("invoice") <= _MOST).select(key, "invoice", "parties", "places")
        for key, side in zip(keys, (left, right), strict=True)
    ]
    both = sides[0].join(sides[1], on="invoice", suffix="_right", maintain_order="left")
    both = both.filter(pl.max_horizontal(pl.col(key).n_unique().over("invoice") for key in keys) > 1)
    both = both.with_columns(other_parties(both, "parties", "parties_right"))
    alone = pl.all_horizontal((~pl.col("others").fill_null(False)).sum().over(key) == 1 for key in keys)
    shared = pl.col("places").list.set_intersection("places_right").list.len() > 0
    unsaid = pl.any_horizontal(pl.col(name).list.len() == 0 for name in ("places", "places_right"))
    return both.filter(alone & ~pl.col("others").fill_null(True) & (shared | unsaid)).select(keys)


def _ranked(candidates: pl.DataFrame) -> pl.DataFrame:
    """The likeliest pairs first: same batch, accepted by the service, not over, nearest in quantity, oldest."""
    over = pl.col("status").fill_null("").str.strip_chars().str.to_lowercase() == "expired"
    distance = (pl.col("units") - pl.col("units_returned")).abs()
    ordered = candidates.sort("tier", ~pl.col("accepted"), over, distance, *_SIDES, maintain_order=True)
    return ordered.select(*_SIDES, "tier").unique(_SIDES, keep="first", maintain_order=True)


def _pair_off(candidates: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """One to one: in each round the pairs that are first for both of their sides."""
    while candidates.height:
        chosen = candidates.filter(pl.all_horizontal(pl.int_range(pl.len()).over(side) == 0 for side in _SIDES))
        yield chosen
        candidates = _without(candidates, chosen)


def _without(candidates: pl.DataFrame, taken: pl.DataFrame) -> pl.DataFrame:
    for side in _SIDES:
        candidates = candidates.join(taken, on=side, how="anti", maintain_order="left")
    return candidates


def _unpaired(left: pl.DataFrame, right: pl.DataFrame, paired: pl.DataFrame) -> Lines:
    left, right = (
        notices.join(paired, on=side, how="anti", maintain_order="left")
        for side, notices in zip(_SIDES, (left, right), strict=True)
    )
    return left, right


def _with_the_unpaired(
    left: pl.DataFrame, right: pl.DataFrame, *, paired: pl.DataFrame, exact: pl.DataFrame
) -> pl.DataFrame:
    lonely = _unpaired(left, right, paired)
    every = pl.concat([paired, lonely[0].select("announced"), lonely[1].select("returned")], how="diagonal")
    again = _repeated(right, paired=paired, exact=exact)
    strange = lonely[1].filter(~pl.col("returned").is_in(again.implode()))
    marks = {"duplicate": again, "perhaps_again": _perhaps_again(strange, right, paired)}
    marked = _with_possible(every, lonely[0], strange).with_columns(
        pl.col("returned").is_in(notices.implode()).fill_null(False).alias(name) for name, notices in marks.items()
    )
    return marked.with_row_index("notice").select(pl.col(name).cast(kind) for name, kind in _NOTICES_SCHEMA.items())


def _repeated(right: pl.DataFrame, *, paired: pl.DataFrame, exact: pl.DataFrame) -> pl.Series:
    """The service's notices that repeat another one: alike in invoice, supplier and site, or left over by a pair.

    Of those that name no supplier or site nobody can say whether they are alike.
    """
    unpaired = ~pl.col("returned").is_in(paired["returned"].implode())
    ordered = _open(right).filter(~_names_nobody()).sort(unpaired, "created_at", "returned", maintain_order=True)
    later = ordered.filter(pl.int_range(pl.len()).over("invoice", "party", "place") > 0)["returned"]
    left_over = exact.join(paired, on="returned", how="anti")["returned"]
    return pl.concat([later, left_over]).unique()


def _perhaps_again(strange: pl.DataFrame, right: pl.DataFrame, paired: pl.DataFrame) -> pl.Series:
    """Notices of which the service may hold another one: it is paired, and one of the two names no parties."""
    others = right.join(paired, on="returned", how="semi").select("invoice", _names_nobody().alias("nobody"))
    both = _open(strange).select("returned", "invoice", _names_nobody().alias("silent")).join(others, on="invoice")
    return both.filter(pl.col("silent") | pl.col("nobody"))["returned"].unique()


def _pairs_by_contents(
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


def _with_possible(notices: pl.DataFrame, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
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


def _names_nobody() -> pl.Expr:
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
