"""The nightly job against a real OpenSSH server, with the service in another process."""

import csv
import io
import json

import pytest
from support.sandbox_process import RunningSandbox, created
from support.sftp_servers import RunningSshd, openssh_server
from support.workspace import ORDER_COLUMNS, Workspace, order_lines

__all__ = ["openssh_server"]

JOB = """\
kind: push
mapping: orders
source:
  sftp: bhiwandi
  path: {root}/inbound
  pattern: ["*.csv", "*.xlsx"]
  ready: {{unchanged_for: 2, poll_every: 50ms}}
  archive: {root}/archive/{{date}}
  quarantine: {root}/rejected
results: {{path: {root}/results, formats: [xlsx, csv]}}
"""


@pytest.fixture
def night(workspace: Workspace, openssh_server: RunningSshd) -> Workspace:
    """A workspace whose job `nightly` works on the SSH server."""
    for folder in ("inbound", "results"):
        (openssh_server.root / folder).mkdir()
    workspace.sftp("bhiwandi", openssh_server)
    workspace.job("nightly", JOB.format(root=openssh_server.root))
    return workspace


def drop(server: RunningSshd, name: str, content: str) -> None:
    (server.root / "inbound" / name).write_text(content)


@pytest.mark.real
def test_a_night_on_a_real_server(night: Workspace, openssh_server: RunningSshd, sandbox: RunningSandbox) -> None:
    drop(openssh_server, "monday.csv", order_lines([f"M-{n}" for n in range(20)], items=2))
    drop(
        openssh_server,
        "tuesday.csv",
        f"{ORDER_COLUMNS}\nT-1,12345,1 Road,560001,SKU,1\nT-2,9876543210,2 Road,560001,SKU,1\n",
    )
    drop(openssh_server, "tuesday (1).csv", (openssh_server.root / "inbound/tuesday.csv").read_text())
    drop(openssh_server, "broken.csv", "Name,Town\nAsha,Pune\n")
    drop(openssh_server, "upload.csv.part", "still coming")
    known = night.settings
    night.settings = [line for line in known if not line.startswith("host_key")]
    night.configure()
    refused = night.run("run", "nightly")
    assert (refused.code, openssh_server.host_key_line in refused.err) == (2, True), "it names the line to pin"
    assert (openssh_server.root / "inbound/monday.csv").exists()
    night.settings = known
    night.configure()
    done = night.run("run", "nightly", "--business-date", "2026-11-20", "--json")
    assert done.code == 4, done.err  # one file is held as a whole
    assert created(sandbox) == {f"M-{n}": 1 for n in range(20)} | {"T-2": 1}
    assert [path.name for path in (openssh_server.root / "inbound").iterdir()] == ["upload.csv.part"]
    assert sorted(path.name for path in (openssh_server.root / "archive/2026-11-20").iterdir()) == [
        "monday.csv",
        "tuesday (1).csv",
        "tuesday.csv",
    ]
    assert sorted(path.name for path in (openssh_server.root / "rejected").iterdir()) == [
        "broken.csv",
        "broken.csv.why.txt",
    ]
    note = (openssh_server.root / "rejected/broken.csv.why.txt").read_text()
    assert note.startswith("Nothing of this was sent.\n\nbroken.csv: ")
    assert "Order No" in note
    assert "What to do: " in note
    results = {path.name for path in (openssh_server.root / "results").iterdir()}
    for name in ("monday", "tuesday", "tuesday (1)", "broken"):
        assert {f"{name}.ack.json", f"{name}.result.csv", f"{name}.result.xlsx"} <= results
    assert "tuesday.fix.xlsx" in results
    assert "monday.fix.xlsx" not in results
    assert not [name for name in results if name.startswith(".") or "part" in name]
    lines = list(
        csv.DictReader(io.StringIO((openssh_server.root / "results/monday.result.csv").read_text("utf-8-sig")))
    )
    assert len(lines) == 40
    assert {line["fate"] for line in lines} == {"accepted"}
    held = json.loads((openssh_server.root / "results/broken.ack.json").read_text())
    assert held["state"] == "held"
    assert "Order No" in held["reason"]
    quiet = night.run("run", "nightly", "--json")
    assert (quiet.code, quiet.json["files"]) == (0, [])
    report = json.loads((night.root / f"reports/run-{quiet.json['run']}.json").read_text())
    assert "No file was found." in report["notes"]


@pytest.mark.real
def test_results_that_cannot_be_written_leave_the_file_for_the_next_run(
    night: Workspace, openssh_server: RunningSshd, sandbox: RunningSandbox
) -> None:
    drop(openssh_server, "a.csv", order_lines(["A-1"]))
    results = openssh_server.root / "results"
    results.rmdir()
    results.write_text("a file stands where the folder should be")
    stopped = night.run("run", "nightly")
    assert stopped.code == 5
    assert "could not be written" in stopped.out + stopped.err
    assert (openssh_server.root / "inbound/a.csv").exists()
    results.unlink()
    assert night.run("run", "nightly").code == 0
    assert created(sandbox) == {"A-1": 1}
    assert (results / "a.result.csv").exists()
    assert not list((openssh_server.root / "inbound").iterdir())
