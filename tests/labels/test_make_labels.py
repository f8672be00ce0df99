"""A label run from the ledger to the printed sheet."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
from labels.label_files import a5_label, blank, cropped, encrypted, label, rotated, scan
from labels.label_service import Given, LabelService
from labels.print_room import PrintRoom, Wish
from labels.test_manifest import text_of
from support.canary import key_of_tests

from logistics_batch.errors import KeyRefused, RunStopped, SettingsError, UsageError
from logistics_batch.flows.doubts.decisions import decide
from logistics_batch.flows.files.purge import purge_by_age
from logistics_batch.flows.labels.labels import LabelsPlan, make_labels, named_orders
from logistics_batch.flows.labels.orders import LabelChoice
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.model.run_reports import LabelReport
from logistics_batch.paper.labels import barcodes as label_barcodes

PAPERS = ("manifest.pdf", "index.csv", "pick_list.pdf")


def accepted(room: PrintRoom, *wishes: Wish, run: str = "run-1") -> dict[str, str]:
    """These orders are in the ledger, accepted; AWB by reference."""
    awbs = {wish.reference: f"SH-{wish.reference.replace('-', '')}" for wish in wishes}
    room.accept(room.drop(*wishes, run=run), awbs, run=run)
    return awbs


def index(report: LabelReport) -> list[dict[str, str]]:
    path = next(path for path in report.files if path.name == "index.csv")
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def manifest(report: LabelReport) -> str:
    return "\n".join(text_of(next(path for path in report.files if path.name == "manifest.pdf").read_bytes()))


def barcodes(report: LabelReport) -> list[str]:
    parts = sorted(path for path in report.files if path.name.startswith("labels"))
    return [code for path in parts for page in scan(path.read_bytes(), dpi=300) for code in page]


def test_unprinted_orders_come_out_in_walking_order(room: PrintRoom, service: LabelService) -> None:
    awbs = accepted(
        room,
        Wish("R-1", hub="BOM", keep={"route": "R-2"}),
        Wish("R-2", hub="BLR", keep={"route": "R-10"}, cash="649.50"),
        Wish("R-3", hub="BLR", keep={"route": "R-2"}, pincode="560095"),
        Wish("R-4", hub="BLR", keep={"route": "R-2"}, pincode="560001", item="ZINC"),
        Wish("R-5", hub="BLR", keep={"route": "R-2"}, pincode="560001", item="BULB"),
        Wish("R-6"),
    )
    report = make_labels(room.parts, LabelsPlan())
    order = ["R-5", "R-4", "R-3", "R-2", "R-1", "R-6"]
    assert report.exit_code == 0
    assert barcodes(report) == [awbs[reference] for reference in order]
    rows = index(report)
    assert [row["reference_number"] for row in rows] == order
    assert [row["sequence"] for row in rows] == [str(number) for number in range(1, 7)]
    assert (rows[0]["file"], rows[0]["sheet"], rows[0]["row"]) == ("orders-1.csv", "Orders", "6")
    assert [row["group"] for row in rows] == ["BLR · R-2"] * 3 + ["BLR · R-10", "BOM · R-2", "no hub · no route"]
    assert "₹ 649.50" in manifest(report)
    assert all(body == {"order_numbers[]": body["order_numbers[]"]} for body in service.asked)


def test_pages_of_the_index_are_those_of_the_bundle(room: PrintRoom) -> None:
    wishes = [Wish(f"A-{n}", hub="BLR") for n in range(3)] + [Wish(f"B-{n}", hub="BOM") for n in range(3)]
    accepted(room, *wishes)
    report = make_labels(room.parts, LabelsPlan(max_pages=5, reverse=True))
    names = {path.name: path for path in report.files}
    assert {"labels_part-01-of-02.pdf", "labels_part-02-of-02.pdf", *PAPERS} == set(names)
    for row in index(report):
        pages = scan(names[f"labels_part-{int(row['part']):02}-of-02.pdf"].read_bytes())
        assert pages[int(row["page"]) - 1] == [row["awb_number"]]


def test_printed_labels_are_not_printed_again_without_a_reason(room: PrintRoom, service: LabelService) -> None:
    accepted(room, Wish("R-1"), Wish("R-2"))
    first = make_labels(room.parts, LabelsPlan(who="ravi"))
    again = make_labels(room.parts, LabelsPlan())
    assert (again.labels, again.exit_code) == (0, 0)
    assert {path.name for path in again.files} == {"manifest.pdf", "index.csv"}
    assert "There is nothing to print." in manifest(again)
    by_run = make_labels(room.parts, LabelsPlan(orders=LabelChoice(run="run-1")))
    assert (by_run.labels, set(by_run.printed_before)) == (0, {"R-1", "R-2"})
    assert "printed before" in manifest(by_run)
    assert "Printed before and left out: 2 orders R-1, R-2" in " ".join(manifest(by_run).split())
    assert [(row["reference_number"], row["status"], row["copy"], row["file"]) for row in index(by_run)] == [
        ("R-1", "printed before", "1", "orders-1.csv"),
        ("R-2", "printed before", "1", "orders-1.csv"),
    ]
    calls = len(service.seen)
    once_more = make_labels(
        room.parts, LabelsPlan(orders=LabelChoice(numbers=("R-2",)), reprint_reason="jammed roll", who="ravi")
    )
    assert barcodes(once_more) == ["SH-R2"]
    assert "REPRINT: jammed roll" in manifest(once_more)
    assert [(row["status"], row["copy"]) for row in index(once_more)] == [("reprint", "2")]
    assert len(service.seen) == calls, "a label that is kept is not fetched again"
    lines = room.ledger.labels.prints(["SH-R2"])
    assert [(line.copy, line.reason, line.who, line.bundle_id) for line in lines] == [
        (1, "", "ravi", first.bundle_id),
        (2, "jammed roll", "ravi", once_more.bundle_id),
    ]


def test_every_bad_label_is_listed_and_the_rest_is_bundled(room: PrintRoom, service: LabelService) -> None:
    bad = {
        "HTML": Given(b"<!DOCTYPE html><html>Sign in</html>"),
        "JSON": Given(b'{"status": "FAIL"}'),
        "CUT": Given(cut=True),
        "TORN": Given(label("SH-TORN")[:-200]),
        "BLANK": Given(blank()),
        "LOCKED": Given(encrypted("SH-LOCKED")),
        "TWO": Given(label("SH-TWO", "INVOICE")),
        "LARGE": Given(a5_label("SH-LARGE")),
        "WRONG": Given(label("SH-OTHER")),
        "NOLABEL": Given(refuse="Shipment is on hold"),
        "EXPIRED": Given(expire=9),
        "ABROAD": Given(link="https://169.254.169.254/latest/meta-data/"),
    }
    good = {"TURNED": Given(rotated(label("SH-TURNED"), 90)), "CROPPED": Given(cropped("SH-CROPPED")), "PLAIN": Given()}
    service.given = {f"SH-{name}": given for name, given in (bad | good).items()}
    accepted(room, *[Wish(name) for name in [*bad, *good]])
    report = make_labels(room.parts, LabelsPlan(sort=("file",)))
    assert report.exit_code == 3
    assert barcodes(report) == ["SH-TURNED", "SH-CROPPED", "SH-PLAIN"]
    reasons = {lost.reference_number: lost.reason for lost in report.missing}
    assert set(reasons) == set(bad)
    for name, words in {
        "HTML": "web page",
        "JSON": "JSON",
        "CUT": "broke off",
        "TORN": "cut off",
        "BLANK": "blank",
        "LOCKED": "encrypted",
        "TWO": "2 page(s)",
        "LARGE": "more than the 4x6 stock",
        "WRONG": "that of another package, SH-OTHER",
        "NOLABEL": "Shipment is on hold",
        "EXPIRED": "expired",
        "ABROAD": "label_hosts",
    }.items():
        assert words in reasons[name], name
    first_page = manifest(report).split("Handed over to")[0]
    assert all(name in first_page for name in bad)
    missing = [row for row in index(report) if row["status"] == "missing"]
    assert {row["reference_number"] for row in missing} == set(bad)
    assert all(lost.remedy and lost.rows for lost in report.missing)


def test_missing_labels_are_still_unprinted_and_come_next_time(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-B": Given(b"<html>")}
    accepted(room, Wish("A"), Wish("B"))
    assert make_labels(room.parts, LabelsPlan()).exit_code == 3
    service.given = {}
    second = make_labels(room.parts, LabelsPlan())
    assert (barcodes(second), second.exit_code) == (["SH-B"], 0)


def test_expired_link_is_asked_for_again(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-A": Given(expire=2)}
    accepted(room, Wish("A"))
    assert make_labels(room.parts, LabelsPlan()).exit_code == 0
    assert len(service.asked) == 3


def test_passing_trouble_of_the_service_is_waited_out(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-A": Given(html=2), "SH-B": Given(html=99)}
    accepted(room, Wish("A"), Wish("B"))
    report = make_labels(room.parts, LabelsPlan())
    assert barcodes(report) == ["SH-A"]
    assert [lost.reference_number for lost in report.missing] == ["B"]


def test_full_shipment_is_sent_where_order_numbers_are_refused(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-A": Given(refuse_numbers=True)}
    accepted(room, Wish("A", cash="1299.00"))
    report = make_labels(room.parts, LabelsPlan())
    assert barcodes(report) == ["SH-A"]
    assert service.asked[1] == {
        "awb_number": "SH-A",
        "primary_mobile_no": "9876543210",
        "shipping_address": "12 MG Road, Bengaluru",
        "delivery_pincode": "560001",
        "order_id": "A",
        "customer_name": "Asha Rao",
        "is_cod": True,
        "amount_to_collect": "1299.00",
    }


def test_key_goes_to_the_label_call_only(room: PrintRoom, service: LabelService) -> None:
    accepted(room, Wish("A"))
    make_labels(room.parts, LabelsPlan())
    for path, headers in service.seen:
        downloads = path.startswith("/labels/")
        assert ("API_KEY=" in path) is not downloads
        assert key_of_tests() not in json.dumps(headers)


def test_link_is_kept_nowhere(room: PrintRoom, tmp_path: Path) -> None:
    accepted(room, Wish("A"))
    report = make_labels(room.parts, LabelsPlan())
    room.close()
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) > 4
    assert not [path for path in kept if b"SECRETSECRET" in path.read_bytes()]
    assert "SECRETSECRET" not in manifest(report)


def test_refused_key_stops_with_one_message_and_prints_nothing(service: LabelService, tmp_path: Path) -> None:
    service.key = "another-key"
    room = PrintRoom(tmp_path, url=service.url)
    accepted(room, *[Wish(f"R-{number}") for number in range(30)])
    with pytest.raises(KeyRefused):
        make_labels(room.parts, LabelsPlan())
    assert len(service.asked) <= 2 * room.parts.policy.concurrency
    assert len(room.ledger.labels.unprinted_orders()) == 30
    assert room.ledger.runs.latest(job="labels")[0].exit_code == 5
    room.close()


def test_stop_leaves_what_was_fetched_for_the_next_time(room: PrintRoom, service: LabelService) -> None:
    accepted(room, *[Wish(f"R-{number}") for number in range(40)])

    def stop_after_some() -> None:
        if len(service.asked) == 10:
            room.parts.stop.set()

    service.on_ask = stop_after_some
    with pytest.raises(RunStopped):
        make_labels(room.parts, LabelsPlan())
    asked = len(service.asked)
    assert asked < 40
    room.parts.stop.clear()
    service.on_ask = lambda: None
    assert make_labels(room.parts, LabelsPlan()).labels == 40
    assert len(service.asked) < 40 + asked


def test_kept_label_that_was_damaged_on_disk_is_fetched_again(room: PrintRoom, service: LabelService) -> None:
    accepted(room, Wish("A"))
    make_labels(room.parts, LabelsPlan())
    (kept,) = (room.parts.files / "labels").glob("*.pdf")
    kept.write_bytes(b"%PDF-1.4 rotten %%EOF")
    report = make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("A",)), reprint_reason="torn"))
    assert barcodes(report) == ["SH-A"]
    assert len(service.asked) == 2


def test_labels_without_a_barcode_are_printed_and_said_to_be_unproven(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-A": Given(label("", name="Asha Rao")), "SH-B": Given(label("INVOICE-7"))}
    accepted(room, Wish("A"), Wish("B"), Wish("C"))
    report = make_labels(room.parts, LabelsPlan())
    assert (report.exit_code, report.labels) == (0, 3)
    (note,) = report.notes
    assert "on 2 label files no barcode with the AWB could be read (the first: SH-A)" in note
    assert "scan the printed labels" in " ".join(manifest(report).split())


def test_same_label_for_two_orders_is_in_nobodys_hands(room: PrintRoom, service: LabelService) -> None:
    """Without a barcode nobody can say whose it is."""
    service.given = {"SH-A": Given(label("")), "SH-B": Given(label(""))}
    accepted(room, Wish("A"), Wish("B"), Wish("C"))
    report = make_labels(room.parts, LabelsPlan())
    assert barcodes(report) == ["SH-C"]
    assert {lost.reference_number for lost in report.missing} == {"A", "B"}
    assert all("very same label" in lost.reason for lost in report.missing)


def test_each_package_has_its_label_and_cash_counts_once(room: PrintRoom, service: LabelService) -> None:
    children = ("SH-A-01", "SH-A-02", "SH-A-03")
    service.given = {"SH-A": Given(label(*children))}
    numbers = room.drop(Wish("A", packages=3, cash="900.00"))
    room.accept(numbers, {"A": "SH-A"}, child_awb_numbers=children)
    report = make_labels(room.parts, LabelsPlan(max_pages=1))
    assert barcodes(report) == list(children)
    assert [row["awb_number"] for row in index(report)] == list(children)
    assert (report.labels, report.orders) == (3, 1)
    assert "₹ 900.00" in manifest(report)
    assert "A (2 of 3)" in manifest(report)
    assert manifest(report).count("LAMP") == 1
    assert len(service.asked) == 1
    unknown = ["SH-A_02", "sh-a-02", *(f"N{number}" for number in range(1200))]
    again = LabelsPlan(orders=LabelChoice(numbers=("SH-A-02", *unknown)), reprint_reason="torn")
    report = make_labels(room.parts, again)
    assert (barcodes(report), [lost.reference_number for lost in report.missing]) == (list(children), unknown)


def test_separator_names_the_last_package_of_its_group(room: PrintRoom, service: LabelService) -> None:
    children = ("SH-A-01", "SH-A-02", "SH-A-03")
    service.given = {"SH-A": Given(label(*children))}
    numbers = room.drop(Wish("A", packages=3, hub="BLR"), *[Wish(f"B-{number}", hub="BOM") for number in range(3)])
    room.accept({"A": numbers.pop("A")}, {"A": "SH-A"}, child_awb_numbers=children)
    room.accept(numbers, {reference: f"SH-{reference}" for reference in numbers})
    report = make_labels(room.parts, LabelsPlan())
    (path,) = [path for path in report.files if path.name == "labels.pdf"]
    slip = " ".join(text_of(path.read_bytes())[0].split())
    assert "First AWB SH-A-01 Last AWB SH-A-03" in slip


@pytest.mark.parametrize("line", ["A-1,Asha Rao,9900000001", "A-1;Asha Rao", "A-1\tAsha Rao"])
def test_a_spreadsheet_is_no_list_of_numbers_and_nothing_of_it_is_shown(
    room: PrintRoom, tmp_path: Path, line: str
) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(f"A-1\n{line}\n", "utf-8")
    with pytest.raises(UsageError, match="line 2 holds several values") as refused:
        named_orders(room.parts, str(path), mapping=None)
    assert "--mapping" in refused.value.remedy
    assert "Asha" not in str(refused.value)


def test_packages_are_asked_for_one_by_one_where_one_file_lacks_them(room: PrintRoom, service: LabelService) -> None:
    children = ("SH-A-01", "SH-A-02")
    numbers = room.drop(Wish("A", packages=2))
    room.accept(numbers, {"A": "SH-A"}, child_awb_numbers=children)
    report = make_labels(room.parts, LabelsPlan())
    assert barcodes(report) == list(children)
    asked = len(service.asked)
    again = make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("SH-A",)), reprint_reason="wet"))
    assert barcodes(again) == list(children)
    assert len(service.asked) == asked


def test_orders_of_a_run_without_a_label_are_listed_with_the_reason(room: PrintRoom) -> None:
    names = ["OK", "NOAWB", "REFUSED", "DOUBT", "HELD", "PLANNED", "CANCELLED"]
    numbers = room.drop(*[Wish(name) for name in names])
    room.accept(numbers, {"OK": "SH-OK", "NOAWB": "", "CANCELLED": "SH-CANCELLED"})
    room.settle(numbers, {"REFUSED": "refused", "DOUBT": "in_doubt", "HELD": "held"})
    now = room.parts.clock.now().isoformat()
    assert room.ledger.awb_numbers.record_by_hand(
        reference_or_awb="CANCELLED", at=now, text="cancelled", cancelled=True
    )
    report = make_labels(room.parts, LabelsPlan(orders=LabelChoice(run="orders-nightly")))
    assert barcodes(report) == ["SH-OK"]
    assert report.exit_code == 4, "something is in doubt"
    reasons = {lost.reference_number: lost.reason for lost in report.missing}
    assert set(reasons) == set(names) - {"OK"}
    assert "AWB is not known" in reasons["NOAWB"]
    assert reasons["REFUSED"] == "the service refused the order: because refused"
    assert "in doubt" in reasons["DOUBT"]
    assert "cancelled" in reasons["CANCELLED"]
    unprinted = make_labels(room.parts, LabelsPlan())
    assert [lost.reference_number for lost in unprinted.missing] == ["NOAWB"]
    assert unprinted.exit_code == 3


def test_orders_by_number(room: PrintRoom) -> None:
    accepted(room, Wish("A"), Wish("B"), Wish("C"))
    report = make_labels(
        room.parts, LabelsPlan(orders=LabelChoice(numbers=("C", " SH-A ", "C", "UNKNOWN")), sort=("file",))
    )
    assert barcodes(report) == ["SH-C", "SH-A"], "file order is that of the list"
    assert [(lost.reference_number, lost.rows) for lost in report.missing] == [("UNKNOWN", ())]
    assert report.exit_code == 3


def test_reference_used_again_after_a_cancellation_means_the_living_order(room: PrintRoom) -> None:
    accepted(room, Wish("A"))
    now = room.parts.clock.now().isoformat()
    room.ledger.awb_numbers.record_by_hand(reference_or_awb="A", at=now, text="cancelled", cancelled=True)
    room.drop(Wish("A", item="OTHER"), run="run-2")
    (held,) = room.ledger.documents.select(states=["held"])
    decide(room.parts, held.id, decision="send-again", reason="ordered again", reissue=True)
    room.accept({"A": held.id}, {"A": "SH-NEW"}, run="run-2")
    assert barcodes(make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("A",))))) == ["SH-NEW"]


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        (("bin",), "B A C D"),
        (("-bin",), None),
        (("single", "sku"), "C B A D"),
        (("wave", "file"), "C A B D"),
        (("cut_off",), "A B C D"),
    ],
)
def test_sort_keys(room: PrintRoom, sort: tuple[str, ...], wanted: str | None) -> None:
    accepted(
        room,
        Wish("A", items=("LAMP", "SHADE"), keep={"bin": "A-10", "wave": "2"}),
        Wish("B", item="LAMP", keep={"bin": "A-9", "wave": "2"}),
        Wish("C", item="BULB", keep={"bin": "B-1", "wave": "1"}),
        Wish("D", items=("ZINC", "LAMP")),
    )
    if wanted is None:
        with pytest.raises(UsageError, match="-bin"):
            make_labels(room.parts, LabelsPlan(sort=sort))
    else:
        report = make_labels(room.parts, LabelsPlan(sort=sort))
        assert [row["reference_number"] for row in index(report)] == wanted.split()


def test_usage_errors_ask_nothing_of_the_service(room: PrintRoom, service: LabelService) -> None:
    accepted(room, Wish("A"))
    for plan in (
        LabelsPlan(layout="a3"),
        LabelsPlan(orders=LabelChoice(run="no-such-run")),
        LabelsPlan(sort=("weight",)),
    ):
        with pytest.raises(UsageError):
            make_labels(room.parts, plan)
    assert service.asked == []


def test_bundle_goes_to_the_results_place_in_a_folder_of_its_own(room: PrintRoom, tmp_path: Path) -> None:
    accepted(room, Wish("A"))
    plan = LabelsPlan(
        results=JobPlace(sftp="bhiwandi", path="/outbound/labels"), output=tmp_path / "out", job="labels-nightly"
    )
    report = make_labels(room.parts, plan)
    there = tmp_path / "sftp" / "outbound" / "labels" / report.bundle_id
    assert {path.name for path in there.iterdir()} == {"labels.pdf", *PAPERS}
    for path in report.files:
        assert path.parent == tmp_path / "out"
        assert path.read_bytes() == (there / path.name).read_bytes()
    run = room.ledger.runs.latest(job="labels-nightly")[0]
    assert (run.id, run.kind, run.exit_code, run.summary["labels"]) == (report.bundle_id, "labels", 0, 1)


def test_files_of_an_earlier_bundle_are_put_aside_under_its_id(room: PrintRoom, tmp_path: Path) -> None:
    out = tmp_path / "out"
    accepted(room, *[Wish(f"R-{number}") for number in range(3)])
    first = make_labels(room.parts, LabelsPlan(output=out, max_pages=1))
    before = {path.name: path.read_bytes() for path in first.files}
    (out / "notes.txt").write_text("keep me")
    make_labels(room.parts, LabelsPlan(output=out, orders=LabelChoice(numbers=("R-1",)), reprint_reason="torn"))
    assert {path.name for path in out.iterdir()} == {"labels.pdf", "manifest.pdf", "index.csv", "notes.txt", "earlier"}
    assert {path.name: path.read_bytes() for path in (out / "earlier" / first.bundle_id).iterdir()} == before


def test_a_bundle_without_labels_leaves_the_earlier_one_where_it_is(room: PrintRoom, tmp_path: Path) -> None:
    out = tmp_path / "out"
    accepted(room, Wish("A", item="LAMP"))
    first = make_labels(room.parts, LabelsPlan(output=out))
    before = {path: path.read_bytes() for path in first.files}
    again = make_labels(room.parts, LabelsPlan(output=out))
    assert {path: path.read_bytes() for path in out.iterdir()} == before
    assert again.labels == 0
    assert {path.parent for path in again.files} == {room.parts.reports / "labels" / again.bundle_id}
    assert str(out) in " ".join(again.notes)


def test_many_labels_at_once_keep_their_owners(room: PrintRoom) -> None:
    awbs = accepted(room, *[Wish(f"R-{number}") for number in range(60)])
    report = make_labels(room.with_policy(concurrency=8), LabelsPlan(sort=("file",), layout="a4-4up"))
    assert barcodes(report) == list(awbs.values())


def calls(room: PrintRoom, number: int) -> PrintRoom:
    room.parts = room.with_policy(label_orders_per_call=number, concurrency=1)
    return room


def test_one_call_for_several_orders_where_the_barcodes_prove_it(room: PrintRoom, service: LabelService) -> None:
    accepted(calls(room, 3), *[Wish(f"R-{number}") for number in range(7)])
    report = make_labels(room.parts, LabelsPlan(reverse=True))
    assert [body["order_numbers[]"] for body in service.asked] == ["SH-R0,SH-R1,SH-R2", "SH-R3,SH-R4,SH-R5", "SH-R6"]
    assert barcodes(report) == [f"SH-R{number}" for number in range(6, -1, -1)]
    assert len({row["label_sha256"] for row in index(report)}) == 7, "each order has a file of its own"
    again = make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("R-4",)), reprint_reason="wet"))
    assert barcodes(again) == ["SH-R4"]
    assert len(service.asked) == 3, "what was divided is kept"


@pytest.mark.parametrize(
    "together",
    [
        Given(label("SH-R1", "SH-R0", "SH-R9")),
        Given(label("SH-R0", "SH-R1")),
        Given(label("SH-R0", "", "")),
        Given(refuse="one order a call"),
        Given(b"<html>"),
        Given(expire=9),
    ],
    ids=["another's page", "a page too few", "no barcodes", "refused", "no PDF", "expired"],
)
def test_orders_are_asked_for_alone_where_a_call_for_several_proves_nothing(
    room: PrintRoom, service: LabelService, together: Given
) -> None:
    service.given = {"SH-R0,SH-R1,SH-R2": together}
    accepted(calls(room, 3), *[Wish(f"R-{number}") for number in range(3)])
    report = make_labels(room.parts, LabelsPlan())
    assert (report.exit_code, barcodes(report)) == (0, ["SH-R0", "SH-R1", "SH-R2"])
    assert [body["order_numbers[]"] for body in service.asked][1:] == ["SH-R0", "SH-R1", "SH-R2"]


def test_packages_that_share_an_awb_are_never_asked_for_together(room: PrintRoom, service: LabelService) -> None:
    service.given = {"SH-B": Given(label("SH-B", "SH-B"))}
    accepted(calls(room, 5), Wish("A"), Wish("B", packages=2), Wish("C"))
    assert make_labels(room.parts, LabelsPlan()).labels == 4
    assert {body["order_numbers[]"] for body in service.asked} == {"SH-A,SH-C", "SH-B"}


def test_orders_of_a_business_date(room: PrintRoom) -> None:
    accepted(room, Wish("A"), run="run-1")
    accepted(room, Wish("B"), run="run-2")
    today = room.parts.clock.now().date()
    report = make_labels(room.parts, LabelsPlan(orders=LabelChoice(day=today)))
    assert barcodes(report) == ["SH-A", "SH-B"]
    assert today.isoformat() in manifest(report)
    other = make_labels(room.parts, LabelsPlan(orders=LabelChoice(day=today.replace(year=today.year - 1))))
    assert (other.exit_code, other.labels) == (0, 0)


def test_each_group_in_files_of_its_own(room: PrintRoom) -> None:
    accepted(
        room,
        *[Wish(f"A-{number}", hub="BLR/1") for number in range(3)],
        *[Wish(f"B-{number}", hub="मुंबई") for number in range(2)],
    )
    report = make_labels(room.parts, LabelsPlan(sort=("hub",), per_group=True, max_pages=3))
    names = sorted(path.name for path in report.files if path.name.startswith("labels"))
    assert names == [
        "labels_01_BLR-1_part-01-of-02.pdf",
        "labels_01_BLR-1_part-02-of-02.pdf",
        "labels_02_group.pdf",
    ]
    folder = report.files[0].parent
    printed = [[code for page in scan((folder / name).read_bytes()) for code in page] for name in names]
    assert printed == [["SH-A0", "SH-A1"], ["SH-A2"], ["SH-B0", "SH-B1"]]
    assert "labels_02_group.pdf" in manifest(report)
    assert [row["part"] for row in index(report)] == ["1", "1", "2", "3", "3"]


def test_labels_of_a_group_lie_together_however_it_is_spelt(room: PrintRoom) -> None:
    routes = ("North", "north", "North", "NORTH", "North")
    accepted(room, *[Wish(name, keep={"route": route}) for name, route in zip("ABCDE", routes, strict=True)])
    report = make_labels(room.parts, LabelsPlan(sort=("route", "file")))
    assert [row["reference_number"] for row in index(report)] == ["D", "A", "C", "E", "B"]


def test_pick_list_adds_up_by_group_bin_and_sku(room: PrintRoom) -> None:
    accepted(
        room,
        Wish("A", hub="BLR", item="LAMP", quantity=2, keep={"bin": "B-10"}),
        Wish("B", hub="BLR", item="LAMP", quantity=3, keep={"bin": "B-10"}),
        Wish("C", hub="BLR", item="SHADE", keep={"bin": "B-9"}),
        Wish("D", hub="BOM", items=("LAMP", "BULB"), keep={"bin": "B-10"}),
    )
    report = make_labels(room.parts, LabelsPlan(sort=("hub", "bin", "sku")))
    (path,) = [path for path in report.files if path.name == "pick_list.pdf"]
    text = "\n".join(text_of(path.read_bytes()))
    blr, bom = text.split("BOM")
    assert blr.index("B-9") < blr.index("B-10")
    assert "B-10 LAMP 5 2 2-3" in " ".join(blr.split())
    assert "BULB 1 1 4" in " ".join(bom.split())
    assert "4 labels, 3 SKUs, pieces: 8" in text


def test_nothing_is_picked_again_for_a_reprint(room: PrintRoom) -> None:
    accepted(room, Wish("A", item="LAMP"))
    make_labels(room.parts, LabelsPlan())
    again = make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("A",)), reprint_reason="torn"))
    assert "pick_list.pdf" not in {path.name for path in again.files}
    accepted(room, Wish("B", item="SHADE"), run="run-2")
    both = make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("A", "B")), reprint_reason="torn"))
    (path,) = [path for path in both.files if path.name == "pick_list.pdf"]
    text = " ".join(text_of(path.read_bytes())[0].split())
    assert "1 label, 1 SKU, pieces: 1; nothing for labels that are printed again" in text
    assert "SHADE" in text
    assert "LAMP" not in text


def test_what_another_run_printed_meanwhile_is_not_printed_twice(room: PrintRoom, service: LabelService) -> None:
    """Two people ask for the unprinted labels at the same time."""
    accepted(room, Wish("A"), Wish("B"))
    seen: list[LabelReport] = []

    def second() -> None:
        service.on_ask = lambda: None
        seen.append(make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("B",)), who="asha")))

    service.on_ask = second
    with pytest.raises(UsageError, match="Another label run printed 1 order of this one meanwhile, the first B"):
        make_labels(room.parts, LabelsPlan(output=room.root / "out"))
    assert not (room.root / "out").exists()
    assert barcodes(seen[0]) == ["SH-B"]
    assert barcodes(make_labels(room.parts, LabelsPlan())) == ["SH-A"]


def test_a_label_whose_time_was_over_is_fetched_again(room: PrintRoom, service: LabelService) -> None:
    accepted(room, Wish("A"))
    make_labels(room.parts, LabelsPlan())
    (kept,) = (room.parts.files / "labels").iterdir()
    long_ago = room.parts.clock.now().timestamp() - 100 * 86_400
    os.utime(kept, (long_ago, long_ago))
    assert purge_by_age(room.with_policy(keep_labels_seconds=60 * 86_400.0)).labels == 1
    reprint = make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("A",)), reprint_reason="wet"))
    assert barcodes(reprint) == ["SH-A"]
    assert len(service.asked) == 2


def test_several_orders_a_call_need_what_reads_barcodes(
    room: PrintRoom, service: LabelService, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted(calls(room, 3), Wish("A"), Wish("B"))
    monkeypatch.setattr(label_barcodes, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="label_orders_per_call") as refused:
        make_labels(room.parts, LabelsPlan())
    assert "logistics-batch[barcodes]" in refused.value.remedy
    assert service.asked == []
