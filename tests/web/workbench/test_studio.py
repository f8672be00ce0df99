"""A mapping is made of a sample in the studio, without a line of YAML; its text is the state, and nothing knows more
than the commands do."""

import io
import json
from typing import Any

import pytest
import yaml
from openpyxl import Workbook
from support.pages_process import Person, RunningPages
from support.workspace import Workspace

from .conftest import JOB, STRANGE

SAMPLE = """\
Kaveri Home Stores,,,,,,,,
Ord. Ref,Ordered,Consignee,Contact,Full Address,Pin,Payment Mode,To collect,Article,Pcs,Gross Wt (gm)
K-{0}1,02/11/2026,Anjali D,98450 11203,"14, 3rd Cross, Bengaluru",560034,COD,"1,548.00",KTL-15,1,1970
K-{0}1,02/11/2026,Anjali D,98450 11203,"14, 3rd Cross, Bengaluru",560034,COD,"1,548.00",TIF-3,1,1970
K-{0}2,02/11/2026,Rohan P,63614 50987,"Plot 88, Bengaluru",560066,Paid,,BTL-1,2,620
K-{0}3,03/11/2026,Ayesha F,94480 12876,"2nd Floor, Mangaluru",575001,Wallet,,MUG-2,1,640
"""


def opened(person: Person, content: str | bytes, name: str = "kaveri.csv", **form: str) -> str:
    """The address of the studio for a sample."""
    sheet = content.encode() if isinstance(content, str) else content
    answer = person.upload("/mappings/open", form, name, sheet)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def told(person: Person, address: str, query: str = "") -> dict[str, Any]:
    """What the studio tells, which the page shows."""
    assert person.get(f"{address}{query}").status_code == 200
    found: dict[str, Any] = person.get(f"{address}.json{query}").json()
    return found


def sent(person: Person, path: str, address: str, **form: str) -> Any:
    """Send one of the studio's forms as it is shown now."""
    return person.post(path, {"id": address.rpartition("/")[2], "seen": told(person, address)["seen"]} | form)


def chosen(person: Person, address: str, **form: str) -> dict[str, Any]:
    """What the studio tells after a choice. The keys stay as they are unless the choice is about them."""
    now = told(person, address)
    kept = {f"key_{n}": "1" for n, each in enumerate(now["columns"]) if each["is_key"]}
    kept |= {f"down_{n}": "1" for n, each in enumerate(now["columns"]) if each["is_filled"]}
    fields = {name.replace("_", "-"): text for name, text in (kept | form).items() if text}
    answer = sent(person, "/mappings/change", address, **fields)
    assert answer.status_code == 303, answer.text
    return told(person, address)


def number(found: dict[str, Any], column: str) -> int:
    return [each["name"] for each in found["columns"]].index(column)


def place(found: dict[str, Any], target: str) -> str:
    places = [each["place"] for some in found["targets"].values() for each in some]
    return str(places.index(target))


def written(person: Person, address: str, text: str) -> dict[str, Any]:
    """What the studio tells after its text was written into."""
    assert sent(person, "/mappings/change", address, text=text).status_code == 303
    return told(person, address)


def save(person: Person, address: str, name: str, **form: str) -> Any:
    """Save as the look at it says."""
    look = told(person, address, f"?save={name}")["save"]
    return sent(person, "/mappings/save", address, name=name, replaces=look.get("replaces", ""), **form)


