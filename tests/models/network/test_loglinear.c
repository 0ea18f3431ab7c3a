/* test_loglinear.c -- Markov networks from rows: moments, log Z, densities and standard errors against sums over all states;
 * iterative proportional fitting and closed forms; Ising models against a transfer matrix; gaps against EM; pseudo-likelihood
 * and contrastive divergence against the likelihood; graphs found again; what is refused. */
#include "../fixture.h"

#include "models/core/model_internal.h"
#include "models/network/loglinear.h"

static const cri_loglinear *state_of(const cr_model *m) { return m->state; }

/* --- all states ------------------------------------------------------------------------------- */

/* The next row of states, the last fastest; false after the last row. */
static bool next_row(const cri_potentials *t, uint16_t *row)
{
    for (size_t v = t->p; v-- > 0;) {
        if (++row[v] < t->states[v]) return true;
        row[v] = 0;
    }
    return false;
}

/* log Z and the means of features, by their definition: no terms. */
static double feature_value(const cri_loglinear *m, size_t k, const uint16_t *row)
{
    double value = 1;
    for (size_t i = m->begin[k]; i < m->begin[k + 1]; i++) {
        size_t x = row[m->variable[i]];
        value *= m->spins ? (x ? 1 : -1) : x == m->state[i];
    }
    return value;
}

static double enumerate(const cri_loglinear *m, double *mean, double *opt_product)
{
    uint16_t row[16] = { 0 };
    double   Z = 0;
    size_t   K = m->parameters;
    memset(mean, 0, K * sizeof *mean);
    if (opt_product) memset(opt_product, 0, K * K * sizeof *opt_product);
    assert_true(m->terms.p <= 16);
    do {
        double sum = 0;
        for (size_t k = 0; k < K; k++) sum += m->weight[k] * feature_value(m, k, row);
        Z += exp(sum);
        for (size_t k = 0; k < K; k++) {
            double f = feature_value(m, k, row);
            mean[k] += exp(sum) * f;
            for (size_t l = 0; opt_product && l < K; l++)
                opt_product[k * K + l] += exp(sum) * f * feature_value(m, l, row);
        }
    } while (next_row(&m->terms, row));
    for (size_t k = 0; k < K; k++) mean[k] /= Z;
    for (size_t i = 0; opt_product && i < K * K; i++) opt_product[i] /= Z;
    return log(Z);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* a (2), b (3), c (2), d (3): each follows the one before it and c follows a too; so many gaps in a thousand cells. */
static cr_table *draw_rows(cr_ctx *cx, uint64_t seed, size_t n, double gaps)
{
    text_buffer b = text_new(40 * (n + 1));
    cr_rng      r = cr_rng_stream(seed, 5);
    text_put(&b, "a,b,c,d\n");
    for (size_t i = 0; i < n; i++) {
        size_t x[4];
        x[0] = cr_rng_uniform(&r) < 0.4;
        x[1] = (x[0] + cr_rng_below(&r, 3) * (cr_rng_uniform(&r) < 0.5)) % 3;
        x[2] = cr_rng_uniform(&r) < 0.15 + 0.25 * (double)x[1] + 0.2 * (double)x[0];
        x[3] = (x[2] + cr_rng_below(&r, 3) * (cr_rng_uniform(&r) < 0.6)) % 3;
        for (size_t v = 0; v < 4; v++) {
            if (cr_rng_uniform(&r) < gaps)
                text_put(&b, v < 3 ? "," : "\n");
            else
                text_put(&b, "s%zu%s", x[v], v < 3 ? "," : "\n");
        }
    }
    cr_table *t = table_of_text(cx, "rows.csv", b.at);
    free(b.at);
    return t;
}

/* The cell of row i of column v, by the number behind its letter. */
static size_t cell(const cr_table *t, size_t v, size_t i)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    const cr_column         *c = cr_table_find(t, names[v]);
    return c->codes[i] == CR_MISSING_CODE ? SIZE_MAX : (size_t)(c->levels[c->codes[i]][1] - '0');
}

/* Means of features in the rows. */
static void means_of_rows(const cri_loglinear *m, const cr_table *t, double *mean)
{
    size_t n = cr_table_rows(t);
    memset(mean, 0, m->parameters * sizeof *mean);
    for (size_t i = 0; i < n; i++) {
        uint16_t row[4];
        for (size_t v = 0; v < 4; v++) row[v] = (uint16_t)cell(t, v, i);
        for (size_t k = 0; k < m->parameters; k++) mean[k] += feature_value(m, k, row) / (double)n;
    }
}

