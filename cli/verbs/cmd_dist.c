/* cmd_dist.c -- dist: the distribution calculator.  A list, a page about one, or the quantities
 * asked for, all from the descriptors of the registry. */
#include "dist_job.h"
#include "dist_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

CR_OPTIONS_TABLE(static, dist_table, dist_options, DIST_OPTIONS);

/* --- the result ------------------------------------------------------------------------------ */

static const cr_field dist_parameter[] = {
    CR_TEXT("name", 0, "name of the parameter"),
    CR_TEXT("domain", 0, "the values it can have"),
    CR_TEXT("help", 0, "one line"),
    CR_TEXT("example", 0, "a value"),
    CR_FIELD_LAST,
};

#define ABOUT_DIST(marks)                                                                          \
    CR_TEXT("name", marks, "of a page: name of the distribution"),                                 \
        CR_TEXT("summary", marks, "of a page: one line"),                                          \
        CR_TEXT("formula", marks, "of a page: density or mass in plain text"),                     \
        CR_TEXT("support", marks, "of a page: the values it can take"),                            \
        CR_FLAG("discrete", marks, "of a page: whether its values are whole numbers only"),        \
        CR_TEXT("reference", marks, "of a page: book or paper"),                                   \
        CR_OTHER(TEXTS, "offers", marks, "of a page: the quantities available")

static const cr_field about_dist[] = {
    ABOUT_DIST(0),
    CR_INNER(ROWS, "parameters", 0, "its parameters, in order", dist_parameter),
    CR_FIELD_LAST,
};

static const cr_field natural[] = {
    CR_OTHER(TEXTS, "statistics", 0, "the sufficient statistics"),
    CR_OTHER(ARRAY, "parameters", 0, "the natural parameter of each"),
    CR_OTHER(ARRAY, "mean_statistics", 0, "the mean of each"),
    CR_MEASURE("log_partition", "nats", CR_FIELD_NULL, "logarithm of the normaliser"),
    CR_FIELD_LAST,
};

static const cr_field density_plot[] = {
    CR_OTHER(ARRAY, "x", 0, "points, evenly spaced"),
    CR_OTHER(ARRAY, "density", 0, "density or mass there; null if infinite"),
    CR_FIELD_LAST,
};

#define ASKED(type, name, help) CR_OTHER(type, name, CR_FIELD_SOMETIMES, help)
#define ASKED_NATS(name, help) CR_MEASURE(name, "nats", CR_FIELD_EITHER, help)

static const cr_field result[] = {
    CR_INNER(ROWS, "distributions", CR_FIELD_SOMETIMES, "without NAME: all distributions",
             about_dist),
    ABOUT_DIST(CR_FIELD_SOMETIMES),
    ASKED(TEXT, "distribution", "of an answer: name of the distribution"),
    ASKED(ANY, "parameters",
          "of an answer: each name to a number or an array of numbers, matrices row by row; of a "
          "page: an array of objects with name, domain, help and example"),
    ASKED(COUNT, "rows", "number of values fitted to, with --fit"),
    ASKED_NATS("log_likelihood", "log likelihood at the fit, with --fit"),
    ASKED(ENTRIES, "mean", "the mean, for vectors of each entry; null if infinite, as below"),
    ASKED(ENTRIES, "variance", "the variance, for vectors of each entry"),
    ASKED(ENTRIES, "sd", "the standard deviation, for vectors of each entry"),
    ASKED(ENTRIES, "mode", "where the density is highest"),
    ASKED_NATS("entropy", "the entropy"),
    ASKED(ARRAY, "pdf", "density or mass at each point asked for"),
    ASKED(ARRAY, "logpdf", "its logarithm; null where the density is 0"),
    ASKED(ARRAY, "cdf", "P(X <= x) for each x asked for"),
    ASKED(ARRAY, "sf", "P(X > x) for each x"),
    ASKED(ARRAY, "logcdf", "log P(X <= x) for each x"),
    ASKED(ARRAY, "logsf", "log P(X > x) for each x"),
    ASKED(ARRAY, "quantile", "the quantile of each probability asked for"),
    ASKED(ARRAY, "interval", "both ends of the central interval; null for an infinite end"),
    ASKED(ARRAY, "hdi", "both ends of the shortest interval"),
    CR_INNER(OBJECT, "natural", CR_FIELD_SOMETIMES, "as an exponential family, with --natural",
             natural),
    ASKED_NATS("kl", "divergence to the distribution with the parameters of --kl"),
    ASKED(COUNT, "seed", "random seed of the draws"),
    ASKED(ANY, "sample", "the draws: an array of numbers, or of arrays of numbers for vectors"),
    CR_INNER(OBJECT, "plot", CR_FIELD_SOMETIMES, "the density as points, with --plot",
             density_plot),
    CR_FIELD_LAST,
};
#undef ASKED
#undef ASKED_NATS

