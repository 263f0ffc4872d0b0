/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile made from the store passes its check; every way of breaking it is refused. */
#include <sqlite3.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/profile/profile.h"
#include "tuner/program/program.h"

static const char *source_of(void *ctx, const char *kernel) {
	(void)kernel;
	return ctx;
}

static void env_is(const char *kernel, const char *config, const char *want) {
	json_error_t why;
	json_t *json = json_loads(config, 0, &why), *env = config_environment(kernel, json);
	char *text = js_canonical(env);
	is_text(text, want, config);
	free(text);
	json_decref(env);
	json_decref(json);
}

static void test_environment(void) {
	env_is("fw", "{}", "{}");
	env_is(NULL, "{\"block\":64}", "{}");
	env_is("fw", "{\"block\":64,\"variant\":\"tiled\",\"pad\":true,\"x\":0.5}",
	       "{\"SWEETSPOT_FW_BLOCK\":\"64\",\"SWEETSPOT_FW_PAD\":\"true\",\"SWEETSPOT_FW_VARIANT\":\"tiled\","
	       "\"SWEETSPOT_FW_X\":\"0.5\"}");
	env_is("fw", "{\"threads\":2,\"proc_bind\":\"close\",\"places\":\"cores\",\"schedule\":\"dynamic\",\"chunk\":4}",
	       "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\",\"OMP_PLACES\":\"cores\",\"OMP_PROC_BIND\":\"close\","
	       "\"OMP_SCHEDULE\":\"dynamic,4\"}");
	env_is("fw", "{\"threads\":2,\"proc_bind\":\"false\",\"places\":\"cores\",\"schedule\":\"static\"}",
	       "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\",\"OMP_PROC_BIND\":\"false\",\"OMP_SCHEDULE\":"
	       "\"static\"}");
	env_is("fw", "{\"proc_bind\":false,\"places\":\"cores\"}", "{\"OMP_PROC_BIND\":\"false\"}");
	env_is(NULL, "{\"threads\":1,\"block\":64}", "{\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"1\"}");
	env_is("a-b", "{\"x y\":1,\"x.y\":2,\"chunk\":3}",
	       "{\"SWEETSPOT_A_B_CHUNK\":\"3\",\"SWEETSPOT_A_B_X_Y\":\"1\",\"SWEETSPOT_A_B_X_Y_\":\"2\"}");
	env_is("k", "{\"list\":[1],\"none\":null}", "{}");
}

static json_t *made(struct store *store, const char *const *kernels, const char *source) {
	struct err err = {0};
	json_t *profile = profile_from_store(store, MACHINE, kernels, source ? source_of : NULL, (void *)source, &err);
	if (!profile)
		printf("# %s\n", err.what);
	return profile;
}

static void test_from_store(struct store *store) {
	struct err err = {0};
	const char *const fw[] = {"fw", NULL}, *const unknown[] = {"fw", "goll", NULL};
	json_t *all = made(store, NULL, NULL), *some = made(store, fw, "sha256:1234"), *stale = made(store, fw, "sha256:9");
	json_t *entry = json_array_get(json_object_get(all, "entries"), 1);
	ok(json_array_size(json_object_get(all, "entries")) == 3, "a result for each kernel and problem");
	is_text(json_string_value(json_object_get(json_object_get(all, "machine"), "fingerprint")), MACHINE,
	        "the fingerprint");
	is_text(json_string_value(json_object_get(json_object_get(entry, "environment"), "OMP_SCHEDULE")), "dynamic,4",
	        "the environment");
	is_text(json_string_value(json_object_get(json_object_get(entry, "provenance"), "command")), "sweetspot tune 'a b'",
	        "the command");
	ok(json_array_size(json_object_get(some, "entries")) == 2, "the profile of one kernel has its entries only");
	entry = json_array_get(json_object_get(some, "entries"), 0);
	is_text(json_string_value(json_object_get(entry, "state")), "current", "the same source is current");
	entry = json_array_get(json_object_get(stale, "entries"), 0);
	is_text(json_string_value(json_object_get(entry, "state")), "stale", "another source is stale");
	ok(!profile_from_store(store, MACHINE, unknown, NULL, NULL, &err) && err.code == ERR_NOTHING &&
	       strstr(err.hint, "gol"),
	   "%s: %s", err.what, err.hint);
	ok(!profile_from_store(store, "sha256:0", NULL, NULL, NULL, &err) && err.code == ERR_NOTHING && *err.hint, "%s",
	   err.what);
	json_decref(all);
	json_decref(some);
	json_decref(stale);
}

