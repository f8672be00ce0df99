"""Issues with words of a test's own."""

from logistics_batch.model.issue import Issue, Place


def issue(row: int, rule: str, *, reason: str, remedy: str, **place: str) -> Issue:
    """An issue of a rule, `field|rule`, that no catalogue knows: its words are its values."""
    field, _, code = rule.rpartition("|")
    return Issue.of(code, Place(row=row, field=field, **place), reason=reason, remedy=remedy)
