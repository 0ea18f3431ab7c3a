/* test_classifier_state.c -- what no classifier can have is refused where it is read. */
#include "opened.h"
#include "models/logistic/classifier.h"
#include "models/core/model_internal.h"

enum { N = 60, P = 2, M = 2 };

static cr_model *fit_three(cr_ctx *cx)
{
    double X[N * P], y[N];
    draw_classes(3, N, P, 3, 0.8, X, y);
    return fit(cx, "logistic", make_table(cx, X, N, P, y, NULL), "target=y task=classification");
}

/* The file of a classifier with something changed, and what is said of it; "": nothing. */
static void check(cr_ctx *cx, void (*change)(cri_classifier *c), const char *said)
{
    cr_model       *m = fit_three(cx), *again = NULL;
    cri_classifier *c = m->state, kept = *c;
    char           *bytes = NULL;
    size_t          size = 0;
    assert_true(c->p == P && c->M == M && !c->full);
    change(c);
    assert_ok(cx, cr_model_to_bytes(cx, m, &bytes, &size));
    *c = kept;
    c->scale[0] = fabs(c->scale[0]);
    cr_status st = cr_model_from_bytes(cx, "the file", bytes, size, &again);
    check_status(cx, st, said[0] ? CR_EDATA : CR_OK, said[0] ? said : NULL, said, __FILE__,
                 __LINE__);
    cr_free(cx, bytes, size, 1);
    cr_model_free(cx, again);
    cr_model_free(cx, m);
}

static void nothing(cri_classifier *c) { (void)c; }
static void class_beyond(cri_classifier *c) { c->place[0] = M + 1; }
static void negative_scale(cri_classifier *c) { c->scale[0] = -c->scale[0]; }
static void negative_lambda(cri_classifier *c) { c->lambda = -1; }
static void ratio_above_one(cri_classifier *c) { c->l1_ratio = 2; }
static void another_link(cri_classifier *c) { c->link = 2; }
static void another_solver(cri_classifier *c) { c->solver = CRI_SOLVER_PROXIMAL + 1; }

TEST(there_and_back) { check(cx, nothing, ""); }

TEST(what_does_not_fit)
{
    check(cx, class_beyond, "the state of logistic does not fit its design");
    check(cx, negative_scale, "'scale'");
    check(cx, negative_lambda, "'lambda'");
    check(cx, ratio_above_one, "'l1_ratio'");
    check(cx, another_link, "'link'");
    check(cx, another_solver, "'solver'");
}
