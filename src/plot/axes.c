/* axes.c -- eigenvalues and loadings of coordinates, read from what a model says of itself, so that every class whose
 * statistics and parameters have these names is drawn. */
#include "latent.h"
#include "models/core/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 512 };

static double statistic(const cri_sheet *statistics, const char *what, const char *opt_of)
{
    char name[NAME];
    snprintf(name, sizeof name, opt_of ? "%s(%s)" : "%s", what, opt_of);
    return cri_sheet_real(cri_sheet_get(statistics, name));
}

/* Takes the loading that this parameter is: "z1.TERM". */
static bool take_loading(cri_axes *a, const cri_sheet *row, size_t at)
{
    const char *name = cri_sheet_text(cri_sheet_get(row, "name"));
    const char *axis = a->names[at / a->p], *term = a->terms[at % a->p];
    size_t      length = strlen(axis);
    if (!name || strncmp(name, axis, length) != 0 || name[length] != '.' ||
        strcmp(name + length + 1, term) != 0)
        return false;
    a->loading[at] = cri_sheet_real(cri_sheet_get(row, "value"));
    a->loading_sd[at] = cri_sheet_real(cri_sheet_get(row, "sd"));
    return true;
}

/* What each coordinate is measured by, in the order of preference. */
static const char *const measures[] = { "eigenvalue", "variance" };
enum { MEASURES = sizeof measures / sizeof *measures };

static void take(cri_axes *a, const cri_sheet *description)
{
    const cri_sheet *statistics = cri_sheet_get(description, "statistics");
    const cri_sheet *row = cri_sheet_first(cri_sheet_get(description, "parameters"));
    size_t           found = 0, k = 0;
    char             sd[32];
    while (k < MEASURES && isnan(statistic(statistics, measures[k], a->names[0]))) k++;
    a->measure = k < MEASURES ? measures[k] : NULL;
    a->total = statistic(statistics, "total", NULL);
    snprintf(sd, sizeof sd, "%s_sd", a->measure ? a->measure : "");
    for (size_t j = 0; j < a->q; j++) {
        a->value[j] = a->measure ? statistic(statistics, a->measure, a->names[j]) : NAN;
        a->share[j] = statistic(statistics, "share", a->names[j]);
        a->sd[j] = statistic(statistics, sd, a->names[j]);
    }
    for (size_t i = 0; i < a->q * a->p; i++) a->loading[i] = a->loading_sd[i] = NAN;
    for (; row && found < a->q * a->p; row = cri_sheet_next(row))
        found += take_loading(a, row, found); /* they come in this order, others between them */
    a->has_loadings = found > 0 && found == a->q * a->p;
}

bool cri_model_has_scree(const cr_model *model)
{
    const cr_field *f = cr_class_statistics(cr_model_get_class(model));
    char            name[NAME];
    if (cr_model_get_task(model) != CR_TASK_TRANSFORM) return false;
    for (; f && f->name; f++)
        for (size_t k = 0; k < MEASURES; k++) {
            snprintf(name, sizeof name, "%s(COORDINATE)", measures[k]);
            if (strcmp(f->name, name) == 0) return true;
        }
    return false;
}

cr_status cri_axes_open(cr_scratch *s, const cr_model *model, cri_axes *out)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(model);
    cri_sheet       *description = NULL;
    cri_axes a = { .model = cr_class_name(cr_model_get_class(model)), .p = cr_design_terms(d) };

    if (cr_model_get_task(model) != CR_TASK_TRANSFORM)
        return cr_fail(s->cx, CR_EUNSUPPORTED,
                       "the model %s has no coordinates, which this figure shows", a.model);
    a.names = cr_model_labels(model, &a.q);
    a.terms = cr_scratch_bytes(s, a.p, sizeof *a.terms);
    double **arrays[] = { &a.value, &a.sd, &a.share };
    for (size_t k = 0; k < 3; k++) *arrays[k] = cr_scratch_f64(s, a.q);
    a.loading = cr_scratch_matrix(s, a.q, a.p);
    a.loading_sd = cr_scratch_matrix(s, a.q, a.p);
    CR_TRY(s->status);
    for (size_t i = 0; i < a.p; i++) a.terms[i] = cr_design_term_name(d, i);
    CR_TRY(cri_model_describe(s->cx, model, &description));
    take(&a, description);
    *out = a;
done:
    cri_sheet_free(description);
    return st;
}
