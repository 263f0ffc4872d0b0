/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of the regions belongs to the program: whatever it puts there, the worker gets an answer. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "worker/program/program_impl.h"
#include "tests/lib/rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD                                                                                                           \
	"{\"sweetspot_regions\":1,\"pid\":8,\"program\":\"p\",\"complete\":true,\"dropped\":0,"                            \
	"\"events\":[\"a\",\"b\"]}\n"
#define ROW(calls, ns, a)                                                                                              \
	"{\"thread\":0,\"calls\":" calls ",\"ns\":" ns ",\"unbegun\":0,\"unended\":0,\"events\":[" a                       \
	",{\"value\":2000000000,\"enabled\":9,\"running\":9}]}"
#define REGION(name, rows) "{\"name\":\"" name "\",\"threads\":[" rows "]}\n"
#define GOOD               "{\"value\":5,\"enabled\":8,\"running\":8}"

static const struct regions_event events[] = {{"a", "count", 1, 2, 0}, {"b", "s", 1, 1, 1e-9}};
static const char good[] = HEAD REGION("x", ROW("3", "1500000000", GOOD) "," ROW("1", "500000000", GOOD))
	REGION("\\u00e9 \303\251", ROW("1", "7", "{\"errno\":13}"));

static void check_mutations(void) {
	enum { ROUNDS = 30000 };
	struct rng rng;
	char text[sizeof good + 16];
	rng_seed(&rng, 7);
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = sizeof good - 1, changes = 1 + rng_below(&rng, 6);
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
				memmove(text + at, text + from, length);
				break;
			default:
				size = at > 1 ? at : 2;
				break;
			}
		}
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
	}
	ok(true, "%d mutated files are answered as promised", ROUNDS);
}

/* The regions of one file with this text. */
static void read_text(struct rig *rig, const char *text, size_t size, const char *name) {
	struct regions regions;
	struct err err;
	if (regions_prepare(rig->arena, rig->home, events, 2, &regions, &err) != 0)
		exit(99);
	char *path = mem_printf("%s/%s", regions.folder, name);
	FILE *file = fopen(path, "w");
	if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0)
		exit(99);
	free(path);
	json_decref(rig->found);
	json_decref(rig->notes);
	rig->found = regions_read(&regions, &rig->notes);
}

static double value(const struct rig *rig, const char *name, const char *event) {
	json_t *json = json_object_get(counter(rig, name, event), "value");
	return json_is_number(json) ? json_number_value(json) : NAN;
}

static const char *text_of(const struct rig *rig, const char *name, const char *event, const char *key) {
	const char *text = json_string_value(json_object_get(counter(rig, name, event), key));
	return text ? text : "";
}

static void check_good(struct rig *rig) {
	read_text(rig, good, sizeof good - 1, "regions-8-1.json");
	ok(json_array_size(rig->found) == 2 && json_array_size(rig->notes) == 0, "a valid file is read");
	ok(figure(rig, "x", "calls") == 4 && figure(rig, "x", "seconds") == 2 && figure(rig, "x", "threads") == 2, "sums");
	ok(value(rig, "x", "a") == 10 && value(rig, "x", "b") == 4, "counters, in their unit");
	is_text(text_of(rig, "\303\251 \303\251", "a", "status"), "unavailable", "a failed event does not have a value");
	ok(strstr(text_of(rig, "\303\251 \303\251", "a", "reason"), "Permission denied"), "a failed event has a reason");
	read_text(rig, good, sizeof good - 1, "other-8-1.json");
	ok(json_array_size(rig->found) == 0, "files with other names are ignored");
}

static void check_counts(struct rig *rig) {
	static const char text[] = HEAD REGION("scaled", ROW("1", "9", "{\"value\":5,\"enabled\":8,\"running\":2}"))
		REGION("never", ROW("1", "9", "{\"value\":0,\"enabled\":8,\"running\":0}"))
			REGION("user", ROW("1", "9", "{\"value\":5,\"enabled\":8,\"running\":8,\"user_only\":true}"))
				REGION("half", ROW("1", "9", GOOD) "," ROW("1", "9", "{\"errno\":24}"))
					REGION("odd", ROW("1", "9", "[]"));
	read_text(rig, text, sizeof text - 1, "regions-8-1.json");
	ok(value(rig, "scaled", "a") == 20 && strcmp(text_of(rig, "scaled", "a", "status"), "scaled") == 0,
	   "enabled and running scale");
	ok(isnan(value(rig, "never", "a")) && text_of(rig, "never", "a", "reason")[0],
	   "a 0 that was not counted is not a value");
	ok(value(rig, "user", "a") == 5 && strstr(text_of(rig, "user", "a", "reason"), "user mode"),
	   "user mode only is reported");
	ok(isnan(value(rig, "half", "a")) && value(rig, "half", "b") == 4,
	   "an event that failed in a thread does not have a total");
	ok(isnan(value(rig, "odd", "a")) && strstr(text_of(rig, "odd", "a", "reason"), "malformed"),
	   "a malformed event has no total");
}

