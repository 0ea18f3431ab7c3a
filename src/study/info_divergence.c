/* info_divergence.c -- how one table differs from another in the same columns.
 * Both are put together, first the rows of a, then those of b: cells, scales and resolutions are
 * common to both. */
#include "info.h"
#include "info_internal.h"
#include "base/sort.h"
#include "math/neighbours.h"
#include "math/special/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cri_span endless = { 0, INFINITY }; /* what a divergence can be */

/* --- both tables together -------------------------------------------------------------------- */

typedef struct pooled {
    cri_variables vs; /* row[i]: i, so that parts know from which table a row is */
    size_t        n[2], dropped[2], shared;
} pooled;

typedef struct pair {
    const cr_column *c[2];
} pair;

static bool has_values(const pair *columns, size_t m, size_t side, size_t row)
{
    for (size_t j = 0; j < m; j++) {
        const cr_column *c = columns[j].c[side];
        if (c->type == CR_CATEGORY ? c->codes[row] == CR_MISSING_CODE
                                   : isnan(c->values[row * c->stride]))
            return false;
    }
    return true;
}

/* The rows of both that have all values: place [rows of a + rows of b]. */
static void keep_rows(const cr_table *const t[2], const pair *columns, size_t m, size_t *place,
                      pooled *out)
{
    for (size_t side = 0, k = 0; side < 2; side++) {
        for (size_t i = 0; i < cr_table_rows(t[side]); i++)
            if (has_values(columns, m, side, i)) place[k++] = i, out->n[side]++;
        out->dropped[side] = cr_table_rows(t[side]) - out->n[side];
    }
    out->vs.n = out->n[0] + out->n[1];
}

/* The levels of both, in order, and where each level of either stands there. */
static size_t merge_levels(const pair *p, uint32_t *const to[2])
{
    size_t i = 0, j = 0, k = 0;
    for (; i < p->c[0]->n_levels || j < p->c[1]->n_levels; k++) {
        int order = i == p->c[0]->n_levels   ? 1
                    : j == p->c[1]->n_levels ? -1
                                             : strcmp(p->c[0]->levels[i], p->c[1]->levels[j]);
        if (order <= 0) to[0][i++] = (uint32_t)k;
        if (order >= 0) to[1][j++] = (uint32_t)k;
    }
    return k;
}

static cr_status pool_levels(cr_scratch *s, const pair *p, const size_t *place, const pooled *all,
                             cri_variable *v)
{
    uint32_t *to[2];
    for (size_t side = 0; side < 2; side++)
        to[side] = cr_scratch_bytes(s, p->c[side]->n_levels, sizeof *to[side]);
    v->code = cr_scratch_bytes(s, all->vs.n, sizeof *v->code);
    if (s->status != CR_OK) return s->status;
    v->levels = merge_levels(p, to);
    for (size_t i = 0; i < all->vs.n; i++) {
        size_t side = i >= all->n[0];
        v->code[i] = to[side][p->c[side]->codes[place[i]]];
    }
    return CR_OK;
}

/* Numbers that are counted: the code is the rank among the different values. */
static void code_numbers(const double *x, size_t n, double *workspace, cri_variable *v)
{
    v->levels = 0;
    memcpy(workspace, x, n * sizeof *x);
    cri_sort_doubles(workspace, n);
    for (size_t i = 0; i < n; i++)
        if (v->levels == 0 || workspace[i] != workspace[v->levels - 1])
            workspace[v->levels++] = workspace[i];
    for (size_t i = 0; i < n; i++) {
        const double *at =
            bsearch(&x[i], workspace, v->levels, sizeof *workspace, cri_compare_doubles);
        v->code[i] = (uint32_t)(at - workspace);
    }
}

/* How many values of b stand in a as well, though no value repeats in a or in b; all of them when
 * the tables are the same row by row. */
