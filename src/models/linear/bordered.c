/* bordered.c -- elimination of the levels of one category. */
#include "bordered.h"
#include "rows_factor.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

cri_level_run cri_largest_category(const cr_design *d)
{
    cri_level_run best = { 0, 0 };
    for (size_t k = 0, end; d->block.n == 0 && k < d->n_terms; k = end) {
        for (end = k; end < d->n_terms && cri_design_is_indicator(d, end); end++)
            if (d->terms[end].column != d->terms[k].column) break;
        if (end - k > best.levels) best = (cri_level_run){ k, end - k };
        end += end == k;
    }
    return best;
}

bool cri_bordered_pays(const cri_rows *rows) { return cri_bordered_beats(rows, CRI_MOST_FACTOR); }

bool cri_bordered_beats(const cri_rows *rows, size_t terms)
{
    enum { MOST_BORDER = 1000 };
    if (rows->p <= terms || !cri_design_has_many_levels(rows->design)) return false;
    size_t others = rows->p - cri_largest_category(rows->design).levels;
    return others < MOST_BORDER && others <= rows->p / 4;
}

/* --- the sums -------------------------------------------------------------------------------- */

/* Where the terms are in the order of g, and which of V are centred: those whose zeros are few. */
static void lay_out(cri_bordered *b, size_t *count)
{
    const cri_sparse_terms *z = b->z;
    size_t                  at = b->intercept, end;
    for (size_t i = 0; i < z->n; i++)
        for (size_t e = cri_sparse_row(z->X, i, &end); e < end; e++) count[z->X->column[e]]++;
    for (size_t j = 0; j < z->p; j++) {
        bool level = j >= b->run.first && j < b->run.first + b->run.levels;
        b->place[j] = level ? b->m + j - b->run.first : at++;
        b->centre[j] = !level && count[j] > z->n / 4 ? z->centre[j] : 0;
    }
}

/* One row of Z: the places and values of what is not 0 in V, and its level. */
typedef struct border_row {
    size_t *at;    /* [used], at most m */
    double *value; /* [m], by place; 0 where not used */
    size_t  used, fixed;
    size_t  level; /* levels = none */
    double  entry;
} border_row;

/* The intercept and the centred terms are in every row, first. */
static cr_status new_row(cr_scratch *s, const cri_bordered *b, border_row *out)
{
    border_row r = { .at = cr_scratch_index(s, b->m), .value = cr_scratch_f64(s, b->m) };
    if (s->status != CR_OK) return s->status;
    memset(r.value, 0, b->m * sizeof *r.value);
    if (b->intercept) r.at[r.fixed++] = 0;
    for (size_t j = 0; j < b->z->p; j++)
        if (b->centre[j] != 0) r.at[r.fixed++] = b->place[j];
    *out = r;
    return CR_OK;
}

static void read_row(const cri_bordered *b, const double *base, size_t i, border_row *r)
{
    const cri_sparse_terms *z = b->z;
    size_t                  end, e = cri_sparse_row(z->X, i, &end);
    for (size_t k = r->fixed; k < r->used; k++) r->value[r->at[k]] = 0;
    for (size_t k = 0; k < r->fixed; k++) r->value[r->at[k]] = base[r->at[k]];
    r->used = r->fixed;
    r->level = b->run.levels;
    for (; e < end; e++) {
        size_t j = z->X->column[e], at = b->place[j];
        double x = z->X->value[e] / z->scale[j];
        if (at >= b->m) {
            r->level = at - b->m;
            r->entry = x;
        } else {
            if (b->centre[j] == 0) r->at[r->used++] = at;
            r->value[at] += x;
        }
    }
}

/* base [m]: the row of V where all terms are 0. */
static void set_base(const cri_bordered *b, double *base)
{
    memset(base, 0, b->m * sizeof *base);
    if (b->intercept) base[0] = 1;
    for (size_t j = 0; j < b->z->p; j++)
        if (b->centre[j] != 0) base[b->place[j]] = -b->centre[j] / b->z->scale[j];
}

static double weight_of(const cri_sparse_terms *z, size_t i) { return z->w ? z->w[i] : 1; }
static double target_of(const cri_sparse_terms *z, size_t i)
{
    return !z->root ? z->t[i] : z->root[i] > 0 ? z->t[i] / z->root[i] : 0;
}

