/* stochastic.c -- stochastic gradients: epochs, batches, rules and schedules. */
#include "stochastic.h"
#include "run.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_stochastic_table, cr_stochastic_options, CR_STOCHASTIC_OPTIONS);

cr_stochastic_options cr_stochastic_defaults(void)
{
    cr_stochastic_options o;
    cr_options_init(NULL, cr_stochastic_table, &o);
    return o;
}

typedef struct descent {
    cr_ctx                      *cx;
    const cr_stochastic_problem *p;
    const cr_stochastic_options *o;
    cr_minimize_report          *r;
    double *x, *g, *m, *v, *mean; /* [n]; iterate, gradient, moments, average */
    size_t *order;                /* [items]                                  */
    size_t  batch, steps, averaged;
    double  m_left, v_left; /* momentum^steps, second^steps             */
} descent;

static double rate_at(const cr_stochastic_options *o, double epoch)
{
    switch (o->schedule) {
    case CR_SGD_INVERSE:
        return o->rate / (1 + o->decay * epoch);
    case CR_SGD_ROOT:
        return o->rate / sqrt(1 + o->decay * epoch);
    case CR_SGD_COSINE:
        return o->rate * (1 + cos(3.14159265358979323846 * epoch / (double)o->epochs)) / 2;
    default:
        return o->rate;
    }
}

/* --- one step -------------------------------------------------------------------------------- */

/* g becomes the direction of the rule; returns false when it is not finite. */
static bool apply_rule(descent *d)
{
    const cr_stochastic_options *o = d->o;
    bool                         finite = true;
    d->m_left *= o->momentum;
    d->v_left *= o->second;
    for (size_t i = 0; i < d->p->n; i++) {
        double g = d->g[i];
        if (o->rule == CR_SGD_MOMENTUM) {
            d->g[i] = d->m[i] = o->momentum * d->m[i] + g;
        } else if (o->rule == CR_SGD_ADAM) {
            static const double EPSILON = 1e-8; /* Kingma & Ba, algorithm 1 */
            d->m[i] = o->momentum * d->m[i] + (1 - o->momentum) * g;
            d->v[i] = o->second * d->v[i] + (1 - o->second) * g * g;
            d->g[i] = d->m[i] / (1 - d->m_left) / (sqrt(d->v[i] / (1 - d->v_left)) + EPSILON);
        }
        finite = finite && isfinite(d->g[i]);
    }
    return finite;
}

static void move(descent *d, double rate)
{
    const double *low = d->p->lower, *high = d->p->upper;
    for (size_t i = 0; i < d->p->n; i++) {
        d->x[i] -= rate * d->g[i];
        if (low && d->x[i] < low[i]) d->x[i] = low[i];
        if (high && d->x[i] > high[i]) d->x[i] = high[i];
    }
}

static void add_to_mean(descent *d)
{
    double weight = 1 / (double)++d->averaged;
    for (size_t i = 0; i < d->p->n; i++) d->mean[i] += weight * (d->x[i] - d->mean[i]);
}

/* --- one epoch ------------------------------------------------------------------------------- */

static cr_status call_batch(descent *d, size_t begin, size_t end, double *out_f)
{
    const cr_stochastic_problem *p = d->p;
    double                       count = (double)(end - begin);
    cr_status                    st = cr_check_interrupt(d->cx);
    if (st != CR_OK) return st;
    d->r->f_evaluations++;
    d->r->g_evaluations++;
    st = p->batch(p->user, d->x, p->n, d->order + begin, end - begin, out_f, d->g);
    if (st != CR_OK && cr_error_status(d->cx) != st)
        cr_fail(d->cx, st, "minimize: the batch function failed");
    for (size_t i = 0; st == CR_OK && i < p->n; i++) d->g[i] /= count;
    return st;
}

/* *out_f = the mean of f over the epoch; NaN when the descent must end. */
static cr_status run_epoch(descent *d, size_t epoch, double *out_f)
{
    cr_status st = CR_OK;
    size_t    items = d->p->items;
    double    sum = 0;
    if (d->o->order == CR_SGD_SHUFFLED) {
        cr_rng r = cr_rng_stream(d->o->seed, epoch);
        cr_rng_permutation(&r, items, d->order);
    }
    for (size_t begin = 0; begin < items; begin += d->batch) {
        size_t end = items - begin > d->batch ? begin + d->batch : items;
        double f = NAN, done = (double)epoch + (double)begin / (double)items;
        CR_TRY(call_batch(d, begin, end, &f));
        *out_f = NAN;
        if (!isfinite(f) || !apply_rule(d)) return CR_OK;
        move(d, rate_at(d->o, done));
        sum += f;
        if (d->o->average && epoch >= d->o->epochs / 2) add_to_mean(d);
    }
    *out_f = sum / (double)items;
done:
    return st;
}