static size_t count_shared(const double *x, const pooled *all, double *workspace)
{
    size_t  na = all->n[0], nb = all->n[1], shared = 0;
    double *more = workspace + all->vs.n;
    if (na == nb && memcmp(x, x + na, na * sizeof *x) == 0) return na;
    memcpy(workspace, x, all->vs.n * sizeof *x);
    if (!isnan(cri_resolution(workspace, na, NULL, more)) ||
        !isnan(cri_resolution(workspace + na, nb, NULL, more)))
        return 0;
    for (size_t i = 0; i < nb; i++)
        shared += bsearch(&workspace[na + i], workspace, na, sizeof *workspace,
                          cri_compare_doubles) != NULL;
    return shared;
}

static cr_status standardise(cr_ctx *cx, double *x, size_t n, double *workspace, cr_rng r,
                             cri_variable *v)
{
    double mean = 0, square = 0, origin = 0;
    memcpy(workspace, x, n * sizeof *x);
    v->resolution = cri_resolution(workspace, n, &origin, workspace + n);
    double width = workspace[n - 1] - workspace[0];
    if (!(width > 0))
        return cr_fail(cx, CR_EDATA, "column '%s' is constant: it has no density", v->name);
    for (size_t i = 0; !isnan(v->resolution) && i < n; i++)
        x[i] +=
            cri_rounding(workspace, n, v->resolution, origin, x[i]) * (cr_rng_uniform(&r) - 0.5);
    for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) / width * ((x[i] - mean) / width);
    double sd = width * sqrt(square / (double)n);
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - mean) / sd;
    v->log_scale = log(sd);
    v->x = x;
    return CR_OK;
}

static cr_status pool_numbers(cr_scratch *s, const pair *p, const size_t *place, cr_rng r,
                              pooled *all, cri_variable *v)
{
    size_t  n = all->vs.n;
    double *x = cr_scratch_f64(s, n), *workspace = cr_scratch_f64(s, 2 * n);
    if (v->counted) v->code = cr_scratch_bytes(s, n, sizeof *v->code);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) {
        const cr_column *c = p->c[i >= all->n[0]];
        x[i] = c->values[place[i] * c->stride];
    }
    if (v->counted) return code_numbers(x, n, workspace, v), CR_OK;
    size_t shared = count_shared(x, all, workspace);
    if (shared > all->shared) all->shared = shared;
    return standardise(s->cx, x, n, workspace, r, v);
}

static cr_status find_pair(cr_ctx *cx, const cr_table *const t[2], const char *name, pair *out,
                           bool *out_counted)
{
    cr_status st = CR_OK;
    bool      counted[2] = { false, false };
    for (size_t side = 0; side < 2; side++) {
        CR_TRY(cri_info_column(cx, t[side], name, &out->c[side]));
        CR_TRY(cri_is_counted(cx, out->c[side], cr_table_rows(t[side]), &counted[side]));
    }
    if ((out->c[0]->type == CR_CATEGORY) != (out->c[1]->type == CR_CATEGORY)) {
        cr_fail(cx, CR_EDATA, "column '%s' is %s in %s and %s in %s", name,
                cr_type_name(out->c[0]->type), cr_table_source(t[0]), cr_type_name(out->c[1]->type),
                cr_table_source(t[1]));
        CR_TRY(cr_fail_hint(cx, "--category %s treats it as a category in both", name));
    }
    *out_counted = counted[0] && counted[1];
done:
    return st;
}

