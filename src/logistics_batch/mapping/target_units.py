"""What the values of a column must be in: the unit that is declared, else the one that the service counts in."""

from typing import Final

from logistics_batch.mapping.measures import PERCENT, RUPEES, Measure, measure_of
from logistics_batch.mapping.numbers import unit_pair
from logistics_batch.mapping.spec import FieldSpec, LookupRead, UnitRead
from logistics_batch.mapping.targets import Form, form_of
from logistics_batch.model.document import Operation

WEIGHT_UNITS: Final = {Operation.ORDER_CREATE: "kg", Operation.ORDER_ADD_ITEMS: "g", Operation.LABEL_CREATE: "g"}
"""Orders are weighed in kilograms, added items and labels in grams (API §2.2, §2.3)."""

_OF_FORMS: Final = {Form.MONEY: RUPEES, Form.PERCENT: PERCENT}
_OF_ORDERS: Final = {**dict.fromkeys(("length", "breadth", "height"), "cm"), "volume": "cc"}  # API §2.3


def meant_by(place: str, field: FieldSpec, operation: Operation) -> Measure | None:
    """What the columns of a field are read as; None where nothing says. place as in `MappingSpec.everything`."""
    part, target = place.split(".", 1)
    for step in field.read or ():
        if isinstance(step, UnitRead):
            return measure_of((unit_pair(step.unit) or ("",))[0])
    if part == "keep" or any(isinstance(step, LookupRead) for step in field.read or ()):
        return None
    if wanted := unit_wanted(target, operation):
        return measure_of(wanted)
    return _OF_FORMS.get(form_of(target, operation))


def unit_wanted(target: str, operation: Operation) -> str:
    """The unit that the service takes a weight or a size in; "" where the API names none."""
    if target == "weight":
        return WEIGHT_UNITS.get(operation, "")
    return _OF_ORDERS.get(target, "") if operation is Operation.ORDER_CREATE else ""


def contradicts(said: Measure, meant: Measure) -> bool:
    """Whether values in one measure cannot be read as another: grams as kilograms, percentages as amounts.

    A price "(kg)" is one for each kilogram, and contradicts nothing.
    """
    share_of_something = PERCENT in (said, meant) and not {said.kind, meant.kind} & {"count", "date"}
    return said != meant and (said.kind == meant.kind or share_of_something)
