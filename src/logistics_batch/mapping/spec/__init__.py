"""What a mapping file may say: its models, the targets of each operation, names of columns, words that are known."""

from logistics_batch.mapping.spec.model import FieldSpec, MappingSpec, SheetSpec, schema_json
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import Form, Targets, form_of, targets_of

__all__ = [
    "ColumnName",
    "FieldSpec",
    "Form",
    "MappingSpec",
    "SheetSpec",
    "Targets",
    "form_of",
    "schema_json",
    "targets_of",
]
