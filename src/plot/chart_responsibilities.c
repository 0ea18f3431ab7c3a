/* chart_responsibilities.c -- the probabilities of the clusters, row by row: rows sorted by cluster and, within one, from
 * the surest to the least sure; each is a column of stacked shares. */
#include "latent.h"
#include "base/sort.h"

#include <math.h>

enum { MOST_ROWS = 400 };

static const double AREA = 640; /* about the width of the plot area, in pixels */
static const char   glyphs[] = "123456789abc.";

typedef struct entry {
    size_t cluster, row;
    double doubt; /* 1 - its probability */
} entry;

CRI_COMPARE_BY_TWO(by_doubt, entry, doubt, row);

static int by_cluster(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->cluster != y->cluster) return x->cluster < y->cluster ? -1 : 1;
    return by_doubt(a, b);
}

static cr_status check(cr_ctx *cx, const cr_model *model, const cri_members *m)
{
    const char *name = cr_class_name(cr_model_get_class(model));
    if (m->k == 1)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "this %s model has one cluster, to which every row belongs", name);
    if (m->prob) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "the model %s puts each row into one cluster and gives no probabilities", name);
    return cr_fail_hint(cx, "a mixture does: credence fit gmm");
}

/* The share of cluster c, from those before it upwards; those from c on, of the last that has a colour. */
static void add_cluster(cr_scratch *s, const cri_members *m, const entry *rows, size_t n, size_t c,
                        bool rest, const double *x, double *below, cri_chart *chart)
{
    double *lower = cr_scratch_f64(s, n), *upper = cr_scratch_f64(s, n);
    if (s->status != CR_OK) return;
    for (size_t i = 0; i < n; i++) {
        double share = 0;
        for (size_t k = c; k < (rest ? m->k : c + 1); k++) share += m->prob[rows[i].row * m->k + k];
        lower[i] = below[i], upper[i] = below[i] = fmin(1, below[i] + share);
    }
    cri_chart_add(chart,
                  (cri_svg_series){ rest       ? "others"
                                    : m->k > 6 ? m->names[c]
                                               : cri_compose(s, "cluster %s", m->names[c]),
                                    CRI_SVG_BARS, cri_svg_class_colour(c), 1, AREA / (double)n + 1,
                                    false },
                  glyphs[c], x, lower, upper, n);
}

cr_status cri_chart_responsibilities(cr_scratch *s, const cr_model *model, const cr_table *table,
                                     cri_chart *chart)
{
    cr_status   st = CR_OK;
    cri_members m;
    size_t      n = 0, unsure = 0;

    CR_TRY(cri_members_open(s, model, table, &m));
    CR_TRY(check(s->cx, model, &m));
    entry *rows = cr_scratch_bytes(s, m.n, sizeof *rows);
    CR_TRY(s->status);
    for (size_t i = 0; i < m.n; i++) {
        if (m.cluster[i] == m.k) continue;
        rows[n++] = (entry){ m.cluster[i], i, 1 - m.highest[i] };
        unsure += m.highest[i] < 0.9;
    }
    qsort(rows, n, sizeof *rows, by_cluster);
    size_t shown = n < MOST_ROWS ? n : MOST_ROWS;
    for (size_t i = 0; i < shown; i++) rows[i] = rows[i * n / shown];
    double *x = cr_scratch_f64(s, shown), *below = cr_scratch_bytes(s, shown, sizeof *below);
    CR_TRY(s->status);
    for (size_t i = 0; i < shown; i++) /* the middle of the rows that it stands for */
        x[i] = ((double)i + 0.5) * (double)n / (double)shown + 0.5;
    *chart = (cri_chart){ .x = { "rows, sorted by cluster", 0.5, (double)n + 0.5, CR_REAL },
                          .y = { "probability", 0, 1, CR_REAL },
                          .whole = true,
                          .stacked = true };
    for (size_t c = 0; c < m.k && c <= CRI_SVG_CLASSES; c++)
        add_cluster(s, &m, rows, shown, c, c == CRI_SVG_CLASSES, x, below, chart);
    chart->title = cri_compose(s, "%s: probabilities of %zu clusters (%zu row%s)",
                               cr_class_name(cr_model_get_class(model)), m.k, n, n == 1 ? "" : "s");
    chart->caption[0] = cri_compose(s, "%zu row%s no cluster of probability 0.9 or more.", unsure,
                                    unsure == 1 ? " has" : "s have");
    if (shown < n)
        chart->caption[1] = cri_compose(s,
                                        "%zu of the %zu rows are shown, evenly spaced in this "
                                        "order.",
                                        shown, n);
    chart->description = cri_compose(s, "%s. %s", chart->title, chart->caption[0]);
    CR_TRY(s->status);
done:
    return st;
}
