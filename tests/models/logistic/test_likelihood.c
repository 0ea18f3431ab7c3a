/* test_likelihood.c -- passes of linear classifiers against the definition in long double,
 * differences, and each other: dense and sparse, whole and part. */
#include "opened.h"
#include "math/optim/check_gradient.h"
#include "math/special/special.h"

enum { N = 83, P = 4, WIDE = 20 };

typedef struct kind {
    size_t   M, classes;
    cri_link link;
    bool     full;
    double   intercept_l2;
} kind;

static const kind kinds[] = {
    { 1, 2, CRI_LINK_LOGIT, false, 0 },  { 1, 2, CRI_LINK_PROBIT, false, 0 },
    { 2, 3, CRI_LINK_LOGIT, false, 0 },  { 3, 3, CRI_LINK_LOGIT, true, 0 },
    { 3, 3, CRI_LINK_LOGIT, true, 0.7 }, { 1, 2, CRI_LINK_LOGIT, false, 0.2 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static cri_likelihood likelihood_of(const opened *a, const kind *k)
{
    return (cri_likelihood){ .x = &a->x,
                             .y = a->y,
                             .M = k->M,
                             .link = k->link,
                             .full = k->full,
                             .intercept_l2 = k->intercept_l2,
                             .l2 = 0.7,
                             .step = 1 };
}

static void draw_theta(uint64_t seed, double *theta, size_t D)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t a = 0; a < D; a++) theta[a] = 0.6 * cr_rng_normal(&r);
}

/* --- the definition -------------------------------------------------------------------------- */

static long double nll_by_definition(const cri_likelihood *f, const long double *eta, uint32_t y)
{
    if (f->link == CRI_LINK_PROBIT)
        return -logl(0.5L * erfcl((y == 0 ? -eta[0] : eta[0]) / sqrtl(2)));
    long double sum = f->M == 1 || !f->full ? 1 : 0;
    for (size_t m = 0; m < f->M; m++) sum += expl(eta[m]);
    return logl(sum) - (y < f->M ? eta[y] : 0);
}

static double objective_by_definition(const cri_likelihood *f, const double *X, const double *w,
                                      const double *theta)
{
    const cri_classifier_rows *x = f->x;
    long double                sum = 0, centre = 0;
    for (size_t i = 0; i < x->n; i++) {
        long double eta[8] = { 0 };
        for (size_t m = 0; m < f->M; m++) {
            if (x->intercept) eta[m] = theta[m * x->q];
            for (size_t j = 0; j < x->p; j++)
                eta[m] += theta[m * x->q + x->intercept + j] *
                          (((long double)X[i * x->p + j] - x->centre[j]) / x->scale[j]);
        }
        sum += (w ? w[i] : 1) * nll_by_definition(f, eta, f->y[i]);
    }
    for (size_t m = 0; m < f->M; m++)
        for (size_t j = 0; j < x->q; j++)
            sum += 0.5L * (x->intercept && j == 0 ? f->intercept_l2 : f->l2) * theta[m * x->q + j] *
                   theta[m * x->q + j];
    for (size_t m = 0; m < f->M && x->intercept; m++) centre += theta[m * x->q];
    if (f->full && x->intercept && f->intercept_l2 == 0) sum += centre * centre / 2;
    return (double)sum;
}

TEST(definition)
{
    double X[N * P], y[N], w[N], theta[64];
    for (size_t bits = 0; bits < 4 * KINDS; bits++) {
        const kind *k = &kinds[bits / 4];
        opened      a;
        draw_classes(bits, N, P, k->classes, 0.7, X, y);
        for (size_t i = 0; i < N; i++) w[i] = 0.5 * (double)(i % 4);
        open_classes(cx, X, N, P, y, bits & 1 ? w : NULL, bits & 2, true, &a);
        cri_likelihood       f = likelihood_of(&a, k);
        cri_likelihood_value v = { 0 };
        draw_theta(bits, theta, cri_likelihood_size(&f));
        assert_ok(cx, cri_likelihood_at(cx, &f, theta, &v));
        assert_relative(v.f, objective_by_definition(&f, X, bits & 1 ? w : NULL, theta), 1e-13);
        close_classes(cx, &a);
    }
}

