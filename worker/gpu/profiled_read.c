/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the records of a run's processes, which the program itself could have written. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/proc/apart.h"
#include "base/text.h"
#include "worker/gpu/work.h"

/* Adds up the records of a run's processes, which the program itself could have written. */
enum { SPANS_MAX = 4 * CUDA_SPANS, CPU_SECONDS = 2 };

static void text_end(char *text, size_t size) {
	text[size - 1] = '\0';
	text_clean(text, false);
}

/* Everything that is used as an index or as text. */
bool gpu_record_check(struct cuda_record *raw) {
	if (memcmp(raw->magic, CUDA_RECORD_MAGIC, sizeof raw->magic) != 0 || raw->size != sizeof *raw ||
	    raw->function_count > CUDA_FUNCTIONS || raw->range_count > CUDA_RANGES || raw->metric_count > CUDA_METRICS ||
	    raw->span_room > CUDA_SPANS)
		return false;
	for (uint32_t i = 0; i < raw->function_count; i++)
		text_end(raw->functions[i].symbol, CUDA_SYMBOL);
	for (size_t i = 0; i < CUDA_DEVICES; i++)
		text_end(raw->devices[i].name, CUDA_DEVICE_NAME);
	text_end(raw->failure, sizeof raw->failure);
	return true;
}

/* The place in the index of the function of this symbol, or the free place where it belongs. A program can make up many
 * symbols that differ in their last letter only. */
static uint16_t *place_find(struct gpu_work *work, const char *symbol) {
	size_t at = (size_t)hash_text(symbol) % GPU_INDEX;
	while (work->index[at] && strcmp(work->functions[work->index[at] - 1].facts.symbol, symbol) != 0)
		at = (at + 1) % GPU_INDEX;
	return &work->index[at];
}

static size_t function_find(struct gpu_work *work, const char *symbol) {
	uint16_t *place = place_find(work, symbol);
	if (*place)
		return *place - (size_t)1;
	if (work->function_count == GPU_FUNCTIONS)
		return SIZE_MAX;
	work->functions = mem_grow(work->functions, work->function_count + 1, sizeof *work->functions);
	struct gpu_function_work *new = &work->functions[work->function_count];
	*new = (struct gpu_function_work){.number = work->function_count};
	snprintf(new->facts.symbol, sizeof new->facts.symbol, "%s", symbol);
	*place = (uint16_t)++work->function_count;
	return new->number;
}

static void function_add(struct cuda_function *sum, const struct cuda_function *one) {
	struct cuda_function longest = one->most_ns > sum->most_ns || sum->calls == 0 ? *one : *sum;
	bool first = sum->calls == 0;
	longest.least_ns = first || one->least_ns < sum->least_ns ? one->least_ns : sum->least_ns;
	longest.calls = sum->calls + one->calls;
	for (size_t i = 0; i < CUDA_SIZES; i++) {
		longest.launched[i] = sum->launched[i] + one->launched[i];
		longest.counted[i] = sum->counted[i] + one->counted[i];
	}
	longest.ns = sum->ns + one->ns;
	longest.grids = sum->grids || one->grids || (!first && memcmp(sum->grid, one->grid, sizeof sum->grid) != 0);
	longest.blocks = sum->blocks || one->blocks || (!first && memcmp(sum->block, one->block, sizeof sum->block) != 0);
	*sum = longest;
}

static void copies_add(struct cuda_copies *sum, const struct cuda_copies *one) {
	sum->count += one->count;
	sum->bytes += one->bytes;
	sum->ns += one->ns;
	sum->pageable += one->pageable;
	sum->pageable_bytes += one->pageable_bytes;
	sum->pageable_ns += one->pageable_ns;
}

