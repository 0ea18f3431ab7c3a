/* test_mixture_classes.c -- latent class analysis against published fits and a plain EM, standard errors by numerical
 * scores, Monte-Carlo EM against exact EM, samples fitted again. */
#include "mixture_fixture.h"

/* --- latent classes --------------------------------------------------------------------------- */

/* Seven pathologists on 118 slides: the maxima of the likelihood that Linzer & Lewis (2011), J. Stat. Software 42(10),
 * sec. 5.1, report for poLCA: log L -293.705, AIC 633.41 and BIC 697.1357 of three classes. */
TEST(carcinoma)
{
    cr_table *t = read_table(cx, "examples/carcinoma.csv");
    cr_model *m =
        rising(cx, t, "weights=slides k=2:4 prior=none restarts=20 tol=1e-10 max_iter=5000");
    json_t *d = describe(cx, m);
    assert_relative(statistic(d, "components"), 3, 0);
    assert_close(m->report.log_likelihood, -293.705, 5e-4);
    assert_close(statistic(d, "aic"), 633.41, 5e-3);
    assert_close(statistic(d, "bic"), 697.1357, 1e-3);
    assert_relative(statistic(d, "parameters"), 23, 0);
    /* shares 0.4447, 0.3736 and 0.1817 in the same report */
    assert_close(parameter(d, "c1.share", "value"), 0.4447, 1e-3);
    assert_close(parameter(d, "c2.share", "value"), 0.3736, 1e-3);
    assert_close(parameter(d, "c3.share", "value"), 0.1817, 1e-3);
}

/* A plain EM for latent classes of p columns of `levels` levels: responsibilities and frequencies, row by row. */
enum { ROWS = 240, COLUMNS = 5, LEVELS = 3, CLASSES = 3 };
static double plain_em(const double *X, cr_rng *r)
{
    double share[CLASSES], q[CLASSES][COLUMNS][LEVELS], ll = 0;
    for (size_t c = 0; c < CLASSES; c++) {
        share[c] = 1.0 / CLASSES;
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (size_t l = 0; l < LEVELS; l++) sum += q[c][j][l] = 0.1 + cr_rng_uniform(r);
            for (size_t l = 0; l < LEVELS; l++) q[c][j][l] /= sum;
        }
    }
    for (size_t step = 0; step < 3000; step++) {
        double n[CLASSES] = { 0 }, count[CLASSES][COLUMNS][LEVELS] = { { { 0 } } };
        ll = 0;
        for (size_t i = 0; i < ROWS; i++) {
            double joint[CLASSES], sum = 0;
            for (size_t c = 0; c < CLASSES; c++) {
                joint[c] = share[c];
                for (size_t j = 0; j < COLUMNS; j++)
                    joint[c] *= q[c][j][(size_t)X[i * COLUMNS + j]];
                sum += joint[c];
            }
            ll += log(sum);
            for (size_t c = 0; c < CLASSES; c++) {
                n[c] += joint[c] / sum;
                for (size_t j = 0; j < COLUMNS; j++)
                    count[c][j][(size_t)X[i * COLUMNS + j]] += joint[c] / sum;
            }
        }
        for (size_t c = 0; c < CLASSES; c++) {
            share[c] = n[c] / ROWS;
            for (size_t j = 0; j < COLUMNS; j++)
                for (size_t l = 0; l < LEVELS; l++) q[c][j][l] = count[c][j][l] / n[c];
        }
    }
    return ll;
}

/* The best of many starts of a plain EM is reached. */
TEST(plain_latent_classes)
{
    static double X[ROWS * COLUMNS];
    cr_rng        r = cr_rng_stream(31, 1);
    text_buffer   text = text_new(1 << 16);
    double        best = -INFINITY;
    text_put(&text, "a,b,c,d,e\n");
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double weight[LEVELS] = { 0.2, 0.2, 0.2 };
            weight[(i % CLASSES + j) % LEVELS] = 0.9;
            X[i * COLUMNS + j] = (double)cr_rng_categorical(&r, weight, LEVELS);
            text_put(&text, "%c%c", "uvw"[(size_t)X[i * COLUMNS + j]],
                     j + 1 < COLUMNS ? ',' : '\n');
        }
    for (size_t start = 0; start < simulation_size(3, 10); start++)
        best = fmax(best, plain_em(X, &r));
    cr_table *t = table_of_text(cx, "classes.csv", text.at);
    free(text.at);
    cr_model *m = rising(cx, t, "k=3 prior=none restarts=10 tol=1e-11 max_iter=5000");
    if (!(m->report.log_likelihood > best - 0.05))
        fail_msg("ends at %.5f, below %.5f", m->report.log_likelihood, best);
}

/* --- standard errors -------------------------------------------------------------------------- */

/* log p of a row by plain formulas. */
static double log_density(const cri_mixture *m, const double *x)
{
    double sum = 0;
    for (size_t c = 0; c < m->k; c++) sum += m->share[c] * exp(log_row(m, c, x));
    return log(sum);
}

