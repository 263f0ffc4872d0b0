/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words, names in braces, variables and lines of a program. A real shell judges the quoting. */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/sys.h"
#include "tests/mutate.h"
#include "tuner/program/line_name.h"
#include "tuner/program/program.h"
#include "tuner/program/template.h"

static char *shell(const char *line) {
	FILE *pipe = popen(line, "r");
	char *out = pipe ? sys_read_fd(fileno(pipe), "the shell", 1 << 20, NULL, NULL) : NULL;
	if (pipe)
		pclose(pipe);
	return out ? out : mem_strdup("(no shell)");
}

static bool survives(const char *text) {
	char *word = program_quote(text), *line = mem_printf("printf '%%s|' %s", word);
	char *got = shell(line), *want = mem_printf("%s|", text);
	bool same = strcmp(got, want) == 0;
	if (!same)
		printf("# %s gave %s\n", line, got);
	free(word);
	free(line);
	free(got);
	free(want);
	return same;
}

static void test_quote(void) {
	static const char *const plain[] = {"a", "-O2", "a/b.c", "x=1,2", "50%"};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		char *word = program_quote(plain[i]);
		is_text(word, plain[i], "a plain word stays as it is");
		free(word);
	}
	static const char *const hard[] = {"",     " ", "'", "''", "a'b'", "$HOME", "`id`",
	                                   "a\nb", "*", "~", "\\", "!x",   "#",     "é"};
	for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
		ok(survives(hard[i]), "a shell reads back word %zu", i);
	struct rng rng;
	rng_seed(&rng, 7);
	bool all = true;
	for (int i = 0; i < 60; i++) {
		static const char letters[] = "ab '\"\\$`*?[]{}()<>|;&!#~\n\t=%-";
		char text[20] = "";
		for (size_t k = 0, n = rng_below(&rng, sizeof text - 1); k < n; k++)
			text[k] = letters[rng_below(&rng, sizeof letters - 1)];
		all = all && survives(text);
	}
	ok(all, "a shell reads back words of random characters");
}

static char *letter(const void *ctx, const char *name) {
	return strcmp(name, "none") == 0 ? NULL : mem_printf("%s%s", (const char *)ctx, name);
}

static char *same(const void *ctx, const char *name) {
	(void)name;
	return mem_strdup(ctx);
}

static const char *const known[] = {"BLOCK", "B", "b-1", "none", "SOURCE"};
static const struct template_names names = {known, 5, 4};

static void fills(const char *text, bool quoted, const char *want) {
	const char *missing = "";
	char *got = template_fill(text, &names, letter, "v ", quoted, &missing);
	is_text(got, want, text);
	free(got);
}

static void test_fill(void) {
	static const char *const same[] = {"awk '{print $1}'",
	                                   "{\"a\":{\"b\":1}}",
	                                   "{{B}}",
	                                   "${B}",
	                                   "{}",
	                                   "{",
	                                   "}{",
	                                   "a{ B }",
	                                   "{0:4}",
	                                   "{i,j}",
	                                   "{BB",
	                                   "$((1))",
	                                   "{{{B}}}",
	                                   "x{;}",
	                                   "B",
	                                   "{ echo B; }"};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		fills(same[i], true, same[i]);
	fills("--b={B}", false, "--b=v B");
	fills("--b={B}", true, "--b='v B'");
	fills("{B}{B}", false, "v Bv B");
	fills("{\"a\":{B}}", false, "{\"a\":v B}");
	fills("awk '{x={B}}' {b-1}", false, "awk '{x=v B}' v b-1");
	fills("$$-{B}", false, "$$-v B");
	struct rng rng;
	rng_seed(&rng, 3);
	bool all = true, fit = true;
	for (int i = 0; i < 2000; i++) {
		char text[24] = "";
		for (size_t k = 0, n = rng_below(&rng, sizeof text - 1); k < n; k++)
			text[k] = "{}{}$ Bc"[rng_below(&rng, 8)];
		const char *none;
		char *kept = template_fill(text, &(struct template_names){known, 0, 0}, letter, "", false, &none);
		char *put = template_fill(text, &names, letter, "", false, &none);
		/* A value that is its own name in braces loses two braces each time. */
		all = all && strcmp(kept, text) == 0 && (strlen(put) < strlen(text)) == template_mentions(text, "B");
		fit = fit && template_fits(text, &names, put) && template_fits(text, &names, text);
		free(kept);
		free(put);
	}
	ok(fit, "a filled template fits, and so does the template itself");
	ok(all, "only mentioned names change, whatever the braces");
	const char *missing = NULL;
	char *got = template_fill("{B} {none}", &names, letter, "v", false, &missing);
	ok(!got && missing && strcmp(missing, "none") == 0, "a name without a value is named");
	ok(template_mentions("a {x} {B}", "B") && !template_mentions("{{B}} ${B} B", "B"), "only {NAME} mentions a name");
	ok(template_fits("{B}-{BLOCK}.x", &names, "a-b-c.x") && template_fits("{B}{B}", &names, "") &&
	       template_fits("a{B}a", &names, "aaa"),
	   "any text can stand for a name");
	ok(!template_fits("{B}-{BLOCK}.x", &names, "a-b-c.y") && !template_fits("a{B}a", &names, "a") &&
	       !template_fits("{{B}}", &names, "{1}") && !template_fits("", &names, "a") && !template_fits("a", &names, ""),
	   "but not for anything else");
	ok(template_expands("a $B", "B") && template_expands("${B:-1}", "B") && !template_expands("$BLOCK {B}", "B"),
	   "$NAME is a variable of the shell");
}

