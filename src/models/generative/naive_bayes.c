/* naive_bayes.c -- naive Bayes for columns of all kinds at once; see bayes_columns.h. */
#include "bayes_columns.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define NAIVE_BAYES_OPTIONS(X)                                                                       \
    X(list,   numbers,        "gaussian", "", "distribution of numbers: gaussian, kernel, multinomial, bernoulli[:THRESHOLD] or poisson; COLUMN=... for single columns", "kernel")                         \
    X(real,   smoothing,      "1",      ">=0", "added to each count of levels, ones and zeros, and words", "0.5") \
    X(real,   variance_floor, "1e-9",   "0<..1", "minimum variance in a class, as a share of that over all rows", "1e-6") \
    X(list,   bandwidth,      "",       "", "bandwidth of kernels, in the units of the column: H, or COLUMN=H for single columns; default: Silverman's rule", "0.3")                                                          \
    X(list,   priors,         "",       "", "prior probabilities of the classes: uniform, or CLASS=P for each; default: their shares of the rows", "uniform")                                                    \
    X(choice, predictive,     "shrunk", "plugin|bayes|shrunk",                                       \
      "densities of numbers and counts at the estimated parameters, or averaged over their posterior: under a flat prior, or under one by which classes with few rows lean on all rows", "plugin")
/* clang-format on */

CR_OPTIONS(naive_bayes_options, naive_bayes_table, NAIVE_BAYES_OPTIONS);
enum { PREDICTIVE_PLUGIN, PREDICTIVE_BAYES, PREDICTIVE_SHRUNK };
static const cri_requirement naive_bayes_requirements[] = {
    { "bandwidth", "numbers", "kernel", false },
    CRI_REQUIREMENT_LAST,
};

/* The whole, and its parts as they are made one after another. */
CRI_RECORD_TABLE(static, nb_record, cri_nb, CRI_NB_STATE);
CRI_RECORD_TABLE(static, columns_record, cri_nb, CRI_NB_COLUMNS);
CRI_RECORD_TABLE(static, sums_record, cri_nb, CRI_NB_SUMS);
CRI_RECORD_TABLE(static, scores_record, cri_nb, CRI_NB_SCORES);

static void nb_release(cr_ctx *cx, void *state)
{
    cri_nb *m = state;
    cr_free(cx, m->entry, m->p * m->K, sizeof *m->entry);
    m->entry = NULL;
}

/* Whether term j is the same in every row: the spread it is given then is not one of the data. */
static bool is_constant(const cri_nb *m, size_t j)
{
    double n = 0, mean = 0, total = 0;
    for (size_t k = 0; k < m->K; k++) {
        double w = m->weight[k * m->p + j];
        if (w > 0) n += w, mean += w * m->mean[k * m->p + j];
    }
    mean = n > 0 ? mean / n : 0;
    for (size_t k = 0; k < m->K; k++) {
        double w = m->weight[k * m->p + j], d = m->mean[k * m->p + j] - mean;
        if (w > 0) total += w * d * d + m->scatter[k * m->p + j];
    }
    return n > 0 && (!(total > 1e-26 * n * mean * mean) || !(total > 0));
}

/* Numbers that are normal and the same in every row. */
static void warn_of_constants(cr_ctx *cx, const cri_nb *m, const cr_design *d)
{
    size_t constant = 0, same = 0;
    for (size_t j = 0; j < m->p; j++)
        if (cri_nb_kind_of(m, j) == CRI_NB_GAUSSIAN && is_constant(m, j) && constant++ == 0)
            same = j;
    if (constant)
        cr_log(cx, CR_LOG_WARNING,
               "'%s'%s is constant: it carries no information about the classes",
               cr_design_term_name(d, same), constant > 1 ? " (and others)" : "");
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status nb_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    cr_status                  st = CR_OK;
    const naive_bayes_options *o = options;
    cri_nb                    *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) return CR_ENOMEM;
    m->K = cr_design_classes(rows->design);
    m->p = rows->p;
    m->smoothing = o->smoothing;
    m->floor = o->variance_floor;
    m->bayes = o->predictive == PREDICTIVE_BAYES;
    m->shrunk = o->predictive == PREDICTIVE_SHRUNK;
    CR_TRY(cri_record_allocate(cx, columns_record, m));
    CR_TRY(cri_nb_read_kinds(cx, rows->design, o->numbers, o->bandwidth, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_naive_bayes, m);
    return st;
}

