/* test_gmm.c -- Gaussian mixtures against stored references, sums over all assignments of rows to components, one
 * step by plain loops, closed forms; the objective never falls; spurious ends; corners. */
#include "../fixture.h"

#include "math/dense/decompose.h"
#include "models/core/em.h"
#include "models/latent/gmm.h"

static const cri_gmm *state_of(const cr_model *m) { return m->state; }

/* A fit whose objective has never fallen, and whose description is in order. */
static cr_model *rising(cr_ctx *cx, const cr_table *t, const char *settings)
{
    cr_model             *m = fit(cx, "gmm", t, settings);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-9 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    assert_true(o->trace[o->iterations - 1] == o->objective);
    assert_close(o->objective - cri_gmm_log_prior(m->state), m->report.log_likelihood,
                 1e-9 * fabs(o->objective));
    return m;
}

static const char *const covariances[] = { "full", "tied", "diag", "spherical" };

/* Three clusters, the columns of different units, and a far offset. */
enum { N = 90, D = 3 };
static void draw(uint64_t seed, double offset, double *X)
{
    cr_rng r = cr_rng_stream(seed, 3);
    for (size_t i = 0; i < N; i++) {
        double a = cr_rng_normal(&r), b = cr_rng_normal(&r), c = (double)(i % 3);
        X[i * D] = offset + 4 * c + a;
        X[i * D + 1] = offset + 10 * (c == 1) + 2 * b + a;
        X[i * D + 2] = offset + 0.1 * cr_rng_normal(&r) + 0.2 * c * b;
    }
}

/* --- densities -------------------------------------------------------------------------------- */

/* log N(x; component c), by elimination, from what the description says. */
static double log_normal(const cri_gmm *m, size_t c, const double *x)
{
    long double C[16], t[4], logdet, square;
    double      S[16];
    cri_gmm_covariance(m, c, S);
    for (size_t i = 0; i < m->d * m->d; i++)
        C[i] = (long double)S[i] * m->scale[i / m->d] * m->scale[i % m->d];
    for (size_t j = 0; j < m->d; j++)
        t[j] = x[j] - (m->centre[j] + (long double)m->scale[j] * m->mean[c * m->d + j]);
    square = quadratic_form(m->d, C, t, &logdet);
    return (double)(-0.5L * (square + logdet + (long double)m->d * logl(2 * M_PI)));
}

/* The likelihood of six rows is the sum over all 2^6 assignments of rows to components. */
TEST(sum_over_all_assignments)
{
    enum { ROWS = 6 };
    const double X[ROWS * 2] = { 0.1, 2, 0.5, 1.4, -0.3, 2.2, 4.1, 0.3, 4.9, -0.7, 4.4, 0.9 };
    cr_table    *t = make_table(cx, X, ROWS, 2, NULL, NULL);
    for (size_t form = 0; form < 4; form++) {
        char        settings[64];
        long double sum = 0;
        snprintf(settings, sizeof settings, "k=2 covariance=%s",
                 form == 0 ? "tied" : covariances[form]);
        cr_model      *m = rising(cx, t, settings);
        const cri_gmm *s = state_of(m);
        for (size_t a = 0; a < 1 << ROWS; a++) {
            long double p = 1;
            for (size_t i = 0; i < ROWS; i++)
                p *= s->share[a >> i & 1] * expl(log_normal(s, a >> i & 1, X + i * 2));
            sum += p;
        }
        assert_relative(m->report.log_likelihood, (double)logl(sum), 1e-10);
    }
}

