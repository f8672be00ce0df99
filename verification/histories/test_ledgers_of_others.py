"""A ledger that is an older copy, with thousands of orders on the way; and one that a newer program has changed."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from campaigns.scale import report, size
from histories.playing import History, Play, Step, World, new_workspace
from histories.stage import DAY, job_of
from histories.test_histories import in_a_copy, played, template
from support.postgres import new_database, postgres_server

from logistics_batch.flows.push.push import run_push_job
from logistics_batch.ledger import sqlite_path
from logistics_batch.ledger.failures import sqlite3

__all__ = ["template"]

ORDERS = size(sample=300, full=10_000)
LINES = tuple((f"R-{number}", "A") for number in range(1, ORDERS + 1))


@pytest.mark.slow
def test_an_older_copy_settles_what_the_service_has(template: Path) -> None:
    """The copy was made when the orders were planned; all of them were sent since."""
    steps: tuple[Step, ...] = (
        *(("drop", "order", "first.csv", (("R-0", "A"),)), ("run", "order")),
        ("drop", "order", "a.csv", LINES),
        *(("kill", "intent.before_commit", 1), ("run", "order"), ("copy",), ("run", "order")),
        ("restore",),
    )
    done = played(template, History(steps, World(concurrency=4)))
    assert done.broken is None
    states = [each.state for each in done.ended]
    report("restore", orders=ORDERS, accepted=states.count("accepted"), held=states.count("held"))
    assert states == ["accepted"] * (ORDERS + 1)
    assert len(done.stage.service.records) == ORDERS + 1


VERSION_RISES = "UPDATE meta SET value = '99' WHERE name = 'schema_version'"


def change(url: str) -> None:
    """What a newer program does to the ledger when it brings it up to date."""
    path = sqlite_path(url)
    if path is None:
        with psycopg.connect(url) as server:
            server.execute(VERSION_RISES)
        return
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(VERSION_RISES)


def changed_by_a_newer_program(root: Path, call: int, url: str = "") -> Play:
    """While a create is under way, the ledger becomes one of a later version."""
    here = World().on(root, url)
    creates = iter(range(1, 100))

    def upgrade() -> None:
        if next(creates) == call:
            change(here.stage.ledger_url)

    with here.stage.set_up():
        here.step(("drop", "order", "a.csv", tuple((f"R-{number}", "A") for number in range(1, 7))))
        here.stage.service.meanwhile += [upgrade] * 10
        job = job_of("order")
        here.told.append(here.stage.do(lambda parts: run_push_job(parts, job, business_date=DAY, dry_run=False)))
    return here


def sent_no_more_than_was_written_down(done: Play, call: int) -> None:
    ahead = len(done.stage.service.records) - call  # one intent may have been written before
    assert ahead in (0, 1)
    assert "newer version" in done.told[-1]


@pytest.mark.slow
@pytest.mark.parametrize("call", [1, 2, 5])
def test_an_old_program_sends_nothing_more_into_a_newer_ledger(call: int, template: Path) -> None:
    done = in_a_copy(template, lambda root: changed_by_a_newer_program(root, call))
    sent_no_more_than_was_written_down(done, call)


@pytest.mark.slow
@pytest.mark.real
def test_an_old_program_sends_nothing_more_into_a_newer_ledger_on_postgresql(tmp_path: Path) -> None:
    with postgres_server(tmp_path / "pg") as server:
        first, model = tmp_path / "first", new_database(server)
        new_workspace(first, model)
        for call in (1, 5):
            url = new_database(server, like=model)
            done = in_a_copy(first, lambda root: changed_by_a_newer_program(root, call, url))  # noqa: B023 - it is called here
            sent_no_more_than_was_written_down(done, call)
