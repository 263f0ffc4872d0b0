/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of a region's call. One outermost region at a time is recorded and gets its setting: such calls follow
 * each other, so that neighbours in time can be compared. Nested ones, and those that another thread begins meanwhile,
 * are only counted. And the threads of a team, while they run the region's code: how long each worked, what it counted,
 * and which schedule its loops get; all of them must agree about that, so the visit travels with the region's code. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/omp/omp_impl.h"

enum { CALLS_MORE = 2048 };

static struct {
	atomic_bool taken;     /* a region runs that is recorded */
	atomic_uint life;      /* times that this process was forked off */
	bool is_known;         /* default_team, and what the team costs */
	unsigned default_team; /* of the runtime, before any region */
	uint64_t until_ns;     /* the column holds until then */
	uint64_t calls;        /* since the column changed */
	uint64_t random;
	unsigned order[OMP_SETTINGS], at; /* a random order of the columns, and how many of it are over */
	unsigned column;
	enum omp_switch switched;
	bool paused;
	bool is_full; /* the record has no room for more calls */
} self;

OMP_TLS const struct omp_visit *current; /* the region that this thread runs as its master */
OMP_TLS struct omp_visit *inside;        /* the region whose code it runs */

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

static bool turn_take(void) {
	return !atomic_load_explicit(&self.taken, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&self.taken, true, memory_order_acquire);
}

/* At the first region that is not within another one. */
static void runtime_know(struct omp_record *record, const struct omp_table *table, const struct omp_begun *begun) {
	self.is_known = true;
	record->runtime = begun->runtime;
	self.default_team = (unsigned)OMP_REAL(omp_get_max_threads, begun->function)();
	record->default_threads = self.default_team;
	if (table)
		omp_teams_probe(record, table, begun);
}

static void schedule_begin(struct omp_visit *visit, const void *code) {
	if (!visit->setting.kind)
		return;
	OMP_REAL(omp_get_schedule, code)(&visit->old_kind, &visit->old_chunk);
	OMP_REAL(omp_set_schedule, code)(visit->setting.kind, (int)visit->setting.chunk);
}

/* A team that the program itself chose (a clause, or omp_set_num_threads) stays, unless the table says otherwise. No
 * team is larger than the runtime has promised, because the program may have made room for so many threads. */
static void team_choose(struct omp_visit *visit, const struct omp_table *table, const struct omp_begun *begun) {
	unsigned asked = begun->asked;
	bool chosen = asked > 0 || omp_team_is_set();
	if (chosen)
		visit->slot->region->fixed++;
	if (visit->setting.threads && (!chosen || (table && table->force)))
		visit->threads = visit->setting.threads;
	if (visit->threads == asked)
		return;
	unsigned most = (unsigned)OMP_REAL(omp_get_max_threads, begun->function)();
	if (visit->threads > most)
		visit->threads = asked ? most : 0;
}

