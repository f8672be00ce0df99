"""People of one partner see what belongs to that partner's jobs, and of everything else not even that it is there."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from support.pages_process import Person, RunningPages, hidden_fields
from support.sandbox_process import RunningSandbox
from support.workspace import APPROVED_JOB, order_lines

from logistics_batch.ledger import open_ledger
from logistics_batch.model.issue import Issue
from logistics_batch.web.workbench.people import FOR_ALL, Role
from logistics_batch.web.workbench.routes import ROUTES, Route

from .conftest import JOB, SLASHED

OF_ACME = ("R-1", "R-2", "R-3", SLASHED, "orders.csv", "more.csv", "changed.csv", "nightly")
OF_KAVERI = ("N-1", "N-2", "new.csv", "approved")
OF_NOBODY = ("A-1", "asns.csv")  # pushed by hand
LIMITED = [role for role in Role if role not in FOR_ALL]


@pytest.fixture(scope="module")
def shared(pages: RunningPages) -> Iterator[RunningPages]:
    """The night, with a partner for each of its jobs, and a bundle of labels of the first one's orders."""
    night = pages.workspace
    night.job("nightly", f"partner: acme\n{JOB}")
    night.job("approved", f"partner: kaveri\n{APPROVED_JOB}")
    assert night.run("labels", "--orders", night.drop("list.csv", "R-3\n", folder="lists")).code == 0
    yield pages


def person(pages: RunningPages, role: str, *partners: str) -> Person:
    """Somebody with a role for partners, added at the machine and signed in."""
    name = f"{role} of {' and '.join(partners)}"
    if name not in pages.people:
        named = [word for each in partners for word in ("--partner", each)]
        done = pages.workspace.run("user", "add", name, "--role", role, *named, "--json")
        assert done.code == 0, done.err
        pages.people[name] = pages.stranger().chooses(json.loads(done.out)["link"])
    return pages.people[name]


def names(pages: RunningPages, path: str) -> list[str]:
    """What stands in the ledger under the names that addresses take."""
    workspace = pages.workspace
    ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account=workspace.url)
    operator = pages.person("operator")
    try:
        files = [str(each.id) for each in ledger.files.latest(limit=100)]
        runs = {each.id: each for each in ledger.runs.latest(limit=100)}
    finally:
        ledger.close()
    match path:
        case "/files/{name}":
            return files
        case "/files/file/{name}":
            return [f"{each}/{ending}" for each in files for ending in ("original", "result.csv")]
        case "/runs/{name}":
            return [*runs, "nightly", "approved", "push"]
        case "/jobs/{name}":
            return ["nightly", "approved"]
        case "/orders/{name}":
            return ["R-1", SLASHED, "N-1"]
        case "/asns/{name}":
            return ["A-1"]
        case "/decisions/{name}":
            return [str(each["id"]) for each in operator.get("/decisions.json").json()["held"]]
        case "/labels/{name}":
            return [each for each, run in runs.items() if run.kind == "labels"]
        case "/labels/file/{name}":
            bundles = [each for each, run in runs.items() if run.kind == "labels"]
            return [
                f"{each}/{file['name']}"
                for each in bundles
                for file in operator.get(f"/labels/{each}.json").json()["files"]
            ]
        case _:
            return ["x"]


def without_forms(page: str) -> str:
    return re.sub(r'name="form_token" value="\w*"|<input id="find"[^>]*>', "", page)


@pytest.mark.parametrize("role", LIMITED)
@pytest.mark.parametrize("route", [each for each in ROUTES if each.method == "GET"], ids=lambda route: route.path)
def test_of_another_partner_nothing_is_there(shared: RunningPages, route: Route, role: Role) -> None:
    other, everybody = person(shared, role, "nobody-else"), shared.person(role)
    if role not in route.roles:
        return
    for name in names(shared, route.path):
        address = route.path.replace("{name}", name.replace("/", "%2F") if "file" not in route.path else name)
        for path in filter(None, (address, route.twin and route.twin.replace("{name}", name.replace("/", "%2F")))):
            told = other.get(path)
            if "{name}" in route.path:
                assert told.status_code == 404, path
                nothing = other.get(path.replace(name.replace("/", "%2F"), "nothing-of-this-name"))
                assert nothing.status_code == 404
            else:
                assert told.status_code == everybody.get(path).status_code == 200, told.text
            if "{name}" not in route.path:
                shown = [word for word in (*OF_ACME, *OF_KAVERI, *OF_NOBODY) if word in without_forms(told.text)]
                assert not shown, path


