/* test_chain.c -- the forward-backward and Viterbi recursions against sums over all paths, a plain recursion over a
 * million steps, which are several blocks, and many states. */
#include "support.h"
#include "base/rng.h"
#include "models/sequence/chain.h"

/* A chain with random parameters and random log densities of every step. */
typedef struct example {
    size_t    k, T, stride;
    double   *pi, *A, *padded, *turned, *start, *log_b, *work;
    cri_chain chain;
} example;

static void emit(const void *of, size_t begin, size_t end, double *out)
{
    const example *e = of;
    for (size_t t = begin; t < end; t++)
        for (size_t i = 0; i < e->k; i++) out[(t - begin) * e->stride + i] = e->log_b[t * e->k + i];
}

static void draw_shares(cr_rng *r, size_t k, double *p)
{
    double sum = 0;
    for (size_t i = 0; i < k; i++) sum += p[i] = cr_rng_exponential(r);
    for (size_t i = 0; i < k; i++) p[i] /= sum;
}

static double *numbers(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static void make_example(uint64_t seed, size_t k, size_t T, double spread, example *e)
{
    cr_rng r = cr_rng_stream(seed, 1);
    size_t s = cri_chain_stride(k);
    *e = (example){ .k = k, .T = T, .stride = s };
    e->pi = numbers(k), e->A = numbers(k * k), e->start = numbers(s);
    e->padded = numbers(s * s), e->turned = numbers(s * s);
    e->log_b = numbers(k * T), e->work = numbers(cri_chain_work(T, k));
    draw_shares(&r, k, e->pi);
    for (size_t i = 0; i < k; i++) draw_shares(&r, k, e->A + i * k);
    for (size_t i = 0; i < k * T; i++) e->log_b[i] = spread * cr_rng_normal(&r) - 300;
    memcpy(e->start, e->pi, k * sizeof(double));
    cri_chain_pad(e->A, k, false, 0, e->padded);
    cri_chain_pad(e->A, k, true, 0, e->turned);
    e->chain = (cri_chain){
        .k = k, .stride = s, .pi = e->start, .A = e->padded, .At = e->turned, .emit = emit, .of = e
    };
}

static void free_example(example *e)
{
    double *all[] = { e->pi, e->A, e->padded, e->turned, e->start, e->log_b, e->work };
    for (size_t i = 0; i < 7; i++) free(all[i]);
}

static double viterbi(const example *e, double *path)
{
    size_t  k = e->k, s = e->stride;
    double *logs = numbers(k * k), *log_A = numbers(s * s), *log_pi = numbers(s), best;
    for (size_t i = 0; i < k * k; i++) logs[i] = log(e->A[i]);
    for (size_t i = 0; i < s; i++) log_pi[i] = i < k ? log(e->pi[i]) : -INFINITY;
    cri_chain_pad(logs, k, false, -INFINITY, log_A);
    best = cri_chain_viterbi(&e->chain, log_pi, log_A, 0, e->T, e->T, path, e->work);
    free(logs), free(log_A), free(log_pi);
    return best;
}

/* --- all paths ------------------------------------------------------------------------------- */

TEST(all_paths)
{
    enum { K = 3, T = 6, PATHS = 729 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        example     e;
        long double total = 0, best = 0, gamma[T][K] = { 0 }, pairs[K][K] = { 0 };
        size_t      winner = 0;
        double      smoothed[T * K], filtered[T * K], log_density[T], last[K], begins[K] = { 0 };
        double      counted[K * K] = { 0 }, path[T], sum = 0;
        make_example(seed, K, T, 2, &e);
        for (size_t z = 0; z < PATHS; z++) {
            size_t      state[T], rest = z;
            long double p = 1;
            for (size_t t = 0; t < T; t++, rest /= K) state[t] = rest % K;
            for (size_t t = 0; t < T; t++) {
                p *= t == 0 ? e.pi[state[0]] : e.A[state[t - 1] * K + state[t]];
                p *= expl((long double)e.log_b[t * K + state[t]] + 300);
            }
            total += p;
            if (p > best) best = p, winner = z;
            for (size_t t = 0; t < T; t++) gamma[t][state[t]] += p;
            for (size_t t = 1; t < T; t++) pairs[state[t - 1]][state[t]] += p;
        }
        cri_chain_wish wish = { .log_density = log_density,
                                .filtered = filtered,
                                .smoothed = smoothed,
                                .last = last,
                                .begins = begins,
                                .pairs = counted };
        double         log_p = cri_chain_run(&e.chain, 0, T, T, &wish, e.work);
        assert_close(log_p, (double)logl(total) - 300 * T, 1e-13);
        for (size_t t = 0; t < T; t++) {
            sum += log_density[t];
            for (size_t i = 0; i < K; i++)
                assert_close(smoothed[t * K + i], (double)(gamma[t][i] / total), 1e-13);
        }
        assert_close(sum, log_p, 1e-12);
        for (size_t i = 0; i < K; i++) {
            assert_close(begins[i], (double)(gamma[0][i] / total), 1e-13);
            assert_close(last[i], (double)(gamma[T - 1][i] / total), 1e-13);
            assert_close(filtered[(T - 1) * K + i], last[i], 0);
            for (size_t j = 0; j < K; j++)
                assert_close(counted[i * K + j], (double)(pairs[i][j] / total), 1e-12);
        }
        assert_close(viterbi(&e, path), (double)logl(best) - 300 * T, 1e-13);
        for (size_t t = 0; t < T; t++, winner /= K) assert_int_equal((size_t)path[t], winner % K);
        free_example(&e);
    }
}

/* A sequence in two parts, the second given where the first has ended. */
TEST(goes_on)
{
    enum { K = 4, T = 30, CUT = 11 };
    example e;
    double  whole[T * K], parts[T * K], last[K];
    make_example(5, K, T, 1, &e);
    double log_p = cri_chain_run(&e.chain, 0, T, T, &(cri_chain_wish){ .filtered = whole }, e.work);
    double sum = cri_chain_run(&e.chain, 0, CUT, T,
                               &(cri_chain_wish){ .filtered = parts, .last = last }, e.work);
    sum += cri_chain_run(&e.chain, CUT, T, T,
                         &(cri_chain_wish){ .before = last, .filtered = parts + CUT * K }, e.work);
    assert_close(sum, log_p, 1e-13);
    assert_memory_equal(whole, parts, sizeof whole);
    free_example(&e);
}

/* --- long ------------------------------------------------------------------------------------ */

/* A million steps, several blocks: the filter by a plain loop, and what smoothing must sum to. */
TEST(a_million_steps)
{
    enum { K = 3 };
    size_t  T = simulation_size(600000, 1000000);
    example e;
    double  alpha[K], expected = 0, begins[K] = { 0 }, pairs[K * K] = { 0 }, total = 0, best = 0;
    make_example(7, K, T, 3, &e);
    assert_true(cri_chain_block(T, K) < T);
    double *smoothed = numbers(T * K), *path = numbers(T);
    double  log_p = cri_chain_run(
         &e.chain, 0, T, T,
         &(cri_chain_wish){ .smoothed = smoothed, .begins = begins, .pairs = pairs }, e.work);
    for (size_t t = 0; t < T; t++) {
        double next[K], sum = 0;
        for (size_t j = 0; j < K; j++) {
            next[j] = t == 0 ? e.pi[j] : 0;
            for (size_t i = 0; t > 0 && i < K; i++) next[j] += alpha[i] * e.A[i * K + j];
            sum += next[j] *= exp(e.log_b[t * K + j] + 300);
        }
        for (size_t j = 0; j < K; j++) alpha[j] = next[j] / sum;
        expected += log(sum) - 300;
    }
    assert_true(isfinite(log_p));
    assert_relative(log_p, expected, 1e-12);
    for (size_t t = 0; t < T; t++) {
        double sum = 0;
        for (size_t i = 0; i < K; i++) sum += smoothed[t * K + i];
        assert_close(sum, 1, 1e-12);
    }
    for (size_t i = 0; i < K; i++) assert_close(smoothed[(T - 1) * K + i], alpha[i], 1e-12);
    for (size_t i = 0; i < K * K; i++) total += pairs[i];
    assert_relative(total, (double)(T - 1), 1e-10);
    for (size_t i = 0; i < K; i++) { /* transitions from a state: its steps, the last left out */
        double from = 0, steps = 0;
        for (size_t j = 0; j < K; j++) from += pairs[i * K + j];
        for (size_t t = 0; t + 1 < T; t++) steps += smoothed[t * K + i];
        assert_relative(from, steps, 1e-9);
    }
    /* the path is worth what it says */
    best = viterbi(&e, path);
    double worth = log(e.pi[(size_t)path[0]]);
    for (size_t t = 0; t < T; t++) {
        if (t > 0) worth += log(e.A[(size_t)path[t - 1] * K + (size_t)path[t]]);
        worth += e.log_b[t * K + (size_t)path[t]];
    }
    assert_relative(best, worth, 1e-12);
    free(smoothed), free(path);
    free_example(&e);
}

/* --- many states, impossible steps ----------------------------------------------------------- */

TEST(three_hundred_states)
{
    enum { K = 300, T = 50 };
    example       e;
    static double smoothed[T * K], alpha[K], next[K];
    double        expected = 0;
    make_example(9, K, T, 2, &e);
    double log_p =
        cri_chain_run(&e.chain, 0, T, T, &(cri_chain_wish){ .smoothed = smoothed }, e.work);
    for (size_t t = 0; t < T; t++) {
        double sum = 0, of = 0;
        for (size_t j = 0; j < K; j++) {
            next[j] = t == 0 ? e.pi[j] : 0;
            for (size_t i = 0; t > 0 && i < K; i++) next[j] += alpha[i] * e.A[i * K + j];
            sum += next[j] *= exp(e.log_b[t * K + j] + 300);
            of += smoothed[t * K + j];
        }
        for (size_t j = 0; j < K; j++) alpha[j] = next[j] / sum;
        expected += log(sum) - 300;
        assert_close(of, 1, 1e-12);
    }
    assert_relative(log_p, expected, 1e-13);
    for (size_t j = 0; j < K; j++) assert_close(smoothed[(T - 1) * K + j], alpha[j], 1e-13);
    free_example(&e);
}

/* A step that no state can emit: the probability is 0, and what follows is as if it were missing. */
TEST(impossible_step)
{
    enum { K = 2, T = 5 };
    example e, missing;
    double  smoothed[T * K], expected[T * K], log_density[T];
    make_example(3, K, T, 1, &e);
    make_example(3, K, T, 1, &missing);
    for (size_t i = 0; i < K; i++) {
        e.log_b[2 * K + i] = -INFINITY;
        missing.log_b[2 * K + i] = 0;
    }
    double log_p = cri_chain_run(
        &e.chain, 0, T, T, &(cri_chain_wish){ .smoothed = smoothed, .log_density = log_density },
        e.work);
    cri_chain_run(&missing.chain, 0, T, T, &(cri_chain_wish){ .smoothed = expected }, missing.work);
    assert_true(log_p == -INFINITY && log_density[2] == -INFINITY && isfinite(log_density[3]));
    for (size_t i = 0; i < T * K; i++) assert_close(smoothed[i], expected[i], 1e-14);
    free_example(&e), free_example(&missing);
}
