/* test_hmm_vb.c -- the posterior of hidden Markov models by variational Bayes. The oracle is the evidence with all
 * parameters integrated out in closed form, given a path, and its sum over all paths: where the path is known, or there
 * is one state, the bound is the evidence itself. */
#include "hmm_fixture.h"

#include "math/special/special.h"
#include "prob/dist/small_matrix.h"

/* --- the oracle ------------------------------------------------------------------------------ */

enum { T = 12, K = 2, LEVELS = 3 };
enum { FULL, DIAG, TIED };

/* Rows of two sequences: two numbers, in the units of the model, a count, an answer and a colour, NaN where missing. */
typedef struct rows {
    size_t n, k;
    double begins[T + 1], x[T + 1][2], count[T + 1], answer[T + 1], colour[T + 1];
    double mean[2], sd[2], overall; /* of the numbers; of the counts, smoothed */
    double alpha;
    int    covariance;
} rows;

/* log Gamma ratios of probabilities: prior alpha each, counts [n]. */
static double log_shares(const double *count, size_t n, double alpha)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        total += count[i];
        sum += lgamma(alpha + count[i]) - lgamma(alpha);
    }
    return sum + lgamma((double)n * alpha) - lgamma((double)n * alpha + total);
}

static double log_det2(const double *S) { return log(S[0] * S[3] - S[1] * S[2]); }

/* Log evidence of normal columns `from` .. `from + g - 1` of which the rows of each state are known. */
static double log_normal(const rows *r, const size_t *z, size_t from, size_t g, bool tied)
{
    double v = pow((double)r->k, -1.0), kappa = 0.01, d = (double)g, sum = 0, all = 0;
    double psi[4] = { v, 0, 0, v };
    for (size_t c = 0; c < r->k; c++) {
        double n = 0, m[2] = { 0 };
        if (!tied) psi[0] = psi[3] = v, psi[1] = psi[2] = 0;
        for (size_t t = 0; t < r->n; t++) {
            if (z[t] != c || isnan(r->x[t][from])) continue;
            n += 1;
            for (size_t a = 0; a < g; a++) {
                m[a] += r->x[t][from + a];
                for (size_t b = 0; b < g; b++)
                    psi[2 * a + b] += r->x[t][from + a] * r->x[t][from + b];
            }
        }
        for (size_t a = 0; a < g; a++)
            for (size_t b = 0; b < g; b++) psi[2 * a + b] -= m[a] * m[b] / (kappa + n);
        sum += 0.5 * d * log(kappa / (kappa + n));
        all += n;
        if (tied && c + 1 < r->k) continue;
        double log_det = g == 1 ? log(psi[0]) : log_det2(psi);
        sum += -0.5 * all * d * log(M_PI) + cri_log_gamma_d(0.5 * (d + all), g) -
               cri_log_gamma_d(0.5 * d, g) + 0.5 * d * d * log(v) - 0.5 * (d + all) * log_det;
        all = 0;
    }
    for (size_t t = 0; t < r->n; t++)
        for (size_t a = from; a < from + g; a++)
            if (!isnan(r->x[t][a])) sum -= log(r->sd[a]);
    return sum;
}

static double log_state(const rows *r, const size_t *z, size_t c)
{
    double n = 0, counted = 0, sum = 0, answers[2] = { 0 }, colours[LEVELS] = { 0 };
    for (size_t t = 0; t < r->n; t++) {
        if (z[t] != c) continue;
        if (!isnan(r->count[t])) n += 1, counted += r->count[t], sum -= lgamma(r->count[t] + 1);
        if (!isnan(r->answer[t])) answers[(size_t)r->answer[t]] += 1;
        if (!isnan(r->colour[t])) colours[(size_t)r->colour[t]] += 1;
    }
    double b = 1 / r->overall;
    return sum + lgamma(1 + counted) + log(b) - (1 + counted) * log(b + n) +
           log_shares(answers, 2, 1) + log_shares(colours, LEVELS, 1);
}

/* log p(z, x). */
static double log_of_path(const rows *r, const size_t *z)
{
    double begins[K] = { 0 }, pairs[K][K] = { { 0 } }, sum = 0;
    for (size_t t = 0; t < r->n; t++) {
        if (r->begins[t] > 0)
            begins[z[t]] += 1;
        else
            pairs[z[t - 1]][z[t]] += 1;
    }
    sum += log_shares(begins, r->k, r->alpha);
    for (size_t i = 0; i < r->k; i++)
        sum += log_shares(pairs[i], r->k, r->alpha) + log_state(r, z, i);
    if (r->covariance == DIAG)
        return sum + log_normal(r, z, 0, 1, false) + log_normal(r, z, 1, 1, false);
    return sum + log_normal(r, z, 0, 2, r->covariance == TIED);
}

