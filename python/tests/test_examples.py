# SPDX-License-Identifier: BSD-3-Clause
"""The calls of Kernel Tuner's public examples (its folder examples/, October 2026), written anew in small: the arguments are of the same
kinds, sources and sizes are ours. SWEETSPOT_EMULATOR: GPUs are emulated. SWEETSPOT_CUDA: there is a real one, with its toolkit."""

import collections
import glob
import importlib.util
import json
import logging
import os
import shutil
import tempfile
import unittest
import warnings

from example_sources import (BLOCKS, CONVOLUTION, CUDA, DIRECTIVES, FORTRAN, FORTRAN_DIRECTIVES, HEAD, HISTOGRAM, HOST, MATMUL, MEANS, OPENCL,
                             PRODUCT, RANDOM, REDUCTION, SPARSE, STENCIL, TEMPLATE, WEIGHTS)

import sweetspot
import sweetspot.kernel_tuner as kernel_tuner
from sweetspot.kernel_tuner import run_kernel, store_metadata_file, store_output_file, tune_kernel
from sweetspot.kernel_tuner.accuracy import TunablePrecision
from sweetspot.kernel_tuner.kernelbuilder import PythonKernel
from sweetspot.kernel_tuner.observers.ncu import NCUObserver
from sweetspot.kernel_tuner.observers.nvml import NVMLObserver
from sweetspot.kernel_tuner.util import get_config_string
from sweetspot.kernel_tuner.utils.directives import (Code, Cxx, Fortran, OpenACC, OpenMP, allocate_signature_memory, extract_directive_code, extract_directive_data,
                                                     extract_directive_signature, extract_preprocessor, generate_directive_function, process_directives)

try:
    import numpy
except ImportError:
    numpy = None

REAL = bool(os.environ.get("SWEETSPOT_CUDA"))


