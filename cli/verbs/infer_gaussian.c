/* infer_gaussian.c -- infer of a linear-Gaussian network: means and standard deviations, row by
 * row.
 */
#include "../render/answers.h"
#include "gaussian.h"
#include "infer_job.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

typedef struct normal_job {
    cli                       *c;
    cr_scratch                *s;
    const cr_gaussian_network *net;
    const cr_variables        *vs;
    cr_table                  *t;
    size_t                     n, rows;
    const cr_column          **column;           /* [n] of each variable; NULL: none */
    size_t                    *target, n_target; /* variables */
    double                    *log_evidence;     /* [rows] */
    double                    *mean, *sd;        /* [rows x n_target]; NaN where there is none */
    size_t                     impossible;
} normal_job;

static bool is_number(const char *text)
{
    double x;
    size_t n = strlen(text);
    return n > 0 && cri_parse_double(text, text + n, &x) == n;
}

/* Columns that name variables hold numbers. */
static cr_status match_columns(normal_job *j)
{
    char name[CR_NAME_SIZE];
    for (size_t i = 0; i < cr_table_columns(j->t); i++) {
        const char *title = cr_table_column_name(j->t, i, name);
        size_t      v = cr_variable_lookup(j->vs, title);
        if (v == CR_NONE) {
            cr_log(j->c->cx, CR_LOG_WARNING,
                   "column '%s' names no variable of the network: left out", title);
            continue;
        }
        const cr_column *column = cr_table_column(j->t, i);
        if (!column) return CR_ENOMEM;
        if (column->type == CR_CATEGORY && column->missing < j->rows) {
            size_t row = 0;
            while (row + 1 < j->rows && (column->codes[row] == CR_MISSING_CODE ||
                                         is_number(column->levels[column->codes[row]])))
                row++;
            return cr_fail(j->c->cx, CR_EDATA,
                           "%s, row %zu: '%s' is a Gaussian variable, and '%s' is no number",
                           cr_table_source(j->t), row + 1, title,
                           column->levels[column->codes[row]]);
        }
        if (column->type != CR_CATEGORY) j->column[v] = column;
    }
    return CR_OK;
}

static cr_status choose_targets(normal_job *j, const char *opt_targets)
{
    bool *known = cr_scratch_bytes(j->s, j->n, sizeof *known);
    if (j->s->status != CR_OK) return j->s->status;
    for (size_t v = 0; v < j->n; v++) known[v] = j->column[v] && j->column[v]->missing == 0;
    return infer_choose_targets(j->s, j->vs, opt_targets, known, j->n, &j->target, &j->n_target);
}

static cr_status infer_row(normal_job *j, size_t row, size_t *observed, double *value, double *mean,
                           double *cov)
{
    cr_status st;
    size_t    k = 0;
    for (size_t v = 0; v < j->n; v++) {
        double x = j->column[v] ? j->column[v]->values[row * j->column[v]->stride] : NAN;
        if (isnan(x)) continue;
        observed[k] = v;
        value[k++] = x;
    }
    st = cr_gaussian_network_condition(j->c->cx, j->net, k, observed, value, mean,
                                       cr_mat_of(cov, j->n, j->n), &j->log_evidence[row]);
    if (st == CR_ENUMERIC) j->log_evidence[row] = NAN; /* what is seen determines itself */
    if (st == CR_ENUMERIC) j->impossible++;
    for (size_t i = 0; i < j->n_target; i++) {
        size_t v = j->target[i];
        j->mean[row * j->n_target + i] = st == CR_OK ? mean[v] : NAN;
        j->sd[row * j->n_target + i] = st == CR_OK ? sqrt(fmax(cov[v * (j->n + 1)], 0)) : NAN;
    }
    return st == CR_ENUMERIC ? CR_OK : st;
}

