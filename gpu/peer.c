/* SPDX-License-Identifier: BSD-3-Clause */
/* Several GPUs of one process: the one that was opened first opens all others. */
#include <config.h>

#include "gpu/impl.h"

int gpu_peers(struct gpu *gpu) {
	int count = 1;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, device_count, &count))
		return 1;
	return count < 1 ? 1 : count > GPU_PEERS_MAX ? GPU_PEERS_MAX : count;
}

static bool access_enable(struct gpu *from, struct gpu *to) {
	int possible = 0;
	if (!GPU_CALL(from, peer_possible, &possible, from->device, to->device) || !possible || !gpu_enter(from))
		return false;
	driver_result result = from->driver.peer_enable ? from->driver.peer_enable(to->context, 0) : DRIVER_NOT_FOUND;
	return result == DRIVER_SUCCESS || result == DRIVER_PEER_ENABLED;
}

static struct gpu *at_index(struct gpu *root, int index) {
	return index == root->facts.index ? root : root->peers[index];
}

static struct gpu *peer_open(struct gpu *gpu, int index) {
	struct err err;
	struct gpu *root = gpu->root, *peer = device_open(root->driver.api, index, root, &err);
	if (!peer) {
		gpu_fail(gpu, GPU_REFUSED, "%s", err.what);
		return NULL;
	}
	for (int i = 0; i < GPU_PEERS_MAX; i++) {
		struct gpu *other = at_index(root, i);
		if (other && other != peer) {
			access_enable(peer, other);
			access_enable(other, peer);
		}
	}
	return root->peers[index] = peer;
}

struct gpu *gpu_peer(struct gpu *gpu, int i) {
	int own = gpu->facts.index, index = i == 0 ? own : i <= own ? i - 1 : i;
	if (i < 0 || i >= gpu_peers(gpu)) {
		gpu_fail(gpu, GPU_REFUSED, "there are not %d GPUs", i + 1);
		return NULL;
	}
	struct gpu *peer = at_index(gpu->root, index);
	return peer ? peer : peer_open(gpu, index);
}

void gpu_copy_peer(struct gpu *gpu, struct gpu *to_gpu, gpu_ptr to, struct gpu *from_gpu, gpu_ptr from, size_t size) {
	if (size && gpu_enter(gpu))
		GPU_CALL(gpu, copy_peer, to, to_gpu->context, from, from_gpu->context, size, gpu->use->handle);
}
