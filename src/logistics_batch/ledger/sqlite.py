"""SQLite's driver: the one that brings a SQLite of its own, where it is installed; else the one of this Python.

A SQLite before 3.51.3 has no safe write-ahead log (`itself/opening.py`), and who reads then waits for each commit.
A process opens a ledger with this driver alone: of two SQLites in one process, each takes away the other's locks.
"""

try:
    import pysqlite3 as sqlite3
except ImportError:  # there is no wheel for this machine
    import sqlite3

__all__ = ["sqlite3"]
