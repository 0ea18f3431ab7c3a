/* gp_cost.c -- figures of memory and work. */
#include "gp_cost.h"
#include "gp_cg.h"
#include "../../base/context_internal.h"

#include <math.h>

enum {
    EXACT_ROWS = 4000,
    VFE_ROWS = 100000,
    TELL_ROWS = 3000,
    BLOCK = 1024,
    FACTOR_ROWS = 6000,
    COLUMNS = 128,
    SWEEPS = 20
};
static const double TELL_WORK = 1e10; /* operations of one evaluation that are worth a line */

cri_gp_approx cri_gp_choose(cr_ctx *cx, size_t n, size_t m)
{
    double rows = (double)n, inducing = (double)(m < n ? m : n);
    if (n <= EXACT_ROWS) return CRI_GP_EXACT;
    bool batches = n > VFE_ROWS;
    cr_log(cx, CR_LOG_WARNING,
           "gp: %zu distinct inputs: the sparse approximation %s with %zu inducing inputs is "
           "used, about %.2g operations for each %s; --approx exact needs %.3g GB and "
           "about %.2g operations for each evaluation",
           n, batches ? "svgp" : "vfe", m < n ? m : n, 8 * rows * inducing * inducing,
           batches ? "pass over the rows" : "evaluation", 16e-9 * rows * rows, pow(rows, 3));
    return batches ? CRI_GP_SVGP : CRI_GP_VFE;
}

cr_status cri_gp_cost_exact(cr_ctx *cx, size_t n)
{
    double square = 8 * (double)n * (double)n;
    if (2.2 * square > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM,
                "an exact Gaussian process of %zu rows needs %.3g GB, of which %.3g GB are left", n,
                2.2 * square / 1e9, (double)cri_memory_left(cx) / 1e9);
        return cr_fail_hint(cx, "--approx vfe --inducing 500, or --solver cg");
    }
    if (n > TELL_ROWS)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu distinct inputs: %.3g GB of memory, about %.3g operations for "
               "each evaluation of the evidence",
               n, 2 * square / 1e9, pow((double)n, 3));
    return CR_OK;
}

/* The preconditioner and its weights, or beside it the root and its image twice; some columns; K where there
 * is room. */
cr_status cri_gp_cost_cg(cr_ctx *cx, size_t n, size_t rank, size_t probes)
{
    double r = (double)cri_gp_cg_root_rank(n, rank), rows = (double)n, m = (double)cri_gp_cg_rank(n);
    double need = 8 * rows * (fmax(2 * fmax(m, r), fmax(m, r) + 4 * r) + 8 * (double)probes + 2 * COLUMNS);
    double square = 8 * rows * rows, left = (double)cri_memory_left(cx);
    if (need > left) {
        cr_fail(cx, CR_ENOMEM,
                "conjugate gradients for %zu rows need %.3g GB, of which %.3g GB are left", n,
                need / 1e9, left / 1e9);
        return cr_fail_hint(cx, "--inducing %zu, or --approx vfe", rank / 4 + 1);
    }
    if (n > TELL_ROWS && n <= FACTOR_ROWS && 2.2 * square <= left)
        cr_log(cx, CR_LOG_WARNING,
               "gp: %zu distinct inputs: a Cholesky factor takes %.2g GB and about %.2g operations for each "
               "evaluation, and its evidence and variances are without error: --approx exact in the place of "
               "--solver cg",
               n, 2.2e-9 * square, pow(rows, 3));
    if (n > TELL_ROWS)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu distinct inputs by conjugate gradients: %.3g GB of memory, and %.3g GB "
               "for the covariance if there is room; about %.3g operations for each step of "
               "an evaluation, %.3g for the variances",
               n, need / 1e9, square / 1e9, 40 * rows * rows, 2 * r * rows * rows);
    return CR_OK;
}

cr_status cri_gp_cost_sparse(cr_ctx *cx, cri_gp_approx approx, size_t n, size_t m)
{
    double some = (double)(m < n || approx == CRI_GP_RFF ? m : n),
           need = 8 * some * (6 * some + 4 * BLOCK);
    double work = 8 * (double)n * some * some;
    if (need > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "%.0f inducing inputs need %.3g GB, of which %.3g GB are left", some,
                need / 1e9, (double)cri_memory_left(cx) / 1e9);
        return cr_fail_hint(cx, "--inducing %.0f", floor(some / 4) + 1);
    }
    if (work > TELL_WORK)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu distinct inputs and %.0f inducing ones: %.3g GB of memory, about %.3g "
               "operations for each %s",
               n, some, need / 1e9, work,
               approx == CRI_GP_SVGP ? "pass over the rows" : "evaluation");
    return CR_OK;
}

cr_status cri_gp_cost_mcmc(cr_ctx *cx, size_t n, size_t parameters, size_t draws)
{
    double evaluations = 5 * (double)parameters * ((double)draws + 4 * SWEEPS),
           each = pow((double)n, 3) / 3;
    if (evaluations * each > 10 * TELL_WORK)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu draws of %zu hyper-parameters: about %.0f evaluations of the evidence, "
               "%.3g operations in all, and %.3g for predictions",
               draws, parameters, evaluations, evaluations * each, (double)draws * each);
    return CR_OK;
}
