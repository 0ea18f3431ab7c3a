/* noisy.c -- effects, and the tables they stand for. */
#include "noisy.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

void cri_noisy_free(cr_ctx *cx, cri_noisy *x)
{
    cr_free(cx, x->effect, x->rows * x->levels, sizeof *x->effect);
    *x = (cri_noisy){ 0 };
}

cr_status cri_noisy_copy(cr_ctx *cx, const cri_noisy *x, cri_noisy *out)
{
    size_t  size = x->rows * x->levels;
    double *effect = cr_resize(cx, NULL, 0, size, sizeof *effect);
    if (!effect) return CR_ENOMEM;
    memcpy(effect, x->effect, size * sizeof *effect);
    *out = *x;
    out->effect = effect;
    return CR_OK;
}

bool cri_noisy_only(const cr_network *net, size_t v)
{
    return net->kind == CR_NETWORK_BAYES && !net->table[v].value && net->table[v].noisy.effect;
}

cr_status cri_network_need_tables(cr_ctx *cx, const cr_network *net)
{
    for (size_t v = 0; v < net->tables; v++) {
        if (!cri_noisy_only(net, v)) continue;
        cr_fail(
            cx, CR_EUNSUPPORTED,
            "the %s of '%s' with %zu parents has no table, which is needed here: those of all such "
            "variables would be too large",
            cri_cpd_name(net->table[v].kind), cr_variable_name(net->variables, v),
            net->table[v].n - 1);
        return cr_fail_hint(cx, "ask P(...), causes(...) or argmax(...), which need none");
    }
    return CR_OK;
}

double cri_table_entries(const cr_network *net, const cri_table *t)
{
    double size = 1;
    for (size_t i = 0; i < t->n; i++) size *= (double)cr_network_states(net, t->scope[i]);
    return size;
}

void cri_noisy_fold(size_t levels, const double *q, double *p)
{
    double below_p = 0, upto_q = 0;
    for (size_t k = 0; k < levels; k++) {
        double mine = p[k];
        upto_q += q[k];
        p[k] = mine * upto_q + below_p * q[k];
        below_p += mine;
    }
}

void cri_noisy_turn(size_t n, double *p)
{
    for (size_t k = 0; k < n / 2; k++) {
        double swap = p[k];
        p[k] = p[n - 1 - k];
        p[n - 1 - k] = swap;
    }
}

/* p(v | parents in these states), [states of v]; at [parents].  Of a table with effects. */
static void noisy_row(const cr_network *net, const cri_table *t, const size_t *at, double *out)
{
    const cri_noisy *x = &t->noisy;
    const double    *q = x->effect + x->levels;
    double           sum = 0;
    memcpy(out, x->effect, x->levels * sizeof *out);
    for (size_t i = 0; i + 1 < t->n; i++) {
        cri_noisy_fold(x->levels, q + at[i] * x->levels, out);
        q += cr_network_states(net, t->scope[i]) * x->levels;
    }
    for (size_t k = 0; k < x->levels; k++) sum += out[k];
    if (fabs(sum - 1) > (double)x->levels * DBL_EPSILON)
        for (size_t k = 0; k < x->levels; k++) out[k] /= sum;
    if (x->falling) cri_noisy_turn(x->levels, out);
}

double cri_noisy_value(const cr_network *net, const cri_table *t, const size_t *state)
{
    const cri_noisy *x = &t->noisy;
    const double    *q = x->effect;
    size_t           v = t->scope[t->n - 1];
    size_t           level = x->falling ? x->levels - 1 - state[v] : state[v];
    double           below = 1, here = 0; /* P(max so far < level), P( = level); of none: below */
    for (size_t i = 0; i < t->n; i++) {   /* the leak, then each parent */
        size_t u = i > 0 ? t->scope[i - 1] : v;
        if (i > 0) q += state[u] * x->levels;
        double less = 0;
        for (size_t k = 0; k < level; k++) less += q[k];
        here = here * (less + q[level]) + below * q[level];
        below *= less;
        q += (i > 0 ? cr_network_states(net, u) - state[u] : 1) * x->levels;
    }
    return here;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* All rows; t has effects and no table.  *out_value from cr_resize. */
static cr_status make_table(cr_ctx *cx, const cr_network *net, const cri_table *t,
                            double **out_value, size_t *out_size)
{
    enum { MANY = 1 << 16 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     levels = t->noisy.levels, size = 0, *at = cr_scratch_bytes(&s, t->n, sizeof *at);
    double    *value = NULL;
    CR_TRY(s.status);
    CR_TRY(cri_network_new_table(cx, net, t->scope[t->n - 1], &value, &size));
    for (size_t e = 0; e < size; e += levels) {
        noisy_row(net, t, at, value + e);
        if (e / levels % MANY == MANY - 1) CR_TRY(cr_check_interrupt(cx));
        for (size_t i = t->n - 1; i-- > 0;) {
            if (++at[i] < cr_network_states(net, t->scope[i])) break;
            at[i] = 0;
        }
    }
    *out_value = value;
    *out_size = size;
    value = NULL;
done:
    cr_free(cx, value, size, sizeof *value);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_noisy_set(cr_ctx *cx, cr_network *net, size_t v, cri_noisy *effects, cr_cpd_kind kind)
{
    cr_status  st = CR_OK;
    cri_table *old = &net->table[v], t = { .n = old->n, .scope = old->scope, .kind = kind };
    t.noisy = *effects;
    if (t.n < 3 ||
        cri_table_entries(net, &t) <= CRI_NOISY_TABLE) /* one parent: no more than its effects */
        CR_TRY(make_table(cx, net, &t, &t.value, &t.size));
    cr_free(cx, old->value, old->size, sizeof *old->value);
    cri_string_free(cx, old->source);
    cri_noisy_free(cx, &old->noisy);
    *old = t;
    *effects = (cri_noisy){ 0 };
done:
    cri_noisy_free(cx, effects);
    return st;
}

bool cri_noisy_apart(const cr_network *net, size_t v, const cr_evidence *opt_e)
{
    const cri_noisy *x = &net->table[v].noisy;
    if (!opt_e || !x->effect || net->table[v].n < 3) return false;
    return cr_evidence_state(opt_e, v) == (x->falling ? x->levels - 1 : 0);
}

cr_status cri_network_fill(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e, double most,
                           cr_network **out_net)
{
    cr_status   st = CR_OK;
    cr_network *copy = NULL;
    double      all = 0;
    for (size_t v = 0; v < net->tables; v++)
        if (cri_noisy_only(net, v) && !cri_noisy_apart(net, v, opt_e))
            all += cri_table_entries(net, &net->table[v]);
    for (size_t v = 0; v < net->tables && all <= most; v++) {
        if (!cri_noisy_only(net, v) || cri_noisy_apart(net, v, opt_e)) continue;
        if (!copy) CR_TRY(cr_network_copy(cx, net, &copy));
        CR_TRY(make_table(cx, copy, &copy->table[v], &copy->table[v].value, &copy->table[v].size));
    }
    *out_net = copy;
    copy = NULL;
done:
    cr_network_free(cx, copy);
    return st;
}
