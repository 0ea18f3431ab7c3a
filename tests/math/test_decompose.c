/* test_decompose.c -- factors put together again, orthogonality, known spectra, rank, refusals. */
#include "matrices.h"
#include "math/dense/decompose.h"

/* max |X^T X - I| over the columns of X. */
static double orthogonality(cr_mat X)
{
    double worst = 0;
    for (size_t a = 0; a < X.cols; a++)
        for (size_t b = 0; b <= a; b++) {
            long double sum = a == b ? -1 : 0;
            for (size_t i = 0; i < X.rows; i++)
                sum += (long double)*entry(X, i, a) * *entry(X, i, b);
            worst = fmax(worst, fabs((double)sum));
        }
    return worst;
}

/* max |A - U diag(s) V^T|, over the lower triangle alone when asked. */
static double rebuilt_error(cr_mat A, cr_mat U, const double *s, cr_mat V, bool lower)
{
    double worst = 0;
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < (lower ? i + 1 : A.cols); j++) {
            long double sum = -(long double)*entry(A, i, j);
            for (size_t k = 0; k < U.cols; k++)
                sum += (long double)*entry(U, i, k) * s[k] * *entry(V, j, k);
            worst = fmax(worst, fabs((double)sum));
        }
    return worst;
}

static void assert_signs(cr_mat V)
{
    for (size_t j = 0; j < V.cols; j++) {
        size_t best = 0;
        for (size_t i = 1; i < V.rows; i++)
            if (fabs(*entry(V, i, j)) > fabs(*entry(V, best, j))) best = i;
        assert_true(*entry(V, best, j) > 0);
    }
}

/* --- eigenvalues ----------------------------------------------------------------------------- */

TEST(eigen_rebuilds)
{
    const size_t sizes[] = { 0, 1, 2, 3, 20, 110 };
    uint64_t     seed = 1;
    for (size_t t = 0; t < 6; t++) {
        size_t n = sizes[t];
        cr_mat A = random_matrix(n, n, 2, &seed), V = random_matrix(n, n, 1, &seed);
        for (size_t i = 0; i < n; i++) /* the upper triangle is not read */
            for (size_t j = i + 1; j < n; j++) *entry(A, i, j) = NAN;
        cr_mat  before = copy_of(A);
        double *w = numbers(n);
        assert_ok(cx, cr_eigen(cx, cr_const(A), w, V));
        for (size_t j = 1; j < n; j++) assert_true(w[j - 1] <= w[j]);
        assert_true(orthogonality(V) < 1e-13);
        assert_true(rebuilt_error(A, V, w, V, true) < 1e-13 * (double)(n + 1));
        assert_signs(V);
        assert_padding_kept(V);
        assert_same_bits(A, before);
        free(A.a), free(V.a), free(before.a), free(w);
    }
}

/* Large ones go by narrower panels; all is well far from 1, too.  A v = w v, and a trace. */
TEST(eigen_of_a_thousand_rows)
{
    enum { N = 1010 };
    const double sizes[] = { 1, 1e-200, 1e200 };
    uint64_t     seed = 5;
    cr_mat       A = random_matrix(N, N, 0, &seed), V = random_matrix(N, N, 0, &seed);
    double      *w = numbers(N), *w1 = numbers(N), trace = 0, sum = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++) *entry(A, j, i) = *entry(A, i, j);
    for (size_t t = 0; t < 3; t++) {
        for (size_t i = 0; i < N * N; i++) A.a[i] *= sizes[t];
        assert_ok(cx, cr_eigen(cx, cr_const(A), t ? w : w1, V));
        for (size_t j = 0; t && j < N; j++) assert_close(w[j] / sizes[t], w1[j], 1e-10);
        for (size_t i = 0; i < N * N; i++) A.a[i] /= sizes[t];
        for (size_t k = 0; k < N; k += 97)
            for (size_t i = 0; i < N; i++) {
                long double off = -(long double)w1[k] * *entry(V, i, k);
                for (size_t j = 0; j < N; j++)
                    off += (long double)*entry(A, i, j) * *entry(V, j, k);
                assert_true(fabsl(off) < 1e-11L);
            }
    }
    for (size_t i = 0; i < N; i++) trace += *entry(A, i, i), sum += w1[i];
    assert_close(sum, trace, 1e-9);
    cr_ctx_set_time_limit(cx, 0.02);
    assert_int_equal(cr_eigen(cx, cr_const(A), w, V), CR_ENOMEM);
    free(A.a), free(V.a), free(w), free(w1);
}

