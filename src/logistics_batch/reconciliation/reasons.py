"""Why a line is in its class, in words that name the numbers."""

from collections.abc import Collection
from datetime import timedelta

import polars as pl

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy
from logistics_batch.reconciliation.amounts import applies_beside
from logistics_batch.reconciliation.causes import by_receipts, is_wrong, unreadable
from logistics_batch.reconciliation.classes import (
    Rules,
    mixed,
    mrp_unknown,
    other_price,
    price_unknown,
    which_is_unclear,
    without_lines,
)
from logistics_batch.reconciliation.doubt_words import plain, receipts_in_doubt
from logistics_batch.reconciliation.receipts import CONDITION_CLASSES
from logistics_batch.reconciliation.statuses import is_completed

_D = Discrepancy
_BAD = {_D.REJECTED: "were rejected", _D.DAMAGED: "are damaged", _D.QUALITY: "failed quality", _D.HOLD: "are on hold"}
_BAD[_D.NONSTD_PACK] = "are not packed as agreed"


def _magnitude(column: str) -> pl.Expr:
    return plain(column).str.strip_prefix("-")


def reason(*, rules: Rules, verdicts: Collection[str], beside: Collection[Discrepancy]) -> pl.Expr:
    """The sentence for a line with facts, verdict and amounts.

    verdicts: those that any line has; beside: see `causes_beside`.
    """
    words = {**_notice_words(rules), **_line_words(), **_quantity_words(rules), **_date_words(rules)}
    # An expression works out the sentences of all classes for all lines.
    told = {word.value: sentence for word, sentence in words.items() if word.value in verdicts}
    sentences = [pl.when(pl.col("verdict") == word).then(sentence) for word, sentence in told.items()]
    return pl.concat_str(pl.coalesce(*sentences, pl.lit("")), _also(beside), _afterwords()).str.strip_chars_start()


def _notice_words(rules: Rules) -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    still_there = pl.when(pl.col("has_returned")).then(
        pl.format(" The service nevertheless returns the line, with {}.", plain("qty_returned"))
    )
    return {
        _D.NOT_SENT: pl.concat_str(
            pl.format("Not accepted by the service: {}.", pl.col("why").str.strip_chars_end(". ")),
            pl.concat_str(pl.lit(" "), "version").fill_null(""),
            still_there.otherwise(pl.lit("")),
        ),
        _D.MISSING_IN_SERVICE: pl.format(
            "The service accepted ASN {} with {} of this SKU, but does not return it.",
            pl.col("invoice_number"),
            plain("qty_announced"),
        ),
        _D.UNEXPECTED_IN_SERVICE: pl.concat_str(
            _returned_on(),
            pl.lit("no file of ours announced it."),
            pl.when(pl.col("perhaps_again").fill_null(False))
            .then(
                pl.lit(
                    " The service holds another ASN with this invoice number, and names no supplier and site to "
                    "compare: it may be the same ASN once more."
                )
            )
            .otherwise(pl.lit("")),
        ),
        _D.NO_ASN: pl.format(
            "{} received, but no accepted ASN fits its invoice, supplier and site.", plain("qty_received")
        ),
        _D.UNVERIFIABLE: _cannot_tell(rules),
    }


def _returned_on() -> pl.Expr:
    return pl.format(
        "The service returns {} of this SKU on its ASN {}; ", plain("qty_returned"), pl.col("record_id").fill_null("")
    )


def _several(column: str) -> pl.Expr:
    number = pl.col(column)
    return pl.when(number == 1).then(pl.lit("1 ASN")).otherwise(pl.format("{} ASNs", number))


def which_is_which() -> pl.Expr:
    """What is said of a notice that may be any of several; needs `possible`, `rivals`, `announced`."""
    ours = pl.format(
        "The service returns {} with invoice number {}, {} with it announced, and its replies name no supplier and "
        "site that can be compared: which is which cannot be told.",
        _several("possible"),
        pl.col("invoice_number"),
        pl.when(pl.col("rivals") == 1).then(pl.lit("1 ASN was")).otherwise(pl.format("{} ASNs were", "rivals")),
    )
    fewer = pl.format(" At least {} of them cannot be there.", pl.col("rivals").cast(pl.Int64) - pl.col("possible"))
    theirs = pl.format(
        "{} with this invoice number {} announced, and its reply names no supplier and site that can be compared: "
        "which is which cannot be told.",
        _several("possible"),
        pl.when(pl.col("possible") == 1).then(pl.lit("was")).otherwise(pl.lit("were")),
    )
    lost = pl.when(pl.col("rivals") > pl.col("possible")).then(fewer).otherwise(pl.lit(""))
    return pl.when(pl.col("announced").is_not_null()).then(pl.concat_str(ours, lost)).otherwise(theirs)


