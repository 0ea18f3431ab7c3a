/* test_gp_lowrank.c -- predictions by a form of low rank: against the dense formulas, and within
 * their bounds. */
#include "gp_fixture.h"

#include "models/gp/posterior/gp_lowrank.h"
#include "models/gp/exact/gp_pivoted_cholesky.h"
#include "models/core/model_internal.h"

enum { ROWS = 200, INSIDE = 120, D = 2 };

/* Rows of two columns in [0, 3] and a category: y a wave and a slope.  Every seventh input stands
 * there twice. */
typedef struct sample {
    size_t    n;
    double   *X, *y, *w, *v, at[ROWS * D], zero[ROWS];
    uint32_t *codes;
    cr_table *t, *rows;
} sample;

static void add_columns(cr_ctx *cx, cr_table *t, const double *w, const double *v,
                        const uint32_t *codes)
{
    static const char *const levels[] = { "a", "b", "c" };
    assert_ok(cx, cr_table_add_numbers(cx, t, "w", CR_REAL, w, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "v", CR_REAL, v, 1));
    assert_ok(cx, cr_table_add_category(cx, t, "g", codes, levels, 3));
}

/* Rows that lie uniformly in a square, or normally: the outer ones are alone. */
static sample draw_as(cr_ctx *cx, uint64_t seed, size_t n, bool normal)
{
    size_t more = n > ROWS ? n : ROWS;
    sample s = { .n = n,
                 .X = calloc(n * D, sizeof(double)),
                 .y = calloc(n, sizeof(double)),
                 .w = calloc(more, sizeof(double)),
                 .v = calloc(more, sizeof(double)),
                 .codes = calloc(more, sizeof(uint32_t)) };
    cr_rng r = cr_rng_stream(seed, 5);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < D; j++)
            s.X[i * D + j] = i % 7 == 6 ? s.X[(i - 1) * D + j]
                             : normal   ? cr_rng_normal(&r)
                                        : 3 * cr_rng_uniform(&r);
        s.y[i] = 4 + sin(2 * s.X[i * D]) + s.X[i * D + 1] + 0.3 * cr_rng_normal(&r);
    }
    for (size_t i = 0; i < more; i++) {
        s.w[i] = (double)(1 + i % 3);
        s.v[i] = 0.05 * (double)(1 + i % 4);
        s.codes[i] = (uint32_t)(i % 3);
    }
    for (size_t i = 0; i < ROWS; i++) /* within the data, then further and further out */
        for (size_t j = 0; j < D; j++)
            s.at[i * D + j] = normal ? cr_rng_normal(&r)
                                     : (i < INSIDE ? 0.01 + 2.98 * cr_rng_uniform(&r)
                                                   : 1.5 + 0.0625 * (double)(i - INSIDE) *
                                                               (cr_rng_uniform(&r) - 0.4));
    s.t = make_table(cx, s.X, n, D, s.y, NULL);
    s.rows = make_table(cx, s.at, ROWS, D, s.zero, NULL);
    add_columns(cx, s.t, s.w, s.v, s.codes);
    add_columns(cx, s.rows, s.w, s.v, s.codes);
    return s;
}

static sample draw(cr_ctx *cx, uint64_t seed, size_t n) { return draw_as(cx, seed, n, false); }

static void drop(sample *s)
{
    free(s->X);
    free(s->y);
    free(s->w);
    free(s->v);
    free(s->codes);
}

static cri_gp_posterior *state_of(const cr_model *m) { return m->state; }

/* Everything that is told of rows. */
typedef struct told {
    double mean[ROWS], sd[ROWS], alone[ROWS], f[ROWS], f_sd[ROWS];
} told;

static void tell(cr_ctx *cx, const cr_model *m, const cr_table *rows, told *out)
{
    cr_prediction p = predict(cx, m, rows);
    memcpy(out->mean, p.mean, sizeof out->mean);
    memcpy(out->sd, p.scale, sizeof out->sd);
    assert_ok(cx, cr_predict_mean(cx, m, rows, out->alone));
    assert_ok(cx, cr_predict_function(cx, m, rows, false, out->f, out->f_sd, NULL));
}

