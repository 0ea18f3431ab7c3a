/* bench_kernel.c -- kernel matrices and their gradients.
 *   bench_kernel gram|gradient|exp DATA N D THREADS
 * DATA: N x D doubles as they are in memory.  gram: rbf(l=1.5), both triangles; gradient: the
 * contraction of the derivatives of rbf with one length-scale a column by weights cos i cos j; exp:
 * as many exponentials as the lower triangle has entries, in place, on one thread: what a Gram
 * matrix cannot undercut.  Prints the median of some runs and a figure to check the result by. */
#include "math/kernel/kernel.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5 };

typedef struct problem {
    cr_ctx    *cx;
    cr_kernel *k;
    size_t     n, d;
    double    *X, *K, *gradient;
    int        what;
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

static cr_status run(problem *p)
{
    cr_kernel_input in = cr_kernel_rows(cr_cmat_of(p->X, p->n, p->d));
    if (p->what == 0)
        return cr_kernel_gram(p->cx, p->k, &in, CR_FILL_BOTH, cr_mat_of(p->K, p->n, p->n));
    if (p->what == 1)
        return cr_kernel_gram_gradient(p->cx, p->k, &in, cr_cmat_of(p->K, p->n, p->n), p->gradient);
    for (size_t i = 0; i < (p->n * p->n + p->n) / 2; i += CRI_AREA) cri_exp_array(p->X, CRI_AREA);
    return CR_OK;
}

static double check(const problem *p)
{
    double sum = 0;
    for (size_t i = 0; p->what == 0 && i < p->n * p->n; i++) sum += p->K[i];
    for (size_t j = 0; p->what == 1 && j < p->d; j++) sum += p->gradient[j];
    return sum;
}

static void setup(problem *p, const char *path)
{
    char   text[16384] = "rbf(l=1.5)", *at = text;
    FILE  *f = fopen(path, "rb");
    size_t all = p->n * p->d;
    p->X = calloc(all > CRI_AREA ? all : CRI_AREA, sizeof *p->X);
    p->K = calloc(p->n * p->n, sizeof *p->K);
    p->gradient = calloc(p->d + 1, sizeof *p->gradient);
    if (!f || !p->X || !p->K || !p->gradient || fread(p->X, sizeof *p->X, all, f) != all) exit(3);
    fclose(f);
    if (p->what == 1) at = stpcpy(text, "rbf(l=[");
    for (size_t c = 0; p->what == 1 && c < p->d; c++) at += sprintf(at, c ? ",1.5" : "1.5");
    if (p->what == 1) strcpy(at, "])");
    for (size_t i = 0; p->what == 1 && i < p->n * p->n; i++)
        p->K[i] = cos((double)(i / p->n)) * cos((double)(i % p->n));
    if (p->what == 2) memset(p->X, 0, CRI_AREA * sizeof *p->X);
    if (cr_kernel_parse(p->cx, text, NULL, NULL, 0, &p->k) != CR_OK) exit(4);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "gram", "gradient", "exp" };
    problem                  p = { .what = 0 };
    double                   seconds[RUNS];
    if (argc != 6) return 2;
    while (p.what < 3 && strcmp(argv[1], names[p.what]) != 0) p.what++;
    p.n = strtoul(argv[3], NULL, 10), p.d = strtoul(argv[4], NULL, 10);
    if (p.what == 3 || p.n < 1 || p.n > 20000 || p.d < 1 || p.d > 2000) return 2;
    if (cr_ctx_new(NULL, &p.cx) != CR_OK) return 6;
    cr_ctx_set_threads(p.cx, strtoul(argv[5], NULL, 10));
    setup(&p, argv[2]);
    for (size_t r = 0; r < RUNS; r++) {
        double begin = now();
        if (run(&p) != CR_OK) {
            fprintf(stderr, "bench_kernel: %s\n", cr_error(p.cx));
            return 4;
        }
        seconds[r] = now() - begin;
    }
    qsort(seconds, RUNS, sizeof *seconds, compare);
    printf("{\"seconds\":%.6g,\"entries_per_second\":%.4g,\"check\":%.15g}\n", seconds[RUNS / 2],
           (double)p.n * (double)p.n / seconds[RUNS / 2], check(&p));
    cr_kernel_free(p.cx, p.k);
    cr_ctx_free(p.cx);
    free(p.X), free(p.K), free(p.gradient);
    return 0;
}
