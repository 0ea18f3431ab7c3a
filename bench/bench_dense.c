/* bench_dense.c -- products and factorisations of credence beside raw BLAS and LAPACK.
 *   bench_dense [n] [runs]
 * One JSON line per measurement: the median of `runs` runs.  The contestants of a task take turns,
 * so that a disturbance of the machine hits all of them alike. */
#include "math/dense/lapack.h"
#include "base/context.h"
#include "math/dense/blas.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 99, CONTESTANTS = 4, TALL = 300000, COLUMNS = 50 };

typedef struct problem {
    size_t  n;
    double *A, *B; /* [n x n]; A symmetric positive definite */
    double *L;     /* its factor                             */
    double *C, *X; /* workspace [n x n]; X [TALL x COLUMNS]  */
    cr_ctx *cx;
} problem;

typedef struct task {
    const char *name, *raw_name;
    double      flops;           /* of one run */
    void (*prepare)(problem *p); /* not timed  */
    cr_status (*ours)(problem *p);
    void (*raw)(problem *p); /* NULL: none                        */
} task;

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cr_mat  square(double *a, size_t n) { return cr_mat_of(a, n, n); }
static cr_cmat csquare(const double *a, size_t n) { return cr_cmat_of(a, n, n); }

static void prepare_nothing(problem *p) { (void)p; }
static void prepare_spd(problem *p) { memcpy(p->C, p->A, p->n * p->n * sizeof *p->A); }
static void prepare_factor(problem *p) { memcpy(p->C, p->L, p->n * p->n * sizeof *p->A); }
static void prepare_rhs(problem *p) { memcpy(p->C, p->B, p->n * p->n * sizeof *p->A); }

static cr_status our_gemm(problem *p)
{
    return cr_gemm(p->cx, 1, csquare(p->A, p->n), CR_PLAIN, csquare(p->B, p->n), CR_PLAIN, 0,
                   square(p->C, p->n));
}
static void raw_gemm(problem *p)
{
    int n = (int)p->n;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, p->A, n, p->B, n, 0, p->C,
                n);
}

static cr_status our_syrk(problem *p)
{
    return cr_syrk(p->cx, 1, csquare(p->B, p->n), CR_PLAIN, 0, square(p->C, p->n));
}
static void raw_syrk(problem *p)
{
    int n = (int)p->n;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, n, 1, p->B, n, 0, p->C, n);
}

static cr_status our_gram(problem *p)
{
    return cr_syrk(p->cx, 1, cr_cmat_of(p->X, TALL, COLUMNS), CR_TRANSPOSED, 0,
                   square(p->C, COLUMNS));
}
static void raw_gram(problem *p)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, COLUMNS, TALL, 1, p->X, COLUMNS, 0, p->C,
                COLUMNS);
}

static cr_status our_gemv(problem *p)
{
    return cr_gemv(p->cx, 1, csquare(p->A, p->n), CR_PLAIN, p->B, 0, p->C);
}
static void raw_gemv(problem *p)
{
    int n = (int)p->n;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, p->A, n, p->B, 1, 0, p->C, 1);
}

static cr_status our_chol(problem *p) { return cr_chol(p->cx, square(p->C, p->n)); }
static void      raw_chol(problem *p) { cri_dpotrf('U', (int)p->n, p->C, (int)p->n); }

static cr_status our_solve(problem *p)
{
    return cr_chol_solve(p->cx, csquare(p->L, p->n), square(p->C, p->n));
}
static void raw_solve(problem *p)
{
    cri_dpotrs('U', (int)p->n, (int)p->n, p->L, (int)p->n, p->C, (int)p->n);
}

static cr_status our_inverse(problem *p)
{
    return cr_chol_inverse(p->cx, csquare(p->C, p->n), square(p->C, p->n));
}
static void raw_inverse(problem *p) /* one triangle only */
{
    cri_dpotri('U', (int)p->n, p->C, (int)p->n);
}

typedef struct times {
    double wall, cpu; /* cpu: of all threads; steadier than wall on a busy machine */
} times;

