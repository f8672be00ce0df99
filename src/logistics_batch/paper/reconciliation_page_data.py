"""What the page's script works with: the listed exceptions by column, each word once, in a form that ends no script."""

import json
from typing import Any

import polars as pl

from logistics_batch.model.reconciliation import MEANINGS, RESOLVED_SCHEMA
from logistics_batch.paper.reconciliation_account import Account
from logistics_batch.paper.reconciliation_data import plain
from logistics_batch.paper.reconciliation_page_text import shown_text

LARGEST_LIST = 100_000
"""Lines that the page lists, the dearest first: a browser can work with so many."""

_ENDS_A_SCRIPT = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def page_data(account: Account) -> str:
    """JSON that may stand inside a script element."""
    listed = account.listed.head(LARGEST_LIST)
    told = {
        "rows": listed.height,
        "columns": {name: _column(listed, name) for name in RESOLVED_SCHEMA},
        "meanings": {code.value: {"says": meaning.says, "do": meaning.do} for code, meaning in MEANINGS.items()},
        "file": f"reconciliation_{account.business_date}_filtered.csv",
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).translate(_ENDS_A_SCRIPT)


def _column(listed: pl.DataFrame, name: str) -> dict[str, Any]:
    """The words of a column and, for each row, the place of its word among them."""
    texts = listed.select(plain(name, listed.schema[name]).fill_null(""))[name]
    words = texts.unique(maintain_order=True)
    order = pl.DataFrame({name: words, "place": range(words.len())}, schema={name: pl.String, "place": pl.UInt32})
    places = listed.select(texts).join(order, on=name, how="left", maintain_order="left")["place"]
    return {"words": [shown_text(word) for word in words], "at": places.to_list()}
