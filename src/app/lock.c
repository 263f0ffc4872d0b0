/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/stop.h"
#include "base/sys.h"
#include "topo/topo.h"

/* Refuses a file of that name that belongs to another user, and a link, hard or symbolic: in /tmp anybody may have put
 * it there. */
static int lock_open(int flags) {
	char path[512];
	struct stat info;
	const char *dir = getenv("XDG_RUNTIME_DIR");
	if (dir && *dir == '/')
		snprintf(path, sizeof path, "%s/sweetspot.lock", dir);
	else
		snprintf(path, sizeof path, "/tmp/sweetspot-%u.lock", (unsigned)getuid());
	int fd = open(path, O_RDWR | flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && (fstat(fd, &info) || info.st_uid != getuid() || info.st_nlink > 1 || !S_ISREG(info.st_mode))) {
		close(fd);
		fd = -1;
		errno = EPERM;
	}
	return fd;
}

/* Cleans the text, because another process wrote it. */
static void holder_read(int fd, char *holder, size_t size) {
	ssize_t length = pread(fd, holder, size - 1, 0);
	holder[length > 0 ? length : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
	text_clean(holder, false);
	if (!*holder)
		snprintf(holder, size, "an unknown process");
}

/* The lock works without this text, which is only for the message. */
static void holder_write(int fd, const char *format, const char *text) {
	if (ftruncate(fd, 0) == 0)
		dprintf(fd, format, (long)getpid(), text);
}

/* The command line of this process, with blanks between its words. */
static void command_read(char *text, size_t size) {
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, size - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	for (ssize_t i = 0; i + 1 < length; i++)
		text[i] = text[i] && text[i] != '\n' ? text[i] : ' ';
}

static void wait_note(struct ui *ui, int fd) {
	char holder[240];
	holder_read(fd, holder, sizeof holder);
	ui_warn(ui, "two tuners would disturb each other's measurements; press Ctrl-C to give up",
	        "waiting, because another sweetspot is measuring: %s", holder);
}

/* A job brings with it a view of another machine for hwloc, and a limit that makes times depend on their length.
 */
static void surroundings_note(struct ui *ui) {
	const char *variable = topo_ignored();
	double quota = sys_cgroup_processors("");
	if (quota < (double)sysconf(_SC_NPROCESSORS_ONLN))
		ui_inform(ui, "a cgroup quota of %.2f processors throttles what is measured", quota);
	if (variable)
		ui_inform(ui, "%s is ignored: results are of this machine, whose topology is read from the system", variable);
}

int lock_take(struct ui *ui, const volatile int *interrupt, struct err *err) {
	const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
	bool reported = false;
	double seconds;
	if (quiet_seconds(&seconds, err)) /* before anything is measured, because nobody reports it later */
		return -1;
	surroundings_note(ui);
	int fd = lock_open(O_CREAT);
	if (fd < 0) {
		ui_warn(ui, "run one tuner at a time", "cannot guard against a second tuner: %s", strerror(errno));
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (*interrupt) {
			close(fd);
			return err_set(err, ERR_INTERRUPTED, NULL, "cannot get the lock: interrupted");
		}
		if (errno != EWOULDBLOCK && errno != EINTR) { /* a file system without locks */
			ui_warn(ui, "run one tuner at a time", "cannot guard against a second tuner: %s", strerror(errno));
			return fd;
		}
		if (!reported)
			wait_note(ui, fd);
		reported = true;
		nanosleep(&pause, NULL);
	}
	char command[160];
	command_read(command, sizeof command);
	holder_write(fd, "process %ld, `%s`\n", command);
	return fd;
}

void lock_release(int fd) {
	close(fd);
}

bool lock_is_held(void) {
	int fd = lock_open(0);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return held;
}

int lock_folder(struct ui *ui, const char *folder, const char *name, struct err *err) {
	char *path = mem_printf("%s/%s", folder, name), holder[160], host[128] = "?";
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	free(path);
	if (fd < 0)
		return err_set(err, ERR_FAILED, "check that you may write there", "cannot create a lock in %.200s: %s", folder,
		               strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		gethostname(host, sizeof host - 1);
		holder_write(fd, "process %ld on %s\n", host);
		return fd;
	}
	if (errno == EWOULDBLOCK) {
		holder_read(fd, holder, sizeof holder);
		close(fd);
		return err_set(err, ERR_FAILED, "wait for it, or choose another folder with -o DIR",
		               "another sweetspot is working in %.200s: %s", folder, holder);
	}
	ui_warn(ui, "use only one at a time in this folder", "cannot guard against a second process in %.200s: %s", folder,
	        strerror(errno));
	return fd;
}
