/* clusters.c -- rows by cluster on a plane, with the centres of the clusters and, of normal components, the ellipses that
 * hold half of a component and the mass of the intervals.  On a plane at = P t - origin a component N(mu, S) is
 * N(P mu - origin, P S P^T), and the ellipse of mass m has the squared radius -2 log(1 - m). */
#include "latent.h"
#include "models/core/faces.h"
#include "base/rng.h"
#include "base/sort.h"
#include "math/constants.h"

#include <math.h>

enum { MOST_SHOWN = 2000, ELLIPSE = 97, COLOURED = CRI_SVG_CLASSES };

static const double SURE = 0.9; /* rows of less are drawn lighter */

static const char glyphs[] = "123456789abc.";

/* --- members --------------------------------------------------------------------------------- */

static cr_status fail_none(cr_ctx *cx, const cr_model *model)
{
    cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no clusters, which this figure shows",
            cr_class_name(cr_model_get_class(model)));
    return cr_fail_hint(cx, "models with clusters: credence fit gmm, credence fit kmeans");
}

cr_status cri_members_open(cr_scratch *s, const cr_model *model, const cr_table *table,
                           cri_members *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    size_t        n = cr_table_rows(table), known = 0;
    cri_members m = { .n = n, .cluster = cr_scratch_index(s, n), .highest = cr_scratch_f64(s, n) };

    if (cr_model_get_task(model) != CR_TASK_CLUSTER) CR_TRY(fail_none(s->cx, model));
    CR_TRY(s->status);
    CR_TRY(cr_predict(s->cx, model, table, &p));
    bool          near = p.kind == CR_ANSWER_DISTANCE;
    const double *of = near ? p.vector : p.prob;
    m.k = p.n_classes, m.names = p.classes;
    if (!near) m.prob = cr_scratch_matrix(s, n, m.k);
    CR_TRY(s->status);
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;
        for (size_t c = 0; c < m.k; c++) {
            double here = of[i * m.k + c], there = of[i * m.k + best];
            if (near ? here < there : here > there) best = c;
            if (!near) m.prob[i * m.k + c] = here;
        }
        bool none = isnan(of[i * m.k + best]);
        m.cluster[i] = none ? m.k : best;
        m.highest[i] = near ? 1 : of[i * m.k + best];
        known += !none;
    }
    if (known == 0)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "%s: there is no row to draw", cr_table_source(table)));
    *out = m;
done:
    cr_prediction_free(s->cx, &p);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* What is drawn of the rows. */
typedef struct shown {
    size_t  n, drawable, unknown; /* those shown; those that could be; those without a place */
    size_t *row;                  /* [n] */
    bool    pale;                 /* some are uncertain */
} shown;

/* The rows with a cluster and a place: all, or some of them that the model's seed decides. */
static cr_status choose_rows(cr_scratch *s, const cr_model *model, const cr_table *table,
                             const cri_members *m, const cri_view *v, shown *out)
{
    cr_status st = CR_OK;
    size_t   *all = cr_scratch_index(s, m->n), *chosen = cr_scratch_index(s, MOST_SHOWN);
    shown     r = { .row = all };
    CR_TRY(s->status);
    for (size_t i = 0; i < m->n; i++) {
        bool place = isfinite(v->at[0][i]) && isfinite(v->at[1][i]);
        if (m->cluster[i] < m->k && place) all[r.drawable++] = i;
        if (m->cluster[i] < m->k && !place) r.unknown++;
    }
    if (r.drawable == 0)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "%s: no row has both %s", cr_table_source(table), v->name));
    r.n = r.drawable;
    if (r.drawable > MOST_SHOWN) {
        cr_rng rng = cr_rng_stream(cr_model_get_seed(model), 0);
        cr_rng_choose(&rng, r.drawable, MOST_SHOWN, chosen);
        cri_sort_indices(chosen, MOST_SHOWN);
        for (size_t i = 0; i < MOST_SHOWN; i++) all[i] = all[chosen[i]];
        r.n = MOST_SHOWN;
    }
    for (size_t i = 0; i < r.n; i++) r.pale |= m->highest[r.row[i]] < SURE;
    *out = r;
done:
    return st;
}

/* The points of cluster c, or of those from c on that have no colour of their own: the sure or the uncertain ones. */
static void add_points(cr_scratch *s, const cri_members *m, const cri_view *v, const shown *r,
                       size_t c, bool sure, cri_chart *chart)
{
    double *x = cr_scratch_f64(s, r->n), *y = cr_scratch_f64(s, r->n);
    size_t  n = 0;
    for (size_t i = 0; s->status == CR_OK && i < r->n; i++) {
        size_t row = r->row[i], of = m->cluster[row];
        if ((c < COLOURED ? of != c : of < c) || (m->highest[row] >= SURE) != sure) continue;
        x[n] = v->at[0][row], y[n++] = v->at[1][row];
    }
    if (n == 0) return;
    const char *name = c < COLOURED ? cri_compose(s, "cluster %s", m->names[c]) : "other clusters";
    cri_svg_series look = { sure ? name : cri_compose(s, "%s, uncertain", name),
                            CRI_SVG_POINTS,
                            cri_svg_class_colour(c),
                            sure ? (r->n > 500 ? 0.55 : 0.8) : 0.35,
                            r->n > 500 ? 2.2 : 3,
                            false };
    cri_chart_add_quiet(chart, look, glyphs[c], x, y, NULL, n);
}

