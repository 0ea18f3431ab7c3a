/* classify.c -- Gaussian process classification.
 *   f ~ GP(0, k),   P(class | f) = logistic(f) or Phi(f); for more than two classes softmax of one f a class
 * The posterior of f is approximated by a normal: Laplace's; that of expectation propagation, where Laplace's
 * differs from it (two classes); or a variational one, through inducing inputs.  The parameters of the
 * kernel are at the maximum of the approximate log evidence times their priors, or averaged over.  Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 3, 5. */
#include "classify_fit.h"
#include "models/kernel/inputs/gp_centre.h"
#include "models/gp/sparse/gp_sparse.h"
#include "models/logistic/classifier.h"
#include "models/common/some_rows.h"
#include "base/context_internal.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { EXACT_ROWS = 2000, TELL_ROWS = 1500 };

typedef cri_classify_fit fit;
CR_OPTIONS_TABLE(static, gp_classify_table, cri_classify_options, CRI_CLASSIFY_OPTIONS);
static const cri_requirement gp_classify_requirements[] = {
    { "restarts", "optimize", "evidence", false },
    { "max_iter", "optimize", "evidence", false },
    { "hyper", "optimize", "evidence", false },
    CRI_REQUIREMENT_LAST,
};

/* --- what is asked for ----------------------------------------------------------------------- */

/* The kernel, with a constant added for the mean. */
static cr_status set_kernel(cr_ctx *cx, const fit *f)
{
    cr_status        st = CR_OK;
    const cr_design *design = f->rows->design;
    char            *text = NULL, *sum = NULL;
    cr_kernel       *k = NULL;
    CR_TRY(cri_gp_kernel_scaled(cx, f->o->kernel, design, &k));
    if (f->o->mean) {
        text = cri_gp_kernel_text(cx, k);
        sum = text ? cri_string_format(cx, "%s + 1", text) : NULL;
        if (!sum) CR_TRY(CR_ENOMEM);
        CR_TRY(cri_gp_kernel(cx, sum, design, &f->m->gp.kernel));
    } else {
        f->m->gp.kernel = k;
        k = NULL;
    }
    f->m->gp.white = cri_gp_kernel_has_white(f->m->gp.kernel);
done:
    cri_string_free(cx, sum);
    cri_string_free(cx, text);
    cr_kernel_free(cx, k);
    return st;
}

/* Which classes there are, and what that makes of the likelihood. */
static cr_status set_classes(cr_ctx *cx, fit *f)
{
    cr_status     st = CR_OK;
    cri_classify *m = f->m;
    cr_scratch    s = cr_scratch_begin(cx);
    m->K = cr_design_classes(f->rows->design);
    double *place = cr_scratch_f64(&s, m->K);
    CR_TRY(s.status);
    CR_TRY(cri_classifier_classes(cx, f->rows, true, place, &m->F));
    m->link = m->F > 1           ? CRI_CLASSIFY_SOFTMAX
              : f->o->likelihood ? CRI_CLASSIFY_PROBIT
                                 : CRI_CLASSIFY_LOGIT;
    if (m->F > 1 && f->o->likelihood) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "gp-classify: --likelihood probit requires two classes; '%s' has %zu",
                cr_design_target(f->rows->design), m->F);
        CR_TRY(cr_fail_hint(cx, "leave it out: more than two classes use softmax"));
    }
    for (size_t i = 0; m->gp.white && f->rows->w && i < f->rows->n; i++)
        if (f->rows->w[i] != 0 && f->rows->w[i] != 1) {
            cr_fail(
                cx, CR_EUNSUPPORTED,
                "gp-classify: weights other than 0 and 1 cannot be combined with a white kernel");
            CR_TRY(cr_fail_hint(cx, "leave white out of the kernel"));
        }
done:
    cr_scratch_end(&s);
    return st;
}

/* The most inducing inputs, up to 100, that nine tenths of the memory left hold. */
static cr_status hint_inducing(cr_ctx *cx, const char *approx, size_t n, size_t F)
{
    size_t m = n < 100 ? n : 100;
    while (m >= 5 && 1.1 * 8 * cri_svgp_numbers(n, m, F) > 0.9 * (double)cri_memory_left(cx))
        m -= m / 10 + 1;
    if (m < 5)
        return cr_fail_hint(cx, "no approximation would fit: raise the limit with --memory-limit");
    return cr_fail_hint(cx, "%s--inducing %zu", approx, m);
}

static cr_status check_laplace(cr_ctx *cx, size_t n, size_t F)
{
    double bytes = 8 * cri_laplace_matrices(F) * (double)n * (double)n,
           cost = pow((double)n, 3) * (F > 1 ? 8 * (double)F : 3);
    if (1.1 * bytes > (double)cri_memory_left(cx)) {
        cr_fail(
            cx, CR_ENOMEM,
            "Laplace's approximation with %zu distinct inputs and %zu latent function%s needs %.3g "
            "GB, but only %.3g GB are left",
            n, F, F > 1 ? "s" : "", 1.1 * bytes / 1e9, (double)cri_memory_left(cx) / 1e9);
        return hint_inducing(cx, "--approx svgp ", n, F);
    }
    if (n > TELL_ROWS)
        cr_log(
            cx, CR_LOG_INFO,
            "gp-classify: %zu distinct inputs: %.3g GB of memory, about %.3g operations for each "
            "evaluation of the evidence",
            n, bytes / 1e9, cost);
    return CR_OK;
}

