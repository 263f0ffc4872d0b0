/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/pipe.h"
#include "base/proc/reap.h"
#include "base/proc/work.h"
#include "base/stats.h"
#include "base/sys.h"
#include "worker/program/program_impl.h"
#include <sys/statvfs.h>

/* Kernels that are counted run several times. */
static const double COUNT_SLOWDOWN = 10;

/* The trial's environment and further variables ("NAME=VALUE", NULL-terminated); free(3). */
static char **program_site_environment(struct arena *arena, const struct program_request *request,
                                       const char *const *variables) {
	size_t count = 0, more = 0;
	while (request->set[count])
		count++;
	while (variables[more])
		more++;
	const char **set = arena_alloc(arena, count + more + 1, sizeof *set);
	memcpy(set, request->set, count * sizeof *set);
	memcpy(set + count, variables, more * sizeof *set);
	return proc_environment(request->unset, set);
}

static void program_site_close(struct program_site *site) {
	free(site->place.environment);
	if (site->place.nothing >= 0)
		close(site->place.nothing);
	scratch_close(&site->scratch);
}

/* The work of one run; NULL and err. */
static struct gpu_work *run_watched(struct arena *arena, struct program_trial *trial, const char *metrics,
                                    struct err *err) {
	struct program_again again = {.slowdown = metrics ? COUNT_SLOWDOWN : 1};
	struct gpu_watch watch;
	char why[PROGRAM_MESSAGE];
	if (gpu_watch_open(arena, trial->site.scratch.path, metrics, &watch, err) != 0)
		return NULL;
	again.environment = program_site_environment(arena, trial->request, watch.variables);
	bool good = program_trial_again(trial, &again, why, sizeof why);
	free(again.environment);
	if (good)
		return gpu_work_read(&watch);
	return err_null(err_set(err, ERR_FAILED, NULL, "the traced run failed: %.300s", why));
}

static void note_add(json_t *json, const char *format, const char *why) {
	json_array_append_new(json_object_get(json, "notes"), json_sprintf(format, why));
}

/* The counters of the program, in the form of those that count processes. */
static void totals_add(struct arena *arena, const struct counter_plan *plan, const struct cupti_chip *chip,
                       const double *totals, json_t *reply) {
	struct counting counting;
	counting_init(arena, plan, 0, &counting);
	counting.runs = 1;
	counting.seconds = NAN;
	for (size_t i = 0; i < plan->event_count; i++) {
		struct counted *one = &counting.events[i];
		double scale;
		if (!isfinite(totals[i]) && plan->events[i].backend)
			counted_miss(one, "no kernel was counted");
		one->total = totals[i];
		if (isfinite(totals[i]) && !one->unit)
			one->unit = cupti_chip_unit(chip, plan->events[i].event, &scale);
	}
	json_object_set_new(reply, "counters", counting_events_json(plan, &counting));
	json_object_set_new(reply, "counting", counting_json(plan, &counting, 0));
}

/* CUPTI puts memory back between the passes of a kernel, but a kernel that depends on something else may go wrong. */
static void gpu_run_count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                          json_t *json, json_t *reply) {
	const char *metrics = gpu_counts_metrics(arena, plan);
	char reason[COUNTER_REASON] = "";
	int index = 0;
	struct err err;
	if (!metrics) {
		const struct counter_event *first = plan->event_count ? &plan->events[0] : NULL;
		note_add(json, "no kernel can be counted: %s",
		         first && !first->backend ? first->reason : "none of these counters belongs to a GPU's kernels");
		return;
	}
	const struct cupti_chip *chip =
		gpu_index(trial->request->device, &index, &err) == 0 ? cupti_chip_here(index, reason) : NULL;
	struct gpu_work *work = chip ? run_watched(arena, trial, metrics, &err) : NULL;
	double *totals = arena_alloc(arena, plan->event_count + 1, sizeof *totals);
	if (work) {
		gpu_counts_add(json, work, plan, chip, totals);
		totals_add(arena, plan, chip, totals, reply);
	} else
		note_add(json, "the kernels were not counted: %s", chip ? err.what : reason);
	gpu_work_free(work);
}

