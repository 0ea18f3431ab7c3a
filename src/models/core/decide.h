/* decide.h -- what to do, given a predictive distribution and what mistakes cost.
 * The Bayes action of a row minimises the expected loss under its predictive distribution:
 *
 *     loss         numbers: action; its loss          classes
 *     0-1          the mode; 1 - p(mode)              the most probable one; 1 - its probability
 *     squared      the mean; the variance             --
 *     absolute     the median; E |y - median|         --
 *     quantile:q   the q-quantile; E rho_q            --
 *     a matrix     of counts and classes: the action of least sum_y loss(action, y) p(y)
 *
 * rho_q = q (y - a) where y is above a, (1 - q) (a - y) where it is below: too little costs q per
 * unit, too much 1 - q.  A number that is not a count is hit by no action: its expected 0-1 loss is
 * 1, and the mode is the limit of the best actions when misses by less than e are hits, e -> 0.
 * Where the expected loss of every action is infinite (squared loss, Student's t with 2 degrees of
 * freedom or fewer), the action is still the one whose loss is least compared with any other, and
 * the expected loss INFINITY; where there is no such action (no mean) it is NaN.
 * Bishop (2006), Pattern Recognition and Machine Learning, sec. 1.5;  Murphy (2022), Probabilistic
 * Machine Learning: An Introduction, ch. 5. */
#ifndef CREDENCE_MODELS_CORE_DECIDE_H
#define CREDENCE_MODELS_CORE_DECIDE_H

#include "model.h"

typedef enum cr_loss_kind {
    CR_LOSS_ZERO_ONE,
    CR_LOSS_SQUARED,
    CR_LOSS_ABSOLUTE,
    CR_LOSS_QUANTILE,
    CR_LOSS_MATRIX
} cr_loss_kind;

typedef struct cr_loss {
    cr_loss_kind kind;
    double       quantile; /* of CR_LOSS_QUANTILE, 0<..<1                        */
    size_t       n_actions, n_outcomes;
    char       **actions;  /* [n_actions] of CR_LOSS_MATRIX: their names         */
    char       **outcomes; /* [n_outcomes]: classes, or counts: "0", "1", "2+"   */
    double      *loss;     /* [n_actions x n_outcomes]                           */
} cr_loss;

/* The loss that a text names: 0-1, squared, absolute, quantile:0.9; any other is the path of a CSV
 * file with a matrix: a column for each true class, headed by its name, and a row for each action.
 * With a first column of texts, or one called `action`, that names the actions; without, the rows
 * are the classes in the order of the columns.  Of counts the columns are 0, 1, 2, ..., and 5+
 * stands for 5 or more.  Fails with CR_EARG, CR_EDATA, CR_EIO or CR_ENOMEM. */
CR_API cr_status cr_loss_read(cr_ctx *cx, const char *text, cr_loss *out_loss);
/* Frees what a loss holds. */
CR_API void cr_loss_free(cr_ctx *cx, cr_loss *loss);

typedef struct cr_decisions {
    size_t  n;
    double *action;             /* [n] a number, or the index of an action; NaN without an answer */
    double *expected_loss;      /* [n]                                                            */
    size_t  n_actions;          /* 0: actions are numbers                                         */
    const char *const *actions; /* [n_actions] their names, of the prediction or of the loss      */
} cr_decisions;

/* The Bayes action of every row of a prediction and its expected loss; ties go to the first action.
 * O(n) for Student's t and the normal, an integral or a sum per row for other distributions.  Fails
 * with CR_EUNSUPPORTED for answers that are neither numbers nor classes, with CR_EARG for a loss
 * that does not go with them or a matrix that leaves out a class, CR_ENOMEM, CR_EINTERRUPTED. */
CR_API cr_status cr_decide(cr_ctx *cx, const cr_prediction *prediction, const cr_loss *loss,
                           cr_decisions *out_decisions);
/* What each decision turned out to cost, once the target y [n] is known: numbers, or codes of the classes of the
 * prediction; out_loss [n] is NaN where there is no decision.  Fails with CR_EDATA for a count that the matrix of
 * losses has no column for. */
CR_API cr_status cr_decisions_cost(cr_ctx *cx, const cr_prediction *prediction, const cr_loss *loss,
                                   const cr_decisions *decisions, const double *y,
                                   double *out_loss);
/* Frees the arrays of decisions. */
CR_API void cr_decisions_free(cr_ctx *cx, cr_decisions *decisions);

#endif