static void add_row(cri_bordered *b, const border_row *r, double w, double t)
{
    double *B = b->B + r->level * b->m;
    bool    level = r->level < b->run.levels;
    if (level) {
        b->d[r->level] += w * r->entry * r->entry;
        b->g[b->m + r->level] += w * t * r->entry;
    }
    for (size_t k = 0; k < r->used; k++) {
        size_t a = r->at[k];
        double x = w * r->value[a];
        b->g[a] += x * t;
        if (level) B[a] += x * r->entry;
        for (size_t l = 0; l <= k; l++) {
            size_t c = r->at[l];
            b->S[a >= c ? a * b->m + c : c * b->m + a] += x * r->value[c];
        }
    }
}

cr_status cri_bordered_new(cr_ctx *cx, cr_scratch *s, const cri_sparse_terms *z, cri_level_run run,
                           bool intercept, cri_bordered *out)
{
    enum { POLL = 4096 };
    cr_status    st = CR_OK;
    size_t       m = intercept + z->p - run.levels, levels = run.levels;
    double      *base = cr_scratch_f64(s, m);
    size_t      *count = cr_scratch_bytes(s, z->p, sizeof *count);
    border_row   row = { 0 };
    cri_bordered b = { .z = z,
                       .run = run,
                       .m = m,
                       .intercept = intercept,
                       .centre = cr_scratch_f64(s, z->p),
                       .S = cr_scratch_bytes(s, m * m, sizeof(double)),
                       .B = cr_scratch_bytes(s, levels * m, sizeof(double)),
                       .d = cr_scratch_bytes(s, levels, sizeof(double)),
                       .g = cr_scratch_bytes(s, m + levels, sizeof(double)),
                       .D = cr_scratch_f64(s, levels),
                       .L = cr_scratch_matrix(s, m, m),
                       .workspace = cr_scratch_matrix(s, levels, m),
                       .place = cr_scratch_index(s, z->p) };

    CR_TRY(s->status);
    lay_out(&b, count);
    CR_TRY(new_row(s, &b, &row));
    set_base(&b, base);
    for (size_t i = 0; i < z->n; i++) {
        if (i % POLL == 0) CR_TRY(cr_check_interrupt(cx));
        read_row(&b, base, i, &row);
        add_row(&b, &row, weight_of(z, i), target_of(z, i));
    }
    *out = b;
done:
    return st;
}

cr_status cri_bordered_open(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, bool intercept,
                            cri_rows *out_view, cri_sparse_terms *out_z, cri_bordered *out)
{
    cr_status        st = CR_OK;
    const cr_design *design = rows->design;
    CR_TRY(cri_rows_open_entries(cx, rows, out_view));
    CR_TRY(cri_sparse_terms_new(cx, s, out_view, intercept, design->standardised, out_z));
    CR_TRY(cri_bordered_new(cx, s, out_z, cri_largest_category(design), intercept, out));
done:
    return st;
}

/* --- the factor ------------------------------------------------------------------------------ */

cr_status cri_bordered_factor(cr_ctx *cx, cri_bordered *b, double lambda, bool *out_good)
{
    size_t    m = b->m, levels = b->run.levels;
    cr_status st = CR_OK;
    *out_good = true;
    for (size_t j = 0; j < levels; j++) {
        b->D[j] = b->d[j] + lambda;
        *out_good = *out_good && b->D[j] > 0;
        for (size_t k = 0; k < m; k++) b->workspace[j * m + k] = b->B[j * m + k] / sqrt(b->D[j]);
    }
    if (!*out_good || m == 0) return CR_OK;
    CR_TRY(cr_syrk(cx, -1, cr_cmat_of(b->workspace, levels, m), CR_TRANSPOSED, 0,
                   cr_mat_of(b->L, m, m)));
    for (size_t a = 0; a < m; a++) {
        for (size_t c = 0; c <= a; c++) b->L[a * m + c] += b->S[a * m + c];
        for (size_t c = 0; c < a; c++) b->L[c * m + a] = b->L[a * m + c];
        if (a >= b->intercept) b->L[a * m + a] += lambda;
    }
    st = cr_chol(cx, cr_mat_of(b->L, m, m));
    *out_good = st == CR_OK;
    if (st == CR_ENUMERIC) st = CR_OK;
done:
    return st;
}

/* L^-1 of one vector [m], in place: for r small enough that a call of LAPACK is not worth it. */
static void solve_lower(const cri_bordered *b, double *x)
{
    for (size_t a = 0; a < b->m; a++) {
        for (size_t c = 0; c < a; c++) x[a] -= b->L[a * b->m + c] * x[c];
        x[a] /= b->L[a * b->m + a];
    }
}