/* --- centres and ellipses -------------------------------------------------------------------- */

/* A cluster on the plane. */
typedef struct spot {
    double share, x, y;
    double S[3]; /* covariance: xx, xy, yy */
} spot;

/* P S P^T and P mu - origin, from mean [p] and S [p x p] in the units of the terms. */
static void project(const cr_design *d, const cri_view *v, const double *mean, const double *S,
                    spot *out)
{
    size_t        p = cr_design_terms(d);
    const double *shift = cr_design_shift(d), *scale = cr_design_scale(d);
    double        at[2] = { -v->origin[0], -v->origin[1] };
    for (size_t k = 0; k < 2; k++)
        for (size_t j = 0; j < p; j++) at[k] += v->P[k * p + j] * (shift[j] + scale[j] * mean[j]);
    out->x = at[0], out->y = at[1];
    out->S[0] = out->S[1] = out->S[2] = 0;
    for (size_t i = 0; S && i < p; i++) {
        double a = v->P[i] * scale[i], b = v->P[p + i] * scale[i];
        if (a == 0 && b == 0) continue;
        for (size_t j = 0; j < p; j++) {
            double x = v->P[j] * scale[j] * S[i * p + j], y = v->P[p + j] * scale[j] * S[i * p + j];
            out->S[0] += a * x, out->S[1] += a * y, out->S[2] += b * y;
        }
    }
}

/* The points of the ellipse of this mass, closed: by the Cholesky factor of the covariance. */
static void trace_ellipse(const spot *at, double mass, double *x, double *y)
{
    double r = sqrt(-2 * log1p(-mass)), a = sqrt(at->S[0]);
    double b = a > 0 ? at->S[1] / a : 0, c = sqrt(fmax(0, at->S[2] - b * b));
    for (size_t i = 0; i < ELLIPSE; i++) {
        double angle = 2 * M_PI * (double)(i % (ELLIPSE - 1)) / (ELLIPSE - 1);
        double u = r * cos(angle), w = r * sin(angle);
        x[i] = at->x + a * u, y[i] = at->y + b * u + c * w;
    }
}

static void add_ellipses(cr_scratch *s, const spot *at, const char *name, const char *colour,
                         double level, char percent[CRI_SVG_LABEL], cri_chart *chart)
{
    const double mass[] = { 0.5, level };
    double      *x = cr_scratch_f64(s, 2 * ELLIPSE + 1), *y = cr_scratch_f64(s, 2 * ELLIPSE + 1);
    if (s->status != CR_OK) return;
    for (size_t k = 0; k < 2; k++)
        trace_ellipse(at, mass[k], x + k * (ELLIPSE + 1), y + k * (ELLIPSE + 1));
    x[ELLIPSE] = y[ELLIPSE] = NAN;
    cri_chart_add_quiet(
        chart,
        (cri_svg_series){ cri_compose(s, "cluster %s: 50 %% and %s %%", name, percent),
                          CRI_SVG_LINE, colour, 1, 1.6, false },
        ':', x, y, NULL, 2 * ELLIPSE + 1);
}

/* Of a class that says nothing of its clusters: shares and means of the rows. */
static void spots_of_rows(const cri_members *m, const cri_view *v, spot *spots)
{
    double n = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (m->cluster[i] == m->k) continue;
        spot *at = &spots[m->cluster[i]];
        n += 1;
        if (!isfinite(v->at[0][i]) || !isfinite(v->at[1][i])) continue;
        at->share += 1;
        at->x += (v->at[0][i] - at->x) / at->share, at->y += (v->at[1][i] - at->y) / at->share;
    }
    for (size_t c = 0; c < m->k; c++) {
        if (spots[c].share == 0) spots[c].x = spots[c].y = NAN;
        spots[c].share /= n;
    }
}

static cr_status find_spots(cr_scratch *s, const cr_model *model, const cri_members *m,
                            const cri_view *v, spot *spots, bool *out_ellipses)
{
    cr_status                st = CR_OK;
    const void              *state;
    const cri_clusters_face *face = cri_model_clusters(model, &state);
    const cr_design         *d = cr_model_get_design(model);
    size_t                   p = cr_design_terms(d);
    *out_ellipses = face && face->covariances;
    if (!face) {
        spots_of_rows(m, v, spots);
        return CR_OK;
    }
    double *mean = cr_scratch_f64(s, p), *S = face->covariances ? cr_scratch_matrix(s, p, p) : NULL;
    CR_TRY(s->status);
    for (size_t c = 0; c < m->k; c++) {
        CR_TRY(cr_check_interrupt(s->cx));
        face->cluster(state, c, &spots[c].share, mean, S);
        project(d, v, mean, S, &spots[c]);
    }
done:
    return st;
}

