"""`held list`, `show` and `decide`: many at once, and what a document says beside what was said before."""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cli.conftest import Run
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import APPROVED_JOB, Workspace, order_lines

from logistics_batch.ledger import Answered, Outcome, open_ledger
from logistics_batch.model.issue import Issue

ORDERS = ["A-1", "A-2", "A-3", "A-4"]
WHY = ("--reason", "the old address is right")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox, run: Run) -> Workspace:
    """Four orders that were accepted, and came again with another address and a SKU more, in two files."""
    workspace = Workspace(tmp_path, url=sandbox.url)
    lines = order_lines(ORDERS)
    assert run("push", workspace.drop("orders.csv", lines), "--mapping", "orders").code == 0
    header, *rows = lines.replace("Market", "Station").replace(",SKU-1,1", ",SKU-1,2").splitlines()
    for name, some in (("first.csv", rows[:3]), ("second.csv", rows[3:])):
        more = [some[0].replace("SKU-1,2", "SKU-9,5")]
        assert run("push", workspace.drop(name, "\n".join([header, *some, *more, ""])), "--mapping", "orders").code == 4
    return workspace


def waiting(run: Run) -> dict[str, int]:
    """The number of what is held, by its reference."""
    return {each["reference"]: each["id"] for each in run("held", "list", "--json").json["held"]}


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    typed = io.StringIO(f"{answer}\n")
    typed.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", typed)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


def test_several_numbers_and_ranges_are_decided_at_once(run: Run, workspace: Workspace) -> None:
    ids = waiting(run)
    done = run("held", "decide", f"{ids['A-1']}-{ids['A-2']}", ids["A-4"], "drop", *WHY)
    assert done.code == 0, done.err
    assert set(waiting(run)) == {"A-3"}
    assert f"held decide {ids['A-1']} {ids['A-2']} {ids['A-4']} reopen" in done.out
    tried = run("held", "decide", f"{ids['A-1']}-{ids['A-4']}", "reopen", *WHY, "--dry-run")
    assert (tried.code, [name for name in ORDERS if name in tried.out]) == (0, ["A-1", "A-2", "A-4"])
    again = run("held", "decide", f"{ids['A-1']}-{ids['A-2']}", "drop", *WHY)
    assert (again.code, "Nothing from" in again.err) == (2, True)


def test_a_filter_decides_what_fits(run: Run, workspace: Workspace) -> None:
    assert run("held", "decide", "--file", "nothing*", "drop", *WHY).code == 2
    assert run("held", "decide", "drop", *WHY).code == 2
    tried = run("held", "decide", "--file", "FIRST*", "--rule", "changed_after_acceptance", "drop", *WHY, "--dry-run")
    assert (tried.code, len(waiting(run))) == (0, 4)
    assert [name for name in ORDERS if name in tried.out] == ORDERS[:3]
    assert run("held", "decide", "--file", "FIRST*", "drop", *WHY).code == 0
    assert set(waiting(run)) == {"A-4"}


@pytest.mark.parametrize(("answer", "left"), [("n", 4), ("y", 0)])
def test_a_person_sees_what_is_meant_and_is_asked_once(
    answer: str, left: int, run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch, answer)
    done = run("held", "decide", "--rule", "changed_after_acceptance", "drop", *WHY)
    assert done.code == 0
    assert all(name in done.out for name in ORDERS)
    assert (done.out + done.err).count("4 of these?") == 1
    assert len(waiting(run)) == left


def test_one_that_does_not_fit_keeps_no_other_from_its_decision(run: Run, workspace: Workspace) -> None:
    ids = waiting(run)
    done = run("held", "decide", ids["A-1"], 9999, ids["A-2"], "drop", *WHY)
    assert (done.code, "9999: Nothing with the number 9999 is held." in done.err) == (2, True)
    assert set(waiting(run)) == {"A-3", "A-4"}


def test_the_list_fits_110_columns_and_of_one_old_and_new_stand_side_by_side(run: Run, workspace: Workspace) -> None:
    number = waiting(run)["A-1"]
    (document,) = run("held", "show", number, "--json").json["documents"]
    assert document["earlier"]["awb_number"].startswith("SH-")
    assert document["differing"] == [
        {"field": "delivery_address", "before": "1 Market Road", "now": "1 Station Road"},
        {"field": "item_details[SKU-1].item_quantity", "before": "1", "now": "2"},
        {"field": "item_details[SKU-9].item_name", "before": "", "now": "SKU-9"},
        {"field": "item_details[SKU-9].item_quantity", "before": "", "now": "5"},
    ]
    shown = run("held", "show", number).out
    assert f"accepted, AWB {document['earlier']['awb_number']} (orders.csv, run" in shown
    assert "1 Market Road" in shown
    assert "Alike: reference_number, customer_mobile" in shown
    assert document["body"] in shown
    why = "The service already accepted this document with other content."
    (held, *_) = run("held", "list", "--json").json["held"]
    assert f"reason      {why}\nwhat to do  {held['fix']}\n" in shown
    listed = run("held", "list").out.splitlines()
    assert max(map(len, map(str.rstrip, listed))) <= 110
    assert sum(line.startswith(str(each)) for each in waiting(run).values() for line in listed) == 4


