/* landscape.c -- a model over the plane of its two columns; its evidence over two
 * hyper-parameters. */
#include "process.h"
#include "grid.h"
#include "models/core/faces.h"
#include "models/core/parts.h"

#include <math.h>
#include <string.h>

enum { HEAT = 48, MOST_POINTS = 2000 };

/* --- mean and sd ----------------------------------------------------------------------------- */

typedef struct plane {
    const char *name[2];
    double      low[2], high[2];
    size_t      n;    /* cells a side           */
    double     *x[2]; /* [n * n] of the columns */
} plane;

static cr_status plane_new(cr_scratch *s, const cr_model *m, const cr_table *t,
                           const cr_plot_options *o, plane *out)
{
    cr_status st = CR_OK;
    size_t    n = cri_grid_numbers(m, out->name, 2);
    if (o->n_over > 0) {
        CR_TRY(cri_grid_over(s->cx, m, o, 2));
        out->name[0] = o->over[0], out->name[1] = o->over[1];
    } else if (n != 2) {
        cr_fail(s->cx, CR_EUNSUPPORTED, "a map needs two numeric columns, but this model has %zu",
                n);
        CR_TRY(n > 2    ? cr_fail_hint(s->cx,
                                       "--over %s,%s draws two of them, with the others held fixed",
                                       out->name[0], out->name[1])
               : n == 1 ? cr_fail_hint(s->cx, "--kind fit draws the model over one column")
                        : CR_EUNSUPPORTED);
    }
    out->n = HEAT;
    for (size_t k = 0; k < 2; k++) {
        CR_TRY(cri_grid_range(s->cx, t, out->name[k], NULL, &out->low[k], &out->high[k]));
        cri_svg_range(&out->low[k], &out->high[k]);
        double more = 0.04 * (out->high[k] - out->low[k]);
        out->low[k] -= more;
        out->high[k] += more;
        out->x[k] = cr_scratch_f64(s, HEAT * HEAT);
    }
    CR_TRY(s->status);
    for (size_t i = 0; i < HEAT * HEAT; i++) {
        out->x[0][i] = cri_cell(out->low[0], out->high[0], i % HEAT, HEAT);
        out->x[1][i] = cri_cell(out->low[1], out->high[1], i / HEAT, HEAT);
    }
done:
    return st;
}

static void range_of(const double *z, size_t n, double *low, double *high)
{
    *low = INFINITY, *high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (isfinite(z[i])) *low = fmin(*low, z[i]), *high = fmax(*high, z[i]);
    cri_svg_range(low, high);
}

/* The rows of the data as points; of very many only some, evenly. */
static cr_status add_points(cr_scratch *s, const cr_table *t, const plane *p, cri_maps *m)
{
    const cr_column *c[2] = { cr_table_find(t, p->name[0]), cr_table_find(t, p->name[1]) };
    size_t           rows = cr_table_rows(t), step = rows / MOST_POINTS + 1;
    double *x = cr_scratch_f64(s, rows / step + 1), *y = cr_scratch_f64(s, rows / step + 1);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows; i += step) {
        x[m->points] = c[0]->values[i * c[0]->stride];
        y[m->points] = c[1]->values[i * c[1]->stride];
        if (isfinite(x[m->points]) && isfinite(y[m->points])) m->points++;
    }
    m->at_x = x;
    m->at_y = y;
    return CR_OK;
}

/* The same by class, where the table has the target: class after class, those behind the sixth
 * together. */
