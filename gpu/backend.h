/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a gpu, and the functions that stand in for CUDA's driver on another kind of device. Only gpu/, its
 * backends, the counters that want CUPTI, and its tests include it. */
#ifndef GPU_BACKEND_H
#define GPU_BACKEND_H
#include "gpu/gpu_abi_impl.h"
#include "gpu/open.h"
#include "base/hash.h"

/* CUDA's libraries, opened when they are first needed. A call that a library does not export is NULL. */

struct library {
	void *handle; /* NULL: not open */
	char path[256];
};

struct driver_api;
struct driver {
	struct library library;
	const struct driver_api *api;
	int version;          /* 13000 */
	driver_result failed; /* of init */
#define DRIVER_POINTER(name, symbol, parameters) driver_result(*name) parameters;
	DRIVER_CALLS(DRIVER_POINTER)
#undef DRIVER_POINTER
	const char *(*word)(driver_result result); /* HIP's, instead of error_name */
};

struct nvrtc {
	struct library library;
	bool is_hip; /* hiprtc: the options are Clang's, and the code is for the GPU that is there */
	int major, minor;
#define NVRTC_POINTER(name, symbol, parameters) nvrtc_result(*name) parameters;
	NVRTC_CALLS(NVRTC_POINTER)
#undef NVRTC_POINTER
};

struct nvml {
	struct library library;
#define NVML_POINTER(name, symbol, parameters) nvml_result(*name) parameters;
	NVML_CALLS(NVML_POINTER)
#undef NVML_POINTER
};

enum { LIBRARY_WHY = 200 };
struct library_why {
	char reason[LIBRARY_WHY], fix[LIBRARY_WHY];
};

/* The libraries behind these tables: CUDA's, or HIP's, whose functions have the same shapes. */
struct library_symbol { /* what a library exports for a field of a table; NULL ends a list */
	const char *field, *name;
	size_t place;
};
struct driver_api {
	enum gpu_kind kind;
	const char *device, *list; /* "cuda"; the command that lists the devices */
	bool (*open)(struct driver *driver, struct library_why *why);
	bool (*compiler_open)(struct nvrtc *nvrtc, int driver_major, struct library_why *why);
	int (*attribute)(int which); /* its number of one of DRIVER_NUMBERS; -1: it has none */
	const struct library_symbol *symbols;
};
extern const struct driver_api driver_cuda;
/* Tries the names as they are, so that LD_LIBRARY_PATH decides, then beneath the roots, which may be NULL. `known`: a
 * function that tells where the library lies. */
bool library_open(struct library *library, const char *const *names, const char *known, const char *const *roots,
                  size_t root_count);
void library_close(struct library *library);
const char *library_symbol(const struct library_symbol *symbols, const char *field);
__attribute__((format(printf, 3, 4))) bool library_because(struct library_why *why, const char *fix, const char *format,
                                                           ...);

/* CUPTI's */
bool cupti_open(struct library *library);

/* False with the reason in why. An opened library stays in the process; *_close forgets it. */
/* Returns the major version of CUDA that the driver supports, without the slow cuInit; 0: there is no driver. */
int driver_major(void);
/* driver_major: 13 of 13.0; code of a compiler newer than the driver may not load. 0: no matter. */
bool nvrtc_open(struct nvrtc *nvrtc, int driver_major, struct library_why *why);
/* For these, once the library is open: reads its functions and asks for the version. words: why the driver does not
 * start. */
bool driver_start(struct driver *driver, const struct driver_api *api, char *words, size_t size);
bool nvrtc_start(struct nvrtc *nvrtc, const struct library_symbol *symbols, const char *fix, struct library_why *why);
void driver_close(struct driver *driver);
void nvrtc_close(struct nvrtc *nvrtc);
void nvml_close(struct nvml *nvml);
/* "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)" */
void driver_words(const struct driver *driver, const char *call, driver_result result, char *text, size_t size);

/* Compiles source for one architecture, through a cache on disk. It does not need a GPU. */

enum {
	COMPILED_NAME = sizeof(((struct gpu_compiled *)0)->name),
	COMPILE_OPTIONS_MAX = 96,
	OPTIONS_OWN = 5 /* room for those that we add */
};

struct compiler {
	struct nvrtc nvrtc;
	double seconds;
	size_t compiled, from_disk, stored;
	char *folder; /* of the cache; NULL: none */
	bool tried;   /* the folder was looked for */
	char *nvcc;   /* its path; NULL: none */
	bool nvcc_tried, nvcc_worked;
	int nvcc_failed;
};

