/* test_classifier_state.c -- a classifier in the middle of a stream, through a file: what is held
 * comes back, and what does not fit the coefficients is refused. */
#include "opened.h"
#include "models/logistic/classifier.h"
#include "models/core/model_internal.h"

enum { N = 60, P = 2, Q = P + 1, M = 2, D = M * Q, HELD = 2 };

static double held_z[HELD * Q], held_yw[2 * HELD], past[D * D], pull[D], miss[D], last[D];

static cr_model *fit_three(cr_ctx *cx)
{
    double X[N * P], y[N];
    draw_classes(3, N, P, 3, 0.8, X, y);
    return fit(cx, "logistic", make_table(cx, X, N, P, y, NULL), "target=y task=classification");
}

/* What a stream has kept of three rows before and two not yet learned from. */
static void hold(cri_classifier *c)
{
    for (size_t i = 0; i < D * D; i++) past[i] = i % (D + 1) == 0;
    for (size_t i = 0; i < D; i++) pull[i] = miss[i] = last[i] = (double)i / 8;
    for (size_t i = 0; i < HELD * Q; i++) held_z[i] = (double)i;
    held_yw[0] = 0, held_yw[1] = 1, held_yw[2] = M, held_yw[3] = 0.5;
    c->steps = 3, c->rate = 0.5, c->gradient_z = NAN, c->last = last;
    c->held = HELD, c->two = 2, c->held_z = held_z, c->held_yw = held_yw;
    c->D = D, c->folds = 1, c->distance = 0.25, c->past = past, c->pull = pull, c->miss = miss;
}

/* The file of a classifier with something changed, and what is said of it; "": nothing. */
static void check(cr_ctx *cx, void (*change)(cri_classifier *c), const char *said)
{
    cr_model       *m = fit_three(cx), *again = NULL;
    cri_classifier *c = m->state, kept = *c;
    char           *bytes = NULL;
    size_t          size = 0;
    assert_true(c->p == P && c->M == M && !c->full);
    hold(c);
    change(c);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    *c = kept;
    c->scale[0] = fabs(c->scale[0]);
    cr_status st = cr_model_from_bytes(cx, "the file", bytes, size, &again);
    check_status(cx, st, said[0] ? CR_EDATA : CR_OK, said[0] ? said : NULL, said, __FILE__,
                 __LINE__);
    if (st == CR_OK) {
        const cri_classifier *b = again->state;
        assert_true(b->steps == 3 && b->rate == 0.5 && isnan(b->gradient_z) && b->folds == 1);
        assert_true(b->held == HELD && b->distance == 0.25);
        assert_memory_equal(b->held_z, held_z, sizeof held_z);
        assert_memory_equal(b->held_yw, held_yw, sizeof held_yw);
        assert_memory_equal(b->past, past, sizeof past);
        assert_memory_equal(b->miss, miss, sizeof miss);
        assert_memory_equal(b->last, last, sizeof last);
    }
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, again);
    cr_model_free(cx, m);
}

static void nothing(cri_classifier *c) { (void)c; }
static void class_beyond(cri_classifier *c) { c->held_yw[0] = M + 1; }
static void negative_weight(cri_classifier *c) { c->held_yw[1] = -1; }
static void one_of_two(cri_classifier *c) { c->two = 1; }
static void less_past(cri_classifier *c) { c->D = D - 1; }
static void no_miss(cri_classifier *c) { c->miss = NULL; }
static void no_targets(cri_classifier *c) { c->held_yw = NULL; }
static void negative_scale(cri_classifier *c) { c->scale[0] = -c->scale[0]; }
static void negative_lambda(cri_classifier *c) { c->lambda = -1; }
static void ratio_above_one(cri_classifier *c) { c->l1_ratio = 2; }
static void another_link(cri_classifier *c) { c->link = 2; }
static void another_solver(cri_classifier *c) { c->solver = CRI_SOLVER_PROXIMAL + 1; }

TEST(held_and_back) { check(cx, nothing, ""); }

TEST(what_does_not_fit)
{
    check(cx, class_beyond, "the state of logistic does not fit its design");
    check(cx, negative_weight, "'held_yw'");
    check(cx, one_of_two, "does not fit");
    check(cx, less_past, "does not fit");
    check(cx, no_miss, "does not fit");
    check(cx, no_targets, "does not fit");
    check(cx, negative_scale, "'scale'");
    check(cx, negative_lambda, "'lambda'");
    check(cx, ratio_above_one, "'l1_ratio'");
    check(cx, another_link, "'link'");
    check(cx, another_solver, "'solver'");
}
