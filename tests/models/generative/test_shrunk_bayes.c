/* test_shrunk_bayes.c -- naive Bayes whose classes lean on all rows: predictives as ratios of marginal likelihoods under
 * the prior, the rows that the prior is worth by a finer grid, and probabilities that come true with few rows. */
#include "classes.h"

#include "models/core/parts.h"

enum { K = 3, P = 2, MOST = 240 };

typedef struct rows_of {
    size_t n, classes;
    double X[MOST * P], y[MOST];
} rows_of;

/* Classes whose means are `apart` sds from their middle. */
static void draw(rows_of *r, uint64_t seed, size_t n, size_t classes, double apart)
{
    cr_rng rng = cr_rng_stream(seed, 91);
    double mean[K * P];
    draw_normals(&rng, mean, K * P);
    *r = (rows_of){ .n = n, .classes = classes };
    for (size_t i = 0; i < n; i++) {
        size_t k = i < classes ? i : (size_t)cr_rng_below(&rng, classes);
        r->y[i] = (double)k;
        for (size_t j = 0; j < P; j++)
            r->X[i * P + j] = apart * mean[k * P + j] + cr_rng_normal(&rng);
    }
}

/* --- sums ------------------------------------------------------------------------------------ */

typedef struct sums {
    long double n, mean, S;
} sums;

/* Of column j over class k, or over all rows, k = K. */
static sums sum_of(const rows_of *r, size_t j, size_t k)
{
    sums s = { 0 };
    for (size_t i = 0; i < r->n; i++)
        if (k == K || r->y[i] == (double)k) s.n++, s.mean += r->X[i * P + j];
    s.mean /= s.n;
    for (size_t i = 0; i < r->n; i++)
        if (k == K || r->y[i] == (double)k) s.S += powl(r->X[i * P + j] - s.mean, 2);
    return s;
}

static long double within(const rows_of *r, size_t j)
{
    long double sum = 0;
    for (size_t k = 0; k < r->classes; k++) sum += sum_of(r, j, k).S;
    return sum;
}

/* --- rows that the prior is worth ------------------------------------------------------------- */

/* log L of log c by its definition, means y_k with covariance v (1/c + 1/n_k), on 4001 points. */
static double prior_rows(const rows_of *r)
{
    long double sum = 0, mean = 0, top = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i <= 4000; i++) {
            long double t = -4.6L + 11.5L * (long double)i / 4000, c = expl(t), l = -t * t / 8;
            for (size_t j = 0; j < P; j++) {
                long double logs = 0, a = 0, b = 0, q = 0, W = within(r, j);
                for (size_t k = 0; k < r->classes; k++) {
                    sums        s = sum_of(r, j, k);
                    long double w = 1 / (1 / c + 1 / s.n);
                    logs += logl(w), a += w, b += w * s.mean, q += w * s.mean * s.mean;
                }
                l += (logs - logl(a) - ((long double)r->n - 1) * logl(1 + (q - b * b / a) / W)) / 2;
            }
            if (pass == 0 && (i == 0 || l > top)) top = l;
            if (pass == 1) sum += expl(l - top), mean += t * expl(l - top);
        }
    return (double)expl(mean / sum);
}

static double said_rows(cr_ctx *cx, const cr_model *m)
{
    json_t *s = json_object_get(describe(cx, m), "statistics");
    return json_number_value(json_object_get(s, "prior_rows"));
}

TEST(prior_rows_follow_the_classes)
{
    static const double apart[] = { 0, 0.5, 1, 4 };
    double              before = INFINITY;
    static rows_of      r;
    for (size_t i = 0; i < 4; i++) {
        draw(&r, 5, 60, K, apart[i]);
        cr_model *m = fit(cx, "naive-bayes", make_table(cx, r.X, r.n, P, r.y, NULL), "target=y");
        double    c = said_rows(cx, m);
        assert_relative(c, prior_rows(&r), 0.02);
        assert_true(c < before);
        before = c;
    }
}

/* --- predictives ------------------------------------------------------------------------------ */

/* Of the rows of class k in column j, under a prior of c rows at m and of 3 with variance v. */
static long double log_marginal(const rows_of *r, size_t j, size_t k, long double c, long double m,
                                long double v)
{
    sums        s = sum_of(r, j, k);
    long double all = c + s.n, nu = 3 + s.n;
    long double square = 3 * v + s.S + c * s.n / all * powl(s.mean - m, 2);
    return lgammal(nu / 2) - logl(all) / 2 - nu / 2 * logl(square);
}

