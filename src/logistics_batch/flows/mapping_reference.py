"""Write the mapping reference: `python -m logistics_batch.flows.mapping_reference`."""

from pathlib import Path

from logistics_batch.mapping import reference_text

PAGE = Path("docs/mapping-reference.md")


def write_reference(page: Path) -> Path:
    """Write the page anew from the program."""
    page.write_text(reference_text(), encoding="utf-8")
    return page


if __name__ == "__main__":
    write_reference(PAGE)
