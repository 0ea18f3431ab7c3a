/* test_ldac.c -- documents of lda-c as tables: entries in any order, blank lines, faults with their places. */
#include "support.h"
#include "data/formats/ldac.h"

static cr_table *read_text(cr_ctx *cx, const char *text)
{
    cr_table *t = NULL;
    assert_ok(cx, cri_ldac_read(cx, "d.ldac", text, strlen(text), &t));
    return t;
}

TEST(entries_are_put_in_order)
{
    cr_table     *t = read_text(cx, "2 3:1 0:2\r\n\n0\n 1 2:4");
    const cr_csr *X = cr_table_csr(t);
    const size_t  start[] = { 0, 2, 2, 3 }, column[] = { 0, 3, 2 }, value[] = { 2, 1, 4 };
    assert_int_equal(cr_table_rows(t), 3);
    assert_int_equal(cr_table_columns(t), 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(X->row_start[i], start[i]);
    for (size_t e = 0; e < 3; e++) {
        assert_int_equal(X->column[e], column[e]);
        assert_close(X->value[e], (double)value[e], 0);
    }
    cr_table_free(cx, t);
}

static void fails(cr_ctx *cx, const char *text, const char *where, const char *what)
{
    cr_table *t = NULL;
    assert_int_equal(cri_ldac_read(cx, "d.ldac", text, strlen(text), &t), CR_EDATA);
    assert_null(t);
    assert_non_null(strstr(cr_error(cx), where));
    assert_non_null(strstr(cr_error(cx), what));
}

TEST(faults_are_told_with_their_places)
{
    fails(cx, "", "d.ldac", "no documents");
    fails(cx, "1 0:1\n2 0:1 0:2\n", "d.ldac:2:1", "term 0 twice");
    fails(cx, "2 0:1\n", "d.ldac:1:1", "has 1 terms, not 2");
    fails(cx, "1 0:0\n", "d.ldac:1:5", "count of a term is 0");
    fails(cx, "1 0 1\n", "d.ldac:1:3", "colon");
    fails(cx, "1 -1:1\n", "d.ldac:1:3", "a whole number");
    fails(cx, "1 99999999:1\n", "d.ldac:1:3", "above");
    fails(cx, "1 0:99999999999999999999\n", "d.ldac:1:5", "above");
    fails(cx, "x\n", "d.ldac:1:1", "the number of terms");
}
