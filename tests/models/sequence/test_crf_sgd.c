/* test_crf_sgd.c -- stochastic gradient descent ends near the minimum that L-BFGS finds, within the bound that it gives. */
#include "../life.h"

#include "models/core/model_internal.h"
#include "models/sequence/crf.h"

/* Labels that follow each other, and columns that tell of them; weights v of whole sequences. */
static cr_table *draw_table(cr_ctx *cx, uint64_t seed, size_t sequences, size_t K)
{
    cr_rng      r = cr_rng_stream(seed, 8);
    text_buffer t = text_new(1 << 18);
    text_put(&t, "part,x,word,v,tag\n");
    for (size_t s = 0; s < sequences; s++) {
        size_t y = (size_t)((double)K * cr_rng_uniform(&r)),
               rows = 1 + (size_t)(9 * cr_rng_uniform(&r));
        for (size_t i = 0; i < rows; i++) {
            if (cr_rng_uniform(&r) < 0.5) y = (y + 1) % K;
            text_put(&t, "p%zu,%.6f,w%zu,%zu,t%zu\n", s, (double)y + cr_rng_normal(&r),
                     (y + (size_t)(3 * cr_rng_uniform(&r))) % (K + 1), s % 4, y);
        }
    }
    cr_table *out = table_of_text(cx, "t.csv", t.at);
    free(t.at);
    return out;
}

static const cri_crf *state_of(const cr_model *m) { return m->state; }

/* The same settings for both searches. */
static void check_near(cr_ctx *cx, const cr_table *t, const char *settings, double share)
{
    char text[200];
    snprintf(text, sizeof text, "target=tag sequence=part solver=sgd %s", settings);
    const cr_model *near = fit(cx, "crf", t, text);
    const cri_crf  *a = state_of(near);
    snprintf(text, sizeof text, "target=tag sequence=part %s", settings);
    const cri_crf *b = state_of(fit(cx, "crf", t, text));
    double         gap = a->objective - b->objective;
    if (!(gap >= -1e-9 * b->objective && gap <= a->above && gap < share * b->objective))
        fail_msg("%s: %g above %g, bound %g", settings, gap, b->objective, a->above);
    assert_int_equal(a->free, b->free);
    assert_true(b->above == 0);
    json_t *d = describe(cx, near);
    assert_close(statistic(d, "above_minimum"), a->above, 0);
}

TEST(near_the_minimum)
{
    cr_table *t = draw_table(cx, 1, 200, 4);
    check_near(cx, t, "lambda=1", 0.01);
    check_near(cx, t, "lambda=0.1", 0.02);
    check_near(cx, t, "lambda=1 pairs=seen window=word[-1:1],word*x", 0.01);
    check_near(cx, t, "lambda=2 weights=v", 0.01);
    check_near(cx, t, "lambda=1000", 0.001);
    check_near(cx, t, "lambda=1e6", 0.001);
    check_near(cx, t, "features=x bias=true scale=none", 0.01);
    check_near(cx, draw_table(cx, 11, 1, 2), "lambda=1", 0.2);
    check_near(cx, draw_table(cx, 2, 3, 2), "lambda=1", 0.2);
}

/* Columns of any size, where the first rates that are tried lead far away. */
TEST(numbers_of_any_size)
{
    for (int zeros = 0; zeros <= 60; zeros += 6) {
        char   text[10000];
        size_t used = (size_t)snprintf(text, sizeof text, "s,x,tag\n");
        for (int i = 0; i < 60; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%d,%de%d,%s\n", i / 3,
                                     i % 7 - 3, zeros, i % 7 > 3 ? "A" : "B");
        cr_model *m = fit(cx, "crf", table_of_text(cx, "t.csv", text),
                          "target=tag sequence=s scale=none bias=false solver=sgd");
        assert_true(state_of(m)->objective < (zeros <= 12 ? 25 : 60 * log(2) + 1e-9));
    }
}

/* A pass that is asked for is made; more of them lead lower. */
static void check_passes(cr_ctx *cx, const cr_table *t, const char *settings)
{
    double before = INFINITY;
    for (size_t most = 1; most <= 31; most = 2 * most + 1) {
        char text[200];
        snprintf(text, sizeof text, "target=tag sequence=part solver=sgd tol=1e-9 max_iter=%zu %s",
                 most, settings);
        cr_model *m = fit(cx, "crf", t, text);
        assert_int_equal(m->report.iterations, most);
        assert_int_equal(m->report.stop, CR_STOP_LIMIT);
        assert_true(state_of(m)->objective < before);
        before = state_of(m)->objective;
    }
}

TEST(passes_are_bounded)
{
    check_passes(cx, draw_table(cx, 3, 150, 5), "");
    check_passes(cx, draw_table(cx, 3, 100, 3),
                 "lambda=1000"); /* weights shrink: they are rescaled */
}

TEST(the_same_bits_for_a_seed)
{
    cr_table *t = draw_table(cx, 4, 300, 5);
    double    objective[4];
    for (size_t i = 0; i < 4; i++) {
        char text[100];
        cr_ctx_set_threads(cx, 1 + 2 * (i % 2));
        snprintf(text, sizeof text, "target=tag sequence=part solver=sgd seed=%zu", 5 + i / 2);
        objective[i] = state_of(fit(cx, "crf", t, text))->objective;
    }
    assert_true(objective[0] == objective[1] && objective[2] == objective[3]);
    assert_true(objective[0] != objective[2]);
}

TEST(what_it_does_not_take)
{
    cr_table *t = draw_table(cx, 5, 5, 2);
    cr_model *m = NULL;
    assert_fails_with(cx, try_fit(cx, "crf", t, "target=tag sequence=part solver=sgd l1=1", &m),
                      CR_EARG, "--l1 has kinks");
    assert_fails_with(cx, try_fit(cx, "crf", t, "target=tag sequence=part solver=sgd lambda=0", &m),
                      CR_EARG, "needs a quadratic penalty");
}

TEST(allocations)
{
    cr_table *t = draw_table(cx, 6, 6, 2);
    check_every_allocation(t, "crf", "target=tag sequence=part solver=sgd max_iter=3");
    check_every_allocation(t, "crf", "target=tag sequence=part pairs=seen solver=sgd max_iter=1");
}
