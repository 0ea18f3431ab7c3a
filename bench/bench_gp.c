/* bench_gp.c -- one evaluation of the log evidence of a Gaussian process with all its gradients.
 *   bench_gp evidence|lapack|bound|predict|trsm DATA N D THREADS [M]
 * DATA: N x D doubles as they are in memory; the target is made of the columns.  evidence: rbf with
 * one length-scale a column; lapack: dpotrf and dpotri of the same matrix, with as many threads of
 * BLAS: what the evidence cannot undercut; bound: vfe with M inducing inputs; predict: means and
 * sds of M rows (those of the data, again and again) from a process of N rows, the check their mean
 * sd; trsm: the triangular solves of as many right-hand sides, some at a time, by BLAS alone, which
 * the sds cannot undercut.  Prints the median of some runs and a figure to check the result by. */
#include "models/gp/sparse/gp_sparse.h"
#include "models/core/model.h"
#include "data/table/table.h"
#include "math/dense/lapack.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5 };

typedef struct problem {
    cr_ctx         *cx;
    cr_kernel      *k;
    size_t          n, d, m;
    double         *L, *L2, *A;
    cri_gp_data     data;
    cri_gp_problem  gp;
    cri_gp_solution solution;
    cri_gp_sparse   sparse;
    double          gradient[64], check;
} problem;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *need(void *p)
{
    if (!p) exit(1);
    return p;
}

static void setup(problem *p, const char *path)
{
    char   text[4096] = "1*rbf(l=[", *at = text + strlen(text);
    FILE  *f = need(fopen(path, "rb"));
    size_t n = p->n, d = p->d;
    for (size_t j = 0; j < d; j++) at += sprintf(at, "%s%g", j ? "," : "", 1.5 + 0.1 * (double)j);
    sprintf(at, "])");
    p->data = (cri_gp_data){ .n = n,
                             .d = d,
                             .count = (double)n,
                             .X = need(malloc(n * d * sizeof(double))),
                             .y = need(malloc(n * sizeof(double))),
                             .r = need(malloc(n * sizeof(double))) };
    if (fread(p->data.X, sizeof(double), n * d, f) != n * d) exit(1);
    fclose(f);
    for (size_t i = 0; i < n; i++) {
        p->data.r[i] = 1;
        p->data.y[i] = sin(2 * p->data.X[i * d]) + p->data.X[i * d + d - 1];
    }
    p->gp = (cri_gp_problem){ .data = &p->data };
    if (cr_ctx_new(NULL, &p->cx) != CR_OK ||
        cr_kernel_parse(p->cx, text, NULL, NULL, 0, &p->k) != CR_OK)
        exit(1);
}

static cr_status run_lapack(problem *p)
{
    cr_kernel_input in = cri_gp_inputs(&p->data);
    double          start;
    int             n = (int)p->n;
    if (cr_kernel_gram(p->cx, p->k, &in, CR_FILL_LOWER, cr_mat_of(p->L, p->n, p->n)) != CR_OK)
        return CR_EARG;
    for (size_t i = 0; i < p->n; i++) p->L[i * p->n + i] += 0.05;
    start = now();
    cri_dpotrf('U', n, p->L, n);
    cri_dpotri('U', n, p->L, n);
    p->check = now() - start;
    return CR_OK;
}

static cr_status run(problem *p, const char *what)
{
    cr_status st;
    if (strcmp(what, "bound") == 0) {
        st = cri_gp_sparse_solve(p->cx, &p->gp, p->k, 0.05, &p->sparse, p->gradient, NULL);
        p->check = p->sparse.value;
        return st;
    }
    st = cri_gp_solve(p->cx, &p->gp, p->k, 0.05, CRI_GP_NO_JITTER, p->L, &p->solution);
    p->check = p->solution.log_evidence;
    return st == CR_OK ? cri_gp_gradient(p->cx, &p->gp, p->k, 0.05, &p->solution, p->L, p->gradient)
                       : st;
}

