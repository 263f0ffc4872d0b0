/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "gpu/backend.h"

static const struct library_symbol driver_symbols[] = {
#define DRIVER_SYMBOL(field, symbol, parameters) {#field, #symbol, offsetof(struct driver, field)},
	DRIVER_CALLS(DRIVER_SYMBOL)
#undef DRIVER_SYMBOL
		{NULL, NULL, 0},
};
static const struct library_symbol nvrtc_symbols[] = {
#define NVRTC_SYMBOL(field, symbol, parameters) {#field, #symbol, offsetof(struct nvrtc, field)},
	NVRTC_CALLS(NVRTC_SYMBOL)
#undef NVRTC_SYMBOL
		{NULL, NULL, 0},
};
static const struct library_symbol nvml_symbols[] = {
#define NVML_SYMBOL(field, symbol, parameters) {#field, #symbol, offsetof(struct nvml, field)},
	NVML_CALLS(NVML_SYMBOL)
#undef NVML_SYMBOL
		{NULL, NULL, 0},
};

/* Looks below CUDA's own folder, which the loader does not always know. */
static const char *const folders[] = {
	"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "extras/CUPTI/lib64", NULL};

static void library_symbols(void *table, const struct library *library, const struct library_symbol *symbols) {
	for (const struct library_symbol *symbol = symbols; symbol->name; symbol++) {
		void *found = dlsym(library->handle, symbol->name);
		memcpy((char *)table + symbol->place, &found, sizeof found);
	}
}

const char *library_symbol(const struct library_symbol *symbols, const char *field) {
	while (symbols->field && strcmp(symbols->field, field) != 0)
		symbols++;
	return symbols->field ? symbols->name : field;
}

/* Libraries are never unmapped, because they have threads and handlers of their own. */
static void *open_one(const char *name) {
	return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *open_beneath(const char *root, const char *name) {
	void *handle = NULL;
	for (size_t i = 0; root && root[0] == '/' && folders[i] && !handle; i++) {
		char path[512];
		if (snprintf(path, sizeof path, "%s/%s/%s", root, folders[i], name) < (int)sizeof path)
			handle = open_one(path);
	}
	return handle;
}

bool library_open(struct library *library, const char *const *names, const char *known, const char *const *roots,
                  size_t root_count) {
	Dl_info info;
	library->handle = NULL;
	for (size_t i = 0; names[i] && !library->handle; i++)
		library->handle = open_one(names[i]);
	for (size_t r = 0; r < root_count; r++)
		for (size_t i = 0; names[i] && !library->handle; i++)
			library->handle = open_beneath(roots[r], names[i]);
	if (!library->handle)
		return false;
	void *symbol = dlsym(library->handle, known);
	if (symbol && dladdr(symbol, &info) && info.dli_fname)
		snprintf(library->path, sizeof library->path, "%s", info.dli_fname);
	return symbol;
}

void library_close(struct library *library) {
	if (library->handle)
		dlclose(library->handle);
	library->handle = NULL;
}

__attribute__((format(printf, 3, 4))) bool library_because(struct library_why *why, const char *fix, const char *format,
                                                           ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(why->reason, sizeof why->reason, format, ap);
	va_end(ap);
	snprintf(why->fix, sizeof why->fix, "%s", fix);
	return false;
}

void driver_words(const struct driver *driver, const char *call, driver_result result, char *text, size_t size) {
	const char *name = NULL, *words = NULL;
	if (driver->word)
		name = driver->word(result);
	else if (driver->error_name)
		driver->error_name(result, &name);
	if (driver->error_string)
		driver->error_string(result, &words);
	if (name)
		snprintf(text, size, words ? "%s: %s (%s)" : "%s: %s", call, name, words);
	else
		snprintf(text, size, "%s: CUDA error %d", call, (int)result);
}

static const char *init_fix(driver_result result) {
	switch (result) {
	case DRIVER_NO_DEVICE:
		return "look at what nvidia-smi lists and at CUDA_VISIBLE_DEVICES; a container needs --gpus";
	case DRIVER_STUB_LIBRARY:
		return "take the folder \"stubs\" of the CUDA toolkit out of LD_LIBRARY_PATH";
	default:
		return "run nvidia-smi; restart the machine if the driver was changed since";
	}
}

const char *cuda_root(size_t i) {
	switch (i) {
	case 0:
		return getenv("CUDA_HOME");
	case 1:
		return getenv("CUDA_PATH");
#ifdef SS_CUDA_ROOT
	case 2:
		return SS_CUDA_ROOT;
#endif
	case 3:
		return "/opt/cuda";
	default:
		return "/usr/local/cuda";
	}
}

static bool cuda_open(struct library *library, const char *const *names, const char *known) {
	const char *roots[CUDA_ROOTS];
	for (size_t i = 0; i < CUDA_ROOTS; i++)
		roots[i] = cuda_root(i);
	return library_open(library, names, known, roots, CUDA_ROOTS);
}

static bool driver_find(struct driver *driver) {
	static const char *const names[] = {"libcuda.so.1", NULL};
	*driver = (struct driver){.api = &driver_cuda};
	return cuda_open(&driver->library, names, "cuInit");
}

int driver_major(void) {
	struct driver driver;
	if (!driver_find(&driver))
		return 0;
	library_symbols(&driver, &driver.library, driver_cuda.symbols);
	if (driver.get_version)
		driver.get_version(&driver.version);
	driver_close(&driver);
	return driver.version / 1000;
}

/* cuInit is done */
static bool driver_open(struct driver *driver, struct library_why *why) {
	if (!driver_find(driver))
		return library_because(why, "install NVIDIA's driver; a container needs --gpus",
		                       "the NVIDIA driver (libcuda.so.1) was not found");
	char words[LIBRARY_WHY - 32];
	if (driver_start(driver, &driver_cuda, words, sizeof words))
		return true;
	return library_because(why, init_fix(driver->failed), "the driver does not start: %s", words);
}

bool driver_start(struct driver *driver, const struct driver_api *api, char *words, size_t size) {
	library_symbols(driver, &driver->library, api->symbols);
	driver->failed = driver->init(0);
	if (driver->failed == DRIVER_SUCCESS && driver->get_version)
		driver->get_version(&driver->version);
	if (driver->failed == DRIVER_SUCCESS)
		return true;
	driver_words(driver, api->symbols->name, driver->failed, words, size);
	driver_close(driver);
	return false;
}

bool nvrtc_start(struct nvrtc *nvrtc, const struct library_symbol *symbols, const char *fix, struct library_why *why) {
	library_symbols(nvrtc, &nvrtc->library, symbols);
	bool whole = nvrtc->create && nvrtc->compile && nvrtc->destroy && nvrtc->log_size && nvrtc->log &&
	             nvrtc->cubin_size && nvrtc->cubin;
	if (whole && nvrtc->get_version(&nvrtc->major, &nvrtc->minor) == NVRTC_FINE)
		return true;
	library_because(why, fix, "%s is too old", nvrtc->library.path);
	nvrtc_close(nvrtc);
	return false;
}

bool nvrtc_open(struct nvrtc *nvrtc, int driver_major, struct library_why *why) {
	static const char *const newer[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
	static const char *const older[] = {"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so", NULL};
	static const char fix[] = "install CUDA's NVRTC (package cuda-nvrtc), or name the toolkit's folder in CUDA_HOME";
	*nvrtc = (struct nvrtc){.major = 0};
	if (!cuda_open(&nvrtc->library, driver_major == 12 ? older : newer, "nvrtcVersion"))
		return library_because(why, fix, "NVRTC (libnvrtc.so.13 or .12), which compiles the kernels, was not found");
	return nvrtc_start(nvrtc, nvrtc_symbols, fix, why);
}

/* nvmlInit is done */
static bool nvml_open(struct nvml *nvml, struct library_why *why) {
	static const char *const names[] = {"libnvidia-ml.so.1", NULL};
	static const char fix[] = "it comes with NVIDIA's driver (libnvidia-ml.so.1)";
	*nvml = (struct nvml){.library = {NULL, ""}};
	if (!cuda_open(&nvml->library, names, "nvmlInit_v2"))
		return library_because(why, fix, "NVML was not found, so clocks, power and other users are not known");
	library_symbols(nvml, &nvml->library, nvml_symbols);
	nvml_result result = nvml->init();
	if (result == NVML_FINE)
		return true;
	library_close(&nvml->library);
	return library_because(why, fix, "NVML does not start (nvmlInit_v2: %d)", result);
}

bool cupti_open(struct library *library) {
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};
	return cuda_open(library, names, "cuptiGetVersion");
}

void driver_close(struct driver *driver) {
	library_close(&driver->library);
}

void nvrtc_close(struct nvrtc *nvrtc) {
	library_close(&nvrtc->library);
}

void nvml_close(struct nvml *nvml) {
	if (nvml->library.handle && nvml->shutdown)
		nvml->shutdown();
	library_close(&nvml->library);
}

static int as_it_is(int which) {
	return which;
}

const struct driver_api driver_cuda = {.kind = GPU_CUDA,
                                       .device = "cuda",
                                       .list = "nvidia-smi",
                                       .open = driver_open,
                                       .compiler_open = nvrtc_open,
                                       .attribute = as_it_is,
                                       .symbols = driver_symbols};

/* Finds the parts of CUDA on this machine. */

static void driver_part(struct gpu_part *part, struct library_why *why) {
	struct driver driver;
	part->usable = driver_open(&driver, why);
	if (!part->usable)
		return;
	snprintf(part->path, sizeof part->path, "%s", driver.library.path);
	snprintf(part->version, sizeof part->version, "%d.%d", driver.version / 1000, driver.version % 1000 / 10);
	driver_close(&driver);
}

static void nvrtc_part(struct gpu_part *part, struct library_why *why) {
	struct nvrtc nvrtc;
	part->usable = nvrtc_open(&nvrtc, 0, why);
	if (!part->usable)
		return;
	snprintf(part->path, sizeof part->path, "%s", nvrtc.library.path);
	snprintf(part->version, sizeof part->version, "%d.%d", nvrtc.major, nvrtc.minor);
	nvrtc_close(&nvrtc);
}

/* 130001 is CUDA 13.0, update 1. */
static void cupti_part(struct gpu_part *part, struct library_why *why) {
	struct library library;
	int (*get)(uint32_t *) = NULL;
	uint32_t version = 0;
	part->usable = cupti_open(&library);
	if (!part->usable) {
		library_because(why, "install CUPTI (package cuda-cupti), or name the toolkit's folder in CUDA_HOME",
		                "CUPTI was not found, so the GPU's counters are not available");
		return;
	}
	*(void **)&get = dlsym(library.handle, "cuptiGetVersion");
	get(&version);
	snprintf(part->path, sizeof part->path, "%s", library.path);
	if (version >= 100000)
		snprintf(part->version, sizeof part->version, "%u.%u", version / 10000, version / 100 % 100);
	else
		snprintf(part->version, sizeof part->version, "%u", version);
}

static void nvml_part(struct gpu_part *part, struct library_why *why) {
	struct nvml nvml;
	part->usable = nvml_open(&nvml, why);
	if (!part->usable)
		return;
	snprintf(part->path, sizeof part->path, "%s", nvml.library.path);
	if (!nvml.version || nvml.version(part->version, sizeof part->version) != NVML_FINE)
		snprintf(part->version, sizeof part->version, "?");
	nvml_close(&nvml);
}

void gpu_part(int which, struct gpu_part *part) {
	static const struct {
		const char *name;
		void (*look)(struct gpu_part *part, struct library_why *why);
	} all[GPU_PARTS] = {{"driver", driver_part}, {"NVRTC", nvrtc_part}, {"CUPTI", cupti_part}, {"NVML", nvml_part}};
	struct library_why why = {"", ""};
	*part = (struct gpu_part){.name = all[which].name};
	all[which].look(part, &why);
	memcpy(part->reason, why.reason, sizeof why.reason);
	memcpy(part->fix, why.fix, sizeof why.fix);
}

/* Finds variables and mangled functions in a user's module. */

gpu_ptr gpu_module_symbol(struct gpu *gpu, const struct gpu_module *module, const char *name, size_t *size) {
	driver_ptr at = 0;
	*size = 0;
	if (!module || gpu->backend || !gpu_enter(gpu))
		return 0;
	if (!gpu->driver.module_global) {
		gpu_lacks(gpu, "module_global");
		return 0;
	}
	driver_result result = gpu->driver.module_global(&at, size, module->handle, name);
	return result == DRIVER_NOT_FOUND || !gpu_succeeded(gpu, "module_global", result) ? 0 : at;
}

/* _Z, the length of the name, the name, its parameters: what C++ calls a function outside of namespaces and templates
 * (Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)"). */
const char *gpu_module_entry(const struct gpu_module *module, const char *name) {
	char mangled[COMPILED_NAME];
	int length = snprintf(mangled, sizeof mangled, "_Z%zu%s", strlen(name), name);
	for (size_t i = 0; module && length < (int)sizeof mangled && i < module->compiled_count; i++)
		if (strncmp(module->compiled[i].name, mangled, (size_t)length) == 0)
			return module->compiled[i].name;
	return name;
}

int gpu_function_parameters(struct gpu *gpu, const struct gpu_function *function, size_t *sizes, int most) {
	size_t offset;
	int count = 0;
	if (gpu->backend && function) {
		for (; count < function->parameters && count < most; count++)
			sizes[count] = 0;
		return function->parameters < 0 ? -1 : count;
	}
	if (!gpu->driver.function_parameter || !function || !gpu_enter(gpu))
		return -1;
	while (count < most &&
	       gpu->driver.function_parameter(function->handle, (size_t)count, &offset, &sizes[count]) == DRIVER_SUCCESS)
		count++;
	return count;
}

/* Reads clocks, power, temperature, and other users of the device. */
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
