"""The interpreter: a mapping file and the text of a sheet in, documents and issues out. It opens nothing.

Here stands what loads a mapping and explains the language. What applies it to sheets (`whole_file`, `legible`) and what
drafts one (`suggest`) is imported from its own module, so that whoever only loads a mapping does not pay for it.
"""

from logistics_batch.mapping.fields.values.verbs import Verb, vocabulary
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.loading import hints_of, load_mapping
from logistics_batch.mapping.spec.model import MappingSpec, schema_json

__all__ = ["Mapping", "MappingSpec", "RunValues", "Verb", "hints_of", "load_mapping", "schema_json", "vocabulary"]
