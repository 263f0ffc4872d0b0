/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the time of the serial code, which sweeps measure on the CPU, for each problem of a GPU. */
#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"

struct search {
	struct store *store;
	const struct kernel_desc *kernel; /* of the CPU */
	struct report_section *section;
	struct err *err;
	int failed;
};

/* Tells whether the problems have the same values under the names that both have. */
static bool agrees(const json_t *own, const char *text) {
	struct err none = {0};
	js_auto json_t *other = js_parse(text, strlen(text), "a search's problem", &none);
	bool same = other;
	js_members (name, value, other) {
		const json_t *mine = json_object_get(own, name);
		same = same && (!mine || json_equal(mine, value));
	}
	return same;
}

/* words: "P=V P=V" */
static bool has_words(const json_t *config, const char *words) {
	char *copy = mem_strdup(words), *rest = NULL;
	bool has = true;
	for (char *word = strtok_r(copy, " ", &rest); word && has; word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');
		if (equals)
			*equals = '\0';
		has = equals && strcmp(js_string_or(config, word, ""), equals + 1) == 0;
	}
	free(copy);
	return has;
}

static int on_outcome(void *ctx, const struct store_trial *outcome) {
	struct search *search = ctx;
	enum trial_status status;
	struct err none = {0};
	if (!trial_status_find(outcome->status, &status) || status != TRIAL_CORRECT || !(outcome->value > 0))
		return 0;
	js_auto json_t *config = js_parse(outcome->config, strlen(outcome->config), "a configuration", &none);
	if (js_int_or(config, "threads", 1) == 1 && has_words(config, search->kernel->serial))
		search->section->serial = outcome->value; /* the newest one stays */
	return 0;
}

static int on_search(void *ctx, const struct store_row *row) {
	struct search *search = ctx;
	if (strcmp(row->source, search->kernel->source) != 0 || !agrees(search->section->problem, row->problem))
		return 0;
	search->failed = store_outcomes_each(search->store, row->search, on_outcome, search, search->err);
	return search->failed;
}

int report_serial(struct report *report, struct store *store, struct err *err) {
	char fingerprint[SHA256_TEXT];
	const struct kernel_list *kernels = app_device(report->app) ? app_kernels(report->app, err) : NULL;
	if (!app_device(report->app))
		return 0;
	if (!kernels || app_fingerprint_host(report->app, fingerprint, err))
		return -1;
	for (size_t i = 0; i < report->section_count; i++) {
		struct report_section *section = &report->sections[i];
		struct search search = {.store = store, .section = section, .err = err};
		search.kernel = kernel_list_find(kernels, section->kernel, "cpu", NULL);
		const struct store_filter filter = {.fingerprint = fingerprint, .kernel = section->kernel, .objective = "time"};
		if (!search.kernel || !search.kernel->serial || strcmp(section->objective, "time") != 0)
			continue;
		if (store_each(store, STORE_SEARCHES, &filter, on_search, &search, err) || search.failed)
			return -1;
	}
	return 0;
}
