/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/json/member.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sample[] =
	"{\"schema\":\"x/1\",\"results\":[{\"n\":-12,\"t\":[0.5,1e-3,2.5E+2],\"w\":\"a\\u00e9\\n\\\"\",\"ok\":true,"
	"\"no\":null}],\"e\":{}}";

static bool is_refused(const char *text, size_t size) {
	struct err err = {0};
	json_t *json = js_parse(text, size, "the file", &err);
	bool refused = !json && err.code == ERR_USAGE && strstr(err.what, "the file");
	if (!refused)
		printf("# taken: %.60s\n", text);
	json_decref(json);
	return refused;
}

static void test_refused(void) {
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"[1,]",
		"{\"a\":1,}",
		"{a:1}",
		"[1] 2",
		"[1][2]",
		"// c\n[1]",
		"1",
		"\"a\"",
		"null",
		"[tru]",
		"[01]",
		"[+1]",
		"[.5]",
		"[1.]",
		"[-]",
		"[NaN]",
		"[Infinity]",
		"[9223372036854775808]",
		"[-9223372036854775809]",
		"[1e999]",
		"[-1e999]",
		"['a']",
		"[\"abc",
		"[\"\n\"]",
		"[\"\\x\"]",
		"[\"\\ud800\"]",
		"[\"\\u0000\"]",
		"[\"\377\"]",
		"[\"\300\200\"]",
		"\357\273\277[1]",
		"{\"a\":1,\"a\":1}",
		"{\"b\":{\"a\":1,\"a\":2}}",
		"{\"a\":1,\"\\u0061\":2}",
	};
	int taken = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		taken += !is_refused(bad[i], strlen(bad[i]));
	ok(taken == 0, "invalid or doubtful documents are refused");
	ok(is_refused("[1\0]", 4) && is_refused("[1]\0", 4), "bytes of 0 are refused");
	for (size_t size = 0; size < sizeof(sample) - 1; size++)
		taken += !is_refused(sample, size);
	ok(taken == 0, "every document that is cut short is refused");
}

static char *nested(size_t depth) {
	char *text = mem_alloc(2 * depth + 1, 1);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return text;
}

static void test_depth(void) {
	char *some = nested(1000), *many = nested(1000000);
	struct err err;
	json_t *json = js_parse(some, 2000, "nested", &err);
	char *text = js_canonical(json);
	is_text(text, some, "a thousand levels are read and written");
	ok(is_refused(many, 2000000) && is_refused(many, 1000000), "a million are refused");
	json_decref(json);
	free(text);
	free(some);
	free(many);
}

static json_t *random_value(struct rng *rng, int depth);

static json_t *random_real(struct rng *rng) {
	uint64_t bits = rng_u64(rng);
	double real;
	memcpy(&real, &bits, sizeof(real));
	return json_real(isfinite(real) && rng_below(rng, 2) ? real : (double)rng_below(rng, 100) / 4);
}

static json_t *random_string(struct rng *rng) {
	char text[12] = "";
	for (size_t i = 0, size = rng_below(rng, sizeof(text)); i < size; i++)
		text[i] = (char)(1 + rng_below(rng, 127));
	return json_string(text);
}

static json_t *random_container(struct rng *rng, int depth) {
	bool is_object = rng_below(rng, 2);
	json_t *json = is_object ? json_object() : json_array();
	for (size_t i = rng_below(rng, 6); i > 0; i--) {
		json_t *key = random_string(rng), *item = random_value(rng, depth - 1);
		if (is_object)
			json_object_set(json, json_string_value(key), item);
		else
			json_array_append(json, item);
		json_decref(key);
		json_decref(item);
	}
	return json;
}