struct source {
	const char *name, *text;
	const char *const *options; /* more of them, NULL-terminated or NULL */
	const struct gpu_defines *defines;
	int arch;           /* 75, 80, 90: the device's */
	const char *device; /* HIP's, for whose architecture hiprtc compiles without being told; else NULL */
	bool users;         /* not one of ours: its compiler finds the files that it includes */
	enum compiled_by {
		BY_EITHER, /* NVRTC, or nvcc if that can't */
		BY_NVRTC,
		BY_NVCC
	} by;
	const char *seen; /* includes_digest of it, or NULL */
	bool unseen;      /* it includes files that the key does not cover, so it is not kept on disk */
};

struct code {
	char *image; /* a cubin, or PTX for a device that is newer than the compiler */
	size_t size;
	struct gpu_compiled *functions;
	size_t count;
};

/* failure is GPU_COMPILE (err: the compiler's first error), or GPU_REFUSED (no such architecture, too many options). */
bool compile_source(struct compiler *compiler, const struct source *source, bool fresh, struct code *code,
                    enum gpu_failure *failure, struct err *err);
void code_free(struct code *code);

/* The folders of CUDA's toolkits, the preferred first; NULL or relative ones are not set. */
enum { CUDA_ROOTS_NAMED = 2 /* by the user */, CUDA_ROOTS = 5 };
const char *cuda_root(size_t i);
/* Lists the options in a fixed order: -DNAME=VALUE alphabetically. -1 if there are too many. */
struct options {
	const char *words[COMPILE_OPTIONS_MAX];
	char defines[GPU_DEFINES_MAX][GPU_DEFINE + 2], arch[48];
	int count;
};
/* arch: "sm_90", .., or NULL for hiprtc. */
int options_make(struct options *options, const struct source *source, const char *arch);

/* Reads one of our .cu files or their headers; free(3) it. */
char *source_read(const char *name, struct err *err);

/* Sweetspot.cuh, and the files that our own sources include by "NAME", from the folder of that source. */
enum { HEADERS_MAX = 8 };
struct headers {
	int count;
	char *names[HEADERS_MAX], *texts[HEADERS_MAX];
};
bool headers_read(const struct source *source, struct headers *headers, struct err *err);
void headers_free(struct headers *headers);
struct include {
	bool quoted;      /* not in angle brackets: a file, or a macro */
	const char *name; /* inside the text; NULL for a macro */
	size_t length;
};
/* Finds the next #include line and moves *text behind it; false at the end. */
bool include_next(const char **text, struct include *include);

/* "" if a user's source includes no files. False if they cannot be known: the name of one is a macro, they
 * are too many, or one cannot be read. options: those with -I are used; ends with NULL, or is NULL. */
bool includes_digest(const char *text, const char *const *options, char digest[SHA256_TEXT]);

/* Reads functions and their facts from the log of --ptxas-options=-v; an array to free(3). */
struct gpu_compiled *ptxas_read(const char *log, size_t *count);

enum { CACHE_KEY = 7 + 64 + 1 };
#define CACHE_BYTES ((uint64_t)256 << 20)
char *cache_folder(void); /* makes a private folder; NULL: none. free(3) it */
bool cache_load(const char *folder, const char *key, struct code *code);
void cache_store(const char *folder, const char *key, const struct code *code);
void cache_remove(const char *folder, const char *key);
void cache_trim(const char *folder, uint64_t bytes); /* the oldest go until the rest is smaller */

struct gpu_stream {
	driver_stream handle;
	struct gpu_stream *next;
};

struct gpu_mark {
	driver_event handle;
	struct gpu *gpu;
	struct gpu_mark *next;
};

struct gpu_function {
	driver_function handle;
	char name[COMPILED_NAME];
	struct gpu_function_facts facts;
	int dynamic_allowed; /* bytes of dynamic shared memory that were opted in for */
	struct opencl_kernel_st *kernel;
	int parameters; /* of an OpenCL kernel; -1: not known */
	struct gpu_passed *passed;
	size_t passed_count;
	struct gpu_function *next;
};

struct gpu_module {
	char *id; /* source and options */
	driver_module handle;
	struct opencl_program_st *program;
	struct gpu_function *functions;
	struct gpu_compiled *compiled; /* the compiler's facts */
	size_t compiled_count;
	char *image; /* of code with lines of its source; NULL: it is not kept */
	size_t image_size;
	struct gpu_module *next;
};

