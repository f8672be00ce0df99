"""New orders: the numbers that they get, and how they are stored (API §2.3, §4.6)."""

import json
import sqlite3

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import order_items
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.orders.stored import DUPLICATE, PENDING, hubs_for, live_order
from logistics_batch.sandbox.store import StoreChange, take_numbers

AWB_TAKEN = "AWB Number already exists"

# AWB codes run through all combinations of these 32 signs without repeating: an odd factor permutes modulo 2**35
_SIGNS = "0123456789ABCDEFGHJKLMNPQRTUVXYZ"
_FACTOR, _START, _MODULUS = 22_695_477_301, 11_903_217_733, 2**35


def awb_code(number: int) -> str:
    """The AWB number of the order with this running number: SH- and seven signs, scattered but never twice."""
    scattered = (number * _FACTOR + _START) % _MODULUS
    return "SH-" + "".join(_SIGNS[(scattered >> shift) & 31] for shift in range(30, -1, -5))


def number_order(change: StoreChange, body: Body) -> Body:
    """A checked order with its id and its AWB number, and the id of the first of its items."""
    order_id, awb_number = _free_awb(change.connection, body.get("awb_number"))
    count = len(list(order_items(body)))
    first_id = take_numbers(change.connection, "items", count) if count else 0
    return {"order_id": order_id, "awb_number": awb_number, "first_item_id": first_id, "body": body}


def store_order(change: StoreChange, numbered: Body) -> None:
    """Store a numbered order; its reference and the AWB numbers of it and its packages must be free (API §8.4)."""
    connection, body = change.connection, numbered["body"]
    order_id, awb_number, reference = numbered["order_id"], numbered["awb_number"], body["reference_number"]
    items = list(order_items(body))
    packages = [(f"{awb_number}-{place:02d}", name) for place, name in enumerate(_packages(body, items), start=1)]
    if live_order(connection, reference) is not None:
        raise Refused(DUPLICATE)
    for awb in (awb_number, *(awb for awb, _ in packages)):
        _must_be_free(connection, awb)
    fields = {name: value for name, value in body.items() if name != "item_details"}
    connection.execute(
        "INSERT INTO orders (order_id, awb_number, reference_number, status, delivery_hub, delivery_hub_sn,"
        " pickup_hub, body, created_at, modified_at) VALUES (:order_id, :awb_number, :reference, :status,"
        " :delivery_hub, :delivery_hub_sn, :pickup_hub, :body, :at, :at)",
        hubs_for(body)
        | {"order_id": order_id, "awb_number": awb_number, "reference": reference, "status": PENDING, "at": change.at}
        | {"body": json.dumps(fields, ensure_ascii=False)},
    )
    connection.executemany(
        "INSERT INTO items (order_id, item_id, position, kit, body, weight_unit) VALUES (?, ?, ?, ?, ?, 'kg')",
        [
            (order_id, str(numbered["first_item_id"] + place), place, kit, json.dumps(item, ensure_ascii=False))
            for place, (kit, item) in enumerate(items)
        ],
    )
    connection.executemany(
        "INSERT INTO packages (child_awb_number, order_id, position, package_id) VALUES (?, ?, ?, ?)",
        [(awb, order_id, place, name) for place, (awb, name) in enumerate(packages, start=1)],
    )
    change.effect("order.created", reference_number=reference, awb_number=awb_number, order_id=order_id)


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
