"""Why a line is in its class, in words that name the numbers."""

from collections.abc import Collection

import polars as pl

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy
from logistics_batch.reconciliation.classes.amounts import applies_beside
from logistics_batch.reconciliation.classes.facts import (
    by_receipts,
    less_than_nothing,
    mixed,
    not_shown,
    other_price,
    perhaps_corrected,
    unreadable,
    which_is_unclear,
    without_lines,
)
from logistics_batch.reconciliation.classes.rules import Rules
from logistics_batch.reconciliation.classes.verdicts import is_wrong
from logistics_batch.reconciliation.legs.reading import CONDITION_CLASSES
from logistics_batch.reconciliation.notices.headers import is_completed
from logistics_batch.reconciliation.sentences import (
    all_that_hold,
    first_that_holds,
    grounds_of,
    is_given,
    plain,
    sentence,
    verdict_is,
)

_D = Discrepancy
_NOTHING = pl.lit("")
_BAD = {
    _D.REJECTED: "were rejected",
    _D.DAMAGED: "are damaged",
    _D.QUALITY: "failed quality",
    _D.HOLD: "are on hold",
    _D.NONSTD_PACK: "are not packed as agreed",
}
_MORE_OR_FEWER = {_D.SHORT: "fewer", _D.OVER: "more"}
_RETURNED_ON = "The service returns {qty_returned} of this SKU on its ASN {record_id:text}; "
_MIXED = (
    "{begin} of its lines are not the same, and which line is which cannot be told: "
    "announced {{{kind}_mix_announced:known}}; in the service {{theirs}}."
)
_TWICE = (
    "{received} of {expected} received if all lists count, {qty_once} if a later list repeats or corrects an earlier "
    "one ({lists}): which of both cannot be told. Put an empty file with the name of the list that does not hold and "
    ".retracted at the end (r1.csv.retracted) where the lists lie and reconcile again, or accept the line."
)
_WHICH_OF_OURS = (
    "The service returns {possible} with invoice number {invoice_number:text}, {rivals} with it announced, and its "
    "replies name no supplier and site that can be compared: which is which cannot be told.{lost}"
)
_WHICH_OF_THEIRS = (
    "{possible} with this invoice number {were} announced, and its reply names no supplier and site that can be "
    "compared: which is which cannot be told."
)
_PERHAPS_AGAIN = (
    " The service holds another ASN with this invoice number, and names no supplier and site to compare: it may be the "
    "same ASN once more."
)
_ALIKE = " Alike in several lists and counted each time: {alike_lists:text}: two deliveries, or one listed twice?"
_REPEATED = (
    " Not counted again, since a later list repeats an earlier one: {receipts_repeated:text}. If these are goods that "
    "came besides, drop them in a list of their own."
)
_PERHAPS_NOT_SO = (
    " Perhaps not so: a receipt row that names neither invoice nor SKU could not be used ({unread_any:text})."
)
# Of these the numbers do not tell whether it is the same still.
_TOLD_BY_DATES = {
    _D.LATE: {"last_on": "received_date", "due": "due_date"},
    _D.EARLY: {"first_on": "received_first", "due": "due_date"},
    _D.SHELF_LIFE: {"received": "received_date", "expires": "expiry_date"},
}


def with_reasons(
    lines: pl.LazyFrame, *, rules: Rules, verdicts: Collection[str], beside: Collection[Discrepancy]
) -> pl.LazyFrame:
    """The lines (with facts, verdict and amounts) with `reason` and `grounds`.

    verdicts: those that any line has; beside: see `causes_beside`.
    """
    words = {**_notice_words(rules), **_line_words(), **_quantity_words(rules), **_date_words(rules)}
    # An expression works out the sentences of all classes for all lines.
    classes = ((verdict_is(word), told) for word, told in words.items() if word.value in verdicts)
    told = pl.concat_str(first_that_holds(classes).fill_null(""), _also(beside), _afterwords()).str.strip_chars_start()
    return lines.with_columns(
        pl.concat_str(told, pl.col("told_in").fill_null("")).alias("reason"), _grounds(rules).alias("grounds")
    )


