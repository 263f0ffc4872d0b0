/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/app.h"

#include <ctype.h>
#include <limits.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/stop.h"
#include "base/sys.h"
#include "src/app/app_impl.h"
#include "tuner/program/program.h"

enum { INDEX_MAX = 999, NAME_MAX_BYTES = 48 };

/* The option --device: where kernels run. */
struct device {
	char word[64];    /* "cpu", "cuda:0", "hip:0", "opencl:0", "opencl:pocl" */
	const char *kind; /* "cpu", "cuda", "hip" or "opencl", as in the tables of kernels */
};

static const struct device device_cpu = {.word = "cpu", .kind = "cpu"};

static const char HINT[] = "the device is cpu, cuda, cuda:N for the Nth GPU, hip, hip:N, opencl, opencl:N, or "
						   "opencl:NAME with a part of the name of a platform or device";

/* Reads what follows "cuda", "hip" or "opencl": nothing, or a colon and a number. */
static bool index_read(const char *text, long *index) {
	char *end;
	*index = 0;
	if (!*text)
		return true;
	if (text[0] != ':' || text[1] < '0' || text[1] > '9')
		return false;
	*index = strtol(text + 1, &end, 10);
	return !*end && *index <= INDEX_MAX;
}

/* The worker knows which devices there are, so a name is kept as it is. */
static bool is_name(const char *text) {
	static const char others[] = " ._()-@";
	size_t size = strlen(text);
	for (const char *at = text + 1; text[0] == ':' && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(others, *at))
			return false;
	return text[0] == ':' && size > 1 && size < NAME_MAX_BYTES && !isdigit((unsigned char)text[1]);
}

static int device_read(const char *word, struct device *device, struct err *err) {
	static const char *const kinds[] = {"cuda", "opencl", "hip"};
	*device = device_cpu;
	if (strcmp(word, "cpu") == 0)
		return 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t length = strlen(kinds[i]);
		long index;
		bool begins = strncmp(word, kinds[i], length) == 0, named = begins && i == 1 && is_name(word + length);
		if (!named && (!begins || !index_read(word + length, &index)))
			continue;
		if (named)
			snprintf(device->word, sizeof device->word, "%s", word);
		else
			snprintf(device->word, sizeof device->word, "%s:%ld", kinds[i], index);
		device->kind = kinds[i];
		return 0;
	}
	return err_set(err, ERR_USAGE, HINT, "unknown device \"%.60s\"", word);
}

struct app {
	struct ui *ui;
	const volatile int *interrupt, *abandon;
	char *command_line;
	struct topo *topo;
	struct worker *worker; /* owned by app unless on_node */
	bool on_node;
	struct kernel_list *kernels;
	struct plugins plugins;
	struct device device;
	json_t *machine, *gpu, *devices, *counters;
};

/* Quotes each word, so that a shell reads the line back as the same words. A program that runs this one for its own
 * user says in SWEETSPOT_COMMAND what that user has typed. */
static char *command_line(int argc, char *const *argv) {
	const char *typed = getenv("SWEETSPOT_COMMAND");
	if (typed && *typed)
		return mem_strdup(typed);
	char *line = mem_strdup("sweetspot");
	for (int i = 1; i < argc; i++) {
		mem_auto char *word = program_quote(argv[i]);
		mem_append(&line, " %s", word);
	}
	return line;
}

struct app *app_new(struct ui *ui, int argc, char *const *argv, const volatile int *interrupt,
                    const volatile int *abandon) {
	struct app *app = mem_alloc(1, sizeof *app);
	app->ui = ui;
	app->interrupt = interrupt;
	stop_watch(interrupt);
	app->abandon = abandon;
	app->device = device_cpu;
	app->command_line = command_line(argc, argv);
	return app;
}

void app_release(struct app *app) {
	if (!app->on_node)
		worker_free(app->worker);
	topo_close(app->topo);
	app->on_node = false;
	app->worker = NULL;
	app->topo = NULL;
}

/* Forgets what is known about the machine. */
static void facts_drop(struct app *app) {
	json_t **const facts[] = {&app->machine, &app->gpu, &app->devices, &app->counters};
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		json_decref(*facts[i]);
		*facts[i] = NULL;
	}
	kernel_list_free(app->kernels);
	app->kernels = NULL;
}

void app_free(struct app *app) {
	facts_drop(app);
	for (size_t i = 0; i < app->plugins.count; i++) {
		kernel_list_free(app->plugins.items[i].kernels);
		free(app->plugins.items[i].path);
	}
	free(app->plugins.items);
	app_release(app);
	free(app->command_line);
	free(app);
}

