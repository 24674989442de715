"""An arm in Python: harness/protocol.py says what is spoken. An arm is a class with `setting`, `compile`, `set_tolerance`, `run`, which
returns when the result is there, and `values`."""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.protocol import Message, parse  # noqa: E402


class Arm:
    """`run` returns counts of all lanes together: accepted, rejected, evaluations, as far as the peer tells them."""
    setting = ""
    compile = 0.0

    def set_tolerance(self, tolerance: float) -> None:
        raise NotImplementedError

    def run(self) -> dict[str, float]:
        raise NotImplementedError

    def values(self) -> np.ndarray:
        raise NotImplementedError


class Lanes:
    """Which lanes are run and which are looked at."""

    def __init__(self, options: dict[str, str]):
        lanes, stride, check = int(options["lanes"]), int(options.get("stride", 1)), int(options["check"])
        self.run = slice(None, None, stride)
        self.num_run = len(range(0, lanes, stride))
        self.look = slice(None, None, lanes // check // stride)    # of those that are run
        # How many are handed to the peer at once, where fewer than all are faster: their intermediate values stay in the cache.
        self.at_once = min(int(options.get("at_once", self.num_run)), self.num_run)
        self.parts = [slice(first, first + self.at_once) for first in range(0, self.num_run, self.at_once)]


def given(words: list[str]) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in words)


def say(word: str, **fields) -> None:
    print(Message(word, fields), flush=True)


def serve(make) -> None:
    try:
        start = time.perf_counter()
        arm = make(given(sys.argv[1:]))
        say("ready", compile=arm.compile or time.perf_counter() - start, setting=arm.setting)
        for line in sys.stdin:
            if not answer(arm, parse(line)):
                break
    except Exception as error:  # whatever it is, it is a line of the table
        say("failed", reason=f"{type(error).__name__}: {error}".splitlines()[0][:200])
        raise


def answer(arm: Arm, request: Message) -> bool:
    if request.word == "tolerance":
        arm.set_tolerance(float(request.fields["value"]))
        say("ok")
    elif request.word == "run":
        repeats = int(request.fields["repeats"])
        processor, wall = time.process_time(), time.perf_counter()
        for _ in range(repeats):
            counts = arm.run()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        say("done", wall=wall, processor=processor, **{key: float(value) if not isinstance(value, str) else value for key, value in (counts or {}).items()})
    elif request.word == "values":
        Path(request.fields["file"]).write_bytes(np.ascontiguousarray(arm.values(), dtype=np.float64).tobytes())
        say("ok")
    return request.word != "quit"
