"""The application: from a request to a page, past everything that could make it somebody else's request."""

import ipaddress
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from logistics_batch.errors import LedgerBusy, LedgerRefused, LogisticsBatchError, UsageError
from logistics_batch.web.workbench.asked import (
    Changed,
    Download,
    Moved,
    NotThere,
    PageData,
    PageRequest,
    Posted,
    Surface,
    posted,
    seen_by,
)
from logistics_batch.web.workbench.people import LONGEST, Doorkeeper, NotVouched, SignedIn, TooOften, digest_of
from logistics_batch.web.workbench.rendering import rendered, text_of
from logistics_batch.web.workbench.routes import ROUTES, Route, described, found
from logistics_batch.web.workbench.sign_on import SignOn

MOST_FORM_BYTES: Final = 1 << 20
MOST_UPLOAD_BYTES: Final = 16 << 20


_CLICKED = ("same-origin", "none")  # what a browser says of a click on our own page, or an address that was typed
_AWAY, _BACK, _AWAY_SECONDS = "/sign-in/away", "/sign-in/back", 600
_STATIC: Final = {
    "/static/style.css": "text/css",
    "/static/keys.js": "text/javascript",
    "/static/live.js": "text/javascript",
    "/static/forms.js": "text/javascript",
    "/static/icon.svg": "image/svg+xml",
}
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_AT_ONCE = 8  # pages that are made at the same time
_NAMED_IN_AUDIT: Final = ("name", "role", "partners", "job", "bundle", "queue")  # of a form
_MOST_AUDITED = 4000  # characters of what something was about


@dataclass(frozen=True)
class Around:
    """hosts: the names under which browsers reach the pages. is_safe: they come over TLS. cookie: its name. proxy: the
    address of a server in front that is believed about who asks, "" for none; only_proxy: nobody else, but on this
    machine, reaches the pages. log: one line each, without data of people."""

    hosts: frozenset[str]
    is_safe: bool
    cookie: str = "logistics_batch"
    proxy: str = ""
    only_proxy: bool = False
    log: Callable[[str], None] = field(default=lambda _: None, repr=False)


