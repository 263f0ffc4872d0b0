/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc/work.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/text.h"

enum { WORDS_MAX = 256, NESTED_MAX = 8 };

static const char blanks[] = " \t\n", ends[] = " \t\n;&|()<>";
/* These only prepare for the next command of a line, or belong to the shell's grammar. */
static const char before[] = " cd export set ulimit umask source . module test [ [[ : exit return break continue shift "
							 "trap wait read unset local"
							 " readonly declare alias for case select function fi done esac } ";
/* A command follows these. */
static const char leads[] = " if then elif else while until do { ! ";

/* A program that runs another one, and its options, each between blanks. An option that is not listed stands alone. */
struct passer {
	const char *names;
	enum passer_kind { WRAPPER, SHELL, INTERPRETER } kind;
	int words;         /* between the options and the program: a time limit, a priority */
	const char *one;   /* options that the next word belongs to */
	const char *two;   /* .. the next two words */
	const char *skip;  /* words that may stand among the options */
	const char *code;  /* letters of the options that code or a module follows, instead of a file */
	const char *glued; /* letters of the options whose value may be in the same word */
	const char *ranks; /* options for the number of MPI ranks */
};

static const struct passer passers[] = {
	{.names = " env ", .one = " -u --unset -C --chdir "},
	{.names = " nohup exec command setsid catchsegv "},
	{.names = " time gtime ", .one = " -f --format -o --output "},
	{.names = " nice ", .one = " -n --adjustment "},
	{.names = " ionice ", .one = " -c --class -n --classdata "},
	{.names = " sudo ", .one = " -u --user -g --group -C -D -p -r -t "},
	{.names = " taskset ", .words = 1},
	{.names = " chrt ", .words = 1, .one = " -T --sched-runtime -P --sched-period -D --sched-deadline "},
	{.names = " timeout ", .words = 1, .one = " -k --kill-after -s --signal "},
	{.names = " stdbuf ", .one = " -i --input -o --output -e --error "},
	{.names = " numactl ",
     .one = " -i --interleave -p --preferred -P --preferred-many -w --weighted-interleave -m --membind -N --cpunodebind"
            " -C --physcpubind "},
	{.names = " setarch linux32 linux64 ",
     .skip = " x86_64 i386 i486 i586 i686 linux32 linux64 uname26 aarch64 arm64 ppc64 ppc64le s390x riscv64 "},
	/* Open MPI's, MPICH's and Intel's share most of their options. */
	{.names =
         " mpirun mpiexec orterun prterun mpiexec.hydra mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.mpich ",
     .one = " -n -np --np --n -c -N -npernode --npernode -npersocket --npersocket -H -host --host -hosts --hosts -f"
            " -hostfile --hostfile -machinefile --machinefile -machine -x -bind-to --bind-to -map-by --map-by -rank-by"
            " --rank-by -ppn -perhost -genvlist -envlist -membind -launcher -rmk -iface -wdir --wdir -wd -path --path"
            " -outfile-pattern -errfile-pattern -cpu-set --cpu-set -cpu-list --cpu-list -output-filename"
            " --output-filename --output --display --prefix -rf --rankfile --timeout --stdin --personality --tune"
            " --am -configfile --runtime-options ",
     .two = " -mca --mca -gmca --gmca --prtemca --pmixmca -genv -env ",
     .ranks = " -n -np --n --np -c "},
	{.names = " srun ",
     .ranks = " -n --ntasks ",
     .one =
         " -n --ntasks -N --nodes -c --cpus-per-task -p --partition -A --account -J --job-name -t --time -w"
         " --nodelist -x --exclude -o --output -e --error -i --input -D --chdir -C --constraint -d --dependency -m"
         " --distribution -M --clusters -q --qos -r --relative -T --threads -B --extra-node-info --cpu-bind --mem-bind"
         " --gpu-bind --gpus -G --gpus-per-node --gpus-per-task --ntasks-per-node --ntasks-per-core"
         " --ntasks-per-socket --ntasks-per-gpu --hint --mem --mem-per-cpu --mem-per-gpu --mpi --export --gres"
         " --jobid --reservation --threads-per-core --cores-per-socket --sockets-per-node --wait -W --profile "
         "--cpu-freq --network --het-group --tres-per-task --comment --container "},
	{.names = " jsrun ",
     .ranks = " -n --nrs -p --np ",
     .one = " -n --nrs -a --tasks_per_rs -c --cpu_per_rs -g --gpu_per_rs -r --rs_per_host -p --np -l"
            " --latency_priority -b --bind -d --launch_distribution -E --env -F --env_eval -D --env_no_propagate -K"
            " --rs_per_socket -m --memory_per_rs -M --smpiargs -o --stdio_stdout -k --stdio_stderr -t --stdio_input"
            " -e --stdio_mode -f --appfile -U --use_resource_sets -J --jobid -h --chdir -X --exit_on_error "},
	{.names = " flux ",
     .ranks = " -n --ntasks ",
     .skip = " mini run submit alloc ",
     .one = " -n --ntasks -N --nodes -c --cores-per-task -g --gpus-per-task -t --time-limit -q --queue -B --bank -o"
            " --setopt -S --setattr --tasks-per-node --tasks-per-core --cores --gpus-per-node --output --error --input"
            " --env --env-remove --job-name --cwd --requires --taskmap --urgency --rlimit "},
	{.names = " sh dash bash ksh zsh ash ", .kind = SHELL, .one = " -o +o -O +O --rcfile --init-file ", .code = "c"},
	{.names = " python pypy ", .kind = INTERPRETER, .one = " -W -X ", .code = "cm", .glued = "WX"},
	{.names = " perl ", .kind = INTERPRETER, .one = " -I ", .code = "eE", .glued = "IMmiFxCdD0"},
	{.names = " ruby ", .kind = INTERPRETER, .one = " -I -r -C ", .code = "e", .glued = "IrCFKTWxi0E"},
	{.names = " node nodejs ",
     .kind = INTERPRETER,
     .one = " -r --require --import --loader -C --eval --print ",
     .code = "ep"},
	{.names = " Rscript ", .kind = INTERPRETER, .code = "e"},
	{.names = " julia ",
     .kind = INTERPRETER,
     .one = " -t --threads -p --procs -L --load -J --sysimage -C --cpu-target -H --home ",
     .code = "eE",
     .glued = "OgtpLJCH"},
	{.names = " lua luajit ", .kind = INTERPRETER, .one = " -l ", .code = "e", .glued = "l"},
	{.names = " php ", .kind = INTERPRETER, .one = " -c -d -f ", .code = "r", .glued = "cd"},
	/* The file behind -jar comes where a class would. */
	{.names = " java ",
     .kind = INTERPRETER,
     .one = " -cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports "},
};

