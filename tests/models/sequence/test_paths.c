/* test_paths.c -- the best paths of a chain and the entropy of all of them, against going through all paths: with ties,
 * with what cannot be, of length 1, of several blocks; and of models through their answers. */
#include "hmm_fixture.h"

#include "models/sequence/chain_entropy.h"
#include "models/sequence/chain_paths.h"

enum { MOST_K = 3, MOST_T = 6, MOST_PATHS = 729 };

typedef struct chain_of_scores {
    size_t k, T;
    double first[MOST_K], weight[MOST_K * MOST_K], score[MOST_T * MOST_K];
} chain_of_scores;

static void give_scores(const void *of, size_t begin, size_t end, double *out)
{
    const chain_of_scores *c = of;
    memcpy(out, c->score + begin * c->k, (end - begin) * c->k * sizeof *out);
}

/* All paths, the best first; of equal ones the one with the lower states at its end. */
typedef struct ranked {
    double log_weight;
    size_t at; /* state t is digit t, so that the last state is the leading digit */
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->log_weight != y->log_weight) return x->log_weight > y->log_weight ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static size_t enumerate(const chain_of_scores *c, ranked *out)
{
    size_t all = 1, n = 0;
    for (size_t t = 0; t < c->T; t++) all *= c->k;
    for (size_t z = 0; z < all; z++) {
        double sum = 0;
        size_t rest = z, before = 0;
        for (size_t t = 0; t < c->T; t++, rest /= c->k) {
            size_t now = rest % c->k;
            sum += t == 0 ? c->first[now] : c->weight[before * c->k + now];
            sum += c->score[t * c->k + now];
            before = now;
        }
        if (sum > -INFINITY) out[n++] = (ranked){ sum, z };
    }
    qsort(out, n, sizeof *out, compare_ranked);
    return n;
}

static void check_search(cr_ctx *cx, const chain_of_scores *c, size_t count)
{
    ranked          truth[MOST_PATHS];
    size_t          exist = enumerate(c, truth), numbers = 0, expected, found;
    double         *path = calloc(count * c->T, sizeof *path), *work;
    double         *log_weight = calloc(2 * count, sizeof *log_weight);
    cri_path_search s = { .cx = cx,
                          .k = c->k,
                          .stride = c->k,
                          .count = count,
                          .longest = c->T + 2,
                          .first = c->first,
                          .T = c->weight,
                          .score = give_scores,
                          .of = c };
    assert_ok(cx, cri_path_search_work(cx, &s, &numbers));
    work = malloc(numbers * sizeof *work);
    assert_true(path && log_weight && work);
    found = cri_path_search_run(&s, 0, c->T, path, c->T, log_weight, 2, work);
    expected = exist < count ? exist : count;
    assert_int_equal(found, expected);
    for (size_t r = 0; r < found; r++) {
        size_t z = truth[r].at;
        assert_close(log_weight[2 * r], truth[r].log_weight, 1e-13);
        for (size_t t = 0; t < c->T; t++, z /= c->k)
            assert_int_equal((size_t)path[r * c->T + t], z % c->k);
    }
    free(path), free(log_weight), free(work);
}

/* Scores are whole numbers, so that many paths are equal, and some are impossible; or any numbers. */
static void draw_scores(cr_rng *r, bool whole, size_t k, size_t T, chain_of_scores *out)
{
    double *all[] = { out->first, out->weight, out->score };
    size_t  n[] = { k, k * k, k * T };
    *out = (chain_of_scores){ .k = k, .T = T };
    for (size_t a = 0; a < 3; a++)
        for (size_t i = 0; i < n[a]; i++) {
            double u = cr_rng_uniform(r);
            all[a][i] = u < 0.15 ? -INFINITY : whole ? -floor(3 * u) : cr_rng_normal(r);
        }
}

TEST(lists_are_those_of_all_paths)
{
    const size_t counts[] = { 1, 2, 5, 40, 1000 };
    cr_rng       r = cr_rng_stream(11, 1);
    for (size_t k = 1; k <= MOST_K; k++)
        for (size_t T = 1; T <= MOST_T; T++)
            for (size_t trial = 0; trial < 20; trial++) {
                chain_of_scores c;
                draw_scores(&r, trial % 2 == 0, k, T, &c);
                for (size_t i = 0; i < 5; i++) check_search(cx, &c, counts[i]);
            }
}

