"""The site has every page, nothing on it leads nowhere or elsewhere, and a broken link ends its making."""

import shutil
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from docs.pages import PAGES, ROOT
from support.makefile import make

pytestmark = [pytest.mark.slow, pytest.mark.real]


@dataclass
class Page(HTMLParser):
    """What a page links to or loads, and its anchors."""

    links: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_credit = tag == "a" and (value or "").startswith("https://")  # of the makers, at the foot of each page
            if name in ("href", "src") and value and not is_credit:
                self.links.add(value)
            elif name == "id" and value:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the generator and what it makes; the site of this checkout lies in it."""
    folder = tmp_path_factory.mktemp("site")
    made = make("site", f"WRITER={folder / 'writer'}", f"DIST={folder}", PIP_NO_COMPILE="1")
    assert (made.returncode, made.stdout) == (0, f"{folder}/site/index.html\n"), made.stderr
    return folder


def test_every_page_is_there_and_nothing_leads_nowhere(place: Path) -> None:
    site = place / "site"
    pages = {path: Page() for path in site.rglob("*.html")}
    for path, page in pages.items():
        page.feed(path.read_text(encoding="utf-8"))
    assert {site / path.relative_to(ROOT).with_suffix(".html") for path in PAGES} <= pages.keys()
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            there = (path.parent / target.partition("?")[0]).resolve() if target else path
            if not there.is_file() or (anchor and anchor not in pages[there].anchors):
                wrong.append(f"{path.relative_to(site)}: {link}")
    assert wrong == []


def test_what_leads_nowhere_is_an_error(place: Path, tmp_path: Path) -> None:
    for name in ("Makefile", "requirements-site.lock", "docs/site/conf.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    (tmp_path / "README.md").write_text("# One\n\n[list](docs/README.md)\n")
    (tmp_path / "docs/two.md").write_text("# Two\n")
    listed = "# Pages\n\n**Know:** [two](two.md) [part](two.md#two)\n\n"
    broken = ["[page](three.md)", "[anchor](two.md#four)", "![picture](five.png)", "[file](six.txt)"]
    arguments = ("-C", str(tmp_path), "site", f"WRITER={place / 'writer'}", f"DIST={tmp_path / 'dist'}")
    for text, named in (("", []), (" ".join(broken), ["three.md", "four", "five.png", "six.txt"])):
        (tmp_path / "docs/README.md").write_text(listed + text)
        made = make(*arguments)
        assert (made.returncode != 0) == bool(text), made.stderr
        assert [name for name in named if name not in made.stderr] == []
