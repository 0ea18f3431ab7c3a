/* mixture_step.c -- the E-step: responsibilities of the components for rows, and the statistics expected under them.
 *   log p(x, c) = log share_c + sum_j log p(x_j | c) over the cells that are there
 *   linear columns  eta_cj y_j + base_cj,    real ones  peak_cj - z_cj^2 / 2,    categories  log p_cl
 * O(n k (p + L)) at most; linear columns go through two products of matrices, one for the scores [k x n] = eta Y and
 * one for the sums [k x q] = r Y^T.  A row without any cell says nothing and counts for nothing. */
#include "mixture.h"
#include "em_starts.h"
#include "math/dense/blas_internal.h"
#include "math/kernel/array.h"
#include "math/special/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* --- statistics ------------------------------------------------------------------------------- */

size_t cri_mixture_part_size(const cri_mixture *m)
{
    return m->k * (1 + 2 * m->q + 3 * m->g + m->L);
}

cri_mixture_part cri_mixture_part_at(const cri_mixture *m, double *at)
{
    size_t           k = m->k;
    cri_mixture_part s = { .n = at };
    s.x = s.n + k;
    s.absent = s.x + k * m->q;
    s.z = s.absent + k * m->q;
    s.square = s.z + k * m->g;
    s.real_gaps = s.square + k * m->g;
    s.count = s.real_gaps + k * m->g;
    return s;
}

cri_mixture_sums cri_mixture_sums_at(const cri_mixture *m, const double *at)
{
    size_t           k = m->k;
    cri_mixture_sums s = { .n = at };
    s.x = s.n + k;
    s.absent = s.x + k * m->q;
    s.z = s.absent + k * m->q;
    s.square = s.z + k * m->g;
    s.real_gaps = s.square + k * m->g;
    s.count = s.real_gaps + k * m->g;
    return s;
}

size_t cri_mixture_parts(const cri_mixture *m) { return m->draws ? CRI_MIXTURE_BATCHES : 1; }

size_t cri_mixture_width(const void *state)
{
    return 2 + cri_mixture_parts(state) * cri_mixture_part_size(state);
}

size_t cri_mixture_work(const void *state)
{
    const cri_mixture *m = state;
    size_t             rows = m->p + m->q * 2 + m->g * 2 + (m->p - m->q - m->g) + 2 * m->k + 5;
    return rows * CRI_MIXTURE_BLOCK;
}

cri_mixture_block cri_mixture_cut(const cri_mixture *m, double *work)
{
    size_t            B = CRI_MIXTURE_BLOCK;
    cri_mixture_block b = { .X = work };
    b.Y = b.X + B * m->p;
    b.Y_gap = b.Y + B * m->q;
    b.R = b.Y_gap + B * m->q;
    b.R_gap = b.R + B * m->g;
    b.C = b.R_gap + B * m->g;
    b.r = b.C + B * (m->p - m->q - m->g);
    b.draws = b.r + B * m->k;
    b.w = b.draws + B * m->k;
    b.shared = b.w + B;
    b.log_density = b.shared + B;
    b.log_top = b.log_density + B;
    b.z = b.log_top + B;
    return b;
}

/* --- rows ------------------------------------------------------------------------------------- */

static double log_factorial(const cri_mixture *m, double x)
{
    return x < CRI_MIXTURE_FACTORIALS ? m->log_factorial[(size_t)x] : cr_lgamma_abs(x + 1);
}

/* A linear column, which is known to be whole or not: y, 0 where missing; true where some are. */
static bool read_linear(const cri_mixture *m, size_t j, bool whole, const double *x, size_t n,
                        double *y, double *gap, double *shared)
{
    bool   counts = cri_mixture_kind_of(m, j) == CRI_MIXTURE_POISSON;
    double threshold = m->threshold[j];
    size_t gaps = 0;
    for (size_t i = 0; i < n && !whole; i++) gaps += x[i] != x[i];
    for (size_t i = 0; i < n && gaps > 0; i++) gap[i] = x[i] != x[i];
    for (size_t i = 0; i < n && !counts; i++) y[i] = x[i] > threshold;
    for (size_t i = 0; i < n && counts; i++) {
        y[i] = isnan(x[i]) ? 0 : x[i];
        shared[i] -= log_factorial(m, y[i]);
    }
    return gaps > 0;
}