/* Responsibilities and log densities of predict by Bayes' theorem. */
TEST(answers)
{
    double X[N * D];
    draw(1, 3, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t form = 0; form < 4; form++) {
        char settings[64];
        snprintf(settings, sizeof settings, "k=3 covariance=%s", covariances[form]);
        cr_model      *m = rising(cx, t, settings);
        const cri_gmm *s = state_of(m);
        cr_prediction  p = predict(cx, m, t);
        double         total = 0;
        assert_proper(&p);
        assert_int_equal(p.n_classes, 3);
        for (size_t i = 0; i < N; i++) {
            double joint[3], sum = 0;
            for (size_t c = 0; c < 3; c++)
                sum += joint[c] = s->share[c] * exp(log_normal(s, c, X + i * D));
            for (size_t c = 0; c < 3; c++) assert_close(p.prob[i * 3 + c], joint[c] / sum, 1e-9);
            assert_close(p.log_density[i], log(sum), 1e-9);
            total += p.log_density[i];
        }
        assert_relative(total, m->report.log_likelihood, 1e-12);
        for (size_t c = 1; c < 3; c++) assert_true(s->share[c] <= s->share[c - 1]);
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

/* One step by plain loops: responsibilities, then weighted means and covariances, with and without the prior. */
TEST(one_step)
{
    double X[N * D], w[N];
    cr_rng r = cr_rng_stream(9, 9);
    draw(2, 0, X);
    for (size_t i = 0; i < N; i++) w[i] = 0.5 + cr_rng_uniform(&r);
    cr_table *t = make_table(cx, X, N, D, NULL, w);
    for (size_t prior = 0; prior < 2; prior++) {
        char settings[128];
        snprintf(settings, sizeof settings, "features=x* weights=w k=2 max_iter=3 restarts=1%s",
                 prior ? "" : " prior=none");
        cr_model    *m = fit(cx, "gmm", t, settings);
        cri_gmm     *s = m->state;
        double       T[N * D], C[2][D * D] = { { 0 } }, mean[2][D] = { { 0 } };
        double       n[2] = { 0 }, total = 0;
        const double kappa = prior ? 0.01 : 0, rows = prior ? 0.1 : 0;
        double       r2[N][2];
        for (size_t i = 0; i < N * D; i++) T[i] = (X[i] - s->centre[i % D]) / s->scale[i % D];
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t c = 0; c < 2; c++)
                sum += r2[i][c] = s->share[c] * exp(log_normal(s, c, X + i * D));
            for (size_t c = 0; c < 2; c++) {
                n[c] += r2[i][c] = w[i] * r2[i][c] / sum;
                for (size_t j = 0; j < D; j++) mean[c][j] += r2[i][c] * T[i * D + j];
            }
            total += w[i];
        }
        for (size_t c = 0; c < 2; c++) {
            for (size_t j = 0; j < D; j++) mean[c][j] /= n[c] + kappa;
            for (size_t a = 0; a < D * D; a++) {
                for (size_t i = 0; i < N; i++)
                    C[c][a] += r2[i][c] * (T[i * D + a / D] - mean[c][a / D]) *
                               (T[i * D + a % D] - mean[c][a % D]);
                C[c][a] +=
                    s->prior_scale[a] * (prior > 0) + kappa * mean[c][a / D] * mean[c][a % D];
                C[c][a] /= n[c] + rows;
            }
        }
        size_t  width = cri_gmm_width(s);
        double *sums = calloc(width, sizeof *sums), *work = calloc(cri_gmm_work(s), sizeof *work);
        cri_gmm_add(s, T, w, N, sums, work);
        assert_relative(sums[0], s->log_likelihood, 1e-12);
        assert_ok(cx, cri_gmm_solve(cx, NULL, sums, s));
        free(sums), free(work);
        for (size_t c = 0; c < 2; c++) {
            double S[D * D];
            cri_gmm_covariance(s, c, S);
            assert_close(s->share[c], n[c] / total, 1e-10);
            for (size_t j = 0; j < D; j++) assert_close(s->mean[c * D + j], mean[c][j], 1e-10);
            for (size_t a = 0; a < D * D; a++) assert_close(S[a], C[c][a], 1e-10);
        }
    }
}

/* --- missing cells ---------------------------------------------------------------------------- */

/* Every third row lacks a cell or two, and the last everything. */
static void leave_gaps(double *X)
{
    for (size_t i = 0; i < N; i += 3) {
        X[i * D + i / 3 % D] = NAN;
        if (i % 2 == 0) X[i * D + (i / 3 + 1) % D] = NAN;
    }
    for (size_t j = 0; j < D; j++) X[(N - 1) * D + j] = NAN;
}

/* What component c makes of a row t with gaps: log N(t_O), and the means and covariances of all cells given t_O, by
 * dense conditioning. */
