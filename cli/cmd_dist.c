/* cmd_dist.c -- dist: the distribution calculator.  A list, a page about one, or the quantities asked
 * for, all from the descriptors of the registry. */
#include "cli.h"
#include "dist_plot.h"
#include "base/number.h"
#include "base/scratch.h"
#include "prob/dist/dist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
#define DIST_OPTIONS(X)                                                                                \
    X(flag,  mean,     "false", "", "the mean", "")                                                    \
    X(flag,  variance, "false", "", "the variance", "")                                                \
    X(flag,  sd,       "false", "", "the standard deviation", "")                                      \
    X(flag,  mode,     "false", "", "where the density is highest", "")                                \
    X(flag,  entropy,  "false", "", "the entropy in nats", "")                                         \
    X(list,  pdf,      "", "", "the density, or mass, at these x", "0.5,0.8")                          \
    X(list,  logpdf,   "", "", "its logarithm", "0.5,0.8")                                             \
    X(list,  cdf,      "", "", "P(X <= x)", "0.8")                                                     \
    X(list,  sf,       "", "", "P(X > x)", "0.8")                                                      \
    X(list,  logcdf,   "", "", "log P(X <= x)", "0.8")                                                 \
    X(list,  logsf,    "", "", "log P(X > x)", "0.8")                                                  \
    X(list,  quantile, "", "", "the x with P(X <= x) = p", "0.025,0.975")                              \
    X(real,  interval, "", "0<..<1", "the central interval that holds this mass", "0.95")              \
    X(real,  hdi,      "", "0<..<1", "the shortest interval that holds this mass", "0.95")             \
    X(count, sample,   "", "1..1000000000", "this many random draws", "5")                             \
    X(flag,  natural,  "false", "", "natural parameters, mean statistics, log-partition", "")          \
    X(list,  kl,       "", "", "divergence to the one with these parameters", "10,4")                  \
    X(text,  fit,      "", "", "take the parameters that fit this file best; FILE:COLUMN", "x.csv:age") \
    X(flag,  plot,     "false", "", "draw the density", "")
/* clang-format on */
CR_OPTIONS_STRUCT(dist_options, DIST_OPTIONS);
#define ROW(...) CR_OPTION_ROW(dist_options, __VA_ARGS__)
static const cr_option dist_table[] = { DIST_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* What is being asked, and the answers so far: as rows (quantity, at, value) and as JSON. */
typedef struct job {
    cli                 *c;
    const cr_dist_class *dist;
    const dist_options  *o;
    double              *v; /* parameters [n] */
    size_t               n, size; /* size: of a point */
    uint64_t             seed;
    json_t              *root, *rows;
    cr_scratch           s;
} job;

/* JSON has no infinities: they are texts. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_string(x > 0 ? "inf" : x < 0 ? "-inf" : "nan");
}

static void add_row(job *j, const char *quantity, const char *at, double value)
{
    json_t *row = json_object();
    json_object_set_new(row, "quantity", json_string(quantity));
    json_object_set_new(row, "at", json_string(at));
    json_object_set_new(row, "value", number(value));
    json_array_append_new(j->rows, row);
}

static void add_number(job *j, const char *name, double value)
{
    json_object_set_new(j->root, name, number(value));
    add_row(j, name, "", value);
}

/* n values under one name; labels NULL: numbered from 1. */
static void add_numbers(job *j, const char *name, const double *labels, const double *value, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        char text[32];
        if (labels) out_number(labels[i], true, text);
        else snprintf(text, sizeof text, "%zu", i + 1);
        json_array_append_new(array, number(value[i]));
        add_row(j, name, text, value[i]);
    }
    json_object_set_new(j->root, name, array);
}

/* --- numbers on the command line -------------------------------------------------------------- */

static bool is_break(char ch) { return ch == ',' || ch == ';'; }

static size_t count_numbers(const char *text)
{
    size_t n = 1;
    for (; *text; text++) n += is_break(*text);
    return n;
}

