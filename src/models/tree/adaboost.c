/* adaboost.c -- boosted trees (boost.h): AdaBoost, and the gradient form, which also does numbers.
 * The spread of a number is the mean squared error by five-fold cross-validation, of as many of the
 * folds as hold 100,000 rows: its standard error is then below half a percent.
 * Trees that learn from the mistakes of others are too sure of the classes of few rows: up to 5000 rows, F is
 * multiplied by the t in (0, 1] under which the rows that five-fold cross-validation leaves out are most likely. */
#include "boost.h"
#include "models/common/copies.h"
#include "folds.h"
#include "tree.h"
#include "models/core/rows_check.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "math/optim/brent.h"

#include <math.h>

/* clang-format off */
#define BOOST_OPTIONS(X)                                                                           \
    X(choice, form,   "auto", "auto|samme|gradient",                                               \
      "samme (AdaBoost) or gradient boosting (of the log likelihood or the squared error); auto: samme for classes", "gradient") \
    X(count,  rounds, "100",  "1..1000000",  "how many rounds", "200")                             \
    X(count,  depth,  "1",    "1..1000",     "maximum number of splits from the root to a leaf; 1 is a stump", "3") \
    X(real,   learning_rate, "", ">0",       "weight of each round; default: 1 for samme and 0.1 for gradient", "0.5") \
    X(count,  min_leaf, "1",  "1..1000000000", "gradient: minimum number (weight) of rows on each side of a split", "5") \
    X(real,   temper, "",     "0<..1",       "classes: factor of the votes, 1 for none; default: chosen by cross-validation up to 5000 rows, otherwise 1", "1") \
    CRI_SPLITS_OPTIONS(X, 20000)
/* clang-format on */
enum {
    FORM_AUTO,
    FORM_SAMME,
    FORM_GRADIENT,
    FOLDS = 5,
    ENOUGH = 100000,
    FEW_ROWS = 5000,
    MANY_ROWS = 20000,
    BLOCK = 64
};

CR_OPTIONS(boost_options, boost_table, BOOST_OPTIONS);
static const cri_requirement boost_requirements[] = {
    { "bins", "splits", "auto|histogram", false },
    { "temper", "task", "classification", false },
    CRI_REQUIREMENT_LAST,
};

/* --- fit ------------------------------------------------------------------------------------- */

/* share: of the time that a time limit leaves. */
static cr_status boost(cr_ctx *cx, cri_boost *m, const cri_columns *columns, const double *w,
                       const double *y, const boost_options *o, double share)
{
    cr_status st = cri_boost_allocate(cx, m);
    if (st != CR_OK) return st;
    st = m->gradient ? cri_boost_gradient(cx, m, columns, w, y, (double)o->min_leaf, share)
                     : cri_boost_samme(cx, m, columns, w, y);
    return st == CR_OK ? cri_tree_trim(cx, &m->tree) : st;
}

/* A model and the rows that it is judged by. */
typedef struct judging {
    const cri_boost *m;
    const cri_kept  *kept;
    const cri_deal  *deal; /* those of fold f, for squared errors */
    size_t           f;
} judging;

static void add_squares(void *arg, cri_range r, double *acc, double *F)
{
    const judging  *a = arg;
    const cri_kept *k = a->kept;
    for (size_t i = r.begin; i < r.end; i++) {
        const cri_part *part = &a->deal->part[i];
        double          y = k->y[part->row];
        if (part->fold != a->f) continue;
        cri_boost_sum(a->m, k->X + part->row * k->p, 1, k->p, F);
        *acc += part->weight * (y - *F) * (y - *F);
    }
}

/* F [BLOCK x K + 1]. */
static void add_log_likelihood(void *arg, cri_range r, double *acc, double *F)
{
    const judging   *a = arg;
    const cri_kept  *k = a->kept;
    const cri_boost *m = a->m;
    double          *prob = F + BLOCK * m->K;
    cri_boost_sum(m, k->X + r.begin * k->p, r.end - r.begin, k->p, F);
    for (size_t i = r.begin; i < r.end; i++) {
        cri_boost_prob(m, F + (i - r.begin) * m->widths, prob);
        *acc += k->w[i] * log(prob[(size_t)k->y[i]]);
    }
}

