"""Why the bytes of a file are not read, and what a reader decided or repaired; `name` is the file's, made printable."""

from typing import Final

from logistics_batch.messages.entry import Entry

_READ: Final = {
    "csv": "plain text",
    "xlsx": "an .xlsx workbook",
    "xls": "an old .xls workbook",
    "xlsb": "a binary .xlsb workbook",
    "ods": "an .ods spreadsheet",
}
_NOT_READ: Final = {
    "html": "a web page",
    "xml": "an XML file",
    "fods": "a flat LibreOffice spreadsheet (.fods)",
    "json": "a JSON file",
    "pdf": "a PDF",
    "zip": "a zip archive",
    "cut": "a damaged zip archive",
    "crowd": "an archive of more files than anybody packs",
    "gzip": "a gzip archive",
    "archive": "an archive",
    "picture": "a picture",
    "rtf": "a text document",
    "ole": "an Office document, but no workbook",
    "document": "an Office document, but no workbook",
    "program": "a program",
    "binary": "no spreadsheet and no text",
    "ending": "named .{ending}",
    "no_ending": "without an ending",
}
"""What a file is, by the variant of its code."""

_UNSAFE_WORKBOOKS: Final = {
    "workbook_parts": "it consists of {count:,} parts",
    "workbook_twice": "the part {part} stands in it twice",
    "workbook_encrypted": "parts of it are encrypted",
    "workbook_packing": "parts of it are packed in an unusual way",
    "workbook_leads_out": "the name of a part leads out of it",
    "workbook_overlaps": "parts of it overlap",
    "workbook_ratio": "its parts together unpack to over {ratio} times its size",
    "workbook_nested": "another file is packed into it ({part})",
    "workbook_size": "unpacked it is larger than {most} MB",
    "workbook_part_ratio": "the part {part} unpacks to over {ratio} times its size",
    "workbook_encoding": "the part {part} is written in an unusual encoding",
    "workbook_doctype": "the part {part} declares a document type",
    "workbook_xml_doctype": "it declares a document type",
    "workbook_xml_levels": "its elements are nested more than {most} deep",
    "workbook_xml_element": "one element of it is larger than {most} MB",
}
_UNSAFE_ARCHIVES: Final = {
    "archive_size": "unpacked it is larger than {most} MB",
    "archive_ratio": "it unpacks to over {ratio} times its size",
}
_UNSAFE_DIRECTORIES: Final = {
    "directory": "it names more files than anybody packs",
}
_UNSAFE_QUOTES: Final = {
    "end": "it does not end as a row should ({error})",
    "lines": "one of its cells runs over many lines",
    "breaks": "cell {cell} runs over {lines} lines",
    "swallowed": "one of its cells seems to have swallowed the next row",
}

_SAVE_AS_CSV = 'Save it again as "CSV UTF-8" or as .xlsx and send that.'
_SHORTEN = "Shorten the cell and send the file again."
_SEND_AGAIN = "Send it again and wait until it is uploaded; if that does not help, save it again "
_SEND_INSIDE = "Send what is in it by itself, or directly in one archive."
_TABLE = "{most_columns} columns and {most_rows:,} rows of a workbook"
_DELETE = "Delete the {} the table, also those that look empty, or split the file."

