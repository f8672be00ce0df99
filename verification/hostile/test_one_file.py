"""One file never stops the others: whatever its name, its digits or a mistake of the program, the rest is answered."""

import errno
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.event_receiver import Receiver, receiving
from support.sandbox_process import RunningSandbox, created, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch.cli import front
from logistics_batch.cli.watching import observed_run
from logistics_batch.errors import ProgramFailed, StoreError
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.push import push_by_hand
from logistics_batch.intake.containers import Unpacker
from logistics_batch.intake.stores.folder import FolderStore
from logistics_batch.intake.stores.store import Fetched, RemoteFile
from logistics_batch.jobs import load_job
from logistics_batch.model.report import Fate, RunReport
from logistics_batch.operate import run_job as running
from logistics_batch.operate.run_job import Order, run_job
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

DAY = date(2026, 11, 20)
JOB = """\
kind: push
mapping: orders
source:
  folder: inbound
  path: /
  pattern: ["*"]
  ready: {unchanged_for: 2, poll_every: 10ms}
  archive: /archive
  quarantine: /rejected
results: {folder: results, path: /}
"""
NUMBERED = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
lines_from: {columns: ["SKU {n}"]}
lines: {item_name: {from: "SKU {n}"}}
"""
SECRET = "Asha Rao, 98765 43210, 12 Market Road"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


@pytest.fixture
def workspace(tmp_path: Path, service: RunningSandbox) -> Workspace:
    made = Workspace(tmp_path / "workspace", url=service.url)
    made.job("orders", JOB)
    for folder in ("inbound", "results"):
        (made.root / folder).mkdir()
    return made


@pytest.fixture
def parts(workspace: Workspace) -> Iterator[Parts]:
    with Opened(workspace.root).parts(Need()) as opened:
        yield opened


@pytest.fixture
def people() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def zipped(name: str, content: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def reference(request: pytest.FixtureRequest, letter: str) -> str:
    """An order number that no other test of the module has."""
    return f"{letter}-{zlib.crc32(request.node.name.encode())}"


@pytest.mark.parametrize(
    ("name", "packing", "is_sent"),
    [
        (f"orders_b.csv{' ' * 200}", None, False),
        (f"orders_b.{'x' * 240}", None, False),
        (f"{'o' * 251}.csv", None, True),
        (f"{'o' * 253}.x", None, False),
        ("packed.zip", f"orders_b.{'x' * 246}", False),
        (f"orders_b.{'x' * 240}.gz", "gzip", False),
    ],
    ids=["200 blanks", "long suffix", "255 letters", "255 letters, held", "in a zip", "in a gzip"],
)
def test_a_hostile_name_costs_its_own_answer(
    workspace: Workspace,
    service: RunningSandbox,
    request: pytest.FixtureRequest,
    name: str,
    packing: str | None,
    is_sent: bool,
) -> None:
    ours, theirs = reference(request, "A"), reference(request, "B")
    content = order_lines([theirs])
    packed = {None: content.encode(), "gzip": gzip.compress(content.encode())}.get(packing)
    workspace.drop("orders_a.csv", order_lines([ours]))
    workspace.drop(name, packed if packed is not None else zipped(str(packing), content))
    done = workspace.run("run", "orders", "--json")
    assert done.code == (0 if is_sent else 4), done.err
    assert "the program itself failed" not in done.err
    assert (created(service)[ours], created(service)[theirs]) == (1, int(is_sent))
    assert_both_answered(workspace)
    assert [run["exit_code"] for run in workspace.run("runs", "--json").json["runs"]] == [done.code]


def assert_both_answered(workspace: Workspace) -> None:
    """Nothing lies in the inbound folder any more, and each file has its answers; what was held lies with a note."""
    assert [each for each in names_in(workspace.root / "inbound") if each not in ("archive", "rejected")] == []
    answers = workspace.root / "results"
    for ending in (".ack.json", ".result.csv", ".result.xlsx"):
        assert len([each for each in names_in(answers) if each.endswith(ending)]) == 2
    held = [each for each in names_in(workspace.root / "inbound/rejected") if not each.endswith(".why.txt")]
    whys = [each for each in names_in(workspace.root / "inbound/rejected") if each.endswith(".why.txt")]
    assert len(held) == len(whys)
    assert len(held) + len(names_in(workspace.root / "inbound/archive")) == 2


@pytest.mark.parametrize("digits", ["9" * 4_300, "1" * 4_301, "0" * 4_999 + "1"], ids=["4,300", "4,301", "zeros"])
def test_a_header_of_thousands_of_digits_costs_its_own_answer(
    workspace: Workspace, service: RunningSandbox, request: pytest.FixtureRequest, digits: str
) -> None:
    workspace.mapping("orders", NUMBERED)
    ours, theirs = reference(request, "A"), reference(request, "B")
    head = "Order No,Phone,Address,SKU 1,SKU 2"
    workspace.drop("orders_a.csv", f"{head}\n{ours},9876543210,1 Road,tea,rice\n")
    workspace.drop("orders_b.csv", f"{head},SKU {digits}\n{theirs},9876543210,1 Road,tea,rice,salt\n")
    done = workspace.run("run", "orders", "--json")
    assert done.code in (0, 3, 4), done.err
    assert created(service)[ours] == 1
    assert_both_answered(workspace)


class _Panic(BaseException):
    """As polars panics: no Exception."""


TROUBLES: list[BaseException] = [
    TypeError(SECRET),
    RecursionError(SECRET),
    MemoryError(SECRET),
    ValueError(f"Exceeds the limit (4300 digits) {SECRET}"),
    OSError(36, f"File name too long {SECRET}"),
    pl.exceptions.ComputeError(SECRET),
    _Panic(SECRET),
]


class Fetching(FolderStore):
    """A folder whose fetching has a mistake for one file."""

    def __init__(self, root: Path, trouble: BaseException) -> None:
        super().__init__(root)
        self._trouble = trouble

    def fetch(self, file: RemoteFile, *, to: Path) -> Fetched:
        if file.name == "orders_b.csv":
            raise self._trouble
        return super().fetch(file, to=to)


def spoiled(parts: Parts, stage: str, trouble: BaseException) -> Parts:
    """Parts with a mistake that shows at one stage of the work on orders_b.csv."""

    def limited(work: Any, *, about: str, returns: Any = (), rows_read: int = 0) -> Any:
        if about == "orders_b.csv" and stage == "read":
            raise trouble
        return parts.limited(work, about=about, returns=returns, rows_read=rows_read)

    def unpack(path: Path, *, name: str, to: Path) -> Any:
        if name == "orders_b.csv" and stage == "unpack":
            raise trouble
        return Unpacker()(path, name=name, to=to)

    def opened(place: Any) -> Any:
        if place.folder == "inbound" and stage == "fetch":
            return Fetching(parts.files.parents[1] / "inbound", trouble)
        return parts.open_store(place)

    return replace(parts, limited=limited, unpack=unpack, open_store=opened)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("stage", ["fetch", "unpack", "read", "plan"])
def test_a_mistake_of_the_program_costs_the_file_it_happened_on(
    workspace: Workspace,
    parts: Parts,
    service: RunningSandbox,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    stage: str,
    trouble: BaseException,
) -> None:
    ours, theirs = reference(request, "A"), reference(request, "B")
    workspace.drop("orders_a.csv", order_lines([ours]))
    workspace.drop("orders_b.csv", order_lines([theirs]))
    if stage == "plan":
        plan_file = parts.ledger.planning.plan_file

        def plan(run: str, arrival: Any) -> int:
            if arrival.source.name == "orders_b.csv" and arrival.held is None:
                raise trouble
            return plan_file(run, arrival)

        monkeypatch.setattr(parts.ledger.planning, "plan_file", plan)
    job = load_job(workspace.root, "orders")
    outcome = run_job(spoiled(parts, stage, trouble), job, Order(DAY))
    assert outcome.exit_code == 4
    assert (created(service)[ours], created(service)[theirs]) == (1, 0)
    assert_both_answered(workspace)
    (held,) = [file for file in parts.ledger.files.of_run() if file.rule]
    assert (held.name, held.rule) == ("orders_b.csv", "file|program_error")
    assert type(trouble).__name__ in held.reason
    told = json.loads((workspace.root / "results/orders_b.ack.json").read_text())
    assert (told["state"], told["reason"]) == ("held", held.reason)
    assert "orders_b.csv" in (workspace.root / "inbound/rejected/orders_b.csv.why.txt").read_text()
    (line,) = [each.getMessage() for each in caplog.records if "orders_b.csv" in each.getMessage()]
    assert f"{type(trouble).__name__} at " in line
    assert "test_one_file.py:" in line
    said = caplog.text + "".join(path.read_text() for path in (workspace.root / "results").glob("*.json"))
    assert not any(word in said for word in SECRET.split(", "))


def test_an_answer_on_which_the_program_fails_is_written_without_the_sender_s_columns(
    workspace: Workspace, parts: Parts, request: pytest.FixtureRequest
) -> None:
    def fails_with_cells(work: Any, *, about: str, returns: Any = (), rows_read: int = 0) -> Any:
        if about == "orders_b.csv" and work.__name__ == "answer_files":
            raise TypeError(SECRET)
        return parts.limited(work, about=about, returns=returns, rows_read=rows_read)

    limited = replace(parts, limited=fails_with_cells)
    for letter in "ab":
        workspace.drop(f"orders_{letter}.csv", order_lines([reference(request, letter)]))
    report = run_job(limited, load_job(workspace.root, "orders"), Order(DAY)).report
    assert isinstance(report, RunReport)
    assert report.counts[Fate.ACCEPTED] == 2
    assert_both_answered(workspace)
    note = " ".join(each.reason for each in report.notes)
    assert "orders_b.csv were written without the sender's columns" in note
    assert SECRET not in note


def test_a_full_disk_holds_no_file(
    workspace: Workspace, parts: Parts, service: RunningSandbox, request: pytest.FixtureRequest
) -> None:
    """It is no matter of the file, so nothing goes to quarantine: the next run takes it."""
    workspace.drop("orders_b.csv", order_lines([reference(request, "B")]))
    job = load_job(workspace.root, "orders")
    with pytest.raises(StoreError, match="No space left"):
        run_job(spoiled(parts, "read", OSError(errno.ENOSPC, "No space left on device")), job, Order(DAY))
    assert names_in(workspace.root / "inbound/rejected") == []
    assert run_job(parts, job, Order(DAY)).exit_code == 0
    assert created(service)[reference(request, "B")] == 1


def test_a_dry_run_shows_the_file_on_which_the_program_fails_as_held(
    workspace: Workspace, parts: Parts, request: pytest.FixtureRequest
) -> None:
    for letter in "ab":
        workspace.drop(f"orders_{letter}.csv", order_lines([reference(request, letter)]))
    job = load_job(workspace.root, "orders")
    report = run_job(spoiled(parts, "read", TypeError(SECRET)), job, Order(DAY, dry_run=True)).report
    assert isinstance(report, RunReport)
    assert [bool(file.reason) for file in report.files] == [False, True]
    assert report.counts[Fate.PENDING] == 1


def test_pushed_by_hand_one_file_does_not_stop_the_other_either(
    workspace: Workspace, parts: Parts, service: RunningSandbox, request: pytest.FixtureRequest
) -> None:
    ours, theirs = reference(request, "A"), reference(request, "B")
    paths = [
        workspace.drop(f"orders_b.csv{' ' * 200}", order_lines([theirs]), folder="."),
        workspace.drop(f"orders_c.{'x' * 240}", order_lines([theirs]), folder="."),
        workspace.drop("orders_a.csv", order_lines([ours]), folder="."),
    ]
    report = push_by_hand(parts, paths, mapping="orders", results=None, dry_run=False)
    assert [bool(file.reason) for file in report.files] == [True, True, False]
    assert created(service)[ours] == 1


def test_a_mistake_outside_one_file_is_in_runs_in_the_log_and_in_an_alert(
    workspace: Workspace, people: Receiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of `run JOB`, which cron starts; and of a job that asks for no alerts."""
    workspace.secret("alerts", f"json://{people.url.removeprefix('http://')}\n")
    workspace.configure("[notify]", 'urls_file = "secrets/alerts"', "[log]", 'file = "var/log.txt"')
    workspace.job("orders", f"{JOB}notify: []\n")
    monkeypatch.setattr(running, "run_push_job", fails)
    assert front.run(["--workspace", str(workspace.root), "run", "orders", "--business-date", "2026-11-20"]) == 5
    told = capsys.readouterr().err
    assert "The program itself failed (KeyError)." in told
    assert "KeyError at " in told
    (run,) = workspace.run("runs", "--json").json["runs"]
    assert (run["job"], run["exit_code"], run["stopped"]) == ("orders", 5, "The program itself failed (KeyError).")
    log = (workspace.root / "var/log.txt").read_text()
    assert "orders: the program itself failed: KeyError at " in log
    assert "test_one_file.py:" in log
    _, alert = people.next()
    assert "orders failed for 2026-11-20" in alert["title"]
    assert "The program itself failed (KeyError)." in alert["message"]
    assert not any(word in f"{told}{log}{alert}" for word in SECRET.split(", "))


