/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/reap.h"
#include "base/stop.h"
#include "src/app/app.h"
#include "src/cmd/status/status_state.h"

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

/* Global because a signal handler gets no argument. */
static volatile int signals_interrupted, signals_abandoned;
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

static void signals_set(void) {
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

const struct opt cmd_common_options[] = {
	OPT_GROUP("Output"),
	{"json", 0, NULL, "print one JSON document", 0},
	{"quiet", 'q', NULL, "do not show progress", 0},
	{"verbose", 'v', NULL, "report what is being done and why", 0},
	OPT_GROUP("Help"),
	{"help", 'h', NULL, "print this help", 0},
	{"version", 'V', NULL, "print the version", 0},
	{0},
};

const struct opt cmd_device_options[] = {
	{"device", 0, "DEVICE", "cpu (the default), cuda, cuda:N, opencl, hip, ..", 0},
	{0},
};

const struct opt cmd_store_options[] = {
	OPT_GROUP("Results"),
	{"store", 0, "FILE", "the store ($XDG_DATA_HOME/sweetspot/store.db)", 0},
	{0},
};

/* Returns the tables of the command and those of every command, ending with NULL. The caller frees the array. */
static const struct opt **tables_of(const struct cmd *cmd) {
	size_t count = 0;
	while (cmd->options[count])
		count++;
	const struct opt **tables = mem_alloc(count + 2, sizeof *tables);
	memcpy(tables, cmd->options, count * sizeof *tables);
	tables[count] = cmd_common_options;
	return tables;
}

static void options_print(const struct cmd *cmd, FILE *out) {
	mem_auto const struct opt **tables = tables_of(cmd);
	opt_help(tables, out);
}

static void help_all(FILE *out) {
	fputs("usage: sweetspot tune [OPTION...] -- PROGRAM [ARG...]\n"
	      "       sweetspot COMMAND [OPTION...] [ARGUMENT...]\n"
	      "       sweetspot [--json] [--store FILE]\n\n"
	      "Finds the fastest way to run a parallel program or kernel on this machine, and\n"
	      "proves that it is faster. Without a command it shows this machine, what has been\n"
	      "tuned on it, and what to do next.\n\n"
	      "Your own program:\n"
	      "  sweetspot tune --openmp -- ./app in.dat         find its best OpenMP settings\n"
	      "  sweetspot tune --param B=16,64 -- ./app -b {B}  find its best argument\n"
	      "  sweetspot apply -- ./app in.dat                 run it with the best settings\n\n"
	      "Built-in kernels:\n"
	      "  sweetspot tune fw gol --budget 90s              find their best settings\n"
	      "  sweetspot explain fw                            why they are the best\n"
	      "  sweetspot export --format env fw -o fw.sh       use them in a script\n\n"
	      "Commands:\n",
	      out);
	for (const struct cmd *const *cmd = cmd_registry; *cmd; cmd++)
		fprintf(out, "  %-9s %s\n", (*cmd)->name, (*cmd)->summary);
	options_print(&cmd_state, out);
	fputs("\n`sweetspot COMMAND --help` shows the options of a command.\n", out);
}

/* Writes the lines of `text`, the first one after `first` and the others after `next`. */
static void lines_print(const char *first, const char *next, const char *text, FILE *out) {
	const char *prefix = first;
	while (*text) {
		size_t length = strcspn(text, "\n");
		fprintf(out, "%s%.*s\n", prefix, (int)length, text);
		text += length + (text[length] == '\n');
		prefix = next;
	}
}

static void help_one(const struct cmd *cmd, FILE *out) {
	lines_print("usage: sweetspot ", "       sweetspot ", cmd->usage, out);
	fprintf(out, "\n%c%s.\n", toupper((unsigned char)*cmd->summary), cmd->summary + 1);
	if (cmd->notes)
		fprintf(out, "\n%s\n", cmd->notes);
	options_print(cmd, out);
	if (cmd->examples) {
		fputs("\nExamples:\n", out);
		lines_print("  ", "  ", cmd->examples, out);
	}
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
	err_set(err, ERR_USAGE, "`sweetspot --help` lists the commands", "unknown command \"%s\"", name);
	if (strcmp(name, "status") == 0) /* as others have it */
		err_hint(err, "`sweetspot` alone shows what was found here and what to do next");
	else if (strchr(name, '/') && access(name, X_OK) == 0)
		err_hint(err, "to tune this program: sweetspot tune --openmp -- %s", name);
	else if (near)
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

/* `words` is the number of words before the options: the program's name and the command. */
enum { VERBS_MAX = 16 };

static int verb_unknown(const struct cmd *cmd, const char *word, struct err *err) {
	const char *names[VERBS_MAX];
	char meant[64], hint[160] = "the verbs are ";
	size_t count = 0;
	while (count < VERBS_MAX && cmd->verbs[count])
		count++;
	for (size_t i = 0, at = strlen(hint); i < count && at < sizeof hint; i++) {
		names[i] = cmd->verbs[i]->name;
		at += (size_t)snprintf(hint + at, sizeof hint - at, "%s%s", names[i],
		                       i + 2 < count   ? ", "
		                       : i + 1 < count ? " and "
		                                       : "");
	}
	snprintf(meant, sizeof meant, "did you mean `sweetspot %s %%s`?", cmd->name);
	return opt_refuse(err, word, names, count, meant, hint, "unknown verb: `sweetspot %s %s`", cmd->name, word);
}

static int verb_check(const struct cmd *cmd, const struct cmd_verb *verb, const struct opt_args *args,
                      struct err *err) {
	size_t words = opt_words(args) ? opt_words(args) - 1 : 0;
	const char *other = *verb->options ? opt_other(args, cmd->options, verb->options) : NULL;
	char hint[80];
	snprintf(hint, sizeof hint, "`sweetspot %s --help` lists the options of each verb", cmd->name);
	if (other)
		return err_set(err, ERR_USAGE, hint, "--%s is not an option of `%s %s`", other, cmd->name, verb->name);
	if (words < verb->least || words > verb->most)
		return err_set(err, ERR_USAGE, verb->example, "too %s words for `%s %s`", words < verb->least ? "few" : "many",
		               cmd->name, verb->name);
	return 0;
}

static int verb_run(const struct cmd *cmd, struct app *app, const struct opt_args *args, struct err *err) {
	const char *word = opt_words(args) ? opt_word(args, 0) : cmd->verb;
	if (!word)
		return err_set(err, ERR_USAGE, cmd->verbs[0]->example, "give a verb");
	for (const struct cmd_verb *const *verb = cmd->verbs; *verb; verb++)
		if (strcmp((*verb)->name, word) == 0)
			return verb_check(cmd, *verb, args, err) ? -1 : (*verb)->run(app, args, err);
	return verb_unknown(cmd, word, err);
}

static void cmd_run(const struct cmd *cmd, int words, int argc, char *const *argv, struct err *err) {
	mem_auto const struct opt **tables = tables_of(cmd);
	struct opt_args *args = opt_parse(argc - words + 1, argv + words - 1, tables, err);
	if (!args) {
		if (strstr(cmd->usage, "-- PROGRAM") && strncmp(err->what, "unknown option", 14) == 0)
			app_dashes_suggest(words, argc, argv, err);
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
	stop_at_once(cmd->only_reads);
	if (!cmd->becomes_program)
		signals_set();
	struct ui *ui = ui_new(stdout, stderr, opt_has(args, "quiet"), opt_has(args, "verbose"));
	struct app *app = app_new(ui, argc, argv, &signals_interrupted, &signals_abandoned);
	if ((app_device_use(app, opt_get(args, "device", "cpu"), err) ||
	     (cmd->verbs ? verb_run(cmd, app, args, err) : cmd->run(app, args, err))) &&
	    err->code == ERR_OK)
		err->code = ERR_FAILED;
	if (err->code == ERR_USAGE && strstr(cmd->usage, "-- PROGRAM") && !opt_dashes(args) && opt_words(args))
		app_dashes_missed(words, argc, argv, opt_word(args, 0), err);
	usage_hint(cmd, err);
	app_free(app);
	ui_free(ui);
	opt_free(args);
}

/* Ends like any filter when the reader of its output has gone (`export | head`): silently, by SIGPIPE. The signal is
 * ignored until here, because a worker that dies must not end the tuner. */
static void reader_check(void) {
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	if (!ferror(stdout) || poll(&out, 1, 0) < 0 || !(out.revents & POLLERR))
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}

/* With the rights of another user nobody's variables may choose what is run: not those of the one who started it. */
static void variables_drop(void) {
	static const char prefix[] = "SWEETSPOT_";
	const char *sudo = getenv("SUDO_UID");
	bool raised = getuid() != geteuid() || getgid() != getegid() || (geteuid() == 0 && sudo && strcmp(sudo, "0") != 0);
	for (char **entry = environ; raised && *entry;) {
		if (strncmp(*entry, prefix, sizeof prefix - 1) != 0) {
			entry++;
			continue;
		}
		mem_auto char *name = mem_printf("%.*s", (int)strcspn(*entry, "="), *entry);
		fprintf(stderr, "sweetspot: warning: %s is ignored under sudo and in a setuid program\n", name);
		unsetenv(name);
		entry = environ;
	}
}

/* Characters are those of the user, but letters of words such as OMP_PROC_BIND do not depend on the language: in
 * Turkish the capital of i is another letter than I. */
static void locale_set(void) {
	setlocale(LC_CTYPE, "");
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (toupper('i') == 'I' && tolower('I') == 'i')
		return;
	if (!utf8 || !setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "C");
}

int main(int argc, char **argv) {
	struct err err = {0};
	variables_drop();
	reap_spare();
	js_end_without_memory();
	const char *word = argc > 1 ? argv[1] : "";
	locale_set();
	if (*word == '-' || strcmp(word, "help") == 0)
		signal(SIGXFSZ, SIG_IGN); /* the write that fails is reported; what `apply` becomes must not inherit this */
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
	fflush(stdout);
	reader_check();
	if (ferror(stdout) && err.code == ERR_OK)
		err_set(&err, ERR_FAILED, "check that the disk is not full and that the reader of the pipe still runs",
		        "cannot write to stdout");
	if (err.code != ERR_OK && *err.what)
		ui_error(stderr, &err);
	return err_exit_status(err.code);
}
