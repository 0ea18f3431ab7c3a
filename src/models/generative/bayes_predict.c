/* bayes_predict.c -- naive Bayes: joints and probabilities, term by term over blocks of rows. */
#include "bayes_columns.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, MOST_SLOTS = 32 };

typedef struct work {
    const cr_ctx   *cx;
    const cri_nb   *m;
    const cri_rows *rows;
    double         *out; /* [n x K] probabilities, or with `joint` log joints */
    bool            joint;
    double         *workspace; /* [slots][(p + 2 K + 1) x BLOCK] */
    long double    *wide;      /* [slots][K]                     */
    size_t          slots;
    bool            counts, gaps; /* multinomial columns; some with gaps */
} work;

/* One block: score [K x BLOCK]; of multinomial columns total [BLOCK], and `seen` [K x BLOCK], the
 * sum of theta (or of the Dirichlet's parameters) over the columns that are there. */
typedef struct block {
    size_t  n;
    double *x, *score, *seen, *total;
} block;

/* --- terms ----------------------------------------------------------------------------------- */

static void add_gaussian(const double *x, size_t n, cri_nb_entry e, double *score)
{
    if (e.d > 0) {
        for (size_t i = 0; i < n; i++) {
            double u = (x[i] - e.a) * e.b;
            if (!isnan(x[i])) score[i] += e.c - e.d * log1p(u * u);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double u = (x[i] - e.a) * e.b, s = e.c - 0.5 * u * u;
        score[i] += x[i] == x[i] ? s : 0;
    }
}

static void add_bernoulli(const double *x, size_t n, double threshold, cri_nb_entry e,
                          double *score)
{
    for (size_t i = 0; i < n; i++) {
        double s = x[i] > threshold ? e.a : e.b;
        score[i] += x[i] == x[i] ? s : 0;
    }
}

static double poisson_score(double x, cri_nb_entry e)
{
    double s = (x > 0 ? x * e.b : 0) + e.c;
    return e.d > 0 ? s + cr_lgamma_diff(e.a, x) : s;
}

static double multinomial_score(const cri_nb *m, double x, cri_nb_entry e)
{
    if (!(x > 0)) return 0;
    if (!m->bayes) return x * e.b;
    return e.a > 0 ? cr_lgamma_diff(e.a, x) : -INFINITY;
}

static double category_score(const cri_nb *m, size_t j, size_t k, double x)
{
    return m->log_level[k * m->L + m->first[j] + (size_t)x];
}

static bool has_points(const cri_nb *m, size_t j, size_t k)
{
    size_t cell = m->first[j] * m->K + k;
    return m->start[cell + 1] > m->start[cell];
}

static void add_term(const work *w, size_t j, size_t k, const block *b)
{
    const cri_nb *m = w->m;
    cri_nb_kind   kind = cri_nb_kind_of(m, j);
    cri_nb_entry  e = m->entry[j * m->K + k];
    double       *score = b->score + k * BLOCK;
    const double *x = b->x + j * BLOCK;
    if (kind == CRI_NB_BERNOULLI) {
        add_bernoulli(x, b->n, m->threshold[j], e, score);
        return;
    }
    if (kind == CRI_NB_GAUSSIAN || (kind == CRI_NB_KERNEL && !has_points(m, j, k))) {
        add_gaussian(x, b->n, e, score);
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (isnan(x[i])) continue;
        if (kind == CRI_NB_KERNEL) score[i] += (double)cri_nb_kernel(m, j, k, x[i]);
        if (kind == CRI_NB_POISSON) score[i] += poisson_score(x[i], e);
        if (kind == CRI_NB_CATEGORY) score[i] += category_score(m, j, k, x[i]);
        if (kind != CRI_NB_MULTINOMIAL) continue;
        score[i] += multinomial_score(m, x[i], e);
        if (k == 0) b->total[i] += x[i];
        b->seen[k * BLOCK + i] += m->bayes ? e.a : e.c;
    }
}

/* What the counts of a row share: the share of the columns that are there, or the Dirichlet's sum.
 */
static void add_totals(const work *w, const block *b)
{
    for (size_t k = 0; k < w->m->K; k++)
        for (size_t i = 0; i < b->n; i++) {
            double n = b->total[i], seen = b->seen[k * BLOCK + i], *score = b->score + k * BLOCK;
            if (!(n > 0)) continue;
            if (w->m->bayes)
                score[i] -= seen > 0 ? cr_lgamma_diff(seen, n) : 0;
            else if (w->gaps && seen > 0)
                score[i] -= n * log(seen);
        }
}

/* --- rows far away --------------------------------------------------------------------------- */

typedef struct far_row {
    const cri_nb *m;
    const double *x; /* term j at j * BLOCK */
} far_row;

static long double wide_term(const cri_nb *m, size_t j, size_t k, double x)
{
    cri_nb_entry e = m->entry[j * m->K + k];
    long double  u = ((long double)x - e.a) * e.b;
    switch (cri_nb_kind_of(m, j)) {
    case CRI_NB_KERNEL:
        if (has_points(m, j, k)) return cri_nb_kernel(m, j, k, x);
        return e.c - 0.5L * u * u;
    case CRI_NB_GAUSSIAN:
        return e.d > 0 ? e.c - e.d * log1pl(u * u) : e.c - 0.5L * u * u;
    case CRI_NB_BERNOULLI:
        return x > m->threshold[j] ? e.a : e.b;
    case CRI_NB_POISSON:
        u = e.c + (x > 0 ? (long double)x * e.b : 0);
        if (!(e.d > 0)) return u;
        return u +
               (x < 1e300 ? cr_lgamma_diff(e.a, x) : (x + e.a - 0.5L) * logl(x) - x); /* Stirling */
    case CRI_NB_MULTINOMIAL:
        return x > 0 ? (long double)x * e.b : 0;
    default:
        return category_score(m, j, k, x);
    }
}

long double cri_nb_term(const cri_nb *m, size_t j, size_t k, double x)
{
    if (cri_nb_kind_of(m, j) == CRI_NB_MULTINOMIAL)
        return multinomial_score(m, x, m->entry[j * m->K + k]);
    return wide_term(m, j, k, x);
}

static void far_scores(const void *arg, long double *out)
{
    const far_row *f = arg;
    for (size_t k = 0; k < f->m->K; k++) {
        out[k] = f->m->log_prior[k];
        for (size_t j = 0; j < f->m->p; j++)
            if (!isnan(f->x[j * BLOCK])) out[k] += wide_term(f->m, j, k, f->x[j * BLOCK]);
    }
}

/* log of the factorials of row i: those of its counts below, that of their total above. */
static double log_factorials(const work *w, const block *b, size_t i)
{
    double sum = b->total[i] > 0 ? cr_lgamma_abs(b->total[i] + 1) : 0;
    for (size_t j = 0; j < w->m->p; j++) {
        double x = b->x[j * BLOCK + i];
        if (cri_nb_counts(cri_nb_kind_of(w->m, j)) && !isnan(x)) sum -= cr_lgamma_abs(x + 1);
    }
    return sum;
}

/* --- all rows -------------------------------------------------------------------------------- */

static void predict_block(const work *w, cri_range r, const block *b, long double *wide)
{
    const cri_nb *m = w->m;
    for (size_t j = 0; j < m->p; j++)
        cri_rows_fill_term(w->rows, j, r.begin, r.end, b->x + j * BLOCK, 1);
    for (size_t k = 0; k < m->K; k++)
        for (size_t i = 0; i < b->n; i++) b->score[k * BLOCK + i] = m->log_prior[k];
    memset(b->seen, 0, (m->K + 1) * BLOCK * sizeof(double)); /* and total, behind it */
    for (size_t j = 0; j < m->p; j++)
        for (size_t k = 0; k < m->K; k++) { /* each may be a sum over the rows of a class */
            if (cri_should_stop(w->cx)) return;
            add_term(w, j, k, b);
        }
    if (w->counts) add_totals(w, b);
    for (size_t i = 0; i < b->n; i++) {
        double *out = w->out + (r.begin + i) * m->K;
        far_row far = { m, b->x + i };
        for (size_t k = 0; k < m->K; k++) out[k] = b->score[k * BLOCK + i];
        if (w->joint)
            cri_class_joints(out, m->K, log_factorials(w, b, i), far_scores, &far, wide);
        else
            cri_class_probabilities(out, m->K, m->log_prior, far_scores, &far, wide);
    }
}

static void predict_slot(void *arg, size_t s)
{
    const work *w = arg;
    size_t      p = w->m->p, K = w->m->K, blocks = cri_block_count(w->rows->n, BLOCK);
    double     *workspace = w->workspace + s * (p + 2 * K + 1) * BLOCK;
    for (size_t t = s; t < blocks; t += w->slots) {
        cri_range r = cri_block_range(w->rows->n, BLOCK, t);
        block     b = { .n = r.end - r.begin, .x = workspace, .score = workspace + p * BLOCK };
        b.seen = b.score + K * BLOCK;
        b.total = b.seen + K * BLOCK;
        predict_block(w, r, &b, w->wide + s * K);
    }
}

cr_status cri_nb_score(cr_ctx *cx, const cri_nb *m, const cri_rows *rows, bool joint, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    work       w = { .cx = cx, .m = m, .rows = rows, .out = out, .joint = joint };

    if (rows->sparse) {
        cr_scratch_end(&s);
        return cri_nb_score_sparse(cx, m, rows, joint, out);
    }
    w.slots = cri_block_count(rows->n, BLOCK);
    if (w.slots > MOST_SLOTS) w.slots = MOST_SLOTS;
    w.workspace = cr_scratch_matrix(&s, w.slots * BLOCK, m->p + 2 * m->K + 1);
    w.wide = cr_scratch_bytes(&s, w.slots * m->K, sizeof *w.wide);
    CR_TRY(s.status);
    for (size_t j = 0; j < m->p; j++) {
        bool multinomial = cri_nb_kind_of(m, j) == CRI_NB_MULTINOMIAL;
        w.counts |= multinomial;
        w.gaps |= multinomial && rows->columns[rows->design->terms[j].column]->missing > 0;
    }
    CR_TRY(cri_nb_check_counts(cx, rows, m, NULL));
    CR_TRY(cri_parallel_for(cx, "predicting", w.slots, predict_slot, &w));
    CR_TRY(cr_check_interrupt(cx));
done:
    cr_scratch_end(&s);
    return st;
}
