"""Receipts lists that an earlier report read and that are gone: archived, overwritten, corrected or retracted."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest
from flows.test_reconcile import asn_row, found, plan, push, receipts

from logistics_batch.flows.reconcile.earlier_receipts import Counting, KnownLines, all_receipts, known_receipts
from logistics_batch.flows.reconcile.goods_list import ReadList
from logistics_batch.flows.reconcile.reconcile import ListPlan, run_reconcile
from logistics_batch.model.jobs.job import Lists
from logistics_batch.reconciliation import KNOWN_LINES, RECEIVED_LINES, UNREAD_ROWS

pytestmark = pytest.mark.usefixtures("papers_left_blank")

MARKED = 1_800_000_000.0
MONDAY, TUESDAY, WEDNESDAY = date(2026, 11, 4), date(2026, 11, 5), date(2026, 11, 6)


def lists(tmp_path: Path, **contents: tuple[str, ...]) -> None:
    """What lies in the folder of lists now: r1=("I1,W,10,,2026-11-02",) is r1.csv."""
    folder = tmp_path / "lists"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.csv"):
        old.unlink()
    for name, rows in contents.items():
        receipts(folder, *rows, name=f"{name}.csv")


def night(parts, tmp_path: Path, day: date, **changes):
    place = Lists(folder=str(tmp_path / "lists"), path="/", pattern=("*",), mapping="receipts")
    return run_reconcile(
        parts, plan(tmp_path, business_date=day, job="nightly", receipts=ListPlan(place=place), **changes)
    )


def test_goods_of_a_list_that_is_gone_count_until_a_person_retracts_it(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "7"))
    lists(tmp_path, r1=("I1,W,10,,2026-11-02", "I2,W,7,,2026-11-02"), r2=("I9,V,1,,2026-11-03",))
    assert found(night(parts, tmp_path, MONDAY)) == [("NO_ASN", "I9", "V")]
    lists(tmp_path, r2=("I9,V,1,,2026-11-03",))
    report = night(parts, tmp_path, TUESDAY)
    assert found(report) == [("NO_ASN", "I9", "V")] and report.counts["matched"] == 2 and report.complete
    [note] = [note for note in report.notes if note.startswith("Counted on as the report of 2026-11-04")]
    assert "2 receipt rows of r1.csv." in note and "(r1.csv.retracted)" in note
    lists(tmp_path, r1=("I1,W,10,,2026-11-02", "I2,W,7,,2026-11-02"), r2=("I9,V,1,,2026-11-03",))
    (tmp_path / "lists" / "r1.csv.retracted").touch()  # beside the list, which lies there again
    report = night(parts, tmp_path, WEDNESDAY)
    assert found(report) == [("NOT_RECEIVED", "I1", "W"), ("NOT_RECEIVED", "I2", "W"), ("NO_ASN", "I9", "V")]
    assert "Retracted, and counted no more: 2 receipt rows of r1.csv." in report.notes
    [note] = [note for note in report.notes if note.startswith("Not read, though it lies there")]
    assert "took it back: r1.csv. If it is the corrected list" in note and "remove r1.csv.retracted" in note


def test_nights_that_look_elsewhere_or_find_no_list_make_nothing_forgotten(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    lists(tmp_path, r1=("I1,W,10,,2026-11-02",))
    night(parts, tmp_path, MONDAY)
    lists(tmp_path, r2=("I9,V,1,,2026-11-03",))
    night(parts, tmp_path, TUESDAY, date_from=TUESDAY)
    lists(tmp_path)
    assert not night(parts, tmp_path, TUESDAY, date_from=TUESDAY).complete
    assert known_receipts(parts, job="another", run="", until=WEDNESDAY) is None
    assert known_receipts(parts, job="nightly", run="", until=MONDAY).lines["file_name"].to_list() == ["r1.csv"]
    lists(tmp_path, r3=("I9,V,1,,2026-11-03",))
    assert night(parts, tmp_path, WEDNESDAY).counts["matched"] == 1


def test_a_list_that_was_retracted_while_no_other_lay_there_never_comes_back(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I2", "W", "7"))
    lists(tmp_path, w1=("I2,W,7,,2026-11-02",))
    night(parts, tmp_path, MONDAY)
    mark = tmp_path / "lists" / "w1.csv.retracted"
    (tmp_path / "lists" / "w1.csv").rename(mark)
    report = night(parts, tmp_path, TUESDAY)
    assert report.exit_code == 4 and "Retracted, and counted no more: 1 receipt row of w1.csv." in report.notes
    assert any(doubt.startswith("Not compared with receipts: 1 line.") for doubt in report.doubts)
    mark.unlink()
    lists(tmp_path, w2=("I9,V,1,,2026-11-03",))
    assert ("NOT_RECEIVED", "I2", "W") in found(night(parts, tmp_path, WEDNESDAY))


def test_goods_of_lists_that_are_all_archived_count_on(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "7"))
    lists(tmp_path, r1=("I1,W,10,,2026-11-02",))
    night(parts, tmp_path, MONDAY)
    lists(tmp_path)
    for day in (TUESDAY, WEDNESDAY):
        report = night(parts, tmp_path, day)
        assert found(report) == [("UNVERIFIABLE", "I2", "W")] and report.counts["matched"] == 1
        assert "no list came tonight" in report.document["exceptions"][0]["reason"]
        [doubt] = report.doubts
        assert report.exit_code == 4 and doubt.startswith("No receipts file written since ")
        [note] = [note for note in report.notes if note.startswith("Counted on as the report of 2026-11-04")]
        assert "1 receipt row of r1.csv." in note


def test_what_is_only_noted_is_no_doubt_where_a_row_cannot_be_read(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    lists(tmp_path, r1=("I1,W,10,,2026-11-02",))
    night(parts, tmp_path, MONDAY)
    lists(tmp_path, r2=("I9,V,many,,2026-11-03",))
    report = night(parts, tmp_path, TUESDAY)
    [doubt] = report.doubts
    assert doubt.startswith("Receipts file r2.csv: 1 row could not be read")
    assert any(note.startswith("Counted on as the report of 2026-11-04") for note in report.notes)


def test_the_remedy_for_a_list_that_is_gone_can_be_taken(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "7"))
    lists(tmp_path, r1=("I1,W,10,,2026-11-02", "I2,W,7,,2026-11-02"))
    night(parts, tmp_path, MONDAY)
    lists(tmp_path, v2=("I1,W,8,,2026-11-02", "I2,W,7,,2026-11-02"))
    for line in night(parts, tmp_path, TUESDAY).document["exceptions"]:
        assert "Put an empty file with the name of the list that does not hold and .retracted at the" in line["reason"]


def rows_of(contents: dict[str, tuple[str, ...]]) -> pl.DataFrame:
    """Rows as RECEIVED_LINES has them: "I1,W,10,2026-11-02" in a list."""
    names = ("invoice_number", "sku_name", "qty", "received_date")
    lines = [
        dict(zip(names, row.split(","), strict=True)) | {"file_name": f"{name}.csv", "row": nth}
        for name, rows in contents.items()
        for nth, row in enumerate(rows, 2)
    ]
    return pl.DataFrame([[line.get(name) for name in RECEIVED_LINES] for line in lines], RECEIVED_LINES, orient="row")


def unread(*rows: tuple[str, str, str]) -> pl.DataFrame:
    lines = [
        {"invoice_number": one, "sku_name": sku, "file_name": name, "spot": f"{name} row 9"} for one, sku, name in rows
    ]
    return pl.DataFrame([[line.get(name) for name in UNREAD_ROWS] for line in lines], UNREAD_ROWS, orient="row")


def tonight(
    now: dict[str, tuple[str, ...]], *, lying: tuple[str, ...] = (), retracted: tuple[str, ...] = ()
) -> ReadList:
    there = frozenset({*(f"{name}.csv" for name in now), *lying})
    return ReadList(rows_of(now), lying=there, retracted=dict.fromkeys(retracted, MARKED))


def known(
    before: dict[str, tuple[str, ...]], *not_read: tuple[str, str, str], on: date = MONDAY, written: float = MARKED
) -> KnownLines:
    more = {"last_listed": pl.lit(on), "written": pl.lit(written)}
    return KnownLines(rows_of(before).with_columns(**more).select(*KNOWN_LINES), unread(*not_read))


def together(
    now: ReadList, before: KnownLines, *, judged: tuple[str, ...] = ("i1", "i2"), on: date = TUESDAY
) -> Counting:
    invoices = pl.DataFrame(
        {"invoice": judged, "first": [MONDAY] * len(judged)}, {"invoice": pl.String, "first": pl.Date}
    )
    return all_receipts(None, None, now, before, judged=invoices, followed=frozenset(), on=on)


def counting(before, now, **more) -> Counting:
    return together(tonight(now, **more), known(before))


def came(told: Counting) -> dict[str, int]:
    """Pieces by invoice, all counted."""
    pieces: dict[str, int] = {}
    for invoice, qty in told.receipts.lines.select("invoice_number", "qty").iter_rows():
        pieces[invoice] = pieces.get(invoice, 0) + int(qty)
    return dict(sorted(pieces.items()))


def doubted(told: Counting) -> dict[str, str]:
    """The rows that may not count, by invoice."""
    rows = told.receipts.lines.filter(pl.col("again").fill_null(False))
    return dict(rows.select("invoice_number", "reissued").sort("invoice_number").iter_rows())


READ = {"r1": ("I1,W,10,2026-11-02", "I2,W,7,2026-11-02"), "r2": ("I9,V,1,2026-11-03",)}


@pytest.mark.parametrize(
    ("now", "expected", "doubts"),
    [
        # Its name again: what it says of its days, and of days after them, holds.
        ({"r1": ("I1,W,8,2026-11-02", "I2,W,7,2026-11-02")}, {"I1": 8, "I2": 7}, {}),
        ({"r1": ("I1,SKU-W,10,2026-11-02", "I2,SKU-W,7,2026-11-02")}, {"I1": 10, "I2": 7}, {}),
        ({"r1": ("I2,W,7,2026-11-02",)}, {"I2": 7}, {}),
        ({"r1": ("I1,W,4,",)}, {"I1": 4}, {}),
        ({"r1": ("I8,W,3,2026-11-03",)}, {"I1": 10, "I2": 7, "I8": 3}, {}),
        ({"r1": ("I2,W,1,2026-11-03",)}, {"I1": 10, "I2": 8}, {}),
        # The second lorry in a list of its own, and more of it on another day.
        ({"gr2": ("I1,W,4,2026-11-02",)}, {"I1": 14, "I2": 7}, {}),
        ({"r3": ("I1,W,2,2026-11-03",)}, {"I1": 12, "I2": 7}, {}),
        # Corrected under a new name.
        ({"v2": ("I1,W,8,2026-11-02", "I2,W,7,2026-11-02")}, {"I1": 18, "I2": 14}, {"I1", "I2"}),
        # The same rows under another name.
        ({"copy": READ["r1"]}, {"I1": 10, "I2": 7}, {}),
    ],
)
def test_a_list_that_is_gone_counts_on_unless_a_list_of_its_name_says_otherwise(now, expected, doubts):
    told = counting(READ, now)
    assert came(told) == expected
    assert doubted(told).keys() == set(doubts)


def test_two_lists_of_one_night_are_in_doubt_on_when_one_of_them_is_gone():
    read = {"r1": ("I1,W,10,2026-11-02",), "r2": ("I1,W,8,2026-11-02",)}
    told = counting(read, {"r2": read["r2"]})
    assert came(told) == {"I1": 18} and doubted(told).keys() == {"I1"}
    assert came(counting(read, {"r2": read["r2"]}, retracted=("r1.csv",))) == {"I1": 8}


@pytest.mark.parametrize(("written", "counts"), [(MARKED, 0), (MARKED - 1, 0), (MARKED + 1, 10)])
def test_a_list_that_was_written_after_its_name_was_taken_back_counts(written, counts):
    now = tonight({"r3": ("I8,V,1,",)}, retracted=("r1.csv",))
    told = together(now, known(READ, written=written), judged=("i1",))
    assert came(told).get("I1", 0) == counts


def test_a_list_of_the_last_days_that_moves_on_loses_no_day():
    days = [f"I1,W,{day},2026-11-0{day}" for day in (1, 2, 3, 4)]
    told = counting({"last": tuple(days[:3])}, {"last": tuple(days[1:])})
    assert came(told) == {"I1": 10} and not doubted(told)


def test_a_list_that_lies_there_unopened_counts_on_without_a_word():
    told = counting(READ, {"r3": ("I8,V,1,2026-11-03",)}, lying=("r1.csv", "r2.csv"))
    assert came(told) == {"I1": 10, "I2": 7, "I8": 1} and not told.receipts.notes
    assert set(told.receipts.lines["file_name"]) == {"r1.csv", "r3.csv"}


def test_what_is_known_goes_on_for_a_time_whoever_is_judged():
    first = together(tonight({"r3": ("I8,V,1,",)}), known(READ), judged=())
    assert first.receipts.lines.height == 1
    assert first.known["file_name"].to_list() == ["r1.csv", "r1.csv", "r2.csv", "r3.csv"]
    old = together(tonight({"r3": ("I8,V,1,",)}), known(READ, on=date(2026, 8, 1)), judged=("i1",))
    assert came(old) == {"I8": 1} and old.known.height == 1


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"r2": ("I2,W,7,",)}, ["r1.csv row 9"]),
        ({"r1": ("I1,W,10,",)}, []),  # corrected in place
        ({"r3": ("I1,W,10,",)}, ["r1.csv row 9"]),
        ({"r3": ("I1,V,10,",)}, ["r1.csv row 9"]),
    ],
)
def test_a_row_that_could_not_be_read_is_not_forgotten_with_its_list(now, expected):
    before = known({"r2": ("I2,W,7,",)}, ("I1", "W", "r1.csv"))
    told = together(tonight(now), before, judged=("i1",))
    assert told.receipts.unread["spot"].to_list() == expected
