/* enumerate.c -- every assignment in turn, in logarithms. */
#include "enumerate.h"
#include "base/scratch.h"
#include "base/find.h"

#include <math.h>

static const double MOST = 67108864;

/* Sums exp(x) without overflow: peak + log(sum). */
typedef struct log_sum {
    double peak, sum;
} log_sum;

static void add_log(log_sum *s, double x)
{
    if (x == -INFINITY) return;
    if (x > s->peak) {
        s->sum = s->sum * exp(s->peak - x) + 1;
        s->peak = x;
    } else {
        s->sum += exp(x - s->peak);
    }
}

static double total(const log_sum *s) { return s->sum > 0 ? s->peak + log(s->sum) : -INFINITY; }

static cr_status check_size(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                            double most)
{
    double count = 1;
    for (size_t v = 0; v < cr_network_size(net); v++)
        if (!opt_e || cr_evidence_state(opt_e, v) == CR_NONE)
            count *= (double)cr_network_states(net, v);
    if (count <= (most > 0 ? most : MOST)) return CR_OK;
    cr_fail(cx, CR_ENOMEM, "enumeration would have %.3g assignments, more than %.3g", count,
            most > 0 ? most : MOST);
    return cr_fail_hint(cx, "use elimination or a junction tree");
}

static double log_likelihood(const cr_network *net, const cr_evidence *opt_e, const size_t *state)
{
    double sum = 0;
    for (size_t v = 0; opt_e && v < cr_network_size(net); v++) {
        const double *l = cr_evidence_likelihood(opt_e, v);
        if (l) sum += log(l[state[v]]);
    }
    return sum == -INFINITY ? sum : sum + cr_network_log_value(net, state);
}

/* The next assignment; observed variables stay.  false after the last. */
static bool next(const cr_network *net, const cr_evidence *opt_e, size_t *state)
{
    for (size_t v = cr_network_size(net); v-- > 0;) {
        if (opt_e && cr_evidence_state(opt_e, v) != CR_NONE) continue;
        if (++state[v] < cr_network_states(net, v)) return true;
        state[v] = 0;
    }
    return false;
}

/* Sums p(x, e) into the entries of a table over the query. */
static cr_status sum_up(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                        const cr_factor *f, log_sum *sums)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(net), count = 0;
    size_t    *state = cr_scratch_bytes(&s, n, sizeof *state);
    CR_TRY(s.status);
    for (size_t v = 0; v < n; v++) {
        size_t only = opt_e ? cr_evidence_state(opt_e, v) : CR_NONE;
        state[v] = only == CR_NONE ? 0 : only;
    }
    do {
        add_log(&sums[cr_factor_index(f, state)], log_likelihood(net, opt_e, state));
        if (++count % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
    } while (next(net, opt_e, state));
done:
    cr_scratch_end(&s);
    return st;
}

/* The table over the query with the logs of P(query, e) as its values. */
static cr_status make_table(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                            const size_t *query, double most, cr_factor *out_f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  f = { 0 };
    size_t    *states = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    CR_TRY(cr_network_check(cx, net));
    CR_TRY(check_size(cx, net, opt_e, most));
    for (size_t i = 0; i < n; i++) {
        if (query[i] >= cr_network_size(net))
            CR_TRY(cr_fail(cx, CR_EARG, "there is no variable %zu", query[i]));
        states[i] = cr_network_states(net, query[i]);
    }
    CR_TRY(cr_factor_new(cx, n, query, states, NULL, &f));
    log_sum *sums = cr_scratch_bytes(&s, f.size, sizeof *sums);
    CR_TRY(s.status);
    for (size_t e = 0; e < f.size; e++) sums[e].peak = -INFINITY;
    CR_TRY(sum_up(cx, net, opt_e, &f, sums));
    f.is_log = true;
    for (size_t e = 0; e < f.size; e++) f.value[e] = total(&sums[e]);
    *out_f = f;
    f = (cr_factor){ 0 };
done:
    cr_factor_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_enumerate_query(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                             const size_t *query, double most, cr_factor *opt_f, double *opt_log)
{
    cr_factor f = { 0 };
    double    log_e;
    cr_status st = make_table(cx, net, opt_e, n, query, most, &f);
    if (st != CR_OK) return st;
    cr_factor_normalise(&f, &log_e);
    cr_factor_set_log(&f, false);
    if (opt_f && log_e == -INFINITY) {
        cr_factor_free(cx, &f);
        return cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0");
    }
    if (opt_log) *opt_log = log_e;
    if (opt_f)
        *opt_f = f;
    else
        cr_factor_free(cx, &f);
    return CR_OK;
}

cr_status cr_enumerate_best(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, size_t n,
                            const size_t *query, double most, size_t *out_state, double *out_log)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_factor  f = { 0 };
    size_t     count = n ? n : cr_network_size(net);
    size_t *all = cr_scratch_index(&s, count), *state = cr_scratch_index(&s, cr_network_size(net));
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) all[i] = n ? query[i] : i;
    CR_TRY(make_table(cx, net, opt_e, count, all, most, &f));
    size_t best = cri_largest(f.value, f.size);
    if (f.value[best] == -INFINITY)
        CR_TRY(cr_fail(cx, CR_EDATA, "the evidence is impossible: its probability is 0"));
    *out_log = f.value[best];
    for (size_t i = 0; i < f.n; i++) {
        state[f.var[i]] = best / f.stride[i];
        best %= f.stride[i];
    }
    for (size_t i = 0; i < count; i++) out_state[i] = state[all[i]];
done:
    cr_factor_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}
