"""What became of a document, and of its rows."""

from typing import Final

from logistics_batch.messages.entry import Entry, Level

DOCUMENTS: Final[dict[str, Entry]] = {
    # Of a document that goes its way: users see no rule.
    ".planned": Entry("Not sent yet: it goes out with the next run.", level=Level.NOTE),
    ".sending": Entry("Sent, and no answer has been recorded yet.", level=Level.WARNING),
    ".no_awb_number": Entry("Accepted; the AWB number is not known.", level=Level.NOTE),
    ".would_go_out": Entry("It would go out.", level=Level.NOTE),
    ".would_ask_label": Entry("Its label would be asked for.", level=Level.NOTE),
    ".would_reconcile": Entry("It would be reconciled.", level=Level.NOTE),
    "unchanged": Entry("Accepted earlier, in run {run}; not sent again.", level=Level.NOTE),
}
