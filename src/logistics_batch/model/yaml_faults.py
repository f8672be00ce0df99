"""What a YAML parser could not read, in the words of somebody who writes a mapping and has never heard of tokens."""

_QUOTED = "Put a text that holds `#`, `:`, a comma, `%`, `@` or brackets between quotation marks."
_CLOSED = "Put a comma between two entries and `{sign}` behind the last one. " + _QUOTED
_UNCLOSED = "a comma is missing before this place, or the `{sign}` that closes what is opened in line {opened}"
_BEHIND_A_VALUE = (
    "a value ends before this place, and something stands behind it",
    "Put the whole text between quotation marks.",
)
_FAULTS = {
    "did not find expected ',' or '}'": (_UNCLOSED.replace("{sign}", "}"), _CLOSED.replace("{sign}", "}")),
    "did not find expected ',' or ']'": (_UNCLOSED.replace("{sign}", "]"), _CLOSED.replace("{sign}", "]")),
    "mapping values are not allowed in this context": (
        "a `:` stands where a value is read already, of this line or of the one above",
        "Put a text that holds `: ` between quotation marks; a line above indented ones ends with its colon.",
    ),
    "found character that cannot start any token": (
        "no value begins with `{letter}`",
        "Put the text between quotation marks.",
    ),
    "did not find expected key": (
        "no line above is indented as this one",
        "Begin it exactly below the lines that it belongs to; indent with blanks, two a level.",
    ),
    "did not find expected '-' indicator": (
        "the list above goes on with a line that does not begin with `- `",
        "Begin it with `- `, or indent it like the list's name.",
    ),
    "found unexpected ':'": ("a colon without a value", "Write a blank and a value behind the colon."),
    "could not find expected ':'": ("a name without its colon", "Write a colon, a blank and a value behind the name."),
    "found unexpected end of stream": (
        "the quotation mark of line {opened} is never closed",
        "Close it behind its text.",
    ),
    "found unknown escape character": (
        "between double quotation marks a backslash means something of its own",
        "Use single ones: '…'.",
    ),
}


def in_plain_words(problem: str, *, opened: int, before: str, letter: str) -> tuple[str, str]:
    """What is wrong and the remedy, "" where none is known.

    problem: the parser's words. opened: the line in which what it was reading begins. before, letter: what stands in
    the line before the place, and there.
    """
    if problem == "did not find expected key" and before.strip():
        return _BEHIND_A_VALUE
    words, remedy = _FAULTS.get(problem, (problem, ""))
    return words.replace("{opened}", str(opened)).replace("{letter}", letter), remedy
