/* probit.c -- probit regression: P(second class) = Phi(b0 + z.b), Phi the normal distribution
 * function. minimise  - sum_i w_i log Phi(s_i (b0 + z_i.b)) + lambda/2 |b|^2,  s_i = +1 for the
 * second class, else -1 by Newton with the observed information.  Three classes or more: one
 * against the rest each, and P(k) = Phi(eta_k) / sum. Bliss (1934); McCullagh & Nelder (1989),
 * ch. 4. */
#include "classifier.h"

/* clang-format off */
#define PROBIT_OPTIONS(X)                                                                            \
    X(real,   lambda,      "0",        ">=0", "penalty on the squared coefficients", "1")            \
    X(flag,   intercept,   "true",     "",    "fit a free intercept", "false")                       \
    X(choice, information, "expected", "expected|observed",                                          \
      "what the standard errors come from", "observed")                                              \
    X(choice, solver,      "auto",     "auto|newton|newton-cg|lbfgs|gradient|sgd",                   \
      "how to minimise; auto: newton up to 2000 coefficients, then newton-cg", "lbfgs")              \
    X(count,  batch,       "16",       ">=1", "sgd: rows per step", "64")                            \
    X(real,   tol,         "1e-12",    "0<..<1",                                                     \
      "newton: stop when a step gains less than this share; else when the gradient per row is less than its root", \
      "1e-8")                                                                                        \
    X(count,  max_iter,    "",         ">=1", "give up after this many steps or epochs", "50")
/* clang-format on */
enum { INFORMATION_EXPECTED, INFORMATION_OBSERVED };

CR_OPTIONS_STRUCT(probit_options, PROBIT_OPTIONS);
#define ROW(...) CR_OPTION_ROW(probit_options, __VA_ARGS__)
static const cr_option probit_table[] = { PROBIT_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

static void probit_free(cr_ctx *cx, void *state)
{
    cri_classifier_free(cx, state);
    cr_free(cx, state, 1, sizeof(cri_classifier));
}

static cr_status probit_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status               st = CR_OK;
    const probit_options   *o = options;
    cri_classifier         *m = cr_alloc(cx, 1, sizeof *m);
    cri_classifier_settings settings = { .link = CRI_LINK_PROBIT,
                                         .intercept = o->intercept,
                                         .expected = o->information == INFORMATION_EXPECTED,
                                         .penalty = CRI_PENALTY_L2,
                                         .lambda = o->lambda,
                                         .solve = { .solver = (cri_solver)o->solver,
                                                    .tol = o->tol,
                                                    .max_iter = o->max_iter,
                                                    .batch = o->batch,
                                                    .seed = seed } };
    if (!m) return CR_ENOMEM;
    CR_TRY(cri_classifier_fit(cx, rows, &settings, m, report));
    *out_state = m;
    m = NULL;
done:
    if (m) probit_free(cx, m);
    return st;
}

static cr_status probit_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    return cri_classifier_predict(cx, state, rows, out);
}

static cr_status probit_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 json_t *out)
{
    return cri_classifier_describe(cx, state, design, out);
}

static cr_status probit_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out)
{
    return cri_classifier_write(cx, state, store, out);
}

static cr_status probit_read(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, void **out_state)
{
    cri_classifier *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    cr_status st = cri_classifier_read(cx, store, in, design, m);
    if (st != CR_OK)
        cr_free(cx, m, 1, sizeof *m);
    else
        *out_state = m;
    return st;
}

const cr_model_class cri_class_probit = {
    .name = "probit",
    .summary = "probit regression: a normal variable behind each class",
    .formulas =
        "P(second) = Phi(b0 + z.b)\n"
        "minimise  sum_i w_i nll_i + lambda/2 |b|^2,  b0 free\n"
        "more than two classes: one against the rest,  P(k) = Phi(eta_k) / sum_l Phi(eta_l)",
    .reference = "Bliss (1934), Science 79; McCullagh & Nelder (1989), ch. 4",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = probit_table,
    .options_size = sizeof(probit_options),
    .default_scale = CR_SCALE_STANDARD,
    .scales_itself = true,
    .takes_sparse = true,
    .fit = probit_fit,
    .predict = probit_predict,
    .describe = probit_describe,
    .write = probit_write,
    .read = probit_read,
    .free = probit_free,
};