class Workbench:
    """The ASGI application of the pages."""

    def __init__(self, on: Surface, around: Around, sign_on: SignOn | None = None) -> None:
        self._on, self._around, self._sign_on = on, around, sign_on
        self._people = on.parts.ledger.people
        self._door = Doorkeeper(self._people, now=on.parts.clock.now, behind=on.behind)
        self._said: dict[str, str] = {}  # to a session, on its next page
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        self._limiter = self._limiter or CapacityLimiter(_AT_ONCE)
        request = Request(scope, receive)
        may_upload = request.headers.get("content-type", "").startswith("multipart/") and (
            await anyio.to_thread.run_sync(self._may_upload, request, limiter=self._limiter)
        )
        try:
            sent = await posted(request, most=MOST_UPLOAD_BYTES if may_upload else MOST_FORM_BYTES)
        except ClientDisconnect:
            return
        answer = await anyio.to_thread.run_sync(self._answer, request, sent, limiter=self._limiter)
        for name, value in _HEADERS.items():
            answer.headers.setdefault(name, value)
        if self._around.is_safe:
            answer.headers["Strict-Transport-Security"] = "max-age=31536000"
        await answer(scope, receive, send)

    def _may_upload(self, request: Request) -> bool:
        """Whether the request brings a file where one is taken, and somebody who may do that sends it."""
        match = found(request.method, _path(request))
        try:
            who = self._who(request, self._address(request)) if match and match[0].takes_file else None
        except (TooOften, LedgerBusy, LedgerRefused):  # told once the request is answered
            return False
        return match is not None and who is not None and who.role in match[0].roles

    def _answer(self, request: Request, sent: Posted | None) -> Response:
        path = _path(request)
        if (request.headers.get("host") or "").casefold() not in self._around.hosts or self._comes_past(request):
            return Response("This server is not reached under that name, or without TLS.", 421)
        if sent is None:
            return Response("That is more than is taken here: 1 MB of a form, 16 MB of a sheet.", 413)
        if path in _STATIC and request.method == "GET":
            content = (Path(__file__).parent / "templates" / Path(path).name).read_bytes()
            return Response(content, media_type=_STATIC[path], headers={"Cache-Control": "max-age=3600"})
        if request.method not in ("GET", "HEAD", "POST"):
            return Response(status_code=405)
        form = sent.fields
        query = [*request.query_params.values(), *(value for values in form.values() for value in values)]
        if "\0" in unquote(path) or any("\0" in value for value in query):
            return Response(status_code=400)
        address, who = self._address(request), None
        try:
            who = self._who(request, address)
            if request.method == "POST" and (refused := self._is_foreign(request, who, form, path)):
                return refused
            if (at_door := self._at_the_door(path, request, form, who, address)) is not None:
                return at_door
            return self._page(path, request, sent, who)
        except TooOften as error:
            told = {"title": "Wait a little", "text": f"Too many wrong attempts. Try again in {error.seconds} seconds."}
            answer = self._told(request, told, 429)
            answer.headers["Retry-After"] = str(error.seconds)
            return answer
        except (LedgerBusy, LedgerRefused) as error:
            self._around.log(f"a page could not be made: {error.message}")
            text = error.message if who else "Try again in a moment."
            if path.endswith(".json"):
                return _json({"error": text}, 503)
            return self._told(request, {"title": "The ledger cannot be asked", "text": text}, 503)

    def _comes_past(self, request: Request) -> bool:
        """Whether somebody from elsewhere goes round the server in front, or round its TLS."""
        peer = request.client.host if request.client else ""
        if self._around.proxy and peer == self._around.proxy:
            return request.headers.get("x-forwarded-proto", "https").casefold() != "https"
        return self._around.only_proxy and not _is_of_this_machine(peer)

    def _address(self, request: Request) -> str:
        """Who asks: what the server in front says last, if that is the one that is believed."""
        peer = request.client.host if request.client else ""
        if not self._around.proxy or peer != self._around.proxy:
            return peer
        said = ",".join(request.headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        try:
            return str(ipaddress.ip_address(said))
        except ValueError:
            return peer

    def _who(self, request: Request, address: str) -> SignedIn | None:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.casefold() == "bearer":
            return self._door.of_token(token, address=address)
        secret = request.cookies.get(self._around.cookie, "")
        return self._door.of_session(secret, address=address, clicks=not _follows(request)) if secret else None

    def _is_foreign(
        self, request: Request, who: SignedIn | None, form: Mapping[str, list[str]], path: str
    ) -> Response | None:
        """The refusal of what another site, or a program, sent in a person's name."""
        origin = request.headers.get("origin")
        own = origin is None or origin.partition("://")[2].casefold() in self._around.hosts
        fetched = request.headers.get("sec-fetch-site", "same-origin") in _CLICKED
        is_signed = who is None or form.get("form_token", [""])[0] == who.form_token != ""
        at_door = path == "/sign-in" or path.startswith("/welcome/")
        if own and fetched and (is_signed or at_door):
            return None
        text = "This form is too old, or came from elsewhere. Open the page again and repeat it."
        return self._told(request, {"title": "Nothing was done", "text": text}, 403)

    def _at_the_door(
        self,
        path: str,
        request: Request,
        form: Mapping[str, list[str]],
        who: SignedIn | None,
        address: str,
    ) -> Response | None:
        """Signing in and out, choosing a password, ending sessions; None for every other address."""
        one = {name: values[0] for name, values in form.items()}
        is_post = request.method == "POST"
        if path == "/health":
            return Response("ok", media_type="text/plain")
        if path == "/sign-in":
            if not is_post:
                return self._sign_in_page(_own_path(request.query_params.get("next", "")))
            name = " ".join(one.get("name", "").split())
            secret = self._door.sign_in(name, one.get("password", ""), address=address)
            is_known = bool(secret) or self._people.get(name) is not None  # else a password may stand in its place
            outcome = "done" if secret else "wrong"
            self._write(name if secret else "", address, "signed in", about=name if is_known else "", outcome=outcome)
            if secret:
                if who is not None:  # the session before, of this browser
                    self._door.sign_out(who.session)
                return self._entered(secret, to=_own_path(one.get("next", "")))
            return self._sign_in_page(_own_path(one.get("next", "")), wrong="Name or password is wrong.")
        if path in (_AWAY, _BACK) and not is_post and self._sign_on is not None:
            return self._with_account(self._sign_on, request, who, address)
        if path == "/sign-out" and is_post and who is not None:
            self._door.sign_out(who.session)
            self._write(who.name, address, "signed out")
            answer = RedirectResponse("/sign-in", 303)
            answer.delete_cookie(self._around.cookie, **self._cookie_kind())  # type: ignore[arg-type]
            return answer
        if path in ("/me/password", "/me/end") and is_post and who is not None:
            return self._own_account(path, request, form, who)
        if path.startswith("/welcome/"):
            return self._welcome(path.removeprefix("/welcome/"), request, one if is_post else None, address)
        return None

    def _sign_in_page(self, to: str, *, wrong: str = "") -> Response:
        label = self._sign_on.provider.label if self._sign_on else ""
        return self._door_page(
            "sign_in.html", {"next": to, "wrong": wrong, "label": label}, status=401 if wrong else 200
        )

    def _with_account(self, sign_on: SignOn, request: Request, who: SignedIn | None, address: str) -> Response:
        """To the provider that vouches for people, or back from it with what it said."""
        scheme, host = "https" if self._around.is_safe else "http", request.headers.get("host", "")
        cookie = f"{self._around.cookie}_away"
        name, outcome = "", "done"
        try:
            if _path(request) == _AWAY:
                to = _own_path(request.query_params.get("next", ""))
                if request.headers.get("sec-fetch-site", "same-origin") not in _CLICKED:
                    return self._sign_in_page(to)  # nobody is signed in by a link, or picture, of another site
                there, secret = sign_on.begin(to=to, callback=f"{scheme}://{host}{_BACK}")
                away = RedirectResponse(there, 303)
                away.set_cookie(cookie, secret, max_age=_AWAY_SECONDS, **self._cookie_kind())  # type: ignore[arg-type]
                return away
            found, to = sign_on.finish(request.cookies.get(cookie, ""), request.query_params)
            name = found.name
            session = self._door.enter(found, address=address)
        except UsageError as error:
            outcome, told = f"refused: {error.message}", {"text": error.message, "remedy": error.remedy}
        except NotVouched as error:
            self._around.log(f"nobody was signed in by {sign_on.provider.issuer}: {error}")
            outcome = "refused: what came from the provider proves nothing"
            told = {"text": "What came back did not prove who you are.", "remedy": "Sign in again, or tell your admin."}
        if outcome != "done":
            self._write("", address, "signed in", about=name[:_MOST_AUDITED], outcome=outcome[:500])
            return self._told(request, {"title": "You are not signed in"} | told, 403)
        self._write(name, address, "signed in")
        if who is not None:
            self._door.sign_out(who.session)
        answer = self._entered(session, to=to)
        answer.delete_cookie(cookie, **self._cookie_kind())  # type: ignore[arg-type]
        return answer

    def _own_account(self, path: str, request: Request, form: Mapping[str, list[str]], who: SignedIn) -> Response:
        """Change the own password, or end own sessions; whoever does it proves once more who it is."""
        one = {name: values[0] for name, values in form.items()}
        changes = path == "/me/password"
        what = "changed the own password" if changes else "ended own sessions"
        try:
            self._door.require_again(who, one.get("old", ""))
            if changes:
                secret = self._door.change_password(who, one.get("password", ""), one.get("again", ""))
            elif not self._people.end(form.get("id", []), of=who.name):
                raise UsageError("No session is marked that goes on.", remedy="Mark those that are to end.")
        except UsageError as error:
            self._write(who.name, who.address, what, outcome=f"refused: {error.message}")
            told = {"title": "Nothing was changed", "text": error.message, "remedy": error.remedy}
            return self._told(request, told, 409, who)
        self._write(who.name, who.address, what)
        if not changes:
            self._said[digest_of(who.session)] = "They are ended."
            return RedirectResponse("/me", 303)
        self._said[digest_of(secret)] = "The password is changed, and your other sessions are ended."
        return self._entered(secret, to="/me")

    def _welcome(self, link: str, request: Request, one: Mapping[str, str] | None, address: str) -> Response:
        name = self._door.whose_link(link)
        if not name:
            text = "This link was used, or its time is over. Ask for a new one."
            return self._told(request, {"title": "Nobody's link", "text": text}, 404)
        if one is None:
            return self._door_page("welcome.html", {"name": name})
        try:
            secret = self._door.choose_password(link, one.get("password", ""), one.get("again", ""), address=address)
        except UsageError as error:
            data = {"name": name, "wrong": f"{error.message} {error.remedy}".strip()}
            return self._door_page("welcome.html", data, status=400)
        self._write(name, address, "chose a password")
        return self._entered(secret, to="/")

    def _entered(self, secret: str, *, to: str) -> Response:
        answer = RedirectResponse(to, 303)
        longest = int(LONGEST.total_seconds())
        answer.set_cookie(self._around.cookie, secret, max_age=longest, **self._cookie_kind())  # type: ignore[arg-type]
        return answer

    def _cookie_kind(self) -> dict[str, object]:
        return {"path": "/", "httponly": True, "samesite": "lax", "secure": self._around.is_safe}

    def _page(self, path: str, request: Request, sent: Posted, who: SignedIn | None) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        match = found(method, path)
        wants_json = bool(match and match[2]) or path == "/openapi.json"
        if who is None:
            if wants_json or request.headers.get("authorization", "").casefold().startswith("bearer"):
                return _json({"error": "No session and no token that holds."}, 401, {"WWW-Authenticate": "Bearer"})
            asked_for = "/" + path.split("/")[1] if method == "POST" else f"{path}?{request.url.query}".rstrip("?")
            return RedirectResponse(f"/sign-in?next={quote(asked_for)}" if path != "/" else "/sign-in", 303)
        if path == "/openapi.json":
            return _json(described())
        if path == "/live":
            return Response(PageRequest(self._on, who, {}).mark, media_type="text/plain")
        if match is None:
            return self._told(request, {"title": "No such page", "text": "There is no page of this address."}, 404, who)
        route, named, as_json = match
        if who.role not in route.roles:
            with suppress(LedgerBusy, LedgerRefused):  # the refusal stands all the same
                about = path[:_MOST_AUDITED]
                self._write(who.name, who.address, "asked for what is for others", about=about, outcome="refused")
            may = ", ".join(sorted(each.value for each in route.roles))
            told = {"title": "Not for your role", "text": f"You are here as {who.role}. This is for: {may}."}
            return _json({"error": told["text"]}, 403) if as_json else self._told(request, told, 403, who)
        if not who.session and not as_json:
            return _json({"error": "A token is for the addresses that end in .json."}, 403)
        one = {name: values[0] for name, values in sent.fields.items()}
        asked = PageRequest(
            seen_by(self._on, who), who, named, dict(request.query_params), one, sent.fields, sent.upload
        )
        return self._of_route(route, asked, request, as_json=as_json)

    def _of_route(self, route: Route, asked: PageRequest, request: Request, *, as_json: bool) -> Response:
        named = [*asked.path.values(), *asked.several.get("id", ())]
        upload = asked.upload.name if asked.upload else ""
        about = " ".join(
            filter(
                None,
                [*named, *(asked.form.get(name, "") for name in _NAMED_IN_AUDIT), upload],
            )
        )
        entry = 0
        if route.audit:
            doing = f"{route.audit}: {asked.form['decision']}" if "decision" in asked.form else route.audit
            entry = self._people.begin_audit(
                at=asked.now, who=asked.who.name, address=asked.who.address, what=doing, about=about[:_MOST_AUDITED]
            )
        outcome = "failed"
        try:
            made = route.page(asked)
            outcome = made.said[:500] if isinstance(made, Moved) and made.said else "done"
        except NotThere as error:
            outcome, told = "not there", {"title": "Not there", "text": str(error)}
            return _json({"error": str(error)}, 404) if as_json else self._told(request, told, 404, asked.who)
        except (LedgerBusy, LedgerRefused):
            raise
        except (Changed, LogisticsBatchError) as error:
            text = error.message if isinstance(error, LogisticsBatchError) else str(error)
            remedy = error.remedy if isinstance(error, LogisticsBatchError) else "Open the page again, and look."
            title = "Nothing was changed" if route.method == "POST" else "This cannot be shown"
            outcome, told = f"refused: {text}"[:500], {"title": title, "text": text, "remedy": remedy}
            return _json({"error": f"{text} {remedy}"}, 409) if as_json else self._told(request, told, 409, asked.who)
        finally:
            if entry:
                self._end(entry, outcome)
        if isinstance(made, Moved):
            if made.said:
                self._said[digest_of(asked.who.session)] = made.said
            return RedirectResponse(made.to, 303)
        if isinstance(made, Download):
            kept_as = f"attachment; filename*=UTF-8''{quote(made.name, safe='')}"
            return Response(
                made.content, media_type="application/octet-stream", headers={"Content-Disposition": kept_as}
            )
        if as_json:
            return _json(made.data, made.status)
        return self._shown(made, request, asked.who)

    def _shown(self, page: PageData, request: Request, who: SignedIn) -> Response:
        places = [(route.path, route.place) for route in ROUTES if route.place and who.role in route.roles]
        said = self._said.pop(digest_of(who.session), "") if who.session and not _follows(request) else ""
        around = {"who": who, "places": places, "said": said, "path": request.url.path}
        return Response(rendered(page.template, {**page.data, **around}), page.status, media_type="text/html")

    def _told(self, request: Request, data: Mapping[str, str], status: int, who: SignedIn | None = None) -> Response:
        if who is not None:
            return self._shown(PageData("told.html", {"remedy": "", **data}, status), request, who)
        return self._door_page("told_outside.html", {"remedy": "", **data}, status=status)

    def _door_page(self, template: str, data: Mapping[str, Any], *, status: int = 200) -> Response:
        return Response(rendered(template, {"wrong": "", **data}), status, media_type="text/html")

    def _end(self, entry: int, outcome: str) -> None:
        """End an entry of the audit; what was done stays told where that cannot be written."""
        try:
            self._people.end_audit(entry, outcome)
        except (LedgerBusy, LedgerRefused) as error:
            self._around.log(f"entry {entry} of the audit has no end: {error.message}")

    def _write(self, who: str, address: str, what: str, *, about: str = "", outcome: str = "done") -> None:
        now = self._on.parts.now
        number = self._people.begin_audit(at=now, who=who, address=address, what=what, about=about)
        self._end(number, outcome)


def _path(request: Request) -> str:
    """The address as it was sent, quoted, without its query."""
    return request.scope.get("raw_path", b"").decode("latin-1").partition("?")[0] or request.url.path


def _follows(request: Request) -> bool:
    """Whether a page asks by itself whether it is still true, and nobody clicked."""
    return "x-follows" in request.headers


def _own_path(to: str) -> str:
    """Where to go after signing in: only ever to a page of ours."""
    fits = to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() and "\\" not in to
    return to if fits else "/"


def _is_of_this_machine(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(data, ensure_ascii=False, default=text_of, allow_nan=False)
    return Response(text, status, dict(headers or {}), "application/json")
