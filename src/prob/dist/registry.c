/* registry.c -- distributions by name. */
#include "dist_class.h"
#include "base/context_internal.h"

#include <string.h>

#define ADDRESS(stem) &cri_dist_##stem,
static const cr_dist_class *const classes[] = { CRI_DISTRIBUTIONS(ADDRESS) };

size_t               cr_dist_count(void) { return sizeof classes / sizeof *classes; }
const cr_dist_class *cr_dist_at(size_t i) { return classes[i]; }

static const char *dist_name(const void *unused, size_t i)
{
    (void)unused;
    return classes[i]->name;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b)) return false;
    return *a == *b;
}

/* Names that other programs and books have. */
static const char *const other_names[][2] = {
    { "binom", "binomial" },
    { "chi-squared", "chi-square" },
    { "chi2", "chi-square" },
    { "chisq", "chi-square" },
    { "discrete", "categorical" },
    { "expon", "exponential" },
    { "gaussian", "normal" },
    { "geom", "geometric" },
    { "hyper", "hypergeometric" },
    { "hypergeom", "hypergeometric" },
    { "inv-gamma", "inverse-gamma" },
    { "invgamma", "inverse-gamma" },
    { "invwishart", "inverse-wishart" },
    { "lognorm", "log-normal" },
    { "multivariate-normal", "mvn" },
    { "multivariate-t", "mvt" },
    { "nbinom", "negative-binomial" },
    { "neg-binom", "negative-binomial" },
    { "neg-binomial", "negative-binomial" },
    { "negbin", "negative-binomial" },
    { "negbinomial", "negative-binomial" },
    { "norm", "normal" },
    { "pois", "poisson" },
    { "skewnorm", "skew-normal" },
    { "sn", "skew-normal" },
    { "student", "student-t" },
    { "t", "student-t" },
    { "unif", "uniform" },
    { "vonmises", "von-mises" },
    { "wald", "inverse-gaussian" },
};

const cr_dist_class *cr_dist_find(cr_ctx *cx, const char *name)
{
    for (size_t i = 0; i < cr_dist_count(); i++)
        if (same_name(classes[i]->name, name)) return classes[i];
    cr_fail(cx, CR_EARG, "there is no distribution '%s'", name);
    cr_fail_nearest(cx, name, "distributions", cr_dist_count(), dist_name, NULL);
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (same_name(other_names[i][0], name)) cri_fail_meant(cx, name, other_names[i][1]);
    return NULL;
}

const char *cr_dist_name(const cr_dist_class *c) { return c->name; }
const char *cr_dist_summary(const cr_dist_class *c) { return c->summary; }
const char *cr_dist_formula(const cr_dist_class *c) { return c->formula; }
const char *cr_dist_reference(const cr_dist_class *c) { return c->reference; }
const char *cr_dist_support_text(const cr_dist_class *c) { return c->support_text; }
bool        cr_dist_is_discrete(const cr_dist_class *c) { return c->discrete; }
bool        cr_dist_is_vector(const cr_dist_class *c) { return c->vector != NULL; }

size_t cri_dist_param_count(const cr_dist_class *c)
{
    size_t n = 0;
    while (c->params[n].shown.name) n++;
    return n;
}

const cr_dist_param *cr_dist_parameter(const cr_dist_class *c, size_t i)
{
    return i < cri_dist_param_count(c) ? &c->params[i].shown : NULL;
}

bool cr_dist_offers(const cr_dist_class *c, const char *what)
{
    const cri_vector *v = c->vector;
    const struct {
        const char *name;
        bool        there;
    } offers[] = {
        { "logpdf", v ? v->logpdf != NULL : c->logpdf != NULL },
        { "cdf", c->cdf != NULL },
        { "quantile", c->cdf != NULL },
        { "mean", v ? v->mean != NULL : c->mean != NULL },
        { "mode", v ? v->mode != NULL : c->mode != NULL },
        { "variance", v ? v->variance != NULL : c->variance != NULL },
        { "entropy", v ? v->entropy != NULL : c->entropy != NULL },
        { "sample", v ? v->sample != NULL : c->sample != NULL },
        { "fit", v ? v->fit != NULL : c->fit != NULL },
        { "kl", v ? v->kl || v->kl_integral : c->kl || c->kl_integral },
        { "natural", v ? v->family != NULL : c->family != NULL },
    };
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
        if (strcmp(offers[i].name, what) == 0) return offers[i].there;
    return false;
}
