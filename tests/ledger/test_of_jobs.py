"""A ledger of which only what belongs to some jobs is read: every question, on both databases."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from ledger.arrivals import arrival

from logistics_batch.ledger import Arrival, Ledger, NewNotice, Outcome
from logistics_batch.ledger.of_jobs import OF_NO_JOB, narrowed
from logistics_batch.ledger.schema import metadata
from logistics_batch.model.document import Document, Operation

NOW = "2026-11-21T21:15:00+05:30"
ASKED: dict[str, Callable[[Ledger], Any]] = {
    "files": lambda each: {file.name for file in each.files.latest(limit=10)},
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
    assert (seen.counts, tally.counts) == (whole.counts, {fate: n for fate, n in whole.counts.items() if n})
    assert "R-other" not in str(seen.rows.to_dicts())


@pytest.mark.parametrize("job", ["labels", "acme"])
def test_a_bundle_is_seen_by_whoever_sees_all_of_its_orders(two: Ledger, job: str) -> None:
    """Whatever job made it: one that prints all that was never printed prints the orders of others, too."""
    numbers = {"A0": "SH-0", "A1": "SH-1"}
    planned = [each for each in two.documents.select() if each.reference in numbers]
    two.attempts.step(outcomes=[], claim=planned, run="R-acme", now=NOW)
    accepted = [Outcome(each.id, "accepted", "accepted", awb_number=numbers[each.reference]) for each in planned]
    two.attempts.step(outcomes=accepted, claim=[], run="R-acme", now=NOW)
    # A file of acme's names the number of an order of others.
    change = Document("SH-1", Operation.ORDER_CANCEL, (2,), "", "A1", (2,), order_id="SH-1")
    two.runs.start("R-change", job="acme", kind="push", business_date="2026-11-22", now=NOW)
    two.planning.plan_file("R-change", of_one(change))
    for number, bundle in enumerate((["SH-0"], ["SH-1"], ["SH-0", "SH-1"])):
        two.runs.start(f"L{number}", job=job, kind="labels", business_date="2026-11-22", now=NOW)
        copies = {each: line.copy for each, line in two.labels.last_prints(bundle).items()}
        two.labels.record_print(f"L{number}", {each: copies.get(each, 0) for each in bundle}, at=NOW)
    acme = two.of_jobs(["acme"])
    assert {run.id for run in acme.runs.latest(kind="labels")} == {"L0"}
    assert [bundle for bundle in ("L0", "L1", "L2") if acme.runs.get(bundle)] == ["L0"]


def of_one(document: Document) -> Arrival:
    """A file that asks for one change of an order."""
    read = arrival({document.key: "{}"}, name="change.csv")
    assert read.mapped is not None
    calls = {str(document.operation): ("DELETE", "/orders")}
    return replace(read, operation=document.operation, mapped=replace(read.mapped, documents=(document,)), calls=calls)


def test_of_each_table_it_is_said_to_whom_its_records_belong() -> None:
    for table in metadata.tables.values():
        if table.name not in OF_NO_JOB:
            assert "WHERE" in str(narrowed(table.select(), ["x"]))
