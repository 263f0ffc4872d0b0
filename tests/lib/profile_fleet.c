/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fleet's folder: each machine finds its profile by the name of a link, which the program that writes profiles makes.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/tree.h"
#include "tests/lib/profile_made.h"
#include "tests/tap.h"
#include "tuner/profile/profile.h"

enum { MACHINES = 200, FLEET = 5000 };

static json_t *profile_of(json_t *machine, const char *fingerprint, const char *created, const char *kernel) {
	json_object_set_new(machine, "fingerprint", json_string(fingerprint));
	return json_pack("{s:s,s:s,s:o,s:[{s:s,s:{s:i},s:{s:i},s:{},s:f,s:s}]}", "schema", "sweetspot-profile/1", "created",
	                 created, "machine", machine, "entries", "kernel", kernel, "problem", "n", 8, "config", "block", 4,
	                 "environment", "median", 1.0, "state", "current");
}

static bool save(const char *folder, json_t *profile) {
	struct err err = {0};
	char *path = profile_file_name(
		folder, json_string_value(json_object_get(json_object_get(profile, "machine"), "fingerprint")));
	bool saved = profile_save(profile, path, &err) == 0;
	json_decref(profile);
	free(path);
	return saved;
}

static json_t *machine_json(const struct ssp_machine *m) {
	json_t *machine =
		json_pack("{s:I,s:I,s:I,s:I,s:{s:I,s:I,s:I}}", "threads", (json_int_t)m->threads, "cores", (json_int_t)m->cores,
	              "packages", (json_int_t)m->packages, "numa_nodes", (json_int_t)m->numa_nodes, "caches", "l1d",
	              (json_int_t)m->l1d, "l2", (json_int_t)m->l2, "l3", (json_int_t)m->l3);
	if (m->cpu)
		json_object_set_new(machine, "cpu", json_string(m->cpu));
	if (m->gpu)
		json_object_set_new(machine, "gpu", json_pack("{s:s}", "name", m->gpu));
	return machine;
}

/* Both sides name the link the same. */
static void check_names(const char *root) {
	static const char *const cpus[] = {NULL,
	                                   "",
	                                   "AMD EPYC",
	                                   "  Some \t CPU  @ 2 GHz ",
	                                   "Pro\xc3\xa9"
	                                   "cesseur",
	                                   "\t"};
	static const char *const gpus[] = {NULL, "NVIDIA H100 80GB HBM3", "a  b"};
	char *folder = mem_printf("%s/names", root);
	struct rng rng;
	int right = 0;
	rng_seed(&rng, 4);
	mkdir(folder, 0700);
	for (int i = 0; i < MACHINES; i++) {
		struct ssp_machine machine = {.cpu = cpus[rng_below(&rng, 6)],
		                              .gpu = gpus[rng_below(&rng, 3)],
		                              .threads = 1 + rng_below(&rng, 512),
		                              .cores = rng_below(&rng, 256),
		                              .packages = rng_below(&rng, 3),
		                              .numa_nodes = rng_below(&rng, 9),
		                              .l1d = 32 << 10,
		                              .l2 = rng_below(&rng, 1 << 22),
		                              .l3 = rng_below(&rng, UINT64_C(1) << 50)};
		char link[SSP_LINK_SIZE], target[256] = "", fingerprint[64];
		snprintf(fingerprint, sizeof fingerprint, "sha256:%012d", i);
		bool saved = save(folder, profile_of(machine_json(&machine), fingerprint, "2025-01-01T00:00:00Z", "x"));
		ssp_machine_link(&machine, machine.gpu ? machine.gpu : "", machine.gpu ? strlen(machine.gpu) : 0, link);
		char *path = mem_printf("%s/%s", folder, link), *want = profile_file_name("", fingerprint);
		right += saved && readlink(path, target, sizeof target - 1) > 0 && strcmp(target, want) == 0;
		free(want);
		free(path);
	}
	ok(right == MACHINES, "program and library give the link the same name (%d of %d machines)", right, MACHINES);
	free(folder);
}

