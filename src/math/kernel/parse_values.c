/* parse_values.c -- reading kernel expressions: values with bounds and priors. */
#include "parse.h"

#include <math.h>
#include <string.h>

static const char *prior_at(const void *unused, size_t i)
{
    (void)unused;
    return cri_prior_name(i + 1);
}

static cr_status read_prior(cri_parser *p, cri_parse_ends *out)
{
    cr_status st = CR_OK;
    char      name[CRI_PARSE_NAME];
    cri_parse_blanks(p);
    const char *begin = p->at;
    CR_TRY(cri_parse_name(p, "the name of a prior", name, NULL));
    size_t kind = 1;
    while (cri_prior_name(kind) && strcmp(cri_prior_name(kind), name) != 0) kind++;
    if (!cri_prior_name(kind)) {
        st = FAULT(p, begin, "there is no prior '%s'", name);
        cr_fail_nearest(p->cx, name, "priors", kind - 1, prior_at, NULL);
        goto done;
    }
    out->prior = (cr_kernel_prior)kind, out->prior_at = begin;
    CR_TRY(cri_parse_expect(p, '(', "after the name of a prior"));
    CR_TRY(cri_parse_number(p, &out->prior_a));
    if (cri_prior_size(out->prior) == 2) {
        CR_TRY(cri_parse_expect(p, ',', "between the numbers of a prior"));
        CR_TRY(cri_parse_number(p, &out->prior_b));
    }
    cri_parse_blanks(p);
    bool free_a = out->prior == CR_PRIOR_LOGNORMAL || out->prior == CR_PRIOR_NORMAL;
    if ((!free_a && !(out->prior_a > 0)) ||
        (cri_prior_size(out->prior) == 2 && !(out->prior_b > 0)))
        CR_TRY(FAULT(p, begin, "the scale or shape of the prior %s must be positive", name));
    CR_TRY(cri_parse_expect(p, ')', "after the numbers of a prior"));
done:
    return st;
}

static cr_status read_ends(cri_parser *p, cri_parse_ends *out)
{
    cr_status st = CR_OK;
    for (;;) {
        cri_parse_blanks(p);
        const char *begin = p->at;
        if (cri_parse_word(p, "fixed")) {
            out->fixed = true;
        } else if (cri_parse_accept(p, '[')) {
            CR_TRY(cri_parse_number(p, &out->lower));
            CR_TRY(cri_parse_expect(p, ',', "between the bounds"));
            CR_TRY(cri_parse_number(p, &out->upper));
            CR_TRY(cri_parse_expect(p, ']', "after the bounds"));
            if (!(out->lower <= out->upper))
                CR_TRY(FAULT(p, begin, "the lower bound is above the upper one"));
            out->bounded = true, out->bounds_at = begin;
        } else if (cri_parse_accept(p, '~')) {
            CR_TRY(read_prior(p, out));
        } else if (cri_parse_begins_name(*p->at)) {
            char seen[CRI_PARSE_FOUND];
            (void)FAULT(
                p, p->at,
                "expected 'fixed', [lower,upper], ~prior(...), ',' or ')' after a value, found %s",
                cri_parse_found(p, seen));
            CR_TRY(strncmp(p->at, "fix", 3) == 0 ? cr_fail_hint(p->cx, "did you mean 'fixed'?")
                                                 : CR_EARG);
        } else {
            break;
        }
    }
done:
    return st;
}

/* Reads a value, a list of values, or ends alone, into p->values. */
cr_status cri_parse_values(cri_parser *p, size_t *out_begin, size_t *out_n)
{
    cr_status      st = CR_OK;
    cri_parse_ends all = { .fixed = false };
    *out_begin = p->n_values;
    cri_parse_blanks(p);
    bool list = cri_parse_accept(p, '[');
    do {
        CR_TRY(cri_parse_grow(p, (void **)&p->values, p->n_values, &p->value_capacity,
                              sizeof *p->values));
        cri_parse_blanks(p);
        cri_parse_value v = { .at = p->at, .number = list || *p->at != '~' };
        if (v.number) CR_TRY(cri_parse_number(p, &v.x));
        CR_TRY(read_ends(p, &v.ends));
        if (p->n_values - *out_begin >= CRI_MOST_VALUES)
            CR_TRY(FAULT(p, v.at, "the list is too long"));
        p->values[p->n_values++] = v;
    } while (list && cri_parse_accept(p, ','));
    *out_n = p->n_values - *out_begin;
    if (!list) goto done;
    CR_TRY(cri_parse_expect(p, ']', "after a list of values"));
    CR_TRY(read_ends(p, &all));
    if (all.fixed || all.bounded || all.prior)
        for (size_t i = *out_begin; i < p->n_values; i++) p->values[i].ends = all;
done:
    return st;
}

static cr_status check_ends(cri_parser *p, const cri_spec *spec, const cri_parse_ends *e)
{
    bool positive = spec->coordinate != CRI_REAL;
    if (e->prior == CR_PRIOR_NORMAL && positive)
        return FAULT(p, e->prior_at, "%s is positive: its prior cannot be normal",
                     spec->shown.name);
    if (e->prior > CR_PRIOR_NONE && e->prior != CR_PRIOR_NORMAL && !positive)
        return FAULT(p, e->prior_at, "%s may be negative: its prior must be normal",
                     spec->shown.name);
    if (!spec->shown.learned && (e->fixed || e->bounded || e->prior))
        return FAULT(p,
                     e->prior     ? e->prior_at
                     : e->bounded ? e->bounds_at
                                  : p->at,
                     "%s is not learned: it takes plain numbers", spec->shown.name);
    if (e->bounded && positive && !(e->lower > 0))
        return FAULT(p, e->bounds_at, "the lower bound of %s must be positive", spec->shown.name);
    if (e->bounded && spec->coordinate == CRI_LOGIT && !(e->upper < 1))
        return FAULT(p, e->bounds_at, "the upper bound of %s must be below 1", spec->shown.name);
    return CR_OK;
}

/* Adds a parameter; without a number it starts at the centre of its prior, moved into its
 * bounds. */
cr_status cri_parse_param(cri_parser *p, const cri_spec *spec, const cri_parse_value *v,
                          size_t node, size_t element)
{
    const cri_parse_ends *e = &v->ends;
    cri_param             param = { .value = v->x,
                                    .lower = spec->coordinate == CRI_REAL ? -INFINITY : 0,
                                    .upper = spec->coordinate == CRI_LOGIT ? 1 : INFINITY,
                                    .prior_a = e->prior_a,
                                    .prior_b = e->prior_b,
                                    .prior = e->prior,
                                    .fixed = e->fixed || !spec->shown.learned,
                                    .spec = spec,
                                    .node = node,
                                    .element = element };
    cr_status             st = check_ends(p, spec, e);
    if (st != CR_OK) return st;
    if (e->bounded) param.lower = e->lower, param.upper = e->upper;
    if (!v->number) param.value = fmin(fmax(cri_prior_centre(&param), param.lower), param.upper);
    if (!cri_in_range(spec, param.value))
        return FAULT(p, v->at, "%s must be %s", spec->shown.name,
                     spec->shown.range[0] ? spec->shown.range : "finite");
    if (param.value < param.lower || param.value > param.upper)
        return FAULT(p, v->at, "%s lies outside its bounds", spec->shown.name);
    return cri_parse_add_param(p, param);
}