static json_t *random_value(struct rng *rng, int depth) {
	switch (rng_below(rng, depth > 0 ? 8 : 5)) {
	case 0:
		return json_integer((json_int_t)(rng_u64(rng) >> rng_below(rng, 64)));
	case 1:
		return random_real(rng);
	case 2:
		return random_string(rng);
	case 3:
		return json_boolean(rng_below(rng, 2));
	case 4:
		return json_null();
	default:
		return random_container(rng, depth);
	}
}

/* The same value with every object filled in the opposite order. */
static json_t *reversed(json_t *json) {
	json_t *item, *copy = json_is_object(json) ? json_object() : json_is_array(json) ? json_array() : json_copy(json);
	const char *key, *keys[16];
	size_t count = 0, i;
	json_object_foreach(json, key, item) keys[count++] = key;
	while (count--)
		json_object_set_new(copy, keys[count], reversed(json_object_get(json, keys[count])));
	json_array_foreach(json, i, item) json_array_append_new(copy, reversed(item));
	return copy;
}

static char *written(const json_t *json) {
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	js_write(json, out);
	fclose(out);
	return text;
}

static bool reads_as(const char *text, const json_t *want) {
	struct err err = {0};
	json_t *json = js_parse(text, strlen(text), "text", &err);
	bool same = json && json_equal(json, want);
	if (!same)
		printf("# %s: %s\n", text, err.what);
	json_decref(json);
	return same;
}

static void test_round_trip(void) {
	struct rng rng;
	int order = 0, canonical = 0, indented = 0;
	rng_seed(&rng, 11);
	for (int i = 0; i < 3000; i++) {
		json_t *json = random_container(&rng, 4), *other = reversed(json);
		char *text = js_canonical(json), *other_text = js_canonical(other), *shown = written(json);
		order += strcmp(text, other_text) != 0;
		canonical += !reads_as(text, json);
		indented += !reads_as(shown, json);
		json_decref(json);
		json_decref(other);
		free(text);
		free(other_text);
		free(shown);
	}
	ok(order == 0, "the order of keys does not change the canonical text");
	ok(canonical == 0, "the canonical text reads back as the same value");
	ok(indented == 0, "the indented text reads back as the same value");
}

static void test_form(void) {
	static const char given[] =
		"{\"b\": [0.1, 2.0, 1e300], \"a\": {\"x\": [], \"y\": {}, \"z\": [[1], {\"k\": null}]}}";
	json_t *json = js_parse(given, sizeof(given) - 1, "form", NULL);
	char *text = js_canonical(json), *shown = written(json);
	static const char want[] =
		"{\"a\":{\"x\":[],\"y\":{},\"z\":[[1],{\"k\":null}]},\"b\":[0.10000000000000001,2.0,1.0000000000000001e300]}";
	static const char want_shown[] =
		"{\n  \"b\": [0.1, 2.0, 1e+300],\n  \"a\": {\n    \"x\": [],\n    \"y\": {},\n    \"z\": [\n"
		"      [1],\n      {\n        \"k\": null\n      }\n    ]\n  }\n}\n";
	is_text(text, want, "canonical");
	is_text(shown, want_shown, "indented");
	FILE *full = fopen("/dev/full", "w");
	ok(js_write(json, full) < 0, "a full disk shows");
	fclose(full);
	ok(js_canonical(NULL) == NULL, "NULL does not have a text");
	json_decref(json);
	free(text);
	free(shown);
}

static void test_controls(void) {
	static const char given[] = "[\"a\xE2\x80\xAE\x7F\xC2\x9B\xC3\xA9\"]";
	json_t *json = js_parse(given, sizeof given - 1, "controls", NULL);
	char *shown = written(json);
	is_text(shown, "[\"a\\u202e\\u007f\\u009b\xC3\xA9\"]\n", "controls and those of direction are escaped");
	json_t *again = js_parse(shown, strlen(shown), "controls", NULL);
	ok(json_equal(json, again), "escaped controls read back as they were");
	json_decref(json);
	json_decref(again);
	free(shown);
}

