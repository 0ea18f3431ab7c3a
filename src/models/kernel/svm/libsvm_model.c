/* libsvm_model.c -- models of LIBSVM become models of ours.
 * Their classes stand in the order of the data, ours in the order of their names; a machine for classes p and q is above 0 for
 * p there, and for the later one here.  Their gamma is 1 / (2 l^2) of rbf, and the variance of a polynomial; rho = -b. */
#include "libsvm_model.h"
#include "libsvm_text.h"
#include "svm.h"
#include "svr.h"
#include "svm_function.h"
#include "models/core/model_internal.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool cr_is_libsvm_model(const void *bytes, size_t size) { return cri_libsvm_is_model(bytes, size); }

/* --- parts ----------------------------------------------------------------------------------- */

static void print_kernel(const cri_libsvm_model *m, char *out, size_t size)
{
    switch (m->kernel) {
    case CRI_LIBSVM_LINEAR:
        snprintf(out, size, "linear");
        break;
    case CRI_LIBSVM_POLYNOMIAL:
        if (m->coef0 > 0)
            snprintf(out, size, "polynomial(degree=%zu, c=%.17g, variance=%.17g)", m->degree,
                     m->coef0, m->gamma);
        else
            snprintf(out, size, "%.17g*linear^%zu", pow(m->gamma, (double)m->degree), m->degree);
        break;
    case CRI_LIBSVM_RBF:
        snprintf(out, size, "rbf(l=%.17g)", 1 / sqrt(2 * m->gamma));
        break;
    default:
        snprintf(out, size, "sigmoid(gamma=%.17g, c=%.17g)", m->gamma, m->coef0);
    }
}

static const char *class_of(cri_libsvm_type type)
{
    return cri_libsvm_is_classes(type)    ? "svm"
           : type == CRI_LIBSVM_ONE_CLASS ? "one-class-svm"
                                          : "svr";
}

/* The columns x1 .. xd as they are, and the target. */
static cr_status make_design(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l,
                             const char *source, cr_model *m)
{
    cr_status st = CR_OK;
    cr_table *t = NULL;
    size_t    rows = l->K;
    bool      target = l->type != CRI_LIBSVM_ONE_CLASS, classes = cri_libsvm_is_classes(l->type);
    double   *X = cr_scratch_bytes(s, rows * (l->d > 0 ? l->d : 1), sizeof *X), y[2] = { 0, 1 };
    CR_TRY(s->status);
    for (size_t j = 0; j < l->d; j++) X[j] = 1; /* not constant */
    CR_TRY(cr_table_new(cx, source, rows, &t));
    CR_TRY(cr_table_borrow_matrix(cx, t, CR_REAL, cr_cmat_of(X, rows, l->d), NULL));
    if (target) {
        CR_TRY(cr_table_add_numbers(cx, t, "y", classes ? CR_INTEGER : CR_REAL,
                                    classes ? l->label : y, 1));
        CR_TRY(cri_model_set(cx, m, "target", "y"));
    }
    CR_TRY(cri_model_set(cx, m, "scale", "none"));
    CR_TRY(cri_resolve_task(cx, m, t, &m->task));
    CR_TRY(cri_design_fit(
        cx, t, &m->design_options,
        &(cri_design_needs){ .coding = m->class->coding, .classes = classes, .spread = true },
        &m->design));
done:
    cr_table_free(cx, t);
    return st;
}

/* The support vectors as rows: out [n x d]. */
static void spread(const cri_libsvm_model *l, double *out)
{
    memset(out, 0, l->n * l->d * sizeof *out);
    for (size_t i = 0; i < l->n; i++)
        for (size_t e = l->start[i]; e < l->start[i + 1]; e++)
            out[i * l->d + l->column[e]] = l->value[e];
}

static cr_status copy_kernel(cr_ctx *cx, const cri_libsvm_model *l, char **out)
{
    char text[160];
    print_kernel(l, text, sizeof text);
    *out = cri_string_copy(cx, text);
    return *out ? CR_OK : CR_ENOMEM;
}