/* --- derivatives ----------------------------------------------------------------------------- */

typedef struct checked {
    cr_ctx               *cx;
    const cri_likelihood *f;
} checked;

static cr_status value_of(void *user, const double *theta, size_t n, double *out_f,
                          double *opt_gradient)
{
    const checked       *c = user;
    cri_likelihood_value v = { .gradient = opt_gradient };
    (void)n;
    cr_status st = cri_likelihood_at(c->cx, c->f, theta, &v);
    *out_f = v.f;
    return st;
}

/* Gradient by extrapolated differences; Hessian by differences of the gradient; products and
 * diagonal by the Hessian. */
static void check_derivatives(cr_ctx *cx, const cri_likelihood *f, const double *theta)
{
    size_t            D = cri_likelihood_size(f);
    checked           c = { cx, f };
    cr_problem        problem = { .n = D, .objective = value_of, .user = &c };
    cr_gradient_check check;
    double  H[128 * 128], g[128], up[128], down[128], moved[128], v[128], Hv[128], diagonal[128];
    double *curvature = calloc(f->x->n * f->M, sizeof(double));
    assert_true(D <= 128);
    assert_ok(cx, cr_check_gradient(cx, &problem, theta, &check));
    if (!(check.error < 1e-6))
        fail_msg("coordinate %zu: %.17g, measured %.17g", check.worst, check.given, check.measured);

    cri_likelihood_value at = { .gradient = g, .hessian = H, .curvature = curvature };
    assert_ok(cx, cri_likelihood_at(cx, f, theta, &at));
    for (size_t a = 0; a < D; a++) {
        const double         h = 1e-4;
        cri_likelihood_value high = { .gradient = up }, low = { .gradient = down };
        memcpy(moved, theta, D * sizeof(double));
        moved[a] = theta[a] + h;
        assert_ok(cx, cri_likelihood_at(cx, f, moved, &high));
        moved[a] = theta[a] - h;
        assert_ok(cx, cri_likelihood_at(cx, f, moved, &low));
        for (size_t b = 0; b < D; b++)
            assert_close(H[b * D + a], (up[b] - down[b]) / (2 * h), 2e-6);
        v[a] = cos((double)a);
    }
    assert_ok(cx, cri_likelihood_product(cx, f, curvature, v, Hv));
    assert_ok(cx, cri_likelihood_diagonal(cx, f, curvature, diagonal));
    for (size_t a = 0; a < D; a++) {
        double sum = 0;
        for (size_t b = 0; b < D; b++) sum += H[a * D + b] * v[b];
        assert_close(Hv[a], sum, 1e-12);
        assert_close(diagonal[a], H[a * D + a], 1e-12);
    }
    free(curvature);
}

TEST(derivatives)
{
    double X[N * P], y[N], w[N], theta[64];
    for (size_t bits = 0; bits < 2 * KINDS; bits++) {
        const kind *k = &kinds[bits / 2];
        opened      a;
        draw_classes(bits, N, P, k->classes, 0.7, X, y);
        for (size_t i = 0; i < N; i++) w[i] = 0.5 * (double)(i % 4);
        open_classes(cx, X, N, P, y, bits & 1 ? w : NULL, true, true, &a);
        cri_likelihood f = likelihood_of(&a, k);
        draw_theta(bits, theta, cri_likelihood_size(&f));
        check_derivatives(cx, &f, theta);
        close_classes(cx, &a);
    }
}

/* --- sparse rows ----------------------------------------------------------------------------- */

/* Rows of which one cell in eight is filled. */
static void draw_sparse(uint64_t seed, double *X, double *y, size_t classes)
{
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < N; i++) {
        y[i] = (double)(cr_rng_below(&r, classes));
        for (size_t j = 0; j < WIDE; j++)
            X[i * WIDE + j] = cr_rng_below(&r, 8) == 0 ? 1 + cr_rng_normal(&r) : 0;
    }
}