/* As gpu_work_json; without the run, it has only notes: the reason, and a remedy if there is one. plan: what to count
 * of each kernel, in a further run; NULL: nothing. New reference. */
static json_t *program_gpu_run(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                               json_t *reply) {
	struct err err = {0};
	struct gpu_work *work = run_watched(arena, trial, NULL, &err);
	if (!work)
		return json_pack("{s:[s, s*]}", "notes", err.what, err.hint[0] ? err.hint : NULL);
	json_t *json = gpu_work_json(work);
	json_object_set_new(json, "seconds", json_real(trial->run.seconds));
	if (plan && work->processes > 0 && !trial->abandoned)
		gpu_run_count(arena, trial, plan, json, reply);
	gpu_work_free(work);
	return json;
}

static const struct regions_event events_usual[] = {
	{"task_clock", "s", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-9},
	{"page_faults", "count", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1},
};

static bool event_make(const struct counter_event *event, struct regions_event *out) {
	struct perf_name perf;
	const char *rest = event->event;
	if (!event->backend || strcmp(event->backend->name, "perf") != 0 || strpbrk(event->name, ",=:") ||
	    !perf_name_next(&rest, &perf) || perf.pmu[0] || *rest)
		return false;
	*out =
		(struct regions_event){event->name, perf.clock ? "s" : "count", perf.type, perf.config, perf.clock ? 1e-9 : 1};
	return true;
}

static const struct regions_event *events_choose(struct arena *arena, const struct counter_plan *plan, size_t *count) {
	struct regions_event *events = arena_alloc(arena, REGIONS_EVENTS_MAX, sizeof *events);
	*count = 0;
	for (size_t i = 0; plan && i < plan->event_count && *count < REGIONS_EVENTS_MAX; i++)
		*count += event_make(&plan->events[i], &events[*count]);
	if (*count > 0)
		return events;
	*count = sizeof events_usual / sizeof *events_usual;
	return events_usual;
}

int regions_prepare(struct arena *arena, const char *scratch, const struct regions_event *events, size_t count,
                    struct regions *regions, struct err *err) {
	char *folder = arena_printf(arena, "%s/regions-XXXXXX", scratch), *list = arena_strdup(arena, "");
	*regions = (struct regions){.folder = folder, .events = events, .event_count = count};
	if (count > REGIONS_EVENTS_MAX) {
		return err_set(err, ERR_USAGE, NULL, "a region cannot count %zu events: the limit is %d", count,
		               REGIONS_EVENTS_MAX);
	}
	if (!mkdtemp(folder)) {
		return err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a folder in %s: %s", scratch,
		               strerror(errno));
	}
	for (size_t i = 0; i < count; i++) {
		list = arena_printf(arena, "%s%s%s=%" PRIu32 ":0x%" PRIx64, list, i ? "," : "", events[i].name, events[i].type,
		                    events[i].config);
	}
	regions->variables[0] = arena_printf(arena, "SWEETSPOT_REGIONS=%s", folder);
	regions->variables[1] = arena_printf(arena, "SWEETSPOT_REGION_EVENTS=%s", list);
	return 0;
}

/* The events are those that the plan counts through perf, or a few that every kernel counts if there are none; plan
 * may be NULL. */
static void regions_run_open(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                             struct regions_run *run) {
	size_t count;
	const struct regions_event *events = events_choose(arena, plan, &count);
	*run = (struct regions_run){.environment = NULL};
	if (regions_prepare(arena, trial->site.scratch.path, events, count, &run->regions, &run->err) == 0)
		run->environment = program_site_environment(arena, trial->request, run->regions.variables);
}

static json_t *regions_collect(struct program_trial *trial, struct regions_run *run, bool done, json_t **notes) {
	const struct program_again again = {.environment = run->environment, .slowdown = 1};
	char why[PROGRAM_MESSAGE];
	bool good = done || program_trial_again(trial, &again, why, sizeof why);
	json_t *found = regions_read(&run->regions, notes);
	if (!good)
		json_array_append_new(*notes, json_sprintf("the run for the regions failed: %s", why));
	return found;
}

