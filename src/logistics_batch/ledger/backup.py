"""A copy of the ledger of one moment, while it is used."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.ledger.connection import Connected, sqlite_path


class Backup(Connected):
    """Only of a SQLite ledger; a database server has tools of its own."""

    def back_up(self, file: Path) -> int:
        """Copy the ledger to a new file, whole or not at all, and check the copy; gives its size in bytes.

        Raises UsageError if the file is there already or the ledger is no SQLite file, LedgerRefused if it cannot be
        copied or the copy is not sound.
        """
        path = sqlite_path(self.url)
        if path is None:
            raise UsageError("This ledger is no SQLite file.", remedy="Back it up with `pg_dump`.")
        if file.exists():
            raise UsageError(f"{file} is there already.", remedy="Name a new file.")
        beside = file.with_name(f"{file.name}.part")
        try:
            beside.unlink(missing_ok=True)
            beside.touch(mode=0o600)
            with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(beside)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
                found = target.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            with beside.open("rb+") as handle:
                os.fsync(handle.fileno())
            beside.replace(file)
        except (sqlite3.Error, OSError) as error:
            beside.unlink(missing_ok=True)
            raise LedgerRefused(
                f"The ledger could not be copied to {file}: {error}.",
                remedy="Check the folder and its free space; if the ledger itself is damaged, see `ledger verify`.",
            ) from error
        return file.stat().st_size
