"""Findings that are not about one SKU: about a notice as a whole, or about a row that never became part of one."""

import polars as pl

from logistics_batch.model.reconciliation import MONEY, PRICE, QUANTITY, Discrepancy, ExceptionLevel
from logistics_batch.reconciliation.classes.reasons import which_is_which
from logistics_batch.reconciliation.classes.rules import Rules, near
from logistics_batch.reconciliation.legs.columns import HEADER_FIELDS
from logistics_batch.reconciliation.legs.reading import day, price, quantity
from logistics_batch.reconciliation.matching.sides import Sides
from logistics_batch.reconciliation.notices.headers import (
    accepted_pairs,
    differing_fields,
    filled,
    is_new,
    status_class,
    status_reason,
)
from logistics_batch.reconciliation.sentences import all_that_hold, first_that_holds, grounds_of, is_given, sentence

_D = Discrepancy
_NOTICE = {"supplier_shown": "supplier", "site_shown": "site", "batch_shown": "batch"}
_A_TOTAL, _R_TOTAL, _A_SUM, _R_SUM = "a_total", "r_total", "a_sum", "r_sum"
_TAXES = ("tax_announced", "tax_returned")


def notice_findings(sides: Sides, judged: pl.DataFrame, *, rules: Rules) -> list[pl.DataFrame]:
    """All findings about notices; judged: the lines with their verdicts."""
    return [
        _surplus_notices(sides),
        *_notices_without_lines(sides.whole),
        _changed_headers(sides.whole),
        _differing_amounts(sides, rules=rules),
        _odd_statuses(sides, judged, rules=rules),
    ]


def _surplus_notices(sides: Sides) -> pl.DataFrame:
    """DUPLICATE_ASN: the service's notices that repeat another one.

    Where no announced notice is paired with it, the finding carries the lines and quantities of the surplus notice.
    """
    worth = (pl.col("units") * pl.col("unit_price")).round(2, mode="half_away_from_zero").sum().cast(MONEY)
    sums = sides.returned.group_by("notice").agg(
        pl.col("units").sum().cast(QUANTITY).alias("qty_returned"),
        pl.len().cast(pl.UInt32).alias("lines_returned"),
        pl.when(pl.col("unit_price").null_count() == 0).then(worth).alias("impact_inr"),
    )
    again = sides.whole.filter(pl.col("duplicate")).join(sums, on="notice", how="left", maintain_order="left")
    unpaired = pl.col("announced").is_null()
    carried = [pl.when(unpaired).then(name).alias(name) for name in sums.columns[1:]]
    status = pl.when(is_given("status")).then(pl.format(', status "{}"', pl.col("status"))).otherwise(pl.lit(""))
    words = "The service holds another ASN for this invoice, supplier and site: id {record_id:text}{status}."
    found = again.with_columns(
        *carried, grounds_of(id="record_id", status="status"), sentence(words, status=status).alias("reason")
    )
    return _told(found, _D.DUPLICATE_ASN).with_columns(pl.col("qty_returned").alias("qty_affected"))


def _notices_without_lines(whole: pl.DataFrame) -> list[pl.DataFrame]:
    """UNEXPECTED_IN_SERVICE: notices of the service that nobody announced and that have no lines to show it at.

    UNVERIFIABLE where one may be what was announced, and names no supplier and site to tell.
    """
    unannounced = pl.col("announced").is_null() & pl.col("returned").is_not_null() & ~pl.col("duplicate")
    empty = whole.filter(unannounced & (pl.col("returned_lines") == 0))
    empty = empty.with_columns(grounds_of(id="record_id", possible="possible"))
    unclear = pl.col("possible").is_not_null()
    rest = pl.when(unclear).then(which_is_which()).otherwise(pl.lit("no file of ours announced it."))
    told = empty.with_columns(
        sentence("The service returns ASN {record_id:text} without SKU lines; {rest}", rest=rest).alias("reason")
    )
    return [_told(told.filter(~unclear), _D.UNEXPECTED_IN_SERVICE), _told(told.filter(unclear), _D.UNVERIFIABLE)]


def _changed_headers(whole: pl.DataFrame) -> pl.DataFrame:
    """HEADER_DIFF: once a notice, whatever the number of its lines."""
    # Most say the same letter by letter.
    unlike = (pl.col(f"a_{name}").ne_missing(pl.col(f"r_{name}")) for name in HEADER_FIELDS)
    pairs = accepted_pairs(whole).filter(pl.any_horizontal(*unlike))
    differing = differing_fields()
    both = {name: (filled(f"a_{name}"), filled(f"r_{name}")) for name in differing}
    clauses = [
        (differs, pl.format(f'{name}: sent "{{}}", the service has "{{}}"', *both[name]))
        for name, differs in differing.items()
    ]
    values = {name: pl.when(differs).then(pl.format("{} / {}", *both[name])) for name, differs in differing.items()}
    told = pairs.with_columns(all_that_hold(clauses, "; ").alias("reason"), grounds_of(**values))
    return _told(told.filter(pl.col("reason") != ""), _D.HEADER_DIFF)


