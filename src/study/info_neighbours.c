/* info_neighbours.c -- entropies and mutual information by nearest neighbours.
 * Rows are neighbours only when they agree in the counted variables: each cell is searched by
 * itself, which makes one set of formulas serve numbers alone and numbers with categories. */
#include "info_internal.h"
#include "math/neighbours.h"
#include "math/special/special.h"

#include <math.h>

/* --- cells of rows --------------------------------------------------------------------------- */

/* The rows cell by cell, and the measured variables of a set. */
typedef struct strata {
    const cri_variables *vs;
    unsigned             set;
    size_t               d, cells, *order, *begin;
    double              *X; /* [largest cell x d]: the numbers of the cell in hand */
} strata;

static cr_status make_strata(cr_scratch *s, const cri_variables *vs, unsigned set, strata *out)
{
    cr_status st = CR_OK;
    strata    t = { .vs = vs, .set = set, .d = cri_measured(vs, set) };
    cri_cells cells;
    size_t    largest = 0;
    CR_TRY(cri_cells_of(s, vs, set, &cells));
    t.cells = cells.cells;
    t.order = cr_scratch_index(s, vs->n);
    t.begin = cr_scratch_index(s, cells.cells + 1);
    CR_TRY(s->status);
    cri_cells_sort(&cells, vs->n, t.order, t.begin);
    for (size_t c = 0; c < t.cells; c++)
        if (t.begin[c + 1] - t.begin[c] > largest) largest = t.begin[c + 1] - t.begin[c];
    t.X = cr_scratch_matrix(s, largest, t.d);
    CR_TRY(s->status);
    *out = t;
done:
    return st;
}

/* The points of a cell, to be searched. */
static cr_status gather(cr_ctx *cx, const strata *t, size_t cell, cr_neighbours **out)
{
    const size_t *row = t->order + t->begin[cell];
    size_t        n = t->begin[cell + 1] - t->begin[cell], k = 0;
    for (size_t j = 0; j < t->vs->m; j++) {
        const cri_variable *v = &t->vs->v[j];
        if (!(v->role & t->set) || v->counted) continue;
        for (size_t i = 0; i < n; i++) t->X[i * t->d + k] = v->x[row[i]];
        k++;
    }
    return cr_neighbours_new(cx, cr_cmat_of(t->X, n, t->d), CR_NORM_MAX, out);
}

/* --- distances and counts -------------------------------------------------------------------- */

/* radius[i]: from row i to its k-th neighbour in its cell, or the last one where there are fewer;
 * used[i]: which one that was, 0 for a row alone. */
static cr_status find_radii(cr_ctx *cx, const cri_variables *vs, unsigned set, size_t k,
                            double *radius, size_t *used)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cr_neighbours *nb = NULL;
    strata         t;
    size_t        *index = cr_scratch_index(&s, vs->n * k);
    double        *at = cr_scratch_f64(&s, vs->n * k);
    CR_TRY(s.status);
    CR_TRY(make_strata(&s, vs, set, &t));
    for (size_t c = 0; c < t.cells; c++) {
        const size_t *row = t.order + t.begin[c];
        size_t        n = t.begin[c + 1] - t.begin[c], kc = n - 1 < k ? n - 1 : k;
        if (kc > 0) {
            CR_TRY(gather(cx, &t, c, &nb));
            CR_TRY(cr_neighbours_nearest(cx, nb, NULL, kc, index, at));
            cr_neighbours_free(cx, nb);
            nb = NULL;
        }
        for (size_t i = 0; i < n; i++) {
            used[row[i]] = kc;
            radius[row[i]] = kc > 0 ? at[i * kc + kc - 1] : NAN;
        }
    }
done:
    cr_neighbours_free(cx, nb);
    cr_scratch_end(&s);
    return st;
}

/* The search of the only variable of a set, where it is made already. */
static const cr_neighbours *ready_line(const cri_variables *vs, unsigned set)
{
    const cr_neighbours *line = NULL;
    for (size_t j = 0, members = 0; j < vs->m; j++) {
        if (!(vs->v[j].role & set)) continue;
        if (members++ > 0) return NULL;
        line = vs->v[j].opt_line;
    }
    return line;
}

/* count[i]: other rows of the cell of row i that are nearer than radius[i]; where nothing is
 * measured, all others. */
static cr_status count_within(cr_ctx *cx, const cri_variables *vs, unsigned set,
                              const double *radius, size_t *count)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    cr_neighbours       *nb = NULL;
    strata               t;
    const cr_neighbours *line = ready_line(vs, set);
    if (line) return cr_neighbours_count(cx, line, NULL, radius, false, count);
    double *r = cr_scratch_f64(&s, vs->n);
    size_t *within = cr_scratch_index(&s, vs->n);
    CR_TRY(s.status);
    CR_TRY(make_strata(&s, vs, set, &t));
    for (size_t c = 0; c < t.cells; c++) {
        const size_t *row = t.order + t.begin[c];
        size_t        n = t.begin[c + 1] - t.begin[c];
        for (size_t i = 0; i < n; i++) r[i] = radius[row[i]], within[i] = n - 1;
        if (t.d > 0) {
            CR_TRY(gather(cx, &t, c, &nb));
            CR_TRY(cr_neighbours_count(cx, nb, NULL, r, false, within));
            cr_neighbours_free(cx, nb);
            nb = NULL;
        }
        for (size_t i = 0; i < n; i++) count[row[i]] = within[i];
    }
