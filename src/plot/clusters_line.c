/* clusters_line.c -- clusters of a model with one column: the density of each normal component, times its share, over
 * the column, with the rows below; of centres alone the rows in their order. */
#include "latent.h"
#include "models/core/faces.h"
#include "math/constants.h"

#include <math.h>

enum { GRID = 400, MOST_SHOWN = 2000, COLOURED = CRI_SVG_CLASSES };

static const char glyphs[] = "123456789abc.";

/* Mean and sd of component c, in the units of the data. */
typedef struct hump {
    double share, mean, sd;
} hump;

static hump hump_of(const cr_model *model, size_t c)
{
    const void              *state;
    const cri_clusters_face *face = cri_model_clusters(model, &state);
    const cr_design         *d = cr_model_get_design(model);
    hump                     h = { NAN, NAN, NAN };
    if (!face) return h;
    face->cluster(state, c, &h.share, &h.mean, face->covariances ? &h.sd : NULL);
    h.mean = cr_design_shift(d)[0] + cr_design_scale(d)[0] * h.mean;
    h.sd = cr_design_scale(d)[0] * sqrt(h.sd);
    return h;
}

/* The curve of a component and its name at the top. */
static void add_hump(cr_scratch *s, const cri_members *m, const hump *h, size_t c, const double *x,
                     double *sum, cri_chart *chart, cri_svg_note *note)
{
    double *y = cr_scratch_f64(s, GRID);
    if (s->status != CR_OK) return;
    for (size_t i = 0; i < GRID; i++) {
        double z = (x[i] - h->mean) / h->sd;
        y[i] = h->share * exp(-0.5 * (z * z + CRI_LOG_2PI)) / h->sd;
        sum[i] += y[i];
    }
    if (c >= COLOURED) return;
    cri_chart_add_quiet(chart,
                        (cri_svg_series){ cri_compose(s, "component %s", m->names[c]), CRI_SVG_LINE,
                                          cri_svg_class_colour(c), 1, 2, false },
                        glyphs[c], x, y, NULL, GRID);
    *note = (cri_svg_note){ h->mean, h->share / (h->sd * sqrt(2 * M_PI)),
                            cri_compose(s, "%s (%.0f %%)", m->names[c], 100 * h->share),
                            cri_svg_class_colour(c), CRI_SVG_AROUND };
    chart->n_notes++;
}

/* Of the rows of cluster c, or of those from there on, every so many-th of the table. */
static void add_rows(cr_scratch *s, const cri_members *m, const double *at, size_t c, size_t every,
                     bool densities, cri_chart *chart)
{
    double *x = cr_scratch_f64(s, m->n), *y = cr_scratch_f64(s, m->n);
    size_t  n = 0;
    for (size_t i = 0; s->status == CR_OK && i < m->n; i += every) {
        if (!isfinite(at[i]) || m->cluster[i] == m->k) continue;
        if (c < COLOURED ? m->cluster[i] != c : m->cluster[i] < c) continue;
        x[n] = at[i], y[n++] = densities ? 0 : (double)i + 1;
    }
    if (n == 0) return;
    const char *name = c < COLOURED ? cri_compose(s, "cluster %s", m->names[c]) : "other clusters";
    cri_svg_series look = { name, CRI_SVG_POINTS, cri_svg_class_colour(c), 0.6, 3, false };
    cri_chart_add_quiet(chart, look, glyphs[c], x, y, NULL, n);
}

/* The curves of normal components over x [GRID], and below them what they add up to. */
static void add_densities(cr_scratch *s, const cr_model *model, const cri_members *m,
                          const double *x, cri_chart *chart, cri_svg_note *notes)
{
    double *sum = cr_scratch_bytes(s, GRID, sizeof *sum);
    cri_chart_add(chart,
                  (cri_svg_series){ "density of all", CRI_SVG_LINE, CRI_SVG_BLACK, 0.35, 4, false },
                  '.', x, sum, NULL, GRID);
    for (size_t c = 0; s->status == CR_OK && c < m->k; c++) {
        hump h = hump_of(model, c);
        add_hump(s, m, &h, c, x, sum, chart, &notes[c < COLOURED ? c : 0]);
    }
}

/* Names at the centres of clusters that are nothing else. */
static void name_centres(cr_scratch *s, const cr_model *model, const cri_members *m,
                         cri_chart *chart, cri_svg_note *notes)
{
    for (size_t c = 0; c < m->k && c < COLOURED; c++) {
        hump h = hump_of(model, c);
        notes[chart->n_notes++] =
            (cri_svg_note){ h.mean, 0, cri_compose(s, "%s (%.0f %%)", m->names[c], 100 * h.share),
                            cri_svg_class_colour(c), CRI_SVG_AROUND };
    }
}

cr_status cri_chart_line(cr_scratch *s, const cr_model *model, const cri_members *m,
                         const double *at, const char *column, cri_chart *chart)
{
    cr_status                st = CR_OK;
    const void              *state;
    const cri_clusters_face *face = cri_model_clusters(model, &state);
    bool                     densities = face && face->covariances;
    double                  *x = cr_scratch_f64(s, GRID), low = INFINITY, high = -INFINITY;
    cri_svg_note            *notes = cr_scratch_bytes(s, COLOURED, sizeof *notes);
    size_t                   rows = 0, every = (m->n + MOST_SHOWN - 1) / MOST_SHOWN;

    CR_TRY(s->status);
    for (size_t i = 0; i < m->n; i++) {
        if (!isfinite(at[i]) || m->cluster[i] == m->k) continue;
        low = fmin(low, at[i]), high = fmax(high, at[i]), rows++;
    }
    if (rows == 0) CR_TRY(cr_fail(s->cx, CR_EDATA, "no row has a value of '%s'", column));
    double more = 0.06 * (high - low);
    low -= more, high += more;
    cri_svg_range(&low, &high);
    for (size_t i = 0; i < GRID; i++) x[i] = low + (high - low) * (double)i / (GRID - 1);
    *chart = (cri_chart){ .x = { .title = column },
                          .y = { .title = densities ? "density" : "row" },
                          .notes = notes };
    if (densities) add_densities(s, model, m, x, chart, notes);
    for (size_t c = 0; c < m->k && c <= COLOURED; c++)
        add_rows(s, m, at, c, every, densities, chart);
    if (face && !densities) name_centres(s, model, m, chart, notes);
    cri_chart_fit_axes(chart);
    chart->title = cri_compose(s, "%s: %zu cluster%s over %s (%zu row%s)",
                               cr_class_name(cr_model_get_class(model)), m->k, m->k == 1 ? "" : "s",
                               column, rows, rows == 1 ? "" : "s");
    chart->caption[0] =
        densities ? "Curves: the density of each component times its share.  Dots: the rows."
                  : "Dots: the rows in their order.  Labels at the bottom: centre and share.";
    if (every > 1) chart->caption[1] = cri_compose(s, "Of the rows one in %zu is shown.", every);
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
    CR_TRY(s->status);
done:
    return st;
}
