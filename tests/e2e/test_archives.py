"""Spreadsheets in archives: each file inside has its own answer, and the archive is put away when all have one."""

import gzip
import io
import zipfile
from collections import Counter

import pysequoia
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

JOB = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, pattern: "*", ready: {poll_every: 0.01s}, archive: /archive, quarantine: /rejected}
results: {folder: ., path: /outbound}
"""


def zipped(members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def names(workspace: Workspace, folder: str) -> set[str]:
    return {path.name for path in (workspace.root / folder).glob("*") if path.is_file()}


def created(sandbox: RunningSandbox) -> Counter[str]:
    return Counter(line["reference_number"] for line in sandbox.committed("order.created"))


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
    assert names(workspace, "rejected") == {"drop.zip", "cut.zip"}
    reasons = {each["file"]: each.get("reason", "") for each in done.json["files"]}
    assert "it is a PDF" in reasons["scan.pdf"]
    assert "it is a zip archive" in reasons["inner.zip"]
    assert "did not arrive completely" in reasons["cut.zip"]
    assert not reasons["orders.csv"]
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
