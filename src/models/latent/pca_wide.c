/* pca_wide.c -- principal components of more columns than p x p products are made of: from the rows themselves.
 *   dual:    K = Z Z' / (W - 1) = sum_j lambda_j u_j u_j'   [n x n],   v_j = Z' u_j / |Z' u_j|
 *   krylov:  block Lanczos (math/sparse/lanczos.h) on K or on C = Z'Z / (W - 1), whichever is smaller, and then v_j of
 *            C with lambda_j = v_j . C v_j and the residual C v_j - lambda_j v_j, from one more product
 * The dual has all eigenvalues that are not 0; krylov has the first of them, and the exact sum of all, the trace. */
#include "pca.h"
#include "centred.h"
#include "components.h"
#include "base/parallel.h"
#include "math/dense/dense.h"
#include "math/sparse/lanczos.h"

#include <math.h>
#include <string.h>

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

static void fix_signs(double *V, size_t k, size_t p)
{
    for (size_t j = 0; j < k; j++) {
        double sign = cri_direction_sign(V + j * p, p);
        for (size_t i = 0; i < p; i++) V[j * p + i] *= sign;
    }
}

static void divide(double *x, size_t n, double by)
{
    for (size_t i = 0; i < n; i++) x[i] /= by;
}

/* --- the dual --------------------------------------------------------------------------------- */

/* Rows that are not sparse come by panels of columns, which no more than the processor's cache has to hold. */
typedef struct dual {
    const cri_centred *z;
    size_t             panel; /* columns                                   */
    double            *T;     /* [n x panel] some columns of Z             */
    double            *Y;     /* [rank x panel] U T                        */
    size_t             rank, q;
    double            *lambda, *U; /* [n], [n x n] rows, of K              */
    double            *V;          /* [q x p], or all of them [rank x p]   */
    double            *f;          /* [q x rank] the weights of squares in */
    double            *sums;       /* [q x p]; NULL: they are not asked for */
} dual;

static size_t panel_of(const cri_centred *z)
{
    enum { NUMBERS = 1 << 19, LEAST = 1024 };
    size_t panel = NUMBERS / z->n;
    return least_of(panel < LEAST ? LEAST : panel, z->p);
}

/* K [n x n]. */
static cr_status outer_products(cr_ctx *cx, const dual *d, double *K)
{
    cr_status          st = CR_OK;
    const cri_centred *z = d->z;
    size_t             n = z->n;
    if (z->by_entries) CR_TRY(cri_centred_outer(cx, z, K));
    for (size_t at = 0; !z->by_entries && at < z->p; at += d->panel) {
        size_t width = least_of(d->panel, z->p - at);
        CR_TRY(cri_centred_columns(cx, z, at, at + width, d->T));
        CR_TRY(cr_syrk(cx, 1, cr_cmat_of(d->T, n, width), CR_PLAIN, at > 0, cr_mat_of(K, n, n)));
    }
    divide(K, n * n, z->divisor);
done:
    return st;
}

/* V = U Z of all directions. */
static cr_status all_directions(cr_ctx *cx, const dual *d)
{
    cr_status          st = CR_OK;
    const cri_centred *z = d->z;
    if (z->by_entries) CR_TRY(cri_centred_transpose(cx, z, d->U, d->rank, d->V));
    for (size_t at = 0; !z->by_entries && at < z->p; at += d->panel) {
        size_t width = least_of(d->panel, z->p - at);
        CR_TRY(cri_centred_columns(cx, z, at, at + width, d->T));
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(d->U, d->rank, z->n), CR_PLAIN,
                       cr_cmat_of(d->T, z->n, width), CR_PLAIN, 0,
                       (cr_mat){ d->V + at, d->rank, width, z->p }));
    }
done:
    return st;
}

enum { SQUARES = 1 << 15 };
typedef struct squaring {
    double *x;
    size_t  n;
} squaring;

static void square_block(void *arg, size_t b)
{
    const squaring *q = arg;
    cri_range       r = cri_block_range(q->n, SQUARES, b);
    for (size_t i = r.begin; i < r.end; i++) q->x[i] *= q->x[i];
}

