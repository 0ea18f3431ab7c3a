/* chart_criterion.c -- the criterion by which a model was chosen among candidates: a line for each form over the number
 * of components, from the model alone. */
#include "latent.h"
#include "models/core/faces.h"

#include <math.h>
#include <string.h>

enum { MOST_FORMS = 20, COLOURED = 5 };

static const char glyphs[] = "*o+x#@vwzasdfghjklqy";

/* One form: its candidates are at[0 .. n), in the order of their numbers. */
typedef struct form {
    const char *name;
    double     *x, *y; /* [n]; y NaN where there is no value */
    size_t      n;
    double
        best; /* the value that is the best, with the sign that makes lower better; infinite: none */
} form;

typedef struct drawn {
    cri_choice    choice;
    form          form[MOST_FORMS];
    size_t        forms, without; /* candidates that have no value */
    cri_candidate chosen;
} drawn;

bool cri_model_chose(const cr_model *model)
{
    const void            *state;
    const cri_choice_face *face = cri_model_choice(model, &state);
    cri_choice             choice = { 0 };
    if (face) face->choice(state, &choice);
    return choice.n > 1;
}

static cr_status fail_none(cr_ctx *cx, const cr_model *model)
{
    const void            *state;
    const cri_choice_face *face = cri_model_choice(model, &state);
    const char            *name = cr_class_name(cr_model_get_class(model));
    cri_choice             choice;
    if (!face)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "the model %s is not chosen among candidates by a criterion", name);
    face->choice(state, &choice);
    cr_fail(cx, CR_EUNSUPPORTED,
            "this %s model was not chosen among candidates: nothing to compare", name);
    return cr_fail_hint(cx, "credence fit %s DATA %s tries several numbers of %s", name, choice.how,
                        choice.of);
}

/* The place of a form among those seen so far; MOST_FORMS when there are too many. */
static size_t find_form(cr_scratch *s, drawn *d, const char *opt_name)
{
    const char *name = opt_name ? opt_name : d->choice.by;
    size_t      k = 0;
    while (k < d->forms && strcmp(d->form[k].name, name) != 0) k++;
    if (k < d->forms || k == MOST_FORMS) return k;
    d->form[d->forms++] = (form){ .name = name,
                                  .x = cr_scratch_f64(s, d->choice.n),
                                  .y = cr_scratch_f64(s, d->choice.n),
                                  .best = INFINITY };
    return k;
}

static cr_status gather(cr_scratch *s, const cr_model *model, drawn *d)
{
    cr_status              st = CR_OK;
    const void            *state;
    const cri_choice_face *face = cri_model_choice(model, &state);
    bool                   any = false;
    face->choice(state, &d->choice);
    for (size_t i = 0; i < d->choice.n; i++) {
        cri_candidate c;
        face->candidate(state, i, &c);
        size_t k = find_form(s, d, c.form);
        CR_TRY(s->status);
        if (k == MOST_FORMS) continue;
        form *f = &d->form[k];
        f->x[f->n] = (double)c.number, f->y[f->n++] = c.value;
        if (isnan(c.value)) d->without++;
        if (c.chosen) d->chosen = c;
        any |= !isnan(c.value);
        f->best = fmin(f->best, isnan(c.value) ? INFINITY : d->choice.lower ? c.value : -c.value);
    }
    if (!any)
        CR_TRY(cr_fail(s->cx, CR_EDATA, "none of the %zu candidates has a value of the %s",
                       d->choice.n, d->choice.by));
done:
    return st;
}

/* The best first; of equal ones in the order of the model. */
static void sort_forms(drawn *d)
{
    for (size_t i = 1; i < d->forms; i++)
        for (size_t k = i; k > 0 && d->form[k].best < d->form[k - 1].best; k--) {
            form swap = d->form[k];
            d->form[k] = d->form[k - 1], d->form[k - 1] = swap;
        }
}

static const char *colour_of(size_t rank)
{
    return rank < COLOURED ? cri_svg_class_colour(rank) : cri_svg_class_colour(CRI_SVG_CLASSES);
}

static void add_form(cr_scratch *s, const form *f, size_t rank, bool only, cri_chart *chart,
                     cri_svg_note *note)
{
    size_t last = f->n;
    bool   coloured = rank < COLOURED;
    while (last > 0 && isnan(f->y[last - 1])) last--;
    if (last == 0) return;
    cri_svg_series line = { only ? f->name : cri_compose(s, "form %s", f->name),
                            CRI_SVG_LINE,
                            colour_of(rank),
                            1,
                            rank == 0  ? 2.4
                            : coloured ? 1.6
                                       : 1,
                            false };
    cri_svg_series dots = { NULL, CRI_SVG_POINTS, line.colour, 1, coloured ? 3 : 2, false };
    cri_chart_add_quiet(chart, line, glyphs[rank], f->x, f->y, NULL, f->n);
    cri_chart_add_quiet(chart, dots, glyphs[rank], f->x, f->y, NULL, f->n);
    if (only) return;
    *note = (cri_svg_note){ f->x[last - 1], f->y[last - 1], f->name, line.colour, CRI_SVG_BESIDE };
    chart->n_notes++;
}

