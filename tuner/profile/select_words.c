/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From words to what is looked up in a profile. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/near.h"
#include "src/base/value.h"
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
	err_set(err, ERR_NOTHING, NULL, "the profile has nothing for kernel %s", kernel);
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
		err_set(err, ERR_NOTHING, "leave --objective out for what there is", "%s was tuned for %s, not for %s", kernel,
		        other, objective);
	else
		err_set(err, ERR_USAGE, "name one with --objective", "%s was tuned for several objectives, none of them time",
		        kernel);
	return NULL;
}

static bool has_name(const json_t *one, const char *name) {
	return json_object_get(json_object_get(one, "problem"), name) || strcmp(js_string_or(one, "over", ""), name) == 0;
}

static int no_name(const json_t *profile, const char *kernel, const char *name, struct err *err) {
	const char *names[64], *known;
	size_t count = 0;
	const json_t *one;
	json_t *value;
	for (size_t i = 0; (one = part_at(profile, i)) && count < 64; i++) {
		if (strcmp(js_string_or(one, "kernel", ""), kernel) != 0)
			continue;
		json_object_foreach(json_object_get(one, "problem"), known, value) if (count < 64) names[count++] = known;
	}
	const char *near = near_word(name, names, count);
	err_set(err, ERR_USAGE, NULL, "no problem of %s has a \"%s\"", kernel, name);
	if (near || count)
		return err_hint(err, near ? "did you mean %s?" : "they have %s", near ? near : names[0]);
	return err_hint(err, "`sweetspot profile show` lists what was tuned");
}

/* A word that looks like a number is one unless the problem has a text there. */
static int value_read(json_t *problem, const char *name, const char *text, const json_t *like, struct err *err) {
	struct value value = json_is_string(like) ? value_word(text) : value_parse(text);
	if (value.type == VALUE_WORD && json_is_number(like))
		return err_set(err, ERR_USAGE, "write a number, for example n=512", "%s can't be \"%s\"", name, text);
	json_object_set_new(problem, name, value_json(value));
	return 0;
}

int profile_select_word(const json_t *profile, const char *kernel, const char *word, json_t *problem, struct err *err) {
	const char *equals = strchr(word, '=');
	const json_t *one;
	if (!equals || equals == word || !equals[1])
		return err_set(err, ERR_USAGE, "write NAME=VALUE, for example n=512", "\"%s\" names no value", word);
	char *name = mem_strdup(word);
	name[equals - word] = '\0';
	const json_t *like = NULL; /* a value that it has in a problem */
	bool known = false;
	for (size_t i = 0; (one = part_at(profile, i)); i++) {
		const json_t *value = json_object_get(json_object_get(one, "problem"), name);
		if (strcmp(js_string_or(one, "kernel", ""), kernel) != 0 || !has_name(one, name))
			continue;
		known = true;
		like = value && !json_is_string(like) ? value : like;
	}
	int failed = known ? value_read(problem, name, equals + 1, like, err) : no_name(profile, kernel, name, err);
	free(name);
	return failed;
}
