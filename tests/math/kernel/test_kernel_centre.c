/* test_kernel_centre.c -- centre(k) against its definition with dense matrices, against features
 * less their mean, and laws: rows that sum to 0, no negative eigenvalue, the same bits whatever is
 * settled. */
#include "random_expression.h"

#include "math/dense/decompose.h"
#include "math/kernel/kernel_internal.h"

enum { N = 67, M = 9, R = 31 };

typedef struct fixture {
    rows   x, z, r;
    double w[R];
} fixture;

static fixture *draw(uint64_t seed)
{
    static fixture f;
    dice           d = { seed };
    make_rows(&f.x, &d, N, 0.1, 0.9);
    make_rows(&f.z, &d, M, 0.1, 0.9);
    make_rows(&f.r, &d, R, 0.1, 0.9);
    for (size_t i = 0; i < R; i++) f.w[i] = (double)(i % 4);
    return &f;
}

/* A kernel, centred on rows of its own. */
static cr_kernel *centred(cr_ctx *cx, const char *text, const cr_kernel_input *on,
                          const double *weights)
{
    cr_kernel *k = NULL;
    assert_ok(cx, cr_kernel_parse(cx, text, &test_columns, NULL, 0, &k));
    assert_ok(cx, cr_kernel_centre_on(cx, k, on, weights));
    return k;
}

static const char *const inner[] = {
    "linear",
    "polynomial(degree=3, c=0.5)",
    "2*rbf(ard)*hamming + linear(x1)",
    "spectrum(k=1)",
    "subsequence(k=2, lambda=0.4)*rbf(x2; l=0.6)",
    "normalise(polynomial(degree=2))",
    "rbf(base=linear + spectrum, l=0.8)",
    "category(c1; rank=2) + 0.5",
    "intersection^2",
    "matern52(x1, x3; ard)",
};

/* B [n x m] less the means of its rows and columns: u [n], v [m], and all. */
static double by_hand(const double *B, size_t m, size_t i, size_t j, const double *u,
                      const double *v, double all)
{
    return B[i * m + j] - u[i] - v[j] + all;
}

/* sum_r p_r k(x_i, r), of all rows. */
static void means_by_hand(cr_ctx *cx, const cr_kernel *base, const cr_kernel_input *x,
                          const fixture *f, double *out)
{
    static double C[N * R];
    double        sum = 0;
    for (size_t r = 0; r < R; r++) sum += f->w[r];
    assert_ok(cx, cr_kernel_cross(cx, base, x, &f->r.in, cr_mat_of(C, x->rows, R)));
    for (size_t i = 0; i < x->rows; i++) {
        out[i] = 0;
        for (size_t r = 0; r < R; r++) out[i] += f->w[r] / sum * C[i * R + r];
    }
}

TEST(definition)
{
    fixture      *f = draw(21);
    static double K[N * N], B[N * N], C[N * M], D[N * M];
    double        u[N], v[M], m[R], own[N], diagonal[N], sum = 0;
    for (size_t r = 0; r < R; r++) sum += f->w[r];
    for (size_t t = 0; t < sizeof inner / sizeof *inner; t++) {
        char text[200];
        snprintf(text, sizeof text, "centre(%s)", inner[t]);
        cr_kernel *k = centred(cx, text, &f->r.in, f->w), *base = parse(cx, inner[t]);
        double     all = 0;
        means_by_hand(cx, base, &f->x.in, f, u);
        means_by_hand(cx, base, &f->z.in, f, v);
        means_by_hand(cx, base, &f->r.in, f, m);
        for (size_t r = 0; r < R; r++) all += f->w[r] / sum * m[r];
        assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
        assert_ok(cx, cr_kernel_gram(cx, base, &f->x.in, CR_FILL_BOTH, cr_mat_of(B, N, N)));
        assert_ok(cx, cr_kernel_cross(cx, k, &f->x.in, &f->z.in, cr_mat_of(C, N, M)));
        assert_ok(cx, cr_kernel_cross(cx, base, &f->x.in, &f->z.in, cr_mat_of(D, N, M)));
        assert_ok(cx, cr_kernel_diagonal(cx, k, &f->x.in, true, diagonal));
        assert_ok(cx, cr_kernel_diagonal(cx, base, &f->x.in, true, own));
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++)
                assert_close(K[i * N + j], by_hand(B, N, i, j, u, u, all), 1e-12);
            for (size_t j = 0; j < M; j++)
                assert_close(C[i * M + j], by_hand(D, M, i, j, u, v, all), 1e-12);
            assert_close(diagonal[i], own[i] - 2 * u[i] + all, 1e-12);
        }
        cr_kernel_free(cx, k);
        cr_kernel_free(cx, base);
    }
}

