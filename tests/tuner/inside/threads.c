/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads choose at once from contexts that are learned, while another one serves the ring, as a tuner does. Costs are
 * told, so that it is all about the memory that they share. SWEETSPOT_CHOICES=10000000 makes so many choices, of all
 * threads; ThreadSanitizer runs it (build-aux/ci-sanitized). */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/json/js.h"
#include "lib/sweetspot.h"
#include "tests/tap.h"
#include "tuner/inside/inside.h"

enum { THREADS = 4, CONTEXTS = 2, SIZES = 3, CHOICES = 200000 };
static const long long blocks[] = {16, 32, 64, 128};
static const char *const ways[] = {"plain", "packed"};

struct shared {
	struct inside_session *session;
	_Atomic bool ended, learned;
	long choices; /* of a thread */
};

struct worker {
	struct shared *shared;
	pthread_t thread;
	unsigned number;
	long wrong; /* values that were not declared, or that the rule forbids */
};

static bool is_allowed(const struct sweetspot_choice *choice) {
	long long block = sweetspot_chosen_int(choice, "block");
	const char *way = sweetspot_chosen_word(choice, "way");
	return (block == 16 || block == 32 || block == 64 || block == 128) &&
	       (strcmp(way, "plain") == 0 || (strcmp(way, "packed") == 0 && block >= 32));
}

/* Each thread declares, too: the same name is the same context. Some choices are never reported. */
static void *work(void *ctx) {
	struct worker *worker = ctx;
	sweetspot_context *contexts[CONTEXTS];
	for (int i = 0; i < CONTEXTS; i++) {
		contexts[i] = sweetspot_context_open(i ? "second" : "first");
		sweetspot_context_int(contexts[i], "block", blocks, 4, 32);
		sweetspot_context_word(contexts[i], "way", ways, 2, "plain");
		sweetspot_context_constraint(contexts[i], "way != 'packed' or block >= 32");
	}
	long enough = worker->shared->choices;
	for (long i = 0; i < enough || (i < 1000 * enough && !atomic_load(&worker->shared->learned)); i++) {
		struct sweetspot_value size = {"n", (double)(1000 << 3 * (i / 7 % SIZES)), NULL};
		struct sweetspot_choice choice;
		sweetspot_choose(contexts[(i + worker->number) % CONTEXTS], &size, 1, &choice);
		worker->wrong += !is_allowed(&choice);
		double cost = 1e-3 / (double)sweetspot_chosen_int(&choice, "block");
		if (i % 97)
			sweetspot_report(&choice, cost * (1 + 0.01 * (double)(i % 5)));
	}
	return NULL;
}

static void *serve(void *ctx) {
	struct shared *shared = ctx;
	const struct timespec pause = {.tv_nsec = 100000};
	while (!atomic_load(&shared->ended)) {
		if (inside_run_poll(shared->session) > 0)
			atomic_store(&shared->learned, true);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(void) {
	const char *wanted = getenv("SWEETSPOT_CHOICES");
	struct shared shared = {.session = inside_session_new(1), .choices = (wanted ? atol(wanted) : CHOICES) / THREADS};
	const struct inside_mode mode = {.learns = true, .share = 0.5};
	struct worker workers[THREADS];
	js_auto json_t *set = json_object();
	struct err err = {0};
	pthread_t server;
	long wrong = 0;
	bool begun = inside_run_begin(shared.session, &mode, set, &err) == 0;
	ok(begun, "a run begins");
	js_members (name, value, set)
		setenv(name, json_string_value(value), 1);
	pthread_create(&server, NULL, serve, &shared);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.shared = &shared, .number = i};
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		wrong += workers[i].wrong;
	}
	atomic_store(&shared.ended, true);
	pthread_join(server, NULL);
	inside_run_end(shared.session, false);
	struct inside_account account = inside_session_account(shared.session);
	printf("# %ld choices, %zu trials\n", THREADS * shared.choices, account.trials);
	ok(wrong == 0, "no thread gets a value that was not declared or that the rule forbids");
	ok(account.contexts == CONTEXTS && account.cells == CONTEXTS * SIZES, "threads share contexts and their sizes");
	ok(account.trials > 0, "something is learned meanwhile");
	inside_session_free(shared.session);
	return tap_done();
}
