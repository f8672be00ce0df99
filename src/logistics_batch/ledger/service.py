"""What is kept about the service of an account: what test orders verified, and when its next call may leave."""

import json
import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, select, text

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, dump, entry, named_for, put_entry
from logistics_batch.ledger.schema import meta

_WORDS_FOR_TAKEN = re.compile(r"\*|already|exist|duplicat|unique|taken|in use|used|repeated", re.IGNORECASE)
_SOUNDS_TAKEN = re.compile(r"\b(already|duplicated?|taken|in use|not unique|must be unique)\b", re.IGNORECASE)
_AWB_NUMBER = re.compile(r"\bSH-\w+")  # API §1
_PATIENCE_SECONDS = 2.0
_LOOKS_AT_CLOCKS = 10
_CLOCKS_READ_IN_SECONDS = 0.0005
_NEXT_SPACINGS = 1.2  # behind a turn: the next one, which nobody has; clocks differ a trifle
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
    """One rate for an account over all processes and machines that share the ledger: the next turn is one row of it.

    Short transactions of their own.
    """

    def take_turns(
        self,
        count: int,
        *,
        spacing_seconds: float,
        ahead_seconds: float,
        lead_seconds: float = 0.0,
        instead_of: float = -math.inf,
    ) -> tuple[float, bool]:
        """The moment of the next turn (monotonic), and whether it and those behind it were taken: if it comes so soon.

        lead_seconds: no turn comes before, and so much later may one come that is taken. instead_of: a turn that was
        missed; it is given back, unless somebody has one behind it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            now, here, next_at = self._times(connection)
            missed = instead_of - here + now
            if next_at <= missed + _NEXT_SPACINGS * spacing_seconds:
                next_at = missed
            first = max(next_at, now + lead_seconds)
            taken = first - now <= ahead_seconds + lead_seconds
            if taken:
                self._set(connection, first + count * spacing_seconds)
        return here + first - now, taken

    def hold_turns(self, seconds: float) -> None:
        """Give nobody a turn for so long: the service asked for it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            now, _, next_at = self._times(connection)
            self._set(connection, max(next_at, now + seconds))

    def _times(self, connection: Connection) -> tuple[float, float, float]:
        """Now, by one clock for all and by this machine's monotonic one, and when the next turn comes."""
        name = self._name()
        connection.execute(insert_into(connection, meta).values(name=name, value="0").on_conflict_do_nothing())
        stored = connection.execute(select(meta.c.value).where(meta.c.name == name).with_for_update()).scalar_one()
        now, here = _now(connection)
        next_at = float(stored)
        return now, here, next_at if next_at - now < _LONGEST_HOLD_SECONDS else now

    def _set(self, connection: Connection, next_at: float) -> None:
        connection.execute(meta.update().where(meta.c.name == self._name()).values(value=repr(next_at)))

    def _name(self) -> str:
        return named_for("pace", self.account)


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
