/* test_record_shapes.c -- records of all sizes, none among them: made, saved, loaded and freed. */
#include "record_file.h"

/* clang-format off */
#define THING_STATE(MEMBER)                                                                        \
    MEMBER(count,  n,      (),     "",         "rows")                                             \
    MEMBER(count,  p,      (),     "",         "columns")                                          \
    MEMBER(flag,   flag,   (),     "",         "")                                                 \
    MEMBER(real,   real,   (),     "any none", "")                                                 \
    MEMBER(real,   hole,   (),     "any none", "")                                                 \
    MEMBER(vector, vector, (n),    "any",      "")                                                 \
    MEMBER(matrix, matrix, (n, p), "any",      "")                                                 \
    MEMBER(matrix, maybe,  (p, p), "any none", "")
/* clang-format on */
CRI_RECORD(thing, THING_STATE);
#define CRI_TYPE thing
static const cri_member record[] = { THING_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static cr_status make(cr_ctx *cx, size_t n, size_t p, bool maybe, thing *t)
{
    cr_status st = CR_OK;
    *t = (thing){ .n = n, .p = p, .flag = true, .real = -0.1, .hole = NAN };
    CR_TRY(cri_record_allocate(cx, record, t));
    if (maybe && !(t->maybe = cr_alloc(cx, p * p, sizeof(double)))) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) t->vector[i] = 1 / (double)(i + 3);
    for (size_t i = 0; i < n * p; i++) t->matrix[i] = sqrt((double)i);
    for (size_t i = 0; maybe && i < p * p; i++) t->maybe[i] = -(double)i;
done:
    return st;
}

static void check_copy(size_t n, size_t p, bool maybe)
{
    cr_ctx *cx = test_context();
    thing   a, b = { 0 };
    assert_ok(cx, make(cx, n, p, maybe, &a));
    assert_ok(cx, there_and_back(cx, record, &a, &b));
    assert_int_equal(b.n, n);
    assert_int_equal(b.p, p);
    assert_true(b.flag && b.real == -0.1 && isnan(b.hole));
    if (n > 0) assert_memory_equal(a.vector, b.vector, n * sizeof(double));
    if (n * p > 0) assert_memory_equal(a.matrix, b.matrix, n * p * sizeof(double));
    assert_int_equal(b.maybe != NULL, maybe);
    if (maybe && p > 0) assert_memory_equal(a.maybe, b.maybe, p * p * sizeof(double));
    cri_record_free(cx, record, &a);
    cri_record_free(cx, record, &b);
    assert_null(b.vector);
    cri_record_free(cx, record, &b); /* once more does no harm */
    test_context_free(cx);
}

TEST(round_trip)
{
    check_copy(5, 3, true);
    check_copy(5, 3, false);
    check_copy(1, 1, true);
    check_copy(0, 3, false);
    check_copy(4, 0, true);
    check_copy(0, 0, true);
}

TEST(allocated_is_zero)
{
    thing t = { .n = 3, .p = 2 };
    assert_ok(cx, cri_record_allocate(cx, record, &t));
    for (size_t i = 0; i < 6; i++) assert_true(t.matrix[i] == 0 && t.vector[i / 2] == 0);
    assert_null(t.maybe);
    cri_record_free(cx, record, &t);
    t = (thing){ .n = SIZE_MAX / 4, .p = 5 };
    assert_fails(cx, cri_record_allocate(cx, record, &t), CR_ENOMEM);
    cri_record_free(cx, record, &t);
}

/* --- what a file may hold -------------------------------------------------------------------- */

static void check_refused(const char *text, bool arrays, const char *said)
{
    cr_ctx    *cx = test_context();
    cri_store *s = NULL;
    json_t    *in = json_loads(text, 0, NULL);
    double     a[12] = { 0 };
    thing      t = { 0 };
    assert_non_null(in);
    assert_ok(cx, cri_store_new(cx, &s));
    if (arrays) {
        assert_ok(cx, cri_store_put_vector(cx, s, "vector", a, 3));
        assert_ok(cx, cri_store_put_matrix(cx, s, "matrix", a, 3, 2));
    }
    check_status(cx, cri_record_read(cx, record, s, in, &t), said ? CR_EDATA : CR_OK, said, text,
                 __FILE__, __LINE__);
    cri_record_free(cx, record, &t);
    json_decref(in);
    cri_store_free(cx, s);
    test_context_free(cx);
}

TEST(hostile_files)
{
    check_refused("{\"n\": 3, \"p\": 2, \"flag\": true, \"real\": 1, \"hole\": null}", true, NULL);
    check_refused("{\"n\": 3, \"p\": 2, \"flag\": true, \"real\": 1, \"hole\": null}", false,
                  "vector");
    check_refused("{\"n\": 4, \"p\": 2, \"flag\": true, \"real\": 1, \"hole\": 0}", true, "vector");
    check_refused("{\"n\": 3, \"p\": 3, \"flag\": true, \"real\": 1, \"hole\": 0}", true, "matrix");
    check_refused("{\"p\": 2, \"flag\": true, \"real\": 1, \"hole\": 0}", true, "n");
    check_refused("{\"n\": -1, \"p\": 2, \"flag\": true, \"real\": 1, \"hole\": 0}", true, "n");
    check_refused("{\"n\": 3, \"p\": 2, \"flag\": 7, \"real\": 1, \"hole\": 0}", true, "flag");
    check_refused("{\"n\": 3, \"p\": 2, \"real\": 1, \"hole\": 0}", true, "flag");
    check_refused("{\"n\": 3, \"p\": 2, \"flag\": true, \"real\": \"x\", \"hole\": 0}", true,
                  "real");
    check_refused("{\"n\": 3, \"p\": 2, \"flag\": true, \"hole\": 0}", true, "real");
    /* sizes whose product, or whose bytes, overflow */
    check_refused(
        "{\"n\": 4611686018427387904, \"p\": 8, \"flag\": true, \"real\": 1, \"hole\": 0}", true,
        "");
    check_refused(
        "{\"n\": 3, \"p\": 4611686018427387904, \"flag\": true, \"real\": 1, \"hole\": 0}", true,
        "'matrix' is too large");
    check_refused(
        "{\"n\": 9223372036854775807, \"p\": 1, \"flag\": true, \"real\": 1, \"hole\": 0}", true,
        "'vector' is too large");
}

/* --- failing allocations --------------------------------------------------------------------- */

static cr_status make_and_copy(cr_ctx *cx, void *arg)
{
    thing     a = { 0 }, b = { 0 };
    cr_status st = make(cx, 4, 2, true, &a);
    (void)arg;
    if (st == CR_OK) st = there_and_back(cx, record, &a, &b);
    cri_record_free(cx, record, &a);
    cri_record_free(cx, record, &b);
    return st;
}

TEST(allocations) { test_every_allocation_fails(make_and_copy, NULL); }