/* Linear and quadratic kernels have features that can be written down: less their mean, they are
 * it. */
TEST(features)
{
    fixture *f = draw(22);
    enum { F = 10 };
    static double K[N * N], Q[N * N], P[N * F];
    double        mean[F] = { 0 };
    for (size_t i = 0; i < N; i++) { /* (x . y + 0.7)^2 */
        const double *x = f->x.X + i * COLUMNS;
        double       *p = P + i * F;
        for (size_t c = 0; c < 3; c++) {
            p[c] = sqrt(1.4) * x[c];
            p[3 + c] = x[c] * x[c];
            p[6 + c] = sqrt(2) * x[c] * x[(c + 1) % 3];
        }
        p[9] = 0.7;
        for (size_t c = 0; c < F; c++) mean[c] += p[c] / N;
    }
    cr_kernel *linear = centred(cx, "centre(linear)", &f->x.in, NULL);
    cr_kernel *square = centred(cx, "centre(polynomial(degree=2, c=0.7))", &f->x.in, NULL);
    assert_ok(cx, cr_kernel_gram(cx, linear, &f->x.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
    assert_ok(cx, cr_kernel_gram(cx, square, &f->x.in, CR_FILL_BOTH, cr_mat_of(Q, N, N)));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double want[2] = { 0, 0 };
            for (size_t c = 0; c < F; c++) {
                double product = (P[i * F + c] - mean[c]) * (P[j * F + c] - mean[c]);
                want[1] += product;
                if (c < 3) want[0] += product / 1.4;
            }
            assert_close(K[i * N + j], want[0], 1e-13);
            assert_close(Q[i * N + j], want[1], 1e-13);
        }
    cr_kernel_free(cx, linear);
    cr_kernel_free(cx, square);
}

/* Of the rows that it is about, sums by their weights are 0; no eigenvalue of other rows is below
 * 0. */
TEST(laws)
{
    static double K[R * R], G[N * N], V[N * N];
    double        l[N];
    for (size_t trial = 0; trial < 40; trial++) {
        text_out t = { .used = 0 };
        dice     d = { 300 + trial };
        fixture *f = draw(23 + trial);
        bool     alone = trial % 2;
        say(&t, alone ? "centre(" : "0.7*centre(");
        say_expression(&t, &d, 2, trial % 3 > 0, trial % 3 == 0 && alone, true);
        say(&t, alone ? ")" : ")*rbf(x2) + normalise(centre(linear + hamming))");
        if (strstr(t.text, "white")) continue;
        cr_kernel *k = centred(cx, t.text, &f->r.in, f->w);
        assert_ok(cx, cr_kernel_gram(cx, k, &f->r.in, CR_FILL_BOTH, cr_mat_of(K, R, R)));
        for (size_t i = 0; alone && i < R; i++) {
            double sum = 0;
            for (size_t j = 0; j < R; j++) sum += f->w[j] * K[i * R + j];
            if (!(fabs(sum) < 1e-10)) fail_msg("%s: row %zu sums to %g", t.text, i, sum);
        }
        assert_true(cr_kernel_is_psd(k));
        assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, cr_mat_of(G, N, N)));
        assert_ok(cx, cr_eigen(cx, cr_cmat_of(G, N, N), l, cr_mat_of(V, N, N)));
        if (l[0] < -1e-12 * N * fmax(1, l[N - 1])) fail_msg("%s: eigenvalue %g", t.text, l[0]);
        cr_kernel_free(cx, k);
    }
}

