/* zlib_memory.h -- the memory of zlib goes through a context.  (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_ZLIB_MEMORY_H
#define CREDENCE_DATA_BYTES_ZLIB_MEMORY_H

#include "base/context.h"

#include <zlib.h>

/* To be called before inflateInit2 or deflateInit2. */
void cri_zlib_use(z_stream *stream, cr_ctx *cx);

#endif