void dist_add_row(dist_job *j, const char *quantity, const char *at, double value)
{
    if (j->c->format == FORMAT_JSON) return;
    cri_sheet *row = cri_put_object(j->r.rows, NULL);
    cri_put_text(row, "quantity", quantity);
    cri_put_text(row, "at", at);
    if (isnan(value))
        cri_put_text(row, "value", "nan");
    else
        cli_put_cell(row, "value", value);
}

void dist_add_number(dist_job *j, const char *name, double value)
{
    cri_put_real(j->r.object, name, value);
    dist_add_row(j, name, "", value);
}

/* n values under one name; labels NULL: numbered from 1. */
static void add_numbers(dist_job *j, const char *name, const double *labels, const double *value,
                        size_t n)
{
    cri_put_reals(j->r.object, name, value, n);
    for (size_t i = 0; i < n; i++) {
        char text[32];
        if (labels)
            out_number(labels[i], true, text);
        else
            snprintf(text, sizeof text, "%zu", i + 1);
        dist_add_row(j, name, text, value[i]);
    }
}

/* --- quantities ------------------------------------------------------------------------------ */

typedef cr_status number_call(cr_ctx *, const cr_dist_class *, const double *, size_t, double *);

static double square_root(double x) { return sqrt(x); }
static double exponential(double x) { return exp(x); }

static const struct {
    const char  *name;
    size_t       flag;
    number_call *one, *entries; /* of one variable; of each entry of a vector, or of the whole */
    bool         whole;
    double (*then)(double);
} numbers[] = {
    { "mean", offsetof(dist_options, mean), cr_dist_mean, cr_dist_vector_mean, false, NULL },
    { "variance", offsetof(dist_options, variance), cr_dist_variance, cr_dist_vector_variance,
      false, NULL },
    { "sd", offsetof(dist_options, sd), cr_dist_variance, cr_dist_vector_variance, false,
      square_root },
    { "mode", offsetof(dist_options, mode), cr_dist_mode, cr_dist_vector_mode, false, NULL },
    { "entropy", offsetof(dist_options, entropy), cr_dist_entropy, cr_dist_vector_entropy, true,
      NULL },
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static const struct {
    const char *name;
    size_t      list;
    bool        density; /* vectors have it too */
    double (*then)(double);
} points[] = {
    { "pdf", offsetof(dist_options, pdf), true, exponential },
    { "logpdf", offsetof(dist_options, logpdf), true, NULL },
    { "cdf", offsetof(dist_options, cdf), false, NULL },
    { "sf", offsetof(dist_options, sf), false, NULL },
    { "logcdf", offsetof(dist_options, logcdf), false, NULL },
    { "logsf", offsetof(dist_options, logsf), false, NULL },
    { "quantile", offsetof(dist_options, quantile), false, NULL },
};
enum { N_POINTS = sizeof points / sizeof *points };

static bool flag_at(const dist_job *j, size_t offset)
{
    return *(const bool *)((const char *)j->o + offset);
}

static cr_status answer_number(dist_job *j, size_t i)
{
    cr_status st = CR_OK;
    bool      vector = cr_dist_is_vector(j->dist), many = vector && !numbers[i].whole;
    size_t    n = many ? j->size : 1;
    double   *value = cr_scratch_f64(&j->s, n);
    CR_TRY(j->s.status);
    CR_TRY((vector ? numbers[i].entries : numbers[i].one)(j->c->cx, j->dist, j->v, j->n, value));
    for (size_t k = 0; numbers[i].then && k < n; k++) value[k] = numbers[i].then(value[k]);
    if (many)
        add_numbers(j, numbers[i].name, NULL, value, n);
    else
        dist_add_number(j, numbers[i].name, value[0]);
done:
    return st;
}

/* Points of a vector come one after the other, all their entries. */
static cr_status vector_points(dist_job *j, size_t i, const double *x, size_t n)
{
    cr_status st = CR_OK;
    double   *value = cr_scratch_f64(&j->s, n / j->size + 1);
    CR_TRY(j->s.status);
    if (n % j->size)
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "--%s: %zu numbers do not make up points of %zu entries",
                       points[i].name, n, j->size));
    CR_TRY(cr_dist_vector_logpdf(j->c->cx, j->dist, j->v, j->n, x, n / j->size, value));
    for (size_t k = 0; points[i].then && k < n / j->size; k++) value[k] = points[i].then(value[k]);
    add_numbers(j, points[i].name, NULL, value, n / j->size);
