/* chart_roc.c -- ROC and precision-recall curves, one for each class against the rest. */
#include "chart.h"
#include "study/curves.h"

enum { MOST_CLASSES = 6 };

static const char glyphs[MOST_CLASSES] = { '*', 'o', '+', 'x', '#', '@' };

static const double unit[] = { 0, 1 };

static cr_status need_classes(cr_ctx *cx, const cri_shown *d)
{
    if (d->p.kind == CR_ANSWER_CLASS) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "the model %s predicts numbers, but this figure is for classes",
            d->model);
    return cr_fail_hint(cx, "--kind residuals shows how a model of numbers fits");
}

/* The curve of class k, its arrays in the arena. */
static cr_status class_curve(cr_scratch *s, const cri_shown *d, size_t k, cr_threshold_curve *out)
{
    cr_status          st = CR_OK;
    size_t             K = d->p.n_classes;
    bool              *is = cr_scratch_bytes(s, d->n, sizeof *is);
    cr_threshold_curve c = { 0 };
    CR_TRY(s->status);
    for (size_t i = 0; i < d->n; i++) is[i] = d->y[i] == (double)k;
    CR_TRY(cr_threshold_curve_of(s->cx, d->p.prob + k, K, is, d->w, d->n, &c));
    *out = c;
    double **from[] = { &c.false_positive, &c.recall, &c.precision };
    double **to[] = { &out->false_positive, &out->recall, &out->precision };
    for (size_t a = 0; a < 3; a++) {
        *to[a] = cr_scratch_f64(s, c.n);
        for (size_t i = 0; *to[a] && i < c.n; i++) (*to[a])[i] = (*from[a])[i];
    }
    out->threshold = NULL;
done:
    cr_threshold_curve_free(s->cx, &c);
    return st == CR_OK ? s->status : st;
}

/* Precision as the step function it is: [2 n] points. */
static void steps_of(const cr_threshold_curve *c, double *x, double *y)
{
    for (size_t i = 0; i < c->n; i++) {
        x[2 * i] = c->recall[i ? i - 1 : 0], x[2 * i + 1] = c->recall[i];
        y[2 * i] = y[2 * i + 1] = c->precision[i];
    }
}

static cr_status add_class(cr_scratch *s, const cri_shown *d, size_t k, size_t place, bool roc,
                           cri_chart *chart)
{
    cr_status          st = CR_OK;
    cr_threshold_curve c = { 0 };
    double            *x, *y;
    CR_TRY(class_curve(s, d, k, &c));
    const char *label = cri_compose(s, roc ? "%s: AUC %.3f" : "%s: AP %.3f", d->p.classes[k],
                                    roc ? c.auc : c.average_precision);
    x = cr_scratch_f64(s, 2 * c.n), y = cr_scratch_f64(s, 2 * c.n);
    CR_TRY(s->status);
    steps_of(&c, x, y);
    cri_svg_series look = { label, CRI_SVG_LINE, cri_svg_class_colour(place), 1, 2, false };
    if (roc)
        cri_chart_add(chart, look, glyphs[place], c.false_positive, c.recall, NULL, c.n);
    else
        cri_chart_add(chart, look, glyphs[place], x, y, NULL, 2 * c.n);
done:
    return st;
}

static cr_status add_classes(cr_scratch *s, const cri_shown *d, bool roc, cri_chart *chart)
{
    cr_status st = CR_OK;
    size_t    K = d->p.n_classes, place = 0;
    for (size_t k = K == 2 ? 1 : 0; k < K && place < MOST_CLASSES; k++) {
        double rows = 0;
        for (size_t i = 0; i < d->n; i++) rows += d->y[i] == (double)k ? d->w[i] : 0;
        if (K > 2 && rows == 0) continue; /* a class that does not occur here has no curve */
        CR_TRY(add_class(s, d, k, place++, roc, chart));
    }
    if (K > MOST_CLASSES)
        chart->caption[1] =
            cri_compose(s, "The first %d of %zu classes are shown.", MOST_CLASSES, K);
done:
    return st;
}

cr_status cri_chart_roc(cr_scratch *s, const cri_shown *d, cri_chart *chart)
{
    cr_status st = CR_OK;
    CR_TRY(need_classes(s->cx, d));
    *chart = (cri_chart){ .x = { "false positive rate", -0.02, 1.02, CR_REAL },
                          .y = { "true positive rate", -0.02, 1.02, CR_REAL } };
    cri_chart_add(chart, (cri_svg_series){ "guessing", CRI_SVG_LINE, CRI_SVG_BLACK, 0.6, 1, true },
                  '.', unit, unit, NULL, 2);
    CR_TRY(add_classes(s, d, true, chart));
    chart->title =
        cri_compose(s, "%s: ROC curve of %s (%s)", d->model, d->target, cri_shown_rows(s, d));
    chart->caption[0] = "AUC: the probability that a random row of the class scores higher than a "
                        "random other row.";
    chart->description = cri_compose(s, "%s. True against false positive rate.", chart->title);
    CR_TRY(s->status);
done:
    return st;
}

cr_status cri_chart_pr(cr_scratch *s, const cri_shown *d, cri_chart *chart)
{
    cr_status st = CR_OK;
    CR_TRY(need_classes(s->cx, d));
    *chart = (cri_chart){ .x = { "recall", -0.02, 1.02, CR_REAL },
                          .y = { "precision", -0.02, 1.02, CR_REAL } };
    if (d->p.n_classes == 2) {
        double  share = 0, all = 0;
        double *level = cr_scratch_f64(s, 2);
        CR_TRY(s->status);
        for (size_t i = 0; i < d->n; i++) all += d->w[i], share += d->y[i] == 1 ? d->w[i] : 0;
        level[0] = level[1] = share / all;
        cri_chart_add(chart,
                      (cri_svg_series){ "guessing", CRI_SVG_LINE, CRI_SVG_BLACK, 0.6, 1, true },
                      '.', unit, level, NULL, 2);
    }
    CR_TRY(add_classes(s, d, false, chart));
    chart->title = cri_compose(s, "%s: precision and recall of %s (%s)", d->model, d->target,
                               cri_shown_rows(s, d));
    chart->caption[0] =
        "Precision: share of rows predicted as the class that belong to it.  Recall: share of the "
        "rows of the class that are predicted as it.";
    if (!chart->caption[1]) chart->caption[1] = "AP: average precision, its mean over the recall.";
    chart->description = cri_compose(s, "%s. Precision against recall.", chart->title);
    CR_TRY(s->status);
done:
    return st;
}
