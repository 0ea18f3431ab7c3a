/* test_dense.c -- products against triple loops in long double, and the same bits on any number of
 * threads. */
#include "matrices.h"
#include "math/dense/dense.h"

static long double element(cr_mat A, cr_transpose op, size_t i, size_t l)
{
    return op == CR_PLAIN ? *entry(A, i, l) : *entry(A, l, i);
}

/* alpha op(A) op(B) + beta C, element (i, j). */
static double product(double alpha, cr_mat A, cr_transpose opA, cr_mat B, cr_transpose opB,
                      double beta, double c, size_t k, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t l = 0; l < k; l++) sum += element(A, opA, i, l) * element(B, opB, l, j);
    return (double)((long double)alpha * sum + (beta == 0 ? 0 : (long double)beta * c));
}

static cr_mat shaped(size_t rows, size_t cols, cr_transpose op, size_t gap, uint64_t *state)
{
    return op == CR_PLAIN ? random_matrix(rows, cols, gap, state)
                          : random_matrix(cols, rows, gap, state);
}

/* Checks every `step`-th element of C against the loops; n = 0 and strides > cols included. */
static void check_gemm(cr_ctx *cx, size_t m, size_t n, size_t k, cr_transpose opA, cr_transpose opB,
                       double beta, size_t step)
{
    uint64_t state = 88172645463325252u + m * 7 + n * 11 + k * 13;
    cr_mat   A = shaped(m, k, opA, 3, &state), B = shaped(k, n, opB, 1, &state);
    cr_mat   C = random_matrix(m, n, 2, &state), before = copy_of(C);
    if (beta == 0 && m * n > 0) C.a[0] = NAN; /* must be overwritten */
    assert_ok(cx, cr_gemm(cx, 1.7, cr_const(A), opA, cr_const(B), opB, beta, C));
    for (size_t t = 0; t < m * n; t += step) {
        size_t i = t / n, j = t % n;
        assert_close(*entry(C, i, j),
                     product(1.7, A, opA, B, opB, beta, *entry(before, i, j), k, i, j),
                     1e-15 * (double)(k + 2));
    }
    assert_padding_kept(C);
    free(A.a), free(B.a), free(C.a), free(before.a);
}

TEST(gemm_shapes)
{
    const size_t sizes[] = { 0, 1, 2, 5, 17 };
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 5; k++)
                for (unsigned op = 0; op < 4; op++)
                    check_gemm(cx, sizes[i], sizes[j], sizes[k], op % 2 ? CR_TRANSPOSED : CR_PLAIN,
                               op / 2 ? CR_TRANSPOSED : CR_PLAIN, k % 2 ? -0.3 : 0, 1);
}

/* Several tiles; spans of the inner dimension; tall and wide without tiles in the other direction.
 */
TEST(gemm_tiles)
{
    const size_t shapes[][3] = { { 300, 270, 140 }, { 520, 3, 900 },  { 4, 700, 600 },
                                 { 30, 41, 20000 }, { 20000, 11, 7 }, { 11, 20000, 7 },
                                 { 1, 1, 1200000 }, { 150, 90, 3000 } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned op = 0; op < 4; op++) {
            size_t elements = shapes[s][0] * shapes[s][1], step = elements / 37 + 1;
            check_gemm(cx, shapes[s][0], shapes[s][1], shapes[s][2],
                       op % 2 ? CR_TRANSPOSED : CR_PLAIN, op / 2 ? CR_TRANSPOSED : CR_PLAIN,
                       op == 1 ? 0.6 : 0, step);
        }
}

TEST(gemm_no_terms)
{
    double a[4] = { NAN, NAN, NAN, NAN }, c[4] = { 1, 2, 3, INFINITY };
    cr_mat C = cr_mat_of(c, 2, 2);
    assert_ok(cx,
              cr_gemm(cx, 0, cr_cmat_of(a, 2, 2), CR_PLAIN, cr_cmat_of(a, 2, 2), CR_PLAIN, 2, C));
    assert_true(c[0] == 2 && c[1] == 4 && c[2] == 6 && isinf(c[3]));
    assert_ok(cx,
              cr_gemm(cx, 1, cr_cmat_of(a, 2, 0), CR_PLAIN, cr_cmat_of(a, 0, 2), CR_PLAIN, 0, C));
    assert_true(c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0);
}