static cr_status check_sparse(cr_ctx *cx, const fit *f, size_t n, size_t inducing)
{
    size_t F = f->m->F, m = inducing < n ? inducing : n;
    double bytes = 8 * cri_svgp_numbers(n, m, F);
    if (f->m->gp.white)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "gp-classify: a white kernel cannot be combined with --approx svgp");
    if (1.1 * bytes > (double)cri_memory_left(cx)) {
        cr_fail(
            cx, CR_ENOMEM,
            "%zu inducing inputs for %zu distinct inputs need %.3g GB, but only %.3g GB are left",
            m, n, 1.1 * bytes / 1e9, (double)cri_memory_left(cx) / 1e9);
        return hint_inducing(cx, "", n, F);
    }
    return CR_OK;
}

/* Two options that ask for different methods, or one that this many classes do not have. */
static cr_status check_infer(cr_ctx *cx, const fit *f)
{
    static const char *const approx[] = { "auto", "laplace", "svgp" };
    static const char *const infer[] = { "laplace", "ep", "bound", "auto" };
    const int same[] = { CRI_CLASSIFY_AUTO, CRI_CLASSIFY_LAPLACE, CRI_CLASSIFY_BOUND };
    int       by = f->o->infer, also = same[f->o->approx];
    if (by != CRI_CLASSIFY_AUTO && also != CRI_CLASSIFY_AUTO && by != also) {
        cr_fail(cx, CR_EARG, "gp-classify: --infer %s and --approx %s cannot be combined: give one",
                infer[by], approx[f->o->approx]);
        return cr_fail_hint(cx, "leave out --approx");
    }
    if (by == CRI_CLASSIFY_EP && f->m->F > 1) {
        cr_fail(cx, CR_EUNSUPPORTED,
                "gp-classify: --infer ep is for two classes, but the target has %zu", f->m->F);
        return cr_fail_hint(cx, "--infer bound");
    }
    return CR_OK;
}

/* n^3 operations for two classes, n^3 a class and more of them for others: up to those of
 * EXACT_ROWS. */
static bool is_large(size_t n, size_t F)
{
    return (double)n > EXACT_ROWS / (F > 1 ? cbrt(4 * (double)F) : 1);
}

/* More classes than two: the bound, whose probabilities are better (log loss on iris 0.39 and 0.09); unless
 * the kernel has white, or there are texts and categories alone, between which no inducing input moves
 * (words of three languages: 0.75 and 0.82). */
static void infer_many(cr_ctx *cx, fit *f)
{
    bool laplace = f->m->gp.white || f->inputs.d == 0;
    f->infer = laplace ? CRI_CLASSIFY_LAPLACE : CRI_CLASSIFY_BOUND;
    if (f->m->gp.white)
        cr_log(cx, CR_LOG_WARNING,
               "gp-classify: a white kernel cannot be combined with --infer bound: Laplace's "
               "approximation is used, whose probabilities are too cautious with three or more "
               "classes");
}

