"""What the pages show of a night, and that it is what the command line shows; decisions are made once, as seen."""

import io
import json
import re
from typing import Any

import httpx
import openpyxl
from pydantic import SecretStr
from support.pages_process import Person, RunningPages, hidden_fields, quoted
from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, Workspace

from logistics_batch.settings import Settings, in_force

from .conftest import SLASHED, STRANGE


def held(night: Workspace) -> dict[str, Any]:
    """What `held list` prints."""
    found: dict[str, Any] = json.loads(night.run("held", "list", "--json").out)
    return found


def doubles(night: Workspace) -> list[int]:
    """Those that came again with another address."""
    return [each["id"] for each in held(night)["held"] if each["reference"].startswith("R-")]


def test_tonight_counts_what_held_list_lists(pages: RunningPages, night: Workspace) -> None:
    told = pages.person("viewer").get("/tonight.json").json()
    listed = held(night)
    assert told["held"]["documents held"] == 2
    assert told["held"]["files to approve"] == len(listed["previews"]) == 1
    assert [each["job"] for each in told["jobs"]] == ["approved", "nightly"]
    assert sum(told["nights"][-1]["fates"].values()) >= 12
    marks = {each["job"]: each["marks"] for each in told["time_line"]["jobs"]}
    assert [mark["state"] for mark in marks["nightly"]][:2] == ["with rows to correct", "with rows in doubt"]
    assert all(0 < mark["start"] <= 0.5 and mark["length"] > 0 for mark in marks["nightly"] if mark["run"])


def test_anything_is_found_by_the_beginning_of_its_name(pages: RunningPages) -> None:
    viewer = pages.person("viewer")

    def found(q: str) -> dict[str, Any]:
        told: dict[str, Any] = viewer.client.get("/find.json", params={"q": q}).json()
        return told

    assert {each["reference"] for each in found("R-")["documents"]} == {"R-1", "R-2", "R-3", "R-9"}
    assert [each["reference"] for each in found(SLASHED)["documents"]] == [SLASHED]
    assert [each["name"] for each in found("ord")["files"]] == ["orders.csv"]
    awb = found("R-9")["documents"][0]["awb_number"]
    assert awb
    assert [each["reference"] for each in found(awb)["documents"]] == ["R-9"]
    run = found("R-9")["documents"][0]["run"]
    assert found(run)["runs"][0]["job"] == "nightly"
    assert found("%")["files"] == found("_")["documents"] == []


def test_the_story_of_an_order_is_told_by_reference_and_by_awb(pages: RunningPages) -> None:
    operator = pages.person("operator")
    told = operator.get(f"/orders/{quoted(SLASHED)}.json").json()
    (version,) = told["versions"]
    assert version["state"] == "accepted"
    assert [step["kind"] for step in told["steps"]][:3] == ["planned", "sent", "answered"]
    assert [step["at"] for step in told["steps"]] == sorted(step["at"] for step in told["steps"])
    assert told["steps"][0]["text"].startswith("Read from more.csv, row 2;")
    assert "more.csv, row 2;" in operator.get(f"/orders/{quoted(SLASHED)}").text
    by_awb = operator.get(f"/orders/{version['awb_number']}.json").json()
    assert by_awb["steps"] == told["steps"]
    assert json.loads(version["body"])["reference_number"] == SLASHED
    assert operator.get("/asns/A-1").status_code == 200
    assert operator.get("/orders/A-1").status_code == 404
    assert operator.get("/orders/R-404").status_code == 404


def test_the_service_is_asked_on_a_click_for_what_it_shows_now(pages: RunningPages) -> None:
    operator = pages.person("operator")
    for path, kind in ((f"/orders/{quoted(SLASHED)}", "orders"), ("/asns/A-1", "asns")):
        (version,) = operator.get(f"{path}.json").json()["versions"]
        assert "/service/look" in operator.get(path).text
        shown = operator.post("/service/look", {"id": str(version["id"])})
        assert shown.status_code == 200
        there = shown.text.partition('id="there"')[2]
        assert (version["awb_number"] or "A-1") in there
        assert ("are those that were sent" in shown.text) is (kind == "orders")
    (refused,) = operator.get("/orders/R-1.json").json()["versions"][1:]  # its address is another one, and it is held
    assert "It is not what was sent" in operator.post("/service/look", {"id": str(refused["id"])}).text
    assert "/service/look" not in pages.person("viewer").get(path).text
    assert operator.post("/service/look", {"id": "99999"}).status_code == 409
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    assert [each["outcome"] for each in entries if each["what"] == "asked what the service shows"][1:] == ["done"] * 3