/* Spans come in the order in which CUPTI gave them, and some may be nonsense. */
static void spans_add(struct gpu_work *work, const size_t *map, uint32_t functions, const struct cuda_span *spans,
                      size_t count) {
	size_t room = SPANS_MAX - work->span_count;
	work->spans_lost += count > room ? count - room : 0;
	count = count > room ? room : count;
	work->spans = mem_grow(work->spans, work->span_count + count + 1, sizeof *work->spans);
	for (size_t i = 0; i < count; i++) {
		struct cuda_span span = spans[i];
		if (span.start_ns == 0 || span.end_ns < span.start_ns || span.device >= CUDA_DEVICES)
			continue;
		if (span.function < functions && map[span.function] < UINT16_MAX - CUDA_WAYS)
			span.function = (uint16_t)(map[span.function] + CUDA_WAYS);
		else if (span.function >= CUDA_FUNCTIONS && span.function < CUDA_FUNCTIONS + CUDA_WAYS)
			span.function = (uint16_t)(span.function - CUDA_FUNCTIONS);
		else
			span.function = UINT16_MAX;
		work->spans[work->span_count++] = span;
	}
}

/* Processes that count different metrics cannot be of one run. */
static void ranges_add(struct gpu_work *work, const size_t *map, const struct cuda_record *raw) {
	work->metric_count = work->metric_count ? work->metric_count : raw->metric_count;
	work->passes = raw->passes > work->passes ? raw->passes : work->passes;
	work->ranges = mem_grow(work->ranges, work->range_count + raw->range_count + 1, sizeof *work->ranges);
	for (uint32_t i = 0; i < raw->range_count && raw->metric_count == work->metric_count; i++) {
		struct cuda_range range = raw->ranges[i];
		if (!range.settled || range.function >= raw->function_count || map[range.function] == SIZE_MAX ||
		    range.launch_size >= CUDA_SIZES)
			continue;
		range.function = (uint32_t)map[range.function];
		work->ranges[work->range_count++] = range;
	}
}

void gpu_record_add(struct gpu_work *work, const struct cuda_record *raw, const struct cuda_span *spans, size_t count) {
	size_t map[CUDA_FUNCTIONS];
	for (uint32_t i = 0; i < raw->function_count; i++) {
		map[i] = function_find(work, raw->functions[i].symbol);
		if (map[i] != SIZE_MAX)
			function_add(&work->functions[map[i]].facts, &raw->functions[i]);
	}
	for (size_t i = 0; i < CUDA_WAYS; i++)
		copies_add(&work->copies[i], &raw->copies[i]);
	for (size_t i = 0; i < CUDA_DEVICES; i++)
		if (raw->devices[i].name[0])
			work->devices[i] = raw->devices[i];
	if (raw->last_ns > 0) {
		work->first_ns = work->last_ns == 0 || raw->first_ns < work->first_ns ? raw->first_ns : work->first_ns;
		work->last_ns = raw->last_ns > work->last_ns ? raw->last_ns : work->last_ns;
	}
	work->spans_lost += raw->span_count > count ? raw->span_count - count : 0;
	work->dropped += raw->dropped;
	work->untimed += raw->untimed;
	work->others += raw->others;
	work->others_ns += raw->others_ns;
	work->unended += !raw->ended;
	work->processes++;
	if (raw->failure[0] && !work->failure[0])
		memcpy(work->failure, raw->failure, sizeof work->failure);
	ranges_add(work, map, raw);
	spans_add(work, map, raw->function_count, spans, count);
}

struct names {
	const struct gpu_work *work;
	char (*texts)[CUDA_SYMBOL];
};

static void names_make(void *ctx) {
	const struct names *names = ctx;
	for (size_t i = 0; i < names->work->function_count; i++)
		demangle(names->work->functions[i].facts.symbol, names->texts[i], CUDA_SYMBOL);
}

static bool any_mangled(const struct gpu_work *work) {
	for (size_t i = 0; i < work->function_count; i++)
		if (demangle_is_needed(work->functions[i].facts.symbol))
			return true;
	return false;
}

/* A symbol of 300 letters can expand to a name of gigabytes. */
static void names_find(struct gpu_work *work) {
	size_t size = work->function_count * CUDA_SYMBOL;
	struct names names = {work, any_mangled(work) ? apart_memory(size) : NULL};
	if (names.texts)
		apart_run(names_make, &names, CPU_SECONDS);
	for (size_t i = 0; i < work->function_count; i++) {
		struct gpu_function_work *one = &work->functions[i];
		memcpy(one->name, names.texts && names.texts[i][0] ? names.texts[i] : one->facts.symbol, CUDA_SYMBOL);
		text_end(one->name, CUDA_SYMBOL);
	}
	apart_free(names.texts, size);
}

