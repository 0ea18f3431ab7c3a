/* plan_sequence.c -- folds and samples for models of sequences.
 * Rows of a sequence depend on each other, and a row without its neighbours is another question: folds
 * hold whole sequences, as --group would.  Where all rows are one sequence, the only parts that can be
 * judged apart are its beginning and what follows. */
#include "plan.h"
#include "plan_internal.h"
#include "models/core/model_internal.h"

#include <string.h>

/* The first model of sequences; NULL where there is none. */
static const cr_model_spec *first_of_sequences(cr_ctx *cx, const cr_model_spec *specs, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const cr_model_class *c = cr_class_find(cx, specs[k].model);
        if (c && c->sequences) return &specs[k];
    }
    return NULL;
}

bool cri_spec_has_sequence(cr_ctx *cx, const cr_model_spec *spec, const char *column)
{
    const char *own = first_of_sequences(cx, spec, 1)
                          ? cri_setting_of(spec->settings, spec->n_settings, "sequence")
                          : NULL;
    return own && strcmp(own, column) == 0;
}

cr_status cri_plan_refuse_sequences(cr_ctx *cx, const cr_model_spec *specs, size_t n,
                                    const char *what)
{
    const cr_model_spec *m = first_of_sequences(cx, specs, n);
    if (!m) return CR_OK;
    return cr_fail(cx, CR_EARG, "%s takes rows one by one, but %s has sequences of rows", what,
                   m->model);
}

cr_status cri_plan_keep_sequences(cr_ctx *cx, const cr_model_spec *specs, size_t n,
                                  cr_cv_options *options, const char **out_group)
{
    const cr_model_spec *m = first_of_sequences(cx, specs, n);
    *out_group = options->group;
    if (!m) return CR_OK;
    if (options->split == CR_SPLIT_SHUFFLED || options->split == CR_SPLIT_STRATIFIED) {
        cr_fail(cx, CR_EARG, "--split %s takes rows one by one, but %s has sequences of rows",
                options->split == CR_SPLIT_SHUFFLED ? "shuffled" : "stratified", m->model);
        return cr_fail_hint(cx, "leave --split out: folds then hold whole sequences");
    }
    if (options->group || options->split != CR_SPLIT_AUTO) return CR_OK;
    *out_group = cri_setting_of(m->settings, m->n_settings, "sequence");
    if (!*out_group) options->split = CR_SPLIT_ORDERED;
    return CR_OK;
}

cr_status cri_plan_check_groups(cr_ctx *cx, const cr_model_spec *specs, size_t n, const cr_table *t,
                                const char *by, const size_t *group)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cr_model_spec *m = first_of_sequences(cx, specs, n);
    const char          *column = m ? cri_setting_of(m->settings, m->n_settings, "sequence") : NULL;
    size_t               rows = cr_table_rows(t);
    if (!column || strcmp(column, by) == 0 || !cr_table_find(t, column)) goto done;
    size_t *sequence = cr_scratch_index(&s, rows), *of = cr_scratch_index(&s, rows);
    CR_TRY(s.status);
    CR_TRY(cri_number_groups(cx, t, column, sequence));
    for (size_t i = 0; i < rows; i++) of[i] = SIZE_MAX;
    for (size_t i = 0; i < rows; i++) {
        size_t k = sequence[i];
        if (of[k] == SIZE_MAX) of[k] = group[i];
        if (of[k] != group[i])
            CR_TRY(
                cr_fail(cx, CR_EDATA,
                        "--group %s would cut sequences of '%s': their rows must be in one group",
                        by, column));
    }
done:
    cr_scratch_end(&s);
    return st;
}
