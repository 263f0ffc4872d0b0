/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/same/text_same_impl.h"

enum { KINDS = 32 /* different runs of one configuration that are kept */ };
static const double PACKED_LEAST = 2.0 / 3, PART_LEAST = 0.9;

static bool is_equal(const json_t *a, const json_t *b) {
	return js_same(a, b, (const char *const[]){"output", "errors", "left", "files", NULL});
}

/* The worker runs in the same place as the program, which may make it lie. */
static bool is_sound(const json_t *item) {
	return json_is_object(json_object_get(item, "output")) && json_is_array(json_object_get(item, "errors")) &&
	       json_is_string(json_object_get(item, "left")) && js_int_or(item, "runs", 0) > 0 &&
	       js_string_or(json_object_get(item, "output"), "hash", NULL);
}

static void sum_set(json_t *seen, const json_t *item) {
	json_object_set_new(seen, "runs", json_integer(js_int_or(seen, "runs", 0) + js_int_or(item, "runs", 0)));
	json_object_set_new(seen, "processor_s",
	                    json_real(js_real_or(seen, "processor_s", 0) + js_real_or(item, "processor_s", 0)));
}

void same_add(json_t *list, const json_t *evidence) {
	js_each (item, evidence) {
		bool known = !is_sound(item);
		js_each (seen, list) {
			if (!known && is_equal(seen, item)) {
				sum_set(seen, item);
				known = true;
			}
		}
		if (!known && json_array_size(list) < KINDS)
			json_array_append_new(list, json_copy(item));
	}
}

size_t same_runs(const json_t *list) {
	size_t runs = 0;
	js_each (item, list)
		runs += (size_t)js_int_or(item, "runs", 0);
	return runs;
}

double same_processor(const json_t *list) {
	double sum = 0;
	js_each (item, list)
		sum += js_real_or(item, "processor_s", 0);
	return same_runs(list) ? sum / (double)same_runs(list) : NAN;
}

bool same_is_known(const struct same_case *one) {
	return same_runs(one->base) >= 2 && same_runs(one->best) >= 1;
}

static bool has_member(const json_t *array, const char *key, const char *value) {
	js_each (item, array)
		if (*value && strcmp(js_string_or(item, key, ""), value) == 0)
			return true;
	return false;
}

static json_t *members_of(const json_t *list, const char *key) {
	json_t *array = json_array();
	js_each (item, list)
		if (json_object_get(item, key))
			json_array_append(array, json_object_get(item, key));
	return array;
}

/* One output differs from another by its hash, or its text without the lines that have the metric. Of a long text only
 * the ends are known. Empty: there is nothing to compare. Caller frees. */
static char *print_of(const json_t *output, const char *metric) {
	const char *text = json_object_get(output, "end") ? NULL : js_string_or(output, "text", NULL);
	if (js_int_or(output, "bytes", 0) <= 0)
		return mem_strdup("");
	return metric && text ? same_rest(text, metric) : mem_strdup(js_string_or(output, "hash", ""));
}

/* New reference. */
static json_t *prints_of(const json_t *list, const char *metric) {
	json_t *all = json_array();
	js_each (item, list) {
		mem_auto char *print = print_of(json_object_get(item, "output"), metric);
		json_array_append_new(all, json_pack("{s:o}", "print", js_text(print)));
	}
	return all;
}

size_t same_outputs(const struct same_case *one) {
	js_auto json_t *bases = prints_of(one->base, one->metric), *bests = prints_of(one->best, one->metric);
	size_t runs = 0;
	js_each (item, bests)
		if (has_member(bases, "print", js_string_or(item, "print", "")))
			runs += (size_t)js_int_or(json_array_get(one->best, item_at), "runs", 0);
	return runs;
}

bool same_shows(const json_t *list) {
	bool shows = false;
	js_each (item, list) {
		shows = shows || js_int_or(json_object_get(item, "output"), "bytes", 0) > 0 ||
		        json_array_size(json_object_get(item, "files")) > 0;
	}
	return shows;
}

bool same_prints_more(const struct same_case *one) {
	js_auto json_t *bases = prints_of(one->base, one->metric);
	bool more = false;
	js_each (item, bases)
		more = more || *js_string_or(item, "print", "");
	return more;
}

