"""Which files of a folder are complete and meant for us, by listings alone; and whether one that came has its end.

A server cannot tell whether an upload has ended. A file counts as complete when its done-file lies beside it, or when
size and time of change were alike in as many listings as the rule wants. Times are compared with each other only, never
with a clock: a file may come from 1970 or from the future.

Names that are never input: office lock files (`~$…`), dotfiles, unfinished uploads, done-files, and of our own output
the acknowledgements (`*.ack.json`), the notes of quarantine (`*.why.txt`) and the row lists (`*.result.csv`), which
hold our columns and not the sender's. A returned workbook (`*.result.xlsx`) or a fix file (`*.fix.*`) is made to be
corrected and dropped again, so it is input like any other; only where we write our results into the very folder that is
read are they left alone, for there they would be taken at once.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from logistics_batch.intake.names import name_fault, name_matches, printable
from logistics_batch.intake.stores.store import Kind, RemoteFile, files_and_links
from logistics_batch.model.answers import names_it_answers
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import Ready

_UNFINISHED = ("*.part", "*.tmp", "*.filepart", "*.crdownload")
_NEVER_INPUT = {
    "~$*": Issue("left.lock"),
    ".*": Issue("left.dot"),
    **dict.fromkeys(_UNFINISHED[:3], Issue("left.upload")),
    _UNFINISHED[3]: Issue("left.download"),
    "*.ack.json": Issue("left.acknowledgement"),
    "*.why.txt": Issue("left.quarantine_note"),
    "*.result.csv": Issue("left.result_list"),
}
_NO_FILE = {Kind.LINK: Issue("left.link"), Kind.FOLDER: Issue("left.folder"), Kind.SPECIAL: Issue("left.special")}
_ZIP_FIRST, _ZIP_END = b"PK\x03\x04", b"PK\x05\x06"
_ZIP_END_BYTES = 22
_LONGEST_COMMENT_BYTES = 65_535
_TEXT_ENDINGS = (".csv", ".tsv", ".txt")
_LINE_ENDS = (b"\n", b"\r", b"\n\x00", b"\r\x00")  # the last two in UTF-16
_OWN_RESULTS = ("*.result.xlsx", "*.fix.xlsx")


@dataclass(frozen=True, slots=True)
class Readiness:
    """What to do with each entry of the last listing; each stands in exactly one of the three, in the listing's order.

    ready: to take now. waiting: left for a later run, with the reason. ignored: not input, with the reason.
    """

    ready: tuple[RemoteFile, ...] = ()
    waiting: tuple[tuple[RemoteFile, Issue], ...] = ()
    ignored: tuple[tuple[RemoteFile, Issue], ...] = ()


def never_input(name: str) -> Issue | None:
    """Why a file of this name is never input, wherever it comes from; None if it may be.

    >>> never_input("orders.ack.json").reason
    'it is one of our acknowledgements'
    """
    return next((why for pattern, why in _NEVER_INPUT.items() if name_matches(name, [pattern])), None)


def is_unfinished(name: str) -> bool:
    """Whether a name is that of an upload that is not over: in the end it gets another name, or it broke off.

    >>> is_unfinished("orders.csv.part")
    True
    """
    return name_matches(name, _UNFINISHED)


def finished_name(name: str) -> str:
    """The name that an unfinished upload gets in the end; of any other file its own.

    >>> finished_name("orders.csv.part"), finished_name("orders.csv")
    ('orders.csv', 'orders.csv')
    """
    while is_unfinished(name):
        name = PurePosixPath(name).stem
    return name


def judge_listings(
    listings: Sequence[Sequence[RemoteFile]],
    rule: Ready,
    patterns: Sequence[str],
    *,
    results_here: bool = False,
) -> Readiness:
    """Judge the entries of the last of some listings of one folder.

    patterns: `*` and `?`, ignoring case; none means every name. results_here: our own results are written into it.
    """
    if not listings:
        return Readiness()
    last = listings[-1]
    earlier = [{file.name: file for file in listing} for listing in listings[:-1]]
    done_names = done_files(last, rule)
    ready: list[RemoteFile] = []
    waiting: list[tuple[RemoteFile, Issue]] = []
    ignored: list[tuple[RemoteFile, Issue]] = []
    for file in last:
        if why := _not_input(file, patterns, done_names, results_here=results_here):
            ignored.append((file, why))
        elif why := _not_complete(file, rule, earlier, done_names):
            waiting.append((file, why))
        else:
            ready.append(file)
    return Readiness(tuple(ready), tuple(waiting), tuple(ignored))


def done_files(listing: Sequence[RemoteFile], rule: Ready) -> dict[str, str]:
    """The done-files that lie there, each with the file that it speaks of, which may be gone."""
    before, is_named, behind = (rule.done_file or "").partition("{name}")
    found: dict[str, str] = {}
    for name in (file.name for file in files_and_links(listing) if is_named):
        of = name.removeprefix(before).removesuffix(behind)
        if of and of != name and rule.done_name(of) == name:
            found[name] = of
    return found


def _not_input(
    file: RemoteFile, patterns: Sequence[str], done_names: Mapping[str, str], *, results_here: bool
) -> Issue | None:
    """Why an entry is not a file for us, None if it is."""
    if fault := name_fault(file.name):
        return Issue.of("left.name", fault=[fault.pair])
    if file.is_link:
        return _NO_FILE[file.kind]
    if why := never_input(file.name):
        return why
    if file.kind is not Kind.FILE:
        return _NO_FILE[file.kind]
    if results_here and name_matches(file.name, _OWN_RESULTS):
        return Issue("left.own_results")
    if file.name in done_names:
        return Issue.of("left.done_file", of=printable(done_names[file.name]))
    # An answer is a workbook whatever came, and goes where that went.
    if patterns and not any(name_matches(name, patterns) for name in (file.name, *names_it_answers(file.name))):
        return Issue.of("left.pattern", patterns=[*patterns])
    return None


def _not_complete(
    file: RemoteFile, rule: Ready, earlier: Sequence[Mapping[str, RemoteFile]], done_names: Mapping[str, str]
) -> Issue | None:
    """Why a file cannot be taken yet, None if it can."""
    if done := rule.done_name(file.name):
        return None if done in done_names else Issue.of("left.no_done_file", done=printable(done))
    needed = rule.unchanged_for - 1
    seen = [listing[file.name] for listing in earlier[len(earlier) - needed :] if file.name in listing]
    if len(seen) < needed:
        return Issue.of("left.listings", listings=rule.unchanged_for)
    if any((other.size, other.modified) != (file.size, file.modified) for other in seen):
        return Issue("left.changes")
    return None


def why_unclosed(path: Path, *, name: str) -> Issue | None:
    """Why a file may be only the beginning of what was uploaded, None if it has its end.

    A workbook or another zip archive ends with its directory's record; the last line of a text may lack its line end
    although nothing is missing. `name`: the file's own, for its ending.
    """
    size = path.stat().st_size
    if not size:
        return None
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(max(0, size - _ZIP_END_BYTES - _LONGEST_COMMENT_BYTES), os.SEEK_SET)
        tail = file.read()
    if start not in (_ZIP_FIRST, _ZIP_END):
        is_cut = name.lower().endswith(_TEXT_ENDINGS) and not tail.endswith(_LINE_ENDS)
        return Issue("left.no_line_end") if is_cut else None
    # The record that ends an archive is there with all of its comment, and nothing behind it.
    at = [found.start() for found in re.finditer(re.escape(_ZIP_END), tail)]
    lengths = (_ZIP_END_BYTES + int.from_bytes(tail[each + 20 : each + 22], "little") for each in at)
    has_end = any(each + length == len(tail) for each, length in zip(at, lengths, strict=True))
    return None if has_end else Issue("left.no_archive_end")
