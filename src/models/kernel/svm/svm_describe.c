/* svm_describe.c -- what a support vector machine for classes says of itself. */
#include "svm.h"
#include "linear_machine.h"
#include "models/core/parameters.h"

static const char *const multi_names[] = { "ovo", "ovr", "crammer-singer" };

double cri_svm_gap(const cri_svm *m)
{
    double gap = 0;
    for (size_t k = 0; cri_svm_is_joint(m) && k < m->M; k++) gap += m->gap[k];
    for (size_t k = 0; !cri_svm_is_joint(m) && k < m->M && !isnan(gap); k++)
        if (!(m->gap[k] <= gap)) gap = m->gap[k];
    return gap;
}

const cr_field cri_svm_statistics[] = {
    CR_TEXT("kernel", 0, "the kernel with its hyper-parameters"),
    CR_TEXT("kind", 0, "c or nu"),
    CR_TEXT("multi", CR_FIELD_SOMETIMES, "of many classes: ovo, ovr or crammer-singer"),
    CR_NUMBER("C", CR_FIELD_EITHER, "of c: the price of an error; null: none is allowed"),
    CR_NUMBER("nu", CR_FIELD_SOMETIMES, "of nu: the share of rows within the margin"),
    CR_TEXT("loss", CR_FIELD_SOMETIMES, "squared-hinge, where it is that"),
    CR_TEXT("penalty", CR_FIELD_SOMETIMES, "l1, where it is that"),
    CR_COUNT("nonzero_weights", CR_FIELD_SOMETIMES,
             "with l1: columns that some machine has a weight for"),
    CR_COUNT("support_vectors", CR_FIELD_SOMETIMES, "rows that some machine needs; not with l1"),
    CR_COUNT("bounded", CR_FIELD_SOMETIMES,
             "of two classes: support vectors whose weight is at its bound, within the margin"),
    CR_COUNT("free", CR_FIELD_SOMETIMES,
             "of two classes: support vectors on the margin, whose weight is below its bound"),
    CR_NUMBER(
        "dual_objective", CR_FIELD_SOMETIMES,
        "of two classes: 1/2 a^T Q a - sum a, at its least; of nu 1/2 a^T Q a; of crammer-singer "
        "that of all classes"),
    CR_NUMBER("duality_gap", CR_FIELD_NULL,
              "primal less dual: the objective is at most this from its optimum; of many machines "
              "the largest"),
    CR_NUMBER("violation", 0, "of the optimality conditions; of many classes the largest"),
    CR_NUMBER("margin", CR_FIELD_EITHER,
              "of two classes: distance of the margin from the boundary, 1 / |w|"),
    CR_NUMBER(
        "loo_error", CR_FIELD_EITHER,
        "with --loo: the share of errors when each row is left out, by the span of the support "
        "vectors; null where none is off its bounds"),
    CR_FIELD_LAST,
};

static const cr_field path_fields[] = {
    CR_NUMBER("C", 0, "the price of an error"),
    CR_COUNT("support_vectors", 0, "rows with a weight"),
    CR_COUNT("bounded", 0, "of them, with a weight at its bound"),
    CR_NUMBER("dual_objective", 0, "the least value of the dual"),
    CR_NUMBER("duality_gap", CR_FIELD_NULL, "primal less dual"),
    CR_NUMBER("margin", CR_FIELD_NULL, "distance of the margin from the boundary"),
    CR_NUMBER("errors", 0, "share of the rows of the fit that are of the other class"),
    CR_NUMBER("loo_error", CR_FIELD_NULL, "with --loo: the same with each row left out"),
    CR_FIELD_LAST,
};

static const cr_field machine_fields[] = {
    CR_TEXT("class", 0, "the class for which the decision is above 0"),
    CR_TEXT("against", CR_FIELD_NULL, "the class for which it is below; null: all others"),
    CR_NUMBER("b", 0, "the constant of the decision"),
    CR_COUNT("support_vectors", 0, "rows with a weight"),
    CR_COUNT("bounded", 0, "of them, with a weight at its bound"),
    CR_NUMBER("dual_objective", 0, "the least value of the dual; of crammer-singer its part of it"),
    CR_NUMBER("duality_gap", CR_FIELD_NULL, "primal less dual, likewise"),
    CR_NUMBER("violation", 0, "of the optimality conditions"),
    CR_COUNT("iterations", 0, "steps of two weights"),
    CR_FIELD_LAST,
};

const cr_field cri_svm_tables[] = {
    CR_INNER(ROWS, "machines", CR_FIELD_SOMETIMES, "of many classes: what each machine is like",
             machine_fields),
    CR_INNER(ROWS, "prices", CR_FIELD_SOMETIMES, "with --path: the machine at each price",
             path_fields),
    CR_FIELD_LAST,
};

