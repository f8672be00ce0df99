"""Intents before the first byte, outcomes after the last: every change of a document's state goes through here."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import func, select

from logistics_batch.crash_points import crash_point
from logistics_batch.ledger.connection import LedgerConnection, Repository
from logistics_batch.ledger.documents.documents import due_of
from logistics_batch.ledger.documents.recording import (
    Intent,
    StateConflict,
    add_decisions,
    add_evidence,
    claim_all,
    in_state,
    keep_cancelled_numbers,
    mark_stale,
    move_all,
    record_all,
)
from logistics_batch.ledger.itself.lock import require_held
from logistics_batch.ledger.lanes import LAST_ATTEMPT, Lease, helpers_send, living_helpers
from logistics_batch.ledger.records import Decided, Outcome, StoredAttempt, StoredDocument
from logistics_batch.ledger.schema import attempt, document, evidence, file
from logistics_batch.messages.reasons import WaitsFor
from logistics_batch.model.issue import Issue
from logistics_batch.processes import is_gone, this_process

_LOOKS_AT_MOST = 3  # for an accepted ASN that is not found by its marker


class Attempts(Repository):
    """Claims, outcomes, doubts and what settled them; each change is one durable transaction."""

    def __init__(self, connection: LedgerConnection) -> None:
        super().__init__(connection)
        self._claimed: dict[int, int] = {}  # the attempts that this object began, by document
        self.lock_is_held: Callable[[], bool] = lambda: True  # while this object sends
        self.lease: Lease | None = None  # while others send beside it

    def step(
        self,
        *,
        outcomes: Sequence[Outcome],
        claim: Sequence[StoredDocument],
        run: str,
        now: str,
        expected: str = "planned",
    ) -> list[Intent]:
        """Write outcomes and new intents in one durable commit; returns the intents that are ours.

        claim: documents to send next, each claimed only if it is still in state `expected`, so that two senders never
        hold the same one.
        """
        if not outcomes and not claim:
            return []
        if claim and not (self.lock_is_held() and (self.lease is None or self.lease.may_send)):
            self.step(outcomes=outcomes, claim=[], run=run, now=now)
            require_held(self.lock_is_held())
            if self.lease is not None:
                self.lease.require()
        if claim:
            crash_point("intent.before_commit")
        if outcomes:
            crash_point("outcome.before_commit")
        with self._write() as connection:
            by: dict[str, Any] = {"run_id": run, "owner": this_process()}
            if claim and self.lease is not None:
                claim = self.lease.granted(connection, claim, run=run)
                by["lease_id"] = self.lease.number
            record_all(connection, outcomes, attempts=self._claimed, now=now, expected="sending")
            intents = claim_all(connection, claim, by=by, now=now, expected=expected)
        self._claimed |= {intent.document.id: intent.n for intent in intents}
        if outcomes:
            crash_point("outcome.after_commit")
        if claim:
            crash_point("intent.after_commit")
        return intents

    def of(self, document_id: int) -> list[StoredAttempt]:
        """Every attempt to send a document, the first one first."""
        query = select(attempt).where(attempt.c.document_id == document_id)
        return self._values(StoredAttempt, query.order_by(attempt.c.n))

    def unanswered(self, numbers: Sequence[int]) -> set[int]:
        """Those of some documents that wait for the answer to the attempt that this object began."""
        query = select(document.c.id, document.c.attempts).where(document.c.state == "sending")
        found = self._rows(query.where(self._among(document.c.id, numbers)))
        return {number for number, n in found if self._claimed.get(number) == n}

    def sent_under(self, references: Collection[str], *, operation: str) -> dict[str, set[int]]:
        """By reference the documents of an operation that went out under it from here, whatever became of them."""
        columns = document.c["reference", "id", "account", "operation"]
        found: dict[str, set[int]] = {}
        # The account is compared here: in the question it makes SQLite read all documents of it.
        for reference, number, account, kind in self._rows(
            select(*columns).where(self._among(document.c.reference, references), document.c.attempts > 0)
        ):
            if (account, kind) == (self.account, operation):
                found.setdefault(reference, set()).add(number)
        return found

    def left_of(self, run: str) -> int:
        """How many documents a run has to send, or living programs are sending that help it.

        Both of one moment: what a helper could not send is planned again.
        """
        planned = select(func.count()).select_from(document).where(*due_of(self.account, run)).scalar_subquery()
        with self._read() as connection:
            return int(connection.execute(select(planned + helpers_send(connection, self.account))).scalar_one())

    def take_over(self, now: str) -> list[int]:
        """Whatever is still `sending` has lost its sender: it is in doubt. Call only while holding the sending lock.

        Not so what a living program sends that helps a run: it will say itself what became of it.

        Rule "sender_died": it certainly sends no more. "sender_lost": it may still be alive somewhere, so that nothing
        of it is ever sent again without a person; whether it is gone later says nothing about the time between.
        """
        query = (
            select(document.c.id, attempt.c.owner)
            .join(attempt, LAST_ATTEMPT)
            .where(document.c.account == self.account, document.c.state == "sending")
            .order_by(document.c.id)
        )
        if not self._exists(query):
            return []
        with self._write() as connection:
            if helpers := living_helpers(connection, self.account):
                query = query.where(attempt.c.lease_id.not_in(helpers))
            sqlite = connection.dialect.name == "sqlite"  # its lock is kept while its holder lives
            dead = {found.id: sqlite or is_gone(found.owner) is True for found in connection.execute(query)}
            for rule, gone in (("sender_died", True), ("sender_lost", False)):
                if numbers := [number for number, is_dead in dead.items() if is_dead is gone]:
                    doubt = in_state("in_doubt", Issue(rule)) | {"doubt_since": now}
                    # One that lost its lock may still finish some.
                    theirs = self._among(document.c.id, numbers) & (document.c.state == "sending")
                    mark_stale(connection, *numbers)
                    connection.execute(document.update().where(theirs).values(doubt))
        return list(dead)

    def in_doubt(self, *, run: str | None = None) -> list[StoredDocument]:
        """The documents whose outcome is not known, oldest doubt first."""
        of_run = () if run is None else (file.c.run_id == run,)
        return self._documents(document.c.state == "in_doubt", *of_run, by=(document.c.doubt_since, document.c.id))

    def unsettled(self, *, run: str | None = None) -> list[int]:
        """The numbers of what is held for a person and may be at the service, the first first."""
        of_run = () if run is None else (file.c.run_id == run,)
        wanted = document.c.account == self.account, document.c.state == "held", document.c.may_exist == 1, *of_run
        query = select(document.c.id).join(file, document.c.file_id == file.c.id).where(*wanted)
        return self._column(query.order_by(document.c.id))

    def asked_again(self, *, since: str) -> list[StoredDocument]:
        """What is held since then or later and may be settled by asking the service again, the oldest first."""
        shows = document.c.state == "held", document.c.waits_for == WaitsFor.SHOWING, document.c.doubt_since >= since
        return self._documents(*shows, by=(document.c.doubt_since, document.c.id))

    def asked_at(self, numbers: Sequence[int]) -> dict[int, str]:
        """When the service was last asked, or was to be asked, about each of some documents that it was asked about."""
        query = select(evidence.c.document_id, func.max(evidence.c.at)).where(evidence.c.kind == "check")
        among = self._among(evidence.c.document_id, numbers)
        return {each[0]: each[1] for each in self._rows(query.where(among).group_by(evidence.c.document_id))}

    def set_baseline(self, document_id: int, baseline: str) -> None:
        """Keep what the service already had under this ASN's invoice number before the first send.

        What was asked before another one sent it meanwhile says nothing any more.
        """
        unsent = document.update().where(document.c.id == document_id, document.c.state == "planned")
        self._execute(unsent.values(baseline=baseline))

    def note_check(
        self,
        document_id: int,
        *,
        at: str,
        text: str,
        counts: bool = True,
        held: Issue | None = None,
        doubt_since: str = "",
    ) -> None:
        """One more search for a document that did not settle it; `counts`: the service was really asked.

        held: what is told of one that is held since then, by the reason that it had. doubt_since: when the doubt began
        that was dated by a wrong clock.
        """
        mine = document.update().where(document.c.id == document_id)
        with self._write() as connection:
            if doubt_since:
                connection.execute(mine.where(document.c.state == "in_doubt").values(doubt_since=doubt_since))
            if held is not None:
                same = mine.where(document.c.state == "held", document.c.code == held.code)
                connection.execute(same.values({"values": held.values}))
                mark_stale(connection, document_id)
            if counts:
                connection.execute(mine.values(checks=document.c.checks + 1))
            add_evidence(connection, document_id, at=at, kind="check", text=text)

    def settle(
        self, *outcomes: Outcome, expected: str, now: str, evidence_text: str = "", decided: Decided | None = None
    ) -> bool:
        """Move documents out of `expected` by evidence or by a person's decision, all of them or none.

        False if one is no longer there.
        """
        crash_point("settle.before_commit")
        settled = [outcome.document_id for outcome in outcomes]
        try:
            with self._write() as connection:
                if decided is not None:
                    add_decisions(connection, settled, decided, at=now)
                else:
                    add_evidence(connection, *settled, at=now, kind="settled", text=evidence_text)
                move_all(connection, outcomes, expected=expected, now=now)
                keep_cancelled_numbers(connection, outcomes, account=self.account, at=now)
        except StateConflict:
            return False
        crash_point("settle.after_commit")
        return True

    def unconfirmed_asns(self, *, since: str) -> list[StoredDocument]:
        """ASNs whose acceptance was answered since then, and which were neither seen yet nor often looked for."""
        looks = select(evidence.c.document_id).where(evidence.c.kind == "unconfirmed").group_by(evidence.c.document_id)
        seen = select(evidence.c.document_id).where(evidence.c.kind == "confirmed")
        return self._documents(
            document.c.state == "accepted",
            document.c.settled_at >= since,
            document.c.operation == "asn.create",
            document.c.code == "",
            document.c.id.not_in(seen),
            document.c.id.not_in(looks.having(func.count() >= _LOOKS_AT_MOST)),
        )

    def note_confirmation(self, document_id: int, *, at: str, found: bool, text: str) -> None:
        """One more search for an accepted ASN; it stays accepted, whatever was found."""
        with self._write() as connection:
            kind = "confirmed" if found else "unconfirmed"
            add_evidence(connection, document_id, at=at, kind=kind, text=text)

    def note_duplicate(self, document_id: int, *, why: Issue, at: str) -> None:
        """Write down that the service has an accepted ASN more than once; its results have to be written again."""
        with self._write() as connection:
            told = {"code": why.code, "values": why.values}
            connection.execute(document.update().where(document.c.id == document_id).values(told))
            mark_stale(connection, document_id)
            add_evidence(connection, document_id, at=at, kind="duplicate", text=why.reason)
