"""Containers: zip, gzip and PGP, as attackers and broken programs make them, and workbooks whose packing lies."""

import gzip
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from hostile.catalogue import hostile
from hostile.workbook_parts import ZERO_MEGABYTES, packed, workbook_parts, write_zip

ORDERS = b"Order No,Name,Phone,Address,SKU,Qty\nA-1,Asha,9876543210,12 MG Road,tea,2\n"


def _local(name: bytes, content: bytes, *, size: int, crc: int = 0, method: int = 8) -> bytes:
    return struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, method, 0, 33, crc, len(content), size, len(name), 0) + name


def _central(name: bytes, *, packed_size: int, size: int, offset: int, crc: int) -> bytes:
    fixed = struct.pack("<IHHHHHHIIIHH", 0x02014B50, 20, 20, 0, 8, 0, 33, crc, packed_size, size, len(name), 0)
    return fixed + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name


def _end(entries: Sequence[bytes], start: int) -> bytes:
    return b"".join(entries) + struct.pack(
        "<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), sum(map(len, entries)), start, 0
    )


def _deflated(content: bytes) -> bytes:
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    return pack.compress(content) + pack.flush()


@hostile("orders.xlsx", "times its size")
def workbook_with_one_huge_part(path: Path) -> None:
    write_zip(path, {**workbook_parts(), "xl/media/zeros.bin": ZERO_MEGABYTES * 60})


@hostile("orders.xlsx", "times its size")
def workbook_with_many_parts_that_are_large_together(path: Path) -> None:
    part = packed(ZERO_MEGABYTES * 9)
    write_zip(path, workbook_parts(), ready={f"xl/media/{number}.bin": part for number in range(300)})


@hostile("orders.xlsx", "1,00")
def workbook_of_a_thousand_parts(path: Path) -> None:
    write_zip(path, {**workbook_parts(), **{f"xl/media/{number}.bin": b"" for number in range(1_000)}})


@hostile("orders.xlsx", "packed into it")
def workbook_within_a_workbook(path: Path) -> None:
    write_zip(path.with_suffix(".inner"), workbook_parts())
    inner = path.with_suffix(".inner").read_bytes()
    path.with_suffix(".inner").unlink()
    write_zip(path, {**workbook_parts(), "xl/embeddings/inner.xlsx": inner})


@hostile("orders.xlsx", "overlap")
def workbook_whose_parts_overlap(path: Path) -> None:
    """Each part holds the headers and contents of all that follow: 30 parts for the price of one."""
    plain = ZERO_MEGABYTES * 8
    names = [b"[Content_Types].xml", b"xl/workbook.xml", *(b"xl/worksheets/sheet%d.xml" % n for n in range(28))]
    body, entries = b"", []
    head_length = 0
    for name in reversed(names):
        content = b"" if body else _deflated(plain)
        if body:
            quoted = body[:head_length]
            plain = quoted + plain
            content = struct.pack("<BHH", 0, len(quoted), len(quoted) ^ 0xFFFF) + body
        local = _local(name, content, size=len(plain), crc=zlib.crc32(plain))
        shift = len(local) + len(content) - len(body)
        entries = [(at + shift, *rest) for at, *rest in entries]
        entries.insert(0, (0, name, len(content), len(plain), zlib.crc32(plain)))
        body, head_length = local + content, len(local)
    directory = [_central(n, packed_size=p, size=s, offset=o, crc=c) for o, n, p, s, c in entries]
    path.write_bytes(body + _end(directory, len(body)))


@hostile("orders.xlsx", "damaged")
def workbook_that_lies_about_the_size_of_a_part(path: Path) -> None:
    """The directory says ten bytes; the stream holds forty megabytes."""
    content = _deflated(ZERO_MEGABYTES * 40)
    name = b"xl/workbook.xml"
    entry = _central(name, packed_size=len(content), size=10, offset=0, crc=0)
    local = _local(name, content, size=10)
    path.write_bytes(local + content + _end([entry], len(local) + len(content)))


@hostile("orders.xlsx", "stands in it twice")
def workbook_with_a_part_twice(path: Path) -> None:
    sheet = "xl/worksheets/sheet1.xml"
    write_zip(path, workbook_parts(), twice={sheet: workbook_parts()[sheet].replace(b"A-1", b"B-2")})


@hostile("orders.xlsx", "encrypted")
def workbook_with_encrypted_parts(path: Path) -> None:
    write_zip(path, workbook_parts())
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(signature) + offset] |= 1
    path.write_bytes(content)


@hostile("orders.xlsx", "leads out of it")
def workbook_with_a_part_outside_of_itself(path: Path) -> None:
    write_zip(path, {**workbook_parts(), "../../../etc/cron.d/orders": b"* * * * * root true\n"})


