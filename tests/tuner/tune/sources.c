/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The earlier searches that a strategy is told of: which ones, in which order, and mapped to which configurations of
 * its own space. */
#include "tests/tuner/tune/spy.h"
#include "tuner/tune/tune_impl.h"

static struct store *store;

struct how {
	const char *x_values, *source, *fingerprint, *kernel;
	const char *objective; /* NULL: time */
	int n;
	bool alone; /* --no-transfer */
	double scale;
};

static json_t *tune(struct how how) {
	struct spy_kernel kernel = {.scale = how.scale};
	struct runner runner = spy_runner(&kernel);
	struct space *space = spy_space(how.x_values ? how.x_values : "1..16*2");
	struct tune_task task = spy_task(store, space, &runner, how.n, 30);
	struct err err = {0};
	json_t *result = NULL;
	task.prior.transfer = !how.alone;
	task.kernel = how.kernel ? how.kernel : task.kernel;
	task.source = how.source ? how.source : task.source;
	if (how.fingerprint) {
		task.fingerprint = how.fingerprint;
		task.session = fixture_session(store, how.fingerprint);
	}
	if (how.objective)
		trial_objective_find(how.objective, &task.goal.objective);
	if (tune_run(&task, NULL, &result, &err))
		printf("# %s\n", err.what);
	spy_task_clear(&task);
	space_free(space);
	return result;
}

static void tuned(struct how how) {
	json_decref(tune(how));
}

static const struct strategy_outcome *outcome_at(const struct strategy_source *source, const struct space *space, int x,
                                                 int y) {
	json_t *config = json_pack("{s:i,s:i}", "x", x, "y", y);
	uint64_t index = UINT64_MAX;
	space_config_read(space, config, NULL, &index, NULL);
	json_decref(config);
	for (size_t i = 0; i < source->count; i++)
		if (source->index[i] == index)
			return &source->outcome[i];
	return NULL;
}

static bool is_plain(void) {
	const struct strategy_source *source = &spy_book.sources[0];
	for (size_t i = 0; i < source->count; i++)
		if (source->outcome[i].counters ||
		    (source->outcome[i].result != STRATEGY_FAILURE) != (source->outcome[i].value > 0))
			return false;
	return true;
}

/* An earlier search of n = 1000 is a source for one of n = 2000. */
static void other_size(void) {
	tuned((struct how){.n = 1000});
	ok(spy_book.source_count == 0, "the first search of a kernel has no sources");
	json_t *result = tune((struct how){.n = 2000}), *told = json_object_get(result, "sources");
	const struct strategy_source *source = &spy_book.sources[0];
	struct space *space = spy_space("1..16*2");
	ok(spy_book.source_count == 1 && source->count == 25, "another size is a source: %zu configurations",
	   source->count);
	const struct strategy_outcome *one = outcome_at(source, space, 8, 0), *none = outcome_at(source, space, 4, 3);
	ok(one && one->result == STRATEGY_VALUE && fabs(one->value / 1e-3 - 1) < 1e-9, "a source has its values");
	ok(one && one->deviation > 0 && one->seconds > 0.01, "values of a source have deviation and seconds");
	ok(none && none->result == STRATEGY_FAILURE, "failures too");
	ok(is_plain(), "a source has nothing but values and failures");
	ok(strstr(source->name, "n=1000") && strstr(source->name, "this machine"), "a source has a name: %s", source->name);
	ok(json_array_size(told) == 1 && js_int_or(json_array_get(told, 0), "configurations", 0) == 25,
	   "the result lists the sources");
	space_free(space);
	json_decref(result);
}

static bool starts(size_t at, const char *text) {
	bool good = at < spy_book.source_count && strncmp(spy_book.names[at], text, strlen(text)) == 0;
	if (!good)
		printf("# source %zu is %s\n", at, at < spy_book.source_count ? spy_book.names[at] : "none");
	return good;
}

static void order(void) {
	tuned((struct how){.n = 64000});
	tuned((struct how){.n = 4000, .fingerprint = OTHER_MACHINE});
	tuned((struct how){.n = 4000, .source = "sha256:1"});
	tuned((struct how){.n = 4000, .objective = "energy"});
	tuned((struct how){.n = 4000, .kernel = "another"});
	tuned((struct how){.n = 4000});
	ok(starts(0, "n=2000, this machine") && starts(1, "n=1000, this machine") && starts(2, "n=64000, this machine"),
	   "this machine and source come first, the nearest size before others");
	ok(starts(3, "n=4000, another source, this machine"), "another source comes after this machine and source");
	ok(starts(4, "n=4000, on "), "another machine comes last");
	ok(spy_book.source_count == 5, "another kernel or objective is not a source");
	tuned((struct how){.n = 4000, .alone = true});
	ok(spy_book.source_count == 0, "there are no sources without transfer");
	tuned((struct how){.n = 4000});
	ok(starts(0, "n=4000, this machine") && starts(1, "n=4000, this machine"),
	   "the same problem in earlier sessions is the most similar");
	tuned((struct how){.n = 4000});
	ok(starts(0, "n=4000, this machine") && starts(1, "n=4000, this machine") && starts(2, "n=2000, this machine"),
	   "at most two sources of a kind are used");
	for (int n = 100; n < 1000; n += 100)
		tuned((struct how){.n = n});
	ok(spy_book.source_count == 8, "eight sources at most");
}

/* Values that the new space lacks. */
static void other_values(void) {
	tuned((struct how){.n = 3000, .kernel = "mapped"});
	tuned((struct how){.n = 3000, .kernel = "mapped", .x_values = "100,200"});
	ok(spy_book.source_count == 0, "a search without common values is not a source");
}

static void nearest(void) {
	struct space *space = spy_space("2,7,12");
	struct tune_source_data data;
	struct err err = {0};
	int64_t last = 0, search = 0;
	json_t *result = tune((struct how){.n = 3000, .kernel = "near"});
	search = js_int_or(result, "search", 0);
	json_decref(result);
	store_last_trial(store, &last, &err);
	ok(tune_source_read(store, search, last, space, UINT64_MAX, &data, &err) == 0, "a search is read");
	const struct strategy_source source = {"", data.count, data.index, data.outcome};
	const struct strategy_outcome *two = outcome_at(&source, space, 2, 0), *seven = outcome_at(&source, space, 7, 0);
	ok(two && fabs(two->value / (3e-3 * 1.6) - 1) < 1e-9, "a value of the list is used as it is");
	ok(seven && fabs(seven->value / 3e-3 - 1) < 1e-9, "another one maps to the nearest, 7 to 8");
	ok(data.count == 10 && !outcome_at(&source, space, 12, 0), "values beyond the list and duplicates are dropped: %zu",
	   data.count);
	tune_source_clear(&data);
	ok(tune_source_read(store, search, 0, space, UINT64_MAX, &data, &err) == 0 && data.count == 0,
	   "later trials than requested are ignored");
	tune_source_clear(&data);
	space_free(space);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("tune.db");
	store = fixture_open(path);
	spy_book_clear();
	other_size();
	order();
	other_values();
	nearest();
	spy_book_clear();
	store_close(store);
	free(path);
	return fixture_end();
}
