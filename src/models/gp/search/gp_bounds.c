/* gp_bounds.c -- which hyper-parameters stand at a bound. */
#include "gp_optimiser.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>

/* Adds a parameter that stands at a bound; returns false when the text is full. */
static bool add_bound(const char *name, bool low, bool given, char *text, size_t size, size_t *used)
{
    int length = snprintf(text + *used, size - *used, "%s%s (%s%s)", *used ? ", " : "", name,
                          low ? "lower" : "upper", given ? " as given" : "");
    *used += length > 0 ? (size_t)length : 0;
    if (*used < size) return true;
    *used = size - 1;
    return false;
}

/* true when the expression has this bound, rather than the range of the parameter. */
static bool bound_given(const cri_param *p, bool low)
{
    return low ? p->lower > (p->spec->coordinate == CRI_REAL ? -INFINITY : 0)
               : p->upper < (p->spec->coordinate == CRI_LOGIT ? 1 : INFINITY);
}

void cri_gp_name_bounds(const cri_gp_optimiser *r, const double *x, char *text, size_t size)
{
    const cri_gp_space *u = &r->space;
    size_t              used = 0, count = cr_kernel_parameters(r->k);
    for (size_t i = 0, j = 0; i <= count && j < u->size; i++) {
        if (i < count && r->k->params[i].fixed) continue;
        double width = u->upper[j] - u->lower[j], reach = isfinite(width) ? 1e-6 * width : 0;
        bool   low = x[j] - u->lower[j] <= reach, high = u->upper[j] - x[j] <= reach;
        j++;
        if (!low && !high) continue;
        cr_kernel_parameter p = { .name = "noise" };
        if (i < count) p = cr_kernel_parameter_at(r->k, i);
        bool given = i < count && bound_given(&r->k->params[i], low);
        if (!add_bound(p.name, low, given, text, size, &used)) break;
    }
}