TEST(sparse_is_dense)
{
    double X[N * WIDE], y[N], theta[128], g[2][128], H[2][128 * 128];
    for (size_t bits = 0; bits < 2 * KINDS; bits++) {
        const kind *k = &kinds[bits / 2];
        opened      a;
        draw_sparse(bits, X, y, k->classes);
        open_classes(cx, X, N, WIDE, y, NULL, bits & 1, true, &a);
        assert_true(a.x.sparse);
        cri_likelihood f = likelihood_of(&a, k);
        size_t         D = cri_likelihood_size(&f);
        double         value[2], wrong[2], least[2], largest[2];
        draw_theta(bits, theta, D);
        for (int dense = 0; dense < 2; dense++) {
            cri_likelihood_value v = { .gradient = g[dense], .hessian = H[dense] };
            a.x.sparse = !dense;
            assert_ok(cx, cri_likelihood_at(cx, &f, theta, &v));
            assert_ok(cx, cri_likelihood_margins(cx, &f, theta, &least[dense], &largest[dense]));
            value[dense] = v.f, wrong[dense] = v.wrong;
        }
        assert_relative(value[0], value[1], 1e-13);
        assert_close(wrong[0], wrong[1], 0);
        assert_close(least[0], least[1], 1e-12);
        assert_close(largest[0], largest[1], 1e-12);
        for (size_t b = 0; b < D; b++) assert_close(g[0][b], g[1][b], 1e-12);
        for (size_t b = 0; b < D * D; b++) assert_close(H[0][b], H[1][b], 1e-12);
        a.x.sparse = true;
        check_derivatives(cx, &f, theta);
        close_classes(cx, &a);
    }
}

/* A Hessian of some columns is a part of the whole one. */
TEST(part_of_hessian)
{
    double X[N * WIDE], y[N], theta[128], H[128 * 128], part[128 * 128];
    for (size_t bits = 0; bits < 8; bits++) {
        const kind *k = &kinds[bits & 4 ? 3 : 0];
        size_t      sub[] = { 0, 3, 7, 19 };
        opened      a;
        draw_sparse(bits, X, y, k->classes);
        open_classes(cx, X, N, WIDE, y, NULL, bits & 1, true, &a);
        a.x.sparse = bits & 2;
        cri_likelihood       f = likelihood_of(&a, k);
        size_t               D = cri_likelihood_size(&f), q = a.x.q;
        cri_likelihood_value whole = { .hessian = H }, some = { .hessian = part };
        draw_theta(bits, theta, D);
        assert_ok(cx, cri_likelihood_at(cx, &f, theta, &whole));
        f.sub = sub, f.n_sub = 4;
        assert_int_equal(cri_likelihood_edge(&f), 4 * k->M);
        assert_ok(cx, cri_likelihood_at(cx, &f, theta, &some));
        for (size_t i = 0; i < 4 * k->M; i++)
            for (size_t j = 0; j < 4 * k->M; j++)
                assert_close(part[i * 4 * k->M + j],
                             H[(i / 4 * q + sub[i % 4]) * D + j / 4 * q + sub[j % 4]], 1e-12);
        a.x.sparse = true;
        close_classes(cx, &a);
    }
}

/* Every third row alone. */
TEST(step)
{
    double X[N * P], y[N], w[N], theta[16], g[2][16];
    opened a;
    draw_classes(4, N, P, 2, 0.7, X, y);
    for (size_t i = 0; i < N; i++) w[i] = i % 3 == 0;
    open_classes(cx, X, N, P, y, w, true, false, &a);
    cri_likelihood       f = likelihood_of(&a, &kinds[0]);
    cri_likelihood_value all = { .gradient = g[0] }, some = { .gradient = g[1] };
    draw_theta(1, theta, P + 1);
    assert_ok(cx, cri_likelihood_at(cx, &f, theta, &all));
    f.step = 3;
    assert_ok(cx, cri_likelihood_at(cx, &f, theta, &some));
    assert_relative(some.f, all.f, 1e-13);
    for (size_t j = 0; j <= P; j++) assert_close(g[1][j], g[0][j], 1e-12);
    close_classes(cx, &a);
}