static void check_syrk(cr_ctx *cx, size_t n, size_t k, cr_transpose op, double beta, size_t step)
{
    uint64_t state = 0x9e3779b97f4a7c15u + n * 3 + k;
    cr_mat   A = shaped(n, k, op, 2, &state), C = random_spd(n, 1, &state), before = copy_of(C);
    for (size_t t = 0; t < n * n; t++) /* the upper triangle is not read */
        if (t % n > t / n || beta == 0) *entry(C, t / n, t % n) = NAN;
    assert_ok(cx, cr_syrk(cx, -0.9, cr_const(A), op, beta, C));
    for (size_t t = 0; t < n * n; t++) {
        size_t i = t / n, j = t % n;
        assert_true(*entry(C, i, j) == *entry(C, j, i));
        if (t % step) continue;
        double right = product(-0.9, A, op, A, op == CR_PLAIN ? CR_TRANSPOSED : CR_PLAIN, beta,
                               *entry(before, i, j), k, i, j);
        assert_close(*entry(C, i, j), right, 1e-15 * (double)(k + 2));
    }
    assert_padding_kept(C);
    free(A.a), free(C.a), free(before.a);
}

TEST(syrk)
{
    const size_t shapes[][2] = { { 0, 3 },    { 1, 1 },     { 3, 0 },      { 4, 9 },   { 33, 5 },
                                 { 300, 40 }, { 50, 9000 }, { 140, 3000 }, { 700, 20 } };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned op = 0; op < 4; op++)
            check_syrk(cx, shapes[s][0], shapes[s][1], op % 2 ? CR_TRANSPOSED : CR_PLAIN,
                       op / 2 ? 1.3 : 0, shapes[s][0] * shapes[s][0] / 61 + 1);
}

static void check_gemv(cr_ctx *cx, size_t m, size_t n, cr_transpose op, double beta)
{
    uint64_t state = 1234567u + m * 5 + n;
    cr_mat   A = random_matrix(m, n, 4, &state);
    size_t   rows = op == CR_PLAIN ? m : n, k = op == CR_PLAIN ? n : m;
    cr_mat   x = random_matrix(k, 1, 0, &state), y = random_matrix(rows, 1, 0, &state);
    cr_mat   before = copy_of(y);
    if (beta == 0 && rows > 0) y.a[rows - 1] = NAN;
    assert_ok(cx, cr_gemv(cx, 0.7, cr_const(A), op, x.a, beta, y.a));
    for (size_t i = 0; i < rows; i += rows / 50 + 1)
        assert_close(y.a[i], product(0.7, A, op, x, CR_PLAIN, beta, before.a[i], k, i, 0),
                     1e-15 * (double)(k + 2));
    free(A.a), free(x.a), free(y.a), free(before.a);
}

TEST(gemv)
{
    const size_t shapes[][2] = {
        { 0, 0 },    { 0, 4 },     { 4, 0 },     { 1, 1 },     { 3, 8 },
        { 300, 50 }, { 400, 300 }, { 30000, 7 }, { 40, 5000 }, { 70001, 1 }
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned op = 0; op < 4; op++)
            check_gemv(cx, shapes[s][0], shapes[s][1], op % 2 ? CR_TRANSPOSED : CR_PLAIN,
                       op / 2 ? -1.1 : 0);
}

TEST(dot_and_norm)
{
    const size_t lengths[] = { 0, 1, 3, 32, 33, 4096, 4097, 50000 };
    uint64_t     seed = 42;
    for (size_t t = 0; t < 8; t++) {
        size_t      n = lengths[t];
        cr_mat      x = random_matrix(n, 1, 0, &seed), y = random_matrix(n, 1, 0, &seed);
        long double dot = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            dot += (long double)x.a[i] * y.a[i];
            square += (long double)x.a[i] * x.a[i];
        }
        assert_close(cr_dot(x.a, y.a, n), (double)dot, 1e-13);
        assert_relative(cr_norm2(x.a, n), (double)sqrtl(square), 1e-14);
        free(x.a), free(y.a);
    }
    const double huge[] = { 3e300, -4e300 }, tiny[] = { 3e-320, 4e-320, 0 };
    const double odd[] = { 1, NAN, INFINITY }, large[] = { 1, -INFINITY };
    assert_relative(cr_norm2(huge, 2), 5e300, 1e-15);
    assert_relative(cr_norm2(tiny, 3), 5e-320, 1e-3); /* subnormal: few digits exist */
    assert_true(isnan(cr_norm2(odd, 3)));
    assert_true(cr_norm2(large, 2) == INFINITY);
    assert_true(cr_norm2(tiny + 2, 1) == 0);
}