/* Makes a run of its own if none was made, and sets "regions" if there are any, and "regions_notes" if something was
 * lost. */
static void regions_run_close(struct program_trial *trial, struct regions_run *run, bool done, json_t *reply) {
	js_auto json_t *notes = NULL, *found = NULL;
	if (!run->environment)
		notes = json_pack("[s]", run->err.what);
	else if (!trial->abandoned)
		found = regions_collect(trial, run, done, &notes);
	if (json_array_size(found) > 0)
		json_object_set(reply, "regions", found);
	if (json_array_size(notes) > 0)
		json_object_set(reply, "regions_notes", notes);
	free(run->environment);
}

struct program_guard {
	int signal; /* the signal that the parent's death sends; 0: none */
	pid_t parent;
	struct rlimit limits[RLIM_NLIMITS];
};

/* While programs run, the tuner's death must not kill the worker before it has cleaned up. */

/* From then on orphans of a program come to this process; true the first time. */
static bool program_guard_begin(struct program_guard *guard) {
	int adopts = 0;
	*guard = (struct program_guard){.parent = getppid()};
	prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0);
	reap_adopt();
	signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored the kernel would keep neither status nor usage */
	if (prctl(PR_GET_PDEATHSIG, &guard->signal, 0, 0, 0) == 0 && guard->signal)
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &guard->limits[i]);
	return !adopts;
}

/* Has a program lowered the limits of this process, its parent (prlimit)? Then it cannot run anything more. */
static bool program_guard_robbed(const struct program_guard *guard) {
	struct rlimit now;
	bool robbed = false;
	for (int i = 0; i < RLIM_NLIMITS; i++)
		robbed = robbed || (getrlimit(i, &now) == 0 && now.rlim_cur < guard->limits[i].rlim_cur);
	return robbed;
}

/* Arm first, then check, so that a parent that dies in between is noticed by one or the other. */
/* Restores the earlier state; false if the parent has died meanwhile. */
static bool program_guard_end(const struct program_guard *guard) {
	if (guard->signal)
		prctl(PR_SET_PDEATHSIG, guard->signal, 0, 0, 0);
	return !guard->signal || getppid() == guard->parent;
}

/* Counts after the samples, and only if the program got that far. The first counted run reports its regions. */
static void count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, json_t *reply) {
	struct counting counting = {.runs = 0};
	struct regions_run regions;
	if ((!plan && !trial->request->regions) || trial->request->device || trial->status || trial->abandoned)
		return;
	regions_run_open(arena, trial, plan, &regions);
	if (plan) {
		program_count(arena, trial, plan, regions.environment, &counting);
		json_object_set_new(reply, "counters", counting_events_json(plan, &counting));
		json_object_set_new(reply, "counting", counting_json(plan, &counting, 0));
	}
	regions_run_close(trial, &regions, counting.runs > 0, reply);
}

/* Reports its work on GPUs, from a run of its own after the samples. */
static void watch_gpu(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      json_t *reply) {
	if (trial->request->device && !trial->status && !trial->abandoned)
		json_object_set_new(reply, "gpu_work", program_gpu_run(arena, trial, plan, reply));
}

enum { RECORD_MAX = 16384, RANKS_MAX = 4096 };

/* The seconds that a rank was in calls of MPI, from what libsweetspot-mpi has left: "MPI_Wait 3 501768264". */
static double rank_waited(const char *path) {
	size_t size;
	mem_auto char *text = sys_read_file(path, RECORD_MAX, &size, NULL);
	unsigned long long ns;
	double sum = 0;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (sscanf(line, "MPI_%*s %*u %llu", &ns) == 1)
			sum += (double)ns * 1e-9;
	return sum;
}

/* The mean over the ranks that have left a record; NAN: none has. */
static double ranks_waited(const char *folder) {
	DIR *dir = opendir(folder);
	double sum = 0;
	int count = 0;
	for (struct dirent *entry; dir && count < RANKS_MAX && (entry = readdir(dir));)
		if (strncmp(entry->d_name, "mpi.", 4) == 0) {
			mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name);
			sum += rank_waited(path);
			count++;
		}
	if (dir)
		closedir(dir);
	return count ? sum / count : NAN;
}

