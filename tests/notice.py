"""Whose work a server installs beside ours, and under which licence: the file NOTICE.

PYTHONPATH=tests python -m notice     writes it anew from the packages that are installed here
"""

import re
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTICE = ROOT / "NOTICE"
_HEAD = """\
logistics-batch is under the licence in LICENSE. With it come, and beside it a server installs, works of others:

Fonts within the package
  Noto Sans, in the scripts of India and Latin     SIL Open Font License 1.1, in paper/fonts/OFL.txt

Packages of requirements-runtime.lock, each under the licence that it brings
"""
_SHORT = (  # what packages write in many ways
    (r"BSD(?: License| license.*)", "BSD"),
    (r"Apache License 2\.0", "Apache-2.0"),
    (r"MIT License", "MIT"),
    (r"Copyright \(c\) .* Ritchie Vink", "MIT"),
)


def licence_of(package: str) -> str:
    """The licence that an installed package names for itself; "" if it names none."""
    told = metadata.metadata(package)
    classified = [each.split(" :: ")[-1] for each in told.get_all("Classifier") or [] if each.startswith("License")]
    found = told.get("License-Expression") or next(iter((told.get("License") or "").splitlines()), "")
    found = found or ", ".join(classified) or _by_its_text(package)
    return next((short for pattern, short in _SHORT if re.fullmatch(pattern, found)), found)


def _by_its_text(package: str) -> str:
    """The licence of whoever brings its text alone; "" if nobody here knows the text."""
    files = metadata.files(package) or []
    texts = [each.read_text() for each in files if each.name == "LICENSE" and ".dist-info" in str(each)]
    return "Zlib" if any("The origin of this software must not be misrepresented" in text for text in texts) else ""


def packages() -> list[str]:
    """The names of the packages that a server installs."""
    lock = (ROOT / "requirements-runtime.lock").read_text(encoding="utf-8")
    return re.findall(r"^([a-z0-9][\w.-]*)==", lock, re.MULTILINE)


def text() -> str:
    """What the file says."""
    return _HEAD + "".join(f"  {name:<48} {licence_of(name)}\n" for name in packages())


if __name__ == "__main__":
    NOTICE.write_text(text(), encoding="utf-8")
