/* test_lasso_levels.c -- a category of many levels comes to the lasso as sparse rows: cell by cell
 * the indicators, and the answers of the same indicators as columns of numbers. */
#include "../life.h"
#include "data/design/design_internal.h"
#include "models/core/model_internal.h"

#include <stdio.h>

enum { N = 700, LEVELS = 230 };

/* The level of row i: all levels occur. */
static size_t level_of(size_t i) { return i * i % 1009 % LEVELS; }

/* x, the category or its indicators against the first level, z, y; with gaps in the category. */
static char *write_rows(bool indicators, bool gaps)
{
    cr_rng      r = cr_rng_stream(8, 1);
    text_buffer t = text_new((N + 1) * (LEVELS * 8 + 100));
    text_put(&t, "x,");
    for (size_t k = 1; indicators && k < LEVELS; k++) text_put(&t, "i%03zu,", k);
    if (!indicators) text_put(&t, "g,");
    text_put(&t, "z,y\n");
    for (size_t i = 0; i < N; i++) {
        size_t level = level_of(i);
        double x = cr_rng_normal(&r), z = i % 3 ? 0 : cr_rng_normal(&r);
        double y = x - 2 * z + (double)(level % 7) / 2 + cr_rng_normal(&r);
        text_put(&t, "%.15g,", x);
        for (size_t k = 1; indicators && k < LEVELS; k++) text_put(&t, "%d,", level == k);
        if (!indicators && gaps && i % 50 == 7)
            text_put(&t, ",");
        else if (!indicators)
            text_put(&t, "g%03zu,", level);
        text_put(&t, "%.15g,", z);
        text_put(&t, "%.15g\n", y);
    }
    return t.at;
}

static cr_table *make(cr_ctx *cx, bool indicators, bool gaps)
{
    char     *csv = write_rows(indicators, gaps);
    cr_table *t = table_of_text(cx, "levels.csv", csv);
    free(csv);
    return t;
}

/* Every cell by the entries and by the columns, also where gaps are filled or rows left out. */
TEST(cells)
{
    const char *const settings[] = { "target=y lambda=0.1 missing=impute",
                                     "target=y lambda=0.1 missing=drop" };
    for (size_t k = 0; k < 2; k++) {
        cr_ctx    *own = test_context();
        cr_table  *t = make(own, false, true);
        cr_model  *m = fit(own, "lasso", t, settings[k]);
        cr_design *d = m->design;
        cri_rows   sparse, dense;
        size_t     p = cr_design_terms(d), most = 0;
        assert_true(d->sparse_levels);
        assert_ok(own, cri_rows_open(own, d, t, CRI_TARGET_NEEDED, &sparse));
        d->sparse_levels = false;
        assert_ok(own, cri_rows_open(own, d, t, CRI_TARGET_NEEDED, &dense));
        assert_non_null(sparse.sparse);
        assert_null(dense.sparse);
        assert_int_equal(sparse.n, dense.n);
        assert_true(k == 0 || sparse.n < N);
        double *a = malloc(p * sizeof *a), *b = malloc(p * sizeof *b);
        for (size_t i = 0; i < sparse.n; i++) {
            size_t end, begin = cri_sparse_row(sparse.sparse, i, &end);
            most = end - begin > most ? end - begin : most;
            cri_rows_fill(&sparse, i, i + 1, a, p);
            cri_rows_fill(&dense, i, i + 1, b, p);
            assert_memory_equal(a, b, p * sizeof *a);
        }
        assert_int_equal(most, 3); /* x, the level, z */
        free(a);
        free(b);
        cri_rows_close(own, &sparse);
        cri_rows_close(own, &dense);
        test_context_free(own);
    }
}

/* Few levels stay as they were. */
TEST(few_levels)
{
    cr_table *t = table_of_text(cx, "few.csv", "g,y\na,1\nb,2\na,2\nc,3\nb,1\n");
    cr_model *m = fit(cx, "lasso", t, "target=y lambda=0.1");
    assert_false(m->design->sparse_levels);
}

TEST(same_answers)
{
    cr_table   *t = make(cx, false, false), *wide = make(cx, true, false);
    const char *settings = "target=y path=20 cv_folds=3 solver=columns";
    cr_model   *m = fit(cx, "lasso", t, settings), *n = fit(cx, "lasso", wide, settings), *again;
    char       *bytes = NULL;
    size_t      size = 0;
    assert_true(m->design->sparse_levels && !n->design->sparse_levels);
    cr_prediction p = predict(cx, m, t), q = predict(cx, n, wide);
    for (size_t i = 0; i < N; i++) {
        assert_close(p.mean[i], q.mean[i], 1e-8);
        assert_relative(p.scale[i], q.scale[i],
                        1e-6); /* by the error of the folds, as exact as the path */
    }
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    assert_ok(cx, cr_model_from_bytes(cx, "again", bytes, size, &again));
    assert_true(again->design->sparse_levels);
    cr_prediction r = predict(cx, again, t);
    assert_memory_equal(p.mean, r.mean, N * sizeof(double));
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, again);
}

/* So many terms in the working set that sparse columns are solved without their cross-products. */
TEST(most_levels_selected)
{
    cr_table   *t = make(cx, false, false), *wide = make(cx, true, false);
    const char *settings = "target=y scale=none lambda=2e-4 path=20 solver=columns";
    cr_model   *m = fit(cx, "lasso", t, settings), *n = fit(cx, "lasso", wide, settings);
    assert_true(statistic(describe(cx, m), "nonzero") > 190);
    cr_prediction p = predict(cx, m, t), q = predict(cx, n, wide);
    for (size_t i = 0; i < N; i++) assert_close(p.mean[i], q.mean[i], 1e-8);
}

/* The indicators of all levels but one add up to nearly a constant: single coordinates creep along
 * that direction, and there are more terms than equations are written down for. */
TEST(more_levels_than_equations)
{
    enum { ROWS = 6000, MANY = 2000 };
    cr_rng      r = cr_rng_stream(9, 1);
    text_buffer t = text_new(ROWS * 40);
    double      effect[MANY];
    text_put(&t, "g,y\n");
    for (size_t k = 0; k < MANY; k++) effect[k] = cr_rng_normal(&r);
    for (size_t i = 0; i < ROWS; i++) {
        size_t level = i < MANY ? i : (size_t)(cr_rng_uniform(&r) * MANY);
        text_put(&t, "g%04zu,%.9g\n", level, effect[level] + cr_rng_normal(&r));
    }
    cr_table       *table = table_of_text(cx, "many.csv", t.at);
    cr_model       *m = fit(cx, "lasso", table, "target=y lambda=1e-4 path=30");
    const cr_report report = m->report;
    assert_int_equal(report.stop, CR_STOP_TOLERANCE);
    assert_true(report.iterations <= 1000); /* 585, by single coordinates 2267 */
    free(t.at);
}

TEST(allocations)
{
    cr_table *t = make(cx, false, false);
    check_every_allocation(t, "lasso", "target=y lambda=0.5 path=3");
}
