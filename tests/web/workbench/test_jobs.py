"""Jobs are run and paused on the pages, with who and why; schedule, its list and doctor obey and say so."""

import json
import time
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from support.pages_process import Person, RunningPages
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import open_ledger

from .conftest import JOB

ZONE = "Asia/Kolkata"


def job(person: Person, name: str = "nightly") -> dict[str, Any]:
    found: dict[str, Any] = person.get(f"/jobs/{name}.json").json()
    return found


def ended(person: Person, name: str = "nightly") -> dict[str, Any]:
    """The job once what was begun came to its end."""
    for _ in range(300):
        found = job(person, name)
        if found["begun"] and found["begun"]["outcome"]:
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def test_a_job_is_run_as_the_command_runs_it(pages: RunningPages, night: Workspace) -> None:
    operator = pages.person("operator")
    before = job(operator)["runs"]
    night.drop("now.csv", order_lines(["J-1"]), folder="drop")
    answer = operator.post("/jobs/run", {"job": "nightly"})
    assert answer.headers["location"] == "/jobs/nightly"
    found = ended(operator)
    assert found["begun"]["who"] == "operator of tests"
    assert "1 accepted" in found["begun"]["outcome"]
    (run,) = [each for each in found["runs"] if each not in before]
    assert found["begun"]["page"] == f"/runs/{run['id']}"
    assert operator.get("/orders/J-1.json").json()["versions"][0]["state"] == "accepted"
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    assert ("operator of tests", "ran a job", "nightly") in {
        (each["who"], each["what"], each["about"]) for each in entries
    }


def test_a_job_is_tried_without_sending_or_writing(pages: RunningPages, night: Workspace) -> None:
    operator = pages.person("operator")
    before = job(operator)["runs"]
    night.drop("tried.csv", order_lines(["T-1", "T-2"]) + "T-3,98,9 Market Road,560001,SKU-1,1\n", folder="drop")
    operator.post("/jobs/run", {"job": "nightly", "dry_run": "yes"})
    found = ended(operator)
    said = "Nothing was sent or written. tried.csv: 1 invalid, 2 pending"
    assert (found["begun"]["outcome"], found["begun"]["failed"]) == (said, False)
    assert found["runs"] == before
    assert operator.get("/orders/T-1").status_code == 404
    (night.root / "drop/tried.csv").unlink()
    operator.post("/jobs/run", {"job": "nightly", "dry_run": "yes"})
    assert ended(operator)["begun"]["outcome"] == "Nothing was sent or written. No file is there."


def test_the_week_to_come_knows_the_calendar_and_the_files_that_are_expected(
    pages: RunningPages, night: Workspace
) -> None:
    today = datetime.now(ZoneInfo(ZONE)).date()
    holidays = ", ".join(f'"{today + timedelta(days=n)}": Stocktaking' for n in (1, 2))
    (night.root / "calendars").mkdir()
    (night.root / "calendars/warehouse.yaml").write_text(f"weekend: []\nholidays: {{{holidays}}}\n")
    planned = 'schedule: {cron: "30 21 * * *", calendar: warehouse}\nexpect: {by: "23:59", calendar: warehouse}\n'
    night.job("planned", JOB.replace("drop", "planned") + planned)
    viewer = pages.person("viewer")
    (line,) = [each for each in viewer.get("/jobs.json").json()["week"] if each["job"] == "planned"]
    assert [each["off"] for each in line["days"][1:4]] == ["Stocktaking", "Stocktaking", ""]
    assert line["days"][3]["times"] == ["21:30"]
    assert "Stocktaking" in viewer.get("/jobs").text
    first = job(viewer, "planned")["expected"][0]
    assert (first["day"], first["coming"]) == (str(today), "not yet")
    night.drop("came.csv", order_lines(["P-1"]), folder="planned")
    assert night.run("run", "planned").code == 0
    came = job(viewer, "planned")["expected"][0]
    assert came["coming"] == "came"
    assert "came at" in viewer.get("/jobs/planned").text
    (night.root / "jobs/planned.yaml").unlink()