static cr_status add_classes(cr_scratch *s, const cr_model *model, const cr_table *t,
                             const plane *p, const cr_prediction *answer, cri_maps *m)
{
    cr_status        st = CR_OK;
    const cr_column *c[2] = { cr_table_find(t, p->name[0]), cr_table_find(t, p->name[1]) };
    size_t           rows = cr_table_rows(t), step = rows / MOST_POINTS + 1, K = answer->n_classes;
    double          *x = cr_scratch_f64(s, rows), *y = cr_scratch_f64(s, rows),
           *class = cr_scratch_f64(s, rows);

    CR_TRY(s->status);
    CR_TRY(cr_observed(s->cx, model, t, class, NULL));
    for (size_t g = 0; g < K && g < CRI_MAP_GROUPS; g++) {
        size_t        last = g + 1 == CRI_MAP_GROUPS ? K - 1 : g;
        cri_map_group group = { last > g ? "other classes"
                                         : cri_compose(s, "%s", answer->classes[g]),
                                m->points, 0 };
        for (size_t i = 0; i < rows; i += step) {
            x[m->points] = c[0]->values[i * c[0]->stride];
            y[m->points] = c[1]->values[i * c[1]->stride];
            if (!(class[i] >= (double)g && class[i] <= (double)last))
                continue; /* nor where it is missing */
            if (isfinite(x[m->points]) && isfinite(y[m->points])) m->points++;
        }
        group.end = m->points;
        if (group.end > group.begin) m->group[m->groups++] = group;
    }
    m->at_x = x;
    m->at_y = y;
done:
    return st;
}

/* Mean and sd of a number. */
static cr_status map_number(cr_scratch *s, const cr_prediction *answer, const char *target,
                            double level, cri_maps *maps)
{
    cr_status st = CR_OK;
    double   *mean = cr_scratch_f64(s, answer->n), *sd = cr_scratch_f64(s, answer->n);
    CR_TRY(s->status);
    CR_TRY(cr_prediction_intervals(s->cx, answer, level, sd, NULL, NULL));
    memcpy(mean, answer->mean, answer->n * sizeof *mean);
    maps->map[0] = (cri_map){ .title = cri_compose(s, "mean of %s", target), .z = mean };
    maps->map[1] = (cri_map){ .title = "standard deviation of a new row", .z = sd };
    range_of(mean, answer->n, &maps->map[0].low, &maps->map[0].high);
    range_of(sd, answer->n, &maps->map[1].low, &maps->map[1].high);
    maps->caption[0] =
        "Left panel: mean. Right panel: standard deviation, smallest where there are data.";
    maps->text_caption =
        "First the mean, then the standard deviation, smallest where there are data.";
done:
    return st;
}

/* The probability of the second of two classes, or of the likeliest of more, and the entropy in
 * bits. */
static cr_status map_classes(cr_scratch *s, const cr_prediction *answer, const char *target,
                             cri_maps *maps)
{
    size_t  K = answer->n_classes;
    double *likely = cr_scratch_f64(s, answer->n), *entropy = cr_scratch_f64(s, answer->n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < answer->n; i++) {
        const double *p = answer->prob + i * K;
        likely[i] = K == 2 ? p[1] : 0;
        entropy[i] = 0;
        for (size_t k = 0; k < K; k++) {
            if (K > 2) likely[i] = fmax(likely[i], p[k]);
            if (p[k] > 0) entropy[i] -= p[k] * log2(p[k]);
        }
    }
    maps->map[0] = (cri_map){ .title = K == 2 ? cri_compose(s, "probability of %s = %s", target,
                                                            answer->classes[1])
                                              : "largest probability",
                              .z = likely,
                              .low = K > 2 ? 1 / (double)K : 0,
                              .high = 1 };
    maps->map[1] =
        (cri_map){ .title = "entropy in bits", .z = entropy, .high = K > 1 ? log2((double)K) : 1 };
    maps->caption[0] = K == 2 ? "Line: both classes equally likely. Right panel: entropy."
                              : "Left panel: probability of the most probable class. Right panel: "
                                "entropy, largest where classes meet.";
    maps->text_caption =
        K == 2 ? "First the probability, then the entropy, largest where classes meet."
               : "First the probability of the most probable class, then the entropy, largest "
                 "where classes meet.";
    if (K == 2) maps->level[0] = 0.5, maps->levels = 1, maps->level_label = "0.5";
    return s->status;
}

