/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs `sweetspot machine` on each node to learn its machine. At most AT_ONCE jobs run at a time, each with its own
 * deadline. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/pipe.h"
#include "base/sys.h"
#include "src/app/app.h"
#include "src/cmd/fleet/fleet_impl.h"

enum { MACHINE_TEXT_MAX = 120, SIZE_MAX_READ = 64 << 10, COUNT_MAX = 1 << 20 };

/* Skips lines before the document, because a prolog of the job may write some. */
static const char *document_begin(const char *text) {
	while (*text && *text != '{') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static int fingerprint_read(const json_t *machine, char fingerprint[SHA256_TEXT], struct err *err) {
	const char *text;
	if (js_string(machine, "fingerprint", &text, err))
		return -1;
	bool good = strlen(text) == SHA256_TEXT - 1 && strncmp(text, "sha256:", 7) == 0 &&
	            strspn(text + 7, "0123456789abcdef") == 64;
	if (!good)
		return err_set(err, ERR_USAGE, NULL, "its fingerprint is invalid");
	memcpy(fingerprint, text, SHA256_TEXT);
	return 0;
}

/* Copies a text, shortened and safe to print. */
static json_t *text_copy(const json_t *from, const char *key) {
	char text[MACHINE_TEXT_MAX + 1];
	const char *given = js_string_or(from, key, NULL);
	if (!given)
		return json_null();
	snprintf(text, sizeof text, "%s", given);
	text_clean(text, false);
	return json_string(text);
}

static int counts_copy(json_t *to, const json_t *from, struct err *err) {
	static const char *const names[] = {"packages", "numa_nodes", "cores", "threads"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int64_t count;
		if (js_int(from, names[i], 0, COUNT_MAX, &count, err))
			return -1;
		json_object_set_new(to, names[i], json_integer((json_int_t)count));
	}
	return 0;
}

/* Checks the description that a node gave of itself: {"cpu","cores",..}. New reference. */
static json_t *fleet_machine_read(const char *text, char fingerprint[SHA256_TEXT], struct err *err) {
	const char *begin = document_begin(text);
	size_t size = strlen(begin);
	if (size > SIZE_MAX_READ)
		return err_null(err_set(err, ERR_USAGE, NULL, "its description is longer than %d bytes", SIZE_MAX_READ));
	js_auto json_t *from = js_parse(begin, size, "its description", err), *machine = json_object();
	int failed = !from || fingerprint_read(from, fingerprint, err) || counts_copy(machine, from, err);
	json_object_set_new(machine, "cpu", text_copy(from, "cpu"));
	json_object_set_new(machine, "gpu", text_copy(json_object_get(from, "gpu"), "name"));
	return failed ? NULL : json_incref(machine);
}

enum { TEXT_MAX = 4 << 20 };

/* Starts the command. It is ended with SIGTERM, on which srun cancels its job. */
static struct proc *fleet_ask_start(const char *const *argv, struct err *err) {
	const struct proc_spec spec = {.argv = argv, .end_signal = SIGTERM, .end_seconds = 10};
	return proc_start(&spec, err);
}

static void text_add(struct fleet_answer *answer, size_t *used, const char *line, size_t size) {
	if (*used + size + 2 > TEXT_MAX) {
		answer->large = true;
		return;
	}
	answer->text = mem_grow(answer->text, *used + size + 2, 1);
	memcpy(answer->text + *used, line, size);
	*used += size;
	answer->text[(*used)++] = '\n';
	answer->text[*used] = '\0';
}

/* Copies the message of the first "error: .." line, which both srun and this program write, else the last line. */
static void message_find(const char *diagnostics, char *line, size_t size) {
	const char *at = strstr(diagnostics, "error: ");
	if (at)
		snprintf(line, size, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
	else
		text_last_line(diagnostics, line, size);
}

static void reason_find(struct fleet_answer *answer, const char *diagnostics, double seconds) {
	char line[120], status[60];
	message_find(diagnostics, line, sizeof line);
	if (answer->large)
		snprintf(answer->why, sizeof answer->why, "it wrote more than %d bytes", TEXT_MAX);
	else if (answer->late)
		snprintf(answer->why, sizeof answer->why, "no answer within %.3g s%s%s", seconds, *line ? ": " : "", line);
	else if (answer->stopped)
		snprintf(answer->why, sizeof answer->why, "interrupted");
	else if (answer->status != 0) {
		proc_status_text(answer->status, status, sizeof status);
		snprintf(answer->why, sizeof answer->why, "%s", *line ? line : status);
	}
}

/* Waits until it ends, and ends it `seconds` after `begun` (sys_now) or as soon as *stop is set. stop may be NULL. */
static void fleet_ask_finish(struct proc *proc, double begun, double seconds, const volatile int *stop,
                             struct fleet_answer *answer) {
	enum proc_read got = PROC_EOF;
	double deadline = begun + seconds;
	char *line;
	size_t size, used = 0;
	*answer = (struct fleet_answer){.text = mem_strdup("")};
	while (!answer->large && (got = proc_read(proc, deadline - sys_now(), stop, &line, &size)) == PROC_LINE)
		text_add(answer, &used, line, size);
	answer->late = got == PROC_TIMEOUT;
	answer->stopped = got == PROC_INTERRUPTED;
	answer->large = answer->large || got == PROC_FLOOD;
	mem_auto char *diagnostics = mem_strdup(proc_stderr(proc));
	answer->status = proc_stop(proc, got == PROC_EOF && !answer->large ? 2 : 0);
	reason_find(answer, diagnostics, seconds);
}

int fleet_ask(const char *const *argv, double seconds, const volatile int *stop, struct fleet_answer *answer,
              struct err *err) {
	struct proc *proc = fleet_ask_start(argv, err);
	if (!proc)
		return -1;
	fleet_ask_finish(proc, sys_now(), seconds, stop, answer);
	return 0;
}

void fleet_answer_clear(struct fleet_answer *answer) {
	free(answer->text);
	answer->text = NULL;
}

enum { AT_ONCE = 32 };

struct asked {
	json_t *node;
	struct proc *proc; /* NULL if it could not be started */
	double begun;
};

static void reason_set(json_t *node, const char *reason) {
	json_t *text = json_string(reason);
	json_object_set_new(node, "reason", text ? text : json_string("its answer is not valid UTF-8"));
}

static const char *name_of(const json_t *node) {
	return js_string_or(node, "node", "");
}

static void ask(const struct fleet_run *run, struct asked *asked, json_t *node) {
	struct fleet_line line = {0}, command = {0};
	struct err err = {0};
	fleet_line_words(&command, (const char *const[]){run->self, "machine", "--json", NULL});
	if (app_device(run->app))
		fleet_line_words(&command, (const char *const[]){"--device", app_device(run->app), NULL});
	fleet_line_on(&line, run, name_of(node), &command);
	*asked = (struct asked){.node = node, .proc = fleet_ask_start(line.words, &err), .begun = sys_now()};
	if (!asked->proc)
		reason_set(node, err.what);
	fleet_line_clear(&line);
}

/* A, B, .. */
static void fleet_type_label(size_t number, char label[8]) {
	if (number < 26)
		snprintf(label, 8, "%c", (char)('A' + number));
	else
		snprintf(label, 8, "T%zu", number + 1 < 100000 ? number + 1 : 100000);
}

/* Adds the node to the type with that fingerprint, which is created if it is the first one. */
static void type_join(struct fleet_run *run, json_t *node, const char *fingerprint, json_t *machine) {
	json_t *type = fleet_type_find(run->document, fingerprint);
	char label[8];
	if (!type) {
		json_t *types = json_object_get(run->document, "types");
		fleet_type_label(json_array_size(types), label);
		type =
			json_pack("{s:s,s:s,s:O,s:[],s:s,s:n,s:[],s:n,s:[]}", "type", label, "fingerprint", fingerprint, "machine",
		              machine, "nodes", "state", "waiting", "reason", "measured_on", "profile", "results");
		json_array_append_new(types, type);
	}
	json_array_append(json_object_get(type, "nodes"), json_object_get(node, "node"));
	json_object_set_new(node, "fingerprint", json_string(fingerprint));
	ui_note(app_ui(run->app), "%s is of type %s", name_of(node), js_string_or(type, "type", ""));
}

static void answer_record(struct fleet_run *run, struct asked *asked) {
	char fingerprint[SHA256_TEXT];
	struct fleet_answer answer;
	struct err err = {0};
	if (!asked->proc)
		return;
	fleet_ask_finish(asked->proc, asked->begun, run->wait, app_interrupt(run->app), &answer);
	js_auto json_t *machine = *answer.why ? NULL : fleet_machine_read(answer.text, fingerprint, &err);
	if (machine)
		type_join(run, asked->node, fingerprint, machine);
	else
		reason_set(asked->node, *answer.why ? answer.why : err.what);
	fleet_answer_clear(&answer);
}

/* Keeps the jobs in a ring and waits for the oldest one while the others run. */
static void ask_all(struct fleet_run *run, json_t *const *nodes, size_t count) {
	struct asked ring[AT_ONCE];
	const volatile int *stop = app_interrupt(run->app);
	for (size_t begun = 0, done = 0; done < count && (done < begun || !*stop); done++) {
		for (; begun < count && begun - done < AT_ONCE && !*stop; begun++)
			ask(run, &ring[begun % AT_ONCE], nodes[begun]);
		if (done < begun)
			answer_record(run, &ring[done % AT_ONCE]);
		ui_progress(app_ui(run->app), "nodes  %zu of %zu have answered or timed out", done + 1, count);
	}
	ui_progress_end(app_ui(run->app));
}

static void left_out_report(const struct fleet_run *run) {
	js_each (node, json_object_get(run->document, "nodes")) {
		const char *reason = js_string_or(node, "reason", NULL);
		if (reason)
			ui_warn(app_ui(run->app), NULL, "%s is left out: %s", name_of(node), reason);
	}
}

static int conclude(const struct fleet_run *run, struct err *err) {
	if (*app_interrupt(run->app))
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	left_out_report(run);
	if (json_array_size(json_object_get(run->document, "types")))
		return 0;
	return err_set(err, ERR_NOTHING, run->launcher->silent, "none of %zu node(s) described its machine",
	               json_array_size(json_object_get(run->document, "nodes")));
}

int fleet_probe(struct fleet_run *run, struct err *err) {
	json_t *nodes = json_object_get(run->document, "nodes");
	mem_auto json_t **usable = mem_alloc(json_array_size(nodes) + 1, sizeof *usable);
	size_t count = 0;
	js_each (node, nodes)
		if (js_bool_or(node, "usable", false))
			usable[count++] = node;
	ask_all(run, usable, count);
	return conclude(run, err);
}

enum { OUTPUT_MAX = 256 << 20, CHUNK = 64 << 10 };
static const double SLICE = 0.2, PATIENCE_SECONDS = 60; /* the child needs time after SIGTERM to cancel its jobs */

struct child {
	struct app *app;
	pid_t pid;
	int out;
	int sent;        /* signals sent to it so far */
	double given_up; /* time of SIGTERM, 0 before */
	char *text;
	size_t used;
};

/* Passes Ctrl-C on: SIGINT asks the child to finish its trial, SIGTERM to give up. SIGINT is queued with sigqueue to
 * tell the child that this process has already informed the user. The child ends its jobs itself. */
static void signals_pass(struct child *child) {
	int want = *app_abandon(child->app) ? 2 : *app_interrupt(child->app) ? 1 : 0;
	if (want > child->sent) {
		sigqueue(child->pid, want == 2 ? SIGTERM : SIGINT, (union sigval){0});
		child->sent = want;
		child->given_up = want == 2 ? sys_now() : 0;
	}
	if (child->given_up > 0 && sys_now() - child->given_up > PATIENCE_SECONDS)
		kill(-child->pid, SIGKILL);
}

/* False at the end of the output, or if it is too large. */
static bool read_some(struct child *child) {
	child->text = mem_grow(child->text, child->used + CHUNK + 1, 1);
	ssize_t got = read(child->out, child->text + child->used, CHUNK);
	if (got > 0)
		child->used += (size_t)got;
	child->text[child->used] = '\0';
	return child->used < OUTPUT_MAX && !proc_is_final(got);
}

static int watch(struct child *child) {
	struct pollfd fd = {.fd = child->out, .events = POLLIN};
	for (bool more = true; more && !proc_has_ended(child->pid);) {
		signals_pass(child);
		if (proc_poll(&fd, 1, SLICE) > 0)
			more = read_some(child);
	}
	while (!proc_has_ended(child->pid)) {
		signals_pass(child);
		if (child->used >= OUTPUT_MAX)
			kill(child->pid, SIGTERM);
		proc_poll(NULL, 0, SLICE);
	}
	while (read_some(child) && proc_poll(&fd, 1, 0) > 0)
		continue;
	int status = -1;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static pid_t start(const char *const *argv, const char *const *set, int out, struct err *err) {
	const struct proc_spec spec = {.argv = argv, .set = set, .end_signal = SIGTERM};
	mem_auto char **environment = proc_environment(NULL, set);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), in = fcntl(null, F_DUPFD_CLOEXEC, 3);
	int diagnostics = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	pid_t pid = -1;
	if (in < 0 || diagnostics < 0)
		err_set(err, ERR_FAILED, "raise the limit of open files", "cannot start %s: no file descriptors left", argv[0]);
	else
		pid = proc_launch(&spec, environment, (const int[]){in, out, diagnostics}, err);
	proc_shut(&null);
	proc_shut(&in);
	proc_shut(&diagnostics);
	return pid;
}

int fleet_child_run(struct app *app, const char *const *argv, const char *const *set, char **text, struct err *err) {
	struct child child = {.app = app, .text = mem_strdup("")};
	int pipe[2], status = -1;
	*text = child.text;
	if (proc_pipe(pipe) < 0)
		return err_set(err, ERR_FAILED, "raise the limit of open files", "cannot create a pipe");
	child.pid = start(argv, set, pipe[1], err);
	proc_shut(&pipe[1]);
	child.out = pipe[0];
	if (child.pid > 0) {
		fcntl(child.out, F_SETFL, O_NONBLOCK);
		status = watch(&child);
	}
	proc_shut(&pipe[0]);
	*text = child.text;
	return status;
}

/* Lists the nodes with sinfo. Their states are those of sinfo(1), NODE STATE CODES, Slurm 22.05. */
static const double SINFO_SECONDS = 20;

/* "idle", "mixed-": a node that is powered down or planned will run the job eventually, but one that does not respond,
 * is about to reboot or is in maintenance will not. */
static bool state_usable(const char *state) {
	static const char *const good[] = {"idle", "mixed", "allocated", "completing", "planned"};
	size_t length = strcspn(state, "*~#!%$@^-+");
	if (strpbrk(state + length, "*!%$@^"))
		return false;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (strlen(good[i]) == length && strncmp(good[i], state, length) == 0)
			return true;
	return false;
}

static int node_add(json_t *nodes, const char *name, const char *state, struct err *err) {
	if (!fleet_name_ok(name, "") || !fleet_name_ok(state, "*~#!%$@^+"))
		return err_set(err, ERR_FAILED, "see `sinfo -N`",
		               "sinfo names a node \"%.60s\" in state \"%.60s\", which is not a valid name and state", name,
		               state);
	if (json_array_size(nodes) >= FLEET_NODES_MAX)
		return err_set(err, ERR_USAGE, "choose a smaller --partition", "the partition has more than %d nodes",
		               FLEET_NODES_MAX);
	bool usable = state_usable(state);
	json_array_append_new(nodes,
	                      json_pack("{s:s,s:s,s:b,s:n,s:o}", "node", name, "state", state, "usable", usable,
	                                "fingerprint", "reason", usable ? json_null() : json_sprintf("it is %s", state)));
	return 0;
}

/* Without -p sinfo lists all partitions and marks the default one with a star. */
static bool is_ours(const struct fleet_run *run, const char *partition) {
	size_t length = strlen(partition);
	return run->partition || run->inside || (length && partition[length - 1] == '*');
}

/* "NODE|STATE|PARTITION" */
static int lines_read(const struct fleet_run *run, char *text, json_t *nodes, struct err *err) {
	int failed = 0;
	for (char *line; !failed && (line = strsep(&text, "\n"));) {
		char *name = strsep(&line, "|"), *state = strsep(&line, "|");
		if (name && state && line && is_ours(run, line) && !js_find(nodes, "node", name))
			failed = node_add(nodes, name, state, err);
	}
	return failed;
}

static int none(const struct fleet_run *run, struct err *err) {
	if (run->partition)
		return err_set(err, ERR_USAGE, "`sinfo -s` lists the partitions", "partition %s does not exist or is empty",
		               run->partition);
	return err_set(err, ERR_USAGE, "choose one with --partition P; `sinfo -s` lists them",
	               "there is no default partition");
}

json_t *fleet_nodes_list(const struct fleet_run *run, struct err *err) {
	const char *list = run->inside ? getenv("SLURM_JOB_NODELIST") : run->partition, *option = run->inside ? "-n" : "-p";
	const char *const argv[] = {"sinfo", "-h", "-N", "-o", "%N|%T|%P", list ? option : NULL, list, NULL};
	struct fleet_answer answer = {0};
	js_auto json_t *nodes = json_array();
	int failed = fleet_ask(argv, SINFO_SECONDS, app_interrupt(run->app), &answer, err);
	if (!failed && answer.stopped)
		failed = err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	else if (!failed && (answer.status != 0 || answer.large || answer.late))
		failed = err_set(err, ERR_UNAVAILABLE, "see `sinfo -N`", "cannot list the nodes: %s", answer.why);
	failed = failed || lines_read(run, answer.text, nodes, err) ? -1 : 0;
	if (!failed && json_array_size(nodes) == 0)
		failed = none(run, err);
	fleet_answer_clear(&answer);
	return failed ? NULL : json_incref(nodes);
}
