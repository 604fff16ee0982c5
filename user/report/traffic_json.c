// SPDX-License-Identifier: Apache-2.0
#include "user/report/traffic_json.h"

#include "user/base/time_text.h"

#define SCHEMA 1

static void begin(struct json_out *j, uint64_t seq, const char *type, const char *path)
{
	json_object_begin(j, NULL);
	json_u32(j, "schema", SCHEMA);
	json_u64(j, "seq", seq);
	json_text(j, "type", type);
	json_text(j, "file.path", path);
}

static void end(struct json_out *j)
{
	json_object_end(j);
	json_newline(j);
}

static void times(struct json_out *j, uint64_t first_ns, uint64_t last_ns)
{
	char text[TIME_TEXT_MAX];

	json_text(j, "event.start", time_text(first_ns, text));
	json_text(j, "event.end", time_text(last_ns, text));
}

static void address(struct json_out *j, const char *key, const uint8_t a[16])
{
	char text[ADDR_TEXT_MAX];

	json_text(j, key, addr_text(a, text));
}

static void side(struct json_out *j, const struct flow_side *s, const char *packets,
		 const char *bytes, const char *payload)
{
	json_u64(j, packets, s->frames);
	json_u64(j, bytes, s->bytes);
	json_u64(j, payload, s->payload);
}

static void name(struct json_out *j, const struct flow_row *row)
{
	static const char *const keys[] = {
		[FLOW_NAMED_DNS] = "destination.domain",
		[FLOW_NAMED_TLS] = "tls.client.server_name",
		[FLOW_NAMED_HTTP] = "url.domain",
	};
	char text[TEXT_MAX];

	if (row->named != FLOW_NAMED_NOT)
		json_text(j, keys[row->named], traffic_name(row, text));
}

static void process(struct json_out *j, const struct flow_row *row)
{
	char text[TEXT_MAX];

	if (!row->owner.pid)
		return;
	json_u32(j, "process.pid", row->owner.pid);
	json_text(j, "process.name", printable(text, sizeof(text), row->owner.name));
}

static const char *source_by(enum flow_source by)
{
	switch (by) {
	case FLOW_SOURCE_SYN:
		return "syn";
	case FLOW_SOURCE_PORT:
		return "well-known-port";
	case FLOW_SOURCE_FIRST:
		break;
	}
	return "first-packet";
}

void traffic_json_flow(struct json_out *j, uint64_t seq, const char *path,
		       const struct flow_row *row)
{
	char text[16];

	begin(j, seq, "flow", path);
	times(j, row->first_ns, row->last_ns);
	json_text(j, "network.type", row->v6 ? "ipv6" : "ipv4");
	json_text(j, "network.transport", traffic_transport(row->protocol, text));
	json_text(j, "network.direction", traffic_direction(row));
	address(j, "source.ip", row->source);
	if (traffic_has_ports(row))
		json_u32(j, "source.port", row->source_port);
	json_text(j, "source.known_by", source_by(row->source_by));
	address(j, "destination.ip", row->destination);
	if (traffic_has_ports(row))
		json_u32(j, "destination.port", row->destination_port);
	name(j, row);
	process(j, row);
	json_u64(j, "network.packets", row->sent.frames + row->received.frames);
	json_u64(j, "network.bytes", row->sent.bytes + row->received.bytes);
	side(j, &row->sent, "source.packets", "source.bytes", "source.payload_bytes");
	side(j, &row->received, "destination.packets", "destination.bytes",
	     "destination.payload_bytes");
	end(j);
}

void traffic_json_question(struct json_out *j, uint64_t seq, const char *path,
			   const struct name_question *q)
{
	char text[DNS_TEXT_MAX], word[16];

	begin(j, seq, "dns", path);
	times(j, q->first_ns, q->last_ns);
	json_text(j, "dns.question.name", dns_name_text(&q->name, text));
	json_text(j, "dns.question.type", traffic_question_type(q->type, word));
	json_u64(j, "dns.questions", q->asked);
	json_u64(j, "dns.answers", q->answered);
	if (q->rcode == NAMES_NO_ANSWER)
		json_null(j, "dns.response_code");
	else
		json_text(j, "dns.response_code", traffic_rcode(q->rcode, word));
	json_array(j, "dns.resolved_ip");
	for (uint32_t i = 0; i < traffic_addresses(q); i++)
		address(j, NULL, q->addresses[i]);
	json_array_end(j);
	end(j);
}

static void loss(struct json_out *j, const struct traffic_totals *t)
{
	json_u64(j, "flows", t->flows.flows);
	json_u64(j, "flows_evicted", t->flows.evicted);
	json_u64(j, "questions_evicted", t->names.questions_evicted);
	json_u64(j, "addresses_evicted", t->names.addresses_evicted);
	json_u64(j, "dns_malformed", t->names.malformed);
	json_u64(j, "streams_lost", t->streams_lost);
	json_u64(j, "messages_lost", t->messages_lost);
}

void traffic_json_capture(struct json_out *j, uint64_t seq, const struct traffic_about *about,
			  const struct traffic_totals *totals)
{
	begin(j, seq, "capture", about->path);
	json_text(j, "format", about->format);
	json_text(j, "link_type", about->link);
	json_boolean(j, "judged", false);
	json_text(j, "message", TRAFFIC_NOT_JUDGED);
	json_boolean(j, "complete", !about->cut);
	if (about->cut)
		json_text(j, "error.message", about->cut);
	if (totals->frames)
		times(j, totals->first_ns, totals->last_ns);
	json_u64(j, "network.packets", totals->frames);
	json_u64(j, "network.bytes", totals->bytes);
	json_u64(j, "not_ip", totals->not_ip);
	json_u64(j, "malformed", totals->malformed);
	json_u64(j, "cut_short", totals->cut);
	json_u64(j, "left_out", about->left_out);
	if (about->left_out)
		json_text(j, "left_out_link_type", about->left_out_link);
	loss(j, totals);
	end(j);
}