static double condition(const cri_gmm *m, size_t c, const double *t, double *mean, double *cov)
{
    size_t      d = m->d, seen[4], q = 0;
    double      S[16];
    long double A[16], F[16], B[16], v[4], logdet, square;
    cri_gmm_covariance(m, c, S);
    memset(cov, 0, d * d * sizeof *cov);
    for (size_t j = 0; j < d; j++)
        if (!isnan(t[j])) seen[q++] = j;
    for (size_t a = 0; a < q; a++) {
        v[a] = t[seen[a]] - m->mean[c * d + seen[a]];
        for (size_t b = 0; b < q; b++) A[a * q + b] = F[a * q + b] = S[seen[a] * d + seen[b]];
        for (size_t j = 0; j < d; j++) B[a * d + j] = S[seen[a] * d + j];
    }
    if (q > 0) solve_dense(q, A, B, d); /* S_OO^-1 S_O. */
    for (size_t i = 0; i < d; i++) {
        mean[i] = m->mean[c * d + i];
        for (size_t a = 0; a < q; a++) mean[i] += (double)(v[a] * B[a * d + i]);
        for (size_t j = 0; j < d; j++) {
            cov[i * d + j] = S[i * d + j];
            for (size_t a = 0; a < q; a++)
                cov[i * d + j] -= S[i * d + seen[a]] * (double)B[a * d + j];
        }
    }
    square = quadratic_form(q, F, v, &logdet);
    return (double)(-0.5L * (square + logdet + (long double)q * logl(2 * M_PI)));
}

/* Densities and one step with gaps are those of the marginal and conditional formulas; a row without cells is worth
 * nothing. */
TEST(missing_cells)
{
    double X[N * D], T[N * D], w[N];
    draw(20, 5, X);
    leave_gaps(X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t i = 0; i < N; i++) w[i] = 1;
    for (size_t form = 0; form < 4; form += 2) {
        char   settings[64];
        double n[2] = { 0 }, first[2][D] = { { 0 } }, second[2][D * D] = { { 0 } }, total = 0;
        snprintf(settings, sizeof settings, "k=2 prior=none covariance=%s", covariances[form]);
        cr_model     *m = rising(cx, t, settings);
        cri_gmm      *s = m->state;
        cr_prediction p = predict(cx, m, t);
        assert_proper(&p);
        for (size_t i = 0; i < N * D; i++) T[i] = (X[i] - s->centre[i % D]) / s->scale[i % D];
        for (size_t i = 0; i < N; i++) {
            double joint[2], mean[2][D], cov[2][D * D], units = 0, sum = 0;
            for (size_t j = 0; j < D; j++) units += isnan(X[i * D + j]) ? 0 : log(s->scale[j]);
            for (size_t c = 0; c < 2; c++)
                sum += joint[c] = s->share[c] * exp(condition(s, c, T + i * D, mean[c], cov[c]));
            assert_close(p.log_density[i], log(sum) - units, 1e-9);
            total += p.log_density[i];
            for (size_t c = 0; c < 2; c++) {
                double r = joint[c] / sum;
                assert_close(p.prob[i * 2 + c], r, 1e-9);
                if (i == N - 1) continue;
                n[c] += r;
                for (size_t a = 0; a < D * D; a++)
                    second[c][a] += r * (mean[c][a / D] * mean[c][a % D] + cov[c][a]);
                for (size_t j = 0; j < D; j++) first[c][j] += r * mean[c][j];
            }
        }
        assert_relative(total, m->report.log_likelihood, 1e-10);
        assert_close(p.log_density[N - 1], 0, 1e-12);
        size_t  width = cri_gmm_width(s);
        double *sums = calloc(width, sizeof *sums), *work = calloc(cri_gmm_work(s), sizeof *work);
        cri_gmm_add(s, T, w, N, sums, work);
        assert_ok(cx, cri_gmm_solve(cx, NULL, sums, s));
        free(sums), free(work);
        for (size_t c = 0; c < 2; c++) {
            double S[D * D];
            cri_gmm_covariance(s, c, S);
            assert_close(s->share[c], n[c] / (N - 1), 1e-10);
            for (size_t j = 0; j < D; j++)
                assert_close(s->mean[c * D + j], first[c][j] / n[c], 1e-9);
            for (size_t a = 0; a < D * D; a++) {
                double mu = first[c][a / D] * first[c][a % D] / n[c] / n[c];
                if (form == 0 || a % (D + 1) == 0)
                    assert_close(S[a], second[c][a] / n[c] - mu, 1e-9);
            }
        }
    }
    /* without the empty row all is the same */
    cr_table *fewer = make_table(cx, X, N - 1, D, NULL, NULL);
    cr_model *a = rising(cx, t, "k=2"), *b = rising(cx, fewer, "k=2");
    json_t   *da = describe(cx, a), *db = describe(cx, b);
    assert_relative(statistic(da, "objective"), statistic(db, "objective"), 1e-6);
    assert_relative(statistic(da, "bic"), statistic(db, "bic"), 1e-6);
}

