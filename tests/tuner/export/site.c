/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch systems, module systems and launchers must read every byte of every value, run no command from any of them, and
 * use the CPUs of the binding. */
#include <sys/stat.h>

#include "base/sys.h"
#include "tests/tuner/export/help.h"

static json_t *profile_of(json_t *entry) {
	json_t *profile = profile_new();
	profile_add(profile, entry);
	return profile;
}

static json_t *valued(const char *value) {
	json_t *problem = json_pack("{s:i}", "n", 64);
	json_t *entry = entry_new("fw", problem, json_pack("{s:s, s:i}", "value", value, "threads", 2));
	json_decref(problem);
	return profile_of(entry);
}

static json_t *all_hostile(void) {
	json_t *profile = profile_new();
	for (int i = 0; i < HOSTILE; i++)
		profile_add(profile, hostile_entry(i));
	return profile;
}

static bool file_write(const char *path, const char *text) {
	struct err err = {0};
	return sys_write_file(path, text, strlen(text), &err) == 0 && chmod(path, 0755) == 0;
}

static bool lines_are(const char *path, const char *pattern, const char *want) {
	char got[8192], *command = mem_printf("grep -E '%s' %s", pattern, path);
	bool same = (output_of(command, got, sizeof got), strcmp(got, want) == 0);
	if (!same)
		printf("# %s: \"%s\", not \"%s\"\n", pattern, got, want);
	free(command);
	return same;
}

static void test_slurm(const char *shell, const char *path) {
	int wrong = 0;
	for (int i = 0; i < HOSTILE; i++) {
		json_t *profile = valued(hostile[i]);
		wrong += !export_to(profile, "slurm", path) ||
		         !shell_has(shell, path, NULL, "SWEETSPOT_FW_VALUE", hostile[i]) ||
		         !shell_has(shell, path, NULL, "SRUN_CPUS_PER_TASK", "2");
		json_decref(profile);
	}
	json_t *profile = all_hostile();
	bool together = export_to(profile, "slurm", path) && shell_has(shell, path, NULL, "OMP_NUM_THREADS", "2");
	together = together && lines_are(path, "^#SBATCH|^#!",
	                                 "#!/bin/sh\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=2\n");
	ok(wrong == 0 && together && !is_pwned(), "%s sources the head of a batch script", shell);
	json_decref(profile);
}

static void test_slurm_wishes(const char *path) {
	static const struct {
		const char *config, *sbatch, *srun;
		int cores, threads;
	} cases[] = {
		{"{\"threads\":4,\"proc_bind\":\"close\",\"places\":\"cores\"}",
	     "#SBATCH --cpus-per-task=4\n#SBATCH --hint=nomultithread\n",
	     "# srun --cpus-per-task=4 --hint=nomultithread --distribution=block:block PROGRAM\n", 8, 16},
		{"{\"threads\":4,\"proc_bind\":\"spread\",\"places\":\"cores\"}", "#SBATCH --cpus-per-task=4\n",
	     "# srun --cpus-per-task=4 --cpu-bind=cores --distribution=block:fcyclic PROGRAM\n", 8, 8},
		{"{\"threads\":12,\"proc_bind\":\"close\",\"places\":\"threads\"}",
	     "#SBATCH --cpus-per-task=12\n#SBATCH --hint=multithread\n",
	     "# srun --cpus-per-task=12 --hint=multithread --distribution=block:block PROGRAM\n", 8, 16},
		{"{\"threads\":4,\"proc_bind\":\"close\",\"places\":\"threads\"}", "#SBATCH --cpus-per-task=4\n",
	     "# srun --cpus-per-task=4 --cpu-bind=threads --distribution=block:block PROGRAM\n", 8, 16},
		{"{\"threads\":4,\"proc_bind\":\"false\"}", "#SBATCH --cpus-per-task=4\n",
	     "# srun --cpus-per-task=4 --cpu-bind=none PROGRAM\n", 8, 16},
		{"{\"block\":4}", "", "# srun PROGRAM\n", 8, 16},
	};
	int wrong = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *profile = profile_of(entry_of("fw", 64, cases[i].config)),
			   *machine = json_object_get(profile, "machine");
		json_object_set_new(machine, "cores", json_integer(cases[i].cores));
		json_object_set_new(machine, "threads", json_integer(cases[i].threads));
		wrong += !export_to(profile, "slurm", path) || !lines_are(path, "^#SBATCH.*(cpus|hint)", cases[i].sbatch) ||
		         !lines_are(path, "# srun", cases[i].srun);
		json_decref(profile);
	}
	ok(wrong == 0, "slurm: CPUs, hint, binding and distribution follow threads, places and cores");
}

