/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a device that name the parts of its time, in whichever words: "kernel time", "memcpy", "GPU (with copies)",
 * beside the time of a processor that does the same. A kernel is no rival of the run that it is a part of, and the
 * processor does not copy anything: each row becomes two, one of the device with its parts and one of the processor. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

static const double ROUNDED = 0.05;
enum { PARTS_MOST = 100 };

enum kind { KIND_OTHER, KIND_COPY, KIND_KERNEL, KIND_RUN, KIND_PLAIN, KIND_RIVAL, KIND_WHOLE, KINDS };

static const char copy_words[] = "h2d d2h htod dtoh memcpy transfer transfers copy copies upload download",
				  device_words[] = "gpu cuda device", rival_words[] = "cpu serial sequential seq",
				  kernel_words[] = "kernel kernels", work_words[] = "compute computation calculation only",
				  whole_words[] = "total overall whole all end",
				  with_words[] = "with incl including included and plus w",
				  without_words[] = "no without excl excluding",
				  time_words[] =
					  "time times t runtime exec execution elapsed run the of to from in host data memory mem o";

struct device_column {
	enum kind kind;
	struct table_name name;
};

/* Which lists the words of a header are from; false if one is from none. */
struct words {
	bool copy, device, rival, kernel, work, whole, with, without, host;
};

static bool words_read(const char *text, struct words *words) {
	static const char *const lists[] = {copy_words, device_words, rival_words, kernel_words,
	                                    work_words, whole_words,  with_words,  without_words};
	bool *found[] = {&words->copy, &words->device, &words->rival, &words->kernel,
	                 &words->work, &words->whole,  &words->with,  &words->without};
	*words = (struct words){.with = strchr(text, '+') != NULL};
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "_ -./:+,()[]"), i = 0;
		while (i < sizeof lists / sizeof *lists && !table_among(at, length, lists[i]))
			i++;
		if (i < sizeof lists / sizeof *lists)
			*found[i] = true;
		else if (length && !table_among(at, length, time_words))
			return false;
		words->host = words->host || table_among(at, length, "host");
		at += length + (at[length] != '\0');
	}
	if (strcasestr(text, "w/o")) {
		words->without = true;
		words->with = false;
	}
	return true;
}

static enum kind kind_of(const char *text, bool *rest) {
	struct words words;
	if (!words_read(text, &words))
		return table_has_word(text, whole_words) ? KIND_WHOLE : KIND_OTHER;
	bool copy = words.copy || (words.host && words.device);
	if (words.rival)
		return words.device || copy || words.kernel || words.work ? KIND_OTHER : KIND_RIVAL;
	if (words.without)
		return words.device && copy ? KIND_KERNEL : KIND_OTHER;
	if (words.whole && !words.device && !copy && !words.kernel && !words.work)
		return KIND_WHOLE;
	if (words.whole)
		return words.device && !words.kernel && !words.work ? KIND_RUN : KIND_OTHER;
	if (words.with && (words.device || words.kernel)) {
		*rest = *rest || copy;
		return copy ? KIND_RUN : KIND_OTHER;
	}
	if (copy)
		return words.kernel || words.work ? KIND_OTHER : KIND_COPY;
	if (words.kernel || (words.device && words.work))
		return KIND_KERNEL;
	return words.device ? KIND_PLAIN : KIND_OTHER;
}

static double cell_of(const struct csv *csv, size_t row, size_t column, double scale) {
	return table_own(csv, row, column) * scale;
}

struct device {
	const struct csv *csv;
	struct device_column *columns;
	size_t count[KINDS];
	bool assumed, serial;
	bool rest;   /* what the kernel leaves of the run are copies: "GPU with copies" */
	bool others; /* there are times that may be parts as well */
};

/* The times of all columns of a kind in a row, in seconds. */
static double part_of(const struct device *device, size_t row, enum kind kind) {
	double sum = 0;
	for (size_t c = 0; c < device->csv->columns; c++)
		if (device->columns[c].kind == kind)
			sum += cell_of(device->csv, row, c, device->columns[c].name.scale);
	return sum;
}

