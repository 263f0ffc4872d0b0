/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "worker/count/simulate.h"
#include "worker/kernel/word.h"

enum { COLUMNS_MAX = 32, THREAD_MAX = 1 << 20, PROCESS_MAX = 1 << 22, LINE_MAX_BYTES = 1024 };

struct reader {
	struct simulate_part *part;
	int columns[COLUMNS_MAX], count; /* our event in each column, -1: another event; count 0: not read yet */
	bool summed, bad;
};

/* A whole number in digits alone. */
static bool number_read(const char *text, double max, double *out) {
	enum { DIGITS_MAX = 19 };
	size_t digits = strspn(text, "0123456789");
	*out = strtod(text, NULL);
	return digits > 0 && digits <= DIGITS_MAX && text[digits] == '\0' && *out <= max;
}

static void thread_line(struct reader *reader, char *text) {
	double thread;
	reader->bad |= reader->part->thread != 0 || !number_read(text, THREAD_MAX, &thread) || thread < 1;
	reader->part->thread = reader->bad ? 0 : (int)thread;
}

static void pid_line(struct reader *reader, char *text) {
	double process;
	reader->bad |= reader->part->process != 0 || !number_read(text, PROCESS_MAX, &process) || process < 1;
	reader->part->process = reader->bad ? 0 : (int)process;
}

/* "0 - 128729" */
static void range_line(struct reader *reader, char *text) {
	char *end = strchr(text, ' ');
	if (end)
		*end = '\0';
	reader->bad |= !number_read(text, 9e18, &reader->part->begin);
}

static void events_line(struct reader *reader, char *text) {
	bool seen[CACHEGRIND_EVENTS] = {false};
	char *rest;
	reader->bad |= reader->count > 0;
	for (char *word = strtok_r(text, " ", &rest); word && !reader->bad; word = strtok_r(NULL, " ", &rest)) {
		int event = cachegrind_column_find(word);
		reader->bad = reader->count == COLUMNS_MAX || (event >= 0 && seen[event]);
		if (!reader->bad)
			reader->columns[reader->count++] = event;
		if (event >= 0)
			seen[event] = true;
	}
	for (int i = 0; i < CACHEGRIND_EVENTS; i++)
		reader->bad |= !seen[i];
}

/* callgrind leaves out zeros at the end of a line. */
static void totals_line(struct reader *reader, char *text) {
	char *rest;
	int i = 0;
	reader->bad |= reader->summed || reader->count == 0;
	for (char *word = strtok_r(text, " ", &rest); word && !reader->bad; word = strtok_r(NULL, " ", &rest)) {
		double value;
		reader->bad = i == reader->count || !number_read(word, 9e18, &value);
		if (!reader->bad && reader->columns[i] >= 0)
			reader->part->values[reader->columns[i]] = value;
		i++;
	}
	reader->bad |= i == 0;
	reader->summed = true;
}

static void trigger_line(struct reader *reader, char *text) {
	snprintf(reader->part->trigger, sizeof reader->part->trigger, "%s", text);
	word_clean(reader->part->trigger, sizeof reader->part->trigger);
}

static void cache_line(struct reader *reader, int cache, char *text) {
	snprintf(reader->part->caches[cache], SIMULATE_CACHE, "%s", text);
	word_clean(reader->part->caches[cache], SIMULATE_CACHE);
}

static void i1_line(struct reader *reader, char *text) {
	cache_line(reader, 0, text);
}

static void d1_line(struct reader *reader, char *text) {
	cache_line(reader, 1, text);
}

static void ll_line(struct reader *reader, char *text) {
	cache_line(reader, 2, text);
}

static const struct {
	const char *head;
	void (*read)(struct reader *reader, char *text);
} heads[] = {
	{"thread: ", thread_line},         {"events: ", events_line},     {"totals: ", totals_line},
	{"desc: Trigger: ", trigger_line}, {"desc: I1 cache: ", i1_line}, {"desc: D1 cache: ", d1_line},
	{"desc: LL cache: ", ll_line},     {"pid: ", pid_line},           {"desc: Timerange: Basic block ", range_line},
};

static void line_read(struct reader *reader, const char *line, size_t size) {
	char copy[LINE_MAX_BYTES];
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		size_t length = strlen(heads[i].head);
		if (size < length || memcmp(line, heads[i].head, length) != 0)
			continue;
		reader->bad |= size - length >= sizeof copy || memchr(line, '\0', size);
		if (!reader->bad) {
			memcpy(copy, line + length, size - length);
			copy[size - length] = '\0';
			heads[i].read(reader, copy);
		}
	}
}

