"""What the figures were measured on."""

import os
import platform
import re
import subprocess
from pathlib import Path


def describe(versions: dict[str, str], cores: int) -> dict[str, str]:
    kibibytes = int(_first(r"MemTotal:\s*(\d+)", _read("/proc/meminfo")) or 0)
    compiler = _output("c++", "--version").splitlines()
    told = {
        "processor": _first(r"model name\s*:\s*(.*)", _read("/proc/cpuinfo")) or platform.machine(),
        "cores": f"{os.cpu_count()}, of which {cores} used",
        "vectors": ", ".join(flag for flag in ("avx2", "fma", "avx512f") if re.search(rf"\b{flag}\b", _read("/proc/cpuinfo"))),
        "memory": f"{kibibytes / 2**20:.0f} GiB",
        "system": _first(r'PRETTY_NAME="(.*)"', _read("/etc/os-release")) + ", Linux " + platform.release().split("-")[0],
        "compiler": compiler[0] if compiler else "none",
        "frequency": _first(r"cpu MHz\s*:\s*(.*)", _read("/proc/cpuinfo")) + " MHz when asked",
    }
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = _read(cache / "type").strip()
        told[f"cache L{_read(cache / 'level').strip()} {kind.lower()}"] = _read(cache / "size").strip()
    if devices := gpus():
        told["GPU"] = ", ".join(devices)
    return {key: value for key, value in told.items() if value} | versions


def gpus() -> list[str]:
    return [line.strip() for line in _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines() if line.strip()]


def _read(path) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _first(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    return match[1].strip() if match else ""


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
