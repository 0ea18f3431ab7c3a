/* same_linear.h -- two linear models that must be the same, up to rounding. */
#ifndef CREDENCE_TEST_SAME_LINEAR_H
#define CREDENCE_TEST_SAME_LINEAR_H

#include "../fixture.h"

/* The statistics that follow from the fit. */
enum { LINEAR_STATISTICS = 9 };
static const char *const statistics[LINEAR_STATISTICS] = { "residual_sd", "residual_dof", "rss",
                                                           "r2",          "adjusted_r2",  "f",
                                                           "f_p",         "aic",          "bic" };

/* The same parameters, statistics and predictions for the rows of t. */
static inline void check_same(cr_ctx *cx, const cr_model *a, const cr_model *b, const cr_table *t,
                              size_t p, double tolerance)
{
    json_t       *da = describe(cx, a), *db = describe(cx, b);
    cr_prediction pa = predict(cx, a, t), pb = predict(cx, b, t);
    for (size_t j = 0; j <= p; j++) {
        assert_close(coefficient(da, j, "value"), coefficient(db, j, "value"), tolerance);
        assert_close(coefficient(da, j, "sd"), coefficient(db, j, "sd"), tolerance);
    }
    for (size_t k = 0; k < LINEAR_STATISTICS; k++)
        assert_close(statistic(da, statistics[k]), statistic(db, statistics[k]), tolerance);
    for (size_t i = 0; i < pa.n; i++) {
        assert_close(pa.mean[i], pb.mean[i], tolerance);
        assert_close(pa.scale[i], pb.scale[i], tolerance);
        assert_close(pa.leverage[i], pb.leverage[i], tolerance);
        assert_close(pa.dof[i], pb.dof[i], tolerance);
    }
    assert_close(cr_model_get_report(a)->log_likelihood, cr_model_get_report(b)->log_likelihood,
                 tolerance);
}

#endif