done:
    cr_neighbours_free(cx, nb);
    cr_scratch_end(&s);
    return st;
}

/* --- entropy --------------------------------------------------------------------------------- */

static cr_status too_few(cr_ctx *cx, const cri_variables *vs, size_t k)
{
    cr_fail(cx, CR_EDATA, "%zu row%s with values: neighbour %zu needs at least %zu", vs->n,
            vs->n == 1 ? "" : "s", k, k + 1);
    if (vs->dropped) cr_fail_note(cx, "%zu rows have missing values", vs->dropped);
    return CR_EDATA;
}

/* The cell sizes seen from each row. */
static cr_status size_cells(cr_ctx *cx, const cri_variables *vs, unsigned set, size_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    strata     t;
    CR_TRY(make_strata(&s, vs, set, &t));
    for (size_t c = 0; c < t.cells; c++)
        for (size_t i = t.begin[c]; i < t.begin[c + 1]; i++)
            out[t.order[i]] = t.begin[c + 1] - t.begin[c];
done:
    cr_scratch_end(&s);
    return st;
}

/* Kozachenko-Leonenko in a cell of N rows: the ball of radius e around a row, of volume (2e)^d, has
 * probability exp(psi(k) - psi(N)) on the logarithmic average. */
cr_status cri_local_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set, size_t k,
                            double *opt_h, double *out_mean, size_t *out_alone)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *radius = cr_scratch_f64(&s, vs->n), scale = 0, sum = 0;
    size_t    *used = cr_scratch_index(&s, vs->n), *size = cr_scratch_index(&s, vs->n), alone = 0;
    double     d = (double)cri_measured(vs, set);
    CR_TRY(s.status);
    if (vs->n <= k) CR_TRY(too_few(cx, vs, k));
    CR_TRY(find_radii(cx, vs, set, k, radius, used));
    CR_TRY(size_cells(cx, vs, set, size));
    for (size_t j = 0; j < vs->m; j++)
        if (vs->v[j].role & set && !vs->v[j].counted) scale += vs->v[j].log_scale;
    for (size_t i = 0; i < vs->n; i++) {
        if (used[i] > 0 && !(radius[i] > 0))
            CR_TRY(cr_fail(cx, CR_ENUMERIC,
                           "row %zu is the same as %zu others to the last digit: "
                           "there is no density",
                           vs->row[i] + 1, k));
        double h = used[i] == 0 ? NAN
                                : cr_digamma((double)size[i]) - cr_digamma((double)used[i]) +
                                      d * log(2 * radius[i]) + scale;
        alone += used[i] == 0;
        if (opt_h) opt_h[i] = h;
        if (used[i] > 0) sum += h;
    }
    if (alone == vs->n)
        CR_TRY(cr_fail(cx, CR_EDATA, "no two rows agree in the categories: there is no density"));
    *out_mean = sum / (double)(vs->n - alone);
    *out_alone = alone;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_mixed_entropy(cr_ctx *cx, const cri_variables *vs, unsigned set,
                            const cr_info_options *o, double *out, size_t *out_alone)
{
    cr_status st = CR_OK;
    double    counted = 0, measured = 0;
    *out_alone = 0;
    CR_TRY(cri_counts_entropy(cx, vs, set, (cr_info_estimator)o->estimator, &counted));
    if (cri_measured(vs, set) > 0)
        CR_TRY(cri_local_entropy(cx, vs, set, o->neighbours, NULL, &measured, out_alone));
    *out = counted + measured;
done:
    return st;
}

/* --- mutual information ---------------------------------------------------------------------- */

/* I = < psi(k) + psi(n_z + 1) - psi(n_az + 1) - psi(n_bz + 1) >, n.: rows nearer than the k-th
 * neighbour among all variables.  Without z, n_z + 1 = N: estimator 1 of Kraskov et al., eq. (8).
 */
cr_status cri_neighbours_mutual(cr_ctx *cx, const cri_variables *vs, size_t k, double *out,
                                size_t *out_alone)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *radius = cr_scratch_f64(&s, vs->n), sum = 0;
    size_t    *used = cr_scratch_index(&s, vs->n), *a = cr_scratch_index(&s, vs->n);
    size_t    *b = cr_scratch_index(&s, vs->n), *z = cr_scratch_index(&s, vs->n), alone = 0;
    CR_TRY(s.status);
    if (vs->n <= k) CR_TRY(too_few(cx, vs, k));
    CR_TRY(find_radii(cx, vs, CRI_A | CRI_B | CRI_GIVEN, k, radius, used));
    CR_TRY(count_within(cx, vs, CRI_A | CRI_GIVEN, radius, a));
    CR_TRY(count_within(cx, vs, CRI_B | CRI_GIVEN, radius, b));
    CR_TRY(count_within(cx, vs, CRI_GIVEN, radius, z));
    for (size_t i = 0; i < vs->n; i++) {
        alone += used[i] == 0;
        if (used[i] > 0)
            sum += cr_digamma((double)used[i]) + cr_digamma((double)z[i] + 1) -
                   cr_digamma((double)a[i] + 1) - cr_digamma((double)b[i] + 1);
    }
    if (alone == vs->n)
        CR_TRY(cr_fail(cx, CR_EDATA, "no two rows agree in the categories: nothing is near"));
    *out = sum / (double)(vs->n - alone);
    *out_alone = alone;
done:
    cr_scratch_end(&s);
    return st;
}
