/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/openmp.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/proc/path.h"
#include "base/proc/proc.h"
#include "base/tree.h"
#include "base/sys.h"
#include "base/text.h"

enum { BLOCK = 1 << 18, TEXT_MAX = 128, HEADERS_MAX = 1024, FILE_MAX = 512 << 20 };

/* Reads exactly `size` bytes. The kernel rejects offsets that are negative or overflow. */
static bool read_at(int fd, void *data, size_t size, uint64_t offset) {
	return offset <= INT64_MAX && pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

static bool header_read(int fd, Elf64_Ehdr *head) {
	static const unsigned char order = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	return read_at(fd, head, sizeof *head, 0) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == order &&
	       (head->e_type == ET_EXEC || head->e_type == ET_DYN) && head->e_phentsize == sizeof(Elf64_Phdr) &&
	       head->e_phnum <= HEADERS_MAX && head->e_phoff <= FILE_MAX;
}

/* Accepts only an absolute path whose file is named like a loader, because the interpreter is going to be run, and
 * another program might take --list for something else. */
static void interpreter_read(int fd, const Elf64_Phdr *entry, char *interpreter, size_t size) {
	uint64_t length = entry->p_filesz;
	bool good = length > 1 && length <= size && read_at(fd, interpreter, length, entry->p_offset) &&
	            interpreter[length - 1] == '\0' && interpreter[0] == '/';
	if (good) {
		const char *base = strrchr(interpreter, '/') + 1;
		good = strncmp(base, "ld-", 3) == 0 || strncmp(base, "ld.so", 5) == 0 || strncmp(base, "ld64.so", 7) == 0;
	}
	if (!good)
		interpreter[0] = '\0';
}

static enum openmp_file kind_of(int fd, char *interpreter, size_t size) {
	Elf64_Ehdr head;
	if (!header_read(fd, &head))
		return OPENMP_FILE_OTHER;
	for (uint64_t i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr entry;
		if (!read_at(fd, &entry, sizeof entry, head.e_phoff + i * sizeof entry))
			return OPENMP_FILE_OTHER;
		if (entry.p_type == PT_INTERP) {
			interpreter_read(fd, &entry, interpreter, size);
			return OPENMP_FILE_DYNAMIC;
		}
	}
	return head.e_phnum ? OPENMP_FILE_STATIC : OPENMP_FILE_OTHER;
}

/* Opens regular files only, because reading a pipe or a device could block. */
static int plain_open(const char *path, struct stat *st) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

enum openmp_file openmp_file_kind(const char *path, char *interpreter, size_t size) {
	struct stat st;
	int fd = plain_open(path, &st);
	interpreter[0] = '\0';
	enum openmp_file kind = fd < 0 ? OPENMP_FILE_OTHER : kind_of(fd, interpreter, size);
	if (fd >= 0)
		close(fd);
	return kind;
}

static bool is_wanted(const char *at, size_t left, bool (*wanted)(const char *text)) {
	char text[TEXT_MAX];
	size_t length = 0;
	while (length < left && length + 1 < TEXT_MAX && (isalnum((unsigned char)at[length]) || at[length] == '_'))
		length++;
	memcpy(text, at, length);
	text[length] = '\0';
	return !wanted || wanted(text);
}

/* Text that begins in the last TEXT_MAX bytes may be cut off, so it is left for the next block unless this is the last.
 */
static bool block_has(const char *block, size_t size, bool last, const char *start, bool (*wanted)(const char *text)) {
	const char *at = block, *end = block + size, *limit = last ? end : end - TEXT_MAX;
	while (at < limit && (at = memmem(at, (size_t)(end - at), start, strlen(start))) && at < limit) {
		if (is_wanted(at, (size_t)(end - at), wanted))
			return true;
		at++;
	}
	return false;
}

static ssize_t read_full(int fd, char *data, size_t size) {
	size_t have = 0;
	while (have < size) {
		ssize_t got = read(fd, data + have, size - have);
		if (got < 0 && errno != EINTR)
			return -1;
		if (got == 0)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)have;
}

static int fd_has(int fd, const char *start, bool (*wanted)(const char *text)) {
	mem_auto char *block = mem_alloc(BLOCK, 1);
	size_t kept = 0;
	int found = 0;
	for (bool last = false; !last && !found;) {
		ssize_t got = read_full(fd, block + kept, BLOCK - kept);
		if (got < 0) {
			found = -1;
			break;
		}
		size_t size = kept + (size_t)got;
		last = size < BLOCK;
		found = block_has(block, size, last, start, wanted);
		kept = TEXT_MAX;
		if (!last)
			memmove(block, block + size - kept, kept);
	}
	return found;
}

int openmp_file_has(const char *path, const char *start, bool (*wanted)(const char *text)) {
	struct stat st;
	int fd = plain_open(path, &st);
	if (fd < 0)
		return -1;
	int found = st.st_size > FILE_MAX ? -1 : fd_has(fd, start, wanted);
	close(fd);
	return found;
}

enum { OBJECTS_MAX = 512, LINES_MAX = 4096 };
static const double trace_seconds = 10;

/* The objects that the dynamic loader would load. */
struct objects {
	char *paths[OBJECTS_MAX]; /* links resolved */
	size_t count;
	struct openmp_program *out;
	const char *cwd; /* working directory of the loader; NULL for ours */
	size_t runtime;  /* index of the OpenMP runtime, if out->runtime is set */
};

static const struct {
	const char *prefix; /* file name up to "." or "-": libgomp.so.1, libomp-14.so.5, libgomp-a34b3233.so.1.0.0 */
	enum openmp_runtime runtime;
	const char *variable; /* a program that has the runtime linked in contains this name */
} runtimes[] = {
	{"libgomp", OPENMP_GOMP, "GOMP_SPINCOUNT"},
	{"libomp", OPENMP_LLVM, "KMP_BLOCKTIME"},
	{"libiomp5", OPENMP_LLVM, "KMP_BLOCKTIME"},
};
enum { RUNTIMES = sizeof runtimes / sizeof *runtimes };

static enum openmp_runtime runtime_of(const char *path) {
	const char *base = text_base_name(path);
	for (size_t i = 0; i < RUNTIMES; i++) {
		size_t length = strlen(runtimes[i].prefix);
		if (strncmp(base, runtimes[i].prefix, length) == 0 && base[length] && strchr(".-", base[length]))
			return runtimes[i].runtime;
	}
	return OPENMP_NONE;
}

/* Paths may be relative because LD_LIBRARY_PATH may be. NULL for entries that are not files: "not found",
 * linux-vdso.so.1. */
static char *real_path(const char *path, const char *cwd) {
	mem_auto char *absolute = cwd && *path != '/' ? mem_printf("%s/%s", cwd, path) : mem_strdup(path);
	return strchr(path, '/') ? realpath(absolute, NULL) : NULL;
}

static void object_add(struct objects *objects, const char *name, const char *path) {
	char *real = real_path(path, objects->cwd);
	enum openmp_runtime runtime = real ? runtime_of(real) : OPENMP_NONE;
	if (runtime == OPENMP_NONE) /* the link's target decides, because libgomp.so.1 may be a link to another runtime */
		runtime = runtime_of(name);
	if (runtime != OPENMP_NONE && objects->out->runtime == OPENMP_NONE) {
		objects->out->runtime = runtime;
		objects->runtime = objects->count;
		snprintf(objects->out->library, sizeof objects->out->library, "%s", real ? path : name);
		text_clean(objects->out->library, false);
	}
	if (objects->count < OBJECTS_MAX)
		objects->paths[objects->count++] = real;
	else
		free(real);
}

/* "\tlibm.so.6 => /lib/libm.so.6 (0x00007f..)", "\tlibx.so => not found", "\t/lib64/ld-linux-x86-64.so.2 (0x..)" */
static void line_read(struct objects *objects, char *line) {
	char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => ");
	char *path = arrow ? arrow + 4 : name, *address = strstr(path, " (0x");
	for (char *next = address; next; next = strstr(next + 1, " (0x")) /* the path itself may contain this text */
		address = next;
	if (!arrow && !address)
		return;
	if (arrow)
		*arrow = '\0';
	if (address)
		*address = '\0';
	object_add(objects, name, path);
}

/* Runs the loader as a program, because with a set-user-ID program LD_TRACE_LOADED_OBJECTS would be ignored and the
 * program started. */
static bool objects_list(struct objects *objects, const char *loader, const char *path) {
	const char *const argv[] = {loader, "--list", path, NULL};
	const struct proc_spec spec = {.argv = argv, .cwd = objects->cwd, .line_max = 16384};
	struct proc *proc = proc_start(&spec, NULL);
	double deadline = sys_now() + trace_seconds;
	enum proc_read what = PROC_FLOOD;
	char *line;
	size_t size;
	if (!proc)
		return false;
	for (int i = 0; i < LINES_MAX && (what == PROC_LINE || what == PROC_FLOOD); i++) {
		double left = deadline - sys_now();
		what = left > 0 ? proc_read(proc, left, NULL, &line, &size) : PROC_TIMEOUT;
		if (what == PROC_LINE)
			line_read(objects, line);
	}
	int status = proc_stop(proc, what == PROC_EOF ? 1 : 0);
	return what == PROC_EOF && (status == 0 || objects->count > 0);
}

/* GOMP_loop_runtime_start, GOMP_parallel_loop_maybe_nonmonotonic_runtime, GOMP_loop_ull_ordered_runtime_next, .. */
static bool is_runtime_loop(const char *symbol) {
	return strstr(symbol, "loop") && strstr(symbol, "_runtime");
}

/* Code with schedule(runtime) loops calls libgomp functions of this name. LLVM passes the schedule as a number instead,
 * so nothing can be found there. */
static enum openmp_schedule schedule_of(const struct objects *objects, const char *program) {
	int found = openmp_file_has(program, "GOMP_", is_runtime_loop);
	bool seen_all = found >= 0 && objects->count < OBJECTS_MAX;
	for (size_t i = 0; found <= 0 && i < objects->count; i++) {
		if (!objects->paths[i] || i == objects->runtime)
			continue;
		found = openmp_file_has(objects->paths[i], "GOMP_", is_runtime_loop);
		seen_all = seen_all && found >= 0;
	}
	if (found > 0)
		return OPENMP_SCHEDULE_USED;
	return seen_all ? OPENMP_SCHEDULE_NONE : OPENMP_SCHEDULE_UNKNOWN;
}

static void linked_in(const char *path, struct openmp_program *out) {
	for (size_t i = 0; i < RUNTIMES && out->runtime == OPENMP_NONE; i++)
		if (openmp_file_has(path, runtimes[i].variable, NULL) > 0)
			out->runtime = runtimes[i].runtime;
}

/* `sh run.sh` and `sh -c './app <in'` start programs, which decide. */
static bool is_shell(const char *path) {
	static const char *const shells[] = {"sh", "dash", "bash", "ksh", "zsh", "ash", NULL};
	return opt_is_known(text_base_name(path), shells);
}

static void dynamic_inspect(const char *path, const char *loader, const char *cwd, struct openmp_program *out) {
	mem_auto struct objects *objects = mem_alloc(1, sizeof *objects);
	objects->out = out;
	objects->cwd = cwd;
	bool listed = *loader && objects_list(objects, loader, path);
	if (out->runtime == OPENMP_GOMP)
		out->schedule = schedule_of(objects, path);
	if (out->runtime == OPENMP_NONE)
		linked_in(path, out);
	if (out->runtime == OPENMP_NONE && (!listed || is_shell(path)))
		out->runtime = OPENMP_UNKNOWN;
	for (size_t i = 0; i < objects->count; i++)
		free(objects->paths[i]);
}

int openmp_inspect(const char *program, const char *cwd, struct openmp_program *out, struct err *err) {
	char loader[4096], *path = program_path(program, cwd, err);
	*out = (struct openmp_program){.runtime = OPENMP_NONE, .schedule = OPENMP_SCHEDULE_UNKNOWN};
	if (!path)
		return -1;
	switch (openmp_file_kind(path, loader, sizeof loader)) {
	case OPENMP_FILE_OTHER:
		out->runtime = OPENMP_UNKNOWN;
		break;
	case OPENMP_FILE_STATIC:
		linked_in(path, out);
		break;
	case OPENMP_FILE_DYNAMIC:
		dynamic_inspect(path, loader, cwd, out);
		break;
	}
	free(path);
	return 0;
}

bool openmp_files_any(const char *path, const char *cwd, bool (*look)(void *ctx, const char *path), void *ctx) {
	char loader[4096];
	struct openmp_program unused = {.runtime = OPENMP_NONE};
	mem_auto struct objects *objects = mem_alloc(1, sizeof *objects);
	objects->out = &unused;
	objects->cwd = cwd;
	bool found = look(ctx, path);
	if (!found && openmp_file_kind(path, loader, sizeof loader) == OPENMP_FILE_DYNAMIC && *loader)
		objects_list(objects, loader, path);
	for (size_t i = 0; i < objects->count; i++) {
		found = found || (objects->paths[i] && look(ctx, objects->paths[i]));
		free(objects->paths[i]);
	}
	return found;
}

/* A command that runs, watched through the dynamic loader. */
enum { ARGS_MAX = 4096 };
static const double WATCH_SECONDS = 5, LOOK_SECONDS = 0.02;

struct seen {
	enum openmp_runtime runtime;
	char program[4096]; /* that has it; empty if it was opened later, by an interpreter for example */
};

/* "\t 17813:\tcalling init: /lib/libgomp.so.1", then "\tinitialize program: ./omp" */
static void loader_read(const char *line, struct seen *seen) {
	static const char library[] = "calling init: ", program[] = "initialize program: ";
	const char *at = strstr(line, library);
	enum openmp_runtime runtime = at ? runtime_of(at + strlen(library)) : OPENMP_NONE;
	if (runtime != OPENMP_NONE && seen->runtime == OPENMP_NONE)
		seen->runtime = runtime;
	at = strstr(line, program);
	if (at && seen->runtime != OPENMP_NONE && !*seen->program)
		snprintf(seen->program, sizeof seen->program, "%.*s", (int)strcspn(at + strlen(program), "\n"),
		         at + strlen(program));
}

/* The loader writes a file for each process. */
static void file_read(const char *folder, const char *name, struct seen *seen) {
	mem_auto char *path = mem_printf("%s/%s", folder, name), *line = NULL;
	FILE *file = strncmp(name, "loader.", 7) == 0 ? fopen(path, "re") : NULL;
	size_t size = 0;
	while (file && !*seen->program && getline(&line, &size, file) > 0)
		loader_read(line, seen);
	if (file)
		fclose(file);
}

static void folder_read(const char *folder, struct seen *seen) {
	DIR *entries = opendir(folder);
	for (struct dirent *entry; entries && seen->runtime == OPENMP_NONE && (entry = readdir(entries));)
		file_read(folder, entry->d_name, seen);
	if (entries)
		closedir(entries);
}

static struct proc *command_start(const char *const *argv, const char *cwd, const char *input, const char *folder) {
	const char *words[ARGS_MAX] = {"sh", "-c", "file=$1; shift; exec \"$@\" <\"$file\"", "sh",
	                               input ? input : "/dev/null"};
	size_t count = 5;
	for (; *argv && count < ARGS_MAX - 1; argv++)
		words[count++] = *argv;
	mem_auto char *output = mem_printf("LD_DEBUG_OUTPUT=%s/loader", folder);
	const char *const set[] = {"LD_DEBUG=libs", output, NULL};
	const struct proc_spec spec = {.argv = words, .set = set, .cwd = cwd, .no_core = true};
	struct proc *proc = *argv ? NULL : proc_start(&spec, NULL);
	return proc;
}

static void watch(struct proc *proc, const char *folder, struct seen *seen) {
	double end = sys_now() + WATCH_SECONDS;
	enum proc_read what = PROC_TIMEOUT;
	char *line;
	size_t size;
	while (what != PROC_EOF && seen->runtime == OPENMP_NONE && sys_now() < end) {
		what = proc_read(proc, LOOK_SECONDS, NULL, &line, &size);
		folder_read(folder, seen);
	}
}

void openmp_watch(const char *const *argv, const char *cwd, const char *input, struct openmp_program *out) {
	struct scratch scratch;
	struct seen seen = {.runtime = OPENMP_NONE};
	if (scratch_open(&scratch, SCRATCH_RUN, NULL))
		return;
	struct proc *proc = command_start(argv, cwd, input, scratch.path);
	if (proc) {
		watch(proc, scratch.path, &seen);
		proc_stop(proc, 0);
	}
	scratch_close(&scratch);
	if (seen.runtime == OPENMP_NONE)
		return;
	out->runtime = seen.runtime;
	struct openmp_program inside;
	if (*seen.program && openmp_inspect(seen.program, cwd, &inside, NULL) == 0 && inside.runtime == seen.runtime)
		*out = inside;
}
