/* bayes_sparse.c -- naive Bayes by the entries of sparse rows alone: all else is 0.
 * Statistics:  of the W_k of class k that is not in an entry, every term is at 0 (or at what 0 is
 *   recoded to), so sums over entries and W_k give mean and scatter; O(entries + K p).
 * Scores:  log p(x | k) = sum_j log p(0 | k, j) + sum over entries of log p(x_j | k, j) - log p(0 |
 * k, j).
 *   In long double, with impossible values counted apart, since the first sum may be large. */
#include "bayes_columns.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

static double weight_of(const cri_rows *rows, size_t i) { return rows->w ? rows->w[i] : 1; }

/* --- statistics ------------------------------------------------------------------------------ */

/* A value as its mean is taken: bernoulli columns become 0 and 1. */
static double recode(const cri_nb *m, size_t j, double x)
{
    if (isnan(x) || cri_nb_kind_of(m, j) != CRI_NB_BERNOULLI) return x;
    return x > m->threshold[j];
}

/* Sums of the entries: scatter holds their weight and mean their sum, until the next step; weight
 * is what is there, entry or not.  Levels are counted at once. */
static void add_entries(const cri_rows *rows, cri_nb *m)
{
    const cri_sparse *X = rows->sparse;
    for (size_t i = 0; i < rows->n; i++) {
        size_t k = (size_t)rows->y[i], end;
        double w = weight_of(rows, i);
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            size_t j = X->column[e], cell = k * m->p + j;
            double x = recode(m, j, X->value[e]);
            m->scatter[cell] += w;
            if (isnan(x))
                m->weight[cell] -= w;
            else if (cri_nb_kind_of(m, j) == CRI_NB_CATEGORY)
                m->count[k * m->L + m->first[j] + (size_t)x] += w;
            else
                m->mean[cell] += w * x;
        }
    }
}

/* From sums to means; scatter becomes that of what is in no entry. */
static void finish_means(const cr_design *d, cri_nb *m)
{
    for (size_t k = 0; k < m->K; k++)
        for (size_t j = 0; j < m->p; j++) {
            size_t cell = k * m->p + j;
            double empty = fmax(m->class_weight[k] - m->scatter[cell], 0), zero = recode(m, j, 0);
            double n = m->weight[cell];
            m->scatter[cell] = 0;
            if (cri_term_levels(d, j) > 0) {
                m->count[k * m->L + m->first[j]] += empty;
                m->weight[cell] = 0;
            }
            if (cri_term_levels(d, j) > 0 || !(n > 0)) continue;
            m->mean[cell] = (m->mean[cell] + empty * zero) / n;
            m->scatter[cell] = empty * (zero - m->mean[cell]) * (zero - m->mean[cell]);
        }
}

static void add_squares(const cri_rows *rows, cri_nb *m)
{
    const cri_sparse *X = rows->sparse;
    for (size_t i = 0; i < rows->n; i++) {
        size_t k = (size_t)rows->y[i], end;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            size_t j = X->column[e], cell = k * m->p + j;
            double d = recode(m, j, X->value[e]) - m->mean[cell];
            if (!isnan(d) && cri_nb_kind_of(m, j) != CRI_NB_CATEGORY)
                m->scatter[cell] += weight_of(rows, i) * d * d;
        }
    }
}

cr_status cri_nb_gather_sparse(cr_ctx *cx, const cri_rows *rows, cri_nb *m)
{
    cr_status st = cri_nb_check_sparse(cx, rows, m, &m->log_shared);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < rows->n; i++) m->class_weight[(size_t)rows->y[i]] += weight_of(rows, i);
    for (size_t c = 0; c < m->K * m->p; c++) m->weight[c] = m->class_weight[c / m->p];
    add_entries(rows, m);
    finish_means(rows->design, m);
    add_squares(rows, m);
    return CR_OK;
}

/* log of the factorials of row i: those of its counts below, that of their total above. */
static double log_factorials(const cri_nb *m, const cri_sparse *X, size_t i)
{
    double sum = 0, total = 0;
    size_t end;
    for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
        cri_nb_kind kind = cri_nb_kind_of(m, X->column[e]);
        double      x = X->value[e];
        if (!cri_nb_counts(kind) || isnan(x)) continue;
        sum -= cr_lgamma_abs(x + 1);
        if (kind == CRI_NB_MULTINOMIAL) total += x;
    }
    return total > 0 ? sum + cr_lgamma_abs(total + 1) : sum;
}

cr_status cri_nb_check_sparse(cr_ctx *cx, const cri_rows *rows, const cri_nb *m,
                              double *opt_log_shared)
{
    const cri_sparse *X = rows->sparse;
    double            shared = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double w = weight_of(rows, i);
        size_t end;
        for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
            cri_nb_kind kind = cri_nb_kind_of(m, X->column[e]);
            double      x = X->value[e];
            if (!cri_nb_counts(kind) || isnan(x)) continue;
            if (x < 0 || (kind == CRI_NB_POISSON && x != floor(x)))
                return cri_nb_refuse_count(cx, rows, i, X->column[e], x, kind);
        }
        if (opt_log_shared && w > 0) shared += w * log_factorials(m, X, i);
    }
    if (opt_log_shared) *opt_log_shared += shared;
    return CR_OK;
}