/* The device's time in a row: what its column says, or its parts together. */
static double run_of(const struct device *device, size_t row) {
	return device->count[KIND_RUN] ? part_of(device, row, KIND_RUN)
	                               : part_of(device, row, KIND_KERNEL) + part_of(device, row, KIND_COPY);
}

/* "CPU, GPU, memcpy, speedup": the speed-up tells whether the device's time has the copies in it. */
static bool is_without_copies(const struct device *device) {
	const struct csv *csv = device->csv;
	for (size_t c = 0; c < csv->columns && device->count[KIND_RIVAL] == 1; c++) {
		bool follows = csv->rows > 0 && table_has_word(csv->header[c], "speedup");
		for (size_t r = 0; r < csv->rows && follows; r++) {
			double all = run_of(device, r) + part_of(device, r, KIND_PLAIN);
			follows = fabs(part_of(device, r, KIND_RIVAL) / all / cell_of(csv, r, c, 1) - 1) <= ROUNDED;
		}
		if (follows)
			return true;
	}
	return false;
}

/* A column without a unit has that of the others. */
static void units_share(struct device *device) {
	double scale = 0;
	for (size_t c = 0; c < device->csv->columns; c++)
		if (device->columns[c].kind != KIND_OTHER && device->columns[c].name.measure == MEASURE_TIME && scale == 0)
			scale = device->columns[c].name.scale;
	for (size_t c = 0; c < device->csv->columns && scale > 0; c++)
		if (device->columns[c].name.measure == MEASURE_NONE)
			device->columns[c].name.scale = scale;
	device->assumed = scale == 0;
}

static void columns_read(struct device *device) {
	const struct csv *csv = device->csv;
	for (size_t c = 0; c < csv->columns; c++) {
		struct device_column *column = &device->columns[c];
		table_name_read(csv->header[c], &column->name);
		bool time = column->name.measure == MEASURE_TIME || column->name.measure == MEASURE_NONE;
		for (size_t r = 0; r < csv->rows && time; r++)
			time = table_own(csv, r, c) >= 0;
		column->kind = !time || *column->name.per            ? KIND_OTHER
		               : table_time_rank(&column->name) >= 0 ? KIND_WHOLE
		                                                     : kind_of(column->name.base, &device->rest);
		device->count[column->kind]++;
		device->others = device->others || (column->kind == KIND_OTHER && column->name.measure == MEASURE_TIME);
		device->serial = device->serial || (column->kind == KIND_RIVAL && !table_has_word(column->name.base, "cpu"));
	}
	units_share(device);
}

static void kind_set(struct device *device, size_t column, enum kind kind) {
	device->count[device->columns[column].kind]--;
	device->columns[column].kind = kind;
	device->count[kind]++;
}

static size_t first_of(const struct device *device, enum kind kind) {
	size_t found = 0;
	while (device->columns[found].kind != kind)
		found++;
	return found;
}

/* "GPU" beside "GPU with copies", or where the speed-up has the copies in it, is the kernel. A single column of copies
 * beside both machines is no third version, and nobody knows whether the device's time has it in it. */
static void plain_decide(struct device *device) {
	if (device->count[KIND_PLAIN] != 1 || device->count[KIND_KERNEL])
		return;
	size_t plain = first_of(device, KIND_PLAIN);
	if (device->count[KIND_RUN] || (device->count[KIND_COPY] && is_without_copies(device)))
		kind_set(device, plain, KIND_KERNEL);
	else if (device->count[KIND_COPY] == 1 && device->count[KIND_RIVAL] == 1)
		kind_set(device, plain, KIND_RUN);
}

/* "Transfer" beside "H2D" and "D2H" is both of them. */
static void sums_leave(struct device *device) {
	for (size_t c = 0; c < device->csv->columns && device->count[KIND_COPY] > 2; c++) {
		bool sum = device->columns[c].kind == KIND_COPY;
		for (size_t r = 0; r < device->csv->rows && sum; r++) {
			double own = cell_of(device->csv, r, c, device->columns[c].name.scale);
			sum = fabs(part_of(device, r, KIND_COPY) / own - 2) <= ROUNDED;
		}
		if (sum)
			kind_set(device, c, KIND_OTHER);
	}
}

