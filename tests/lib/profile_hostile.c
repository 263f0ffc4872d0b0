/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles that someone broke, or made to break what reads them. */
#include "base/mem.h"
#include "base/rng.h"
#include "tests/lib/profile_made.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANGES                                                                                                         \
	"[{\"from\":64,\"to\":200,\"config\":{\"b\":2},\"environment\":{}},"                                               \
	"{\"from\":400,\"to\":4096,\"config\":{\"b\":3},\"environment\":{}}]"
#define LAWS "[{\"pieces\":[{\"from\":64,\"to\":512,\"overhead\":1,\"factor\":2,\"exponent\":2}]}]"
#define SIZES(ranges, laws)                                                                                            \
	"[{\"kernel\":\"gol\",\"over\":\"n\",\"unit\":\"s\",\"problem\":{\"rule\":\"b3\"},"                                \
	"\"thresholds\":" ranges ",\"laws\":" laws "}]"
#define PROFILE(entries, sizes) MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE) entries "],\"sizes\":" sizes "}"
#define ENTRY                                                                                                          \
	MADE_ENTRY("gol", "\"n\":64,\"rule\":\"b3\"", "\"b\":1,\"w\":\"x\",\"t\":true", "\"OMP_NUM_THREADS\":\"3\"",       \
	           "0.5", "current")

static const char good[] = PROFILE(ENTRY "," ENTRY, SIZES(RANGES, LAWS));

static bool reads(const char *text, size_t size, char why[SWEETSPOT_MESSAGE]) {
	struct ssp_message message = {why, SWEETSPOT_MESSAGE};
	why[0] = '\0';
	sweetspot_profile *profile = ssp_parse(text, size, &message);
	bool read = profile != NULL;
	sweetspot_close(profile);
	return read;
}

static void check_mutations(void) {
	enum { ROUNDS = 20000 };
	struct rng rng;
	char text[sizeof good];
	rng_seed(&rng, 9);
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = sizeof good - 1, changes = 1 + rng_below(&rng, 4);
		memcpy(text, good, size);
		for (size_t c = 0; c < changes; c++) {
			size_t at = (size_t)rng_below(&rng, size), from = (size_t)rng_below(&rng, size);
			size_t length = (size_t)rng_below(&rng, size - (at > from ? at : from));
			switch (rng_below(&rng, 4)) {
			case 0:
				text[at] = (char)rng_below(&rng, 256);
				break;
			case 1:
				text[at] = "0123456789-e.\"{}[]:,\n\\"[rng_below(&rng, 22)];
				break;
			case 2:
				memmove(text + at, text + from, length < 8 ? length : 8);
				break;
			default:
				size = rng_below(&rng, 20) == 0 && at > 1 ? at : size;
				break;
			}
		}
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
	}
	ok(true, "%d mutated profiles are answered as promised", ROUNDS);
}

static void refuse(const char *text, size_t size, const char *reason, const char *what) {
	char why[SWEETSPOT_MESSAGE];
	if (!ok(!reads(text, size, why) && strstr(why, reason), "%s", what))
		printf("# %s\n", why);
}

static void check_bad(void) {
#define REFUSE(text, note, what) refuse((text), sizeof(text) - 1, (note), (what))
	REFUSE("", "not valid JSON", "nothing");
	REFUSE("[]", "schema", "another type");
	REFUSE("{\"schema\":5}", "schema", "a schema of another type");
	REFUSE(PROFILE("", "[]") "\0", "not valid JSON", "bytes of 0");
	REFUSE(PROFILE("5", "[]"), "entries: 0", "an entry of another type");
	REFUSE(PROFILE(MADE_ENTRY("k", "", "", "", "-1", "current"), "[]"), "entries: 0", "a median below 0");
	REFUSE(PROFILE(MADE_ENTRY("k", "", "", "", "\"1\"", "current"), "[]"), "entries: 0", "a median that is a word");
	REFUSE(PROFILE(MADE_ENTRY("", "", "", "", "1", "current"), "[]"), "entries: 0", "a kernel without a name");
	REFUSE(PROFILE(MADE_ENTRY("k", "\"n\":[]", "", "", "1", "current"), "[]"), "entries: 0", "a problem with a list");
	REFUSE(PROFILE(MADE_ENTRY("k", "", "\"b\":null", "", "1", "current"), "[]"), "entries: 0",
	       "a setting that is null");
	REFUSE(PROFILE(ENTRY, "5"), "sizes", "sizes of another type");
	REFUSE(PROFILE(ENTRY, SIZES("[]", LAWS)), "sizes: 0", "no range");
	REFUSE(PROFILE(ENTRY, SIZES("[{\"from\":9,\"to\":8,\"config\":{},\"environment\":{}}]", LAWS)), "sizes: 0",
	       "a range that ends first");
	REFUSE(PROFILE(ENTRY, SIZES("[{\"from\":0,\"to\":8,\"config\":{},\"environment\":{}}]", LAWS)), "sizes: 0",
	       "a range from 0");
	REFUSE(PROFILE(ENTRY, SIZES(RANGES, "5")), "sizes: 0", "a law of another type");
	REFUSE(PROFILE(ENTRY, SIZES(RANGES, "[{\"pieces\":[{}]}]")), "sizes: 0", "a law without numbers");
#undef REFUSE
	char why[SWEETSPOT_MESSAGE];
	ok(reads(good, sizeof good - 1, why) && !*why, "while the good one is read");
}

/* Members, entries and brackets without end. */
static void check_floods(void) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	fputs(MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE), out);
	for (int i = 0; i <= SSP_ENTRIES_MAX; i++)
		fputs(i ? ",{}" : "{}", out);
	fputs("]}", out);
	fclose(out);
	refuse(text, size, "at most", "a flood of entries");
	free(text);
	out = open_memstream(&text, &size);
	fputs(MADE_HEAD("sweetspot-profile/1", "x", MADE_MACHINE), out);
	fputs("{\"kernel\":\"k\",\"median\":1,\"config\":{},\"environment\":{},\"problem\":{", out);
	for (int i = 0; i <= SSP_PROBLEM_MAX; i++)
		fprintf(out, "%s\"n%d\":1", i ? "," : "", i);
	fputs("}}]}", out);
	fclose(out);
	refuse(text, size, "entries: 0", "a flood of members");
	free(text);
	text = mem_alloc(1 << 20, 1);
	memset(text, '[', 1 << 20);
	refuse(text, 1 << 20, "not valid JSON", "a million brackets");
	free(text);
}

int main(void) {
	check_bad();
	check_floods();
	check_mutations();
	return tap_done();
}