/* The second difference matrix: w_j = 2 - 2 cos(pi j / (n + 1)), j = 1 .. n. */
TEST(eigen_known)
{
    enum { N = 12 };
    double a[N * N] = { 0 }, w[N], v[N * N];
    for (size_t i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i) a[i * N + i - 1] = -1;
    }
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(a, N, N), w, cr_mat_of(v, N, N)));
    for (size_t j = 0; j < N; j++)
        assert_close(w[j], 2 - 2 * cos(M_PI * (double)(j + 1) / (N + 1)), 1e-14);

    double swap[4] = { 0, 9, 1,
                       0 }; /* eigenvectors (1, -1) and (1, 1): ties, the first is positive */
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(swap, 2, 2), w, cr_mat_of(v, 2, 2)));
    assert_close(w[0], -1, 1e-15);
    assert_close(w[1], 1, 1e-15);
    assert_true(fabs(fabs(v[0]) - sqrt(0.5)) < 1e-15 && v[1] > 0 && v[3] > 0 && v[0] * v[2] < 0);
}

/* --- singular values ------------------------------------------------------------------------- */

TEST(svd_rebuilds)
{
    const size_t shapes[][2] = { { 0, 0 }, { 0, 3 }, { 3, 0 }, { 1, 1 },   { 1, 6 },
                                 { 6, 1 }, { 9, 4 }, { 4, 9 }, { 30, 30 }, { 150, 20 } };
    uint64_t     seed = 2;
    for (size_t t = 0; t < 10; t++) {
        size_t  m = shapes[t][0], n = shapes[t][1], k = m < n ? m : n;
        cr_mat  A = random_matrix(m, n, 2, &seed), before = copy_of(A);
        cr_mat  U = random_matrix(m, k, 1, &seed), V = random_matrix(n, k, 3, &seed);
        double *s = numbers(k);
        assert_ok(cx, cr_svd(cx, cr_const(A), U, s, V));
        for (size_t j = 0; j < k; j++) assert_true(s[j] >= 0 && (j == 0 || s[j] <= s[j - 1]));
        assert_true(orthogonality(U) < 1e-13 && orthogonality(V) < 1e-13);
        assert_true(rebuilt_error(A, U, s, V, false) < 1e-13);
        assert_signs(V);
        assert_padding_kept(U);
        assert_padding_kept(V);
        assert_same_bits(A, before);
        free(A.a), free(before.a), free(U.a), free(V.a), free(s);
    }
}

TEST(svd_known)
{
    double a[6] = { 3, 2, 2, 2, 3, -2 }, u[4], s[2], v[6]; /* A A^T has eigenvalues 25 and 9 */
    assert_ok(cx, cr_svd(cx, cr_cmat_of(a, 2, 3), cr_mat_of(u, 2, 2), s, cr_mat_of(v, 3, 2)));
    assert_close(s[0], 5, 1e-14);
    assert_close(s[1], 3, 1e-14);
    double huge[1] = { -1e300 }, one[1], value[1], right[1];
    assert_ok(cx, cr_svd(cx, cr_cmat_of(huge, 1, 1), cr_mat_of(one, 1, 1), value,
                         cr_mat_of(right, 1, 1)));
    assert_true(one[0] == -1 && right[0] == 1 && value[0] == 1e300);
}

/* --- QR -------------------------------------------------------------------------------------- */

/* A P = Q R, by applying Q to the columns of R. */
static void check_qr(cr_ctx *cx, size_t m, size_t n)
{
    uint64_t seed = 3 + m * 7 + n;
    cr_mat   A = random_matrix(m, n, 2, &seed);
    size_t   k = m < n ? m : n;
    cr_qr    qr;
    double  *b = numbers(m), *c = numbers(m);
    assert_ok(cx, cr_qr_new(cx, cr_const(A), -1, &qr));
    assert_int_equal(qr.rank, k);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < m; i++) b[i] = i <= j ? qr.factors[j * m + i] : 0;
        memcpy(c, b, m * sizeof *b);
        assert_ok(cx, cr_qr_apply(cx, &qr, false, b));
        for (size_t i = 0; i < m; i++) assert_close(b[i], *entry(A, i, qr.pivot[j]), 1e-13);
        assert_ok(cx, cr_qr_apply(cx, &qr, true, b));
        for (size_t i = 0; i < m; i++) assert_close(b[i], c[i], 1e-13);
        if (j > 0 && j < k) /* pivoting: the diagonal does not grow */
            assert_true(fabs(qr.factors[j * m + j]) <=
                        fabs(qr.factors[(j - 1) * m + j - 1]) * (1 + 1e-12));
    }
    cr_qr_free(cx, &qr);
    free(A.a), free(b), free(c);
}

