/* test_chol.c -- the factor against the textbook recursion in long double, laws at several tiles,
 * and the same bits on any number of threads. */
#include "matrices.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

/* L of A = L L^T, row by row in long double; false when a pivot is not positive. */
static bool plain_factor(cr_mat A, long double *L)
{
    size_t n = A.rows;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            long double sum = *entry(A, i, j);
            for (size_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > 0)) return false;
            L[i * n + j] = i == j ? sqrtl(sum) : sum / L[j * n + j];
        }
    return true;
}

/* |(A - L L^T) v| / |A v| for a random v: sees any wrong tile, at O(n^2). */
static double residual(cr_mat A, cr_mat L)
{
    size_t      n = A.rows;
    uint64_t    seed = 99;
    cr_mat      v = random_matrix(n, 1, 0, &seed);
    double     *u = numbers(n);
    long double off = 0, size = 0;
    for (size_t j = 0; j < n; j++) {
        long double sum = 0;
        for (size_t i = j; i < n; i++) sum += (long double)*entry(L, i, j) * v.a[i];
        u[j] = (double)sum;
    }
    for (size_t i = 0; i < n; i++) {
        long double ll = 0, a = 0;
        for (size_t j = 0; j <= i; j++) ll += (long double)*entry(L, i, j) * u[j];
        for (size_t j = 0; j < n; j++) a += (long double)*entry(A, i, j) * v.a[j];
        off += (a - ll) * (a - ll), size += a * a;
    }
    free(v.a), free(u);
    return n ? (double)sqrtl(off / size) : 0;
}

TEST(factor_small)
{
    const size_t sizes[] = { 0, 1, 2, 3, 30, 90 };
    uint64_t     seed = 1;
    for (size_t s = 0; s < 6; s++) {
        size_t       n = sizes[s];
        cr_mat       A = random_spd(n, 3, &seed), F = copy_of(A);
        long double *L = calloc(n * n + 1, sizeof *L);
        assert_true(plain_factor(A, L));
        assert_ok(cx, cr_chol(cx, F));
        long double logdet = 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++)
                assert_close(*entry(F, i, j), (double)L[i * n + j], 1e-14);
            for (size_t j = i + 1; j < n; j++) assert_true(*entry(F, i, j) == *entry(A, i, j));
            logdet += 2 * logl(L[i * n + i]);
        }
        assert_close(cr_chol_logdet(cr_const(F)), (double)logdet, 1e-14);
        assert_padding_kept(F);
        free(A.a), free(F.a), free(L);
    }
}

TEST(factor_tiles)
{
    const size_t sizes[] = { 320, 321, 480, 700, 1600 };
    uint64_t     seed = 2;
    for (size_t s = 0; s < 5; s++) {
        cr_mat A = random_spd(sizes[s], 5, &seed), F = copy_of(A);
        assert_ok(cx, cr_chol(cx, F));
        assert_true(residual(A, F) < 1e-14);
        assert_padding_kept(F);
        for (size_t i = 0; i + 1 < A.rows; i++)
            assert_true(*entry(F, i, i + 1) == *entry(A, i, i + 1));
        free(A.a), free(F.a);
    }
}

/* det of the Hilbert matrix of order 5 is 1/266716800000 (OEIS A005249). */
TEST(hilbert)
{
    double h[25], norm = 0, rcond = 0;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) h[i * 5 + j] = 1 / (double)(i + j + 1);
    for (size_t i = 0; i < 5; i++) norm += h[i];
    cr_mat H = cr_mat_of(h, 5, 5);
    assert_ok(cx, cr_chol(cx, H));
    assert_close(cr_chol_logdet(cr_const(H)), -log(266716800000.0), 1e-10);
    assert_ok(cx, cr_chol_rcond(cx, cr_const(H), norm, &rcond));
    assert_relative(1 / rcond, 943656, 1e-6); /* the 1-norm condition number of Hilbert 5 */
    assert_fails(cx, cr_chol_rcond(cx, cr_const(H), NAN, &rcond), CR_EARG);
    assert_relative(1 / rcond, 943656, 1e-6); /* untouched */
    assert_ok(cx, cr_chol_rcond(cx, cr_cmat_of(h, 0, 0), 0, &rcond));
    assert_true(rcond == 1);
}

/* A matrix whose leading minors are positive up to `bad`, which is the first pivot that is not. */
static void check_pivot(cr_ctx *cx, size_t n, size_t bad, double value, const char *sentence)
{
    uint64_t seed = 5;
    cr_mat   A = random_spd(n, 0, &seed);
    *entry(A, bad, bad) = value;
    assert_fails_with(cx, cr_chol(cx, A), CR_ENUMERIC, sentence);
    free(A.a);
}