/* Centred again it is what it was; a row of weight 2 is two rows. */
TEST(repetition)
{
    fixture      *f = draw(24);
    static double K[N * N], A[N * N], B[N * N], X[3 * R * COLUMNS];
    size_t        n = 0;
    for (size_t i = 0; i < R; i++)
        for (size_t c = 0; c < i % 4; c++)
            memcpy(X + n++ * COLUMNS, f->r.X + i * COLUMNS, sizeof(double[COLUMNS]));
    cr_kernel_input many = cr_kernel_rows(cr_cmat_of(X, n, COLUMNS)),
                    x = cr_kernel_rows(f->x.in.numbers);
    cr_kernel_input r = cr_kernel_rows(f->r.in.numbers);
    cr_kernel      *k = centred(cx, "centre(2*rbf(l=0.5))", &r, f->w);
    cr_kernel      *again = centred(cx, "centre(centre(2*rbf(l=0.5)))", &r, f->w);
    cr_kernel      *each = centred(cx, "centre(2*rbf(l=0.5))", &many, NULL);
    assert_ok(cx, cr_kernel_gram(cx, k, &x, CR_FILL_BOTH, cr_mat_of(K, N, N)));
    assert_ok(cx, cr_kernel_gram(cx, again, &x, CR_FILL_BOTH, cr_mat_of(A, N, N)));
    assert_ok(cx, cr_kernel_gram(cx, each, &x, CR_FILL_BOTH, cr_mat_of(B, N, N)));
    for (size_t i = 0; i < N * N; i++) {
        assert_close(A[i], K[i], 1e-13);
        assert_close(B[i], K[i], 1e-13);
    }
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, again);
    cr_kernel_free(cx, each);
}

/* Settled or not, copied or not, by any number of threads: the same bits; a parameter that changes
 * forgets. */
TEST(settled)
{
    fixture          *f = draw(25);
    static double     K[N * N], S[N * N], C[N * M], D[N * M], W[N * N], dX[2][N * COLUMNS];
    double            theta[16], g[2][16];
    static const char text[] =
        "centre(1.5*rbf(ard)*centre(linear + 0.3) + subsequence)*periodic(x1) + centre(set)";
    cr_kernel *k = centred(cx, text, &f->x.in, NULL), *copy = NULL;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) W[i * N + j] = W[j * N + i] = sin((double)(i * j));
    cr_ctx_set_threads(cx, 1);
    assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
    assert_ok(cx, cr_kernel_cross(cx, k, &f->x.in, &f->z.in, cr_mat_of(C, N, M)));
    assert_ok(cx, cr_kernel_gram_gradient(cx, k, &f->x.in, cr_cmat_of(W, N, N), g[0]));
    assert_ok(cx, cr_kernel_gram_input_gradient(cx, k, &f->x.in, cr_cmat_of(W, N, N),
                                                cr_mat_of(dX[0], N, COLUMNS)));
    assert_ok(cx, cri_kernel_settle(cx, k));
    assert_ok(cx, cr_kernel_copy(cx, k, &copy));
    assert_non_null(copy->reference->mean);
    for (size_t threads = 1; threads < 8; threads += 2) {
        const cr_kernel *use = threads == 3 ? copy : k;
        cr_ctx_set_threads(cx, threads);
        assert_ok(cx, cr_kernel_gram(cx, use, &f->x.in, CR_FILL_BOTH, cr_mat_of(S, N, N)));
        assert_ok(cx, cr_kernel_cross(cx, use, &f->x.in, &f->z.in, cr_mat_of(D, N, M)));
        assert_ok(cx, cr_kernel_gram_gradient(cx, use, &f->x.in, cr_cmat_of(W, N, N), g[1]));
        assert_ok(cx, cr_kernel_gram_input_gradient(cx, use, &f->x.in, cr_cmat_of(W, N, N),
                                                    cr_mat_of(dX[1], N, COLUMNS)));
        assert_memory_equal(S, K, sizeof K);
        assert_memory_equal(D, C, sizeof C);
        assert_memory_equal(g[1], g[0], cr_kernel_theta_size(k) * sizeof(double));
        assert_memory_equal(dX[1], dX[0], sizeof dX[0]);
        cri_kernel_unsettle(cx, k);
    }
    cr_ctx_set_threads(cx, 0);
    cr_kernel_theta(copy, theta);
    theta[1] += 0.5;
    assert_ok(cx, cr_kernel_set_theta(cx, copy, theta));
    assert_null(copy->reference->mean);
    assert_ok(cx, cr_kernel_set_theta(cx, k, theta));
    assert_ok(cx, cri_kernel_settle(cx, k));
    assert_ok(cx, cr_kernel_gram(cx, copy, &f->x.in, CR_FILL_BOTH, cr_mat_of(S, N, N)));
    assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
    assert_memory_equal(S, K, sizeof K);
    assert_ok(cx, cr_kernel_set_value(cx, k, 0, 7));
    assert_null(k->reference->mean);
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, copy);
}

