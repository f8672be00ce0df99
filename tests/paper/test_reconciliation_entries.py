"""What analysts write comes back the next night, whatever they did to the workbook besides."""

import io
from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet
from paper.reconciliation_nights import TODAY, account_of, known_of, night, read_back
from reconciliation.world import World
from support.libreoffice import converted

from logistics_batch.model.reconciliation import Standing
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.workbook import reconciliation_workbook

HOSTILE = "=HYPERLINK(\"http://x\") </script> \u202e 'quoted' ümlaut मेहता\nsecond line"


def world(**received: str) -> World:
    """Ten pieces of each invoice announced, so many received."""
    made = World()
    made.no_receipts_came()
    for invoice, units in received.items():
        made.both(invoice, ("W", "10", "100.00"), delivery_date="2026-11-02")
        made.receive(invoice, "W", units)
    return made


def edited(workbook: bytes, *, sheet: str = "Exceptions", **cells: tuple[str, object]) -> openpyxl.Workbook:
    """The workbook with something written beside invoices: A=("Owner", "Meera")."""
    book = openpyxl.load_workbook(io.BytesIO(workbook))
    titles = [cell.value for cell in book[sheet][1]]
    for row in book[sheet].iter_rows(min_row=2):
        written = cells.get(row[titles.index("Invoice number")].value)
        if written:
            row[titles.index(written[0])].value = written[1]
    return book


def saved(book: openpyxl.Workbook) -> bytes:
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def entries(workbook: bytes, field: str) -> list[str]:
    """What stands in a column, the words first."""
    return sorted(read_back(workbook).by_exception[field], key=lambda text: (not text, text))


def test_what_is_written_comes_back_as_it_was_written():
    made = reconciliation_workbook(account_of(world(A="1", B="2", C="3")))
    book = edited(made, A=("Owner", "Meera"), B=("Comment", HOSTILE), C=("Comment", 6))
    next(cell for row in book["Exceptions"].iter_rows() for cell in row if cell.value == HOSTILE).data_type = "s"
    back = saved(book)
    assert entries(back, "owner") == ["Meera", "", ""]
    assert [text.replace("\r", "") for text in entries(back, "comment")] == ["6", HOSTILE, ""]


def test_what_came_back_is_written_again_safe_and_alike():
    night_one = account_of(world(A="1", B="2"))
    book = edited(reconciliation_workbook(night_one), A=("Comment", HOSTILE))
    next(cell for row in book["Exceptions"].iter_rows() for cell in row if cell.value == HOSTILE).data_type = "s"
    second = account_of(world(A="1", B="2"), day=night(1), earlier=known_of(night_one, saved(book)))
    again = openpyxl.load_workbook(io.BytesIO(reconciliation_workbook(second)))
    cells = [cell for row in again["Exceptions"].iter_rows(min_row=2) for cell in row]
    [comment] = [cell for cell in cells if cell.value is not None and "HYPERLINK" in str(cell.value)]
    assert (comment.value, comment.data_type, comment.quotePrefix) == (HOSTILE, "s", True)


def rearranged(sheet: Worksheet) -> None:
    """As people leave a sheet: a title above, rows in another order, some hidden, columns moved, hidden and added."""
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    titles, *lines = rows
    order = sorted(range(len(titles)), key=lambda place: str(titles[place]))
    sheet.delete_rows(1, sheet.max_row)
    sheet.append(["Our list for Monday"])
    sheet.append(["my column", *(f" {titles[place]} " for place in order)])
    for line in reversed(lines):
        sheet.append(["mine", *(line[place] for place in order)])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.freeze_panes = None


def test_rows_and_columns_may_be_moved_filtered_and_added():
    first = account_of(world(A="1", B="2", C="3"))
    book = edited(reconciliation_workbook(first), A=("Owner", "Meera"), C=("Status", "Accepted"))
    rearranged(book["Exceptions"])
    second = account_of(world(A="1", B="2", C="3"), day=night(1), earlier=known_of(first, saved(book)))
    assert second.accepted["invoice_number"].to_list() == ["C"]
    assert dict(second.open.select("invoice_number", "owner").iter_rows()) == {"A": "Meera", "B": ""}
    assert second.open["state"].to_list() == ["still open"] * 2
    assert second.open["first_seen"].to_list() == [TODAY] * 2


@pytest.mark.real
@pytest.mark.slow
def test_libreoffice_may_have_saved_it(tmp_path: Path):
    first = account_of(world(A="1", B="2.5", C="3"))
    made = reconciliation_workbook(first)
    (tmp_path / "r.xlsx").write_bytes(saved(edited(made, A=("Owner", "Meera"), B=("Status", "Accepted"))))
    (saved_there,) = converted([tmp_path / "r.xlsx"], "xlsx")
    known = known_of(first, saved_there.read_bytes())
    second = account_of(world(A="1", B="2.5", C="3"), day=night(1), earlier=known)
    assert second.accepted["invoice_number"].to_list() == ["B"]
    assert dict(second.open.select("invoice_number", "owner").iter_rows()) == {"A": "Meera", "C": ""}
    assert second.trend["exceptions"].to_list() == [3, 2]


