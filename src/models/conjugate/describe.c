/* describe.c -- summaries of posteriors, and their JSON. */
#include "describe.h"
#include "base/number.h"
#include "prob/dist/dist_class.h"

#include <math.h>
#include <stdio.h>

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

void cri_put_named(cri_sheet *s, const char *name, const cri_named *d)
{
    cri_sheet *object = cri_put_object(s, name);
    cri_put_text(object, "family", d->family);
    for (size_t i = 0; i < d->n; i++) cri_put_real(object, d->names[i], d->values[i]);
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

void cri_add_summary(cri_sheet *parameters, const cri_named *opt_posterior, const cri_summary *s,
                     const char *name, ...)
{
    cri_sheet *row = cri_put_object(parameters, NULL);
    va_list    args;
    va_start(args, name);
    cri_put_text_list(row, "name", name, args);
    va_end(args);
    if (opt_posterior)
        cri_put_named(row, "posterior", opt_posterior);
    else
        cri_put_null(row, "posterior");
    cri_put_real(row, "value", s->mean);
    cri_put_real(row, "sd", s->sd);
    cri_put_real(row, "lower", s->lower);
    cri_put_real(row, "upper", s->upper);
    cri_put_real(row, "mode", s->mode);
    cri_put_real(row, "hdi_lower", s->hdi_lower);
    cri_put_real(row, "hdi_upper", s->hdi_upper);
}

cri_sheet *cri_add_distribution(cri_sheet *distributions, const char *opt_column, double n,
                                double log_evidence)
{
    cri_sheet *row = cri_put_object(distributions, NULL);
    cri_put_text(row, "column", opt_column ? opt_column : "*");
    cri_put_real(row, "n", n);
    cri_put_real(row, "log_evidence", log_evidence);
    return row;
}

const cr_field cri_prior_statistics[] = {
    CR_TEXT("prior", 0, "the prior distribution of the parameters"),
    CR_TEXT("evidence", 0, "whether the log evidence is exact, or why there is none"),
    CR_NUMBER("level", 0, "mass of the intervals of the parameters"),
    CR_FIELD_LAST,
};

static const cr_field distribution[] = {
    CR_TEXT("column", 0, "the column; * for all of them together"),
    CR_NUMBER("n", CR_FIELD_NULL, "observations: the sum of the weights"),
    CR_MEASURE("log_evidence", "nats", CR_FIELD_NULL,
               "log marginal likelihood; null under an improper prior"),
    CR_OTHER(ANY, "posterior", 0, "an object: family, and its parameters by name"),
    CR_OTHER(ANY, "predictive", 0, "the distribution of the next value, in the same form"),
    CR_OTHER(ANY, "statistics", 0, "an object: the sufficient statistics by name"),
    CR_FIELD_LAST,
};

const cr_field cri_distribution_tables[] = {
    CR_INNER(ROWS, "distributions", CR_FIELD_SOMETIMES,
             "posterior and predictive distribution of each column", distribution),
    CR_FIELD_LAST,
};

void cri_add_prior(cri_sheet *out, const char *prior, bool proper, const char *opt_evidence,
                   double level)
{
    cri_sheet  *s = cri_put_object(out, "statistics");
    const char *known = opt_evidence ? opt_evidence : "exact";
    cri_put_text(s, "prior", prior);
    cri_put_text(s, "evidence", proper ? known : "none: the prior is improper");
    cri_put_real(s, "level", level);
}
