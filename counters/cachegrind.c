/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated, not counted: valgrind runs the trial on its own processor model, with two levels of caches and a branch
 * predictor. Of its two tools with that model callgrind is used, because programs can mark where a region begins and
 * ends (Valgrind User Manual, "Callgrind: a call-graph generating cache and branch prediction profiler", 6.5), which
 * cachegrind learned only in 3.21. */
#include "counters/cachegrind.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/backend/counter.h"

static const char *const events[CACHEGRIND_EVENTS + 1] = {"sim_instructions",
                                                          "sim_data_reads",
                                                          "sim_data_writes",
                                                          "sim_l1i_misses",
                                                          "sim_l1d_read_misses",
                                                          "sim_l1d_write_misses",
                                                          "sim_ll_instruction_misses",
                                                          "sim_ll_read_misses",
                                                          "sim_ll_write_misses",
                                                          "sim_branches",
                                                          "sim_branch_mispredictions",
                                                          "sim_indirect_branches",
                                                          "sim_indirect_mispredictions",
                                                          NULL};

static const char *const columns[CACHEGRIND_EVENTS] = {"Ir",   "Dr",   "Dw", "I1mr", "D1mr", "D1mw", "ILmr",
                                                       "DLmr", "DLmw", "Bc", "Bcm",  "Bi",   "Bim"};

static int find(const char *const *list, const char *word) {
	for (int i = 0; i < CACHEGRIND_EVENTS; i++)
		if (strcmp(list[i], word) == 0)
			return i;
	return -1;
}

int cachegrind_event_find(const char *name) {
	return find(events, name);
}

int cachegrind_column_find(const char *column) {
	return find(columns, column);
}

static int model_fail(const char *text, struct err *err) {
	return err_set(err, ERR_USAGE, "SWEETSPOT_CACHEGRIND=\"--LL=262144,16,64\": bytes, ways, bytes of a line",
	               "SWEETSPOT_CACHEGRIND must be --I1=, --D1= and --LL=, each at most once, not \"%.60s\"", text);
}

/* Reads a whole number above 0, without sign or white space, that `end` follows. */
static bool number_read(const char **text, char end) {
	enum { DIGITS_MAX = 10 };
	size_t digits = strspn(*text, "0123456789");
	bool good = digits > 0 && digits <= DIGITS_MAX && **text != '0' && (*text)[digits] == end;
	*text += digits + (end != '\0');
	return good;
}

static bool option_good(const char *option) {
	bool named =
		strncmp(option, "--I1=", 5) == 0 || strncmp(option, "--D1=", 5) == 0 || strncmp(option, "--LL=", 5) == 0;
	const char *numbers = option + 5;
	return named && number_read(&numbers, ',') && number_read(&numbers, ',') && number_read(&numbers, '\0');
}

static bool option_is_new(const struct cachegrind_model *model, const char *option) {
	for (int i = 0; i < model->count; i++)
		if (strncmp(model->options[i], option, 5) == 0)
			return false;
	return true;
}

int cachegrind_model_read(const char *text, struct cachegrind_model *model, struct err *err) {
	*model = (struct cachegrind_model){0};
	while (text && *(text += strspn(text, " ")) != '\0') {
		char option[CACHEGRIND_OPTION];
		size_t length = strcspn(text, " ");
		snprintf(option, sizeof option, "%.*s", (int)(length < sizeof option ? length : 0), text);
		if (!option_good(option) || !option_is_new(model, option))
			return model_fail(text, err);
		memcpy(model->options[model->count++], option, sizeof option);
		text += length;
	}
	return 0;
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define UNDER_SANITIZER
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER
#endif
#endif

bool cachegrind_path_find(const char *name, char *file, size_t size) {
	const char *path = getenv("PATH");
	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		int wrote = snprintf(file, size, "%.*s/%s", (int)(length < size ? length : 0), path, name);
		if (wrote > 0 && (size_t)wrote < size && access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void cachegrind_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = false};
#if defined UNDER_SANITIZER
	snprintf(probe->reason, sizeof probe->reason, "valgrind cannot run this build, because it has a sanitizer");
	snprintf(probe->fix, sizeof probe->fix, "./configure without --enable-asan and --enable-tsan, and run make again");
#elif !defined HAVE_VALGRIND_CALLGRIND_H
	snprintf(probe->reason, sizeof probe->reason, "built without valgrind/callgrind.h");
	snprintf(probe->fix, sizeof probe->fix, "sudo apt-get install valgrind, then run ./configure and make again");
#else
	struct cachegrind_model model;
	struct err err = {.code = ERR_OK};
	char file[4096];
	if (!cachegrind_path_find("valgrind", file, sizeof file)) {
		snprintf(probe->reason, sizeof probe->reason, "valgrind is not in PATH");
		snprintf(probe->fix, sizeof probe->fix, "sudo apt-get install valgrind");
	} else if (cachegrind_model_read(getenv("SWEETSPOT_CACHEGRIND"), &model, &err) != 0) {
		snprintf(probe->reason, sizeof probe->reason, "%.199s", err.what);
		snprintf(probe->fix, sizeof probe->fix, "%.199s", err.hint);
	} else {
		probe->usable = true;
		snprintf(probe->reason, sizeof probe->reason,
		         "caches and branches simulated: a run takes 30 to 600 times as long");
	}
#endif
}

/* Valgrind can't attach to a process that is running already. */
static int cachegrind_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	(void)state, (void)site, (void)names, (void)count;
	return -1;
}

static int cachegrind_step(void *state) {
	(void)state;
	return -1;
}

static int cachegrind_read(void *state, struct counter_value *values) {
	(void)state, (void)values;
	return -1;
}

static void cachegrind_close(void *state) {
	(void)state;
}

const struct counter_backend counter_cachegrind = {
	.name = "cachegrind",
	.summary = "caches and branches as valgrind simulates them, in a separate run (slow)",
	.scope = COUNTER_RERUN,
	.trees = true,
	.events = events,
	.probe = cachegrind_probe,
	.open = cachegrind_open,
	.start = cachegrind_step,
	.stop = cachegrind_step,
	.read = cachegrind_read,
	.close = cachegrind_close,
};
