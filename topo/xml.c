/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/scratch.h"
#include "base/sys.h"
#include "topo/impl.h"

char *topo_xml(const struct topo *topo, struct err *err) {
	char *xml, *copy;
	int size;
	if (hwloc_topology_export_xmlbuffer(topo->hw, &xml, &size, 0) != 0) {
		err_set(err, ERR_FAILED, NULL, "hwloc cannot write the topology: %s", strerror(errno));
		return NULL;
	}
	copy = mem_strdup(xml);
	hwloc_free_xmlbuffer(topo->hw, xml);
	return copy;
}

struct topo *topo_open_xml(const char *xml, struct err *err) {
	const char *dir = getenv("TMPDIR");
	char *path = mem_printf("%s/sweetspot-topology-XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	size_t size = strlen(xml);
	struct topo *topo = NULL;
	if (fd < 0 || write(fd, xml, size) != (ssize_t)size)
		err_set(err, ERR_FAILED, scratch_hint(errno), "cannot write %s: %s", path, strerror(errno));
	else
		topo = topo_open(path, err);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(path);
	return topo;
}
