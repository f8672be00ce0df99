"""Numbers as people in the warehouse write them."""

from decimal import Decimal


def rupees(amount: Decimal) -> str:
    """An amount in rupees, grouped by thousands, lakhs and crores.

    >>> rupees(Decimal("1234567.5"))
    '₹ 12,34,567.50'
    """
    whole, _, paise = f"{abs(amount):.2f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    groups = [tail]
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return f"{'-' if amount < 0 else ''}₹ {','.join(groups)}.{paise}"
