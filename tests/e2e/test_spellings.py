"""One reference in two spellings, in two files: a person says whether they are one order."""

from pathlib import Path

import pytest
from support.commands import Finished
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines


class Desk(Workspace):
    """Whose orders are told in a few words."""

    def push(self, name: str, *references: str) -> Finished:
        return self.run("push", self.drop(name, order_lines(references)), "--mapping", "orders", "--json")


@pytest.fixture
def desk(tmp_path: Path, sandbox: RunningSandbox) -> Desk:
    return Desk(tmp_path / "workspace", url=sandbox.url)


def created(sandbox: RunningSandbox) -> list[str]:
    return sorted(line["reference_number"] for line in sandbox.committed("order.created"))


def test_a_person_says_whether_two_spellings_are_one_order(desk: Desk, sandbox: RunningSandbox) -> None:
    desk.push("first.csv", "Z-1", "Zé-2")
    second = ("z\u20111", "Ze\u0301-2", "Z-3")
    asked = desk.push("second.csv", *second).json
    assert created(sandbox) == ["Z-1", "Z-3", "Zé-2"]
    one, two = desk.run("held", "list", "--json").json["held"]
    assert 'from "Z-1" (first.csv, row 2), which was accepted: are they one?' in asked["files"][0]["rows"][0]["reason"]
    desk.run("held", "decide", str(one["id"]), "send-again", "--reason", "two shops")
    desk.run("held", "decide", str(two["id"]), "drop", "--reason", "typed twice")
    answers = [row["fate"] for row in desk.push("second.csv", *second).json["files"][0]["rows"]]
    assert answers == ["accepted", "skipped", "unchanged"]
    assert created(sandbox) == ["Z-1", "Z-3", "Zé-2", "z\u20111"]


def test_a_decision_about_a_cancelled_order_is_none_about_spellings(desk: Desk, sandbox: RunningSandbox) -> None:
    desk.push("first.csv", "Z-1")
    desk.run("order", "cancel", "Z-1")
    again = desk.push("again.csv", "Z-1").json["run"]
    (waiting,) = desk.run("held", "list", "--json").json["held"]
    desk.run("held", "decide", str(waiting["id"]), "send-again", "--reissue", "--reason", "wanted")
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_400", "times": 1}])
    desk.push("other.csv", "Q-1")
    desk.push("z.csv", "z-1")
    retried = desk.run("retry", again)
    assert 'differs only in capital letters from "z-1" (z.csv, row 2)' in retried.out + retried.err
    assert created(sandbox) == ["Q-1", "Z-1", "z-1"]


def test_a_reissue_asks_for_other_spellings_and_waiting_ones_count(desk: Desk, sandbox: RunningSandbox) -> None:
    desk.push("first.csv", "Z-1", "Y-1")
    for reference in ("Z-1", "Y-1"):
        assert desk.run("order", "cancel", reference).code == 0
    desk.push("y.csv", "y-1")
    desk.push("again.csv", "Z-1", "Y-1")
    z, y = desk.run("held", "list", "--json").json["held"]
    desk.push("z.csv", "z-1")  # while Z-1 waits
    refused = desk.run("held", "decide", str(y["id"]), "send-again", "--reissue", "--reason", "wanted")
    assert (refused.code, 'from "y-1" (y.csv, row 2), which was accepted' in refused.err) == (2, True)
    assert desk.run("held", "decide", str(z["id"]), "drop", "--reason", "typed twice").code == 0
    assert created(sandbox) == ["Y-1", "Z-1", "y-1"]
    assert [one["rule"] for one in desk.run("held", "list", "--json").json["held"]] == ["cancelled", "other_spelling"]
