/* nuts.c -- one chain of the No-U-Turn sampler: tree, warm-up, draws. */
#include "nuts.h"
#include "metric.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 12 };
static const double MOST_ENERGY_ERROR = 1000;

/* A point of phase space, in the coordinates y of the metric. */
typedef struct point {
    double *y, *g, *p;
    double  log_density;
} point;

/* What a sub-tree of one level leaves: momenta at the seam, sums of momenta, a proposal. */
typedef struct level {
    double *p_left_end, *p_right_begin, *rho_left, *rho_right, *y, *g;
} level;

typedef struct chain {
    const cri_target *target;
    void             *self;
    size_t            n, gradients;
    cr_rng           *rng;
    cri_metric        metric;
    double           *x, *gx; /* [n] of the last evaluation */
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
    for (size_t i = 0; i < c->n; i++) sum += p[i] * p[i];
    return 0.5 * sum;
}

static void evaluate(chain *c, point *z)
{
    c->gradients++;
    cri_metric_to_x(&c->metric, z->y, c->x);
    z->log_density = c->target->log_density(c->self, c->x, c->gx);
    if (isnan(z->log_density)) z->log_density = -INFINITY;
    cri_metric_gradient(&c->metric, c->gx, z->g);
}

static void leapfrog(chain *c, point *z, double step)
{
    for (size_t i = 0; i < c->n; i++) {
        z->p[i] += 0.5 * step * z->g[i];
        z->y[i] += step * z->p[i];
    }
    evaluate(c, z);
    for (size_t i = 0; i < c->n; i++) z->p[i] += 0.5 * step * z->g[i];
}

static void draw_momentum(chain *c, double *p)
{
    for (size_t i = 0; i < c->n; i++) p[i] = cr_rng_normal(c->rng);
}

/* Do both ends still move along the sum of momenta, r + p? */
static bool goes_on(const chain *c, const double *p_begin, const double *p_end, const double *r,
                    const double *p)
{
    double begin = 0, end = 0;
    for (size_t i = 0; i < c->n; i++)
        begin += p_begin[i] * (r[i] + p[i]), end += p_end[i] * (r[i] + p[i]);
    return begin > 0 && end > 0;
}

static void copy(const chain *c, double *to, const double *from)
{
    memcpy(to, from, c->n * sizeof *to);
}

/* What a tree reports to the one above it: its ends, its weight, its proposal. */
typedef struct tree {
    double *p_begin, *p_end, *rho; /* written; rho is added to */
    double *y, *g, log_density;    /* the proposal             */
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
        copy(c, t->y, c->now.y);
        copy(c, t->g, c->now.g);
        t->log_density = c->now.log_density;
        for (size_t i = 0; i < c->n; i++) {
            t->p_begin[i] = t->p_end[i] = c->now.p[i];
            t->rho[i] += c->now.p[i];
        }
        return !c->diverged;
    }
    level *l = &c->at[depth];
    memset(l->rho_left, 0, c->n * sizeof *l->rho_left);
    memset(l->rho_right, 0, c->n * sizeof *l->rho_right);
    tree left = {
        .p_begin = t->p_begin, .p_end = l->p_left_end, .rho = l->rho_left, .y = t->y, .g = t->g
    };
    if (!build(c, depth - 1, sign, &left)) return false;
    tree right = {
        .p_begin = l->p_right_begin, .p_end = t->p_end, .rho = l->rho_right, .y = l->y, .g = l->g
    };
    if (!build(c, depth - 1, sign, &right)) return false;
    t->log_weight = log_add(left.log_weight, right.log_weight);
    t->log_density = left.log_density;
    if (log(cr_rng_uniform(c->rng)) < right.log_weight - t->log_weight) {
        copy(c, t->y, right.y);
        copy(c, t->g, right.g);
        t->log_density = right.log_density;
    }
    bool on = goes_on(c, t->p_begin, l->p_right_begin, l->rho_left, l->p_right_begin) &&
              goes_on(c, l->p_left_end, t->p_end, l->rho_right, l->p_left_end) &&
              goes_on(c, t->p_begin, t->p_end, l->rho_left, l->rho_right);
    for (size_t i = 0; i < c->n; i++) t->rho[i] += l->rho_left[i] + l->rho_right[i];
    return on;
}

/* Both ends of the whole trajectory, and workspace for the next doubling. */
typedef struct path {
    point   end[2];   /* 0 backward, 1 forward                                          */
    double *outer[2]; /* momenta at the ends                                            */
    double *rho, *rho_new, *y, *g;
    double *seam[2]; /* momenta where old and new half meet: of the old, of the new     */
} path;

