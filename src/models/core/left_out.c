/* left_out.c -- whether the probabilities of a classifier from few rows are worth more than the shares of its classes.
 * Each row is left out in turn and its class foretold by the others.  Let l be the mean over rows of -log p(class) so
 * foretold, and l0 that of the shares of the classes among the other rows.  Densities at parameters that were estimated
 * from few rows take chance for certainty, and then l > l0: whoever believes the probabilities loses more than one
 * who knows only how frequent the classes are.  A row of weight w is w rows, left out one at a time.
 * O(n (n p + p^3)), for up to 40 rows and n p^2 <= 10^6; of a class that fits anew each time, 10 n p^3 <= 10^6. */
#include "model_internal.h"
#include "sums.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <math.h>

enum { MOST_ROWS = 40 };
static const double MOST_WORK = 1e6;

/* W and share [K] = the weight of all rows and of each class. */
static double weigh_classes(const cri_rows *rows, const double *w, size_t K, double *share)
{
    double W = 0;
    for (size_t k = 0; k < K; k++) share[k] = 0;
    for (size_t i = 0; i < rows->n; i++) share[(size_t)rows->y[i]] += w[i], W += w[i];
    return W;
}

/* The model of the rows without one, and what it says of that row: prob [K]. */
static cr_status foretell(cr_ctx *cx, cr_model *part, const cri_rows *rows, size_t i, double *prob)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_report  report = { 0 };
    void      *state = NULL, *own = part->state;
    if (part->class->sums) {
        CR_TRY(cri_sums_reopen(cx, part));
        cri_sums_free(cx, part);
        CR_TRY(cri_sums_gather(cx, part, rows));
        CR_TRY(cri_sums_solve(cx, part));
        own = part->state;
    } else {
        CR_TRY(part->class->whole->fit(cx, rows, part->options, part->fit.seed, &state, &report));
        own = state;
    }
    cri_rows one = cri_rows_slice(&s, rows, i, i + 1);
    CR_TRY(s.status);
    cr_prediction p = { .n = 1, .n_classes = cr_design_classes(part->design), .prob = prob };
    CR_TRY(part->class->rows->predict(cx, own, &one, &p));
done:
    cri_state_free(cx, part->class, state);
    cr_scratch_end(&s);
    return st;
}

/* rows->w is w [n], from which a copy of each row is taken in turn; a class of one row cannot be foretold without it. */
static cr_status compare(cr_ctx *cx, cr_model *part, const cri_rows *rows, double *w, double *share,
                         double *prob, double *out_excess)
{
    cr_status st = CR_OK;
    size_t    K = cr_design_classes(part->design);
    double    W = weigh_classes(rows, w, K, share);
    *out_excess = 0;
    for (size_t i = 0; i < rows->n && W <= MOST_ROWS; i++) {
        size_t k = (size_t)rows->y[i];
        double all = w[i], copy = fmin(all, 1);
        if (!(share[k] > copy)) continue;
        w[i] -= copy;
        st = foretell(cx, part, rows, i, prob);
        w[i] = all;
        CR_TRY(st);
        *out_excess += all * (log((share[k] - copy) / (W - copy)) - log(fmax(prob[k], 1e-300)));
    }
done:
    return st;
}

cr_status cri_is_worse_than_shares(cr_ctx *cx, const cr_model *m, cri_rows *rows, bool *out_worse)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = cr_design_classes(m->design);
    double    *given = rows->w, *w = cr_scratch_f64(&s, rows->n), excess = 0, p = (double)rows->p;
    double     work = p * p * (double)rows->n * (m->class->sums ? 1 : 10 * p);
    cr_model  *part = NULL;

    *out_worse = false;
    CR_TRY(s.status);
    if (rows->n > MOST_ROWS || work > MOST_WORK) goto done;
    double *share = cr_scratch_f64(&s, K), *prob = cr_scratch_f64(&s, K);
    CR_TRY(s.status);
    CR_TRY(cri_model_copy(cx, m, &part));
    for (size_t i = 0; i < rows->n; i++) w[i] = given ? given[i] : 1;
    rows->w = w;
    cri_mute_warnings(cx, true);
    st = compare(cx, part, rows, w, share, prob, &excess);
    cri_mute_warnings(cx, false);
    if (st == CR_EDATA || st == CR_ENUMERIC)
        st = CR_OK, excess = 0; /* no answer without some row */
    *out_worse = excess > 0;
done:
    rows->w = given;
    cr_model_free(cx, part);
    cr_scratch_end(&s);
    return st;
}
