"""Receipts lists that an earlier report read and that are gone: archived, overwritten, corrected or retracted."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest
from flows.test_reconcile import asn_row, found, plan, push, receipts

from logistics_batch.flows.reconcile import ListPlan, run_reconcile
from logistics_batch.flows.reconcile_gone import Counting, Known, known_receipts, with_known
from logistics_batch.flows.reconcile_receipts import ListPlace, ReadList
from logistics_batch.model.job import Place
from logistics_batch.reconciliation import KNOWN_LINES, RECEIVED_LINES, UNREAD_ROWS, counted_once

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
    place = ListPlace(Place(folder=str(tmp_path / "lists"), path="/"), ("*",), "receipts")
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
    (tmp_path / "lists" / "r1.csv.retracted").touch()
    report = night(parts, tmp_path, WEDNESDAY)
    assert found(report) == [("NOT_RECEIVED", "I1", "W"), ("NOT_RECEIVED", "I2", "W"), ("NO_ASN", "I9", "V")]
    assert "Retracted, and counted no more: 2 receipt rows of r1.csv." in report.notes


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
    listed = rows_of(now)
    there = frozenset({*(f"{name}.csv" for name in now), *lying})
    return ReadList(counted_once(listed).lines, listed=listed, lying=there, retracted=frozenset(retracted))


def known(before: dict[str, tuple[str, ...]], *not_read: tuple[str, str, str], on: date = MONDAY) -> Known:
    lines = rows_of(before).with_columns(pl.lit(on).alias("last_listed")).select(*KNOWN_LINES)
    return Known(lines, unread(*not_read), on)


def counting(before, now, **more) -> Counting:
    return with_known(tonight(now, **more), known(before), judged={"i1", "i2"}, on=TUESDAY)


def came(told: Counting) -> dict[str, int]:
    """Pieces by invoice."""
    pieces: dict[str, int] = {}
    for invoice, qty in told.receipts.lines.select("invoice_number", "qty").iter_rows():
        pieces[invoice] = pieces.get(invoice, 0) + int(qty)
    return dict(sorted(pieces.items()))


READ = {"r1": ("I1,W,10,2026-11-02", "I2,W,7,2026-11-02"), "r2": ("I9,V,1,2026-11-03",)}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"r1": ("I1,W,8,2026-11-02", "I2,W,7,2026-11-02")}, {"I1": 8, "I2": 7}),  # corrected in place
        ({"r1": ("I2,W,7,2026-11-02",)}, {"I2": 7}),  # a row taken out
        ({"r1": ("I8,W,3,2026-11-03",)}, {"I1": 10, "I2": 7, "I8": 3}),  # another list under its name
        ({"r1": ("I2,W,7,2026-11-02", "I8,W,3,2026-11-03")}, {"I2": 7, "I8": 3}),  # corrected and gone on with
        ({"r1": ("I2,W,1,2026-11-03",)}, {"I1": 10, "I2": 8}),  # the day after, under its name
        ({"r1_v2": ("I1,W,8,2026-11-02", "I2,W,7,2026-11-02")}, {"I1": 8, "I2": 7}),  # corrected under a new name
        ({"r1_copy": READ["r1"]}, {"I1": 10, "I2": 7}),  # renamed
        ({"r3": ("I1,W,2,2026-11-03",)}, {"I1": 12, "I2": 7}),  # more of it on another day
        ({"r3": ("I1,W,10,2026-11-02",)}, {"I1": 20, "I2": 7}),  # another lorry that day, for all one can tell
    ],
)
def test_what_stands_in_the_place_of_a_list_says_what_counts(now, expected):
    assert came(counting(READ, now)) == expected


def test_two_lists_of_one_night_count_on_both_when_one_of_them_is_gone():
    read = {"r1": ("I1,W,10,2026-11-02",), "r2": ("I1,W,8,2026-11-02",)}
    told = counting(read, {"r2": read["r2"]})
    assert came(told) == {"I1": 18}
    assert "r1.csv (as read on 2026-11-04)" in told.receipts.lines["reissued"][0]
    assert came(counting(read, {"r2": read["r2"]}, retracted=("r1.csv",))) == {"I1": 8}


def test_a_list_of_the_last_days_that_moves_on_loses_no_day():
    days = [f"I1,W,{day},2026-11-0{day}" for day in (1, 2, 3, 4)]
    assert came(counting({"last": tuple(days[:3])}, {"last": tuple(days[1:])})) == {"I1": 10}


def test_without_dates_a_later_list_of_the_same_goods_may_be_a_correction():
    told = counting({"r1": ("I1,W,4,",)}, {"r2": ("I1,W,6,",)})
    assert came(told) == {"I1": 10}
    assert told.receipts.lines["again"].to_list() == [True, False]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        # The day after, under its name; which may be the same list corrected, if it named the goods all the same.
        ({"r1": ("I1,W,5,", "I2,V,7,")}, {"r1": ("I1,W,4,",)}, {"I1": 9, "I2": 7}),
        # Corrected in its place, or under a new name: most rows are as they were.
        ({"r1": ("I1,W,5,", "I2,V,7,")}, {"r1": ("I1,W,4,", "I2,V,7,")}, {"I1": 4, "I2": 7}),
        ({"r1": ("I1,W,5,", "I2,V,7,")}, {"r2": ("I1,W,4,", "I2,V,7,")}, {"I1": 4, "I2": 7}),
    ],
)
def test_lists_without_dates_are_known_by_their_rows(before, now, expected):
    assert came(counting(before, now)) == expected


def test_a_list_that_another_mapping_reads_otherwise_counts_once():
    told = counting({"r1": ("I1,W,10,", "I2,W,7,")}, {"r1": ("I1,SKU-W,10,2026-11-02", "I2,SKU-W,7,2026-11-02")})
    assert came(told) == {"I1": 10, "I2": 7}


def test_a_list_that_lies_there_unopened_counts_on_without_a_word():
    told = counting(READ, {"r3": ("I8,V,1,2026-11-03",)}, lying=("r1.csv", "r2.csv"))
    assert came(told) == {"I1": 10, "I2": 7, "I8": 1} and not told.receipts.notes
    assert set(told.receipts.lines["file_name"]) == {"r1.csv", "r3.csv"}


def test_what_is_known_goes_on_for_a_time_whoever_is_judged():
    first = with_known(tonight({"r3": ("I8,V,1,",)}), known(READ), judged=set(), on=TUESDAY)
    assert first.receipts.lines.height == 1 and first.known["file_name"].to_list() == ["r1.csv"] * 2 + [
        "r2.csv",
        "r3.csv",
    ]
    old = with_known(tonight({"r3": ("I8,V,1,",)}), known(READ, on=date(2026, 8, 1)), judged={"i1"}, on=TUESDAY)
    assert came(old) == {"I8": 1} and old.known.height == 1


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"r2": ("I2,W,7,",)}, ["r1.csv row 9"]),
        ({"r1": ("I1,W,10,",)}, []),  # corrected in place
        ({"r3": ("I1,W,10,",)}, []),  # and in a list of its own
        ({"r3": ("I1,V,10,",)}, ["r1.csv row 9"]),
    ],
)
def test_a_row_that_could_not_be_read_is_not_forgotten_with_its_list(now, expected):
    before = known({"r2": ("I2,W,7,",)}, ("I1", "W", "r1.csv"))
    told = with_known(tonight(now), before, judged={"i1"}, on=TUESDAY)
    assert told.receipts.unread["spot"].to_list() == expected
