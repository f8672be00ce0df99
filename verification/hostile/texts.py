"""Text files that lose rows, eat memory or are not what they seem; and other kinds of files under a table's name."""

from pathlib import Path

from hostile.catalogue import hostile

HEADER = "Order No,Name,Phone,Address,SKU,Qty\n"
ORDER = "A-1,Asha,9876543210,12 MG Road,tea,2\n"
GOOD = HEADER + ORDER


def _orders(count: int) -> str:
    return HEADER + "".join(f"A-{number},Asha,9876543210,12 MG Road,tea,2\n" for number in range(count))


@hostile("orders.csv", "control character")
def text_with_a_zero_byte(path: Path) -> None:
    path.write_text(HEADER + ORDER.replace("MG", "M\0G"))


@hostile("orders.csv", "C2")
def text_of_long_runs_of_dots_for_telephones(path: Path) -> None:
    cells = ("." * 32_000, "." * 32_000 + "x", " " * 32_000 + "7", "- " * 16_000 + "9", "9" + "." * 32_000 + "9")
    path.write_text(HEADER + "".join(f"A-{row},Asha,{cell},12 MG Road,tea,2\n" for row, cell in enumerate(cells * 4)))


@hostile("orders.csv", "empty ones among them")
def text_of_forty_million_empty_cells_in_megabytes(path: Path) -> None:
    path.write_text(HEADER + (ORDER.strip() + "," * 400 + "\n") * 100_000)


@hostile("orders.csv", "control character")
def text_with_control_characters(path: Path) -> None:
    path.write_text(HEADER + ORDER.replace("Asha", "As\x1b[2Jha"))


@hostile("orders.csv", "is longer than 1 MB")
def text_with_a_million_columns(path: Path) -> None:
    path.write_text(HEADER + "x," * 1_000_000 + "\n")


@hostile("orders.csv", "50,001 columns")
def text_with_fifty_thousand_columns(path: Path) -> None:
    path.write_text(HEADER + "x," * 50_000 + "x\n")


@hostile("orders.csv", "is longer than 1 MB")
def text_of_one_line_of_a_hundred_megabytes(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"0123456789abcdef" * (1 << 16))


@hostile("orders.csv", "is longer than 1 MB")
def text_of_one_cell_of_a_hundred_megabytes(path: Path) -> None:
    with path.open("wb") as file:
        file.write(HEADER.encode() + b'"')
        for _ in range(100):
            file.write(b"0123456789abcdef" * (1 << 16))
        file.write(b'",Asha,9876543210,12 MG Road,tea,2\n')


@hostile("orders.csv", "longer than 32,767 characters")
def text_with_a_cell_longer_than_any_spreadsheet_keeps(path: Path) -> None:
    path.write_text(HEADER + ORDER.replace("12 MG Road", "x" * 40_000))


@hostile("orders.csv", "more than 1,048,576 rows")
def text_of_more_rows_than_a_spreadsheet_shows(path: Path) -> None:
    path.write_text(HEADER + "a\n" * 1_100_000)


@hostile("orders.csv", "rows above it are empty")
def text_with_a_row_below_a_million_empty_ones(path: Path) -> None:
    path.write_text(GOOD + "\n" * 1_000_000 + ORDER)


@hostile("orders.csv", "no rows")
def text_of_a_million_empty_rows(path: Path) -> None:
    path.write_text("\n" * 1_000_000)


@hostile("orders.csv", "quotation mark is missing")
def text_whose_quotation_mark_swallows_all_rows(path: Path) -> None:
    path.write_text(_orders(50_000).replace("A-7,Asha", 'A-7,"Asha', 1))


@hostile("orders.csv", "row 9 cannot be read safely")
def text_whose_two_quotation_marks_swallow_rows(path: Path) -> None:
    text = _orders(1_000).replace("A-7,Asha", 'A-7,"Asha', 1)
    path.write_text(text.replace("A-900,Asha", 'A-900,Asha"', 1))


@hostile("orders.csv", "quotation mark is missing")
def text_that_ends_within_quotation_marks(path: Path) -> None:
    path.write_text(GOOD + 'A-2,"Asha')


@hostile("orders.csv", "does not belong there")
def utf16_with_an_odd_number_of_bytes(path: Path) -> None:
    path.write_bytes(b"\xff\xfe" + GOOD.encode("utf-16-le") + b"x")


@hostile("orders.csv", "does not belong there")
def utf16_with_half_a_character(path: Path) -> None:
    path.write_bytes(b"\xff\xfe" + GOOD.replace("Asha", "As\ud83dha").encode("utf-16-le", "surrogatepass"))


@hostile("orders.csv", "half of a character")
def utf8_with_half_a_character(path: Path) -> None:
    path.write_bytes(GOOD.replace("Asha", "As\ud83dha").encode("utf-8", "surrogatepass"))


@hostile("orders.csv", "UTF-7")
def utf7(path: Path) -> None:
    path.write_bytes(b"+/v8-" + GOOD.encode("utf-7"))


@hostile("orders.csv", "mixes two encodings")
def text_in_two_encodings(path: Path) -> None:
    path.write_bytes((HEADER + ORDER.replace("Asha", "Äsha")).encode() + ORDER.replace("Asha", "Äsha").encode("cp1252"))


@hostile("orders.csv", "does not belong there")
def text_with_a_byte_of_no_encoding(path: Path) -> None:
    path.write_bytes(GOOD.encode().replace(b"Asha", b"As\x81ha"))


@hostile("orders.csv", "no spreadsheet and no text")
def random_bytes(path: Path) -> None:
    state, content = 1, bytearray()
    for _ in range(20_000):
        state = (state * 1_103_515_245 + 12_345) % (1 << 31)
        content.append(state >> 16 & 0xFF)
    path.write_bytes(content)


@hostile("orders.csv", 'required column "Qty" is missing')
def text_with_a_command_in_its_header(path: Path) -> None:
    path.write_text(HEADER.replace("Qty", "=cmd|' /C calc'!A0") + ORDER)


@hostile("orders.csv", "more than once")
def text_with_a_column_twice(path: Path) -> None:
    path.write_text("Order No,Name,Phone,Address,SKU,Qty,Qty\nA-1,Asha,9876543210,12 MG Road,tea,2,900\n")


@hostile("orders.csv", "0 bytes")
def nothing_at_all(path: Path) -> None:
    path.touch()


@hostile("orders.xlsx", "plain text")
def text_named_xlsx(path: Path) -> None:
    path.write_text(GOOD)


@hostile("orders.xls", "web page")
def web_page_named_xls(path: Path) -> None:
    path.write_text("<html><body><table><tr><td>Order No</td></tr></table></body></html>")


@hostile("orders.xls", "XML")
def xml_named_xls(path: Path) -> None:
    path.write_text('<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>')


@hostile("orders.xls", "web page")
def web_archive_named_xls(path: Path) -> None:
    path.write_text('MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\n<html>')


@hostile("orders.xlsx", "PDF")
def pdf_named_xlsx(path: Path) -> None:
    path.write_bytes(b"%PDF-1.7\n1 0 obj\n")


@hostile("orders.csv", "picture")
def picture_named_csv(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))


@hostile("orders.csv", "program")
def program_named_csv(path: Path) -> None:
    path.write_bytes(b"MZ\x90\0\3\0\0\0" + bytes(200))


@hostile("orders.csv.exe", ".exe")
def text_named_as_a_program(path: Path) -> None:
    path.write_text(GOOD)


@hostile("orders.csv", "text document")
def rich_text_named_csv(path: Path) -> None:
    path.write_text("{\\rtf1\\ansi Order No}")
