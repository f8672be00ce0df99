"""Archives: zip, gzip and PGP, with what people and attackers put into them."""

import gzip
import io
import zipfile
from pathlib import Path

import pysequoia
import pytest

from logistics_batch.errors import FileHeld, SettingsError
from logistics_batch.intake.containers import MAX_MEMBERS, Unpacker
from logistics_batch.intake.guards import Limits
from logistics_batch.intake.pgp import PgpKey

ORDERS = b"Order No,Qty\nA-1,2\n"


def dropped(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def opened(folder: Path, name: str, content: bytes, unpacker: Unpacker | None = None) -> dict[str, bytes]:
    inside = folder / "inside"
    inside.mkdir(exist_ok=True)
    members = (unpacker or Unpacker())(dropped(folder, name, content), name=name, to=inside)
    assert sorted(inside.iterdir()) == sorted({member.path for member in members}), "nothing else is left behind"
    return {member.name: member.path.read_bytes() for member in members}


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


def test_gzip(tmp_path: Path) -> None:
    assert opened(tmp_path, "orders.csv.gz", gzip.compress(ORDERS)) == {"orders.csv": ORDERS}


@pytest.mark.parametrize("name", ["orders.csv", "orders.xlsx"])
def test_ordinary_files_are_no_containers(tmp_path: Path, name: str) -> None:
    workbook = Path(__file__).parents[2] / "sample_data" / "orders_standard_blr.xlsx"
    assert opened(tmp_path, name, ORDERS if name.endswith("csv") else workbook.read_bytes()) == {}


@pytest.fixture(scope="module")
def key() -> pysequoia.Tsk:
    return pysequoia.Tsk.generate("Bhiwandi <wms@example.com>")


@pytest.mark.parametrize("armour", [True, False], ids=["armour", "binary"])
def test_pgp_message_with_an_archive_in_it(tmp_path: Path, key: pysequoia.Tsk, armour: bool) -> None:
    plain = zipped({"orders.csv": ORDERS})
    message = pysequoia.encrypt(plain, recipients=[key.extract_certificate()], armor=armour)
    unpacker = Unpacker(PgpKey(dropped(tmp_path, "key.asc", str(key).encode())).decrypt)
    inside = tmp_path / "inside"
    inside.mkdir()
    (member,) = unpacker(dropped(tmp_path, "orders.zip.pgp", message), name="orders.zip.pgp", to=inside)
    assert (member.name, member.path.read_bytes()) == ("orders.csv", ORDERS)


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
    ],
)
def test_containers_that_cannot_be_taken(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    with pytest.raises(FileHeld, match=words) as held:
        opened(tmp_path, name, content)
    assert held.value.message.startswith(name)
    assert held.value.remedy
    assert not list((tmp_path / "inside").iterdir())


def test_members_together_are_limited(tmp_path: Path) -> None:
    unpacker = Unpacker(limits=Limits(max_unpacked_bytes=3 << 20))
    content = zipped({f"{n}.csv": bytes(range(256)) * 8_000 for n in range(3)})
    with pytest.raises(FileHeld, match="larger than 3 MB"):
        opened(tmp_path, "drop.zip", content, unpacker)


@pytest.mark.parametrize("entry", ["../../etc/passwd.csv", "C:\\temp\\passwd.csv", "/abs/passwd.csv"])
def test_names_of_members_are_no_paths(tmp_path: Path, entry: str) -> None:
    assert opened(tmp_path, "drop.zip", zipped({entry: ORDERS})) == {"passwd.csv": ORDERS}
