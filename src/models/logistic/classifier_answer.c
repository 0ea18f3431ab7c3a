/* classifier_answer.c -- probabilities and description of a linear classifier. */
#include "classifier.h"
#include "models/core/parameters.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

/* --- predict --------------------------------------------------------------------------------- */

enum { BLOCK = 256, BLOCK_CELLS = 1 << 16 };

typedef struct answer_work {
    const cri_classifier *m;
    const cri_rows       *rows;
    double               *prob; /* [n x K] */
    size_t                block;
} answer_work;

/* Probabilities of the M vectors and the reference from their scores, over them: e [M + 1]. */
static void to_probabilities(const cri_classifier *m, double *e)
{
    size_t M = m->M, count = m->full ? M : M + 1;
    if (m->link == CRI_LINK_PROBIT) {
        double top = -INFINITY;
        if (M == 1) e[1] = cr_norm_cdf(-e[0]), e[0] = cr_norm_cdf(e[0]);
        if (M == 1) return;
        for (size_t k = 0; k < M; k++) top = fmax(top, e[k] = cr_norm_logcdf(e[k]));
        if (isinf(top)) memset(e, 0, M * sizeof(double)); /* none is likely: all alike */
    }
    if (M == 1) {
        double eta = e[0];
        e[0] = cr_sigmoid(eta), e[1] = cr_sigmoid(-eta);
        return;
    }
    e[M] = 0;
    cr_softmax(e, count, e);
}

static void answer_row(const cri_classifier *m, const double *x, double *e, double *prob)
{
    for (size_t k = 0; k < m->M; k++) {
        const double *b = m->theta + k * m->q;
        e[k] = m->intercept ? b[0] : 0;
        for (size_t j = 0; j < m->p; j++)
            e[k] += b[m->intercept + j] * ((x[j] - m->centre[j]) / m->scale[j]);
    }
    to_probabilities(m, e);
    for (size_t k = 0; k < m->K; k++) prob[k] = m->place[k] < 0 ? 0 : e[(size_t)m->place[k]];
}

/* workspace: the rows X [block x p], and the scores of one [M + 1]. */
static void answer_block(void *arg, cri_range r, double *workspace)
{
    const answer_work    *w = arg;
    const cri_classifier *m = w->m;
    double               *X = workspace, *e = workspace + w->block * m->p;
    cri_rows_fill(w->rows, r.begin, r.end, X, m->p);
    for (size_t i = r.begin; i < r.end; i++)
        answer_row(m, X + (i - r.begin) * m->p, e, w->prob + i * m->K);
}

cr_status cri_classifier_check(cr_ctx *cx, const double *prob, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(prob[i]))
            return cr_fail(cx, CR_ENUMERIC,
                           "the values of a row are so large that its scores overflow");
    return CR_OK;
}

cr_status cri_classifier_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                 cr_prediction *out)
{
    const cri_classifier *m = state;
    answer_work           w = { .m = m, .rows = rows, .prob = out->prob };
    w.block = m->p * BLOCK <= BLOCK_CELLS ? BLOCK : BLOCK_CELLS / m->p + 1;
    cr_status st = cri_parallel_rows(cx, "predicting", rows->n, w.block, w.block * m->p + m->M + 1,
                                     answer_block, &w);
    return st == CR_OK ? cri_classifier_check(cx, out->prob, rows->n * m->K) : st;
}

/* --- describe -------------------------------------------------------------------------------- */

cri_sheet *cri_classifier_parameter(cri_sheet *list, double value, double sd, const cr_design *d,
                                    const double *place, size_t M, size_t m, size_t j)
{
    const char *term = j ? cr_design_term_name(d, j - 1) : "intercept";
    if (M == 1) return cri_parameter_add(list, value, sd, "%s", term);
    size_t class = cri_classifier_class(place, cr_design_classes(d), m);
    return cri_parameter_add(list, value, sd, "%s:%s", cr_design_class(d, class), term);
}

void cri_classifier_put_meaning(const double *place, size_t M, bool probit, const cr_design *d,
                                cri_sheet *out)
{
    const char *scale = probit ? "probit of the probability" : "log odds";
    size_t      K = cr_design_classes(d), seen = 0;
    for (size_t k = 0; k < K; k++) seen += place[k] >= 0;
    const char *reference = cr_design_class(d, cri_classifier_class(place, K, M));
    if (M == 1)
        cri_put_textf(out, "coefficients", "%s of %s against %s", scale,
                      cr_design_class(d, cri_classifier_class(place, K, 0)), reference);
    else if (M < seen)
        cri_put_textf(out, "coefficients", "%s of each class against %s", scale, reference);
    else if (probit)
        cri_put_textf(out, "coefficients", "%s of each class against the rest", scale);
    else
        cri_put_text(out, "coefficients",
                     "log of the probability of each class, up to a constant of the row");
}

static void describe_parameters(const cri_classifier *m, const cr_design *d, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "parameters");
    for (size_t k = 0; k < m->M; k++)
        for (size_t j = !m->intercept; j <= m->p; j++) {
            double     sd = m->sd[k * m->q1 + j], spread = sd < 0 ? NAN : sd; /* < 0: none */
            double     value = cri_classifier_coef(m->centre, m->scale, m->p, m->intercept,
                                                   m->theta + k * m->q, j);
            double     z = value / spread;
            cri_sheet *row = cri_classifier_parameter(list, value, spread, d, m->place, m->M, k, j);
            cri_parameter_interval(row, value, CRI_Z95 * spread);
            if (m->tests) cri_put_real(row, "z", z); /* where the sd is a standard error */
            if (m->tests) cri_put_real(row, "p", 2 * cr_norm_cdf(-fabs(z)));
        }
}

