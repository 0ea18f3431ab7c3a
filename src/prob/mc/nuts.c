/* nuts.c -- one chain of the No-U-Turn sampler: tree, warm-up, draws. */
#include "nuts.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 12 };
static const double MOST_ENERGY_ERROR = 1000;

/* A point of phase space; its momentum p and velocity v = M^-1 p. */
typedef struct point {
    double *x, *g, *p;
    double  log_density;
} point;

/* What a sub-tree of one level leaves: momenta and velocities at the seam, sums of momenta. */
typedef struct level {
    double *p_left_end, *v_left_end, *p_right_begin, *v_right_begin, *rho_left, *rho_right, *x, *g;
    double  log_density;
} level;

typedef struct chain {
    const cri_target *target;
    void             *self;
    size_t            n, gradients;
    cr_rng           *rng;
    double           *variance; /* sigma^2 */
    double            step;
    point             now; /* where the trajectory is being extended */
    level             at[MOST_DEPTH + 1];
    double            energy0, sum_accept;
    size_t            leapfrogs;
    bool              diverged;
} chain;

static double log_add(double a, double b)
{
    double top = fmax(a, b);
    return isinf(top) && top < 0 ? top : top + log1p(exp(-fabs(a - b)));
}

static double kinetic(const chain *c, const double *p)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) sum += c->variance[i] * p[i] * p[i];
    return 0.5 * sum;
}

static void evaluate(chain *c, point *z)
{
    c->gradients++;
    z->log_density = c->target->log_density(c->self, z->x, z->g);
    if (isnan(z->log_density)) z->log_density = -INFINITY;
}

static void leapfrog(chain *c, point *z, double step)
{
    for (size_t i = 0; i < c->n; i++) {
        z->p[i] += 0.5 * step * z->g[i];
        z->x[i] += step * c->variance[i] * z->p[i];
    }
    evaluate(c, z);
    for (size_t i = 0; i < c->n; i++) z->p[i] += 0.5 * step * z->g[i];
}

/* Do both ends still move along the sum of momenta, r + p? */
static bool goes_on_across(const chain *c, const double *v_begin, const double *v_end,
                           const double *r, const double *p)
{
    double begin = 0, end = 0;
    for (size_t i = 0; i < c->n; i++)
        begin += v_begin[i] * (r[i] + p[i]), end += v_end[i] * (r[i] + p[i]);
    return begin > 0 && end > 0;
}

static void copy(const chain *c, double *to, const double *from)
{
    memcpy(to, from, c->n * sizeof *to);
}

/* What a tree reports to the one above it: its ends, its weight, its proposal. */
typedef struct tree {
    double *p_begin, *v_begin, *p_end, *v_end, *rho; /* written; rho is added to */
    double *x, *g, log_density;                      /* the proposal             */
    double  log_weight;
} tree;

