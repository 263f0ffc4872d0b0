/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as names of hosts, as words for a launcher or as what a batch system said: a name never becomes an option
 * of ssh, no word gets lost, and every reason is a text. The test `launchers` calls this with hostile names, `make
 * fuzz` runs it as a target of libFuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/fleet/launcher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAMES_MAX = 64 };

static void require(bool condition) {
	if (!condition)
		abort();
}

/* The host comes right behind "--", and one more word follows: the line for the other side. */
static void check_argv(const char *const *argv, const char *host) {
	size_t at = 0;
	while (argv[at] && strcmp(argv[at], "--") != 0)
		at++;
	require(argv[at] && argv[at + 1] && argv[at + 2] && !argv[at + 3]);
	require(strcmp(argv[at + 1], host) == 0 && host[0] != '-' && !strpbrk(host, " \t\r\n'\"$`;&|<>"));
	for (const char *c = host; *c; c++)
		require((unsigned char)*c > ' ' && *c != 0x7f);
}

static void check_hosts(char *text) {
	const char *hosts[NAMES_MAX + 1] = {NULL};
	size_t count = 0;
	struct err err = {0};
	const struct launcher_settings settings = {.worker = "/opt/a b/sweetspot-worker", .hosts = hosts};
	for (char *line; (line = strsep(&text, "\n")) && count < NAMES_MAX;)
		hosts[count++] = line;
	struct launched *launched = launcher_open(launcher_find("ssh"), &settings, &err);
	require(launched ? launched->count == count : err.code == ERR_USAGE && *err.what);
	for (size_t i = 0; launched && i < count; i++)
		check_argv(launched->commands[i], hosts[i]);
	launched_free(launched);
}

static void check_words(const char *text) {
	struct err err = {0};
	char **words = words_split(text, &err);
	require(words || (err.code == ERR_USAGE && *err.what));
	words_free(words);
}

static void check_said(const char *text) {
	char reason[100];
	memset(reason, 0, sizeof reason);
	require(!slurm_end_said(text, reason, sizeof reason) || *reason);
	require(!slurm_end_job(text, reason, sizeof reason) || *reason);
	require(!slurm_end_node(text, reason, sizeof reason) || *reason);
	require(!slurm_end_killed(text, reason, sizeof reason) || *reason);
	require(!ssh_hosts_said(text, reason, sizeof reason) || *reason);
	require(memchr(reason, '\0', sizeof reason) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = mem_alloc(size + 1, 1);
	if (size > 0) {
		memcpy(text, data + 1, size - 1);
		if (data[0] % 3 == 0)
			check_hosts(text);
		else if (data[0] % 3 == 1)
			check_words(text);
		else
			check_said(text);
	}
	free(text);
	return 0;
}