def _notice_words(rules: Rules) -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    still_there = sentence(" The service nevertheless returns the line, with {qty_returned}.")
    again = pl.when(pl.col("perhaps_again").fill_null(False)).then(pl.lit(_PERHAPS_AGAIN)).otherwise(_NOTHING)
    return {
        _D.NOT_SENT: sentence(
            "Not accepted by the service: {why}.{version}{still_there}",
            why=pl.col("why").str.strip_chars_end(". "),
            version=pl.concat_str(pl.lit(" "), "version").fill_null(""),
            still_there=pl.when("has_returned").then(still_there).otherwise(_NOTHING),
        ),
        _D.MISSING_IN_SERVICE: sentence(
            "The service accepted ASN {invoice_number:text} with {qty_announced} of this SKU, but does not return it."
        ),
        _D.UNEXPECTED_IN_SERVICE: sentence(_RETURNED_ON + "no file of ours announced it.{again}", again=again),
        _D.NO_ASN: sentence("{qty_received} received, but no accepted ASN fits its invoice, supplier and site."),
        _D.UNVERIFIABLE: pl.coalesce(
            first_that_holds(_doubts(rules).values()),
            sentence("{received} of {expected} received; without a delivery date nobody can say whether more is due."),
        ),
    }


def which_is_which() -> pl.Expr:
    """What is said of a notice that may be any of several; needs `possible`, `rivals`, `announced`."""
    one, possible, rivals = pl.lit("1 ASN"), pl.col("possible"), pl.col("rivals")
    several = pl.when(possible == 1).then(one).otherwise(pl.format("{} ASNs", possible))
    fewer = pl.format(" At least {} of them cannot be there.", rivals.cast(pl.Int64) - possible)
    ours = sentence(
        _WHICH_OF_OURS,
        possible=several,
        rivals=pl.when(rivals == 1).then(pl.lit("1 ASN was")).otherwise(pl.format("{} ASNs were", rivals)),
        lost=pl.when(rivals > possible).then(fewer).otherwise(_NOTHING),
    )
    were = pl.when(possible == 1).then(pl.lit("was")).otherwise(pl.lit("were"))
    theirs = sentence(_WHICH_OF_THEIRS, possible=several, were=were)
    return pl.when(pl.col("announced").is_not_null()).then(ours).otherwise(theirs)


def _mixed_prices(kind: str, begin: str) -> pl.Expr:
    theirs = pl.col(f"{kind}_mix_returned").fill_null("none")
    return sentence(_MIXED.format(begin=begin, kind=kind), theirs=theirs)


def _doubts(rules: Rules) -> dict[str, tuple[pl.Expr, pl.Expr]]:
    """Why nothing can be said of a line, the first that holds: condition and sentence by name."""
    unclear = pl.when(pl.col("announced").is_null()).then(sentence(_RETURNED_ON)).otherwise(_NOTHING)
    no_price = "A {} was announced, but the service's reply holds none for this line."
    return {
        "which is which": (which_is_unclear(), pl.concat_str(unclear, which_is_which())),
        "several ASNs": (pl.col("stray").is_not_null(), sentence("{qty_received} received, but {stray:known}")),
        "receipts": (pl.col("doubtful"), _receipts_in_doubt()),
        "cut short": (
            pl.col("returned").is_null() & (not rules.complete),
            pl.lit("Not found, but the service's answer may have been cut short."),
        ),
        "quantity": (unreadable(), pl.lit("A quantity is absent or no plain number, so nothing can be compared.")),
        "no lines": (without_lines(), pl.lit("The service returns the ASN without any SKU lines.")),
        "no SKU": (pl.col("sku") == "", pl.lit("The line names no SKU.")),
        "condition": (
            pl.col("condition_unknown") > 0,
            sentence('The receipt\'s condition "{condition_word:text}" is not a word we know.'),
        ),
        "prices": (mixed("price"), _mixed_prices("price", "The prices")),
        "retail prices": (mixed("mrp"), _mixed_prices("mrp", "The retail prices")),
        "no price": (not_shown("price"), pl.lit(no_price.format("price"))),
        "no retail price": (not_shown("mrp"), pl.lit(no_price.format("retail price"))),
    }


