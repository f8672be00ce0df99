"""Advance shipping notices in the database: create, update, search (API §4.1-4.3)."""

import json
import sqlite3
from datetime import datetime
from typing import Any

from logistics_batch.sandbox.clock import ZONE
from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.bodies import AsnFields, SkuLine
from logistics_batch.sandbox.contract.forms import Refused, check
from logistics_batch.sandbox.store import StoreChange, take_numbers
from logistics_batch.sandbox.switches import Switches

_DATES = {  # where the dates of the ranges stand
    "created_date": "created_at",
    "modified_date": "modified_at",
    "delivery_date": "json_extract(body, '$.delivery_date')",
}
FILTERS = ("description", "site", "site_name", "status", "invoice_number", "supplier", "supplier_name")
NO_FILTER = "At least one of created date range, modified date range, delivery date range or invoice_number is required"
NOT_FOUND = "Advance shipping notice not found"
DUPLICATE = "Advance shipping notice already exists"
NO_UPDATE = "Advance shipping notice cannot be updated"
AMBIGUOUS = "More than one advance shipping notice matches supplier, site and invoice_number"
_MOST_LINES = 1_000_000  # of an ASN: more do not fit into a request
_HEADER = tuple(name for name in AsnFields.model_fields if name != "sku_lines")


def take_asn_id(change: StoreChange) -> int:
    """The id of an ASN to come."""
    return take_numbers(change.connection, "asns", 1)


def create_asn(change: StoreChange, asn_id: int, body: Body, switches: Switches) -> Body:
    """Store a checked ASN and return its record; the document names no uniqueness, so there is none by default."""
    if switches.asn_duplicate == "refuse" and _alike(change.connection, body, switches):
        raise Refused(DUPLICATE)
    stored = {"status": "New"} | body
    change.connection.execute(
        "INSERT INTO asns (asn_id, invoice_number, body, created_at, modified_at) VALUES (?, ?, ?, ?, ?)",
        (asn_id, body["invoice_number"], json.dumps(stored, ensure_ascii=False), change.at, change.at),
    )
    _note(change, "asn.created", asn_id, stored)
    return _record(_row(change.connection, asn_id))


def update_asn(change: StoreChange, body: Body, switches: Switches) -> Body:
    """Replace the one ASN that this body means and return its record; 400 when it means none, or more than one."""
    if switches.asn_identity == "refuse":
        raise Refused(NO_UPDATE)
    found = _alike(change.connection, body, switches)
    if len(found) != 1:
        raise Refused(AMBIGUOUS if found else NOT_FOUND)
    asn_id, before = found[0]["asn_id"], json.loads(found[0]["body"])
    kept = {
        name: before[name] for name in ("supplier", "supplier_name", "site", "site_name", "status") if name in before
    }
    _replace(change, asn_id, kept | body)
    _note(change, "asn.updated", asn_id, body)
    return _record(_row(change.connection, asn_id))


def amend_asn(change: StoreChange, asn_id: int, changes: Body) -> None:
    """Set status or dates of an ASN by hand, as the warehouse's own people would."""
    row = _row(change.connection, asn_id)
    if row is None:
        raise Refused(NOT_FOUND, status=404)
    given = dict(changes)
    times = {name: given.pop(name) for name in ("created_date", "modified_date") if name in given}
    check(AsnFields, given)
    body = json.loads(row["body"]) | given
    _replace(change, asn_id, body)
    for name, value in times.items():
        column = {"created_date": "created_at", "modified_date": "modified_at"}[name]
        change.connection.execute(f"UPDATE asns SET {column} = ? WHERE asn_id = ?", (_moment(value), asn_id))  # noqa: S608
    _note(change, "asn.amended", asn_id, body)


def delete_asn(change: StoreChange, asn_id: int) -> None:
    """Delete an ASN by hand."""
    row = _row(change.connection, asn_id)
    if row is None:
        raise Refused(NOT_FOUND, status=404)
    change.connection.execute("DELETE FROM asns WHERE asn_id = ?", (asn_id,))
    change.effect("asn.deleted", asn_id=asn_id, invoice_number=row["invoice_number"])