/* Each thread of the team around it gets an inner team, where the runtime is allowed to. */
static void inner_team_note(struct omp_record *record, const struct omp_begun *begun) {
	const void *code = begun->function;
	if (OMP_REAL(omp_get_active_level, code)() >= OMP_REAL(omp_get_max_active_levels, code)())
		return;
	uint32_t inner = begun->asked ? begun->asked : (uint32_t)OMP_REAL(omp_get_max_threads, code)();
	uint32_t most = __atomic_load_n(&record->inner_threads, __ATOMIC_RELAXED);
	uint32_t every = inner * (uint32_t)OMP_REAL(omp_get_num_threads, code)();
	while (inner > 1 && every > most &&
	       !__atomic_compare_exchange_n(&record->inner_threads, &most, every, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void outer_begin(struct omp_visit *visit, struct omp_record *record, const struct omp_begun *begun) {
	const struct omp_table *table = omp_table_get();
	if (!self.is_known)
		runtime_know(record, table, begun);
	uint64_t now = omp_now();
	if (table)
		column_choose(table, record, now);
	visit->setting = visit->slot->row ? setting_of(visit->slot->row, self.column) : (struct omp_setting){0};
	team_choose(visit, table, begun);
	schedule_begin(visit, begun->function);
	visit->busy = (table && table->busy) || record->event_count;
	if (table && table->learn)
		omp_sizes_look(visit->slot, &visit->inputs);
	current = visit;
	visit->start_ns = omp_now();
}

static void begin(struct omp_visit *visit, const struct omp_begun *begun, bool nested) {
	struct omp_record *record = omp_record_get();
	visit->slot = record ? omp_slot_find(record, begun->function, begun->sharing, begun->place, &visit->inputs) : NULL;
	if (!visit->slot)
		return;
	visit->outer = !nested && turn_take();
	if (visit->outer) {
		outer_begin(visit, record, begun);
		return;
	}
	__atomic_add_fetch(&visit->slot->region->others, 1, __ATOMIC_RELAXED);
	if (nested)
		inner_team_note(record, begun);
}

void omp_region_begin(struct omp_visit *visit, const struct omp_begun *begun) {
	struct omp_guard guard;
	*visit = (struct omp_visit){.inputs = visit->inputs, .threads = begun->asked, .life = self.life};
	/* A runtime does more at its first call, which is felt as it always is. */
	bool nested = OMP_REAL(omp_get_level, begun->function)() > 0;
	if (!omp_guard_begin(&guard))
		return;
	begin(visit, begun, nested);
	omp_guard_end(&guard);
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

/* A file grows as long as there is room. */
static bool calls_grow(struct omp_record *record) {
	const uint64_t more = record->call_room + CALLS_MORE;
	if (more > OMP_CALLS || self.is_full ||
	    !omp_record_reserve(record, &record->calls[record->call_room], CALLS_MORE * sizeof *record->calls)) {
		self.is_full = true;
		return false;
	}
	record->call_room = more;
	return true;
}

static void call_add(struct omp_record *record, const struct omp_visit *visit, uint64_t ns) {
	uint64_t number = record->call_count;
	if (number < record->call_room || (number == record->call_room && calls_grow(record)))
		record->calls[number] = (struct omp_call){.start_ns = visit->start_ns - record->start_ns,
		                                          .seconds = (float)(1e-9 * (double)ns),
		                                          .region = visit->slot->number,
		                                          .setting = (uint8_t)self.column,
		                                          .switched = (uint8_t)self.switched};
	record->call_count++;
	self.switched = OMP_SWITCH_NONE;
}

static void times_add(struct omp_region *region, const struct omp_visit *visit, uint64_t ns) {
	region->calls++;
	region->ns += ns;
	region->threads_sum += visit->threads ? visit->threads : self.default_team;
	if (ns < region->least_ns)
		region->least_ns = ns;
	if (ns > region->most_ns)
		region->most_ns = ns;
	busy_add(region, visit, ns);
}

void omp_region_end(struct omp_visit *visit) {
	struct omp_guard guard;
	if (!visit->outer || visit->life != self.life || !omp_guard_begin(&guard))
		return;
	const struct omp_table *table = omp_table_get();
	uint64_t ns = omp_now() - visit->start_ns;
	current = NULL;
	if (visit->old_kind)
		OMP_REAL(omp_set_schedule, visit->slot->function)(visit->old_kind, visit->old_chunk);
	times_add(visit->slot->region, visit, ns);
	if (table && table->trace)
		call_add(omp_record_get(), visit, ns);
	if (table && table->learn)
		omp_sizes_learn(visit->slot, ns);
	atomic_store_explicit(&self.taken, false, memory_order_release);
	omp_guard_end(&guard);
}

/* A region of several loops is named after the one that can be changed most. */
void omp_region_shares(enum omp_sharing sharing) {
	struct omp_region *region = current ? current->slot->region : NULL;
	if (region && region->sharing != OMP_LOOP_RUNTIME)
		region->sharing = sharing;
}

bool omp_visit_is_inside(const struct omp_visit *visit) {
	return visit->busy || (visit->outer && (visit->setting.kind || visit->setting.chunk));
}

void omp_inside_begin(struct omp_visit *visit, struct omp_inside *thread) {
	struct omp_guard guard;
	inside = visit;
	thread->start_ns = 0;
	if (!visit->busy || !omp_guard_begin(&guard))
		return;
	omp_counts_begin(&thread->counts, omp_record_get());
	thread->start_ns = omp_now();
	omp_guard_end(&guard);
}

/* The wait for the others is outside. */
void omp_inside_end(struct omp_visit *visit, struct omp_inside *thread) {
	struct omp_guard guard;
	inside = NULL;
	if (!thread->start_ns || !omp_guard_begin(&guard))
		return;
	uint64_t ns = omp_now() - thread->start_ns;
	omp_counts_end(&thread->counts, omp_record_get(), visit->life == self.life ? visit->slot->region : NULL);
	uint64_t most = atomic_load_explicit(&visit->busy_max, memory_order_relaxed);
	atomic_fetch_add_explicit(&visit->busy_sum, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&visit->busy_threads, 1, memory_order_relaxed);
	while (ns > most && !atomic_compare_exchange_weak_explicit(&visit->busy_max, &most, ns, memory_order_relaxed,
	                                                           memory_order_relaxed))
		;
	omp_guard_end(&guard);
}

struct omp_visit *omp_inside_leave(void) {
	struct omp_visit *was = inside;
	inside = NULL;
	return was;
}

void omp_inside_back(struct omp_visit *visit) {
	inside = visit;
}

struct omp_setting omp_inside_setting(void) {
	return inside && inside->outer ? inside->setting : (struct omp_setting){0};
}

/* Only the thread that forked is left, perhaps within a region. */
void omp_region_forked(void) {
	omp_record_forked();
	omp_slots_forget();
	const unsigned life = self.life + 1;
	memset(&self, 0, sizeof self);
	self.life = life;
	current = NULL;
}

/* musl's C library has another function for it than glibc's. */
static void forks_watch(void) {
	int (*glibc)(void (*)(void), void (*)(void), void (*)(void), void *);
	int (*posix)(void (*)(void), void (*)(void), void (*)(void));
	*(void **)&glibc = dlsym(RTLD_DEFAULT, "__register_atfork");
	*(void **)&posix = glibc ? NULL : dlsym(RTLD_DEFAULT, "pthread_atfork");
	if (glibc)
		glibc(NULL, NULL, omp_region_forked, NULL);
	else if (posix)
		posix(NULL, NULL, omp_region_forked);
}

/* A program that was linked with a runtime gets its record before it changes its root folder, its rights or its limits,
 * and while there is enough stack. */
__attribute__((constructor)) static void start(void) {
	if (!omp_is_asked())
		return;
	forks_watch();
	if (dlsym(RTLD_NEXT, "omp_get_level"))
		omp_record_get();
	dlerror(); /* nothing of this is the program's failure */
}
