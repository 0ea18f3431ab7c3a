/* test_gmm_errors.c -- standard errors of mixtures: the information against second differences of the objective, closed forms
 * of components that are far apart, simulation, the posterior of variational Bayes. */
#include "gmm_fixture.h"
#include "models/latent/gmm_directions.h"

/* --- the information -------------------------------------------------------------------------- */

/* The objective of rows T [n x d] at the state moved by phi [P]. */
static double objective_at(cr_ctx *cx, const cri_gmm *m, const cri_gmm_directions *at,
                           const double *T, const double *w, size_t n, const double *phi)
{
    cri_gmm *to = NULL;
    size_t   d = m->d, size = d * m->width, means = m->k - 1, covariances = means + m->kd;
    double   C[3 * D * D], total = 0;
    assert_ok(cx, cri_gmm_new(cx, m->k, d, m->form, 1, &to));
    memcpy(to->scale, m->scale, d * sizeof(double));
    memcpy(to->prior_scale, m->prior_scale, size * sizeof(double));
    to->prior_rows = m->prior_rows, to->prior_kappa = m->prior_kappa;
    for (size_t c = 0; c < m->k; c++)
        total += to->share[c] = m->share[c] * exp(c < means ? phi[c] : 0);
    for (size_t c = 0; c < m->k; c++) {
        const double *L = m->L + c * size;
        double        B[D * D] = { 0 };
        to->share[c] /= total;
        for (size_t i = 0; i < d; i++) { /* B = I + sum phi J */
            B[i * (d + 1)] = 1;
            for (size_t j = 0; j <= i; j++)
                for (size_t p = 0; p < at->n; p++) {
                    const double *J = cri_gmm_direction(at, c, p);
                    double        x = phi[covariances + p];
                    if (m->width == 1 && i == j) B[i * (d + 1)] += x * J[i];
                    if (m->width > 1) B[i * d + j] += x * J[i * (i + 1) / 2 + j];
                }
        }
        for (size_t i = 0; i < d * d; i++)
            B[i % d * d + i / d] = B[i / d > i % d ? i : i % d * d + i / d];
        for (size_t i = 0; i < d; i++) {
            to->mean[c * d + i] = m->mean[c * d + i];
            for (size_t j = 0; j < (m->width > 1 ? d : 1); j++)
                to->mean[c * d + i] +=
                    L[i * m->width + j] * phi[means + c * d + (m->width > 1 ? j : i)];
            if (m->width == 1) C[c * d + i] = L[i] * L[i] * B[i * (d + 1)];
            for (size_t j = 0; m->width > 1 && j < d; j++) {
                C[c * size + i * d + j] = 0;
                for (size_t e = 0; e < d * d; e++)
                    C[c * size + i * d + j] += L[i * d + e / d] * B[e] * L[j * d + e % d];
            }
        }
    }
    assert_true(cri_gmm_set_covariances(to, C));
    cri_gmm_prepare(to);
    double *sums = calloc(cri_gmm_width(to), sizeof *sums);
    double *work = calloc(cri_gmm_work(to), sizeof *work);
    cri_gmm_add(to, T, w, n, sums, work);
    double objective = sums[0] + cri_gmm_log_prior(to);
    free(sums), free(work);
    cri_state_free(cx, &cri_class_gmm, to);
    return objective;
}

/* Each entry of the information by a second difference, at the end of EM and half-way to it, where the gradient is not 0. */
static void check_information(cr_ctx *cx, const double *X, const double *w, const char *settings)
{
    const double h = 1e-3;
    cr_table    *t = make_table(cx, X, N, D, NULL, w);
    cr_model    *model = fit(cx, "gmm", t, settings);
    cri_gmm     *m = model->state;
    cri_rows     rows = { 0 };
    cr_scratch   s = cr_scratch_begin(cx);
    double       T[N * D], one[N], phi[64] = { 0 }, *F;
    size_t       P;

    cri_gmm_directions at;
    for (size_t i = 0; i < N; i++) one[i] = w ? w[i] : 1;
    for (size_t i = 0; i < N * D; i++) T[i] = (X[i] - m->centre[i % D]) / m->scale[i % D];
    assert_ok(cx, cri_rows_open(cx, model->design, t, CRI_TARGET_NEEDED, &rows));
    assert_ok(cx, cri_gmm_information(cx, &s, &rows, m, &at, &P, &F));
    assert_relative((double)P, cri_gmm_parameters(m->form, m->k, m->d, m->factors), 0);
    assert_true(P < 64);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t turn = 0; turn < 4; turn++) {
                double a = turn & 1 ? h : -h, b = turn & 2 ? h : -h;
                phi[i] += a, phi[j] += b;
                sum += (a * b > 0 ? 1 : -1) * objective_at(cx, m, &at, T, one, N, phi);
                phi[i] = phi[j] = 0;
            }
            double expected = -sum / (4 * h * h), unit = sqrt(F[i * (P + 1)] * F[j * (P + 1)]);
            if (!(fabs(F[i * P + j] - expected) < 2e-4 * unit))
                fail_msg("%s: (%zu, %zu) is %.8g, but by differences %.8g", settings, i, j,
                         F[i * P + j], expected);
        }
    cri_rows_close(cx, &rows);
    cr_scratch_end(&s);
}

