/* refits.c -- fits with the settings of a model. */
#include "refits.h"
#include "base/number.h"
#include "models/core/describe.h"

#include <math.h>
#include <string.h>

enum { LAMBDAS = 31, DECADES = 6 };

cr_status cri_settings_of(cr_scratch *s, const cr_model *m, cr_model_spec *out)
{
    cr_status  st = CR_OK;
    cri_sheet *d = NULL;
    size_t     n = 0;
    CR_TRY(cri_model_describe(s->cx, m, &d));
    const cri_sheet *from = cri_sheet_get(d, "settings");
    cr_setting      *list = cr_scratch_bytes(s, cri_sheet_size(from), sizeof *list);
    CR_TRY(s->status);
    for (const cri_sheet *v = cri_sheet_first(from); v; v = cri_sheet_next(v))
        list[n++] = (cr_setting){ cri_compose(s, "%s", cri_sheet_name(v)),
                                  cri_compose(s, "%s", cri_sheet_text(v)) };
    *out = (cr_model_spec){ cr_class_name(cr_model_get_class(m)), list, n };
    CR_TRY(s->status);
done:
    cri_sheet_free(d);
    return st;
}

static bool is_intercept(const char *name)
{
    size_t n = strlen(name), k = strlen("intercept");
    return n >= k && strcmp(name + n - k, "intercept") == 0;
}

/* The coefficients of a fit: into coef [n], or, the first time, with names and room for all. */
static cr_status take_coefficients(cr_scratch *s, const cr_model *m, size_t k,
                                   cri_coefficient_path *path, double **coef, double *nonzero,
                                   const char ***names)
{
    cr_status  st = CR_OK;
    cri_sheet *d = NULL;
    size_t     n = 0;
    CR_TRY(cri_model_describe(s->cx, m, &d));
    const cri_sheet *all = cri_sheet_get(d, "parameters");
    if (k == 0) {
        *coef = cr_scratch_bytes(s, LAMBDAS * cri_sheet_size(all), sizeof(double));
        *names = cr_scratch_bytes(s, cri_sheet_size(all), sizeof **names);
        CR_TRY(s->status);
    }
    for (const cri_sheet *p = cri_sheet_first(all); p; p = cri_sheet_next(p)) {
        const char *name = cri_sheet_text(cri_sheet_get(p, "name"));
        if (is_intercept(name)) continue;
        if (k == 0) (*names)[n] = cri_compose(s, "%s", name), path->n_terms = n + 1;
        if (n >= path->n_terms) break;
        double value = cri_sheet_real(cri_sheet_get(p, "value"));
        (*coef)[k * path->n_terms + n++] = value;
        nonzero[k] += value != 0;
    }
    if (n != path->n_terms)
        CR_TRY(
            cr_fail(s->cx, CR_ENUMERIC, "the fits of the path do not have the same coefficients"));
    CR_TRY(s->status);
done:
    cri_sheet_free(d);
    return st;
}

/* Which setting is the penalty; n: there is none. */
static size_t find_lambda(const cr_model_spec *spec)
{
    size_t i = 0;
    while (i < spec->n_settings && strcmp(spec->settings[i].name, "lambda") != 0) i++;
    return i;
}

cr_status cri_refit_path(cr_scratch *s, const cr_model *m, const cr_table *t,
                         cri_coefficient_path *out, const char ***out_names)
{
    cr_status            st = CR_OK;
    cr_model_spec        spec;
    cri_coefficient_path path = { .chosen = LAMBDAS / 2 };
    double              *lambda = cr_scratch_f64(s, LAMBDAS), *coef = NULL;
    double              *nonzero = cr_scratch_bytes(s, LAMBDAS, sizeof *nonzero);
    cr_setting          *list;

    CR_TRY(s->status);
    CR_TRY(cri_settings_of(s, m, &spec));
    size_t at = find_lambda(&spec);
    if (at == spec.n_settings) return *out = (cri_coefficient_path){ 0 }, CR_OK;
    double own = 0;
    cri_parse_double(spec.settings[at].value,
                     spec.settings[at].value + strlen(spec.settings[at].value), &own);
    list = cr_scratch_bytes(s, spec.n_settings, sizeof *list);
    CR_TRY(s->status);
    memcpy(list, spec.settings, spec.n_settings * sizeof *list);
    for (size_t k = 0; k < LAMBDAS; k++) {
        cr_model *fitted = NULL;
        char      text[CRI_DOUBLE_SIZE];
        lambda[k] = (own > 0 ? own : 1) * pow(10, DECADES * (0.5 - (double)k / (LAMBDAS - 1)));
        cri_print_double(lambda[k], text);
        list[at].value = text;
        CR_TRY(s->status);
        cr_progress(s->cx, "path", (double)k, LAMBDAS);
        CR_TRY(cr_fit(s->cx, spec.model, t, list, spec.n_settings, &fitted));
        st = take_coefficients(s, fitted, k, &path, &coef, nonzero, out_names);
        cr_model_free(s->cx, fitted);
        CR_TRY(st);
    }
    path.n_lambdas = LAMBDAS;
    path.lambda = lambda, path.coef = coef, path.nonzero = nonzero;
    *out = path;
done:
    return st;
}
