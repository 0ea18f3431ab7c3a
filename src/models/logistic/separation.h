/* separation.h -- when no maximum likelihood estimate exists, and which columns are to blame.
 * The likelihood of a linear classifier has no maximum exactly when some direction d gives every
 * row a margin that is not negative, and some row a positive one (Albert & Anderson 1984): the
 * classes are separated, perfectly when all margins are positive, else quasi-completely.  theta
 * itself is such a direction once all rows are told apart; else the steps of Newton's method tend
 * to one. (Internal header.) */
#ifndef CREDENCE_MODELS_LOGISTIC_SEPARATION_H
#define CREDENCE_MODELS_LOGISTIC_SEPARATION_H

#include "separated.h"
#include "solve.h"

/* Looks at an unpenalised solution.  blame [q] becomes true for the columns (place 0 the intercept,
 * where there is one) that separate: those that do it alone, or else those of the direction;
 * endless [q] for the coefficients that have no finite estimate. */
cr_status cri_find_separation(cr_ctx *cx, const cri_likelihood *f, const cri_solution *s,
                              cri_separation *out_kind, bool *blame, bool *endless);
/* For more than two classes, where cri_find_separation says nothing because many finite
 * coefficients are not yet at rest: apart [M + 1] becomes true for the classes that a direction
 * separates from all others taken together (enough for the likelihood to have no maximum), blame
 * for the columns of these directions, which both come all false.  Asks a logistic regression of
 * each class against the rest, where that is cheap: of all classes after methods other than
 * Newton's, else of those that the rows leave no doubt about. */
cr_status cri_find_apart(cr_ctx *cx, const cri_likelihood *f, const cri_solution *s, bool *apart,
                         bool *blame);

#endif
