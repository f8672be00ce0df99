"""Answers that cannot be brought where they belong: news of their job, and no trouble of any other."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

A = """\
kind: push
mapping: orders
source: {folder: ina, ready: {poll_every: 10ms}}
results: {sftp: srv, path: /outa}
"""
B = """\
kind: push
mapping: orders
source: {folder: inb, archive: doneb, ready: {poll_every: 10ms}}
results: {folder: outb}
"""


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path, sftp=True)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    """Job a was answered on a server, one of its orders is in doubt; job b has nothing to do with it."""
    found = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="1h")
    place = sandbox.sftp
    assert place is not None
    (place.root / "outa").mkdir()
    found.sftp("srv", place)
    found.job("a", A)
    found.job("b", B)
    found.drop("a.csv", order_lines(["A-1"]), folder="ina")
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    assert found.run("run", "a").code == 4
    sandbox.set_faults([])
    found.settings = [line.replace('"1h"', '"0s"') for line in found.settings]
    found.configure()
    found.drop("b.csv", order_lines(["B-1"]), folder="inb")
    return found


def answers(workspace: Workspace, *names: str) -> list[str]:
    found = []
    for name in names:
        text = (workspace.root / "outb" / f"{name}.result.csv").read_text("utf-8-sig")
        found += [line["fate"] for line in csv.DictReader(text.splitlines())]
    return found


def waits(workspace: Workspace) -> list[str]:
    checks = workspace.run("doctor", "--json").json["checks"]
    return [each["text"] for each in checks if each["name"] == "answers"]


def test_a_server_whose_section_is_gone_ends_no_other_job(workspace: Workspace) -> None:
    workspace.settings = [line.replace("[sftp.srv]", "[sftp.bhiwandi]") for line in workspace.settings]
    workspace.configure()
    (workspace.root / "jobs/a.yaml").unlink()
    done = workspace.run("run", "b", "--json")
    assert done.code == 0, done.out + done.err
    assert any('"srv"' in note for note in done.json["notes"])
    assert answers(workspace, "b") == ["accepted"]
    checks = workspace.run("doctor", "--json").json["checks"]
    assert {each["state"] for each in checks if "outb" in each["name"]} == {"ok"}, "a place may be a whole folder"
    assert not list((workspace.root / "inb").glob("*.csv")), "it is put away"
    assert workspace.run("settle").code == 5
    (text,) = waits(workspace)
    assert "a.csv" in text
    assert '"srv"' in text
    # The section is back: what waited is brought, and nothing is told any more.
    workspace.settings = [line.replace("[sftp.bhiwandi]", "[sftp.srv]") for line in workspace.settings]
    workspace.configure()
    assert workspace.run("settle").code == 0
    assert waits(workspace) == []


def test_a_place_that_takes_nothing_stops_only_its_own_job(workspace: Workspace, sandbox: RunningSandbox) -> None:
    assert sandbox.sftp is not None
    place = sandbox.sftp.root / "outa"
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    place.write_text("a file stands where the folder should be")
    runs = []
    for name in ("b", "b2"):
        workspace.drop(f"{name}.csv", order_lines([f"{name}-1"]), folder="inb")
        done = workspace.run("run", "b", "--json")
        assert done.code == 0, done.out + done.err
        runs.append(done.json["run"])
    assert len(set(runs)) == 2, "the first one ended"
    assert answers(workspace, "b", "b2") == ["accepted"] * 2
    assert len(waits(workspace)) == 1
    place.unlink()
    place.mkdir()
    assert workspace.run("settle").code == 0
    with (place / "a.result.csv").open(encoding="utf-8-sig") as lines:
        assert [line["fate"] for line in csv.DictReader(lines)] == ["accepted"]
