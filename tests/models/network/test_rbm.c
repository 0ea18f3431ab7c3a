/* test_rbm.c -- restricted Boltzmann machines of few units against sums over all states: log Z, its gradient, densities,
 * hidden units, draws; annealed importance sampling within its error; contrastive divergence near the likelihood. */
#include "../fixture.h"

#include "models/core/model_internal.h"
#include "models/network/rbm.h"

static const cri_rbm *state_of(const cr_model *m) { return m->state; }

/* n rows of p columns: two groups that hold together, as text of a CSV file. */
static cr_table *draw_rows(cr_ctx *cx, uint64_t seed, size_t n, size_t p)
{
    text_buffer b = text_new((n + 2) * p * 5);
    cr_rng      r = cr_rng_stream(seed, 4);
    for (size_t j = 0; j < p; j++) text_put(&b, "%sv%zu", j ? "," : "", j);
    text_put(&b, "\n");
    for (size_t i = 0; i < n; i++) {
        bool group[2] = { cr_rng_uniform(&r) < 0.5, cr_rng_uniform(&r) < 0.3 };
        for (size_t j = 0; j < p; j++) {
            bool x = group[j % 2] == (cr_rng_uniform(&r) < 0.85);
            text_put(&b, "%s%d", j ? "," : "", x);
        }
        text_put(&b, "\n");
    }
    cr_table *t = table_of_text(cx, "rows.csv", b.at);
    free(b.at);
    return t;
}

/* exp(-energy) of both layers, bit by bit. */
static double joint(const cri_machine *m, size_t v, size_t h)
{
    double sum = 0;
    for (size_t j = 0; j < m->p; j++) sum += m->b[j] * (double)(v >> j & 1);
    for (size_t k = 0; k < m->hidden; k++) {
        if (!(h >> k & 1)) continue;
        sum += m->c[k];
        for (size_t j = 0; j < m->p; j++) sum += m->W[k * m->p + j] * (double)(v >> j & 1);
    }
    return exp(sum);
}

static double enumerate(const cri_machine *m, double *opt_mean)
{
    double Z = 0;
    size_t K = m->hidden, p = m->p;
    if (opt_mean) memset(opt_mean, 0, (K * p + p + K) * sizeof *opt_mean);
    for (size_t v = 0; v < (size_t)1 << p; v++)
        for (size_t h = 0; h < (size_t)1 << K; h++) {
            double w = joint(m, v, h);
            Z += w;
            for (size_t j = 0; opt_mean && j < p; j++)
                opt_mean[K * p + j] += w * (double)(v >> j & 1);
            for (size_t k = 0; opt_mean && k < K; k++) {
                opt_mean[K * p + p + k] += w * (double)(h >> k & 1);
                for (size_t j = 0; j < p; j++)
                    opt_mean[k * p + j] += w * (double)(h >> k & v >> j & 1);
            }
        }
    for (size_t i = 0; opt_mean && i < K * p + p + K; i++) opt_mean[i] /= Z;
    return log(Z);
}

TEST(log_z_and_its_gradient)
{
    static const size_t sizes[][2] = { { 7, 3 }, { 3, 7 }, { 1, 1 }, { 5, 5 } };
    for (size_t n = 0; n < 4; n++) {
        size_t p = sizes[n][0], K = sizes[n][1], size = K * p + p + K;
        double theta[64], mean[64], gradient[64], log_z;
        cr_rng r = cr_rng_stream(n, 1);
        for (size_t i = 0; i < size; i++) theta[i] = 1.3 * cr_rng_normal(&r);
        cri_machine m = cri_machine_of(p, K, theta);
        assert_ok(cx, cri_machine_sum(cx, &m, &log_z, gradient));
        assert_close(log_z, enumerate(&m, mean), 1e-12);
        for (size_t i = 0; i < size; i++) assert_close(gradient[i], mean[i], 1e-12);
    }
}

/* The gradient of the likelihood by differences; at the end of a search it vanishes. */
TEST(gradient_of_the_likelihood)
{
    double theta[40], gradient[40], X[15 * 4], w[15], total = 0;
    cr_rng r = cr_rng_stream(8, 1);
    size_t size = 3 * 4 + 4 + 3;
    for (size_t i = 0; i < 60; i++) X[i] = cr_rng_uniform(&r) < 0.4;
    for (size_t i = 0; i < 15; i++) total += w[i] = 0.5 + cr_rng_uniform(&r);
    for (size_t i = 0; i < size; i++) theta[i] = cr_rng_normal(&r);
    cri_rbm_data d = { 15, 4, X, w, total };
    double       f, up, down;
    assert_ok(cx, cri_machine_objective(cx, &d, 3, 0.7, theta, &f, gradient));
    for (size_t i = 0; i < size; i++) {
        double keep = theta[i];
        theta[i] = keep + 1e-5;
        assert_ok(cx, cri_machine_objective(cx, &d, 3, 0.7, theta, &up, NULL));
        theta[i] = keep - 1e-5;
        assert_ok(cx, cri_machine_objective(cx, &d, 3, 0.7, theta, &down, NULL));
        theta[i] = keep;
        assert_close(gradient[i], (up - down) / 2e-5, 1e-8);
    }
}

