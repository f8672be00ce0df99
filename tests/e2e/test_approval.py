"""A job whose files a person approves: nothing goes out before, and only what was looked at goes out."""

import pytest
from support.sandbox_process import RunningSandbox
from support.workspace import APPROVED_JOB, Workspace, order_lines


@pytest.fixture
def job(workspace: Workspace) -> Workspace:
    workspace.job("watched", APPROVED_JOB)
    return workspace


def waiting(workspace: Workspace) -> str:
    """The number of the one file that waits."""
    (preview,) = workspace.run("held", "list", "--json").json["previews"]
    return str(preview["id"])


def test_nothing_goes_out_before_it_is_approved_and_all_of_it_then(job: Workspace, sandbox: RunningSandbox) -> None:
    job.drop("orders.csv", order_lines(["A-1", "A-2", "A-3"]))
    dry = job.run("run", "watched", "--dry-run", "--json")
    first = job.run("run", "watched", "--json")
    assert (dry.code, first.code) == (4, 4), dry.err + first.err
    assert {row["fate"] for row in first.json["files"][0]["rows"]} == {"held"}
    assert sandbox.committed("order.created") == []
    number = waiting(job)
    assert number in " ".join(dry.json["files"][0]["notes"]), "a dry run shows the number of what would wait"

    shown = job.run("held", "show", number, "--json").json["documents"]
    assert [each["body"] for each in shown] == [each["body"] for each in dry.json["files"][0]["documents"]]
    assert "POST " in job.run("held", "show", number).out
    decided = job.run("held", "decide", number, "approve", "--reason", "looked at by Meena")
    assert decided.code == 0, decided.err
    assert "3 documents: goes out with the next run" in decided.out
    assert sandbox.committed("order.created") == []
    done = job.run("run", "watched")
    assert done.code == 0, done.out + done.err
    assert sorted(line["reference_number"] for line in sandbox.committed("order.created")) == ["A-1", "A-2", "A-3"]
    assert (job.root / "results/orders.result.csv").read_text("utf-8-sig").count("accepted") == 3


def test_an_approval_of_what_was_there_before_does_not_fit_what_is_there_now(
    job: Workspace, sandbox: RunningSandbox
) -> None:
    job.drop("orders.csv", order_lines(["A-1", "A-2"]))
    job.run("run", "watched")
    looked_at = waiting(job)
    job.drop("corrected.csv", order_lines(["A-1"], items=2))
    job.run("run", "watched")
    refused = job.run("held", "decide", looked_at, "approve", "--reason", "looked at")
    assert refused.code == 2
    assert "has changed since" in refused.err
    job.run("run", "watched")
    assert sandbox.received("order.create") == []


def test_the_same_file_again_waits_with_the_first(job: Workspace, sandbox: RunningSandbox) -> None:
    job.drop("orders.csv", order_lines(["A-1"]))
    job.run("run", "watched")
    number = waiting(job)
    job.drop("again.csv", order_lines(["A-1"]))
    job.run("run", "watched")
    assert waiting(job) == number
    assert job.run("held", "decide", number, "approve", "--reason", "seen").code == 0
    job.run("run", "watched")
    assert len(sandbox.committed("order.created")) == 1


def test_one_document_of_a_file_can_be_approved_alone(job: Workspace, sandbox: RunningSandbox) -> None:
    job.drop("orders.csv", order_lines(["A-1", "A-2"]))
    job.run("run", "watched")
    held = job.run("held", "list", "--json").json["held"]
    assert job.run("held", "decide", str(held[0]["id"]), "approve", "--reason", "urgent").code == 0
    job.run("run", "watched")
    assert [line["reference_number"] for line in sandbox.committed("order.created")] == ["A-1"]