/* Two states, and no transitions that matter: the paths are subsets of the steps, and ten steps, which are about as far from each
 * other and from the end as blocks are long, cost 1, 2, 4, ...: path r costs r. */
enum { BITS = 10, APART = 61 };

static bool is_bit(size_t T, size_t t)
{
    return (T - 1 - t) % APART == 0 && T - 1 - t < BITS * APART;
}

static void give_subset_scores(const void *of, size_t begin, size_t end, double *out)
{
    size_t T = *(const size_t *)of;
    for (size_t t = begin; t < end; t++) {
        out[2 * (t - begin)] = 0;
        out[2 * (t - begin) + 1] = is_bit(T, t) ? -exp2((double)((T - 1 - t) / APART)) : -1e6;
    }
}

TEST(lists_of_several_blocks)
{
    enum { COUNT = 1000 };
    size_t          T = 4096, numbers = 0;
    const double    weight[4] = { 0 };
    double         *path = malloc(COUNT * T * sizeof *path), log_weight[COUNT], *work;
    cri_path_search s = { .cx = cx,
                          .k = 2,
                          .stride = 2,
                          .count = COUNT,
                          .longest = T,
                          .T = weight,
                          .score = give_subset_scores,
                          .of = &T };
    assert_ok(cx, cri_path_search_work(cx, &s, &numbers));
    assert_true(numbers < T * COUNT); /* there are several */
    work = malloc(numbers * sizeof *work);
    assert_true(path && work);
    assert_int_equal(cri_path_search_run(&s, 0, T, path, T, log_weight, 1, work), COUNT);
    for (size_t r = 0; r < COUNT; r++) {
        assert_true(log_weight[r] == -(double)r);
        for (size_t t = 0; t < T; t++)
            assert_true(path[r * T + t] ==
                        (is_bit(T, t) ? (double)(r >> ((T - 1 - t) / APART) & 1) : 0));
    }
    free(path), free(work);
    s.count = 1000000;
    assert_fails_with(cx, cri_path_search_work(cx, &s, &numbers), CR_EDATA, "more than 512 MiB");
}

/* --- entropy --------------------------------------------------------------------------------- */

static long double entropy_of(const ranked *path, size_t n)
{
    long double Z = 0, H = 0;
    for (size_t i = 0; i < n; i++) Z += expl((long double)path[i].log_weight);
    for (size_t i = 0; i < n; i++) {
        long double p = expl((long double)path[i].log_weight) / Z;
        if (p > 0) H -= p * logl(p);
    }
    return H;
}

/* The filter of a chain, in logarithms and normalised. */
static void filter(const chain_of_scores *c, double *log_alpha, double *alpha)
{
    for (size_t t = 0; t < c->T; t++) {
        long double p[MOST_K] = { 0 }, sum = 0;
        for (size_t j = 0; j < c->k; j++) {
            for (size_t i = 0; t > 0 && i < c->k; i++)
                p[j] += expl((long double)log_alpha[(t - 1) * c->k + i] + c->weight[i * c->k + j]);
            if (t == 0) p[j] = expl((long double)c->first[j]);
            sum += p[j] *= expl((long double)c->score[t * c->k + j]);
        }
        for (size_t j = 0; j < c->k; j++) {
            log_alpha[t * c->k + j] = (double)logl(p[j]);
            alpha[t * c->k + j] = (double)(p[j] / sum);
        }
    }
}

