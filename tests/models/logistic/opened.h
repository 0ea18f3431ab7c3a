/* opened.h -- rows of a table as a linear classifier sees them, for tests of its parts. */
#ifndef CREDENCE_TEST_LOGISTIC_OPENED_H
#define CREDENCE_TEST_LOGISTIC_OPENED_H

#include "../life.h"
#include "models/logistic/solve.h"

typedef struct opened {
    cr_table           *t;
    cr_design          *d;
    cri_rows            rows;
    cri_classifier_rows x;
    uint32_t            y[4096];
} opened;

/* Classes 0 .. classes-1 by a linear score with noise; columns of unlike means and sizes. */
static inline void draw_classes(uint64_t seed, size_t n, size_t p, size_t classes, double noise,
                                double *X, double *y)
{
    cr_rng r = cr_rng_stream(seed, 78);
    draw_regression(seed, n, p, noise, X, y);
    for (size_t i = 0; i < n; i++) {
        double k = floor((y[i] - 1.7) / 1.5 + (double)classes / 2 + cr_rng_normal(&r) * noise);
        y[i] = fmin(fmax(k, 0), (double)classes - 1);
    }
}

static inline void open_classes(cr_ctx *cx, const double *X, size_t n, size_t p, const double *y,
                                const double *w, bool intercept, bool standardise, opened *a)
{
    cr_design_options o;
    assert_true(n <= 4096);
    a->t = make_table(cx, X, n, p, y, w);
    assert_ok(cx, cr_options_init(cx, cr_design_table, &o));
    assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "target", "y"));
    if (w) assert_ok(cx, cr_options_set(cx, cr_design_table, &o, "weights", "w"));
    assert_ok(cx, cri_design_fit(cx, a->t, &o, &(cri_design_needs){ .classes = true }, &a->d));
    assert_ok(cx, cri_rows_open(cx, a->d, a->t, CRI_TARGET_NEEDED, &a->rows));
    assert_ok(cx, cri_classifier_rows_new(cx, &a->rows, intercept, standardise, &a->x));
    for (size_t i = 0; i < n; i++) a->y[i] = (uint32_t)a->rows.y[i];
    cr_options_free(cx, cr_design_table, &o);
}

static inline void close_classes(cr_ctx *cx, opened *a)
{
    cri_classifier_rows_free(cx, &a->x);
    cri_rows_close(cx, &a->rows);
    cri_design_free(cx, a->d);
}

#endif