def test_a_strange_sheet_is_mapped_from_nothing_saved_and_run(pages: RunningPages, night: Workspace) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("R"))
    found = told(maker, address)
    assert found["came"] is None, "never a silent guess"
    (question,) = found["questions"]
    assert (question["answers"], question["path"][-1]) == (["true", "false"], "Wallet")
    phone = found["columns"][number(found, "Contact")]
    assert (phone["place"], phone["samples"][0]) == ("fields.customer_mobile", "98450 11203")
    assert phone["confidence"] > 0.9 and phone["reason"]
    refused = save(maker, address, "kaveri")
    assert refused.status_code == 409
    assert not (night.root / "mappings/kaveri.yaml").exists()
    found = chosen(maker, address, answer_0="is:false")
    assert found["came"]["counts"] == {"pending": {"rows": 4, "documents": 3}, "skipped": {"rows": 1, "documents": 0}}
    assert json.loads(found["came"]["documents"][2]["body"])["is_cod"] == "false"
    look = told(maker, address, "?save=kaveri")["save"]
    assert (look["is_there"], look["used"]) == (False, "No job uses it yet.")
    assert save(maker, address, "kaveri", example="1").headers["location"] == address
    assert (night.root / "mappings/kaveri.yaml").read_text() == found["text"]
    assert night.run("mapping", "lint", "kaveri").code == 0
    assert night.run("mapping", "test", "kaveri").code == 0
    sample = night.drop("again.csv", SAMPLE.format("R"), folder="hand")
    assert night.run("mapping", "preview", sample, "--mapping", "kaveri").code == 0
    (night.root / "kaveri-in").mkdir()
    night.job("kaveri-job", JOB.replace("mapping: orders", "mapping: kaveri").replace("drop", "kaveri-in"))
    night.drop("tonight.csv", SAMPLE.format("R"), folder="kaveri-in")
    assert night.run("run", "kaveri-job").code == 0
    (line,) = [each for each in maker.get("/mappings.json").json()["mappings"] if each["name"] == "kaveri"]
    assert (line["jobs"], line["files"], line["versions"], line["has_example"]) == (["kaveri-job"], 1, 1, True)
    again = maker.post("/mappings/open", {"mapping": "kaveri"}).headers["location"]
    (file,) = told(maker, again, "?save=kaveri&replay=1")["save"]["replay"]
    assert (file["name"], file["differ"], file["before"]) == ("tonight.csv", 0, file["after"])
    assert written(maker, again, found["text"].replace('"Paid": "false"', '"Paid": "true"'))["came"]
    page = f"{again}?save=kaveri&replay=1"
    (file,) = told(maker, again, "?save=kaveri&replay=1")["save"]["replay"]
    (row,) = file["rows"]
    assert (file["differ"], row["row"], row["before"], row["after"]) == (1, 5, "unchanged", "invalid")
    assert "The order is cash on delivery" in maker.get(page).text
    shorter = found["text"].replace('  weight: {from: "Gross Wt (gm)", read: {unit: g -> kg}}\n', "")
    assert written(maker, again, shorter.replace("ignore:", 'ignore:\n  - "Gross Wt (gm)"'))["came"]
    (file,) = told(maker, again, "?save=kaveri&replay=1")["save"]["replay"]
    assert [each["differing"] for each in file["rows"] if each["row"] == 5] == [[["weight", "0.62", ""]]]
    assert "weight: 0.62 → nothing" in maker.get(page).text
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    assert "saved a mapping" in [each["what"] for each in entries if each["who"] == "integrator of tests"]


def test_a_choice_changes_one_place_of_the_text_and_nothing_else(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("C"))
    found = chosen(maker, address, answer_0="is:false")
    own = found["text"].replace("fields:\n", "fields:  # asked Latha\n\n  # as they call it\n")
    before = written(maker, address, own)["text"].splitlines()

    def lines_after(**form: str) -> list[str]:
        return [each for each in chosen(maker, address, **form)["text"].splitlines() if each not in before]

    found = told(maker, address)
    ordered, pin, weight = (number(found, each) for each in ("Ordered", "Pin", "Gross Wt (gm)"))
    assert lines_after(**{f"to_{ordered}": "keep"}) == ["keep:", '  ordered: {from: "Ordered"}']
    way = told(maker, address)["columns"][ordered]["reads"].index('{date: "%d/%m/%Y"}')
    assert '  ordered: {from: "Ordered", read: {date: "%d/%m/%Y"}}' in lines_after(**{f"read_{ordered}": str(way)})
    assert '  delivery_postal_code: {from: ["Pin", "PIN code", "ZIP"]}' in lines_after(
        **{f"called_{pin}": "PIN code | ZIP"}
    )
    assert 'key: ["Ord. Ref", "Pin"]' in lines_after(**{f"key_{pin}": "1"})
    assert 'key: ["Ord. Ref", "Pin"]' not in lines_after(**{f"key_{pin}": ""})
    found = told(maker, address)
    assert lines_after(**{f"to_{weight}": "ignore"})[-1] == '  - "Gross Wt (gm)"'
    joined = lines_after(**{f"to_{weight}": "+" + place(found, "fields.delivery_address")})
    assert '  delivery_address: {join: ["Full Address", "Gross Wt (gm)"], with: ", "}' in joined
    rule = lines_after(skip_column="Article", skip_pattern="KTL*")
    assert rule[-2:] == ["sheet:", '  skip_rows_where: {"Article": ["KTL*"]}']
    assert told(maker, address)["came"]["counts"]["pending"]["rows"] == 3
    filled = chosen(
        maker, address, fill_place=place(found, "fields.delivery_hub"), fill_text="BLR", fill_how="constant"
    )
    assert '"delivery_hub": "BLR"' in filled["came"]["documents"][0]["body"]
    gone = chosen(maker, address, outside_0="1", rule_0="1")
    assert (gone["outside"], gone["rules"]) == ([], [])
    assert "# asked Latha\n\n  # as they call it\n  reference_number" in gone["text"]


