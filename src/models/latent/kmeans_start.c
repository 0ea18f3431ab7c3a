/* kmeans_start.c -- centres to begin with.
 * k-means++: the first a row drawn as it weighs, each further one a row drawn by w_i times its squared distance to the
 * nearest centre so far; of 2 + ln k such draws the one that leaves the least sum (greedy).  A row whose nearest
 * centre c is so near that 2 |x - c| <= |c - new| cannot come nearer to the new one, and is not looked at.
 * Of many rows an eighth is sampled, evenly along their order; centres are found for the sample, in the same way and
 * by steps on it, and are those to begin with: most steps are then taken on few rows.
 * Arthur & Vassilvitskii (2007), SODA. */
#include "kmeans.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "data/formats/read.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024, MOST_TRIALS = 32, SHARE = 8, LEAST_SAMPLE = 4096, ROWS_OF_CLUSTER = 128 };

/* near [n], in w->a, and square [n], in w->u: the nearest centre so far, and how far that is. */
typedef struct growth {
    cri_kmeans_work *w;
    size_t           trials, new;     /* the number of the centre that is chosen */
    const double    *at[MOST_TRIALS]; /* rows that it may be                 */
    double          *way;             /* [k x trials] their squared distances to the centres */
    double          *left;            /* [blocks] sum of w square            */
} growth;

/* Squared distance of row i to trial t where that is nearer than its centre, else what it has. */
static inline double nearer(const growth *g, size_t i, size_t t)
{
    const cri_kmeans_work *w = g->w;
    size_t                 p = w->d->p;
    double                 square = w->u[i];
    if (g->way[w->a[i] * g->trials + t] >= 4 * square) return square;
    return fmin(square, cri_kmeans_square(w->d->X + i * p, g->at[t], p));
}

static void weigh_block(void *arg, cri_range range, double *acc)
{
    const growth *g = arg;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t t = 0; t < g->trials; t++) acc[t] += g->w->d->w[i] * nearer(g, i, t);
}

/* Takes trial 0 as the new centre. */
static void take_block(void *arg, size_t block)
{
    growth          *g = arg;
    cri_kmeans_work *w = g->w;
    cri_range        range = cri_block_range(w->d->n, BLOCK, block);
    g->left[block] = 0;
    for (size_t i = range.begin; i < range.end; i++) {
        double square = g->new == 0 ? cri_kmeans_square(w->d->X + i * w->d->p, g->at[0], w->d->p)
                                    : nearer(g, i, 0);
        if (g->new == 0 || square < w->u[i]) w->u[i] = square, w->a[i] = (uint32_t)g->new;
        g->left[block] += w->d->w[i] * square;
    }
}

size_t cri_kmeans_draw_far(const cri_kmeans_work *w, const double *left, size_t block, cr_rng *r)
{
    const cri_kmeans_rows *d = w->d;
    size_t                 blocks = cri_block_count(d->n, block), b = 0, last = SIZE_MAX;
    double                 total = 0, rest;
    for (size_t i = 0; i < blocks; i++) total += left[i];
    rest = total * cr_rng_uniform(r);
    while (b + 1 < blocks && rest >= left[b]) rest -= left[b++];
    for (size_t i = b * block; i < d->n; i++) {
        double part = d->w[i] * w->u[i];
        if (!(part > 0)) continue;
        last = i;
        if ((rest -= part) < 0) break;
    }
    if (last == SIZE_MAX) last = cr_rng_below(r, d->n); /* squares that have underflown */
    return last;
}

static size_t draw_row(const cri_kmeans_rows *d, cr_rng *r)
{
    double rest = d->weight * cr_rng_uniform(r);
    size_t i = 0;
    while (i + 1 < d->n && (rest -= d->w[i]) >= 0) i++;
    return i;
}

/* Of `trials` rows the one that leaves the least; the first of equal ones. */
static cr_status choose_trial(cr_ctx *cx, growth *g, size_t trials, cr_rng *r)
{
    cri_kmeans_work *w = g->w;
    size_t           p = w->d->p, best = 0;
    double           left[MOST_TRIALS];
    g->trials = trials;
    for (size_t t = 0; t < trials; t++) {
        g->at[t] = w->d->X + cri_kmeans_draw_far(w, g->left, BLOCK, r) * p;
        for (size_t c = 0; c < g->new; c++)
            g->way[c * trials + t] = cri_kmeans_square(w->C + c * p, g->at[t], p);
    }
    cr_status st = cri_parallel_sum(cx, NULL, w->d->n, BLOCK, trials, weigh_block, g, left);
    for (size_t t = 1; t < trials && st == CR_OK; t++)
        if (left[t] < left[best]) best = t;
    g->at[0] = g->at[best];
    for (size_t c = 0; c < g->new; c++) g->way[c] = g->way[c * trials + best];
    g->trials = 1;
    return st;
}

