/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>

#include "base/json/js.h"
#include "base/proc/work.h"
#include "tuner/export/export_impl.h"
#include "tuner/program/program_json.h"

static bool is_shared(const char *name) {
	return strncmp(name, "OMP_", 4) == 0;
}

/* One of our variables concerns the entries of its kernel, a variable of OpenMP concerns all entries. */
static bool is_concerned(const struct profile_entry *other, const struct profile_entry *entry, const char *name) {
	return is_shared(name) || strcmp(other->kernel, entry->kernel) == 0 || json_object_get(other->environment, name) ||
	       js_has(other->unset, name);
}

static bool is_agreed(const struct profile *profile, const struct profile_entry *entry, const char *name,
                      const char *value) {
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *other = &profile->entries[i];
		const char *theirs = json_string_value(json_object_get(other->environment, name));
		if (is_concerned(other, entry, name) && (!theirs || strcmp(theirs, value) != 0))
			return false;
	}
	return true;
}

/* Sets the variables that have the same value in every entry that they concern. */
static void export_settings_agreed(const struct profile *profile, FILE *out, export_setter *set) {
	js_auto json_t *done = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		js_members (name, value, entry->environment) {
			if (json_object_get(done, name) || !is_agreed(profile, entry, name, json_string_value(value)))
				continue;
			set(out, name, json_string_value(value));
			json_object_set_new(done, name, json_true());
		}
	}
}

static void unset(const struct profile *profile, const struct profile_entry *entry, FILE *out, export_setter *set) {
	const json_t *own = entry->environment;
	js_auto json_t *names = json_object();
	if (json_object_get(own, "OMP_PROC_BIND") && !json_object_get(own, "OMP_PLACES"))
		json_object_set_new(names, "OMP_PLACES", json_true());
	js_each (left, entry->unset)
		json_object_set_new(names, json_string_value(left), json_true());
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *other = &profile->entries[i];
		js_members (name, value, other->environment)
			if (!json_object_get(own, name) && is_concerned(entry, other, name))
				json_object_set_new(names, name, json_true());
	}
	js_members (name, value, names)
		set(out, name, NULL);
}

/* Sets an entry's variables, after unsetting those that are best left out, those that another entry may have set, and
 * places that would bind the threads of an unbound entry. */
static void export_settings_of(const struct profile *profile, const struct profile_entry *entry, FILE *out,
                               export_setter *set) {
	unset(profile, entry, out, set);
	js_members (name, value, entry->environment)
		set(out, name, json_string_value(value));
}

int export_module(const struct profile *profile, FILE *out, const char *lead, export_titler *title, export_setter *set,
                  struct err *err) {
	for (size_t i = 0; i < profile->count; i++) {
		mem_auto char *text = export_title_text(&profile->entries[i]);
		title(out, text);
	}
	if (profile->count == 1) {
		export_settings_of(profile, &profile->entries[0], out, set);
	} else {
		export_comment(
			out, lead,
			"These settings are the same in all recommendations; export one kernel for all of its settings.");
		export_settings_agreed(profile, out, set);
	}
	return export_end(out, "module", err);
}

/* Names that are in `taken` are not used again. */
static void values_put(const struct profile_entry *entry, const char *prefix, json_t *taken, FILE *out,
                       export_setter *set) {
	js_members (key, json, entry->config) {
		mem_auto char *text = mem_strdup(key), *value = export_value_text(json);
		export_upper(text);
		mem_auto char *start = mem_printf("%s_", prefix), *name = export_name(start, text, taken);
		set(out, name, value);
	}
}

int export_settings_entries(const struct profile *profile, FILE *out, export_environment *environment,
                            export_setter *set, struct err *err) {
	js_auto json_t *taken = json_object(), *prefixes = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		mem_auto char *prefix = export_entry_name("SWEETSPOT_", entry, prefixes);
		export_upper(prefix);
		putc('\n', out);
		export_title(out, "# ", entry);
		environment(out, prefix, entry);
		values_put(entry, prefix, taken, out, set);
	}
	return export_end(out, "variables", err);
}

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
	mem_auto int *cpus = mem_alloc(CPUS_MAX, sizeof *cpus);
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
	if (right && !*text)
		return team;
	free(team);
	return NULL;
}

char *export_cpus_all(const struct profile_entry *entry) {
	mem_auto struct team *team = team_read(entry);
	char *list = team ? mem_strdup("") : NULL;
	for (int cpu = 0; team && cpu < CPUS_MAX; cpu++)
		if (team->there[cpu])
			mem_append(&list, *list ? ",%d" : "%d", cpu);
	return list;
}

char *export_cpus_each(const struct profile_entry *entry) {
	mem_auto struct team *team = team_read(entry);
	char *list = team ? mem_strdup("") : NULL;
	for (int i = 0; team && i < team->threads; i++)
		mem_append(&list, *list ? ",%d" : "%d", team->each[i]);
	return list;
}

/* ERR_USAGE: an entry lacks it */
static int export_cpus_check(const struct profile *profile, const char *format, struct err *err) {
	for (size_t i = 0; i < profile->count; i++)
		if (!json_is_string(json_object_get(profile->entries[i].json, "binding")))
			return err_set(err, ERR_USAGE, "export it on the machine where it was measured",
			               "%s needs CPU numbers, but this profile is another machine's", format);
	return 0;
}

