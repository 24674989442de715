"""An arm for the tests: its error is a power of its tolerance; options make it crash, hang, chatter or give up."""

import os
import signal
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/peers"))
from harness.protocol import Message, parse  # noqa: E402

options = dict(pair.partition("=")[::2] for pair in sys.argv[1:])
factor, power, floor = (float(options.get(key, default)) for key, default in (("factor", 1), ("power", 1), ("floor", 0)))
tolerance, num_runs = 1.0, 0


def say(word, **fields):
    print(Message(word, fields), flush=True)


if options.get("ends") == "before":
    print("no module named peer", file=sys.stderr)
    sys.exit(3)
print("a library's words, with a lone ' quote")
say("ready", compile=0.5, setting="a fake")
for line in sys.stdin:
    request = parse(line)
    if request.word == "tolerance":
        tolerance = float(request.fields["value"])
        say("ok")
    elif request.word == "run":
        num_runs += 1
        if num_runs > int(options.get("runs", 1_000_000)):
            if options.get("ends") == "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            if options.get("ends") == "hang":
                time.sleep(1000)
            say("failed", reason="does not want to")
        repeats = int(request.fields["repeats"])
        seconds = float(options.get("seconds", 0.001)) * repeats
        say("done", wall=seconds * float(options.get("waits", 1)), processor=seconds, accepted=10 * 4, rejected=0, evaluations=61 * 4, number=num_runs,
            core=min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0)
    elif request.word == "values":
        error = max(floor, factor * tolerance ** power)
        Path(request.fields["file"]).write_bytes(struct.pack("2d", 3 * (1 + error), 4 * (1 + error))[:8 * int(options.get("writes", 2))])
        say("ok")