static int earlier(const void *a, const void *b) {
	const struct cuda_span *x = a, *y = b;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int longer(const void *a, const void *b) {
	const struct gpu_function_work *x = a, *y = b;
	return x->facts.ns > y->facts.ns ? -1 : x->facts.ns < y->facts.ns;
}

void gpu_records_end(struct gpu_work *work) {
	names_find(work);
	mem_auto size_t *place = mem_alloc(work->function_count + 1, sizeof *place);
	if (work->function_count > 0)
		qsort(work->functions, work->function_count, sizeof *work->functions, longer);
	for (size_t i = 0; i < work->function_count; i++)
		place[work->functions[i].number] = i;
	for (size_t i = 0; i < work->span_count; i++)
		if (work->spans[i].function >= CUDA_WAYS && work->spans[i].function != UINT16_MAX)
			work->spans[i].function = (uint16_t)(place[work->spans[i].function - CUDA_WAYS] + CUDA_WAYS);
	for (size_t i = 0; i < work->range_count; i++)
		work->ranges[i].function = (uint32_t)place[work->ranges[i].function];
	if (work->span_count > 0)
		qsort(work->spans, work->span_count, sizeof *work->spans, earlier);
}

struct gpu_work *gpu_work_new(void) {
	struct gpu_work *work = mem_alloc(1, sizeof *work);
	work->notes = json_array();
	return work;
}

void gpu_work_free(struct gpu_work *work) {
	if (!work)
		return;
	free(work->functions);
	free(work->ranges);
	free(work->spans);
	json_decref(work->notes);
	free(work);
}

enum { FILES_MAX = 256, NOTES_MAX = 8 };

static void note(struct gpu_work *work, const char *format, const char *name) {
	mem_auto char *text = mem_printf(format, name);
	text_clean(text, false);
	if (json_array_size(work->notes) < NOTES_MAX)
		json_array_append_new(work->notes, json_string(text));
}

/* Reads plain files only, because a pipe would block. */
static int file_open(const char *path) {
	struct stat what;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &what) == 0 && S_ISREG(what.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* How much of it there is. */
static size_t part_read(int fd, void *to, size_t size, size_t from) {
	size_t done = 0;
	ssize_t got = 1;
	while (done < size && (got = pread(fd, (char *)to + done, size - done, (off_t)(from + done))) > 0)
		done += (size_t)got;
	return done;
}

static void file_read(struct gpu_work *work, const char *folder, const char *name) {
	mem_auto char *path = mem_printf("%s/%s", folder, name);
	mem_auto struct cuda_record *raw = mem_alloc(1, sizeof *raw);
	mem_auto struct cuda_span *spans = NULL;
	int fd = file_open(path);
	bool good = fd >= 0 && part_read(fd, raw, sizeof *raw, 0) > 0 && gpu_record_check(raw);
	size_t count = good ? (size_t)(raw->span_count < raw->span_room ? raw->span_count : raw->span_room) : 0;
	if (good) {
		spans = mem_alloc(count + 1, sizeof *spans);
		good = part_read(fd, spans, count * sizeof *spans, sizeof *raw) == count * sizeof *spans;
	}
	if (good)
		gpu_record_add(work, raw, spans, count);
	else
		note(work, "%.100s is not a record of libsweetspot-cuda", name);
	if (fd >= 0)
		close(fd);
}

static int wanted(const struct dirent *entry) {
	return strncmp(entry->d_name, "run.", 4) == 0 && !strstr(entry->d_name, ".counters");
}

struct gpu_work *gpu_work_read(const struct gpu_watch *watch) {
	struct gpu_work *work = gpu_work_new();
	mem_auto struct dirent **entries = NULL;
	int count = scandir(watch->folder, &entries, wanted, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < FILES_MAX)
			file_read(work, watch->folder, entries[i]->d_name);
		free(entries[i]);
	}
	gpu_records_end(work);
	return work;
}
