/* life.h -- the whole life of a model, each allocation of it made to fail in turn: fit, update;
 * predict, transform, draw, describe, save, load and predict again, to the same bits. */
#ifndef CREDENCE_TEST_MODELS_LIFE_H
#define CREDENCE_TEST_MODELS_LIFE_H

#include "fixture.h"

typedef struct life {
    const cr_table  *table; /* of another context, so that its own memory is not counted */
    const char      *model, *settings;
    bool             update; /* by the same rows */
    test_call_sites *known;  /* that have failed already; NULL: none */
    /* what the fit has made, of another context too: */
    cr_model     *made;
    cr_prediction predicted;
    char         *bytes;
    size_t        size;
} life;

static inline void assert_same_numbers(const double *a, const double *b, size_t n)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a) assert_memory_equal(a, b, n * sizeof *a);
}

static inline cr_status make_model(cr_ctx *cx, const life *l, cr_model **out)
{
    cr_status st = CR_OK;
    cr_model *first = NULL, *updated = NULL;
    CR_TRY(try_fit(cx, l->model, l->table, l->settings, &first));
    if (l->update) CR_TRY(cr_update(cx, first, l->table, &updated));
    *out = updated ? updated : first;
done:
    if (st != CR_OK || updated) cr_model_free(cx, first);
    return st;
}

/* --- the parts of a life: none of them depends on what another has left in the context -------- */

static inline cr_status life_makes(cr_ctx *cx, void *arg)
{
    cr_model *m = NULL;
    cr_status st = make_model(cx, arg, &m);
    cr_model_free(cx, m);
    return st;
}

/* Nothing where the class does not predict. */
static inline cr_status life_answers(cr_ctx *cx, const life *l, const cr_model *m,
                                     cr_prediction *out)
{
    if (!cr_class_offers(cr_model_get_class(m), "predict")) return CR_OK;
    return cr_predict(cx, m, l->table, out);
}

static inline cr_status life_predicts(cr_ctx *cx, void *arg)
{
    const life   *l = arg;
    cr_prediction p = { 0 };
    cr_status     st = life_answers(cx, l, l->made, &p);
    cr_prediction_free(cx, &p);
    return st;
}

static inline cr_status life_transforms(cr_ctx *cx, void *arg)
{
    const life *l = arg;
    size_t      labels = 0;
    assert_true(cr_transform_labels(l->made, &labels));
    double   *z = malloc((cr_table_rows(l->table) * labels + 1) * sizeof *z);
    cr_status st = cr_transform(cx, l->made, l->table, z);
    free(z);
    return st;
}

/* Draws, and the next row where there is one. */
static inline cr_status life_draws(cr_ctx *cx, void *arg)
{
    enum { DRAWS = 2 };
    const life   *l = arg;
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    size_t        columns = cr_design_columns(cr_model_get_design(l->made));
    double       *x = malloc(DRAWS * (cr_table_rows(l->table) + columns) * sizeof *x);
    if (cr_class_offers(cr_model_get_class(l->made), "next")) CR_TRY(cr_next(cx, l->made, &p));
    if (!cr_class_offers(cr_model_get_class(l->made), "sample")) goto done;
    if (cr_model_get_task(l->made) == CR_TASK_DENSITY)
        CR_TRY(cr_sample(cx, l->made, DRAWS, 1, x));
    else
        CR_TRY(cr_sample_targets(cx, l->made, l->table, DRAWS, 1, x));
done:
    cr_prediction_free(cx, &p);
    free(x);
    return st;
}

static inline cr_status life_describes(cr_ctx *cx, void *arg)
{
    const life *l = arg;
    char       *text = NULL;
    cr_status   st = cr_describe(cx, l->made, &text);
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    return st;
}

static inline cr_status life_saves(cr_ctx *cx, void *arg)
{
    const life *l = arg;
    char       *bytes = NULL;
    size_t      size = 0;
    cr_status   st = cr_model_to_bytes(cx, l->made, &bytes, &size);
    cr_free(cx, bytes, size, 1);
    return st;
}

static inline cr_status life_loads(cr_ctx *cx, void *arg)
{
    const life          *l = arg;
    const cr_prediction *p = &l->predicted;
    cr_status            st = CR_OK;
    cr_model            *loaded = NULL;
    cr_prediction        q = { 0 };
    CR_TRY(cr_model_from_bytes(cx, "saved", l->bytes, l->size, &loaded));
    CR_TRY(life_answers(cx, l, loaded, &q));
    assert_same_numbers(p->mean, q.mean, p->n);
    assert_same_numbers(p->scale, q.scale, p->n);
    assert_same_numbers(p->prob, q.prob, p->n * p->n_classes);
done:
    cr_prediction_free(cx, &q);
    cr_model_free(cx, loaded);
    return st;
}

/* One part after the other, so that what fails late needs nothing of the earlier ones again. */
static inline void check_each_part(life l)
{
    cr_ctx         *cx = test_context();
    size_t          labels = 0;
    test_call_sites own = { 0 }, *known = l.known ? l.known : &own;
    test_new_allocations_fail(known, life_makes, &l);
    assert_ok(cx, make_model(cx, &l, &l.made));
    test_new_allocations_fail(known, life_predicts, &l);
    if (cr_transform_labels(l.made, &labels)) test_new_allocations_fail(known, life_transforms, &l);
    if (life_draws(cx, &l) == CR_OK) test_new_allocations_fail(known, life_draws, &l);
    test_new_allocations_fail(known, life_describes, &l);
    test_new_allocations_fail(known, life_saves, &l);
    assert_ok(cx, life_answers(cx, &l, l.made, &l.predicted));
    assert_ok(cx, cr_model_to_bytes(cx, l.made, &l.bytes, &l.size));
    test_new_allocations_fail(known, life_loads, &l);
    test_call_sites_free(&own);
    cr_free(cx, l.bytes, l.size, 1);
    cr_prediction_free(cx, &l.predicted);
    cr_model_free(cx, l.made);
    test_context_free(cx);
}

static inline void check_every_allocation(const cr_table *t, const char *model,
                                          const char *settings)
{
    check_each_part((life){ .table = t, .model = model, .settings = settings });
}

static inline void check_every_allocation_with_update(const cr_table *t, const char *model,
                                                      const char *settings)
{
    check_each_part((life){ .table = t, .model = model, .settings = settings, .update = true });
}

/* The same on a table of these numbers, for each of the settings; the last is NULL. */
static inline void check_allocations_on(const double *X, size_t n, size_t p, const double *y,
                                        const char *model, const char *const *settings)
{
    cr_ctx   *cx = test_context();
    cr_table *t = make_table(cx, X, n, p, y, NULL);
    for (; *settings; settings++) check_every_allocation(t, model, *settings);
    test_context_free(cx);
}

#endif
