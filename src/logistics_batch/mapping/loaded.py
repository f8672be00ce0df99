"""A loaded mapping: what it says, and the columns that it speaks of; and what a run lends to it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from logistics_batch.mapping.spec.model import ABOVE, ChecksSpec, MappingSpec
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import RECEIPT_TARGETS, Targets, targets_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import ReadOptions


@dataclass(frozen=True, slots=True)
class RunValues:
    """What a run lends to its mapping: the file's name, the business date, the service's time zone (IANA name)."""

    file_name: str
    business_date: date
    timezone: str


@dataclass(frozen=True)
class Mapping:
    """A loaded mapping file.

    name: the file's stem. digest: sha256 of its text and of the lookup files it uses. spec: what it says.
    """

    name: str
    digest: str
    spec: MappingSpec

    def with_spec(self, **changes: object) -> "Mapping":
        """The mapping with some parts of what it says changed."""
        return replace(self, spec=self.spec.model_copy(update=changes))

    @property
    def operation(self) -> Operation:
        """What its rows become."""
        return self.spec.operation

    @property
    def read_options(self) -> ReadOptions:
        """How its files are read."""
        sheet, lines = self.spec.sheet, self.spec.lines_sheet
        key = [*self.key_in_table, *(lines.key if lines else ())]
        of_lines = {ColumnName.of(name).identity for names in self.columns_of_lines for name in names}
        of_lines_filled = [name for name in sheet.fill_down if ColumnName.of(name).identity in of_lines]
        return ReadOptions(
            name=sheet.name if lines is None else None,  # of two sheets, mapping tells which is which
            delimiter=sheet.delimiter,
            encoding=sheet.encoding,
            hidden_rows=sheet.hidden_rows,
            max_embedded_newlines=sheet.max_embedded_newlines,
            needs_above=sheet.header != "auto" or sheet.header_rows > 1 or bool(self.above),
            filled_down=tuple(name for each in sheet.fill_down for name in self.names_of(each)),
            key=tuple(name for each in key for name in self.names_of(each)),
            told_apart_by=tuple(name for each in of_lines_filled for name in self.names_of(each)),
        )

    @property
    def keep_names(self) -> tuple[str, ...]:
        """The columns of `MappedFile.keep` beside `row`."""
        targets = RECEIPT_TARGETS if self.operation is Operation.RECEIPT_READ else ()
        return (*targets, *(name for name in self.spec.keep if name not in targets))

    @cached_property
    def targets(self) -> Targets:
        """What the operation can be given."""
        return targets_of(self.operation)

    def names_of(self, name: str) -> tuple[str, ...]:
        """All names of a column: a field's first alias stands for all of its aliases."""
        wanted = ColumnName.of(name).identity
        found = {name: None}
        for field in self.spec.everything.values():
            for names in (field.from_, field.first, field.above):
                if names and ColumnName.of(names[0]).identity == wanted:
                    found.update(dict.fromkeys(names))
        return tuple(found)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Every column that the mapping speaks of, each by all its names; ignored ones are not among them."""
        found: dict[tuple[str, ...], None] = {}
        for field in self.spec.everything.values():
            found.update(dict.fromkeys(tuple(names) for names in field.columns))
            found.update(dict.fromkeys(self.names_of(name) for name in field.when or ()))
        sheet, checks = self.spec.sheet, self.spec.checks
        spoken = [*self.spec.key, *sheet.fill_down, *sheet.skip_rows_where, *sheet.only_rows_where, *_checked(checks)]
        found.update(dict.fromkeys(self.names_of(name) for name in spoken))
        return tuple(found)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Every name of every column that the mapping speaks of."""
        return tuple(dict.fromkeys(name for group in self.groups for name in group))

    @cached_property
    def above(self) -> tuple[tuple[str, ...], ...]:
        """The values from above the table, each by all the names under which it is a column."""
        return tuple(group for group in self.groups if is_above(group))

    @property
    def key_in_table(self) -> list[str]:
        """The columns of the table that say which document a row belongs to."""
        return [name for name in self.spec.key if not is_above([name])]

    @cached_property
    def columns_of_lines(self) -> tuple[tuple[str, ...], ...]:
        """Every column that may differ from row to row of a document: also what is added up or checked."""
        found = [self.names_of(name) for name in _checked(self.spec.checks)]
        for place, field in self.spec.everything.items():
            if field.source == "sum" or not place.startswith("fields."):
                found += map(tuple, field.columns)
            if not place.startswith("fields."):
                found += map(self.names_of, field.when or ())
        return tuple(found)

    @property
    def key_is_above(self) -> bool:
        """Whether none does, for that stands above the table."""
        return bool(self.spec.key) and not self.key_in_table

    @cached_property
    def required(self) -> tuple[tuple[str, ...], ...]:
        """The columns without which no row can be a header; one name of each group is enough."""
        return tuple(group for group in self.demanded if not is_above(group))

    @cached_property
    def demanded(self) -> tuple[tuple[str, ...], ...]:
        """What a file must have: the columns of its header, and values from above the table."""
        found = {self.names_of(name): None for name in self.spec.key}
        for place, field in self.spec.everything.items():
            # A sum or product that lacks a column would be another amount.
            if self.is_required(place) or field.source == "sum" or field.times or field.cartons:
                together = [[name for names in field.columns for name in names]]  # of joined ones any is enough
                groups = together if field.source == "join" else field.columns
                found.update((tuple(names), None) for names in groups)
        for group in self.targets.either:
            given = [self.spec.fields[name] for name in group if name in self.spec.fields]
            if given and not any(field.is_always_filled for field in given):
                found[tuple(name for field in given for names in field.columns for name in names)] = None
        demanded = [*self.spec.sheet.only_rows_where, *_checked(self.spec.checks)]
        found.update(dict.fromkeys(self.names_of(name) for name in demanded))
        return tuple(found)

    def is_required(self, place: str) -> bool:
        """Whether a cell of this field must be filled: the mapping or the service says so."""
        return self.spec.everything[place].required or is_demanded(self.spec, place)


def is_above(names: Iterable[str]) -> bool:
    """Whether some of the names are those of a value from above the table."""
    return any(name.startswith(ABOVE) for name in names)


def is_demanded(spec: MappingSpec, place: str) -> bool:
    """Whether the service demands a value of a field, and the mapping has none that is always there.

    Of names of which one is enough, as `supplier` and `supplier_name`, the only one that is mapped is demanded.
    """
    targets = targets_of(spec.operation)
    demanded = {*targets.required, "kits.name", "kit_lines.item_name"}
    for group in targets.either:
        given = [f"fields.{name}" for name in group if name in spec.fields]
        demanded.update(given if len(given) == 1 else ())
    return place in demanded and not spec.everything[place].is_always_filled


def _checked(checks: ChecksSpec) -> list[str]:
    """The columns that the opt-in checks name."""
    named: list[str] = []
    for control in checks.control_total:
        named += [control.column, *control.row_where, *control.also_rows_where]
    if checks.line_total:
        named += [checks.line_total.quantity, checks.line_total.price, checks.line_total.total]
    return named
