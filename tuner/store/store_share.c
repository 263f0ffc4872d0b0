/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "base/text.h"
#include "tuner/store/store_impl.h"
#include "tuner/trial/trial.h"

struct gather {
	json_t *list, *by_config;
};

/* Counters come from the first trial that counted them. */
static void counters_add(json_t *json, const json_t *detail) {
	json_t *rows = json_object_get(json, "counters");
	js_each (counter, json_object_get(detail, "counters")) {
		const char *name = js_string_or(counter, "name", "");
		double value = js_real_or(counter, "value", NAN);
		if (!*name || !isfinite(value) || js_named(rows, name))
			continue;
		json_array_append_new(rows, json_pack("{s:s,s:O,s:s}", "name", name, "value", json_object_get(counter, "value"),
		                                      "unit", js_string_or(counter, "unit", "")));
	}
}

static json_t *trial_json(const struct store_trial *trial) {
	js_auto json_t *config = json_loads(trial->config, 0, NULL);
	json_t *json = json_pack(
		"{s:o,s:o,s:[],s:[],s:o,s:o,s:o,s:o}", "config", json_is_object(config) ? json_incref(config) : json_object(),
		"status", js_text(trial->status), "samples", "counters", "started", js_number(trial->started), "elapsed_s",
		js_number(trial->elapsed), "setup_s", js_number(js_real_or(trial->detail, "setup_s", 0)), "verify_s",
		js_number(js_real_or(trial->detail, "verify_s", 0)));
	counters_add(json, trial->detail);
	if (trial->message)
		json_object_set_new(json, "message", json_string(trial->message));
	return json;
}

/* A later trial adds its samples. A failure decides the status, because the configuration may fail again. Runs of the
 * counters contribute nothing else. */
static int trials_json_trial_add(void *ctx, const struct store_trial *trial) {
	struct gather *gather = ctx;
	bool cut = strcmp(trial->status, trial_status_word(TRIAL_CENSORED)) == 0;
	bool counted = strcmp(trial->phase, "counters") == 0;
	json_t *json = json_object_get(gather->by_config, trial->config);
	if (json && trial->detail)
		counters_add(json, trial->detail);
	if (counted || (cut && trial->sample_count == 0))
		return 0;
	if (!json) {
		json = trial_json(trial);
		json_object_set_new(gather->by_config, trial->config, json);
		json_array_append(gather->list, json);
	}
	if (cut || strcmp(trial->status, trial_status_word(TRIAL_CORRECT)) == 0)
		for (size_t i = 0; i < trial->sample_count; i++)
			json_array_append_new(json_object_get(json, "samples"), js_number(trial->samples[i]));
	else
		json_object_set_new(json, "status", json_string(trial->status));
	return 0;
}

json_t *store_trials_json(struct store *store, int64_t search, struct err *err) {
	struct gather gather = {.list = json_array(), .by_config = json_object()};
	int failed = store_trials_each(store, search, NULL, trials_json_trial_add, &gather, err);
	json_decref(gather.by_config);
	if (!failed)
		return gather.list;
	json_decref(gather.list);
	return NULL;
}

/* Facts are picked by their names, because a fact that a later version adds may be private. */
static const char *const facts[] = {"cpu",         "packages", "numa_nodes", "llcs",     "cores",  "threads",
                                    "caches",      "virtual",  "synthetic",  "compiler", "cflags", "openmp",
                                    "fingerprint", "gpu",      "device",     NULL};
static const char *const gpu_facts[] = {
	"name", "architecture", "compute_capability", "multiprocessors", "memory", "bytes", "driver", "clock_hz", NULL};

/* Is `word` in the text, and not only as a part of a longer word? */
static bool has_word(const char *text, const char *word) {
	size_t size = word ? strlen(word) : 0;
	for (const char *at = size ? strstr(text, word) : NULL; at; at = strstr(at + 1, word))
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[size]))
			return true;
	return false;
}

