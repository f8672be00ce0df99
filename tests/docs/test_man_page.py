"""The man page is the help of the command line, and man shows it without a complaint."""

import re
import shutil
import subprocess
import tomllib

import pytest
from cli.test_help import PAGES as HELP
from docs.man_page import PAGE, man_page
from docs.pages import ROOT


def test_the_page_is_what_the_command_line_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == man_page(), "run: PYTHONPATH=.:tests python tests/docs/man_page.py"


def test_it_is_installed_where_man_looks() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["shared-data"] == {PAGE.relative_to(ROOT).as_posix(): f"share/man/man1/{PAGE.name}"}


@pytest.mark.real
def test_man_shows_every_command_and_option_of_the_help() -> None:
    man = shutil.which("man")
    if man is None:
        pytest.skip("man is not on this machine")
    done = subprocess.run(
        [man, "--warnings", "--encoding=UTF-8", "--local-file", str(PAGE)],
        env={"MANWIDTH": "100", "MANROFFOPT": "-ww", "MANPAGER": "cat", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = re.sub(r"\s+", " ", re.sub(r".\x08", "", done.stdout))
    assert [words for words in HELP if words and f" {' '.join(words)} " not in shown] == []
    options = {option for text in HELP.values() for option in re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE)}
    assert [option for option in options if option not in shown] == []
    for example in re.findall(r"Example: (.+)", "\n".join(" ".join(text.split()) for text in HELP.values())):
        assert example in shown
