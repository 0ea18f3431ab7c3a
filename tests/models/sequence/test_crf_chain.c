/* test_crf_chain.c -- sums over the labellings of a chain against going through all of them, with
 * stored references, ranges of weights beyond all numbers, and long chains. */
#include "../fixture.h"

#include "models/sequence/crf_chain.h"

enum { MOST_N = 8, MOST_K = 5 };

/* What is true of a chain, by going through its K^n labellings. */
typedef struct truth {
    long double log_Z, best;
    long double marginal[MOST_N][MOST_K], pairs[MOST_K][MOST_K];
    uint32_t    path[MOST_N];
} truth;

static long double score_of(const cri_crf_chain *c, size_t n, const double *S, const uint32_t *y)
{
    long double sum = 0;
    for (size_t t = 0; t < n; t++) sum += (long double)S[t * c->stride + y[t]];
    for (size_t t = 1; t < n; t++) sum += (long double)c->T[y[t - 1] * c->stride + y[t]];
    return sum;
}

/* The next labelling, the last label of the chain being the slowest; false after the last. */
static bool next_labelling(size_t n, size_t K, uint32_t *y)
{
    for (size_t t = 0; t < n; t++) {
        if (++y[t] < K) return true;
        y[t] = 0;
    }
    return false;
}

static void enumerate(const cri_crf_chain *c, size_t n, const double *S, truth *out)
{
    uint32_t    y[MOST_N] = { 0 };
    long double Z = 0;
    *out = (truth){ .best = -INFINITY };
    do {
        long double score = score_of(c, n, S, y);
        if (score > out->best) {
            out->best = score;
            memcpy(out->path, y, sizeof y);
        }
    } while (next_labelling(n, c->K, y));
    do {
        long double p = expl(score_of(c, n, S, y) - out->best);
        Z += p;
        for (size_t t = 0; t < n; t++) out->marginal[t][y[t]] += p;
        for (size_t t = 1; t < n; t++) out->pairs[y[t - 1]][y[t]] += p;
    } while (next_labelling(n, c->K, y));
    out->log_Z = out->best + logl(Z);
    for (size_t t = 0; t < n; t++)
        for (size_t k = 0; k < c->K; k++) out->marginal[t][k] /= Z;
    for (size_t i = 0; i < c->K; i++)
        for (size_t j = 0; j < c->K; j++) out->pairs[i][j] /= Z;
}

/* A chain with these weights T [K x K] and scores S [n x K], spread out. */
static double *open_chain(cr_scratch *s, size_t n, size_t K, const double *S, const double *T,
                          cri_crf_chain *c)
{
    cri_crf_chain_begin(s, K, c);
    double *padded = cr_scratch_bytes(s, K * c->stride, sizeof *padded);
    double *scores = cr_scratch_bytes(s, n * c->stride, sizeof *scores);
    for (size_t i = 0; i < K; i++) memcpy(padded + i * c->stride, T + i * K, K * sizeof *T);
    for (size_t t = 0; t < n; t++) memcpy(scores + t * c->stride, S + t * K, K * sizeof *S);
    cri_crf_chain_set(c, padded);
    return scores;
}

static void check_chain(cr_ctx *cx, size_t n, size_t K, const double *S, const double *T,
                        double tolerance)
{
    cr_scratch    s = cr_scratch_begin(cx);
    cri_crf_chain c;
    truth         all;
    uint32_t      path[MOST_N], from[MOST_N * MOST_K];
    double       *scores = open_chain(&s, n, K, S, T, &c);
    double       *pairs = cr_scratch_bytes(&s, K * c.stride, sizeof *pairs);
    double       *work = cr_scratch_f64(&s, cri_crf_chain_work(&c, n) + 3 * c.stride);
    assert_int_equal(s.status, CR_OK);
    enumerate(&c, n, scores, &all);
    assert_close(cri_crf_chain_score(&c, n, scores, all.path), (double)all.best, 1e-13);
    assert_close(cri_crf_chain_best(&c, n, scores, path, from, work), (double)all.best, 1e-13);
    for (size_t t = 0; t < n; t++) assert_int_equal(path[t], all.path[t]);
    assert_close(cri_crf_chain_marginals(&c, n, scores, 2, pairs, work), (double)all.log_Z, 1e-13);
    cri_crf_chain_pairs(&c, pairs);
    for (size_t t = 0; t < n; t++)
        for (size_t k = 0; k < K; k++)
            assert_true(fabs(scores[t * c.stride + k] - (double)all.marginal[t][k]) < tolerance);
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            assert_true(fabs(pairs[i * c.stride + j] / 2 - (double)all.pairs[i][j]) < tolerance);
    cr_scratch_end(&s);
}

