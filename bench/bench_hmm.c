/* bench_hmm.c -- steps of Baum-Welch and the most probable path of a hidden Markov model of ten states, by the library and by
 * textbook loops.
 *   bench_hmm ours|plain symbols|normal|path DATA THREADS
 * DATA: CSV, one column of symbols s00 .. s19, or two of numbers for `normal`; one sequence.  The plain side is scaled
 * forward-backward (Rabiner 1989) with full tables of alpha and beta, one thread.  Both sides begin at the same parameters.
 * Prints the seconds of a step, or of a path, and the log likelihood that the steps reached, or of the path. */
#include "credence.h"
#include "models/core/sequence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { K = 10, SYMBOLS = 20, STEPS = 20 };

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

/* --- the parameters to begin with ------------------------------------------------------------ */

static double first_A(size_t i, size_t j) { return i == j ? 0.7 : 0.3 / (K - 1); }

static double first_B(size_t i, size_t l)
{
    double sum = 0;
    for (size_t m = 0; m < SYMBOLS; m++) sum += 1 + (double)((i * 7 + m * 3) % 11);
    return (1 + (double)((i * 7 + l * 3) % 11)) / sum;
}

static double first_mean(size_t i, size_t a) { return a == 0 ? (double)i : (double)(i * 7 % 10); }

static char *write_start(bool normal)
{
    char *text = need(malloc(1 << 16)), *at = text;
    at += sprintf(at, "{\"pi\":[");
    for (size_t i = 0; i < K; i++) at += sprintf(at, "%s%.17g", i ? "," : "", 1. / K);
    at += sprintf(at, "],\"A\":[");
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            at += sprintf(at, "%s%.17g%s",
                          j   ? ","
                          : i ? ",["
                              : "[",
                          first_A(i, j), j + 1 < K ? "" : "]");
    at += sprintf(at, "],\"%s\":[", normal ? "mean" : "B");
    for (size_t i = 0; i < K; i++)
        for (size_t l = 0, n = normal ? 2 : SYMBOLS; l < n; l++)
            at += sprintf(at, "%s%.17g%s",
                          l   ? ","
                          : i ? ",["
                              : "[",
                          normal ? first_mean(i, l) : first_B(i, l), l + 1 < n ? "" : "]");
    at += sprintf(at, "]");
    if (normal) {
        at += sprintf(at, ",\"covariance\":[");
        for (size_t i = 0; i < K; i++) at += sprintf(at, "%s[[1,0],[0,1]]", i ? "," : "");
        at += sprintf(at, "]");
    }
    sprintf(at, "}");
    return text;
}

/* --- the library ----------------------------------------------------------------------------- */

static void check(cr_ctx *cx, cr_status st)
{
    if (st == CR_OK) return;
    fprintf(stderr, "%s\n", cr_error(cx));
    exit(1);
}

static cr_model *fit(cr_ctx *cx, const cr_table *t, const char *start, size_t passes)
{
    char      count[24];
    cr_model *m = NULL;
    snprintf(count, sizeof count, "%zu", passes);
    cr_setting settings[] = { { "start", start },
                              { "max_iter", count },
                              { "tol", "0" },
                              { "prior_rows", "1e-9" },
                              { "prior_transitions", "1e-9" } };
    check(cx, cr_fit(cx, "hmm", t, settings, 5, &m));
    return m;
}

static void run_ours(const char *what, const char *path, size_t threads)
{
    cr_ctx         *cx = NULL;
    cr_read_options o;
    cr_table       *t = NULL;
    bool            viterbi = strcmp(what, "path") == 0;
    char           *start = write_start(strcmp(what, "normal") == 0);
    if (cr_ctx_new(NULL, &cx) != CR_OK) exit(1);
    cr_ctx_set_threads(cx, threads);
    check(cx, cr_options_init(cx, cr_read_table, &o));
    check(cx, cr_table_read(cx, path, &o, &t));
    if (viterbi) {
        size_t    n = cr_table_rows(t);
        cr_model *m = fit(cx, t, start, 0);
        double   *z = need(malloc(n * sizeof *z)), *log_p = need(malloc(n * sizeof *log_p));
        double    best = INFINITY;
        for (size_t run = 0; run < 5; run++) {
            double begin = now();
            check(cx, cr_decode(cx, m, t, z, log_p));
            if (now() - begin < best) best = now() - begin;
        }
        printf("{\"seconds\": %.9g, \"log_likelihood\": %.12g}\n", best, log_p[0]);
    } else {
        cr_model *few = fit(cx, t, start, 1), *many = fit(cx, t, start, STEPS + 1);
        double    each =
            (cr_model_get_report(many)->seconds - cr_model_get_report(few)->seconds) / STEPS;
        printf("{\"seconds\": %.9g, \"log_likelihood\": %.12g}\n", each,
               cr_model_get_report(many)->log_likelihood);
    }
    exit(0); /* the process gives the rest back */
}

