"""A mark by which an API key is known again, and from which nobody finds the key: for what was learnt with it."""

import hashlib
import hmac
import secrets
from functools import lru_cache
from typing import Final

from logistics_batch.api.endpoints import ServiceAccess

# Two bytes tell one key from another 65,535 times out of 65,536, and say of a guessed key next to nothing: whoever has
# the ledger cannot try out short keys. Each try is slow all the same.
_BYTES: Final = 2
_COST: Final = 1 << 14


def key_print(access: ServiceAccess) -> str:
    """A new mark of the key at this address, each time another one."""
    salt = secrets.token_hex(8)
    return f"{salt}:{_digest(access, salt)}"


def is_print_of(mark: str, access: ServiceAccess) -> bool:
    """Whether a mark was made of this key at this address."""
    salt, _, digest = mark.partition(":")
    return hmac.compare_digest(digest, _digest(access, salt))


def _digest(access: ServiceAccess, salt: str) -> str:
    return _slow(access.base_url, access.api_key.reveal(), salt)


@lru_cache(maxsize=4)
def _slow(base_url: str, key: str, salt: str) -> str:
    text = f"{base_url}\0{key}".encode()
    return hashlib.scrypt(text, salt=salt.encode(), n=_COST, r=8, p=1, dklen=_BYTES).hex()
