/* libsvm.h -- the sparse text format of LIBSVM and SVMlight.
 *   line    :=  label { blanks index:value } [ # comment ]
 * The label is one finite number.  Indices count from 1 and increase within a line; the values left
 * out are 0, a nan is a missing value.  Lines that are blank or hold only a comment are skipped.
 * The table has the columns x1 .. xd, d = the largest index of the file, and then y, the label.
 *
 * The x are a sparse block when that pays: when there are more than CRI_LIBSVM_DENSE columns, or
 * more than CRI_LIBSVM_FEW and less than a quarter of the cells are written.  Otherwise they are
 * ordinary columns.  A column of whole numbers (of a sparse block: the block) is an integer, any
 * other a real.
 *
 * An index 0 is refused rather than guessed at: whether a file counts from 0 cannot be told from a
 * part of its rows, and a guess would shift the columns of train and test files differently.  So
 * are ranking data (qid:), several labels per row, and values that are infinite.
 * Chang & Lin (2011), "LIBSVM: a library for support vector machines", ACM TIST 2(3), 27.
 * (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_LIBSVM_H
#define CREDENCE_DATA_FORMATS_LIBSVM_H

#include "base/context.h"
#include "data/table/table.h"

enum { CRI_LIBSVM_MOST_COLUMNS = 1 << 24, CRI_LIBSVM_DENSE = 4096, CRI_LIBSVM_FEW = 32 };

/* Rows of such a text, in blocks from cr_alloc or cr_resize. */
typedef struct cri_libsvm {
    size_t    rows, columns; /* columns: the largest index */
    double   *label;         /* [rows] */
    size_t   *start;         /* [rows + 1] */
    uint32_t *column;        /* [start[rows]], the first is 0 */
    double   *value;         /* [start[rows]] */
    bool      whole_labels, whole_values;
    size_t    first_line; /* of row 0 when each row is on the line after the one before; else 0 */
    size_t    lines;      /* line ends in the text */
    size_t   *leaves;     /* [n_leaves] the rows where they begin, if they are told apart */
    size_t    n_leaves;
} cri_libsvm;

/* How a text is cut: what each thread parses, and what ends in the same `leaf` bytes of the file, in
 * which `before` bytes stand before the text.  leaf = 0: leaves are not told apart. */
typedef struct cri_libsvm_cuts {
    size_t piece, leaf, before;
} cri_libsvm_cuts;

enum { CRI_LIBSVM_PIECE = 1 << 18 };

/* Parses `size` bytes of whole lines (the last may lack its line end), in parallel; `line` is the
 * number of the first.  O(size).  Fails with CR_EDATA at source:line:column; then *out is left as
 * it was. */
cr_status cri_libsvm_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                           size_t line, cri_libsvm *out);
void      cri_libsvm_free(cr_ctx *cx, cri_libsvm *m);

/* The same, cut otherwise. */
cr_status cri_libsvm_parse_cut(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                               size_t line, cri_libsvm_cuts cuts, cri_libsvm *out);

/* A table with a sparse block of `columns` columns, no fewer than m has, and y.  Takes over what m
 * holds, also on failure. */
cr_status cri_libsvm_sparse_table(cr_ctx *cx, const char *source, cri_libsvm *m, size_t columns,
                                  cr_table **out_table);

/* The same with ordinary columns; those are of real numbers that are fractional [columns], the others whole. */
cr_status cri_libsvm_dense_table(cr_ctx *cx, const char *source, cri_libsvm *m, size_t columns,
                                 const bool *fractional, cr_table **out_table);
/* Which of the two a file with so many columns, rows and entries becomes. */
bool cri_libsvm_is_sparse(size_t columns, size_t rows, size_t entries);
/* fractional[j] becomes true where column j has a number that is not whole. */
void cri_libsvm_note_fractions(const cri_libsvm *m, bool *fractional);

/* Reads `size` bytes of text.  O(size), for dense tables + rows x columns; 12 bytes per entry.
 * Fails with CR_EDATA at source:line:column, with CR_ENOMEM before allocating a table that cannot
 * fit, or CR_EINTERRUPTED; then *out_table is left as it was. */
cr_status cri_libsvm_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          cr_table **out_table);

/* true when the first line of data in [text, text + size) looks like `number index:value`.  A line
 * of a label alone does not tell; the text may be the beginning of a longer one. */
bool cri_libsvm_looks_like(const char *text, size_t size);

#endif