static cr_status infer_rows(normal_job *j)
{
    cr_status st = CR_OK;
    size_t   *observed = cr_scratch_index(j->s, j->n);
    double   *value = cr_scratch_f64(j->s, j->n), *mean = cr_scratch_f64(j->s, j->n);
    double   *cov = cr_scratch_matrix(j->s, j->n, j->n);
    j->log_evidence = cr_scratch_f64(j->s, j->rows);
    j->mean = cr_scratch_matrix(j->s, j->rows, j->n_target);
    j->sd = cr_scratch_matrix(j->s, j->rows, j->n_target);
    CR_TRY(j->s->status);
    CR_TRY(cr_gaussian_network_joint(j->c->cx, j->net, mean, cr_mat_of(cov, j->n, j->n)));
    for (size_t row = 0; row < j->rows; row++) {
        CR_TRY(cr_check_interrupt(j->c->cx));
        CR_TRY(infer_row(j, row, observed, value, mean, cov));
    }
done:
    return st;
}

static void put_row(const normal_job *j, size_t row, cri_sheet *out)
{
    bool       possible = !isnan(j->log_evidence[row]);
    cri_sheet *all = infer_put_row(j->log_evidence[row], possible, out);
    for (size_t i = 0; i < j->n_target && possible; i++) {
        cri_sheet *one = cri_put_object(all, cr_variable_name(j->vs, j->target[i]));
        cri_put_real(one, "mean", j->mean[row * j->n_target + i]);
        cri_put_real(one, "sd", j->sd[row * j->n_target + i]);
    }
}

static cr_status print_json(const normal_job *j)
{
    cr_status  st = CR_OK;
    cli       *c = j->c;
    cri_sheet *sheet = cri_sheet_new(c->cx);
    infer_put_head(c, j->rows, "gaussian", true, sheet);
    CR_TRY(cri_sheet_status(sheet));
    out_result_begin(c, "infer", sheet, "results");
    for (size_t row = 0; row < j->rows; row++) {
        cri_sheet_clear(sheet);
        put_row(j, row, sheet);
        CR_TRY(cri_sheet_status(sheet));
        out_result_item(c, sheet, row == 0);
    }
    out_result_end(c);
done:
    cri_sheet_free(sheet);
    return st;
}

/* log_evidence, x:mean, x:sd, ... */
static cr_status print_table(normal_job *j)
{
    answers        a = answers_new(j->s, j->rows, 1 + 2 * j->n_target);
    answer_column *column = answers_add(&a, "log_evidence", NULL);
    if (j->s->status != CR_OK) return j->s->status;
    column->x = j->log_evidence;
    column->stride = 1;
    for (size_t i = 0; i < j->n_target; i++)
        for (int sd = 0; sd < 2; sd++) {
            const char *name = cr_variable_name(j->vs, j->target[i]);
            column = answers_add(&a, answers_name(j->s, name, sd ? ":sd" : ":mean"), NULL);
            column->x = (sd ? j->sd : j->mean) + i;
            column->stride = j->n_target;
        }
    return j->s->status == CR_OK ? answers_print(j->c, &a) : j->s->status;
}

cr_status cli_infer_gaussian(cli *c, const cr_gaussian_network *net, const char *opt_targets)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    normal_job j = { .c = c, .s = &s, .net = net, .vs = cr_gaussian_network_names(net) };
    j.n = cr_gaussian_network_size(net);
    j.column = cr_scratch_bytes(&s, j.n, sizeof *j.column);
    CR_TRY(s.status);
    CR_TRY(cli_read_data(c, 1, NULL, &j.t));
    j.rows = cr_table_rows(j.t);
    CR_TRY(match_columns(&j));
    CR_TRY(choose_targets(&j, opt_targets));
    CR_TRY(infer_rows(&j));
    if (j.impossible > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "in %zu of %zu rows an observation follows from others: they get no posterior",
               j.impossible, j.rows);
    CR_TRY(cli_check_strict(c));
    CR_TRY(out_open(c, c->global.output));
    CR_TRY(c->format == FORMAT_JSON ? print_json(&j) : print_table(&j));
done:
    cr_table_free(c->cx, j.t);
    cr_scratch_end(&s);
    return st;
}
