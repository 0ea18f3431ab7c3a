/* factor.c -- factors: life, and the places of their entries. */
#include "factor.h"
#include "combine.h"
#include "factor_internal.h"
#include "variable.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <float.h>
#include <math.h>
#include <string.h>

void cr_factor_free(cr_ctx *cx, cr_factor *f)
{
    cr_free(cx, f->var, 3 * f->n, sizeof *f->var);
    cr_free(cx, f->value, f->size, sizeof *f->value);
    *f = (cr_factor){ 0 };
}

cr_status cri_factor_make(cr_ctx *cx, size_t n, const size_t *var, const size_t *states,
                          cr_factor *out_f)
{
    double    size = 1;
    cr_factor f = { .n = n, .size = 1 };
    for (size_t i = 0; i < n; i++) size *= (double)states[i];
    if (size > 1e4 && size * sizeof(double) > (double)cri_memory_left(cx))
        return cr_fail(cx, CR_ENOMEM,
                       "a table over %zu variables would have %.3g entries (%.3g GB)", n, size,
                       size * sizeof(double) / 1e9);
    for (size_t i = 0; i < n; i++) f.size *= states[i];
    f.var = cr_resize(cx, NULL, 0, 3 * n, sizeof *f.var);
    f.value = f.var ? cr_resize(cx, NULL, 0, f.size, sizeof *f.value) : NULL;
    if (!f.value) {
        cr_factor_free(cx, &f);
        return CR_ENOMEM;
    }
    f.states = f.var + n;
    f.stride = f.states + n;
    size_t stride = 1;
    for (size_t i = n; i-- > 0;) {
        f.var[i] = var[i];
        f.states[i] = states[i];
        f.stride[i] = stride;
        stride *= states[i];
    }
    *out_f = f;
    return CR_OK;
}

/* order[0..n): the places of the variables in ascending order.  CR_EARG when one stands twice. */
static cr_status sort_scope(cr_ctx *cx, size_t n, const size_t *var, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = i;
        for (; k > 0 && var[order[k - 1]] > var[i]; k--) order[k] = order[k - 1];
        order[k] = i;
        if (k > 0 && var[order[k - 1]] == var[i])
            return cr_fail(cx, CR_EARG, "variable %zu occurs twice in a scope", var[i]);
    }
    return CR_OK;
}

static cr_status check_values(cr_ctx *cx, size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++)
        if (!(values[i] >= 0) || values[i] > DBL_MAX)
            return cr_fail(cx, CR_EDATA, "value %zu of a factor is %g, expected a number >= 0",
                           i + 1, values[i]);
    return CR_OK;
}

/* Copies values given in another order of the variables; stride[i] is that of sorted variable i. */
static cr_status permute(cr_ctx *cx, const cr_factor *f, const size_t *stride, const double *values)
{
    cri_space   sp = { 0 };
    cri_operand in = { .value = values };
    cri_output  out = { .value = f->value };
    for (size_t i = 0; i < f->n; i++) {
        if (f->states[i] == 1) continue;
        in.stride[sp.n] = stride[i];
        out.stride[sp.n] = f->stride[i];
        if (!cri_space_add(&sp, f->var[i], f->states[i])) return cri_fail_dims(cx);
    }
    memset(f->value, 0, f->size * sizeof *f->value);
    return cri_combine(cx, &sp, CRI_SUM, 1, &in, 1, &out, true, NULL)
               ? CR_OK
               : cri_fail_combine(cx, f->size);
}

cr_status cr_factor_new(cr_ctx *cx, size_t n, const size_t *var, const size_t *states,
                        const double *opt_values, cr_factor *out_f)
{
    cr_status  st = CR_OK;
    cr_factor  f = { 0 };
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *order = cr_scratch_index(&s, n), *sorted = cr_scratch_index(&s, n);
    size_t    *sorted_states = cr_scratch_index(&s, n), *stride = cr_scratch_index(&s, n), step = 1;
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++)
        if (states[i] == 0) CR_TRY(cr_fail(cx, CR_EARG, "variable %zu has no states", var[i]));
    CR_TRY(sort_scope(cx, n, var, order));
    for (size_t i = 0; i < n; i++) sorted[i] = var[order[i]], sorted_states[i] = states[order[i]];
    CR_TRY(cri_factor_make(cx, n, sorted, sorted_states, &f));
    if (opt_values) {
        CR_TRY(check_values(cx, f.size, opt_values));
        for (size_t i = n; i-- > 0;) {
            size_t k = 0;
            while (order[k] != i) k++;
            stride[k] = step;
            step *= states[i];
        }
        CR_TRY(permute(cx, &f, stride, opt_values));
    } else {
        for (size_t i = 0; i < f.size; i++) f.value[i] = 1;
    }
    *out_f = f;
    f = (cr_factor){ 0 };
done:
    cr_factor_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_factor_copy(cr_ctx *cx, const cr_factor *f, cr_factor *out_f)
{
    cr_factor copy;
    cr_status st = cri_factor_make(cx, f->n, f->var, f->states, &copy);
    if (st != CR_OK) return st;
    memcpy(copy.value, f->value, f->size * sizeof *f->value);
    copy.is_log = f->is_log;
    *out_f = copy;
    return CR_OK;
}

void cr_factor_set_log(cr_factor *f, bool is_log)
{
    if (f->is_log == is_log) return;
    for (size_t i = 0; i < f->size; i++) f->value[i] = is_log ? log(f->value[i]) : exp(f->value[i]);
    f->is_log = is_log;
}

void cr_factor_normalise(cr_factor *f, double *opt_log_sum)
{
    double peak = 0, sum = 0;
    if (f->is_log) {
        peak = -INFINITY;
        for (size_t i = 0; i < f->size; i++) peak = f->value[i] > peak ? f->value[i] : peak;
        for (size_t i = 0; peak > -INFINITY && i < f->size; i++) sum += exp(f->value[i] - peak);
        double total = peak + (sum > 0 ? log(sum) : 0);
        for (size_t i = 0; sum > 0 && i < f->size; i++) f->value[i] -= total;
        if (opt_log_sum) *opt_log_sum = total;
        return;
    }
    for (size_t i = 0; i < f->size; i++) peak = f->value[i] > peak ? f->value[i] : peak;
    for (size_t i = 0; peak > 0 && i < f->size; i++)
        sum += f->value[i] /= peak; /* cannot overflow */
    for (size_t i = 0; peak > 0 && i < f->size; i++) f->value[i] /= sum;
    if (opt_log_sum) *opt_log_sum = peak > 0 ? log(peak) + log(sum) : -INFINITY;
}

size_t cr_factor_index(const cr_factor *f, const size_t *state)
{
    size_t at = 0;
    for (size_t i = 0; i < f->n; i++) at += state[f->var[i]] * f->stride[i];
    return at;
}

size_t cr_factor_position(const cr_factor *f, size_t var)
{
    size_t low = 0, high = f->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (f->var[mid] < var)
            low = mid + 1;
        else
            high = mid;
    }
    return low < f->n && f->var[low] == var ? low : CR_NONE;
}
