"""One process an arm: started pinned, asked one thing at a time, and never trusted to answer.

Whatever goes wrong there, a crash, silence, a complaint, becomes one exception with a sentence, so that it ends as a line of a
table and not as the end of the run.
"""

import os
import selectors
import signal
import subprocess
import tempfile
import time
from array import array
from contextlib import suppress
from pathlib import Path

from .protocol import Message, parse


class ArmFailed(Exception):
    """The arm crashed, hung or gave up; the text says which, for a reader of the table."""


class ArmProcess:
    def __init__(self, command: list[str], cores: list[int], timeout: float, environment: dict[str, str] | None = None):
        self.timeout = timeout
        self.errors = tempfile.TemporaryFile()
        threads = str(max(1, len(cores)))
        limits = {name: threads for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True,
                env=os.environ | limits | (environment or {}), preexec_fn=pin_to(cores))
        except OSError as error:
            self.errors.close()
            raise ArmFailed(f"cannot be started: {error.strerror}") from None
        self.buffer = b""

    def __enter__(self) -> "ArmProcess":
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def hear(self, timeout: float | None = None) -> Message:
        """The next line that belongs to the protocol; what libraries print in between is skipped."""
        deadline = time.monotonic() + (timeout or self.timeout)
        while True:
            line = self._line(deadline, timeout or self.timeout)
            message = parse_quietly(line)
            if message.word == "failed":
                self.end()
                raise ArmFailed(message.fields.get("reason", "gave up without a reason"))
            if message.word in ("ready", "ok", "done"):
                return message

    def ask(self, word: str, **fields) -> Message:
        try:
            self.process.stdin.write((str(Message(word, fields)) + "\n").encode())
            self.process.stdin.flush()
        except OSError:
            raise ArmFailed(self._how_it_ended()) from None
        return self.hear()

    def values(self) -> list[float]:
        """The result of the last run."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "values")
            self.ask("values", file=str(file))
            numbers = array("d")
            numbers.frombytes(file.read_bytes())
            return numbers.tolist()

    def move_to(self, cores: list[int]) -> None:
        """All its threads, to other cores, as many as before."""
        for thread in Path(f"/proc/{self.process.pid}/task").glob("*") if cores else ():
            with suppress(OSError):    # it has ended
                os.sched_setaffinity(int(thread.name), cores)

    def memory(self, name: str) -> int:
        """Bytes, from the kernel: VmRSS now, or VmHWM, the most since `forget_peak`."""
        try:
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith(name + ":"):
                    return 1024 * int(line.split()[1])
        except OSError:
            pass
        return 0

    def forget_peak(self) -> None:
        try:
            Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        except OSError:
            pass  # the peak then includes what came before

    def end(self) -> None:
        """Ends the arm and all that it has started."""
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            try:
                stream.close()
            except OSError:
                pass

    def _line(self, deadline: float, timeout: float) -> str:
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.end()
                    raise ArmFailed(f"no answer within {timeout:g} s")
                chunk = os.read(self.process.stdout.fileno(), 65536)
                if not chunk:
                    raise ArmFailed(self._how_it_ended())
                self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode(errors="replace")

    def _how_it_ended(self) -> str:
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            return "closed its output and went on"
        how = f"crashed with signal {-code}" if code < 0 else f"ended with code {code}"
        self.errors.seek(0)
        last = self.errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return f"{how}: {last[0][:200]}" if last else how


def parse_quietly(line: str) -> Message:
    try:
        return parse(line)
    except ValueError:  # a lone quote: not one of ours
        return Message("")


def pin_to(cores: list[int]):
    return (lambda: os.sched_setaffinity(0, cores)) if cores and hasattr(os, "sched_setaffinity") else None
