"""Help pages as files, one a command: importing click alone takes longer than bare Python needs to start.

`python -m logistics_batch.cli.write_pages` renders them from the commands; a test finds any page that no longer fits.
"""

import os

FOLDER = os.path.join(os.path.dirname(__file__), "help_pages")  # noqa: PTH118, PTH120  # pathlib is slow to import
_HELP = ("--help", "-h")


def page_for(arguments: list[str]) -> str | None:
    """The help page that the arguments ask for; None if they ask for something else, or there is no such page.

    >>> page_for(["run", "orders-nightly"]) is None
    True
    """
    if not arguments or arguments[-1] not in _HELP:
        return None
    words = arguments[:-1]
    if not all(word.replace("-", "a").isalpha() and not word.startswith("-") for word in words):
        return None
    try:
        with open(os.path.join(FOLDER, page_name(words)), encoding="utf-8") as page:  # noqa: PTH118, PTH123
            return page.read()
    except OSError:
        return None


def page_name(words: list[str]) -> str:
    """The file of a command's page.

    >>> page_name(["schedule", "list"])
    'logistics-batch.schedule.list.txt'
    """
    return ".".join(["logistics-batch", *words, "txt"])