/* One component is the normal distribution of all rows. */
TEST(one_component)
{
    double X[N * D], mean[D] = { 0 }, C[D * D] = { 0 };
    draw(4, 1, X);
    cr_table *t = make_table(cx, X, N, D, NULL, NULL);
    for (size_t i = 0; i < N * D; i++) mean[i % D] += X[i] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < D * D; a++)
            C[a] += (X[i * D + a / D] - mean[a / D]) * (X[i * D + a % D] - mean[a % D]) / N;
    for (size_t form = 0; form < 4; form++) {
        char settings[64];
        snprintf(settings, sizeof settings, "k=1 prior=none covariance=%s", covariances[form]);
        cr_model   *m = rising(cx, t, settings);
        json_t     *d = describe(cx, m);
        double      trace = (C[0] + C[4] + C[8]) / D, logdet = 0;
        long double F[D * D], zero[D] = { 0 }, full;
        for (size_t a = 0; a < D * D; a++) F[a] = C[a];
        quadratic_form(D, F, zero, &full);
        for (size_t j = 0; j < D; j++) {
            char   name[32];
            double v = form == 3 ? trace : C[j * (D + 1)];
            logdet += log(v);
            snprintf(name, sizeof name, "c1.mean.x%zu", j + 1);
            assert_close(parameter(d, name, "value"), mean[j], 1e-10);
            snprintf(name, sizeof name, "c1.sd.x%zu", j + 1);
            assert_relative(parameter(d, name, "value"), sqrt(v), 1e-10);
        }
        if (form < 2) logdet = (double)full;
        double ll = -0.5 * N * (D * (log(2 * M_PI) + 1) + logdet);
        double free_parameters = form < 2 ? 9 : form == 2 ? 6 : 4;
        assert_relative(m->report.log_likelihood, ll, 1e-10);
        assert_relative(statistic(d, "parameters"), free_parameters, 0);
        assert_relative(statistic(d, "bic"), -2 * ll + free_parameters * log(N), 1e-10);
        assert_relative(statistic(d, "aic"), -2 * ll + 2 * free_parameters, 1e-10);
        assert_relative(statistic(d, "icl"), statistic(d, "bic"), 1e-10);
    }
}

/* --- references ------------------------------------------------------------------------------- */

/* Full covariances on iris, Old Faithful and wine: the best known likelihood that is not spurious. */
TEST(best_known)
{
    json_t *cases = reference_cases(cx, "gmm"), *item, *of;
    size_t  i;
    json_array_foreach(cases, i, item)
    {
        json_t     *by_k = json_object_get(json_object_get(item, "expected"), "by_k");
        const char *k, *drop, *scaled = json_string_value(json_object_get(item, "preprocess"));
        char        path[256], settings[512];
        if (!by_k) continue;
        drop = json_string_value(json_object_get(json_object_get(item, "data"), "drop"));
        snprintf(path, sizeof path, "classic/%s",
                 json_string_value(json_object_get(json_object_get(item, "data"), "file")));
        cr_table *t = read_table(cx, test_data(path));
        bool      standard = strcmp(scaled, "none") != 0;
        json_object_foreach(by_k, k, of)
        {
            double best = number_of(of, "best_loglik_non_spurious"), units = 0;
            snprintf(settings, sizeof settings,
                     "features=%s%s scale=%s k=%s prior=none restarts=50 tol=1e-9 max_iter=5000",
                     drop ? "!" : "*", drop ? drop : "", standard ? "standard" : "none", k);
            cr_model *m = rising(cx, t, settings);
            for (size_t c = 0; standard && c < state_of(m)->d; c++)
                units -= (double)cr_table_rows(t) * log(state_of(m)->scale[c]);
            double reached = m->report.log_likelihood - units;
            if (!(reached > best - 0.05))
                fail_msg("%s with k = %s ends at %.4f, below %.4f", path, k, reached, best);
        }
    }
}

