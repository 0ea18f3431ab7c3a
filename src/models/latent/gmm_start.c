/* gmm_start.c -- starts of EM for a Gaussian mixture.
 * The first is the best of three divisions of some rows into hierarchical clusters (gmm_tree.c).  Others are made by
 * k-means++ on these rows, in columns of equal spread or in whitened ones by turns, and a few steps of k-means; means,
 * shares and covariances follow from the rows of each cluster, the covariances drawn towards the pooled one, and of a
 * few such beginnings, each followed by EM on these rows for a few steps, the highest is the start.  By turns with
 * these, swaps (gmm_swap.c) lead on from the best end so far.  From the seventh start on, where many are asked for,
 * three of four are chains of swaps that begin with k-means++, so that a search does not depend on one end.
 * Arthur & Vassilvitskii (2007), SODA; Biernacki, Celeux & Govaert (2003), Comp. Stat. & Data Analysis 41. */
#include "gmm_start.h"
#include "models/core/leaps.h"
#include "base/scratch.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { FIRST_STARTS = 6, BEGINNINGS = 3, CHAINS = 3, SHORT_RUN = 5, LLOYD = 4 };
static const double SWAP_EFFORT = 15000; /* rows times components of all swaps of a start */

typedef struct seeding {
    const cri_gmm_rows *rows;
    size_t              k;
    double             *Y;        /* [n x d] the rows as distances are taken   */
    double             *centre;   /* [k x d] of these                          */
    double             *distance; /* [n] squared, to the nearest centre        */
    size_t             *nearest;  /* [n]                                       */
} seeding;

