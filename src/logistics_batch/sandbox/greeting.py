"""What somebody at a terminal reads when the sandbox listens."""

from typing import Any

from logistics_batch.sandbox.endpoints import CONTROL
from logistics_batch.sandbox.pages_access import API_PAGE, OPENAPI


def greeting(said: dict[str, Any], *, keys: tuple[str, ...], demo_key: str) -> str:
    """Where everything is; keys that somebody chose are not repeated."""
    url, sftp = said["url"], said["sftp"]
    key = demo_key if keys == (demo_key,) else "as given" if len(keys) == 1 else f"any of the {len(keys)} given"
    lines = [
        ("Service", f"{url}   (API_KEY: {key})"),
        ("Status page", f"{url}{CONTROL}"),
        ("API", f"{url}{API_PAGE}   ({url}{OPENAPI})"),
    ]
    if sftp:
        lines.append(("SFTP", f"sftp -P {sftp['port']} {sftp['username']}@{sftp['host']}   (folder: {sftp['root']})"))
    text = "".join(f"  {name:<12} {where}\n" for name, where in lines)
    return f"The sandbox listens, on this machine only. Ctrl-C stops it.\n{text}"