/* V = U Z of the first q, and of the squares of all directions the sums that the sds are made of. */
static cr_status first_directions(cr_ctx *cx, const dual *d)
{
    cr_status          st = CR_OK;
    const cri_centred *z = d->z;
    for (size_t at = 0; at < z->p; at += d->panel) {
        size_t width = least_of(d->panel, z->p - at);
        CR_TRY(cri_centred_columns(cx, z, at, at + width, d->T));
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(d->U, d->rank, z->n), CR_PLAIN,
                       cr_cmat_of(d->T, z->n, width), CR_PLAIN, 0,
                       cr_mat_of(d->Y, d->rank, width)));
        for (size_t j = 0; j < d->q; j++)
            memcpy(d->V + j * z->p + at, d->Y + j * width, width * sizeof *d->Y);
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(d->rank * width, SQUARES), square_block,
                                &(squaring){ d->Y, d->rank * width }));
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(d->f, d->q, d->rank), CR_PLAIN,
                       cr_cmat_of(d->Y, d->rank, width), CR_PLAIN, 0,
                       (cr_mat){ d->sums + at, d->q, width, z->p }));
    }
done:
    return st;
}

/* Of length 1, the first q of k orthogonal to the last bit. */
static cr_status normalise(cr_ctx *cx, double *V, size_t k, size_t q, size_t p)
{
    cr_status st = cri_orthonormalise(cx, V, least_of(q, k), p);
    for (size_t j = q; j < k; j++) {
        double length = cr_norm2(V + j * p, p);
        for (size_t i = 0; i < p; i++) V[j * p + i] /= length;
    }
    fix_signs(V, k, p);
    return st;
}

/* The directions that are not 0, and their sds as far as `extent`.  Of a covariance only the first q vectors are
 * kept: the squares of the others, v_k = Z' u_k / sqrt(lambda_k (W - 1)), go into the sums at once. */
static cr_status keep_directions(cr_ctx *cx, cr_scratch *s, dual *d, cri_spread_extent extent,
                                 cri_pca *m)
{
    cr_status          st = CR_OK;
    const cri_centred *z = d->z;
    bool               standardised = z->rows->design->standardised;
    bool               first = !z->by_entries && !standardised;
    cri_decomposed     of = { NULL, NULL, d->lambda, z->p, d->rank, standardised, z->weight, NULL };

    d->q = least_of(m->q, d->rank);
    if (extent == CRI_SPREAD_NOTHING) d->rank = of.known = d->q;
    of.V = d->V = cr_scratch_matrix(s, first ? d->q : d->rank, z->p);
    if (first) {
        d->Y = cr_scratch_matrix(s, d->rank, d->panel);
        d->f = cr_scratch_matrix(s, d->q, d->rank);
        of.opt_sums = d->sums = cr_scratch_matrix(s, d->q, z->p);
    }
    CR_TRY(s->status);
    for (size_t j = 0; first && j < d->q; j++) {
        double *f = d->f + j * d->rank;
        cri_spread_weights(&of, j, f);
        for (size_t k = 0; k < d->rank; k++)
            f[k] = isfinite(f[k]) ? f[k] / (d->lambda[k] * z->divisor) : 0;
    }
    CR_TRY(first ? first_directions(cx, d) : all_directions(cx, d));
    CR_TRY(normalise(cx, d->V, first ? d->q : d->rank, d->q, z->p));
    CR_TRY(cri_pca_keep(cx, z->centre, z->scale, &of, extent, m));
done:
    return st;
}

cr_status cri_pca_dual(cr_ctx *cx, const cri_rows *rows, const cri_pca_question *ask, cri_pca *m,
                       cr_report *report)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = rows->n, p = rows->p;
    bool        standardised = rows->design->standardised;
    double     *K = cr_scratch_matrix(&s, n, n);
    cri_centred z = { 0 };
    dual        d = { .z = &z, .lambda = cr_scratch_f64(&s, n), .U = cr_scratch_matrix(&s, n, n) };

    CR_TRY(cri_centred_open(cx, &s, rows, standardised, &z));
    d.panel = panel_of(&z);
    if (!z.by_entries) d.T = cr_scratch_matrix(&s, n, d.panel);
    CR_TRY(s.status);
    CR_TRY(outer_products(cx, &d, K));
    CR_TRY(cri_directions(cx, K, n, d.lambda, d.U, &d.rank));
    d.rank = least_of(d.rank, cri_rank(d.lambda, d.rank, p > n ? p : n, z.total));
    m->p = p, m->total = z.total, m->solver = CRI_PCA_DUAL;
    m->q = cri_components_choose(cx, "pca", ask->components,
                                 &(cri_spectrum_of){ d.lambda, d.rank, d.rank, z.weight, 0 });
    CR_TRY(keep_directions(cx, &s, &d, cri_spread_affordable(p, d.rank, m->q, standardised, false),
                           m));
    report->stop = CR_STOP_CLOSED_FORM;