static void solve_upper(const cri_bordered *b, double *x)
{
    for (size_t a = b->m; a-- > 0;) {
        x[a] /= b->L[a * b->m + a];
        for (size_t c = 0; c < a; c++) x[c] -= b->L[a * b->m + c] * x[a];
    }
}

cr_status cri_bordered_solve(cr_ctx *cx, const cri_bordered *b, double *x)
{
    size_t  m = b->m;
    double *low = x + m;
    for (size_t j = 0; j < b->run.levels; j++)
        for (size_t k = 0; k < m; k++) x[k] -= b->B[j * m + k] * low[j] / b->D[j];
    solve_lower(b, x);
    solve_upper(b, x);
    for (size_t j = 0; j < b->run.levels; j++) {
        for (size_t k = 0; k < m; k++) low[j] -= b->B[j * m + k] * x[k];
        low[j] /= b->D[j];
    }
    return cr_check_interrupt(cx);
}

/* --- the condition --------------------------------------------------------------------------- */

/* The largest sum over a column of |Z'WZ| with all terms centred. */
static double one_norm(const cri_bordered *b, double *border)
{
    size_t m = b->m, levels = b->run.levels, first = b->intercept;
    double weight = b->z->weight, all = 0, norm = 0;
    memset(border, 0, m * sizeof *border);
    for (size_t j = 0; first && j < levels; j++) all += fabs(b->B[j * m]);
    for (size_t j = 0; j < levels; j++) {
        double a = first ? b->B[j * m] : 0, sum = fabs(b->d[j] - a * a / weight);
        sum += fabs(a) * (all - fabs(a)) / weight;
        for (size_t k = first; k < m; k++) {
            double cell = fabs(b->B[j * m + k] - (first ? a * b->S[k * m] / weight : 0));
            sum += cell;
            border[k] += cell;
        }
        norm = fmax(norm, sum);
    }
    for (size_t k = first; k < m; k++) {
        for (size_t l = first; l < m; l++) {
            double cell = b->S[k >= l ? k * m + l : l * m + k];
            border[k] += fabs(cell - (first ? b->S[k * m] * b->S[l * m] / weight : 0));
        }
        norm = fmax(norm, border[k]);
    }
    return norm;
}

/* The block of A^-1 that belongs to the terms is the inverse of the centred matrix. */
static cr_status estimate_inverse(cr_ctx *cx, const cri_bordered *b, double *x, double *y,
                                  double *out)
{
    enum { MOST = 5 };
    cr_status st = CR_OK;
    size_t    n = b->m + b->run.levels, first = b->intercept;
    double    norm = 0;
    for (size_t i = 0; i < n; i++) x[i] = i < first ? 0 : 1 / (double)(n - first);
    for (size_t step = 0; step < MOST; step++) {
        double size = 0, along = 0;
        size_t top = first;
        memcpy(y, x, n * sizeof *y);
        CR_TRY(cri_bordered_solve(cx, b, y));
        for (size_t i = first; i < n; i++) size += fabs(y[i]);
        norm = fmax(norm, size);
        for (size_t i = 0; i < n; i++) y[i] = i < first ? 0 : y[i] < 0 ? -1 : 1;
        CR_TRY(cri_bordered_solve(cx, b, y));
        for (size_t i = first; i < n; i++) {
            along += y[i] * x[i];
            if (fabs(y[i]) > fabs(y[top])) top = i;
        }
        if (!(fabs(y[top]) > along)) break;
        memset(x, 0, n * sizeof *x);
        x[top] = 1;
    }
    *out = norm;
done:
    return st;
}

cr_status cri_bordered_rcond(cr_ctx *cx, const cri_bordered *b, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = b->m + b->run.levels;
    double    *x = cr_scratch_f64(&s, n), *y = cr_scratch_f64(&s, n), inverse = 0;
    CR_TRY(s.status);
    double norm = one_norm(b, x);
    CR_TRY(estimate_inverse(cx, b, x, y, &inverse));
    *out = norm > 0 && inverse > 0 ? 1 / (norm * inverse) : 0;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- residuals and the answer ---------------------------------------------------------------- */

cr_status cri_bordered_residuals(cr_ctx *cx, const cri_bordered *b, const double *x,
                                 double *opt_out, double *out_rss)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     m = b->m;
    double    *base = cr_scratch_f64(&s, m), rss = 0;
    border_row r = { 0 };

    CR_TRY(s.status);
    CR_TRY(new_row(&s, b, &r));
    set_base(b, base);
    if (opt_out) memset(opt_out, 0, (m + b->run.levels) * sizeof *opt_out);
    for (size_t i = 0; i < b->z->n; i++) {
        double w = weight_of(b->z, i), e = target_of(b->z, i);
        read_row(b, base, i, &r);
        bool level = r.level < b->run.levels;
        if (level) e -= r.entry * x[m + r.level];
        for (size_t k = 0; k < r.used; k++) e -= r.value[r.at[k]] * x[r.at[k]];
        rss += w * e * e;
        if (!opt_out) continue;
        if (level) opt_out[m + r.level] += w * e * r.entry;
        for (size_t k = 0; k < r.used; k++) opt_out[r.at[k]] += w * e * r.value[r.at[k]];
    }
    *out_rss = rss;
    st = cr_check_interrupt(cx);
done:
    cr_scratch_end(&s);
    return st;
}

