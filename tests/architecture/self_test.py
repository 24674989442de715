"""Breaks each rule of check.py in a small tree of its own: a rule that cannot fail protects nothing."""

import tempfile
import unittest
from pathlib import Path

import check

HEAD = "#pragma once\n// One idea.\n// Test: tests/core/vec.cpp\n"
GOOD = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\ntarget_sources(eddy PUBLIC FILE_SET HEADERS FILES include/eddy/eddy.hpp include/eddy/runtime.hpp)\n"
                      "target_sources(eddy_storage PUBLIC FILE_SET HEADERS FILES include/eddy/storage.hpp)\n",
    "include/eddy/eddy.hpp": HEAD + "#include <eddy/backends/cuda.hpp>\n#include <eddy/core/host_device.hpp>\n",
    "include/eddy/runtime.hpp": HEAD + "#include <eddy/core/host_device.hpp>\n",
    "include/eddy/storage.hpp": HEAD + "#include <eddy/checkpoint/disk.hpp>\n",
    "include/eddy/checkpoint/CMakeLists.txt": "target_sources(eddy_storage PUBLIC FILES\n    disk.hpp\n)\n",
    "include/eddy/checkpoint/disk.hpp": HEAD + "#include <eddy/ad/vjp.hpp>\n",
    "include/eddy/core/CMakeLists.txt": "FILES\n    host_device.hpp\n    vec.hpp  # not gone.hpp\n"
                                        "PRIVATE ${PROJECT_SOURCE_DIR}/src/core/error.cpp)\n",
    "include/eddy/core/host_device.hpp": HEAD + "#if defined(__CUDACC__)\n#define EDDY_HD __host__ __device__\n#endif\n",
    "include/eddy/core/vec.hpp": HEAD + "#include <array>\n// __CUDACC__ is not asked here\n#define LOCAL 1\n#undef LOCAL\n",
    "include/eddy/ad/CMakeLists.txt": "FILES vjp.hpp)\n",
    "include/eddy/ad/vjp.hpp": HEAD + "#include <eddy/core/vec.hpp>\n#include <eddy/ad/vjp.hpp>\n",
    "include/eddy/backends/CMakeLists.txt": "FILES cuda.hpp)\n",
    "include/eddy/backends/cuda.hpp": HEAD + "#include <cuda_runtime.h>\n#include <eddy/solvers/tsit5.hpp>\n",
    "solvers/CMakeLists.txt": "set(headers\n    tsit5.hpp\n)\n",
    "solvers/tsit5.hpp": "#include <eddy/ad/vjp.hpp>\n" + "// a table of numbers\n" * 500,
    "src/core/private.hpp": "#pragma once\n",
    "tests/CMakeLists.txt": "eddy_test(vec SOURCES core/vec.cpp)\neddy_benchmark(speed)\n",
    "tests/core/vec.cpp": "#include <eddy/eddy.hpp>\n#include \"support/doors.hpp\"\n",
    "tests/support/doors.hpp": "#include <eddy/runtime.hpp>\n#include <eddy/storage.hpp>\n",
    "docs/design/solving.md": "| folder | files |\n| --- | --- |\n| `backends/` | `cuda` |\n",
    "tests/speed.cpp": "",
    "README.md": "It needs CMake 3.25.\n",
    "src/core/error.cpp": "#include <eddy/core/vec.hpp>\n#include \"private.hpp\"\n// https://example.org/work/home\n",
}


def complaints(changes=None, tests_of=None):
    """What check.py says of the good tree with `changes` made to it: {path: text to append}. `tests_of`: a header that the test includes, too."""
    if tests_of and tests_of.startswith("include"):
        changes = changes | {"tests/core/vec.cpp": f"#include <{tests_of.removeprefix('include/')}>\n"}
    with tempfile.TemporaryDirectory() as folder:
        for path in GOOD | (changes or {}):
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(GOOD.get(path, "") + (changes or {}).get(path, ""))
        return check.complaints(folder)