static bool names_private(const char *text) {
	char host[256] = "";
	if (strpbrk(text, "/\\~"))
		return true;
	if (gethostname(host, sizeof host - 1))
		*host = '\0';
	return has_word(text, host) || has_word(text, getenv("USER")) || has_word(text, getenv("LOGNAME"));
}

static bool is_private(const json_t *value) {
	if (json_is_string(value))
		return names_private(json_string_value(value));
	js_members (name, member, value)
		if (names_private(name) || is_private(member))
			return true;
	js_each (member, value)
		if (is_private(member))
			return true;
	return false;
}

static json_t *picked(const json_t *from, const char *const *names) {
	json_t *to = json_object();
	for (; *names; names++) {
		json_t *fact = json_object_get(from, *names);
		if (fact && !is_private(fact))
			json_object_set(to, *names, fact);
	}
	return to;
}

static json_t *share_machine(const json_t *machine) {
	json_t *shared = picked(machine, facts);
	if (json_is_object(json_object_get(machine, "gpu")))
		json_object_set_new(shared, "gpu", picked(json_object_get(machine, "gpu"), gpu_facts));
	if (json_object_get(machine, "hypervisor"))
		json_object_set_new(shared, "virtual", json_true());
	return shared;
}

struct exporting {
	struct store *store;
	const struct share_wish *wish;
	json_t *searches;
	size_t hidden;
	struct err *err;
	bool failed;
};

static json_t *parsed(const char *text) {
	json_t *json = js_parse(text, strlen(text), "the store", NULL);
	return json ? json : json_object();
}

static json_t *text_or_null(const char *text) {
	return text && *text ? js_text(text) : json_null();
}

static int trial_add(void *ctx, const struct store_trial *trial) {
	json_array_append_new(ctx, json_pack("{s:o,s:o,s:o,s:o,s:o}", "config", parsed(trial->config), "status",
	                                     js_text(trial->status), "value", js_number(trial->value), "samples",
	                                     js_reals(trial->samples, trial->sample_count), "elapsed_s",
	                                     js_number(trial->elapsed)));
	return 0;
}

static json_t *search_json(struct exporting *exporting, const struct store_row *row) {
	json_t *trials = json_array();
	if (store_evaluations_each(exporting->store, row->search, INT64_MAX, trial_add, trials, exporting->err)) {
		json_decref(trials);
		exporting->failed = true;
		return NULL;
	}
	return json_pack(
		"{s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o}", "kernel", js_text(row->kernel), "source",
		text_or_null(row->source), "problem", parsed(row->problem), "objective", js_text(row->objective), "strategy",
		text_or_null(row->strategy), "seed", (json_int_t)row->seed, "valid", (json_int_t)row->valid, "started",
		js_number(row->started), "fingerprint", js_text(row->fingerprint), "machine",
		exporting->wish->private ? json_deep_copy(row->machine) : share_machine(row->machine), "trials", trials);
}

static int search_add(void *ctx, const struct store_row *row) {
	struct exporting *exporting = ctx;
	if (exporting->wish->kernels && !text_is_listed(row->kernel, exporting->wish->kernels))
		return 0;
	js_auto json_t *search = search_json(exporting, row);
	if (!search)
		return 1;
	if (!exporting->wish->private && is_private(search))
		exporting->hidden++;
	else if (json_array_size(json_object_get(search, "trials")))
		json_array_append(exporting->searches, search);
	return 0;
}

void share_hash(const json_t *value, char out[SHA256_TEXT]) {
	mem_auto char *text = js_canonical(value);
	sha256_text(text, strlen(text), out);
}

static json_t *share_searches(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err) {
	struct exporting exporting = {.store = store, .wish = wish, .searches = json_array(), .err = err};
	int failed = store_each(store, STORE_SHARED, NULL, search_add, &exporting, err);
	*hidden = exporting.hidden;
	if (!failed && !exporting.failed)
		return exporting.searches;
	json_decref(exporting.searches);
	return NULL;
}

