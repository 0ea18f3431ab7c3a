/* noise_terms.c -- the columns that the noise depends on. */
#include "noise_terms.h"
#include "base/context_internal.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

static bool is_listed(char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static cr_status check_names(cr_ctx *cx, const cr_design *d, char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t j = 0; j < d->n_columns; j++)
            found |= strcmp(d->columns[j].name, names[i]) == 0;
        if (found) continue;
        cr_fail(cx, CR_EARG, "--noise-model: '%s' is not a feature of the model", names[i]);
        return cr_fail_hint(cx, "name columns that are also in --features");
    }
    return CR_OK;
}

cr_status cri_noise_terms(cr_scratch *s, const char *columns, const cr_design *d,
                          size_t **out_terms, size_t *out_n)
{
    cr_status st = CR_OK;
    size_t   *which = cr_scratch_index(s, d->n_terms), n_names = 0, k = 0;
    char    **names = NULL;

    CR_TRY(s->status);
    CR_TRY(cri_list_split(s, columns, &names, &n_names));
    CR_TRY(check_names(s->cx, d, names, n_names));
    for (size_t j = 0; j < d->n_terms; j++)
        if (is_listed(names, n_names, d->columns[d->terms[j].column].name)) which[k++] = j;
    *out_terms = which;
    *out_n = k;
done:
    return st;
}

void cri_noise_term_moments(const cri_rows *rows, size_t term, double *x, double *out_mean,
                            double *opt_sd)
{
    double mean = 0, square = 0, count = 0;
    cri_rows_fill_term(rows, term, 0, rows->n, x, 1);
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->w && !(rows->w[i] > 0)) continue;
        double delta = x[i] - mean;
        mean += delta / ++count;
        square += delta * (x[i] - mean);
    }
    *out_mean = mean;
    if (opt_sd) *opt_sd = sqrt(square / count);
}

cr_status cri_noise_fail_dependent(cr_ctx *cx)
{
    cr_fail(cx, CR_ENUMERIC, "--noise-model: its columns are linearly dependent or constant");
    return cr_fail_hint(cx, "name fewer of them");
}