@pytest.mark.parametrize("role", LIMITED)
def test_people_see_what_belongs_to_their_partner(shared: RunningPages, role: Role) -> None:
    acme = person(shared, role, "acme")
    assert {each["name"] for each in acme.get("/files.json").json()["files"]} == {
        "orders.csv",
        "more.csv",
        "changed.csv",
    }
    assert {each["job"] for each in acme.get("/runs.json").json()["runs"]} == {"nightly", "labels"}
    assert [each["job"] for each in acme.get("/jobs.json").json()["jobs"]] == ["nightly"]
    assert {each["reference"] for each in acme.get("/find.json?q=R-").json()["documents"]} == {
        "R-1",
        "R-2",
        "R-3",
        "R-9",
    }
    assert not acme.get("/find.json?q=N-").json()["documents"]
    assert len(acme.get("/orders/R-1.json").json()["versions"]) == 2
    assert acme.get("/orders/N-1.json").status_code == 404
    held = acme.get("/decisions.json").json()["held"]
    assert {each["reference"] for each in held} == {"R-1", "R-2"}
    for path, shown in (("/files/{name}", 3), ("/jobs/{name}", 1), ("/decisions/{name}", 2)):
        found = [acme.get(path.replace("{name}", each)).status_code for each in names(shared, path)]
        assert (found.count(200), {*found} - {200, 404}) == (shown, set()), path
    both = person(shared, role, "acme", "kaveri")
    assert [each["job"] for each in both.get("/jobs.json").json()["jobs"]] == ["approved", "nightly"]
    assert {each["reference"] for each in both.get("/find.json?q=N-").json()["documents"]} == {"N-1", "N-2"}


def test_the_counts_of_a_file_are_as_for_everybody(shared: RunningPages) -> None:
    for name in names(shared, "/files/{name}"):
        found = person(shared, "operator", "acme").get(f"/files/{name}.json")
        if found.status_code == 200:
            assert found.json() == shared.person("operator").get(f"/files/{name}.json").json()


@pytest.mark.parametrize("route", [each for each in ROUTES if each.method == "POST"], ids=lambda route: route.path)
def test_nothing_of_another_partner_is_done(shared: RunningPages, route: Route) -> None:
    """A form may name anything; what its sender does not see stays as it is."""
    other = person(shared, Role.OPERATOR, "nobody-else")
    operator = shared.person("operator")
    held = operator.get("/decisions.json").json()["held"]
    before = [operator.get(path).json() for path in ("/decisions.json", "/jobs.json", "/labels.json", "/runs.json")]
    form: dict[str, str | list[str]] = {"job": "nightly", "reason": "because", "decision": "drop", "orders": "R-3"}
    form |= {"id": [str(each["id"]) for each in held], "seen": [each["seen"] for each in held]}
    if route.path.startswith("/labels"):
        bundle, _, name = names(shared, "/labels/file/{name}")[0].partition("/")
        form |= {"seen": "x", "queue": "dock", "bundle": bundle, "name": name}
    if route.path == "/service/look":
        form["id"] = ["1"]
    told = other.post(route.path, form)
    assert told.status_code in (200, 403, 404, 409), told.text
    said = {"nightly", "R-3"}  # by the form itself
    assert not [word for word in (*OF_ACME, *OF_KAVERI) if word not in said and word in without_forms(told.text)]
    after = [operator.get(path).json() for path in ("/decisions.json", "/jobs.json", "/labels.json", "/runs.json")]
    assert [{**each, "mark": ""} for each in after] == [{**each, "mark": ""} for each in before]


def test_of_a_bundle_that_others_made_only_the_labels_are_seen(shared: RunningPages) -> None:
    """Its manifest also names orders that have no label, whosever these are."""
    acme = person(shared, "operator", "acme")
    made = acme.get("/labels.json").json()["bundles"][-1]["id"]
    files = {each["name"] for each in acme.get(f"/labels/{made}.json").json()["files"]}
    assert files == {"labels.pdf", "pick_list.pdf"}
    every = {each["name"] for each in shared.person("operator").get(f"/labels/{made}.json").json()["files"]}
    assert every == files | {"manifest.pdf", "index.csv"}
    assert {name: acme.get(f"/labels/file/{made}/{name}").status_code for name in every} == {
        "labels.pdf": 200,
        "pick_list.pdf": 200,
        "manifest.pdf": 404,
        "index.csv": 404,
    }