/* Rows that stand in the reference are found there, also some of them; a settled copy gives the
 * same gradients. */
TEST(found)
{
    fixture *f = draw(29);
    enum { FROM = 11, SOME = 40 };
    static double C[SOME * M], D[SOME * M], W[SOME * M];
    double        g[2][16];
    cr_kernel    *k =
        centred(cx, "2*centre(rbf(ard)*hamming + spectrum) + centre(linear*centre(rbf(x1)))",
                &f->x.in, NULL);
    cr_kernel      *settled = NULL, *other = NULL;
    cr_kernel_input some = f->x.in, moved;
    for (size_t i = 0; i < SOME * M; i++) W[i] = cos((double)i);
    some.rows = some.numbers.rows = SOME;
    some.numbers.a += FROM * COLUMNS, some.codes += FROM * CODES, some.texts += FROM;
    moved = some;
    assert_int_equal(cri_reference_find(k->reference, &f->x.in), 0);
    assert_int_equal(cri_reference_find(k->reference, &some), FROM);
    moved.texts++;
    assert_int_equal(cri_reference_find(k->reference, &moved), SIZE_MAX);
    moved = some, moved.codes++;
    assert_int_equal(cri_reference_find(k->reference, &moved), SIZE_MAX);
    assert_int_equal(cri_reference_find(k->reference, &f->z.in), SIZE_MAX);
    assert_ok(cx, cri_kernel_settled(cx, k, true, &settled));
    assert_non_null(settled->reference->slope);
    assert_ok(cx, cr_kernel_cross(cx, k, &some, &f->z.in, cr_mat_of(C, SOME, M)));
    assert_ok(cx, cr_kernel_cross(cx, settled, &some, &f->z.in, cr_mat_of(D, SOME, M)));
    assert_memory_equal(C, D, sizeof C);
    cr_mat absent = { NULL, 0, 0, 0 };
    assert_ok(
        cx, cr_kernel_cross_gradient(cx, k, &some, &f->z.in, cr_cmat_of(W, SOME, M), g[0], absent));
    assert_ok(cx, cr_kernel_cross_gradient(cx, settled, &some, &f->z.in, cr_cmat_of(W, SOME, M),
                                           g[1], absent));
    for (size_t j = 0; j < cr_kernel_theta_size(k); j++) assert_close(g[1][j], g[0][j], 1e-11);
    assert_ok(cx, cr_kernel_parse(cx, "rbf", NULL, NULL, 0, &other));
    cr_kernel_free(cx, settled);
    assert_ok(cx, cri_kernel_settled(cx, other, true, &settled));
    assert_null(settled);
    cr_kernel_free(cx, other);
    cr_kernel_free(cx, k);
}

