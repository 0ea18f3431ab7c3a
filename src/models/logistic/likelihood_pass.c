/* likelihood_pass.c -- the sums over rows, dense or sparse, of linear classifiers. */
#include "likelihood_pass.h"
#include "math/dense/blas_internal.h"
#include "math/kernel/array.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256 }; /* rows at a time: z, scores and residuals stay in the second cache */

size_t cri_pass_length(const cri_pass *w)
{
    size_t edge = w->f->M * w->s, sums = w->f->M * w->width;
    return CRI_PASS_HEAD + sums +
           (w->hessian                     ? edge * edge
            : w->kind == CRI_PASS_DIAGONAL ? sums
                                           : 0);
}

/* The same for the logit of rows that all count once.  The logarithms are taken of products of 32
 * factors 1 + exp(-|eta|), none of which is above 2. */
static void weigh_logits(const cri_pass *w, size_t begin, size_t count, double *E, double *C,
                         double *acc)
{
    const cri_likelihood *f = w->f;
    double                product = 1, sum = 0, wrong = 0;
    for (size_t i = 0; i < count; i++) C[i] = -fabs(E[i]);
    cri_exp_array(C, count);
    for (size_t i = 0; i < count; i++) {
        double e = C[i], eta = E[i], d = 1 / (1 + e), small = e * d,
               s = f->y[begin + i] == 0 ? 1 : -1;
        double t = s * eta;
        product *= 1 + e;
        if (i % 32 == 31) sum += log(product), product = 1;
        sum += t < 0 ? -t : 0;
        wrong += !(t > 0);
        E[i] = -s * (t < 0 ? d : small);
        C[i] = small * d;
    }
    acc[0] += sum + log(product);
    acc[1] += wrong;
    if (w->curvature) memcpy(w->curvature + begin, C, count * sizeof(double));
}

/* Scores E [count x M] become residuals, weights in; C gets the curvature, times the weight when M
 * = 1. */
static void weigh_values(const cri_pass *w, size_t begin, size_t count, double *E, double *C,
                         double *acc)
{
    const cri_likelihood *f = w->f;
    const double         *weight = f->x->w;
    if (!weight && f->M == 1 && f->step == 1 && f->link == CRI_LINK_LOGIT) {
        weigh_logits(w, begin, count, E, C, acc);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t row = (begin + i) * f->step;
        double wi = weight ? weight[row] : 1, nll = 0, *e = E + i * f->M, *c = C + i * f->M;
        double margin = cri_likelihood_row(f, e, f->y[row], &nll, e, c);
        for (size_t m = 0; weight && m < f->M; m++) e[m] *= wi;
        if (f->M == 1) c[0] *= wi;
        acc[0] += wi > 0 ? wi * nll : 0;
        acc[1] += wi > 0 && !(margin > 0);
        if (w->curvature) memcpy(w->curvature + row * f->M, c, f->M * sizeof(double));
    }
}

/* Scores T of a direction become what H v sums: u = c t, or w p_m (t_m - p . t). */
static void weigh_products(const cri_pass *w, size_t begin, size_t count, double *T)
{
    const cri_likelihood *f = w->f;
    const double         *weight = f->x->w;
    for (size_t i = 0; i < count; i++) {
        size_t        row = (begin + i) * f->step;
        const double *c = w->curvature + row * f->M;
        double       *t = T + i * f->M, mean = 0, wi = weight ? weight[row] : 1;
        if (f->M == 1) {
            t[0] *= c[0];
            continue;
        }
        for (size_t m = 0; m < f->M; m++) mean += c[m] * t[m];
        for (size_t m = 0; m < f->M; m++) t[m] = wi * c[m] * (t[m] - mean);
    }
}