_FILES: Final[dict[str, Entry]] = {
    "file|empty.bytes": Entry("{name} is empty: it has 0 bytes.", "Send the file again."),
    "file|empty.rows": Entry("{name} holds no rows.", "Send it again with its rows."),
    "file|empty.archive": Entry("{name} is empty: there is no file in it.", "Send it again."),
    "file|empty.none_for_us": Entry(
        "{name} holds no file for us ({member}: {why:messages}).", "Send the spreadsheet that was meant."
    ),
    "file|encrypted.workbook": Entry(
        "{name} is protected with a password.",
        "Open it, remove the password (File > Info > Protect Workbook), save it and send it again.",
    ),
    "file|encrypted.archive": Entry(
        "{name} is protected with a password.", "Pack it again without a password and send that."
    ),
    "file|encrypted.message": Entry(
        "{name} cannot be decrypted: it is damaged, was not encrypted for our key, or is compressed or sealed in a way "
        "that is not read.",
        "Encrypt it with the public key that the operator gave you and send it again; with GnuPG, add --rfc4880 "
        "--compress-algo zip.",
    ),
    "file|macros": Entry(
        "{name} is a workbook with macros, and those are not taken.",
        "Save it as an Excel workbook (.xlsx), which holds no macros, and send that.",
    ),
    **{
        f"file|format.{kind}": Entry(
            f"{{name}} cannot be read: it is {what}.",
            "Save it as .xlsx, .xls, .xlsb, .ods or .csv from your spreadsheet program and send that.",
        )
        for kind, what in _NOT_READ.items()
    },
    **{
        f"file|disguised.{kind}": Entry(
            f"{{name}} is named .{{ending}}, but its content is {what}.",
            "Open it in your spreadsheet program and save it as a real .{ending}; a new name alone changes nothing.",
        )
        for kind, what in _READ.items()
    },
    "file|damaged": Entry(
        "{name} is damaged or did not arrive completely.", f"{_SEND_AGAIN}in your spreadsheet program and send that."
    ),
    "file|too_costly": Entry(
        "{name} cannot be read: it is damaged, or takes more memory or time than other files.",
        "Copy the rows into a new workbook, save it as .xlsx and send that; if it is very large, split it.",
    ),
    "file|too_large": Entry("{name} is larger than {most} MB.", "Split it into several files."),
    "file|too_large.store": Entry(
        "{name} has {size:,} bytes; over {most:,} a file is not taken ({store}).",
        "Split the file into smaller ones, or raise the limit in the settings.",
    ),
    "file|too_many_rows": Entry("{name} has more than {most:,} rows.", "Split it into several files."),
    "file|archive.no_key": Entry(
        "{name} is encrypted with PGP, and there is no key here to open it.",
        "Send it unencrypted, or ask the operator to set key_file under [pgp] in the settings.",
    ),
    "file|archive.crowd": Entry(
        "{name} holds {count:,} files; at most {most} are taken.", "Send several smaller archives."
    ),
    "file|archive.packing": Entry(
        "{name} is packed in a way that is not read.",
        "Pack it again with the ordinary method (“Deflate”), as Windows Explorer and Finder do, and send that.",
    ),
    "file|archive.nested": Entry(
        "{name} lies in {container} and is packed or encrypted once more; such files are not opened.", _SEND_INSIDE
    ),
    **{
        f"file|unsafe.{which}": Entry(
            f"{{name}} is not opened: {why}, as no ordinary workbook does.",
            "Copy the rows into a new workbook, save it as .xlsx and send that.",
        )
        for which, why in _UNSAFE_WORKBOOKS.items()
    },
    **{
        f"file|unsafe.{which}": Entry(
            f"{{name}} is not opened: {why}, as no ordinary archive does.",
            "Send the spreadsheet without an archive around it, or split it.",
        )
        for which, why in _UNSAFE_ARCHIVES.items()
    },
    **{
        f"file|unsafe.{which}": Entry(
            f"{{name}} is not opened: {why}.", "Send the spreadsheet without an archive around it."
        )
        for which, why in _UNSAFE_DIRECTORIES.items()
    },
    "file|unsafe.message": Entry(
        "{name} is not opened: decrypted it is larger than {most} MB.", "Split it into several files."
    ),
}

_SHEETS: Final[dict[str, Entry]] = {
    "sheet|none": Entry(
        "{name} is a workbook without any sheet.",
        "Copy the rows into a sheet of a new workbook, save it as .xlsx and send that.",
    ),
    **{
        f"sheet|none.{which}": Entry(
            f"{{name}} has no visible, filled sheet{named}. It has: {{sheets}}.",
            "Unhide or rename the sheet with the rows, or ask the operator to correct sheet.name in the mapping.",
        )
        for which, named in (("filled", ""), ("named", ' named "{wanted}"'))
    },
    "sheet|too_many": Entry(
        "{name} has {count:,} visible sheets; at most {most} are looked into.",
        "Delete the sheets that do not belong to it, or ask the operator to name the one to read in the mapping.",
    ),
    "sheet|too_many_columns": Entry(
        "{name} has {count:,} columns; at most {most} are read.",
        "Delete the columns right of the table and send the file again.",
    ),
    "sheet|too_large.column": Entry(
        f"{{name}} has a cell in column {{column}}; at most {_TABLE} are read.", _DELETE.format("columns right of")
    ),
    "sheet|too_large.row": Entry(
        f"{{name}} has a cell in row {{row:,}}; at most {_TABLE} are read.", _DELETE.format("rows below")
    ),
    "sheet|too_large.cells": Entry(
        "{name} has room for {count:,} cells up to its last row and column; at most {most:,} are read.",
        _DELETE.format("rows below and columns right of"),
    ),
    "sheet|too_large.texts": Entry(
        "{name} has texts of {count:,} characters together; at most {most:,} are read.",
        _DELETE.format("long texts right of or below"),
    ),
    "sheet|too_large.csv": Entry(
        "{name} has {count:,} cells, empty ones among them; at most {most:,} are read.",
        "Delete the empty columns right of the table, or split the file.",
    ),
    "sheet|long_cell": Entry("{name}: cell {cell} is longer than {most:,} characters.", _SHORTEN),
    "sheet|long_cell.text": Entry(
        "{name} has a text of {count:,} characters, and no cell is longer than {most:,} characters.", _SHORTEN
    ),
    "sheet|gap": Entry(
        "{name}: row {row:,} holds something, but {count:,} rows above it are empty.",
        "Delete what stands there by mistake, or close the gap, and send the file again.",
    ),
}

