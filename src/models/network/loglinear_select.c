/* loglinear_select.c -- which pairs of columns need features: for each column, a logistic regression on all others with
 * a penalty by which most have no part in it; two columns are joined where both regressions, or one, say so.
 *   minimise  -log likelihood / n + lambda sum_u (d_u d_v)^1/2 |sd-scaled weights of u|_2,   d = states - 1
 * (of two states each, the lasso; else the group lasso), down a path of lambdas, by blocks: a step for a column against
 * the bound 1/4 (two classes) or 1/2 of the curvature, over the columns in play, then a look at all others.  Each set
 * that the path meets is judged by its own largest likelihood, not the shrunken one:
 *   -2 log L + |weights| log n + 2 gamma |columns| log(p - 1)
 * and the path ends once four sets in a row, or those of eight lambdas, were no better than the best,
 * from which columns are then left out as long as that is better still.  O(cells that are not in their first state) for a
 * lambda and a column.  Ravikumar, Wainwright & Lafferty (2010), Annals of Statistics 38; Barber & Drton (2015),
 * Electronic J. Statistics 9; Yuan & Lin (2006), J. Royal Stat. Soc. B 68. */
#include "loglinear.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { PATH = 25, MOST_PASSES = 300, WORSE = 4, AHEAD = 8 };
static const double RATIO = 0.02, TOLERANCE = 1e-4;

/* Rows by what they show: dummy d = first[u] + s - 1 is column u in its state s >= 1. */
typedef struct survey {
    const cri_cases_table *cases;
    size_t                 p, dummies, most; /* most: states of a column, less 1 */
    size_t                *first;            /* [p + 1] */
    size_t                *begin;            /* [dummies + 1] into row */
    uint32_t              *row;
} survey;

/* A sample of the rows. */
typedef struct sample {
    double *weight; /* [rows] */
    double  total;
    double *mass, *sd; /* [dummies] */
} sample;

/* What one regression works in. */
typedef struct work {
    double *eta, *slope; /* [rows x most] linear predictors; y - p */
    double *beta;        /* [dummies x most] */
    double *kept_eta, *kept_slope, *kept_beta;
    double *gradient, *step;        /* [most x most] */
    bool   *active, *best, *judged; /* [p] in play; of the best score; of the last score */
} work;

typedef struct selection {
    const survey                *x;
    const sample                *s;
    const cri_loglinear_options *o;
    cri_slots                    slots;
    work                        *work;
    double *
        lambda; /* [p] the middle of those at which a column has the best set; given where `fixed` */
    bool      fixed;
    bool     *found;   /* [p x p] row v: the neighbours of v */
    bool     *skipped; /* [p] there was no time for it */
    cri_clock clock;
} selection;

/* --- rows ------------------------------------------------------------------------------------- */

static cr_status open_survey(cr_scratch *s, const cri_cases_table *t, survey *x)
{
    size_t at = 0, cells = 0;
    *x = (survey){ .cases = t, .p = t->p, .most = 1 };
    x->first = cr_scratch_index(s, t->p + 1);
    if (!x->first) return s->status;
    for (size_t u = 0; u < t->p; u++) {
        x->first[u] = x->dummies;
        x->dummies += t->levels[u] - 1;
        if (t->levels[u] - 1 > x->most) x->most = t->levels[u] - 1;
        for (size_t i = 0; i < t->n; i++) cells += t->code[u][i] > 0;
    }
    x->first[t->p] = x->dummies;
    x->begin = cr_scratch_bytes(s, x->dummies + 2, sizeof *x->begin);
    x->row = cr_scratch_bytes(s, cells, sizeof *x->row);
    if (s->status != CR_OK) return s->status;
    for (size_t u = 0; u < t->p; u++)
        for (size_t state = 1; state < t->levels[u]; state++) {
            for (size_t i = 0; i < t->n; i++)
                if (t->code[u][i] == state) x->row[at++] = (uint32_t)i;
            x->begin[x->first[u] + state] = at;
        }
    return CR_OK;
}

static void weigh(const survey *x, sample *s)
{
    s->total = 0;
    for (size_t i = 0; i < x->cases->n; i++) s->total += s->weight[i];
    for (size_t d = 0; d < x->dummies; d++) {
        double q;
        s->mass[d] = 0;
        for (size_t i = x->begin[d]; i < x->begin[d + 1]; i++) s->mass[d] += s->weight[x->row[i]];
        q = s->mass[d] / s->total;
        s->sd[d] = q > 0 && q < 1 ? sqrt(q * (1 - q)) : 0;
    }
}

