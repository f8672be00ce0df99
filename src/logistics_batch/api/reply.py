"""What came back from one call, and what is known about how far it got."""

from dataclasses import dataclass, field
from typing import Literal

LARGEST_BODY_BYTES = 1024 * 1024
LARGEST_LIST_BYTES = 32 * 1024 * 1024
"""Of an answer that lists what lies in a range of dates: some 20,000 ASNs, and no more memory than a night has."""

Failure = Literal["", "connect", "tls", "timeout", "deadline", "reset", "protocol", "encoding", "late"]


@dataclass(frozen=True, slots=True)
class Trace:
    """How far a call got; each step is certain where it says True.

    send_started False proves that the service never saw the call. True proves nothing: the bytes may lie anywhere.
    """

    connect_started: bool = False
    send_started: bool = False
    body_sent: bool = False
    reply_started: bool = False

    @property
    def on_kept_line(self) -> bool:
        """Whether the call went out on a connection that was there before."""
        return self.send_started and not self.connect_started


@dataclass(frozen=True, slots=True)
class Reply:
    """One call's end, good or bad; `api.answers` says what it means.

    status: None if no answer came. body: as far as it came, at most what is read of such a call (then `truncated`),
    decompressed, without the API key. failure: "" or what broke; "late": the call could not leave in time and was not
    made. A status may stand beside it when only the body was cut. detail: the failure in the words of the system, for
    an operator.
    """

    endpoint: str
    trace: Trace = field(default_factory=Trace)
    status: int | None = None
    content_type: str = ""
    body: bytes = field(default=b"", repr=False)  # holds people's names and addresses
    truncated: bool = False
    failure: Failure = ""
    detail: str = ""
    retry_after_seconds: float | None = None
    elapsed_seconds: float = 0.0