/* Whether some coefficients may be 0 by the penalty. */
static bool is_absolute(const cri_classifier *m)
{
    return m->lambda > 0 && (m->penalty == CRI_PENALTY_L1 || m->penalty == CRI_PENALTY_ELASTIC);
}

static const char *objective_text(const cri_classifier *m)
{
    if (m->lambda == 0) return "sum w nll";
    if (m->penalty == CRI_PENALTY_L2) return "sum w nll + lambda/2 |b|^2"; /* of an older file */
    if (m->penalty == CRI_KEPT_L2) return "sum w nll / sum w + lambda/2 |b|^2";
    if (m->penalty == CRI_PENALTY_L1) return "sum w nll / sum w + lambda |b|_1";
    return "sum w nll / sum w + lambda (r |b|_1 + (1 - r)/2 |b|^2)";
}

/* The names of the columns that separate, with commas. */
static cr_status describe_separation(cr_ctx *cx, const cri_classifier *m, const cr_design *d,
                                     cri_sheet *s)
{
    cr_status st = CR_OK;
    char     *names = NULL, *longer;
    cri_put_text(s, "separation", cri_separation_name((cri_separation)m->separation));
    for (size_t j = m->intercept; j < m->q; j++) {
        if (m->blame[j] == 0) continue;
        const char *name = cr_design_term_name(d, j - m->intercept);
        longer = cri_string_format(cx, "%s%s%s", names ? names : "", names ? ", " : "", name);
        cri_string_free(cx, names);
        names = longer;
        if (!names) CR_TRY(CR_ENOMEM);
    }
    if (names) cri_put_text(s, "separated_by", names);
done:
    cri_string_free(cx, names);
    return st;
}

static void describe_deviance(const cri_classifier *m, cri_sheet *s)
{
    double deviance = 2 * m->nll, null = 2 * m->null_nll;
    if (isnan(m->null_nll)) return; /* one against the rest: no likelihood of the whole */
    cri_put_real(s, "deviance", deviance);
    cri_put_real(s, "null_deviance", null);
    cri_put_real(s, "pseudo_r2", null > 0 ? 1 - deviance / null : NAN);
    if (m->lambda > 0) return;
    cri_put_real(s, "aic", deviance + 2 * m->df);
    cri_put_real(s, "bic", deviance + log(m->weight) * m->df);
}

const cr_field cri_classifier_statistics[] = {
    CR_TEXT("objective", 0, "what the coefficients minimise; nll is minus the log likelihood"),
    CR_NUMBER("objective_value", CR_FIELD_NULL, "its value"),
    CR_NUMBER("lambda", CR_FIELD_NULL, "the penalty"),
    CR_NUMBER("l1_ratio", CR_FIELD_EITHER, "of elastic: share r of the absolute values"),
    CR_TEXT("solver", 0, "the method that was used"),
    CR_NUMBER("kkt_residual", CR_FIELD_NULL, "largest violation of the optimality conditions"),
    CR_COUNT("nonzero", CR_FIELD_SOMETIMES, "with l1: number of nonzero coefficients"),
    CR_TEXT("classes", CR_FIELD_SOMETIMES,
            "of probit with several classes: how they are distinguished"),
    CR_NUMBER("deviance", CR_FIELD_EITHER, "minus twice the log likelihood"),
    CR_NUMBER("null_deviance", CR_FIELD_EITHER, "the same for the shares of the classes alone"),
    CR_NUMBER("pseudo_r2", CR_FIELD_EITHER, "1 - deviance / null_deviance"),
    CR_NUMBER("aic", CR_FIELD_EITHER, "Akaike's criterion"),
    CR_NUMBER("bic", CR_FIELD_EITHER, "Schwarz's criterion"),
    CR_TEXT("separation", CR_FIELD_SOMETIMES,
            "whether a plane separates the classes, without a penalty"),
    CR_TEXT("separated_by", CR_FIELD_SOMETIMES, "the columns that separate them"),
    CR_FIELD_LAST,
};

cr_status cri_classifier_describe(cr_ctx *cx, const void *state, const cr_design *d, cri_sheet *out)
{
    static const char *const solvers[] = { "auto",     "newton", "newton-cg",      "lbfgs",
                                           "gradient", "sgd",    "proximal-newton" };
    cr_status                st = CR_OK;
    const cri_classifier    *m = state;
    cri_sheet               *s;
    cri_classifier_put_meaning(m->place, m->M, m->link == CRI_LINK_PROBIT, d, out);
    describe_parameters(m, d, out);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "objective", objective_text(m));
    bool mean = m->lambda > 0 && m->penalty != CRI_PENALTY_L2;
    cri_put_real(s, "objective_value", mean ? m->objective / m->weight : m->objective);
    cri_put_real(s, "lambda", m->lambda);
    if (m->lambda > 0 && m->penalty == CRI_PENALTY_ELASTIC)
        cri_put_real(s, "l1_ratio", m->l1_ratio);
    cri_put_text(s, "solver", solvers[m->solver]);
    cri_put_real(s, "kkt_residual", m->kkt);
    if (is_absolute(m)) cri_put_count(s, "nonzero", (size_t)m->nonzero);
    if (m->link == CRI_LINK_PROBIT && m->M > 1) cri_put_text(s, "classes", "one against the rest");
    describe_deviance(m, s);
    if (m->lambda == 0) CR_TRY(describe_separation(cx, m, d, s));
done:
    return st;
}
