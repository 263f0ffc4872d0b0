/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker whose kernels misbehave, for tests of the worker and of its clients. `faulty` does what its parameter
 * says, `calls` checks the order of the calls it gets and counts them, `big` needs as much memory as it is told. */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/registry.h"
#include "worker/worker_impl.h"

enum fault { NONE, CRASH, ABORT, HANG, WRONG, REFUSE, FAIL, PRINT, GREEDY, NOISY, EXIT, SLOW, CHILD, GARBAGE };
#define FAULTS "none,crash,abort,hang,wrong,refuse,fail,print,greedy,noisy,exit,slow,child,garbage"

struct block {
	struct block *next;
};

struct faulty {
	struct block *blocks;
	int runs;
	double steps[3];
};

static void sleep_ms(long ms) {
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static enum ss_status say(const struct ss_call *call, enum ss_status status, const char *text) {
	snprintf(call->message, call->message_size, "%s", text);
	return status;
}

static enum ss_status faulty_open(void *input, const struct ss_call *call) {
	(void)input;
	if (strcmp(call->problem[2].w, "nothing.txt") == 0)
		return say(call, SS_INVALID, "nothing.txt line 1: there is nothing");
	return call->problem[1].i ? say(call, SS_FAILED, "no such input") : SS_OK;
}

static enum ss_status faulty_setup(void *state, void *input, const struct ss_call *call) {
	(void)state, (void)input;
	return call->config[0].i == REFUSE ? say(call, SS_INVALID, "refused by its setup") : SS_OK;
}

static enum ss_status greedy_run(struct faulty *f, const struct ss_call *call) {
	enum { SIZE = 4 << 20 };
	for (struct block *block; (block = malloc(SIZE));) {
		memset(block, 1, SIZE);
		block->next = f->blocks;
		f->blocks = block;
	}
	return say(call, SS_NOMEM, "ate all there was");
}

static void first_print(bool first) {
	if (first) {
		printf("{\"status\":\"printed\"}\n");
		fflush(stdout);
	}
}

/* Holds the worker's pipes open until its group is killed. */
static void child_start(bool first) {
	if (first && fork() == 0) {
		sleep(60);
		_exit(0);
	}
}

static void noisy_run(void) {
	char line[4096];
	memset(line, 'x', sizeof line);
	line[sizeof line - 1] = '\n';
	while (write(STDERR_FILENO, line, sizeof line) > 0)
		;
}

static enum ss_status faulty_run(void *state, const struct ss_call *call) {
	struct faulty *f = state;
	bool first = f->runs++ == 0;
	switch ((enum fault)call->config[0].i) {
	case CRASH:
		raise(SIGSEGV);
		break;
	case ABORT:
		abort();
	case HANG:
		for (;;)
			pause();
	case FAIL:
		return say(call, SS_FAILED, "failed\non purpose");
	case PRINT:
		first_print(first);
		break;
	case GREEDY:
		return greedy_run(f, call);
	case NOISY:
		noisy_run();
		break;
	case EXIT:
		exit(0);
	case SLOW:
		sleep_ms((long)call->problem[0].i);
		break;
	case CHILD:
		child_start(first);
		break;
	case GARBAGE:
		memset(call->message, 0xff, call->message_size);
		return SS_FAILED;
	default:
		break;
	}
	return SS_OK;
}

static enum ss_status faulty_verify(void *state, const struct ss_call *call) {
	(void)state;
	return call->config[0].i == WRONG ? say(call, SS_INCORRECT, "2 and 2 are 5") : SS_OK;
}

static size_t faulty_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                             size_t most) {
	const struct faulty *f = state;
	out[0] = (struct ss_figure){"runs", f->runs, ""};
	out[1] = (struct ss_figure){"name", (double)strlen(call->problem[2].w), "letters"};
	out[2] = (struct ss_figure){"sane", seconds > 0 && most == SS_FIGURES_MAX, ""};
	out[3] = (struct ss_figure){"\xff\xfe", 0.0 / 0.0, NULL};
	return call->config[0].i == GARBAGE ? 1000000 : 4;
}

static size_t faulty_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct faulty *f = state;
	(void)call, (void)most;
	out[0] = (struct ss_series){"steps", f->steps, 3};
	return 1;
}

static void faulty_teardown(void *state) {
	struct faulty *f = state;
	while (f->blocks) {
		struct block *next = f->blocks->next;
		free(f->blocks);
		f->blocks = next;
	}
}

/* The calls that `calls` has seen in the whole life of the process. */
static atomic_int setups, teardowns;

struct calls {
	bool reset, ran, verified;
	int *input;
};

static enum ss_status calls_open(void *input, const struct ss_call *call) {
	int *opened = input;
	return (*opened)++ == 0 ? SS_OK : say(call, SS_FAILED, "opened again");
}

static enum ss_status calls_setup(void *state, void *input, const struct ss_call *call) {
	struct calls *c = state;
	setups++;
	c->input = input;
	if ((uintptr_t)state % 64 != 0 || (uintptr_t)input % 64 != 0)
		return say(call, SS_FAILED, "memory is not aligned");
	return *c->input == 1 && !c->reset && !c->ran ? SS_OK : say(call, SS_FAILED, "set up before open, or not zeroed");
}