/* --- machines for classes -------------------------------------------------------------------- */

/* Our number of each of their classes, place [K]. */
static void place_classes(const cri_libsvm_model *l, const cr_design *design, size_t *place)
{
    for (size_t p = 0; p < l->K; p++) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", l->label[p] == 0 ? 0 : l->label[p]);
        for (size_t k = 0; k < l->K; k++)
            if (strcmp(cr_design_class(design, k), text) == 0) place[p] = k;
    }
}

/* Which of their machines ours for (i, j) is, with their numbers of these classes; sign: what ours is of theirs. */
typedef struct pairing {
    size_t p, q, machine;
    double sign;
} pairing;

static pairing pair_of(size_t K, const size_t *theirs, size_t i, size_t j)
{
    size_t  a = theirs[i], b = theirs[j];
    pairing of = { a < b ? a : b, a < b ? b : a, 0, a < b ? -1 : 1 }; /* ours is for j */
    for (size_t p = 0; p < of.p; p++) of.machine += K - 1 - p;
    of.machine += of.q - of.p - 1;
    return of;
}

/* The weight of support vector i, which is of class c, in a machine; 0 where it is of neither class. */
static double weight_in(const cri_libsvm_model *l, pairing of, size_t i, size_t c)
{
    if (c != of.p && c != of.q) return 0;
    return of.sign * l->coef[i * (l->K - 1) + (c == of.p ? of.q - 1 : of.p)];
}

/* What stands in the state beside the weights. */
static void measure_machine(cri_svm *m, size_t k, const double *F, const double *beta, size_t n)
{
    double square = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (beta[i] != 0 && fabs(beta[i]) < m->C) /* a free one lies on the margin */
            m->violation[k] = fmax(
                m->violation[k],
                fabs(copysign(F[i * m->M + k] + m->b[k], beta[i] * (F[i * m->M + k] + m->b[k])) -
                     1));
        square += beta[i] * F[i * m->M + k];
        sum += fabs(beta[i]);
    }
    m->norm[k] = sqrt(fmax(square, 0));
    m->objective[k] = square / 2 - (m->kind == CRI_SVM_C ? sum : 0);
    m->gap[k] = NAN;
}

static cr_status fill_machines(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l,
                               const cr_design *design, cri_svm *m)
{
    cr_status st = CR_OK;
    size_t    n = l->n, K = l->K, *place = cr_scratch_index(s, K), *theirs = cr_scratch_index(s, K);
    size_t   *of_class = cr_scratch_index(s, n), links = 0;
    double   *beta = cr_scratch_matrix(s, m->M, n), most = 0;
    CR_TRY(s->status);
    place_classes(l, design, place);
    for (size_t p = 0; p < K; p++) theirs[place[p]] = p;
    for (size_t p = 0, i = 0; p < K; p++)
        for (size_t k = 0; k < l->per[p]; k++) of_class[i++] = p;
    for (size_t k = 0; k < m->M; k++) {
        size_t plus, minus;
        cri_svm_classes_of(m, k, &plus, &minus);
        pairing of = pair_of(K, theirs, minus, plus);
        m->b[k] = -of.sign * l->rho[of.machine];
        for (size_t i = 0; i < n; i++) {
            double b = beta[k * n + i] = weight_in(l, of, i, of_class[i]);
            most = fmax(most, fabs(b));
            if (b != 0) m->links[k]++, links++;
        }
    }
    m->C = m->kind == CRI_SVM_C ? most : 0;
    m->S = links;
    CR_TRY(cri_record_allocate(cx, cri_svm_record, m));
    spread(l, m->X);
    links = 0;
    for (size_t k = 0; k < m->M; k++)
        for (size_t i = 0; i < n; i++) {
            double b = beta[k * n + i];
            if (b == 0) continue;
            m->row[links] = i, m->beta[links++] = b;
            m->bounded[k] += m->kind == CRI_SVM_C && fabs(b) == most;
        }
done:
    return st;
}

