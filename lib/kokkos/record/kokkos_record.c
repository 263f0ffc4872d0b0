/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of kernels, regions and copies by their names. What it records: $SWEETSPOT_KOKKOS_RECORD.HOST.PID, written
 * when the program ends, with lines
 *
 *     fact KEY VALUE
 *     kernel|region|copy|section CALLS NANOSECONDS NAME
 *
 * A region's time includes what it calls. Times are of the thread that launches; Kokkos waits for the device because
 * the tool asks for fences while it records. */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/kokkos/record/kokkos_record.h"
#include "lib/kokkos/space/kokkos_abi.h"

/* Facts that a run which was not asked leaves for the next ones in the file $SWEETSPOT_KOKKOS_FACTS: Kokkos tells its
 * version, and whether there are tiles to choose, only after it has looked for the function by which it would ask.
 * Lines:
 *
 *     sweetspot-kokkos 1
 *     exe 1a2b3c              of the files of the program and its Kokkos: what was built again is looked at again
 *     version 4.6.1
 *     tile                    there are tiles to choose
 */

/* Up to this version, the count of a default tile is multiplied by that of the chosen one instead of replaced. */
enum { BROKEN_MAJOR = 4, BROKEN_MINOR = 6, VERSION_MOST = 64 };
static const char HEAD[] = "sweetspot-kokkos 1\n";

static struct {
	char version[VERSION_MOST];
	bool has_tiles, written;
} facts;

static const char *path_of(void) {
	const char *set = getenv("SWEETSPOT_KOKKOS_FACTS");
	return set && *set == '/' ? set : NULL;
}

static bool is_broken(const char *version) {
	int major, minor;
	return sscanf(version, "%d.%d", &major, &minor) != 2 || major < BROKEN_MAJOR ||
	       (major == BROKEN_MAJOR && minor <= BROKEN_MINOR);
}

void kokkos_facts_version(const char *version) {
	snprintf(facts.version, sizeof facts.version, "%.*s", (int)strcspn(version, "\n"), version);
}

void kokkos_facts_tile(void) {
	facts.has_tiles = true;
}

bool kokkos_facts_broken(void) {
	return is_broken(facts.version);
}

static uint64_t mix(uint64_t sum, const char *path) {
	struct stat file = {0};
	if (stat(path, &file) == 0)
		sum = (sum ^ (uint64_t)file.st_size ^ (uint64_t)file.st_mtime << 20) * 1099511628211u;
	return sum;
}

static int object_look(struct dl_phdr_info *info, size_t size, void *ctx) {
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	uint64_t *sum = ctx;
	(void)size;
	if (base && strstr(base, "kokkos") && !strstr(base, "libsweetspot"))
		*sum = mix(*sum, info->dlpi_name);
	return 0;
}

static void exe_line(char *line, size_t size) {
	uint64_t sum = mix(14695981039346656037u, "/proc/self/exe");
	dl_iterate_phdr(object_look, &sum);
	snprintf(line, size, "exe %016llx\n", (unsigned long long)sum);
}

bool kokkos_facts_allow(bool can_withdraw) {
	char line[256], exe[64], version[VERSION_MOST] = "";
	bool same = false, tiles = false;
	const char *path = path_of();
	FILE *file = path ? fopen(path, "re") : NULL;
	if (!path)
		return true;
	exe_line(exe, sizeof exe);
	bool known = file && fgets(line, sizeof line, file) && strcmp(line, HEAD) == 0;
	while (known && fgets(line, sizeof line, file)) {
		same = same || strcmp(line, exe) == 0;
		tiles = tiles || strcmp(line, "tile\n") == 0;
		if (strncmp(line, "version ", 8) == 0)
			snprintf(version, sizeof version, "%.60s", line + 8);
	}
	if (file)
		fclose(file);
	return known && same && (can_withdraw || !tiles || !is_broken(version));
}