def test_labels_are_chosen_among_what_is_seen(shared: RunningPages) -> None:
    told = person(shared, "operator", "acme").post("/labels/look", {"all": "yes"}).text
    assert SLASHED in told
    assert SLASHED not in person(shared, "operator", "kaveri").post("/labels/look", {"all": "yes"}).text
    acme = person(shared, "operator", "acme")
    form = {"orders": SLASHED, "layout": "4x6", "reason": ""}
    look = acme.post("/labels/look", form).text
    acme.post("/labels/print", hidden_fields(look))
    for _ in range(300):
        bundles = acme.get("/labels.json").json()
        if len(bundles["bundles"]) > 1 and not bundles["going"]:
            break
        time.sleep(0.1)
    assert [each["id"] for each in bundles["bundles"]] == names(shared, "/labels/{name}"), bundles
    assert [each["failed"] for each in bundles["ended"]] == [False]
    own = acme.get(f"/labels/{bundles['bundles'][0]['id']}.json").json()["files"]
    assert {"manifest.pdf", "index.csv"} <= {each["name"] for each in own}
    assert person(shared, "operator", "kaveri").get("/labels.json").json()["bundles"] == []


def test_what_a_run_notes_of_the_work_of_others_is_not_there(shared: RunningPages) -> None:
    """A run also tells what runs before it left behind, whosever files these are."""
    workspace = shared.workspace
    ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account=workspace.url)
    notes = (
        Issue.of("file.left", name="own.csv", why=[("left.dot", {})]),
        Issue.of("sending.never_sent", count=2, name="new.csv", others=[], run="20261103-000000-0000", job="approved"),
        Issue.of("sending.broke_off", count=2, files=["new.csv (run 1)"], more=[]),
        Issue.of("answers.unwritten", why="The results of new.csv could not be written."),
    )
    try:
        run = ledger.runs.latest(job="nightly", limit=1)[0].id
        before = ledger.runs.notes_of(run)
        ledger.runs.keep_notes(run, notes)
        acme, everybody = person(shared, Role.OPERATOR, "acme"), shared.person("operator")
        told = acme.get(f"/runs/{run}.json").json()["notes"]
        assert [note for note in told if "own.csv" in note] == told
        assert len(told) == 1
        assert "new.csv" not in acme.get(f"/runs/{run}").text
        assert len(everybody.get(f"/runs/{run}.json").json()["notes"]) == len(notes)
    finally:
        ledger.runs.keep_notes(run, before)
        ledger.close()


def test_who_prints_for_another_partner_is_not_named(shared: RunningPages, service: RunningSandbox) -> None:
    """Bundles of several people are made at the same time."""
    service.set_faults([{"endpoint": "label.create", "kind": "delay", "seconds": 4}])
    try:
        forms = {}
        for partner, order in (("acme", "R-9"), ("kaveri, acme", SLASHED)):
            one = person(shared, "operator", *partner.split(", "))
            look = one.post("/labels/look", {"orders": order, "layout": "4x6", "reason": "torn"}).text
            forms[partner] = one, hidden_fields(look)
        one, form = forms["acme"]
        assert one.post("/labels/print", form).status_code == 303
        other, form = forms["kaveri, acme"]
        told = other.post("/labels/print", form)
        assert "operator of acme" not in told.text
        assert told.status_code == 303, told.text
    finally:
        service.set_faults([])


@pytest.mark.parametrize("name", ["push", "labels", "reconcile", "retry"])
def test_what_is_done_by_hand_is_no_partners_job(shared: RunningPages, name: str) -> None:
    """It is noted under such a name, and would be seen."""
    shared.workspace.job(name, f"partner: acme\n{JOB}")
    try:
        refused = shared.workspace.run("run", name)
        assert refused.code == 2
        assert f'cannot be called "{name}"' in refused.err
    finally:
        (shared.workspace.root / f"jobs/{name}.yaml").unlink()


