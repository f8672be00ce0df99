"""Whoever gets hold of the disk later finds nothing of people whose time is over, in whatever file it once lay."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ledger.arrivals import arrival, evaluated
from ledger.conftest import empty, ledger, postgres, url  # noqa: F401
from support.issues import own, said
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace

from logistics_batch.errors import FileHeld
from logistics_batch.flows.doubts.settle import settle
from logistics_batch.flows.files.purge import purge_old, remove_leftovers
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import (
    Ledger,
    NewEvent,
    NewNotice,
    Outcome,
    digest_of_names,
    open_ledger,
)
from logistics_batch.ledger.itself import opening
from logistics_batch.ledger.records import Decided
from logistics_batch.messages import packed
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.model.issue import Issue
from logistics_batch.scratch import remove_stale_folders, scratch_folder
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

LONG_AGO, NOW = "2025-01-10T21:15:00+05:30", "2026-11-21T21:15:00+05:30"
BEFORE = "2026-10-22T21:15:00+05:30"
PHONE, WHO, STREET, FILE = "9812345678", "Asha Ramanathan", "12 Temple Street", "Asha_R_Kochi"
SECRETS = (PHONE, WHO, STREET, FILE)
DAY = 86_400.0


def found_in(paths: list[Path], secrets: tuple[str, ...] = SECRETS) -> dict[str, list[str]]:
    """Which of the words stand in which files."""
    contents = {path: path.read_bytes() for path in paths if path.is_file()}
    return {
        path.name: words for path, bytes_ in contents.items() if (words := [w for w in secrets if w.encode() in bytes_])
    }


def fill(ledger: Ledger, *, orders: int = 300) -> None:  # noqa: F811
    """Files of long ago in which everything that people can write holds a name; all of it is settled."""
    people = f'["{WHO}", "{PHONE}", "{STREET}"]'
    for number in range(6):
        run, name = f"R{number}", f"{FILE}_{number}.csv"
        ledger.runs.start(run, job="orders", kind="push", business_date="2025-01-10", now=LONG_AGO)
        bodies = {f"{run}-{order}": f"{people}{order}" for order in range(orders // 6)}
        came = replace(
            arrival(bodies, name=name, invalid=(90_000,), at=LONG_AGO), origin={"store": "s", "path": f"/in/{name}"}
        )
        assert came.mapped is not None
        words = packed({"reason": f"{PHONE} is too short.", "remedy": f"Ask {WHO}."})
        issue = replace(came.mapped.issues[0], values=words).at(value=PHONE)
        note = Issue.of("file.goes_on", name=WHO)
        ledger.planning.plan_file(run, replace(came, mapped=replace(came.mapped, issues=(issue,), notes=(note,))))
        ledger.files.hold_name(place="p", name=f"{FILE}_{number}", sha256=came.source.sha256)
        ledger.files.hold_name(place="p", name=f"{FILE}_{number}/fix.csv", sha256="0" * 64)
        ledger.runs.keep_notes(run, [Issue.of("file.gone", name=name)])
        planned = ledger.documents.stored(ledger.documents.planned_of(run)["id"])
        intents = ledger.attempts.step(outcomes=[], claim=planned, run=run, now=LONG_AGO)
        assert len(intents) == len(planned)
        ledger.attempts.step(
            outcomes=[
                Outcome(each.id, "accepted", "accepted", status=200, reply=WHO * 9, message=f"{PHONE} is served")
                for each in planned[1:]
            ]
            + [Outcome(planned[0].id, "held", "unknown", why=said(f"Ask {WHO}.", rule="awb"))],
            claim=[],
            run=run,
            now=LONG_AGO,
        )
        dropped = Outcome(planned[0].id, "abandoned", "decided", why=said(f"{WHO} called.", rule="drop"))
        ledger.attempts.settle(dropped, expected="held", now=LONG_AGO, decided=Decided(HeldDecision.DROP, WHO))
        ledger.runs.finish(run, exit_code=3, summary={}, now=LONG_AGO, stopped=f"{name} could not be answered")
        ledger.events.store([NewEvent(identity=run, received_at=LONG_AGO, raw=people.encode())], patience_seconds=5)


@pytest.fixture(params=["rollback journal", "write-ahead log"])
def sqlite(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    if request.param == "write-ahead log":
        monkeypatch.setattr(opening, "_WAL_SAFE_FROM", (3, 0, 0))
    opened = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="http://service.test")
    yield opened
    opened.close()


def test_nothing_of_it_is_left_in_the_bytes_of_the_ledger(sqlite: Ledger, tmp_path: Path) -> None:
    fill(sqlite)
    everything = lambda: [path for path in tmp_path.iterdir() if path.name.startswith("ledger")]  # noqa: E731
    assert {word for words in found_in(everything()).values() for word in words} == set(SECRETS)
    purged = sqlite.purging.purge(before=BEFORE)
    assert (purged.documents, purged.events, purged.files) == (300, 6, 6)
    assert found_in(everything()) == {}
    assert sqlite.itself.verify().findings == ()
    assert sqlite.purging.purge(before=BEFORE).documents == 0


def test_what_refers_to_it_still_works(ledger: Ledger) -> None:  # noqa: F811
    fill(ledger, orders=30)
    before = ledger.files.of_run()[0]
    again = replace(
        arrival({"R0-0": "x"}, name=before.name, at=NOW), origin={"store": "s", "path": f"/in/{before.name}"}
    )
    ledger.purging.purge(before=BEFORE)
    (file, *_) = ledger.files.of_run(run="R0")
    assert (file.name, file.sha256, file.rows_read) == ("purged-1.csv", before.sha256, before.rows_read)
    assert [each.key for each in ledger.documents.select()] == [
        f"R{run}-{order}" for run in range(6) for order in range(5)
    ]
    assert [(each.what, each.why) for each in ledger.documents.decisions(1)] == [("drop", "")]
    (changed,) = evaluated(ledger, arrival({"R0-1": "[]"}, at=NOW))
    assert changed.rule == "changed_after_acceptance"
    ledger.runs.start("R9", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R9", again)
    assert ledger.files.name_holder(place="p", name=f"{FILE}_0") == ""
    assert (digest_of_names(f"/in/{before.name}"), before.size) in ledger.files.sizes_at("orders")
    assert ledger.itself.verify().findings == ()


def test_what_waits_keeps_its_name_and_words(ledger: Ledger) -> None:  # noqa: F811
    ledger.runs.start("R1", job="orders", kind="push", business_date="2025-01-10", now=LONG_AGO)
    ledger.planning.plan_file("R1", arrival({"A": "x"}, name="open.csv", at=LONG_AGO))
    held = FileHeld(own("file|broken"), values={"reason": "Unreadable.", "remedy": "Send it again."})
    ledger.planning.plan_file("R1", arrival({}, name="held.csv", held=held, at=LONG_AGO))
    number = next(each.id for each in ledger.files.of_run() if each.name == "held.csv")
    ledger.files.hold_file(ledger.files.get(number), job="orders", stem="held", identity="i", now=LONG_AGO)
    ledger.runs.keep_notes("R1", [Issue("file.none")])
    ledger.purging.purge(before=BEFORE)
    assert [each.name for each in ledger.files.of_run()] == ["open.csv", "held.csv"]
    assert ledger.runs.notes_of("R1") == (Issue("file.none"),)
    ledger.files.close_held_file(number, now=NOW, why="done", who="operator")
    ledger.purging.purge(before=BEFORE)
    assert [each.name for each in ledger.files.of_run()] == ["open.csv", "purged-2.csv"]


def test_alerts_that_are_over_go_and_others_stay(ledger: Ledger) -> None:  # noqa: F811
    ledger.notices.note(NewNotice(key="a", kind="on_held", job="orders", title=FILE, text=WHO), now=LONG_AGO)
    ledger.purging.purge(before=BEFORE)
    assert [record["title"] for record in ledger.itself.records(personal=True) if record["table"] == "notice"] == [FILE]


class Later:
    """The clock of a run long after."""

    def __init__(self, parts: Parts, days: float) -> None:
        self._clock, self._days = parts.clock, days

    def now(self) -> datetime:
        return self._clock.now() + timedelta(days=self._days)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))


def later(parts: Parts, *, days: float, keep_days: float = 30) -> Parts:
    return replace(parts, clock=Later(parts, days), policy=replace(parts.policy, purge_after_seconds=keep_days * DAY))


def aged(path: Path, days: float) -> None:
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def test_a_whole_workspace_holds_nothing_of_it_when_its_time_is_over(tmp_path: Path, sandbox: RunningSandbox) -> None:
    import zipfile

    workspace = Workspace(tmp_path / "ws", url=sandbox.url)
    rows = f"H-1,{PHONE},{STREET} {WHO},560001,SKU-1,1\nH-2,12{PHONE},{STREET},560001,SKU-1,1\n"
    text = "Order No,Phone,Address,PIN,SKU,Qty\n" + rows
    with zipfile.ZipFile(workspace.root / f"{FILE}.zip", "w") as packed:  # what an archive holds is kept twice
        packed.writestr(f"{FILE}_inside.csv", text.replace("H-", "Z-"))
    plain = workspace.drop(f"{FILE}.csv", text, folder=".")
    for path in (plain, workspace.root / f"{FILE}.zip"):
        assert workspace.run("push", path, "--mapping", "orders").code == 3
    kept = workspace.root / "var/files"
    for folder in ("reconciliation/2025-01-10_r1", "asn-replies/20250110-1", ".opening-abc", "reconciliation/.x.part"):
        (kept / folder).mkdir(parents=True)
        (kept / folder / "f").write_text(WHO)
        aged(kept / folder, 2)
    (kept / "receipts").mkdir()
    copies = ("ledger.db.version-9", "ledger.db.version-9.part")
    for path in (kept / "receipts/a.csv", kept / ".half.part", *(workspace.root / "var" / each for each in copies)):
        path.write_text(WHO)
        aged(path, 2)
    for path in (plain, workspace.root / f"{FILE}.zip"):
        path.unlink()
    every = lambda: [path for path in (workspace.root / "var").rglob("*") if path.is_file()]  # noqa: E731
    assert len(found_in(every())) > 6
    with Opened(workspace.root).parts(Need()) as parts:
        settle(later(parts, days=20), run=None, wait=False)
        left = {path.name for path in every()}
        assert {"a.csv", "ledger.db.version-9"} <= left  # not yet
        assert not {".half.part", "ledger.db.version-9.part"} & left
        assert not list(kept.rglob(".opening-*")) and not list(kept.rglob("*.part"))
        purge_old(later(parts, days=40))
        assert found_in(every()) == {}
        assert parts.ledger.itself.verify().findings == ()
    assert workspace.run("runs").code == 0
    assert workspace.run("ledger", "verify").code == 0


def test_what_is_being_written_now_is_left_alone(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "ws", url="http://127.0.0.1:9")
    with Opened(workspace.root).parts(Need(calls=False)) as parts:
        parts.files.mkdir(parents=True)
        (parts.files / ".young.part").touch()
        remove_leftovers(parts)
        assert (parts.files / ".young.part").exists()


def test_folders_for_a_moment_that_a_dead_process_left_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = (
        "import time; from logistics_batch.scratch import scratch_folder\n"
        "with scratch_folder() as folder:\n"
        f"    (folder / 'sheet').write_text({WHO!r}); print(folder, flush=True); time.sleep(600)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    folder = Path(child.stdout.readline().strip())
    aged(folder, 1)
    foreign = tmp_path / "logistics-batch-of-a-person"
    foreign.mkdir()
    aged(foreign, 1)
    assert remove_stale_folders() == 0
    assert (folder / "sheet").exists()  # its process lives
    child.kill()
    child.wait()
    child.stdout.close()
    assert remove_stale_folders() == 1
    assert not folder.exists()
    assert foreign.exists()


def test_a_link_in_the_place_of_such_a_folder_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    aged(precious, 1)
    (tmp_path / "logistics-batch-scratch-x").symlink_to(precious)
    assert remove_stale_folders() == 0
    assert (precious / "file").exists()


def test_a_folder_for_a_moment_is_locked_while_it_is_used() -> None:
    with scratch_folder() as folder:
        descriptor = os.open(folder, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)
    assert not folder.exists()


def test_a_process_that_is_aborted_leaves_no_core(tmp_path: Path) -> None:
    """A core file would hold the API key and all rows that were being read."""
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if most == 0:
        pytest.skip("nothing leaves a core file here")
    workspace = Workspace(tmp_path / "ws", url="http://127.0.0.1:9")
    workspace.secret("events", "0123456789abcdef0123456789abcdef")
    workspace.configure("[receive]", 'secret_file = "secrets/events"')
    running = subprocess.Popen(
        workspace.command("receive", "--port", "0"),
        cwd=workspace.root,
        env=workspace.environment({}),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),  # noqa: PLW1509
    )
    assert running.stdout is not None
    assert "Listening" in running.stdout.readline()
    os.kill(running.pid, signal.SIGABRT)
    _, status = os.waitpid(running.pid, 0)
    running.returncode = -signal.SIGABRT
    running.stdout.close()
    assert os.WTERMSIG(status) == signal.SIGABRT
    assert not os.WCOREDUMP(status)
    assert not list(workspace.root.glob("core*"))
