"""What is brought from where files are dropped: whole files, in the order in which they came, and never half of one."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest
from support.workspace import Workspace, order_lines

from logistics_batch.errors import LedgerBusy, RunStopped, StoreError
from logistics_batch.flows.files.pull import Pulled, pull
from logistics_batch.flows.files.purge import remove_leftovers
from logistics_batch.flows.parts import Clock, Parts, Progress
from logistics_batch.flows.push.push import run_push_job
from logistics_batch.jobs import parse_job
from logistics_batch.model.jobs.job import PushJob
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened


def told(found: Pulled) -> tuple[str, ...]:
    """Its notes, in words."""
    return tuple(note.reason for note in found.notes)


DAY = date(2026, 11, 21)
JOB = """\
kind: push
mapping: orders
source: {folder: inbound, path: /, ready: {poll_every: 10s}}
"""


class BusyClock:
    """Nobody waits; while the program would, `meanwhile` happens with the number of the nap."""

    def __init__(self, clock: Clock, meanwhile: Callable[[int], None]) -> None:
        self._clock, self._meanwhile, self.naps = clock, meanwhile, 0

    def now(self) -> datetime:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        self.naps += 1
        self._meanwhile(self.naps)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    Workspace(tmp_path, url="https://service.invalid")
    (tmp_path / "inbound").mkdir()
    with Opened(tmp_path).parts(Need(calls=False)) as opened:
        opened.files.mkdir(parents=True)
        yield opened


def orders_job(text: str = JOB) -> PushJob:
    job = parse_job(text, name="orders", path="jobs/orders.yaml")
    assert isinstance(job, PushJob)
    return job


def pulled(
    parts: Parts, tmp_path: Path, meanwhile: Callable[[int], None] = lambda _: None, *, job: str = JOB
) -> tuple[Pulled, int]:
    """What a run brings, and how often it waited for another listing."""
    clock = BusyClock(parts.clock, meanwhile)
    spec = orders_job(job)
    store = parts.open_store(spec.source.place)
    found = pull(replace(parts, clock=clock), store, spec, business_date=DAY, to=parts.files)
    store.close()
    return found, clock.naps


def test_files_are_taken_in_the_order_in_which_they_came(parts: Parts, tmp_path: Path) -> None:
    for name, modified in (("b.csv", 300), ("a.csv", 300), ("c.csv", 100)):
        path = tmp_path / "inbound" / name
        path.write_text(order_lines([name]))
        os.utime(path, (modified, modified))
    found, naps = pulled(parts, tmp_path)
    assert [file.name for file in found.files] == ["c.csv", "a.csv", "b.csv"]
    assert naps == 1


def test_an_upload_that_only_paused_is_left_for_the_next_run(parts: Parts, tmp_path: Path) -> None:
    """It looked complete in as many listings as the job wants, but its last line had no end."""
    whole = order_lines(["A", "B", "C"])
    path = tmp_path / "inbound/orders.csv"
    path.write_text(whole[:70])

    def upload_goes_on(nap: int) -> None:
        if nap == 3:
            path.write_text(whole)

    found, _ = pulled(parts, tmp_path, upload_goes_on)
    assert found.files == ()
    assert told(found) == ("orders.csv is left for the next run: its last line does not end, and it still moves.",)
    found, naps = pulled(parts, tmp_path)
    assert ([file.path.read_text() for file in found.files], naps) == ([whole], 1)


def test_a_file_that_will_get_no_end_is_taken_as_it_is(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "inbound/orders.csv").write_text(order_lines(["A"]).rstrip("\n"))
    (tmp_path / "inbound/orders.xlsx").write_bytes(b"PK\x03\x04" + bytes(500))
    found, naps = pulled(parts, tmp_path)
    assert sorted(file.name for file in found.files) == ["orders.csv", "orders.xlsx"]
    assert (found.notes, naps) == ((), 4)  # one for the job's rule, three for the ends


def test_another_job_may_take_a_file_meanwhile(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "inbound/orders.csv").write_text(order_lines(["A"]).rstrip("\n"))
    found, _ = pulled(parts, tmp_path, lambda nap: (tmp_path / "inbound/orders.csv").unlink() if nap == 2 else None)
    assert found.files == ()


def test_what_is_no_file_is_noted_and_not_waited_for(parts: Parts, tmp_path: Path) -> None:
    inbound = tmp_path / "inbound"
    (inbound / "orders_0903").mkdir()
    os.mkfifo(inbound / "pipe.csv")
    (inbound / "dangling.csv").symlink_to("nowhere.csv")
    found, naps = pulled(parts, tmp_path)
    assert (found.files, naps) == ((), 0)
    assert sorted(told(found)) == [
        "dangling.csv is left: it is a link, and links are not followed.",
        "orders_0903 is left: it is a folder, and what is in it is not read; drop the files themselves.",
        "pipe.csv is left: it is a pipe, a socket or a device, and no file.",
    ]
    assert sorted(file.name for file, _ in found.left) == ["dangling.csv", "orders_0903", "pipe.csv"]


def test_an_upload_that_broke_off_is_noted_by_the_name_that_it_was_to_get(parts: Parts, tmp_path: Path) -> None:
    job = JOB.replace("path: /,", "path: /, pattern: ['orders_*.csv'],")
    for name in ("orders_thu.csv.part", "orders_fri.csv.filepart", "asns_thu.csv.part", "orders_thu.xlsx.part"):
        (tmp_path / "inbound" / name).write_text("half")
    found, _ = pulled(parts, tmp_path, job=job)
    assert {file.name for file, _ in found.left} == {"orders_fri.csv.filepart", "orders_thu.csv.part"}


def test_folders_in_which_the_job_keeps_its_own_are_nobodys_trouble(parts: Parts, tmp_path: Path) -> None:
    put_away = "archive: '/{date}/done', quarantine: /rejected"
    job = JOB.replace("path: /,", f"path: /, {put_away},") + "results: {folder: inbound/answers}\n"
    for name in ("2026-11-20/done", "rejected", "answers", ".cache"):
        (tmp_path / "inbound" / name).mkdir(parents=True)
    found, _ = pulled(parts, tmp_path, job=job)
    assert (found.left, found.notes) == ((), ())


def test_a_name_that_is_not_unicode_is_told_in_words_that_can_be_kept(parts: Parts, tmp_path: Path) -> None:
    """As Windows programs may write it; it must not end the run, nor keep the other files from it."""
    (tmp_path / "inbound/ok.csv").write_text(order_lines(["A"]))
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/inbound/r\xe9cap.csv")).write_text(order_lines(["B"]))
    found, _ = pulled(parts, tmp_path)
    assert [file.name for file in found.files] == ["ok.csv"]
    assert told(found) == ("r\\udce9cap.csv is left: its name is not valid Unicode; rename it.",)
    assert told(found)[0].encode()
    assert [why.reason for _, why in found.left] == ["its name is not valid Unicode; rename it"]


class BetweenListingAndFetching(Progress):
    """Does something in that moment."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def start(self, label: str, total: int | None) -> None:
        if label == "Fetching":
            self._act()


