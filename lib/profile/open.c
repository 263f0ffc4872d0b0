/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/profile/profile_impl.h"

/* OpenMP API 5.2, sections 18.2 and 21: settings that the runtime's routines can change after the start. Its
 * functions are looked up when needed, because the library does not link OpenMP. */
enum { THREADS_MAX = 1 << 20, MONOTONIC = INT_MIN }; /* omp_sched_monotonic: 0x80000000 */

struct openmp {
	void (*set_num_threads)(int count);
	void (*set_schedule)(int kind, int chunk);
	void (*set_dynamic)(int on);
};

/* The setting that cannot be applied, and the reason. */
struct notes {
	const struct ssp_message *message;
	char text[SWEETSPOT_MESSAGE];
	size_t used;
};

static void note(struct notes *notes, const char *what, const char *value, const char *why) {
	size_t room = sizeof notes->text - notes->used;
	int length =
		snprintf(notes->text + notes->used, room, "%s%.40s=%.60s %s", notes->used ? "; " : "", what, value, why);
	notes->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
	ssp_message_set(notes->message, "%s", notes->text);
}

/* ISO C does not convert object pointers to function pointers; POSIX requires this cast to work. */
static void function_find(const char *name, void *function) {
	void *found = dlsym(RTLD_DEFAULT, name);
	memcpy(function, &found, sizeof found);
}

static bool openmp_find(struct openmp *openmp) {
	function_find("omp_set_num_threads", &openmp->set_num_threads);
	function_find("omp_set_schedule", &openmp->set_schedule);
	function_find("omp_set_dynamic", &openmp->set_dynamic);
	return openmp->set_num_threads && openmp->set_schedule && openmp->set_dynamic;
}

static bool number_parse(const char *text, long max, int *number, const char **rest) {
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	*rest = end;
	*number = (int)value;
	return end > text && errno == 0 && value >= 1 && value <= max;
}

static bool threads_apply(const struct openmp *openmp, const char *value, struct notes *notes) {
	const char *rest;
	int count;
	if (!number_parse(value, THREADS_MAX, &count, &rest) || (*rest && *rest != ',')) {
		note(notes, "OMP_NUM_THREADS", value, "is not a number of threads");
		return false;
	}
	openmp->set_num_threads(count);
	if (*rest)
		note(notes, "OMP_NUM_THREADS", value, "also sets nested regions: only the first was set");
	return true;
}

/* "dynamic,4", "monotonic:static" */
static bool schedule_parse(const char *value, int *kind, int *chunk) {
	static const char *const kinds[] = {"static", "dynamic", "guided", "auto"};
	size_t before = strcspn(value, ":");
	int modifier = 0;
	const char *rest = "";
	if (value[before]) {
		modifier = strncasecmp(value, "monotonic:", 10) == 0 ? MONOTONIC : 0;
		value += before + 1;
	}
	size_t length = strcspn(value, ",");
	*chunk = 0; /* the runtime's own default */
	*kind = 0;
	for (int i = 0; i < 4; i++)
		if (strlen(kinds[i]) == length && strncasecmp(kinds[i], value, length) == 0)
			*kind = (i + 1) | modifier;
	return *kind && (!value[length] || number_parse(value + length + 1, INT_MAX, chunk, &rest)) && !*rest;
}

static bool schedule_apply(const struct openmp *openmp, const char *value, struct notes *notes) {
	int kind, chunk;
	if (!schedule_parse(value, &kind, &chunk)) {
		note(notes, "OMP_SCHEDULE", value, "is not a schedule");
		return false;
	}
	openmp->set_schedule(kind, chunk);
	return true;
}

static bool dynamic_apply(const struct openmp *openmp, const char *value, struct notes *notes) {
	(void)notes;
	openmp->set_dynamic(strcasecmp(value, "true") == 0);
	return true;
}

