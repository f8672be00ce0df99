"""The pages of a workspace as an operator serves them, and people who click."""

import json
import re
import signal
from typing import Any
from urllib.parse import quote

import httpx
from support.workspace import Workspace

PASSWORD = "four plain words together"


class Person:
    """Somebody with a browser: keeps the cookie, and brings each form's token along."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=30)
        self._tokens: dict[tuple[tuple[str, str], ...], str] = {}

    def get(self, path: str, **headers: str) -> httpx.Response:
        """A page."""
        return self.client.get(path, headers=headers)

    def post(self, path: str, form: dict[str, str | list[str]] | None = None, **headers: str) -> httpx.Response:
        """Send a form with the token that the pages of this session carry."""
        fields = {"form_token": self._token()} | (form or {})
        return self.client.post(path, data=fields, headers=headers)

    def upload(self, path: str, form: dict[str, str], name: str, content: bytes) -> httpx.Response:
        """Send a form with a file."""
        fields = {"form_token": self._token()} | form
        return self.client.post(path, data=fields, files={"file": (name, content)})

    def _token(self) -> str:
        """What the pages of this session carry: looked up once for each session."""
        session = tuple(sorted(self.client.cookies.items()))
        if session not in self._tokens:
            token = re.search(r'name="form_token" value="([0-9a-f]*)"', self.get("/").text)
            if token is None:
                return ""
            self._tokens[session] = token[1]
        return self._tokens[session]

    def chooses(self, link: str, password: str = PASSWORD) -> "Person":
        """Use a one-time link."""
        answer = self.client.post(link, data={"password": password, "again": password})
        assert answer.status_code == 303, answer.text
        return self


class RunningPages:
    """`logistics-batch serve` on a free port."""

    def __init__(self, workspace: Workspace, *arguments: str, **environment: str) -> None:
        self.workspace = workspace
        self.process = workspace.start("serve", "--port", "0", *arguments, **environment)
        said = self.process.stdout.readline()
        if not said:
            raise RuntimeError(f"the pages did not start: {self.process.stderr.read()}")
        told = json.loads(said)
        self.url, self.first_admin = told["url"], told["first_admin"]
        self.people: dict[str, Person] = {}

    def stranger(self) -> Person:
        """Somebody who is not signed in."""
        return Person(self.url)

    def person(self, role: str) -> Person:
        """Somebody with a role, added at the machine and signed in."""
        if role not in self.people:
            done = self.workspace.run("user", "add", f"{role} of tests", "--role", role, "--json")
            assert done.code == 0, done.err
            self.people[role] = self.stranger().chooses(json.loads(done.out)["link"])
        return self.people[role]

    def close(self) -> int:
        """End it as a supervisor does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=20)
        assert self.process.returncode is not None
        return self.process.returncode


def quoted(name: str) -> str:
    """A name within an address."""
    return quote(name, safe="")


def hidden_fields(page: str) -> dict[str, Any]:
    """The fields that a page hands on unseen; those that may come several times as lists."""
    fields: dict[str, Any] = {}
    for name, value in re.findall(r'type="hidden" name="([a-z]+)" value="([^"]*)"', page):
        if name in ("id", "seen"):
            fields.setdefault(name, []).append(value)
        else:
            fields[name] = value
    return fields
