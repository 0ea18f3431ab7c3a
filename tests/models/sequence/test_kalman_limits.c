/* test_kalman_limits.c -- a time limit that ends a fit of class kalman anywhere: the best so far, as soon as there is one
 * likelihood. */
#include "../fixture.h"

#include "base/context_internal.h"

static cr_table *draw_walk(cr_ctx *cx)
{
    double y[48], level = 3;
    cr_rng r = cr_rng_stream(6, 3);
    for (size_t i = 0; i < 48; i++) {
        y[i] = level + cr_rng_normal(&r);
        level += 0.5 * cr_rng_normal(&r);
    }
    return make_table(cx, NULL, 48, 0, y, NULL);
}

static void check_model(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    const cr_report *report = cr_model_get_report(m);
    assert_int_equal(report->stop, CR_STOP_TIME);
    assert_true(isfinite(report->log_likelihood));
    cr_prediction p = predict(cx, m, t);
    for (size_t i = 10; i < p.n; i++) /* behind the diffuse start */
        assert_true(isfinite(p.mean[i]) && p.scale[i] > 0);
}

/* The limit at the nth question, for more and more: refused, if at all, before the first likelihood is known. */
static void stop_everywhere(cr_ctx *cx, const char *settings)
{
    cr_table *t = draw_walk(cx);
    size_t    refused = 0, given = 0;
    for (uint64_t nth = 1; nth < 40000; nth += 1 + nth / 8) {
        cr_model *m = NULL;
        warnings  heard = { 0 };
        cr_ctx_set_log(cx, keep_warning, &heard);
        cri_ctx_stop_at(cx, nth);
        cr_status st = try_fit(cx, "kalman", t, settings, &m);
        cri_ctx_set_deadline(cx, 0);
        cr_ctx_set_log(cx, NULL, NULL);
        if (st == CR_OK && cr_model_get_report(m)->stop != CR_STOP_TIME) {
            cr_model_free(cx, m);
            break;
        }
        if (st == CR_OK) {
            check_model(cx, m, t);
            assert_non_null(strstr(heard.text, "time limit"));
            cr_model_free(cx, m);
            given++;
            continue;
        }
        check_status(cx, st, CR_ENOMEM, "time limit", "fit", __FILE__, __LINE__);
        if (given > 0) fail_msg("%s: refused at question %zu", settings, (size_t)nth);
        refused++;
    }
    assert_true(refused < 3 && given > 5);
}

TEST(limits_give_the_best_so_far)
{
    stop_everywhere(cx, "target=y parameters=fixed");
    stop_everywhere(cx, "target=y components=trend,seasonal:4 parameters=fixed restarts=2");
}

TEST(limits_of_em) { stop_everywhere(cx, "target=y infer=em parameters=fixed"); }
TEST(limits_of_averages) { stop_everywhere(cx, "target=y parameters=averaged"); }
