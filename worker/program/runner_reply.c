/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer to a trial: its samples, the use of resources, and the program's last words. */
#include "worker/program/program_impl.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "base/text.h"

/* name in JSON, and whether it is a count (else a time) */
#define FIGURES(X)                                                                                                     \
	X(USER, "user_s")                                                                                                  \
	X(SYSTEM, "system_s")                                                                                              \
	X(MAX_RSS, "max_rss_bytes")                                                                                        \
	X(MINOR, "minor_faults")                                                                                           \
	X(MAJOR, "major_faults")                                                                                           \
	X(VOLUNTARY, "voluntary_switches")                                                                                 \
	X(INVOLUNTARY, "involuntary_switches")                                                                             \
	X(MIGRATIONS, "migrations")                                                                                        \
	X(RUN_DELAY, "run_delay_s")

enum figure {
#define FIGURE_ENUM(name, word) FIGURE_##name,
	FIGURES(FIGURE_ENUM)
#undef FIGURE_ENUM
		FIGURE_COUNT
};

static const char *const figure_words[FIGURE_COUNT] = {
#define FIGURE_WORD(name, word) word,
	FIGURES(FIGURE_WORD)
#undef FIGURE_WORD
};

struct program_usage {
	double *figures[FIGURE_COUNT]; /* of each run; NAN: unknown */
	const char *reasons[FIGURE_COUNT];
	size_t count;
	double steal_s;
};

struct program_usage *program_usage_new(struct arena *arena, size_t runs) {
	struct program_usage *usage = arena_alloc(arena, 1, sizeof *usage);
	for (int i = 0; i < FIGURE_COUNT; i++)
		usage->figures[i] = arena_alloc(arena, runs, sizeof(double));
	return usage;
}

static double seconds(struct timeval time) {
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* The copy touches a few more pages before exec. */
static const double USAGE_COPY_GROWS = 1 << 20;

/* A process begins as a copy of this one, whose resident set is part of its maximum. This is the copy's size. */
static double copy_size(void) {
	struct rusage usage;
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	return pid > 0 && wait4(pid, &status, 0, &usage) == pid ? (double)usage.ru_maxrss * 1024 : 0;
}

/* The copy is never larger than this process, so that no copy is made to tell of a program that is. */
static bool is_of_copy(double size) {
	struct rusage own;
	if (getrusage(RUSAGE_SELF, &own) == 0 && size > (double)own.ru_maxrss * 1024 + USAGE_COPY_GROWS)
		return false;
	return size <= copy_size() + USAGE_COPY_GROWS;
}

void program_usage_add(struct program_usage *usage, const struct program_run *run, double steal_s) {
	const struct rusage *u = &run->usage;
	const double figures[FIGURE_COUNT] = {
		[FIGURE_USER] = seconds(u->ru_utime),           [FIGURE_SYSTEM] = seconds(u->ru_stime),
		[FIGURE_MAX_RSS] = (double)u->ru_maxrss * 1024, [FIGURE_MINOR] = (double)u->ru_minflt,
		[FIGURE_MAJOR] = (double)u->ru_majflt,          [FIGURE_VOLUNTARY] = (double)u->ru_nvcsw,
		[FIGURE_INVOLUNTARY] = (double)u->ru_nivcsw,    [FIGURE_MIGRATIONS] = run->extra.migrations,
		[FIGURE_RUN_DELAY] = run->extra.run_delay_s,
	};
	for (int i = 0; i < FIGURE_COUNT; i++)
		usage->figures[i][usage->count] = figures[i];
	if (isnan(run->extra.migrations))
		usage->reasons[FIGURE_MIGRATIONS] = run->extra.no_migrations;
	if (isnan(run->extra.run_delay_s))
		usage->reasons[FIGURE_RUN_DELAY] = run->extra.no_run_delay;
	usage->steal_s += steal_s;
	usage->count++;
}

/* NAN if one of the runs does not know. */
static double median(const struct program_usage *usage, enum figure figure) {
	for (size_t i = 0; i < usage->count; i++)
		if (isnan(usage->figures[figure][i]))
			return NAN;
	return stats_median(usage->figures[figure], usage->count);
}

static double total(const struct program_usage *usage, enum figure figure) {
	double sum = 0;
	for (size_t i = 0; i < usage->count; i++)
		sum += usage->figures[figure][i];
	return sum;
}

static json_t *number(double value) {
	return value == rint(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value) : js_number(value);
}

/* Sets "usage", "usage_reasons" for figures that are null, and "noise". */
static void program_usage_set(const struct program_usage *usage, json_t *reply) {
	json_t *figures = json_object(), *reasons = json_object();
	for (int i = 0; i < FIGURE_COUNT; i++) {
		const char *why = usage->reasons[i];
		double value = median(usage, i);
		if (i == FIGURE_MAX_RSS && is_of_copy(value)) {
			value = NAN;
			why = "too small to be distinguished from the process that starts it";
		}
		json_object_set_new(figures, figure_words[i], number(value));
		if (isnan(value))
			json_object_set_new(reasons, figure_words[i], json_string(why ? why : "unknown"));
	}
	json_object_set_new(reply, "usage", figures);
	if (json_object_size(reasons) > 0)
		json_object_set(reply, "usage_reasons", reasons);
	json_decref(reasons);
	json_object_set_new(reply, "noise",
	                    json_pack("{s:o, s:o, s:f}", "involuntary", number(total(usage, FIGURE_INVOLUNTARY)),
	                              "run_delay_s", js_number(total(usage, FIGURE_RUN_DELAY)), "steal_s", usage->steal_s));
}

/* The last bytes as text, with blanks for zeros; the caller frees it. */
static char *digest_end_text(const struct digest *digest) {
	char *text = mem_alloc(digest->tail_size + 1, 1);
	for (size_t i = 0; i < digest->tail_size; i++)
		text[i] = digest->tail[i] ? digest->tail[i] : ' ';
	return text;
}

enum { SAID_LINES = 10, SAID_LINES_SHOWN = 1000, SAID_LINE = 400 };

/* Lines of binary data say nothing, so a few words replace a run of them. */
static void line_add(json_t *lines, const char *line, bool binary) {
	const char *last = json_string_value(json_array_get(lines, json_array_size(lines) - 1));
	if (binary && last && strcmp(last, PROGRAM_BINARY) == 0)
		return;
	json_array_append_new(lines, json_string(binary ? PROGRAM_BINARY : line));
}

/* Adds the last lines of the text that are not empty. */
static void lines_add(json_t *lines, char *text, size_t most) {
	size_t end = strlen(text), start, count = 0;
	for (start = end; start > 0 && count < most; start--)
		count += text[start - 1] == '\n' && start < end;
	start += count == most ? 1 : 0; /* that newline belongs to the line before */
	for (char *line = text + start, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strlen(line) > SAID_LINE)
			line[SAID_LINE] = '\0';
		bool binary = text_is_binary(line, strlen(line));
		text_clean(line, false);
		if (line[strspn(line, " ")])
			line_add(lines, line, binary);
	}
}

