/* ldac.h -- documents as counts of terms, in the format of lda-c.
 *   line  :=  N { blanks TERM:COUNT }          a document with N different terms
 * TERM counts from 0 and is different from the others of its line; COUNT is 1 or more.  Both are whole numbers.  Blank
 * lines are skipped; a document without terms is the line 0.
 * The table has the columns x1, x2, .., which are the terms 0, 1, .., as a sparse block of whole numbers.
 * Blei (2003), lda-c.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_LDAC_H
#define CREDENCE_DATA_FORMATS_LDAC_H

#include "base/context.h"
#include "data/table/table.h"

enum { CRI_LDAC_MOST_TERMS = 1 << 24 };

/* Reads `size` bytes of text.  O(size + entries of a line squared at the worst, where they are not in order).  Fails with
 * CR_EDATA at source:line:column, CR_ENOMEM or CR_EINTERRUPTED; then *out_table is left as it was. */
cr_status cri_ldac_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                        cr_table **out_table);

#endif
