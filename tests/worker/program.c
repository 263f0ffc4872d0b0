/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that behave: their arguments and environment, findings in their output, their usage. */
#include "tests/worker/program_fixture.h"

static void check_plain(struct fixture *f) {
	json_t *answer = client_ask(f->client, RUN "\"exit 0\"],\"id\":9,\"samples\":3,\"warmup\":1}", f->home);
	json_t *samples = path_get(answer, "samples");
	is_text(text_of(answer, "status"), "correct", "a program that ends with 0 is correct");
	ok(number_of(answer, "id") == 9 && json_array_size(samples) == 3, "an answer has its id, and one sample a run");
	ok(json_number_value(json_array_get(samples, 0)) > 0, "a sample is a time");
	ok(number_of(answer, "batch") == 1 && number_of(answer, "elapsed_s") > 0, "a batch is one run");
	ok(json_is_null(path_get(answer, "output_bytes")) && !path_get(answer, "metrics") && !path_get(answer, "hash") &&
	       !path_get(answer, "message"),
	   "nothing that was not asked for");
	ok(number_of(answer, "noise.involuntary") >= 0 && number_of(answer, "noise.steal_s") >= 0,
	   "an answer has its noise");
	json_decref(answer);
}

static bool same_words(struct fixture *f, const char *words, const char *want) {
	json_t *answer = client_ask(f->client, APP "\"arguments\"%s],\"verify\":\"cat >seen\"}", f->home, f->app, words);
	char *path = file_path(f, "seen"), seen[4096];
	bool ran = strcmp(text_of(answer, "status"), "correct") == 0;
	FILE *file = fopen(path, "r");
	seen[file ? fread(seen, 1, sizeof seen - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
	json_decref(answer);
	free(path);
	if (strcmp(seen, want) != 0)
		printf("# got %s\n# want %s\n", seen, want);
	return ran && strcmp(seen, want) == 0;
}

static void check_words(struct fixture *f) {
	ok(same_words(f, "", ""), "an empty list of arguments stays empty");
	ok(same_words(f, ",\"a b\",\"\",\"$HOME *\",\"'\",\"\\\\\\\"\",\"-x=\\n\\t;\"",
	              "3:a b;0:;7:$HOME *;1:';2:\\\";6:-x=\n\t;;"),
	   "words arrive as they were sent");
	ok(same_words(f, ",\"\\u00e9\\ud83d\\ude00\"", "6:\303\251\360\237\230\200;"), "beyond ASCII, too");
}

static bool shell_says(struct fixture *f, const char *more, const char *line, const char *want) {
	json_t *answer = client_ask(f->client, RUN "\"%s\"],\"verify\":\"cat >seen; grep -qxF '%s' seen\"%s}", f->home,
	                            line, want, more);
	bool good = strcmp(text_of(answer, "status"), "correct") == 0;
	if (!good)
		printf("# %s: %s\n", text_of(answer, "status"), text_of(answer, "message"));
	json_decref(answer);
	return good;
}

static void check_surroundings(struct fixture *f) {
	ok(shell_says(f, "", "echo $FIXTURE_LEFT", "inherited"), "the worker's environment is there");
	ok(shell_says(f, ",\"env\":{\"A\":\"1 2\",\"FIXTURE_LEFT\":\"new\"}", "echo $A-$FIXTURE_LEFT", "1 2-new"),
	   "env adds and replaces");
	ok(shell_says(f, ",\"unset\":[\"FIXTURE_LEFT\"]", "echo ${FIXTURE_LEFT-gone}", "gone"), "unset takes a name");
	ok(shell_says(f, ",\"unset\":[\"FIXT*\"],\"env\":{\"FIXTURE_X\":\"y\"}", "echo ${FIXTURE_LEFT-gone}$FIXTURE_X",
	              "goney"),
	   "unset takes a prefix, and leaves what env sets");
	ok(shell_says(f, ",\"env\":{\"TMPDIR\":\"/nowhere\"}", "echo $TMPDIR", "/nowhere"),
	   "TMPDIR is env's where it says so");
	ok(shell_says(f, "", "test -d $TMPDIR && test -w $TMPDIR && echo $TMPDIR | grep -c /scratch/", "1"),
	   "TMPDIR is a folder inside the worker's");
	json_t *fresh =
		client_ask(f->client,
	               RUN "\"ls -A $TMPDIR | grep -q . && exit 9; mkdir $TMPDIR/a && : >$TMPDIR/a/b && chmod 0 $TMPDIR/a; "
	                   "ls -A $TMPDIR\"],\"samples\":3,\"warmup\":1,\"verify\":\"test -d $TMPDIR/a\"}",
	               f->home);
	ok(json_array_size(path_get(fresh, "samples")) == 3,
	   "each run finds an empty TMPDIR, and its verification sees the same one");
	json_decref(fresh);
	ok(shell_says(f, "", "pwd", f->home), "a program runs in its folder");
	ok(shell_says(f, "", "cat; echo end", "end"), "nothing is on its stdin");
	char *input = file_path(f, "in.dat");
	FILE *file = fopen(input, "w");
	if (file) {
		fputs("from a file\n", file);
		fclose(file);
	}
	ok(shell_says(f, ",\"input\":\"in.dat\",\"samples\":3,\"hash\":true", "cat", "from a file"),
	   "each run reads its input from the start");
	ok(shell_says(f, ",\"before\":\"echo x >>count\",\"samples\":3,\"warmup\":1", "wc -l <count >n; tail -n1 count",
	              "x"),
	   "a command runs before the program");
	ok(shell_says(f, "", "cat n", "4"), "the command runs before each run, warm-up included");
	ok(shell_says(f, ",\"env\":{\"V\":\"w\"},\"before\":\"echo $V >v\"", "cat v", "w"),
	   "the command before a run has the same environment");
	free(input);
}

static void check_relative(struct fixture *f) {
	char *path = mem_printf("%s/tool", f->home);
	ok(symlink("/bin/true", path) == 0, "a program can be linked into the folder");
	answers(client_ask(f->client, "{\"op\":\"program\",\"cwd\":\"%s\",\"argv\":[\"./tool\"]}", f->home), "correct", "",
	        "a program is found relative to its folder");
	free(path);
}

static json_t *metric(struct fixture *f, const char *expression, const char *line) {
	return client_ask(f->client, RUN "\"%s\"],\"metric\":\"%s\",\"samples\":2}", f->home, line, expression);
}

static void check_number(struct fixture *f, const char *expression, const char *line, double want, const char *what) {
	json_t *answer = metric(f, expression, line), *metrics = path_get(answer, "metrics");
	double got = json_number_value(json_array_get(metrics, 1));
	if (!ok(json_array_size(metrics) == 2 && got == want, "%s", what))
		printf("# %g, %s\n", got, text_of(answer, "message"));
	json_decref(answer);
}

static void check_metric(struct fixture *f) {
	check_number(f, "rate ([0-9.]+)", "echo rate 1; echo rate 2.5", 2.5, "the last match of all lines is the metric");
	check_number(f, "[0-9]+", "echo 1 2 33", 33, "the last match in a line is the metric, all of it without a group");
	check_number(f, "x *(.*)$", "printf 'x 1e-3 \\\\r\\\\n'", 1e-3, "blanks at the end of a metric do no harm");
	answers(metric(f, "(a|b)=([0-9])", "echo b=7"), "runtime", "\"b\"", "the first of several groups is meant");
}

/* Numbers that end where the match does, or whose neighbours the expression names. */
static void check_metric_whole(struct fixture *f) {
	check_number(f, "t=([0-9]+)", "echo t=12.", 12, "a full stop ends a number");
	check_number(f, "t=([0-9]+)", "echo t=12, and 5", 12, "a comma and a blank end a number");
	check_number(f, "t=([0-9]+)", "echo t=12e", 12, "a letter ends a number");
	check_number(f, "^([0-9]+),", "echo 12,5,7", 12, "a number ends where the expression says");
	check_number(f, ",([0-9]+)$", "echo 12,5,7", 7, "a number begins where the expression says");
	check_number(f, "([0-9.]+)$", "echo v1.x 7.5", 7.5, "a word with a point may stand before a number");
	check_number(f, "^[0-9.]+", "echo 1.5,2.5", 1.5, "two numbers with points are two");
}

static void check_metric_more(struct fixture *f) {
	check_number(f, "t=([0-9]+)", "echo t=5 >&2", 5, "stderr counts where stdout has none");
	check_number(f, "t=([0-9]+)", "echo t=5 >&2; echo t=6; sleep 0; echo t=4 >&2", 6,
	             "stderr does not count where stdout has a match");
	check_number(f, "^t=([0-9]+)$", "printf 'at=1\\\\nt=2\\\\nt=33'", 33, "the last line needs no newline");
	check_number(f, "([0-9]+)k$", "head -c 200000 /dev/zero | tr '\\\\0' x; echo; echo 12k", 12,
	             "a line of any length is passed");
	answers(metric(f, "t=(.*)", "echo t=nan"), "runtime", "\"nan\"", "NaN is not a metric");
	answers(metric(f, "t=(.*)", "echo t=inf"), "runtime", "\"inf\"", "infinity is not a metric");
	answers(metric(f, "t=(.*)", "echo t=-3"), "runtime", "\"-3\"", "a number below 0 is not a metric");
	answers(metric(f, "t=(.*)", "echo t=0"), "runtime", "not above", "0 is not a metric");
	answers(metric(f, "t=(.*)", "echo t=3s"), "runtime", "\"3s\", which is not a number",
	        "a number with a unit behind it is not a metric");
	answers(metric(f, "t=(.*)", "echo t=3s"), "runtime", "put the number alone in parentheses",
	        "the message shows how to leave out the unit");
	answers(metric(f, "t=([0-9.]+)", "echo t=1,5 s"), "runtime", "a part of \"1,5\"",
	        "a comma with a digit does not end a number");
	answers(metric(f, "t=([0-9.]+)", "echo t=3.2e+3"), "runtime", "a part of \"3.2e+3\"",
	        "an exponent does not end a number");
	answers(metric(f, "t=([0-9]+)", "echo t=12.5"), "runtime", "a part of \"12.5\"",
	        "a point with a digit does not end a number");
	answers(metric(f, "([0-9]+) ms", "echo 1.5 ms"), "runtime", "a part of \"1.5\"",
	        "a part of a number is not a metric");
	answers(metric(f, "t=(.*)", "echo t="), "runtime", "not a number", "an empty text is not a metric");
	answers(metric(f, "t=(.*)", "echo s=3"), "runtime", "no line", "a missing match is reported");
	answers(metric(f, "a(b)?", "echo ac"), "runtime", "not a number", "a group that took no part is not a metric");
}

static void check_hash(struct fixture *f) {
	json_t *answer = client_ask(f->client, RUN "\"printf abc\"],\"hash\":true,\"samples\":3}", f->home);
	is_text(text_of(answer, "hash"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	        "the hash is that of stdout");
	ok(number_of(answer, "output_bytes") == 3, "the hash comes with the size of stdout");
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"head -c 5000000 /dev/zero\"],\"hash\":true}", f->home);
	is_text(text_of(answer, "hash"), "sha256:b39781589c4403fb82174c9647a010464cff38bad976547d339899b00053a545",
	        "the hash is that of the whole output");
	json_decref(answer);
	answers(client_ask(f->client, RUN "\"echo x >>grows; wc -l <grows\"],\"hash\":true,\"samples\":3}", f->home),
	        "correctness", "differs between runs", "runs that differ are not correct");
}

static void check_verify(struct fixture *f) {
	answers(client_ask(f->client, RUN "\"echo out\"],\"verify\":\"grep -qx out\",\"samples\":2}", f->home), "correct",
	        "", "verify reads the output");
	answers(client_ask(f->client, RUN "\"echo out\"],\"verify\":\"cat; echo is wrong; exit 3\"}", f->home),
	        "correctness", "verify: exit status 3: is wrong", "verify decides, and is quoted");
	json_t *skipped = client_ask(f->client, RUN "\"echo out\"],\"verify\":\"echo it is random; exit 77\"}", f->home);
	is_text(text_of(skipped, "unchecked"), "it is random", "status 77 of verify says why nothing was checked");
	answers(skipped, "correct", "", "which is not a failure");
	answers(
		client_ask(f->client, RUN "\"head -c 3000000 /dev/zero\"],\"verify\":\"test $(wc -c) = 3000000\"}", f->home),
		"correct", "", "much output reaches verify");
	answers(client_ask(f->client, RUN "\"yes\"],\"verify\":\"true\",\"timeout_s\":60}", f->home), "runtime", "256 MiB",
	        "endless output does not");
	answers(client_ask(f->client, RUN "\"true\"],\"before\":\"echo no room >&2; exit 2\"}", f->home), "runtime",
	        "before the run: exit status 2: no room", "a failure before a run is reported");
	answers(client_ask(f->client, RUN "\"exit 4\"],\"verify\":\"echo >verified\"}", f->home), "runtime",
	        "exit status 4", "a run that failed");
	char *path = mem_printf("%s/verified", f->home);
	ok(access(path, F_OK) != 0, "a run that failed is not verified");
	free(path);
}

static json_t *usage(struct fixture *f, const char *words) {
	return client_ask(f->client, APP "%s]}", f->home, f->app, words);
}

static void check_usage(struct fixture *f) {
	json_t *answer = usage(f, "\"burn\",\"0.2\"");
	double cpu = number_of(answer, "usage.user_s") + number_of(answer, "usage.system_s");
	ok(cpu >= 0.15 && cpu < 60, "CPU time is counted (%g s)", cpu);
	json_decref(answer);
	answer = usage(f, "\"touch\",\"50\"");
	double size = number_of(answer, "usage.max_rss_bytes");
	ok(size >= 50 << 20 && size < 500 << 20, "memory is counted (%g bytes)", size);
	ok(number_of(answer, "usage.minor_faults") >= 1 && number_of(answer, "usage.major_faults") >= 0 &&
	       number_of(answer, "usage.voluntary_switches") >= 0 && number_of(answer, "usage.involuntary_switches") >= 0,
	   "faults and switches");
	json_decref(answer);
	answer = client_ask(f->client, "{\"op\":\"program\",\"argv\":[\"/bin/true\"]}");
	size = number_of(answer, "usage.max_rss_bytes");
	ok(size > 2e6 || *text_of(answer, "usage_reasons.max_rss_bytes"), "too little of it is not known, with a reason");
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"'%s' burn 0.2; setsid '%s' burn 0.2\"]}", f->home, f->app, f->app);
	cpu = number_of(answer, "usage.user_s") + number_of(answer, "usage.system_s");
	ok(cpu >= 0.3, "children are counted (%g s)", cpu);
	json_decref(answer);
}

/* Known or not: where not, there is a reason. */
static bool told(json_t *answer, const char *name) {
	char path[80];
	snprintf(path, sizeof path, "usage.%s", name);
	json_t *value = path_get(answer, path);
	snprintf(path, sizeof path, "usage_reasons.%s", name);
	return json_is_null(value) ? *text_of(answer, path) : json_number_value(value) >= 0 && json_is_number(value);
}

static void check_procfs(struct fixture *f) {
	json_t *answer = usage(f, "\"burn\",\"0.05\"");
	ok(told(answer, "migrations") && told(answer, "run_delay_s"), "migrations and run delay of one thread, or why not");
	json_decref(answer);
	answer = usage(f, "\"threads\"");
	ok(told(answer, "migrations") && json_is_null(path_get(answer, "usage.run_delay_s")),
	   "the run delay of a program with threads is not known");
	ok(strstr(text_of(answer, "usage_reasons.run_delay_s"), "one thread"),
	   "the reason for an unknown run delay is that of threads");
	json_decref(answer);
	answer = client_ask(f->client, RUN "\"'%s' burn 0.01; true\"]}", f->home, f->app);
	ok(told(answer, "migrations") && json_is_null(path_get(answer, "usage.run_delay_s")),
	   "the run delay of a program with children is not known");
	json_decref(answer);
}

int main(void) {
	struct fixture f;
	fixture_open(&f);
	check_plain(&f);
	check_words(&f);
	check_surroundings(&f);
	check_relative(&f);
	check_metric(&f);
	check_metric_whole(&f);
	check_metric_more(&f);
	check_hash(&f);
	check_verify(&f);
	check_usage(&f);
	check_procfs(&f);
	ok(no_scratch(&f), "nothing is left in the worker's TMPDIR");
	fixture_close(&f);
	return tap_done();
}
