"""New orders: the numbers that they get, and how they are stored (API §2.3, §4.6)."""

import json
import sqlite3
from dataclasses import asdict, dataclass

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import order_items
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.orders.hubs import Hubs, hubs_for
from logistics_batch.sandbox.orders.stored import DUPLICATE, PENDING, item_replies, live_order
from logistics_batch.sandbox.store import StoreChange, take_numbers

AWB_TAKEN = "AWB Number already exists"

# AWB codes run through all combinations of these 32 signs without repeating: an odd factor permutes modulo 2**35
_SIGNS = "0123456789ABCDEFGHJKLMNPQRTUVXYZ"
_FACTOR, _START, _MODULUS = 22_695_477_301, 11_903_217_733, 2**35


@dataclass(frozen=True)
class NewItem:
    """An item of a new order: its id, the name of its kit (None outside kits), and what was sent."""

    item_id: str
    kit: str | None
    body: Body


@dataclass(frozen=True)
class NewOrder:
    """An order with all its numbers, before it is stored; `fields` is the body without item_details.

    packages: child AWB number and package id of each; none when the order is one package.
    """

    order_id: int
    awb_number: str
    reference_number: str
    hubs: Hubs
    fields: Body
    items: tuple[NewItem, ...]
    packages: tuple[tuple[str, str | None], ...]

    def as_json(self) -> Body:
        """All of it as an object of JSON, for `new_order_from`."""
        return asdict(self)

    def reply(self) -> Body:
        """What create answers (API §4.6)."""
        return {
            "awb_number": self.awb_number,
            "delivery_hub": self.hubs.delivery,
            "item_details": item_replies((item.item_id, item.body) for item in self.items),
            "child_awb_numbers": [awb for awb, _ in self.packages],
        }


def new_order_from(content: Body) -> NewOrder:
    """The order that `NewOrder.as_json` gave."""
    items = tuple(NewItem(**item) for item in content["items"])
    packages = tuple((awb, name) for awb, name in content["packages"])
    return NewOrder(**content | {"hubs": Hubs(**content["hubs"]), "items": items, "packages": packages})


def awb_code(number: int) -> str:
    """The AWB number of the order with this running number: SH- and seven signs, scattered but never twice."""
    scattered = (number * _FACTOR + _START) % _MODULUS
    return "SH-" + "".join(_SIGNS[(scattered >> shift) & 31] for shift in range(30, -1, -5))


def number_order(change: StoreChange, body: Body) -> NewOrder:
    """Give a checked order its id, its AWB number and those of its items and packages; hubs follow from pin codes."""
    connection = change.connection
    order_id, awb_number = _free_awb(connection, body.get("awb_number"))
    items = list(order_items(body))
    first_id = take_numbers(connection, "items", len(items)) if items else 0
    return NewOrder(
        order_id=order_id,
        awb_number=awb_number,
        reference_number=body["reference_number"],
        hubs=hubs_for(body),
        fields={name: value for name, value in body.items() if name != "item_details"},
        items=tuple(NewItem(str(first_id + place), kit, item) for place, (kit, item) in enumerate(items)),
        packages=tuple(
            (f"{awb_number}-{place:02d}", name) for place, name in enumerate(_packages(body, items), start=1)
        ),
    )


def store_order(change: StoreChange, order: NewOrder) -> None:
    """Store a numbered order; its reference and the AWB numbers of it and its packages must be free (API §8.4)."""
    connection = change.connection
    if live_order(connection, order.reference_number) is not None:
        raise Refused(DUPLICATE)
    for awb_number in (order.awb_number, *(awb for awb, _ in order.packages)):
        _must_be_free(connection, awb_number)
    connection.execute(
        "INSERT INTO orders (order_id, awb_number, reference_number, status, delivery_hub, delivery_hub_sn,"
        " pickup_hub, body, created_at, modified_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(order.order_id, order.awb_number, order.reference_number, PENDING),
            *(order.hubs.delivery, order.hubs.delivery_name, order.hubs.pickup),
            json.dumps(order.fields, ensure_ascii=False),
            *(change.at, change.at),
        ),
    )
    connection.executemany(
        "INSERT INTO items (order_id, item_id, position, kit, body, weight_unit) VALUES (?, ?, ?, ?, ?, 'kg')",
        [
            (order.order_id, item.item_id, place, item.kit, json.dumps(item.body, ensure_ascii=False))
            for place, item in enumerate(order.items)
        ],
    )
    if order.packages:
        connection.executemany(
            "INSERT INTO packages (child_awb_number, order_id, position, package_id) VALUES (?, ?, ?, ?)",
            [(awb, order.order_id, place, name) for place, (awb, name) in enumerate(order.packages, start=1)],
        )
    change.effect(
        "order.created",
        reference_number=order.reference_number,
        awb_number=order.awb_number,
        order_id=order.order_id,
    )


def _free_awb(connection: sqlite3.Connection, wanted: str | None) -> tuple[int, str]:
    """A new order id and its AWB number: the wanted one, else one that nobody has."""
    number = take_numbers(connection, "orders", 1)
    if wanted:
        _must_be_free(connection, wanted)
        return number, wanted
    while _taken(connection, awb_code(number)):
        number = take_numbers(connection, "orders", 1)  # only an AWB chosen by a client can stand in the way
    return number, awb_code(number)


def _taken(connection: sqlite3.Connection, awb_number: str) -> bool:
    """Whether an order or a package has this AWB number: no two parcels bear the same barcode."""
    found = connection.execute(
        "SELECT 1 FROM orders WHERE awb_number = :awb UNION ALL SELECT 1 FROM packages WHERE child_awb_number = :awb",
        {"awb": awb_number},
    )
    return found.fetchone() is not None


def _must_be_free(connection: sqlite3.Connection, awb_number: str) -> None:
    if _taken(connection, awb_number):
        raise Refused(AWB_TAKEN)


def _packages(body: Body, items: list[tuple[str | None, Body]]) -> list[str | None]:
    """The package id of each package, None when they are only counted; nothing for a single package."""
    ids = [body.get("package_id"), *(item.get("package_id") for _, item in items)]
    names: list[str | None] = [None] * body.get("packages_count", 0)
    names.extend(dict.fromkeys(one for one in ids if one))
    return names if len(names) > 1 else []
