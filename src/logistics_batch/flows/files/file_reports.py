"""The reports of a run's files, of which there may be thousands."""

from collections.abc import Callable, Sequence
from typing import overload

from logistics_batch.model.report import FileReport

_FEW = 200  # files


class FileReports(Sequence[FileReport]):
    """The reports of some files in order, each read when it is looked at; those of a few files are then kept.

    So what is known of every row of thousands of files is never held at once. read: gives the report of a file by its
    number in the ledger.
    """

    def __init__(self, read: Callable[[int], FileReport], numbers: Sequence[int]) -> None:
        self._read = read
        self._numbers = tuple(numbers)
        self._kept: dict[int, FileReport] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> FileReport: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FileReport, ...]: ...
    def __getitem__(self, index: int | slice) -> FileReport | tuple[FileReport, ...]:
        if isinstance(index, slice):
            return tuple(self._report(number) for number in self._numbers[index])
        return self._report(self._numbers[index])

    def _report(self, number: int) -> FileReport:
        if number in self._kept:
            return self._kept[number]
        report = self._read(number)
        if len(self) <= _FEW:
            self._kept[number] = report
        return report
