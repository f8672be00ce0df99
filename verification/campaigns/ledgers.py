"""The ledger of a campaign's workspace, seen from outside of the program: in SQLite or in PostgreSQL."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass

import psycopg
from support.workspace import Workspace

from logistics_batch.ledger.failures import sqlite3


@dataclass(frozen=True)
class OutsideLedger:
    """url: of a database in PostgreSQL; "" for the workspace's own file."""

    workspace: Workspace
    url: str = ""

    def attempts(self) -> Counter[str]:
        """How many intents to send each reference, or invoice number, are written down, whatever became of them."""
        asked = "SELECT reference, count(*) FROM document JOIN attempt ON document_id = document.id GROUP BY reference"
        if self.url:
            with psycopg.connect(self.url) as connection:
                return Counter(dict(connection.execute(asked).fetchall()))
        path = self.workspace.root / "var/ledger.db"
        if not path.exists():
            return Counter()
        with closing(sqlite3.connect(path)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'attempt'").fetchone():
                return Counter()
            return Counter(dict(connection.execute(asked).fetchall()))