static double log_evidence(const rows *r)
{
    size_t paths = 1, z[T + 1];
    double total = -INFINITY;
    for (size_t t = 0; t < r->n; t++) paths *= r->k;
    for (size_t i = 0; i < paths; i++) {
        for (size_t t = 0, rest = i; t < r->n; t++, rest /= r->k) z[t] = rest % r->k;
        double log_p = log_of_path(r, z);
        total = fmax(total, log_p) + log1p(exp(-fabs(total - log_p)));
    }
    return total;
}

/* --- the rows -------------------------------------------------------------------------------- */

static const char *const colours[LEVELS] = { "blue", "green", "red" };
static const size_t      known[T] = { 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 1 };

/* gaps: one in each column, of the numbers in both or in one. */
static rows make_rows(size_t k, int covariance, double alpha, int gaps)
{
    rows         r = { .n = T, .k = k, .alpha = alpha, .covariance = covariance };
    const double x[T] = { 0.1, -0.4, 2.2, 1.7, 2.9, 0.3, -0.8, 2.4, 0.6, -0.1, 0.2, 1.9 };
    const double y[T] = { 5.1, 4.0, 9.2, 7.7, 8.1, 4.4, 5.5, 9.9, 4.8, 3.9, 5.2, 8.8 };
    const double count[T] = { 1, 0, 6, 4, 7, 2, 1, 5, 0, 1, 3, 8 };
    const double colour[T] = { 0, 0, 2, 1, 2, 0, 1, 2, 0, 0, 0, 2 };
    double       counted = 0, n = 0;
    for (size_t t = 0; t < T; t++) {
        r.begins[t] = t == 0 || t == 7;
        r.x[t][0] = x[t], r.x[t][1] = y[t];
        r.count[t] = count[t], r.colour[t] = colour[t], r.answer[t] = x[t] > 0.25;
    }
    if (gaps > 0) r.x[3][0] = r.x[3][1] = r.count[4] = r.answer[5] = r.colour[6] = NAN;
    if (gaps > 1) r.x[9][1] = NAN;
    for (size_t t = 0; t < T; t++)
        if (!isnan(r.count[t])) counted += r.count[t], n += 1;
    r.overall = (counted + 0.5) / (n + 1);
    for (size_t a = 0; a < 2; a++) {
        double sum = 0, squares = 0, there = 0;
        for (size_t t = 0; t < T; t++)
            if (!isnan(r.x[t][a])) sum += r.x[t][a], there += 1;
        r.mean[a] = sum / there;
        for (size_t t = 0; t < T; t++)
            if (!isnan(r.x[t][a])) squares += pow(r.x[t][a] - r.mean[a], 2);
        r.sd[a] = sqrt(squares / there);
    }
    return r;
}

static void put_number(text_buffer *b, double x) { text_put(b, isnan(x) ? "," : "%.17g,", x); }

/* The rows as a table, and to the units of the model. */
static cr_table *table_of(cr_ctx *cx, rows *r)
{
    text_buffer b = text_new(1 << 12);
    text_put(&b, "x,y,count,answer,z,s,colour\n");
    for (size_t t = 0; t < r->n; t++) {
        put_number(&b, r->x[t][0]), put_number(&b, r->x[t][1]), put_number(&b, r->count[t]);
        text_put(&b, isnan(r->answer[t]) ? "" : r->answer[t] > 0 ? "true" : "false");
        text_put(&b, ",%zu,%d,%s\n", r->k > 1 ? known[t] + 1 : 1, t >= 7,
                 isnan(r->colour[t]) ? "" : colours[(size_t)r->colour[t]]);
        for (size_t a = 0; a < 2; a++) r->x[t][a] = (r->x[t][a] - r->mean[a]) / r->sd[a];
    }
    cr_table *t = table_of_text(cx, "rows.csv", b.at);
    free(b.at);
    return t;
}