class Examples(unittest.TestCase):
    def setUp(self):
        if not numpy:
            self.skipTest("NumPy is not installed")
        folder, before = tempfile.TemporaryDirectory(), os.getcwd()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, before)
        os.chdir(folder.name)
        warnings.simplefilter("ignore")
        self.n = numpy.int32(1000)
        self.a, self.b = (numpy.random.randn(self.n).astype(numpy.float32) for _ in range(2))
        self.c = numpy.zeros_like(self.a)
        self.arguments = [self.c, self.a, self.b, self.n]
        self.answer = [self.a + self.b, None, None, None]

    def run_all(self, name, source, size, arguments, params, wrong=0, **more):
        """Every configuration runs, and gives the right result where there is an answer."""
        results, env = tune_kernel(name, source, size, arguments, params, **{"quiet": True, "iterations": 2, **more})
        said = [row["__error__"] for row in results if "__error__" in row]
        self.assertTrue(results)
        self.assertEqual(len(said), wrong, said[:1])
        json.dumps([results, env])
        return results

    def add(self, source, params=None, name="add", **more):
        return self.run_all(name, source, self.n, self.arguments, params or {"block_size_x": [128 + 64 * i for i in range(2)]}, **{"answer": self.answer, **more})

    def write(self, name, text):
        with open(name, "w") as file:
            file.write(text)

    def convolution(self, language, shared):
        """shared: the filter in constant memory."""
        text = HEAD[language] + WEIGHTS[language] + CONVOLUTION
        image = numpy.random.randn(48 * 48).astype(numpy.float32)
        weights = numpy.random.randn(17 * 17).astype(numpy.float32)
        arguments = [numpy.zeros(32 * 32, numpy.float32), image, weights]
        more = {"grid_div_x": ["block_size_x", "tile_size_x"], "grid_div_y": ["block_size_y", "tile_size_y"], "verbose": True}
        if shared:
            more["cmem_args"] = {"d_filter": weights}
        params = collections.OrderedDict(block_size_x=[16, 32], block_size_y=[4], tile_size_x=[1, 2], tile_size_y=[2])
        self.run_all("convolution", text, (32, 32), arguments, params, **more)
        right = run_kernel("naive", text, (32, 32), arguments, {"block_size_x": 16, "block_size_y": 16}, grid_div_x=["block_size_x"], grid_div_y=["block_size_y"], quiet=True)
        self.run_all("convolution", text, (32, 32), arguments, params, answer=[right[0], None, None], atol=1e-4, **more)
        separable = dict(params, filter_height=[1], filter_width=[3], tile_size_x=[2], tile_size_y=[1], use_padding=[0, 1], read_only=[0, 1])
        restrict = ["use_padding==0 or (block_size_x % 32 != 0)", "block_size_x*block_size_y >= 32"]
        for cache in ({}, {"cache": "convolution_row", "parallel_runner": 1024, "verbose": False}):
            rows = self.run_all("convolution", text, (32, 32), arguments, separable, restrictions=restrict, **{**more, **cache})
            self.assertTrue(all(row["use_padding"] == 0 or row["block_size_x"] == 16 for row in rows))

    def multiply(self, language, first):
        A, B = (numpy.random.randn(64, 64).astype(numpy.float32) for _ in range(2))
        params = {"block_size_x": [8, 16], "block_size_y": [4, 8], "tile_size_x": [1, 2], "tile_size_y": [1, 2]}
        metrics = {"GFLOP/s": lambda p: (2 * 64**3 / 1e9) / (p["time"] / 1e3)}
        self.write("matmul.x", first + HEAD[language] + MATMUL)
        rows = self.run_all("multiply", "matmul.x", (64, 64), [numpy.zeros_like(A), A, B], params, lang=language, restrictions=["block_size_x==block_size_y*tile_size_y"],
                            answer=[A @ B, None, None], atol=1e-3, metrics=metrics, grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])
        self.assertTrue(all(row["GFLOP/s"] > 0 for row in rows))

    def reduction(self, language, shuffle):
        x = numpy.random.rand(4096).astype(numpy.float32)
        params = collections.OrderedDict(block_size_x=[64], use_shuffle=shuffle, vector=[1, 2, 4], num_blocks=[4], loop_unroll_factor=[0, 4])
        out = numpy.zeros(4, numpy.float32)
        first = self.run_all("total", HEAD[language] + REDUCTION, "num_blocks", [out, x, numpy.int32(4096)], params, grid_div_x=[], answer=[numpy.sum(x), None, None],
                             verify=lambda right, found, atol=None: numpy.isclose(right[0], numpy.sum(found[0]), atol=1e-1))
        params["num_blocks"], params["vector"] = [1], [2]
        second = self.run_all("total", HEAD[language] + REDUCTION, "num_blocks", [out, x, numpy.int32(2)], params, grid_div_x=[])
        best = min(first, key=lambda row: row["time"] + min(second, key=lambda other: other["time"])["time"])
        self.assertIn("num_blocks=", get_config_string(best))

    def stencil(self, language):
        old = numpy.random.randn(64 * 32).astype(numpy.float32)
        self.run_all("stencil", HEAD[language] + STENCIL, (64, 32), [numpy.copy(old), old], {"block_size_x": [32, 64], "block_size_y": [1, 4]},
                     grid_div_x=["block_size_x"], grid_div_y=["block_size_y"], verbose=True)


