/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a side of an experiment runs, and what runs beside it. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tuner/probe/cause_impl.h"

/* Processes beside a run, and the processors before it was confined. */
enum { AROUND_MOST = 64 };
struct around {
	pid_t pids[AROUND_MOST];
	size_t count;
	enum cause_confined confined;
	cpu_set_t processors;
};

/* Processes beside a run all do the same: they add numbers, of the last cache or of memory. What they take from a core
 * that they share with a thread, its first caches among it, is alike then, and only the memory is not. */
static const double CACHED_LEAST = 16 << 10, CACHED_MOST = 4 << 20, CACHED_SHARE = 8; /* bytes; of the last cache */
static const double READ_LEAST = 128 << 20, READ_MOST = 1 << 30;                      /* bytes */
enum { AGAIN_MOST = 2 };
static const int MEMORY_DEFAULT = 0, MEMORY_INTERLEAVED = 3; /* of set_mempolicy(2) */

_Noreturn static void beside_add(const uint64_t *data, size_t bytes, size_t first, pid_t parent) {
	volatile uint64_t kept;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (size_t at = first;; at = 0) {
		uint64_t sum = 0;
		for (; at < bytes / sizeof *data; at++)
			sum += data[at];
		kept = sum;
		(void)kept;
	}
}

/* So many of these processors, of the first or of the others. */
static void cores_take(const cpu_set_t *processors, int count, bool others) {
	cpu_set_t some;
	int seen = 0;
	CPU_ZERO(&some);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, processors) && (seen++ < count) != others)
			CPU_SET(i, &some);
	sched_setaffinity(0, sizeof some, &some);
}

/* They keep off the processors of a run that is confined. */
static void beside_start(const struct cause_test *test, const struct cause_data *data, bool read,
                         struct around *around) {
	pid_t own = getpid();
	size_t bytes = read ? data->bytes : data->cached, most = test->beside;
	for (size_t i = 0; i < most && i < AROUND_MOST; i++) {
		pid_t pid = fork();
		if (pid == 0 && around->confined == CAUSE_CORES)
			cores_take(&around->processors, test->cores, true);
		if (pid == 0)
			beside_add(data->numbers, bytes, i * bytes / most / sizeof *data->numbers, own);
		if (pid > 0)
			around->pids[around->count++] = pid;
	}
}

static void memory_place(int policy, unsigned long nodes) {
	syscall(SYS_set_mempolicy, policy, nodes ? &nodes : NULL, nodes ? 8 * sizeof nodes : 0);
}

/* Processes beside a program are there for both sides. */
static enum cause_confined confined_of(const struct cause_test *test, int side) {
	return side || test->beside ? test->confined : CAUSE_FREE;
}

/* Processes that are started until the end run where the test wants it. */
static void around_begin(const struct probe_subject *subject, const struct cause_test *test, int side,
                         const struct cause_data *data, struct around *around) {
	int nodes = study_host(subject->study)->numa_nodes;
	*around = (struct around){.confined = confined_of(test, side)};
	if (around->confined == CAUSE_CORES && sched_getaffinity(0, sizeof around->processors, &around->processors))
		around->confined = CAUSE_FREE;
	beside_start(test, data, side, around);
	if (around->confined == CAUSE_INTERLEAVED)
		memory_place(MEMORY_INTERLEAVED, nodes < 64 ? (1ul << nodes) - 1 : ~0ul);
	if (around->confined == CAUSE_CORES)
		cores_take(&around->processors, test->cores, false);
}

static void around_end(struct around *around) {
	if (around->confined == CAUSE_INTERLEAVED)
		memory_place(MEMORY_DEFAULT, 0);
	if (around->confined == CAUSE_CORES)
		sched_setaffinity(0, sizeof around->processors, &around->processors);
	while (around->count) {
		kill(around->pids[--around->count], SIGKILL);
		waitpid(around->pids[around->count], NULL, 0);
	}
}

/* At least four times the caches. */
static bool data_open(const struct probe_subject *subject, struct cause_data *data) {
	double cache = fmax(0, study_cache(subject->study)), bytes = fmin(READ_MOST, fmax(READ_LEAST, 4 * cache));
	double cached = fmin(CACHED_MOST, fmax(CACHED_LEAST, cache / CACHED_SHARE));
	void *numbers = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (numbers != MAP_FAILED)
		*data = (struct cause_data){numbers, (size_t)bytes, (size_t)cached};
	return numbers != MAP_FAILED;
}

static bool complete(const struct probe_bench *bench, struct cause_test *test) {
	struct err why = {0};
	for (int side = 0; side < 2 && bench->complete; side++) {
		json_t *config = bench->complete(bench->ctx, test->problem[side], test->config[side], &why);
		if (!config)
			return cause_untestable(test, "%.140s", why.what);
		json_decref(test->config[side]);
		test->config[side] = config;
	}
	return true;
}

bool cause_prepare(const struct probe_subject *subject, const struct probe_bench *bench, struct cause_test *test,
                   struct cause_data *data) {
	if (!complete(bench, test))
		return false;
	if (test->beside && !bench->confined.run)
		test->confined = CAUSE_FREE;
	if (test->confined && !bench->confined.run)
		return cause_untestable(test, "it cannot be confined");
	if (test->beside && !bench->own)
		return cause_untestable(test, "nothing can run beside it on its machine");
	if (test->beside && !data->numbers && !data_open(subject, data))
		return cause_untestable(test, "no memory is left for a process beside it");
	if (test->confined && bench->rest)
		bench->rest(bench->ctx);
	return true;
}

static int run_around(const struct probe_subject *subject, const struct probe_bench *bench,
                      const struct cause_test *test, const struct cause_data *data, int side,
                      const struct trial_request *request, struct trial_result *result, struct err *err) {
	const struct runner *runner = confined_of(test, side) ? &bench->confined : &bench->runner;
	struct around around;
	around_begin(subject, test, side, data, &around);
	int failed = runner->run(runner->ctx, request, result, err);
	around_end(&around);
	return failed;
}

/* How much of it a hypervisor took, as processors; the time itself plays no part, so that neither side is favoured. */
static double stolen_of(const struct trial_result *result) {
	return js_real_or(json_object_get(result->reply, "noise"), "steal_s", 0) / result->value;
}

int cause_run(const struct probe_subject *subject, const struct probe_bench *bench, const struct cause_test *test,
              const struct cause_data *data, int side, const struct trial_request *request, struct trial_result *result,
              struct err *err) {
	int failed = run_around(subject, bench, test, data, side, request, result, err);
	for (int again = 0; !failed && result->disturbed && again < AGAIN_MOST; again++) {
		struct trial_result more = {0};
		failed = run_around(subject, bench, test, data, side, request, &more, err);
		if (!failed && more.status == TRIAL_CORRECT && stolen_of(&more) < stolen_of(result)) {
			struct trial_result other = *result;
			*result = more;
			more = other;
		}
		trial_result_clear(&more);
	}
	return failed;
}