/* Extends the trajectory by 2^depth steps from c->now; false when it turned or diverged. */
static bool build(chain *c, size_t depth, double sign, tree *t)
{
    if (depth == 0) {
        double energy, change;
        leapfrog(c, &c->now, sign * c->step);
        c->leapfrogs++;
        energy = kinetic(c, c->now.p) - c->now.log_density;
        change = isnan(energy) ? INFINITY : energy - c->energy0;
        if (change > MOST_ENERGY_ERROR) c->diverged = true;
        c->sum_accept += change > 0 ? exp(-change) : 1;
        t->log_weight = -change;
        copy(c, t->x, c->now.x);
        copy(c, t->g, c->now.g);
        t->log_density = c->now.log_density;
        for (size_t i = 0; i < c->n; i++) {
            t->p_begin[i] = t->p_end[i] = c->now.p[i];
            t->v_begin[i] = t->v_end[i] = c->variance[i] * c->now.p[i];
            t->rho[i] += c->now.p[i];
        }
        return !c->diverged;
    }
    level *l = &c->at[depth];
    memset(l->rho_left, 0, c->n * sizeof *l->rho_left);
    memset(l->rho_right, 0, c->n * sizeof *l->rho_right);
    tree left = { .p_begin = t->p_begin,
                  .v_begin = t->v_begin,
                  .p_end = l->p_left_end,
                  .v_end = l->v_left_end,
                  .rho = l->rho_left,
                  .x = t->x,
                  .g = t->g };
    if (!build(c, depth - 1, sign, &left)) return false;
    tree right = { .p_begin = l->p_right_begin,
                   .v_begin = l->v_right_begin,
                   .p_end = t->p_end,
                   .v_end = t->v_end,
                   .rho = l->rho_right,
                   .x = l->x,
                   .g = l->g };
    if (!build(c, depth - 1, sign, &right)) return false;
    t->log_weight = log_add(left.log_weight, right.log_weight);
    t->log_density = left.log_density;
    if (log(cr_rng_uniform(c->rng)) < right.log_weight - t->log_weight) {
        copy(c, t->x, right.x);
        copy(c, t->g, right.g);
        t->log_density = right.log_density;
    }
    bool on = goes_on_across(c, t->v_begin, l->v_right_begin, l->rho_left, l->p_right_begin) &&
              goes_on_across(c, l->v_left_end, t->v_end, l->rho_right, l->p_left_end) &&
              goes_on_across(c, t->v_begin, t->v_end, l->rho_left, l->rho_right);
    for (size_t i = 0; i < c->n; i++) t->rho[i] += l->rho_left[i] + l->rho_right[i];
    return on;
}

/* Both ends of the whole trajectory, its current draw, and workspace for the next doubling. */
typedef struct path {
    point   end[2];                  /* 0 backward, 1 forward */
    double *p_outer[2], *v_outer[2]; /* momenta at the ends */
    double *rho, *rho_new, *p_inner, *v_inner, *x, *g, *p_seam[2], *v_seam[2];
} path;

static void draw(chain *c, path *w, point *current, size_t most_depth, cri_nuts_note *note)
{
    size_t depth = 0;
    double log_weight = 0;
    for (size_t i = 0; i < c->n; i++) current->p[i] = cr_rng_normal(c->rng) / sqrt(c->variance[i]);
    c->energy0 = kinetic(c, current->p) - current->log_density;
    c->sum_accept = 0, c->leapfrogs = 0, c->diverged = false;
    *note = (cri_nuts_note){ .energy = c->energy0, .step = c->step };
    for (int e = 0; e < 2; e++) {
        copy(c, w->end[e].x, current->x), copy(c, w->end[e].g, current->g);
        copy(c, w->end[e].p, current->p);
        w->end[e].log_density = current->log_density;
        copy(c, w->p_outer[e], current->p);
        for (size_t i = 0; i < c->n; i++) w->v_outer[e][i] = c->variance[i] * current->p[i];
    }
    copy(c, w->rho, current->p);
    while (depth < most_depth) {
        int    side = cr_rng_uniform(c->rng) < 0.5;
        double sign = side ? 1 : -1;
        memset(w->rho_new, 0, c->n * sizeof *w->rho_new);
        /* the old half keeps its end at the seam */
        copy(c, w->p_seam[0], w->p_outer[side]), copy(c, w->v_seam[0], w->v_outer[side]);
        c->now = w->end[side];
        tree t = { .p_begin = w->p_seam[1],
                   .v_begin = w->v_seam[1],
                   .p_end = w->p_outer[side],
                   .v_end = w->v_outer[side],
                   .rho = w->rho_new,
                   .x = w->x,
                   .g = w->g };
        bool on = build(c, depth, sign, &t);
        w->end[side].log_density = c->now.log_density;
        if (!on) break;
        depth++;
        if (log(cr_rng_uniform(c->rng)) < t.log_weight - log_weight) {
            copy(c, current->x, t.x), copy(c, current->g, t.g);
            current->log_density = t.log_density;
        }
        log_weight = log_add(log_weight, t.log_weight);
        /* along the whole, and across the seam both ways; backward, velocities count reversed, which
         * changes no sign of a product with the sum of momenta as all are taken in one direction */
        bool          ok = goes_on_across(c, w->v_outer[0], w->v_outer[1], w->rho, w->rho_new);
        const double *v_old = w->v_outer[!side];
        if (side)
            ok = ok && goes_on_across(c, v_old, w->v_seam[1], w->rho, w->p_seam[1]) &&
                 goes_on_across(c, w->v_seam[0], w->v_outer[1], w->rho_new, w->p_seam[0]);
        else
            ok = ok && goes_on_across(c, w->v_seam[1], v_old, w->rho, w->p_seam[1]) &&
                 goes_on_across(c, w->v_outer[0], w->v_seam[0], w->rho_new, w->p_seam[0]);
        for (size_t i = 0; i < c->n; i++) w->rho[i] += w->rho_new[i];
        if (!ok) break;
    }
    note->log_density = current->log_density;
    note->accept = c->leapfrogs ? c->sum_accept / (double)c->leapfrogs : 0;
    note->leapfrogs = c->leapfrogs;
    note->depth = (uint8_t)depth;
    note->diverged = c->diverged;
}

