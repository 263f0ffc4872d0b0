/* SPDX-License-Identifier: BSD-3-Clause */
/* A call belongs to the runtime that its caller would have got without this library: the next one
 * in the global scope; else, as in a plug-in that brought along a runtime of its own and is opened privately, one in
 * the caller's own scope; else any that is loaded. What is found after the start is kept for each object, until an
 * object is closed. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/omp/omp_impl.h"

enum { SCOPES = 32, LOCK_ATTEMPTS = 20000 };

/* ---- a team of one ---- */
typedef void region_function(void *data);

static unsigned run(region_function *function, void *data) {
	function(data);
	return 1;
}

static int one(void) {
	return 1;
}

static int none(void) {
	return 0;
}

static bool whole_runtime(long start, long end, long incr, long *from, long *to) {
	*from = start;
	*to = end;
	return incr > 0 ? start < end : start > end;
}

static bool whole(long start, long end, long incr, long chunk, long *from, long *to) {
	(void)chunk;
	return whole_runtime(start, end, incr, from, to);
}

typedef unsigned long long wide;
static bool whole_wide_runtime(bool up, wide start, wide end, wide incr, wide *from, wide *to) {
	(void)incr;
	*from = start;
	*to = end;
	return up ? start < end : start > end;
}

static bool whole_wide(bool up, wide start, wide end, wide incr, wide chunk, wide *from, wide *to) {
	(void)chunk;
	return whole_wide_runtime(up, start, end, incr, from, to);
}

#define NAME(NAME, ALONE) [OMP_IS_##NAME] = #NAME,
static const char *const names[] = {OMP_FUNCTIONS(NAME)};
#define ALONE(NAME, ALONE) [OMP_IS_##NAME] = (omp_function *)(ALONE),
static omp_function *const alone[] = {OMP_FUNCTIONS(ALONE)};

/* ---- objects ---- */
struct object {
	uintptr_t code, start, end; /* of the object with that code */
	const char *name;           /* empty: the program itself */
};

static int object_look(struct dl_phdr_info *info, size_t size, void *ctx) {
	struct object *object = ctx;
	uintptr_t start = UINTPTR_MAX, end = 0;
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD)
			continue;
		uintptr_t at = info->dlpi_addr + part->p_vaddr;
		start = at < start ? at : start;
		end = at + part->p_memsz > end ? at + part->p_memsz : end;
	}
	if (object->code < start || object->code >= end)
		return 0;
	object->start = start;
	object->end = end;
	object->name = info->dlpi_name;
	return 1;
}

static bool object_find(struct object *object, const void *code) {
	*object = (struct object){.code = (uintptr_t)code};
	return dl_iterate_phdr(object_look, object) == 1;
}

/* ---- look-up ---- */
typedef int close_function(void *handle);

static close_function *closes(void) {
	static _Atomic(close_function *) known;
	close_function *function = known;
	if (!function) {
		*(void **)&function = dlsym(RTLD_NEXT, "dlclose");
		known = function;
	}
	return function;
}

static bool is_ours(const void *found) {
	extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
		_end[] __attribute__((visibility("hidden")));
	return (const char *)found >= __ehdr_start && (const char *)found < _end;
}

