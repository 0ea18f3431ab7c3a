/* svm_function.c -- one function of support vectors. */
#include "svm_function.h"
#include "linear_machine.h"
#include "models/core/parameters.h"
#include "models/kernel/default_kernel.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

CRI_RECORD_TABLE(, cri_svm_function_record, cri_svm_function, CRI_SVM_FUNCTION);

cr_status cri_svm_kernel(cr_ctx *cx, const char *model, const char *text, double times,
                         const cri_rows *rows, const cri_gp_data *data, cr_kernel **out)
{
    cr_status   st = CR_OK;
    cri_gp_data distinct = { 0 };
    cr_kernel  *k = NULL;
    if (!text) CR_TRY(cri_inputs_add(cx, &distinct, rows));
    CR_TRY(cri_default_kernel(cx, text, rows->design, text ? data : &distinct, times, NULL, &k));
    CR_TRY(cri_gp_check_data(cx, k, rows, data));
    CR_TRY(cri_gp_tabulate(cx, k, rows->design, false));
    if (!cr_kernel_is_psd(k))
        cr_log(cx, CR_LOG_WARNING,
               "%s: the kernel '%s' is not positive semi-definite: there is no space of features, "
               "and the optimum found may be one of several",
               model, text);
    *out = k;
    k = NULL;
done:
    cr_kernel_free(cx, k);
    cri_gp_data_free(cx, &distinct);
    return st;
}

static cr_status set_weights(cr_ctx *cx, cri_svm_function *m)
{
    if (!cri_svm_is_linear(m->kernel)) return CR_OK;
    m->w = cr_alloc(cx, m->d, sizeof *m->w);
    if (!m->w) return CR_ENOMEM;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->d; j++) m->w[j] += m->beta[i] * m->X[i * m->d + j];
    return CR_OK;
}

/* --- of a fit -------------------------------------------------------------------------------- */

cr_status cri_svm_function_keep(cr_ctx *cx, cri_svm_function *m, const cri_gp_data *data,
                                const double *beta, const double *bound,
                                const cri_svm_solution *from)
{
    cr_status st = CR_OK;
    size_t    k = 0;
    m->objective = from->objective;
    m->gap = fmax(from->gap, 0);
    m->violation = from->violation;
    m->norm = sqrt(fmax(from->quadratic, 0));
    m->rows = data->count;
    m->d = data->d, m->c = data->c;
    for (size_t i = 0; i < data->n; i++) {
        m->n += beta[i] != 0;
        m->bounded += beta[i] != 0 && fabs(beta[i]) >= bound[i] * (1 - 1e-12);
    }
    m->support = m->n;
    CR_TRY(cri_record_allocate(cx, cri_svm_function_record, m));
    for (size_t i = 0; i < data->n; i++) {
        if (beta[i] == 0) continue;
        if (m->d) memcpy(m->X + k * m->d, data->X + i * m->d, m->d * sizeof *m->X);
        if (m->c) memcpy(m->codes + k * m->c, data->codes + i * m->c, m->c * sizeof *m->codes);
        m->beta[k++] = beta[i];
    }
    cri_kernel_drop_tables(cx, m->kernel);
    CR_TRY(cri_gp_kernel_keep(cx, m->kernel, &m->formula, &m->centre));
    CR_TRY(set_weights(cx, m));
done:
    return st;
}

void cri_svm_function_report(cr_ctx *cx, const char *model, const cri_svm_solution *from,
                             cr_report *report)
{
    report->iterations = from->steps;
    report->stop = from->late ? CR_STOP_TIME : from->converged ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    if (from->late)
        cr_log(cx, CR_LOG_WARNING, "%s: the time limit ended the search with a duality gap of %.3g",
               model, from->gap);
}

/* --- answers --------------------------------------------------------------------------------- */

cr_kernel_input cri_svm_function_inputs(const cri_svm_function *m)
{
    return (cr_kernel_input){
        .rows = m->n, .numbers = cr_cmat_of(m->X, m->n, m->d), .codes = m->codes, .categories = m->c
    };
}

cr_status cri_svm_function_values(cr_ctx *cx, const cri_svm_function *m, const cri_rows *rows,
                                  double *out)
{
    enum { ROWS = 8192 };
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          most = rows->n < ROWS ? rows->n : ROWS;
    double         *workspace = cr_scratch_matrix(&s, most, rows->p);
    double         *X = cr_scratch_matrix(&s, most, m->d);
    uint32_t       *codes = cr_scratch_bytes(&s, most * m->c, sizeof *codes);
    cr_kernel_input at = cri_svm_function_inputs(m);

    CR_TRY(s.status);
    for (size_t begin = 0; begin < rows->n; begin += most) {
        size_t count = rows->n - begin < most ? rows->n - begin : most;
        cr_progress(cx, "predicting", (double)begin, (double)rows->n);
        cri_gp_split(rows, begin, begin + count, workspace, X, codes);
        cr_kernel_input in = { .rows = count,
                               .numbers = cr_cmat_of(X, count, m->d),
                               .codes = codes,
                               .categories = m->c,
                               .names = cri_gp_names(rows) };
        CR_TRY(cri_gp_check_inputs(cx, m->kernel, rows, begin, &in));
        CR_TRY(m->w ? cri_svm_linear_scores(
                          cx, &(cri_svm_linear_rows){ .n = count, .p = m->d, .dense = X }, m->w, 0,
                          out + begin)
                    : cri_svm_values(cx, m->kernel, &at, m->beta, 1, &in, out + begin));
        for (size_t i = begin; i < begin + count; i++) out[i] += m->b;
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe and file ----------------------------------------------------------------------- */

void cri_svm_function_describe_parameters(const cri_svm_function *m, const cr_design *design,
                                          double b, cri_sheet *list)
{
    cri_parameter_add(list, b, NAN, "b");
    for (size_t i = 0; i < cr_kernel_parameters(m->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, i);
        if (!p.given) cri_parameter_add(list, p.value, NAN, "%s", p.name);
    }
    cri_gp_report_elements(m->kernel, design, list);
}

void cri_svm_function_describe(const cri_svm_function *m, cri_sheet *s)
{
    cri_put_text(s, "kernel", m->formula);
    cri_put_count(s, "support_vectors", m->support);
    cri_put_count(s, "bounded", m->bounded);
    cri_put_count(s, "free", m->support - m->bounded);
    cri_put_real(s, "dual_objective", m->objective);
    cri_put_real(s, "duality_gap", m->gap);
    cri_put_real(s, "violation", m->violation);
}

cr_status cri_svm_function_ready(cr_ctx *cx, cri_svm_function *m, const cr_design *design)
{
    cr_kernel_input at = cri_svm_function_inputs(m);
    size_t          d, c;
    cri_gp_shape(design, &d, &c);
    if (m->d != d || m->c != c || m->bounded > m->support || m->n > m->support ||
        !cri_gp_codes_fit(design, m->codes, m->n, c))
        return CR_EDATA;
    cr_status st = cri_gp_kernel_restore_any(cx, m->formula, &m->centre, &at, design, &m->kernel);
    return st == CR_OK ? set_weights(cx, m) : st;
}

void cri_svm_function_release(cr_ctx *cx, cri_svm_function *m)
{
    cr_kernel_free(cx, m->kernel);
    cr_free(cx, m->w, m->w ? m->d : 0, sizeof *m->w);
}