done:
    return st;
}

static cr_status answer_points(dist_job *j, size_t i, const char *list)
{
    cr_status st = CR_OK;
    size_t    n = dist_count_numbers(list);
    char      flag[32];
    double   *x = cr_scratch_f64(&j->s, n), *value = cr_scratch_f64(&j->s, n);
    CR_TRY(j->s.status);
    snprintf(flag, sizeof flag, "--%s", points[i].name);
    CR_TRY(dist_read_numbers(j->c, flag, list, x));
    if (cr_dist_is_vector(j->dist) && points[i].density) return vector_points(j, i, x, n);
    CR_TRY(cr_dist_points(j->c->cx, j->dist, j->v, j->n, points[i].name, x, n, value));
    add_numbers(j, points[i].name, x, value, n);
done:
    return st;
}

static void add_interval(dist_job *j, const char *name, double low, double high)
{
    cri_put_reals(j->r.object, name, (double[]){ low, high }, 2);
    dist_add_row(j, name, "lower", low);
    dist_add_row(j, name, "upper", high);
}

static cr_status answer_intervals(dist_job *j)
{
    cr_status st = CR_OK;
    double    low = 0, high = 0;
    if (!isnan(j->o->interval)) {
        CR_TRY(cr_dist_interval(j->c->cx, j->dist, j->v, j->n, j->o->interval, &low, &high));
        add_interval(j, "interval", low, high);
    }
    if (!isnan(j->o->hdi)) {
        CR_TRY(cr_dist_hdi(j->c->cx, j->dist, j->v, j->n, j->o->hdi, &low, &high));
        add_interval(j, "hdi", low, high);
    }
done:
    return st;
}

static cr_status answer_kl(dist_job *j)
{
    cr_status st = CR_OK;
    size_t    n = dist_count_numbers(j->o->kl);
    double   *q = cr_scratch_f64(&j->s, n), kl = 0;
    CR_TRY(j->s.status);
    CR_TRY(dist_read_numbers(j->c, "--kl", j->o->kl, q));
    if (n != j->n) {
        cr_fail(j->c->cx, CR_EARG,
                "--kl: it needs all %zu parameter%s of the other %s, but there %s %zu", j->n,
                j->n == 1 ? "" : "s", cr_dist_name(j->dist), n == 1 ? "is" : "are", n);
        CR_TRY(cr_fail_hint(j->c->cx, "credence dist %s explains them", cr_dist_name(j->dist)));
    }
    if (!cr_dist_is_vector(j->dist))
        CR_TRY(cr_dist_kl(j->c->cx, j->dist, j->v, j->n, q, n, &kl));
    else
        CR_TRY(cr_dist_vector_kl(j->c->cx, j->dist, j->v, q, n, &kl));
    dist_add_number(j, "kl", kl);
done:
    return st;
}