/* --- the likelihood --------------------------------------------------------------------------- */

TEST(moments_match)
{
    static const char *const how[] = { "cliques=a+b,b+c,c+d,d+a", "structure=complete",
                                       "cliques=a+b+c,c+d", "structure=empty" };
    cr_table                *t = draw_rows(cx, 1, 500, 0);
    for (size_t h = 0; h < 4; h++) {
        char   settings[128];
        double mean[64], seen[64];
        snprintf(settings, sizeof settings, "l2=0 method=exact %s", how[h]);
        cr_model            *model = fit(cx, "loglinear", t, settings);
        const cri_loglinear *m = state_of(model);
        assert_true(m->parameters <= 64);
        assert_close(m->log_z, enumerate(m, mean, NULL), 1e-10);
        means_of_rows(m, t, seen);
        for (size_t k = 0; k < m->parameters; k++) assert_close(mean[k], seen[k], 1e-8);
        assert_true(m->gap < 1e-8);
        assert_true(m->converged);
    }
}

TEST(a_penalty_leaves_a_gap_of_its_gradient)
{
    cr_table            *t = draw_rows(cx, 2, 300, 0);
    double               mean[64], seen[64];
    const cri_loglinear *m = state_of(fit(cx, "loglinear", t, "l2=3 structure=complete"));
    enumerate(m, mean, NULL);
    means_of_rows(m, t, seen);
    for (size_t k = 0; k < m->parameters; k++)
        assert_close(seen[k] - mean[k], 3 * m->weight[k] / 300, 1e-8);
    m = state_of(fit(cx, "loglinear", t, "l2=0 l1=9 structure=complete"));
    enumerate(m, mean, NULL);
    size_t zeros = 0;
    for (size_t k = 0; k < m->parameters; k++) {
        double gap = 300 * (seen[k] - mean[k]), w = m->weight[k];
        zeros += w == 0;
        if (m->begin[k + 1] - m->begin[k] == 1)
            assert_close(gap, 0, 1e-5);
        else if (w == 0)
            assert_true(fabs(gap) <= 9 + 1e-5);
        else
            assert_close(gap, w > 0 ? 9 : -9, 1e-5);
        assert_true(isnan(m->sd[k]));
    }
    assert_true(zeros > 2);
}

/* All densities sum to one, and those of rows add up to the likelihood. */
TEST(densities)
{
    cr_table     *t = draw_rows(cx, 3, 200, 0);
    cr_model     *m = fit(cx, "loglinear", t, "structure=complete");
    double        sum = 0;
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < p.n; i++) sum += p.log_density[i];
    assert_close(sum, m->report.log_likelihood, 1e-9);
    text_buffer b = text_new(2000);
    text_put(&b, "a,b,c,d\n");
    for (size_t i = 0; i < 36; i++)
        text_put(&b, "s%zu,s%zu,s%zu,s%zu\n", i / 18, i / 6 % 3, i / 3 % 2, i % 3);
    p = predict(cx, m, table_of_text(cx, "all.csv", b.at));
    sum = 0;
    for (size_t i = 0; i < 36; i++) sum += exp(p.log_density[i]);
    assert_close(sum, 1, 1e-12);
    cr_prediction one = predict(cx, m, table_of_text(cx, "part.csv", "a,b,c,d\ns1,,s0,\n"));
    double        part = 0;
    for (size_t i = 0; i < 36; i++)
        if (i / 18 == 1 && i / 3 % 2 == 0) part += exp(p.log_density[i]);
    assert_close(one.log_density[0], log(part), 1e-12);
    free(b.at);
}

