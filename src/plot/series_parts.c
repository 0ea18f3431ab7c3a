/* series_parts.c -- the parts of a series, each with its band in a panel of its own. */
#include "sequences.h"
#include "chart.h"
#include "math/special/special.h"
#include "models/core/parts.h"

#include <math.h>

enum { MOST_ROWS = 1000 };

/* The panel of one part, at the rows of the sequence; without those that have no spread. */
static void add_part(cr_scratch *s, const cri_sequence_view *v, const char *name,
                     const char *target, double level, const double *mean, const double *sd,
                     cri_chart *chart)
{
    double  z = cr_norm_ppf(0.5 + 0.5 * level);
    double *at = cr_scratch_f64(s, v->n), *lower = cr_scratch_f64(s, v->n);
    double *upper = cr_scratch_f64(s, v->n);
    if (s->status != CR_OK) return;
    for (size_t i = 0; i < v->n; i++) {
        double half = z * sd[v->row[i]];
        at[i] = isfinite(half) ? mean[v->row[i]] : NAN;
        lower[i] = at[i] - half, upper[i] = at[i] + half;
    }
    *chart = (cri_chart){ .title = name,
                          .x = { v->title, 0, 1, v->type },
                          .y = { target, 0, 1, CR_REAL } };
    cri_chart_add(chart,
                  (cri_svg_series){ cri_compose(s, "%g %% interval", 100 * level), CRI_SVG_BAND,
                                    CRI_SVG_BLUE, 0.25, 0, false },
                  ':', v->x, lower, upper, v->n);
    cri_chart_add(chart,
                  (cri_svg_series){ "given all rows", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 1.75, false },
                  '*', v->x, at, NULL, v->n);
    cri_chart_fit_axes(chart);
    chart->x.low = v->x[0], chart->x.high = v->x[v->n - 1];
}

cr_status cri_series_parts(cr_scratch *s, const cr_model *m, const cr_table *t, double level,
                           cri_parts *out)
{
    cr_status         st = CR_OK;
    cri_sequence_view v;
    cri_parts         p = { .shared = true, .constant = NAN };
    const char       *target = cri_modelled_target(s, m);
    double           *mean = cr_scratch_f64(s, cr_table_rows(t));
    double           *sd = cr_scratch_f64(s, cr_table_rows(t));

    CR_TRY(s->status);
    CR_TRY(cri_sequence_view_open(s, m, t, MOST_ROWS, true, &v));
    for (size_t k = 0; p.n < CRI_MOST_PARTS; k++) {
        cr_part part;
        CR_TRY(cr_model_part(s->cx, m, k, &part));
        if (!part.name[0]) break;
        CR_TRY(cr_predict_part(s->cx, m, t, k, mean, sd));
        add_part(s, &v, cri_compose(s, "%s", part.name), target, level, mean, sd, &p.chart[p.n++]);
    }
    if (p.n == 0)
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no parts that could be drawn",
                       cr_class_name(cr_model_get_class(m))));
    p.title = cri_compose(s, "%s: the parts of %s", cr_class_name(cr_model_get_class(m)), target);
    p.caption[0] = "Each part given all rows; their sum is the series without noise.";
    p.caption[1] = v.note;
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}