/* Objectives and margins, by the values of the machines at the support vectors. */
static cr_status measure_machines(cr_ctx *cx, cr_scratch *s, cri_svm *m)
{
    cr_status       st = CR_OK;
    size_t          n = m->n, l = 0;
    double         *coef = cr_scratch_bytes(s, n * m->M, sizeof *coef);
    double         *F = cr_scratch_matrix(s, n, m->M), *beta = cr_scratch_f64(s, n);
    cr_kernel_input at = cri_svm_inputs(m);
    CR_TRY(s->status);
    for (size_t k = 0; k < m->M; k++)
        for (size_t end = l + m->links[k]; l < end; l++) coef[m->row[l] * m->M + k] = m->beta[l];
    CR_TRY(cri_svm_values(cx, m->kernel, &at, coef, m->M, &at, F));
    for (size_t k = 0; k < m->M; k++) {
        for (size_t i = 0; i < n; i++) beta[i] = coef[i * m->M + k];
        measure_machine(m, k, F, beta, n);
    }
done:
    return st;
}

/* Probabilities of two classes are Platt's map of the decision; of more they are coupled in another way than here. */
static cr_status take_calibration(cr_ctx *cx, const cri_libsvm_model *l, const cr_model *m,
                                  cri_calibration **out)
{
    if (!l->prob_a || !l->prob_b) return CR_OK;
    if (l->K > 2) {
        cr_log(cx, CR_LOG_WARNING,
               "the probabilities of a model of %zu classes are left out: labels and decisions "
               "alone are kept",
               l->K);
        return CR_OK;
    }
    size_t place[2] = { 0, 1 };
    *out = cri_calibration_new(cx, CRI_CALIBRATE_PLATT, 2, false, 0);
    if (!*out) return CR_ENOMEM;
    place_classes(l, m->design, place);
    (*out)->calibration_slope[0] = -l->prob_a[0];
    (*out)->calibration_offset[0] = place[0] == 1 ? -l->prob_b[0] : l->prob_b[0];
    return CR_OK;
}

static cr_status make_svm(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l, cr_model *model)
{
    cr_status st = CR_OK;
    cri_svm  *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    model->state = m;
    m->kind = l->type == CRI_LIBSVM_NU_SVC ? CRI_SVM_NU : CRI_SVM_C;
    m->tol = 1e-3, m->rows = (double)l->n;
    m->n = l->n, m->d = l->d, m->K = l->K, m->M = l->M;
    CR_TRY(copy_kernel(cx, l, &m->formula));
    CR_TRY(cri_svm_allocate_machines(cx, m));
    CR_TRY(fill_machines(cx, s, l, model->design, m));
    CR_TRY(model->class->ready(cx, m, model->design));
    CR_TRY(measure_machines(cx, s, m));
    CR_TRY(take_calibration(cx, l, model, &model->calibration));
done:
    return st;
}

/* --- functions of numbers, and regions ------------------------------------------------------- */

static cr_status make_function(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l,
                               const cr_design *design, cri_svm_function *m)
{
    cr_status st = CR_OK;
    double   *F = cr_scratch_f64(s, l->n), square = 0, most = 0;
    CR_TRY(s->status);
    m->tol = 1e-12, m->rows = l->n > 0 ? (double)l->n : 1;
    m->n = m->support = l->n, m->d = l->d;
    m->b = -l->rho[0];
    m->gap = m->violation = INFINITY;
    CR_TRY(copy_kernel(cx, l, &m->formula));
    CR_TRY(cri_record_allocate(cx, cri_svm_function_record, m));
    spread(l, m->X);
    memcpy(m->beta, l->coef, l->n * sizeof *m->beta);
    CR_TRY(cri_svm_function_ready(cx, m, design));
    cr_kernel_input at = cri_svm_function_inputs(m);
    CR_TRY(cri_svm_values(cx, m->kernel, &at, m->beta, 1, &at, F));
    for (size_t i = 0; i < m->n; i++) {
        square += m->beta[i] * F[i];
        most = fmax(most, fabs(m->beta[i]));
    }
    for (size_t i = 0; i < m->n; i++) m->bounded += fabs(m->beta[i]) == most;
    m->norm = sqrt(fmax(square, 0));
    m->objective = square / 2;
done:
    return st;
}

