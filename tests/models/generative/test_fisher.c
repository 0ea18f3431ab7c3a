/* test_fisher.c -- Fisher's discriminants: eigenvectors by their equation, scikit-learn's
 * eigenvalues, the direction of two classes, lda as the full case, coordinates. */
#include "classes.h"

enum { N = 120, P = 4, K = 3 };

/* W and B in long double from rows of weight w. */
static void scatters(const double *X, const double *y, const double *w, long double *W,
                     long double *B)
{
    long double n[K] = { 0 }, mean[K][P] = { { 0 } }, all[P] = { 0 }, total = 0;
    for (size_t i = 0; i < N; i++) {
        n[(size_t)y[i]] += w[i];
        total += w[i];
        for (size_t j = 0; j < P; j++) {
            mean[(size_t)y[i]][j] += (long double)w[i] * X[i * P + j];
            all[j] += (long double)w[i] * X[i * P + j];
        }
    }
    memset(W, 0, P * P * sizeof *W);
    memset(B, 0, P * P * sizeof *B);
    for (size_t k = 0; k < K; k++)
        for (size_t j = 0; j < P; j++) mean[k][j] /= n[k];
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < P; b++) {
            for (size_t i = 0; i < N; i++) {
                const long double *m = mean[(size_t)y[i]];
                W[a * P + b] += w[i] * (X[i * P + a] - m[a]) * (X[i * P + b] - m[b]);
            }
            for (size_t k = 0; k < K; k++)
                B[a * P + b] +=
                    n[k] * (mean[k][a] - all[a] / total) * (mean[k][b] - all[b] / total);
        }
}

static double direction(const json_t *d, size_t axis, size_t term)
{
    char name[64];
    snprintf(name, sizeof name, "z%zu: x%zu", axis, term);
    return parameter(d, name, "value");
}

/* B w = lambda W w,  w' W w = n - K,  different axes orthogonal in W, eigenvalues falling. */
TEST(eigenvectors)
{
    double      X[N * P], y[N], w[N], total = 0, last = INFINITY;
    long double W[P * P], B[P * P];
    draw_classes(1, N, P, K, X, y, w);
    for (size_t i = 0; i < N; i++) total += w[i];
    scatters(X, y, w, W, B);
    cr_table *t = make_table(cx, X, N, P, y, w);
    cr_model *m = fit(cx, "fisher", t, "target=y weights=w");
    json_t   *d = describe(cx, m);
    double    wilks = 1;
    assert_close(statistic(d, "dimensions"), 2, 0);
    for (size_t axis = 1; axis <= 2; axis++) {
        char name[64];
        snprintf(name, sizeof name, "eigenvalue(z%zu)", axis);
        double lambda = statistic(d, name), size = 0, cross = 0, most = 0;
        assert_true(lambda <= last);
        last = lambda;
        wilks /= 1 + lambda;
        for (size_t a = 0; a < P; a++) {
            long double left = 0, right = 0, scale = 0;
            for (size_t b = 0; b < P; b++) {
                left += B[a * P + b] * direction(d, axis, b + 1);
                right += W[a * P + b] * direction(d, axis, b + 1);
                scale += fabsl(B[a * P + b] * direction(d, axis, b + 1));
                cross += (double)W[a * P + b] * direction(d, 1, a + 1) * direction(d, 2, b + 1);
                size +=
                    (double)W[a * P + b] * direction(d, axis, a + 1) * direction(d, axis, b + 1);
            }
            assert_true(fabsl(left - lambda * right) < 1e-10L * scale);
            double share = direction(d, axis, a + 1) * sqrt((double)W[a * P + a]);
            if (fabs(share) > fabs(most)) most = share;
        }
        assert_relative(size, total - K, 1e-10);
        assert_close(cross / total, 0, 1e-10);
        assert_true(most > 0);
    }
    assert_relative(statistic(d, "wilks_lambda"), wilks, 1e-12);
}

/* Two classes: the direction is that of W^-1 (m1 - m0). */
TEST(two_classes)
{
    double      X[N * P], y[N], w[N];
    long double W[P * P], rhs[P], n[2] = { 0 }, mean[2][P] = { { 0 } };
    draw_classes(2, N, P, 2, X, y, w);
    for (size_t i = 0; i < N; i++) {
        w[i] = 1;
        n[(size_t)y[i]] += 1;
        for (size_t j = 0; j < P; j++) mean[(size_t)y[i]][j] += X[i * P + j];
    }
    memset(W, 0, sizeof W);
    for (size_t j = 0; j < P; j++) mean[0][j] /= n[0], mean[1][j] /= n[1];
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b < P; b++)
                W[a * P + b] +=
                    (X[i * P + a] - mean[(size_t)y[i]][a]) * (X[i * P + b] - mean[(size_t)y[i]][b]);
    for (size_t j = 0; j < P; j++) rhs[j] = mean[1][j] - mean[0][j];
    solve_dense(P, W, rhs, 1);
    cr_table *t = make_table(cx, X, N, P, y, NULL);
    cr_model *m = fit(cx, "fisher", t, "target=y");
    json_t   *d = describe(cx, m);
    double    ratio = direction(d, 1, 1) / (double)rhs[0];
    for (size_t j = 1; j < P; j++)
        assert_relative(direction(d, 1, j + 1), ratio * (double)rhs[j], 1e-10);
}

