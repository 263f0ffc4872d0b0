/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --compare A B: reads the recommendations of both sides, each a store, a machine of the store, or a date. */
#include <config.h>

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "tuner/profile/diff.h"
#include "tuner/profile/profile.h"

static const double DAY = 86400, MINUTE = 60;

/* "2026-01-31" or "2026-01-31T12:00", in UTC; *until: the end of that day or minute. */
static bool date_read(const char *word, double *until) {
	struct tm tm = {0};
	const char *rest = strptime(word, "%Y-%m-%d", &tm);
	bool whole = rest && !*rest;
	if (rest && (*rest == 'T' || *rest == ' '))
		rest = strptime(rest + 1, "%H:%M", &tm);
	int day = tm.tm_mday;
	if (!rest || *rest)
		return false;
	*until = (double)timegm(&tm) + (whole ? DAY : MINUTE);
	return tm.tm_mday == day; /* there is no 30 February */
}

/* The machine that --machine names, else this one if the store knows it, else the one that was measured last. */
static json_t *machine_of(struct report *report, struct store *store, struct err *err) {
	const char *wanted = opt_get(report->args, "machine", NULL);
	struct err ignored = {0};
	if (wanted)
		return report_machine_find(store, wanted, err);
	const char *here = app_fingerprint(report->app, &ignored);
	json_t *found = here ? report_machine_find(store, here, &ignored) : NULL;
	return found ? found : report_machine_newest(store, err);
}

static int side_fill(struct report *report, struct report_side *side, struct store *store, json_t *machine,
                     double until, struct err *err) {
	const char *path = store_path(store), *fingerprint = js_string_or(machine, "fingerprint", "");
	struct err none = {0};
	char last[32];
	side->profile = machine ? profile_until(store, fingerprint, NULL, until, &none) : NULL;
	if (!side->profile && none.code != ERR_NOTHING && none.code != ERR_OK) {
		*err = none;
		return -1;
	}
	if (!side->profile)
		return err_set(err, ERR_NOTHING, "`sweetspot store list` lists what a store holds",
		               "%s does not contain a result of tune%s", path, until > 0 ? " from that time" : "");
	side->title =
		arena_printf(report->arena, "%s, machine %s, store %s%s%s", js_string_or(machine, "cpu", "unknown processor"),
	                 report_machine_short(report, fingerprint), path, until > 0 ? ", as it was until " : "",
	                 until > 0 ? report_time(until, last, sizeof last) : "");
	return 0;
}

/* A word that is a file names a store, even if it could also be a date or a machine. */
static int side_open(struct report *report, struct report_side *side, const char *word, struct err *err) {
	double until = 0;
	bool file = access(word, F_OK) == 0, date = !file && date_read(word, &until);
	struct store *store = store_open(file ? word : opt_get(report->args, "store", NULL), STORE_READ, err);
	if (!store)
		return -1;
	json_t *machine = file || date ? machine_of(report, store, err) : report_machine_find(store, word, err);
	int failed = err->code == ERR_OK ? side_fill(report, side, store, machine, until, err) : -1;
	if (err->code == ERR_USAGE && !file && !date && !machine)
		err_hint(err, "give two files of stores, two machines (`sweetspot store info` lists them), or two dates");
	json_decref(machine);
	store_close(store);
	return failed;
}

static void kernels_pick(json_t *entries, const char **names) {
	for (size_t i = json_array_size(entries); *names && i-- > 0;) {
		const char *kernel = js_string_or(json_array_get(entries, i), "kernel", "");
		const char **name = names;
		while (*name && strcmp(*name, kernel) != 0)
			name++;
		if (!*name)
			json_array_remove(entries, i);
	}
}

int report_compare(struct report *report, struct err *err) {
	const struct opt_args *args = report->args;
	if (opt_has(args, "from"))
		return err_set(err, ERR_USAGE, "leave one of them out", "--compare reads stores, --from reads files");
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot report --compare old.db new.db",
		               "--compare needs two stores, machines or dates");
	for (size_t i = 0; i < 2; i++)
		if (side_open(report, &report->sides[i], opt_word(args, i), err))
			return -1;
	report->diff = profile_diff(report->sides[0].profile, report->sides[1].profile);
	json_t *entries = json_object_get(report->diff, "entries");
	kernels_pick(entries, report_names(report, 2));
	return json_array_size(entries)
	           ? 0
	           : err_set(err, ERR_NOTHING, NULL, "neither side contains a result of these kernels");
}