/* Seconds of one run by contestant c: ours on 1 and 2 threads, raw on 1 and 2 threads. */
static times run_once(problem *p, const task *t, size_t c)
{
    int threads = c % 2 ? 2 : 1;
    t->prepare(p);
    openblas_set_num_threads(c < 2 ? 1 : threads);
    cr_ctx_set_threads(p->cx, (size_t)threads);
    times begin = { clock_seconds(CLOCK_MONOTONIC), clock_seconds(CLOCK_PROCESS_CPUTIME_ID) };
    if (c >= 2) {
        t->raw(p);
    } else if (t->ours(p) != CR_OK) {
        fprintf(stderr, "bench_dense: %s\n", cr_error(p->cx));
        exit(1);
    }
    return (times){ clock_seconds(CLOCK_MONOTONIC) - begin.wall,
                    clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin.cpu };
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    return x[n / 2];
}

static void measure(problem *p, const task *t, size_t runs)
{
    static double wall[CONTESTANTS][MOST_RUNS], cpu[CONTESTANTS][MOST_RUNS];
    for (size_t c = 0; c < CONTESTANTS; c++) run_once(p, t, c); /* warm up */
    for (size_t r = 0; r < runs; r++)
        for (size_t c = 0; c < CONTESTANTS; c++) {
            times one = run_once(p, t, c);
            wall[c][r] = one.wall, cpu[c][r] = one.cpu;
        }
    for (size_t c = 0; c < CONTESTANTS; c++) {
        double seconds = median(wall[c], runs);
        printf("{\"task\":\"%s\",\"n\":%zu,\"threads\":%d,\"seconds\":%.6g,\"gflops\":%.4g,"
               "\"best_seconds\":%.6g,\"cpu_seconds\":%.6g}\n",
               c < 2 ? t->name : t->raw_name, p->n, c % 2 ? 2 : 1, seconds,
               1e-9 * t->flops / seconds, wall[c][0], median(cpu[c], runs));
    }
    fflush(stdout);
}

static double *fill(size_t n)
{
    double  *a = malloc(n * sizeof *a);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; a && i < n; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        a[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
    }
    if (!a) exit(6);
    return a;
}

static void setup(problem *p, size_t n)
{
    *p = (problem){ .n = n,
                    .A = fill(n * n),
                    .B = fill(n * n),
                    .L = fill(n * n),
                    .C = fill(n * n),
                    .X = fill((size_t)TALL * COLUMNS) };
    if (cr_ctx_new(NULL, &p->cx) != CR_OK) exit(6);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) p->A[j * n + i] = p->A[i * n + j];
        p->A[i * n + i] += (double)n;
    }
    memcpy(p->L, p->A, n * n * sizeof *p->A);
    if (cr_chol(p->cx, square(p->L, n)) != CR_OK) exit(4);
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 3000;
    size_t runs = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 5;
    if (n < COLUMNS || n > 50000 || runs < 1 || runs > MOST_RUNS) {
        fprintf(stderr, "usage: bench_dense [n >= %d] [runs <= %d]\n", COLUMNS, MOST_RUNS);
        return 2;
    }
    problem p;
    setup(&p, n);
    double     n1 = (double)n, n2 = n1 * n1, n3 = n2 * n1;
    const task tasks[] = {
        { "gemm", "cblas_dgemm", 2 * n3, prepare_nothing, our_gemm, raw_gemm },
        { "syrk", "cblas_dsyrk", n3, prepare_nothing, our_syrk, raw_syrk },
        { "gram", "cblas_dsyrk tall", (double)TALL * COLUMNS * COLUMNS, prepare_nothing, our_gram,
          raw_gram },
        { "gemv", "cblas_dgemv", 2 * n2, prepare_nothing, our_gemv, raw_gemv },
        { "chol", "dpotrf", n3 / 3, prepare_spd, our_chol, raw_chol },
        { "chol_solve", "dpotrs", 2 * n3, prepare_rhs, our_solve, raw_solve },
        { "chol_inverse", "dpotri", 2 * n3 / 3, prepare_factor, our_inverse, raw_inverse },
    };
    cr_blas_info info = cr_blas_query();
    printf("{\"library\":\"%s\",\"kernel\":\"%s\",\"slow\":%s,\"better\":\"%s\"}\n", info.library,
           info.kernel, info.slow ? "true" : "false", info.better);
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) measure(&p, &tasks[t], runs);
    cr_ctx_free(p.cx);
    free(p.A), free(p.B), free(p.L), free(p.C), free(p.X);
    return 0;
}
