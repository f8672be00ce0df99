"""Any text as the page may show it: it cannot become markup, and it cannot turn the texts around it."""

import re
from html import escape

from logistics_batch.paper.safe_text import visible

_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def page_text(text: str) -> str:
    """HTML of a text; control characters, also those that turn the direction of reading, become visible escapes.

    >>> page_text("a\u202eb<i>")
    'a\\\\u202eb&lt;i&gt;'
    """
    return escape(shown_text(text))


def shown_text(text: str) -> str:
    """The same before it becomes HTML."""
    return _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", visible(text))
