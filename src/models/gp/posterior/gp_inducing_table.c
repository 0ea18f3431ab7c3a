/* gp_inducing_table.c -- inducing inputs read from a file, and those of a process as a table. */
#include "gp_posterior.h"
#include "base/scratch.h"
#include "data/formats/read.h"
#include "data/table/table_internal.h"

/* --- from a file ----------------------------------------------------------------------------- */

/* A text that no row of the data has is none that the kernel would know later. */
static cr_status check_texts(cr_ctx *cx, const cri_rows *rows, const cri_gp_data *Z)
{
    for (size_t i = 0; i < Z->n; i++)
        for (size_t k = 0; k < Z->c; k++) {
            uint32_t code = Z->codes[i * Z->c + k];
            char     where[512];
            if (code < cri_gp_codes(rows->design, k)) continue;
            cr_fail(cx, CR_EDATA, "%s: an inducing input has the text '%s', which no row has",
                    cri_table_where(rows->table, i, where, sizeof where),
                    cri_rows_text(rows, k, code));
            return cr_fail_hint(cx, "inducing inputs of a text column must be texts of the data");
        }
    return CR_OK;
}

static cr_status take_rows(cr_ctx *cx, const cr_kernel *k, const cri_rows *rows, cri_gp_data *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    double     *workspace = cr_scratch_matrix(&s, rows->n, rows->p);
    size_t      d, c;
    cri_gp_data Z = { 0 };

    CR_TRY(s.status);
    cri_gp_shape(rows->design, &d, &c);
    CR_TRY(cri_gp_data_new(cx, rows->n, d, c, &Z));
    cri_gp_split(rows, 0, rows->n, workspace, Z.X, Z.codes);
    for (size_t i = 0; i < Z.n; i++) Z.y[i] = 0, Z.r[i] = 1, Z.first[i] = i;
    Z.count = (double)Z.n;
    CR_TRY(check_texts(cx, rows, &Z));
    CR_TRY(cri_gp_check_data(cx, k, rows, &Z));
    *out = Z;
    Z = (cri_gp_data){ 0 };
done:
    cri_gp_data_free(cx, &Z);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_inducing_read(cr_ctx *cx, const cr_kernel *k, const cr_design *design,
                               const char *path, cri_gp_data *out_Z)
{
    cr_status       st = CR_OK;
    cr_table       *t = NULL;
    cri_rows        rows = { 0 };
    cr_read_options o = { 0 };

    CR_TRY(cr_options_init(cx, cr_read_table, &o));
    CR_TRY(cr_table_read(cx, path, &o, &t));
    CR_TRY(cri_rows_open(cx, design, t, CRI_INPUTS_ALONE, &rows));
    if (rows.n < cr_table_rows(t))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: %zu of %zu inducing inputs have missing values",
                       cr_table_source(t), cr_table_rows(t) - rows.n, cr_table_rows(t)));
    if (rows.n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: there is no inducing input", cr_table_source(t)));
    CR_TRY(take_rows(cx, k, &rows, out_Z));
done:
    cri_rows_close(cx, &rows);
    cr_table_free(cx, t);
    cr_options_free(cx, cr_read_table, &o);
    return st;
}

/* --- as a table ------------------------------------------------------------------------------ */

cr_status cri_gp_inducing_report(cr_ctx *cx, const void *state, const cr_design *design,
                                 double **out_X, size_t *out_n)
{
    const cri_gp_posterior *m = state;
    const cri_gp_data      *a = &m->at;
    if (!m->L || !m->L2) {
        cr_fail(cx, CR_EUNSUPPORTED, "the process is %s: it has no inducing inputs",
                m->L2 ? "of random features" : "exact");
        return cr_fail_hint(cx, "fit it with --approx vfe, fitc, dtc, sor, svgp or nystrom");
    }
    double *X = cr_alloc(cx, a->n * design->p, sizeof *X);
    if (!X) return CR_ENOMEM;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0, number = 0, code = 0; j < design->p; j++)
            X[i * design->p + j] = cri_design_is_code(design, j) ? a->codes[i * a->c + code++]
                                                                 : a->X[i * a->d + number++];
    *out_X = X;
    *out_n = a->n;
    return CR_OK;
}