/* The scores of a row by moving each parameter up and down; `down` moves the other way, where there is one. */
static double slope(const cri_mixture *m, const double *x, double *up, double *down)
{
    const double H = 1e-5;
    double       a, b;
    *up += H;
    if (down) *down -= H;
    a = log_density(m, x);
    *up -= 2 * H;
    if (down) *down += 2 * H;
    b = log_density(m, x);
    *up += H;
    if (down) *down -= H;
    return (a - b) / (2 * H);
}

/* Errors are the roots of the diagonal of the inverse of the sum of products of scores. */
TEST(standard_errors)
{
    enum { N = 400, MOST = 64 };
    static double      X[N * ALL], S[N][MOST];
    static long double A[MOST * MOST], V[MOST * MOST];
    double            *up[MOST], *down[MOST], *error[MOST];
    size_t             P = 0;
    draw_all(11, N, X);
    for (size_t i = 0; i < N; i += 7) X[i * ALL + i % ALL] = NAN;
    char settings[128];
    snprintf(settings, sizeof settings, "k=2 restarts=2 %s", all_kinds);
    cr_model    *m = rising(cx, table_of_all(cx, X, N, NULL), settings);
    cri_mixture *s = m->state;
    up[P] = &s->share[0], down[P] = &s->share[1], error[P++] = &s->share_error[0];
    for (size_t c = 0; c < 2; c++)
        for (size_t j = 0; j < ALL; j++) {
            size_t cell = c * ALL + j;
            if (j < COLOUR)
                up[P] = &s->mean[cell], down[P] = NULL, error[P++] = &s->mean_error[cell];
            if (j <= POSITIVE)
                up[P] = &s->sd[cell], down[P] = NULL, error[P++] = &s->sd_error[cell];
            for (size_t l = 0; j >= COLOUR && l + 1 < cri_mixture_levels(s, j); l++) {
                size_t at = c * s->L + s->first[j], last = cri_mixture_levels(s, j) - 1;
                up[P] = &s->level[at + l], down[P] = &s->level[at + last];
                error[P++] = &s->level_error[at + l];
            }
        }
    for (size_t i = 0; i < N; i++)
        for (size_t a = 0; a < P; a++) S[i][a] = slope(s, X + i * ALL, up[a], down[a]);
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < P; b++) {
            A[a * P + b] = 0, V[a * P + b] = a == b;
            for (size_t i = 0; i < N; i++) A[a * P + b] += (long double)S[i][a] * S[i][b];
        }
    solve_dense(P, A, V, P);
    for (size_t a = 0; a < P; a++) assert_relative(*error[a], (double)sqrtl(V[a * P + a]), 1e-4);
    assert_relative(s->share_error[1], s->share_error[0], 1e-9);
}

/* Weights are repetitions, in the errors too; a probability at 0 has none. */
TEST(errors_of_carcinoma)
{
    cr_table *t = read_table(cx, "examples/carcinoma.csv");
    json_t   *d = describe(
          cx, rising(cx, t, "weights=slides k=3 prior=none restarts=5 tol=1e-10 max_iter=5000"));
    assert_true(isnan(parameter(d, "c1.p.A", "sd")));
    /* about sqrt(p (1 - p) / n) with the class known, and more without */
    assert_true(parameter(d, "c1.share", "sd") > 0.045 && parameter(d, "c1.share", "sd") < 0.06);
    assert_true(parameter(d, "c1.p.D", "sd") > 0.065 && parameter(d, "c1.p.D", "sd") < 0.1);
}

/* --- Monte-Carlo EM --------------------------------------------------------------------------- */

/* Draws end where exact EM does, within what they leave undecided; the same on any number of threads. */
TEST(draws_end_near_exact)
{
    enum { N = 300 };
    static double X[N * ALL];
    char          settings[192];
    draw_all(21, N, X);
    leave_gaps(N, X);
    cr_table *t = table_of_all(cx, X, N, NULL);
    snprintf(settings, sizeof settings, "k=2 restarts=2 %s tol=1e-7", all_kinds);
    cr_model *exact = rising(cx, t, settings);
    snprintf(settings, sizeof settings, "k=2 restarts=1 %s e_step=mc tol=1e-5", all_kinds);
    cr_model          *m = fit(cx, "mixture", t, settings);
    const cri_mixture *s = state_of(m), *e = state_of(exact);
    json_t            *d = describe(cx, m);
    assert_true(m->report.stop == CR_STOP_TOLERANCE);
    assert_true(s->em.objective < e->em.objective + 1e-4);
    assert_true(s->em.objective > e->em.objective - 0.05);
    assert_close(s->share[0], e->share[0], 0.01);
    assert_true(statistic(d, "draws") >= 20);
    assert_true(statistic(d, "draws_error") > 0);
    assert_true(s->gain + 1.28 * s->gain_error < 1e-5 * N || s->draws >= 10240);
    for (size_t i = 1; i < s->em.iterations; i++) /* a step may lose, but no more than by chance */
        assert_true(s->em.trace[i] > s->em.trace[i - 1] - 0.2);
    cr_ctx_set_threads(cx, 3);
    cr_model *again = fit(cx, "mixture", t, settings);
    assert_memory_equal(state_of(again)->mean, s->mean, 2 * ALL * sizeof(double));
    assert_int_equal(state_of(again)->draws, s->draws);
}

