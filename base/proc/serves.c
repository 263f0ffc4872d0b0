/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc/serves.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The sockets that listen on a port, of the lines of /proc/net/tcp, up to `most`. */
static size_t listening(const char *table, int port, unsigned long *inodes, size_t most) {
	char line[512];
	size_t count = 0;
	FILE *file = fopen(table, "re");
	while (file && count < most && fgets(line, sizeof line, file)) {
		unsigned at, state;
		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu", &at, &state,
		           &inodes[count]) == 3)
			count += at == (unsigned)port && state == 0x0A;
	}
	if (file)
		fclose(file);
	return count;
}

static bool has_socket(pid_t pid, unsigned long inode) {
	char path[64], link[64], wanted[64];
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
	DIR *folder = opendir(path);
	bool found = false;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
		link[length > 0 ? length : 0] = '\0';
		found = strcmp(link, wanted) == 0;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* The only child of a shell; 0: it has none, or several. */
static pid_t only_child(pid_t shell) {
	char path[64];
	int first = 0, second = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)shell, (int)shell);
	FILE *file = fopen(path, "re");
	int count = file ? fscanf(file, "%d %d", &first, &second) : 0;
	if (file)
		fclose(file);
	return count == 1 ? first : 0;
}

bool proc_serves(pid_t pid, int port) {
	enum { MOST = 16 };
	unsigned long inodes[2 * MOST];
	pid_t child = only_child(pid);
	size_t count = listening("/proc/net/tcp", port, inodes, MOST);
	count += listening("/proc/net/tcp6", port, inodes + count, MOST);
	for (size_t i = 0; i < count; i++)
		if (has_socket(pid, inodes[i]) || (child && has_socket(child, inodes[i])))
			return true;
	return false;
}

int serves_port(const char *ready) {
	static const char *const hosts[] = {"", "127.0.0.1:", "localhost:"};
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		const char *digits = ready + strlen(hosts[i]);
		if (strncmp(ready, hosts[i], strlen(hosts[i])) == 0 && *digits && strlen(digits) <= 5 &&
		    digits[strspn(digits, "0123456789")] == '\0')
			return atoi(digits);
	}
	return 0;
}

bool serves_answers(int port) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bool answers = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
	if (fd >= 0)
		close(fd);
	return answers;
}
