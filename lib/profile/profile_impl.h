/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to this folder. */
#ifndef LIB_PROFILE_PROFILE_IMPL_H
#define LIB_PROFILE_PROFILE_IMPL_H
#include <stdint.h>

#include "lib/profile/lookup.h"

/* Inside libsweetspot: a profile as programs look things up in it. Reading turns JSON into plain arrays in one
 * arena, so that looking up does not allocate and does not lock. */

/* Inside libsweetspot: memory that is freed all at once. */
struct ssp_arena;

struct ssp_arena *ssp_arena_new(void);
void ssp_arena_free(struct ssp_arena *arena);
/* Zeroed; NULL without memory. */
void *ssp_arena_alloc(struct ssp_arena *arena, size_t count, size_t size);
char *ssp_arena_text(struct ssp_arena *arena, const char *text);

enum {
	SSP_FILE_MAX = 16 << 20,
	SSP_FOLDER_MAX = 1 << 16, /* files of a folder that are read at most */
	SSP_ENTRIES_MAX = 16 << 10,
	SSP_SETTINGS_MAX = 256,
	SSP_PROBLEM_MAX = 64,
	SSP_RANGES_MAX = 64,
	SSP_PIECES_MAX = 32
};

enum ssp_type { SSP_INTEGER, SSP_REAL, SSP_WORD, SSP_BOOLEAN };

struct ssp_setting {
	const char *name;
	const char *word; /* also for booleans */
	double number, log;
	long long integer;
	enum ssp_type type;
};

struct ssp_settings {
	struct ssp_setting *items;
	size_t count;
};

struct sweetspot_config {
	struct ssp_settings settings, environment;
	bool stale, foreign;
};

/* A tuned problem. */
struct ssp_entry {
	struct ssp_entry *next; /* with the same kernel and objective */
	const char *kernel, *objective, *unit;
	struct ssp_settings problem;
	double median, speedup;
	enum ssp_use use;
	struct sweetspot_config config;
};

struct ssp_range {
	double from, to;
	struct sweetspot_config config;
};

/* cost = overhead + factor size^exponent */
struct ssp_piece {
	double from, to, overhead, factor, exponent;
};

/* A kernel tuned at several sizes. */
struct ssp_sizes {
	struct ssp_sizes *next; /* with the same kernel and objective */
	const char *kernel, *objective, *unit, *over;
	struct ssp_settings problem; /* the other members of the problem */
	struct ssp_range *ranges;    /* ascending */
	size_t range_count;
	struct ssp_piece *pieces; /* empty: no law */
	size_t piece_count;
};

/* A kernel with one objective. */
struct ssp_kernel {
	struct ssp_kernel *chain; /* with the same slot in the table */
	const char *name, *objective;
	uint32_t hash;
	bool again; /* an earlier entry has this kernel's name */
	struct ssp_entry *entries;
	struct ssp_sizes *sizes;
};

/* The machine of a profile; 0 and NULL: unknown. */
struct ssp_machine {
	const char *cpu, *gpu;
	uint64_t threads, cores, packages, numa_nodes, l1d, l2, l3;
	bool synthetic;
};

struct sweetspot_profile {
	struct ssp_arena *arena;
	const char *path, *fingerprint, *created, *generator, *compiler, *cflags, *foreign;
	struct ssp_machine machine;
	struct ssp_kernel *kernels, **table;
	size_t kernel_count, slots; /* slots: a power of two */
	struct ssp_entry *entries;
	struct ssp_sizes *sizes;
	size_t entry_count, sizes_count;
};

struct ssp_message {
	char *text;
	size_t size;
};
__attribute__((format(printf, 2, 3))) void ssp_message_set(const struct ssp_message *message, const char *format, ...);

/* Parses the bytes of a file; NULL and the reason. The machine is not compared. */
struct sweetspot_profile *ssp_parse(const char *text, size_t size, const struct ssp_message *message);
/* Marks every configuration as foreign. */
void ssp_foreign_set(struct sweetspot_profile *profile, const char *reason);
int ssp_index(struct sweetspot_profile *profile);
const struct ssp_setting *ssp_setting_find(const struct ssp_settings *settings, const char *name);

/* Inside libsweetspot: checked reading of JSON. Each function returns -1 if memory is missing or the type is wrong. */

/* Inside libsweetspot: identifies this machine from the kernel's files, and compares it with a profile's. */

/* Reads below `root` ("": this machine). Unknown members stay 0 or NULL; gpu: the models, one a line. */
void ssp_machine_read(const char *root, struct ssp_arena *arena, struct ssp_machine *machine);
/* The difference, in the arena, or NULL. A fact that only one of them has is not a difference, but something must
 * agree. */
const char *ssp_machine_differs(const struct ssp_machine *there, const struct ssp_machine *here,
                                struct ssp_arena *arena);

/* "machine-0123456789ab.json"; gpu: the model, or nothing. */
enum { SSP_LINK_SIZE = 32 };
void ssp_machine_link(const struct ssp_machine *machine, const char *gpu, size_t gpu_size, char name[SSP_LINK_SIZE]);

/* Lines and lists of CPUs below a root. */
enum { SSP_CPUS_MAX = 8192 };
struct ssp_set {
	bool has[SSP_CPUS_MAX];
	size_t count;
};
__attribute__((format(printf, 4, 5))) bool ssp_line_read(const char *root, char *line, size_t size, const char *format,
                                                         ...);
/* "0-3,8"; numbers beyond the maximum are left out. False if the text is not a list. */
bool ssp_set_parse(const char *text, struct ssp_set *set);
#endif
