"""recipes.py SOURCE PREFIX FOLDER CMAKE: reads the recipes for Spack and vcpkg, which are not installed here, with stand-ins for what these call.

Spack: each directive is a known one, and versions have an address. vcpkg: the port runs on a copy of what `cmake --install` has left in
PREFIX, and files that it names are there."""

import json
import shutil
import subprocess
import sys
import types
from pathlib import Path

DIRECTIVES = ("license", "version", "variant", "depends_on", "conflicts")
STAND_INS = """
function(need path)
    if(NOT EXISTS ${path})
        message(FATAL_ERROR "${path} is missing")
    endif()
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    need(${arg_SOURCE_PATH}/CMakeLists.txt)
endfunction()
function(vcpkg_cmake_install)
endfunction()
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    need(${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/${PORT}Config.cmake)
endfunction()
function(vcpkg_fixup_pkgconfig)
    need(${CURRENT_PACKAGES_DIR}/lib/pkgconfig/${PORT}.pc)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    need(${arg_FILE_LIST})
endfunction()
"""


def check_spack(recipe):
    calls = []
    package = types.ModuleType("spack.package")
    for name in DIRECTIVES:
        setattr(package, name, lambda *values, kind=name, **named: calls.append((kind, values, named)))
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = type("CMakePackage", (), {"define_from_variant": lambda self, *names: names})
    for path in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[path] = types.ModuleType(path)
    sys.modules.update({"spack.package": package, cmake.__name__: cmake})
    names = {}
    exec(compile(recipe.read_text(encoding="utf-8"), str(recipe), "exec"), names)
    eddy = names["Eddy"]
    assert eddy.git.startswith("https://") and eddy.__doc__
    variants = {values[0] for kind, values, _ in calls if kind == "variant"}
    assert all(values[1] in variants for values in eddy().cmake_args())
    assert {"version", "license", "depends_on"} <= {kind for kind, _, _ in calls}


def check_vcpkg(port, prefix, folder, cmake):
    manifest = json.loads((port / "vcpkg.json").read_text(encoding="utf-8"))
    helpers = {one["name"] for one in manifest["dependencies"] if isinstance(one, dict)}
    assert helpers == {"vcpkg-cmake", "vcpkg-cmake-config"} and all(one["host"] for one in manifest["dependencies"] if isinstance(one, dict))
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prefix, folder / "packages")
    script = folder / "run.cmake"
    script.write_text(f"{STAND_INS}include({port / 'portfile.cmake'})\n", encoding="utf-8")
    subprocess.run([cmake, f"-DPORT={manifest['name']}", f"-DCURRENT_PACKAGES_DIR={folder / 'packages'}", "-P", script], check=True)
    assert (folder / "packages/share" / manifest["name"] / "usage").is_file()


def main():
    source, prefix, folder = (Path(argument).resolve() for argument in sys.argv[1:4])
    check_spack(source / "packaging/spack/eddy/package.py")
    check_vcpkg(source / "packaging/vcpkg", prefix, folder, sys.argv[4])


main()
