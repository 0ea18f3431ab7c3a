/* test_sequence_folds.c -- studies of models of sequences hold out whole sequences, or refuse. */
#include "fixture.h"

#include "study/bootstrap.h"
#include "study/learning_curve.h"
#include "study/plan.h"
#include "study/resample.h"

enum { ROWS = 60 };

/* Plans on class_table, whose g has three rows each. */
static cr_status open_plan(cr_ctx *cx, const cr_table *t, const char *settings, const char *options,
                           cri_plan *p)
{
    setting_list s;
    split_settings(settings, &s);
    cr_cv_options o = cv_of(cx, options);
    /* logistic is judged on the same folds, and does not have the column either */
    cr_setting    plain[] = { { "target", "y" } };
    cr_model_spec specs[] = { { "logistic", plain, 1 }, { "crf", s.list, s.n } };
    cr_status     st = cri_plan_open(cx, specs, 2, t, &o, p);
    for (size_t k = 0; st == CR_OK && k < p->specs[0].n_settings; k++)
        if (strcmp(p->specs[0].settings[k].name, "features") == 0)
            assert_string_equal(p->specs[0].settings[k].value, "!g");
    cr_options_free(cx, cr_cv_table, &o);
    return st;
}

TEST(folds_hold_whole_sequences)
{
    cr_table *t = class_table(cx, ROWS, 2, 1);
    cri_plan  p = { 0 };
    assert_ok(cx, open_plan(cx, t, "target=y sequence=g", "folds=4 repeats=2", &p));
    for (size_t r = 0; r < 2; r++) {
        size_t used = 0;
        assert_false(p.split[r].ordered);
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(p.split[r].block[i], p.split[r].block[i / 3 * 3]);
            used |= (size_t)1 << p.split[r].block[i];
        }
        assert_int_equal(used, 15);
    }
    assert_int_equal(p.specs[1].n_settings, 2); /* the column is no feature of crf anyway */
    cri_plan_close(cx, &p);

    assert_ok(cx, open_plan(cx, t, "target=y features=x1", "folds=4", &p)); /* one sequence */
    assert_true(p.split[0].ordered);
    cri_plan_close(cx, &p);
    assert_ok(cx, open_plan(cx, t, "target=y sequence=g", "folds=4 split=ordered", &p));
    assert_true(p.split[0].ordered);
    cri_plan_close(cx, &p);
}

TEST(what_would_cut_sequences)
{
    cr_table *t = class_table(cx, ROWS, 2, 1);
    cri_plan  p = { 0 };
    double    half[ROWS], odd[ROWS];
    for (size_t i = 0; i < ROWS; i++) half[i] = (double)(i / 6), odd[i] = (double)(i / 4);
    assert_ok(cx, cr_table_add_numbers(cx, t, "half", CR_INTEGER, half, 1));
    assert_ok(cx, cr_table_add_numbers(cx, t, "odd", CR_INTEGER, odd, 1));
    assert_fails_with(cx, open_plan(cx, t, "target=y sequence=g", "folds=4 split=shuffled", &p),
                      CR_EARG, "--split shuffled takes rows one by one");
    cri_plan_close(cx, &p);
    assert_fails_with(cx, open_plan(cx, t, "target=y sequence=g", "folds=4 group=odd", &p),
                      CR_EDATA, "would cut sequences of 'g'");
    cri_plan_close(cx, &p);
    setting_list s;
    split_settings("target=y features=x1,x2 sequence=g", &s);
    cr_cv_options o = cv_of(cx, "folds=4 group=half");
    cr_model_spec spec = { "crf", s.list, s.n };
    assert_ok(cx, cri_plan_open(cx, &spec, 1, t, &o, &p)); /* two sequences in each group */
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(p.split[0].block[i], p.split[0].block[i / 6 * 6]);
    cri_plan_close(cx, &p);
    cr_options_free(cx, cr_cv_table, &o);
}

TEST(what_takes_rows_one_by_one)
{
    cr_table          *t = class_table(cx, ROWS, 2, 1);
    setting_list       s;
    cr_bootstrap_error e;
    cr_resampled       r;
    cr_learning_curve  c;
    cr_model          *m = NULL;
    double             share = 0.5;
    cr_cv_options      o = cv_of(cx, "folds=4");
    split_settings("target=y sequence=g", &s);
    cr_model_spec spec = { "crf", s.list, s.n };
    assert_fails_with(cx, cr_bootstrap_assess(cx, &spec, t, 5, NULL, &e), CR_EARG,
                      "the bootstrap takes rows one by one, but crf has sequences of rows");
    assert_fails_with(cx, cr_resample(cx, &spec, t, CR_JACKKNIFE, 0, 0.9, NULL, &r), CR_EARG,
                      "resampling takes rows one by one");
    assert_fails_with(cx, cr_learn_curve(cx, &spec, t, &share, 1, &o, &c), CR_EARG,
                      "a learning curve takes rows one by one");
    assert_fails_with(cx, try_fit(cx, "crf", t, "target=y sequence=g calibrate=platt", &m), CR_EARG,
                      "--calibrate platt treats rows one by one");
    cr_options_free(cx, cr_cv_table, &o);
}
