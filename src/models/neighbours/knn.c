/* knn.c -- k nearest neighbours, for numbers and classes.
 *   number:  mean = sum v_i y_i,   s^2 = sum v_i (y_i - mean)^2 m / (m - 1),
 *            y ~ t_{m-1}(mean, s^2 (1 + 1/m)),   m = 1 / sum (v_i^2 / c_i): k when all count alike
 *   class:   p_j = (k sum_{i in j} v_i + a) / (k + a K)
 * with c_i and v_i of knn.h, over the sites of the rows.  O(log n + k) a query in few dimensions, O(n)
 * in many, n the number of sites.
 * Cover & Hart (1967); Hastie, Tibshirani & Friedman (2009), sec. 2.3.2 and 13.3. */
#include "knn.h"
#include "models/common/copies.h"
#include "models/common/kept.h"
#include "models/core/parameters.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define KNN_OPTIONS(X)                                                                             \
    X(text,   k,         "5",       "N",              "number of neighbours; auto: chosen by leave-one-out", "auto") \
    X(choice, metric,    "euclid",  "euclid|max",     "distance: Euclidean, or the largest difference", "max") \
    X(choice, weighting, "uniform", "uniform|distance",                                            \
      "whether all neighbours count the same, or by 1 / distance", "distance")                     \
    X(real,   smoothing, "",        ">=0",                                                         \
      "classes: a in (count + a) / (k + a K); default: chosen by leave-one-out", "0.5")
/* clang-format on */

CR_OPTIONS(knn_options, knn_table, KNN_OPTIONS);
static const cri_requirement knn_requirements[] = {
    { "smoothing", "task", "classification", true },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, knn_record, cri_knn, CRI_KNN_STATE);

static void knn_release(cr_ctx *cx, void *state)
{
    cri_knn *m = state;
    cr_neighbours_free(cx, m->tree);
    cri_sites_free(cx, &m->sites);
}

/* --- fit ------------------------------------------------------------------------------------- */

enum { MOST_K = 64 }; /* that auto tries */

static cr_status build_tree(cr_ctx *cx, cri_knn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *at = NULL;
    CR_TRY(cri_sites_new(cx, cr_cmat_of(m->X, m->n, m->p), m->y, m->w, m->K > 0, &m->sites));
    at = cr_scratch_matrix(&s, m->sites.n, m->p);
    CR_TRY(s.status);
    for (size_t g = 0; g < m->sites.n; g++) cri_knn_site(m, g, at + g * m->p);
    CR_TRY(cr_neighbours_new(cx, cr_cmat_of(at, m->sites.n, m->p),
                             m->max_norm ? CR_NORM_MAX : CR_NORM_EUCLID, &m->tree));
done:
    cr_scratch_end(&s);
    return st;
}

/* One neighbour tells nothing of the spread of numbers, and by t with 2 degrees of freedom or fewer
 * their sd is infinite: auto begins with four, or with two where there are no more than four rows. */
