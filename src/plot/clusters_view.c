/* clusters_view.c -- the plane on which clusters are looked at.
 * Two columns: with T the scatter of the rows and B what of it lies between the clusters (each row in its cluster), the
 * first column has the highest B_jj / T_jj and the second makes tr(T^-1 B) of the two the highest: a column that
 * repeats the first adds nothing.  O(n p).  Or two principal components of the correlations, O(n p^2 + p^3). */
#include "latent.h"
#include "grid.h"
#include "data/table/date.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 128 };

/* --- two columns ----------------------------------------------------------------------------- */

/* The values of a term in all rows of the table. */
static void fill_term(const cri_rows *rows, size_t term, double *out)
{
    double shift = cr_design_shift(rows->design)[term], scale = cr_design_scale(rows->design)[term];
    cri_rows_fill_term(rows, term, 0, rows->n, out, 1);
    for (size_t i = 0; i < rows->n; i++) out[i] = shift + scale * out[i];
    cri_rows_spread(rows, 1, out);
}

cr_status cri_term_values(cr_ctx *cx, const cr_model *model, const cr_table *table, size_t term,
                          double *out)
{
    cri_rows  rows = { 0 };
    cr_status st = cri_rows_open(cx, cr_model_get_design(model), table, CRI_INPUTS_ALONE, &rows);
    if (st == CR_OK) fill_term(&rows, term, out);
    cri_rows_close(cx, &rows);
    return st;
}

/* Scatter of two terms: all of it, and between clusters. */
typedef struct scatter {
    double T[3], B[3]; /* xx, xy, yy */
} scatter;

/* Of the rows that have both values; sums [3 k] is workspace. */
static scatter scatter_of(const cri_members *m, const double *x, const double *y, double *sums)
{
    scatter s = { { 0 }, { 0 } };
    double  n = 0, mean_x = 0, mean_y = 0;
    memset(sums, 0, 3 * m->k * sizeof *sums);
    for (size_t i = 0; i < m->n; i++) {
        if (m->cluster[i] == m->k || !isfinite(x[i]) || !isfinite(y[i])) continue;
        double *of = sums + 3 * m->cluster[i];
        of[0] += 1, of[1] += x[i], of[2] += y[i];
        n += 1, mean_x += (x[i] - mean_x) / n, mean_y += (y[i] - mean_y) / n;
    }
    for (size_t i = 0; i < m->n; i++) {
        if (m->cluster[i] == m->k || !isfinite(x[i]) || !isfinite(y[i])) continue;
        double dx = x[i] - mean_x, dy = y[i] - mean_y;
        s.T[0] += dx * dx, s.T[1] += dx * dy, s.T[2] += dy * dy;
    }
    for (size_t c = 0; c < m->k; c++) {
        const double *of = sums + 3 * c;
        if (of[0] == 0) continue;
        double dx = of[1] / of[0] - mean_x, dy = of[2] / of[0] - mean_y;
        s.B[0] += of[0] * dx * dx, s.B[1] += of[0] * dx * dy, s.B[2] += of[0] * dy * dy;
    }
    return s;
}

/* tr(T^-1 B); where one term determines the other, of the first alone, and 0 where that is constant. */
static double separation(const scatter *s)
{
    double first = s->T[0] > 0 ? s->B[0] / s->T[0] : 0;
    double det = s->T[0] * s->T[2] - s->T[1] * s->T[1];
    if (!(det > 1e-9 * s->T[0] * s->T[2])) return first;
    return (s->T[2] * s->B[0] - 2 * s->T[1] * s->B[1] + s->T[0] * s->B[2]) / det;
}

static bool is_number(const cr_design *d, size_t term)
{
    return term >= d->n_terms || !cri_design_is_indicator(d, term);
}

/* The best term, or the best beside `first`; x has the values of that.  p: there is none.  Of equal ones the first. */
static cr_status best_term(cr_ctx *cx, const cri_rows *rows, const cri_members *m, size_t first,
                           const double *x, double *values, double *sums, size_t *out)
{
    double highest = -1;
    *out = rows->p;
    for (size_t j = 0; j < rows->p; j++) {
        cr_status st = cr_check_interrupt(cx);
        if (st != CR_OK) return st;
        if (j == first || !is_number(rows->design, j)) continue;
        fill_term(rows, j, values);
        scatter at = scatter_of(m, x ? x : values, values, sums);
        double  value = separation(&at);
        if (value > highest + 1e-12) highest = value, *out = j;
    }
    return CR_OK;
}

/* The term that is this column itself. */
static cr_status find_term(cr_ctx *cx, const cr_model *model, const char *column, size_t *out)
{
    const cr_design *d = cr_model_get_design(model);
    size_t           p = cr_design_terms(d), j = 0;
    while (j < p && strcmp(cr_design_term_name(d, j), column) != 0) j++;
    *out = j;
    if (j < p) return CR_OK;
    return cr_fail(cx, CR_EUNSUPPORTED,
                   "the model %s does not see the column '%s' as it is, only functions of it",
                   cr_class_name(cr_model_get_class(model)), column);
}

