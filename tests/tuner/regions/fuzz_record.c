/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of libsweetspot-omp with any content are refused, or can be merged and fitted. A record has 2 MB, so the
 * bytes are steps that fill one: a kind, a place, a value. `make fuzz` runs this as a target of libFuzzer, where one
 * input in 16 is fitted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fuzz.h"
#include "tuner/regions/regions_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FEW = 6,
	CALLS = 48,
	RECORDS = 3,
	COLUMNS = 4,
	REGIONS_MOST = 64 /* whose checks take the square of the number */
};

struct input {
	const uint8_t *at, *end;
};

static void require(bool condition) {
	if (!condition)
		abort();
}

static uint8_t byte(struct input *input) {
	return input->at < input->end ? *input->at++ : 0;
}

static uint64_t number(struct input *input) {
	static const uint64_t limits[] = {OMP_MODULES, OMP_REGIONS, OMP_TEAMS,  OMP_EVENTS, OMP_SETTINGS,
	                                  OMP_CALLS,   UINT16_MAX,  UINT32_MAX, INT64_MAX,  UINT64_MAX};
	uint8_t kind = byte(input);
	return kind < 200 ? kind : limits[kind % 10] + kind / 10 % 3 - 1;
}

static void header_set(struct input *input, struct omp_record *raw) {
	uint32_t *const small[] = {&raw->size,         &raw->runtime,      &raw->default_threads, &raw->cpus,
	                           &raw->module_count, &raw->region_count, &raw->team_count,      &raw->event_count};
	uint64_t *const large[] = {&raw->start_ns, &raw->end_ns,  &raw->call_count, &raw->call_room,
	                           &raw->dropped,  &raw->columns, &raw->ran_ns,     &raw->waited_ns};
	size_t field = byte(input) % 16;
	if (field < 8)
		*small[field] = (uint32_t)number(input);
	else
		*large[field - 8] = number(input);
}

static void text(struct input *input, char *to, size_t size) {
	size_t length = byte(input);
	if (length == 255)
		memset(to, 'm', size);
	for (size_t i = 0; i < length && i < size && length < 255; i++)
		to[i] = (char)byte(input);
}

static void region_set(struct input *input, struct omp_region *region) {
	uint64_t *const numbers[] = {&region->offset,     &region->calls,       &region->others,      &region->ns,
	                             &region->least_ns,   &region->most_ns,     &region->threads_sum, &region->fixed,
	                             &region->busy_calls, &region->busy_sum_ns, &region->busy_max_ns, &region->counts[0]};
	size_t field = byte(input) % 18;
	if (field < 12)
		*numbers[field] = number(input);
	else if (field == 12)
		region->module = (uint32_t)number(input);
	else if (field == 13)
		region->sharing = (uint32_t)number(input);
	else if (field == 14)
		region->size_class = (uint32_t)number(input);
	else if (field == 15)
		region->measure = (uint32_t)number(input);
	else if (field == 16)
		region->upto = (int64_t)number(input);
	else
		text(input, region->place, sizeof region->place);
}

static void call_set(struct input *input, struct omp_call *call) {
	static const float seconds[] = {1e-3f, 2e-3f, 0, -1, NAN, INFINITY, 1e-38f, 3e38f};
	call->start_ns = number(input);
	call->seconds = seconds[byte(input) % 8] * (float)(1 + byte(input));
	call->region = byte(input) % (FEW + 1);
	call->setting = byte(input) % (OMP_SETTINGS + 1);
	call->switched = byte(input) % 4;
}

static void seen_set(struct input *input, struct omp_seen *seen) {
	size_t at = byte(input) % OMP_VALUES;
	seen->count = (uint32_t)number(input);
	seen->values[at] = (struct omp_value){(int64_t)number(input), number(input), number(input)};
}