struct ui *app_ui(struct app *app) {
	return app->ui;
}

const volatile int *app_interrupt(const struct app *app) {
	return app->interrupt;
}

const volatile int *app_abandon(const struct app *app) {
	return app->abandon;
}

const char *app_command_line(const struct app *app) {
	return app->command_line;
}

int app_device_use(struct app *app, const char *word, struct err *err) {
	return device_read(word, &app->device, err);
}

int app_device_change(struct app *app, const char *word, struct err *err) {
	if (device_read(word, &app->device, err))
		return -1;
	json_decref(app->machine);
	json_decref(app->gpu);
	app->machine = app->gpu = NULL;
	return 0;
}

const char *app_device_kind(const struct app *app) {
	return app->device.kind;
}

const char *app_device(const struct app *app) {
	return strcmp(app->device.kind, device_cpu.kind) == 0 ? NULL : app->device.word;
}

struct topo *app_topo(struct app *app, struct err *err) {
	if (!app->topo)
		app->topo = topo_open(NULL, err);
	return app->topo;
}

/* Places in decreasing order of trust: the environment, the folders in which the worker was installed or built together
 * with this program, and the configured prefix. */
char *app_worker_path(struct err *err) {
	const char *said = getenv("SWEETSPOT_WORKER");
	char self[PATH_MAX];
	if (said && *said)
		return mem_strdup(said);
	static const char *const beside[] = {"/../libexec/sweetspot/sweetspot-worker", "/sweetspot-worker"};
	if (sys_self_path(self, sizeof self, NULL) == 0) {
		*strrchr(self, '/') = '\0';
		for (size_t i = 0; i < 2; i++) {
			char *path = mem_printf("%s%s", self, beside[i]);
			if (access(path, X_OK) == 0)
				return path;
			free(path);
		}
	}
	if (access(SS_LIBEXECDIR "/sweetspot-worker", X_OK) == 0)
		return mem_strdup(SS_LIBEXECDIR "/sweetspot-worker");
	return err_null(err_set(err, ERR_FAILED, "install the whole package, or name the worker in SWEETSPOT_WORKER",
	                        "sweetspot-worker was not found beside this program or in " SS_LIBEXECDIR));
}

char *app_library_path(const char *name, struct err *err) {
	static const char *const beside[] = {"", ".libs/"};
	char *worker = app_worker_path(err), *found = NULL;
	if (!worker)
		return NULL;
	char *real = realpath(worker, NULL), *folder = real ? real : worker, *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < 2 && !found; i++) {
		mem_auto char *path = mem_printf("%s/%s%s", slash ? folder : ".", beside[i], name);
		found = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
	}
	if (!found)
		err_set(err, ERR_UNAVAILABLE, "build with shared libraries (--enable-shared) and install the whole package",
		        "%s is not beside the worker in %s", name, slash ? folder : ".");
	free(real);
	free(worker);
	return found;
}

uint64_t app_address_space(void) {
#ifdef SS_SANITIZED
	return 0;
#else
	/* Thread stacks and allocator arenas reserve address space that they never touch. */
	const uint64_t slack = 8ull << 30;
	uint64_t memory = sys_memory_total();
	return memory ? memory + slack : 0;
#endif
}

struct worker *app_worker(struct app *app, struct err *err) {
	if (app->worker)
		return app->worker;
	mem_auto char *path = app_worker_path(err);
	if (!path)
		return NULL;
	const struct worker_options options = {
		.path = path, .address_space = app_address_space(), .interrupt = app->abandon, .asked = app->interrupt};
	app->worker = worker_new(&options);
	return app->worker;
}

const struct kernel_list *app_kernels(struct app *app, struct err *err) {
	if (app->kernels)
		return app->kernels;
	struct worker *worker = app_worker(app, err);
	js_auto json_t *description = worker ? worker_describe(worker, NULL, false, err) : NULL;
	if (!description)
		return NULL;
	app->kernels = kernel_list_new(description, NULL, err);
	return app->kernels;
}

struct plugins *app_plugins(struct app *app) {
	return &app->plugins;
}

static json_t *gpu_json(struct app *app, struct worker *worker, struct err *err) {
	js_auto json_t *answer = worker ? worker_devices(worker, app_device(app), false, err) : NULL;
	json_t *gpu = answer ? json_copy(json_object_get(answer, "device")) : NULL;
	js_each (part, json_object_get(answer, "parts"))
		if (gpu && !json_object_get(gpu, "platform") && strcmp(js_string_or(part, "name", ""), "NVRTC") == 0)
			json_object_set(gpu, "nvrtc", json_object_get(part, "version"));
	return gpu;
}

