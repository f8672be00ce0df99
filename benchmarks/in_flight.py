"""Takes a file of orders into a workspace's ledger, claims every one for sending at once, and dies by kill -9.

What a machine that stops in the middle of a large run leaves behind, and worse: `python in_flight.py WORKSPACE FILE`.
"""

import sys
from pathlib import Path

from logistics_batch.crash_points import arm
from logistics_batch.flows.files.receive import ReceivedFile, arrival_of
from logistics_batch.flows.push.push import sending_mapping
from logistics_batch.wiring import Need, Workspace


def main(folder: Path, file: Path) -> None:
    """Plan, claim, die."""
    with Workspace(folder).parts(Need()) as parts, parts.ledger.sending("push"):
        now = parts.clock.now()
        day = now.date()
        run = f"{now:%Y%m%d-%H%M%S}-dead"
        parts.ledger.runs.start(run, job="push", kind="push", business_date=day.isoformat(), now=now.isoformat())
        rules = sending_mapping(parts.mapping("orders"))
        parts.ledger.planning.plan_file(run, arrival_of(parts, ReceivedFile(file, file.name), rules, business_date=day))
        arm("intent.after_commit")
        parts.ledger.attempts.step(
            outcomes=[],
            claim=parts.ledger.documents.stored(parts.ledger.documents.planned_of(run)["id"]),
            run=run,
            now=now.isoformat(),
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