TEST(second_differences)
{
    static const char *const linear[] = { "VVV", "EEE", "VVI", "EEI", "VII", "EII" };
    double                   X[N * D], Y[N * D], w[N];
    draw(60, 1, X);
    for (size_t i = 0; i < N; i++)
        w[i] = (double)(i % 4), X[i * D] *= 0.5; /* clusters that overlap */
    memcpy(Y, X, sizeof Y);
    leave_gaps(Y);
    for (size_t f = 0; f < 6; f++)
        for (size_t k = 1; k <= 3; k++) {
            char settings[160];
            snprintf(settings, sizeof settings, "features=x* k=%zu covariance=%s restarts=2", k,
                     linear[f]);
            check_information(cx, X, NULL, settings);
            strcat(settings, " prior=none");
            check_information(cx, Y, NULL, settings);
            strcat(settings, " weights=w max_iter=3");
            check_information(cx, Y, w, settings);
        }
}

/* --- directions ------------------------------------------------------------------------------- */

/* Moves S_c along direction p by h: out [3][D x width] are n_c times what they become. */
static void move_along(const cri_gmm *m, const cri_gmm_directions *at, size_t p, double h,
                       const double *n, double *out)
{
    for (size_t c = 0; c < 3; c++) {
        const double *B = cri_gmm_direction(at, c, p), *L = m->L + c * D * m->width;
        for (size_t i = 0; m->width == 1 && i < D; i++)
            out[c * D + i] = n[c] * L[i] * L[i] * (1 + h * B[i]);
        for (size_t i = 0; m->width > 1 && i < D * D; i++) {
            double sum = 0;
            for (size_t e = 0; e < D * D; e++) {
                size_t x = e / D > e % D ? e / D : e % D, y = e / D + e % D - x;
                double b = (x == y) + h * B[x * (x + 1) / 2 + y];
                sum += L[i / D * D + e / D] * b * L[i % D * D + e % D];
            }
            out[c * D * D + i] = n[c] * sum;
        }
    }
}

/* Covariances that have moved a little along any direction are of the form still, up to the square of it: the M-step for them
 * gives them back.  And the directions are as many as there are parameters, each different from all others. */
