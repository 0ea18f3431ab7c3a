/* libsvm_write.c -- our machines as model files of LIBSVM, where it has such. */
#include "libsvm_model.h"
#include "libsvm_text.h"
#include "svm.h"
#include "svr.h"
#include "models/core/model_internal.h"
#include "base/file.h"
#include "base/number.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

static cr_status refuse(cr_ctx *cx, const char *why, const char *hint)
{
    cr_fail(cx, CR_EUNSUPPORTED, "LIBSVM has no such model: %s", why);
    return cr_fail_hint(cx, "%s", hint);
}

/* --- what can be written --------------------------------------------------------------------- */

static cr_status check_design(cr_ctx *cx, const cr_design *d)
{
    const double *shift = cr_design_shift(d), *scale = cr_design_scale(d);
    for (size_t j = 0; j < cr_design_terms(d); j++) {
        if (cri_design_is_code(d, j))
            return refuse(cx, "a column is a category", "numbers alone can be written");
        if (shift[j] != 0 || scale[j] != 1)
            return refuse(cx, "the columns are standardised", "fit it with --scale none");
    }
    if (d->transform.kind != CRI_TRANSFORM_NONE)
        return refuse(cx, "the target is transformed", "fit it without --transform-target");
    return CR_OK;
}

/* A kernel of one node over all columns as they are. */
static bool is_whole(const cr_kernel *k, const cri_node *node, const cr_kernel_class *class)
{
    (void)k;
    return node->op == CRI_LEAF && node->class == class && node->n_columns == 0 &&
           node->warp == CRI_PLAIN;
}

static bool is_leaf(const cr_kernel *k, const cri_node *node, cri_libsvm_model *out)
{
    out->gamma = 1, out->coef0 = 0;
    if (is_whole(k, node, &cri_kernel_linear)) {
        out->kernel = CRI_LIBSVM_LINEAR;
    } else if (is_whole(k, node, &cri_kernel_rbf) && node->n_values[0] == 1) {
        double l = cri_value(k, node, 0, 0);
        out->kernel = CRI_LIBSVM_RBF;
        out->gamma = 1 / (2 * l * l);
    } else if (is_whole(k, node, &cri_kernel_polynomial)) {
        out->kernel = CRI_LIBSVM_POLYNOMIAL;
        out->degree = (size_t)node->setting[0];
        out->coef0 = cri_value(k, node, 1, 0);
        out->gamma = cri_value(k, node, 2, 0);
    } else if (is_whole(k, node, &cri_kernel_sigmoid)) {
        out->kernel = CRI_LIBSVM_SIGMOID;
        out->gamma = cri_value(k, node, 0, 0);
        out->coef0 = cri_value(k, node, 1, 0);
    } else if (node->op == CRI_POWER && is_whole(k, &k->nodes[node->first], &cri_kernel_linear)) {
        out->kernel = CRI_LIBSVM_POLYNOMIAL;
        out->degree = node->power;
    } else
        return false;
    return true;
}

/* The kernel, and a factor that goes into the weights. */
static cr_status tell_kernel(cr_ctx *cx, const cr_kernel *k, cri_libsvm_model *out, double *factor)
{
    const cri_node *root = &k->nodes[k->n_nodes - 1];
    bool            found = is_leaf(k, root, out);
    size_t          others = 0;
    *factor = 1;
    for (size_t c = root->first; !found && root->op == CRI_PRODUCT && c != SIZE_MAX;
         c = k->nodes[c].next) {
        const cri_node *child = &k->nodes[c];
        if (child->op == CRI_LEAF && child->class == &cri_kernel_constant)
            *factor *= cri_value(k, child, 0, 0);
        else if (++others > 1 || !is_leaf(k, child, out))
            return refuse(cx, "its kernel is another", "see the kernels on the page of svm");
    }
    if (!found && others != 1)
        return refuse(cx, "its kernel is another",
                      "linear, polynomial, rbf and sigmoid of all columns can be written");
    return CR_OK;
}

