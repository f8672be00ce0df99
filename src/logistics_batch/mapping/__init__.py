"""The interpreter: a mapping file and the text of a sheet in, documents and issues out. It opens nothing."""

from logistics_batch.mapping.changes import unnamed_items, with_item_ids
from logistics_batch.mapping.legible import legible_rows
from logistics_batch.mapping.lines_sheet import both_sheets
from logistics_batch.mapping.lint_defaults import restated_defaults
from logistics_batch.mapping.loading import Mapping, load_mapping
from logistics_batch.mapping.spec import schema_json
from logistics_batch.mapping.table import RunValues
from logistics_batch.mapping.update_bodies import Accepted, CannotUpdate, asn_update, order_update
from logistics_batch.mapping.verbs import Verb, vocabulary
from logistics_batch.mapping.whole_file import apply_mapping

__all__ = [
    "Accepted",
    "CannotUpdate",
    "Mapping",
    "RunValues",
    "Verb",
    "apply_mapping",
    "asn_update",
    "both_sheets",
    "legible_rows",
    "load_mapping",
    "order_update",
    "restated_defaults",
    "schema_json",
    "unnamed_items",
    "vocabulary",
    "with_item_ids",
]