/* --- warm-up ---------------------------------------------------------------------------------- */

/* Dual averaging of log step (Hoffman & Gelman 2014, eq. 6). */
typedef struct averaging {
    double mu, sum, log_mean, count;
} averaging;

static void averaging_restart(averaging *a, double step)
{
    *a = (averaging){ .mu = log(10 * step), .log_mean = log(step) };
}

static double averaging_step(averaging *a, double accept, double wanted)
{
    const double SHRINK = 0.05, DELAY = 10, FORGET = 0.75;
    a->count++;
    double eta = 1 / (a->count + DELAY);
    a->sum = (1 - eta) * a->sum + eta * (wanted - accept);
    double log_step = a->mu - a->sum * sqrt(a->count) / SHRINK;
    double weight = pow(a->count, -FORGET);
    a->log_mean = weight * log_step + (1 - weight) * a->log_mean;
    return exp(log_step);
}

/* Running variances of draws and gradients (Welford 1962). */
typedef struct spread {
    double *mean_x, *square_x, *mean_g, *square_g, count;
} spread;

static void spread_clear(spread *s, size_t n)
{
    s->count = 0;
    memset(s->mean_x, 0, n * sizeof(double)), memset(s->square_x, 0, n * sizeof(double));
    memset(s->mean_g, 0, n * sizeof(double)), memset(s->square_g, 0, n * sizeof(double));
}

static void spread_add(spread *s, const double *x, const double *g, size_t n)
{
    s->count++;
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - s->mean_x[i], dg = g[i] - s->mean_g[i];
        s->mean_x[i] += dx / s->count, s->mean_g[i] += dg / s->count;
        s->square_x[i] += dx * (x[i] - s->mean_x[i]);
        s->square_g[i] += dg * (g[i] - s->mean_g[i]);
    }
}

static void spread_variance(const spread *s, double *variance, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v = sqrt(s->square_x[i] / s->square_g[i]);
        if (isfinite(v) && v > 1e-20 && v < 1e20) variance[i] = v;
    }
}

/* A step whose first leapfrog is accepted about as often as wanted. */
static double first_step(chain *c, const point *from, point *z)
{
    double step = 1, direction = 0;
    for (int tries = 0; tries < 60; tries++) {
        copy(c, z->x, from->x), copy(c, z->g, from->g);
        for (size_t i = 0; i < c->n; i++) z->p[i] = cr_rng_normal(c->rng) / sqrt(c->variance[i]);
        double before = kinetic(c, z->p) - from->log_density;
        leapfrog(c, z, step);
        double change = before - (kinetic(c, z->p) - z->log_density);
        bool   good = change > -0.2231435513142097; /* log 0.8 */
        if (direction == 0) direction = good ? 1 : -1;
        if ((direction > 0) != good) break;
        step *= direction > 0 ? 2 : 0.5;
    }
    return step;
}

