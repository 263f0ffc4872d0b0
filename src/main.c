/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/app/app.h"
#include "src/base/near.h"
#include "src/cmd/status/state.h"

enum { OPTION_TABLES_MAX = 8 };

/* The one thing that has to be global: a signal handler is told nothing else. */
static volatile int interrupted, abandoned;

/* Who sends it with sigqueue(3) has told the user already: a coordinator whose child this is (src/cmd/fleet/child.c).
 */
static void on_interrupt(int number, siginfo_t *info, void *context) {
	(void)context;
	static const char note[] = "\nsweetspot: finishing the running trial; press Ctrl-C again to give it up\n";
	int kept = 0;
	if (interrupted || number != SIGINT)
		abandoned = 1;
	else if (info->si_code != SI_QUEUE)
		kept = (int)write(STDERR_FILENO, note, sizeof note - 1);
	(void)kept;
	interrupted = 1;
}

static void signals_set(void) {
	struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction before;
	sigaction(SIGHUP, NULL, &before);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaction(caught[i], &action, NULL);
	if (before.sa_handler == SIG_IGN) /* nohup */
		sigaction(SIGHUP, &before, NULL);
	action = (struct sigaction){.sa_handler = SIG_IGN};
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGXFSZ, &action, NULL);
}

const struct opt cmd_common_options[] = {
	{"json", 0, NULL, "one JSON document on stdout and nothing else there", 0},
	{"quiet", 'q', NULL, "no progress", 0},
	{"verbose", 'v', NULL, "say what is done and why", 0},
	{"help", 'h', NULL, "this text", 0},
	{"version", 'V', NULL, "the version", 0},
	{0},
};

const struct opt cmd_device_options[] = {
	{"device", 0, "DEVICE", "where kernels run: cpu, cuda, or cuda:N for the Nth GPU (cpu)", 0},
	{0},
};

const struct opt cmd_store_options[] = {
	{"store", 0, "FILE", "the store, $XDG_DATA_HOME/sweetspot/store.db if not given", 0},
	{0},
};

static void help_all(FILE *out) {
	fputs("usage: sweetspot COMMAND [OPTION...] [ARGUMENT...]\n"
	      "       sweetspot [--json] [--store FILE]    this machine, what is tuned on it, what to do next\n\n"
	      "Finds the fastest way to run a parallel kernel on this machine, and proves it.\n\nCommands:\n",
	      out);
	for (const struct cmd *const *cmd = cmd_registry; *cmd; cmd++)
		fprintf(out, "  %-9s %s\n", (*cmd)->name, (*cmd)->summary);
	fputs("\nOptions of every command:\n", out);
	opt_help(cmd_common_options, 0, out);
	fputs("\nStart with `sweetspot tune`; `sweetspot COMMAND --help` says more about each.\n", out);
}

static void help_one(const struct cmd *cmd, FILE *out) {
	fprintf(out, "usage: sweetspot %s %s\n\n%s\n", cmd->name, cmd->usage, cmd->summary);
	int column = opt_help_column(cmd_common_options);
	for (const struct opt *const *table = cmd->options; *table; table++)
		column = opt_help_column(*table) > column ? opt_help_column(*table) : column;
	for (const struct opt *const *table = cmd->options; *table; table++) {
		if (table == cmd->options)
			fputs("\nOptions:\n", out);
		opt_help(*table, column, out);
	}
	fputs("\nOptions of every command:\n", out);
	opt_help(cmd_common_options, column, out);
	if (cmd->notes)
		fprintf(out, "\n%s\n", cmd->notes);
}

static const struct cmd *cmd_find(const char *name, struct err *err) {
	const char *names[64];
	size_t count = 0;
	for (const struct cmd *const *cmd = cmd_registry; *cmd; cmd++) {
		if (strcmp((*cmd)->name, name) == 0)
			return *cmd;
		if (count < sizeof names / sizeof *names)
			names[count++] = (*cmd)->name;
	}
	const char *near = near_word(name, names, count);
	err_set(err, ERR_USAGE, "`sweetspot --help` lists the commands", "there is no command \"%s\"", name);
	if (near)
		err_hint(err, "did you mean `sweetspot %s`?", near);
	return NULL;
}

static void version(void) {
	puts("sweetspot " PACKAGE_VERSION);
}

static void usage_hint(const struct cmd *cmd, struct err *err) {
	if (err->code == ERR_USAGE && !*err->hint)
		err_hint(err, "`sweetspot %s%s--help` shows the options", cmd->name, *cmd->name ? " " : "");
}

/* words: before its options, with the program's name. */
static void cmd_run(const struct cmd *cmd, int words, int argc, char *const *argv, struct err *err) {
	const struct opt *tables[OPTION_TABLES_MAX + 2] = {cmd_common_options};
	for (size_t i = 0; cmd->options[i] && i < OPTION_TABLES_MAX; i++)
		tables[i + 1] = cmd->options[i];
	struct opt_args *args = opt_parse(argc - words + 1, argv + words - 1, tables, err);
	if (!args) {
		usage_hint(cmd, err);
		return;
	}
	if (opt_has(args, "help") || opt_has(args, "version")) {
		if (opt_has(args, "help"))
			*cmd->name ? help_one(cmd, stdout) : help_all(stdout);
		else
			version();
		opt_free(args);
		return;
	}
	if (!cmd->becomes_program)
		signals_set();
	struct ui *ui = ui_new(stdout, stderr, opt_has(args, "quiet"), opt_has(args, "verbose"));
	struct app *app = app_new(ui, argc, argv, &interrupted, &abandoned);
	if ((app_device_use(app, opt_get(args, "device", "cpu"), err) || cmd->run(app, args, err)) && err->code == ERR_OK)
		err->code = ERR_FAILED;
	usage_hint(cmd, err);
	app_free(app);
	ui_free(ui);
	opt_free(args);
}

int main(int argc, char **argv) {
	struct err err = {0};
	const char *word = argc > 1 ? argv[1] : "";
	setlocale(LC_CTYPE, "");
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		version();
	} else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		const struct cmd *cmd = argc > 2 ? cmd_find(argv[2], &err) : NULL;
		if (cmd)
			help_one(cmd, stdout);
		else if (err.code == ERR_OK)
			help_all(stdout);
	} else if (argc < 2 || *word == '-') {
		cmd_run(&cmd_state, 1, argc, argv, &err);
	} else {
		const struct cmd *cmd = cmd_find(word, &err);
		if (cmd)
			cmd_run(cmd, 2, argc, argv, &err);
	}
	if ((fflush(stdout) || ferror(stdout)) && err.code == ERR_OK)
		err_set(&err, ERR_FAILED, "is the disk full, or the reader of the pipe gone?", "stdout can't be written");
	if (err.code != ERR_OK && *err.what)
		err_print(&err, stderr);
	return err_exit_status(err.code);
}
