/* The Kalman filter, its score and its smoother, against the joint normal distribution of all rows. */
#include "kalman_dense.h"
#include "math/optim/differences.h"

/* --- systems --------------------------------------------------------------------------------- */

/* A random system; the first `unknown` states have a diffuse start and do not depend on the others. */
static void draw_system(cr_scratch *s, uint64_t seed, size_t m, size_t p, size_t k, size_t unknown,
                        cri_kalman_system *out)
{
    cr_rng r = cr_rng_stream(seed, 1);
    double L[MOST_STATES * MOST_STATES] = { 0 };
    assert_int_equal(cri_kalman_new(s, m, p, k, out), CR_OK);
    for (size_t i = 0; i < m; i++) {
        bool regressor = i >= m - k;
        out->noisy[i] = !regressor;
        out->diffuse[i] = i < unknown || regressor;
        out->shared[i] = regressor;
        if (!out->diffuse[i]) out->start[i] = cr_rng_normal(&r);
        for (size_t j = 0; j < m; j++) {
            bool apart = (i < unknown) != (j < unknown) || regressor || j >= m - k;
            out->T[i * m + j] = apart ? 0 : 0.4 * cr_rng_normal(&r);
            L[i * m + j] = j <= i && !regressor ? 0.7 * cr_rng_normal(&r) : 0;
        }
        out->T[i * m + i] = regressor ? 1 : out->T[i * m + i] + (i < unknown ? 0.9 : 0.3);
        for (size_t l = 0; l < p; l++) out->Z[l * m + i] = regressor ? 0 : cr_rng_normal(&r);
    }
    for (size_t l = 0; l < p; l++) out->h[l] = 0.2 + cr_rng_uniform(&r);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t l = 0; l < m; l++) {
                out->Q[i * m + j] += L[i * m + l] * L[j * m + l];
                bool diffuse = out->diffuse[i] || out->diffuse[j];
                out->P1[i * m + j] += diffuse ? 0 : 1.5 * L[i * m + l] * L[j * m + l];
            }
    cri_kalman_pack(out);
}

static void draw_data(uint64_t seed, size_t n, size_t p, size_t k, double gaps, double *y,
                      double *x)
{
    cr_rng r = cr_rng_stream(seed, 2);
    for (size_t i = 0; i < n * p; i++) {
        y[i] = 3 * cr_rng_normal(&r);
        if (cr_rng_uniform(&r) < gaps) y[i] = NAN;
    }
    draw_normals(&r, x, n * k);
}

/* --- against the dense answer ---------------------------------------------------------------- */

typedef struct comparison {
    const dense *o;
    double       worst_mean, worst_covariance;
    size_t       rows;
} comparison;

static void compare_row(void *arg, const cri_kalman_row *row)
{
    comparison *c = arg;
    size_t      m = row->path->system->m;
    c->rows++;
    for (size_t i = 0; i < m; i++) {
        double e[MOST_STATES] = { 0 };
        e[i] = 1;
        c->worst_mean =
            fmax(c->worst_mean, fabs(row->a[i] - dense_mean(c->o, &c->o->state[row->t][i])));
        for (size_t j = 0; j < m; j++) {
            double f[MOST_STATES] = { 0 };
            f[j] = 1;
            double got = cri_kalman_covariance(row, e, i == j ? e : f);
            double want = dense_covariance(c->o, &c->o->state[row->t][i], &c->o->state[row->t][j]);
            c->worst_covariance = fmax(c->worst_covariance, fabs(got - want) / (1 + fabs(want)));
        }
    }
}