/* mclust's table of BIC for iris: all forms with one to five components, reached or improved. */
TEST(forms_of_mclust)
{
    json_t *cases = reference_cases(cx, "gmm"), *item, *row, *table = NULL;
    size_t  i, compared = 0;
    json_array_foreach(cases, i, item)
    {
        json_t *expected = json_object_get(item, "expected");
        if (json_object_get(expected, "models"))
            table = json_object_get(expected, "bic_mclust_sign(2ll-npar_ln_n)_rows_G1to5");
    }
    assert_non_null(table);
    cr_table *t = read_table(cx, test_data("classic/../tabular/iris.csv"));
    cr_model *m = rising(cx, t,
                         "features=!species covariance=auto k=1:5 prior=none restarts=8 tol=1e-8 "
                         "max_iter=2000");
    json_t   *d = describe(cx, m);
    json_array_foreach(json_object_get(d, "candidates"), i, row)
    {
        double  k = number_of(row, "components"), bic = number_of(row, "bic");
        json_t *of_k = json_array_get(table, (size_t)k - 1), *cell = json_array_get(of_k, i / 5);
        if (json_is_null(cell)) continue;
        double theirs = -json_number_value(cell);
        compared++;
        if (!(bic < theirs + 1) || (k == 1 && fabs(bic - theirs) > 1e-6))
            fail_msg("%s with %g components: BIC %.4f, mclust has %.4f",
                     json_string_value(json_object_get(row, "form")), k, bic, theirs);
    }
    assert_int_equal(compared, 5 * 14 - 2);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(d, "statistics"), "form")), "VEV");
    assert_relative(statistic(d, "components"), 2, 0);
}

/* Eigenvalues of S_c, ascending, and eigenvectors. */
static void decompose(cr_ctx *cx, const cri_gmm *m, size_t c, double *w, double *V)
{
    double S[D * D];
    cri_gmm_covariance(m, c, S);
    assert_ok(cx, cr_eigen(cx, cr_cmat_of(S, D, D), w, cr_mat_of(V, D, D)));
}

/* -F/2 of the covariances of a state for scatter W and N. */
static double gain(const cri_gmm *m, const double *W, const double *n)
{
    double sum = 0;
    for (size_t c = 0; c < m->k; c++) {
        long double C[D * D], B[D * D], zero[D] = { 0 }, logdet;
        double      S[D * D];
        cri_gmm_covariance(m, c, S);
        for (size_t i = 0; i < D * D; i++) {
            size_t at = m->width > 1 ? c * D * D + i : c * D + i / D;
            C[i] = S[i], B[i] = m->width > 1 || i % (D + 1) == 0 ? (long double)W[at] : 0;
        }
        long double A[D * D];
        memcpy(A, C, sizeof A);
        quadratic_form(D, A, zero, &logdet);
        solve_dense(D, C, B, D);
        sum -= 0.5 * (n[c] * (double)logdet + (double)(B[0] + B[4] + B[8]));
    }
    return sum;
}

/* What is equal, what is not; and among covariances of a form that random scatter leads to, those of another scatter
 * gain less than the ones made for it. */
