"""Writes every hostile file into a folder and reads each in a process of its own, which tells what that took.

`python verification/hostile/make_hostile.py FOLDER` writes the files and prints the table; with `--json` it prints one
line for each file instead. The files are the same bytes each time.
"""

import json
import os
import resource
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from hostile import archives, other_formats, texts, workbooks
from hostile.catalogue import FILES, Hostile

from logistics_batch.errors import FileHeld
from logistics_batch.intake.containers import Member, Unpacker
from logistics_batch.intake.names import printable
from logistics_batch.intake.pgp import PgpKey
from logistics_batch.intake.readers import read_file
from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping

CPU_SECONDS = 2
MEMORY_BYTES = 256 << 20
MAKERS = (archives, other_formats, texts, workbooks)
MAPPING = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Name, required: true}
  customer_mobile: {from: Phone, read: mobile, required: true}
  delivery_address: {from: Address, required: true}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer, required: true}
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading one file took and gave. signal: what ended the process, 0 if it ended by itself.

    held: what its sender is told if the file as a whole is refused; issues: of its rows otherwise; sent: its documents.
    """

    name: str
    cpu_seconds: float
    peak_bytes: int
    signal: int = 0
    held: str = ""
    remedy: str = ""
    issues: list[str] = field(default_factory=list)
    sent: int = 0
    crash: str = ""

    @property
    def told(self) -> str:
        """What the sender is told; "" if that is nothing."""
        sent = f"{self.sent} order{'s' * (self.sent > 1)} read" if self.sent else ""
        return self.held or "; ".join(self.issues) or sent


def make_all(folder: Path, only: Collection[str] = FILES) -> dict[str, Path]:
    """The files of the list, each under its own name."""
    made = {}
    for one in (FILES[name] for name in FILES if name in only):
        made[one.name] = folder / one.name
        one.make(made[one.name])
    return made


def read_apart(one: Hostile, path: Path, mapping: Mapping, unpack: Unpacker) -> Reading:
    """Read a file in a copy of this process, which the kernel ends at the limit of processor time."""
    end, start = os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        with os.fdopen(start, "w") as answer:
            json.dump(_answer(one, path, mapping, unpack), answer)
        os._exit(0)
    os.close(start)
    with os.fdopen(end) as answer:
        said = answer.read()
    _, status, used = os.wait4(child, 0)
    signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    told = json.loads(said) if said else {}
    return Reading(one.name, used.ru_utime + used.ru_stime, used.ru_maxrss << 10, signal, **told)


def _answer(one: Hostile, path: Path, mapping: Mapping, unpack: Unpacker) -> dict[str, object]:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        with TemporaryDirectory() as inside:
            members = unpack(path, name=one.file_name, to=Path(inside)) or (Member(path, one.file_name),)
            for member in members:
                sheets = read_file(member.path, name=member.name, options=mapping.read_options)
                values = RunValues(file_name=member.name, business_date=date(2026, 11, 3), timezone="Asia/Kolkata")
                mapped = apply_mapping(mapping, sheets, run_values=values)
                issues = [
                    f"{issue.cell} {printable(issue.value)} {issue.reason} {issue.fix}" for issue in mapped.issues
                ]
                return {"issues": issues[:20], "sent": len(mapped.documents)}
    except FileHeld as held:
        return {"held": held.message, "remedy": held.remedy}
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"crash": f"{type(error).__name__}: {error}"[:300]}
    return {}


def read_all(folder: Path) -> list[Reading]:
    """Make and read everything."""
    made = make_all(folder)
    unpack = Unpacker(PgpKey(_some_key(folder)).decrypt)
    mapping = load_mapping(MAPPING, path="hostile.yaml", read_lookup=str)
    return [read_apart(one, made[one.name], mapping, unpack) for one in FILES.values()]


def _some_key(folder: Path) -> Path:
    import pysequoia

    key = folder / "key.asc"
    key.write_text(str(pysequoia.Tsk.generate("Bhiwandi <wms@example.com>")))
    return key


def main() -> None:
    """The command line."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    readings = read_all(folder)
    lines = [json.dumps(asdict(reading)) for reading in readings] if "--json" in sys.argv else table(readings)
    sys.stdout.write("\n".join(lines) + "\n")


def table(readings: list[Reading]) -> list[str]:
    """The readings as people read them."""
    lines = ["| file | CPU s | MB | what its sender is told |", "|---|---|---|---|"]
    for reading in readings:
        told = reading.told or reading.crash or f"signal {reading.signal}"
        lines.append(f"| {reading.name} | {reading.cpu_seconds:.2f} | {reading.peak_bytes >> 20} | {told} |")
    slowest, largest = max(one.cpu_seconds for one in readings), max(one.peak_bytes for one in readings)
    return [*lines, "", f"{len(readings)} files; at most {slowest:.2f} s and {largest >> 20} MB."]


if __name__ == "__main__":
    main()
