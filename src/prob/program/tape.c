/* tape.c -- building and evaluating a tape. */
#include "tape.h"
#include "kernels.h"

#include <math.h>
#include <string.h>

/* --- building -------------------------------------------------------------------------------- */

cri_tape cri_tape_begin(cr_ctx *cx) { return (cri_tape){ .memory = cr_scratch_begin(cx) }; }

void cri_tape_free(cri_tape *t)
{
    cr_scratch_end(&t->memory);
    *t = (cri_tape){ 0 };
}

/* Room for n entries more; what was there is copied, so that growing costs O(1) an entry. */
static void *grow(cri_tape *t, void *old, size_t used, size_t *most, size_t n, size_t size)
{
    if (used + n <= *most && old) return old;
    size_t wanted = 2 * (used + n) + 64;
    void  *block = cr_scratch_bytes(&t->memory, wanted, size);
    if (!block) return NULL;
    if (used) memcpy(block, old, used * size);
    *most = wanted;
    return block;
}

static cri_slot new_slots(cri_tape *t, size_t n, bool constant)
{
    size_t most = t->size_most, first = t->size;
    if (t->memory.status != CR_OK) return CRI_NO_SLOT;
    if (t->size + n >= CRI_NO_SLOT) {
        t->memory.status =
            cr_fail(t->memory.cx, CR_ENOMEM, "the program has more than %u intermediate values",
                    CRI_NO_SLOT - 1);
        return CRI_NO_SLOT;
    }
    double *initial = grow(t, t->initial, t->size, &most, n, sizeof *initial);
    most = t->size_most;
    bool *flag = grow(t, t->constant, t->size, &most, n, sizeof *flag);
    if (!initial || !flag) return CRI_NO_SLOT;
    t->initial = initial, t->constant = flag, t->size_most = most;
    memset(flag + first, constant, n);
    memset(initial + first, 0, n * sizeof *initial);
    t->size += n;
    return (cri_slot)first;
}

cri_slot cri_tape_parameters(cri_tape *t, size_t n)
{
    cri_slot  first = new_slots(t, n, false);
    cri_slot *all = grow(t, t->parameter, t->n_parameters, &t->parameters_most, n, sizeof *all);
    if (first == CRI_NO_SLOT || !all) return CRI_NO_SLOT;
    t->parameter = all;
    for (size_t i = 0; i < n; i++) all[t->n_parameters++] = first + (cri_slot)i;
    return first;
}

cri_slot cri_tape_constants(cri_tape *t, const double *x, size_t n)
{
    cri_slot first = new_slots(t, n, true);
    if (first != CRI_NO_SLOT && n) memcpy(t->initial + first, x, n * sizeof *x);
    return first;
}

bool cri_tape_varies(const cri_tape *t, cri_slot x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!t->constant[x + i]) return true;
    return false;
}

cri_slot cri_tape_add(cri_tape *t, cri_tape_op op)
{
    if (t->memory.status != CR_OK) return CRI_NO_SLOT;
    cri_tape_op *ops = grow(t, t->op, t->n_ops, &t->ops_most, 1, sizeof *ops);
    if (!ops) return CRI_NO_SLOT;
    t->op = ops;
    for (unsigned k = 0; k < op.n_in; k++)
        op.in[k].constant = !cri_tape_varies(t, op.in[k].at, op.in[k].n);
    if (op.kernel->known) op.known = op.kernel->known(&op, t->initial);
    op.out = new_slots(t, op.kernel->sums ? 1 : op.n, false);
    if (op.out == CRI_NO_SLOT) return CRI_NO_SLOT;
    t->op[t->n_ops++] = op;
    return op.out;
}

cri_slot cri_tape_gather(cri_tape *t, const cri_slot *index, size_t n)
{
    cri_slot *kept = cr_scratch_bytes(&t->memory, n, sizeof *kept);
    if (!kept) return CRI_NO_SLOT;
    if (n) memcpy(kept, index, n * sizeof *kept);
    return cri_tape_add(
        t, (cri_tape_op){ .kernel = &cri_kernel_gather, .n = (uint32_t)n, .index = kept });
}

cri_slot cri_tape_unary(cri_tape *t, const cri_tape_kernel *kernel, cri_slot x, size_t n)
{
    return cri_tape_add(t, (cri_tape_op){ .kernel = kernel,
                                          .n = (uint32_t)n,
                                          .n_in = 1,
                                          .in = { { .at = x, .n = (uint32_t)n } } });
}

cri_slot cri_tape_binary(cri_tape *t, const cri_tape_kernel *kernel, cri_slot x, size_t nx,
                         cri_slot y, size_t ny)
{
    return cri_tape_add(t, (cri_tape_op){ .kernel = kernel,
                                          .n = (uint32_t)(nx == 1 ? ny : nx),
                                          .n_in = 2,
                                          .in = { { .at = x, .n = (uint32_t)nx },
                                                  { .at = y, .n = (uint32_t)ny } } });
}

cri_slot cri_tape_sum(cri_tape *t, cri_slot x, size_t n)
{
    return cri_tape_unary(t, &cri_kernel_sum, x, n);
}

void cri_tape_term(cri_tape *t, cri_slot slot)
{
    if (t->memory.status != CR_OK) return;
    cri_slot *terms = grow(t, t->term, t->n_terms, &t->terms_most, 1, sizeof *terms);
    if (!terms) return;
    t->term = terms;
    t->term[t->n_terms++] = slot;
}

/* --- evaluating ------------------------------------------------------------------------------ */

cri_tape_run cri_tape_open(const cri_tape *t, cr_scratch *s)
{
    cri_tape_run run = { .tape = t,
                         .value = cr_scratch_f64(s, t->size),
                         .adjoint = cr_scratch_f64(s, t->size) };
    if (s->status == CR_OK && t->size) memcpy(run.value, t->initial, t->size * sizeof *run.value);
    return run;
}

double cri_tape_density(cri_tape_run *run, const double *x, double *opt_gradient)
{
    const cri_tape *t = run->tape;
    double          sum = 0, *v = run->value, *a = run->adjoint;
    for (size_t i = 0; i < t->n_parameters; i++) v[t->parameter[i]] = x[i];
    for (size_t i = 0; i < t->core; i++) t->op[i].kernel->forward(&t->op[i], v);
    for (size_t i = 0; i < t->n_terms; i++) sum += v[t->term[i]];
    if (isnan(sum)) sum = -INFINITY;
    if (opt_gradient && t->n_parameters) {
        memset(a, 0, t->size * sizeof *a);
        for (size_t i = 0; i < t->n_terms; i++) a[t->term[i]] += 1;
        for (size_t i = t->core; i-- > 0;) t->op[i].kernel->backward(&t->op[i], v, a);
        for (size_t i = 0; i < t->n_parameters; i++) opt_gradient[i] = a[t->parameter[i]];
    }
    return sum;
}

void cri_tape_report(cri_tape_run *run, const double *x)
{
    const cri_tape *t = run->tape;
    for (size_t i = 0; i < t->n_parameters; i++) run->value[t->parameter[i]] = x[i];
    for (size_t i = 0; i < t->n_ops; i++) t->op[i].kernel->forward(&t->op[i], run->value);
}