TEST(directions_stay_in_the_form)
{
    const double h = 1e-4;
    cr_rng       r = cr_rng_stream(65, 0);
    for (int form = 0; form <= CRI_GMM_PPCA; form++) {
        cri_gmm           *m = NULL;
        cr_scratch         s = cr_scratch_begin(cx);
        cri_gmm_directions at;
        double W[3 * D * D], C[3 * D * D], n[3] = { 20, 35, 50 }, G[40 * 40], L[40 * 40];
        assert_ok(cx, cri_gmm_new(cx, 3, D, form, 1, &m));
        m->factors = form == CRI_GMM_PPCA;
        for (size_t j = 0; j < D; j++) m->scale[j] = 1;
        for (size_t i = 0; i < 3 * D * m->width; i++)
            m->L[i] = m->U[i] = m->width == 1 || i / D % D == i % D ? 1 : 0;
        for (size_t c = 0; c < 3; c++) {
            double A[D * D];
            draw_normals(&r, A, D * D);
            for (size_t i = 0; i < D * m->width; i++) {
                size_t a = m->width > 1 ? i / D : i, b = m->width > 1 ? i % D : i;
                double sum = a == b;
                for (size_t l = 0; l < D; l++) sum += A[a * D + l] * A[b * D + l];
                W[c * D * m->width + i] = n[c] * sum;
            }
        }
        for (size_t step = 0; step < 60; step++) {
            assert_ok(cx, cri_gmm_covariances(cx, m, W, n, C));
            assert_true(cri_gmm_set_covariances(m, C));
            cri_gmm_prepare(m);
        }
        assert_ok(cx, cri_gmm_find_directions(cx, &s, m, &at));
        double parameters = cri_gmm_parameters(form, 3, D, m->factors) - 2 - 3 * D;
        assert_relative((double)at.n, parameters, 0);
        for (size_t p = 0; p < at.n; p++) {
            cri_gmm *to = NULL;
            move_along(m, &at, p, h, n, W);
            assert_ok(cx, cri_gmm_new(cx, 3, D, form, 1, &to));
            to->factors = m->factors;
            memcpy(to->scale, m->scale, D * sizeof(double));
            memcpy(to->L, m->L, 3 * D * m->width * sizeof(double));
            cri_gmm_prepare(to);
            for (size_t step = 0; step < 30; step++) {
                assert_ok(cx, cri_gmm_covariances(cx, to, W, n, C));
                assert_true(cri_gmm_set_covariances(to, C));
                cri_gmm_prepare(to);
            }
            for (size_t i = 0; i < 3 * D * m->width; i++) {
                double moved = W[i] / n[i / (D * m->width)];
                if (!(fabs(C[i] - moved) < 0.02 * h * (1 + fabs(moved))))
                    fail_msg("%s: direction %zu leaves the form by %g", cri_gmm_form_name(form), p,
                             fabs(C[i] - moved) / h);
            }
            cri_state_free(cx, &cri_class_gmm, to);
            for (size_t q = 0; q < at.n; q++) {
                double sum = 0;
                for (size_t c = 0; c < 3; c++)
                    for (size_t i = 0; i < at.size; i++)
                        sum += cri_gmm_direction(&at, c, p)[i] * cri_gmm_direction(&at, c, q)[i];
                G[p * at.n + q] = sum;
            }
        }
        assert_true(cri_factor_point(G, at.n, L));
        for (size_t p = 0; p < at.n; p++) assert_true(L[p * (at.n + 1)] > 1e-3);
        cri_state_free(cx, &cri_class_gmm, m);
        cr_scratch_end(&s);
    }
}

/* --- standard errors -------------------------------------------------------------------------- */

enum { ROWS = 600 };

/* Two clusters `gap` apart, a third and two thirds of the rows, of the form VEE. */
static void draw_apart(cr_rng *r, double gap, double *X)
{
    for (size_t i = 0; i < ROWS; i++) {
        double a = cr_rng_normal(r), b = cr_rng_normal(r), c = i % 3 == 0 ? 0 : 1, size = 1 + c;
        X[i * 2] = gap * c + size * a;
        X[i * 2 + 1] = size * (0.6 * a + 0.8 * b);
    }
}

/* Of components far apart: sd of a mean S_jj^1/2 / n_c^1/2 with every form; of an sd as many degrees of freedom as share it. */
TEST(components_apart)
{
    double X[ROWS * 2];
    cr_rng r = cr_rng_stream(61, 0);
    draw_apart(&r, 30, X);
    cr_table *t = make_table(cx, X, ROWS, 2, NULL, NULL);
    for (int form = 0; form <= CRI_GMM_PPCA; form++) {
        const char *name = cri_gmm_form_name(form);
        char        settings[96];
        snprintf(settings, sizeof settings, "k=2 prior=none tol=1e-10 covariance=%s", name);
        json_t *d = describe(cx, rising(cx, t, settings));
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(d, "statistics"), "standard_errors")),
            "information");
        assert_relative(parameter(d, "c1.share", "sd"), sqrt(2.0 / 9 / ROWS), 1e-4);
        for (size_t c = 1; c <= 2; c++) {
            double n = c == 1 ? 2 * ROWS / 3.0 : ROWS / 3.0;
            for (size_t j = 1; j <= 2; j++) {
                char mean[32], sd[32];
                snprintf(mean, sizeof mean, "c%zu.mean.x%zu", c, j);
                snprintf(sd, sizeof sd, "c%zu.sd.x%zu", c, j);
                double spread = parameter(d, sd, "value"), error = parameter(d, sd, "sd");
                assert_relative(parameter(d, mean, "sd"), spread / sqrt(n), 1e-3);
                double shared = strcmp(name, "EII") == 0                               ? 2 * ROWS
                                : strcmp(name, "VII") == 0                             ? 2 * n
                                : strcmp(name, "EEI") == 0 || strcmp(name, "EEE") == 0 ? ROWS
                                : form == CRI_GMM_VVI || form == CRI_GMM_VVV           ? n
                                                                                       : 0;
                if (shared > 0) assert_relative(error, spread / sqrt(2 * shared), 1e-3);
                /* no form knows an sd better than one for all, or worse than each its own */
                assert_true(error < spread / sqrt(2 * n) * 1.2 &&
                            error > spread / sqrt(4.0 * ROWS) * 0.9);
            }
        }
    }
}

