/* The step of lbfgs against the dense matrix that its memory stands for: B by updates of BFGS one
 * after the other, the Cauchy point by walking the projected path with B, the minimum over the free
 * variables by elimination.  And the directions of conjugate gradients against their formulas. */
#include "support.h"

#include "base/rng.h"
#include "math/optim/lbfgs.h"

enum { N = 7, PAIRS = 4 };

/* A run whose points are random, on a random convex quadratic: y = A s. */
typedef struct setting {
    double     A[N][N], x[N], g[N], trial_x[N], trial_g[N], lower[N], upper[N];
    cr_problem problem;
} setting;

static void make_matrix(setting *t, cr_rng *r)
{
    double F[N][N];
    for (size_t i = 0; i < N * N; i++) F[i / N][i % N] = cr_rng_normal(r);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            t->A[i][j] = i == j ? 0.3 : 0;
            for (size_t k = 0; k < N; k++) t->A[i][j] += F[i][k] * F[j][k];
        }
}

/* B += y y^T / s.y - B s s^T B / s.B s */
static void update_dense(double B[N][N], const double *s, const double *y)
{
    double Bs[N] = { 0 }, sBs = 0, sy = 0;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) Bs[i] += B[i][j] * s[j];
        sBs += s[i] * Bs[i];
        sy += s[i] * y[i];
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) B[i][j] += y[i] * y[j] / sy - Bs[i] * Bs[j] / sBs;
}

/* Fills the memory with `count` random pairs and gives the dense B of the last PAIRS of them. */
static void fill(setting *t, cri_run *run, cri_lbfgs *memory, size_t count, cr_rng *r,
                 double B[N][N])
{
    double S[16][N], Y[16][N], sy = 0, yy = 0;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < N; i++) t->trial_x[i] = t->x[i] + cr_rng_normal(r);
        for (size_t i = 0; i < N; i++) {
            t->trial_g[i] = t->g[i];
            for (size_t j = 0; j < N; j++) t->trial_g[i] += t->A[i][j] * (t->trial_x[j] - t->x[j]);
        }
        for (size_t i = 0; i < N; i++) {
            S[k][i] = t->trial_x[i] - t->x[i];
            Y[k][i] = t->trial_g[i] - t->g[i];
        }
        cri_lbfgs_remember(memory, run);
    }
    for (size_t i = 0; i < N && count > 0; i++) {
        sy += S[count - 1][i] * Y[count - 1][i];
        yy += Y[count - 1][i] * Y[count - 1][i];
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) B[i][j] = i != j ? 0 : count > 0 ? yy / sy : 1;
    for (size_t k = count > PAIRS ? count - PAIRS : 0; k < count; k++) update_dense(B, S[k], Y[k]);
}

/* x [N] with C x = b by elimination; C > 0. */
static void eliminate(double C[N][N], double *b)
{
    for (size_t k = 0; k < N; k++)
        for (size_t i = 0; i < N; i++) {
            double f = i == k ? 0 : C[i][k] / C[k][k];
            for (size_t j = 0; j < N && f != 0; j++) C[i][j] -= f * C[k][j];
            b[i] -= f * b[k];
        }
    for (size_t i = 0; i < N; i++) b[i] /= C[i][i];
}

static double clamp(const setting *t, size_t i, double x)
{
    return fmin(t->upper[i], fmax(t->lower[i], x));
}

/* Where the path x - time g, projected, is at a time. */
static void path(const setting *t, double time, double *out)
{
    for (size_t i = 0; i < N; i++) out[i] = clamp(t, i, t->x[i] - time * t->g[i]);
}

/* The first minimiser of the model along the path: segment by segment between sorted
 * breakpoints. */
static void dense_cauchy(const setting *t, double B[N][N], double *out)
{
    double now = 0;
    for (;;) {
        double end = INFINITY, d[N], z[N], slope = 0, curve = 0;
        path(t, now, z);
        for (size_t i = 0; i < N; i++) {
            double bound = t->g[i] > 0 ? t->lower[i] : t->upper[i];
            double hit = (t->x[i] - bound) / t->g[i];
            d[i] = hit > now ? -t->g[i] : 0;
            if (hit > now) end = fmin(end, hit);
            z[i] -= t->x[i];
        }
        for (size_t i = 0; i < N; i++) {
            double Bz = 0, Bd = 0;
            for (size_t j = 0; j < N; j++) Bz += B[i][j] * z[j], Bd += B[i][j] * d[j];
            slope += d[i] * (t->g[i] + Bz);
            curve += d[i] * Bd;
        }
        if (slope >= 0) break;
        double best = now - slope / curve;
        if (best < end) {
            now = best;
            break;
        }
        now = end;
    }
    path(t, now, out);
}

static void dense_direction(const setting *t, double B[N][N], double *d)
{
    double c[N], C[N][N], b[N], slope = 0, most = 1;
    bool   is_free[N];
    dense_cauchy(t, B, c);
    for (size_t i = 0; i < N; i++) {
        is_free[i] = c[i] > t->lower[i] && c[i] < t->upper[i];
        b[i] = is_free[i] ? -t->g[i] : 0;
        for (size_t j = 0; j < N; j++) {
            C[i][j] = is_free[i] ? B[i][j] : i == j;
            if (is_free[i]) b[i] -= B[i][j] * (c[j] - t->x[j]);
        }
    }
    for (size_t i = 0; i < N; i++) /* steps of the others are 0 */
        for (size_t j = 0; j < N; j++)
            if (!is_free[j] && i != j) C[i][j] = 0;
    eliminate(C, b);
    for (size_t i = 0; i < N; i++) {
        d[i] = clamp(t, i, c[i] + b[i]) - t->x[i];
        slope += d[i] * t->g[i];
        if (b[i] > 0) most = fmin(most, (t->upper[i] - c[i]) / b[i]);
        if (b[i] < 0) most = fmin(most, (t->lower[i] - c[i]) / b[i]);
    }
    for (size_t i = 0; i < N && slope >= 0; i++) d[i] = c[i] + most * b[i] - t->x[i];
}

