"""The marker of an ASN: a short word in its description by which it is found again. Pure.

No uniqueness of ASNs is documented (API §8), but they can be searched by their description (API §4.1). The marker is
made of the document's identity and of nothing else: the same document has the same one wherever it is sent from.
"""

import base64
import hashlib
import json
from typing import Any, Final

from logistics_batch.messages import packed

_PREFIX: Final = "LB-"
_BYTES: Final = 5  # eight letters and digits; beside the invoice number no two are alike by chance
LONGEST_DESCRIPTION: Final = 255
"""Characters of a description with its marker; the API names no limit (API §8.7), and services cut what is longer."""


def marker_of(account: str, key: str, generation: int) -> str:
    """The marker of one generation of a document.

    >>> marker_of("https://api.example.com", "Acme | Bhiwandi | INV-1", 1)
    'LB-MB3DTEVQ'
    """
    identity = json.dumps([account, key, generation]).encode()
    return _PREFIX + base64.b32encode(hashlib.sha256(identity).digest()[:_BYTES]).decode()


def with_marker(body: str, marker: str) -> str:
    """A body with the marker behind its description; as it is if there is no marker or no room for it.

    >>> with_marker('{"invoice_number":"INV-1","description":"Diwali"}', "LB-ABCD2345")
    '{"invoice_number":"INV-1","description":"Diwali LB-ABCD2345"}'
    """
    if not marker:
        return body
    fields: dict[str, Any] = json.loads(body)
    marked = f"{fields.get('description', '')} {marker}".lstrip()
    if len(marked) > LONGEST_DESCRIPTION:
        return body
    return packed(fields | {"description": marked})


def without_marker(body: str, marker: str) -> str:
    """The body as its file says it.

    >>> without_marker('{"invoice_number":"INV-1","description":"LB-ABCD2345"}', "LB-ABCD2345")
    '{"invoice_number":"INV-1"}'
    """
    if not marker or not body:
        return body
    fields: dict[str, Any] = json.loads(body)
    said = str(fields.get("description", ""))
    if said == marker:
        return packed({name: value for name, value in fields.items() if name != "description"})
    return packed(fields | {"description": said.removesuffix(f" {marker}")}) if said else body


def shows_marker(description: str, marker: str) -> bool:
    """Whether a description that the service shows has this marker."""
    return bool(marker) and marker.casefold() in description.casefold()