json_t *share_export(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err) {
	char hash[SHA256_TEXT];
	json_t *searches = share_searches(store, wish, hidden, err);
	if (!searches)
		return NULL;
	share_hash(searches, hash);
	return json_pack("{s:s,s:s,s:o}", "schema", SHARE_SCHEMA, "hash", hash, "searches", searches);
}

/* The document comes from somebody else: every member is checked before the first one is stored. An imported search is
 * done and has no result, so that it serves as a source and never as a verdict of this machine. */
enum { SEARCHES_MAX = 10000, TRIALS_MAX = 100000, SAMPLES_MAX = 10000, PARAMS_MAX = 64, TEXT_MAX_BYTES = 4096 };
static const double REAL_LARGEST = 1e300;

static int text_check(const json_t *search, const char *name, bool empty, struct err *err) {
	const char *text;
	if (empty && json_is_null(json_object_get(search, name)))
		return 0;
	if (js_string(search, name, &text, err))
		return -1;
	if (!*text || strlen(text) > TEXT_MAX_BYTES)
		return err_set(err, ERR_USAGE, NULL, "\"%s\" is empty or too long", name);
	js_auto json_t *clean = js_text(text); /* as it would be exported */
	bool same = strcmp(json_string_value(clean), text) == 0;
	return same ? 0 : err_set(err, ERR_USAGE, NULL, "\"%s\" has control characters", name);
}

/* Names and plain values. */
static int flat_check(const json_t *object, const char *name, struct err *err) {
	json_t *flat;
	struct value value;
	if (js_object(object, name, &flat, err))
		return -1;
	if (json_object_size(flat) > PARAMS_MAX)
		return err_set(err, ERR_USAGE, NULL, "\"%s\" has too many members", name);
	js_members (key, member, flat)
		if (strlen(key) > TEXT_MAX_BYTES || !value_from_json(member, &value))
			return err_set(err, ERR_USAGE, NULL, "\"%s\" has a member that is not a plain value", name);
	return 0;
}

static int trial_check(const json_t *trial, struct err *err) {
	const char *status;
	enum trial_status known;
	json_t *samples;
	double value;
	if (!json_is_object(trial) || flat_check(trial, "config", err) || js_string(trial, "status", &status, err) ||
	    js_array(trial, "samples", SAMPLES_MAX, &samples, err) ||
	    js_real(trial, "elapsed_s", 0, REAL_LARGEST, &value, err))
		return err->code ? -1 : err_set(err, ERR_USAGE, NULL, "a trial must be an object");
	if (!trial_status_find(status, &known))
		return err_set(err, ERR_USAGE, NULL, "a trial has an unknown status");
	if (!json_is_null(json_object_get(trial, "value")) && js_real(trial, "value", 0, REAL_LARGEST, &value, err))
		return -1;
	js_each (sample, samples)
		if (!json_is_number(sample) || !(json_number_value(sample) >= 0))
			return err_set(err, ERR_USAGE, NULL, "a sample is not a time");
	return 0;
}

static int search_check(const json_t *search, struct err *err) {
	json_t *machine, *trials;
	int64_t number;
	double started;
	if (!json_is_object(search))
		return err_set(err, ERR_USAGE, NULL, "a search must be an object");
	if (text_check(search, "kernel", false, err) || text_check(search, "source", true, err) ||
	    text_check(search, "objective", false, err) || text_check(search, "strategy", true, err) ||
	    text_check(search, "fingerprint", false, err) || flat_check(search, "problem", err) ||
	    js_int(search, "seed", INT64_MIN, INT64_MAX, &number, err) ||
	    js_int(search, "valid", 0, INT64_MAX, &number, err) ||
	    js_real(search, "started", 0, REAL_LARGEST, &started, err) || js_object(search, "machine", &machine, err) ||
	    js_array(search, "trials", TRIALS_MAX, &trials, err))
		return -1;
	if (json_array_size(trials) == 0)
		return err_set(err, ERR_USAGE, NULL, "a search must have trials");
	js_each (trial, trials)
		if (trial_check(trial, err))
			return -1;
	return 0;
}