TEST(entropy_of_all_paths)
{
    cr_rng r = cr_rng_stream(12, 1);
    size_t checked = 0;
    for (size_t k = 1; k <= MOST_K; k++)
        for (size_t T = 1; T <= MOST_T; T++)
            for (size_t trial = 0; trial < 20; trial++) {
                ranked          all[MOST_PATHS];
                chain_of_scores c;
                double log_alpha[MOST_T * MOST_K], alpha[MOST_T * MOST_K], work[3 * MOST_K];
                double M[MOST_K * MOST_K], logs[MOST_K * MOST_K];
                draw_scores(&r, trial % 2 == 0, k, T, &c);
                size_t n = enumerate(&c, all);
                if (n == 0) continue;
                double H = (double)entropy_of(all, n);
                filter(&c, log_alpha, alpha);
                for (size_t i = 0; i < k * k; i++) M[i] = exp(c.weight[i]);
                cri_chain_weigh_logs(M, k, k, logs);
                double linear = cri_chain_entropy(cx, k, k, M, logs, T, alpha, k, work);
                double of_logs =
                    cri_chain_entropy_of_logs(cx, k, k, c.weight, T, log_alpha, k, work);
                assert_true(fabs(linear - H) < 1e-13 * (1 + H) && linear >= 0);
                assert_true(fabs(of_logs - H) < 1e-13 * (1 + H));
                checked++;
            }
    assert_true(checked > 200);
}

/* --- through the models ---------------------------------------------------------------------- */

/* Categories in a chain of three states with zeros in A, and two sequences, one of a row. */
TEST(paths_of_hidden_states)
{
    enum { T = 5, COUNT = 300, ROWS = T + 1 };
    static const size_t symbol[T] = { 0, 1, 2, 1, 0 };
    const double        pi[3] = { 0.5, 0, 0.5 };
    const double        A[9] = { 0.5, 0.5, 0, 0, 0.5, 0.5, 0.25, 0, 0.75 };
    const double        B[9] = { 0.5, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.5, 0.25 };
    cr_table           *t =
        table_of_text(cx, "data.csv", "who,c\nu,a\nv,b\nu,b\nu,c\nu,b\nu,a\n"); /* v: row 1 */
    cr_model *m =
        fit(cx, "hmm", t,
            "sequence=who features=c max_iter=0 start={\"pi\":[0.5,0,0.5],\"A\":[[0.5,0.5,"
            "0],[0,0.5,0.5],[0.25,0,0.75]],\"B\":[[0.5,0.25,0.25],[0.25,0.25,0.5],[0.25,"
            "0.5,0.25]]}");
    const size_t    row[T] = { 0, 2, 3, 4, 5 };
    chain_of_scores c = { .k = 3, .T = T };
    ranked          all[MOST_PATHS];
    double          path[COUNT * ROWS], log_path[COUNT * ROWS], entropy[ROWS];
    for (size_t i = 0; i < 3; i++) c.first[i] = log(pi[i]);
    for (size_t i = 0; i < 9; i++) c.weight[i] = log(A[i]);
    for (size_t s = 0; s < T; s++)
        for (size_t i = 0; i < 3; i++) c.score[3 * s + i] = log(B[3 * i + symbol[s]]);
    size_t n = enumerate(&c, all);
    assert_true(n > 20 && n < 243);
    assert_ok(cx, cr_decode_paths(cx, m, t, COUNT, path, log_path));
    assert_ok(cx, cr_path_entropy(cx, m, t, entropy));
    for (size_t r = 0; r < COUNT; r++) {
        size_t z = r < n ? all[r].at : 0;
        for (size_t s = 0; s < T; s++, z /= 3) {
            size_t at = r * ROWS + row[s];
            if (r >= n) assert_true(isnan(path[at]) && isnan(log_path[at]));
            if (r >= n) continue;
            assert_close(log_path[at], all[r].log_weight, 1e-13);
            assert_close(entropy[row[s]], (double)entropy_of(all, n), 1e-13);
        }
        /* of the row alone two states are possible: 1 with 0.5 * 0.25, and 3 with 0.5 * 0.5 */
        if (r > 1) assert_true(isnan(path[r * ROWS + 1]));
    }
    assert_true(path[1] == 2 && path[ROWS + 1] == 0);
    assert_close(log_path[1], log(0.25), 1e-14);
    assert_close(log_path[ROWS + 1], log(0.125), 1e-14);
    assert_close(entropy[1], -log(2.0 / 3) * 2 / 3 - log(1.0 / 3) / 3, 1e-14);
    /* the first is the most probable one, and all of them are all there is */
    double        best[ROWS], log_best[ROWS], sum = 0, log_likelihood = 0;
    cr_prediction p = predict(cx, m, t);
    assert_ok(cx, cr_decode(cx, m, t, best, log_best));
    assert_memory_equal(path, best, sizeof best);
    assert_memory_equal(log_path, log_best, sizeof log_best);
    for (size_t r = 0; r < n; r++) sum += exp(log_path[r * ROWS]);
    for (size_t s = 0; s < T; s++) log_likelihood += p.log_density[row[s]];
    assert_close(log(sum), log_likelihood, 1e-13);
    assert_fails_with(cx, cr_decode_paths(cx, m, t, 0, path, log_path), CR_EARG, "at least 1");
    assert_fails_with(cx, cr_decode_paths(cx, m, t, SIZE_MAX / 4, path, log_path), CR_EDATA,
                      "need more than");
}

