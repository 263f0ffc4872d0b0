# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of tune_kernel() as specifications, for kernels shaped like Kernel Tuner's public examples; the program
counts their valid configurations, and an oracle here does so as well. No GPU is needed."""

import itertools
import os
import struct
import tempfile
import unittest

import sweetspot

VECTOR = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) { c[i] = a[i] + b[i]; }
}
"""


class Array:
    """As much of a NumPy array as is needed."""

    def __init__(self, kind, values, shape=None):
        self.dtype, self.values, self.shape = kind, list(values), (len(list(values)),) if shape is None else shape

    def tobytes(self):
        return struct.pack("%d%s" % (len(self.values), {"float32": "f", "int32": "i"}[self.dtype]), *self.values)

    def item(self):
        return self.values[0]


def scalar(kind, value):
    return Array(kind, [value], ())


def valid(params, restrictions):
    rows = (dict(zip(params, row)) for row in itertools.product(*params.values()))
    return sum(all(eval(text, {}, row) for text in restrictions) for row in rows)


class KernelTuner(unittest.TestCase):
    def check(self, spec, params, restrictions=(), threads="block_size_x * block_size_y"):
        """A device takes 1024 threads a block, whatever the restrictions say."""
        limit = ["(%s) <= 1024" % threads] if all(name in params for name in threads.split(" * ")) else []
        self.assertEqual(spec.valid(), valid(params, [*restrictions, *limit]))

    def test_vector_add(self):
        n = 100
        arguments = [Array("float32", [0] * n), Array("float32", range(n)), Array("float32", range(n)), scalar("int32", n)]
        params = {"block_size_x": [128 + 64 * i for i in range(15)]}
        spec = sweetspot.from_kernel_tuner("vector_add", VECTOR, n, arguments, params,
                                           answer=[Array("float32", range(0, 2 * n, 2)), None, None, None])
        kernel = spec.document["KernelSpecification"]
        self.assertEqual((kernel["Language"], kernel["ProblemSize"], len(kernel["Arguments"])), ("CUDA", [n], 4))
        self.assertEqual(kernel["Arguments"][3]["FillValue"], n)
        with tempfile.TemporaryDirectory() as folder:
            spec.write(folder)
            for row in kernel["Arguments"]:
                for member in ("DataSource", "ReferenceFile"):
                    if member in row:
                        self.assertEqual(os.path.getsize(os.path.join(folder, row[member])), 4 * n)
        self.check(spec, params)

    def test_matmul(self):
        params = {"block_size_x": [16, 32, 64], "block_size_y": [1, 2, 4, 8, 16, 32], "tile_size_x": [1, 2, 4], "tile_size_y": [1, 2, 4]}
        restrictions = ["block_size_x == block_size_y * tile_size_y"]
        square = Array("float32", range(64), (8, 8))
        spec = sweetspot.from_kernel_tuner("matmul_kernel", VECTOR, (4096, 4096), [square, square, square], params,
                                           grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
                                           restrictions=restrictions)
        self.assertEqual(spec.document["KernelSpecification"]["GridDivX"], ["block_size_x", "tile_size_x"])
        self.assertEqual(spec.document["KernelSpecification"]["Arguments"][0]["Size"], 64)
        self.check(spec, params, restrictions)

    def test_convolution(self):
        params = {"filter_width": [17], "filter_height": [17], "block_size_x": [16 * i for i in range(1, 9)], "block_size_y": [2**i for i in range(6)],
                  "tile_size_x": [1, 2, 4], "tile_size_y": [1, 2, 4], "use_padding": [0, 1], "read_only": [0, 1]}
        restrictions = ["use_padding == 0 or block_size_x % 32 != 0", "block_size_x * block_size_y <= 1024"]
        spec = sweetspot.from_kernel_tuner("convolution_kernel", VECTOR, (4096, 4096), [Array("float32", range(9))], params,
                                           grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"],
                                           restrictions=restrictions, cmem_args={"d_filter": Array("float32", range(4))})
        self.assertEqual(spec.document["KernelSpecification"]["Arguments"][-1]["MemoryType"], "Constant")
        self.check(spec, params, restrictions)

    def test_pnpoly(self):
        params = {"block_size_x": [32 * i for i in range(1, 32)], "tile_size": [1] + [2 * i for i in range(1, 11)], "between_method": [0, 1, 2, 3],
                  "use_method": [0, 1, 2], "use_precomputed_slopes": [0, 1]}
        spec = sweetspot.from_kernel_tuner("cn_pnpoly", VECTOR, (20000000,), [Array("int32", range(5)), scalar("int32", 5)], params,
                                           grid_div_x=["block_size_x", "tile_size"])
        self.check(spec, params)

    def test_reduction(self):
        params = {"block_size_x": [2**i for i in range(5, 11)], "vector": [1, 2, 4], "num_blocks": [2**i for i in range(5, 16)], "use_shuffle": [0, 1]}
        with self.assertRaises(ValueError):
            sweetspot.from_kernel_tuner("sum_floats", VECTOR, "num_blocks", [], params, grid_div_x=[])
        spec = sweetspot.from_kernel_tuner("sum_floats", VECTOR, 1 << 20, [Array("float32", [0])], params, smem_args={"size": "block_size_x * 4"})
        self.assertEqual(spec.document["KernelSpecification"]["SharedMemory"], "block_size_x * 4")
        self.check(spec, params)

    def test_opencl(self):
        params = {"block_size_x": [32, 64], "tile": [1, 2]}
        spec = sweetspot.from_kernel_tuner("vector_add", VECTOR, 100, [Array("float32", [0] * 100)], params, lang="OpenCL",
                                           grid_div_x=["block_size_x", "tile"], atol=1e-3)
        kernel = spec.document["KernelSpecification"]
        self.assertEqual((kernel["Language"], kernel["KernelFile"], kernel["GridDivX"]), ("OpenCL", "kernel.cl", ["block_size_x", "tile"]))
        self.assertEqual(kernel["Tolerance"], {"Absolute": 1e-3, "Relative": 1e-5})
        self.check(spec, params)

    def test_hip(self):
        spec = sweetspot.from_kernel_tuner("vector_add", VECTOR, 100, [Array("float32", [0] * 100)], {"block_size_x": [64, 128]}, lang="HIP")
        kernel = spec.document["KernelSpecification"]
        self.assertEqual((kernel["Language"], kernel["KernelFile"]), ("HIP", "kernel.hip"))
        self.check(spec, {"block_size_x": [64, 128]})
        self.assertEqual(spec.files["kernel.hip"], VECTOR.encode())

    def test_stencil_with_other_block_names(self):
        params = {"bx": [32 * i for i in range(1, 9)], "by": [2**i for i in range(6)]}
        restrictions = ["bx * by <= 1024"]
        spec = sweetspot.from_kernel_tuner("stencil_kernel", VECTOR, (4096, 2048), [Array("float32", range(4))], params,
                                           block_size_names=["bx", "by"], restrictions=restrictions)
        kernel = spec.document["KernelSpecification"]
        self.assertEqual((kernel["LocalSize"], kernel["GridDivX"]), ({"X": "bx", "Y": "by", "Z": "1"}, ["bx"]))
        self.check(spec, params, restrictions)

    def test_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.cu")
            with open(path, "w") as file:
                file.write(VECTOR)
            spec = sweetspot.from_kernel_tuner("vector_add", path, 8, [], {"block_size_x": [1, 2]})
            self.assertEqual(spec.files, {"k.cu": VECTOR.encode()})
        self.assertRaises(sweetspot.SweetspotError, sweetspot.from_kernel_tuner, "k", "missing.cu", 8, [], {"block_size_x": [1]})

    def test_headers_beside_the_kernel_come_along(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("k.cu", '#include "a.h"\n#include <b.h>\n' + VECTOR), ("a.h", '#include "c.h"\n'), ("c.h", '#include "a.h"\n')):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            spec = sweetspot.from_kernel_tuner("vector_add", os.path.join(folder, "k.cu"), 8, [], {"block_size_x": [1, 2]})
            self.assertEqual(sorted(spec.files), ["a.h", "c.h", "k.cu"])

    def test_other_objectives_are_refused(self):
        for options in ({"objective": "energy"}, {"objective": "time", "objective_higher_is_better": True}):
            with self.assertRaisesRegex(ValueError, "objectives"):
                sweetspot.from_kernel_tuner("k", VECTOR, 8, [], {"block_size_x": [1]}, **options)

    def test_restrictions_that_are_functions(self):
        params = {"block_size_x": [32, 64, 128], "tile": [1, 2, 3, 4]}
        n = 384
        for restrictions in (lambda p: n % (p["block_size_x"] * p["tile"]) == 0, lambda block_size_x, tile: n % (block_size_x * tile) == 0,
                             ["tile != 4", lambda p: n % (p["block_size_x"] * p["tile"]) == 0]):
            spec = sweetspot.from_kernel_tuner("k", VECTOR, n, [], params, restrictions=restrictions)
            more = ["tile != 4"] if isinstance(restrictions, list) else []
            self.assertEqual(spec.valid(), valid(params, ["384 % (block_size_x * tile) == 0", *more]))

    def test_what_has_no_effect_is_said(self):
        with self.assertWarnsRegex(UserWarning, "verbose, strategy"):
            sweetspot.from_kernel_tuner("k", VECTOR, 8, [], {"block_size_x": [1]}, strategy="random_sample", verbose=True)
        with self.assertRaisesRegex(TypeError, "stratgy"):
            sweetspot.from_kernel_tuner("k", VECTOR, 8, [], {"block_size_x": [1]}, stratgy="random_sample")

    def test_refused(self):
        def make(**changed):
            given = dict(kernel_name="k", kernel_source=VECTOR, problem_size=8, arguments=[], tune_params={"block_size_x": [1, 2]})
            return sweetspot.from_kernel_tuner(**dict(given, **changed))

        for changed in ({"kernel_source": lambda p: ""}, {"verify": lambda answer, result: True}, {"arguments": [3]},
                        {"arguments": [Array("complex64", [1])]}, {"texmem_args": {"t": 1}}, {"lang": "Julia"}, {"problem_size": lambda p: 1},
                        {"tune_params": {}}, {"grid_div_x": [lambda p: 1]}, {"defines": {"A": lambda p: 1}}):
            with self.assertRaises(ValueError, msg=changed):
                make(**changed)


