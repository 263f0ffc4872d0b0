/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --machine: a page about another machine of the store. */
#include <config.h>

#include <stdbool.h>
#include <string.h>

#include "src/app/app.h"
#include "base/json/js.h"
#include "src/cmd/report/report.h"
#include "tuner/store/store.h"

enum { SHORT = 12 };

struct choosing {
	const char *wanted; /* the first letters of a fingerprint; NULL selects the machine that was measured last */
	json_t *found;
	size_t count;
};

static const char *letters_of(const char *fingerprint) {
	const char *colon = strchr(fingerprint, ':');
	return colon ? colon + 1 : fingerprint;
}

static int on_machine(void *ctx, const struct store_row *one) {
	struct choosing *choosing = ctx;
	const char *wanted = choosing->wanted ? letters_of(choosing->wanted) : "";
	if (one->searches == 0 || strncmp(letters_of(one->fingerprint), wanted, strlen(wanted)) != 0)
		return 0;
	if (choosing->count++ == 0) {
		choosing->found = json_is_object(one->machine) ? json_copy((json_t *)one->machine) : json_object();
		json_object_set_new(choosing->found, "fingerprint", json_string(one->fingerprint));
	}
	return 0;
}

/* Files are named after the fingerprint, so it must not contain a path. */
static bool is_sane(const char *fingerprint) {
	const char *letters = letters_of(fingerprint);
	return *letters && letters[strspn(letters, "0123456789abcdef")] == '\0';
}

json_t *report_machine_find(struct store *store, const char *wanted, struct err *err) {
	struct choosing choosing = {.wanted = wanted};
	if (store_each(store, STORE_MACHINES, NULL, on_machine, &choosing, err) == 0) {
		if (choosing.count == 0 || !*letters_of(wanted))
			err_set(err, ERR_USAGE, "`sweetspot store info` lists the fingerprints",
			        "the store does not contain a machine whose fingerprint begins with \"%s\"", wanted);
		else if (choosing.count > 1)
			err_set(err, ERR_USAGE, "give more of its letters; `sweetspot store info` lists the fingerprints",
			        "the fingerprints of %zu machines begin with \"%s\"", choosing.count, wanted);
		else if (!is_sane(js_string_or(choosing.found, "fingerprint", "")))
			err_set(err, ERR_USAGE, NULL, "the store is damaged: it has an invalid fingerprint");
		else
			return choosing.found;
	}
	json_decref(choosing.found);
	return NULL;
}

json_t *report_machine_newest(struct store *store, struct err *err) {
	struct choosing choosing = {0};
	return store_each(store, STORE_MACHINES, NULL, on_machine, &choosing, err) ? NULL : choosing.found;
}

int report_machine_choose(struct report *report, struct store *store, struct err *err) {
	const char *wanted = opt_get(report->args, "machine", NULL);
	struct err ignored = {0};
	const char *here = app_fingerprint(report->app, wanted ? &ignored : err);
	if (!wanted)
		return here ? 0 : -1;
	json_t *found = report_machine_find(store, wanted, err);
	if (!found)
		return -1;
	report->is_foreign = !here || strcmp(here, js_string_or(found, "fingerprint", "")) != 0;
	app_machine_assume(report->app, found);
	json_decref(found);
	return 0;
}

const char *report_machine_short(struct report *report, const char *fingerprint) {
	return arena_printf(report->arena, "%.*s", SHORT, letters_of(fingerprint));
}

/* Short fingerprint of the machine that was measured last, for hints; "" if the store is empty. */
const char *report_machine_other(struct report *report, struct store *store) {
	struct err ignored = {0};
	json_t *newest = report_machine_newest(store, &ignored);
	const char *text = newest ? report_machine_short(report, js_string_or(newest, "fingerprint", "")) : "";
	json_decref(newest);
	return text;
}
