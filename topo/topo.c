/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "topo/impl.h"

/* The abstract places of OpenMP 5.2, section 21.1.6, as sets of CPUs.
 *
 * Every CPU belongs to one object at each level, and the CPUs of one object are a place. Where a level does not exist
 * for a CPU (virtual machines without caches, recorded files without packages), a core is the hardware thread itself
 * and the others take the next larger level: last-level cache -> NUMA domain -> socket -> the whole machine. */
static hwloc_obj_t package_of(hwloc_topology_t hw, hwloc_obj_t pu) {
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_PACKAGE, pu);
	return package ? package : hwloc_get_root_obj(hw);
}

/* CPUs nearest to the same memory. Several kinds of memory at one object (DRAM and HBM) are one domain. */
static hwloc_obj_t domain_of(hwloc_topology_t hw, hwloc_obj_t pu) {
	for (hwloc_obj_t obj = pu; obj; obj = obj->parent)
		if (obj->memory_arity > 0)
			return obj;
	return package_of(hw, pu);
}

/* The outermost cache of this CPU, which is not the same level everywhere on a hybrid processor. */
static hwloc_obj_t last_cache_of(hwloc_topology_t hw, hwloc_obj_t pu) {
	hwloc_obj_t last = NULL;
	for (hwloc_obj_t obj = pu; obj; obj = obj->parent)
		if (hwloc_obj_type_is_dcache(obj->type))
			last = obj;
	return last ? last : domain_of(hw, pu);
}

static hwloc_obj_t object_of(hwloc_topology_t hw, hwloc_obj_t pu, int level) {
	hwloc_obj_t core;
	switch (level) {
	case TOPO_PU:
		return pu;
	case TOPO_CORE:
		core = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_CORE, pu);
		return core ? core : pu;
	case TOPO_LLC:
		return last_cache_of(hw, pu);
	case TOPO_NUMA:
		return domain_of(hw, pu);
	case TOPO_PACKAGE:
		return package_of(hw, pu);
	default:
		return hwloc_get_root_obj(hw);
	}
}

/* hwloc numbers CPUs depth first, so CPUs of one object are neighbours. */
static int level_fill(struct topo *topo, int level, int cpus) {
	struct topo_places *places = &topo->places[level];
	hwloc_obj_t last = NULL;
	places->sets = mem_alloc((size_t)cpus, sizeof(hwloc_bitmap_t));
	for (int i = 0; i < cpus; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(topo->hw, HWLOC_OBJ_PU, (unsigned)i);
		hwloc_obj_t obj = object_of(topo->hw, pu, level);
		if (obj != last && !(places->sets[places->count++] = hwloc_bitmap_alloc()))
			return -1;
		if (hwloc_bitmap_set(places->sets[places->count - 1], pu->os_index) != 0)
			return -1;
		last = obj;
	}
	return 0;
}

/* Fills places from the loaded hw. */
static int topo_places_fill(struct topo *topo, struct err *err) {
	int cpus = hwloc_get_nbobjs_by_type(topo->hw, HWLOC_OBJ_PU);
	for (int level = 0; level <= TOPO_ALL; level++)
		if (level_fill(topo, level, cpus) != 0)
			return err_set(err, ERR_FAILED, NULL, "out of memory");
	return 0;
}

static void topo_places_free(struct topo *topo) {
	for (int level = 0; level <= TOPO_ALL; level++) {
		for (int i = 0; i < topo->places[level].count; i++)
			hwloc_bitmap_free(topo->places[level].sets[i]);
		free(topo->places[level].sets);
	}
}

/* hwloc takes cubic time for many objects below one; with this limit the largest synthetic machine opens within
 * seconds. */
enum { SYNTHETIC_MAX = 1024, SYNTHETIC_CPUS_MAX = 2048, XML_MAX = 16 << 20 };
static const char synthetic[] = "synthetic:";

/* I/O devices, distances and memory attributes are left out because nothing uses them. The x86 component
 * visits every CPU to refine what Linux already reports; without it, loading is faster and does not move the calling
 * thread. */
