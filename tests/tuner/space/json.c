/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests configurations and spaces as JSON. */
#include "tests/tap.h"
#include "tests/tuner/space/help.h"

/* -1: refused; 1: read */
static int reads(const struct space *space, const char *text, const uint64_t *fallback, uint64_t *index,
                 struct err *err) {
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	*err = (struct err){0};
	int status = space_config_read(space, json, fallback, index, err);
	json_decref(json);
	return status == 0 ? 1 : -1;
}

static void test_round(const struct space *space) {
	size_t wrong = 0;
	for (uint64_t index = 0; index < space_valid(space); index++) {
		json_t *json = space_config_json(space, index);
		struct err err;
		uint64_t back = UINT64_MAX;
		wrong += space_config_read(space, json, NULL, &back, &err) != 0 || back != index;
		json_decref(json);
	}
	ok(wrong == 0, "all %llu configurations are read back from their JSON", (unsigned long long)space_valid(space));
}

static void test_refused(const struct space *space) {
	static const struct {
		const char *text, *what, *hint;
	} cases[] = {
		{"7", "JSON object", ""},
		{"{}", "needs a value", ""},
		{"{\"thread\": 2}", "'thread'", "'threads'"},
		{"{\"n\": 256}", "unknown parameter 'n'", ""},
		{"{\"threads\": 3}", "'threads' cannot be '3'", "nearest value is 2"},
		{"{\"threads\": \"two\"}", "'threads' cannot be 'two'", "1, 2, 4, 8"},
		{"{\"variant\": \"tilled\"}", "'tilled'", "'tiled'"},
		{"{\"variant\": [1]}", "neither a number nor a word", ""},
		{"{\"variant\": \"naive\", \"block\": 64, \"threads\": 1, \"places\": \"threads\", \"proc_bind\": \"false\", "
	     "\"schedule\": \"static\"}",
	     "'block' exists only where variant in", "leave it out"},
		{"{\"variant\": \"tiled\", \"block\": 512, \"threads\": 1, \"places\": \"threads\", \"proc_bind\": \"false\", "
	     "\"schedule\": \"static\"}",
	     "'block <= n and n % block == 0'", ""},
		{"{\"variant\": \"naive\", \"threads\": 1, \"places\": \"sockets\", \"proc_bind\": \"false\", "
	     "\"schedule\": \"static\"}",
	     "the table of threads, places, proc_bind", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err;
		uint64_t index;
		ok(reads(space, cases[i].text, NULL, &index, &err) < 0 && err.code == ERR_USAGE &&
		       strstr(err.what, cases[i].what) && strstr(err.hint, cases[i].hint),
		   "%s (%s)", err.what, err.hint);
	}
}

static const char *word_of(const struct space *space, uint64_t index, const char *name) {
	int config[SPACE_PARAMS_MAX], param = space_param_find(space, name);
	static char text[64];
	space_config(space, index, config);
	if (config[param] == SPACE_ABSENT)
		return "absent";
	value_text(space_param_value(space, (size_t)param, (size_t)config[param]), text, sizeof text);
	return text;
}

static void test_fallback(const struct space *space) {
	struct err err;
	uint64_t base, index, tiled;
	ok(reads(space,
	         "{\"variant\": \"naive\", \"threads\": 4, \"places\": \"cores\", \"proc_bind\": \"spread\", "
	         "\"schedule\": \"dynamic\", \"chunk\": 16, \"block\": null}",
	         NULL, &base, &err) > 0,
	   "a complete configuration, with null for an absent parameter");
	ok(reads(space, "{}", &base, &index, &err) > 0 && index == base, "an empty object gives the fallback");
	ok(reads(space, "{\"variant\": \"tiled\"}", &base, &tiled, &err) > 0, "a parameter that appears gets a value");
	is_text(word_of(space, tiled, "block"), "64", "the middle one");
	is_text(word_of(space, tiled, "chunk"), "16", "the other values are the fallback's");
	ok(reads(space, "{\"schedule\": \"static\"}", &tiled, &index, &err) > 0,
	   "a parameter that no longer exists is dropped");
	is_text(word_of(space, index, "chunk"), "absent", "the dropped parameter is gone");
	ok(reads(space, "{\"block\": 16}", &base, &index, &err) < 0 && strstr(err.what, "exists only where"), "%s",
	   err.what);
	ok(reads(space, "{\"chunk\": 64}", &base, &index, &err) < 0 && strstr(err.what, "chunk * threads"), "%s", err.what);
	ok(reads(space, "{\"threads\": 1}", &base, &index, &err) < 0 && strstr(err.what, "table"), "%s", err.what);
}

static void test_hash(void) {
	struct space *a = openmp_space(), *b = openmp_space(), *c = openmp_space(), *d = openmp_space();
	struct err err;
	add_constraint(c, "threads > 0");
	must(space_add_constant(d, "m", value_int(1), &err), &err);
	char *ha = space_hash(built(a)), *hb = space_hash(built(b)), *hc = space_hash(built(c)), *hd = space_hash(built(d));
	ok(strcmp(ha, hb) == 0 && strncmp(ha, "sha256:", 7) == 0, "the same space has the same hash");
	ok(strcmp(ha, hc) != 0 && strcmp(ha, hd) != 0, "another space has another hash");
	free(ha);
	free(hb);
	free(hc);
	free(hd);
	space_free(a);
	space_free(b);
	space_free(c);
	space_free(d);
}

static void test_json(const struct space *space) {
	json_t *json = space_json(space), *counts = json_object_get(json, "space"),
		   *params = json_object_get(json, "params");
	ok((double)json_integer_value(json_object_get(counts, "cartesian")) == space_cartesian(space) &&
	       (uint64_t)json_integer_value(json_object_get(counts, "valid")) == space_valid(space),
	   "counts");
	ok(json_array_size(params) == space_params(space) && json_array_size(json_object_get(json, "constraints")) == 2,
	   "lists");
	json_t *block = json_array_get(params, (size_t)space_param_find(space, "block"));
	is_text(json_string_value(json_object_get(block, "when")), space_param_when(space, 1), "a condition");
	ok(json_integer_value(json_array_get(json_object_get(block, "values"), 1)) == 32, "a value");
	ok(json_is_null(json_object_get(json_array_get(params, 0), "when")), "a missing condition is null");
	json_decref(json);
}

int main(void) {
	struct space *space = built(openmp_space());
	test_round(space);
	test_refused(space);
	test_fallback(space);
	test_hash();
	test_json(space);
	space_free(space);
	return tap_done();
}