/* --- one regression --------------------------------------------------------------------------- */

/* slope of a row from its linear predictor: 1{y = c} - p_c for classes c = 1 .. R. */
static void set_slope(const double *eta, size_t R, size_t y, double *slope)
{
    double top = 0, sum;
    if (R == 1) { /* two classes */
        slope[0] = (double)(y == 1) - 1 / (1 + exp(-eta[0]));
        return;
    }
    for (size_t c = 0; c < R; c++) top = fmax(top, eta[c]);
    sum = exp(-top);
    for (size_t c = 0; c < R; c++) sum += slope[c] = exp(eta[c] - top);
    for (size_t c = 0; c < R; c++) slope[c] = (double)(c + 1 == y) - slope[c] / sum;
}

/* log p of its class. */
static double log_of_class(const double *eta, size_t R, size_t y)
{
    double top = 0, sum;
    for (size_t c = 0; c < R; c++) top = fmax(top, eta[c]);
    sum = exp(-top);
    for (size_t c = 0; c < R; c++) sum += exp(eta[c] - top);
    return (y > 0 ? eta[y - 1] : 0) - top - log(sum);
}

static double log_likelihood(const selection *a, size_t v, const work *w)
{
    size_t R = a->x->cases->levels[v] - 1;
    double sum = 0;
    for (size_t i = 0; i < a->x->cases->n; i++)
        sum += a->s->weight[i] * log_of_class(w->eta + i * R, R, a->x->cases->code[v][i]);
    return sum;
}

/* Newton's step for the intercepts against the bound; how far they moved. */
static double move_intercept(const selection *a, size_t v, work *w, double bound)
{
    const cri_cases_table *t = a->x->cases;
    size_t                 R = t->levels[v] - 1;
    double                 moved = 0;
    for (size_t c = 0; c < R; c++) {
        double g = 0;
        for (size_t i = 0; i < t->n; i++) g += a->s->weight[i] * w->slope[i * R + c];
        w->step[c] = g / (bound * a->s->total);
        moved = fmax(moved, fabs(w->step[c]));
    }
    if (moved == 0) return 0;
    for (size_t i = 0; i < t->n; i++) {
        for (size_t c = 0; c < R; c++) w->eta[i * R + c] += w->step[c];
        set_slope(w->eta + i * R, R, t->code[v][i], w->slope + i * R);
    }
    return moved;
}

/* The gradient of the log likelihood by the sd-scaled weights of column u, gradient [states of u - 1 x R]. */
static void slope_of_block(const selection *a, size_t v, size_t u, work *w)
{
    const survey *x = a->x;
    size_t        R = x->cases->levels[v] - 1, first = x->first[u];
    for (size_t d = first; d < x->first[u + 1]; d++) {
        double *g = w->gradient + (d - first) * R;
        for (size_t c = 0; c < R; c++) g[c] = 0;
        if (a->s->sd[d] == 0) continue;
        for (size_t i = x->begin[d]; i < x->begin[d + 1]; i++) {
            const double *of = w->slope + x->row[i] * R;
            for (size_t c = 0; c < R; c++) g[c] += a->s->weight[x->row[i]] * of[c];
        }
        for (size_t c = 0; c < R; c++) g[c] /= a->s->sd[d];
    }
}

static double norm_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static double penalty_of(const selection *a, size_t v, size_t u)
{
    const uint32_t *levels = a->x->cases->levels;
    return sqrt((double)(levels[u] - 1) * (double)(levels[v] - 1));
}