/* Reads numbers with commas or semicolons between them into out. */
static cr_status read_numbers(cli *c, const char *what, const char *text, double *out)
{
    for (const char *at = text;; at++) {
        const char *end = at;
        while (*end && !is_break(*end)) end++;
        if (end == at || cri_parse_double(at, end, out) != (size_t)(end - at))
            return cr_fail(c->cx, CR_EARG, "%s: '%.*s' is not a number", what, (int)(end - at), at);
        out++;
        if (!*end) return CR_OK;
        at = end;
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

enum { MOST_PARAMETERS = 8 };

static size_t parameter_count(const cr_dist_class *d)
{
    size_t n = 0;
    while (cr_dist_parameter(d, n)) n++;
    return n;
}

static const char *parameter_name(const void *d, size_t i) { return cr_dist_parameter(d, i)->name; }

/* Which parameter a word sets: "name=value" that one, else the next free. */
static cr_status place_word(job *j, const char *word, const char *taken[], size_t *which,
                            const char **value)
{
    const char *equals = strchr(word, '=');
    size_t      n = parameter_count(j->dist), at = 0;
    char        name[64];
    if (!equals) {
        while (at < n && taken[at]) at++;
        *value = word;
    } else {
        snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
        while (at < n && strcmp(cr_dist_parameter(j->dist, at)->name, name) != 0) at++;
        *value = equals + 1;
        if (at == n) {
            cr_fail(j->c->cx, CR_EARG, "%s has no parameter '%s'", cr_dist_name(j->dist), name);
            return cr_fail_nearest(j->c->cx, name, "parameters", n, parameter_name, j->dist);
        }
        if (taken[at])
            return cr_fail(j->c->cx, CR_EARG, "%s: %s is given twice", cr_dist_name(j->dist), name);
    }
    *which = at;
    return CR_OK;
}

/* All words into one array, in the order of the declaration.  A vector that comes last may also be
 * spread over several words. */
static cr_status read_parameters(job *j)
{
    cr_status   st = CR_OK;
    const char *taken[MOST_PARAMETERS] = { NULL }, *value;
    size_t      n = parameter_count(j->dist), at = 0, room = n;
    for (size_t i = 1; i < j->c->n_args; i++) room += count_numbers(j->c->args[i]);
    j->v = cr_scratch_f64(&j->s, room);
    double *extra = cr_scratch_f64(&j->s, room);
    size_t  n_extra = 0;
    CR_TRY(j->s.status);
    for (size_t i = 1; i < j->c->n_args; i++) {
        size_t which = 0;
        CR_TRY(place_word(j, j->c->args[i], taken, &which, &value));
        bool spread = which == n && cr_dist_parameter(j->dist, n - 1)->shape == CR_SHAPE_VECTOR;
        if (which == n && !spread) {
            cr_fail(j->c->cx, CR_EARG, "%s: '%s' is one parameter too many", cr_dist_name(j->dist),
                    value);
            CR_TRY(cr_fail_hint(j->c->cx, "credence dist %s explains them", cr_dist_name(j->dist)));
        }
        if (which < n) taken[which] = value;
        else {
            CR_TRY(read_numbers(j->c, cr_dist_parameter(j->dist, n - 1)->name, value, extra + n_extra));
            n_extra += count_numbers(value);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const cr_dist_param *p = cr_dist_parameter(j->dist, i);
        if (taken[i]) {
            CR_TRY(read_numbers(j->c, p->name, taken[i], j->v + at));
            at += count_numbers(taken[i]);
        } else if (j->o->fit && !p->given) {
            j->v[at++] = NAN;
        } else {
            cr_fail(j->c->cx, CR_EARG, "%s: %s is missing: %s; %s", cr_dist_name(j->dist), p->name,
                    p->help, p->domain);
            CR_TRY(cr_fail_hint(j->c->cx, "for example %s=%s", p->name, p->example));
        }
    }
    for (size_t i = 0; i < n_extra; i++) j->v[at++] = extra[i];
    j->n = at;
done:
    return st;
}

/* --- fit -------------------------------------------------------------------------------------- */

static const char *column_name(const void *t, size_t i) { return cr_table_column(t, i)->name; }

static cr_status choose_column(job *j, const cr_table *t, const char *name, const cr_column **out)
{
    size_t n = cr_table_columns(t);
    *out = name ? cr_table_find(t, name) : n == 1 ? cr_table_column(t, 0) : NULL;
    if (*out && (*out)->type != CR_CATEGORY) return CR_OK;
    if (*out)
        return cr_fail(j->c->cx, CR_EDATA, "column '%s' of %s holds no numbers", (*out)->name,
                       cr_table_source(t));
    if (name) cr_fail(j->c->cx, CR_EDATA, "column '%s' not found in %s", name, cr_table_source(t));
    else cr_fail(j->c->cx, CR_EARG, "%s has %zu columns: which one?", cr_table_source(t), n);
    cr_fail_nearest(j->c->cx, name ? name : "", "columns", n, column_name, t);
    if (name) return CR_EDATA;
    return cr_fail_hint(j->c->cx, "--fit %s:%s", cr_table_source(t), n ? column_name(t, 0) : "x");
}

/* The values of a column that are there; those that are missing are told of. */
static cr_status read_column(job *j, const cr_table *t, const char *name, double **out, size_t *out_n)
{
    cr_status        st = CR_OK;
    const cr_column *col = NULL;
    size_t           n = 0;
    CR_TRY(choose_column(j, t, name, &col));
    double *x = cr_scratch_f64(&j->s, cr_table_rows(t));
    CR_TRY(j->s.status);
    for (size_t i = 0; i < cr_table_rows(t); i++)
        if (!isnan(col->values[i * col->stride])) x[n++] = col->values[i * col->stride];
    if (col->missing)
        cr_log(j->c->cx, CR_LOG_WARNING, "%zu missing values of '%s' are left out", col->missing,
               col->name);
    *out = x, *out_n = n;
done:
    return st;
}

/* With categories not given, there are as many as the data show. */
static cr_status size_categories(job *j, const double *x, size_t n)
{
    double top = 0;
    if (cr_dist_parameter(j->dist, 0)->shape != CR_SHAPE_VECTOR || j->n != 1) return CR_OK;
    for (size_t i = 0; i < n; i++) top = fmax(top, x[i]);
    if (top > 1e6) return cr_fail(j->c->cx, CR_EDATA, "%s: a value is %g", cr_dist_name(j->dist), top);
    j->n = (size_t)top + 1;
    j->v = cr_scratch_f64(&j->s, j->n);
    for (size_t i = 0; j->v && i < j->n; i++) j->v[i] = NAN;
    return j->s.status;
}

static cr_status fit(job *j)
{
    cr_status   st = CR_OK;
    cr_table   *t = NULL;
    double     *x = NULL, loglik = 0;
    size_t      n = 0;
    const char *colon = strrchr(j->o->fit, ':'), *column = NULL;
    char       *path = cr_scratch_bytes(&j->s, strlen(j->o->fit) + 1, 1);
    CR_TRY(j->s.status);
    memcpy(path, j->o->fit, strlen(j->o->fit) + 1);
    if (colon && access(path, F_OK) != 0 && strncmp(path, "sqlite:", (size_t)(colon - path) + 1) != 0) {
        path[colon - j->o->fit] = '\0';
        column = colon + 1;
    }
    CR_TRY(cr_table_read(j->c->cx, path, &j->c->read, &t));
    CR_TRY(read_column(j, t, column, &x, &n));
    CR_TRY(size_categories(j, x, n));
    CR_TRY(cr_dist_fit(j->c->cx, j->dist, x, NULL, n, j->v, j->n, &loglik));
    json_object_set_new(j->root, "rows", json_integer((json_int_t)n));
    for (size_t i = 0; cr_dist_parameter(j->dist, 0)->shape == CR_SHAPE_SCALAR && i < j->n; i++)
        add_row(j, "parameter", cr_dist_parameter(j->dist, i)->name, j->v[i]);
    for (size_t i = 0; cr_dist_parameter(j->dist, 0)->shape == CR_SHAPE_VECTOR && i < j->n; i++) {
        char at[32];
        snprintf(at, sizeof at, "%zu", i);
        add_row(j, "parameter", at, j->v[i]);
    }
    add_number(j, "log_likelihood", loglik);
done:
    cr_table_free(j->c->cx, t);
    return st;
}

/* --- quantities ------------------------------------------------------------------------------- */

typedef cr_status number_call(cr_ctx *, const cr_dist_class *, const double *, size_t, double *);
typedef cr_status point_call(cr_ctx *, const cr_dist_class *, const double *, size_t, double, double *);

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
    { "variance", offsetof(dist_options, variance), cr_dist_variance, cr_dist_vector_variance, false,
      NULL },
    { "sd", offsetof(dist_options, sd), cr_dist_variance, cr_dist_vector_variance, false, square_root },
    { "mode", offsetof(dist_options, mode), cr_dist_mode, cr_dist_vector_mode, false, NULL },
    { "entropy", offsetof(dist_options, entropy), cr_dist_entropy, cr_dist_vector_entropy, true, NULL },
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

static bool flag_at(const job *j, size_t offset) { return *(const bool *)((const char *)j->o + offset); }

static cr_status answer_number(job *j, size_t i)
{
    cr_status st = CR_OK;
    bool      vector = cr_dist_is_vector(j->dist), many = vector && !numbers[i].whole;
    size_t    n = many ? j->size : 1;
    double   *value = cr_scratch_f64(&j->s, n);
    CR_TRY(j->s.status);
    CR_TRY((vector ? numbers[i].entries : numbers[i].one)(j->c->cx, j->dist, j->v, j->n, value));
    for (size_t k = 0; numbers[i].then && k < n; k++) value[k] = numbers[i].then(value[k]);
    if (many) add_numbers(j, numbers[i].name, NULL, value, n);
    else add_number(j, numbers[i].name, value[0]);
done:
    return st;
}

/* Points of a vector come one after the other, all their entries. */
static cr_status vector_points(job *j, size_t i, const double *x, size_t n)
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

static cr_status answer_points(job *j, size_t i, const char *list)
{
    cr_status st = CR_OK;
    size_t    n = count_numbers(list);
    char      flag[32];
    double   *x = cr_scratch_f64(&j->s, n), *value = cr_scratch_f64(&j->s, n);
    CR_TRY(j->s.status);
    snprintf(flag, sizeof flag, "--%s", points[i].name);
    CR_TRY(read_numbers(j->c, flag, list, x));
    if (cr_dist_is_vector(j->dist) && points[i].density) return vector_points(j, i, x, n);
    for (size_t k = 0; k < n; k++) {
        CR_TRY(points[i].call(j->c->cx, j->dist, j->v, j->n, x[k], &value[k]));
        if (points[i].then) value[k] = points[i].then(value[k]);
    }
    add_numbers(j, points[i].name, x, value, n);
done:
    return st;
}

static void add_interval(job *j, const char *name, double low, double high)
{
    json_t *array = json_array();
    json_array_append_new(array, number(low));
    json_array_append_new(array, number(high));
    json_object_set_new(j->root, name, array);
    add_row(j, name, "lower", low);
    add_row(j, name, "upper", high);
}

static cr_status answer_intervals(job *j)
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

static cr_status answer_kl(job *j)
{
    cr_status st = CR_OK;
    size_t    n = count_numbers(j->o->kl);
    double   *q = cr_scratch_f64(&j->s, n), kl = 0;
    CR_TRY(j->s.status);
    CR_TRY(read_numbers(j->c, "--kl", j->o->kl, q));
    if (!cr_dist_is_vector(j->dist))
        CR_TRY(cr_dist_kl(j->c->cx, j->dist, j->v, j->n, q, n, &kl));
    else if (n != j->n)
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "--kl: %zu numbers, expected %zu", n, j->n));
    else CR_TRY(cr_dist_vector_kl(j->c->cx, j->dist, j->v, q, n, &kl));
    add_number(j, "kl", kl);
done:
    return st;
}

static cr_status answer_natural(job *j)
{
    cr_status st = CR_OK;
    size_t    k = cr_dist_natural_count(j->dist, j->n);
    double   *eta = cr_scratch_f64(&j->s, k), *mean = cr_scratch_f64(&j->s, k), A = 0;
    json_t   *natural = json_object(), *names = json_array(), *etas = json_array(), *means = json_array();
    CR_TRY(j->s.status);
    CR_TRY(cr_dist_natural(j->c->cx, j->dist, j->v, j->n, eta, mean, &A));
    for (size_t i = 0; i < k; i++) {
        const char *name = cr_dist_statistic_name(j->dist, i);
        json_array_append_new(names, json_string(name));
        json_array_append_new(etas, number(eta[i]));
        json_array_append_new(means, number(mean[i]));
        add_row(j, "natural parameter", name, eta[i]);
        add_row(j, "mean statistic", name, mean[i]);
    }
    add_row(j, "log-partition", "", A);
    json_object_set(natural, "statistics", names);
    json_object_set(natural, "parameters", etas);
    json_object_set(natural, "mean_statistics", means);
    json_object_set_new(natural, "log_partition", number(A));
    json_object_set(j->root, "natural", natural);
done:
    json_decref(natural), json_decref(names), json_decref(etas), json_decref(means);
    return st;
}

static void add_vectors(job *j, const double *x, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *point = json_array();
        for (size_t k = 0; k < j->size; k++) {
            char at[64];
            snprintf(at, sizeof at, "%zu.%zu", i + 1, k + 1);
            json_array_append_new(point, number(x[i * j->size + k]));
            add_row(j, "sample", at, x[i * j->size + k]);
        }
        json_array_append_new(array, point);
    }
    json_object_set_new(j->root, "sample", array);
}