def _receipts_in_doubt() -> pl.Expr:
    """Why nothing can be said for certain of what was received, of a line that is `doubtful`."""
    unread = pl.coalesce(
        sentence("a receipt row of the invoice could not be used ({unread_own:known})"),
        sentence("a receipt row that names this SKU and no invoice could not be used ({unread_near:known})"),
    )
    far = "{received} of {expected} received as far as can be read, but {unread}: correct it and reconcile again."
    unopened = "{received} of {expected} received as far as lists were opened, but {unopened:known}."
    lists = all_that_hold(((is_given(name), pl.col(name)) for name in ("alike_lists", "reissued")), "; ")
    less = sentence("Corrections take back more than was received: {received} in all.")
    rest = pl.when(perhaps_corrected()).then(sentence(_TWICE, lists=lists)).otherwise(sentence(unopened))
    return pl.when(less_than_nothing()).then(less).otherwise(pl.coalesce(sentence(far, unread=unread), rest))


def _line_words() -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    where = (
        pl.when(pl.col("found_returned").is_null())
        .then(pl.lit("received"))
        .when(pl.col("found_received").is_not_null())
        .then(pl.lit("in the service and as received"))
        .otherwise(pl.lit("in the service"))
    )
    came = pl.when(pl.col("found_returned").is_not_null() & (pl.col("sku_received") == pl.col("sku_name")))
    at_service = sentence("Announced {qty_announced}; the service's ASN lacks the SKU.")
    at_dock = sentence("None of {expected} received, although other lines of the ASN came.")
    extra = sentence("The service's ASN holds {qty_returned} of this SKU, which was not announced.")
    received = sentence("{qty_received} received of a SKU that does not stand in the ASN.")
    return {
        **{
            code: sentence(
                f"{{units_{code.value}}} of {{qty_received}} received {_BAD[code]}; announced {{qty_announced}}."
            )
            for code in CONDITION_CLASSES
        },
        _D.WRONG_SKU: sentence(
            '"{sku_name:text}" is missing with {expected}, and "{found_sku:text}" stands there with the same quantity: '
            'probably swapped. What is shown as {where} is "{found_sku:text}"{came}.',
            where=where,
            came=came.then(sentence('; {qty_received} of "{sku_name:text}" were received')).otherwise(_NOTHING),
        ),
        _D.MISSING_SKU: pl.when(pl.col("has_announced") & ~pl.col("has_returned")).then(at_service).otherwise(at_dock),
        _D.EXTRA_SKU: pl.when("has_returned").then(extra).otherwise(received),
    }


def _date_words(rules: Rules) -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    words = {
        _D.LATE: "{received} received, the last on {received_date:day}; due {due_date:day}.",
        _D.EARLY: "{received} received, the first on {received_first:day}; due {due_date:day}.",
        _D.SHELF_LIFE: "{received} received on {received_date:day}, to expire on {expiry_date:day}; at least "
        f"{rules.days(_D.SHELF_LIFE)} days are agreed.",
        _D.EXPIRED_UNRECEIVED: 'Nothing of {expected} received, and the ASN is over: status "{status:text}", expiry '
        "date {expiry_date:day}.",
    }
    return {code: sentence(template) for code, template in words.items()}


