"""A mapping file is loaded: every complaint about it is made here, before any row is read."""

import csv
import hashlib
import io
from collections.abc import Callable
from pathlib import PurePath

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.mapping.lint import open_questions, raw_findings, said, structure_findings
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.spec.model import LookupFile, MappingSpec
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.texts import complaint, on_one_line
from logistics_batch.model.document import Operation
from logistics_batch.specification import read_yaml


def load_mapping(
    text: str, *, path: str, read_lookup: Callable[[str], str], updates_asns: Callable[[], bool] = lambda: False
) -> Mapping:
    """Load a mapping file.

    text: its content. path: its name, for findings. read_lookup: gives the text of a lookup file named in it; raises
    OSError or one of our errors where it cannot. updates_asns: whether the settings say what identifies an ASN that is
    updated (API §4.3 does not). Raises SpecificationError with every complaint.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))

    def read_table(lookup: LookupFile) -> dict[str, str]:
        try:
            content = read_lookup(lookup.file)
        except (OSError, UnicodeError, LogisticsBatchError) as error:
            raise complaint("lookup_file", file=lookup.file, error=str(error)) from error
        digest.update(b"\0" + content.encode("utf-8", "surrogatepass"))
        return _table(lookup, content)

    document = read_yaml(text, path=path)
    data = document.root.plain()
    if asked := list(open_questions(data)):  # a draft: its mistakes may well go with the answers
        raise document.refused([*document.findings, *document.findings_at(asked)])
    early = document.findings_at(raw_findings(data))
    spec, findings = document.fitted(MappingSpec, context={"read_table": read_table})
    if spec is not None:
        early += document.findings_at(structure_findings(spec))
        if spec.operation is Operation.ASN_UPDATE and not updates_asns():  # somebody vouches for how it is found
            early += document.findings_at([said(("operation",), "asn_update")])
    if spec is None or findings or early:
        raise document.refused([*findings, *early])
    return Mapping(name=PurePath(path).stem, digest=digest.hexdigest(), spec=spec)


def _table(lookup: LookupFile, content: str) -> dict[str, str]:
    """The two columns of a lookup file; the same value with two answers is refused."""
    rows = [row for row in csv.reader(io.StringIO(content.removeprefix("\ufeff"), newline="")) if any(row)]
    header = [ColumnName.of(cell).identity for cell in rows[0]] if rows else []
    places: list[int] = []
    for name in (lookup.from_, lookup.to):
        if header.count(ColumnName.of(name).identity) != 1:
            raise complaint("lookup_column", file=lookup.file, name=name)
        places.append(header.index(ColumnName.of(name).identity))
    table: dict[str, str] = {}
    for row in rows[1:]:
        value, answer = (row[place].strip() if place < len(row) else "" for place in places)
        on_one_line(answer)
        if value and table.setdefault(value, answer) != answer:
            raise complaint("lookup_twice", file=lookup.file, name=value)
    return table
