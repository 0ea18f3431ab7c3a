/* test_libsvm.c -- the sparse text reader: known tables, exact messages, a naive reader, limits. */
#include "support.h"
#include "data/formats/libsvm.h"
#include "data/table/table.h"

static cr_status read_text(cr_ctx *cx, const char *text, cr_table **out)
{
    return cri_libsvm_read(cx, "d.svm", text, strlen(text), out);
}

TEST(small_table)
{
    cr_table *t = NULL;
    assert_ok(cx, read_text(cx,
                            "# a comment, then a blank line\n"
                            "\n"
                            "+1 1:0.5 3:-2  # the rest 7:1\n"
                            "-1\t2:4\t \r\n"
                            "   \n"
                            "2.5#no entries",
                            &t));
    assert_int_equal(cr_table_rows(t), 3);
    assert_int_equal(cr_table_columns(t), 4);
    assert_string_equal(cr_table_source(t), "d.svm");
    const char *const names[] = { "x1", "x2", "x3", "y" };
    const cr_type     types[] = { CR_REAL, CR_INTEGER, CR_INTEGER, CR_REAL };
    const double      values[4][3] = { { 0.5, 0, 0 }, { 0, 4, 0 }, { -2, 0, 0 }, { 1, -1, 2.5 } };
    for (size_t j = 0; j < 4; j++) {
        const cr_column *c = cr_table_column(t, j);
        assert_string_equal(c->name, names[j]);
        assert_int_equal(c->type, types[j]);
        assert_int_equal(c->missing, 0);
        for (size_t i = 0; i < 3; i++) assert_true(c->values[i * c->stride] == values[j][i]);
    }
    cr_table_free(cx, t);
}

TEST(labels_alone_and_byte_order_mark)
{
    cr_table *t = NULL;
    assert_ok(cx, read_text(cx,
                            "\xEF\xBB\xBF"
                            "7\n8\n",
                            &t));
    assert_int_equal(cr_table_columns(t), 1);
    assert_string_equal(cr_table_column(t, 0)->name, "y");
    assert_true(cr_table_column(t, 0)->values[1] == 8);
    cr_table_free(cx, t);
}

static const struct {
    const char *text, *sentence, *caret, *hint;
} corpus[] = {
    { "", "d.svm: there are no rows", "", "" },
    { "# only\n\n", "d.svm: there are no rows", "", "" },
    { "1 1:2\n1 2:1 2:3\n", "d.svm:2:7: index 2 after 2: indices must increase along the line",
      "   2 | 1 2:1 2:3\n     |       ^", "" },
    { "1 5:1 3:1", "d.svm:1:7: index 3 after 5: indices must increase along the line",
      "   1 | 1 5:1 3:1\n     |       ^", "" },
    { "1 0:1", "d.svm:1:3: index 0: the first column is 1", "   1 | 1 0:1\n     |   ^",
      "scikit-learn writes such files with dump_svmlight_file(..., zero_based=False)" },
    { "1 16777217:1",
      "d.svm:1:3: index 16777217 is too large: at most 16777216 columns can be read",
      "   1 | 1 16777217:1\n     |   ^~~~~~~~", "" },
    { "1 99999999999999999999999:1",
      "d.svm:1:3: index 99999999999999999999999 is too large: at most 16777216 columns can be read",
      "   1 | 1 99999999999999999999999:1\n     |   ^~~~~~~~~~~~~~~~~~~~~~~", "" },
    { "1 3", "d.svm:1:3: '3' is not of the form index:value", "   1 | 1 3\n     |   ^", "" },
    { "1 :3", "d.svm:1:3: ':3' is not of the form index:value", "   1 | 1 :3\n     |   ^~", "" },
    { "1 -1:3", "d.svm:1:3: '-1:3' is not of the form index:value", "   1 | 1 -1:3\n     |   ^~~~",
      "" },
    { "1 a:3", "d.svm:1:3: 'a:3' is not of the form index:value", "   1 | 1 a:3\n     |   ^~~",
      "" },
    { "1 1:x", "d.svm:1:5: the value 'x' is not a number", "   1 | 1 1:x\n     |     ^", "" },
    { "1 1:2:3", "d.svm:1:5: the value '2:3' is not a number", "   1 | 1 1:2:3\n     |     ^~~",
      "" },
    { "1 1:", "d.svm:1:3: no value after '1:'", "   1 | 1 1:\n     |   ^~", "" },
    { "1 1: 2", "d.svm:1:3: no value after '1:'", "   1 | 1 1: 2\n     |   ^~", "" },
    { "1 1:1e999", "d.svm:1:5: the value '1e999' is too large for a number",
      "   1 | 1 1:1e999\n     |     ^~~~~", "" },
    { "1 1:nano", "d.svm:1:5: the value 'nano' is not a number", "   1 | 1 1:nano\n     |     ^~~~",
      "" },
    { "1 1:-inf", "d.svm:1:5: the value '-inf' is not finite", "   1 | 1 1:-inf\n     |     ^~~~",
      "" },
    { "nan 1:1", "d.svm:1:1: the label 'nan' is not finite", "   1 | nan 1:1\n     | ^~~", "" },
    { "cat 1:1", "d.svm:1:1: the label 'cat' is not a number", "   1 | cat 1:1\n     | ^~~", "" },
    { "1:1 2:1", "d.svm:1:1: the line begins with '1:1', but the label comes first",
      "   1 | 1:1 2:1\n     | ^~~", "if the label is not known, write 0" },
    { "1,2 1:1", "d.svm:1:1: several labels in one row ('1,2') are not supported",
      "   1 | 1,2 1:1\n     | ^~~", "write one file per label" },
    { "1\n\n3 qid:2 1:1", "d.svm:3:3: ranking data ('qid:2') are not supported",
      "   3 | 3 qid:2 1:1\n     |   ^~~~~", "" },
};

