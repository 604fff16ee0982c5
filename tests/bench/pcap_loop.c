// SPDX-License-Identifier: Apache-2.0
/* The yardstick: reads captures with libpcap and does nothing with them. Prints the number of
 * packets.
 *
 * usage: pcap_loop FILE...
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>

/* Adds the packets of a file to *n. */
static int read_file_of(const char *path, uint64_t *n)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline(path, why);
	struct pcap_pkthdr *header;
	const u_char *data;
	int more;

	if (!p) {
		(void)fprintf(stderr, "pcap_loop: %s\n", why);
		return -1;
	}
	while ((more = pcap_next_ex(p, &header, &data)) == 1)
		++*n;
	if (more != PCAP_ERROR_BREAK)
		(void)fprintf(stderr, "pcap_loop: %s: %s\n", path, pcap_geterr(p));
	pcap_close(p);
	return more == PCAP_ERROR_BREAK ? 0 : -1;
}

int main(int argc, char **argv)
{
	uint64_t n = 0;

	for (int i = 1; i < argc; i++)
		if (read_file_of(argv[i], &n))
			return 1;
	(void)printf("%" PRIu64 "\n", n);
	return 0;
}