static void refuse(struct rig *rig, const char *text, size_t size, const char *note, const char *what) {
	read_text(rig, text, size, "regions-8-1.json");
	if (!ok(json_array_size(rig->found) == 0 && noted(rig, note), "%s", what)) {
		json_dumpf(rig->found, stdout, 0);
		json_dumpf(rig->notes, stdout, 0);
	}
}

static void check_bad(struct rig *rig) {
#define REFUSE(text, note, what) refuse(rig, (text), sizeof(text) - 1, (note), (what))
	REFUSE("not JSON\n", "line 1", "no JSON");
	REFUSE("[]\n", "line 1", "another type");
	REFUSE("{\"sweetspot_regions\":2,\"events\":[]}\n" REGION("x", ""), "line 1", "another version");
	REFUSE(REGION("x", ROW("1", "1", GOOD)), "line 1", "no head");
	REFUSE(HEAD "\0" REGION("x", ""), "is not a file of", "bytes of 0");
	REFUSE(HEAD "{\"name\":5,\"threads\":[]}\n", "line 2", "a name of another type");
	REFUSE(HEAD "{\"name\":\"x\",\"threads\":{}}\n", "line 2", "threads of another type");
	REFUSE(HEAD "{\"name\":\"x\",\"name\":\"y\",\"threads\":[]}\n", "line 2", "a name twice");
#undef REFUSE
	static const char negative[] = HEAD REGION("x", ROW("-1", "1", GOOD));
	read_text(rig, negative, sizeof negative - 1, "regions-8-1.json");
	ok(figure(rig, "x", "calls") == 0 && noted(rig, "line 2"), "calls below 0");
	char *deep = mem_alloc(1 << 20, 1);
	memset(deep, '[', (1 << 20) - 1);
	deep[(1 << 20) - 2] = '\n';
	refuse(rig, deep, (1 << 20) - 1, "line 1", "a million brackets");
	free(deep);
}

/* Regions, threads and bytes without end. */
static void check_floods(struct rig *rig) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	fputs(HEAD, out);
	for (int i = 0; i < 3000; i++)
		fprintf(out, "{\"name\":\"r%d\",\"threads\":[" ROW("2", "1000000000", GOOD) "]}\n", i);
	fputs("{\"name\":\"r0\",\"threads\":[", out);
	for (int i = 0; i < 5000; i++)
		fprintf(out, "%s" ROW("1", "1000000000", GOOD), i ? "," : "");
	fputs("]}\n", out);
	fclose(out);
	read_text(rig, text, size, "regions-8-1.json");
	ok(json_array_size(rig->found) == REGIONS_MAX && noted(rig, "only the first"),
	   "a flood of regions is cut, and told");
	ok(figure(rig, "r0", "calls") == 5002 && figure(rig, "r0", "threads") == 5001 && value(rig, "r0", "a") == 25005,
	   "a flood of threads counts");
	ok(json_array_size(json_object_get(region(rig, "r0"), "per_thread")) < REGIONS_ROWS_MAX && noted(rig, "leaves out"),
	   "threads of a flood are not reported one by one");
	char *reply = json_dumps(rig->found, JSON_COMPACT);
	ok(reply && strlen(reply) < 4 << 20, "an answer is less than a line of the protocol may have");
	free(reply);
	free(text);
	text = mem_alloc(65 << 20, 1);
	memset(text, ' ', (65 << 20) - 1);
	refuse(rig, text, (65 << 20) - 1, "regions-8-1.json", "a file of 65 MiB");
	free(text);
}

/* Entries that are not files, or would block the reader. */
static void check_entries(struct rig *rig) {
	struct regions regions;
	struct err err;
	if (regions_prepare(rig->arena, rig->home, events, 2, &regions, &err) != 0)
		exit(99);
	char *pipe = mem_printf("%s/regions-1-1.json", regions.folder);
	char *link = mem_printf("%s/regions-2-1.json", regions.folder);
	char *folder = mem_printf("%s/regions-3-1.json", regions.folder);
	ok(mkfifo(pipe, 0600) == 0 && symlink("/dev/zero", link) == 0 && mkdir(folder, 0700) == 0,
	   "a pipe, a link, a folder");
	json_decref(rig->found);
	json_decref(rig->notes);
	rig->found = regions_read(&regions, &rig->notes);
	ok(json_array_size(rig->found) == 0 && json_array_size(rig->notes) == 3,
	   "a pipe, a link and a folder are not read, and each is reported");
	ok(tree_remove(regions.folder) == 0, "a folder that is gone");
	json_decref(rig->found);
	json_decref(rig->notes);
	rig->found = regions_read(&regions, &rig->notes);
	ok(json_array_size(rig->found) == 0, "a folder that is gone does not have regions");
	free(pipe);
	free(link);
	free(folder);
}

int main(void) {
	struct rig rig;
	rig_open(&rig, events, 2);
	check_good(&rig);
	check_counts(&rig);
	check_bad(&rig);
	check_floods(&rig);
	check_entries(&rig);
	check_mutations();
	rig_close(&rig);
	return tap_done();
}
