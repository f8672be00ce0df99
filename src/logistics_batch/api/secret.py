"""The API key as a value that cannot be shown by accident, and a last net under the logs."""

import base64
import hmac
import json
import logging
import re
from collections.abc import Iterable
from typing import NoReturn
from urllib.parse import quote, quote_plus

REMOVED = "[removed]"
_SHORTEST_SEARCHABLE = 4  # shorter ones would be found everywhere
_CHATTY_LOGGERS = ("httpx", "httpcore", "hpack", "paramiko")
_PLAIN_RECORD_FIELDS = frozenset(logging.makeLogRecord({}).__dict__)


class Secret:
    """A secret text: `reveal()` is the only way to see it. It is not shown, not compared in haste and not pickled."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the moment in which it is used."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __str__(self) -> str:
        return "…"

    def __format__(self, form: str) -> str:
        return "…"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: object) -> "Secret":
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


def _base64_forms(raw: bytes) -> set[str]:
    """How base64 spells these bytes, alone and, at each alignment, in the middle of longer text."""
    forms = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(raw).decode())
        for shift in range(3):
            # The letters at both ends also depend on the neighbours; those between them are always the same.
            letters = encode(b"\0" * shift + raw).decode().rstrip("=")
            start = -(-shift * 8 // 6)
            middle = letters[start : (shift + len(raw)) * 8 // 6]
            if len(middle) >= 2 * _SHORTEST_SEARCHABLE:
                forms.add(middle)
    return forms


class Redactor:
    """Finds secrets in any form in which they may turn up, and takes them out."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        forms: set[str] = set()
        for secret in secrets:
            value = secret.reveal()
            if len(value) < _SHORTEST_SEARCHABLE:
                continue
            forms |= {value, quote(value, safe=""), quote(value), quote_plus(value), json.dumps(value)[1:-1]}
            forms |= _base64_forms(value.encode())
        alternatives = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        self._forms = re.compile(alternatives) if forms else None
        self._bytes = re.compile(alternatives.encode()) if forms else None

    def text(self, text: str) -> str:
        """The text without secrets."""
        return self._forms.sub(REMOVED, text) if self._forms else text

    def body(self, body: bytes) -> bytes:
        """The bytes without secrets."""
        return self._bytes.sub(REMOVED.encode(), body) if self._bytes else body


class RedactionFilter(logging.Filter):
    """Takes secrets out of log records: out of message, arguments, traceback and extra fields."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        super().__init__()
        self._redactor = Redactor(secrets)

    def filter(self, record: logging.LogRecord) -> bool:
        """Always lets the record pass; changes it only where a secret was found."""
        message = _message(record)
        clean = self._redactor.text(message)
        if clean != message:
            record.msg, record.args = clean, None
        self._clean_traceback(record)
        for name in record.__dict__.keys() - _PLAIN_RECORD_FIELDS:
            shown = str(record.__dict__[name])
            if (redacted := self._redactor.text(shown)) != shown:
                record.__dict__[name] = redacted
        return True

    def _clean_traceback(self, record: logging.LogRecord) -> None:
        if record.exc_info and not record.exc_text:
            traceback = logging.Formatter().formatException(record.exc_info)
            if (clean := self._redactor.text(traceback)) != traceback:
                record.exc_text, record.exc_info = clean, None
        if record.exc_text:
            record.exc_text = self._redactor.text(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.text(record.stack_info)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # logging would print such a record's raw arguments on standard error
        record.msg, record.args = f"{record.msg} {record.args!r}", None
        return str(record.msg)


def install_redaction(secrets: Iterable[Secret]) -> RedactionFilter:
    """Put a net under the logs of this process: every handler of the root logger, and logging's last resort.

    The libraries that write requests into their logs are set to WARNING where nothing else was said. Returns the
    filter, for handlers that are added later.
    """
    net = RedactionFilter(secrets)
    for handler in (*logging.getLogger().handlers, logging.lastResort):
        if handler is not None:
            handler.addFilter(net)
    for name in _CHATTY_LOGGERS:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    return net