static void test_batch_heads(const char *shell, const char *path) {
	static const char *const formats[] = {"pbs", "flux"};
	int wrong = 0;
	for (size_t f = 0; f < 2; f++)
		for (int i = 0; i < HOSTILE; i++) {
			json_t *profile = valued(hostile[i]);
			wrong += !export_to(profile, formats[f], path) ||
			         !shell_has(shell, path, NULL, "SWEETSPOT_FW_VALUE", hostile[i]) ||
			         !shell_has(shell, path, NULL, "OMP_NUM_THREADS", "2");
			json_decref(profile);
		}
	json_t *profile = all_hostile();
	bool together =
		export_to(profile, "pbs", path) &&
		lines_are(path, "^#PBS|^#!", "#!/bin/sh\n#PBS -l select=1:ncpus=2:ompthreads=2\n") &&
		export_to(profile, "flux", path) &&
		lines_are(path, "^#flux|^#!", "#!/bin/sh\n#flux: --nodes=1\n#flux: --nslots=1\n#flux: --cores-per-slot=2\n");
	ok(wrong == 0 && together && !is_pwned(), "%s sources the heads of batch scripts for PBS and Flux", shell);
	json_decref(profile);
}

static void test_batch_wishes(const char *path) {
	static const struct {
		const char *config, *pbs, *flux;
	} cases[] = {
		{"{\"threads\":4,\"proc_bind\":\"close\",\"places\":\"cores\"}", "#PBS -l select=1:ncpus=4:ompthreads=4\n",
	     "# flux run --ntasks=1 --cores-per-task=4 PROGRAM\n"},
		{"{\"threads\":7,\"proc_bind\":\"close\",\"places\":\"threads\"}", "#PBS -l select=1:ncpus=7:ompthreads=7\n",
	     "# flux run --ntasks=1 --cores-per-task=4 PROGRAM\n"},
		{"{\"threads\":16,\"proc_bind\":\"false\"}", "#PBS -l select=1:ncpus=16:ompthreads=16\n",
	     "# flux run --ntasks=1 --cores-per-task=8 -o cpu-affinity=off PROGRAM\n"},
		{"{\"block\":4}", "#PBS -l select=1\n", "# flux run --ntasks=1 PROGRAM\n"},
	};
	int wrong = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *profile = profile_of(entry_of("fw", 64, cases[i].config)),
			   *machine = json_object_get(profile, "machine");
		json_object_set_new(machine, "cores", json_integer(8));
		json_object_set_new(machine, "threads", json_integer(16));
		wrong += !export_to(profile, "pbs", path) || !lines_are(path, "^#PBS", cases[i].pbs) ||
		         !export_to(profile, "flux", path) || !lines_are(path, "# flux run", cases[i].flux);
		json_decref(profile);
	}
	ok(wrong == 0, "PBS counts threads, and Flux the cores that they need");
}

static const char *const launchers[][2] = {{"taskset", "taskset"}, {"numactl", "numactl"}, {"likwid", "likwid-pin"}};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* In place of each launcher one that skips its options. */
static void fakes_make(void) {
	for (int i = 0; i < LAUNCHERS; i++) {
		char *path = fixture_path(launchers[i][1]);
		file_write(path,
		           "#!/bin/sh\nwhile :; do case $1 in -c) shift 2;; -*) shift;; *) break;; esac; done\nexec \"$@\"\n");
		free(path);
	}
}

