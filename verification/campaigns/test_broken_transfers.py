"""Transfers that break in every way at every block: what arrives is one whole version of the file, or nothing does."""

import hashlib
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from campaigns.scale import SEED, report, size
from support.sftp_servers import FakeSFTP, Faults, fake_access, fake_sftp

from logistics_batch.errors import StoreError
from logistics_batch.intake.stores.sftp import SftpStore
from logistics_batch.intake.stores.store import Fetched, RemoteFile

__all__ = ["fake_sftp"]

BLOCK = 32_768
TRANSFERS = size(60, 500)
KINDS = ("cut", "cut_twice", "ends_early", "lies_small", "lies_large", "grows", "shrinks", "swapped", "resume", "short")


class Transfer:
    """One file in several blocks, its versions, and what goes wrong while it is brought."""

    def __init__(self, server: FakeSFTP, dice: random.Random, kind: str) -> None:
        self.server, self.kind = server, kind
        self.path = server.root / "orders.csv"
        self.content = dice.randbytes(dice.randrange(1, 5 * BLOCK))
        self.path.write_bytes(self.content)
        os.utime(self.path, (1_000_000, 1_000_000))
        self.versions = {hashlib.sha256(self.content).hexdigest()}
        blocks = -(-len(self.content) // BLOCK)
        self.block = dice.randrange(1, blocks + 1)
        self.dice = dice

    def break_it(self) -> None:
        """Set the fault; the file has been listed already."""
        faults, length = self.server.faults, len(self.content)
        if self.kind.startswith("cut"):
            faults.cut_at_block, faults.cuts = self.block, 2 if self.kind == "cut_twice" else 1
        elif self.kind == "ends_early":
            faults.stop_at_bytes = self.dice.randrange(length)
        elif self.kind.startswith("lies"):
            faults.announced_size = self.dice.randrange(length) if self.kind == "lies_small" else length + BLOCK
        elif self.kind == "short":
            faults.short_reads = self.dice.randrange(max(1, length // 40), BLOCK)
        else:
            faults.on_block = self._meddle

    def _meddle(self, block: int) -> None:
        """Change the file once, at the chosen block; a resume trap changes it and cuts, so that halves do not match."""
        if block != self.block or len(self.versions) > 1:
            return
        other = self.dice.randbytes(len(self.content))
        if self.kind == "grows":
            other = self.content + b"more"
        elif self.kind == "shrinks":
            other = self.content[: len(self.content) // 2]
        self.versions.add(hashlib.sha256(other).hexdigest())
        if self.kind in ("swapped", "resume"):
            new = self.path.with_name("new")
            new.write_bytes(other)
            new.replace(self.path)
        else:
            self.path.write_bytes(other)
        if self.kind == "resume":
            self.server.drop_connections()


def brought(store: SftpStore, file: RemoteFile, to: Path) -> Fetched | StoreError:
    try:
        return store.fetch(file, to=to)
    except StoreError as error:
        return error


@pytest.mark.slow
def test_no_broken_transfer_is_taken_for_a_file(fake_sftp: FakeSFTP, tmp_path: Path) -> None:
    dice = random.Random(SEED)
    counts: Counter[str] = Counter()
    for number in range(TRANSFERS):
        kind = KINDS[number % len(KINDS)]
        transfer = Transfer(fake_sftp, dice, kind)
        store = SftpStore(fake_access(fake_sftp))
        listed = store.list("/")
        transfer.break_it()
        to = tmp_path / "arrived"
        outcome = brought(store, listed[0], to)
        fake_sftp.faults = Faults()
        if isinstance(outcome, Fetched):
            digest = hashlib.sha256(to.read_bytes()).hexdigest()
            assert (digest, outcome.sha256) == (digest, digest), (number, kind)
            assert digest in transfer.versions, (number, kind)
            assert (
                kind in ("cut", "short", "lies_large", "lies_small")
                or digest == hashlib.sha256(transfer.content).hexdigest()
            ), (number, kind)
        else:
            assert not to.exists(), (number, kind)
        counts[f"{kind} {'arrived' if isinstance(outcome, Fetched) else 'refused'}"] += 1
        assert [path.name for path in tmp_path.glob("arrived*")] in ([], ["arrived"]), (number, kind)
        now = store.list("/")[0]
        whole = brought(store, now, to)  # the next run takes it as it lies there then
        assert isinstance(whole, Fetched), (number, kind, whole)
        assert to.read_bytes() == transfer.path.read_bytes()
        to.unlink()
        store.close()
    for must in ("ends_early arrived", "grows arrived", "shrinks arrived", "cut_twice arrived"):
        assert must not in counts, counts
    assert counts["cut arrived"] == TRANSFERS // len(KINDS)
    report("broken transfers", transfers=TRANSFERS, **{name.replace(" ", "_"): n for name, n in sorted(counts.items())})
