/* SPDX-License-Identifier: BSD-3-Clause */
/* LLVM's and Intel's runtime: every region is a variable number of pointers handed to __kmpc_fork_call, and a loop
 * whose schedule is decided at run time asks __kmpc_dispatch_init first. ABI: openmp/runtime/src/kmp.h. */
#include <stdarg.h>
#include <string.h>

#include "lib/omp/omp_impl.h"

typedef struct {
	int32_t reserved, flags, reserved2, reserved3;
	const char *source; /* ";file;function;line;column;;" */
} kmp_location;
typedef void microtask(int32_t *thread, int32_t *bound, ...);

enum {
	ARGUMENTS_FEW = 12,
	ARGUMENTS_MANY = 64,
	ARGUMENTS_MOST = 256, /* regions that share more go straight through */
	SCHEDULE_STATIC_CHUNKED = 33,
	SCHEDULE_STATIC = 34,
	SCHEDULE_DYNAMIC = 35,
	SCHEDULE_GUIDED = 36,
	SCHEDULE_RUNTIME = 37,
	SCHEDULE_AUTO = 38
};
static const int32_t SCHEDULE_MODIFIERS = 3 << 29;

OMP_TLS unsigned pushed; /* num_threads of the region that comes next */

int32_t __kmpc_global_thread_num(kmp_location *location);
OMP_EXPORT void __kmpc_fork_call(kmp_location *location, int32_t count, microtask *task, ...);
OMP_EXPORT void __kmpc_push_num_threads(kmp_location *location, int32_t thread, int32_t threads);
void __kmpc_push_num_threads(kmp_location *location, int32_t thread, int32_t threads) {
	if (omp_is_asked())
		pushed = threads > 0 ? (unsigned)threads : 0;
	OMP_REAL(__kmpc_push_num_threads, location ? (void *)location : OMP_CALLER)(location, thread, threads);
}

#define A4(i)   a[i], a[i + 1], a[i + 2], a[i + 3]
#define A16(i)  A4(i), A4(i + 4), A4(i + 8), A4(i + 12)
#define A64(i)  A16(i), A16(i + 16), A16(i + 32), A16(i + 48)
#define A256(i) A64(i), A64(i + 64), A64(i + 128), A64(i + 192)

/* The callee reads `count` pointers and no more, so that handing over too many is harmless. */
#define CALL(function, count, ...)                                                                                     \
	((count) <= ARGUMENTS_FEW    ? (function)(__VA_ARGS__, A4(0), A4(4), A4(8))                                        \
	 : (count) <= ARGUMENTS_MANY ? (function)(__VA_ARGS__, A64(0))                                                     \
	                             : (function)(__VA_ARGS__, A256(0)))

static size_t room_for(int32_t count) {
	return count <= ARGUMENTS_FEW ? ARGUMENTS_FEW : count <= ARGUMENTS_MANY ? ARGUMENTS_MANY : ARGUMENTS_MOST;
}

static void arguments_read(void **a, int32_t count, va_list list) {
	memset(a, 0, room_for(count) * sizeof *a);
	for (int32_t i = 0; i < count; i++)
		a[i] = va_arg(list, void *);
}

struct wrapped {
	microtask *task;
	struct omp_visit *visit;
	int32_t count;
	void **a;
};

/* Each thread of the team runs this instead of the region's code. */
static void wrapped_run(int32_t *thread, int32_t *bound, ...) {
	va_list list;
	struct omp_inside inside;
	va_start(list, bound);
	const struct wrapped *wrapped = va_arg(list, const struct wrapped *);
	va_end(list);
	void **a = wrapped->a;
	omp_inside_begin(wrapped->visit, &inside);
	CALL(wrapped->task, wrapped->count, thread, bound);
	omp_inside_end(wrapped->visit, &inside);
}

static void nothing(int32_t *thread, int32_t *bound, ...) {
	(void)thread;
	(void)bound;
}

static void empty_region(void *function, unsigned threads) {
	static kmp_location here = {.flags = 2, .source = ";unknown;unknown;0;0;;"};
	OMP_REAL(__kmpc_push_num_threads, function)
	(&here, OMP_REAL(__kmpc_global_thread_num, function)(&here), (int32_t)threads);
	OMP_REAL(__kmpc_fork_call, function)(&here, 0, nothing);
}