static bool is_listed(const char *list, const char *word) {
	size_t length = strlen(word);
	for (const char *at = list; length && at && (at = strstr(at, word)); at += length)
		if (at > list && at[-1] == ' ' && at[length] == ' ')
			return !strchr(word, ' ');
	return false;
}

static const char *base_of(const char *word) {
	const char *slash = strrchr(word, '/');
	return slash && slash[1] ? slash + 1 : word;
}

/* python3, python3.11: interpreters have a version at their end. */
static const struct passer *passer_named(const char *name) {
	size_t length = strlen(name);
	while (length && (isdigit((unsigned char)name[length - 1]) || name[length - 1] == '.'))
		length--;
	mem_auto char *plain = mem_printf("%.*s", (int)length, name);
	const struct passer *found = NULL;
	for (size_t i = 0; i < sizeof passers / sizeof *passers && !found; i++)
		if (is_listed(passers[i].names, passers[i].kind == INTERPRETER ? plain : name))
			found = &passers[i];
	return found;
}

bool work_passes(const char *name) {
	return passer_named(name) != NULL;
}

/* ./node is a program of the user's own; venv/bin/python is not. */
static const struct passer *passer_of(const char *word) {
	bool installed = *word == '/' || !strchr(word, '/') || strstr(word, "bin/");
	return installed ? passer_named(base_of(word)) : NULL;
}

bool work_word_assigns(const char *word) {
	size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	return length > 0 && word[length] == '=' && !isdigit((unsigned char)*word);
}

/* "5", "0-3,8": the value of an option that is not listed. */
static bool is_told(const char *word) {
	return *word && strspn(word, "0123456789,-:.") == strlen(word);
}