/* What the columns are is borrowed from the state. */
static cr_status nb_gather(cr_ctx *cx, const void *state, const cri_rows *rows, const void *options,
                           void *sums)
{
    cr_status     st = CR_OK;
    const cri_nb *of = state;
    cri_nb       *m = sums;
    (void)options;
    m->K = cr_design_classes(rows->design);
    m->p = of->p, m->L = of->L, m->kernels = of->kernels;
    m->cells = m->kernels * m->K;
    m->ends = m->cells + 1;
    CR_TRY(cri_record_allocate(cx, sums_record, m));
    m->kind = of->kind, m->threshold = of->threshold, m->first = of->first;
    CR_TRY(cri_nb_gather(cx, rows, m));
    CR_TRY(cri_nb_set_points(cx, rows, m));
done:
    m->kind = NULL, m->threshold = NULL, m->first = NULL;
    return st;
}

static cr_status nb_merge(cr_ctx *cx, const void *state, void *a, const void *b)
{
    (void)state;
    cri_nb_merge(a, b);
    return cri_nb_add_points(cx, b, a);
}

/* Fails where no column has any value: gaps everywhere are not data. */
static cr_status check_values(cr_ctx *cx, const cri_nb *m)
{
    double sum = 0;
    for (size_t c = 0; c < m->K * m->p; c++) sum += m->weight[c];
    if (sum > 0 || m->p == 0) return CR_OK;
    return cr_fail(cx, CR_EDATA, "all values of all columns are missing");
}

static cr_status nb_solve(cr_ctx *cx, const cr_design *d, const void *options, void *state,
                          cr_report *report)
{
    cr_status                  st = CR_OK;
    const naive_bayes_options *o = options;
    cri_nb                    *m = state;
    CR_TRY(cri_record_allocate(cx, scores_record, m));
    CR_TRY(check_values(cx, m));
    CR_TRY(cri_priors_read(cx, d, o->priors, m->class_weight, m->log_prior));
    CR_TRY(cri_nb_prepare(cx, d, m));
    if (d->block.n == 0) warn_of_constants(cx, m, d);
    report->stop = CR_STOP_CLOSED_FORM;
    report->log_likelihood = cri_nb_log_likelihood(m);
done:
    return st;
}

static void nb_reopen(cr_ctx *cx, void *state)
{
    nb_release(cx, state);
    cri_record_free(cx, scores_record, state);
}

/* Rows of `from` [K x width] to their new places in `to`. */
static void move_rows(const double *from, size_t K, size_t width, const size_t *map, double *to)
{
    for (size_t k = 0; k < K && width > 0; k++)
        memcpy(to + map[k] * width, from + k * width, width * sizeof *to);
}

/* The points of kernels stay as they lie, since classes keep their order. */
static cr_status nb_join(cr_ctx *cx, void *sums, const size_t *map, size_t classes)
{
    cr_status st;
    cri_nb   *m = sums, all = { .K = classes, .p = m->p, .L = m->L, .kernels = m->kernels };
    all.cells = m->kernels * classes;
    all.ends = all.cells + 1;
    all.log_shared = m->log_shared;
    st = cri_record_allocate(cx, sums_record, &all);
    if (st != CR_OK) {
        cri_record_free(cx, sums_record, &all);
        return st;
    }
    move_rows(m->class_weight, m->K, 1, map, all.class_weight);
    move_rows(m->weight, m->K, m->p, map, all.weight);
    move_rows(m->mean, m->K, m->p, map, all.mean);
    move_rows(m->scatter, m->K, m->p, map, all.scatter);
    move_rows(m->count, m->K, m->L, map, all.count);
    for (size_t c = 0; c < m->kernels; c++)
        for (size_t k = 0, old = 0; k < classes; k++) {
            all.start[c * classes + k] = m->start[c * m->K + old];
            if (old < m->K && map[old] == k) old++;
        }
    all.start[all.cells] = m->points;
    cr_free(cx, all.point, 0, sizeof *all.point);
    cr_free(cx, all.mass, 0, sizeof *all.mass);
    all.points = m->points, all.point = m->point, all.mass = m->mass;
    m->point = m->mass = NULL;
    cri_record_move(cx, sums_record, &all, m);
    return CR_OK;
}

static cr_status nb_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    return cri_nb_score(cx, state, rows, false, out->prob);
}

static cr_status nb_log_joint(cr_ctx *cx, const void *state, const cri_rows *rows, double *out)
{
    return cri_nb_score(cx, state, rows, true, out);
}

/* --- describe -------------------------------------------------------------------------------- */

