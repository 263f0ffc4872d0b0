/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread affinity of OpenMP 5.2, section 10.1.3. The parent of the team is the initial thread, on the first place.
 * If one number does not divide the other, which the text leaves open, the first places (or subpartitions) are the
 * larger ones, as in libgomp's spread. */
#include <errno.h>

#include "base/mem.h"
#include "base/text.h"
#include "topo/impl.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum bind { BIND_FALSE, BIND_CLOSE, BIND_SPREAD, BIND_PRIMARY, BIND_MASTER };

struct topo_binding {
	const struct topo_places *places;
	int threads;
	int *place; /* for each thread */
	char *key;
};

static const char *const place_words[] = {TOPO_PLACES};
static const char *const bind_words[] = {TOPO_BINDS, "master"};

static int word_find(const char *what, const char *word, const char *const *words, size_t count, struct err *err) {
	const char *near;
	for (size_t i = 0; word && i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return (int)i;
	err_set(err, ERR_USAGE, NULL, "unknown %s: %.60s", what, word ? word : "(none)");
	near = word ? near_word(word, words, count) : NULL;
	if (near)
		err_hint(err, "did you mean %s?", near);
	return -1;
}

/* Deals `count` things to `parts` parts in order, the first ones getting one more; returns where part `i` begins. */
static int part_begin(int count, int parts, int i) {
	int rest = count % parts;
	return i * (count / parts) + (i < rest ? i : rest);
}

/* T > P: consecutive threads share a place. */
static void deal_crowded(struct topo_binding *binding) {
	int places = binding->places->count;
	for (int p = 0; p < places; p++)
		for (int i = part_begin(binding->threads, places, p); i < part_begin(binding->threads, places, p + 1); i++)
			binding->place[i] = p;
}

static void deal(struct topo_binding *binding, enum bind bind) {
	int places = binding->places->count, threads = binding->threads;
	if (bind != BIND_CLOSE && bind != BIND_SPREAD)
		return; /* all on place 0 */
	if (threads > places) {
		deal_crowded(binding);
		return;
	}
	for (int i = 0; i < threads; i++)
		binding->place[i] = bind == BIND_CLOSE ? i : part_begin(places, threads, i);
}

static char *place_text(const struct topo_places *places, const struct topo_places *all, int place) {
	char *list, *text = NULL;
	if (hwloc_bitmap_isequal(places->sets[place], all->sets[0]))
		return mem_strdup("[*]");
	if (hwloc_bitmap_list_asprintf(&list, places->sets[place]) < 0)
		return NULL;
	text = mem_printf("[%s]", list);
	free(list);
	return text;
}

/* Threads on the same place are consecutive, because places do not overlap and no policy returns to one. */
static char *key_new(const struct topo_binding *binding, const struct topo_places *all) {
	char *key = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&key, &size);
	bool good = out != NULL;
	for (int i = 0, run; good && i < binding->threads; i += run) {
		mem_auto char *text = place_text(binding->places, all, binding->place[i]);
		for (run = 1; i + run < binding->threads && binding->place[i + run] == binding->place[i]; run++)
			;
		good = text && fputs(text, out) >= 0 && (run == 1 || fprintf(out, "x%d", run) > 0);
	}
	if (out && fclose(out) != 0)
		good = false;
	if (good)
		return key;
	free(key);
	return NULL;
}

struct topo_binding *topo_binding_new(const struct topo *topo, int threads, const char *places, const char *proc_bind,
                                      struct err *err) {
	struct topo_binding *binding;
	int level = TOPO_ALL, bind = word_find("proc_bind", proc_bind, bind_words, COUNT(bind_words), err);
	if (bind < 0)
		return NULL;
	if (bind != BIND_FALSE && (level = word_find("places", places, place_words, COUNT(place_words), err)) < 0)
		return NULL;
	if (threads < 1 || threads > TOPO_CPUS_MAX)
		return err_null(
			err_set(err, ERR_USAGE, NULL, "a team of %d threads cannot be bound: 1 to %d can", threads, TOPO_CPUS_MAX));
	binding = mem_alloc(1, sizeof *binding);
	binding->places = &topo->places[level];
	binding->threads = threads;
	binding->place = mem_alloc((size_t)threads, sizeof *binding->place);
	deal(binding, (enum bind)bind);
	binding->key = key_new(binding, &topo->places[TOPO_ALL]);
	if (!binding->key) {
		err_set(err, ERR_FAILED, NULL, "out of memory");
		topo_binding_free(binding);
		return NULL;
	}
	return binding;
}

