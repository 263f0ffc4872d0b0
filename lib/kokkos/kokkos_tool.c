/* SPDX-License-Identifier: BSD-3-Clause */
/* The contexts of a thread. Their numbers are depths: they come back in each call, and a kernel that was asked about
 * ends the inner number twice and its own never. So the contexts are a stack, and an end takes one off.
 *
 * As soon as kokkosp_request_values is there Kokkos' own heuristics are gone for every kernel, for they are none of the
 * values. Where the program exports the function that sets the callback, it is taken away for single kernels; elsewhere
 * a process asks or does not (process.asks), and one that does not observes what the heuristics cost. */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/inside/format.h"
#include "lib/kokkos/record/kokkos_record.h"
#include "lib/kokkos/space/kokkos_space.h"

enum { FRAMES = 32, KERNELS = 16, CACHE = 256, DEVICE_SHIFT = 24 };
struct frame {
	size_t number;
	struct kokkos_question *question; /* NULL: nothing was chosen */
	struct sweetspot_choice choice;
	uint64_t begun;
	bool joined;    /* a second choice in the context of the frame before it */
	bool withdrawn; /* the callback comes back when this ends */
	bool offered;   /* chosen before it was asked for: the request inside takes it over */
	struct kokkos_goal goal;
	bool has_goal;
};

struct kernel {
	struct kokkos_question *question; /* Kokkos' own; NULL: none was declared */
	struct sweetspot_choice choice;
	bool observed, host, has_context;
};

static __thread struct thread {
	struct frame frames[FRAMES];
	size_t depth; /* may exceed FRAMES */
	struct kernel kernels[KERNELS];
	size_t kernel_depth;
	struct cached {
		uint64_t hash;
		size_t fractions;
		struct kokkos_question *question;
	} cache[CACHE];
} here;

typedef void set_fn(void (*callback)(size_t, size_t, const struct kokkos_variable_value *, size_t,
                                     struct kokkos_variable_value *));

static struct {
	bool asks, learns, said;
	set_fn *set; /* NULL: the program does not export it */
	_Atomic(pthread_t) thread;
	_Atomic bool many; /* threads launch kernels */
} process;

static uint64_t now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Kokkos::Tools::Experimental::set_request_output_values_callback */
static set_fn *setter_find(void) {
	static const char name[] = "_ZN6Kokkos5Tools12Experimental34set_request_output_values_callbackEPFvmmPK26Kokkos_"
							   "Tools_VariableValuemPS2_E";
	void *found = dlsym(RTLD_DEFAULT, name);
	set_fn *set;
	memcpy(&set, &found, sizeof set);
	return set;
}

/* A line of the table begins with PROGRAM%3ALABEL. */
static bool table_knows(const char *table) {
	char *name = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&name, &size);
	bool found = false;
	if (!out)
		return false;
	ssi_text_write(out, program_invocation_short_name);
	ssi_text_write(out, ":");
	fclose(out);
	for (const char *line = strchr(table, '\n'); line && name && !found; line = strchr(line + 1, '\n'))
		found = strncmp(line + 1, name, size) == 0;
	free(name);
	return found;
}

static void choice_start(void) {
	const char *word = getenv("SWEETSPOT_KOKKOS"), *table = getenv(INSIDE_TABLE), *ring = getenv(INSIDE_RING);
	process.set = setter_find();
	if (word)
		process.asks = strcmp(word, "ask") == 0 && kokkos_facts_allow(process.set != NULL);
	else
		process.asks = table ? table_knows(table) : kokkos_profile_knows();
	process.learns = ring && *ring;
}

/* ---- taking the callback away ---- */
/* It is one for the whole process. */
static bool can_withdraw(void) {
	return process.set && !process.many;
}

static void withdraw(struct frame *frame) {
	if (frame->withdrawn || !can_withdraw())
		return;
	frame->withdrawn = true;
	process.set(NULL);
}

static void thread_look(void) {
	pthread_t none = 0, self = pthread_self();
	if (!atomic_compare_exchange_strong(&process.thread, &none, self) && !pthread_equal(none, self) && !process.many) {
		process.many = true;
		kokkos_record_fact("threads", "many");
	}
}