/* Each term by itself, with the rows of the whole. */
TEST(terms)
{
    fixture      *f = draw(26);
    static double K[N * N], S[N * N], T[N * N];
    cr_kernel *k = centred(cx, "rbf + centre(linear)*hamming + 2*centre(spectrum)", &f->r.in, NULL),
              *term = NULL;
    memset(S, 0, sizeof S);
    assert_int_equal(cr_kernel_terms(k), 3);
    assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, cr_mat_of(K, N, N)));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(cx, cr_kernel_term(cx, k, i, &term));
        assert_ok(cx, cr_kernel_gram(cx, term, &f->x.in, CR_FILL_BOTH, cr_mat_of(T, N, N)));
        for (size_t e = 0; e < N * N; e++) S[e] += T[e];
        cr_kernel_free(cx, term);
    }
    for (size_t e = 0; e < N * N; e++) assert_close(S[e], K[e], 1e-13);
    cr_kernel_free(cx, k);
}

/* No rows, bad weights, rows that do not suit, new rows with other columns. */
TEST(refusals)
{
    fixture        *f = draw(27);
    static double   K[N * N];
    double          w[R] = { 0 };
    cr_mat          out = cr_mat_of(K, N, N);
    cr_kernel_input narrow = cr_kernel_rows(cr_cmat_of(f->r.X, R, 2)), none = f->r.in;
    cr_kernel      *k = NULL, *plain = NULL;
    none.rows = none.numbers.rows = 0;
    assert_ok(cx, cr_kernel_parse(cx, "center(chi2 + spectrum)", &test_columns, NULL, 0, &k));
    assert_ok(cx, cr_kernel_parse(cx, "rbf", &test_columns, NULL, 0, &plain));
    assert_true(cr_kernel_needs_rows(k));
    assert_false(cr_kernel_needs_rows(plain));
    assert_ok(cx, cr_kernel_centre_on(cx, plain, &f->r.in, w));
    assert_null(plain->reference);
    assert_fails_with(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, out), CR_EARG,
                      "there are none yet");
    assert_non_null(strstr(cr_error_hint(cx), "cr_kernel_centre_on"));
    assert_fails_with(cx, cr_kernel_centre_on(cx, k, &f->r.in, w), CR_EARG,
                      "their weights add up to 0");
    assert_fails_with(cx, cr_kernel_centre_on(cx, k, &none, NULL), CR_EARG,
                      "their weights add up to 0");
    w[3] = -1;
    assert_fails_with(cx, cr_kernel_centre_on(cx, k, &f->r.in, w), CR_EARG,
                      "weight of row 4 is -1");
    w[3] = INFINITY;
    assert_fails_with(cx, cr_kernel_centre_on(cx, k, &f->r.in, w), CR_EARG,
                      "weight of row 4 is inf");
    f->r.X[2 * COLUMNS] = -1;
    assert_fails_with(cx, cr_kernel_centre_on(cx, k, &f->r.in, NULL), CR_EDATA,
                      "row 3, column 1 is -1");
    assert_null(k->reference);
    f->r.X[2 * COLUMNS] = 0.5;
    assert_ok(cx, cr_kernel_centre_on(cx, k, &f->r.in, NULL));
    assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, out));
    double before = K[5];
    w[3] = -1; /* the rows that it has stay */
    assert_fails(cx, cr_kernel_centre_on(cx, k, &f->r.in, w), CR_EARG);
    assert_ok(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, out));
    assert_true(K[5] == before);
    cr_kernel_free(cx, k);
    k = centred(cx, "centre(linear)", &narrow, NULL);
    assert_fails_with(cx, cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, out), CR_EARG,
                      "columns of numbers");
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, plain);
}

