"""Cash on delivery in a mapping: a flag and an amount of which one rules out the other, so that no row can be sent."""

from collections.abc import Iterator
from typing import Final

from logistics_batch.mapping.lint_fields import Complaint
from logistics_batch.mapping.spec import FieldSpec, MappingSpec

_AMOUNTS: Final = ("cash_on_delivery", "amount_to_collect")  # the latter of a label


def payment_complaints(spec: MappingSpec) -> Iterator[Complaint]:
    """A flag that is always true without an amount, and an amount where no row can be cash on delivery."""
    flag = spec.fields.get("is_cod")
    amount = next((name for name in _AMOUNTS if name in spec.fields), None)
    collects = amount is not None and not _is_nought(spec.fields[amount])
    if flag is not None and _says(flag, "true") and not collects:
        message = "`is_cod` is true, and no amount to collect is mapped: no such order could be sent."
        yield Complaint(("fields", "is_cod"), message, "Map the amount, or correct `is_cod`.")
    elif amount is not None and collects and _is_never_collected(spec, flag):
        missing = "is missing" if flag is None else "is false for all rows"
        message = f"`{amount}` is mapped, and `is_cod` {missing}: no row with an amount could be sent."
        remedy = "Map `is_cod`, as `is_cod: {from: Payment}`."
        yield Complaint(("fields", amount), message, f"{remedy} Or keep the amount under `keep`.")


def _is_never_collected(spec: MappingSpec, flag: FieldSpec | None) -> bool:
    """Whether no row is cash on delivery; a change of an order need not repeat the order's flag."""
    return not spec.operation.changes_order if flag is None else _says(flag, "false") and flag.when is None


def _says(flag: FieldSpec, answer: str) -> bool:
    return flag.constant is not None and flag.constant.strip().lower() == answer


def _is_nought(amount: FieldSpec) -> bool:
    """Whether the mapping itself says that nothing is collected; its text has been found to be an amount."""
    return amount.constant is not None and amount.constant.strip().strip("0.") == ""