/* A sequence that cannot be has no path. */
TEST(no_path)
{
    double    path[4], log_path[4];
    cr_table *seen = table_of_text(cx, "seen.csv", "c,d\na,1\nb,1\n");
    cr_table *t = table_of_text(cx, "data.csv", "c,d\nb,1\na,1\n");
    cr_model *m = fit(cx, "hmm", seen,
                      "features=c max_iter=0 start={\"pi\":[1,0],\"A\":[[0.5,0.5],[0,1]],\"B\":[[1,"
                      "0],[0,1]]}");
    assert_ok(cx, cr_decode_paths(cx, m, t, 2, path, log_path));
    for (size_t i = 0; i < 4; i++) assert_true(isnan(path[i]) && isnan(log_path[i]));
}

/* Labels: the probabilities of all labellings sum to one, and give the entropy. */
static void check_labels(cr_ctx *cx, const char *settings, size_t labels)
{
    enum { N = 6, COUNT = 800 };
    cr_table *t = table_of_text(
        cx, "t.csv", "y,u,x,when\na,p,0.5,6\nb,q,-1,5\na,q,2,4\nb,p,0.25,3\nb,p,1.5,2\nc,q,1,1\n");
    cr_model *m = fit(cx, "crf", t, settings);
    double    path[COUNT * N], log_path[COUNT * N], best[N], log_best[N], H[N], sum = 0, total = 0;
    double    share[N][3] = { { 0 } };
    size_t    n = 0, all = (size_t)pow((double)labels, N);
    assert_ok(cx, cr_decode_paths(cx, m, t, COUNT, path, log_path));
    assert_ok(cx, cr_path_entropy(cx, m, t, H));
    assert_ok(cx, cr_decode(cx, m, t, best, log_best));
    cr_prediction p = predict(cx, m, t);
    for (; n < COUNT && !isnan(path[n * N]); n++) {
        double weight = exp(log_path[n * N]);
        sum += weight;
        total -= weight * log_path[n * N];
        for (size_t i = 0; i < N; i++) share[i][(size_t)path[n * N + i]] += weight;
        if (n > 0) assert_true(log_path[n * N] <= log_path[(n - 1) * N] + 1e-12);
    }
    assert_int_equal(n, all);
    assert_close(sum, 1, 1e-12);
    for (size_t i = 0; i < N; i++) {
        assert_true(path[i] == best[i]);
        assert_true(fabs(log_path[i] - log_best[i]) < 1e-12);
        assert_true(fabs(H[i] - total) < 1e-11);
        for (size_t k = 0; k < labels; k++)
            assert_close(p.prob[i * labels + k], share[i][k], 1e-11);
    }
}

TEST(paths_of_labels)
{
    check_labels(cx, "target=y time=when lambda=0.1", 3);
    check_labels(cx, "target=y time=when lambda=1e-7 window=u[-1]*x", 3);
    check_labels(cx, "target=u features=x time=when lambda=0.01", 2);
}

TEST(models_without_paths)
{
    double    x[4];
    cr_table *t = table_of_text(cx, "t.csv", "c\na\nb\n");
    cr_model *m = fit(cx, "markov", t, "");
    assert_fails_with(cx, cr_decode_paths(cx, m, t, 2, x, x), CR_EUNSUPPORTED, "has no list");
    assert_fails_with(cx, cr_path_entropy(cx, m, t, x), CR_EUNSUPPORTED, "has no entropy");
}