/* A total that the processor's time exceeds is the device's. */
static void whole_decide(struct device *device) {
	if (device->count[KIND_WHOLE] != 1 || device->count[KIND_RIVAL] != 1 || device->count[KIND_RUN])
		return;
	size_t longer = 0;
	for (size_t r = 0; r < device->csv->rows; r++)
		longer += part_of(device, r, KIND_RIVAL) > (1 + ROUNDED) * part_of(device, r, KIND_WHOLE);
	if (longer)
		kind_set(device, first_of(device, KIND_WHOLE), KIND_RUN);
}

/* A part or the whole under a name that says its unit. */
static const char *renamed(const struct device *device, size_t column) {
	static const char *const names[KINDS] = {[KIND_KERNEL] = "kernel", [KIND_COPY] = "copy"};
	const struct device_column *one = &device->columns[column];
	const char *unit = table_time_unit(one->name.scale);
	const char *name = one->kind == KIND_COPY && device->count[KIND_COPY] > 1 ? one->name.base : names[one->kind];
	if (strncmp(name, "t_", 2) == 0 || strncmp(name, "t ", 2) == 0)
		name += 2;
	return arena_printf(device->csv->arena, "%s (%s)", name, unit);
}

static bool is_part(const struct device *device, size_t column) {
	return device->columns[column].kind == KIND_KERNEL || device->columns[column].kind == KIND_COPY;
}

static const char *seconds_text(const struct csv *csv, double seconds) {
	return isfinite(seconds) ? arena_printf(csv->arena, "%.9g", seconds) : "";
}

/* A row with the device's time behind what it has besides, and the processor's if there is one. */
static void row_add(const struct device *device, struct csv *out, size_t row) {
	const struct csv *csv = device->csv;
	const char **cells = out->cells + row * out->columns;
	size_t at = 0;
	for (size_t c = 0; c < csv->columns; c++)
		if (device->columns[c].kind == KIND_OTHER || is_part(device, c))
			cells[at++] = csv_cell(csv, row, c);
	if (device->rest)
		cells[at++] = seconds_text(csv, run_of(device, row) - part_of(device, row, KIND_KERNEL));
	cells[at++] = seconds_text(csv, run_of(device, row));
	if (device->count[KIND_RIVAL])
		cells[at] = seconds_text(csv, part_of(device, row, KIND_RIVAL));
}

static struct csv *table_make(const struct device *device) {
	const struct csv *csv = device->csv;
	struct csv *out = arena_alloc(csv->arena, 1, sizeof *out);
	struct wide wide = {.name = "version", .header = "total_s", .measure = {.measure = MEASURE_TIME, .scale = 1}};
	size_t at = 0;
	*out = *csv;
	out->columns = 1 + (device->count[KIND_RIVAL] > 0) + device->rest + device->count[KIND_OTHER] +
	               device->count[KIND_KERNEL] + device->count[KIND_COPY];
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, csv->rows * out->columns + 1, sizeof *out->cells);
	for (size_t c = 0; c < csv->columns; c++)
		if (device->columns[c].kind == KIND_OTHER || is_part(device, c)) {
			wide.part_of[at] = is_part(device, c);
			out->header[at++] = is_part(device, c) ? renamed(device, c) : csv->header[c];
		}
	wide.part_of[at] = device->rest;
	if (device->rest)
		out->header[at++] = "copy (s)";
	out->header[at] = "total_s";
	for (size_t r = 0; r < csv->rows; r++)
		row_add(device, out, r);
	if (!device->count[KIND_RIVAL])
		return out;
	out->header[at + 1] = "rival_s";
	wide.count = 2;
	wide.column[0] = at;
	wide.value[0] = "gpu";
	wide.column[1] = at + 1;
	wide.value[1] = device->serial ? "serial" : "cpu";
	return wide_to_long(out, &wide);
}

