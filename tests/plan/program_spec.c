/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a specification with Language "Command" makes tune do. */
#include "src/plan/program_plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/tap.h"

#define PARAMS                                                                                                         \
	"\"ConfigurationSpace\": {\"TuningParameters\": [{\"Name\": \"B\", \"Values\": \"[1, 2, 4]\", \"Default\": 4},"    \
	"{\"Name\": \"U\", \"Values\": \"[1, 2]\"}], \"Conditions\": [{\"Expression\": \"B >= U\"}]}"

static const struct opt some[] = {
	{"build", 0, "X", "", 0},  {"metric", 0, "X", "", 0},         {"maximize", 0, NULL, "", 0},
	{"verify", 0, "X", "", 0}, {"before-each", 0, "X", "", 0},    {"input", 0, "X", "", 0},
	{"cwd", 0, "X", "", 0},    {"expect-output", 0, NULL, "", 0}, {"shell", 0, NULL, "", 0},
	{"param", 0, "X", "", 0},  {"openmp", 0, NULL, "", 0},        {0},
};

/* The plan's own file frees it in the program; it takes the whole program to link. */
static void plan_drop(struct program_plan *plan) {
	if (!plan)
		return;
	space_free(plan->space);
	json_decref(plan->problem);
	json_decref(plan->baseline);
	arena_free(plan->arena);
	free(plan);
}

/* The specification lies in `folder`; `options` end with NULL. */
static struct program_plan *plan_of(const char *folder, const char *kernel, const char *const *options,
                                    struct err *err) {
	const struct opt *const tables[] = {some, NULL};
	char *text = mem_printf("{" PARAMS ", \"KernelSpecification\": {\"Language\": \"Command\", %s}}", kernel);
	char *path = mem_printf("%s/mine.json", folder), *argv[8] = {"test"};
	int argc = 1;
	for (; options && options[argc - 1]; argc++)
		argv[argc] = (char *)options[argc - 1];
	struct opt_args *args = opt_parse(argc, argv, tables, err);
	struct spec *spec = args ? spec_parse(text, strlen(text), path, err) : NULL;
	struct program_plan *plan = spec ? program_plan_from_spec(spec, args, err) : NULL;
	spec_free(spec);
	opt_free(args);
	free(path);
	free(text);
	return plan;
}

static const char *member(const struct program_plan *plan, const char *key) {
	const char *text = json_string_value(json_object_get(plan->problem, key));
	return text ? text : "(none)";
}

static void test_words(const char *folder) {
	struct err err = {0};
	struct program_plan *plan = plan_of(folder, "\"Command\": [\"sh\", \"-c\", \"exit {B}\"]", NULL, &err);
	if (!ok(plan != NULL, "a list of words: %s", err.what))
		return;
	is_text(plan->name, "mine", "the name is the specification's");
	ok(strncmp(plan->source, "sha256:", 7) == 0, "the source is a hash");
	is_text(member(plan, "command"), "sh -c 'exit {B}'", "the command as it would be typed");
	ok(json_object_size(plan->problem) == 1, "the problem has nothing that was not given");
	ok(!plan->program.shell && strcmp(plan->program.argv[2], "exit {B}") == 0 && !plan->program.argv[3],
	   "the words stay words");
	ok(!plan->program.cwd && !plan->program.build && !plan->program.metric && !plan->program.openmp,
	   "no more is asked for");
	ok(strcmp(plan->program.params[0], "B") == 0 && strcmp(plan->program.params[1], "U") == 0 &&
	       !plan->program.params[2],
	   "all parameters are the user's own");
	json_t *start = space_config_json(plan->space, plan->start);
	ok(space_valid(plan->space) == 5 && plan->program.baseline == plan->baseline && json_equal(start, plan->baseline) &&
	       json_integer_value(json_object_get(plan->baseline, "B")) == 4,
	   "space, baseline and its number");
	json_decref(start);
	plan_drop(plan);
}

static void test_members(const char *folder) {
	struct err err = {0};
	struct program_plan *plan =
		plan_of(folder,
	            "\"Command\": \"./app {B} | tail -1\", \"Build\": \"make B={B}\", \"Metric\": \"rate (.*)\","
	            "\"Maximize\": true, \"Verify\": \"cmp - good\", \"BeforeEach\": \"sync\","
	            "\"Input\": \"in.dat\", \"Cwd\": \"sub\"",
	            NULL, &err);
	if (!ok(plan != NULL, "every member: %s", err.what))
		return;
	const struct program_spec *p = &plan->program;
	ok(p->shell && strcmp(p->argv[0], "./app {B} | tail -1") == 0 && !p->argv[1], "a text is for the shell");
	ok(strcmp(p->build, "make B={B}") == 0 && strcmp(p->metric, "rate (.*)") == 0 && p->maximize &&
	       strcmp(p->verify, "cmp - good") == 0 && strcmp(p->before_each, "sync") == 0 &&
	       strcmp(p->input, "in.dat") == 0,
	   "members go where they belong");
	char *sub = mem_printf("%s/sub", folder), *real = realpath(sub, NULL);
	is_text(p->cwd, real, "Cwd is in the specification's folder");
	is_text(member(plan, "cwd"), real, "the problem has it");
	is_text(member(plan, "build"), "make B={B}", "the problem has the build");
	free(real);
	free(sub);
	plan_drop(plan);
}