TEST(what_the_forms_mean)
{
    enum { TRIES = 30 };
    cr_rng r = cr_rng_stream(31, 1);
    for (int form = 0; form < CRI_GMM_N_FORMS; form++) {
        const char *name = cri_gmm_form_name(form);
        cri_gmm    *m = NULL;
        double      W[TRIES][3 * D * D], n[3] = { 20, 35, 50 }, C[TRIES][3 * D * D];
        assert_ok(cx, cri_gmm_new(cx, 3, D, form, 1, &m));
        for (size_t i = 0; i < 3 * D * m->width; i++)
            m->L[i] = m->U[i] = m->width == 1 || i / D % D == i % D ? 1 : 0;
        for (size_t t = 0; t < TRIES; t++) {
            for (size_t c = 0; c < 3; c++) {
                double A[D * D];
                draw_normals(&r, A, D * D);
                for (size_t i = 0; i < D * m->width; i++) {
                    size_t a = m->width > 1 ? i / D : i, b = m->width > 1 ? i % D : i;
                    double sum = 0;
                    for (size_t l = 0; l < D; l++) sum += A[a * D + l] * A[b * D + l];
                    W[t][c * D * m->width + i] = n[c] * ((double)(c + 1) + (t == 0 && a == b ? 3 : 0)) * sum;
                }
            }
            /* rounds begin at the state: several steps lead to the best */
            for (size_t step = 0; step < 40; step++) {
                assert_ok(cx, cri_gmm_covariances(cx, m, W[t], n, C[t]));
                assert_true(cri_gmm_set_covariances(m, C[t]));
                for (size_t j = 0; j < D; j++) m->scale[j] = 1;
                cri_gmm_prepare(m);
            }
        }
        assert_true(cri_gmm_set_covariances(m, C[0]));
        double best = gain(m, W[0], n), w[3][D], V[3][D * D];
        for (size_t c = 0; c < 3; c++) decompose(cx, m, c, w[c], V[c]);
        for (size_t c = 1; c < 3; c++) {
            double volume[2] = { cbrt(w[0][0] * w[0][1] * w[0][2]),
                                 cbrt(w[c][0] * w[c][1] * w[c][2]) };
            bool   alike = true, turned = false;
            assert_int_equal(fabs(volume[0] / volume[1] - 1) < 1e-7, name[0] == 'E');
            for (size_t j = 0; j < D; j++) {
                double dot = 0;
                alike &= fabs(w[0][j] / volume[0] - w[c][j] / volume[1]) < 1e-7;
                for (size_t i = 0; i < D; i++) /* the axes of 0 are those of c, in any order */
                    for (size_t l = 0; l < D; l++) {
                        dot = 0;
                        for (size_t e = 0; e < D; e++) dot += V[0][e * D + i] * V[c][e * D + l];
                        turned |= fabs(dot) > 1e-4 && fabs(dot) < 1 - 1e-4;
                    }
            }
            assert_int_equal(alike, name[1] != 'V');
            assert_int_equal(turned, name[2] == 'V');
        }
        for (size_t t = 1; t < TRIES; t++) {
            assert_true(cri_gmm_set_covariances(m, C[t]));
            assert_true(gain(m, W[0], n) <= best + 1e-9 * fabs(best));
            for (size_t i = 0; i < 3 * D * m->width;
                 i++) /* and so do steps towards it, in the form */
                C[t][i] = W[0][i] + 0.05 * W[t][i];
            double mixed[3 * D * D];
            assert_true(cri_gmm_set_covariances(m, C[0]));
            cri_gmm_prepare(m);
            assert_ok(cx, cri_gmm_covariances(cx, m, C[t], n, mixed));
            assert_true(cri_gmm_set_covariances(m, mixed));
            assert_true(gain(m, W[0], n) <= best + 1e-7 * fabs(best));
        }
        cri_state_free(cx, &cri_class_gmm, m);
    }
}

/* The objective rises with every form, with and without the prior and missing cells. */
TEST(all_forms_rise)
{
    double X[N * D], Y[N * D];
    draw(22, 5, X);
    memcpy(Y, X, sizeof Y);
    leave_gaps(Y);
    cr_table *whole = make_table(cx, X, N, D, NULL, NULL),
             *gaps = make_table(cx, Y, N, D, NULL, NULL);
    for (int form = 0; form < CRI_GMM_N_FORMS; form++) {
        char settings[128];
        snprintf(settings, sizeof settings, "k=3 restarts=2 tol=1e-7 covariance=%s",
                 cri_gmm_form_name(form));
        rising(cx, whole, settings);
        rising(cx, gaps, settings);
        strcat(settings, " prior=none");
        rising(cx, whole, settings);
    }
}

