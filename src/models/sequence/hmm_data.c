/* hmm_data.c -- the rows of sequences, step after step, by columns. */
#include "hmm.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"

#include <math.h>

void cri_hmm_data_close(cr_ctx *cx, cri_hmm_data *d)
{
    cr_free(cx, d->X, d->p * d->T, sizeof(double));
    cr_free(cx, d->shared, d->T, sizeof(double));
    cr_free(cx, d->label, d->T, sizeof(double));
    cr_free(cx, d->U, d->q * d->T, sizeof(double));
    *d = (cri_hmm_data){ 0 };
}

/* States that are known, 1, 2, ... in the file. */
static cr_status read_labels(cr_ctx *cx, const cri_rows *rows, cri_hmm_data *d)
{
    const double *label = rows->roles[0];
    if (!label) return CR_OK;
    d->label = cr_alloc(cx, d->T, sizeof(double));
    if (!d->label) return CR_ENOMEM;
    for (size_t t = 0; t < d->T; t++) {
        double z = label[d->row[t]];
        if (!isnan(z) && !(z >= 1 && z == floor(z) && z <= 1000)) {
            char   where[512];
            size_t row = rows->index ? rows->index[d->row[t]] : d->row[t];
            cr_fail(cx, CR_EDATA, "%s: the state is %g, but states are numbers 1, 2, ...",
                    cri_table_where(rows->table, row, where, sizeof where), z);
            return cr_fail_hint(cx, "number them from 1 on; a state that is not known is empty");
        }
        d->label[t] = z - 1;
    }
    return CR_OK;
}

cr_status cri_hmm_data_open(cr_ctx *cx, const cri_rows *rows, cri_hmm_data *out)
{
    cr_status            st = CR_OK;
    cr_scratch           workspace = cr_scratch_begin(cx);
    const cri_sequences *s = rows->sequences;
    double              *column = cr_scratch_f64(&workspace, rows->n);
    cri_hmm_data d = { .T = rows->n, .p = rows->p, .n = s->n, .start = s->start, .row = s->row };

    CR_TRY(workspace.status);
    d.X = cr_alloc(cx, d.p * d.T, sizeof(double));
    d.shared = cr_alloc(cx, d.T, sizeof(double));
    if (!d.X || !d.shared) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < s->n; i++)
        if (s->start[i + 1] - s->start[i] > d.longest) d.longest = s->start[i + 1] - s->start[i];
    for (size_t j = 0; j < d.p; j++) {
        CR_TRY(cr_check_interrupt(cx));
        cri_rows_fill_term(rows, j, 0, rows->n, column, 1);
        for (size_t t = 0; t < d.T; t++) d.X[j * d.T + t] = column[d.row[t]];
    }
    CR_TRY(read_labels(cx, rows, &d));
    *out = d;
    d = (cri_hmm_data){ 0 };
done:
    cri_hmm_data_close(cx, &d);
    cr_scratch_end(&workspace);
    return st;
}

cr_status cri_hmm_check_labels(cr_ctx *cx, const cri_hmm_data *d, size_t k)
{
    double most = -1;
    for (size_t t = 0; t < d->T && d->label; t++)
        if (d->label[t] > most) most = d->label[t];
    if ((double)k > most) return CR_OK;
    cr_fail(cx, CR_EDATA, "hmm: the column of known states has a state %g, but there %s only %zu",
            most + 1, k == 1 ? "is" : "are", k);
    return cr_fail_hint(cx, "--states %g has it", most + 1);
}

static bool supports(cri_emission_support support, double x)
{
    switch (support) {
    case CRI_POSITIVE:
        return x > 0;
    case CRI_COUNTS:
        return x >= 0 && x == floor(x);
    case CRI_ZERO_ONE:
        return x == 0 || x == 1;
    default:
        return true;
    }
}

cr_status cri_hmm_check_support(cr_ctx *cx, const cri_rows *rows, const cri_hmm_data *d,
                                const size_t *kind)
{
    static const char *const what[] = { "", "numbers above 0", "counts 0, 1, 2, ...", "0 and 1" };
    for (size_t j = 0; j < d->p; j++) {
        const cri_emission *e = cri_emission_of(kind[j]);
        const double       *x = d->X + j * d->T;
        if (!e || e->support == CRI_ALL_NUMBERS) continue;
        for (size_t t = 0; t < d->T; t++) {
            char where[512];
            if (isnan(x[t]) || supports(e->support, x[t])) continue;
            size_t row = rows->index ? rows->index[d->row[t]] : d->row[t];
            cr_fail(cx, CR_EDATA, "%s: '%s' is %g, but %s emissions are %s",
                    cri_table_where(rows->table, row, where, sizeof where),
                    cr_design_term_name(rows->design, j), x[t], e->name, what[e->support]);
            return cr_fail_hint(cx, "use --emission gaussian for any numbers, or --emission "
                                    "auto,COLUMN=poisson to choose by column");
        }
    }
    return CR_OK;
}

void cri_hmm_data_scale(cri_hmm_data *d, const size_t *kind, const double *centre,
                        const double *scale)
{
    for (size_t j = 0; j < d->p; j++) {
        const cri_emission *e = cri_emission_of(kind[j]);
        double             *x = d->X + j * d->T, log_scale = log(scale[j]);
        bool                logs = kind[j] == CRI_EMIT_LOGNORMAL, joint = kind[j] == CRI_EMIT_JOINT;
        for (size_t t = 0; t < d->T && (e || joint); t++) {
            if (isnan(x[t])) continue;
            double of = logs ? log(x[t]) : x[t];
            x[t] = (of - centre[j]) / scale[j];
            d->shared[t] -= log_scale + (logs ? of : 0);
            if (e) d->shared[t] += e->shared(x[t]);
        }
    }
}
