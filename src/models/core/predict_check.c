/* predict_check.c -- answers as they must be, whatever the file of the model held.
 * A model file whose checksum is right can still hold numbers that no fit gives; what they lead to
 * is looked at before it leaves the library: spreads are not negative, probabilities are shares of
 * one.  NaN says that there is no answer, which is one. */
#include "model_internal.h"
#include "data/table/table_internal.h"

#include <math.h>

/* Rounding of sums of shares, with much to spare. */
static const double ROUNDING = 1e-6;

static cr_status refuse(cr_ctx *cx, const cr_table *t, const cri_rows *rows, size_t i,
                        const char *what, double value)
{
    char   where[512];
    size_t row = rows->index ? rows->index[i] : i;
    cr_fail(cx, CR_EDATA,
            "the model contains values that no fit can produce: at %s its %s would be %g",
            cri_table_where(t, row, where, sizeof where), what, value);
    return cr_fail_hint(cx, "fit it again");
}

static cr_status check_numbers(cr_ctx *cx, const cr_table *t, const cri_rows *rows,
                               const cr_prediction *p)
{
    for (size_t i = 0; p->scale && i < rows->n; i++) {
        if (p->scale[i] < 0) return refuse(cx, t, rows, i, "sd", p->scale[i]);
        if (p->dof && p->dof[i] < 0) return refuse(cx, t, rows, i, "degrees of freedom", p->dof[i]);
    }
    return CR_OK;
}

static cr_status check_shares(cr_ctx *cx, const cr_table *t, const cri_rows *rows,
                              const cr_prediction *p)
{
    for (size_t i = 0; i < rows->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < p->n_classes; k++) {
            double share = p->prob[i * p->n_classes + k];
            if (share < 0 || share > 1 + ROUNDING)
                return refuse(cx, t, rows, i, "probability", share);
            sum += share;
        }
        if (fabs(sum - 1) > ROUNDING) return refuse(cx, t, rows, i, "sum of probabilities", sum);
    }
    return CR_OK;
}

cr_status cri_prediction_check(cr_ctx *cx, const cr_table *t, const cri_rows *rows,
                               const cr_prediction *p)
{
    if (p->kind == CR_ANSWER_NUMBER) return check_numbers(cx, t, rows, p);
    return p->prob && p->n_classes > 0 ? check_shares(cx, t, rows, p) : CR_OK;
}
