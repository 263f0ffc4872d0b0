/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/count/simulate.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/proc.h"
#include "base/tree.h"
#include "base/sys.h"
#include "worker/kernel/word.h"

/* The thread of the team whose mark it has; -1: none. */
static int part_thread(const struct simulate_part *part, int threads) {
	static const char head[] = "Client Request: " SIMULATE_MARK;
	char again[SIMULATE_TRIGGER];
	if (strncmp(part->trigger, head, sizeof head - 1) != 0)
		return -1;
	int thread = atoi(part->trigger + sizeof head - 1);
	snprintf(again, sizeof again, "%s%d", head, thread);
	return thread >= 0 && thread < threads && strcmp(again, part->trigger) == 0 ? thread : -1;
}

static const struct simulate_part *part_of_thread(const struct simulate_harvest *harvest, int thread, int threads) {
	for (size_t i = 0; i < harvest->count; i++)
		if (part_thread(&harvest->parts[i], threads) == thread)
			return &harvest->parts[i];
	return NULL;
}

/* True if this valgrind thread has a mark. */
static bool is_ours(const struct simulate_harvest *harvest, int number, int threads) {
	for (size_t i = 0; i < harvest->count; i++)
		if (harvest->parts[i].thread == number && part_thread(&harvest->parts[i], threads) >= 0)
			return true;
	return false;
}

/* Each thread of the team has exactly one file with its mark, and no other thread did anything. */
static const char *harvest_check(const struct simulate_harvest *harvest, int threads) {
	int marks = 0;
	for (size_t i = 0; i < harvest->count; i++) {
		if (harvest->parts[i].thread == 0)
			return "one belongs to no thread";
		marks += part_thread(&harvest->parts[i], threads) >= 0;
		if (!is_ours(harvest, harvest->parts[i].thread, threads) &&
		    harvest->parts[i].values[cachegrind_column_find("Ir")] > 0)
			return "the kernel runs threads of its own, which cannot be distinguished from earlier ones";
	}
	return marks == threads ? NULL : "a thread lacks one";
}

/* Reads the values of that many threads from the files in a folder, and the model's description. */
static bool simulate_values_read(const char *folder, int threads, double *values, char model[SIMULATION_MODEL],
                                 char reason[2 * COUNTER_REASON]) {
	struct simulate_harvest harvest = {.count = 0};
	const char *wrong = simulate_harvest_read(folder, "", &harvest);
	wrong = wrong ? wrong : harvest_check(&harvest, threads);
	for (int t = 0; t < threads && !wrong; t++) {
		const struct simulate_part *part = part_of_thread(&harvest, t, threads);
		if (!part) {
			wrong = "a thread has two";
			break;
		}
		memcpy(values + (size_t)t * CACHEGRIND_EVENTS, part->values, sizeof part->values);
		snprintf(model, SIMULATION_MODEL, "I1 %s; D1 %s; LL %s", part->caches[0], part->caches[1], part->caches[2]);
	}
	if (wrong)
		snprintf(reason, 2 * COUNTER_REASON, "valgrind's files: %s", wrong);
	simulate_harvest_free(&harvest);
	return !wrong;
}

enum { VALGRIND_THREADS = 500, WRITE_S = 60, GRACE_S = 60 };

static size_t words_count(const char *const *words) {
	size_t count = 0;
	while (words[count])
		count++;
	return count;
}

/* fair-sched: threads run in turn, so that none starves. */
const char *const *simulate_line(struct arena *arena, const char *const *own, int threads, const char *out,
                                 const struct cachegrind_model *model, const char *const *command) {
	const char *const common[] = {"--command-line-only=yes",
	                              "--tool=callgrind",
	                              "--cache-sim=yes",
	                              "--branch-sim=yes",
	                              "--fair-sched=try",
	                              "--vgdb=no",
	                              arena_printf(arena, "--max-threads=%d", threads),
	                              arena_printf(arena, "--callgrind-out-file=%s", out)};
	size_t first = words_count(own), last = words_count(command), count = first + sizeof common / sizeof *common;
	const char **words = arena_alloc(arena, count + (size_t)model->count + last + 1, sizeof *words);
	memcpy(words, own, first * sizeof *words);
	memcpy(words + first, common, sizeof common);
	for (int i = 0; i < model->count; i++)
		words[count++] = arena_strdup(arena, model->options[i]);
	memcpy(words + count, command, last * sizeof *words);
	return words;
}

