"""What strange requests, other software and mistakes elsewhere do to the pages: an answer, never a failure."""

import json
from pathlib import Path

import httpx
import pytest
from support.pages_process import Person, RunningPages
from support.workspace import APPROVED_JOB, Workspace, order_lines

from logistics_batch.web.workbench.people import Patience, TooOften, network_of


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5000, "-1", "١٢"])
def test_a_number_that_no_table_has_is_not_there(pages: RunningPages, number: str) -> None:
    admin = pages.person("admin")
    for path, code in (
        (f"/files/{number}", 404),
        (f"/decisions/{number}", 404),
        (f"/files?before={number}", 200),
        (f"/admin/audit?before={number}", 200),
        (f"/files/1?after={number}", 200),
    ):
        assert admin.get(path).status_code == code, path
    form: dict[str, str | list[str]] = {"id": [number], "decision": "drop", "reason": "x"}
    assert "does not wait any more" in admin.post("/decisions/look", form).text


def test_an_origin_that_is_none_and_a_nul_are_refused(pages: RunningPages) -> None:
    stranger = pages.stranger()
    form = {"name": "x", "password": "y"}
    assert stranger.client.post("/sign-in", data=form, headers={"Origin": "http://["}).status_code == 403
    assert stranger.client.post("/sign-in", data={"name": "x\0", "password": "y"}).status_code == 400
    assert pages.person("viewer").get("/orders/%00").status_code == 400
    assert pages.person("viewer").get("/find?q=%00").status_code == 400


def test_the_login_of_a_server_in_front_leaves_the_session(pages: RunningPages) -> None:
    assert pages.person("viewer").get("/", Authorization="Basic eDp5").status_code == 200


def test_who_comes_back_after_an_hour_is_led_to_the_list(pages: RunningPages) -> None:
    answer = pages.stranger().client.post("/decisions/decide", data={"id": "1"})
    assert answer.headers["location"] == "/sign-in?next=/decisions"
    assert pages.stranger().get("/find?q=R-1").headers["location"] == "/sign-in?next=/find%3Fq%3DR-1"


def test_the_words_of_the_service_and_of_rows_are_for_who_needs_them(pages: RunningPages) -> None:
    told = {role: pages.person(role).get("/decisions.json").json()["held"] for role in ("operator", "viewer")}
    assert all(each["reason"] and each["fix"] for each in told["operator"])
    assert [each["reason"] for each in told["viewer"]] == [each["rule"].replace("_", " ") for each in told["viewer"]]
    assert not any(each["fix"] for each in told["viewer"])


def test_a_token_ends_with_the_role_it_was_made_for(pages: RunningPages) -> None:
    workspace = pages.workspace
    link = json.loads(workspace.run("user", "add", "mover", "--role", "viewer", "--json").out)["link"]
    pages.stranger().chooses(link)
    bearer = {"Authorization": f"Bearer {json.loads(workspace.run('user', 'token', 'mover', '--json').out)['token']}"}
    assert Person(pages.url).get("/tonight.json", **bearer).status_code == 200
    assert workspace.run("user", "role", "mover", "--role", "operator").code == 0
    assert Person(pages.url).get("/tonight.json", **bearer).status_code == 401


class TestOwn:
    """Workspaces of their own."""

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Workspace:
        return Workspace(tmp_path / "own", url="https://service.invalid")

    def test_whoever_was_added_first_is_the_first_admin(self, workspace: Workspace) -> None:
        assert workspace.run("user", "add", "priya", "--role", "admin").code == 0
        pages = RunningPages(workspace)
        assert pages.close() == 0
        assert pages.first_admin is None

    def test_a_mistake_in_a_job_takes_nothing_else_away(self, workspace: Workspace) -> None:
        workspace.job("broken", "kind: nothing\n")
        pages = RunningPages(workspace)
        try:
            admin = pages.stranger().chooses(pages.first_admin.removeprefix(pages.url))
            for path in ("/", "/jobs"):
                shown = admin.get(path)
                assert shown.status_code == 200
                assert "broken.yaml" in shown.text
        finally:
            pages.close()

    def test_a_reference_that_ends_like_an_address_of_data_is_one(self, workspace: Workspace) -> None:
        workspace.job("approved", APPROVED_JOB)
        workspace.drop("new.csv", order_lines(["A", "A.json"]))
        assert workspace.run("run", "approved").code == 4
        pages = RunningPages(workspace)
        try:
            admin = pages.stranger().chooses(pages.first_admin.removeprefix(pages.url))
            shown = admin.get("/find?q=A.json").text
            assert 'href="/orders/A%2Ejson"' in shown
            assert "<h1>A.json</h1>" in admin.get("/orders/A%2Ejson").text
            assert httpx.URL("/orders/A%2Ejson").raw_path == b"/orders/A%2Ejson"
        finally:
            pages.close()

    @pytest.mark.parametrize("proxy", ["nginx", "localhost"])
    def test_a_server_in_front_is_named_by_its_address(self, workspace: Workspace, proxy: str) -> None:
        workspace.configure("[web]", f'proxy = "{proxy}"')
        done = workspace.run("user", "add", "priya", "--role", "admin")
        assert done.code == 2
        assert "IP address" in done.err


def test_patience_is_with_names_and_networks_and_forgets() -> None:
    now = [0.0]
    patience = Patience(lambda: now[0])
    for _ in range(5):
        patience.wrong("name:a", "address:10.0.0.1")
    with pytest.raises(TooOften):
        patience.require("name:a", "address:10.0.0.2")
    patience.require("name:b", "address:10.0.0.1")
    patience.right("name:a")
    patience.require("name:a")
    for _ in range(45):
        patience.wrong("address:10.0.0.1")
    with pytest.raises(TooOften):
        patience.require("address:10.0.0.1")
    now[0] = 4000.0
    patience.wrong("address:10.0.0.1")
    patience.require("address:10.0.0.1")
    assert network_of("2001:db8::1") == network_of("2001:db8::2") != network_of("2001:db8:1::1")
