"""The arms in C++: eddy, Boost.Odeint, SUNDIALS and Eigen, each a program of native/, built apart from the rest of the repository."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

LIBRARIES = {"odeint": "libboost-dev", "sundials": "libsundials-dev", "eigen": "libeigen3-dev"}


class Native:
    def __init__(self, source: Path, build: Path):
        self.source, self.build = source, build
        self.missing: dict[str, str] = {}      # program: why
        self.compile_seconds: dict[str, float] = {}

    def prepare(self, programs: set[str], sizes: list[int], jobs: int, say: Callable[[str], None]) -> None:
        """Builds `programs`; what cannot be built is missing, and no more. `sizes`: of the states of the random cases."""
        configured = self._run(["cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Release",
                                f"-DPEERS_RANDOM_SIZES={';'.join(map(str, sorted(set(sizes))))}"])
        if configured.returncode != 0:
            self.missing = dict.fromkeys(programs, "CMake failed: " + _first_error(configured))
            return
        say(f"building {len(programs)} programs")
        built = self._run(["cmake", "--build", str(self.build), "--parallel", str(jobs), "--target", *sorted(programs), "--", "-k", "0"])
        for program in programs:
            if not self.program(program).is_file() or built.returncode != 0 and self._cannot_build(program):
                self.missing[program] = "cannot be built: " + _first_error(built)
                say(f"{program}: {self.missing[program]}")
        self._read_compile_times()

    def program(self, name: str) -> Path:
        return self.build / name

    def seconds_of(self, program: str) -> float:
        return self.compile_seconds.get(program, 0.0)

    def versions(self) -> dict[str, str]:
        cache = (self.build / "CMakeCache.txt").read_text() if (self.build / "CMakeCache.txt").is_file() else ""
        return {name: found[1] for name in ("Boost", "SUNDIALS", "Eigen") if (found := re.search(rf"PEERS_{name}_VERSION:\w+=(.+)", cache))}

    def _cannot_build(self, program: str) -> bool:
        return self._run(["cmake", "--build", str(self.build), "--target", program]).returncode != 0

    def _read_compile_times(self) -> None:
        """Ninja's log: begin and end of each object, in milliseconds."""
        log = self.build / ".ninja_log"
        objects: dict[str, float] = {}
        for line in log.read_text().splitlines() if log.is_file() else ():
            if found := re.match(r"(\d+)\t(\d+)\t\d+\t(CMakeFiles/(\w+)\.dir/.*\.o)\t", line):
                objects[found[3]] = (int(found[2]) - int(found[1])) / 1000
        for name, seconds in objects.items():
            program = name.split("/")[1].removesuffix(".dir")
            self.compile_seconds[program] = self.compile_seconds.get(program, 0.0) + seconds

    def _run(self, command: list[str]) -> subprocess.CompletedProcess:
        try:
            return subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            return subprocess.CompletedProcess(command, 1, "", f"error: {error}")


def _first_error(done: subprocess.CompletedProcess) -> str:
    lines = (done.stdout + done.stderr).splitlines()
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")[:200]