static cr_status mark_chosen(cr_scratch *s, const drawn *d, cri_chart *chart)
{
    cr_status   st = CR_OK;
    double     *at = cr_scratch_f64(s, 2);
    const char *of = d->choice.of, *name = d->chosen.form;
    CR_TRY(s->status);
    at[0] = (double)d->chosen.number, at[1] = d->chosen.value;
    if (!d->chosen.chosen) return CR_OK;
    const char *label = name && d->forms > 1
                            ? cri_compose(s, "chosen: %s with %zu %s", name, d->chosen.number, of)
                            : cri_compose(s, "chosen: %zu %s", d->chosen.number, of);
    cri_chart_add(chart, (cri_svg_series){ NULL, CRI_SVG_POINTS, "#ffffff", 1, 7.5, false }, 'X',
                  at, at + 1, NULL, 1);
    cri_chart_add(chart, (cri_svg_series){ label, CRI_SVG_POINTS, CRI_SVG_BLACK, 1, 5.5, false },
                  'X', at, at + 1, NULL, 1);
done:
    return st;
}

/* Ends the axis where all of the coloured forms and the best of each other are still seen; false: that is everywhere. */
static bool cut_axis(const drawn *d, cri_chart *chart)
{
    double sign = d->choice.lower ? 1 : -1, worst = -INFINITY, all = -INFINITY, best = INFINITY;
    for (size_t k = 0; k < d->forms; k++)
        for (size_t i = 0; i < d->form[k].n; i++) {
            double value = sign * d->form[k].y[i]; /* lower is better */
            if (isnan(value)) continue;
            best = fmin(best, value), all = fmax(all, value);
            if (k < COLOURED || value == d->form[k].best) worst = fmax(worst, value);
        }
    if (!(all - worst > 0.25 * (worst - best))) return false;
    double end = worst + 0.08 * (worst - best);
    if (sign > 0)
        chart->y.high = end, chart->y.low = best - 0.04 * (end - best);
    else
        chart->y.low = -end, chart->y.high = -best + 0.04 * (end - best);
    return true;
}

cr_status cri_chart_criterion(cr_scratch *s, const cr_model *model, cri_chart *chart)
{
    cr_status     st = CR_OK;
    drawn        *d = cr_scratch_bytes(s, 1, sizeof *d);
    cri_svg_note *notes = cr_scratch_bytes(s, MOST_FORMS, sizeof *notes);
    const char   *name = cr_class_name(cr_model_get_class(model));

    CR_TRY(s->status);
    if (!cri_model_chose(model)) CR_TRY(fail_none(s->cx, model));
    CR_TRY(gather(s, model, d));
    sort_forms(d);
    const char *of = d->choice.of, *what = d->choice.by;
    *chart = (cri_chart){ .x = { .title = cri_compose(s, "number of %s", of) },
                          .y = { .title = cri_compose(s, "%s (%s is better)", what,
                                                      d->choice.lower ? "lower" : "higher") },
                          .notes = notes,
                          .whole = true };
    for (size_t k = d->forms; k-- > 0;) /* the best on top; its name chooses its place first */
        if (d->form[k].best < INFINITY)
            add_form(s, &d->form[k], k, d->forms == 1, chart, &notes[chart->n_notes]);
    for (size_t i = 0, n = chart->n_notes; i < n / 2; i++) {
        cri_svg_note swap = notes[i];
        notes[i] = notes[n - 1 - i], notes[n - 1 - i] = swap;
    }
    CR_TRY(mark_chosen(s, d, chart));
    cri_chart_fit_axes(chart);
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < d->forms; k++) {
        low = fmin(low, d->form[k].x[0]);
        high = fmax(high, d->form[k].x[d->form[k].n - 1]);
    }
    chart->x.low = low - 0.5;
    chart->x.high = high + 0.5 + (chart->n_notes ? 0.06 * (high - low + 1) : 0);
    bool cut = cut_axis(d, chart);
    if (d->forms > 1)
        chart->caption[0] = cri_compose(s, "A line for each form of the covariances%s%s.",
                                        d->forms > COLOURED ? "; the best five in colour" : "",
                                        cut ? "; what is much worse is cut off" : "");
    if (d->without)
        chart->caption[d->forms > 1] = cri_compose(s, "%zu of %zu candidates left out: %s.",
                                                   d->without, d->choice.n, d->choice.no_value);
    const char *range =
        low < high ? cri_compose(s, "%g to %g", low, high) : cri_compose(s, "%g", low);
    chart->title = d->forms > 1 ? cri_compose(s, "%s: %s for %s %s, %zu forms", name, what, range,
                                              of, d->forms)
                                : cri_compose(s, "%s: %s for %s %s", name, what, range, of);
    chart->description = cri_compose(s, "%s.", chart->title);
    CR_TRY(s->status);
done:
    return st;
}
