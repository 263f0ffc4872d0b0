/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP API 5.2, sections 18.2 and 21: settings that the runtime's routines can change after the start. Its
 * functions are looked up when needed, because the library does not link OpenMP. */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/profile/profile_impl.h"

enum { THREADS_MAX = 1 << 20, MONOTONIC = INT_MIN }; /* omp_sched_monotonic: 0x80000000 */

struct openmp {
	void (*set_num_threads)(int count);
	void (*set_schedule)(int kind, int chunk);
	void (*set_dynamic)(int on);
};

/* The setting that cannot be applied, and the reason. */
struct notes {
	const struct ssp_message *message;
	char text[SWEETSPOT_MESSAGE];
	size_t used;
};

static void note(struct notes *notes, const char *what, const char *value, const char *why) {
	size_t room = sizeof notes->text - notes->used;
	int length =
		snprintf(notes->text + notes->used, room, "%s%.40s=%.60s %s", notes->used ? "; " : "", what, value, why);
	notes->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
	ssp_message_set(notes->message, "%s", notes->text);
}

/* ISO C does not convert object pointers to function pointers; POSIX requires this cast to work. */
static void function_find(const char *name, void *function) {
	void *found = dlsym(RTLD_DEFAULT, name);
	memcpy(function, &found, sizeof found);
}

static bool openmp_find(struct openmp *openmp) {
	function_find("omp_set_num_threads", &openmp->set_num_threads);
	function_find("omp_set_schedule", &openmp->set_schedule);
	function_find("omp_set_dynamic", &openmp->set_dynamic);
	return openmp->set_num_threads && openmp->set_schedule && openmp->set_dynamic;
}

static bool number_parse(const char *text, long max, int *number, const char **rest) {
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	*rest = end;
	*number = (int)value;
	return end > text && errno == 0 && value >= 1 && value <= max;
}

static bool threads_apply(const struct openmp *openmp, const char *value, struct notes *notes) {
	const char *rest;
	int count;
	if (!number_parse(value, THREADS_MAX, &count, &rest) || (*rest && *rest != ',')) {
		note(notes, "OMP_NUM_THREADS", value, "is not a number of threads");
		return false;
	}
	openmp->set_num_threads(count);
	if (*rest)
		note(notes, "OMP_NUM_THREADS", value, "also sets nested regions: only the first was set");
	return true;
}

/* "dynamic,4", "monotonic:static" */
static bool schedule_parse(const char *value, int *kind, int *chunk) {
	static const char *const kinds[] = {"static", "dynamic", "guided", "auto"};
	size_t before = strcspn(value, ":");
	int modifier = 0;
	const char *rest = "";
	if (value[before]) {
		modifier = strncasecmp(value, "monotonic:", 10) == 0 ? MONOTONIC : 0;
		value += before + 1;
	}
	size_t length = strcspn(value, ",");
	*chunk = 0; /* the runtime's own default */
	*kind = 0;
	for (int i = 0; i < 4; i++)
		if (strlen(kinds[i]) == length && strncasecmp(kinds[i], value, length) == 0)
			*kind = (i + 1) | modifier;
	return *kind && (!value[length] || number_parse(value + length + 1, INT_MAX, chunk, &rest)) && !*rest;
}

static bool schedule_apply(const struct openmp *openmp, const char *value, struct notes *notes) {
	int kind, chunk;
	if (!schedule_parse(value, &kind, &chunk)) {
		note(notes, "OMP_SCHEDULE", value, "is not a schedule");
		return false;
	}
	openmp->set_schedule(kind, chunk);
	return true;
}

static bool dynamic_apply(const struct openmp *openmp, const char *value, struct notes *notes) {
	(void)notes;
	openmp->set_dynamic(strcasecmp(value, "true") == 0);
	return true;
}

static const struct {
	const char *name;
	bool (*apply)(const struct openmp *openmp, const char *value, struct notes *notes); /* NULL: only at the start */
} variables[] = {
	{"OMP_NUM_THREADS", threads_apply},
	{"OMP_SCHEDULE", schedule_apply},
	{"OMP_DYNAMIC", dynamic_apply},
	{"OMP_PROC_BIND", NULL},
	{"OMP_PLACES", NULL},
	{"OMP_WAIT_POLICY", NULL},
	{"GOMP_SPINCOUNT", NULL},
	{"KMP_BLOCKTIME", NULL},
};

static int config_apply(const struct openmp *openmp, const struct sweetspot_config *config, struct notes *notes) {
	int set = 0;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const struct ssp_setting *wanted = ssp_setting_find(&config->environment, variables[i].name);
		const char *now = getenv(variables[i].name);
		if (!wanted || !wanted->word)
			continue;
		if (variables[i].apply)
			set += variables[i].apply(openmp, wanted->word, notes);
		else if (!now || strcasecmp(now, wanted->word) != 0)
			note(notes, variables[i].name, wanted->word, "must be set before the program starts");
	}
	return set;
}

int sweetspot_apply(const sweetspot_config *config, unsigned flags, char *text, size_t size) {
	struct ssp_message message = {text, size};
	struct notes notes = {.message = &message};
	struct openmp openmp;
	const char *why = !config                                              ? "the configuration is missing"
	                  : (flags & SWEETSPOT_ANYWAY) == 0 && config->foreign ? "it is of another machine"
	                  : (flags & SWEETSPOT_ANYWAY) == 0 && config->stale   ? "the kernel has changed since it was tuned"
	                  : !openmp_find(&openmp)                              ? "the program does not use OpenMP"
	                                                                       : "";
	ssp_message_set(&message, "%s", why);
	return *why ? -1 : config_apply(&openmp, config, &notes);
}
