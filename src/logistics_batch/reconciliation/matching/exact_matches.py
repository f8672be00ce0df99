"""Lines that agree in every respect, found cheaply, so that only the others go through the whole audit.

A line is set aside only where nothing could be found about it: its notice is paired beyond doubt by plain comparisons
and in order, its SKU stands once on each side, and quantity, prices and what was received are alike. In doubt it is
left to the audit, which finds the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from logistics_batch.model.reconciliation import QUANTITY, Discrepancy
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.legs.columns import HEADER_FIELDS, Legs
from logistics_batch.reconciliation.legs.reading import CONDITION_CODES, day, identifier, price
from logistics_batch.reconciliation.notices.headers import closed_words, is_expired, status_class

_D = Discrepancy
_GOOD = [word for word, code in CONDITION_CODES.items() if code == "good"]
_PARTIES = (("supplier", "supplier_name"), ("site", "site_name"))
_HEADER = (*HEADER_FIELDS, "total_price", "tax", "in_window", "invoice_number")
_JUDGED = ("accepted", "status", "modified_at", "furthest_status")
_DISCOUNTS = ("discount", "discount_percentage")
_COMPARED = ("qty", "price", "mrp", *_DISCOUNTS)
_HALF = 2**32


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """What was set aside, and what is left.

    pairs: one row for each pair of notices with lines that were set aside: headers as `a_…` and `r_…`, `lines`, `units`
    (announced, and returned alike), and of these `taken` lines with `units_received`; the others are too early.
    `whole`: nothing of the pair is left; `echoed`: the reply says all of the header that was sent.
    legs: all of them. aside: by leg, which lines were set aside. left: the legs of all other lines; there,
    `returned_notices` says in `settled_lines` and `settled_received` what of a notice was set aside.
    """

    pairs: pl.DataFrame
    legs: Legs
    aside: dict[str, pl.Series]
    left: Legs

    def settled_pairs(self) -> pl.DataFrame:
        """The pairs that are not among the notices left, but for those whose reply says all that was sent."""
        return self.pairs.filter(pl.col("whole") & ~pl.col("echoed"))

    def legs_aside(self, *, notices_at_once: int) -> Iterator[Legs]:
        """The legs of the lines that were set aside, so many notices after the other."""
        lines = {name: getattr(self.legs, name).filter(mask) for name, mask in self.aside.items()}
        for pairs in self.pairs.iter_slices(notices_at_once):
            part: dict[str, pl.DataFrame] = {"unsent_rows": self.legs.unsent_rows.clear()}
            for leg in ("announced", "returned"):
                is_ours = pl.col("notice").is_in(pairs[leg].implode())
                part[f"{leg}_notices"] = getattr(self.legs, f"{leg}_notices").filter(is_ours)
                part[f"{leg}_lines"] = lines[f"{leg}_lines"].filter(is_ours)
            if "received" in lines:
                of_ours = identifier("invoice_number").is_in(pairs["invoice"].implode())
                part["received"] = lines["received"].filter(of_ours)
            yield replace(self.legs, **part)


def exact_matches(legs: Legs, *, rules: Rules, looked_at: pl.Series) -> ExactMatches:
    """The lines of the legs (with `units`) that agree; invoices in `looked_at` (normalised) are left in full."""
    pairs = _orderly_pairs(legs, rules=rules, looked_at=looked_at)
    for leg in ("announced", "returned"):
        runs = getattr(legs, f"{leg}_lines").select(pl.col("notice").rle()).unnest("notice")
        counts = runs.group_by(pl.col("value").alias(leg)).agg(pl.col("len").sum().alias(f"lines_{leg}"))
        pairs = pairs.join(counts, on=leg, how="left", maintain_order="left")
    plain = all(
        _are_plain(lines["sku_name"])
        for lines in (legs.announced_lines, legs.returned_lines, legs.received)
        if lines is not None
    )
    ours, theirs = (_lines_of(pairs, legs, leg, plain=plain) for leg in ("announced", "returned"))
    alike = _alike(legs, _joined(ours, theirs, "line_returned"))
    if legs.received is None:
        alike = alike.with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    else:
        taken = _keyed(_receipts_of(pairs, legs.received, rules=rules), plain=plain)
        came = taken.group_by("pair").agg(pl.len().alias("lines_received"))
        pairs = pairs.join(came, on="pair", how="left", maintain_order="left")
        alike = _with_receipts(alike, taken, legs.received, legs=legs, waits=pairs["waits"])
    return _parted(legs, alike, pairs)


def _orderly_pairs(legs: Legs, *, rules: Rules, looked_at: pl.Series) -> pl.DataFrame:
    """Notices that are paired beyond doubt and in order; lines with oddities they may have nevertheless.

    Columns: `pair`, `announced` and `returned` (indices in the legs), `invoice` (normalised), the headers as `a_…` and
    `r_…`, `due_date`, `due_first` and `due_last` (of both sides), `expiry_date`, `has_total`, `echoed`, and `waits`:
    nothing came yet, and nothing had to.
    """
    announced, returned = day("a_delivery_date"), day("r_delivery_date")
    both = _with_own_invoice(legs).with_columns(
        pl.coalesce(returned, announced).alias("due_date"),
        pl.min_horizontal(announced, returned).alias("due_first"),
        pl.max_horizontal(announced, returned).alias("due_last"),
        pl.coalesce(day("r_expiry_date"), day("a_expiry_date")).alias("expiry_date"),
    )
    both = both.hstack(_fitting_receipts(both, legs.received))
    class_ = status_class(rules, receipts=legs.received is not None)
    # Most are closed, which few words say.
    open_ones = both.filter(~pl.col("status").is_in(closed_words(both["status"]).implode()).fill_null(False))
    odd_status = open_ones.filter(class_.is_not_null())["announced"]
    spoken = [name for name in _HEADER if any(both[f"{side}_{name}"].null_count() < both.height for side in ("a", "r"))]
    inside = pl.col("a_in_window").fill_null(False) | pl.col("r_in_window").fill_null(False)
    unseen = [~pl.col("invoice").is_in(looked_at.implode()), ~pl.col("announced").is_in(odd_status.implode())]
    sound = pl.all_horizontal("accepted", "fits", inside, *unseen, *_same_parties(), *_same_headers(spoken))
    # Told apart first: lazily, one expression that stands in several is worked out once.
    in_order = both.lazy().select(sound).collect().to_series().fill_null(False)
    early = ~pl.col("received") & (pl.col("due_date") > rules.judged_until) & ~is_expired(rules.business_date)
    waits = pl.lit(False) if legs.received is None else early.fill_null(False)
    told = both.filter(in_order).with_columns(
        waits.alias("waits"), (_text("a_total_price") != "").alias("has_total"), _echoed(spoken).alias("echoed")
    )
    settled = [f"{side}_{name}" for side in ("a", "r") for name in ("total_price", "tax", "in_window")]
    return told.drop(*_JUDGED, *settled).with_row_index("pair")


def _with_own_invoice(legs: Legs) -> pl.DataFrame:
    """The pairs whose invoice number no other notice of their leg has, as the announced ones stand in theirs."""
    places = []
    for leg, notices in (("announced", legs.announced_notices), ("returned", legs.returned_notices)):
        named = notices.select(identifier("invoice_number").alias("invoice")).with_row_index(leg)
        hashed = named.filter(pl.col("invoice") != "").with_columns(pl.col("invoice").hash().alias("hashed"))
        # Two that share a hash count as the same.
        alone = hashed["hashed"].n_unique() == hashed.height
        places.append(hashed if alone else hashed.filter(pl.col("hashed").is_unique()))
    same = places[0].join(places[1], on="hashed", suffix="_returned", maintain_order="left")
    same = same.filter(pl.col("invoice") == pl.col("invoice_returned")).select("invoice", "announced", "returned")
    left = _headers(legs.announced_notices, "a", "announced")[same["announced"]]
    return (
        same.select("invoice").hstack(left).hstack(_headers(legs.returned_notices, "r", "returned")[same["returned"]])
    )


def _headers(notices: pl.DataFrame, prefix: str, leg: str) -> pl.DataFrame:
    judged = [name for name in _JUDGED if name in notices.columns]
    header = (pl.col(name).alias(f"{prefix}_{name}") for name in _HEADER)
    return notices.select(pl.col("notice").alias(leg), *header, *judged)


def _text(column: str) -> pl.Expr:
    return pl.col(column).fill_null("")


def _same_parties() -> Iterator[pl.Expr]:
    """A supplier and a site stand alike on both sides, and a part of them can be compared."""
    for names in _PARTIES:
        alike = (
            (pl.col(f"a_{name}") == pl.col(f"r_{name}")) & pl.col(f"a_{name}").str.contains(r"[\p{L}\p{N}]")
            for name in names
        )
        yield pl.any_horizontal(one.fill_null(False) for one in alike)


def _same_headers(spoken: list[str]) -> Iterator[pl.Expr]:
    """What both sides say is the same; batch and sums are the same also where they are absent."""
    for name in spoken:
        if name in ("batch", "total_price", "tax"):
            yield _same(name)
        elif name in HEADER_FIELDS:
            yield _same(name) | (_text(f"a_{name}") == "") | (_text(f"r_{name}") == "")


def _same(name: str) -> pl.Expr:
    return _text(f"a_{name}") == _text(f"r_{name}")


def _echoed(spoken: list[str]) -> pl.Expr:
    """The reply lacks nothing of the header that was sent."""
    dates = {"delivery_date": pl.col("due_date"), "expiry_date": pl.col("expiry_date")}
    legible = (date.is_not_null() | (_text(f"a_{name}") == "") for name, date in dates.items() if name in spoken)
    return pl.all_horizontal(pl.lit(True), *(_same(name) for name in HEADER_FIELDS if name in spoken), *legible)


def _fitting_receipts(pairs: pl.DataFrame, received: pl.DataFrame | None) -> pl.DataFrame:
    """By pair: whether receipts name the invoice (`received`), and if so, no other supplier or site (`fits`)."""
    if received is None:
        return pairs.select(pl.repeat(False, pl.len()).alias("received"), pl.repeat(True, pl.len()).alias("fits"))
    parties = received.select(
        identifier("invoice_number").alias("invoice"),
        _text("supplier_name").alias("said_supplier"),
        _text("site_name").alias("said_site"),
    ).unique()
    once = parties.with_columns(pl.col("invoice").is_unique().alias("once")).unique("invoice")
    names = [f"{side}_{name}" for side in ("a", "r") for both in _PARTIES for name in both]
    joined = pairs.select("invoice", *names).join(once, on="invoice", how="left", maintain_order="left")
    alike = [
        pl.any_horizontal(
            *(pl.col(f"said_{names[0]}") == _text(f"{side}_{name}") for side in ("a", "r") for name in names),
            pl.col(f"said_{names[0]}") == "",
        )
        for names in _PARTIES
    ]
    named = pl.col("once").is_not_null()
    return joined.select(named.alias("received"), (~named | (pl.col("once") & pl.all_horizontal(*alike))).alias("fits"))


def _lines_of(pairs: pl.DataFrame, legs: Legs, leg: str, *, plain: bool) -> pl.DataFrame:
    """The lines of a leg: `line` (their place in it), `pair` and `key`; both null for lines of no pair."""
    lines, notices = getattr(legs, f"{leg}_lines"), getattr(legs, f"{leg}_notices")
    pair_of = pl.repeat(None, notices.height, dtype=pl.UInt32, eager=True).scatter(pairs[leg], pairs["pair"])
    told = lines.select("sku_name", pair_of.gather(lines["notice"]).alias("pair")).with_row_index("line")
    return _keyed(told, plain=plain)


def _keyed(lines: pl.DataFrame, *, plain: bool) -> pl.DataFrame:
    """Lines (`sku_name`, `pair`) with a `key` of both instead of the name, null without a SKU."""
    # 32 bits of hash tell the SKUs of one notice apart; two that share them look like a SKU that stands twice.
    short = pl.col("sku_name").hash().cast(pl.UInt32, wrap_numerical=True)
    key = pl.when(pl.col("sku_name") != "").then(pl.col("pair").cast(pl.UInt64) * _HALF + short)
    read = lines if plain else lines.with_columns(identifier("sku_name"))
    return read.with_columns(key.alias("key")).drop("sku_name")


def _are_plain(skus: pl.Series) -> bool:
    """Whether texts are compared as they stand: as usual they are, without small letters and blanks."""
    together = skus.str.join().item()
    return together.isascii() and together == together.upper() and len(together.split(None, 1)) == 1


def _joined(left: pl.DataFrame, right: pl.DataFrame, name: str) -> pl.DataFrame:
    """The lines whose SKU stands once on each side, with the `line` of the other side under a name."""
    both = left.lazy().join(right.lazy().drop("pair").rename({"line": name}), on="key").collect(engine="streaming")
    # Where it stands more often, its key comes out more often.
    return both if both["key"].n_unique() == both.height else both.filter(pl.col("key").is_unique())


def _alike(legs: Legs, facing: pl.DataFrame) -> pl.DataFrame:
    """Of lines side by side those with the same SKU, quantity and prices: by their text, else by its meaning."""
    ours, theirs = legs.announced_lines, legs.returned_lines
    same = ours["units"].gather(facing["line"]) > 0
    for name in ("sku_name", *_COMPARED):
        if ours[name].null_count() < ours.height or theirs[name].null_count() < theirs.height:
            same &= ours[name].gather(facing["line"]).eq_missing(theirs[name].gather(facing["line_returned"]))
    same = same.fill_null(False)
    others = facing.filter(~same)
    left, right = (
        lines[others[place]].select(
            identifier("sku_name"), "units", *(price(name).alias(name) for name in _COMPARED[1:])
        )
        for lines, place in ((ours, "line"), (theirs, "line_returned"))
    )
    both = [pl.col(name).eq_missing(right[name]) for name in left.columns if name not in _DISCOUNTS]
    # A discount that one side does not name is not compared.
    discounts = [(pl.col(name) == right[name]).fill_null(True) for name in _DISCOUNTS]
    by_meaning = left.select((pl.col("units") > 0) & pl.all_horizontal(*both, *discounts)).to_series()
    return pl.concat([facing.filter(same), others.filter(by_meaning.fill_null(False))])


def _receipts_of(pairs: pl.DataFrame, received: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The receipts of the pairs, with `fine`: good goods that `came` for certain, and when they should."""
    rows = received.with_row_index("line").with_columns(identifier("invoice_number").alias("invoice"))
    dates = ("pair", "invoice", "due_first", "due_last", "expiry_date")
    ours = rows.join(pairs.select(dates), on="invoice").with_columns(day("received_date").alias("on"))
    late = (pl.col("on") - pl.col("due_last")).dt.total_days() > rules.days(_D.LATE)
    early = (pl.col("due_first") - pl.col("on")).dt.total_days() > rules.days(_D.EARLY)
    stale = (pl.col("expiry_date") - pl.col("on")).dt.total_days() < rules.days(_D.SHELF_LIFE)
    good = pl.col("condition").fill_null("").str.to_lowercase().is_in(_GOOD)
    fine = good & ~pl.any_horizontal(odd.fill_null(False) for odd in (late, early, stale, pl.col("again")))
    return ours.select("line", "pair", "sku_name", fine.alias("fine"), pl.col("units").alias("came"))