/* The same call on 1, 2 and 4 threads. */
TEST(same_bits_on_any_threads)
{
    uint64_t     seed = 7;
    const size_t n = 700, tall = 9000, d = 60;
    cr_mat       A = random_matrix(n, n, 3, &seed), B = random_matrix(n, n, 0, &seed);
    cr_mat       X = random_matrix(tall, d, 1, &seed), y = random_matrix(tall, 1, 0, &seed);
    cr_mat       first[6] = { { 0 } };
    for (size_t threads = 1; threads <= 4; threads *= 2) {
        cr_ctx *own = test_context();
        cr_ctx_set_threads(own, threads);
        cr_mat out[6];
        for (size_t i = 0; i < 6; i++) {
            const size_t rows[] = { n, n, d, n, d, d };
            out[i] = i < 2 ? random_matrix(n, n, 0, &(uint64_t){ 5 })
                           : random_matrix(rows[i], i == 2 || i == 5 ? d : 1, 0, &(uint64_t){ 5 });
        }
        assert_ok(
            own, cr_gemm(own, 1.1, cr_const(A), CR_PLAIN, cr_const(B), CR_TRANSPOSED, 0.4, out[0]));
        assert_ok(own, cr_syrk(own, 1.1, cr_const(A), CR_PLAIN, 0, out[1]));
        assert_ok(own, cr_syrk(own, 1.1, cr_const(X), CR_TRANSPOSED, 0, out[2]));
        assert_ok(own, cr_gemv(own, 1.1, cr_const(A), CR_PLAIN, B.a, 0.4, out[3].a));
        assert_ok(own, cr_gemv(own, 1.1, cr_const(X), CR_TRANSPOSED, y.a, 0, out[4].a));
        assert_ok(own,
                  cr_gemm(own, 1, cr_const(X), CR_TRANSPOSED, cr_const(X), CR_PLAIN, 0, out[5]));
        for (size_t i = 0; i < 6; i++) {
            if (threads == 1)
                first[i] = out[i];
            else
                assert_same_bits(out[i], first[i]), free(out[i].a);
        }
        test_context_free(own);
    }
    for (size_t i = 0; i < 6; i++) free(first[i].a);
    free(A.a), free(B.a), free(X.a), free(y.a);
}

TEST(wrong_shapes)
{
    double  a[6] = { 1, 2, 3, 4, 5, 6 }, c[9] = { 0 };
    cr_cmat A = cr_cmat_of(a, 2, 3), bent = { a, 2, 3, 2 }, vast = { a, 1, 1, (size_t)1 << 31 };
    assert_fails_with(cx, cr_gemm(cx, 1, A, CR_PLAIN, A, CR_PLAIN, 0, cr_mat_of(c, 2, 3)), CR_EARG,
                      "2 x 3 times 2 x 3");
    assert_fails(cx, cr_gemm(cx, 1, A, CR_PLAIN, A, CR_TRANSPOSED, 0, cr_mat_of(c, 3, 3)), CR_EARG);
    assert_fails(cx, cr_syrk(cx, 1, A, CR_PLAIN, 0, cr_mat_of(c, 3, 3)), CR_EARG);
    assert_fails_with(cx, cr_syrk(cx, 1, bent, CR_PLAIN, 0, cr_mat_of(c, 2, 2)), CR_EARG, "stride");
    assert_fails(cx, cr_gemv(cx, 1, vast, CR_PLAIN, a, 0, c), CR_EUNSUPPORTED);
    for (size_t i = 0; i < 9; i++) assert_true(c[i] == 0);
}

TEST(interrupt_stops)
{
    uint64_t seed = 3;
    cr_mat   A = random_matrix(300, 300, 0, &seed), C = random_matrix(300, 300, 0, &seed);
    cr_interrupt(cx);
    assert_fails(cx, cr_gemm(cx, 1, cr_const(A), CR_PLAIN, cr_const(A), CR_PLAIN, 0, C),
                 CR_EINTERRUPTED);
    assert_fails(cx, cr_syrk(cx, 1, cr_const(A), CR_PLAIN, 0, C), CR_EINTERRUPTED);
    assert_fails(cx, cr_gemv(cx, 1, cr_const(A), CR_TRANSPOSED, C.a, 0, C.a + 300),
                 CR_EINTERRUPTED);
    free(A.a), free(C.a);
}

static cr_status all_products(cr_ctx *cx, void *arg)
{
    cr_status st = CR_OK;
    cr_mat   *m = arg; /* X [5000 x 20], C [20 x 20] */
    CR_TRY(cr_gemm(cx, 1, cr_const(m[0]), CR_TRANSPOSED, cr_const(m[0]), CR_PLAIN, 0, m[1]));
    CR_TRY(cr_syrk(cx, 1, cr_const(m[0]), CR_TRANSPOSED, 0, m[1]));
    CR_TRY(cr_gemv(cx, 1, cr_const(m[0]), CR_TRANSPOSED, m[0].a, 0, m[1].a));
done:
    return st;
}

TEST(allocations_fail)
{
    uint64_t seed = 11;
    cr_mat   m[2] = { random_matrix(5000, 20, 0, &seed), random_matrix(20, 20, 0, &seed) };
    test_every_allocation_fails(all_products, m);
    free(m[0].a), free(m[1].a);
}
