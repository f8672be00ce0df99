"""The whole ledger as plain records, for auditors and other programs."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Row, Table, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.failures import told_plainly
from logistics_batch.ledger.schema import metadata

# What holds names, phone numbers and addresses of people.
_PERSONAL = {
    "document": ("body", "keep", "values"),  # what a person said is a value, too
    "row": ("values",),  # those of a skipped row quote its cell, such as a signature
    "attempt": ("reply",),
    "issue": ("value", "values"),
    "event": ("raw",),
}
_AT_ONCE = 500  # records in memory


class Export(Connected):
    """Reads every table as it is at one moment."""

    def records(self, *, personal: bool) -> Iterator[dict[str, Any]]:
        """Every record as {"table": name, column: value …}, table by table, in the order in which they were written.

        personal: also what holds data of people: payloads, what mappings keep, replies, events, values of cells.
        """
        with told_plainly("read"), self._engine.connect() as connection:
            if connection.dialect.name != "sqlite":  # there one transaction sees one moment anyway
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                streamed = connection.execution_options(yield_per=_AT_ONCE)
                for table in metadata.sorted_tables:
                    left_out = () if personal else _PERSONAL.get(table.name, ())
                    columns = [column for column in table.c if column.name not in left_out]
                    for found in streamed.execute(select(*columns).order_by(*table.primary_key)):
                        yield _record(table, found)


def _record(table: Table, found: Row[Any]) -> dict[str, Any]:
    record: dict[str, Any] = {"table": table.name}
    for name, value in found._mapping.items():
        record[name] = value.decode(errors="replace") if isinstance(value, bytes) else value
    return record