TEST(qr_rebuilds)
{
    const size_t shapes[][2] = { { 0, 0 }, { 0, 3 }, { 3, 0 }, { 1, 1 },   { 1, 4 },
                                 { 4, 1 }, { 9, 5 }, { 5, 9 }, { 70, 70 }, { 200, 30 } };
    for (size_t t = 0; t < 10; t++) check_qr(cx, shapes[t][0], shapes[t][1]);
}

/* Large ones go by panels of their own. */
TEST(qr_of_many_rows)
{
    check_qr(cx, 12000, 95);
    check_qr(cx, 300, 700);
}

TEST(qr_solves)
{
    uint64_t seed = 5;
    cr_mat   A = random_matrix(40, 6, 0, &seed);
    double   x[6] = { 1.5, -2, 3, 0.25, -5, 6 }, b[40], r[6], t[6];
    cr_qr    qr;
    for (size_t i = 0; i < 40; i++) {
        b[i] = 0;
        for (size_t j = 0; j < 6; j++) b[i] += *entry(A, i, j) * x[j];
    }
    assert_ok(cx, cr_qr_new(cx, cr_const(A), -1, &qr));
    assert_ok(cx, cr_qr_apply(cx, &qr, true, b)); /* least squares of exact data gives x back */
    cr_qr_solve_r(&qr, false, b);
    for (size_t j = 0; j < 6; j++) assert_close(b[j], x[qr.pivot[j]], 1e-13);

    for (size_t j = 0; j < 6; j++) { /* R^T x = r */
        r[j] = 0;
        for (size_t i = 0; i <= j; i++) r[j] += qr.factors[j * 40 + i] * x[i];
    }
    memcpy(t, r, sizeof t);
    cr_qr_solve_r(&qr, true, t);
    for (size_t j = 0; j < 6; j++) assert_close(t[j], x[j], 1e-13);
    cr_qr_free(cx, &qr);
    free(A.a);
}

/* Columns 4 and 5 depend on the others; Kahan's matrix needs the tolerance, not the diagonal's
 * jump. */
TEST(qr_rank)
{
    uint64_t seed = 7;
    cr_mat   A = random_matrix(30, 6, 0, &seed);
    cr_qr    qr;
    double   rcond = 0, whole = 0;
    for (size_t i = 0; i < 30; i++) {
        *entry(A, i, 4) = *entry(A, i, 0) - 2 * *entry(A, i, 1);
        *entry(A, i, 5) = *entry(A, i, 2) + *entry(A, i, 3);
    }
    assert_ok(cx, cr_qr_new(cx, cr_const(A), -1, &qr));
    assert_int_equal(qr.rank, 4);
    assert_ok(cx, cr_qr_rcond(cx, &qr, &rcond));
    assert_true(rcond > 1e-3 && rcond < 1);
    cr_qr_free(cx, &qr);
    assert_ok(cx, cr_qr_new(cx, cr_const(A), 0, &qr));
    assert_true(qr.rank >= 4);
    cr_qr_free(cx, &qr);
    free(A.a);

    /* diag(1, 1e-5, 1e-10, 0): exact ranks by tolerance, exact condition of the leading part */
    double       d[16] = { 0 };
    const double tolerance[] = { -1, 1e-7, 0.5, 2 };
    const double condition[] = { 1e-10, 1e-5, 1, 1 };
    const size_t rank[] = { 3, 2, 1, 0 };
    d[0] = 1, d[5] = 1e-5, d[10] = 1e-10;
    for (size_t t = 0; t < 4; t++) {
        assert_ok(cx, cr_qr_new(cx, cr_cmat_of(d, 4, 4), tolerance[t], &qr));
        assert_int_equal(qr.rank, rank[t]);
        assert_ok(cx, cr_qr_rcond(cx, &qr, &rcond));
        assert_relative(rcond, condition[t], 1e-12);
        assert_ok(cx, cr_qr_condition(cx, &qr, &whole));
        assert_relative(whole, 1 / condition[t], 1e-12);
        double b[4] = { 1e-10, 1e-10, 1e-10, 1e-10 };
        cr_qr_solve_r(&qr, false, b); /* only the leading `rank` entries are touched */
        assert_relative(fabs(b[2]), rank[t] == 3 ? 1 : 1e-10, 1e-14);
        assert_true(b[3] == 1e-10);
        cr_qr_free(cx, &qr);
    }
    double zero[6] = { 0 };
    assert_ok(cx, cr_qr_new(cx, cr_cmat_of(zero, 3, 2), -1, &qr));
    assert_int_equal(qr.rank, 0);
    cr_qr_free(cx, &qr);

    enum { N = 90 }; /* Kahan (1966): smallest singular value far below the last |R_ii| */
    cr_mat K = random_matrix(N, N, 0, &seed);
    double s = sin(1.2), c = cos(1.2);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            *entry(K, i, j) = j < i ? 0 : pow(s, (double)i) * (j == i ? 1 : -c);
    assert_ok(cx, cr_qr_new(cx, cr_const(K), -1, &qr));
    assert_int_equal(qr.rank, N);
    assert_ok(cx, cr_qr_rcond(cx, &qr, &rcond));
    assert_true(rcond < 1e-12); /* what the diagonal hides, the condition number shows */
    cr_qr_free(cx, &qr);
    free(K.a);
}

