// SPDX-License-Identifier: Apache-2.0
#include "user/report/traffic_text.h"

#include <inttypes.h>

#include "user/base/time_text.h"
#include "user/report/line.h"

#define ENDPOINT_MAX (ADDR_TEXT_MAX + 10)
#define NUMBER 12 /* width of a column of numbers */

/* ---- in all ---- */

static void print_head(struct line *l, const struct traffic_about *about)
{
	char path[TEXT_MAX], cut[TEXT_MAX];

	line_putf(l, INK_STRONG, 0, "%s", printable(path, sizeof(path), about->path));
	line_putf(l, INK_NONE, 0, ": another tool's capture, %s, %s", about->format, about->link);
	line_end(l);
	line_put(l, INK_DOUBT, 0, TRAFFIC_NOT_JUDGED);
	line_end(l);
	if (about->cut) {
		line_putf(l, INK_BAD, 0, "CUT: behind the packets below: %s",
			  printable(cut, sizeof(cut), about->cut));
		line_end(l);
	}
	line_end(l);
}

static void print_count(struct line *l, const char *what, uint64_t n, const char *why)
{
	if (!n)
		return;
	line_put(l, INK_DOUBT, 10, what);
	line_putf(l, INK_NONE, 0, "%" PRIu64 " %s", n, why);
	line_end(l);
}

static void print_totals(struct line *l, const struct traffic_totals *t,
			 const struct traffic_about *about)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];

	if (t->frames) {
		line_put(l, INK_NONE, 10, "time");
		line_putf(l, INK_NONE, 0, "%s to %s", time_text(t->first_ns, first),
			  time_text(t->last_ns, last));
		line_end(l);
	}
	line_put(l, INK_NONE, 10, "packets");
	line_putf(l, INK_NONE, 0,
		  "%" PRIu64 ", %" PRIu64 " bytes: %" PRIu64 " flows, %" PRIu64 " not IP, %" PRIu64
		  " malformed",
		  t->frames, t->bytes, t->flows.flows, t->not_ip, t->malformed);
	line_end(l);
	if (about->left_out) {
		line_put(l, INK_DOUBT, 10, "left out");
		line_putf(l, INK_NONE, 0,
			  "%" PRIu64 " packets of link type %s, which is not known here",
			  about->left_out, about->left_out_link);
		line_end(l);
	}
	print_count(l, "cut", t->cut, "packets were not recorded whole: names may be missing");
	print_count(l, "left out", t->flows.evicted,
		    "flows are not below: there was no room for so many; --json has them all");
	print_count(l, "left out", t->names.questions_evicted, "names that were asked for");
	print_count(l, "lost", t->names.addresses_evicted + t->streams_lost + t->messages_lost,
		    "pieces of what names are looked for in: some may be missing");
	print_count(l, "odd", t->names.malformed, "DNS messages are malformed");
	line_end(l);
}

/* ---- flows ---- */

static const char *endpoint(const struct flow_row *row, const uint8_t address[16], uint16_t port,
			    char out[ENDPOINT_MAX])
{
	char text[ADDR_TEXT_MAX];

	(void)addr_text(address, text);
	if (traffic_has_ports(row))
		(void)str_format(out, ENDPOINT_MAX, row->v6 ? "[%s]:%u" : "%s:%u", text, port);
	else
		(void)str_copy(out, ENDPOINT_MAX, text);
	return out;
}

struct widths {
	size_t source, destination;
};

static struct widths measure(const struct flow_row *const *rows, uint32_t n)
{
	struct widths w = { sizeof("source"), sizeof("destination") };
	char text[ENDPOINT_MAX];

	for (uint32_t i = 0; i < n; i++) {
		const struct flow_row *r = rows[i];
		size_t source = strlen(endpoint(r, r->source, r->source_port, text));
		size_t destination = strlen(endpoint(r, r->destination, r->destination_port, text));

		w.source = MAX(w.source, source + 1);
		w.destination = MAX(w.destination, destination + 1);
	}
	return w;
}

static void print_flow_head(struct line *l, const struct widths *w)
{
	line_put(l, INK_FAINT, 9, "way");
	line_put(l, INK_FAINT, 10, "protocol");
	line_put(l, INK_FAINT, w->source, "source");
	line_put(l, INK_FAINT, w->destination, "destination");
	line_put(l, INK_FAINT, NUMBER, "sent");
	line_put(l, INK_FAINT, NUMBER, "in packets");
	line_put(l, INK_FAINT, NUMBER, "received");
	line_put(l, INK_FAINT, NUMBER, "in packets");
	line_put(l, INK_FAINT, NUMBER, "bytes");
	line_put(l, INK_FAINT, 14, "first");
	line_put(l, INK_FAINT, 14, "last");
	line_put(l, INK_FAINT, 0, "name");
	line_end(l);
}

