"""Documents of other addresses of the service than that of the settings, which may be mistyped or names of one."""

from sqlalchemy import case, func, select

from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.records import StoredDocument, select_documents
from logistics_batch.ledger.schema import document
from logistics_batch.model.document_state import OPEN, UNANSWERED


class Addresses(Repository):
    """The addresses that documents belong to; everything here only reads."""

    def is_new(self) -> bool:
        """Whether nothing was ever planned for the address of the settings."""
        return not self._exists(select(document.c.id).where(document.c.account == self.account))

    def others(self) -> dict[str, tuple[int, int]]:
        """For each other address that documents belong to: how many, and how many of them are open."""
        is_open = func.sum(case((document.c.state.in_(OPEN), 1), else_=0))
        query = select(document.c.account, func.count(), is_open).where(document.c.account != self.account)
        found = self._rows(query.group_by(document.c.account).order_by(document.c.account))
        return {account: (int(count), int(still_open)) for account, count, still_open in found}

    def in_use(self) -> set[str]:
        """The addresses at which something was accepted: these were not mistyped."""
        accepted = select(document.c.account).where(document.c.state == "accepted")
        return set(self._column(accepted.distinct()))

    def left(self) -> list[StoredDocument]:
        """Documents for other addresses that are planned or held, oldest first; none of which something may exist."""
        waits = document.c.state.in_(("planned", "held")) & (document.c.may_exist == 0)
        query = select_documents().where(document.c.account != self.account, waits)
        return self._values(StoredDocument, query.order_by(document.c.id))

    def sent(self) -> dict[str, int]:
        """How many documents were sent to each other address, or may exist there."""
        sent = document.c.state.in_(("accepted", "refused", *UNANSWERED)) | (document.c.may_exist == 1)
        query = select(document.c.account, func.count()).where(document.c.account != self.account, sent)
        found = self._rows(query.group_by(document.c.account).order_by(document.c.account))
        return {account: int(count) for account, count in found}
