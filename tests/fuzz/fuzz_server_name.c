// SPDX-License-Identifier: Apache-2.0
/* Whom a client says it means: a name is within the bytes, and more bytes do not change it. */
#include "user/decode/server_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct server_name whole = { 0 }, part;
	int found = server_name_find(data, size, &whole);

	if (found > 0 && (!whole.len || whole.len > SERVER_NAME_MAX || whole.name < data ||
			  whole.name + whole.len > data + size))
		abort();
	for (size_t n = 0; n < size; n += 1 + size / 16) {
		int err = server_name_find(data, n, &part);

		if (err != -EAGAIN && err != found)
			abort();
		if (err > 0 && (part.name != whole.name || part.len != whole.len))
			abort();
	}
	return 0;
}