static void describe_machines(const cri_svm *m, const cr_design *design, cri_sheet *list)
{
    for (size_t k = 0; k < m->M; k++) {
        cri_sheet *s = cri_put_object(list, NULL);
        size_t     plus, minus;
        cri_svm_classes_of(m, k, &plus, &minus);
        cri_put_text(s, "class", cr_design_class(design, plus));
        cri_put_text(s, "against", minus == SIZE_MAX ? NULL : cr_design_class(design, minus));
        cri_put_real(s, "b", m->b[k]);
        cri_put_count(s, "support_vectors", m->links[k]);
        cri_put_count(s, "bounded", m->bounded[k]);
        cri_put_real(s, "dual_objective", m->objective[k]);
        cri_put_real(s, "duality_gap", m->gap[k]);
        cri_put_real(s, "violation", m->violation[k]);
        cri_put_count(s, "iterations", m->steps[k]);
    }
}

/* Columns with a weight other than 0 in some machine. */
static size_t count_weights(const cri_svm *m)
{
    size_t count = 0;
    for (size_t j = 0; j < m->d; j++) {
        bool any = false;
        for (size_t k = 0; k < m->M; k++) any |= m->W[k * m->d + j] != 0;
        count += any;
    }
    return count;
}

static void describe_path(const cri_svm *m, cri_sheet *list)
{
    for (size_t i = 0; i < m->P; i++) {
        cri_sheet *s = cri_put_object(list, NULL);
        cri_put_real(s, "C", m->path_C[i]);
        cri_put_count(s, "support_vectors", m->path_support[i]);
        cri_put_count(s, "bounded", m->path_bounded[i]);
        cri_put_real(s, "dual_objective", m->path_objective[i]);
        cri_put_real(s, "duality_gap", m->path_gap[i]);
        cri_put_real(s, "margin", m->path_norm[i] > 0 ? 1 / m->path_norm[i] : NAN);
        cri_put_real(s, "errors", m->path_errors[i]);
        cri_put_real(s, "loo_error", m->path_loo[i]);
    }
}

/* The only machine between two classes that have rows; SIZE_MAX where there are several. */
static size_t only_machine(const cri_svm *m)
{
    size_t only = SIZE_MAX;
    for (size_t k = 0; k < m->M; k++) {
        if (m->M > 1 && m->links[k] == 0) continue;
        if (only != SIZE_MAX) return SIZE_MAX;
        only = k;
    }
    return only;
}

cr_status cri_svm_describe(cr_ctx *cx, const void *state, const cr_design *design, cri_sheet *out)
{
    const cri_svm *m = state;
    cri_sheet     *list = cri_put_list(out, "parameters"), *s;
    double         violation = 0;
    size_t         only = only_machine(m);
    (void)cx;

    if (only != SIZE_MAX) cri_parameter_add(list, m->b[only], NAN, "b");
    for (size_t i = 0; i < cr_kernel_parameters(m->kernel); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, i);
        if (!p.given) cri_parameter_add(list, p.value, NAN, "%s", p.name);
    }
    cri_gp_report_elements(m->kernel, design, list);
    for (size_t k = 0; k < m->M; k++) violation = fmax(violation, m->violation[k]);
    s = cri_put_object(out, "statistics");
    cri_put_text(s, "kernel", m->formula);
    cri_put_text(s, "kind", m->kind == CRI_SVM_NU ? "nu" : "c");
    if (m->M > 1) cri_put_text(s, "multi", multi_names[m->multi]);
    if (m->kind == CRI_SVM_NU)
        cri_put_real(s, "nu", m->nu);
    else
        cri_put_real(s, "C", m->C);
    if (m->loss) cri_put_text(s, "loss", "squared-hinge");
    if (m->penalty) cri_put_text(s, "penalty", "l1");
    if (m->penalty)
        cri_put_count(s, "nonzero_weights", count_weights(m));
    else
        cri_put_count(s, "support_vectors", m->support ? m->support : m->n);
    bool weights = m->penalty || m->support;
    if (only != SIZE_MAX) {
        if (!weights) cri_put_count(s, "bounded", m->bounded[only]);
        if (!weights) cri_put_count(s, "free", m->links[only] - m->bounded[only]);
        cri_put_real(s, "dual_objective", m->objective[only]);
        cri_put_real(s, "margin", m->norm[only] > 0 ? 1 / m->norm[only] : NAN);
    }
    if (cri_svm_is_joint(m)) {
        double objective = 0;
        for (size_t k = 0; k < m->M; k++) objective += m->objective[k];
        cri_put_real(s, "dual_objective", objective);
    }
    cri_put_real(s, "duality_gap", cri_svm_gap(m));
    cri_put_real(s, "violation", violation);
    if (!isnan(m->loo)) cri_put_real(s, "loo_error", m->loo);
    if (m->P) describe_path(m, cri_put_list(out, "prices"));
    if (m->M > 1) describe_machines(m, design, cri_put_list(out, "machines"));
    return CR_OK;
}