static void test_ranges(void) {
	struct err err;
	int wrong = 0;
	for (int v = -12; v <= 12; v++) {
		int64_t whole, as_real;
		double real;
		json_t *json = json_pack("{sisfsf}", "i", v, "f", (double)v, "h", v + 0.5);
		bool in = v >= -5 && v <= 7;
		wrong += (js_int(json, "i", -5, 7, &whole, &err) == 0) != in || (in && whole != v);
		wrong += (js_int(json, "f", -5, 7, &as_real, &err) == 0) != in || (in && as_real != v);
		wrong += (js_real(json, "i", -5, 7, &real, &err) == 0) != in || (in && real != v);
		wrong += js_int(json, "h", -50, 50, &whole, &err) == 0 || !strstr(err.what, "'h'") || err.code != ERR_USAGE;
		json_decref(json);
	}
	ok(wrong == 0, "exactly the whole numbers of the range are taken");
	json_t *json = json_pack("{sfsfsIsI}", "big", 0x1p63, "least", -0x1p63, "max", INT64_MAX, "min", INT64_MIN);
	int64_t out;
	ok(js_int(json, "big", INT64_MIN, INT64_MAX, &out, &err) < 0, "2^63 is too large");
	ok(js_int(json, "least", INT64_MIN, INT64_MAX, &out, &err) == 0 && out == INT64_MIN, "-2^63 is not");
	ok(js_int(json, "max", INT64_MIN, INT64_MAX, &out, &err) == 0 && out == INT64_MAX &&
	       js_int(json, "min", INT64_MIN, INT64_MAX, &out, &err) == 0 && out == INT64_MIN,
	   "the ends of the range are taken");
	json_decref(json);
}

/* Every getter takes its own types of member and refuses all others, with the key in the message. */
static void test_types(void) {
	static const char *const keys[] = {"whole", "real", "bool", "string", "object", "array", "null", "absent"};
	static const char *const takes[] = {"10000000", "11000000", "00100000", "00010000", "00001000", "00000100"};
	json_t *json = json_pack("{sisfsbsss{}s[ii]sn}", "whole", 1, "real", 1.5, "bool", 1, "string", "s", "object",
	                         "array", 1, 2, "null");
	int wrong = 0;
	for (int k = 0; k < 8; k++) {
		int64_t whole;
		double real;
		bool truth;
		const char *string;
		json_t *child;
		struct err e[6] = {0};
		bool taken[] = {
			js_int(json, keys[k], 0, 9, &whole, &e[0]) == 0, js_real(json, keys[k], 0, 9, &real, &e[1]) == 0,
			js_bool(json, keys[k], &truth, &e[2]) == 0,      js_string(json, keys[k], &string, &e[3]) == 0,
			js_object(json, keys[k], &child, &e[4]) == 0,    js_array(json, keys[k], 2, &child, &e[5]) == 0};
		for (int g = 0; g < 6; g++)
			wrong += taken[g] != (takes[g][k] == '1') ||
			         (!taken[g] && (e[g].code != ERR_USAGE || !strstr(e[g].what, keys[k])));
		wrong += js_int_or(json, keys[k], 77) != (k == 0 ? 1 : 77) || js_real_or(json, keys[k], 77) != (k == 0   ? 1
		                                                                                                : k == 1 ? 1.5
		                                                                                                         : 77);
		wrong += js_bool_or(json, keys[k], false) != (k == 2) ||
		         strcmp(js_string_or(json, keys[k], "f"), k == 3 ? "s" : "f") != 0;
	}
	ok(wrong == 0, "every type is recognised");
	json_t *array;
	struct err err;
	ok(js_array(json, "array", 1, &array, &err) < 0 && strstr(err.what, "'array'"), "too long an array is refused");
	ok(js_array(NULL, "array", 1, &array, &err) < 0 &&
	       js_array(json_object_get(json, "array"), "x", 1, &array, &err) < 0 && js_int_or(NULL, "x", 5) == 5,
	   "only objects have members");
	json_decref(json);
}

