/* kmeans_lloyd.c -- Lloyd's steps with Hamerly's bounds.
 * A step gives every row to its nearest centre, then moves every centre to the mean of its rows.  u >= |x - c_a| and
 * l <= |x - c| for all other c follow from the last step by the ways that the centres went since; as long as
 * u <= max(l, half the way from c_a to the next centre) the row stays, and no distance is computed.  Of the others some
 * are kept by l less the way of the ninth centre, in the order of their ways: these get distances to the first eight.
 * The rest are gathered and get all k distances at once, |x|^2 - 2 x.c + |c|^2 by a matrix product, and by differences where
 * rounding could decide.  Ties stay with the cluster that the row has.  Sums change by the rows that move.
 * O(n) a step, and O(k p) for each row whose bounds fail.  Lloyd (1982), IEEE Trans. Information Theory 28;
 * Hamerly (2010), SIAM Data Mining. */
#include "kmeans.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "math/dense/blas_internal.h"
#include "math/kernel/array.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 256, NO_CLUSTER = UINT32_MAX, FRESH = 32, FEW = 8 };

static const double TIE = 1e-12; /* shares of a squared distance that count as none */
static const double HOPE = 3;    /* times the gain of the last step that the next ones may bring */

/* --- workspace ------------------------------------------------------------------------------- */

cr_status cri_kmeans_work_open(cr_ctx *cx, const cri_kmeans_rows *d, size_t k, cri_kmeans_work *out)
{
    cri_kmeans_work w = { .d = d, .k = k };
    double        **per_term[] = { &w.C, &w.sum };
    double        **per_cluster[] = { &w.size, &w.count, &w.norm, &w.half, &w.drift };
    double        **per_row[] = { &w.u, &w.l };
    bool            all = (w.a = cr_alloc(cx, d->n, sizeof *w.a)) != NULL;
    for (size_t i = 0; i < 2 && all; i++)
        all = (*per_term[i] = cr_alloc(cx, k * d->p, sizeof(double))) != NULL;
    for (size_t i = 0; i < 5 && all; i++)
        all = (*per_cluster[i] = cr_alloc(cx, k, sizeof(double))) != NULL;
    for (size_t i = 0; i < 2 && all; i++)
        all = (*per_row[i] = cr_alloc(cx, d->n, sizeof(double))) != NULL;
    if (all)
        *out = w;
    else
        cri_kmeans_work_close(cx, &w);
    return all ? CR_OK : CR_ENOMEM;
}

void cri_kmeans_work_close(cr_ctx *cx, cri_kmeans_work *w)
{
    double *per_term[] = { w->C, w->sum };
    double *per_cluster[] = { w->size, w->count, w->norm, w->half, w->drift };
    double *per_row[] = { w->u, w->l };
    size_t  n = w->d ? w->d->n : 0, p = w->d ? w->d->p : 0;
    for (size_t i = 0; i < 2; i++) cr_free(cx, per_term[i], w->k * p, sizeof(double));
    for (size_t i = 0; i < 5; i++) cr_free(cx, per_cluster[i], w->k, sizeof(double));
    for (size_t i = 0; i < 2; i++) cr_free(cx, per_row[i], n, sizeof(double));
    cr_free(cx, w->a, n, sizeof *w->a);
    cr_free(cx, w->trace, w->capacity, sizeof(double));
    *w = (cri_kmeans_work){ 0 };
}

/* --- one step: rows --------------------------------------------------------------------------- */

/* What a pass adds up, for each cluster and at the end: changes of sum [k x p], size [k] and count [k]; rows that
 * changed. */
static size_t width_of(const cri_kmeans_work *w) { return w->k * (w->d->p + 2) + 1; }

/* Centres in the order of the ways they went, the farthest first. */
typedef struct pass {
    cri_kmeans_work *w;
    uint32_t        *order;     /* [k] the centre at each place                 */
    double          *way;       /* [k + 1] how far they went; 0 after the last  */
    size_t           few;       /* of them, or all                              */
    double          *C, *norm;  /* [k x p], [k] centres in this order, |c|^2    */
    double           most_norm; /* the largest |c|^2                            */
} pass;

static void add_row(const cri_kmeans_work *w, size_t i, size_t c, double sign, double *acc)
{
    size_t        k = w->k, p = w->d->p;
    const double *x = w->d->X + i * p;
    double        weight = sign * w->d->w[i];
    for (size_t j = 0; j < p; j++) acc[c * p + j] += weight * x[j];
    acc[k * p + c] += weight;
    acc[k * p + k + c] += sign;
}

/* The place of the nearest centre of row i by differences, among those whose v is near the least; the first of equal
 * ones. */
