/* selection_about.c -- a selection as it is shown. */
#include "selection.h"

#include <math.h>

CRI_RECORD_TABLE(, cri_selection_record, cri_selection, CRI_SELECTION);

/* --- describe -------------------------------------------------------------------------------- */

static double known(double x) { return x < 0 ? NAN : x; }

static void describe_terms(const cri_selection *s, size_t k, const cr_design *d, cri_sheet *names)
{
    for (size_t j = 0; j < s->p; j++)
        if (s->member[k * s->p + j] != 0) cri_put_text(names, NULL, cr_design_term_name(d, j));
}

static const cr_field subset[] = {
    CR_COUNT("size", 0, "number of terms"),
    CR_MEASURE("rss", "target^2", CR_FIELD_NULL, "residual sum of squares"),
    CR_NUMBER("r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET, "share of the target's variance explained"),
    CR_NUMBER("adjusted_r2", CR_FIELD_NULL | CR_FIELD_OF_TARGET,
              "the same, adjusted for degrees of freedom"),
    CR_NUMBER("aic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_NULL | CR_FIELD_CRITERION, "Schwarz's criterion"),
    CR_MEASURE("cv", "target^2", CR_FIELD_NULL,
               "mean squared error by cross-validation of the search"),
    CR_MEASURE("cv_se", "target^2", CR_FIELD_NULL, "its standard error"),
    CR_FLAG("chosen", 0, "true for the one the model uses"),
    CR_OTHER(TEXTS, "terms", 0, "the terms of the set"),
    CR_FIELD_LAST,
};

const cr_field cri_selection_tables[] = {
    CR_INNER(ROWS, "subsets", CR_FIELD_SOMETIMES, "with --select: the best set found for each size",
             subset),
    CR_FIELD_LAST,
};

void cri_selection_describe(const cri_selection *s, const cr_design *design, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "subsets");
    double     unit = design->target_scale, square = unit * unit, n = s->weight;
    for (size_t k = 0; k < s->sizes; k++) {
        if (s->rss[k] < 0) continue;
        cri_sheet *item = cri_put_object(list, NULL);
        double     r2 = s->tss > 0 ? 1 - s->rss[k] / s->tss : NAN;
        double     aic = cri_selection_information(s, k, 2, log(unit));
        double     bic = cri_selection_information(s, k, log(n), log(unit));
        cri_put_count(item, "size", k);
        cri_put_real(item, "rss", s->rss[k] * square);
        cri_put_real(item, "r2", r2);
        cri_put_real(item, "adjusted_r2", cri_selection_adjusted_r2(s, k));
        cri_put_real(item, "aic", aic);
        cri_put_real(item, "bic", bic);
        cri_put_real(item, "cv", known(s->cv[k]) * square);
        cri_put_real(item, "cv_se", known(s->cv_se[k]) * square);
        cri_put_flag(item, "chosen", k == s->size);
        describe_terms(s, k, design, cri_put_list(item, "terms"));
    }
}
