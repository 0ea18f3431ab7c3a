/* priors.c -- how probable the classes are before anything is seen of a row. */
#include "discriminant.h"
#include "../../base/list.h"
#include "../../base/number.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

static const char *class_name(const void *design, size_t k) { return cr_design_class(design, k); }

static cr_status read_item(cr_ctx *cx, const cr_design *d, char *item, double *prior)
{
    char  *cut = strrchr(item, '=');
    double p = 0;
    size_t length = cut ? strlen(cut + 1) : 0;
    if (!cut || length == 0 || cri_parse_double(cut + 1, cut + 1 + length, &p) != length ||
        !(p >= 0 && isfinite(p))) {
        cr_fail(cx, CR_EARG, "--priors: '%s' is not CLASS=P with P of 0 or more", item);
        return cr_fail_hint(cx, "for example --priors uniform, or ham=0.8,spam=0.2");
    }
    *cut = 0;
    for (size_t k = 0; k < cr_design_classes(d); k++)
        if (strcmp(cr_design_class(d, k), item) == 0) return prior[k] = p, CR_OK;
    cr_fail(cx, CR_EARG, "--priors: the target '%s' has no class '%s'", cr_design_target(d), item);
    return cr_fail_nearest(cx, item, "classes", cr_design_classes(d), class_name, d);
}

static cr_status check_all_given(cr_ctx *cx, const cr_design *d, const double *prior, double *sum)
{
    *sum = 0;
    for (size_t k = 0; k < cr_design_classes(d); k++) {
        if (isnan(prior[k]))
            return cr_fail(cx, CR_EARG, "--priors: the class '%s' has none", cr_design_class(d, k));
        *sum += prior[k];
    }
    if (fabs(*sum - 1) < 1e-6) return CR_OK;
    return cr_fail(cx, CR_EARG, "--priors: they sum to %g, not to 1", *sum);
}

cr_status cri_priors_read(cr_ctx *cx, const cr_design *d, const char *text, const double *weight,
                          double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = cr_design_classes(d), n_items = 0;
    double    *prior = cr_scratch_f64(&s, K), sum = 0;
    char     **items = NULL;

    CR_TRY(s.status);
    CR_TRY(cri_list_split(&s, text, &items, &n_items));
    bool uniform = n_items == 1 && strcmp(items[0], "uniform") == 0;
    for (size_t k = 0; k < K; k++) prior[k] = n_items == 0 ? weight[k] : uniform ? 1 : NAN;
    for (size_t i = 0; i < n_items && !uniform; i++) CR_TRY(read_item(cx, d, items[i], prior));
    if (n_items > 0 && !uniform) CR_TRY(check_all_given(cx, d, prior, &sum));
    for (size_t k = 0; k < K && (n_items == 0 || uniform); k++) sum += prior[k];
    for (size_t k = 0; k < K; k++) out[k] = log(prior[k] / sum);
done:
    cr_scratch_end(&s);
    return st;
}
