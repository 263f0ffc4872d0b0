/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the worker $REAL and passes on its answers; where they have a member "$PLACE", it is $LIE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

static void pass_on(const char *line, const char *place, json_t *lie) {
	json_t *answer = json_loads(line, JSON_ALLOW_NUL, NULL);
	if (!answer || !json_object_get(answer, place)) {
		fputs(line, stdout);
	} else {
		json_object_set(answer, place, lie);
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
	}
	fflush(stdout);
	json_decref(answer);
}

int main(int argc, char **argv) {
	const char *real = getenv("REAL"), *place = getenv("PLACE"), *text = getenv("LIE");
	json_t *lie = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	int ends[2], status = 0;
	char *line = NULL;
	size_t room = 0;
	(void)argc;
	if (!real || !place || !lie || pipe(ends) != 0)
		return 99;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execv(real, argv);
		_exit(99);
	}
	close(ends[1]);
	FILE *answers = fdopen(ends[0], "r");
	while (answers && getline(&line, &room, answers) > 0)
		pass_on(line, place, lie);
	free(line);
	json_decref(lie);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