/* Proximal step of a block at penalty `l` (of the log likelihood as a sum); how far its scaled weights moved. */
static double move_block(const selection *a, size_t v, size_t u, double l, double bound, work *w)
{
    const survey *x = a->x;
    size_t        R = x->cases->levels[v] - 1, first = x->first[u], D = x->first[u + 1] - first;
    double        L = 0, norm, keep, moved = 0;
    for (size_t d = first; d < first + D; d++)
        if (a->s->sd[d] > 0) L = fmax(L, bound * a->s->mass[d] / (a->s->sd[d] * a->s->sd[d]));
    if (L == 0) return 0;
    slope_of_block(a, v, u, w);
    for (size_t k = 0; k < D * R; k++)
        w->step[k] = a->s->sd[first + k / R] * w->beta[(first + k / R) * x->most + k % R] +
                     w->gradient[k] / L;
    norm = norm_of(w->step, D * R);
    keep = norm > l / L ? 1 - l / (L * norm) : 0;
    for (size_t d = first; d < first + D; d++) {
        double  sd = a->s->sd[d], most = 0;
        double *beta = w->beta + d * x->most, *to = w->step + (d - first) * R;
        if (sd == 0) continue;
        for (size_t c = 0; c < R; c++) {
            to[c] = keep * to[c] / sd - beta[c];
            beta[c] += to[c];
            most = fmax(most, fabs(to[c]));
        }
        moved = fmax(moved, sd * most);
        for (size_t i = x->begin[d]; most > 0 && i < x->begin[d + 1]; i++) {
            size_t row = x->row[i];
            for (size_t c = 0; c < R; c++) w->eta[row * R + c] += to[c];
            set_slope(w->eta + row * R, R, x->cases->code[v][row], w->slope + row * R);
        }
    }
    return moved;
}

static void settle(const selection *a, size_t v, double l, double bound, work *w)
{
    for (size_t n = 0; n < MOST_PASSES; n++) {
        double moved = move_intercept(a, v, w, bound);
        for (size_t u = 0; u < a->x->p; u++)
            if (w->active[u])
                moved = fmax(moved, move_block(a, v, u, l * penalty_of(a, v, u), bound, w));
        if (moved < TOLERANCE) break;
    }
}

/* Brings columns into play whose weights would not stay 0; were there any? */
static bool widen(const selection *a, size_t v, double l, work *w, double *opt_largest)
{
    bool any = false;
    if (opt_largest) *opt_largest = 0;
    for (size_t u = 0; u < a->x->p; u++) {
        size_t D = a->x->first[u + 1] - a->x->first[u];
        double norm;
        if (u == v || w->active[u] || D == 0) continue;
        slope_of_block(a, v, u, w);
        norm = norm_of(w->gradient, D * (a->x->cases->levels[v] - 1)) / penalty_of(a, v, u);
        if (opt_largest) *opt_largest = fmax(*opt_largest, norm);
        if (norm > l * (1 + 1e-3)) w->active[u] = any = true;
    }
    return any;
}

static bool is_used(const selection *a, size_t u, const work *w)
{
    for (size_t d = a->x->first[u]; d < a->x->first[u + 1]; d++)
        for (size_t c = 0; c < a->x->most; c++)
            if (w->beta[d * a->x->most + c] != 0) return true;
    return false;
}

static void solve_at(const selection *a, size_t v, double l, double bound, work *w)
{
    for (size_t n = 0; n < 20; n++) {
        settle(a, v, l, bound, w);
        if (!widen(a, v, l, w, NULL)) break;
    }
    for (size_t u = 0; u < a->x->p; u++) w->active[u] = w->active[u] && is_used(a, u, w);
}

/* The criterion of the columns in play, by their largest likelihood; all is as before then. */
static double judge(const selection *a, size_t v, double bound, work *w)
{
    const survey *x = a->x;
    size_t        R = x->cases->levels[v] - 1, cells = x->cases->n * R, n = 0, df = 0;
    double        ll;
    memcpy(w->kept_eta, w->eta, cells * sizeof *w->eta);
    memcpy(w->kept_slope, w->slope, cells * sizeof *w->slope);
    memcpy(w->kept_beta, w->beta, x->dummies * x->most * sizeof *w->beta);
    settle(a, v, 0, bound, w);
    ll = log_likelihood(a, v, w);
    memcpy(w->eta, w->kept_eta, cells * sizeof *w->eta);
    memcpy(w->slope, w->kept_slope, cells * sizeof *w->slope);
    memcpy(w->beta, w->kept_beta, x->dummies * x->most * sizeof *w->beta);
    for (size_t u = 0; u < x->p; u++)
        if (w->active[u]) n++, df += (x->first[u + 1] - x->first[u]) * R;
    return -2 * ll + (double)df * log(a->s->total) +
           2 * a->o->gamma * (double)n * log(fmax(2, (double)x->p - 1));
}