def test_rows_that_disagree_and_columns_that_are_gone_are_named():
    made = reconciliation_workbook(account_of(world(A="1", B="2")))
    book = edited(made, A=("Owner", "Meera"))
    sheet = book["Exceptions"]
    copied = [cell.value for cell in next(row for row in sheet.iter_rows(min_row=2) if row[3].value == "A")]
    titles = [cell.value for cell in sheet[1]]
    copied[titles.index("Owner")] = "Asha"
    sheet.append(copied)
    copied[titles.index("exception_id")] = None
    sheet.append(copied)
    sheet.delete_cols(titles.index("Comment") + 1)
    back = read_back(saved(book))
    assert sorted(back.by_exception["owner"]) == ["", "Meera"] and back.by_exception["comment"].null_count() == 2
    said = " ".join(back.notes)
    assert 'Sheet "Exceptions" of the earlier workbook has no column Comment.' in said
    assert "Different notes in several rows were found for 1 exception (EX-" in said
    assert "Without an exception_id 1 row with notes stayed" in said


def with_a_copy(made: bytes, invoice: str, **entries: str) -> openpyxl.Workbook:
    """The workbook with the row of an invoice once more at the end, and something else written there."""
    book = openpyxl.load_workbook(io.BytesIO(made))
    titles = [cell.value for cell in book["Exceptions"][1]]
    copied = [cell.value for cell in next(row for row in book["Exceptions"].iter_rows() if row[3].value == invoice)]
    for title, text in entries.items():
        copied[titles.index(title)] = text
    book["Exceptions"].append(copied)
    return book


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ({"Comment": ("Comment", "first")}, {"Comment": "second", "Status": "Accepted"}, ("first", "")),
        ({"Status": ("Status", "Accepted")}, {"Comment": "second", "Status": "Open"}, ("", "")),
        ({}, {"Comment": "second", "Status": "Accepted"}, ("second", "Accepted")),
        ({"Status": ("Status", "Accepted")}, {"Comment": "second"}, ("", "Accepted")),
    ],
)
def test_of_two_rows_that_disagree_the_first_counts_as_a_whole_and_nothing_is_accepted(first, second, kept):
    made = reconciliation_workbook(account_of(world(A="1")))
    for entry in first.values():
        made = saved(edited(made, A=entry))
    back = read_back(saved(with_a_copy(made, "A", **second)))
    assert back.by_exception.select("comment", "analyst_status").row(0) == kept
    assert bool(back.notes) == bool(first)


def test_headings_may_be_spelled_otherwise_and_a_list_without_them_is_told():
    book = edited(reconciliation_workbook(account_of(world(A="1"))), A=("Owner", "Meera"))
    sheet = book["Exceptions"]
    titles = [cell.value for cell in sheet[1]]
    sheet.cell(1, titles.index("exception_id") + 1, "Exception ID")
    sheet.cell(1, titles.index("Owner") + 1, "owner:")
    assert read_back(saved(book)).by_exception["owner"].to_list() == ["Meera"]
    sheet.cell(1, titles.index("exception_id") + 1, "Key")
    assert any(
        '"Exceptions" of the earlier workbook has no heading "exception_id"' in n for n in read_back(saved(book)).unread
    )


def test_five_nights():
    """Short goods are noted, accepted, grow, arrive, and leave the range; nothing is lost on the way."""
    nights: list[ReconciliationReport] = []

    def reported(what: World, *, write: dict[str, tuple[str, object]], **more) -> ReconciliationReport:
        known = (saved(edited(reconciliation_workbook(nights[-1]), **write)),) if nights else ()
        earlier = known_of(nights[-1], *known) if nights else None
        nights.append(account_of(what, day=night(len(nights)), earlier=earlier, **more))
        return nights[-1]

    def listed(account: ReconciliationReport) -> dict[str, str]:
        return dict(account.open.select("invoice_number", "state").iter_rows())

    first = reported(world(A="1", B="2", C="3"), write={})
    assert set(listed(first)) == {"A", "B", "C"}

    second = reported(world(A="1", B="2", C="10", D="4"), write={"A": ("Status", "Accepted"), "B": ("Owner", "Asha")})
    assert listed(second) == {"B": "still open", "D": "new"}
    assert second.accepted["invoice_number"].to_list() == ["A"]
    assert second.gone(Standing.RESOLVED)["invoice_number"].to_list() == ["C"]
    assert second.verdict_words == "2 exceptions, 1 new, 1 resolved, 1 accepted, 4 lines checked"

    third = reported(world(A="0.5", B="2", C="10", D="4"), write={"D": ("Comment", "driver says all four")})
    assert listed(third) == {"A": "changed", "B": "still open", "D": "still open"}

    # A fetch that was cut: what it does not show is not called resolved.
    fourth = reported(world(A="0.5"), write={"A": ("Status", "Accepted")}, doubts=("The service cut its answer.",))
    assert fourth.open.is_empty() and fourth.accepted["invoice_number"].to_list() == ["A"]
    unchecked = fourth.gone(Standing.NOT_CHECKED)
    assert sorted(unchecked["invoice_number"]) == ["B", "D"]

    fifth = reported(world(A="0.5", B="2", C="10", D="10"), write={})
    [line] = fifth.open.rows(named=True)
    assert (line["invoice_number"], line["state"], line["owner"], line["first_seen"]) == (
        "B",
        "still open",
        "Asha",
        TODAY,
    )
    resolved = dict(fifth.gone(Standing.RESOLVED).select("invoice_number", "comment").iter_rows())
    assert resolved == {"C": "", "D": "driver says all four"}
    assert fifth.trend.select("exceptions", "new", "resolved", "accepted", "complete").rows() == [
        (3, 3, 0, 0, True),
        (2, 1, 1, 1, True),
        (3, 0, 0, 0, True),
        (0, 0, 0, 1, False),
        (1, 0, 1, 1, True),
    ]


def test_every_exception_comes_back():
    many = world(**{f"I{number:04d}": "1" for number in range(1500)})
    back = read_back(reconciliation_workbook(account_of(many)))
    assert back.by_exception.height == 1500 and not back.notes