TEST(step_against_the_dense_matrix)
{
    cr_rng r = cr_rng_stream(3, 1);
    size_t held = 0, free_ones = 0;
    for (int trial = 0; trial < 400; trial++) {
        setting            t = { .problem = { .n = N } };
        cr_scratch         s = cr_scratch_begin(cx);
        cr_minimize_report report = { .stop = CR_END_F };
        cri_run            run = { .cx = cx, .problem = &t.problem, .report = &report };
        cri_lbfgs          memory;
        cri_lbfgsb         box;
        double             B[N][N], d[N], known[N];
        run.scratch = &s, run.n = N, run.x = t.x, run.g = t.g;
        run.trial_x = t.trial_x, run.trial_g = t.trial_g;
        t.problem.lower = t.lower, t.problem.upper = t.upper;
        for (size_t i = 0; i < N; i++) {
            t.g[i] = 3 * cr_rng_normal(&r);
            t.x[i] = cr_rng_normal(&r);
            t.lower[i] = t.x[i] - (cr_rng_uniform(&r) < 0.3 ? 0 : cr_rng_exponential(&r));
            t.upper[i] = cr_rng_uniform(&r) < 0.3 ? INFINITY : t.x[i] + cr_rng_exponential(&r);
        }
        make_matrix(&t, &r);
        assert_ok(cx, cri_lbfgs_begin(&run, PAIRS, true, &memory));
        assert_ok(cx, cri_lbfgsb_begin(&run, &memory, &box));
        fill(&t, &run, &memory, (size_t)trial % 8, &r, B);
        if (memory.k > 0) {
            assert_true(cri_lbfgsb_direction(&box, &run, d));
            dense_direction(&t, B, known);
            for (size_t i = 0; i < N; i++) assert_close(d[i], known[i], 1e-9);
            held += N - box.free_count;
            free_ones += box.free_count;
        }
        cri_lbfgs_direction(&memory, t.g, d); /* the two loops: B d = -g */
        for (size_t i = 0; i < N; i++) {
            double Bd = 0;
            for (size_t j = 0; j < N; j++) Bd += B[i][j] * d[j];
            assert_close(Bd, -t.g[i], 1e-9);
        }
        cr_scratch_end(&s);
    }
    assert_true(held > 300 && free_ones > 300); /* both kinds were there */
}

/* --- conjugate gradients --------------------------------------------------------------------- */

typedef struct trail {
    int    beta;
    size_t checked;
    double d[2], g[2];
    bool   started;
} trail;

static cr_status rosenbrock(void *user, const double *x, size_t n, double *out_f, double *opt_g)
{
    double a = x[1] - x[0] * x[0], b = 1 - x[0];
    (void)user, (void)n;
    *out_f = 100 * a * a + b * b;
    if (opt_g) opt_g[0] = -400 * a * x[0] - 2 * b, opt_g[1] = 200 * a;
    return CR_OK;
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

static void check_direction(void *user, const cr_step *s)
{
    trail *t = user;
    double f, g[2], d[2], y[2], beta;
    rosenbrock(NULL, s->x_before, 2, &f, g);
    for (int i = 0; i < 2; i++) {
        d[i] = (s->x[i] - s->x_before[i]) / s->step;
        y[i] = g[i] - t->g[i];
    }
    if (t->started && f > 1e-6) {
        double dy = dot(t->d, y);
        if (t->beta == CR_BETA_HAGER_ZHANG) {
            beta = (dot(y, g) - 2 * dot(y, y) * dot(t->d, g) / dy) / dy;
            beta = fmax(beta, -1 / (sqrt(dot(t->d, t->d)) * fmin(0.01, sqrt(dot(t->g, t->g)))));
        } else {
            beta = fmax(0, dot(y, g) / dot(t->g, t->g));
        }
        double slope = -dot(g, g) + beta * dot(t->d, g);
        for (int i = 0; i < 2 && slope < 0; i++)
            assert_close(d[i], -g[i] + beta * t->d[i], 1e-6 * fmax(1, sqrt(dot(d, d))));
        t->checked++;
    }
    memcpy(t->d, d, sizeof d);
    memcpy(t->g, g, sizeof g);
    t->started = true;
}

TEST(conjugate_directions)
{
    for (int beta = CR_BETA_HAGER_ZHANG; beta <= CR_BETA_POLAK_RIBIERE; beta++) {
        trail               t = { .beta = beta };
        cr_problem          p = { .n = 2, .objective = rosenbrock, .observe = check_direction };
        cr_minimize_options o = cr_minimize_defaults();
        cr_minimize_report  r;
        double              x[2] = { -1.2, 1 };
        p.user = &t;
        o.method = CR_METHOD_CG;
        o.beta = beta;
        o.curvature = 0.4; /* far from exact searches, where all formulas agree */
        assert_ok(cx, cr_minimize(cx, &p, &o, x, &r));
        assert_true(r.f < 1e-8 && t.checked > 10);
    }
}
