/* bind_density.c -- y ~ d(...) and d_lpdf(y | ...): the arguments checked, the term on the tape. */
#include "bind_internal.h"

#include <math.h>
#include <string.h>

static const char *density_name(const void *user, size_t i)
{
    (void)user;
    return cri_density_at(i)->name;
}

static cr_status unknown_density(cri_binder *b, const cri_syntax *node, const char *name)
{
    size_t n = 0;
    while (cri_density_at(n)) n++;
    CRI_BIND_FAIL(b, node, "there is no distribution '%s'", name);
    return cr_fail_nearest(b->cx, name, "distributions", n, density_name, NULL);
}

/* Known numbers outside of the support are a fault of the data: which row, which value. */
static cr_status check_known(cri_binder *b, const cri_syntax *node, const cri_density_function *f,
                             const cri_value *v, unsigned k)
{
    if (!v->data) return CR_OK;
    for (size_t i = 0; i < v->n; i++) {
        double x = v->data[i];
        bool   bad;
        if (k == 0)
            bad = !(x >= f->low && x <= f->high) || (f->whole && x != floor(x));
        else
            bad = isnan(x) || (f->positive >> (k - 1) & 1 && !(x > 0)) ||
                  (f->unit >> (k - 1) & 1 && !(x >= 0 && x <= 1));
        if (!bad) continue;
        if (k == 0)
            return CRI_BIND_FAIL(b, node, "value %zu is %g, but %s needs %s%s", i + 1, x, f->name,
                                 f->whole ? "whole numbers" : "numbers",
                                 f->low == 0 && f->high == 1 ? " in 0..1"
                                 : f->low == 0               ? " from 0 on"
                                                             : "");
        return CRI_BIND_FAIL(b, node, "argument %u of %s is %g in place %zu, but it must be %s", k,
                             f->name, x, i + 1,
                             f->positive >> (k - 1) & 1 ? "positive"
                             : f->unit >> (k - 1) & 1   ? "in 0..1"
                                                        : "a number");
    }
    return CR_OK;
}

cr_status cri_bind_log_density(cri_binder *b, const cri_syntax *node, const char *name,
                               const cri_value *y, const cri_value *argument, size_t n,
                               cri_value *out)
{
    cr_status                   st = CR_OK;
    const cri_density_function *f = cri_density_find(name);
    const cri_value            *value[CRI_MOST_OPERANDS];
    size_t                      length = y->n;
    bool                        known = y->data != NULL;
    cri_tape_op                 op = { 0 };
    double                      x[CRI_MOST_OPERANDS] = { 0 }, total = 0;
    bool                        joint = false;
    CR_TRY(cri_bind_joint(b, node, name, y, argument, n, &joint, out));
    if (joint) goto done;
    if (!f) CR_TRY(unknown_density(b, node, name));
    if (n != f->parameters)
        CR_TRY(CRI_BIND_FAIL(b, node, "%s takes %u argument%s, but %zu %s given", f->name,
                             f->parameters, f->parameters == 1 ? "" : "s", n,
                             n == 1 ? "is" : "are"));
    value[0] = y;
    for (size_t k = 0; k < n; k++) value[k + 1] = &argument[k];
    for (size_t k = 0; k <= n; k++) {
        if (value[k]->dims > 0 && value[k]->n > length) length = value[k]->n;
        known = known && value[k]->data;
    }
    for (size_t k = 0; k <= n; k++) {
        if (value[k]->dims > 0 && value[k]->n != length)
            CR_TRY(CRI_BIND_FAIL(b, node, "%s of %zu values stands beside one of %zu",
                                 k == 0 ? "the left side" : "an argument", value[k]->n, length));
        CR_TRY(check_known(b, node, f, value[k], (unsigned)k));
    }
    if (length == 0) {
        *out = cri_value_number(b, 0, false);
        goto done;
    }
    if (known) {
        for (size_t i = 0; i < length; i++) {
            for (size_t k = 0; k <= n; k++) x[k] = value[k]->data[value[k]->dims ? i : 0];
            total += f->log_density(x, NULL);
        }
        *out = cri_value_number(b, total, false);
        goto done;
    }
    op.kernel = f->kernel;
    op.n = (uint32_t)length;
    op.n_in = (unsigned)n + 1;
    for (size_t k = 0; k <= n; k++)
        op.in[k] =
            (cri_tape_operand){ .at = cri_value_run(b, value[k]), .n = (uint32_t)value[k]->n };
    *out = cri_value_of_run(b, &(cri_value){ .n = 1 }, cri_tape_add(&b->p->tape, op));
    st = b->s.status;
done:
    return st;
}