/* Fills *m, which is then freed by cri_boost_free, with a model of the rows outside fold f, whose
 * weight is *out_held: 0 where there is no such model. */
static cr_status boost_without(cr_ctx *cx, const cri_boost *like, const cri_kept *kept,
                               const cri_columns *columns, const boost_options *o,
                               const cri_deal *deal, size_t f, cri_boost *m, double *out_held)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *w = cr_scratch_f64(&s, kept->n);
    *m = (cri_boost){ .K = like->K,
                      .widths = like->widths,
                      .rounds = like->gradient ? like->rounds : o->rounds,
                      .depth = like->depth,
                      .gradient = like->gradient,
                      .rate = like->rate };
    CR_TRY(s.status);
    *out_held = cri_deal_without(deal, kept, f, w);
    if (*out_held > 0)
        CR_TRY(boost(cx, m, columns, w, kept->y, o,
                     1 / (double)(FOLDS + 1 - (f < FOLDS ? f : FOLDS))));
done:
    cr_scratch_end(&s);
    return st;
}

/* Adds the squared error of what is in fold f, by a model of the others, and its weight. */
static cr_status try_fold(cr_ctx *cx, const cri_boost *like, const cri_kept *kept,
                          const cri_columns *columns, const boost_options *o, const cri_deal *deal,
                          size_t f, double *sum, double *weight)
{
    cr_status st = CR_OK;
    cri_boost m = { 0 };
    double    loss, held;
    CR_TRY(boost_without(cx, like, kept, columns, o, deal, f, &m, &held));
    if (held == 0) goto done;
    judging a = { .m = &m, .kept = kept, .deal = deal, .f = f };
    CR_TRY(cri_parallel_sum_in(cx, NULL, deal->n, BLOCK, 1, BLOCK, add_squares, &a, &loss));
    *sum += loss;
    *weight += held;
done:
    cri_boost_free(cx, &m);
    return st;
}

static cr_status measure_spread(cr_ctx *cx, cri_boost *m, const cri_kept *kept,
                                const cri_columns *columns, const boost_options *o, uint64_t seed)
{
    cr_status st = CR_OK;
    cri_deal  deal = { 0 };
    size_t    judged = 0;
    double    sum = 0, weight = 0;
    CR_TRY(cri_deal_folds(cx, kept, columns, false, FOLDS, seed, &deal));
    for (size_t f = 0; f < deal.folds && deal.folds > 1 && judged < ENOUGH; f++) {
        CR_TRY(try_fold(cx, m, kept, columns, o, &deal, f, &sum, &weight));
        for (size_t i = 0; i < deal.n; i++) judged += deal.part[i].fold == f;
    }
    m->spread = weight > 0 ? sum / weight : NAN;
    if (weight == 0) cri_warn_no_spread(cx); /* one row tells nothing of the noise */
done:
    cri_deal_free(cx, &deal);
    return st;
}

/* F [parts x widths] of rows by models that had not seen them; the parts that were left out. */
typedef struct held_out {
    cri_boost       m; /* K and widths; temper is what is tried */
    const cri_kept *kept;
    const cri_part *part; /* [n] */
    size_t          n;
    const double   *F;
    double         *prob; /* [K] workspace */
} held_out;

/* Minus the log likelihood under the factor exp(log_t). */
static cr_status surprise(void *arg, double log_t, double *out)
{
    held_out *h = arg;
    double    sum = 0;
    h->m.temper = exp(log_t);
    for (size_t i = 0; i < h->n; i++) {
        cri_boost_prob(&h->m, h->F + i * h->m.widths, h->prob);
        size_t y = (size_t)h->kept->y[h->part[i].row];
        sum -= h->part[i].weight * log(fmax(h->prob[y], 1e-300));
    }
    *out = sum;
    return CR_OK;
}

