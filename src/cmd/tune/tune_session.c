/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/tune_impl.h"

#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"
#include "src/show/results.h"
#include "src/app/lock.h"
#include "tuner/profile/profile.h"

enum { TRIALS_MAX = 1000, WRITE_SECONDS = 2 };

const struct opt watch_options[] = {
	OPT_GROUP("Results"),
	{"watch", 0, "FILE.html", "write a page that shows the search in progress", 0},
	{0},
};

enum kind { KIND_MEASURED, KIND_CUT, KIND_FAILED, KIND_AGAIN /* the best so far, measured again */, KIND_COUNT };

struct watched {
	enum kind kind;
	double number, value, best; /* number: counted from 1; best: after it */
};

struct watch {
	char *path, *kernel, *note, *best, *last, *why; /* best, last: configurations */
	struct tune_progress now;                       /* its texts are copied */
	struct watched trials[TRIALS_MAX];
	size_t count;
	double number, written; /* number: of trials so far */
};

static struct shown shown_text(const struct watch *watch, double value) {
	return isfinite(value) ? results_value(value, watch->now.unit) : (struct shown){""};
}

static void row_put(struct html *html, const char *name, const char *value) {
	if (*value)
		html_put(html, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>", name, value);
}

static void numbers_put(const struct watch *watch, struct html *html, bool ended) {
	const struct tune_progress *now = &watch->now;
	char text[64] = "";
	html_put(html, "<table><tbody>");
	row_put(html, "phase", ended ? "" : tune_phase_word(now->phase));
	if (now->limit)
		snprintf(text, sizeof text, "%llu of %llu", (unsigned long long)now->evaluations,
		         (unsigned long long)now->limit);
	else
		snprintf(text, sizeof text, "%llu", (unsigned long long)now->evaluations);
	row_put(html, "evaluations", text);
	row_put(html, "best so far", shown_text(watch, now->best).text);
	row_put(html, "with", watch->best ? watch->best : "");
	row_put(html, "baseline", shown_text(watch, now->baseline).text);
	row_put(html, "last tried", watch->last ? watch->last : "");
	text[0] = '\0';
	if (isfinite(now->gain) && !ended)
		snprintf(text, sizeof text, "%.2fx, not yet proven", now->gain);
	row_put(html, "gain", text);
	text[0] = '\0';
	if (now->failures)
		snprintf(text, sizeof text, "%llu", (unsigned long long)now->failures);
	row_put(html, "failed", text);
	text[0] = '\0';
	if (isfinite(now->left) && !ended)
		snprintf(text, sizeof text, "%.0f s", now->left);
	row_put(html, "time left, about", text);
	row_put(html, "search", watch->note ? watch->note : "");
	html_put(html, "</tbody></table>");
}

/* The last trials of a kind, or the best after each trial (KIND_COUNT). A failure stands above all others. */
static struct chart_series series_of(const struct watch *watch, enum kind kind, struct chart_point *points) {
	static const char *const names[] = {"measured", "cut short (at least)", "failed", "the best, measured again",
	                                    "best so far"};
	struct chart_series series = {names[kind], kind == KIND_COUNT ? CHART_STEPS : CHART_POINTS, points, 0};
	double most = 0;
	for (size_t i = 0; i < watch->count; i++)
		most = fmax(most, watch->trials[i].value);
	for (size_t i = 0; i < watch->count; i++) {
		const struct watched *trial = &watch->trials[i];
		double y = kind == KIND_COUNT ? trial->best : kind == KIND_FAILED ? 1.1 * most : trial->value;
		if ((kind == KIND_COUNT || trial->kind == kind) && isfinite(y))
			points[series.count++] = (struct chart_point){trial->number, y, NAN, NAN};
	}
	return series;
}

/* The caller frees it; NULL without a value to draw. */
static char *chart_new(const struct watch *watch) {
	const double baseline = watch->now.baseline;
	struct chart_series series[KIND_COUNT + 2];
	mem_auto struct chart_point *points = mem_alloc((KIND_COUNT + 1) * TRIALS_MAX, sizeof *points);
	size_t count = 0;
	for (enum kind kind = 0; kind <= KIND_COUNT; kind++) {
		series[count] = series_of(watch, kind, &points[kind * TRIALS_MAX]);
		count += series[count].count > 0;
	}
	struct chart_point bound[] = {{1, baseline, NAN, NAN}, {fmax(2, watch->number), baseline, NAN, NAN}};
	bool any = count > 0;
	if (isfinite(baseline))
		series[count++] = (struct chart_series){"baseline", CHART_BOUND, bound, 2};
	const struct chart chart = {.id = "watch-progress",
	                            .title = watch->kernel,
	                            .x_label = "trials (count)",
	                            .y_label = strcmp(watch->now.unit, "s") == 0 ? "time (s)" : "metric",
	                            .description = "Each trial, the best so far, and the baseline.",
	                            .series = series,
	                            .series_count = count};
	return any ? chart_svg(&chart, NULL) : NULL;
}

static void results_put(struct html *html, const json_t *results) {
	js_each (result, results) {
		mem_auto char *verdict = results_verdict(result);
		const char *line = js_string_or(json_object_get(result, "program"), "line", NULL);
		mem_auto char *config = results_config(js_at(result, "best.config"), NULL);
		html_put(html, "<article class=\"card\"><h2>%s</h2><p class=\"verdict\">%s</p>",
		         js_string_or(result, "kernel", "?"), verdict);
		html_put(html, "<pre class=\"command\"><code>%s</code></pre></article>", line ? line : config);
	}
}

static int page_write(const struct watch *watch, const json_t *results, const char *state, bool ended,
                      struct err *err) {
	struct html *html = html_new();
	mem_auto char *svg = watch->kernel ? chart_new(watch) : NULL;
	size_t size;
	page_begin(html, "Sweetspot", !ended);
	html_put(html, "<main class=\"%s\"><h1>%s</h1><p class=\"%s\">%s</p>", ended ? "done" : "live",
	         watch->kernel ? watch->kernel : "Sweetspot", ended ? "verdict ended" : "note", state);
	if (results)
		results_put(html, results);
	if (watch->kernel) {
		html_markup(html, "<div class=\"figures\"><figure>");
		html_markup(html, svg ? svg : "");
		html_put(html, "<p>%s</p></figure>", watch->why ? watch->why : "");
		numbers_put(watch, html, ended);
		html_markup(html, "</div>");
	}
	html_put(html, "</main>");
	page_end(html);
	mem_auto char *page = html_finish(html, &size);
	int failed = sys_write_file(watch->path, page, size, err);
	html_free(html);
	return failed;
}

/* Path: NULL for none; all functions accept a NULL watch. Writes the first page, so that a wrong path is known at once.
 */
static void watch_free(struct watch *watch) {
	if (!watch)
		return;
	free(watch->path);
	free(watch->kernel);
	free(watch->note);
	free(watch->best);
	free(watch->last);
	free(watch->why);
	free(watch);
}

static struct watch *watch_new(const char *path, struct err *err) {
	if (!path)
		return NULL;
	struct watch *watch = mem_alloc(1, sizeof *watch);
	watch->path = mem_strdup(path);
	if (page_write(watch, NULL, "The search has not begun yet.", false, err) == 0)
		return watch;
	watch_free(watch);
	return NULL;
}

static void text_keep(char **kept, const char *text) {
	if (*kept && text && strcmp(*kept, text) == 0)
		return;
	free(*kept);
	*kept = text ? mem_strdup(text) : NULL;
}

static void config_keep(char **kept, const json_t *config) {
	mem_auto char *words = config ? results_config(config, NULL) : NULL;
	text_keep(kept, words);
}

/* The best is the mean of all its measurements, so that it is worse where the last of them was. */
static void why_keep(struct watch *watch, const struct tune_progress *before, const struct tune_progress *now,
                     bool again) {
	if (!again || !(now->gain < before->gain))
		return;
	free(watch->why);
	watch->why = mem_printf("The best so far went from %s to %s at trial %.0f because it was measured again.",
	                        shown_text(watch, before->best).text, shown_text(watch, now->best).text, watch->number);
}

/* Where there are too many, every second one. */
static void trial_add(struct watch *watch, const struct tune_progress *now, bool again) {
	if (watch->count == TRIALS_MAX)
		for (watch->count = 0; watch->count < TRIALS_MAX / 2; watch->count++)
			watch->trials[watch->count] = watch->trials[2 * watch->count];
	enum kind kind = now->status == TRIAL_CORRECT    ? again ? KIND_AGAIN : KIND_MEASURED
	                 : now->status == TRIAL_CENSORED ? KIND_CUT
	                                                 : KIND_FAILED;
	watch->trials[watch->count++] = (struct watched){kind, watch->number, now->value, now->best};
}

/* A trial of the best so far in the search is a probe: it tells whether the best was only lucky. */
static void trial_note(struct watch *watch, const struct tune_progress *now) {
	mem_auto char *words = results_config(now->config, NULL);
	bool again = now->phase == TUNE_SEARCH && watch->best && strcmp(words, watch->best) == 0;
	watch->number++;
	why_keep(watch, &watch->now, now, again);
	trial_add(watch, now, again);
	text_keep(&watch->last, words);
}

void watch_progress(struct watch *watch, const struct tune_progress *progress) {
	struct err err = {0};
	if (!watch)
		return;
	if (!watch->kernel || strcmp(watch->kernel, progress->kernel) != 0)
		watch->count = 0, watch->number = 0;
	text_keep(&watch->kernel, progress->kernel);
	text_keep(&watch->note, progress->note);
	if (progress->config)
		trial_note(watch, progress);
	config_keep(&watch->best, progress->best_config);
	watch->now = *progress;
	double now = sys_now();
	if (now - watch->written < WRITE_SECONDS)
		return;
	watch->written = now;
	page_write(watch, NULL, "This page follows the search while it is open.", false, &err);
}

/* The last page, with the results, follows nothing. error: why it ended early, or NULL. */
static int watch_end(struct watch *watch, const json_t *results, const char *error, struct err *err) {
	if (!watch)
		return 0;
	mem_auto char *state = error ? mem_printf("Ended early: %s", error) : mem_strdup("Finished.");
	return page_write(watch, results, state, true, err);
}

static int session_open(struct tuning *t, struct err *err) {
	t->store = app_machine(t->app, err) ? store_open(opt_get(t->what->args, "store", NULL), STORE_WRITE, err) : NULL;
	return t->store ? 0 : -1;
}

/* left: the items that have not had their share yet. */
static struct tune_budget share(const struct tuning *t, size_t left) {
	struct tune_budget budget = t->what->settings.budget;
	if (budget.evaluations) {
		budget.evaluations = budget.evaluations / t->what->count;
		if (budget.evaluations == 0)
			budget.evaluations = 1;
	}
	if (budget.seconds > 0) {
		double remaining = t->what->settings.budget.seconds - (sys_now() - t->begun);
		double least = 0.1 * t->what->settings.budget.seconds / (double)t->what->count;
		budget.seconds = remaining / (double)left > least ? remaining / (double)left : least;
	}
	if (budget.node_seconds > 0) {
		const struct pool *pool = tune_nodes_pool(t->what->nodes);
		double all = budget.node_seconds, remaining = all - pool->held(pool->ctx).seconds;
		budget.node_seconds = fmax(remaining / (double)left, 0.1 * all / (double)t->what->count);
	}
	return budget;
}

/* Was its share too short for its baseline? */
static bool is_postponed(const struct tuning *t, const json_t *result) {
	return !t->last_turn && result && strcmp(js_string_or(result, "stopped", ""), "share") == 0;
}

/* Keeps the first error, and prints those after it. */
static void failure_note(const struct tuning *t, const struct tune_item *item, struct err *nothing, struct err *err) {
	if (t->what->count > 1)
		err_prefix(err, "%s", item->task.kernel);
	if (nothing->code != ERR_OK)
		ui_error(stderr, err);
	else
		*nothing = *err;
	*err = (struct err){0};
}

/* Returns -1 to stop. *late: its share is too short, and why. */
static int item_turn(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, struct err *nothing,
                     struct err *late, struct err *err) {
	json_t *kept;
	if (!tuning_item(t, item, budget, &kept, err))
		return 0;
	if (is_postponed(t, kept)) {
		json_array_remove(t->results, json_array_size(t->results) - 1);
		ui_note(app_ui(t->app), "%s is tuned last, with what the others leave: %s", item->task.kernel, err->what);
		*late = *err;
		*err = (struct err){0};
		return 0;
	}
	if (err->code != ERR_NOTHING && !(t->last_turn && err->code == ERR_USAGE))
		return -1;
	failure_note(t, item, nothing, err);
	return 0;
}

/* Those whose share was too short, with what is left if that is more than their share was. */
static int items_late(struct tuning *t, struct err *late, struct err *nothing, struct err *err) {
	size_t left = 0;
	t->last_turn = true;
	for (size_t i = 0; i < t->what->count; i++)
		left += late[i].code != ERR_OK;
	for (size_t i = 0; i < t->what->count; i++) {
		if (late[i].code == ERR_OK)
			continue;
		const struct tune_budget budget = share(t, left--);
		bool more = budget.seconds * (double)t->what->count > t->what->settings.budget.seconds;
		if (!more)
			failure_note(t, t->what->items[i], nothing, &late[i]);
		else if (item_turn(t, t->what->items[i], &budget, nothing, NULL, err))
			return -1;
	}
	return 0;
}

/* Continues with the other items if none of the configurations of one item worked. */
static int items_tune(struct tuning *t, struct err *err) {
	struct err nothing = {0}, *late = mem_alloc(t->what->count + 1, sizeof *late);
	int failed = 0;
	for (size_t i = 0; i < t->what->count && !failed; i++) {
		const struct tune_budget budget = share(t, t->what->count - i);
		failed = item_turn(t, t->what->items[i], &budget, &nothing, &late[i], err);
	}
	if (!failed)
		failed = items_late(t, late, &nothing, err);
	free(late);
	if (failed)
		return -1;
	*err = nothing;
	if (err->code == ERR_USAGE && json_array_size(t->results))
		err->code = ERR_NOTHING; /* the others have results */
	return nothing.code == ERR_OK ? 0 : -1;
}

/* The profile is kept beside the store. */
static char *profile_path(const struct tuning *t, const char *fingerprint) {
	const char *store = store_path(t->store), *slash = strrchr(store, '/');
	mem_auto char *folder = mem_printf("%.*s", slash ? (int)(slash + 1 - store) : 0, store);
	return profile_file_name(folder, fingerprint);
}

static char *profile_write(struct tuning *t, struct err *err) {
	const char *fingerprint = app_fingerprint(t->app, err);
	struct err none = {0};
	js_auto json_t *profile = profile_from_store(t->store, fingerprint, NULL, NULL, NULL, &none);
	if (!profile && none.code != ERR_NOTHING)
		*err = none;
	if (!profile)
		return NULL;
	char *path = profile_path(t, fingerprint);
	if (profile_save(profile, path, err)) {
		free(path);
		path = NULL;
	}
	return path;
}

/* {"launcher","nodes":[..]}, new reference */
static json_t *tune_nodes_json(const struct tune_nodes *nodes) {
	return json_pack("{s:s,s:o}", "launcher", nodes->launcher->name, "nodes", pool_workers_json(nodes->workers));
}

static int show(struct tuning *t, const char *profile, struct err *err) {
	if (t->what->settings.format)
		return tune_trials_export(t->store, t->results, t->what->settings.format, err);
	if (!opt_has(t->what->args, "json")) {
		results_print(app_ui(t->app), t->results, t->noise_floor, profile, store_path(t->store));
		results_sizes_print(app_ui(t->app), t->sizes);
		return 0;
	}
	json_t *document =
		json_pack("{s:s,s:O,s:o,s:O,s:s,s:o}", "schema", "sweetspot-tune/1", "machine", app_machine(t->app, err),
	              "noise_floor", js_number(t->noise_floor), "results", t->results, "store", store_path(t->store),
	              "profile", profile ? json_string(profile) : json_null());
	if (t->sizes)
		json_object_set(document, "sizes", t->sizes);
	if (t->what->nodes)
		json_object_set_new(document, "fleet", tune_nodes_json(t->what->nodes));
	js_print(document);
	return 0;
}

/* open: a best configuration is not yet proven; other: it is not what the user runs today. decided: of any result,
 * since an interruption may come before anything was. */
struct standing {
	bool open, decided, other;
	double seconds; /* that may decide what is open */
};

static struct standing standing_of(const struct tuning *t) {
	struct standing standing = {0};
	js_each (result, t->results) {
		const json_t *best = json_object_get(result, "best"), *today = json_object_get(result, "baseline");
		bool open = json_is_object(best) && !js_bool_or(result, "proven", true);
		standing.open |= open;
		standing.seconds += open ? fmax(0, js_real_or(js_at(result, "decide"), "seconds", 0)) : 0;
		standing.decided |= json_is_object(best) && ssp_use_of(result) != SSP_OPEN;
		standing.other |= open && !json_equal(json_object_get(best, "config"), json_object_get(today, "config"));
	}
	return standing;
}

/* The command line once more, with --resume after its first two words, and more time if it was used up. An interruption
 * that only ended counting, or came before the next kernel, leaves nothing to prove. */
static void resume_hint(const struct tuning *t, struct standing standing, bool interrupted) {
	mem_auto char *line = profile_command_resumed(app_command_line(t->app), interrupted ? -1 : standing.seconds);
	const char *what = !standing.open && standing.decided ? "the results so far are proven and in the profile; to go on"
	                   : !standing.open                   ? "nothing is decided yet; to begin again"
	                   : standing.other ? "the best setting so far is not yet proven; to go on and prove it"
	                                    : "it is not yet decided whether another setting is faster; to go on";
	ui_inform(app_ui(t->app), "%s: %s", what, line);
}

static int tune_and_show(struct tuning *t, struct err *err) {
	/* The scheduler of the cluster keeps nodes apart, and this machine does not measure then, so no lock is needed. */
	bool here = tune_nodes_here(t->what->nodes);
	int lock = here ? lock_take(app_ui(t->app), app_interrupt(t->app), err) : -1;
	if (lock < 0 && here)
		return -1;
	t->begun = sys_now();
	int failed = t->what->sizes ? tune_sizes_run(t, err) : items_tune(t, err);
	if (lock >= 0)
		lock_release(lock);
	bool interrupted = failed && err->code == ERR_INTERRUPTED;
	struct standing standing = standing_of(t);
	const char *state = interrupted || (!failed && standing.open) ? "interrupted"
	                    : !failed || err->code == ERR_NOTHING     ? "done"
	                                                              : "failed";
	struct err second = {0};
	if (t->session && store_session_end(t->store, t->session, state, t->noise_floor, &second))
		failed = err_later(err, failed, &second);
	if (store_check_lost(t->store, &second))
		failed = err_later(err, failed && err->code != ERR_NOTHING, &second);
	if (json_array_size(t->results)) {
		struct err unwritten = {0};
		mem_auto char *profile =
			failed && err->code != ERR_NOTHING && !interrupted ? NULL : profile_write(t, &unwritten);
		int shown = show(t, profile, &unwritten);
		if (standing.open || interrupted)
			resume_hint(t, standing, interrupted);
		bool first = failed && (err->code != ERR_NOTHING || unwritten.code == ERR_OK);
		failed = err_later(err, first, &unwritten) || shown || failed ? -1 : 0;
	}
	return failed;
}

int tune_session_run(const struct tune_session *session, struct err *err) {
	struct tuning t = {.what = session,
	                   .app = session->app,
	                   .seed = session->settings.seed,
	                   .noise_floor = NAN,
	                   .results = json_array()};
	const char *page = opt_get(session->args, "watch", NULL);
	int failed =
		session_open(&t, err) || (page && !(t.watch = watch_new(page, err))) || tune_and_show(&t, err) ? -1 : 0;
	struct err unwritten = {0};
	if (watch_end(t.watch, t.results, failed ? err->what : NULL, failed ? &unwritten : err))
		failed = -1;
	watch_free(t.watch);
	store_close(t.store);
	json_decref(t.results);
	json_decref(t.sizes);
	return failed;
}
