/* terms.c -- the terms of a sum, each as a kernel of its own. */
#include "kernel_internal.h"

#include <math.h>
#include <stdlib.h>

static size_t term_at(const cr_kernel *k, size_t i)
{
    const cri_node *root = &k->nodes[k->n_nodes - 1];
    if (root->op != CRI_SUM) return i == 0 ? k->n_nodes - 1 : SIZE_MAX;
    size_t at = root->first;
    for (; i > 0 && at != SIZE_MAX; i--) at = k->nodes[at].next;
    return at;
}

size_t cr_kernel_terms(const cr_kernel *k)
{
    size_t n = 0;
    while (term_at(k, n) != SIZE_MAX) n++;
    return n;
}

/* Nodes stand before their parents, so that a kernel that ends at a node is that node; the nodes of
 * terms before it are left over, and parameters beyond it too. */
cr_status cr_kernel_term(cr_ctx *cx, const cr_kernel *k, size_t i, cr_kernel **out_kernel)
{
    cr_kernel *copy = NULL;
    size_t     at = term_at(k, i);
    if (at == SIZE_MAX) return cr_fail(cx, CR_EARG, "the kernel has no term number %zu", i + 1);
    cr_status st = cr_kernel_copy(cx, k, &copy);
    if (st != CR_OK) return st;
    copy->n_nodes = at + 1;
    copy->nodes[at].next = SIZE_MAX;
    *out_kernel = copy;
    return CR_OK;
}

bool cri_kernel_is_noise(const cr_kernel *k, size_t at)
{
    const cri_node *node = &k->nodes[at];
    if (node->op == CRI_LEAF) return node->class == &cri_kernel_white;
    if (node->op == CRI_OVER) return false;
    for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next) {
        bool noise = cri_kernel_is_noise(k, c);
        if (node->op == CRI_SUM && !noise) return false;
        if (node->op != CRI_SUM && noise) return true;
    }
    return node->op == CRI_SUM;
}

void cri_kernel_columns_read(const cr_kernel *k, size_t at, size_t d, bool *numbers, size_t codes,
                             bool *categories)
{
    const cri_node *node = &k->nodes[at];
    for (size_t c = node->first; c != SIZE_MAX && node->op != CRI_LEAF; c = k->nodes[c].next)
        cri_kernel_columns_read(k, c, d, numbers, codes, categories);
    if (node->op != CRI_LEAF || (node->class && node->class->kind == CRI_NONE)) return;
    bool number = node->class && node->class->kind == CR_KERNEL_NUMBER,
         *read = number ? numbers : categories;
    size_t all = number ? d : codes;
    for (size_t j = 0; node->class && j < (node->n_columns ? node->n_columns : all); j++) {
        size_t column = cri_column_at(k, node, j);
        if (column < all) read[column] = true;
    }
    for (size_t j = 0; !node->class && j < d; j++) numbers[j] = true; /* a hook may look at any */
    for (size_t j = 0; !node->class && j < codes; j++) categories[j] = true;
}

/* To three digits; also 1e-300 and 1e300. */
static double rounded(double x)
{
    if (x == 0 || !isfinite(x)) return x;
    int    digits = 2 - (int)floor(log10(fabs(x)));
    double unit = pow(10, abs(digits));
    return digits >= 0 ? round(x * unit) / unit : round(x / unit) * unit;
}

void cri_kernel_shorten(cr_kernel *k)
{
    for (size_t i = 0; i < k->n_params; i++) {
        cri_param *p = &k->params[i];
        double     value = rounded(p->value);
        if (isfinite(value) && cri_in_range(p->spec, value)) p->value = value;
        p->fixed = !p->spec->shown.learned;
        p->prior = CR_PRIOR_NONE;
        p->lower = p->spec->coordinate == CRI_REAL ? -INFINITY : 0;
        p->upper = p->spec->coordinate == CRI_LOGIT ? 1 : INFINITY;
    }
}
