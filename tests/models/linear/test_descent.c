/* test_descent.c -- another form of the columns plugs into coordinate descent: entries that are not
 * 0, their centre implicit, give the path of the dense columns. */
#include "../fixture.h"
#include "../../data/sparse_fixture.h"
#include "models/linear/descent.h"

enum { N = 25, P = 8 };

/* z_j = (x_j - m_j) / s_j; a residual is r[0..n) + r[n]: the last number is what centring has added
 * to each of the others.  Residuals of centred columns sum to 0. */
typedef struct sparse {
    size_t start[P + 1], row[N * P];
    double value[N * P], t[N], centre[P], scale[P], square[P];
} sparse;

static const sparse *of(const cri_columns *X) { return (const sparse *)X->Z; }

static double sparse_dot(const cri_columns *X, size_t j, const double *r)
{
    const sparse *s = of(X);
    double        sum = 0, total = 0;
    for (size_t i = 0; i < N; i++) total += r[i] + r[N];
    for (size_t k = s->start[j]; k < s->start[j + 1]; k++)
        sum += s->value[k] * (r[s->row[k]] + r[N]);
    return (sum - s->centre[j] * total) / s->scale[j];
}

static void sparse_add(const cri_columns *X, size_t j, double a, double *r)
{
    const sparse *s = of(X);
    for (size_t k = s->start[j]; k < s->start[j + 1]; k++)
        r[s->row[k]] += a / s->scale[j] * s->value[k];
    r[N] -= a / s->scale[j] * s->centre[j];
}

static void sparse_start(const cri_columns *X, double *r)
{
    memcpy(r, X->t, N * sizeof(double));
    r[N] = 0;
}

static void sparse_copy(const cri_columns *X, size_t j, double *r)
{
    memset(r, 0, (N + 1) * sizeof(double));
    sparse_add(X, j, 1, r);
}

static double sparse_inner(const cri_columns *X, const double *a, const double *r)
{
    double sum = 0;
    (void)X;
    for (size_t i = 0; i < N; i++) sum += (a[i] + a[N]) * (r[i] + r[N]);
    return sum;
}

/* Columns of mostly zeros, and the same as cross-products. */
static void draw(cr_ctx *cx, sparse *s, cri_columns *X, cri_gram *g)
{
    cr_rng      r = cr_rng_stream(1, 2);
    double      x[N][P + 1], mean[P + 1] = { 0 };
    cri_moments m = { 0 };
    size_t      k = 0;
    for (size_t i = 0; i < N; i++) {
        x[i][P] = cr_rng_normal(&r);
        for (size_t j = 0; j < P; j++) {
            x[i][j] = cr_rng_uniform(&r) < 0.3 ? 1 + cr_rng_normal(&r) : 0;
            x[i][P] += (j < 3 ? 1.0 : 0.1) * x[i][j];
        }
        for (size_t j = 0; j <= P; j++) mean[j] += x[i][j] / N;
    }
    assert_ok(cx, cri_moments_new(cx, P, &m));
    m.weight = N, m.rows = N;
    memcpy(m.mean, mean, sizeof mean);
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a <= P; a++)
            for (size_t b = 0; b <= P; b++)
                m.S[a * (P + 1) + b] += (x[i][a] - mean[a]) * (x[i][b] - mean[b]);
    assert_ok(cx, cri_gram_new(cx, &m, true, true, g));
    for (size_t j = 0; j < P; j++) {
        s->start[j] = k;
        s->centre[j] = mean[j];
        s->scale[j] = sqrt(m.S[j * (P + 2)] / N);
        s->square[j] = 1;
        for (size_t i = 0; i < N; i++)
            if (x[i][j] != 0) s->row[k] = i, s->value[k++] = x[i][j];
    }
    s->start[P] = k;
    for (size_t i = 0; i < N; i++) s->t[i] = x[i][P] - mean[P];
    *X = (cri_columns){ .n = N,
                        .p = P,
                        .residual_size = N + 1,
                        .weight = N,
                        .offset = mean[P],
                        .tt = m.S[(P + 1) * (P + 1) - 1],
                        .centre = s->centre,
                        .scale = s->scale,
                        .square = s->square,
                        .t = s->t,
                        .Z = (const double *)s,
                        .dot = sparse_dot,
                        .add = sparse_add,
                        .start = sparse_start,
                        .copy = sparse_copy,
                        .inner = sparse_inner };
    cri_moments_free(cx, &m);
}

