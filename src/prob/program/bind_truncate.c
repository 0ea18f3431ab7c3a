/* bind_truncate.c -- y ~ d(...) T[low, high]: where the truncation changes nothing but a constant.
 *   log p(y) = log d(y) - log P(low < Y < high),   low < y < high
 * If all arguments of d are known, the second term is a constant, and the support of y, a parameter, is what is left.
 * Everywhere else it is refused, as it would be wrong to leave it out. */
#include "bind_internal.h"

#include <string.h>

/* The bound of that name in the declaration of a parameter; NULL where it has none. */
static const cri_syntax *declared_bound(const cri_binder *b, const char *name, const char *bound)
{
    for (const cri_syntax *block = b->tree->root->child; block; block = block->next) {
        const cri_syntax *items = block->kind == CRI_SYN_BLOCK ? block->child : NULL;
        if (block->kind == CRI_SYN_BLOCK && strcmp(block->text, "parameters") != 0) continue;
        for (const cri_syntax *i = items ? items : block; i; i = items ? i->next : NULL) {
            if (i->kind != CRI_SYN_DECLARE) continue;
            for (const cri_syntax *d = cri_syntax_child(i, 3); d; d = d->next) {
                if (strcmp(d->text, name) != 0) continue;
                for (const cri_syntax *k = i->child->child; k; k = k->next)
                    if (strcmp(k->text, bound) == 0) return k->child;
            }
        }
    }
    return NULL;
}

static bool is_declared(const cri_binder *b, const char *name)
{
    for (const cri_syntax *i = b->tree->root->child; i; i = i->next)
        for (const cri_syntax *d = i->kind == CRI_SYN_DECLARE ? cri_syntax_child(i, 3) : NULL; d;
             d = d->next)
            if (strcmp(d->text, name) == 0) return true;
    return b->stan;
}

/* One end of the truncation is where the parameter ends too. */
static cr_status check_end(cri_binder *b, const cri_syntax *node, const cri_syntax *end,
                           const char *name, const char *bound)
{
    cr_status         st = CR_OK;
    const cri_syntax *declared = declared_bound(b, name, bound);
    cri_value         at, there;
    if (end->kind == CRI_SYN_NOTHING) return CR_OK;
    CR_TRY(cri_bind_expression(b, end, &at));
    if (!at.data || at.n != 1)
        CR_TRY(CRI_BIND_FAIL(b, end, "T[...] at an unknown number is not supported yet"));
    if (!is_declared(b, name)) goto done; /* it was made with this support */
    if (declared) CR_TRY(cri_bind_expression(b, declared, &there));
    if (!declared || !there.data || there.n != 1 || there.data[0] != at.data[0]) {
        CRI_BIND_FAIL(b, node, "T[...] ends at %g, but '%s' is not declared with %s=%g", at.data[0],
                      name, bound, at.data[0]);
        CR_TRY(cr_fail_hint(b->cx, "real<%s=%g> %s", bound, at.data[0], name));
    }
done:
    return st;
}

cr_status cri_bind_truncation(cri_binder *b, const cri_syntax *tilde,
                              const cri_bound_variable *opt_left, const cri_value *argument,
                              size_t n)
{
    cr_status st = CR_OK;
    if (!tilde->whole) return CR_OK;
    if (!opt_left || opt_left->role != CRI_NAME_PARAMETER)
        CR_TRY(CRI_BIND_FAIL(b, tilde,
                             "T[...] is supported for parameters only so far: what is left of "
                             "this '~' is none"));
    for (size_t k = 0; k < n; k++)
        if (!argument[k].data)
            CR_TRY(CRI_BIND_FAIL(
                b, tilde,
                "T[...] is supported where all arguments are known only: argument %zu "
                "is not",
                k + 1));
    CR_TRY(check_end(b, tilde, cri_syntax_child(tilde, 2), opt_left->name, "lower"));
    CR_TRY(check_end(b, tilde, cri_syntax_child(tilde, 3), opt_left->name, "upper"));
done:
    return st;
}
