/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/value.h"
#include "tuner/profile/profile.h"
#include "tuner/result/result.h"

enum { LISTED_MAX = 4096, SEARCHED_MAX = 1 << 16 };

static bool is_link(const char *name) {
	const char *digits = name + sizeof PROFILE_LINK - 1;
	return strncmp(name, PROFILE_LINK, sizeof PROFILE_LINK - 1) == 0 &&
	       strspn(digits, "0123456789abcdef") == PROFILE_DIGITS && strcmp(digits + PROFILE_DIGITS, ".json") == 0;
}

/* Is it a .json that is neither hidden nor a link? */
static int is_profile(const struct dirent *one) {
	const char *name = one->d_name;
	size_t length = strlen(name);
	return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".json") == 0 && !is_link(name);
}

char **profile_folder_files(const char *folder, size_t *count, struct err *err) {
	mem_auto struct dirent **found = NULL;
	int files = scandir(folder, &found, is_profile, alphasort);
	*count = 0;
	if (files < 0)
		return err_null(err_set(err, ERR_USAGE, NULL, "%s: %s", folder, strerror(errno)));
	char **paths = mem_alloc((size_t)files + 1, sizeof *paths);
	for (int i = 0; i < files; i++) {
		if (files <= LISTED_MAX)
			paths[(*count)++] = mem_printf("%s/%s", folder, found[i]->d_name);
		free(found[i]);
	}
	if (*count)
		return paths;
	free(paths);
	return err_null(err_set(err, files ? ERR_USAGE : ERR_NOTHING, "the name of a profile ends in .json",
	                        files ? "%s holds more than 4096 files" : "%s does not hold any profile", folder));
}

static bool is_of(const json_t *profile, const char *fingerprint) {
	return strcmp(js_string_or(json_object_get(profile, "machine"), "fingerprint", ""), fingerprint) == 0;
}

/* Searches files of any name, and skips those that cannot be read. */
static json_t *folder_search(const char *folder, const char *fingerprint) {
	json_t *best = NULL;
	DIR *dir = opendir(folder);
	struct dirent *one;
	for (int seen = 0; dir && seen < SEARCHED_MAX && (one = readdir(dir));) {
		if (!is_profile(one))
			continue;
		struct err ignored = {0};
		mem_auto char *path = mem_printf("%s/%s", folder, one->d_name);
		js_auto json_t *profile = sys_is_plain_file(path) ? profile_load(path, &ignored) : NULL;
		bool newer = !best || strcmp(js_string_or(profile, "created", ""), js_string_or(best, "created", "")) > 0;
		seen++;
		if (profile && is_of(profile, fingerprint) && newer) {
			json_decref(best);
			best = json_incref(profile);
		}
	}
	if (dir)
		closedir(dir);
	return best;
}

static json_t *folder_at(const char *folder, const char *fingerprint, struct err *err) {
	mem_auto char *path = profile_file_name(folder, fingerprint);
	json_t *profile = sys_is_plain_file(path) ? profile_load(path, err) : folder_search(folder, fingerprint);
	if (profile && !is_of(profile, fingerprint)) {
		json_decref(profile);
		profile = folder_search(folder, fingerprint);
	}
	if (!profile && err->code == ERR_OK)
		err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows its properties",
		        "%s does not hold a profile of this machine", folder);
	return profile;
}

json_t *profile_at(const char *path, const char *fingerprint, struct err *err) {
	struct stat info;
	if (!fingerprint)
		return NULL;
	if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return folder_at(path, fingerprint, err);
	js_auto json_t *profile = profile_load(path, err);
	if (!profile || is_of(profile, fingerprint))
		return json_incref(profile);
	return err_null(err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows its properties",
	                        "%s comes from another machine", path));
}

/* Frees the folder, which may be NULL. */
static json_t *place_at(char *folder, const char *fingerprint) {
	struct err ignored = {0};
	json_t *profile = folder && access(folder, F_OK) == 0 ? profile_at(folder, fingerprint, &ignored) : NULL;
	free(folder);
	return profile;
}