/* The value of {B} arrives in full, once for each hole, in every shell. */
static bool arrives(const char *sh, const char *template, const char *value, const char *want) {
	const char *missing;
	char *filled = template_fill(template, &names, same, value, true, &missing), *word = program_quote(filled);
	char *line = mem_printf("%s -c %s", sh, word), *got = shell(line);
	bool right = strcmp(got, want) == 0;
	if (!right)
		printf("# %s: %s gave %s, not %s\n", sh, filled, got, want);
	free(filled);
	free(word);
	free(line);
	free(got);
	return right;
}

static void test_places(void) {
	static const char *const templates[] = {"printf '%s|' x{B}",
	                                        "printf '%s|' '{B}'",
	                                        "printf '%s|' \"{B}\"",
	                                        "printf '%s|' a'{B}'\"b\"",
	                                        "printf '%s|' \"$(printf '%s' \"{B}\")\"",
	                                        "printf '%s|' \"$(printf '%s' '{B}' '' \"\")\"",
	                                        "printf '%s|' \"a\\\"{B}\" # it's a \" comment",
	                                        "(printf '%s|' \"it's {B}\")",
	                                        "printf '%s|' \"${HOME:+}\"\"{B}\"",
	                                        "echo `true '\"'` >/dev/null; printf '%s|' '{B}'",
	                                        "printf '%s|' $((1 << 2)){B}"};
	static const char *const around[][2] = {{"x", ""},   {"", ""},      {"", ""}, {"a", "b"}, {"", ""}, {"", ""},
	                                        {"a\"", ""}, {"it's ", ""}, {"", ""}, {"", ""},   {"4", ""}};
	static const char *const values[] = {"a  b",
	                                     "$(echo pwned)",
	                                     "`echo pwned`",
	                                     ";echo pwned;",
	                                     "'",
	                                     "\"",
	                                     "\\",
	                                     "'\"'\"",
	                                     "$HOME",
	                                     "a\\'b\\\"c",
	                                     "*",
	                                     "#",
	                                     "!x",
	                                     "-n",
	                                     "x\ny",
	                                     "\"$(echo pwned)\"",
	                                     "'$(echo pwned)'"};
	static const char *const shells[] = {"sh", "bash"};
	for (size_t s = 0; s < 2; s++)
		for (size_t t = 0; t < sizeof templates / sizeof *templates; t++) {
			bool all = true;
			for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
				char *want = mem_printf("%s%s%s|", around[t][0], values[v], around[t][1]);
				all = arrives(shells[s], templates[t], values[v], want) && all;
				free(want);
			}
			ok(all, "%s: values arrive unchanged in %s", shells[s], templates[t]);
			ok(template_shell_check(templates[t], &names, NULL) == 0, "and the place is allowed");
		}
	ok(arrives("sh", "printf '%s|' {B}; echo", "-O3  -g $(x)", "-O3|-g|$(x)|\n"), "a hole by itself gives words");
	ok(arrives("sh", "printf '%s|' a {B} b", "", "a|b|"), "or none");
	ok(arrives("sh", "printf '%s|' a '{B}' b{B}", "", "a||b|"), "in quotes or in a word it may be empty");
	ok(arrives("sh", "printf '%s|' {SOURCE}", "a b", "a b|"), "a folder is one word");
	ok(arrives("sh", "printf '%s|' x {B}>/dev/stdout; printf '%s|' 1{B}>&1 {B}", "2", "x|2|12|2|"),
	   "a number is not a file descriptor");
	ok(arrives("bash", "printf '%s|' x > /dev/null {B}; printf '%s|' >/dev/stdout {B}", "a b", "a|b|") &&
	       arrives("sh", "exec 2>/dev/null; (printf x > {B} /dev/null); echo $?", "", "2\n"),
	   "the file of a redirection is one word");
	ok(arrives("bash", "{B} true 2>/dev/null; echo $?", "if", "127\n") &&
	       arrives("bash", "{B} true 2>/dev/null; echo $?", "A=1", "127\n"),
	   "a value is neither a reserved word nor a variable");
	ok(arrives("bash", "printf '%s|' {x,{B}}", "a,b", "x|a,b|"), "a comma of a value does not split braces");
	ok(arrives("sh", "echo $((3-{B}))", "-1", "4\n"), "a minus is not joined to another");
	ok(arrives("bash", "echo $(({B} + 1))", "-41", "-40\n"), "a number can be calculated with");
	const char *missing;
	ok(!template_fill("echo $(({B} + 1))", &names, same, "a[$(echo pwned)]", true, &missing), "nothing else");
	static const char *const refused[] = {"`echo {B}`",
	                                      "$'{B}'",
	                                      "\\{B}",
	                                      "\"\\{B}\"",
	                                      "${X:-{B}}",
	                                      "ls # {B}",
	                                      "cat <<E\n{B}\nE",
	                                      "(( {B} ))",
	                                      "$(case a in a) echo {B};; esac)",
	                                      "\"`echo {B}`\"",
	                                      "echo $HOME{B}",
	                                      "echo \"$HOME{B}\"",
	                                      "echo $HO\\\nME{B}",
	                                      "echo \"$$(echo {B})\"",
	                                      "echo $HOME{x,{B}}",
	                                      "true \\\n# {B}"};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct err err = {0};
		ok(template_shell_check(refused[i], &names, &err) != 0 && err.code == ERR_USAGE && *err.hint, "refused: %s",
		   refused[i]);
	}
}

