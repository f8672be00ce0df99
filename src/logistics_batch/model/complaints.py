"""What pydantic finds wrong with a value, in words for people who write settings, mappings and jobs."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$"
PLAIN_DECIMAL = r"^\d+(\.\d+)?$"
ONE_WORD = r"^\S+$"
AMOUNT = r"^\d+(\.\d{1,2})?$"
FROM_THE_ROOT = r"^/"
FILE_STEM = r"^[\w.-]*$"
PRINT_QUEUE = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$"

_OF_PATTERN = {
    TIME_OF_DAY: 'a time of day, as "18:00"',
    PLAIN_DECIMAL: 'a number without a sign, as "0.5"',
    ONE_WORD: "one word without blanks",
    AMOUNT: 'an amount without a sign and with at most two decimals, as "0.50"',
    FROM_THE_ROOT: 'a path that begins with "/"',
    FILE_STEM: 'letters, digits, ".", "_" and "-" alone',
    PRINT_QUEUE: "the name of a print queue, as `lpstat -e` lists them",
}
_OF_FAMILY = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "string": "a text (in quotation marks if it is a number)",
    "list": 'a list, as ["a", "b"]',
    "tuple": 'a list, as ["a", "b"]',
    "set": 'a list, as ["a", "b"]',
    "dict": "keys with values, as {key: value}",
    "model": "keys with values, as {key: value}",
    "date": "a date, as 2026-11-03",
    "datetime": "a date and time, as 2026-11-03T21:15:00+05:30",
    "url": 'a web address, as "https://api.example.com"',
}
_OF_LIMIT: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than": lambda limit: f"more than {limit['gt']:g}",
    "greater_than_equal": lambda limit: f"{limit['ge']:g} or more",
    "less_than": lambda limit: f"less than {limit['lt']:g}",
    "less_than_equal": lambda limit: f"at most {limit['le']:g}",
    "too_short": lambda limit: f"at least {_counted(limit['min_length'], 'value')}",
    "too_long": lambda limit: f"at most {_counted(limit['max_length'], 'value')}",
    "string_too_short": lambda limit: f"at least {_counted(limit['min_length'], 'character')}",
    "string_too_long": lambda limit: f"at most {_counted(limit['max_length'], 'character')}",
    "string_pattern_mismatch": lambda limit: _OF_PATTERN.get(str(limit["pattern"]), "it in another form"),
    "literal_error": lambda limit: " or ".join(f"`{word}`" for word in allowed_words(limit)),
    "enum": lambda limit: " or ".join(f"`{word}`" for word in allowed_words(limit)),
}


def wanted(kind: str, context: Mapping[str, Any]) -> str:
    """What would fit instead, to follow the word "Write"; "another value" where there is no better word.

    kind, context: `type` and `ctx` of an error of pydantic.

    >>> wanted("int_parsing", {})
    'a whole number'
    >>> wanted("less_than_equal", {"le": 16})
    'at most 16'
    """
    if kind in _OF_LIMIT:
        return _OF_LIMIT[kind](context)
    return _OF_FAMILY.get(kind.partition("_")[0], "another value")


def remedy_of(wishes: Iterable[str]) -> str:
    """One sentence for all that would fit.

    >>> remedy_of(["`auto`", "a whole number"])
    'Write `auto` or a whole number.'
    """
    return f"Write {' or '.join(dict.fromkeys(wishes))}."


def allowed_words(context: Mapping[str, Any]) -> list[str]:
    """The words that may stand at a place, from the context of an error about a choice."""
    return re.findall(r"'([^']*)'", str(context.get("expected") or context.get("expected_tags") or ""))


def own_words(message: str) -> str:
    """The message of a validator of ours without what pydantic puts before it.

    >>> own_words("Value error, A name holds no blanks.")
    'A name holds no blanks.'
    """
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _counted(count: int, thing: str) -> str:
    return f"{'one' if count == 1 else count} {thing}{'' if count == 1 else 's'}"
