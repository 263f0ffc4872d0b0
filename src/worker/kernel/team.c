/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/team.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gpu/hip/open.h"
#include "gpu/opencl/open.h"
#include "src/base/mem.h"
#include "src/topo/topo.h"
#include "src/worker/kernel/crash.h"
#include "src/worker/kernel/device.h"

/* One for each thread, a cache line each. */
struct slot {
	_Alignas(64) bool ok;
	int team_size, cpu;
	struct err err;
};

struct team {
	struct topo *topo; /* NULL until the first trial */
	struct topo_binding *binding;
	int threads; /* the current size; 0: none yet */
	bool is_virtual;
	bool in_force; /* the team's threads are bound according to `binding` */
	struct slot *slots;
};

struct team *team_new(void) {
	return mem_alloc(1, sizeof(struct team));
}

void team_free(struct team *team) {
	if (!team) {
		return;
	}
	topo_binding_free(team->binding);
	topo_close(team->topo);
	free(team->slots);
	free(team);
}

int team_threads(const struct team *team) {
	return team->threads;
}

bool team_is_virtual(const struct team *team) {
	return team->is_virtual;
}

const char *team_binding(const struct team *team) {
	return topo_binding_key(team->binding);
}

void team_each(const struct team *team, void (*work)(void *ctx, int thread), void *ctx) {
	if (team->threads == 1) {
		work(ctx, 0);
		return;
	}
#pragma omp parallel num_threads(team->threads)
	work(ctx, omp_get_thread_num());
}

static void slot_bind(void *ctx, int thread) {
	struct team *team = ctx;
	struct slot *slot = &team->slots[thread];
	slot->team_size = omp_get_num_threads();
	slot->ok = topo_binding_apply(team->topo, team->binding, thread, &slot->err) == 0;
}

static int topology_load(struct team *team, struct err *err) {
	json_t *machine;
	team->topo = topo_open(NULL, err);
	if (!team->topo) {
		return -1;
	}
	machine = topo_json(team->topo);
	team->is_virtual = json_is_string(json_object_get(machine, "hypervisor"));
	json_decref(machine);
	return 0;
}

static int threads_check(struct team *team, struct call *call, struct err *err) {
	int cpus;
	if (!team->topo && topology_load(team, err) != 0) {
		return -1;
	}
	cpus = topo_count(team->topo, TOPO_PU);
	if (call->threads == 0) {
		call->threads = cpus;
	}
	if (call->threads > TEAM_OVERSUBSCRIPTION * cpus && call->threads > TEAM_ALWAYS) {
		return err_set(err, ERR_USAGE, NULL, "%d threads exceed %d on each of %d CPUs", call->threads,
		               TEAM_OVERSUBSCRIPTION, cpus);
	}
	return 0;
}

/* A new team's threads inherit the binding of the thread that starts them, so each is bound again. */
static int team_bind(struct team *team, struct err *err) {
	free(team->slots);
	team->slots = aligned_alloc(_Alignof(struct slot), (size_t)team->threads * sizeof *team->slots);
	if (!team->slots) {
		return err_set(err, ERR_FAILED, NULL, "out of memory for a team of %d", team->threads);
	}
	memset(team->slots, 0, (size_t)team->threads * sizeof *team->slots);
	team_each(team, slot_bind, team);
	if (team->threads > 1 && team->slots[0].team_size != team->threads) {
		return err_set(err, ERR_FAILED, "unset OMP_THREAD_LIMIT", "the OpenMP runtime gave %d threads instead of %d",
		               team->slots[0].team_size, team->threads);
	}
	for (int i = 0; i < team->threads; i++) {
		if (!team->slots[i].ok) {
			return err_set(err, ERR_FAILED, team->slots[i].err.hint, "thread %d: %s", i, team->slots[i].err.what);
		}
	}
	team->in_force = true;
	return 0;
}

int team_apply(struct team *team, struct call *call, struct err *err) {
	struct topo_binding *binding;
	if (threads_check(team, call, err) != 0) {
		return -1;
	}
	binding = topo_binding_new(team->topo, call->threads, call->places, call->proc_bind, err);
	if (!binding) {
		return -1;
	}
	bool same = team->in_force && team->threads == call->threads &&
	            strcmp(topo_binding_key(binding), topo_binding_key(team->binding)) == 0;
	topo_binding_free(team->binding);
	team->binding = binding;
	omp_set_dynamic(0);
	omp_set_num_threads(call->threads);
	omp_set_schedule(call->schedule, call->chunk);
	if (same) {
		return 0;
	}
	team->in_force = false;
	team->threads = call->threads;
	return team_bind(team, err);
}

static void slot_check(void *ctx, int thread) {
	struct team *team = ctx;
	struct slot *slot = &team->slots[thread];
	slot->cpu = -1;
	slot->ok = topo_binding_holds(team->topo, team->binding, thread, &slot->cpu);
}

