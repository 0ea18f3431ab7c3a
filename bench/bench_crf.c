/* bench_crf.c -- a plain conditional random field, as a yardstick: `bench_crf DATA LAMBDA STEPS`.
 * DATA has lines "sequence,level,level,...,label" below a header, every column of levels with indicators
 * of its own; rows of a sequence stand together.  The recursions as textbooks have them, row by row and
 * label by label, and the L-BFGS of the library.  Prints {"seconds", "objective_value"} of the fit. */
#include "base/clock.h"
#include "math/optim/minimize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4, MOST = 1 << 20, MOST_NAMES = 1 << 15 };

typedef struct field {
    size_t  n, sequences, A, K;
    size_t  begin[MOST + 1];
    int     which[MOST][COLUMNS], y[MOST];
    double  lambda;
    double *score, *alpha, *beta, *scale, *M; /* M = exp(T) */
} field;

static char   names[MOST_NAMES][32];
static size_t n_names;

/* The number of a name, by hashing; a new one gets the next. */
static int number_of(const char *name, size_t column)
{
    static int slot[4 * MOST_NAMES];
    char       key[32];
    unsigned   h = 2166136261u;
    snprintf(key, sizeof key, "%zu=%.24s", column, name);
    for (const char *c = key; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
    size_t at = h % (4 * MOST_NAMES);
    while (slot[at] && strcmp(names[slot[at] - 1], key) != 0) at = (at + 1) % (4 * MOST_NAMES);
    if (!slot[at]) {
        if (n_names == MOST_NAMES) exit(1);
        memcpy(names[n_names], key, sizeof key);
        slot[at] = (int)++n_names;
    }
    return slot[at] - 1;
}

static void read_rows(const char *path, field *f)
{
    char  line[512], last[64] = "";
    int   labels[256];
    FILE *in = fopen(path, "r");
    if (!in || !fgets(line, sizeof line, in)) exit(1);
    while (fgets(line, sizeof line, in) && f->n < MOST) {
        char *rest = NULL, *word = strtok_r(line, ",\n", &rest);
        if (!word) continue;
        if (strcmp(word, last) != 0) f->begin[f->sequences++] = f->n;
        snprintf(last, sizeof last, "%s", word);
        for (size_t c = 0; c < COLUMNS; c++)
            f->which[f->n][c] = number_of(strtok_r(NULL, ",\n", &rest), c);
        f->y[f->n++] = number_of(strtok_r(NULL, ",\n", &rest), COLUMNS);
    }
    fclose(in);
    f->begin[f->sequences] = f->n;
    for (size_t i = 0; i < f->n; i++) { /* labels 0 .. K-1 */
        size_t k = 0;
        while (k < f->K && labels[k] != f->y[i]) k++;
        if (k == f->K) labels[f->K++] = f->y[i];
        f->y[i] = (int)k;
    }
    f->A = n_names;
}

/* The marginals of rows begin .. end-1 and their pairs into the gradient; minus the log likelihood. */
static double pass(field *f, size_t begin, size_t end, const double *theta, double *gradient)
{
    size_t        K = f->K, n = end - begin;
    const double *T = theta + f->A * K;
    double        truth = 0, log_Z = 0, *gT = gradient + f->A * K;
    for (size_t t = 0; t < n; t++)
        for (size_t k = 0; k < K; k++) {
            double s = 0;
            for (size_t c = 0; c < COLUMNS; c++) s += theta[(size_t)f->which[begin + t][c] * K + k];
            f->score[t * K + k] = exp(s);
            if (f->y[begin + t] == (int)k) truth += s;
        }
    for (size_t t = 0; t < n; t++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) {
            double a = t == 0;
            for (size_t i = 0; t > 0 && i < K; i++)
                a += f->alpha[(t - 1) * K + i] * f->M[i * K + k];
            sum += f->alpha[t * K + k] = a * f->score[t * K + k];
        }
        for (size_t k = 0; k < K; k++) f->alpha[t * K + k] /= sum;
        f->scale[t] = sum;
        log_Z += log(sum);
        if (t > 0) truth += T[(size_t)f->y[begin + t - 1] * K + (size_t)f->y[begin + t]];
    }
    for (size_t t = n; t-- > 0;) {
        for (size_t k = 0; t + 1 < n && k < K; k++)
            f->score[(t + 1) * K + k] *= f->beta[(t + 1) * K + k] / f->scale[t + 1];
        for (size_t i = 0; i < K; i++) {
            double b = t + 1 == n;
            for (size_t k = 0; t + 1 < n && k < K; k++) {
                double q = f->M[i * K + k] * f->score[(t + 1) * K + k];
                b += q;
                gT[i * K + k] += f->alpha[t * K + i] * q;
            }
            f->beta[t * K + i] = b;
            for (size_t c = 0; c < COLUMNS; c++)
                gradient[(size_t)f->which[begin + t][c] * K + i] +=
                    f->alpha[t * K + i] * b - (f->y[begin + t] == (int)i);
        }
    }
    for (size_t t = 1; t < n; t++) gT[(size_t)f->y[begin + t - 1] * K + (size_t)f->y[begin + t]]--;
    return log_Z - truth;
}

static cr_status value(void *user, const double *theta, size_t D, double *out_f, double *gradient)
{
    field *f = user;
    *out_f = 0;
    for (size_t i = 0; i < f->K * f->K; i++) f->M[i] = exp(theta[f->A * f->K + i]);
    for (size_t d = 0; d < D; d++) gradient[d] = f->lambda * theta[d];
    for (size_t d = 0; d < D; d++) *out_f += f->lambda / 2 * theta[d] * theta[d];
    for (size_t q = 0; q < f->sequences; q++)
        *out_f += pass(f, f->begin[q], f->begin[q + 1], theta, gradient);
    return CR_OK;
}

int main(int argc, char **argv)
{
    field *f = calloc(1, sizeof *f);
    if (argc < 4 || !f) return 1;
    read_rows(argv[1], f);
    f->lambda = atof(argv[2]);
    size_t              D = (f->A + f->K) * f->K;
    double             *theta = calloc(D, sizeof *theta), start;
    cr_ctx             *cx;
    cr_problem          problem = { .n = D, .objective = value, .user = f };
    cr_minimize_options o = cr_minimize_defaults();
    cr_minimize_report  report;
    f->score = calloc(4 * f->n * f->K, sizeof(double));
    f->alpha = f->score + f->n * f->K, f->beta = f->alpha + f->n * f->K;
    f->scale = f->beta + f->n * f->K;
    f->M = calloc(f->K * f->K, sizeof(double));
    if (!theta || !f->score || !f->M || cr_ctx_new(NULL, &cx) != CR_OK) return 1;
    o.max_iter = (size_t)atoi(argv[3]), o.gradient_tolerance = 0;
    start = cri_seconds();
    if (cr_minimize(cx, &problem, &o, theta, &report) != CR_OK) return 1;
    printf("{\"seconds\": %.6f, \"objective_value\": %.10g}\n", cri_seconds() - start, report.f);
    cr_ctx_free(cx);
    return 0;
}