/* The spread of the statistics over batches is what that of independent repetitions is: draws_error is the standard
 * error of a mean over batches of sums over rows. */
TEST(draws_error_is_right)
{
    enum { N = 60, TIMES = 200 };
    static double X[N * ALL], w[N];
    char          settings[192];
    draw_all(22, N, X);
    for (size_t i = 0; i < N; i++) w[i] = 1 + (double)(i % 2);
    snprintf(settings, sizeof settings, "weights=w k=2 restarts=1 %s e_step=mc draws=40 max_iter=2",
             all_kinds);
    cr_model    *m = fit(cx, "mixture", table_of_all(cx, X, N, w), settings);
    cri_mixture *s = m->state;
    double       variance = 0, mean_square = 0, exact = 0;
    s->draws = 40;
    for (size_t i = 0; i < N; i++) { /* the variance of log p(x, c) under p(c | x) */
        double joint[2], sum = 0, first = 0, second = 0;
        for (size_t c = 0; c < 2; c++)
            sum += joint[c] = s->share[c] * exp(log_row(s, c, X + i * ALL));
        for (size_t c = 0; c < 2; c++) {
            first += joint[c] / sum * log(joint[c]);
            second += joint[c] / sum * log(joint[c]) * log(joint[c]);
        }
        variance += w[i] * w[i] * (second - first * first) / 40;
        exact += w[i] * first;
    }
    size_t  width = cri_mixture_width(s);
    double *sums = calloc(width, sizeof *sums), *work = calloc(cri_mixture_work(s), sizeof *work);
    for (size_t time = 0; time < TIMES; time++, s->round++) {
        memset(sums, 0, width * sizeof *sums);
        cri_mixture_add(s, X, w, N, sums, work);
        mean_square += pow(cri_mixture_draws_error(s, sums + 2), 2) / TIMES;
    }
    free(sums), free(work);
    assert_true(isfinite(exact) && variance > 0);
    assert_relative(mean_square, variance, 0.2);
}

/* What a step gains, as the draws say, is what it gains by plain loops with the probabilities that they are drawn by. */
TEST(gain_is_right)
{
    enum { N = 60 };
    static double X[N * ALL], w[N];
    char          settings[192];
    draw_all(23, N, X);
    leave_gaps(N, X);
    for (size_t i = 0; i < N; i++) w[i] = 1 + (double)(i % 2);
    snprintf(settings, sizeof settings, "weights=w k=2 restarts=1 %s e_step=mc draws=40 max_iter=1",
             all_kinds);
    cr_table          *t = table_of_all(cx, X, N, w);
    cr_model          *m = fit(cx, "mixture", t, settings);
    const cri_mixture *before = state_of(fit(cx, "mixture", t, settings));
    cri_mixture       *s = m->state;
    size_t             width = cri_mixture_width(s);
    double *sums = calloc(width, sizeof *sums), *work = calloc(cri_mixture_work(s), sizeof *work);
    double  gain = 0;
    s->draws = 10240;
    cri_mixture_add(s, X, w, N, sums, work);
    assert_ok(cx, cri_mixture_solve(cx, NULL, sums, s));
    free(sums), free(work);
    for (size_t i = 0; i + 1 < N; i++) {
        double old[2], sum = 0;
        for (size_t c = 0; c < 2; c++)
            sum += old[c] = before->share[c] * exp(log_row(before, c, X + i * ALL));
        for (size_t c = 0; c < 2; c++)
            gain +=
                w[i] * old[c] / sum * (log(s->share[c]) + log_row(s, c, X + i * ALL) - log(old[c]));
    }
    gain += cri_mixture_log_prior(s) - cri_mixture_log_prior(before);
    assert_true(s->gain > 10 * s->gain_error && s->gain_error > 0);
    assert_close(s->gain, gain, 5 * s->gain_error);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* What was drawn from a mixture is found again by a fit to it. */
TEST(samples_are_found_again)
{
    enum { N = 400, DRAWN = 4000 };
    static double X[N * ALL], Y[DRAWN * ALL];
    char          settings[128];
    draw_all(41, N, X);
    snprintf(settings, sizeof settings, "k=2 restarts=3 %s", all_kinds);
    cr_model *m = rising(cx, table_of_all(cx, X, N, NULL), settings);
    assert_ok(cx, cr_sample(cx, m, DRAWN, 5, Y));
    cr_model          *again = rising(cx, table_of_all(cx, Y, DRAWN, NULL), settings);
    const cri_mixture *a = state_of(m), *b = state_of(again);
    assert_close(a->share[0], b->share[0], 0.05);
    json_t *x = describe(cx, m), *y = describe(cx, again), *item, *list;
    size_t  i;
    list = json_object_get(x, "parameters");
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "name"));
        double      value = parameter(x, name, "value"), sd = parameter(y, name, "sd");
        if (!(fabs(parameter(y, name, "value") - value) < 4.5 * sd))
            fail_msg("%s: %g, then %g, whose error is %g", name, value, parameter(y, name, "value"),
                     sd);
    }
}
