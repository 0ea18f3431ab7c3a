/* kmeans.c -- k-means: k centres, each the mean of the rows that are nearest to it.
 *   inertia = sum_i w_i min_c |t_i - c|^2,   t = (x - shift) / scale
 * Minimised from several starts (k-means++) by Lloyd's steps, single moves (Hartigan) and swaps; the least of all ends
 * is kept.  Every start ends in a local optimum, no step raises the inertia, and how many starts ended as low is
 * reported.  A row of weight 2 counts as two rows.  Clusters are numbered by size, the largest first.
 * Cost: kmeans_lloyd.c.  Lloyd (1982), IEEE Trans. Information Theory 28; Arthur & Vassilvitskii (2007), SODA;
 * Hartigan (1975), Clustering Algorithms. */
#include "kmeans.h"
#include "models/common/described.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define KMEANS_OPTIONS(X)                                                                          \
    X(text,   k,        "2:8", "N", "number of clusters, or a range A:B, of which --choose chooses", "3")               \
    X(choice, choose,   "calinski-harabasz", "calinski-harabasz|silhouette",                       \
      "what chooses the number of clusters of a range: its highest value", "silhouette")           \
    X(count,  restarts, "10", ">=1", "starts, of which the best end is kept", "50")                \
    X(text,   init,     "k-means++", "FILE",                                                       \
      "how a start is made: k-means++, random (rows drawn at random), or a file with one centre per row, with columns by name", "random") \
    X(flag,   polish,   "true", "", "move single rows (Hartigan) and swap centres after Lloyd's steps, as long as that lowers the inertia", "false") \
    X(flag,   scores,   "false", "", "also compute silhouette and Calinski-Harabasz; the silhouette takes n^2 distances", "true") \
    X(real,   tol,      "0", "0..<1", "stop when a step lowers the inertia by no more than this share", "1e-4") \
    X(count,  max_iter, "1000", ">=1", "give up after this many steps of a start", "100")
/* clang-format on */
CR_OPTIONS(kmeans_options, kmeans_table, KMEANS_OPTIONS);

CRI_RECORD_TABLE(static, kmeans_record, cri_kmeans, CRI_KMEANS);

enum { BLOCK = 128 };
enum { BY_CALINSKI_HARABASZ, BY_SILHOUETTE }; /* --choose */

static void kmeans_release(cr_ctx *cx, void *state)
{
    cri_coordinates_free(cx, &((cri_kmeans *)state)->at);
}

/* --- options ---------------------------------------------------------------------------------- */

typedef struct between {
    size_t low, high;
} between;

static bool read_number(const char **text, size_t *out)
{
    size_t n = 0, digits = 0;
    for (; **text >= '0' && **text <= '9' && digits < 9; digits++, (*text)++)
        n = 10 * n + (size_t)(**text - '0');
    *out = n;
    return digits > 0 && n > 0;
}

static cr_status read_k(cr_ctx *cx, const char *text, between *out)
{
    const char *at = text;
    bool        good = read_number(&at, &out->low);
    out->high = out->low;
    if (good && *at == ':') at++, good = read_number(&at, &out->high);
    if (good && *at == '\0' && out->low <= out->high) return CR_OK;
    cr_fail(cx, CR_EARG, "kmeans: --k is '%s', but must be a whole number from 1, or a range A:B",
            text);
    return cr_fail_hint(cx, "--k 3 for three clusters, --k 2:8 to choose among 2 to 8");
}

/* As many clusters as there are different rows, at the most. */
static void limit_k(cr_ctx *cx, size_t distinct, between *k)
{
    if (k->high <= distinct) return;
    if (k->low == k->high || k->low > distinct)
        cr_log(cx, CR_LOG_WARNING,
               "kmeans: only %zu row%s differ%s, fewer than %zu clusters: each is a cluster",
               distinct, distinct == 1 ? "" : "s", distinct == 1 ? "s" : "", k->low);
    k->high = distinct;
    if (k->low > distinct) k->low = distinct;
}

