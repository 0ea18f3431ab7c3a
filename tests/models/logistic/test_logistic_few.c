/* test_logistic_few.c -- logistic regression says where its rows are too few for its slopes: by how much it is too sure
 * is held against classes that were drawn anew. */
#include "../fixture.h"

enum { MOST = 400, NEW = 200, P = 3 };

/* Rows of P standard normal columns, of which the first has slope 1. */
static void draw(cr_rng *r, size_t n, double *X, double *y)
{
    draw_normals(r, X, n * P);
    for (size_t i = 0; i < n; i++) y[i] = cr_rng_uniform(r) < 1 / (1 + exp(-X[i * P]));
}

typedef struct outcome {
    size_t warned, fits;
    double sure, right; /* of new rows, where it warns */
} outcome;

static outcome try_rows(cr_ctx *cx, const char *model, size_t n, size_t times, const char *settings)
{
    outcome out = { 0 };
    for (size_t run = 0; run < times; run++) {
        static double X[MOST * P], y[MOST];
        cr_rng        r = cr_rng_stream(n, run);
        warnings      heard = { 0 };
        cr_model     *m = NULL;
        draw(&r, n, X, y);
        cr_table *t = make_table(cx, X, n, P, y, NULL);
        cr_ctx_set_log(cx, keep_warning, &heard);
        cr_status st = try_fit(cx, model, t, settings, &m);
        cr_ctx_set_log(cx, NULL, NULL);
        if (st != CR_OK) continue;
        out.fits++;
        if (!strstr(heard.text, "too sure")) {
            cr_model_free(cx, m);
            continue;
        }
        out.warned++;
        draw(&r, NEW, X, y);
        cr_table     *u = make_table(cx, X, NEW, P, NULL, NULL);
        cr_prediction p = predict(cx, m, u);
        for (size_t i = 0; i < NEW; i++) {
            size_t best = p.prob[2 * i + 1] > 0.5;
            out.sure += p.prob[2 * i + best] / NEW;
            out.right += (y[i] == (double)best) / (double)NEW;
        }
        cr_model_free(cx, m);
    }
    return out;
}

TEST(few_rows)
{
    static const char *const models[] = { "logistic", "probit" };
    for (size_t k = 0; k < 2; k++) {
        outcome o = try_rows(cx, models[k], 15, 60, "target=y task=classification");
        if (3 * o.warned < o.fits) /* in others a class is separated, which is said instead */
            fail_msg("%s: %zu of %zu warn", models[k], o.warned, o.fits);
        double gap = (o.sure - o.right) / (double)o.warned;
        if (!(gap > 0.08)) fail_msg("%s: where it warns it is too sure by %.3f", models[k], gap);
    }
}

TEST(silence)
{
    assert_int_equal(try_rows(cx, "logistic", 200, 20, "target=y task=classification").warned, 0);
    assert_int_equal(
        try_rows(cx, "logistic", 15, 20, "target=y task=classification lambda=0.1").warned, 0);
}

/* The share is 1 - slopes / (2 gain of log likelihood). */
TEST(share)
{
    static double X[MOST * P], y[MOST];
    cr_rng        r = cr_rng_stream(5, 1);
    warnings      heard = { 0 };
    double        ones = 0, n = 30, said;
    draw(&r, 30, X, y);
    for (size_t i = 0; i < 30; i++) ones += y[i];
    cr_ctx_set_log(cx, keep_warning, &heard);
    cr_model *m =
        fit(cx, "logistic", make_table(cx, X, 30, P, y, NULL), "target=y task=classification");
    cr_ctx_set_log(cx, NULL, NULL);
    double      null = ones * log(ones / n) + (n - ones) * log(1 - ones / n);
    double      share = 1 - P / (2 * (cr_model_get_report(m)->log_likelihood - null));
    const char *at = strstr(heard.text, "about ");
    assert_true(at && sscanf(at, "about %lf", &said) == 1);
    assert_close(said, fmax(share, 0), 0.02);
}
