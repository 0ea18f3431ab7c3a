/* cmd_dist.c -- dist: the distribution calculator.  A list, a page about one, or the quantities
 * asked for, all from the descriptors of the registry. */
#include "dist_job.h"
#include "dist_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROW(...) CR_OPTION_ROW(dist_options, __VA_ARGS__)
static const cr_option dist_table[] = { DIST_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

json_t *dist_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

/* Tables have infinities. */
static json_t *table_number(double x)
{
    return isfinite(x) ? json_real(x) : json_string(x > 0 ? "inf" : x < 0 ? "-inf" : "nan");
}

void dist_add_row(dist_job *j, const char *quantity, const char *at, double value)
{
    json_t *row = json_object();
    json_object_set_new(row, "quantity", json_string(quantity));
    json_object_set_new(row, "at", json_string(at));
    json_object_set_new(row, "value", table_number(value));
    json_array_append_new(j->rows, row);
}

void dist_add_number(dist_job *j, const char *name, double value)
{
    json_object_set_new(j->root, name, dist_number(value));
    dist_add_row(j, name, "", value);
}

/* n values under one name; labels NULL: numbered from 1. */
static void add_numbers(dist_job *j, const char *name, const double *labels, const double *value,
                        size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        char text[32];
        if (labels)
            out_number(labels[i], true, text);
        else
            snprintf(text, sizeof text, "%zu", i + 1);
        json_array_append_new(array, dist_number(value[i]));
        dist_add_row(j, name, text, value[i]);
    }
    json_object_set_new(j->root, name, array);
}

/* --- quantities ------------------------------------------------------------------------------ */

typedef cr_status number_call(cr_ctx *, const cr_dist_class *, const double *, size_t, double *);
typedef cr_status point_call(cr_ctx *, const cr_dist_class *, const double *, size_t, double,
                             double *);

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
    point_call *call;
    bool        density; /* vectors have it too */
    double (*then)(double);
} points[] = {
    { "pdf", offsetof(dist_options, pdf), cr_dist_logpdf, true, exponential },
    { "logpdf", offsetof(dist_options, logpdf), cr_dist_logpdf, true, NULL },
    { "cdf", offsetof(dist_options, cdf), cr_dist_cdf, false, NULL },
    { "sf", offsetof(dist_options, sf), cr_dist_sf, false, NULL },
    { "logcdf", offsetof(dist_options, logcdf), cr_dist_logcdf, false, NULL },
    { "logsf", offsetof(dist_options, logsf), cr_dist_logsf, false, NULL },
    { "quantile", offsetof(dist_options, quantile), cr_dist_quantile, false, NULL },
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
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "--%s: %zu numbers are not whole points of %zu entries",
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
    for (size_t k = 0; k < n; k++) {
        CR_TRY(points[i].call(j->c->cx, j->dist, j->v, j->n, x[k], &value[k]));
        if (points[i].then) value[k] = points[i].then(value[k]);
    }
    add_numbers(j, points[i].name, x, value, n);
done:
    return st;
}

static void add_interval(dist_job *j, const char *name, double low, double high)
{
    json_t *array = json_array();
    json_array_append_new(array, dist_number(low));
    json_array_append_new(array, dist_number(high));
    json_object_set_new(j->root, name, array);
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
                "--kl: it needs all %zu parameter%s of the other %s, and here %s %zu", j->n,
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
    cr_status st = CR_OK;
    size_t    k = cr_dist_natural_count(j->dist, j->n);
    double   *eta = cr_scratch_f64(&j->s, k), *mean = cr_scratch_f64(&j->s, k), A = 0;
    json_t   *natural = json_object(), *names = json_array(), *etas = json_array(),
           *means = json_array();
    CR_TRY(j->s.status);
    CR_TRY(cr_dist_natural(j->c->cx, j->dist, j->v, j->n, eta, mean, &A));
    for (size_t i = 0; i < k; i++) {
        char name[64];
        cr_dist_statistic_name(j->dist, j->n, i, name, sizeof name);
        json_array_append_new(names, json_string(name));
        json_array_append_new(etas, dist_number(eta[i]));
        json_array_append_new(means, dist_number(mean[i]));
        dist_add_row(j, "natural parameter", name, eta[i]);
        dist_add_row(j, "mean statistic", name, mean[i]);
    }
    dist_add_row(j, "log-partition", "", A);
    json_object_set(natural, "statistics", names);
    json_object_set(natural, "parameters", etas);
    json_object_set(natural, "mean_statistics", means);
    json_object_set_new(natural, "log_partition", dist_number(A));
    json_object_set(j->root, "natural", natural);
done:
    json_decref(natural), json_decref(names), json_decref(etas), json_decref(means);
    return st;
}

