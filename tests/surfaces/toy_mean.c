/* toy_mean.c -- a model with nothing but its descriptor: to see that one declaration reaches every
 * surface.  y ~ N(m, s^2), whatever the features; m and s^2 are the sample's, weighted. */
#include "models/core/class.h"

#include <math.h>

#define TOY_OPTIONS(X)                                                                             \
    X(real, widen, "1", ">0", "factor on the predictive standard deviation", "2")                  \
    X(choice, about, "mean", "mean|zero", "where the predictions are centred", "zero")             \
    X(flag, noise, "true", "", "add the noise to predictions", "false")
enum { ABOUT_MEAN, ABOUT_ZERO };
CR_OPTIONS_STRUCT(toy_options, TOY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(toy_options, __VA_ARGS__)
static const cr_option toy_table[] = { TOY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(real, mean, (), "", "of the target")                                                    \
    MEMBER(real, sd, (), ">=0", "likewise")                                                        \
    MEMBER(real, n, (), ">0", "weight of the rows")
CRI_RECORD(toy_state, TOY_STATE);
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static cr_status toy_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    const toy_options *o = options;
    toy_state         *m = cr_alloc(cx, 1, sizeof *m);
    double             square = 0;
    (void)seed;
    if (!m) return CR_ENOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, d = rows->y[i] - m->mean;
        if (w == 0) continue;
        m->n += w;
        m->mean += w / m->n * d;
        square += w * d * (rows->y[i] - m->mean);
    }
    m->sd = o->noise ? o->widen * sqrt(square / m->n) : 0;
    if (o->about == ABOUT_ZERO) m->mean = 0;
    report->stop = CR_STOP_CLOSED_FORM;
    *out_state = m;
    return CR_OK;
}

static cr_status toy_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    const toy_state *m = state;
    (void)cx;
    for (size_t i = 0; i < rows->n; i++) {
        out->mean[i] = m->mean;
        out->scale[i] = m->sd;
        out->dof[i] = INFINITY;
        out->leverage[i] = 1 / m->n;
    }
    return CR_OK;
}

static const cr_field toy_statistics[] = {
    CR_NUMBER("sd", CR_FIELD_NULL, "standard deviation of the target"), CR_FIELD_LAST
};

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const toy_state *m = state;
    cri_sheet       *list = cri_put_list(out, "parameters");
    (void)cx;
    (void)design;
    cri_parameter_add(list, m->mean, m->sd / sqrt(m->n), "mean");
    cri_put_real(cri_put_object(out, "statistics"), "sd", m->sd);
    return CR_OK;
}

extern const cr_model_class cri_class_toy_mean;
const cr_model_class        cri_class_toy_mean = {
           .name = "toy-mean",
           .summary = "the mean of the target for every row",
           .formulas = "y ~ N(m, s^2),  m and s^2 from the sample",
           .reference = "Gauss (1809), Theoria motus",
           .tasks = CR_TASK_REGRESSION,
           .options = toy_table,
           .options_size = sizeof(toy_options),
           .default_scale = CR_SCALE_NONE,
           .whole = &(const cri_whole_face){ .fit = toy_fit },
           .rows = &(const cri_rows_face){ .predict = toy_predict, .has_leverage = true },
           .describe = toy_describe,
           .statistics = toy_statistics,
           .state = toy_record,
           .state_size = sizeof(toy_state),
};