/* The rows of support vectors, in this order: of what is not 0. */
static cr_status add_rows(cr_scratch *s, const double *X, const size_t *order, size_t n, size_t d,
                          cri_libsvm_model *out)
{
    size_t entries = 0;
    for (size_t i = 0; i < n * d; i++) entries += X[i] != 0;
    out->n = n, out->d = d;
    out->start = cr_scratch_index(s, n + 1);
    out->column = cr_scratch_bytes(s, entries, sizeof *out->column);
    out->value = cr_scratch_f64(s, entries);
    if (s->status != CR_OK) return s->status;
    entries = 0;
    for (size_t i = 0; i < n; i++) {
        const double *x = X + (order ? order[i] : i) * d;
        out->start[i] = entries;
        for (size_t j = 0; j < d; j++)
            if (x[j] != 0) out->column[entries] = (uint32_t)j, out->value[entries++] = x[j];
    }
    out->start[n] = entries;
    return CR_OK;
}

/* --- machines for classes -------------------------------------------------------------------- */

static cr_status set_labels(cr_ctx *cx, const cr_design *design, cri_libsvm_model *out)
{
    for (size_t k = 0; k < out->K; k++) {
        const char *name = cr_design_class(design, k);
        size_t      n = strlen(name);
        double      x = NAN;
        if (cri_parse_double(name, name + n, &x) != n || x != floor(x) || fabs(x) > 2147483647)
            return refuse(cx, "its classes are not whole numbers",
                          "number the classes in the data");
        out->label[k] = x;
    }
    return CR_OK;
}

/* The class of each support vector, by the signs of its weights, and their order class by class. */
static cr_status order_classes(cr_ctx *cx, const cri_svm *m, size_t *of_class, size_t *order,
                               size_t *per)
{
    size_t l = 0, at = 0;
    for (size_t i = 0; i < m->n; i++) of_class[i] = SIZE_MAX;
    for (size_t k = 0; k < m->M; k++) {
        size_t plus, minus;
        cri_svm_classes_of(m, k, &plus, &minus);
        for (size_t end = l + m->links[k]; l < end; l++) {
            size_t *class = &of_class[m->row[l]], own = m->beta[l] > 0 ? plus : minus;
            if (*class != SIZE_MAX &&
                *class != own) /* kernels that are not semi-definite do this */
                return refuse(cx, "some of its machines are turned round",
                              "take a kernel that is positive semi-definite");
            *class = own;
        }
    }
    for (size_t c = 0; c < m->K; c++) {
        size_t begin = at;
        for (size_t i = 0; i < m->n; i++)
            if (of_class[i] == c || (c == 0 && of_class[i] == SIZE_MAX)) order[at++] = i;
        per[c] = at - begin;
    }
    return CR_OK;
}

static cr_status from_svm(cr_ctx *cx, cr_scratch *s, const cr_model *model, cri_libsvm_model *out)
{
    cr_status      st = CR_OK;
    const cri_svm *m = model->state;
    size_t         K = m->K, n = m->n, l = 0;
    size_t        *of_class = cr_scratch_index(s, n), *order = cr_scratch_index(s, n);
    size_t        *place = cr_scratch_index(s, n);
    double         factor;

    if (m->K > 2 && m->multi != CRI_SVM_OVO)
        CR_TRY(refuse(cx, "it has a machine for each class", "fit it with --multi ovo"));
    CR_TRY(tell_kernel(cx, m->kernel, out, &factor));
    out->type = m->kind == CRI_SVM_NU ? CRI_LIBSVM_NU_SVC : CRI_LIBSVM_C_SVC;
    out->K = K, out->M = m->M;
    out->label = cr_scratch_f64(s, K);
    out->per = cr_scratch_index(s, K);
    out->rho = cr_scratch_f64(s, m->M);
    out->coef = cr_scratch_bytes(s, n * (K - 1), sizeof *out->coef);
    CR_TRY(s->status);
    CR_TRY(set_labels(cx, model->design, out));
    CR_TRY(order_classes(cx, m, of_class, order, out->per));
    for (size_t i = 0; i < n; i++) place[order[i]] = i;
    for (size_t k = 0; k < m->M; k++) { /* theirs is above 0 for the earlier class */
        size_t plus, minus;
        cri_svm_classes_of(m, k, &plus, &minus);
        out->rho[k] = m->b[k];
        for (size_t end = l + m->links[k]; l < end; l++) {
            size_t i = m->row[l], column = of_class[i] == minus ? plus - 1 : minus;
            out->coef[place[i] * (K - 1) + column] = -factor * m->beta[l];
        }
    }
    CR_TRY(add_rows(s, m->X, order, n, m->d, out));
    const cri_calibration *c = model->calibration;
    if (c && c->method == CRI_CALIBRATE_PLATT && K == 2) {
        out->prob_a = cr_scratch_f64(s, 1);
        out->prob_b = cr_scratch_f64(s, 1);
        CR_TRY(s->status);
        out->prob_a[0] = -c->calibration_slope[0];
        out->prob_b[0] = c->calibration_offset[0];
    }
done:
    return st;
}

