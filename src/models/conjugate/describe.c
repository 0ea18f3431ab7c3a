/* describe.c -- summaries of posteriors, and their JSON. */
#include "describe.h"
#include "../../base/number.h"
#include "../../prob/dist/dist_class.h"
#include "../store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

cr_status cri_summarise(cr_ctx *cx, const cri_named *d, double level, cri_summary *out)
{
    cr_status            st = CR_OK;
    const cr_dist_class *c = cr_dist_find(cx, d->family);
    cri_par              p = { d->values, d->n };
    cri_summary          s = { .hdi_lower = NAN, .hdi_upper = NAN };

    if (!c) return CR_EARG;
    CR_TRY(cr_dist_interval(cx, c, p.v, p.n, level, &s.lower, &s.upper));
    s.mean = c->mean(p);
    s.sd = sqrt(c->variance(p));
    s.mode = c->mode(p);
    if (!isnan(s.mode)) CR_TRY(cr_dist_hdi(cx, c, p.v, p.n, level, &s.hdi_lower, &s.hdi_upper));
    *out = s;
done:
    return st;
}

json_t *cri_named_json(const cri_named *d)
{
    json_t *object = json_object();
    int     failed = json_object_set_new(object, "family", json_string(d->family));
    for (size_t i = 0; i < d->n; i++)
        failed |= json_object_set_new(object, d->names[i], cri_json_number(d->values[i]));
    if (!failed) return object;
    json_decref(object);
    return NULL;
}

/* To twelve digits: what is left of the rounding of moments is not shown. */
static double rounded(double x)
{
    if (x == 0 || !isfinite(x)) return x;
    double unit = pow(10, 11 - floor(log10(fabs(x))));
    return isfinite(unit) && unit > 0 && isfinite(x * unit) ? nearbyint(x * unit) / unit : x;
}

const char *cri_named_text(const cri_named *d, char *out, size_t size)
{
    char   number[CRI_DOUBLE_SIZE];
    size_t used = (size_t)snprintf(out, size, "%s(", d->family);
    for (size_t i = 0; i < d->n && used < size; i++) {
        number[cri_print_double(rounded(d->values[i]), number)] = '\0';
        used += (size_t)snprintf(out + used, size - used, "%s%s=%s", i ? ", " : "", d->names[i],
                                 number);
    }
    if (used < size) snprintf(out + used, size - used, ")");
    return out;
}

cr_status cri_add_summary(cr_ctx *cx, json_t *parameters, const char *name, json_t *posterior,
                          const cri_summary *s)
{
    cr_status st = CR_OK;
    json_t   *item = json_object();
    const struct {
        const char *key;
        double      value;
    } numbers[] = { { "value", s->mean },         { "sd", s->sd },
                    { "lower", s->lower },        { "upper", s->upper },
                    { "mode", s->mode },          { "hdi_lower", s->hdi_lower },
                    { "hdi_upper", s->hdi_upper } };
    st = cri_store_append(cx, parameters, item);
    if (st != CR_OK) {
        json_decref(posterior);
        return st;
    }
    if (!posterior) return cr_fail(cx, CR_ENOMEM, "out of memory");
    st = cri_store_set(cx, item, "name", json_string_nocheck(name));
    if (st != CR_OK) {
        json_decref(posterior);
        return st;
    }
    CR_TRY(cri_store_set(cx, item, "posterior", posterior));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CR_TRY(cri_store_set(cx, item, numbers[i].key, cri_json_number(numbers[i].value)));
done:
    return st;
}

cr_status cri_add_distribution(cr_ctx *cx, json_t *distributions, const char *opt_column, double n,
                               double log_evidence, json_t *posterior, json_t *predictive,
                               json_t *statistics)
{
    cr_status st = CR_OK;
    json_t   *item = json_object();
    json_t   *parts[] = { posterior, predictive, statistics };
    size_t    taken = 0;
    CR_TRY(cri_store_append(cx, distributions, item));
    CR_TRY(cri_store_set(cx, item, "column", json_string_nocheck(opt_column ? opt_column : "*")));
    CR_TRY(cri_store_set(cx, item, "n", cri_json_number(n)));
    CR_TRY(cri_store_set(cx, item, "log_evidence", cri_json_number(log_evidence)));
    for (; taken < 3;) {
        static const char *const keys[] = { "posterior", "predictive", "statistics" };
        json_t                  *part = parts[taken];
        CR_TRY(cri_store_set(cx, item, keys[taken++], part));
    }
done:
    for (; taken < 3; taken++) json_decref(parts[taken]);
    return st;
}

cr_status cri_add_prior(cr_ctx *cx, json_t *out, const char *prior, bool proper,
                        const char *opt_evidence, double level)
{
    cr_status   st = CR_OK;
    json_t     *s;
    const char *known = opt_evidence ? opt_evidence : "exact";
    CR_TRY(cri_store_set(cx, out, "statistics", s = json_object()));
    CR_TRY(cri_store_set(cx, s, "prior", json_string_nocheck(prior)));
    CR_TRY(cri_store_set(cx, s, "evidence",
                         json_string(proper ? known : "none: the prior is improper")));
    CR_TRY(cri_store_set(cx, s, "level", json_real(level)));
done:
    return st;
}