/* The start that --init names: NULL for one at random. */
static cr_status read_init(cr_ctx *cx, const kmeans_options *o, const cr_design *design,
                           const cri_kmeans_rows *d, double **out_C, between *k)
{
    size_t    given = 0;
    bool      asked = strcmp(o->k, cr_option_find(kmeans_table, "k")->fallback) != 0;
    cr_status st;
    if (strcmp(o->init, "k-means++") == 0 || strcmp(o->init, "random") == 0) return CR_OK;
    st = cri_kmeans_read_centres(cx, o->init, design, d, out_C, &given);
    if (st != CR_OK) return st;
    if (asked && (k->low != given || k->high != given))
        st = cr_fail(cx, CR_EARG, "kmeans: %s has %zu centre%s, but --k is %s", o->init, given,
                     given == 1 ? "" : "s", o->k);
    else if (given > d->n)
        st = cr_fail(cx, CR_EARG, "kmeans: %s has %zu centres, but only %zu row%s differ%s",
                     o->init, given, d->n, d->n == 1 ? "" : "s", d->n == 1 ? "s" : "");
    k->low = k->high = given;
    if (st == CR_OK) return CR_OK;
    cr_free(cx, *out_C, given * d->p, sizeof(double));
    *out_C = NULL;
    return st;
}

/* --- fit -------------------------------------------------------------------------------------- */

static void square_block(void *arg, cri_range range, double *acc)
{
    const cri_kmeans_work *w = arg;
    size_t                 p = w->d->p;
    for (size_t i = range.begin; i < range.end; i++)
        for (size_t j = 0; j < p; j++) {
            double e = w->d->X[i * p + j] - w->C[w->a[i] * p + j];
            acc[w->a[i] * p + j] += w->d->w[i] * e * e;
        }
}

/* Centres, sizes and sds of the clusters, in their order; the rest of the state is there. */
static cr_status take_clusters(cr_ctx *cx, cri_kmeans_work *w, cri_kmeans *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = m->p, *order = cr_scratch_index(&s, m->k);
    double    *squares = cr_scratch_matrix(&s, m->k, p);

    CR_TRY(s.status);
    CR_TRY(cri_parallel_sum(cx, NULL, w->d->n, BLOCK, m->k * p, square_block, w, squares));
    cri_kmeans_order(m->k, p, w->size, w->C, order);
    for (size_t c = 0; c < m->k; c++) {
        size_t of = order[c];
        double size = m->size[c] = w->size[of];
        for (size_t j = 0; j < p; j++) {
            m->centre[c * p + j] = w->C[of * p + j];
            m->sd[c * p + j] = size > 1 ? sqrt(squares[of * p + j] / (size - 1) / size) : INFINITY;
        }
    }
    memcpy(m->shift, w->d->shift, p * sizeof(double));
    memcpy(m->scale, w->d->scale, p * sizeof(double));
    if (m->iterations > 0) memcpy(m->trace, w->trace, m->iterations * sizeof(double));
    CR_TRY(cri_clusters_name(cx, m->k, &m->at));
done:
    cr_scratch_end(&s);
    return st;
}

/* What a fit works on. */
typedef struct fit {
    const kmeans_options *o;
    cri_kmeans_settings   settings;
    cri_kmeans_rows       d;
    cri_clock             clock;
    between               k;
    cri_kmeans_work       best;
    cri_kmeans_end        end; /* of the best */
    bool                  cut;
    size_t                tried; /* numbers of clusters, of a range, and of each: */
    double               *inertia, *score, *agreed;
} fit;

static cr_status score(cr_ctx *cx, const fit *f, const cri_kmeans_work *w, double *out)
{
    *out = cri_kmeans_calinski_harabasz(w);
    return f->o->choose == BY_SILHOUETTE ? cri_kmeans_silhouette(cx, w, &f->clock, out) : CR_OK;
}

