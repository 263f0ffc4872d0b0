/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/regions/regions_impl.h"
#include "tuner/same/same.h"

/* Reads what libsweetspot-mpi has left, which anybody may have written: a file for each rank. */
enum { RANKS_MAX = 4096, FILE_MAX = 16384, NAME_MOST = 32 };
static const double SECONDS_MAX = 1e9;

/* "MPI_Reduce 3 501768264" */
static void call_read(const char *line, json_t *calls, double *sum) {
	char name[NAME_MOST + 1];
	unsigned long long count, ns;
	if (sscanf(line, "MPI_%32[A-Za-z_] %llu %llu", name, &count, &ns) != 3 || (double)ns * 1e-9 > SECONDS_MAX)
		return;
	mem_auto char *whole = mem_printf("MPI_%s", name);
	*sum += (double)ns * 1e-9;
	json_object_set_new(calls, whole,
	                    json_pack("{s:I,s:f}", "calls", (json_int_t)(count & INT64_MAX), "time", (double)ns * 1e-9));
}

/* NULL: not one of ours. */
static json_t *rank_read(char *text, double seconds) {
	long long rank;
	double sum = 0;
	if (sscanf(text, "rank %lld", &rank) != 1 || rank < 0 || rank > INT32_MAX)
		return NULL;
	json_t *calls = json_object();
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		call_read(line, calls, &sum);
	return json_pack("{s:I,s:f,s:o,s:o}", "rank", (json_int_t)rank, "mpi", sum, "share", js_number(sum / seconds),
	                 "calls", calls);
}

static int by_rank(const void *a, const void *b) {
	int64_t x = js_int_or(*(json_t *const *)a, "rank", 0), y = js_int_or(*(json_t *const *)b, "rank", 0);
	return (x > y) - (x < y);
}

/* The records of libsweetspot-mpi in the folder, by rank; new reference. */
static json_t *regions_ranks_read(const char *folder, double seconds) {
	json_t **ranks = mem_alloc(RANKS_MAX, sizeof *ranks), *json = json_array();
	size_t count = 0, size;
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && count < RANKS_MAX && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, "mpi.", 4) != 0)
			continue;
		mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name),
					  *text = sys_read_file(path, FILE_MAX, &size, NULL);
		json_t *rank = text ? rank_read(text, seconds) : NULL;
		if (rank)
			ranks[count++] = rank;
	}
	if (dir)
		closedir(dir);
	qsort(ranks, count, sizeof *ranks, by_rank);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(json, ranks[i]);
	free(ranks);
	return json;
}

enum { REPEATS = 2 };
static const double WAIT_SHARE = 0.5; /* of the time left for a run that others disturbed and its repetitions */

char *regions_preload(const char *library) {
	const char *now = getenv("LD_PRELOAD");
	return now && *now ? mem_printf("%s:%s", library, now) : mem_strdup(library);
}

static struct program *program_open(struct regions_runs *runs, struct err *err) {
	static const char *const params[] = {"LD_PRELOAD",           "SWEETSPOT_OMP_TABLE",     "SWEETSPOT_OMP_RECORD",
	                                     "SWEETSPOT_MPI_RECORD", "OMP_PROC_BIND",           "OMP_PLACES",
	                                     "OMP_WAIT_POLICY",      "KOKKOS_TOOLS_LIBS",       "KOKKOS_PROFILE_LIBRARY",
	                                     "SWEETSPOT_KOKKOS",     "SWEETSPOT_KOKKOS_RECORD", NULL};
	struct program_spec spec = runs->options->program;
	spec.params = params;
	spec.baseline = runs->plain;
	return program_new(&spec, runs->options->worker, err);
}

int regions_runs_open(struct regions_runs *runs, const struct regions_options *options, struct err *err) {
	*runs = (struct regions_runs){.options = options,
	                              .plain = json_object(),
	                              .environment = json_object(),
	                              .seen = json_array(),
	                              .started = sys_now()};
	scratch_tidy(SCRATCH_REGIONS);
	int failed = scratch_open(&runs->scratch, SCRATCH_REGIONS, err);
	runs->program = failed ? NULL : program_open(runs, err);
	runs->busy = busy_new();
	return runs->program ? 0 : -1;
}

