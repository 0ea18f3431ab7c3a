/* test_npy.c -- .npy headers, elements of every type, tables from arrays and archives. */
#define _GNU_SOURCE /* memmem */
#include "support.h"
#include "base/file.h"
#include "data/formats/npy.h"
#include "data/formats/read.h"
#include "data/formats/write.h"
#include "data/bytes/zip.h"

#include <zip.h>

static bool borrowed; /* whether the last array read as a table was used in place */

typedef struct bytes {
    char   at[4096];
    size_t size;
} bytes;

/* A .npy file of the given version with this header text and these elements. */
static bytes npy(unsigned major, const char *header, const void *data, size_t size)
{
    bytes  b = { .at = "\x93NUMPY" };
    size_t length = strlen(header);
    b.at[6] = (char)major;
    b.at[8] = (char)(length & 0xff);
    b.at[9] = (char)(length >> 8);
    b.size = major == 1 ? 10 : 12;
    memcpy(b.at + b.size, header, length);
    if (size) memcpy(b.at + b.size + length, data, size);
    b.size += length + size;
    return b;
}

#define HEADER(descr, order, shape)                                                                \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }  \n"

/* The values of an array, which must be rows x cols. */
static void assert_values(bytes b, size_t rows, size_t cols, const double *wanted)
{
    cr_ctx *cx = test_context();
    char   *exact = malloc(b.size); /* so that the sanitizer sees the ends */
    cri_npy a;
    double  got[64];
    memcpy(exact, b.at, b.size);
    cri_reader r = cri_reader_open(cx, "a.npy", exact, b.size);
    assert_ok(cx, cri_npy_parse(&r, &a));
    assert_int_equal(a.rows, rows);
    assert_int_equal(a.cols, cols);
    assert_ok(cx, cri_npy_values(cx, "a.npy", &a, got));
    for (size_t i = 0; i < rows * cols; i++) assert_close(got[i], wanted[i], 0);
    for (size_t j = 0; j < cols; j++) {
        double column[64];
        assert_ok(cx, cri_npy_column(cx, "a.npy", &a, j, 0, rows, column));
        for (size_t i = 0; i < rows; i++) assert_close(column[i], wanted[i * cols + j], 0);
    }
    free(exact);
    test_context_free(cx);
}

static void assert_refused(bytes b, const char *text)
{
    cr_ctx *cx = test_context();
    char   *exact = malloc(b.size ? b.size : 1);
    memcpy(exact, b.at, b.size);
    cri_npy    a = { .rows = 77 };
    cri_reader r = cri_reader_open(cx, "a.npy", exact, b.size);
    assert_fails_with(cx, cri_npy_parse(&r, &a), CR_EDATA, text);
    assert_true(strncmp(cr_error(cx), "a.npy: ", 7) == 0);
    assert_int_equal(a.rows, 77);
    free(exact);
    test_context_free(cx);
}

/* --- elements -------------------------------------------------------------------------------- */

