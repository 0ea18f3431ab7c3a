/* figure_text.c -- what the figure of a fit says: title, caption, note and description. */
#include "chart.h"
#include "figure_internal.h"

#include <math.h>

static const char *count_text(cr_scratch *s, size_t n)
{
    char text[CRI_SVG_LABEL];
    cri_svg_decimal((int64_t)n, 0, text);
    return cri_compose(s, "%s", text);
}

/* part of whole in percent, to a tenth; "100" only for all of them and "0" only for none. */
static const char *percent_text(cr_scratch *s, size_t part, size_t whole)
{
    char    text[CRI_SVG_LABEL];
    int64_t tenths = llround(1000 * ((double)part / (double)whole));
    if (part < whole && tenths == 1000) tenths = 999;
    if (part > 0 && tenths == 0) tenths = 1;
    cri_svg_decimal(tenths, -1, text);
    return cri_compose(s, "%s", text);
}

void cri_picture_texts(cr_scratch *s, cri_picture *p)
{
    const char *name = cr_class_name(cr_model_get_class(p->model));
    const char *rows = count_text(s, p->kept), *s_rows = p->kept == 1 ? "" : "s";
    size_t      columns = cr_design_columns(cr_model_get_design(p->model));
    const char *features =
        p->column ? p->column : cri_compose(s, "%zu column%s", columns, columns == 1 ? "" : "s");
    char level[CRI_SVG_LABEL];

    cri_svg_decimal(llround(1e6 * p->level), -4, level);
    p->percent = cri_compose(s, "%s", level);
    p->title = p->table ? cri_compose(s, "%s: %s %s %s (%s row%s)", name, p->target,
                                      p->cut ? "over" : "~", features, rows, s_rows)
                        : cri_compose(s, "%s: %s ~ %s", name, p->target, features);
    if (!p->table)
        p->caption = "The model alone, without data.";
    else if (p->cut)
        p->caption = p->cut;
    else if (p->bounded == 0)
        p->caption = "The model has no intervals: there is no information left for the noise.";
    else
        p->caption = cri_compose(s, "%s %% of the %s; %s %% do.", level,
                                 p->column ? "points should lie in the band"
                                           : "intervals should contain the diagonal",
                                 percent_text(s, p->held, p->bounded));
    p->note = p->cut ? "The rows have other values there, so they need not lie in the band."
              : p->shown == p->kept
                  ? NULL
                  : cri_compose(s, "%s of the %s rows are shown, chosen at random.",
                                count_text(s, p->shown), rows);
    const char *what =
        p->column ? cri_compose(s, "%s against %s with the predictive mean", p->target, p->column)
                  : cri_compose(s, "Observed against predicted %s", p->target);
    p->description =
        cri_compose(s, "%s and the %s %% predictive intervals of the model %s. %s%s%s", what, level,
                    name, p->caption, p->note ? " " : "", p->note ? p->note : "");
}
