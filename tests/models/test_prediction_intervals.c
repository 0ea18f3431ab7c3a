/* test_prediction_intervals.c -- sd and intervals of predictive distributions: of one row against
 * the definition, of all rows against one row at a time. */
#include "support.h"

#include "math/special/special.h"
#include "models/core/model.h"

enum { N = 9 };

static double mean[N] = { 1.5, -2, 0, 1e300, 3, 3, 3, NAN, 7 };
static double scale[N] = { 0.5, 3, 0, 1e-3, 2, 2, 2, NAN, 1 };
static double dof[N] = { INFINITY, 5, 5, 2.5, 2, 1, 2, NAN, 5 };

static cr_prediction prediction(void)
{
    return (cr_prediction){
        .kind = CR_ANSWER_NUMBER, .n = N, .mean = mean, .scale = scale, .dof = dof
    };
}

TEST(one_row_is_its_distribution)
{
    cr_prediction p = prediction();
    double        sd, lower, upper;
    cr_prediction_interval(cx, &p, 0, 0.95, &sd, &lower, &upper); /* normal: 1.959963984540054 sd */
    assert_close(sd, 0.5, 0);
    assert_relative(lower, 1.5 - 0.5 * 1.959963984540054, 1e-14);
    assert_relative(upper, 1.5 + 0.5 * 1.959963984540054, 1e-14);
    cr_prediction_interval(cx, &p, 1, 0.8, &sd, &lower, &upper);
    assert_relative(sd, 3 * sqrt(5.0 / 3), 1e-15);
    assert_close(cr_student_t_cdf((lower + 2) / 3, 5), 0.1, 1e-13);
    assert_close(cr_student_t_cdf((upper + 2) / 3, 5), 0.9, 1e-13);
    cr_prediction_interval(cx, &p, 4, 0.5, &sd, &lower, &upper); /* dof 2 has no variance */
    assert_true(isinf(sd) && sd > 0);
    cr_prediction_interval(cx, &p, 5, 0.5, &sd, &lower, &upper); /* Cauchy: quartiles at +-scale */
    assert_relative(lower, 1, 1e-13);
    assert_relative(upper, 5, 1e-13);
    cr_prediction_interval(cx, &p, 7, 0.5, &sd, &lower, &upper); /* left out */
    assert_true(isnan(sd) && isnan(lower) && isnan(upper));
}

TEST(all_rows_are_each_row)
{
    cr_prediction p = prediction();
    double        sd[N], lower[N], upper[N], one[3];
    cr_prediction_intervals(cx, &p, 0.9, sd, lower, upper);
    for (size_t i = 0; i < N; i++) {
        double all[3] = { sd[i], lower[i], upper[i] };
        cr_prediction_interval(cx, &p, i, 0.9, &one[0], &one[1], &one[2]);
        assert_memory_equal(all, one, sizeof one);
    }
}

TEST(what_is_not_asked_for_is_left_out)
{
    cr_prediction p = prediction();
    double        sd[N], lower[N], upper[N], alone[N];
    cr_prediction_intervals(cx, &p, 0.9, sd, lower, upper);
    cr_prediction_intervals(cx, &p, 0.9, alone, NULL, NULL);
    assert_memory_equal(alone, sd, sizeof sd);
    cr_prediction_intervals(cx, &p, 0.9, NULL, alone, NULL);
    assert_memory_equal(alone, lower, sizeof lower);
    cr_prediction_intervals(cx, &p, 0.9, NULL, NULL, alone);
    assert_memory_equal(alone, upper, sizeof upper);
    cr_prediction_intervals(cx, &(cr_prediction){ .n = 0 }, 0.9, NULL, NULL, NULL);
}