static void draw(chain *c, path *w, point *current, size_t most_depth, cri_nuts_note *note)
{
    size_t depth = 0;
    double log_weight = 0;
    draw_momentum(c, current->p);
    c->energy0 = kinetic(c, current->p) - current->log_density;
    c->sum_accept = 0, c->leapfrogs = 0, c->diverged = false;
    *note = (cri_nuts_note){ .energy = c->energy0, .step = c->step };
    for (int e = 0; e < 2; e++) {
        copy(c, w->end[e].y, current->y), copy(c, w->end[e].g, current->g);
        copy(c, w->end[e].p, current->p), copy(c, w->outer[e], current->p);
        w->end[e].log_density = current->log_density;
    }
    copy(c, w->rho, current->p);
    while (depth < most_depth) {
        int    side = cr_rng_uniform(c->rng) < 0.5;
        double sign = side ? 1 : -1;
        memset(w->rho_new, 0, c->n * sizeof *w->rho_new);
        copy(c, w->seam[0], w->outer[side]);
        c->now = w->end[side];
        tree t = {
            .p_begin = w->seam[1], .p_end = w->outer[side], .rho = w->rho_new, .y = w->y, .g = w->g
        };
        bool on = build(c, depth, sign, &t);
        w->end[side].log_density = c->now.log_density;
        if (!on) break;
        depth++;
        if (log(cr_rng_uniform(c->rng)) < t.log_weight - log_weight) {
            copy(c, current->y, t.y), copy(c, current->g, t.g);
            current->log_density = t.log_density;
        }
        log_weight = log_add(log_weight, t.log_weight);
        /* along the whole, and across the seam both ways */
        const double *old = w->outer[!side], *new = w->outer[side];
        on = goes_on(c, old, new, w->rho, w->rho_new) &&
             goes_on(c, old, w->seam[1], w->rho, w->seam[1]) &&
             goes_on(c, w->seam[0], new, w->rho_new, w->seam[0]);
        for (size_t i = 0; i < c->n; i++) w->rho[i] += w->rho_new[i];
        if (!on) break;
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

/* A step whose first leapfrog is accepted about as often as wanted. */
static double first_step(chain *c, const point *from, point *z)
{
    double step = 1, direction = 0;
    for (int tries = 0; tries < 60; tries++) {
        copy(c, z->y, from->y), copy(c, z->g, from->g);
        draw_momentum(c, z->p);
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

/* The draw in the coordinates of a metric that has changed; c->x and c->gx are the draw's. */
static void move(chain *c, point *current)
{
    cri_metric_to_y(&c->metric, c->x, current->y);
    cri_metric_gradient(&c->metric, c->gx, current->g);
}

cr_status cri_nuts_chain(cr_ctx *cx, const cri_target *target, void *self,
                         const cri_nuts_options *o, cr_rng *rng, const double *start,
                         double *out_draws, cri_nuts_note *out_notes, size_t *out_made,
                         size_t *out_gradients)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          n = target->n, depth = o->depth < MOST_DEPTH ? o->depth : MOST_DEPTH;
    size_t          window = 80, since = 0, made = 0;
    chain           c = { .target = target, .self = self, .n = n, .rng = rng };
    point           current = { 0 }, trial = { 0 };
    path            w = { 0 };
    cri_draw_spread front = cri_draw_spread_new(&s, n), back = cri_draw_spread_new(&s, n);
    averaging       average;
    cri_nuts_note   note;
    double        **vectors[] = { &c.x,        &c.gx,       &current.y,  &current.g,  &current.p,
                                  &trial.y,    &trial.g,    &trial.p,    &w.end[0].y, &w.end[0].g,
                                  &w.end[0].p, &w.end[1].y, &w.end[1].g, &w.end[1].p, &w.outer[0],
                                  &w.outer[1], &w.rho,      &w.rho_new,  &w.y,        &w.g,
                                  &w.seam[0],  &w.seam[1] };
    c.metric = cri_metric_new(&s, n);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = cr_scratch_f64(&s, n);
    for (size_t d = 1; d <= depth; d++) {
        double **own[] = { &c.at[d].p_left_end, &c.at[d].p_right_begin,
                           &c.at[d].rho_left,   &c.at[d].rho_right,
                           &c.at[d].y,          &c.at[d].g };
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) *own[i] = cr_scratch_f64(&s, n);
    }
    CR_TRY(s.status);
    copy(&c, current.y, start);
    evaluate(&c, &current);
    for (size_t i = 0; i < n; i++) {
        double g = fabs(c.gx[i]);
        c.metric.sigma[i] = g > 1e-10 && g < 1e10 ? 1 / sqrt(g) : 1;
    }
    move(&c, &current);
    c.step = first_step(&c, &current, &trial);
    averaging_restart(&average, c.step);
    for (size_t i = 0; i < o->warmup + o->draws; i++) {
        if (o->opt_clock && cri_clock_over(o->opt_clock)) { /* what there is counts */
            if (made >= CRI_NUTS_LEAST) break;
            if (i < o->warmup) i = o->warmup;
        }
        bool warming = i < o->warmup, learns = i < o->warmup - 3 * o->warmup / 20;
        CR_TRY(cr_check_interrupt(cx));
        draw(&c, &w, &current, depth, &note);
        cri_metric_to_x(&c.metric, current.y, c.x);
        if (!warming) {
            copy(&c, out_draws + made * n, c.x);
            out_notes[made++] = note;
            continue;
        }
        c.step = averaging_step(&average, note.accept, o->accept);
        if (learns) {
            bool ends;
            c.target->log_density(c.self, c.x, c.gx);
            if (!(note.diverged && note.leapfrogs < 4)) {
                cri_draw_spread_add(&front, c.x, c.gx);
                cri_draw_spread_add(&back, c.x, c.gx);
            }
            ends = window_ends(i, o->warmup, &window, &since);
            if (ends || (front.count >= 10 && !front.dense)) {
                CR_TRY(cri_metric_learn(cx, &front, ends, &c.metric));
                move(&c, &current);
            }
            if (ends) {
                cri_draw_spread swap = front;
                front = back, back = swap;
                cri_draw_spread_clear(&back);
            }
        }
        if (i + 1 == o->warmup) c.step = exp(average.log_mean);
    }
    *out_made = made;
    *out_gradients = c.gradients;
done:
    cr_scratch_end(&s);
    return st;
}