/* Windows of the warm-up: short ones first, then longer ones; none in the last 15 %. */
static bool window_ends(size_t i, size_t warmup, size_t *window, size_t *since)
{
    size_t early = 3 * warmup / 10, last = warmup - 3 * warmup / 20;
    (*since)++;
    if (i >= last) return false;
    if (i < early ? *since < 10 : *since < *window) return false;
    if (i >= early) *window += *window / 2;
    *since = 0;
    return true;
}

cr_status cri_nuts_chain(cr_ctx *cx, const cri_target *target, void *self,
                         const cri_nuts_options *o, cr_rng *rng, const double *start,
                         double *out_draws, cri_nuts_note *out_notes, size_t *out_made,
                         size_t *out_gradients)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    size_t        n = target->n, depth = o->depth < MOST_DEPTH ? o->depth : MOST_DEPTH;
    size_t        window = 80, since = 0, made = 0;
    chain         c = { .target = target, .self = self, .n = n, .rng = rng };
    point         current = { 0 }, trial = { 0 };
    path          w = { 0 };
    spread        front = { 0 }, back = { 0 };
    averaging     average;
    cri_nuts_note note;
    double      **vectors[] = {
             &c.variance,    &current.x,      &current.g,    &current.p,      &trial.x,
             &trial.g,       &trial.p,        &w.end[0].x,   &w.end[0].g,     &w.end[0].p,
             &w.end[1].x,    &w.end[1].g,     &w.end[1].p,   &w.p_outer[0],   &w.p_outer[1],
             &w.v_outer[0],  &w.v_outer[1],   &w.rho,        &w.rho_new,      &w.x,
             &w.g,           &w.p_seam[0],    &w.p_seam[1],  &w.v_seam[0],    &w.v_seam[1],
             &front.mean_x,  &front.square_x, &front.mean_g, &front.square_g, &back.mean_x,
             &back.square_x, &back.mean_g,    &back.square_g
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = cr_scratch_f64(&s, n);
    for (size_t d = 1; d <= depth; d++) {
        double **own[] = { &c.at[d].p_left_end,
                           &c.at[d].v_left_end,
                           &c.at[d].p_right_begin,
                           &c.at[d].v_right_begin,
                           &c.at[d].rho_left,
                           &c.at[d].rho_right,
                           &c.at[d].x,
                           &c.at[d].g };
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) *own[i] = cr_scratch_f64(&s, n);
    }
    CR_TRY(s.status);
    copy(&c, current.x, start);
    evaluate(&c, &current);
    for (size_t i = 0; i < n; i++) {
        double g = fabs(current.g[i]);
        c.variance[i] = g > 1e-10 && g < 1e10 ? 1 / g : 1;
    }
    spread_clear(&front, n), spread_clear(&back, n);
    c.step = first_step(&c, &current, &trial);
    averaging_restart(&average, c.step);
    for (size_t i = 0; i < o->warmup + o->draws; i++) {
        if (o->opt_clock && cri_clock_over(o->opt_clock)) {
            if (made >= CRI_NUTS_LEAST) break;
            if (i < o->warmup) i = o->warmup;
        }
        bool warming = i < o->warmup;
        CR_TRY(cr_check_interrupt(cx));
        draw(&c, &w, &current, depth, &note);
        if (warming) {
            bool learns = i < o->warmup - 3 * o->warmup / 20;
            c.step = averaging_step(&average, note.accept, o->accept);
            if (learns && !(note.diverged && note.leapfrogs < 4)) {
                spread_add(&front, current.x, current.g, n);
                spread_add(&back, current.x, current.g, n);
            }
            if (learns && window_ends(i, o->warmup, &window, &since)) {
                spread swap = front;
                front = back, back = swap;
                spread_clear(&back, n);
            }
            if (learns && front.count >= 10) spread_variance(&front, c.variance, n);
            if (i + 1 == o->warmup) c.step = exp(average.log_mean);
        } else {
            copy(&c, out_draws + made * n, current.x);
            out_notes[made++] = note;
        }
    }
    *out_made = made;
    *out_gradients = c.gradients;
done:
    cr_scratch_end(&s);
    return st;
}
