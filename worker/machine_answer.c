/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/machine_answer.h"

#include <stdlib.h>
#include <unistd.h>

#include "topo/topo.h"
#include "worker/kernel/word.h"

/* The first of them that is set. */
static json_t *variable_json(const char *name, const char *other) {
	const char *text = getenv(name);
	text = text || !other ? text : getenv(other);
	return word_clean_json(text ? text : "");
}

/* Prefer the launcher's name of the node, which may be one of several on a host, and the batch system's, which may
 * differ from the host's. */
static json_t *node_json(const char *host) {
	const char *name = getenv("SWEETSPOT_NODE");
	name = name && *name ? name : getenv("SLURMD_NODENAME");
	return word_clean_json(name && *name ? name : host);
}

json_t *machine_answer(const json_t *request, struct err *err) {
	static const char *const keys[] = {"op", "id"};
	char host[256] = "";
	if (word_check_keys(request, keys, 2, err) != 0) {
		return NULL;
	}
	struct topo *topo = topo_open(NULL, err);
	char *xml = topo ? topo_xml(topo, err) : NULL;
	json_t *answer = NULL;
	gethostname(host, sizeof host - 1);
	if (xml) {
		answer =
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "node", node_json(host), "host", word_clean_json(host),
		              "job", variable_json("SLURM_JOB_ID", "FLUX_JOB_ID"), "step", variable_json("SLURM_STEP_ID", NULL),
		              "machine", topo_json(topo), "topology", xml, "version", PACKAGE_VERSION);
	}
	free(xml);
	topo_close(topo);
	return answer;
}
