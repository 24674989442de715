"""What harness and arms say to each other: one line at a time, a word and `key=value` pairs, values quoted as a shell would.

    harness                                  arm
                                             ready compile=1.25 setting='Tsit5, while_loop'
    tolerance value=1e-07                    ok
    run repeats=10                           done wall=0.31 processor=0.30 accepted=812 rejected=3 evaluations=4890
    values file=…                            ok            (the result of the last run, as doubles)
    quit

An arm that cannot go on says `failed reason='…'` in place of any answer, and ends. Times are seconds for all repeats together.
"""

import shlex
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Message:
    word: str
    fields: dict[str, str] = field(default_factory=dict)

    def number(self, key: str, default: float = 0.0) -> float:
        return float(self.fields.get(key, default))

    def __str__(self) -> str:
        return " ".join([self.word, *(f"{key}={shlex.quote(str(value))}" for key, value in self.fields.items())])


def parse(line: str) -> Message:
    word, *pairs = shlex.split(line) or [""]
    return Message(word, dict(pair.partition("=")[::2] for pair in pairs))