/* --- laws and corners ------------------------------------------------------------------------- */

/* A row of weight 2 is two rows, and one of weight 0 none. */
TEST(weights)
{
    double X[N * D], w[N], Xs[3 * N * D], ys[3 * N];
    size_t rows;
    draw(6, 0, X);
    for (size_t i = 0; i < N; i++) w[i] = (double)(i % 3);
    rows = repeat_rows(X, w, w, N, D, Xs, ys);
    json_t *a =
        describe(cx, rising(cx, make_table(cx, X, N, D, NULL, w), "features=x* weights=w k=2"));
    json_t *b = describe(cx, rising(cx, make_table(cx, Xs, rows, D, NULL, NULL), "k=2"));
    assert_relative(statistic(a, "objective"), statistic(b, "objective"), 1e-10);
    assert_relative(statistic(a, "bic"), statistic(b, "bic"), 1e-10);
    assert_relative(parameter(a, "c2.mean.x2", "value"), parameter(b, "c2.mean.x2", "value"), 1e-7);
}

/* Draws have the means and covariances of the mixture. */
TEST(draws)
{
    enum { DRAWS = 40000 };
    double  X[N * D], mean[D] = { 0 }, expected[D] = { 0 };
    double *out = calloc(DRAWS * D, sizeof *out), second = 0, of_second = 0;
    draw(8, 2, X);
    cr_model *m = rising(cx, make_table(cx, X, N, D, NULL, NULL), "k=3");
    json_t   *d = describe(cx, m);
    assert_ok(cx, cr_sample(cx, m, DRAWS, 5, out));
    for (size_t c = 0; c < 3; c++)
        for (size_t j = 0; j < D; j++) {
            char name[32];
            snprintf(name, sizeof name, "c%zu.mean.x%zu", c + 1, j + 1);
            double mu = parameter(d, name, "value"), share = state_of(m)->share[c];
            expected[j] += share * mu;
            snprintf(name, sizeof name, "c%zu.sd.x%zu", c + 1, j + 1);
            if (j == 1) second += share * (mu * mu + pow(parameter(d, name, "value"), 2));
        }
    for (size_t i = 0; i < DRAWS * D; i++) mean[i % D] += out[i] / DRAWS;
    for (size_t i = 0; i < DRAWS; i++) of_second += out[i * D + 1] * out[i * D + 1] / DRAWS;
    for (size_t j = 0; j < D; j++) assert_close(mean[j], expected[j], 0.12);
    assert_relative(of_second, second, 0.03);
    free(out);
}

/* Offsets of 1e9 and other units change nothing but the units. */
TEST(offsets_and_units)
{
    double X[N * D], Y[N * D];
    draw(10, 0, X);
    for (size_t i = 0; i < N * D; i++) Y[i] = 1e9 + X[i];
    cr_table *near = make_table(cx, X, N, D, NULL, NULL),
             *far = make_table(cx, Y, N, D, NULL, NULL);
    for (size_t form = 0; form < 4; form++) {
        char settings[64];
        snprintf(settings, sizeof settings, "k=3 covariance=%s", covariances[form]);
        cr_model *a = rising(cx, near, settings), *b = rising(cx, far, settings);
        assert_close(a->report.log_likelihood, b->report.log_likelihood, 1e-3);
        assert_close(parameter(describe(cx, a), "c1.mean.x1", "value") + 1e9,
                     parameter(describe(cx, b), "c1.mean.x1", "value"), 1e-3);
    }
    for (size_t i = 0; i < N * D; i++) Y[i] = X[i] * (i % D == 0 ? 1e12 : i % D == 1 ? 1 : 1e-12);
    cr_model *a = rising(cx, near, "k=3"),
             *b = rising(cx, make_table(cx, Y, N, D, NULL, NULL), "k=3");
    assert_close(a->report.log_likelihood, b->report.log_likelihood, 1e-3);
}