/* The form itself at rows of the two columns. */
typedef struct formed {
    double H[ROWS * 5], prior[ROWS], mean[ROWS], mean_error[ROWS], variance[ROWS],
        variance_error[ROWS];
    bool   holds[ROWS];
    size_t held;
} formed;

static void form_rows(cr_ctx *cx, const cri_gp_posterior *m, const double *at, formed *f)
{
    cr_scratch               s = cr_scratch_begin(cx);
    cri_gp_lowrank_rows      rows = { ROWS,          f->H,        f->prior,         f->mean,
                                      f->mean_error, f->variance, f->variance_error };
    cr_kernel_input          in = { .rows = ROWS, .numbers = cr_cmat_of(at, ROWS, D) };
    cri_gp_lowrank_workspace workspace;
    assert_ok(cx, cri_gp_lowrank_open(&s, m, ROWS, &workspace));
    cri_gp_mean_fill(&m->mean, at, ROWS, f->H);
    assert_ok(cx, cr_kernel_diagonal(cx, m->kernel, &in, false, f->prior));
    assert_ok(cx, cri_gp_lowrank_predict(cx, m, &in, &workspace, &rows));
    f->held = 0;
    for (size_t i = 0; i < ROWS; i++) f->held += f->holds[i] = cri_gp_lowrank_holds(m, &rows, i);
    cr_scratch_end(&s);
}

typedef struct setup {
    const char *settings;
    size_t      n;
    bool        low;
} setup;

/* Means and sds of targets and of the function, with and without the form. */
TEST(dense)
{
    static const setup setups[] = {
        { "kernel=1.3*rbf(x1;l=0.8) noise=0.1", 300, true },
        { "kernel=1.3*rbf(x1;l=0.8) noise=0.1 mean=zero", 300, true },
        { "kernel=1.3*rbf(l=[2,3]) noise=0.1 mean=linear", 400, true },
        { "kernel=periodic(x1;p=1.5,l=1)*rbf(x1;l=4) noise=0.05 mean=constant", 350, true },
        { "kernel=rbf(x1;l=1)+0.5*rq(x2;l=2,alpha=1)+linear(x1) noise=0.2 mean=poly:2", 350, true },
        { "kernel=linear+poly(degree=2) noise=0.2 mean=zero", 300, true },
        { "kernel=2*rbf(x1;l=1.5) noise=0.1 mean=linear weights=w", 300, true },
        { "kernel=2*rbf(x1;l=1.5) noise_column=v", 300, true },
        { "kernel=2*rbf(x1;l=1.5)+white(0.1)", 300, true },
        { "kernel=2*rbf(x1;l=1.5)+white(0.1) noise=0.05", 300, true },
        { "kernel=2*rbf(x1;l=2)*hamming(g) noise=0.1", 400, true },
        { "kernel=1e6*rbf(x1;l=0.8) noise=1e5", 300, true },
        { "kernel=1.3*matern32(x1;l=0.8) noise=0.1", 300, false }, /* rough: of full rank */
        { "kernel=1.3*rbf(x1;l=0.01) noise=0.1", 300, false },
        { "kernel=rbf(x1;l=0.8) noise=1e-9", 300, false },
        { "kernel=rbf(x1;l=0.8) noise=0.1", 200, false }, /* few rows */
    };
    cr_ctx_set_threads(cx, 1);
    for (size_t k = 0; k < sizeof setups / sizeof *setups; k++) {
        static told low, dense;
        char        settings[512];
        sample      s = draw(cx, k, setups[k].n);
        snprintf(settings, sizeof settings, "target=y features=x1,x2,g optimize=none %s",
                 setups[k].settings);
        cr_model         *m = fit(cx, "gp", s.t, settings);
        cri_gp_posterior *g = state_of(m);
        cri_gp_lowrank    form = g->low;
        if ((form.rank > 0) != setups[k].low)
            fail_msg("%s: a form where none should be, or none", settings);
        if (form.rank == 0) goto next;
        assert_true(form.rank <= g->at.n / 4);
        tell(cx, m, s.rows, &low);
        g->low = (cri_gp_lowrank){ 0 };
        tell(cx, m, s.rows, &dense);
        g->low = form;
        double unit = sqrt(g->noise_column ? 0.05 : fmax(g->noise, 0.1));
        for (size_t i = 0; i < ROWS; i++) {
            assert_close(low.mean[i] / unit, dense.mean[i] / unit, 1e-9);
            assert_close(low.alone[i] / unit, dense.alone[i] / unit, 1e-9);
            assert_close(low.f[i] / unit, dense.f[i] / unit, 1e-9);
            assert_relative(low.sd[i], dense.sd[i], 1e-9);
            assert_close(low.f_sd[i] * low.f_sd[i] / unit / unit,
                         dense.f_sd[i] * dense.f_sd[i] / unit / unit, 1e-9);
        }
    next:
        cr_model_free(cx, m);
        drop(&s);
    }
}