/* The option that code or a module follows may end a group of letters: -lc, -um. 0: it is none. */
static char code_of(const struct passer *passer, const char *option) {
	char last = option[1] ? option[strlen(option) - 1] : '\0';
	if (!passer->code || option[0] != '-' || option[1] == '-' || !last)
		return '\0';
	if (passer->kind == SHELL)
		return strchr(option, *passer->code) ? *passer->code : '\0';
	bool glued = passer->glued && strchr(passer->glued, option[1]);
	return strchr(passer->code, last) && !glued ? last : '\0';
}

static struct work work_new(enum work_kind kind, const char *word) {
	return (struct work){kind, mem_strdup(word)};
}

static struct work of_line(const char *line, int nested);
static struct work of_words(char **words, int nested);

/* The script behind a module that runs scripts. */
static char *script_of_module(char **at) {
	if (!is_listed(" mpi4py cProfile profile scalene torch.distributed.run torch.distributed.launch ", *at++))
		return NULL;
	while (*at && **at == '-')
		at++;
	return *at;
}

/* words[0] is the passer, *at the option, and what follows it is code. */
static struct work of_code(const struct passer *passer, char **words, char **at, char code, int nested) {
	char *value = at[1], *script = value && code == 'm' ? script_of_module(at + 1) : NULL;
	if (script)
		return work_new(WORK_SCRIPT, script);
	if (value && code == 'm')
		return work_new(WORK_CODE, value);
	struct work inner = value && passer->kind == SHELL ? of_line(value, nested + 1) : work_new(WORK_CODE, "");
	if (*inner.word)
		return (struct work){WORK_CODE, inner.word};
	free(inner.word);
	return work_new(WORK_CODE, words[0]);
}

static char **options_skip(const struct passer *passer, char **at) {
	for (; *at && strcmp(*at, "--") != 0; at++) {
		int values = is_listed(passer->one, *at) ? 1 : is_listed(passer->two, *at) ? 2 : 0;
		bool option = (**at == '-' && (*at)[1]) || values || is_listed(passer->skip, *at);
		if (!values && code_of(passer, *at))
			return at;
		bool told = passer->kind == WRAPPER && (work_word_assigns(*at) || (!passer->words && is_told(*at)));
		if (!option && !told)
			return at;
		for (; values && at[1]; values--)
			at++;
	}
	return *at ? at + 1 : at;
}

static struct work of_passer(const struct passer *passer, char **words, int nested) {
	char **at = options_skip(passer, words + 1);
	char code = *at && at > words && **at == '-' ? code_of(passer, *at) : '\0';
	if (code)
		return of_code(passer, words, at, code, nested);
	for (int i = 0; i < passer->words && *at; i++)
		at++;
	if (!*at || strcmp(*at, "-") == 0)
		return work_new(WORK_PROGRAM, words[0]);
	return passer->kind == WRAPPER ? of_words(at, nested + 1) : work_new(WORK_SCRIPT, *at);
}

static struct work of_words(char **words, int nested) {
	while (*words && words[1] && work_word_assigns(*words))
		words++;
	const struct passer *passer = *words && nested < NESTED_MAX ? passer_of(*words) : NULL;
	return passer ? of_passer(passer, words, nested) : work_new(WORK_PROGRAM, *words ? *words : "");
}

/* "-n", "4"; "-n4"; "--ntasks=4". NULL: the option at *at is another one. */
static const char *value_of(const char *options, char **at) {
	const char *word = *at, *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
	if (is_listed(options, word))
		return at[1];
	mem_auto char *name = mem_printf("%.*s", equals ? (int)(equals - word) : 2, word);
	bool listed = word[0] == '-' && is_listed(options, name);
	return !listed ? NULL : equals ? equals + 1 : word[1] != '-' && word[2] ? word + 2 : NULL;
}

