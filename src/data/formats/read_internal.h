/* read_internal.h -- a table from a source that is already open.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_READ_INTERNAL_H
#define CREDENCE_DATA_FORMATS_READ_INTERNAL_H

#include "read.h"
#include "data/bytes/source.h"

/* In the order of the choices of --from. */
typedef enum cri_format {
    CRI_FORMAT_AUTO,
    CRI_FORMAT_CSV,
    CRI_FORMAT_TSV,
    CRI_FORMAT_LIBSVM,
    CRI_FORMAT_NPY,
    CRI_FORMAT_NPZ,
    CRI_FORMAT_SQLITE,
    CRI_FORMAT_JSONL,
    CRI_FORMAT_ATTRIBUTES,
    CRI_FORMAT_LDAC
} cri_format;

/* The format of the source, as the options say or by its first bytes and its path; never AUTO.
 * Fails with CR_EDATA for what is known not to be data. */
cr_status cri_tell_format(cr_ctx *cx, const char *path, cri_source *source,
                          const cr_read_options *options, cri_format *out_format);
/* The same by the first `lines` lines, without waiting for more; 0: by the first 64 KiB. */
cr_status cri_tell_format_ahead(cr_ctx *cx, const char *path, cri_source *source,
                                const cr_read_options *options, size_t lines,
                                cri_format *out_format);

/* Does the text begin with an object {"key": ...}, or with an array of them? */
bool cri_begins_objects(const char *bytes, size_t size);

/* true when the path with these options names a database, which is no stream of bytes. */
bool cri_is_database(const char *path, const cr_read_options *options);
/* As cr_table_read, of a source that may have been peeked at; `path` is as the user gave it. */
cr_status cri_table_read_source(cr_ctx *cx, const char *path, cri_source *source,
                                const cr_read_options *options, cr_table **out_table);
/* As cr_table_read; of CSV and TSV a header alone is a table without rows. */
cr_status cri_table_read_any(cr_ctx *cx, const char *path, const cr_read_options *options,
                             cr_table **out_table);

#endif
