"""Whether a call may begin: not while an answer that is neither a yes nor a no was not looked at."""

from threading import Condition


class SendGate:
    """After an answer that is neither a yes nor a no, no call begins until that was looked at."""

    def __init__(self, *, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._changed = Condition()
        self._unclear = 0  # answers that were not looked at yet
        self._shut = False

    def may_begin(self) -> bool:
        """Wait until all is clear; False if nothing more may begin, or it takes too long."""
        with self._changed:
            self._changed.wait_for(lambda: self._shut or not self._unclear, self._patience_seconds)
            return not self._shut and not self._unclear

    def close(self) -> None:
        """Such an answer came."""
        with self._changed:
            self._unclear += 1

    def looked_at(self, *, go_on: bool) -> None:
        """It was looked at; if the run is to stop or to pause, what has not begun does not begin."""
        with self._changed:
            self._unclear -= 1
            self._shut |= not go_on
            self._changed.notify_all()

    def shut(self) -> None:
        """Nothing more begins, until `open`."""
        with self._changed:
            self._shut = True
            self._changed.notify_all()

    def open(self) -> None:
        """New calls may begin."""
        with self._changed:
            self._shut = False
