/* prediction_columns.c -- the columns in which a prediction is shown. */
#include "../render/answers.h"
#include "models/core/decide.h"
#include "prob/dist/dist.h"
#include "prob/dist/transformed_t.h"

#include <math.h>
#include <string.h>

/* Parameters of a distribution that is not Student's, for programs. */
static void add_family(const cr_prediction *p, answers *a)
{
    for (size_t k = 0; k < p->n_params; k++) {
        const cr_dist_param *param = cr_dist_parameter(p->family, k);
        if (!param || param->shape != CR_SHAPE_SCALAR) break;
        answer_column *column = answers_add(a, NULL, param->name);
        column->group = "parameters";
        column->x = p->params + k, column->stride = p->n_params;
    }
}

/* Of a transformed target, whose distribution is skew. */
static cr_status add_medians(cli *c, cr_scratch *s, const cr_prediction *p, const double *upper,
                             answers *a)
{
    cr_status st = CR_OK;
    double   *median = cr_scratch_f64(s, p->n);
    CR_TRY(s->status);
    for (size_t i = 0; i < p->n; i++) {
        const double *params = p->params + i * p->n_params;
        median[i] = p->mean[i]; /* of a row without a distribution, or left out */
        if (!isnan(p->mean[i]) && !isnan(params[0]))
            CR_TRY(cr_dist_quantile(c->cx, p->family, params, p->n_params, 0.5, &median[i]));
    }
    answers_add(a, "median", "median")->x = median;
    for (size_t i = 0; i < p->n; i++)
        if (p->mean[i] > upper[i]) {
            cr_log(c->cx, CR_LOG_WARNING,
                   "some means lie above their own interval: after --transform-target the "
                   "distribution of a row far "
                   "from the data is skew, with a long upper tail, and its median is the better "
                   "guess");
            break;
        }
done:
    return st;
}

static cr_status add_numbers(cli *c, cr_scratch *s, const cr_prediction *p, double interval,
                             bool leverage, answers *a)
{
    cr_status st = CR_OK;
    double   *sd = cr_scratch_f64(s, p->n), *lower = cr_scratch_f64(s, p->n);
    double   *upper = cr_scratch_f64(s, p->n);
    CR_TRY(s->status);
    answers_add(a, "mean", "mean")->x = p->mean;
    if (!p->scale) goto done; /* the mean alone */
    CR_TRY(cr_prediction_intervals(c->cx, p, interval, sd, lower, upper));
    answers_add(a, "sd", "sd")->x = sd;
    answers_add(a, "lower", "lower")->x = lower;
    answers_add(a, "upper", "upper")->x = upper;
    if (cri_dist_is_transformed(p->family)) CR_TRY(add_medians(c, s, p, upper, a));
    if (leverage) answers_add(a, "leverage", "leverage")->x = p->leverage;
    if (p->family)
        add_family(p, a);
    else
        answers_add(a, NULL, "dof")->x = p->dof;
done:
    return st;
}

void answers_add_decisions(cr_scratch *s, const cr_prediction *p, answers *a)
{
    if (p->n_decisions == 1) answers_add(a, "decision", "decision")->x = p->decision;
    for (size_t k = 0; p->n_decisions > 1 && k < p->n_decisions; k++) {
        answer_column *column =
            answers_add(a, answers_name(s, "decision_", p->decisions[k]), p->decisions[k]);
        column->group = "decisions";
        column->x = p->decision + k, column->stride = p->n_decisions;
    }
}

/* The most probable class of each row, or cluster, and the probability of each. */
static cr_status add_classes(cli *c, cr_scratch *s, const cr_model *m, const cr_prediction *p,
                             answers *a)
{
    cr_status    st = CR_OK;
    cr_decisions best = { 0 };
    const char  *word = cr_model_get_task(m) != CR_TASK_CLUSTER               ? "label"
                        : cr_class_offers(cr_model_get_class(m), "sequences") ? "state"
                                                                              : "cluster";
    double      *label = cr_scratch_f64(s, p->n);
    CR_TRY(s->status);
    CR_TRY(cr_decide(c->cx, p, &(cr_loss){ .kind = CR_LOSS_ZERO_ONE }, &best));
    if (p->n > 0) memcpy(label, best.action, p->n * sizeof *label);
    answer_column *column = answers_add(a, word, word);
    column->x = label, column->names = p->classes, column->n_names = p->n_classes;
    if (p->ranks) answers_add_decisions(s, p, a);
    for (size_t k = 0; k < p->n_classes && !p->ranks; k++) {
        column = answers_add(a, answers_name(s, "p_", p->classes[k]), p->classes[k]);
        column->group = "p";
        column->x = p->prob + k, column->stride = p->n_classes;
    }
done:
    cr_decisions_free(c->cx, &best);
    return st;
}

/* The nearest cluster of each row, and the distance to each. */
static cr_status add_distances(cr_scratch *s, const cr_prediction *p, answers *a)
{
    double *nearest = cr_scratch_f64(s, p->n);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < p->n; i++) {
        const double *distance = p->vector + i * p->n_classes;
        size_t        best = 0;
        for (size_t k = 1; k < p->n_classes; k++)
            if (distance[k] < distance[best]) best = k;
        nearest[i] = isnan(distance[best]) ? NAN : (double)best; /* of a row left out: none */
    }
    answer_column *column = answers_add(a, "cluster", "cluster");
    column->x = nearest, column->names = p->classes, column->n_names = p->n_classes;
    for (size_t k = 0; k < p->n_classes; k++) {
        column = answers_add(a, answers_name(s, "distance_", p->classes[k]), p->classes[k]);
        column->group = "distances";
        column->x = p->vector + k, column->stride = p->n_classes;
    }
    return s->status;
}

void answers_add_coordinates(answers *a, const char *const *names, size_t n, const double *Z)
{
    for (size_t k = 0; k < n; k++) {
        answer_column *column = answers_add(a, names[k], names[k]);
        column->group = "coordinates";
        column->x = Z + k, column->stride = n;
    }
}

cr_status answers_add_prediction(cli *c, cr_scratch *s, const cr_model *m, const cr_prediction *p,
                                 double interval, bool leverage, answers *a)
{
    cr_status st = CR_OK;
    if (p->kind == CR_ANSWER_NUMBER) CR_TRY(add_numbers(c, s, p, interval, leverage, a));
    if (p->kind == CR_ANSWER_CLASS) CR_TRY(add_classes(c, s, m, p, a));
    if (p->kind == CR_ANSWER_DISTANCE) CR_TRY(add_distances(s, p, a));
    if (p->kind == CR_ANSWER_VECTOR)
        answers_add_coordinates(a, p->classes, p->n_classes, p->vector);
    if (p->log_density) answers_add(a, "log_density", "log_density")->x = p->log_density;
done:
    return st;
}
