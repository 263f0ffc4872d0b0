/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Teams and schedules for the regions of one program: found inside a few runs, proven by whole runs. */
#ifndef TUNER_REGIONS_REGIONS_H
#define TUNER_REGIONS_REGIONS_H
#include "lib/omp/format.h"
#include "tuner/program/program.h"

/* The record of one run: what lib/omp wrote, checked, and with names. */
struct regions_module {
	const char *path, *build_id; /* absolute path of the program or library; "-": it has no build ID */
};

struct regions_region {
	const char *module, *build_id;
	uint32_t module_number; /* in the record's list */
	uint64_t offset;
	uint64_t code_size;             /* of the function, 0 if the symbol table does not have it */
	uint64_t code_bytes, code_hash; /* of its code, by the unwind table; 0: unknown */
	char name[192];                 /* function, or "app+0x1a2b"; "smooth [<= 32]" for calls of a size */
	char place[320];                /* "file.c:12"; empty where there is no debug information */
	char symbol[512];
	struct omp_region facts;
};

/* Another process of the same run: a rank, or a program that a script started. */
struct regions_peer {
	const struct omp_record *raw;
	size_t *region; /* index in the record of each of its regions */
	size_t call_count;
};

struct regions_record {
	const struct omp_record *raw;   /* of the process that spent most time in regions; every index in it is valid */
	struct regions_region *regions; /* those of raw come first, in its order */
	size_t count;                   /* of regions */
	size_t call_count;              /* that were kept, of raw */
	struct regions_module *modules;
	size_t module_count;
	struct regions_peer *peers;
	size_t peer_count;
	size_t processes; /* that left a record */
};

/* The records in a folder, each PREFIX.HOST.PID. Facts of a region are those of the process that spent most time in it.
 * NULL with ERR_NOTHING where no process entered a region. */
struct regions_record *regions_record_read(const char *folder, struct err *err);
/* Share of their time that runnable threads waited for a processor; NAN where that is unknown, or the program's own
 * doing because it has more threads than processors. */
double regions_record_waiting(const struct regions_record *record);
/* A good part of its time in regions has more threads than processors: by default, by num_threads or by nested teams.
 */
bool regions_record_is_crowded(const struct regions_record *record);
/* A process asked how many threads or processors there are, perhaps to divide its work by that. */
bool regions_record_asks(const struct regions_record *record);
void regions_record_free(struct regions_record *record);
/* The number of the same region in another run; SIZE_MAX: it was not entered. */
size_t regions_record_find(const struct regions_record *record, const char *module, uint64_t offset,
                           uint32_t size_class);

struct regions_options {
	struct program_spec program; /* without parameters */
	struct worker *worker;
	const char *library; /* path of libsweetspot-omp.so */
	const char *mpi;     /* path of libsweetspot-mpi.so, for regions_profile; NULL: not wanted */
	const char
		*kokkos; /* path of libsweetspot-kokkos.so, for regions_profile; NULL: the program is not one of Kokkos */
	const char *kokkos_variable; /* that tells Kokkos to load it */
	const char *table;           /* the file that the settings found are written to */
	double budget_s;             /* 0: eight times the program's own time */
	double timeout_s;            /* of one run */
	uint64_t seed;
	const char *const *counters; /* NULL-terminated words for the profile, or NULL */
	bool slow;                   /* one of them needs a simulator */
	bool force;                  /* num_threads clauses are overruled, too */
	const volatile int *interrupt;
	/* May be NULL. done and all count runs of the program; all is an estimate. */
	void (*progress)(void *ctx, const char *phase, int done, int all);
	void *progress_ctx;
};

/* One run with nothing changed: {"time", "runtime", "default_threads", "processes", "regions": [{"name", "place",
 * "calls", "time", "share", "threads", "imbalance", "sharing", "fixed"}], "ranks": [{"rank", "mpi", "share",
 * "calls"}]}, by time. Kernels and regions of Kokkos have a "kind" instead of the last three. New reference. */
json_t *regions_profile(const struct regions_options *options, struct err *err);

/* A result as `tune --json` prints it, with "runs" and "regions". The table has the settings where they are proven, and
 * otherwise the same regions without any change. New reference. */
json_t *regions_tune(const struct regions_options *options, struct err *err);

/* LD_PRELOAD with the library in front of what the environment has. Caller frees. */
char *regions_preload(const char *library);

/* Settings of a program that was built again: those of regions that are still the same are used. */
struct regions_rebuilt {
	char *table;       /* the text of a table for the program as it is now; NULL: the kept one holds */
	char *build_id;    /* of the first file that was built again; NULL with table */
	size_t used, lost; /* regions with a setting */
	char *names;       /* "wide (app.c:12), ..": those that were lost; at most a few */
};

/* settings: a document as `tune --regions` keeps it. always: make a table even if the program is as it was. A region is
 * the same if the file has one function of its code (without the addresses in it, which change with everything around
 * it), or of its symbol and its size. ERR_NOTHING where no region is left. */
int regions_rebuilt_find(const json_t *settings, bool always, struct regions_rebuilt *rebuilt, struct err *err);
void regions_rebuilt_clear(struct regions_rebuilt *rebuilt);

/* Functions of a program's file: their names, sizes and places, and whether a rebuilt one still has them. Nothing in
 * the file is trusted. */
struct symbols;
void symbols_free(struct symbols *symbols);

/* The function that holds the byte at `offset` from the first loaded one. */
bool symbols_at(const struct symbols *symbols, uint64_t offset, const char **name, uint64_t *size);
/* Functions of that name: how many, and how many of them have that size, with the offset of the last of these. */
int symbols_named(const struct symbols *symbols, const char *name, uint64_t size, int *same, uint64_t *offset);

/* Size and hash of the code of the function that begins there, also in a stripped file. */
bool symbols_code(const struct symbols *symbols, uint64_t offset, uint64_t *size, uint64_t *hash);
/* Functions with such code: how many, with the offset of the last. */
int symbols_coded(const struct symbols *symbols, uint64_t size, uint64_t hash, uint64_t *offset);

/* Binding and wait policy, which a runtime reads once: they hold for the whole program. */
enum { REGIONS_ENVIRONMENTS = 4 };

/* Variables that may be set; NULL-terminated. */
extern const char *const regions_environment_names[];

/* {"OMP_PROC_BIND": "close", ..} of a number below REGIONS_ENVIRONMENTS. New reference. NULL where the user's own
 * environment already decides it, or where it cannot help: processes that start together would bind their threads to
 * the same processors, and more threads than processors must not spin. */
json_t *regions_environment_make(size_t number, size_t processes, bool is_crowded);

/* Seconds of one run with it. 1: it failed; -1: the search must end. */
typedef int regions_environment_run(void *ctx, const json_t *environment, double *seconds, struct err *err);

struct regions_environment_task {
	regions_environment_run *run;
	bool (*has_room)(void *ctx, int runs, double seconds); /* for this many more runs of this many seconds each */
	void *ctx;
	size_t processes;
	bool is_crowded;
	double guess_s; /* of a run */
};

/* Tries each once beside a run without, and the fastest once more in the same way. A new reference to one that was
 * clearly faster both times; an empty object if there is none. NULL: err says why the search ended. */
json_t *regions_environment_find(const struct regions_environment_task *task, struct err *err);
#endif
