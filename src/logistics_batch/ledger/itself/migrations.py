"""Bringing a ledger of an earlier version up to date: one step a version, each frozen as it was once written.

A step neither reads today's schema nor today's guards: what it makes of an old ledger never changes again. All steps
run in one transaction, so that a ledger has one version or another, never something between.
"""

from collections.abc import Callable

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

Step = Callable[[Operations, str], None]

STEPS: dict[int, Step] = {}
"""How a ledger gets to each version from the one before, by operations and the name of the dialect."""


def migrate(connection: Connection, *, found: int, wanted: int) -> None:
    """Take the schema from one version to a later one, within the caller's transaction; rows stay as they are."""
    operations = Operations(MigrationContext.configure(connection))
    for version in range(found + 1, wanted + 1):
        STEPS[version](operations, connection.dialect.name)
