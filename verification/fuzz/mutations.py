"""Damage done to files at random, but the same each time for the same seed.

Bytes are flipped, cut, doubled, exchanged and mixed with what parsers stumble over; in packed workbooks this happens to
one part before it is packed again, so that it reaches the parser behind the archive.
"""

import io
import random
import re
import zipfile
import zlib
from collections.abc import Mapping

_MOST_BYTES = 4 << 20
_VALUES = {
    "csv": re.compile(rb'[^,;|\t\r\n"]+'),
    "xlsx": re.compile(rb'(?<=")[^"<>]*(?=")|(?<=>)[^<>]+(?=<)'),
    "ods": re.compile(rb'(?<=")[^"<>]*(?=")|(?<=>)[^<>]+(?=<)'),
    "yaml": re.compile(rb"(?<=: )[^\n,}]+|(?<=from: )\w+"),
}
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
NUMBERS = (
    *(b"0", b"-1", b"1.0", b"1e309", b"-1e-309", b"nan", b"255", b"256", b"16384", b"16385", b"65536", b"1048577"),
    *(b"2147483648", b"4294967295", b"4294967296", b"9223372036854775808", b"99999999999999999999", b"0x7f", b""),
)
_BYTES = (b"\0", b"\xff", b"\x1a", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", "\u202e\u200b₹१२३".encode())
_TEXT = (
    *(b",", b";", b"\t", b"|", b'"', b'""', b"'", b"\r", b"\n", b"\r\n", b"sep=;\n", b" ", b"\xc2\xa0"),
    *(b"=1+1", b'="0012"', b"#N/A", b"TOTAL", b"Order No", b"1E+15", b"03-11-26", b"46329", b"+91 98765 43210"),
    *("₹1,23,456.50".encode(), b"(250)", b"1.234,50", b"A x2, B x1", b"\x93smart\x94"),
)
_CELLS = (*_TEXT[11:], *_BYTES[-1:], b"x" * 40_000, b"XFD1048576", b"A7", b"1", b"true", b"2026-11-03", b"PT9H")
_XML = (
    *(b"<", b">", b"/>", b"&lt;", b"&#0;", b"&a;", b"<![CDATA[", b"]]>", b"<!--", b"<!DOCTYPE a []>", b"<?x?>"),
    *(b"<row>", b"</row>", b'<row r="7" hidden="1">', b"<c>", b'<c r="C3" t="e"><v>#REF!</v></c>', b"<f>1+1</f>"),
    *(b't="s"', b't="b"', b't="d"', b's="1"', b'r="XFD1"', b'r="A1048576"', b"<v></v>", b"<is><t>", b"</sheetData>"),
    *(b'table:number-rows-repeated="1000000"', b'table:number-columns-repeated="1024"', b"<table:table-row>"),
    *(b'office:value-type="date"', b'office:value-type="float"', b"<table:table-cell/>", b"<text:p>", b"<text:s/>"),
)
_YAML = (
    *(
        b": ",
        b"- ",
        b"\n  ",
        b"\t",
        b"{",
        b"}",
        b"[",
        b"]",
        b"&a ",
        b"*a",
        b"<<: ",
        b"!!python/object:os.system ",
        b"? ",
    ),
    *(b"| ", b"> ", b"---\n", b"...\n", b"%YAML 1.1\n", b"null", b"~", b"NO", b"0o17", b"1e9", b".inf", b"[" * 60),
    *(b"from: ", b"read: ", b"date: ", b"lookup: ", b"pattern: ", b"'(a+)+$'", b"'['", b"'(?P<a>x)(?=y)'", b"split: "),
    *(b"lines_from: ", b"required: true", b"when: ", b"sum: ", b"times: ", b"unit: g -> kg", b"'%Q'", b"fill_down: "),
)
WORDS = {"csv": _TEXT, "xlsx": _XML, "ods": _XML, "yaml": _YAML}


def damaged(content: bytes, *, kind: str, chance: random.Random) -> bytes:
    """The content with one to six pieces of damage."""
    if kind in ("xlsx", "ods") and chance.random() < 0.85:
        return _with_damaged_part(content, kind=kind, chance=chance)
    return _battered(content, kind=kind, chance=chance)


def _with_damaged_part(content: bytes, *, kind: str, chance: random.Random) -> bytes:
    """One or two parts of an archive damaged, and packed again with the right checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    likely = [name for name in parts if "sheet" in name or "content.xml" in name or "sharedStrings" in name]
    for _ in range(chance.choice((1, 1, 1, 2))):
        name = chance.choice(likely if chance.random() < 0.7 else list(parts))
        parts[name] = _battered(parts[name], kind=kind, chance=chance)
    if chance.random() < 0.03:
        del parts[chance.choice(list(parts))]
    return repacked(parts)


def repacked(parts: Mapping[str, bytes]) -> bytes:
    """An archive of these parts, without a date."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=zlib.Z_BEST_SPEED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, compress_type=zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _battered(content: bytes, *, kind: str, chance: random.Random) -> bytes:
    words = WORDS[kind]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        if chance.random() < 0.5:
            content = _revalued(content, kind, chance)
            continue
        way = chance.choice((_flip, _cut, _double, _exchange, _insert, _insert, _renumber, _renumber, _truncate))
        content = way(content, words, chance)[:_MOST_BYTES]
    return content


def _span(content: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(start + chance.choice((1, 1, 4, 16, 64, 400)), len(content))


def _flip(content: bytes, _: tuple[bytes, ...], chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _times in range(chance.choice((1, 2, 8)) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(content: bytes, _: tuple[bytes, ...], chance: random.Random) -> bytes:
    start, end = _span(content, chance)
    return content[:start] + content[end:]


def _double(content: bytes, _: tuple[bytes, ...], chance: random.Random) -> bytes:
    start, end = _span(content, chance)
    return content[:end] + content[start:end] * chance.choice((1, 1, 2, 30, 2_000)) + content[end:]


def _exchange(content: bytes, _: tuple[bytes, ...], chance: random.Random) -> bytes:
    start, end = _span(content, chance)
    other, stop = _span(content, chance)
    return content[:start] + content[other:stop] + content[end:]


def _insert(content: bytes, words: tuple[bytes, ...], chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.choice(words if chance.random() < 0.8 else _BYTES) + content[place:]


def _renumber(content: bytes, _: tuple[bytes, ...], chance: random.Random) -> bytes:
    """Another number where one stands."""
    found = _NUMBER.search(content, chance.randrange(len(content) + 1))
    return content[: found.start()] + chance.choice(NUMBERS) + content[found.end() :] if found else content


def _revalued(content: bytes, kind: str, chance: random.Random) -> bytes:
    """Another value where one stands, taken from elsewhere in the file as often as not."""
    values = _VALUES[kind]
    found = values.search(content, chance.randrange(len(content) + 1))
    other = values.search(content, chance.randrange(len(content) + 1))
    if not found:
        return content
    value = other[0] if other and chance.random() < 0.5 else chance.choice((*NUMBERS, *_CELLS))
    return content[: found.start()] + value + content[found.end() :]


def _truncate(content: bytes, _: tuple[bytes, ...], chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.3 else content
