/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/inside/inside_impl.h"

struct inside_ring *ssi_ring_open(const char *path) {
	struct stat facts;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	void *at = MAP_FAILED;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
	    facts.st_size == sizeof(struct inside_ring))
		at = mmap(NULL, sizeof(struct inside_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	struct inside_ring *ring = at == MAP_FAILED ? NULL : at;
	if (ring && (memcmp(ring->magic, INSIDE_MAGIC, sizeof ring->magic) != 0 || ring->size != sizeof *ring)) {
		munmap(at, sizeof *ring);
		ring = NULL;
	}
	return ring;
}
