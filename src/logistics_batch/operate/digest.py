"""The daily digest: what ran, what is open, what was noticed, in a few lines; also on days without trouble."""

from collections import Counter
from datetime import datetime, timedelta

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NewNotice, StoredRun
from logistics_batch.model.report import Fate
from logistics_batch.operate.figures import document_fates

KIND = "digest"
_RUNS_AT_MOST = 2000


def note_digest(parts: Parts, *, now: datetime) -> None:
    """Write down the digest of the last 24 hours, as something to be told once."""
    key = f"|digest|{now.date()}"
    parts.ledger.notices.note(
        NewNotice(key, KIND, "", f"Digest of {now:%Y-%m-%d}", digest_text(parts, now=now), now.date().isoformat()),
        now=now.isoformat(),
    )
    parts.ledger.notices.over(key, "", now=now.isoformat())


def digest_text(parts: Parts, *, now: datetime) -> str:
    """A line for each job that ran, then what is open, then what was noticed."""
    since = now - timedelta(days=1)
    ran = [
        run for run in parts.ledger.runs.latest(limit=_RUNS_AT_MOST) if datetime.fromisoformat(run.started_at) > since
    ]
    lines = ["Ran since yesterday:" if ran else "Nothing ran since yesterday."]
    for job in sorted({run.job for run in ran}):
        lines.append(f"  {job}: {_of_job([run for run in ran if run.job == job])}")
    fates = document_fates(parts.ledger)
    doubts, held = fates[Fate.IN_DOUBT], fates[Fate.HELD]
    if doubts or held:
        lines.append(f"Open: {doubts} in doubt (`logistics-batch settle`), {held} held (`logistics-batch held list`).")
    unsent = sum(each.documents for each in parts.ledger.documents.never_sent())
    if unsent:
        lines.append(f"Unsent: {unsent} documents of runs that stopped early (`logistics-batch doctor` names them).")
    whole, left = (sum(counts.values()) for counts in parts.ledger.files.counts_of_waiting_files())
    if whole or left:
        lines.append(f"Files: {whole} held as a whole (`logistics-batch held list`), {left} left where they lie.")
    noticed = [each for each in parts.ledger.notices.notices_since(since.isoformat()) if each.kind != KIND]
    lasting = {each.key: each for each in parts.ledger.notices.open()} | {
        each.key: each for each in noticed if not each.over_at
    }
    lines += [f"Lasts since {each.since[:16]}: {each.title}" for each in lasting.values()]
    lines += [f"Over: {each.title}" for each in noticed if each.over_at]
    if not lasting and not (doubts or held or unsent or whole or left):
        lines.append("Nothing is open.")
    return "\n".join(lines)


def _of_job(runs: list[StoredRun]) -> str:
    total: Counter[str] = Counter()
    for run in runs:
        total.update({name: count for name, count in run.summary.items() if isinstance(count, int)})
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in total.items() if count)
    ended = Counter(run.exit_code for run in runs)
    codes = ", ".join(f"exit {code}" + (f" ({n})" if n > 1 else "") for code, n in ended.items() if code is not None)
    return "; ".join(part for part in (f"{len(runs)} runs" if len(runs) > 1 else "1 run", codes, counts) if part)
