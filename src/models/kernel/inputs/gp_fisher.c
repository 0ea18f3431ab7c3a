/* gp_fisher.c -- fisher(file="model.cred"): the Fisher kernel of a saved model of densities,
 * written out with its numbers, so that what is made with it needs the file no more.  The
 * parameters are those the model describes, their posterior means; columns that the design
 * standardises take them along. */
#include "gp_fisher.h"
#include "base/number.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "models/core/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what the model says --------------------------------------------------------------------- */

typedef struct column {
    const char *name;
    double      shift, scale; /* of the design of the kernel: x -> (x - shift) / scale */
} column;

typedef struct source {
    cr_ctx          *cx;
    const char      *path, *model;
    const cri_sheet *parameters;
    size_t           n;
    column          *columns; /* [n] */
} source;

/* The value of the parameter called name + end; NaN when there is none. */
static double parameter(const source *f, const char *name, const char *end)
{
    size_t length = strlen(name);
    for (cri_sheet *row = cri_sheet_first(f->parameters); row; row = cri_sheet_next(row)) {
        const char *text = cri_sheet_text(cri_sheet_get(row, "name"));
        if (text && strncmp(text, name, length) == 0 && strcmp(text + length, end) == 0)
            return cri_sheet_real(cri_sheet_get(row, "value"));
    }
    return NAN;
}

static double covariance(const source *f, size_t b, size_t c)
{
    char end[512];
    for (int turn = 0; turn < 2; turn++) {
        size_t first = turn ? c : b, second = turn ? b : c;
        snprintf(end, sizeof end, ",%s.covariance", f->columns[second].name);
        double value = parameter(f, f->columns[first].name, end);
        if (!isnan(value)) return value;
    }
    return NAN;
}

static const char *const families[] = { "normal", "mvn", "poisson", "exponential",
                                        "beta-bernoulli" };

static bool has_kernel(const char *model)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i], model) == 0) return true;
    return false;
}

static cr_status refuse(const source *f)
{
    cr_fail(f->cx, CR_EARG, "kernel: %s is a model '%s', which has no Fisher kernel", f->path,
            f->model);
    return cr_fail_hint(f->cx, "normal, mvn, poisson, exponential and beta-bernoulli have one");
}

/* Mean and sd of a column as the model has them, and the order of its kernel; false when they are
 * not finite. */
static bool moments_of(const source *f, size_t c, double *mean, double *sd, size_t *order)
{
    const char *name = f->columns[c].name;
    double      variance = parameter(f, name, ".variance"), rate = parameter(f, name, ".rate");
    double      p = parameter(f, name, "=1");
    *order = 1, *sd = NAN;
    *mean = parameter(f, name, ".mean");
    if (strcmp(f->model, "normal") == 0 || strcmp(f->model, "mvn") == 0) {
        *order = 2;
        *sd = sqrt(variance);
    } else if (strcmp(f->model, "poisson") == 0) {
        *mean = rate, *sd = sqrt(rate);
    } else if (strcmp(f->model, "exponential") == 0) {
        *mean = *sd = 1 / rate;
    } else if (strcmp(f->model, "beta-bernoulli") == 0) {
        *mean = p, *sd = sqrt(p * (1 - p));
    }
    return isfinite(*mean) && *sd > 0 && isfinite(*sd);
}

/* --- as text --------------------------------------------------------------------------------- */

typedef struct writer {
    char  *text;
    size_t used, size;
} writer;

static void put(writer *w, const char *text)
{
    size_t n = strlen(text);
    if (w->text && w->used + n < w->size) memcpy(w->text + w->used, text, n + 1);
    w->used += n;
}

static void put_number(writer *w, double x)
{
    char buffer[CRI_DOUBLE_SIZE];
    cri_print_double(x, buffer); /* no locale changes its point */
    put(w, buffer);
}

static void put_list(writer *w, const char *name, const double *a, size_t n)
{
    put(w, name);
    put(w, "=[");
    for (size_t i = 0; i < n; i++) {
        if (i) put(w, ",");
        put_number(w, a[i]);
    }
    put(w, "]");
}