/* Pivots that end early leave errors that can be seen: the bounds hold, and are not idle.  Of the
 * full form nearly all rows within the data hold, and of those far out, some do not. */
TEST(bounds)
{
    static const char *const settings[] = {
        "target=y features=x1,x2 optimize=none mean=linear noise=0.1 kernel=1.3*rbf(l=[2,3])",
        "target=y features=x1,x2 optimize=none mean=zero noise=0.001 kernel=rbf(l=2.5)",
        "target=y features=x1,x2 optimize=none mean=poly:2 noise=0.02 weights=w "
        "kernel=rq(x1;l=1)+rbf(x2;l=1)",
    };
    static const double least[] = { 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15 };
    static formed       f;
    double              mean[ROWS], sd[ROWS];
    cr_ctx_set_threads(cx, 1);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        sample            s = draw(cx, 40 + k, 400);
        cr_model         *m = fit(cx, "gp", s.t, settings[k]);
        cri_gp_posterior *g = state_of(m);
        cri_gp_lowrank    full = g->low;
        assert_true(full.rank > 0);
        form_rows(cx, g, s.at, &f);
        size_t inside = 0;
        for (size_t i = 0; i < INSIDE; i++) inside += f.holds[i];
        assert_in_range(inside, 0.95 * INSIDE, INSIDE);
        assert_in_range(f.held, inside + 30, ROWS - 1);
        g->low = (cri_gp_lowrank){ 0 };
        assert_ok(cx, cr_predict_function(cx, m, s.rows, false, mean, sd, NULL));
        double closest_mean = 0, closest_variance = 0;
        for (size_t l = 0; l < sizeof least / sizeof *least; l++) {
            assert_ok(cx, cri_gp_lowrank_new(cx, g, least[l], INFINITY, &g->low));
            assert_true(g->low.rank > 0);
            if (least[l] > 1e-14)
                assert_true(g->low.rank < full.rank && g->low.residual > full.residual);
            form_rows(cx, g, s.at, &f);
            for (size_t i = 0; i < ROWS; i++) {
                double by_mean = fabs(f.mean[i] - mean[i]),
                       by_variance = fabs(f.variance[i] - sd[i] * sd[i]);
                if (!(by_mean <= f.mean_error[i] && by_variance <= f.variance_error[i]))
                    fail_msg("%s, least %g, row %zu: errors %g of %g and %g of %g", settings[k],
                             least[l], i, by_mean, f.mean_error[i], by_variance,
                             f.variance_error[i]);
                closest_mean = fmax(closest_mean, by_mean / f.mean_error[i]);
                closest_variance = fmax(closest_variance, by_variance / f.variance_error[i]);
            }
            cri_record_free(cx, cri_gp_lowrank_record, &g->low);
            g->low = (cri_gp_lowrank){ 0 };
        }
        g->low = full;
        assert_true(closest_mean > 0.1 && closest_variance > 0.1);
        cr_model_free(cx, m);
        drop(&s);
    }
}