/* Ranks may write it at the same time, and each writes the same. */
void kokkos_facts_write(void) {
	char exe[64], new[4096];
	const char *path = path_of();
	if (!path || facts.written || !*facts.version ||
	    snprintf(new, sizeof new, "%s.%ld", path, (long)getpid()) >= (int)sizeof new)
		return;
	facts.written = true;
	int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!file)
		return;
	exe_line(exe, sizeof exe);
	fprintf(file, "%s%sversion %s\n%s", HEAD, exe, facts.version, facts.has_tiles ? "tile\n" : "");
	if (fclose(file) != 0 || rename(new, path) != 0)
		unlink(new);
}

enum { ENTRIES = 4096, ENTRIES_MOST = ENTRIES / 4 * 3, OPEN_MOST = 64, FACTS = 16, FACT_MOST = 160, SECTIONS = 256 };

struct entry {
	char *name; /* NULL: free */
	enum kokkos_kind kind;
	uint64_t calls, ns;
};

/* A kernel or region that this thread is in; deeper ones are counted, but not timed. */
struct open {
	struct entry *entry;
	enum kokkos_kind kind;
	uint64_t begun;
};

static struct {
	pthread_mutex_t lock;
	struct entry *entries;
	size_t count;
	char facts[FACTS][FACT_MOST];
	size_t fact_count;
	struct section {
		struct entry *entry;
		uint64_t begun;
	} sections[SECTIONS];
	uint32_t section_count;
	pid_t owner;
	bool records, reports, written;
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};
static __thread struct open open_now[OPEN_MOST];
static __thread size_t depth;

static uint64_t now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static const char *prefix(void) {
	const char *set = getenv("SWEETSPOT_KOKKOS_RECORD");
	return set && *set ? set : NULL;
}

bool kokkos_record_wanted(void) {
	return record.reports || record.records;
}

void kokkos_record_start(void) {
	record.records = prefix() != NULL;
	record.owner = getpid();
}

void kokkos_record_report(void) {
	record.reports = true;
}

static size_t hash(const char *name, enum kokkos_kind kind) {
	uint64_t sum = 14695981039346656037u + kind;
	for (; *name; name++)
		sum = (sum ^ (unsigned char)*name) * 1099511628211u;
	return sum ^ sum >> 32;
}

/* Entries stay where they are. NULL: there is no room. The caller holds the lock. */
static struct entry *entry_of(const char *name, enum kokkos_kind kind) {
	if (!record.entries)
		record.entries = calloc(ENTRIES, sizeof *record.entries);
	size_t at = hash(name, kind) % ENTRIES;
	while (record.entries && record.entries[at].name) {
		if (record.entries[at].kind == kind && strcmp(record.entries[at].name, name) == 0)
			return &record.entries[at];
		at = (at + 1) % ENTRIES;
	}
	char *copy = record.entries && record.count < ENTRIES_MOST ? strdup(name) : NULL;
	if (!copy)
		return NULL;
	record.count++;
	record.entries[at] = (struct entry){.name = copy, .kind = kind};
	return &record.entries[at];
}

static struct entry *entry_find(const char *name, enum kokkos_kind kind) {
	pthread_mutex_lock(&record.lock);
	struct entry *found = entry_of(name ? name : "", kind);
	pthread_mutex_unlock(&record.lock);
	return found;
}

static void entry_add(struct entry *entry, uint64_t begun) {
	if (!entry)
		return;
	__atomic_fetch_add(&entry->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&entry->ns, now() - begun, __ATOMIC_RELAXED);
}

void kokkos_record_begin(enum kokkos_kind kind, const char *name) {
	struct entry *entry = depth < OPEN_MOST ? entry_find(name, kind) : NULL;
	if (depth < OPEN_MOST)
		open_now[depth] = (struct open){entry, kind, now()};
	depth++;
}

/* Ends the innermost one of its kind: a program may forget to pop a region, or pop one too many. */
void kokkos_record_end(enum kokkos_kind kind) {
	if (depth > OPEN_MOST) {
		depth--;
		return;
	}
	for (size_t i = depth; i-- > 0;) {
		if (open_now[i].kind != kind)
			continue;
		entry_add(open_now[i].entry, open_now[i].begun);
		memmove(open_now + i, open_now + i + 1, (depth - i - 1) * sizeof *open_now);
		depth--;
		return;
	}
}

