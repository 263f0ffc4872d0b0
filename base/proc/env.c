/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/pipe.h"

static size_t list_length(const char *const *list) {
	size_t length = 0;
	while (list && list[length])
		length++;
	return length;
}

static bool matches(const char *entry, const char *pattern) {
	size_t length = strcspn(entry, "="), fixed = strcspn(pattern, "*");
	return (pattern[fixed] ? length >= fixed : length == fixed) && strncmp(entry, pattern, fixed) == 0;
}

static bool is_unset(const char *entry, const char *const *unset) {
	for (; unset && *unset; unset++)
		if (matches(entry, *unset))
			return true;
	return false;
}

static bool is_set(const char *entry, const char *const *set) {
	size_t length = strcspn(entry, "=");
	for (; set && *set; set++)
		if (strcspn(*set, "=") == length && strncmp(entry, *set, length) == 0)
			return true;
	return false;
}

char **proc_environment(const char *const *unset, const char *const *set) {
	const char *const *inherited = (const char *const *)environ;
	const char **list = mem_alloc(list_length(inherited) + list_length(set) + 1, sizeof(*list));
	size_t count = 0;
	for (; inherited && *inherited; inherited++)
		if (!is_unset(*inherited, unset) && !is_set(*inherited, set))
			list[count++] = *inherited;
	for (; set && *set; set++)
		if (!is_set(*set, set + 1)) /* the last value of a name wins */
			list[count++] = *set;
	return (char **)list;
}