/* Densities are the joint distribution summed over the hidden units, and these their conditional means. */
TEST(densities_and_units)
{
    cr_table      *t = draw_rows(cx, 1, 200, 6);
    cr_model      *model = fit(cx, "rbm", t, "hidden=3");
    const cri_rbm *m = state_of(model);
    cri_machine    x = cri_machine_of(6, 3, m->theta);
    double         log_z = enumerate(&x, NULL), sum = 0, of = 0;
    assert_int_equal(m->method, CRI_RBM_EXACT);
    assert_close(m->log_z, log_z, 1e-11);
    assert_close(m->log_z_sd, 0, 0);
    cr_prediction p = predict(cx, model, t);
    const double *columns[6];
    for (size_t j = 0; j < 6; j++) {
        char name[8];
        snprintf(name, sizeof name, "v%zu", j);
        columns[j] = cr_table_find(t, name)->values;
    }
    for (size_t i = 0; i < 200; i++) {
        size_t v = 0;
        double all = 0, on[3] = { 0 };
        for (size_t j = 0; j < 6; j++)
            v |= (size_t)columns[j][i * cr_table_find(t, "v0")->stride] << j;
        for (size_t h = 0; h < 8; h++) {
            double w = joint(&x, v, h);
            all += w;
            for (size_t k = 0; k < 3; k++) on[k] += w * (double)(h >> k & 1);
        }
        assert_close(p.log_density[i], log(all) - log_z, 1e-11);
        for (size_t k = 0; k < 3; k++) assert_close(p.vector[i * 3 + k], on[k] / all, 1e-11);
        sum += p.log_density[i];
    }
    assert_close(model->report.log_likelihood, sum, 1e-9);
    for (size_t j = 0; j < 6; j++) { /* columns that do not depend on each other explain less */
        double q = m->mean[j];
        of += 200 * (q * log(q) + (1 - q) * log(1 - q));
    }
    assert_true(sum > of + 50);
}

/* The error of annealed importance sampling is what it says. */
TEST(annealing_within_its_error)
{
    double theta[200], mean[8] = { 0.3, 0.5, 0.5, 0.6, 0.2, 0.5, 0.7, 0.5 }, square = 0;
    size_t p = 8, K = 10, size = K * p + p + K, runs = simulation_size(20, 100), within = 0;
    for (size_t n = 0; n < runs; n++) {
        cr_rng r = cr_rng_stream(n, 2);
        double log_z, sd;
        for (size_t i = 0; i < size; i++) theta[i] = cr_rng_normal(&r);
        cri_machine m = cri_machine_of(p, K, theta);
        double      truth = enumerate(&m, NULL);
        assert_ok(cx, cri_machine_anneal(cx, &m, mean, 100, 100, n, &log_z, &sd));
        assert_true(sd > 0 && sd < 0.5);
        within += fabs(log_z - truth) < 2.5 * sd;
        square += (log_z - truth) * (log_z - truth) / (sd * sd);
    }
    assert_true((double)within >= 0.85 * (double)runs);
    assert_true(square / (double)runs < 2.5);
}

TEST(divergence_comes_near_the_likelihood)
{
    cr_table *t = draw_rows(cx, 3, 500, 8);
    double    best = fit(cx, "rbm", t, "hidden=2 restarts=2")->report.log_likelihood;
    cr_model *pcd = fit(cx, "rbm", t, "hidden=2 method=pcd epochs=400");
    cr_model *cd = fit(cx, "rbm", t, "hidden=2 method=cd steps=5 epochs=400");
    assert_true(pcd->report.log_likelihood > best - 3);
    assert_true(cd->report.log_likelihood > best - 3);
    assert_int_equal(state_of(pcd)->iterations, 8 * 400);
}

/* Draws have the means of the model. */
TEST(draws)
{
    enum { COUNT = 4000 };
    cr_model      *model = fit(cx, "rbm", draw_rows(cx, 4, 300, 5), "hidden=2");
    const cri_rbm *m = state_of(model);
    double        *out = malloc(COUNT * 5 * sizeof *out), gradient[64], log_z;
    cri_machine    x = cri_machine_of(5, 2, m->theta);
    assert_ok(cx, cri_machine_sum(cx, &x, &log_z, gradient));
    assert_ok(cx, model->class->rows->sample(cx, m, model->design, NULL, COUNT, 3, out));
    for (size_t j = 0; j < 5; j++) {
        double sum = 0, q = gradient[10 + j];
        for (size_t i = 0; i < COUNT; i++) sum += out[i * 5 + j];
        assert_true(fabs(sum / COUNT - q) < 5 * sqrt(q * (1 - q) / COUNT));
    }
    free(out);
}

TEST(refusals)
{
    cr_model *m = NULL;
    cr_table *t = draw_rows(cx, 5, 20, 3);
    assert_fails_with(
        cx, try_fit(cx, "rbm", table_of_text(cx, "x.csv", "a,b\n0,1\n1,2\n0,1\n"), "", &m),
        CR_EDATA, "but 'b' has 2");
    assert_fails_with(cx, try_fit(cx, "rbm", t, "method=exact rate=0.5", &m), CR_EARG, "rate");
    assert_fails_with(cx,
                      try_fit(cx, "rbm", draw_rows(cx, 6, 20, 26), "hidden=26 method=exact", &m),
                      CR_EUNSUPPORTED, "26");
    cr_model *constant =
        fit(cx, "rbm", table_of_text(cx, "x.csv", "a,b\n0,1\n0,1\n0,0\n"), "hidden=1");
    for (size_t i = 0; i < state_of(constant)->size; i++)
        assert_true(fabs(state_of(constant)->theta[i]) < 20);
}