static cr_status make_svr(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l, cr_model *model)
{
    cr_status st = CR_OK;
    cri_svr  *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    model->state = m;
    m->kind = l->type == CRI_LIBSVM_NU_SVR ? CRI_SVR_NU : CRI_SVR_EPSILON;
    m->unit = 1, m->epsilon = NAN;
    m->noise = l->prob_a && l->prob_a[0] > 0 ? CRI_SVR_LAPLACE : CRI_SVR_NONE;
    m->scale = m->noise == CRI_SVR_LAPLACE ? l->prob_a[0] : NAN;
    m->rmse = NAN;
    CR_TRY(make_function(cx, s, l, model->design, &m->f));
    for (size_t i = 0; i < l->n; i++) m->C = fmax(m->C, fabs(l->coef[i]));
    if (!(m->C > 0)) m->C = 1;
done:
    return st;
}

static cr_status make_one_class(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l,
                                cr_model *model)
{
    cri_one_class *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    model->state = m;
    m->nu = NAN;
    return make_function(cx, s, l, model->design, &m->f);
}

/* --- reading --------------------------------------------------------------------------------- */

static cr_status make_model(cr_ctx *cx, cr_scratch *s, const cri_libsvm_model *l,
                            const char *source, cr_model **out)
{
    cr_status st = CR_OK;
    cr_model *m = NULL;
    double    need = 8.0 * (double)(l->n + l->K) * (double)l->d;
    if (need > (double)cri_memory_left(cx) / 2)
        return cr_fail(cx, CR_ENOMEM, "%s: %zu support vectors of %zu columns need %.3g GB", source,
                       l->n, l->d, need / 1e9);
    m = cri_model_new(cx, cr_class_find(cx, class_of(l->type)));
    if (!m) return CR_ENOMEM;
    CR_TRY(make_design(cx, s, l, source, m));
    CR_TRY(cri_libsvm_is_classes(l->type)    ? make_svm(cx, s, l, m)
           : l->type == CRI_LIBSVM_ONE_CLASS ? make_one_class(cx, s, l, m)
                                             : make_svr(cx, s, l, m));
    m->report = (cr_report){
        .stop = CR_STOP_TOLERANCE, .rows = l->n, .log_evidence = NAN, .log_likelihood = NAN
    };
    CR_TRY(cri_state_check(cx, m->class, m->state));
    *out = m;
    m = NULL;
done:
    cr_model_free(cx, m);
    return st;
}

cr_status cr_model_parse_libsvm(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                cr_model **out_model)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_libsvm_model l;
    CR_TRY(cri_libsvm_model_parse(&s, source, bytes, size, &l));
    if (l.d == 0) CR_TRY(cr_fail(cx, CR_EDATA, "%s: no support vector has any column", source));
    st = make_model(cx, &s, &l, source, out_model);
    if (st == CR_EDATA && cr_error(cx)[0] == '\0')
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the model does not fit its columns", source));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_model_read_libsvm(cr_ctx *cx, const char *path, cr_model **out_model)
{
    cr_status st = CR_OK;
    char     *bytes = NULL;
    size_t    size = 0;
    CR_TRY(cri_file_load(cx, path, 0, &bytes, &size));
    CR_TRY(cr_model_parse_libsvm(cx, path, bytes, size, out_model));
done:
    cr_free(cx, bytes, size, 1);
    return st;
}