/* Iterative proportional fitting of all pairs of three columns. */
TEST(proportional_fitting)
{
    static const size_t pair[3][2] = { { 0, 1 }, { 1, 2 }, { 0, 2 } };
    cr_table           *t = draw_rows(cx, 4, 400, 0);
    double              count[12] = { 0 }, q[12];
    for (size_t i = 0; i < 400; i++)
        count[cell(t, 0, i) * 6 + cell(t, 1, i) * 2 + cell(t, 2, i)] += 1.0 / 400;
    for (size_t i = 0; i < 12; i++) q[i] = 1.0 / 12;
    for (size_t n = 0; n < 500; n++) {
        const double *const from[2] = { count, q };
        size_t              a = pair[n % 3][0], b = pair[n % 3][1];
        double              sum[2][9] = { { 0 } };
        for (size_t i = 0; i < 12; i++) {
            size_t x[3] = { i / 6, i / 2 % 3, i % 2 };
            for (size_t k = 0; k < 2; k++) sum[k][x[a] * 3 + x[b]] += from[k][i];
        }
        for (size_t i = 0; i < 12; i++) {
            size_t x[3] = { i / 6, i / 2 % 3, i % 2 };
            q[i] *= sum[0][x[a] * 3 + x[b]] / sum[1][x[a] * 3 + x[b]];
        }
    }
    cr_model   *m = fit(cx, "loglinear", t, "features=a,b,c structure=complete l2=0");
    text_buffer b = text_new(500);
    text_put(&b, "a,b,c\n");
    for (size_t i = 0; i < 12; i++) text_put(&b, "s%zu,s%zu,s%zu\n", i / 6, i / 2 % 3, i % 2);
    cr_prediction p = predict(cx, m, table_of_text(cx, "all.csv", b.at));
    for (size_t i = 0; i < 12; i++) assert_close(exp(p.log_density[i]), q[i], 1e-8);
    free(b.at);
}

/* A chain of cliques: p = n(a,b) n(b,c) / n(b) / n. */
TEST(decomposable_tables_have_a_closed_form)
{
    cr_table     *t = draw_rows(cx, 5, 300, 0);
    cr_model     *m = fit(cx, "loglinear", t, "features=a,b,c cliques=a+b,c+b l2=0");
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 0; i < 20; i++) {
        double ab = 0, bc = 0, b = 0;
        for (size_t k = 0; k < 300; k++) {
            bool same = cell(t, 1, k) == cell(t, 1, i);
            b += same;
            ab += same && cell(t, 0, k) == cell(t, 0, i);
            bc += same && cell(t, 2, k) == cell(t, 2, i);
        }
        assert_close(p.log_density[i], log(ab * bc / b / 300), 1e-7);
    }
}

/* --- standard errors -------------------------------------------------------------------------- */

TEST(errors_are_those_of_the_enumerated_information)
{
    cr_table            *t = draw_rows(cx, 6, 400, 0);
    double               mean[32], product[32 * 32], C[32 * 32];
    const cri_loglinear *m = state_of(fit(cx, "loglinear", t, "cliques=a+b,b+c,c+d,d+a l2=0.5"));
    size_t               K = m->parameters;
    assert_true(K <= 32);
    enumerate(m, mean, product);
    assert_ok(cx, cri_loglinear_covariance(cx, m, m->weight, C));
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < K; l++)
            assert_close(C[k * K + l], product[k * K + l] - mean[k] * mean[l], 1e-12);
    for (size_t i = 0; i < K * K; i++) C[i] *= 400;
    for (size_t k = 0; k < K; k++) C[k * K + k] += 0.5;
    long double A[32 * 32], inverse[32 * 32];
    for (size_t i = 0; i < K * K; i++) A[i] = C[i], inverse[i] = i % (K + 1) == 0;
    solve_dense(K, A, inverse, K);
    for (size_t k = 0; k < K; k++) assert_close(m->sd[k], (double)sqrtl(inverse[k * K + k]), 1e-9);
}

/* Intervals of two standard errors hold the truth about as often as they should, by both methods. */
TEST(intervals_cover)
{
    static const char *const how[] = { "l2=0 structure=complete",
                                       "l2=0 structure=complete method=pseudo" };
    size_t                   held[2] = { 0 }, all = 0, repeats = simulation_size(40, 200);
    double                   h = 0.3, J = 0.5;
    for (size_t n = 0; n < repeats; n++) {
        text_buffer b = text_new(8000);
        cr_rng      r = cr_rng_stream(n, 9);
        text_put(&b, "x,y,z\n");
        for (size_t i = 0; i < 300; i++) {
            double p[8];
            for (int e = 0; e < 8; e++) {
                int s[3] = { e & 4 ? 1 : -1, e & 2 ? 1 : -1, e & 1 ? 1 : -1 };
                p[e] = exp(h * s[0] - h * s[2] + J * s[0] * s[1] - J * s[1] * s[2]);
            }
            size_t e = cr_rng_categorical(&r, p, 8);
            text_put(&b, "%d,%d,%d\n", e & 4 ? 1 : 0, e & 2 ? 1 : 0, e & 1 ? 1 : 0);
        }
        cr_table *t = table_of_text(cx, "rows.csv", b.at);
        double    truth[6] = { h, 0, -h, J, 0, -J };
        free(b.at);
        for (size_t k = 0; k < 2; k++) {
            const cri_loglinear *m = state_of(fit(cx, "ising", t, how[k]));
            assert_int_equal(m->parameters, 6);
            for (size_t i = 0; i < 6; i++)
                held[k] += fabs(m->weight[i] - truth[i]) < 1.96 * m->sd[i];
        }
        all += 6;
    }
    for (size_t k = 0; k < 2; k++) {
        double share = (double)held[k] / (double)all;
        assert_true(share > 0.92 - 0.5 / sqrt((double)all) &&
                    share < 0.98 + 0.3 / sqrt((double)all));
    }
}

