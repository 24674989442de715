"""The peers that PyPI has, in a virtual environment of their own. Each is installed alone: one that cannot be had is no reason to do
without the others."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

TORCH_FOR_CPU = "https://download.pytorch.org/whl/cpu"    # PyPI's own wheel brings gigabytes of CUDA along

# The peer as cases name it: what pip is asked for, and the module that shows that it works.
PACKAGES = {
    "scipy": (["numpy", "scipy", "matplotlib"], "scipy.integrate"),
    "jax": (["jax", "optax"], "jax"),
    "diffrax": (["diffrax"], "diffrax"),
    "heyoka": (["heyoka"], "heyoka"),
    "numbalsoda": (["numbalsoda"], "numbalsoda"),
    "diffsol": (["pydiffsol"], "pydiffsol"),
    "casadi": (["casadi"], "casadi"),
    "assimulo": (["assimulo-testing"], "numba, assimulo.lib.rodas"),    # "assimulo" itself is a source from 2018
    "torch": (["torch"], "torch"),
    "torchdiffeq": (["torchdiffeq"], "torchdiffeq"),
    "torchode": (["torchode", "typeguard<3"], "torchode"),
    "torchsde": (["torchsde"], "torchsde"),
}


class Environment:
    def __init__(self, folder: Path, has_gpu: bool = False):
        self.folder, self.has_gpu = folder, has_gpu
        self.python = folder / "bin/python"
        self.missing: dict[str, str] = {}

    def prepare(self, say: Callable[[str], None], wanted: set[str]) -> None:
        """Installs what is not there yet; `missing` then says why something is not."""
        if not self.python.is_file():
            say("making a virtual environment")
            made = _run([sys.executable, "-m", "venv", str(self.folder)])
            if made.returncode != 0:
                self.missing = {peer: "no virtual environment: " + _last_line(made) for peer in PACKAGES}
                return
        for peer, (requirements, module) in PACKAGES.items():
            if peer in wanted and (reason := self._provide(peer, requirements, module, say)):
                self.missing[peer] = reason
                say(f"{peer}: {reason}")

    def _provide(self, peer: str, requirements: list[str], module: str, say: Callable[[str], None]) -> str:
        """Empty, or why there is no such peer."""
        done = self.folder / f"has_{peer}"
        if done.is_file():
            return ""
        say(f"installing {peer}")
        if peer == "jax" and self.has_gpu:
            requirements = ["jax[cuda13]", *requirements[1:]]
        installed = None
        if peer == "torch" and not self.has_gpu:
            installed = self._pip(["--index-url", TORCH_FOR_CPU, "--retries", "0", "--timeout", "10", *requirements])
        if installed is None or installed.returncode != 0:
            installed = self._pip(requirements)
        if installed.returncode != 0:
            return "cannot be installed: " + _last_line(installed)
        works = _run([str(self.python), "-c", f"import {module}"], timeout=300)
        if works.returncode != 0:
            return "is installed and does not work: " + _last_line(works)
        done.touch()
        return ""

    def _pip(self, arguments: list[str]) -> subprocess.CompletedProcess:
        return _run([str(self.python), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *arguments], timeout=900)

    def versions(self) -> dict[str, str]:
        names = ["jax", "diffrax", "heyoka", "pydiffsol", "casadi", "numbalsoda", "numba", "assimulo-testing", "torch", "torchdiffeq", "torchode", "torchsde", "scipy", "numpy"]
        code = ("import importlib.metadata as m\n"
                f"for name in {names!r}:\n    try: print(name, m.version(name))\n    except m.PackageNotFoundError: pass")
        told = _run([str(self.python), "-c", "import sys; print('python', sys.version.split()[0])\n" + code], timeout=60).stdout
        return dict(line.split(" ", 1) for line in told.splitlines())


def _run(command: list[str], timeout: float = 600) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _last_line(done: subprocess.CompletedProcess) -> str:
    return (done.stderr.strip().splitlines() or [f"code {done.returncode}"])[-1][:200]
