/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/regions/simulated.h"

#include <stdio.h>
#include <unistd.h>

#include "base/sys.h"
#include "tests/tuner/regions/made.h"
#include "tuner/same/same.h"

enum { SOON = 8, CALLS_MOST = 1 << 17 };

static struct {
	const struct simulated_program *program;
	struct rng rng;
	double now;
	int searches;
	struct omp_table table;
	bool has_table;
	struct omp_record *record;
	struct omp_slot slots[SIMULATED_REGIONS][OMP_CLASSES + 1];
	unsigned pool;  /* threads that the runtime keeps */
	unsigned alone; /* calls of one thread since the last team */
} self;

void simulated_begin(const struct simulated_program *program, uint64_t seed) {
	self.program = program;
	self.now = 1;
	self.searches = 0;
	rng_seed(&self.rng, seed);
}

double simulated_now(void) {
	return self.now;
}

int simulated_searches(void) {
	return self.searches;
}

/* The library's surroundings. */
uint64_t omp_now(void) {
	return (uint64_t)(1e9 * self.now);
}

const struct omp_table *omp_table_get(void) {
	return self.has_table ? &self.table : NULL;
}

struct omp_record *omp_record_get(void) {
	return self.record;
}

void omp_record_forked(void) {
}
void omp_slots_forget(void) {
}

bool omp_record_reserve(const struct omp_record *record, const void *at, size_t size) {
	(void)record;
	(void)at;
	return size == 0;
}

static int none(void) {
	return 0;
}

static int max_threads(void) {
	return SIMULATED_THREADS;
}

omp_function *omp_real(enum omp_name name, const void *code) {
	(void)code;
	return (omp_function *)(name == OMP_IS_omp_get_max_threads ? max_threads : none);
}

bool omp_is_asked(void) {
	return false;
}

bool omp_team_is_set(void) {
	return false;
}

bool omp_guard_begin(struct omp_guard *guard) {
	*guard = (struct omp_guard){0};
	return true;
}

void omp_guard_end(const struct omp_guard *guard) {
	(void)guard;
}

void omp_counts_begin(struct omp_counts *counts, struct omp_record *record) {
	(void)record;
	*counts = (struct omp_counts){{0}};
}

void omp_counts_end(const struct omp_counts *counts, struct omp_record *record, struct omp_region *region) {
	(void)record;
	(void)counts;
	(void)region;
}

void omp_teams_probe(struct omp_record *record, const struct omp_table *table, const struct omp_begun *begun) {
	(void)record;
	(void)table;
	(void)begun;
}

struct omp_slot *omp_slot_find(struct omp_record *record, void *function, enum omp_sharing sharing, const char *place,
                               const struct omp_inputs *inputs) {
	struct omp_slot *slots = self.slots[(uintptr_t)function - 1];
	(void)record;
	(void)sharing;
	(void)place;
	return &slots[slots->sizes ? omp_size_class(slots, inputs) : 0];
}

static const struct omp_row *row_of(uint64_t offset, uint32_t size_class) {
	const struct omp_row *any = NULL;
	for (uint32_t i = 0; i < self.table.row_count; i++) {
		if (self.table.rows[i].module != UINT32_MAX && self.table.rows[i].offset == offset &&
		    self.table.rows[i].size_class == size_class)
			return &self.table.rows[i];
		if (self.table.rows[i].module == UINT32_MAX)
			any = &self.table.rows[i];
	}
	return any;
}

static const struct omp_sizes *sizes_of(uint64_t offset) {
	for (uint32_t i = 0; self.has_table && i < self.table.sizes_count; i++)
		if (self.table.sizes[i].offset == offset)
			return &self.table.sizes[i];
	return NULL;
}

/* Regions of the record in the order of the program's, each class after the other. */
static void slot_add(size_t number, uint32_t size_class) {
	struct omp_region *region = &self.record->regions[self.record->region_count];
	const bool learns = self.has_table && self.table.learn;
	region->offset = 16 * (number + 1);
	region->sharing = self.program->regions[number].sharing;
	region->size_class = size_class;
	region->least_ns = UINT64_MAX;
	self.slots[number][size_class] = (struct omp_slot){
		.function = (void *)(number + 1),
		.region = region,
		.seen = learns && self.record->region_count < OMP_SEEN ? self.record->seen[self.record->region_count] : NULL,
		.number = (uint16_t)self.record->region_count++,
		.size_class = (uint16_t)size_class,
		.row = self.has_table ? row_of(region->offset, size_class) : NULL};
}

static void slots_add(size_t number) {
	const struct omp_sizes *sizes = sizes_of(16 * (number + 1));
	if (!sizes)
		slot_add(number, 0);
	for (uint32_t k = 0; sizes && k < sizes->count; k++)
		slot_add(number, sizes->numbers[k]);
	self.slots[number][0].sizes = sizes;
}

