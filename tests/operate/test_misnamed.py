"""Files whose names fit no job: seen in the run, in doctor and in the alert of the missing file; answered if wanted."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from operate.night_shift import KOLKATA, PlayedClock, Shift
from support.event_receiver import receiving
from support.workspace import Workspace, order_lines

from logistics_batch.flows.files.misnamed import misnamed_at
from logistics_batch.jobs import load_job
from logistics_batch.model.jobs.job import PushJob
from logistics_batch.operate.doctor import check_names, check_writing
from logistics_batch.operate.run_job import Order, run_job

JOB = """\
kind: push
mapping: orders
source: {{folder: ., path: "{path}", pattern: "{pattern}", ready: {{poll_every: 1ms}}, quarantine: /rejected{more}}}
results: {{folder: out}}
notify: [on_missing_file, on_held]
{schedule}
"""
OTHERS = "its name fits no job that looks there: the patterns are orders_*.csv, returns_*.csv."
EVENING = 'schedule: {cron: "0 21 * * *"}\nexpect: {by: "21:00"}'


def job(pattern: str, *, path: str = "/in", more: str = "", schedule: str = "") -> str:
    return JOB.format(path=path, pattern=pattern, more=more, schedule=schedule)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "night-shift", url="https://service.invalid")
    made.configure("[notify]", "file_names = true")
    (made.root / "in").mkdir()
    made.job("orders", job("orders_*.csv", schedule=EVENING))
    made.job("returns", job("returns_*.csv", path="/in/"))
    return made


@pytest.fixture
def shift(workspace: Workspace) -> Iterator[Shift]:
    with receiving() as people:
        started = Shift(workspace, PlayedClock(datetime(2026, 11, 3, 12, 0, tzinfo=KOLKATA)), people)
        yield started
        started.close()


def spec(shift: Shift, name: str = "orders") -> PushJob:
    found = load_job(shift.workspace.root, name)
    assert isinstance(found, PushJob)
    return found


def run_orders(shift: Shift) -> list[str]:
    report = run_job(shift.parts, spec(shift), Order(date(2026, 11, 3))).report
    return [f"{note.code}: {note.reason}" for note in report.notes]  # type: ignore[union-attr]


def test_a_run_names_it_with_the_pattern_that_it_nearly_fits(shift: Shift) -> None:
    for name in ("holiday.jpg", "order-3.csv", "returns_3.csv", "orders_4.ack.json", "~$orders_4.csv"):
        shift.workspace.drop(name, order_lines(["A"]), folder="in")
    notes = [note for note in run_orders(shift) if "orders_4" not in note]
    assert notes == [
        "file.left: holiday.jpg is left: " + OTHERS + " Rename it.",
        "file.left: order-3.csv is left: its name fits no job that looks there, but nearly orders_*.csv. Rename it.",
        "file.none: No file was found.",
    ]
    assert {each.why.code for each in shift.parts.ledger.files.left(job="orders")} == {
        "left.misnamed",
        "left.misnamed.near",
    }
    checks = list(check_names(shift.parts, [spec(shift), spec(shift, "returns")]))
    assert [(check.state, check.text) for check in checks] == [
        ("warning", "holiday.jpg is not taken."),
        ("warning", "order-3.csv is not taken."),
    ] * 2
    assert "nearly orders_*.csv" in checks[1].remedy


def test_another_ending_is_no_matter_of_the_name(shift: Shift) -> None:
    """Whoever renames a .xls to .xlsx is told that it is none, and must not be told then to name it .xls again."""
    shift.workspace.job("orders", job("orders_*.xlsx"))
    for name in ("orders_3.xls", "order-4.xls", "plan.ods", "returns_5.txt"):
        shift.workspace.drop(name, "x", folder="in")
    found = {file.name: why.reason for file, why in misnamed_at(shift.parts, spec(shift))}
    assert {name: re.findall("Rename|save it", why) for name, why in found.items()} == {
        "orders_3.xls": ["save it"],
        "order-4.xls": ["save it"],
        "plan.ods": ["save it"],
        "returns_5.txt": ["Rename"],
    }
    assert "orders_*.xlsx" in found["orders_3.xls"] and "returns_*.csv" not in found["orders_3.xls"]
    shift.workspace.drop("orders_6.xlsx", order_lines(["A"]), folder="in")
    (held,) = run_job(shift.parts, spec(shift), Order(date(2026, 11, 3))).report.files  # type: ignore[union-attr]
    assert "save it as a real .xlsx" in held.remedy and "Rename" not in held.remedy


def test_a_done_file_is_no_misnamed_file(shift: Shift) -> None:
    """Neither that of another job that looks there nor an empty one that no job asks for."""
    shift.workspace.job("refunds", job("refunds_*.csv").replace("{poll_every: 1ms}", '{done_file: "{name}.done"}'))
    for name, content in {"refunds_3.csv.done": "sha256 …", "orders_3.csv.done": "", "order-3.csv": "x"}.items():
        shift.workspace.drop(name, content, folder="in")
    assert [file.name for file, _ in misnamed_at(shift.parts, spec(shift))] == ["order-3.csv"]


def test_nothing_is_called_misnamed_while_a_job_cannot_be_read(shift: Shift) -> None:
    shift.workspace.drop("refunds_3.csv", order_lines(["A"]), folder="in")
    shift.workspace.job("refunds", "kind: push\nmappin: orders\n")
    assert misnamed_at(shift.parts, spec(shift)) == ()
    shift.workspace.job("refunds", job("refunds_*"))
    assert misnamed_at(shift.parts, spec(shift)) == ()
    (shift.workspace.root / "jobs/refunds.yaml").unlink()
    ((file, _),) = misnamed_at(shift.parts, spec(shift))
    assert file.name == "refunds_3.csv"


def test_the_alert_of_a_missing_file_says_what_lies_there_instead(shift: Shift) -> None:
    shift.workspace.drop("order-3.csv", order_lines(["A"]), folder="in")
    assert "[night-shift] orders: no file came for 2026-11-03" in shift.until("2026-11-03T21:15")
    (text,) = [text for title, text in shift.told if "no file came" in title]
    assert "order-3.csv lies there: its name fits no job that looks there, but nearly orders_*.csv." in text


def test_by_a_setting_it_goes_to_quarantine_with_a_note(shift: Shift) -> None:
    shift.workspace.job("orders", job("orders_*.csv", more=", misnamed_after: 2h"))
    shift.workspace.drop("order-3.csv", order_lines(["A"]), folder="in")
    rejected = shift.workspace.root / "rejected"
    run_orders(shift)
    shift.clock.at += timedelta(hours=1, minutes=59)
    run_orders(shift)
    assert not rejected.exists()
    shift.clock.at += timedelta(minutes=1)
    notes = run_orders(shift)
    assert notes == [
        "file.misnamed: order-3.csv was moved to /rejected, with a note: its name fits no job.",
        "file.none: No file was found.",
    ], "what was moved is not left as well"
    assert {path.name for path in rejected.iterdir()} == {"order-3.csv", "order-3.csv.why.txt"}
    assert "nearly orders_*.csv. Rename it, and drop it again." in (rejected / "order-3.csv.why.txt").read_text()
    assert shift.parts.ledger.files.left(job="orders") == []


def test_doctor_tries_to_write_where_jobs_write(shift: Shift) -> None:
    more = ", archive: '/done/{date}'"
    shift.workspace.job("orders", job("orders_*.csv", more=more))
    root = shift.workspace.root

    def checks() -> dict[str, str]:
        found = check_writing(shift.parts, [spec(shift)])
        return {check.name.removeprefix("writing, folder "): f"{check.state} {check.text}" for check in found}

    before = {path for path in root.rglob("*") if path.is_dir()}
    assert list(checks()) == [f"{root}/reports", "out", ".:/done/2026-11-03", ".:/rejected"]
    assert all(text.startswith("ok ") for text in checks().values())
    assert not list(root.rglob("logistics-batch-*.tmp"))
    assert {path for path in root.rglob("*") if path.is_dir()} == before, "folders that it made are gone again"
    (root / "rejected").write_text("a file where the folder should be")
    (root / "out").write_text("as well")
    wrong = {place: text for place, text in checks().items() if not text.startswith("ok ")}
    assert list(wrong) == ["out", ".:/rejected"]
    assert all(text.startswith("problem ") for text in wrong.values())
    assert not list(root.rglob("logistics-batch-*.tmp"))