static cr_status pool(cr_scratch *s, const cr_table *const t[2], const char *const *names, size_t m,
                      uint64_t seed, pooled *out)
{
    cr_status st = CR_OK;
    pooled    all = { .vs.m = m };
    pair     *columns = cr_scratch_bytes(s, m, sizeof *columns);
    size_t   *place = cr_scratch_index(s, cr_table_rows(t[0]) + cr_table_rows(t[1]));
    all.vs.v = cr_scratch_bytes(s, m, sizeof *all.vs.v);
    CR_TRY(s->status);
    for (size_t j = 0; j < m; j++) {
        all.vs.v[j] = (cri_variable){ .name = names[j], .role = CRI_B, .resolution = NAN };
        CR_TRY(find_pair(s->cx, t, names[j], &columns[j], &all.vs.v[j].counted));
        for (size_t i = 0; i < j; i++)
            if (columns[i].c[0] == columns[j].c[0])
                CR_TRY(cr_fail(s->cx, CR_EARG, "column '%s' is named twice", names[j]));
    }
    keep_rows(t, columns, m, place, &all);
    for (size_t side = 0; side < 2; side++)
        if (all.n[side] == 0)
            CR_TRY(cr_fail(s->cx, CR_EDATA, "no row of %s has %s'%s'", cr_table_source(t[side]),
                           m > 1 ? "all values of the columns from " : "a value in ", names[0]));
    all.vs.row = cr_scratch_index(s, all.vs.n);
    CR_TRY(s->status);
    for (size_t i = 0; i < all.vs.n; i++) all.vs.row[i] = i;
    for (size_t j = 0; j < m; j++)
        if (columns[j].c[0]->type == CR_CATEGORY)
            CR_TRY(pool_levels(s, &columns[j], place, &all, &all.vs.v[j]));
        else
            CR_TRY(pool_numbers(s, &columns[j], place, cri_info_rng(seed, CRI_STREAM_SPREAD, j),
                                &all, &all.vs.v[j]));
    *out = all;
done:
    return st;
}

/* --- counts ---------------------------------------------------------------------------------- */

/* Shares of the cells, `more` added to each count. */
static void take_shares(const uint64_t *count, size_t cells, double more, double *out)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++) sum += out[i] = (double)count[i] + more;
    for (size_t i = 0; i < cells; i++) out[i] /= sum;
}

/* Standard error in large samples: each row of a adds log(p / q), each of b subtracts p / q. */
static double kl_error(const double *p, const double *q, size_t cells, const size_t n[2])
{
    double mean = 0, square[2] = { 0, 0 };
    for (size_t i = 0; i < cells; i++)
        if (p[i] > 0) mean += p[i] * log(p[i] / q[i]);
    for (size_t i = 0; i < cells; i++) {
        if (p[i] > 0) square[0] += p[i] * pow(log(p[i] / q[i]) - mean, 2);
        if (q[i] > 0) square[1] += q[i] * pow(p[i] / q[i] - 1, 2);
    }
    return sqrt(square[0] / (double)n[0] + square[1] / (double)n[1]);
}

/* No interval when a draw lacks a value of the first table, so that its divergence is infinite. */
static cr_status bootstrap_kl(cr_ctx *cx, uint64_t *const count[2], const size_t n[2], size_t cells,
                              const cr_info_options *o, uint64_t seed, double se,
                              cr_divergence *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *error = cr_scratch_f64(&s, o->bootstrap), *ses = cr_scratch_f64(&s, o->bootstrap);
    double    *share[2], *drawn[2];
    uint64_t  *draw = cr_scratch_bytes(&s, cells, sizeof *draw);
    for (size_t side = 0; side < 2; side++) {
        share[side] = cr_scratch_f64(&s, cells);
        drawn[side] = cr_scratch_f64(&s, cells);
    }
    CR_TRY(s.status);
    for (size_t side = 0; side < 2; side++) take_shares(count[side], cells, 0, share[side]);
    for (size_t t = 0; t < o->bootstrap; t++) {
        cr_rng r = cri_info_rng(seed, CRI_STREAM_DRAWS, t);
        for (size_t side = 0; side < 2; side++) {
            cr_rng_multinomial(&r, n[side], share[side], cells, draw);
            take_shares(draw, cells, o->smoothing, drawn[side]);
        }
        error[t] = cr_info_kl(drawn[0], drawn[1], cells) - out->kl;
        if (isinf(error[t])) goto done;
        ses[t] = kl_error(drawn[0], drawn[1], cells, n);
        CR_TRY(cr_check_interrupt(cx));
    }
    cri_bootstrap_interval(out->kl, se, error, ses, o->bootstrap, o->level, endless, &out->se,
                           &out->lower, &out->upper);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status compare_counts(cr_ctx *cx, const pooled *all, const cr_info_options *o,
                                uint64_t seed, cr_divergence *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_cells  c;
    uint64_t  *count[2];
    double    *p, *q;
    CR_TRY(cri_cells_of(&s, &all->vs, CRI_B, &c));
    for (size_t side = 0; side < 2; side++)
        count[side] = cr_scratch_bytes(&s, c.cells, sizeof *count[side]);
    p = cr_scratch_f64(&s, c.cells);
    q = cr_scratch_f64(&s, c.cells);
    CR_TRY(s.status);
    for (size_t i = 0; i < all->vs.n; i++) count[i >= all->n[0]][c.of[i]]++;
    take_shares(count[0], c.cells, o->smoothing, p);
    take_shares(count[1], c.cells, o->smoothing, q);
    out->entropy = cr_info_entropy(p, c.cells);
    out->cross_entropy = cr_info_cross_entropy(p, q, c.cells);
    out->kl = cr_info_kl(p, q, c.cells);
    out->js = cr_info_js(p, q, c.cells);
    if (o->bootstrap > 0 && isfinite(out->kl))
        CR_TRY(bootstrap_kl(cx, count, all->n, c.cells, o, seed, kl_error(p, q, c.cells, all->n),
                            out));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- neighbours ------------------------------------------------------------------------------ */

typedef struct measured_arg {
    size_t first; /* rows below it are of table a */
    size_t k;
} measured_arg;

/* Mean of log(2 r) over distances r [n x k] to the k-th neighbour. */
static cr_status mean_log(cr_ctx *cx, const double *at, size_t n, size_t k, double *out)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double r = at[i * k + k - 1];
        if (!(r > 0))
            return cr_fail(cx, CR_ENUMERIC,
                           "%zu rows are the same to the last digit: there is no "
                           "density",
                           k + 1);
        sum += log(2 * r);
    }
    *out = sum / (double)n;
    return CR_OK;
}