json_t *profile_find(const char *fingerprint, struct err *err) {
	const char *set = getenv("SWEETSPOT_PROFILE");
	if (!fingerprint)
		return NULL;
	if (set && *set)
		return profile_at(set, fingerprint, err);
	json_t *profile = place_at(sys_config_dir(NULL), fingerprint);
	if (!profile)
		profile = place_at(sys_data_dir(NULL), fingerprint);
	const char *const sites[] = {sys_site_dir(), "/etc/sweetspot"};
	for (size_t i = 0; i < 2 && !profile; i++) {
		profile = place_at(mem_strdup(sites[i]), fingerprint);
		if (!profile)
			profile = place_at(mem_printf("%s/profiles.d", sites[i]), fingerprint);
	}
	if (!profile)
		err_set(err, ERR_NOTHING, "tune on this machine, or name a profile or a folder of them in SWEETSPOT_PROFILE",
		        "no profile of this machine was found");
	return profile;
}

/* A result has its command elsewhere than an entry. */
static const char *command_of(const json_t *entry) {
	const json_t *provenance = json_object_get(entry, "provenance");
	return js_string_or(provenance ? provenance : entry, "command", "");
}
const char *profile_use_why(const json_t *entry) {
	switch (ssp_use_of(entry)) {
	case SSP_PROVEN:
		return NULL;
	case SSP_KEEPS:
		return verdict_of(entry) == VERDICT_SLOWER ? "slower: what was found is slower than today's setting"
		                                           : "a tie: nothing is proven to be faster than today's setting";
	case SSP_OPEN:
		break;
	}
	if (verdict_of(entry) == VERDICT_NOT_SAME)
		return "faster, but not the same work: it does something else than today's setting";
	return "undecided: the best setting that was found is not proven to be faster";
}

/* Where an option of ours stands in a command; NULL: nowhere, or it is a word of the program behind it. */
static const char *option_find(const char *command, const char *option) {
	const char *at = strstr(command, option), *end = strstr(command, " -- ");
	return at && (!end || at < end) ? at : NULL;
}

/* `sweetspot tune ..` with the option after its first two words; other commands as they are. The caller frees it. */
static char *command_with(const char *command, const char *option) {
	static const char tune[] = "sweetspot tune";
	if (strncmp(command, tune, sizeof tune - 1) != 0 || option_find(command, option))
		return mem_strdup(command);
	return mem_printf("%s%s%s", tune, option, command + sizeof tune - 1);
}

/* The command with four times the budget of time, because --resume with a budget that is used up proves nothing more,
 * or with what the pairs take that may decide, and half of that again. The caller frees it. */
static char *command_longer(const char *command, double seconds) {
	static const double START = 60, TIMES = 4, SPARE = 1.5; /* START: the budget that is none */
	static const char *const names[] = {" --budget ", " --budget=", " -b "};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *at = option_find(command, names[i]);
		if (!at)
			continue;
		char *unit;
		const char *value = at + strlen(names[i]);
		double number = strtod(value, &unit);
		bool plain = number > 0 && *unit && strchr("smh", *unit) && (unit[1] == ' ' || !unit[1]);
		double scale = *unit == 'h' ? 3600 : *unit == 'm' ? 60 : 1, more = number + ceil(SPARE * seconds / scale);
		return plain ? mem_printf("%.*s%g%s", (int)(value - command), command, fmax(TIMES * number, more), unit)
		             : mem_strdup(command);
	}
	mem_auto char *option = mem_printf(" --budget %gm", fmax(TIMES, 1 + ceil(SPARE * seconds / START)));
	return command_with(command, option);
}

char *profile_command_resumed(const char *command, double seconds) {
	mem_auto char *longer = seconds >= 0 ? command_longer(command, seconds) : mem_strdup(command);
	return command_with(longer, " --resume");
}

/* Only a search that ended early can be resumed; another one needs new measurements, or somebody who tells whether the
 * other work is right. */
char *profile_use_proof(const json_t *entry) {
	const char *command = command_of(entry);
	if (ssp_use_of(entry) != SSP_OPEN || !*command)
		return NULL;
	char *proof = verdict_of(entry) == VERDICT_NOT_SAME ? command_with(command, " --verify CMD")
	              : js_bool_or(entry, "proven", true)
	                  ? mem_strdup(command)
	                  : profile_command_resumed(command, fmax(0, js_real_or(js_at(entry, "decide"), "seconds", 0)));
	text_clean(proof, false);
	return proof;
}

