/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/profile/use.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/text.h"

/* A result has its setting and its command elsewhere than an entry. */
static const json_t *config_of(const json_t *entry) {
	const json_t *best = json_object_get(entry, "best");
	return json_object_get(best ? best : entry, "config");
}

static const char *command_of(const json_t *entry) {
	const json_t *provenance = json_object_get(entry, "provenance");
	return js_string_or(provenance ? provenance : entry, "command", "");
}

static bool is_proven(const json_t *entry) {
	return js_bool_or(entry, "proven", true);
}

const char *profile_use_why(const json_t *entry) {
	const char *verdict = js_string_or(entry, "verdict", "undecided");
	switch (ssp_use_of(entry)) {
	case SSP_PROVEN:
		return NULL;
	case SSP_KEEPS:
		return strcmp(verdict, "slower") == 0 ? "slower: the setting found is slower than today's"
		                                      : "a tie: nothing that was tried is faster than today's setting";
	case SSP_OPEN:
		break;
	}
	if (is_proven(entry))
		return "undecided: the measurements were too noisy to prove that anything is faster";
	if (json_equal(config_of(entry), json_object_get(json_object_get(entry, "baseline"), "config")))
		return "undecided: nothing is proven to be faster so far";
	return "undecided: the best setting so far is not yet proven to be faster";
}

char *profile_command_resume(const char *command) {
	static const char tune[] = "sweetspot tune";
	if (strncmp(command, tune, sizeof tune - 1) != 0 || strstr(command, " --resume"))
		return mem_strdup(command);
	return mem_printf("%s --resume%s", tune, command + sizeof tune - 1);
}

/* Only a search that ended early can be resumed; another one needs new measurements. */
char *profile_use_proof(const json_t *entry) {
	const char *command = command_of(entry);
	if (ssp_use_of(entry) != SSP_OPEN || !*command)
		return NULL;
	char *proof = is_proven(entry) ? mem_strdup(command) : profile_command_resume(command);
	text_clean(proof, false);
	return proof;
}
