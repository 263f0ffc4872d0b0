/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for a shell and names in braces. A real shell judges the quoting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "tests/mutate.h"
#include "tuner/program/program.h"
#include "tuner/program/command.h"

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
	fills("a {B}2>b {B} >d", true, "a 'v B'2>b v B >d");
	fills("a {B}\\\n>c", true, "a 'v B'\\\n>c");
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
	   "no other text fits a template");
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
			ok(template_shell_check(templates[t], &names, NULL) == 0,
			   "a place where values arrive unchanged is allowed");
		}
	ok(arrives("sh", "printf '%s|' {B}; echo", "-O3  -g $(x)", "-O3|-g|$(x)|\n"), "a hole by itself gives words");
	ok(arrives("sh", "printf '%s|' a {B} b", "", "a|b|"), "an empty value of a hole by itself gives no word");
	ok(arrives("sh", "printf '%s|' a '{B}' b{B}", "", "a||b|"),
	   "an empty value in quotes or in a word gives an empty part");
	ok(arrives("sh", "printf '%s|' {SOURCE}", "a b", "a b|"), "a folder is one word");
	ok(arrives("sh", "printf '%s|' x {B}>/dev/stdout; printf '%s|' 1{B}>&1 {B}", "2", "x|2|12|2|"),
	   "a number is not a file descriptor");
	ok(arrives("bash", "printf '%s|' x > /dev/null {B}; printf '%s|' >/dev/stdout {B}", "a b", "a|b|") &&
	       arrives("sh", "exec 2>/dev/null; (printf x > {B} /dev/null); echo $?", "", "2\n"),
	   "the file of a redirection is one word");
	ok(arrives("bash", "{B} true 2>/dev/null; echo $?", "if", "127\n") &&
	       arrives("bash", "{B} true 2>/dev/null; echo $?", "A=1", "127\n") &&
	       arrives("bash", "th{B} 2>/dev/null; echo $?", "en", "127\n") &&
	       arrives("bash", "{B}hen 2>/dev/null; echo $?", "t", "127\n") &&
	       arrives("sh", "printf '%s|' $(printf x)#{B}", "y", "x#y|"),
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
	                                      "(ls)# {B}",
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

static void test_mutations(void) {
	static const char quotes[] = "echo '{V}' \"{N}\" \"$(./x {V})\" $((N+{N})) `ls {V}` ${X:-{V}} \\{V} # {V}";
	static const char words[] = "for i in 1; do case {N} in *) y='a'{V};; esac; done; cat <<EOF\n{V}\nEOF\n";
	mutate_all(quotes, sizeof quotes - 1, "'\"\\$`{}()# \n;&|<>VN", 4000);
	mutate_all(words, sizeof words - 1, "'\"\\$`{}()# \n;&|<>VN", 4000);
}

int main(void) {
	test_mutations();
	test_quote();
	test_fill();
	test_places();
	test_check();
	return tap_done();
}