static void test_numbers(void) {
	double x[] = {1.5, NAN, INFINITY, -INFINITY};
	json_t *json = js_reals(x, 4);
	char *text = js_canonical(json);
	is_text(text, "[1.5,null,null,null]", "numbers that JSON cannot express become null");
	free(text);
	json_decref(json);
}

static void test_paths(void) {
	json_t *json = json_pack("{s:{s:[i,{s:i}]}, s:n}", "a", "b", 1, "c", 2, "null");
	ok(json_integer_value(js_at(json, "a.b.0")) == 1 && json_integer_value(js_at(json, "a.b.1.c")) == 2 &&
	       json_is_null(js_at(json, "null")) && js_at(json, "") == json,
	   "a path of members and places leads to a value");
	ok(!js_at(json, "a.b.2") && !js_at(json, "a.b.c") && !js_at(json, "a.x.0") && !js_at(json, "null.a") &&
	       !js_at(json, "a.b.0.c") && !js_at(NULL, "a"),
	   "a path that leads nowhere gives NULL");
	json_decref(json);
}

/* The macros declare what they walk, so that `break` and `continue` have to work as in a loop of one's own. */
static void test_walks(void) {
	json_t *array = json_pack("[i,i,i,i]", 0, 1, 2, 3), *object = json_pack("{s:i,s:i,s:i}", "a", 0, "b", 1, "c", 2);
	json_int_t sum = 0, places = 0, members = 0;
	js_each (one, array) {
		if (json_integer_value(one) == 1)
			continue;
		if (json_integer_value(one) == 3)
			break;
		sum += 10 + json_integer_value(one);
		places += (json_int_t)one_at;
	}
	js_members (name, value, object) {
		if (*name == 'a')
			continue;
		members += json_integer_value(value);
		if (*name == 'b')
			break;
	}
	ok(sum == 22 && places == 2, "js_each visits the items in order, and knows the place of each");
	ok(members == 1, "js_members visits the members in order");
	js_each (one, object)
		members += one != NULL;
	js_members (name, value, array)
		members += name && value;
	js_members (name, value, NULL)
		members += name && value;
	ok(members == 1, "what is no array has no items, and what is no object has no members");
	json_decref(array);
	json_decref(object);
}

static void test_same(void) {
	json_t *a = json_pack("{s:i,s:[i],s:i}", "x", 1, "y", 2, "z", 3), *b = json_pack("{s:i,s:[i]}", "x", 1, "y", 2);
	ok(js_same(a, b, (const char *const[]){"x", "y", NULL}) && !js_same(a, b, (const char *const[]){"x", "z", NULL}),
	   "documents are the same where the members that count are equal");
	json_decref(a);
	json_decref(b);
}

#define SAMPLE_MEMBERS(X)                                                                                              \
	X(text, TEXT, "t", "none")                                                                                         \
	X(real, REAL, "r", -1)                                                                                             \
	X(count, COUNT, "n.c", -2)                                                                                         \
	X(flag, BOOL, "f", true)                                                                                           \
	X(part, JSON, "p.0", NULL)
struct sample {
	SAMPLE_MEMBERS(MEMBER_DECLARE)
};

static struct sample sample_read(const json_t *json) {
	struct sample read = {SAMPLE_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct sample, SAMPLE_MEMBERS), json, &read);
	return read;
}

