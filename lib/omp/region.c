/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of a region's call. One outermost region at a time is recorded and gets its setting: such calls follow
 * each other, so that neighbours in time can be compared. Nested ones, and those that another thread begins meanwhile,
 * are only counted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "lib/omp/omp.h"

static struct {
	atomic_bool taken;     /* a region runs that is recorded */
	bool is_known;         /* default_team */
	atomic_bool team_set;  /* by the program */
	unsigned default_team; /* of the runtime, before any region */
	uint64_t until_ns;     /* the column holds until then */
	uint64_t calls;        /* since the column changed */
	uint64_t random;
	unsigned order[OMP_SETTINGS], at; /* a random order of the columns, and how many of it are over */
	unsigned column;
	enum omp_switch switched;
	bool paused;
} self;

OMP_TLS const struct omp_visit *current; /* the region that this thread runs as its master */

static unsigned random_below(unsigned bound) { /* xorshift64*, Vigna 2016 */
	self.random ^= self.random >> 12;
	self.random ^= self.random << 25;
	self.random ^= self.random >> 27;
	return (unsigned)((self.random * 2685821657736338717u >> 33) % bound);
}

static void order_draw(unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		unsigned j = random_below(i + 1);
		self.order[i] = self.order[j];
		self.order[j] = i;
	}
	self.at = 0;
}

/* Columns hold for a stretch of time and come in blocks of random order, each once a block: a program whose work
 * changes slowly then treats all columns of a block alike. Pauses between blocks spread them over a long run, most of
 * which then goes at its usual speed. A column that is much faster than the others must not use up the program's calls,
 * so it also ends after some of them. */
static void column_choose(const struct omp_table *table, struct omp_record *record, uint64_t now) {
	bool is_used_up = table->calls_most && ++self.calls > table->calls_most && !self.paused;
	if (!table->stretch_ns || table->column_count < 2 || (now < self.until_ns && !is_used_up))
		return;
	self.calls = 1;
	if (!self.random)
		self.random = (uint64_t)table->seed * 0x9E3779B97F4A7C15u | 1;
	if (table->pause_ns && self.until_ns && self.at == table->column_count && !self.paused) {
		self.column = 0;
		self.until_ns = now + table->pause_ns;
		self.switched = OMP_SWITCH_PAUSE;
		self.paused = true;
		return;
	}
	self.paused = false;
	if (!self.until_ns || self.at == table->column_count)
		order_draw(table->column_count);
	self.column = self.order[self.at++];
	self.until_ns = now + table->stretch_ns;
	self.switched = OMP_SWITCH_COLUMN;
	record->columns++;
}

static struct omp_setting setting_of(const struct omp_row *row, unsigned column) {
	return row->columns[column < row->count ? column : row->count - 1];
}

static bool turn_take(struct omp_record *record) {
	if (atomic_load_explicit(&self.taken, memory_order_relaxed) ||
	    atomic_exchange_explicit(&self.taken, true, memory_order_acquire))
		return false;
	if (!self.is_known) {
		self.default_team = (unsigned)omp_calls_get()->max_threads();
		record->default_threads = self.default_team;
		self.is_known = true;
	}
	return true;
}

static void schedule_begin(struct omp_visit *visit) {
	const struct omp_calls *calls = omp_calls_get();
	visit->old_kind = 0;
	if (!visit->setting.kind || !calls->schedule_set || !calls->schedule_get)
		return;
	calls->schedule_get(&visit->old_kind, &visit->old_chunk);
	calls->schedule_set(visit->setting.kind, (int)visit->setting.chunk);
}

/* A team that the program itself chose (a clause, or omp_set_num_threads) stays, unless the table says otherwise. No
 * team is larger than the runtime has promised, because the program may have made room for so many threads. */
static void team_choose(struct omp_visit *visit, const struct omp_table *table, unsigned asked) {
	bool chosen = asked > 0 || atomic_load_explicit(&self.team_set, memory_order_relaxed);
	visit->threads = asked;
	if (chosen)
		visit->slot->region->fixed++;
	if (visit->setting.threads && (!chosen || (table && table->force)))
		visit->threads = visit->setting.threads;
	if (visit->threads == asked)
		return;
	unsigned most = (unsigned)omp_calls_get()->max_threads();
	if (visit->threads > most)
		visit->threads = asked ? most : 0;
}