def _quantity_words(rules: Rules) -> dict[Discrepancy | ComparedOutcome, pl.Expr]:
    until = (pl.col("due_date") + pl.duration(days=rules.grace_days + 1)).dt.to_string("%Y-%m-%d").fill_null("?")
    due = pl.col("due_date").dt.to_string("%Y-%m-%d").fill_null("?")
    return {
        **{code: _compared(code) for code in _MORE_OR_FEWER},
        _D.NOT_RECEIVED: sentence(
            "Nothing of {expected} received; due {due}, {days} days ago.",
            due=due,
            days=pl.col("days_overdue").fill_null(0).cast(pl.String),
        ),
        _D.PRICE_VAR: _price_words("Announced at", "Announced with a discount of", unit="INR "),
        _D.MRP_VAR: sentence(
            "Announced with a retail price of INR {mrp_announced:money}, the service has INR {mrp_returned:money}."
        ),
        ComparedOutcome.TOO_EARLY: sentence(
            "{received} of {expected} received so far; due {due}, judged from {until}.", due=due, until=until
        ),
        ComparedOutcome.WITHIN_TOLERANCE: sentence(
            "Differs by {qty_delta} units and INR {price_delta:money} a unit, which is tolerated."
        ),
    }


def _compared(code: Discrepancy) -> pl.Expr:
    """Which two numbers differ; the third is named where there is one."""
    word, [other] = _MORE_OR_FEWER[code], [each for each in _MORE_OR_FEWER if each is not code]
    receipts = sentence(f"Announced {{expected}}, received {{received}}: {{qty_delta:size}} {word}.")
    service = sentence(f"Announced {{qty_announced}}, the service holds {{qty_returned}}: {{qty_delta:size}} {word}.")
    third = (pl.col("service_delta") != 0) & by_receipts(code) & ~is_wrong(other)
    also = pl.when(third).then(sentence(" The service holds {qty_returned}.")).otherwise(_NOTHING)
    return pl.concat_str(pl.when(by_receipts(code)).then(receipts).otherwise(service), also)


def _price_words(price: str, discount: str, *, unit: str) -> pl.Expr:
    """The price and the discount of a line, as far as they differ."""
    told = [
        (
            other_price(),
            sentence(f"{price} INR {{price_announced:money}} a unit, the service has {unit}{{price_returned:money}}."),
        ),
    ]
    for name, before, after in (("discount", "INR ", ":money}"), ("percentage", "", "} %")):
        one, two = (f"{before}{{{name}_{leg}{after}" for leg in ("announced", "returned"))
        differs = pl.col("other_discount") & (pl.col(f"{name}_delta") != 0)
        told.append((differs, sentence(f"{discount} {one}, the service has {two}.")))
    return all_that_hold(told, " ")


def _also(beside: Collection[Discrepancy]) -> pl.Expr:
    """What is wrong with the line besides its class, and is counted in its INR as well."""
    words = {code: f" Also {{units_{code.value}}} {_BAD[code]}." for code in CONDITION_CLASSES} | {
        _D.MRP_VAR: " Also the retail price: announced INR {mrp_announced:money}, the service has "
        "{mrp_returned:money}.",
        _D.SHELF_LIFE: " Also received on {received_date:day}, to expire on {expiry_date:day}: shorter than agreed.",
        _D.LATE: " Also late: the last came on {received_date:day}, due {due_date:day}.",
        _D.EARLY: " Also early: the first came on {received_first:day}, due {due_date:day}.",
    }
    told = {code: sentence(template) for code, template in words.items()}
    for code, word in _MORE_OR_FEWER.items():
        received = sentence(f" Also {{receipt_delta:size}} {word} received than announced.")
        held = sentence(f" Also {{service_delta:size}} {word} in the service than announced.")
        told[code] = pl.when(by_receipts(code)).then(received).otherwise(held)
    prices = _price_words("Also announced at", "Also announced with a discount of", unit="")
    told |= {_D.PRICE_VAR: pl.format(" {}", prices), _D.UNVERIFIABLE: _also_unknown()}
    return all_that_hold((applies_beside(code), told[code]) for code in beside)


