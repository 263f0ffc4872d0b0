/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random lines for a shell, filled with a harmless word and with a hostile text: real shells must do the same with
 * both, so that the text arrives unchanged wherever it may stand, and nothing else runs. Usage: quoted [LINES [SEED]]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "tests/tap.h"
#include "tuner/program/command.h"
#include "tuner/program/program_impl.h"

/* harmless, and in quotes as most hostile texts are */
static const char MARK[] = "mA,rK";

/* Shells neither split nor expand names of files here, because a line of the user's own may ask for that. */
static const char DRIVER[] =
	"show() { printf '<%s>' \"$@\"; }\n"
	"mkdir -p box && cd box && A=alpha IFS= || exit\n"
	"for f in ../*[mv]; do (set -f; . \"$f\") </dev/null >\"$f.out\" 2>../errors; echo \"=$?\" >>\"$f.out\"; done\n";

#define PICK(rng, list) (list)[rng_below((rng), sizeof(list) / sizeof *(list))]

static void command_add(char **out, struct rng *rng, int depth);

static void letters_add(char **out, struct rng *rng) {
	static const char *const letters[] = {"x",    "{V}", "{V}", "{V}",     "#", "it", "7",
	                                      "\\\n", "$A",  "$",   "{x,{V}}", "=", " "};
	for (uint64_t i = rng_below(rng, 4); i > 0; i--)
		mem_append(out, "%s", PICK(rng, letters));
}

static void quotes_add(char **out, struct rng *rng, int depth) {
	static const char *const marks[][2] = {
		{"'", "'"}, {"\"", "\""}, {"\"\\\"", "\\\\\""}, {"'\"", "\"'"}, {"\"it's ", "\""}};
	const char *const *pair = PICK(rng, marks);
	mem_append(out, "%s", pair[0]);
	letters_add(out, rng);
	if (depth < 3 && pair[0][0] == '"' && rng_below(rng, 3) == 0) {
		mem_append(out, "$(");
		command_add(out, rng, depth + 1);
		mem_append(out, ")");
	}
	mem_append(out, "%s", pair[1]);
}

/* Now and then what quotes and ends a text stands where nobody expects it. */
static void noise_add(char **out, struct rng *rng) {
	static const char *const noise[] = {"'",      "\"",    "\\",   "`",  "$(", ")",     "(",      "${A:-", "}",
	                                    "$((",    "))",    "$'",   "#",  "\n", "<<E\n", " >out ", "{V}>x", "{V}2>x",
	                                    "7{V}>x", "case ", "esac", ";;", "!",  "$",     "A={V} ", " || ",  "&&",
	                                    "\\\n",   "$A",    "if ",  "fi", "{ ", "(:)#",  "{V}hen"};
	mem_append(out, "%s", PICK(rng, noise));
}

static void command_add(char **out, struct rng *rng, int depth) {
	static const char *const starts[] = {
		"show ", "show ", "show a ", "X={V}; show \"$X\" ", "{V} ", "for i in {V} b; do show \"$i\"; done; show "};
	mem_append(out, "%s", PICK(rng, starts));
	for (uint64_t i = 1 + rng_below(rng, 4); i > 0; i--) {
		rng_below(rng, 2) ? quotes_add(out, rng, depth) : letters_add(out, rng);
		if (rng_below(rng, 12) == 0)
			noise_add(out, rng);
		mem_append(out, "%s", rng_below(rng, 3) ? " " : "");
	}
	if (depth < 2 && rng_below(rng, 3) == 0) {
		static const char *const joints[] = {"; ", "\n", " && ", " || ", " # {x}\n", " \\\n"};
		mem_append(out, "%s", PICK(rng, joints));
		command_add(out, rng, depth + 1);
	}
}

static char *value_new(struct rng *rng) {
	static const char *const parts[] = {"$(show PWNED; >pwned)",
	                                    "`>pwned`",
	                                    ";>pwned;",
	                                    "\n>pwned\n",
	                                    "&& >pwned ",
	                                    "|show PWNED",
	                                    "'",
	                                    "\"",
	                                    "\\",
	                                    "a b",
	                                    "$A",
	                                    "${A}",
	                                    "x",
	                                    "8",
	                                    "if",
	                                    "A=1",
	                                    ",",
	                                    "#",
	                                    "{p,q}",
	                                    "~",
	                                    "!",
	                                    "-n",
	                                    "\t",
	                                    "é",
	                                    "((",
	                                    ")",
	                                    "<<E",
	                                    "done",
	                                    "t",
	                                    "\n>pwned #",
	                                    "*"};
	char *out = mem_strdup("");
	for (uint64_t i = rng_below(rng, 4); i > 0; i--)
		mem_append(&out, "%s", PICK(rng, parts));
	return out;
}

