/* toy_axes.c -- a toy model of coordinates: sum and spread of the columns of a row, centred. */
#include "models/core/class.h"

#include <math.h>
#include <string.h>

#define TOY_OPTIONS(X) X(flag, centre, "true", "", "take the mean off first", "false")
CR_OPTIONS_STRUCT(toy_options, TOY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(toy_options, __VA_ARGS__)
static const cr_option toy_table[] = { TOY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(real, mean, (), "", "of the mean of a row")                                             \
    MEMBER(real, variance, (), ">=0", "of the same")
CRI_RECORD(toy_state, TOY_STATE);
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

/* Mean and sd over the columns of a row. */
static void measure(const double *x, size_t p, double *mean, double *sd)
{
    double sum = 0, square = 0;
    for (size_t j = 0; j < p; j++) sum += x[j];
    *mean = sum / (double)p;
    for (size_t j = 0; j < p; j++) square += (x[j] - *mean) * (x[j] - *mean);
    *sd = sqrt(square / (double)p);
}

static cr_status toy_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    const toy_options *o = options;
    toy_state         *m = cr_alloc(cx, 1, sizeof *m);
    double            *x = cr_alloc(cx, rows->p, sizeof *x), total = 0, mean, sd, squares = 0;
    (void)seed;
    if (!m || !x) {
        cr_free(cx, m, 1, sizeof *m);
        return CR_ENOMEM;
    }
    for (size_t i = 0; o->centre && i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        measure(x, rows->p, &mean, &sd);
        total += w;
        if (!(w > 0)) continue;
        double before = mean - m->mean;
        m->mean += w / total * before;
        squares += w * before * (mean - m->mean);
    }
    m->variance = total > 0 ? squares / total : 0;
    cr_free(cx, x, rows->p, sizeof *x);
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    return CR_OK;
}

static const char *const names[] = { "level", "spread" };

static const char *const *toy_labels(const void *state, size_t *out_n)
{
    (void)state;
    *out_n = 2;
    return names;
}

static cr_status toy_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    const toy_state *m = state;
    double          *x = cr_alloc(cx, rows->p, sizeof *x);
    if (!x) return CR_ENOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        measure(x, rows->p, &out->vector[2 * i], &out->vector[2 * i + 1]);
        out->vector[2 * i] -= m->mean;
    }
    cr_free(cx, x, rows->p, sizeof *x);
    return CR_OK;
}

static const cr_field toy_statistics[] = {
    CR_NUMBER("mean", CR_FIELD_NULL, "mean of all columns"),
    CR_NUMBER("variance(COORDINATE)", CR_FIELD_SOMETIMES, "of the level"),
    CR_FIELD_LAST,
};

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const toy_state *m = state;
    cri_sheet       *list = cri_put_list(out, "parameters");
    (void)cx;
    (void)design;
    (void)list;
    cri_sheet *statistics = cri_put_object(out, "statistics");
    cri_put_real(statistics, "mean", m->mean);
    cri_put_real(statistics, "variance(level)", m->variance);
    return CR_OK;
}

extern const cr_model_class cri_class_toy_axes;
const cr_model_class        cri_class_toy_axes = {
           .name = "toy-axes",
           .summary = "mean and spread over the columns of a row",
           .formulas = "level = mean_j x_j - m,  spread = sd_j x_j",
           .reference = "Gauss (1809), Theoria motus",
           .tasks = CR_TASK_TRANSFORM,
           .options = toy_table,
           .options_size = sizeof(toy_options),
           .default_scale = CR_SCALE_NONE,
           .whole = &(const cri_whole_face){ .fit = toy_fit },
           .rows = &(const cri_rows_face){ .predict = toy_predict, .labels = toy_labels },
           .describe = toy_describe,
           .statistics = toy_statistics,
           .state = toy_record,
           .state_size = sizeof(toy_state),
};
