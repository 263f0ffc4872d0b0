/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "base/sys.h"
#include "kernels/answer.h"
#include "worker/kernel/state.h"
#include "worker/kernel/word.h"
#include "topo/topo.h"

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
	if (!team)
		return;
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
	if (!team->topo)
		return -1;
	machine = topo_json(team->topo);
	team->is_virtual = json_is_string(json_object_get(machine, "hypervisor"));
	json_decref(machine);
	return 0;
}

static int threads_check(struct team *team, struct call *call, struct err *err) {
	int cpus;
	if (!team->topo && topology_load(team, err) != 0)
		return -1;
	cpus = topo_count(team->topo, TOPO_PU);
	if (call->threads == 0)
		call->threads = cpus;
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
	if (!team->slots)
		return err_set(err, ERR_FAILED, NULL, "out of memory for a team of %d", team->threads);
	memset(team->slots, 0, (size_t)team->threads * sizeof *team->slots);
	team_each(team, slot_bind, team);
	if (team->threads > 1 && team->slots[0].team_size != team->threads) {
		return err_set(err, ERR_FAILED, "unset OMP_THREAD_LIMIT", "the OpenMP runtime gave %d threads instead of %d",
		               team->slots[0].team_size, team->threads);
	}
	for (int i = 0; i < team->threads; i++)
		if (!team->slots[i].ok)
			return err_set(err, ERR_FAILED, team->slots[i].err.hint, "thread %d: %s", i, team->slots[i].err.what);
	team->in_force = true;
	return 0;
}

