"""Labels are looked at, printed and downloaded on the pages; what was printed is printed again once, with a reason."""

from typing import Any

import httpx
from support.pages_process import Person, RunningPages, hidden_fields
from support.workspace import Workspace


def look(person: Person, **form: str) -> httpx.Response:
    return person.post("/labels/look", dict(form))


def printed(person: Person, page: str) -> httpx.Response:
    """Confirm what was looked at, and wait for the bundle."""
    answer = person.post("/labels/print", hidden_fields(page))
    for _ in range(100):
        if answer.status_code != 303 or not person.get("/labels.json").json()["going"]:
            break
    return answer


def bundles(person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = person.get("/labels.json").json()["bundles"]
    return found


def test_labels_are_printed_then_again_with_a_reason_and_downloaded(pages: RunningPages) -> None:
    operator = pages.person("operator")
    page = look(operator, orders="R-9, R-404\nR-3")
    assert page.status_code == 200
    assert "2 to print" in page.text
    assert "R-404" in page.text, "what has no label is told"
    assert bundles(operator) == [], "nothing is printed by looking"
    answer = printed(operator, page.text)
    assert answer.status_code == 303
    (made,) = bundles(operator)
    assert made["counts"]["labels"] == 2
    files = operator.get(f"/labels/{made['id']}.json").json()["files"]
    assert {"labels.pdf", "manifest.pdf", "index.csv"} <= {each["name"] for each in files}
    pdf = operator.get(f"/labels/file/{made['id']}/labels.pdf")
    assert pdf.content.startswith(b"%PDF-")
    assert "attachment" in pdf.headers["content-disposition"]
    steps = [each["text"] for each in operator.get("/orders/R-9.json").json()["steps"]]
    assert f"Label printed, copy 1, bundle {made['id']}." in steps

    twice = operator.post("/labels/print", hidden_fields(page.text))
    assert twice.status_code == 409, "the same click again prints nothing"
    without = look(operator, orders="R-9")
    assert "printed before and left out" in without.text
    assert "<button>Print" not in without.text
    again = look(operator, orders="R-9", reason="the printer ate it")
    assert "prints copy 2" in again.text
    assert printed(operator, again.text).status_code == 303
    second = bundles(operator)[0]
    assert second["id"] != made["id"]
    story = operator.get("/orders/R-9.json").json()["steps"]
    assert f"Label printed, copy 2, bundle {second['id']}." in [each["text"] for each in story]
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    assert ("operator of tests", "printed labels") in {(each["who"], each["what"]) for each in entries}


def test_a_bundle_is_given_to_a_print_queue(pages: RunningPages, night: Workspace) -> None:
    operator = pages.person("operator")
    assert printed(operator, look(operator, orders="R-9", reason="for the dock").text).status_code == 303
    made = bundles(operator)[0]["id"]
    form = {"bundle": made, "name": "labels.pdf", "queue": "dock"}
    assert operator.post("/labels/queue", form).headers["location"] == f"/labels/{made}"
    told = operator.get(f"/labels/{made}").text
    assert "Whether labels.pdf was printed is not known" in told, "there is no print server that knows"
    assert "lpstat -W all -o dock" in told
    printing = night.root / "printing"
    assert (printing / "printed").read_bytes() == operator.get(f"/labels/file/{made}/labels.pdf").content
    assert (printing / "asked").read_text() == f"-d dock -t Labels {made} labels.pdf\n"
    refused = operator.post("/labels/queue", form | {"queue": "office"})
    assert (refused.status_code, "not accepting jobs" in refused.text) == (409, True)
    for other, status in (({"queue": "elsewhere"}, 409), ({"name": "index.csv"}, 404), ({"bundle": "nightly"}, 404)):
        assert operator.post("/labels/queue", form | other).status_code == status
    assert pages.person("clerk").post("/labels/queue", form).status_code == 403
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    given = [each["about"] for each in entries if each["what"] == "gave labels to a print queue"]
    assert f"labels.pdf {made} dock" in given


def test_what_names_no_bundle_and_no_file_leads_nowhere(pages: RunningPages) -> None:
    operator = pages.person("operator")
    (made, *_) = bundles(operator) or [{"id": "x"}]
    for name in ("nothing", "%2E%2E", "nightly"):
        assert operator.get(f"/labels/{name}").status_code == 404
    for name in (f"{made['id']}/..%2F..%2Flogistics-batch.toml", f"{made['id']}/nothing.pdf", "..%2F..%2Fx/y", "x"):
        assert operator.get(f"/labels/file/{name}").status_code == 404


def test_what_names_no_order_is_told(pages: RunningPages) -> None:
    operator = pages.person("operator")
    assert look(operator).status_code == 409
    assert look(operator, run="nothing").status_code == 409
    assert look(operator, run="nightly", orders="R-1").status_code == 409
    assert look(operator, orders="R-9", layout="a0").status_code == 409
    assert "to print" in look(operator, all="yes").text
    assert "to print" in look(operator, run="nightly").text