const json_t *app_gpu(struct app *app, struct err *err) {
	if (!app->gpu)
		app->gpu = app_device(app) ? gpu_json(app, app_worker(app, err), err) : json_object();
	return app->gpu;
}

int app_gpu_arch(struct app *app, struct err *err) {
	const json_t *gpu = app_gpu(app, err);
	int major = 0, minor = 0;
	if (!gpu)
		return -1;
	return sscanf(js_string_or(gpu, "compute_capability", ""), "%d.%d", &major, &minor) == 2 ? 10 * major + minor : 0;
}

const json_t *app_devices(struct app *app, struct err *err) {
	struct worker *worker = app->devices ? NULL : app_worker(app, err);
	if (worker)
		app->devices = worker_devices(worker, NULL, false, err);
	return app->devices;
}

int app_gpus(struct app *app, size_t *count, struct err *err) {
	struct worker *worker = app_worker(app, err);
	js_auto json_t *brief = worker ? worker_devices(worker, NULL, true, err) : NULL;
	*count = json_array_size(json_object_get(brief, "devices"));
	return brief ? 0 : -1;
}

const json_t *app_counters(struct app *app, struct err *err) {
	struct worker *worker = app->counters ? NULL : app_worker(app, err);
	if (worker)
		app->counters = worker_describe(worker, NULL, true, err);
	return app->counters;
}

/* Leaves out the number of the GPU, because results hold for every GPU of the same model, and the memory of an OpenCL
 * device, because a processor may offer what is free just now. */
static void gpu_add(json_t *machine, const json_t *gpu) {
	static const char *const kept[] = {"name",  "compute_capability", "sms",           "memory_bytes",
	                                   "nvrtc", "platform",           "driver_version"};
	json_t *copy = json_object_size(gpu) ? json_object() : NULL;
	for (size_t i = 0; copy && i < sizeof kept / sizeof *kept; i++)
		json_object_set(copy, kept[i], json_object_get(gpu, kept[i]));
	if (copy && strcmp(worker_device_kind(gpu), "opencl") == 0)
		json_object_del(copy, "memory_bytes");
	if (copy)
		json_object_set_new(machine, "gpu", copy);
}

static void fingerprint_make(const json_t *machine, char fingerprint[SHA256_TEXT]) {
	mem_auto char *text = js_canonical(machine);
	sha256_text(text, strlen(text), fingerprint);
}

/* Takes ownership of `base`, which is the object that topo_json returns. */
static json_t *machine_make(json_t *base, const struct kernel_list *kernels, const json_t *gpu) {
	static const char *const taken[] = {"compiler", "cflags", "openmp"};
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		json_t *value = json_object_get(kernel_list_description(kernels), taken[i]);
		json_object_set_new(base, taken[i], value ? json_incref(value) : json_null());
	}
	gpu_add(base, gpu);
	char fingerprint[SHA256_TEXT];
	fingerprint_make(base, fingerprint);
	json_object_set_new(base, "fingerprint", json_string(fingerprint));
	return base;
}

static json_t *node_base(struct worker *worker, struct err *err) {
	const json_t *answer = worker_machine(worker, err);
	return answer ? json_deep_copy(json_object_get(answer, "machine")) : NULL;
}

static json_t *machine_json(struct app *app, struct err *err) {
	struct topo *topo = app_topo(app, err);
	const struct kernel_list *kernels = topo ? app_kernels(app, err) : NULL;
	const json_t *gpu = kernels ? app_gpu(app, err) : NULL;
	json_t *base = !gpu ? NULL : app->on_node ? node_base(app->worker, err) : topo_json(topo);
	return base ? machine_make(base, kernels, gpu) : NULL;
}

json_t *app_machine_recorded(const char *path, struct err *err) {
	struct topo *topo = topo_open(path, err);
	json_t *machine = topo ? topo_json(topo) : NULL;
	topo_close(topo);
	return machine;
}

const json_t *app_machine(struct app *app, struct err *err) {
	if (!app->machine)
		app->machine = machine_json(app, err);
	return app->machine;
}

void app_machine_assume(struct app *app, const json_t *machine) {
	json_decref(app->machine);
	app->machine = json_deep_copy(machine);
	app->device = device_cpu;
	const json_t *gpu = json_object_get(machine, "gpu");
	if (json_is_object(gpu))
		device_read(worker_device_kind(gpu), &app->device, NULL);
}

const char *app_fingerprint(struct app *app, struct err *err) {
	const json_t *machine = app_machine(app, err);
	return machine ? json_string_value(json_object_get(machine, "fingerprint")) : NULL;
}