TEST(messages)
{
    cr_table *t = NULL;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        assert_fails(cx, read_text(cx, corpus[i].text, &t), CR_EDATA);
        assert_string_equal(cr_error(cx), corpus[i].sentence);
        assert_string_equal(cr_error_notes(cx), corpus[i].caret);
        assert_string_equal(cr_error_hint(cx), corpus[i].hint);
        assert_null(t);
    }
}

TEST(zero_byte_is_no_number)
{
    cr_table  *t = NULL;
    const char text[] = "1 1:2\0003";
    assert_fails_with(cx, cri_libsvm_read(cx, "z", text, sizeof text - 1, &t), CR_EDATA,
                      "z:1:5: the value");
}

TEST(refuses_what_does_not_fit)
{
    enum { ROWS = 2000 };
    cr_table *t = NULL;
    char     *text = malloc(ROWS * 8 + 1), *at = text;
    for (size_t i = 0; i < ROWS; i++) at += sprintf(at, "1 30:1\n");
    cr_ctx_set_memory_limit(cx, 200000);
    assert_fails_with(cx, read_text(cx, text, &t), CR_ENOMEM,
                      "a dense table of 2000 rows and 31 columns needs 0.000506 GB, but");
    assert_true(cr_ctx_peak_memory(cx) < 100000); /* nothing of the table was asked for */
    free(text);
}

TEST(when_it_is_sparse)
{
    const struct {
        const char *text;
        bool        sparse;
    } cases[] = { { "1 32:1\n2 2:1\n", false },                           /* few columns */
                  { "1 33:1\n2 2:1\n", true },                            /* 2 of 66 cells */
                  { "1 4097:1\n", true },                                 /* many columns */
                  { "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 36:1\n", false },  /* 9 of 36: a quarter */
                  { "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 37:1\n", true } }; /* 9 of 37 */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_table *t = NULL;
        assert_ok(cx, read_text(cx, cases[k].text, &t));
        assert_true((cr_table_csr(t) != NULL) == cases[k].sparse);
        assert_string_equal(cr_table_column(t, cr_table_columns(t) - 1)->name, "y");
        cr_table_free(cx, t);
    }
    cr_table *t = NULL;
    assert_ok(cx, read_text(cx, "1 16000000:1\n2 2:1\n", &t)); /* dense: gigabytes */
    assert_true(cr_ctx_peak_memory(cx) < 11000);               /* 10429 with all of the reader */
    cr_table_free(cx, t);
}

TEST(missing_values)
{
    cr_table *t = NULL;
    assert_ok(cx, read_text(cx, "1 1:nan 2:1\n2 2:3\n", &t));
    assert_int_equal(cr_table_find(t, "x1")->missing, 1);
    assert_int_equal(cr_table_find(t, "x1")->type, CR_INTEGER);
    assert_true(isnan(cr_table_find(t, "x1")->values[0]) && cr_table_find(t, "x1")->values[1] == 0);
    cr_table_free(cx, t);
}

/* Every way to cut the text into pieces gives the same rows, and the same failure. */
TEST(every_cut_gives_the_same)
{
    const char text[] =
        "# first: 1:2\n1 2:3 7:0.5\n\n  2 1:1e3#4:4\n-3\n4 3:1 4:-1 9:12\r\n\n5 1:7";
    const char bad[] = "1 1:1\n2 2:2\n3 3:x 4:y\n4 1:z\n5\n";
    cri_libsvm a;
    assert_ok(cx, cri_libsvm_parse(cx, "d", text, strlen(text), 1, &a));
    assert_int_equal(a.rows, 5);
    assert_int_equal(a.columns, 9);
    assert_int_equal(a.lines, 7);
    assert_int_equal(a.first_line, 0);
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++) {
        cri_libsvm b;
        assert_ok(cx, cri_libsvm_parse_cut(cx, "d", text, strlen(text), 1,
                                           (cri_libsvm_cuts){ .piece = piece }, &b));
        assert_int_equal(a.rows, b.rows);
        assert_int_equal(a.columns, b.columns);
        assert_int_equal(a.lines, b.lines);
        assert_memory_equal(a.start, b.start, 6 * sizeof *a.start);
        assert_memory_equal(a.label, b.label, 5 * sizeof *a.label);
        assert_memory_equal(a.column, b.column, a.start[5] * sizeof *a.column);
        assert_memory_equal(a.value, b.value, a.start[5] * sizeof *a.value);
        cri_libsvm_free(cx, &b);
        assert_fails_with(cx,
                          cri_libsvm_parse_cut(cx, "d", bad, strlen(bad), 1,
                                               (cri_libsvm_cuts){ .piece = piece }, &b),
                          CR_EDATA, "d:3:5: the value 'x' is not a number");
    }
    cri_libsvm_free(cx, &a);
    assert_ok(
        cx, cri_libsvm_parse(cx, "d", "\n#\n1 1:1\n2\n", 11, 10, &a)); /* lines follow each other */
    assert_int_equal(a.first_line, 12);
    cri_libsvm_free(cx, &a);
}