/* --- functions ------------------------------------------------------------------------------- */

/* scale f + shift */
static cr_status from_function(cr_ctx *cx, cr_scratch *s, const cri_svm_function *m, double scale,
                               double shift, cri_libsvm_model *out)
{
    cr_status st = CR_OK;
    double    factor;
    CR_TRY(tell_kernel(cx, m->kernel, out, &factor));
    out->K = 2, out->M = 1;
    out->rho = cr_scratch_f64(s, 1);
    out->coef = cr_scratch_f64(s, m->n);
    CR_TRY(s->status);
    out->rho[0] = -(scale * m->b + shift);
    for (size_t i = 0; i < m->n; i++) out->coef[i] = scale * factor * m->beta[i];
    CR_TRY(add_rows(s, m->X, NULL, m->n, m->d, out));
done:
    return st;
}

static cr_status from_svr(cr_ctx *cx, cr_scratch *s, const cr_model *model, cri_libsvm_model *out)
{
    const cri_svr *m = model->state;
    double         unit = model->design->target_scale;
    out->type = m->kind == CRI_SVR_NU ? CRI_LIBSVM_NU_SVR : CRI_LIBSVM_EPSILON_SVR;
    if (m->noise == CRI_SVR_LAPLACE && !isnan(m->scale)) {
        out->prob_a = cr_scratch_f64(s, 1);
        if (!out->prob_a) return CR_ENOMEM;
        out->prob_a[0] = m->scale * m->unit * unit;
    }
    return from_function(cx, s, &m->f, m->unit * unit,
                         m->shift * unit + model->design->target_shift, out);
}

cr_status cr_model_write_libsvm(cr_ctx *cx, const cr_model *m, const char *path)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_writer       text = cri_writer_begin(cx);
    cri_libsvm_model l = { .degree = 3 };

    if (m->class != &cri_class_svm && m->class != &cri_class_svr &&
        m->class != &cri_class_one_class_svm) {
        cr_fail(cx, CR_EUNSUPPORTED, "a model %s cannot be written for LIBSVM", m->class->name);
        CR_TRY(cr_fail_hint(cx, "svm, svr and one-class-svm can"));
    }
    CR_TRY(check_design(cx, m->design));
    if (m->class == &cri_class_svm)
        CR_TRY(from_svm(cx, &s, m, &l));
    else if (m->class == &cri_class_svr)
        CR_TRY(from_svr(cx, &s, m, &l));
    else {
        l.type = CRI_LIBSVM_ONE_CLASS;
        CR_TRY(from_function(cx, &s, &((const cri_one_class *)m->state)->f, 1, 0, &l));
    }
    cri_libsvm_model_print(&l, &text);
    CR_TRY(text.status);
    CR_TRY(cri_file_save(cx, path, text.text, text.length));
done:
    cri_writer_end(&text);
    cr_scratch_end(&s);
    return st;
}