int app_fingerprint_host(struct app *app, char fingerprint[SHA256_TEXT], struct err *err) {
	const json_t *machine = app_machine(app, err);
	js_auto json_t *host = machine ? json_copy((json_t *)machine) : NULL;
	if (!host)
		return -1;
	json_object_del(host, "gpu");
	json_object_del(host, "fingerprint");
	fingerprint_make(host, fingerprint);
	return 0;
}

void app_node_leave(struct app *app) {
	app_release(app);
	facts_drop(app);
}

int app_node_use(struct app *app, struct worker *worker, struct err *err) {
	const json_t *answer = worker_machine(worker, err);
	struct topo *topo = answer ? topo_open_xml(js_string_or(answer, "topology", ""), err) : NULL;
	if (!topo)
		return -1;
	app_node_leave(app);
	app->worker = worker;
	app->on_node = true;
	app->topo = topo;
	if (app_machine(app, err))
		return 0;
	app_node_leave(app);
	return -1;
}

/* Uses this host's kernel list, because the executable, and with it compiler and flags, is the same on all nodes. */
int app_node_fingerprint(struct app *app, struct worker *worker, char fingerprint[SHA256_TEXT], struct err *err) {
	js_auto json_t *gpu = app_device(app) ? gpu_json(app, worker, err) : json_object();
	js_auto json_t *base = gpu ? node_base(worker, err) : NULL;
	const struct kernel_list *kernels = base ? app_kernels(app, err) : NULL;
	if (kernels) {
		machine_make(base, kernels, gpu);
		snprintf(fingerprint, SHA256_TEXT, "%s", js_string_or(base, "fingerprint", ""));
	}
	return kernels ? 0 : -1;
}

static bool is_program(const char *word) {
	mem_auto char *path = *word == '-' || !*word ? NULL : program_path(word, NULL, NULL);
	return path;
}

/* `tune` without anything to tune would be refused next. */
static bool needs_openmp(int words, char *const *argv) {
	static const char *const what[] = {"--openmp", "--param", "--regions", "--spec"};
	bool tunes = words > 1 && strcmp(argv[1], "tune") == 0;
	for (int i = 2; i < words && tunes; i++)
		for (size_t k = 0; k < sizeof what / sizeof *what; k++)
			tunes = tunes && strncmp(argv[i], what[k], strlen(what[k])) != 0;
	return tunes;
}

static bool is_suggested(const struct err *err) {
	return strstr(err->what, "two dashes") || strstr(err->hint, " -- ");
}

/* Does an option of one letter with a value attached follow the program, as -blur would be? */
static bool has_attached(int words, int argc, char *const *argv, const char *first) {
	bool after = false;
	for (int i = words; i < argc; i++) {
		if (after && argv[i][0] == '-' && argv[i][1] && argv[i][1] != '-' && argv[i][2])
			return true;
		after = after || strcmp(argv[i], first) == 0;
	}
	return false;
}

/* "--threads 4": what --openmp tunes are parameters and not options. */
static bool setting_suggest(struct err *err) {
	static const char unknown[] = "unknown option --";
	const char *name = strncmp(err->what, unknown, strlen(unknown)) == 0 ? err->what + strlen(unknown) : "";
	if (!config_is_setting(name))
		return false;
	err_hint(err, "with --openmp, --set %s=V keeps a value and --range %s=A,B,.. chooses those to try", name, name);
	return true;
}

void app_dashes_suggest(int words, int argc, char *const *argv, struct err *err) {
	int first = words;
	if (words > 1 && strcmp(argv[1], "compare") == 0) {
		err_hint(err, "a program and its arguments are one word: sweetspot compare './a in.dat' './b in.dat'");
		return;
	}
	if (setting_suggest(err))
		return;
	while (first < argc && strcmp(argv[first], "--") != 0 && !is_program(argv[first]))
		first++;
	if (first == argc || strcmp(argv[first], "--") == 0)
		return;
	mem_auto char *line = mem_strdup("sweetspot");
	const char *dashes = needs_openmp(first, argv) ? " --openmp --" : " --";
	for (int i = 1; i < argc; i++) {
		mem_auto char *word = program_quote(argv[i]);
		mem_append(&line, "%s %s", i == first ? dashes : "", word);
	}
	err_hint(err, "write two dashes before a program: %s", line);
}

void app_dashes_missed(int words, int argc, char *const *argv, const char *first, struct err *err) {
	if (!text_ends_with(first, ".so") && !is_suggested(err) && has_attached(words, argc, argv, first) &&
	    is_program(first))
		app_dashes_suggest(words, argc, argv, err);
}
