/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/app/lost_page.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"

/* Only functions that are safe in a signal handler (signal-safety(7)) are called here, so numbers are read by hand. */
static uintptr_t hex_read(const char **at) {
	uintptr_t value = 0;
	for (;; ++*at) {
		char c = **at;
		if (c >= '0' && c <= '9')
			value = value * 16 + (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* One line of /proc/self/maps without its newline; false at the end. */
static bool line_read(int fd, char *line, size_t size) {
	size_t used = 0;
	for (char c; read(fd, &c, 1) == 1;) {
		if (c == '\n') {
			line[used] = '\0';
			return true;
		}
		if (used + 1 < size)
			line[used++] = c;
	}
	return false;
}

/* The path of the file that is mapped at the address, in `line`; NULL if none is. */
static const char *file_at(uintptr_t address, char *line, size_t size) {
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	const char *path = NULL;
	while (fd >= 0 && !path && line_read(fd, line, size)) {
		const char *at = line;
		uintptr_t first = hex_read(&at), last = *at == '-' ? (at++, hex_read(&at)) : 0;
		if (address >= first && address < last && !(path = strchr(at, '/')))
			break;
	}
	if (fd >= 0)
		close(fd);
	return path;
}

static void put(const char *text) {
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
	(void)ignored;
}

static void on_lost_page(int number, siginfo_t *info, void *context) {
	char line[4200];
	const char *path = info->si_code == BUS_ADRERR ? file_at((uintptr_t)info->si_addr, line, sizeof line) : NULL;
	(void)context;
	if (!path) {
		signal(number, SIG_DFL);
		raise(number); /* it is blocked until this function returns */
		return;
	}
	put("sweetspot: error: another process truncated ");
	put(path);
	put(" while it was in use\n");
	if (text_ends_with(path, "-shm"))
		put("  hint: run it again with --resume: what was committed is kept\n");
	_exit(err_exit_status(ERR_FAILED));
}

void lost_page_set(void) {
	struct sigaction action = {.sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO};
	sigaction(SIGBUS, &action, NULL);
}