/* The value that all have; NULL: they differ. */
static const json_t *common(const json_t *array, const char *key) {
	const json_t *first = json_object_get(json_array_get(array, 0), key);
	js_each (item, array)
		if (!first || !json_equal(first, json_object_get(item, key)))
			return NULL;
	return first;
}

static double least_of(const json_t *array, const char *key) {
	double least = INFINITY;
	js_each (item, array)
		least = fmin(least, js_real_or(item, key, 0));
	return least;
}

static char *bytes_text(const json_t *bases, const json_t *digest) {
	return mem_printf("%lld bytes instead of %.0f", (long long)js_int_or(digest, "bytes", 0), least_of(bases, "bytes"));
}

/* Compares one part of the texts, "text" or "end". */
static char *part_text(const struct same_case *one, const json_t *bases, const json_t *digest, const char *key,
                       bool part) {
	js_auto json_t *lines = json_array();
	js_each (base, bases)
		json_array_append_new(lines, same_lines(js_string_or(base, key, ""), one->base_config, one->metric));
	js_auto json_t *best = same_lines(js_string_or(digest, key, ""), one->best_config, one->metric);
	return same_text(one, lines, best, part);
}

/* Only the ends of long texts are known; between them, their length and the sum of their numbers. */
static char *long_text(const struct same_case *one, const json_t *bases, const json_t *digest) {
	const json_t *lines = common(bases, "lines"), *words = common(bases, "words"), *sum = common(bases, "sum");
	char *text = part_text(one, bases, digest, "end", true);
	if (text)
		return text;
	long long here = (long long)js_int_or(digest, "lines", 0), there = (long long)json_integer_value(lines);
	if (lines && (double)here < PART_LEAST * (double)there)
		return mem_printf("%lld lines instead of %lld", here, there);
	bool alike = words && strcmp(json_string_value(words), js_string_or(digest, "words", "")) == 0;
	bool ends = json_equal(json_object_get(json_array_get(bases, 0), "text"), json_object_get(digest, "text"));
	double total = json_number_value(sum), apart = fabs(total - js_real_or(digest, "sum", 0));
	return sum && alike && ends && !one->metric && apart > 1e-6 * fabs(total) ? mem_strdup("other numbers") : NULL;
}

static bool have_text(const json_t *bases, const json_t *digest) {
	bool text = json_object_get(digest, "text");
	js_each (base, bases)
		text = text && json_object_get(base, "text");
	return text;
}

/* Says how the content differs from that of the baseline, as the object of a verb; NULL: it does not. */
static char *content_text(const struct same_case *one, const json_t *bases, const json_t *digest) {
	const json_t *packed = common(bases, "packed");
	double bytes = js_real_or(digest, "bytes", 0), least = least_of(bases, "bytes");
	const char *hash = js_string_or(digest, "hash", NULL);
	if (hash && has_member(bases, "hash", hash))
		return NULL;
	if (has_member(bases, "bag", js_string_or(digest, "bag", "")))
		return NULL; /* threads print in any order */
	if (bytes == 0)
		return least > 0 ? mem_strdup("nothing") : NULL;
	if (packed)
		return json_equal(packed, json_object_get(digest, "packed")) && bytes >= PACKED_LEAST * least
		           ? NULL
		           : bytes_text(bases, digest);
	if (common(bases, "hash") && least == 0)
		return NULL; /* it says more than the baseline */
	if (have_text(bases, digest)) {
		bool part = json_object_get(digest, "end") || json_object_get(json_array_get(bases, 0), "end");
		char *differs = part_text(one, bases, digest, "text", part);
		return differs || !part ? differs : long_text(one, bases, digest);
	}
	if (common(bases, "bytes") && bytes != least && (common(bases, "hash") || bytes < PACKED_LEAST * least))
		return bytes_text(bases, digest);
	return common(bases, "hash") && hash ? mem_strdup("other data") : NULL;
}

/* The same lines in another order, always the same one, where the baseline always has its own: not sorted, perhaps.
 * Few lines of few threads may come in one order by chance. */
static char *order_text(const json_t *bases, const json_t *digests) {
	enum { LINES_LEAST = 10 };
	const json_t *base = common(bases, "hash"), *best = common(digests, "hash"), *bag = common(digests, "bag");
	bool same = bag && has_member(bases, "bag", json_string_value(bag));
	return base && best && same && !json_equal(base, best) && least_of(bases, "lines") >= LINES_LEAST
	           ? mem_strdup("its lines in another order")
	           : NULL;
}

