"""The page on upgrading as a drill: the program of today is the earlier one, another with one more column the newer."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from support.commands import Finished, forker_of_tests
from support.sandbox_process import RunningSandbox, created, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch.ledger.schema import SCHEMA_VERSION


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    return Workspace(tmp_path, url=sandbox.url)


@pytest.fixture
def push(run: Run, workspace: Workspace) -> Callable[[str], Finished]:
    """Sends one order; its name is its reference."""
    return lambda name: run("push", workspace.drop(f"{name}.csv", order_lines([name])), "--mapping", "orders")


def upgrade(workspace: Workspace) -> None:
    """The newer program opens the ledger."""
    url = f"sqlite:///{workspace.root}/var/ledger.db"
    arguments = (url, "", str(SCHEMA_VERSION + 1))
    done = forker_of_tests().fork("ledger_opener", *arguments, folder=workspace.root, environment=dict(os.environ))
    assert done.end().code == 0


def go_back(workspace: Workspace) -> None:
    """As the page says: the copy in the place of the ledger, and nothing of the newer one beside it."""
    var = workspace.root / "var"
    shutil.copy(var / f"ledger.db.version-{SCHEMA_VERSION}", var / "ledger.db")
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (var / name).unlink(missing_ok=True)


def test_the_earlier_program_refuses_the_newer_ledger_and_sends_nothing(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, push: Callable[[str], Finished]
) -> None:
    assert push("A").code == 0
    upgrade(workspace)
    for done in (push("B"), run("runs"), run("ledger", "verify"), run("doctor")):
        assert done.code == 2, done.out
        assert "written by a newer version of this program" in done.out + done.err
    assert created(sandbox) == {"A": 1}


def test_with_the_copy_it_goes_on_where_nothing_was_sent_since(
    workspace: Workspace, sandbox: RunningSandbox, push: Callable[[str], Finished]
) -> None:
    push("A")
    upgrade(workspace)
    go_back(workspace)
    assert (push("A").code, push("B").code) == (0, 0)
    assert created(sandbox) == {"A": 1, "B": 1}


def test_where_something_was_sent_since_it_takes_the_word_of_a_person(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, push: Callable[[str], Finished]
) -> None:
    push("A")
    upgrade(workspace)
    copy = workspace.root / f"var/ledger.db.version-{SCHEMA_VERSION}"
    kept = copy.read_bytes()
    go_back(workspace)
    push("B")  # the newer program does so
    copy.write_bytes(kept)
    go_back(workspace)
    refused = push("B")
    assert (refused.code, "--accept-restored" in refused.err) == (2, True)
    assert run("ledger", "verify", "--accept-restored", "--reason", "back to the earlier version").code == 0
    push("B")
    assert created(sandbox) == {"A": 1, "B": 1}


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("logistics-batch.toml", "retired = 1\n"),
        ("mappings/orders.yaml", "retired: 1\n"),
        ("jobs/daily.yaml", "retired: 1\n"),
    ],
)
def test_a_key_that_it_does_not_know_is_named_before_anything_is_sent(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, file: str, line: str
) -> None:
    workspace.job("daily", "kind: push\nmapping: orders\nsource: {folder: ., path: /inbound}\n")
    workspace.drop("A.csv", order_lines(["A"]))
    path = workspace.root / file
    path.write_text(line + path.read_text())
    for done in (run("run", "daily"), run("doctor")):
        assert (done.code, "retired" in done.out + done.err, file in done.out + done.err) == (2, True, True), done
    assert created(sandbox) == {}
