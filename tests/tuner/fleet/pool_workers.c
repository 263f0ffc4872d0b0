/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of local workers: jobs, their failures, nodes that go away, and the consequences. */
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tests/tuner/fleet/rig.h"

static const struct pool_workers_options plain = {.losses = 3};
static const double PATIENCE = 60;

static struct trial_request request(const json_t *problem, const json_t *config) {
	return (struct trial_request){.kernel = "synthetic",
	                              .problem = problem,
	                              .config = config,
	                              .seed = 1,
	                              .samples = 2,
	                              .min_sample_s = 1e-5,
	                              .timeout_s = 5};
}

/* Waits for a job; false if none came. */
static bool job_wait(struct rig *rig, struct pool_done *done) {
	double until = sys_now() + PATIENCE;
	while (sys_now() < until) {
		int got = rig->pool->wait(rig->pool->ctx, 1, done, &rig->err);
		if (got)
			return got == 1;
	}
	return false;
}

static bool one_job(struct rig *rig, const struct pool_job *job, struct pool_done *done) {
	size_t node;
	return pool_workers_first(rig->workers, -1, &node, &rig->err) == 0 &&
	       rig->pool->submit(rig->pool->ctx, node, job, &rig->err) == 0 && job_wait(rig, done);
}

enum { JOBS = 60, TRIALS = 3 };

struct batch {
	struct trial_request requests[JOBS][TRIALS];
	struct pool_job jobs[JOBS];
	json_t *configs[JOBS][TRIALS], *problem;
	int back[JOBS];
	size_t given, taken, good;
};

static void batch_make(struct batch *batch) {
	batch->problem = json_pack("{s:i}", "n", 100);
	for (int i = 0; i < JOBS; i++) {
		for (int k = 0; k < TRIALS; k++) {
			batch->configs[i][k] = json_pack("{s:i,s:i}", "x", i % 16, "threads", 1);
			batch->requests[i][k] = request(batch->problem, batch->configs[i][k]);
		}
		batch->jobs[i] = (struct pool_job){
			.requests = batch->requests[i], .count = (size_t)(1 + i % TRIALS), .tag = &batch->back[i]};
	}
}

static bool result_good(const struct rig *rig, const struct pool_done *done, size_t i) {
	const struct trial_result *result = &done->results[i];
	const char *node = js_string_or(result->reply, "node", "");
	return result->status == TRIAL_CORRECT && result->value > 0 &&
	       strcmp(node, rig->pool->name(rig->pool->ctx, done->node)) == 0;
}

static void batch_record(struct rig *rig, struct batch *batch, struct pool_done *done) {
	++*(int *)done->job->tag;
	batch->taken++;
	size_t good = 0;
	for (size_t i = 0; i < done->done; i++)
		good += result_good(rig, done, i);
	batch->good += !done->lost && done->done == done->job->count && good == done->done;
	pool_done_clear(done);
}

static void test_jobs(void) {
	struct rig rig;
	struct batch batch = {.given = 0};
	struct pool_done done;
	int twice = 0;
	batch_make(&batch);
	rig_open(&rig, rig_path("BUILDDIR", "sweetspot-worker"), 3, &plain, false);
	while (batch.taken < JOBS) {
		for (int node; batch.given < JOBS && (node = rig_idle(&rig)) >= 0; batch.given++)
			rig.pool->submit(rig.pool->ctx, (size_t)node, &batch.jobs[batch.given], &rig.err);
		if (rig.pool->wait(rig.pool->ctx, PATIENCE, &done, &rig.err) == 1)
			batch_record(&rig, &batch, &done);
		else if (rig.err.code != ERR_OK)
			break;
	}
	for (int i = 0; i < JOBS; i++)
		twice += batch.back[i] != 1;
	ok(batch.taken == JOBS && twice == 0, "every job comes back once: %zu of %d", batch.taken, JOBS);
	ok(batch.good == JOBS, "every job has all of its results, which name their node: %zu", batch.good);
	rig_close(&rig);
	for (int i = 0; i < JOBS; i++)
		for (int k = 0; k < TRIALS; k++)
			json_decref(batch.configs[i][k]);
	json_decref(batch.problem);
}

