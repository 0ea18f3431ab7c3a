/* test_npz_sparse.c -- archives as scipy.sparse.save_npz writes them: entries in any order, other
 * arrays beside the matrix, and arrays that do not fit together. */
#include "support.h"
#include "data/formats/npy.h"
#include "data/bytes/zip.h"

typedef struct array {
    char   bytes[1024];
    size_t size;
} array;

static array vector(const char *descr, size_t n, const void *data, size_t width)
{
    array a = { .bytes = "\x93NUMPY\x01" };
    int   length = sprintf(a.bytes + 10,
                           "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }\n", descr, n);
    a.bytes[8] = (char)length;
    if (n) memcpy(a.bytes + 10 + length, data, n * width);
    a.size = (size_t)(10 + length) + n * width;
    return a;
}

/* A single text, as numpy saves it. */
static array word(const char *text)
{
    array a = { .bytes = "\x93NUMPY\x01" };
    int   length =
        sprintf(a.bytes + 10, "{'descr': '|S3', 'fortran_order': False, 'shape': (), }    \n");
    a.bytes[8] = (char)length;
    memcpy(a.bytes + 10 + length, text, 3);
    a.size = (size_t)(10 + length) + 3;
    return a;
}

typedef struct matrix {
    array  parts[6]; /* indices, indptr, format, shape, data, y */
    size_t n;
} matrix;

/*  row 1: column 2 = 1.5 + 2, column 0 = 3;  row 2: nothing;  row 3: column 1 = -1 */
static matrix usual(void)
{
    const int32_t indices[] = { 2, 0, 2, 1 }, indptr[] = { 0, 3, 3, 4 };
    const int64_t shape[] = { 3, 4 };
    const double  data[] = { 1.5, 3, 2, -1 }, y[] = { 7, 8, 9 };
    return (matrix){ .parts = { vector("<i4", 4, indices, 4), vector("<i4", 4, indptr, 4),
                                word("csr"), vector("<i8", 2, shape, 8), vector("<f8", 4, data, 8),
                                vector("<f8", 3, y, 8) },
                     .n = 5 };
}

static cr_status read_matrix(cr_ctx *cx, const matrix *m, cr_table **out)
{
    static const char *const names[] = { "indices.npy", "indptr.npy", "format.npy",
                                         "shape.npy",   "data.npy",   "y.npy" };
    cri_zip_item             items[6];
    char                    *bytes = NULL;
    size_t                   size = 0;
    for (size_t k = 0; k < m->n; k++)
        items[k] = (cri_zip_item){ names[k], m->parts[k].bytes, m->parts[k].size };
    cr_status st = cri_zip_build(cx, items, m->n, "", &bytes, &size);
    if (st == CR_OK) st = cri_npz_read_table(cx, "m.npz", bytes, size, out);
    cr_free(cx, bytes, size, 1);
    return st;
}

TEST(matrix)
{
    matrix       m = usual();
    const double wanted[3][4] = { { 3, 0, 3.5, 0 }, { 0, 0, 0, 0 }, { 0, -1, 0, 0 } };
    for (m.n = 5; m.n <= 6; m.n++) {
        cr_table *t = NULL;
        assert_ok(cx, read_matrix(cx, &m, &t));
        assert_int_equal(cr_table_rows(t), 3);
        assert_int_equal(cr_table_columns(t), m.n - 1);
        assert_int_equal(cr_table_csr(t)->row_start[3], 3); /* two of one place became one */
        for (size_t j = 0; j < 4; j++)
            for (size_t i = 0; i < 3; i++)
                assert_true(cr_table_column(t, j)->values[i] == wanted[i][j]);
        if (m.n == 6) assert_true(cr_table_find(t, "y")->values[2] == 9);
        cr_table_free(cx, t);
    }
}

static void check_refused(size_t part, array a, const char *text)
{
    cr_ctx   *cx = test_context();
    matrix    m = usual();
    cr_table *t = NULL;
    m.n = 6;
    m.parts[part] = a;
    assert_fails_with(cx, read_matrix(cx, &m, &t), CR_EDATA, text);
    assert_null(t);
    test_context_free(cx);
}

TEST(refused)
{
    const int32_t beyond[] = { 2, 0, 4, 1 }, negative[] = { 2, 0, -1, 1 }, back[] = { 0, 3, 2, 4 };
    const int32_t late[] = { 1, 3, 3, 4 }, cut[] = { 0, 3, 3, 3 };
    const int64_t wide[] = { 3, 4, 5 }, rows[] = { 4, 4 }, huge[] = { 3, (int64_t)1 << 40 };
    const double  real[] = { 0, 3, 3, 4 }, y[] = { 1, 2 };
    check_refused(0, vector("<i4", 4, beyond, 4), "m.npz: the sparse matrix is damaged: an index");
    check_refused(0, vector("<i4", 4, negative, 4), "an index is not a column of the shape");
    check_refused(0, vector("<i4", 3, beyond, 4), "indptr, indices and data do not fit together");
    check_refused(1, vector("<i4", 4, back, 4), "indptr does not increase");
    check_refused(1, vector("<i4", 4, late, 4), "do not fit together");
    check_refused(1, vector("<i4", 4, cut, 4), "do not fit together");
    check_refused(1, vector("<i4", 0, cut, 4), "indptr is empty");
    check_refused(1, vector("<f8", 4, real, 8),
                  "m.npz, array 'indptr': its elements are not integers");
    check_refused(2, word("csc"), "a sparse matrix of format 'csc', but only 'csr' can be read");
    check_refused(3, vector("<i8", 3, wide, 8), "its shape does not have two dimensions");
    check_refused(3, vector("<i8", 2, rows, 8), "indptr does not fit the shape");
    check_refused(3, vector("<i8", 2, huge, 8), "indptr does not fit the shape");
    check_refused(5, vector("<f8", 2, y, 8), "array 'indptr' has 3 rows, but 'y' has 2");
}

/* Without one of the five it is an archive like any other. */
TEST(not_all_arrays)
{
    matrix    m = usual();
    cr_table *t = NULL;
    m.n = 2;
    assert_ok(cx, read_matrix(cx, &m, &t));
    assert_null(cr_table_csr(t));
    assert_non_null(cr_table_find(t, "indptr"));
    cr_table_free(cx, t);
}

static cr_status read_usual(cr_ctx *cx, void *arg)
{
    cr_table *t = NULL;
    cr_status st = read_matrix(cx, arg, &t);
    cr_table_free(cx, t);
    return st;
}

TEST(allocations_fail)
{
    matrix m = usual();
    m.n = 6;
    test_every_allocation_fails(read_usual, &m);
}
