"""The ledgers of this program's schema, written once before a release has it: `python tests/ledger/made.py`.

`version_1` was written by the first, `version_5` by 1.0. One order was accepted, one is in doubt, one waits, and one
row was invalid.
"""

import sqlite3 as plain_sqlite3
import sys
import tempfile
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from logistics_batch.ledger.failures import sqlite3

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from ledger.arrivals import arrival  # noqa: E402

from logistics_batch.ledger import Outcome, open_ledger  # noqa: E402
from logistics_batch.ledger.schema import SCHEMA_VERSION, guard_statements, metadata  # noqa: E402

AT = "2026-11-21T21:16:00+05:30"
ORDERS = {"A": '{"customer_name":"Łódź आशा"}', "B": "{}", "C": "{}"}


def fill(path: Path) -> None:
    """A ledger in a file."""
    ledger = open_ledger(f"sqlite:///{path}", account="http://service.test")
    ledger.runs.start("R1", job="nightly", kind="push", business_date="2026-11-21", now=AT)
    ledger.planning.plan_file("R1", arrival(ORDERS, invalid=(5,)))
    first, second, _ = ledger.documents.select()
    with ledger.sending("orders-nightly"):
        ledger.attempts.step(outcomes=[], claim=[first, second], run="R1", now=AT)
        accepted = Outcome(first.id, "accepted", "accepted", status=200, awb_number="SH-22T70ZX", accepted_run="R1")
        lost = Outcome(second.id, "in_doubt", "unknown", failure="ReadTimeout")
        ledger.attempts.step(outcomes=[accepted, lost], claim=[], run="R1", now=AT)
    ledger.slots.claim("nightly", "2026-11-21T21:15:00+05:30", now=AT, business_date="2026-11-21")
    ledger.runs.finish("R1", exit_code=4, summary={"accepted": 1, "in_doubt": 1}, now=AT)
    ledger.close()


def sqlite_script(path: Path) -> str:
    """What makes the same ledger in SQLite."""
    connection = plain_sqlite3.connect(path)
    script = "\n".join(connection.iterdump())  # the ledger's own driver has none
    connection.close()
    return script + "\n"


def postgresql_script(path: Path) -> str:
    """What makes the same ledger in PostgreSQL."""
    dialect = postgresql.dialect()
    statements = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)))
        statements += [str(CreateIndex(each).compile(dialect=dialect)) for each in sorted(table.indexes, key=str)]
    statements += guard_statements("postgresql")
    with create_engine(f"sqlite:///{path}", module=sqlite3).connect() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(table.select().order_by(*table.primary_key)).all()
            statements += [f'INSERT INTO "{table.name}" VALUES ({", ".join(map(_literal, row))})' for row in rows]
            if rows and [column.name for column in table.primary_key] == ["id"] and table.name != "run":
                statements.append(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {max(row.id for row in rows)})"
                )
    return ";\n".join(" ".join(each.split()) if "$$" not in each else each for each in statements) + ";\n"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        ledger_file = Path(folder) / "ledger.db"
        fill(ledger_file)
        made = HERE / f"version_{SCHEMA_VERSION}"
        made.mkdir(exist_ok=True)
        (made / "sqlite.sql").write_text(sqlite_script(ledger_file), encoding="utf-8")
        (made / "postgresql.sql").write_text(postgresql_script(ledger_file), encoding="utf-8")
