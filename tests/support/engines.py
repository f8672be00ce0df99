"""An engine of a test's own beside the ledger's, over the same driver."""

from sqlalchemy import Engine, create_engine

from logistics_batch.ledger.failures import sqlite3


def engine_of(url: str) -> Engine:
    """An engine for a ledger's address, with nothing set."""
    return create_engine(url, module=sqlite3) if url.startswith("sqlite") else create_engine(url)