/* Scores of any size have finite answers. */
TEST(extreme_scores)
{
    opened         none = { 0 };
    cri_likelihood f = likelihood_of(&none, &kinds[0]), s = likelihood_of(&none, &kinds[3]);
    double         nll, r[3], c[3], sizes[] = { 0, 1e-300, 30, 800, 1e300 };
    for (size_t i = 0; i < 5; i++)
        for (uint32_t y = 0; y < 2; y++) {
            double eta[3] = { sizes[i], -sizes[i], 1 };
            cri_likelihood_row(&f, eta, y, &nll, r, c);
            assert_close(nll, y == 0 ? -cr_log_sigmoid(eta[0]) : -cr_log_sigmoid(-eta[0]), 1e-15);
            assert_close(r[0], y == 0 ? -cr_sigmoid(-eta[0]) : cr_sigmoid(eta[0]), 1e-15);
            assert_true(c[0] >= 0 && c[0] <= 0.25);
            cri_likelihood_row(&s, eta, y, &nll, r, c);
            assert_true(nll >= 0 && isfinite(nll));
            assert_close(r[0] + r[1] + r[2], 0, 1e-15);
            f.link = CRI_LINK_PROBIT;
            eta[0] = fmin(sizes[i], 1e150);
            cri_likelihood_row(&f, eta, y, &nll, r, c);
            assert_true(nll >= 0 && isfinite(nll) && isfinite(r[0]) && c[0] >= 0 && c[0] <= 1);
            f.link = CRI_LINK_LOGIT;
        }
}

/* A hundred thousand columns by their entries: memory and time go by the entries. */
TEST(wide_entries)
{
    enum { ROWS = 600, COLUMNS = 100000, EACH = 12 };
    size_t   *start = calloc(ROWS + 1, sizeof *start);
    uint32_t *column = calloc(ROWS * EACH, sizeof *column), *y = calloc(ROWS, sizeof *y);
    double   *value = calloc(ROWS * EACH, sizeof *value);
    cr_rng    r = cr_rng_stream(2, 2);
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t at = 0;
        double   eta = 0;
        for (size_t k = 0; k < EACH; k++) {
            at += 1 + (uint32_t)cr_rng_below(&r, k < 6 ? 3 : 2 * COLUMNS / EACH - 60);
            column[i * EACH + k] = at;
            value[i * EACH + k] = 1 + cr_rng_uniform(&r);
            eta += at % 2 ? 0.7 : -0.7;
        }
        start[i + 1] = (i + 1) * EACH;
        y[i] = cr_rng_uniform(&r) < 1 / (1 + exp(-eta));
    }
    cri_rows            rows = { .n = ROWS, .p = COLUMNS };
    cri_entries         e = { start, column, value, NULL };
    cri_classifier_rows x;
    cri_solution        s;
    cr_ctx_set_memory_limit(cx, (size_t)200 << 20); /* a dense X would take 480 MB */
    assert_ok(cx, cri_classifier_rows_of_entries(cx, &rows, e, true, false, &x));
    cri_likelihood    f = { .x = &x, .y = y, .M = 1, .l2 = 1, .step = 1 };
    cri_solve_options o = { .tol = 1e-12, .max_iter = CR_COUNT_UNSET };
    assert_ok(cx, cri_solve(cx, &f, &o, true, &s));
    assert_int_equal(s.solver, CRI_SOLVER_NEWTON_CG);
    assert_int_equal(s.stop, CR_STOP_TOLERANCE);
    assert_null(s.hessian);
    assert_true(s.kkt < 1e-8);
    cri_solution_free(cx, &s);
    f.l2 = 0;
    o.l1 = 3;
    assert_ok(cx, cri_solve(cx, &f, &o, true, &s));
    assert_int_equal(s.stop, CR_STOP_TOLERANCE);
    assert_true(s.kkt < 1e-7);
    cri_solution_free(cx, &s);
    cri_classifier_rows_free(cx, &x);
    free(start);
    free(column);
    free(value);
    free(y);
}
