/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes make a profile that can be asked anything, or a message. The test `profile_hostile` calls this with mutated
 * profiles, `make fuzz` runs it as a target of libFuzzer, where most inputs are asked for one of the sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/profile_impl.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static void config_ask(const sweetspot_config *config) {
	struct sweetspot_value setting;
	for (size_t i = 0; sweetspot_setting(config, i, &setting); i++) {
		require(*setting.name && i < SSP_SETTINGS_MAX);
		require(!setting.word || strcmp(setting.word, sweetspot_word(config, setting.name, "")) == 0);
		sweetspot_int(config, setting.name, 0);
		require(!isnan(sweetspot_real(config, setting.name, 0)));
	}
}

static void lookup_ask(const sweetspot_profile *profile, const char *kernel, double n, const char *word) {
	struct sweetspot_match match;
	struct sweetspot_value problem[] = {{"n", n, NULL}, {"rule", 0, word}};
	const sweetspot_config *config = sweetspot_lookup(profile, kernel, NULL, problem, word ? 2 : 1, &match);
	require(!!config == (match.status != SWEETSPOT_NONE) && match.unit && match.objective);
	require(!config || (match.fit >= SWEETSPOT_EXACT && match.fit <= SWEETSPOT_NEAREST));
	require(!(match.predicted < 0) && !(match.distance < 0));
	config_ask(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	enum { COUNT = 7 };
	static const double numbers[COUNT] = {64, 100, 1e9, 0, -3, NAN, INFINITY};
	struct ssp_machine here = {.cpu = "Made", .threads = 4, .gpu = "A\nB\n"};
	char why[SWEETSPOT_MESSAGE] = "";
	struct ssp_message message = {why, sizeof why};
	sweetspot_profile *profile = ssp_parse((const char *)data, size, &message);
	const char *kernel;
	require(profile || *why);
	if (!profile)
		return 0;
	const char *differs = ssp_machine_differs(&profile->machine, &here, profile->arena);
	if (differs)
		ssp_foreign_set(profile, differs);
	bool all = fuzz_one_in(16, data, size);
	size_t first = all ? 0 : fuzz_hash(data, size) % COUNT, end = all ? COUNT : first + 1;
	for (size_t k = 0; (kernel = sweetspot_kernel(profile, k)); k++) {
		for (size_t i = first; i < end; i++) {
			lookup_ask(profile, kernel, numbers[i], NULL);
			lookup_ask(profile, kernel, numbers[i], "b3");
		}
		config_ask(sweetspot_lookup(profile, kernel, NULL, NULL, 0, NULL));
	}
	sweetspot_close(profile);
	return 0;
}