static const struct {
	const char *name;
	bool (*apply)(const struct openmp *openmp, const char *value, struct notes *notes); /* NULL: only at the start */
} variables[] = {
	{"OMP_NUM_THREADS", threads_apply},
	{"OMP_SCHEDULE", schedule_apply},
	{"OMP_DYNAMIC", dynamic_apply},
	{"OMP_PROC_BIND", NULL},
	{"OMP_PLACES", NULL},
	{"OMP_WAIT_POLICY", NULL},
	{"GOMP_SPINCOUNT", NULL},
	{"KMP_BLOCKTIME", NULL},
};

static int config_apply(const struct openmp *openmp, const struct sweetspot_config *config, struct notes *notes) {
	int set = 0;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const struct ssp_setting *wanted = ssp_setting_find(&config->environment, variables[i].name);
		const char *now = getenv(variables[i].name);
		if (!wanted || !wanted->word)
			continue;
		if (variables[i].apply)
			set += variables[i].apply(openmp, wanted->word, notes);
		else if (!now || strcasecmp(now, wanted->word) != 0)
			note(notes, variables[i].name, wanted->word, "must be set before the program starts");
	}
	return set;
}

int sweetspot_apply(const sweetspot_config *config, unsigned flags, char *text, size_t size) {
	struct ssp_message message = {text, size};
	struct notes notes = {.message = &message};
	struct openmp openmp;
	const char *why = !config                                              ? "the configuration is missing"
	                  : (flags & SWEETSPOT_ANYWAY) == 0 && config->foreign ? "it is of another machine"
	                  : (flags & SWEETSPOT_ANYWAY) == 0 && config->stale   ? "the kernel has changed since it was tuned"
	                  : !openmp_find(&openmp)                              ? "the program does not use OpenMP"
	                                                                       : "";
	ssp_message_set(&message, "%s", why);
	return *why ? -1 : config_apply(&openmp, config, &notes);
}

static const struct ssp_setting *setting_of(const struct sweetspot_config *config, const char *name) {
	return config && name ? ssp_setting_find(&config->settings, name) : NULL;
}

long long sweetspot_int(const sweetspot_config *config, const char *name, long long otherwise) {
	const struct ssp_setting *setting = setting_of(config, name);
	return setting && (setting->type == SSP_INTEGER || setting->type == SSP_BOOLEAN) ? setting->integer : otherwise;
}

double sweetspot_real(const sweetspot_config *config, const char *name, double otherwise) {
	const struct ssp_setting *setting = setting_of(config, name);
	return setting && (setting->type == SSP_INTEGER || setting->type == SSP_REAL) ? setting->number : otherwise;
}

const char *sweetspot_word(const sweetspot_config *config, const char *name, const char *otherwise) {
	const struct ssp_setting *setting = setting_of(config, name);
	return setting && setting->word ? setting->word : otherwise;
}

int sweetspot_setting(const sweetspot_config *config, size_t i, struct sweetspot_value *setting) {
	if (!config || !setting || i >= config->settings.count)
		return 0;
	const struct ssp_setting *found = &config->settings.items[i];
	*setting = (struct sweetspot_value){found->name, found->number, found->word};
	return 1;
}

/* Lists a folder's contents for the error message of a search that finds nothing. */
struct survey {
	size_t seen, foreign, bad;
	char why[200]; /* the first one that cannot be read */
};

