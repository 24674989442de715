# Written from Spack's documentation; never run by Spack. Put the folder `eddy` into a repository of packages with `api: v2.0` (Spack 1.0 or later),
# and give the address that you clone from.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Eddy(CMakePackage):
    """Differentiable ODE and SDE ensembles, traced at compile time."""

    git = "https://example.org/eddy.git"  # the address that you clone from

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("shared", default=False, description="Build shared libraries")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt@9:", type="build")
    conflicts("%gcc@:11", msg="eddy is tested from g++ 12 on")
    conflicts("%clang@:13", msg="eddy is tested from clang 14 on")

    def cmake_args(self):
        return [self.define_from_variant("BUILD_SHARED_LIBS", "shared")]