/* --- decisions ------------------------------------------------------------------------------- */

/* By how much the class of a row leads the next one: of pairs the least of its decisions, else the difference. */
static double lead_of(const cr_prediction *p, size_t i)
{
    const double *share = p->prob + i * p->n_classes, *f = p->decision + i * p->n_decisions;
    size_t        K = p->n_classes, best = 0;
    double        least = INFINITY;
    for (size_t k = 1; k < K; k++)
        if (share[k] > share[best]) best = k;
    for (size_t a = 0, pair = 0; p->of_pairs && a < K; a++)
        for (size_t b = a + 1; b < K; b++, pair++)
            if (best == a || best == b) least = fmin(least, best == b ? f[pair] : -f[pair]);
    for (size_t k = 0; !p->of_pairs && k < K; k++)
        if (k != best) least = fmin(least, f[best] - f[k]);
    return fmax(least, 0);
}

/* The decision of two classes, its boundary and margins; of more classes how far one leads. */
static cr_status map_decisions(cr_scratch *s, const cr_prediction *answer, const char *target,
                               cri_maps *maps)
{
    bool    two = answer->n_decisions == 1;
    double *z = cr_scratch_f64(s, answer->n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < answer->n; i++) z[i] = two ? answer->decision[i] : lead_of(answer, i);
    maps->n = 1;
    maps->map[0] = (cri_map){ .title = two ? cri_compose(s, "decision, above 0 for %s = %s", target,
                                                         answer->classes[1])
                                           : "lead of the class over the next",
                              .z = z };
    range_of(z, answer->n, &maps->map[0].low, &maps->map[0].high);
    maps->caption[0] = two ? "Thick line: the boundary. Thin lines: the margins. Support vectors "
                             "are on the margins, between them, or on the wrong side."
                           : "Dark valleys are where classes meet.";
    if (two) {
        maps->level[1] = -1, maps->level[2] = 1, maps->levels = 3;
        maps->level_label = "boundary, margins";
    }
    return s->status;
}

/* The rows of two classes, each apart by whether its decision is beyond the margin. */
static cr_status add_support(cr_scratch *s, const cr_model *model, const cr_table *t,
                             const plane *p, cri_maps *m)
{
    cr_status        st = CR_OK;
    const cr_column *c[2] = { cr_table_find(t, p->name[0]), cr_table_find(t, p->name[1]) };
    size_t           rows = cr_table_rows(t), step = rows / MOST_POINTS + 1;
    double          *x = cr_scratch_f64(s, rows + 1), *y = cr_scratch_f64(s, rows + 1),
           *class = cr_scratch_f64(s, rows);
    cr_prediction answer = { 0 };

    CR_TRY(s->status);
    CR_TRY(cr_observed(s->cx, model, t, class, NULL));
    CR_TRY(cr_predict(s->cx, model, t, &answer));
    for (size_t g = 0; g < 4; g++) {
        size_t        of = g / 2;
        const char   *name = answer.classes[of];
        cri_map_group group = { cri_compose(s, g % 2 ? "%s, within the margin" : "%s", name),
                                m->points, 0 };
        for (size_t i = 0; i < rows; i += step) {
            double side = (class[i] > 0 ? 1 : -1) * answer.decision[i];
            x[m->points] = c[0]->values[i * c[0]->stride];
            y[m->points] = c[1]->values[i * c[1]->stride];
            if (class[i] != (double)of || (side < 1 + 1e-3) != (g % 2 == 1)) continue;
            if (isfinite(x[m->points]) && isfinite(y[m->points])) m->points++;
        }
        group.end = m->points;
        if (group.end > group.begin) m->group[m->groups++] = group;
    }
    m->at_x = x;
    m->at_y = y;
done:
    cr_prediction_free(s->cx, &answer);
    return st;
}

