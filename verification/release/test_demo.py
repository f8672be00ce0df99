"""The whole demo as somebody runs it for the first time: it closes, as the README shows it, within the service unit."""

import csv
import io
import json
import os
import re
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pikepdf
import pytest
from docs.console import agrees
from docs.pages import ROOT, blocks
from rich.console import Console
from support.pages_process import Person
from support.service_unit import Cage
from support.workspace import Workspace

from logistics_batch.cli.commands.demo_account import print_account
from logistics_batch.demo.account import Account

FATES = {"accepted", "unchanged", "refused", "invalid", "blocked", "in_doubt", "held", "pending", "skipped"}


def night_with_pages(folder: Path, cage: Cage, **environment: str) -> dict[str, Any]:
    """Run it in the cage with the pages, open them as it says, look at one, and end it with Ctrl-C; its account."""
    command = cage.around(Workspace.command("demo", "--dir", folder, "--json", "--pages"))
    with subprocess.Popen(
        command,
        cwd=folder.parent,
        env=Workspace.environment(environment | cage.environment),
        preexec_fn=cage.refuse_new_code,  # noqa: PLW1509 - no threads but pytest's own
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            said = ""
            while not (link := re.search(r"open (http://[^/]+)(/welcome/\S+) in a browser", said)):
                line = process.stdout.readline()
                assert line, said
                said += line
            person = Person(link[1]).chooses(link[2])
            assert "orders-standard" in person.get("/").text
            assert person.get("/tonight.json").json()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
    account: dict[str, Any] = json.loads(said.partition("\nThe pages: ")[0])
    return account


def printed(account: dict[str, Any]) -> str:
    """The account as it is printed where nobody asks for JSON."""
    said = io.StringIO()
    print_account(cast("Account", account), Console(highlight=False, width=110, file=said))
    return said.getvalue()


@contextmanager
def nobody_calls() -> Iterator[str]:
    """The address of another service, which is not called."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.settimeout(0.2)
        yield f"http://127.0.0.1:{elsewhere.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            elsewhere.accept()


def journal(folder: Path, effect: str) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / "sandbox/journal.jsonl").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["event"] == "committed" and line["effect"] == effect]


def result_rows(file: dict[str, Any]) -> list[dict[str, str]]:
    path = next(Path(answer["path"]) for answer in file["answers"] if answer["path"].endswith(".result.csv"))
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(lines))


def stop_by_ctrl_c(folder: Path) -> None:
    """Begin it and stop it in the middle: all that it started ends."""
    process = subprocess.Popen(
        Workspace.command("demo", "--dir", folder),
        cwd=folder.parent,
        env=Workspace.environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("Running the job"):
            break
    port = int(json.loads((folder / "sandbox/ready.json").read_text())["url"].rpartition(":")[2])
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that it started in the foreground
    out, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert "The demo was stopped before its end." in err
    assert "Traceback" not in err
    assert not out
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


@pytest.mark.slow
@pytest.mark.real
def test_the_loop_is_stopped_closes_as_the_readme_shows_it_and_fits_into_the_service_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, SFTP, HTTP, PDFs, pages and all children."""
    folder, cage = tmp_path / "demo", Cage(tmp_path / "calls")
    stop_by_ctrl_c(folder)
    with nobody_calls() as url:  # no variable of the environment leads the samples to another service or ledger
        ledger = f"sqlite:///{tmp_path}/other.db"
        variables = {"SERVICE__BASE_URL": url, "SERVICE__API_KEY": "a-real-key", "LEDGER__URL": ledger}
        account = night_with_pages(folder, cage, **{f"LOGISTICS_BATCH_{name}": one for name, one in variables.items()})
    assert not (tmp_path / "other.db").exists()
    assert account["closed"]
    assert account["faults"] == []
    check_files(folder, account)
    check_comparison(account)
    check_labels(folder, account)
    check_status(folder, account)
    check_opened(folder, account)
    shown = next(block.text for block in blocks(ROOT / "README.md") if "spreadsheets" in block.text)
    assert agrees(f"…\n{shown.strip()}\n…", printed(account)), printed(account)
    with monkeypatch.context() as made:  # as by `make demo`, in a shell that does not find the name alone
        made.setattr("sys.argv", [".venv/bin/logistics-batch", "demo"])
        made.setenv("PATH", "/nowhere")
        assert "Look further: .venv/bin/logistics-batch --workspace" in printed(account)
    assert (folder / "earlier/1/logistics-batch.toml").is_file()
    assert len(journal(folder, "order.created")) == account["created"]["order"]
    if not cage.is_there:
        pytest.skip("strace is not on this machine: whether the night fits into the unit was not seen")
    assert "held as a whole" not in printed(account)  # a reader that could not start holds what it was to read
    assert {"openat", "execve", "prlimit64"} <= cage.used()
    assert cage.forbidden() == set()


def check_files(folder: Path, account: dict[str, Any]) -> None:
    """Every row has one fate, in the account as in the answers; the journal has what the answers say."""
    assert len(account["files"]) == 5
    accepted: Counter[str] = Counter()
    for file in account["files"]:
        rows = result_rows(file)
        assert file["rows"] == len(rows) == sum(file["counts"].values())
        assert len({(row["sheet"], row["row"]) for row in rows}) == len(rows)
        assert Counter(row["fate"] for row in rows) == file["counts"]
        assert set(file["counts"]) <= FATES
        assert len(file["bad_rows"]) == file["counts"].get("invalid", 0)
        assert all(row["cell"] and row["reason"] and row["fix"] for row in file["bad_rows"])
        accepted[file["noun"]] += len({row["document"] for row in rows if row["fate"] == "accepted"})
    orders = Counter(line["reference_number"] for line in journal(folder, "order.created"))
    asns = Counter(line["invoice_number"] for line in journal(folder, "asn.created"))
    assert set(orders.values()) == set(asns.values()) == {1}
    assert accepted == account["created"] == {"order": len(orders), "ASN": len(asns)}


def check_comparison(account: dict[str, Any]) -> None:
    found = account["reconciliation"]
    lines = {one["name"]: one["lines"] for one in found["classes"]}
    assert found["complete"]
    assert sum(lines.values()) == found["lines"]
    assert {"NOT_SENT", "WRONG_SKU", "DAMAGED", "SHORT", "OVER", "matched"} <= set(lines)
    assert lines["WRONG_SKU"] == 1
    document = json.loads(Path(next(f["path"] for f in found["files"] if f["path"].endswith(".json"))).read_text())
    assert Counter(one["code"] for one in document["exceptions"]) == {
        name: count for name, count in lines.items() if name.isupper()
    }


def check_labels(folder: Path, account: dict[str, Any]) -> None:
    labels = account["labels"]
    assert labels["missing"] == []
    assert labels["orders"] == account["created"]["order"]
    bundle = next(Path(file["path"]) for file in labels["files"] if file["path"].endswith("labels.pdf"))
    with pikepdf.open(bundle) as pdf:
        assert len(pdf.pages) == labels["pages"] >= labels["labels"] == labels["orders"]
    with (bundle.parent / "index.csv").open(encoding="utf-8-sig", newline="") as lines:
        printed = {row["awb_number"] for row in csv.DictReader(lines)}
    assert printed == {line["awb_number"] for line in journal(folder, "order.created")}


def check_status(folder: Path, account: dict[str, Any]) -> None:
    """Every event that was sent came in, and the feed tells of each order, with what the service shows of it."""
    status = account["status"]
    assert status["events"] == status["announced"] == sum(account["reached"].values())
    feed = folder / "sftp/outbound/status/order-status-000001.csv"
    assert Path(status["files"][0]["path"]) == feed
    with feed.open(encoding="utf-8-sig", newline="") as lines:
        told = {row["awb_number"]: (row["status"], row["source"]) for row in csv.DictReader(lines)}
    *_, last = account["reached"]
    assert told == {line["awb_number"]: (last, "event") for line in journal(folder, "order.created")}
    assert status["fed"] == len(told) == account["created"]["order"]


def check_opened(folder: Path, account: dict[str, Any]) -> None:
    """Every file that the account names is there to be opened, at the place on the server that it names."""
    opened = [one for file in account["files"] for one in file["answers"]]
    opened += [*account["reconciliation"]["files"], *account["labels"]["files"], *account["status"]["files"]]
    opened.append(account["receipts"])
    for one in opened:
        assert Path(one["path"]).stat().st_size
        assert Path(one["path"]) == folder / "sftp" / one["server_path"].lstrip("/")
    for name in ("asns", "orders"):
        assert not list((folder / "sftp/inbound" / name).iterdir()), "processed files are archived"
    assert (folder / "secrets").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (folder / "secrets").iterdir())
