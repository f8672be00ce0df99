"""What is to be said of a mapping file: what is wrong with it, what a draft asks, and what it says and need not."""

from logistics_batch.mapping.lint.defaults import restated_defaults
from logistics_batch.mapping.lint.fields import LintFinding, said
from logistics_batch.mapping.lint.names import MARK, open_questions, raw_findings
from logistics_batch.mapping.lint.structure import structure_findings

__all__ = ["MARK", "LintFinding", "open_questions", "raw_findings", "restated_defaults", "said", "structure_findings"]