size_t cri_term_numbers(const cr_design *d)
{
    size_t n = 0;
    for (size_t j = 0; j < cr_design_terms(d); j++) n += is_number(d, j);
    return n;
}

const char *cri_term_title(cr_scratch *s, const cr_design *d, size_t term)
{
    const char *name = cr_design_term_name(d, term);
    for (size_t j = 0; j < cr_design_columns(d); j++) {
        char    origin[CRI_DATE_SIZE];
        cr_type type = cr_design_column_type(d, j);
        if (!cri_is_date(type) || strcmp(cr_design_column_name(d, j), name) != 0) continue;
        cri_date_print(type, cr_design_column_origin(d, j), origin);
        return cri_compose(s, "%s, in days since %s", name, origin);
    }
    return name;
}

static cr_status fail_columns(cr_ctx *cx, const cr_model *model, size_t numbers)
{
    cr_fail(cx, CR_EUNSUPPORTED,
            "clusters are drawn on two columns of numbers, but this %s model has %s",
            cr_class_name(cr_model_get_class(model)), numbers == 0 ? "none" : "only one");
    return cr_fail_hint(cx, "without --kind and --over, the figure that fits is drawn");
}

static cr_status choose_terms(cr_scratch *s, const cr_model *model, const cri_rows *rows,
                              const cri_members *m, const cr_plot_options *o, cri_view *v,
                              size_t term[2])
{
    cr_status st = CR_OK;
    size_t    numbers = cri_term_numbers(rows->design);
    double   *values = cr_scratch_f64(s, m->n), *sums = cr_scratch_f64(s, 3 * m->k);
    CR_TRY(s->status);
    if (numbers < 2) CR_TRY(fail_columns(s->cx, model, numbers));
    if (o->n_over) {
        CR_TRY(cri_grid_over(s->cx, model, o, 2));
        for (size_t k = 0; k < 2; k++) CR_TRY(find_term(s->cx, model, o->over[k], &term[k]));
    } else {
        CR_TRY(best_term(s->cx, rows, m, rows->p, NULL, values, sums, &term[0]));
        fill_term(rows, term[0], v->at[0]);
        CR_TRY(best_term(s->cx, rows, m, term[0], v->at[0], values, sums, &term[1]));
    }
done:
    return st;
}

cr_status cri_view_columns(cr_scratch *s, const cr_model *model, const cr_table *table,
                           const cri_members *m, const cr_plot_options *o, cri_view *out)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(model);
    size_t           p = cr_design_terms(d), term[2] = { 0, 0 };
    cri_rows         rows = { 0 };
    cri_view         v = { .at = { cr_scratch_f64(s, m->n), cr_scratch_f64(s, m->n) } };

    v.P = cr_scratch_bytes(s, 2 * p, sizeof *v.P);
    CR_TRY(s->status);
    CR_TRY(cri_rows_open(s->cx, d, table, CRI_INPUTS_ALONE, &rows));
    CR_TRY(choose_terms(s, model, &rows, m, o, &v, term));
    for (size_t k = 0; k < 2; k++) {
        fill_term(&rows, term[k], v.at[k]);
        v.title[k] = cri_term_title(s, d, term[k]);
        v.P[k * p + term[k]] = 1;
    }
    v.name = cri_compose(s, "%s and %s", cr_design_term_name(d, term[0]),
                         cr_design_term_name(d, term[1]));
    CR_TRY(s->status);
    *out = v;
done:
    cri_rows_close(s->cx, &rows);
    return st;
}

/* --- two principal components ---------------------------------------------------------------- */

/* What the rows with all cells are like. */
typedef struct moments {
    size_t  n;
    double *mean, *sd, *C; /* [p], [p], [p x p] correlations */
} moments;

/* Rows [begin, end) into X, those with a missing cell as 0; the number of the others. */
static size_t fill_whole(const cri_rows *rows, size_t begin, size_t end, double *X)
{
    size_t p = rows->p, whole = 0;
    cri_rows_fill(rows, begin, end, X, p);
    for (size_t i = 0; i < end - begin; i++) {
        bool all = true;
        for (size_t j = 0; j < p; j++) all = all && isfinite(X[i * p + j]);
        whole += all;
        if (!all) X[i * p] = NAN;
    }
    return whole;
}

/* Turns rows into standardised ones, and those that are not whole into zeros. */
static void standardise(const moments *m, double *X, size_t n, size_t p)
{
    for (size_t i = 0; i < n; i++) {
        bool whole = !isnan(X[i * p]);
        for (size_t j = 0; j < p; j++)
            X[i * p + j] = whole && m->sd[j] > 0 ? (X[i * p + j] - m->mean[j]) / m->sd[j] : 0;
    }
}

