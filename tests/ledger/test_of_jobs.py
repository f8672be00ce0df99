"""A ledger of which only what belongs to some jobs is read: every question, on both databases."""

from collections.abc import Callable
from typing import Any

import pytest
from ledger.arrivals import arrival

from logistics_batch.ledger import Ledger, NewNotice
from logistics_batch.ledger.of_jobs import OF_NO_JOB, narrowed
from logistics_batch.ledger.schema import metadata

NOW = "2026-11-21T21:15:00+05:30"
ASKED: dict[str, Callable[[Ledger], Any]] = {
    "files": lambda each: {file.name for file in each.files.latest(limit=10)},
    "files of a name": lambda each: {file.name for file in each.files.begins("", limit=10)},
    "runs": lambda each: {run.id for run in each.runs.latest(limit=10)},
    "a run": lambda each: {run.id for run in map(each.runs.get, ("R-acme", "R-other")) if run},
    "orders": lambda each: {one.reference for one in each.documents.select()},
    "orders of a name": lambda each: {one.reference for one in each.documents.named("A", limit=10)},
    "an order": lambda each: {one.reference for one in map(each.documents.get, range(1, 5)) if one},
    "how orders stand": lambda each: sum(sum(each.documents.states_of(run).values()) for run in ("R-acme", "R-other")),
    "what became of rows": lambda each: {**each.documents.tallies("R-acme"), **each.documents.tallies("R-other")},
    "rows that were not sent": lambda each: {one.row for one in each.documents.rows_not_sent(operation="order.create")},
    "what was never sent": lambda each: {one.job for one in each.documents.never_sent()},
    "notices": lambda each: {one.job for one in each.notices.open()},
    "everything counted": lambda each: {job for job, _ in each.documents.tally().runs},
    "what has no label": lambda each: each.labels.unprinted_orders(),
    "versions by mapping": lambda each: sum(count for _, _, count, _ in each.files.by_mapping()),
}


@pytest.fixture
def two(ledger: Ledger) -> Ledger:
    """A ledger with a run of two jobs, each with two orders and an invalid row."""
    for number, job in enumerate(("acme", "other")):
        ledger.runs.start(f"R-{job}", job=job, kind="push", business_date="2026-11-21", now=NOW)
        orders = {f"A{number}": "{}", f"A{number}b": '{"a": 1}'}
        ledger.planning.plan_file(f"R-{job}", arrival(orders, name=f"{job}.csv", invalid=(7 + number,)))
        new = NewNotice(key=job, kind="failed", job=job, business_date="2026-11-21", title="t", text="x", wanted=True)
        ledger.notices.note(new, now=NOW)
    return ledger


@pytest.mark.parametrize("what", ASKED)
def test_what_belongs_to_a_job_is_all_that_is_read(two: Ledger, what: str) -> None:
    ask = ASKED[what]
    own, other, both, none = (ask(two.of_jobs(jobs)) for jobs in (["acme"], ["other"], ["acme", "other"], []))
    assert not none
    assert both == ask(two)
    if isinstance(both, int):
        assert (own, other) == (both / 2, both / 2)
    elif both:
        assert own
        assert other
        assert {*own, *other} == {*both}
        assert not {*own} & {*other}


def test_a_row_that_repeats_an_order_of_another_job_is_counted_and_the_order_is_not_shown(two: Ledger) -> None:
    two.runs.start("R-again", job="acme", kind="push", business_date="2026-11-22", now=NOW)
    number = two.planning.plan_file("R-again", arrival({"A1": "{}", "new": "{}"}, name="again.csv"))
    acme = two.of_jobs(["acme"])
    whole, seen = two.documents.file_report(number), acme.documents.file_report(number)
    assert seen.rows_read == sum(seen.counts.values()) == sum(whole.counts.values())
    tally = acme.documents.tallies("R-again")[number]
    assert sum(tally.counts.values()) == seen.rows_read
    assert "R-other" not in str(seen.rows.to_dicts())


def test_of_each_table_it_is_said_to_whom_its_records_belong() -> None:
    for table in metadata.tables.values():
        if table.name not in OF_NO_JOB:
            assert "WHERE" in str(narrowed(table.select(), ["x"]))