/* --- textbook loops -------------------------------------------------------------------------- */

typedef struct plain {
    size_t  T;
    int    *symbol;
    double *x; /* [T x 2] */
    double  pi[K], A[K][K], B[K][SYMBOLS], mean[K][2], S[K][3];
    double *b, *alpha, *beta, *c; /* [T x K] each, [T] */
} plain;

static void read_rows(const char *path, bool normal, plain *p)
{
    char  line[128];
    FILE *f = need(fopen(path, "r"));
    if (!fgets(line, sizeof line, f)) exit(1);
    for (p->T = 0; fgets(line, sizeof line, f); p->T++) {
        if (normal)
            sscanf(line, "%lf,%lf", &p->x[2 * p->T], &p->x[2 * p->T + 1]);
        else
            p->symbol[p->T] = atoi(line + 1);
    }
    fclose(f);
}

static void emit(plain *p, bool normal)
{
    for (size_t t = 0; t < p->T; t++)
        for (size_t i = 0; i < K; i++) {
            if (!normal) {
                p->b[t * K + i] = p->B[i][p->symbol[t]];
                continue;
            }
            const double *S = p->S[i];
            double        u = p->x[2 * t] - p->mean[i][0], v = p->x[2 * t + 1] - p->mean[i][1];
            double        det = S[0] * S[2] - S[1] * S[1];
            p->b[t * K + i] = exp(-0.5 * (S[2] * u * u - 2 * S[1] * u * v + S[0] * v * v) / det) /
                              (2 * M_PI * sqrt(det));
        }
}

static double forward_backward(plain *p)
{
    double log_p = 0;
    size_t T = p->T;
    for (size_t t = 0; t < T; t++) {
        double sum = 0;
        for (size_t j = 0; j < K; j++) {
            double a = t == 0 ? p->pi[j] : 0;
            for (size_t i = 0; t > 0 && i < K; i++) a += p->alpha[(t - 1) * K + i] * p->A[i][j];
            sum += p->alpha[t * K + j] = a * p->b[t * K + j];
        }
        for (size_t j = 0; j < K; j++) p->alpha[t * K + j] /= sum;
        p->c[t] = sum;
        log_p += log(sum);
    }
    for (size_t i = 0; i < K; i++) p->beta[(T - 1) * K + i] = 1;
    for (size_t t = T - 1; t-- > 0;)
        for (size_t i = 0; i < K; i++) {
            double sum = 0;
            for (size_t j = 0; j < K; j++)
                sum += p->A[i][j] * p->b[(t + 1) * K + j] * p->beta[(t + 1) * K + j];
            p->beta[t * K + i] = sum / p->c[t + 1];
        }
    return log_p;
}