static void fork_watched(kmp_location *location, int32_t count, microtask *task, ...) {
	struct omp_visit visit, *outside = omp_inside_leave();
	const struct omp_begun begun = {.function = OMP_CODE(task),
	                                .place = location ? location->source : NULL,
	                                .sharing = OMP_PARALLEL,
	                                .runtime = OMP_RUNTIME_KMP,
	                                .asked = pushed,
	                                .empty = empty_region};
	void **a = __builtin_alloca(room_for(count) * sizeof *a);
	va_list list;
	va_start(list, task);
	arguments_read(a, count, list);
	va_end(list);
	pushed = 0;
	visit.inputs = (struct omp_inputs){.words = a, .count = (uint32_t)count};
	omp_region_begin(&visit, &begun);
	if (visit.threads) /* of our choice, or of the program's, which an empty region may have used up */
		OMP_REAL(__kmpc_push_num_threads, begun.function)
	(location, OMP_REAL(__kmpc_global_thread_num, begun.function)(location), (int32_t)visit.threads);
	__typeof__(__kmpc_fork_call) *real = OMP_REAL(__kmpc_fork_call, begun.function);
	struct wrapped wrapped = {task, &visit, count, a};
	if (omp_visit_is_inside(&visit))
		real(location, 1, wrapped_run, &wrapped);
	else
		CALL(real, count, location, count, task);
	omp_region_end(&visit);
	omp_inside_back(outside);
}

/* Runs the region in this thread, because no runtime was found. */
static void fork_alone(kmp_location *location, int32_t count, microtask *task, ...) {
	void *a[ARGUMENTS_MOST];
	int32_t zero = 0, thread = 0;
	va_list list;
	(void)location;
	va_start(list, task);
	arguments_read(a, count < ARGUMENTS_MOST ? count : ARGUMENTS_MOST, list);
	va_end(list);
	CALL(task, count, &thread, &zero);
}

/* A call of __kmpc_fork_call jumps there, with all its arguments as they are. */
__attribute__((used)) static omp_function *fork_choose(microtask *task, int32_t count) {
	__typeof__(__kmpc_fork_call) *real = OMP_REAL(__kmpc_fork_call, OMP_CODE(task));
	if (!real)
		return (omp_function *)fork_alone;
	if (omp_is_asked() && count <= ARGUMENTS_MOST)
		return (omp_function *)fork_watched;
	pushed = 0;
	return (omp_function *)real;
}

/* Nobody can pass on arguments of a number that is only known at run time, in C. */
#if defined __x86_64__
__asm__(".text\n"
        ".globl __kmpc_fork_call\n"
        ".type __kmpc_fork_call, @function\n"
        "__kmpc_fork_call:\n"
        "	.cfi_startproc\n"
        "	endbr64\n"
        "	push %rax\n	push %rdi\n	push %rsi\n	push %rdx\n	push %rcx\n	push %r8\n	push %r9\n"
        "	.cfi_adjust_cfa_offset 56\n"
        "	mov %rdx, %rdi\n"
        "	call fork_choose\n"
        "	mov %rax, %r11\n"
        "	pop %r9\n	pop %r8\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n	pop %rax\n"
        "	.cfi_adjust_cfa_offset -56\n"
        "	jmp *%r11\n"
        "	.cfi_endproc\n"
        ".size __kmpc_fork_call, . - __kmpc_fork_call\n");
#elif defined __aarch64__
__asm__(".text\n"
        ".globl __kmpc_fork_call\n"
        ".type __kmpc_fork_call, %function\n"
        "__kmpc_fork_call:\n"
        "	.cfi_startproc\n"
        "	hint #34\n" /* bti c */
        "	stp x29, x30, [sp, #-80]!\n"
        "	.cfi_adjust_cfa_offset 80\n"
        "	.cfi_rel_offset x30, 8\n"
        "	stp x0, x1, [sp, #16]\n	stp x2, x3, [sp, #32]\n	stp x4, x5, [sp, #48]\n	stp x6, x7, [sp, #64]\n"
        "	mov x0, x2\n"
        "	bl fork_choose\n"
        "	mov x16, x0\n"
        "	ldp x6, x7, [sp, #64]\n	ldp x4, x5, [sp, #48]\n	ldp x2, x3, [sp, #32]\n	ldp x0, x1, [sp, #16]\n"
        "	ldp x29, x30, [sp], #80\n"
        "	.cfi_adjust_cfa_offset -80\n"
        "	br x16\n"
        "	.cfi_endproc\n"
        ".size __kmpc_fork_call, . - __kmpc_fork_call\n");
