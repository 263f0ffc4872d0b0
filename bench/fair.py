# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of `wallclock.py fair`, what Kernel Tuner needs to tune them, and their judge.

  fair.py specs FOLDER                                    writes the T1 specifications, and their sources beside them
  fair.py kernel_tuner SPEC SEED SECONDS OUT.json         one search with Kernel Tuner, in its CuPy backend
  fair.py judge SPEC CANDIDATES.json OUT.json             times [[name, configuration]..] in turns, each as NVRTC and as nvcc compile it

The kernels are those of public suites (CLBlast, Kernel Tuner, KTT, the CUDA samples), written anew with the same parameters."""
import contextlib
import io
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ["-std=c++17", "-ftz=true"]  # as CuPy compiles, so that all tools mean the same arithmetic
POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]


def to(last, first=1):
    return [n for n in POWERS if first <= n <= last]


def vector(name, size, access="ReadOnly", kind="float", **more):
    fill = {"FillType": "Random", "FillValue": 1} if access == "ReadOnly" else {"Output": 1}
    return {"Name": name, "Type": kind, "MemoryType": "Vector", "AccessType": access, "Size": size, **fill, **more}


def scalar(name, value):
    return {"Name": name, "Type": "int32", "MemoryType": "Scalar", "FillValue": value}


def matrix(n):
    return [vector("C", n * n, "WriteOnly"), vector("A", n * n), vector("B", n * n)]


# name -> parameters with the default first, conditions, arguments, and the members of the launch
KERNELS = {
    "gemm": ({"MWG": [32, 16, 64, 128], "NWG": [32, 16, 64, 128], "KWG": [32], "MDIMC": [8, 16, 32], "NDIMC": [8, 16, 32],
              "MDIMA": [8, 16, 32], "NDIMB": [8, 16, 32], "KWI": [2], "VWM": to(4), "VWN": to(4), "SA": [1, 0], "SB": [1, 0]},
             ["MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
              "MDIMC * NDIMC >= 64", "KWG % (MDIMC * NDIMC // MDIMA) == 0", "KWG % (MDIMC * NDIMC // NDIMB) == 0"],
             matrix(4096) + [scalar(size, 4096) for size in "mnk"],
             {"ProblemSize": [4096, 4096], "GridDivX": ["MWG"], "GridDivY": ["NWG"], "LocalSize": {"X": "MDIMC", "Y": "NDIMC"}}),
    "convolution": ({"block_size_x": [16, 32, 64, 128], "block_size_y": [16, 1, 2, 4, 8], "tile_size_x": [1, 2, 4, 8],
                     "tile_size_y": [1, 2, 4, 8], "read_only": [0, 1], "use_padding": [0, 1], "use_shmem": [1, 0], "use_cmem": [1],
                     "filter_width": [15], "filter_height": [15]},
                    ["64 <= block_size_x * block_size_y <= 1024", "use_padding == 0 or (use_shmem == 1 and block_size_x % 32 != 0)",
                     "use_shmem == 0 or (block_size_x * tile_size_x + 44) * (block_size_y * tile_size_y + 14) <= 12288"],
                    [vector("output", 4096 * 4096, "WriteOnly"), vector("input", 4110 * 4110), vector("d_filter", 225, MemType="Constant")],
                    {"ProblemSize": [4096, 4096], "GridDivX": ["block_size_x", "tile_size_x"], "GridDivY": ["block_size_y", "tile_size_y"]}),
    "pnpoly": ({"block_size_x": [256, *[n for n in range(32, 1024, 32) if n != 256]], "tile_size": [1, *range(2, 21, 2)],
                "between_method": [0, 1, 2, 3], "use_method": [0, 1, 2]}, [],
               [vector("inside", 20000000, "WriteOnly", "int32", Tolerance={"Share": 1e-4}), vector("points", 40000000), scalar("n", 20000000),
                vector("d_vertices", 1200, MemType="Constant")], {"ProblemSize": [20000000], "GridDivX": ["block_size_x", "tile_size"]}),
    "matmul": ({"block_size_x": [16, 32, 64], "block_size_y": [16, 1, 2, 4, 8, 32], "tile_size_x": to(8), "tile_size_y": to(8)},
               ["block_size_x == block_size_y * tile_size_y"], matrix(4096),
               {"ProblemSize": [4096, 4096], "GridDivX": ["block_size_x", "tile_size_x"], "GridDivY": ["block_size_y", "tile_size_y"]}),
    "transpose": ({"tile": [32, 16, 64], "block_size_y": [8, 1, 2, 4, 16, 32], "vector": to(4), "padding": [0, 1], "diagonal": [0, 1]},
                  ["32 <= tile // vector * block_size_y <= 1024", "block_size_y <= tile"], matrix(8192)[:2],
                  {"ProblemSize": [8192, 8192], "GridDivX": ["tile"], "GridDivY": ["tile"], "LocalSize": {"X": "tile // vector", "Y": "block_size_y"}}),
    "reduction": ({"block_size_x": [128, *to(1024, 256), 64, 32], "num_blocks": [1024, *to(512, 64), 132, 264, 528, 1056, 2112, 4224],
                   "vector": to(4), "loads": to(8), "use_shuffle": [0, 1]}, [],
                  [vector("sums", 4224, "WriteOnly", Verify="sum", Tolerance={"Relative": 1e-4}), vector("x", 1 << 27), scalar("n", 1 << 27)],
                  {"ProblemSize": [1 << 27], "GlobalSize": {"X": "num_blocks"}}),
    "coulomb": ({"block_size_x": [16, 32, 64, 128], "block_size_y": [16, 1, 2, 4, 8], "z_iterations": to(32), "inner_unroll": to(32)},
                ["64 <= block_size_x * block_size_y <= 1024"],
                [vector("energy", 256**3, "WriteOnly"), vector("atoms", 1024, MemType="Constant")],
                {"ProblemSize": [256, 256, 256], "GridDivX": ["block_size_x"], "GridDivY": ["block_size_y"], "GridDivZ": ["z_iterations"]}),
    "nbody": ({"block_size_x": to(1024, 32)[3:] + to(128, 32), "bodies": to(8), "inner_unroll": to(32), "use_shared": [1, 0], "use_rsqrt": [0, 1]},
              [], [vector("acceleration", 1 << 18, "WriteOnly", Tolerance={"Absolute": 1, "Relative": 1e-3}), vector("body", 1 << 18),
                   scalar("n", 1 << 16)], {"ProblemSize": [1 << 16], "GridDivX": ["block_size_x", "bodies"]}),
}


def specs(folder):
    for name, (params, conditions, arguments, launch) in KERNELS.items():
        source = "../doc/examples/spec-cuda/convolution_milo.cu" if name == "convolution" else f"fair/{name}.cu"
        shutil.copy(os.path.join(HERE, source), os.path.join(folder, name + ".cu"))
        spec = {"General": {"BenchmarkName": name},
                "ConfigurationSpace": {"TuningParameters": [{"Name": p, "Type": "int", "Values": values, "Default": values[0]}
                                                            for p, values in params.items()],
                                       "Conditions": [{"Expression": c, "Parameters": []} for c in conditions]},
                "KernelSpecification": {"Language": "CUDA", "KernelName": name + "_kernel" * (name == "convolution"), "KernelFile": name + ".cu",
                                        "CompilerOptions": OPTIONS, "Arguments": arguments, **launch}}
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)


def load(path):
    """(specification of the kernel, its parameters, conditions, arguments, constants by name), random inputs the same each time."""
    import numpy as np
    draw = np.random.default_rng(1)
    spec = json.load(open(path, encoding="utf-8"))
    kernel, arguments, constants = spec["KernelSpecification"], [], {}
    for a in kernel["Arguments"]:
        kind = np.dtype({"float": "float32"}.get(a["Type"], a["Type"]))
        value = kind.type(a["FillValue"]) if a["MemoryType"] == "Scalar" else \
            draw.random(a["Size"], dtype=kind) if a.get("FillType") == "Random" else np.zeros(a["Size"], kind)
        if a.get("MemType") == "Constant":
            constants[a["Name"]] = value
        else:
            arguments.append(value)
    space = spec["ConfigurationSpace"]
    return kernel, {p["Name"]: p["Values"] for p in space["TuningParameters"]}, [c["Expression"] for c in space["Conditions"]], arguments, constants


def block(kernel, config):
    local = kernel.get("LocalSize") or {}
    return tuple(int(eval(local.get(axis, ""), dict(config))) if axis in local else config.get(f"block_size_{axis.lower()}", 1) for axis in "XYZ")


def grid(kernel, config):
    if "GlobalSize" in kernel:
        return (config[kernel["GlobalSize"]["X"]], 1, 1)
    problem, out = kernel["ProblemSize"] + [1, 1], []
    for size, axis in zip(problem, "XYZ"):
        for name in kernel.get("GridDiv" + axis, []):
            size = -(-size // config[name])
        out.append(size)
    return tuple(out)


def kernel_tuner(path, seed, seconds, out):
    """Its cap on evaluations is lifted, its iterations are its default, and a space under 500 is searched by brute force; the clock
    starts when its modules and the inputs are there. The cache file keeps what came out if the search has to be ended."""
    import kernel_tuner as kt
    import numpy as np
    random.seed(seed)
    np.random.seed(seed)
    kernel, params, conditions, arguments, constants = load(path)
    more = {"cmem_args": constants} if constants else {}
    if "LocalSize" in kernel:  # expressions become parameters with one value for each configuration
        names = list(params)
        for axis in kernel["LocalSize"]:
            word = kernel["LocalSize"][axis]
            if word not in names:
                params["threads_" + axis] = sorted({block(kernel, dict(zip(names, c)))["XYZ".index(axis)] for c in product(params)})
                conditions.append(f"threads_{axis} == {word}")
        more["block_size_names"] = [f"threads_{a}" if f"threads_{a}" in params else word for a, word in kernel["LocalSize"].items()]
    size = sum(1 for c in product(params) if all(eval(e, dict(zip(params, c))) for e in conditions))
    strategy = "brute_force" if size < 500 else "greedy_ils"
    options = {} if strategy == "brute_force" else {"time_limit": seconds, "max_fevals": 10**9}
    problem = kernel["GlobalSize"]["X"] if "GlobalSize" in kernel else tuple(kernel["ProblemSize"])
    divide = [[]] * 3 if "GlobalSize" in kernel else [kernel.get("GridDiv" + axis, []) for axis in "XYZ"]
    json.dump({"begun": time.time(), "strategy": strategy, "space": size}, open(out, "w", encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()):
        kt.tune_kernel(kernel["KernelName"], kernel["KernelFile"], problem, arguments, params, grid_div_x=divide[0], grid_div_y=divide[1],
                       grid_div_z=divide[2], restrictions=conditions, lang="CUPY", compiler_options=OPTIONS[:1], strategy=strategy,
                       strategy_options=options, quiet=True, cache=out[:-5] + ".cache.json", **more)


def product(params):
    import itertools
    return itertools.product(*params.values())


def cubin(kernel, config, compiler, out):
    """What NVRTC or nvcc make of a configuration for this GPU, with no other options than the specification's."""
    import cupy
    arch = "sm_" + cupy.cuda.Device().compute_capability
    text = out + ".cu"
    with open(text, "w", encoding="utf-8") as file:  # in front of the source, where they don't reach nvcc's own headers
        file.write("".join(f"#define {name} {value}\n" for name, value in config.items()))
        file.write(open(kernel["KernelFile"], encoding="utf-8").read())
    if compiler == "nvcc":
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        subprocess.run([nvcc, "-cubin", "-arch=" + arch, *OPTIONS, "-o", out, text], check=True)
        return out
    from cupy.cuda import nvrtc
    program = nvrtc.createProgram(open(text, encoding="utf-8").read(), text, (), ())
    nvrtc.compileProgram(program, ("-arch=" + arch, *OPTIONS))
    with open(out, "wb") as file:
        file.write(nvrtc.getCUBIN(program))
    return out


