/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-alikes of the metadata services of clouds, near enough to the real ones that a client of
 * theirs takes them for one. Pure. Who does not ask as the service wants it never gets the proof.
 *
 *   RIG_METADATA4    AWS (IMDSv1, and v2 for who brings a session), Google, Azure, by path
 *   RIG_METADATA6    AWS
 *   RIG_METADATA_HOP4  AWS, IMDSv2 alone
 *   RIG_METADATA_ECS4  AWS's container credentials
 *
 *   GET /latest/meta-data/iam/security-credentials/ROLE                    "Token"
 *      v2: with X-aws-ec2-metadata-token: the text that PUT /latest/api/token has answered, which
 *      wants X-aws-ec2-metadata-token-ttl-seconds: 1 to 21600
 *   GET /computeMetadata/v1/instance/service-accounts/NAME/token           "access_token"
 *      with Metadata-Flavor: Google
 *   GET /metadata/identity/oauth2/token?api-version=DATE                   "access_token"
 *      with Metadata: true
 *   GET /v2/credentials/ID                                                 "Token"
 */
#ifndef SENTINEL_COLLECTOR_METADATA_H
#define SENTINEL_COLLECTOR_METADATA_H

#include "probes/collector/reply.h"

#define METADATA_SESSION_DIGITS 56 /* of base64 */

/* Whether there is a look-alike at this address. */
bool metadata_is_at(const uint8_t local[16]);

/* Answers a request to it. session: what an IMDSv2 session is called. */
void metadata_reply(const struct asked *a, const uint8_t local[16], const char *session,
		    struct reply *ret);

#endif
