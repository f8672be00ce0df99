"""Archives: zip, gzip and PGP, with what people and attackers put into them."""

import gzip
import io
import random
import struct
import subprocess
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pysequoia
import pytest

from logistics_batch.errors import FileHeld, SettingsError
from logistics_batch.intake.containers import MAX_MEMBERS, Member, Unpacker
from logistics_batch.intake.pgp import PgpKey
from logistics_batch.intake.readers import Limits

ORDERS = b"Order No,Qty\nA-1,2\n"
SAMPLE = Path(__file__).parents[2] / "sample_data" / "orders_standard_blr.xlsx"


def dropped(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def zipped(members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def members_of(folder: Path, name: str, content: bytes, unpacker: Unpacker | None = None) -> tuple[Member, ...]:
    """The members; whatever comes of it, nothing else is left behind."""
    inside = folder / "inside"
    inside.mkdir(exist_ok=True)
    found: tuple[Member, ...] = ()
    try:
        found = (unpacker or Unpacker())(dropped(folder, name, content), name=name, to=inside)
    finally:
        assert sorted(inside.iterdir()) == sorted({member.path for member in found if not member.left_out})
    return found


def opened(folder: Path, name: str, content: bytes, unpacker: Unpacker | None = None) -> dict[str, bytes]:
    return {member.name: member.path.read_bytes() for member in members_of(folder, name, content, unpacker)}


def test_members_of_a_zip_without_folders_and_debris(tmp_path: Path) -> None:
    content = zipped(
        {
            "monday/orders.csv": ORDERS,
            "asns.xlsx": b"PK...",
            "__MACOSX/monday/._orders.csv": b"x",
            "monday/.DS_Store": b"x",
            "~$asns.xlsx": b"x",
        }
    )
    assert opened(tmp_path, "drop.zip", content) == {"orders.csv": ORDERS, "asns.xlsx": b"PK..."}


@pytest.mark.parametrize("name", ["orders.csv", "orders.xlsx"])
def test_ordinary_files_are_no_containers(tmp_path: Path, name: str) -> None:
    assert opened(tmp_path, name, ORDERS if name.endswith("csv") else SAMPLE.read_bytes()) == {}


@pytest.fixture(scope="module")
def key() -> pysequoia.Tsk:
    return pysequoia.Tsk.generate("Bhiwandi <wms@example.com>")


@pytest.mark.parametrize(
    ("name", "content", "inside"),
    [
        ("orders.gz", ORDERS, "orders.csv"),
        ("ORDERS.CSV.GZ", ORDERS, "ORDERS.CSV"),
        ("orders.csv", ORDERS, "orders.csv"),
        ("orders.v2.gzip", ORDERS, "orders.v2"),
        ("orders.gz", SAMPLE.read_bytes(), "orders.xlsx"),
        ("orders.xlsx.gz", SAMPLE.read_bytes(), "orders.xlsx"),
    ],
)
def test_gzip_under_odd_names(tmp_path: Path, name: str, content: bytes, inside: str) -> None:
    assert opened(tmp_path, name, gzip.compress(content)) == {inside: content}


@pytest.mark.parametrize("armour", [True, False], ids=["armour", "binary"])
def test_pgp_message_with_an_archive_in_it(tmp_path: Path, key: pysequoia.Tsk, armour: bool) -> None:
    plain = zipped({"orders.csv": ORDERS})
    message = pysequoia.encrypt(plain, recipients=[key.extract_certificate()], armor=armour)
    unpacker = Unpacker(PgpKey(dropped(tmp_path, "key.asc", str(key).encode())).decrypt)
    inside = tmp_path / "inside"
    inside.mkdir()
    (member,) = unpacker(dropped(tmp_path, "orders.zip.pgp", message), name="orders.zip.pgp", to=inside)
    assert (member.name, member.path.read_bytes()) == ("orders.csv", ORDERS)


def test_the_process_that_decrypts_knows_no_secrets_and_names_none(
    tmp_path: Path, key: pysequoia.Tsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the program's own nor the passphrase, which others could read in the list of processes."""
    started: list[tuple[list[str], dict[str, str]]] = []
    start = subprocess.Popen

    def seen(command: list[str], **options: Any) -> Any:
        started.append((command, options["env"]))
        return start(command, **options)

    monkeypatch.setattr("logistics_batch.child_process.subprocess.Popen", seen)
    monkeypatch.setenv("LOGISTICS_BATCH_SERVICE__API_KEY", "very-secret-key")
    message = dropped(tmp_path, "m.pgp", pysequoia.encrypt(ORDERS, recipients=[key.extract_certificate()]))
    own = PgpKey(dropped(tmp_path, "key.asc", str(key).encode()), "open sesame")
    with pytest.raises(SettingsError):  # the key has no passphrase: this one arrived
        own.decrypt(message, name="m.pgp", to=tmp_path / "plain", most_bytes=1 << 20)
    ((command, environment),) = started
    assert "open sesame" not in " ".join(command)
    assert sorted(environment) == ["LC_ALL", "MALLOC_ARENA_MAX", "POLARS_MAX_THREADS", "POLARS_SKIP_CPU_CHECK"]


def test_pgp_message_for_somebody_else_is_held(tmp_path: Path, key: pysequoia.Tsk) -> None:
    other = pysequoia.Tsk.generate("Other <other@example.com>").extract_certificate()
    unpacker = Unpacker(PgpKey(dropped(tmp_path, "key.asc", str(key).encode())).decrypt)
    with pytest.raises(FileHeld, match="was not encrypted for our key"):
        opened(tmp_path, "orders.csv.pgp", pysequoia.encrypt(ORDERS, recipients=[other]), unpacker)


def test_pgp_message_without_a_key_is_held_with_what_to_do(tmp_path: Path, key: pysequoia.Tsk) -> None:
    message = pysequoia.encrypt(ORDERS, recipients=[key.extract_certificate()])
    with pytest.raises(FileHeld, match="encrypted with PGP") as held:
        opened(tmp_path, "orders.csv.pgp", message)
    assert "[pgp]" in held.value.remedy


def test_key_that_is_none_is_a_matter_of_the_settings(tmp_path: Path, key: pysequoia.Tsk) -> None:
    unpacker = Unpacker(PgpKey(dropped(tmp_path, "key.asc", b"no key")).decrypt)
    message = pysequoia.encrypt(ORDERS, recipients=[key.extract_certificate()])
    with pytest.raises(SettingsError, match="no usable private key"):
        opened(tmp_path, "orders.csv.pgp", message, unpacker)


def _locked() -> bytes:
    content = bytearray(zipped({"orders.csv": ORDERS}))
    content[6] |= 1  # the flag of encryption, in the local header and in the directory
    content[content.find(b"PK\1\2") + 8] |= 1
    return bytes(content)


def _misplaced(place: int, field: bytes) -> bytes:
    """An archive whose directory says something impossible of its one part."""
    content = bytearray(zipped({"orders.csv": ORDERS}))
    start = content.find(b"PK\1\2") + place
    content[start : start + len(field)] = field
    return bytes(content)


def _crowded(parts: int) -> bytes:
    """An archive that names very many parts and has none of them."""
    part = b"PK\1\2" + bytes(24) + b"\1\0" + bytes(16) + b"x"
    directory = part * parts
    return b"PK\3\4" + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, len(directory), 4, 0)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.zip", zipped({}), "there is no file in it"),
        ("debris.zip", zipped({"__MACOSX/x": b"x"}), "there is no file in it"),
        ("many.zip", zipped({f"{n}.csv": b"x" for n in range(MAX_MEMBERS + 1)}), f"at most {MAX_MEMBERS}"),
        ("locked.zip", _locked(), "protected with a password"),
        ("cut.zip", zipped({"orders.csv": ORDERS})[:-30], "did not arrive completely"),
        ("cut.csv.gz", gzip.compress(ORDERS * 50, mtime=0)[:-12], "did not arrive completely"),
        ("bomb.csv.gz", gzip.compress(b"0" * (30 << 20)), "times its size"),
        ("bomb.zip", zipped({"a.csv": b"0" * (30 << 20)}), "times its size"),
        ("bomb2.zip", zipped({"b.csv": ORDERS, "a.csv": b"0" * (30 << 20)}), "times its size"),
        ("bz2.zip", zipped({"a.csv": ORDERS}, zipfile.ZIP_BZIP2), "packed in a way that is not read"),
        ("lzma.zip", zipped({"a.csv": ORDERS}, zipfile.ZIP_LZMA), "packed in a way that is not read"),
        ("peek.zip", zipped({"mimetype": ORDERS}, zipfile.ZIP_BZIP2), "packed in a way that is not read"),
        ("crowded.zip", _crowded(30_000), "names more files"),
        ("crowded.xlsx", _crowded(30_000), "names more files"),
        ("place.zip", _misplaced(42, b"\xff\xff\xff\x7f"), "did not arrive completely"),
        ("nameless.zip", _misplaced(28, b"\0\0\x0a\0"), "did not arrive completely"),
        ("reports.zip", zipped({"a.ack.json": b"{}", "a.result.csv": b"x"}), "holds no file for us"),
    ],
)
def test_containers_that_cannot_be_taken(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    with pytest.raises(FileHeld, match=words) as held:
        opened(tmp_path, name, content)
    assert held.value.message.startswith(name)
    assert held.value.remedy


def test_members_together_are_limited(tmp_path: Path) -> None:
    unpacker = Unpacker(limits=Limits(max_unpacked_bytes=3 << 20))
    content = zipped({f"{n}.csv": bytes(range(256)) * 8_000 for n in range(3)})
    with pytest.raises(FileHeld, match="larger than 3 MB"):
        opened(tmp_path, "drop.zip", content, unpacker)


@pytest.mark.parametrize("entry", ["../../etc/passwd.csv", "C:\\temp\\passwd.csv", "/abs/passwd.csv"])
def test_names_of_members_are_no_paths(tmp_path: Path, entry: str) -> None:
    assert opened(tmp_path, "drop.zip", zipped({entry: ORDERS})) == {"passwd.csv": ORDERS}


def test_a_name_that_is_too_long_keeps_its_ending(tmp_path: Path) -> None:
    (name,) = opened(tmp_path, "drop.zip", zipped({f"{'x' * 300}\n.csv": ORDERS}))
    assert name.endswith("x_.csv") or name.endswith("x.csv")
    assert len(name) < 255


def test_what_is_packed_once_more_is_held_and_the_others_are_taken(tmp_path: Path, key: pysequoia.Tsk) -> None:
    message = pysequoia.encrypt(ORDERS, recipients=[key.extract_certificate()])
    inner = {"in.zip": zipped({"a.csv": ORDERS}), "in.csv.gz": gzip.compress(ORDERS), "in.csv.pgp": message}
    crowded = {"crowded.xlsx": _crowded(30_000)}
    members = members_of(tmp_path, "drop.zip", zipped({"orders.csv": ORDERS, **inner, **crowded}))
    assert [member.name for member in members if not member.held] == ["orders.csv"]
    said = {member.name: member.held.message for member in members if member.held}
    assert said.keys() == inner.keys() | crowded.keys()
    assert all("lies in drop.zip and is packed or encrypted once more" in said[name] for name in inner)


def test_what_is_never_input_is_left_out_with_the_reason(tmp_path: Path) -> None:
    content = {"out/a.ack.json": b"{}", "out/a.result.csv": b"x", "a.csv.part": b"x", "a.result.xlsx": b"x"}
    members = members_of(tmp_path, "drop.zip", zipped({**content, "in/a.csv": ORDERS}))
    assert {member.name for member in members if not member.left_out} == {"a.csv", "a.result.xlsx"}
    assert {member.name: member.inside for member in members}["a.csv"] == "in/a.csv"
    assert "one of our acknowledgements" in members[0].left_out.reason


def test_a_member_that_lay_there_before_stays_when_another_cannot_be_taken(tmp_path: Path) -> None:
    assert opened(tmp_path, "good.zip", zipped({"a.csv": ORDERS})) == {"a.csv": ORDERS}
    with pytest.raises(FileHeld):
        Unpacker()(
            dropped(tmp_path, "bad.zip", zipped({"a.csv": ORDERS, "b.csv": b"0" * (30 << 20)})),
            name="bad.zip",
            to=tmp_path / "inside",
        )
    (kept,) = (tmp_path / "inside").iterdir()
    assert kept.read_bytes() == ORDERS


def test_a_message_that_is_larger_inside_than_it_may_be_is_not_written_out(tmp_path: Path, key: pysequoia.Tsk) -> None:
    message = pysequoia.encrypt(b"x" * (2 << 20), recipients=[key.extract_certificate()])
    decrypt = PgpKey(dropped(tmp_path, "key.asc", str(key).encode())).decrypt
    with pytest.raises(FileHeld, match="larger than 1 MB"):
        opened(tmp_path, "a.csv.pgp", message, Unpacker(decrypt, Limits(max_unpacked_bytes=1 << 20)))


def test_a_message_whose_name_does_not_tell_what_it_holds(tmp_path: Path, key: pysequoia.Tsk) -> None:
    decrypt = PgpKey(dropped(tmp_path, "key.asc", str(key).encode())).decrypt
    message = pysequoia.encrypt(ORDERS, recipients=[key.extract_certificate()])
    assert opened(tmp_path, "orders.pgp", message, Unpacker(decrypt)) == {"orders.csv": ORDERS}
    assert opened(tmp_path, "orders.csv", message, Unpacker(decrypt)) == {"orders.csv": ORDERS}


def test_damaged_containers_are_held_or_read_and_nothing_else(tmp_path: Path) -> None:
    noise = random.Random(7)
    whole = {"d.zip": zipped({f"{n}.csv": ORDERS * 20 for n in range(3)}), "o.csv.gz": gzip.compress(ORDERS * 20)}
    for round_number in range(600):
        name = ("d.zip", "o.csv.gz")[round_number % 2]
        content = bytearray(whole[name])
        for _ in range(noise.choice([1, 2, 4])):
            place = noise.randrange(len(content))
            patch = noise.choice([b"\xff\xff\xff\x7f", b"\0\0\0\0", noise.randbytes(1), b"PK\1\2"])
            content[place : place + len(patch)] = patch
        with suppress(FileHeld):
            Unpacker()(dropped(tmp_path, name, bytes(content)), name=name, to=tmp_path)
    assert not list(tmp_path.glob(".opening-*"))
