/* bench_topics.c -- collapsed Gibbs sampling of topics, by the library and by textbook loops.
 *   bench_topics ours|plain DATA.ldac K SWEEPS THREADS
 * The plain side is Griffiths & Steyvers (2004): for each token the K products in double precision, added up, and a search
 * from the front; one thread, 64-bit xorshift.  Both sides have alpha = 0.1 and eta = 0.01, and look at log p(w, z) in every
 * tenth sweep of the second half.  Prints the seconds of all sweeps, tokens per second, and the mean of log p(w, z). */
#include "credence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double ALPHA = 0.1, ETA = 0.01;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *need(void *p)
{
    if (!p) exit(1);
    return p;
}

static void print_result(double seconds, size_t tokens, size_t sweeps, double log_joint)
{
    printf("{\"seconds\": %.6g, \"tokens_per_second\": %.4g, \"log_joint\": %.10g}\n", seconds,
           (double)tokens * (double)sweeps / seconds, log_joint);
}

/* --- the documents ---------------------------------------------------------------------------- */

typedef struct corpus {
    cr_table *table;
    size_t    documents, terms, tokens, *begin;
    uint32_t *word;
} corpus;

static void check(cr_ctx *cx, cr_status st)
{
    if (st == CR_OK) return;
    fprintf(stderr, "%s\n", cr_error(cx));
    exit(1);
}

static corpus read_corpus(cr_ctx *cx, const char *path)
{
    corpus          c = { 0 };
    cr_read_options o;
    check(cx, cr_options_init(cx, cr_read_table, &o));
    check(cx, cr_table_read(cx, path, &o, &c.table));
    cr_options_free(cx, cr_read_table, &o);
    const cr_csr *X = cr_table_csr(c.table);
    c.documents = X->rows, c.terms = X->columns;
    for (size_t e = 0; e < X->row_start[X->rows]; e++) c.tokens += (size_t)X->value[e];
    c.begin = need(malloc((c.documents + 1) * sizeof *c.begin));
    c.word = need(malloc(c.tokens * sizeof *c.word));
    for (size_t d = 0, at = 0; d <= c.documents; d++) {
        c.begin[d] = at;
        for (size_t e = X->row_start[d]; d < c.documents && e < X->row_start[d + 1]; e++)
            for (double n = 0; n < X->value[e]; n++) c.word[at++] = X->column[e];
    }
    return c;
}

/* --- the library ------------------------------------------------------------------------------ */

static void run_ours(cr_ctx *cx, const corpus *c, const char *K, const char *sweeps)
{
    const cr_setting s[] = {
        { "k", K }, { "sweeps", sweeps }, { "chains", "1" }, { "alpha", "0.1" }, { "eta", "0.01" }
    };
    cr_model *m = NULL;
    char     *text = NULL;
    double    start = now();
    check(cx, cr_fit(cx, "topics", c->table, s, sizeof s / sizeof *s, &m));
    double seconds = now() - start;
    check(cx, cr_describe(cx, m, &text));
    const char *at = strstr(text, "\"log_joint\":");
    print_result(seconds, c->tokens, strtoul(sweeps, NULL, 10), at ? strtod(at + 12, NULL) : NAN);
    cr_free(cx, text, strlen(text) + 1, 1);
    cr_model_free(cx, m);
}

/* --- textbook loops --------------------------------------------------------------------------- */

typedef struct plain {
    const corpus *c;
    size_t        K;
    int          *z, *n_dk, *n_kw, *n_k;
    double       *p;
    uint64_t      random;
} plain;

static double uniform(plain *s)
{
    s->random ^= s->random << 13, s->random ^= s->random >> 7, s->random ^= s->random << 17;
    return (double)(s->random >> 11) * 0x1p-53;
}

static void sweep(plain *s)
{
    const corpus *c = s->c;
    size_t        K = s->K;
    double        V_eta = (double)c->terms * ETA;
    for (size_t d = 0; d < c->documents; d++) {
        int *n_d = s->n_dk + d * K;
        for (size_t i = c->begin[d]; i < c->begin[d + 1]; i++) {
            int *n_w = s->n_kw + c->word[i] * K, k = s->z[i];
            n_d[k]--, n_w[k]--, s->n_k[k]--;
            double sum = 0;
            for (size_t j = 0; j < K; j++) {
                sum += (n_d[j] + ALPHA) * (n_w[j] + ETA) / (s->n_k[j] + V_eta);
                s->p[j] = sum;
            }
            double u = uniform(s) * sum;
            for (k = 0; s->p[k] < u; k++) {}
            n_d[k]++, n_w[k]++, s->n_k[k]++;
            s->z[i] = k;
        }
    }
}

static double log_joint(const plain *s)
{
    const corpus *c = s->c;
    double        K = (double)s->K, V = (double)c->terms, sum = 0;
    for (size_t k = 0; k < s->K; k++) sum += lgamma(V * ETA) - lgamma(s->n_k[k] + V * ETA);
    for (size_t j = 0; j < c->terms * s->K; j++)
        if (s->n_kw[j]) sum += lgamma(s->n_kw[j] + ETA) - lgamma(ETA);
    for (size_t d = 0; d < c->documents; d++)
        sum += lgamma(K * ALPHA) - lgamma((double)(c->begin[d + 1] - c->begin[d]) + K * ALPHA);
    for (size_t j = 0; j < c->documents * s->K; j++)
        if (s->n_dk[j]) sum += lgamma(s->n_dk[j] + ALPHA) - lgamma(ALPHA);
    return sum;
}

static void run_plain(const corpus *c, size_t K, size_t sweeps)
{
    plain  s = { .c = c, .K = K, .random = 88172645463325252u };
    double start = now(), mean = 0, kept = 0;
    s.z = need(malloc(c->tokens * sizeof *s.z));
    s.n_dk = need(calloc(c->documents * K, sizeof *s.n_dk));
    s.n_kw = need(calloc(c->terms * K, sizeof *s.n_kw));
    s.n_k = need(calloc(K, sizeof *s.n_k));
    s.p = need(malloc(K * sizeof *s.p));
    for (size_t d = 0; d < c->documents; d++)
        for (size_t i = c->begin[d]; i < c->begin[d + 1]; i++) {
            int k = s.z[i] = (int)(uniform(&s) * (double)K);
            s.n_dk[d * K + (size_t)k]++, s.n_kw[c->word[i] * K + (size_t)k]++, s.n_k[k]++;
        }
    for (size_t t = 1; t <= sweeps; t++) {
        sweep(&s);
        if (2 * t > sweeps && t % 10 == 0) mean += log_joint(&s), kept++;
    }
    print_result(now() - start, c->tokens, sweeps, mean / kept);
    free(s.z), free(s.n_dk), free(s.n_kw), free(s.n_k), free(s.p);
}

int main(int argc, char **argv)
{
    cr_ctx *cx = NULL;
    if (argc != 6 || cr_ctx_new(NULL, &cx) != CR_OK) return 2;
    cr_ctx_set_threads(cx, strtoul(argv[5], NULL, 10));
    corpus c = read_corpus(cx, argv[2]);
    if (strcmp(argv[1], "ours") == 0)
        run_ours(cx, &c, argv[3], argv[4]);
    else
        run_plain(&c, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    free(c.begin), free(c.word);
    cr_table_free(cx, c.table);
    cr_ctx_free(cx);
    return 0;
}
