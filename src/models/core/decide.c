/* decide.c -- Bayes actions: the least expected loss under each predictive distribution. */
#include "decide.h"
#include "base/number.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"
#include "prob/dist/tail_integral.h"

#include <math.h>
#include <string.h>

typedef struct decision {
    double action, loss;
} decision;

/* --- Student's t and the normal: closed forms, for centre 0 and scale 1 ---------------------- */

/* E (a - T)+ (1 - q) + E (T - a)+ q at the q-quantile a:  (nu + a^2) / (nu - 1) f(a). */
static double pinball_of_t(double a, double dof)
{
    if (!(dof > 1)) return INFINITY;
    double share = isinf(dof) ? 1 : (dof + a * a) / (dof - 1);
    return share * exp(isinf(dof) ? cr_norm_logpdf(a) : cr_student_t_logpdf(a, dof));
}

/* The action for centre 0 and scale 1, and its loss.  Squared loss grows with the square of the
 * scale, 0-1 loss not at all. */
static decision decide_standard(const cr_loss *loss, double dof)
{
    switch (loss->kind) {
    case CR_LOSS_SQUARED:
        return (decision){ dof > 1 ? 0 : (double)NAN, isinf(dof) ? 1
                                                      : dof > 2  ? dof / (dof - 2)
                                                                 : (double)INFINITY };
    case CR_LOSS_ABSOLUTE:
        return (decision){ 0, 2 * pinball_of_t(0, dof) };
    case CR_LOSS_QUANTILE: {
        double a = cr_student_t_ppf(loss->quantile, dof);
        return (decision){ a, pinball_of_t(a, dof) };
    }
    default:
        return (decision){ 0, 1 };
    }
}

static decision decide_t(const cr_loss *loss, decision standard, double mean, double scale)
{
    if (scale == 0) return (decision){ mean, 0 }; /* known without doubt */
    decision d = { mean + scale * standard.action, standard.loss };
    if (loss->kind != CR_LOSS_ZERO_ONE) d.loss *= scale;
    if (loss->kind == CR_LOSS_SQUARED) d.loss *= scale;
    return d;
}

/* --- other distributions --------------------------------------------------------------------- */

static cr_status decide_quantile(cr_ctx *cx, const cr_dist_class *c, cri_par p, double q,
                                 double factor, decision *out)
{
    cr_status st = CR_OK;
    double    a, below, above;
    CR_TRY(cr_dist_quantile(cx, c, p.v, p.n, q, &a));
    CR_TRY(cr_dist_partial_means(cx, c, p.v, p.n, a, &below, &above));
    *out = (decision){ a, factor * (q * above + (1 - q) * below) };
done:
    return st;
}

static double moment(double (*f)(cri_par p), cri_par p) { return f ? f(p) : (double)NAN; }

static cr_status decide_family(cr_ctx *cx, const cr_loss *loss, const cr_dist_class *c, cri_par p,
                               decision *out)
{
    double x, loss_there;
    switch (loss->kind) {
    case CR_LOSS_ABSOLUTE:
        return decide_quantile(cx, c, p, 0.5, 2, out);
    case CR_LOSS_QUANTILE:
        return decide_quantile(cx, c, p, loss->quantile, 1, out);
    case CR_LOSS_SQUARED:
        x = moment(c->mean, p), loss_there = moment(c->variance, p);
        *out = (decision){ isfinite(x) ? x : (double)NAN,
                           isnan(loss_there) ? (double)INFINITY : loss_there };
        return CR_OK;
    default:
        x = moment(c->mode, p);
        *out = (decision){ x, c->discrete && !isnan(x) ? -expm1(cri_dist_logpdf(c, p, x)) : 1 };
        return CR_OK;
    }
}

/* --- matrices -------------------------------------------------------------------------------- */

/* The action whose expected loss under prob [n_outcomes] is least. */
static decision decide_matrix(const cr_loss *l, const double *prob)
{
    decision best = { NAN, INFINITY };
    for (size_t a = 0; a < l->n_actions; a++) {
        double sum = 0;
        for (size_t k = 0; k < l->n_outcomes; k++) sum += prob[k] * l->loss[a * l->n_outcomes + k];
        if (sum < best.loss) best = (decision){ (double)a, sum };
    }
    return best;
}

static const char *outcome_name(const void *loss, size_t k)
{
    return ((const cr_loss *)loss)->outcomes[k];
}

static const char *class_name(const void *prediction, size_t k)
{
    return ((const cr_prediction *)prediction)->classes[k];
}

