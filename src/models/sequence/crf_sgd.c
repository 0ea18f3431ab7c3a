/* crf_sgd.c -- stochastic gradient descent: a step after each sequence, its weights averaged.
 *   w <- w - eta_t (v_s g_s + lambda/N w),   eta_t = eta_0 / (1 + eta_0 lambda/N t)
 * g_s is the gradient of -log p(y_s | x_s), N the number of sequences.  Sequences come in an order drawn anew in every pass,
 * those of a stream within their block.  eta_0 is that which brings a pass over a sample lowest.
 *   w = c V: so a step shrinks all weights by one multiplication, and changes those of its own attributes alone.
 *   The mean of w over steps is (C V - U) / steps:  C sums c, and U what a change of V would count too much, the C before
 *   it times the change (Xu 2011).  It is taken over passes 1, 2-3, 4-7, 8-15, ..., after each of which all rows give its
 *   objective and gradient; the lowest is the answer.
 * As f is lambda-strongly convex, it is above its minimum by at most |gradient|^2 / (2 lambda).
 * A pass costs as much as one gradient by one thread.  Bottou (2010), COMPSTAT; Shamir & Zhang (2013), ICML 30. */
#include "crf_sgd.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { LEAST_SAMPLE = 50, MOST_SAMPLE = 1000, MOST_TRIALS = 20 };

typedef struct run {
    cri_crf_problem *p;
    cri_crf_descent *d;
    cri_clock        clock;
    bool             cut;           /* by the clock */
    double           eta_0, shrink; /* lambda / N   */
    double           t;             /* steps so far */
    double           c, C, steps;   /* as above, of the mean at hand */
    size_t           pass, block;   /* at hand */
    double          *V, *U;         /* [(A + K) x stride] */
    double          *T, *pairs;     /* [K x stride] transitions of w; their gradient */
} run;

/* What one block is worked through with. */
typedef struct workspace {
    size_t *order;    /* [sequences] */
    double *R, *work; /* [longest x stride] scores, then residuals; of the chain */
} workspace;

/* --- a step ---------------------------------------------------------------------------------- */

static double rate_of(const run *r) { return r->eta_0 / (1 + r->eta_0 * r->shrink * r->t); }

/* V += k x, and U with it, of one row. */
static void change_row(run *r, size_t at, double k, const double *x)
{
    double *V = r->V + at * r->p->stride, *U = r->U + at * r->p->stride;
    for (size_t j = 0; j < r->p->K; j++) V[j] += k * x[j], U[j] += r->C * k * x[j];
}

/* The same of labels that the attribute was seen with. */
static void change_seen(run *r, size_t a, double k, const double *x)
{
    size_t         K = r->p->K;
    const uint8_t *seen = r->d->opt_seen + a * K;
    double        *V = r->V + a * r->p->stride, *U = r->U + a * r->p->stride;
    for (size_t j = 0; j < K; j++)
        if (seen[j]) V[j] += k * x[j], U[j] += r->C * k * x[j];
}

static void change(run *r, const cri_attribute_rows *rows, size_t begin, size_t n, double k,
                   const double *R)
{
    for (size_t t = 0; t < n; t++)
        for (size_t e = rows->start[begin + t]; e < rows->start[begin + t + 1]; e++)
            (r->d->opt_seen ? change_seen : change_row)(
                r, rows->which[e], rows->value ? k * rows->value[e] : k, R + t * r->p->stride);
    for (size_t i = 0; i < r->p->K; i++) change_row(r, r->p->A + i, k, r->pairs + i * r->p->stride);
}

/* -log p(y | x) of sequence s at w; its residuals into w->R, of transitions into r->pairs. */
static double look(run *r, const cri_crf_problem *part, size_t s, workspace *w)
{
    size_t          stride = part->stride, begin = part->begin[s], n = part->begin[s + 1] - begin;
    const uint32_t *y = part->y + begin;
    cri_crf_scores(part->rows, begin, n, r->V, stride, w->R);
    for (size_t i = 0; i < n * stride; i++) w->R[i] *= r->c;
    for (size_t i = 0; i < part->K * stride; i++) r->T[i] = r->c * r->V[part->A * stride + i];
    memset(r->pairs, 0, part->K * stride * sizeof *r->pairs);
    cri_crf_chain_set(&r->p->chain, r->T);
    double score = cri_crf_chain_score(&r->p->chain, n, w->R, y);
    double log_Z = cri_crf_chain_marginals(&r->p->chain, n, w->R, 1, r->pairs, w->work);
    cri_crf_chain_pairs(&r->p->chain, r->pairs);
    for (size_t t = 0; t < n; t++) w->R[t * stride + y[t]] -= 1;
    for (size_t t = 1; t < n; t++) r->pairs[y[t - 1] * stride + y[t]] -= 1;
    return log_Z - score;
}