static size_t settle_tie(const pass *s, size_t i, const double *v, size_t places, double most)
{
    size_t        best = 0, p = s->w->d->p;
    double        least = INFINITY;
    const double *x = s->w->d->X + i * p;
    for (size_t c = 0; c < places; c++) {
        if (v[c] > most) continue;
        double square = cri_kmeans_square(x, s->C + c * p, p);
        if (square < least * (1 - TIE)) least = square, best = c;
    }
    return best;
}

/* Cluster and bounds of row i by v = |c|^2 - 2 x.c of the centres at the first places, known to within `error`; those
 * at the others are no nearer than l, and than the centre that the row has. */
static void settle_row(const pass *s, size_t i, const double *v, size_t places, double *acc)
{
    cri_kmeans_work *w = s->w;
    size_t           p = w->d->p, old = w->a[i], k = w->k;
    const double    *x = w->d->X + i * p;
    double error = 2 * (double)(p + 8) * DBL_EPSILON * (w->d->norm[i] + s->most_norm), least, next;
    size_t at = cri_least_two(v, places, &least, &next), nearest = at;
    double bound = next;
    if (!(next - least > 2 * error)) nearest = settle_tie(s, i, v, places, least + 2 * error);
    size_t new = s->order[nearest];
    double rest = places < k ? w->l[i] : INFINITY;
    if (new != old) {
        double square = cri_kmeans_square(x, w->C + new *p, p), u = w->u[i];
        if (old != NO_CLUSTER && !(square < u * u * (1 - TIE)))
            new = old;
        else
            rest = fmin(rest, old == NO_CLUSTER ? INFINITY : u), w->u[i] = sqrt(square);
    }
    if (new != s->order[at]) bound = least;
    bound += w->d->norm[i] - error;
    w->l[i] = fmin(rest, bound > 0 ? sqrt(bound) : 0);
    if (new == old) return;
    if (old != NO_CLUSTER) add_row(w, i, old, -1, acc);
    add_row(w, i, new, 1, acc);
    w->a[i] = (uint32_t) new;
    acc[k * (p + 2)] += 1;
}

/* Brings the bounds of row i up to date; false when they keep it where it is. */
static bool has_failed(const pass *s, size_t i)
{
    cri_kmeans_work *w = s->w;
    size_t           a = w->a[i];
    if (a == NO_CLUSTER) return true;
    w->u[i] += w->drift[a];
    w->l[i] -= s->way[a == s->order[0]];
    return w->u[i] > (w->l[i] > w->half[a] ? w->l[i] : w->half[a]);
}

/* How many centres a row whose bounds have failed has to be compared with, those that went farthest: none where its
 * distance keeps it where it is; a few where no other can have come near it; or all k. */
static size_t places_for(const pass *s, size_t i)
{
    cri_kmeans_work *w = s->w;
    size_t           a = w->a[i], p = w->d->p;
    if (a == NO_CLUSTER) return w->k;
    w->u[i] = sqrt(cri_kmeans_square(w->d->X + i * p, w->C + a * p, p));
    if (w->u[i] <= (w->l[i] > w->half[a] ? w->l[i] : w->half[a])) return 0;
    w->l[i] += s->way[a == s->order[0]] - s->way[s->few]; /* of all but these */
    return w->u[i] <= w->l[i] ? s->few : w->k;
}

/* Rows of a block, by their places in it. */
typedef struct listed {
    size_t   n;
    uint16_t at[BLOCK];
} listed;

/* Compares these rows from `begin` on with so many centres.  workspace: G [BLOCK x p] the rows, V [BLOCK x k]. */
static void settle_rows(const pass *s, size_t begin, const listed *rows, size_t compared,
                        double *acc, double *workspace)
{
    size_t  p = s->w->d->p;
    double *G = workspace, *V = workspace + BLOCK * p;
    if (rows->n == 0) return;
    for (size_t e = 0; e < rows->n; e++) {
        memcpy(G + e * p, s->w->d->X + (begin + rows->at[e]) * p, p * sizeof *G);
        memcpy(V + e * compared, s->norm, compared * sizeof *V);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows->n, (int)compared, (int)p, -2, G,
                (int)p, s->C, (int)p, 1, V, (int)compared);
    for (size_t e = 0; e < rows->n; e++)
        settle_row(s, begin + rows->at[e], V + e * compared, compared, acc);
}