/* Where a fold holds all rows, its F stay 0: no temper matters to them. */
static cr_status ask_fold(cr_ctx *cx, const cri_boost *m, const cri_kept *kept,
                          const cri_columns *columns, const boost_options *o, const cri_deal *deal,
                          size_t f, double *F)
{
    cr_status st = CR_OK;
    cri_boost other = { 0 };
    double    held;
    CR_TRY(boost_without(cx, m, kept, columns, o, deal, f, &other, &held));
    for (size_t i = 0; i < deal->n && held > 0; i++)
        if (deal->part[i].fold == f)
            cri_boost_sum(&other, kept->X + deal->part[i].row * kept->p, 1, kept->p,
                          F + i * m->widths);
done:
    cri_boost_free(cx, &other);
    return st;
}

static cr_status learn_temper(cr_ctx *cx, cri_boost *m, const cri_kept *kept,
                              const cri_columns *columns, const boost_options *o, uint64_t seed)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_deal   deal = { 0 };
    held_out   h = { .m = { .K = m->K, .widths = m->widths }, .kept = kept };
    double     best, least, *F;

    CR_TRY(cri_deal_folds(cx, kept, columns, true, FOLDS, seed, &deal));
    if (deal.folds < 2) goto done;
    h.F = F = cr_scratch_bytes(&s, deal.n * m->widths, sizeof *F);
    h.prob = cr_scratch_f64(&s, m->K);
    CR_TRY(s.status);
    for (size_t f = 0; f < deal.folds; f++) CR_TRY(ask_fold(cx, m, kept, columns, o, &deal, f, F));
    h.part = deal.part;
    h.n = deal.n;
    CR_TRY(cr_brent_minimize(cx, surprise, &h, log(0.01), 0, 1e-6, &best, &least));
    m->temper = exp(best);
done:
    cri_deal_free(cx, &deal);
    cr_scratch_end(&s);
    return st;
}

static cr_status fit_state(cr_ctx *cx, cri_boost *m, const cri_kept *kept, const cr_design *design,
                           const boost_options *o, uint64_t seed, cr_report *report)
{
    cr_status   st = CR_OK;
    cri_columns columns = { 0 };
    judging     a = { .m = m, .kept = kept };
    CR_TRY(cri_columns_new(cx, kept, design,
                           cri_choose_bins(o->splits, o->bins, kept->n, MANY_ROWS), false,
                           &columns));
    CR_TRY(boost(cx, m, &columns, kept->w, kept->y, o, m->K ? 1 : 1 / (double)(FOLDS + 2)));
    if (m->K == 0) CR_TRY(measure_spread(cx, m, kept, &columns, o, seed));
    if (isnan(o->temper) && m->K > 1 && kept->n <= FEW_ROWS)
        CR_TRY(learn_temper(cx, m, kept, &columns, o, seed));
    m->weight = kept->weight;
    report->stop = CR_STOP_TOLERANCE;
    report->iterations = m->rounds;
    if (m->gradient && m->K && m->rounds)
        report->log_likelihood = -m->error[m->rounds - 1] * kept->weight;
    else if (m->K)
        CR_TRY(cri_parallel_sum_in(cx, NULL, kept->n, BLOCK, 1, (BLOCK + 1) * m->K,
                                   add_log_likelihood, &a, &report->log_likelihood));
done:
    cri_columns_free(cx, &columns);
    return st;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status            st = CR_OK;
    const boost_options *o = options;
    cri_kept             kept = { 0 };
    cri_boost           *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    m->K = cr_design_classes(rows->design);
    m->gradient = m->K == 0 || o->form == FORM_GRADIENT;
    m->widths = m->K == 0 || (m->gradient && m->K == 2) ? 1 : m->K;
    m->rounds = m->gradient && m->K == 1 ? 0 : o->rounds;
    m->depth = o->depth;
    m->rate = !isnan(o->learning_rate) ? o->learning_rate : m->gradient ? 0.1 : 1;
    m->temper = isnan(o->temper) ? 0 : o->temper;
    m->spread = NAN;
    if (m->K == 0 && o->form == FORM_SAMME)
        CR_TRY(cr_fail(cx, CR_EARG, "--form samme is for classes, but the target is a number"));
    if (!m->gradient && o->min_leaf != 1)
        CR_TRY(cri_fail_unused(cx, "min_leaf", "form", "gradient"));
    CR_TRY(cri_check_sizes(cx, rows, false));
    CR_TRY(cri_kept_new(cx, "adaboost", rows, &kept));
    CR_TRY(fit_state(cx, m, &kept, rows->design, o, seed, report));
    *out_state = m;
    m = NULL;
done:
    cri_kept_free(cx, &kept);
    if (m) cri_tree_free(cx, &m->tree);
    cri_state_free(cx, &cri_class_adaboost, m);
    return st;
}

