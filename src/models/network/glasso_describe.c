/* glasso_describe.c -- what a Gaussian graph reports: means, edges, criteria, the path. */
#include "glasso.h"

#include <math.h>

enum { MOST_SHOWN = 20 }; /* columns up to which every edge is a parameter too */

const cr_field cri_glasso_statistics[] = {
    CR_NUMBER("lambda", 0, "penalty on each covariance between columns, as they were scaled"),
    CR_COUNT("edges", 0, "pairs of columns that depend on each other given all others"),
    CR_NUMBER("density", 0, "their share of all pairs"),
    CR_COUNT("groups", 0, "groups of columns that edges connect"),
    CR_COUNT("largest_group", 0, "columns of the largest"),
    CR_NUMBER("objective", 0, "-log det T + tr(S T) and the penalty, of the scaled columns"),
    CR_NUMBER("duality_gap", CR_FIELD_NULL,
              "how far the objective is from its optimum, at most; null: no bound was reached"),
    CR_COUNT("half_samples", 0, "halves of the rows behind the stability of edges"),
    CR_COUNT("parameters", 0, "free parameters: means, variances, edges"),
    CR_NUMBER("aic", CR_FIELD_NULL, "Akaike's criterion, of the largest likelihood on the graph"),
    CR_NUMBER("bic", CR_FIELD_NULL, "Schwarz's criterion, likewise"),
    CR_NUMBER("ebic", CR_FIELD_NULL, "bic and 4 gamma log(columns) for each edge"),
    CR_FIELD_LAST,
};

static const cr_field precision_fields[] = {
    CR_TEXT("row", 0, "a column"),
    CR_TEXT("column", 0, "another that depends on it given all others, or itself"),
    CR_NUMBER("value", 0, "entry of the precision matrix, in the units of the columns"),
    CR_NUMBER("partial_correlation", CR_FIELD_NULL, "of the two given all others"),
    CR_NUMBER("stability", CR_FIELD_NULL, "share of half samples that have the edge"),
    CR_FIELD_LAST,
};

static const cr_field path_fields[] = {
    CR_NUMBER("lambda", 0, "penalty"),
    CR_COUNT("edges", 0, "edges of its graph"),
    CR_NUMBER("criterion", CR_FIELD_NULL, "what it was judged by; null: it has no value"),
    CR_FIELD_LAST,
};

const cr_field cri_glasso_tables[] = {
    CR_INNER(ROWS, "precision", 0, "the precision matrix: its diagonal, and what is not 0 below it",
             precision_fields),
    CR_INNER(ROWS, "graphs", CR_FIELD_SOMETIMES,
             "where the penalty was chosen: those that were tried", path_fields),
    CR_FIELD_LAST,
};

static double partial(const cri_glasso *m, size_t i, size_t j, double value)
{
    return -value / sqrt(m->diagonal[i] * m->diagonal[j]);
}

static void add_entry(const cri_glasso *m, const cr_design *design, size_t i, size_t j,
                      double value, double stable, cri_sheet *list)
{
    cri_sheet *row = cri_put_object(list, NULL);
    cri_put_text(row, "row", cr_design_term_name(design, i));
    cri_put_text(row, "column", cr_design_term_name(design, j));
    cri_put_real(row, "value", value / (m->scale[i] * m->scale[j]));
    cri_put_real(row, "partial_correlation", i == j ? NAN : partial(m, i, j, value));
    cri_put_real(row, "stability", stable);
}

cr_status cri_glasso_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const cri_glasso *m = state;
    size_t            p = m->p;
    double            pairs = (double)p * (double)(p - 1) / 2, k = (double)(2 * p + m->edges);
    cri_sheet *list = cri_put_list(out, "parameters"), *s = cri_put_object(out, "statistics");
    (void)cx;
    for (size_t j = 0; j < p; j++)
        cri_parameter_add(list, m->centre[j], m->sd[j] / sqrt(m->n), "mean.%s",
                          cr_design_term_name(design, j));
    for (size_t e = 0; p <= MOST_SHOWN && e < m->edges; e++)
        cri_parameter_add(list, partial(m, m->row[e], m->column[e], m->value[e]), NAN,
                          "%s,%s.partial_correlation", cr_design_term_name(design, m->column[e]),
                          cr_design_term_name(design, m->row[e]));
    cri_put_real(s, "lambda", m->lambda);
    cri_put_count(s, "edges", m->edges);
    cri_put_real(s, "density", (double)m->edges / pairs);
    cri_put_count(s, "groups", m->groups);
    cri_put_count(s, "largest_group", m->largest);
    cri_put_real(s, "objective", m->objective);
    cri_put_real(s, "duality_gap", m->gap);
    cri_put_count(s, "half_samples", m->halves);
    cri_put_count(s, "parameters", 2 * p + m->edges);
    cri_put_real(s, "aic", 2 * k - 2 * m->best_likelihood);
    cri_put_real(s, "bic", k * log(m->n) - 2 * m->best_likelihood);
    cri_put_real(s, "ebic",
                 k * log(m->n) - 2 * m->best_likelihood +
                     4 * m->gamma * (double)m->edges * log((double)p));
    list = cri_put_list(out, "precision");
    for (size_t i = 0, e = 0; i < p; i++) {
        for (; e < m->edges && m->row[e] == i; e++)
            add_entry(m, design, i, m->column[e], m->value[e], m->stable[e], list);
        add_entry(m, design, i, i, m->diagonal[i], NAN, list);
    }
    list = m->tried > 0 ? cri_put_list(out, "graphs") : NULL;
    for (size_t i = 0; i < m->tried; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_real(row, "lambda", m->path_lambda[i]);
        cri_put_count(row, "edges", (size_t)m->path_edges[i]);
        cri_put_real(row, "criterion", m->path_value[i]);
    }
    return CR_OK;
}