@unittest.skipUnless(shutil.which("g++") and shutil.which("gfortran"), "g++ and gfortran are not installed")
class Native(Examples):
    def test_c(self):
        """c/vector_add"""
        text = """
#include <omp.h>
typedef float wide __attribute__((vector_size(vecsize * 4)));
extern "C" float add(wide *c, wide *a, wide *b, int n) {
    double begun = omp_get_wtime();
    #pragma omp parallel for num_threads(nthreads)
    for (int i = 0; i < n / vecsize; i++) c[i] = a[i] + b[i];
    return (float)((omp_get_wtime() - begun) * 1e3);
}"""
        a = self.a[:960].copy()
        for answer in ([a + a, None, None], [a + a, None, None, None]):  # the example's own is one short
            self.run_all("add", text, 960, [numpy.zeros_like(a), a, a, numpy.int32(960)], {"nthreads": [1, 2], "vecsize": [1, 2, 4]}, answer=answer, compiler_options=["-O3"])

    def test_fortran(self):
        """fortran/vector_add, vector_add_acc, test_fortran_vector_add"""
        self.write("add.F90", FORTRAN)
        for more in ({"compiler": "gfortran"}, {"compiler": "pgfortran", "compiler_options": ["-acc=verystrict", "-ta=tesla,lineinfo"]}):
            self.add("add.F90", {"N": [int(self.n)], "NTHREADS": [1, 2], "block_size_x": [32]}, "timed", lang="C", **more)
        out = run_kernel("add", FORTRAN, self.n, self.arguments, {"N": int(self.n), "NTHREADS": 2}, lang="fortran", compiler="gfortran", quiet=True)
        numpy.testing.assert_array_equal(out[0], self.answer[0])

    def test_directives_by_hand(self):
        """directives/vector_add_c_openacc, vector_add_c_openmp, vector_add_fortran_openacc"""
        for text, app, option in ((DIRECTIVES % "acc parallel vector_length(nthreads)", Code(OpenACC(), Cxx()), "-acc=gpu"),
                                  (DIRECTIVES % "omp parallel for num_threads(nthreads)", Code(OpenMP(), Cxx()), "-mp=gpu"),
                                  (FORTRAN_DIRECTIVES, Code(OpenACC(), Fortran()), "-acc=gpu")):
            head, signature, body, data = extract_preprocessor(text), extract_directive_signature(text, app), extract_directive_code(text, app), extract_directive_data(text, app)
            args = allocate_signature_memory(data["add"], head)
            source = generate_directive_function(head, signature["add"], body["add"], app, data=data["add"])
            self.run_all("add", source, 0, args, {"nthreads": [1, 2]}, answer=[None, None, args[0] + args[1]] + [None] * (len(args) - 3), compiler_options=["-fast", option],
                         compiler="nvfortran" if "tuner start" in text and "!$" in text else "nvc++", metrics={"GB/s": lambda x: 12 * len(args[0]) / x["time"] / 1e6})

    def test_histograms(self):
        """directives/histogram_c_openacc, histogram_c_openmp"""
        for words, app, option in ((("acc parallel loop num_gangs(ngangs)",) * 2 + ("acc atomic update",), Code(OpenACC(), Cxx()), "-acc=gpu"),
                                   (("omp target teams distribute parallel for num_teams(ngangs)",) * 2 + ("omp atomic update",), Code(OpenMP(), Cxx()), "-mp=gpu")):
            source, args = process_directives(app, HISTOGRAM % words)
            args["histogram"][0] = numpy.random.randint(0, 16, len(args["histogram"][0]), dtype=numpy.int32)
            args["histogram"][1] = numpy.zeros(len(args["histogram"][1])).astype(numpy.int32)
            right = numpy.bincount(args["histogram"][0], minlength=16).astype(numpy.int32)
            self.run_all("histogram", source["histogram"], 0, args["histogram"], {"ngangs": [1, 2], "enable_reduction": [0, 1], "enable_atomic": [0, 1]},
                         restrictions=["enable_reduction != enable_atomic"], answer=[None, right], compiler="nvc++", compiler_options=["-fast", option])

    def test_products(self):
        """directives/matrix_multiply_c_openacc, matrix_multiply_c_openmp"""
        for outer, inner, app, option in (("#pragma acc parallel loop gang collapse(2)", "acc loop vector", Code(OpenACC(), Cxx()), "-acc=gpu"),
                                          ("#pragma omp target\n#pragma omp teams distribute collapse(2)", "omp parallel for num_threads(nthreads)", Code(OpenMP(), Cxx()), "-mp=gpu")):
            source, args = process_directives(app, PRODUCT % (outer, inner), user_dimensions={"NN": 16**2})
            right = run_kernel("mm", source["mm"], 0, args["mm"], {"nthreads": 1}, compiler="nvc++", compiler_options=["-fast"], quiet=True)
            numpy.testing.assert_allclose(right[2].reshape(16, 16), args["mm"][0].reshape(16, 16) @ args["mm"][1].reshape(16, 16), rtol=1e-4)
            rows = self.run_all("mm", source["mm"], 0, args["mm"], {"nthreads": [1, 2]}, answer=[None, None, right[2]], compiler="nvc++", compiler_options=["-fast", option],
                                metrics={"time_s": lambda x: x["time"] / 1e3, "GFLOP/s": lambda x: 2 * 16**3 / x["time_s"] / 1e9})
            self.assertTrue(all(row["GFLOP/s"] > 0 for row in rows))