/* Rows are held out, with all their copies. */
static cr_status boost_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                           void **out_state, cr_report *report)
{
    return cri_fit_observations(cx, fit_rows, rows, options, seed, out_state, report);
}

/* --- predict --------------------------------------------------------------------------------- */

typedef struct predict_work {
    const cri_boost *m;
    const cri_rows  *rows;
    cr_prediction   *out;
} predict_work;

/* workspace: the rows X [BLOCK x p], and F [BLOCK x widths]. */
static void predict_block(void *arg, cri_range r, double *workspace)
{
    const predict_work *a = arg;
    const cri_boost    *m = a->m;
    size_t              p = a->rows->p;
    double             *X = workspace, *F = workspace + BLOCK * p;
    cri_rows_fill(a->rows, r.begin, r.end, X, p);
    cri_boost_sum(m, X, r.end - r.begin, p, F);
    for (size_t i = r.begin; i < r.end; i++) {
        const double *at = F + (i - r.begin) * m->widths;
        if (m->K)
            cri_boost_prob(m, at, a->out->prob + i * m->K);
        else
            a->out->mean[i] = *at;
        if (!a->out->scale) continue;
        a->out->scale[i] = sqrt(m->spread);
        a->out->dof[i] = m->weight;
    }
}

static cr_status boost_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                               cr_prediction *out)
{
    predict_work a = { state, rows, out };
    return cri_parallel_rows(cx, "predicting", rows->n, BLOCK, BLOCK * (rows->p + a.m->widths),
                             predict_block, &a);
}

/* --- describe and file ----------------------------------------------------------------------- */

enum { MOST_LISTED = 1000 };

static const cr_field boost_statistics[] = {
    CR_TEXT("form", 0, "samme or gradient"),
    CR_COUNT("trees", 0, "trees of all rounds"),
    CR_NUMBER("learning_rate", 0, "what a round counts"),
    CRI_SPLIT_FIELDS,
    CR_NUMBER("training_loss", CR_FIELD_EITHER | CR_FIELD_OF_TARGET,
              "of gradient: mean loss of the training rows"),
    CR_NUMBER("last_weighted_error", CR_FIELD_EITHER, "of samme: weighted error of the last tree"),
    CR_MEASURE("cv_rmse", "target", CR_FIELD_EITHER,
               "of numbers: root mean squared error by cross-validation"),
    CR_NUMBER("temper", CR_FIELD_SOMETIMES,
              "of classes: factor of the votes, by cross-validation; below 1 makes probabilities "
              "less extreme"),
    CR_FIELD_LAST,
};

static const cr_field boosting_round[] = {
    CR_COUNT("round", 0, "its number, from 1"),
    CR_NUMBER("error", 0,
              "weighted error of its tree; for the gradient form, the mean loss after it"),
    CR_NUMBER("vote", 0, "what its tree counts"),
    CR_FIELD_LAST,
};

static const cr_field boost_tables[] = {
    CR_INNER(ROWS, "rounds", 0, "the first thousand rounds", boosting_round),
    CR_FIELD_LAST,
};