static void clause_add(json_t *clauses, char *clause) {
	if (clause && !js_has(clauses, clause))
		json_array_append_new(clauses, js_text(clause));
	free(clause);
}

/* Errors that at least half of the runs print and the baseline never does. */
static void errors_add(const struct same_case *one, json_t *clauses) {
	js_auto json_t *known = json_object();
	js_each (item, one->base) {
		js_each (line, json_object_get(item, "errors")) {
			js_auto json_t *lines =
				same_lines(json_is_string(line) ? json_string_value(line) : "", one->base_config, NULL);
			json_object_update(known, lines);
		}
	}
	js_each (item, one->best) {
		const char *first = json_string_value(js_at(item, "errors.0"));
		if (!first || 2 * js_int_or(item, "runs", 0) < (json_int_t)same_runs(one->best))
			continue;
		js_auto json_t *lines = same_lines(first, one->best_config, NULL);
		const char *words = json_object_iter_key(json_object_iter(lines));
		if (words && !json_object_get(known, words))
			clause_add(clauses, mem_printf("it prints \"%.60s\" to stderr", first));
	}
}

json_t *same_output(const struct same_case *one) {
	js_auto json_t *bases = members_of(one->base, "output"), *bests = members_of(one->best, "output");
	json_t *clauses = json_array();
	js_each (item, one->best) {
		mem_auto char *text =
			json_array_size(clauses) ? NULL : content_text(one, bases, json_object_get(item, "output"));
		clause_add(clauses, text ? mem_printf("it prints %s", text) : NULL);
	}
	mem_auto char *order = json_array_size(clauses) ? NULL : order_text(bases, bests);
	clause_add(clauses, order ? mem_printf("it prints %s", order) : NULL);
	errors_add(one, clauses);
	return clauses;
}

static bool is_name_in(const char *names, const char *name, size_t length) {
	for (const char *at = names; *at; at += strspn(at, ", ")) {
		size_t here = strcspn(at, ",");
		if (here == length && strncmp(at, name, length) == 0)
			return true;
		at += here;
	}
	return false;
}

static bool leaves(const json_t *list, const char *name, size_t length) {
	js_each (item, list)
		if (is_name_in(js_string_or(item, "left", ""), name, length))
			return true;
	return false;
}

/* A process that just happens to end a little late, as those of launchers do beside load, is left behind in few runs.
 * Of a single run nobody knows; if it is the best, the final has more of them. */
json_t *same_left(const struct same_case *one) {
	json_t *clauses = json_array();
	mem_auto char *names = mem_strdup("");
	size_t runs = 0;
	js_each (item, one->best) {
		const char *left = js_string_or(item, "left", "");
		bool other = false;
		for (const char *at = left; *at; at += strspn(at, ", ")) {
			size_t length = strcspn(at, ",");
			if (!leaves(one->base, at, length)) {
				if (!is_name_in(names, at, length))
					mem_append(&names, "%s%.*s", *names ? ", " : "", (int)length, at);
				other = true;
			}
			at += length;
		}
		runs += other ? (size_t)js_int_or(item, "runs", 0) : 0;
	}
	if (runs > 1 && 3 * runs > same_runs(one->best))
		clause_add(clauses, mem_printf("it leaves processes behind: %s", names));
	return clauses;
}

/* The files of a run by their names without numbers: {"out_#.txt": [file, ..]}. New reference. */
static json_t *files_by_name(const json_t *item, const json_t *config) {
	json_t *all = json_object();
	js_each (file, json_object_get(item, "files")) {
		const char *name = js_string_or(file, "name", "");
		struct same_line line = same_line_read(name, strlen(name), config);
		if (!json_object_get(all, line.words))
			json_object_set_new(all, line.words, json_array());
		json_array_append(json_object_get(all, line.words), file);
		same_line_clear(&line);
	}
	return all;
}

/* For each run that looked at the files. */
static json_t *runs_by_name(const json_t *list, const json_t *config) {
	json_t *all = json_array();
	js_each (item, list)
		if (json_is_array(json_object_get(item, "files")))
			json_array_append_new(all, files_by_name(item, config));
	return all;
}

