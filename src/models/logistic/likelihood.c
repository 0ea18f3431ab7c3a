/* likelihood.c -- passes over the rows of a linear classifier: value, gradient, Hessian, products.
 */
#include "likelihood.h"
#include "../../base/scratch.h"
#include "../../math/blas_internal.h"
#include "../../math/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256 }; /* rows at a time: z, scores and residuals stay in the second cache */

size_t cri_likelihood_size(const cri_likelihood *f) { return f->M * f->x->q; }

static size_t sub_size(const cri_likelihood *f) { return f->sub ? f->n_sub : f->x->q; }

size_t cri_likelihood_edge(const cri_likelihood *f) { return f->M * sub_size(f); }

/* --- one row --------------------------------------------------------------------------------- */

static double logit_row(double eta, bool first, double *nll, double *r, double *c)
{
    double e = exp(-fabs(eta)), d = 1 / (1 + e), small = e * d;
    bool   up = eta >= 0;
    *nll = log1p(e) + (up == first ? 0 : fabs(eta));
    *r = up == first ? (first ? -small : small) : (first ? -d : d);
    *c = small * d;
    return first ? eta : -eta;
}

static double probit_row(double eta, bool first, bool expected, double *nll, double *r, double *c)
{
    double t = first ? eta : -eta, mills = cr_inv_mills(t);
    *nll = -cr_norm_logcdf(t);
    *r = first ? -mills : mills;
    *c = expected ? mills * cr_inv_mills(-t) : fmax(mills * (mills + t), 0);
    if (!expected && t < -1e4) *c = 1 - 1 / (t * t); /* mills + t cancels far in the tail */
    return t;
}

static double softmax_row(size_t M, const double *eta, uint32_t y, bool reference, double *nll,
                          double *r, double *c)
{
    double top = reference ? 0 : -INFINITY, sum, other = -INFINITY, own = y < M ? eta[y] : 0;
    for (size_t m = 0; m < M; m++) {
        if (eta[m] > top) top = eta[m];
        if (m != y && eta[m] > other) other = eta[m];
    }
    if (reference && y < M && other < 0) other = 0;
    sum = reference ? exp(-top) : 0;
    for (size_t m = 0; m < M; m++) sum += c[m] = exp(eta[m] - top);
    for (size_t m = 0; m < M; m++) r[m] = c[m] /= sum;
    if (y < M) r[y] -= 1;
    *nll = log(sum) + top - own;
    if (*nll < 0) *nll = 0;
    return own - other;
}

double cri_likelihood_row(const cri_likelihood *f, const double *eta, uint32_t y, double *nll,
                          double *r, double *c)
{
    if (f->M > 1) return softmax_row(f->M, eta, y, !f->full, nll, r, c);
    if (f->link == CRI_LINK_PROBIT) return probit_row(eta[0], y == 0, f->expected, nll, r, c);
    return logit_row(eta[0], y == 0, nll, r, c);
}

/* --- a pass ---------------------------------------------------------------------------------- */

typedef enum pass_kind { PASS_VALUE, PASS_PRODUCT, PASS_DIAGONAL } pass_kind;

/* A pass sums, in raw coordinates of width `width`, z of dense rows or (1, x) of sparse ones:
 *   acc = [nll, wrong, sum_i u_im z_i (M x width), then the Hessian (M s)^2 or sum_i u_im z_i^2 (M
 * x width)] where u is the residual, what a product asks for, or the curvature itself. */
typedef struct pass {
    const cri_likelihood *f;
    pass_kind             kind;
    bool                  hessian;
    const double         *theta;     /* [M x width]: scores are taken along it        */
    double               *curvature; /* [n x M]: written by a value, read by others   */
    size_t                width, s;
    const uint32_t       *place; /* sparse: [width] place in the Hessian, UINT32_MAX for none */
} pass;

enum { HEAD = 2 };

static size_t pass_length(const pass *w)
{
    size_t edge = w->f->M * w->s, sums = w->f->M * w->width;
    return HEAD + sums + (w->hessian ? edge * edge : w->kind == PASS_DIAGONAL ? sums : 0);
}

/* The same for the logit of rows that all count once.  The logarithms are taken of products of 32
 * factors 1 + exp(-|eta|), none of which is above 2. */
