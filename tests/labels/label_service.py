"""A label service of a few lines, over real HTTP, that can be told to give any bytes for any AWB."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from labels.label_files import label
from support.canary import key_of_tests
from support.http_answers import Asked, HttpAnswers, Told


@dataclass
class Given:
    """What is given for one AWB: a file, or a refusal; `expire` downloads answer 403 first."""

    content: bytes = b""
    refuse: str = ""
    refuse_numbers: bool = False  # the form with order numbers is refused, the full shipment is not
    status: int = 200
    expire: int = 0
    html: int = 0  # so many calls answer a web page first
    link: str = ""  # another link than our own
    cut: bool = False


@dataclass
class LabelService:
    """Labels by AWB; an AWB that is not set gets its ordinary label. `asked` and `seen` tell what came in."""

    given: dict[str, Given] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    key: str = field(default_factory=key_of_tests)
    on_ask: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._downloads: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        server = HttpAnswers(self._told)
        self.url, self.stop = server.url, server.stop

    def _told(self, asked: Asked) -> Told:
        self.seen.append((asked.path, asked.headers))
        path = urlsplit(asked.path)
        if asked.method == "POST":
            status, content = self.answer(json.loads(asked.body), parse_qs(path.query))
            return Told(status, content, "")
        status, content, length = self.file(path.path.split("/")[-1].removesuffix(".pdf"))
        return Told(status, content, "", length=length)

    def answer(self, body: dict[str, str], query: dict[str, list[str]]) -> tuple[int, bytes]:
        self.asked.append(body)
        self.on_ask()
        if query.get("API_KEY") != [self.key]:
            return 401, json.dumps({"status": "FAIL", "message": "Unauthorized"}).encode()
        awb = body.get("order_numbers[]") or body["awb_number"]
        self._calls[awb] += 1
        given = self.given.get(awb, Given())
        if self._calls[awb] <= given.html:
            return 502, b"<html><body>Bad gateway</body></html>"
        if given.refuse or (given.refuse_numbers and "order_numbers[]" in body):
            return 400, json.dumps({"status": "FAIL", "message": given.refuse or "no such order number"}).encode()
        url = given.link or f"{self.url}/labels/{awb}.pdf?signature=SECRETSECRET"
        return given.status, json.dumps({"status": "SUCCESS", "url": url}).encode()

    def file(self, awb: str) -> tuple[int, bytes, int | None]:
        self._downloads[awb] += 1
        given = self.given.get(awb, Given())
        if self._downloads[awb] <= given.expire:
            return 403, b"<Error>Request has expired</Error>", None
        content = given.content or label(*awb.split(","))
        return (200, content[:100], len(content)) if given.cut else (200, content, None)