static cr_status choose_approx(cr_ctx *cx, fit *f)
{
    size_t n = f->inputs.n, F = f->m->F, m = f->o->inducing;
    bool   large = is_large(n, F) && !f->m->gp.white;
    f->infer = f->o->approx == CRI_APPROX_LAPLACE ? CRI_CLASSIFY_LAPLACE
               : f->o->approx == CRI_APPROX_SVGP  ? CRI_CLASSIFY_BOUND
                                                  : (cri_classify_infer)f->o->infer;
    if (f->infer == CRI_CLASSIFY_AUTO && large) {
        f->infer = CRI_CLASSIFY_BOUND;
        cr_log(
            cx, CR_LOG_WARNING,
            "gp-classify: %zu distinct inputs: the sparse approximation svgp with %zu inducing "
            "inputs "
            "is used; --approx laplace needs %.3g GB and about %.3g operations for each evaluation",
            n, m < n ? m : n, 8e-9 * cri_laplace_matrices(F) * (double)n * (double)n,
            pow((double)n, 3) * (F > 1 ? 8 * (double)F : 3));
    }
    if (f->infer == CRI_CLASSIFY_AUTO && F > 1) infer_many(cx, f);
    f->m->sparse = f->infer == CRI_CLASSIFY_BOUND;
    f->closely = f->m->sparse && f->o->approx == CRI_APPROX_AUTO && !large;
    f->m->infer = f->infer == CRI_CLASSIFY_BOUND ? CRI_CLASSIFY_BOUND : CRI_CLASSIFY_LAPLACE;
    if (!f->m->sparse)
        cri_tell_unused(cx, gp_classify_table, f->o, "inducing", "Laplace's approximation",
                        "--approx svgp");
    return f->m->sparse ? check_sparse(cx, f, n, m) : check_laplace(cx, n, F);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* Distinct inputs with their counts, inducing ones if any, memory. */
static cr_status prepare(cr_ctx *cx, cr_scratch *s, fit *f)
{
    cr_status         st = CR_OK;
    cri_classify     *m = f->m;
    cri_gp_posterior *g = &m->gp;
    CR_TRY(set_kernel(cx, f));
    CR_TRY(set_classes(cx, f));
    CR_TRY(check_infer(cx, f));
    CR_TRY(cri_gp_data_add(cx, &f->inputs, f->rows, NULL, !g->white, f->group));
    CR_TRY(cri_gp_check_data(cx, g->kernel, f->rows, &f->inputs));
    CR_TRY(cri_gp_centre(cx, g->kernel, &f->inputs, f->rows, f->group));
    CR_TRY(choose_approx(cx, f));
    g->rows = f->inputs.count;
    m->distinct = (double)f->inputs.n;
    g->approx = CRI_GP_EXACT; /* of gp's own */
    f->data.at = m->sparse ? &f->inputs : &g->at;
    if (m->sparse)
        CR_TRY(cri_gp_inducing(cx, &f->inputs, f->o->inducing, f->seed, &g->at));
    else {
        g->at = f->inputs;
        f->inputs = (cri_gp_data){ 0 };
    }
    CR_TRY(cri_gp_mean_new(cx, -1, &g->at, &g->mean, NULL));
    CR_TRY(cri_gp_posterior_allocate(cx, g, CRI_GP_L));
    CR_TRY(cri_classify_allocate(cx, m, m->sparse || m->F > 1));
    size_t M;
    CR_TRY(cri_classifier_classes(cx, f->rows, true, m->place, &M));
    CR_TRY(cri_classify_name(cx, m, f->rows->design));
    CR_TRY(cri_classify_count(s, m, f->data.at, f->rows, f->group, &f->data));
    CR_TRY(m->sparse ? cri_svgp_new(s, &f->data, &g->at, g->L, m->factor, &f->sparse)
                     : cri_laplace_new(s, &f->data, g->at.n, g->L, m->factor, &f->laplace));
done:
    return st;
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                          void **out_state, cr_report *report)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_classify *m = cr_alloc(cx, 1, sizeof *m);
    fit           f = {
                  .o = options, .rows = rows, .seed = seed, .m = m, .group = cr_scratch_index(&s, rows->n)
    };

    cri_progress_open(cx, "gp-classify: fitting");
    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    m->gp.loo_score = m->gp.loo_rmse = NAN;
    CR_TRY(prepare(cx, &s, &f));
    if (!m->sparse) CR_TRY(cri_gp_tabulate(cx, m->gp.kernel, rows->design, true));
    CR_TRY(cri_classify_solve(cx, &f, report));
    cri_kernel_drop_tables(cx, m->gp.kernel);
    CR_TRY(cri_gp_posterior_keep(cx, &m->gp));
    *out_state = m;
    m = NULL;
done:
    cri_progress_close(cx);
    cri_gp_data_free(cx, &f.inputs);
    cri_state_free(cx, &cri_class_gp_classify, m);
    cr_scratch_end(&s);
    return st;
}

/* Within a time limit, of some rows where all take too long. */
static cr_status gp_classify_fit(cr_ctx *cx, const cri_rows *rows, const void *options,
                                 uint64_t seed, void **out_state, cr_report *report)
{
    return cri_fit_some(cx, fit_rows, rows, options, seed, out_state, report);
}

static cr_status gp_classify_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const cri_classify_options *)options)->kernel, design);
}

const cr_model_class cri_class_gp_classify = {
    .name = "gp-classify",
    .summary = "Gaussian process classification with a kernel of your choice",
    .formulas = "P(second | x) = logistic(f(x)) or Phi(f(x)),   f ~ GP(0, k)\n"
                "posterior of f ~ normal: at its mode (Laplace), by expectation propagation, or "
                "variational\n"
                "kernel parameters at the maximum of the approximate log evidence\n"
                "prediction: the probability averaged over the normal of f(x)\n"
                "more classes: softmax, one f per class, all with the same kernel",
    .reference = "Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, ch. 3, 5",
    .example = "examples/diabetes.csv --target sex --features bmi,bp",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = gp_classify_table,
    .options_size = sizeof(cri_classify_options),
    .requirements = gp_classify_requirements,
    .default_scale = CR_SCALE_NONE,
    .coding = CRI_CODING_CODE,
    .shape = gp_classify_shape,
    .whole = &(const cri_whole_face){ .fit = gp_classify_fit },
    .rows = &(const cri_rows_face){ .predict = cri_classify_predict,
                                    .probability_intervals = cri_classify_intervals,
                                    .transform = cri_classify_latent,
                                    .labels = cri_classify_labels },
    .function = &(const cri_function_face){ .hyper = cri_classify_hyper,
                                            .evidence_at = cri_classify_evidence_at },
    .describe = cri_classify_describe,
    .statistics = cri_classify_statistics,
    .state = cri_classify_record,
    .state_size = sizeof(cri_classify),
    .ready = cri_classify_ready,
    .release = cri_classify_release,
};