static cr_status answer_sample(job *j)
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
    } else {
        CR_TRY(cr_dist_sample(j->c->cx, j->dist, j->v, j->n, &r, n, x));
        add_numbers(j, "sample", NULL, x, n);
    }
done:
    return st;
}

/* Nothing asked: what there is of the usual. */
static cr_status answer_usual(job *j)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        cr_status st = answer_number(j, i);
        if (st == CR_EARG || st == CR_ENOMEM) return st; /* else: does not exist, left out */
    }
    if (cr_dist_is_vector(j->dist) || !cr_dist_offers(j->dist, "quantile")) return CR_OK;
    return answer_points(j, N_POINTS - 1, "0.025,0.5,0.975");
}

static cr_status answer(job *j)
{
    cr_status st = CR_OK;
    bool      asked = !isnan(j->o->interval) || !isnan(j->o->hdi) || j->o->sample != CR_COUNT_UNSET ||
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

/* --- results ---------------------------------------------------------------------------------- */

/* {"a": 12, "b": 3}; vectors and matrices as flat arrays. */
static void add_parameters(job *j)
{
    json_t *p = json_object();
    size_t  at = 0, scalars = 0, n = parameter_count(j->dist), d = 1;
    for (size_t i = 0; i < n; i++) scalars += cr_dist_parameter(j->dist, i)->shape == CR_SHAPE_SCALAR;
    for (; d < j->n; d++) { /* the dimension at which all numbers are used */
        size_t used = scalars;
        for (size_t i = 0; i < n; i++) {
            cr_shape shape = cr_dist_parameter(j->dist, i)->shape;
            used += shape == CR_SHAPE_VECTOR ? d : shape == CR_SHAPE_MATRIX ? d * d : 0;
        }
        if (used >= j->n) break;
    }
    for (size_t i = 0; i < n; i++) {
        const cr_dist_param *q = cr_dist_parameter(j->dist, i);
        size_t               size = q->shape == CR_SHAPE_VECTOR ? d : d * d;
        json_t              *array = q->shape == CR_SHAPE_SCALAR ? NULL : json_array();
        if (!array) json_object_set_new(p, q->name, number(j->v[at++]));
        for (size_t k = 0; array && k < size; k++) json_array_append_new(array, number(j->v[at++]));
        if (array) json_object_set_new(p, q->name, array);
    }
    json_object_set_new(j->root, "parameters", p);
}

static void print_title(job *j)
{
    char text[32];
    out_text(j->c, "%s(", cr_dist_name(j->dist));
    for (size_t i = 0; i < j->n; i++)
        out_text(j->c, "%s%s", i ? ", " : "", out_number(j->v[i], false, text));
    out_text(j->c, ")\n\n");
}

/* Draws alone, in a pipe: one column, ready to be read again. */
static bool only_draws(const job *j)
{
    return j->c->format == FORMAT_CSV && !cr_dist_is_vector(j->dist) &&
           json_array_size(j->rows) == json_array_size(json_object_get(j->root, "sample")) &&
           json_array_size(j->rows) > 0;
}

static cr_status print_result(job *j)
{
    cr_status st = CR_OK;
    size_t    i;
    json_t   *row;
    char      text[32];
    CR_TRY(out_open(j->c, j->c->global.output));
    if (j->c->format == FORMAT_JSON) {
        if (j->o->plot) CR_TRY(dist_plot_json(j->c, j->dist, j->v, j->n, j->root));
        CR_TRY(out_json(j->c, "dist", j->root));
    } else if (only_draws(j)) {
        out_text(j->c, "x\n");
        json_array_foreach(j->rows, i, row)
        {
            json_t *value = json_object_get(row, "value");
            out_text(j->c, "%s\n", json_is_real(value) ? out_number(json_real_value(value), true, text)
                                                       : json_string_value(value));
        }
    } else {
        if (j->c->format == FORMAT_TEXT) print_title(j);
        out_table(j->c, j->rows);
        if (j->o->plot) CR_TRY(dist_plot_text(j->c, j->dist, j->v, j->n));
    }
done:
    return st;
}

/* --- the list, and the page about one --------------------------------------------------------- */

static void parameter_list(const cr_dist_class *d, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; cr_dist_parameter(d, i) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "",
                                 cr_dist_parameter(d, i)->name);
}

