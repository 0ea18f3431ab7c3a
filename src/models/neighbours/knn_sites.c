/* knn_sites.c -- rows of the same features, gathered: one sort, O(n log n), on the first feature
 * mostly. */
#include "knn_sites.h"
#include "base/scratch.h"

#include <stdlib.h>

/* --- order ----------------------------------------------------------------------------------- */

typedef struct row_table {
    cr_cmat       X;
    const double *y, *w;
} row_table;

typedef struct ranked_row {
    double           first; /* its first feature */
    size_t           row;   /* its number        */
    const row_table *in;
} ranked_row;

static int compare(double a, double b) { return (a > b) - (a < b); }

static int compare_features(const ranked_row *a, const ranked_row *b)
{
    const cr_cmat *X = &a->in->X;
    const double  *x = X->a + a->row * X->stride, *z = X->a + b->row * X->stride;
    int            by = compare(a->first, b->first);
    for (size_t j = 1; j < X->cols && by == 0; j++) by = compare(x[j], z[j]);
    return by;
}

/* By features, then target, then weight: rows that are equal in all three may change places. */
static int compare_rows(const void *left, const void *right)
{
    const ranked_row *a = left, *b = right;
    int               by = compare_features(a, b);
    if (by == 0) by = compare(a->in->y[a->row], b->in->y[b->row]);
    return by ? by : compare(a->in->w[a->row], b->in->w[b->row]);
}

/* --- votes ----------------------------------------------------------------------------------- */

/* Adds a row to the votes of the site in hand, which begin at `first`: to the last of them where it
 * says the same, else to a new one. */
static void add_vote(cri_sites *s, size_t first, bool classes, double y, double w)
{
    bool      same = s->votes > first && (!classes || s->vote[s->votes - 1].value == y);
    cri_vote *v = s->vote + s->votes - same;
    if (!same) {
        s->votes++;
        *v = (cri_vote){ .value = y, .weight = w };
        return;
    }
    double e = y - v->value; /* West (1979) */
    v->weight += w;
    v->value += e * (w / v->weight);
    v->square += w * e * (y - v->value);
}

static void gather(cri_sites *s, const ranked_row *ranked, size_t rows, bool classes)
{
    for (size_t i = 0; i < rows; i++) {
        size_t row = ranked[i].row;
        if (i == 0 || compare_features(ranked + i - 1, ranked + i) != 0) {
            s->begin[s->n] = i;
            s->first[s->n++] = s->votes;
        }
        size_t g = s->n - 1;
        s->order[i] = row;
        s->weight[g] += ranked[i].in->w[row];
        add_vote(s, s->first[g], classes, ranked[i].in->y[row], ranked[i].in->w[row]);
    }
    s->begin[s->n] = rows;
    s->first[s->n] = s->votes;
}

/* --- life ------------------------------------------------------------------------------------ */

static cr_status allocate(cr_ctx *cx, cri_sites *s)
{
    s->order = cr_alloc(cx, s->rows, sizeof *s->order);
    s->begin = cr_alloc(cx, s->rows + 1, sizeof *s->begin);
    s->first = cr_alloc(cx, s->rows + 1, sizeof *s->first);
    s->weight = cr_alloc(cx, s->rows, sizeof *s->weight);
    s->vote = cr_alloc(cx, s->rows, sizeof *s->vote);
    return s->order && s->begin && s->first && s->weight && s->vote ? CR_OK : CR_ENOMEM;
}

cr_status cri_sites_new(cr_ctx *cx, cr_cmat X, const double *y, const double *w, bool classes,
                        cri_sites *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    ranked_row *ranked = cr_scratch_bytes(&s, X.rows, sizeof *ranked);
    row_table   in = { X, y, w };
    cri_sites   sites = { .rows = X.rows };
    CR_TRY(s.status);
    CR_TRY(allocate(cx, &sites));
    for (size_t i = 0; i < X.rows; i++) ranked[i] = (ranked_row){ X.a[i * X.stride], i, &in };
    qsort(ranked, X.rows, sizeof *ranked, compare_rows);
    CR_TRY(cr_check_interrupt(cx));
    gather(&sites, ranked, X.rows, classes);
    *out = sites;
    sites = (cri_sites){ 0 };
done:
    cri_sites_free(cx, &sites);
    cr_scratch_end(&s);
    return st;
}

void cri_sites_free(cr_ctx *cx, cri_sites *s)
{
    cr_free(cx, s->order, s->rows, sizeof *s->order);
    cr_free(cx, s->begin, s->rows + 1, sizeof *s->begin);
    cr_free(cx, s->first, s->rows + 1, sizeof *s->first);
    cr_free(cx, s->weight, s->rows, sizeof *s->weight);
    cr_free(cx, s->vote, s->rows, sizeof *s->vote);
    *s = (cri_sites){ 0 };
}