def _also_unknown() -> pl.Expr:
    no_date = pl.lit(" Also no delivery date tells whether more is due.")
    unknown = first_that_holds(
        [
            (pl.col("doubtful"), pl.format(" Also not certain: {}", _receipts_in_doubt())),
            (
                pl.col("condition_unknown") > 0,
                sentence(' Also the receipt\'s condition "{condition_word:text}" is not a word we know.'),
            ),
            (mixed("price"), _mixed_prices("price", " Also the prices")),
            (mixed("mrp"), _mixed_prices("mrp", " Also the retail prices")),
            (not_shown("price") | not_shown("mrp"), " Also the service's reply lacks a price that was announced."),
        ]
    )
    return pl.coalesce(unknown, no_date)


def _afterwords() -> pl.Expr:
    """What a reader should know besides: summed rows, rows alike, an ASN that the service takes for done."""
    quantities = verdict_is(_D.SHORT, _D.OVER, _D.NOT_RECEIVED, _D.MISSING_SKU, _D.EXTRA_SKU)
    alike, corrected = is_given("alike_lists"), sentence("Corrections are taken off: {receipts_taken_back:text}.")
    of_quantities = [
        (pl.col("lines_announced") > 1, " {lines_announced} announced rows summed."),
        (pl.col("lines_returned") > 1, " {lines_returned} lines of the service summed."),
        (pl.col("lines_received") > 1, " {lines_received} receipt rows summed."),
        ((pl.col("receipts_alike") > 0) & ~alike, " Receipt rows {receipt_rows:text} are alike: counted twice?"),
        (alike, _ALIKE),
        (is_given("receipts_repeated"), _REPEATED),
        (pl.col("open_receipt") & pl.col("unread_any").is_not_null(), _PERHAPS_NOT_SO),
        (is_completed() & ~verdict_is(_D.OVER), " The service nevertheless calls the ASN Completed."),
    ]
    begin = pl.when(verdict_is(ComparedOutcome.MATCHED)).then(pl.lit("")).otherwise(pl.lit(" "))
    of_all = [
        (is_given("receipts_taken_back"), pl.concat_str(begin, corrected)),
        (
            is_given("reissued") & ~pl.col("doubtful"),
            sentence(" Several lists name these goods, and all count: {reissued:text}; is one a correction?"),
        ),
        (
            pl.col("receipts_name").is_not_null() & (pl.col("lines_received") > 0),
            sentence(" Matched all the same: a receipt row {receipts_name:text}."),
        ),
    ]
    return all_that_hold([*((quantities & holds, sentence(words)) for holds, words in of_quantities), *of_all])


def _grounds(rules: Rules) -> pl.Expr:
    """On what a line stands whose verdict the numbers do not tell, "" for others; see `grounds_of`."""
    doubt = pl.coalesce(
        first_that_holds((holds, name) for name, (holds, _) in _doubts(rules).items()), pl.lit("no date")
    )
    unread = pl.coalesce("unread_own", "unread_near")
    unknown = grounds_of(
        cause=doubt,
        in_service=plain("qty_returned"),
        received=plain("received"),
        if_repeated=pl.when(pl.col("doubtful") & unread.is_null()).then(plain("qty_once")),
        not_read=pl.when("doubtful").then(unread),
        condition="condition_word",
        prices=pl.when(doubt == "prices").then("price_mix_returned"),
        retail_prices=pl.when(doubt == "retail prices").then("mrp_mix_returned"),
    )
    steps = [(verdict_is(code), grounds_of(**facts)) for code, facts in _TOLD_BY_DATES.items()]
    steps += [(verdict_is(_D.NOT_SENT), pl.coalesce("fault", "why")), (verdict_is(_D.UNVERIFIABLE), unknown)]
    return first_that_holds(steps).fill_null("")
