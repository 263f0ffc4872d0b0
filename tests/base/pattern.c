/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions from outside: what people write is compiled, what would take all memory is refused. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/rng.h"
#include "tests/tap.h"

static bool compiles(const char *expression, char why[160]) {
	regex_t regex;
	bool good = pattern_compile(&regex, expression, why, 160);
	if (good)
		regfree(&regex);
	return good;
}

static void test_good(void) {
	static const char *const good[] = {
		"rate ([0-9.]+) MB/s$",
		"",
		"[]{9999}(]x",
		"[^]{9999}]+",
		"[[:digit:]]{1,3}(\\.[[:digit:]]{1,3}){3}",
		"\\{9999}",
		"a{1,100}b{1,100}c{1,100}",
		"^(min|max|avg) = *([0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]{1,3})?) *s?$",
	};
	char why[160] = "";
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(compiles(good[i], why), "\"%s\" is fine %s", good[i], why);
}

static char *repeat(const char *text, size_t count) {
	char *all = mem_alloc(count * strlen(text) + 1, 1);
	for (size_t i = 0; i < count; i++)
		memcpy(all + i * strlen(text), text, strlen(text));
	return all;
}

static void test_hostile(void) {
	static const char *const bad[] = {
		"(x(a{1,200}){1,200}){1,200}",
		"a{1,32767}",
		"a{99999999999999999999}",
		"((a*){100}){30}",
		"a{100}{100}{100}",
		"x|(y|[^]a[:digit:]]{300}z{300}){20}",
		"\\({3000}",
		"((((a{9}){9}){9}){9})",
	};
	char why[160];
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!compiles(bad[i], why) && strstr(why, "repeats"), "\"%s\" is refused: %s", bad[i], why);
	char *deep = repeat("(", 100000), *unclosed = repeat("(", 900);
	ok(!compiles(deep, why) && strstr(why, "long"), "brackets without end: %s", why);
	ok(!compiles(unclosed, why), "brackets that are not closed: %s", why);
	ok(!compiles("a(", why) && *why, "an error of the usual kind: %s", why);
	free(deep);
	free(unclosed);
}

/* Runs in a child, under a limit that regcomp() must not reach. */
static void test_random(void) {
	static const char letters[] = "a(){}{}[]|*?+1290,\\^$.:=-";
	pid_t child = fork();
	if (child == 0) {
		struct rng rng;
		char text[60], why[160];
		rng_seed(&rng, 7);
		setrlimit(RLIMIT_AS, &(struct rlimit){1u << 30, 1u << 30});
		bool fits = true;
		for (int i = 0; i < 20000 && fits; i++) {
			size_t size = rng_below(&rng, sizeof text);
			for (size_t k = 0; k < size; k++)
				text[k] = letters[rng_below(&rng, sizeof letters - 1)];
			text[size] = '\0';
			fits = compiles(text, why) || !strstr(why, "emory");
		}
		_exit(!fits);
	}
	int status = 1;
	waitpid(child, &status, 0);
#ifdef __SANITIZE_ADDRESS__
	tap_skip("none of many odd expressions takes much memory", "AddressSanitizer takes more than the limit itself");
	(void)status;
#else
	ok(status == 0, "none of many odd expressions takes much memory");
#endif
}

int main(void) {
	test_good();
	test_hostile();
	test_random();
	return tap_done();
}
