/* query_gaussian.c -- answers of query about a linear-Gaussian network. */
#include "network.h"
#include "query_answers.h"

#include <math.h>
#include <stdio.h>

/* The standard deviation of the i-th variable of an answer. */
static double sd_of(const cr_gaussian_answer *a, size_t i)
{
    return sqrt(a->covariances == a->n ? a->covariance[i] : a->covariance[i * (a->n + 1)]);
}

static bool is_joint(const cr_gaussian_answer *a)
{
    return a->kind == CR_QUESTION_TABLE && a->n > 1;
}

/* --- as a sheet ------------------------------------------------------------------------------ */

/* "x": {"mean": 1, "sd": 2} */
static void put_marginals(const query_job *j, const cr_gaussian_answer *a, cri_sheet *out)
{
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *one = cri_put_object(out, query_name(j, a->variable[i]));
        cri_put_real(one, "mean", a->mean[i]);
        cri_put_real(one, "sd", sd_of(a, i));
    }
}

static void put_joint(const query_job *j, const cr_gaussian_answer *a, cri_sheet *out)
{
    cli_put_names(out, "variables", j->vs, a->variable, a->n);
    cri_put_reals(out, "mean", a->mean, a->n);
    cri_sheet *rows = cri_put_list(out, "covariance");
    for (size_t i = 0; i < a->n; i++) cri_put_reals(rows, NULL, a->covariance + i * a->n, a->n);
}

static void put_best(const query_job *j, const cr_gaussian_answer *a, cri_sheet *out)
{
    for (size_t i = 0; i < a->n; i++) cri_put_real(out, query_name(j, a->variable[i]), a->mean[i]);
}

static void put_density(const cr_gaussian_answer *a, cri_sheet *out)
{
    cri_put_real(out, "density", a->number);
    cri_put_real(out, "log_density", a->log_number);
}

void query_put_gaussian(const query_job *j, const cr_gaussian_answer *a, cri_sheet *out)
{
    bool graph = a->kind == CR_QUESTION_SEPARATION;
    query_put_head(j, graph ? "graph" : "gaussian", true, a->log_evidence, out);
    switch (a->kind) {
    case CR_QUESTION_PROBABILITY:
        put_density(a, out);
        break;
    case CR_QUESTION_BEST:
        put_best(j, a, cri_put_object(out, "assignment"));
        put_density(a, out);
        break;
    case CR_QUESTION_SEPARATION:
        query_put_separation(j, a->separated, a->trail_length, a->trail, out);
        break;
    case CR_QUESTION_ENTROPY:
        query_put_information(j, "entropy", a->number, out);
        break;
    case CR_QUESTION_INFORMATION:
        query_put_information(j, "information", a->number, out);
        break;
    case CR_QUESTION_INFORMATIVE:
        query_put_gains(j, a->n, a->variable, a->value, cri_put_list(out, "informative"));
        cri_put_text(out, "unit", j->unit);
        break;
    default:
        if (is_joint(a))
            put_joint(j, a, out);
        else
            put_marginals(j, a, cri_put_object(out, "marginals"));
    }
}

/* --- text ------------------------------------------------------------------------------------ */

/* variable, mean, sd; of several together the covariances beside. */
static void print_normal(query_job *j, const cr_gaussian_answer *a)
{
    cri_sheet *rows = query_rows(j);
    char       key[300];
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", query_name(j, a->variable[i]));
        cri_put_real(row, "mean", a->mean[i]);
        cri_put_real(row, "sd", sd_of(a, i));
        for (size_t k = 0; is_joint(a) && k < a->n; k++) {
            snprintf(key, sizeof key, "cov(%.200s)", query_name(j, a->variable[k]));
            cri_put_real(row, key, a->covariance[i * a->n + k]);
        }
    }
    query_print_rows(j);
}

static void print_best(query_job *j, const cr_gaussian_answer *a)
{
    cri_sheet *rows = query_rows(j);
    char       text[32];
    for (size_t i = 0; i < a->n; i++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "variable", query_name(j, a->variable[i]));
        cri_put_real(row, "value", a->mean[i]);
    }
    query_print_rows(j);
    if (!isnan(a->log_number))
        out_text(j->c, "  log density given the evidence %s\n",
                 out_number(a->log_number, false, text));
}

void query_gaussian_text(query_job *j, const cr_gaussian_answer *a)
{
    char text[32], log[32];
    switch (a->kind) {
    case CR_QUESTION_PROBABILITY:
        out_text(j->c, "  density %s, its log %s\n", out_number(a->number, false, text),
                 out_number(a->log_number, false, log));
        break;
    case CR_QUESTION_BEST:
        print_best(j, a);
        break;
    case CR_QUESTION_SEPARATION:
        if (a->separated)
            out_text(j->c, "  independent\n");
        else
            query_print_trail(j, a->trail_length, a->trail);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        out_text(j->c, "  %s %s\n", out_number(a->number / j->per, false, text), j->unit);
        break;
    case CR_QUESTION_INFORMATIVE:
        query_put_gains(j, a->n, a->variable, a->value, query_rows(j));
        query_print_rows(j);
        break;
    default:
        print_normal(j, a);
    }
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void put_row(const query_job *j, const char *variable, const char *what, double x)
{
    query_csv_row(j, &variable, 1, &what, 1, x);
}

static void csv_normal(const query_job *j, const cr_gaussian_answer *a)
{
    static const char *const what = "covariance";
    for (size_t i = 0; i < a->n; i++) {
        const char *name = query_name(j, a->variable[i]);
        put_row(j, name, "mean", a->mean[i]);
        put_row(j, name, "sd", sd_of(a, i));
    }
    for (size_t i = 0; is_joint(a) && i < a->n; i++)
        for (size_t k = i + 1; k < a->n; k++) {
            const char *pair[] = { query_name(j, a->variable[i]), query_name(j, a->variable[k]) };
            query_csv_row(j, pair, 2, &what, 1, a->covariance[i * a->n + k]);
        }
}

void query_gaussian_csv(const query_job *j, const cr_gaussian_answer *a)
{
    switch (a->kind) {
    case CR_QUESTION_PROBABILITY:
        put_row(j, "", "density", a->number);
        put_row(j, "", "log_density", a->log_number);
        break;
    case CR_QUESTION_SEPARATION:
        put_row(j, "", "", a->separated);
        break;
    case CR_QUESTION_ENTROPY:
    case CR_QUESTION_INFORMATION:
        put_row(j, "", "", a->number / j->per);
        break;
    case CR_QUESTION_INFORMATIVE:
        for (size_t i = 0; i < a->n; i++)
            put_row(j, query_name(j, a->variable[i]), "", a->value[i] / j->per);
        break;
    case CR_QUESTION_BEST:
        for (size_t i = 0; i < a->n; i++)
            put_row(j, query_name(j, a->variable[i]), "value", a->mean[i]);
        break;
    default:
        csv_normal(j, a);
    }
}
