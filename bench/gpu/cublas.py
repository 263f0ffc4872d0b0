# SPDX-License-Identifier: GPL-3.0-or-later
"""The products of cuBLAS, called with ctypes; for a bench beside which it is installed."""
import array
import ctypes
import random
import struct
import sys

TYPES = {"f32": (0, 4), "f16": (2, 2), "bf16": (14, 2), "tf32": (0, 4), "f8": (28, 1)}  # cudaDataType_t, bytes
SUMS_F32, SUMS_TF32 = 68, 77  # cublasComputeType_t
TRANSPOSE_A, FAST_SUMS, WORKSPACE = 3, 25, 1  # attributes of a product and of a wish
CHOICES, CHOICE, ROOM = 8, 96, 32 << 20  # what cublasLt proposes, at most; bytes of a proposal; bytes of memory to work in
LARGEST, PERIOD = 31, 65521  # of the elements, as in kernels/gemm/gemm.h; they repeat


def library(names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def elements(kind, numbers):
    """Numbers as bytes of a type; whole numbers this small are exact in all of them."""
    if kind == "f8":
        return bytes((x < 0) << 7 | (0, 0x38, 0x40, 0x44)[abs(x)] for x in numbers)
    if kind == "f16":
        return struct.pack(f"<{len(numbers)}e", *numbers)
    whole = array.array("f", numbers).tobytes()
    return whole if kind in ("f32", "tf32") else b"".join(whole[i + 2:i + 4] for i in range(0, len(whole), 4))


class Lt:
    """cublasLt's products of n x n matrices, B A in columns' order; of 8 bits only with the first matrix transposed, and sums
    as fast as it can."""

    def __init__(self, n, kind, sums):
        self.lt = library(["libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"])
        self.chosen = 0
        if self.lt is None:
            raise OSError("cublasLt is not installed")
        self.handle = self.make("cublasLtCreate")
        self.what = self.make("cublasLtMatmulDescCreate", SUMS_TF32 if kind == "tf32" else SUMS_F32, 0)
        if kind == "f8":
            for attribute, value in ((TRANSPOSE_A, ctypes.c_int32(1)), (FAST_SUMS, ctypes.c_int8(1))):
                self.call("cublasLtMatmulDescSetAttribute", self.what, attribute, ctypes.byref(value), ctypes.sizeof(value))
        long = ctypes.c_uint64(n)
        self.ab, self.c = (self.make("cublasLtMatrixLayoutCreate", some, long, long, ctypes.c_int64(n))
                           for some in (TYPES[kind][0], sums))
        wish, found, room = self.make("cublasLtMatmulPreferenceCreate"), ctypes.c_int(), ctypes.c_uint64(ROOM)
        self.call("cublasLtMatmulPreferenceSetAttribute", wish, WORKSPACE, ctypes.byref(room), ctypes.sizeof(room))
        self.choices = ctypes.create_string_buffer(CHOICES * CHOICE)
        self.call("cublasLtMatmulAlgoGetHeuristic", self.handle, self.what, self.ab, self.ab, self.c, self.c, wish, CHOICES,
                  self.choices, ctypes.byref(found))
        self.found = found.value

    def call(self, name, *arguments):
        code = getattr(self.lt, name)(*arguments)
        if code:
            raise OSError(f"{name} failed: {code}")

    def make(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def launch(self, a, b, c, room):
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        choice = ctypes.byref(self.choices, self.chosen * CHOICE)
        self.call("cublasLtMatmul", self.handle, self.what, ctypes.byref(one), b, self.ab, a, self.ab, ctypes.byref(zero), c,
                  self.c, c, self.c, choice, room, ctypes.c_size_t(ROOM), None)


class Cublas:
    """n x n matrices of one type; `sums` is the type of the result."""

    def __init__(self, n, kind, sums="f32", device=0):
        self.cuda, self.n, self.memory, self.turned = library(["libcuda.so.1"]), n, [], kind == "f8"
        if self.cuda is None:
            raise OSError("the driver is not installed")
        context = ctypes.c_void_p()
        self.check("cuInit", 0)
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.check("cuCtxSetCurrent", context)
        self.lt = Lt(n, kind, TYPES[sums][0])
        largest = 3 if kind == "f8" else LARGEST
        self.numbers = [random.Random(seed).choices(range(-largest, largest + 1), k=PERIOD) for seed in (1, 2)]
        self.a, self.b = (self.upload(elements(kind, some), TYPES[kind][1]) for some in self.numbers)
        self.c, self.room = self.allocate(n * n * TYPES[sums][1]), self.allocate(ROOM)
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
        self.lt.launch(self.a, self.b, self.c, self.room)

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
                at = (lambda p: j * n + p) if self.turned else (lambda p: p * n + j)
                if row[j] != sum(a[(i * n + p) % PERIOD] * b[at(p) % PERIOD] for p in range(n)):
                    return False
        return True

    def choose(self):
        """The fastest of what cublasLt proposes, of which it may refuse some."""
        took = {}
        for choice in range(self.lt.found):
            self.lt.chosen = choice
            try:
                took[choice] = min(self.seconds(3) for _ in range(5))
            except OSError:
                pass
        if not took:
            raise OSError("cublasLt has no product of this kind")
        self.lt.chosen = min(took, key=took.get)

    def close(self):
        for at in self.memory:
            self.check("cuMemFree_v2", at)
        self.lt.call("cublasLtDestroy", self.lt.handle)


def peer_of(n, kind, sums="f32", device=0):
    """Products as cuBLAS makes them fastest, or None where it is not installed."""
    try:
        peer = Cublas(n, kind, sums, device)
        peer.choose()
    except OSError as error:
        print(f"cuBLAS left out: {error}", file=sys.stderr)
        return None
    peer.launch()
    if sums == "f32" and not peer.right():
        raise ArithmeticError(f"cuBLAS: a wrong product of {kind}")
    return peer