static void put_kernel(writer *w, const source *f, const double *mean, const double *sd,
                       size_t n_sd, size_t order)
{
    put(w, "fisher(");
    for (size_t c = 0; c < f->n; c++) {
        put(w, c ? ", \"" : "\"");
        for (const char *at = f->columns[c].name; *at; at++) {
            char one[3] = { *at, *at == '"' ? '"' : '\0', '\0' };
            put(w, one);
        }
        put(w, "\"");
    }
    put(w, "; ");
    put_list(w, "mean", mean, f->n);
    put(w, ", ");
    put_list(w, "sd", sd, n_sd);
    put(w, order == 1 ? ", order=1)" : ", order=2)");
}

/* The lower square root of the covariance of mvn, in the units of the design: S [n x n]. */
static cr_status root_of(const source *f, double *S)
{
    size_t n = f->n;
    for (size_t b = 0; b < n; b++)
        for (size_t c = 0; c <= b; c++) {
            double v = b == c ? parameter(f, f->columns[b].name, ".variance") : covariance(f, b, c);
            S[b * n + c] = S[c * n + b] = v / f->columns[b].scale / f->columns[c].scale;
        }
    cr_status st = cr_chol(f->cx, cr_mat_of(S, n, n));
    for (size_t b = 0; b < n; b++)
        for (size_t c = b + 1; c < n; c++) S[b * n + c] = 0;
    return st;
}

static cr_status write_kernel(cr_scratch *s, const source *f, char **out)
{
    cr_status st = CR_OK;
    bool      full = strcmp(f->model, "mvn") == 0 && f->n > 1;
    size_t    n_sd = full ? f->n * f->n : f->n, order = 0;
    double   *mean = cr_scratch_f64(s, f->n), *sd = cr_scratch_f64(s, n_sd);
    writer    w = { 0 };
    CR_TRY(s->status);
    for (size_t c = 0; c < f->n; c++) {
        if (!moments_of(f, c, &mean[c], &sd[c], &order))
            CR_TRY(cr_fail(f->cx, CR_EDATA, "kernel: %s has no variance for the column '%s'",
                           f->path, f->columns[c].name));
        mean[c] = (mean[c] - f->columns[c].shift) / f->columns[c].scale;
        sd[c] /= f->columns[c].scale;
    }
    if (full) CR_TRY(root_of(f, sd));
    put_kernel(&w, f, mean, sd, n_sd, order);
    w.size = w.used + 1, w.used = 0;
    w.text = cr_alloc(f->cx, w.size, 1);
    if (!w.text) CR_TRY(CR_ENOMEM);
    put_kernel(&w, f, mean, sd, n_sd, order);
    *out = w.text;
done:
    return st;
}

/* --- the columns ----------------------------------------------------------------------------- */

/* The columns of the model among the features of the kernel. */
static cr_status match_columns(cr_scratch *s, const cr_design *from, const cr_design *design,
                               source *f)
{
    f->n = cr_design_columns(from);
    f->columns = cr_scratch_bytes(s, f->n, sizeof *f->columns);
    if (s->status != CR_OK) return s->status;
    for (size_t c = 0; c < f->n; c++) {
        const char *name = cr_design_column_name(from, c);
        size_t      j = 0;
        while (j < design->p &&
               (strcmp(cr_design_term_name(design, j), name) != 0 || cri_design_is_code(design, j)))
            j++;
        if (j == design->p)
            return cr_fail(
                f->cx, CR_EDATA,
                "kernel: %s describes the column '%s', which is not a numeric feature here",
                f->path, name);
        f->columns[c] = (column){ name, design->shift[j], design->scale[j] };
    }
    return CR_OK;
}

cr_status cri_gp_fisher(const void *design, cr_ctx *cx, const char *kernel, const char *path,
                        char **out_text)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_model  *m = NULL;
    cri_sheet *sheet = NULL;
    source     f = { .cx = cx, .path = path };
    (void)kernel;
    CR_TRY(cr_model_load(cx, path, &m));
    CR_TRY(cri_model_describe(cx, m, &sheet));
    f.parameters = cri_sheet_get(sheet, "parameters");
    f.model = cr_class_name(cr_model_get_class(m));
    if (!has_kernel(f.model)) CR_TRY(refuse(&f));
    CR_TRY(match_columns(&s, cr_model_get_design(m), design, &f));
    CR_TRY(write_kernel(&s, &f, out_text));
done:
    cri_sheet_free(sheet);
    cr_model_free(cx, m);
    cr_scratch_end(&s);
    return st;
}