def _odd_statuses(sides: Sides, judged: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """STATUS_REGRESSION, OVERDUE, STALE_STATUS: at most one a notice.

    Of an ASN that is not closed because a line of it waits for somebody, the line says what is up.
    """
    received = sides.received
    came = sides.whole["notice"].clear() if received is None else received["notice"].unique()
    anything = pl.col("notice").is_in(came.implode()) | pl.col("settled_received").fill_null(False)
    class_ = status_class(rules, receipts=received is not None)
    seen = accepted_pairs(sides.whole).with_columns(anything.alias("received")).with_columns(class_.alias("verdict"))
    waiting = judged.filter(pl.col("verdict").is_in(list(_D)))["notice"].unique()
    stale = pl.col("verdict") == _D.STALE_STATUS.value
    told_by_a_line = stale & is_new() & pl.col("notice").is_in(waiting.implode())
    moved = pl.when(stale).then(pl.col("modified_at").str.slice(0, 10))
    found = seen.filter(pl.col("verdict").is_not_null() & ~told_by_a_line).with_columns(
        status_reason().alias("reason"),
        grounds_of(status="status", seen="furthest_status", due="due_date", moved=moved),
    )
    return _told(found, identity="ASN STATUS")


def _differing_amounts(sides: Sides, *, rules: Rules) -> pl.DataFrame:
    """TOTAL_MISMATCH, TAX_VAR: at most one a notice."""
    found = _differing_sums(sides.whole, announced=sides.announced, returned=sides.returned, rules=rules)
    worth = pl.col("at_stake").round(2, mode="half_away_from_zero").cast(MONEY)
    totals = {"total": "a_total_price", "total_in_service": "r_total_price"}
    grounds = grounds_of(**totals, tax="tax_announced", tax_in_service="tax_returned")
    return _told(found.with_columns(worth.alias("impact_inr"), grounds), identity="ASN AMOUNT")


def unsent_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """NOT_SENT: rows of files that are part of no document, so that only the row can be named."""
    words = sentence("{fate:text}: {why:text}")
    worth = (quantity() * price()).round(2, mode="half_away_from_zero").cast(MONEY)
    return rows.select(
        pl.lit(_D.NOT_SENT.value).alias("verdict"),
        pl.lit(ExceptionLevel.ROW.value).alias("level"),
        pl.lit(True).alias("in_window"),
        *(pl.col(name).fill_null("") for name in ("invoice_number", "supplier", "site", "sku_name")),
        *("file_name", "sheet", "run"),
        pl.col("row").cast(pl.String).alias("rows"),
        words.alias("reason"),
        pl.coalesce("fault", words).alias("grounds"),
        quantity().alias("qty_affected"),
        quantity().neg().alias("qty_delta"),
        price().alias("price_announced"),
        worth.alias("impact_inr"),
        pl.format("NOT_SENT {}", worth).fill_null("").alias("impact_by_class"),
        day("delivery_date").alias("due_date"),
        pl.lit(1, pl.UInt32).alias("lines_announced"),
        pl.format("row {} {} {}", "file_name", "sheet", "row").alias("identity"),
    )


def _told(found: pl.DataFrame, code: Discrepancy | None = None, *, identity: str = "") -> pl.DataFrame:
    """Findings with `reason` (and `verdict`, unless it is one code) as lines that stand for a notice."""
    named = found if code is None else found.with_columns(pl.lit(code.value).alias("verdict"))
    return named.with_columns(
        pl.lit(ExceptionLevel.NOTICE.value).alias("level"), pl.lit(identity or f"ASN {code}").alias("identity")
    ).rename(_NOTICE)


def _differing_sums(
    whole: pl.DataFrame, *, announced: pl.DataFrame, returned: pl.DataFrame, rules: Rules
) -> pl.DataFrame:
    """Accepted pairs whose total or tax differs.

    Adds `verdict`, `also`, `reason`, `price_delta`, `at_stake` (INR), `tax_announced` and `tax_returned` to the
    notices. announced, returned: the lines under their match. A total is held against the lines only where that of the
    file tied out or was not given, and where the lines of both sides agree: otherwise the lines tell the difference
    themselves. Of a total only what the lines do not explain is at stake. Where total and tax differ, the dearer is the
    class and the other one stands beside it; their INR are not added up, since a total may contain the tax.
    """
    names = {"a_total_price": _A_TOTAL, "r_total_price": _R_TOTAL, "a_tax": _TAXES[0], "r_tax": _TAXES[1]}
    known = accepted_pairs(whole).with_columns(price(field).alias(name) for field, name in names.items())
    for lines, name in ((announced, _A_SUM), (returned, _R_SUM)):
        known = known.join(_sums(lines, name), on="notice", how="left", maintain_order="left")
    words = {"total_words": _total_words(rules), "tax_words": _tax_words(rules)}
    told = known.with_columns(**words)
    has_total, has_tax = (pl.col(name).is_not_null() for name in words)
    near_totals = _near(_A_TOTAL, _R_TOTAL, rules)
    total_delta = pl.col(_R_TOTAL) - pl.when(near_totals).then(_R_SUM).otherwise(_A_TOTAL)
    tax_delta = pl.col("tax_returned") - pl.col("tax_announced")
    unexplained = pl.when(near_totals).then(total_delta).otherwise(total_delta - _by_lines())
    of_total = has_total & ((unexplained.abs() >= tax_delta.abs()) | ~has_tax)
    both = has_total & has_tax
    total, tax = (pl.lit(code.value) for code in (Discrepancy.TOTAL_MISMATCH, Discrepancy.TAX_VAR))
    first, other = (pl.when(of_total).then(one).otherwise(two) for one, two in (tuple(words), tuple(words)[::-1]))
    within = pl.concat_str(other.str.slice(0, 1).str.to_lowercase(), other.str.slice(1))
    return told.filter(has_total | has_tax).with_columns(
        pl.when(of_total).then(total).otherwise(tax).alias("verdict"),
        pl.when(both & of_total).then(tax).when(both).then(total).alias("also"),
        pl.when(both).then(pl.format("{} Also {}", first, within)).otherwise(first).alias("reason"),
        pl.when(of_total).then(total_delta).otherwise(tax_delta).alias("price_delta"),
        pl.when(of_total).then(unexplained).otherwise(tax_delta).abs().alias("at_stake"),
    )


def _by_lines() -> pl.Expr:
    """By how much the lines make the total differ, which they tell themselves."""
    return (pl.col(_R_SUM) - pl.col(_A_SUM)).fill_null(pl.lit(0, PRICE))


def _sums(lines: pl.DataFrame, name: str) -> pl.DataFrame:
    worth = pl.col("units") * pl.col("unit_price")
    known = (pl.col("units").null_count() == 0) & (pl.col("unit_price").null_count() == 0)
    return lines.group_by("notice").agg(pl.when(known).then(worth.sum()).cast(PRICE).alias(name))


def _near(left: str, right: str, rules: Rules, *, beside: pl.Expr | None = None) -> pl.Expr:
    """Alike within the tolerance, but for what stands beside, or one of both is not known."""
    delta = pl.col(right) - pl.col(left)
    limit = rules.limit(Discrepancy.TOTAL_MISMATCH)
    return near(delta if beside is None else delta - beside, of=pl.col(left), limit=limit).fill_null(True)


def _total_words(rules: Rules) -> pl.Expr:
    not_alike = ~_near(_A_TOTAL, _R_TOTAL, rules)
    other_lines = (pl.col(_A_SUM) != pl.col(_R_SUM)).fill_null(False)
    with_charges = _near(_A_TOTAL, _R_TOTAL, rules, beside=_by_lines())
    explained = (_near(_R_SUM, _R_TOTAL, rules) | with_charges) & other_lines
    money = {name: _money(name) for name in (_A_TOTAL, _R_TOTAL, _A_SUM, _R_SUM)}
    sums = sentence(" Of the lines it is INR {a_sum} and INR {r_sum}.", **money)
    tied_out = _near(_A_SUM, _A_TOTAL, rules) & (pl.col(_A_SUM) == pl.col(_R_SUM)).fill_null(True)
    not_the_sum = ~_near(_R_SUM, _R_TOTAL, rules) & tied_out
    differ = "Sent with a total of INR {a_total}, the service has INR {r_total}.{sums}"
    no_sum = "The service's total is INR {r_total}, but quantity times price of its lines is INR {r_sum}."
    return first_that_holds(
        [
            (
                not_alike & ~explained,
                sentence(differ, sums=pl.when(other_lines).then(sums).otherwise(pl.lit("")), **money),
            ),
            (not_the_sum & ~not_alike, sentence(no_sum, **money)),
        ]
    )


def _tax_words(rules: Rules) -> pl.Expr:
    delta = pl.col("tax_returned") - pl.col("tax_announced")
    limit = rules.limit(Discrepancy.TAX_VAR)
    is_near = near(delta, of=pl.col("tax_announced"), limit=limit).fill_null(True)
    words = "Announced with INR {tax_announced} of tax, the service has INR {tax_returned}."
    return pl.when(~is_near).then(sentence(words, **{name: _money(name) for name in _TAXES}))


def _money(column: str) -> pl.Expr:
    return pl.col(column).round(2).cast(pl.Decimal(38, 2)).cast(pl.String)
