/* glm_rows.c -- reading the rows of a generalised linear model, and refusing those it cannot be of. */
#include "glm_rows.h"
#include "base/parallel.h"
#include "data/table/table_internal.h"

#include <math.h>

enum { BLOCK = 4096 };

cr_status cri_glm_offset_of(cr_ctx *cx, const cri_rows *rows, size_t i, double *out)
{
    char where[512];
    *out = rows->roles[CRI_GLM_OFFSET] ? rows->roles[CRI_GLM_OFFSET][i] : 0;
    if (!rows->roles[CRI_GLM_EXPOSURE]) return CR_OK;
    double exposure = rows->roles[CRI_GLM_EXPOSURE][i];
    if (!(exposure > 0))
        return cr_fail(
            cx, CR_EDATA, "%s: the exposure is %g, but must be above 0",
            cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
            exposure);
    *out += log(exposure);
    return CR_OK;
}

static cr_status hint_trials(cr_ctx *cx)
{
    return cr_fail_hint(cx, "--trials names the column with all trials of a row, successes and "
                            "failures together, as in R's cbind(y, n - y)");
}

cr_status cri_glm_trials_of(cr_ctx *cx, const cri_rows *rows, size_t i, double *out)
{
    char where[512];
    *out = rows->roles[CRI_GLM_TRIALS] ? rows->roles[CRI_GLM_TRIALS][i] : 1;
    if (!rows->roles[CRI_GLM_TRIALS] || (*out >= 1 && *out == floor(*out))) return CR_OK;
    cr_fail(cx, CR_EDATA, "%s: the number of trials is %g, but must be a whole number above 0",
            cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
            *out);
    return hint_trials(cx);
}

static cr_status refuse_target(cr_ctx *cx, const cri_rows *rows, size_t i, cri_glm_family family,
                               double y)
{
    char where[512];
    cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where);
    if (rows->roles[CRI_GLM_TRIALS] && y > rows->roles[CRI_GLM_TRIALS][i]) {
        cr_fail(cx, CR_EDATA, "%s: the target '%s' is %g of %g trials", where,
                cr_design_target(rows->design), y, rows->roles[CRI_GLM_TRIALS][i]);
        return hint_trials(cx);
    }
    cr_fail(cx, CR_EDATA, "%s: the target '%s' is %g, but this family needs %s", where,
            cr_design_target(rows->design), y, cri_family_range(family));
    return cr_fail_hint(cx, "choose another with --family: " CRI_GLM_FAMILIES);
}

typedef struct reading {
    const cri_rows *rows;
    cri_glm_family  family;
    bool            counts;                       /* the target must be whole */
    double         *y, *weight, *trials, *offset; /* [n] */
} reading;

/* Reads row i; false where it says what no row may say. */
static bool read_row(const reading *r, size_t i)
{
    double *const *const roles = r->rows->roles;
    double               trials = roles[CRI_GLM_TRIALS] ? roles[CRI_GLM_TRIALS][i] : 1;
    double               exposure = roles[CRI_GLM_EXPOSURE] ? roles[CRI_GLM_EXPOSURE][i] : 1;
    r->offset[i] = roles[CRI_GLM_OFFSET] ? roles[CRI_GLM_OFFSET][i] : 0;
    if (roles[CRI_GLM_EXPOSURE]) r->offset[i] += log(exposure);
    r->trials[i] = trials;
    r->weight[i] = r->rows->w ? r->rows->w[i] : 1;
    r->y[i] = r->rows->y[i] / trials;
    return exposure > 0 && trials >= 1 && trials == floor(trials) &&
           cri_family_allows(r->family, r->y[i]) &&
           !(r->counts && r->rows->y[i] != floor(r->rows->y[i]));
}

/* Says what is wrong with row i. */
static cr_status refuse_row(cr_ctx *cx, const reading *r, size_t i)
{
    double    unused;
    cr_status st = cri_glm_offset_of(cx, r->rows, i, &unused);
    if (st == CR_OK) st = cri_glm_trials_of(cx, r->rows, i, &unused);
    return st == CR_OK ? refuse_target(cx, r->rows, i, r->family, r->rows->y[i]) : st;
}

/* acc [1]: how many rows must be refused. */
static void read_block(void *arg, cri_range range, double *acc)
{
    for (size_t i = range.begin; i < range.end; i++) acc[0] += !read_row(arg, i);
}

cr_status cri_glm_read_rows(cr_ctx *cx, const cri_rows *rows, cri_glm_family family, double *y,
                            double *weight, double *trials, double *offset)
{
    cr_status st = CR_OK;
    double    refused = 0;
    reading   r = { .rows = rows,
                    .family = family,
                    .counts = family == CRI_GLM_POISSON || family == CRI_GLM_NEGATIVE_BINOMIAL ||
                              (family == CRI_GLM_BINOMIAL && rows->roles[CRI_GLM_TRIALS]),
                    .y = y,
                    .weight = weight,
                    .trials = trials,
                    .offset = offset };
    CR_TRY(cri_parallel_sum(cx, NULL, rows->n, BLOCK, 1, read_block, &r, &refused));
    for (size_t i = 0; refused > 0 && i < rows->n; i++)
        if (!read_row(&r, i)) CR_TRY(refuse_row(cx, &r, i));
done:
    return st;
}
