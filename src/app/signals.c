/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/app/signals.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "src/app/lost_page.h"
#include "base/err.h"
#include "base/stop.h"

volatile int signals_interrupted, signals_abandoned;
/* timeout(1) sends its signal twice, which must not cost the results. */
enum { PATIENCE_SECONDS = 3 };
static volatile time_t abandoned_at;

static void put(const char *text, size_t size) {
	ssize_t ignored = write(STDERR_FILENO, text, size);
	(void)ignored;
}

/* A coordinator that sends the signal with sigqueue(3) to its child has told the user already (src/cmd/fleet/child.c).
 */
static void on_interrupt(int number, siginfo_t *info, void *context) {
	static const char note[] = "\nsweetspot: interrupted: finishing what runs now; press Ctrl-C again to give it up\n";
	static const char end[] = "\nsweetspot: error: interrupted\n";
	(void)context;
	if (stop_is_at_once() || (signals_abandoned && time(NULL) - abandoned_at >= PATIENCE_SECONDS)) {
		put(end, sizeof end - 1);
		_exit(err_exit_status(ERR_INTERRUPTED));
	}
	if (!signals_abandoned && (signals_interrupted || number != SIGINT)) {
		abandoned_at = time(NULL);
		signals_abandoned = 1;
	} else if (!signals_abandoned && info->si_code != SI_QUEUE) {
		put(note, sizeof note - 1);
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
