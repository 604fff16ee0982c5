// SPDX-License-Identifier: Apache-2.0
#include "probes/search.h"

#include <fcntl.h>

#include "user/base/planted.h"

void search_bytes(const struct probe_attempt *a, const void *data, size_t len,
		  struct probe_outcome *ret)
{
	if (!ret->has_secret)
		ret->has_secret = planted_find(data, len, PLANTED_SECRET, a->nonce, ret->secret);
	if (!ret->has_twin)
		ret->has_twin = planted_find(data, len, PLANTED_TWIN, a->nonce, ret->twin);
}

int search_file(const struct probe_attempt *a, const char *path, struct probe_outcome *ret)
{
	/* never waiting: what lies there may be a pipe */
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char data[SEARCH_MAX];
	size_t len = 0;

	if (fd < 0)
		return -errno;
	while (len < sizeof(data)) {
		ssize_t n = read(fd, data + len, sizeof(data) - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
	}
	search_bytes(a, data, len, ret);
	return 0;
}

void search_outcome(struct probe_outcome *o, int err)
{
	if (o->has_secret)
		outcome_word(o, "secret-read");
	else if (o->has_twin)
		outcome_word(o, "twin-read");
	else if (err)
		outcome_errno(o, -err);
	else
		outcome_word(o, "nothing-found");
}
