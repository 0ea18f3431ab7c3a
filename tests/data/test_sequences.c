/* test_sequences.c -- which rows belong together and in which order, as a design sees them. */
#include "design_fixture.h"
#include "data/formats/read.h"

static cr_table *table_of(cr_ctx *cx, const char *name, const char *text)
{
    cr_read_options o;
    cr_table       *t = NULL;
    assert_ok(cx, cr_options_init(cx, cr_read_table, &o));
    assert_ok(cx, cr_table_read(cx, test_file(name, text, strlen(text)), &o, &t));
    cr_options_free(cx, cr_read_table, &o);
    return t;
}

static cr_status try_sequences(cr_ctx *cx, const cr_table *t, const char *settings, cr_design **out)
{
    cr_design_options o;
    set_options(cx, settings, &o);
    cr_status st = cri_design_fit(
        cx, t, &o, &(cri_design_needs){ .sequences = true, .standardise = true }, out);
    cr_options_free(cx, cr_design_table, &o);
    return st;
}

/* "a:2 0 1;b:3" -- the sequences with their rows. */
static const char *text_of(const cri_sequences *s)
{
    static char text[512];
    char       *at = text;
    *at = '\0';
    for (size_t k = 0; k < s->n; k++) {
        at += sprintf(at, "%s%s:", k ? ";" : "", s->names ? s->names[k] : "");
        for (size_t i = s->start[k]; i < s->start[k + 1]; i++)
            at += sprintf(at, "%s%zu", i > s->start[k] ? " " : "", s->row[i]);
    }
    return text;
}

static void check_sequences(const char *settings, const char *data, const char *expected)
{
    cr_ctx    *cx = test_context();
    cr_table  *t = table_of(cx, "s.csv", data);
    cr_design *d = NULL;
    cri_rows   r = { 0 };
    assert_ok(cx, try_sequences(cx, t, settings, &d));
    assert_string_equal(terms_of(d), "x"); /* neither column is a feature */
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    assert_string_equal(text_of(r.sequences), expected);
    cri_rows_close(cx, &r);
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_INPUTS_ALONE, &r));
    assert_null(r.sequences);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
    test_context_free(cx);
}

TEST(labels)
{
    check_sequences("sequence=who", "who,x\nb,1\na,2\nb,3\nc,4\na,5\n", "b:0 2;a:1 4;c:3");
    check_sequences("sequence=who", "who,x\n7,1\n-3,2\n7,3\n10,4\n-3,5\n", "7:0 2;-3:1 4;10:3");
    check_sequences("sequence=who", "who,x\ntrue,1\nfalse,2\ntrue,3\n", "true:0 2;false:1");
    check_sequences("sequence=who", "who,x\n1,1\n", "1:0");
    check_sequences("", "x\n1\n2\n3\n", ":0 1 2"); /* all rows are one sequence */
}

TEST(order)
{
    check_sequences("sequence=who time=t", "t,who,x\n3,a,1\n1,b,2\n1,a,3\n0.5,b,4\n2,a,5\n",
                    "a:2 4 0;b:3 1");
    check_sequences("time=t", "t,x\n3,1\n-1,2\n2,3\n", ":1 2 0");
    check_sequences("time=t missing=drop", "t,x\n3,1\n-1,\n2,3\n", ":1 0"); /* rows that are kept */
    check_sequences("sequence=who missing=drop", "who,x\na,1\nb,\na,3\nc,4\n", "a:0 1;c:2");
}

TEST(ties_keep_the_order_of_the_file)
{
    warnings   said = { 0 };
    cr_table  *t = table_of(cx, "s.csv", "t,who,x\n2,a,1\n1,a,2\n2,a,3\n1,a,4\n1,b,5\n");
    cr_design *d = NULL;
    cri_rows   r = { 0 };
    cr_ctx_set_log(cx, keep_warning, &said);
    assert_ok(cx, try_sequences(cx, t, "sequence=who time=t", &d));
    assert_int_equal(said.n, 0); /* the standardisation needs no order */
    assert_ok(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r));
    assert_string_equal(text_of(r.sequences), "a:1 3 0 2;b:4");
    assert_non_null(strstr(said.text, "2 rows have the time 't' of another row of the sequence"));
    assert_int_equal(said.n, 1);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
}

TEST(failures)
{
    const struct {
        const char *settings, *data, *sentence;
    } bad[] = {
        { "sequence=who", "who,x\na,1\n,2\n",
          "s.csv:3: column 'who' is missing, so the sequence of the row is unknown" },
        { "sequence=who", "who,x\n1,1\nNA,2\n",
          "s.csv:3: column 'who' is missing, so the sequence of the row is unknown" },
        { "sequence=who", "who,x\n1,1\n1.5,2\n", "s.csv:3: column 'who' is not a whole number" },
        { "time=t", "t,x\n1,1\nNA,2\n", "s.csv:3: column 't' has no value" },
        { "time=t", "t,x\n1,1\ninf,2\n", "s.csv:3: column 't' is infinite" },
        { "time=t", "t,x\nmay,1\njune,2\n", "the time 't' contains text, but it must be numeric" },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        cr_table  *t = table_of(cx, "s.csv", bad[k].data);
        cr_design *d = NULL;
        cri_rows   r = { 0 };
        assert_ok(cx, try_sequences(cx, t, bad[k].settings, &d));
        assert_fails_with(cx, cri_rows_open(cx, d, t, CRI_TARGET_NONE, &r), CR_EDATA,
                          bad[k].sentence);
        cri_design_free(cx, d);
        cr_table_free(cx, t);
    }
    cr_table  *t = table_of(cx, "s.csv", "who,t,x\na,1,1\n"), *other = NULL;
    cr_design *d = NULL;
    cri_rows   r = { 0 };
    assert_fails_with(cx, try_sequences(cx, t, "sequence=whom", &d), CR_EDATA, "'whom' not found");
    assert_fails_with(cx, try_sequences(cx, t, "time=t sequence=t", &d), CR_EARG,
                      "column 't' cannot be both the sequence and the time");
    assert_fails_with(cx, try_sequences(cx, t, "time=t target=t", &d), CR_EARG,
                      "column 't' cannot be both the target and the time");
    assert_ok(cx, try_sequences(cx, t, "sequence=who time=t", &d));
    other = table_of(cx, "o.csv", "t,x\n1,1\n"); /* another table must have them too */
    assert_fails_with(cx, cri_rows_open(cx, d, other, CRI_TARGET_NONE, &r), CR_EDATA,
                      "column 'who' not found");
    cr_table_free(cx, other);
    cri_design_free(cx, d);
    cr_table_free(cx, t);
}

static cr_status open_sequences(cr_ctx *cx, void *table)
{
    char              who[] = "who", day[] = "t";
    cr_design_options o = { .sequence = who, .time = day };
    cr_design        *d = NULL;
    cri_rows          r = { 0 };
    cr_status st = cri_design_fit(cx, table, &o, &(cri_design_needs){ .sequences = true }, &d);
    if (st == CR_OK) st = cri_rows_open(cx, d, table, CRI_TARGET_NONE, &r);
    cri_rows_close(cx, &r);
    cri_design_free(cx, d);
    return st;
}

TEST(allocation_failures)
{
    cr_table *t = table_of(cx, "s.csv", "t,who,x\n2,1,1\n1,1,2\n2,3,3\n1,3,4\n1,2,5\n");
    test_every_allocation_fails(open_sequences, t);
    cr_table_free(cx, t);
}