int team_apply(struct team *team, struct call *call, struct err *err) {
	struct topo_binding *binding;
	if (threads_check(team, call, err) != 0)
		return -1;
	binding = topo_binding_new(team->topo, call->threads, call->places, call->proc_bind, err);
	if (!binding)
		return -1;
	bool same = team->in_force && team->threads == call->threads &&
	            strcmp(topo_binding_key(binding), topo_binding_key(team->binding)) == 0;
	topo_binding_free(team->binding);
	team->binding = binding;
	omp_set_dynamic(0);
	omp_set_num_threads(call->threads);
	omp_set_schedule(call->schedule, call->chunk);
	if (same)
		return 0;
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

/* Single inputs and states of kernels: opened and set up, torn down and closed. state.c keeps the lists. */
struct input {
	struct input *next; /* most recently used first */
	struct arena *arena;
	const char *key;
	struct call call;
	struct ss_call given;
	struct kernel_answers answers;
	void *memory;
	char message[STATE_MESSAGE];
};

struct node {
	struct state state; /* first, so that a pointer to the node is one to the state */
	struct node *next;  /* most recently used first */
	struct arena *arena;
	const char *key;
	struct input *input;
	struct call call;
};

static char *values_key(struct arena *arena, char *key, const struct ss_param *params, const struct ss_value *values) {
	for (size_t i = 0; params && params[i].name; i++)
		if (params[i].type == SS_TEXT)
			key = arena_printf(arena, "%s %zu:%s", key, strlen(values[i].w), values[i].w);
		else if (params[i].type == SS_REAL)
			key = arena_printf(arena, "%s %.17g", key, values[i].r);
		else
			key = arena_printf(arena, "%s %lld", key, (long long)values[i].i);
	return key;
}

/* Texts that are equal for the same input: in each worker of a tuner, and in this process, where two plug-ins may have
 * a kernel of the same name. Entries live as long as the process. */
static const char *call_answer_key(struct arena *arena, const struct call *call) {
	const struct ss_kernel *kernel = call->entry->kernel;
	char *key = arena_printf(arena, "%s %s %llu", kernel->name, kernel_device(kernel), (unsigned long long)call->seed);
	return values_key(arena, key, kernel->problem, call->problem);
}

static char *call_input_key(struct arena *arena, const struct call *call) {
	return arena_printf(arena, "%p %d %s", (const void *)call->entry, call->device, call_answer_key(arena, call));
}

/* The same for a configuration of it under this binding. */
static char *call_state_key(struct arena *arena, const struct call *call, const char *binding) {
	char *key = arena_printf(arena, "%s | %d %d %d", call_input_key(arena, call), call->threads, (int)call->schedule,
	                         call->chunk);
	return arena_printf(arena, "%s | %s", values_key(arena, key, call->entry->kernel->params, call->config), binding);
}

/* Zeroed and cache-line aligned, for kernels with aligned members; NULL without memory. */
static void *memory_new(size_t size) {
	size_t whole = (size + 63) / 64 * 64 + 64;
	void *memory = whole < size ? NULL : aligned_alloc(64, whole);
	return memory ? memset(memory, 0, whole) : NULL;
}

static struct ss_call given_new(const struct call *call, char message[STATE_MESSAGE]) {
	return (struct ss_call){.problem = call->problem,
	                        .config = call->config,
	                        .threads = call->threads,
	                        .seed = call->seed,
	                        .message = message,
	                        .message_size = STATE_MESSAGE,
	                        .gpu = call->gpu};
}

static void input_free(struct input *input) {
	const struct ss_kernel *kernel = input->call.entry->kernel;
	if (input->memory && kernel->close)
		kernel->close(input->memory);
	free(input->memory);
	arena_free(input->arena);
}

static void node_free(struct node *node) {
	if (node->state.memory && node->state.kernel->teardown)
		node->state.kernel->teardown(node->state.memory);
	free(node->state.memory);
	arena_free(node->arena);
}

/* On failure *out is NULL, message gives the reason, and nothing is left behind. */
static enum ss_status input_new(const struct call *call, int answers, const char *key, struct input **out,
                                char message[STATE_MESSAGE]) {
	const struct ss_kernel *kernel = call->entry->kernel;
	struct arena *arena = arena_new();
	struct input *input = arena_alloc(arena, 1, sizeof *input);
	enum ss_status status = SS_NOMEM;
	input->arena = arena;
	input->key = arena_strdup(arena, key);
	call_copy(arena, call, &input->call);
	input->answers = (struct kernel_answers){.fd = answers, .key = call_answer_key(arena, call)};
	input->memory = memory_new(kernel->input_size);
	if (input->memory) {
		input->given = given_new(&input->call, input->message);
		status = kernel->open ? kernel->open(input->memory, &input->given) : SS_OK;
	}
	if (status != SS_OK) {
		memcpy(message, input->message, STATE_MESSAGE);
		input_free(input);
		input = NULL;
	}
	*out = input;
	return status;
}

static enum ss_status node_new(const struct call *call, const char *key, struct input *input, struct node **out,
                               char message[STATE_MESSAGE]) {
	const struct ss_kernel *kernel = call->entry->kernel;
	struct arena *arena = arena_new();
	struct node *node = arena_alloc(arena, 1, sizeof *node);
	enum ss_status status = SS_NOMEM;
	node->arena = arena;
	node->key = arena_strdup(arena, key);
	node->input = input;
	call_copy(arena, call, &node->call);
	node->state.kernel = kernel;
	node->state.call = given_new(&node->call, node->state.message);
	node->state.call.answers = &input->answers;
	node->state.memory = memory_new(kernel->state_size);
	if (node->state.memory)
		status = kernel->setup ? kernel->setup(node->state.memory, input->memory, &node->state.call) : SS_OK;
	if (status != SS_OK) {
		memcpy(message, node->state.message, STATE_MESSAGE);
		node_free(node);
		node = NULL;
	}
	*out = node;
	return status;
}

struct states {
	struct node *nodes;
	struct input *inputs;
	size_t count_max;
	uint64_t resident_max;
	int answers; /* -1: none */
};

struct states *states_new(size_t count_max, uint64_t resident_max) {
	struct states *states = mem_alloc(1, sizeof *states);
	states->count_max = count_max;
	states->resident_max = resident_max;
	states->answers = -1;
	return states;
}

/* A process that is not ours, or a file of another kind, may have got the number of one that has ended. */
void states_answers(struct states *states, const char *path) {
	char name[64] = "";
	if (states->answers >= 0)
		return;
	states->answers = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (states->answers >= 0 && readlink(path, name, sizeof name - 1) > 0 &&
	    strncmp(name, "/memfd:" SYS_ANSWERS " ", sizeof "/memfd:" SYS_ANSWERS) == 0)
		return;
	if (states->answers >= 0)
		close(states->answers);
	states->answers = -1;
}

double state_answer_take(struct state *state) {
	double seconds = state->call.answers ? state->call.answers->took_s : 0;
	if (seconds > 0)
		state->call.answers->took_s = 0;
	return seconds;
}

void states_free(struct states *states) {
	if (states) {
		states_clear(states);
		if (states->answers >= 0)
			close(states->answers);
		free(states);
	}
}

static void node_drop(struct node **link) {
	struct node *node = *link;
	*link = node->next;
	node_free(node);
}

void states_drop(struct states *states, struct state *state) {
	for (struct node **link = &states->nodes; *link; link = &(*link)->next) {
		if (&(*link)->state == state) {
			node_drop(link);
			return;
		}
	}
}

static void input_drop(struct states *states, struct input **link) {
	struct input *input = *link;
	for (struct node **node = &states->nodes; *node;)
		if ((*node)->input == input)
			node_drop(node);
		else
			node = &(*node)->next;
	*link = input->next;
	input_free(input);
}

static size_t states_count(const struct states *states) {
	size_t count = 0;
	for (const struct node *node = states->nodes; node; node = node->next)
		count++;
	return count;
}

size_t states_clear(struct states *states) {
	size_t count = states_count(states);
	while (states->inputs)
		input_drop(states, &states->inputs);
	return count;
}

static uint64_t resident_bytes(void) {
	char line[128];
	unsigned long long pages = 0;
	if (sys_read_line("/proc/self/statm", line, sizeof line))
		sscanf(line, "%*u %llu", &pages);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Drops the least recently used state, but never the newest; then inputs that no state uses, but never the newest. */
static bool oldest_drop(struct states *states) {
	struct node **node = &states->nodes;
	struct input **input = &states->inputs;
	if (*node && (*node)->next) {
		while ((*node)->next)
			node = &(*node)->next;
		node_drop(node);
		return true;
	}
	if (*input && (*input)->next) {
		while ((*input)->next)
			input = &(*input)->next;
		input_drop(states, input);
		return true;
	}
	return false;
}

#ifndef HAVE_MALLOC_TRIM /* musl returns large blocks by itself */
#define malloc_trim(pad) ((void)(pad))
#endif
/* Free memory is returned to the system, because a new state must get fresh pages for the first touch to place. */
static void states_trim(struct states *states) {
	size_t inputs = 0;
	while (states_count(states) >= states->count_max && oldest_drop(states)) {
	}
	for (struct input **link = &states->inputs; *link;)
		if (++inputs > STATE_INPUTS)
			input_drop(states, link);
		else
			link = &(*link)->next;
	malloc_trim(0);
	while (states->resident_max && resident_bytes() > states->resident_max && oldest_drop(states))
		malloc_trim(0);
}

static enum ss_status input_get(struct states *states, const struct call *call, struct input **out,
                                char message[STATE_MESSAGE]) {
	struct arena *arena = arena_new();
	const char *key = call_input_key(arena, call);
	enum ss_status status = SS_OK;
	struct input **link = &states->inputs;
	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next;
	*out = *link;
	if (*out)
		*link = (*out)->next;
	else
		status = input_new(call, states->answers, key, out, message);
	if (*out) {
		(*out)->next = states->inputs;
		states->inputs = *out;
	}
	arena_free(arena);
	return status;
}

void states_prepare(struct states *states, const struct call *call) {
	struct input *input;
	input_get(states, call, &input, (char[STATE_MESSAGE]){""});
}

static enum ss_status node_add(struct states *states, const struct call *call, const char *key, struct node **out,
                               bool *refused, char message[STATE_MESSAGE]) {
	struct input *input;
	*out = NULL;
	states_trim(states);
	enum ss_status status = input_get(states, call, &input, message);
	*refused = status == SS_INVALID;
	if (status == SS_OK)
		status = node_new(call, key, input, out, message);
	if (status == SS_OK) {
		(*out)->next = states->nodes;
		states->nodes = *out;
	}
	return status;
}

/* The state with this key, which becomes the most recently used together with its input. */
static struct node *node_find(struct states *states, const char *key) {
	struct node **link = &states->nodes;
	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next;
	struct node *node = *link;
	if (node) {
		*link = node->next;
		node->next = states->nodes;
		states->nodes = node;
		for (struct input **i = &states->inputs; *i; i = &(*i)->next) {
			if (*i == node->input) {
				*i = node->input->next;
				node->input->next = states->inputs;
				states->inputs = node->input;
				break;
			}
		}
	}
	return node;
}

enum ss_status states_get(struct states *states, const struct call *call, const char *binding, struct state **out,
                          double *setup_s, bool *refused, char message[STATE_MESSAGE]) {
	struct arena *arena = arena_new();
	const char *key = call_state_key(arena, call, binding);
	struct node *node = node_find(states, key);
	enum ss_status status = SS_OK;
	message[0] = '\0';
	*setup_s = 0;
	*refused = false;
	if (!node) {
		double start = sys_now();
		status = node_add(states, call, key, &node, refused, message);
		*setup_s = sys_now() - start;
		word_clean(message, STATE_MESSAGE);
	}
	*out = node ? &node->state : NULL;
	arena_free(arena);
	return status;
}