/* In an object and in what it depends on. */
static void *look_in(const char *object, const char *name) {
	void *handle = *object ? dlopen(object, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *found = handle ? dlsym(handle, name) : NULL;
	close_function *close = handle ? closes() : NULL;
	if (close)
		close(handle);
	return is_ours(found) ? NULL : found;
}

struct objects {
	char **names;
	size_t count;
};

static int object_list(struct dl_phdr_info *info, size_t size, void *ctx) {
	struct objects *objects = ctx;
	char **more = realloc(objects->names, (objects->count + 1) * sizeof *more);
	(void)size;
	if (!more)
		return 1;
	objects->names = more;
	more[objects->count] = strdup(info->dlpi_name);
	return more[objects->count++] == NULL;
}

/* The loader's lock is not held while objects are opened, or threads could wait for each other. */
static void *look_everywhere(const char *name) {
	struct objects objects = {NULL, 0};
	void *found = NULL;
	dl_iterate_phdr(object_list, &objects);
	for (size_t i = 0; i < objects.count; i++) {
		if (!found && objects.names[i])
			found = look_in(objects.names[i], name);
		free(objects.names[i]);
	}
	free(objects.names);
	return found;
}

/* As the loader would. */
static void *look_near(const char *name, const struct object *object) {
	void *found = dlsym(RTLD_NEXT, name); /* opened since the start */
	return found || !object->name ? found : look_in(object->name, name);
}

/* ---- what is known of each object's functions ---- */
struct scope {
	_Atomic uintptr_t start, end; /* end 0: not ready */
	atomic_uint closings;
	_Atomic(omp_function *) functions[OMP_NAMES];
};

static struct scope scopes[SCOPES];
static atomic_uint scope_count;
static atomic_uint closings; /* of objects: another one may have their address by now */

/* Finds all functions at once, because a runtime may leave a message of the loader to the program at its first call. */
static struct scope *scope_set(struct scope *scope, const struct object *object, unsigned now) {
	for (size_t i = 0; i < OMP_NAMES; i++) {
		omp_function *found;
		*(void **)&found = look_near(names[i], object);
		atomic_store_explicit(&scope->functions[i], found, memory_order_relaxed);
	}
	scope->start = object->start;
	scope->closings = now;
	scope->end = object->end;
	return scope;
}

/* NULL where there are too many. */
static struct scope *scope_make(const struct object *object, unsigned now) {
	for (size_t i = 0; i < SCOPES && i < scope_count; i++)
		if (scopes[i].end == object->end && scopes[i].start == object->start)
			return scope_set(&scopes[i], object, now);
	unsigned number = scope_count < SCOPES ? atomic_fetch_add(&scope_count, 1) : SCOPES;
	return number < SCOPES ? scope_set(&scopes[number], object, now) : NULL;
}

static struct scope *scope_find(uintptr_t code, unsigned now) {
	unsigned count = atomic_load_explicit(&scope_count, memory_order_relaxed);
	for (unsigned i = 0; i < count && i < SCOPES; i++) {
		struct scope *scope = &scopes[i];
		if (code < atomic_load_explicit(&scope->end, memory_order_acquire) &&
		    code >= atomic_load_explicit(&scope->start, memory_order_relaxed) &&
		    atomic_load_explicit(&scope->closings, memory_order_relaxed) == now)
			return scope;
	}
	return NULL;
}

__attribute__((cold, noinline)) static omp_function *find(enum omp_name name, const void *code, unsigned now) {
	struct object object;
	struct scope *scope = scope_find((uintptr_t)code, now);
	omp_function *found;
	int error = errno, cancel;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (object_find(&object, code) && !scope)
		scope = scope_make(&object, now);
	found = scope ? atomic_load_explicit(&scope->functions[name], memory_order_acquire) : NULL;
	if (!found)
		*(void **)&found = scope ? NULL : look_near(names[name], &object);
	if (!found)
		*(void **)&found = look_everywhere(names[name]);
	if (scope && found)
		atomic_store_explicit(&scope->functions[name], found, memory_order_release);
	dlerror(); /* else the program would get a failure of ours for its own */
	pthread_setcancelstate(cancel, NULL);
	errno = error;
	return found ? found : alone[name];
}

/* Those of a runtime that the program was linked with: found at the start, where there is stack enough and no message
 * of the loader is waiting for the program. */
static omp_function *linked[OMP_NAMES];

static void linked_find(void) {
	for (size_t i = 0; i < OMP_NAMES && (i == 0 || linked[0]); i++)
		*(void **)&linked[i] = dlsym(RTLD_NEXT, names[i]);
	dlerror();
}

omp_function *omp_real(enum omp_name name, const void *code) {
	if (linked[name])
		return linked[name];
	unsigned now = atomic_load_explicit(&closings, memory_order_acquire);
	struct scope *scope = scope_find((uintptr_t)code, now);
	omp_function *found = scope ? atomic_load_explicit(&scope->functions[name], memory_order_acquire) : NULL;
	return found ? found : find(name, code, now);
}

OMP_EXPORT close_function dlclose;
int dlclose(void *handle) {
	int error = errno;
	close_function *close = closes();
	errno = error;
	atomic_fetch_add(&closings, 1);
	int failed = close ? close(handle) : 0;
	atomic_fetch_add(&closings, 1);
	return failed;
}

/* A program with AddressSanitizer refuses to start behind a library that is not the sanitizer's. Its interceptors are
 * found all the same, because this one defines nothing of theirs but dlclose, which it passes on. */
OMP_EXPORT const char *__asan_default_options(void);
const char *__asan_default_options(void) {
	return "verify_asan_link_order=0";
}

/* ---- what is asked ---- */
static atomic_int asked; /* 0: not known yet */
static char *words[OMP_WORDS];

static void words_save(void) {
	static const char *const variables[OMP_WORDS] = {"SWEETSPOT_OMP_TABLE", "SWEETSPOT_OMP_RECORD",
	                                                 "SWEETSPOT_REGION_EVENTS"};
	for (size_t i = 0; i < OMP_WORDS; i++) {
		const char *text = getenv(variables[i]);
		words[i] = text && *text ? strdup(text) : NULL;
	}
	asked = words[OMP_WORD_TABLE] || words[OMP_WORD_RECORD] ? 1 : -1;
}

static int asked_find(void) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, words_save);
	return asked;
}

