"""The workspace's mapping files as people write them: read, tried on a sample, kept with a golden example beside."""

import hashlib
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from logistics_batch.errors import Finding, SpecificationError, UsageError
from logistics_batch.flows.files.receive import ReceivedFile
from logistics_batch.flows.mappings.check_mapping import DATE, Bench, Tried, golden_of, try_example
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import held_as_mistake
from logistics_batch.flows.push.preview import preview_files
from logistics_batch.intake.names import printable
from logistics_batch.mapping import Mapping
from logistics_batch.model.report import FileReport

MOST_ROWS: Final = 50_000
MOST_EXAMPLE_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,5}")


@dataclass(frozen=True)
class MappingFiles:
    """The folder `mappings`. loader: for a name how its text loads; what it gives can be pickled."""

    folder: Path
    loader: Callable[[str], Callable[[str], Mapping]]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def text(self, name: str) -> str | None:
        """What a mapping's file says; None if there is none of that name. Raises SpecificationError: it is no text."""
        try:
            return self._path(name).read_bytes().decode()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise SpecificationError([Finding(f"mappings/{name}.yaml", 0, 0, "It cannot be read.")]) from error

    def save(self, name: str, text: str, *, replaces: str) -> None:
        """Write a mapping. replaces: the digest of what stands there, "" for nothing.

        Raises UsageError: it stands otherwise there by now, or the folder cannot be written.
        """
        path = self._path(name)
        with self.lock:
            if digest_of(self.text(name)) != replaces:
                raise UsageError(f"mappings/{path.name} was changed since it was shown.", remedy="Look at it again.")
            beside = path.with_name(f".{path.name}.new")
            try:
                beside.write_text(text, encoding="utf-8", newline="\n")
                beside.replace(path)
            except OSError as error:
                with suppress(OSError):
                    beside.unlink(missing_ok=True)
                raise UsageError(f"mappings/{path.name} cannot be written: {error.strerror}.") from error

    def sample_of(self, name: str) -> Path | None:
        """The input of a mapping's golden example, if it has one."""
        found = sorted(self._example(name).glob("input.*"))
        return found[0] if len(found) == 1 and found[0].is_file() else None

    def try_example_of(self, parts: Parts, name: str, mapping: Mapping) -> Tried | None:
        """What `mapping test` would say of the example if the mapping were this one; None if there is no example."""
        if self.sample_of(name) is None:
            return None
        today = parts.clock.now().date()
        bench = Bench(_Always(mapping), self.folder / "examples", parts.policy.timezone, today)
        with held_as_mistake():
            return parts.limited(try_example, about=name, returns=(Tried,))(bench, name)

    def keep_example(self, parts: Parts, name: str, mapping: Mapping, *, sample: tuple[str, Path]) -> None:
        """Write the golden example of a mapping anew: a sample, by its name, and what comes of it today.

        Raises UsageError: the sample is too large for that, or the folder cannot be written.
        """
        suffix, source = PurePosixPath(sample[0]).suffix.casefold(), sample[1]
        if source.stat().st_size > MOST_EXAMPLE_BYTES or not _SUFFIX.fullmatch(suffix):
            raise UsageError("The sample is too large for an example.", remedy="Keep a few of its rows by hand.")
        today, folder = parts.clock.now().date(), self._example(name)
        with held_as_mistake():
            made = parts.limited(golden_of, about=name)(
                source, mapping, name=f"input{suffix}", day=today, timezone=parts.policy.timezone
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("input.*"):
                old.unlink()
            (folder / f"input{suffix}").write_bytes(source.read_bytes())
            (folder / DATE).write_text(f"{today}\n", encoding="utf-8")
            for file, lines in made.items():
                (folder / file).write_text("".join(lines), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"The example cannot be written: {error.strerror}.") from error

    def _path(self, name: str) -> Path:
        """Where a mapping's file lies, or would lie. Raises UsageError for what is no plain name of a new file."""
        path = self.folder / f"{name}.yaml"
        if path not in self.folder.glob("*.yaml") and not _NAME.fullmatch(name):
            raise UsageError(
                "This is no name for a mapping.", remedy="Write small letters, digits, - and _, as in kaveri_orders."
            )
        return path

    def _example(self, name: str) -> Path:
        return self.folder / "examples" / self._path(name).stem


@dataclass(frozen=True, slots=True)
class _Always:
    """Loads the same mapping under each name."""

    mapping: Mapping

    def __call__(self, _name: str) -> Mapping:
        return self.mapping


def tried(parts: Parts, mapping: Mapping, path: Path, *, name: str) -> FileReport:
    """What would become of each row of a sample; nothing is written or called.

    Raises UsageError for more rows than are tried, and for a file that cannot be read.
    """
    today = parts.clock.now().date()
    with held_as_mistake():
        (report,) = preview_files(parts, [ReceivedFile(path, name)], mapping, business_date=today, job="studio").files
    if report.rows_read > MOST_ROWS:
        raise UsageError(
            f"{printable(name)} has {report.rows_read:,} rows; up to {MOST_ROWS:,} are tried here.",
            remedy="Take a part of them as the sample.",
        )
    return report


def digest_of(text: str | None) -> str:
    """What tells one text from another; "" for none."""
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