def test_what_is_written_into_the_text_counts_and_what_cannot_be_read_is_told(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("T"))
    text = told(maker, address)["text"]
    found = written(
        maker, address, text.replace('"Wallet": "?"', '"Wallet": "true"') + 'keep: {mine: {from: "Ordered"}}\n'
    )
    assert found["questions"] == []
    assert found["columns"][number(found, "Ordered")]["place"] == "keep.mine"
    found = written(maker, address, "operation: [\n")
    assert not found["can_choose"] and "Line 2" in found["wrong"][0]
    assert "The mapping file" in maker.get(address).text
    assert written(maker, address, text)["can_choose"]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\n",
        "operation: !!python/object/apply:os.system [id]\n",
        "operation: order.create\n---\noperation: order.create\n",
        "[" * 5000,
        "x: " + "y" * 300_000,
        "operation: {a: 1}\nfields: [1, {2: 3}]\nkey: {a: b}\nignore: {x: y}\nsheet: 3\nlines: {a: [b]}\n",
        "fields: {x: {from: {a: b}, read: 1}}\nsheet: {skip_rows_where: [1]}\n",
        "operation: order.create\nsheet: {header: 1, name: [x]}\nkeep: {a: {from: [Contact, 1], join: 3}}\n",
    ],
)
def test_a_hostile_text_is_answered_with_words(pages: RunningPages, text: str) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("H"))
    found = written(maker, address, text)
    assert found["wrong"]
    assert maker.get(address).status_code == 200
    for form in ({"to-0": "keep"}, {"to-1": "2"}, {"key-0": "1"}, {"skip-column": "Pin", "skip-pattern": "x"}):
        assert sent(maker, "/mappings/change", address, **form).status_code in (303, 409)
    assert maker.get(address).status_code == 200


def test_a_text_that_is_too_long_is_refused(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("L"))
    assert sent(maker, "/mappings/change", address, text="x" * (2 << 20)).status_code == 413


def test_what_a_sheet_says_is_shown_as_text(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    bad = f'{STRANGE},"Phone"" autofocus x=""","# {{x}}: [a] & *b",Qty\n{STRANGE},98450 11203,{STRANGE},1\n'
    address = opened(maker, "Order No," + bad.replace("\n", "\nX-1,", 1), f"{STRANGE}'.csv".replace("/", ""))
    found = told(maker, address)
    assert [each["name"] for each in found["columns"]][1] == STRANGE
    for to in ("ignore", "keep", ""):
        page = maker.get(address).text
        assert STRANGE not in page and "<script>alert" not in page
        assert 'x=""' not in page
        for n in range(len(found["columns"])):
            found = chosen(maker, address, **{f"to_{n}": to}) if to else found
            assert found["can_choose"]


@pytest.mark.parametrize("name", ["../up", "a/b", "..", ".hidden", "A B", "x.yaml", "", "a" * 61, "con\n", "é"])
def test_a_mapping_s_name_leads_nowhere_else(pages: RunningPages, night: Workspace, name: str) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("P"))
    chosen(maker, address, answer_0="is:false")
    before = set(night.root.rglob("*.yaml"))
    answer = sent(maker, "/mappings/save", address, name=name, replaces="", example="1")
    assert answer.status_code == 409
    assert set(night.root.rglob("*.yaml")) == before
    assert maker.client.get(address, params={"save": name}).status_code == 200


def test_nothing_is_replaced_that_was_not_shown(pages: RunningPages, night: Workspace) -> None:
    maker, file = pages.person("integrator"), night.root / "mappings/there.yaml"
    file.write_text((night.root / "mappings/orders.yaml").read_text())
    address = opened(maker, SAMPLE.format("N"))
    chosen(maker, address, answer_0="is:false")
    assert sent(maker, "/mappings/save", address, name="there", replaces="").status_code == 409, "as if it were new"
    look = told(maker, address, "?save=there")["save"]
    assert look["is_there"] and any(line.startswith("-key: [Order No]") for line in look["diff"])
    file.write_text("# mended by hand\n" + file.read_text())
    old = sent(maker, "/mappings/save", address, name="there", replaces=look["replaces"])
    assert old.status_code == 409
    assert file.read_text().startswith("# mended by hand\n")
    assert save(maker, address, "there").status_code == 303
    assert file.read_text() == told(maker, address)["text"]


