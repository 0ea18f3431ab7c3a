/* order_exact.c -- sums over all orders.
 *   L(W) = log sum over v in W of exp(L(W \ v) + total_v(W \ v))        orders of W, W first
 *   R(W) = log sum over v not in W of exp(total_v(W) + R(W + v))        orders of the others, after W
 *   P(u -> v) = sum over W without v of exp(L(W) + total_v(W) + R(W + v) - L(V)) P(u -> v | W)
 * Koivisto & Sood (2004); the backward sums are those of Koivisto (2006), "Advances in exact Bayesian
 * structure discovery in Bayesian networks". */
#include "arc_posterior.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { MOST_VARIABLES = 25 };

typedef struct sums {
    const cri_family_sums *f;
    double                *before, *after; /* [2^n] L, R */
    double                *out;
    cr_ctx                *cx;
} sums;

/* W as a set of candidates of v. */
static size_t candidates_in(const cri_family_sums *f, size_t v, size_t set)
{
    size_t c = 0;
    for (size_t i = 0; i < f->count[v]; i++) c |= (set >> f->candidate[v][i] & 1) << i;
    return c;
}

static cr_status sum_before(sums *x)
{
    size_t sets = (size_t)1 << x->f->n;
    x->before[0] = 0;
    for (size_t w = 1; w < sets; w++) {
        double sum = -INFINITY;
        for (size_t left = w; left; left &= left - 1) {
            size_t v = (size_t)__builtin_ctzll(left), rest = w & ~((size_t)1 << v);
            sum = cri_log_plus(sum, x->before[rest] + x->f->total[v][candidates_in(x->f, v, rest)]);
        }
        x->before[w] = sum;
        cr_status st = w % 4096 ? CR_OK : cr_check_interrupt(x->cx);
        if (st != CR_OK) return st;
    }
    return CR_OK;
}

static cr_status sum_after(sums *x)
{
    size_t sets = (size_t)1 << x->f->n;
    x->after[sets - 1] = 0;
    for (size_t w = sets - 1; w-- > 0;) {
        double sum = -INFINITY;
        for (size_t left = ~w & (sets - 1); left; left &= left - 1) {
            size_t v = (size_t)__builtin_ctzll(left), more = w | (size_t)1 << v;
            sum = cri_log_plus(sum, x->after[more] + x->f->total[v][candidates_in(x->f, v, w)]);
        }
        x->after[w] = sum;
        cr_status st = w % 4096 ? CR_OK : cr_check_interrupt(x->cx);
        if (st != CR_OK) return st;
    }
    return CR_OK;
}

/* Column v of out. */
static void sum_arcs(void *arg, size_t v)
{
    sums                  *x = arg;
    const cri_family_sums *f = x->f;
    size_t                 n = f->n, sets = (size_t)1 << n, bit = (size_t)1 << v;
    double                 all = x->before[sets - 1];
    for (size_t w = 0; w < sets && !(w % 4096 == 0 && cri_should_stop(x->cx)); w++) {
        if (w & bit) continue;
        size_t c = candidates_in(f, v, w);
        double total = f->total[v][c], p = exp(x->before[w] + total + x->after[w | bit] - all);
        if (p == 0) continue;
        for (size_t i = 0; i < f->count[v]; i++) {
            if (!(c >> i & 1)) continue;
            double without = f->total[v][c & ~((size_t)1 << i)];
            x->out[f->candidate[v][i] * n + v] += p * -expm1(without - total);
        }
    }
}

cr_status cri_order_exact(cr_ctx *cx, const cri_family_sums *f, double *out,
                          double *opt_log_evidence)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = f->n;
    sums       x = { .f = f, .cx = cx };
    if (n > MOST_VARIABLES)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED,
                       "exact probabilities of arcs take at most %d variables, not %zu",
                       MOST_VARIABLES, n));
    x.before = cr_scratch_f64(&s, (size_t)1 << n);
    x.after = cr_scratch_f64(&s, (size_t)1 << n);
    x.out = cr_scratch_bytes(&s, n * n, sizeof *x.out);
    CR_TRY(s.status);
    CR_TRY(sum_before(&x));
    CR_TRY(sum_after(&x));
    CR_TRY(cri_parallel_for(cx, NULL, n, sum_arcs, &x));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t i = 0; i < n * n; i++) out[i] = fmin(x.out[i], 1);
    if (opt_log_evidence)
        *opt_log_evidence = x.before[((size_t)1 << n) - 1] - cr_lgamma_abs((double)n + 1);
done:
    cr_scratch_end(&s);
    return st;
}