static void calls_reset(void *state, const struct ss_call *call) {
	(void)call;
	((struct calls *)state)->reset = true;
}

static enum ss_status calls_run(void *state, const struct ss_call *call) {
	struct calls *c = state;
	if (!c->reset || *c->input != 1)
		return say(call, SS_FAILED, "run without reset");
	if (c->ran && !c->verified)
		return say(call, SS_FAILED, "timed before it was verified");
	c->reset = false;
	c->ran = true;
	return SS_OK;
}

static enum ss_status calls_verify(void *state, const struct ss_call *call) {
	struct calls *c = state;
	if (!c->ran || c->reset)
		return say(call, SS_FAILED, "verified without a run");
	c->verified = true;
	return SS_OK;
}

static struct ss_work calls_work(const struct ss_call *call) {
	(void)call;
	return (struct ss_work){.ops = setups, .bytes = teardowns, .op = "setup"};
}

static void calls_teardown(void *state) {
	struct calls *c = state;
	teardowns++;
	if (c->input && *c->input != 1)
		abort(); /* its input was closed first */
}

static void calls_close(void *input) {
	*(int *)input = -1;
}

struct big {
	size_t size;
	char *data;
};

static enum ss_status big_setup(void *state, void *input, const struct ss_call *call) {
	struct big *b = state;
	(void)input;
	b->size = (size_t)call->config[0].i << 20;
	b->data = malloc(b->size);
	if (!b->data)
		return say(call, SS_NOMEM, "too big");
	memset(b->data, 1, b->size);
	return SS_OK;
}

static enum ss_status big_run(void *state, const struct ss_call *call) {
	struct big *b = state;
	(void)call;
	b->data[b->size - 1]++;
	return SS_OK;
}

static void big_teardown(void *state) {
	free(((struct big *)state)->data);
}

static const struct ss_param faulty_problem[] = {
	{"ms", "how long slow takes, in milliseconds", SS_INT, NULL, "1", NULL, 0, 1e6},
	{"open", "1: its input can't be opened", SS_INT, NULL, "0", NULL, 0, 1},
	{"name", "nothing.txt is refused", SS_TEXT, "built in", "built in", NULL, 0, 0},
	{.name = NULL}};
static const struct ss_param faulty_params[] = {{"fault", "what goes wrong", SS_WORD, FAULTS, "none", NULL, 0, 0},
                                                {"x", "tells configurations apart", SS_INT, "0..7", "0", NULL, 0, 1000},
                                                {"ratio", "a real number", SS_REAL, "0.5,1", "0.5", NULL, 0, 1},
                                                {.name = NULL}};
static const struct ss_param calls_params[] = {{"x", "tells configurations apart", SS_INT, "0..7", "0", NULL, 0, 1000},
                                               {.name = NULL}};
static const struct ss_param big_params[] = {{"mb", "MiB to allocate", SS_INT, "1..64*2", "1", NULL, 1, 1 << 20},
                                             {"x", "tells configurations apart", SS_INT, "0..7", "0", NULL, 0, 1000},
                                             {.name = NULL}};
static const struct ss_param no_problem[] = {{.name = NULL}};

static const struct ss_kernel faulty_kernel = {.abi = SS_KERNEL_ABI,
                                               .name = "faulty",
                                               .summary = "does what its parameter says",
                                               .flags = SS_OPENMP | SS_SCHEDULE,
                                               .problem = faulty_problem,
                                               .params = faulty_params,
                                               .state_size = sizeof(struct faulty),
                                               .open = faulty_open,
                                               .setup = faulty_setup,
                                               .run = faulty_run,
                                               .verify = faulty_verify,
                                               .teardown = faulty_teardown,
                                               .figures = faulty_figures,
                                               .series = faulty_series,
                                               .serial = "fault=none"};
static const struct ss_kernel calls_kernel = {.abi = SS_KERNEL_ABI,
                                              .name = "calls",
                                              .summary = "checks the order of its calls",
                                              .flags = SS_OPENMP,
                                              .problem = no_problem,
                                              .params = calls_params,
                                              .input_size = sizeof(int),
                                              .state_size = sizeof(struct calls),
                                              .open = calls_open,
                                              .setup = calls_setup,
                                              .reset = calls_reset,
                                              .run = calls_run,
                                              .verify = calls_verify,
                                              .work = calls_work,
                                              .teardown = calls_teardown,
                                              .close = calls_close};
static const struct ss_kernel big_kernel = {.abi = SS_KERNEL_ABI,
                                            .name = "big",
                                            .summary = "needs memory",
                                            .problem = no_problem,
                                            .params = big_params,
                                            .state_size = sizeof(struct big),
                                            .setup = big_setup,
                                            .run = big_run,
                                            .teardown = big_teardown};

const struct kernel_entry kernel_registry[] = {
	{&faulty_kernel, "sha256:faulty"}, {&calls_kernel, "sha256:calls"}, {&big_kernel, "sha256:big"}, {NULL, NULL}};

const struct kernel_entry *kernel_find(const char *name) {
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++)
		if (strcmp(entry->kernel->name, name) == 0)
			return entry;
	return NULL;
}

int main(int argc, char **argv) {
	return cli_main(argc, argv);
}
