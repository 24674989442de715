"""The tolerances that were found, in a file of the repository: who runs the benchmarks again need not search, and who doubts them
can read at which tolerance each arm ran. A run with fewer lanes looks at lanes that are nearly the same, so there is one tolerance for
all; each run measures the error that it gives."""

import json
from pathlib import Path

from .bisection import Tuned


class ToleranceFile:
    def __init__(self, path: Path):
        self.path = path
        self.entries: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.is_file() else {}
        self.changed = False

    @staticmethod
    def key(case: str, arm: str, target: float) -> str:
        return f"{case} | {arm} | {target:.0e}"

    def get(self, key: str) -> Tuned | None:
        entry = self.entries.get(key)
        return Tuned(entry["tolerance"], entry["error"]) if entry else None

    def set(self, key: str, tolerance: float, error: float) -> None:
        self.entries[key] = {"tolerance": float(f"{tolerance:.4g}"), "error": float(f"{error:.3g}")}
        self.changed = True

    def save(self) -> None:
        if self.changed:
            lines = (f"  {json.dumps(key)}: {json.dumps(self.entries[key])}" for key in sorted(self.entries))
            self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
            self.changed = False