def test_a_mapping_is_opened_on_its_example_and_the_example_is_held_to_it(
    pages: RunningPages, night: Workspace
) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("E"))
    chosen(maker, address, answer_0="is:false")
    assert save(maker, address, "exemplary", example="1").status_code == 303
    again = maker.post("/mappings/open", {"mapping": "exemplary"}).headers["location"]
    found = told(maker, again)
    assert (found["file"], found["mapping"]) == ("input.csv", "exemplary")
    assert found["text"] == (night.root / "mappings/exemplary.yaml").read_text()
    assert told(maker, again, "?save=exemplary")["save"]["example"]["problems"] == []
    chosen(maker, again, **{f"to_{number(found, 'Consignee')}": "ignore"})
    problems = told(maker, again, "?save=exemplary")["save"]["example"]["problems"]
    assert any("customer_name" in each for each in problems)
    used = pages.person("integrator").get("/mappings.json").json()["mappings"]
    assert {"approved", "nightly"} <= {job for each in used if each["name"] == "orders" for job in each["jobs"]}


def test_another_sheet_or_header_makes_another_draft(pages: RunningPages) -> None:
    maker, book, out = pages.person("integrator"), Workbook(), io.BytesIO()
    book.active.title = "Read me"
    book.active.append(["Send before noon"])
    goods = book.create_sheet("Goods")
    for row in (["Order", None, "Consignee", None, None], ["No", "Date", "Name", "Phone", "Address"]):
        goods.append(row)
    goods.append(["S-1", "02/11/2026", "Anjali", "9845011203", "14 Cross, Bengaluru"])
    plain = book.create_sheet("Plain")
    for row in (["Order No", "Phone", "Address", "SKU", "Qty"], ["S-2", "9845011203", "1 Road", "SKU-1", 2]):
        plain.append(row)
    book.save(out)
    address = opened(maker, out.getvalue(), "book.xlsx")
    found = told(maker, address)
    assert found["look"]["sheets"] == ["Read me", "Goods", "Plain"]
    assert sent(maker, "/mappings/draft", address, sheet="Goods", header="2", header_rows="2").status_code == 303
    found = told(maker, address)
    assert (found["look"]["sheet"], found["header_row"], found["header_rows"]) == ("Goods", 2, 2)
    assert "Consignee Phone" in [each["name"] for each in found["columns"]]
    assert "header: 2" in found["text"] and "header_rows: 2" in found["text"]
    assert sent(maker, "/mappings/draft", address, sheet="Plain", operation="order.create").status_code == 303
    assert [each["name"] for each in told(maker, address)["columns"]] == ["Order No", "Phone", "Address", "SKU", "Qty"]
    assert sent(maker, "/mappings/draft", address, sheet="Read me", operation="order.create").status_code == 303
    none = told(maker, address)
    assert (none["columns"], none["look"]["head"][0]["cells"]) == ([], ["Send before noon"])
    assert sent(maker, "/mappings/draft", address, operation="order.destroy").status_code == 409


def test_a_sample_is_seen_by_nobody_else_and_changed_as_it_was_seen(pages: RunningPages) -> None:
    maker, admin = pages.person("integrator"), pages.person("admin")
    address = opened(maker, SAMPLE.format("O"))
    for path in (address, f"{address}.json"):
        assert admin.get(path).status_code == 404
        assert pages.person("operator").get(path).status_code == 403
    old = {"id": address.rpartition("/")[2], "seen": told(maker, address)["seen"]}
    assert chosen(maker, address, answer_0="is:false")["came"]
    for path in ("/mappings/change", "/mappings/save", "/mappings/draft"):
        assert maker.post(path, old | {"name": "late", "text": "x"}).status_code == 409
    assert admin.post("/mappings/save", old | {"name": "late"}).status_code == 404


