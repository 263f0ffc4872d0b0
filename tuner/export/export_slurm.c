/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a batch script. #SBATCH lines contain only numbers and fixed words. srun takes its defaults from
 * SRUN_CPUS_PER_TASK (since Slurm 22.05 no longer from the job), SLURM_HINT, SLURM_CPU_BIND and SLURM_DISTRIBUTION;
 * --hint and --cpu-bind exclude each other (srun(1), sections "Options" and "Input environment variables"). */

#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

struct wish {
	long cpus, ranks; /* cpus: of a rank; 0: unknown */
	bool gpu;
	const char *hint, *bind, *distribution;
};

/* The second thread of a core stays idle if one thread a core is enough and was measured that way. */
static const char *hint_of(const struct machine *machine, const char *places, long threads) {
	int64_t cores = machine->cores, all = machine->threads;
	if (cores < 1 || all <= cores || threads == 0)
		return NULL;
	if (threads > cores)
		return "multithread";
	return strcmp(places, "threads") == 0 ? NULL : "nomultithread";
}

static struct wish wish_of(const struct profile *profile, const struct profile_entry *entry) {
	const char *bind = entry->bind, *places = entry->places;
	struct wish wish = {.cpus = export_threads(entry), .ranks = export_ranks(profile, entry)};
	wish.cpus = wish.cpus || !wish.ranks ? wish.cpus : 1;
	wish.gpu = strcmp(entry->device, "cpu") != 0;
	if (strcmp(bind, "false") == 0)
		wish.bind = "none";
	else
		wish.hint = hint_of(&profile->machine, places, wish.cpus);
	if (!wish.bind && !wish.hint && *bind)
		wish.bind = strcmp(places, "threads") == 0 ? "threads" : "cores";
	if (strcmp(bind, "spread") == 0)
		wish.distribution = "block:fcyclic";
	else if (strcmp(bind, "close") == 0 || strcmp(bind, "primary") == 0 || strcmp(bind, "master") == 0)
		wish.distribution = "block:block";
	return wish;
}

static void put_option(FILE *out, const char *name, const char *value) {
	if (value)
		fprintf(out, " --%s=%s", name, value);
}

static void put_srun(const struct profile *profile, const struct profile_entry *entry, FILE *out, export_setter *set) {
	struct wish wish = wish_of(profile, entry);
	char cpus[24];
	snprintf(cpus, sizeof cpus, "%ld", wish.cpus);
	set(out, "SRUN_CPUS_PER_TASK", wish.cpus ? cpus : NULL);
	set(out, "SLURM_HINT", wish.hint);
	set(out, "SLURM_CPU_BIND", wish.bind);
	set(out, "SLURM_DISTRIBUTION", wish.distribution);
	fputs(set == export_shell_set ? "# srun" : "\t# srun", out);
	char ranks[24];
	snprintf(ranks, sizeof ranks, "%ld", wish.ranks);
	put_option(out, "ntasks", wish.ranks ? ranks : NULL);
	put_option(out, "cpus-per-task", wish.cpus ? cpus : NULL);
	put_option(out, "hint", wish.hint);
	put_option(out, "cpu-bind", wish.bind);
	put_option(out, "distribution", wish.distribution);
	fputs(" PROGRAM\n", out);
}

/* Requests the most CPUs of any recommendation, and the hint only if all of them give it. */
static void put_sbatch(const struct profile *profile, FILE *out) {
	struct wish most = {0};
	for (size_t i = 0; i < profile->count; i++) {
		struct wish wish = wish_of(profile, &profile->entries[i]);
		bool same = i == 0 || (most.hint && wish.hint && strcmp(most.hint, wish.hint) == 0);
		most.hint = same ? wish.hint : NULL;
		most.cpus = wish.cpus > most.cpus ? wish.cpus : most.cpus;
		most.ranks = wish.ranks > most.ranks ? wish.ranks : most.ranks;
		most.gpu = most.gpu || wish.gpu;
	}
	fprintf(out, "#SBATCH --nodes=1\n#SBATCH --ntasks=%ld\n", most.ranks ? most.ranks : 1);
	if (most.gpu)
		fputs("#SBATCH --gpus=1\n", out);
	if (most.cpus)
		fprintf(out, "#SBATCH --cpus-per-task=%ld\n", most.cpus);
	if (most.hint)
		fprintf(out, "#SBATCH --hint=%s\n", most.hint);
}

static int slurm_write(const struct profile *profile, FILE *out, struct err *err) {
	fputs("#!/bin/sh\n", out);
	put_sbatch(profile, out);
	export_heading(out, "# ", profile, "the head of a batch script; srun follows.");
	export_shell_settings(profile, out, put_srun);
	return export_end(out, "batch script", err);
}

const struct export_format export_slurm = {
	.name = "slurm",
	.summary = "the head of a Slurm batch script: #SBATCH lines, variables, options of srun",
	.write = slurm_write,
};
