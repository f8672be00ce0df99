"""What test orders showed counts only for the API key that made them: another one may be another account's."""

from logistics_batch.api.key_print import is_print_of
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import ServiceFacts


def facts_of(parts: Parts) -> ServiceFacts | None:
    """What was verified with the API key of today; None if nothing was."""
    facts = parts.ledger.facts.verified()
    return facts if facts is not None and is_of_this_key(parts, facts) else None


def is_of_this_key(parts: Parts, facts: ServiceFacts) -> bool:
    """Whether facts were seen with the API key of today."""
    return is_print_of(facts.key_print, parts.client.settings)
