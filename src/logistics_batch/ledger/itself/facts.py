"""What test orders verified about the service of this account, which its document only says or leaves open."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from logistics_batch.ledger.connection import Repository, dump, entry, named_for, put_entry

_WORDS_FOR_TAKEN = re.compile(r"\*|already|exist|duplicat|unique|taken|in use|used|repeated", re.IGNORECASE)
_SOUNDS_TAKEN = re.compile(r"\b(already|duplicated?|taken|in use|not unique|must be unique)\b", re.IGNORECASE)
_AWB_NUMBER = re.compile(r"\bSH-\w+")  # API §1


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