/* --- Ising models ----------------------------------------------------------------------------- */

/* log Z of a strip of 2 x 6 spins by its transfer matrix, column by column. */
TEST(transfer_matrix_of_a_strip)
{
    enum { LONG = 6 };
    text_buffer b = text_new(60000), g = text_new(4000);
    cr_rng      r = cr_rng_stream(3, 3);
    text_put(&g, "cliques=");
    for (size_t i = 0; i < LONG; i++) {
        text_put(&b, "%su%zu,l%zu", i ? "," : "", i, i);
        text_put(&g, "u%zu+l%zu,", i, i);
        if (i + 1 < LONG) text_put(&g, "u%zu+u%zu,l%zu+l%zu,", i, i + 1, i, i + 1);
    }
    text_put(&b, "\n");
    for (size_t n = 0; n < 300; n++) {
        int x = 0;
        for (size_t i = 0; i < 2 * LONG; i++) {
            if (cr_rng_uniform(&r) < 0.35) x = !x;
            text_put(&b, "%s%d", i ? "," : "", x);
        }
        text_put(&b, "\n");
    }
    g.at[strlen(g.at) - 1] = '\0';
    cr_model *m = fit(cx, "ising", table_of_text(cx, "strip.csv", b.at), g.at);
    json_t   *d = describe(cx, m);
    double    z[4] = { 1, 1, 1, 1 };
    char      name[64];
    for (size_t i = 0; i < LONG; i++) {
        double to[4] = { 0 }, h[2], J, along[2] = { 0 };
        for (size_t k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "h[%c%zu]", k ? 'l' : 'u', i);
            h[k] = parameter(d, name, "value");
            snprintf(name, sizeof name, "J[%c%zu,%c%zu]", k ? 'l' : 'u', i - 1, k ? 'l' : 'u', i);
            if (i > 0) along[k] = parameter(d, name, "value");
        }
        snprintf(name, sizeof name, "J[u%zu,l%zu]", i, i);
        J = parameter(d, name, "value");
        for (int s = 0; s < 4; s++)
            for (int q = 0; q < (i > 0 ? 4 : 1); q++) {
                int u = s / 2 * 2 - 1, l = s % 2 * 2 - 1, v = q / 2 * 2 - 1, k = q % 2 * 2 - 1;
                to[s] += z[q] * exp(h[0] * u + h[1] * l + J * u * l +
                                    (i > 0 ? along[0] * u * v + along[1] * l * k : 0));
            }
        memcpy(z, to, sizeof z);
    }
    assert_close(statistic(d, "log_z"), log(z[0] + z[1] + z[2] + z[3]), 1e-10);
    assert_close(statistic(d, "width"), 2, 0);
    free(b.at), free(g.at);
}

/* Two hidden units: the likelihood of the rows is the sum over what they could be. */
TEST(hidden_units)
{
    cr_table *t = draw_rows(cx, 7, 120, 0);
    double    mean[64], sum = 0;
    cr_model *model = fit(cx, "ising", t, "features=a,c structure=empty hidden=2 l2=0.1");
    const cri_loglinear *m = state_of(model);
    assert_int_equal(m->terms.p, 4);
    double log_z = enumerate(m, mean, NULL);
    for (size_t i = 0; i < 120; i++) {
        double part = 0;
        for (size_t h = 0; h < 4; h++) {
            uint16_t row[4] = { (uint16_t)cell(t, 0, i), (uint16_t)cell(t, 2, i), (uint16_t)(h / 2),
                                (uint16_t)(h % 2) };
            double   value = 0;
            for (size_t k = 0; k < m->parameters; k++)
                value += m->weight[k] * feature_value(m, k, row);
            part += exp(value);
        }
        sum += log(part) - log_z;
    }
    assert_close(model->report.log_likelihood, sum, 1e-8);
    const cri_loglinear *none = state_of(fit(cx, "ising", t, "features=a,c structure=empty"));
    assert_true(m->log_likelihood > none->log_likelihood + 1);
}

