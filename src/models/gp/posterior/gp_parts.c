/* gp_parts.c -- a Gaussian process as a sum, and its evidence at other hyper-parameters.
 * f = sum_j f_j with kernel sum_j k_j: with k_j = k_j(at, x), w_j = L^-1 k_j, v_j = L2^-1 w_j
 * (gp_posterior.h),
 *   mean f_j = k_j . alpha,   var f_j = k_j(x, x) - |w_j|^2 [+ |v_j|^2] + |A^-1 U^T v_j|^2,
 * the last for what the data leave open of the mean function h . b, which is a part too:
 *   mean h . b,  var |A^-1 h|^2. */
#include "gp_method.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>

static cr_status refuse(cr_ctx *cx, const cri_gp_method *method, const char *what, const char *fits)
{
    cr_fail(cx, CR_EUNSUPPORTED, "a Gaussian process by %s has no %s", method->option, what);
    return cr_fail_hint(cx, "fit it with %s", fits);
}

/* Random features are those of the whole kernel; a root that needs the nearest inputs has no
 * covariance. */
static cr_status check_parts(cr_ctx *cx, const cri_gp_posterior *m)
{
    const cri_gp_method *method = cri_gp_method_of(m);
    if (m->inverse.near) return refuse(cx, method, "parts", "--approx vfe");
    if (!m->L && !m->inverse.root) return refuse(cx, method, "parts", "--approx vfe or nystrom");
    return CR_OK;
}

/* --- parts ----------------------------------------------------------------------------------- */

/* The term of the kernel that is part number k, noise not counted; NULL beyond the last. */
static cr_status find_term(cr_ctx *cx, const cri_gp_posterior *m, size_t k, cr_kernel **out)
{
    for (size_t t = 0; t < cr_kernel_terms(m->kernel); t++) {
        cr_kernel *term = NULL;
        cr_status  st = cr_kernel_term(cx, m->kernel, t, &term);
        if (st != CR_OK) return st;
        bool noise = cri_kernel_is_noise(term, term->n_nodes - 1);
        if (!noise && k-- == 0) {
            *out = term;
            return CR_OK;
        }
        cr_kernel_free(cx, term);
    }
    return CR_OK;
}

/* Sets the only column among those read, if it is one. */
static void set_column(const cr_design *design, const bool *numbers, const bool *categories,
                       cr_part *out)
{
    const char *name = NULL;
    bool        category = false;
    for (size_t j = 0; j < design->p; j++) {
        bool code = cri_design_is_code(design, j);
        if (!*(code ? categories++ : numbers++)) continue;
        if (name || j < design->block.n) return;
        const cri_design_term   *term = &design->terms[j - design->block.n];
        const cri_design_column *c = &design->columns[term->column];
        if ((!code && term->power != 1) || c->made.kind != CRI_MADE_NOT) return;
        name = c->name;
        category = code;
    }
    out->column = name;
    out->category = category;
}

static cr_status name_term(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                           const cr_kernel *term, cr_part *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_kernel *brief = NULL;
    bool *numbers = cr_scratch_bytes(&s, m->at.d + m->at.c + 1, sizeof *numbers); /* none yet */

    CR_TRY(s.status);
    CR_TRY(cr_kernel_copy(cx, term, &brief));
    cri_kernel_columns_read(term, term->n_nodes - 1, m->at.d, numbers, m->at.c, numbers + m->at.d);
    cri_kernel_shorten(brief);
    cr_kernel_print(brief, out->name, sizeof out->name);
    set_column(design, numbers, numbers + m->at.d, out);
done:
    cr_kernel_free(cx, brief);
    cr_scratch_end(&s);
    return st;
}

