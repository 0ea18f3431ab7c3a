/* gmm_start.c -- starts of EM for a Gaussian mixture.
 * Centres are drawn by k-means++ from some of the rows, in columns of equal spread or in whitened ones by turns, and
 * moved by a few steps of k-means; means, shares and covariances follow from the rows nearest to each, the
 * covariances drawn towards the pooled one.  Of a few such beginnings, each followed by EM on these rows for a
 * few steps, the highest is the start.  From the best end so far other starts are made by moving one component to
 * where another row is, again the highest of a few (Zhao, Hautamaki, Karkkainen & Franti 2012, Pattern Rec. 45).  Arthur & Vassilvitskii (2007), SODA; Biernacki, Celeux & Govaert (2003),
 * Comp. Stat. & Data Analysis 41. */
#include "gmm.h"
#include "base/scratch.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { BEGINNINGS = 3, SHORT_RUN = 5, LLOYD = 4 };
static const double SWAP_EFFORT = 30000; /* rows times components of all swaps of a start */

typedef struct seeding {
    const cri_gmm_rows *rows;
    size_t              k;
    double             *Y;        /* [n x d] the rows as distances are taken   */
    double             *centre;   /* [k x d] of these                          */
    double             *distance; /* [n] squared, to the nearest centre        */
    size_t             *nearest;  /* [n]                                       */
} seeding;

/* The covariance of the rows [d x d] about 0, their mean in t, where missing cells are. */
static void overall_covariance(const cri_gmm_rows *rows, double *C)
{
    size_t d = rows->d;
    double weight = 0;
    memset(C, 0, d * d * sizeof *C);
    for (size_t i = 0; i < rows->n; i++) {
        weight += rows->w[i];
        for (size_t a = 0; a < d * d; a++) {
            double product = rows->T[i * d + a / d] * rows->T[i * d + a % d];
            C[a] += isnan(product) ? 0 : rows->w[i] * product;
        }
    }
    for (size_t a = 0; a < d * d; a++) C[a] /= weight;
}

/* Y: the rows in columns of equal spread, or whitened where that can be. */
static void spread_rows(const seeding *s, bool whiten, double *C, double *L)
{
    size_t d = s->rows->d;
    overall_covariance(s->rows, C);
    whiten = whiten && cri_factor_point(C, d, L);
    for (size_t i = 0; i < s->rows->n; i++) {
        double *y = s->Y + i * d;
        for (size_t j = 0; j < d; j++) {
            double t = s->rows->T[i * d + j], sd = sqrt(C[j * d + j]);
            y[j] = isnan(t) ? 0 : whiten ? t : sd > 0 ? t / sd : 0;
        }
        if (whiten) cri_solve_lower(L, d, y);
    }
}

static double squared_distance(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* A row, each as often as its weight times `opt_by` says; the last one where all are 0. */
static size_t draw_row(const cri_gmm_rows *rows, const double *opt_by, cr_rng *r)
{
    double total = 0, left;
    for (size_t i = 0; i < rows->n; i++) total += rows->w[i] * (opt_by ? opt_by[i] : 1);
    if (!(total > 0) && opt_by) return draw_row(rows, NULL, r);
    left = total * cr_rng_uniform(r);
    for (size_t i = 0; i < rows->n; i++) {
        left -= rows->w[i] * (opt_by ? opt_by[i] : 1);
        if (left < 0) return i;
    }
    return rows->n - 1;
}

static void draw_centres(seeding *s, cr_rng *r)
{
    size_t d = s->rows->d, n = s->rows->n;
    for (size_t i = 0; i < n; i++) s->distance[i] = INFINITY;
    for (size_t c = 0; c < s->k; c++) {
        size_t at = draw_row(s->rows, c ? s->distance : NULL, r);
        memcpy(s->centre + c * d, s->Y + at * d, d * sizeof(double));
        for (size_t i = 0; i < n; i++) {
            double x = squared_distance(s->Y + i * d, s->centre + c * d, d);
            if (x < s->distance[i]) s->distance[i] = x, s->nearest[i] = c;
        }
    }
}

/* One step of k-means; a centre without rows stays. */
static void move_centres(seeding *s, double *weight)
{
    size_t d = s->rows->d, n = s->rows->n;
    memset(weight, 0, s->k * sizeof *weight);
    for (size_t i = 0; i < n; i++) weight[s->nearest[i]] += s->rows->w[i];
    for (size_t c = 0; c < s->k; c++)
        for (size_t j = 0; weight[c] > 0 && j < d; j++) s->centre[c * d + j] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = s->nearest[i];
        for (size_t j = 0; j < d; j++)
            s->centre[c * d + j] += s->rows->w[i] / weight[c] * s->Y[i * d + j];
    }
    for (size_t i = 0; i < n; i++) {
        s->distance[i] = INFINITY;
        for (size_t c = 0; c < s->k; c++) {
            double x = squared_distance(s->Y + i * d, s->centre + c * d, d);
            if (x < s->distance[i]) s->distance[i] = x, s->nearest[i] = c;
        }
    }
}

