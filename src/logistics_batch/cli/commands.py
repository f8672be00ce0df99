"""Every command of the tool: where it lives, and its line in `--help`. Importing this imports none of them."""

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """module: below logistics_batch.cli. attribute: the click command in it. line: what it does, for people."""

    module: str
    attribute: str
    line: str


COMMANDS: dict[str, CommandEntry] = {
    "demo": CommandEntry("demo", "demo", "The whole nightly loop on embedded parts."),
    "init": CommandEntry("init", "init", "Make a new workspace: settings, mappings, jobs."),
    "push": CommandEntry("push", "push", "Send one file by hand."),
    "run": CommandEntry("run", "run", "Run one job now."),
    "schedule": CommandEntry("schedule", "schedule", "Run the jobs by their schedules, until stopped."),
    "settle": CommandEntry("settle", "settle", "Find out what became of calls without an answer."),
    "held": CommandEntry("held", "held", "What waits for a person, and deciding it."),
    "retry": CommandEntry("retry", "retry", "Send again what was refused or not sent yet."),
    "mapping": CommandEntry("mapping", "mapping", "Check mapping files and see what they make of a file."),
    "reconcile": CommandEntry("reconcile", "reconcile", "Compare ASNs with the ledger and the receipts."),
    "labels": CommandEntry("labels", "labels", "Make a bundle of labels for the printer."),
    "asn": CommandEntry("asn", "asn", "Fetch ASNs."),
    "order": CommandEntry("order", "order", "Look at one order, or cancel it."),
    "webhook": CommandEntry("webhook", "webhook", "Subscribe to order events."),
    "receive": CommandEntry("receive", "receive", "Store events of orders as they come, until stopped."),
    "runs": CommandEntry("runs", "runs", "What ran, with what outcome; its reports again."),
    "ledger": CommandEntry("ledger", "ledger", "Check the memory, or write it out as records."),
    "doctor": CommandEntry("doctor", "doctor", "Check settings, servers, key, mappings, ledger, disk and clock."),
    "sandbox": CommandEntry("sandbox", "sandbox", "A local service and SFTP server to try things on."),
}
