"""What a person sees while something goes on."""

from io import StringIO

from rich.console import Console

from logistics_batch.cli.progress import TerminalProgress


def test_a_long_note_is_cut_and_the_counts_stay() -> None:
    shown = TerminalProgress()
    shown.start("Sending", 100_000)
    shown.advance(12_345, note="waits until 21:14:05: 5 calls in a row had no trustworthy answer.")
    console = Console(file=StringIO(), width=80, force_terminal=False)
    console.print(shown._bars.get_renderable())
    shown.done()
    (line,) = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert "12345/100000" in line
    assert "waits until 21:14:05" in line
