"""The tolerances of a job as the auditor takes them; what a class cannot have is refused."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from logistics_batch.errors import UsageError
from logistics_batch.model.jobs.job import Margin, Tolerance
from logistics_batch.model.reconciliation import Discrepancy
from logistics_batch.reconciliation import BY_SKU, MEASURES, TOLERATED, Limit, ToleranceMeasure

_GIVE = {
    ToleranceMeasure.UNITS: "units or percent",
    ToleranceMeasure.AMOUNT: 'amount: "1.00", or percent',
    ToleranceMeasure.DAYS: "days",
}
_NOT = {
    "percent": "is not measured in percent",
    "units": "is not counted in units",
    "amount": "is not measured in rupees",
    "days": "is not measured in days",
}


def limits_of(tolerance: Mapping[str, Tolerance]) -> dict[Discrepancy, Limit]:
    """The tolerances by class; raises UsageError for a class that knows none, or not of that kind."""
    limits: dict[Discrepancy, Limit] = {}
    for name, given in tolerance.items():
        if name not in list(TOLERATED):
            raise UsageError(f'The class "{name}" has no tolerance.', remedy=f"There are: {', '.join(TOLERATED)}.")
        code = Discrepancy(name)
        suppliers = {who: _limit(code, margin) for who, margin in given.suppliers.items()}
        skus = {sku: _limit(code, margin) for sku, margin in given.skus.items()}
        _check_exceptions(code, suppliers=suppliers, skus=skus)
        limits[code] = replace(_limit(code, given), suppliers=suppliers, skus=skus)
    return limits


def _limit(code: Discrepancy, margin: Margin) -> Limit:
    days = margin.days if isinstance(margin, Tolerance) else None
    given = {"percent": margin.percent, "units": margin.units, "amount": margin.amount, "days": days}
    measure = MEASURES[code]
    fitting = {measure.value} if measure is ToleranceMeasure.DAYS else {measure.value, "percent"}
    for name, value in given.items():
        if value is not None and name not in fitting:
            raise UsageError(f"{code} {_NOT[name]}.", remedy=f"Give {_GIVE[measure]}.")
    percent, units, amount = (
        None if given[name] is None else Decimal(str(given[name])) for name in ("percent", "units", "amount")
    )
    return Limit(percent=percent, units=units, amount=amount, days=days)


def _check_exceptions(code: Discrepancy, *, suppliers: Mapping[str, Limit], skus: Mapping[str, Limit]) -> None:
    if suppliers and MEASURES[code] is ToleranceMeasure.DAYS:
        raise UsageError(f"{code} has one tolerance for all suppliers.", remedy="Remove suppliers from it.")
    if skus and code not in BY_SKU:
        raise UsageError(f"{code} has one tolerance for all SKUs.", remedy="Remove skus from it.")
