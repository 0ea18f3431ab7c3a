/* test_conformance_rows.c -- the laws that every model keeps (conformance.h) of its rows: any order, weights as
 * repetitions, updates and streams as fits. */
#include "conformance.h"

/* --- order ------------------------------------------------------------------------------------ */

static void order_does_not_matter(cr_ctx *cx, const subject *s)
{
    size_t rows[MOST_ROWS];
    if (s->block) return;
    cr_table *t = read_table(cx, s->data);
    for (size_t i = 0; i < cr_table_rows(t); i++) rows[i] = (i * 17 + 5) % cr_table_rows(t);
    cr_table *mixed = choose_rows(cx, t, rows, cr_table_rows(t));
    cr_model *m = fit_rows(cx, s, t, "");
    compare(cx, s, m, fit_rows(cx, s, mixed, ""), t, tolerance_of(m));
}

TEST(rows_in_any_order) { for_each(ORDER, order_does_not_matter); }

/* --- weights ---------------------------------------------------------------------------------- */

/* The rows of the file with weights v of 0 to 3.  Features in a row of weight 0 are of no matter;
 * targets, exposures and counts are checked all the same, and stay. */
static cr_table *weighted_rows(cr_ctx *cx, const subject *s)
{
    bool        density = strstr(s->line, "--no-target") != NULL;
    cr_table   *t = read_table(cx, s->data);
    text_buffer b = text_new(1 << 14);
    text_put(&b, "w,g,x,z,y,v\n");
    for (size_t i = 0; i < cr_table_rows(t); i++) {
        const cr_column *w = cr_table_find(t, "w"), *x = cr_table_find(t, "x");
        const cr_column *y = cr_table_find(t, "y"), *z = cr_table_find(t, "z");
        size_t           weight = (i + 1) * 7 % 4;
        bool             none = weight == 0;
        text_put(&b, "%g,%c,%g,", none && density ? -0.5 : w->values[i * w->stride], "uvw"[i % 3],
                 none ? -0.5 : x->values[i * x->stride]);
        if (!isnan(z->values[i * z->stride]))
            text_put(&b, "%g", none ? -0.5 : z->values[i * z->stride]);
        text_put(&b, ",%g,%zu\n", y->values[i * y->stride], weight);
    }
    cr_table *weighted = table_of_text(cx, "weighted.csv", b.at);
    free(b.at);
    return weighted;
}

static void weights_are_repetitions(cr_ctx *cx, const subject *s)
{
    size_t rows[MOST_ROWS], n = 0;
    if (s->block) return;
    cr_table        *t = weighted_rows(cx, s);
    const cr_column *v = cr_table_find(t, "v");
    for (size_t i = 0; i < cr_table_rows(t); i++)
        for (double k = 0; k < v->values[i * v->stride]; k++) rows[n++] = i;
    cr_table *repeated = choose_rows(cx, t, rows, n);
    cr_model *m = fit_rows(cx, s, t, " weights=v");
    /* Where its penalty is small beside the kernel, rounding is magnified. */
    bool   digits = strcmp(s->model, "kernel-ridge") == 0 && strstr(s->line, "--terms x,x:g");
    double tolerance = digits ? 1e-7 : tolerance_of(m);
    compare(cx, s, m, fit_rows(cx, s, repeated, ""), repeated, tolerance);
}

TEST(weights_count_as_repetitions) { for_each(WEIGHTS, weights_are_repetitions); }

/* --- updates and streams ---------------------------------------------------------------------- */

static void update_is_fit(cr_ctx *cx, const subject *s)
{
    if (s->block || !cr_class_offers(s->class, "relearn")) return;
    cr_table *t = read_table(cx, s->data);
    size_t    n = cr_table_rows(t);
    cr_model *m = NULL, *first = fit_rows(cx, s, rows_between(cx, t, 0, n / 2), "");
    cr_status st = cr_update(cx, first, rows_between(cx, t, n / 2, n), &m);
    if (st == CR_EUNSUPPORTED) return; /* of this solver; it has said so */
    if (st != CR_OK) fail_msg("%s %s: %s", s->model, s->line, cr_error(cx));
    test_own(cx, m, release_model);
    assert_int_equal(cr_model_get_report(m)->rows, n);
    compare(cx, s, fit_rows(cx, s, t, ""), m, t, 1e-9);
}

TEST(an_update_is_a_fit_on_all_rows) { for_each(UPDATES, update_is_fit); }

/* Rounding alone; or how near the search of this model comes: a step of Newton's method squares the
 * error that --tol allows, a small gradient leaves its root over the curvature. */
static double tolerance_of_search(const json_t *said)
{
    const json_t *settings = json_object_get(said, "settings"), *tol;
    const json_t *solver = json_object_get(json_object_get(said, "statistics"), "solver");
    if (!solver || !(tol = json_object_get(settings, "tol"))) return 1e-9;
    double share = strtod(json_string_value(tol), NULL);
    return strcmp(json_string_value(solver), "newton") == 0 ? 1e3 * share : 100 * sqrt(share);
}

/* Where the classes are separated there is no minimum to compare: both must say by what. */
static bool is_separated(const json_t *said)
{
    const json_t *kind = json_object_get(json_object_get(said, "statistics"), "separation");
    return kind && strcmp(json_string_value(kind), "none") != 0;
}

static void compare_separation(const subject *s, const json_t *a, const json_t *b)
{
    static const char *const members[] = { "separation", "separated_by" };
    for (size_t k = 0; k < 2; k++)
        if (!json_equal(json_object_get(json_object_get(a, "statistics"), members[k]),
                        json_object_get(json_object_get(b, "statistics"), members[k])))
            break_law(s, "%s is not the same", members[k]);
}

static void stream_is_fit(cr_ctx *cx, const subject *s)
{
    cr_model *m = NULL;
    cr_status st = fit_blocks(cx, s, 9, &m);
    if (st == CR_EUNSUPPORTED || st == CR_EARG) {
        assert_true(strlen(cr_error(cx)) > 20);
        return;
    }
    if (st != CR_OK) fail_msg("%s %s: %s", s->model, s->line, cr_error(cx));
    test_own(cx, m, release_model);
    cr_table *t = read_table(cx, s->data);
    cr_model *whole = fit_rows(cx, s, t, "");
    json_t   *said = describe(cx, whole);
    if (is_separated(said))
        compare_separation(s, said, describe(cx, m));
    else
        compare(cx, s, whole, m, t, tolerance_of_search(said));
}

TEST(a_stream_is_a_fit_on_all_rows) { for_each(STREAMS, stream_is_fit); }
