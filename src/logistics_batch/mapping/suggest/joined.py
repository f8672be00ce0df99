"""Columns that fill a place together: those of an address, and first and last name."""

from typing import Final

from logistics_batch.mapping.naming.names import TO, likeness, names_of_targets
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.profile import A_FEW
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

PART_OF_AN_ADDRESS: Final = 0.6
_PLACES_OF_PARTS: Final = {"state": 3, "city": 2, "area": 1, "landmark": 1}  # of an address; the rest stands first
NO_ADDRESS: Final = ("phone", "pin", "date", "e-mail", "number")


def address_of(table: SampleTable) -> tuple[str, ...]:
    """The columns that together make the address of delivery, in the order in which it is written."""
    names = names_of_targets(Operation.ORDER_CREATE)[places.ADDRESSES[0]]
    found = {
        name: reading
        for name in table.columns
        if likeness(reading := table.readings[name], names) >= PART_OF_AN_ADDRESS
        and (is_house_number(table, name) or not table.profiles[name].is_mostly(*NO_ADDRESS))
        and table.profiles[name].share("done") < A_FEW  # a State that says Shipped
    }
    if not any({"address", "street"} & each.meanings and not is_house_number(table, name)
               for name, each in found.items()):  # fmt: skip
        found = {name: each for name, each in found.items() if not is_house_number(table, name)}
    said = {"deliver", "ship"}
    if any(each.meanings & said for each in found.values()):
        found = {name: each for name, each in found.items() if each.meanings & said or not each.meanings & TO}
    alone = [name for name, each in found.items() if not each.meanings - TO]  # ship-to may be a name as well
    written = [name for name, each in found.items() if each.meanings & {"address", "street"}]
    written = written or [name for name in found if name not in alone and found[name].meanings & {"deliver", "area"}]
    written = written or [name for name in alone if found[name].digits]  # Ship to 1, Ship to 2
    if any(found[name].digits and "1" in name and "street" not in found[name].meanings for name in written):
        # then a street is lines 1 and 2 once more
        found = {name: each for name, each in found.items() if "street" not in each.meanings or each.digits}
    parts = [name for name in found if name not in alone or name in written] if written else []
    return tuple(sorted(parts, key=lambda name: max(_PLACES_OF_PARTS.get(each, 0) for each in found[name].meanings)))


def is_house_number(table: SampleTable, name: str) -> bool:
    """Whether a column holds the number of a house, which belongs to the street beside it."""
    said, profile = table.readings[name].meanings, table.profiles[name]
    is_number = profile.is_mostly("number", "code") and not profile.is_mostly("phone", "pin", "date")
    return is_number and said - TO == {"street", "number"}


def first_and_last_name(table: SampleTable) -> tuple[str, ...]:
    """The columns of whoever gets the goods, where first and last name stand apart."""
    said = {name: table.readings[name].meanings for name in table.columns}
    first, last = (
        {name: each & TO for name, each in said.items() if part in each and each <= {part, "name", *TO}}
        for part in ("first", "last")
    )
    of_the_same = [name for name in last if last[name] in first.values()]  # French and Spanish: `name` is the family's
    return (next(iter(first)), (of_the_same or [*last])[0]) if first and last else ()