/* The middle trial fails, which is a result like others. */
static void test_failure(const char *act, enum trial_status want, double timeout) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *bad = json_pack("{s:s}", "act", act), *good = json_pack("{s:s}", "act", "run");
	struct trial_request requests[] = {request(problem, good), request(problem, bad), request(problem, good)};
	const struct pool_job job = {.requests = requests, .count = 3};
	requests[1].timeout_s = timeout;
	setenv("FAKE_NODE", "here", 1);
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, false);
	bool came = one_job(&rig, &job, &done);
	ok(came && done.done == 3 && done.results[0].ended < done.results[2].ended, "%s: each trial has its own end", act);
	ok(came && !done.lost && done.done == 3, "%s: the job goes on, %s", act, came ? "" : rig.err.what);
	ok(done.done == 3 && done.results[0].status == TRIAL_CORRECT && done.results[1].status == want &&
	       done.results[2].status == TRIAL_CORRECT,
	   "%s is a failure of its trial: %s", act, done.done > 1 ? done.results[1].message : "");
	pool_done_clear(&done);
	came = one_job(&rig, &job, &done);
	ok(came && done.done == 3, "the node stays usable after a failed trial");
	pool_done_clear(&done);
	rig_close(&rig);
	unsetenv("FAKE_NODE");
	json_decref(problem);
	json_decref(bad);
	json_decref(good);
}

/* A program that somebody else ended is measured again, where nodes can be lost. */
static void test_ended(const char *act, const char *ends, bool worker, bool fragile, const char *what) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *ended = json_pack("{s:s}", "act", act);
	struct trial_request requests[] = {request(problem, ended)};
	const struct pool_job job = {.requests = requests, .count = 1};
	setenv("FAKE_NODE", "here", 1);
	setenv("FAKE_ENDS", ends, 1);
	if (worker)
		setenv("FAKE_ENDS_WORKER", "1", 1);
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, fragile);
	bool came = one_job(&rig, &job, &done);
	if (worker)
		ok(came && done.lost && done.done == 0, "%s: the job is lost and has no failure: %s", what,
		   came && done.lost ? done.lost : rig.err.what);
	else
		ok(came && !done.lost && done.done == 1 &&
		       done.results[0].status == (fragile && strcmp(ends, "1") == 0 ? TRIAL_CORRECT : TRIAL_RUNTIME),
		   "%s: %s", what, came && done.done ? trial_status_word(done.results[0].status) : rig.err.what);
	pool_done_clear(&done);
	rig_close(&rig);
	unsetenv("FAKE_NODE");
	unsetenv("FAKE_ENDS");
	unsetenv("FAKE_ENDS_WORKER");
	json_decref(problem);
	json_decref(ended);
}

/* Trials that are compared must run on one node. */
static void test_moved(void) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *bad = json_pack("{s:s}", "act", "crash"),
		   *good = json_pack("{s:s}", "act", "run");
	struct trial_request requests[] = {request(problem, bad), request(problem, good)};
	const struct pool_job job = {.requests = requests, .count = 2};
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, false);
	bool came = one_job(&rig, &job, &done);
	ok(came && done.lost && done.done == 1 && strstr(done.lost, "another node"),
	   "a worker that comes up on another node ends the job: %s", came && done.lost ? done.lost : "");
	pool_done_clear(&done);
	rig_close(&rig);
	json_decref(problem);
	json_decref(bad);
	json_decref(good);
}

static void test_given_up(void) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *leave = json_pack("{s:s}", "act", "leave");
	struct trial_request requests[] = {request(problem, leave)};
	const struct pool_job job = {.requests = requests, .count = 1};
	const struct pool_workers_options options = {.losses = 1};
	int lost = 0;
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &options, true);
	while (one_job(&rig, &job, &done)) {
		lost += done.lost && strcmp(done.lost, "its node failed") == 0 && done.done == 0;
		pool_done_clear(&done);
	}
	ok(lost == 2, "a lost node is requested again, within limits: %d", lost);
	ok(rig.err.code == ERR_UNAVAILABLE && strstr(rig.err.what, "its node failed"),
	   "no node is left after too many losses: %s", rig.err.what);
	ok(strstr(rig.err.hint, "--resume"), "the hint is how to go on: %s", rig.err.hint);
	json_t *nodes = pool_workers_json(rig.workers);
	ok(strcmp(js_string_or(json_array_get(nodes, 0), "state", ""), "lost") == 0,
	   "the state of a node that is not left is lost");
	json_decref(nodes);
	rig_close(&rig);
	json_decref(problem);
	json_decref(leave);
}

