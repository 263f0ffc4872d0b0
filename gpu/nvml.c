/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads clocks, power, temperature, and other users of the device. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu_impl.h"
#include "base/sys.h"

static const struct {
	uint64_t bit;
	const char *words;
} reasons[] = {
	{NVML_POWER_CAP, "power cap"},     {NVML_HARDWARE_SLOWDOWN, "hardware slowdown"},
	{NVML_SOFTWARE_THERMAL, "heat"},   {NVML_HARDWARE_THERMAL, "heat, by hardware"},
	{NVML_POWER_BRAKE, "power brake"},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

/* A MIG part of a GPU has its own UUID, so the device is found by its place on the bus. */
static nvml_device nvml_find(const struct nvml *nvml, const struct driver *driver, const struct gpu_facts *facts) {
	nvml_device device = NULL;
	driver_device handle;
	int domain = 0, bus = 0, place = 0;
	char text[32];
	if (nvml->by_uuid && facts->uuid[0] && nvml->by_uuid(facts->uuid, &device) == NVML_FINE)
		return device;
	if (!nvml->by_pci || driver->device_get(&handle, facts->index) != DRIVER_SUCCESS ||
	    driver->device_attribute(&domain, DRIVER_PCI_DOMAIN, handle) != DRIVER_SUCCESS ||
	    driver->device_attribute(&bus, DRIVER_PCI_BUS, handle) != DRIVER_SUCCESS ||
	    driver->device_attribute(&place, DRIVER_PCI_DEVICE, handle) != DRIVER_SUCCESS)
		return NULL;
	snprintf(text, sizeof text, "%08x:%02x:%02x.0", (unsigned)domain, (unsigned)bus, (unsigned)place);
	return nvml->by_pci(text, &device) == NVML_FINE ? device : NULL;
}

static nvml_device device_of(struct gpu *gpu) {
	struct library_why why;
	if (!gpu->nvml_tried && nvml_open(&gpu->nvml, &why))
		gpu->nvml_device = nvml_find(&gpu->nvml, &gpu->driver, &gpu->facts);
	gpu->nvml_tried = true;
	return gpu->nvml_device;
}

static double mhz(nvml_result (*call)(nvml_device, int, unsigned *), nvml_device device, int which) {
	unsigned value;
	return call && call(device, which, &value) == NVML_FINE ? (double)value : NAN;
}

static uint64_t slowing(const struct nvml *nvml, nvml_device device) {
	unsigned long long bits = 0;
	uint64_t known = 0;
	if (!nvml->throttle || nvml->throttle(device, &bits) != NVML_FINE)
		return 0;
	for (size_t i = 0; i < REASONS; i++)
		known |= reasons[i].bit;
	return bits & known;
}

void gpu_health(struct gpu *gpu, struct gpu_health *health) {
	nvml_device device = device_of(gpu);
	const struct nvml *nvml = &gpu->nvml;
	unsigned value;
	unsigned long long energy;
	*health = (struct gpu_health){NAN, NAN, NAN, NAN, NAN, 0, NAN};
	if (!device)
		return;
	health->sm_mhz = mhz(nvml->clock, device, NVML_CLOCK_SM);
	health->sm_mhz_max = mhz(nvml->clock_max, device, NVML_CLOCK_SM);
	health->memory_mhz = mhz(nvml->clock, device, NVML_CLOCK_MEMORY);
	if (nvml->power && nvml->power(device, &value) == NVML_FINE)
		health->power_w = 1e-3 * value;
	if (nvml->temperature && nvml->temperature(device, NVML_TEMPERATURE_GPU, &value) == NVML_FINE)
		health->temperature_c = value;
	if (nvml->energy && nvml->energy(device, &energy) == NVML_FINE)
		health->energy_j = 1e-3 * (double)energy;
	health->throttle = slowing(nvml, device);
}

void gpu_health_lately(struct gpu *gpu, double age_s, struct gpu_health *health) {
	double now = sys_now();
	if (gpu->health_at <= 0 || now - gpu->health_at > age_s) {
		gpu_health(gpu, &gpu->health);
		gpu->health_at = sys_now();
	}
	*health = gpu->health;
}

const char *gpu_throttle_words(uint64_t bits, char *text, size_t size) {
	size_t used = 0;
	if (size)
		text[0] = '\0';
	for (size_t i = 0; i < REASONS; i++)
		if (bits & reasons[i].bit && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", reasons[i].words);
	return text;
}

static void processes_read(const struct nvml *nvml, nvml_device device, struct gpu_tenants *tenants) {
	struct nvml_process found[256];
	unsigned count = sizeof found / sizeof *found, pids = sizeof tenants->pids / sizeof *tenants->pids;
	if (!nvml->processes || nvml->processes(device, &count, found) != NVML_FINE || count > sizeof found / sizeof *found)
		return;
	tenants->processes = 0;
	for (unsigned i = 0; i < count; i++)
		if (found[i].pid != (unsigned)getpid()) {
			if ((unsigned)tenants->processes < pids)
				tenants->pids[tenants->processes] = found[i].pid;
			tenants->processes++;
		}
}

void gpu_tenants(int index, struct gpu_tenants *tenants) {
	struct driver driver;
	struct nvml nvml;
	struct library_why why;
	struct gpu_facts facts;
	unsigned current = 0, pending = 0;
	*tenants = (struct gpu_tenants){.processes = -1};
	if (!driver_open(&driver, &why))
		return;
	if (nvml_open(&nvml, &why)) {
		nvml_device device = device_facts(&driver, index, &facts) ? nvml_find(&nvml, &driver, &facts) : NULL;
		if (device && nvml.mig && nvml.mig(device, &current, &pending) == NVML_FINE)
			tenants->mig = current == 1;
		if (device)
			processes_read(&nvml, device, tenants);
		nvml_close(&nvml);
	}
	driver_close(&driver);
}
