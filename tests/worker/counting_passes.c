/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A backend that needs the same run several times gets just that: each time reset, started, run once and stopped, never
 * started for nothing, and read at the end. */
#include "worker/count/counting_impl.h"
#include "tests/tap.h"

enum { PASSES = 5, LOG_MAX = 200 };

/* The calls, a letter each. */
struct history {
	char log[LOG_MAX];
	size_t length;
	int stops;
	bool fails; /* to start */
};

static struct history *history(void) {
	static struct history only;
	return &only;
}

static void note(char letter) {
	struct history *h = history();
	if (h->length + 1 < LOG_MAX)
		h->log[h->length++] = letter;
}

static void history_clear(bool fails) {
	*history() = (struct history){.fails = fails};
}

static void probe(struct counter_probe *out) {
	*out = (struct counter_probe){.usable = true};
}

static int open_it(void *state, const struct counter_site *site, const char *const *events, size_t count) {
	(void)state, (void)site, (void)events, (void)count;
	note('o');
	return 0;
}

static int start(void *state) {
	(void)state;
	note('s');
	return history()->fails ? -1 : 0;
}

static int stop(void *state) {
	(void)state;
	note('p');
	history()->stops++;
	return 0;
}

static bool more(void *state) {
	(void)state;
	return history()->stops < PASSES;
}

static int read_it(void *state, struct counter_value *values) {
	(void)state;
	note('v');
	counter_value_set(values, "all", "count", 7);
	return 0;
}

static json_t *details(void *state) {
	(void)state;
	note('d');
	return json_pack("{s:i}", "seen", PASSES);
}

static void close_it(void *state) {
	(void)state;
	note('c');
}

static const char *const events[] = {"all", NULL};
static const struct counter_backend backend = {.name = "passes",
                                               .summary = "in several runs",
                                               .scope = COUNTER_MACHINE,
                                               .state_size = 1,
                                               .events = events,
                                               .probe = probe,
                                               .open = open_it,
                                               .start = start,
                                               .stop = stop,
                                               .more = more,
                                               .read = read_it,
                                               .details = details,
                                               .close = close_it};

static void reset(void *memory, const struct ss_call *call) {
	(void)memory, (void)call;
	note('r');
}

static enum ss_status run(void *memory, const struct ss_call *call) {
	(void)memory, (void)call;
	note('x');
	return SS_OK;
}

static enum ss_status run_badly(void *memory, const struct ss_call *call) {
	run(memory, call);
	return SS_FAILED;
}

static struct batch batch_new(void) {
	return (struct batch){.backend = &backend, .names = {"all"}, .count = 1, .threads = 1};
}

static void whole_test(const struct team *team) {
	static const struct ss_kernel kernel = {.name = "k", .run = run, .reset = reset};
	struct state state = {.kernel = &kernel, .batch = 100};
	struct batch batch = batch_new();
	int64_t runs = 0;
	double seconds = -1;
	history_clear(false);
	ok(batch_run(&batch, &state, team, &runs, &seconds) == SS_OK, "a kernel is counted in passes");
	is_text(history()->log, "orsxprsxprsxprsxprsxpvdc", "each pass is reset, start, one run, stop");
	ok(runs == 1 && batch.passes == PASSES && seconds >= 0, "values are of one run");
	ok(batch.values[0].value == 7, "values are read once");
	ok(json_integer_value(json_object_get(batch.details, "seen")) == PASSES, "details are kept");
	batch_free(&batch);
	ok(!batch.details, "until the batch is freed");
}

static void failing_test(const struct team *team) {
	static const struct ss_kernel kernel = {.name = "k", .run = run_badly};
	struct state state = {.kernel = &kernel, .batch = 100};
	struct batch batch = batch_new();
	int64_t runs = 0;
	double seconds = 0;
	history_clear(false);
	ok(batch_run(&batch, &state, team, &runs, &seconds) == SS_FAILED, "a kernel that fails");
	is_text(history()->log, "osxpvdc", "a kernel that fails is not run again");
	batch_free(&batch);
}

static void refused_test(const struct team *team) {
	static const struct ss_kernel kernel = {.name = "k", .run = run};
	struct state state = {.kernel = &kernel};
	struct batch batch = batch_new();
	char reason[COUNTER_REASON];
	int64_t runs = 0;
	double seconds = 0;
	history_clear(true);
	ok(batch_run(&batch, &state, team, &runs, &seconds) == SS_OK,
	   "a backend that cannot start does not fail the kernel");
	batch_missing(&batch, 0, 0, reason);
	ok(reason[0], "a backend that cannot start has a reason: %s", reason);
	is_text(history()->log, "osxc", "after one run");
	batch_free(&batch);
}

int main(void) {
	struct team *team = team_new();
	whole_test(team);
	failing_test(team);
	refused_test(team);
	team_free(team);
	return tap_done();
}