/* Means, sds and correlations in three passes over blocks of rows; X [BLOCK x p] is workspace. */
static cr_status gather_moments(cr_ctx *cx, const cri_rows *rows, double *X, moments *m)
{
    cr_status st = CR_OK;
    size_t    p = rows->p;
    memset(m->mean, 0, p * sizeof(double));
    memset(m->sd, 0, p * sizeof(double));
    for (int pass = 0; pass < 3; pass++) {
        for (size_t at = 0, end; at < rows->n; at = end) {
            end = at + BLOCK < rows->n ? at + BLOCK : rows->n;
            CR_TRY(cr_check_interrupt(cx));
            size_t whole = fill_whole(rows, at, end, X), n = end - at;
            if (pass == 0) m->n += whole;
            if (pass == 2) {
                standardise(m, X, n, p);
                CR_TRY(cr_gemm(cx, 1, cr_cmat_of(X, n, p), CR_TRANSPOSED, cr_cmat_of(X, n, p),
                               CR_PLAIN, at > 0, cr_mat_of(m->C, p, p)));
                continue;
            }
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < p && !isnan(X[i * p]); j++) {
                    double dx = X[i * p + j] - m->mean[j];
                    if (pass == 0)
                        m->mean[j] += X[i * p + j];
                    else
                        m->sd[j] += dx * dx;
                }
        }
        if (m->n < 2)
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "principal components need at least two rows without missing cells"));
        for (size_t j = 0; j < p && pass == 0; j++) m->mean[j] /= (double)m->n;
        for (size_t j = 0; j < p && pass == 1; j++) {
            m->sd[j] = sqrt(m->sd[j] / (double)(m->n - 1));
            if (!(m->sd[j] > 1e-12 * fabs(m->mean[j])) || !isfinite(m->sd[j])) m->sd[j] = 0;
        }
    }
    for (size_t i = 0; i < p * p; i++) m->C[i] /= (double)(m->n - 1);
done:
    return st;
}

/* P, origin and titles from the two largest eigenvalues; in the units of the data. */
static cr_status set_components(cr_scratch *s, const cr_design *d, const moments *m, cri_view *v)
{
    cr_status st = CR_OK;
    size_t    p = cr_design_terms(d);
    double   *lambda = cr_scratch_f64(s, p), *V = cr_scratch_matrix(s, p, p), total = 0;
    CR_TRY(s->status);
    CR_TRY(cr_eigen(s->cx, cr_cmat_of(m->C, p, p), lambda, cr_mat_of(V, p, p)));
    for (size_t j = 0; j < p; j++) total += m->C[j * (p + 1)];
    for (size_t k = 0; k < 2; k++) {
        v->origin[k] = 0;
        for (size_t j = 0; j < p; j++) {
            double of = m->sd[j] > 0 ? V[j * p + p - 1 - k] / m->sd[j] : 0;
            v->P[k * p + j] = of / cr_design_scale(d)[j];
            v->origin[k] += of * (m->mean[j] + cr_design_shift(d)[j] / cr_design_scale(d)[j]);
        }
        v->title[k] =
            cri_compose(s, "%s principal component (%.0f %% of the variance)",
                        k ? "second" : "first", total > 0 ? 100 * lambda[p - 1 - k] / total : 0);
    }
done:
    return st;
}

cr_status cri_view_components(cr_scratch *s, const cr_model *model, const cr_table *table,
                              cri_view *out)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(model);
    size_t           p = cr_design_terms(d), n = cr_table_rows(table);
    cri_rows         rows = { 0 };
    cri_view         v = { .at = { cr_scratch_f64(s, n), cr_scratch_f64(s, n) },
                           .P = cr_scratch_matrix(s, 2, p),
                           .equal = true,
                           .name = "two principal components" };
    moments          m = { .mean = cr_scratch_f64(s, p),
                           .sd = cr_scratch_f64(s, p),
                           .C = cr_scratch_matrix(s, p, p) };
    double          *X = cr_scratch_matrix(s, BLOCK, p);

    CR_TRY(s->status);
    if (p < 2) CR_TRY(fail_columns(s->cx, model, p));
    CR_TRY(cri_rows_open(s->cx, d, table, CRI_INPUTS_ALONE, &rows));
    CR_TRY(gather_moments(s->cx, &rows, X, &m));
    CR_TRY(set_components(s, d, &m, &v));
    for (size_t at = 0, end; at < rows.n; at = end) {
        end = at + BLOCK < rows.n ? at + BLOCK : rows.n;
        fill_whole(&rows, at, end, X);
        for (size_t i = at; i < end; i++)
            for (size_t k = 0; k < 2; k++) {
                double sum = -v.origin[k];
                for (size_t j = 0; j < p; j++)
                    sum += v.P[k * p + j] *
                           (cr_design_shift(d)[j] + cr_design_scale(d)[j] * X[(i - at) * p + j]);
                v.at[k][i] = sum; /* NaN where a cell is missing */
            }
    }
    for (size_t k = 0; k < 2; k++) cri_rows_spread(&rows, 1, v.at[k]);
    *out = v;
done:
    cri_rows_close(s->cx, &rows);
    return st;
}
