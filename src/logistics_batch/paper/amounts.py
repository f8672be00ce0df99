"""Amounts and quantities as people in India write them."""

from decimal import Decimal

_SHORT = ((Decimal(10**12), "L Cr"), (Decimal(10_000_000), "Cr"), (Decimal(100_000), "L"), (Decimal(1_000), "k"))
_LARGEST = Decimal(10**16)


def short_rupees(amount: Decimal) -> str:
    """An amount for charts, in crore, lakh or thousands; one that nobody has, by its powers of ten.

    >>> short_rupees(Decimal("1234567.5")), short_rupees(Decimal("99")), short_rupees(Decimal(10) ** 20)
    ('₹ 12.3 L', '₹ 99', '₹ 1.0E+20')
    """
    if amount >= _LARGEST:
        return f"₹ {amount:.1E}"
    for unit, name in _SHORT:
        if amount >= unit:
            return f"₹ {amount / unit:,.1f} {name}"
    return f"₹ {amount:,.0f}"


def percent_words(value: float | None, none: str) -> str:
    """A share, or why there is none.

    >>> percent_words(98.25, "nothing to judge"), percent_words(None, "nothing to judge")
    ('98.2 %', 'nothing to judge')
    """
    return none if value is None else f"{value:.1f} %"


def quantity_words(value: object) -> str:
    """A quantity, "" where it is not known.

    >>> quantity_words(Decimal("1200.500")), quantity_words(None)
    ('1,200.5', '')
    """
    if value is None or value == "":
        return ""
    number = Decimal(str(value))
    return f"{number:,.0f}" if number == number.to_integral_value() else f"{number.normalize():,f}"


def difference_words(value: object) -> str:
    """A difference with its sign.

    >>> difference_words(Decimal(3)), difference_words(Decimal(-3))
    ('+3', '-3')
    """
    text = quantity_words(value)
    return f"+{text}" if text and Decimal(str(value)) > 0 else text


def decimal_of(value: object) -> Decimal:
    """A sum as a decimal, 0 where nothing was summed."""
    return Decimal(str(value or 0))