def test_answers_are_written_by_one_at_a_time(run: Run, workspace: Workspace) -> None:
    """A second writer would put what it read before over what a run wrote since."""
    number = waiting(run)["A-1"]
    ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account=workspace.url)
    with closing(ledger), ledger.sending("orders-nightly"):
        assert run("runs", "report", "push").code == 75
        decided = run("held", "decide", number, "drop", *WHY)
        assert decided.code == 0 and "A run is under way" in decided.err
    assert "held" in (workspace.root / "reports/first.result.csv").read_text()
    assert run("settle").code in (0, 4)
    assert "reopen" in (workspace.root / "reports/first.result.csv").read_text()


def test_a_change_while_answers_are_written_has_them_written_again(workspace: Workspace) -> None:
    ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account=workspace.url)
    with closing(ledger):
        (held,) = [each for each in ledger.documents.select(states=["held"]) if each.reference == "A-4"]
        (file,) = ledger.files.named("second.csv")
        ledger.files.set_answered(file.id, Answered.IN_WRITING)
        dropped = Outcome(held.id, "abandoned", "decided", why=Issue.of("decided", at=held.planned_at, reason="x"))
        assert ledger.attempts.settle(dropped, expected="held", now=held.planned_at)
        ledger.files.set_answered(file.id, Answered.FRESH)
        assert [each.name for each in ledger.files.stale()] == ["second.csv"]
        ledger.files.set_answered(file.id, Answered.IN_WRITING)
        ledger.files.set_answered(file.id, Answered.FRESH)
        assert ledger.files.stale() == []


def test_every_number_of_the_list_can_be_shown(run: Run, workspace: Workspace) -> None:
    workspace.job("watched", APPROVED_JOB)
    workspace.drop("B.csv", order_lines(["B-1", "B-2"]))
    workspace.drop("broken.csv", "Order No,Order No\n1,2\n")
    assert run("run", "watched").code == 4
    listed = run("held", "list", "--json").json
    numbers = [each["id"] for group in ("held", "previews", "files") for each in listed[group]]
    printed = [line.split()[0] for line in run("held", "list").out.splitlines()[2:]]
    assert len(printed) == 6
    assert {*printed} <= {str(number) for number in numbers}
    for number in numbers:
        shown = run("held", "show", number)
        assert (shown.code, str(number) in shown.out) == (0, True)
    (file,) = listed["files"]
    assert (file["rule"], file["job"]) == ("header", "watched")
    assert (file["reason"], file["remedy"]) == (file["reason"].strip(), file["fix"])
    assert file["reason"][:20] in run("held", "list").out, "its line has room for the beginning"
    assert file["reason"] in run("held", "show", file["id"]).out
    (preview,) = listed["previews"]
    assert (preview["rule"], preview["job"]) == ("approval", "watched")
    for each in (each for group in ("held", "previews", "files") for each in listed[group]):
        assert each["reason"]
        assert each["fix"]
        assert each["since"]
    assert run("held", "decide", "--rule", "header", "drop", *WHY, "--dry-run").out.count(file["id"]) == 1
    (finding,) = [each for each in run("doctor", "--json").json["checks"] if each["name"] == "ledger"]
    assert "7 held" in finding["text"], "six documents and a file"
    assert run("held", "show", file["id"], "--json").json["file"]["name"] == "broken.csv"
    assert run("held", "show", 9999).code == 2


def test_a_dropped_version_says_what_goes_on(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    """The order of the earlier file still ships: whoever reads only the row of the later one must not think it gone."""
    awb_numbers = {each["body"]["reference_number"]: each["awb_number"] for each in sandbox.orders()}
    assert run("held", "decide", "--file", "first.csv", "drop", *WHY).code == 0
    rows = csv.DictReader(io.StringIO((workspace.root / "reports/first.result.csv").read_text("utf-8-sig")))
    for row in rows:
        assert (row["fate"], row["rule"]) == ("skipped", "dropped")
        number = awb_numbers[row["reference_number"]]
        assert row["reason"].endswith(f"The order as it was accepted still ships, with AWB number {number}.")
    run("order", "cancel", awb_numbers["A-4"])
    assert run("held", "decide", waiting(run)["A-4"], "drop", *WHY).code == 0
    assert "still ships" not in (workspace.root / "reports/second.result.csv").read_text("utf-8-sig")


def test_a_wide_range_is_not_counted_one_by_one(run: Run, workspace: Workspace) -> None:
    workspace.drop("broken.csv", "Order No,Order No\n1,2\n", folder="watched")
    workspace.job("watched", APPROVED_JOB.replace("inbound", "watched"))
    assert run("run", "watched").code == 4
    done = run("held", "decide", "1-1000000000000", "drop", *WHY, "--dry-run")
    assert (done.code, "file-" in done.out) == (0, False)
    assert all(name in done.out for name in ORDERS)


def test_a_trial_says_what_the_decision_would_and_nothing_is_written(run: Run, workspace: Workspace) -> None:
    number = waiting(run)["A-1"]
    refused = [
        (9999, "drop"),
        (number, "approve"),
        ("http://nowhere", "drop"),
        ("preview-x", "reopen"),
        ("--file", "f*", "approve"),
        ("--file", "[f]irst*", "drop"),  # brackets stand for themselves
    ]
    for arguments in refused:
        trial = run("held", "decide", *arguments, *WHY, "--dry-run")
        real = run("held", "decide", *arguments, *WHY)
        assert (trial.code, trial.err) == (real.code, real.err)
        assert real.code == 2
    for chosen in (number, "--file=f?rst*"):
        assert run("held", "decide", chosen, "drop", *WHY, "--dry-run").code == 0
    silent = run("held", "decide", number, "drop", "--reason", "  ")
    assert (silent.code, "blank" in silent.err) == (2, True)
    assert len(waiting(run)) == 4