/* A real column: t, 0 where missing; true where some are. */
static bool read_real(const cri_mixture *m, size_t j, const double *x, size_t n, double *t,
                      double *gap, double *shared)
{
    bool   gaps = false, logs = cri_mixture_kind_of(m, j) == CRI_MIXTURE_LOGNORMAL;
    double log_scale = log(m->scale[j]);
    for (size_t i = 0; i < n; i++) {
        bool   missing = x[i] != x[i];
        double of = logs && !missing ? log(x[i]) : x[i];
        t[i] = missing ? 0 : (of - m->centre[j]) / m->scale[j];
        shared[i] -= missing ? 0 : log_scale + (logs ? of : 0);
        gap[i] = missing;
        gaps |= missing;
    }
    return gaps;
}

/* All columns of b->X [p x n], and the weights.  A row of weight 0 may hold anything: it is taken as empty. */
static void read_block(const cri_mixture *m, const cri_rows *opt_rows, const double *opt_w,
                       cri_mixture_block *b)
{
    size_t n = b->n, q = m->q, g = m->g;
    b->linear_gaps = b->real_gaps = false;
    memset(b->shared, 0, n * sizeof *b->shared);
    for (size_t i = 0; i < n; i++) {
        b->w[i] = opt_w ? opt_w[i] : 1;
        for (size_t j = 0; j < m->p && !(b->w[i] > 0); j++) b->X[j * n + i] = NAN;
    }
    for (size_t a = 0; a < m->p; a++) {
        size_t        j = m->column[a];
        const double *x = b->X + j * n;
        if (a < q) {
            bool whole = opt_rows && !opt_w && opt_rows->columns[j]->missing == 0;
            bool gaps = read_linear(m, j, whole, x, n, b->Y + a * n, b->Y_gap + a * n, b->shared);
            if (gaps && !b->linear_gaps) memset(b->Y_gap, 0, a * n * sizeof(double));
            b->linear_gaps |= gaps;
            if (b->linear_gaps && !gaps) memset(b->Y_gap + a * n, 0, n * sizeof(double));
        } else if (a < q + g) {
            size_t at = (a - q) * n;
            b->real_gaps |= read_real(m, j, x, n, b->R + at, b->R_gap + at, b->shared);
        } else {
            memcpy(b->C + (a - q - g) * n, x, n * sizeof *x);
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < m->p && isnan(b->X[j * n + i])) j++;
        if (j == m->p) b->w[i] = 0;
    }
}

/* b->X [p x n] from rows that lie `stride` apart, eight at a time: a line of the cache of each column. */
static void transpose(const double *rows, size_t stride, size_t p, size_t n, double *X)
{
    enum { LINE = 8 };
    for (size_t at = 0; at < n; at += LINE) {
        size_t end = n - at < LINE ? n : at + LINE;
        for (size_t j = 0; j < p; j++)
            for (size_t i = at; i < end; i++) X[j * n + i] = rows[i * stride + j];
    }
}

static void load(const cri_mixture *m, const cri_rows *rows, cri_range range, bool weigh,
                 cri_mixture_block *b)
{
    b->n = range.end - range.begin;
    if (rows->matrix) {
        size_t stride = rows->columns[0]->stride;
        transpose(rows->matrix + range.begin * stride, stride, m->p, b->n, b->X);
    } else {
        for (size_t j = 0; j < m->p; j++)
            cri_rows_fill_term(rows, j, range.begin, range.end, b->X + j * b->n, 1);
    }
    read_block(m, rows, weigh && rows->w ? rows->w + range.begin : NULL, b);
}

static void load_matrix(const cri_mixture *m, const double *X, const double *w, size_t n,
                        cri_mixture_block *b)
{
    b->n = n;
    transpose(X, m->p, m->p, n, b->X);
    read_block(m, NULL, w, b);
}

