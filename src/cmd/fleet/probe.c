/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs `sweetspot machine` on each node to learn its machine. At most AT_ONCE jobs run at a time, each with its own
 * deadline. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/fleet/launcher.h"

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
	json_t *machine = *answer.why ? NULL : fleet_machine_read(answer.text, fingerprint, &err);
	if (machine)
		type_join(run, asked->node, fingerprint, machine);
	else
		reason_set(asked->node, *answer.why ? answer.why : err.what);
	json_decref(machine);
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
	json_t *node;
	size_t i;
	json_array_foreach(json_object_get(run->document, "nodes"), i, node) {
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
	json_t *nodes = json_object_get(run->document, "nodes"), *node;
	json_t **usable = mem_alloc(json_array_size(nodes) + 1, sizeof *usable);
	size_t count = 0, i;
	json_array_foreach(nodes, i, node) {
		if (js_bool_or(node, "usable", false))
			usable[count++] = node;
	}
	ask_all(run, usable, count);
	free(usable);
	return conclude(run, err);
}
