"""A job that follows orders, as an operator runs it: on a real SFTP server, killed where it hurts, and by hand."""

import csv
import io
import json
from pathlib import Path

import pytest
from support.sandbox_process import RunningSandbox
from support.sftp_servers import RunningSshd, openssh_server
from support.workspace import Workspace, order_lines

__all__ = ["openssh_server"]

JOB = """\
kind: order_status
poll_after: 0s
results: {{sftp: bhiwandi, path: {root}/reports, formats: [csv]}}
feed: {{sftp: bhiwandi, path: {root}/status, format: {format}}}
"""


@pytest.fixture
def followed(workspace: Workspace, sandbox: RunningSandbox, openssh_server: RunningSshd) -> Workspace:
    """Two orders that were accepted, one of them picked since."""
    workspace.sftp("bhiwandi", openssh_server)
    workspace.job("status", JOB.format(root=openssh_server.root, format="csv"))
    pushed = workspace.run("push", workspace.drop("orders.csv", order_lines(["A", "B"])), "--mapping", "orders")
    assert pushed.code == 0, pushed.err
    sandbox.control("POST", "/orders/A/status", {"status": "Picked"})
    return workspace


def fed(folder: Path) -> list[tuple[str, str, str]]:
    """File, reference and status of every line of every feed."""
    return [
        (path.name, line["reference_number"], line["status"])
        for path in sorted(folder.iterdir())
        for line in csv.DictReader(io.StringIO(path.read_text("utf-8-sig")))
    ]


@pytest.mark.real
@pytest.mark.slow
def test_killed_before_or_after_delivery_each_change_is_in_one_feed(
    followed: Workspace, sandbox: RunningSandbox, openssh_server: RunningSshd
) -> None:
    status = openssh_server.root / "status"
    assert followed.run("run", "status", LOGISTICS_BATCH_CRASH_AT="feed.made").code == -9
    assert not status.exists()
    sandbox.control("POST", "/orders/B/status", {"status": "Picked"})
    done = followed.run("run", "status", LOGISTICS_BATCH_CRASH_AT="feed.delivered")
    assert done.code == -9, done.err  # the first feed lies there, and nobody noted it
    assert fed(status) == [("status-000001.csv", "A", "Picked"), ("status-000001.csv", "B", "Pending")]
    first = (status / "status-000001.csv").read_bytes()
    (status / "status-000001.csv").unlink()  # the warehouse system took it
    done = followed.run("run", "status", "--json")
    assert done.code == 0, done.err
    assert (status / "status-000001.csv").read_bytes() == first  # once more, under its number, with the same bytes
    assert fed(status)[2:] == [("status-000002.csv", "B", "Picked")]
    assert done.json["feed"]["orders"] == 3
    assert not [path for path in status.iterdir() if not path.name.startswith("status-")]
    assert followed.run("run", "status").code == 0
    assert len(fed(status)) == 3


@pytest.mark.real
@pytest.mark.slow
def test_what_an_operator_sees(followed: Workspace, openssh_server: RunningSshd) -> None:
    shown = followed.run("order", "status", "--json")
    assert [(each["reference_number"], each["status"]) for each in shown.json["orders"]] == [("A", ""), ("B", "")]
    done = followed.run("run", "status")
    assert done.code == 0, done.err
    assert "2 orders asked for, 2 changed." in done.out
    assert f"{openssh_server.root}/status/status-000001.csv" in done.out
    assert f"{openssh_server.root}/reports/order_status.csv" in done.out
    shown = followed.run("order", "status", "A")
    assert shown.code == 0
    assert ": Picked since " in shown.out
    assert "No event came about it." in shown.out
    told = followed.run("order", "status", "A", "--json").json["orders"][0]
    assert (told["lines"][0]["qty_sent"], told["lines"][0]["qty_picked"], told["events"]) == ("1", "1", [])
    assert followed.run("order", "status", "NOBODYS").code == 3
    runs = json.loads(followed.run("runs", "--json").out)["runs"]
    assert (runs[0]["kind"], runs[0]["state"]) == ("order_status", "finished")
    doctor = {check["name"]: check["state"] for check in followed.run("doctor", "--json").json["checks"]}
    assert doctor[f"sftp.bhiwandi:{openssh_server.root}/status"] == "ok"


@pytest.mark.real
@pytest.mark.slow
def test_a_feed_may_be_a_workbook(followed: Workspace, openssh_server: RunningSshd) -> None:
    followed.job("status", JOB.format(root=openssh_server.root, format="xlsx"))
    assert followed.run("run", "status").code == 0
    (path,) = (openssh_server.root / "status").iterdir()
    assert (path.name, path.read_bytes()[:2]) == ("status-000001.xlsx", b"PK")