static void weigh_logits(const pass *w, size_t begin, size_t count, double *E, double *C,
                         double *acc)
{
    const cri_likelihood *f = w->f;
    double                product = 1, sum = 0, wrong = 0;
    for (size_t i = 0; i < count; i++) C[i] = exp(-fabs(E[i]));
    for (size_t i = 0; i < count; i++) {
        double e = C[i], eta = E[i], d = 1 / (1 + e), small = e * d,
               s = f->y[begin + i] == 0 ? 1 : -1;
        double t = s * eta;
        product *= 1 + e;
        if (i % 32 == 31) sum += log(product), product = 1;
        sum += t < 0 ? -t : 0;
        wrong += !(t > 0);
        E[i] = -s * (t < 0 ? d : small);
        C[i] = small * d;
    }
    acc[0] += sum + log(product);
    acc[1] += wrong;
    if (w->curvature) memcpy(w->curvature + begin, C, count * sizeof(double));
}

/* Scores E [count x M] become residuals, weights in; C gets the curvature, times the weight when M
 * = 1. */
static void weigh_values(const pass *w, size_t begin, size_t count, double *E, double *C,
                         double *acc)
{
    const cri_likelihood *f = w->f;
    const double         *weight = f->x->w;
    if (!weight && f->M == 1 && f->step == 1 && f->link == CRI_LINK_LOGIT) {
        weigh_logits(w, begin, count, E, C, acc);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t row = (begin + i) * f->step;
        double wi = weight ? weight[row] : 1, nll = 0, *e = E + i * f->M, *c = C + i * f->M;
        double margin = cri_likelihood_row(f, e, f->y[row], &nll, e, c);
        for (size_t m = 0; weight && m < f->M; m++) e[m] *= wi;
        if (f->M == 1) c[0] *= wi;
        acc[0] += wi > 0 ? wi * nll : 0;
        acc[1] += wi > 0 && !(margin > 0);
        if (w->curvature) memcpy(w->curvature + row * f->M, c, f->M * sizeof(double));
    }
}

/* Scores T of a direction become what H v sums: u = c t, or w p_m (t_m - p . t). */
static void weigh_products(const pass *w, size_t begin, size_t count, double *T)
{
    const cri_likelihood *f = w->f;
    const double         *weight = f->x->w;
    for (size_t i = 0; i < count; i++) {
        size_t        row = (begin + i) * f->step;
        const double *c = w->curvature + row * f->M;
        double       *t = T + i * f->M, mean = 0, wi = weight ? weight[row] : 1;
        if (f->M == 1) {
            t[0] *= c[0];
            continue;
        }
        for (size_t m = 0; m < f->M; m++) mean += c[m] * t[m];
        for (size_t m = 0; m < f->M; m++) t[m] = wi * c[m] * (t[m] - mean);
    }
}

static void weigh_diagonal(const pass *w, size_t begin, size_t count, double *E)
{
    const cri_likelihood *f = w->f;
    const double         *weight = f->x->w;
    for (size_t i = 0; i < count; i++) {
        size_t        row = (begin + i) * f->step;
        const double *c = w->curvature + row * f->M;
        double       *e = E + i * f->M, wi = weight ? weight[row] : 1;
        for (size_t m = 0; m < f->M; m++) e[m] = f->M == 1 ? c[m] : wi * c[m] * (1 - c[m]);
    }
}

static void weigh(const pass *w, size_t begin, size_t count, double *E, double *C, double *acc)
{
    switch (w->kind) {
    case PASS_VALUE:
        weigh_values(w, begin, count, E, C, acc);
        break;
    case PASS_PRODUCT:
        weigh_products(w, begin, count, E);
        break;
    case PASS_DIAGONAL:
        weigh_diagonal(w, begin, count, E);
        break;
    }
}

/* --- dense rows ------------------------------------------------------------------------------ */

/* S [count x s] = root_i z_i at the places of the Hessian. */
static void scale_rows(const cri_likelihood *f, const double *Z, size_t count, const double *root,
                       size_t s, double *S, size_t stride)
{
    size_t q = f->x->q;
    for (size_t i = 0; i < count; i++, S += stride) {
        const double *z = Z + i * q;
        if (f->sub)
            for (size_t j = 0; j < s; j++) S[j] = root[i] * z[f->sub[j]];
        else
            for (size_t j = 0; j < s; j++) S[j] = root[i] * z[j];
    }
}

static void add_square(double sign, const double *S, size_t count, size_t s, size_t stride,
                       double *H, size_t edge)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)s, (int)count, sign, S, (int)stride, 1,
                H, (int)edge);
}