static void compare(cr_ctx *cx, const cri_kalman_system *s, const cri_kalman_data *data)
{
    cri_kalman_path path;
    dense          *o = dense_of(cx, s, data);
    comparison      c = { .o = o };
    dense_solve(o);
    assert_ok(cx, cri_kalman_filter(cx, s, data, true, &path));
    assert_close(path.log_likelihood, o->log_likelihood, 1e-10);
    assert_int_equal(path.observed, o->n);
    assert_int_equal(path.fixing, o->unknown);
    assert_ok(cx, cri_kalman_smooth(cx, &path, compare_row, &c));
    assert_int_equal(c.rows, data->n);
    assert_true(c.worst_mean < 1e-8);
    assert_true(c.worst_covariance < 1e-8);
    cri_kalman_path_free(cx, &path);
    dense_free(cx, o);
}

TEST(random_systems_are_their_joint_distribution)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_system system;
        size_t            p = 1 + seed % 2, start[] = { 0, 12 };
        double            y[24], x[1];
        draw_system(&s, seed, 4, p, 0, seed % 4, &system);
        draw_data(seed, 12, p, 0, seed % 3 == 0 ? 0.3 : 0, y, x);
        compare(cx, &system, &(cri_kalman_data){ .n = 12, .series = 1, .start = start, .y = y });
        cr_scratch_end(&s);
    }
}

TEST(a_start_that_is_missing_stays_unknown_for_longer)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system system;
    size_t            start[] = { 0, 10 };
    double            y[10] = { NAN, NAN, 1, NAN, -2, 3, NAN, NAN, 0.5, NAN };
    draw_system(&s, 5, 3, 1, 0, 3, &system);
    compare(cx, &system, &(cri_kalman_data){ .n = 10, .series = 1, .start = start, .y = y });
    cr_scratch_end(&s);
}

TEST(several_series_share_coefficients)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_system system;
        size_t            start[] = { 0, 5, 6, 15 };
        double            y[15], x[30];
        draw_system(&s, 100 + seed, 4, 1, 2, 1, &system);
        draw_data(seed, 15, 1, 2, seed % 2 ? 0.2 : 0, y, x);
        y[5] = 1; /* a series of one row needs a value to have a start */
        compare(cx, &system,
                &(cri_kalman_data){ .n = 15, .series = 3, .start = start, .y = y, .x = x });
        cr_scratch_end(&s);
    }
}

TEST(a_large_variance_tends_to_the_diffuse_start)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system system;
    cri_kalman_path   exact, large;
    size_t            start[] = { 0, 12 };
    double            y[12], x[1], kappa = 1e7;
    draw_system(&s, 9, 3, 1, 0, 2, &system);
    draw_data(9, 12, 1, 0, 0, y, x);
    cri_kalman_data data = { .n = 12, .series = 1, .start = start, .y = y };
    assert_ok(cx, cri_kalman_filter(cx, &system, &data, false, &exact));
    for (size_t i = 0; i < 2; i++) system.diffuse[i] = false, system.P1[i * 3 + i] = kappa;
    assert_ok(cx, cri_kalman_filter(cx, &system, &data, false, &large));
    /* log(2 pi kappa) / 2 for each of the two */
    assert_close(large.log_likelihood + log(2 * M_PI * kappa), exact.log_likelihood, 1e-5);
    cri_kalman_path_free(cx, &exact);
    cri_kalman_path_free(cx, &large);
    cr_scratch_end(&s);
}

/* --- the score ------------------------------------------------------------------------------- */

typedef struct slope {
    cr_ctx            *cx;
    cri_kalman_system *system;
    cri_kalman_data   *data;
    double            *at, *other; /* the entry, and the one that mirrors it */
} slope;

static cr_status height(void *arg, const double *x, double *out)
{
    slope          *w = arg;
    cri_kalman_path path;
    double          old = *w->at, mirrored = *w->other;
    *w->at = *w->other = *x;
    cri_kalman_pack(w->system);
    assert_ok(w->cx, cri_kalman_filter(w->cx, w->system, w->data, false, &path));
    *w->at = old, *w->other = mirrored;
    cri_kalman_pack(w->system);
    *out = path.log_likelihood;
    cri_kalman_path_free(w->cx, &path);
    return CR_OK;
}

