"""What lies where a job's files are dropped and was not read yet."""

from logistics_batch.errors import FileHeld, FileUnstable, FileVanished
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.stores.readiness import ReadyRule, judge_listings
from logistics_batch.intake.stores.store import FileStore, RemoteFile
from logistics_batch.ledger import digest_of_names, identity_of
from logistics_batch.model.job import PushJob
from logistics_batch.operate.expectations import Lying
from logistics_batch.scratch import scratch_folder


def lying_files(parts: Parts, job: PushJob) -> list[Lying]:
    """The files of a job that lie at its source, but for those that were read before and stayed there.

    Raises StoreError or UsageError if the source cannot be looked at.
    """
    ready = job.source.ready
    rule = ReadyRule(ready.unchanged_for, ready.poll_every_seconds, ready.done_file)
    store = parts.open_store(job.source.place)
    try:
        listing = store.list(job.source.path)
        found = judge_listings([listing] * rule.unchanged_for, rule, job.source.pattern)
        files = [(file, "") for file in found.ready] + [(file, why.reason) for file, why in found.waiting]
        old = parts.ledger.files.sizes_at(job.name) if files else set()
        return [
            Lying(file.name, identity_of(file.path, file.size, file.modified), why)
            for file, why in files
            if (digest_of_names(file.path), file.size) not in old or not _came_before(parts, store, job, file)
        ]
    finally:
        store.close()


def _came_before(parts: Parts, store: FileStore, job: PushJob, file: RemoteFile) -> bool:
    """Name and size are those of an earlier file, so its bytes have to tell."""
    with scratch_folder() as folder:
        try:
            fetched = store.fetch(file, to=folder / "file")
        except (FileHeld, FileUnstable):
            return False
        except FileVanished:
            return True
    return parts.ledger.files.was_read(job.name, fetched.sha256)