static void opens(const char *folder, const char *kernel, const char *what) {
	char why[SWEETSPOT_MESSAGE];
	sweetspot_profile *profile = sweetspot_open(folder, why, sizeof why);
	const char *found = profile ? sweetspot_kernel(profile, 0) : NULL;
	if (!is_text(found, kernel, what))
		printf("# %s\n", why);
	sweetspot_close(profile);
}

static json_t *here(uint64_t more) {
	struct ssp_arena *arena = ssp_arena_new();
	struct ssp_machine machine;
	ssp_machine_read("", arena, &machine);
	machine.gpu = NULL;
	machine.threads += more;
	json_t *json = machine_json(&machine);
	ssp_arena_free(arena);
	return json;
}

static void check_fleet(const char *root) {
	char *folder = mem_printf("%s/fleet", root), *link = NULL, name[SSP_LINK_SIZE], fingerprint[64];
	json_t *machine_there = here(1);
	int saved = 0;
	mkdir(folder, 0700);
	for (int i = 1; i < FLEET; i++) {
		snprintf(fingerprint, sizeof fingerprint, "sha256:%012d", i);
		json_t *other = profile_of(json_copy(machine_there), fingerprint, "2025-06-01T00:00:00Z", "other");
		char *file = profile_file_name(folder, fingerprint);
		saved += json_dump_file(other, file, 0) == 0;
		free(file);
		json_decref(other);
	}
	ok(saved == FLEET - 1, "profiles of %d other machines", saved);
	ok(save(folder, profile_of(here(0), "sha256:abcdefabcdef", "2025-01-01T00:00:00Z", "mine")),
	   "a profile of this machine lies among them");
	opens(folder, "mine", "the profile of this machine is found among them");
	json_t *unlinked = profile_of(here(0), "sha256:1", "2025-12-01T00:00:00Z", "searched");
	char *path = mem_printf("%s/unlinked.json", folder);
	ok(json_dump_file(unlinked, path, 0) == 0, "a newer file that nothing leads to");
	opens(folder, "mine", "a profile that is found by its name spares the search of the folder");
	struct ssp_arena *arena = ssp_arena_new();
	struct ssp_machine machine;
	ssp_machine_read("", arena, &machine);
	ssp_machine_link(&machine, "", 0, name);
	link = mem_printf("%s/%s", folder, name);
	ok(unlink(link) == 0, "the link can be removed");
	opens(folder, "searched", "all profiles are looked at where no link leads, though there are thousands");
	ok(symlink("gone.json", link) == 0, "a link to nothing");
	opens(folder, "searched", "a link to nothing does not get in the way");
	ok(unlink(link) == 0 && symlink("profile-000000000007.json", link) == 0, "a link to another machine's");
	opens(folder, "searched", "a link to another machine's profile is not believed");
	ssp_arena_free(arena);
	json_decref(unlinked);
	json_decref(machine_there);
	free(path);
	free(link);
	free(folder);
}

static void check_program(const char *root) {
	char *folder = mem_printf("%s/fleet", root), *empty = mem_printf("%s/empty", root);
	struct err err = {0};
	mkdir(empty, 0700);
	ok(!profile_at(empty, "sha256:abcdefabcdef", &err) && err.code == ERR_NOTHING, "an empty folder: %s", err.what);
	err = (struct err){0};
	setenv("SWEETSPOT_PROFILE", empty, 1);
	ok(!profile_find("sha256:abcdefabcdef", &err) && err.code == ERR_NOTHING, "the set path is the only place: %s",
	   err.what);
	char *pipe = profile_file_name(empty, "sha256:abcdefabcdef");
	err = (struct err){0};
	ok(mkfifo(pipe, 0600) == 0 && !profile_find("sha256:abcdefabcdef", &err) && err.code == ERR_NOTHING,
	   "a pipe in place of a profile is passed over: %s", err.what);
	free(pipe);
	free(folder);
	free(empty);
}

int main(void) {
	char root[] = "/tmp/sweetspot-fleet-XXXXXX";
	if (!mkdtemp(root))
		return 99;
	unsetenv("SWEETSPOT_PROFILE");
	check_names(root);
	check_fleet(root);
	check_program(root);
	tree_remove(root);
	return tap_done();
}
