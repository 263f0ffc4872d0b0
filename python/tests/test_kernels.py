# SPDX-License-Identifier: BSD-3-Clause
"""Kernel Tuner's calls: the shapes of its public examples in small, run with what is here. No time is checked."""

import glob
import json
import os
import re
import shutil
import tempfile
import unittest

from sweetspot.kernel_tuner import ErrorConfig, PythonKernel, directives, observers, run_kernel, store_metadata_file, store_output_file, strategies, tune_kernel
from sweetspot.kernel_tuner._launch import checks_of, configurations, grid_of, names_of
from sweetspot.kernel_tuner._source import Source, recognise

try:
    import numpy
except ImportError:
    numpy = None

C = """
#include <omp.h>
extern "C" float add(float *c, float *a, float *b, int n) {
    double start = omp_get_wtime();
    #pragma omp parallel for num_threads(threads)
    for (int i = 0; i < n - spoilt; i++) c[i] = a[i] + b[i];
    return (float)((omp_get_wtime() - start) * 1e3);
}
"""
FORTRAN = """
module vectors
contains
real(4) function add(c, a, b, n) bind(C, name="add")
  use iso_c_binding
  integer(c_int), value :: n
  real(c_float) :: c(n), a(n), b(n)
  c = a + b
  add = 1.0 / width
end function
end module
"""
OPENCL = """
__kernel void add(__global float *c, __global const float *a, __global const float *b, int n) {
    int i = get_global_id(0) * per_item;
    for (int k = i; k < i + per_item && k < n; k++) c[k] = a[k] + b[k] + read_only;
}
"""
CUDA = """
template <typename T> __global__ void add(T *c, const T *a, const T *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""


class Words(unittest.TestCase):
    def test_languages(self):
        for text, language in ((C, "C"), (FORTRAN, "Fortran"), (OPENCL, "OpenCL"), (CUDA, "CUDA"), ('#include "hip/hip_runtime.h"\n' + CUDA, "HIP"),
                               ("void f(float *x) {}", "C"), ("#pragma acc parallel loop\n", "C")):
            self.assertEqual(recognise(text), language)
        self.assertRaises(ValueError, Source, "f", "x", "Julia")

    def test_names(self):
        self.assertEqual(names_of(["bx"]), ("bx", "block_size_y", "block_size_z"))
        self.assertRaises(ValueError, names_of, ["a", "b", "c", "d"])

    def test_grids(self):
        config = {"block_size_x": 32, "tile": 3}
        names = names_of(None)
        for dividers, grid in (((None, None, None), (4, 7, 1)), ((["block_size_x", "tile"], [], None), (2, 7, 1)), (("block_size_x*tile", None, None), (2, 7, 1)),
                               ((lambda p: p["tile"], ["tile"], None), (34, 3, 1)), (([], None, None), (100, 7, 1)), ((["tile/2"], None, None), (67, 7, 1))):
            self.assertEqual(grid_of((100, 7, 1), dividers, names, config), grid)

    def test_restrictions(self):
        params = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}
        want = [{"a": a, "b": b} for a in params["a"] for b in params["b"] if a * b <= 6]
        for restrictions in (["a * b <= 6"], lambda p: p["a"] * p["b"] <= 6, lambda b, a: a * b <= 6, [("a * b <= 6", ["a", "b"])], [lambda p: p["a"] * p["b"] <= 6]):
            self.assertEqual(list(configurations(params, restrictions, names_of(None))), want)
        self.assertEqual(checks_of(None, params), [])
        with self.assertRaisesRegex(ValueError, "zz"):
            list(configurations(params, ["zz > 1"], names_of(None)))

    def test_a_device_takes_1024_threads(self):
        params = {"block_size_x": [2**i for i in range(5, 11)], "block_size_y": [2**i for i in range(6)]}
        found = list(configurations(params, None, names_of(None)))
        self.assertEqual(len(found), sum(x * y <= 1024 for x in params["block_size_x"] for y in params["block_size_y"]))


@unittest.skipUnless(numpy, "NumPy is not installed")
class Kernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.n = numpy.int32(1000)
        self.a = numpy.arange(self.n, dtype=numpy.float32)
        self.b = numpy.ones(self.n, dtype=numpy.float32)
        self.arguments = [numpy.zeros(self.n, dtype=numpy.float32), self.a, self.b, self.n]
        self.answer = [self.a + self.b, None, None, None]

    def tune(self, source, params, **more):
        return tune_kernel("add", source, int(self.n), self.arguments, params, **{"answer": self.answer, "quiet": True, "iterations": 2, **more})

    @unittest.skipUnless(shutil.which("g++"), "g++ is not installed")
    def test_c(self):
        results, env = self.tune(C, {"threads": [1, 2], "spoilt": [0, 10]})
        self.assertEqual(len(results), 4)
        right = [row for row in results if "__error__" not in row]
        self.assertEqual({row["spoilt"] for row in right}, {0})
        self.assertTrue(all(len(row["times"]) == 2 for row in right))
        self.assertIsInstance(next(row for row in results if row["spoilt"])["time"], ErrorConfig)
        self.assertEqual(env["best_config"]["time"], min(row["time"] for row in right))
        self.assertEqual(self.arguments[0].any(), False)
        path = os.path.join(self.folder, "out")
        store_output_file(path, results, {"threads": 0, "spoilt": 0})
        store_metadata_file(os.path.join(self.folder, "machine.json"))
        with open(path + ".json") as file:
            found = json.load(file)["results"]
        self.assertEqual([each["invalidity"] == "correct" for each in found], ["__error__" not in row for row in results])

    @unittest.skipUnless(shutil.which("g++"), "g++ is not installed")
    def test_failures_are_rows(self):
        source = 'extern "C" float add(float *c, float *a, float *b, int n) { if (how == 1) *(volatile int *)0 = 1; return how; }'
        results, env = self.tune(source, {"how": [3, 1, "nonsense"]}, answer=None)
        self.assertEqual([row["time"] for row in results[1:]], ["RuntimeFailedConfig", "CompilationFailedConfig"])
        self.assertEqual(env["best_config"]["how"], 3)
        with self.assertRaisesRegex(RuntimeError, "nonsense"):
            run_kernel("add", source, 1, self.arguments, {"how": "nonsense"}, quiet=True)

    @unittest.skipUnless(shutil.which("g++"), "g++ is not installed")
    def test_a_compiler_that_is_not_here(self):
        with self.assertWarnsRegex(UserWarning, "no-such-compiler.*g\\+\\+.*-gpu=cc80"):
            out = run_kernel("add", C, 1, self.arguments, {"threads": 1, "spoilt": 0}, compiler="no-such-compiler", compiler_options=["-gpu=cc80"], quiet=True)
        numpy.testing.assert_array_equal(out[0], self.answer[0])

    @unittest.skipUnless(shutil.which("g++") and shutil.which("gfortran"), "g++ and gfortran are not installed")
    def test_directives(self):
        c = """
