"""PGP messages: opened in a process of its own, which may write no more than it should and take no more memory."""

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from logistics_batch.child_process import Allowance, Child, ChildAnswer, ChildLost
from logistics_batch.errors import SettingsError, StoreError
from logistics_batch.intake.names import held

_ALLOWANCE = Allowance(memory_bytes=2 << 30, cpu_seconds=25, wait_seconds=30.0)


@dataclass(frozen=True, slots=True)
class PgpKey:
    """Our private key as a file, and its passphrase ("" if it has none); never shown."""

    key_file: Path
    passphrase: str = field(default="", repr=False)

    def decrypt(self, source: Path, *, name: str, to: Path, most_bytes: int) -> None:
        """Write the plain bytes of a message to `to`.

        Raises FileHeld if the message is damaged, not for our key, or has more than `most_bytes` inside, SettingsError
        if the key cannot be used, StoreError if the disk is full.
        """
        if find_spec("pysequoia") is None:
            raise SettingsError.of("pgp.library")
        to.touch(mode=0o600)
        answer = self._ask(source, to, most_bytes)
        if answer == "key":
            raise SettingsError.of("pgp.key", file=str(self.key_file))
        if answer == "disk":
            raise StoreError.of("store.disk_full", path=str(to))
        if answer == "":
            return
        if to.stat().st_size >= most_bytes:
            raise held("file|unsafe.message", name, most=most_bytes >> 20)
        raise held("file|encrypted.message", name)

    def _ask(self, source: Path, to: Path, most_bytes: int) -> str:
        """What the process answers: "" if it went well, else "key", "disk" or "message", whichever is to blame."""
        question = {
            "key_file": str(self.key_file.resolve()),
            "passphrase": self.passphrase,
            "source": str(source.resolve()),
            "to": str(to.resolve()),
        }
        child = Child(__name__, allowance=replace(_ALLOWANCE, file_bytes=most_bytes))
        try:
            return str(child.ask(question).said["blamed"])
        except ChildLost:
            return "message"
        finally:
            child.close()


def answer(question: dict[str, Any], _files: tuple[bytes, ...]) -> ChildAnswer:
    """Decrypt one message, in the process; says what is to blame: "key", "disk", "message", or "" if all went well."""
    import pysequoia  # an extra, which needs not be there

    try:
        decryptor = pysequoia.Tsk.from_file(question["key_file"]).decryptor(question["passphrase"] or None)
    except (RuntimeError, ValueError):
        return ChildAnswer({"blamed": "key"})
    try:
        pysequoia.decrypt_file(question["source"], question["to"], decryptor)
    except (RuntimeError, ValueError, OSError) as error:
        return ChildAnswer({"blamed": "disk" if "No space left" in str(error) else "message"})
    return ChildAnswer({"blamed": ""})
