"""A night's work for campaigns: jobs, files with many documents, runs until nothing is left, and the verdict.

The judge is the sandbox's journal, which another process wrote; what it says is compared with the answers that lie
where clerks fetch them, row by row, and with what is listed for a person.
"""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

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
SENT_UNSEEN = ("held", "in_doubt")


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
    """What the journal and the answers say together.

    lost: neither created nor listed. doubled: created more than once. false_yes: answered as accepted, not created.
    false_no: answered as refused, invalid or skipped, but created. unanswered: no row in any result file, or one that
    is still pending or in doubt.
    """

    fates: Counter[str]
    created: int
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    false_yes: list[str] = field(default_factory=list)
    false_no: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)

    @property
    def faults(self) -> dict[str, list[str]]:
        """What must not be: empty if all is well."""
        named = ("lost", "doubled", "false_yes", "false_no", "unanswered")
        return {name: found for name in named if (found := getattr(self, name))}

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


def answers(each: Night) -> dict[str, str]:
    """The fate of each document in the result files; two that disagree are both shown."""
    found: dict[str, set[str]] = {}
    for name in each.files:
        path = each.workspace.root / f"results/{name}.result.csv"
        if path.exists():
            for line in csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))):
                found.setdefault(line["reference_number"], set()).add(line["fate"])
    return {reference: "+".join(sorted(fates)) for reference, fates in found.items()}


def judge(each: Night, sandbox: RunningSandbox) -> Verdict:
    """The verdict on one night."""
    return verdict_on(each, created(sandbox, each.kind))


def verdict_on(each: Night, all_created: Counter[str]) -> Verdict:
    """The verdict on one night, when the service created so much."""
    told = answers(each)
    times = Counter({one: n for one, n in all_created.items() if one in set(each.references)})
    fates = Counter(told.get(reference, "no answer") for reference in each.references)
    yes, open_ = ("accepted", "unchanged"), ("held",)
    final = (*yes, *open_, "refused")
    return Verdict(
        fates,
        len(times),
        lost=[one for one in each.references if not times[one] and told.get(one) not in (*open_, "refused")],
        doubled=[one for one, n in times.items() if n > 1],
        false_yes=[one for one in each.references if told.get(one) in yes and not times[one]],
        false_no=[one for one in each.references if told.get(one) == "refused" and times[one]],
        unanswered=[one for one in each.references if told.get(one) not in final],
    )
