"""Who may go where: each role at each address, strangers, programs, and forms that come from elsewhere."""

import json
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from support.pages_process import PASSWORD, Person, RunningPages
from support.workspace import Workspace

from logistics_batch.ledger.failures import sqlite3
from logistics_batch.web.workbench.people import Role
from logistics_batch.web.workbench.routes import ROUTES, Route

OWN = {
    "/files/{name}": "1",
    "/orders/{name}": "R-1",
    "/asns/{name}": "A-1",
    "/runs/{name}": "nightly",
    "/jobs/{name}": "nightly",
}
NAMED_BY_CHANCE = (
    "/decisions/{name}",
    "/check/{name}",
    "/check/file/{name}",
    "/files/file/{name}",
    "/mappings/new/{name}",
    "/labels/{name}",
    "/labels/file/{name}",
)  # what they show is tested with it
HERE = [route for route in ROUTES if route.path not in NAMED_BY_CHANCE]


def address(route: Route, path: str = "") -> str:
    return (path or route.path).replace("{name}", OWN.get(route.path, "x"))


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("route", HERE, ids=lambda route: f"{route.method} {route.path}")
def test_each_role_goes_where_it_may_and_nowhere_else(pages: RunningPages, route: Route, role: Role) -> None:
    person = pages.person(role)
    if route.method == "POST":
        answer = person.post(route.path)
        assert (answer.status_code == 403) is (role not in route.roles)
        assert answer.status_code in (403, 409)  # nothing is named in the form, so nothing is done
        return
    for path in (route.path, route.twin):
        answer = person.get(address(route, path))
        assert answer.status_code == (200 if role in route.roles else 403), answer.text
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_a_stranger_is_sent_to_the_door(pages: RunningPages, route: Route) -> None:
    stranger = pages.stranger()
    answer = stranger.get(address(route)) if route.method == "GET" else stranger.client.post(address(route))
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in")
    if route.twin:
        answer = stranger.get(address(route, route.twin))
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.method == "POST"], ids=lambda route: route.path)
@pytest.mark.parametrize("way", ["no token", "another's token", "another site", "another origin"])
def test_a_form_from_elsewhere_does_nothing(pages: RunningPages, route: Route, way: str) -> None:
    admin = pages.person("admin")
    before = admin.get("/admin/audit.json").json()["entries"][0]["id"]
    form = {"name": "viewer of tests", "role": "admin"}
    match way:
        case "no token":
            answer = admin.client.post(route.path, data=form)
        case "another's token":
            answer = admin.client.post(route.path, data=form | {"form_token": "0" * 64})
        case "another site":
            answer = admin.post(route.path, dict(form), **{"Sec-Fetch-Site": "cross-site"})
        case _:
            answer = admin.post(route.path, dict(form), Origin="https://elsewhere.example")
    assert answer.status_code == 403
    assert admin.get("/admin/audit.json").json()["entries"][0]["id"] == before


def test_every_page_forbids_what_it_does_not_need(pages: RunningPages) -> None:
    for path in ("/", "/decisions", "/tonight.json", "/sign-in", "/nothing", "/static/style.css"):
        headers = pages.person("operator").get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == ("max-age=3600" if "static" in path else "no-store")


def test_another_name_of_the_server_reaches_nothing(pages: RunningPages) -> None:
    """A name of a stranger may lead to this address (DNS rebinding)."""
    answer = httpx.get(pages.url, headers={"Host": "elsewhere.example"}, trust_env=False)
    assert answer.status_code == 421


