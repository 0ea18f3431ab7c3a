/* test_sandwich.c -- HC0 to HC3 and the covariance of coefficients against the dense formulas in long
 * double: A^-1 (sum c z z') A^-1 with A = Z'WZ, as R's sandwich and statsmodels have them. */
#include "../life.h"

#include "models/glm/family.h"

enum { N = 70, P = 3, Q = P + 1 };

static void draw(double *X, double *y, double *w)
{
    cr_rng r = cr_rng_stream(5, 1);
    for (size_t i = 0; i < N; i++) {
        double mean = 2;
        for (size_t j = 0; j < P; j++) {
            X[i * P + j] = (j == 1 ? 30 : 1) * (cr_rng_normal(&r) + 2 * (double)j);
            mean += (j == 1 ? 0.02 : -0.4) * X[i * P + j];
        }
        y[i] = mean + (0.2 + fabs(X[i * P])) * cr_rng_normal(&r);
        w[i] = 1 + (double)(i % 3);
    }
}

/* V [q x q]: the formula of `kind`, from the rows' scores and the weights of A; h is the leverage of
 * one row of weight `each`. */
static void dense(size_t q, const double *X, const double *score, const double *times,
                  const double *information, const double *each, double n, int kind, double *V)
{
    long double A[Q * Q] = { 0 }, B[Q * Q] = { 0 }, M[Q * Q] = { 0 };
    size_t      one = q == Q;
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) {
                double za = one && a == 0 ? 1 : X[i * P + a - one];
                double zb = one && b == 0 ? 1 : X[i * P + b - one];
                A[a * q + b] += (long double)information[i] * za * zb;
            }
    for (size_t a = 0; a < q; a++) B[a * q + a] = 1;
    solve_dense(q, A, B, q);
    for (size_t i = 0; i < N; i++) {
        long double h = 0, z[Q], c = (long double)score[i] * score[i] * times[i];
        for (size_t a = 0; a < q; a++) z[a] = one && a == 0 ? 1 : X[i * P + a - one];
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) h += z[a] * B[a * q + b] * z[b] * each[i];
        c *= kind == 1   ? n / (n - (double)q)
             : kind == 2 ? 1 / (1 - h)
             : kind == 3 ? 1 / ((1 - h) * (1 - h))
                         : 1;
        for (size_t a = 0; a < q; a++)
            for (size_t b = 0; b < q; b++) M[a * q + b] += c * z[a] * z[b];
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            long double sum = 0;
            for (size_t k = 0; k < q; k++)
                for (size_t l = 0; l < q; l++) sum += B[a * q + k] * M[k * q + l] * B[l * q + b];
            V[a * q + b] = (double)sum;
        }
}

/* The covariance of the model and the sds it shows are V. */
static void check_covariance(cr_ctx *cx, const cr_model *m, size_t q, const double *V,
                             double tolerance)
{
    double *C = NULL;
    size_t  n = 0;
    json_t *d = describe(cx, m), *list = json_object_get(d, "parameters");
    assert_ok(cx, cr_covariance(cx, m, &C, &n));
    assert_int_equal(n, q);
    for (size_t a = 0; a < q; a++) {
        for (size_t b = 0; b < q; b++)
            assert_true(fabs(C[a * q + b] - V[a * q + b]) <=
                        tolerance * sqrt(V[a * q + a] * V[b * q + b]));
        assert_relative(number_of(json_array_get(list, a), "sd"), sqrt(V[a * q + a]), tolerance);
    }
    cr_free(cx, C, n, n * sizeof(double));
}

static double score_of_row(const json_t *d, const double *X, const double *y, size_t i, bool one)
{
    double mean = one ? coefficient(d, 0, "value") : 0;
    for (size_t j = 1; j <= P; j++) mean += coefficient(d, j, "value") * X[i * P + j - 1];
    return y[i] - mean;
}

/* Least squares, weights as repetitions and as precisions, with and without an intercept, by either
 * solver, and saved and loaded. */