/* Shares, means and covariances of the rows nearest to each centre: W_c plus `firm` rows of the pooled covariance,
 * which has a hundredth of the overall one C in it, so that no component is flat. */
static cr_status describe_groups(cr_ctx *cx, const seeding *s, const double *C, cri_gmm *m)
{
    cr_status           st = CR_OK;
    cr_scratch          room = cr_scratch_begin(cx);
    const cri_gmm_rows *rows = s->rows;
    size_t              d = m->d, k = m->k, size = d * m->width;
    double             *W = cr_scratch_bytes(&room, k, size * sizeof(double));
    double             *N = cr_scratch_bytes(&room, k, sizeof(double));
    double             *pooled = cr_scratch_bytes(&room, size, sizeof(double));
    double             *S = cr_scratch_matrix(&room, k, size), total = 0, firm = (double)d + 2;
    bool                diagonal = cri_gmm_is_diagonal(m->form);

    CR_TRY(room.status);
    memset(m->mean, 0, m->kd * sizeof(double));
    for (size_t i = 0; i < rows->n; i++) N[s->nearest[i]] += rows->w[i], total += rows->w[i];
    for (size_t i = 0; i < rows->n; i++) {
        size_t c = s->nearest[i];
        for (size_t j = 0; j < d; j++) {
            double t = rows->T[i * d + j];
            m->mean[c * d + j] += isnan(t) ? 0 : rows->w[i] / N[c] * t;
        }
    }
    for (size_t i = 0; i < rows->n; i++) {
        size_t        c = s->nearest[i];
        const double *mean = m->mean + c * d, *t = rows->T + i * d;
        for (size_t a = 0; a < size; a++) {
            size_t p = diagonal ? a : a / d, q = diagonal ? a : a % d;
            double product = rows->w[i] * (t[p] - mean[p]) * (t[q] - mean[q]);
            if (isnan(product)) continue;
            W[c * size + a] += product;
            pooled[a] += product / total;
        }
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t a = 0; a < size; a++)
            W[c * size + a] += firm * (pooled[a] + 0.01 * C[diagonal ? a * (d + 1) : a]);
        m->share[c] = (N[c] + 1) / (total + (double)k);
        N[c] += firm;
    }
    for (size_t i = 0; i < m->kd;
         i++) /* a form that is found step by step begins with the identity */
        for (size_t j = 0; j < m->width; j++)
            m->L[i * m->width + j] = diagonal || i % d == j ? 1 : 0;
    cri_gmm_prepare(m);
    CR_TRY(cri_gmm_covariances(cx, m, W, N, S));
    m->lost = !cri_gmm_set_covariances(m, S);
    if (!m->lost) cri_gmm_prepare(m);
done:
    cr_scratch_end(&room);
    return st;
}

/* A few steps on the rows of the start; the objective they reach, -INFINITY where they get lost or
 * end in a flat component. */