/* Content of a regular file; devices and pipes are refused, because they could block. */
static char *file_read(const char *path, size_t *size, const struct ssp_message *message) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	char *text = NULL;
	ssize_t got = 1;
	*size = 0;
	if (fd < 0 || fstat(fd, &about) != 0) {
		ssp_message_set(message, "%.200s: %s", path, strerror(errno));
	} else if (!S_ISREG(about.st_mode) || about.st_size > SSP_FILE_MAX) {
		ssp_message_set(message, "%.200s: not a regular file of at most 16 MiB", path);
	} else if (!(text = malloc((size_t)about.st_size + 1))) {
		ssp_message_set(message, "out of memory");
	} else {
		while (*size < (size_t)about.st_size && got > 0) {
			got = read(fd, text + *size, (size_t)about.st_size - *size);
			*size += got > 0 ? (size_t)got : 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return text;
}

void ssp_foreign_set(struct sweetspot_profile *profile, const char *reason) {
	profile->foreign = reason;
	for (size_t i = 0; i < profile->entry_count; i++)
		profile->entries[i].config.foreign = true;
	for (size_t i = 0; i < profile->sizes_count; i++)
		for (size_t k = 0; k < profile->sizes[i].range_count; k++)
			profile->sizes[i].ranges[k].config.foreign = true;
}

struct sweetspot_profile *ssp_parse(const char *text, size_t size, const struct ssp_message *message) {
	json_error_t why;
	struct sweetspot_profile *profile = NULL;
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		ssp_message_set(message, "not valid JSON: line %d, column %d: %s", why.line, why.column, why.text);
	else if (memchr(text, '\0', size)) /* jansson ignores a 0 byte behind a number */
		ssp_message_set(message, "not valid JSON: it contains 0 bytes");
	else
		profile = ssp_read(json, message ? message->text : NULL, message ? message->size : 0);
	json_decref(json);
	return profile;
}

static struct sweetspot_profile *file_load(const char *path, const struct ssp_machine *here,
                                           const struct ssp_message *message) {
	char why[SWEETSPOT_MESSAGE] = "";
	struct ssp_message inner = {why, sizeof why};
	size_t size;
	char *text = file_read(path, &size, message);
	struct sweetspot_profile *profile = text ? ssp_parse(text, size, &inner) : NULL;
	free(text);
	if (text && !profile)
		ssp_message_set(message, "%.200s: %s", path, why);
	if (!profile)
		return NULL;
	profile->path = ssp_arena_text(profile->arena, path);
	const char *differs = ssp_machine_differs(&profile->machine, here, profile->arena);
	if (differs)
		ssp_foreign_set(profile, differs);
	return profile;
}

/* Profiles of a CPU come before those of a GPU, which name the same kernels; then the newest. */
static bool is_better(const struct sweetspot_profile *a, const struct sweetspot_profile *b) {
	if (!b || !a->machine.gpu != !b->machine.gpu)
		return !b || !a->machine.gpu;
	int order = strcmp(a->created, b->created);
	return order > 0 || (order == 0 && strcmp(a->path, b->path) < 0);
}

static void candidate_consider(const char *path, const struct ssp_machine *here, struct sweetspot_profile **best,
                               struct survey *survey) {
	struct ssp_message why = {survey->why, survey->bad ? 0 : sizeof survey->why};
	struct sweetspot_profile *profile = file_load(path, here, &why);
	survey->bad += !profile;
	survey->foreign += profile && profile->foreign;
	if (profile && profile->path && !profile->foreign && is_better(profile, *best)) {
		sweetspot_close(*best);
		*best = profile;
	} else {
		sweetspot_close(profile);
	}
}

static bool is_json(const char *name) {
	size_t length = strlen(name);
	return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".json") == 0;
}

/* FNV-1a (G. Fowler, L. Noll, K.-P. Vo; IETF draft-eastlake-fnv); a collision is harmless, because the profile is
 * compared with the machine anyway. */
static uint64_t add(uint64_t hash, char byte) {
	return (hash ^ (unsigned char)byte) * 0x100000001b3u;
}

/* Words with one blank between them; ? for characters that are not ASCII. */
static uint64_t words_add(uint64_t hash, const char *text, size_t size) {
	bool blank = false, begun = false;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		bool is_blank = c == ' ' || c == '\t';
		if (!is_blank && blank && begun)
			hash = add(hash, ' ');
		blank = is_blank;
		begun = begun || !is_blank;
		if (!is_blank)
			hash = add(hash, c > ' ' && c < 127 ? (char)c : '?');
	}
	return add(hash, '\n');
}

