"""The frame of every page: head, navigation, and the small pieces that all pages share."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from logistics_batch.sandbox.endpoints import CONTROL
from logistics_batch.sandbox.pages_access import API_PAGE, PAGES, STATIC
from logistics_batch.sandbox.pages_data import Wanted
from logistics_batch.sandbox.pages_html import Html, Node, link, said, tag

HOME = CONTROL
ORDERS = PAGES + "orders"
ASNS = PAGES + "asns"
LABELS = PAGES + "labels"
EVENTS = PAGES + "events"
JOURNAL = PAGES + "journal"
BEHAVIOUR = PAGES + "behaviour"
_PARTS = (
    ("Overview", HOME),
    ("Orders", ORDERS),
    ("ASNs", ASNS),
    ("Labels", LABELS),
    ("Events", EVENTS),
    ("Journal", JOURNAL),
    ("Faults & switches", BEHAVIOUR),
    ("API", API_PAGE),
)
TONES = ("done", "moving", "waiting", "failed", "off")
_WAITING = frozenset({"Pending", "New-Order", "New", "waiting", "received"})
_DONE = frozenset({"Delivered", "Complete", "Completed", "delivered", "committed", "answered", "active"})
_FAILED = frozenset({"Pickup-Failed", "Attempted", "given up", "Expired", "fault", "dropped"})
_OFF = frozenset({"cancelled", "Returned"})


def page(title: str, *content: Node, current: str, lead: Node = None) -> bytes:
    """A whole page as UTF-8; half characters of hostile texts become question marks."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} · Sandbox"),
        tag("link", rel="stylesheet", href=f"{STATIC}pages.css"),
        tag("link", rel="icon", href=f"{STATIC}icon.svg", type="image/svg+xml"),
        tag("script", src=f"{STATIC}refresh.js", defer=True),
    )
    heading = tag("div", tag("h1", title), lead, class_="heading")
    body = tag("body", _top(current), tag("main", heading, *content), _foot())
    return f"<!DOCTYPE html>{tag('html', head, body, lang='en')}".encode("utf-8", "replace")


def badge(state: str) -> Html:
    """A status in its colour."""
    return tag("span", said(state, longest=40), class_=f"badge {tone(state)}")


def tone(state: str) -> str:
    """Which of the five colours a status has, one of TONES."""
    tones = (("waiting", _WAITING), ("done", _DONE), ("failed", _FAILED), ("off", _OFF))
    return next((name for name, states in tones if state in states), "moving")


def moment(text: str) -> Html:
    """A time to the second, as the service's clock shows it."""
    return tag("time", text[:19].replace("T", " "), datetime=text)


def search_form(address: str, wanted: Wanted, says: str) -> Html:
    """A field to look for something in a list."""
    field = tag("input", type="search", name="find", value=wanted.text, placeholder=says, aria_label=says)
    state = tag("input", type="hidden", name="state", value=wanted.state) if wanted.state else None
    return tag("form", field, state, tag("button", "Search"), action=address, class_="search", role="search")


def state_links(address: str, wanted: Wanted, counted: Mapping[str, int]) -> Html:
    """The states of a list with their numbers, each a link to that part of it."""
    every = link(with_query(address, find=wanted.text), f"All {sum(counted.values()):,}", current=not wanted.state)
    links = [
        link(
            with_query(address, find=wanted.text, state=state),
            said(state, longest=40),
            f" {number:,}",
            current=state == wanted.state,
        )
        for state, number in counted.items()
    ]
    return tag("nav", every, *links, class_="states", aria_label="States")


def older_link(address: str, wanted: Wanted, ids: Sequence[int]) -> Html:
    """Links to what is older than a full list, and back to the newest."""
    newest = link(with_query(address, find=wanted.text, state=wanted.state), "← Newest") if wanted.before else None
    full = len(ids) == wanted.count
    older = with_query(address, find=wanted.text, state=wanted.state, before=ids[-1] if full else "")
    return tag("nav", newest, link(older, "Older →") if full else None, class_="pager", aria_label="Pages")


def with_query(address: str, **values: str | int) -> str:
    """An address with these parameters, without the empty ones."""
    given = {name: value for name, value in values.items() if value != ""}
    return f"{address}?{urlencode(given, errors='replace')}" if given else address


def share_bar(counted: Mapping[str, int], *, says: str) -> Html:
    """Shares of a whole as one bar; its colours are those of the badges."""
    whole = max(1, sum(counted.values()))
    bars, start = [], 0.0
    for state, number in counted.items():
        width = 100 * number / whole
        name = tag("title", f"{state}: {number:,}")
        bars.append(
            Html(f'<rect x="{start:.3f}" y="0" width="{width:.3f}" height="10" class="{tone(state)}">{name}</rect>')
        )
        start += width
    return tag(
        "svg", *bars, viewBox="0 0 100 10", preserveAspectRatio="none", class_="shares", role="img", aria_label=says
    )


def _top(current: str) -> Html:
    links = [link(address, name, current=address == current) for name, address in _PARTS]
    switch = tag("button", "Auto-refresh", type="button", id="refresh", aria_pressed="false", hidden=True)
    brand = link(HOME, tag("span", "▚", class_="mark", aria_hidden="true"), "Sandbox", class_="brand")
    return tag("header", brand, tag("nav", links, aria_label="Pages"), switch, class_="top")


def _foot() -> Html:
    return tag("footer", "A local service to try, train and test with. Times are those of its zone, +05:30.")
