"""The API key that tests use, and the search for it: `pytest --canary` uses one that must stand nowhere afterwards."""

import base64
import json
import os
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

KEY = "CANARY_KEY"  # of the environment: the key that all tests use instead of the ordinary one
FOLDER = "CANARY_FOLDER"  # where every process of a test writes all its logs and output
CANARY = "cAnArY-7f3e+9/1b==&%q8Zk~secret"


def key_of_tests() -> str:
    """The API key of workspaces and services in tests."""
    return os.environ.get(KEY, "test-key")


def forms(secret: str) -> dict[str, bytes]:
    """How a key may look where it was written by mistake."""
    raw = secret.encode()
    return {
        "itself": raw,
        "in a URL": urllib.parse.quote(secret, safe="").encode(),
        "in a form": urllib.parse.quote_plus(secret).encode(),
        "in JSON": json.dumps(secret)[1:-1].encode(),
        "in HTML": secret.replace("&", "&amp;").encode(),
        "base64": base64.b64encode(raw).rstrip(b"="),
        "base64 for URLs": base64.urlsafe_b64encode(raw).rstrip(b"="),
        "hexadecimal": raw.hex().encode(),
        "its first half": raw[: len(raw) // 2],
    }


def found_in(content: bytes, secret: str) -> list[str]:
    """The forms in which the key stands in a content."""
    return [form for form, looks in forms(secret).items() if looks in content]


def is_keyring(path: Path) -> bool:
    """Whether this is where a key belongs."""
    return path.name == "api-key" or "secrets" in path.parts


def places(folder: Path, secret: str) -> list[str]:
    """Files below a folder that hold the key in one of its forms, and in which; keys belong in `secrets`."""
    return [
        f"{path.relative_to(folder)}: {form}"
        for path in files_below(folder)
        if not is_keyring(path.relative_to(folder))
        for form in found_in(path.read_bytes(), secret)
    ]


def files_below(folder: Path) -> Iterator[Path]:
    """Every file below a folder, links not followed."""
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(root, name)
            if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
                yield path
