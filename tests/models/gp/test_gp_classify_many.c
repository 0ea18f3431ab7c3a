/* test_gp_classify_many.c -- probabilities of three classes from few rows, of functions drawn from a process: they come
 * true as often as they say, and lose less than the shares of the classes. */
#include "../fixture.h"
#include "models/core/parts.h"

enum { ROWS = 40, NEW = 20, ALL = ROWS + NEW, CLASSES = 3 };

/* f [n x CLASSES] from processes of variance 2 and length-scale 1 at X [n x d]. */
static void draw_functions(cr_rng *r, const double *X, size_t n, size_t d, double *f)
{
    static double L[ALL * ALL];
    double        z[ALL];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double square = 0;
            for (size_t a = 0; a < d; a++) square += pow(X[i * d + a] - X[j * d + a], 2);
            double sum = 2 * exp(-square / 2) + (i == j ? 1e-8 : 0);
            for (size_t k = 0; k < j; k++) sum -= L[i * ALL + k] * L[j * ALL + k];
            L[i * ALL + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / L[j * ALL + j];
        }
    for (size_t c = 0; c < CLASSES; c++) {
        draw_normals(r, z, n);
        for (size_t i = 0; i < n; i++) {
            f[i * CLASSES + c] = 0;
            for (size_t j = 0; j <= i; j++) f[i * CLASSES + c] += L[i * ALL + j] * z[j];
        }
    }
}

/* How sure of the predicted class, how often right by the true probabilities, log losses, and the share of 95 % intervals
 * that hold these. */
typedef struct score {
    double sure, right, loss, shares, held;
} score;

static void add_row(const double *q, const double *p, const double *share, score *s)
{
    size_t best = 0;
    for (size_t c = 1; c < CLASSES; c++) best = q[c] > q[best] ? c : best;
    s->sure += q[best];
    s->right += p[best];
    for (size_t c = 0; c < CLASSES; c++) {
        s->loss -= p[c] * log(fmax(q[c], 1e-12));
        s->shares -= p[c] * log(share[c]);
    }
}

static score simulate(cr_ctx *cx, size_t n, size_t d, size_t runs)
{
    score  s = { 0 };
    double all = 0;
    for (uint64_t run = 0; run < runs; run++) {
        cr_rng r = cr_rng_stream(run, 70 + n + 1000 * d);
        double X[ALL * 2], p[ALL * CLASSES], y[ALL], low[NEW * CLASSES], high[NEW * CLASSES];
        double share[CLASSES];
        for (size_t i = 0; i < (n + NEW) * d; i++) X[i] = 4 * cr_rng_uniform(&r) - 2;
        draw_functions(&r, X, n + NEW, d, p);
        for (size_t c = 0; c < CLASSES; c++) share[c] = 1 / (double)(n + CLASSES);
        for (size_t i = 0; i < n + NEW; i++) {
            double sum = 0, u = cr_rng_uniform(&r), *row = p + i * CLASSES;
            for (size_t c = 0; c < CLASSES; c++) sum += row[c] = exp(row[c]);
            for (size_t c = 0; c < CLASSES; c++) row[c] /= sum;
            size_t k = 0;
            while (k + 1 < CLASSES && (u -= row[k]) > 0) k++;
            y[i] = (double)(i < CLASSES ? i : k); /* each class is there */
            if (i < n) share[(size_t)y[i]] += 1 / (double)(n + CLASSES);
        }
        cr_model     *m = fit(cx, "gp-classify", make_table(cx, X, n, d, y, NULL),
                              "target=y task=classification");
        cr_table     *u = make_table(cx, X + n * d, NEW, d, NULL, NULL);
        cr_prediction q = predict(cx, m, u);
        assert_ok(cx, cr_predict_probability_intervals(cx, m, u, 0.95, low, high));
        for (size_t i = 0; i < NEW; i++, all++) {
            const double *at = p + (n + i) * CLASSES;
            add_row(q.prob + i * CLASSES, at, share, &s);
            for (size_t c = 0; c < CLASSES; c++)
                s.held += (low[i * CLASSES + c] <= at[c] && at[c] <= high[i * CLASSES + c]) /
                          (double)CLASSES;
        }
    }
    return (score){ s.sure / all, s.right / all, s.loss / all, s.shares / all, s.held / all };
}

/* What is reached with 200 tables each is on the page. */
TEST(three_classes_come_true)
{
    static const size_t sizes[] = { 10, 20, 40 };
    bool                show = getenv("CREDENCE_SHOW") != NULL;
    size_t              runs = show ? 200 : simulation_size(10, 25);
    for (size_t d = 1; d <= 2; d++) {
        score all = { 0 };
        for (size_t k = 0; k < 3; k++) {
            score s = simulate(cx, sizes[k], d, runs);
            if (show)
                printf("| %zu | %zu | %.2f | %.2f | %.2f | %.2f | %.2f |\n", d, sizes[k], s.sure,
                       s.right, s.loss, s.shares, s.held);
            all.sure += s.sure / 3, all.right += s.right / 3;
            all.loss += s.loss / 3, all.shares += s.shares / 3;
        }
        assert_true(all.sure - all.right < 0.06 && all.sure - all.right > -0.12);
        assert_true(all.loss < all.shares + 0.01);
    }
}