class EachRuleCanFail(unittest.TestCase):
    def test_a_good_tree_has_no_complaints(self):
        self.assertEqual(complaints(), [])

    def expect(self, path, text, complaint):
        found = complaints({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], rf"^{path}:\d+: {complaint}")

    def test_upward_include_in_a_header(self):
        self.expect("include/eddy/core/vec.hpp", "#include <eddy/ad/vjp.hpp>\n", "upward include: core .*ad/vjp.hpp")

    def test_namespace_without_a_version(self):
        self.expect("include/eddy/core/vec.hpp", "namespace eddy::detail {\n", "namespace without a version")
        self.expect("src/core/error.cpp", "namespace eddy {\n", "namespace without a version")
        self.assertEqual(complaints({"include/eddy/core/vec.hpp": "namespace eddy::inline v0::detail {\n"}), [])

    def test_upward_include_of_a_solver(self):
        self.expect("include/eddy/ad/vjp.hpp", "# include \"eddy/solvers/tsit5.hpp\"\n", "upward include: ad .*tsit5")

    def test_upward_include_in_a_source(self):
        self.expect("src/core/error.cpp", "#include <eddy/backends/cuda.hpp>\n", "upward include: core")

    def test_relative_include(self):
        self.expect("src/core/error.cpp", '#include "../../include/eddy/ad/vjp.hpp"\n', "upward include: core .*vjp")

    def test_front_door_from_inside(self):
        self.expect("include/eddy/ad/vjp.hpp", "#include <eddy/eddy.hpp>\n", "upward include: .* front door")

    def test_unknown_floor(self):
        unknown, unbuilt = complaints({"src/cellar/wine.cpp": ""})
        self.assertRegex(unknown, "^src/cellar/wine.cpp:1: unknown floor: cellar")
        self.assertRegex(unbuilt, "^src/cellar/wine.cpp:1: source built by nothing")

    def test_outside_libraries(self):
        for name in ["cuda_runtime.h", "cuda/std/array", "cub/cub.cuh", "thrust/sort.h", "Eigen/Core",
                     "boost/numeric/odeint.hpp", "boost/numeric/odeint/stepper/euler.hpp"]:
            with self.subTest(name):
                self.expect("include/eddy/ad/vjp.hpp", f"#include <{name}>\n", "outside library")

    def test_vague_names(self):
        for name in ["utils.py", "misc.csv", "test_helpers.md", "helper.cmake"]:
            with self.subTest(name):
                self.expect(f"tests/{name}", "", "vague name")

    def test_long_header(self):
        self.expect("include/eddy/ad/vjp.hpp", "//\n" * 400, "long header: 405 lines")

    def test_heads_that_do_not_name_their_tests(self):
        path, new = "include/eddy/core/gone.hpp", {"include/eddy/core/CMakeLists.txt": "FILES gone.hpp )\n", "include/eddy/eddy.hpp": "#include <eddy/core/gone.hpp>\n"}
        for head, complaint in [("#pragma once\n", "head without a test"), ("/// Test: tests/core/vec.cpp\n", "head without a test"),
                                ("// One idea.\n// Test: tests/core/none.cpp\n", "test that is not there: tests/core/none.cpp"),
                                ("// Test: tests/core/vec.cpp, tests/speed.cpp\n", "test of something else: tests/speed.cpp does not include"),
                                ("// Test: tests/speed.py\n", "test of something else: tests/speed.py does not name gone.hpp")]:
            with self.subTest(head):
                found = complaints(new | {path: head, "tests/speed.py": ""})
                self.assertEqual(len(found), 1, found)
                self.assertRegex(found[0], rf"^{path}:1: {complaint}")
        self.assertEqual(complaints(new | {path: "// Test: tests/speed.py\n", "tests/speed.py": "# of gone.hpp\n"}), [])

    def test_headers_that_the_design_does_not_know(self):
        path = "include/eddy/backends/cpu.hpp"
        new = {path: HEAD, "include/eddy/backends/CMakeLists.txt": "FILES cpu.hpp )\n", "include/eddy/eddy.hpp": "#include <eddy/backends/cpu.hpp>\n"}
        (unknown,) = complaints(new)
        self.assertRegex(unknown, rf"^{path}:1: unknown to the design")
        self.assertEqual(complaints(new | {"docs/design/solving.md": "| `backends/` | `cpu` |\n"}), [])
        self.expect("docs/design/solving.md", "| `lane/` | `gone` |\n", "header that is not there: include/eddy/solve/lane/gone.hpp")
        self.expect("docs/design/rows.md", "See `lane/gone.hpp`.\n", "header that is not there: lane/gone.hpp")

    def test_classes_that_end_with_what_may_be_empty(self):
        self.expect("include/eddy/core/vec.hpp", "struct State {\n    double y;\n    [[no_unique_address]] Memory memory{};\n};\n",
                    "last member may be empty")

    def test_compiler_tests(self):
        for name in ["__CUDACC__", "__CUDA_ARCH__"]:
            with self.subTest(name):
                self.expect("include/eddy/core/vec.hpp", f"#ifdef {name}\n#endif\n", f"compiler test: {name}")

    def test_headers_that_nobody_lists_or_reaches(self):
        for path in ["include/eddy/core/gone.hpp", "include/eddy/core/deep/vec.hpp", "include/eddy/version.hpp",
                     "solvers/dopri5.hpp"]:
            with self.subTest(path):
                unlisted, unreached = complaints({path: HEAD if path.startswith("include") else ""}, tests_of=path)
                self.assertRegex(unlisted, rf"^{path}:1: unlisted header")
                self.assertRegex(unreached, rf"^{path}:1: unreached header")

    def test_headers_that_need_the_toolkit_are_reached_by_themselves(self):
        path = "include/eddy/backends/cuda/stream.hpp"
        (unlisted,) = complaints({path: HEAD, "docs/design/solving.md": "| `backends/cuda/` | `stream` |\n"}, tests_of=path)
        self.assertRegex(unlisted, rf"^{path}:1: unlisted header")

    def test_a_heavy_header_behind_the_light_door(self):
        self.expect("include/eddy/runtime.hpp", "#include <eddy/trace/evaluate.hpp>\n", "heavy header behind the light door: eddy/trace/evaluate.hpp")

    def test_storage_on_the_front_door(self):
        for name in ["storage.hpp", "checkpoint/disk.hpp"]:
            with self.subTest(name):
                self.expect("include/eddy/eddy.hpp", f"#include <eddy/{name}>\n", f"storage on the front door: eddy/{name}")

    def test_public_macro(self):
        self.expect("include/eddy/core/vec.hpp", "  #  define EDDY_FAST 1\n", "public macro: EDDY_FAST")

    def test_sources_that_nothing_builds(self):
        for path in ["tests/core/gone.cpp", "src/core/gone.cpp", "benchmarks/speed.cpp", "tests/device/kernel.cu"]:
            with self.subTest(path):
                self.expect(path, "", "source built by nothing")

    def test_headers_that_nothing_includes(self):
        for path in ["tests/support/gone.hpp", "src/core/gone.hpp"]:
            with self.subTest(path):
                self.expect(path, "", "header included by nothing")

    def test_cmake_versions(self):
        self.expect("README.md", "Or CMake 3.24?\n", "CMake version: 3.24 here, 3.25")
        self.expect("CMakePresets.json", '{"cmakeMinimumRequired": {"major": 3, "minor": 24}}\n', "CMake version: 3.24 here")
        self.expect("tests/CMakeLists.txt", "cmake_minimum_required(VERSION 3.30)\n", "CMake version: 3.30 here")

    def test_versions(self):
        header = {"include/eddy/version.hpp": "#define EDDY_VERSION_MAJOR 0\n#define EDDY_VERSION_MINOR 2\n#define EDDY_VERSION_PATCH 1\n"}
        for path, text in [("CITATION.cff", "version: 0.2.0\n"), ("packaging/vcpkg.json", '"version": "0.3.1"\n'), ("README.md", "find_package(eddy 0.1)\n"),
                           ("docs/install.md", "GIT_TAG v0.1.0)\n"), ("docs/install.md", "./libeddy-dev_0.1.0_amd64.deb\n")]:
            with self.subTest(text):
                found = [line for line in complaints(header | {path: text}) if "version.hpp:1:" not in line]
                self.assertEqual(len(found), 1, found)
                self.assertRegex(found[0], rf"^{path}:\d+: version: .* 0.2.1 in include/eddy/version.hpp")

    def test_private_headers_on_pages(self):
        for path in ["README.md", "docs/guide/page.md", "examples/decay.md"]:
            with self.subTest(path):
                self.expect(path, "#include <eddy/core/vec.hpp>\n", "private header: eddy/core/vec.hpp")
        self.assertEqual(complaints({"docs/page.md": "#include <eddy/checkpoint/disk.hpp>\n#include <eddy/solvers/tsit5.hpp>\n"}), [])

    def test_absolute_paths(self):
        for folder in ["home", "root", "tmp", "work"]:
            with self.subTest(folder):
                self.expect("docs/guide.md", f"see '/{folder}/notes' there\n", f"absolute path: /{folder}")


unittest.main()