/* All numbers of clusters, and in f->best that of the highest score; of equal ones the fewest clusters. */
static cr_status try_all(cr_ctx *cx, fit *f)
{
    cr_status       st = CR_OK;
    double          highest = NAN, value = NAN, count = (double)(f->k.high - f->k.low + 1);
    cri_kmeans_work w = { 0 };
    for (size_t k = f->k.low; k <= f->k.high && !f->cut; k++) {
        cri_kmeans_end end;
        cri_progress_stage(cx, (double)(k - f->k.low + 1) / count);
        CR_TRY(cri_kmeans_work_open(cx, &f->d, k, &w));
        CR_TRY(cri_kmeans_search(cx, &w, &f->settings, &end));
        f->cut = end.cut || (k < f->k.high && cri_clock_over(&f->clock));
        if (f->k.low < f->k.high) {
            CR_TRY(score(cx, f, &w, &value));
            f->inertia[f->tried] = w.inertia, f->score[f->tried] = value;
            f->agreed[f->tried++] = (double)end.agreed;
        }
        if (f->best.k == 0 || value > highest || (isnan(highest) && !isnan(value))) {
            cri_kmeans_work swap = f->best;
            f->best = w, w = swap, f->end = end, highest = value;
        }
        cri_kmeans_work_close(cx, &w);
    }
done:
    cri_kmeans_work_close(cx, &w);
    return st;
}

static void take_tried(const fit *f, cri_kmeans *m)
{
    for (size_t i = 0; i < f->tried; i++) {
        m->tried_k[i] = f->k.low + i;
        m->tried_inertia[i] = f->inertia[i];
        m->tried_score[i] = f->score[i];
        m->tried_agreed[i] = f->agreed[i];
    }
}

/* The state, from the best of all. */
static cr_status take(cr_ctx *cx, fit *f, cri_kmeans *m)
{
    cr_status st = CR_OK;
    m->k = f->best.k, m->p = f->d.p, m->iterations = f->best.iterations, m->tried = f->tried;
    CR_TRY(cri_record_allocate(cx, kmeans_record, m));
    m->inertia = f->best.inertia, m->total = f->d.total;
    m->restarts = f->end.made, m->restarts_agreed = f->end.agreed;
    m->converged = f->best.converged, m->choose = f->o->choose;
    m->calinski_harabasz = m->silhouette = NAN;
    take_tried(f, m);
    if (f->o->scores) {
        m->calinski_harabasz = cri_kmeans_calinski_harabasz(&f->best);
        CR_TRY(cri_kmeans_silhouette(cx, &f->best, &f->clock, &m->silhouette));
        if (m->k > 1 && isnan(m->silhouette))
            cr_log(cx, CR_LOG_WARNING, "the time limit left no time for the silhouette");
    }
    CR_TRY(take_clusters(cx, &f->best, m));
done:
    return st;
}

/* The best number at an end of the range: the range may be wrong, and of data without clusters the scores say nothing,
 * as one cluster has none. */
static void warn_of_end(cr_ctx *cx, const fit *f)
{
    between k = f->k;
    if (f->cut || k.low == k.high || k.high == f->d.n) return;
    if (f->best.k == k.high)
        cr_log(cx, CR_LOG_WARNING,
               "%zu clusters are the most of the range: --k %zu:%zu tries more; there may also be "
               "no clusters at all, which gmm can find",
               k.high, k.low, 2 * k.high);
    else if (f->best.k == k.low && k.low > 2)
        cr_log(cx, CR_LOG_WARNING, "%zu clusters are the fewest of the range: --k 2:%zu tries less",
               k.low, k.high);
}

