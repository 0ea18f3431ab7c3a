/* fit_predict.c -- Bayesian linear regression on numbers that are already in memory.
 *   cc fit_predict.c $(pkg-config --cflags --libs credence) -o fit_predict */
#include <credence.h>

#include <stdio.h>

/* Stretch of a spring in mm at a load in kg and a temperature in degrees Celsius (made-up
 * numbers). */
enum { ROWS = 10, COLUMNS = 2 };
static const double measured[ROWS * COLUMNS] = { 1, 20, 2, 22, 3, 19, 4, 25, 5,  21,
                                                 6, 30, 7, 28, 8, 24, 9, 33, 10, 20 };
static const double stretch[ROWS] = { 5.1, 9.9, 14.8, 20.6, 24.9, 31.0, 35.6, 39.8, 46.1, 49.2 };
static const char *const names[COLUMNS] = { "load", "temperature" };

/* A table over a matrix, without a copy, and with the target if there is one. */
static cr_status make_table(cr_ctx *cx, const double *X, const double *opt_y, size_t rows,
                            cr_table **out)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    CR_TRY(cr_table_new(cx, "spring", rows, &t));
    CR_TRY(cr_table_borrow_matrix(cx, t, CR_REAL, cr_cmat_of(X, rows, COLUMNS), names));
    if (opt_y) CR_TRY(cr_table_borrow_numbers(cx, t, "stretch", CR_REAL, opt_y, 1));
    *out = t;
    t = NULL;
done:
    cr_table_free(cx, t); /* NULL is fine */
    return st;
}

static cr_status fit_and_predict(cr_ctx *cx)
{
    static const double asked[2 * COLUMNS] = { 5.5, 22, 20,
                                               22 }; /* the second is far from the data */
    const cr_setting    settings[] = { { "target", "stretch" } };
    cr_status           st = CR_OK;
    cr_table           *train = NULL, *query = NULL;
    cr_model           *model = NULL;
    cr_prediction       p = { 0 };

    CR_TRY(make_table(cx, measured, stretch, ROWS, &train));
    CR_TRY(make_table(cx, asked, NULL, 2, &query));
    CR_TRY(cr_fit(cx, "bayes-linear", train, settings, 1, &model));
    CR_TRY(cr_predict(cx, model, query, &p));

    printf("log evidence %.3f\n", cr_model_get_report(model)->log_evidence);
    for (size_t i = 0; i < p.n; i++) {
        double sd, lower, upper;
        cr_prediction_interval(cx, &p, i, 0.95, &sd, &lower, &upper);
        printf("load %4.1f: %.2f mm, sd %.2f, 95 %% within %.2f to %.2f\n", asked[i * COLUMNS],
               p.mean[i], sd, lower, upper);
    }
done:
    cr_prediction_free(cx, &p);
    cr_model_free(cx, model);
    cr_table_free(cx, query);
    cr_table_free(cx, train);
    return st;
}

int main(void)
{
    cr_ctx *cx = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 1;
    cr_status st = fit_and_predict(cx);
    if (st != CR_OK) fprintf(stderr, "error: %s\n", cr_error(cx));
    cr_ctx_free(cx);
    return st == CR_OK ? 0 : 1;
}
