/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of the link in a fleet's folder that leads to a machine's profile, made from facts that do not need the
 * compiler; the program that writes profiles makes the same name. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/profile/machine_impl.h"

/* FNV-1a (G. Fowler, L. Noll, K.-P. Vo; IETF draft-eastlake-fnv); a collision is harmless, because the profile is
 * compared with the machine anyway. */
static uint64_t add(uint64_t hash, char byte) {
	return (hash ^ (unsigned char)byte) * 0x100000001b3u;
}

/* Words with one blank between them; ? for characters that are not ASCII. */
static uint64_t words_add(uint64_t hash, const char *text, size_t size) {
	bool blank = false, begun = false;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		bool is_blank = c == ' ' || c == '\t';
		if (!is_blank && blank && begun)
			hash = add(hash, ' ');
		blank = is_blank;
		begun = begun || !is_blank;
		if (!is_blank)
			hash = add(hash, c > ' ' && c < 127 ? (char)c : '?');
	}
	return add(hash, '\n');
}

void ssp_machine_link(const struct ssp_machine *machine, const char *gpu, size_t gpu_size, char name[SSP_LINK_SIZE]) {
	const uint64_t numbers[] = {machine->threads, machine->cores, machine->packages, machine->numa_nodes,
	                            machine->l1d,     machine->l2,    machine->l3};
	uint64_t hash = 0xcbf29ce484222325u;
	char text[32];
	hash = words_add(hash, machine->cpu ? machine->cpu : "", machine->cpu ? strlen(machine->cpu) : 0);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		hash = words_add(hash, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, numbers[i]));
	hash = words_add(hash, gpu, gpu_size);
	snprintf(name, SSP_LINK_SIZE, "machine-%012" PRIx64 ".json", hash & 0xffffffffffffu);
}