done:
    cri_centred_close(cx, &z);
    cr_scratch_end(&s);
    return st;
}

/* --- krylov ----------------------------------------------------------------------------------- */

enum { MOST_SOUGHT = 512 }; /* components that are looked for, where no number is given */

/* Products with C, or with K where rows are fewer and sparse. */
static cr_status times_C(cr_ctx *cx, void *user, const double *B, size_t k, double *out)
{
    const cri_centred *z = user;
    cr_status          st = cri_centred_inner(cx, z, B, k, out);
    if (st == CR_OK) divide(out, k * z->p, z->divisor);
    return st;
}

static cr_status times_K(cr_ctx *cx, void *user, const double *B, size_t k, double *out)
{
    const cri_centred *z = user;
    cr_status          st = cri_centred_over_columns(cx, z, B, k, out);
    if (st == CR_OK) divide(out, k * z->n, z->divisor);
    return st;
}

/* The first k directions, as far as they have been found. */
typedef struct search {
    const cri_centred      *z;
    const cri_pca_question *ask;
    cri_symmetric_map       map;
    double                  tolerance;
    bool                    by_rows; /* the map is K                                   */
    size_t                  bound;   /* no more directions can have a variance above 0 */
    size_t                  k;
    double                 *U;        /* [k x n of the map] */
    double                 *V;        /* [k x p]            */
    double                 *lambda;   /* [k]                */
    double                 *residual; /* [k] |C v - lambda v| */
    size_t                  iterations;
    bool                    converged;
} search;

