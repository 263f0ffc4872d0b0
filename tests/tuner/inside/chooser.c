/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program with a context: usage: chooser CALLS [WORD]. A call takes 3 ms with way "slow" (the default), 1 ms with
 * "fast"; with "harm" a second context is itself faster with "fast", which makes each call of the first one take 9 ms
 * longer; with "three" two more take 60 us in one of ten calls, or 30 us with "fast"; "bad", which is declared only
 * with the word "crash", ends the program by a fault. With "fork", half of the calls are a child's. Writes the number
 * of calls with "fast" and of those at the end to stderr. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/sweetspot.h"

static sweetspot_context *context, *harm, *small[2];
static int fast, late, harms;

static void rest(long ms) {
	const struct timespec pause = {.tv_nsec = 1000000 * ms};
	nanosleep(&pause, NULL);
}

/* Before each call, as it would be in a program: 3 ms, or 1 ms and what it costs later. */
static void harm_call(void) {
	struct sweetspot_choice choice;
	sweetspot_choose(harm, NULL, 0, &choice);
	harms = strcmp(sweetspot_chosen_word(&choice, "way"), "fast") == 0;
	rest(harms ? 1 : 3);
	sweetspot_report(&choice, NAN);
}

static void small_call(sweetspot_context *one) {
	struct sweetspot_choice choice;
	struct timespec begin, now;
	sweetspot_choose(one, NULL, 0, &choice);
	long ns = strcmp(sweetspot_chosen_word(&choice, "way"), "fast") == 0 ? 30000 : 60000;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
	sweetspot_report(&choice, NAN);
}

static void call(int left) {
	if (harm)
		harm_call();
	for (int i = 0; i < 2 && small[i] && left % 10 == 0; i++)
		small_call(small[i]);
	struct sweetspot_choice choice;
	sweetspot_choose(context, NULL, 0, &choice);
	const char *way = sweetspot_chosen_word(&choice, "way");
	if (strcmp(way, "bad") == 0)
		raise(SIGSEGV);
	bool is_fast = strcmp(way, "fast") == 0;
	rest((is_fast ? 1 : 3) + (harms ? 9 : 0));
	sweetspot_report(&choice, NAN);
	fast += is_fast;
	late += is_fast && left < 20;
}

int main(int argc, char **argv) {
	static const char *const ways[] = {"slow", "fast", "other", "bad"};
	int calls = argc > 1 ? atoi(argv[1]) : 100;
	const char *word = argc > 2 ? argv[2] : "";
	context = sweetspot_context_open("work");
	sweetspot_context_word(context, "way", ways, strcmp(word, "crash") == 0 ? 4 : 3, "slow");
	if (strcmp(word, "harm") == 0) {
		harm = sweetspot_context_open("harm");
		sweetspot_context_word(harm, "way", ways, 2, "slow");
	}
	for (int i = 0; i < 2 && strcmp(word, "three") == 0; i++) {
		small[i] = sweetspot_context_open(i ? "second" : "first");
		sweetspot_context_word(small[i], "way", ways, 2, "slow");
	}
	if (strcmp(word, "fork") == 0) {
		call(calls);
		fork();
	}
	while (calls-- > 0)
		call(calls);
	if (strcmp(word, "fork") == 0)
		wait(NULL);
	puts("done");
	fprintf(stderr, "fast=%d late=%d\n", fast, late);
	return 0;
}