static cr_status short_run(cr_ctx *cx, const cri_gmm_rows *rows, size_t steps, cri_gmm *m,
                           double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     width = cri_gmm_width(m);
    double    *sums = cr_scratch_f64(&s, width), *work = cr_scratch_f64(&s, cri_gmm_work(m));
    CR_TRY(s.status);
    *out = -INFINITY;
    for (size_t step = 0; !m->lost; step++) {
        memset(sums, 0, width * sizeof *sums);
        cri_gmm_add(m, rows->T, rows->w, rows->n, sums, work);
        double objective = sums[0] + cri_gmm_log_prior(m);
        if (!isfinite(objective)) goto done;
        if (step == steps) {
            bool flat = false;
            CR_TRY(cri_gmm_is_flat(cx, m, rows->least, &flat));
            if (!flat) *out = objective;
            goto done;
        }
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_gmm_solve(cx, NULL, sums, m));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Copies what a start is made of. */
static void take(const cri_gmm *from, cri_gmm *to)
{
    memcpy(to->share, from->share, from->k * sizeof(double));
    memcpy(to->mean, from->mean, from->kd * sizeof(double));
    memcpy(to->L, from->L, from->kd * from->width * sizeof(double));
    to->lost = false;
    cri_gmm_prepare(to);
}

cr_status cri_gmm_start(cr_ctx *cx, const cri_gmm_rows *rows, size_t attempt, cr_rng *rng,
                        cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch room = cr_scratch_begin(cx);
    size_t     n = rows->n, d = rows->d, k = m->k;
    seeding    s = { rows,
                     k,
                     cr_scratch_matrix(&room, n, d),
                     cr_scratch_matrix(&room, k, d),
                     cr_scratch_f64(&room, n),
                     cr_scratch_index(&room, n) };
    double    *C = cr_scratch_matrix(&room, d, d), *L = cr_scratch_matrix(&room, d, d);
    double    *weight = cr_scratch_f64(&room, k), best = -INFINITY, reached = -INFINITY;
    cri_gmm   *kept = NULL;

    CR_TRY(room.status);
    CR_TRY(cri_gmm_new(cx, k, d, m->form, 1, &kept));
    memcpy(kept->scale, m->scale, d * sizeof(double));
    spread_rows(&s, attempt % 2 == 1, C, L);
    for (size_t b = 0; b < (k == 1 ? 1 : BEGINNINGS); b++) {
        draw_centres(&s, rng);
        for (size_t step = 0; step < LLOYD && (attempt + b) % 3 != 2; step++)
            move_centres(&s, weight);
        CR_TRY(describe_groups(cx, &s, C, m));
        if (b == 0 && !m->lost) take(m, kept); /* where all of them get lost */
        CR_TRY(short_run(cx, rows, k == 1 ? 0 : SHORT_RUN, m, &reached));
        if (reached > best) best = reached, take(m, kept);
    }
    take(kept, m);
done:
    cri_state_free(cx, &cri_class_gmm, kept);
    cr_scratch_end(&room);
    return st;
}

/* Component c goes to a row, with `spread` times the average covariance of all and an equal share. */
static cr_status move_component(cr_ctx *cx, const cri_gmm_rows *rows, size_t c, size_t row,
                                double spread, cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = m->d, size = d * m->width;
    bool       diagonal = cri_gmm_is_diagonal(m->form);
    double    *W = cr_scratch_matrix(&s, m->k, size), *C = cr_scratch_matrix(&s, m->k, size);
    double    *S = cr_scratch_matrix(&s, d, d), *N = cr_scratch_f64(&s, m->k), rest;

    CR_TRY(s.status);
    rest = 1 - m->share[c];
    memset(W + c * size, 0, size * sizeof *W);
    for (size_t other = 0; other < m->k; other++) {
        if (other == c) continue;
        cri_gmm_covariance(m, other, S);
        for (size_t a = 0; a < size; a++) {
            W[other * size + a] = S[diagonal ? a * (d + 1) : a];
            W[c * size + a] += spread * W[other * size + a] / (double)(m->k - 1);
        }
    }
    for (size_t i = 0; i < m->k; i++) {
        m->share[i] =
            i == c ? 1 / (double)m->k : m->share[i] / rest * (double)(m->k - 1) / (double)m->k;
        N[i] = m->share[i];
        for (size_t a = 0; a < size; a++) W[i * size + a] *= N[i];
    }
    for (size_t j = 0; j < d; j++)
        m->mean[c * d + j] = isnan(rows->T[row * d + j]) ? 0 : rows->T[row * d + j];
    CR_TRY(cri_gmm_covariances(cx, m, W, N, C));
    m->lost = !cri_gmm_set_covariances(m, C);
    if (!m->lost) cri_gmm_prepare(m);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gmm_swap(cr_ctx *cx, const cri_gmm_rows *rows, const cri_gmm *end, cr_rng *rng,
                       cri_gmm *m)
{
    cr_status st = CR_OK;
    double    best = -INFINITY, reached = -INFINITY;
    size_t    swaps = (size_t)fmin(fmax(SWAP_EFFORT / (double)(rows->n * m->k), 4), 40);
    cri_gmm  *kept = NULL;
    CR_TRY(cri_gmm_new(cx, m->k, m->d, m->form, 1, &kept));
    memcpy(kept->scale, m->scale, m->d * sizeof(double));
    take(end, kept);
    for (size_t b = 0; b < swaps; b++) {
        size_t c = (size_t)cr_rng_below(rng, m->k);
        take(end, m);
        double spread = pow(10, -2 * fmax(2 * cr_rng_uniform(rng) - 1, 0));
        CR_TRY(move_component(cx, rows, c, draw_row(rows, NULL, rng), spread, m));
        CR_TRY(short_run(cx, rows, 4 * SHORT_RUN, m, &reached));
        if (reached > best) best = reached, take(m, kept);
    }
    take(kept, m);
done:
    cri_state_free(cx, &cri_class_gmm, kept);
    return st;
}
