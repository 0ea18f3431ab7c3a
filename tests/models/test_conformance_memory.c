/* test_conformance_memory.c -- every model with every line of options (conformance.h), and each place
 * of its life that allocates made to fail: fit, update, predict, transform, describe, save, load. */
#include "conformance.h"
#include "life.h"

/* As many rows as the folds, components and inducing inputs of the lines need. */
enum { FEW = 12 };

/* The places that have failed with an earlier line, or with an earlier model: what all models share, the
 * table, the design, the file, is tried once. */
static test_call_sites known;

static void memory_may_fail(cr_ctx *cx, const subject *s)
{
    cr_model *updated = NULL;
    if (s->block) return; /* test_fit_stream.c */
    /* A search that is cut short allocates as a whole one does, and chains are in the lines that name them. */
    bool long_search = strncmp(s->model, "gp", 2) == 0 && !strstr(s->line, "--optimize none");
    bool few_rows = strcmp(s->model, "gp") == 0 && long_search && !strstr(s->line, "--hyper");
    char more[64], settings[2 * MOST_LINE];
    snprintf(more, sizeof more, "%s%s", long_search ? " max_iter=1" : "",
             few_rows ? " hyper=map" : "");
    snprintf(settings, sizeof settings, "%s%s", s->settings, more);
    cr_table *t = rows_between(cx, read_table(cx, s->data), 0, FEW);
    bool      updates = cr_class_offers(s->class, "update") &&
                   cr_update(cx, fit_rows(cx, s, t, more), t, &updated) == CR_OK;
    cr_model_free(cx, updated);
    check_each_part((life){
        .table = t, .model = s->model, .settings = settings, .update = updates, .known = &known });
}

TEST(every_allocation_may_fail)
{
    for_each(MEMORY, memory_may_fail);
    test_call_sites_free(&known);
}
