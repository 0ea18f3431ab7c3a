/* test_counts.c -- a table of counts is judged as the same table with a row for each copy: in cross-validation, and in
 * the folds of a calibration. */
#include "fixture.h"

/* Eight cells of two columns and two classes. */
static const struct {
    const char *sex, *group, *outcome;
    int         n;
} cells[] = { { "m", "a", "no", 120 }, { "m", "a", "yes", 30 }, { "m", "b", "no", 80 },
              { "m", "b", "yes", 20 }, { "f", "a", "no", 10 },  { "f", "a", "yes", 90 },
              { "f", "b", "no", 25 },  { "f", "b", "yes", 60 } };
enum { CELLS = sizeof cells / sizeof *cells };

static const char *csv_of(bool copies, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "sex,group,outcome,count\n");
    for (size_t c = 0; c < CELLS; c++)
        for (int k = 0; k < (copies ? cells[c].n : 1); k++)
            used += (size_t)snprintf(text + used, size - used, "%s,%s,%s,%d\n", cells[c].sex,
                                     cells[c].group, cells[c].outcome, copies ? 1 : cells[c].n);
    return text;
}

static cr_cv judge(cr_ctx *cx, bool copies, const char *seed)
{
    static char      text[1 << 16];
    cr_cv            cv;
    cr_cv_options    o;
    const cr_setting s[] = { { "target", "outcome" }, { "weights", "count" }, { "seed", seed } };
    assert_ok(cx, cr_options_init(cx, cr_cv_table, &o));
    assert_ok(cx,
              cr_cross_validate(cx, "logistic",
                                table_of_text(cx, "counts.csv", csv_of(copies, text, sizeof text)),
                                s, 3, &o, &cv));
    cr_options_free(cx, cr_cv_table, &o);
    return cv;
}

TEST(cross_validation)
{
    for (int k = 0; k < 3; k++) {
        const char *seeds[] = { "0", "1", "2" };
        cr_cv       a = judge(cx, false, seeds[k]), b = judge(cx, true, seeds[k]);
        assert_int_equal(a.mean.rows, 435);
        assert_int_equal(b.mean.rows, 435);
        assert_close(metric_of(&a.mean, "log_loss"), metric_of(&b.mean, "log_loss"), 0.01);
        assert_close(metric_of(&a.mean, "accuracy"), metric_of(&b.mean, "accuracy"), 0.01);
        size_t i = cr_metric_find(&a.mean, "log_loss");
        assert_true(a.se[i] > 0.4 * b.se[i] && a.se[i] < 2.5 * b.se[i]);
        cr_cv_free(cx, &a);
        cr_cv_free(cx, &b);
    }
}

/* The probability of "yes" of each cell, with and without calibration. */
TEST(calibration)
{
    static char text[1 << 16];
    const char *kinds[] = { "platt", "isotonic" };
    for (int k = 0; k < 2; k++) {
        const cr_setting s[] = { { "target", "outcome" },
                                 { "weights", "count" },
                                 { "calibrate", kinds[k] } };
        cr_table        *counts = table_of_text(cx, "counts.csv", csv_of(false, text, sizeof text));
        cr_model        *m;
        cr_prediction    p;
        assert_ok(cx, cr_fit(cx, "logistic", counts, s, 3, &m));
        assert_ok(cx, cr_predict(cx, m, counts, &p));
        for (size_t c = 0; c < CELLS; c += 2) {
            double share = (double)cells[c + 1].n / (cells[c].n + cells[c + 1].n);
            assert_close(p.prob[c * 2 + 1], share, 0.08);
        }
        cr_prediction_free(cx, &p);
        cr_model_free(cx, m);
    }
}
