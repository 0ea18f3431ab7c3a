/* toy_walk.c -- a model of sequences with nothing but its descriptor: a Gaussian random walk.
 *   y_0 ~ N(a, b^2),   y_t - y_(t-1) ~ N(m, s^2)   within each sequence
 * a, b and m, s are those of the sample; so y_t ~ N(a + m t, b^2 + s^2 t), t its place. */
#include "models/core/class.h"

#include <math.h>

#define WALK_OPTIONS(X)                                                                            \
    X(real, widen, "1", ">0", "factor on the predictive standard deviation", "2")
CR_OPTIONS_STRUCT(walk_options, WALK_OPTIONS);
#define ROW(...) CR_OPTION_ROW(walk_options, __VA_ARGS__)
static const cr_option walk_table[] = { WALK_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

#define WALK_STATE(MEMBER)                                                                         \
    MEMBER(real, first, (), "", "mean of the first values")                                        \
    MEMBER(real, first_variance, (), ">=0", "their variance")                                      \
    MEMBER(real, step, (), "", "mean of the increments")                                           \
    MEMBER(real, step_variance, (), ">=0", "their variance")                                       \
    MEMBER(real, sequences, (), ">0", "how many there were")
CRI_RECORD(walk_state, WALK_STATE);
#define CRI_TYPE walk_state
static const cri_member walk_record[] = { WALK_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* Running mean and sum of squares about it. */
typedef struct moments {
    double n, mean, square;
} moments;

static void add(moments *m, double x)
{
    if (isnan(x)) return; /* a gap */
    double d = x - m->mean;
    m->mean += d / ++m->n;
    m->square += d * (x - m->mean);
}

static double variance(const moments *m) { return m->n > 0 ? m->square / m->n : 0; }

static cr_status walk_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    const walk_options  *o = options;
    const cri_sequences *s = rows->sequences;
    moments              first = { 0 }, step = { 0 };
    walk_state          *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;
    if (!m) return CR_ENOMEM;
    for (size_t k = 0; k < s->n; k++) {
        add(&first, rows->y[s->row[s->start[k]]]);
        for (size_t i = s->start[k] + 1; i < s->start[k + 1]; i++)
            add(&step, rows->y[s->row[i]] - rows->y[s->row[i - 1]]);
    }
    *m = (walk_state){ .first = first.mean,
                       .first_variance = o->widen * o->widen * variance(&first),
                       .step = step.mean,
                       .step_variance = o->widen * o->widen * variance(&step),
                       .sequences = (double)s->n };
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    return CR_OK;
}

static cr_status walk_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                              cr_prediction *out)
{
    const walk_state    *m = state;
    const cri_sequences *s = rows->sequences;
    (void)cx;
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = s->start[k]; i < s->start[k + 1]; i++) {
            size_t row = s->row[i];
            double t = (double)(i - s->start[k]);
            out->mean[row] = m->first + m->step * t;
            out->scale[row] = sqrt(m->first_variance + m->step_variance * t);
            out->dof[row] = INFINITY;
        }
    return CR_OK;
}

/* --- sequences -------------------------------------------------------------------------------- */

/* A place: the rows seen, those since the last value, that value. */
enum { SEEN, SINCE, LAST, WIDTH };

static size_t walk_width(const void *state)
{
    (void)state;
    return WIDTH;
}

/* The next value behind a place. */
static void next(const walk_state *m, const double *place, double *mean, double *scale)
{
    bool   known = place[SEEN] > place[SINCE];
    double t = known ? place[SINCE] + 1 : place[SEEN];
    *mean = (known ? place[LAST] : m->first) + m->step * t;
    *scale = sqrt((known ? 0 : m->first_variance) + m->step_variance * t);
}

static cr_status walk_filter(cr_ctx *cx, const void *state, const cri_rows *rows, double *places,
                             cr_prediction *out)
{
    const cri_sequences *s = rows->sequences;
    (void)cx;
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = s->start[k]; i < s->start[k + 1]; i++) {
            size_t  row = s->row[i];
            double *place = places + k * WIDTH;
            next(state, place, &out->mean[row], &out->scale[row]);
            out->dof[row] = INFINITY;
            place[SEEN]++, place[SINCE]++;
            if (rows->y && !isnan(rows->y[row])) place[SINCE] = 0, place[LAST] = rows->y[row];
        }
    return CR_OK;
}

static cr_status walk_forecast(cr_ctx *cx, const void *state, const cr_design *design,
                               const double *places, size_t n, size_t ahead, cr_prediction *out)
{
    (void)cx;
    (void)design;
    for (size_t k = 0; k < n; k++) {
        double place[WIDTH] = { places[k * WIDTH], places[k * WIDTH + 1], places[k * WIDTH + 2] };
        for (size_t h = 0; h < ahead; h++) {
            next(state, place, &out->mean[k * ahead + h], &out->scale[k * ahead + h]);
            out->dof[k * ahead + h] = INFINITY;
            place[SEEN]++, place[SINCE]++;
        }
    }
    return CR_OK;
}

/* It keeps no ends: the first rows of a new sequence. */
static void walk_ends(const void *state, size_t *out_n, const double **out_places,
                      const char *const **out_names)
{
    static const double begin[WIDTH];
    (void)state;
    *out_n = 1, *out_places = begin, *out_names = NULL;
}

static const cri_sequence_face walk_sequence = { .series = true,
                                                 .width = walk_width,
                                                 .filter = walk_filter,
                                                 .forecast = walk_forecast,
                                                 .ends = walk_ends };

static const cr_field walk_statistics[] = {
    CR_NUMBER("sequences", CR_FIELD_NULL, "how many there were"), CR_FIELD_LAST
};

static cr_status walk_describe(cr_ctx *cx, const void *state, const cr_design *design,
                               cri_sheet *out)
{
    const walk_state *m = state;
    cri_sheet        *list = cri_put_list(out, "parameters");
    (void)cx;
    (void)design;
    cri_parameter_add(list, m->first, sqrt(m->first_variance), "first");
    cri_parameter_add(list, m->step, sqrt(m->step_variance), "step");
    cri_put_real(cri_put_object(out, "statistics"), "sequences", m->sequences);
    return CR_OK;
}

extern const cr_model_class cri_class_toy_walk;
const cr_model_class        cri_class_toy_walk = {
           .name = "toy-walk",
           .summary = "a random walk within each sequence",
           .formulas = "y_0 ~ N(a, b^2),  y_t - y_(t-1) ~ N(m, s^2)",
           .reference = "Pearson (1905), The problem of the random walk",
           .tasks = CR_TASK_REGRESSION,
           .options = walk_table,
           .options_size = sizeof(walk_options),
           .default_scale = CR_SCALE_NONE,
           .sequences = true,
           .whole = &(const cri_whole_face){ .fit = walk_fit },
           .rows = &(const cri_rows_face){ .predict = walk_predict },
           .sequence = &walk_sequence,
           .describe = walk_describe,
           .statistics = walk_statistics,
           .state = walk_record,
           .state_size = sizeof(walk_state),
};