static double mpi_run(struct arena *arena, struct program_trial *trial, const char *library) {
	char *folder = arena_printf(arena, "%s/mpi-XXXXXX", trial->site.scratch.path), why[PROGRAM_MESSAGE];
	const char *others = getenv("LD_PRELOAD");
	if (!mkdtemp(folder))
		return NAN;
	const char *const variables[] = {
		arena_printf(arena, "LD_PRELOAD=%s%s%s", library, others ? ":" : "", others ? others : ""),
		arena_printf(arena, "SWEETSPOT_MPI_RECORD=%s/mpi", folder), NULL};
	const struct program_again again = {.environment = program_site_environment(arena, trial->request, variables),
	                                    .slowdown = 1};
	bool good = program_trial_again(trial, &again, why, sizeof why);
	free(again.environment);
	return good ? ranks_waited(folder) / trial->run.seconds : NAN;
}

/* Parts of the time of a program that a launcher of MPI starts, from a run of its own: calls in which ranks wait for
 * each other, and the rest. */
static void watch_mpi(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      json_t *reply) {
	mem_auto char *ranks = plan && !trial->status && !trial->abandoned ? work_ranks(trial->request->argv) : NULL;
	const char *library = ranks ? gpu_watch_library(arena, "mpi") : NULL;
	double share = library ? mpi_run(arena, trial, library) : NAN;
	if (!(share >= 0))
		return;
	double all = stats_median(trial->samples, trial->count), part = fmin(share, 1) * all;
	json_object_set_new(reply, "figures",
	                    json_pack("[{s:s,s:s,s:f},{s:s,s:s,s:f}]", "name", "calls of MPI", "unit", "s", "value", part,
	                              "name", "the rest", "unit", "s", "value", all - part));
}

/* Every run is watched. */
static int kernel_open(struct arena *arena, struct program_trial *trial, struct err *err) {
	if (gpu_watch_open(arena, trial->site.scratch.path, NULL, &trial->watch, err) != 0)
		return -1;
	free(trial->site.place.environment);
	trial->site.place.environment = program_site_environment(arena, trial->request, trial->watch.variables);
	return 0;
}

enum { PLACE_FILE_LEAST = 1 << 20 };
static const double PLACE_FREE_SHARE = 0.9;

/* One endless file must not fill the disk. */
static uint64_t file_limit(const char *cwd) {
	struct statvfs room;
	if (statvfs(cwd ? cwd : ".", &room) != 0)
		return 0;
	double bytes = PLACE_FREE_SHARE * (double)room.f_bavail * (double)room.f_frsize;
	return bytes < PLACE_FILE_LEAST ? PLACE_FILE_LEAST : bytes < 0x1p62 ? (uint64_t)bytes : 0;
}

/* Watch: as in struct program_place. */
static int program_site_open(struct arena *arena, struct program_request *request, int watch, struct program_site *site,
                             struct err *err) {
	*site = (struct program_site){.place = {.cwd = request->cwd, .watch = watch, .nothing = -1}};
	if (scratch_open(&site->scratch, SCRATCH_RUN, err) != 0)
		return -1;
	site->place.nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (site->place.nothing < 0)
		return err_set(err, ERR_FAILED, NULL, "cannot open /dev/null: %s", strerror(errno));
	site->folder = arena_printf(arena, "%s/tmp", site->scratch.path);
	request->set[0] = arena_printf(arena, "TMPDIR=%s", site->folder);
	site->place.environment = proc_environment(request->unset, request->set);
	site->place.file_limit = request->file_limit ? request->file_limit : file_limit(request->cwd);
	return 0;
}