/* The numbers of the rows of either table: X [rows x m] in two parts. */
static size_t gather(const cri_variables *vs, size_t first, double *X)
{
    size_t na = 0, at[2] = { 0, 0 };
    for (size_t i = 0; i < vs->n; i++) na += vs->row[i] < first;
    at[1] = na;
    for (size_t i = 0; i < vs->n; i++) {
        double *x = X + at[vs->row[i] >= first]++ * vs->m;
        for (size_t j = 0; j < vs->m; j++) x[j] = vs->v[j].x[i];
    }
    return na;
}

/* Entropy of a, and cross-entropy of a coded for b. */
static cr_status measure_both(cr_ctx *cx, const cri_variables *vs, const measured_arg *arg,
                              double *out_entropy, double *out_cross)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cr_neighbours *nb[2] = { NULL, NULL };
    size_t         k = arg->k, *index = cr_scratch_index(&s, vs->n * k);
    double        *X = cr_scratch_matrix(&s, vs->n, vs->m), *at = cr_scratch_f64(&s, vs->n * k);
    double         own = 0, other = 0, scale = 0, d = (double)vs->m;
    CR_TRY(s.status);
    size_t  na = gather(vs, arg->first, X), n_b = vs->n - na;
    cr_cmat A = cr_cmat_of(X, na, vs->m), B = cr_cmat_of(X + na * vs->m, n_b, vs->m);
    if (na <= k || n_b < k)
        CR_TRY(cr_fail(cx, CR_EDATA, "%zu rows against %zu: neighbour %zu needs at least %zu", na,
                       n_b, k, k + 1));
    CR_TRY(cr_neighbours_new(cx, A, CR_NORM_MAX, &nb[0]));
    CR_TRY(cr_neighbours_new(cx, B, CR_NORM_MAX, &nb[1]));
    CR_TRY(cr_neighbours_nearest(cx, nb[0], NULL, k, index, at));
    CR_TRY(mean_log(cx, at, na, k, &own));
    CR_TRY(cr_neighbours_nearest(cx, nb[1], &A, k, index, at));
    CR_TRY(mean_log(cx, at, na, k, &other));
    for (size_t j = 0; j < vs->m; j++) scale += vs->v[j].log_scale;
    *out_entropy = d * own + scale + cr_digamma((double)na) - cr_digamma((double)k);
    *out_cross = d * other + scale + cr_digamma((double)n_b + 1) - cr_digamma((double)k);