/* The last lines of stdout, as far as it was read, followed by those of stderr: an array of cleaned lines, a new
 * reference. A request with `show` gets many more of them. */
static json_t *program_said(const struct program_trial *trial) {
	size_t most = trial->request->show ? SAID_LINES_SHOWN : SAID_LINES;
	json_t *lines = json_array();
	mem_auto char *out = digest_end_text(&trial->output.digest), *err = tail_raw(&trial->run.tail);
	lines_add(lines, out, most);
	lines_add(lines, err, most);
	return lines;
}

json_t *program_reply_new(const struct program_trial *trial) {
	json_t *reply = json_pack("{s:s, s:o, s:i}", "status", trial->status ? trial->status : "correct", "samples",
	                          js_reals(trial->samples, trial->count), "batch", 1);
	if (trial->status) {
		json_object_set_new(reply, "message", json_string(trial->message));
		json_object_set_new(reply, "said", program_said(trial));
		if (trial->outside)
			json_object_set_new(reply, "outside", json_true());
		if (!isnan(trial->refused))
			json_object_set_new(reply, "refused", json_real(trial->refused));
		if (!isnan(trial->bound))
			json_object_set_new(reply, "bound", json_real(trial->bound));
	}
	if (trial->unchecked[0])
		json_object_set_new(reply, "unchecked", json_string(trial->unchecked));
	if (trial->output.metric || trial->request->kernel)
		json_object_set_new(reply, "metrics", js_reals(trial->metrics, trial->count));
	if (trial->request->energy && trial->count > 0)
		json_object_set_new(reply, "energy_j", js_reals(trial->joules, trial->count));
	if (trial->hash[0])
		json_object_set_new(reply, "hash", json_string(trial->hash));
	if (trial->evidence)
		json_object_set(reply, "evidence", trial->evidence);
	if (trial->count > 0)
		program_usage_set(trial->usage, reply);
	else if (trial->lost_s > 0)
		json_object_set_new(reply, "noise", json_pack("{s:f}", "steal_s", trial->lost_s));
	json_object_set_new(reply, "output_bytes",
	                    program_output_wanted(&trial->output) ? json_integer((json_int_t)trial->output.digest.bytes)
	                                                          : json_null());
	return reply;
}