static int trial_open(struct arena *arena, struct program_trial *trial, struct program_request *request, int watch,
                      struct err *err) {
	trial->output.keep = request->hash || request->evidence;
	trial->evidence = request->evidence ? json_array() : NULL;
	if (request->metric) {
		trial->output.metric = program_metric_new(request->metric, err);
		if (!trial->output.metric)
			return -1;
	}
	if (program_site_open(arena, request, watch, &trial->site, err) != 0)
		return -1;
	if (request->kernel && kernel_open(arena, trial, err) != 0)
		return -1;
	if (request->verify) {
		trial->output.spool = scratch_file(&trial->site.scratch);
		if (trial->output.spool < 0) {
			return err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a file in %s: %s",
			               trial->site.scratch.path, strerror(errno));
		}
	}
	trial->samples = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->metrics = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->joules = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->usage = program_usage_new(arena, (size_t)request->samples);
	if (request->energy && !request->energy_command) {
		trial->meter = arena_alloc(arena, 1, sizeof *trial->meter);
		rapl_meter_open(trial->meter, "");
	}
	return 0;
}

static void program_run_free(struct program_run *run) {
	free(run->tail.data);
	run->tail.data = NULL;
}

static void trial_close(struct program_trial *trial) {
	program_output_free(&trial->output);
	json_decref(trial->evidence);
	json_decref(trial->files);
	if (trial->meter)
		rapl_meter_close(trial->meter);
	program_run_free(&trial->run);
	program_run_free(&trial->side);
	program_site_close(&trial->site);
}

int program_site_counted(struct arena *arena, const char *device, struct counter_site *site, struct err *err) {
	struct gpu_facts *facts = arena_alloc(arena, 1, sizeof *facts);
	int index = 0;
	*site = (struct counter_site){.tree = !device, .device = device ? facts : NULL};
	if (device && gpu_index(device, &index, err) != 0)
		return -1;
	if (device && !gpu_probe(index, facts))
		facts->index = index; /* the backends say what is missing */
	return 0;
}

/* An unknown name is a bad request, so nothing runs. */
static int counters_ask(struct counters *counters, struct arena *arena, const struct program_request *request,
                        struct counter_plan **plan, struct err *err) {
	struct counter_site site;
	if (program_site_counted(arena, request->device, &site, err) != 0)
		return -1;
	if (request->counters[0])
		*plan = counters_plan(counters, arena, request->counters, &site, err);
	return request->counters[0] && !*plan ? -1 : 0;
}

/* The samples are worth nothing beside what the program did to the worker, which must be replaced. */
static void robbed(json_t *reply) {
	json_object_set_new(reply, "status", json_string("runtime"));
	json_object_set_new(reply, "message",
	                    json_string("it lowered the limits of the process that measures it (prlimit)"));
	json_object_set_new(reply, "ending", json_true());
}

json_t *program_answer(int watch, struct counters *counters, const json_t *json, bool *abandoned, struct err *err) {
	struct arena *arena = arena_new();
	struct program_request request;
	struct program_trial trial = {
		.request = &request, .output = {.spool = -1}, .site = {.place = {.nothing = -1}, .scratch = {.fd = -1}}};
	struct program_guard guard;
	struct counter_plan *plan = NULL;
	json_t *reply = NULL;
	double start = sys_now();
	trial.until = INFINITY;
	trial.refused = trial.bound = NAN;
	*abandoned = false;
	if (program_request_read(arena, json, &request, err) != 0 ||
	    counters_ask(counters, arena, &request, &plan, err) != 0) {
		arena_free(arena);
		return NULL;
	}
	if (request.left_s > 0)
		trial.until = start + request.left_s;
	if (program_guard_begin(&guard))
		scratch_tidy(SCRATCH_RUN);
	if (trial_open(arena, &trial, &request, watch, err) == 0) {
		program_trial_runs(&trial);
		reply = program_reply_new(&trial);
		count(arena, &trial, plan, reply);
		watch_mpi(arena, &trial, plan, reply);
		watch_gpu(arena, &trial, plan, reply);
		json_object_set_new(reply, "verify_s", json_real(trial.verify_s));
		json_object_set_new(reply, "side_s", json_real(trial.side_s));
		json_object_set_new(reply, "elapsed_s", json_real(sys_now() - start));
	}
	if (reply && program_guard_robbed(&guard))
		robbed(reply);
	trial_close(&trial);
	counter_plan_clear(plan);
	*abandoned = !program_guard_end(&guard) || trial.abandoned;
	arena_free(arena);
	return reply;
}
