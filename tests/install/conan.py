"""conan.py SOURCE FOLDER BUILD: makes the package of packaging/conan and runs its test_package, unoptimised, in a home of its own. The library's
objects are those of the folder BUILD. Exits with 4, skipped, where Conan 2 is neither there nor to be had from PyPI."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

SKIPPED = 4


def find_conan(folder):
    found = shutil.which("conan")
    if found and "version 2" in subprocess.run([found, "--version"], capture_output=True, text=True).stdout:
        return found
    conan = folder / "venv" / "bin" / "conan"
    if not conan.is_file():
        try:
            venv.create(folder / "venv", with_pip=True)
            subprocess.run([folder / "venv" / "bin" / "pip", "install", "--quiet", "conan>=2,<3"], check=True, timeout=120)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"skipped: Conan cannot be installed here: {error}")
            sys.exit(SKIPPED)
    return conan


def main():
    source, folder, build = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    conan = find_conan(folder)
    shutil.rmtree(folder / "home", ignore_errors=True)
    os.environ["CONAN_HOME"] = str(folder / "home")
    subprocess.run([conan, "profile", "detect"], check=True)
    subprocess.run([conan, "create", source / "packaging" / "conan", "--no-remote", "-s", "build_type=Debug", "-s", "compiler.cppstd=gnu20", "-c", "tools.build:cxxflags=['-g0']",
                    "-c", f"tools.cmake.cmaketoolchain:extra_variables={{'EDDY_OBJECTS_OF': '{build}'}}",
                    "--test-folder", source / "packaging" / "conan" / "test_package",
                    "-c", f"tools.cmake.cmake_layout:test_folder={folder / 'test'}"], check=True)


main()
