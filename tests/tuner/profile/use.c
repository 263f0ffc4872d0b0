/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only a proven result is used, every other one says why, and what is open says what proves it. */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tuner/profile/profile.h"

static const char *const verdicts[] = {
	"faster", "slower", "tie", "undecided", "no baseline", "something new", "faster, but not the same work"};
enum { VERDICTS = sizeof verdicts / sizeof *verdicts };

/* proven: 0 or 1, or -1 for a profile that does not say it. */
static json_t *entry_new(const char *verdict, int proven, bool result) {
	json_t *entry = json_pack("{s:s,s:{s:{s:i}}}", "verdict", verdict, "baseline", "config", "V", 1);
	json_t *config = json_pack("{s:i}", "V", 2);
	if (result)
		json_object_set_new(entry, "best", json_pack("{s:o}", "config", config));
	else
		json_object_set_new(entry, "config", config);
	if (proven >= 0)
		json_object_set_new(entry, "proven", json_boolean(proven));
	json_t *command = json_string("sweetspot tune --param V=1,2 -- ./app '{V}'");
	if (result)
		json_object_set_new(entry, "command", command);
	else
		json_object_set_new(entry, "provenance", json_pack("{s:o}", "command", command));
	return entry;
}

static bool is_good(const json_t *entry) {
	bool used = ssp_use_of(entry) == SSP_PROVEN, open = ssp_use_of(entry) == SSP_OPEN;
	const char *why = profile_use_why(entry);
	char *proof = profile_use_proof(entry);
	bool good = !why == used && !proof == !open && (!proof || strncmp(proof, "sweetspot tune ", 15) == 0);
	free(proof);
	return good;
}

static enum ssp_use use_of(const char *verdict, int proven) {
	json_t *entry = entry_new(verdict, proven, false);
	enum ssp_use use = ssp_use_of(entry);
	json_decref(entry);
	return use;
}

static void resumed(const char *verdict, int proven, const char *expected, const char *label) {
	json_t *entry = entry_new(verdict, proven, true);
	char *proof = profile_use_proof(entry);
	is_text(proof ? proof : "nothing", expected, label);
	free(proof);
	json_decref(entry);
}

int main(void) {
	bool good = true, unproven = true;
	for (size_t i = 0; i < VERDICTS; i++)
		for (int proven = -1; proven <= 1; proven++)
			for (int result = 0; result <= 1; result++) {
				json_t *entry = entry_new(verdicts[i], proven, result);
				good = good && is_good(entry);
				unproven = unproven && (proven != 0 || ssp_use_of(entry) == SSP_OPEN);
				json_decref(entry);
			}
	ok(good, "what is not used says why, and what is open says what proves it");
	ok(unproven, "nothing is used that says of itself that it is not proven");
	ok(use_of("faster", -1) == SSP_PROVEN && use_of("faster", 1) == SSP_PROVEN, "a proven gain is used");
	ok(use_of("no baseline", 1) == SSP_PROVEN, "a setting that works is used where the baseline fails");
	ok(use_of("tie", 1) == SSP_KEEPS && use_of("slower", -1) == SSP_KEEPS, "a tie keeps the user's setting");
	ok(use_of("undecided", 1) == SSP_OPEN && use_of("something new", 1) == SSP_OPEN,
	   "a verdict that is open or unknown is not used");
	ok(use_of("faster, but not the same work", 1) == SSP_OPEN, "a gain by other work is not used");
	resumed("faster, but not the same work", 1, "sweetspot tune --verify CMD --param V=1,2 -- ./app '{V}'",
	        "a command that verifies is asked for after a gain by other work");
	resumed("undecided", 0, "sweetspot tune --resume --budget 4m --param V=1,2 -- ./app '{V}'",
	        "a search that ended early is resumed with more time");
	static const char *const commands[][2] = {
		{"sweetspot tune --budget 15s -- ./app", "sweetspot tune --resume --budget 60s -- ./app"},
		{"sweetspot tune -b 1.5m x", "sweetspot tune --resume -b 6m x"},
		{"sweetspot tune x --budget=1h", "sweetspot tune --resume x --budget=4h"},
		{"sweetspot tune --budget 20e -- ./app", "sweetspot tune --resume --budget 20e -- ./app"},
		{"sweetspot tune -- ./app -b 3s", "sweetspot tune --resume --budget 4m -- ./app -b 3s"},
		{"sweetspot tune -- ./app --resume", "sweetspot tune --resume --budget 4m -- ./app --resume"}};
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		char *resumed = profile_command_resumed(commands[i][0], 0);
		is_text(resumed, commands[i][1], "the budget of a command that goes on");
		free(resumed);
	}
	char *longer = profile_command_resumed("sweetspot tune --budget 25s -- ./app", 113);
	is_text(longer, "sweetspot tune --resume --budget 195s -- ./app", "the budget has the pairs that may decide");
	free(longer);
	resumed("undecided", 1, "sweetspot tune --param V=1,2 -- ./app '{V}'", "a search that ran to its end is repeated");
	return tap_done();
}