def find_asns(connection: sqlite3.Connection, query: dict[str, str]) -> list[sqlite3.Row]:
    """ASNs that meet every filter, for `records_of` (API §4.1, §8).

    A range counts only with both of its ends, which are inclusive; ids, status and invoice number match whole, names
    and description in part.
    """
    ends = {name: (query.get(f"{name}_start", ""), query.get(f"{name}_end", "")) for name in _DATES}
    ranges = {name: both for name, both in ends.items() if all(both)}
    if not ranges and not query.get("invoice_number"):
        raise Refused(NO_FILTER)
    conditions, values = ["1"], list[str]()
    for name, both in ranges.items():
        conditions.append(f"substr({_DATES[name]}, 1, 10) BETWEEN ? AND ?")
        values.extend(both)
    for name in filter(query.get, FILTERS):
        stored = "invoice_number" if name == "invoice_number" else f"json_extract(body, '$.{name}')"
        partial = name == "description" or name.endswith("_name")
        conditions.append(f"instr(casefold({stored}), casefold(?))" if partial else f"{stored} = ?")
        values.append(query[name])
    found = f"SELECT * FROM asns WHERE {' AND '.join(conditions)} ORDER BY asn_id"  # noqa: S608
    return connection.execute(found, values).fetchall()


def stored_asns(connection: sqlite3.Connection) -> list[sqlite3.Row]:
    """Every ASN as it is stored, for `records_of`."""
    return connection.execute("SELECT * FROM asns ORDER BY asn_id").fetchall()


def records_of(rows: list[sqlite3.Row]) -> list[Body]:
    """ASNs as the service shows them."""
    return [_record(row) for row in rows]


def _row(connection: sqlite3.Connection, asn_id: int) -> Any:
    return connection.execute("SELECT * FROM asns WHERE asn_id = ?", (asn_id,)).fetchone()


def _alike(connection: sqlite3.Connection, body: Body, switches: Switches) -> list[sqlite3.Row]:
    """The ASNs of the same identity (switch ``asn_identity``)."""
    rows = connection.execute("SELECT * FROM asns WHERE invoice_number = ?", (body["invoice_number"],)).fetchall()
    if switches.asn_identity == "invoice":
        return rows
    return [row for row in rows if _same_parties(json.loads(row["body"]), body)]


def _replace(change: StoreChange, asn_id: int, body: Body) -> None:
    change.connection.execute(
        "UPDATE asns SET body = ?, modified_at = ? WHERE asn_id = ?",
        (json.dumps(body, ensure_ascii=False), change.at, asn_id),
    )


def _same_parties(stored: Body, given: Body) -> bool:
    """Supplier and site are alike: by id where both have one, else by name."""
    return all(
        stored[name] == given[name]
        if name in stored and name in given
        else (f"{name}_name" in stored and stored[f"{name}_name"] == given.get(f"{name}_name"))
        for name in ("supplier", "site")
    )


def _record(row: sqlite3.Row) -> Body:
    body = json.loads(row["body"])
    lines = [
        {"id": row["asn_id"] * _MOST_LINES + number} | {name: line.get(name) for name in SkuLine.model_fields}
        for number, line in enumerate(body["sku_lines"], start=1)
    ]
    return {
        "id": row["asn_id"],
        "created_date": row["created_at"],
        "modified_date": row["modified_at"],
        "created_by": 1,
        "modified_by": None,
        "customer": 1,
        **{name: body.get(name) for name in _HEADER},
        "sku_lines": lines,
    }


def _moment(value: str) -> str:
    """The time as the service writes it; without an offset it is in the service's zone."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise Refused("Malformed value: an ISO 8601 date-time is expected") from None
    in_zone = moment.astimezone(ZONE) if moment.tzinfo else moment.replace(tzinfo=ZONE)
    return in_zone.isoformat(timespec="microseconds")


def _note(change: StoreChange, effect: str, asn_id: int, body: Body) -> None:
    parties = {name: body[name] for name in ("supplier", "supplier_name", "site", "site_name") if name in body}
    change.effect(effect, asn_id=asn_id, invoice_number=body["invoice_number"], **parties)