/* --- scores ----------------------------------------------------------------------------------- */

static void score_linear(const cri_mixture *m, const cri_mixture_block *b)
{
    size_t k = m->k, n = b->n, q = m->q;
    if (q == 0) return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)n, (int)q, 1, m->eta,
                (int)q, b->Y, (int)n, 1, b->r, (int)n);
    if (b->linear_gaps)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)n, (int)q, -1, m->base,
                    (int)q, b->Y_gap, (int)n, 1, b->r, (int)n);
}

/* z [n] of real column a and component c, 0 where missing. */
static void standardise(const cri_mixture *m, size_t c, size_t a, const cri_mixture_block *b)
{
    size_t        cell = c * m->p + m->column[m->q + a];
    double        mean = m->mean[cell], inverse = 1 / m->sd[cell], *z = b->z;
    const double *t = b->R + a * b->n, *gap = b->R_gap + a * b->n;
    for (size_t i = 0; i < b->n; i++) z[i] = (t[i] - mean) * inverse;
    for (size_t i = 0; i < b->n && b->real_gaps; i++) z[i] = gap[i] != 0 ? 0 : z[i];
}

static void score_real(const cri_mixture *m, size_t c, const cri_mixture_block *b, double *out)
{
    size_t n = b->n;
    for (size_t a = 0; a < m->g; a++) {
        const double *gap = b->R_gap + a * n;
        double        peak = m->peak[c * m->g + a];
        standardise(m, c, a, b);
        for (size_t i = 0; i < n; i++) out[i] -= 0.5 * b->z[i] * b->z[i];
        for (size_t i = 0; i < n && b->real_gaps; i++) out[i] -= gap[i] * peak;
    }
}

static void score_categories(const cri_mixture *m, size_t c, const cri_mixture_block *b,
                             double *out)
{
    for (size_t a = m->q + m->g; a < m->p; a++) {
        const double *code = b->C + (a - m->q - m->g) * b->n;
        const double *log_level = m->log_level + c * m->L + m->first[m->column[a]];
        for (size_t i = 0; i < b->n; i++)
            if (!isnan(code[i])) out[i] += log_level[(size_t)code[i]];
    }
}

/* r becomes log p(x, c) of the block, less what is shared; then responsibilities. */
static void respond(const cri_mixture *m, const cri_mixture_block *b)
{
    size_t n = b->n;
    for (size_t c = 0; c < m->k; c++)
        for (size_t i = 0; i < n; i++) b->r[c * n + i] = m->constant[c];
    score_linear(m, b);
    for (size_t c = 0; c < m->k; c++) {
        score_real(m, c, b, b->r + c * n);
        score_categories(m, c, b, b->r + c * n);
    }
    cri_responsibilities(b->r, m->k, n, b->log_density, b->log_top);
    for (size_t i = 0; i < n; i++) b->log_density[i] += b->shared[i];
}

void cri_mixture_respond(const cri_mixture *m, const cri_rows *rows, cri_range range, bool weigh,
                         cri_mixture_block *b)
{
    cri_blas_enter();
    load(m, rows, range, weigh, b);
    respond(m, b);
    cri_blas_leave();
}

/* --- sums ------------------------------------------------------------------------------------- */

static void add_linear(const cri_mixture *m, const cri_mixture_block *b, const double *r,
                       cri_mixture_part s)
{
    size_t k = m->k, n = b->n, q = m->q;
    if (q == 0) return;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)q, (int)n, 1, r, (int)n, b->Y,
                (int)n, 1, s.x, (int)q);
    if (b->linear_gaps)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)q, (int)n, 1, r, (int)n,
                    b->Y_gap, (int)n, 1, s.absent, (int)q);
}

static void add_real(const cri_mixture *m, size_t c, const cri_mixture_block *b, const double *r,
                     cri_mixture_part s)
{
    size_t n = b->n, g = m->g;
    for (size_t a = 0; a < g; a++) {
        standardise(m, c, a, b);
        s.z[c * g + a] += cri_dot_array(r, b->z, n);
        cri_multiply_array(b->z, b->z, n, b->z);
        s.square[c * g + a] += cri_dot_array(r, b->z, n);
        if (b->real_gaps) s.real_gaps[c * g + a] += cri_dot_array(r, b->R_gap + a * n, n);
    }
}