/* ---- kernels ---- */
static struct kokkos_question *question_cached(const char *name, bool host) {
	uint64_t hash = 14695981039346656037u;
	size_t fractions = kokkos_fraction_count();
	if (!fractions)
		return NULL;
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211u;
	struct cached *cached = &here.cache[(hash ^ hash >> 32) % CACHE];
	if (cached->hash != hash || cached->fractions != fractions)
		*cached = (struct cached){hash, fractions, kokkos_question_of_label(name, host, process.set != NULL)};
	return cached->question;
}

/* Kokkos numbers its devices; these are processors: serial, OpenMP, HPX, threads. */
static bool is_host(uint32_t device) {
	uint32_t type = device >> DEVICE_SHIFT;
	return type == 0 || type == 1 || type == 5 || type == 6;
}

static void choice_kernel_begin(const char *name, uint32_t device) {
	thread_look();
	if (here.kernel_depth++ >= KERNELS || !(process.asks || process.learns))
		return;
	struct kernel *kernel = &here.kernels[here.kernel_depth - 1];
	*kernel = (struct kernel){.host = is_host(device)};
	kernel->question = name ? question_cached(name, kernel->host) : NULL;
	kernel->observed = kernel->question && kernel->question->context && process.learns && !process.asks;
	if (kernel->observed)
		ssi_observe(kernel->question->context, NULL, 0, &kernel->choice);
}

static void choice_kernel_end(void) {
	if (!here.kernel_depth || --here.kernel_depth >= KERNELS)
		return;
	struct kernel *kernel = &here.kernels[here.kernel_depth];
	if (kernel->observed)
		sweetspot_report(&kernel->choice, NAN);
	kernel->observed = false;
}

static struct kernel *kernel_now(void) {
	return here.kernel_depth && here.kernel_depth <= KERNELS ? &here.kernels[here.kernel_depth - 1] : NULL;
}

/* ---- contexts ---- */
static bool tiles_break(const struct kokkos_question *question) {
	return question->has_tiles && kokkos_facts_broken();
}

/* Whether a kernel keeps the heuristic has to be decided before Kokkos asks. */
static void kernel_choose(struct frame *frame, const struct kernel *kernel) {
	struct kokkos_question *question = kernel->question;
	if (!process.asks || !question || !question->context || !can_withdraw())
		return;
	if (tiles_break(question)) {
		withdraw(frame);
		return;
	}
	frame->question = question;
	sweetspot_choose(question->context, NULL, 0, &frame->choice);
	frame->offered = ssi_chosen_level(&frame->choice, question->params[0]) >= 0;
	if (!frame->offered)
		withdraw(frame);
}

static void choice_begin(size_t number) {
	struct kernel *kernel = kernel_now();
	if (here.depth++ >= FRAMES)
		return;
	struct frame *frame = &here.frames[here.depth - 1];
	*frame = (struct frame){.number = number};
	if (!kernel || kernel->has_context)
		return;
	kernel->has_context = true;
	kernel_choose(frame, kernel);
}

/* Kokkos declares what it can choose of a kernel in the first call, after the kernel's context began and before it
 * asks. */
static void choice_declared(const struct kokkos_variable *variable) {
	struct kernel *kernel = kernel_now();
	if (variable->role == KOKKOS_TILE)
		kokkos_facts_tile();
	if (variable->role == KOKKOS_OWN || !process.asks || !kernel || !here.depth || here.depth > FRAMES)
		return;
	withdraw(&here.frames[here.depth - 1]);
	if (variable->role == KOKKOS_TILE && kokkos_facts_broken() && !can_withdraw() && !process.said) {
		process.said = true;
		fputs("sweetspot: warning: this Kokkos computes wrong results with the tiles that it asks a tool for\n",
		      stderr);
		fputs("  hint: run it without KOKKOS_TUNE_INTERNALS, or update Kokkos to 4.7\n", stderr);
	}
}

static void choice_goal(size_t number, struct kokkos_goal goal) {
	for (size_t i = here.depth < FRAMES ? here.depth : FRAMES; i-- > 0;)
		if (here.frames[i].number == number || i == 0) {
			here.frames[i].goal = goal;
			here.frames[i].has_goal = true;
			return;
		}
}

static struct frame *frame_of(size_t number) {
	for (size_t i = here.depth; i-- > 0;)
		if (here.frames[i].number == number)
			return &here.frames[i];
	return here.depth ? &here.frames[here.depth - 1] : NULL;
}

