/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/text.h"
#include "worker/kernel/word.h"
#include "worker/program/program_impl.h"

static __attribute__((format(printf, 2, 3))) void regions_note(struct regions_set *set, const char *format, ...) {
	char note[200];
	va_list ap;
	va_start(ap, format);
	vsnprintf(note, sizeof note, format, ap);
	va_end(ap);
	word_clean(note, sizeof note);
	if (json_array_size(set->notes) < REGIONS_NOTES_MAX)
		json_array_append_new(set->notes, json_string(note));
}

static struct regions_region *region_new(struct regions_set *set, const char *name) {
	size_t count = set->regions->event_count;
	struct regions_region *region = arena_alloc(set->arena, 1, sizeof *region);
	region->name = arena_strdup(set->arena, name);
	region->per_thread = json_array();
	region->counts = arena_alloc(set->arena, count + 1, sizeof *region->counts);
	for (size_t i = 0; i < count; i++)
		region->counts[i].per_thread = json_array();
	return region;
}

/* The region of that name; NULL if there are too many. */
static struct regions_region *regions_set_find(struct regions_set *set, const char *name) {
	char clean[REGIONS_NAME_MAX + 1];
	snprintf(clean, sizeof clean, "%s", name[0] ? name : "(no name)");
	text_clean(clean, false);
	const json_t *place = json_object_get(set->index, clean);
	if (place)
		return set->region[json_integer_value(place)];
	if (set->count == REGIONS_MAX) {
		set->left_out++;
		return NULL;
	}
	json_object_set_new(set->index, clean, json_integer((json_int_t)set->count));
	return set->region[set->count++] = region_new(set, clean);
}

static json_t *text_or_null(const char *text) {
	return text && text[0] ? json_string(text) : json_null();
}

static json_t *count_json(const struct regions_event *event, const struct regions_count *count) {
	double value = count->status == COUNTER_UNAVAILABLE ? NAN : count->total;
	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:O}", "name", event->name, "value", js_number(value), "unit",
	                 text_or_null(event->unit), "status", counter_status_name(count->status), "reason",
	                 text_or_null(count->reason), "per_thread", count->per_thread);
}

static json_t *whole_json(double x) {
	return json_integer((json_int_t)fmin(x, 0x1p53));
}