def _with_receipts(
    alike: pl.DataFrame, taken: pl.DataFrame, received: pl.DataFrame, *, legs: Legs, waits: pl.Series
) -> pl.DataFrame:
    """The lines that came as announced, and those of which nothing came that is not due yet either."""
    came = _joined(alike, taken, "line_received")
    ours = legs.announced_lines[came["line"]].select(identifier("sku_name"), "units")
    theirs = received[came["line_received"]].select(identifier("sku_name")).to_series()
    exact = came.filter(came["fine"] & (came["came"] == ours["units"]) & (theirs == ours["sku_name"]))
    early = alike.filter(waits.gather(alike["pair"])).with_columns(pl.lit(None, pl.UInt32).alias("line_received"))
    return pl.concat([exact.select(early.columns), early])


def _parted(legs: Legs, alike: pl.DataFrame, pairs: pl.DataFrame) -> ExactMatches:
    """Lines aside and lines left; a pair all of whose lines are aside goes with them, else its headers stay, too."""
    came, nothing = pl.col("line_received").is_not_null(), pl.lit(0, QUANTITY)
    units = legs.announced_lines["units"].gather(alike["line"])
    sums = (
        alike.lazy()
        .with_columns(units)
        .group_by("pair")
        .agg(
            pl.len().alias("lines"),
            pl.col("units").sum(),
            came.sum().alias("taken"),
            pl.when(came).then("units").otherwise(nothing).sum().alias("units_received"),
        )
        .collect(engine="streaming")
    )
    every = [pl.col(f"lines_{leg}") == pl.col("lines") for leg in ("announced", "returned")]
    if legs.received is not None:
        every.append(pl.col("lines_received").fill_null(0) == pl.col("taken"))
    # Where a total stands, it is held against all lines together.
    pairs = (
        pairs.join(sums, on="pair", maintain_order="left")
        .with_columns(pl.all_horizontal(*every).fill_null(False).alias("whole"))
        .filter(pl.col("whole") | ~pl.col("has_total"))
    )
    ours = alike.join(pairs, on="pair", how="semi") if sums.height > pairs.height else alike
    places = {"announced_lines": "line", "returned_lines": "line_returned"}
    if legs.received is not None:
        places["received"] = "line_received"
    masks = {name: _mask(getattr(legs, name), ours[place].drop_nulls()) for name, place in places.items()}
    return ExactMatches(pairs, legs, masks, _left(legs, masks, pairs))


def _left(legs: Legs, masks: dict[str, pl.Series], pairs: pl.DataFrame) -> Legs:
    left = {name: getattr(legs, name).filter(~mask) for name, mask in masks.items()}
    for leg in ("announced", "returned"):
        gone = pairs[leg].filter(pairs["whole"])
        left[f"{leg}_notices"] = getattr(legs, f"{leg}_notices").filter(~pl.col("notice").is_in(gone.implode()))
    settled = pairs.select(
        pl.col("returned").alias("notice"),
        pl.col("lines").alias("settled_lines"),
        (pl.col("taken") > 0).alias("settled_received"),
    )
    left["returned_notices"] = left["returned_notices"].join(settled, on="notice", how="left", maintain_order="left")
    return replace(legs, **left)


def _mask(lines: pl.DataFrame, places: pl.Series) -> pl.Series:
    return pl.repeat(False, lines.height, eager=True).scatter(places, True)