int share_check(const json_t *searches, struct err *err) {
	js_each (search, searches)
		if (search_check(search, err))
			return -1;
	return 0;
}

static int document_check(const json_t *document, struct err *err) {
	const char *hash, *schema = js_string_or(document, "schema", "");
	char own[SHA256_TEXT];
	json_t *searches;
	if (strcmp(schema, SHARE_SCHEMA) != 0)
		return err_set(err, ERR_USAGE, "`sweetspot store export` writes such files", "not a file of shared results");
	if (js_string(document, "hash", &hash, err) || js_array(document, "searches", SEARCHES_MAX, &searches, err))
		return -1;
	share_hash(searches, own);
	if (strcmp(own, hash) != 0)
		return err_set(err, ERR_USAGE, "export it again", "damaged or edited: the hash does not match");
	return share_check(searches, err);
}

static int trial_import(struct store *store, int64_t search, const json_t *trial, double started, struct err *err) {
	const json_t *list = json_object_get(trial, "samples");
	size_t count = json_array_size(list);
	mem_auto double *samples = mem_alloc(count + 1, sizeof *samples);
	mem_auto char *config = js_canonical(json_object_get(trial, "config"));
	js_each (sample, list)
		samples[sample_at] = json_number_value(sample);
	const struct store_trial row = {.search = search,
	                                .phase = "search",
	                                .config = config,
	                                .status = js_string_or(trial, "status", ""),
	                                .value = js_real_or(trial, "value", NAN),
	                                .samples = samples,
	                                .sample_count = count,
	                                .started = started,
	                                .elapsed = js_real_or(trial, "elapsed_s", 0)};
	return store_trial_add(store, &row, err);
}

static int search_import(struct store *store, const json_t *search, int64_t *added, struct err *err) {
	mem_auto char *problem = js_canonical(json_object_get(search, "problem"));
	double started = js_real_or(search, "started", 0);
	struct store_session session = {.fingerprint = js_string_or(search, "fingerprint", ""),
	                                .machine = json_object_get(search, "machine"),
	                                .command = STORE_IMPORT,
	                                .seed = (uint64_t)js_int_or(search, "seed", 0),
	                                .started = started};
	struct store_search row = {.kernel = js_string_or(search, "kernel", ""),
	                           .source = js_string_or(search, "source", ""),
	                           .problem = problem,
	                           .objective = js_string_or(search, "objective", ""),
	                           .strategy = js_string_or(search, "strategy", ""),
	                           .seed = session.seed,
	                           .valid = (uint64_t)js_int_or(search, "valid", 0)};
	int failed = store_session_begin(store, &session, err);
	row.session = session.id;
	failed = failed || store_search_begin(store, &row, err);
	const json_t *trials = json_object_get(search, "trials");
	js_each (trial, trials)
		failed = failed || trial_import(store, row.id, trial, started, err);
	*added += (int64_t)json_array_size(trials);
	failed = failed || store_search_end(store, row.id, "done", NULL, err);
	return failed || store_session_end(store, session.id, "done", NAN, err) ? -1 : 0;
}

/* These give numbers as the store keeps them: it drops the sign of a zero, and 3.0 is a whole number. */
static json_t *whole_json(const json_t *object, const char *key) {
	return json_integer(js_int_or(object, key, 0));
}

static json_t *real_json(const json_t *object, const char *key, double fallback) {
	double value = js_real_or(object, key, fallback);
	return js_number(value == 0 ? 0 : value);
}

