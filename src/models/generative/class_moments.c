/* class_moments.c -- weight, mean and scatter of each class. */
#include "class_moments.h"
#include "base/scratch.h"
#include "models/common/moments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_class_moments_record, cri_class_moments, CRI_CLASS_MOMENTS);
CRI_RECORD_FREE(cri_class_moments);

const double *cri_class_scatter(const cri_class_moments *m, size_t k)
{
    return m->scatter + (m->groups == 1 ? 0 : k) * m->pp;
}

/* --- from rows ------------------------------------------------------------------------------- */

/* The rows in the order of their classes: class k has those from start[k] to start[k + 1]. */
typedef struct sorted_rows {
    size_t *index, *start; /* [n], [K + 1] */
    double *w, *zero;      /* [n]          */
} sorted_rows;

static void sort_rows(const cri_rows *rows, size_t K, sorted_rows *s)
{
    for (size_t i = 0; i < rows->n; i++) s->start[(size_t)rows->y[i] + 1]++;
    for (size_t k = 0; k < K; k++) s->start[k + 1] += s->start[k];
    for (size_t i = 0; i < rows->n; i++) {
        size_t at = s->start[(size_t)rows->y[i]]++;
        s->index[at] = rows->index ? rows->index[i] : i;
        s->w[at] = rows->w ? rows->w[i] : 1;
    }
    for (size_t k = K; k > 0; k--) s->start[k] = s->start[k - 1];
    s->start[0] = 0;
}

/* The rows of class k as rows of their own. */
static cri_rows rows_of_class(const cri_rows *rows, const sorted_rows *s, size_t k)
{
    cri_rows part = *rows;
    part.n = s->start[k + 1] - s->start[k];
    part.index = s->index + s->start[k];
    part.w = s->w + s->start[k];
    part.y = s->zero;
    part.matrix = NULL;
    return part;
}

static void keep(const cri_moments *from, size_t k, cri_class_moments *to)
{
    size_t  p = to->p, q = p + 1;
    double *S = to->scatter + (to->groups == 1 ? 0 : k) * to->pp;
    to->weight[k] = from->weight;
    if (p > 0) memcpy(to->mean + k * p, from->mean, p * sizeof(double));
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < p; j++) S[i * p + j] += from->S[i * q + j];
}

cr_status cri_class_moments_of_rows(cr_ctx *cx, const cri_rows *rows, bool pooled,
                                    cri_class_moments *out)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    size_t            K = cr_design_classes(rows->design), n = rows->n;
    cri_class_moments m = {
        .K = K, .p = rows->p, .pp = rows->p * rows->p, .groups = pooled ? 1 : K
    };
    sorted_rows sorted = { cr_scratch_index(&s, n), cr_scratch_bytes(&s, K + 1, sizeof(size_t)),
                           cr_scratch_f64(&s, n), cr_scratch_bytes(&s, n, sizeof(double)) };
    cri_moments one = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_record_allocate(cx, cri_class_moments_record, &m));
    sort_rows(rows, K, &sorted);
    for (size_t k = 0; k < K; k++) {
        cri_rows part = rows_of_class(rows, &sorted, k);
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

/* Of a scatter that several classes share, the squares are those of all of them. */
cr_status cri_class_moments_check(cr_ctx *cx, const cr_design *d, const cri_class_moments *m)
{
    size_t each = m->groups == 1 ? m->K : 1, p = m->p;
    for (size_t g = 0; g < m->groups; g++)
        for (size_t j = 0; j < p; j++) {
            double S = m->scatter[g * m->pp + j * (p + 1)], square = S;
            bool   zero = S == 0;
            for (size_t k = g * each; k < (g + 1) * each; k++) {
                double mean = m->mean[k * p + j];
                square += m->weight[k] * mean * mean;
                zero = zero && mean == 0;
            }
            bool large = !isfinite(square);
            if (zero || (!large && square >= 1e-290)) continue;
            cr_fail(cx, CR_ENUMERIC, "the numbers in '%s' are so %s that their squares %s",
                    cr_design_term_name(d, j), large ? "large" : "small",
                    large ? "overflow" : "vanish");
            return cr_fail_hint(cx, "multiply the column by a power of ten");
        }
    return CR_OK;
}

/* --- merge and pool -------------------------------------------------------------------------- */

cr_status cri_class_moments_merge(cr_ctx *cx, const void *state, void *to, const void *from)
{
    cri_class_moments       *a = to;
    const cri_class_moments *b = from;
    size_t                   p = a->p;
    (void)cx, (void)state;
    for (size_t i = 0; i < a->groups * a->pp; i++) a->scatter[i] += b->scatter[i];
    for (size_t k = 0; k < a->K; k++) {
        double       *ma = a->mean + k * p, *S = a->scatter + (a->groups == 1 ? 0 : k) * a->pp;
        const double *mb = b->mean + k * p;
        double        total = a->weight[k] + b->weight[k];
        if (!(b->weight[k] > 0)) continue;
        double cross = a->weight[k] * b->weight[k] / total;
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j < p; j++)
                S[i * p + j] += cross * (mb[i] - ma[i]) * (mb[j] - ma[j]);
        for (size_t i = 0; i < p; i++) ma[i] += b->weight[k] / total * (mb[i] - ma[i]);
        a->weight[k] = total;
    }
    return CR_OK;
}

