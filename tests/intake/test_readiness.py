"""Only complete files that are meant for us are taken; nothing is passed over without a reason."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logistics_batch.intake.names import name_matches
from logistics_batch.intake.stores.readiness import Readiness, judge_listings
from logistics_batch.intake.stores.store import Kind, RemoteFile
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import Ready


def entry(name: str, size: int = 10, modified: float | None = 100.0, *, kind: Kind = Kind.FILE) -> RemoteFile:
    return RemoteFile(name, f"/in/{name}", size, modified, kind)


def ready_names(readiness: Readiness) -> list[str]:
    return [file.name for file in readiness.ready]


def why(pairs: tuple[tuple[RemoteFile, Issue], ...]) -> dict[str, str]:
    return {file.name: issue.reason for file, issue in pairs}


def test_a_file_is_ready_when_two_listings_are_alike():
    judged = judge_listings([[entry("a.csv")], [entry("a.csv")]], Ready(), ["*.csv"])
    assert ready_names(judged) == ["a.csv"]


@pytest.mark.parametrize("before", [entry("a.csv", 9), entry("a.csv", 10, 99.0)])
def test_a_file_that_still_changes_waits(before):
    judged = judge_listings([[before], [entry("a.csv")]], Ready(), ["*.csv"])
    assert "still changes" in why(judged.waiting)["a.csv"]


def test_a_file_that_has_just_come_waits_and_one_that_has_gone_is_forgotten():
    judged = judge_listings([[entry("gone.csv")], [entry("new.csv")]], Ready(), [])
    assert list(why(judged.waiting)) == ["new.csv"]
    assert not judged.ready and not judged.ignored


def test_the_rule_may_want_more_listings():
    three = Ready(unchanged_for=3)
    assert not judge_listings([[entry("a")]] * 2, three, []).ready
    assert judge_listings([[entry("a")]] * 3, three, []).ready
    assert judge_listings([[entry("a", 1)], [entry("a")], [entry("a")]], three, []).waiting


@pytest.mark.parametrize("modified", [-5.0, 0.0, 4_070_908_800.0, None])
def test_times_from_the_past_or_the_future_do_not_matter(modified):
    listing = [entry("a.csv", 3, modified)]
    assert judge_listings([listing, listing], Ready(), ["*.csv"]).ready


def test_a_done_file_decides_alone_and_is_not_input():
    rule = Ready(done_file="{name}.done")
    listing = [entry("a.csv"), entry("a.csv.done", 0), entry("b.csv")]
    judged = judge_listings([[], listing], rule, ["*"])
    assert ready_names(judged) == ["a.csv"]
    assert why(judged.waiting) == {"b.csv": "its done-file b.csv.done is not there yet"}
    assert why(judged.ignored) == {"a.csv.done": "it is the done-file of a.csv"}


NEVER = ["~$a.xlsx", ".a.xlsx", "a.xlsx.part", "a.tmp", "a.csv.filepart", "A.CRDOWNLOAD", "a.ack.json", "A.Result.CSV"]


@pytest.mark.parametrize("name", NEVER)
def test_lock_files_unfinished_uploads_and_our_own_lists_are_never_input(name):
    judged = judge_listings([[entry(name)]] * 2, Ready(), ["*"])
    assert list(why(judged.ignored)) == [name]


RETURNED = ["orders.result.xlsx", "orders.fix.xlsx", "orders.1a2b3c4d.fix.xlsx"]


@pytest.mark.parametrize("name", RETURNED)
def test_a_corrected_result_is_input_unless_we_write_results_into_that_folder(name):
    listings = [[entry(name)]] * 2
    assert ready_names(judge_listings(listings, Ready(), ["*.xlsx", "*.csv"])) == [name]
    judged = judge_listings(listings, Ready(), ["*.xlsx", "*.csv"], results_here=True)
    assert "our results" in why(judged.ignored)[name]


def test_patterns_ignore_case_and_know_star_and_question_mark_only():
    names = ["ORDERS_1.XLSX", "orders_1.xls", "orders[1].csv"]
    judged = judge_listings([[entry(name) for name in names]] * 2, Ready(), ["orders_?.xlsx", "*[1].csv"])
    assert ready_names(judged) == ["ORDERS_1.XLSX", "orders[1].csv"]
    assert "orders_?.xlsx" in why(judged.ignored)["orders_1.xls"]


@pytest.mark.parametrize(("name", "fits"), [("a" * 251 + ".csv", True), ("a" * 255, False)])
def test_a_pattern_of_many_stars_takes_no_longer_than_others(name, fits):
    """Trying every way to share the letters among the stars would not come back from this."""
    assert name_matches(name, ["*a" * 40 + "*.csv"]) is fits


@given(st.text("ab*?", max_size=8), st.text("ab\n", max_size=8).map(lambda text: f"a{text}b"))
def test_each_star_stands_for_any_letters_and_each_question_mark_for_one(pattern, name):
    wild = {"*": ".*", "?": "."}
    every_way = re.fullmatch("".join(wild.get(char, char) for char in pattern), name, re.DOTALL)
    assert name_matches(name, [pattern]) is bool(every_way)


@pytest.mark.parametrize("name", ["../../x", "a/b", "a\\b", "nul\0", "a\nb", "caf\udce9.csv", "x" * 300, ".."])
def test_hostile_names_are_ignored_with_a_reason(name):
    assert why(judge_listings([[entry(name)]] * 2, Ready(), ["*"]).ignored)[name]


@pytest.mark.parametrize(
    ("kind", "word"), [(Kind.LINK, "a link"), (Kind.FOLDER, "a folder"), (Kind.SPECIAL, "a pipe, a socket or a device")]
)
def test_what_is_no_file_is_ignored_with_a_reason_and_completes_nothing(kind, word):
    judged = judge_listings([[entry("a.csv", kind=kind)]] * 2, Ready(), ["*"])
    assert (judged.ready, judged.waiting) == ((), ())
    assert f"it is {word}" in why(judged.ignored)["a.csv"]
    done = [entry("b.csv"), entry("b.csv.done", kind=kind)]
    judged = judge_listings([done], Ready(done_file="{name}.done"), ["*.csv"])
    assert ready_names(judged) == (["b.csv"] if kind is Kind.LINK else [])


def test_no_listing_is_nothing():
    assert judge_listings([], Ready(), ["*"]) == Readiness()
    assert judge_listings([[], []], Ready(), ["*"]) == Readiness()


kinds = st.sampled_from(Kind)
entries = st.builds(entry, st.text(max_size=12), st.integers(0, 3), st.sampled_from([1.0, 2.0]), kind=kinds)
folders = st.lists(entries, max_size=6, unique_by=lambda file: file.name)


@given(st.lists(folders, min_size=1, max_size=3), st.sampled_from([None, "{name}.done"]), st.booleans())
def test_every_entry_of_the_last_listing_gets_exactly_one_judgement(listings, done_file, results_here):
    judged = judge_listings(listings, Ready(done_file=done_file), ["*.csv", "?*"], results_here=results_here)
    told = [*judged.ready, *(file for file, _ in judged.waiting), *(file for file, _ in judged.ignored)]
    assert sorted(file.name for file in told) == sorted(file.name for file in listings[-1])
    assert all(issue.reason for _, issue in (*judged.waiting, *judged.ignored))