json_t *team_placement(struct team *team) {
	json_t *cpus = json_array();
	bool all = true;
	team_each(team, slot_check, team);
	for (int i = 0; i < team->threads; i++) {
		json_array_append_new(cpus, json_integer(team->slots[i].cpu));
		all = all && team->slots[i].ok;
	}
	team->in_force = all;
	return json_pack("{s:s, s:b, s:o}", "asked", team_binding(team), "ok", all, "cpus", cpus);
}

struct opened {
	int index;
	struct gpu *gpu;
};

struct devices {
	struct opened *items;
	size_t count;
};

/* CUDA reserves address space for the memory of the host and all devices together, and uses little of it. The
 * tuner's limit on address space, meant for kernels that eat all memory, would keep CUDA, or OpenCL's compilers, from
 * starting. */
static void address_space_open(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_AS, &limit);
	}
}

int device_read(const char *word, int *index, struct err *err) {
	*index = DEVICE_CPU;
	if (gpu_opencl_is(word)) {
		address_space_open(); /* a name is looked up in the libraries */
		int failed = gpu_opencl_index(word, index, err);
		*index += DEVICE_OPENCL;
		return failed;
	}
	if (gpu_hip_is(word)) {
		int failed = gpu_hip_index(word, index, err);
		*index += DEVICE_HIP;
		return failed;
	}
	return strcmp(word, "cpu") == 0 ? 0 : gpu_index(word, index, err);
}

const char *device_kind(int index) {
	return index == DEVICE_CPU ? "cpu" : index >= DEVICE_HIP ? "hip" : index >= DEVICE_OPENCL ? "opencl" : "cuda";
}

const char *device_kind_of(const struct gpu *gpu) {
	static const char *const words[] = {[GPU_CUDA] = "cuda", [GPU_OPENCL] = "opencl", [GPU_HIP] = "hip"};
	return gpu ? words[gpu_facts(gpu)->kind] : "cpu";
}

struct devices *devices_new(void) {
	return mem_alloc(1, sizeof(struct devices));
}

void devices_free(struct devices *devices) {
	if (devices) {
		for (size_t i = 0; i < devices->count; i++) {
			gpu_close(devices->items[i].gpu);
		}
		free(devices->items);
		free(devices);
	}
}

struct gpu *devices_get(struct devices *devices, int index, struct err *err) {
	if (index == DEVICE_CPU) {
		return NULL;
	}
	for (size_t i = 0; i < devices->count; i++) {
		if (devices->items[i].index == index) {
			return devices->items[i].gpu;
		}
	}
	address_space_open();
	struct gpu *gpu = index >= DEVICE_HIP      ? gpu_hip_open(index - DEVICE_HIP, err)
	                  : index >= DEVICE_OPENCL ? gpu_opencl_open(index - DEVICE_OPENCL, err)
	                                           : gpu_open(index, err);
	if (gpu) {
		devices->items = mem_grow(devices->items, devices->count + 1, sizeof *devices->items);
		devices->items[devices->count++] = (struct opened){index, gpu};
	}
	return gpu;
}

/* A signal handler can only reach a global. */
static const char *volatile crash_kernel;
static char crash_stack[16384];

static const struct {
	int number;
	const char *text;
} crash_signals[] = {
	{SIGSEGV, "SIGSEGV (segmentation fault)"}, {SIGBUS, "SIGBUS (bus error)"}, {SIGILL, "SIGILL (illegal instruction)"},
	{SIGFPE, "SIGFPE (arithmetic error)"},     {SIGABRT, "SIGABRT (aborted)"}, {SIGSYS, "SIGSYS (bad system call)"},
};

static void crash_write(const char *text) {
	size_t left = strlen(text);
	while (left > 0) {
		ssize_t wrote = write(STDERR_FILENO, text, left);
		if (wrote <= 0) {
			return;
		}
		text += wrote;
		left -= (size_t)wrote;
	}
}

/* Only async-signal-safe calls. The default action is back in force (SA_RESETHAND), so raise ends the process. */
static void crash_handle(int number) {
	const char *kernel = crash_kernel;
	crash_write("sweetspot-worker: ");
	for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++) {
		if (crash_signals[i].number == number) {
			crash_write(crash_signals[i].text);
		}
	}
	if (kernel) {
		crash_write(" in kernel ");
		crash_write(kernel);
	}
	crash_write("\n");
	raise(number);
}

void crash_watch(void) {
	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
	struct sigaction action = {.sa_handler = crash_handle, .sa_flags = SA_RESETHAND | SA_ONSTACK};
	sigaltstack(&stack, NULL);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++) {
		sigaction(crash_signals[i].number, &action, NULL);
	}
}

void crash_name(const char *kernel) {
	crash_kernel = kernel;
}