/* --- gaps ------------------------------------------------------------------------------------- */

/* A saturated table of two columns with gaps: EM on its cells. */
TEST(gaps_as_em_has_them)
{
    cr_table *t = draw_rows(cx, 8, 400, 0.2);
    double    p[6];
    for (size_t i = 0; i < 6; i++) p[i] = 1.0 / 6;
    for (size_t n = 0; n < 3000; n++) {
        double count[6] = { 0 }, total = 0;
        for (size_t i = 0; i < 400; i++) {
            size_t a = cell(t, 0, i), b = cell(t, 1, i);
            double sum = 0;
            if (a == SIZE_MAX && b == SIZE_MAX) continue;
            for (size_t e = 0; e < 6; e++)
                if ((a == SIZE_MAX || a == e / 3) && (b == SIZE_MAX || b == e % 3)) sum += p[e];
            for (size_t e = 0; e < 6; e++)
                if ((a == SIZE_MAX || a == e / 3) && (b == SIZE_MAX || b == e % 3))
                    count[e] += p[e] / sum;
            total++;
        }
        for (size_t e = 0; e < 6; e++) p[e] = count[e] / total;
    }
    cr_model     *m = fit(cx, "loglinear", t, "features=a,b cliques=a+b l2=0");
    cr_prediction q = predict(
        cx, m, table_of_text(cx, "all.csv", "a,b\ns0,s0\ns0,s1\ns0,s2\ns1,s0\ns1,s1\ns1,s2\n"));
    for (size_t e = 0; e < 6; e++) assert_close(exp(q.log_density[e]), p[e], 1e-6);
    json_t *d = describe(cx, m);
    assert_true(statistic(d, "missing") > 100);
    const cri_loglinear *x = state_of(m);
    const cri_loglinear *whole =
        state_of(fit(cx, "loglinear", draw_rows(cx, 8, 400, 0), "features=a,b cliques=a+b l2=0"));
    for (size_t k = 0; k < x->parameters; k++) assert_true(x->sd[k] > whole->sd[k]);
    warnings w;
    assert_non_null(
        strstr(fit_and_hear(cx, "loglinear", t, "features=a,b cliques=a+b method=pseudo", &w),
               "left out"));
}

/* --- other methods ---------------------------------------------------------------------------- */

/* Of one clique with all features, the pseudo-likelihood has its maximum where the likelihood has. */
TEST(pseudo_likelihood_of_a_saturated_table)
{
    cr_table            *t = draw_rows(cx, 9, 600, 0);
    const cri_loglinear *a = state_of(fit(cx, "loglinear", t, "features=a,b,c cliques=a+b+c l2=0"));
    const cri_loglinear *b =
        state_of(fit(cx, "loglinear", t, "features=a,b,c cliques=a+b+c l2=0 method=pseudo"));
    assert_int_equal(a->method, CRI_LOGLINEAR_EXACT);
    assert_int_equal(b->method, CRI_LOGLINEAR_PSEUDO);
    for (size_t k = 0; k < a->parameters; k++) {
        assert_close(a->weight[k], b->weight[k], 1e-6);
        assert_close(a->sd[k], b->sd[k], 1e-5 * a->sd[k]);
    }
}

TEST(pseudo_likelihood_by_its_definition)
{
    cr_table            *t = draw_rows(cx, 10, 100, 0);
    double               sum = 0;
    const cri_loglinear *m = state_of(fit(cx, "loglinear", t, "structure=complete method=pseudo"));
    for (size_t i = 0; i < 100; i++)
        for (size_t v = 0; v < 4; v++) {
            double all = 0, own = 0;
            for (size_t s = 0; s < m->terms.states[v]; s++) {
                uint16_t row[4];
                double   value = 0;
                for (size_t u = 0; u < 4; u++) row[u] = (uint16_t)(u == v ? s : cell(t, u, i));
                for (size_t k = 0; k < m->parameters; k++)
                    value += m->weight[k] * feature_value(m, k, row);
                all += exp(value);
                if (s == cell(t, v, i)) own = value;
            }
            sum += own - log(all);
        }
    assert_close(m->pseudo, sum, 1e-9);
}