static void set_report(cr_ctx *cx, const fit *f, const cri_kmeans *m, cr_report *report)
{
    report->iterations = m->iterations;
    report->stop = f->cut ? CR_STOP_TIME : m->converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    if (f->cut && f->k.low < f->k.high)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the search after %zu of %zu numbers of clusters: this is the "
               "best so far",
               f->tried, f->k.high - f->k.low + 1);
    else if (f->cut)
        cr_log(cx, CR_LOG_WARNING,
               "the time limit ended the search after %zu of %zu starts: this is the best so far",
               f->end.made, f->settings.restarts);
    warn_of_end(cx, f);
}

/* Silhouettes take the distances of all rows to each other. */
static cr_status check_sampled(cr_ctx *cx, const kmeans_options *o, between k)
{
    bool chooses = o->choose == BY_SILHOUETTE && k.low < k.high;
    if (!o->scores && !chooses) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED,
            "kmeans: %s needs all rows at once, but this stream has more rows than are kept",
            chooses ? "--choose silhouette" : "--scores");
    return cr_fail_hint(cx, "without --stream the rows are held in memory");
}

/* The centres of a sample, improved by steps over all rows. */
static cr_status pass_stream(cr_ctx *cx, const cri_rows *rows, fit *f, cri_kmeans *m)
{
    bool cut = false;
    cr_log(cx, CR_LOG_INFO, "centres of a sample of %zu rows: now steps over all", f->d.n);
    cr_status st = cri_kmeans_pass_stream(cx, rows, &f->settings.limits, m, &cut);
    m->total = f->d.all_total;
    f->cut |= cut;
    return st;
}

static cr_status kmeans_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const kmeans_options *o = options;
    bool                  own_bar = cri_progress_open_steps(cx, "k-means");
    cri_kmeans           *m = cr_alloc(cx, 1, sizeof *m);
    double               *C = NULL;
    size_t                given = 0;
    fit                   f = { .o = o, .clock = cri_clock_start(cx, NAN) };

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(read_k(cx, o->k, &f.k));
    CR_TRY(cri_check_numbers(cx, "kmeans", rows->design));
    CR_TRY(cri_kmeans_rows_open(cx, rows, rows->design->standardised, seed, &f.d));
    if (f.d.sampled) CR_TRY(check_sampled(cx, o, f.k));
    CR_TRY(read_init(cx, o, rows->design, &f.d, &C, &f.k));
    given = f.k.low;
    if (!C) limit_k(cx, f.d.n, &f.k);
    f.settings = (cri_kmeans_settings){ .restarts = o->restarts,
                                        .random = strcmp(o->init, "random") == 0,
                                        .polish = o->polish,
                                        .opt_C = C,
                                        .seed = seed,
                                        .limits = { o->tol, o->max_iter, &f.clock, 0 } };
    f.inertia = cr_scratch_f64(&s, f.k.high - f.k.low + 1);
    f.score = cr_scratch_f64(&s, f.k.high - f.k.low + 1);
    f.agreed = cr_scratch_f64(&s, f.k.high - f.k.low + 1);
    CR_TRY(s.status);
    CR_TRY(try_all(cx, &f));
    CR_TRY(take(cx, &f, m));
    if (f.d.sampled) CR_TRY(pass_stream(cx, rows, &f, m));
    set_report(cx, &f, m, report);
    *out_state = m;
    m = NULL;
done:
    if (own_bar) cri_progress_close(cx);
    cri_kmeans_work_close(cx, &f.best);
    cr_free(cx, C, given * f.d.p, sizeof *C);
    cri_kmeans_rows_close(cx, &f.d);
    cri_state_free(cx, &cri_class_kmeans, m);
    cr_scratch_end(&s);
    return st;
}

/* --- answers ---------------------------------------------------------------------------------- */

typedef struct answers {
    const cri_kmeans *m;
    const cri_rows   *rows;
    double           *out;
} answers;