/* "1 (67 %)" */
static const char *name_spot(cr_scratch *s, const char *name, double share)
{
    if (share > 0 && share < 0.005) return cri_compose(s, "%s (<1 %%)", name);
    return cri_compose(s, "%s (%.0f %%)", name, 100 * share);
}

static cr_status add_centres(cr_scratch *s, const cri_members *m, const spot *spots, size_t n,
                             cri_chart *chart)
{
    cr_status     st = CR_OK;
    double       *x = cr_scratch_f64(s, n), *y = cr_scratch_f64(s, n);
    cri_svg_note *notes = cr_scratch_bytes(s, n, sizeof *notes);
    CR_TRY(s->status);
    for (size_t c = 0; c < n; c++) {
        x[c] = spots[c].x, y[c] = spots[c].y;
        notes[c] = (cri_svg_note){ x[c], y[c], name_spot(s, m->names[c], spots[c].share),
                                   cri_svg_class_colour(c), CRI_SVG_AROUND };
    }
    cri_chart_add(chart, (cri_svg_series){ NULL, CRI_SVG_POINTS, "#ffffff", 1, 6, false }, '@', x,
                  y, NULL, n);
    cri_chart_add_quiet(chart,
                        (cri_svg_series){ "centres", CRI_SVG_POINTS, CRI_SVG_BLACK, 1, 4.2, false },
                        '@', x, y, NULL, n);
    chart->notes = notes, chart->n_notes = n;
    CR_TRY(s->status);
done:
    return st;
}

/* --- the chart ------------------------------------------------------------------------------- */

static void say(cr_scratch *s, const cri_members *m, const shown *r, bool ellipses,
                const char *percent, cri_chart *chart)
{
    const char *pale = r->pale ? "  Pale: no probability reaches 0.9." : "", *more = "";
    chart->caption[0] =
        ellipses ? cri_compose(s, "Ellipses: 50 and %s %% of a component.  Labels: shares.%s",
                               percent, pale)
                 : cri_compose(s, "Black: the centres.  Labels: shares.%s", pale);
    if (m->k > COLOURED) more = cri_compose(s, "  %d of %zu clusters in colour.", COLOURED, m->k);
    if (r->n < r->drawable)
        more = cri_compose(s, "%s  %zu of the rows, chosen at random.", more, r->n);
    if (r->unknown)
        more = cri_compose(s, "%s  %zu row%s with missing cells left out.", more, r->unknown,
                           r->unknown == 1 ? "" : "s");
    if (more[0]) chart->caption[1] = more + 2;
}

cr_status cri_chart_clusters(cr_scratch *s, const cr_model *model, const cr_table *table,
                             const cr_plot_options *o, bool components, cri_chart *chart)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(model);
    cri_members      m;
    cri_view         v = { 0 };
    shown            r;
    bool             ellipses = false;
    char             percent[CRI_SVG_LABEL];

    CR_TRY(cri_members_open(s, model, table, &m));
    if (cr_design_terms(d) == 1 && !components && !o->n_over) {
        double *at = cr_scratch_f64(s, m.n);
        CR_TRY(s->status);
        CR_TRY(cri_term_values(s->cx, model, table, 0, at));
        return cri_chart_line(s, model, &m, at, cri_term_title(s, d, 0), chart);
    }
    if (components || (cri_term_numbers(d) < 2 && !o->n_over))
        CR_TRY(cri_view_components(s, model, table, &v));
    else
        CR_TRY(cri_view_columns(s, model, table, &m, o, &v));
    CR_TRY(choose_rows(s, model, table, &m, &v, &r));
    spot  *spots = cr_scratch_bytes(s, m.k, sizeof *spots);
    size_t coloured = m.k < COLOURED ? m.k : COLOURED;
    CR_TRY(s->status);
    CR_TRY(find_spots(s, model, &m, &v, spots, &ellipses));
    *chart = (cri_chart){ .x = { .title = v.title[0] }, .y = { .title = v.title[1] } };
    for (size_t c = m.k > COLOURED ? COLOURED + 1 : coloured; c-- > 0;) /* the first on top */
        for (int sure = 0; sure < 2; sure++) add_points(s, &m, &v, &r, c, sure, chart);
    cri_svg_decimal(llround(1e6 * o->level), -4, percent);
    for (size_t c = 0; ellipses && c < coloured; c++)
        add_ellipses(s, &spots[c], m.names[c], cri_svg_class_colour(c), o->level, percent, chart);
    CR_TRY(add_centres(s, &m, spots, coloured, chart));
    cri_chart_fit_axes(chart);
    say(s, &m, &r, ellipses, percent, chart);
    chart->equal = v.equal;
    chart->title = cri_compose(s, "%s: %zu cluster%s on %s (%zu row%s)",
                               cr_class_name(cr_model_get_class(model)), m.k, m.k == 1 ? "" : "s",
                               v.name, r.drawable, r.drawable == 1 ? "" : "s");
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
    CR_TRY(s->status);
done:
    return st;
}