/* Beyond the rounding of doubles more pivots only add noise, which is large in rows that are alone:
 * it is in the bounds. */
TEST(rounding)
{
    static formed f;
    double        mean[ROWS], sd[ROWS];
    for (size_t k = 0; k < 3; k++) {
        sample    s = draw_as(cx, 45 + k, 400, true);
        cr_model *m =
            fit(cx, "gp", s.t, "target=y features=x1,x2 optimize=none noise=0.1 kernel=rbf(l=3)");
        cri_gp_posterior *g = state_of(m);
        cri_gp_lowrank    full = g->low;
        g->low = (cri_gp_lowrank){ 0 };
        assert_ok(cx, cr_predict_function(cx, m, s.rows, false, mean, sd, NULL));
        assert_ok(cx, cri_gp_lowrank_new(cx, g, 1e-15, INFINITY, &g->low));
        assert_true(g->low.rank > 0);
        form_rows(cx, g, s.at, &f);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(fabs(f.mean[i] - mean[i]) <= f.mean_error[i]);
            assert_true(fabs(f.variance[i] - sd[i] * sd[i]) <= f.variance_error[i]);
        }
        cri_record_free(cx, cri_gp_lowrank_record, &g->low);
        g->low = full;
        cr_model_free(cx, m);
        drop(&s);
    }
}

/* rho and the pull against their definitions: all entries of D^-1/2 (K - K_nP K_PP^-1 K_Pn)
 * D^-1/2. */
TEST(residual)
{
    sample            s = draw(cx, 50, 320);
    cr_model         *m = fit(cx, "gp", s.t,
                              "target=y features=x1,x2 weights=w optimize=none mean=constant noise=0.1 "
                                      "kernel=1.3*rbf(l=[1.2,1.9])");
    cri_gp_posterior *g = state_of(m);
    cri_gp_lowrank    low = { 0 };
    cri_gp_data      *at = &g->at;
    assert_ok(cx, cri_gp_lowrank_new(cx, g, 1e-3, INFINITY, &low));
    size_t  n = at->n, r = low.rank;
    double *F = calloc(n * r, sizeof *F), sum = 0, squares = 0, weights = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++) {
            size_t p = low.pivots[j];
            double k = 1.3 * exp(-0.5 * (pow((at->X[i * D] - at->X[p * D]) / 1.2, 2) +
                                         pow((at->X[i * D + 1] - at->X[p * D + 1]) / 1.9, 2)));
            for (size_t l = 0; l < j; l++) k -= F[i * r + l] * low.pivot_factor[j * r + l];
            F[i * r + j] = k / low.pivot_factor[j * r + j];
        }
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        for (size_t j = 0; j < n; j++) {
            double k = 1.3 * exp(-0.5 * (pow((at->X[i * D] - at->X[j * D]) / 1.2, 2) +
                                         pow((at->X[i * D + 1] - at->X[j * D + 1]) / 1.9, 2)));
            for (size_t l = 0; l < r; l++) k -= F[i * r + l] * F[j * r + l];
            sum += k * k / (0.01 * at->r[i] * at->r[j]);
            row += k * g->alpha[j];
        }
        squares += row * row / (0.1 * at->r[i]);
        weights += g->alpha[i] * g->alpha[i] * 0.1 * at->r[i];
    }
    assert_relative(low.residual, sqrt(sum), 1e-9);
    assert_relative(low.pull, sqrt(sqrt(squares * weights)), 1e-9);
    free(F);
    cri_record_free(cx, cri_gp_lowrank_record, &low);
    cr_model_free(cx, m);
    drop(&s);
}

/* The same bits on any number of threads, of a fit, of predictions, and out of a file; one row
 * alone is the same as among many, to rounding. */