/* T [BLOCK x p] is workspace. */
static void measure_block(void *arg, cri_range range, double *T)
{
    const answers    *w = arg;
    const cri_kmeans *m = w->m;
    size_t            p = m->p, k = m->k;
    cri_rows_fill(w->rows, range.begin, range.end, T, p);
    for (size_t i = range.begin; i < range.end; i++) {
        double *t = T + (i - range.begin) * p;
        for (size_t j = 0; j < p; j++) t[j] = (t[j] - m->shift[j]) / m->scale[j];
        for (size_t c = 0; c < k; c++)
            w->out[i * k + c] = sqrt(cri_kmeans_square(t, m->centre + c * p, p));
    }
}

static cr_status kmeans_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    answers w = { state, rows, out->vector };
    return cri_parallel_rows(cx, "measuring", rows->n, BLOCK, BLOCK * w.m->p, measure_block, &w);
}

static const char *const *kmeans_labels(const void *state, size_t *out_n)
{
    const cri_kmeans *m = state;
    *out_n = m->k;
    return m->at.names;
}

/* --- clusters, and the choice of their number ------------------------------------------------- */

static void kmeans_cluster(const void *state, size_t c, double *out_share, double *mean,
                           double *opt_covariance)
{
    const cri_kmeans *m = state;
    double            all = 0;
    (void)opt_covariance;
    for (size_t i = 0; i < m->k; i++) all += m->size[i];
    *out_share = m->size[c] / all;
    for (size_t j = 0; j < m->p; j++) mean[j] = m->shift[j] + m->scale[j] * m->centre[c * m->p + j];
}

static void kmeans_choice(const void *state, cri_choice *out)
{
    const cri_kmeans *m = state;
    *out =
        (cri_choice){ .n = m->tried,
                      .by = m->choose == BY_SILHOUETTE ? "silhouette" : "Calinski-Harabasz index",
                      .of = "clusters",
                      .no_value = "the score is not defined for them",
                      .how = "--k 2:8" };
}

static void kmeans_candidate(const void *state, size_t i, cri_candidate *out)
{
    const cri_kmeans *m = state;
    *out = (cri_candidate){ .number = m->tried_k[i],
                            .value = isfinite(m->tried_score[i]) ? m->tried_score[i] : NAN,
                            .chosen = m->tried_k[i] == m->k };
}

/* --- describe and file ------------------------------------------------------------------------ */

static const cr_field kmeans_statistics[] = {
    CR_COUNT("k", 0, "clusters"),
    CR_NUMBER("inertia", 0,
              "sum of squared distances of the rows to the centres of their clusters, in the units "
              "of the columns as scaled"),
    CR_NUMBER("explained", CR_FIELD_NULL, "share of that of one cluster which is gone"),
    CR_COUNT("iterations", 0, "steps of the start that was kept"),
    CR_COUNT("restarts", 0, "starts that were made"),
    CR_COUNT("restarts_agreed", 0,
             "of these, how many ended within a share of 1e-6 of the best inertia"),
    CR_FLAG("converged", 0, "whether the last step changed nothing, or less than --tol"),
    CR_NUMBER("size(CLUSTER)", CR_FIELD_SOMETIMES, "of each cluster: its rows, as they weigh"),
    CR_NUMBER("calinski_harabasz", CR_FIELD_EITHER,
              "with --scores: variance between the clusters over that within them"),
    CR_NUMBER("silhouette", CR_FIELD_EITHER, "with --scores: mean silhouette of the rows"),
    CR_FIELD_LAST,
};

static const cr_field tried_fields[] = {
    CR_COUNT("k", 0, "clusters"),
    CR_NUMBER("inertia", 0, "the least that was found"),
    CR_NUMBER("score", CR_FIELD_NULL,
              "what --choose names, of which the highest is chosen; null if it is not defined"),
    CR_COUNT("restarts_agreed", 0, "starts that ended with this inertia"),
    CR_FLAG("chosen", 0, "whether the model has so many clusters"),
    CR_FIELD_LAST,
};