static void check_slope(slope *w, double *at, double *other, double score)
{
    double x = *at, wanted;
    w->at = at;
    w->other = other;
    assert_int_equal(cri_ridders(height, w, &x, 0, &wanted), CR_OK);
    assert_close(score, wanted, 1e-6);
}

TEST(the_score_is_the_gradient)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        cr_scratch        s = cr_scratch_begin(cx);
        cri_kalman_system a;
        cri_kalman_path   path;
        size_t            m = 4, unknown = seed % 3, start[] = { 0, 8, 20 };
        double            y[20], x[1], h[1], Q[16], T[16], P1[16], first[4], level[1];
        cri_kalman_score  score = {
             .h = h, .Q = Q, .T = T, .P1 = P1, .start = first, .level = level
        };
        draw_system(&s, 200 + seed, m, 1, 0, unknown, &a);
        draw_data(seed, 20, 1, 0, seed % 2 ? 0.2 : 0, y, x);
        cri_kalman_data data = { .n = 20, .series = 2, .start = start, .y = y };
        slope           w = { cx, &a, &data, NULL, NULL };
        assert_ok(cx, cri_kalman_filter(cx, &a, &data, true, &path));
        assert_ok(cx, cri_kalman_differentiate(cx, &path, &score));
        check_slope(&w, &a.h[0], &a.h[0], h[0]);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j <= i; j++) {
                double twice = i == j ? 1 : 2;
                check_slope(&w, &a.Q[i * m + j], &a.Q[j * m + i], twice * Q[i * m + j]);
                if (j >= unknown)
                    check_slope(&w, &a.P1[i * m + j], &a.P1[j * m + i], twice * P1[i * m + j]);
            }
        for (size_t i = unknown; i < m; i++) {
            check_slope(&w, &a.start[i], &a.start[i], first[i]);
            for (size_t j = unknown; j < m; j++)
                check_slope(&w, &a.T[i * m + j], &a.T[i * m + j], T[i * m + j]);
        }
        cri_kalman_path_free(cx, &path);
        cr_scratch_end(&s);
    }
}

/* --- steady rows ----------------------------------------------------------------------------- */

/* A row whose variances have settled gives what it would have given: a gap at the very end keeps nothing from settling,
 * a regressor that is always 0 does. */
TEST(settled_variances_change_nothing)
{
    enum { N = 600 };
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system quick, slow;
    cri_kalman_path   a, b;
    size_t            start[] = { 0, N };
    double           *y = cr_scratch_f64(&s, N), *x = cr_scratch_f64(&s, N);
    double            h[2], level[2], Q[2][16], P1[2][16], first[2][4];
    draw_system(&s, 77, 3, 1, 0, 1, &quick);
    draw_system(&s, 77, 4, 1, 1, 1, &slow); /* only its shape */
    draw_data(4, N, 1, 1, 0, y, x);
    memset(slow.T, 0, 16 * sizeof(double));
    memset(slow.Q, 0, 16 * sizeof(double));
    memset(slow.P1, 0, 16 * sizeof(double));
    memset(x, 0, N * sizeof(double));
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            slow.T[i * 4 + j] = quick.T[i * 3 + j];
            slow.Q[i * 4 + j] = quick.Q[i * 3 + j];
            slow.P1[i * 4 + j] = quick.P1[i * 3 + j];
        }
        slow.Z[i] = quick.Z[i];
        slow.start[i] = quick.start[i];
    }
    slow.h[0] = quick.h[0];
    slow.diffuse[3] = false;
    slow.start[3] = 0;
    cri_kalman_pack(&slow);
    cri_kalman_data of_quick = { .n = N, .series = 1, .start = start, .y = y },
                    of_slow = { .n = N, .series = 1, .start = start, .y = y, .x = x };
    assert_ok(cx, cri_kalman_filter(cx, &quick, &of_quick, false, &a));
    assert_ok(cx, cri_kalman_filter(cx, &slow, &of_slow, false, &b));
    assert_true(a.n_slots < N / 2);
    assert_int_equal(b.n_slots, N);
    assert_relative(a.log_likelihood, b.log_likelihood, 1e-12);
    cri_kalman_score of_a = {
        .h = &h[0], .Q = Q[0], .P1 = P1[0], .start = first[0], .level = &level[0]
    };
    cri_kalman_score of_b = {
        .h = &h[1], .Q = Q[1], .P1 = P1[1], .start = first[1], .level = &level[1]
    };
    assert_ok(cx, cri_kalman_differentiate(cx, &a, &of_a));
    assert_ok(cx, cri_kalman_differentiate(cx, &b, &of_b));
    assert_close(h[0], h[1], 1e-9);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) assert_close(Q[0][i * 3 + j], Q[1][i * 4 + j], 1e-9);
    cri_kalman_path_free(cx, &a);
    cri_kalman_path_free(cx, &b);
    cr_scratch_end(&s);
}