static cr_status answer_natural(dist_job *j)
{
    cr_status  st = CR_OK;
    size_t     k = cr_dist_natural_count(j->dist, j->n);
    double    *eta = cr_scratch_f64(&j->s, k), *mean = cr_scratch_f64(&j->s, k), A = 0;
    cri_sheet *to, *names;
    CR_TRY(j->s.status);
    CR_TRY(cr_dist_natural(j->c->cx, j->dist, j->v, j->n, eta, mean, &A));
    to = cri_put_object(j->r.object, "natural");
    names = cri_put_list(to, "statistics");
    for (size_t i = 0; i < k; i++) {
        char name[64];
        cr_dist_statistic_name(j->dist, j->n, i, name, sizeof name);
        cri_put_text(names, NULL, name);
        dist_add_row(j, "natural parameter", name, eta[i]);
        dist_add_row(j, "mean statistic", name, mean[i]);
    }
    dist_add_row(j, "log-partition", "", A);
    cri_put_reals(to, "parameters", eta, k);
    cri_put_reals(to, "mean_statistics", mean, k);
    cri_put_real(to, "log_partition", A);
done:
    return st;
}

static void add_vectors(dist_job *j, const double *x, size_t n)
{
    cri_sheet *list = cri_put_list(j->r.object, "sample");
    for (size_t i = 0; i < n; i++) {
        cri_put_reals(list, NULL, x + i * j->size, j->size);
        for (size_t k = 0; k < j->size; k++) {
            char at[64];
            snprintf(at, sizeof at, "%zu.%zu", i + 1, k + 1);
            dist_add_row(j, "sample", at, x[i * j->size + k]);
        }
    }
}

/* Draws alone, in a pipe, are kept as they are: there may be very many. */
static bool only_draws(const dist_job *j)
{
    return j->c->format == FORMAT_CSV && !cr_dist_is_vector(j->dist) && !j->o->plot &&
           cri_sheet_size(j->r.rows) == 0;
}

static cr_status answer_sample(dist_job *j)
{
    cr_status st = CR_OK;
    size_t    n = j->o->sample;
    cr_rng    r = cr_rng_stream(j->seed, 0);
    double   *x = cr_scratch_matrix(&j->s, n, j->size);
    CR_TRY(j->s.status);
    cri_put_count(j->r.object, "seed", j->seed);
    if (cr_dist_is_vector(j->dist)) {
        CR_TRY(cr_dist_vector_sample(j->c->cx, j->dist, j->v, j->n, &r, n, x));
        add_vectors(j, x, n);
        goto done;
    }
    CR_TRY(cr_dist_sample(j->c->cx, j->dist, j->v, j->n, &r, n, x));
    if (only_draws(j))
        j->draws = x;
    else
        add_numbers(j, "sample", NULL, x, n);
done:
    return st;
}

/* Nothing asked: what there is of the usual. */
static cr_status answer_usual(dist_job *j)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        cr_status st = answer_number(j, i);
        bool      exists = st != CR_EUNSUPPORTED && st != CR_ENUMERIC; /* else it is left out */
        if (st != CR_OK && exists) return st;
    }
    if (cr_dist_is_vector(j->dist) || !cr_dist_offers(j->dist, "quantile")) return CR_OK;
    return answer_points(j, N_POINTS - 1, "0.025,0.5,0.975");
}

static cr_status answer(dist_job *j)
{
    cr_status st = CR_OK;
    bool asked = !isnan(j->o->interval) || !isnan(j->o->hdi) || j->o->sample != CR_COUNT_UNSET ||
                 j->o->natural || j->o->kl || j->o->plot;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (flag_at(j, numbers[i].flag)) {
            CR_TRY(answer_number(j, i));
            asked = true;
        }
    for (size_t i = 0; i < N_POINTS; i++) {
        const char *list = *(char *const *)((const char *)j->o + points[i].list);
        if (!list) continue;
        CR_TRY(answer_points(j, i, list));
        asked = true;
    }
    CR_TRY(answer_intervals(j));
    if (j->o->natural) CR_TRY(answer_natural(j));
    if (j->o->kl) CR_TRY(answer_kl(j));
    if (j->o->sample != CR_COUNT_UNSET) CR_TRY(answer_sample(j));
    if (!asked) CR_TRY(answer_usual(j));
done:
    return st;
}

/* --- results --------------------------------------------------------------------------------- */

