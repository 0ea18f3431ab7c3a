/* npy.h -- arrays in numpy's format.
 * A .npy file is the magic "\x93NUMPY", a version (1.0, 2.0 or 3.0), the length of a header, the
 * header (a Python dictionary with descr, fortran_order and shape) and the raw elements.  Read are
 * floats of 4 and 8 bytes, integers of 1 to 8 bytes and booleans, in either byte order, in C or
 * Fortran order, with up to two dimensions; everything becomes double.  An integer beyond 2^53,
 * which a double might change, is refused.  A .npz file is a zip of .npy files.
 * Format: numpy enhancement proposal 1, and the documentation of numpy.lib.format. */
#ifndef CREDENCE_DATA_FORMATS_NPY_H
#define CREDENCE_DATA_FORMATS_NPY_H

#include "base/reader.h"
#include "data/table/table.h"

typedef enum cri_npy_kind {
    CRI_NPY_REAL,
    CRI_NPY_SIGNED,
    CRI_NPY_UNSIGNED,
    CRI_NPY_BOOLEAN
} cri_npy_kind;

typedef struct cri_npy {
    cri_npy_kind         kind;
    size_t               width; /* bytes of an element: 1, 2, 4 or 8 */
    bool                 big_endian, fortran_order;
    size_t               dims;       /* 0, 1 or 2                            */
    size_t               rows, cols; /* 0-d: 1 x 1;  1-d: n x 1              */
    const unsigned char *data;       /* [rows * cols * width], in the source */
} cri_npy;

/* Reads an array that takes up all that is left of r.  Its shape is checked against the bytes that
 * are there; nothing is allocated.  Fails with CR_EDATA; then *out is left as it was. */
cr_status cri_npy_parse(cri_reader *r, cri_npy *out);
/* The same up to the elements, of which nothing is known: r stands at the first, out->data is NULL.
 */
cr_status cri_npy_parse_head(cri_reader *r, cri_npy *out);
/* All elements in row-major order as doubles: out [rows * cols].  source names it in messages. */
cr_status cri_npy_values(cr_ctx *cx, const char *source, const cri_npy *a, double *out);
/* n elements of column j from row `from` on: out [n]. */
cr_status cri_npy_column(cr_ctx *cx, const char *source, const cri_npy *a, size_t j, size_t from,
                         size_t n, double *out);
/* The type of column its elements make. */
cr_type cri_npy_type(const cri_npy *a);

/* The bytes before the elements of an array of little-endian doubles in C order, version 1.0, as
 * numpy writes them; dims is 1 (cols is not looked at) or 2.  Always CRI_NPY_HEADER bytes. */
enum { CRI_NPY_HEADER = 128 };
void cri_npy_header(size_t dims, size_t rows, size_t cols, char out[CRI_NPY_HEADER]);
/* n doubles as little-endian bytes: out [8 n]. */
void cri_npy_encode(const double *a, size_t n, char *out);

/* The elements copied into a table: columns x1 ... xd. */
cr_status cri_npy_table(cr_ctx *cx, const char *source, const cri_npy *a, cr_table **out_table);
/* An array as a table: a matrix has columns x1 ... xd, a vector the column x1; NaN = missing.  When
 * the elements can be used where they lie (doubles of this machine, in C order, aligned), the
 * columns point at them: *out_borrowed, and the bytes must then outlive the table. */
cr_status cri_npy_read_table(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                             cr_table **out_table, bool *out_borrowed);
/* An archive of arrays as a table: a vector NAME.npy is the column NAME, a matrix the columns NAME1
 * ... NAMEd.  All must have the same number of rows.  An archive that scipy.sparse.save_npz made of
 * a CSR matrix (data, indices, indptr, shape, format) is a sparse block x1 ... xd; other arrays
 * beside these are columns as usual. */
cr_status cri_npz_read_table(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                             cr_table **out_table);

#endif