static void describe_rounds(const cri_boost *m, double unit, cri_sheet *out)
{
    cri_sheet *list = cri_put_list(out, "rounds");
    for (size_t t = 0; t < m->rounds && t < MOST_LISTED; t++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_count(row, "round", t + 1);
        cri_put_real(row, "error", m->error[t] * unit);
        cri_put_real(row, "vote", m->gradient ? m->rate : m->vote[t]);
    }
}

static void describe_statistics(const cri_boost *m, double unit, cri_sheet *out)
{
    double     last = m->rounds ? m->error[m->rounds - 1] : NAN;
    cri_sheet *s = cri_put_object(out, "statistics");
    cri_put_text(s, "form", m->gradient ? "gradient" : "samme");
    cri_put_count(s, "trees", m->trees);
    cri_put_real(s, "learning_rate", m->rate);
    cri_tree_describe_splits(&m->tree, s);
    cri_put_real(s, m->gradient ? "training_loss" : "last_weighted_error", last * unit);
    if (!m->K) cri_put_real(s, "cv_rmse", sqrt(m->spread * unit));
    if (m->temper > 0) cri_put_real(s, "temper", m->temper);
}

static cr_status boost_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                cri_sheet *out)
{
    cr_status        st = CR_OK;
    const cri_boost *m = state;
    cr_scratch       sc = cr_scratch_begin(cx);
    size_t           p = cr_design_terms(design);
    double           unit = m->K ? 1 : design->target_scale * design->target_scale;
    double          *share = cr_scratch_f64(&sc, p);
    CR_TRY(sc.status);
    cri_tree_describe_importance(&m->tree, design, share, out);
    describe_statistics(m, unit, out);
    describe_rounds(m, unit, out);
done:
    cr_scratch_end(&sc);
    return st;
}

static bool is_sound(const cri_boost *m, const cr_design *design)
{
    size_t each = m->gradient ? m->widths : 1;
    bool   one = m->K == 0 || (m->gradient && m->K == 2);
    if (m->K != cr_design_classes(design) || m->widths != (one ? 1 : m->K)) return false;
    if (m->trees != m->rounds * each || (m->trees > 0) != (m->tree.nodes > 0)) return false;
    if (m->trees && !cri_tree_fits(&m->tree, design, 1)) return false;
    for (size_t t = 0; t < m->trees; t++)
        if (m->root[t] >= m->tree.nodes) return false;
    for (size_t i = 0; !m->gradient && i < m->tree.nodes; i++)
        if (!(m->tree.value[i] >= 0 && m->tree.value[i] < (double)m->K)) return false;
    return true;
}

static cr_status boost_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return is_sound(state, design) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_adaboost = {
    .name = "adaboost",
    .summary = "boosted trees: AdaBoost (SAMME), or gradient boosting",
    .formulas =
        "samme:    err_t = sum d [h_t(x) != y],  a_t = r (log((1 - err_t) / err_t) + log(K - 1)),\n"
        "          d <- d exp(a_t [h_t(x) != y]);  F_k = sum_t a_t [h_t(x) = k]\n"
        "gradient: F <- F + r f_t,  f_t a tree on the gradient\n"
        "P = softmax(t F),  t <= 1 by cross-validation up to 5000 rows;  number: y ~ t(F, cv "
        "error)",
    .reference = "Freund & Schapire (1997), J. Comput. Syst. Sci. 55; Zhu, Zou, Rosset & Hastie "
                 "(2009), Stat. Interface 2; Friedman (2001), Ann. Stat. 29",
    .tasks = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION,
    .options = boost_table,
    .requirements = boost_requirements,
    .options_size = sizeof(boost_options),
    .default_scale = CR_SCALE_NONE,
    .takes_missing = true,
    .coding = CRI_CODING_CODE,
    .whole = &(const cri_whole_face){ .fit = boost_fit },
    .rows = &(const cri_rows_face){ .predict = boost_predict, .means_alone = true },
    .describe = boost_describe,
    .statistics = boost_statistics,
    .tables = boost_tables,
    .state = cri_boost_record,
    .state_size = sizeof(cri_boost),
    .ready = boost_ready,
};
