"""Whether a name is another one than those known, or may be another spelling of one, a part of one or a code for it."""

from collections.abc import Iterable

_BEGINNING = 3
_NAME_LETTERS = 5


def is_another(name: str, known: Iterable[str]) -> bool:
    """Whether a name (a `spelling`) stands beside all of these for certain; False where that cannot be told.

    Names that begin alike, or of which one holds the other, may be one name in two spellings. Two codes of one form
    ("b1" and "b2", "site01" and "site02") are two; a code and a name, or names in two scripts, cannot be compared.
    """
    return are_others([name], known) is True


def are_others(ours: Iterable[str], theirs: Iterable[str]) -> bool | None:
    """Whether two parties, each known by its names, are two (True) or one (False) for certain; None: it is not told."""
    known = [name for name in theirs if name]
    verdicts = {one != name and _differ(one, name) for one in ours if one for name in known} - {None}
    return verdicts.pop() if len(verdicts) == 1 else None


def _differ(one: str, two: str) -> bool | None:
    """True for two names, False for one in two spellings, None where they cannot be compared."""
    if _form(one) == _form(two) and any(letter.isdigit() for letter in one):
        return True
    if _is_code(one) or _is_code(two) or one.isascii() != two.isascii():
        return None
    one, two = _bare(one), _bare(two)
    shorter, longer = sorted((one, two), key=len)
    begin_alike = one[:_BEGINNING] == two[:_BEGINNING]
    return not (begin_alike or (len(shorter) >= _BEGINNING and shorter in longer))


def _form(name: str) -> str:
    return "".join("9" if letter.isdigit() else "a" for letter in name)


def _is_code(name: str) -> bool:
    letters = sum(letter.isalpha() for letter in name)
    return letters < len(name) and letters < _NAME_LETTERS


def _bare(name: str) -> str:
    """Without "Messrs" or "M/s" before it."""
    for title in ("messrs", "ms"):
        if len(name) > len(title) + _BEGINNING and name.startswith(title):
            return name.removeprefix(title)
    return name
