"""The process that opens one PGP message for `PgpKey`: the only door to the PGP library, which is an extra.

What to do comes as JSON on standard input. It says nothing if all went well, "key" if the key cannot be used, "disk" if
there is no room, "message" if the message cannot be opened.
"""

import json
import resource
import sys

import pysequoia

_MEMORY_BYTES = 2 << 30


def main() -> None:
    """Decrypt one message."""
    request = json.loads(sys.stdin.read())
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (request["most_bytes"], request["most_bytes"]))
    try:
        decryptor = pysequoia.Tsk.from_file(request["key_file"]).decryptor(request["passphrase"] or None)
    except (RuntimeError, ValueError):
        sys.stdout.write("key")
        return
    try:
        pysequoia.decrypt_file(request["source"], request["to"], decryptor)
    except (RuntimeError, ValueError) as error:
        sys.stdout.write("disk" if "No space left" in str(error) else "message")


if __name__ == "__main__":
    main()