static unsigned long load_flags(void) {
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#if HWLOC_API_VERSION >= 0x00020800
	flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
#endif
	return flags;
}

/* hwloc multiplies the levels without a limit, so they are bounded before it sees them. The text is read like hwloc
 * does: attributes run from a parenthesis to the next closing one, a number inside a word (L3) belongs to it, others
 * may be hexadecimal. */
static bool synthetic_fits(const char *text) {
	unsigned long cpus = 1;
	if (strlen(text) > SYNTHETIC_MAX)
		return false;
	for (const char *c = text; *c; c++) {
		unsigned long count;
		if (*c == '(' && !(c = strchr(c, ')')))
			return false;
		if (!isdigit((unsigned char)*c) || (c > text && isalnum((unsigned char)c[-1])))
			continue;
		count = strtoul(c, NULL, 0);
		if (count > SYNTHETIC_CPUS_MAX / cpus)
			return false;
		cpus *= count ? count : 1;
	}
	return true;
}

static int use_synthetic(hwloc_topology_t hw, const char *text, struct err *err) {
	if (!synthetic_fits(text))
		return err_set(err, ERR_USAGE, NULL, "the synthetic topology is too large: at most %d CPUs and %d characters",
		               SYNTHETIC_CPUS_MAX, SYNTHETIC_MAX);
	if (hwloc_topology_set_synthetic(hw, text) != 0)
		return err_set(err, ERR_USAGE, "an example: synthetic:package:2 core:4 pu:2",
		               "%.100s is not a synthetic topology", text);
	return 0;
}

static int use_xml(hwloc_topology_t hw, const char *path, struct err *err) {
	size_t size;
	mem_auto char *text = sys_read_file(path, XML_MAX, &size, err);
	int rc = 0;
	if (!text)
		return -1;
	/* hwloc counts the terminating NUL in the size. */
	if (size == 0 || hwloc_topology_set_xmlbuffer(hw, text, (int)size + 1) != 0)
		rc = err_set(err, ERR_USAGE, "record a machine with lstopo FILE.xml", "%s is not an hwloc XML file", path);
	return rc;
}

static int use_source(hwloc_topology_t hw, const char *source, struct err *err) {
	if (!source)
		return 0;
	if (strncmp(source, synthetic, sizeof synthetic - 1) == 0)
		return use_synthetic(hw, source + sizeof synthetic - 1, err);
	return use_xml(hw, source, err);
}

/* HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING would do this, but it needs HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM, which
 * would pass off a recorded topology as this machine. */
static int restrict_to_process(hwloc_topology_t hw, struct err *err) {
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int rc = 0;
	if (!set || hwloc_get_cpubind(hw, set, HWLOC_CPUBIND_PROCESS) != 0 || hwloc_topology_restrict(hw, set, 0) != 0)
		rc = err_set(err, ERR_FAILED, NULL, "cannot tell which CPUs this process may use: %s", strerror(errno));
	hwloc_bitmap_free(set);
	return rc;
}

/* A recorded machine may number its CPUs up to 2^32, and CPU sets are as long as the largest number. */
static int check_cpus(const struct topo *topo, struct err *err) {
	int cpus = hwloc_get_nbobjs_by_type(topo->hw, HWLOC_OBJ_PU);
	unsigned last = 0;
	for (int i = 0; i < cpus; i++) {
		unsigned number = hwloc_get_obj_by_type(topo->hw, HWLOC_OBJ_PU, (unsigned)i)->os_index;
		last = number > last ? number : last;
	}
	if (cpus < 1 || last >= TOPO_CPUS_MAX)
		return err_set(err, ERR_USAGE, NULL,
		               "cannot handle a topology of %d CPUs, the last one %u: the limit is 1 to %d", cpus, last,
		               TOPO_CPUS_MAX);
	return 0;
}

