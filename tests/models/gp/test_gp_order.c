/* test_gp_order.c -- more rows than a search looks at, or than there are inducing inputs: which of them are taken
 * follows from their values, not from their places, nor from how often they are there. */
#include "../fixture.h"

#include <stdio.h>

enum { MOST = 900 };

/* Rows of numbers, in another order where `mixed`, each `copies` times or of that weight. */
typedef struct rows_of {
    size_t n, d;
    double X[MOST * 2], y[MOST];
} rows_of;

/* Six classes at places around a circle. */
static void make_classes(rows_of *r)
{
    cr_rng rng = cr_rng_stream(3, 60);
    *r = (rows_of){ .n = 240, .d = 2 };
    for (size_t i = 0; i < r->n; i++) {
        double k = (double)(i % 6);
        r->X[2 * i] = 2 * cos(k) + 0.9 * cr_rng_normal(&rng);
        r->X[2 * i + 1] = 2 * sin(k) + 0.9 * cr_rng_normal(&rng);
        r->y[i] = k;
    }
}

static void make_curve(rows_of *r, size_t n)
{
    cr_rng rng = cr_rng_stream(4, 61);
    *r = (rows_of){ .n = n, .d = 1 };
    for (size_t i = 0; i < n; i++) {
        r->X[i] = 6 * cr_rng_uniform(&rng) - 3;
        r->y[i] = sin(2 * r->X[i]) + 0.3 * cr_rng_normal(&rng);
    }
}

static cr_table *table_of(cr_ctx *cx, const rows_of *r, bool mixed, size_t copies, bool weights)
{
    static double X[2 * MOST * 2], y[2 * MOST], w[2 * MOST];
    size_t        n = r->n * (weights ? 1 : copies);
    for (size_t i = 0; i < n; i++) {
        size_t from = (mixed ? i * 17 + 5 : i) % r->n;
        for (size_t j = 0; j < r->d; j++) X[i * r->d + j] = r->X[from * r->d + j];
        y[i] = r->y[from];
        w[i] = (double)copies;
    }
    return make_table(cx, X, n, r->d, y, weights ? w : NULL);
}

static double evidence_of(cr_ctx *cx, const char *model, cr_table *t, const char *settings)
{
    return cr_model_get_report(fit(cx, model, t, settings))->log_evidence;
}

static void check_order(cr_ctx *cx, const char *model, const rows_of *r, const char *settings)
{
    double here = evidence_of(cx, model, table_of(cx, r, false, 1, false), settings);
    double mixed = evidence_of(cx, model, table_of(cx, r, true, 1, false), settings);
    if (!(fabs(here - mixed) <= 1e-6 * fabs(here)))
        fail_msg("%s %s: log evidence %.10g, and %.10g in another order", model, settings, here,
                 mixed);
}

static void check_weights(cr_ctx *cx, const char *model, const rows_of *r, const char *settings)
{
    char with[256];
    snprintf(with, sizeof with, "%s weights=w", settings);
    double twice = evidence_of(cx, model, table_of(cx, r, false, 2, false), settings);
    double heavy = evidence_of(cx, model, table_of(cx, r, true, 2, true), with);
    if (!(fabs(twice - heavy) <= 1e-6 * fabs(twice)))
        fail_msg("%s %s: log evidence %.10g of rows twice, and %.10g of weight 2", model, settings,
                 twice, heavy);
}

TEST(six_classes_in_any_order)
{
    static rows_of r;
    make_classes(&r);
    check_order(cx, "gp-classify", &r, "target=y inducing=12 max_iter=6 hyper=map");
    check_weights(cx, "gp-classify", &r, "target=y inducing=12 max_iter=6 hyper=map");
    check_order(cx, "gp-classify", &r, "target=y infer=laplace max_iter=2 hyper=map");
}

TEST(two_classes_in_any_order)
{
    static rows_of r;
    make_classes(&r);
    for (size_t i = 0; i < r.n; i++) r.y[i] = r.y[i] > 2;
    check_order(cx, "gp-classify", &r, "target=y infer=laplace max_iter=4 hyper=map");
    check_order(cx, "gp-classify", &r, "target=y approx=svgp inducing=12 max_iter=6");
    check_weights(cx, "gp-classify", &r, "target=y approx=svgp inducing=12 max_iter=6");
}

/* More rows than the 512 that a search looks at. */
TEST(inducing_inputs_in_any_order)
{
    static const char *const approx[] = { "vfe", "dtc", "sor", "fitc", "svgp", "nystrom" };
    static rows_of           r;
    make_curve(&r, 600);
    for (size_t i = 0; i < sizeof approx / sizeof *approx; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "target=y approx=%s inducing=12 max_iter=3", approx[i]);
        check_order(cx, "gp", &r, settings);
        if (strcmp(approx[i], "fitc") !=
            0) /* whose rows are not merged: its search sees fewer inputs */
            check_weights(cx, "gp", &r, settings);
    }
    check_order(cx, "gp", &r, "target=y approx=vfe inducing=6 optimize_inducing=true max_iter=5");
}

TEST(first_batch_in_any_order)
{
    static rows_of r;
    make_curve(&r, 600);
    check_order(cx, "gp-online", &r, "target=y inducing=12 max_iter=5");
    check_weights(cx, "gp-online", &r, "target=y inducing=12 max_iter=5");
    check_order(cx, "gp-online", &r, "target=y method=basis inducing=12 max_iter=5");
}