static cr_status name_mean(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                           cr_part *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    bool      *categories = cr_scratch_bytes(&s, m->at.c + 1, sizeof *categories);
    size_t     most = 0;

    CR_TRY(s.status);
    for (size_t t = 0; t < m->q; t++)
        if (m->mean.power[t] > (double)most) most = (size_t)m->mean.power[t];
    snprintf(out->name, sizeof out->name,
             most == 0   ? "mean function: constant"
             : most == 1 ? "mean function: linear"
                         : "mean function: polynomial");
    if (most > 0 && m->at.d == 1) set_column(design, &(const bool){ true }, categories, out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_process_part(cr_ctx *cx, const cri_gp_posterior *m, const cr_design *design,
                              size_t k, const cri_rows *rows, cr_part *out_part, double *mean,
                              double *sd)
{
    cr_status  st = CR_OK;
    cr_kernel *term = NULL;
    cr_part    part = { 0 };
    bool       is_mean = m->q > 0 && k == 0;

    CR_TRY(check_parts(cx, m));
    if (is_mean)
        CR_TRY(name_mean(cx, m, design, &part));
    else
        CR_TRY(find_term(cx, m, k - (m->q > 0), &term));
    if (term) CR_TRY(name_term(cx, m, design, term, &part));
    if (rows && part.name[0]) {
        CR_TRY(cri_gp_some_moments(cx, m, rows, NULL, rows->n, term, is_mean, mean, sd));
        for (size_t i = 0; i < rows->n; i++) sd[i] = sqrt(sd[i]);
    }
    *out_part = part;
done:
    cr_kernel_free(cx, term);
    return st;
}

/* --- hyper-parameters ------------------------------------------------------------------------ */

cr_status cri_gp_hyper(cr_ctx *cx, const void *state, size_t k, cr_hyper *out)
{
    const cri_gp_posterior *m = state;
    size_t                  n = cr_kernel_parameters(m->kernel);
    (void)cx;
    if (k == n && !m->noise_column) {
        *out = (cr_hyper){ .value = m->noise,
                           .upper = INFINITY,
                           .log_sd = m->sd[m->n_theta],
                           .positive = m->noise > 0 };
        snprintf(out->name, sizeof out->name, "noise");
    } else if (k < n) {
        cr_kernel_parameter p = cr_kernel_parameter_at(m->kernel, k);
        bool                positive = p.lower >= 0 && p.upper > 1;
        *out = (cr_hyper){ .value = p.value,
                           .lower = p.lower,
                           .upper = p.upper,
                           .positive = positive,
                           .log_sd = p.theta < m->n_theta && positive ? m->sd[p.theta] : NAN };
        snprintf(out->name, sizeof out->name, "%s", p.name);
    }
    return CR_OK;
}

cr_status cri_gp_evaluate_at(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k,
                             double noise, const size_t *which, size_t n, const double *values,
                             size_t count, double *out)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < count; i++) {
        CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < n; j++) {
            if (which[j] == cr_kernel_parameters(k))
                noise = values[i * n + j];
            else
                CR_TRY(cr_kernel_set_value(cx, k, which[j], values[i * n + j]));
        }
        st = learning->objective(cx, learning->workspace, learning->problem, k, noise, out + i,
                                 NULL);
        if (st == CR_ENUMERIC) out[i] = NAN, st = CR_OK; /* the covariance has no factor */
        CR_TRY(st);
    }
done:
    return st;
}

cr_status cri_gp_evidence_at(cr_ctx *cx, const void *state, const cri_rows *rows,
                             const size_t *which, size_t n, const double *values, size_t count,
                             double *out)
{
    cr_status               st = CR_OK;
    cr_scratch              s = cr_scratch_begin(cx);
    const cri_gp_posterior *m = state;
    const cri_gp_method    *method = cri_gp_method_of(m);
    cri_gp_data             data = { 0 };
    cr_kernel              *k = NULL;
    cri_gp_learning         learning = { .objective = method->evidence_at };

    if (!method->evidence_at)
        CR_TRY(refuse(cx, method, "log evidence to draw",
                      "--approx exact, sor, dtc, fitc or vfe, and --solver cholesky"));
    CR_TRY(cri_gp_data_add(cx, &data, rows, rows->roles[0], !m->white, NULL));
    CR_TRY(cr_kernel_copy(cx, m->kernel, &k));
    CR_TRY(method->workspace(&s, m, data.n, &learning.workspace));
    double        *H = cr_scratch_matrix(&s, data.n, m->q);
    cri_gp_problem problem = { &data, m->q, H };
    CR_TRY(s.status);
    cri_gp_mean_fill(&m->mean, data.X, data.n, H);
    learning.problem = &problem;
    CR_TRY(cri_gp_evaluate_at(cx, &learning, k, m->noise, which, n, values, count, out));
done:
    cr_kernel_free(cx, k);
    cri_gp_data_free(cx, &data);
    cr_scratch_end(&s);
    return st;
}