static const char *const offers[] = { "logpdf", "cdf", "quantile", "mean", "mode", "variance",
                                      "entropy", "sample", "fit", "kl", "natural" };
enum { N_OFFERS = sizeof offers / sizeof *offers };

static json_t *describe_one(const cr_dist_class *d)
{
    json_t *one = json_object(), *params = json_array(), *can = json_array();
    json_object_set_new(one, "name", json_string(cr_dist_name(d)));
    json_object_set_new(one, "summary", json_string(cr_dist_summary(d)));
    json_object_set_new(one, "formula", json_string(cr_dist_formula(d)));
    json_object_set_new(one, "support", json_string(cr_dist_support_text(d)));
    json_object_set_new(one, "discrete", json_boolean(cr_dist_is_discrete(d)));
    json_object_set_new(one, "reference", json_string(cr_dist_reference(d)));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(d, i);
        json_t              *row = json_object();
        json_object_set_new(row, "name", json_string(p->name));
        json_object_set_new(row, "domain", json_string(p->domain));
        json_object_set_new(row, "help", json_string(p->help));
        json_object_set_new(row, "example", json_string(p->example));
        json_array_append_new(params, row);
    }
    for (size_t i = 0; i < N_OFFERS; i++)
        if (cr_dist_offers(d, offers[i])) json_array_append_new(can, json_string(offers[i]));
    json_object_set_new(one, "parameters", params);
    json_object_set_new(one, "offers", can);
    return one;
}

