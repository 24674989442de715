"""Every options struct of the public headers is among those that tests/fuzz/options*.cpp take to its extremes."""

import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[2]
tested = "".join(path.read_text() for path in sorted((root / "tests/fuzz").glob("options*.cpp")))
structs = {
    name: header
    for header in sorted((root / "include/eddy").rglob("*.hpp"))
    for name in re.findall(
        r"^struct (\w+(?:Options|Controller)|Cpu|Tiles|Adam|Sgd|Lbfgs|CosineSchedule)\b", header.read_text(), re.MULTILINE
    )
}
# ConstantController has no members; PIDController and Cpu are members of fuzz::Ask.
through_ask = {"ConstantController": None, "PIDController": "ask.controller", "Cpu": "ask.cpu"}
missing = []
for name, header in structs.items():
    wanted = through_ask.get(name, name)
    if wanted is not None and wanted not in tested:
        missing.append(f"{header.relative_to(root)}: {name} is not in tests/fuzz/options*.cpp")
# Methods have members of their own.
for header in sorted((root / "solvers").glob("*.hpp")):
    for member in re.findall(r"^    (?:double|int|bool) (\w+) =", header.read_text(), re.MULTILINE):
        if member not in tested:
            missing.append(f"{header.relative_to(root)}: {member} is not in tests/fuzz/options*.cpp")
if len(structs) < 8:
    missing.append(f"only {len(structs)} structs were found: has their form changed?")
print("\n".join(missing) or f"{len(structs)} structs")
sys.exit(bool(missing))
