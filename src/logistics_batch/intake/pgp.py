"""PGP messages: the only door to the PGP library, which is an extra."""

from dataclasses import dataclass, field
from pathlib import Path

from logistics_batch.errors import FileHeld, SettingsError
from logistics_batch.intake.names import printable


@dataclass(frozen=True, slots=True)
class PgpKey:
    """Our private key as a file, and its passphrase ("" if it has none); never shown."""

    key_file: Path
    passphrase: str = field(default="", repr=False)

    def decrypt(self, source: Path, *, name: str, to: Path) -> None:
        """Write the plain bytes of a message to `to`.

        Raises FileHeld if the message is damaged or not for our key, SettingsError if the key cannot be used.
        """
        try:
            import pysequoia
        except ModuleNotFoundError as error:
            remedy = "Install the extra: pip install 'logistics-batch[pgp]'."
            raise SettingsError("[pgp] is set, but the PGP library is not installed.", remedy=remedy) from error
        try:
            decryptor = pysequoia.Tsk.from_file(str(self.key_file)).decryptor(self.passphrase or None)
        except (RuntimeError, ValueError) as error:
            remedy = "Export the private key again (gpg --armor --export-secret-keys) and check its passphrase."
            raise SettingsError(f"pgp.key_file: {self.key_file} is no usable private key.", remedy=remedy) from error
        try:
            to.touch(mode=0o600)
            to.write_bytes(pysequoia.decrypt(source.read_bytes(), decryptor).bytes or b"")
        except (RuntimeError, ValueError) as error:
            raise FileHeld(
                f"{printable(name)} cannot be decrypted: it is damaged, or was not encrypted for our key.",
                rule="file|encrypted",
                remedy="Encrypt it with the public key that the operator gave you and send it again.",
            ) from error