def test_a_token_sees_what_its_person_sees(shared: RunningPages) -> None:
    person(shared, "viewer", "kaveri")
    token = json.loads(shared.workspace.run("user", "token", "viewer of kaveri", "--json").out)["token"]
    found = Person(shared.url).get("/files.json", Authorization=f"Bearer {token}").json()["files"]
    assert [each["name"] for each in found] == ["new.csv"]


def test_an_admin_changes_partners_and_they_hold_at_once(shared: RunningPages) -> None:
    admin, viewer = shared.person("admin"), person(shared, "viewer", "moving")
    assert viewer.get("/files.json").json()["files"] == []
    form: dict[str, str | list[str]] = {"name": "viewer of moving", "role": "viewer", "partners": "kaveri, acme"}
    assert admin.post("/admin/role", form).status_code == 303
    assert len(viewer.get("/files.json").json()["files"]) == 4
    (own,) = [each for each in admin.get("/admin.json").json()["people"] if each["name"] == "viewer of moving"]
    assert (own["role"], own["partners"]) == ("viewer", ["kaveri", "acme"])
    assert viewer.get("/me.json").json()["partners"] == ["kaveri", "acme"]
    refused = admin.post("/admin/role", form | {"role": "integrator"})
    assert (refused.status_code, "about all partners" in refused.text) == (409, True)
    assert admin.post("/admin/role", form | {"partners": "a b"}).status_code == 409


def test_another_role_does_not_take_the_limit_away(shared: RunningPages) -> None:
    mover, run = person(shared, "viewer", "acme", "mover"), shared.workspace.run
    assert (
        run("user", "role", "viewer of acme and mover", "--role", "clerk")
        .out.strip()
        .endswith("clerk of acme, mover now.")
    )
    assert mover.get("/me.json").json() | {"sessions": []} == {
        "name": "viewer of acme and mover",
        "role": "clerk",
        "partners": ["acme", "mover"],
        "has_password": True,
        "sessions": [],
    }
    assert run("user", "role", "viewer of acme and mover", "--role", "admin").code == 2
    assert run("user", "role", "viewer of acme and mover", "--role", "clerk", "--partner", "kaveri").code == 0
    assert mover.get("/me.json").json()["partners"] == ["kaveri"]
    assert run("user", "role", "viewer of acme and mover", "--role", "viewer", "--all-partners").code == 0
    assert mover.get("/me.json").json()["partners"] == []


def test_a_job_that_cannot_be_read_is_nobodys_and_hides_no_other(shared: RunningPages) -> None:
    acme, kaveri = person(shared, "viewer", "acme"), person(shared, "viewer", "kaveri")
    before = [each.get("/files.json").json()["files"] for each in (acme, kaveri)]
    assert all(before)
    shared.workspace.job("nightly", "partner: acme\nkind: nothing\n")
    try:
        assert [each.get("/files.json").json()["files"] for each in (acme, kaveri)] == [[], before[1]]
        assert acme.get("/").status_code == 200
        assert "nightly.yaml" not in kaveri.get("/jobs").text, "what is wrong with another's file is not theirs"
    finally:
        shared.workspace.job("nightly", f"partner: acme\n{JOB}")
    assert acme.get("/files.json").json()["files"] == before[0]


def test_what_the_service_has_of_others_under_a_number_is_not_shown(shared: RunningPages) -> None:
    """A file may name any number: what was sent under it before is none of its sender's."""
    night = shared.workspace
    night.drop("again.csv", order_lines(["R-3"]))
    assert night.run("run", "approved").code == 4
    kaveri, everybody = person(shared, "operator", "kaveri"), shared.person("operator")
    (own,) = kaveri.get("/orders/R-3.json").json()["versions"]
    form: dict[str, str | list[str]] = {"id": str(own["id"])}
    everything = everybody.post("/service/look", form).text
    assert "It is not what was sent" in everything
    shown = kaveri.post("/service/look", form)
    assert (shown.status_code, "The service shows none" in shown.text) == (200, True)
    assert "not sent with this document" in shown.text
    acme = person(shared, "operator", "acme")
    (own,) = acme.get("/orders/R-3.json").json()["versions"]
    assert "those that were sent" in acme.post("/service/look", {"id": str(own["id"])}).text
