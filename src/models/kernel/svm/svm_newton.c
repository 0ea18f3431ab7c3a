/* svm_newton.c -- all free variables of a working set at once.
 *   maximise  v^T d - 1/2 d^T K d  over the free variables,  sum of d over each group = 0:
 *   d = K^-1 v - sum_g l_g K^-1 1_g,   with l such that the sums are 0;
 * K has 1e-12 of its mean diagonal added, where d is long but still a direction of ascent, along which the step is exact. */
#include "svm_block.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

static const double RIDGE = 1e-12;
enum { MOST_FACES = 30 };

/* What a step works with: `at` [f] the free variables, d [f] the direction, w [q] = K d. */
typedef struct face {
    size_t *at, f;
    double *M, *X; /* [f x f], [f x 3] */
    double *d, *w;
} face;

static void find_free(const cri_svm_block *b, face *a)
{
    a->f = 0;
    for (size_t t = 0; t < b->q; t++)
        if (b->beta[t] > b->least[t] && b->beta[t] < b->most[t]) a->at[a->f++] = t;
}

static double kernel_of(const cri_svm_block *b, size_t t, size_t u)
{
    return b->K[b->row[t] * b->stride + b->row[u]];
}

static void fill(const cri_svm_block *b, face *a)
{
    double mean = 0;
    for (size_t i = 0; i < a->f; i++) mean += kernel_of(b, a->at[i], a->at[i]) / (double)a->f;
    for (size_t i = 0; i < a->f; i++) {
        for (size_t j = 0; j < a->f; j++) a->M[i * a->f + j] = kernel_of(b, a->at[i], a->at[j]);
        a->M[i * a->f + i] += RIDGE * mean;
        a->X[3 * i] = b->v[a->at[i]];
        a->X[3 * i + 1] = b->group[a->at[i]] == 0;
        a->X[3 * i + 2] = b->group[a->at[i]] == 1;
    }
}

/* The direction from the three solutions, its sums taken off to the last bit that there is. */
static void combine(const cri_svm_block *b, face *a)
{
    double S[2][2] = { { 0 } }, r[2] = { 0 }, l[2] = { 0, 0 }, sum[2] = { 0 }, n[2] = { 0 };
    for (size_t i = 0; i < a->f; i++) {
        int g = b->group[a->at[i]];
        r[g] += a->X[3 * i];
        S[g][0] += a->X[3 * i + 1];
        S[g][1] += a->X[3 * i + 2];
        n[g]++;
    }
    double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    if (n[0] > 0 && n[1] > 0 && det != 0) {
        l[0] = (r[0] * S[1][1] - S[0][1] * r[1]) / det;
        l[1] = (S[0][0] * r[1] - r[0] * S[1][0]) / det;
    } else {
        for (int g = 0; g < 2; g++) l[g] = S[g][g] > 0 ? r[g] / S[g][g] : 0;
    }
    for (size_t i = 0; i < a->f; i++) {
        a->d[i] = a->X[3 * i] - l[0] * a->X[3 * i + 1] - l[1] * a->X[3 * i + 2];
        sum[b->group[a->at[i]]] += a->d[i];
    }
    for (size_t i = 0; i < a->f; i++) {
        int g = b->group[a->at[i]];
        a->d[i] -= sum[g] / n[g];
    }
}

/* As far as the quadratic goes up, or to the first bound, which *out_hit then is in the list of free variables. */
static double length_of(const cri_svm_block *b, face *a, size_t *out_hit)
{
    double slope = 0, curve = 0, step;
    *out_hit = SIZE_MAX;
    for (size_t t = 0; t < b->q; t++) {
        a->w[t] = 0;
        for (size_t i = 0; i < a->f; i++) a->w[t] += kernel_of(b, t, a->at[i]) * a->d[i];
    }
    for (size_t i = 0; i < a->f; i++) {
        slope += b->v[a->at[i]] * a->d[i];
        curve += a->w[a->at[i]] * a->d[i];
    }
    if (!(slope > 0) || !isfinite(slope)) return 0;
    step = curve > 0 ? slope / curve : INFINITY;
    for (size_t i = 0; i < a->f; i++) {
        size_t t = a->at[i];
        double room = a->d[i] > 0 ? b->most[t] - b->beta[t] : b->least[t] - b->beta[t];
        if (a->d[i] == 0 || room / a->d[i] > step) continue;
        step = room / a->d[i];
        *out_hit = i;
    }
    return step;
}

static void move(const cri_svm_block *b, const face *a, double step, size_t hit)
{
    for (size_t i = 0; i < a->f; i++) {
        size_t t = a->at[i];
        b->beta[t] = fmin(fmax(b->beta[t] + step * a->d[i], b->least[t]), b->most[t]);
        if (i == hit) b->beta[t] = a->d[i] > 0 ? b->most[t] : b->least[t];
    }
    for (size_t t = 0; t < b->q; t++) b->v[t] -= step * a->w[t];
}

cr_status cri_svm_block_newton(cr_ctx *cx, const cri_svm_block *b, size_t *out_steps)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = b->q, hit = 0;
    face       a = { .at = cr_scratch_index(&s, q),
                     .M = cr_scratch_matrix(&s, q, q),
                     .X = cr_scratch_matrix(&s, q, 3),
                     .d = cr_scratch_f64(&s, q),
                     .w = cr_scratch_f64(&s, q) };
    *out_steps = 0;
    CR_TRY(s.status);
    while (hit != SIZE_MAX && *out_steps < MOST_FACES) {
        find_free(b, &a);
        if (a.f < 2) break;
        fill(b, &a);
        st = cr_chol(cx, cr_mat_of(a.M, a.f, a.f));
        if (st == CR_ENUMERIC) { /* not positive semi-definite: pairs go on */
            st = CR_OK;
            break;
        }
        CR_TRY(st);
        CR_TRY(cr_chol_solve(cx, cr_cmat_of(a.M, a.f, a.f), cr_mat_of(a.X, a.f, 3)));
        combine(b, &a);
        double step = length_of(b, &a, &hit);
        if (!(step > 0) || isinf(step)) break;
        move(b, &a, step, hit);
        ++*out_steps;
    }
done:
    cr_scratch_end(&s);
    return st;
}
