"""People sign in with an account of their organisation; what does not prove who they are lets nobody in."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.engines import engine_of
from support.oidc_provider import CLIENT, SECRET, OidcProvider
from support.pages_process import PASSWORD, Person, RunningPages
from support.workspace import Workspace

SUBJECT = {"sub": "u-17", "email": "priya@example.com", "groups": ["warehouse", "nothing here"]}


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    running = OidcProvider()
    yield running
    running.close()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, provider: OidcProvider) -> Workspace:
    made = Workspace(tmp_path_factory.mktemp("sign-on") / "own", url="https://service.invalid")
    secret = made.root / "secrets/pages"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    made.configure(
        "[web.oidc]",
        f'issuer = "{provider.url}"',
        f'client_id = "{CLIENT}"',
        'client_secret_file = "secrets/pages"',
        'label = "Kaveri"',
        "[web.oidc.roles]",
        'warehouse = "clerk"',
        'shift = "operator"',
    )
    return made


@pytest.fixture(scope="module")
def pages(workspace: Workspace) -> Iterator[RunningPages]:
    running = RunningPages(workspace)
    yield running
    running.close()


@pytest.fixture(autouse=True)
def sound(provider: OidcProvider) -> None:
    provider.claims = dict(SUBJECT)
    provider.lies()


def away(person: Person, to: str = "/jobs") -> str:
    """The address to which the provider sends the browser back."""
    there = person.client.get("/sign-in/away", params={"next": to}).headers["location"]
    return str(person.client.get(there).headers["location"])


def signed_in(pages: RunningPages, person: Person | None = None) -> Any:
    person = person or pages.stranger()
    return person.client.get(away(person))


def me(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = person.get("/me.json").json()
    return {name: found.get(name) for name in ("name", "role")}


def test_whoever_the_provider_vouches_for_is_in_with_the_role_of_today(
    pages: RunningPages, provider: OidcProvider
) -> None:
    priya = pages.stranger()
    assert 'href="/sign-in/away?next=/jobs">Sign in with Kaveri' in priya.client.get("/sign-in?next=/jobs").text
    answer = signed_in(pages, priya)
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs")
    assert me(priya) == {"name": "priya@example.com", "role": "clerk"}
    provider.claims["groups"] = ["warehouse", "shift"]
    again = pages.stranger()
    signed_in(pages, again)
    assert me(again) == me(priya) == {"name": "priya@example.com", "role": "operator"}
    assert not [name for name in priya.client.cookies if name.endswith("_away")]
    assert priya.client.post("/sign-in", data={"name": "priya@example.com", "password": ""}).status_code == 401
    assert provider.refused == []


def test_where_the_provider_says_nothing_of_partners_an_admin_does(pages: RunningPages, provider: OidcProvider) -> None:
    provider.claims |= {"sub": "u-99", "email": "limited@example.com"}
    person = pages.stranger()
    signed_in(pages, person)
    named = ("user", "role", "limited@example.com", "--role", "clerk", "--partner", "acme")
    assert pages.workspace.run(*named).code == 0
    provider.claims["groups"] = ["shift"]
    again = pages.stranger()
    signed_in(pages, again)
    found = again.get("/me.json").json()
    assert (found["role"], found["partners"]) == ("operator", ["acme"])


@pytest.mark.parametrize(
    "lie",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "others"},
        {"aud": [CLIENT, "others"]},
        {"azp": "others"},
        {"iss": "https://others.invalid"},
        {"exp": 1},
        {"sub": None},
        {"email": None},
        {"email_verified": False},
        {"key": "other"},
        {"key": "secret", "alg": "HS256"},
        {"alg": "none"},
        {"kid": "two", "key": "other"},
    ],
)
def test_a_token_that_does_not_hold_lets_nobody_in(
    pages: RunningPages, provider: OidcProvider, lie: dict[str, Any]
) -> None:
    provider.lies(**lie)
    if lie.get("alg") == "none":
        provider.token = lambda asked: "eyJhbGciOiJub25lIn0.e30."  # type: ignore[method-assign]
    stranger = pages.stranger()
    try:
        answer = signed_in(pages, stranger)
    finally:
        provider.__dict__.pop("token", None)
    assert (answer.status_code, "did not prove who you are" in answer.text) == (403, True)
    assert stranger.get("/").status_code == 303


def test_what_comes_back_counts_once_and_in_its_own_browser(pages: RunningPages) -> None:
    priya, thief = pages.stranger(), pages.stranger()
    back = away(priya)
    assert thief.client.get(back).status_code == 403, "a link that somebody was given"
    away(thief)
    assert thief.client.get(back).status_code == 403, "his own try, another's answer"
    kept = dict(priya.client.cookies)
    assert priya.client.get(back.replace("state=", "state=x")).status_code == 403
    assert priya.client.get(back).status_code == 403, "the try is used up"
    back = away(priya)
    kept = dict(priya.client.cookies)
    assert priya.client.get(back).status_code == 303
    thief.client.cookies.update(kept)
    assert thief.client.get(back).status_code == 403
    assert signed_in(pages, pages.stranger()).headers["location"] == "/jobs"
    outside = pages.stranger()
    assert outside.client.get(away(outside, "https://others.invalid/")).headers["location"] == "/"


def test_nobody_comes_in_under_the_name_of_another_nor_without_a_role(
    pages: RunningPages, provider: OidcProvider, workspace: Workspace
) -> None:
    admin = pages.stranger().chooses(pages.first_admin.removeprefix(pages.url))
    pages.people["admin"] = admin
    provider.claims |= {"email": "admin", "sub": "u-66", "groups": ["shift"]}
    answer = signed_in(pages)
    assert (answer.status_code, "signs in here in another way" in answer.text) == (403, True)
    provider.claims = dict(SUBJECT)
    signed_in(pages)
    provider.claims |= {"sub": "u-66"}
    assert "is somebody else" in signed_in(pages).text, "another account that took the name"
    provider.claims = SUBJECT | {"groups": "strangers"}
    assert "has no role here" in signed_in(pages).text
    provider.claims = dict(SUBJECT)
    priya = pages.stranger()
    signed_in(pages, priya)
    assert admin.post("/admin/remove", {"name": "priya@example.com"}).status_code == 303
    assert priya.get("/").status_code == 303
    assert "may sign in no more" in signed_in(pages).text
    assert workspace.run("user", "add", "priya@example.com", "--role", "viewer").code == 0
    assert signed_in(pages, priya).status_code == 303
    assert me(priya)["role"] == "clerk", "the provider says it"
    entries = admin.get("/admin/audit.json").json()["entries"]
    tried = {(each["about"], each["outcome"]) for each in entries if each["what"] == "signed in" and not each["who"]}
    assert ("priya@example.com", "refused: priya@example.com may sign in no more.") in tried


def test_a_provider_that_is_away_or_somebody_else_is_told(
    tmp_path: Path, provider: OidcProvider, workspace: Workspace
) -> None:
    alone = Workspace(tmp_path / "alone", url="https://service.invalid")
    words = ("[web.oidc]", 'issuer = "http://127.0.0.1:9"', 'client_id = "x"', 'roles = {all = "viewer"}')
    alone.configure(*words)
    running = RunningPages(alone)
    try:
        person = running.stranger()
        answer = person.client.get("/sign-in/away")
        assert (answer.status_code, "Sign in again, or tell your admin." in answer.text) == (403, True)
        assert person.chooses(running.first_admin.removeprefix(running.url)).get("/").status_code == 200, PASSWORD
    finally:
        running.close()
    for wrong, said in (('"http://10.0.0.1"', "no https address"), ('"https://x.invalid"', "is no role")):
        other = Workspace(tmp_path / said.replace(" ", "-"), url="https://service.invalid")
        role = "boss" if "role" in said else "viewer"
        other.configure("[web.oidc]", f"issuer = {wrong}", 'client_id = "x"', f'roles = {{all = "{role}"}}')
        done = other.run("serve", "--port", "0")
        assert (done.code, said in done.err) == (2, True), done.err


def test_the_provider_says_for_which_partners_somebody_is_here(
    workspace: Workspace, provider: OidcProvider, tmp_path: Path
) -> None:
    """Where it says partners, whoever has none is no longer somebody who sees everything."""
    own = Workspace(tmp_path / "own", url="https://service.invalid")
    for name in ("secrets/pages", "logistics-batch.toml"):
        (own.root / name).write_bytes((workspace.root / name).read_bytes())
        (own.root / name).chmod(0o600)
    told = (own.root / "logistics-batch.toml").read_text()
    (own.root / "logistics-batch.toml").write_text(
        told.replace("[web.oidc.roles]", 'partners_claim = "partners"\n[web.oidc.roles]\nboss = "admin"')
    )
    pages = RunningPages(own)
    try:
        for said, partners in ((["acme", "kaveri"], ["acme", "kaveri"]), ("acme", ["acme"]), (["acme", "*"], [])):
            provider.claims["partners"] = said
            person = pages.stranger()
            assert signed_in(pages, person).status_code == 303
            assert person.get("/me.json").json()["partners"] == partners
        for nothing in ([], "", None, ["a, b"], 7):
            provider.claims["partners"] = nothing
            assert signed_in(pages).status_code == 403
        provider.claims |= {"groups": ["boss"], "partners": None}
        assert signed_in(pages).status_code == 303
    finally:
        pages.close()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_nobody_is_signed_in_by_a_link_of_another_site(pages: RunningPages, site: str) -> None:
    """Who is signed in at the provider would be here at once, without having asked for it."""
    person = pages.stranger()
    answer = person.get("/sign-in/away?next=/jobs", **{"Sec-Fetch-Site": site})
    assert (answer.status_code, "Sign in with Kaveri" in answer.text) == (200, True)
    assert not person.client.cookies


def test_who_has_no_password_here_ends_sessions_after_signing_in_again(
    pages: RunningPages, workspace: Workspace
) -> None:
    here, left = pages.stranger(), pages.stranger()
    signed_in(pages, here)
    signed_in(pages, left)
    assert 'name="old"' not in here.get("/me").text, "nobody is asked for what they do not have"
    ((number,),) = [[each["id"] for each in left.get("/me.json").json()["sessions"] if each["here"]]]
    earlier = (datetime.now().astimezone() - timedelta(minutes=11)).isoformat()
    with engine_of(f"sqlite:///{workspace.root}/var/ledger.db").begin() as ledger:
        ledger.exec_driver_sql("UPDATE web_session SET started_at = ?", (earlier,))
    refused = here.post("/me/end", {"id": number})
    assert (refused.status_code, "Sign out and in" in refused.text) == (409, True)
    again = pages.stranger()
    signed_in(pages, again)
    new = "the lorry was full"
    assert again.post("/me/password", {"password": new, "again": new}).status_code == 409
    assert again.post("/me/end", {"id": number}).status_code == 303
    assert [person.get("/").status_code for person in (here, left, again)] == [200, 303, 200]
