/* file.h -- whole files in, whole files out.
 * Output is atomic: it goes to a temporary file beside the target, which takes its place by rename
 * only when every byte is on the disk (write, fsync, rename, fsync of the directory).  Until then
 * the old file is untouched; on any failure the temporary is removed, and one that a killed process
 * left behind by the next that writes under the same name: it is locked while it is in use.  A file
 * that is replaced hands on its mode and owner, a new one gets 0666 less the umask; through a symbolic link the file
 * it points to is replaced; a write-protected file is refused.  A target that is not a regular file
 * (a pipe, a device, /dev/stdout, /dev/fd/N) is written directly.  (Internal header.) */
#ifndef CREDENCE_BASE_FILE_H
#define CREDENCE_BASE_FILE_H

#include "context.h"

typedef struct cri_file cri_file;

/* Opens `path` for writing.  Fails with CR_EIO, naming path and reason. */
cr_status cri_file_create(cr_ctx *cx, const char *path, cri_file **out_file);
/* Appends bytes; buffered. */
cr_status cri_file_write(cri_file *file, const void *bytes, size_t size);
/* Makes the file appear under its name and frees the writer, also on failure. */
cr_status cri_file_commit(cri_file *file);
/* Gives up: removes the temporary and frees the writer.  NULL is allowed. */
void cri_file_abandon(cri_file *file);

/* What errno says, in words. */
enum { CRI_REASON_SIZE = 128 };
const char *cri_reason(int error, char buffer[static CRI_REASON_SIZE]);

/* All of one block of bytes as a file, atomically. */
cr_status cri_file_save(cr_ctx *cx, const char *path, const void *bytes, size_t size);

/* The whole of a file or pipe as a block from cr_alloc (freed with cr_free(cx, bytes, size, 1)).
 * Refuses directories (CR_EIO) and what is larger than `most` bytes (CR_EDATA; 0 = any), a regular
 * file before it is read. */
cr_status cri_file_load(cr_ctx *cx, const char *path, size_t most, char **out_bytes,
                        size_t *out_size);

#endif