/* A context may ask more than once, and one that was never begun may ask. */
static struct frame *frame_to_fill(size_t number) {
	if (here.depth > FRAMES)
		return NULL;
	struct frame *frame = frame_of(number);
	if (frame && !frame->question)
		return frame;
	if (here.depth == FRAMES)
		return NULL;
	struct frame *more = &here.frames[here.depth++];
	*more = (struct frame){.number = number, .joined = frame != NULL};
	return more;
}

/* The choice that was made when the kernel began. */
static struct frame *offer_of(const struct kokkos_question *question) {
	for (size_t i = here.depth < FRAMES ? here.depth : FRAMES; i-- > 0;)
		if (here.frames[i].offered && here.frames[i].question == question)
			return &here.frames[i];
	return NULL;
}

static void choose(struct frame *frame, struct kokkos_question *question, const struct kokkos_variable_value *inputs,
                   size_t input_count) {
	struct sweetspot_value problem[KOKKOS_FEATURES];
	char text[KOKKOS_FEATURES][KOKKOS_STRING + 1];
	struct frame *offer = offer_of(question);
	frame->question = question;
	if (offer) {
		frame->choice = offer->choice;
		offer->question = NULL;
		offer->offered = false;
		return;
	}
	size_t members = kokkos_problem_read(inputs, input_count, problem, text);
	sweetspot_choose(question->context, problem, members, &frame->choice);
}

static void choice_request(size_t number, size_t input_count, const struct kokkos_variable_value *inputs,
                           size_t output_count, struct kokkos_variable_value *outputs) {
	const struct kernel *kernel = kernel_now();
	struct kokkos_question *question =
		kokkos_question_of(outputs, output_count, !kernel || kernel->host, process.set != NULL);
	if (!question)
		return;
	struct frame *frame = question->context && !tiles_break(question) ? frame_to_fill(number) : NULL;
	if (frame)
		choose(frame, question, inputs, input_count);
	kokkos_question_answer(question, frame ? &frame->choice : NULL, outputs);
	if (frame)
		frame->begun = now();
}

/* The cost of a goal in seconds, so that it can be weighed against the time that trying takes. NAN: the time itself is
 * the goal; infinite: the program did not measure it. */
static double cost_of(const struct frame *frame, const struct kokkos_variable_value *value) {
	const struct kokkos_variable *variable = frame->has_goal ? kokkos_variable_find(frame->goal.id) : NULL;
	if (!variable || variable->info.type == KOKKOS_WORD)
		return NAN;
	if (value->id != frame->goal.id)
		return INFINITY;
	double number = variable->info.type == KOKKOS_INT ? (double)value->value.integer : value->value.real;
	double cost = frame->goal.goal == KOKKOS_MAXIMIZE ? 1 / number : number;
	if (!(cost > 0) || !isfinite(cost))
		return INFINITY;
	double *scale = &frame->question->scale, known;
	__atomic_load(scale, &known, __ATOMIC_RELAXED);
	if (!(known > 0)) {
		known = fmax(1e-9 * (double)(now() - frame->begun), 1e-9) / cost;
		__atomic_store(scale, &known, __ATOMIC_RELAXED);
	}
	return cost * known;
}

static void frame_end(struct frame *frame, const struct kokkos_variable_value *value) {
	double cost = frame->question && !frame->offered ? cost_of(frame, value) : INFINITY;
	if (!isinf(cost))
		sweetspot_report(&frame->choice, cost);
	if (frame->withdrawn && process.set)
		process.set(choice_request);
}

/* Which one an end means: the last, unless that one has a choice and an earlier one of this number has one, too. */
static size_t frame_meant(size_t number) {
	size_t last = here.depth - 1;
	if (here.frames[last].number == number || !here.frames[last].question)
		return last;
	for (size_t i = last; i-- > 0;)
		if (here.frames[i].number == number && here.frames[i].question)
			return i;
	return last;
}

static void choice_end(size_t number, const struct kokkos_variable_value *value) {
	if (!here.depth)
		return;
	if (here.depth > FRAMES) {
		here.depth--;
		return;
	}
	bool joined;
	do {
		size_t at = frame_meant(number);
		struct frame frame = here.frames[at];
		memmove(here.frames + at, here.frames + at + 1, (here.depth - at - 1) * sizeof *here.frames);
		here.depth--;
		frame_end(&frame, value);
		joined = frame.joined;
	} while (joined && here.depth);
}

