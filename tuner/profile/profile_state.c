/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/profile/profile_state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"

/* Members that describe how programs are compiled on a machine, not the machine itself. */
static const char *const compiled[] = {"compiler", "cflags", "openmp", "nvrtc"};

static bool is_compiled(const char *name) {
	for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++)
		if (strcmp(name, compiled[i]) == 0)
			return true;
	return false;
}

/* NVRTC is a compiler, although it is among the members of the GPU. */
static json_t *plain(const json_t *machine) {
	json_t *copy = json_is_object(machine) ? json_copy((json_t *)machine) : json_object();
	const json_t *gpu = json_object_get(copy, "gpu"), *nvrtc = json_object_get(gpu, "nvrtc");
	json_object_del(copy, "fingerprint");
	if (nvrtc) {
		json_t *rest = json_copy((json_t *)gpu);
		json_object_del(rest, "nvrtc");
		json_object_set(copy, "nvrtc", (json_t *)nvrtc);
		json_object_set_new(copy, "gpu", rest);
	}
	return copy;
}

static void difference_add(json_t *array, const char *name, const json_t *a, const json_t *b) {
	json_array_append_new(array, json_pack("{s:s,s:O?,s:O?}", "name", name, "a", a, "b", b));
}

json_t *profile_differences(const json_t *a, const json_t *b) {
	json_t *array = json_array();
	js_members (name, value, a)
		if (!json_equal(value, json_object_get(b, name)))
			difference_add(array, name, value, json_object_get(b, name));
	js_members (name, value, b)
		if (!json_object_get(a, name))
			difference_add(array, name, NULL, value);
	return array;
}

json_t *profile_machine_differences(const json_t *a, const json_t *b) {
	json_t *left = plain(a), *right = plain(b), *array = profile_differences(left, right);
	json_decref(left);
	json_decref(right);
	return array;
}

/* The version is the last number with a point: "gcc (Debian 14.2.0-19) 14.2.0". */
static const char *version_of(const char *text) {
	const char *found = NULL;
	for (const char *c = text; *c; c += *c != '\0') {
		size_t length = strspn(c, "0123456789.");
		if (isdigit((unsigned char)*c) && memchr(c, '.', length))
			found = c;
		c += length;
		if (!*c)
			break;
	}
	return found;
}

static bool is_older(const char *a, const char *b) {
	size_t name = strcspn(a, " -");
	const char *left = version_of(a), *right = version_of(b);
	if (!left || !right || name == 0 || strcspn(b, " -") != name || strncmp(a, b, name) != 0)
		return false;
	for (;;) {
		char *left_end, *right_end;
		unsigned long x = strtoul(left, &left_end, 10), y = strtoul(right, &right_end, 10);
		if (x != y)
			return x < y;
		if (*left_end != '.' || *right_end != '.' || !isdigit((unsigned char)left_end[1]) ||
		    !isdigit((unsigned char)right_end[1]))
			return false;
		left = left_end + 1;
		right = right_end + 1;
	}
}

static enum profile_origin origin_of(const json_t *differences, const json_t *here, const json_t *there) {
	js_each (one, differences)
		if (!is_compiled(js_string_or(one, "name", "")))
			return PROFILE_FOREIGN;
	/* A fingerprint that differs although the members are equal belongs to an unknown machine. */
	if (!json_array_size(differences))
		return PROFILE_FOREIGN;
	return is_older(js_string_or(there, "compiler", ""), js_string_or(here, "compiler", "")) ? PROFILE_OLDER_COMPILER
	                                                                                         : PROFILE_OTHER_COMPILER;
}

enum profile_origin profile_origin(const json_t *here, const json_t *there) {
	const char *ours = js_string_or(here, "fingerprint", ""), *theirs = js_string_or(there, "fingerprint", "");
	if (*ours && strcmp(ours, theirs) == 0)
		return PROFILE_HERE;
	json_t *differences = profile_machine_differences(there, here);
	enum profile_origin origin = origin_of(differences, here, there);
	json_decref(differences);
	return origin;
}

const char *profile_origin_word(enum profile_origin origin) {
	static const char *const words[] = {"current", "other compiler", "older compiler", "foreign"};
	return words[origin];
}

const char *profile_entry_state(enum profile_origin origin, const json_t *entry, const char *source) {
	bool stale = source ? strcmp(source, js_string_or(entry, "source", "")) != 0
	                    : strcmp(js_string_or(entry, "state", ""), "stale") == 0;
	return origin != PROFILE_FOREIGN && stale ? "stale" : profile_origin_word(origin);
}
