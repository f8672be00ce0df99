"""What the texts of the legs mean: numbers, dates, conditions, and the forms of ids and names that comparisons use.

Nothing is guessed: a quantity or price that is no plain decimal number becomes null, and the line cannot be verified.
"""

import re
import unicodedata

import polars as pl

from logistics_batch.model.reconciliation import PRICE, QUANTITY, Discrepancy
from logistics_batch.model.spelling import folded

# No thousands separators and no exponents: "1,500" may mean one and a half.
_QUANTITY_TEXT = r"^[+-]?\d{1,15}(\.\d{1,3}0*)?$"
_SURELY_WHOLE = 15  # digits
_PRICE_TEXT = r"^[+-]?\d{1,13}(\.\d{1,4}0*)?$"

# What warehouses write, and the codes of a receiving advice (X12 861). Other words are never guessed.
_WORDS = {
    "good": ("", "good", "ok", "okay", "fresh", "sellable", "saleable", "accepted", "fine", "new", "pass", "passed"),
    Discrepancy.DAMAGED.value: ("damaged", "damage", "broken", "leaking", "leaked", "torn", "wet", "crushed", "01"),
    Discrepancy.QUALITY.value: ("quality", "qc fail", "qc failed", "quality fail", "defective", "expired", "04"),
    Discrepancy.REJECTED.value: ("rejected", "reject", "refused", "returned", "08"),
    Discrepancy.HOLD.value: ("hold", "on hold", "qc hold", "quality hold", "quarantine", "blocked", "09"),
    Discrepancy.NONSTD_PACK.value: (
        "non standard pack",
        "nonstandard pack",
        "non standard packing",
        "bad packing",
        "06",
    ),
}
CONDITION_CODES = {word: code for code, words in _WORDS.items() for word in words}
CONDITION_CLASSES = tuple(Discrepancy[name] for name in ("REJECTED", "DAMAGED", "QUALITY", "HOLD", "NONSTD_PACK"))


def identifier(column: str) -> pl.Expr:
    """An id for comparing: outer blanks, case, kinds of dashes and unseen marks do not count, leading zeros do.

    Never null. A spreadsheet turns a hyphen into a dash, a phone sends letters in another Unicode form.
    """
    plain = pl.col(column).fill_null("").str.strip_chars().str.to_lowercase()
    return plain.map_batches(_as_read, return_dtype=pl.String, is_elementwise=True)


def _as_read(texts: pl.Series) -> pl.Series:
    odd = texts.filter(texts.str.len_bytes() != texts.str.len_chars()).unique()
    return texts.replace({text: folded(text) for text in odd}) if odd.len() else texts


def spelling(column: str) -> pl.Expr:
    """A name for comparing: case, blanks and punctuation do not count; never null."""
    return pl.col(column).fill_null("").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")


def spelled(text: str) -> str:
    """The same of a text that is not in a frame."""
    return "".join(letter for letter in text.lower() if unicodedata.category(letter)[0] in "LN")


def order_number(column: str) -> pl.Expr:
    """A purchase order's number for comparing: as a spelling, and "PO 4711" is 4711; never null."""
    return spelling(column).str.replace(r"^po(\d)", "$1")


def order_number_of(text: str) -> str:
    """The same of a text that is not in a frame."""
    return re.sub(r"^po(?=\d)", "", spelled(text))


def pattern_of(text: str) -> str:
    """A regular expression for identifiers like this text, in which `*` stands for any letters."""
    return f"^{'.*'.join(re.escape(part) for part in text.strip().lower().split('*'))}$"


def quantity(column: str = "qty") -> pl.Expr:
    """The exact quantity (up to three decimals), null where the text is no plain number."""
    return _exact(column, pattern=_QUANTITY_TEXT, scale=QUANTITY)


def with_units(lines: pl.DataFrame) -> pl.DataFrame:
    """The lines with `units`, their exact quantity; whole numbers, the usual case, are read as such."""
    whole = pl.when(pl.col("qty").str.len_bytes() <= _SURELY_WHOLE).then(pl.col("qty").cast(pl.Int64, strict=False))
    read = lines.with_columns(whole.cast(QUANTITY).alias("units"))
    if read.select((pl.col("units").is_null() & pl.col("qty").is_not_null()).any()).item():
        return read.with_columns(pl.when(pl.col("units").is_null()).then(quantity()).otherwise("units").alias("units"))
    return read


def price(column: str = "price") -> pl.Expr:
    """The exact price in INR (up to four decimals), null where the text is no plain number."""
    return _exact(column, pattern=_PRICE_TEXT, scale=PRICE)


def _exact(column: str, *, pattern: str, scale: pl.Decimal) -> pl.Expr:
    text = pl.col(column).str.strip_chars()
    return pl.when(text.str.contains(pattern)).then(text).cast(scale, strict=False)


def day(column: str) -> pl.Expr:
    """The date in a text that begins with YYYY-MM-DD, else null."""
    return pl.col(column).str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)


def header_keys(notices: pl.DataFrame) -> pl.DataFrame:
    """The notices with what they are matched by.

    Adds `invoice`, `parties` and `places` (sorted lists of the supplier's and the site's normalised id and name, as far
    as known; ids and names are told apart only by their content, since a reply may hold either in either field), the
    same lists as text (`party`, `place`), and `batch_key`.
    """
    keyed = notices.with_columns(identifier("invoice_number").alias("invoice"), identifier("batch").alias("batch_key"))
    for names, each, together in (
        (["supplier", "supplier_name"], "parties", "party"),
        (["site", "site_name"], "places", "place"),
    ):
        # Worked out once for each of them, of which there are few.
        known = notices.select(names).unique().with_columns(_known(*names).alias(each))
        known = known.with_columns(pl.col(each).list.join("|").alias(together))
        keyed = keyed.join(known, on=names, how="left", nulls_equal=True, maintain_order="left")
    return keyed


def _known(identity: str, name: str) -> pl.Expr:
    both = pl.concat_list(spelling(identity), spelling(name))
    return both.list.eval(pl.element().filter(pl.element() != "").unique().sort())


def condition_code() -> pl.Expr:
    """`good`, the class of a condition, or null for a word that is not known."""
    plain = pl.col("condition").fill_null("").str.to_lowercase().str.replace_all(r"[\s_\-./]+", " ").str.strip_chars()
    return plain.replace_strict(CONDITION_CODES, default=None, return_dtype=pl.String)
