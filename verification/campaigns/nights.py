"""A night's work for campaigns: jobs, files with many documents, runs until nothing is left, and the verdict.

The judge is the sandbox's journal, which another process wrote; what it says is compared with the answers that lie
where clerks fetch them, row by row, with what is listed for a person, and with the intents that were written down.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace

from campaigns.ledgers import OutsideLedger
from support.commands import Finished, Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, asn_lines, order_lines

JOB = """\
kind: push
mapping: {kind}
source:
  folder: .
  path: /inbound/{kind}
  pattern: ["*.csv"]
  ready: {{unchanged_for: 2, poll_every: 10ms}}
  archive: /archive/{kind}
results: {{path: /results, formats: [csv]}}
"""
KINDS = ("orders", "asns")
EFFECTS = {"orders": ("order.created", "reference_number"), "asns": ("asn.created", "invoice_number")}
LINES = {"orders": 1, "asns": 2}  # rows of one document
ACCEPTED = ("accepted", "unchanged")


@dataclass(frozen=True)
class Night:
    """Files of orders or of ASNs in the inbox of a workspace, and the job that sends them."""

    workspace: Workspace
    kind: str
    references: tuple[str, ...]
    files: tuple[str, ...]

    def arrive(self, *, at_most: int = 1_000_000) -> None:
        """Let files of the queue arrive until so many lie in the inbox."""
        inbox, queue = (self.workspace.root / name / self.kind for name in ("inbound", "queue"))
        lying = len(list(inbox.glob("*.csv")))
        for path in sorted(queue.glob("*.csv"))[: max(0, at_most - lying)]:
            path.rename(inbox / path.name)

    def run(self, forker: Forker, *, seconds: float = 600) -> Finished:
        """Run the job to its end."""
        return forker.run(self.workspace, "run", self.kind, seconds=seconds)


def night(
    workspace: Workspace, kind: str, *, documents: int, in_each: int = 50, later: bool = False, mark: str = ""
) -> Night:
    """So many documents, `in_each` in a file.

    later: the files lie in a queue until they `arrive`. mark: what references begin with, to tell nights apart.
    """
    folder = "queue" if later else "inbound"
    (workspace.root / "inbound" / kind).mkdir(parents=True, exist_ok=True)
    workspace.job(kind, JOB.format(kind=kind))
    references = [f"{mark}{kind[0].upper()}-{number:05d}" for number in range(1, documents + 1)]
    lines = order_lines if kind == "orders" else asn_lines
    files = []
    for start in range(0, documents, in_each):
        files.append(f"{mark}{kind}-{start // in_each:04d}")
        workspace.drop(f"{files[-1]}.csv", lines(references[start : start + in_each]), folder=f"{folder}/{kind}")
    return Night(workspace, kind, tuple(references), tuple(files))


def drain(forker: Forker, nights: Sequence[Night], *, rounds: int = 8) -> None:
    """As operators would: each job again until it has sent all, then what is still in doubt, then the answers."""
    for each in nights:
        for _ in range(rounds):
            if each.run(forker).code in (0, 3, 4):
                break
    forker.run(nights[0].workspace, "settle", "--wait", seconds=900)


@dataclass(frozen=True)
class Verdict:
    """What the journal and the answers say together; the service refuses nothing in these nights.

    lost: neither created nor listed. doubled: created more than once. false_yes: answered as accepted, not created.
    false_no: answered as refused. unanswered: a row is in no result file, or is still pending or in doubt, or rows of
    one document disagree. unwritten: sent more often than intents to send it are written down. misnumbered: answered
    with an AWB number that the service did not give to this order. unfound: held though it is there, where the service
    can be asked.
    """

    fates: Counter[str]
    created: int
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    false_yes: list[str] = field(default_factory=list)
    false_no: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    unwritten: list[str] = field(default_factory=list)
    misnumbered: list[str] = field(default_factory=list)
    unfound: list[str] = field(default_factory=list)

    @property
    def faults(self) -> dict[str, list[str]]:
        """What must not be: empty if all is well."""
        kinds = [each.name for each in fields(self) if each.name not in ("fates", "created")]
        return {name: found for name in kinds if (found := getattr(self, name))}

    def figures(self) -> dict[str, object]:
        """For the report."""
        return {
            "fates": dict(self.fates),
            "created": self.created,
            "faults": {k: len(v) for k, v in self.faults.items()},
        }


def created(sandbox: RunningSandbox, kind: str, *, after: int = 0) -> Counter[str]:
    """How often the service created each reference, by the lines of its journal after that number."""
    effect, name = EFFECTS[kind]
    return Counter(line[name] for line in sandbox.committed(effect) if line["seq"] > after)


def received(sandbox: RunningSandbox, kind: str, *, after: int = 0) -> Counter[str]:
    """How often the service was asked to create each, whatever it did."""
    lines = [line for line in sandbox.received(f"{kind[:-1]}.create") if line["seq"] > after]
    return Counter(line["body"][EFFECTS[kind][1]] for line in lines)


def held(forker: Forker, workspace: Workspace) -> set[str]:
    """What waits for a person."""
    return {line["reference"] for line in json.loads(forker.run(workspace, "held", "list", "--json").out)["held"]}


def what_is_held_is_listed(forker: Forker, each: Night) -> bool:
    """Whether the answers call held what a person finds listed, no more and no less."""
    told = {reference for reference, fate in answers(each).items() if fate == "held"}
    return held(forker, each.workspace) & set(each.references) == told


def answers(each: Night) -> dict[str, str]:
    """The fate of each document in the result files; rows that disagree, or that are not as many as its own, are shown
    as such."""
    found: dict[str, list[str]] = {}
    for line in _rows(each):
        found.setdefault(line["reference_number"], []).append(line["fate"])
    return {reference: _told(fates, LINES[each.kind]) for reference, fates in found.items()}


def _rows(each: Night) -> Iterator[dict[str, str]]:
    for name in each.files:
        path = each.workspace.root / f"results/{name}.result.csv"
        if path.exists():
            yield from csv.DictReader(io.StringIO(path.read_text("utf-8-sig")))


def _told(fates: list[str], lines: int) -> str:
    together = "+".join(sorted(set(fates)))
    return together if len(fates) == lines else f"{together} in {len(fates)} rows of {lines}"


def false_so_far(each: Night, sandbox: RunningSandbox) -> list[str]:
    """What the answers that lie there now, in the middle of the night, call accepted though it is not, or refused."""
    told, times = answers(each), created(sandbox, each.kind)
    return [one for one, fate in told.items() if fate == "refused" or (fate in ACCEPTED and not times[one])]


def judge(each: Night, sandbox: RunningSandbox, *, url: str = "", readable: bool = True) -> Verdict:
    """The verdict on one night. url: of a ledger in PostgreSQL. readable: the service shows what it has when asked."""
    verdict = verdict_on(each, created(sandbox, each.kind), readable=readable)
    asked, written = received(sandbox, each.kind), OutsideLedger(each.workspace, url).attempts()
    given = {(line["reference_number"], line["awb_number"]) for line in sandbox.committed("order.created")}
    told = {(line["reference_number"], line["awb_number"]) for line in _rows(each) if line["awb_number"]}
    return replace(
        verdict,
        unwritten=[one for one in each.references if asked[one] > written[one]],
        misnumbered=[f"{one}: {number}" for one, number in sorted(told - given) if readable],
    )


def verdict_on(each: Night, all_created: Counter[str], *, readable: bool = True) -> Verdict:
    """The verdict on the answers of one night, when the service created so much."""
    told = answers(each)
    times = Counter({one: n for one, n in all_created.items() if one in set(each.references)})
    return Verdict(
        Counter(told.get(reference, "no answer") for reference in each.references),
        len(times),
        lost=[one for one in each.references if not times[one] and told.get(one) != "held"],
        doubled=[one for one, n in times.items() if n > 1],
        false_yes=[one for one in each.references if told.get(one) in ACCEPTED and not times[one]],
        false_no=[one for one in each.references if told.get(one) == "refused"],
        unanswered=[one for one in each.references if told.get(one) not in (*ACCEPTED, "held", "refused")],
        unfound=[one for one in each.references if readable and told.get(one) == "held" and times[one]],
    )