/* Ends that are higher, but spurious, are never the answer: here five components on iris. */
TEST(spurious_ends)
{
    cr_table *t = read_table(cx, test_data("classic/../tabular/iris.csv"));
    cr_model *m = rising(cx, t, "features=!species k=5 prior=none restarts=20");
    json_t   *d = describe(cx, m);
    double least = 0.0236761923536265 * 149 / 150; /* the least eigenvalue of all rows, divisor n */
    assert_true(statistic(d, "rejected") > 0);
    assert_true(statistic(d, "best_rejected") > statistic(d, "objective"));
    for (size_t c = 0; c < 5; c++) {
        double S[16], w[4], V[16], unit = state_of(m)->scale[0];
        cri_gmm_covariance(state_of(m), c, S);
        assert_ok(cx, cr_eigen(cx, cr_cmat_of(S, 4, 4), w, cr_mat_of(V, 4, 4)));
        assert_true(w[0] * unit * unit >= 0.999e-3 * least);
        assert_true(state_of(m)->share[c] * 150 >= 5.5);
    }
}

static void refused(cr_ctx *cx, const double *X, size_t n, size_t p, const char *settings,
                    const char *words)
{
    cr_model *m = NULL;
    cr_status st = try_fit(cx, "gmm", make_table(cx, X, n, p, NULL, NULL), settings, &m);
    assert_fails_with(cx, st, st == CR_EARG ? CR_EARG : CR_EDATA, words);
}

/* What cannot be fitted is said in a sentence. */
TEST(corners)
{
    double X[N * D], same[6] = { 1, 2, 1, 2, 1, 2 };
    draw(14, 0, X);
    refused(cx, same, 3, 2, "k=1", "column 'x1' is the same in all rows");
    refused(cx, X, 1, D, "k=2", "column 'x1' is the same in all rows");
    refused(cx, X, 12, D, "k=4", "need more rows than 12");
    refused(cx, X, N, D, "k=0", "--k is '0'");
    refused(cx, X, N, D, "k=3:2", "--k is '3:2'");
    refused(cx, X, N, D, "k=two", "--k is 'two'");
    for (size_t i = 0; i < N; i++) X[i * D + 2] = X[i * D] - 2 * X[i * D + 1];
    refused(cx, X, N, D, "k=2", "column 'x3' is a linear combination");
    assert_int_equal(predict(cx,
                             rising(cx, make_table(cx, X, N, D, NULL, NULL), "k=2 covariance=diag"),
                             make_table(cx, X, N, D, NULL, NULL))
                         .n_classes,
                     2);
    /* a row far away is no cluster of its own */
    draw(18, 0, X);
    for (size_t j = 0; j < D; j++) X[j] = 1e4;
    cr_model *alone = rising(cx, make_table(cx, X, N, D, NULL, NULL), "k=2 prior=none");
    assert_true(state_of(alone)->share[1] * N >= D + 1.5);
    /* two places only, and more components than these */
    for (size_t i = 0; i < N; i++) X[i] = (double)(i % 2);
    refused(cx, X, N, 1, "k=3 prior=none", "all 5 starts ended");
    cr_model     *m = rising(cx, make_table(cx, X, N, 1, NULL, NULL), "k=1:3");
    cr_prediction p = predict(cx, m, make_table(cx, X, N, 1, NULL, NULL));
    for (size_t i = 0; i < N; i++) assert_true(isfinite(p.log_density[i]));
    /* a row beyond all others */
    double        far[2] = { 1e300, -1e300 };
    cr_prediction q = predict(cx, m, make_table(cx, far, 2, 1, NULL, NULL));
    assert_proper(&q);
}

/* All numbers of components are in the table, and the lowest BIC is kept. */
TEST(choice_of_k)
{
    double X[N * D];
    draw(16, 0, X);
    cr_model *m = rising(cx, make_table(cx, X, N, D, NULL, NULL), "k=1:5");
    json_t   *d = describe(cx, m), *list = json_object_get(d, "candidates"), *item;
    double    lowest = INFINITY, k = 0;
    size_t    i;
    assert_int_equal(json_array_size(list), 5);
    json_array_foreach(list, i, item)
    {
        if (number_of(item, "bic") < lowest)
            lowest = number_of(item, "bic"), k = number_of(item, "components");
    }
    assert_relative(statistic(d, "components"), k, 0);
    assert_relative(statistic(d, "bic"), lowest, 1e-12);
    assert_relative(k, 3, 0);
}
