/* life.h -- the whole life of a model, each allocation of it made to fail in turn: fit, update,
 * predict, transform, describe, save, load and predict again, to the same bits. */
#ifndef CREDENCE_TEST_MODELS_LIFE_H
#define CREDENCE_TEST_MODELS_LIFE_H

#include "fixture.h"

typedef struct life {
    const cr_table *table; /* of another context, so that its own memory is not counted */
    const char     *model, *settings;
    bool            update; /* by the same rows */
} life;

static inline void assert_same_numbers(const double *a, const double *b, size_t n)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a) assert_memory_equal(a, b, n * sizeof *a);
}

static inline cr_status live(cr_ctx *cx, void *arg)
{
    const life     *l = arg;
    cr_status       st = CR_OK;
    cr_model       *first = NULL, *updated = NULL, *loaded = NULL;
    cr_prediction   p = { 0 }, q = { 0 };
    char           *text = NULL, *bytes = NULL;
    double         *z = NULL;
    size_t          size = 0, labels = 0;
    const cr_model *m;

    CR_TRY(try_fit(cx, l->model, l->table, l->settings, &first));
    if (l->update) CR_TRY(cr_update(cx, first, l->table, &updated));
    m = updated ? updated : first;
    CR_TRY(cr_predict(cx, m, l->table, &p));
    if (cr_transform_labels(m, &labels)) {
        z = malloc((cr_table_rows(l->table) * labels + 1) * sizeof *z);
        CR_TRY(cr_transform(cx, m, l->table, z));
    }
    CR_TRY(cr_describe(cx, m, &text));
    CR_TRY(cr_model_to_bytes(cx, m, &bytes, &size));
    CR_TRY(cr_model_from_bytes(cx, "saved", bytes, size, &loaded));
    CR_TRY(cr_predict(cx, loaded, l->table, &q));
    assert_same_numbers(p.mean, q.mean, p.n);
    assert_same_numbers(p.scale, q.scale, p.n);
    assert_same_numbers(p.prob, q.prob, p.n * p.n_classes);
done:
    if (text) cr_free(cx, text, strlen(text) + 1, 1);
    cr_free(cx, bytes, size, 1);
    free(z);
    cr_prediction_free(cx, &p), cr_prediction_free(cx, &q);
    cr_model_free(cx, first), cr_model_free(cx, updated), cr_model_free(cx, loaded);
    return st;
}

static inline void check_every_allocation(const cr_table *t, const char *model,
                                          const char *settings)
{
    test_every_allocation_fails(live, &(life){ t, model, settings, false });
}

static inline void check_every_allocation_with_update(const cr_table *t, const char *model,
                                                      const char *settings)
{
    test_every_allocation_fails(live, &(life){ t, model, settings, true });
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