def test_the_door_leads_only_inside(pages: RunningPages) -> None:
    pages.person("viewer")
    for to in ("https://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)"):
        form = {"name": "viewer of tests", "password": PASSWORD, "next": to}
        answer = pages.stranger().client.post("/sign-in", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
    form |= {"next": "/files/1"}
    answer = pages.stranger().client.post("/sign-in", data=form)
    assert answer.headers["location"] == "/files/1"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_who_signs_out_is_out(pages: RunningPages) -> None:
    pages.person("viewer")
    person = pages.stranger()
    person.client.post("/sign-in", data={"name": "viewer of tests", "password": PASSWORD})
    cookie = dict(person.client.cookies)
    assert person.get("/").status_code == 200
    assert person.post("/sign-out").status_code == 303
    again = pages.stranger()
    again.client.cookies.update(cookie)
    assert again.get("/").status_code == 303


def test_an_open_page_that_follows_the_night_keeps_nobody_signed_in(pages: RunningPages) -> None:
    """Only clicks count for the hour after which a session ends; and what a click is told, no open page takes away."""
    analyst, admin = pages.person("analyst"), pages.person("admin")
    earlier = (datetime.now().astimezone() - timedelta(minutes=50)).isoformat()
    with closing(sqlite3.connect(pages.workspace.root / "var/ledger.db")) as ledger, ledger:
        ledger.execute("UPDATE web_session SET seen_at = ? WHERE person = 'analyst of tests'", [earlier])

    def seen_at() -> str:
        sessions = admin.get("/admin.json").json()["sessions"]
        return next(str(each["seen_at"]) for each in sessions if each["person"] == "analyst of tests")

    assert (
        analyst.get("/live", **{"X-Follows": "a page"}).text
        == analyst.get("/tonight.json", **{"X-Follows": "a page"}).json()["mark"]
    )
    assert seen_at() == earlier
    path = pages.workspace.root / "var/ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert analyst.get("/").status_code == 200  # no page waits until that is written down
        assert seen_at() == earlier
        writer.execute("ROLLBACK")
    for _ in range(300):
        if seen_at() > earlier:
            break
        time.sleep(0.1)
    assert seen_at() > earlier
    assert pages.stranger().get("/live").status_code == 303


def test_a_new_log_in_ends_the_session_before(pages: RunningPages) -> None:
    pages.person("viewer")
    person = pages.stranger()
    form = {"name": "viewer of tests", "password": PASSWORD}
    person.client.post("/sign-in", data=form)
    before = pages.stranger()
    before.client.cookies.update(dict(person.client.cookies))
    person.post("/sign-in", dict(form))
    assert person.get("/").status_code == 200
    assert before.get("/").status_code == 303


def test_a_password_is_compared_as_a_whole(pages: RunningPages) -> None:
    link = json.loads(pages.workspace.run("user", "add", "longest", "--role", "viewer", "--json").out)["link"]
    longest = "four plain words " * 11 + "and an end .."
    assert len(longest) == 200
    pages.stranger().chooses(link, longest)
    for password, code in ((longest, 303), (longest + "x", 401)):
        answer = pages.stranger().client.post("/sign-in", data={"name": "longest", "password": password})
        assert answer.status_code == code


def test_who_asks_for_what_is_for_others_is_in_the_audit(pages: RunningPages) -> None:
    assert pages.person("viewer").get("/admin/audit").status_code == 403
    entry = pages.person("admin").get("/admin/audit.json").json()["entries"][0]
    assert (entry["who"], entry["about"], entry["outcome"]) == ("viewer of tests", "/admin/audit", "refused")


def signed_in_from(workspace: Workspace, name: str) -> list[str]:
    """The addresses of a person's sessions."""
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger:
        found = ledger.execute("SELECT address FROM web_session WHERE person = ? ORDER BY started_at", [name])
        return [address for (address,) in found]


def test_behind_tls_the_cookie_is_this_hosts_alone(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, url="https://service.invalid")
    workspace.configure("[web]", 'hosts = ["pages.example"]', 'proxy = "127.0.0.1"')
    link = json.loads(workspace.run("user", "add", "priya", "--role", "viewer", "--json").out)["link"]
    running = RunningPages(workspace)
    try:
        headers = {"Host": "pages.example", "Origin": "https://pages.example"}
        form = {"password": PASSWORD, "again": PASSWORD}
        answer = httpx.post(running.url + httpx.URL(link).path, data=form, headers=headers, trust_env=False)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-")
        for word in ("Secure", "HttpOnly", "Path=/", "SameSite=lax"):
            assert word in cookie
        assert "Domain" not in cookie
        assert "max-age=31536000" in answer.headers["strict-transport-security"]
        # Only the last word of the server in front counts: what stands before it, a client wrote.
        form, said = {"name": "priya", "password": PASSWORD}, {"X-Forwarded-For": "198.51.100.7, 203.0.113.9"}
        for proto, code in ({}, 303), ({"X-Forwarded-Proto": "https"}, 303), ({"X-Forwarded-Proto": "http"}, 421):
            told = headers | said | proto
            answer = httpx.post(f"{running.url}/sign-in", data=form, headers=told, trust_env=False)
            assert answer.status_code == code
        assert signed_in_from(workspace, "priya") == ["127.0.0.1", "203.0.113.9", "203.0.113.9"]
    finally:
        running.close()


def test_who_only_says_that_it_is_a_server_in_front_is_not_believed(pages: RunningPages) -> None:
    pages.person("clerk")
    headers = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9", "X-Real-IP": "203.0.113.9"}
    form = {"name": "clerk of tests", "password": PASSWORD}
    answer = pages.stranger().client.post("/sign-in", data=form, headers=headers | {"X-Forwarded-Proto": "https"})
    assert "Secure" not in answer.headers["set-cookie"]
    assert set(signed_in_from(pages.workspace, "clerk of tests")) == {"127.0.0.1"}


def test_whoever_guesses_waits_longer_each_time(pages: RunningPages) -> None:
    """By the name that is tried; a right password does not help before the time is over."""
    done = pages.workspace.run("user", "add", "guessed", "--role", "viewer", "--json")
    pages.stranger().chooses(json.loads(done.out)["link"])
    guesser = pages.stranger()
    codes = [
        guesser.client.post("/sign-in", data={"name": "guessed", "password": f"wrong {n}"}).status_code
        for n in range(7)
    ]
    assert codes[:5] == [401] * 5
    assert 429 in codes[5:]
    answer = guesser.client.post("/sign-in", data={"name": "guessed", "password": "wrong"})
    assert int(answer.headers["retry-after"]) >= 1


class TestPrograms:
    """A token opens the addresses that end in .json, with its role, as long as it holds."""

    def token(self, pages: RunningPages, role: str, *more: str) -> str:
        pages.person(role)
        done = pages.workspace.run("user", "token", f"{role} of tests", "--json", *more)
        assert done.code == 0, done.err
        return str(json.loads(done.out)["token"])

    def test_it_reads_what_its_role_reads(self, pages: RunningPages) -> None:
        token = self.token(pages, "operator")
        program = Person(pages.url)
        bearer = {"Authorization": f"Bearer {token}"}
        assert program.get("/tonight.json", **bearer).json()["held"]
        assert program.get("/orders/R-1.json", **bearer).status_code == 200
        assert program.get("/admin.json", **bearer).status_code == 403
        assert program.get("/", **bearer).status_code == 403
        assert program.client.post("/decisions/decide", headers=bearer).status_code == 403

    def test_one_that_is_wrong_or_over_reads_nothing(self, pages: RunningPages) -> None:
        over = self.token(pages, "operator", "--expires", "2020-01-01")
        for token in ("x" * 43, over):
            answer = Person(pages.url).get("/tonight.json", Authorization=f"Bearer {token}")
            assert answer.status_code == 401

    def test_an_admin_ends_it_and_sessions_at_once(self, pages: RunningPages) -> None:
        token, analyst, admin = self.token(pages, "analyst"), pages.person("analyst"), pages.person("admin")
        assert analyst.get("/").status_code == 200
        told = admin.get("/admin.json").json()
        numbers = [each["number"] for each in told["sessions"] + told["tokens"] if each["person"] == "analyst of tests"]
        for number in numbers:
            assert admin.post("/admin/end", {"id": number}).status_code == 303
        assert analyst.get("/").status_code == 303
        assert Person(pages.url).get("/tonight.json", Authorization=f"Bearer {token}").status_code == 401
        assert admin.post("/admin/end", {"id": numbers[0]}).status_code == 409
        analyst.client.post("/sign-in", data={"name": "analyst of tests", "password": PASSWORD})

    def test_a_role_that_is_not_the_person_s_is_refused(self, pages: RunningPages) -> None:
        pages.person("viewer")
        done = pages.workspace.run("user", "token", "viewer of tests", "--role", "admin")
        assert done.code == 2
        assert "viewer" in done.err

    def test_its_addresses_are_described(self, pages: RunningPages) -> None:
        told = pages.person("viewer").get("/openapi.json").json()
        assert set(told["paths"]) == {route.twin for route in ROUTES if route.twin}
        assert all(each["get"]["summary"].endswith(".") for each in told["paths"].values())