static void print_page(cli *c, const cr_dist_class *d)
{
    out_text(c, "%s - %s\n\n", cr_dist_name(d), cr_dist_summary(d));
    for (const char *line = cr_dist_formula(d); *line;) {
        size_t n = strcspn(line, "\n");
        out_text(c, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    out_text(c, "  %s\n\nParameters:\n", cr_dist_support_text(d));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(d, i);
        out_text(c, "  %-12s %s; %s\n", p->name, p->help, p->domain);
    }
    out_text(c, "\nOffers:");
    for (size_t i = 0; i < N_OFFERS; i++)
        if (cr_dist_offers(d, offers[i])) out_text(c, " %s", offers[i]);
    out_text(c, "\n\nExample:\n  credence dist %s", cr_dist_name(d));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const char *example = cr_dist_parameter(d, i)->example;
        out_text(c, strchr(example, ';') ? " '%s'" : " %s", example);
    }
    out_text(c, " --mean --sample 5\n\nReference: %s\n", cr_dist_reference(d));
}

static cr_status explain(cli *c, const cr_dist_class *d)
{
    cr_status st = out_open(c, c->global.output);
    if (st != CR_OK) return st;
    if (c->format != FORMAT_JSON) {
        print_page(c, d);
        return CR_OK;
    }
    json_t *one = describe_one(d);
    st = out_json(c, "dist", one);
    json_decref(one);
    return st;
}