/* place[k] = the class of outcome k: each class stands there once. */
static cr_status match_classes(cr_ctx *cx, const cr_prediction *p, const cr_loss *l, size_t *place)
{
    for (size_t k = 0; k < l->n_outcomes; k++) {
        place[k] = 0;
        while (place[k] < p->n_classes && strcmp(p->classes[place[k]], l->outcomes[k]) != 0)
            place[k]++;
        if (place[k] < p->n_classes) continue;
        cr_fail(cx, CR_EARG,
                "the matrix of losses has a column '%s', which is not a class of the model",
                l->outcomes[k]);
        return cr_fail_nearest(cx, l->outcomes[k], "classes", p->n_classes, class_name, p);
    }
    for (size_t c = 0; c < p->n_classes; c++) {
        bool there = false;
        for (size_t k = 0; k < l->n_outcomes; k++) there |= place[k] == c;
        if (there) continue;
        cr_fail(cx, CR_EARG, "the matrix of losses has no column for the class '%s'",
                p->classes[c]);
        return cr_fail_nearest(cx, p->classes[c], "columns", l->n_outcomes, outcome_name, l);
    }
    return CR_OK;
}

/* Outcome k of counts is from[k] .. to[k]: "3" or "3+". */
static cr_status match_counts(cr_ctx *cx, const cr_loss *l, double *from, double *to)
{
    for (size_t k = 0; k < l->n_outcomes; k++) {
        const char *text = l->outcomes[k];
        size_t      length = strlen(text);
        bool        more = length > 1 && text[length - 1] == '+';
        length -= more;
        if (cri_parse_double(text, text + length, &from[k]) != length || length == 0 ||
            !(from[k] == floor(from[k])) || isinf(from[k]))
            return cr_fail(cx, CR_EARG,
                           "the matrix of losses has a column '%s', but counts are 0, 1, "
                           "2, ..., and 5+ for 5 or more",
                           text);
        to[k] = more ? (double)INFINITY : from[k];
    }
    return CR_OK;
}

/* The probabilities of the outcomes of counts; they are all there is. */
static cr_status count_outcomes(cr_ctx *cx, const cr_loss *l, const cr_dist_class *c, cri_par p,
                                const double *from, const double *to, double *prob)
{
    double total = 0;
    for (size_t k = 0; k < l->n_outcomes; k++) {
        prob[k] = isinf(to[k]) ? cri_dist_cdf(c, p, from[k] - 1, CRI_UPPER)
                               : exp(cri_dist_logpdf(c, p, from[k]));
        total += prob[k];
    }
    if (fabs(total - 1) <= 1e-9) return CR_OK;
    cr_fail(cx, CR_EARG,
            "the columns of the matrix of losses have a total probability of %.6g, not 1", total);
    return cr_fail_hint(cx, "add a column for each possible count, the last as 5+ for 5 or more");
}

/* --- rows ------------------------------------------------------------------------------------ */