/* A profiler prints for each kernel and copy: "Time(%)", "Time", .., "Name". */
struct profile {
	const struct csv *csv;
	size_t percent, time, name;
	struct table_name unit;
};

static bool profile_find(struct profile *profile) {
	const struct csv *csv = profile->csv;
	double sum = 0;
	profile->percent = profile->time = profile->name = csv->columns;
	for (size_t c = csv->columns; c-- > 0;) {
		struct table_name name;
		table_name_read(csv->header[c], &name);
		bool percent = strchr(csv->header[c], '%') && strncasecmp(csv->header[c], "time", 4) == 0;
		profile->percent = percent ? c : profile->percent;
		if (!percent && name.measure == MEASURE_TIME &&
		    (!strcmp(name.base, "time") || !strcmp(name.base, "total time"))) {
			profile->time = c;
			profile->unit = name;
		}
		profile->name = strcasecmp(csv->header[c], "name") == 0 ? c : profile->name;
	}
	if (profile->percent == csv->columns || profile->time == csv->columns || profile->name == csv->columns)
		return false;
	for (size_t r = 0; r < csv->rows; r++)
		sum += cell_of(csv, r, profile->percent, 1);
	return csv->rows > 1 && csv->rows < PARTS_MOST && fabs(sum / 100 - 1) <= ROUNDED;
}

/* "void scan<int>(int*)" is scan, and "[CUDA memcpy HtoD]" a copy; the second of the same name has a number. */
static const char *part_name(const struct csv *out, size_t part, const char *name) {
	name += strncmp(name, "void ", 5) == 0 ? 5 : *name == '[';
	int length = (int)strcspn(name, "<(]");
	const char *header = arena_printf(out->arena, "%.*s (s)", length, name);
	for (size_t i = 0; i < part; i++)
		if (strcmp(out->header[i], header) == 0)
			return arena_printf(out->arena, "%.*s #%zu (s)", length, name, part + 1);
	return header;
}

/* One run, whose parts are what the profiler lists: nobody chooses between them. */
static struct csv *profile_make(const struct profile *profile) {
	const struct csv *csv = profile->csv;
	struct csv *out = arena_alloc(csv->arena, 1, sizeof *out);
	double total = 0;
	*out = *csv;
	out->rows = 1;
	out->columns = csv->rows + 1;
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, out->columns, sizeof *out->cells);
	for (size_t r = 0; r < csv->rows; r++) {
		double seconds = cell_of(csv, r, profile->time, profile->unit.scale);
		out->header[r] = part_name(out, r, csv_cell(csv, r, profile->name));
		out->cells[r] = seconds_text(csv, seconds);
		total += seconds;
	}
	out->header[csv->rows] = "total_s";
	out->cells[csv->rows] = seconds_text(csv, total);
	return out;
}

struct csv *table_parted(const struct csv *csv, const struct study_reading *reading, bool *assumed) {
	struct device device = {.csv = csv, .columns = arena_alloc(csv->arena, csv->columns, sizeof *device.columns)};
	struct profile profile = {.csv = csv};
	*assumed = false;
	if (!(reading && (reading->objective || reading->version_count)) && profile_find(&profile))
		return profile_make(&profile);
	columns_read(&device);
	plain_decide(&device);
	sums_leave(&device);
	whole_decide(&device);
	const size_t *count = device.count;
	bool whole = count[KIND_RUN] == 1 || (count[KIND_RUN] == 0 && count[KIND_COPY] && !device.others);
	if ((reading && (reading->objective || reading->version_count)) ||
	    (count[KIND_KERNEL] != 1 && !(count[KIND_RUN] && count[KIND_COPY])) || !whole || count[KIND_PLAIN] ||
	    count[KIND_WHOLE] || count[KIND_RIVAL] > 1)
		return NULL;
	device.rest = device.rest && count[KIND_KERNEL] && count[KIND_RUN] && !count[KIND_COPY];
	*assumed = device.assumed;
	return table_make(&device);
}
