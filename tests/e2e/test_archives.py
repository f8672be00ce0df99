"""Spreadsheets in archives: each file inside has its own answer, and the archive is put away when all have one."""

import gzip
import io
import zipfile
from collections.abc import Mapping

import pysequoia
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

JOB = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, pattern: "*", ready: {poll_every: 0.01s}, archive: /archive, quarantine: /rejected}
results: {folder: ., path: /outbound}
"""


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def names(workspace: Workspace, folder: str) -> set[str]:
    return {path.name for path in (workspace.root / folder).glob("*") if path.is_file()}


def test_every_file_of_an_archive_is_answered_and_the_archive_put_away(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    members = {"monday/early.csv": order_lines(["A-1", "A-2"]), "monday/late.csv": order_lines(["A-3"])}
    workspace.drop("monday.zip", zipped(members))
    workspace.drop("tuesday.csv.gz", gzip.compress(order_lines(["A-4"]).encode()))
    workspace.job("orders-nightly", JOB)
    done = workspace.run("run", "orders-nightly", "--json")
    assert done.code == 0, done.err
    assert created(sandbox) == {"A-1": 1, "A-2": 1, "A-3": 1, "A-4": 1}
    assert {"early.result.csv", "late.result.csv", "tuesday.result.csv"} <= names(workspace, "outbound")
    assert names(workspace, "archive") == {"monday.zip", "tuesday.csv.gz"}
    assert not names(workspace, "inbound")
    kept = {path.suffix for path in (workspace.root / "var/files").iterdir()}
    assert kept == {".csv"}, "what people sent is not kept a second time in its archive"


def test_an_archive_with_a_file_that_cannot_be_read_goes_to_quarantine_and_the_others_are_sent(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    members = {"orders.csv": order_lines(["A-1"]), "scan.pdf": "%PDF-1.7 scan", "inner.zip": "PK\5\6" + "\0" * 18}
    workspace.drop("drop.zip", zipped(members))
    workspace.drop("cut.zip", zipped({"orders.csv": order_lines(["A-2"])})[:-20])
    workspace.job("orders-nightly", JOB)
    done = workspace.run("run", "orders-nightly", "--json")
    assert done.code == 4, done.err
    assert created(sandbox) == {"A-1": 1}
    assert names(workspace, "rejected") == {"drop.zip", "drop.zip.why.txt", "cut.zip", "cut.zip.why.txt"}
    reasons = {each["file"]: each.get("reason", "") for each in done.json["files"]}
    assert "it is a PDF" in reasons["scan.pdf"]
    assert "packed or encrypted once more" in reasons["inner.zip"]
    assert "did not arrive completely" in reasons["cut.zip"]
    assert not reasons["orders.csv"]
    note = (workspace.root / "rejected/drop.zip.why.txt").read_text()
    assert "Nothing of scan.pdf, inner.zip was sent" in note and "orders.csv. Do not send those again." in note
    again = workspace.run("push", workspace.drop("again.zip", zipped(members)), "--mapping", "orders", "--json")
    assert again.code == 4
    assert created(sandbox) == {"A-1": 1}


def test_an_encrypted_drop_is_opened_with_our_key(workspace: Workspace, sandbox: RunningSandbox) -> None:
    key = pysequoia.Tsk.generate("Bhiwandi <wms@example.com>")
    workspace.secret("pgp", str(key))
    workspace.configure("[pgp]", 'key_file = "secrets/pgp"')
    message = pysequoia.encrypt(order_lines(["A-1"]).encode(), recipients=[key.extract_certificate()])
    file = workspace.drop("orders.csv.pgp", message)
    preview = workspace.run("push", file, "--mapping", "orders", "--dry-run", "--json")
    assert preview.code == 0, preview.err
    assert not created(sandbox)
    done = workspace.run("push", file, "--mapping", "orders", "--json")
    assert done.code == 0, done.err
    assert [each["file"] for each in done.json["files"]] == ["orders.csv"]
    assert created(sandbox) == {"A-1": 1}


def test_files_of_one_name_in_an_archive_are_told_apart_and_a_twin_is_left_out(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    monday, tuesday = order_lines(["A-1"]), order_lines(["A-2"])
    members = {"mon/orders.csv": monday, "tue/orders.csv": tuesday, "copy/orders.csv": monday}
    workspace.drop("week.zip", zipped({**members, "mon/orders.ack.json": "{}"}))
    workspace.job("orders-nightly", JOB)
    done = workspace.run("run", "orders-nightly", "--json")
    assert done.code == 0, done.err
    assert created(sandbox) == {"A-1": 1, "A-2": 1}
    results = sorted(path for path in (workspace.root / "outbound").rglob("orders*.result.csv"))
    assert len(results) == 2
    assert sum("A-1" in path.read_text() for path in results) == 1
    notes = [" ".join(each["notes"]) for each in done.json["files"]]
    assert ["as mon/orders.csv." in note for note in notes] == [True, False]
    assert ["as tue/orders.csv." in note for note in notes] == [False, True]
    for note in notes:
        assert "orders.ack.json was left out: it is one of our acknowledgements." in note
        assert "copy/orders.csv was left out: it is the same file as orders.csv beside it." in note
    assert names(workspace, "archive") == {"week.zip"}
    shown = workspace.run("runs", "show", done.json["run"]).out
    assert [f"week.zip/{inside}" in shown for inside in ("mon/orders.csv", "tue/orders.csv")] == [True, True], shown


def test_an_archive_that_is_dropped_again_creates_nothing_twice_and_both_are_kept(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.job("orders-nightly", JOB)
    for name, members in (
        ("drop.zip", {"orders.csv": order_lines(["A-1"])}),
        ("drop.zip", {"orders.csv": order_lines(["A-1"]), "more.csv": order_lines(["A-2"])}),
        ("other.zip", {"renamed.csv": order_lines(["A-1"])}),
    ):
        workspace.drop(name, zipped(members))
        if name == "other.zip":
            workspace.drop("twin.zip", zipped(members))
        done = workspace.run("run", "orders-nightly", "--json")
        assert done.code == 0, done.err
    assert created(sandbox) == {"A-1": 1, "A-2": 1}
    assert workspace.run("run", "orders-nightly").code == 0  # the twin's turn
    assert created(sandbox) == {"A-1": 1, "A-2": 1}
    assert names(workspace, "archive") == {"drop.zip", "drop.2.zip", "other.zip", "twin.zip"}
    assert "unchanged" in (workspace.root / "outbound/renamed.result.csv").read_text()
