"""Text files as they are dropped: every row at its true number, nothing lost, nothing guessed in silence."""

from pathlib import Path

import polars as pl
import pytest
from support.issues import notes_of

from logistics_batch.errors import FileHeld
from logistics_batch.intake.readers import Limits, read_file
from logistics_batch.model.sheet import ReadOptions, Sheet


@pytest.fixture
def read(tmp_path: Path):
    """Reads bytes or text as a file of a name."""

    def read(content: bytes | str, *, name: str = "a.csv", limits: Limits | None = None, **options: object) -> Sheet:
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        (sheet,) = read_file(path, name=name, options=ReadOptions(**options), limits=limits)  # type: ignore[arg-type]
        return sheet

    return read


def held(read, content: bytes | str, rule: str, **options: object) -> str:
    """The whole message of a file that must be held by a rule."""
    with pytest.raises(FileHeld) as caught:
        read(content, **options)
    assert caught.value.rule == rule
    assert caught.value.remedy
    return f"{caught.value.message} {caught.value.remedy}"


def test_every_cell_stays_the_text_that_it_is(read):
    sheet = read("id,pin,when\n007,00123,1E3\n '=x, 9876543210.0 ,NaN\n")
    assert sheet.frame.rows() == [
        (1, "id", "pin", "when"),
        (2, "007", "00123", "1E3"),
        (3, " '=x", " 9876543210.0 ", "NaN"),
    ]
    assert sheet.frame.schema == {"row": pl.UInt32, "1": pl.String, "2": pl.String, "3": pl.String}
    assert sheet.width == 3 and sheet.notes == ()
    without_header = read("007,9.87654E+09\n008,9876543210\n")
    assert without_header.frame.rows() == [(1, "007", "9.87654E+09"), (2, "008", "9876543210")]


def test_rows_are_numbered_as_a_spreadsheet_program_shows_them(read):
    sheet = read('Company\n\n\na,b\r\n1,"two\nlines"\r\n\r\n2,x\n\n\n')
    assert [(row, first) for row, first, *_ in sheet.frame.rows()] == [
        (1, "Company"),
        (2, None),
        (3, None),
        (4, "a"),
        (5, "1"),
        (6, None),
        (7, "2"),
    ]