static uint32_t section_new(const char *name) {
	struct entry *entry = entry_find(name, KOKKOS_SECTION);
	pthread_mutex_lock(&record.lock);
	uint32_t number = record.section_count < SECTIONS ? record.section_count++ : SECTIONS;
	if (number < SECTIONS)
		record.sections[number] = (struct section){.entry = entry};
	pthread_mutex_unlock(&record.lock);
	return number;
}

static void section_start(uint32_t section) {
	if (section < SECTIONS)
		__atomic_store_n(&record.sections[section].begun, now(), __ATOMIC_RELAXED);
}

static void section_stop(uint32_t section) {
	uint64_t begun = section < SECTIONS ? __atomic_exchange_n(&record.sections[section].begun, 0, __ATOMIC_RELAXED) : 0;
	if (begun)
		entry_add(record.sections[section].entry, begun);
}

void kokkos_record_fact(const char *key, const char *value) {
	pthread_mutex_lock(&record.lock);
	if (record.fact_count < FACTS)
		snprintf(record.facts[record.fact_count++], FACT_MOST, "fact %s %s", key, value);
	pthread_mutex_unlock(&record.lock);
}

/* A name may hold anything, and a line must stay one. */
static void name_print(FILE *file, const char *name) {
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' || *name == 127 ? ' ' : *name, file);
	fputc('\n', file);
}

static const char *const kinds[] = {"kernel", "region", "copy", "section"};

static void entries_print(FILE *file, const char *form) {
	for (size_t i = 0; record.entries && i < ENTRIES; i++) {
		const struct entry *entry = &record.entries[i];
		if (!entry->name || !entry->calls)
			continue;
		fprintf(file, form, kinds[entry->kind], (unsigned long long)entry->calls, (unsigned long long)entry->ns);
		name_print(file, entry->name);
	}
}

static void file_write(void) {
	char path[4096], host[65] = "";
	gethostname(host, sizeof host - 1);
	if (snprintf(path, sizeof path, "%s.%s.%ld", prefix(), host, (long)getpid()) >= (int)sizeof path)
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	for (size_t i = 0; file && i < record.fact_count; i++)
		name_print(file, record.facts[i]);
	if (file)
		entries_print(file, "%s %llu %llu ");
	if (file)
		fclose(file);
}

void kokkos_record_write(void) {
	if (record.written || record.owner != getpid())
		return;
	record.written = true;
	pthread_mutex_lock(&record.lock);
	if (prefix())
		file_write();
	if (record.reports)
		entries_print(stderr, "%-8s %8llu calls %12llu ns  ");
	pthread_mutex_unlock(&record.lock);
}

/* ---- what Kokkos calls ---- */
KOKKOS_TOOL(begin_deep_copy, struct kokkos_space to_space, const char *to, const void *to_data,
            struct kokkos_space from_space, const char *from, const void *from_data, uint64_t size) {
	char name[512];
	(void)to_data;
	(void)from_data;
	(void)size;
	if (!kokkos_record_wanted())
		return;
	snprintf(name, sizeof name, "%.*s:%.160s -> %.*s:%.160s", KOKKOS_STRING, from_space.name, from ? from : "",
	         KOKKOS_STRING, to_space.name, to ? to : "");
	kokkos_record_begin(KOKKOS_COPY, name);
}

KOKKOS_TOOL(end_deep_copy, void) {
	if (kokkos_record_wanted())
		kokkos_record_end(KOKKOS_COPY);
}

KOKKOS_TOOL(push_profile_region, const char *name) {
	if (kokkos_record_wanted())
		kokkos_record_begin(KOKKOS_REGION, name);
}

KOKKOS_TOOL(pop_profile_region, void) {
	if (kokkos_record_wanted())
		kokkos_record_end(KOKKOS_REGION);
}

KOKKOS_TOOL(create_profile_section, const char *name, uint32_t *id) {
	uint32_t section = kokkos_record_wanted() ? section_new(name) : UINT32_MAX;
	if (id)
		*id = section;
}

KOKKOS_TOOL(start_profile_section, uint32_t id) {
	section_start(id);
}

KOKKOS_TOOL(stop_profile_section, uint32_t id) {
	section_stop(id);
}

KOKKOS_TOOL(destroy_profile_section, uint32_t id) {
	section_stop(id);
}