/* One row is its own mean: the kernel is 0 there; no rows give an empty matrix. */
TEST(corners)
{
    double          X[] = { 2, 3, 1e8, -1e8 }, K[4] = { 7 }, g[4], d[2];
    cr_kernel_input one = cr_kernel_rows(cr_cmat_of(X, 1, 2)),
                    two = cr_kernel_rows(cr_cmat_of(X, 2, 2));
    cr_kernel_input none = cr_kernel_rows(cr_cmat_of(X, 0, 2));
    cr_kernel      *k = NULL;
    assert_ok(cx, cr_kernel_parse(cx, "centre(rbf + linear)", NULL, NULL, 0, &k));
    assert_ok(cx, cr_kernel_centre_on(cx, k, &one, NULL));
    assert_ok(cx, cr_kernel_gram(cx, k, &none, CR_FILL_BOTH, cr_mat_of(K, 0, 0)));
    assert_ok(cx, cr_kernel_gram_gradient(cx, k, &none, cr_cmat_of(K, 0, 0), g));
    assert_true(K[0] == 7 && g[0] == 0);
    assert_ok(cx, cr_kernel_gram(cx, k, &one, CR_FILL_BOTH, cr_mat_of(K, 1, 1)));
    assert_true(K[0] == 0);
    assert_ok(cx, cr_kernel_gram(cx, k, &two, CR_FILL_BOTH, cr_mat_of(K, 2, 2)));
    assert_ok(cx, cr_kernel_diagonal(cx, k, &two, true, d));
    assert_true(K[0] == 0 && d[0] == 0 && K[3] == d[1]);
    assert_relative(K[3], pow(1e8 - 2, 2) + pow(1e8 + 3, 2) + 2, 1e-14);
    cr_kernel_free(cx, k);
}

static cr_status use_all(cr_ctx *cx, void *arg)
{
    fixture   *f = arg;
    cr_status  st = CR_OK;
    double     K[100], g[16], dX[30], d[10];
    cr_kernel *k = NULL, *copy = NULL, *settled = NULL;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_kernel_parse(
        cx, "2*centre(rbf(x1; l=0.5) + spectrum(k=1))*linear + normalise(centre(polynomial))",
        &test_columns, NULL, 0, &k));
    CR_TRY(cr_kernel_centre_on(cx, k, &f->r.in, f->w));
    CR_TRY(cr_kernel_gram(cx, k, &f->x.in, CR_FILL_BOTH, cr_mat_of(K, 10, 10)));
    CR_TRY(cr_kernel_gram_gradient(cx, k, &f->x.in, cr_cmat_of(K, 10, 10), g));
    CR_TRY(cri_kernel_settle(cx, k));
    CR_TRY(cr_kernel_copy(cx, k, &copy));
    CR_TRY(cr_kernel_cross(cx, copy, &f->x.in, &f->x.in, cr_mat_of(K, 10, 10)));
    CR_TRY(cr_kernel_diagonal(cx, copy, &f->x.in, true, d));
    CR_TRY(cr_kernel_gram_input_gradient(cx, k, &f->x.in, cr_cmat_of(K, 10, 10),
                                         cr_mat_of(dX, 10, 3)));
    CR_TRY(cr_kernel_diagonal_gradient(cx, k, &f->x.in, d, true, g, cr_mat_of(dX, 10, 3)));
    CR_TRY(cr_kernel_gram_derivative(cx, k, &f->x.in, 1, cr_mat_of(K, 10, 10)));
    CR_TRY(cr_kernel_centre_on(cx, k, &f->x.in, NULL));
    CR_TRY(cri_kernel_settled(cx, k, true, &settled));
done:
    cr_kernel_free(cx, k);
    cr_kernel_free(cx, copy);
    cr_kernel_free(cx, settled);
    return st;
}

TEST(allocations)
{
    fixture *f = draw(28);
    f->x.in.rows = f->x.in.numbers.rows = 10;
    f->r.in.rows = f->r.in.numbers.rows = 6;
    test_every_allocation_fails(use_all, f);
}