def test_people_are_told_of_a_file_on_which_the_program_fails(
    workspace: Workspace, parts: Parts, request: pytest.FixtureRequest, people: Receiver
) -> None:
    workspace.secret("alerts", f"json://{people.url.removeprefix('http://')}\n")
    workspace.configure("[notify]", 'urls_file = "secrets/alerts"', "[log]", 'file = "var/log.txt"')
    for letter in "ab":
        workspace.drop(f"orders_{letter}.csv", order_lines([reference(request, letter)]))
    job = load_job(workspace.root, "orders")
    observed_run(Opened(workspace.root), spoiled(parts, "read", TypeError(SECRET)), job, Order(DAY))
    _, alert = people.next()
    assert "something waits for a person" in alert["title"]
    assert "is held as a whole: the program itself failed on it, the log says where" in alert["message"]
    log = (workspace.root / "var/log.txt").read_text()
    assert "The program failed on orders_b.csv: TypeError at " in log
    assert not any(word in f"{log}{alert}" for word in SECRET.split(", "))


@pytest.mark.parametrize("kind", ["settle", "push"])
def test_a_mistake_in_the_middle_of_a_run_ends_its_record(
    workspace: Workspace, parts: Parts, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    from logistics_batch.flows.push import push

    workspace.job("settle", "kind: settle\n")
    monkeypatch.setattr(running, "settle", fails)
    monkeypatch.setattr(push, "pull", fails)
    job = load_job(workspace.root, "settle" if kind == "settle" else "orders")
    with pytest.raises(ProgramFailed):
        run_job(parts, job, Order(DAY))
    (run,) = parts.ledger.runs.latest()
    assert (run.exit_code, run.stopped) == (5, "The program itself failed (KeyError).")


def test_a_dying_disk_is_told_as_such(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def dies(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, "Input/output error", f"/srv/wms/{SECRET}.csv")

    monkeypatch.setattr(running, "run_push_job", dies)
    assert front.run(["--workspace", str(workspace.root), "run", "orders", "--business-date", "2026-11-20"]) == 5
    told = capsys.readouterr().err
    assert "This machine failed in /srv/wms: Input/output error." in told
    assert "See to its disk" in told
    assert not any(word in told for word in ("eport this", "eport it", *SECRET.split(", ")))
    (run,) = workspace.run("runs", "--json").json["runs"]
    assert (run["exit_code"], run["stopped"]) == (5, "This machine failed in /srv/wms: Input/output error.")


def fails(*_: Any, **__: Any) -> None:
    raise KeyError(SECRET)