static const cr_field kmeans_tables[] = {
    CR_INNER(ROWS, "choice", CR_FIELD_SOMETIMES,
             "with a range of --k: each number of clusters that was tried", tried_fields),
    CR_FIELD_LAST,
};

static void describe_statistics(const cri_kmeans *m, cri_sheet *s)
{
    char name[64];
    cri_put_count(s, "k", m->k);
    cri_put_real(s, "inertia", m->inertia);
    cri_put_real(s, "explained", m->total > 0 ? 1 - m->inertia / m->total : NAN);
    cri_put_count(s, "iterations", m->iterations);
    cri_put_count(s, "restarts", m->restarts);
    cri_put_count(s, "restarts_agreed", m->restarts_agreed);
    cri_put_flag(s, "converged", m->converged);
    for (size_t c = 0; c < m->k; c++) {
        snprintf(name, sizeof name, "size(%s)", m->at.names[c]);
        cri_put_real(s, name, m->size[c]);
    }
    if (isnan(m->calinski_harabasz) && isnan(m->silhouette)) return;
    cri_put_real(s, "calinski_harabasz", m->calinski_harabasz);
    cri_put_real(s, "silhouette", m->silhouette);
}

static cr_status kmeans_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    const cri_kmeans *m = state;
    cri_sheet        *list = cri_put_list(out, "parameters");
    for (size_t c = 0; c < m->k; c++)
        for (size_t j = 0; j < m->p; j++) {
            double sd = m->sd[c * m->p + j] * m->scale[j];
            cri_parameter_add(list, m->shift[j] + m->scale[j] * m->centre[c * m->p + j],
                              isfinite(sd) ? sd : NAN, "c%s.%s", m->at.names[c],
                              cr_design_term_name(design, j));
        }
    describe_statistics(m, cri_put_object(out, "statistics"));
    list = m->tried > 0 ? cri_put_list(out, "choice") : NULL;
    for (size_t i = 0; i < m->tried; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_count(row, "k", m->tried_k[i]);
        cri_put_real(row, "inertia", m->tried_inertia[i]);
        cri_put_real(row, "score", m->tried_score[i]);
        cri_put_count(row, "restarts_agreed", (size_t)m->tried_agreed[i]);
        cri_put_flag(row, "chosen", m->tried_k[i] == m->k);
    }
    (void)cx;
    return CR_OK;
}

static cr_status kmeans_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_kmeans *m = state;
    return m->p == cr_design_terms(design) ? cri_clusters_name(cx, m->k, &m->at) : CR_EDATA;
}

const cr_model_class cri_class_kmeans = {
    .example = "examples/iris.csv --features '*cm' --k 3",
    .name = "kmeans",
    .summary = "k-means: clusters around centres, each the mean of the rows nearest to it",
    .formulas = "minimise  inertia = sum_i w_i min_c |t_i - c|^2,   t = (x - shift) / scale\n"
                "cluster of a row: that of the nearest of k centres",
    .reference = "Lloyd (1982), IEEE Trans. Information Theory 28; Arthur & Vassilvitskii (2007), "
                 "SODA; Hartigan (1975), Clustering Algorithms",
    .tasks = CR_TASK_CLUSTER,
    .options = kmeans_table,
    .options_size = sizeof(kmeans_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .whole = &(const cri_whole_face){ .fit = kmeans_fit, .passes = true },
    .rows = &(const cri_rows_face){ .predict = kmeans_predict,
                                    .labels = kmeans_labels,
                                    .by_distance = true },
    .clusters = &(const cri_clusters_face){ .cluster = kmeans_cluster },
    .choice = &(const cri_choice_face){ .choice = kmeans_choice, .candidate = kmeans_candidate },
    .describe = kmeans_describe,
    .statistics = kmeans_statistics,
    .tables = kmeans_tables,
    .state = kmeans_record,
    .state_size = sizeof(cri_kmeans),
    .ready = kmeans_ready,
    .release = kmeans_release,
};