/* The decision of a region and its edge. */
static cr_status map_region(cr_scratch *s, const cr_prediction *answer, cri_maps *maps)
{
    double *z = cr_scratch_f64(s, answer->n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < answer->n; i++) z[i] = answer->vector[i * answer->n_classes];
    maps->n = 1;
    maps->map[0] = (cri_map){ .title = "decision, above 0 within the region", .z = z };
    range_of(z, answer->n, &maps->map[0].low, &maps->map[0].high);
    maps->caption[0] =
        "Line: the edge of the region, on which free support vectors lie; the others "
        "are outside.";
    maps->levels = 1, maps->level_label = "edge";
    return CR_OK;
}

/* The rows of a region, and those outside it. */
static cr_status add_inliers(cr_scratch *s, const cr_model *model, const cr_table *t,
                             const plane *p, cri_maps *m)
{
    static const char *const names[] = { "within", "outside" };
    cr_status                st = CR_OK;
    const cr_column         *c[2] = { cr_table_find(t, p->name[0]), cr_table_find(t, p->name[1]) };
    size_t                   rows = cr_table_rows(t), step = rows / MOST_POINTS + 1;
    double                  *x = cr_scratch_f64(s, rows + 1), *y = cr_scratch_f64(s, rows + 1);
    cr_prediction            answer = { 0 };

    CR_TRY(s->status);
    CR_TRY(cr_predict(s->cx, model, t, &answer));
    for (size_t g = 0; g < 2; g++) {
        cri_map_group group = { names[g], m->points, 0 };
        for (size_t i = 0; i < rows; i += step) {
            x[m->points] = c[0]->values[i * c[0]->stride];
            y[m->points] = c[1]->values[i * c[1]->stride];
            if ((answer.vector[i * answer.n_classes + 1] > 0) != (g == 0)) continue;
            if (isfinite(x[m->points]) && isfinite(y[m->points])) m->points++;
        }
        group.end = m->points;
        if (group.end > group.begin) m->group[m->groups++] = group;
    }
    m->at_x = x, m->at_y = y;
done:
    cr_prediction_free(s->cx, &answer);
    return st;
}

static cr_status map_answer(cr_scratch *s, const cr_prediction *answer, const char *target,
                            double level, cri_maps *maps)
{
    if (answer->kind == CR_ANSWER_NUMBER) return map_number(s, answer, target, level, maps);
    return answer->ranks ? map_decisions(s, answer, target, maps)
                         : map_classes(s, answer, target, maps);
}

cr_status cri_heat_map(cr_scratch *s, const cr_model *m, const cr_table *t,
                       const cr_plot_options *o, cri_maps *out)
{
    cr_status     st = CR_OK;
    plane         p = { 0 };
    cr_table     *grid = NULL;
    cr_prediction answer = { 0 };
    size_t        cells = HEAT * HEAT;
    const char   *target = cr_design_target(cr_model_get_design(m));
    bool          region = cri_model_has_region(m);
    cri_maps      maps = { .rows = HEAT, .cols = HEAT, .n = 2 };

    CR_TRY(s->status);
    CR_TRY(plane_new(s, m, t, o, &p));
    CR_TRY(cri_grid_table(s->cx, t, cells, p.name, (const double *const *)p.x, 2, &grid));
    CR_TRY(cr_predict(s->cx, m, grid, &answer));
    if (!region && ((answer.kind != CR_ANSWER_NUMBER && answer.kind != CR_ANSWER_CLASS) || !target))
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED,
                       "the model %s predicts neither a number nor a class: there is no map of it",
                       cr_class_name(cr_model_get_class(m))));
    CR_TRY(region ? map_region(s, &answer, &maps)
                  : map_answer(s, &answer, target, o->level, &maps));
    maps.x = (cri_svg_axis){ .title = p.name[0], .low = p.low[0], .high = p.high[0] };
    maps.y = (cri_svg_axis){ .title = p.name[1], .low = p.low[1], .high = p.high[1] };
    bool known = answer.kind == CR_ANSWER_CLASS && cr_table_find(t, target);
    CR_TRY(region                                             ? add_inliers(s, m, t, &p, &maps)
           : known && answer.ranks && answer.n_decisions == 1 ? add_support(s, m, t, &p, &maps)
           : known ? add_classes(s, m, t, &p, &answer, &maps)
                   : add_points(s, t, &p, &maps));
    double *marked[2];
    CR_TRY(cri_grid_marked(s, m, p.name, 2, marked, &maps.rings, &maps.ring_label));
    if (maps.rings) maps.ring_x = marked[0], maps.ring_y = marked[1];
    maps.title = cri_compose(s, "%s: %s over %s and %s", cr_class_name(cr_model_get_class(m)),
                             region ? "region" : target, p.name[0], p.name[1]);
    CR_TRY(cri_grid_held(s, m, t, p.name, 2, &maps.caption[1]));
    maps.description = cri_compose(s, "%s. %s", maps.title, maps.caption[0]);
    CR_TRY(s->status);
    *out = maps;