static char *same(const void *ctx, const char *name) {
	(void)name;
	return mem_strdup(ctx);
}

struct line {
	char *text, *value;
};

static void file_write(size_t i, char kind, const char *text) {
	char *name = mem_printf("%zu%c", i, kind);
	FILE *file = fopen(name, "w");
	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
		exit(99);
	free(name);
}

/* The next line that accepts a hostile value. */
static struct line line_new(struct rng *rng, size_t i) {
	static const char *const list[] = {"V"};
	for (;;) {
		char *out = mem_strdup("");
		command_add(&out, rng, 0);
		struct line line = {out, value_new(rng)};
		/* a word by itself may become several only if the name is the user's */
		const struct template_names names = {list, 1, *line.value && !strpbrk(line.value, " \t\n")};
		const char *missing;
		char *marked = template_mentions(line.text, "V") && template_shell_check(line.text, &names, NULL) == 0
		                   ? template_fill(line.text, &names, same, MARK, true, &missing)
		                   : NULL;
		char *filled = marked ? template_fill(line.text, &names, same, line.value, true, &missing) : NULL;
		if (filled) {
			file_write(i, 'm', marked);
			file_write(i, 'v', filled);
		}
		free(marked);
		if (filled) {
			free(filled);
			return line;
		}
		free(line.text);
		free(line.value);
	}
}

static char *replaced(const char *text, const char *value, int *marks) {
	char *out = mem_strdup("");
	for (const char *next; (next = strstr(text, MARK)); text = next + strlen(MARK)) {
		mem_append(&out, "%.*s", (int)(next - text), text);
		mem_append(&out, "%s", value);
		++*marks;
	}
	mem_append(&out, "%s", text);
	return out;
}

/* What the shell said about a file, with its exit status at the end. */
static char *answer(size_t i, char kind) {
	char *name = mem_printf("%zu%c.out", i, kind);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *text = fd >= 0 ? sys_read_fd(fd, name, 1 << 20, NULL, NULL) : NULL;
	if (fd >= 0)
		close(fd);
	unlink(name);
	free(name);
	return text ? text : mem_strdup("(nothing)");
}

static bool is_same(const char *sh, const struct line *line, size_t i, int *marks) {
	char *marked = answer(i, 'm'), *got = answer(i, 'v'), *want = replaced(marked, line->value, marks);
	bool same_words = strcmp(got, want) == 0;
	if (!same_words)
		printf("# %s: the value %s in the line %s gave\n# %s# not\n# %s", sh, line->value, line->text, got, want);
	free(marked);
	free(got);
	free(want);
	return same_words;
}

static void check(const char *sh, const struct line *lines, size_t count) {
	char *command = mem_printf("%s ./driver", sh);
	size_t wrong = 0;
	int marks = 0;
	bool ran = system(command) == 0;
	for (size_t i = 0; i < count; i++)
		wrong += !is_same(sh, lines + i, i, &marks);
	ok(ran && wrong == 0, "%s: %zu hostile values in lines do what harmless ones do", sh, count);
	ok((size_t)marks > count / 2, "%d hostile values arrive", marks);
	ok(access("box/pwned", F_OK) != 0, "no hostile value runs");
	free(command);
}

int main(int argc, char **argv) {
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
	char folder[] = "/tmp/sweetspot-quoted-XXXXXX";
	struct rng rng;
	rng_seed(&rng, argc > 2 ? strtoul(argv[2], NULL, 10) : 25);
	FILE *driver = mkdtemp(folder) && chdir(folder) == 0 ? fopen("driver", "w") : NULL;
	if (!driver || fputs(DRIVER, driver) < 0 || fclose(driver)) {
		printf("Bail out! no folder\n");
		return 99;
	}
	struct line *lines = mem_alloc(count, sizeof *lines);
	for (size_t i = 0; i < count; i++)
		lines[i] = line_new(&rng, i);
	check("sh", lines, count);
	check("bash", lines, count);
	for (size_t i = 0; i < count; i++) {
		free(lines[i].text);
		free(lines[i].value);
	}
	free(lines);
	char *remove = mem_printf("rm -rf %s", folder);
	ok(chdir("/") == 0 && system(remove) == 0, "the folder is removed");
	free(remove);
	return tap_done();
}