def test_blank_lines_first_and_title_lines_shorter_than_the_table(read):
    assert read("\n\na,b\n").frame.rows() == [(1, None, None), (2, None, None), (3, "a", "b")]
    assert read("t\na,b,c\n1\n").frame.rows() == [(1, "t", None, None), (2, "a", "b", "c"), (3, "1", None, None)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system(read, end):
    assert read(f"a,b{end}1,2{end}{end}3,4").frame.rows() == [
        (1, "a", "b"),
        (2, "1", "2"),
        (3, None, None),
        (4, "3", "4"),
    ]


def test_ragged_rows_keep_all_their_cells(read):
    sheet = read("a,b\n1\n1,2,3,4\n")
    assert sheet.frame.rows() == [(1, "a", "b", None, None), (2, "1", None, None, None), (3, "1", "2", "3", "4")]


def test_empty_cells_and_empty_quotes_are_null(read):
    assert read('a,"",c\n"",,""\nx,y,z').frame.rows()[:2] == [(1, "a", None, "c"), (2, None, None, None)]


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("näme,₹\n".encode(), ""),
        (b"\xef\xbb\xbf" + "näme,₹\n".encode(), ""),
        ("näme,₹\n".encode("utf-16"), "utf-16-le"),
        (b"\xfe\xff" + "näme,₹\n".encode("utf-16-be"), "utf-16-be"),
        ("näme,₹\n".encode("utf-16-le"), "utf-16-le"),
        ("näme,₹\n".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_encodings_are_found_and_told(read, content, note):
    sheet = read(content)
    assert sheet.frame.rows() == [(1, "näme", "₹")]
    assert notes_of(sheet) == ({"read_as": {"encoding": note}} if note else {})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_mark_alone_tells_the_encoding_where_no_letter_is_latin(read, encoding):
    assert read("हिन्दी\n".encode(encoding)).frame.rows() == [(1, "हिन्दी")]


def test_windows_letters_are_read_and_told(read):
    sheet = read("name,price\nMüller – “x”,€ 5\n".encode("cp1252"))
    assert sheet.frame.rows()[1] == (2, "Müller – “x”", "€ 5")
    assert "read_as.cp1252" in notes_of(sheet)


def test_a_declared_encoding_is_kept_to(read):
    assert read("ж,a\n".encode("cp1251"), encoding="cp1251").frame.rows() == [(1, "ж", "a")]
    text = "name,a\nMüller,".encode() + b"\xff\n"
    assert ": character 8 of line 2 does" in held(read, text, "csv|encoding", encoding="utf-8")
    assert "does not exist" in held(read, b"a,b\n", "csv|encoding", encoding="utf-99")


def test_a_byte_that_fits_no_encoding_or_a_mixture_holds_the_file(read):
    assert "line 2" in held(read, b"a,b\n\x81,1\n", "csv|encoding")
    mixed = "näme\nb\n".encode() + "ö\n".encode("cp1252")
    assert "mixes two encodings: line 3" in held(read, mixed, "csv|encoding")


def test_letters_that_were_spoilt_before_are_pointed_out(read):
    assert notes_of(read("name\nDâ€™Souza\nCafé\n"))["wrong_letters"] == {"lines": "line 2"}


def test_letters_of_dos_are_pointed_out_with_their_lines(read):
    sheet = read("name\nCafe\nCafé\nMöbel\nétage\n".encode("cp850"))
    assert notes_of(sheet)["signs_in_words"] == {"lines": "lines 3, 4"}
    fine = "Café “x” l’été Škoda™ ‚tief‘ „gut“ Größe Œuvre 5€ naïve ÆØÅ a…b 5”x3”"
    assert len(read(f"name\n{fine}\n".encode("cp1252")).notes) == 1


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r"])
def test_words_of_another_alphabet_are_not_sent_as_gibberish(read, encoding):
    text = "Name,City\nA,B\nИванов,Москва\n"
    assert "line 3" in held(read, text.encode(encoding), "csv|encoding")
    assert read(text.encode(encoding), encoding=encoding).frame.rows()[2] == (3, "Иванов", "Москва")


@pytest.mark.parametrize("content", [b"a,b\n1,2\n" + bytes(512), b"a,b\n1,2\n" + bytes(99) + b"3,4\n"])
def test_zero_bytes_in_place_of_text_are_a_broken_transfer(read, content):
    assert "from line 3 on: it did not arrive completely" in held(read, content, "csv|zero_bytes")


def test_a_zero_byte_holds_the_file_with_the_line(read):
    assert "line 3" in held(read, "a,b\n1,2\n3,4\x00\n", "csv|control_character")


@pytest.mark.parametrize("control", ["\x07", "\x0b", "\x1b", "\x1f", "\x7f"])
def test_any_other_control_character_is_left_to_its_row(read, control):
    sheet = read(f"a,b\n1,2\n3,4{control}5\n6,7\n")
    assert sheet.frame.rows()[1:] == [(2, "1", "2"), (3, "3", f"4{control}5"), (4, "6", "7")]


@pytest.mark.parametrize(
    "content",
    [
        'a,b,c\n1,"1,200",\n\n1,1,200,\n1\n',  # plain lines
        'a,b,c\n1,"x\ny",\n\n1,1,200,\n1\n',  # a line break within a cell
    ],
)
def test_how_many_cells_each_record_has_is_told(read, content):
    counts = read(content).cell_counts.to_list()
    assert (counts[:2], counts[3:]) == ([3, 3], [4, 1])


def test_the_end_mark_of_old_dos_programs_is_no_control_character(read):
    assert read(b"a,b\n1,2\n\x1a").frame.height == 2


@pytest.mark.parametrize(
    ("content", "name", "width"),
    [
        ("a;b;c\n1;2,5;3\n1;2,7;3\n", "a.csv", 3),
        ("a\tb\tc\n1\t2,5\t3\n", "a.csv", 3),
        ("a|b|c\n1|2|3\n", "a.txt", 3),
        ("a,b,c\n1,x; y,3\n", "a.csv", 3),
        ('Order;Address;Qty\n1;"12, MG Road, Pune";2\n2;"7, Park St, Kolkata";1\n', "a.csv", 3),
        ("Inward sheet, Bhiwandi, 03.11.26\n\nInvoice;Item;Qty;Box\n1;2;3;4\n5;6;7;8\n", "a.csv", 4),
        ("only\none\n", "a.csv", 1),
        ("only\none\n", "a.tsv", 1),
    ],
)
def test_the_delimiter_is_found(read, content, name, width):
    assert read(content, name=name).width == width


def test_a_found_delimiter_is_told_and_a_declared_one_obeyed(read):
    assert notes_of(read("a;b\n1;2\n")) == {"delimiter": {"delimiter": "semicolon"}}
    assert read("a;b,c\n", delimiter=",").width == 2
    assert read("a\tb;c\n", delimiter="tab").width == 2


@pytest.mark.parametrize("line", ["sep=;", "SEP=;\r", '"sep=;"'])
def test_a_sep_line_names_the_delimiter_and_is_no_row(read, line):
    sheet = read(f"{line}\na;b,c\n1;2\n")
    assert sheet.frame.rows() == [(1, "a", "b,c"), (2, "1", "2")]
    assert "sep_line" in notes_of(sheet)


def test_inches_and_doubled_quotes_are_text(read):
    sheet = read('a,b\n5" pipe,"6"" pipe"\n7,8\n')
    assert sheet.frame.rows() == [(1, "a", "b"), (2, '5" pipe', '6" pipe'), (3, "7", "8")]


def test_one_stray_quote_that_would_swallow_the_rest_holds_the_file(read):
    lines = ["order,item,qty,note", *(f"{number},pen,1,x" for number in range(1_000))]
    lines[4] = '3,"pen,1,x'
    assert "row 5" in held(read, "\n".join(lines), "csv|quotes")


def test_two_stray_quotes_that_balance_hold_the_file(read):
    lines = ["order,item,qty,note", *(f"{number},pen,1,x" for number in range(1_000))]
    far = lines.copy()
    far[4], far[900] = '3,"pen,1,x', '899,pen",1,x'
    assert "row 5" in held(read, "\n".join(far), "csv|quotes")
    near = lines.copy()  # in the same column of the next row: the record even has the right number of cells
    near[4], near[5] = '3,"pen,1,x', '4,pen",1,x'
    assert "row 5" in held(read, "\n".join(near), "csv|quotes")
    shifted = lines.copy()
    shifted[4], shifted[5] = '"3,pen,1,x', '4,pen",1,x'
    assert "row 5" in held(read, "\n".join(shifted), "csv|quotes")


@pytest.mark.parametrize(
    "swallowed",
    [
        'A1,x,1,2,3,4,5,"n\nA2,x,1,2,3,4,5\nA3,x,1,2,3,4,5,n"\nA4,x,1,2,3,4,5,n\n',
        'A1,x,1,2,3,4,5,"n\nA2,x,1,2,3,4,5,n,,\nA3,x,1,2,3,4,5,n"\nA4,x,1,2,3,4,5,n\n',
        'A1,"x,1,2,3,4,5,n\nA2,x,1,2,3,4,5,n\nA3,x",1,2,3,4,5,n\nA4,x,1,2,3,4,5,n\n',
    ],
)
def test_rows_within_a_cell_hold_the_file_though_they_are_not_of_its_width(read, swallowed):
    assert "row 2" in held(read, "order,item,a,b,c,d,e,note\n" + swallowed, "csv|quotes")


def test_rows_of_a_narrow_table_within_a_cell_hold_the_file_and_an_address_does_not(read):
    assert "row 2" in held(read, 'AWB,Why\nSH-1,"late\nSH-2,late"\nSH-3,x\n', "csv|quotes")
    assert read('AWB,Address\nSH-1,"12 MG Road\nPune, 411001"\nSH-3,x\n').frame.height == 3


def test_an_address_over_two_lines_with_commas_is_one_cell(read):
    rows = 'A1,"Flat 3, Tower 2\nSector 5, Gurgaon, Haryana",1,2,3,4,5,n\nA2,x,1,2,3,4,5,n\n'
    assert read("order,address,a,b,c,d,e,note\n" + rows).frame.height == 3


def test_text_behind_a_closing_quote_holds_the_file(read):
    assert "row 2" in held(read, 'a,b\n"x"y,2\n', "csv|quotes")


def test_line_breaks_within_a_cell_are_kept_up_to_the_limit(read):
    address = "Flat 1, A Wing\nMG Road\r\nPune\n411001"
    content = f'ref,name,address,qty\n1,A,"{address}",2\n2,B,x,1\n'
    sheet = read(content)
    assert sheet.frame.rows()[1:] == [(2, "1", "A", address, "2"), (3, "2", "B", "x", "1")]
    assert "C2 runs over 4 lines" in held(read, content, "csv|quotes", max_embedded_newlines=2)


def test_a_cell_that_is_too_long_holds_the_file(read):
    for cell in ("x" * 32_768, f'"{"x" * 140_000}"'):
        told = held(read, f"a,b\n1,{cell}\n", "sheet|long_cell")
        assert "cell B2 is longer than 32,767 characters" in told and "quotation" not in told


def test_a_text_of_more_cells_than_any_table_has_is_held_before_they_are_made(read):
    told = held(read, "a,b\n" + "1,,,,,,,,,\n" * 20, "sheet|too_large", limits=Limits(max_csv_cells=100))
    assert "202 cells" in told and "at most 100" in told


def test_a_quotation_mark_that_swallows_very_much_is_still_named_as_that(read):
    assert "quotation mark is missing" in held(read, 'a,b\n1,"x\n' + "2,y\n" * 50_000, "csv|quotes")


def test_too_many_columns_rows_or_a_gap_hold_the_file(read):
    assert "513 columns" in held(read, "x," * 512 + "x\n", "sheet|too_many_columns")
    assert read("x," * 512 + "\n").width == 512  # what is empty at the end does not count
    assert read("a,b,,\n1,2,,\n").width == 2
    limits = Limits(max_csv_rows=10, max_gap_rows=3)
    assert "more than 10 rows" in held(read, "a,b\n" * 11, "file|too_many_rows", limits=limits)
    assert "more than 10 rows" in held(read, 'a,"b\nc"\n' * 11, "file|too_many_rows", limits=limits)
    assert "row 6 holds something" in held(read, "a,b\n\n\n\n\nx,y\n", "sheet|gap", limits=limits)
    assert read("a,b\n\n\n\nx,y\n", limits=limits).frame.height == 5


@pytest.mark.parametrize("content", ["\n\n\n", ",,,\n,,\n", "\ufeff\n"])
def test_a_file_without_a_filled_cell_is_held(read, content):
    assert "no rows" in held(read, content, "file|empty")


def test_a_hundred_thousand_rows_keep_their_numbers(read):
    lines = [f'{number},"Item, {number}",{number % 7}' for number in range(1, 100_001)]
    frame = read("\n".join(lines)).frame
    assert frame.height == 100_000
    assert (frame["row"].cast(pl.String) == frame["1"]).all()
    lines[70_000] = '70001,"Item,\n70001",1'
    frame = read("\n".join(lines)).frame
    assert (frame["row"].cast(pl.String) == frame["1"]).all()


def test_whether_a_file_ends_with_a_line_break_is_told(read):
    assert [read(text).ends_open for text in ("a,b\n1,2", "a,b\n1,2\n", "a,b\r1,2\r", 'a,b\n1,"2\n3"')] == [
        True,
        False,
        False,
        True,
    ]