char *work_ranks(const char *const *words) {
	char **at = (char **)words;
	for (int nested = 0; *at && nested < NESTED_MAX; nested++) {
		while (*at && at[1] && work_word_assigns(*at))
			at++;
		const struct passer *passer = passer_of(*at);
		char **end = passer && passer->kind == WRAPPER ? options_skip(passer, at + 1) : NULL;
		for (char **option = at + 1; end && passer->ranks && option < end; option++)
			if (value_of(passer->ranks, option))
				return mem_strdup(value_of(passer->ranks, option));
		if (!end || passer->ranks)
			return passer && passer->ranks ? mem_strdup("") : NULL;
		at = end;
		for (int i = 0; i < passer->words && *at; i++)
			at++;
	}
	return NULL;
}

struct work work_of_words(const char *const *words) {
	return of_words((char **)words, 0);
}

/* Reads a word without its quotes; *line is behind it then. */
static char *word_read(const char **line) {
	size_t size = 0;
	char *word = mem_alloc(strlen(*line) + 1, 1), quote = '\0';
	for (; **line && (quote || !strchr(ends, **line)); ++*line)
		if (!quote && (**line == '\'' || **line == '"'))
			quote = **line;
		else if (**line == quote)
			quote = '\0';
		else if (**line == '\\' && quote != '\'' && (*line)[1])
			word[size++] = *++*line;
		else
			word[size++] = **line;
	return word;
}

const char *work_line_command(const char *line) {
	bool assigns = true;
	while (assigns) {
		line += strspn(line, blanks);
		const char *rest = line;
		mem_auto char *word = word_read(&rest);
		assigns = work_word_assigns(word);
		line = assigns ? rest : line;
	}
	return line;
}

/* The words of the command at *line, which is at its end then. Returns how many. */
static size_t command_read(const char **line, char *words[WORDS_MAX + 1]) {
	size_t count = 0;
	while (**line && count < WORDS_MAX) {
		*line += strspn(*line, " \t");
		if (!**line || strchr(ends, **line))
			break;
		char *word = word_read(line);
		if (*word && (count || !is_listed(leads, word)))
			words[count++] = word;
		else
			free(word);
	}
	words[count] = NULL;
	return count;
}

static bool does_work(char *const *words) {
	while (*words && work_word_assigns(*words))
		words++;
	return *words && **words != '#' && !is_listed(before, *words);
}

/* "f() {", "a) ./app": a word that names a function, or a pattern of `case`, where no parenthesis is open. */
static bool is_label(size_t count, const char *line, int open) {
	return count == 1 && (*line == '(' || (*line == ')' && open == 0));
}

/* The first command that does the work; the shell itself if none does. */
static struct work of_line(const char *line, int nested) {
	char *words[WORDS_MAX + 1];
	struct work first = {WORK_CODE, NULL}, found = {WORK_CODE, NULL};
	int open = 0;
	while (*line && !found.word) {
		size_t count = command_read(&line, words);
		if (count && does_work(words) && !is_label(count, line, open))
			found = of_words(words, nested);
		else if (count && !first.word)
			first = work_new(WORK_CODE, work_word_assigns(words[0]) ? words[0] : "sh");
		for (size_t i = 0; i < count; i++)
			free(words[i]);
		for (; *line && strchr(ends, *line); line++)
			open += *line == '(' ? 1 : *line == ')' && open > 0 ? -1 : 0;
		line += count == WORDS_MAX ? strlen(line) : 0;
	}
	if (found.word)
		free(first.word);
	else
		found = first.word ? first : work_new(WORK_CODE, "");
	return found;
}

char *work_word(const char *line) {
	return of_line(line, 0).word;
}

/* A name that is only a placeholder, as of `--param SOLVER=./cg,./gmres -- '{SOLVER}'`, becomes that of its parameter,
 * which needs no quotes in a shell. */
static const char *unbraced(char *name) {
	size_t length = strlen(name);
	if (length < 3 || name[0] != '{' || name[length - 1] != '}' || strcspn(name + 1, "{}") != length - 2)
		return name;
	name[length - 1] = '\0';
	return name + 1;
}

char *work_name(const char *line) {
	mem_auto char *word = work_word(line);
	for (size_t length = strlen(word); length > 0 && word[length - 1] == '/'; length--)
		word[length - 1] = '\0';
	mem_auto char *name = mem_strdup(base_of(word));
	if (strlen(name) > WORK_NAME_MAX)
		name[WORK_NAME_MAX] = '\0';
	text_clean(name, false);
	return mem_strdup(*name ? unbraced(name) : "program");
}