def test_data_of_people_is_shown_to_whoever_needs_it(pages: RunningPages) -> None:
    waits = doubles(pages.workspace)
    for role, sees in (("operator", True), ("clerk", True), ("viewer", False), ("analyst", False)):
        for path in ("/orders/R-3", "/orders/R-3.json", *(f"/decisions/{number}" for number in waits)):
            text = pages.person(role).get(path).text
            assert ("Market Road" in text or "Station Road" in text) is sees


def test_a_file_s_problems_are_grouped_and_its_rows_are_listed(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    (file,) = clerk.client.get("/find.json", params={"q": "orders.csv"}).json()["files"]
    told = clerk.get(f"/files/{file['id']}.json").json()
    assert told["counts"] == {
        "accepted": {"rows": 3, "documents": 3},
        "invalid": {"rows": 1, "documents": 1},
    }
    assert {each["column"] for each in told["problems"]} >= {"Phone", "Qty"}
    assert all(each["fix"] and each["rows"] == [5] for each in told["problems"])
    alone = clerk.client.get(f"/files/{file['id']}.json", params={"fate": "invalid"}).json()
    assert [row["row"] for row in alone["rows"]] == [5]
    assert clerk.get("/files/999").status_code == clerk.get("/files/x").status_code == 404


def test_a_file_and_its_answers_are_downloaded_as_things_stand(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    (file,) = clerk.client.get("/find.json", params={"q": "orders.csv"}).json()["files"]
    told = clerk.get(f"/files/{file['id']}.json").json()
    assert told["keeps"] == ["original", "result.xlsx", "result.csv", "fix.xlsx"]
    page = clerk.get(f"/files/{file['id']}").text
    files = {}
    for name in told["keeps"]:
        assert f'href="/files/file/{file["id"]}/{name}"' in page
        answer = clerk.get(f"/files/file/{file['id']}/{name}")
        assert answer.headers["content-disposition"].startswith("attachment")
        files[name] = answer.content
    assert files["original"].decode().splitlines()[0] == ORDER_COLUMNS
    written = next(pages.workspace.root.rglob("orders.result.csv")).read_bytes()
    assert files["result.csv"] == written
    sheet = openpyxl.load_workbook(io.BytesIO(files["fix.xlsx"])).worksheets[0]
    assert [row[-1].row for row in sheet.iter_rows(min_row=2)] == [2]  # the one wrong row
    more = clerk.client.get("/find.json", params={"q": "more.csv"}).json()["files"][0]["id"]
    assert "fix.xlsx" not in clerk.get(f"/files/{more}.json").json()["keeps"]
    assert clerk.get(f"/files/file/{more}/fix.xlsx").status_code == 404
    viewer = pages.person("viewer")
    assert viewer.get(f"/files/{more}.json").json()["keeps"] == []
    assert viewer.get(f"/files/file/{more}/original").status_code == 403


def test_an_admin_sees_the_figures_that_monitoring_gets(pages: RunningPages) -> None:
    admin = pages.person("admin")
    told = admin.get("/admin/metrics.json").json()["figures"]
    by_state = {each["labels"]["state"]: each["value"] for each in told if each["name"] == "documents"}
    assert by_state["held"] == 4, "two that wait for a decision, and those of the file that waits for approval"
    assert {each["at"][:2] for each in told if each["name"] == "job_last_end_timestamp_seconds"} == {"20"}
    assert "job_last_rows" in admin.get("/admin/metrics").text


def test_an_admin_has_everything_checked_and_sees_the_settings_in_force(pages: RunningPages, night: Workspace) -> None:
    told = pages.person("admin").get("/admin/doctor.json").json()
    listed = json.loads(night.run("doctor", "--json").out)["checks"]
    assert sorted(each["name"] for each in told["checks"]) == sorted(each["name"] for each in listed)
    states = [each["state"] for each in told["checks"]]
    assert states == sorted(states, key=["problem", "warning", "ok"].index)
    settings = {each["name"]: (each["value"], each["given"]) for each in told["settings"]}
    assert settings["service.base_url"] == (night.url, True)
    assert settings["web.port"][1] is False


def test_the_settings_in_force_hide_secrets() -> None:
    secret = SecretStr("hunter-2-hunter-2")
    settings = Settings.model_validate(
        {
            "service": {"base_url": "https://logistics.test", "api_key": secret, "rate": "5/s"},
            "notify": {"urls": [secret]},
            "ledger": {"url": "postgresql://ledger:hunter-2-hunter-2@db/ledger"},
        }
    )
    shown = {name: (value, given) for name, value, given in in_force(settings)}
    assert "hunter" not in str(shown)
    assert shown["service.api_key"] == shown["ledger.url"] == ("given, not shown", True)
    assert shown["service.rate"] == ("5/s", True)
    assert shown["service.api_key_file"] == ("", False)


def test_rows_of_a_workbook_say_what_is_wrong_and_are_found_by_fate_problem_and_text(pages: RunningPages) -> None:
    book = openpyxl.Workbook()
    lines = ORDER_COLUMNS, "B-1,98,9 Market Road,560001,SKU-1,1", "B-2,9876543210,1 Mill Road,560001,SKU-1,none"
    for line in lines:
        book.active.append(line.split(","))  # type: ignore[union-attr]
    path = pages.workspace.root / "hand/book.xlsx"
    book.save(path)
    assert pages.workspace.run("push", path, "--mapping", "orders").code == 3
    clerk = pages.person("clerk")
    (file,) = clerk.client.get("/find.json", params={"q": "book.xlsx"}).json()["files"]

    def rows(**query: str) -> list[int]:
        found = clerk.client.get(f"/files/{file['id']}.json", params=query).json()
        assert all(row["reasons"] for row in found["rows"])
        return [row["row"] for row in found["rows"]]

    (phone,) = [each for each in clerk.get(f"/files/{file['id']}.json").json()["problems"] if each["column"] == "Phone"]
    assert (rows(), rows(rule=phone["code"]), rows(text="b-2"), rows(text="b-2", rule=phone["code"])) == (
        [2, 3], [2], [3], [])  # fmt: skip
    assert (rows(fate="invalid"), rows(fate="accepted")) == ([2, 3], [])


def test_what_a_sheet_holds_is_text_on_every_page(pages: RunningPages) -> None:
    """Also where it looks like a page of its own."""
    operator = pages.person("operator")
    (file,) = operator.client.get("/find.json", params={"q": "orders.csv"}).json()["files"]
    for path in (
        f"/files/{file['id']}",
        f"/find?q={quoted(STRANGE)}",
        f"/orders/{quoted(STRANGE)}",
        "/runs?job=%3Cb%3E",
    ):
        text = operator.get(path).text
        assert "<script>alert" not in text
        assert "<b>" not in re.sub(r"<b>\d", "", text)
    assert "&lt;script&gt;" in operator.get(f"/files/{file['id']}").text


def look(operator: Person, form: dict[str, Any]) -> httpx.Response:
    return operator.post("/decisions/look", form)


def test_decisions_are_looked_at_then_made_with_the_person_s_name(
    pages: RunningPages, night: Workspace, service: RunningSandbox
) -> None:
    operator = pages.person("operator")
    first, second = map(str, doubles(night))
    one = operator.get(f"/decisions/{first}.json").json()
    assert one["choices"] == ["accept", "send-again", "drop"] or "drop" in one["choices"]
    assert {pair["field"] for pair in one["documents"][0]["differing"]} >= {"delivery_address"}
    without = look(operator, {"id": [first], "decision": "drop", "reason": " "})
    assert without.status_code == 409
    page = look(operator, {"id": [first, second], "decision": "drop", "reason": "typed twice"}).text
    assert doubles(night), "nothing is decided by looking"
    form = hidden_fields(page)
    assert form["id"] == [first, second]
    stale = operator.post("/decisions/decide", form | {"seen": ["0" * 16, form["seen"][1]]})
    assert stale.status_code == 409
    assert doubles(night) == [int(first), int(second)]
    before = len(service.received())
    done = operator.post("/decisions/decide", form)
    assert (done.status_code, done.headers["location"]) == (303, "/decisions")
    assert "2 decisions written down." in operator.get("/decisions").text
    assert "written down" not in operator.get("/decisions").text
    assert doubles(night) == []
    assert len(service.received()) == before, "a drop sends nothing"
    steps = operator.get("/orders/R-1.json").json()["steps"]
    assert "operator of tests decided “drop”: typed twice" in [step["text"] for step in steps]
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    (entry,) = [each for each in entries if each["what"] == "decided: drop" and each["outcome"].startswith("2")]
    assert (entry["who"], entry["about"]) == ("operator of tests", f"{first} {second}")
    again = operator.post("/decisions/decide", form)
    assert again.status_code == 404


def test_an_approved_file_goes_out_with_the_next_run(
    pages: RunningPages, night: Workspace, service: RunningSandbox
) -> None:
    operator = pages.person("operator")
    (preview,) = held(night)["previews"]
    form = hidden_fields(look(operator, {"id": [preview["id"]], "decision": "approve", "reason": "as ordered"}).text)
    assert operator.post("/decisions/decide", form).status_code == 303
    assert night.run("run", "approved").code == 0
    told = operator.get("/orders/N-1.json").json()
    assert told["versions"][0]["state"] == "accepted"
