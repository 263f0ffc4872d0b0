/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of NVML's binary interface that we use (NVIDIA, NVML API Reference Guide, 13.0); see driver_abi.h. */
#ifndef GPU_NVML_ABI_H
#define GPU_NVML_ABI_H

typedef int nvml_result;
typedef struct nvml_device_st *nvml_device;
/* nvmlProcessInfo_v2_t, which the _v3 call fills */
struct nvml_process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

enum { NVML_FINE = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4, NVML_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };
/* nvmlClocksEventReasons, those that slow a busy GPU down against its will */
enum {
	NVML_POWER_CAP = 0x4,
	NVML_HARDWARE_SLOWDOWN = 0x8,
	NVML_SOFTWARE_THERMAL = 0x20,
	NVML_HARDWARE_THERMAL = 0x40,
	NVML_POWER_BRAKE = 0x80
};

#define NVML_CALLS(X)                                                                                                  \
	X(init, nvmlInit_v2, (void))                                                                                       \
	X(shutdown, nvmlShutdown, (void))                                                                                  \
	X(version, nvmlSystemGetNVMLVersion, (char *text, unsigned size))                                                  \
	X(by_uuid, nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *device))                                     \
	X(by_pci, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, nvml_device *device))                                \
	X(clock, nvmlDeviceGetClockInfo, (nvml_device device, int which, unsigned *mhz))                                   \
	X(clock_max, nvmlDeviceGetMaxClockInfo, (nvml_device device, int which, unsigned *mhz))                            \
	X(power, nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *milliwatt))                                       \
	X(temperature, nvmlDeviceGetTemperature, (nvml_device device, int sensor, unsigned *celsius))                      \
	X(throttle, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device device, unsigned long long *bits))             \
	X(energy, nvmlDeviceGetTotalEnergyConsumption, (nvml_device device, unsigned long long *millijoule))               \
	X(mig, nvmlDeviceGetMigMode, (nvml_device device, unsigned *current, unsigned *pending))                           \
	X(processes, nvmlDeviceGetComputeRunningProcesses_v3,                                                              \
	  (nvml_device device, unsigned *count, struct nvml_process *processes))

#endif
