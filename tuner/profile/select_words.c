/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the words that name a problem to look up. */
#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"
#include "tuner/profile/select.h"

/* Entries and sizes, one after the other; NULL after the last. */
static const json_t *part_at(const json_t *profile, size_t i) {
	const json_t *entries = json_object_get(profile, "entries");
	size_t count = json_array_size(entries);
	return i < count ? json_array_get(entries, i) : json_array_get(json_object_get(profile, "sizes"), i - count);
}

static int no_kernel(const json_t *profile, const char *kernel, struct err *err) {
	const char **names = mem_alloc(json_array_size(json_object_get(profile, "entries")) +
	                                   json_array_size(json_object_get(profile, "sizes")) + 1,
	                               sizeof *names);
	size_t count = 0;
	for (const json_t *one; (one = part_at(profile, count));)
		names[count++] = js_string_or(one, "kernel", "");
	const char *near = near_word(kernel, names, count);
	err_set(err, ERR_NOTHING, NULL, "the profile does not have an entry for kernel %s", kernel);
	near ? err_hint(err, "did you mean %s?", near) : err_hint(err, "tune it first: sweetspot tune %s", kernel);
	free(names);
	return -1;
}

const char *profile_select_objective(const json_t *profile, const char *kernel, const char *objective,
                                     struct err *err) {
	const char *wanted = objective ? objective : "time", *other = NULL;
	bool several = false;
	const json_t *one;
	for (size_t i = 0; (one = part_at(profile, i)); i++) {
		const char *found = js_string_or(one, "objective", "time");
		if (strcmp(js_string_or(one, "kernel", ""), kernel) != 0)
			continue;
		if (strcmp(found, wanted) == 0)
			return found;
		several = several || (other && strcmp(other, found) != 0);
		other = found;
	}
	if (other && !objective && !several)
		return other;
	if (!other)
		no_kernel(profile, kernel, err);
	else if (objective)
		err_set(err, ERR_NOTHING, "leave out --objective to use what was tuned", "%s was tuned for %s, not for %s",
		        kernel, other, objective);
	else
		err_set(err, ERR_USAGE, "name one with --objective", "%s was tuned for several objectives, but not for time",
		        kernel);
	return NULL;
}

static bool has_name(const json_t *one, const char *name) {
	return json_object_get(json_object_get(one, "problem"), name) || strcmp(js_string_or(one, "over", ""), name) == 0;
}

static int no_name(const json_t *profile, const char *kernel, const char *name, struct err *err) {
	const char *names[64];
	size_t count = 0;
	const json_t *one;
	for (size_t i = 0; (one = part_at(profile, i)) && count < 64; i++) {
		if (strcmp(js_string_or(one, "kernel", ""), kernel) != 0)
			continue;
		js_members (known, value, json_object_get(one, "problem"))
			if (count < 64)
				names[count++] = known;
	}
	const char *near = near_word(name, names, count);
	err_set(err, ERR_USAGE, NULL, "problems of %s do not have a \"%s\"", kernel, name);
	if (near || count)
		return err_hint(err, near ? "did you mean %s?" : "they have %s", near ? near : names[0]);
	return err_hint(err, "`sweetspot profile show` lists the problems that were tuned");
}

/* A word that looks like a number is a number unless the problem has a text there. */
static int value_read(json_t *problem, const char *name, const char *text, const json_t *example, struct err *err) {
	struct value value = json_is_string(example) ? value_word(text) : value_parse(text);
	if (value.type == VALUE_WORD && json_is_number(example))
		return err_set(err, ERR_USAGE, "write a number, for example n=512", "%s cannot be \"%s\"", name, text);
	json_object_set_new(problem, name, value_json(value));
	return 0;
}

int profile_select_word(const json_t *profile, const char *kernel, const char *word, json_t *problem, struct err *err) {
	const char *equals = strchr(word, '=');
	const json_t *one;
	if (!equals || equals == word || !equals[1])
		return err_set(err, ERR_USAGE, "write NAME=VALUE, for example n=512", "\"%s\" does not name a value", word);
	char *name = mem_strdup(word);
	name[equals - word] = '\0';
	const json_t *example = NULL; /* its value in a problem of the kernel */
	bool known = false;
	for (size_t i = 0; (one = part_at(profile, i)); i++) {
		const json_t *value = json_object_get(json_object_get(one, "problem"), name);
		if (strcmp(js_string_or(one, "kernel", ""), kernel) != 0 || !has_name(one, name))
			continue;
		known = true;
		example = value && !json_is_string(example) ? value : example;
	}
	int failed = known ? value_read(problem, name, equals + 1, example, err) : no_name(profile, kernel, name, err);
	free(name);
	return failed;
}