done:
    cr_prediction_free(s->cx, &answer);
    cr_table_free(s->cx, grid);
    return st;
}

/* --- evidence -------------------------------------------------------------------------------- */

static const char *hyper_name(const void *names, size_t i)
{
    return ((const char *const *)names)[i];
}

/* The hyper-parameter called name. */
static cr_status find_hyper(cr_scratch *s, const cr_model *m, const char *name, size_t *which,
                            cr_hyper *out)
{
    cr_status   st = CR_OK;
    const char *names[256];
    size_t      n = 0;
    for (*which = 0;; ++*which) {
        CR_TRY(cr_model_hyper(s->cx, m, *which, out));
        if (!out->name[0]) break;
        if (strcmp(out->name, name) == 0) return CR_OK;
        if (n < 256) names[n++] = cri_compose(s, "%s", out->name);
    }
    cr_fail(s->cx, CR_EARG, "the model has no hyper-parameter '%s'", name);
    cr_fail_nearest(s->cx, name, "hyper-parameters", n, hyper_name, names);
    st = CR_EARG;
done:
    return st;
}

/* The first two that were learned: a length-scale and the noise where there are such. */
static cr_status choose_hypers(cr_scratch *s, const cr_model *m, size_t which[2], cr_hyper h[2])
{
    cr_status st = CR_OK;
    size_t    found = 0, last = SIZE_MAX;
    cr_hyper  one, noise = { 0 };
    for (size_t k = 0;; k++) {
        CR_TRY(cr_model_hyper(s->cx, m, k, &one));
        if (!one.name[0]) break;
        if (!one.positive) continue;
        bool length = strstr(one.name, ".l") != NULL;
        if (strcmp(one.name, "noise") == 0)
            noise = one, last = k;
        else if (length && found == 0)
            which[0] = k, h[0] = one, found = 1;
    }
    for (size_t k = 0; found < 2; k++) {
        if (last != SIZE_MAX && found == 1) {
            which[1] = last, h[1] = noise, found = 2;
            break;
        }
        CR_TRY(cr_model_hyper(s->cx, m, k, &one));
        if (!one.name[0]) break;
        if (!one.positive || (found == 1 && which[0] == k)) continue;
        which[found] = k, h[found++] = one;
    }
    if (found < 2)
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED,
                       "the model has fewer than two positive hyper-parameters"));
done:
    return st;
}

/* How many cells a side: some seconds of work. */
static size_t side_of(size_t rows) { return rows <= 600 ? 26 : rows <= 1500 ? 18 : 12; }

/* Four standard deviations, where they are known, within 1/2 and 3/2 powers of ten. */
static double half_width(const cr_hyper *h)
{
    double sd = 4 * h->log_sd / log(10);
    return isnan(sd) ? 1 : fmin(fmax(sd, 0.5), 1.5);
}

