/* expansion.h -- packed data that would fill the memory.
 * A few bytes of deflate or zstd can stand for gigabytes, by accident or by malice.  Where a memory
 * limit is set, it decides.  Where none is, data that grow beyond half a GiB and to more than a
 * hundred times their packed size are refused: real tables hardly shrink to a thirtieth.  (Internal
 * header.) */
#ifndef CREDENCE_DATA_BYTES_EXPANSION_H
#define CREDENCE_DATA_BYTES_EXPANSION_H

#include "base/context.h"

/* Fails with CR_ENOMEM when `packed` bytes of the source may not become `unpacked` ones. */
cr_status cri_check_expansion(cr_ctx *cx, const char *source, uint64_t packed, uint64_t unpacked);

#endif
