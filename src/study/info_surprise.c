/* info_surprise.c -- the information content of each row under the distribution of its table. */
#include "info.h"
#include "info_internal.h"

#include <math.h>
#include <string.h>

/* out[i] = -log P(row i) of the variables of a set: log share of its cell, log density within. */
static cr_status measure_rows(cr_ctx *cx, const cri_variables *vs, unsigned set, size_t k,
                              double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_cells  c;
    uint64_t  *count = NULL;
    double     mean;
    size_t     alone;
    memset(out, 0, vs->n * sizeof *out);
    CR_TRY(cri_cells_of(&s, vs, set, &c));
    count = cr_scratch_bytes(&s, c.cells, sizeof *count);
    CR_TRY(s.status);
    cri_cells_count(&c, vs->n, count);
    if (cri_measured(vs, set) > 0) CR_TRY(cri_local_entropy(cx, vs, set, k, out, &mean, &alone));
    for (size_t i = 0; i < vs->n; i++) out[i] -= log((double)count[c.of[i]] / (double)vs->n);
done:
    cr_scratch_end(&s);
    return st;
}

/* Column by column; only one of them has the role A at a time. */
static cr_status measure_columns(cr_ctx *cx, cri_variables *vs, size_t k, double *workspace,
                                 cr_surprise *out)
{
    cr_status st = CR_OK;
    for (size_t j = 0; j < vs->m; j++) {
        for (size_t i = 0; i < vs->m; i++) vs->v[i].role = i == j ? CRI_A : CRI_B;
        CR_TRY(measure_rows(cx, vs, CRI_A, k, workspace));
        for (size_t i = 0; i < vs->n; i++) {
            out->part[i * vs->m + j] = workspace[i];
            out->total[i] += workspace[i];
        }
    }
done:
    return st;
}

cr_status cr_table_surprise(cr_ctx *cx, const cr_table *table, const char *const *columns, size_t n,
                            bool joint, const cr_info_options *options, uint64_t seed,
                            cr_surprise *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_surprise   got = { .columns = n };
    unsigned     *roles = cr_scratch_bytes(&s, n, sizeof *roles);
    cri_variables vs;
    CR_TRY(s.status);
    if (n == 0) CR_TRY(cr_fail(cx, CR_EARG, "surprise: no column is named"));
    for (size_t j = 0; j < n; j++) roles[j] = CRI_A;
    CR_TRY(cri_variables_read(&s, table, columns, roles, n, seed, &vs));
    if (vs.n == 0)
        CR_TRY(cr_fail(cx, CR_EDATA, "no row of %s has all values", cr_table_source(table)));
    got.rows = vs.n, got.dropped = vs.dropped;
    double *workspace = cr_scratch_f64(&s, vs.n);
    CR_TRY(s.status);
    got.row = cr_alloc(cx, vs.n, sizeof *got.row);
    got.total = cr_alloc(cx, vs.n, sizeof *got.total);
    if (!joint) got.part = cr_alloc(cx, vs.n * n, sizeof *got.part);
    if (!got.row || !got.total || (!joint && !got.part)) CR_TRY(CR_ENOMEM);
    memcpy(got.row, vs.row, vs.n * sizeof *got.row);
    if (joint)
        CR_TRY(measure_rows(cx, &vs, CRI_A, options->neighbours, got.total));
    else
        CR_TRY(measure_columns(cx, &vs, options->neighbours, workspace, &got));
    *out = got;
    got = (cr_surprise){ 0 };
done:
    cr_surprise_free(cx, &got);
    cr_scratch_end(&s);
    return st;
}

void cr_surprise_free(cr_ctx *cx, cr_surprise *s)
{
    cr_free(cx, s->row, s->rows, sizeof *s->row);
    cr_free(cx, s->total, s->rows, sizeof *s->total);
    cr_free(cx, s->part, s->rows * s->columns, sizeof *s->part);
    *s = (cr_surprise){ 0 };
}