/* The probability of each class of a row as the ratio of marginal likelihoods with and without it. */
TEST(predictive_is_ratio_of_marginals_under_the_prior)
{
    static rows_of r, more;
    draw(&r, 8, 25, K, 1);
    cr_model *m =
        fit(cx, "naive-bayes", make_table(cx, r.X, r.n, P, r.y, NULL), "target=y priors=uniform");
    double        c = said_rows(cx, m), x[P] = { 0.7, -1.2 };
    cr_prediction p = predict(cx, m, make_table(cx, x, 1, P, NULL, NULL));
    long double   l[K], sum = 0;
    for (size_t k = 0; k < K; k++) {
        more = r;
        more.y[r.n] = (double)k;
        memcpy(more.X + r.n * P, x, sizeof x);
        more.n++;
        l[k] = 0;
        for (size_t j = 0; j < P; j++) {
            long double mean = sum_of(&r, j, K).mean, v = within(&r, j) / (r.n - K);
            l[k] += log_marginal(&more, j, k, c, mean, v) - log_marginal(&r, j, k, c, mean, v);
        }
        sum += expl(l[k]);
    }
    for (size_t k = 0; k < K; k++) assert_close(p.prob[k], (double)(expl(l[k]) / sum), 1e-11);
}

/* Counts: a gamma prior of one row at the mean over all.  p(x) = Gamma(x + a) / Gamma(a) / x! (b / (b + 1))^a (b + 1)^-x. */
TEST(counts_lean_on_all_rows)
{
    double        x[] = { 0, 1, 0, 2, 5, 7 }, y[] = { 0, 0, 0, 0, 1, 1 }, at[] = { 3 };
    cr_model     *m = fit(cx, "naive-bayes", make_table(cx, x, 6, 1, y, NULL),
                          "target=y numbers=poisson priors=uniform");
    cr_prediction p = predict(cx, m, make_table(cx, at, 1, 1, NULL, NULL));
    double        l[2], n[] = { 4, 2 }, sum[] = { 3, 12 };
    for (size_t k = 0; k < 2; k++) {
        double a = sum[k] + 15.0 / 6, b = n[k] + 1;
        l[k] = exp(lgamma(3 + a) - lgamma(a) + a * log(b / (b + 1)) - 3 * log(b + 1));
    }
    assert_close(p.prob[0], l[0] / (l[0] + l[1]), 1e-12);
}

/* --- probabilities that come true ------------------------------------------------------------- */

typedef struct score {
    double sure, right, loss;
} score;

static score simulate(cr_ctx *cx, size_t n, double apart, const char *settings)
{
    enum { NEW = 40, RUNS = 150 };
    static rows_of r;
    score          s = { 0 };
    double         all = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        draw(&r, 100 + run, n + NEW, 2, apart);
        cr_model     *m = fit(cx, "naive-bayes", make_table(cx, r.X, n, P, r.y, NULL), settings);
        cr_table     *u = make_table(cx, r.X + n * P, NEW, P, NULL, NULL);
        cr_prediction p = predict(cx, m, u);
        for (size_t i = 0; i < NEW; i++, all++) {
            const double *q = p.prob + 2 * i;
            size_t        best = q[1] > q[0];
            s.sure += q[best];
            s.right += (double)best == r.y[n + i];
            s.loss -= log(fmax(q[(size_t)r.y[n + i]], 1e-12));
        }
        cr_prediction_free(cx, &p);
        cr_table_free(cx, u);
        cr_model_free(cx, m);
    }
    return (score){ s.sure / all, s.right / all, s.loss / all };
}

/* Few rows of classes that are half a sd from their middle, one sd, and nothing apart. */
TEST(sure_as_often_as_right)
{
    static const double apart[] = { 0.5, 1, 0 }, gap[] = { 0.13, 0.06, 0.19 };
    static const size_t sizes[] = { 12, 20, 40 };
    FILE *f = getenv("CREDENCE_CALIBRATION") ? fopen(getenv("CREDENCE_CALIBRATION"), "w") : NULL;
    for (size_t a = 0; a < 3; a++)
        for (size_t i = 0; i < 3; i++) {
            score s = simulate(cx, sizes[i], apart[a], "target=y");
            score plain = simulate(cx, sizes[i], apart[a], "target=y predictive=plugin");
            if (f)
                fprintf(f, "| %g | %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", apart[a],
                        sizes[i], plain.sure, plain.right, plain.loss, s.sure, s.right, s.loss);
            if (!(s.sure - s.right < gap[a] && s.sure - s.right > -0.03))
                fail_msg("%zu rows, %g apart: %.3f sure, %.3f right", sizes[i], apart[a], s.sure,
                         s.right);
            assert_true(s.loss < plain.loss && s.right > plain.right - 0.01);
        }
    if (f) fclose(f);
}