/* c becomes 1 where it has become small, w and the mean as before. */
static void rescale(run *r)
{
    size_t n = (r->p->A + r->p->K) * r->p->stride;
    for (size_t i = 0; i < n; i++) r->V[i] *= r->c;
    r->C /= r->c;
    r->c = 1;
}

static void step(run *r, const cri_crf_problem *part, size_t s, workspace *w)
{
    size_t begin = part->begin[s], n = part->begin[s + 1] - begin;
    double eta = rate_of(r), v = part->weight ? part->weight[s] : 1;
    look(r, part, s, w);
    r->c *= 1 - eta * r->shrink;
    change(r, part->rows, begin, n, -eta * v / r->c, w->R);
    if (r->c < 1e-3) rescale(r);
    r->C += r->c;
    r->steps += 1;
    r->t += 1;
}

/* --- passes ---------------------------------------------------------------------------------- */

static cr_status open_workspace(cr_scratch *s, const run *r, const cri_crf_problem *part,
                                workspace *w)
{
    cr_rng rng = cr_rng_stream(r->d->seed, ((uint64_t)r->pass << 32) + r->block);
    w->order = cr_scratch_index(s, part->sequences);
    w->R = cr_scratch_matrix(s, part->longest, part->stride);
    w->work = cr_scratch_f64(s, cri_crf_chain_work(&r->p->chain, part->longest));
    if (s->status == CR_OK) cr_rng_permutation(&rng, part->sequences, w->order);
    return s->status;
}

static cr_status walk(cr_ctx *cx, void *arg, cri_crf_problem *part)
{
    cr_status  st = CR_OK;
    run       *r = arg;
    cr_scratch s = cr_scratch_begin(cx);
    workspace  w;
    CR_TRY(open_workspace(&s, r, part, &w));
    for (size_t i = 0; i < part->sequences && !r->cut; i++) {
        CR_TRY(cr_check_interrupt(cx));
        step(r, part, w.order[i], &w);
        r->cut = cri_clock_over(&r->clock);
    }
    r->block++;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the first rate -------------------------------------------------------------------------- */

static void begin_again(run *r)
{
    size_t size = (r->p->A + r->p->K) * r->p->stride * sizeof(double);
    memset(r->V, 0, size);
    memset(r->U, 0, size);
    r->c = 1;
    r->C = r->steps = r->t = 0;
}

static double square_of(const run *r)
{
    double sum = 0;
    for (size_t d = 0; d < r->p->D; d++) sum += r->V[r->p->place[d]] * r->V[r->p->place[d]];
    return r->c * r->c * sum;
}

/* The objective of the first n sequences of the order, after a pass over them at rate eta. */
static cr_status try_rate(cr_ctx *cx, run *r, const cri_crf_problem *part, workspace *w, size_t n,
                          double eta, double *out)
{
    cr_status st = CR_OK;
    begin_again(r);
    r->eta_0 = eta;
    *out = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        size_t s = w->order[i % n];
        CR_TRY(cr_check_interrupt(cx));
        if (i < n)
            step(r, part, s, w);
        else
            *out += (part->weight ? part->weight[s] : 1) * look(r, part, s, w);
    }
    *out += r->shrink * (double)n / 2 * square_of(r);
done:
    return st;
}

/* A tenth, until that leads lower than weights 0 are; then twice as much, or half, as long as that leads lower still. */
static cr_status search_rate(cr_ctx *cx, run *r, const cri_crf_problem *part, workspace *w,
                             size_t n)
{
    cr_status st = CR_OK;
    double    most = 0.5 / r->shrink, eta = fmin(0.1, most), factor = 2, zero, f, lowest = INFINITY;
    CR_TRY(try_rate(cx, r, part, w, n, 0, &zero));
    for (int i = 0; i < MOST_TRIALS && !(lowest < zero); i++, eta /= 10)
        CR_TRY(try_rate(cx, r, part, w, n, eta, &lowest));
    double best = eta * 10;
    for (int i = 0; i < MOST_TRIALS && !cri_clock_over(&r->clock); i++) {
        f = INFINITY;
        if (best * factor <= most) CR_TRY(try_rate(cx, r, part, w, n, best * factor, &f));
        if (f < lowest)
            best *= factor, lowest = f;
        else if (i == 0)
            factor = 0.5;
        else
            break;
    }
    r->eta_0 = best;
done:
    return st;
}

