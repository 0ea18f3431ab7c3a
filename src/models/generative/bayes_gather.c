/* bayes_gather.c -- the statistics of naive Bayes, in one pass over the rows. */
#include "bayes_columns.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

/* Weight, mean and scatter of every class and term, and counts of levels. */
typedef struct sums {
    double *weight, *mean, *scatter, *count; /* [K x p] three times, [K x L] */
} sums;

static size_t sums_size(const cri_nb *m) { return 3 * m->K * m->p + m->K * m->L; }

static sums sums_at(const cri_nb *m, double *workspace)
{
    size_t cells = m->K * m->p;
    return (sums){ workspace, workspace + cells, workspace + 2 * cells, workspace + 3 * cells };
}

/* Chan, Golub & LeVeque (1983), number by number. */
static void merge_sums(const cri_nb *m, sums to, sums from)
{
    for (size_t c = 0; c < m->K * m->p; c++) {
        double a = to.weight[c], b = from.weight[c], total = a + b, d = from.mean[c] - to.mean[c];
        if (!(b > 0)) continue;
        to.scatter[c] += from.scatter[c] + a * b / total * d * d;
        to.mean[c] += b / total * d;
        to.weight[c] = total;
    }
    for (size_t c = 0; c < m->K * m->L; c++) to.count[c] += from.count[c];
}

void cri_nb_merge(cri_nb *to, const cri_nb *from)
{
    merge_sums(to, (sums){ to->weight, to->mean, to->scatter, to->count },
               (sums){ from->weight, from->mean, from->scatter, from->count });
    for (size_t k = 0; k < to->K; k++) to->class_weight[k] += from->class_weight[k];
    to->log_shared += from->log_shared;
}

/* --- one block ------------------------------------------------------------------------------- */

/* Levels are counted and their cells emptied; bernoulli columns become 0 and 1. */
static void recode_block(const cri_nb *m, const cri_rows *rows, cri_range r, double *X, sums s)
{
    for (size_t j = 0; j < m->p; j++) {
        cri_nb_kind kind = cri_nb_kind_of(m, j);
        size_t      first = m->first[j];
        if (kind != CRI_NB_CATEGORY && kind != CRI_NB_BERNOULLI) continue;
        for (size_t i = r.begin; i < r.end; i++) {
            double *x = X + (i - r.begin) * m->p + j;
            if (isnan(*x)) continue;
            if (kind == CRI_NB_BERNOULLI) {
                *x = *x > m->threshold[j];
                continue;
            }
            s.count[(size_t)rows->y[i] * m->L + first + (size_t)*x] += rows->w ? rows->w[i] : 1;
            *x = NAN;
        }
    }
}

/* Means first, then squares about them, while the block is in the cache. */
static void gather_block(const cri_nb *m, const cri_rows *rows, cri_range r, const double *X,
                         sums s)
{
    size_t p = m->p;
    memset(s.weight, 0, 3 * m->K * p * sizeof(double));
    for (size_t i = r.begin; i < r.end; i++) {
        const double *x = X + (i - r.begin) * p;
        size_t        at = (size_t)rows->y[i] * p;
        double       *W = s.weight + at, *M = s.mean + at, w = rows->w ? rows->w[i] : 1;
        for (size_t j = 0; j < p; j++) {
            bool there = x[j] == x[j];
            W[j] += there ? w : 0;
            M[j] += there ? w * x[j] : 0;
        }
    }
    for (size_t c = 0; c < m->K * p; c++) s.mean[c] = s.weight[c] > 0 ? s.mean[c] / s.weight[c] : 0;
    for (size_t i = r.begin; i < r.end; i++) {
        const double *x = X + (i - r.begin) * p;
        size_t        at = (size_t)rows->y[i] * p;
        double       *S = s.scatter + at, w = rows->w ? rows->w[i] : 1;
        const double *M = s.mean + at;
        for (size_t j = 0; j < p; j++) {
            double d = x[j] - M[j];
            S[j] += x[j] == x[j] ? w * d * d : 0;
        }
    }
}

/* --- all rows -------------------------------------------------------------------------------- */

/* The rows are cut into blocks, and the blocks into spans, by n and the number of sums alone. */
typedef struct pass {
    const cri_nb   *m;
    const cri_rows *rows;
    size_t          block, blocks, spans;
    double         *sums;      /* [spans][sums]             */
    double         *workspace; /* [spans][sums + block x p] */
} pass;

static void gather_span(void *arg, size_t s)
{
    const pass *w = arg;
    size_t      size = sums_size(w->m);
    double     *own = w->workspace + s * (size + w->block * w->m->p), *X = own + size;
    sums        all = sums_at(w->m, w->sums + s * size), one = sums_at(w->m, own);
    for (size_t b = s * w->blocks / w->spans; b < (s + 1) * w->blocks / w->spans; b++) {
        cri_range r = cri_block_range(w->rows->n, w->block, b);
        cri_rows_fill(w->rows, r.begin, r.end, X, w->m->p);
        memset(one.count, 0, w->m->K * w->m->L * sizeof(double));
        recode_block(w->m, w->rows, r, X, one);
        gather_block(w->m, w->rows, r, X, one);
        merge_sums(w->m, all, one);
    }
}