static void step(struct input *input, struct omp_record *raw) {
	uint8_t kind = byte(input), at = byte(input);
	switch (kind % 6) {
	case 0:
		header_set(input, raw);
		break;
	case 1:
		region_set(input, &raw->regions[at % FEW]);
		break;
	case 2:
		text(input, raw->modules[at % 3].path, OMP_PATH);
		break;
	case 3:
		text(input, raw->events[at % 3].name, OMP_EVENT_NAME);
		break;
	case 4:
		seen_set(input, &raw->seen[at % FEW][byte(input) % OMP_MEASURES]);
		break;
	default:
		call_set(input, &raw->calls[at % CALLS]);
	}
}

/* Clears what the steps can reach, because clearing all takes longer than everything else. */
static void raw_clear(struct omp_record *raw) {
	memset(raw, 0, offsetof(struct omp_record, modules));
	memset(raw->modules, 0, 3 * sizeof *raw->modules);
	memset(raw->regions, 0, FEW * sizeof *raw->regions);
	memset(raw->seen, 0, FEW * sizeof *raw->seen);
	memcpy(raw->magic, OMP_RECORD_MAGIC, sizeof raw->magic);
	raw->size = sizeof *raw;
	raw->module_count = 3;
	raw->region_count = 3;
	raw->call_count = raw->call_room = CALLS;
	for (uint32_t i = 0; i < FEW; i++) {
		raw->regions[i].offset = 16 * i;
		raw->modules[i % 3].path[0] = (char)('a' + i % 3);
	}
	for (size_t i = 0; i < CALLS; i++)
		raw->calls[i] = (struct omp_call){1000 * i, 1e-3f, (uint16_t)(i % 3), (uint8_t)(i / 12), i % 12 == 0};
}

static void check_record(const struct regions_record *record, bool fits) {
	double waiting = regions_record_waiting(record);
	require(record->count > 0 && (isnan(waiting) || (waiting >= 0 && waiting <= 1)));
	if (record->count > REGIONS_MOST)
		return;
	for (size_t i = 0; i < record->count; i++)
		require(regions_record_find(record, record->regions[i].module, record->regions[i].offset,
		                            record->regions[i].facts.size_class) == i);
	size_t sized;
	struct regions_sizes *sizes = regions_sizes_choose(record, 1e-3, &sized);
	for (size_t i = 0; i < sized; i++)
		require(sizes[i].count > 1 && sizes[i].count <= OMP_CLASSES && sizes[i].measure < OMP_MEASURES);
	regions_sizes_hold(record, sizes, sized);
	free(sizes);
	if (!fits)
		return;
	struct regions_effect *effects = mem_alloc(record->count * COLUMNS, sizeof *effects);
	regions_fit(record, NULL, COLUMNS, effects);
	for (size_t i = 0; i < record->count * COLUMNS; i++)
		require(isnan(effects[i].log) || !(effects[i].error < 0));
	free(effects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static struct omp_record *all[RECORDS]; /* kept from input to input */
	struct omp_record *raws[RECORDS];
	struct input input = {data, data + size};
	size_t count = 0;
	for (int i = 0; i < RECORDS && input.at < input.end; i++) {
		if (!all[i])
			all[i] = mem_alloc(1, sizeof *all[i] + CALLS * sizeof all[i]->calls[0]);
		struct omp_record *raw = all[i];
		raw_clear(raw);
		while (input.at < input.end && *input.at != 255)
			step(&input, raw);
		byte(&input);
		bool good = regions_raw_sound(raw, sizeof *raw + CALLS * sizeof raw->calls[0]) && raw->region_count > 0;
		raws[count] = raw;
		count += good;
	}
	if (count > 0) {
		struct regions_record *record = regions_raws_merge(raws, count, count);
		check_record(record, fuzz_one_in(16, data, size));
		record->raw = NULL;
		for (size_t i = 0; i < record->peer_count; i++)
			record->peers[i].raw = NULL;
		regions_record_free(record);
	}
	return 0;
}