/* Each thread of the team around it gets an inner team, where the runtime is allowed to. */
static void inner_team_note(struct omp_record *record, const struct omp_calls *calls, unsigned asked) {
	if (!calls->num_threads || !calls->active_level || !calls->max_active_levels ||
	    calls->active_level() >= calls->max_active_levels())
		return;
	uint32_t inner = asked ? asked : (uint32_t)calls->max_threads(), all = inner * (uint32_t)calls->num_threads();
	uint32_t most = __atomic_load_n(&record->inner_threads, __ATOMIC_RELAXED);
	while (inner > 1 && all > most &&
	       !__atomic_compare_exchange_n(&record->inner_threads, &most, all, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void omp_region_begin(struct omp_visit *visit, void *function, enum omp_sharing sharing, const char *place,
                      unsigned asked) {
	const struct omp_calls *calls = omp_calls_get();
	const struct omp_table *table = omp_table_get();
	struct omp_record *record = omp_record_get();
	visit->threads = asked;
	visit->outer = false;
	visit->busy = false;
	visit->old_kind = 0;
	visit->slot = calls->level && calls->max_threads ? omp_slot_find(function, sharing, place, &visit->inputs) : NULL;
	if (!visit->slot)
		return;
	bool nested = calls->level() > 0;
	visit->outer = !nested && turn_take(record);
	if (nested || !visit->outer) {
		__atomic_add_fetch(&visit->slot->region->others, 1, __ATOMIC_RELAXED);
		visit->setting = (struct omp_setting){0};
		if (nested)
			inner_team_note(record, calls, asked);
		return;
	}
	uint64_t now = omp_now();
	if (table)
		column_choose(table, record, now);
	visit->setting = visit->slot->row ? setting_of(visit->slot->row, self.column) : (struct omp_setting){0};
	team_choose(visit, table, asked);
	schedule_begin(visit);
	visit->busy = (table && table->busy) || record->event_count;
	visit->busy_sum = visit->busy_max = 0;
	visit->busy_threads = 0;
	if (table && table->learn)
		omp_sizes_look(visit->slot, &visit->inputs);
	current = visit;
	visit->start_ns = omp_now();
}

static void busy_add(struct omp_region *region, const struct omp_visit *visit, uint64_t ns) {
	if (!visit->busy || !visit->busy_threads)
		return;
	region->busy_calls++;
	region->busy_sum_ns += visit->busy_sum;
	region->busy_max_ns += visit->busy_max;
	region->busy_threads += visit->busy_threads;
	region->busy_wall_ns += ns;
}

static void call_add(const struct omp_visit *visit, uint64_t ns) {
	struct omp_record *record = omp_record_get();
	uint64_t number = record->call_count++;
	if (number < record->call_room)
		record->calls[number] = (struct omp_call){.start_ns = visit->start_ns - record->start_ns,
		                                          .seconds = (float)(1e-9 * (double)ns),
		                                          .region = visit->slot->number,
		                                          .setting = (uint8_t)self.column,
		                                          .switched = (uint8_t)self.switched};
	self.switched = OMP_SWITCH_NONE;
}

void omp_region_end(struct omp_visit *visit) {
	if (!visit->outer)
		return;
	const struct omp_table *table = omp_table_get();
	struct omp_region *region = visit->slot->region;
	uint64_t ns = omp_now() - visit->start_ns;
	current = NULL;
	if (visit->old_kind)
		omp_calls_get()->schedule_set(visit->old_kind, visit->old_chunk);
	region->calls++;
	region->ns += ns;
	region->threads_sum += visit->threads ? visit->threads : self.default_team;
	if (ns < region->least_ns)
		region->least_ns = ns;
	if (ns > region->most_ns)
		region->most_ns = ns;
	busy_add(region, visit, ns);
	if (table && table->trace)
		call_add(visit, ns);
	if (table && table->learn)
		omp_sizes_learn(visit->slot, ns);
	atomic_store_explicit(&self.taken, false, memory_order_release);
}

/* A region of several loops is named after the one that can be changed most. */
void omp_region_shares(enum omp_sharing sharing) {
	struct omp_region *region = current ? current->slot->region : NULL;
	if (region && region->sharing != OMP_LOOP_RUNTIME)
		region->sharing = sharing;
}

void omp_region_team_set(void) {
	atomic_store(&self.team_set, true);
}

void omp_region_forked(void) {
	atomic_store(&self.taken, false);
	self.is_known = false;
	self.until_ns = 0;
	self.random = 0;
	self.calls = 0;
	self.paused = false;
	current = NULL;
}

static void child(void) {
	omp_record_forked();
	omp_slots_forget();
	omp_region_forked();
}

__attribute__((constructor)) static void start(void) {
	pthread_atfork(NULL, NULL, child);
}