def _mixed_prices(kind: str, begin: str) -> pl.Expr:
    return pl.format(
        f"{begin} of its lines are not the same, and which line is which cannot be told: "
        "announced {}; in the service {}.",
        f"{kind}_mix_announced",
        pl.col(f"{kind}_mix_returned").fill_null("none"),
    )


def doubts(rules: Rules) -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Why nothing can be said of a line, the first that holds: condition and sentence by name."""
    unknown = pl.format('The receipt\'s condition "{}" is not a word we know.', pl.col("condition_word").fill_null(""))
    absent = pl.col("returned").is_null()
    unclear = pl.when(pl.col("announced").is_null()).then(_returned_on()).otherwise(pl.lit(""))
    cut = pl.lit("Not found, but the service's answer may have been cut short.")
    no_price, no_mrp = (
        pl.lit(f"A {name} was announced, but the service's reply holds none for this line.")
        for name in ("price", "retail price")
    )
    return {
        "which is which": (which_is_unclear(), pl.concat_str(unclear, which_is_which())),
        "several ASNs": (
            pl.col("stray").is_not_null(),
            pl.format("{} received, but {}", plain("qty_received"), pl.col("stray")),
        ),
        "receipts": (pl.col("doubtful"), receipts_in_doubt()),
        "cut short": (absent & (not rules.complete), cut),
        "quantity": (
            unreadable(),
            pl.lit("A quantity is absent or no plain number, so nothing can be compared."),
        ),
        "no lines": (without_lines(), pl.lit("The service returns the ASN without any SKU lines.")),
        "no SKU": (pl.col("sku") == "", pl.lit("The line names no SKU.")),
        "condition": (pl.col("condition_unknown") > 0, unknown),
        "prices": (mixed("price"), _mixed_prices("price", "The prices")),
        "retail prices": (mixed("mrp"), _mixed_prices("mrp", "The retail prices")),
        "no price": (price_unknown(), no_price),
        "no retail price": (mrp_unknown(), no_mrp),
    }


def _cannot_tell(rules: Rules) -> pl.Expr:
    last = pl.format(
        "{} of {} received; without a delivery date nobody can say whether more is due.",
        plain("received"),
        plain("expected"),
    )
    return pl.coalesce(*(pl.when(condition).then(sentence) for condition, sentence in doubts(rules).values()), last)


def _line_words() -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    extra = (
        pl.when(pl.col("has_returned"))
        .then(pl.format("The service's ASN holds {} of this SKU, which was not announced.", plain("qty_returned")))
        .otherwise(pl.format("{} received of a SKU that does not stand in the ASN.", plain("qty_received")))
    )
    bad: dict[Discrepancy | ComparedOutcome, pl.Expr] = {
        code: pl.format(
            "{} of {} received {}; announced {}.",
            plain(f"units_{code.value}"),
            plain("qty_received"),
            pl.lit(_BAD[code]),
            plain("qty_announced"),
        )
        for code in CONDITION_CLASSES
    }
    return bad | {
        _D.WRONG_SKU: pl.format(
            '"{}" is missing with {}, and "{}" stands there with the same quantity: probably swapped. What is shown as '
            '{} is "{}"{}.',
            pl.col("sku_name"),
            plain("expected"),
            pl.col("found_sku"),
            pl.when(pl.col("found_returned").is_null())
            .then(pl.lit("received"))
            .when(pl.col("found_received").is_not_null())
            .then(pl.lit("in the service and as received"))
            .otherwise(pl.lit("in the service")),
            pl.col("found_sku"),
            pl.when(pl.col("found_returned").is_not_null() & (pl.col("sku_received") == pl.col("sku_name")))
            .then(pl.format('; {} of "{}" were received', plain("qty_received"), "sku_name"))
            .otherwise(pl.lit("")),
        ),
        _D.MISSING_SKU: _missing_sku(),
        _D.EXTRA_SKU: extra,
    }


def _missing_sku() -> pl.Expr:
    """Missing at the service, or missing from goods of which the other lines came."""
    at_service = pl.format("Announced {}; the service's ASN lacks the SKU.", plain("qty_announced"))
    at_dock = pl.format("None of {} received, although other lines of the ASN came.", plain("expected"))
    return pl.when(pl.col("has_announced") & ~pl.col("has_returned")).then(at_service).otherwise(at_dock)


def _date_words(rules: Rules) -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    due, came, expires = (_day(name) for name in ("due_date", "received_date", "expiry_date"))
    agreed = rules.limit(_D.SHELF_LIFE).days or 0
    return {
        _D.LATE: pl.format("{} received, the last on {}; due {}.", plain("received"), came, due),
        _D.EARLY: pl.format("{} received, the first on {}; due {}.", plain("received"), _day("received_first"), due),
        _D.SHELF_LIFE: pl.format(
            "{} received on {}, to expire on {}; at least {} days are agreed.",
            plain("received"),
            came,
            expires,
            pl.lit(agreed),
        ),
        _D.EXPIRED_UNRECEIVED: pl.format(
            'Nothing of {} received, and the ASN is over: status "{}", expiry date {}.',
            plain("expected"),
            pl.col("status").fill_null(""),
            expires,
        ),
    }


def _day(column: str) -> pl.Expr:
    return pl.col(column).dt.to_string("%Y-%m-%d").fill_null("not known")


def _also(beside: Collection[Discrepancy]) -> pl.Expr:
    """What is wrong with the line besides its class, and is counted in its INR as well."""
    words = {
        code: pl.format(" Also {} {}.", plain(f"units_{code.value}"), pl.lit(_BAD[code])) for code in CONDITION_CLASSES
    }
    words |= {_D.SHORT: _also_counted(_D.SHORT, "fewer"), _D.OVER: _also_counted(_D.OVER, "more")}
    words |= {
        _D.PRICE_VAR: pl.format(" {}", _price_words("Also announced at", "Also announced with a discount of", unit="")),
        _D.MRP_VAR: pl.format(
            " Also the retail price: announced INR {}, the service has {}.",
            plain("mrp_announced"),
            plain("mrp_returned"),
        ),
        _D.SHELF_LIFE: pl.format(
            " Also received on {}, to expire on {}: shorter than agreed.", _day("received_date"), _day("expiry_date")
        ),
        _D.LATE: pl.format(" Also late: the last came on {}, due {}.", _day("received_date"), _day("due_date")),
        _D.EARLY: pl.format(" Also early: the first came on {}, due {}.", _day("received_first"), _day("due_date")),
        _D.UNVERIFIABLE: _also_unknown(),
    }
    told = [pl.when(applies_beside(code)).then(words[code]) for code in beside]
    return pl.concat_str(*told, ignore_nulls=True) if told else pl.lit("")


def _price_words(price: str, discount: str, *, unit: str) -> pl.Expr:
    """The price and the discount of a line, as far as they differ."""
    at = pl.format(
        f"{price} INR {{}} a unit, the service has {unit}{{}}.", plain("price_announced"), plain("price_returned")
    )
    told = [pl.when(other_price()).then(at)]
    for name, form in (("discount", "INR {}"), ("percentage", "{} %")):
        both = [pl.format(form, plain(f"{name}_{leg}")) for leg in ("announced", "returned")]
        differs = pl.col("other_discount") & (pl.col(f"{name}_delta") != 0)
        told.append(pl.when(differs).then(pl.format(f"{discount} {{}}, the service has {{}}.", *both)))
    return pl.concat_str(*told, separator=" ", ignore_nulls=True)


def _also_counted(code: Discrepancy, word: str) -> pl.Expr:
    received = pl.format(" Also {} {} received than announced.", _magnitude("receipt_delta"), pl.lit(word))
    held = pl.format(" Also {} {} in the service than announced.", _magnitude("service_delta"), pl.lit(word))
    return pl.when(by_receipts(code)).then(received).otherwise(held)


def _also_unknown() -> pl.Expr:
    word = pl.format(
        ' Also the receipt\'s condition "{}" is not a word we know.', pl.col("condition_word").fill_null("")
    )
    unread = pl.format(" Also not certain: {}", receipts_in_doubt())
    return (
        pl.when(pl.col("doubtful"))
        .then(unread)
        .when(pl.col("condition_unknown") > 0)
        .then(word)
        .when(mixed("price"))
        .then(_mixed_prices("price", " Also the prices"))
        .when(mixed("mrp"))
        .then(_mixed_prices("mrp", " Also the retail prices"))
        .when(price_unknown() | mrp_unknown())
        .then(pl.lit(" Also the service's reply lacks a price that was announced."))
        .otherwise(pl.lit(" Also no delivery date tells whether more is due."))
    )


def _afterwords() -> pl.Expr:
    """What a reader should know besides: summed rows, rows alike, an ASN that the service takes for done."""
    quantities = pl.col("verdict").is_in(
        [code.value for code in (_D.SHORT, _D.OVER, _D.NOT_RECEIVED, _D.MISSING_SKU, _D.EXTRA_SKU)]
    )
    parts = [
        (pl.col("lines_announced") > 1, pl.format(" {} announced rows summed.", pl.col("lines_announced"))),
        (pl.col("lines_returned") > 1, pl.format(" {} lines of the service summed.", pl.col("lines_returned"))),
        (pl.col("lines_received") > 1, pl.format(" {} receipt rows summed.", pl.col("lines_received"))),
        (
            (pl.col("receipts_alike").fill_null(0) > 0) & (pl.col("alike_lists").fill_null("") == ""),
            pl.format(" Receipt rows {} are alike: counted twice?", pl.col("receipt_rows")),
        ),
        (
            pl.col("alike_lists").fill_null("") != "",
            pl.format(
                " Alike in several lists and counted each time: {}: two deliveries, or one listed twice?",
                pl.col("alike_lists"),
            ),
        ),
        (
            pl.col("receipts_repeated").fill_null("") != "",
            pl.format(
                " Not counted again, since a later list repeats an earlier one: {}. If these are goods that came "
                "besides, drop them in a list of their own.",
                pl.col("receipts_repeated"),
            ),
        ),
        (
            pl.col("open_receipt") & pl.col("unread_any").is_not_null(),
            pl.format(
                " Perhaps not so: a receipt row that names neither invoice nor SKU could not be used ({}).",
                pl.col("unread_any"),
            ),
        ),
        (
            is_completed() & (pl.col("verdict") != _D.OVER.value),
            pl.lit(" The service nevertheless calls the ASN Completed."),
        ),
    ]
    said = (pl.when(quantities & condition).then(words) for condition, words in parts)
    corrected = pl.format("Corrections are taken off: {}.", pl.col("receipts_taken_back"))
    first = (
        pl.when(pl.col("verdict") == ComparedOutcome.MATCHED.value)
        .then(corrected)
        .otherwise(pl.format(" {}", corrected))
    )
    told = pl.when(pl.col("receipts_taken_back").fill_null("") != "").then(first)
    both = pl.when((pl.col("reissued").fill_null("") != "") & ~pl.col("doubtful")).then(
        pl.format(" Several lists name these goods, and all count: {}; is one a correction?", pl.col("reissued"))
    )
    others = pl.when(pl.col("receipts_name").is_not_null() & (pl.col("lines_received") > 0)).then(
        pl.format(" Matched all the same: a receipt row {}.", pl.col("receipts_name"))
    )
    return pl.concat_str(*said, told, both, others, ignore_nulls=True)


def _quantity_words(rules: Rules) -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    judged_from = (pl.col("due_date") + timedelta(days=rules.grace_days + 1)).dt.to_string("%Y-%m-%d").fill_null("?")
    due = pl.col("due_date").dt.to_string("%Y-%m-%d").fill_null("?")
    return {
        _D.SHORT: _compared(_D.SHORT, "fewer"),
        _D.OVER: _compared(_D.OVER, "more"),
        _D.NOT_RECEIVED: pl.format(
            "Nothing of {} received; due {}, {} days ago.", plain("expected"), due, pl.col("days_overdue").fill_null(0)
        ),
        _D.PRICE_VAR: _price_words("Announced at", "Announced with a discount of", unit="INR "),
        _D.MRP_VAR: pl.format(
            "Announced with a retail price of INR {}, the service has INR {}.",
            plain("mrp_announced"),
            plain("mrp_returned"),
        ),
        ComparedOutcome.TOO_EARLY: pl.format(
            "{} of {} received so far; due {}, judged from {}.", plain("received"), plain("expected"), due, judged_from
        ),
        ComparedOutcome.WITHIN_TOLERANCE: pl.format(
            "Differs by {} units and INR {} a unit, which is tolerated.",
            plain("qty_delta"),
            plain("price_delta"),
        ),
    }


def _compared(code: Discrepancy, word: str) -> pl.Expr:
    """Which two numbers differ; the third is named where there is one."""
    receipts = pl.format(
        "Announced {}, received {}: {} {}.", plain("expected"), plain("received"), _magnitude("qty_delta"), pl.lit(word)
    )
    service = pl.format(
        "Announced {}, the service holds {}: {} {}.",
        plain("qty_announced"),
        plain("qty_returned"),
        _magnitude("qty_delta"),
        pl.lit(word),
    )
    other = _D.OVER if code is _D.SHORT else _D.SHORT
    also = pl.when((pl.col("service_delta") != 0) & by_receipts(code) & ~is_wrong(other)).then(
        pl.format(" The service holds {}.", plain("qty_returned"))
    )
    return pl.concat_str(pl.when(by_receipts(code)).then(receipts).otherwise(service), also.otherwise(pl.lit("")))