/* Documents come from anybody. */
static void test_members(void) {
	static const char *const keys[] = {"t", "r", "n", "f", "p"};
	static const char *const bad[] = {"null", "[]", "{}", "[[1]]", "{\"c\":\"x\"}"};
	json_t *json = json_pack("{s:s,s:f,s:{s:i},s:b,s:[i]}", "t", "word", "r", 1.5, "n", "c", 7, "f", 0, "p", 9);
	struct sample good = sample_read(json);
	bool kept = true;
	ok(strcmp(good.text, "word") == 0 && good.real == 1.5 && good.count == 7 && !good.flag &&
	       json_integer_value(good.part) == 9,
	   "a table reads each member to its field");
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
			json_t *copy = json_copy(json);
			json_object_set_new(copy, keys[k], json_loads(bad[i], JSON_DECODE_ANY, NULL));
			struct sample one = sample_read(copy);
			kept = kept && strcmp(one.text, k == 0 ? "none" : "word") == 0 && one.real == (k == 1 ? -1 : 1.5) &&
			       one.count == (k == 2 ? -2 : 7) && one.flag == (k == 3);
			json_decref(copy);
		}
	}
	ok(kept, "a member that is null or of another type keeps its fallback, and the others are read");
	struct sample none = sample_read(NULL);
	ok(strcmp(none.text, "none") == 0 && none.real == -1 && none.count == -2 && none.flag && !none.part,
	   "no document leaves all members at their fallbacks");
	json_decref(json);
}

static void test_load(void) {
	char path[] = "/tmp/sweetspot-json-XXXXXX";
	int fd = mkstemp(path), before = dup(STDIN_FILENO);
	struct err err;
	bool put = write(fd, sample, sizeof(sample) - 1) == sizeof(sample) - 1;
	json_t *json = js_load(path, 1000, &err);
	ok(put && json && reads_as(sample, json), "a file is loaded");
	ok(!js_load(path, 20, &err) && strstr(err.what, path), "one over the limit is not");
	ok(!js_load("/nonexistent/file", 20, &err) && strstr(err.what, "/nonexistent/file"),
	   "an absent file is not loaded");
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	json_decref(json);
	json = js_load("-", 1000, &err);
	ok(json && reads_as(sample, json), "- is standard input");
	ok(!js_load("-", 1000, &err) && strstr(err.what, "standard input"),
	   "standard input that was read to its end is empty");
	dup2(before, STDIN_FILENO);
	json_decref(json);
	close(before);
	close(fd);
	unlink(path);
}

/* One to four random changes of the sample: a byte, a piece taken out, a piece doubled. */
static size_t mutate(struct rng *rng, char *text, size_t size) {
	static const char useful[] = "{}[]\",:0123456789eE+-.\\u \n\0tfn\377\300";
	for (size_t times = 1 + rng_below(rng, 4); times > 0; times--) {
		size_t at = rng_below(rng, size), part = 1 + rng_below(rng, 8);
		part = part < size - at ? part : size - at;
		switch (rng_below(rng, 3)) {
		case 0:
			text[at] = useful[rng_below(rng, sizeof(useful))];
			break;
		case 1:
			memmove(text + at, text + at + part, size - at - part);
			size -= part < size ? part : 0;
			break;
		default:
			memmove(text + at + part, text + at, size - at);
			size += part;
		}
	}
	return size;
}

static void test_mutations(void) {
	enum { ROUNDS = 40000 };
	struct rng rng;
	int valid = 0;
	rng_seed(&rng, 12);
	for (int i = 0; i < ROUNDS; i++) {
		char text[sizeof(sample) + 64];
		memcpy(text, sample, sizeof(sample));
		size_t size = mutate(&rng, text, sizeof(sample) - 1);
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
		json_t *json = js_parse(text, size, "", NULL);
		valid += json != NULL;
		json_decref(json);
	}
	ok(valid > ROUNDS / 100 && valid < ROUNDS, "mutated documents (%d of %d valid) are refused or round-trip", valid,
	   (int)ROUNDS);
}

int main(void) {
	test_refused();
	test_depth();
	test_round_trip();
	test_form();
	test_controls();
	test_ranges();
	test_types();
	test_numbers();
	test_paths();
	test_walks();
	test_same();
	test_members();
	test_load();
	test_mutations();
	return tap_done();
}