def judge(path, candidates, out):
    import cupy
    kernel, _, _, arguments, constants = load(path)
    arguments = tuple(cupy.asarray(a) if a.ndim else a for a in arguments)
    entrants, times = [], {}
    jobs = [(f"{name} {compiler}", config, compiler, f"{out}.{i}.{compiler}")  # modules are kept by path
            for i, (name, config) in enumerate(json.load(open(candidates, encoding="utf-8"))) for compiler in ("nvrtc", "nvcc")]
    with ThreadPoolExecutor() as pool:
        files = list(pool.map(lambda job: cubin(kernel, *job[1:]), jobs))
    for (name, config, _, _), file in zip(jobs, files):
        module = cupy.RawModule(path=file)
        for symbol, value in constants.items():
            cupy.ndarray(value.shape, value.dtype, module.get_global(symbol))[:] = cupy.asarray(value)
        entrants.append((name, module.get_function(kernel["KernelName"]), grid(kernel, config), block(kernel, config)))
    for _ in range(21):
        for name, function, blocks, threads in random.sample(entrants, len(entrants)):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            function(blocks, threads, arguments)
            start.record()
            for _ in range(3):
                function(blocks, threads, arguments)
            end.record()
            end.synchronize()
            times.setdefault(name, []).append(cupy.cuda.get_elapsed_time(start, end) / 3e3)
    json.dump({name: statistics.median(all_of) for name, all_of in times.items()}, open(out, "w", encoding="utf-8"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["specs"]:
        specs(sys.argv[2])
    elif sys.argv[1:2] == ["kernel_tuner"]:
        kernel_tuner(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
    elif sys.argv[1:2] == ["judge"]:
        judge(*sys.argv[2:])
    else:
        sys.exit(__doc__)