long export_threads(const struct profile_entry *entry) {
	const char *text = entry->threads;
	char *end;
	long threads = strtol(text, &end, 10);
	return *text && !*end && threads > 0 && threads <= 1000000 ? threads : 0;
}

/* Where the setting is not used, the program's own values are left out: it runs with today's. */
static json_t *words_of(const struct profile_entry *entry) {
	bool today = json_object_size(entry->config) == 0;
	return program_recorded_words(entry->program, today ? entry->baseline.config : entry->config);
}

long export_ranks(const struct profile *profile, const struct profile_entry *entry) {
	(void)profile;
	js_auto json_t *words = words_of(entry);
	size_t count = json_array_size(words);
	mem_auto const char **list = mem_alloc(count + 1, sizeof *list);
	for (size_t i = 0; i < count; i++)
		list[i] = json_string_value(json_array_get(words, i));
	char *text = count ? work_ranks(list) : NULL, *end;
	long ranks = text ? strtol(text, &end, 10) : 0;
	bool good = text && *text && !*end && ranks > 0 && ranks <= 1000000;
	free(text);
	return good ? ranks : 0;
}

long export_most(const struct profile *profile,
                 long (*demand)(const struct profile *profile, const struct profile_entry *entry)) {
	long most = 0;
	for (size_t i = 0; i < profile->count; i++) {
		long one = demand(profile, &profile->entries[i]);
		most = one > most ? one : most;
	}
	return most;
}

void export_shell_set(FILE *out, const char *name, const char *value) {
	if (!value) {
		fprintf(out, "unset %s\n", name);
		return;
	}
	fprintf(out, "export %s=", name);
	export_shell_quoted(out, value);
	putc('\n', out);
}

void export_shell_set_inside(FILE *out, const char *name, const char *value) {
	putc('\t', out);
	export_shell_set(out, name, value);
}

bool export_shell_command_put(const struct profile *profile, const struct profile_entry *entry, bool inside,
                              FILE *out) {
	const json_t *program = entry->program;
	const char *cwd = js_string_or(program, "cwd", NULL), *input = js_string_or(program, "input", NULL);
	if (!program || js_string_or(program, "build", NULL))
		return false;
	const char *indent = inside ? "\t" : "";
	export_settings_of(profile, entry, out, inside ? export_shell_set_inside : export_shell_set);
	if (cwd) {
		fprintf(out, "%scd ", indent);
		export_shell_quoted(out, cwd);
		fputs(" || exit\n", out);
	}
	fprintf(out, "%sexec", indent);
	js_auto json_t *words = words_of(entry);
	js_each (word, words) {
		putc(' ', out);
		export_shell_quoted(out, json_string_value(word));
	}
	fputs(" \"$@\"", out);
	if (input) {
		fputs(" <", out);
		export_shell_quoted(out, input);
	}
	putc('\n', out);
	return true;
}

/* A function that runs the whole command, where variables are not all of the setting. */
static void put_run(const struct profile *profile, const struct profile_entry *entry, json_t *taken, FILE *out) {
	const json_t *program = entry->program;
	bool whole = false;
	js_members (name, way, json_object_get(program, "params"))
		whole = whole || strcmp(json_string_value(way), "argument") == 0;
	if (!whole || js_string_or(program, "build", NULL))
		return;
	mem_auto char *function = export_entry_name("sweetspot_run_", entry, taken);
	fprintf(out, "%s() (\n", function);
	export_shell_command_put(profile, entry, true, out);
	fputs(")\n", out);
}

static void put_functions(const struct profile *profile, FILE *out, export_shell_more *more) {
	js_auto json_t *taken = json_object(), *runs = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		mem_auto char *name = export_entry_name("sweetspot_use_", entry, taken);
		putc('\n', out);
		export_title(out, "# ", entry);
		fprintf(out, "%s() {\n", name);
		export_settings_of(profile, entry, out, export_shell_set_inside);
		if (more)
			more(profile, entry, out, export_shell_set_inside);
		fputs("\t:\n}\n", out); /* a body is never empty */
		put_run(profile, entry, runs, out);
	}
}

void export_shell_settings(const struct profile *profile, FILE *out, export_shell_more *more) {
	const struct profile_entry *first = profile->entries;
	if (profile->count == 1) {
		export_title(out, "# ", first);
		export_settings_of(profile, first, out, export_shell_set);
		if (more)
			more(profile, first, out, export_shell_set);
		js_auto json_t *taken = json_object();
		put_run(profile, first, taken, out);
		return;
	}
	export_comment(out, "# ",
	               "Settings that are the same in all recommendations are set here. For all settings of one kernel");
	export_comment(out, "# ", "and problem call its function.");
	export_settings_agreed(profile, out, export_shell_set);
	put_functions(profile, out, more);
}

int export_shell_runs(const struct profile *profile, FILE *out, const char *format, export_setter *set,
                      export_shell_command *command, struct err *err) {
	if (export_cpus_check(profile, format, err))
		return -1;
	export_heading(out, "# ", profile, "source this file, then sweetspot_run_.. PROGRAM ARG..");
	js_auto json_t *taken = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		mem_auto char *name = export_entry_name("sweetspot_run_", entry, taken);
		putc('\n', out);
		export_title(out, "# ", entry);
		fprintf(out, "%s() (\n", name);
		export_settings_of(profile, entry, out, set);
		fputs("\texec ", out);
		command(entry, out);
		fputs("\"$@\"\n)\n", out);
	}
	return export_end(out, "commands", err);
}
