/* bench_gp_classify.c -- one evaluation of Laplace's log evidence of a Gaussian process classifier
 * with all gradients.
 *   bench_gp_classify DATA N D THREADS
 * DATA: N x D doubles as they are in memory; the two classes are made of the columns.  Every run
 * begins the search for the mode at 0.  Prints the median of some runs and the log evidence. */
#include "models/gp/classify/classify_laplace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5 };

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

int main(int argc, char **argv)
{
    char       text[4096] = "4*rbf(l=[", *at = text + strlen(text);
    double     seconds[RUNS], value = 0, gradient[64];
    cr_ctx    *cx = NULL;
    cr_kernel *k = NULL;
    if (argc < 5) return 2;
    size_t  n = strtoul(argv[2], NULL, 10), d = strtoul(argv[3], NULL, 10);
    double *X = need(malloc(n * d * sizeof *X)), *counts = need(calloc(2 * n, sizeof *counts));
    FILE   *f = need(fopen(argv[1], "rb"));
    if (d > 60 || fread(X, sizeof *X, n * d, f) != n * d) exit(1);
    fclose(f);
    for (size_t j = 0; j < d; j++) at += sprintf(at, "%s%g", j ? "," : "", 1.5 + 0.1 * (double)j);
    sprintf(at, "])");
    for (size_t i = 0; i < n; i++) counts[2 * i + !(sin(2 * X[i * d]) + X[i * d + d - 1] > 0)] = 1;
    if (cr_ctx_new(NULL, &cx) != CR_OK || cr_kernel_parse(cx, text, NULL, NULL, 0, &k) != CR_OK)
        exit(1);
    cr_ctx_set_threads(cx, strtoul(argv[4], NULL, 10));
    cri_gp_data       data = { .n = n, .d = d, .X = X, .count = (double)n };
    cri_classify_data rows = {
        .at = &data, .link = CRI_CLASSIFY_LOGIT, .F = 1, .C = 2, .counts = counts
    };
    cri_gp_problem problem = { .data = &data };
    cr_scratch     s = cr_scratch_begin(cx);
    cri_laplace    workspace;
    if (cri_laplace_new(&s, &rows, n, NULL, NULL, &workspace) != CR_OK) exit(1);
    for (size_t i = 0; i < RUNS; i++) {
        double start = now();
        workspace.seen = NULL;
        if (cri_laplace_objective(cx, &workspace, &problem, k, 0, &value, gradient) != CR_OK) {
            fprintf(stderr, "%s\n", cr_error(cx));
            return 1;
        }
        seconds[i] = now() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, compare);
    printf("{\"seconds\": %.6f, \"check\": %.12g}\n", seconds[RUNS / 2], value);
    cr_scratch_end(&s);
    cr_kernel_free(cx, k);
    cr_ctx_free(cx);
    free(X);
    free(counts);
    return 0;
}