/* The criterion of the columns in play, from weights of 0. */
static double judge_alone(const selection *a, size_t v, double bound, work *w)
{
    const cri_cases_table *t = a->x->cases;
    size_t                 R = t->levels[v] - 1;
    memset(w->eta, 0, t->n * R * sizeof *w->eta);
    memset(w->beta, 0, a->x->dummies * a->x->most * sizeof *w->beta);
    for (size_t i = 0; i < t->n; i++) set_slope(w->eta + i * R, R, t->code[v][i], w->slope + i * R);
    return judge(a, v, bound, w);
}

/* Leaves columns of the best set out, as long as its criterion gets better: a column that came into play before those
 * that explain it may have stayed. */
static void prune(const selection *a, size_t v, double bound, double best, work *w)
{
    size_t p = a->x->p, worst;
    do {
        worst = p;
        memcpy(w->active, w->best, p * sizeof *w->active);
        for (size_t u = 0; u < p; u++) {
            if (!w->best[u]) continue;
            w->active[u] = false;
            double score = judge_alone(a, v, bound, w);
            w->active[u] = true;
            if (score < best) best = score, worst = u;
        }
        if (worst < p) w->best[worst] = false;
    } while (worst < p);
}

/* The neighbours of column v. */
static void regress(void *arg, size_t v)
{
    selection    *a = arg;
    const survey *x = a->x;
    size_t        slot, R = x->cases->levels[v] - 1, worse = 0, behind = 0;
    double        bound = R == 1 ? 0.25 : 0.5, most, best, first = NAN;
    if (R == 0) return;
    a->skipped[v] = cri_clock_over(&a->clock);
    if (a->skipped[v]) return;
    slot = cri_slot_take(&a->slots);
    work *w = &a->work[slot];
    memset(w->eta, 0, x->cases->n * R * sizeof *w->eta);
    memset(w->beta, 0, x->dummies * x->most * sizeof *w->beta);
    memset(w->active, 0, x->p * sizeof *w->active);
    memset(w->best, 0, x->p * sizeof *w->best);
    memset(w->judged, 0, x->p * sizeof *w->judged);
    for (size_t i = 0; i < x->cases->n; i++)
        set_slope(w->eta + i * R, R, x->cases->code[v][i], w->slope + i * R);
    settle(a, v, 0, bound, w);
    widen(a, v, INFINITY, w, &most);
    best = judge(a, v, bound, w);
    if (!a->fixed) a->lambda[v] = most;
    for (size_t k = 1; k <= PATH && most > 0; k++) {
        double l = most * pow(RATIO, (double)k / PATH), score;
        if (a->fixed && l < a->lambda[v] * a->s->total) l = a->lambda[v] * a->s->total;
        solve_at(a, v, l, bound, w);
        if (a->fixed) {
            memcpy(w->best, w->active, x->p * sizeof *w->best);
            if (l <= a->lambda[v] * a->s->total) break;
            continue;
        }
        if (++behind > AHEAD) break;
        if (!isnan(first) && memcmp(w->best, w->active, x->p * sizeof *w->best) == 0)
            a->lambda[v] = sqrt(first * l);
        if (memcmp(w->judged, w->active, x->p * sizeof *w->judged) == 0) continue;
        score = judge(a, v, bound, w);
        memcpy(w->judged, w->active, x->p * sizeof *w->judged);
        worse++;
        if (score < best - 1e-9 * fabs(best)) {
            best = score, worse = behind = 0, first = a->lambda[v] = l;
            memcpy(w->best, w->active, x->p * sizeof *w->best);
        }
        if (worse >= WORSE) break;
    }
    if (!a->fixed) {
        prune(a, v, bound, best, w);
        a->lambda[v] /= a->s->total;
    }
    memcpy(a->found + v * x->p, w->best, x->p * sizeof *w->best);
    cri_slot_leave(&a->slots, slot);
}

/* --- all columns ------------------------------------------------------------------------------ */

static bool joined(const selection *a, size_t v, size_t u)
{
    bool one = a->found[v * a->x->p + u], other = a->found[u * a->x->p + v];
    return a->o->join ? one || other : one && other;
}