static void describe_levels(const cri_nb *m, const cr_design *d, size_t j, size_t k,
                            cri_sheet *list)
{
    const cri_design_column *column = &d->columns[d->terms[j - d->block.n].column];
    double                   n = m->weight[k * m->p + j] + m->smoothing * (double)column->n_levels;
    for (size_t l = 0; l < column->n_levels; l++) {
        double p = exp(m->log_level[k * m->L + m->first[j] + l]);
        cri_parameter_add(list, p, sqrt(p * (1 - p) / (n + 1)), "%s=%s | %s", column->name,
                          column->levels[l], cr_design_class(d, k));
    }
}

/* The mean, rate or probability with its uncertainty, and the spread of numbers. */
static void describe_term(const cri_nb *m, const cr_design *d, size_t j, size_t k, cri_sheet *list)
{
    cri_nb_kind         kind = cri_nb_kind_of(m, j);
    size_t              cell = k * m->p + j;
    const cri_nb_entry *e = &m->entry[j * m->K + k];
    double              n = m->weight[cell], mean = n > 0 ? m->mean[cell] : NAN, p = e->c;
    double              spread = NAN, value = mean, sd = NAN;
    if (kind == CRI_NB_CATEGORY) {
        describe_levels(m, d, j, k, list);
        return;
    }
    if (kind == CRI_NB_GAUSSIAN)
        spread = !(e->d > 0) ? 1 / e->b : n > 1 ? sqrt(m->scatter[cell] / n) : NAN;
    if (kind == CRI_NB_GAUSSIAN && is_constant(m, j)) spread = 0;
    if (kind == CRI_NB_KERNEL) spread = sqrt(m->scatter[cell] / n);
    if (kind == CRI_NB_GAUSSIAN || kind == CRI_NB_KERNEL) sd = spread / sqrt(n);
    if (kind == CRI_NB_POISSON) sd = sqrt(mean / n);
    if (kind == CRI_NB_BERNOULLI || kind == CRI_NB_MULTINOMIAL) {
        value = p;
        sd = kind == CRI_NB_BERNOULLI ? sqrt(p * (1 - p) / (n + 2 * m->smoothing + 1)) : NAN;
    }
    cri_sheet *row = cri_parameter_add(list, value, sd, "%s | %s", cr_design_term_name(d, j),
                                       cr_design_class(d, k));
    cri_put_real(row, "spread", spread);
}

static void describe_bandwidths(const cri_nb *m, const cr_design *d, cri_sheet *s)
{
    for (size_t j = 0; j < m->p; j++) {
        if (cri_nb_kind_of(m, j) != CRI_NB_KERNEL) continue;
        for (size_t k = 0; k < m->K; k++) {
            char name[512];
            snprintf(name, sizeof name, "bandwidth(%s | %s)", cr_design_term_name(d, j),
                     cr_design_class(d, k));
            cri_put_real(s, name, m->bandwidth[m->first[j] * m->K + k]);
        }
    }
}

static const cr_field nb_statistics[] = {
    CR_COUNT("gaussian_columns", CR_FIELD_SOMETIMES,
             "columns whose distribution in a class is normal"),
    CR_COUNT("kernel_columns", CR_FIELD_SOMETIMES,
             "columns whose distribution in a class is a kernel density"),
    CR_COUNT("multinomial_columns", CR_FIELD_SOMETIMES,
             "columns whose distribution in a class is multinomial"),
    CR_COUNT("bernoulli_columns", CR_FIELD_SOMETIMES,
             "columns whose distribution in a class is Bernoulli"),
    CR_COUNT("poisson_columns", CR_FIELD_SOMETIMES,
             "columns whose distribution in a class is Poisson"),
    CR_COUNT("category_columns", CR_FIELD_SOMETIMES,
             "columns whose distribution in a class is categorical"),
    CR_NUMBER("smoothing", 0, "added to every count"),
    CR_TEXT(
        "predictive", 0,
        "shrunk: averaged over the parameters, classes with few rows leaning on all rows; bayes: "
        "averaged under a flat prior; plugin: at their estimate"),
    CR_NUMBER("prior_rows", CR_FIELD_SOMETIMES,
              "of shrunk normal columns: rows at the mean over all that the prior of a class is "
              "worth"),
    CR_NUMBER("bandwidth(COLUMN | CLASS)", CR_FIELD_SOMETIMES,
              "of kernel columns: width of the kernel"),
    CRI_PRIOR_FIELDS,
    CR_FIELD_LAST,
};

