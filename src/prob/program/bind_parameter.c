/* bind_parameter.c -- parameters: free numbers, brought to their support.
 *   lower     x = low + exp(u)                      log|J| = u
 *   upper     x = high - exp(u)                     log|J| = u
 *   between   x = low + (high - low) inv_logit(u)   log|J| = log(high - low) + log p + log(1 - p)
 *   ordered   x_1 = u_1, x_k = x_{k-1} + exp(u_k)   log|J| = u_2 + ... + u_n
 *   simplex   stick breaking (kernels_vector.c)
 * Stan reference manual, "Constraint Transforms". */
#include "bind_internal.h"

#include <string.h>

static const cri_each_function *each(const char *name, unsigned n)
{
    return cri_each_find(name, n);
}

static cr_status add_jacobian(cri_binder *b, const cri_value *log_jacobian)
{
    cri_slot at = cri_value_run(b, log_jacobian);
    if (log_jacobian->n > 1) at = cri_tape_sum(&b->p->tape, at, log_jacobian->n);
    cri_tape_term(&b->p->tape, at);
    return b->s.status;
}

static cr_status one_sided(cri_binder *b, const cri_syntax *node, const cri_value *u,
                           const cri_value *bound, bool lower, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value away;
    CR_TRY(cri_bind_each(b, node, each("exp", 1), u, NULL, &away));
    CR_TRY(lower ? cri_bind_each(b, node, each("add", 2), &away, bound, out)
                 : cri_bind_each(b, node, each("subtract", 2), bound, &away, out));
    CR_TRY(add_jacobian(b, u));
done:
    return st;
}

static cr_status between(cri_binder *b, const cri_syntax *node, const cri_value *u,
                         const cri_value *low, const cri_value *high, cri_value *out)
{
    cr_status st = CR_OK;
    cri_value width, p, x, q;
    CR_TRY(cri_bind_each(b, node, each("subtract", 2), high, low, &width));
    CR_TRY(cri_bind_each(b, node, each("inv_logit", 1), u, NULL, &p));
    CR_TRY(cri_bind_each(b, node, each("multiply", 2), &p, &width, &x));
    CR_TRY(cri_bind_each(b, node, each("add", 2), &x, low, out));
    CR_TRY(cri_bind_each(b, node, each("log_inv_logit", 1), u, NULL, &q));
    CR_TRY(add_jacobian(b, &q));
    CR_TRY(cri_bind_each(b, node, each("log1m_inv_logit", 1), u, NULL, &q));
    CR_TRY(add_jacobian(b, &q));
    CR_TRY(cri_bind_each(b, node, each("log", 1), &width, NULL, &q));
    for (size_t i = 0; i < (width.dims ? 1 : u->n); i++) CR_TRY(add_jacobian(b, &q));
done:
    return st;
}

/* Each run of the last dimension by itself. */
static cr_status ordered(cri_binder *b, cri_value *u, bool positive, cri_value *out)
{
    size_t    K = u->dim[u->dims - 1];
    cri_slot *slot = cri_value_slots(b, out);
    for (size_t from = 0; slot && K && from < u->n; from += K) {
        cri_slot first = u->slot[from], steps, whole;
        size_t   free = positive ? 0 : 1;
        if (K > free) {
            steps = cri_tape_unary(&b->p->tape, cri_each_kernel("exp", 1), first + (cri_slot)free,
                                   K - free);
            cri_tape_term(&b->p->tape, cri_tape_sum(&b->p->tape, first + (cri_slot)free, K - free));
            cri_value all = { .n = K };
            cri_slot *at = cri_value_slots(b, &all);
            for (size_t k = 0; at && k < K; k++)
                at[k] = k < free ? first : steps + (cri_slot)(k - free);
            whole =
                cri_tape_unary(&b->p->tape, &cri_kernel_cumulative_sum, cri_value_run(b, &all), K);
        } else {
            whole = first;
        }
        for (size_t k = 0; k < K; k++) slot[from + k] = whole + (cri_slot)k;
    }
    return b->s.status;
}

static cr_status simplexes(cri_binder *b, const cri_value *u, size_t K, cri_value *out)
{
    cri_slot *slot = cri_value_slots(b, out);
    size_t    runs = out->n / K;
    for (size_t r = 0; slot && r < runs; r++) {
        cri_slot at = cri_tape_add(&b->p->tape,
                                   (cri_tape_op){ .kernel = &cri_kernel_simplex,
                                                  .n = (uint32_t)K + 1,
                                                  .n_in = 1,
                                                  .in = { { .at = K > 1 ? u->slot[r * (K - 1)] : 0,
                                                            .n = (uint32_t)K - 1 } } });
        for (size_t k = 0; k < K; k++) slot[r * K + k] = at + (cri_slot)k;
        cri_tape_term(&b->p->tape, at + (cri_slot)K);
    }
    return b->s.status;
}

cr_status cri_bind_parameter(cri_binder *b, const cri_syntax *node, const char *name,
                             cri_value *shape, cri_constraint support, const cri_value *low,
                             const cri_value *high)
{
    cr_status           st = CR_OK;
    cri_bound_variable *v = cri_bind_find(b, name);
    cri_value           u = cri_value_shaped(shape), x;
    size_t              K = shape->dims ? shape->dim[shape->dims - 1] : 1;
    if (!v) CR_TRY(cri_bind_variable(b, name, CRI_NAME_PARAMETER, &v));
    v->role = CRI_NAME_PARAMETER;
    if (support == CRI_CONSTRAINT_SIMPLEX && shape->n) {
        u.dim[u.dims - 1] = K - 1;
        u.n = shape->n / K * (K - 1);
    }
    x = cri_value_shaped(shape);
    u = cri_value_of_run(b, &u, cri_tape_parameters(&b->p->tape, u.n));
    CR_TRY(b->s.status);
    CR_TRY(b->p->tape.memory.status);
    if (shape->n == 0)
        cri_value_fill(b, &x);
    else if (support == CRI_CONSTRAINT_ALL)
        x = u;
    else if (support == CRI_CONSTRAINT_LOWER)
        CR_TRY(one_sided(b, node, &u, low, true, &x));
    else if (support == CRI_CONSTRAINT_UPPER)
        CR_TRY(one_sided(b, node, &u, high, false, &x));
    else if (support == CRI_CONSTRAINT_BETWEEN)
        CR_TRY(between(b, node, &u, low, high, &x));
    else if (support == CRI_CONSTRAINT_SIMPLEX)
        CR_TRY(simplexes(b, &u, K, &x));
    else
        CR_TRY(ordered(b, &u, support == CRI_CONSTRAINT_POSITIVE_ORDERED, &x));
    v = cri_bind_find(b, name);
    x.inner = shape->inner, x.levels = shape->levels, x.n_levels = shape->n_levels;
    v->value = x;
    v->set = true;
    st = b->s.status;
done:
    return st;
}
