/* test_loss.c -- losses by name and from files. */
#include "support.h"
#include "models/core/decide.h"

static cr_loss must_read(cr_ctx *cx, const char *text)
{
    cr_loss l = { 0 };
    assert_ok(cx, cr_loss_read(cx, text, &l));
    return l;
}

TEST(names)
{
    assert_int_equal(must_read(cx, "0-1").kind, CR_LOSS_ZERO_ONE);
    assert_int_equal(must_read(cx, "squared").kind, CR_LOSS_SQUARED);
    assert_int_equal(must_read(cx, "absolute").kind, CR_LOSS_ABSOLUTE);
    cr_loss l = must_read(cx, "quantile:0.975");
    assert_int_equal(l.kind, CR_LOSS_QUANTILE);
    assert_true(l.quantile == 0.975);
    cr_loss_free(cx, &l);
}

TEST(matrices)
{
    const char named[] = "action,yes,no\nkeep,0,2.5\nsend back,1e3,-1\n3,1,1\n";
    const char plain[] = "1;0\n0;5\n2;0\n", numbers[] = "action,1,0\n7,1,2\n8,3,4\n";
    cr_loss    l = must_read(cx, test_file("named.csv", named, strlen(named)));
    assert_int_equal(l.n_actions, 3);
    assert_int_equal(l.n_outcomes, 2);
    assert_string_equal(l.actions[1], "send back");
    assert_string_equal(l.actions[2], "3");
    assert_string_equal(l.outcomes[0], "yes");
    assert_true(l.loss[1] == 2.5 && l.loss[2] == 1000 && l.loss[3] == -1);
    cr_loss_free(cx, &l);
    l = must_read(cx, test_file("plain.csv", plain, strlen(plain)));
    assert_int_equal(l.n_actions, 2);
    assert_string_equal(l.actions[0], "1");
    assert_string_equal(l.outcomes[1], "0");
    assert_true(l.loss[0] == 0 && l.loss[1] == 5 && l.loss[2] == 2 && l.loss[3] == 0);
    cr_loss_free(cx, &l);
    l = must_read(cx, test_file("numbers.csv", numbers, strlen(numbers)));
    assert_int_equal(l.n_outcomes, 2);
    assert_string_equal(l.actions[0], "7");
    assert_true(l.loss[2] == 3);
    cr_loss_free(cx, &l);
}

TEST(refusals)
{
    cr_loss l = { .n_actions = 4711 };
    const struct {
        const char *text; /* of the option, or of a file when it has lines */
        cr_status   status;
        const char *said;
    } wrong[] = {
        { "squred", CR_EARG, "'squred' is neither a loss nor a file" },
        { "quantile:", CR_EARG, "is not quantile:Q" },
        { "quantile:1", CR_EARG, "is not quantile:Q" },
        { "quantile:0", CR_EARG, "is not quantile:Q" },
        { "quantile:0.5x", CR_EARG, "is not quantile:Q" },
        { "quantile:nan", CR_EARG, "is not quantile:Q" },
        { "a,b\n0,1\n", CR_EDATA, "1 rows of losses and 2 columns" },
        { "action,a,b\nx,1,\n", CR_EDATA, "wrong.csv:2: the loss in column 'b' is not a finite" },
        { "action,a,b\nx,1,inf\n", CR_EDATA, "is not a finite" },
        { "action,a,b\nx,1,much\n", CR_EDATA, "the losses in column 'b' are not numbers" },
        { "action,a\nx,1\ny,2\nx,3\n", CR_EDATA, "wrong.csv:4: the action 'x' occurs twice" },
        { "action,a\nx,1\n,2\n", CR_EDATA, "wrong.csv:3: the action has no name" },
        { "action\nx\n", CR_EDATA, "needs a row for each action" },
        { "action,a\n", CR_EDATA, "" },
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const char *text = wrong[k].text;
        if (strchr(text, '\n')) text = test_file("wrong.csv", text, strlen(text));
        check_status(cx, cr_loss_read(cx, text, &l), wrong[k].status, wrong[k].said, wrong[k].text,
                     __FILE__, __LINE__);
        assert_int_equal(l.n_actions, 4711);
    }
    assert_fails(cx, cr_loss_read(cx, "absolut", &l), CR_EARG);
    assert_string_equal(cr_error_nearest(cx), "absolute");
}