static json_t *region_json(const struct regions *regions, const struct regions_region *region) {
	json_t *counters = json_array();
	for (size_t i = 0; i < regions->event_count && region->calls > 0; i++)
		json_array_append_new(counters, count_json(&regions->events[i], &region->counts[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:O, s:o, s:o, s:o}", "name", region->name, "calls",
	                 whole_json(region->calls), "seconds", js_number(region->seconds), "threads",
	                 whole_json(region->threads), "per_thread", region->per_thread, "unbegun",
	                 whole_json(region->unbegun), "unended", whole_json(region->unended), "counters", counters);
}

static void region_free(const struct regions *regions, struct regions_region *region) {
	json_decref(region->per_thread);
	for (size_t i = 0; i < regions->event_count; i++)
		json_decref(region->counts[i].per_thread);
}

static void region_notes(struct regions_set *set, const struct regions_region *region) {
	if (region->unbegun > 0)
		regions_note(set, "region %.60s: end without begin, %.0f times", region->name, region->unbegun);
	if (region->unended > 0)
		regions_note(set, "region %.60s: begin without end, %.0f times", region->name, region->unended);
}

static void limit_notes(struct regions_set *set) {
	if (set->left_out > 0)
		regions_note(set, "only the first %d regions are reported", REGIONS_MAX);
	if (set->rows_left_out > 0)
		regions_note(set, "per_thread leaves out %zu threads", set->rows_left_out);
	if (set->files_left_out > 0)
		regions_note(set, "%zu processes are left out", set->files_left_out);
}

json_t *regions_set_end(struct regions_set *set) {
	json_t *out = json_array();
	limit_notes(set);
	for (size_t i = 0; i < set->count; i++) {
		region_notes(set, set->region[i]);
		json_array_append_new(out, region_json(set->regions, set->region[i]));
		region_free(set->regions, set->region[i]);
	}
	return out;
}

/* Reads the files of libsweetspot, which anybody may have written: one JSON object a line. */
enum { LINE_BYTES_MAX = 4 << 20, ROWS_LINE_MAX = 65536, EVENT_ABSENT = -1 };
static const double ROW_MAX = 0x1p53;

/* A file while it is read. */
struct source {
	struct regions_set *set;
	const char *where;
	int place[REGIONS_EVENTS_MAX]; /* of our events in its lists, or EVENT_ABSENT */
};

static double whole(const json_t *json, const char *key) {
	struct err err;
	int64_t value;
	return js_int(json, key, 0, INT64_MAX, &value, &err) == 0 ? (double)value : NAN;
}

static void miss(struct regions_count *count, const char *reason) {
	if (count->status != COUNTER_UNAVAILABLE)
		snprintf(count->reason, sizeof count->reason, "%s", reason);
	count->status = COUNTER_UNAVAILABLE;
}

static void limit(struct regions_count *count, enum counter_status status, const char *reason) {
	if (count->status != COUNTER_UNAVAILABLE && !count->reason[0])
		snprintf(count->reason, sizeof count->reason, "%s", reason);
	if (count->status == COUNTER_COUNTED)
		count->status = status;
}

/* Advice for an error, or its meaning; "" if the error is clear. */
static const char *remedy(int64_t error) {
	switch (error) {
	case EACCES:
	case EPERM:
		return ": sudo sysctl kernel.perf_event_paranoid=1";
	case EMFILE:
		return ": raise ulimit -n";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return ": this machine lacks a counter for it";
	default:
		return "";
	}
}

static double refusal(struct regions_count *count, int64_t error) {
	char reason[COUNTER_REASON];
	snprintf(reason, sizeof reason, "perf_event_open: %s%s",
	         error > 0 && error < 4096 ? strerror((int)error) : "failed", remedy(error));
	miss(count, reason);
	return NAN;
}

/* The value, or NAN and a reason. */
static double count_value(struct regions_count *count, const json_t *json, double scale) {
	double value = whole(json, "value"), enabled = whole(json, "enabled"), running = whole(json, "running");
	char reason[COUNTER_REASON];
	if (json_object_get(json, "errno"))
		return refusal(count, js_int_or(json, "errno", 0));
	if (isnan(value) || isnan(enabled) || isnan(running)) {
		miss(count, "the program wrote it malformed");
		return NAN;
	}
	if (running == 0) {
		miss(count, "no hardware counter was free for it while the region ran");
		return NAN;
	}
	if (running < enabled) {
		snprintf(reason, sizeof reason, "counted %.0f %% of the time, scaled up", 100 * running / enabled);
		limit(count, COUNTER_SCALED, reason);
		value *= enabled / running;
	}
	if (js_bool_or(json, "user_only", false))
		limit(count, COUNTER_COUNTED, "in user mode only: counting in the kernel is not permitted");
	return scale > 0 ? value * scale : value;
}

static void counts_add(struct source *source, struct regions_region *region, const json_t *events, bool shown) {
	for (size_t i = 0; i < source->set->regions->event_count; i++) {
		struct regions_count *count = &region->counts[i];
		const json_t *json = source->place[i] == EVENT_ABSENT ? NULL : json_array_get(events, (size_t)source->place[i]);
		double value = NAN;
		if (json)
			value = count_value(count, json, source->set->regions->events[i].scale);
		else
			miss(count, "the program's libsweetspot did not count it");
		count->total += value;
		if (shown)
			json_array_append_new(count->per_thread, js_number(value));
	}
}

/* One thread; false if it is malformed. */
static bool row_add(struct source *source, struct regions_region *region, const json_t *row) {
	struct regions_set *set = source->set;
	double calls = whole(row, "calls"), ns = whole(row, "ns");
	double unbegun = whole(row, "unbegun"), unended = whole(row, "unended");
	if (isnan(calls + ns + unbegun + unended) || fmax(calls, fmax(unbegun, unended)) > ROW_MAX)
		return false;
	region->unbegun += unbegun;
	region->unended += unended;
	if (calls == 0)
		return true;
	bool shown = set->rows < REGIONS_ROWS_MAX;
	set->rows += shown;
	set->rows_left_out += !shown;
	region->calls += calls;
	region->seconds += ns * 1e-9;
	region->threads++;
	if (shown)
		json_array_append_new(region->per_thread, js_number(ns * 1e-9));
	counts_add(source, region, json_object_get(row, "events"), shown);
	return true;
}

static bool region_read(struct source *source, const json_t *json) {
	const char *name;
	json_t *rows;
	struct err err;
	if (js_string(json, "name", &name, &err) != 0 || strlen(name) > REGIONS_NAME_MAX ||
	    js_array(json, "threads", ROWS_LINE_MAX, &rows, &err) != 0)
		return false;
	struct regions_region *region = regions_set_find(source->set, name);
	if (!region)
		return true;
	js_each (row, rows)
		if (!row_add(source, region, row))
			return false;
	return true;
}

static void head_notes(struct source *source, const json_t *head) {
	int64_t dropped = js_int_or(head, "dropped", 0), unread = js_int_or(head, "unread_events", 0);
	const char *program = js_string_or(head, "program", "the program");
	if (!js_bool_or(head, "complete", false))
		regions_note(source->set, "%.60s did not end by exit: the end of its regions may be missing", program);
	if (dropped > 0) {
		regions_note(source->set, "%.60s has too many regions or threads: %lld calls are not counted", program,
		             (long long)dropped);
	}
	if (unread > 0) {
		regions_note(source->set, "the libsweetspot of %.60s did not understand %lld events", program,
		             (long long)unread);
	}
}

static bool head_read(struct source *source, const json_t *head) {
	const struct regions *regions = source->set->regions;
	json_t *events;
	struct err err;
	if (js_int_or(head, "sweetspot_regions", 0) != 1 ||
	    js_array(head, "events", REGIONS_EVENTS_MAX, &events, &err) != 0)
		return false;
	for (size_t i = 0; i < REGIONS_EVENTS_MAX; i++)
		source->place[i] = EVENT_ABSENT;
	js_each (name, events) {
		for (size_t i = 0; json_is_string(name) && i < regions->event_count; i++)
			if (strcmp(json_string_value(name), regions->events[i].name) == 0)
				source->place[i] = (int)name_at;
	}
	head_notes(source, head);
	return true;
}

static bool line_read(struct source *source, const char *line, size_t size, bool first) {
	struct err err;
	js_auto json_t *json = size <= LINE_BYTES_MAX ? js_parse(line, size, source->where, &err) : NULL;
	return json && (first ? head_read(source, json) : region_read(source, json));
}

/* Names are arbitrary bytes, not always UTF-8. */
void regions_text_read(struct regions_set *set, char *text, size_t size, const char *where) {
	struct source source = {.set = set, .where = where};
	size_t line = 1;
	if (memchr(text, '\0', size)) {
		regions_note(set, "%.60s is not a file of libsweetspot", where);
		return;
	}
	text_clean(text, true);
	for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1, line++) {
		if (!line_read(&source, at, (size_t)(end - at), line == 1)) {
			regions_note(set, "line %zu of %.60s is malformed", line, where);
			return;
		}
	}
}