/* --- scores ---------------------------------------------------------------------------------- */

/* A sum of logs some of which may be -infinity, from which such can be taken away again. */
typedef struct log_sum {
    long double sum;
    long        impossible;
} log_sum;

static void add(log_sum *s, long double x, int times)
{
    if (x == -INFINITY)
        s->impossible += times;
    else
        s->sum += times * x;
}

enum { BLOCK = 64, MOST_SLOTS = 32 };

typedef struct work {
    const cri_nb   *m;
    const cri_rows *rows;
    double         *out;  /* [n x K] probabilities, or with `joint` log joints */
    double         *seen; /* [K] the sum of what multinomial terms have        */
    log_sum        *base; /* [K] of a row without entries                      */
    long double    *wide; /* [slots x 2 K] scores, workspace                   */
    size_t          slots;
    bool            counts, joint;
} work;

static double share_of(const cri_nb *m, size_t j, size_t k)
{
    const cri_nb_entry *e = &m->entry[j * m->K + k];
    return m->bayes ? e->a : e->c;
}

static void set_base(void *arg, size_t k)
{
    work         *w = arg;
    const cri_nb *m = w->m;
    w->base[k] = (log_sum){ m->log_prior[k], 0 };
    w->seen[k] = 0;
    if (m->log_prior[k] == -INFINITY) w->base[k] = (log_sum){ 0, 1 };
    for (size_t j = 0; j < m->p; j++) {
        if (cri_nb_kind_of(m, j) == CRI_NB_MULTINOMIAL)
            w->seen[k] += share_of(m, j, k);
        else
            add(&w->base[k], cri_nb_term(m, j, k, 0), 1);
    }
}

static long double score_row(const work *w, size_t i, size_t k)
{
    const cri_nb     *m = w->m;
    const cri_sparse *X = w->rows->sparse;
    log_sum           s = w->base[k];
    double            total = 0, seen = w->seen[k];
    bool              gaps = false;
    size_t            end;
    for (size_t e = cri_sparse_row(X, i, &end); e < end; e++) {
        size_t j = X->column[e];
        double x = X->value[e];
        bool   multinomial = cri_nb_kind_of(m, j) == CRI_NB_MULTINOMIAL;
        if (!multinomial) add(&s, cri_nb_term(m, j, k, 0), -1);
        if (!isnan(x)) add(&s, cri_nb_term(m, j, k, x), 1);
        if (multinomial && isnan(x)) seen -= share_of(m, j, k), gaps = true;
        if (multinomial && !isnan(x)) total += x;
    }
    if (w->counts && total > 0 && seen > 0 && (m->bayes || gaps))
        add(&s, -(m->bayes ? cr_lgamma_diff(seen, total) : total * log(seen)), 1);
    return s.impossible > 0 ? -INFINITY : s.sum;
}

typedef struct far_row {
    const long double *score;
    size_t             K;
} far_row;

static void far_scores(const void *arg, long double *out)
{
    const far_row *f = arg;
    memcpy(out, f->score, f->K * sizeof *out);
}

static void predict_slot(void *arg, size_t slot)
{
    const work  *w = arg;
    size_t       K = w->m->K;
    long double *score = w->wide + slot * 2 * K, *workspace = score + K;
    for (size_t b = slot; b < cri_block_count(w->rows->n, BLOCK); b += w->slots) {
        cri_range r = cri_block_range(w->rows->n, BLOCK, b);
        for (size_t i = r.begin; i < r.end; i++) {
            double     *out = w->out + i * K;
            long double most = -INFINITY;
            far_row     far = { score, K };
            for (size_t k = 0; k < K; k++) {
                score[k] = score_row(w, i, k);
                if (score[k] > most) most = score[k];
            }
            if (w->joint || !isfinite(most)) most = 0;
            for (size_t k = 0; k < K;
                 k++) /* probabilities: differences count, and those are small */
                out[k] = (double)(score[k] - most);
            if (w->joint)
                cri_class_joints(out, K, log_factorials(w->m, w->rows->sparse, i), far_scores, &far,
                                 workspace);
            else
                cri_class_probabilities(out, K, w->m->log_prior, far_scores, &far, workspace);
        }
    }
}

cr_status cri_nb_score_sparse(cr_ctx *cx, const cri_nb *m, const cri_rows *rows, bool joint,
                              double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    work       w = { .m = m, .rows = rows, .out = out, .joint = joint };

    w.slots = cri_block_count(rows->n, BLOCK);
    if (w.slots > MOST_SLOTS) w.slots = MOST_SLOTS;
    w.seen = cr_scratch_f64(&s, m->K);
    w.base = cr_scratch_bytes(&s, m->K, sizeof *w.base);
    w.wide = cr_scratch_bytes(&s, w.slots * 2 * m->K, sizeof *w.wide);
    CR_TRY(s.status);
    for (size_t j = 0; j < m->p; j++) w.counts |= cri_nb_kind_of(m, j) == CRI_NB_MULTINOMIAL;
    CR_TRY(cri_nb_check_sparse(cx, rows, m, NULL));
    CR_TRY(cri_parallel_for(cx, NULL, m->K, set_base, &w));
    CR_TRY(cri_parallel_for(cx, "predicting", w.slots, predict_slot, &w));
done:
    cr_scratch_end(&s);
    return st;
}