TEST(element_types)
{
    static const struct {
        const char *header;
        const char *data;
        size_t      size;
        double      wanted[2];
    } cases[] = {
        { HEADER("<f8", "False", "(2,)"),
          "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\xf0\x7f",
          16,
          { 1.5, INFINITY } },
        { HEADER(">f8", "False", "(2,)"),
          "\x3f\xf8\0\0\0\0\0\0\x80\0\0\0\0\0\0\1",
          16,
          { 1.5, -4.9406564584124654e-324 } },
        { HEADER("<f4", "False", "(2,)"),
          "\0\0\xc0\x3f\xcd\xcc\xcc\xbd",
          8,
          { 1.5, -0.10000000149011612 } },
        { HEADER(">f4", "False", "(2,)"), "\x3f\xc0\0\0\x7f\xc0\0\0", 8, { 1.5, NAN } },
        { HEADER("|i1", "False", "(2,)"), "\x80\x7f", 2, { -128, 127 } },
        { HEADER("<i1", "False", "(2,)"), "\xff\1", 2, { -1, 1 } },
        { HEADER("|u1", "False", "(2,)"), "\x80\xff", 2, { 128, 255 } },
        { HEADER("<i2", "False", "(2,)"), "\1\x80\2\1", 4, { -32767, 258 } },
        { HEADER(">i2", "False", "(2,)"), "\x80\1\1\2", 4, { -32767, 258 } },
        { HEADER("<u2", "False", "(2,)"), "\1\x80\2\1", 4, { 32769, 258 } },
        { HEADER("<i4", "False", "(2,)"), "\xfe\xff\xff\xff\0\0\0\x80", 8, { -2, -2147483648.0 } },
        { HEADER(">u4", "False", "(2,)"), "\xff\xff\xff\xfe\0\0\1\0", 8, { 4294967294.0, 256 } },
        { HEADER("<i8", "False", "(2,)"),
          "\0\0\0\0\0\0\xe0\xff\0\0\0\0\0\0\x20\0",
          16,
          { -9007199254740992.0, 9007199254740992.0 } },
        { HEADER(">u8", "False", "(2,)"),
          "\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\7",
          16,
          { 9007199254740992.0, 7 } },
        { HEADER("|b1", "False", "(2,)"), "\0\1", 2, { 0, 1 } },
        { HEADER("|b1", "False", "(2,)"), "\2\0", 2, { 1, 0 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_values(npy(1, cases[i].header, cases[i].data, cases[i].size), 2, 1, cases[i].wanted);
}

TEST(orders_and_shapes)
{
    const double wanted[6] = { 1, 2, 3, 4, 5, 6 };
    assert_values(npy(1, HEADER("|u1", "False", "(2, 3)"), "\1\2\3\4\5\6", 6), 2, 3, wanted);
    assert_values(npy(1, HEADER("|u1", "True", "(2, 3)"), "\1\4\2\5\3\6", 6), 2, 3, wanted);
    assert_values(npy(1, HEADER("|u1", "True", "(6,)"), "\1\2\3\4\5\6", 6), 6, 1, wanted);
    assert_values(npy(1, HEADER("|u1", "False", "()"), "\1", 1), 1, 1, wanted);
    assert_values(npy(1, HEADER("|u1", "False", "(0,)"), "", 0), 0, 1, wanted);
    assert_values(npy(1, HEADER("|u1", "True", "(0, 9)"), "", 0), 0, 9, wanted);
    assert_values(npy(1, HEADER("<f8", "False", "(9, 0)"), "", 0), 9, 0, wanted);
}

TEST(header_spellings)
{
    static const char *const headers[] = {
        "{'shape':(3,2),'fortran_order':False,'descr':'|u1'}",
        "  {\"descr\" : \"|u1\" ,\n \"shape\":( 3L , 2L ) , \"fortran_order\" : False , } \n",
        "{'fortran_order': False, 'shape': (3, 2,), 'descr': '<u1'}",
    };
    const double wanted[6] = { 6, 5, 4, 3, 2, 1 };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (unsigned major = 1; major <= 3; major++)
            assert_values(npy(major, headers[i], "\6\5\4\3\2\1", 6), 3, 2, wanted);
}

TEST(large_integers_are_refused)
{
    static const struct {
        const char *descr, *data, *text;
    } cases[] = {
        { HEADER("<i8", "False", "(1,)"), "\1\0\0\0\0\0\x20\0", "integer 9007199254740993 " },
        { HEADER(">i8", "False", "(1,)"), "\xff\xdf\xff\xff\xff\xff\xff\xff",
          "integer -9007199254740993 " },
        { HEADER("<u8", "False", "(1,)"), "\1\0\0\0\0\0\x20\0", "integer 9007199254740993 " },
        { HEADER("<u8", "False", "(1,)"), "\xff\xff\xff\xff\xff\xff\xff\xff",
          "integer 18446744073709551615 " },
        { HEADER("<i8", "False", "(1,)"), "\0\0\0\0\0\0\0\x80", "integer -9223372036854775808 " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_ctx   *own = test_context();
        bytes     b = npy(1, cases[i].descr, cases[i].data, 8);
        cr_table *t = NULL;
        assert_fails_with(own, cri_npy_read_table(own, "a.npy", b.at, b.size, &t, &borrowed),
                          CR_EDATA, cases[i].text);
        assert_null(t);
        test_context_free(own);
    }
}

/* --- what is refused ------------------------------------------------------------------------- */

TEST(refused_types)
{
    assert_refused(npy(1, HEADER("|O", "False", "(1,)"), "", 0), "Python objects");
    assert_refused(npy(1, HEADER("<c16", "False", "(1,)"), "", 0), "complex numbers ('<c16')");
    assert_refused(npy(1, HEADER("<U3", "False", "(1,)"), "", 0), "array of texts");
    assert_refused(npy(1, HEADER("|S3", "False", "(1,)"), "", 0), "array of texts");
    assert_refused(npy(1, HEADER("<M8[D]", "False", "(1,)"), "", 0), "array of dates");
    assert_refused(npy(1, HEADER("|V8", "False", "(1,)"), "", 0), "records or raw bytes");
    assert_refused(npy(1, HEADER("<f2", "False", "(1,)"), "", 0), "element type '<f2'");
    assert_refused(npy(1, HEADER("<f16", "False", "(1,)"), "", 0), "element type '<f16'");
    assert_refused(npy(1, HEADER("|f8", "False", "(1,)"), "", 0), "element type '|f8'");
    assert_refused(npy(1, HEADER("<i3", "False", "(1,)"), "", 0), "element type '<i3'");
    assert_refused(npy(1, HEADER("", "False", "(1,)"), "", 0), "element type ''");
    assert_refused(npy(1, HEADER("<i", "False", "(1,)"), "", 0), "element type '<i'");
    assert_refused(npy(1,
                       "{'descr': [('a', '<i4'), ('b', '<f8')], 'fortran_order': False, "
                       "'shape': (1,), }",
                       "", 0),
                   "array of records");
    assert_refused(npy(1, HEADER("<f8", "False", "(1, 1, 1)"), "12345678", 8), "3 dimensions");
}

TEST(refused_headers)
{
    static const struct {
        const char *header, *text;
    } cases[] = {
        { "", "'{' is missing at its byte 0" },
        { "{'descr': '<f8', 'fortran_order': False}", "'shape' is missing" },
        { "{'descr': '<f8', 'shape': (1,)}", "'fortran_order' is missing" },
        { "{'shape': (1,), 'fortran_order': True}", "'descr' is missing" },
        { "{'descr': '<f8', 'descr': '<f8'}", "'descr' is there twice" },
        { "{'colour': '<f8'}", "'colour' is not known" },
        { "{'descr' '<f8'}", "':' is missing" },
        { "{'descr': '<f8' 'shape': (1,)}", "'}' is missing" },
        { "{'descr': '<f8", "''' is missing" },
        { "{descr: '<f8'}", "a quote is missing" },
        { "{'fortran_order': Maybe}", "not True or False" },
        { "{'shape': (1)}", "',' is missing" },
        { "{'shape': (1, 2}", "')' is missing" },
        { "{'shape': [1]}", "'(' is missing" },
        { "{'shape': (-1,)}", "not a list of lengths" },
        { "{'shape': (1,,)}", "not a list of lengths" },
        { "{'shape': (99999999999999999999999,)}", "too large" },
        { "{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
          "too many dimensions" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x", "text after its end" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(npy(1 + i % 3 % 2, cases[i].header, "12345678", 8), cases[i].text);
}

TEST(refused_sizes)
{
    assert_refused(npy(1, HEADER("<f8", "False", "(2,)"), "1234567", 7), "cut short or damaged");
    assert_refused(npy(1, HEADER("<f8", "False", "(1,)"), "123456789", 9),
                   "there are 1 bytes after the end");
    assert_refused(npy(1, HEADER("<f8", "False", "(0, 5)"), "1", 1),
                   "there are 1 bytes after the end");
    /* 2^61 elements of 8 bytes, and 2^32 x 2^32: products that wrap to 0 */
    assert_refused(npy(1, HEADER("<f8", "False", "(2305843009213693952,)"), "", 0), "cut short");
    assert_refused(npy(1, HEADER("<f8", "False", "(4294967296, 4294967296)"), "", 0), "cut short");
}

TEST(every_truncation_is_refused)
{
    for (unsigned major = 1; major <= 2; major++) {
        bytes whole = npy(major, HEADER("<i2", "False", "(3, 1)"), "123456", 6);
        for (size_t n = 0; n < whole.size; n++) {
            bytes part = whole;
            part.size = n;
            assert_refused(part, n < 6 ? "not a .npy" : NULL);
        }
    }
    bytes b = npy(4, HEADER("<i2", "False", "(3,)"), "123456", 6);
    assert_refused(b, "version 4.0");
    b.at[6] = 1, b.at[7] = 1;
    assert_refused(b, "version 1.1");
}

/* --- tables ---------------------------------------------------------------------------------- */

TEST(table_of_a_matrix)
{
    enum { ROWS = 1100, COLS = 19 }; /* more than one block of rows and group of columns */
    cr_table *t;
    size_t    size = CRI_NPY_HEADER + ROWS * COLS * sizeof(double);
    char     *b = malloc(size);
    double   *a = malloc(ROWS * COLS * sizeof *a);
    for (size_t i = 0; i < ROWS * COLS; i++) a[i] = 1.0 / (double)(i + 1);
    a[7 * COLS + 18] = NAN;
    cri_npy_header(2, ROWS, COLS, b);
    cri_npy_encode(a, ROWS * COLS, b + CRI_NPY_HEADER);
    assert_ok(cx, cri_npy_read_table(cx, "a.npy", b, size, &t, &borrowed));
    assert_int_equal(cr_table_rows(t), ROWS);
    assert_int_equal(cr_table_columns(t), COLS);
    for (size_t j = 0; j < COLS; j++) {
        const cr_column *c = cr_table_column(t, j);
        char             name[32];
        snprintf(name, sizeof name, "x%zu", j + 1);
        assert_string_equal(c->name, name);
        assert_int_equal(c->type, CR_REAL);
        assert_int_equal(c->missing, j == 18);
        for (size_t i = 0; i < ROWS; i++)
            assert_close(c->values[i * c->stride], a[i * COLS + j], 0);
    }
    /* and back: the same bytes */
    const char *path = test_file("out.npy", "", 0);
    char       *written;
    size_t      n;
    assert_ok(cx, cr_table_write_npy(cx, t, path));
    assert_ok(cx, cri_file_load(cx, path, 0, &written, &n));
    assert_int_equal(n, size);
    assert_memory_equal(written, b, size);
    cr_free(cx, written, n, 1);
    cr_table_free(cx, t);
    free(a);
    free(b);
}

TEST(column_types)
{
    static const struct {
        const char *header;
        cr_type     type;
    } cases[] = { { HEADER("|u1", "False", "(4,)"), CR_INTEGER },
                  { HEADER("<i2", "False", "(2,)"), CR_INTEGER },
                  { HEADER("|b1", "False", "(4, 1)"), CR_BOOLEAN },
                  { HEADER("<f4", "True", "(1, 1)"), CR_REAL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_ctx   *own = test_context();
        bytes     b = npy(1, cases[i].header, "\0\1\0\1", 4);
        cr_table *t;
        assert_ok(own, cri_npy_read_table(own, "a.npy", b.at, b.size, &t, &borrowed));
        assert_int_equal(cr_table_columns(t), 1);
        assert_int_equal(cr_table_column(t, 0)->type, cases[i].type);
        assert_string_equal(cr_table_column(t, 0)->name, "x1");
        cr_table_free(own, t);
        test_context_free(own);
    }
}

TEST(no_table)
{
    cr_table *t = NULL;
    bytes     b = npy(1, HEADER("|u1", "False", "()"), "\1", 1);
    assert_fails_with(cx, cri_npy_read_table(cx, "a.npy", b.at, b.size, &t, &borrowed), CR_EDATA,
                      "a single number");
    b = npy(1, HEADER("|u1", "False", "(1000000000000, 0)"), "", 0);
    assert_fails_with(cx, cri_npy_read_table(cx, "a.npy", b.at, b.size, &t, &borrowed), CR_EDATA,
                      "without columns");
    b = npy(1, HEADER("|u1", "False", "(0, 1000000000000)"), "", 0);
    assert_fails_with(cx, cri_npy_read_table(cx, "a.npy", b.at, b.size, &t, &borrowed), CR_EDATA,
                      "1000000000000 columns");
    assert_null(t);

    const char *texts[] = { "a", "b" };
    assert_ok(cx, cr_table_new(cx, "t", 2, &t));
    assert_ok(cx, cr_table_add_texts(cx, t, "colour", texts));
    assert_fails_with(cx, cr_table_write_npy(cx, t, "/dev/null"), CR_EDATA,
                      "column 'colour' is a category");
    cr_table_free(cx, t);
}

/* --- archives -------------------------------------------------------------------------------- */

/* An archive by libzip itself, the entries deflated. */
static bytes deflated(const char *name, const void *data, size_t size)
{
    bytes         b = { .size = 0 };
    zip_source_t *into = zip_source_buffer_create(NULL, 0, 0, NULL);
    zip_t        *z = zip_open_from_source(into, ZIP_TRUNCATE, NULL);
    zip_source_keep(into);
    assert_int_equal(zip_file_add(z, name, zip_source_buffer(z, data, size, 0), 0), 0);
    assert_int_equal(zip_set_file_compression(z, 0, ZIP_CM_DEFLATE, 9), 0);
    assert_int_equal(zip_close(z), 0);
    assert_int_equal(zip_source_open(into), 0);
    b.size = (size_t)zip_source_read(into, b.at, sizeof b.at);
    assert_true(b.size < sizeof b.at);
    zip_source_close(into);
    zip_source_free(into);
    return b;
}

static cr_status read_items(cr_ctx *cx, const cri_zip_item *items, size_t n, cr_table **out)
{
    char     *b;
    size_t    size;
    cr_status st = cri_zip_build(cx, items, n, "", &b, &size);
    if (st != CR_OK) return st;
    st = cri_npz_read_table(cx, "a.npz", b, size, out);
    cr_free(cx, b, size, 1);
    return st;
}

TEST(archive)
{
    bytes              v = npy(1, HEADER("<i2", "False", "(2,)"), "\1\0\2\0", 4);
    bytes              m = npy(2, HEADER("|b1", "True", "(2, 2)"), "\0\1\1\0", 4);
    const cri_zip_item items[] = { { "age.npy", v.at, v.size }, { "b.npy", m.at, m.size } };
    cr_table          *t;
    assert_ok(cx, read_items(cx, items, 2, &t));
    assert_int_equal(cr_table_rows(t), 2);
    assert_int_equal(cr_table_columns(t), 3);
    const cr_column *age = cr_table_find(t, "age"), *b1 = cr_table_find(t, "b1"),
                    *b2 = cr_table_find(t, "b2");
    assert_true(age && b1 && b2);
    assert_true(age->type == CR_INTEGER && b1->type == CR_BOOLEAN);
    assert_true(age->values[1] == 2 && b1->values[1] == 1 && b2->values[1] == 0 &&
                b2->values[0] == 1);
    cr_table_free(cx, t);
}

TEST(refused_archives)
{
    cr_table    *t = NULL;
    bytes        two = npy(1, HEADER("|u1", "False", "(2,)"), "\1\2", 2);
    bytes        three = npy(1, HEADER("|u1", "False", "(3,)"), "\1\2\3", 3);
    cri_zip_item items[] = { { "a.npy", two.at, two.size }, { "b.npy", three.at, three.size } };
    assert_fails_with(cx, read_items(cx, items, 2, &t), CR_EDATA,
                      "array 'a' has 2 rows, but 'b' has 3");
    items[1].size--;
    assert_fails_with(cx, read_items(cx, items, 2, &t), CR_EDATA,
                      "a.npz, array 'b': an array of 3");
    items[1] = (cri_zip_item){ "readme.txt", "hello", 5 };
    assert_fails_with(cx, read_items(cx, items, 2, &t), CR_EDATA, "'readme.txt' is not an array");
    items[1] = (cri_zip_item){ ".npy", two.at, two.size };
    assert_fails_with(cx, read_items(cx, items, 2, &t), CR_EDATA, "'.npy' is not an array");
    static const char empty[23] = "PK\5\6";
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", empty, 22, &t), CR_EDATA,
                      "without arrays");
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", "PK\5\6", 4, &t), CR_EDATA,
                      "a.npz: the zip archive cannot be read");
    assert_null(t);
}

TEST(damaged_archives_are_refused)
{
    bytes v =
        npy(1, HEADER("|u1", "False", "(40,)"), "0123456789012345678901234567890123456789", 40);
    const cri_zip_item item = { "v.npy", v.at, v.size };
    char              *b;
    size_t             size;
    cr_table          *t = NULL;
    assert_ok(cx, cri_zip_build(cx, &item, 1, "", &b, &size));
    for (size_t n = 0; n < size; n++)
        assert_fails(cx, cri_npz_read_table(cx, "a.npz", b, n, &t), CR_EDATA);
    char *elements = memmem(b, size, "0123456789", 10);
    assert_non_null(elements);
    for (size_t i = 0; i < 40; i++) { /* the entry's checksum sees every element */
        elements[i] ^= 4;
        assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", b, size, &t), CR_EDATA, "CRC error");
        elements[i] ^= 4;
    }
    assert_null(t);
    cr_free(cx, b, size, 1);
}

TEST(deflated_archives)
{
    enum { N = 400000 };
    cr_table *t = NULL;
    char     *data = calloc(CRI_NPY_HEADER + N, 1);
    cri_npy_header(1, N / 8, 1, data);
    bytes b = deflated("z.npy", data, CRI_NPY_HEADER + N);
    assert_true((size_t)N / b.size > 300); /* well compressed, and fine */
    assert_ok(cx, cri_npz_read_table(cx, "a.npz", b.at, b.size, &t));
    assert_int_equal(cr_table_rows(t), N / 8);
    cr_table_free(cx, t);
    t = NULL;

    cr_ctx_set_memory_limit(cx, 300000);
    assert_fails(cx, cri_npz_read_table(cx, "a.npz", b.at, b.size, &t), CR_ENOMEM);
    cr_ctx_set_memory_limit(cx, 0);

    /* the sizes in the central directory (offset 24) and the local header (22) made larger */
    char *central = memmem(b.at, b.size, "PK\1\2", 4);
    assert_non_null(central);
    memcpy(central + 24, "\xff\xff\xff\x7f", 4);
    memcpy(b.at + 22, "\xff\xff\xff\x7f", 4);
    size_t before = cr_ctx_peak_memory(cx);
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", b.at, b.size, &t), CR_EDATA,
                      "made to fill the memory");
    assert_true(cr_ctx_peak_memory(cx) <= before);
    /* a claim within the ratio that is still too large, and one too small */
    memcpy(central + 24, "\0\0\7\0", 4);
    memcpy(b.at + 22, "\0\0\7\0", 4);
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", b.at, b.size, &t), CR_EDATA, "a.npz: ");
    memcpy(central + 24, "\0\0\1\0", 4);
    memcpy(b.at + 22, "\0\0\1\0", 4);
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", b.at, b.size, &t), CR_EDATA, "a.npz: ");
    assert_null(t);
    free(data);
}

/* An archive of 600 kB that claims to hold 600 MiB, deflated, is refused, unless there is a memory
 * limit to decide. */
TEST(expansion)
{
    enum { N = 600000 };
    cr_table *t = NULL;
    char     *data = calloc(N, 1), *b = NULL;
    size_t    size = 0;
    assert_ok(cx, cri_zip_build(cx, &(cri_zip_item){ "z.npy", data, N }, 1, "", &b, &size));
    char *central = memmem(b, size, "PK\1\2", 4);
    assert_non_null(central);
    memcpy(central + 10, "\x08\0", 2);
    memcpy(central + 24, "\0\0\x80\x25", 4);
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", b, size, &t), CR_ENOMEM,
                      "made to fill the memory");
    cr_ctx_set_memory_limit(cx, 100000000);
    assert_fails_with(cx, cri_npz_read_table(cx, "a.npz", b, size, &t), CR_ENOMEM, "memory limit");
    cr_free(cx, b, size, 1);
    free(data);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cr_status read_and_write(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_table *t = NULL, *u = NULL;
    bytes     m = npy(2, HEADER("|b1", "True", "(2, 2)"), "\0\1\1\0", 4);
    CR_TRY(cri_npy_read_table(cx, "a.npy", m.at, m.size, &t, &borrowed));
    CR_TRY(cr_table_write_npy(cx, t, arg));
    CR_TRY(read_items(cx, &(cri_zip_item){ "m.npy", m.at, m.size }, 1, &u));
done:
    cr_table_free(cx, t);
    cr_table_free(cx, u);
    return st;
}

TEST(allocations)
{
    char path[300];
    snprintf(path, sizeof path, "%s", test_file("allocations.npy", "", 0));
    test_every_allocation_fails(read_and_write, path);
}

/* --- large files are mapped ------------------------------------------------------------------ */

/* 2 MiB of doubles as a file: the table has them, and almost no memory is taken for it. */
TEST(large_file_is_mapped)
{
    enum { ROWS = 1 << 16, COLS = 4 };
    char            path[] = "/tmp/credence-npy-XXXXXX", head[CRI_NPY_HEADER];
    cr_table       *t = NULL;
    cr_read_options options = { 0 };
    int             fd = mkstemp(path);
    FILE           *f = fdopen(fd, "wb");
    assert_non_null(f);
    cri_npy_header(2, ROWS, COLS, head);
    fwrite(head, 1, sizeof head, f);
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        double x = i == 7 ? NAN : 0.5 * (double)i;
        fwrite(&x, sizeof x, 1, f);
    }
    fclose(f);
    cr_ctx_set_memory_limit(cx, 1 << 19); /* a quarter of the file */
    assert_ok(cx, cr_table_read(cx, path, &options, &t));
    assert_int_equal(cr_table_rows(t), ROWS);
    for (size_t j = 0; j < COLS; j++) {
        const cr_column *c = cr_table_column(t, j);
        assert_int_equal(c->missing, j == 3);
        for (size_t i = 0; i < ROWS; i++)
            if (i * COLS + j != 7)
                assert_true(c->values[i * c->stride] == 0.5 * (double)(i * COLS + j));
    }
    cr_table_free(cx, t);
    remove(path);
}