/* ---- what Kokkos calls: it finds all by dlsym before it calls any ---- */
__attribute__((constructor)) static void start(void) {
	kokkos_record_start();
	choice_start();
}

__attribute__((destructor)) static void end(void) {
	kokkos_record_write();
	if (!process.asks)
		kokkos_facts_write();
}

KOKKOS_TOOL(finalize_library, void) {
	end();
}

KOKKOS_TOOL(init_library, int sequence, uint64_t version, uint32_t devices, void *device) {
	(void)sequence;
	(void)version;
	(void)devices;
	(void)device;
}

/* Fences serialise a program, so they are for measuring. */
KOKKOS_TOOL(request_tool_settings, uint32_t count, struct kokkos_settings *settings) {
	if (count && settings)
		settings->global_fencing = kokkos_record_wanted() || process.learns;
}

KOKKOS_TOOL(provide_tool_programming_interface, uint32_t count, struct kokkos_actions actions) {
	(void)count;
	(void)actions;
}

static void args_print(FILE *file) {
	fputs("libsweetspot-kokkos: KOKKOS_TOOLS_ARGS may be `report`: the time of each kernel and region, at the end\n",
	      file);
}

/* Called twice. */
KOKKOS_TOOL(parse_args, int count, char **words) {
	static bool said;
	for (int i = 1; words && i < count && words[i]; i++)
		if (strcmp(words[i], "report") == 0 || strcmp(words[i], "--report") == 0) {
			kokkos_record_report();
		} else if (*words[i] && !said) {
			said = true;
			fprintf(stderr, "sweetspot: warning: libsweetspot-kokkos does not know the argument %.64s\n", words[i]);
			args_print(stderr);
		}
}

KOKKOS_TOOL(print_help, char *program) {
	(void)program;
	args_print(stdout);
}

KOKKOS_TOOL(declare_metadata, const char *key, const char *value) {
	if (!key || !value)
		return;
	if (strcmp(key, "Kokkos Version") == 0) {
		kokkos_facts_version(value);
		kokkos_record_fact("version", value);
	} else if (strcmp(key, "Default Device") == 0) {
		kokkos_record_fact("device", value);
	}
}

/* ---- kernels, copies, regions ---- */
static void kernel_begin(const char *name, uint32_t device, uint64_t *id) {
	if (id)
		*id = 0;
	if (kokkos_record_wanted())
		kokkos_record_begin(KOKKOS_KERNEL, name);
	choice_kernel_begin(name, device);
}

static void kernel_end(void) {
	choice_kernel_end();
	if (kokkos_record_wanted())
		kokkos_record_end(KOKKOS_KERNEL);
}

#define KERNEL(KIND)                                                                                                   \
	KOKKOS_TOOL(begin_parallel_##KIND, const char *name, uint32_t device, uint64_t *id) {                              \
		kernel_begin(name, device, id);                                                                                \
	}                                                                                                                  \
	KOKKOS_TOOL(end_parallel_##KIND, uint64_t id) {                                                                    \
		(void)id;                                                                                                      \
		kernel_end();                                                                                                  \
	}
KERNEL(for)
KERNEL(reduce)
KERNEL(scan)

/* ---- choices ---- */
KOKKOS_TOOL(declare_output_type, const char *name, size_t id, struct kokkos_info *info) {
	const struct kokkos_variable *variable = kokkos_variable_declare(true, name, id, info);
	if (variable)
		choice_declared(variable);
}

KOKKOS_TOOL(declare_input_type, const char *name, size_t id, struct kokkos_info *info) {
	kokkos_variable_declare(false, name, id, info);
}

KOKKOS_TOOL(begin_context, size_t context) {
	choice_begin(context);
}

KOKKOS_TOOL(end_context, size_t context, struct kokkos_variable_value value) {
	choice_end(context, &value);
}

KOKKOS_TOOL(declare_optimization_goal, size_t context, struct kokkos_goal goal) {
	choice_goal(context, goal);
}

/* With this function Kokkos forgets its own heuristics, so dlsym finds it only where there is something to choose. */
typedef void request_fn(size_t, size_t, const struct kokkos_variable_value *, size_t, struct kokkos_variable_value *);
static request_fn *request_find(void) __attribute__((used));
static request_fn *request_find(void) {
	return process.asks ? choice_request : NULL;
}
KOKKOS_EXPORT request_fn kokkosp_request_values __attribute__((ifunc("request_find")));