TEST(threads_and_file)
{
    static const size_t threads[] = { 1, 2, 3, 7 };
    static told         first, other;
    sample              s = draw(cx, 60, 300);
    for (size_t k = 0; k < 4; k++) {
        cr_ctx_set_threads(cx, threads[k]);
        cr_model *m =
            fit(cx, "gp", s.t,
                "target=y features=x1 optimize=none mean=linear noise=0.1 kernel=rbf(l=0.7)");
        char     *bytes = NULL;
        size_t    size;
        cr_model *again = NULL;
        assert_true(state_of(m)->low.rank > 0);
        tell(cx, m, s.rows, k ? &other : &first);
        if (k) assert_memory_equal(&first, &other, sizeof first);
        assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
        assert_ok(cx, cr_model_from_bytes(cx, "m", bytes, size, &again));
        assert_true(state_of(again)->low.rank > 0);
        tell(cx, again, s.rows, &other);
        assert_memory_equal(&first, &other, sizeof first);
        cr_free(cx, bytes, size, 1);
        cr_model_free(cx, again);
    }
    cr_model *m = fit(cx, "gp", s.t,
                      "target=y features=x1 optimize=none mean=linear noise=0.1 kernel=rbf(l=0.7)");
    for (size_t i = 0; i < ROWS; i += 23) {
        cr_table     *one = make_table(cx, s.at + i * D, 1, D, s.zero, NULL);
        cr_prediction p = predict(cx, m, one);
        assert_close(p.mean[0], first.mean[i], 1e-12);
        assert_relative(p.scale[0], first.sd[i], 1e-12);
    }
    cr_model_free(cx, m);
    drop(&s);
}

/* Updated processes go by the dense formulas: nothing of the old form stays. */
TEST(update)
{
    sample    s = draw(cx, 70, 300);
    cr_model *m = fit(cx, "gp", s.t,
                      "target=y features=x1 optimize=none noise=0.1 kernel=rbf(l=0.7)"),
             *more = NULL;
    assert_true(state_of(m)->low.rank > 0);
    assert_ok(cx, cr_update(cx, m, s.rows, &more));
    assert_true(state_of(more)->low.rank == 0);
    cr_prediction p = predict(cx, m, s.rows), q = predict(cx, more, s.rows);
    assert_true(q.scale[0] < p.scale[0]);
    cr_model_free(cx, more);
    cr_model_free(cx, m);
    drop(&s);
}

typedef struct made {
    cr_model *m;
    cr_table *far;
} made;

/* The form made, used for rows near and far, saved and loaded. */
static cr_status all_of_it(cr_ctx *cx, void *arg)
{
    cr_status      st = CR_OK;
    const made    *a = arg;
    cr_model      *again = NULL;
    cri_gp_lowrank low = { 0 };
    cr_prediction  p = { 0 };
    char          *bytes = NULL;
    size_t         size = 0;
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cri_gp_lowrank_new(cx, state_of(a->m), CRI_GP_PIVOT_LEAST, CRI_GP_LOWRANK_WORST, &low));
    assert_true(low.rank > 0);
    CR_TRY(cr_predict(cx, a->m, a->far, &p));
    CR_TRY(cr_model_to_bytes(cx, a->m, &bytes, &size));
    CR_TRY(cr_model_from_bytes(cx, "m", bytes, size, &again));
done:
    cr_free(cx, bytes, size, 1);
    cr_prediction_free(cx, &p);
    cri_record_free(cx, cri_gp_lowrank_record, &low);
    cr_model_free(cx, again);
    return st;
}

TEST(allocations)
{
    sample s = draw(cx, 80, 300);
    double rows[] = { 1, 1, 9, 9 };
    made   a = { fit(cx, "gp", s.t,
                     "target=y features=x1 optimize=none mean=constant noise=0.1 kernel=rbf(l=9)"),
                 make_table(cx, rows, 2, D, s.zero, NULL) };
    test_every_allocation_fails(all_of_it, &a);
    cr_table_free(cx, a.far);
    cr_model_free(cx, a.m);
    drop(&s);
}