static cr_status choose_k(cr_ctx *cx, cri_knn *m, const char *text, double weight,
                          cr_report *report)
{
    static const char *const words[] = { "auto", NULL };
    const char              *what = "a whole number above 0, or auto";
    int                      word;
    cr_status                st = CR_OK;
    CR_TRY(cri_word_or_number(cx, "k", text, words, what, &word, &m->k));
    if (word < 0 && (!(m->k >= 1) || m->k != floor(m->k)))
        return cr_fail(cx, CR_EARG, "--k: '%s' is not %s", text, what);
    if (word < 0 && m->k > weight)
        cr_log(cx, CR_LOG_WARNING, "knn: there are fewer than k = %g rows; all of them are used",
               m->k);
    if (word < 0) return CR_OK;
    size_t least = m->K         ? 1
                   : weight > 4 ? 4
                                : 2,
           most = weight > MOST_K ? MOST_K : (size_t)weight, asked = m->n;
    m->k = (double)least;
    if (most > least)
        CR_TRY(cri_knn_choose(cx, m, least, most - 1 > least ? most - 1 : least, &m->k, &m->loo,
                              &asked));
    if (asked == m->n) goto done;
    report->stop = CR_STOP_TIME;
    cr_log(cx, CR_LOG_WARNING,
           "the time limit ended the choice of k: it is the best by %zu of %zu rows, drawn at "
           "random",
           asked, m->n);
done:
    return st;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    const knn_options *o = options;
    cri_kept           kept = { 0 };
    cri_knn           *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;

    if (!m) return CR_ENOMEM;
    CR_TRY(cri_kept_new(cx, "knn", rows, &kept));
    *m = (cri_knn){ .n = kept.n,
                    .p = kept.p,
                    .K = cr_design_classes(rows->design),
                    .loo = NAN,
                    .max_norm = o->metric == 1,
                    .by_distance = o->weighting == 1,
                    .X = kept.X,
                    .y = kept.y,
                    .w = kept.w,
                    .whole = kept.whole };
    double weight = kept.weight;
    kept = (cri_kept){ 0 };
    m->smoothing = !isnan(o->smoothing) ? o->smoothing : m->K ? 1 / (double)m->K : 0;
    CR_TRY(build_tree(cx, m));
    report->stop = CR_STOP_CLOSED_FORM;
    CR_TRY(choose_k(cx, m, o->k, weight, report));
    if (m->K && isnan(o->smoothing)) CR_TRY(cri_knn_smooth(cx, m, &m->smoothing));
    *out_state = m;
    m = NULL;
done:
    cri_kept_free(cx, &kept);
    cri_state_free(cx, &cri_class_knn, m);
    return st;
}

/* Rows are held out, with all their copies. */
static cr_status knn_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    return cri_fit_observations(cx, fit_rows, rows, options, seed, out_state, report);
}

/* --- predict --------------------------------------------------------------------------------- */

enum { BATCH = 2048, BLOCK = 32, AT_ONCE = 1 << 20 }; /* sites found for the queries of a round */

typedef struct predict_work {
    const cri_knn *m;
    cr_prediction *out;
    size_t         n, near;  /* queries of this round; sites found for each */
    size_t        *index;    /* [n x near]                                 */
    double        *distance; /* [n x near]                                 */
    double        *c;        /* [n x near] workspace                       */
    size_t        *row;      /* [n] of the prediction                      */
    bool          *again;    /* [n] too few sites were found               */
    bool           all;
} predict_work;

/* c [m] to v [m]. */
static void share_votes(const cri_knn *m, const double *distance, const double *c, size_t used,
                        double *v)
{
    double sum = 0;
    bool   met = m->by_distance && distance[0] <= CRI_MET;
    for (size_t j = 0; j < used; j++) {
        v[j] = c[j];
        if (met && distance[j] > CRI_MET) v[j] = 0;
        if (m->by_distance && !met) v[j] = c[j] * (distance[0] / distance[j]);
        sum += v[j];
    }
    for (size_t j = 0; j < used; j++) v[j] /= sum;
}

static void answer_number(const cri_knn *m, const size_t *index, const double *c, const double *v,
                          size_t used, double *mean, double *opt_scale, double *opt_dof)
{
    double sum = 0, square = 0, spread = 0;
    for (size_t j = 0; j < used; j++) sum += v[j] * m->sites.vote[index[j]].value;
    for (size_t j = 0; j < used; j++) {
        const cri_vote *site = &m->sites.vote[index[j]];
        double          e = site->value - sum;
        square += v[j] * (e * e + site->square / site->weight);
        spread += v[j] * (v[j] / c[j]);
    }
    double count = 1 / spread; /* that many rows of equal weight say as much */
    *mean = sum;
    if (!opt_scale) return;
    bool several = count > 1 + 1e-9;
    *opt_dof = several ? count - 1 : NAN;
    *opt_scale = several ? sqrt(square * count / (count - 1) * (1 + 1 / count)) : NAN;
}

/* start + votes * unit; a few whole votes are added one by one, so that the sum has the bits of as
 * many single rows, whatever sites they are at. */