/* lambda and the residual of each direction by a product with C itself. */
static cr_status check_directions(cr_ctx *cx, search *f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = f->z->p;
    double    *CV = cr_scratch_matrix(&s, f->k, p);

    CR_TRY(s.status);
    if (f->by_rows)
        CR_TRY(cri_centred_transpose(cx, f->z, f->U, f->k, f->V));
    else
        memcpy(f->V, f->U, f->k * p * sizeof *f->V);
    CR_TRY(cri_orthonormalise(cx, f->V, f->k, p));
    CR_TRY(times_C(cx, f->map.user, f->V, f->k, CV));
    for (size_t j = 0; j < f->k; j++) {
        const double *v = f->V + j * p, *c = CV + j * p;
        double        l = f->lambda[j] = fmax(cr_dot(v, c, p), 0), square = 0;
        for (size_t i = 0; i < p; i++) square += (c[i] - l * v[i]) * (c[i] - l * v[i]);
        f->residual[j] = sqrt(square);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Every residual is as small as was asked for, or as rounding lets it be. */
static bool are_accurate(const search *f)
{
    size_t rank = cri_rank(f->lambda, f->k, f->z->p, f->z->total);
    for (size_t j = 0; j < rank; j++)
        if (f->residual[j] > f->tolerance * f->lambda[j] + 1e-12 * f->lambda[0]) return false;
    return true;
}

/* The first k, from those that there are.  A residual of K can be smaller than that of C: where it was, once more. */
static cr_status find_directions(cr_ctx *cx, cr_scratch *s, search *f, size_t k)
{
    cr_status           st = CR_OK;
    double             *U = cr_scratch_matrix(s, k, f->map.n);
    size_t              most = f->ask->max_iter;
    cri_lanczos_report  r;
    cri_lanczos_options o = { .wanted = k,
                              .tolerance = f->tolerance,
                              .seed = f->ask->seed,
                              .opt_start = f->U,
                              .n_start = f->k };
    f->V = cr_scratch_matrix(s, k, f->z->p);
    f->lambda = cr_scratch_f64(s, k);
    f->residual = cr_scratch_f64(s, k);
    CR_TRY(s->status);
    for (int tries = 0; tries < 3; tries++, o.tolerance /= 10) {
        o.max_iter = most > f->iterations ? most - f->iterations : 1;
        CR_TRY(cri_lanczos(cx, &f->map, &o, f->lambda, U, &r));
        o.opt_start = f->U = U;
        o.n_start = f->k = k;
        f->iterations += r.iterations;
        CR_TRY(check_directions(cx, f));
        f->converged = r.converged && are_accurate(f);
        if (f->converged || !r.converged) break;
    }
done:
    return st;
}

/* What is known of the variances so far. */
static cri_spectrum_of spectrum_of(const search *f)
{
    size_t          known = cri_rank(f->lambda, f->k, f->z->p, f->z->total);
    cri_spectrum_of of = { f->lambda, known, known < f->k ? known : f->bound, f->z->weight, 0 };
    if (of.known == of.rank) return of;
    of.rest = f->z->total;
    for (size_t j = 0; j < known; j++) of.rest -= f->lambda[j];
    of.rest = fmax(of.rest, 0);
    return of;
}

static cr_status check_number(cr_ctx *cx, const char *components, size_t bound)
{
    if (strcmp(components, "all") != 0 || bound <= MOST_SOUGHT) return CR_OK;
    cr_fail(cx, CR_EARG, "pca: --components all would be up to %zu components of these rows",
            bound);
    return cr_fail_hint(cx, "give their number, or a share of the variance such as 0.9");
}

/* As many directions as the question takes: those that decide on their number, roughly, and then so many of them. */
static cr_status search_directions(cr_ctx *cx, cr_scratch *s, search *f, size_t *out_q,
                                   cri_spectrum_of *out_of)
{
    const double ROUGH = 1e-4; /* eigenvalues are off by about the square of this */
    cr_status    st = CR_OK;
    const char  *components = f->ask->components;
    bool         given = cri_components_given(components);
    size_t       k = cri_components_first(components, f->bound);
    size_t       most = k > MOST_SOUGHT ? k : least_of(MOST_SOUGHT, f->bound);

    f->tolerance = given ? f->ask->tolerance : fmax(f->ask->tolerance, ROUGH);
    for (;; k = least_of(2 * k, most)) {
        CR_TRY(find_directions(cx, s, f, k));
        *out_of = spectrum_of(f);
        if (cri_components_decided(components, out_of) || !f->converged || k >= most) break;
    }
    *out_q = cri_components_choose(cx, "pca", components, out_of);
    if (f->tolerance > f->ask->tolerance && f->converged && out_of->known > 0) {
        f->tolerance = f->ask->tolerance;
        CR_TRY(find_directions(cx, s, f, *out_q));
        *out_of = spectrum_of(f);
    }
done:
    return st;
}

cr_status cri_pca_krylov(cr_ctx *cx, const cri_rows *rows, const cri_pca_question *ask, cri_pca *m,
                         cr_report *report)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    bool            standardised = rows->design->standardised;
    cri_centred     z = { 0 };
    cri_spectrum_of of;
    search          f = { .z = &z, .ask = ask };

    CR_TRY(cri_centred_open(cx, &s, rows, standardised, &z));
    for (size_t j = 0; j < z.p; j++) f.bound += z.per_scale[j] > 0;
    f.bound = least_of(f.bound, z.n - 1);
    if (f.bound == 0) f.bound = 1;
    CR_TRY(check_number(cx, ask->components, f.bound));
    f.by_rows = z.by_entries && z.n < z.p;
    f.map = (cri_symmetric_map){ f.by_rows ? z.n : z.p, f.by_rows ? times_K : times_C, &z,
                                 z.by_entries ? CRI_SPARSE_FEW : 0 };
    CR_TRY(search_directions(cx, &s, &f, &m->q, &of));
    fix_signs(f.V, f.k, z.p);
    m->p = z.p, m->total = z.total, m->solver = CRI_PCA_KRYLOV;
    m->iterations = report->iterations = f.iterations;
    for (size_t j = 0; j < m->q && j < of.known; j++)
        m->residual = fmax(m->residual, f.residual[j] / f.lambda[j]);
    CR_TRY(cri_pca_keep(
        cx, z.centre, z.scale,
        &(cri_decomposed){ NULL, f.V, f.lambda, z.p, of.known, standardised, z.weight, NULL },
        standardised ? CRI_SPREAD_NOTHING : CRI_SPREAD_VALUES, m)); /* 2 lambda^2 / n: no others */
    report->stop = f.converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
done:
    cri_centred_close(cx, &z);
    cr_scratch_end(&s);
    return st;
}