/* --- refusals -------------------------------------------------------------------------------- */

TEST(refuses)
{
    double a[6] = { 1, 2, 3, 4, 5, INFINITY }, w[3] = { 7, 7, 7 }, u[6] = { 7 }, v[6] = { 7 };
    cr_mat U = cr_mat_of(u, 2, 2), V = cr_mat_of(v, 3, 2);
    cr_qr  qr = { 0 };
    assert_fails_with(cx, cr_qr_new(cx, cr_cmat_of(a, 2, 3), -1, &qr), CR_EDATA, "row 2, column 3");
    assert_null(qr.factors);
    assert_fails_with(cx, cr_svd(cx, cr_cmat_of(a, 2, 3), U, w, V), CR_EDATA,
                      "row 2, column 3 is inf");
    a[3] = NAN, a[5] = 0;
    assert_fails_with(cx, cr_eigen(cx, cr_cmat_of(a + 3, 1, 1), w, cr_mat_of(u, 1, 1)), CR_EDATA,
                      "row 1, column 1");
    assert_fails(cx, cr_eigen(cx, cr_cmat_of(a, 1, 2), w, U), CR_EARG);
    assert_fails_with(cx, cr_eigen(cx, cr_cmat_of(a, 1, 1), w, U), CR_EARG, "V is 2 x 2");
    assert_fails_with(cx, cr_svd(cx, cr_cmat_of(a, 1, 3), U, w, V), CR_EARG, "U is 2 x 2");
    assert_fails_with(cx, cr_svd(cx, cr_cmat_of(a, 1, 2), cr_mat_of(u, 1, 1), w, V), CR_EARG,
                      "V is");
    assert_fails(cx, cr_qr_new(cx, cr_cmat_of(a, 1, 3), NAN, &qr), CR_EARG);
    cr_interrupt(cx);
    assert_fails(cx, cr_qr_new(cx, cr_cmat_of(a, 1, 3), -1, &qr), CR_EINTERRUPTED);
    assert_fails(cx, cr_svd(cx, cr_cmat_of(a, 1, 1), cr_mat_of(u, 1, 1), w, cr_mat_of(v, 1, 1)),
                 CR_EINTERRUPTED);
    assert_true(w[0] == 7 && u[0] == 7 && v[0] == 7);
}

static cr_status everything(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_mat   *m = arg; /* A [8 x 8], U, V alike */
    cr_qr     qr = { 0 };
    double    w[8], rcond;
    CR_TRY(cr_eigen(cx, cr_const(m[0]), w, m[2]));
    CR_TRY(cr_svd(cx, cr_const(m[0]), m[1], w, m[2]));
    CR_TRY(cr_qr_new(cx, cr_const(m[0]), -1, &qr));
    CR_TRY(cr_qr_rcond(cx, &qr, &rcond));
    CR_TRY(cr_qr_apply(cx, &qr, true, w));
done:
    cr_qr_free(cx, &qr);
    return st;
}

TEST(allocations_fail)
{
    uint64_t seed = 13;
    cr_mat   m[3];
    for (size_t i = 0; i < 3; i++) m[i] = random_matrix(8, 8, 0, &seed);
    test_every_allocation_fails(everything, m);
    for (size_t i = 0; i < 3; i++) free(m[i].a);
}
