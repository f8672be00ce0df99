"""What a request brings in its body: the fields of a form, and a file; never more than is taken."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from logistics_batch.web.workbench.asked import Upload

MOST_FORM_BYTES: Final = 1 << 20
MOST_UPLOAD_BYTES: Final = 16 << 20
_MOST_FIELDS, _MOST_FIELDS_BESIDE_A_FILE = 20_000, 50
_MOST_UNREAD: Final = 4  # times what is taken that is still read, so that the browser comes to read the answer


@dataclass(frozen=True)
class Posted:
    """The fields of a form, each with its values, and the file that came with it."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    upload: Upload | None = None


async def posted(request: Request, *, most: int) -> Posted | None:
    """What a request brings; of a body that is no form nothing, and None if it is more than `most` bytes."""
    kept, came = bytearray(), 0
    async for chunk in request.stream():
        came += len(chunk)
        if came > most * _MOST_UNREAD:
            return None
        if came <= most:
            kept += chunk
    if came > most:
        return None
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await _with_file(request, bytes(kept))
    return Posted(_fields(bytes(kept)))


async def _with_file(request: Request, body: bytes) -> Posted:
    async def stream() -> AsyncIterator[bytes]:
        yield body

    parser = MultiPartParser(request.headers, stream(), max_files=1, max_fields=_MOST_FIELDS_BESIDE_A_FILE)  # type: ignore[arg-type]
    fields: dict[str, list[str]] = {}
    upload = None
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, ValueError):
        return Posted()
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if value.filename:
                upload = Upload(value.filename, await value.read())
            await value.close()
        else:
            fields.setdefault(name, []).append(value)
    return Posted(fields, upload)


def _fields(body: bytes) -> dict[str, list[str]]:
    """The fields of a form; of a body that is none, nothing."""
    form: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return form
    for name, value in pairs:
        form.setdefault(name, []).append(value)
    return form
