"""The API key that tests use, and the search for it: `pytest --canary` uses one that must stand nowhere afterwards."""

import base64
import gzip
import io
import json
import os
import urllib.parse
import zipfile
from collections.abc import Iterator
from pathlib import Path

KEY = "CANARY_KEY"  # of the environment: the key that all tests use instead of the ordinary one
FOLDER = "CANARY_FOLDER"  # where every process of a test writes all its logs and output
CANARY = "cAnArY-7f3e+9/1b==&%q8Zk~secret"
_UNPACKED_AT_MOST = 32_000_000  # bytes of one member: bombs are among what tests leave


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
        **{f"base64 behind {n} bytes": _inner_base64(raw, n) for n in range(3)},
        **{f"base64 for URLs behind {n} bytes": _inner_base64(raw, n).translate(_FOR_URLS) for n in range(3)},
        "hexadecimal": raw.hex().encode(),
        "UTF-16": secret.encode("utf-16-le"),
        "its first half": raw[: len(raw) // 2],
        "its second half": raw[len(raw) // 2 :],
    }


_FOR_URLS = bytes.maketrans(b"+/", b"-_")


def _inner_base64(raw: bytes, behind: int) -> bytes:
    """What of the key's base64 is the same whatever stands before and behind it, as in `user:key`."""
    encoded = base64.b64encode(bytes(behind) + raw)
    return encoded[-(-behind * 8 // 6) : (behind + len(raw)) * 8 // 6]


def found_in(content: bytes, secret: str) -> list[str]:
    """The forms in which the key stands in a content, or in what is packed into it (workbooks, zip, gzip)."""
    parts = [content, *_unpacked(content)]
    return [form for form, looks in forms(secret).items() if any(looks in part for part in parts)]


def _unpacked(content: bytes) -> list[bytes]:
    if not content.startswith((b"PK", b"\x1f\x8b")):
        return []
    try:
        if content.startswith(b"\x1f\x8b"):
            return [gzip.GzipFile(fileobj=io.BytesIO(content)).read(_UNPACKED_AT_MOST)]
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            return [package.open(name).read(_UNPACKED_AT_MOST) for name in package.infolist()]
    except Exception:  # noqa: BLE001  (tests leave packages that are broken in every way)
        return []


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