def test_a_hostile_sample_is_answered_with_words(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    for name, content in {"noise.xlsx": bytes(range(256)) * 50, "empty.csv": b"", "..\\x.csv": b"A\n"}.items():
        assert maker.upload("/mappings/open", {}, name, content).status_code == 409
    answer = maker.upload("/mappings/open", {}, "page.csv", b"<html><script>alert(1)</script></html>")
    assert answer.status_code == 409 and "<script>alert" not in answer.text
    assert maker.post("/mappings/open", {"mapping": "../secrets"}).status_code == 409


def test_a_sheet_of_very_many_columns_makes_no_endless_page(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    extra = [f"Note {chr(65 + n % 26)}{n}" for n in range(400)]
    lines = [",".join(["Order No", "Phone", "Address", "SKU", "Qty", *extra])]
    lines.append(",".join(["R-1", "9845011203", "1 Road", "SKU-1", "2", *("x" * 30_000 for _ in extra[:9])]))
    address = opened(maker, "\n".join(lines) + "," * 391 + "\n", "wide.csv")
    found = told(maker, address)
    assert (len(found["columns"]), found["look"]["more"]) == (200, 205)
    assert "205 more columns" in maker.get(address).text


def test_a_value_above_the_table_gives_way_to_a_column_and_blank_cells_to_what_stands_above(
    pages: RunningPages,
) -> None:
    maker = pages.person("integrator")
    content = (
        "Supplier,Vaibhav Housewares,,\nConsignee,Luhari Centre,,\nInvoice No,VHP/26/0457,,\n,,,\n"
        "SKU,Description,Dock,Total Pcs\nCK-1,Fry pan,North,144\nCK-2,Kadhai,,60\n"
    )
    address = opened(maker, content, "packing.csv")
    found = told(maker, address)
    place = [each["place"] for each in found["questions"]].index("fields.site_name")
    assert found["questions"][place]["answers"] == ["Consignee"]
    assert "fields.site_name" not in [each["place"] for each in found["outside"]], "it is asked"
    found = chosen(maker, address, **{f"answer_{place}": "of:Dock"})
    assert 'site_name: {from: "Dock"}' in found["text"]
    while found["questions"]:
        found = chosen(maker, address, answer_0=f"is:{found['questions'][0]['answers'][0]}")
    dock = number(found, "Dock")
    found = chosen(maker, address, **{f"down_{dock}": "1"})
    assert 'fill_down: ["Dock"]' in found["text"] or '- "Dock"' in found["text"]
    found = chosen(maker, address, **{f"to_{dock}": "ignore"})
    assert not found["columns"][dock]["is_filled"], "what is read by nothing is not filled either"


def test_what_is_wrong_in_the_workspace_is_told_and_hides_nothing(pages: RunningPages, night: Workspace) -> None:
    maker = pages.person("integrator")
    address = opened(maker, SAMPLE.format("W"))
    chosen(maker, address, answer_0="is:false")
    mapping, job = night.root / "mappings/latin.yaml", night.root / "jobs/odd.yaml"
    mapping.write_bytes("# Müller\n".encode("latin-1"))
    job.write_text("kind: push\n")
    try:
        found = maker.get("/mappings.json").json()
        assert next(each for each in found["mappings"] if each["name"] == "latin")["wrong"]
        assert found["jobs_wrong"]
        for place in ("/jobs", "/"):
            page = pages.person("operator").get(place).text
            assert "odd.yaml" in page and "There is no job" not in page
            assert "/jobs/nightly" in page, "one file that is wrong hides no other job"
        assert "left out: jobs/odd.yaml" in told(maker, address, "?save=fresh")["save"]["used"]
        assert told(maker, address, "?save=latin")["save"]["why_not"]
    finally:
        mapping.unlink()
        job.unlink()


def test_a_change_of_orders_is_mapped_by_what_names_its_order(pages: RunningPages) -> None:
    maker = pages.person("integrator")
    address = opened(maker, "AWB,New phone,New address\nSH-1A2B,9845011203,14 Cross Bengaluru\n", "change.csv")
    assert sent(maker, "/mappings/draft", address, operation="order.update").status_code == 303
    found = told(maker, address)
    assert found["operation"] == "order.update"
    while found["questions"]:
        column = next(iter(found["questions"][0]["answers"] or found["questions"][0]["others"]))
        left = len(found["questions"])
        found = chosen(maker, address, answer_0=f"is:{column}")
        assert len(found["questions"]) < left
    named = found["columns"][number(found, "AWB")]
    assert named["fixed"] or named["place"]
    assert found["came"] or found["wrong"]


@pytest.mark.parametrize(
    ("answer", "rules"),
    [("is:*", {"State": ["Cancelled", "Delivered"]}), ("is:Delivered", {"State": ["Delivered"]}), ("leave", None)],
)
def test_which_rows_are_left_out_is_answered_by_a_choice(pages: RunningPages, answer: str, rules: Any) -> None:
    person = pages.person("integrator")
    states = ["State", "Open", "Cancelled", "Delivered", "Open"]
    rows = [f"{line},{state}" for line, state in zip(SAMPLE.format(7).splitlines()[1:], states, strict=True)]
    address = opened(person, "\n".join(rows))
    now = told(person, address)
    (n,) = [n for n, each in enumerate(now["questions"]) if each["place"] == "sheet.skip_rows_where"]
    assert not now["rules"]
    found = chosen(person, address, **{f"answer-{n}": answer})
    assert (yaml.safe_load(found["text"]) or {}).get("sheet", {}).get("skip_rows_where") == rules
    assert not [each for each in found["questions"] if each["place"] == "sheet.skip_rows_where"]