static cr_status join(cr_ctx *cx, cri_class_moments *m, bool pooled, const size_t *map, size_t K)
{
    size_t            p = m->p;
    cri_class_moments all = { .K = K, .p = p, .pp = m->pp, .groups = pooled ? 1 : K };
    cr_status         st = cri_record_allocate(cx, cri_class_moments_record, &all);
    if (st != CR_OK) {
        cri_class_moments_free(cx, &all);
        return st;
    }
    for (size_t k = 0; k < m->K; k++) {
        all.weight[map[k]] = m->weight[k];
        for (size_t j = 0; j < p; j++) all.mean[map[k] * p + j] = m->mean[k * p + j];
    }
    for (size_t g = 0; g < (pooled ? 1 : m->K); g++)
        for (size_t i = 0; i < m->pp; i++)
            all.scatter[(pooled ? 0 : map[g]) * m->pp + i] = m->scatter[g * m->pp + i];
    cri_class_moments_free(cx, m);
    *m = all;
    return CR_OK;
}

cr_status cri_class_moments_join_pooled(cr_ctx *cx, void *moments, const size_t *map, size_t K)
{
    return join(cx, moments, true, map, K);
}

cr_status cri_class_moments_join_each(cr_ctx *cx, void *moments, const size_t *map, size_t K)
{
    return join(cx, moments, false, map, K);
}

void cri_class_moments_pool(const cri_class_moments *m, double *out)
{
    memset(out, 0, m->pp * sizeof *out);
    for (size_t g = 0; g < m->groups; g++)
        for (size_t i = 0; i < m->pp; i++) out[i] += m->scatter[g * m->pp + i];
}

/* --- file ------------------------------------------------------------------------------------- */

bool cri_class_moments_fit(const cri_class_moments *m, bool pooled, const cr_design *d)
{
    return m->K == cr_design_classes(d) && m->p == cr_design_terms(d) && m->pp == m->p * m->p &&
           m->groups == (pooled ? 1 : m->K);
}

bool cri_class_moments_doubt(cr_ctx *cx, const cr_design *design, const cri_class_moments *m)
{
    double few = INFINITY, total = 0;
    char   of[200] = "";
    for (size_t k = 0; k < m->K; k++) {
        total += m->weight[k];
        if (!(m->weight[k] > 0) || !(m->weight[k] < few) || m->groups == 1) continue;
        few = m->weight[k];
        snprintf(of, sizeof of, " of class '%.150s'", cr_design_class(design, k));
    }
    if (m->groups == 1) few = total;
    if (few >= (m->groups == 1 ? 5 : 10) * (double)m->p) return false;
    cr_log(cx, CR_LOG_WARNING,
           "%g rows%s are few for a covariance of %zu columns, so the probabilities are too close "
           "to 0 and 1: --calibrate platt corrects them",
           few, of, m->p);
    return true;
}
