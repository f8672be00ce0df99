"""The mapping files of a workspace: read, tried on a sample and on what came last, and kept with an example."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from collections.abc import Mapping as ReadOnly
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

import polars as pl

from logistics_batch.errors import Finding, LogisticsBatchError, SpecificationError, UsageError
from logistics_batch.flows.doubts.held import flat
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.files.receive import ReceivedFile
from logistics_batch.flows.mappings.check_mapping import DATE, Bench, Tried, golden_of, try_example
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import held_as_mistake
from logistics_batch.flows.push.preview import preview_files
from logistics_batch.intake.names import printable
from logistics_batch.ledger import StoredFile
from logistics_batch.mapping import Mapping
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import FATES, FileReport

MOST_ROWS: Final = 50_000
MOST_EXAMPLE_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_SUFFIX: Final = re.compile(r"\.[a-z0-9]{1,5}")
_ROWS_SHOWN, _VALUES_SHOWN = 10, 4
_NOT_KEPT: Final = "The file as it came is not kept here any more."


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


@dataclass(frozen=True, slots=True)
class Replayed:
    """A file read by both. why_not: why it could not be, in words, "" if it was.

    before, after: its rows by fate, as a run would find them now. differ: how many of them come out otherwise. rows:
    the first of these: where they stand, both fates, why, and each value of the payload that differs.
    """

    file: int
    name: str
    received_at: str
    why_not: str = ""
    before: ReadOnly[str, int] | None = None
    after: ReadOnly[str, int] | None = None
    differ: int = 0
    rows: tuple[dict[str, Any], ...] = ()


def replay(parts: Parts, files: Sequence[StoredFile], *, before: Mapping, after: Mapping) -> list[Replayed]:
    """Map each file by both, beside what the ledger knows now; nothing is written or called."""
    return [_replayed(parts, file, before=before, after=after) for file in files]


def _replayed(parts: Parts, file: StoredFile, *, before: Mapping, after: Mapping) -> Replayed:
    head = (file.id, file.name, file.received_at)
    path = kept_file(parts, file)
    if not path.exists():
        return Replayed(*head, _NOT_KEPT)
    try:
        old, new = (tried(parts, mapping, path, name=file.name) for mapping in (before, after))
    except LogisticsBatchError as error:
        return Replayed(*head, f"{error.message} {error.remedy}".strip())
    if new.reason and new.reason != old.reason:
        return Replayed(*head, f"Held as a whole: {new.reason} {new.remedy}".strip())
    both = _rows(old).join(_rows(new), on=["sheet", "row"], how="full", coalesce=True, suffix=":after")
    is_same = pl.col("fate").eq_missing(pl.col("fate:after")) & pl.col("body").eq_missing(pl.col("body:after"))
    differing = both.filter(~is_same).sort("sheet", "row")
    shown = tuple(map(_told, differing.head(_ROWS_SHOWN).iter_rows(named=True)))
    return Replayed(*head, before=_counts(old), after=_counts(new), differ=differing.height, rows=shown)


def _rows(report: FileReport) -> pl.DataFrame:
    """Each row with its fate, why, and the payload of its document."""
    causes = [(each.place.sheet or report.sheet, each.place.row, each.reason) for each in report.issues]
    schema = pl.Schema({"sheet": pl.String(), "row": FATES["row"], "why": pl.String()})
    first = pl.DataFrame(causes, schema=schema, orient="row").unique(["sheet", "row"], keep="first")
    bodies = report.documents.select(pl.col("key").alias("document"), "body").unique("document", keep="first")
    rows = report.rows.select("sheet", "row", "fate", "document", "code", "values")
    return rows.join(first, on=["sheet", "row"], how="left").join(bodies, on="document", how="left")


def _told(line: ReadOnly[str, Any]) -> dict[str, Any]:
    found = Issue(line["code:after"], values=line["values:after"]) if line["code:after"] else None
    bodies = (dict(flat(json.loads(line[name]))) if line[name] else {} for name in ("body", "body:after"))
    old, new = bodies
    differing = [
        (name, old.get(name, ""), new.get(name, "")) for name in {**old, **new} if old.get(name) != new.get(name)
    ]
    return {
        "sheet": line["sheet"],
        "row": line["row"],
        "before": line["fate"] or "",
        "after": line["fate:after"] or "",
        "why": line["why:after"] or (found.reason if found else ""),
        "differing": differing[:_VALUES_SHOWN] if old and new else [],
        "more": max(0, len(differing) - _VALUES_SHOWN) if old and new else 0,
    }


def _counts(report: FileReport) -> dict[str, int]:
    return {fate.value: count for fate, count in report.counts.items() if count}
