"""The process that opens one PGP message for `PgpKey`: the only door to the PGP library, which is an extra."""

from typing import Any

import pysequoia

from logistics_batch.child_process import Answer


def answer(question: dict[str, Any], _files: tuple[bytes, ...]) -> Answer:
    """Decrypt one message; says what is to blame: "key", "disk", "message", or "" if all went well."""
    try:
        decryptor = pysequoia.Tsk.from_file(question["key_file"]).decryptor(question["passphrase"] or None)
    except (RuntimeError, ValueError):
        return Answer({"blamed": "key"})
    try:
        pysequoia.decrypt_file(question["source"], question["to"], decryptor)
    except (RuntimeError, ValueError, OSError) as error:
        return Answer({"blamed": "disk" if "No space left" in str(error) else "message"})
    return Answer({"blamed": ""})
