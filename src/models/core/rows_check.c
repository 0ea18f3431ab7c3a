/* rows_check.c -- one class only, too few rows. */
#include "rows_check.h"
#include "base/scratch.h"

#include <math.h>

cr_status cri_check_classes(cr_ctx *cx, const cr_design *design, const double *weight)
{
    size_t there = 0, last = 0, K = cr_design_classes(design);
    for (size_t k = 0; k < K; k++)
        if (weight[k] > 0) there++, last = k;
    if (there >= 2) return CR_OK;
    if (there == 0)
        return cr_fail(cx, CR_EDATA, "no row with a class of the target '%s' has a positive weight",
                       cr_design_target(design));
    cr_fail(cx, CR_EDATA,
            "the target '%s' has only one class, '%s': there is nothing to distinguish",
            cr_design_target(design), cr_design_class(design, last));
    return cr_fail_hint(cx, "at least two classes are needed in the rows of positive weight");
}

cr_status cri_check_row_classes(cr_ctx *cx, const cri_rows *rows)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *weight = cr_scratch_bytes(&s, cr_design_classes(rows->design), sizeof *weight);
    CR_TRY(s.status);
    for (size_t i = 0; i < rows->n; i++) weight[(size_t)rows->y[i]] += rows->w ? rows->w[i] : 1;
    st = cri_check_classes(cx, rows->design, weight);
    if (st == CR_EDATA && rows->more)
        cr_fail_hint(cx,
                     "these are the first %zu rows of the stream: shuffle the rows, or read a "
                     "larger --block",
                     rows->n);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status fail_size(cr_ctx *cx, const char *what, const char *name)
{
    cr_fail(cx, CR_ENUMERIC, "%s '%s' is so large that its squares overflow", what, name);
    return cr_fail_hint(cx, "multiply the column by a power of ten, such as 1e-100");
}

static bool has_weight(const cri_rows *rows, size_t i) { return !rows->w || rows->w[i] > 0; }

/* Four times the sum of the squares bounds that of all differences to a row. */
static cr_status check_inputs(cr_ctx *cx, const cri_rows *rows)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *x = cr_scratch_f64(&s, rows->p),
           *square = cr_scratch_bytes(&s, rows->p, sizeof *square);

    CR_TRY(s.status);
    for (size_t i = 0; i < rows->n; i++) {
        if (!has_weight(rows, i)) continue;
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        for (size_t j = 0; j < rows->p; j++)
            if (!isnan(x[j])) square[j] += 4 * x[j] * x[j];
    }
    for (size_t j = 0; j < rows->p; j++)
        if (isinf(square[j])) CR_TRY(fail_size(cx, "column", cr_design_term_name(rows->design, j)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_check_sizes(cr_ctx *cx, const cri_rows *rows, bool inputs)
{
    double square = 0;
    bool   number = rows->y && cr_design_classes(rows->design) == 0;
    for (size_t i = 0; number && i < rows->n; i++)
        if (has_weight(rows, i)) square += 4 * rows->y[i] * rows->y[i];
    if (isinf(square)) return fail_size(cx, "the target", cr_design_target(rows->design));
    return inputs ? check_inputs(cx, rows) : CR_OK;
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Fractions that do not add up to the number of rows. */
static bool are_no_counts(const cri_rows *rows)
{
    double sum = 0, n = 0;
    bool   whole = true;
    for (size_t i = 0; i < rows->n; i++) {
        sum += rows->w[i];
        n += rows->w[i] > 0;
        whole = whole && rows->w[i] == floor(rows->w[i]);
    }
    return !whole && fabs(sum - n) > 1e-6 * n;
}

void cri_warn_of_weights(cr_ctx *cx, const cri_rows *rows, bool can_be_precisions)
{
    if (!rows->w || !are_no_counts(rows)) return;
    cr_log(cx, CR_LOG_WARNING,
           "the weights are not whole numbers, but a row of weight w counts as w rows: standard "
           "errors and intervals depend on the unit of the weights; %s",
           can_be_precisions ? "use --weights-are precisions if only their ratios have a meaning, "
                               "or --weights-are repetitions if they are counts"
                             : "if only their ratios have a meaning, scale them to add up to the "
                               "number of rows");
}

void cri_warn_of_perfect_fit(cr_ctx *cx)
{
    cr_log(cx, CR_LOG_WARNING,
           "the fit is essentially perfect: the residuals are rounding errors, so standard "
           "errors, tests and intervals are meaningless");
}

void cri_warn_no_spread(cr_ctx *cx)
{
    cr_log(cx, CR_LOG_WARNING,
           "there are too few rows to estimate the noise: no standard errors or intervals can be "
           "given");
}
