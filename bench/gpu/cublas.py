# SPDX-License-Identifier: GPL-3.0-or-later
"""The products of cuBLAS, called with ctypes; for a bench beside which it is installed."""
import array
import ctypes
import ctypes.util
import random
import struct
import sys

TYPES = {"f32": (0, 4), "f16": (2, 2), "bf16": (14, 2), "tf32": (0, 4), "f8": (28, 1)}  # cudaDataType_t, bytes
SUMS_F32, SUMS_TF32, NO_TRANSPOSE, ANY_ALGORITHM = 68, 77, 0, -1  # cublasComputeType_t, cublasOperation_t, cublasGemmAlgo_t
LARGEST, PERIOD = 31, 65521  # of the elements, as in kernels/gemm/gemm.h; they repeat


def library(names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def cublas_library():
    names = [ctypes.util.find_library("cublas"), "libcublas.so.13", "libcublas.so.12"]
    return library([name for name in names if name] + ["/usr/local/cuda/lib64/libcublas.so"])


def elements(kind, numbers):
    """Numbers as bytes of a type; whole numbers this small are exact in all of them."""
    if kind == "f8":
        return bytes((x < 0) << 7 | (0, 0x38, 0x40, 0x44)[abs(x)] for x in numbers)
    if kind == "f16":
        return struct.pack(f"<{len(numbers)}e", *numbers)
    whole = array.array("f", numbers).tobytes()
    return whole if kind in ("f32", "tf32") else b"".join(whole[i + 2:i + 4] for i in range(0, len(whole), 4))


class Lt:
    """cublasLt's product for 8 bits, which it takes only with the first matrix transposed; sums as fast as it can."""

    def __init__(self, n):
        self.lt, self.n, self.parts = library(["libcublasLt.so.13", "libcublasLt.so.12"]), n, []
        if self.lt is None:
            raise OSError("cublasLt is not installed")
        self.handle = self.make("cublasLtCreate")
        self.what = self.make("cublasLtMatmulDescCreate", SUMS_F32, 0)
        for attribute, value in ((3, ctypes.c_int32(1)), (25, ctypes.c_int8(1))):  # TRANSA: yes, FAST_ACCUM: yes
            self.call("cublasLtMatmulDescSetAttribute", self.what, attribute, ctypes.byref(value), ctypes.sizeof(value))
        long = ctypes.c_uint64(n)
        self.ab, self.c = (self.make("cublasLtMatrixLayoutCreate", kind, long, long, ctypes.c_int64(n)) for kind in (28, 0))
        wish, found, self.choice = self.make("cublasLtMatmulPreferenceCreate"), ctypes.c_int(), ctypes.create_string_buffer(1024)
        self.call("cublasLtMatmulAlgoGetHeuristic", self.handle, self.what, self.ab, self.ab, self.c, self.c, wish, 1, self.choice,
                  ctypes.byref(found))

    def call(self, name, *arguments):
        code = getattr(self.lt, name)(*arguments)
        if code:
            raise OSError(f"{name} failed: {code}")

    def make(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def launch(self, a, b, c):
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        self.call("cublasLtMatmul", self.handle, self.what, ctypes.byref(one), b, self.ab, a, self.ab, ctypes.byref(zero), c, self.c,
                  c, self.c, self.choice, None, ctypes.c_size_t(0), None)


class Cublas:
    """n x n matrices of one type; `sums` is the type of the result."""

    def __init__(self, n, kind, sums="f32", device=0):
        self.cuda, self.blas = library(["libcuda.so.1"]), cublas_library()
        if self.cuda is None or self.blas is None:
            raise OSError("cuBLAS or the driver is not installed")
        self.n, self.kind, self.sums, self.memory = n, TYPES[kind][0], TYPES[sums][0], []
        self.by, self.lt = SUMS_TF32 if kind == "tf32" else SUMS_F32, None
        context, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.check("cuInit", 0)
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.check("cuCtxSetCurrent", context)
        if self.blas.cublasCreate_v2(ctypes.byref(self.handle)):
            raise OSError("cublasCreate failed")
        largest = 3 if kind == "f8" else LARGEST
        self.numbers = [random.Random(seed).choices(range(-largest, largest + 1), k=PERIOD) for seed in (1, 2)]
        self.a, self.b = (self.upload(elements(kind, some), TYPES[kind][1]) for some in self.numbers)
        self.c = self.allocate(n * n * TYPES[sums][1])
        self.lt = Lt(n) if kind == "f8" else None
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.check("cuEventCreate", ctypes.byref(event), 0)

    def check(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            raise OSError(f"{name} failed: {code}")

    def allocate(self, size):
        at = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(size))
        self.memory.append(at)
        return at

    def upload(self, period, width):
        size = self.n * self.n * width
        at = self.allocate(size)
        self.check("cuMemcpyHtoD_v2", at, (period * (size // len(period) + 1))[:size], ctypes.c_size_t(size))
        return at

    def launch(self):
        """In columns' order it is the product of the transposed matrices, B A."""
        n, one, zero = self.n, ctypes.c_float(1), ctypes.c_float(0)
        if self.lt:
            return self.lt.launch(self.a, self.b, self.c)
        code = self.blas.cublasGemmEx(self.handle, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, ctypes.byref(one), self.b, self.kind, n,
                                      self.a, self.kind, n, ctypes.byref(zero), self.c, self.sums, n, self.by, ANY_ALGORITHM)
        if code:
            raise OSError(f"cublasGemmEx failed: {code}")

    def seconds(self, launches):
        """Of a product, in a row of them."""
        took = ctypes.c_float()
        self.check("cuEventRecord", self.events[0], None)
        for _ in range(launches):
            self.launch()
        self.check("cuEventRecord", self.events[1], None)
        self.check("cuEventSynchronize", self.events[1])
        self.check("cuEventElapsedTime", ctypes.byref(took), *self.events)
        return took.value * 1e-3 / launches

    def right(self):
        """Some elements of a result in f32 are what they should be."""
        n, row = self.n, array.array("f", bytes(4 * self.n))
        for i in (0, n // 3, n - 1):
            self.check("cuMemcpyDtoH_v2", ctypes.c_void_p(row.buffer_info()[0]), ctypes.c_uint64(self.c.value + 4 * n * i),
                       ctypes.c_size_t(4 * n))
            for j in (0, n // 2, n - 1):
                a, b = self.numbers
                at = (lambda p: j * n + p) if self.lt else (lambda p: p * n + j)
                if row[j] != sum(a[(i * n + p) % PERIOD] * b[at(p) % PERIOD] for p in range(n)):
                    return False
        return True

    def close(self):
        for at in self.memory:
            self.check("cuMemFree_v2", at)
        self.blas.cublasDestroy_v2(self.handle)


def best(n, kind, sums="f32", device=0, samples=15):
    """The least seconds of a product, or None where cuBLAS is not installed."""
    try:
        peer = Cublas(n, kind, sums, device)
    except OSError as error:
        print(f"cuBLAS left out: {error}", file=sys.stderr)
        return None
    peer.seconds(3)
    launches = max(1, round(2e-3 / peer.seconds(3)))
    least = min(peer.seconds(launches) for _ in range(samples))
    if sums == "f32" and not peer.right():
        raise ArithmeticError(f"cuBLAS: a wrong product of {kind}")
    peer.close()
    return least