/* {"a": 12, "b": 3}; vectors and matrices as flat lists. */
static void add_parameters(dist_job *j)
{
    cri_sheet *to = cri_put_object(j->r.object, "parameters");
    size_t     at = 0, n = dist_parameter_count(j->dist), d = dist_dimension(j->dist, j->n);
    for (size_t i = 0; i < n; i++) {
        const cr_dist_param *p = cr_dist_parameter(j->dist, i);
        size_t size = p->shape == CR_SHAPE_SCALAR ? 1 : p->shape == CR_SHAPE_VECTOR ? d : d * d;
        if (p->shape == CR_SHAPE_SCALAR)
            cri_put_real(to, p->name, j->v[at]);
        else
            cri_put_reals(to, p->name, j->v + at, size);
        at += size;
    }
}

static void print_title(dist_job *j)
{
    char text[32];
    out_text(j->c, "%s(", cr_dist_name(j->dist));
    for (size_t i = 0; i < j->n; i++)
        out_text(j->c, "%s%s", i ? ", " : "", out_number(j->v[i], false, text));
    out_text(j->c, ")\n\n");
}

/* One column, ready to be read again. */
static void print_draws(dist_job *j)
{
    char text[34];
    out_text(j->c, "x\n");
    for (size_t i = 0; i < j->o->sample; i++) {
        size_t length = strlen(out_number(j->draws[i], true, text));
        text[length] = '\n';
        out_bytes(j->c, text, length + 1);
    }
}

static cr_status print_result(dist_job *j)
{
    cr_status st = CR_OK;
    bool      json = j->c->format == FORMAT_JSON;
    if (json && j->o->plot) CR_TRY(dist_plot_put(j->c, j->dist, j->v, j->n, j->r.object));
    if (json) return cli_result_print(j->c, j->r);
    CR_TRY(cli_result_open(j->c, j->r));
    if (j->draws) {
        print_draws(j);
        goto done;
    }
    if (j->c->format == FORMAT_TEXT) print_title(j);
    out_rows(j->c, j->r.rows);
    if (j->o->plot) CR_TRY(dist_plot_text(j->c, j->dist, j->v, j->n));
done:
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

static bool anything_asked(const dist_job *j)
{
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (flag_at(j, numbers[i].flag)) return true;
    for (size_t i = 0; i < N_POINTS; i++)
        if (*(char *const *)((const char *)j->o + points[i].list)) return true;
    return j->o->fit || j->o->kl || j->o->natural || j->o->plot || j->o->sample != CR_COUNT_UNSET ||
           !isnan(j->o->interval) || !isnan(j->o->hdi);
}

static cr_status run_dist(cli *c)
{
    cr_status st = CR_OK;
    dist_job  j = { .c = c, .o = c->own, .r = cli_result_new(c) };
    j.s = cr_scratch_begin(c->cx);
    if (c->n_args == 0) {
        CR_TRY(dist_list(c));
        goto done;
    }
    j.dist = cr_dist_find(c->cx, c->args[0]);
    if (!j.dist) CR_TRY(CR_EARG);
    if (c->n_args == 1 && !anything_asked(&j)) {
        CR_TRY(dist_explain(c, j.dist));
        goto done;
    }
    j.seed = c->fit.seed;
    CR_TRY(dist_read_parameters(&j));
    cri_put_text(j.r.object, "distribution", cr_dist_name(j.dist));
    if (j.o->fit) CR_TRY(dist_fit(&j));
    CR_TRY(cr_dist_check(c->cx, j.dist, j.v, j.n));
    j.size = cr_dist_point_size(j.dist, j.n);
    add_parameters(&j);
    CR_TRY(answer(&j));
    CR_TRY(print_result(&j));
done:
    cr_scratch_end(&j.s);
    cli_result_free(j.r);
    return st;
}

const cli_verb verb_dist = {
    .name = "dist",
    .usage = "dist [NAME [PARAMETER...]]",
    .summary = "distribution calculator: densities, quantiles, intervals, samples, fits",
    .example = "credence dist\n"
               "credence dist beta 12 3 --mean --cdf 0.8 --quantile 0.025,0.975 --sample 5\n"
               "credence dist gamma shape=2 rate=3 --hdi 0.95 --plot\n"
               "credence dist normal --fit examples/diabetes.csv:bmi",
    .options = dist_table,
    .options_size = sizeof(dist_options),
    .result = result,
    .takes = VERB_READS,
    .most = 1000000,
    .run = run_dist,
};
