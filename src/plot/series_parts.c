/* series_parts.c -- the parts of a series, one below the other: trend, seasons, ... given all rows. */
#include "sequences.h"
#include "math/special/special.h"
#include "models/core/parts.h"

#include <math.h>

enum { MOST_ROWS = 1000 };

/* A line with its band, without the points that have none. */
typedef struct fan {
    size_t  n;
    double *x, *mean, *lower, *upper;
} fan;

static cr_status make_fan(cr_scratch *s, const cri_sequence_view *v, const double *mean,
                          const double *sd, double z, fan *out)
{
    fan f = { 0, cr_scratch_f64(s, v->n), cr_scratch_f64(s, v->n), cr_scratch_f64(s, v->n),
              cr_scratch_f64(s, v->n) };
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < v->n; i++) {
        double at = mean[v->row[i]], half = z * sd[v->row[i]];
        if (isnan(at) || isnan(half)) continue;
        f.x[f.n] = v->x[i];
        f.mean[f.n] = at;
        f.lower[f.n] = at - half;
        f.upper[f.n++] = at + half;
    }
    *out = f;
    return CR_OK;
}

static cri_chart chart_of(cr_scratch *s, const cri_sequence_view *v, const char *name,
                          const char *target, double level, const fan *f)
{
    cri_chart chart = { .title = cri_compose(s, "%s", name),
                        .description = "",
                        .x = { .title = v->title, .type = v->type },
                        .y = { .title = target } };
    cri_chart_add(&chart,
                  (cri_svg_series){ cri_compose(s, "%g %% interval", 100 * level), CRI_SVG_BAND,
                                    CRI_SVG_SKY, 0.35, 0, false },
                  ':', f->x, f->lower, f->upper, f->n);
    cri_chart_add(&chart,
                  (cri_svg_series){ "given all rows", CRI_SVG_LINE, CRI_SVG_BLUE, 1, 1.75, false },
                  '*', f->x, f->mean, NULL, f->n);
    cri_chart_fit_axes(&chart);
    chart.x.low = v->x[0];
    chart.x.high = v->x[v->n - 1];
    return chart;
}

cr_status cri_series_parts(cr_scratch *s, const cr_model *m, const cr_table *t,
                           const cr_plot_options *o, cri_parts *out)
{
    cr_status         st = CR_OK;
    cri_sequence_view v;
    cri_parts         p = { .shared = true, .constant = NAN };
    const char       *target = cr_design_target(cr_model_get_design(m));
    const char       *model = cr_class_name(cr_model_get_class(m));
    double            z = cr_norm_ppf(0.5 + 0.5 * o->level);
    double           *mean = cr_scratch_f64(s, cr_table_rows(t));
    double           *sd = cr_scratch_f64(s, cr_table_rows(t));
    CR_TRY(s->status);
    if (o->range || o->n_over)
        CR_TRY(cr_fail(s->cx, CR_EARG, "--range and --over are not for the parts of a series"));
    CR_TRY(cri_sequence_view_open(s, m, t, MOST_ROWS, true, &v));
    for (size_t k = 0; p.n < CRI_MOST_PARTS; k++) {
        cr_part part;
        fan     f;
        CR_TRY(cr_model_part(s->cx, m, k, &part));
        if (!part.name[0]) break;
        CR_TRY(cr_predict_part(s->cx, m, t, k, mean, sd));
        CR_TRY(make_fan(s, &v, mean, sd, z, &f));
        if (f.n > 0) p.chart[p.n++] = chart_of(s, &v, part.name, target, o->level, &f);
    }
    if (p.n == 0)
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED, "the model %s has no parts that could be drawn",
                       model));
    p.title = cri_compose(s, "%s: the parts of %s", model, target);
    p.caption[0] = "Each part given all rows; their sum is the series without noise.";
    p.caption[1] = v.note;
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}