static bool runs(const char *shell, const char *path, const char *want) {
	char got[4096], *expected = mem_printf("%s<end>", want);
	char *command =
		mem_printf("cd '%s' && PATH=$PWD:$PATH %s -c 'set -eu; . %s; sweetspot_run_fw_n64 sh -c "
	               "\"printf %%s \\\"\\$SWEETSPOT_FW_VALUE\\\"; echo \\\"<end>\\\"\" | tr -d \"\\\\000\"' 2>&1",
	               fixture_dir, shell, path);
	int status = output_of(command, got, sizeof got);
	size_t length = strlen(got);
	if (length && got[length - 1] == '\n')
		got[length - 1] = '\0';
	bool same = status == 0 && strcmp(got, expected) == 0;
	if (!same)
		printf("# %s: \"%s\"\n", shell, got);
	free(command);
	free(expected);
	return same;
}

static void test_launchers(const char *shell, const char *path) {
	for (int k = 0; k < LAUNCHERS; k++) {
		int wrong = 0;
		for (int i = 0; i < HOSTILE; i++) {
			json_t *profile = valued(hostile[i]);
			wrong += !export_to(profile, launchers[k][0], path) || !runs(shell, path, hostile[i]);
			json_decref(profile);
		}
		json_t *profile = all_hostile();
		bool together =
			export_to(profile, launchers[k][0], path) && shell_has(shell, path, NULL, "NOTHING_SET", "unset");
		ok(wrong == 0 && together && !is_pwned(), "%s runs programs under %s", shell, launchers[k][0]);
		json_decref(profile);
	}
}

static void test_cpus(const char *path) {
	static const struct {
		const char *binding, *all, *each;
	} cases[] = {
		{"[0][1]", "0,1", "0,1"},
		{"[0-3]x2[4-7]x2", "0,1,2,3,4,5,6,7", "0,1,4,5"},
		{"[0,8]x3", "0,8", "0,8,0"},
		{"[0][2][0]", "0,2", "0,2,0"},
		{"[1]", "1", "1"},
		{"[*]x4", NULL, NULL},
		{"", NULL, NULL},
		{"[0", NULL, NULL},
		{"[0]x", NULL, NULL},
		{"[]", NULL, NULL},
		{"[0];reboot", NULL, NULL},
		{"[5-2]", NULL, NULL},
		{"[99999999]", NULL, NULL},
	};
	int wrong = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static const char *const before[] = {"taskset -c ", "numactl --physcpubind=", "likwid-pin -q -c "};
		for (int k = 0; k < LAUNCHERS; k++) {
			json_t *profile = valued("x");
			const char *list = k == 2 ? cases[i].each : cases[i].all;
			json_object_set_new(json_array_get(json_object_get(profile, "entries"), 0), "binding",
			                    json_string(cases[i].binding));
			char *want = mem_printf("\texec %s%s%s\"$@\"\n", list ? before[k] : "", list ? list : "", list ? " " : "");
			wrong += !export_to(profile, launchers[k][0], path) || !lines_are(path, "exec", want);
			free(want);
			json_decref(profile);
		}
	}
	ok(wrong == 0, "launchers get the CPUs of the binding, in the order of threads where that counts");
	json_t *foreign = valued("x");
	struct err err = {0};
	json_object_del(json_array_get(json_object_get(foreign, "entries"), 0), "binding");
	ok(write_as("taskset", foreign, stdout, &err) == -1 && err.code == ERR_USAGE, "another machine's are refused");
	json_decref(foreign);
}