TEST(sparse_columns)
{
    cr_scratch           workspace = cr_scratch_begin(cx);
    sparse               s;
    cri_columns          X;
    cri_gram             g = { 0 };
    cri_descent          a, b;
    cri_descent_settings settings = { 0.9, 1e-11, 10000, NULL };
    draw(cx, &s, &X, &g);
    assert_ok(cx, cri_descent_of_columns(&workspace, &X, &settings, &a));
    assert_ok(cx, cri_descent_of_gram(&workspace, &g, &settings, &b));
    assert_relative(cri_descent_lambda_max(&a), cri_descent_lambda_max(&b), 1e-12);
    for (double lambda = cri_descent_lambda_max(&a); lambda > 1e-3; lambda *= 0.7) {
        double u[P], v[P];
        cri_descent_step(&a, lambda);
        cri_descent_step(&b, lambda);
        assert_true(a.converged && b.converged);
        cri_descent_coefficients(&a, u);
        cri_descent_coefficients(&b, v);
        for (size_t j = 0; j < P; j++) assert_close(u[j], v[j], 1e-9);
        assert_int_equal(cri_descent_nonzero(&a), cri_descent_nonzero(&b));
        assert_relative(cri_descent_mse(&a), cri_descent_mse(&b), 1e-10);
    }
    assert_int_equal(cri_descent_nonzero(&a), P);
    cri_gram_free(cx, &g);
    cr_scratch_end(&workspace);
}

/* --- noise that is fitted to the last row ---------------------------------------------------- */

enum { ROWS = 90, TERMS = 2000 };

static const double *column_of(const cri_columns *X, size_t j) { return X->Z + j * ROWS; }

static double dense_dot(const cri_columns *X, size_t j, const double *r)
{
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++) sum += column_of(X, j)[i] * r[i];
    return sum;
}

static void dense_add(const cri_columns *X, size_t j, double a, double *r)
{
    for (size_t i = 0; i < ROWS; i++) r[i] += a * column_of(X, j)[i];
}

static void dense_start(const cri_columns *X, double *r) { memcpy(r, X->t, ROWS * sizeof *r); }

static void dense_copy(const cri_columns *X, size_t j, double *r)
{
    memcpy(r, column_of(X, j), ROWS * sizeof *r);
}

static double dense_inner(const cri_columns *X, const double *a, const double *r)
{
    double sum = 0;
    (void)X;
    for (size_t i = 0; i < ROWS; i++) sum += a[i] * r[i];
    return sum;
}

/* n numbers of mean 0 and mean square 1. */
static void draw_column(cr_rng *r, double *z)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < ROWS; i++) mean += (z[i] = cr_rng_normal(r)) / ROWS;
    for (size_t i = 0; i < ROWS; i++) square += (z[i] - mean) * (z[i] - mean) / ROWS;
    for (size_t i = 0; i < ROWS; i++) z[i] = (z[i] - mean) / sqrt(square);
}

/* What violates the conditions at lambda, from the definition. */
static double violation_of(const cri_columns *X, double lambda, double ratio, const double *b)
{
    double l1 = lambda * ratio, l2 = lambda - l1;
    double r[ROWS], worst = 0;
    dense_start(X, r);
    for (size_t j = 0; j < TERMS; j++) dense_add(X, j, -b[j], r);
    for (size_t j = 0; j < TERMS; j++) {
        double c = dense_dot(X, j, r) / ROWS;
        worst = fmax(worst, b[j] != 0 ? fabs(c - l2 * b[j] - copysign(l1, b[j])) : fabs(c) - l1);
    }
    return worst;
}

typedef struct noise {
    double     *Z, *b; /* [TERMS x ROWS], [TERMS] workspace */
    double      t[ROWS], ones[TERMS];
    cri_columns X;
} noise;

static void draw_noise(cr_scratch *s, noise *out)
{
    cr_rng rng = cr_rng_stream(40, 4);
    out->Z = cr_scratch_f64(s, ROWS * TERMS);
    out->b = cr_scratch_f64(s, TERMS);
    for (size_t j = 0; j < TERMS; j++) draw_column(&rng, out->Z + j * ROWS), out->ones[j] = 1;
    draw_column(&rng, out->t);
    out->X = (cri_columns){ .n = ROWS,
                            .p = TERMS,
                            .residual_size = ROWS,
                            .weight = ROWS,
                            .tt = ROWS,
                            .square = out->ones,
                            .t = out->t,
                            .Z = out->Z,
                            .dot = dense_dot,
                            .add = dense_add,
                            .start = dense_start,
                            .copy = dense_copy,
                            .inner = dense_inner };
}

