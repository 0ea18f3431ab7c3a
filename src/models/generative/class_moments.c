/* class_moments.c -- weight, mean and scatter of each class. */
#include "class_moments.h"
#include "../../base/scratch.h"
#include "../linear/moments.h"

#include <string.h>

cr_status cri_class_moments_new(cr_ctx *cx, size_t K, size_t p, cri_class_moments *out)
{
    cri_class_moments m = { .K = K,
                            .p = p,
                            .pp = p * p,
                            .weight = cr_alloc(cx, K, sizeof(double)),
                            .mean = cr_alloc(cx, K, p * sizeof(double)),
                            .scatter = cr_alloc(cx, K, p * p * sizeof(double)) };
    if (!m.weight || !m.mean || !m.scatter) {
        cri_class_moments_free(cx, &m);
        return CR_ENOMEM;
    }
    *out = m;
    return CR_OK;
}

void cri_class_moments_free(cr_ctx *cx, cri_class_moments *m)
{
    cr_free(cx, m->weight, m->K, sizeof(double));
    cr_free(cx, m->mean, m->K, m->p * sizeof(double));
    cr_free(cx, m->scatter, m->K, m->pp * sizeof(double));
    *m = (cri_class_moments){ 0 };
}

/* The rows of class k, as rows of their own; the arrays are filled from the front. */
static cri_rows rows_of_class(const cri_rows *rows, size_t k, size_t *index, double *w, double *zero)
{
    cri_rows part = *rows;
    part.n = 0;
    part.index = index;
    part.w = w;
    part.y = zero;
    part.matrix = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        if ((size_t)rows->y[i] != k) continue;
        index[part.n] = rows->index ? rows->index[i] : i;
        zero[part.n] = 0;
        w[part.n++] = rows->w ? rows->w[i] : 1;
    }
    return part;
}

static void keep(const cri_moments *from, size_t k, cri_class_moments *to)
{
    size_t p = to->p, q = p + 1;
    to->weight[k] = from->weight;
    memcpy(to->mean + k * p, from->mean, p * sizeof(double));
    for (size_t i = 0; i < p; i++)
        memcpy(to->scatter + k * to->pp + i * p, from->S + i * q, p * sizeof(double));
}

cr_status cri_class_moments_of_rows(cr_ctx *cx, const cri_rows *rows, cri_class_moments *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    size_t            K = cr_design_classes(rows->design);
    size_t           *index = cr_scratch_index(&s, rows->n);
    double           *w = cr_scratch_f64(&s, rows->n), *zero = cr_scratch_f64(&s, rows->n);
    cri_class_moments m = { 0 };
    cri_moments       one = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_class_moments_new(cx, K, rows->p, &m));
    for (size_t k = 0; k < K; k++) {
        cri_rows part = rows_of_class(rows, k, index, w, zero);
        if (part.n == 0) continue;
        CR_TRY(cri_moments_of_rows(cx, &part, &one));
        keep(&one, k, &m);
        cri_moments_free(cx, &one);
    }
    *out = m;
    m = (cri_class_moments){ 0 };
done:
    cri_moments_free(cx, &one);
    cri_class_moments_free(cx, &m);
    cr_scratch_end(&s);
    return st;
}

void cri_class_moments_merge(cri_class_moments *a, const cri_class_moments *b)
{
    size_t p = a->p;
    for (size_t k = 0; k < a->K; k++) {
        double *ma = a->mean + k * p, *S = a->scatter + k * a->pp, total = a->weight[k] + b->weight[k];
        const double *mb = b->mean + k * p, *T = b->scatter + k * a->pp;
        if (!(b->weight[k] > 0)) continue;
        double cross = a->weight[k] * b->weight[k] / total;
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < p; j++)
                S[i * p + j] += T[i * p + j] + cross * (mb[i] - ma[i]) * (mb[j] - ma[j]);
        for (size_t i = 0; i < p; i++) ma[i] += b->weight[k] / total * (mb[i] - ma[i]);
        a->weight[k] = total;
    }
}

void cri_class_moments_pool(const cri_class_moments *m, double *out)
{
    memset(out, 0, m->pp * sizeof *out);
    for (size_t k = 0; k < m->K; k++)
        for (size_t i = 0; i < m->pp; i++) out[i] += m->scatter[k * m->pp + i];
}