/* diagonal, start and F of the last factor: column j of F is L^-1 of the border's part of term j. */
static void set_leverage(const cri_bordered *b, double *column, cri_predictor *fit)
{
    size_t m = b->m, p = b->z->p;
    for (size_t j = 0; j < p; j++) {
        size_t at = b->place[j];
        memset(column, 0, m * sizeof *column);
        if (at < m) {
            column[at] = 1;
        } else {
            at -= m;
            fit->diagonal[j] = 1 / b->D[at];
            for (size_t k = 0; k < m; k++) column[k] = -b->B[at * m + k] / b->D[at];
        }
        solve_lower(b, column);
        for (size_t k = 0; k < m; k++) fit->factor[k * p + j] = column[k];
    }
    if (!b->intercept) return;
    memset(fit->start, 0, m * sizeof *fit->start);
    fit->start[0] = 1;
    solve_lower(b, fit->start);
}

cr_status cri_bordered_predictor(cr_ctx *cx, const cri_bordered *b, const double *x,
                                 cri_predictor *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        p = b->z->p;
    double       *c = cr_scratch_f64(&s, p), *column = cr_scratch_f64(&s, b->m);
    cri_predictor fit = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_predictor_new(cx, p, b->m, &fit));
    CR_TRY(cri_predictor_add_diagonal(cx, &fit));
    fit.has_intercept = b->intercept;
    for (size_t j = 0; j < p; j++) {
        fit.centre[j] = b->centre[j];
        fit.scale[j] = b->z->scale[j];
        c[j] = x[b->place[j]];
    }
    cri_predictor_set_coef(&fit, c, b->z->offset + (b->intercept ? x[0] : 0));
    set_leverage(b, column, &fit);
    *out = fit;
    fit = (cri_predictor){ 0 };
done:
    cri_predictor_free(cx, &fit);
    cr_scratch_end(&s);
    return st;
}

/* What belongs to the terms in the inverse and in the determinant of the last factor: eliminating the
 * intercept first would leave the centred matrix, and takes the sum of the weights. */
static void measure_factor(const cri_bordered *b, double *column, cri_bordered_answer *a)
{
    size_t m = b->m;
    for (size_t j = 0; j < b->run.levels; j++) {
        for (size_t k = 0; k < m; k++) column[k] = b->B[j * m + k] / b->D[j];
        solve_lower(b, column);
        a->trace += 1 / b->D[j] + cr_dot(column, column, m);
        a->logdet += log(b->D[j]);
    }
    for (size_t k = 0; k < m; k++) {
        memset(column, 0, m * sizeof *column);
        column[k] = 1;
        solve_lower(b, column);
        if (k >= b->intercept) a->trace += cr_dot(column, column, m);
        a->logdet += 2 * log(b->L[k * m + k]);
    }
    if (b->intercept) a->logdet -= log(b->z->weight);
}

cr_status cri_bordered_at(cr_ctx *cx, cri_bordered *b, double lambda, double *x,
                          cri_bordered_answer *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              n = b->m + b->run.levels;
    double             *workspace = cr_scratch_f64(&s, n);
    cri_bordered_answer a = { 0 };

    CR_TRY(s.status);
    CR_TRY(cri_bordered_factor(cx, b, lambda, &a.good));
    if (a.good) {
        memcpy(x, b->g, n * sizeof *x);
        CR_TRY(cri_bordered_solve(cx, b, x));
        for (size_t i = b->intercept; i < n; i++) a.square += x[i] * x[i];
        CR_TRY(cri_bordered_residuals(cx, b, x, NULL, &a.rss));
        measure_factor(b, workspace, &a);
    }
    *out = a;
done:
    cr_scratch_end(&s);
    return st;
}