static double add_votes(double start, double votes, double unit)
{
    if (votes > 64 || votes != floor(votes)) return start + votes * unit;
    for (; votes > 0; votes--) start += unit;
    return start;
}

/* Votes are gathered before they are divided: classes of equal votes are equal to the last bit. */
static void answer_class(const cri_knn *m, const size_t *index, const double *c, const double *v,
                         size_t used, double *prob)
{
    const cri_sites *s = &m->sites;
    double           k = 0, a = m->smoothing, K = (double)m->K;
    for (size_t j = 0; j < used; j++) k += c[j];
    for (size_t j = 0; j < m->K; j++) prob[j] = 0;
    for (size_t j = 0; j < used; j++) {
        double share = m->by_distance ? v[j] : c[j];
        for (size_t i = s->first[index[j]]; i < s->first[index[j] + 1]; i++)
            prob[(size_t)s->vote[i].value] += share * (s->vote[i].weight / s->weight[index[j]]);
    }
    double start = a / (k + a * K), unit = k / (k + a * K);
    for (size_t j = 0; j < m->K; j++)
        prob[j] = m->by_distance ? start + prob[j] * unit : add_votes(start, prob[j], 1 / k * unit);
}

static void predict_block(void *arg, size_t b)
{
    predict_work  *a = arg;
    const cri_knn *m = a->m;
    cri_range      r = cri_block_range(a->n, BLOCK, b);
    for (size_t q = r.begin; q < r.end; q++) {
        size_t *index = a->index + q * a->near, used = 0, row = a->row[q];
        double *distance = a->distance + q * a->near, *c = a->c + q * 2 * a->near;
        double *v = c + a->near;
        a->again[q] =
            !cri_knn_count(m->sites.weight, index, distance, a->near, a->all, m->k, c, &used);
        if (a->again[q]) continue;
        share_votes(m, distance, c, used, v);
        if (m->K)
            answer_class(m, index, c, v, used, a->out->prob + row * m->K);
        else
            answer_number(m, index, c, v, used, a->out->mean + row,
                          a->out->scale ? a->out->scale + row : NULL,
                          a->out->dof ? a->out->dof + row : NULL);
    }
}

/* Asks for `near` sites around each of the queries Q [n x p], whose answers go to row[0..n); those
 * that need more are left in Q, row, and *out_left. */
static cr_status predict_round(cr_ctx *cx, const cri_knn *m, cr_prediction *out, double *Q,
                               size_t *row, size_t n, size_t near, size_t *out_left)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cr_cmat      queries = cr_cmat_of(Q, n, m->p);
    size_t       left = 0;
    predict_work a = { .m = m,
                       .out = out,
                       .n = n,
                       .near = near,
                       .index = cr_scratch_bytes(&s, n * near, sizeof(size_t)),
                       .distance = cr_scratch_matrix(&s, n, near),
                       .c = cr_scratch_matrix(&s, n, 2 * near),
                       .row = row,
                       .again = cr_scratch_bytes(&s, n, sizeof(bool)),
                       .all = near == m->sites.n };
    CR_TRY(s.status);
    CR_TRY(cr_neighbours_nearest(cx, m->tree, &queries, near, a.index, a.distance));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(n, BLOCK), predict_block, &a));
    for (size_t q = 0; q < n; q++) {
        if (!a.again[q]) continue;
        memmove(Q + left * m->p, Q + q * m->p, m->p * sizeof(double));
        row[left++] = row[q];
    }
    *out_left = left;
done:
    cr_scratch_end(&s);
    return st;
}

/* Rounds of more and more sites, until the k nearest rows of each query are known; a ring of sites
 * that are as far away as each other counts as a whole. */
