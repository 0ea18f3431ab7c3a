/* both_forms.h -- a figure as SVG and as text: sound, and each says what it should. */
#ifndef CREDENCE_TEST_BOTH_FORMS_H
#define CREDENCE_TEST_BOTH_FORMS_H

#include "../models/fixture.h"
#include "wellformed.h"
#include "plot/chart.h"
#include "plot/kinds.h"

static inline const char *figure_path(void)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/figure.svg", test_directory());
    return path;
}

/* The text has no blanks at the ends of lines, but for its x axis. */
static inline void check_both_forms(cr_ctx *cx, const cr_model *m, const cr_table *opt_t,
                                    cr_plot_kind kind, const char *says)
{
    cr_plot_options o = { .level = 0.95 };
    char           *text = NULL;
    assert_ok(cx, cr_plot_with(cx, m, opt_t, kind, &o, figure_path()));
    char *svg = load_text(figure_path());
    assert_wellformed(svg);
    assert_non_null(strstr(svg, says));
    free(svg);
    assert_ok(cx, cr_plot_text_with(cx, m, opt_t, kind, &o, 50, 15, &text));
    assert_non_null(strstr(text, says));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        assert_true(length == 0 || line[length - 1] != ' ');
    }
    cr_free(cx, text, strlen(text) + 1, 1);
    assert_ok(cx, cr_plot_json(cx, m, opt_t, kind, &o, &text));
    json_t *points = json_loads(text, 0, NULL);
    assert_non_null(json_object_get(points, "title"));
    json_decref(points);
    cr_free(cx, text, strlen(text) + 1, 1);
}

/* It is refused, in words. */
static inline void check_refused(cr_ctx *cx, const cr_model *m, const cr_table *opt_t,
                                 cr_plot_kind kind, const char *says)
{
    cr_plot_options o = { .level = 0.95 };
    assert_fails_with(cx, cr_plot_with(cx, m, opt_t, kind, &o, figure_path()), CR_EUNSUPPORTED,
                      says);
}

/* The series whose name begins so; NULL: there is none. */
static inline const cri_chart_series *series_named(const cri_chart *c, const char *begins)
{
    for (size_t k = 0; k < c->n; k++)
        if (c->series[k].look.label &&
            strncmp(c->series[k].look.label, begins, strlen(begins)) == 0)
            return &c->series[k];
    return NULL;
}

/* A figure in both forms, for failing allocations. */
typedef struct drawing {
    cr_model    *model;
    cr_table    *table;
    cr_plot_kind kind;
} drawing;

static inline cr_status plot_drawing(cr_ctx *cx, void *arg)
{
    const drawing  *d = arg;
    cr_status       st = CR_OK;
    char           *text = NULL;
    cr_plot_options o = { .level = 0.95 };
    cr_ctx_set_threads(cx, 1);
    CR_TRY(cr_plot_with(cx, d->model, d->table, d->kind, &o, figure_path()));
    CR_TRY(cr_plot_text_with(cx, d->model, d->table, d->kind, &o, 20, 6, &text));
    cr_free(cx, text, strlen(text) + 1, 1);
done:
    return st;
}

#endif