/* Over simulations of a model that holds the estimates vary as their errors say: also those of forms whose
 * covariances are no linear space. */
TEST(simulation)
{
    static const char *const forms[] = { "VEE", "VEV", "VVE", "EVV" };
    static const char *const names[] = { "c1.share", "c1.mean.x2", "c1.sd.x1", "c2.sd.x2" };
    size_t                   trials = simulation_size(60, 400);
    for (size_t f = 0; f < 4; f++) {
        double sum[4] = { 0 }, square[4] = { 0 }, claimed[4] = { 0 }, X[ROWS * 2];
        for (size_t trial = 0; trial < trials; trial++) {
            char   settings[96];
            cr_rng r = cr_rng_stream(62 + f, trial);
            for (size_t i = 0; i < ROWS;
                 i++) { /* clusters that overlap, of the form VEE, VVE or EVE */
                double a = cr_rng_normal(&r), b = cr_rng_normal(&r);
                bool   second = cr_rng_uniform(&r) < 0.3;
                double size = second && f < 3 ? 2 : 1, lean = second && f > 1 ? -0.6 : 0.6;
                X[i * 2] = 4.5 * second + size * a;
                X[i * 2 + 1] = size * (lean * a + 0.8 * b) - 3 * second;
            }
            snprintf(settings, sizeof settings, "k=2 prior=none restarts=1 tol=1e-8 covariance=%s",
                     forms[f]);
            cr_table *t = make_table(cx, X, ROWS, 2, NULL, NULL);
            json_t   *d = describe(cx, fit(cx, "gmm", t, settings));
            for (size_t i = 0; i < 4; i++) {
                double value = parameter(d, names[i], "value");
                sum[i] += value, square[i] += value * value;
                claimed[i] += pow(parameter(d, names[i], "sd"), 2);
            }
        }
        for (size_t i = 0; i < 4; i++) {
            double n = (double)trials, variance = (square[i] - sum[i] * sum[i] / n) / (n - 1);
            double ratio = sqrt(claimed[i] / n / variance), allowed = 4 / sqrt(2 * n);
            if (!(fabs(log(ratio)) < allowed))
                fail_msg("%s %s: errors are %.3f of the spread of estimates", forms[f], names[i],
                         ratio);
        }
    }
}

/* Of components far apart the posterior is what the information says. */
TEST(as_the_posterior)
{
    double X[ROWS * 2];
    cr_rng r = cr_rng_stream(63, 0);
    draw_apart(&r, 14, X);
    cr_table *t = make_table(cx, X, ROWS, 2, NULL, NULL);
    json_t   *a = describe(cx, rising(cx, t, "k=2")),
           *b = describe(cx, rising(cx, t, "k=2 infer=vb"));
    static const char *const names[] = { "c1.share", "c1.mean.x1", "c2.mean.x2", "c1.sd.x1",
                                         "c2.sd.x2" };
    for (size_t i = 0; i < 5; i++)
        assert_relative(parameter(a, names[i], "sd"), parameter(b, names[i], "sd"), 0.03);
}

/* More parameters than it is done for: no error, and the reason. */
TEST(too_many_parameters)
{
    enum { COLUMNS = 24, FEW = 120 };
    double X[FEW * COLUMNS];
    cr_rng r = cr_rng_stream(64, 0);
    draw_normals(&r, X, FEW * COLUMNS);
    json_t *d = describe(cx, fit(cx, "gmm", make_table(cx, X, FEW, COLUMNS, NULL, NULL), "k=1"));
    assert_true(isnan(parameter(d, "c1.mean.x1", "sd")));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(d, "statistics"), "standard_errors")),
        "none: more than 300 free parameters");
}