/* A program's line is what the user types. */
static void program_settle(json_t *entry, bool values) {
	json_t *program = json_object_get(entry, "program");
	const char *today = js_string_or(program, "baseline_line", NULL);
	if (today)
		json_object_set_new(program, "line", json_string(today));
	if (program && !values)
		json_object_set_new(entry, "config", json_object());
}

/* False: its baseline is not known. */
static bool entry_settle(json_t *entry, bool values) {
	static const char *const members[] = {"config", "median", "ci"};
	json_t *baseline = json_object_get(entry, "baseline");
	if (!json_is_object(baseline))
		return false;
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		json_object_set(entry, members[i], json_object_get(baseline, members[i]));
	json_object_set_new(entry, "environment", json_object());
	json_object_set_new(entry, "speedup", json_null());
	json_object_del(entry, "unset");
	json_object_del(entry, "counted");
	program_settle(entry, values);
	return true;
}

/* The baseline of a kernel is the same for all of its sizes. */
static const json_t *baseline_of(const json_t *profile, const json_t *sizes) {
	js_each (entry, json_object_get(profile, "entries")) {
		const json_t *config = js_at(entry, "baseline.config");
		if (config && strcmp(js_string_or(entry, "kernel", ""), js_string_or(sizes, "kernel", "")) == 0)
			return config;
	}
	return NULL;
}

/* Before the entries are settled, which say what may be used. */
static void ranges_settle(json_t *profile) {
	json_t *all = json_object_get(profile, "sizes");
	sweetspot_profile *open = json_array_size(all) ? ssp_read(profile, NULL, 0) : NULL;
	for (size_t i = json_array_size(all); i-- > 0;) {
		json_t *sizes = json_array_get(all, i), *baseline = (json_t *)baseline_of(profile, sizes);
		if (!open || !baseline) {
			json_array_remove(all, i);
			continue;
		}
		js_each (range, json_object_get(sizes, "thresholds")) {
			if (ssp_use_of_range(open, i, range_at) == SSP_PROVEN)
				continue;
			json_object_set(range, "config", baseline);
			json_object_set_new(range, "environment", json_object());
		}
	}
	sweetspot_close(open);
}

void profile_settle(json_t *profile, bool values) {
	json_t *entries = json_object_get(profile, "entries");
	ranges_settle(profile);
	for (size_t i = json_array_size(entries); i-- > 0;) {
		json_t *entry = json_array_get(entries, i);
		if (ssp_use_of(entry) != SSP_PROVEN && !entry_settle(entry, values))
			json_array_remove(entries, i);
	}
}

/* Reads the words that name a problem to look up. */
/* Entries and sizes, one after the other; NULL after the last. */
static const json_t *part_at(const json_t *profile, size_t i) {
	const json_t *entries = json_object_get(profile, "entries");
	size_t count = json_array_size(entries);
	return i < count ? json_array_get(entries, i) : json_array_get(json_object_get(profile, "sizes"), i - count);
}

static int no_kernel(const json_t *profile, const char *kernel, struct err *err) {
	mem_auto const char **names = mem_alloc(json_array_size(json_object_get(profile, "entries")) +
	                                            json_array_size(json_object_get(profile, "sizes")) + 1,
	                                        sizeof *names);
	size_t count = 0;
	for (const json_t *one; (one = part_at(profile, count));)
		names[count++] = js_string_or(one, "kernel", "");
	const char *near = near_word(kernel, names, count);
	err_set(err, ERR_NOTHING, NULL, "the profile does not have an entry for kernel %s", kernel);
	near ? err_hint(err, "did you mean %s?", near) : err_hint(err, "tune it first: sweetspot tune %s", kernel);
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
	mem_auto char *name = mem_strdup(word);
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
	return known ? value_read(problem, name, equals + 1, example, err) : no_name(profile, kernel, name, err);
}

