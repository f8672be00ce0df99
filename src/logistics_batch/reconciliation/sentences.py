"""Sentences about lines: templates whose places are filled with the values of columns."""

from collections.abc import Callable, Iterable
from string import Formatter

import polars as pl

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy


def plain(column: str, none: str = "none") -> pl.Expr:
    """A decimal as people write it, without trailing zeros; none: what stands where there is none."""
    text = pl.col(column).cast(pl.String)
    return (
        pl.when(text.str.contains(".", literal=True))
        .then(text.str.strip_chars_end("0").str.strip_chars_end("."))
        .otherwise(text)
        .fill_null(none)
    )


def money(column: str) -> pl.Expr:
    """INR with two decimals, or as many more as tell something; "none" where there is none."""
    text = plain(column)
    return text.str.replace(r"^(-?\d+)$", "${1}.00").str.replace(r"^(-?\d+\.\d)$", "${1}0")


_FORMS: dict[str, Callable[[str], pl.Expr]] = {
    "": plain,
    "money": money,
    "size": lambda column: plain(column).str.strip_prefix("-"),
    "text": lambda column: pl.col(column).cast(pl.String).fill_null(""),
    "day": lambda column: pl.col(column).dt.to_string("%Y-%m-%d").fill_null("not known"),
    "known": lambda column: pl.col(column).cast(pl.String),
}


def sentence(template: str, **parts: pl.Expr) -> pl.Expr:
    """The text of a template for each line, such as "{received} of {expected} received; due {due_date:day}."

    A place names a column, or one of `parts`. Its form is a number without trailing zeros, unless it says `money`,
    `size` (a number without its sign), `text`, `day`, or `known`: then there is no sentence where the column has no
    value.
    """
    pieces = []
    for words, name, form, _ in Formatter().parse(template):
        if words:
            pieces.append(pl.lit(words))
        if name is not None:
            pieces.append(parts[name] if name in parts else _FORMS[form or ""](name))
    return pl.concat_str(pieces)


def is_given(column: str) -> pl.Expr:
    """Whether a text column says something."""
    return pl.col(column).fill_null("") != ""


def first_that_holds(steps: Iterable[tuple[pl.Expr, pl.Expr | str]]) -> pl.Expr:
    """What belongs to the first condition that holds, null where none does; a text stands for itself."""
    return pl.coalesce(
        *(pl.when(holds).then(pl.lit(said) if isinstance(said, str) else said) for holds, said in steps),
        pl.lit(None, pl.String),
    )


def all_that_hold(parts: Iterable[tuple[pl.Expr, pl.Expr | str]], separator: str = "") -> pl.Expr:
    """What belongs to each condition that holds, one behind the other; "" where none does."""
    told = [pl.when(holds).then(pl.lit(said) if isinstance(said, str) else said) for holds, said in parts]
    return pl.concat_str(*told, separator=separator, ignore_nulls=True) if told else pl.lit("")


def verdict_is(*words: Discrepancy | ComparedOutcome) -> pl.Expr:
    """Whether the verdict of a line is one of these."""
    return pl.col("verdict").is_in([word.value for word in words])


def grounds_of(**facts: str | pl.Expr) -> pl.Expr:
    """`grounds`: on what an exception stands where its numbers do not tell, as "received 2026-11-03, due 2026-11-01".

    Facts by name, as far as there are any: codes, dates, names and counts, never words of a reason, so that a reason
    may be worded anew and an acceptance still holds. A text names a column.
    """
    columns = ((name, pl.col(fact) if isinstance(fact, str) else fact) for name, fact in facts.items())
    texts = ((name.replace("_", " "), fact.cast(pl.String)) for name, fact in columns)
    return all_that_hold(((text != "", pl.format(f"{name} {{}}", text)) for name, text in texts), ", ").alias("grounds")