/* Rows are asked for from memory when their bounds fail, some time before they are looked at. */
static void pass_block(void *arg, cri_range range, double *acc, double *workspace)
{
    const pass   *s = arg;
    size_t        p = s->w->d->p, begin = range.begin;
    const double *X = s->w->d->X;
    listed        failed = { 0 }, few = { 0 }, all = { 0 };
    for (size_t i = begin; i < range.end; i++) {
        if (!has_failed(s, i)) continue;
        for (size_t j = 0; j < p && j < 64; j += 8) __builtin_prefetch(X + i * p + j);
        failed.at[failed.n++] = (uint16_t)(i - begin);
    }
    for (size_t e = 0; e < failed.n; e++) {
        size_t  places = places_for(s, begin + failed.at[e]);
        listed *list = places == s->w->k ? &all : &few;
        if (places > 0) list->at[list->n++] = failed.at[e];
    }
    settle_rows(s, begin, &all, s->w->k, acc, workspace);
    settle_rows(s, begin, &few, s->few, acc, workspace);
}

/* Norms of the centres, and half their ways to the next one. */
static void prepare(cri_kmeans_work *w)
{
    size_t k = w->k, p = w->d->p;
    for (size_t c = 0; c < k; c++) {
        w->norm[c] = 0;
        for (size_t j = 0; j < p; j++) w->norm[c] += w->C[c * p + j] * w->C[c * p + j];
        w->half[c] = INFINITY;
    }
    for (size_t c = 0; c < k; c++)
        for (size_t b = 0; b < c; b++) {
            double square = cri_kmeans_square(w->C + c * p, w->C + b * p, p) / 4;
            w->half[c] = fmin(w->half[c], square), w->half[b] = fmin(w->half[b], square);
        }
    for (size_t c = 0; c < k; c++) w->half[c] = sqrt(w->half[c]);
}

/* Centres in the order of their ways. */
static cr_status open_pass(cr_scratch *room, pass *s)
{
    cri_kmeans_work *w = s->w;
    size_t           k = w->k, p = w->d->p;
    s->order = cr_scratch_bytes(room, k, sizeof *s->order);
    s->way = cr_scratch_f64(room, k + 1);
    s->norm = cr_scratch_f64(room, k);
    s->C = cr_scratch_matrix(room, k, p);
    if (room->status != CR_OK) return room->status;
    prepare(w);
    for (size_t c = 0; c < k; c++) {
        size_t at = c;
        for (; at > 0 && w->drift[c] > w->drift[s->order[at - 1]]; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = (uint32_t)c;
    }
    for (size_t at = 0; at < k; at++) {
        size_t c = s->order[at];
        s->way[at] = w->drift[c];
        s->norm[at] = w->norm[c];
        s->most_norm = fmax(s->most_norm, w->norm[c]);
        memcpy(s->C + at * p, w->C + c * p, p * sizeof *s->C);
    }
    s->way[k] = 0;
    s->few = k < 4 * FEW ? k : FEW;
    return CR_OK;
}

static cr_status pass_rows(cr_ctx *cx, cri_kmeans_work *w, double *acc)
{
    cr_status  st = CR_OK;
    cr_scratch room = cr_scratch_begin(cx);
    pass       s = { .w = w };
    CR_TRY(open_pass(&room, &s));
    cri_blas_enter();
    st = cri_parallel_sum_in(cx, NULL, w->d->n, BLOCK, width_of(w), BLOCK * (w->d->p + w->k),
                             pass_block, &s, acc);
    cri_blas_leave();
done:
    cr_scratch_end(&room);
    return st;
}

/* --- one step: centres ------------------------------------------------------------------------ */

void cri_kmeans_move(cri_kmeans_work *w, size_t i, size_t b)
{
    size_t        p = w->d->p, a = w->a[i];
    double        weight = w->d->w[i];
    const double *x = w->d->X + i * p;
    w->size[a] -= weight, w->size[b] += weight;
    w->count[a] -= 1, w->count[b] += 1;
    for (size_t j = 0; j < p; j++) {
        w->sum[a * p + j] -= weight * x[j];
        w->sum[b * p + j] += weight * x[j];
    }
    w->a[i] = (uint32_t)b;
    w->u[i] = INFINITY, w->l[i] = 0;
}

/* The row that adds most to the inertia, of clusters of several rows. */
static size_t find_farthest(const cri_kmeans_work *w)
{
    size_t p = w->d->p, best = SIZE_MAX;
    double most = -1;
    for (size_t i = 0; i < w->d->n; i++) {
        double part;
        if (w->count[w->a[i]] < 2) continue;
        part = w->d->w[i] * cri_kmeans_square(w->d->X + i * p, w->C + w->a[i] * p, p);
        if (part > most) most = part, best = i;
    }
    return best;
}

/* Every cluster without rows gets the row that adds most: there are k rows. */
static void fill_empty(cri_kmeans_work *w)
{
    for (size_t c = 0; c < w->k; c++) {
        if (w->count[c] > 0) continue;
        memset(w->sum + c * w->d->p, 0, w->d->p * sizeof(double));
        w->size[c] = 0;
        cri_kmeans_move(w, find_farthest(w), c);
    }
}

/* Centres to the means of their rows; their ways, and the inertia that is left. */
static void set_centres(cri_kmeans_work *w)
{
    size_t p = w->d->p;
    double explained = 0;
    for (size_t c = 0; c < w->k; c++) {
        double way = 0;
        for (size_t j = 0; j < p; j++) {
            double mean = w->sum[c * p + j] / w->size[c], step = mean - w->C[c * p + j];
            way += step * step;
            explained += w->size[c] * mean * mean;
            w->C[c * p + j] = mean;
        }
        w->drift[c] = sqrt(way);
    }
    w->inertia = fmax(w->d->total - explained, 0);
}

static void sum_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_work *w = arg;
    for (size_t i = range.begin; i < range.end; i++) add_row(w, i, w->a[i], 1, acc);
}