static void run_begin(const char *table) {
	const struct simulated_program *program = self.program;
	self.table = (struct omp_table){0};
	self.has_table = table && omp_table_read(table, &self.table);
	self.record = raw_new(0, self.has_table && self.table.trace ? CALLS_MOST : 0);
	self.record->default_threads = self.record->cpus = SIMULATED_THREADS;
	self.record->start_ns = omp_now();
	self.record->ran_ns = 1;
	self.record->team_count = self.has_table ? self.table.team_count : 0;
	for (uint32_t i = 0; i < self.record->team_count; i++) {
		self.record->teams[i] = self.table.teams[i];
		for (uint32_t j = 0; j <= i; j++)
			self.record->team_cost[i][j] = self.record->team_cost[j][i] =
				(float)(3e-6 + (i == j ? 0 : program->change_s));
	}
	memset(self.slots, 0, sizeof self.slots);
	for (size_t i = 0; i < program->count; i++)
		slots_add(i);
	self.pool = SIMULATED_THREADS;
	self.alone = 0;
	omp_region_forked();
}

static void call(size_t number, double progress) {
	const struct simulated_program *program = self.program;
	const struct simulated_region *region = &program->regions[number];
	struct omp_visit visit = {.inputs = {.trips = region->size ? region->size(progress) : 0}};
	omp_region_begin(&visit, &(struct omp_begun){.function = (void *)(number + 1), .sharing = region->sharing});
	unsigned threads = visit.threads ? visit.threads : SIMULATED_THREADS;
	double seconds = region->seconds(threads, visit.setting, progress) * exp(program->noise * rng_normal(&self.rng));
	if (rng_unit(&self.rng) < program->delayed)
		seconds *= 10;
	if (threads > 1 && threads != self.pool) {
		seconds += program->change_s;
		self.pool = threads;
	}
	self.alone = threads > 1 ? 0 : self.alone + 1;
	if (self.alone && self.alone < SOON)
		seconds *= 1 + program->cold;
	self.now += seconds;
	omp_region_end(&visit);
}

static double run(const char *table) {
	const struct simulated_program *program = self.program;
	run_begin(table);
	double start = self.now;
	for (int step = 0; step < program->steps; step++) {
		self.now += program->serial_s;
		for (size_t i = 0; i < program->count; i++)
			for (int k = 0; k < program->regions[i].calls; k++)
				call(i, (double)step / program->steps);
	}
	return self.now - start;
}

static struct regions_record *record_take(void) {
	struct regions_record *record = record_around(self.record);
	record->call_count =
		self.record->call_count < self.record->call_room ? self.record->call_count : self.record->call_room;
	record->processes = 1;
	for (size_t i = 0; i < record->count; i++) {
		struct regions_region *region = &record->regions[i];
		snprintf(region->name, sizeof region->name, region->facts.size_class ? "%s %u" : "%s",
		         self.program->regions[region->offset / 16 - 1].name, region->facts.size_class);
	}
	return record;
}

/* tuner/regions/runs.c */
char *regions_preload(const char *library) {
	return mem_strdup(library);
}

int regions_runs_open(struct regions_runs *runs, const struct regions_options *options, struct err *err) {
	static const char *const argv[] = {"true", NULL};
	const struct program_spec spec = {.argv = argv};
	*runs = (struct regions_runs){
		.options = options, .plain = json_object(), .environment = json_object(), .started = self.now};
	if (!self.program->evidence[0])
		return 0;
	runs->seen = json_array();
	runs->program = program_new(&spec, NULL, err);
	return runs->program ? 0 : -1;
}

static void evidence_add(json_t *list, const char *text) {
	json_t *evidence = text ? json_loads(text, 0, NULL) : NULL;
	if (list)
		same_add(list, evidence);
	json_decref(evidence);
}

void regions_runs_close(struct regions_runs *runs) {
	program_free(runs->program);
	json_decref(runs->seen);
	json_decref(runs->plain);
	json_decref(runs->environment);
}

double regions_left(const struct regions_runs *runs, double budget_s) {
	return budget_s - (self.now - runs->started);
}

int regions_run_recorded(struct regions_runs *runs, const struct regions_table *table,
                         const struct regions_record *known, double limit_s, const char *phase,
                         struct regions_run *result, struct err *err) {
	char *text = table ? regions_table_text(table, known) : NULL, *path = mem_printf("%s.run", runs->options->table);
	(void)limit_s;
	(void)phase;
	if (text && sys_write_file(path, text, strlen(text), err))
		return -1;
	result->seconds = run(text ? path : NULL);
	result->record = record_take();
	runs->done++;
	self.searches++;
	unlink(path);
	free(path);
	free(text);
	return 0;
}

int regions_run_quiet(struct regions_runs *runs, const struct regions_table *table, const struct regions_record *known,
                      double limit_s, const char *phase, double budget_s, struct regions_run *result, struct err *err) {
	(void)budget_s;
	return regions_run_recorded(runs, table, known, limit_s, phase, result, err);
}

/* This machine knows neither binding nor waiting. */
int regions_run_plain(struct regions_runs *runs, const char *table, bool records, double limit_s, const char *phase,
                      struct regions_run *result, struct err *err) {
	(void)limit_s;
	(void)phase;
	(void)err;
	*result = (struct regions_run){.seconds = run(table)};
	evidence_add(table ? runs->seen_changed : runs->seen, self.program->evidence[table != NULL]);
	if (records)
		result->record = record_take();
	else
		free(self.record);
	runs->done++;
	return 0;
}