void regions_runs_close(struct regions_runs *runs) {
	busy_free(runs->busy);
	program_free(runs->program);
	json_decref(runs->seen);
	scratch_close(&runs->scratch);
	json_decref(runs->plain);
	json_decref(runs->environment);
}

double regions_left(const struct regions_runs *runs, double budget_s) {
	return budget_s - (sys_now() - runs->started);
}

static int interrupted(const struct regions_runs *runs, struct err *err) {
	const volatile int *flag = runs->options->interrupt;
	return flag && *flag ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

/* A run that was lost with its worker is repeated by a new one, unless that keeps happening. */
static int trial_repeat(struct regions_runs *runs, const struct trial_request *request, const char *records,
                        struct trial_result *result, struct err *err) {
	struct runner runner = program_runner(runs->program);
	int failed = runner.run(runner.ctx, request, result, err);
	for (int again = 0; !failed && result->lost && again < REPEATS; again++) {
		trial_result_clear(result);
		if (records) /* of the run that was lost */
			tree_remove(records);
		failed = interrupted(runs, err) || (records && sys_make_dirs(records, err)) ||
		         runner.run(runner.ctx, request, result, err);
	}
	return failed ? -1 : 0;
}

/* records: the folder in which the library leaves its records, or NULL. seen: gets the run's evidence, may be NULL. */
static int measure(struct regions_runs *runs, const json_t *config, double limit_s, const char *records, json_t *seen,
                   double *seconds, struct err *err) {
	const struct regions_options *options = runs->options;
	const struct trial_request request = {.config = config,
	                                      .seed = options->seed,
	                                      .samples = 1,
	                                      .whole_program = true,
	                                      .counters = runs->counting ? options->counters : NULL,
	                                      .slow = runs->counting && options->slow,
	                                      .timeout_s = limit_s > 0 ? limit_s : options->timeout_s};
	struct trial_result result = {0};
	int failed = trial_repeat(runs, &request, records, &result, err);
	busy_look(runs->busy);
	if (!failed && result.status != TRIAL_CORRECT) {
		runs->failures[result.status]++;
		snprintf(runs->failure, sizeof runs->failure, "%s", trial_status_text(result.status));
	}
	if (!failed && result.status != TRIAL_CORRECT)
		failed = err_set(err, ERR_NOTHING, "run it by itself to see why", "the program %s%s%s",
		                 trial_status_text(result.status), *result.message ? ": " : "", result.message);
	*seconds = failed ? 0 : result.value;
	if (!failed && seen)
		same_add(seen, json_object_get(result.reply, "evidence"));
	trial_result_clear(&result);
	runs->done += !failed;
	return failed;
}

static void tell(const struct regions_runs *runs, const char *phase) {
	const struct regions_options *options = runs->options;
	if (options->progress)
		options->progress(options->progress_ctx, phase, runs->done + 1, runs->all);
}

static void mpi_add(json_t *config, const char *library, const char *preload, const char *records) {
	mem_auto char *both = mem_printf("%s:%s", library, preload), *prefix = mem_printf("%s/mpi", records);
	json_object_set_new(config, "LD_PRELOAD", json_string(both));
	json_object_set_new(config, "SWEETSPOT_MPI_RECORD", json_string(prefix));
}

static void kokkos_add(json_t *config, const struct regions_options *options, const char *records) {
	mem_auto char *prefix = mem_printf("%s/kokkos", records);
	json_object_set_new(config, options->kokkos_variable, json_string(options->kokkos));
	json_object_set_new(config, "SWEETSPOT_KOKKOS", json_string("look"));
	json_object_set_new(config, "SWEETSPOT_KOKKOS_RECORD", json_string(prefix));
}

/* A program of Kokkos need not have regions of OpenMP. */
static int records_read(const struct regions_runs *runs, const char *records, struct regions_run *run,
                        struct err *err) {
	if (runs->options->mpi)
		run->ranks = regions_ranks_read(records, run->seconds);
	if (runs->options->kokkos)
		run->kokkos = kokkos_seen_read(records, run->seconds);
	run->record = regions_record_read(records, err);
	if (!run->record && run->kokkos)
		*err = (struct err){0};
	else if (!run->record)
		json_decref(run->ranks);
	return run->record || run->kokkos ? 0 : -1;
}

int regions_run_recorded(struct regions_runs *runs, const struct regions_table *table,
                         const struct regions_record *known, double limit_s, const char *phase, struct regions_run *run,
                         struct err *err) {
	mem_auto char *text = table ? regions_table_text(table, known) : NULL;
	mem_auto char *file = mem_printf("%s/table", runs->scratch.path),
				  *records = mem_printf("%s/records", runs->scratch.path);
	mem_auto char *prefix = mem_printf("%s/run", records), *preload = regions_preload(runs->options->library);
	js_auto json_t *config = json_pack("{s:s,s:s}", "LD_PRELOAD", preload, "SWEETSPOT_OMP_RECORD", prefix);
	int failed = interrupted(runs, err) || sys_make_dirs(records, err) ||
	             (text && sys_write_file(file, text, strlen(text), err));
	if (text)
		json_object_set_new(config, "SWEETSPOT_OMP_TABLE", json_string(file));
	if (runs->options->mpi)
		mpi_add(config, runs->options->mpi, preload, records);
	if (runs->options->kokkos)
		kokkos_add(config, runs->options, records);
	*run = (struct regions_run){0};
	tell(runs, phase);
	bool looks = table && table->busy; /* nothing is changed where it only looks */
	failed = failed || measure(runs, config, limit_s, records, looks ? runs->seen : NULL, &run->seconds, err);
	failed = failed || records_read(runs, records, run, err);
	tree_remove(records);
	return failed ? -1 : 0;
}

int regions_run_quiet(struct regions_runs *runs, const struct regions_table *table, const struct regions_record *known,
                      double limit_s, const char *phase, double budget_s, struct regions_run *run, struct err *err) {
	if (regions_run_recorded(runs, table, known, limit_s, phase, run, err))
		return -1;
	double waiting = regions_record_waiting(run->record);
	for (int again = 0; again < REPEATS && waiting > REGIONS_BUSY; again++) {
		struct regions_run other;
		double left = regions_left(runs, budget_s) - run->seconds;
		if (left < 0)
			break;
		busy_wait_seen(runs->busy, WAIT_SHARE * left, runs->options->interrupt);
		if (regions_run_recorded(runs, table, known, limit_s, phase, &other, err))
			return -1;
		double now = regions_record_waiting(other.record);
		if (now < waiting) {
			regions_record_free(run->record);
			*run = other;
			waiting = now;
		} else {
			regions_record_free(other.record);
		}
	}
	runs->waiting = fmax(runs->waiting, waiting);
	return 0;
}

static json_t *tuned_config(const struct regions_runs *runs, const char *table, const char *prefix) {
	mem_auto char *preload = regions_preload(runs->options->library);
	json_t *config = json_pack("{s:s,s:s}", "LD_PRELOAD", preload, "SWEETSPOT_OMP_TABLE", table);
	json_object_update(config, runs->environment);
	if (prefix)
		json_object_set_new(config, "SWEETSPOT_OMP_RECORD", json_string(prefix));
	return config;
}

int regions_run_plain(struct regions_runs *runs, const char *table, bool records, double limit_s, const char *phase,
                      struct regions_run *run, struct err *err) {
	mem_auto char *folder = records ? mem_printf("%s/records", runs->scratch.path) : NULL;
	mem_auto char *prefix = records ? mem_printf("%s/run", folder) : NULL;
	js_auto json_t *config = table ? tuned_config(runs, table, prefix) : json_incref(runs->plain);
	*run = (struct regions_run){0};
	tell(runs, phase);
	int failed = interrupted(runs, err) || (records && sys_make_dirs(folder, err)) ||
	             measure(runs, config, limit_s, folder, table ? runs->seen_changed : runs->seen, &run->seconds, err);
	if (!failed && records)
		run->record = regions_record_read(folder, NULL);
	if (records)
		tree_remove(folder);
	return failed ? -1 : 0;
}
