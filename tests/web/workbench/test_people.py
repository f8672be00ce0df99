"""People come by a one-time link, have one role, can be taken away, and the last admin stays."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from support.pages_process import PASSWORD, Person, RunningPages
from support.workspace import Workspace

from logistics_batch.errors import UsageError
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.web.workbench.people import require_sound


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "own", url="https://service.invalid")


def test_the_first_admin_comes_by_the_link_that_the_start_prints(workspace: Workspace) -> None:
    pages = RunningPages(workspace)
    try:
        link = pages.first_admin.removeprefix(pages.url)
        wrong = pages.stranger().client.post(link, data={"password": "short", "again": "short"})
        assert wrong.status_code == 400
        admin = pages.stranger().chooses(link)
        assert admin.get("/admin").status_code == 200
        assert pages.stranger().client.post(link, data={"password": PASSWORD, "again": PASSWORD}).status_code == 404
    finally:
        assert pages.close() == 0
    again = RunningPages(workspace)
    assert again.first_admin is None
    again.close()


def test_a_person_is_added_changed_and_removed_and_all_of_it_is_in_the_audit(workspace: Workspace) -> None:
    pages = RunningPages(workspace)
    try:
        admin = pages.stranger().chooses(pages.first_admin.removeprefix(pages.url))
        shown = admin.post("/admin/add", {"name": "Priya", "role": "clerk"})
        link = shown.text.partition("/welcome/")[2].partition("<")[0]
        priya = pages.stranger().chooses(f"/welcome/{link}")
        assert priya.get("/admin").status_code == 403
        assert admin.post("/admin/role", {"name": "Priya", "role": "admin"}).status_code == 303
        assert priya.get("/admin").status_code == 200
        assert admin.post("/admin/add", {"name": "Priya", "role": "clerk"}).status_code == 409
        assert priya.post("/admin/remove", {"name": "admin"}).status_code == 303
        assert admin.get("/").status_code == 303
        for path, form in (("/admin/remove", {}), ("/admin/role", {"role": "viewer"}), ("/admin/reset", {})):
            assert priya.post(path, {"name": "Priya"} | form).status_code == 409  # nobody would be left
        done = [(each["who"], each["what"], each["about"]) for each in priya.get("/admin/audit.json").json()["entries"]]
    finally:
        pages.close()
    assert ("admin", "added a person", "Priya clerk") in done
    assert ("Priya", "removed a person", "admin") in done
    assert ("Priya", "chose a password", "") in done


def test_people_change_their_own_password_and_end_their_other_sessions(workspace: Workspace) -> None:
    pages = RunningPages(workspace)
    new = "the lorry was full"

    def signed_in(password: str) -> Person:
        person = pages.stranger()
        answer = person.client.post("/sign-in", data={"name": "admin", "password": password})
        assert answer.status_code == 303, answer.text
        return person

    try:
        here = pages.stranger().chooses(pages.first_admin.removeprefix(pages.url))
        left, lost = signed_in(PASSWORD), signed_in(PASSWORD)
        ((number,),) = [[each["id"] for each in left.get("/me.json").json()["sessions"] if each["here"]]]
        assert here.post("/me/end", {"old": "wrong", "id": number}).status_code == 409
        assert here.post("/me/end", {"old": PASSWORD, "id": "x"}).status_code == 409
        assert here.post("/me/end", {"old": PASSWORD, "id": number}).status_code == 303
        assert [person.get("/").status_code for person in (here, left, lost)] == [200, 303, 200]
        for wrong in (
            {"old": "wrong", "password": new, "again": new},
            {"old": PASSWORD, "password": new, "again": f"{new} x"},
            {"old": PASSWORD, "password": "logistics-batch 1", "again": "logistics-batch 1"},
        ):
            answer = here.post("/me/password", wrong)
            assert answer.status_code == 409
            assert "What to do:" in answer.text
        before = dict(here.client.cookies)
        assert here.post("/me/password", {"old": PASSWORD, "password": new, "again": new}).status_code == 303
        stolen = pages.stranger()
        stolen.client.cookies.update(before)
        assert [person.get("/").status_code for person in (here, stolen, lost)] == [200, 303, 303]
        assert pages.stranger().client.post("/sign-in", data={"name": "admin", "password": PASSWORD}).status_code == 401
        done = [(each["what"], each["outcome"]) for each in signed_in(new).get("/admin/audit.json").json()["entries"]]
    finally:
        pages.close()
    assert ("changed the own password", "done") in done
    assert ("changed the own password", "refused: The password is wrong.") in done
    assert ("ended own sessions", "done") in done


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("short", "12 to 200 signs"),
        ("1q2w3e4r5t6y", "side by side"),
        ("a1s2d3f4g5h6", "side by side"),
        ("121212343434", "few different signs"),
        ("lorrybay lorrybay ", "repeats itself"),
        ("Playstation3!", "stands in lists"),
        ("Logistics-2026", "“logistics”"),
        ("priya sharma 7", "“priya sharma"),
    ],
)
def test_a_password_that_is_tried_first_is_refused(password: str, why: str) -> None:
    """No composition is asked for: small letters alone do, and so does what a keeper of passwords makes."""
    with pytest.raises(UsageError, match=why):
        require_sound(password, password, name="Priya Sharma")
    for sound in ("four plain words", "xKq8vLmR2pZt", "kdjfhwqpzmxn", "9183027465019283"):
        require_sound(sound, sound, name="Priya Sharma")


def test_no_secret_stands_in_the_ledger(workspace: Workspace) -> None:
    pages = RunningPages(workspace)
    try:
        person = pages.stranger().chooses(pages.first_admin.removeprefix(pages.url))
        token = json.loads(workspace.run("user", "token", "admin", "--json").out)["token"]
        (cookie,) = person.client.cookies.values()
    finally:
        pages.close()
    kept = b"".join(path.read_bytes() for path in (workspace.root / "var").rglob("*") if path.is_file())
    for secret in (PASSWORD, token, cookie, pages.first_admin.rpartition("/")[2]):
        assert secret.encode() not in kept
    exported = workspace.run("ledger", "export", "all.ndjson")
    assert exported.code == 0
    text = (workspace.root / "all.ndjson").read_text()
    assert "argon2" not in text
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger:
        ((digest,),) = ledger.execute("SELECT digest FROM web_session")
    assert digest not in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [((), "others could read passwords"), (("[web]", 'proxy = "10.0.0.1"'), "Nobody was set up yet")],
)
def test_beyond_this_machine_it_listens_only_safely(
    workspace: Workspace, settings: tuple[str, ...], words: str
) -> None:
    workspace.configure(*settings)
    done = workspace.run("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.code == 2
    assert words in done.err


def test_the_audit_cannot_be_rewritten(workspace: Workspace) -> None:
    assert workspace.run("user", "add", "Priya", "--role", "viewer").code == 0
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger:
        for statement in ("DELETE FROM audit", "UPDATE audit SET who = 'x'", "UPDATE audit SET outcome = 'x'"):
            with pytest.raises(sqlite3.IntegrityError):
                ledger.execute(statement)