int simulate_part_read(const char *text, size_t size, struct simulate_part *part) {
	struct reader reader = {.part = part};
	*part = (struct simulate_part){.thread = 0};
	for (const char *line = text, *end = text + size; line < end && !reader.bad;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);
		line_read(&reader, line, length);
		line += length + 1;
	}
	return !reader.bad && reader.summed ? 0 : -1;
}

enum { FILE_BYTES_MAX = 256 << 20, FILES_MAX = 1 << 16 };
static const double BYTES_MAX = 0x1p33;

char *simulate_text(const char *path, size_t limit, size_t *size) {
	struct stat what;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool plain = fd >= 0 && fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
	char *text = plain ? sys_read_fd(fd, path, limit, size, NULL) : NULL;
	if (fd >= 0)
		close(fd);
	return text;
}

static const char *file_add(struct simulate_harvest *harvest, const char *path) {
	size_t size = 0;
	struct simulate_part part;
	mem_auto char *text = simulate_text(path, FILE_BYTES_MAX, &size);
	int status = text ? simulate_part_read(text, size, &part) : -1;
	bool empty = text && size == 0; /* valgrind makes one to test whether it can */
	if (status != 0)
		return empty ? NULL : "one cannot be read";
	harvest->bytes += (double)size;
	if (harvest->count == FILES_MAX || harvest->bytes > BYTES_MAX)
		return "there are too many";
	if ((harvest->count & (harvest->count - 1)) == 0)
		harvest->parts = mem_grow(harvest->parts, harvest->count ? 2 * harvest->count : 1, sizeof *harvest->parts);
	harvest->parts[harvest->count++] = part;
	return NULL;
}

const char *simulate_harvest_read(const char *folder, const char *prefix, struct simulate_harvest *harvest) {
	DIR *dir = opendir(folder);
	const char *wrong = dir ? NULL : "their folder cannot be read";
	for (struct dirent *entry; !wrong && dir && (entry = readdir(dir));) {
		if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
			mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name);
			wrong = file_add(harvest, path);
		}
	}
	if (dir)
		closedir(dir);
	return wrong;
}

void simulate_harvest_free(struct simulate_harvest *harvest) {
	free(harvest->parts);
	*harvest = (struct simulate_harvest){.count = 0};
}

static void event_miss(struct counted *counted, const char *reason) {
	counted->status = COUNTER_UNAVAILABLE;
	counted->total = NAN;
	snprintf(counted->reason, sizeof counted->reason, "%s", reason);
}

static void event_fill(const struct simulate_job *job, int event, const double *values, struct counted *counted) {
	counted->status = COUNTER_SIMULATED;
	counted->unit = "count";
	counted->total = 0;
	for (int t = 0; t < job->threads; t++) {
		double value = values[(size_t)t * CACHEGRIND_EVENTS + (size_t)event];
		counted->total += value;
		if (counted->per_thread)
			counted->per_thread[t] = value;
	}
	snprintf(counted->reason, sizeof counted->reason, "simulated by valgrind's cache model, not counted%s",
	         job->threads > 1 ? "; the threads ran one at a time and shared all caches" : "");
}

void simulate_count(struct arena *arena, const struct simulate_job *job, const struct counter_plan *plan,
                    const size_t *events, size_t count, struct counting *counting) {
	char reason[2 * COUNTER_REASON] = "";
	struct simulation *simulation = arena_alloc(arena, 1, sizeof *simulation);
	double *values = arena_alloc(arena, (size_t)job->threads * CACHEGRIND_EVENTS, sizeof *values);
	bool on_device = strcmp(js_string_or(job->request, "device", "cpu"), "cpu") != 0, good = false;
	if (on_device)
		snprintf(reason, sizeof reason, "valgrind does not simulate GPUs");
	else
		good = simulate_run(job, values, simulation, reason);
	for (size_t i = 0; i < count; i++) {
		struct counted *counted = &counting->events[events[i]];
		int event = cachegrind_event_find(plan->events[events[i]].event);
		if (good && event >= 0)
			event_fill(job, event, values, counted);
		else
			event_miss(counted, good ? "this event is not simulated" : reason);
	}
	counting->simulation = good ? simulation : NULL;
}

json_t *simulation_json(const struct simulation *simulation) {
	return json_pack("{s:f, s:f, s:o, s:s, s:s}", "seconds", simulation->seconds, "elapsed_s", simulation->elapsed_s,
	                 "slowdown", js_number(simulation->slowdown), "model", simulation->model, "tool",
	                 "valgrind's callgrind");
}
