/* zip.h -- zip archives in memory, through libzip.
 * An archive is not trusted: the number of entries, the compressed sizes (which together cannot be
 * more than the archive), the ratio of compression and each entry's checksum are verified, and an
 * entry is allocated through the context, whose memory limit holds.  (Internal header.) */
#ifndef CREDENCE_DATA_BYTES_ZIP_H
#define CREDENCE_DATA_BYTES_ZIP_H

#include "base/context.h"

typedef struct cri_zip cri_zip;

/* The most entries an archive may have, and the most bytes that deflate can make of one. */
enum { CRI_ZIP_ENTRIES = 10000, CRI_ZIP_RATIO = 1100 };

/* Opens an archive over bytes that must outlive it.  source names it in messages.  Fails with
 * CR_EDATA or CR_ENOMEM. */
cr_status cri_zip_open(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                       cri_zip **out_zip);
void      cri_zip_close(cr_ctx *cx, cri_zip *zip);
size_t    cri_zip_count(const cri_zip *zip);
/* The name of an entry; owned by the archive. */
cr_status cri_zip_name(cr_ctx *cx, const cri_zip *zip, size_t index, const char **out_name);
/* true when the entry is stored as it is: not compressed, not encrypted. */
bool cri_zip_is_stored(const cri_zip *zip, size_t index);
/* The bytes of an entry as a block from cr_alloc (freed with cr_free(cx, bytes, size, 1)). */
cr_status cri_zip_extract(cr_ctx *cx, const cri_zip *zip, size_t index, char **out_bytes,
                          size_t *out_size);

typedef struct cri_zip_item {
    const char *name;
    const void *bytes;
    size_t      size;
} cri_zip_item;

/* Makes an archive of n > 0 entries, in this order, stored, dated 1980-01-01, with a comment: the
 * same items give the same bytes.  The block is from cr_alloc. */
cr_status cri_zip_build(cr_ctx *cx, const cri_zip_item *items, size_t n, const char *comment,
                        char **out_bytes, size_t *out_size);

#endif