/* Alternates the two acts over `count` jobs. Returns how many were lost, and whether a trial caused none of it. */
static int turns(struct rig *rig, const char *const *acts, int count, bool *outside) {
	json_t *problem = json_object();
	int lost = 0;
	*outside = true;
	for (int i = 0; i < count; i++) {
		struct pool_done done = {0};
		json_t *act = json_pack("{s:s}", "act", acts[i % 2]);
		struct trial_request requests[] = {request(problem, act)};
		const struct pool_job job = {.requests = requests, .count = 1};
		if (one_job(rig, &job, &done) && done.lost) {
			*outside = *outside && done.outside;
			lost++;
		}
		pool_done_clear(&done);
		json_decref(act);
	}
	json_decref(problem);
	return lost;
}

static int losses_told(const struct rig *rig, const char **state) {
	json_t *nodes = pool_workers_json(rig->workers), *node = json_array_get(nodes, 0);
	int losses = (int)js_int_or(node, "losses", -1);
	*state = strcmp(js_string_or(node, "state", ""), "lost") == 0 ? "lost" : "there";
	json_decref(nodes);
	return losses;
}

/* More losses than allowed in a row, with completed work in between; and workers that their trials may have killed. */
static void test_in_a_row(void) {
	static const char *const mixed[] = {"leave", "run"}, *const ends[] = {"end", "end"};
	const struct pool_workers_options options = {.losses = 1};
	struct rig rig;
	bool outside;
	const char *state;
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &options, true);
	int lost = turns(&rig, mixed, 8, &outside);
	ok(lost == 4 && outside, "a node that is lost now and then: %d times", lost);
	lost = turns(&rig, ends, 4, &outside);
	ok(lost == 4 && !outside, "a node's worker is killed for unknown reasons: %d times", lost);
	lost = turns(&rig, mixed, 2, &outside);
	int told = losses_told(&rig, &state);
	ok(lost == 1 && strcmp(state, "there") == 0, "a node with losses now and then is not given up: it is %s", state);
	ok(told == 9, "all losses are reported: %d", told);
	rig_close(&rig);
}

static void test_no_start(void) {
	struct rig rig;
	size_t node;
	rig_open(&rig, mem_strdup("/nowhere/sweetspot-worker"), 2, &plain, false);
	ok(pool_workers_first(rig.workers, -1, &node, &rig.err) < 0 && strstr(rig.err.what, "/nowhere/"),
	   "a command that cannot start is not retried: %s", rig.err.what);
	ok(strstr(rig.err.hint, "--plan"), "the hint is how to try it: %s", rig.err.hint);
	rig_close(&rig);
}

/* An error from one node, before any trial has worked and afterwards. */
static void test_refused(void) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *bad = json_pack("{s:s}", "act", "refuse"),
		   *good = json_pack("{s:s}", "act", "run");
	struct trial_request run[] = {request(problem, good)}, refuse[] = {request(problem, bad)};
	const struct pool_job works = {.requests = run, .count = 1}, refused = {.requests = refuse, .count = 1};
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 2, &plain, false);
	ok(!one_job(&rig, &refused, &done) && strstr(rig.err.what, "unknown member"),
	   "an error before the first result concerns everybody: %s", rig.err.what);
	rig_close(&rig); /* it waits for no node that is not up yet */
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 2, &plain, false);
	ok(one_job(&rig, &works, &done) && !done.lost, "a trial works");
	pool_done_clear(&done);
	bool came = one_job(&rig, &refused, &done);
	ok(came && done.lost && done.outside && strstr(done.lost, "unknown member"), "an error then is the node's own: %s",
	   came && done.lost ? done.lost : rig.err.what);
	pool_done_clear(&done);
	came = one_job(&rig, &works, &done);
	ok(came && !done.lost, "the other node goes on: %s", came ? done.lost : rig.err.what);
	pool_done_clear(&done);
	ok(!one_job(&rig, &refused, &done) && strstr(rig.err.what, "unknown member"), "the last node's error ends it: %s",
	   rig.err.what);
	rig_close(&rig);
	json_decref(problem);
	json_decref(bad);
	json_decref(good);
}