/* Few enough spans for their memory, blocks long enough that merging them costs little. */
static void cut(pass *w)
{
    enum { MOST_SPANS = 32, LEAST_BLOCK = 512, MOST_BYTES = 1 << 28 };
    size_t fit = MOST_BYTES / sizeof(double) / (2 * sums_size(w->m) + 1);
    w->block = 8 * w->m->K > LEAST_BLOCK ? 8 * w->m->K : LEAST_BLOCK;
    w->blocks = cri_block_count(w->rows->n, w->block);
    w->spans = w->blocks < MOST_SPANS ? w->blocks : MOST_SPANS;
    if (w->spans > fit) w->spans = fit > 2 ? fit : 2;
    if (w->spans > w->blocks) w->spans = w->blocks;
}

static cr_status check_squares(cr_ctx *cx, const cr_design *d, const cri_nb *m)
{
    for (size_t c = 0; c < m->K * m->p; c++)
        if (!isfinite(m->scatter[c]) || !isfinite(m->mean[c])) {
            cr_fail(cx, CR_ENUMERIC, "the numbers in '%s' are so large that their squares overflow",
                    cr_design_term_name(d, c % m->p));
            return cr_fail_hint(cx, "multiply the column by a power of ten");
        }
    return CR_OK;
}

/* A category is there in as many rows as its levels. */
static void weigh_categories(const cr_design *d, cri_nb *m)
{
    for (size_t j = 0; j < m->p; j++)
        for (size_t k = 0; k < m->K && cri_nb_kind_of(m, j) == CRI_NB_CATEGORY; k++)
            for (size_t l = 0; l < cri_term_levels(d, j); l++)
                m->weight[k * m->p + j] += m->count[k * m->L + m->first[j] + l];
}

static cr_status gather_filled(cr_ctx *cx, const cri_rows *rows, cri_nb *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     size = sums_size(m);
    pass       w = { .m = m, .rows = rows };

    cut(&w);
    w.sums = cr_scratch_bytes(&s, w.spans * size, sizeof(double));
    w.workspace = cr_scratch_matrix(&s, w.spans, size + w.block * m->p);
    CR_TRY(s.status);
    CR_TRY(cri_nb_check_counts(cx, rows, m, &m->log_shared));
    CR_TRY(cri_parallel_for(cx, "counting", w.spans, gather_span, &w));
    for (size_t i = 0; i < w.spans; i++)
        merge_sums(m, (sums){ m->weight, m->mean, m->scatter, m->count },
                   sums_at(m, w.sums + i * size));
    for (size_t i = 0; i < rows->n; i++)
        m->class_weight[(size_t)rows->y[i]] += rows->w ? rows->w[i] : 1;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_nb_gather(cr_ctx *cx, const cri_rows *rows, cri_nb *m)
{
    cr_status st = (rows->sparse ? cri_nb_gather_sparse : gather_filled)(cx, rows, m);
    if (st == CR_OK) weigh_categories(rows->design, m);
    return st == CR_OK ? check_squares(cx, rows->design, m) : st;
}

/* --- counts ---------------------------------------------------------------------------------- */

cr_status cri_nb_refuse_count(cr_ctx *cx, const cri_rows *rows, size_t i, size_t j, double x,
                              cri_nb_kind kind)
{
    char where[512];
    cr_fail(cx, CR_EDATA, "%s: '%s' is %g, but %s counts %s",
            cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
            cr_design_term_name(rows->design, j), x,
            kind == CRI_NB_POISSON ? "poisson" : "multinomial",
            x < 0 ? "are not negative" : "are whole numbers");
    return cr_fail_hint(cx, "use --numbers gaussian for any numbers, or --numbers "
                            "gaussian,COLUMN=poisson to choose by column");
}

/* Checks term j; with `shared` adds log(1 / x!) to it, and x to total [n]. */
static cr_status check_term(cr_ctx *cx, const cri_rows *rows, const cri_nb *m, size_t j, double *x,
                            double *shared, double *total)
{
    cri_nb_kind kind = cri_nb_kind_of(m, j);
    cri_rows_fill_term(rows, j, 0, rows->n, x, 1);
    for (size_t i = 0; i < rows->n; i++) {
        if (isnan(x[i])) continue;
        if (x[i] < 0 || (kind == CRI_NB_POISSON && x[i] != floor(x[i])))
            return cri_nb_refuse_count(cx, rows, i, j, x[i], kind);
        if (!shared) continue;
        double w = rows->w ? rows->w[i] : 1;
        if (w > 0) *shared -= w * cr_lgamma_abs(x[i] + 1);
        if (kind == CRI_NB_MULTINOMIAL) total[i] += x[i];
    }
    return CR_OK;
}

cr_status cri_nb_check_counts(cr_ctx *cx, const cri_rows *rows, const cri_nb *m,
                              double *opt_log_shared)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = NULL, *total = NULL, shared = 0;
    for (size_t j = 0; j < m->p; j++) {
        cri_nb_kind kind = cri_nb_kind_of(m, j);
        if (!cri_nb_counts(kind)) continue;
        if (!x)
            x = cr_scratch_f64(&s, rows->n), total = cr_scratch_bytes(&s, rows->n, sizeof *total);
        CR_TRY(s.status);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(check_term(cx, rows, m, j, x, opt_log_shared ? &shared : NULL, total));
    }
    for (size_t i = 0; total && opt_log_shared && i < rows->n; i++)
        if (total[i] > 0) shared += (rows->w ? rows->w[i] : 1) * cr_lgamma_abs(total[i] + 1);
    if (opt_log_shared) *opt_log_shared += shared;
done:
    cr_scratch_end(&s);
    return st;
}
