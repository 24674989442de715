"""Conan 2: `conan create packaging/conan`, in eddy's folder. Eigen stays the user's: eddy takes any arrays."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)


class Eddy(ConanFile):
    name = "eddy"
    description = "Differentiable ODE and SDE ensembles, traced at compile time"
    license = "MIT"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}

    def set_version(self):
        text = load(self, os.path.join(ROOT, "include", "eddy", "version.hpp"))
        self.version = ".".join(re.findall(r"EDDY_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))

    def export(self):    # where the recipe is read from Conan's cache, the header is not beside it
        copy(self, "version.hpp", os.path.join(ROOT, "include", "eddy"), os.path.join(self.export_folder, "include", "eddy"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "solvers/*"):
            copy(self, pattern, ROOT, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeToolchain(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):    # the package's own CMake files, for the flags that travel with eddy::eddy
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "eddy")]
