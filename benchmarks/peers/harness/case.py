"""What a case and an arm are. The list of them is roster.py."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Arm:
    name: str
    peer: str                               # what has to be there: "eddy", "diffrax"; install.py and native.py know how
    command: tuple[str, ...]                # a script of arms/, or a program of native/
    options: dict[str, str] = field(default_factory=dict)
    stride: int = 1                         # runs every stride-th lane: for those whose lanes cost the same alone, and much
    only_targets: tuple[float, ...] = ()    # empty: all
    few: int = 0                            # runs so many of the lanes that are looked at, and no others: for those that take seconds a lane

    def looked_at(self, case: "Case", lanes: int) -> int:
        """The number of lanes whose error is looked at."""
        return min(lanes, case.check, self.few or lanes)

    @property
    def on_gpu(self) -> bool:
        return self.options.get("device") == "gpu"


@dataclass(frozen=True)
class Case:
    key: str                                # "2-adaptive"
    title: str
    problem: str
    task: str                               # what the arms do: "fixed", "adaptive", "gradient", …
    unit: str                               # of the work: "lane", "lane and step", "call"
    paragraph: str                          # for the page: what is measured, what is not
    arms: tuple[Arm, ...]
    lanes: int = 4096
    quick_lanes: int = 1024
    check: int = 64                         # lanes whose error is looked at, evenly among all
    targets: tuple[float, ...] = ()         # errors to compare at; empty: the work is given, errors are told
    sweep: tuple[float, ...] = ()           # further errors, for the picture alone
    options: dict[str, str] = field(default_factory=dict)
    work_per_lane: float = 1
    shows_memory: bool = False
    same_error: float | None = None         # where the work is given: the error that none should exceed
    by_component: bool = False              # the error is that of the worst component, each relative to itself

    @property
    def number(self) -> str:
        return self.key.split("-")[0]

    @property
    def names(self) -> set[str]:
        """What `--only` may call it: 10 and 10a, R and R1."""
        return {self.key, self.number, self.number.rstrip("abcdefgh"), self.number.rstrip("123456789"), self.task} - {""}


def chosen(cases: list[Case], words: list[str]) -> list[Case]:
    """Those that `--only` names by number, key or task, with the arms whose peers it names; eddy runs always."""
    known_peers = {arm.peer for case in cases for arm in case.arms}
    wanted_peers = {word for word in words if word in known_peers}
    wanted_cases = [word for word in words if word not in known_peers]
    for word in wanted_cases:
        if not any(word in case.names for case in cases):
            names = ", ".join(case.key for case in cases)
            raise ValueError(f"--only: no case and no peer is called {word}; cases: {names}; peers: {', '.join(sorted(known_peers))}")
    kept = [case for case in cases if not wanted_cases or case.names & set(wanted_cases)]
    if not wanted_peers:
        return kept
    return [Case(**(vars(case) | {"arms": tuple(arm for arm in case.arms if arm.peer in wanted_peers | {"eddy"})})) for case in kept]
