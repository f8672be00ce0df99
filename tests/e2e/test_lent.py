"""What a run lends to a document, as its business date, makes the same rows of another night no other content."""

from support.sandbox_process import RunningSandbox
from support.workspace import ASNS_MAPPING, Workspace, asn_lines

MAPPING = ASNS_MAPPING.replace("lines:", "  delivery_date: {run: business_date}\nlines:")
JOB = """
kind: push
mapping: inward
source: {folder: inbound, path: /, pattern: "*.csv", ready: {unchanged_for: 2, poll_every: 10ms}, archive: /archive}
"""


def test_the_same_rows_of_another_night_are_unchanged_and_others_are_not(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("inward", MAPPING)
    workspace.job("nightly", JOB)
    notices = asn_lines(["INV-1", "INV-2"])
    workspace.drop("monday.csv", notices)
    assert workspace.run("run", "nightly", "--business-date", "2026-11-02").code == 0
    workspace.drop("tuesday.csv", notices + "\n" + asn_lines(["INV-3"]).split("\n", 1)[1])
    again = workspace.run("run", "nightly", "--business-date", "2026-11-03", "--json")
    counts = {fate: number for fate, number in again.json["files"][0]["counts"].items() if number}
    assert counts == {"unchanged": 4, "accepted": 2, "skipped": 1}
    assert len(sandbox.committed("asn.created")) == 3
    workspace.drop("wednesday.csv", notices.replace(",10\n", ",11\n", 1))
    changed = workspace.run("run", "nightly", "--business-date", "2026-11-04", "--json")
    counts = {fate: number for fate, number in changed.json["files"][0]["counts"].items() if number}
    assert counts == {"held": 2, "unchanged": 2}
    assert len(sandbox.committed("asn.created")) == 3