/* Coordinates by their definition; the classes' places are their means; unit variance within. */
TEST(coordinates)
{
    double X[N * P], y[N], w[N], Z[N * 2], mean[K][2] = { { 0 } }, n[K] = { 0 }, S[4] = { 0 };
    draw_classes(5, N, P, K, X, y, w);
    cr_table          *t = make_table(cx, X, N, P, y, NULL);
    cr_model          *m = fit(cx, "fisher", t, "target=y"), *l = fit(cx, "lda", t, "target=y");
    json_t            *d = describe(cx, m);
    size_t             q = 0;
    const char *const *names = cr_transform_labels(m, &q);
    assert_int_equal(q, 2);
    assert_string_equal(names[0], "z1");
    assert_string_equal(names[1], "z2");
    assert_ok(cx, cr_transform(cx, m, t, Z));
    for (size_t i = 0; i < N; i++) {
        n[(size_t)y[i]]++;
        for (size_t a = 0; a < 2; a++) mean[(size_t)y[i]][a] += Z[i * 2 + a];
    }
    for (size_t k = 0; k < K; k++)
        for (size_t a = 0; a < 2; a++) {
            char name[64];
            mean[k][a] /= n[k];
            snprintf(name, sizeof name, "z%zu | %zu", a + 1, k);
            assert_close(mean[k][a], parameter(d, name, "value"), 1e-12);
            assert_close(1 / sqrt(n[k]), parameter(d, name, "sd"), 1e-12);
        }
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < 2; a++)
            for (size_t b = 0; b < 2; b++)
                S[a * 2 + b] += (Z[i * 2 + a] - mean[(size_t)y[i]][a]) *
                                (Z[i * 2 + b] - mean[(size_t)y[i]][b]) / (N - K);
    for (size_t a = 0; a < 4; a++) assert_close(S[a], a % 3 == 0, 1e-12);
    double difference = Z[0] - Z[2], want = 0; /* linear in x */
    for (size_t j = 0; j < P; j++) want += direction(d, 1, j + 1) * (X[j] - X[P + j]);
    assert_close(difference, want, 1e-11);
    assert_null(cr_transform_labels(l, &q));
    assert_int_equal(q, 0);
    assert_fails_with(cx, cr_transform(cx, l, t, Z), CR_EUNSUPPORTED, "lda has no coordinates");
    assert_true(cr_class_offers(cr_model_get_class(m), "transform"));
    assert_false(cr_class_offers(cr_model_get_class(l), "transform"));
}

/* All directions: lda.  Fewer: the nearest class in the coordinates that are left. */
TEST(classes)
{
    double X[N * P], y[N], w[N], Z[N];
    draw_classes(8, N, P, K, X, y, w);
    cr_table     *t = make_table(cx, X, N, P, y, w);
    const char   *settings = "target=y weights=w priors=0=0.2,1=0.3,2=0.5 shrinkage=0.2";
    cr_model     *m = fit(cx, "fisher", t, settings), *l = fit(cx, "lda", t, settings);
    cr_prediction a = predict(cx, m, t), b = predict(cx, l, t);
    assert_same_answers(&a, &b, 1e-11);
    cr_model_free(cx, m), cr_model_free(cx, l);

    m = fit(cx, "fisher", t, "target=y priors=uniform dimensions=1");
    json_t *d = describe(cx, m);
    a = predict(cx, m, t);
    assert_ok(cx, cr_transform(cx, m, t, Z));
    for (size_t i = 0; i < N; i++) {
        double p[K], sum = 0;
        for (size_t k = 0; k < K; k++) {
            char name[64];
            snprintf(name, sizeof name, "z1 | %zu", k);
            double off = Z[i] - parameter(d, name, "value");
            sum += p[k] = exp(-off * off / 2);
        }
        for (size_t k = 0; k < K; k++) assert_close(a.prob[i * K + k], p[k] / sum, 1e-11);
    }
}

TEST(reference)
{
    json_t *cases = reference_cases(cx, "gda"), *item;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        json_t *want =
            json_object_get(json_object_get(item, "expected"), "fisher_eigenvalues_Sw^-1_Sb");
        if (!want) continue;
        split_case c = run_case(cx, item, "fisher", "");
        json_t    *d = describe(cx, c.model);
        assert_relative(statistic(d, "eigenvalue(z1)"), element(want, 0), 1e-9);
        assert_relative(statistic(d, "eigenvalue(z2)"), element(want, 1), 1e-9);
        check_case(item, &c, 1e-7);
        end_case(cx, &c);
    }
}

TEST(corners)
{
    warnings  heard = { 0 };
    cr_model *m = NULL;
    size_t    q = 0;
    cr_table *t = table_of_text(cx, "t.csv", "x,c\n1,a\n2,a\n4,b\n5,b\n7,d\n9,d\n");
    cr_table *gap = table_of_text(cx, "g.csv", "x,c\n1,a\n,a\n4,b\n");
    cr_table *one = table_of_text(cx, "o.csv", "x,c\n1,a\n2,a\n");
    double    z[3] = { 7, 7, 7 };
    cr_ctx_set_log(cx, keep_warning, &heard);
    m = fit(cx, "fisher", t, "target=c dimensions=2 missing=drop"); /* one column: one direction */
    cr_transform_labels(m, &q);
    assert_int_equal(q, 1);
    assert_non_null(strstr(heard.text, "there are at most 1 directions"));
    assert_ok(cx, cr_transform(cx, m, gap, z));
    assert_true(isfinite(z[0]) && isnan(z[1]) && isfinite(z[2]));
    cr_model_free(cx, m);
    assert_fails_with(cx, try_fit(cx, "fisher", one, "target=c", &m), CR_EDATA, "only one class");
}