enum { LAUNCHES_MAX = 256 };
struct launch_entry {
	const struct gpu_function *function;
	struct gpu_shape shape;
	int64_t launches;
};
struct launch_log {
	struct launch_entry entries[LAUNCHES_MAX];
	size_t count, last;
};

struct gpu_graph {
	driver_graph handle;
	driver_graph_exec exec;
	int64_t launches[LAUNCHES_MAX]; /* of each entry of the log, by one launch of this graph */
};

/* Released memory is kept for the next request of its size, because allocating is slow. */
struct block {
	uint64_t memory; /* or (uintptr_t) of pinned host memory */
	size_t size;
	bool pinned, used;
};
struct pool {
	struct block *blocks;
	size_t count, room;
};

enum { GPU_PEERS_MAX = 64 };

/* Another way than CUDA to do what a source of the user needs (gpu/opencl). Each function is called only while the gpu
 * is fine, except for close; failures go to gpu_fail. */
struct opencl;
struct gpu_backend {
	uint64_t (*alloc)(struct opencl *device, size_t size);
	void (*free)(struct opencl *device, uint64_t memory);
	void (*upload)(struct opencl *device, uint64_t to, const void *from, size_t size);
	void (*download)(struct opencl *device, void *to, uint64_t from, size_t size);
	void (*copy)(struct opencl *device, uint64_t to, uint64_t from, size_t size);
	void (*fill)(struct opencl *device, uint64_t to, uint32_t value, size_t bytes_each, size_t count);
	bool (*sync)(struct opencl *device);
	void (*clock_start)(struct opencl *device);
	double (*clock_stop)(struct opencl *device);
	const struct gpu_module *(*module)(struct gpu *gpu, const char *name, const char *text, const char *const *options);
	struct gpu_function *(*function)(struct gpu *gpu, struct gpu_module *module, const char *name);
	void (*launch)(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape,
	               void *const *arguments);
	void (*close)(struct gpu *gpu);
};

struct gpu {
	struct gpu_facts facts;
	const struct gpu_backend *backend; /* NULL: CUDA, which is all that the rest of this layer knows */
	struct opencl *opencl;             /* the backend's */
	struct driver driver;
	struct compiler compiler;
	struct nvml nvml;
	bool nvml_tried;
	struct gpu_health health; /* as last read */
	double health_at;         /* when, on sys_now's clock; 0: never */
	nvml_device nvml_device;
	driver_device device;
	driver_context context;
	bool adopted; /* the context is the program's */
	struct gpu_stream own, *streams, *use;
	struct gpu_mark *marks, *clock_from, *clock_to;
	struct gpu_module *modules;
	struct pool pool;
	struct launch_log log;
	const struct gpu_watcher *watcher; /* NULL: none */
	int64_t *recording;                /* the log's counts when recording began; NULL: not recording */
	gpu_ptr flush;
	unsigned flushes;
	enum gpu_failure failure;
	char message[256];
	struct gpu *root, *peers[GPU_PEERS_MAX]; /* by index; only in the root. root: itself, or the gpu that opened it */
};

bool device_facts(const struct driver *driver, int index, struct gpu_facts *facts);
int device_count(const struct driver *driver);
struct gpu *device_open(const struct driver_api *api, int index, struct gpu *root, struct err *err);

/* The internals of this layer; only gpu/ and its tests include it. */

/* Returns true on success; otherwise keeps the failure. */
bool gpu_succeeded(struct gpu *gpu, const char *call, driver_result result);
bool gpu_lacks(struct gpu *gpu, const char *call);
enum gpu_failure gpu_failure_of(driver_result result);
#define GPU_CALL(gpu, name, ...)                                                                                       \
	((gpu)->driver.name ? gpu_succeeded((gpu), #name, (gpu)->driver.name(__VA_ARGS__)) : gpu_lacks((gpu), #name))
/* False after a failure. Makes the context current, because there may be several. */
bool gpu_enter(struct gpu *gpu);
/* The same for resources that are released even after a failure; false if the device is unusable. */
bool gpu_enter_to_free(struct gpu *gpu);

void pool_free(struct gpu *gpu);

struct occupancy {
	int blocks; /* that an SM holds */
	double occupancy;
	const char *limiter;
};
struct occupancy occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function,
                              unsigned threads, size_t dynamic_shared);

/* module.c: the user's source with the options that it needs; it refers to its own fields. */
enum { HEADERS_OPTION = 600 };
struct text_source {
	struct source source;
	const char *words[COMPILE_OPTIONS_MAX + 1];
	char headers[2][HEADERS_OPTION], seen[SHA256_TEXT];
};
#endif