static bool ended(descent *d, double before, double f)
{
    if (isnan(f)) {
        d->r->stop = CR_END_NOT_FINITE;
        return true;
    }
    d->r->f = f;
    d->r->iterations++;
    cri_trace_add(d->r, f);
    d->r->stop = CR_END_F;
    return d->o->f_tolerance > 0 && fabs(before - f) <= d->o->f_tolerance * fmax(1, fabs(f));
}

static cr_status descend(descent *d)
{
    cr_status st = CR_OK;
    double    before = INFINITY, f = NAN;
    cri_clock clock = cri_clock_start(d->cx, d->o->time_limit);
    for (size_t epoch = 0; epoch < d->o->epochs; epoch++) {
        cr_progress(d->cx, "minimise", (double)epoch, (double)d->o->epochs);
        CR_TRY(run_epoch(d, epoch, &f));
        if (ended(d, before, f)) goto done;
        before = f;
        d->r->stop = CR_END_TIME;
        if (cri_clock_over(&clock)) goto done;
    }
    d->r->stop = CR_END_MAX_ITER;
done:
    return st;
}

/* --- the door -------------------------------------------------------------------------------- */

static cr_status check(cr_ctx *cx, const cr_stochastic_problem *p, const cr_stochastic_options *o,
                       const double *x)
{
    if (o->batch < 1) return cr_fail(cx, CR_EARG, "minimize: a batch has no items");
    if (!(o->rate > 0) || !isfinite(o->rate))
        return cr_fail(cx, CR_EARG, "minimize: the rate is %g, not > 0", o->rate);
    if (!(o->momentum >= 0 && o->momentum < 1 && o->second >= 0 && o->second < 1))
        return cr_fail(cx, CR_EARG, "minimize: momentum or second is not within [0, 1)");
    for (size_t i = 0; i < p->n; i++) {
        if (!isfinite(x[i]))
            return cr_fail(cx, CR_EARG, "minimize: the start x[%zu] is %g", i, x[i]);
        if (p->lower && p->upper && !(p->lower[i] <= p->upper[i]))
            return cr_fail(cx, CR_EARG, "minimize: no x lies between the bounds of x[%zu]", i);
    }
    return CR_OK;
}

cr_status cr_minimize_stochastic(cr_ctx *cx, const cr_stochastic_problem *p,
                                 const cr_stochastic_options *options, double *x,
                                 cr_minimize_report *out_report)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    cr_stochastic_options defaults = cr_stochastic_defaults();
    cr_minimize_report    report = { .f = NAN, .gradient_norm = NAN, .method = CR_METHOD_GRADIENT };
    size_t                n = p->n;
    descent               d = { .cx = cx, .p = p, .r = &report, .m_left = 1, .v_left = 1 };

    d.o = options ? options : &defaults;
    CR_TRY(check(cx, p, d.o, x));
    d.batch = d.o->batch;
    d.x = cr_scratch_f64(&s, n);
    d.g = cr_scratch_f64(&s, n);
    d.m = cr_scratch_bytes(&s, n, sizeof(double));
    d.v = cr_scratch_bytes(&s, n, sizeof(double));
    d.mean = cr_scratch_bytes(&s, n, sizeof(double));
    d.order = cr_scratch_index(&s, p->items);
    CR_TRY(s.status);
    if (n > 0) memcpy(d.x, x, n * sizeof *x);
    for (size_t i = 0; i < p->items; i++) d.order[i] = i;
    memset(d.g, 0, n * sizeof *d.g);
    move(&d, 0); /* into the box */
    cri_trace_add(&report, NAN);
    if (p->items > 0) CR_TRY(descend(&d));
    if (n > 0) memcpy(x, d.averaged > 0 ? d.mean : d.x, n * sizeof *x);
    *out_report = report;
done:
    cr_scratch_end(&s);
    return st;
}