/* A table of `rows` rows of the data, with y. */
static cr_table *table_of(problem *p, size_t rows)
{
    cr_table *t;
    double   *column = need(malloc(rows * sizeof(double)));
    if (cr_table_new(p->cx, "rows", rows, &t) != CR_OK) exit(1);
    for (size_t j = 0; j <= p->d; j++) {
        char name[16] = "y";
        for (size_t i = 0; i < rows; i++) {
            size_t from = i % p->n;
            double shift = 1e-3 * (double)(i / p->n); /* no row twice */
            column[i] = j < p->d ? p->data.X[from * p->d + j] + shift : p->data.y[from];
        }
        if (j < p->d) snprintf(name, sizeof name, "x%zu", j);
        if (cr_table_add_numbers(p->cx, t, name, CR_REAL, column, 1) != CR_OK) exit(1);
    }
    free(column);
    return t;
}

static int predict(problem *p, size_t rows)
{
    char          kernel[4096];
    cr_table     *train = table_of(p, p->n), *test = table_of(p, rows);
    cr_model     *model;
    cr_prediction out;
    cr_kernel_print(p->k, kernel, sizeof kernel);
    cr_setting settings[] = { { "target", "y" },
                              { "kernel", kernel },
                              { "noise", "0.05" },
                              { "mean", "zero" },
                              { "optimize", "none" } };
    if (cr_fit(p->cx, "gp", train, settings, 5, &model) != CR_OK) return 1;
    double start = now(), sum = 0;
    if (cr_predict(p->cx, model, test, &out) != CR_OK) return 1;
    double seconds = now() - start;
    for (size_t i = 0; i < rows; i++) sum += out.scale[i] / (double)rows;
    printf("{\"seconds\": %.6f, \"check\": %.12g}\n", seconds, sum);
    return 0;
}

/* L X = B of n rows for `rows` right-hand sides, a block at a time. */
static int solve_triangles(problem *p, size_t rows)
{
    enum { BLOCK = 1024 };
    size_t  n = p->n;
    double *L = need(malloc(n * n * sizeof(double))), *B = need(malloc(n * BLOCK * sizeof(double)));
    double  start = 0, seconds = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            L[i * n + j] = i == j ? 2 : j < i ? 1.0 / (double)(n + i + j) : 0;
    for (size_t at = 0; at < rows; at += BLOCK) {
        int count = (int)(rows - at < BLOCK ? rows - at : BLOCK);
        for (size_t i = 0; i < n * BLOCK; i++) B[i] = p->data.X[i % (n * p->d)];
        start = now();
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, count,
                    1, L, (int)n, B, BLOCK);
        seconds += now() - start;
    }
    printf("{\"seconds\": %.6f, \"check\": 0}\n", seconds);
    return 0;
}

int main(int argc, char **argv)
{
    double  seconds[RUNS];
    problem p = { 0 };
    if (argc < 6) return 2;
    p.n = strtoul(argv[3], NULL, 10);
    p.d = strtoul(argv[4], NULL, 10);
    p.m = argc > 6 ? strtoul(argv[6], NULL, 10) : 0;
    setup(&p, argv[2]);
    cr_ctx_set_threads(p.cx, strtoul(argv[5], NULL, 10));
    if (strcmp(argv[1], "predict") == 0) {
        int failed = predict(&p, p.m);
        if (failed) fprintf(stderr, "%s\n", cr_error(p.cx));
        return failed;
    }
    if (strcmp(argv[1], "trsm") == 0) {
        openblas_set_num_threads(atoi(argv[5]));
        return solve_triangles(&p, p.m);
    }
    size_t m = p.m ? p.m : p.n;
    p.L = need(malloc(m * m * sizeof(double)));
    p.solution.alpha = need(malloc(p.n * sizeof(double)));
    if (p.m) {
        p.sparse = (cri_gp_sparse){ .approx = CRI_GP_VFE,
                                    .Z = p.data,
                                    .L = p.L,
                                    .L2 = need(malloc(m * m * sizeof(double))),
                                    .alpha = p.solution.alpha };
        p.sparse.Z.n = m;
    }
    bool lapack = strcmp(argv[1], "lapack") == 0;
    openblas_set_num_threads(atoi(argv[5]));
    for (size_t i = 0; i < RUNS; i++) {
        double start = now();
        if ((lapack ? run_lapack(&p) : run(&p, argv[1])) != CR_OK) {
            fprintf(stderr, "%s\n", cr_error(p.cx));
            return 1;
        }
        seconds[i] = lapack ? p.check : now() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, compare);
    printf("{\"seconds\": %.6f, \"check\": %.12g}\n", seconds[RUNS / 2], lapack ? 0 : p.check);
    return 0;
}