static void maximise(plain *p, bool normal)
{
    double pairs[K][K] = { { 0 } }, B[K][SYMBOLS] = { { 0 } }, n[K] = { 0 }, m[K][2] = { { 0 } };
    double S[K][3] = { { 0 } };
    for (size_t t = 0; t < p->T; t++)
        for (size_t i = 0; i < K; i++) {
            double g = p->alpha[t * K + i] * p->beta[t * K + i];
            n[i] += g;
            if (t == 0) p->pi[i] = g;
            for (size_t j = 0; t + 1 < p->T && j < K; j++)
                pairs[i][j] += p->alpha[t * K + i] * p->A[i][j] * p->b[(t + 1) * K + j] *
                               p->beta[(t + 1) * K + j] / p->c[t + 1];
            if (!normal) {
                B[i][p->symbol[t]] += g;
                continue;
            }
            double u = p->x[2 * t] - p->mean[i][0], v = p->x[2 * t + 1] - p->mean[i][1];
            m[i][0] += g * u, m[i][1] += g * v;
            S[i][0] += g * u * u, S[i][1] += g * u * v, S[i][2] += g * v * v;
        }
    for (size_t i = 0; i < K; i++) {
        double total = 0, du = m[i][0] / n[i], dv = m[i][1] / n[i];
        for (size_t j = 0; j < K; j++) total += pairs[i][j];
        for (size_t j = 0; j < K; j++) p->A[i][j] = pairs[i][j] / total;
        for (size_t l = 0; l < SYMBOLS && !normal; l++) p->B[i][l] = B[i][l] / n[i];
        if (!normal) continue;
        p->mean[i][0] += du, p->mean[i][1] += dv;
        p->S[i][0] = S[i][0] / n[i] - du * du;
        p->S[i][1] = S[i][1] / n[i] - du * dv;
        p->S[i][2] = S[i][2] / n[i] - dv * dv;
    }
}

static double viterbi(plain *p, double *z)
{
    double delta[K], next[K], log_A[K][K];
    int   *from = need(malloc(p->T * K * sizeof *from));
    size_t at = 0;
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) log_A[i][j] = log(p->A[i][j]);
    for (size_t j = 0; j < K; j++) delta[j] = log(p->pi[j]) + log(p->b[j]);
    for (size_t t = 1; t < p->T; t++) {
        for (size_t j = 0; j < K; j++) {
            int    best = 0;
            double most = delta[0] + log_A[0][j];
            for (int i = 1; i < K; i++)
                if (delta[i] + log_A[i][j] > most) most = delta[i] + log_A[i][j], best = i;
            from[t * K + j] = best;
            next[j] = most + log(p->b[t * K + j]);
        }
        memcpy(delta, next, sizeof delta);
    }
    for (size_t j = 1; j < K; j++) at = delta[j] > delta[at] ? j : at;
    double best = delta[at];
    for (size_t t = p->T; t-- > 0;) {
        z[t] = (double)at;
        if (t > 0) at = (size_t)from[t * K + at];
    }
    free(from);
    return best;
}

static void run_plain(const char *what, const char *path)
{
    enum { MOST = 2000000 };
    static plain p;
    bool         normal = strcmp(what, "normal") == 0;
    p.symbol = need(malloc(MOST * sizeof *p.symbol)), p.x = need(malloc(MOST * 2 * sizeof *p.x));
    read_rows(path, normal, &p);
    p.b = need(malloc(p.T * K * sizeof(double))), p.alpha = need(malloc(p.T * K * sizeof(double)));
    p.beta = need(malloc(p.T * K * sizeof(double))), p.c = need(malloc(p.T * sizeof(double)));
    for (size_t i = 0; i < K; i++) {
        p.pi[i] = 1. / K;
        for (size_t j = 0; j < K; j++) p.A[i][j] = first_A(i, j);
        for (size_t l = 0; l < SYMBOLS; l++) p.B[i][l] = first_B(i, l);
        for (size_t a = 0; a < 2; a++) p.mean[i][a] = first_mean(i, a);
        p.S[i][0] = p.S[i][2] = 1;
    }
    double log_p = 0, begin = now(), seconds;
    if (strcmp(what, "path") == 0) {
        seconds = INFINITY;
        for (size_t run = 0; run < 5; run++) {
            begin = now();
            emit(&p, false);
            log_p = viterbi(&p, p.beta);
            if (now() - begin < seconds) seconds = now() - begin;
        }
    } else {
        for (size_t step = 0; step < STEPS; step++) {
            emit(&p, normal);
            forward_backward(&p);
            maximise(&p, normal);
        }
        seconds = (now() - begin) / STEPS;
        emit(&p, normal);
        log_p = forward_backward(&p);
    }
    printf("{\"seconds\": %.9g, \"log_likelihood\": %.12g}\n", seconds, log_p);
    exit(0);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    if (strcmp(argv[1], "plain") == 0) run_plain(argv[2], argv[3]);
    run_ours(argv[2], argv[3], strtoul(argv[4], NULL, 10));
    return 0;
}
