/* classifier_answer.c -- probabilities and description of a linear classifier. */
#include "classifier.h"
#include "../parameters.h"
#include "../../base/context_internal.h"
#include "../../base/parallel.h"
#include "../../base/scratch.h"
#include "../../math/special.h"

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

/* room: the rows X [block x p], and the scores of one [M + 1]. */
static void answer_block(void *arg, cri_range r, double *room)
{
    const answer_work    *w = arg;
    const cri_classifier *m = w->m;
    double               *X = room, *e = room + w->block * m->p;
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

char *cri_classifier_name(cr_ctx *cx, const cr_design *d, const double *place, size_t M, size_t m,
                          size_t j)
{
    const char *term = j ? cr_design_term_name(d, j - 1) : "intercept";
    if (M == 1) return cri_string_copy(cx, term);
    return cri_string_format(
        cx, "%s:%s", cr_design_class(d, cri_classifier_class(place, cr_design_classes(d), m)),
        term);
}

/* sd < 0 is none; z and p where the sd is a standard error. */
static cr_status add_parameter(cr_ctx *cx, json_t *list, const char *name, double value, double sd,
                               bool tests)
{
    cr_status st = CR_OK;
    json_t   *item;
    double    spread = sd < 0 ? NAN : sd, half = 1.959963984540054 * spread, t = value / spread;
    CR_TRY(cri_parameter_add(cx, list, json_string_nocheck(name), value, spread, &item));
    CR_TRY(cri_parameter_interval(cx, item, value, half));
    if (!tests) goto done;
    CR_TRY(cri_store_set(cx, item, "t", cri_json_number(t)));
    CR_TRY(cri_store_set(cx, item, "p", cri_json_number(2 * cr_norm_cdf(-fabs(t)))));
done:
    return st;
}

static cr_status describe_parameters(cr_ctx *cx, const cri_classifier *m, const cr_design *d,
                                     json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list = json_array();
    char     *name = NULL;
    CR_TRY(cri_store_set(cx, out, "parameters", list));
    for (size_t k = 0; k < m->M; k++)
        for (size_t j = !m->intercept; j <= m->p; j++) {
            name = cri_classifier_name(cx, d, m->place, m->M, k, j);
            if (!name) CR_TRY(CR_ENOMEM);
            CR_TRY(add_parameter(cx, list, name,
                                 cri_classifier_coef(m->centre, m->scale, m->p, m->intercept,
                                                     m->theta + k * m->q, j),
                                 m->sd[k * m->q1 + j], m->tests));
            cri_string_free(cx, name);
            name = NULL;
        }
done:
    cri_string_free(cx, name);
    return st;
}

static const char *objective_text(const cri_classifier *m)
{
    if (m->lambda == 0) return "sum w nll";
    if (m->penalty == CRI_PENALTY_L2) return "sum w nll + lambda/2 |b|^2";
    if (m->penalty == CRI_PENALTY_L1) return "sum w nll / sum w + lambda |b|_1";
    return "sum w nll / sum w + lambda (r |b|_1 + (1 - r)/2 |b|^2)";
}

/* The names of the columns that separate, with commas. */
static cr_status describe_separation(cr_ctx *cx, const cri_classifier *m, const cr_design *d,
                                     json_t *s)
{
    cr_status st = CR_OK;
    char     *names = NULL, *longer;
    CR_TRY(cri_store_set(cx, s, "separation",
                         json_string(cri_separation_name((cri_separation)m->separation))));
    for (size_t j = m->intercept; j < m->q; j++) {
        if (m->blame[j] == 0) continue;
        const char *name = cr_design_term_name(d, j - m->intercept);
        longer = cri_string_format(cx, "%s%s%s", names ? names : "", names ? ", " : "", name);
        cri_string_free(cx, names);
        names = longer;
        if (!names) CR_TRY(CR_ENOMEM);
    }
    if (names) CR_TRY(cri_store_set(cx, s, "separated_by", json_string_nocheck(names)));
done:
    cri_string_free(cx, names);
    return st;
}

static cr_status describe_deviance(cr_ctx *cx, const cri_classifier *m, json_t *s)
{
    cr_status st = CR_OK;
    double    deviance = 2 * m->nll, null = 2 * m->null_nll;
    if (isnan(m->null_nll)) return CR_OK; /* one against the rest: no likelihood of the whole */
    CR_TRY(cri_store_set(cx, s, "deviance", cri_json_number(deviance)));
    CR_TRY(cri_store_set(cx, s, "null_deviance", cri_json_number(null)));
    CR_TRY(
        cri_store_set(cx, s, "pseudo_r2", cri_json_number(null > 0 ? 1 - deviance / null : NAN)));
    if (m->lambda > 0) goto done;
    CR_TRY(cri_store_set(cx, s, "aic", cri_json_number(deviance + 2 * m->df)));
    CR_TRY(cri_store_set(cx, s, "bic", cri_json_number(deviance + log(m->weight) * m->df)));
done:
    return st;
}

cr_status cri_classifier_describe(cr_ctx *cx, const void *state, const cr_design *d, json_t *out)
{
    static const char *const solvers[] = { "auto",     "newton", "newton-cg",      "lbfgs",
                                           "gradient", "sgd",    "proximal-newton" };
    cr_status                st = CR_OK;
    const cri_classifier    *m = state;
    json_t                  *s;
    CR_TRY(describe_parameters(cx, m, d, out));
    CR_TRY(cri_store_set(cx, out, "statistics", s = json_object()));
    CR_TRY(cri_store_set(cx, s, "objective", json_string(objective_text(m))));
    CR_TRY(cri_store_set(cx, s, "objective_value",
                         cri_json_number(m->lambda > 0 && m->penalty != CRI_PENALTY_L2
                                             ? m->objective / m->weight
                                             : m->objective)));
    CR_TRY(cri_store_set_real(cx, s, "lambda", m->lambda));
    if (m->lambda > 0 && m->penalty == CRI_PENALTY_ELASTIC)
        CR_TRY(cri_store_set_real(cx, s, "l1_ratio", m->l1_ratio));
    CR_TRY(cri_store_set(cx, s, "solver", json_string(solvers[m->solver])));
    CR_TRY(cri_store_set(cx, s, "kkt_residual", cri_json_number(m->kkt)));
    if (m->steps > 0) {
        CR_TRY(cri_store_set(cx, s, "approximate",
                             json_string(m->folds > 0 ? "one pass, earlier rows by their curvature"
                                                      : "one pass of stochastic gradients")));
        if (m->folds > 0) CR_TRY(cri_store_set(cx, s, "distance_se", cri_json_number(m->distance)));
        CR_TRY(cri_store_set(cx, s, "gradient_z", cri_json_number(m->gradient_z)));
    }
    if (m->lambda > 0 && m->penalty != CRI_PENALTY_L2)
        CR_TRY(cri_store_set(cx, s, "nonzero", json_integer((json_int_t)m->nonzero)));
    if (m->link == CRI_LINK_PROBIT && m->M > 1)
        CR_TRY(cri_store_set(cx, s, "classes", json_string("one against the rest")));
    CR_TRY(describe_deviance(cx, m, s));
    if (m->lambda == 0) CR_TRY(describe_separation(cx, m, d, s));
done:
    return st;
}
