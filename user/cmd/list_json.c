// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/list_json.h"

#include <stdio.h>
#include <sys/socket.h>

#include "user/record/evfields.h"
#include "user/report/text.h"

#define SCHEMA 1

static void text_or_null(struct json_out *j, const char *key, const char *text)
{
	if (text)
		json_text(j, key, text);
	else
		json_null(j, key);
}

static void texts(struct json_out *j, const char *key, char *const *list)
{
	json_array(j, key);
	for (; list && *list; list++)
		json_text(j, NULL, *list);
	json_array_end(j);
}

static void claims(struct json_out *j, const struct target *t)
{
	json_array(j, "claims");
	for (size_t i = 0; i < t->claims_n; i++) {
		const struct target_claim *c = &t->claims[i];

		json_object_begin(j, NULL);
		texts(j, "probes", c->probes);
		json_boolean(j, "claimed", c->claimed);
		text_or_null(j, "document", c->claimed ? c->source.document : NULL);
		text_or_null(j, "section", c->claimed ? c->source.section : NULL);
		text_or_null(j, "version", c->claimed ? c->source.version : NULL);
		text_or_null(j, "quote", c->claimed ? c->source.quote : NULL);
		json_object_end(j);
	}
	json_array_end(j);
}

static void off(struct json_out *j, const struct target *t)
{
	json_array(j, "off");
	for (size_t i = 0; i < t->off_n; i++) {
		json_object_begin(j, NULL);
		texts(j, "probes", t->off[i].probes);
		texts(j, "run", t->off[i].run);
		json_text(j, "lane", t->off[i].lane == TARGET_LANE_CLOSED ? "closed" : "open");
		json_object_end(j);
	}
	json_array_end(j);
}

void list_json_target(struct json_out *j, const struct target *t, const char *missing)
{
	json_object_begin(j, NULL);
	json_u32(j, "schema", SCHEMA);
	json_text(j, "type", "target");
	json_text(j, "name", t->name);
	json_text(j, "about", t->about);
	json_text(j, "role", role_text(t->role));
	json_boolean(j, "available", !missing);
	text_or_null(j, "missing", missing);
	json_text(j, "file.path", t->path);
	json_hex(j, "file.hash.sha256", t->digest, sizeof(t->digest));
	json_text(j, "user.name", t->user);
	json_u32(j, "user.id", t->uid);
	texts(j, "version", t->version);
	texts(j, "needs", t->needs);
	texts(j, "run", t->run);
	claims(j, t);
	off(j, t);
	texts(j, "allowed", t->allowed);
	if (t->steady_ms)
		json_u32(j, "steady_ms", t->steady_ms);
	else
		json_null(j, "steady_ms");
	json_object_end(j);
	json_newline(j);
}

static const char *network_type(const struct probe_manifest *p)
{
	return p->p.family == AF_INET ? "ipv4" : p->p.family == AF_INET6 ? "ipv6" : NULL;
}

void list_json_probe(struct json_out *j, const struct probe_manifest *p)
{
	json_object_begin(j, NULL);
	json_u32(j, "schema", SCHEMA);
	json_text(j, "type", "probe");
	json_text(j, "id", p->p.name);
	json_text(j, "about", p->about);
	json_text(j, "threat.technique.id", p->p.attack);
	json_array(j, "families");
	for (size_t i = 0; i < PROBE_FAMILIES_MAX && p->families[i]; i++)
		json_text(j, NULL, p->families[i]);
	json_array_end(j);
	json_text(j, "channel", field_name(&evfields_channels, p->p.channel));
	text_or_null(j, "network.type", network_type(p));
	if (p->port)
		json_u32(j, "destination.port", p->port);
	else
		json_null(j, "destination.port");
	json_u32(j, "window_ms", p->p.window_ms);
	json_boolean(j, "answers", p->p.answers);
	json_boolean(j, "forbidden", p->p.forbidden);
	json_boolean(j, "builtin", p->p.builtin);
	json_object_end(j);
	json_newline(j);
}

int list_json_print(struct json_out *j)
{
	int err = json_out_error(j);

	if (err)
		errno = -err;
	else if (fwrite(j->buf, 1, j->len, stdout) != j->len)
		err = -errno;
	json_out_reset(j);
	return err;
}
