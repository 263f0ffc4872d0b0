# SPDX-License-Identifier: BSD-3-Clause
"""What is observed of each run beside its time. A user's own observer is called around each iteration; those of Kernel
Tuner that read a device become counters of ours."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence


class BenchmarkObserver:
    """Derive from this: all methods but get_results() may stay as they are."""

    dev: Any = None

    def register_device(self, dev: Any) -> None:
        self.dev = dev

    def register_configuration(self, params: Dict[str, Any]) -> None:
        pass

    def before_start(self) -> None:
        pass

    def after_start(self) -> None:
        pass

    def during(self) -> None:
        pass

    def after_finish(self) -> None:
        pass

    def get_results(self) -> Dict[str, Any]:
        raise NotImplementedError


class IterationObserver(BenchmarkObserver):
    pass


class OutputObserver(BenchmarkObserver):
    def process_output(self, answer: Any, output: List[Any]) -> None:
        raise NotImplementedError

    def get_results(self) -> Dict[str, Any]:
        return {}


class PrologueObserver(BenchmarkObserver):
    pass


class Read(BenchmarkObserver):
    """Is read from the worker's reply, not called. `request` are members of the request that it needs."""

    request: Mapping[str, Any] = {}

    def read(self, reply: Mapping[str, Any]) -> Dict[str, Any]:
        raise NotImplementedError

    def get_results(self) -> Dict[str, Any]:
        return {}


class RegisterObserver(Read):
    """num_regs: the registers of a thread."""

    def read(self, reply: Mapping[str, Any]) -> Dict[str, Any]:
        kernels = (reply.get("gpu") or {}).get("kernels") or []
        if not kernels:
            raise ValueError("RegisterObserver: the device does not tell the registers of a kernel")
        return {"num_regs": kernels[0]["registers"]}


class NVMLObserver(Read):
    """nvml_energy (J), nvml_power (W), temperature, core_freq and mem_freq, of a GPU of NVIDIA."""

    _ENERGY = ("nvml_energy", "energy")  # the second is the older name
    _KEYS = {"temperature": "temperature_c", "core_freq": "sm_mhz", "mem_freq": "memory_mhz", "nvml_power": "power_w"}

    def __init__(self, observables: Sequence[str], device: int = 0, **settings: Any) -> None:
        unknown = [name for name in observables if name not in self._KEYS and name not in self._ENERGY]
        if unknown or settings:
            raise ValueError("NVMLObserver: %s cannot be observed here" % ", ".join([*unknown, *settings]))
        self.observables = list(observables)
        self.request = {"objective": "energy"} if any(name in observables for name in self._ENERGY) else {}

    def read(self, reply: Mapping[str, Any]) -> Dict[str, Any]:
        gpu, joules = reply.get("gpu") or {}, reply.get("energy_j") or []
        found = {name: gpu.get(key) for name, key in self._KEYS.items() if name in self.observables}
        mean = sum(joules) / len(joules) if joules else None
        found.update({name: mean for name in self._ENERGY if name in self.observables})
        missing = [name for name, value in found.items() if value is None]
        if missing:
            raise ValueError("NVMLObserver: the device does not tell %s" % ", ".join(missing))
        return found


class NCUObserver(Read):
    """Hardware metrics, by the names of `sweetspot list metrics --chip`."""

    def __init__(self, metrics: Sequence[str] = (), device: int = 0) -> None:
        self.metrics = list(metrics)
        self.request = {"counters": self.metrics}

    def read(self, reply: Mapping[str, Any]) -> Dict[str, Any]:
        counters = reply.get("counters") or []
        found = {each["name"]: each["value"] for each in counters if each.get("value") is not None}
        for name in self.metrics:
            if name not in found:
                why = next((each.get("reason") for each in counters if each.get("name") == name), None)
                raise ValueError("NCUObserver: %s was not counted: %s" % (name, why or "the device does not know it"))
        return found


def _refused(name: str, why: str) -> type:
    def refuse(self: Any, *_: Any, **__: Any) -> None:
        raise ValueError("%s is not supported: %s" % (name, why))

    return type(name, (BenchmarkObserver,), {"__init__": refuse})


PMTObserver = _refused("PMTObserver", "NVMLObserver has the energy of a GPU; for processors use sweetspot.tune(.., objective='energy')")
PowerSensorObserver = _refused("PowerSensorObserver", "there is no driver for this sensor; NVMLObserver has the energy of a GPU")
TegraObserver = _refused("TegraObserver", "clocks are never set; NVMLObserver reads them")
HIPRuntimeObserver = CudaRuntimeObserver = BenchmarkObserver