/* M = 1: Z' diag(c) Z.  Softmax: with w = the weight of a row, p its probabilities,
 *   sum_i w_i (diag(p_i) - p_i p_i') (x) z_i z_i' = diag_m(Z' diag(w p_m) Z) - B'B,  B_i =
 * sqrt(w_i) p_i (x) z_i. */
static void add_hessian(const pass *w, const double *Z, const double *C, size_t begin, size_t count,
                        double *S, double *H)
{
    const cri_likelihood *f = w->f;
    size_t                M = f->M, s = w->s, edge = M * s;
    const double         *weight = f->x->w;
    double                root[ROWS];
    for (size_t m = 0; m < M; m++) {
        for (size_t i = 0; i < count; i++) {
            double wi = weight && M > 1 ? weight[(begin + i) * f->step] : 1;
            root[i] = sqrt(wi * C[i * M + m]);
        }
        scale_rows(f, Z, count, root, s, S, s);
        add_square(1, S, count, s, s, H + m * s * edge + m * s, edge);
    }
    if (M == 1) return;
    for (size_t m = 0; m < M; m++) {
        for (size_t i = 0; i < count; i++) {
            double wi = weight ? weight[(begin + i) * f->step] : 1;
            root[i] = sqrt(wi) * C[i * M + m];
        }
        scale_rows(f, Z, count, root, s, S + m * s, edge);
    }
    add_square(-1, S, count, edge, edge, H, edge);
}

static void dense_rows(const pass *w, size_t begin, size_t count, double *acc, double *room)
{
    const cri_likelihood *f = w->f;
    size_t                M = f->M, q = f->x->q;
    double               *E = room + ROWS * q, *C = E + ROWS * M, *S = C + ROWS * M;
    double               *sums = acc + HEAD, *rest = sums + M * q;
    const double         *Z = cri_classifier_rows_block(f->x, begin, count, f->step, room);

    if (q > 0 && M == 1 && w->theta)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)count, (int)q, 1, Z, (int)q, w->theta, 1, 0,
                    E, 1);
    else if (q > 0 && w->theta)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)M, (int)q, 1, Z,
                    (int)q, w->theta, (int)q, 0, E, (int)M);
    else
        memset(E, 0, count * M * sizeof(double));
    weigh(w, begin, count, E, C, acc);
    if (q == 0) return;
    if (M == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, (int)q, 1, Z, (int)q, E, 1, 1, sums, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)M, (int)q, (int)count, 1, E,
                    (int)M, Z, (int)q, 1, sums, (int)q);
    if (w->hessian) add_hessian(w, Z, C, begin, count, S, rest);
    if (w->kind != PASS_DIAGONAL) return;
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < M; m++)
            for (size_t j = 0; j < q; j++)
                rest[m * q + j] += E[i * M + m] * Z[i * q + j] * Z[i * q + j];
}

/* --- sparse rows ----------------------------------------------------------------------------- */

/* Adds h (1, x)(1, x)' to the lower triangle of block (m, l) of H; m >= l. */
static void add_outer(const pass *w, size_t row, double h, size_t m, size_t l, double *H)
{
    const cri_entries *e = &w->f->x->entries;
    size_t             edge = w->f->M * w->s, end, begin = cri_entries_row(e, row, &end);
    double            *at = H + m * w->s * edge + l * w->s;
    at[0] += h;
    for (size_t a = begin; a < end; a++) {
        uint32_t ja = w->place[1 + e->column[a]];
        if (ja == UINT32_MAX) continue;
        double  ha = h * e->value[a];
        double *line = at + ja * edge;
        line[0] += ha;
        if (m != l) at[ja] += ha;
        size_t stop = m == l ? a + 1 : end;
        for (size_t b = begin; b < stop; b++) {
            uint32_t jb = w->place[1 + e->column[b]];
            if (jb != UINT32_MAX) line[jb] += ha * e->value[b];
        }
    }
}

static void add_sparse_hessian(const pass *w, size_t row, const double *c, double *H)
{
    const cri_likelihood *f = w->f;
    double                wi = f->x->w ? f->x->w[row] : 1;
    if (f->M == 1) {
        add_outer(w, row, c[0], 0, 0, H);
        return;
    }
    for (size_t m = 0; m < f->M; m++)
        for (size_t l = 0; l <= m; l++) add_outer(w, row, wi * c[m] * ((m == l) - c[l]), m, l, H);
}