#define SIZE 1000
void f() {
#pragma tuner start add c(float*:SIZE) a(float*:SIZE) b(float*:SIZE) n(int:SIZE)
#pragma omp parallel for num_threads(threads)
for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
#pragma tuner stop
}
"""
        fortran = """
#define SIZE 1000
!$tuner start add c(float*:SIZE) a(float*:SIZE) b(float*:SIZE) n(int:SIZE)
!$acc parallel loop vector_length(threads)
do i = 1, n
  c(i) = a(i) + b(i)
end do
!$tuner stop
"""
        for code, app in ((c, directives.Code(directives.OpenMP(), directives.Cxx())), (fortran, directives.Code(directives.OpenACC(), directives.Fortran()))):
            sources, found = directives.process_directives(app, code)
            arguments = found["add"]
            self.assertEqual([getattr(each, "shape", None) for each in arguments], [(1000,)] * 3 + [()])
            out = run_kernel("add", sources["add"], 0, arguments, {"threads": 2}, quiet=True)
            numpy.testing.assert_array_equal(out[0], arguments[1] + arguments[2])

    @unittest.skipUnless(shutil.which("gfortran"), "gfortran is not installed")
    def test_fortran(self):
        results, env = self.tune(FORTRAN, {"width": [1, 2, 4]})
        self.assertEqual(env["best_config"]["width"], 4)
        path = os.path.join(self.folder, "add.F90")
        with open(path, "w") as file:
            file.write(FORTRAN)
        out = run_kernel("add", path, 1, self.arguments, {"width": 1}, lang="C", compiler="gfortran", quiet=True)
        numpy.testing.assert_array_equal(out[0], self.answer[0])

    @unittest.skipUnless(glob.glob("/etc/OpenCL/vendors/*.icd"), "no OpenCL is installed")
    def test_opencl(self):
        results, env = self.tune(OPENCL, {"block_size_x": [32, 64], "per_item": [1, 4], "read_only": [0, 1]}, grid_div_x=["block_size_x", "per_item"])
        self.assertEqual([row["read_only"] for row in results if "__error__" not in row], [0] * 4)
        add = PythonKernel("add", OPENCL, int(self.n), self.arguments, {"block_size_x": 32, "per_item": 1, "read_only": 0},
                           inputs=[False, True, True, True], outputs=[True, False, False, False])
        numpy.testing.assert_array_equal(add(None, self.b, self.b, self.n)[0], self.b + self.b)

    @unittest.skipUnless(os.environ.get("SWEETSPOT_EMULATOR"), "there is no emulated GPU")
    def test_cuda(self):
        results, env = tune_kernel("add<float>", CUDA, int(self.n), self.arguments, {"block_size_x": [64, 128]}, answer=self.answer, quiet=True, iterations=2)
        self.assertEqual([row.get("__error__") for row in results], [None, None])

    @unittest.skipUnless(shutil.which("g++"), "g++ is not installed")
    def test_strategies(self):
        class Halves:
            """An algorithm of a user's own."""

            def __call__(self, func, searchspace):
                for config in searchspace.list[::2]:
                    assert func(config) > 0 and searchspace.is_param_config_valid(config)

        params = {"threads": list(range(1, 11)), "spoilt": [0]}
        for strategy, options, count in (("random_sample", {"max_fevals": 3}, 3), (strategies.OptAlgWrapper(Halves()), {"max_fevals": 4}, 4),
                                         (strategies.OptAlgWrapper(Halves()), {}, 5), (strategies.brute_force, {"max_fevals": 2}, 2)):
            results, _ = self.tune(C, params, strategy=strategy, strategy_options=options)
            self.assertEqual(len(results), count)
        with self.assertWarnsRegex(UserWarning, "minimize"):
            self.tune(C, params, strategy=strategies.minimize, strategy_options={"max_fevals": 2})
        with self.assertWarnsRegex(UserWarning, "popsize"):
            self.tune(C, params, strategy="genetic_algorithm", strategy_options={"max_fevals": 2, "popsize": 20})
        self.assertRaises(ValueError, self.tune, C, params, strategy="guess")

    @unittest.skipUnless(shutil.which("g++"), "g++ is not installed")
    def test_cache_and_simulation(self):
        path = os.path.join(self.folder, "cache.json")
        first, _ = self.tune(C, {"threads": [1, 2], "spoilt": [0, 1]}, cache=path)
        again, env = self.tune("this does not compile", {"threads": [1, 2], "spoilt": [0, 1]}, cache=path, lang="C")
        self.assertEqual([row["time"] for row in again], [row["time"] for row in first])
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(re.sub(r"\}\s*\}\s*$", "},", text.rstrip()[:-1]))  # as Kernel Tuner leaves it when it is killed
        more, _ = self.tune(C, {"threads": [1, 2], "spoilt": [0, 1]}, cache=path, simulation_mode=True)
        self.assertEqual([row["time"] for row in more], [row["time"] for row in first])
        self.assertRaises(ValueError, self.tune, C, {"threads": [1]}, cache=path)
        self.assertRaises(ValueError, self.tune, C, {"threads": [1]}, simulation_mode=True)

    def test_refused(self):
        for more in ({"texmem_args": {"t": self.a}}, {"platform": 1, "lang": "OpenCL"}, {"smem_args": {"config": 1}}, {"objective": "beauty"}):
            with self.assertRaises(ValueError, msg=more):
                self.tune("", {"threads": [1]}, **more)
        for refused in (observers.PMTObserver, observers.PowerSensorObserver, observers.TegraObserver):
            self.assertRaises(ValueError, refused, ["energy"])
        with self.assertRaisesRegex(TypeError, "metrix"):
            self.tune(C, {"threads": [1]}, metrix={})
        with self.assertRaisesRegex(TypeError, "int"):
            tune_kernel("add", C, 1, [3], {"threads": [1]}, quiet=True)


if __name__ == "__main__":
    unittest.main()