_TEXTS: Final[dict[str, Entry]] = {
    **{
        f"csv|quotes.{which}": Entry(
            f"{{name}}: row {{row}} cannot be read safely: {what}. Probably a quotation mark is missing there.",
            'Remove or double the stray " in row {row} or just above it, or send the file as .xlsx. If cells rightly '
            "hold many lines, ask the operator to raise sheet.max_embedded_newlines in the mapping.",
        )
        for which, what in _UNSAFE_QUOTES.items()
    },
    "sheet|long_cell.row": Entry("{name}: row {row}: a cell is longer than {most:,} characters.", _SHORTEN),
    "csv|long_line": Entry(
        "{name}: line {line:,} is longer than {most} MB, which is no row of a table.",
        'Save the table again as "CSV UTF-8" or as .xlsx and send that.',
    ),
    "csv|encoding.utf_7": Entry("{name} is written in UTF-7, which is not read.", _SAVE_AS_CSV),
    "csv|encoding.half": Entry(
        "{name} holds half of a character in line {line}: the program that wrote it cut an emoji or another sign in "
        "two.",
        "Remove that sign and save the file again.",
    ),
    "csv|encoding.alphabet": Entry(
        "{name} is not UTF-8, and as cp1252 (Windows) its words are gibberish, such as “{word}” in line {line:,}: it "
        "is written in another alphabet.",
        'Save it again as "CSV UTF-8" or as .xlsx and send that, or ask the operator to name its '
        "encoding in the mapping (sheet.encoding, such as cp1251 for Cyrillic).",
    ),
    "csv|encoding.mixed": Entry(
        "{name} mixes two encodings: line {line} has a letter that is not UTF-8, while others are.", _SAVE_AS_CSV
    ),
    "csv|encoding.unknown": Entry(
        '{name} is to be read as "{encoding}", an encoding that does not exist.',
        "Ask the operator to correct sheet.encoding in the mapping; auto copes with most files.",
    ),
    "csv|encoding.misfit": Entry(
        "{name} cannot be read as {encoding}: character {character:,} of line {line:,} does not belong there.",
        _SAVE_AS_CSV,
    ),
    "csv|zero_bytes": Entry(
        "{name} holds zero bytes in place of text from line {line} on: it did not arrive completely.",
        f"{_SEND_AGAIN}and send that.",
    ),
    "csv|control_character": Entry(
        "{name} has a control character (code 0) in line {line}.",
        "Type the cell anew, without what was copied into it, and send the file again.",
    ),
}

_NOTES: Final = {
    "read_as": "read as {encoding}",
    "read_as.cp1252": "read as cp1252 (Windows), because it is not UTF-8",
    "signs_in_words": "signs stand in words where letters should (is it cp850 or cp437 of DOS?): {lines}",
    "wrong_letters": (
        "some letters look as if another program had read them in a wrong encoding (such as â€™ for ’): {lines}"
    ),
    "sep_line": "the first line (sep=) only names the delimiter and is not counted as a row",
    "delimiter": "cells are separated by {delimiter}",
    "hidden_rows.read": "hidden rows are read like the others: {rows}",
    "hidden_rows.skipped": "hidden rows are skipped: {rows}",
    "hidden_columns": "hidden columns are read like the others: {columns:list 512}",
    "filter_set": "a filter is set in the sheet; the rows that it hides are among the hidden rows",
    "leading_zeros": "leading zeros put back as the cells show them, in column {columns:list 512}",
    "merged_cells": "merged cells, whose value stands in the first cell only: {ranges}",
    "values_alone": (
        "an .{format} file is read by its values alone: leading zeros and words that a number format adds, text that "
        "is struck through, hidden columns and filters are not seen"
    ),
    "sheets_not_taken": "sheets that are not taken: {sheets}",
}

READING: Final[dict[str, Entry]] = {
    **_FILES,
    **_SHEETS,
    **_TEXTS,
    **{code: Entry(words) for code, words in _NOTES.items()},
}
