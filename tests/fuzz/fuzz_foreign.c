// SPDX-License-Identifier: Apache-2.0
/* Another tool's capture, as `sentinel replay` reads one: whose it is, its packets, its report. */
#include <sys/mman.h>

#include "user/live/traffic.h"
#include "user/record/foreign.h"
#include "user/record/origin.h"
#include "user/report/traffic_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *arg, const struct ev *ev, enum direction direction)
{
	return traffic_push(arg, ev, direction);
}

/* For people: nothing in it drives a terminal. */
static void print(struct traffic *t, const struct foreign_report *r)
{
	const struct traffic_about about = {
		.path = "a",
		.format = "pcap",
		.link = r->link,
		.cut = r->cut ? r->text : NULL,
	};
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f || traffic_text(f, t, &about, false) < 0)
		abort();
	(void)fclose(f);
	for (size_t i = 0; i < len; i++)
		if ((text[i] < 0x20 && text[i] != '\n') || text[i] == 0x7f)
			abort();
	free(text);
}

static void replay(const char *path)
{
	const struct traffic_opts opts = {
		.flows = 8,
		.questions = 8,
		.addresses = 8,
		.stream = { .flows = 8, .blocks = 8, .flow_blocks = 4, .fragments = 2 },
	};
	struct traffic_totals totals;
	struct foreign_report r;
	struct diag d = { .text = "" };
	struct traffic *t;

	if (traffic_new(&t, &opts) < 0)
		return;
	if (foreign_read(path, take, t, &r, &d) == 0) {
		traffic_totals(t, &totals);
		if (totals.frames != r.packets || r.cut != (r.text[0] != '\0'))
			abort();
		print(t, &r);
	} else if (!d.text[0]) {
		abort(); /* an error that says nothing */
	}
	traffic_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_fd int fd = memfd_create("capture", MFD_CLOEXEC);
	enum origin origin;
	char path[64];

	if (fd < 0 || write_all(fd, data, size) < 0 ||
	    str_format(path, sizeof(path), "/proc/self/fd/%d", fd) < 0)
		return 0;
	if (origin_of(path, &origin) < 0)
		abort();
	if (origin != ORIGIN_OURS)
		replay(path);
	return 0;
}
