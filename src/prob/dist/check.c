/* check.c -- parameters against their domains. */
#include "check.h"
#include "base/number.h"

#include <math.h>

const cri_domain cri_any = { "any number", -INFINITY, INFINITY, true, true, false };
const cri_domain cri_positive = { ">0", 0, INFINITY, true, true, false };
const cri_domain cri_not_negative = { ">=0", 0, INFINITY, false, true, false };
const cri_domain cri_unit = { "0..1", 0, 1, false, false, false };
const cri_domain cri_open_unit = { "0<..<1", 0, 1, true, true, false };
const cri_domain cri_count = { "whole, >=0", 0, 0x1p53, false, false, true };
const cri_domain cri_count_from_one = { "whole, >=1", 1, 0x1p53, false, false, true };
const cri_domain cri_zero_or_one = { "0 or 1", 0, 1, false, false, true };

bool cri_in_domain(const cri_domain *d, double x)
{
    bool inside =
        (d->open_low ? x > d->low : x >= d->low) && (d->open_high ? x < d->high : x <= d->high);
    return inside && (!d->whole || x == floor(x)); /* NaN fails every comparison */
}

cr_status cri_not_offered(cr_ctx *cx, const cr_dist_class *c, const char *what)
{
    return cr_fail(cx, CR_EUNSUPPORTED, "%s does not offer %s", c->name, what);
}

cr_status cri_check_kind(cr_ctx *cx, const cr_dist_class *c, bool vector)
{
    if ((c->vector != NULL) == vector) return CR_OK;
    return cr_fail(cx, CR_EUNSUPPORTED,
                   vector ? "%s is a distribution of one variable"
                          : "%s is a distribution of vectors",
                   c->name);
}

cr_status cri_keep(cr_ctx *cx, const cr_dist_class *c, const char *what, double value, double *out)
{
    if (isnan(value))
        return cr_fail(cx, CR_ENUMERIC, "%s: the %s does not exist for these parameters", c->name,
                       what);
    *out = value;
    return CR_OK;
}

cr_status cri_keep_sum(cr_ctx *cx, const cr_dist_class *c, const char *what, double value,
                       double *out)
{
    if (c->discrete && isnan(value))
        return cr_fail(cx, CR_ENUMERIC,
                       "%s: the %s is a sum of more than 20 million terms for "
                       "these parameters",
                       c->name, what);
    return cri_keep(cx, c, what, value, out);
}

/* --- sizes ----------------------------------------------------------------------------------- */

size_t cri_dist_numbers(const cr_dist_class *c, size_t d)
{
    size_t total = 0;
    for (const cri_dist_param *p = c->params; p->shown.name; p++)
        total += p->shown.shape == CR_SHAPE_SCALAR   ? 1
                 : p->shown.shape == CR_SHAPE_VECTOR ? d
                                                     : d * d;
    return total;
}

size_t cri_dist_dimension(const cr_dist_class *c, size_t n)
{
    for (size_t d = 1; d <= n; d++) {
        size_t taken = cri_dist_numbers(c, d);
        if (taken == n) return d;
        if (taken > n || taken == cri_dist_numbers(c, d + 1)) break;
    }
    return 0;
}

/* --- the check ------------------------------------------------------------------------------- */

static cr_status refuse(cr_ctx *cx, const cr_dist_class *c, const cr_dist_param *p, double value)
{
    char text[CRI_DOUBLE_SIZE];
    text[cri_print_double(value, text)] = '\0';
    cr_fail(cx, CR_EARG, "%s: %s is %s, but must be %s", c->name, p->name, text, p->domain);
    return cr_fail_hint(cx, "for example %s = %s", p->name, p->example);
}

static cr_status refuse_number(cr_ctx *cx, const cr_dist_class *c, size_t n)
{
    cr_fail(cx, CR_EARG, "%s: %zu parameter%s given", c->name, n, n == 1 ? " is" : "s are");
    for (const cri_dist_param *p = c->params; p->shown.name; p++)
        cr_fail_note(cx, "  %s: %s; %s", p->shown.name, p->shown.help, p->shown.domain);
    return CR_EARG;
}

cr_status cr_dist_check(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n)
{
    size_t d = cri_dist_dimension(c, n), at = 0;
    if (d == 0) return refuse_number(cx, c, n);
    for (const cri_dist_param *p = c->params; p->shown.name; p++) {
        cr_shape shape = p->shown.shape;
        size_t   size = shape == CR_SHAPE_SCALAR ? 1 : shape == CR_SHAPE_VECTOR ? d : d * d;
        for (size_t i = 0; i < size; i++, at++)
            if (!cri_in_domain(p->domain, params[at])) return refuse(cx, c, &p->shown, params[at]);
    }
    return c->check ? c->check(cx, (cri_par){ params, n }) : CR_OK;
}