/* What a node reports cannot be: it is given up at once, whatever it did before, and its trial is not to blame. */
static void test_lies(const char *act) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *bad = json_pack("{s:s}", "act", act), *good = json_pack("{s:s}", "act", "run");
	struct trial_request run[] = {request(problem, good)}, lie[] = {request(problem, bad)};
	const struct pool_job works = {.requests = run, .count = 1}, lies = {.requests = lie, .count = 1};
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 2, &plain, false);
	ok(one_job(&rig, &works, &done) && !done.lost, "%s: a trial works", act);
	pool_done_clear(&done);
	bool came = one_job(&rig, &lies, &done);
	ok(came && done.done == 0 && done.lost && done.outside && done.lies && strstr(done.lost, "cannot be true"),
	   "%s: the node is at fault: %s", act, came && done.lost ? done.lost : rig.err.what);
	size_t liar = done.node;
	pool_done_clear(&done);
	ok(one_job(&rig, &works, &done) && !done.lost && done.node != liar, "%s: the other node goes on", act);
	pool_done_clear(&done);
	for (double until = sys_now() + PATIENCE; rig.pool->state(rig.pool->ctx, liar) != POOL_LOST && sys_now() < until;)
		rig.pool->wait(rig.pool->ctx, 0.1, &done, &rig.err);
	ok(rig.pool->state(rig.pool->ctx, liar) == POOL_LOST, "%s: the node gets no more work", act);
	came = one_job(&rig, &lies, &done);
	pool_done_clear(&done);
	ok(came && !one_job(&rig, &works, &done) && rig.err.code == ERR_UNAVAILABLE &&
	       strstr(rig.err.what, "cannot be true") && strstr(rig.err.hint, "clock"),
	   "%s: without any node it ends with the reason: %s", act, rig.err.what);
	rig_close(&rig);
	json_decref(problem);
	json_decref(bad);
	json_decref(good);
}

/* A node without room tells so before anything has worked. */
static void test_full(void) {
	struct rig rig;
	struct pool_done done = {0};
	json_t *problem = json_object(), *full = json_pack("{s:s}", "act", "full");
	struct trial_request requests[] = {request(problem, full)};
	const struct pool_job job = {.requests = requests, .count = 1};
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 2, &plain, false);
	bool came = one_job(&rig, &job, &done);
	ok(came && done.lost && done.outside && strstr(done.lost, "cannot make a folder"),
	   "a node whose system fails is set aside: %s", came && done.lost ? done.lost : rig.err.what);
	pool_done_clear(&done);
	ok(!one_job(&rig, &job, &done) && rig.err.code == ERR_FAILED && strncmp(rig.err.what, "node fake-", 10) == 0,
	   "the last one ends it, by its name: %s", rig.err.what);
	ok(strcmp(rig.err.hint, "make room") == 0, "the error of the last node has its own hint: %s", rig.err.hint);
	rig_close(&rig);
	json_decref(problem);
	json_decref(full);
}

static void test_version(void) {
	struct rig rig;
	size_t node;
	setenv("FAKE_VERSION", "0.0.9", 1);
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, false);
	ok(pool_workers_first(rig.workers, -1, &node, &rig.err) < 0 && strstr(rig.err.what, "version 0.0.9"),
	   "a worker of another version is not used: %s", rig.err.what);
	rig_close(&rig);
	unsetenv("FAKE_VERSION");
}

/* A login that prints something, as many do. */
static void test_greeting(void) {
	struct rig rig;
	size_t node;
	setenv("FAKE_GREETING", "Welcome to n1", 1);
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, false);
	ok(pool_workers_first(rig.workers, -1, &node, &rig.err) < 0 && strstr(rig.err.what, "\"Welcome to n1\""),
	   "a greeting is quoted: %s", rig.err.what);
	rig_close(&rig);
	unsetenv("FAKE_GREETING");
}