def test_one_that_runs_already_says_so(pages: RunningPages, night: Workspace, service: RunningSandbox) -> None:
    operator, runs = pages.person("operator"), len(job(pages.person("operator"))["runs"])
    opened = closing(open_ledger(f"sqlite:///{night.root}/var/ledger.db", account=service.url))
    with opened as ledger, ledger.sending("nightly"):
        operator.post("/jobs/run", {"job": "nightly"})
        found = ended(operator)
    assert found["begun"]["failed"]
    assert "nightly" in found["begun"]["outcome"]
    assert len(found["runs"]) == runs
    assert operator.post("/jobs/run", {"job": "nothing"}).status_code == 409
    assert operator.post("/jobs/run", {"job": "nightly", "business_date": "today"}).status_code == 409


def test_two_clicks_begin_one_run(pages: RunningPages, night: Workspace) -> None:
    operator = pages.person("operator")
    slow = JOB.replace("poll_every: 0.01s", "poll_every: 4s").replace("drop", "slow")
    night.drop("slow.csv", order_lines(["J-2"]), folder="slow")
    night.job("slow", slow)
    assert operator.post("/jobs/run", {"job": "slow"}).status_code == 303
    again = operator.post("/jobs/run", {"job": "slow"})
    assert again.status_code == 409
    assert "goes on already; operator of tests began it" in again.text
    assert len(ended(operator, "slow")["runs"]) == 1


def test_a_paused_job_is_not_begun_by_its_schedule_and_everybody_says_so(pages: RunningPages, night: Workspace) -> None:
    operator = pages.person("operator")
    night.job("ticking", JOB.replace("drop", "ticks") + "schedule: {every: 1m}\n")
    (night.root / "ticks").mkdir(exist_ok=True)
    assert operator.post("/jobs/pause", {"job": "ticking", "reason": " "}).status_code == 409
    assert operator.post("/jobs/pause", {"job": "ticking", "reason": "stock is counted"}).status_code == 303
    assert operator.post("/jobs/pause", {"job": "ticking", "reason": "again"}).status_code == 409
    found = job(operator, "ticking")
    assert found["paused"] == "ticking is paused by operator of tests"
    assert found["pauses"][0]["text"] == "stock is counted"
    assert "paused" in operator.get("/jobs").text
    assert "stock is counted" in operator.get("/").text
    (line,) = [each for each in night.run("schedule", "list").out.splitlines() if "ticking" in each]
    assert "paused" in line
    doctor = night.run("doctor")
    assert "ticking is paused by operator of tests" in doctor.out.replace("\n", " ")
    assert night.run("run", "ticking").code == 0, "by hand it runs as ever"
    resumed = night.run("schedule", "resume", "ticking", "--reason", "counted")
    assert resumed.code == 0
    assert night.run("schedule", "resume", "ticking", "--reason", "counted").code == 2
    found = job(operator, "ticking")
    assert found["paused"] is None
    assert "counted" in found["pauses"][0]["over_text"]
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    (entry,) = [each for each in entries if each["what"] == "paused a job" and each["outcome"].startswith("ticking")]
    assert (entry["who"], entry["outcome"]) == (
        "operator of tests",
        "ticking is paused by operator of tests: stock is counted",
    )


def test_who_may_not_decide_sees_and_does_not(pages: RunningPages) -> None:
    viewer = pages.person("viewer")
    page = viewer.get("/jobs/nightly")
    assert page.status_code == 200
    assert "/jobs/run" not in page.text
    assert viewer.post("/jobs/run", {"job": "nightly"}).status_code == 403
    assert viewer.get("/jobs/nothing").status_code == 404
    assert json.loads(viewer.get("/jobs/nightly.json").text)["job"] == "nightly"