def test_a_file_that_was_gone_when_it_was_to_be_fetched_is_no_failure(parts: Parts, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / "inbound" / name).write_text(order_lines([name]))
    taken = BetweenListingAndFetching((tmp_path / "inbound/a.csv").unlink)
    found, _ = pulled(replace(parts, progress=taken), tmp_path)
    assert [file.name for file in found.files] == ["b.csv"]
    assert (told(found), found.failed) == (("a.csv was gone when it was to be fetched.",), ())


def test_a_file_that_cannot_be_read_stops_only_itself(parts: Parts, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / "inbound" / name).write_text(order_lines([name]))

    def become_a_link() -> None:
        (tmp_path / "inbound/a.csv").unlink()
        (tmp_path / "inbound/a.csv").symlink_to("b.csv")

    found, _ = pulled(replace(parts, progress=BetweenListingAndFetching(become_a_link)), tmp_path)
    assert [file.name for file in found.files] == ["b.csv"]
    (failed,) = found.failed
    assert failed.startswith("a.csv could not be fetched: ")
    assert failed.endswith("it is a link, and links are not followed. Put the file itself there.")


def test_a_done_file_is_no_news_with_its_file_or_without(parts: Parts, tmp_path: Path) -> None:
    inbound = tmp_path / "inbound"
    (inbound / "f.csv").write_text(order_lines(["A"]))
    for name in ("f.csv", "gone.csv"):
        (inbound / f"{name}.done").touch()
    job = JOB.replace("{poll_every: 10s}", '{done_file: "{name}.done"}')
    found, _ = pulled(parts, tmp_path, job=job)
    assert ([file.name for file in found.files], told(found), found.left) == (["f.csv"], (), ())