static void test_words(void) {
	struct rig rig;
	size_t node;
	setenv("FAKE_ERROR", "cannot fork", 1);
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, false);
	ok(pool_workers_first(rig.workers, -1, &node, &rig.err) < 0 && strstr(rig.err.what, "cannot fork"),
	   "an error with its hint is quoted: %s", rig.err.what);
	rig_close(&rig);
	unsetenv("FAKE_ERROR");
}

/* A host that ssh reaches and that then says nothing. */
static void test_silent(void) {
	struct rig rig;
	size_t node;
	setenv("FAKE_SILENT", "1", 1);
	rig_answer_seconds = 0.5;
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 1, &plain, false);
	ok(pool_workers_first(rig.workers, 0, &node, &rig.err) == 1, "a caller need not wait for the first node");
	ok(pool_workers_first(rig.workers, -1, &node, &rig.err) < 0 && strstr(rig.err.what, "no answer within 0.5 s"),
	   "a silent node is not waited for without limit: %s", rig.err.what);
	rig_close(&rig);
	rig_answer_seconds = 0;
	unsetenv("FAKE_SILENT");
}

static bool admit_first(void *ctx, size_t node, struct worker *worker, char *why, size_t size) {
	struct err err = {0};
	int *asked = ctx;
	(void)node;
	snprintf(why, size, "there is one already%s", worker_machine(worker, &err) ? "" : ", and no machine");
	return ++*asked == 1;
}

static void test_admit(void) {
	struct rig rig;
	struct pool_done none;
	int asked = 0;
	size_t node;
	const struct pool_workers_options options = {.losses = 3, .admit = admit_first, .admit_ctx = &asked};
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 2, &options, false);
	ok(pool_workers_first(rig.workers, -1, &node, &rig.err) == 0, "the first node is admitted");
	for (int i = 0; i < 60 && asked < 2; i++)
		rig.pool->wait(rig.pool->ctx, 1, &none, &rig.err);
	json_t *nodes = pool_workers_json(rig.workers), *other = json_array_get(nodes, 1 - node);
	ok(strcmp(js_string_or(other, "reason", ""), "there is one already") == 0 &&
	       rig.pool->state(rig.pool->ctx, 1 - node) == POOL_LOST,
	   "a refused node is set aside, with its reason");
	json_decref(nodes);
	rig_close(&rig);
}

static void test_interrupt(void) {
	struct rig rig;
	struct pool_done done = {0};
	size_t node;
	volatile int abandon = 0;
	json_t *problem = json_object(), *hang = json_pack("{s:s}", "act", "hang");
	struct trial_request requests[] = {request(problem, hang)};
	const struct pool_job job = {.requests = requests, .count = 1};
	const struct pool_workers_options options = {.losses = 3, .abandon = &abandon};
	requests[0].timeout_s = 0;
	rig_open(&rig, rig_path("SRCDIR", "tests/fleet/worker-fake"), 2, &options, false);
	pool_workers_first(rig.workers, -1, &node, &rig.err);
	rig.pool->submit(rig.pool->ctx, node, &job, &rig.err);
	abandon = 1;
	ok(rig.pool->wait(rig.pool->ctx, -1, &done, &rig.err) < 0 && rig.err.code == ERR_INTERRUPTED,
	   "a hanging job can be abandoned");
	rig_close(&rig);
	json_decref(problem);
	json_decref(hang);
}

int main(void) {
	test_jobs();
	test_failure("crash", TRIAL_RUNTIME, 5);
	test_failure("hang", TRIAL_TIMEOUT, 0.5);
	test_failure("flood", TRIAL_RUNTIME, 20);
	test_failure("nonsense", TRIAL_RUNTIME, 5);
	test_ended("ended", "1", false, true, "a program that is ended once is measured again");
	test_ended("ended", "9", false, true, "a program that is ended again has failed");
	test_ended("ended", "9", true, true, "a program is ended, and its worker next");
	test_ended("ended", "1", false, false, "nobody ends jobs on this machine");
	test_ended("cut", "1", true, true, "a worker ends while it answers");
	test_moved();
	test_given_up();
	test_in_a_row();
	test_no_start();
	test_refused();
	static const char *const lies[] = {"huge", "negative", "many", "few"};
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
		test_lies(lies[i]);
	test_full();
	test_version();
	test_greeting();
	test_silent();
	test_words();
	test_admit();
	test_interrupt();
	return tap_done();
}