void topo_binding_free(struct topo_binding *binding) {
	if (!binding)
		return;
	free(binding->place);
	free(binding->key);
	free(binding);
}

const char *topo_binding_key(const struct topo_binding *binding) {
	return binding->key;
}

static hwloc_const_bitmap_t thread_set(const struct topo_binding *binding, int thread) {
	return binding->places->sets[binding->place[thread]];
}

size_t topo_binding_cpus(const struct topo_binding *binding, int thread, int *cpus, size_t max) {
	hwloc_const_bitmap_t set = thread_set(binding, thread);
	size_t count = 0;
	for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
		if (count < max)
			cpus[count] = cpu;
		count++;
	}
	return count;
}

/* The kernel silently drops CPUs that a cpuset or hotplug removed after the topology was loaded. */
static int verify(const struct topo *topo, hwloc_const_bitmap_t wanted, struct err *err) {
	hwloc_bitmap_t got = hwloc_bitmap_alloc();
	char is[64] = "?", should[64] = "?";
	int rc = 0;
	if (!got || hwloc_get_cpubind(topo->hw, got, HWLOC_CPUBIND_THREAD) != 0) {
		rc = err_set(err, ERR_FAILED, NULL, "cannot query where a thread may run: %s", strerror(errno));
	} else if (!hwloc_bitmap_isequal(got, wanted)) {
		hwloc_bitmap_list_snprintf(is, sizeof is, got);
		hwloc_bitmap_list_snprintf(should, sizeof should, wanted);
		rc = err_set(err, ERR_FAILED, "the CPUs allowed to this process changed while it ran: restart it",
		             "a thread bound to CPUs %s may run on %s instead", should, is);
	}
	hwloc_bitmap_free(got);
	return rc;
}

/* Threads that may share several CPUs begin on different ones, like those of a fresh team. A thread that comes from
 * a narrower binding would otherwise stay there until the kernel balances its load, which takes longer than a short
 * trial. */
static void spread_out(const struct topo *topo, hwloc_const_bitmap_t set, int thread) {
	int count = hwloc_bitmap_weight(set), cpu = hwloc_bitmap_first(set);
	hwloc_bitmap_t one = count > 1 ? hwloc_bitmap_alloc() : NULL;
	if (!one)
		return;
	for (int skip = thread % count; skip > 0; skip--)
		cpu = hwloc_bitmap_next(set, cpu);
	hwloc_bitmap_only(one, (unsigned)cpu);
	hwloc_set_cpubind(topo->hw, one, HWLOC_CPUBIND_THREAD);
	hwloc_bitmap_free(one);
}

int topo_binding_apply(const struct topo *topo, const struct topo_binding *binding, int thread, struct err *err) {
	char list[64];
	hwloc_const_bitmap_t set;
	if (thread < 0 || thread >= binding->threads)
		return err_set(err, ERR_FAILED, NULL, "thread %d of a team of %d", thread, binding->threads);
	if (!topo->here) /* hwloc would return 0 and not bind anything */
		return err_set(err, ERR_FAILED, "SWEETSPOT_TOPOLOGY must not be set",
		               "threads cannot be bound on a topology that is not this machine's");
	set = thread_set(binding, thread);
	spread_out(topo, set, thread);
	if (hwloc_set_cpubind(topo->hw, set, HWLOC_CPUBIND_THREAD) != 0) {
		int error = errno;
		hwloc_bitmap_list_snprintf(list, sizeof list, set);
		return err_set(err, ERR_FAILED, NULL, "cannot bind a thread to CPUs %s: %s", list, strerror(error));
	}
	return verify(topo, set, err);
}

bool topo_binding_holds(const struct topo *topo, const struct topo_binding *binding, int thread, int *cpu) {
	hwloc_bitmap_t last = hwloc_bitmap_alloc();
	int found = -1;
	bool inside = false;
	if (last && topo->here && thread >= 0 && thread < binding->threads &&
	    hwloc_get_last_cpu_location(topo->hw, last, HWLOC_CPUBIND_THREAD) == 0) {
		found = hwloc_bitmap_first(last);
		inside = found >= 0 && hwloc_bitmap_isset(thread_set(binding, thread), (unsigned)found);
	}
	hwloc_bitmap_free(last);
	if (cpu)
		*cpu = found;
	return inside;
}