/* The worker's own path, the same for every run. */
static bool worker_path(char path[PATH_MAX], char *reason) {
	if (sys_self_path(path, PATH_MAX, NULL) == 0 && access(path, X_OK) == 0)
		return true;
	snprintf(reason, 2 * COUNTER_REASON, "the worker's own file has moved since it started");
	return false;
}

/* Addresses and checksums must not vary, so the worker's environment (but for a few names), its id and its samples
 * are left out. */
static json_t *request_make(const struct simulate_job *job) {
	static const char *const members[] = {"kernel", "library", "problem", "seed"};
	json_t *request = json_object(), *config = json_object_get(job->request, "config");
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		json_t *member = json_object_get(job->request, members[i]);
		if (member)
			json_object_set(request, members[i], member);
	}
	config = json_is_object(config) ? json_copy(config) : json_object();
	if (job->team)
		json_object_set_new(config, "threads", json_integer(job->threads));
	json_object_set_new(request, "config", config);
	return request;
}

static const char *kept(char *texts[2], int i, const char *name) {
	texts[i] = getenv(name) ? mem_printf("%s=%s", name, getenv(name)) : NULL;
	return texts[i];
}

/* Memory addresses must not depend on the caller: hence a fixed environment, a folder name of fixed length (shells
 * pass it on in PWD, and valgrind may be a script), and no address randomisation. Where the last is not permitted,
 * valgrind's own layout remains, which hardly differs. */
static struct proc *start(const char *const *line, const char *folder, struct err *err) {
	static const char *const everything[] = {"*", NULL};
	char *scratch = mem_printf("TMPDIR=%s", folder), *texts[2];
	const char *set[] = {"LC_ALL=C",
	                     "LD_BIND_NOW=1",
	                     "OMP_WAIT_POLICY=passive",
	                     "GOMP_SPINCOUNT=0",
	                     "PATH=/usr/local/bin:/usr/bin:/bin",
	                     scratch,
	                     NULL,
	                     NULL,
	                     NULL};
	int count = 6, before = personality(0xffffffff);
	for (int i = 0; i < 2; i++) {
		set[count] = kept(texts, i, i == 0 ? "LD_LIBRARY_PATH" : "OMP_STACKSIZE");
		count += set[count] != NULL;
	}
	const struct proc_spec spec = {
		.argv = line, .unset = everything, .set = set, .cwd = folder, .address_space = UINT64_MAX, .no_core = true};
	if (before != -1)
		personality((unsigned)before | ADDR_NO_RANDOMIZE);
	struct proc *proc = proc_start(&spec, err);
	if (before != -1)
		personality((unsigned)before);
	free(texts[0]);
	free(texts[1]);
	free(scratch);
	return proc;
}

/* Links to the worker's own folder, which file names in the problem are relative to. */
static bool folder_link(const char *folder, char *reason) {
	char here[PATH_MAX], *link = mem_printf("%s/" SIMULATE_FOLDER, folder);
	bool good = getcwd(here, sizeof here) && symlink(here, link) == 0;
	if (!good)
		snprintf(reason, 2 * COUNTER_REASON, "cannot link to the worker's folder: %s", strerror(errno));
	free(link);
	return good;
}

/* The last line that valgrind or the kernel wrote is the most informative. */
static void end_reason(const char *status, const char *errors, bool illegal, char *reason) {
	char copy[COUNTER_REASON];
	size_t end = strlen(errors);
	while (end > 0 && strchr(" \n\t", errors[end - 1]))
		end--;
	size_t begin = end;
	while (begin > 0 && errors[begin - 1] != '\n')
		begin--;
	snprintf(copy, sizeof copy, "%.*s", (int)(end - begin < sizeof copy ? end - begin : sizeof copy - 1),
	         errors + begin);
	word_clean(copy, sizeof copy);
	snprintf(reason, 2 * COUNTER_REASON, "valgrind ended without an answer, %s%s%s%s", status,
	         illegal ? " (valgrind does not know AVX-512: build with CFLAGS without it)" : "", copy[0] ? ": " : "",
	         copy);
}

/* Sets *seconds from the child's answer. */
static bool answer_read(const char *line, size_t size, double *seconds, char *reason) {
	struct err err = {.code = ERR_OK};
	js_auto json_t *answer = js_parse(line, size, "valgrind's answer", &err);
	const char *status = js_string_or(answer, "status", "");
	bool good = strcmp(status, "correct") == 0 && js_real(answer, "seconds", 0, 1e9, seconds, &err) == 0;
	if (!good) {
		snprintf(reason, 2 * COUNTER_REASON, "under valgrind: %s",
		         js_string_or(answer, "message", err.what[0] ? err.what : "no answer"));
	}
	return good;
}

