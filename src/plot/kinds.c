/* kinds.c -- the door to the figures that judge a model. */
#include "kinds.h"
#include "chart.h"
#include "../base/context_internal.h"

static cr_status make_chart(cr_scratch *s, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                            double level, cri_shown *d, cri_chart *chart)
{
    cr_status st = CR_OK;
    if (!(level > 0 && level < 1))
        CR_TRY(cr_fail(s->cx, CR_EARG, "the level of an interval must lie between 0 and 1"));
    if (kind == CR_PLOT_PATH) return cri_chart_path(s, m, chart);
    if (!t) CR_TRY(cr_fail(s->cx, CR_EARG, "this kind of figure needs data"));
    if (kind == CR_PLOT_LEARNING_CURVE) return cri_chart_learning(s, m, t, chart);
    CR_TRY(cri_shown_open(s->cx, s, m, t, level, d));
    switch (kind) {
    case CR_PLOT_RESIDUALS:
        return cri_chart_residuals(s, d, level, chart);
    case CR_PLOT_CALIBRATION:
        return cri_chart_calibration(s, d, chart);
    case CR_PLOT_ROC:
        return cri_chart_roc(s, d, chart);
    case CR_PLOT_PR:
        return cri_chart_pr(s, d, chart);
    default:
        break;
    }
    CR_TRY(cr_fail(s->cx, CR_EARG, "there is no such kind of figure"));
done:
    return st;
}

cr_status cr_plot(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind, double level,
                  const char *path)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_shown  d = { 0 };
    cri_chart  chart = { 0 };
    CR_TRY(make_chart(&s, m, t, kind, level, &d, &chart));
    CR_TRY(cri_chart_svg(cx, &chart, path));
done:
    cri_shown_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_plot_text(cr_ctx *cx, const cr_model *m, const cr_table *t, cr_plot_kind kind,
                       double level, size_t width, size_t height, char **out_text)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_shown   d = { 0 };
    cri_chart   chart = { 0 };
    const char *text = NULL;
    char       *copy;
    CR_TRY(make_chart(&s, m, t, kind, level, &d, &chart));
    CR_TRY(cri_chart_text(&s, &chart, width, height, &text));
    copy = cri_string_copy(cx, text);
    if (!copy) CR_TRY(CR_ENOMEM);
    *out_text = copy;
done:
    cri_shown_free(cx, &d);
    cr_scratch_end(&s);
    return st;
}
