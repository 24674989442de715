"""One line on a terminal that is written over; elsewhere a line a case, so that a log stays short."""

import shutil
import sys
import time


class Progress:
    def __init__(self, total: int, stream=None):
        self.total, self.done, self.stream = max(1, total), 0, stream or sys.stderr
        self.is_terminal = self.stream.isatty()
        self.start = time.monotonic()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._clear()
        print(text, file=self.stream, flush=True)

    def at(self, what: str) -> None:
        """What is being done now."""
        if not self.is_terminal:
            return
        part = min(1.0, self.done / self.total)
        elapsed = time.monotonic() - self.start
        left = f"{elapsed / part - elapsed:4.0f} s left" if part > 0.02 else ""
        bar = ("█" * round(20 * part)).ljust(20, "·")
        width = shutil.get_terminal_size().columns - 1
        self._clear()
        self.stream.write(f"{bar} {100 * part:3.0f} % {elapsed:4.0f} s, {left}  {what}"[:width])
        self.stream.flush()

    def step(self, count: int = 1) -> None:
        self.done += count

    def _clear(self) -> None:
        if self.is_terminal:
            self.stream.write("\r\x1b[K")