static void weigh_diagonal(const cri_pass *w, size_t begin, size_t count, double *E)
{
    const cri_likelihood *f = w->f;
    const double         *weight = f->x->w;
    for (size_t i = 0; i < count; i++) {
        size_t        row = (begin + i) * f->step;
        const double *c = w->curvature + row * f->M;
        double       *e = E + i * f->M, wi = weight ? weight[row] : 1;
        for (size_t m = 0; m < f->M; m++) e[m] = f->M == 1 ? c[m] : wi * c[m] * (1 - c[m]);
    }
}

static void weigh(const cri_pass *w, size_t begin, size_t count, double *E, double *C, double *acc)
{
    switch (w->kind) {
    case CRI_PASS_VALUE:
        weigh_values(w, begin, count, E, C, acc);
        break;
    case CRI_PASS_PRODUCT:
        weigh_products(w, begin, count, E);
        break;
    case CRI_PASS_DIAGONAL:
        weigh_diagonal(w, begin, count, E);
        break;
    }
}

/* --- dense rows ------------------------------------------------------------------------------ */

/* S [count x s] = root_i z_i at the places of the Hessian, filled up with zeros. */
static void scale_rows(const cri_likelihood *f, const double *Z, size_t count, const double *root,
                       size_t s, double *S, size_t stride)
{
    size_t q = f->x->q, places = f->sub ? f->n_sub : q;
    for (size_t i = 0; i < count; i++, S += stride) {
        const double *z = Z + i * q;
        if (f->sub)
            for (size_t j = 0; j < places; j++) S[j] = root[i] * z[f->sub[j]];
        else
            for (size_t j = 0; j < places; j++) S[j] = root[i] * z[j];
        for (size_t j = places; j < s; j++) S[j] = 0;
    }
}

static void add_square(double sign, const double *S, size_t count, size_t s, size_t stride,
                       double *H, size_t edge)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)s, (int)count, sign, S, (int)stride, 1,
                H, (int)edge);
}

/* M = 1: Z' diag(c) Z.  Softmax: with w = the weight of a row, p its probabilities,
 *   sum_i w_i (diag(p_i) - p_i p_i') (x) z_i z_i' = diag_m(Z' diag(w p_m) Z) - B'B,  B_i =
 * sqrt(w_i) p_i (x) z_i. */
static void add_hessian(const cri_pass *w, const double *Z, const double *C, size_t begin,
                        size_t count, double *S, double *H)
{
    const cri_likelihood *f = w->f;
    size_t                M = f->M, s = w->s, edge = M * s;
    const double         *weight = f->x->w;
    double                root[ROWS];
    for (size_t m = 0; m < M; m++) {
        for (size_t i = 0; i < count; i++) {
            double wi = weight && M > 1 ? weight[(begin + i) * f->step] : 1;
            root[i] = sqrt(wi * C[i * M + m]);
        }
        scale_rows(f, Z, count, root, s, S, s);
        add_square(1, S, count, s, s, H + m * s * edge + m * s, edge);
    }
    if (M == 1) return;
    for (size_t m = 0; m < M; m++) {
        for (size_t i = 0; i < count; i++) {
            double wi = weight ? weight[(begin + i) * f->step] : 1;
            root[i] = sqrt(wi) * C[i * M + m];
        }
        scale_rows(f, Z, count, root, s, S + m * s, edge);
    }
    add_square(-1, S, count, edge, edge, H, edge);
}