static double squared_distance(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

size_t cri_gmm_draw_row(const cri_gmm_rows *rows, const double *opt_by, cr_rng *r)
{
    double total = 0, left;
    for (size_t i = 0; i < rows->n; i++) total += rows->w[i] * (opt_by ? opt_by[i] : 1);
    if (!(total > 0) && opt_by) return cri_gmm_draw_row(rows, NULL, r);
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
        size_t at = cri_gmm_draw_row(s->rows, c ? s->distance : NULL, r);
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

cr_status cri_gmm_short_run(cr_ctx *cx, const cri_gmm_rows *rows, size_t most, cri_gmm *m,
                            double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     width = cri_gmm_width(m);
    double    *sums = cr_scratch_f64(&s, width), *work = cr_scratch_f64(&s, cri_gmm_work(m));
    double     before = -INFINITY;
    bool       spurious = false;
    cri_leaps  l;

    cri_leaps_begin(&s, cri_class_gmm.em, m, &l);
    CR_TRY(s.status);
    *out = -INFINITY;
    for (size_t step = 0; !m->lost; step++) {
        memset(sums, 0, width * sizeof *sums);
        cri_gmm_add(m, rows->T, rows->w, rows->n, sums, work);
        double objective = sums[0] + cri_gmm_log_prior(m);
        if (l.leapt && !(objective >= before && isfinite(objective))) {
            CR_TRY(cri_leaps_back(cx, &l, m));
            continue;
        }
        if (!isfinite(objective)) goto done;
        bool enough = !l.leapt && objective - before <= CRI_GMM_ENOUGH * rows->weight;
        before = objective;
        if (step >= most || enough) break;
        CR_TRY(cr_check_interrupt(cx));
        cri_leaps_from(&l, m);
        CR_TRY(cri_gmm_solve(cx, NULL, sums, m));
        if (!m->lost && step + 2 <= most) CR_TRY(cri_leaps_on(cx, &l, m));
    }
    if (m->lost) goto done;
    CR_TRY(cri_gmm_is_flat(cx, m, rows->least, &spurious));
    for (size_t c = 0; c < m->k; c++) spurious |= m->share[c] < rows->least_share;
    if (!spurious) *out = before;
done:
    cr_scratch_end(&s);
    return st;
}

void cri_gmm_take(const cri_gmm *from, cri_gmm *to)
{
    memcpy(to->share, from->share, from->k * sizeof(double));
    memcpy(to->mean, from->mean, from->kd * sizeof(double));
    memcpy(to->L, from->L, from->kd * from->width * sizeof(double));
    to->lost = false;
    cri_gmm_prepare(to);
}

cr_status cri_gmm_trial_open(cr_ctx *cx, const cri_gmm *m, cri_gmm_trial *out)
{
    out->kept = NULL, out->best = -INFINITY;
    cr_status st = cri_gmm_new(cx, m->k, m->d, m->form, 1, &out->kept);
    if (st == CR_OK) memcpy(out->kept->scale, m->scale, m->d * sizeof(double));
    return st;
}

cr_status cri_gmm_try(cr_ctx *cx, const cri_gmm_rows *rows, size_t most, cri_gmm *m,
                      cri_gmm_trial *t)
{
    double    reached = -INFINITY;
    cr_status st = cri_gmm_short_run(cx, rows, most, m, &reached);
    if (st == CR_OK && reached > t->best) t->best = reached, cri_gmm_take(m, t->kept);
    return st;
}

/* --- starts ----------------------------------------------------------------------------------- */

/* The best of a few beginnings by k-means++, in whitened columns or in those of equal spread. */
static cr_status start_from_centres(cr_ctx *cx, const cri_gmm_rows *rows, size_t attempt,
                                    cr_rng *rng, cri_gmm *m)
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
    double    *weight = cr_scratch_f64(&room, k);

    cri_gmm_trial t = { 0 };
    CR_TRY(room.status);
    CR_TRY(cri_gmm_trial_open(cx, m, &t));
    cri_gmm_spread_rows(rows, attempt % 2 == 1, C, L, s.Y);
    for (size_t b = 0; b < (k == 1 ? 1 : BEGINNINGS); b++) {
        draw_centres(&s, rng);
        for (size_t step = 0; step < LLOYD && (attempt + b) % 3 != 2; step++)
            move_centres(&s, weight);
        CR_TRY(describe_groups(cx, &s, C, m));
        if (b == 0 && !m->lost) cri_gmm_take(m, t.kept); /* where all of them get lost */
        CR_TRY(cri_gmm_try(cx, rows, k == 1 ? 0 : SHORT_RUN, m, &t));
    }
    cri_gmm_take(t.kept, m);
done:
    cri_state_free(cx, &cri_class_gmm, t.kept);
    cr_scratch_end(&room);
    return st;
}

/* The best of the clusters of the trees. */
static cr_status start_from_tree(cr_ctx *cx, const cri_gmm_rows *rows, const cri_gmm_tree *tree,
                                 cri_gmm *m)
{
    cr_status     st = CR_OK;
    cr_scratch    room = cr_scratch_begin(cx);
    size_t        d = rows->d, *root = cr_scratch_index(&room, tree->leaves);
    double       *C = cr_scratch_matrix(&room, d, d);
    cri_gmm_rows  first = *rows;
    seeding       s = { .rows = &first, .k = m->k, .nearest = cr_scratch_index(&room, tree->n) };
    cri_gmm_trial t = { 0 };

    first.n = tree->n;
    CR_TRY(room.status);
    CR_TRY(cri_gmm_trial_open(cx, m, &t));
    cri_gmm_overall_covariance(&first, C);
    for (size_t by = CRI_GMM_MERGINGS; by-- > 0;) {
        cri_gmm_tree_cut(tree, by, m->k, root, s.nearest);
        CR_TRY(describe_groups(cx, &s, C, m));
        if (by == CRI_GMM_MERGINGS - 1 && !m->lost) cri_gmm_take(m, t.kept);
        CR_TRY(cri_gmm_try(cx, rows, SHORT_RUN, m, &t));
    }
    cri_gmm_take(t.kept, m);
done:
    cri_state_free(cx, &cri_class_gmm, t.kept);
    cr_scratch_end(&room);
    return st;
}

/* Chains of swaps, each from where a run on these rows leads from a start by k-means++: the best of them. */
static cr_status start_by_chains(cr_ctx *cx, const cri_gmm_rows *rows, size_t attempt, cr_rng *rng,
                                 cri_gmm *m)
{
    cr_status     st = CR_OK;
    cri_gmm_trial first = { 0 }, best = { 0 };
    CR_TRY(cri_gmm_trial_open(cx, m, &first));
    CR_TRY(cri_gmm_trial_open(cx, m, &best));
    for (size_t chain = 0; chain < CHAINS; chain++) {
        CR_TRY(start_from_centres(cx, rows, CHAINS * attempt + chain, rng, m));
        cri_gmm_take(m, first.kept);
        if (chain == 0) cri_gmm_take(m, best.kept); /* where all of them get lost */
        first.best = -INFINITY;
        CR_TRY(cri_gmm_try(cx, rows, CRI_GMM_LONG_RUN, m, &first));
        CR_TRY(cri_gmm_swap(cx, rows, first.kept, SWAP_EFFORT, false, rng, m));
        CR_TRY(cri_gmm_try(cx, rows, 0, m, &best));
    }
    cri_gmm_take(best.kept, m);
done:
    cri_state_free(cx, &cri_class_gmm, first.kept);
    cri_state_free(cx, &cri_class_gmm, best.kept);
    return st;
}

cr_status cri_gmm_start(cr_ctx *cx, const cri_gmm_rows *rows, const cri_gmm_tree *opt_tree,
                        size_t attempt, const cri_gmm *opt_best, cr_rng *rng, cri_gmm *m)
{
    bool later = attempt >= FIRST_STARTS;
    if (attempt == 0 && opt_tree && m->k > 1) return start_from_tree(cx, rows, opt_tree, m);
    if (opt_best && attempt % (later ? 4 : 2) == 1)
        return cri_gmm_swap(cx, rows, opt_best, later ? 3 * SWAP_EFFORT : SWAP_EFFORT, true, rng,
                            m);
    return later && m->k > 1 ? start_by_chains(cx, rows, attempt, rng, m)
                             : start_from_centres(cx, rows, attempt / 2, rng, m);
}