static int load(struct topo *topo, const char *source, bool as_here, struct err *err) {
	unsigned long flags = load_flags() | (as_here ? HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM : 0);
	if (hwloc_topology_set_flags(topo->hw, flags) != 0 || use_source(topo->hw, source, err) != 0)
		return -1;
	if (hwloc_topology_load(topo->hw) != 0)
		return err_set(err, source ? ERR_USAGE : ERR_FAILED,
		               source ? "a file of hwloc 3 needs hwloc 3 here, or is written with lstopo --export-xml-flags v2"
		                      : "can /sys be read, or does a sandbox forbid that (getdents64, openat)?",
		               "hwloc cannot load the topology%s%.200s", source ? " of " : "", source ? source : "");
	topo->here = (!source || as_here) && hwloc_topology_is_thissystem(topo->hw);
	if (topo->here && restrict_to_process(topo->hw, err) != 0)
		return -1;
	return check_cpus(topo, err);
}

static const char *model_info(const struct topo *topo) {
	hwloc_obj_t package = hwloc_get_obj_by_type(topo->hw, HWLOC_OBJ_PACKAGE, 0);
	hwloc_obj_t root = hwloc_get_root_obj(topo->hw);
	const char *text = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
	if (!text)
		text = hwloc_obj_get_info_by_name(root, "CPUModel");
	if (!text)
		text = hwloc_obj_get_info_by_name(root, "Architecture");
	return text ? text : "unknown";
}

/* The text of a recorded machine may contain anything. */
static void fill_model(struct topo *topo) {
	const char *text = model_info(topo);
	size_t i;
	for (i = 0; text[i] && i + 1 < sizeof topo->model; i++)
		topo->model[i] = (char)(text[i] >= ' ' && text[i] < 127 ? text[i] : '?');
	while (i > 0 && topo->model[i - 1] == ' ')
		i--;
	topo->model[i] = '\0';
}

/* hwloc asks with ever larger masks until it gets an answer, and would do so for ever where a sandbox forbids the call.
 */
static int affinity_check(struct err *err) {
	enum { MASK_MOST = 1 << 20 };
	for (size_t size = 128; size <= MASK_MOST; size *= 2) {
		cpu_set_t *set = mem_alloc(size, 1);
		int failed = sched_getaffinity(0, size, set) ? errno : 0;
		free(set);
		if (!failed)
			return 0;
		if (failed != EINVAL)
			return err_set(err, ERR_FAILED, "does a sandbox forbid sched_getaffinity?",
			               "cannot find out which CPUs may be used: %s", strerror(failed));
	}
	return err_set(err, ERR_FAILED, NULL, "cannot find out which CPUs may be used: there are too many");
}

/* hwloc's plugins find devices, which load_flags() leaves out, and read XML that others have edited. To load them takes
 * longer than everything else here, because they bring in OpenCL, X11, libxml2 and what those need. The others make
 * hwloc describe another machine, or this one as another. Launchers of jobs export them: Flux its own view of the node.
 */
static const char *const disturbing[] = {"HWLOC_PLUGINS_PATH", "HWLOC_XMLFILE",    "HWLOC_SYNTHETIC", "HWLOC_FSROOT",
                                         "HWLOC_CPUID_PATH",   "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"};
enum { PLUGINS, REDIRECTING, DISTURBING = sizeof disturbing / sizeof *disturbing };

const char *topo_ignored(void) {
	for (size_t i = REDIRECTING; i < DISTURBING; i++)
		if (getenv(disturbing[i]))
			return disturbing[i];
	return NULL;
}

static int load_all(struct topo *topo, const char *source, bool as_here, struct err *err) {
	if (hwloc_topology_init(&topo->hw) != 0)
		return err_set(err, ERR_FAILED, NULL, "hwloc cannot start: %s", strerror(errno));
	return load(topo, source, as_here, err) || topo_places_fill(topo, err) ? -1 : 0;
}

/* The variables are away only for the call, because what this process starts may use hwloc, too, and gets them. */
static int load_undisturbed(struct topo *topo, const char *source, bool as_here, struct err *err) {
	char *kept[DISTURBING];
	for (size_t i = 0; i < DISTURBING; i++) {
		const char *value = getenv(disturbing[i]);
		kept[i] = value ? mem_strdup(value) : NULL;
		if (i >= REDIRECTING)
			unsetenv(disturbing[i]);
	}
	if (!source)
		setenv(disturbing[PLUGINS], "", 1);
	int failed = load_all(topo, source, as_here, err);
	for (size_t i = 0; i < DISTURBING; i++) {
		if (kept[i])
			setenv(disturbing[i], kept[i], 1);
		else
			unsetenv(disturbing[i]);
		free(kept[i]);
	}
	return failed;
}