enum { FILES_MAX = 1024, TOTAL_BYTES_MAX = 64 << 20 };

static int wanted(const struct dirent *entry) {
	return fnmatch("regions-*.json", entry->d_name, 0) == 0;
}

/* Reads plain files only, because a pipe would block. */
static int file_open(const char *path) {
	struct stat what;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &what) != 0 || !S_ISREG(what.st_mode))) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	return fd;
}

static void file_read(struct regions_set *set, const char *name, size_t *bytes) {
	mem_auto char *path = mem_printf("%s/%s", set->regions->folder, name), *text = NULL;
	struct err err;
	size_t size = 0;
	int fd = file_open(path);
	if (fd < 0) {
		regions_note(set, "%.60s cannot be read: %s", name, strerror(errno));
	} else {
		text = sys_read_fd(fd, name, *bytes, &size, &err);
		close(fd);
		if (!text)
			regions_note(set, "%s", err.what);
	}
	if (text) {
		*bytes -= size;
		regions_text_read(set, text, size, name);
	}
}

static void folder_read(struct regions_set *set) {
	mem_auto struct dirent **entries = NULL;
	size_t bytes = TOTAL_BYTES_MAX;
	int count = scandir(set->regions->folder, &entries, wanted, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < FILES_MAX)
			file_read(set, entries[i]->d_name, &bytes);
		free(entries[i]);
	}
	set->files_left_out = count > FILES_MAX ? (size_t)(count - FILES_MAX) : 0;
}

json_t *regions_read(const struct regions *regions, json_t **notes) {
	struct regions_set set = {.arena = arena_new(), .regions = regions, .index = json_object(), .notes = json_array()};
	folder_read(&set);
	json_t *out = regions_set_end(&set);
	json_decref(set.index);
	arena_free(set.arena);
	*notes = set.notes;
	return out;
}