const char *profile_fit_word(enum profile_fit fit) {
	static const char *const words[] = {"exact", "interpolated", "nearest"};
	return words[fit];
}

static struct sweetspot_value *values_of(const json_t *problem) {
	struct sweetspot_value *values = mem_alloc(json_object_size(problem) + 1, sizeof *values);
	size_t count = 0;
	js_members (name, value, problem) {
		double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
		values[count++] = (struct sweetspot_value){name, number, json_string_value(value)};
	}
	return values;
}

static void choice_set(const json_t *profile, struct ssp_place place, const struct sweetspot_match *match,
                       struct profile_choice *choice) {
	const json_t *one = json_array_get(json_object_get(profile, place.is_entry ? "entries" : "sizes"), place.at);
	const json_t *range = json_array_get(json_object_get(one, "thresholds"), place.range);
	const json_t *from = place.is_entry ? one : range;
	*choice = (struct profile_choice){
		.fit = match->fit == SWEETSPOT_EXACT          ? PROFILE_EXACT
	           : match->fit == SWEETSPOT_INTERPOLATED ? PROFILE_INTERPOLATED
	                                                  : PROFILE_NEAREST,
		.entry = place.is_entry ? one : NULL,
		.sizes = place.is_entry ? NULL : one,
		.range = place.is_entry ? NULL : range,
		.config = json_object_get(from, "config"),
		.environment = json_object_get(from, "environment"),
		.unit = js_string_or(one, "unit", ""),
		.objective = js_string_or(one, "objective", "time"),
		.predicted = match->predicted,
		.measured = match->measured,
		.speedup = match->speedup,
		.distance = match->distance,
	};
}

/* Is the problem of the entry what is asked for, as far as it is asked for? */
static bool is_asked(const json_t *entry, const json_t *problem) {
	js_members (name, value, problem) {
		const json_t *there = json_object_get(json_object_get(entry, "problem"), name);
		if (!json_equal(value, (json_t *)there) &&
		    !(json_is_number(value) && json_is_number(there) && json_number_value(value) == json_number_value(there)))
			return false;
	}
	return true;
}

/* Nothing is found: either nothing near was tuned, or it is not proven. */
static int not_proven(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                      struct err *err) {
	js_each (entry, json_object_get(profile, "entries")) {
		if (strcmp(js_string_or(entry, "kernel", ""), kernel) != 0 ||
		    strcmp(js_string_or(entry, "objective", "time"), objective) != 0 || ssp_use_of(entry) != SSP_OPEN ||
		    !is_asked(entry, problem))
			continue;
		mem_auto char *proof = profile_use_proof(entry);
		err_set(err, ERR_NOTHING, NULL, "nothing is recommended for %s: %s", kernel, profile_use_why(entry));
		err_hint(err, "to prove it: %s", proof ? proof : "tune it again");
		return -1;
	}
	return err_set(err, ERR_NOTHING, "`sweetspot profile show` lists the problems that were tuned",
	               "%s was tuned for %s, but not for a problem near this one", kernel, objective);
}

int profile_select(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice, struct err *err) {
	char why[SWEETSPOT_MESSAGE] = "";
	const char *wanted = profile_select_objective(profile, kernel, objective, err);
	if (!wanted)
		return -1;
	sweetspot_profile *open = ssp_read(profile, why, sizeof why);
	if (!open)
		return err_set(err, ERR_USAGE, NULL, "programs can't read this profile: %s", why);
	struct sweetspot_match match;
	mem_auto struct sweetspot_value *values = values_of(problem);
	enum ssp_use use = SSP_OPEN;
	const sweetspot_config *config = ssp_find(open, kernel, wanted, values, json_object_size(problem), &match, &use);
	if (config && use == SSP_PROVEN)
		choice_set(profile, ssp_place_of(open, config), &match, choice);
	else if (config && use == SSP_KEEPS)
		err_set(err, ERR_NOTHING, "keep the setting that you have",
		        "nothing is recommended for %s here: nothing is proven to be faster than the baseline", kernel);
	else
		not_proven(profile, kernel, wanted, problem, err);
	sweetspot_close(open);
	return config && use == SSP_PROVEN ? 0 : -1;
}