static cr_status evaluate(cr_scratch *s, const cr_model *m, const cr_table *t,
                          const size_t which[2], const cri_maps *maps, double *z)
{
    size_t  n = maps->cols, cells = n * n;
    double *values = cr_scratch_f64(s, 2 * cells);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < cells; i++) {
        values[2 * i] = pow(10, cri_cell(maps->x.low, maps->x.high, i % n, n));
        values[2 * i + 1] = pow(10, cri_cell(maps->y.low, maps->y.high, i / n, n));
    }
    return cr_evidence_at(s->cx, m, t, which, 2, values, cells, z);
}

cr_status cri_evidence_map(cr_scratch *s, const cr_model *m, const cr_table *t,
                           const cr_plot_options *o, cri_maps *out)
{
    static const double drops[] = { 1, 3, 10, 30, 100 };
    cr_status           st = CR_OK;
    cr_hyper            h[2];
    size_t              which[2], n = side_of(cr_table_rows(t));
    double             *z = cr_scratch_f64(s, n * n), best, at[2];
    cri_maps maps = { .rows = n, .cols = n, .n = 1, .log_x = true, .log_y = true, .marked = true };

    CR_TRY(s->status);
    if (!cr_model_shows(m, "evidence"))
        CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED,
                       "the model %s has no evidence over hyper-parameters to draw",
                       cr_class_name(cr_model_get_class(m))));
    if (o->n_parameters != 0 && o->n_parameters != 2)
        CR_TRY(cr_fail(s->cx, CR_EARG, "the evidence is drawn over two hyper-parameters, not %zu",
                       o->n_parameters));
    if (o->n_parameters == 0) CR_TRY(choose_hypers(s, m, which, h));
    for (size_t k = 0; k < o->n_parameters; k++) {
        CR_TRY(find_hyper(s, m, o->parameters[k], &which[k], &h[k]));
        if (!h[k].positive)
            CR_TRY(cr_fail(s->cx, CR_EUNSUPPORTED,
                           "the hyper-parameter '%s' is not a positive number", h[k].name));
    }
    if (which[0] == which[1])
        CR_TRY(cr_fail(s->cx, CR_EARG, "the two hyper-parameters of the figure are the same"));
    for (size_t k = 0; k < 2; k++) {
        double       middle = at[k] = log10(h[k].value), half = half_width(&h[k]);
        cri_svg_axis axis = { .title = cri_compose(s, "%s", h[k].name),
                              .low = middle - half,
                              .high = middle + half };
        *(k == 0 ? &maps.x : &maps.y) = axis;
    }
    CR_TRY(evaluate(s, m, t, which, &maps, z));
    CR_TRY(cr_evidence_at(s->cx, m, t, which, 2, (const double[]){ h[0].value, h[1].value }, 1,
                          &best));
    maps.mark_x = at[0], maps.mark_y = at[1];
    for (size_t i = 0; i < n * n; i++) z[i] -= best;
    maps.map[0] = (cri_map){ .title = "log evidence minus that at the learned values", .z = z };
    range_of(z, n * n, &maps.map[0].low, &maps.map[0].high);
    maps.map[0].low = fmax(maps.map[0].low, -150); /* far down all is alike */
    maps.map[0].high = fmax(maps.map[0].high, 0);
    for (size_t k = 0; k < 5; k++)
        if (-drops[k] > maps.map[0].low) maps.level[maps.levels++] = -drops[k];
    maps.mark_label = "learned";
    maps.level_label = "1, 3, 10, 30, 100 below it";
    maps.title = cri_compose(s, "%s: log evidence over %s and %s",
                             cr_class_name(cr_model_get_class(m)), h[0].name, h[1].name);
    maps.caption[0] = cri_compose(
        s, "At the learned values it is %.6g; all other hyper-parameters are held fixed.", best);
    maps.description = cri_compose(s, "%s. %s", maps.title, maps.caption[0]);
    CR_TRY(s->status);
    *out = maps;
done:
    return st;
}