class OnceFetched(Progress):
    """Does something when all files were fetched."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._label, self._act = "", act

    def start(self, label: str, total: int | None) -> None:
        self._label = label

    def done(self) -> None:
        if self._label == "Fetching":
            self._act()


def test_while_a_queued_run_waits_for_uploads_others_send(parts: Parts, tmp_path: Path) -> None:
    """And what others took meanwhile is not read, nor is the old version of a file; what came is taken."""
    inbound, holds = tmp_path / "inbound", []
    for name in ("gone.csv", "other.csv"):
        (inbound / name).write_text(order_lines([name]))

    def others_send(nap: int) -> None:
        if nap == 1:
            with parts.ledger.sending("another job"):
                holds.append("another job")
        else:
            with pytest.raises(LedgerBusy), parts.ledger.sending("another job"):
                pass
            holds.append("orders")

    def another_run_ends() -> None:
        if holds == ["another job"]:
            (inbound / "gone.csv").rename(tmp_path / "archived.csv")
            (inbound / "other.csv").write_text("Colour\nred\n")
            (inbound / "new.csv").write_text("Colour\nblue\n")

    busy = replace(parts, clock=BusyClock(parts.clock, others_send), progress=OnceFetched(another_run_ends))
    report = run_push_job(busy, orders_job(), business_date=DAY, dry_run=False, wait_for_ledger=True)
    assert holds == ["another job", "orders"]
    assert sorted(each.file for each in report.files) == ["new.csv", "other.csv"]
    assert report.held_files == 2
    assert sorted(path.suffix for path in parts.files.iterdir()) == [".csv", ".csv"]


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_run_that_is_asked_to_end_while_it_looks_for_files_did_not_end_well(
    parts: Parts, tmp_path: Path, end: str
) -> None:
    """Else its planned time would be over, and the file wait for the next one. The last line may have no end."""
    (tmp_path / "inbound/a.csv").write_text(order_lines(["A"]).rstrip("\n") + end)
    stop = threading.Event()
    busy = replace(parts, stop=stop, clock=BusyClock(parts.clock, lambda nap: stop.set() if nap > (not end) else None))
    with pytest.raises(RunStopped):
        run_push_job(busy, orders_job(), business_date=DAY, dry_run=False)
    (run,) = parts.ledger.runs.latest(limit=1)
    assert (run.state, run.exit_code) == ("stopped", RunStopped.exit_code)


def test_a_queued_run_whose_server_cannot_be_reached_is_written_down(parts: Parts, tmp_path: Path) -> None:
    (tmp_path / "inbound").rmdir()
    with pytest.raises(StoreError):
        run_push_job(parts, orders_job(), business_date=DAY, dry_run=False, wait_for_ledger=True)
    (run,) = parts.ledger.runs.latest(limit=1)
    assert (run.job, run.state, run.exit_code) == ("orders", "stopped", StoreError.exit_code)
    assert run.stopped


def test_folders_of_other_runs_may_go_while_leftovers_are_looked_for(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing = parts.files / ".landing.part"
    landing.mkdir()
    scan = os.scandir

    def scanned(path: str) -> object:
        if str(path) == str(landing):
            landing.rmdir()
        return scan(path)

    monkeypatch.setattr(os, "scandir", scanned)
    remove_leftovers(parts)
    assert not landing.exists()