static void sparse_rows(const pass *w, size_t begin, size_t count, double *acc, double *room)
{
    const cri_likelihood *f = w->f;
    const cri_entries    *x = &f->x->entries;
    size_t                M = f->M, width = w->width;
    double               *E = room, *C = E + ROWS * M, *sums = acc + HEAD, *rest = sums + M * width;

    for (size_t i = 0; w->theta && i < count; i++) {
        size_t end, first = cri_entries_row(x, (begin + i) * f->step, &end);
        for (size_t m = 0; m < M; m++) {
            const double *v = w->theta + m * width;
            double        eta = v[0];
            for (size_t a = first; a < end; a++) eta += x->value[a] * v[1 + x->column[a]];
            E[i * M + m] = eta;
        }
    }
    weigh(w, begin, count, E, C, acc);
    for (size_t i = 0; i < count; i++) {
        size_t row = (begin + i) * f->step, end, first = cri_entries_row(x, row, &end);
        for (size_t m = 0; m < M; m++) {
            double *g = sums + m * width, *d = rest + m * width, e = E[i * M + m];
            g[0] += e;
            for (size_t a = first; a < end; a++) g[1 + x->column[a]] += e * x->value[a];
            for (size_t a = first; w->kind == PASS_DIAGONAL && a < end; a++)
                d[1 + x->column[a]] += e * x->value[a] * x->value[a];
        }
        if (w->hessian) add_sparse_hessian(w, row, C + i * M, rest);
    }
}

/* --- running a pass -------------------------------------------------------------------------- */

static void pass_block(void *arg, cri_range range, double *acc, double *room)
{
    const pass *w = arg;
    for (size_t begin = range.begin; begin < range.end; begin += ROWS) {
        size_t count = range.end - begin < ROWS ? range.end - begin : ROWS;
        if (w->f->x->sparse)
            sparse_rows(w, begin, count, acc, room);
        else
            dense_rows(w, begin, count, acc, room);
    }
}

/* The rows are cut into as many spans as keep the partial sums in some tens of megabytes. */
static cr_status run_pass(cr_ctx *cx, pass *w, double *out)
{
    enum { MOST_SPANS = 64, LEAST_SPANS = 4, SUM_ROOM = 1 << 22 };
    const cri_likelihood *f = w->f;
    size_t                n = (f->x->n + f->step - 1) / f->step, length = pass_length(w),
           spans = SUM_ROOM / length;
    size_t room =
        ROWS * (f->x->sparse ? 2 * f->M : f->x->q + 2 * f->M + (w->hessian ? f->M * w->s : 0));
    if (spans > MOST_SPANS) spans = MOST_SPANS;
    if (spans < LEAST_SPANS) spans = LEAST_SPANS;
    size_t block = ((n + spans - 1) / spans + ROWS - 1) / ROWS * ROWS;
    cri_blas_enter();
    cr_status st = cri_parallel_sum_in(cx, NULL, n, block, length, room, pass_block, w, out);
    cri_blas_leave();
    return st;
}

/* --- raw sums to theta ----------------------------------------------------------------------- */

/* Lays theta [M x q] out for the pass: as it is, or raw in room [M x (p + 1)]. */
static const double *lay_out(const cri_likelihood *f, const double *theta, double *room)
{
    if (!f->x->sparse) return theta;
    for (size_t m = 0; m < f->M; m++)
        cri_to_raw(f->x, theta + m * f->x->q, room + m * (f->x->p + 1));
    return room;
}

static void take_gradient(const cri_likelihood *f, const double *sums, double *out)
{
    size_t q = f->x->q, width = f->x->p + 1;
    if (f->x->sparse)
        for (size_t m = 0; m < f->M; m++) cri_from_raw(f->x, sums + m * width, out + m * q);
    else
        memcpy(out, sums, f->M * q * sizeof(double));
}

/* Entry (j, k) of a block, in z, from the block B of (1, x): j and k are places in the list. */
static double from_raw_entry(const cri_likelihood *f, const double *B, size_t edge, size_t j,
                             size_t k)
{
    const cri_classifier_rows *x = f->x;
    size_t zj = f->sub ? f->sub[j] : j, zk = f->sub ? f->sub[k] : k, one = x->intercept;
    bool   j0 = one && zj == 0, k0 = one && zk == 0;
    size_t rj = j0 ? 0 : j + 1 - one, rk = k0 ? 0 : k + 1 - one; /* places among (1, x) */
    double cj = j0 ? 0 : x->centre[zj - one], ck = k0 ? 0 : x->centre[zk - one];
    double sj = j0 ? 1 : x->inverse[zj - one], sk = k0 ? 1 : x->inverse[zk - one];
    double value = B[rj * edge + rk] - cj * B[rk] - ck * B[rj * edge] + cj * ck * B[0];
    return value * sj * sk;
}