static cr_status nb_describe(cr_ctx *cx, const void *state, const cr_design *d, cri_sheet *out)
{
    static const char *const names[CRI_NB_KINDS] = { "gaussian_columns",    "kernel_columns",
                                                     "multinomial_columns", "bernoulli_columns",
                                                     "poisson_columns",     "category_columns" };
    const cri_nb            *m = state;
    cri_sheet               *list = cri_put_list(out, "parameters"), *s;
    size_t                   columns[CRI_NB_KINDS] = { 0 };
    for (size_t k = 0; k < m->K; k++)
        for (size_t j = 0; j < m->p; j++) describe_term(m, d, j, k, list);
    s = cri_put_object(out, "statistics");
    for (size_t j = 0; j < m->p; j++) columns[cri_nb_kind_of(m, j)]++;
    for (size_t i = 0; i < CRI_NB_KINDS; i++)
        if (columns[i]) cri_put_count(s, names[i], columns[i]);
    cri_put_real(s, "smoothing", m->smoothing);
    cri_put_text(s, "predictive", m->shrunk ? "shrunk" : m->bayes ? "bayes" : "plugin");
    if (m->shrunk && columns[CRI_NB_GAUSSIAN]) cri_put_real(s, "prior_rows", m->prior_rows);
    cri_priors_describe(d, m->class_weight, m->log_prior, s);
    describe_bandwidths(m, d, s);
    (void)cx;
    return CR_OK;
}

/* --- file ------------------------------------------------------------------------------------ */

/* Whether kinds and places are what the columns of the design give. */
static bool fits_design(const cri_nb *m, const cr_design *d)
{
    size_t L = 0, kernels = 0;
    if (m->K != cr_design_classes(d) || m->p != cr_design_terms(d)) return false;
    for (size_t j = 0; j < m->p; j++) {
        bool category = cri_term_levels(d, j) > 0, kernel = m->kind[j] == CRI_NB_KERNEL;
        if (category != (m->kind[j] == CRI_NB_CATEGORY)) return false;
        if (m->first[j] != (kernel ? kernels : L)) return false;
        kernels += kernel;
        L += cri_term_levels(d, j);
    }
    return m->L == L && m->kernels == kernels && m->cells == kernels * m->K &&
           m->ends == m->cells + 1 && m->start[0] == 0 && m->start[m->cells] == m->points;
}

static bool nb_fits(const void *state, void *sums)
{
    const cri_nb *m = state, *s = sums;
    return s->K == m->K && s->p == m->p && s->L == m->L && s->kernels == m->kernels &&
           s->cells == m->cells && s->ends == m->ends && s->start[0] == 0 &&
           s->start[s->cells] == s->points;
}

static cr_status nb_ready(cr_ctx *cx, void *state, const cr_design *d)
{
    cr_status st;
    if (!fits_design(state, d)) return CR_EDATA;
    st = cri_record_allocate(cx, scores_record, state);
    return st == CR_OK ? cri_nb_prepare(cx, d, state) : st;
}

const cr_model_class cri_class_naive_bayes = {
    .example = "examples/iris.csv --target species",
    .name = "naive-bayes",
    .summary = "naive Bayes: columns of all kinds, independent given the class",
    .formulas = "p(k | x) ~ prior_k prod_j p(x_j | k);  a missing x_j has no factor\n"
                "numbers: normal, kernel density, Poisson, Bernoulli, multinomial counts\n"
                "categories: (n_kl + a) / (n_k + a levels);  booleans: (n_k1 + a) / (n_k + 2 a)",
    .reference =
        "Hand & Yu (2001), Int. Stat. Review 69; John & Langley (1995), UAI 11; Bishop (2006), "
        "sec. 8.2.2",
    .joint = true,
    .tasks = CR_TASK_CLASSIFICATION,
    .options = naive_bayes_table,
    .requirements = naive_bayes_requirements,
    .options_size = sizeof(naive_bayes_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .takes_missing = true,
    .takes_sparse = true,
    .coding = CRI_CODING_CODE,
    .sums = &(const cri_sums_face){ .record = sums_record,
                                    .size = sizeof(cri_nb),
                                    .open = nb_open,
                                    .gather = nb_gather,
                                    .merge = nb_merge,
                                    .join = nb_join,
                                    .solve = nb_solve,
                                    .reopen = nb_reopen,
                                    .fits = nb_fits },
    .rows = &(const cri_rows_face){ .predict = nb_predict, .log_joint = nb_log_joint },
    .describe = nb_describe,
    .statistics = nb_statistics,
    .state = nb_record,
    .state_size = sizeof(cri_nb),
    .ready = nb_ready,
    .release = nb_release,
};