/* The number of files of this name that all runs write; 0: not all write equally many. */
static size_t written_count(const json_t *runs, const char *key) {
	size_t count = json_array_size(json_object_get(json_array_get(runs, 0), key));
	js_each (run, runs)
		if (json_array_size(json_object_get(run, key)) != count)
			return 0;
	return count;
}

static char *file_text(const struct same_case *one, const json_t *runs, const char *key, size_t at,
                       const json_t *file) {
	js_auto json_t *bases = json_array();
	js_each (run, runs)
		json_array_append(bases, json_array_get(json_object_get(run, key), at));
	const json_t *kind = common(bases, "kind");
	const char *name = js_string_or(file, "name", "");
	if (kind && !json_equal(kind, json_object_get(file, "kind")))
		return mem_printf("its %s is a %s instead of a %s", name, js_string_or(file, "kind", "?"),
		                  json_string_value(kind));
	mem_auto char *text = content_text(one, bases, file);
	return text ? mem_printf("its %s holds %s", name, text) : NULL;
}

static void name_compare(const struct same_case *one, const json_t *runs, const char *key, const json_t *there,
                         json_t *clauses) {
	const json_t *first = json_object_get(json_array_get(runs, 0), key), *files = json_object_get(there, key);
	size_t count = written_count(runs, key), here = json_array_size(files);
	const char *name = js_string_or(json_array_get(first, 0), "name", "");
	if (here < count && !same_counts(count, here, one->base_config, one->best_config))
		clause_add(clauses, here ? mem_printf("it writes %zu instead of %zu files like %s", here, count, name)
		                         : mem_printf("it does not write %s", name));
	for (size_t i = 0; i < here && here == count; i++)
		clause_add(clauses, file_text(one, runs, key, i, json_array_get(files, i)));
}

json_t *same_files(const struct same_case *one) {
	json_t *clauses = json_array();
	js_auto json_t *bases = runs_by_name(one->base, one->base_config),
				   *runs = runs_by_name(one->best, one->best_config);
	js_members (key, files, json_array_get(bases, 0)) {
		if (written_count(bases, key))
			js_each (there, runs)
				name_compare(one, bases, key, there, clauses);
	}
	return clauses;
}

size_t same_files_count(const struct same_case *one) {
	js_auto json_t *bases = runs_by_name(one->base, one->base_config);
	size_t count = 0;
	js_members (key, files, json_array_get(bases, 0))
		count += written_count(bases, key);
	return count;
}

/* By what content_text has compared them; NULL: by all they hold. */
static const char *content_how(const json_t *bases, const json_t *digest) {
	if (has_member(bases, "hash", js_string_or(digest, "hash", "")))
		return js_bool_or(digest, "parts", false) ? "evenly spaced parts" : NULL;
	if (has_member(bases, "bag", js_string_or(digest, "bag", "")))
		return "lines in any order";
	if (common(bases, "packed"))
		return "kind and rough size";
	return have_text(bases, digest) ? "text that stays the same" : "rough size";
}

/* The weakest comparison in any run counts. */
static void file_how(const json_t *bases, const json_t *runs, const char *key, size_t at, json_t *all) {
	js_auto json_t *digests = json_array();
	const char *how = NULL;
	js_each (run, bases)
		json_array_append(digests, json_array_get(json_object_get(run, key), at));
	js_each (run, runs) {
		const char *here = content_how(digests, json_array_get(json_object_get(run, key), at));
		how = here ? here : how;
	}
	const char *name = js_string_or(json_array_get(digests, 0), "name", "?");
	json_array_append_new(all, how ? json_sprintf("%s (%s)", name, how) : json_string(name));
}

static char *names_text(const json_t *names) {
	enum { SHOWN = 3 };
	size_t count = json_array_size(names);
	char *text = count ? mem_strdup("") : NULL;
	for (size_t i = 0; i < count && i < SHOWN; i++)
		mem_append(&text, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
	if (count > SHOWN)
		mem_append(&text, " and %zu more", count - SHOWN);
	return text;
}

char *same_files_how(const struct same_case *one) {
	js_auto json_t *names = json_array();
	js_auto json_t *bases = runs_by_name(one->base, one->base_config),
				   *runs = runs_by_name(one->best, one->best_config);
	js_members (key, files, json_array_get(bases, 0)) {
		size_t count = written_count(bases, key);
		for (size_t i = 0; i < count && written_count(runs, key) == count; i++)
			file_how(bases, runs, key, i, names);
	}
	return names_text(names);
}