/* A result without baseline, then one that holds nonsense. */
static void test_odd_results(struct store *store) {
	struct err err = {0};
	const char *const odd[] = {"odd", NULL};
	json_t *result = fixture_result("odd", 1, 0.5);
	json_object_set_new(result, "baseline", json_null());
	json_object_set_new(result, "speedup", json_null());
	int64_t session = fixture_session(store, MACHINE);
	store_search_end(store, fixture_search(store, session, "odd", "{\"n\":1}"), "done", result, &err);
	json_t *profile = made(store, odd, NULL);
	json_t *entry = json_array_get(json_object_get(profile, "entries"), 0);
	ok(json_is_null(json_object_get(entry, "baseline")) && json_is_null(json_object_get(entry, "noise_floor")),
	   "a baseline that failed and no noise floor");
	json_decref(profile);
	json_object_set_new(json_object_get(result, "best"), "median", json_string("x"));
	store_search_end(store, fixture_search(store, session, "odd", "{\"n\":1}"), "done", result, &err);
	ok(!profile_from_store(store, MACHINE, odd, NULL, NULL, &err) && err.code == ERR_USAGE && *err.hint, "%s",
	   err.what);
	json_object_set_new(result, "best", json_null());
	store_search_end(store, fixture_search(store, session, "odd", "{\"n\":1}"), "done", result, &err);
	ok(!profile_from_store(store, MACHINE, odd, NULL, NULL, &err) && err.code == ERR_NOTHING, "%s", err.what);
	json_decref(result);
	json_t *machine = json_object();
	struct store_session bytes = {.fingerprint = MACHINE, .machine = machine, .command = "tune \xff\xfe", .started = 1};
	store_session_begin(store, &bytes, &err);
	json_decref(machine);
	result = fixture_result("odd", 1, 0.5);
	store_search_end(store, fixture_search(store, bytes.id, "odd", "{\"n\":1}"), "done", result, &err);
	profile = made(store, odd, NULL);
	ok(profile != NULL, "a command with bytes that are not UTF-8");
	json_decref(profile);
	json_decref(result);
}

/* A program's result: its variables are its own, and those that load code are left out. */
static json_t *program_result(void) {
	json_t *result = fixture_result("app", 1, 0.5);
	json_t *program =
		json_pack("{s:[s, s], s:b, s:b, s:n, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s}, s:s}", "argv", "./app",
	              "{B}", "shell", 0, "openmp", 1, "cwd", "params", "B", "argument", "threads", "openmp", "CHUNK",
	              "environment", "LD_PRELOAD", "environment", "environment", "OMP_NUM_THREADS", "3", "CHUNK", "8",
	              "LD_PRELOAD", "x.so", "OTHER", "y", "line", "env ./app 4");
	json_object_set_new(result, "program", program);
	return result;
}