TEST(not_positive_names_the_pivot)
{
    double singular[4] = { 1, 1, 1, 1 }, negative[1] = { -2 };
    assert_fails_with(cx, cr_chol(cx, cr_mat_of(singular, 2, 2)), CR_ENUMERIC, "pivot 2 of 2 is 0");
    assert_fails_with(cx, cr_chol(cx, cr_mat_of(negative, 1, 1)), CR_ENUMERIC,
                      "pivot 1 of 1 is -2");
    assert_true(strlen(cr_error_hint(cx)) > 0);
    check_pivot(cx, 50, 20, -1, "not positive definite: pivot 21 of 50");
    check_pivot(cx, 700, 0, -1, "pivot 1 of 700 is -1");
    check_pivot(cx, 700, 500, -1, "not positive definite: pivot 501 of 700");
    check_pivot(cx, 700, 699, 0, "not positive definite: pivot 700 of 700");
    check_pivot(cx, 50, 20, NAN, "pivot 21 of 50 is not finite");
    check_pivot(cx, 700, 500, NAN, "pivot 501 of 700 is not finite");
    check_pivot(cx, 700, 500, INFINITY, "pivot 501 of 700 is not finite");
    assert_fails(cx, cr_chol(cx, cr_mat_of(singular, 2, 1)), CR_EARG);
}

/* --- solves and inverse ---------------------------------------------------------------------- */

/* max |A X - B|. */
static double solve_error(cr_mat A, cr_mat X, cr_mat B)
{
    double worst = 0;
    for (size_t i = 0; i < A.rows; i++)
        for (size_t c = 0; c < X.cols; c += X.cols / 9 + 1) {
            long double sum = -(long double)*entry(B, i, c);
            for (size_t j = 0; j < A.rows; j++)
                sum += (long double)*entry(A, i, j) * *entry(X, j, c);
            worst = fmax(worst, fabs((double)sum));
        }
    return worst;
}

static void check_solves(cr_ctx *cx, size_t n, size_t k)
{
    uint64_t seed = 17 + n + k;
    cr_mat   A = random_spd(n, 2, &seed), L = copy_of(A), B = random_matrix(n, k, 1, &seed);
    cr_mat   X = copy_of(B), Y = copy_of(B);
    assert_ok(cx, cr_chol(cx, L));
    assert_ok(cx, cr_chol_solve(cx, cr_const(L), X));
    assert_true(solve_error(A, X, B) < 1e-13);
    assert_ok(cx, cr_chol_forward(cx, cr_const(L), Y));
    for (size_t i = 0; i < n; i++) /* keep L only */
        for (size_t j = i + 1; j < n; j++) *entry(L, i, j) = 0;
    assert_true(solve_error(L, Y, B) < 1e-13);
    assert_ok(cx, cr_chol_backward(cx, cr_const(L), Y));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++) assert_close(*entry(Y, i, c), *entry(X, i, c), 1e-14);
    assert_padding_kept(X);
    assert_padding_kept(Y);
    free(A.a), free(L.a), free(B.a), free(X.a), free(Y.a);
}

TEST(solves)
{
    const size_t shapes[][2] = { { 0, 0 }, { 0, 3 }, { 3, 0 },     { 1, 1 },     { 1, 5 },
                                 { 5, 1 }, { 7, 4 }, { 150, 100 }, { 330, 300 }, { 400, 1 } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        check_solves(cx, shapes[s][0], shapes[s][1]);
    double a[4] = { 1, 0, 0, 1 };
    assert_fails(cx, cr_chol_solve(cx, cr_cmat_of(a, 2, 2), cr_mat_of(a, 1, 2)), CR_EARG);
    assert_fails(cx, cr_chol_solve(cx, cr_cmat_of(a, 2, 1), cr_mat_of(a, 2, 1)), CR_EARG);
}

static void check_inverse(cr_ctx *cx, size_t n, bool in_place)
{
    uint64_t seed = 23 + n;
    cr_mat   A = random_spd(n, 1, &seed), L = copy_of(A), W = in_place ? L : copy_of(A);
    assert_ok(cx, cr_chol(cx, L));
    assert_ok(cx, cr_chol_inverse(cx, cr_const(L), W));
    for (size_t i = 0; i < n; i += n / 60 + 1)
        for (size_t c = 0; c < n; c += n / 60 + 1) {
            long double sum = 0;
            for (size_t j = 0; j < n; j++) sum += (long double)*entry(A, i, j) * *entry(W, j, c);
            assert_true(fabs((double)sum - (i == c)) < 1e-13);
            assert_true(*entry(W, i, c) == *entry(W, c, i));
        }
    assert_padding_kept(W);
    if (!in_place) free(W.a);
    free(A.a), free(L.a);
}

TEST(inverse)
{
    const size_t sizes[] = { 0, 1, 2, 40, 330, 700 };
    for (size_t s = 0; s < 6; s++)
        check_inverse(cx, sizes[s], false), check_inverse(cx, sizes[s], true);
    double l[4] = { 1, 0, 1, 0 }, out[4] = { 7, 7, 7, 7 };
    assert_fails(cx, cr_chol_inverse(cx, cr_cmat_of(l, 2, 2), cr_mat_of(out, 2, 2)), CR_ENUMERIC);
    assert_fails(cx, cr_chol_inverse(cx, cr_cmat_of(l, 2, 2), cr_mat_of(out, 2, 1)), CR_EARG);
    assert_true(out[0] == 7 && out[3] == 7);
}

/* --- jitter ---------------------------------------------------------------------------------- */

static void count_warnings(void *user, cr_log_level level, const char *text)
{
    if (level == CR_LOG_WARNING && strstr(text, "added to its diagonal")) ++*(unsigned *)user;
}

/* Rank 3 of n: x x^T summed over three vectors, so the fourth pivot is rounding. */
static cr_mat low_rank(size_t n, uint64_t *seed)
{
    cr_mat X = random_matrix(n, 3, 0, seed), A = random_matrix(n, n, 0, seed);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            *entry(A, i, j) = 0;
            for (size_t k = 0; k < 3; k++) *entry(A, i, j) += *entry(X, i, k) * *entry(X, j, k);
        }
    free(X.a);
    return A;
}