static void dense_rows(const cri_pass *w, size_t begin, size_t count, double *acc,
                       double *workspace)
{
    const cri_likelihood *f = w->f;
    size_t                M = f->M, q = f->x->q;
    double               *E = workspace + ROWS * q, *C = E + ROWS * M, *S = C + ROWS * M;
    double               *sums = acc + CRI_PASS_HEAD, *rest = sums + M * q;
    const double         *Z = cri_classifier_rows_block(f->x, begin, count, f->step, workspace);

    if (q > 0 && M == 1 && w->theta)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)count, (int)q, 1, Z, (int)q, w->theta, 1, 0,
                    E, 1);
    else if (q > 0 && w->theta)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)M, (int)q, 1, Z,
                    (int)q, w->theta, (int)q, 0, E, (int)M);
    else
        memset(E, 0, count * M * sizeof(double));
    weigh(w, begin, count, E, C, acc);
    if (q == 0) return;
    if (M == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, (int)q, 1, Z, (int)q, E, 1, 1, sums, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)M, (int)q, (int)count, 1, E,
                    (int)M, Z, (int)q, 1, sums, (int)q);
    if (w->hessian) add_hessian(w, Z, C, begin, count, S, rest);
    if (w->kind != CRI_PASS_DIAGONAL) return;
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < M; m++)
            for (size_t j = 0; j < q; j++)
                rest[m * q + j] += E[i * M + m] * Z[i * q + j] * Z[i * q + j];
}

/* --- sparse rows ----------------------------------------------------------------------------- */

/* Adds h (1, x)(1, x)' to the lower triangle of block (m, l) of H; m >= l. */
static void add_outer(const cri_pass *w, size_t row, double h, size_t m, size_t l, double *H)
{
    const cri_entries *e = &w->f->x->entries;
    size_t             edge = w->f->M * w->s, end, begin = cri_entries_row(e, row, &end);
    double            *at = H + m * w->s * edge + l * w->s;
    at[0] += h;
    for (size_t a = begin; a < end; a++) {
        uint32_t ja = w->place[1 + e->column[a]];
        if (ja == UINT32_MAX) continue;
        double  ha = h * e->value[a];
        double *line = at + ja * edge;
        line[0] += ha;
        if (m != l) at[ja] += ha;
        size_t stop = m == l ? a + 1 : end;
        for (size_t b = begin; b < stop; b++) {
            uint32_t jb = w->place[1 + e->column[b]];
            if (jb != UINT32_MAX) line[jb] += ha * e->value[b];
        }
    }
}

/* The same of one block whose places are the columns themselves; two lines at a time, which halves
 * the reading of places and values. */
static void add_plain_outer(const cri_pass *w, size_t row, double h, double *H)
{
    const cri_entries *e = &w->f->x->entries;
    size_t             edge = w->s, end, begin = cri_entries_row(e, row, &end), a = 0;
    size_t             count = end - begin;
    const uint32_t    *column = e->column + begin;
    const double      *value = e->value + begin;
    H[0] += h;
    for (; a + 2 <= count; a += 2) {
        double h0 = h * value[a], *line0 = H + (1 + column[a]) * edge;
        double h1 = h * value[a + 1], *line1 = H + (1 + column[a + 1]) * edge;
        line0[0] += h0, line1[0] += h1;
        line0++, line1++;
        for (size_t b = 0; b <= a; b++) {
            size_t place = column[b];
            double sum0 = line0[place] + h0 * value[b], sum1 = line1[place] + h1 * value[b];
            line0[place] = sum0, line1[place] = sum1;
        }
        line1[column[a + 1]] += h1 * value[a + 1];
    }
    if (a == count) return;
    double ha = h * value[a], *line = H + (1 + column[a]) * edge;
    line[0] += ha;
    for (size_t b = 0; b <= a; b++) line[1 + column[b]] += ha * value[b];
}

static void add_sparse_hessian(const cri_pass *w, size_t row, const double *c, double *H)
{
    const cri_likelihood *f = w->f;
    double                wi = f->x->w ? f->x->w[row] : 1;
    if (f->M == 1) {
        if (f->sub)
            add_outer(w, row, c[0], 0, 0, H);
        else
            add_plain_outer(w, row, c[0], H);
        return;
    }
    for (size_t m = 0; m < f->M; m++)
        for (size_t l = 0; l <= m; l++) add_outer(w, row, wi * c[m] * ((m == l) - c[l]), m, l, H);
}