TEST(contrastive_divergence_comes_near)
{
    cr_table            *t = draw_rows(cx, 11, 1000, 0);
    const cri_loglinear *a = state_of(fit(cx, "loglinear", t, "cliques=a+b,b+c,c+d"));
    const cri_loglinear *b = state_of(fit(cx, "loglinear", t, "cliques=a+b,b+c,c+d method=pcd"));
    for (size_t k = 0; k < a->parameters; k++)
        assert_true(fabs(a->weight[k] - b->weight[k]) < 0.5 * a->sd[k] + 0.02);
    assert_true(b->gap < 0.01);
}

/* --- graphs ----------------------------------------------------------------------------------- */

static cr_table *draw_ring(cr_ctx *cx, size_t p, size_t n, double J)
{
    text_buffer b = text_new(3 * p * (n + 2));
    cr_rng      r = cr_rng_stream(12, p);
    uint8_t    *x = calloc(p, 1);
    for (size_t v = 0; v < p; v++) text_put(&b, "%sx%zu", v ? "," : "", v);
    text_put(&b, "\n");
    for (size_t i = 0; i < n; i++) {
        for (size_t sweep = 0; sweep < 20; sweep++)
            for (size_t v = 0; v < p; v++) {
                double s = (x[(v + 1) % p] ? 1 : -1) + (x[(v + p - 1) % p] ? 1 : -1);
                x[v] = cr_rng_uniform(&r) < 1 / (1 + exp(-2 * J * s));
            }
        for (size_t v = 0; v < p; v++) text_put(&b, "%s%d", v ? "," : "", x[v]);
        text_put(&b, "\n");
    }
    free(x);
    cr_table *t = table_of_text(cx, "ring.csv", b.at);
    free(b.at);
    return t;
}

TEST(a_ring_is_found_again)
{
    cr_table            *t = draw_ring(cx, 8, 1500, 0.5);
    const cri_loglinear *m = state_of(fit(cx, "ising", t, "stability=10"));
    assert_int_equal(m->edges, 8);
    for (size_t e = 0; e < m->edges; e++) {
        size_t apart = m->edge_b[e] - m->edge_a[e];
        assert_true(apart == 1 || apart == 7);
        assert_true(m->stable[e] > 0.85);
    }
    for (size_t k = 0; k < m->parameters; k++) {
        double truth = m->begin[k + 1] - m->begin[k] == 2 ? 0.5 : 0;
        assert_true(fabs(m->weight[k] - truth) < 4 * m->sd[k]);
    }
    const cri_loglinear *same = state_of(fit(cx, "loglinear", t, "join=or"));
    assert_true(same->edges >= 8);
}

/* Columns of three states, by group penalties. */
TEST(a_chain_of_three_states_is_found_again)
{
    cr_table            *t = draw_rows(cx, 13, 3000, 0);
    const cri_loglinear *m = state_of(fit(cx, "loglinear", t, "gamma=0.5"));
    bool                 there[4][4] = { { false } };
    for (size_t e = 0; e < m->edges; e++) there[m->edge_a[e]][m->edge_b[e]] = true;
    assert_true(there[0][1] && there[1][2] && there[2][3]);
    assert_false(there[0][3] || there[1][3]);
}

/* c goes with y more than each of a1 .. a4, by which both are made, and comes into play first: it must go again. */
TEST(a_column_that_others_explain_is_dropped)
{
    text_buffer b = text_new(200000);
    cr_rng      r = cr_rng_stream(21, 1);
    text_put(&b, "a1,a2,a3,a4,c,y\n");
    for (size_t i = 0; i < 6000; i++) {
        int sum = 0;
        for (size_t k = 0; k < 4; k++) {
            int x = cr_rng_uniform(&r) < 0.5;
            sum += x;
            text_put(&b, "%d,", x);
        }
        double c = 1 / (1 + exp(-2.5 * (sum - 2))), y = 1 / (1 + exp(-1.2 * (sum - 2)));
        text_put(&b, "%d,", cr_rng_uniform(&r) < c);
        text_put(&b, "%d\n", cr_rng_uniform(&r) < y);
    }
    const cri_loglinear *m =
        state_of(fit(cx, "ising", table_of_text(cx, "rows.csv", b.at), "join=or"));
    size_t of_y = 0;
    for (size_t e = 0; e < m->edges; e++) {
        of_y += m->edge_b[e] == 5;
        assert_false(m->edge_a[e] == 4 && m->edge_b[e] == 5);
    }
    assert_int_equal(of_y, 4);
    free(b.at);
}