static void draw_chain(cr_rng *r, double size, double range, double *S, double *T)
{
    for (size_t i = 0; i < MOST_N * MOST_K; i++) S[i] = size * cr_rng_normal(r);
    for (size_t i = 0; i < MOST_K * MOST_K; i++) T[i] = range * (cr_rng_uniform(r) - 0.5);
}

TEST(chains_are_the_sum_over_all_labellings)
{
    cr_rng r = cr_rng_stream(3, 1);
    double S[MOST_N * MOST_K], T[MOST_K * MOST_K];
    for (size_t K = 1; K <= MOST_K; K++)
        for (size_t n = 1; n <= (K < 4 ? MOST_N : 5); n++) {
            draw_chain(&r, 1.5, 4, S, T);
            check_chain(cx, n, K, S, T, 1e-13);
        }
}

/* Scores that leave no number but those of one label, and transitions that forbid what the scores
 * want: within the range of the scaled recursions, and beyond it. */
TEST(chains_with_huge_weights_are_exact)
{
    cr_rng       r = cr_rng_stream(4, 1);
    double       S[MOST_N * MOST_K], T[MOST_K * MOST_K];
    const double range[] = { 200, 299, 320, 599, 700, 5000, 1e5 };
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        for (size_t n = 1; n <= 6; n++) {
            draw_chain(&r, range[i], range[i], S, T);
            check_chain(cx, n, 3, S, T, 1e-9);
            draw_chain(&r, 1, range[i], S, T);
            check_chain(cx, n, 3, S, T, 1e-9);
        }
}

TEST(long_chains_neither_underflow_nor_drift)
{
    enum { LONG = 200000 };
    cr_scratch    s = cr_scratch_begin(cx);
    double       *S = cr_scratch_bytes(&s, 2 * LONG, sizeof *S), T[4] = { -3, -5, -5, -3 };
    cri_crf_chain c;
    for (size_t t = 0; t < LONG; t++) S[2 * t] = S[2 * t + 1] = -40;
    double *scores = open_chain(&s, LONG, 2, S, T, &c);
    double *work = cr_scratch_f64(&s, cri_crf_chain_work(&c, LONG));
    assert_int_equal(s.status, CR_OK);
    double pairs[2 * 4] = { 0 }, stay = exp(-3) / (exp(-3) + exp(-5));
    double log_Z = cri_crf_chain_marginals(&c, LONG, scores, 1, pairs, work);
    cri_crf_chain_pairs(&c, pairs);
    assert_close(pairs[0] / (LONG - 1), stay / 2, 1e-10);
    assert_close(pairs[1] / (LONG - 1), (1 - stay) / 2, 1e-10);
    assert_close(log_Z, -40.0 * LONG + log(2) + (LONG - 1) * log(exp(-3) + exp(-5)), 1e-13);
    for (size_t t = 0; t < LONG; t += 997) assert_close(scores[t * c.stride], 0.5, 1e-10);
    cr_scratch_end(&s);
}

static void read_matrix(const json_t *rows, size_t n, size_t K, double *out)
{
    for (size_t i = 0; i < n * K; i++)
        out[i] = json_number_value(json_array_get(json_array_get(rows, i / K), i % K));
}

