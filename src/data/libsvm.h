/* libsvm.h -- the sparse text format of LIBSVM and SVMlight, read into a dense table.
 *   line    :=  label { blanks index:value } [ # comment ]
 * The label is one finite number.  Indices count from 1 and increase within a line; the values left
 * out are 0.  Lines that are blank or hold only a comment are skipped.  The table has the columns
 * x1 .. xd, d = the largest index of the file, and then y, the label; a column of whole numbers is
 * an integer, any other a real.
 * An index 0 is refused rather than guessed at: whether a file counts from 0 cannot be told from a
 * part of its rows, and a guess would shift the columns of train and test files differently.  So
 * are ranking data (qid:), several labels per row, and values that are not finite.
 * Chang & Lin (2011), "LIBSVM: a library for support vector machines", ACM TIST 2(3), 27.
 * (Internal header.) */
#ifndef CREDENCE_DATA_LIBSVM_H
#define CREDENCE_DATA_LIBSVM_H

#include "../base/context.h"
#include "table.h"

enum { CRI_LIBSVM_MOST_COLUMNS = 1 << 24 };

/* Reads `size` bytes of text.  O(size + rows x columns) time; 12 bytes of scratch per entry.  Fails
 * with CR_EDATA at source:line:column, with CR_ENOMEM before allocating a table that cannot fit, or
 * CR_EINTERRUPTED; then *out_table is left as it was. */
cr_status cri_libsvm_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          cr_table **out_table);

/* true when the first line of data in [text, text + size) looks like `number index:value`.  A line
 * of a label alone does not tell; the text may be the beginning of a longer one. */
bool cri_libsvm_looks_like(const char *text, size_t size);

#endif
