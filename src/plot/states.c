/* states.c -- hidden states along a sequence: each column of numbers, its points in the colours of the states, above the
 * probabilities of the states, stacked. */
#include "sequences.h"
#include "latent.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 1000, MOST_COLUMNS = 3, COLOURED = CRI_SVG_CLASSES };

static const char glyphs[] = "123456789abc.";

static const char *name_of(cr_scratch *s, const cri_members *m, size_t c)
{
    if (c == COLOURED) return "others";
    return m->k > 6 ? m->names[c] : cri_compose(s, "state %s", m->names[c]);
}

/* The values of a column, as a thin line, and the points of each state. */
static void add_column(cr_scratch *s, const cri_sequence_view *v, const cri_members *m,
                       const double *values, const char *title, cri_chart *chart)
{
    size_t  states = m->k < COLOURED + 1 ? m->k : COLOURED + 1;
    double *y = cr_scratch_f64(s, v->n);
    if (s->status != CR_OK) return;
    *chart = (cri_chart){ .title = title,
                          .x = { v->title, 0, 1, v->type },
                          .y = { title, 0, 1, CR_REAL } };
    for (size_t i = 0; i < v->n; i++) y[i] = values[v->row[i]];
    for (size_t c = states; c-- > 0;) { /* the legend goes backwards */
        double *own = cr_scratch_f64(s, v->n);
        if (s->status != CR_OK) return;
        for (size_t i = 0; i < v->n; i++) {
            size_t state = m->cluster[v->row[i]];
            own[i] = (state < COLOURED ? state : COLOURED) == c && state < m->k ? y[i] : NAN;
        }
        cri_chart_add(chart,
                      (cri_svg_series){ name_of(s, m, c), CRI_SVG_POINTS, cri_svg_class_colour(c),
                                        0.9, v->n > 300 ? 1.8 : 2.6, false },
                      glyphs[c], v->x, own, NULL, v->n);
    }
    cri_chart_fit_axes(chart);
}

/* The probabilities, from the first state upwards. */
static void add_probabilities(cr_scratch *s, const cri_sequence_view *v, const cri_members *m,
                              const cri_chart *opt_above, cri_chart *chart)
{
    size_t  states = m->k < COLOURED + 1 ? m->k : COLOURED + 1, n = v->n > 1 ? v->n : 2;
    double *x = v->n > 1 ? v->x : cr_scratch_f64(s, n);
    if (s->status != CR_OK) return;
    if (v->n == 1) x[0] = v->x[0] - 0.5, x[1] = v->x[0] + 0.5; /* a row alone has a width, too */
    *chart = (cri_chart){ .title = "probability of each state",
                          .x = { v->title, x[0], x[n - 1], v->type },
                          .y = { "probability", 0, 1, CR_REAL },
                          .stacked = true };
    if (opt_above) chart->x = opt_above->x;
    for (size_t c = states; c-- > 0;) {
        double *lower = cr_scratch_f64(s, n), *upper = cr_scratch_f64(s, n);
        if (s->status != CR_OK) return;
        for (size_t i = 0; i < n; i++) {
            const double *p = m->prob + v->row[v->n > 1 ? i : 0] * m->k;
            double        below = 0, share = 0;
            for (size_t k = 0; k < c; k++) below += p[k];
            for (size_t k = c; k < (c == COLOURED ? m->k : c + 1); k++) share += p[k];
            lower[i] = fmin(below, 1), upper[i] = fmin(below + share, 1);
        }
        cri_chart_add(chart,
                      (cri_svg_series){ name_of(s, m, c), CRI_SVG_BAND, cri_svg_class_colour(c),
                                        0.85, 1, false },
                      glyphs[c], x, lower, upper, n);
    }
}

cr_status cri_states_new(cr_scratch *s, const cr_model *model, const cr_table *table,
                         cri_parts *out)
{
    cr_status         st = CR_OK;
    const cr_design  *d = cr_model_get_design(model);
    const char       *name = cr_class_name(cr_model_get_class(model));
    cri_parts         p = { .shared = true, .constant = NAN };
    cri_members       m;
    cri_sequence_view v;

    CR_TRY(cri_sequence_view_open(s, model, table, MOST_ROWS, false, &v));
    CR_TRY(cri_members_open(s, model, table, &m));
    double *values = cr_scratch_f64(s, m.n);
    CR_TRY(s->status);
    for (size_t j = 0; j < d->p && p.n < MOST_COLUMNS; j++) {
        if (cri_design_is_code(d, j) || cri_design_is_indicator(d, j)) continue;
        CR_TRY(cri_term_values(s->cx, model, table, j, values));
        add_column(s, &v, &m, values, cri_term_title(s, d, j), &p.chart[p.n++]);
    }
    add_probabilities(s, &v, &m, p.n ? &p.chart[0] : NULL, &p.chart[p.n]);
    p.n++;
    bool hidden = cr_class_offers(cr_model_get_class(model), "smooth");
    p.title = cri_compose(s, "%s: %zu%s states", name, m.k, hidden ? " hidden" : "");
    p.caption[0] = !hidden ? "The probabilities of each row, given the rows of its sequence before "
                             "it."
                   : p.n > 1
                       ? "Points have the colour of the most probable state of the row, given "
                         "all rows of its sequence."
                       : "The states of each row, given all rows of its sequence.";
    p.caption[1] = v.note;
    p.description = cri_compose(s, "%s. %s", p.title, p.caption[0]);
    CR_TRY(s->status);
    *out = p;
done:
    return st;
}