/* Follows a path on noise and checks every lambda; what most takes, and how many are not 0. */
static void follow_noise(double ratio, double last, size_t *out_sweeps, size_t *out_nonzero)
{
    cr_ctx              *cx = test_context();
    cr_scratch           workspace = cr_scratch_begin(cx);
    noise                data;
    double               worst = 0;
    cri_descent          d;
    cri_descent_settings settings = { ratio, 1e-7, 10000, NULL };
    draw_noise(&workspace, &data);
    assert_ok(cx, cri_descent_of_columns(&workspace, &data.X, &settings, &d));
    double largest = cri_descent_lambda_max(&d);
    *out_sweeps = 0;
    for (size_t k = 0; k < 100; k++) {
        cri_descent_step(&d, largest * pow(last, (double)k / 99));
        assert_true(d.converged);
        *out_sweeps = d.sweeps > *out_sweeps ? d.sweeps : *out_sweeps;
        cri_descent_coefficients(&d, data.b);
        worst = fmax(worst, violation_of(&data.X, d.lambda, ratio, data.b));
    }
    assert_true(worst <= 4.1e-7);
    assert_true(cri_descent_mse(&d) < 1e-2);
    *out_nonzero = cri_descent_nonzero(&d);
    cr_scratch_end(&workspace);
    test_context_free(cx);
}

/* Close to saturation the terms that are not 0 are nearly dependent, and descent by single
 * coordinates hardly moves: each lambda takes few passes all the same, and ends where the
 * conditions hold. */
TEST(noise_to_the_last_row)
{
    size_t sweeps, nonzero;
    follow_noise(1, 0.01, &sweeps, &nonzero);
    assert_true(sweeps <= 500);
    assert_true(nonzero < ROWS);
}

/* More terms than there is room for cross-products: solved by columns. */
TEST(many_terms)
{
    size_t sweeps, nonzero;
    follow_noise(0.01, 1e-3, &sweeps, &nonzero);
    assert_true(sweeps <= 500);
    assert_true(nonzero > 3 * ROWS + 100);
}

/* --- what earlier residuals tell ------------------------------------------------------------- */

static void multiply(const cri_columns *X, const double *r, double *out)
{
    for (size_t j = 0; j < TERMS; j++) out[j] = dense_dot(X, j, r);
}

/* The distance of what is guessed from the truth is within the bound, and close to it for some: of
 * residuals in the span of those known it is 0, also after directions had to give way. */
TEST(known_gradients_bound_others)
{
    cr_scratch          workspace = cr_scratch_begin(cx);
    cr_rng              rng = cr_rng_stream(7, 7);
    noise               data;
    cri_known_gradients known;
    double             *truth = cr_scratch_f64(&workspace, TERMS), r[ROWS];
    draw_noise(&workspace, &data);
    multiply(&data.X, data.t, truth);
    assert_ok(cx, cri_known_new(&workspace, &data.X, data.t, truth, &known));
    assert_true(known.most >= 2 && known.count == 1);
    memcpy(r, data.t, sizeof r);
    for (size_t step = 0; step < 3 * known.most; step++) {
        double closest = 0;
        for (size_t i = 0; i < ROWS; i++) r[i] = 0.9 * r[i] + 0.1 * cr_rng_normal(&rng);
        multiply(&data.X, r, truth);
        cri_known_look(&known, r);
        for (size_t j = 0; j < TERMS; j++) {
            double share = fabs(truth[j] - known.guess[j]) / (sqrt(ROWS) * known.length);
            assert_true(share <= 1);
            closest = fmax(closest, share);
        }
        assert_true(closest > 0.2 && known.length < 0.5 * sqrt(ROWS));
        multiply(&data.X, known.v, truth);
        cri_known_add(&known, truth, 1);
        assert_true(known.count <= known.most);
        cri_known_look(&known, r);
        multiply(&data.X, r, truth);
        assert_true(known.length < 1e-8);
        for (size_t j = 0; j < TERMS; j++) assert_close(known.guess[j], truth[j], 1e-10);
    }
    cr_scratch_end(&workspace);
}

/* In parts, with the gradients of all terms only where they are asked for: every lambda ends where
 * the conditions hold for all terms, and most need no such gradients. */
