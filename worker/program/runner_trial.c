/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/text.h"
#include "worker/kernel/word.h"
#include "worker/program/program_impl.h"

/* Empties the folder that the next run gets as TMPDIR, because a program that finds its own cache looks faster. */
/* Most programs leave the folder empty, and to make it anew takes up to ten milliseconds on a file system that passes
 * on which blocks are free. */
static int program_site_refresh(const struct program_site *site, struct err *err) {
	if (tree_is_fresh(site->folder))
		return 0;
	if (tree_remove(site->folder) && errno != ENOENT) {
		return err_set(err, ERR_FAILED, sys_is_denied(errno) ? "does a sandbox forbid rmdir?" : NULL,
		               "cannot remove %s: %s", site->folder, strerror(errno));
	}
	return mkdir(site->folder, 0700) == 0 ? 0
	                                      : err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a fresh %s: %s",
	                                                site->folder, strerror(errno));
}

/* The program's stdin from its start, or -1 and err. A relative path begins in the program's folder. */
/* Opening a pipe without a writer must not block us, but the program may wait for one. */
static int program_site_input(const struct program_site *site, const char *path, struct err *err) {
	struct stat what;
	int at = AT_FDCWD, fd = -1;
	if (site->place.cwd)
		at = open(site->place.cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at >= 0 || at == AT_FDCWD)
		fd = openat(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int why = errno;
	if (fd >= 0 && fstat(fd, &what) == 0 && S_ISDIR(what.st_mode)) {
		close(fd);
		fd = -1;
		why = EISDIR;
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	else
		err_set(err, ERR_FAILED, NULL, "cannot read the input %.200s: %s", path, strerror(why));
	if (at >= 0)
		close(at);
	return fd;
}

#define REMAINS "processes that it started cannot be ended: %s"
enum { PROGRAM_WORDS_KEPT = 200 };
static const double PROGRAM_SIDE_S = 60; /* seconds, for commands before and after a run, unless the request tells */
static const double PROGRAM_LEAST_S = 1e-3;

/* Always false, so that callers can return it. */
__attribute__((format(printf, 3, 4))) static bool fail(struct program_trial *trial, const char *status,
                                                       const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(trial->message, sizeof trial->message, format, ap);
	va_end(ap);
	word_clean(trial->message, sizeof trial->message);
	trial->status = status;
	return false;
}

/* Did somebody else end it, as whoever ends a job does, or take away what it needs to start? A shell reports a killed
 * command by its status. */
static bool is_from_outside(const struct program_run *run) {
	int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : WEXITSTATUS(run->status) - 128;
	return run->end == PROGRAM_UNSTARTED || (run->end == PROGRAM_ENDED && (number == SIGTERM || number == SIGKILL ||
	                                                                       number == SIGHUP || number == SIGBUS));
}

static void program_procfs_close(struct program_procfs *procfs) {
	perf_group_close(&procfs->tree);
}

static void program_procfs_open(struct program_procfs *procfs) {
	procfs->tree.tree = true;
	perf_group_add(&procfs->tree, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
	if (procfs->tree.user_only) /* perf would count 0 */
		program_procfs_close(procfs);
}

/* The last line before `end` that is not blank: returns its start, and sets *end to its end. */
static size_t last_line(const char *text, size_t *end) {
	size_t start;
	while (*end > 0 && strchr(" \t\n", text[*end - 1]))
		(*end)--;
	for (start = *end; start > 0 && text[start - 1] != '\n'; start--)
		continue;
	return start;
}

/* A line such as "-----". */
static bool is_rule(const char *text, size_t start, size_t end) {
	while (start < end && !isalnum((unsigned char)text[start]))
		start++;
	return start == end;
}

/* Open MPI frames what it has to say by lines of dashes: returns the first line between them, where the last line is
 * one. */
static size_t framed_line(const char *text, size_t start, size_t *end) {
	size_t at = start, line = start;
	if (!is_rule(text, start, *end))
		return start;
	while ((line = last_line(text, &at)) < at && !is_rule(text, line, at)) {
		start = line;
		*end = at;
		at = line;
	}
	return start;
}

/* The last line of stderr that is not empty, cleaned; "" if there is none. It is usually the reason. GNU's programs add
 * "Try 'sort --help' for more information." to it. */
static void program_run_words(const struct program_run *run, char *words, size_t size) {
	static const char advice[] = "Try ";
	mem_auto char *text = tail_raw(&run->tail);
	size_t end = strlen(text), start = last_line(text, &end), before = start;
	if (strncmp(text + start, advice, sizeof advice - 1) == 0 && last_line(text, &before) < before) {
		end = start;
		start = last_line(text, &end);
	}
	start = framed_line(text, start, &end);
	bool binary = text_is_binary(text + start, end - start);
	snprintf(words, size, "%.*s", binary ? (int)strlen(PROGRAM_BINARY) : (int)(end - start),
	         binary ? PROGRAM_BINARY : text + start);
	text_clean(words, false);
}

/* "exit status 3: its last words". A shell reports a killed command by a status above 128. */
static void how_ended(const struct program_run *run, uint64_t file_limit, char *text, size_t size) {
	char words[PROGRAM_WORDS_KEPT], file[120] = "", shell[40] = "";
	int inner = WIFEXITED(run->status) && WEXITSTATUS(run->status) > 128 ? WEXITSTATUS(run->status) - 128 : 0;
	int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : inner;
	proc_status_text(run->status, text, size);
	program_run_words(run, words, sizeof words);
	if (proc_signal_name(inner))
		snprintf(shell, sizeof shell, " (128 + SIG%s)", proc_signal_name(inner));
	if (number == SIGXFSZ)
		snprintf(file, sizeof file, ": a file grew over the limit of %llu bytes", (unsigned long long)file_limit);
	size_t used = strlen(text);
	snprintf(text + used, size - used, "%s%s%s%s", shell, file, words[0] ? ": " : "", words);
}

/* Returns the limit for a command that begins now: `seconds` (0: no limit), or the rest of the trial. Sets *ends if the
 * trial ends first. */
static double seconds_left(const struct program_trial *trial, double seconds, bool *ends) {
	double left = fmax(trial->until - sys_now(), PROGRAM_LEAST_S);
	*ends = isfinite(left) && (seconds <= 0 || left < seconds);
	return *ends ? left : seconds;
}

/* True if it ended with status 0; otherwise `how` says how, and *ends whether the time of the trial was up. */
static bool side_run(struct program_trial *trial, const char *line, int in, char *how, size_t size, bool *ends) {
	const char *const argv[] = {"/bin/sh", "-c", line, NULL};
	const struct program_request *request = trial->request;
	double most = fmax(request->side_s > 0 ? request->side_s : PROGRAM_SIDE_S, request->timeout_s);
	const struct program_command command = {
		.argv = argv, .in = in, .joined = true, .seconds = seconds_left(trial, most, ends)};
	struct program_run *side = &trial->side;
	double begun = sys_now();
	program_run(&trial->site.place, &command, side);
	trial->side_s = fmax(trial->side_s, sys_now() - begun);
	*ends = *ends && side->end == PROGRAM_LATE;
	trial->abandoned = side->end == PROGRAM_ABANDONED;
	trial->outside = trial->outside || is_from_outside(side);
	switch (side->end) {
	case PROGRAM_UNSTARTED:
		snprintf(how, size, "%.300s", side->err.what);
		break;
	case PROGRAM_LATE:
		snprintf(how, size, "timed out after %.3g s", command.seconds);
		break;
	case PROGRAM_REMAINS:
		snprintf(how, size, REMAINS, side->remains);
		break;
	default:
		how_ended(side, trial->site.place.file_limit, how, size);
		break;
	}
	return side->end == PROGRAM_ENDED && side->status == 0;
}

static bool before(struct program_trial *trial) {
	char how[PROGRAM_MESSAGE];
	bool ends;
	return !trial->request->before || side_run(trial, trial->request->before, -1, how, sizeof how, &ends) ||
	       fail(trial, ends ? "timeout" : "runtime", "before the run: %s", how);
}

/* A shell's statuses for a command that it cannot execute or does not find: the output was never looked at. */
static bool is_unstartable(const struct program_run *side) {
	int status = side->end == PROGRAM_ENDED && WIFEXITED(side->status) ? WEXITSTATUS(side->status) : 0;
	return status == 126 || status == 127;
}

/* The status by which tests say that they were skipped (GNU Automake, "Scripts-based Testsuites"). */
static bool is_skip(const struct program_run *side) {
	enum { SKIPPED = 77 };
	return side->end == PROGRAM_ENDED && WIFEXITED(side->status) && WEXITSTATUS(side->status) == SKIPPED;
}

static bool verified(struct program_trial *trial) {
	char how[PROGRAM_MESSAGE];
	if (!trial->request->verify)
		return true;
	double begun = sys_now();
	bool ends, right = side_run(trial, trial->request->verify, trial->output.spool, how, sizeof how, &ends);
	trial->verify_s += sys_now() - begun;
	if (is_skip(&trial->side)) {
		program_run_words(&trial->side, trial->unchecked, sizeof trial->unchecked);
		if (!trial->unchecked[0])
			snprintf(trial->unchecked, sizeof trial->unchecked, "the command of --verify could not check it");
		return true;
	}
	return right || fail(trial, ends ? "timeout" : "correctness", "%s: %s",
	                     is_unstartable(&trial->side) ? "the command of --verify cannot be run" : "verify", how);
}

static double patience(const struct program_trial *trial, const struct program_again *again, bool *censors) {
	const struct program_request *request = trial->request;
	bool ends;
	*censors = !again && request->cut_s > 0 && (request->timeout_s <= 0 || request->cut_s < request->timeout_s);
	double most = again ? request->timeout_s * again->slowdown : *censors ? request->cut_s : request->timeout_s;
	double seconds = seconds_left(trial, most, &ends);
	*censors = *censors && !ends;
	return seconds;
}

static bool ended_well(struct program_trial *trial, double seconds, bool censors) {
	const struct program_run *run = &trial->run;
	char how[PROGRAM_MESSAGE];
	trial->outside = trial->outside || is_from_outside(run);
	switch (run->end) {
	case PROGRAM_UNSTARTED:
		return fail(trial, "runtime", "%s", run->err.what);
	case PROGRAM_LATE:
		return censors ? fail(trial, "censored", "cut short after %.3g s", seconds)
		               : fail(trial, "timeout", "timed out after %.3g s", seconds);
	case PROGRAM_REFUSED:
		return fail(trial, "runtime", "%s", trial->output.failure);
	case PROGRAM_STUCK:
		return fail(trial, "runtime", "it cannot be killed");
	case PROGRAM_REMAINS:
		return fail(trial, "runtime", REMAINS, run->remains);
	case PROGRAM_ABANDONED:
		trial->abandoned = true;
		return fail(trial, "runtime", "the client is gone");
	case PROGRAM_ENDED:
		break;
	}
	how_ended(run, trial->site.place.file_limit, how, sizeof how);
	return run->status == 0 || fail(trial, "runtime", "%s", how);
}

/* The joules of the run that has ended: counted, or what a command prints. */
static bool energy_record(struct program_trial *trial) {
	const struct program_request *request = trial->request;
	char how[PROGRAM_MESSAGE], text[64] = "", *end = text;
	bool ends, good = true;
	if (request->energy && request->energy_command) {
		mem_auto char *path = mem_printf("%s/joules", trial->site.scratch.path);
		mem_auto char *line = mem_printf("{ %s\n} >'%s'", request->energy_command, path);
		good = side_run(trial, line, -1, how, sizeof how, &ends);
		if (good)
			sys_read_line(path, text, sizeof text);
		if (!good)
			return fail(trial, "runtime", "the command of --energy-command: %s", how);
		trial->joules_now = strtod(text, &end);
		good = end != text;
	}
	return !request->energy || (good && isfinite(trial->joules_now) && trial->joules_now > 0) ||
	       fail(trial, "runtime",
	            request->energy_command ? "the command of --energy-command printed no joules, but \"%s\""
	                                    : "RAPL counted no energy during the run%s",
	            text);
}

/* The time of one kernel, from the records that the run has left. */
static bool kernel_record(struct program_trial *trial, double *value) {
	struct gpu_work *work = gpu_work_read(&trial->watch);
	struct err err;
	bool good = gpu_work_kernel(work, trial->request->kernel, value, &err) == 0;
	gpu_work_free(work);
	return good || fail(trial, "runtime", "%s", err.what);
}

/* A program may also print its figures to stderr. */
static bool metric_record(struct program_trial *trial, double *value) {
	struct program_metric *metric = trial->output.metric;
	struct err err;
	if (!metric)
		return true;
	mem_auto char *errors = tail_text(&trial->run.tail);
	int found = program_metric_value(metric, errors, value, &err);
	if (found == 0)
		return true;
	if (found > 0) {
		trial->bound = *value;
		return fail(trial, "censored", "it gave up at %.6g", *value);
	}
	if (isfinite(*value) && *value <= 0)
		trial->refused = *value;
	return fail(trial, "runtime", "%s", err.what);
}

static bool same_output(struct program_trial *trial, const char *hash) {
	if (!trial->request->hash)
		return true;
	if (!trial->hash[0])
		memcpy(trial->hash, hash, sizeof trial->hash);
	return strcmp(trial->hash, hash) == 0 ||
	       fail(trial, "correctness", "its output differs between runs of the same configuration");
}

/* True if the median is bound to exceed the limit, whatever the rest will be. */
static bool can_win(struct program_trial *trial) {
	const struct program_request *request = trial->request;
	int over = 0;
	for (size_t i = 0; i < trial->count; i++)
		over += trial->samples[i] > request->limit_s;
	return request->limit_s <= 0 || request->metric || 2 * over <= request->samples ||
	       fail(trial, "censored", "%d of %d samples were over the limit of %g s", over, request->samples,
	            request->limit_s);
}

static void program_fly(struct program_trial *trial, const struct program_command *command,
                        const struct program_again *again) {
	struct program_place place = trial->site.place;
	if (again && again->environment)
		place.environment = again->environment;
	if (again && again->start)
		again->start(again->ctx);
	struct rapl_sample begin, end;
	bool counts = trial->meter && rapl_meter_read(trial->meter, &begin) == 0;
	program_run(&place, command, &trial->run);
	trial->joules_now = NAN;
	if (counts && rapl_meter_read(trial->meter, &end) == 0) {
		trial->joules_now = rapl_meter_joules(trial->meter, RAPL_PACKAGE, &begin, &end) +
		                    rapl_meter_joules(trial->meter, RAPL_DRAM, &begin, &end);
	}
	if (again && again->stop)
		again->stop(again->ctx);
}

/* hash: of what it prints. */
static bool program_once(struct program_trial *trial, const struct program_again *again, double *steal_s,
                         char hash[SHA256_TEXT]) {
	const struct program_request *request = trial->request;
	struct err err;
	bool censors;
	struct program_command command = {.argv = again && again->argv ? again->argv : request->argv,
	                                  .in = -1,
	                                  .seconds = patience(trial, again, &censors),
	                                  .output = program_output_wanted(&trial->output) ? &trial->output : NULL,
	                                  .joined = request->show,
	                                  .procfs = again ? NULL : &trial->procfs};
	if (request->input) {
		command.in = program_site_input(&trial->site, request->input, &err);
		if (command.in < 0)
			return fail(trial, "runtime", "%s", err.what);
	}
	bool seen = request->evidence && !again;
	struct written *written = seen && !request->shared ? written_begin(request->cwd) : NULL;
	program_output_start(&trial->output);
	double steal = trial->steal_s > 0 ? noise_steal() : 0;
	program_fly(trial, &command, again);
	*steal_s = trial->steal_s > 0 ? noise_steal() - steal : 0;
	if (command.in >= 0)
		close(command.in);
	json_decref(trial->files);
	trial->files = written ? written_end(written) : seen ? json_null() : NULL;
	bool accepted = program_output_end(&trial->output, hash); /* also of a run that fails, as it may say why */
	return ended_well(trial, command.seconds, censors) &&
	       (accepted || fail(trial, "runtime", "%s", trial->output.failure));
}

/* The files of the last run are taken over. */
static void evidence_keep(struct program_trial *trial, const char *hash) {
	if (trial->files) {
		program_witness_add(trial->evidence, &trial->run, &trial->output, hash, trial->files);
		trial->files = NULL;
	}
}

/* again: NULL for warm-up and samples. */
static bool run_once(struct program_trial *trial, const struct program_again *again, double *metric, double *steal_s) {
	char hash[SHA256_TEXT];
	struct err err;
	bool timed = trial->request->kernel && !again; /* runs that count may be without the library */
	if (program_site_refresh(&trial->site, &err) != 0 || (timed && gpu_watch_refresh(&trial->watch, &err) != 0))
		return fail(trial, "runtime", "%s", err.what);
	if (!before(trial) || !program_once(trial, again, steal_s, hash))
		return false;
	evidence_keep(trial, hash);
	if (!again && !energy_record(trial))
		return false;
	return (timed ? kernel_record(trial, metric) : metric_record(trial, metric)) && same_output(trial, hash) &&
	       verified(trial);
}

static bool sample_record(struct program_trial *trial) {
	double metric = NAN, steal_s = 0;
	if (!run_once(trial, NULL, &metric, &steal_s)) {
		trial->lost_s = trial->run.end == PROGRAM_LATE ? steal_s : 0;
		return false;
	}
	trial->metrics[trial->count] = metric;
	trial->joules[trial->count] = trial->joules_now;
	trial->samples[trial->count++] = trial->run.seconds;
	program_usage_add(trial->usage, &trial->run, steal_s);
	return can_win(trial);
}

void program_trial_runs(struct program_trial *trial) {
	const struct program_request *request = trial->request;
	double metric, steal_s;
	bool going = true;
	program_procfs_open(&trial->procfs);
	trial->steal_s = noise_steal();
	for (int i = 0; i < request->warmup && going; i++)
		going = run_once(trial, NULL, &metric, &steal_s);
	for (int i = 0; i < request->samples && going; i++)
		going = sample_record(trial);
	program_procfs_close(&trial->procfs);
}

bool program_trial_again(struct program_trial *trial, const struct program_again *again, char *why, size_t size) {
	double metric, steal_s;
	bool good = run_once(trial, again, &metric, &steal_s);
	if (!good)
		snprintf(why, size, "%s", trial->message);
	trial->status = NULL;
	trial->message[0] = '\0';
	return good;
}
