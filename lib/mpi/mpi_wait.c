/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a rank is inside calls of MPI that may wait for others. Arguments are integers and pointers only, so that a
 * wrapper hands them on without their types. What it records: $SWEETSPOT_MPI_RECORD.PID with a line "rank N", then
 * "NAME CALLS NANOSECONDS" for each function. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Name in C and in Fortran, number of arguments in C; Fortran adds the error. */
#define FUNCTIONS(X)                                                                                                   \
	X(Barrier, barrier, 1)                                                                                             \
	X(Bcast, bcast, 5)                                                                                                 \
	X(Reduce, reduce, 7)                                                                                               \
	X(Allreduce, allreduce, 6)                                                                                         \
	X(Gather, gather, 8)                                                                                               \
	X(Gatherv, gatherv, 9)                                                                                             \
	X(Scatter, scatter, 8)                                                                                             \
	X(Scatterv, scatterv, 9)                                                                                           \
	X(Allgather, allgather, 7)                                                                                         \
	X(Allgatherv, allgatherv, 8)                                                                                       \
	X(Alltoall, alltoall, 7)                                                                                           \
	X(Alltoallv, alltoallv, 9)                                                                                         \
	X(Scan, scan, 6)                                                                                                   \
	X(Reduce_scatter, reduce_scatter, 6)                                                                               \
	X(Send, send, 6)                                                                                                   \
	X(Ssend, ssend, 6)                                                                                                 \
	X(Recv, recv, 7)                                                                                                   \
	X(Sendrecv, sendrecv, 12)                                                                                          \
	X(Sendrecv_replace, sendrecv_replace, 9)                                                                           \
	X(Probe, probe, 4)                                                                                                 \
	X(Wait, wait, 2)                                                                                                   \
	X(Waitall, waitall, 3)                                                                                             \
	X(Waitany, waitany, 4)                                                                                             \
	X(Waitsome, waitsome, 5)                                                                                           \
	X(Win_fence, win_fence, 2)                                                                                         \
	X(Finalize, finalize, 0)

#define NUMBER(NAME, FORTRAN, ARGS) IS_##NAME,
enum { FUNCTIONS(NUMBER) COUNT };
#define TEXT(NAME, FORTRAN, ARGS) "MPI_" #NAME,
static const char *const names[] = {FUNCTIONS(TEXT)};

enum { MPI_ERROR_OTHER = 15 }; /* MPI_ERR_OTHER of Open MPI and MPICH */
typedef uintptr_t word;
static struct tally { uint64_t calls, ns; } tallies[COUNT];
static int depth; /* a Fortran call of a binding that calls the C one counts once */
static char record[4096];

static uint64_t now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A library of MPI that a plug-in opened privately is in no scope of ours. */
static int library_look(struct dl_phdr_info *info, size_t size, void *ctx) {
	const char **found = ctx;
	(void)size;
	if (info->dlpi_name && strstr(info->dlpi_name, "/libmpi") && !*found)
		*found = info->dlpi_name;
	return 0;
}

static void *real_find(const char *name) {
	void *real = dlsym(RTLD_NEXT, name);
	const char *path = NULL;
	if (real)
		return real;
	dl_iterate_phdr(library_look, &path);
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	return library ? dlsym(library, name) : NULL;
}

static void *real_get(void **kept, const char *name) {
	void *real = __atomic_load_n(kept, __ATOMIC_RELAXED);
	if (!real) {
		int error = errno;
		real = real_find(name);
		__atomic_store_n(kept, real, __ATOMIC_RELAXED);
		errno = error;
	}
	return real;
}

static uint64_t begin(void) {
	return __atomic_fetch_add(&depth, 1, __ATOMIC_RELAXED) == 0 ? now() : 0;
}

static void end(int function, uint64_t begun) {
	__atomic_fetch_sub(&depth, 1, __ATOMIC_RELAXED);
	if (!begun)
		return;
	__atomic_fetch_add(&tallies[function].calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tallies[function].ns, now() - begun, __ATOMIC_RELAXED);
}

#define P0  void
#define P1  word a
#define P2  P1, word b
#define P3  P2, word c
#define P4  P3, word d
#define P5  P4, word e
#define P6  P5, word f
#define P7  P6, word g
#define P8  P7, word h
#define P9  P8, word i
#define P10 P9, word j
#define P11 P10, word k
#define P12 P11, word l
#define P13 P12, word m
#define A0
#define A1          a
#define A2          A1, b
#define A3          A2, c
#define A4          A3, d
#define A5          A4, e
#define A6          A5, f
#define A7          A6, g
#define A8          A7, h
#define A9          A8, i
#define A10         A9, j
#define A11         A10, k
#define A12         A11, l
#define A13         A12, m
#define NEXT_0      1
#define NEXT_1      2
#define NEXT_2      3
#define NEXT_3      4
#define NEXT_4      5
#define NEXT_5      6
#define NEXT_6      7
#define NEXT_7      8
#define NEXT_8      9
#define NEXT_9      10
#define NEXT_12     13
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

#define WRAP(SYMBOL, REAL, NUMBER, ARGS)                                                                               \
	__attribute__((visibility("default"))) int SYMBOL(JOIN(P, ARGS));                                                  \
	int SYMBOL(JOIN(P, ARGS)) {                                                                                        \
		static void *kept;                                                                                             \
		int (*real)(JOIN(P, ARGS)) = (int (*)(JOIN(P, ARGS)))real_get(&kept, REAL);                                    \
		if (!real)                                                                                                     \
			return MPI_ERROR_OTHER;                                                                                    \
		uint64_t begun = begin();                                                                                      \
		int result = real(JOIN(A, ARGS));                                                                              \
		end(NUMBER, begun);                                                                                            \
		return result;                                                                                                 \
	}
#define BOTH(NAME, FORTRAN, ARGS)                                                                                      \
	WRAP(MPI_##NAME, "PMPI_" #NAME, IS_##NAME, ARGS)                                                                   \
	WRAP(mpi_##FORTRAN##_, "pmpi_" #FORTRAN "_", IS_##NAME, JOIN(NEXT_, ARGS))
FUNCTIONS(BOTH)

static const char *rank(void) {
	static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
	                                        "MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "FLUX_TASK_RANK"};
	const char *found = NULL;
	for (size_t n = 0; n < sizeof variables / sizeof *variables && !found; n++)
		found = getenv(variables[n]);
	return found ? found : "0";
}

/* The program may clean its environment. */
__attribute__((constructor)) static void start(void) {
	const char *prefix = getenv("SWEETSPOT_MPI_RECORD");
	if (prefix && strlen(prefix) + 32 < sizeof record)
		snprintf(record, sizeof record, "%s.%s", prefix, rank());
}

__attribute__((destructor)) static void finish(void) {
	char text[COUNT * 80 + 80];
	int used = snprintf(text, sizeof text, "rank %.20s\n", *record ? strrchr(record, '.') + 1 : "");
	bool any = false;
	for (int n = 0; n < COUNT; n++) {
		if (!tallies[n].calls)
			continue;
		any = true;
		used += snprintf(text + used, sizeof text - (size_t)used, "%s %llu %llu\n", names[n],
		                 (unsigned long long)tallies[n].calls, (unsigned long long)tallies[n].ns);
	}
	int file = any && *record ? open(record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	if (file >= 0 && write(file, text, (size_t)used) < 0)
		unlink(record);
	if (file >= 0)
		close(file);
}