/* --- reference answers ----------------------------------------------------------------------- */

static void read_matrix(const json_t *rows, double *out)
{
    size_t        i, j;
    const json_t *row, *cell;
    json_array_foreach(rows, i, row) json_array_foreach(row, j, cell) *out++ =
        json_number_value(cell);
}

typedef struct tracked {
    size_t at;
    double a[6], V[16];
} tracked;

static void keep_tracked(void *arg, const cri_kalman_row *row)
{
    tracked *k = arg;
    if (row->t != k->at) return;
    memcpy(k->a, row->a, sizeof k->a);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) {
            double e[6] = { 0 }, f[6] = { 0 };
            e[i] = f[j] = 1;
            k->V[i * 4 + j] = cri_kalman_covariance(row, e, i == j ? e : f);
        }
}

/* Two observations whose noises are correlated: the noises are states too. */
TEST(tracking)
{
    size_t        i;
    const json_t *c, *cases = reference_cases(cx, "kalman"), *found = NULL;
    json_array_foreach(cases, i, c) if (strcmp(json_string_value(json_object_get(c, "id")),
                                               "kalman-tracking-11") == 0) found = c;
    if (!found) test_skip("reference.json has no such case");
    const json_t *set = json_object_get(found, "settings"),
                 *want = json_object_get(found, "expected");
    const json_t     *rows = json_object_get(json_object_get(found, "data"), "inline");
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system a;
    cri_kalman_path   path;
    size_t            n = json_array_size(rows), start[] = { 0, n };
    double           *y = cr_scratch_f64(&s, 2 * n), F[16], Q[16], H[8], R[4];
    assert_int_equal(cri_kalman_new(&s, 6, 2, 0, &a), CR_OK);
    read_matrix(rows, y);
    read_matrix(json_object_get(set, "F"), F);
    read_matrix(json_object_get(set, "Q"), Q);
    read_matrix(json_object_get(set, "H"), H);
    read_matrix(json_object_get(set, "R"), R);
    for (size_t r = 0; r < 4; r++) {
        for (size_t k = 0; k < 4; k++) {
            a.T[r * 6 + k] = F[r * 4 + k];
            a.Q[r * 6 + k] = Q[r * 4 + k];
            a.P1[r * 6 + k] = Q[r * 4 + k];
            for (size_t l = 0; l < 4; l++) a.P1[r * 6 + k] += 10 * F[r * 4 + l] * F[k * 4 + l];
        }
        a.Z[r] = H[r];
        a.Z[6 + r] = H[4 + r];
    }
    for (size_t r = 0; r < 2; r++) {
        a.Z[r * 6 + 4 + r] = 1;
        for (size_t k = 0; k < 2; k++)
            a.Q[(4 + r) * 6 + 4 + k] = a.P1[(4 + r) * 6 + 4 + k] = R[r * 2 + k];
    }
    cri_kalman_pack(&a);
    cri_kalman_data data = { .n = n, .series = 1, .start = start, .y = y };
    assert_ok(cx, cri_kalman_filter(cx, &a, &data, true, &path));
    assert_relative(path.log_likelihood, number_of(want, "loglik"), 1e-8);
    double mean[4], V[16], last[6];
    for (size_t k = 0; k < 4; k++) {
        last[k] = json_number_value(json_array_get(json_object_get(want, "filtered_mean_last"), k));
        assert_relative(path.a[(n - 1) * 6 + k], last[k], 1e-8);
        mean[k] =
            json_number_value(json_array_get(json_object_get(want, "smoothed_mean_first"), k));
    }
    read_matrix(json_object_get(want, "filtered_cov_last"), V);
    cri_kalman_slot slot = cri_kalman_slot_at(&path, path.slot[n - 1]);
    for (size_t r = 0; r < 4; r++)
        for (size_t k = 0; k < 4; k++) assert_relative(slot.P[r * 6 + k], V[r * 4 + k], 1e-8);
    tracked k = { .at = 0 };
    assert_ok(cx, cri_kalman_smooth(cx, &path, keep_tracked, &k));
    read_matrix(json_object_get(want, "smoothed_cov_first"), V);
    for (size_t r = 0; r < 4; r++) assert_relative(k.a[r], mean[r], 1e-8);
    for (size_t r = 0; r < 16; r++) assert_relative(k.V[r], V[r], 1e-8);
    k.at = n / 2;
    assert_ok(cx, cri_kalman_smooth(cx, &path, keep_tracked, &k));
    for (size_t r = 0; r < 4; r++)
        assert_relative(
            k.a[r],
            json_number_value(json_array_get(json_object_get(want, "smoothed_mean_mid"), r)), 1e-8);
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
}