TEST(stored_references_are_met)
{
    size_t  i, met = 0;
    json_t *one, *list = reference_cases(cx, "crf");
    json_array_foreach(list, i, one)
    {
        json_t *data = json_object_get(json_object_get(one, "data"), "inline");
        json_t *expected = json_object_get(one, "expected");
        if (!data) continue;
        json_t       *rows = json_object_get(data, "unary_T_by_K");
        size_t        n = json_array_size(rows), K = json_array_size(json_array_get(rows, 0));
        double        S[MOST_N * MOST_K], T[MOST_K * MOST_K], p[MOST_N * MOST_K];
        double        e[MOST_K * MOST_K], entropy = 0;
        cr_scratch    s = cr_scratch_begin(cx);
        cri_crf_chain c;
        read_matrix(rows, n, K, S);
        read_matrix(json_object_get(data, "transition_from_to"), K, K, T);
        read_matrix(json_object_get(expected, "marginals"), n, K, p);
        read_matrix(json_object_get(expected, "expected_transition_counts"), K, K, e);
        check_chain(cx, n, K, S, T, 1e-12);
        double *scores = open_chain(&s, n, K, S, T, &c);
        double *pairs = cr_scratch_bytes(&s, K * c.stride, sizeof *pairs);
        double *work = cr_scratch_f64(&s, cri_crf_chain_work(&c, n));
        assert_int_equal(s.status, CR_OK);
        double log_Z = cri_crf_chain_marginals(&c, n, scores, 1, pairs, work);
        cri_crf_chain_pairs(&c, pairs);
        assert_close(log_Z, number_of(expected, "logZ"), 1e-9);
        entropy = log_Z;
        for (size_t k = 0; k < n * K; k++) {
            assert_true(fabs(scores[k / K * c.stride + k % K] - p[k]) < 1e-9);
            entropy -= p[k] * S[k];
        }
        for (size_t k = 0; k < K * K; k++) {
            assert_true(fabs(pairs[k / K * c.stride + k % K] - e[k]) < 1e-9);
            entropy -= e[k] * T[k];
        }
        assert_close(entropy, number_of(expected, "entropy"), 1e-9);
        cr_scratch_end(&s);
        met++;
    }
    assert_int_equal(met, 3);
}

/* How often each of K^n labellings is drawn: within 5 standard errors of its probability. */
static void check_draws(cr_ctx *cx, size_t n, size_t K, const double *S, const double *T)
{
    enum { DRAWS = 40000, MOST = 81 };
    cr_scratch    s = cr_scratch_begin(cx);
    cr_rng        rng = cr_rng_stream(5, 5);
    cri_crf_chain c;
    truth         all;
    uint32_t      y[MOST_N] = { 0 }, path[MOST_N];
    size_t        count[MOST] = { 0 };
    double       *scores = open_chain(&s, n, K, S, T, &c), probability[MOST];
    double       *work = cr_scratch_f64(&s, cri_crf_chain_work(&c, n));
    assert_int_equal(s.status, CR_OK);
    enumerate(&c, n, scores, &all);
    size_t which = 0;
    do probability[which++] = (double)expl(score_of(&c, n, scores, y) - all.log_Z);
    while (next_labelling(n, K, y));
    cri_crf_chain_marginals(&c, n, scores, 1, NULL, work);
    for (size_t d = 0; d < DRAWS; d++) {
        size_t at = 0;
        cri_crf_chain_draw(&c, n, work, &rng, path);
        for (size_t t = n; t-- > 0;) at = at * K + path[t];
        count[at]++;
    }
    for (size_t k = 0; k < which; k++) {
        double p = probability[k], se = sqrt(p * (1 - p) / DRAWS);
        assert_true(fabs((double)count[k] / DRAWS - p) <= 5 * se + 1e-12);
    }
    cr_scratch_end(&s);
}

TEST(draws_are_as_probable_as_their_labellings)
{
    cr_rng r = cr_rng_stream(6, 1);
    double S[MOST_N * MOST_K], T[MOST_K * MOST_K];
    draw_chain(&r, 1, 2, S, T);
    check_draws(cx, 4, 3, S, T);
    check_draws(cx, 1, 3, S, T);
    T[1] = -400; /* beyond what is scaled */
    check_draws(cx, 4, 3, S, T);
}
