# SPDX-License-Identifier: GPL-3.0-or-later
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Sweetspot(AutotoolsPackage):
    """Autotuner that finds and proves the fastest setting of a program, and explains it."""

    homepage = "https://github.com/sweetspot-tuner/sweetspot"
    git = "https://github.com/sweetspot-tuner/sweetspot.git"

    license("GPL-3.0-or-later")

    version("main", branch="main")

    variant("papi", default=True, description="Count with PAPI")
    variant("libdw", default=True, description="Lines of parallel regions through elfutils")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("autoconf-archive", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("gsl@2.5:")
    depends_on("hwloc@2.5:")
    depends_on("jansson@2.10:")
    depends_on("sqlite@3.35:")
    depends_on("zlib-api")
    depends_on("papi", when="+papi")
    depends_on("elfutils", when="+libdw")

    def configure_args(self):
        return self.with_or_without("papi") + self.with_or_without("libdw")
