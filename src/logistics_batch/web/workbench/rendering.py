"""Templates: filled in, everything escaped, with times and numbers as people expect them."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from logistics_batch.messages.words import in_rows, moment, row_list, rupees


def rendered(template: str, data: Mapping[str, Any]) -> str:
    """A page."""
    return _templates().get_template(template).render(data)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "moment": moment,
        "words": lambda text: str(text).replace("_", " "),
        "number": lambda value: f"{value:,}",
        "rupees": lambda sum_: rupees(Decimal(str(sum_ or 0))),  # nothing was summed: nothing
        "rows": row_list,
        "in_rows": in_rows,
        "quantity": quantity,
        "sum_of": lambda fates: sum(fates.values()),
        "in_address": in_address,
        "weekday": lambda day: f"{date.fromisoformat(day):%a %d}",
    }
    made.filters["coded"] = coded
    return made


def quantity(value: Decimal) -> str:
    """A number of units, without zeros that say nothing.

    >>> quantity(Decimal("1200.500")), quantity(Decimal("4.000"))
    ('1,200.5', '4')
    """
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_address(name: object) -> str:
    """A name within an address; one that ends in .json is not taken for the JSON of another."""
    text = quote(str(name), safe="")
    return text.removesuffix(".json") + "%2Ejson" if text.endswith(".json") else text


def coded(message: object) -> Markup:
    """A message with what stands between grave accents as code.

    >>> str(coded("What does `<b>` mean for `is_cod`?"))
    'What does <code>&lt;b&gt;</code> mean for <code>is_cod</code>?'
    """
    pieces = [escape(piece) for piece in str(message).split("`")]
    if len(pieces) % 2 == 0:  # one is left over
        return escape(message)
    return Markup("").join(
        Markup("<code>%s</code>") % piece if place % 2 else piece for place, piece in enumerate(pieces)
    )


def text_of(value: object) -> str:
    """Of a page's data what JSON has no form for, as text."""
    return str(value)