TEST(many_columns_take_linear_time)
{
    cr_table *t = NULL;
    assert_ok(cx, read_text(cx, "1 100000:1\n", &t)); /* a minute if names were compared in turn */
    assert_int_equal(cr_table_columns(t), 100001);
    assert_ptr_equal(cr_table_find(t, "x77777"), cr_table_column(t, 77776));
    assert_ptr_equal(cr_table_find(t, "y"), cr_table_column(t, 100000));
    assert_null(cr_table_find(t, "x0"));
    cr_table_free(cx, t);
}

/* --- against a naive reader of a real file --------------------------------------------------- */

typedef struct naive {
    size_t  rows, columns;
    double *x; /* [rows x columns], the label first */
} naive;

static naive read_naively(const char *path, size_t columns)
{
    naive  m = { 0, columns, NULL };
    FILE  *f = fopen(path, "r");
    char  *line = NULL;
    size_t line_size = 0, capacity = 0;
    assert_non_null(f);
    while (getline(&line, &line_size, f) > 0) {
        if (m.rows == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            m.x = realloc(m.x, capacity * columns * sizeof *m.x);
            assert_non_null(m.x);
        }
        double *row = m.x + m.rows++ * columns;
        memset(row, 0, columns * sizeof *row);
        char *save = NULL, *word = strtok_r(line, " \n", &save);
        row[0] = atof(word);
        while ((word = strtok_r(NULL, " \n", &save))) row[atol(word)] = atof(strchr(word, ':') + 1);
    }
    free(line);
    fclose(f);
    return m;
}

static char *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

TEST(agrees_with_a_naive_reader)
{
    const char *shared = test_extra_data("tabular/w8a.libsvm");
    char        path[512];
    snprintf(path, sizeof path, "%s", shared);
    cr_table *t = NULL;
    size_t    size;
    char     *bytes = load(path, &size);
    naive     m = read_naively(path, 301);
    assert_ok(cx, cri_libsvm_read(cx, path, bytes, size, &t));
    assert_int_equal(cr_table_rows(t), 49749);
    assert_int_equal(m.rows, 49749);
    assert_int_equal(cr_table_columns(t), 301);
    size_t wrong = 0;
    for (size_t j = 0; j < 301; j++) {
        const cr_column *c = cr_table_column(t, j);
        assert_int_equal(c->type, CR_INTEGER);
        size_t place = j < 300 ? j + 1 : 0;
        for (size_t i = 0; i < m.rows; i++) wrong += c->values[i] != m.x[i * 301 + place];
    }
    assert_int_equal(wrong, 0);
    free(m.x);
    free(bytes);
    cr_table_free(cx, t);
}

static cr_status read_three_rows(cr_ctx *cx, void *arg)
{
    cr_table *t = NULL;
    cr_status st = read_text(cx, arg, &t);
    assert_true((st == CR_OK) == (t != NULL));
    cr_table_free(cx, t);
    return st;
}

TEST(allocation_failures)
{
    char dense[] = "1 1:2 20:3\n2 3:1\n3\n", sparse[] = "# 1:1\n1 1:2 20:3\n2 300:1\n3\n";
    test_every_allocation_fails(read_three_rows, dense);
    test_every_allocation_fails(read_three_rows, sparse);
}

TEST(interrupt)
{
    cr_table *t = NULL;
    cr_interrupt(cx);
    assert_fails(cx, read_text(cx, "1 1:1\n", &t), CR_EINTERRUPTED);
}

TEST(looks_like)
{
    const char *const yes[] = { "1 1:2", "-1\n-1\n+1 3:4", "# c\n\n0.5\t12:0", "1  3:1 #x\na" };
    const char *const no[] = {
        "", "1\n2\n", "a,b\n1,2", "1,2", "1 2 3", "1:2 3:4", "x 1:2", "1 :2"
    };
    for (size_t i = 0; i < 4; i++) assert_true(cri_libsvm_looks_like(yes[i], strlen(yes[i])));
    for (size_t i = 0; i < 8; i++) assert_false(cri_libsvm_looks_like(no[i], strlen(no[i])));
    assert_false(cri_libsvm_looks_like(NULL, 0));
}
