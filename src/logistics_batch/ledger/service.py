"""What is kept about the service of an account: what test orders verified, and when its next call may leave."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, select, text

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, dump, entry, named_for, put_entry
from logistics_batch.ledger.schema import meta
from logistics_batch.model.turns import Allowed, Turns

_WORDS_FOR_TAKEN = re.compile(r"\*|already|exist|duplicat|unique|taken|in use|used|repeated", re.IGNORECASE)
_SOUNDS_TAKEN = re.compile(r"\b(already|duplicated?|taken|in use|not unique|must be unique)\b", re.IGNORECASE)
_AWB_NUMBER = re.compile(r"\bSH-\w+")  # API §1
_PATIENCE_SECONDS = 2.0
_LOOKS_AT_CLOCKS = 10
_CLOCKS_READ_IN_SECONDS = 0.0005
_DIGITS = 4  # of a moment in seconds
_LONGEST_HOLD_SECONDS = 20 * 60.0  # what lies further ahead was written by a clock that is wrong


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """What test orders showed, and when.

    unique: a second create of a live reference makes no second order, also at the same moment (API §8.4). duplicate:
    how it is answered: "refused", "repeated" (the first answer again) or "unclear". duplicate_form: the refusal's
    words, with the reference taken out; "" if other refusals have the same. found_by: by what an order is found (API
    §4.5): "reference_number", "awb_number", "order_id". key_print: a mark of the API key that was used.
    """

    at: str
    unique: bool
    duplicate: str
    duplicate_form: str
    found_by: tuple[str, ...]
    key_print: str

    def says_taken(self, message: str, reference: str) -> bool:
        """Whether a refusal says that the reference belongs to an order that is there.

        Words that fit any refusal (“could not be created”) do not say it, whatever test orders showed.
        """
        form = form_of(message, reference)
        return bool(self.duplicate_form) and form == self.duplicate_form and bool(_WORDS_FOR_TAKEN.search(form))


@dataclass(frozen=True, slots=True)
class TestOrder:
    """A reference under which test orders were made to see what the service does, and their AWB numbers so far."""

    reference: str
    at: str
    awb_numbers: tuple[str, ...] = ()


def sounds_taken(message: str) -> bool:
    """Whether a refusal may say that the reference is taken, where no test orders showed the service's words for that.

    >>> sounds_taken("Reference number already exists"), sounds_taken("Pincode does not exist")
    (True, False)
    """
    return bool(_SOUNDS_TAKEN.search(message))


def form_of(message: str, reference: str) -> str:
    """A message without what belongs to one order only.

    >>> form_of("Reference A-1 already has AWB SH-22T70ZX", "A-1")
    'Reference * already has AWB SH-*'
    """
    return _AWB_NUMBER.sub("SH-*", re.sub(rf"(?<!\w){re.escape(reference)}(?!\w)", "*", message))


class Facts(Repository):
    """Kept for each account, and only changed by verifying anew."""

    def verified(self) -> ServiceFacts | None:
        """What was verified last, None if nothing was."""
        with self._read() as connection:
            found = entry(connection, named_for("facts", self.account))
        if found is None:
            return None
        told = json.loads(found)
        return ServiceFacts(**told | {"found_by": tuple(told["found_by"])})

    def keep(self, facts: ServiceFacts) -> None:
        """Remember what was verified."""
        with self._write() as connection:
            put_entry(connection, named_for("facts", self.account), dump(asdict(facts)))

    def test_orders(self) -> list[TestOrder]:
        """The test orders of this account that may still be there."""
        with self._read() as connection:
            found = json.loads(entry(connection, named_for("test-orders", self.account)) or "{}")
        return [TestOrder(reference, told["at"], tuple(told["awb_numbers"])) for reference, told in found.items()]

    def note_test_order(self, reference: str, *, at: str, awb_number: str = "") -> None:
        """Before the first byte under a reference, and again for each AWB number that comes back."""
        with self._changed_test_orders() as orders:
            told = orders.setdefault(reference, {"at": at, "awb_numbers": []})
            told["awb_numbers"] = sorted({*told["awb_numbers"], awb_number} - {""})

    def forget_test_order(self, reference: str) -> None:
        """All of it is cancelled, or certainly never was."""
        with self._changed_test_orders() as orders:
            orders.pop(reference, None)

    @contextmanager
    def _changed_test_orders(self) -> Iterator[dict[str, Any]]:
        """The test orders by reference, for a change that is kept."""
        name = named_for("test-orders", self.account)
        with self._write() as connection:
            orders = json.loads(entry(connection, name, lock=True) or "{}")
            yield orders
            put_entry(connection, name, dump(orders))


class Pace(Repository):
    """One rate for an account over all processes and machines that share the ledger: its last turns are one row.

    Short transactions of their own; a power cut, which lasts longer than turns do, may take them back. Moments are
    those of this machine's monotonic clock.
    """

    def say_rate(self, rate: str) -> None:
        """Who opens a run says what rate it keeps, for those that help."""
        with self._write(counts=False) as connection:
            put_entry(connection, named_for("rate", self.account), rate)

    def said_rate(self) -> str:
        """The rate that was said last, "" if none was."""
        with self._read(one_statement=True) as connection:
            return entry(connection, named_for("rate", self.account)) or ""

    def take_turns(
        self,
        count: int,
        allowed: Allowed,
        *,
        ahead_seconds: float,
        lead_seconds: float = 0.0,
        unused: Sequence[float] = (),
    ) -> tuple[list[float], float]:
        """The next turns, if the first comes so soon, and the moment of the one behind them; else none, and the first.

        lead_seconds, unused: see `Turns.take`.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False, durable=False) as connection:
            now, here, turns = self._turns(connection)
            behind = here - now
            taken, next_at = turns.take(
                count,
                allowed,
                now=now,
                ahead_seconds=ahead_seconds,
                lead_seconds=lead_seconds,
                unused=[turn - behind for turn in unused],
            )
            if taken or unused:
                self._keep(connection, turns)
        return [turn + behind for turn in taken], next_at + behind

    def hold_turns(self, seconds: float) -> None:
        """Give nobody a turn for so long: the service asked for it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False, durable=False) as connection:
            now, _, turns = self._turns(connection)
            turns.hold(now + seconds)
            self._keep(connection, turns)

    def _turns(self, connection: Connection) -> tuple[float, float, Turns]:
        """Now, by one clock for all and by this machine's monotonic one, and the turns by the former."""
        name = named_for("pace", self.account)
        connection.execute(insert_into(connection, meta).values(name=name, value="{}").on_conflict_do_nothing())
        stored = connection.execute(select(meta.c.value).where(meta.c.name == name).with_for_update()).scalar_one()
        now, here = _now(connection)
        told = json.loads(stored)
        latest = now + _LONGEST_HOLD_SECONDS
        held_until = float(told.get("held_until", 0))
        given = (turn for turn in told.get("given", ()) if turn < latest)
        return now, here, Turns(given, held_until=held_until if held_until < latest else 0.0)

    def _keep(self, connection: Connection, turns: Turns) -> None:
        told = {"held_until": max(0.0, turns.held_until), "given": [round(turn, _DIGITS) for turn in turns.given]}
        mine = meta.update().where(meta.c.name == named_for("pace", self.account))
        connection.execute(mine.values(value=json.dumps(told)))


def _now(connection: Connection) -> tuple[float, float]:
    """The same moment by one clock for all that share the ledger, and by this machine's monotonic one."""
    if connection.dialect.name != "sqlite":
        now = float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
        return now, time.monotonic()
    for _ in range(_LOOKS_AT_CLOCKS):
        before, now, after = time.monotonic(), time.time(), time.monotonic()
        if after - before < _CLOCKS_READ_IN_SECONDS:
            break  # else this thread was held up between the clocks
    return now, before
