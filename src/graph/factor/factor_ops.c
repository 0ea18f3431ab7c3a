/* factor_ops.c -- the algebra of factors, each operation a combination (combine.h). */
#include "combine.h"
#include "factor.h"
#include "factor_internal.h"
#include "variable.h"
#include "base/context_internal.h"
#include "base/find.h"

#include <math.h>
#include <string.h>

cr_status cri_fail_combine(cr_ctx *cx, size_t size)
{
    cr_status st = cr_check_interrupt(cx);
    return st != CR_OK ? st : cri_fail_memory(cx, size * sizeof(double));
}

cr_status cri_fail_dims(cr_ctx *cx)
{
    return cr_fail(cx, CR_ENOMEM, "a table over more than %d variables does not fit into memory",
                   CRI_MOST_DIMS);
}

/* The space of the union of two sorted scopes. */
static cr_status join_scopes(cr_ctx *cx, const cr_factor *a, const cr_factor *b, cri_space *sp)
{
    *sp = (cri_space){ 0 };
    for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
        bool   from_a = k == b->n || (i < a->n && a->var[i] <= b->var[k]);
        size_t var = from_a ? a->var[i] : b->var[k];
        size_t states = from_a ? a->states[i] : b->states[k];
        if (i < a->n && k < b->n && a->var[i] == b->var[k]) {
            if (a->states[i] != b->states[k])
                return cr_fail(cx, CR_EARG,
                               "variable %zu has %zu states in one factor, %zu in another", var,
                               a->states[i], b->states[k]);
            i++, k++;
        } else if (from_a)
            i++;
        else
            k++;
        if (!cri_space_add(sp, var, states)) return cri_fail_dims(cx);
    }
    return CR_OK;
}

/* Combines the inputs, all of one sort, onto out, whose table is there. */
static cr_status combine(cr_ctx *cx, const cri_space *sp, bool maximise, size_t inputs,
                         const cr_factor *const *f, cr_factor *out)
{
    cr_status   st = CR_OK;
    cri_operand in[2];
    cri_output  to = { .value = out->value };
    double     *peak = NULL;
    for (size_t i = 0; i < inputs; i++) {
        in[i].value = f[i]->value;
        cri_space_strides(sp, f[i]->n, f[i]->var, f[i]->states, in[i].stride);
    }
    cri_space_strides(sp, out->n, out->var, out->states, to.stride);
    for (size_t e = 0; e < out->size; e++) out->value[e] = out->is_log ? -INFINITY : 0;
    cri_semiring ring = out->is_log ? CRI_LOG_MAX : maximise ? CRI_MAX : CRI_SUM;
    if (!cri_combine(cx, sp, ring, inputs, in, 1, &to, true, NULL))
        CR_TRY(cri_fail_combine(cx, out->size));
    if (!out->is_log || maximise) goto done;
    peak = cr_resize(cx, NULL, 0, out->size, sizeof *peak);
    if (!peak) CR_TRY(CR_ENOMEM);
    memcpy(peak, out->value, out->size * sizeof *peak);
    memset(out->value, 0, out->size * sizeof *peak);
    to.peak = peak;
    if (!cri_combine(cx, sp, CRI_LOG_EXP, inputs, in, 1, &to, true, NULL))
        CR_TRY(cri_fail_combine(cx, out->size));
    for (size_t e = 0; e < out->size; e++)
        out->value[e] = peak[e] > -INFINITY ? peak[e] + log(out->value[e]) : -INFINITY;
done:
    cr_free(cx, peak, out->size, sizeof *peak);
    return st;
}

/* The general operation: the product of a and b (or a alone), kept over `keep` (NULL: everything).
 */
