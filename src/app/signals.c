/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/stop.h"
#include "base/text.h"
#include "src/app/signals.h"

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

/* Handles SIGBUS: SQLite maps the index of the store's log, and another process that truncates that file takes the
 * pages away. The message names the file that was mapped at the address. Every other SIGBUS has its usual effect. */
static void lost_page_set(void) {
	struct sigaction action = {.sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO};
	sigaction(SIGBUS, &action, NULL);
}

volatile int signals_interrupted, signals_abandoned;
/* timeout(1) sends its signal twice, which must not cost the results. */
enum { PATIENCE_SECONDS = 3 };
static volatile time_t abandoned_at;

/* A coordinator that sends the signal with sigqueue(3) to its child has told the user already
 * (src/cmd/fleet/cmd_fleet_probe.c).
 */
static void on_interrupt(int number, siginfo_t *info, void *context) {
	static const char note[] = "\nsweetspot: interrupted: finishing what runs now; press Ctrl-C again to give it up\n";
	static const char end[] = "\nsweetspot: error: interrupted\n";
	(void)context;
	if (stop_is_at_once() || (signals_abandoned && time(NULL) - abandoned_at >= PATIENCE_SECONDS)) {
		put(end);
		_exit(err_exit_status(ERR_INTERRUPTED));
	}
	if (!signals_abandoned && (signals_interrupted || number != SIGINT)) {
		abandoned_at = time(NULL);
		signals_abandoned = 1;
	} else if (!signals_abandoned && info->si_code != SI_QUEUE) {
		put(note);
	}
	signals_interrupted = 1;
}

void signals_set(void) {
	struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction before;
	lost_page_set();
	sigaction(SIGHUP, NULL, &before);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaction(caught[i], &action, NULL);
	if (before.sa_handler == SIG_IGN) /* nohup */
		sigaction(SIGHUP, &before, NULL);
	action = (struct sigaction){.sa_handler = SIG_IGN};
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGXFSZ, &action, NULL);
}
