"""How Sphinx makes the site: of the pages as they stand, in the order of docs/README.md."""

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "logistics-batch"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "SECURITY.md", "docs/**.md", "benchmarks/README.md"]
suppress_warnings = ["misc.highlighting_failure"]  # a language without colours
nitpicky = True
smartquotes = False  # the text stays as it is
myst_heading_anchors = 4
# The pages are plain Markdown.
myst_disable_syntax = ["myst_block_break", "myst_line_comment", "myst_role", "myst_target"]
html_theme = "furo"
html_title = project
html_copy_source = False
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """The sidebar comes from the list of pages."""
    app.connect("source-read", _navigation)


def _navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Add to the front page, for the sidebar alone, the lists of docs/README.md under their words."""
    if page != root_doc:
        return
    index = Path(app.srcdir, "docs/README.md").read_text(encoding="utf-8")
    source[0] += "\n```{toctree}\n:hidden:\n\ndocs/README\n```\n"
    _, *parts = re.split(r"^(?:\*\*(?=\w+:\*\*)|## )(\w+)", index, flags=re.MULTILINE)
    for caption, part in zip(parts[::2], parts[1::2], strict=True):
        pages = "\n".join(f"/docs/{link}" for link in re.findall(r"\]\(([^)#]+\.md)\)", part))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"
