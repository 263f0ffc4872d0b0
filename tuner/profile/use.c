/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/profile/use.h"

#include "base/json/js.h"
#include "tuner/result/result.h"
#include "base/mem.h"
#include "base/text.h"

/* A result has its command elsewhere than an entry. */
static const char *command_of(const json_t *entry) {
	const json_t *provenance = json_object_get(entry, "provenance");
	return js_string_or(provenance ? provenance : entry, "command", "");
}

static bool is_proven(const json_t *entry) {
	return js_bool_or(entry, "proven", true);
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

static char *command_with(const char *command, const char *option) {
	static const char tune[] = "sweetspot tune";
	if (strncmp(command, tune, sizeof tune - 1) != 0 || strstr(command, option))
		return mem_strdup(command);
	return mem_printf("%s%s%s", tune, option, command + sizeof tune - 1);
}

/* `sweetspot tune ..` with --resume after its first two words; other commands as they are. The caller frees it. */
static char *profile_command_resume(const char *command) {
	return command_with(command, " --resume");
}

/* Only a search that ended early can be resumed; another one needs new measurements, or somebody who tells whether the
 * other work is right. */
char *profile_use_proof(const json_t *entry) {
	const char *command = command_of(entry);
	if (ssp_use_of(entry) != SSP_OPEN || !*command)
		return NULL;
	char *proof = verdict_of(entry) == VERDICT_NOT_SAME ? command_with(command, " --verify CMD")
	              : is_proven(entry)                    ? mem_strdup(command)
	                                                    : profile_command_resume(command);
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