/* --- corners --------------------------------------------------------------------------------- */

TEST(a_value_that_is_certain_is_named)
{
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system a;
    cri_kalman_path   path;
    size_t            start[] = { 0, 3 };
    double            y[] = { 1, 1, 2 };
    assert_int_equal(cri_kalman_new(&s, 1, 1, 0, &a), CR_OK);
    a.T[0] = a.Z[0] = 1;
    a.diffuse[0] = true;
    cri_kalman_pack(&a);
    assert_ok(cx, cri_kalman_filter(
                      cx, &a, &(cri_kalman_data){ .n = 3, .series = 1, .start = start, .y = y },
                      true, &path));
    assert_true(isnan(path.log_likelihood));
    assert_int_equal(path.failed, 1);
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
}

static cr_status filter_and_back(cr_ctx *cx, void *arg)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_kalman_system a;
    cri_kalman_path   path = { 0 };
    size_t            start[] = { 0, 200 };
    double            y[200], h[1], Q[9], T[9], P1[9], first[3], level[1];
    cri_kalman_score  score = { .h = h, .Q = Q, .T = T, .P1 = P1, .start = first, .level = level };
    (void)arg;
    for (size_t i = 0; i < 200; i++) y[i] = i % 7 == 3 ? NAN : (double)(i % 5);
    CR_TRY(cri_kalman_new(&s, 3, 1, 0, &a));
    for (size_t i = 0; i < 3; i++)
        a.T[i * 4] = 0.9, a.Q[i * 4] = 1, a.Z[i] = 1, a.diffuse[i] = true;
    a.T[4] = 0.5, a.T[8] = -0.5;
    a.h[0] = 1;
    cri_kalman_pack(&a);
    cri_kalman_data data = { .n = 200, .series = 1, .start = start, .y = y };
    CR_TRY(cri_kalman_filter(cx, &a, &data, true, &path));
    CR_TRY(cri_kalman_differentiate(cx, &path, &score));
done:
    cri_kalman_path_free(cx, &path);
    cr_scratch_end(&s);
    return st;
}

TEST(every_allocation_may_fail) { test_every_allocation_fails(filter_and_back, NULL); }