static void test_program(struct store *store) {
	struct err err = {0};
	const char *const app[] = {"app", NULL};
	json_t *result = program_result();
	int64_t session = fixture_session(store, MACHINE);
	store_search_end(store, fixture_search(store, session, "app", "{\"command\":\"./app {B}\"}"), "done", result, &err);
	json_t *profile = made(store, app, "sha256:of a kernel of that name");
	json_t *entry = json_array_get(json_object_get(profile, "entries"), 0);
	char *environment = js_canonical(json_object_get(entry, "environment"));
	is_text(environment, "{\"CHUNK\":\"8\",\"OMP_NUM_THREADS\":\"3\"}", "the environment of a program");
	is_text(json_string_value(json_object_get(entry, "state")), "current", "no kernel's source makes a program stale");
	json_t *program = json_object_get(entry, "program");
	ok(json_array_size(json_object_get(program, "argv")) == 2 && !json_object_get(program, "environment"),
	   "an entry of a program has its words and, once, its environment");
	int accepted = 0, tried = 0;
	const char *member;
	json_t *value, *copy = json_copy(program);
	static const char *const wrong[] = {"[]", "[7]", "{\"\":1}", "7", "{\"B\":\"magic\"}", "[\"\"]"};
	json_object_foreach(copy, member, value) {
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++, tried++) {
			json_object_set_new(program, member, json_loads(wrong[i], JSON_DECODE_ANY, NULL));
			bool taken = profile_check(profile, &err) == 0;
			accepted += taken;
			if (taken)
				printf("# accepted: %s %s\n", member, wrong[i]);
		}
		json_object_set(program, member, value);
	}
	ok(tried > 30 && accepted == 0 && profile_check(profile, &err) == 0, "faults in it are refused");
	free(environment);
	json_decref(copy);
	json_decref(profile);
	json_decref(result);
}

/* A profile also keeps the variables of a program that are best left out, and the load if others used the machine. */
static void test_circumstances(struct store *store) {
	struct err err = {0};
	const char *const app[] = {"app", NULL};
	json_t *result = program_result(), *config = json_object_get(json_object_get(result, "best"), "config");
	int64_t session = fixture_session(store, MACHINE);
	json_object_set_new(config, "CHUNK", json_string("unset"));
	json_object_set_new(config, "LD_PRELOAD", json_string("unset"));
	json_object_set_new(config, "B", json_string("unset"));
	json_object_set_new(result, "load", json_pack("{s:f, s:i, s:b}", "load", 5.5, "processors", 2, "busy", 1));
	json_object_set_new(result, "narrower", json_string("cores"));
	store_search_end(store, fixture_search(store, session, "app", "{\"command\":\"./app {B}\"}"), "done", result, &err);
	json_t *profile = made(store, app, NULL), *entry = json_array_get(json_object_get(profile, "entries"), 0);
	char *unset = js_canonical(json_object_get(entry, "unset")), *busy = profile_entry_busy(entry);
	is_text(unset, "[\"CHUNK\"]", "a variable to leave out, which is neither an argument nor a library to load");
	is_text(
		busy ? busy : "",
		"decided on a busy machine: load 5.5 on 2 processors; it uses fewer cores than the baseline and may win only "
		"because of that",
		"what the machine did meanwhile");
	free(busy);
	free(unset);
	json_decref(profile);
	json_decref(result);
}

/* The baseline failed, so nothing but the search has measured the best. */
static void test_no_baseline(struct store *store) {
	struct err err = {0};
	const char *const lone[] = {"lone", NULL};
	json_t *result = fixture_result("lone", 1, 0.5);
	json_t *none = json_pack("[n, n]");
	json_object_set(json_object_get(result, "best"), "ci", none);
	json_object_set_new(json_object_get(result, "baseline"), "ci", none);
	json_object_set_new(json_object_get(result, "baseline"), "median", json_null());
	json_object_set_new(result, "speedup", json_null());
	json_object_set_new(result, "verdict", json_string("no baseline"));
	int64_t session = fixture_session(store, MACHINE);
	store_search_end(store, fixture_search(store, session, "lone", "{\"n\":1}"), "done", result, &err);
	json_t *profile = made(store, lone, NULL);
	ok(profile != NULL, "a baseline that failed does not spoil the profile");
	json_decref(profile);
	json_decref(result);
}

/* Every object of the document in turn: each of its members is removed, then replaced by each of these. */
struct sweep {
	json_t *root;
	int accepted, tried, silent;
};

static void sweep_try(struct sweep *sweep, const char *key) {
	struct err err = {0};
	sweep->tried++;
	if (profile_check(sweep->root, &err) == 0) {
		sweep->accepted++;
		printf("# accepted: %s\n", key);
	} else if (err.code != ERR_USAGE || !*err.what || !*err.hint) {
		sweep->silent++;
	}
}