static cr_status grow(cr_ctx *cx, cri_kmeans_work *w, cr_rng *r)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = w->d->p, blocks = cri_block_count(w->d->n, BLOCK);
    size_t     trials = 2 + (size_t)log((double)w->k);
    growth     g = { .w = w, .trials = 1 };
    if (trials > MOST_TRIALS) trials = MOST_TRIALS;
    g.way = cr_scratch_matrix(&s, w->k, trials);
    g.left = cr_scratch_f64(&s, blocks);

    CR_TRY(s.status);
    g.at[0] = w->d->X + draw_row(w->d, r) * p;
    for (g.new = 0; g.new < w->k; g.new ++) {
        CR_TRY(cr_check_interrupt(cx));
        if (g.new > 0) CR_TRY(choose_trial(cx, &g, trials, r));
        memcpy(w->C + g.new *p, g.at[0], p * sizeof(double));
        CR_TRY(cri_parallel_for(cx, NULL, blocks, take_block, &g));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* k different rows, one after another as they weigh among those that are left. */
static void choose_rows(cri_kmeans_work *w, cr_rng *r)
{
    const cri_kmeans_rows *d = w->d;
    double                 rest = d->weight;
    for (size_t i = 0; i < d->n; i++) w->u[i] = d->w[i];
    for (size_t c = 0; c < w->k; c++) {
        double at = rest * cr_rng_uniform(r);
        size_t last = 0;
        for (size_t i = 0; i < d->n; i++) {
            if (!(w->u[i] > 0)) continue;
            last = i;
            if ((at -= w->u[i]) < 0) break;
        }
        rest -= w->u[last];
        w->u[last] = 0;
        memcpy(w->C + c * d->p, d->X + last * d->p, d->p * sizeof(double));
    }
}

/* --- from a sample ---------------------------------------------------------------------------- */

/* About m of the rows, evenly along their order and as they weigh; each as often as it is met. */
static cr_status sample_rows(cr_ctx *cx, const cri_kmeans_rows *d, size_t m, cr_rng *r,
                             cri_kmeans_rows *out)
{
    double step = d->weight / (double)m, at = -step * cr_rng_uniform(r);
    *out = (cri_kmeans_rows){ .p = d->p, .room = m * d->p, .capacity = m };
    out->X = cr_alloc(cx, out->room, sizeof(double));
    out->w = cr_alloc(cx, m, sizeof(double));
    out->norm = cr_alloc(cx, m, sizeof(double));
    if (!out->X || !out->w || !out->norm) return CR_ENOMEM;
    for (size_t i = 0; i < d->n && out->n < m; i++) {
        double times = floor((at + d->w[i]) / step) - floor(at / step);
        at += d->w[i];
        if (!(times > 0)) continue;
        memcpy(out->X + out->n * d->p, d->X + i * d->p, d->p * sizeof(double));
        out->norm[out->n] = d->norm[i];
        out->w[out->n++] = times;
        out->weight += times;
        out->total += times * d->norm[i];
    }
    return CR_OK;
}

/* Steps on a sample need not go to their end: the rows of the sample are not all. */
static const double ROUGH = 1e-5;

static cr_status start_from_sample(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s,
                                   cr_rng *r)
{
    cr_status           st = CR_OK;
    cri_kmeans_rows     d = { 0 };
    cri_kmeans_work     sub = { 0 };
    cri_kmeans_settings rough = *s;
    bool                enough;

    rough.limits.tol = fmax(s->limits.tol, ROUGH);
    CR_TRY(sample_rows(cx, w->d, w->d->n / SHARE, r, &d));
    enough = d.n / SHARE >= w->k; /* unless some rows weigh as much as many */
    if (!enough) {
        st = grow(cx, w, r);
        goto done;
    }
    CR_TRY(cri_kmeans_work_open(cx, &d, w->k, &sub));
    CR_TRY(cri_kmeans_run(cx, &sub, &rough, r));
    memcpy(w->C, sub.C, w->k * w->d->p * sizeof(double));
done:
    cri_kmeans_work_close(cx, &sub);
    cri_kmeans_rows_close(cx, &d);
    return st;
}

bool cri_kmeans_has_many(const cri_kmeans_work *w)
{
    size_t least = ROWS_OF_CLUSTER * w->k > LEAST_SAMPLE ? ROWS_OF_CLUSTER * w->k : LEAST_SAMPLE;
    return w->d->n / SHARE >= least;
}

cr_status cri_kmeans_start(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s,
                           cr_rng *rng)
{
    if (s->random) {
        choose_rows(w, rng);
        return cr_check_interrupt(cx);
    }
    return cri_kmeans_has_many(w) ? start_from_sample(cx, w, s, rng) : grow(cx, w, rng);
}

/* --- from a file ------------------------------------------------------------------------------ */

static cr_status check_centres(cr_ctx *cx, const cr_table *t, const cri_rows *rows)
{
    if (rows->n < cr_table_rows(t))
        return cr_fail(cx, CR_EDATA, "%s: %zu of %zu centres have missing values",
                       cr_table_source(t), cr_table_rows(t) - rows->n, cr_table_rows(t));
    if (rows->n == 0)
        return cr_fail(cx, CR_EDATA, "%s: there is no centre to start from", cr_table_source(t));
    return CR_OK;
}

cr_status cri_kmeans_read_centres(cr_ctx *cx, const char *path, const cr_design *design,
                                  const cri_kmeans_rows *d, double **out_C, size_t *out_k)
{
    cr_status       st = CR_OK;
    cr_table       *t = NULL;
    cri_rows        rows = { 0 };
    cr_read_options o = { 0 };
    double         *C = NULL;

    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_table_read(cx, path, &o, &t));
    CR_TRY(cri_rows_open(cx, design, t, CRI_INPUTS_ALONE, &rows));
    CR_TRY(check_centres(cx, t, &rows));
    C = cr_alloc(cx, rows.n * d->p, sizeof *C);
    if (!C) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_rows_matrix(cx, &rows, C));
    for (size_t i = 0; i < rows.n * d->p; i++)
        C[i] = (C[i] - d->shift[i % d->p]) / d->scale[i % d->p];
    *out_C = C, *out_k = rows.n;
    C = NULL;
done:
    cr_free(cx, C, rows.n * d->p, sizeof *C);
    cri_rows_close(cx, &rows);
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}