@unittest.skipUnless(glob.glob("/etc/OpenCL/vendors/*.icd") and not REAL, "no OpenCL is installed")
class OpenCl(Examples):
    def test_add(self):
        """opencl/vector_add, vector_add_codegen, vector_add_observers"""
        self.add(OPENCL)
        self.add(lambda p: OPENCL.replace("get_global_id(0)", "get_local_id(0) + get_group_id(0) * %s" % p["block_size_x"]), lang="OpenCL")
        with self.assertRaisesRegex(sweetspot.SweetspotError, "NVIDIA.*energy"):
            self.add(OPENCL, observers=[NVMLObserver(["energy", "temperature"])], metrics={"GFLOPS/W": lambda p: 1 / p["energy"]})

    def test_convolutions(self):
        """opencl/convolution, convolution_correct, sepconv"""
        self.convolution("OpenCL", False)

    def test_others(self):
        """opencl/matmul, reduction, stencil"""
        self.multiply("OpenCL", "")
        self.reduction("OpenCL", [0])
        self.stencil("OpenCL")


@unittest.skipUnless(REAL or os.environ.get("SWEETSPOT_EMULATOR"), "there is no GPU")
class Cuda(Examples):
    def test_add(self):
        """cuda/vector_add, vector_add_nvcuda, vector_add_cupy, vector_add_codegen, vector_add_metric, vector_add_parallel, vector_add_custom_strategy"""
        self.add(CUDA)
        self.add('extern "C" ' + CUDA, lang="nvcuda", verbose=True)
        self.add(CUDA, lang="Cupy")
        self.add(lambda p: CUDA.replace("block_size_x", str(p["block_size_x"])), lang="CUDA")
        metrics = collections.OrderedDict([("GFLOP/s", lambda p: 1e-6 / (p["time"] / 1e3)), ("GB/s", "(1000*4*2/1e9) / (time/1000)")])
        self.assertIn("GB/s", self.add(CUDA, metrics=metrics)[0])
        self.add(CUDA.replace("block_size_x", "block_size_x * per_thread + 0 * unroll_factor").replace("if (i", "\n#pragma unroll unroll_factor\nfor (int k = 0; k < 1; k++) if (i"),
                 {"block_size_x": [64], "per_thread": [1], "unroll_factor": [1, 2]}, parallel=True)
        rows = self.add(CUDA, strategy=kernel_tuner.strategies.minimize, verbose=True)
        store_output_file("out.json", rows, {"block_size_x": []})
        store_metadata_file("meta.json")
        self.assertTrue(os.path.exists("out.json") and os.path.exists("meta.json"))

    def test_tests(self):
        """cuda/test_vector_add, test_vector_add_parameterized, python_kernel, python_kernel_cupy"""
        for size in (64, 512):
            out = run_kernel("add", CUDA, (self.n, 1), self.arguments, {"block_size_x": size}, quiet=True)
            numpy.testing.assert_array_equal(out[0], self.answer[0])
        add = PythonKernel("add", CUDA, self.n, self.arguments, {"block_size_x": 128}, inputs=[False, True, True, True], outputs=[True, False, False, False])
        self.assertTrue(numpy.allclose(add(self.c, self.a, self.b, self.n), self.a + self.b))

        class Remote:
            """An array as CuPy's are: get() and set() copy it."""

            def __init__(self, value):
                self.value, self.dtype, self.shape = value, value.dtype, value.shape

            def get(self):
                return self.value

            def set(self, value):
                self.value = value

        Remote.__module__ = "cupy"
        c, a, b = (Remote(each) for each in (self.c, self.a, self.b))
        PythonKernel("add", CUDA, self.n, [c, a, b, self.n], {"block_size_x": 128}, lang="cupy")(c, a, b, self.n)
        numpy.testing.assert_array_equal(c.value, self.answer[0])

    def test_templates(self):
        """cuda-c++/vector_add, vector_add_blocksize, vector_add_cupy, vector_add_defines"""
        self.add(TEMPLATE, name="add<float, block_size_x>", defines={})
        self.add(TEMPLATE, name="add<float, block_size_x>")
        self.add(TEMPLATE.replace(", int width", "").replace("width", "block_size_x"), name="add<float>", lang="cupy")

    @unittest.skipUnless(importlib.util.find_spec("jinja2"), "Jinja is not installed")
    def test_jinja(self):
        """cuda/vector_add_jinja, vector_add_jinja2"""
        from jinja2 import Template

        template = Template(CUDA.replace("float ", "{{ real_type }} ").replace("if (i < n) c[i] = a[i] + b[i];", "i = i * {{ tiling_x }};"
                            "{% for t in range(tiling_x) %} if (i + {{ t }} < n) c[i + {{ t }}] = a[i + {{ t }}] + b[i + {{ t }}]; {% endfor %}"))
        params = {"real_type": ["float"], "block_size_x": [32, 64], "vector_size": [1], "tiling_x": [1, 2]}
        for source in (template.render, lambda p: template.render(real_type=p["real_type"], tiling_x=p["tiling_x"])):
            self.add(source, params, lang="CUDA", grid_div_x=["block_size_x * vector_size * tiling_x"])

    def test_convolutions(self):
        """cuda/convolution, convolution_correct, sepconv, sepconv_parallel"""
        self.convolution("CUDA", True)

    def test_others(self):
        """cuda/matmul, reduction, stencil"""
        self.multiply("CUDA", "#include <stdio.h>\n" * REAL)
        self.reduction("CUDA", [0, 1])
        self.stencil("CUDA")

    def test_sparse(self):
        """cuda/spmv"""
        n, rows = numpy.int32(64), numpy.arange(65, dtype=numpy.int32) * 3
        columns, values = numpy.random.randint(0, 64, 192).astype(numpy.int32), numpy.random.randn(192).astype(numpy.float32)
        x = numpy.random.randn(64).astype(numpy.float32)
        right = (values * x[columns]).reshape(64, 3).sum(axis=1)
        self.run_all("sparse", SPARSE, (n, 1), [numpy.zeros(64, numpy.float32), rows, columns, values, x, n], {"block_size_x": [32, 64, 96], "read_only": [0, 1]},
                     grid_div_x=["block_size_x/32"], verbose=True, answer=[right] + [None] * 5, atol=1e-4)

    def test_means(self):
        """cuda/zeromeanfilter"""
        h, w = numpy.int32(37), numpy.int32(50)
        image = numpy.random.randn(h * w).astype(numpy.float32)
        right = image.reshape(h, w) - image.reshape(h, w).mean(axis=0)
        self.run_all("down", MEANS, (w, 1), [h, w, image], {"block_size_x": [32, 64], "block_size_y": [1, 2, 4]}, grid_div_x=["block_size_x"], grid_div_y=[],
                     answer=[None, None, right.ravel()], atol=1e-5)

    def test_observers(self):
        """cuda/vector_add_observers, vector_add_observers_ncu"""
        for observer, key in ((NVMLObserver(["nvml_energy", "temperature"]), "nvml_energy"), (NCUObserver(metrics=["dram__bytes.sum"]), "dram__bytes.sum")):
            try:
                rows = self.add(CUDA, observers=[observer], metrics={"x": lambda p: 1 / (p[key] + 1)}, iterations=3)
                self.assertTrue(all(row["x"] > 0 for row in rows))
            except (ValueError, sweetspot.SweetspotError) as error:  # not every device tells it, and then it says why
                self.assertRegex(str(error), key + "|energy of")

    def test_textures(self):
        """cuda/texture"""
        with self.assertRaisesRegex(ValueError, "texmem_args"):
            self.add(CUDA, texmem_args={"t": {"array": self.a, "address_mode": "border"}})

    def test_precision(self):
        """cuda/accuracy"""
        text = CUDA.replace("float ", "float_type ")
        half = "#include <cuda_fp16.h>\nusing half = __half;\n" if REAL else ""
        arguments = [TunablePrecision("float_type", each.astype(numpy.float64)) for each in (self.c, self.a, self.b)] + [self.n]
        self.run_all("add", half + text, self.n, arguments, {"block_size_x": [128, 192], "float_type": ["float", "double"] + ["half"] * REAL})

    @unittest.skipUnless(REAL, "the emulator has no headers of CUDA's toolkit")
    def test_headers_of_the_toolkit(self):
        """cuda/curand, expdist"""
        state = run_kernel("begin", RANDOM, 1000, [numpy.zeros(48000, numpy.uint8), numpy.uint64(42), self.n], {"block_size_x": 256, "draws": 1}, lang="nvcuda", quiet=True)[0]
        self.run_all("draw", RANDOM, 1000, [self.c, state, self.n], {"block_size_x": [64, 128], "draws": [1, 4]}, lang="nvcuda")
        a = numpy.random.randn(64)
        params = {"block_size_x": [32, 64], "block_size_y": [1, 2]}
        out = self.run_all("distances", BLOCKS, (64, 64), [a, a, numpy.int32(64), numpy.int32(64), numpy.zeros(256)], params,
                           verify=lambda right, found, atol=None: numpy.isclose(numpy.exp(-(a[:, None] - a) ** 2).sum(), found[4].sum()))
        self.assertEqual(len(out), 4)

    @unittest.skipUnless(REAL and shutil.which("nvcc"), "there is no nvcc with a GPU")
    def test_host_code(self):
        """cuda/convolution_streams, pnpoly, pnpoly_cupy"""
        self.write("host.cu", HOST)
        self.write("device.cu", CUDA)
        self.add(["host.cu", "device.cu"], {"block_size_x": [64, 128], "num_streams": [1, 2]}, "timed", lang="C", log=logging.DEBUG, grid_div_x=["block_size_x"])


@unittest.skipUnless(os.environ.get("SWEETSPOT_EMULATOR"), "there is no emulated GPU")
class Hip(Examples):
    def test_add(self):
        """hip/vector_add, vector_add_simulation_mode, test_vector_add"""
        rows = self.add(CUDA, lang="HIP", cache="cache.json", log=logging.DEBUG)
        again = self.add(CUDA, lang="HIP", cache="cache.json", simulation_mode=True, strategy="simulated_annealing")
        store_output_file("annealing.json", again, {"block_size_x": []})
        self.assertEqual(sorted(row["time"] for row in again), sorted(row["time"] for row in rows))
        out = run_kernel("add", CUDA, (self.n, 1), self.arguments, {"block_size_x": 512}, lang="HIP", quiet=True)
        numpy.testing.assert_array_equal(out[0], self.answer[0])


if __name__ == "__main__":
    unittest.main()
