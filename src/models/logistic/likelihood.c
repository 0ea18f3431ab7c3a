/* likelihood.c -- the likelihood of linear classifiers and its derivatives, from passes over the
 * rows. */
#include "likelihood.h"
#include "classifier.h"
#include "likelihood_pass.h"
#include "models/core/passes.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

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

/* --- raw sums to theta ----------------------------------------------------------------------- */

/* Lays theta [M x q] out for the pass: as it is, or raw in workspace [M x (p + 1)]. */
static const double *lay_out(const cri_likelihood *f, const double *theta, double *workspace)
{
    if (!f->x->sparse) return theta;
    for (size_t m = 0; m < f->M; m++)
        cri_to_raw(f->x, theta + m * f->x->q, workspace + m * (f->x->p + 1));
    return workspace;
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

/* H [M s x M s] from the raw one, whose blocks may have more places: raw_s. */
static void take_hessian(const cri_likelihood *f, double *raw, size_t raw_s, double *H)
{
    size_t M = f->M, s = sub_size(f), edge = M * s, raw_edge = M * raw_s;
    for (size_t i = 0; i < raw_edge; i++) /* blocks off the diagonal are whole, those on it lower */
        for (size_t j = i + 1; j < raw_edge; j++) raw[i * raw_edge + j] = raw[j * raw_edge + i];
    for (size_t i = 0; i < edge && !f->x->sparse; i++)
        memcpy(H + i * edge, raw + i * raw_edge, edge * sizeof(double));
    if (!f->x->sparse) return;
    for (size_t m = 0; m < M; m++)
        for (size_t l = 0; l < M; l++) {
            const double *B = raw + m * raw_s * raw_edge + l * raw_s;
            for (size_t j = 0; j < s; j++)
                for (size_t k = 0; k < s; k++)
                    H[(m * s + j) * edge + l * s + k] = from_raw_entry(f, B, raw_edge, j, k);
        }
}

/* --- penalties ------------------------------------------------------------------------------- */

static double l2_of(const cri_likelihood *f, size_t place)
{
    return f->x->intercept && place == 0 ? f->intercept_l2 : f->l2;
}

static double intercept_sum(const cri_likelihood *f, const double *theta)
{
    double sum = 0;
    for (size_t m = 0; m < f->M; m++) sum += theta[m * f->x->q];
    return sum;
}

static bool is_centred(const cri_likelihood *f)
{
    return f->full && f->x->intercept && f->intercept_l2 == 0;
}

static double penalty(const cri_likelihood *f, const double *theta)
{
    double square = 0, level = 0, sum = is_centred(f) ? intercept_sum(f, theta) : 0;
    for (size_t m = 0; m < f->M; m++)
        for (size_t j = 0; j < f->x->q; j++) {
            double t = theta[m * f->x->q + j];
            if (f->x->intercept && j == 0)
                level += t * t;
            else
                square += t * t;
        }
    return 0.5 * f->l2 * square + 0.5 * f->intercept_l2 * level + 0.5 * sum * sum;
}

/* out += (penalty's Hessian) v: the gradient at v, and the product with v. */
static void add_penalty_product(const cri_likelihood *f, const double *v, double *out)
{
    size_t q = f->x->q;
    double sum = is_centred(f) ? intercept_sum(f, v) : 0;
    for (size_t m = 0; m < f->M; m++) {
        for (size_t j = 0; j < q; j++) out[m * q + j] += l2_of(f, j) * v[m * q + j];
        if (is_centred(f)) out[m * q] += sum;
    }
}

static void add_penalty_hessian(const cri_likelihood *f, double *H)
{
    size_t s = sub_size(f), edge = f->M * s;
    for (size_t m = 0; m < f->M; m++) {
        for (size_t j = 0; j < s; j++)
            H[(m * s + j) * (edge + 1)] += l2_of(f, f->sub ? f->sub[j] : j);
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

/* The places of a block of the raw Hessian: sparse rows have that of the intercept always, and of
 * dense rows there are four, eight ..., which is what matrix kernels are quick with. */
static size_t raw_places(const cri_likelihood *f)
{
    size_t s = sub_size(f);
    if (f->x->sparse) return s + !f->x->intercept;
    return f->M == 1 ? (s + 3) / 4 * 4 : s;
}

/* The sums over the rows of x, without any penalty. */
static cr_status sum_rows(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                          cri_likelihood_value *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     M = f->M, raw = f->x->sparse ? f->x->p + 1 : f->x->q;
    cri_pass   w = { .f = f,
                     .kind = CRI_PASS_VALUE,
                     .hessian = out->hessian != NULL,
                     .curvature = out->curvature,
                     .width = raw,
                     .s = raw_places(f) };
    double *workspace = cr_scratch_f64(&s, M * raw), *acc = cr_scratch_f64(&s, cri_pass_length(&w));

    w.place = place_columns(f, &s);
    CR_TRY(s.status);
    w.theta = lay_out(f, theta, workspace);
    CR_TRY(cri_pass_run(cx, &w, acc));
    out->nll = acc[0];
    out->wrong = acc[1];
    if (out->gradient) take_gradient(f, acc + CRI_PASS_HEAD, out->gradient);
    if (out->hessian) take_hessian(f, acc + CRI_PASS_HEAD + M * raw, w.s, out->hessian);
done:
    cr_scratch_end(&s);
    return st;
}

typedef struct part_work {
    const cri_likelihood *f;
    cri_part_fn          *body;
    void                 *arg;
} part_work;

static cr_status take_block(cr_ctx *cx, void *arg, const cri_rows *rows)
{
    const part_work    *w = arg;
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    uint32_t           *y = cr_scratch_bytes(&s, rows->n, sizeof *y);
    cri_likelihood      part = *w->f;
    cri_classifier_rows x = { 0 };

    CR_TRY(s.status);
    CR_TRY(
        cri_classifier_rows_scaled(cx, rows, part.x->intercept, part.x->centre, part.x->scale, &x));
    cri_classifier_targets(rows, part.place, y);
    part.x = &x;
    part.y = y;
    part.passes = NULL;
    CR_TRY(w->body(cx, w->arg, &part));
done:
    cri_classifier_rows_free(cx, &x);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_likelihood_each(cr_ctx *cx, const cri_likelihood *f, cri_part_fn *body, void *arg)
{
    part_work w = { .f = f, .body = body, .arg = arg };
    return f->passes ? cri_passes_each(cx, f->passes, take_block, &w) : body(cx, arg, f);
}

typedef struct class_count {
    double *weight, rows;
} class_count;

static cr_status count_classes(cr_ctx *cx, void *arg, const cri_likelihood *part)
{
    class_count *c = arg;
    for (size_t i = 0; i < part->x->n; i++) c->weight[part->y[i]] += part->x->w ? part->x->w[i] : 1;
    c->rows += (double)part->x->n;
    return cr_check_interrupt(cx);
}

cr_status cri_likelihood_classes(cr_ctx *cx, const cri_likelihood *f, double *weight,
                                 double *out_rows)
{
    class_count c = { .weight = weight };
    memset(weight, 0, (f->M + 1) * sizeof(double));
    cr_status st = cri_likelihood_each(cx, f, count_classes, &c);
    *out_rows = c.rows;
    return st;
}

typedef struct blocks {
    const double         *theta;
    cri_likelihood_value *sum, part;
} blocks;

static void add_to(double *sum, const double *part, size_t n)
{
    for (size_t i = 0; sum && i < n; i++) sum[i] += part[i];
}

static cr_status add_block(cr_ctx *cx, void *arg, const cri_likelihood *part)
{
    blocks   *w = arg;
    size_t    edge = cri_likelihood_edge(part);
    cr_status st = sum_rows(cx, part, w->theta, &w->part);
    if (st != CR_OK) return st;
    w->sum->nll += w->part.nll;
    w->sum->wrong += w->part.wrong;
    add_to(w->sum->gradient, w->part.gradient, cri_likelihood_size(part));
    add_to(w->sum->hessian, w->part.hessian, edge * edge);
    return CR_OK;
}

/* The same over all blocks of a stream. */
static cr_status sum_blocks(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                            cri_likelihood_value *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     D = cri_likelihood_size(f), edge = cri_likelihood_edge(f);
    blocks     w = { .theta = theta, .sum = out };

    if (out->gradient) w.part.gradient = cr_scratch_f64(&s, D);
    if (out->hessian) w.part.hessian = cr_scratch_matrix(&s, edge, edge);
    CR_TRY(s.status);
    out->nll = out->wrong = 0;
    if (out->gradient) memset(out->gradient, 0, D * sizeof(double));
    if (out->hessian) memset(out->hessian, 0, edge * edge * sizeof(double));
    CR_TRY(cri_likelihood_each(cx, f, add_block, &w));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_likelihood_at(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                            cri_likelihood_value *out)
{
    cr_status st = f->passes ? sum_blocks(cx, f, theta, out) : sum_rows(cx, f, theta, out);
    if (st != CR_OK) return st;
    out->f = out->nll + penalty(f, theta);
    if (out->gradient) add_penalty_product(f, theta, out->gradient);
    if (out->hessian) add_penalty_hessian(f, out->hessian);
    return CR_OK;
}

cr_status cri_likelihood_product(cr_ctx *cx, const cri_likelihood *f, const double *curvature,
                                 const double *v, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     raw = f->x->sparse ? f->x->p + 1 : f->x->q;
    cri_pass   w = { .f = f, .kind = CRI_PASS_PRODUCT, .width = raw, .s = sub_size(f) };
    double    *workspace = cr_scratch_f64(&s, f->M * raw),
           *acc = cr_scratch_f64(&s, cri_pass_length(&w));

    CR_TRY(s.status);
    w.curvature = (double *)(uintptr_t)curvature; /* only read by this kind of pass */
    w.theta = lay_out(f, v, workspace);
    CR_TRY(cri_pass_run(cx, &w, acc));
    take_gradient(f, acc + CRI_PASS_HEAD, out);
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
    cri_pass   w = { .f = f, .kind = CRI_PASS_DIAGONAL, .width = raw, .s = sub_size(f) };
    double    *acc = cr_scratch_f64(&s, cri_pass_length(&w));

    CR_TRY(s.status);
    w.curvature = (double *)(uintptr_t)curvature;
    CR_TRY(cri_pass_run(cx, &w, acc));
    for (size_t m = 0; m < f->M; m++) {
        const double *sum = acc + CRI_PASS_HEAD + m * raw,
                     *square = acc + CRI_PASS_HEAD + (f->M + m) * raw;
        for (size_t j = 0; j < q; j++) {
            double d = square[j];
            if (f->x->sparse && one && j == 0) d = sum[0];
            if (f->x->sparse && j >= one) {
                double c = f->x->centre[j - one], k = f->x->inverse[j - one];
                d = (square[1 + j - one] - 2 * c * sum[1 + j - one] + c * c * sum[0]) * k * k;
            }
            out[m * q + j] = (d > 0 ? d : 0) + l2_of(f, j) + (is_centred(f) && j == 0);
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

typedef struct margins {
    const double *theta;
    double        least, largest;
} margins;

static cr_status find_margins(cr_ctx *cx, void *arg, const cri_likelihood *f)
{
    margins                   *w = arg;
    cr_status                  st = CR_OK;
    cr_scratch                 s = cr_scratch_begin(cx);
    const cri_classifier_rows *x = f->x;
    size_t                     M = f->M, q = x->q;
    double *workspace = cr_scratch_f64(&s, q), *raw = cr_scratch_f64(&s, M * (x->p + 1));
    double *eta = cr_scratch_f64(&s, 2 * M), nll;

    CR_TRY(s.status);
    lay_out(f, w->theta, raw);
    for (size_t i = 0; i < x->n; i++) {
        const double *z = x->sparse ? NULL : cri_classifier_rows_block(x, i, 1, 1, workspace);
        size_t        end = 0, first = x->sparse ? cri_entries_row(&x->entries, i, &end) : 0;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        if (x->w && !(x->w[i] > 0)) continue;
        for (size_t m = 0; m < M; m++) {
            const double *v = x->sparse ? raw + m * (x->p + 1) : w->theta + m * q;
            eta[m] = x->sparse ? v[0] : 0;
            for (size_t j = 0; z && j < q; j++) eta[m] += v[j] * z[j];
            for (size_t a = first; a < end; a++)
                eta[m] += v[1 + x->entries.column[a]] * x->entries.value[a];
            w->largest = fmax(w->largest, fabs(eta[m]));
        }
        w->least = fmin(w->least, cri_likelihood_row(f, eta, f->y[i], &nll, eta, eta + M));
    }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_likelihood_margins(cr_ctx *cx, const cri_likelihood *f, const double *theta,
                                 double *out_least, double *out_largest)
{
    margins   w = { .theta = theta, .least = INFINITY };
    cr_status st = cri_likelihood_each(cx, f, find_margins, &w);
    if (st != CR_OK) return st;
    *out_least = w.least;
    *out_largest = w.largest;
    return CR_OK;
}
