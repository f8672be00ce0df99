"""HTML as plain functions: every text is escaped, unless it is :class:`Html` already."""

from collections.abc import Iterable
from html import escape

LONGEST_TEXT = 120
_VOID = frozenset({"input", "meta", "link", "br", "rect"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Node = Html | str | int | float | None


def tag(name: str, /, *content: Node | Iterable[Node], **attributes: str | int | bool | None) -> Html:
    """An element; ``class_`` is the attribute class, ``data_id`` data-id; None and False leave an attribute out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(content)}</{name}>")


def joined(content: Iterable[Node | Iterable[Node]]) -> Html:
    """Nodes one after the other."""
    return Html("".join(_written(node) for node in content))


def said(text: object, *, longest: int = LONGEST_TEXT) -> Html:
    """What somebody else wrote: its direction stays its own, and it is cut where it is too long."""
    whole = "" if text is None else str(text)
    if len(whole) <= longest:
        return tag("bdi", whole)
    return tag("bdi", whole[:longest] + "…", title=f"{len(whole):,} characters")


def link(address: str, *content: Node, class_: str | None = None, current: bool = False) -> Html:
    """A link; `current` marks where the reader is."""
    return tag("a", *content, href=address, class_=class_, aria_current="page" if current else None)


def table(heads: Iterable[Node], rows: Iterable[Iterable[Node]], *, empty: str) -> Html:
    """A table that can scroll sideways on a small screen; without rows it says `empty`."""
    named = list(heads)
    body = [
        tag("tr", [tag("td", cell, data_head=_plain(head)) for head, cell in zip(named, row, strict=True)])
        for row in rows
    ]
    if not body:
        return tag("p", empty, class_="empty")
    head = tag("thead", tag("tr", [tag("th", one, scope="col") for one in named]))
    return tag("div", tag("table", head, tag("tbody", body)), class_="table")


def facts(pairs: Iterable[tuple[str, Node]]) -> Html:
    """Names with their values."""
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs], class_="facts")


def card(title: Node, *content: Node | Iterable[Node], class_: str = "") -> Html:
    """A part of a page under its own heading."""
    return tag("section", tag("h2", title), *content, class_=f"card {class_}".strip())


def _attribute(key: str, value: str | int | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _written(node: Node | Iterable[Node]) -> str:
    if node is None:
        return ""
    if isinstance(node, Html):
        return node
    if isinstance(node, str):
        return escape(node)
    if isinstance(node, (int, float)):
        return f"{node:,}"
    return joined(node)


def _plain(node: Node) -> str | None:
    return node if isinstance(node, str) and not isinstance(node, Html) else None