/* H [M s x M s] from the raw one, whose blocks have one more place when there is no intercept. */
static void take_hessian(const cri_likelihood *f, double *raw, size_t raw_s, double *H)
{
    size_t M = f->M, s = sub_size(f), edge = M * s, raw_edge = M * raw_s;
    for (size_t i = 0; i < raw_edge; i++) /* blocks off the diagonal are whole, those on it lower */
        for (size_t j = i + 1; j < raw_edge; j++) raw[i * raw_edge + j] = raw[j * raw_edge + i];
    if (!f->x->sparse) {
        memcpy(H, raw, edge * edge * sizeof(double));
        return;
    }
    for (size_t m = 0; m < M; m++)
        for (size_t l = 0; l < M; l++) {
            const double *B = raw + m * raw_s * raw_edge + l * raw_s;
            for (size_t j = 0; j < s; j++)
                for (size_t k = 0; k < s; k++)
                    H[(m * s + j) * edge + l * s + k] = from_raw_entry(f, B, raw_edge, j, k);
        }
}

/* --- penalties ------------------------------------------------------------------------------- */

static bool is_penalised(const cri_likelihood *f, size_t place)
{
    return !f->x->intercept || place > 0 || f->penalise_intercept;
}

static double intercept_sum(const cri_likelihood *f, const double *theta)
{
    double sum = 0;
    for (size_t m = 0; m < f->M; m++) sum += theta[m * f->x->q];
    return sum;
}

static bool is_centred(const cri_likelihood *f)
{
    return f->full && f->x->intercept && !f->penalise_intercept;
}

static double penalty(const cri_likelihood *f, const double *theta)
{
    double square = 0;
    for (size_t m = 0; m < f->M; m++)
        for (size_t j = 0; j < f->x->q; j++)
            if (is_penalised(f, j)) square += theta[m * f->x->q + j] * theta[m * f->x->q + j];
    double sum = is_centred(f) ? intercept_sum(f, theta) : 0;
    return 0.5 * f->l2 * square + 0.5 * sum * sum;
}

/* out += (penalty's Hessian) v: the gradient at v, and the product with v. */
static void add_penalty_product(const cri_likelihood *f, const double *v, double *out)
{
    size_t q = f->x->q;
    double sum = is_centred(f) ? intercept_sum(f, v) : 0;
    for (size_t m = 0; m < f->M; m++) {
        for (size_t j = 0; j < q; j++)
            if (is_penalised(f, j)) out[m * q + j] += f->l2 * v[m * q + j];
        if (is_centred(f)) out[m * q] += sum;
    }
}

static void add_penalty_hessian(const cri_likelihood *f, double *H)
{
    size_t s = sub_size(f), edge = f->M * s;
    for (size_t m = 0; m < f->M; m++) {
        for (size_t j = 0; j < s; j++)
            if (is_penalised(f, f->sub ? f->sub[j] : j)) H[(m * s + j) * (edge + 1)] += f->l2;
        for (size_t l = 0; is_centred(f) && l < f->M; l++) H[m * s * edge + l * s] += 1;
    }
}

/* --- the door -------------------------------------------------------------------------------- */

/* The places of raw coordinates in the Hessian; NULL for dense rows. */
static const uint32_t *place_columns(const cri_likelihood *f, cr_scratch *s)
{
    size_t    p = f->x->p, one = f->x->intercept;
    uint32_t *place = f->x->sparse ? cr_scratch_bytes(s, p + 1, sizeof *place) : NULL;
    if (!place) return NULL;
    for (size_t j = 0; j <= p; j++) place[j] = f->sub && j > 0 ? UINT32_MAX : (uint32_t)j;
    for (size_t k = 0; f->sub && k < f->n_sub; k++)
        if (!one || f->sub[k] > 0) place[f->sub[k] + 1 - one] = (uint32_t)(k + 1 - one);
    return place;
}