static void sweep_members(struct sweep *sweep, json_t *object, const char *const *keys) {
	static const char *const wrong[] = {"[]", "[1]", "{\"\":[]}", "[-1,2]", "[2,1]", "\"\\u0001\"", "-1"};
	for (; *keys; keys++) {
		json_t *kept = json_incref(json_object_get(object, *keys));
		json_object_del(object, *keys);
		sweep_try(sweep, *keys);
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			bool is_text = wrong[i][0] == '"' && json_is_string(kept);
			bool is_seed = wrong[i][0] == '-' && strcmp(*keys, "seed") == 0;
			bool is_list = strcmp(wrong[i], "[]") == 0 && strcmp(*keys, "entries") == 0;
			if (is_seed || is_list || (is_text && !strstr("schema created verdict state measured fingerprint", *keys)))
				continue;
			json_object_set_new(object, *keys, json_loads(wrong[i], JSON_DECODE_ANY, NULL));
			sweep_try(sweep, *keys);
		}
		json_object_set_new(object, *keys, kept);
	}
}

static void test_refusals(json_t *profile) {
	static const char *const top[] = {"schema", "generator", "created", "machine", "entries", NULL};
	static const char *const machine[] = {"fingerprint", NULL};
	static const char *const entry_keys[] = {
		"kernel", "source",   "problem", "objective", "config",      "environment", "median",     "ci",
		"unit",   "baseline", "speedup", "verdict",   "noise_floor", "state",       "provenance", NULL};
	static const char *const baseline[] = {"config", "median", "ci", NULL}, *const speedup[] = {"ratio", "ci", NULL};
	static const char *const provenance[] = {"version",  "command", "strategy", "seed", "evaluations",
	                                         "measured", "session", "search",   NULL};
	struct sweep sweep = {.root = profile};
	sweep_members(&sweep, profile, top);
	sweep_members(&sweep, json_object_get(profile, "machine"), machine);
	for (size_t i = 0; i < json_array_size(json_object_get(profile, "entries")); i++) {
		json_t *entry = json_array_get(json_object_get(profile, "entries"), i);
		sweep_members(&sweep, entry, entry_keys);
		sweep_members(&sweep, json_object_get(entry, "baseline"), baseline);
		sweep_members(&sweep, json_object_get(entry, "speedup"), speedup);
		sweep_members(&sweep, json_object_get(entry, "provenance"), provenance);
	}
	ok(sweep.tried > 500 && sweep.accepted == 0, "%d times a member is missing or wrong: refused", sweep.tried);
	ok(sweep.silent == 0, "each time with a reason and a hint");
	struct err err = {0};
	ok(profile_check(profile, &err) == 0, "put back, it passes: %s", err.what);
}

static void test_hostile(json_t *profile) {
	static const char *const names[] = {"LD_PRELOAD",    "PATH", "OMP_TOOL_LIBRARIES", "SWEETSPOT_",    "SWEETSPOT_x",
	                                    "SWEETSPOT_A;B", "",     "OMP_NUM_THREADS ",   "SWEETSPOT_A\nB"};
	static const char *const times[] = {"",
	                                    "2025-13-01T00:00:00Z",
	                                    "2025-00-01T00:00:00Z",
	                                    "2025-01-32T00:00:00Z",
	                                    "2025-01-01T24:00:00Z",
	                                    "2025-01-01T00:60:00Z",
	                                    "2025-01-01T00:00:61Z",
	                                    "2025-01-01 00:00:00Z",
	                                    "2025-01-01T00:00:00",
	                                    "2025-01-01T00:00:00ZZ"};
	static const char *const prints[] = {"", "sha256:", "sha256:XY", "md5:00", "sha256:00 "};
	json_t *env = json_object_get(json_array_get(json_object_get(profile, "entries"), 0), "environment");
	int accepted = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		json_object_set_new(env, names[i], json_string("x"));
		accepted += profile_check(profile, NULL) == 0;
		json_object_del(env, names[i]);
	}
	ok(accepted == 0, "a profile sets no variable but OpenMP's and ours");
	json_t *created = json_incref(json_object_get(profile, "created"));
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		json_object_set_new(profile, "created", json_string(times[i]));
		accepted += profile_check(profile, NULL) == 0;
	}
	json_object_set_new(profile, "created", created);
	ok(accepted == 0, "invalid times");
	json_t *machine = json_object_get(profile, "machine");
	for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
		json_object_set_new(machine, "fingerprint", json_string(prints[i]));
		accepted += profile_check(profile, NULL) == 0;
	}
	json_object_set_new(machine, "fingerprint", json_string(MACHINE));
	ok(accepted == 0 && profile_check(profile, NULL) == 0, "invalid fingerprints");
}