static bool converse(struct proc *proc, const json_t *request, double *seconds, char *reason) {
	char *text = js_canonical(request), *line, *sent = mem_printf("%s\n", text), status_text[80];
	size_t size;
	struct err err = {.code = ERR_OK};
	bool wrote = proc_write(proc, sent, strlen(sent), WRITE_S, &err) == 0, answered = false, good = false;
	if (wrote && proc_read(proc, -1, NULL, &line, &size) == PROC_LINE) {
		answered = true;
		good = answer_read(line, size, seconds, reason);
	}
	mem_auto char *errors = mem_strdup(proc_stderr(proc));
	int status = proc_stop(proc, GRACE_S);
	if (!answered || (good && status != 0)) {
		good = false;
		proc_status_text(status, status_text, sizeof status_text);
		end_reason(status_text, errors, WIFSIGNALED(status) && WTERMSIG(status) == SIGILL, reason);
	}
	free(sent);
	free(text);
	return good;
}

static bool run_in(struct arena *arena, const char *folder, const struct simulate_job *job, double *values,
                   struct simulation *simulation, char *reason) {
	struct err err = {.code = ERR_OK};
	struct cachegrind_model model;
	char worker[PATH_MAX];
	if (cachegrind_model_read(getenv("SWEETSPOT_CACHEGRIND"), &model, &err) != 0 || strchr(folder, '%')) {
		snprintf(reason, 2 * COUNTER_REASON, "%.399s", err.what[0] ? err.what : "valgrind does not accept % in TMPDIR");
		return false;
	}
	if (!worker_path(worker, reason) || !folder_link(folder, reason))
		return false;
	static const char *const own[] = {
		"valgrind", "-q", "--instr-atstart=no", "--separate-threads=yes", "--trace-children=no", NULL};
	const char *const command[] = {worker, "simulate", NULL};
	struct proc *proc = start(simulate_line(arena, own, VALGRIND_THREADS + job->threads,
	                                        arena_printf(arena, "%s/out", folder), &model, command),
	                          folder, &err);
	if (!proc) {
		snprintf(reason, 2 * COUNTER_REASON, "%.399s", err.what);
		return false;
	}
	js_auto json_t *request = request_make(job);
	return converse(proc, request, &simulation->seconds, reason) &&
	       simulate_values_read(folder, job->threads, values, simulation->model, reason);
}

/* values[t * CACHEGRIND_EVENTS + e] belongs to thread t of the team. False and the reason on failure. */
static bool simulate_run(struct arena *arena, const struct simulate_job *job, double *values,
                         struct simulation *simulation, char reason[2 * COUNTER_REASON]) {
	struct scratch scratch;
	struct err err;
	double begun = sys_now();
	scratch_tidy(SCRATCH_RUN);
	if (scratch_open(&scratch, SCRATCH_RUN, &err) != 0) {
		snprintf(reason, 2 * COUNTER_REASON, "%.399s", err.what);
		return false;
	}
	bool good = run_in(arena, scratch.path, job, values, simulation, reason);
	scratch_close(&scratch);
	simulation->elapsed_s = sys_now() - begun;
	simulation->slowdown = job->native_s > 0 ? simulation->seconds / job->native_s : NAN;
	return good;
}

struct values {
	int threads;
	const double *of;
};

static void event_fill(void *ctx, int event, struct counted *counted) {
	const struct values *values = ctx;
	counted->total = 0;
	for (int t = 0; t < values->threads; t++) {
		double value = values->of[(size_t)t * CACHEGRIND_EVENTS + (size_t)event];
		counted->total += value;
		if (counted->per_thread)
			counted->per_thread[t] = value;
	}
	snprintf(counted->reason, sizeof counted->reason, "simulated by valgrind's cache model, not counted%s",
	         values->threads > 1 ? "; the threads ran one at a time and shared all caches" : "");
}

void simulate_count(struct arena *arena, const struct simulate_job *job, const struct counter_plan *plan,
                    const size_t *events, size_t count, struct counting *counting) {
	char reason[2 * COUNTER_REASON] = "valgrind does not simulate GPUs";
	struct simulation *simulation = arena_alloc(arena, 1, sizeof *simulation);
	double *values = arena_alloc(arena, (size_t)job->threads * CACHEGRIND_EVENTS, sizeof *values);
	bool good = strcmp(js_string_or(job->request, "device", "cpu"), "cpu") == 0 &&
	            simulate_run(arena, job, values, simulation, reason);
	simulate_fill(plan, events, count, counting, good ? simulation : NULL, reason, event_fill,
	              &(struct values){job->threads, values});
}