#else
void __kmpc_fork_call(kmp_location *location, int32_t count, microtask *task, ...) {
	void **a = __builtin_alloca(room_for(count) * sizeof *a);
	va_list list;
	va_start(list, task);
	arguments_read(a, count < ARGUMENTS_MOST ? count : ARGUMENTS_MOST, list);
	va_end(list);
	CALL((__typeof__(__kmpc_fork_call) *)fork_choose(task, count), count, location, count, task);
}
#endif

/* Flang, and clang where a clause decides whether there is a team. The runtime calls its own function for this, past
 * any wrapper. Arguments come as one pointer, or not at all. */
OMP_EXPORT void __kmpc_fork_call_if(kmp_location *location, int32_t count, microtask *task, int32_t condition,
                                    void *arguments);
void __kmpc_fork_call_if(kmp_location *location, int32_t count, microtask *task, int32_t condition, void *arguments) {
	__typeof__(__kmpc_fork_call_if) *real = OMP_REAL(__kmpc_fork_call_if, OMP_CODE(task));
	if (real && (!condition || !omp_is_asked()))
		real(location, count, task, condition, arguments);
	else if (arguments)
		__kmpc_fork_call(location, count, task, arguments);
	else
		__kmpc_fork_call(location, count, task);
}

/* kmp.h's enum sched_type: a loop that the runtime hands out is asked for as one of these, without the loops that are
 * ordered. Every thread of the team must ask for the same. */
static int32_t schedule_of(struct omp_setting setting, int32_t schedule, int64_t *chunk) {
	static const int32_t kinds[] = {[OMP_KIND_STATIC] = SCHEDULE_STATIC,
	                                [OMP_KIND_DYNAMIC] = SCHEDULE_DYNAMIC,
	                                [OMP_KIND_GUIDED] = SCHEDULE_GUIDED,
	                                [OMP_KIND_AUTO] = SCHEDULE_AUTO};
	int32_t base = schedule & ~SCHEDULE_MODIFIERS;
	if (base != SCHEDULE_DYNAMIC && base != SCHEDULE_GUIDED)
		return schedule;
	if (setting.chunk || setting.kind)
		*chunk = setting.chunk ? (int64_t)setting.chunk : 1;
	if (!setting.kind || setting.kind > OMP_KIND_AUTO)
		return schedule;
	if (setting.kind == OMP_KIND_STATIC && setting.chunk)
		return SCHEDULE_STATIC_CHUNKED;
	bool handed_out = setting.kind == OMP_KIND_DYNAMIC || setting.kind == OMP_KIND_GUIDED;
	return kinds[setting.kind] | (handed_out ? schedule & SCHEDULE_MODIFIERS : 0);
}

static void share(int32_t schedule) {
	int32_t base = schedule & ~SCHEDULE_MODIFIERS;
	if (base == SCHEDULE_RUNTIME)
		omp_region_shares(OMP_LOOP_RUNTIME);
	else if (base == SCHEDULE_DYNAMIC || base == SCHEDULE_GUIDED)
		omp_region_shares(base == SCHEDULE_DYNAMIC ? OMP_LOOP_DYNAMIC : OMP_LOOP_GUIDED);
}

#define DISPATCH(NAME, TYPE, STEP)                                                                                     \
	OMP_EXPORT void NAME(kmp_location *location, int32_t thread, int32_t schedule, TYPE low, TYPE high, STEP step,     \
	                     STEP chunk);                                                                                  \
	void NAME(kmp_location *location, int32_t thread, int32_t schedule, TYPE low, TYPE high, STEP step, STEP chunk) {  \
		__typeof__(NAME) *real = OMP_REAL(NAME, location ? (void *)location : OMP_CALLER);                             \
		if (omp_is_asked()) {                                                                                          \
			int64_t pieces = chunk;                                                                                    \
			share(schedule);                                                                                           \
			schedule = schedule_of(omp_inside_setting(), schedule, &pieces);                                           \
			chunk = (STEP)pieces;                                                                                      \
		}                                                                                                              \
		real(location, thread, schedule, low, high, step, chunk);                                                      \
	}
DISPATCH(__kmpc_dispatch_init_4, int32_t, int32_t)
DISPATCH(__kmpc_dispatch_init_4u, uint32_t, int32_t)
DISPATCH(__kmpc_dispatch_init_8, int64_t, int64_t)
DISPATCH(__kmpc_dispatch_init_8u, uint64_t, int64_t)