/* Bytes of the text are changed, removed, doubled: parsing and checking end with a verdict, and what passes is written
 * and read back as the same. */
static void test_fuzz(const json_t *profile, const char *path) {
	enum { ROUNDS = 3000 };
	struct rng rng;
	char *text = js_canonical(profile);
	size_t size = strlen(text);
	int passed = 0, wrong = 0;
	rng_seed(&rng, 5);
	for (int round = 0; round < ROUNDS; round++) {
		struct err err = {0};
		char *copy = mem_alloc(size + 1, 1);
		memcpy(copy, text, size);
		for (uint64_t i = 0, changes = 1 + rng_below(&rng, 3); i < changes; i++) {
			size_t at = rng_below(&rng, size);
			static const char bytes[] = "0123456789-+.eE\"\\{}[],:ntfa \x80\xff";
			copy[at] = rng_below(&rng, 4) ? bytes[rng_below(&rng, sizeof bytes)] : copy[rng_below(&rng, size)];
		}
		json_t *json = js_parse(copy, size, "input", &err);
		if (!json || profile_check(json, &err)) {
			wrong += err.code != ERR_USAGE || !*err.what;
		} else if (passed++ % 50 == 0) {
			json_t *back = profile_save(json, path, &err) ? NULL : profile_load(path, &err);
			wrong += !back || !json_equal(json, back);
			json_decref(back);
		}
		json_decref(json);
		free(copy);
	}
	ok(wrong == 0 && passed > 0 && passed < ROUNDS, "%d mutated texts, %d of them still profiles", ROUNDS, passed);
	free(text);
}

static void test_files(const json_t *profile, const char *path) {
	struct err err = {0};
	ok(profile_save(profile, path, &err) == 0, "a profile is saved: %s", err.what);
	json_t *back = profile_load(path, &err);
	ok(json_equal(profile, back), "a saved profile is read back the same");
	json_decref(back);
	ok(profile_save(profile, "/proc/nope/p.json", &err) && err.code == ERR_FAILED, "%s", err.what);
	ok(!profile_load("/proc/nope/p.json", &err) && *err.what, "%s", err.what);
	FILE *f = fopen(path, "w");
	fputs("{\"schema\":\"sweetspot-profile/2\"}", f);
	fclose(f);
	ok(!profile_load(path, &err) && err.code == ERR_USAGE && strstr(err.what, path), "%s", err.what);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("store.db"), *file = fixture_path("profile.json");
	test_environment();
	struct store *store = fixture_open(path);
	fixture_finish(store, MACHINE, "gol", 64, 0.5);
	fixture_finish(store, MACHINE, "fw", 64, 0.25);
	fixture_finish(store, OTHER_MACHINE, "lu", 64, 0.25);
	fixture_finish(store, MACHINE, "fw", 128, 0.25);
	test_from_store(store);
	json_t *profile = made(store, NULL, NULL);
	test_refusals(profile);
	test_hostile(profile);
	test_files(profile, file);
	test_fuzz(profile, file);
	test_odd_results(store);
	test_program(store);
	test_circumstances(store);
	test_no_baseline(store);
	json_decref(profile);
	store_close(store);
	free(path);
	free(file);
	return fixture_end();
}