static void test_options(const char *folder) {
	static const char *const options[] = {"--build=cc", "--metric=x", "--maximize", "--cwd=/", "--expect-output", NULL};
	struct err err = {0};
	struct program_plan *plan = plan_of(
		folder, "\"Command\": [\"./app\"], \"Build\": \"make\", \"Metric\": \"y\", \"Maximize\": false", options, &err);
	if (!ok(plan != NULL, "options: %s", err.what))
		return;
	const struct program_spec *p = &plan->program;
	ok(strcmp(p->build, "cc") == 0 && strcmp(p->metric, "x") == 0 && p->maximize && strcmp(p->cwd, "/") == 0 &&
	       p->expect_same,
	   "options take the place of members");
	plan_drop(plan);
}

/* The hash follows what runs: the file, or the commands where the file is not known before. */
static void test_source(const char *folder) {
	static const char *const kernels[] = {
		"\"Command\": [\"./one\"], \"Cwd\": \"sub\"",    "\"Command\": [\"./one\", \"{B}\"], \"Cwd\": \"sub\"",
		"\"Command\": [\"./two\"], \"Cwd\": \"sub\"",    "\"Command\": \"./one\", \"Cwd\": \"sub\"",
		"\"Command\": [\"./one\"], \"Build\": \"make\"", "\"Command\": [\"./{B}\"]",
	};
	struct program_plan *plans[6];
	bool all = true;
	for (int i = 0; i < 6; i++) {
		struct err err = {0};
		plans[i] = plan_of(folder, kernels[i], NULL, &err);
		all &= ok(plans[i] != NULL, "%s %s", kernels[i], err.what);
	}
	ok(all && strcmp(plans[0]->source, plans[1]->source) == 0, "the same file, the same source");
	for (int i = 2; all && i < 6; i++)
		for (int k = 1; k < i; k++)
			all &= strcmp(plans[i]->source, plans[k]->source) != 0;
	ok(all, "another file or command, another source");
	for (int i = 0; i < 6; i++)
		plan_drop(plans[i]);
}

static void test_errors(const char *folder) {
	static const char *const param[] = {"--param=a=1", NULL}, *const openmp[] = {"--openmp", NULL};
	static const struct {
		const char *kernel, *const *options, *says;
	} rows[] = {
		{"\"x\": 1", NULL, "KernelSpecification: 'Command' must be"},
		{"\"Command\": []", NULL, "'Command' must be"},
		{"\"Command\": \"\"", NULL, "'Command' must be"},
		{"\"Command\": [\"sh\", 5]", NULL, "'Command' must be"},
		{"\"Command\": {\"sh\": 1}", NULL, "'Command' must be"},
		{"\"Command\": [\"sh\"], \"Build\": 5", NULL, "'Build' must be"},
		{"\"Command\": [\"sh\"], \"Maximize\": \"yes\"", NULL, "'Maximize' must be"},
		{"\"Command\": [\"sh\"], \"Cwd\": \"nosuch\"", NULL, "nosuch' does not exist"},
		{"\"Command\": [\"./nosuch\"]", NULL, "cannot run ./nosuch"},
		{"\"Command\": [\"nosuchprogramanywhere\"]", NULL, "there is no program nosuchprogramanywhere"},
		{"\"Command\": [\"sh\"]", param, "--param cannot be combined"},
		{"\"Command\": [\"sh\"]", openmp, "--openmp cannot be combined"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = {0};
		struct program_plan *plan = plan_of(folder, rows[i].kernel, rows[i].options, &err);
		ok(!plan && err.code == ERR_USAGE && strstr(err.what, rows[i].says), "%s", err.what);
		plan_drop(plan);
	}
	struct err err = {0};
	const char cuda[] = "{" PARAMS ", \"KernelSpecification\": {\"Language\": \"CUDA\"}}";
	struct spec *spec = spec_parse(cuda, sizeof cuda - 1, "x.json", &err);
	const struct opt *const tables[] = {some, NULL};
	char *argv[] = {"test", NULL};
	struct opt_args *args = opt_parse(1, argv, tables, &err);
	ok(spec && args && !program_plan_from_spec(spec, args, &err) && strstr(err.what, "'CUDA'"), "another language: %s",
	   err.what);
	opt_free(args);
	spec_free(spec);
}

static void file_make(const char *folder, const char *name, const char *text) {
	char *path = mem_printf("%s/sub/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s is there", name);
	close(fd);
	free(path);
}

static void folder_remove(const char *folder) {
	static const char *const names[] = {"sub/one", "sub/two", "sub", ""};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = mem_printf("%s/%s", folder, names[i]);
		remove(path);
		free(path);
	}
}

int main(void) {
	char folder[] = "/tmp/sweetspot-program-spec-XXXXXX";
	if (!mkdtemp(folder))
		return 99;
	char *sub = mem_printf("%s/sub", folder);
	mkdir(sub, 0700);
	free(sub);
	file_make(folder, "one", "#!/bin/sh\n");
	file_make(folder, "two", "#!/bin/sh\nexit 0\n");
	test_words(folder);
	test_members(folder);
	test_options(folder);
	test_source(folder);
	test_errors(folder);
	folder_remove(folder);
	return tap_done();
}