/* The name of the link in a fleet's folder that leads to a machine's profile, made from facts that do not need the
 * compiler; the program that writes profiles makes the same name. */
void ssp_machine_link(const struct ssp_machine *machine, const char *gpu, size_t gpu_size, char name[SSP_LINK_SIZE]) {
	const uint64_t numbers[] = {machine->threads, machine->cores, machine->packages, machine->numa_nodes,
	                            machine->l1d,     machine->l2,    machine->l3};
	uint64_t hash = 0xcbf29ce484222325u;
	char text[32];
	hash = words_add(hash, machine->cpu ? machine->cpu : "", machine->cpu ? strlen(machine->cpu) : 0);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		hash = words_add(hash, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, numbers[i]));
	hash = words_add(hash, gpu, gpu_size);
	snprintf(name, SSP_LINK_SIZE, "machine-%012" PRIx64 ".json", hash & 0xffffffffffffu);
}

static struct sweetspot_profile *link_load(const char *folder, const struct ssp_machine *here, const char *gpu,
                                           size_t gpu_size) {
	struct ssp_message none = {NULL, 0};
	char path[PATH_MAX], name[SSP_LINK_SIZE];
	ssp_machine_link(here, gpu, gpu_size, name);
	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || access(path, R_OK) != 0)
		return NULL;
	struct sweetspot_profile *profile = file_load(path, here, &none);
	if (profile && !profile->foreign)
		return profile;
	sweetspot_close(profile);
	return NULL;
}

/* Try the names first, because a fleet may have thousands of profiles: the CPU's, then the GPUs'. */
static struct sweetspot_profile *links_load(const char *folder, const struct ssp_machine *here) {
	struct sweetspot_profile *found = link_load(folder, here, "", 0);
	for (const char *gpu = here->gpu; !found && gpu && *gpu;) {
		size_t size = strcspn(gpu, "\n");
		found = link_load(folder, here, gpu, size);
		gpu += size + (gpu[size] == '\n');
	}
	return found;
}

static struct sweetspot_profile *folder_load(const char *path, const struct ssp_machine *here,
                                             const struct ssp_message *message) {
	struct sweetspot_profile *best = NULL;
	struct survey survey = {.seen = 0};
	struct dirent *one;
	char name[PATH_MAX];
	DIR *folder = opendir(path);
	while (folder && survey.seen < SSP_FOLDER_MAX && (one = readdir(folder))) {
		if (!is_json(one->d_name) || snprintf(name, sizeof name, "%s/%s", path, one->d_name) >= (int)sizeof name)
			continue;
		survey.seen++;
		candidate_consider(name, here, &best, &survey);
	}
	if (folder)
		closedir(folder);
	else
		ssp_message_set(message, "%.200s: %s", path, strerror(errno));
	if (folder && !best)
		ssp_message_set(message, "%.200s: no profile of this machine: %zu of other machines, %zu unreadable%s%s", path,
		                survey.foreign, survey.bad, survey.bad ? "; " : "", survey.bad ? survey.why : "");
	return best;
}

/* A profile of the machine `here`: from a file, which is read even if it is foreign, or from a folder. */
static struct sweetspot_profile *ssp_load(const char *path, const struct ssp_machine *here,
                                          const struct ssp_message *message) {
	struct stat about;
	bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
	struct sweetspot_profile *profile = folder ? links_load(path, here) : file_load(path, here, message);
	if (folder)
		return profile ? profile : folder_load(path, here, message);
	if (profile && profile->foreign)
		ssp_message_set(message, "%.200s is not a profile of this machine: %s", path, profile->foreign);
	return profile;
}

enum { PLACES = 6 };
typedef char place[PATH_MAX];

/* The XDG Base Directory Specification says to ignore relative paths. False if the path does not fit or is unknown. */
static bool user_place(place path, const char *variable, const char *under_home) {
	const char *set = secure_getenv(variable), *home = secure_getenv("HOME");
	if (set && set[0] == '/')
		return snprintf(path, PATH_MAX, "%s/sweetspot", set) < PATH_MAX;
	return home && home[0] == '/' && snprintf(path, PATH_MAX, "%s/%s/sweetspot", home, under_home) < PATH_MAX;
}