class Modules(unittest.TestCase):
    def test_modules_of_kernel_tuner_are_found(self):
        import importlib

        for name, member in (("observers.nvml", "NVMLObserver"), ("observers.observer", "BenchmarkObserver"), ("observers.ncu", "NCUObserver"),
                             ("observers.register", "RegisterObserver"), ("observers.pmt", "PMTObserver"), ("nvml", "NVMLObserver"),
                             ("observers.tegra", "TegraObserver"), ("util", "get_config_string"), ("utils.directives", "process_directives"),
                             ("kernelbuilder", "PythonKernel"), ("file_utils", "store_output_file"), ("wrappers", "cpp")):  # fmt: skip
            self.assertTrue(hasattr(importlib.import_module("sweetspot.kernel_tuner." + name), member), name)

    def test_a_parameter_in_the_name_of_a_template_has_its_value(self):
        from sweetspot.kernel_tuner._source import Source

        text = "template<typename T, int size> __global__ void add(T *c) { c[threadIdx.x] = size; }"
        source = Source("add<float, block_size_x>", text, None, {})
        self.assertIn("add<float, 64>(a0)", source.prepared({"block_size_x": 64}, {}, ["float *"])[0])

    def test_configurations_in_parallel_are_refused_with_a_warning(self):
        from sweetspot.kernel_tuner import tune_kernel

        with self.assertWarns(UserWarning), self.assertRaises(ValueError):
            tune_kernel("f", "void f() {}", 1, [], {"x": [1]}, parallel=True, simulation_mode=True)

    def test_a_cpp_function_with_references_to_arrays_is_wrapped(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        from sweetspot.kernel_tuner import run_kernel, wrappers

        text = "template<int n> void twice(double (&c)[n], double (&a)[n], int m) { for (int i = 0; i < m; i++) c[i] = 2 * a[i]; }"
        a = numpy.arange(9.0)
        args = [numpy.zeros(9), a, numpy.int32(9)]
        source = wrappers.cpp("twice", text, args, convert_to_array=[True, True, False])
        found = run_kernel("twice_wrapper", source, 1, args, {}, lang="C", quiet=True)
        self.assertTrue(numpy.array_equal(found[0], 2 * a))


if __name__ == "__main__":
    unittest.main()
