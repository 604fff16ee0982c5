// SPDX-License-Identifier: Apache-2.0
#include "user/record/foreign.h"

#include <fcntl.h>
#include <pcap/pcap.h>

#include "user/record/foreign_blocks.h"
#include "user/record/foreign_packet.h"

#define SEC_MAX (UINT64_MAX / NSEC_PER_SEC - 5) /* a hostile file has 4.3e9 ns in a second */

/* ---- pcap, by libpcap ---- */

/* libpcap's tv_usec holds nanoseconds, as we asked it to. */
static uint64_t time_of(const struct timeval *t)
{
	if (t->tv_sec < 0 || t->tv_usec < 0)
		return 0;
	if ((uint64_t)t->tv_sec > SEC_MAX)
		return UINT64_MAX;
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + MIN((uint64_t)t->tv_usec, UINT32_MAX);
}

static int read_packets(struct foreign_reader *r, pcap_t *pcap)
{
	struct foreign_packet p = { .link = (uint32_t)pcap_datalink(pcap) };
	struct pcap_pkthdr *h;
	const u_char *data;
	int more = 0, err = 0;

	while (!err && (more = pcap_next_ex(pcap, &h, &data)) == 1) {
		p.time_ns = time_of(&h->ts);
		p.len = h->len;
		p.data_len = h->caplen;
		p.data = data;
		err = foreign_hand_over(r, &p);
	}
	if (!err && more == PCAP_ERROR) {
		const char *text = pcap_geterr(pcap);

		r->report->cut = true;
		(void)escape_text(r->report->text, sizeof(r->report->text), text, strlen(text));
	}
	return err;
}

/* Takes f. */
static int read_pcap(struct foreign_reader *r, FILE *f, const char *path, struct diag *d)
{
	char text[PCAP_ERRBUF_SIZE] = "", escaped[256];
	pcap_t *pcap;
	int err;

	pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!pcap) {
		(void)fclose(f);
		return diag_set(d, -EBADMSG, path, 0, 0, "libpcap can't read it: %s",
				escape_text(escaped, sizeof(escaped), text, strlen(text)));
	}
	err = read_packets(r, pcap);
	pcap_close(pcap); /* and the file */
	if (err)
		return diag_set(d, err, path, 0, 0, "can't go on: %s", strerror(-err));
	return 0;
}

/* ---- either ---- */

/* Takes f. */
static int read_capture(struct foreign_reader *r, FILE *f, const char *path, struct diag *d)
{
	uint8_t head[4] = { 0 };
	bool pcapng = fread(head, 1, sizeof(head), f) == sizeof(head) && blocks_magic(head);
	int err;

	rewind(f);
	if (!pcapng)
		return read_pcap(r, f, path, d);
	err = foreign_read_blocks(r, f);
	(void)fclose(f);
	return err ? diag_set(d, err, path, 0, 0, "can't go on: %s", strerror(-err)) : 0;
}

int foreign_read(const char *path, foreign_fn fn, void *arg, struct foreign_report *ret,
		 struct diag *d)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, path, 0);
	struct foreign_report report = { .packets = 0 };
	struct foreign_reader r = { .fn = fn, .arg = arg, .report = &report };
	FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
	int err;

	if (!f) {
		err = fd < 0 ? fd : -errno;
		return diag_set(d, err, path, 0, 0, "can't read it: %s", strerror(-err));
	}
	(void)TAKE_FD(fd);
	err = read_capture(&r, f, path, d);
	if (err)
		return err;
	if (!report.packets && report.left_out)
		return diag_set(d, -EPROTONOSUPPORT, path, 0, 0,
				"its link type is %s, and only Ethernet, raw IP, loopback and "
				"Linux cooked captures can be taken apart here",
				report.left_out_link);
	*ret = report;
	return 0;
}
