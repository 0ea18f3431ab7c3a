/* test_record.c -- a struct of every kind of member: saved and loaded it is the same, and each value
 * that its range does not allow is refused by the member's name. */
#include "record_file.h"
#include "base/context_internal.h"

/* clang-format off */
#define THING_STATE(MEMBER)                                                                        \
    MEMBER(count,  n,      (),     "1..5",       "rows")                                           \
    MEMBER(count,  p,      (),     "",           "columns")                                        \
    MEMBER(flag,   ready,  (),     "",           "whether it is")                                  \
    MEMBER(real,   sd,     (),     ">0",         "the spread")                                     \
    MEMBER(real,   loss,   (),     ">=0 none",   "where it is known")                              \
    MEMBER(choice, method, (),     "exact|fast", "how it was made")                                \
    MEMBER(vector, share,  (n),    "0..1 sums",  "parts of one")                                   \
    MEMBER(matrix, row,    (n, p), "0..1 sums",  "parts of one in each row")                       \
    MEMBER(vector, cut,    (p),    "rises",      "in order")                                       \
    MEMBER(vector, extra,  (n),    "none any",   "absent, or anything")                            \
    MEMBER(index,  start,  (n),    "rises",      "where each begins")
/* clang-format on */

CRI_RECORD(thing, THING_STATE, int made; /* not in the file */);
#define CRI_TYPE thing
static const cri_member record[] = { THING_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static void fill(cr_ctx *cx, thing *t)
{
    *t = (thing){ .n = 2, .p = 3, .ready = true, .sd = 0.1, .loss = NAN, .method = 1, .made = 7 };
    assert_ok(cx, cri_record_allocate(cx, record, t));
    assert_null(t->extra);
    for (size_t i = 0; i < 2; i++) {
        t->share[i] = 0.25 + 0.5 * (double)i;
        t->start[i] = i * ((size_t)1 << 40);
        for (size_t j = 0; j < 3; j++)
            t->row[3 * i + j] = j == i ? 0.5 : 0.25, t->cut[j] = (double)j;
    }
}

TEST(saved_and_loaded)
{
    thing t, u = { 0 };
    fill(cx, &t);
    assert_ok(cx, there_and_back(cx, record, &t, &u));
    assert_true(u.n == 2 && u.p == 3 && u.ready && u.sd == 0.1 && isnan(u.loss) && u.method == 1);
    assert_true(!u.extra && u.made == 0);
    assert_memory_equal(t.share, u.share, 2 * sizeof(double));
    assert_memory_equal(t.row, u.row, 6 * sizeof(double));
    assert_memory_equal(t.cut, u.cut, 3 * sizeof(double));
    assert_memory_equal(t.start, u.start, 2 * sizeof(size_t));
    cri_record_free(cx, record, &t);
    cri_record_free(cx, record, &u);
    assert_null(u.share);
}

TEST(copied)
{
    thing t, u = { 0 };
    fill(cx, &t);
    assert_ok(cx, cri_record_copy(cx, record, &t, &u));
    assert_true(u.n == 2 && u.p == 3 && u.ready && u.sd == 0.1 && isnan(u.loss) && u.method == 1);
    assert_true(u.row != t.row && u.start != t.start && !u.extra);
    assert_memory_equal(t.row, u.row, 6 * sizeof(double));
    assert_memory_equal(t.start, u.start, 2 * sizeof(size_t));
    cri_record_free(cx, record, &t);
    cri_record_free(cx, record, &u);
}

/* What an earlier version wrote of it: neither the later count nor the part. */
#define OLD_STATE(MEMBER) MEMBER(real, width, (), ">0", "of a bin")
#define NEW_STATE(MEMBER)                                                                          \
    OLD_STATE(MEMBER)                                                                              \
    MEMBER(count, bins, (), "0..9 later", "of a histogram")                                        \
    MEMBER(part, inner, (thing), "none", "a thing")
static const cri_member thing_record[] = {
#define CRI_TYPE thing
    THING_STATE(CRI_RECORD_ROW) CRI_RECORD_END
#undef CRI_TYPE
};
CRI_RECORD(renewed, NEW_STATE);
#define CRI_TYPE renewed
static const cri_member old_record[] = { OLD_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
static const cri_member new_record[] = { NEW_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

TEST(older_files_lack_what_came_later)
{
    renewed    old = { .width = 2, .bins = 5 }, now = { .bins = 7 };
    cri_store *store = NULL;
    assert_ok(cx, cri_store_new(cx, &store));
    assert_ok(cx, cri_record_write(cx, old_record, &old, store, cri_store_json(store)));
    assert_ok(cx, cri_record_read(cx, new_record, store, cri_store_json(store), &now));
    assert_true(now.width == 2 && now.bins == 0 && now.inner.n == 0 && !now.inner.row);
    assert_ok(cx, there_and_back(cx, new_record, &now, &old));
    assert_true(old.width == 2 && old.bins == 0 && !old.inner.row);
    cri_store_free(cx, store);

    old.bins = 5;
    fill(cx, &old.inner);
    assert_ok(cx, there_and_back(cx, new_record, &old, &now));
    assert_true(now.bins == 5 && now.inner.n == 2 && now.inner.share[1] == 0.75);
    cri_record_free(cx, new_record, &old);
    cri_record_free(cx, new_record, &now);
}

/* What files say in other words: gaps, infinity, and lengths that only the arrays have. */
/* clang-format off */
#define LINE_STATE(MEMBER)                                                                         \
    MEMBER(real,   sd,    (),     ">=0 minus", "of the noise")                                     \
    MEMBER(real,   dof,   (),     ">0 endless", "of sd")                                           \
    MEMBER(count,  p,     (),     "found",     "terms")                                            \
    MEMBER(vector, coef,  (p),    "as:line/b", "of each")                                          \
    MEMBER(vector, error, (p),    ">=0 minus", "its standard error")                               \
    MEMBER(count,  q,     (),     "found",     "p, or one more")                                   \
    MEMBER(matrix, cov,   (q, q), "none told", "of all")                                           \
    MEMBER(count,  kind,  (),     "0..3 spare", "of the errors")                                   \
    MEMBER(real,   logs,  (),     "spare",     "of the weights")
/* clang-format on */
CRI_RECORD(line, LINE_STATE);
#define CRI_TYPE line
static const cri_member line_record[] = { LINE_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static void check_line(cr_ctx *cx, const line *from)
{
    line to = { 0 };
    assert_ok(cx, there_and_back(cx, line_record, from, &to));
    assert_true(isnan(to.sd) && isinf(to.dof) && to.p == 2 && to.q == (from->cov ? 3 : 0));
    assert_true(to.coef[1] == 4 && isnan(to.error[0]) && to.error[1] == 5);
    assert_true(!to.cov == !from->cov && (!to.cov || to.cov[8] == 6));
    assert_true(to.kind == from->kind && to.logs == from->logs);
    cri_record_free(cx, line_record, &to);
}

TEST(other_words_in_the_file)
{
    double coef[] = { 3, 4 }, error[] = { NAN, 5 }, cov[9] = { [8] = 6 };
    line   from = { .sd = NAN, .dof = INFINITY, .p = 2, .q = 3, .coef = coef, .error = error };
    check_line(cx, &from);
    from.cov = cov;
    from.kind = 2;
    from.logs = -0.5;
    check_line(cx, &from);
}

/* Arrays that contradict each other, and one that is not there. */
TEST(lengths_that_disagree)
{
    double     x[3] = { 0 };
    line       to = { 0 };
    cri_store *store = NULL;
    json_t    *root;
    assert_ok(cx, cri_store_new(cx, &store));
    root = cri_store_json(store);
    json_object_set_new(root, "sd", json_real(1));
    json_object_set_new(root, "dof", json_null());
    assert_fails_with(cx, cri_record_read(cx, line_record, store, root, &to), CR_EDATA,
                      "the array 'line/b' is missing");
    assert_true(to.p == 0 && to.q == 0);
    assert_ok(cx, cri_store_put_vector(cx, store, "line/b", x, 0));
    assert_ok(cx, cri_store_put_vector(cx, store, "error", x, 3));
    assert_fails_with(cx, cri_record_read(cx, line_record, store, root, &to), CR_EDATA,
                      "the array 'error' is");
    cri_record_free(cx, line_record, &to);
    cri_store_free(cx, store);
}

/* Texts, codes and triangles: the file has whole numbers as doubles, and no zeros above a diagonal. */
/* clang-format off */
#define FORM_STATE(MEMBER)                                                                         \
    MEMBER(text,   name,   (),      "as:title",  "what it is called")                              \
    MEMBER(text,   remark, (),      "none",      "what is said of it")                             \
    MEMBER(count,  n,      (),      "",          "rows")                                           \
    MEMBER(count,  nk,     (),      "found",     "n k")                                            \
    MEMBER(count,  c,      (),      "found",     "categories")                                     \
    MEMBER(codes,  code,   (n, c),  "full",      "levels")                                         \
    MEMBER(matrix, factor, (nk, n), "triangle",  "k lower triangles")                              \
    MEMBER(vector, slope,  (n),     "any listed", "of each row")
/* clang-format on */
CRI_RECORD(form, FORM_STATE);
#define CRI_TYPE form
static const cri_member form_record[] = { FORM_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* k triangles of n rows, whose entries count up. */
static cr_status fill_form(cr_ctx *cx, size_t n, size_t k, form *f)
{
    cr_status st = CR_OK;
    *f = (form){ .n = n, .nk = n * k, .c = 2, .name = cri_string_copy(cx, "a form") };
    if (!f->name) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_allocate(cx, form_record, f));
    for (size_t i = 0; i < n * 2; i++) f->code[i] = UINT32_MAX - (uint32_t)i;
    for (size_t i = 0; i < n; i++) f->slope[i] = i == 1 ? (double)NAN : (double)i;
    for (size_t i = 0; i < f->nk; i++)
        for (size_t j = 0; j <= i % n; j++) f->factor[i * n + j] = (double)(i * n + j + 1);
done:
    return st;
}

TEST(texts_codes_and_triangles)
{
    static const size_t sizes[][2] = { { 3, 1 }, { 4, 2 }, { 5, 3 }, { 1, 2 }, { 0, 0 } };
    for (size_t k = 0; k < 5; k++) {
        form   f = { 0 }, g = { 0 }, h = { 0 };
        size_t n = sizes[k][0];
        assert_ok(cx, fill_form(cx, n, sizes[k][1], &f));
        assert_ok(cx, there_and_back(cx, form_record, &f, &g));
        assert_ok(cx, cri_record_copy(cx, form_record, &g, &h));
        assert_string_equal(h.name, "a form");
        assert_true(h.name != g.name && !g.remark && !h.remark && h.nk == f.nk);
        assert_true(!g.code == (n == 0) && g.c == (n > 0 ? 2 : 0));
        if (n > 0) assert_memory_equal(f.code, h.code, n * 2 * sizeof *f.code);
        for (size_t i = 0; i < n; i++)
            assert_true(i == 1 ? isnan(h.slope[i]) : h.slope[i] == (double)i);
        if (n > 0) assert_memory_equal(f.factor, h.factor, f.nk * n * sizeof *f.factor);
        cri_record_free(cx, form_record, &f);
        cri_record_free(cx, form_record, &g);
        cri_record_free(cx, form_record, &h);
        assert_true(!h.name && !h.code);
    }
}

/* The file of a form in which a member was set, or an array put in the place of another. */
static void check_form(cr_ctx *cx, const char *array, const double *x, size_t rows, size_t cols,
                       const char *json, const char *said)
{
    form       f = { 0 }, g = { 0 }, some;
    cri_store *store = NULL;
    assert_ok(cx, cri_store_new(cx, &store));
    if (array && cols > 0) assert_ok(cx, cri_store_put_matrix(cx, store, array, x, rows, cols));
    if (array && cols == 0) assert_ok(cx, cri_store_put_vector(cx, store, array, x, rows));
    assert_ok(cx, fill_form(cx, 2, 2, &f));
    some = f;
    if (array && strcmp(array, "code") == 0) some.code = NULL;
    if (array && strcmp(array, "factor") == 0) some.factor = NULL;
    assert_ok(cx, cri_record_write(cx, form_record, &some, store, cri_store_json(store)));
    json_t *other = json_loads(json, 0, NULL);
    json_object_update(cri_store_json(store), other);
    assert_fails_with(cx, cri_record_read(cx, form_record, store, cri_store_json(store), &g),
                      CR_EDATA, said);
    json_decref(other);
    cri_store_free(cx, store);
    cri_record_free(cx, form_record, &f);
    cri_record_free(cx, form_record, &g);
}

TEST(wrong_forms_are_refused)
{
    const double half[] = { 0, 1.5, 0, 0 }, large[] = { 0, 0, 0, 0x1p32 };
    const double below[] = { 1, 2, 3, 4, 5, 0 }, few[] = { 1, 2, 3, 4, 5 };
    check_form(cx, "code", half, 2, 2, "{}", "the array 'code' contains 1.5");
    check_form(cx, "code", large, 2, 2, "{}", "the array 'code' contains 4.29497e+09");
    check_form(cx, "factor", below, 6, 0, "{}", "'factor' (k lower triangles)");
    check_form(cx, "factor", few, 5, 0, "{}", "'factor'");
    check_form(cx, "factor", below, 3, 0, "{\"n\": 1}", "'code'");
    check_form(cx, NULL, NULL, 0, 0, "{\"slope\": [1]}", "'slope' has 1 numbers, not 2");
    check_form(cx, NULL, NULL, 0, 0, "{\"slope\": 1}", "'slope'");
    check_form(cx, NULL, NULL, 0, 0, "{\"title\": 3}", "'title'");
    check_form(cx, NULL, NULL, 0, 0, "{\"remark\": 3}", "'remark'");
}

/* One thing wrong in a struct that is right. */
static void check_refused(cr_ctx *cx, void (*spoil)(thing *t), const char *name)
{
    thing t, u = { 0 };
    char  text[64];
    fill(cx, &t);
    spoil(&t);
    snprintf(text, sizeof text, "'%s'", name);
    assert_fails_with(cx, there_and_back(cx, record, &t, &u), CR_EDATA, text);
    assert_string_equal(cri_record_find_wrong(record, &t)->name, name);
    cri_record_free(cx, record, &t);
    cri_record_free(cx, record, &u);
}

static void negative_sd(thing *t) { t->sd = 0; }
static void missing_sd(thing *t) { t->sd = NAN; }
static void negative_loss(thing *t) { t->loss = -1; }
static void share_below_one(thing *t) { t->share[1] = 0.7; }
static void share_above_one(thing *t) { t->share[0] = -0.5, t->share[1] = 1.5; }
static void row_below_one(thing *t) { t->row[4] = 0; }
static void cut_falls(thing *t) { t->cut[2] = 0.5; }
static void start_falls(thing *t) { t->start[1] = 0, t->start[0] = 1; }

TEST(wrong_values_are_refused)
{
    check_refused(cx, negative_sd, "sd");
    check_refused(cx, missing_sd, "sd");
    check_refused(cx, negative_loss, "loss");
    check_refused(cx, share_below_one, "share");
    check_refused(cx, share_above_one, "share");
    check_refused(cx, row_below_one, "row");
    check_refused(cx, cut_falls, "cut");
    check_refused(cx, start_falls, "start");
}

/* Another choice, a count that is none, and an index that is no whole number in the file itself. */
TEST(wrong_files_are_refused)
{
    static const char *const texts[] = { "{\"method\": \"slow\"}", "{\"ready\": 3}",
                                         "{\"n\": -1}" };
    static const char *const names[] = { "'method' is 'slow', not one of exact|fast",
                                         "'ready' is neither true nor false", "'n'" };
    for (size_t k = 0; k < 3; k++) {
        thing      t, u = { 0 };
        cri_store *store = NULL;
        fill(cx, &t);
        assert_ok(cx, cri_store_new(cx, &store));
        assert_ok(cx, cri_record_write(cx, record, &t, store, cri_store_json(store)));
        json_t *other = json_loads(texts[k], 0, NULL);
        json_object_update(cri_store_json(store), other);
        assert_fails_with(cx, cri_record_read(cx, record, store, cri_store_json(store), &u),
                          CR_EDATA, names[k]);
        json_decref(other);
        cri_store_free(cx, store);
        cri_record_free(cx, record, &t);
        cri_record_free(cx, record, &u);
    }
    static const cri_member as_numbers[] = { { "start", CRI_MEMBER_vector, offsetof(thing, cut),
                                               offsetof(thing, n), 0, "", "", NULL },
                                             CRI_RECORD_END };
    static const cri_member as_index[] = { { "start", CRI_MEMBER_index, offsetof(thing, start),
                                             offsetof(thing, n), 0, "", "", NULL },
                                           CRI_RECORD_END };
    double                  half[] = { 0, 1.5 };
    thing                   t = { .n = 2, .cut = half }, u = { .n = 2 };
    cri_store              *store = NULL;
    assert_ok(cx, cri_store_new(cx, &store));
    assert_ok(cx, cri_record_write(cx, as_numbers, &t, store, cri_store_json(store)));
    assert_fails_with(cx, cri_record_read(cx, as_index, store, cri_store_json(store), &u), CR_EDATA,
                      "the array 'start' contains 1.5");
    cri_store_free(cx, store);
}

static cr_status live(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    thing     t = { .n = 2, .p = 3, .sd = 1, .loss = 2 }, u = { 0 };
    form      f = { 0 }, g = { 0 }, h = { 0 };
    (void)arg;
    CR_TRY(cri_record_allocate(cx, record, &t));
    t.share[0] = 1, t.row[0] = t.row[3] = 1;
    CR_TRY(there_and_back(cx, record, &t, &u));
    CR_TRY(fill_form(cx, 2, 2, &f));
    CR_TRY(there_and_back(cx, form_record, &f, &g));
    CR_TRY(cri_record_copy(cx, form_record, &g, &h));
done:
    cri_record_free(cx, form_record, &f);
    cri_record_free(cx, form_record, &g);
    cri_record_free(cx, form_record, &h);
    cri_record_free(cx, record, &t);
    cri_record_free(cx, record, &u);
    return st;
}

TEST(allocations) { test_every_allocation_fails(live, NULL); }
