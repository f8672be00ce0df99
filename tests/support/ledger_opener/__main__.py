"""A program that opens a ledger; its arguments: URL, the crash point at which it dies or "", the version of its schema.

A later version than that of today has one more column.
"""

import sys

import sqlalchemy as sa

from logistics_batch.crash_points import arm
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.itself import version


def main() -> int:
    url, point, schema = sys.argv[1:]
    if int(schema) > version.SCHEMA_VERSION:
        version.SCHEMA_VERSION = int(schema)
        version.STEPS[int(schema)] = lambda op, dialect: op.add_column(
            "run", sa.Column("more", sa.Text, server_default="")
        )
    arm(point)
    open_ledger(url, account="x").close()
    return 0