static void add_categories(const cri_mixture *m, size_t c, const cri_mixture_block *b,
                           const double *r, cri_mixture_part s)
{
    for (size_t a = m->q + m->g; a < m->p; a++) {
        const double *code = b->C + (a - m->q - m->g) * b->n;
        double       *count = s.count + c * m->L + m->first[m->column[a]];
        for (size_t i = 0; i < b->n; i++)
            if (!isnan(code[i])) count[(size_t)code[i]] += r[i];
    }
}

void cri_mixture_add_part(const cri_mixture *m, const cri_mixture_block *b, const double *r,
                          double *part)
{
    cri_mixture_part s = cri_mixture_part_at(m, part);
    size_t           n = b->n;
    add_linear(m, b, r, s);
    for (size_t c = 0; c < m->k; c++) {
        for (size_t i = 0; i < n; i++) s.n[c] += r[c * n + i];
        add_real(m, c, b, r + c * n, s);
        add_categories(m, c, b, r + c * n, s);
    }
}

/* The statistics of a block that is there. */
static void add_block(const cri_mixture *m, const cri_mixture_block *b, double *sums)
{
    respond(m, b);
    for (size_t i = 0; i < b->n; i++) {
        if (!(b->w[i] > 0)) continue;
        sums[0] += b->w[i] * b->log_density[i];
        sums[1] += b->w[i] * b->log_top[i];
    }
    if (m->draws) {
        cri_mixture_add_draws(m, b, sums + 2);
        return;
    }
    for (size_t c = 0; c < m->k; c++)
        cri_multiply_array(b->r + c * b->n, b->w, b->n, b->r + c * b->n);
    cri_mixture_add_part(m, b, b->r, sums + 2);
}

void cri_mixture_gather(const void *state, const cri_rows *rows, cri_range range, double *sums,
                        double *work)
{
    const cri_mixture *m = state;
    cri_mixture_block  b = cri_mixture_cut(m, work);
    cri_blas_enter();
    for (size_t at = range.begin; at < range.end; at += CRI_MIXTURE_BLOCK) {
        size_t end = range.end - at < CRI_MIXTURE_BLOCK ? range.end : at + CRI_MIXTURE_BLOCK;
        load(m, rows, (cri_range){ at, end }, true, &b);
        add_block(m, &b, sums);
    }
    cri_blas_leave();
}

void cri_mixture_add(const cri_mixture *m, const double *X, const double *w, size_t n, double *sums,
                     double *work)
{
    cri_mixture_block b = cri_mixture_cut(m, work);
    cri_blas_enter();
    for (size_t at = 0; at < n; at += CRI_MIXTURE_BLOCK) {
        size_t left = n - at;
        load_matrix(m, X + at * m->p, w + at, left < CRI_MIXTURE_BLOCK ? left : CRI_MIXTURE_BLOCK,
                    &b);
        add_block(m, &b, sums);
    }
    cri_blas_leave();
}

void cri_mixture_add_groups(const cri_mixture *m, const double *X, const double *w,
                            const size_t *of, size_t n, double *part, double *work)
{
    cri_mixture_block b = cri_mixture_cut(m, work);
    cri_blas_enter();
    for (size_t at = 0; at < n; at += CRI_MIXTURE_BLOCK) {
        size_t left = n - at;
        load_matrix(m, X + at * m->p, w + at, left < CRI_MIXTURE_BLOCK ? left : CRI_MIXTURE_BLOCK,
                    &b);
        memset(b.r, 0, m->k * b.n * sizeof *b.r);
        for (size_t i = 0; i < b.n; i++) b.r[of[at + i] * b.n + i] = b.w[i];
        cri_mixture_add_part(m, &b, b.r, part);
    }
    cri_blas_leave();
}