done:
    cr_neighbours_free(cx, nb[0]);
    cr_neighbours_free(cx, nb[1]);
    cr_scratch_end(&s);
    return st;
}

static cr_status kl_value(cr_ctx *cx, const cri_variables *vs, const void *arg, double *out)
{
    double    entropy = 0, cross = 0;
    cr_status st = measure_both(cx, vs, arg, &entropy, &cross);
    if (st == CR_OK) *out = cross - entropy;
    return st;
}

/* Jensen-Shannon is what the numbers tell of the table they come from, when as many rows come from
 * each: of the longer one, a random choice. */
static cr_status measure_js(cr_ctx *cx, const pooled *all, size_t k, uint64_t seed, double *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = all->n[0] < all->n[1] ? all->n[0] : all->n[1], alone;
    size_t       *keep = cr_scratch_index(&s, 2 * n);
    cri_variables with = all->vs, even;
    cri_variable *v = cr_scratch_bytes(&s, all->vs.m + 1, sizeof *v);
    uint32_t     *table = cr_scratch_bytes(&s, all->vs.n, sizeof *table);
    CR_TRY(s.status);
    for (size_t side = 0; side < 2; side++) {
        cr_rng r = cri_info_rng(seed, CRI_STREAM_EVEN, side);
        cr_rng_choose(&r, all->n[side], n, keep + side * n);
        for (size_t i = 0; i < n; i++) keep[side * n + i] += side * all->n[0];
    }
    for (size_t i = all->n[0]; i < all->vs.n; i++) table[i] = 1;
    memcpy(v, all->vs.v, all->vs.m * sizeof *v);
    v[all->vs.m] = (cri_variable){ .role = CRI_A, .counted = true, .levels = 2, .code = table };
    with.v = v;
    with.m++;
    CR_TRY(cri_variables_some(&s, &with, keep, 2 * n, &even));
    CR_TRY(cri_neighbours_mutual(cx, &even, k, out, &alone));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status compare_measured(cr_ctx *cx, const pooled *all, const cr_info_options *o,
                                  uint64_t seed, cr_divergence *out)
{
    cr_status    st = CR_OK;
    measured_arg arg = { all->n[0], o->neighbours };
    CR_TRY(measure_both(cx, &all->vs, &arg, &out->entropy, &out->cross_entropy));
    out->kl =
        fmax(out->cross_entropy - out->entropy, 0); /* the estimate may be below, not the truth */
    CR_TRY(measure_js(cx, all, o->neighbours, seed, &out->js));
    out->js = fmax(out->js, 0);
    if (o->bootstrap > 0) {
        CR_TRY(cri_parts_error(cx, &all->vs, kl_value, &arg, out->cross_entropy - out->entropy, o,
                               seed, &out->se));
        cri_normal_interval(out->kl, out->se, o->level, endless, &out->lower, &out->upper);
    }
done:
    return st;
}

/* --- the whole ------------------------------------------------------------------------------- */

cr_status cr_table_divergence(cr_ctx *cx, const cr_table *a, const cr_table *b,
                              const char *const *columns, size_t n, const cr_info_options *options,
                              uint64_t seed, cr_divergence *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cr_table *const t[2] = { a, b };
    pooled                all;
    if (n == 0) CR_TRY(cr_fail(cx, CR_EARG, "divergence: no column is named"));
    CR_TRY(pool(&s, t, columns, n, seed, &all));
    size_t        d = cri_measured(&all.vs, CRI_B);
    cr_divergence got = { .rows = { all.n[0], all.n[1] },
                          .dropped = { all.dropped[0], all.dropped[1] },
                          .counted = d == 0,
                          .shared = all.shared,
                          .se = NAN,
                          .lower = NAN,
                          .upper = NAN };
    if (d > 0 && d < n) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "divergence: numbers and categories cannot be compared together");
        CR_TRY(cr_fail_hint(cx, "name numbers only, or categories only"));
    }
    CR_TRY(d == 0 ? compare_counts(cx, &all, options, seed, &got)
                  : compare_measured(cx, &all, options, seed, &got));
    *out = got;
done:
    cr_scratch_end(&s);
    return st;
}
