/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts are picked by their names, because a fact that a later version adds may be private. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tuner/store/share.h"

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

bool share_is_private(const json_t *value) {
	const char *name;
	json_t *member;
	size_t i;
	if (json_is_string(value))
		return names_private(json_string_value(value));
	json_object_foreach((json_t *)value, name, member) {
		if (names_private(name) || share_is_private(member))
			return true;
	}
	json_array_foreach((json_t *)value, i, member) {
		if (share_is_private(member))
			return true;
	}
	return false;
}

static json_t *picked(const json_t *from, const char *const *names) {
	json_t *to = json_object();
	for (; *names; names++) {
		json_t *fact = json_object_get(from, *names);
		if (fact && !share_is_private(fact))
			json_object_set(to, *names, fact);
	}
	return to;
}

json_t *share_machine(const json_t *machine) {
	json_t *shared = picked(machine, facts);
	if (json_is_object(json_object_get(machine, "gpu")))
		json_object_set_new(shared, "gpu", picked(json_object_get(machine, "gpu"), gpu_facts));
	if (json_object_get(machine, "hypervisor"))
		json_object_set_new(shared, "virtual", json_true());
	return shared;
}