/* A fit whose bound has never fallen. */
static cr_model *rising_bound(cr_ctx *cx, const cr_table *t, const char *settings)
{
    char text[512];
    snprintf(text, sizeof text, "infer=vb %s", settings);
    cr_model             *m = fit(cx, "hmm", t, text);
    const cri_em_outcome *o = &state_of(m)->em;
    for (size_t i = 1; i < o->iterations; i++)
        if (!(o->trace[i] >= o->trace[i - 1] - 1e-10 * (1 + fabs(o->trace[i]))))
            fail_msg("%s: pass %zu falls by %g", settings, i, o->trace[i - 1] - o->trace[i]);
    assert_true(isnan(m->report.log_likelihood));
    assert_true(m->report.log_evidence == o->objective);
    assert_int_equal(m->report.evidence, CR_EVIDENCE_BOUND);
    describe(cx, m);
    return m;
}

static cr_model *fit_rows(cr_ctx *cx, rows *r, const char *more)
{
    static const char *const covariances[] = { "full", "diag", "tied" };
    char                     text[256];
    snprintf(text, sizeof text,
             "features=x,y,count,answer,colour emission=auto,count=poisson sequence=s states=%zu "
             "covariance=%s alpha=%.17g tol=1e-13 max_iter=5000 restarts=5 %s",
             r->k, covariances[r->covariance], r->alpha, more);
    return rising_bound(cx, table_of(cx, r), text);
}

/* --- the bound ------------------------------------------------------------------------------- */

TEST(known_path_is_exact)
{
    for (int covariance = FULL; covariance <= TIED; covariance++)
        for (int gaps = 0; gaps < (covariance == DIAG ? 3 : 2); gaps++) {
            rows      r = make_rows(K, covariance, 0.7, gaps);
            cr_model *m = fit_rows(cx, &r, "state=z");
            assert_close(m->report.log_evidence, log_of_path(&r, known), 1e-10);
        }
}

TEST(one_state_is_exact)
{
    for (int covariance = FULL; covariance <= TIED; covariance++) {
        rows      r = make_rows(1, covariance, 1, 1);
        cr_model *m = fit_rows(cx, &r, "");
        assert_close(m->report.log_evidence, log_evidence(&r), 1e-10);
    }
}

/* Below the evidence, and near it: the posterior of this factored form stays at one of the 2 orders of the states. */
TEST(bound_is_below_the_evidence)
{
    for (int covariance = FULL; covariance <= TIED; covariance++)
        for (int i = 0; i < 2; i++) {
            rows      r = make_rows(K, covariance, i == 0 ? 1 : 0.1, covariance == DIAG ? 2 : 1);
            cr_model *m = fit_rows(cx, &r, "");
            double    gap = log_evidence(&r) - log(2) - m->report.log_evidence;
            if (!(gap > -log(2) && gap < 1)) fail_msg("%d, %d: %g", covariance, i, gap);
        }
}

/* A gap in one of two columns that are normal together: the evidence by quadrature over the cell. */
TEST(bound_with_half_a_row)
{
    rows      r = make_rows(K, FULL, 1, 2);
    cr_model *m = fit_rows(cx, &r, "state=z");
    double    sum = 0, step = 0.02;
    for (double y = -30; y < 30; y += step) {
        r.x[9][1] = y;
        sum += step * r.sd[1] * exp(log_of_path(&r, known));
    }
    double gap = log(sum) - m->report.log_evidence;
    if (!(gap > 0 && gap < 0.25)) fail_msg("%g", gap);
}

TEST(number_of_states_by_the_bound)
{
    cr_table      *t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    cr_model      *m = rising_bound(cx, t, "features=x0,x1 sequence=seq states=1:4 restarts=3");
    const cri_hmm *h = state_of(m);
    assert_int_equal(h->k, 3);
    for (size_t i = 0; i < 4; i++) assert_true(h->tried_likelihood[i] <= m->report.log_evidence);
    /* and states that are not needed have no rows */
    m = rising_bound(cx, t, "features=x0,x1 sequence=seq states=6 alpha=0.01");
    assert_true(statistic(describe(cx, m), "occupied") == 3);
}

/* --- answers --------------------------------------------------------------------------------- */

/* With one state the log density of another row is what it adds to the evidence; it is its density: over the cells of
 * a column it integrates to that of the row without it. */