static cr_status decide_numbers(cr_ctx *cx, const cr_prediction *p, const cr_loss *loss,
                                cr_decisions *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool       matrix = loss->kind == CR_LOSS_MATRIX;
    double *from = cr_scratch_f64(&s, loss->n_outcomes), *to = cr_scratch_f64(&s, loss->n_outcomes);
    double *prob = cr_scratch_f64(&s, loss->n_outcomes);
    decision standard = { 0, 0 };
    double   dof = NAN;

    CR_TRY(s.status);
    if (matrix) CR_TRY(match_counts(cx, loss, from, to));
    for (size_t i = 0; i < p->n; i++) {
        decision d = { NAN, NAN };
        cri_par  par = { p->params ? p->params + i * p->n_params : NULL, p->n_params };
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
        if (isnan(p->mean[i]) || isnan(p->scale[i])) {
        } else if (p->family) {
            CR_TRY(cr_dist_check(cx, p->family, par.v, par.n));
            if (matrix) CR_TRY(count_outcomes(cx, loss, p->family, par, from, to, prob));
            if (matrix)
                d = decide_matrix(loss, prob);
            else
                CR_TRY(decide_family(cx, loss, p->family, par, &d));
        } else {
            if (p->dof[i] != dof) standard = decide_standard(loss, dof = p->dof[i]);
            d = decide_t(loss, standard, p->mean[i], p->scale[i]);
        }
        out->action[i] = d.action, out->expected_loss[i] = d.loss;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status decide_classes(cr_ctx *cx, const cr_prediction *p, const cr_loss *loss,
                                cr_decisions *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = p->n_classes;
    size_t    *place = cr_scratch_index(&s, loss->n_outcomes);
    double    *prob = cr_scratch_f64(&s, loss->n_outcomes);
    bool       matrix = loss->kind == CR_LOSS_MATRIX;

    CR_TRY(s.status);
    if (matrix) CR_TRY(match_classes(cx, p, loss, place));
    for (size_t i = 0; i < p->n; i++) {
        const double *row = p->prob + i * K;
        decision      d = { 0, NAN };
        for (size_t k = 0; matrix && k < loss->n_outcomes; k++) prob[k] = row[place[k]];
        for (size_t k = 0; !matrix && k < K; k++)
            if (row[k] > row[(size_t)d.action]) d.action = (double)k;
        if (matrix)
            d = decide_matrix(loss, prob);
        else if (K > 0 && p->ranks)
            d.loss = NAN;
        else if (K > 0)
            d.loss = 1 - row[(size_t)d.action];
        if (K == 0 || isnan(row[0])) d = (decision){ NAN, NAN };
        out->action[i] = d.action, out->expected_loss[i] = d.loss;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the whole ------------------------------------------------------------------------------- */

static cr_status check_loss(cr_ctx *cx, const cr_prediction *p, const cr_loss *loss)
{
    bool matrix = loss->kind == CR_LOSS_MATRIX;
    if (p->kind != CR_ANSWER_NUMBER && p->kind != CR_ANSWER_CLASS)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "a decision needs the distribution of a number or of classes, but the model "
                       "gives neither");
    if (p->kind == CR_ANSWER_CLASS && !matrix && loss->kind != CR_LOSS_ZERO_ONE) {
        cr_fail(cx, CR_EARG, "the model predicts classes, but this loss is for numbers");
        return cr_fail_hint(cx, "for classes the loss is 0-1, or a matrix (a CSV file)");
    }
    if (p->ranks && matrix) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "expected losses need probabilities, but the model was fitted without them");
        return cr_fail_hint(cx, "fit it with --calibrate platt");
    }
    if (p->kind == CR_ANSWER_NUMBER && !p->scale)
        return cr_fail(cx, CR_EARG, "a decision needs predictions with a standard deviation");
    if (p->kind == CR_ANSWER_NUMBER && matrix && !(p->family && p->family->discrete)) {
        cr_fail(cx, CR_EARG,
                "a matrix of losses requires classes or counts, but the model predicts numbers "
                "that are neither");
        return cr_fail_hint(cx, "for numbers the loss is squared, absolute, quantile:Q or 0-1");
    }
    return CR_OK;
}

cr_status cr_decide(cr_ctx *cx, const cr_prediction *p, const cr_loss *loss, cr_decisions *out)
{
    cr_status    st = CR_OK;
    cr_decisions d = { .n = p->n };
    bool         matrix = loss->kind == CR_LOSS_MATRIX;

    CR_TRY(check_loss(cx, p, loss));
    d.action = cr_alloc(cx, d.n, sizeof *d.action);
    d.expected_loss = cr_alloc(cx, d.n, sizeof *d.expected_loss);
    if (!d.action || !d.expected_loss) CR_TRY(CR_ENOMEM);
    if (matrix)
        d.n_actions = loss->n_actions, d.actions = (const char *const *)loss->actions;
    else if (p->kind == CR_ANSWER_CLASS)
        d.n_actions = p->n_classes, d.actions = p->classes;
    CR_TRY(p->kind == CR_ANSWER_CLASS ? decide_classes(cx, p, loss, &d)
                                      : decide_numbers(cx, p, loss, &d));
    *out = d;
    d = (cr_decisions){ 0 };
done:
    cr_decisions_free(cx, &d);
    return st;
}

/* --- what they turned out to cost ------------------------------------------------------------ */

static double cost_of_number(const cr_loss *l, double action, double y)
{
    double miss = y - action;
    switch (l->kind) {
    case CR_LOSS_SQUARED:
        return miss * miss;
    case CR_LOSS_ABSOLUTE:
        return fabs(miss);
    case CR_LOSS_QUANTILE:
        return miss > 0 ? l->quantile * miss : (l->quantile - 1) * miss;
    default:
        return isnan(miss) ? miss : miss != 0;
    }
}

cr_status cr_decisions_cost(cr_ctx *cx, const cr_prediction *p, const cr_loss *l,
                            const cr_decisions *d, const double *y, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     K = l->n_outcomes, *place = cr_scratch_index(&s, K);
    double    *from = cr_scratch_f64(&s, K), *to = cr_scratch_f64(&s, K);
    bool       classes = p->kind == CR_ANSWER_CLASS;
    CR_TRY(s.status);
    if (l->kind == CR_LOSS_MATRIX)
        CR_TRY(classes ? match_classes(cx, p, l, place) : match_counts(cx, l, from, to));
    for (size_t i = 0; i < d->n; i++) {
        if (l->kind != CR_LOSS_MATRIX || isnan(d->action[i])) {
            out[i] = isnan(d->action[i]) ? d->action[i] : cost_of_number(l, d->action[i], y[i]);
            continue;
        }
        size_t k = 0;
        while (k < K && !(classes ? (double)place[k] == y[i] : from[k] <= y[i] && y[i] <= to[k]))
            k++;
        if (k == K)
            CR_TRY(
                cr_fail(cx, CR_EDATA, "the matrix of losses has no column for the count %g", y[i]));
        out[i] = l->loss[(size_t)d->action[i] * K + k];
    }
done:
    cr_scratch_end(&s);
    return st;
}

void cr_decisions_free(cr_ctx *cx, cr_decisions *d)
{
    cr_free(cx, d->action, d->n, sizeof *d->action);
    cr_free(cx, d->expected_loss, d->n, sizeof *d->expected_loss);
    *d = (cr_decisions){ 0 };
}