cr_status cri_likelihood_at(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                            cri_likelihood_value *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = f->M, raw = f->x->sparse ? f->x->p + 1 : f->x->q;
    pass       w = { .f = f,
                     .kind = PASS_VALUE,
                     .hessian = out->hessian != NULL,
                     .curvature = out->curvature,
                     .width = raw,
                     .s = sub_size(f) + (f->x->sparse && !f->x->intercept) };
    double    *room = cr_scratch_f64(&s, M * raw), *acc = cr_scratch_f64(&s, pass_length(&w));

    w.place = place_columns(f, &s);
    CR_TRY(s.status);
    w.theta = lay_out(f, theta, room);
    CR_TRY(run_pass(cx, &w, acc));
    out->nll = acc[0];
    out->f = acc[0] + penalty(f, theta);
    out->wrong = acc[1];
    if (out->gradient) {
        take_gradient(f, acc + HEAD, out->gradient);
        add_penalty_product(f, theta, out->gradient);
    }
    if (out->hessian) {
        take_hessian(f, acc + HEAD + M * raw, w.s, out->hessian);
        add_penalty_hessian(f, out->hessian);
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_likelihood_product(cr_ctx *cx, const cri_likelihood *f, const double *curvature,
                                 const double *v, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     raw = f->x->sparse ? f->x->p + 1 : f->x->q;
    pass       w = { .f = f, .kind = PASS_PRODUCT, .width = raw, .s = sub_size(f) };
    double    *room = cr_scratch_f64(&s, f->M * raw), *acc = cr_scratch_f64(&s, pass_length(&w));

    CR_TRY(s.status);
    w.curvature = (double *)(uintptr_t)curvature; /* only read by this kind of pass */
    w.theta = lay_out(f, v, room);
    CR_TRY(run_pass(cx, &w, acc));
    take_gradient(f, acc + HEAD, out);
    add_penalty_product(f, v, out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_likelihood_diagonal(cr_ctx *cx, const cri_likelihood *f, const double *curvature,
                                  double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = f->x->q, raw = f->x->sparse ? f->x->p + 1 : q, one = f->x->intercept;
    pass       w = { .f = f, .kind = PASS_DIAGONAL, .width = raw, .s = sub_size(f) };
    double    *acc = cr_scratch_f64(&s, pass_length(&w));

    CR_TRY(s.status);
    w.curvature = (double *)(uintptr_t)curvature;
    CR_TRY(run_pass(cx, &w, acc));
    for (size_t m = 0; m < f->M; m++) {
        const double *sum = acc + HEAD + m * raw, *square = acc + HEAD + (f->M + m) * raw;
        for (size_t j = 0; j < q; j++) {
            double d = square[j];
            if (f->x->sparse && one && j == 0) d = sum[0];
            if (f->x->sparse && j >= one) {
                double c = f->x->centre[j - one], k = f->x->inverse[j - one];
                d = (square[1 + j - one] - 2 * c * sum[1 + j - one] + c * c * sum[0]) * k * k;
            }
            out[m * q + j] =
                (d > 0 ? d : 0) + (is_penalised(f, j) ? f->l2 : 0) + (is_centred(f) && j == 0);
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_likelihood_margins(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                                 double *out_least, double *out_largest)
{
    cr_status                  st = CR_OK;
    cr_scratch                 s = cr_scratch_begin(cx);
    const cri_classifier_rows *x = f->x;
    size_t                     M = f->M, q = x->q;
    double *room = cr_scratch_f64(&s, q), *raw = cr_scratch_f64(&s, M * (x->p + 1));
    double *eta = cr_scratch_f64(&s, 2 * M), nll, least = INFINITY, largest = 0;

    CR_TRY(s.status);
    lay_out(f, theta, raw);
    for (size_t i = 0; i < x->n; i++) {
        const double *z = x->sparse ? NULL : cri_classifier_rows_block(x, i, 1, 1, room);
        size_t        end = 0, first = x->sparse ? cri_entries_row(&x->entries, i, &end) : 0;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (x->w && !(x->w[i] > 0)) continue;
        for (size_t m = 0; m < M; m++) {
            const double *v = x->sparse ? raw + m * (x->p + 1) : theta + m * q;
            eta[m] = x->sparse ? v[0] : 0;
            for (size_t j = 0; z && j < q; j++) eta[m] += v[j] * z[j];
            for (size_t a = first; a < end; a++)
                eta[m] += v[1 + x->entries.column[a]] * x->entries.value[a];
            largest = fmax(largest, fabs(eta[m]));
        }
        least = fmin(least, cri_likelihood_row(f, eta, f->y[i], &nll, eta, eta + M));
    }
    *out_least = least;
    *out_largest = largest;
done:
    cr_scratch_end(&s);
    return st;
}