/* The program may clean its environment before its first region. Another library's constructor may come first. */
__attribute__((constructor)) static void start(void) {
	asked_find();
	linked_find();
}

bool omp_is_asked(void) {
	int known = atomic_load_explicit(&asked, memory_order_relaxed);
	return __builtin_expect((known ? known : asked_find()) > 0, false);
}

const char *omp_word(enum omp_word word) {
	asked_find();
	return words[word];
}

OMP_TLS bool within;

bool omp_guard_begin(struct omp_guard *guard) {
	if (within)
		return false;
	within = true;
	guard->error = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel);
	return true;
}

void omp_guard_end(const struct omp_guard *guard) {
	errno = guard->error;
	within = false;
	pthread_setcancelstate(guard->cancel, NULL);
}

bool omp_lock(pthread_mutex_t *lock) {
	for (int i = 0; i < LOCK_ATTEMPTS; i++) {
		if (pthread_mutex_trylock(lock) == 0)
			return true;
		sched_yield();
	}
	return false;
}

void *omp_memory(size_t size) {
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

uint64_t omp_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- questions and wishes of the program ---- */
static atomic_bool threads_asked, team_set;

bool omp_threads_asked(void) {
	return atomic_load_explicit(&threads_asked, memory_order_relaxed);
}

bool omp_team_is_set(void) {
	return atomic_load_explicit(&team_set, memory_order_relaxed);
}

/* Work that is divided by one of these numbers is done in part by a smaller team. */
#define ASK(NAME)                                                                                                      \
	OMP_EXPORT int NAME(void);                                                                                         \
	int NAME(void) {                                                                                                   \
		if (omp_is_asked())                                                                                            \
			atomic_store_explicit(&threads_asked, true, memory_order_relaxed);                                         \
		return OMP_REAL(NAME, OMP_CALLER)();                                                                           \
	}
ASK(omp_get_max_threads)
ASK(omp_get_max_threads_)
ASK(omp_get_num_procs)
ASK(omp_get_num_procs_)

/* The team that the program itself asked for, in C and in Fortran. */
#define SET_TEAM(NAME, TYPE)                                                                                           \
	OMP_EXPORT void NAME(TYPE threads);                                                                                \
	void NAME(TYPE threads) {                                                                                          \
		if (omp_is_asked())                                                                                            \
			atomic_store_explicit(&team_set, true, memory_order_relaxed);                                              \
		OMP_REAL(NAME, OMP_CALLER)(threads);                                                                           \
	}
SET_TEAM(omp_set_num_threads, int)
SET_TEAM(omp_set_num_threads_, const int32_t *)
SET_TEAM(omp_set_num_threads_8_, const int64_t *)