static void test_check(void) {
	static const char *const wrong[] = {"{BLOK}", "a {block}", "{BLO}", "x{BLOCKS}y"};
	static const char *const fine[] = {"{BLOCK}", "{else}", "{print}", "{1}", "{BLOK }", "{so}", "{{BLOK}}", "${BLOK}"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err err = {0};
		ok(template_check(wrong[i], &names, &err) != 0 && err.code == ERR_USAGE && strstr(err.hint, "{BLOCK}"),
		   "%s is a mistyped parameter", wrong[i]);
	}
	ok(template_check("{source}", &names, NULL) != 0, "a mistyped folder is refused");
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		ok(template_check(fine[i], &names, NULL) == 0, "%s is none", fine[i]);
}

static struct program *make(struct program_spec spec, struct err *err) {
	*err = (struct err){0};
	return program_new(&spec, NULL, err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void line_is(const struct program_spec *spec, const char *config, const char *want) {
	struct err err;
	json_t *json = json_loads(config, 0, NULL);
	struct program *program = make(*spec, &err);
	char *line = program ? program_line(program, json) : mem_strdup(err.what);
	is_text(line, want, "line");
	free(line);
	program_free(program);
	json_decref(json);
}

static void test_lines(const char *here) {
	const char *const params[] = {"B", "MODE", NULL};
	line_is(&(struct program_spec){.argv = WORDS("sh", "-c", "true", "{B}"), .params = params},
	        "{\"B\":64,\"MODE\":\"a b\"}", "env MODE='a b' sh -c true 64");
	line_is(
		&(struct program_spec){
			.argv = WORDS("ls", "{B}"), .params = params, .build = "make -s M={MODE}", .input = "in"},
		"{\"B\":64,\"MODE\":\"x\"}", "make -s M=x && ls 64 < in");
	line_is(&(struct program_spec){.argv = WORDS("ls", "{B}"), .params = params, .cwd = "sub", .input = "in2"},
	        "{\"B\":0.5,\"MODE\":\"x\"}", "(cd sub && env MODE=x ls 0.5 < in2)");
	line_is(&(struct program_spec){.argv = WORDS("ls {B} |", "wc"), .params = params, .shell = true}, "{\"B\":\"a'b\"}",
	        "sh -c 'ls '\\''a'\\''\\'\\'''\\''b'\\'' | wc'");
	line_is(&(struct program_spec){.argv = WORDS("ls"), .params = params, .build = "cd x; make {B}{MODE}"},
	        "{\"B\":1,\"MODE\":2}", "(cd x; make 12) && ls");
	char *want = mem_printf(
		"(mkdir -p %s/sweetspot-build && cd %s/sweetspot-build && cmake %s -DB=2 && env MODE=1 ./a)", here, here, here);
	line_is(&(struct program_spec){.argv = WORDS("./a"), .params = params, .build = "cmake {SOURCE} -DB={B}"},
	        "{\"B\":2,\"MODE\":1}", want);
	free(want);
	line_is(&(struct program_spec){.argv = WORDS("ls", "{B}"), .params = params}, "{\"B\":100.0,\"MODE\":true}",
	        "env MODE=true ls 100");
	line_is(&(struct program_spec){.argv = WORDS("ls", "{B}"), .params = params}, "{\"MODE\":1}",
	        "env MODE=1 # {B} has not been given a value");
}

static char *variables(const struct program *program, const char *config) {
	json_t *json = json_loads(config, 0, NULL), *env = program_environment(program, json);
	char *text = json_dumps(env, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(env);
	json_decref(json);
	return text;
}

static void test_openmp(void) {
	struct err err;
	json_t *baseline = json_loads("{\"threads\":4,\"N\":1}", 0, NULL);
	setenv("OMP_PROC_BIND", "close", 1);
	struct program *program = make(
		(struct program_spec){.argv = WORDS("ls"), .params = WORDS("N"), .openmp = true, .baseline = baseline}, &err);
	char *text = variables(program, "{\"N\":1,\"threads\":4}");
	is_text(text, "{\"N\":\"1\"}", "the baseline sets no variable of OpenMP");
	free(text);
	text = variables(program, "{\"threads\":2,\"N\":1}");
	is_text(text, "{\"N\":\"1\",\"OMP_DYNAMIC\":\"false\",\"OMP_NUM_THREADS\":\"2\"}",
	        "other configurations set theirs");
	free(text);
	json_t *two = json_pack("{s:i,s:i}", "threads", 2, "N", 1);
	char *line = program_line(program, two);
	ok(strncmp(line, "env -u OMP_PROC_BIND ", 21) == 0 && strstr(line, " OMP_NUM_THREADS=2 ") &&
	       strstr(line, " N=1 ls"),
	   "the line drops the user's own OpenMP settings: %s", line);
	free(line);
	is_text(program_param_way(program, "threads"), "openmp", "threads is an OpenMP setting");
	is_text(program_param_way(program, "N"), "environment", "N is a variable");
	json_t *json = program_json(program, two);
	ok(json_is_true(json_object_get(json, "openmp")) && !json_object_get(json, "build") &&
	       strcmp(json_string_value(json_object_get(json, "baseline_line")), "env N=1 ls") == 0,
	   "the stored object says how it is run");
	json_decref(json);
	json_decref(two);
	program_free(program);
	/* A parameter of the user's own is never an OpenMP setting, whatever its name. */
	program =
		make((struct program_spec){.argv = WORDS("ls", "{threads}"), .params = WORDS("threads"), .openmp = true}, &err);
	text = variables(program, "{\"threads\":2}");
	is_text(text, "{}", "a parameter of the user's own sets no variable of OpenMP");
	free(text);
	program_free(program);
	json_decref(baseline);
	unsetenv("OMP_PROC_BIND");
}

static void refused(struct program_spec spec, const char *what) {
	struct err err;
	struct program *program = make(spec, &err);
	ok(!program && err.code == ERR_USAGE && *err.what, "refused: %s (%s; %s)", what, err.what, err.hint);
	program_free(program);
}

static void test_refused(void) {
	refused((struct program_spec){.argv = (const char *const[]){NULL}}, "no program");
	refused((struct program_spec){.argv = WORDS("./no-such-program")}, "a program that isn't there");
	refused((struct program_spec){.argv = WORDS("no-such-program-at-all")}, "a program that isn't in PATH");
	refused((struct program_spec){.argv = WORDS("./in")}, "a file that can't be run");
	refused((struct program_spec){.argv = WORDS("./sub")}, "a folder");
	refused((struct program_spec){.argv = WORDS("ls"), .input = "none"}, "an input that isn't there");
	refused((struct program_spec){.argv = WORDS("ls"), .cwd = "none"}, "a folder that isn't there");
	refused((struct program_spec){.argv = WORDS("ls"), .metric = "a("}, "a bad expression");
	refused((struct program_spec){.argv = WORDS("ls"), .maximize = true}, "nothing to maximize");
	refused((struct program_spec){.argv = WORDS("ls", "{BLOK}"), .params = WORDS("BLOCK")}, "a mistyped name");
	refused((struct program_spec){.argv = WORDS("ls"), .verify = "x {BLOK}", .params = WORDS("BLOCK")},
	        "one in verify");
	refused((struct program_spec){.argv = WORDS("ls"), .params = WORDS("b-1")}, "not a valid name of a variable");
	refused((struct program_spec){.argv = WORDS("ls"), .params = WORDS("BUILD")}, "the name of a folder");
	refused((struct program_spec){.argv = WORDS("{BUILD}/ls")}, "the folder of a missing build");
	refused((struct program_spec){.argv = WORDS("./a"), .build = "make", .cwd = "sub"}, "a build that never runs");
	refused((struct program_spec){.argv = WORDS("ls"), .build = "make B=$B", .params = WORDS("B")},
	        "a variable in a build");
	refused((struct program_spec){.argv = WORDS("ls"), .verify = ""}, "an empty command");
	refused((struct program_spec){.argv = WORDS("ls", "\xff")}, "a word that is not UTF-8");
	struct err err;
	struct program *program = make((struct program_spec){.argv = WORDS("ls", "{b-1}"), .params = WORDS("b-1")}, &err);
	ok(program, "a name in the command need not be valid for a variable");
	program_free(program);
}

static void test_line_names(void) {
	static const char *const lines[][2] = {
		{"./app in.dat", "app"},
		{"./fast | cat", "fast"},
		{"OMP_NUM_THREADS=4 A='x y' ./bin/app", "app"},
		{"cd /tmp && ./app | sort", "app"},
		{"export A=1; cd 'a b'\n(time nice -n 5 taskset -c 0-3,8 ./app)", "app"},
		{"env -i PATH=/bin gzip -1 in", "gzip"},
		{"'./my app' x", "my app"},
		{"{ ! grep -q x; }", "grep"},
		{"test -e in.dat || make in.dat; ./app", "make"},
		{"cd /tmp", "cd"},
		{"X=1", "X=1"},
		{"  ", ""},
		{"./dir/", "./dir/"},
		{"'unclosed ./app", "app"},
		{"&& ;; |", ""},
	};
	int wrong = 0;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char *name = program_line_name(lines[i][0]);
		if (strcmp(name, lines[i][1]) != 0)
			printf("# %s: \"%s\", not \"%s\"\n", lines[i][0], name, lines[i][1]);
		wrong += strcmp(name, lines[i][1]) != 0;
		free(name);
	}
	ok(wrong == 0, "a line for a shell is named after the program that does the work");
}

static void test_line_commands(void) {
	static const char *const lines[][2] = {
		{"./app in", "./app in"},
		{"X=1 ./app in", "./app in"},
		{" X=1\tY='a b'  ./app", "./app"},
		{"X='a' Y=\"b c\" z", "z"},
		{"threads=1 block=2", ""},
		{"x-y=1 ./app", "x-y=1 ./app"},
		{"X= ./app", "./app"},
		{"", ""},
		{"X='unclosed ./app", ""},
	};
	int wrong = 0;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *command = program_line_command(lines[i][0]);
		if (strcmp(command, lines[i][1]) != 0)
			printf("# %s: \"%s\", not \"%s\"\n", lines[i][0], command, lines[i][1]);
		wrong += strcmp(command, lines[i][1]) != 0;
	}
	ok(wrong == 0, "variables in front of a command are told from it");
}

static void test_mutations(void) {
	static const char quotes[] = "echo '{V}' \"{N}\" \"$(./x {V})\" $((N+{N})) `ls {V}` ${X:-{V}} \\{V} # {V}";
	static const char words[] = "for i in 1; do case {N} in *) y='a'{V};; esac; done; cat <<EOF\n{V}\nEOF\n";
	mutate_all(quotes, sizeof quotes - 1, "'\"\\$`{}()# \n;&|<>VN", 4000);
	mutate_all(words, sizeof words - 1, "'\"\\$`{}()# \n;&|<>VN", 4000);
}

int main(void) {
	test_mutations();
	test_line_commands();
	test_line_names();
	char folder[] = "/tmp/sweetspot-words-XXXXXX", here[PATH_MAX];
	if (!mkdtemp(folder) || chdir(folder) || !getcwd(here, sizeof here)) {
		printf("Bail out! no folder\n");
		return 99;
	}
	free(shell("mkdir sub; touch in sub/in2"));
	for (const char *const *name = WORDS("OMP_NUM_THREADS", "OMP_WAIT_POLICY"); *name; name++)
		unsetenv(*name);
	test_quote();
	test_fill();
	test_places();
	test_check();
	test_lines(here);
	test_openmp();
	test_refused();
	free(shell("rm sub/in2 in; rmdir sub"));
	rmdir(folder);
	return tap_done();
}