/* --- structures of files, draws, files -------------------------------------------------------- */

TEST(features_of_a_file)
{
    cr_table            *t = draw_rows(cx, 14, 300, 0);
    const cri_loglinear *m =
        state_of(fit(cx, "loglinear", t,
                     "structure={\"network\":\"markov\",\"variables\":{\"a\":[\"s0\",\"s1\"],\"b\":"
                     "[\"s0\",\"s1\",\"s2\"]},"
                     "\"features\":[{\"when\":{\"b\":\"s2\",\"a\":\"s1\"},\"weight\":1},{\"when\":{"
                     "\"a\":\"s0\"},\"weight\":1}]}"));
    assert_int_equal(m->parameters, 2);
    assert_int_equal(m->state[0], 0);
    assert_int_equal(m->begin[2], 3);
    assert_int_equal(m->variable[2], 1);
    assert_int_equal(m->state[2], 2);
}

/* Draws have the model's means. */
TEST(draws)
{
    cr_table            *t = draw_rows(cx, 15, 300, 0);
    cr_model            *m = fit(cx, "loglinear", t, "cliques=a+b,b+c,c+d,d+a");
    const cri_loglinear *x = state_of(m);
    enum { COUNT = 20000 };
    double *out = malloc(COUNT * 4 * sizeof *out), mean[32], seen[32] = { 0 };
    assert_ok(cx, cri_loglinear_sample(cx, x, m->design, NULL, COUNT, 1, out));
    enumerate(x, mean, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        uint16_t row[4];
        for (size_t v = 0; v < 4; v++) row[v] = (uint16_t)out[i * 4 + v];
        for (size_t k = 0; k < x->parameters; k++) seen[k] += feature_value(x, k, row) / COUNT;
    }
    for (size_t k = 0; k < x->parameters; k++)
        assert_true(fabs(seen[k] - mean[k]) < 5 * sqrt(mean[k] * (1 - mean[k]) / COUNT) + 1e-9);
    free(out);
}

/* --- corners ---------------------------------------------------------------------------------- */

TEST(corners)
{
    warnings  w;
    cr_table *t = table_of_text(cx, "data.csv",
                                "a,b,same,const,none\nx,u,x,k,\ny,u,y,k,\nx,v,x,k,\nx,v,x,k,\n");
    cr_model *m = fit(cx, "loglinear", t, "structure=complete");
    for (size_t k = 0; k < state_of(m)->parameters; k++) {
        assert_true(fabs(state_of(m)->weight[k]) < 20);
        assert_true(state_of(m)->sd[k] < 11); /* that of the prior is 10 */
    }
    fit(cx, "loglinear", t, "");
    assert_non_null(
        strstr(fit_and_hear(cx, "loglinear", t, "structure=complete l2=0", &w), "infinite"));
    m = fit(cx, "ising", t, "features=const structure=complete");
    assert_int_equal(state_of(m)->parameters, 0);
    assert_close(m->report.log_likelihood, 0, 0);
}

TEST(refusals)
{
    cr_table *t = draw_rows(cx, 16, 50, 0);
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "ising", t, "structure=complete", &m), CR_EDATA, "'b' has 3");
    assert_fails_with(cx, try_fit(cx, "loglinear", t, "cliques=a+q", &m), CR_EARG, "no column 'q'");
    assert_fails_with(cx, try_fit(cx, "loglinear", t, "structure=nonsense", &m), CR_EIO,
                      "nonsense");
    assert_fails_with(cx, try_fit(cx, "loglinear", t, "method=pseudo hidden=1 structure=empty", &m),
                      CR_EUNSUPPORTED, "exact");
    assert_fails_with(cx, try_fit(cx, "loglinear", t, "structure=complete gamma=1", &m), CR_EARG,
                      "select");
    t = table_of_text(cx, "none.csv", "a,b\n,\n,\n");
    assert_fails_with(cx, try_fit(cx, "loglinear", t, "", &m), CR_EDATA, "no column has a value");
}
