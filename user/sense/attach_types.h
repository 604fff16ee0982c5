/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel lets programs be attached, as far as it is newer than the headers that we build
 * with (enum bpf_attach_type and bpf_link_type of include/uapi/linux/bpf.h). */
#ifndef SENTINEL_SENSE_ATTACH_TYPES_H
#define SENTINEL_SENSE_ATTACH_TYPES_H

#define TCX_INGRESS 46 /* 6.6 */
#define TCX_EGRESS 47
#define LINK_TYPE_TCX 11

#define CGROUP_UNIX_CONNECT 49 /* 6.7 */
#define CGROUP_UNIX_SENDMSG 50

#endif