static void square_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_work *w = arg;
    size_t                 p = w->d->p;
    for (size_t i = range.begin; i < range.end; i++)
        acc[0] += w->d->w[i] * cri_kmeans_square(w->d->X + i * p, w->C + w->a[i] * p, p);
}

/* acc [width] = the sums of all rows, or what a pass changed of them. */
static void take_sums(cri_kmeans_work *w, const double *acc, bool anew)
{
    size_t k = w->k, p = w->d->p;
    for (size_t i = 0; i < k * p; i++) w->sum[i] = (anew ? 0 : w->sum[i]) + acc[i];
    for (size_t c = 0; c < k; c++) {
        w->size[c] = (anew ? 0 : w->size[c]) + acc[k * p + c];
        w->count[c] = (anew ? 0 : w->count[c]) + acc[k * p + k + c];
    }
}

static cr_status sum_anew(cr_ctx *cx, cri_kmeans_work *w, double *acc)
{
    cr_status st = cri_parallel_sum(cx, NULL, w->d->n, BLOCK, width_of(w), sum_block, w, acc);
    if (st == CR_OK) take_sums(w, acc, true);
    return st;
}

cr_status cri_kmeans_resum(cr_ctx *cx, cri_kmeans_work *w)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *acc = cr_scratch_f64(&s, width_of(w));
    CR_TRY(s.status);
    CR_TRY(sum_anew(cx, w, acc));
    set_centres(w);
    CR_TRY(cri_parallel_sum(cx, NULL, w->d->n, BLOCK, 1, square_block, w, &w->inertia));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- steps ------------------------------------------------------------------------------------ */

void cri_kmeans_forget(cri_kmeans_work *w)
{
    for (size_t i = 0; i < w->d->n; i++) w->a[i] = NO_CLUSTER;
    memset(w->sum, 0, w->k * w->d->p * sizeof(double));
    memset(w->size, 0, w->k * sizeof(double));
    memset(w->count, 0, w->k * sizeof(double));
    memset(w->drift, 0, w->k * sizeof(double));
    w->converged = false;
}

void cri_kmeans_begin(cri_kmeans_work *w)
{
    cri_kmeans_forget(w);
    w->iterations = w->passes = 0;
    w->inertia = INFINITY;
}

cr_status cri_kmeans_note_step(cr_ctx *cx, cri_kmeans_work *w)
{
    cr_status st = cri_array_grow(cx, &w->trace, w->iterations, &w->capacity, sizeof(double));
    if (st == CR_OK) w->trace[w->iterations++] = w->inertia;
    return st;
}

cr_status cri_kmeans_descend(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *acc = cr_scratch_f64(&s, width_of(w));

    CR_TRY(s.status);
    CR_TRY(cri_blas_reserve(cx));
    w->converged = false;
    while (!w->converged && w->iterations < limits->max_iter) {
        double before = w->inertia, changed;
        bool   hopeless;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(pass_rows(cx, w, acc));
        w->passes++;
        take_sums(w, acc, false);
        changed = acc[width_of(w) - 1];
        if ((w->iterations + 1) % FRESH == 0) CR_TRY(sum_anew(cx, w, acc));
        fill_empty(w);
        set_centres(w);
        CR_TRY(cri_kmeans_note_step(cx, w));
        cri_progress_steps(cx, (double)w->iterations);
        w->converged =
            changed == 0 || (isfinite(before) && before - w->inertia <= limits->tol * before);
        hopeless = limits->aim > 0 && isfinite(before) &&
                   w->inertia - limits->aim > HOPE * (before - w->inertia);
        if (hopeless || cri_clock_over(limits->clock)) break;
    }
done:
    cr_scratch_end(&s);
    return st;
}