TEST(next_row_with_one_state)
{
    static const char head[] = "x,y,count,answer,s,colour\n";
    for (int covariance = FULL; covariance <= TIED; covariance++) {
        rows      r = make_rows(1, covariance, 1, 1);
        cr_model *m = fit_rows(cx, &r, "");
        char      text[8192];
        snprintf(text, sizeof text, "%s0.7,2.5,9,true,a,green\n,,2,,b,\n", head);
        cr_prediction p = predict(cx, m, table_of_text(cx, "next.csv", text));
        double        before = log_evidence(&r);
        r.n = T + 1;
        r.begins[T] = 1;
        r.x[T][0] = (0.7 - r.mean[0]) / r.sd[0], r.x[T][1] = (2.5 - r.mean[1]) / r.sd[1];
        r.count[T] = 9, r.answer[T] = 1, r.colour[T] = 1;
        assert_close(p.log_density[0], log_evidence(&r) - before, 1e-9);
        r.x[T][0] = r.x[T][1] = r.answer[T] = r.colour[T] = NAN, r.count[T] = 2;
        assert_close(p.log_density[1], log_evidence(&r) - before, 1e-9);

        size_t at = (size_t)snprintf(text, sizeof text, "%s0.7,,,,a,\n", head);
        double sum = 0, step = 0.5;
        for (int i = -100; i <= 100; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "0.7,%g,,,c%d,\n", 6 + step * i, i);
        assert_true(at < sizeof text);
        p = predict(cx, m, table_of_text(cx, "grid.csv", text));
        for (size_t i = 1; i < p.n; i++) sum += step * exp(p.log_density[i]);
        assert_close(log(sum), p.log_density[0], 1e-4);
    }
}

static double error_of(const json_t *d, const char *name) { return number_at(d, name, "sd"); }

/* That P(parameter < lower) = P(parameter > upper) = 0.025, by the cdf of its posterior. */
static void assert_interval(const json_t *d, const char                         *name,
                            double (*cdf)(const double *, double), const double *of)
{
    assert_close(cdf(of, number_at(d, name, "lower")), 0.025, 1e-9);
    assert_close(cdf(of, number_at(d, name, "upper")), 0.975, 1e-9);
}

static double beta_cdf(const double *of, double x) { return cr_betainc(of[0], of[1], x); }
static double gamma_cdf(const double *of, double x) { return cr_gamma_p(of[0], of[1] * x); }
static double mean_cdf(const double *of, double x)
{
    return cr_student_t_cdf((x - of[1]) / of[2], of[0]);
}
static double sd_cdf(const double *of, double x) { return cr_gamma_q(of[0], of[1] / (x * x)); }

/* The sds of a fit whose path is known are those of the closed forms. */
TEST(sds_of_known_states)
{
    rows      r = make_rows(K, DIAG, 0.7, 0);
    cr_model *m = fit_rows(cx, &r, "state=z");
    json_t   *d = describe(cx, m);
    double    n = 0, stays = 0, counted = 0, rows_there = 0, first = 0, second = 0;
    for (size_t t = 0; t < T; t++) {
        if (known[t] == 0) {
            rows_there += 1, counted += r.count[t];
            first += r.x[t][0], second += r.x[t][0] * r.x[t][0];
        }
        if (t == 0 || t == 7 || known[t - 1] != 0) continue;
        n += 1, stays += known[t] == 0;
    }
    double p = (0.7 + stays) / (1.4 + n), b = 1 / r.overall + rows_there;
    assert_close(value_of(d, "A[1,1]"), p, 1e-12);
    assert_close(error_of(d, "A[1,1]"), sqrt(p * (1 - p) / (2.4 + n)), 1e-12);
    assert_close(value_of(d, "rate[1]"), (1 + counted) / b, 1e-12);
    assert_interval(d, "A[1,1]", beta_cdf, (double[]){ 0.7 + stays, 0.7 + n - stays });
    assert_interval(d, "rate[1]", gamma_cdf, (double[]){ 1 + counted, b });
    assert_close(error_of(d, "rate[1]"), sqrt(1 + counted) / b, 1e-12);
    double beta = 0.01 + rows_there, nu = 1 + rows_there, mean = first / beta;
    double psi = 1.0 / K + second - first * first / beta;
    assert_close(value_of(d, "mean[1].x"), r.mean[0] + r.sd[0] * mean, 1e-12);
    assert_close(error_of(d, "mean[1].x"), r.sd[0] * sqrt(psi / (nu - 2) / beta), 1e-10);
    /* E sd^2 - (E sd)^2 for 1 / sd^2 ~ Gamma(nu / 2, psi / 2) */
    double sd = sqrt(psi / 2) * exp(lgamma((nu - 1) / 2) - lgamma(nu / 2));
    assert_close(error_of(d, "sd[1].x"), r.sd[0] * sqrt(psi / (nu - 2) - sd * sd), 1e-8);
    assert_close(value_of(d, "sd[1].x"), r.sd[0] * sqrt(psi / nu), 1e-12);
    assert_interval(d, "mean[1].x", mean_cdf,
                    (double[]){ nu, r.mean[0] + r.sd[0] * mean, r.sd[0] * sqrt(psi / nu / beta) });
    assert_interval(d, "sd[1].x", sd_cdf, (double[]){ nu / 2, r.sd[0] * r.sd[0] * psi / 2 });
}