/* topo_open without the trial. as_here: take what a file describes for this machine, on which threads are bound. */
static struct topo *topo_open_directly(const char *source, bool as_here, struct err *err) {
	if ((!source || as_here) && affinity_check(err))
		return NULL;
	struct topo *topo = mem_alloc(1, sizeof *topo);
	if (load_undisturbed(topo, source, as_here, err) != 0) {
		topo_close(topo);
		return NULL;
	}
	fill_model(topo);
	return topo;
}

static int topo_trial(const char *source, struct err *err);

struct topo *topo_open(const char *source, struct err *err) {
	const char *told = source ? source : getenv("SWEETSPOT_TOPOLOGY");
	bool file = told && strncmp(told, synthetic, sizeof synthetic - 1) != 0;
	return file && topo_trial(told, err) != 0 ? NULL : topo_open_directly(told, file && !source, err);
}

void topo_close(struct topo *topo) {
	if (!topo)
		return;
	topo_places_free(topo);
	if (topo->hw)
		hwloc_topology_destroy(topo->hw);
	free(topo);
}

bool topo_is_here(const struct topo *topo) {
	return topo->here;
}

int topo_count(const struct topo *topo, enum topo_level level) {
	return (unsigned)level < TOPO_LEVELS ? topo->places[level].count : 0;
}

uint64_t topo_cache_size(const struct topo *topo, int level) {
	static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
	hwloc_obj_t cache;
	if (level < 1 || level > 3)
		return 0;
	cache = hwloc_get_obj_by_type(topo->hw, types[level - 1], 0);
	return cache && cache->attr->cache.size <= INT64_MAX ? cache->attr->cache.size : 0;
}

/* hwloc trusts the XML it reads: one changed byte can cause a segmentation fault or an endless loop. A recorded
 * machine is therefore opened in a child process first, and here only if the child survived. */
enum { TRIAL_SECONDS = 5 };

static void quiet(void) {
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct rlimit none = {0, 0}, cpu = {TRIAL_SECONDS, TRIAL_SECONDS};
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
}

/* Sends the error; code ERR_OK means success. */
_Noreturn static void child(const char *source, int out) {
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	struct err err = {0};
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
	quiet();
	topo_close(topo_open_directly(source, false, &err));
	_exit(write(out, &err, sizeof err) != (ssize_t)sizeof err);
}

/* Waits for the child; true if it reported before it ended. */
static bool report_read(int in, pid_t pid, struct err *report) {
	ssize_t got;
	do
		got = read(in, report, sizeof *report);
	while (got < 0 && errno == EINTR);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	report->what[sizeof report->what - 1] = report->hint[sizeof report->hint - 1] = '\0';
	return got == (ssize_t)sizeof *report; /* less than PIPE_BUF: written and read in one piece */
}

/* 0 if opening the file cannot crash this process. */
static int topo_trial(const char *source, struct err *err) {
	struct err report = {0};
	int ends[2];
	pid_t pid;
	bool reported;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, ERR_FAILED, NULL, "cannot check %.200s: %s", source, strerror(errno));
	pid = fork();
	if (pid == 0)
		child(source, ends[1]);
	close(ends[1]);
	reported = pid > 0 && report_read(ends[0], pid, &report);
	close(ends[0]);
	if (pid < 0)
		return err_set(err, ERR_FAILED, NULL, "cannot start a process to check %.200s: %s", source, strerror(errno));
	if (!reported)
		return err_set(err, ERR_USAGE, "record it again with lstopo FILE.xml", "%.200s is damaged: hwloc fails on it",
		               source);
	if (report.code != ERR_OK)
		return err_set(err, report.code == ERR_FAILED ? ERR_FAILED : ERR_USAGE, report.hint, "%s", report.what);
	return 0;
}