TEST(gradients_as_wanted)
{
    cr_scratch           workspace = cr_scratch_begin(cx);
    noise                data;
    double              *products = cr_scratch_f64(&workspace, TERMS);
    const double        *wanted;
    size_t               asked = 0;
    cri_descent          d;
    cri_descent_settings settings = { 1, 1e-7, 10000, NULL };
    draw_noise(&workspace, &data);
    assert_ok(cx, cri_descent_of_columns(&workspace, &data.X, &settings, &d));
    double largest = cri_descent_lambda_max(&d);
    for (size_t k = 0; k < 100; k++) {
        cri_descent_begin(&d, largest * pow(0.05, (double)k / 99));
        do {
            cri_descent_solve(&d);
            wanted = cri_descent_wanted(&d);
            asked += wanted != NULL;
            if (wanted) multiply(&data.X, wanted, products);
        } while (!cri_descent_check(&d, wanted ? products : NULL, 1));
        cri_descent_coefficients(&d, data.b);
        assert_true(d.converged && violation_of(&data.X, d.lambda, 1, data.b) <= 4.1e-7);
    }
    assert_true(asked > 0 && asked < 50);
    cr_scratch_end(&workspace);
}

/* --- a pass over sparse columns -------------------------------------------------------------- */

/* The steps of a pass one by one, from products and sums of columns. */
static void step_by_step(const cri_columns *X, cri_column_pass *of, double *r)
{
    for (size_t i = 0; i < of->m; i++) {
        double b = of->b[i], square = of->square[i];
        if (of->nonzero && b == 0) continue;
        double u = X->dot(X, of->order[i], r) / X->weight + square * b;
        double next = copysign(fmax(fabs(u) - of->l1, 0), u) / (square + of->l2);
        double size = (next - b) * (square + of->l2);
        of->worst = fmax(of->worst, size * size / square);
        if (!(size * size > of->slight * square)) continue;
        of->b[i] = next;
        X->add(X, of->order[i], b - next, r);
    }
}

static void check_sweep(cr_ctx *cx, const sparse_data *d, bool intercept)
{
    enum { MOST = 80 };
    cr_scratch       s = cr_scratch_begin(cx);
    const cri_sparse view = { .n = d->n,
                              .p = d->p,
                              .start = d->start,
                              .column = d->column,
                              .value = d->value,
                              .plain = true };
    const cri_rows   rows = { .n = d->n, .p = d->p, .y = d->y, .sparse = &view };
    cri_columns      X;
    size_t           order[MOST], m = 0;
    double           square[MOST], b[2][MOST] = { { 0 } }, worst = 0;
    assert_ok(cx, cri_columns_of_sparse(cx, &s, &rows, intercept, true, &X));
    assert_non_null(X.sweep);
    double *r[] = { cr_scratch_f64(&s, X.residual_size), cr_scratch_f64(&s, X.residual_size) };
    for (size_t j = 0; j < d->p; j++)
        if (X.square[j] > 0) order[m] = j, square[m++] = X.square[j];
    X.start(&X, r[0]);
    X.start(&X, r[1]);
    for (size_t time = 0; time < 4; time++) {
        cri_column_pass of[2];
        for (size_t k = 0; k < 2; k++)
            of[k] = (cri_column_pass){ .m = m,
                                       .order = order,
                                       .b = b[k],
                                       .square = square,
                                       .nonzero = time == 2,
                                       .l1 = 0.03,
                                       .l2 = time == 3 ? 0.1 : 0,
                                       .slight = 1e-6 };
        step_by_step(&X, &of[0], r[0]);
        X.sweep(&X, &of[1], r[1]);
        for (size_t i = 0; i < m; i++) assert_true(fabs(b[0][i] - b[1][i]) < 1e-12);
        for (size_t i = 0; i < X.residual_size; i++)
            assert_true(fabs(r[0][i] - r[1][i]) < 1e-10 * (1 + fabs(r[0][i])));
        assert_close(of[1].worst, of[0].worst, 1e-9);
        worst = of[0].worst;
    }
    assert_true(worst > 0); /* it moves to the last */
    cri_columns_release(cx, &X);
    cr_scratch_end(&s);
}

/* A pass all at once is that of its steps one by one; the second column has an entry in each row. */
TEST(pass_over_sparse_columns)
{
    sparse_data d = draw_sparse(17, 60, 40, 0.15);
    for (size_t i = 0; i < d.n; i++) {
        d.X[i * d.p + 1] = 1 + (double)(i % 9);
        for (size_t j = 0; j < d.p; j++) d.y[i] += (j % 3 ? 0.2 : -0.4) * d.X[i * d.p + j];
    }
    compress(&d);
    check_sweep(cx, &d, true);
    check_sweep(cx, &d, false);
    free_sparse(&d);
}