static void add_vectors(dist_job *j, const double *x, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *point = json_array();
        for (size_t k = 0; k < j->size; k++) {
            char at[64];
            snprintf(at, sizeof at, "%zu.%zu", i + 1, k + 1);
            json_array_append_new(point, dist_number(x[i * j->size + k]));
            dist_add_row(j, "sample", at, x[i * j->size + k]);
        }
        json_array_append_new(array, point);
    }
    json_object_set_new(j->root, "sample", array);
}

/* Draws alone, in a pipe, are kept as they are: there may be very many. */
static bool only_draws(const dist_job *j)
{
    return j->c->format == FORMAT_CSV && !cr_dist_is_vector(j->dist) && !j->o->plot &&
           json_array_size(j->rows) == 0;
}

static cr_status answer_sample(dist_job *j)
{
    cr_status st = CR_OK;
    size_t    n = j->o->sample;
    cr_rng    r = cr_rng_stream(j->seed, 0);
    double   *x = cr_scratch_matrix(&j->s, n, j->size);
    CR_TRY(j->s.status);
    json_object_set_new(j->root, "seed", json_integer((json_int_t)j->seed));
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

/* {"a": 12, "b": 3}; vectors and matrices as flat arrays. */
static void add_parameters(dist_job *j)
{
    json_t *p = json_object();
    size_t  at = 0, n = dist_parameter_count(j->dist), d = dist_dimension(j->dist, j->n);
    for (size_t i = 0; i < n; i++) {
        const cr_dist_param *q = cr_dist_parameter(j->dist, i);
        size_t               size = q->shape == CR_SHAPE_VECTOR ? d : d * d;
        json_t              *array = q->shape == CR_SHAPE_SCALAR ? NULL : json_array();
        if (!array) json_object_set_new(p, q->name, dist_number(j->v[at++]));
        for (size_t k = 0; array && k < size; k++)
            json_array_append_new(array, dist_number(j->v[at++]));
        if (array) json_object_set_new(p, q->name, array);
    }
    json_object_set_new(j->root, "parameters", p);
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
    CR_TRY(out_open(j->c, j->c->global.output));
    if (j->c->format == FORMAT_JSON) {
        if (j->o->plot) CR_TRY(dist_plot_json(j->c, j->dist, j->v, j->n, j->root));
        out_json(j->c, "dist", j->root);
    } else if (j->draws) {
        print_draws(j);
    } else {
        if (j->c->format == FORMAT_TEXT) print_title(j);
        out_table(j->c, j->rows);
        if (j->o->plot) CR_TRY(dist_plot_text(j->c, j->dist, j->v, j->n));
    }
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
    dist_job  j = { .c = c, .o = c->own, .root = json_object(), .rows = json_array() };
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
    json_object_set_new(j.root, "distribution", json_string(cr_dist_name(j.dist)));
    if (j.o->fit) CR_TRY(dist_fit(&j));
    CR_TRY(cr_dist_check(c->cx, j.dist, j.v, j.n));
    j.size = cr_dist_point_size(j.dist, j.n);
    add_parameters(&j);
    CR_TRY(answer(&j));
    CR_TRY(cli_check_strict(c));
    CR_TRY(print_result(&j));
done:
    cr_scratch_end(&j.s);
    json_decref(j.root);
    json_decref(j.rows);
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
    .result = result_dist,
    .takes = VERB_READS,
    .most = 1000000,
    .run = run_dist,
};
