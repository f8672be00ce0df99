"""What a cell's number format shows beyond the number: leading zeros, words and signs."""

import re

_LITERAL = re.compile(r'"([^"]*)"|\\(.)')
_MOST_CHARACTERS = 255  # of a number format
_ZEROS = re.compile(r"0{2,}")


def padded_width(code: str) -> int:
    """How many digits a number format of plain zeros shows at least; 0 for other formats.

    >>> padded_width("0000000_)"), padded_width("0.00")
    (7, 0)
    """
    bare = re.sub(r'\[[^\]]*\]|_.|\*.|"', "", code[:_MOST_CHARACTERS].split(";")[0]).strip()
    return len(bare) if _ZEROS.fullmatch(bare) else 0


def adds_words(code: str) -> bool:
    """Whether a number format shows words or signs beside the digits; currencies do not count.

    >>> adds_words('"ORD-"000'), adds_words('"Rs." 0')
    (True, False)
    """
    bare = re.sub(r"\[[^\]]*\]|_.|\*.", "", code[:_MOST_CHARACTERS])
    literal = "".join(quoted or escaped for quoted, escaped in _LITERAL.findall(bare))
    letters = re.sub(r"(?i)\b(?:rs|inr)\b", "", literal)
    return bool(re.search(r"\w", letters) or re.search(r"[0#][-/][0#]", _LITERAL.sub("", bare)))