static cr_status list_all(cli *c)
{
    cr_status st = out_open(c, c->global.output);
    json_t   *root = json_object(), *rows = json_array();
    bool      whole = c->format == FORMAT_JSON;
    for (size_t i = 0; st == CR_OK && i < cr_dist_count(); i++) {
        const cr_dist_class *d = cr_dist_at(i);
        json_t              *row = whole ? describe_one(d) : json_object();
        char                 params[128];
        parameter_list(d, params, sizeof params);
        if (!whole) {
            json_object_set_new(row, "name", json_string(cr_dist_name(d)));
            json_object_set_new(row, "parameters", json_string(params));
            json_object_set_new(row, "summary", json_string(cr_dist_summary(d)));
        }
        json_array_append_new(rows, row);
    }
    json_object_set(root, "distributions", rows);
    if (st == CR_OK && whole) st = out_json(c, "dist", root);
    else if (st == CR_OK) out_table(c, rows);
    json_decref(root);
    json_decref(rows);
    return st;
}

/* --- the verb --------------------------------------------------------------------------------- */

/* The settings that every verb takes, of which this one needs the seed. */
static cr_status read_seed(cli *c, uint64_t *out)
{
    cr_status      st = CR_OK;
    cr_fit_options o;
    CR_TRY(cr_options_init(c->cx, cr_fit_table, &o));
    for (size_t i = 0; i < c->n_settings; i++)
        CR_TRY(cr_options_set(c->cx, cr_fit_table, &o, c->settings[i].name, c->settings[i].value));
    *out = o.seed;
    cr_options_free(c->cx, cr_fit_table, &o);
done:
    return st;
}

static bool anything_asked(const job *j)
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
    job       j = { .c = c, .o = c->own, .root = json_object(), .rows = json_array() };
    j.s = cr_scratch_begin(c->cx);
    if (c->n_args == 0) {
        CR_TRY(list_all(c));
        goto done;
    }
    j.dist = cr_dist_find(c->cx, c->args[0]);
    if (!j.dist) CR_TRY(CR_EARG);
    if (c->n_args == 1 && !anything_asked(&j)) {
        CR_TRY(explain(c, j.dist));
        goto done;
    }
    CR_TRY(read_seed(c, &j.seed));
    CR_TRY(read_parameters(&j));
    json_object_set_new(j.root, "distribution", json_string(cr_dist_name(j.dist)));
    if (j.o->fit) CR_TRY(fit(&j));
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
    .takes = VERB_READS,
    .most = 1000000,
    .run = run_dist,
};