TEST(jitter)
{
    const size_t sizes[] = { 6, 60, 400 };
    uint64_t     seed = 31;
    for (size_t s = 0; s < 3; s++) {
        cr_ctx  *own = test_context();
        unsigned warnings = 0;
        cr_ctx_set_log(own, count_warnings, &warnings);
        cr_jitter report = { -1, 99 };
        cr_mat    A = random_spd(sizes[s], 1, &seed), F = copy_of(A);
        assert_ok(own, cr_chol_jitter(own, F, &report));
        assert_true(report.added == 0 && report.attempts == 1 && warnings == 0);
        assert_true(residual(A, F) < 1e-14);
        free(A.a), free(F.a);

        A = low_rank(sizes[s], &seed), F = copy_of(A);
        double mean = 0;
        for (size_t i = 0; i < A.rows; i++) mean += *entry(A, i, i) / (double)A.rows;
        assert_ok(own, cr_chol_jitter(own, F, &report));
        assert_true(report.attempts >= 2 && warnings == 1);
        assert_relative(report.added, mean * pow(10, (double)report.attempts - 14), 1e-12);
        for (size_t i = 0; i < A.rows; i++) *entry(A, i, i) += report.added;
        assert_true(residual(A, F) < 1e-14);
        free(A.a), free(F.a);
        test_context_free(own);
    }
}

TEST(jitter_gives_up)
{
    cr_jitter    report = { -1, 99 };
    uint64_t     seed = 37;
    cr_mat       A = random_spd(400, 2, &seed), F;
    const double bad[] = { -50, NAN };
    for (size_t b = 0; b < 2; b++) {
        *entry(A, 300, 300) = bad[b];
        F = copy_of(A);
        assert_fails_with(cx, cr_chol_jitter(cx, F, &report), CR_ENUMERIC,
                          b ? "pivot 301 of 400 is not finite" : "even with");
        assert_same_bits(F, A); /* as it was */
        assert_true(report.added == -1 && report.attempts == 99);
        free(F.a);
    }
    double zero[4] = { 0, 0, 0, 0 };
    assert_fails(cx, cr_chol_jitter(cx, cr_mat_of(zero, 2, 2), &report), CR_ENUMERIC);
    assert_ok(cx, cr_chol_jitter(cx, cr_mat_of(zero, 0, 0), &report));
    assert_true(report.added == 0 && report.attempts == 1);
    free(A.a);
}

/* --- rank-one changes ------------------------------------------------------------------------ */

static void check_update(cr_ctx *cx, size_t n)
{
    uint64_t seed = 41 + n;
    cr_mat   A = random_spd(n, 2, &seed), L = copy_of(A), x = random_matrix(n, 1, 0, &seed);
    cr_mat   used = copy_of(x), B = copy_of(A);
    assert_ok(cx, cr_chol(cx, L));
    cr_mat before = copy_of(L);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) *entry(B, i, j) += x.a[i] * x.a[j];
    cr_chol_update(L, used.a);
    if (n) assert_true(residual(B, L) < 1e-14);
    cr_mat fresh = copy_of(B);
    assert_ok(cx, cr_chol(cx, fresh));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            assert_close(*entry(L, i, j), j <= i ? *entry(fresh, i, j) : *entry(A, i, j), 1e-13);
    memcpy(used.a, x.a, n * sizeof(double));
    assert_ok(cx, cr_chol_downdate(cx, L, used.a));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) assert_close(*entry(L, i, j), *entry(before, i, j), 1e-13);
    assert_padding_kept(L);
    free(A.a), free(L.a), free(x.a), free(used.a), free(B.a), free(before.a), free(fresh.a);
}