/* By a sample of the first block; the others are not looked at. */
static cr_status calibrate(cr_ctx *cx, void *arg, cri_crf_problem *part)
{
    cr_status  st = CR_OK;
    run       *r = arg;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = part->sequences / 10;
    workspace  w;
    if (r->block++ > 0) goto done;
    n = n < LEAST_SAMPLE ? LEAST_SAMPLE : n > MOST_SAMPLE ? MOST_SAMPLE : n;
    CR_TRY(open_workspace(&s, r, part, &w));
    CR_TRY(search_rate(cx, r, part, &w, n < part->sequences ? n : part->sequences));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- all of it ------------------------------------------------------------------------------- */

/* The mean of w since it was begun. */
static void take_mean(const run *r, double *theta)
{
    for (size_t d = 0; d < r->p->D; d++) {
        size_t at = r->p->place[d];
        theta[d] = r->steps > 0 ? (r->C * r->V[at] - r->U[at]) / r->steps : 0;
    }
}

static void begin_mean(run *r)
{
    memset(r->U, 0, (r->p->A + r->p->K) * r->p->stride * sizeof *r->U);
    r->C = r->steps = 0;
}

/* What all rows say of the mean, kept in best [D] where it is the lowest so far. */
static cr_status judge(run *r, double *theta, double *g, double *best)
{
    cri_crf_descent *d = r->d;
    double           f, most = 0, square = 0;
    take_mean(r, theta);
    cr_status st = cri_crf_value(r->p, theta, r->p->D, &f, g);
    if (st != CR_OK || !(f < d->f)) return st;
    for (size_t i = 0; i < r->p->D; i++) {
        most = fmax(most, fabs(g[i]));
        square += g[i] * g[i];
    }
    memcpy(best, theta, r->p->D * sizeof *best);
    d->f = f, d->kkt = most, d->above = square / (2 * r->p->lambda);
    d->settled = most <= d->tol * fmax(1, f);
    cr_log(r->p->cx, CR_LOG_INFO, "pass %zu: objective %.10g, at most %.3g above its minimum",
           d->passes, f, d->above);
    return CR_OK;
}

static cr_status descend(run *r, double *theta, double *g, double *best)
{
    cr_status        st = CR_OK;
    cri_crf_descent *d = r->d;
    CR_TRY(cri_crf_each_block(r->p, calibrate, r));
    begin_again(r);
    CR_TRY(judge(r, theta, g, best)); /* weights 0: what nothing may end above */
    d->settled = false;
    while (!d->settled && !r->cut && d->passes < d->most) {
        r->pass = ++d->passes;
        r->block = 0;
        bool begins = (r->pass & (r->pass - 1)) == 0, ends = (r->pass & (r->pass + 1)) == 0;
        if (begins) begin_mean(r);
        CR_TRY(cri_crf_each_block(r->p, walk, r));
        if (!ends && !r->cut && d->passes < d->most) continue;
        double before = d->f;
        CR_TRY(judge(r, theta, g, best));
        if (d->f < before || r->pass > 1) continue;
        begin_again(r); /* the sample was no guide */
        r->eta_0 /= 8;
    }
done:
    return st;
}

cr_status cri_crf_descend(cri_crf_problem *p, cri_crf_descent *d, double *theta)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(p->cx);
    size_t     all = (p->A + p->K) * p->stride;
    double    *mean = cr_scratch_f64(&s, p->D), *g = cr_scratch_f64(&s, p->D);
    run        r = { .p = p, .d = d, .clock = cri_clock_start(p->cx, NAN) };
    r.V = cr_scratch_bytes(&s, all, sizeof *r.V);
    r.U = cr_scratch_bytes(&s, all, sizeof *r.U);
    r.T = cr_scratch_bytes(&s, p->K * p->stride, sizeof *r.T);
    r.pairs = cr_scratch_bytes(&s, p->K * p->stride, sizeof *r.pairs);
    CR_TRY(s.status);
    r.shrink = p->lambda / (double)d->sequences;
    d->passes = 0, d->f = INFINITY;
    CR_TRY(descend(&r, mean, g, theta));
done:
    cr_scratch_end(&s);
    return st;
}
