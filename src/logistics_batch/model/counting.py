"""Numbers with their nouns."""


def counted(number: int, noun: str) -> str:
    """A number with its noun, and with thousands apart.

    >>> counted(1, "label"), counted(2000, "label")
    ('1 label', '2,000 labels')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