@hostile("orders.xlsx", "packed in an unusual way")
def workbook_packed_with_another_method(path: Path) -> None:
    """LZMA squeezes zeros far beyond what deflate can."""
    write_zip(path, {**workbook_parts(), "xl/media/zeros.bin": ZERO_MEGABYTES * 8}, method=14)


def _cut(path: Path, share: float) -> None:
    write_zip(path, workbook_parts())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


@hostile("orders.xlsx", "did not arrive completely")
def workbook_cut_behind_its_first_part(path: Path) -> None:
    _cut(path, 0.15)


@hostile("orders.xlsx", "did not arrive completely")
def workbook_cut_in_the_middle(path: Path) -> None:
    _cut(path, 0.5)


@hostile("orders.xlsx", "did not arrive completely")
def workbook_cut_in_its_directory(path: Path) -> None:
    _cut(path, 0.98)


@hostile("orders.xlsx", "damaged")
def workbook_whose_parts_begin_before_it(path: Path) -> None:
    write_zip(path, workbook_parts())
    content = bytearray(path.read_bytes())
    place = len(content) - 6  # where the directory is said to begin
    struct.pack_into("<I", content, place, struct.unpack_from("<I", content, place)[0] + 1_000)
    path.write_bytes(content)


@hostile("orders.xlsx", "damaged")
def workbook_with_a_flipped_bit(path: Path) -> None:
    write_zip(path, workbook_parts())
    content = bytearray(path.read_bytes())
    content[content.index(b"xl/worksheets/sheet1.xml") + 60] ^= 0x10
    path.write_bytes(content)


@hostile("drop.zip", "protected with a password")
def archive_with_a_password(path: Path) -> None:
    write_zip(path, {"orders.csv": ORDERS})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.find(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)


@hostile("drop.zip", "times its size")
def archive_bomb(path: Path) -> None:
    write_zip(path, {"orders.csv": b"0" * (60 << 20)})


@hostile("drop.zip", "times its size")
def archive_of_many_small_bombs(path: Path) -> None:
    part = packed(b"0" * (9 << 20))
    write_zip(path, {}, ready={f"{number}.csv": part for number in range(90)})


@hostile("drop.zip", "a zip archive")
def archive_within_an_archive(path: Path) -> None:
    write_zip(path.with_suffix(".inner"), {"orders.csv": ORDERS})
    inner = path.with_suffix(".inner").read_bytes()
    path.with_suffix(".inner").unlink()
    write_zip(path, {"inner.zip": inner})


@hostile("drop.zip", "at most 100")
def archive_of_very_many_files(path: Path) -> None:
    write_zip(path, {f"{number}.csv": ORDERS for number in range(5_000)})


@hostile("drop.zip", "did not arrive completely")
def archive_cut_off(path: Path) -> None:
    write_zip(path, {"orders.csv": ORDERS * 100})
    path.write_bytes(path.read_bytes()[:-30])


@hostile("drop.zip", "no file in it")
def archive_of_nothing(path: Path) -> None:
    write_zip(path, {"__MACOSX/._orders.csv": b"x"})


@hostile("orders.csv.gz", "times its size")
def gzip_bomb(path: Path) -> None:
    path.write_bytes(gzip.compress(b"0" * (100 << 20), mtime=0))


@hostile("orders.csv.gz", "times its size")
def gzip_bomb_of_many_members(path: Path) -> None:
    path.write_bytes(gzip.compress(b"0" * (1 << 20), mtime=0) * 400)


@hostile("orders.csv.gz", "damaged")
def gzip_with_junk_behind_it(path: Path) -> None:
    path.write_bytes(gzip.compress(ORDERS, mtime=0) + b"and then something else")


@hostile("orders.csv.gz", "did not arrive completely")
def gzip_cut_off(path: Path) -> None:
    path.write_bytes(gzip.compress(ORDERS * 50, mtime=0)[:-12])


@hostile("orders.csv.gz.gz", "a gzip archive")
def gzip_within_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.compress(ORDERS, mtime=0), mtime=0))


@hostile("orders.csv.pgp", "not encrypted for our key")
def pgp_message_for_somebody_else(path: Path) -> None:
    session_key = b"\x03" + bytes.fromhex("0123456789abcdef") + b"\x01" + struct.pack(">H", 2047) + b"\x7f" * 256
    data = b"\x01" + bytes(range(256)) * 2
    packets = b"\xc1\xff" + struct.pack(">I", len(session_key)) + session_key
    path.write_bytes(packets + b"\xd2\xff" + struct.pack(">I", len(data)) + data)


@hostile("orders.csv.asc", "cannot be decrypted")
def pgp_armour_around_nothing(path: Path) -> None:
    path.write_bytes(b"-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n")
