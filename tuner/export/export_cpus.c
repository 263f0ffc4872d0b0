/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/export/cpus_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"

enum { CPUS_MAX = 65536, THREADS_MAX = 65536 };

struct team {
	int used[CPUS_MAX]; /* threads that this CPU's place has already, by the first CPU of the place */
	bool there[CPUS_MAX];
	int each[THREADS_MAX], threads;
};

/* Reads a number of at most six digits. */
static bool number_read(const char **text, int *out) {
	int digits = 0;
	for (*out = 0; isdigit((unsigned char)**text) && digits < 6; digits++)
		*out = *out * 10 + *(*text)++ - '0';
	return digits > 0;
}

/* Reads "0-3,8" up to "]"; the number of CPUs, 0 for an invalid list. */
static int list_read(const char **text, int *cpus) {
	int count = 0, first, last;
	do {
		if (!number_read(text, &first))
			return 0;
		last = first;
		if (**text == '-' && (++*text, !number_read(text, &last)))
			return 0;
		for (int cpu = first; cpu <= last && cpu < CPUS_MAX && count < CPUS_MAX; cpu++)
			cpus[count++] = cpu;
	} while (**text == ',' && *(*text)++);
	return **text == ']' && *(*text)++ ? count : 0;
}

static void place_add(struct team *team, const int *cpus, int count, int threads) {
	int *used = &team->used[cpus[0]];
	for (int i = 0; i < count; i++)
		team->there[cpus[i]] = true;
	for (int i = 0; i < threads && team->threads < THREADS_MAX; i++)
		team->each[team->threads++] = cpus[(*used)++ % count];
}

/* NULL: not bound, or the binding is invalid. */
static struct team *team_read(const struct profile_entry *entry) {
	const char *text = js_string_or(entry->json, "binding", "");
	struct team *team = mem_alloc(1, sizeof *team);
	int *cpus = mem_alloc(CPUS_MAX, sizeof *cpus);
	bool right = *text == '[';
	while (right && *text == '[') {
		text++;
		int threads = 1, count = list_read(&text, cpus);
		if (*text == 'x')
			right = (++text, number_read(&text, &threads));
		right = right && count > 0;
		if (right)
			place_add(team, cpus, count, threads);
	}
	free(cpus);
	if (right && !*text)
		return team;
	free(team);
	return NULL;
}

static char *longer(char *list, int cpu) {
	char *text = mem_printf("%s%s%d", list, *list ? "," : "", cpu);
	free(list);
	return text;
}

char *export_cpus_all(const struct profile_entry *entry) {
	struct team *team = team_read(entry);
	char *list = team ? mem_strdup("") : NULL;
	for (int cpu = 0; team && cpu < CPUS_MAX; cpu++)
		if (team->there[cpu])
			list = longer(list, cpu);
	free(team);
	return list;
}

char *export_cpus_each(const struct profile_entry *entry) {
	struct team *team = team_read(entry);
	char *list = team ? mem_strdup("") : NULL;
	for (int i = 0; team && i < team->threads; i++)
		list = longer(list, team->each[i]);
	free(team);
	return list;
}

int export_cpus_check(const struct profile *profile, const char *format, struct err *err) {
	for (size_t i = 0; i < profile->count; i++)
		if (!json_is_string(json_object_get(profile->entries[i].json, "binding")))
			return err_set(err, ERR_USAGE, "export it on the machine where it was measured",
			               "%s needs CPU numbers, but this profile is another machine's", format);
	return 0;
}