static json_t *trial_plain(const json_t *trial) {
	json_t *list = json_object_get(trial, "samples"), *samples = json_array();
	js_each (sample, list)
		json_array_append_new(samples, js_number(json_number_value(sample)));
	return json_pack("{s:O,s:O,s:o,s:o,s:o}", "config", json_object_get(trial, "config"), "status",
	                 json_object_get(trial, "status"), "value", real_json(trial, "value", NAN), "samples", samples,
	                 "elapsed_s", real_json(trial, "elapsed_s", 0));
}

/* The search as it will be exported, so that it is known when it comes again, whatever else the document says. */
static json_t *search_plain(const json_t *search) {
	static const char *const same[] = {"kernel",   "source",  "problem",    "objective",
	                                   "strategy", "machine", "fingerprint"};
	json_t *plain = json_object(), *trials = json_array();
	size_t i;
	for (i = 0; i < sizeof same / sizeof *same; i++) {
		json_t *member = json_object_get(search, same[i]);
		json_object_set_new(plain, same[i], member ? json_incref(member) : json_null());
	}
	js_each (trial, json_object_get(search, "trials"))
		json_array_append_new(trials, trial_plain(trial));
	json_object_set_new(plain, "trials", trials);
	json_object_set_new(plain, "seed", whole_json(search, "seed"));
	json_object_set_new(plain, "valid", whole_json(search, "valid"));
	json_object_set_new(plain, "started", real_json(search, "started", 0));
	return plain;
}

static void plain_hash(const json_t *search, char hash[SHA256_TEXT]) {
	js_auto json_t *plain = search_plain(search);
	share_hash(plain, hash);
}

/* The hashes of the store's searches of these kernels, as they would be shared with and without private names: a
 * document may come back to where it was exported, and may be imported twice. */
static json_t *known_new(struct store *store, const char *const *kernels, struct err *err) {
	const struct share_wish wish = {.kernels = kernels, .private = true};
	char hash[SHA256_TEXT];
	size_t hidden;
	js_auto json_t *searches = share_searches(store, &wish, &hidden, err);
	json_t *known = searches ? json_object() : NULL;
	js_each (search, searches) {
		share_hash(search, hash);
		json_object_set_new(known, hash, json_true());
		json_object_set_new(search, "machine", share_machine(json_object_get(search, "machine")));
		share_hash(search, hash);
		json_object_set_new(known, hash, json_true());
	}
	return known;
}

static const char **kernels_new(const json_t *searches) {
	const char **kernels = mem_alloc(json_array_size(searches) + 1, sizeof *kernels);
	js_each (search, searches)
		kernels[search_at] = js_string_or(search, "kernel", "");
	return kernels;
}

/* -1 if failed */
static int store_whole_end(struct store *store, bool failed, struct err *err) {
	store->whole = false;
	return failed || store_exec(store, "COMMIT", err) ? store_rollback(store) : 0;
}

/* All changes until store_whole_end are stored, or, if one failed, none is. */
static int store_whole_begin(struct store *store, struct err *err) {
	if (store_begin(store, err))
		return -1;
	store->whole = true;
	return 0;
}

int share_import(struct store *store, const json_t *document, const char *where, struct share_import *import,
                 struct err *err) {
	char hash[SHA256_TEXT];
	*import = (struct share_import){0};
	if (document_check(document, err))
		return err_prefix(err, "%s", where);
	const json_t *searches = json_object_get(document, "searches");
	if (store_whole_begin(store, err))
		return -1;
	mem_auto const char **kernels = kernels_new(searches);
	js_auto json_t *known = known_new(store, kernels, err);
	int failed = !known;
	js_each (search, searches) {
		plain_hash(search, hash);
		if (failed)
			break;
		if (json_object_get(known, hash)) {
			import->known++;
			continue;
		}
		failed = search_import(store, search, &import->trials, err);
		json_object_set_new(known, hash, json_true());
		import->searches += !failed;
	}
	if (store_whole_end(store, failed, err) == 0)
		return 0;
	*import = (struct share_import){0};
	return -1;
}