/* With many rows the posterior is narrow, and where EM ends. */
TEST(many_rows_as_by_em)
{
    cr_table *t = read_table(cx, test_data("classic/hmm/gauss3.csv"));
    for (int i = 0; i < 3; i++) {
        char        em[128], vb[160];
        const char *covariance = i == 0 ? "full" : i == 1 ? "diag" : "tied";
        snprintf(em, sizeof em, "features=x0,x1 sequence=seq states=3 restarts=4 covariance=%s",
                 covariance);
        snprintf(vb, sizeof vb, "%s alpha=1", em);
        cr_model *a = rising(cx, t, em), *b = rising_bound(cx, t, vb);
        json_t   *d = describe(cx, a), *e = describe(cx, b), *row;
        size_t    at, compared = 0;
        json_array_foreach(json_object_get(d, "parameters"), at, row)
        {
            const char *name = json_string_value(json_object_get(row, "name"));
            double      sd = error_of(d, name), far = value_of(d, name) - value_of(e, name);
            if (!(sd > 0) || name[0] == 'p') continue;
            if (fabs(far) > 0.5 * sd + 1e-3) fail_msg("%s %s: %g of %g", covariance, name, far, sd);
            compared++;
        }
        assert_true(compared > 12);
    }
}

TEST(what_has_no_posterior)
{
    cr_table         *t = table_of_text(cx, "d.csv", "x,c\n1,2\n2,3\n1.5,0\n3,1\n");
    const char *const settings[][2] = {
        { "features=x emission=student-t infer=vb", "'x' is student-t, which has none" },
        { "features=c emission=negative-binomial infer=vb", "'c' is negative-binomial" },
        { "features=x emission=gamma infer=vb", "conjugate prior" },
        { "features=x emission=von-mises infer=vb", "conjugate prior" },
        { "features=x infer=vb prior_rows=1", "--infer em" },
        { "features=x infer=em alpha=2", "--infer vb" },
        { "features=x infer=vb max_iter=0 start={\"mean\":[1]}", "have no posterior" },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        cr_model *m = NULL;
        cr_status st = try_fit(cx, "hmm", t, settings[i][0], &m);
        if (st == CR_OK || !strstr(cr_error(cx), settings[i][1]))
            fail_msg("%s: %s", settings[i][0], st == CR_OK ? "is taken" : cr_error(cx));
    }
}

/* Little or nothing to learn from. */
TEST(corners_of_a_posterior)
{
    cr_table *t = table_of_text(cx, "d.csv", "c\na\n");
    rising_bound(cx, t, "states=3 restarts=2");
    t = table_of_text(cx, "d.csv", "s,x,c\n1,0,a\n2,1,\n3,,b\n4,,\n5,1.2,a\n6,-0.2,a\n");
    cr_model      *m = rising_bound(cx, t, "sequence=s states=2 restarts=3 alpha=0.01");
    const cri_hmm *h = state_of(m);
    for (size_t i = 0; i < 4; i++) assert_close(h->A[i], 0.5, 1e-9);
    m = rising_bound(cx, t, "features=x,c states=8 topology=left-right restarts=2 alpha=0.01");
    cr_prediction p = predict(cx, m, t);
    assert_proper(&p);
    m = rising_bound(cx, t, "features=x emission=lognormal,x=gaussian states=2 restarts=2");
    t = table_of_text(cx, "d.csv", "x\n1e-9\n2e9\n1e8\n3e-8\n1e9\n");
    m = rising_bound(cx, t, "emission=lognormal states=2 restarts=4");
    p = predict(cx, m, t);
    assert_proper(&p);
}