static cr_status predict_batch(cr_ctx *cx, const cri_knn *m, const cri_rows *rows, cri_range r,
                               double *Q, size_t *row, cr_prediction *out)
{
    cr_status st = CR_OK;
    size_t    left = r.end - r.begin, all = m->sites.n;
    size_t    near = m->k < (double)all ? (size_t)m->k + 1 : all;
    cri_rows_fill(rows, r.begin, r.end, Q, m->p);
    for (size_t i = 0; i < left; i++) row[i] = r.begin + i;
    while (left > 0) {
        if (near > all) near = all;
        size_t again = 0, step = near < AT_ONCE ? AT_ONCE / near : 1;
        for (size_t from = 0; from < left; from += step) {
            size_t some = left - from < step ? left - from : step, rest = 0;
            CR_TRY(predict_round(cx, m, out, Q + from * m->p, row + from, some, near, &rest));
            memmove(Q + again * m->p, Q + from * m->p, rest * m->p * sizeof *Q);
            memmove(row + again, row + from, rest * sizeof *row);
            again += rest;
        }
        left = again;
        near *= 4;
    }
done:
    return st;
}

static cr_status knn_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_knn *m = state;
    double        *Q = cr_scratch_matrix(&s, BATCH, m->p);
    size_t        *row = cr_scratch_index(&s, BATCH);

    CR_TRY(s.status);
    for (size_t b = 0; b < cri_block_count(rows->n, BATCH); b++) {
        cr_progress(cx, "predicting", (double)(b * BATCH), (double)rows->n);
        CR_TRY(predict_batch(cx, m, rows, cri_block_range(rows->n, BATCH, b), Q, row, out));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field knn_statistics[] = {
    CR_TEXT("metric", 0, "euclid or max"),
    CR_TEXT("weighting", 0, "uniform or distance"),
    CR_NUMBER("smoothing", CR_FIELD_EITHER, "of classes: added to every count"),
    CR_NUMBER("loo_log_loss", CR_FIELD_EITHER, "of classes: mean log loss with each row left out"),
    CR_MEASURE("loo_mse", "target^2", CR_FIELD_EITHER,
               "of numbers: mean squared error with each row left out"),
    CR_FIELD_LAST,
};

static cr_status knn_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const cri_knn *m = state;
    double         unit = m->K ? 1 : design->target_scale * design->target_scale;
    cri_sheet     *s;
    cri_parameter_add(cri_put_list(out, "parameters"), m->k, NAN, "k");
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "metric", m->max_norm ? "max" : "euclid");
    cri_put_text(s, "weighting", m->by_distance ? "distance" : "uniform");
    if (m->K) cri_put_real(s, "smoothing", m->smoothing);
    cri_put_real(s, m->K ? "loo_log_loss" : "loo_mse", m->loo * unit);
    (void)cx;
    return CR_OK;
}

static cr_status knn_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_knn *m = state;
    if (m->p != cr_design_terms(design) || m->K != cr_design_classes(design)) return CR_EDATA;
    for (size_t i = 0; i < m->n && m->K; i++)
        if (!(m->y[i] >= 0 && m->y[i] < (double)m->K)) return CR_EDATA;
    return build_tree(cx, m);
}

const cr_model_class cri_class_knn = {
    .name = "knn",
    .summary = "the mean or the classes of the k nearest rows",
    .formulas = "number:  y ~ t(k-1; mean of the k nearest, s^2 (1 + 1/k)),  s their sd\n"
                "class j: P = (count_j + a) / (k + a K)\n"
                "rows as far away as the k-th share its place; weights count as repeated rows",
    .reference = "Cover & Hart (1967), IEEE Trans. Inf. Theory 13; Hastie, Tibshirani & Friedman "
                 "(2009), sec. 13.3",
    .tasks = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION,
    .options = knn_table,
    .options_size = sizeof(knn_options),
    .requirements = knn_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_ALL,
    .whole = &(const cri_whole_face){ .fit = knn_fit },
    .rows = &(const cri_rows_face){ .predict = knn_predict, .means_alone = true },
    .describe = knn_describe,
    .statistics = knn_statistics,
    .state = knn_record,
    .state_size = sizeof(cri_knn),
    .ready = knn_ready,
    .release = knn_release,
};