/* Reads the module with commands of its own for the words of modules, and prints what was set. */
static void test_tcl(const char *path) {
	static const char script[] = "proc setenv {name value} {set ::set($name) $value}\n"
								 "proc unsetenv {name} {}\nproc module-whatis {args} {}\n"
								 "fconfigure stdout -encoding utf-8 -translation binary\n"
								 "source -encoding utf-8 [lindex $argv 0]\n"
								 "puts -nonewline \"[encoding convertto utf-8 $set(SWEETSPOT_FW_VALUE)]<end>\"\n";
	char *program = fixture_path("module.tcl"), got[4096];
	int wrong = !file_write(program, script);
	if (!has_program("tclsh")) {
		tap_skip("modulefile-tcl", "tclsh is not here");
		free(program);
		return;
	}
	for (int i = 0; i < HOSTILE; i++) {
		json_t *profile = valued(hostile[i]);
		char *command = mem_printf("cd %s && tclsh %s %s 2>&1", fixture_dir, program, path);
		char *want = mem_printf("%s<end>", hostile[i]);
		bool same = export_to(profile, "modulefile-tcl", path) && output_of(command, got, sizeof got) == 0 &&
		            strcmp(got, want) == 0;
		if (!same)
			printf("# %d: \"%s\"\n", i, got);
		wrong += !same;
		free(want);
		free(command);
		json_decref(profile);
	}
	json_t *profile = all_hostile();
	char *command =
		mem_printf("(cat %s; sed 1,2d %s) | sed /FW_VALUE/d >%s.both; sed -i /^source/d %s.both; cd %s && tclsh "
	               "%s.both 2>&1",
	               program, path, program, program, fixture_dir, program);
	bool together = export_to(profile, "modulefile-tcl", path) && output_of(command, got, sizeof got) == 0;
	ok(wrong == 0 && together && !is_pwned(), "tclsh reads the module");
	free(command);
	free(program);
	json_decref(profile);
}

static void test_lua(const char *path) {
	static const char *const names[] = {"lua", "lua5.4", "lua5.3", "lua5.1", "luajit", "texlua"};
	static const char script[] = "local set = {}\nfunction setenv(n, v) set[n] = v end\nfunction unsetenv() end\n"
								 "function whatis() end\ndofile(arg[1])\n"
								 "io.write(tostring(set.SWEETSPOT_FW_VALUE), '<end>')\n";
	const char *lua = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !lua; i++)
		lua = has_program(names[i]) ? names[i] : NULL;
	if (!lua) {
		tap_skip("modulefile", "lua is not here");
		return;
	}
	char *program = fixture_path("module.lua"), got[4096];
	int wrong = !file_write(program, script);
	for (int i = 0; i < HOSTILE; i++) {
		json_t *profile = valued(hostile[i]);
		char *command = mem_printf("cd %s && %s %s %s 2>&1", fixture_dir, lua, program, path);
		char *want = mem_printf("%s<end>", hostile[i]);
		wrong +=
			!export_to(profile, "modulefile", path) || output_of(command, got, sizeof got) != 0 || strcmp(got, want);
		free(want);
		free(command);
		json_decref(profile);
	}
	ok(wrong == 0 && !is_pwned(), "lua reads the module");
	free(program);
}

/* Nothing but letters, digits, blanks, some marks and escapes inside the quotes. */
static void test_modules(const char *path) {
	json_t *profile = valued("a\"]]\n\\\xc3\xa9");
	bool lua = export_to(profile, "modulefile", path) &&
	           lines_are(path, "VALUE", "setenv(\"SWEETSPOT_FW_VALUE\", \"a\\034\\093\\093\\010\\092\\195\\169\")\n");
	bool tcl = export_to(profile, "modulefile-tcl", path) &&
	           lines_are(path, "VALUE", "setenv SWEETSPOT_FW_VALUE \"a\\042\\135\\135\\012\\134\xc3\xa9\"\n");
	ok(lua && tcl, "modules escape everything except letters and digits");
	json_decref(profile);
	profile = all_hostile();
	int odd = 0;
	for (int k = 0; k < 2; k++) {
		char got[64],
			*command = mem_printf("LC_ALL=C grep -cvE '^(--|#|whatis|module-whatis|setenv|unsetenv)' %s", path);
		odd += !export_to(profile, k ? "modulefile-tcl" : "modulefile", path);
		output_of(command, got, sizeof got);
		odd += strcmp(got, "0\n") != 0;
		free(command);
	}
	ok(odd == 0, "modules have no lines but of their words");
	json_decref(profile);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("exported");
	fakes_make();
	for (const char *const *shell = shells; *shell; shell++) {
		if (!has_program(*shell)) {
			tap_skip(*shell, "it is not here");
			continue;
		}
		test_slurm(*shell, path);
		test_batch_heads(*shell, path);
		test_launchers(*shell, path);
	}
	test_slurm_wishes(path);
	test_batch_wishes(path);
	test_cpus(path);
	test_tcl(path);
	test_lua(path);
	test_modules(path);
	free(path);
	return fixture_end();
}
