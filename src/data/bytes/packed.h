/* packed.h -- files that are written whole, or not at all, and compressed where their name says so:
 * gzip behind .gz, zstd behind .zst, else as they are.  The same bytes give the same file: no time,
 * no name is kept in it.  (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_PACKED_H
#define CREDENCE_DATA_BYTES_PACKED_H

#include "base/context.h"

typedef struct cri_packed cri_packed;

/* Does the name end in .gz or .zst? */
bool cri_is_packed_name(const char *path);
/* Opens `path` for writing, as cri_file_create does. */
cr_status cri_packed_create(cr_ctx *cx, const char *path, cri_packed **out_file);
/* Appends bytes. */
cr_status cri_packed_write(cri_packed *p, const void *bytes, size_t size);
/* Makes the file appear under its name and frees the writer, also on failure. */
cr_status cri_packed_commit(cri_packed *p);
/* Gives up: the old file is as it was.  NULL is allowed. */
void cri_packed_abandon(cri_packed *p);

#endif