TEST(linear)
{
    static const char *const kinds[] = { "hc0", "hc1", "hc2", "hc3" };
    double                   X[N * P], y[N], w[N], ones[N], score[N], V[Q * Q];
    draw(X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, w);
    for (int kind = 0; kind < 4; kind++)
        for (int form = 0; form < 12; form++) {
            bool   one = form % 2, precise = form / 4 == 2, weighted = form / 4 > 0;
            char   settings[160], *bytes = NULL;
            double total = 0;
            size_t size = 0;
            snprintf(settings, sizeof settings,
                     "target=y features=x* errors=%s intercept=%s solver=%s%s%s", kinds[kind],
                     one ? "true" : "false", form / 2 % 2 ? "qr" : "gram",
                     weighted ? " weights=w" : "", precise ? " weights_are=precisions" : "");
            cr_model *m = fit(cx, "linear", t, settings), *back = NULL;
            json_t   *d = describe(cx, m);
            for (size_t i = 0; i < N; i++) {
                ones[i] = 1;
                total += weighted && !precise ? w[i] : 1;
                score[i] = score_of_row(d, X, y, i, one) * (precise ? w[i] : 1);
            }
            dense(P + one, X, score, weighted && !precise ? w : ones, weighted ? w : ones,
                  precise ? w : ones, total, kind, V);
            check_covariance(cx, m, P + one, V, 1e-9);
            assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
            assert_ok(cx, cr_model_from_bytes(cx, "it", bytes, size, &back));
            check_covariance(cx, back, P + one, V, 1e-9);
            cr_free(cx, bytes, size, 1);
            cr_model_free(cx, back);
        }
}

/* The classical one, and its units where the target is standardised. */
TEST(classical)
{
    double X[N * P], y[N], w[N], V[Q * Q];
    draw(X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, w);
    for (int scaled = 0; scaled < 2; scaled++) {
        long double A[Q * Q] = { 0 }, B[Q * Q] = { 0 };
        cr_model   *m =
            fit(cx, "linear", t,
                scaled ? "target=y features=x* scale_target=standard" : "target=y features=x*");
        json_t *d = describe(cx, m);
        double  sd = statistic(d, "residual_sd");
        for (size_t i = 0; i < N; i++)
            for (size_t a = 0; a < Q; a++)
                for (size_t b = 0; b < Q; b++)
                    A[a * Q + b] +=
                        (long double)(a ? X[i * P + a - 1] : 1) * (b ? X[i * P + b - 1] : 1);
        for (size_t a = 0; a < Q; a++) B[a * Q + a] = 1;
        solve_dense(Q, A, B, Q);
        for (size_t i = 0; i < Q * Q; i++) V[i] = (double)B[i] * sd * sd;
        check_covariance(cx, m, Q, V, 1e-9);
    }
}

/* Poisson and probit: scores (y - mu) mu' / V against their information. */
TEST(glm)
{
    double X[N * P], y[N], w[N], z[N], score[N], information[N], ones[N], V[Q * Q];
    draw(X, y, w);
    for (int c = 0; c < 4; c++) {
        bool        poisson = c % 2;
        cri_glm_law law = { poisson ? CRI_GLM_POISSON : CRI_GLM_BINOMIAL,
                            poisson ? CRI_LINK_LOG : CRI_LINK_PROBIT, 0 };
        char   settings[160];
        double total = 0;
        for (size_t i = 0; i < N; i++) z[i] = poisson ? floor(fabs(y[i])) : y[i] > 1.5, ones[i] = 1;
        cr_table *t = make_table(cx, X, N, P, z, w);
        snprintf(settings, sizeof settings,
                 "target=y features=x* weights=w family=%s link=%s errors=hc%d",
                 poisson ? "poisson" : "binomial", poisson ? "log" : "probit", c / 2);
        cr_model *m = fit(cx, "glm", t, settings);
        json_t   *d = describe(cx, m);
        for (size_t i = 0; i < N; i++) {
            double eta = z[i] - score_of_row(d, X, z, i, true);
            score[i] = cri_family_score(&law, z[i], eta);
            information[i] = w[i] * cri_family_information(&law, eta);
            total += w[i];
        }
        dense(Q, X, score, w, information, ones, total, c / 2, V);
        check_covariance(cx, m, Q, V, 1e-6); /* its information is that of the last step */
    }
}

/* What has none says so; a model whose errors come from all residuals cannot be updated. */
TEST(refusals)
{
    double    X[N * P], y[N], w[N], *C = NULL;
    size_t    n = 0;
    cr_model *more = NULL;
    draw(X, y, w);
    cr_table *t = make_table(cx, X, N, P, y, w);
    cr_model *m = fit(cx, "knn", t, "target=y features=x*");
    assert_fails_with(cx, cr_covariance(cx, m, &C, &n), CR_EUNSUPPORTED, "has no covariance");
    cr_model_free(cx, m);
    m = fit(cx, "linear", t, "target=y features=x* errors=hc0");
    assert_fails_with(cx, cr_update(cx, m, t, &more), CR_EUNSUPPORTED, "use all residuals");
}