static cr_status open_work(cr_scratch *s, selection *a, cr_ctx *cx)
{
    const survey *x = a->x;
    size_t        cells = x->cases->n * x->most, weights = x->dummies * x->most;
    a->slots.n = cri_slots_needed(cx, x->p);
    a->work = cr_scratch_bytes(s, a->slots.n, sizeof *a->work);
    a->lambda = cr_scratch_f64(s, x->p);
    a->found = cr_scratch_bytes(s, x->p * x->p, sizeof *a->found);
    a->skipped = cr_scratch_bytes(s, x->p, sizeof *a->skipped);
    a->clock = cri_clock_start(cx, NAN);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < a->slots.n; i++) {
        work *w = &a->work[i];
        w->eta = cr_scratch_f64(s, cells), w->kept_eta = cr_scratch_f64(s, cells);
        w->slope = cr_scratch_f64(s, cells), w->kept_slope = cr_scratch_f64(s, cells);
        w->beta = cr_scratch_f64(s, weights), w->kept_beta = cr_scratch_f64(s, weights);
        w->gradient = cr_scratch_matrix(s, x->most, x->most);
        w->step = cr_scratch_matrix(s, x->most, x->most);
        w->active = cr_scratch_bytes(s, x->p, sizeof *w->active);
        w->best = cr_scratch_bytes(s, x->p, sizeof *w->best);
        w->judged = cr_scratch_bytes(s, x->p, sizeof *w->judged);
    }
    return s->status;
}

/* A number that belongs to what a row shows, wherever it stands. */
static uint64_t mark_of(const cri_cases_table *t, size_t i)
{
    uint64_t h = 1469598103934665603u;
    for (size_t v = 0; v < t->p; v++) h = (h ^ t->code[v][i]) * 1099511628211u;
    return h;
}

/* About half of the rows, by streams that belong to what they show. */
static void halve(const cri_cases_table *t, uint64_t seed, size_t half, double *weight)
{
    for (size_t i = 0; i < t->n; i++) {
        cr_rng r = cr_rng_stream(seed + half, mark_of(t, i));
        double w = t->weight[i];
        weight[i] = w == floor(w) && w < 1e15 ? (double)cr_rng_binomial(&r, (uint64_t)w, 0.5)
                                              : w * (cr_rng_uniform(&r) < 0.5);
    }
}

static void warn_of_skipped(cr_ctx *cx, const selection *a)
{
    size_t count = 0;
    for (size_t v = 0; v < a->x->p; v++) count += a->skipped[v];
    if (count > 0)
        cr_log(
            cx, CR_LOG_WARNING,
            "the time limit ended the search of neighbours: %zu of %zu columns were not looked at",
            count, a->x->p);
}

cr_status cri_loglinear_select(cr_ctx *cx, const cri_loglinear_options *o,
                               const cri_cases_table *cases, uint64_t seed, bool *edge,
                               double *opt_share)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cases->p, halves = opt_share ? o->stability : 0, seen = 0;
    survey     x;
    sample     all;
    selection  a = { .x = &x, .s = &all, .o = o };
    CR_TRY(open_survey(&s, cases, &x));
    all.weight = cr_scratch_f64(&s, cases->n);
    all.mass = cr_scratch_f64(&s, x.dummies), all.sd = cr_scratch_f64(&s, x.dummies);
    CR_TRY(open_work(&s, &a, cx));
    memcpy(all.weight, cases->weight, cases->n * sizeof *all.weight);
    weigh(&x, &all);
    CR_TRY(cri_parallel_for(cx, "regressing columns", p, regress, &a));
    warn_of_skipped(cx, &a);
    for (size_t v = 0; v < p; v++)
        for (size_t u = 0; u < p; u++) edge[v * p + u] = u != v && joined(&a, v, u);
    if (halves > 0) memset(opt_share, 0, p * p * sizeof *opt_share);
    a.fixed = true;
    for (size_t h = 0; h < halves; h++) {
        halve(cases, seed, h, all.weight);
        weigh(&x, &all);
        memset(a.found, 0, p * p * sizeof *a.found);
        if (all.total > 0)
            CR_TRY(cri_parallel_for(cx, "regressing columns of half samples", p, regress, &a));
        if (cri_clock_over(&a.clock)) break;
        seen++;
        for (size_t v = 0; v < p; v++)
            for (size_t u = 0; u < p; u++)
                if (u != v && joined(&a, v, u)) opt_share[v * p + u]++;
    }
    if (seen < halves)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit left %zu of %zu half samples for the stability of edges", seen,
               halves);
    for (size_t i = 0; halves > 0 && i < p * p; i++)
        opt_share[i] = seen > 0 ? opt_share[i] / (double)seen : NAN;
done:
    cr_scratch_end(&s);
    return st;
}