static size_t places_list(place *places) {
	size_t count = 0;
	count += user_place(places[count], "XDG_CONFIG_HOME", ".config");
	count += user_place(places[count], "XDG_DATA_HOME", ".local/share");
	static const char *const sites[] = {SSP_SYSCONFDIR, "/etc"};
	for (size_t i = 0; i < (strcmp(SSP_SYSCONFDIR, "/etc") ? 2 : 1); i++) {
		count += snprintf(places[count], PATH_MAX, "%s/sweetspot", sites[i]) < PATH_MAX;
		count += snprintf(places[count], PATH_MAX, "%s/sweetspot/profiles.d", sites[i]) < PATH_MAX;
	}
	return count;
}

/* A file in a default place may belong to another machine; then try the next place. */
static struct sweetspot_profile *places_load(const struct ssp_machine *here, const struct ssp_message *message) {
	struct sweetspot_profile *found = NULL;
	char *why = calloc(1, SWEETSPOT_MESSAGE);
	place *places = calloc(PLACES, sizeof *places);
	size_t count = places && why ? places_list(places) : 0;
	ssp_message_set(message, "no profile found: tune something first (sweetspot tune), or set SWEETSPOT_PROFILE");
	for (size_t i = 0; i < count && !found; i++) {
		struct ssp_message inner = {why, SWEETSPOT_MESSAGE};
		if (access(places[i], F_OK) != 0)
			continue;
		found = ssp_load(places[i], here, &inner);
		if (found && !found->foreign)
			break;
		sweetspot_close(found);
		found = NULL;
		ssp_message_set(message, "%s", why);
	}
	free(places);
	free(why);
	return found;
}

sweetspot_profile *sweetspot_open(const char *path, char *text, size_t size) {
	struct ssp_message message = {text, size};
	struct ssp_arena *arena = ssp_arena_new();
	struct ssp_machine here;
	struct sweetspot_profile *profile = NULL;
	int before = errno;
	if (!arena) {
		ssp_message_set(&message, "out of memory");
		return NULL;
	}
	ssp_message_set(&message, "%s", "");
	ssp_machine_read("", arena, &here);
	const char *set = path ? path : secure_getenv("SWEETSPOT_PROFILE");
	profile = set && *set ? ssp_load(set, &here, &message) : places_load(&here, &message);
	if (profile && !profile->foreign)
		ssp_message_set(&message, "%s", "");
	ssp_arena_free(arena);
	errno = before;
	return profile;
}

const char *sweetspot_about(const sweetspot_profile *profile, const char *what) {
	static const struct {
		const char *name;
		size_t at;
	} known[] = {
		{"path", offsetof(struct sweetspot_profile, path)},
		{"fingerprint", offsetof(struct sweetspot_profile, fingerprint)},
		{"created", offsetof(struct sweetspot_profile, created)},
		{"generator", offsetof(struct sweetspot_profile, generator)},
		{"compiler", offsetof(struct sweetspot_profile, compiler)},
		{"cflags", offsetof(struct sweetspot_profile, cflags)},
		{"foreign", offsetof(struct sweetspot_profile, foreign)},
		{"cpu", offsetof(struct sweetspot_profile, machine.cpu)},
		{"gpu", offsetof(struct sweetspot_profile, machine.gpu)},
	};
	for (size_t i = 0; profile && what && i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, what) == 0)
			return *(const char *const *)((const char *)profile + known[i].at);
	return NULL;
}

const char *sweetspot_kernel(const sweetspot_profile *profile, size_t i) {
	for (size_t k = 0; profile && k < profile->kernel_count; k++)
		if (!profile->kernels[k].again && i-- == 0)
			return profile->kernels[k].name;
	return NULL;
}