TEST(update_and_downdate)
{
    const size_t sizes[] = { 0, 1, 2, 7, 64, 65, 200 };
    for (size_t s = 0; s < 7; s++) check_update(cx, sizes[s]);
}

TEST(downdate_refuses)
{
    uint64_t seed = 43;
    cr_mat   L = random_spd(80, 1, &seed), x = random_matrix(80, 1, 0, &seed);
    assert_ok(cx, cr_chol(cx, L));
    cr_mat before = copy_of(L);
    for (size_t i = 0; i < 80; i++) x.a[i] *= 100;
    assert_fails_with(cx, cr_chol_downdate(cx, L, x.a), CR_ENUMERIC, "not be positive definite");
    assert_same_bits(L, before);
    x.a[3] = NAN;
    assert_fails(cx, cr_chol_downdate(cx, L, x.a), CR_ENUMERIC);
    assert_same_bits(L, before);
    double l[1] = { 3 }, equal[1] = { 3 }; /* 9 - 9: singular */
    assert_fails(cx, cr_chol_downdate(cx, cr_mat_of(l, 1, 1), equal), CR_ENUMERIC);
    assert_true(l[0] == 3);
    free(L.a), free(x.a), free(before.a);
}

/* --- threads, interrupts, memory ------------------------------------------------------------- */

TEST(same_bits_on_any_threads)
{
    cr_mat first[3] = { { 0 } };
    for (size_t threads = 1; threads <= 4; threads *= 2) {
        uint64_t seed = 47;
        cr_ctx  *own = test_context();
        cr_ctx_set_threads(own, threads);
        cr_mat L = random_spd(900, 0, &seed), B = random_matrix(900, 400, 0, &seed);
        assert_ok(own, cr_chol(own, L));
        cr_mat W = copy_of(L);
        assert_ok(own, cr_chol_solve(own, cr_const(L), B));
        assert_ok(own, cr_chol_inverse(own, cr_const(W), W));
        const cr_mat got[3] = { L, B, W };
        for (size_t i = 0; i < 3; i++) {
            if (threads == 1)
                first[i] = got[i];
            else
                assert_same_bits(got[i], first[i]), free(got[i].a);
        }
        test_context_free(own);
    }
    for (size_t i = 0; i < 3; i++) free(first[i].a);
}

TEST(interrupt_stops)
{
    uint64_t  seed = 53;
    cr_mat    A = random_spd(500, 0, &seed), L = copy_of(A), F = copy_of(A);
    cr_jitter report;
    assert_ok(cx, cr_chol(cx, L));
    cr_interrupt(cx);
    assert_fails(cx, cr_chol(cx, F), CR_EINTERRUPTED);
    assert_fails(cx, cr_chol_jitter(cx, F, &report), CR_EINTERRUPTED);
    assert_same_bits(F, A);
    assert_fails(cx, cr_chol_solve(cx, cr_const(L), F), CR_EINTERRUPTED);
    assert_fails(cx, cr_chol_inverse(cx, cr_const(L), F), CR_EINTERRUPTED);
    cr_interrupt_clear(cx);

    /* In the middle: the limit passes while tasks run. */
    cr_mat big = random_spd(2000, 0, &seed);
    cr_ctx_set_time_limit(cx, 1e-3);
    assert_fails_with(cx, cr_chol(cx, big), CR_ENOMEM, "time limit");
    cr_ctx_set_time_limit(cx, 0);
    free(A.a), free(L.a), free(F.a), free(big.a);
}

static cr_status everything(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_mat    A = *(cr_mat *)arg, L = copy_of(A), W = copy_of(A);
    cr_jitter report;
    double    rcond, *x = numbers(A.rows);
    for (size_t i = 0; i < A.rows; i++) x[i] = 0.01;
    CR_TRY(cr_chol_jitter(cx, L, &report));
    memcpy(L.a, A.a, A.rows * A.stride * sizeof(double));
    CR_TRY(cr_chol(cx, L));
    CR_TRY(cr_chol_inverse(cx, cr_const(L), W));
    CR_TRY(cr_chol_solve(cx, cr_const(L), W));
    CR_TRY(cr_chol_rcond(cx, cr_const(L), 1, &rcond));
    CR_TRY(cr_chol_downdate(cx, L, x));
done:
    free(L.a), free(W.a), free(x);
    return st;
}

TEST(allocations_fail)
{
    uint64_t seed = 59;
    cr_mat   A = random_spd(350, 0, &seed);
    test_every_allocation_fails(everything, &A);
    free(A.a);
}