/* Seconds since the first packet of all. */
static void put_after(struct line *l, uint64_t ns, uint64_t start_ns)
{
	uint64_t seconds = (ns - start_ns) / NSEC_PER_SEC;
	uint64_t fraction = (ns - start_ns) % NSEC_PER_SEC;

	line_putf(l, INK_NONE, 14, "%" PRIu64 ".%09" PRIu64, seconds, fraction);
}

static void print_flow(struct line *l, const struct flow_row *r, const struct widths *w,
		       uint64_t start_ns)
{
	static const char *const by[] = {
		[FLOW_NAMED_NOT] = "",
		[FLOW_NAMED_DNS] = " (dns)",
		[FLOW_NAMED_TLS] = " (tls)",
		[FLOW_NAMED_HTTP] = " (http)",
	};
	char text[ENDPOINT_MAX], name[TEXT_MAX], word[16];

	line_put(l, INK_NONE, 9, traffic_direction(r));
	line_put(l, INK_NONE, 10, traffic_transport(r->protocol, word));
	line_put(l, INK_NONE, w->source, endpoint(r, r->source, r->source_port, text));
	line_put(l, INK_NONE, w->destination,
		 endpoint(r, r->destination, r->destination_port, text));
	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, r->sent.payload);
	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, r->sent.frames);
	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, r->received.payload);
	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, r->received.frames);
	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, r->sent.bytes + r->received.bytes);
	put_after(l, r->first_ns, start_ns);
	put_after(l, r->last_ns, start_ns);
	(void)traffic_name(r, name);
	line_putf(l, INK_NONE, strlen(name) + strlen(by[r->named]) + 1, "%s%s", name, by[r->named]);
	if (r->owner.pid)
		line_putf(l, INK_NONE, 0, "%s[%u]", printable(name, sizeof(name), r->owner.name),
			  r->owner.pid);
	line_end(l);
}

static int print_flows(struct line *l, struct traffic *t, const struct traffic_about *about,
		       uint64_t start_ns)
{
	uint32_t n;
	cleanup_free const struct flow_row **rows = traffic_sort_flows(t, &n);
	struct widths w;

	if (!rows)
		return -ENOMEM;
	if (!n)
		return 0;
	w = measure(rows, n);
	line_put(l, INK_STRONG, 0, "flows, by what their source sent");
	line_end(l);
	print_flow_head(l, &w);
	for (uint32_t i = 0; i < n; i++)
		print_flow(l, rows[i], &w, start_ns);
	line_end(l);
	line_put(l, INK_FAINT, 0,
		 "sent, received: bytes of payload, repeated ones too; bytes: of whole packets, "
		 "both "
		 "ways; first, last: seconds after the start");
	line_end(l);
	line_put(
		l, INK_FAINT, 0,
		about->has_direction
			? "way: as the capture says of its own host; by addresses where it does not"
			: "way: by addresses, private ones being at home; this capture does not "
			  "say");
	line_end(l);
	line_end(l);
	return 0;
}

/* ---- names ---- */

static void print_question(struct line *l, const struct name_question *q)
{
	char text[MAX(DNS_TEXT_MAX, ADDR_TEXT_MAX)], word[16];

	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, q->asked);
	line_putf(l, INK_NONE, NUMBER, "%" PRIu64, q->answered);
	line_put(l, INK_NONE, 10, traffic_question_type(q->type, word));
	line_put(l, INK_NONE, 10, traffic_rcode(q->rcode, word));
	line_put(l, INK_NONE, 0, dns_name_text(&q->name, text));
	for (uint32_t i = 0; i < traffic_addresses(q); i++)
		line_putf(l, INK_NONE, 0, " %s", addr_text(q->addresses[i], text));
	if (q->addresses_n > NAMES_ADDRESSES_MAX)
		line_put(l, INK_FAINT, 0, " ...");
	line_end(l);
}

static int print_questions(struct line *l, const struct traffic *t)
{
	uint32_t n;
	cleanup_free const struct name_question **rows = traffic_sort_questions(t, &n);

	if (!rows)
		return -ENOMEM;
	if (!n)
		return 0;
	line_put(l, INK_STRONG, 0, "names that were asked for, and the addresses in answers");
	line_end(l);
	line_put(l, INK_FAINT, NUMBER, "asked");
	line_put(l, INK_FAINT, NUMBER, "answered");
	line_put(l, INK_FAINT, 10, "type");
	line_put(l, INK_FAINT, 10, "code");
	line_put(l, INK_FAINT, 0, "name");
	line_end(l);
	for (uint32_t i = 0; i < n; i++)
		print_question(l, rows[i]);
	line_end(l);
	return 0;
}

int traffic_text(FILE *f, struct traffic *t, const struct traffic_about *about, bool color)
{
	struct line l = { .f = f, .color = color };
	struct traffic_totals totals;
	int err;

	traffic_totals(t, &totals);
	print_head(&l, about);
	print_totals(&l, &totals, about);
	err = print_flows(&l, t, about, totals.first_ns);
	if (!err)
		err = print_questions(&l, t);
	return err ? err : ferror(f) ? -EIO : 0;
}