static void sparse_rows(const cri_pass *w, size_t begin, size_t count, double *acc,
                        double *workspace)
{
    const cri_likelihood *f = w->f;
    const cri_entries    *x = &f->x->entries;
    size_t                M = f->M, width = w->width;
    double *E = workspace, *C = E + ROWS * M, *sums = acc + CRI_PASS_HEAD, *rest = sums + M * width;

    for (size_t i = 0; w->theta && i < count; i++) {
        size_t end, first = cri_entries_row(x, (begin + i) * f->step, &end);
        for (size_t m = 0; m < M; m++) {
            const double *v = w->theta + m * width;
            double        eta = v[0];
            for (size_t a = first; a < end; a++) eta += x->value[a] * v[1 + x->column[a]];
            E[i * M + m] = eta;
        }
    }
    weigh(w, begin, count, E, C, acc);
    for (size_t i = 0; i < count; i++) {
        size_t row = (begin + i) * f->step, end, first = cri_entries_row(x, row, &end);
        for (size_t m = 0; m < M; m++) {
            double *g = sums + m * width, *d = rest + m * width, e = E[i * M + m];
            g[0] += e;
            for (size_t a = first; a < end; a++) g[1 + x->column[a]] += e * x->value[a];
            for (size_t a = first; w->kind == CRI_PASS_DIAGONAL && a < end; a++)
                d[1 + x->column[a]] += e * x->value[a] * x->value[a];
        }
        if (w->hessian) add_sparse_hessian(w, row, C + i * M, rest);
    }
}

/* --- running a pass -------------------------------------------------------------------------- */

static void pass_block(void *arg, cri_range range, double *acc, double *workspace)
{
    const cri_pass *w = arg;
    for (size_t begin = range.begin; begin < range.end; begin += ROWS) {
        size_t count = range.end - begin < ROWS ? range.end - begin : ROWS;
        if (w->f->x->sparse)
            sparse_rows(w, begin, count, acc, workspace);
        else
            dense_rows(w, begin, count, acc, workspace);
    }
}

/* What a row adds to the sums, in multiplications. */
static double row_work(const cri_pass *w)
{
    const cri_likelihood *f = w->f;
    const cri_entries    *e = &f->x->entries;
    double                filled = (double)w->s, M = (double)f->M;
    if (f->x->sparse && f->x->n > 0 && !e->index)
        filled = 1 + (double)(e->start[f->x->n] - e->start[0]) / (double)f->x->n;
    return w->hessian ? 0.5 * M * M * filled * filled : M * filled;
}

/* The rows are cut into as many spans as keep the partial sums in some megabytes, and the time to add
 * those up small beside that of the rows. */
cr_status cri_pass_run(cr_ctx *cx, cri_pass *w, double *out)
{
    enum { MOST_SPANS = 64, LEAST_SPANS = 4, SUM_WORKSPACE = 1 << 20 };
    const double          SHARE = 16; /* work of a span over the length of its sums */
    const cri_likelihood *f = w->f;
    size_t                n = (f->x->n + f->step - 1) / f->step, length = cri_pass_length(w),
           spans = SUM_WORKSPACE / length;
    double worth = (double)n * row_work(w) / (SHARE * (double)length);
    size_t workspace_size =
        ROWS * (f->x->sparse ? 2 * f->M : f->x->q + 2 * f->M + (w->hessian ? f->M * w->s : 0));
    if (spans > MOST_SPANS) spans = MOST_SPANS;
    if ((double)spans > worth) spans = (size_t)worth;
    if (spans < LEAST_SPANS) spans = LEAST_SPANS;
    size_t    block = ((n + spans - 1) / spans + ROWS - 1) / ROWS * ROWS;
    cr_status st = cri_blas_reserve(cx);
    if (st != CR_OK) return st;
    cri_blas_enter();
    st = cri_parallel_sum_in(cx, NULL, n, block, length, workspace_size, pass_block, w, out);
    cri_blas_leave();
    return st;
}