static cr_status operate(cr_ctx *cx, const cr_factor *a, const cr_factor *opt_b, bool maximise,
                         size_t n, const size_t *opt_keep, cr_factor *out_f)
{
    cr_status        st = CR_OK;
    cr_factor        out = { 0 }, other = { 0 }, none = { 0 };
    const cr_factor *f[2] = { a, opt_b };
    cri_space        sp;
    size_t          *scope = NULL, *states, most = a->n + (opt_b ? opt_b->n : 0), kept = 0;
    CR_TRY(join_scopes(cx, a, opt_b ? opt_b : &none, &sp));
    if (opt_b && opt_b->is_log != a->is_log) {
        CR_TRY(cr_factor_copy(cx, opt_b, &other));
        cr_factor_set_log(&other, a->is_log);
        f[1] = &other;
    }
    scope = cr_alloc(cx, 2 * most, sizeof *scope);
    if (!scope) CR_TRY(CR_ENOMEM);
    states = scope + most;
    for (size_t i = 0, k = 0;
         i < a->n || (opt_b && k < opt_b->n);) { /* the union, single states too */
        bool   from_a = !opt_b || k == opt_b->n || (i < a->n && a->var[i] <= opt_b->var[k]);
        size_t var = from_a ? a->var[i] : opt_b->var[k];
        size_t count = from_a ? a->states[i] : opt_b->states[k];
        if (opt_b && k < opt_b->n && opt_b->var[k] == var) k++;
        if (from_a) i++;
        if (opt_keep && !cri_has_index(opt_keep, n, var)) continue;
        scope[kept] = var;
        states[kept++] = count;
    }
    CR_TRY(cri_factor_make(cx, kept, scope, states, &out));
    out.is_log = a->is_log;
    CR_TRY(combine(cx, &sp, maximise, opt_b ? 2 : 1, f, &out));
    *out_f = out;
    out = (cr_factor){ 0 };
done:
    cr_free(cx, scope, 2 * most, sizeof *scope);
    cr_factor_free(cx, &other);
    cr_factor_free(cx, &out);
    return st;
}

cr_status cr_factor_product(cr_ctx *cx, const cr_factor *a, const cr_factor *b, cr_factor *out_f)
{
    return operate(cx, a, b, true, 0, NULL, out_f);
}

cr_status cr_factor_marginal(cr_ctx *cx, const cr_factor *f, size_t n, const size_t *keep,
                             cr_factor *out_f)
{
    return operate(cx, f, NULL, false, n, keep ? keep : &n, out_f);
}

cr_status cr_factor_max_marginal(cr_ctx *cx, const cr_factor *f, size_t n, const size_t *keep,
                                 cr_factor *out_f)
{
    return operate(cx, f, NULL, true, n, keep ? keep : &n, out_f);
}

cr_status cr_factor_product_marginal(cr_ctx *cx, const cr_factor *a, const cr_factor *b, size_t n,
                                     const size_t *keep, cr_factor *out_f)
{
    return operate(cx, a, b, false, n, keep ? keep : &n, out_f);
}

cr_status cr_factor_divide(cr_ctx *cx, const cr_factor *a, const cr_factor *b, cr_factor *out_f)
{
    cr_status st = CR_OK;
    cr_factor ones = { 0 }, spread = { 0 };
    for (size_t i = 0; i < b->n; i++)
        if (cr_factor_position(a, b->var[i]) == CR_NONE)
            return cr_fail(cx, CR_EARG, "a factor is divided by one that also has variable %zu",
                           b->var[i]);
    CR_TRY(cr_factor_copy(cx, a, &ones));
    for (size_t e = 0; e < ones.size; e++) ones.value[e] = a->is_log ? 0 : 1;
    CR_TRY(cr_factor_product(cx, &ones, b, &spread)); /* b over a's scope */
    for (size_t e = 0; e < a->size; e++) {
        double x = a->value[e], y = spread.value[e], zero = a->is_log ? -INFINITY : 0;
        if (y == zero && x != zero)
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "a factor is divided by 0 where it is not 0"));
        spread.value[e] = y == zero ? zero : a->is_log ? x - y : x / y;
    }
    *out_f = spread;
    spread = (cr_factor){ 0 };
done:
    cr_factor_free(cx, &ones);
    cr_factor_free(cx, &spread);
    return st;
}

cr_status cr_factor_reduce(cr_ctx *cx, const cr_factor *f, size_t var, size_t state,
                           cr_factor *out_f)
{
    cr_status st = CR_OK;
    size_t    k = cr_factor_position(f, var), *scope = NULL;
    cr_factor out = { 0 };
    if (k == CR_NONE) return cr_factor_copy(cx, f, out_f);
    if (state >= f->states[k])
        return cr_fail(cx, CR_EARG, "variable %zu has no state %zu, only %zu of them", var, state,
                       f->states[k]);
    scope = cr_alloc(cx, 2 * f->n, sizeof *scope);
    if (!scope) return CR_ENOMEM;
    for (size_t i = 0, m = 0; i < f->n; i++)
        if (i != k) scope[m] = f->var[i], scope[f->n + m++] = f->states[i];
    CR_TRY(cri_factor_make(cx, f->n - 1, scope, scope + f->n, &out));
    size_t run = f->stride[k], jump = run * f->states[k];
    for (size_t e = 0; e < f->size / jump; e++)
        memcpy(out.value + e * run, f->value + e * jump + state * run, run * sizeof *out.value);
    out.is_log = f->is_log;
    *out_f = out;
done:
    cr_free(cx, scope, 2 * f->n, sizeof *scope);
    return st;
}
