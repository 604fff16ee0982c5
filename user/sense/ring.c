// SPDX-License-Identifier: Apache-2.0
#include <linux/bpf.h> /* before banned.h: it names functions that are */
#include <sys/mman.h>

#include "user/sense/ring.h"

int ring_init(struct ring *r, int map_fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;

	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int err = -errno;

		(void)munmap(consumer, page);
		return err;
	}
	*r = (struct ring){ consumer, producer, page, size };
	return 0;
}

void ring_done(struct ring *r)
{
	if (r->consumer_page)
		(void)munmap(r->consumer_page, r->page);
	if (r->producer_page)
		(void)munmap(r->producer_page, r->page + 2 * r->size);
	*r = (struct ring){ 0 };
}

int ring_drain(struct ring *r, void (*sink)(void *arg, const void *rec, size_t len), void *arg)
{
	unsigned long *consumer = r->consumer_page;
	unsigned long pos = __atomic_load_n(consumer, __ATOMIC_RELAXED); /* only we write it */
	unsigned long end = __atomic_load_n((unsigned long *)r->producer_page, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)r->producer_page + r->page;
	int n = 0;

	while (pos < end) {
		const uint8_t *rec = data + (pos & (r->size - 1));
		uint32_t len = __atomic_load_n((const uint32_t *)rec, __ATOMIC_ACQUIRE);

		if (len & BPF_RINGBUF_BUSY_BIT) /* reserved, not yet committed */
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			sink(arg, rec + BPF_RINGBUF_HDR_SZ, len);
			n++;
		}
		len &= ~BPF_RINGBUF_DISCARD_BIT;
		pos += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
		__atomic_store_n(consumer, pos, __ATOMIC_RELEASE);
	}
	return n;
}
