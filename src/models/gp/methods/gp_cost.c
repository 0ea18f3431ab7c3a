/* gp_cost.c -- figures of memory and work. */
#include "gp_cost.h"
#include "models/gp/cg/gp_cg.h"
#include "base/context_internal.h"

#include <math.h>
#include <stdio.h>

enum {
    EXACT_ROWS = 4000,
    VFE_ROWS = 100000,
    TELL_ROWS = 3000,
    BLOCK = 1024,
    FACTOR_ROWS = 6000,
    COLUMNS = 128,
    PROBES = 32,
    SWEEPS = 20,
    SEARCH_ROWS = 512,  /* that starts are searched with                                     */
    FEW_ROWS = 2000,    /* that conjugate gradients learn from first, by a factor           */
    CANDIDATES = 4096,  /* rows that the preconditioner is chosen from                       */
    WORK_COLUMNS = 700, /* of n rows: the vectors of the probes, and some rows of K          */
    INDUCING = 500,     /* when nobody says                                                  */
    LEAST_INDUCING = 20
};
static const double TELL_WORK = 1e10; /* operations of one evaluation that are worth a line */

cri_gp_approx cri_gp_choose_sparse(size_t n) { return n > VFE_ROWS ? CRI_GP_SVGP : CRI_GP_VFE; }

cri_gp_approx cri_gp_choose(cr_ctx *cx, size_t n, size_t m)
{
    double rows = (double)n, inducing = (double)(m < n ? m : n);
    if (n <= EXACT_ROWS) return CRI_GP_EXACT;
    cri_gp_approx approx = cri_gp_choose_sparse(n);
    bool          batches = approx == CRI_GP_SVGP;
    cr_log(cx, CR_LOG_WARNING,
           "gp: %zu distinct inputs: the sparse approximation %s with %zu inducing inputs is "
           "used, about %.2g operations for each %s; --approx exact needs %.3g GB and "
           "about %.2g operations for each evaluation",
           n, batches ? "svgp" : "vfe", m < n ? m : n, 8 * rows * inducing * inducing,
           batches ? "pass over the rows" : "evaluation", 16e-9 * rows * rows, pow(rows, 3));
    return approx;
}

/* --- what fits ------------------------------------------------------------------------------- */

static double sparse_need(double m) { return 8 * m * (6 * m + 4 * BLOCK); }

/* The preconditioner and its weights, or beside it the root and its image twice; some columns; K
 * where there is room. */
static double root_need(size_t n, size_t rank, size_t probes)
{
    double r = (double)cri_gp_cg_root_rank(n, rank), m = (double)cri_gp_cg_rank(n),
           widest = fmax(m, r);
    return 8 * (double)n * (fmax(2 * widest, widest + 4 * r) + 8 * (double)probes + 2 * COLUMNS);
}

/* A factor of few rows; then their factor still, the preconditioner, its candidates, and
 * vectors. */
static double learning_need(size_t n)
{
    double few = (double)(n < FEW_ROWS ? n : FEW_ROWS), p = (double)cri_gp_cg_rank(n),
           rows = (double)n;
    double search = 8 * 2.2 * few * few, candidates = fmin(rows, CANDIDATES);
    return fmax(search, 8 * (few * few + p * (rows + candidates + 3 * p) + WORK_COLUMNS * rows));
}

/* x rounded down to two digits. */
static size_t two_digits(double x)
{
    double unit = x >= 100 ? pow(10, floor(log10(x)) - 1) : 1;
    return x >= 1 ? (size_t)(floor(x / unit) * unit) : 0;
}

/* How many inducing inputs, up to `most`, the memory left holds beside the factor of the search; 0
 * for hardly any. */
static size_t most_inducing(const cr_ctx *cx, double most)
{
    double left = fmax(0.9 * (double)cri_memory_left(cx) - 18.0 * SEARCH_ROWS * SEARCH_ROWS, 0),
           b = 32 * BLOCK;
    size_t m = two_digits(fmin(most, (sqrt(b * b + 4 * 48 * left) - b) / (2 * 48)));
    return m >= LEAST_INDUCING ? m : 0;
}

/* The same, up to the usual number, of the rank of the root of conjugate gradients. */
static size_t most_rank(const cr_ctx *cx, size_t n, size_t probes, bool learn)
{
    double left = 0.8 * (double)cri_memory_left(cx);
    size_t r = INDUCING;
    if (learn && learning_need(n) > left) return 0;
    while (r >= LEAST_INDUCING && root_need(n, r, probes) > left) r = two_digits(0.9 * (double)r);
    return r >= LEAST_INDUCING ? r : 0;
}

/* Which of the approximations would have room. */
static cr_status hint_smaller(cr_ctx *cx, size_t rank, bool has_cg)
{
    size_t m = most_inducing(cx, INDUCING);
    char   cg[64] = "";
    if (rank && rank < INDUCING)
        snprintf(cg, sizeof cg, "--solver cg --inducing %zu", rank);
    else if (rank)
        snprintf(cg, sizeof cg, "--solver cg");
    if (m == 0) return cr_fail_hint(cx, "nothing would fit: raise the limit with --memory-limit");
    return cr_fail_hint(cx, "--approx vfe --inducing %zu%s%s%s", m,
                        has_cg ? " without --solver cg" : "", cg[0] ? ", or " : "", cg);
}

/* --- refusals -------------------------------------------------------------------------------- */

cr_status cri_gp_cost_exact(cr_ctx *cx, size_t n)
{
    double square = 8 * (double)n * (double)n;
    if (2.2 * square > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM,
                "an exact Gaussian process of %zu rows needs %.3g GB, but only %.3g GB are left", n,
                2.2 * square / 1e9, (double)cri_memory_left(cx) / 1e9);
        return hint_smaller(cx, most_rank(cx, n, PROBES, true), false);
    }
    if (n > TELL_ROWS)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu distinct inputs: %.3g GB of memory, about %.3g operations for "
               "each evaluation of the evidence",
               n, 2 * square / 1e9, pow((double)n, 3));
    return CR_OK;
}

cr_status cri_gp_cost_cg(cr_ctx *cx, size_t n, size_t rank, size_t probes, bool learn)
{
    double rows = (double)n, square = 8 * rows * rows, left = (double)cri_memory_left(cx);
    double need = fmax(root_need(n, rank, probes), learn ? learning_need(n) : 0);
    if (need > left) {
        cr_fail(cx, CR_ENOMEM,
                "conjugate gradients for %zu rows need %.3g GB, but only %.3g GB are left", n,
                need / 1e9, left / 1e9);
        return hint_smaller(cx, most_rank(cx, n, probes, learn), true);
    }
    if (n > TELL_ROWS && n <= FACTOR_ROWS && 2.2 * square <= left)
        cr_log(cx, CR_LOG_WARNING,
               "gp: %zu distinct inputs: a Cholesky factor takes %.2g GB and about %.2g operations "
               "for each "
               "evaluation, and its evidence and variances are without error: use --approx exact "
               "instead of --solver cg",
               n, 2.2e-9 * square, pow(rows, 3));
    if (n > TELL_ROWS)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu distinct inputs by conjugate gradients: %.3g GB of memory, and %.3g GB for "
               "the covariance if it fits; about %.3g operations for each step of "
               "an evaluation, %.3g for the variances",
               n, need / 1e9, square / 1e9, 40 * rows * rows,
               2 * (double)cri_gp_cg_root_rank(n, rank) * rows * rows);
    return CR_OK;
}

cr_status cri_gp_cost_sparse(cr_ctx *cx, cri_gp_approx approx, size_t n, size_t m)
{
    double some = (double)(m < n || approx == CRI_GP_RFF ? m : n), need = sparse_need(some);
    double work = 8 * (double)n * some * some;
    if (need > (double)cri_memory_left(cx)) {
        cr_fail(cx, CR_ENOMEM, "%.0f inducing inputs need %.3g GB, but only %.3g GB are left", some,
                need / 1e9, (double)cri_memory_left(cx) / 1e9);
        size_t fits = most_inducing(cx, some);
        return fits ? cr_fail_hint(cx, "--inducing %zu", fits)
                    : cr_fail_hint(cx, "nothing would fit: raise the limit with --memory-limit");
    }
    if (work > TELL_WORK)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu distinct inputs and %.0f inducing ones: %.3g GB of memory, about %.3g "
               "operations for each %s",
               n, some, need / 1e9, work,
               approx == CRI_GP_SVGP ? "pass over the rows" : "evaluation");
    return CR_OK;
}

double cri_gp_mcmc_evaluations(size_t parameters, size_t draws)
{
    return 5 * (double)parameters * ((double)draws + 4 * SWEEPS);
}

cr_status cri_gp_cost_mcmc(cr_ctx *cx, size_t n, size_t parameters, size_t draws)
{
    double evaluations = cri_gp_mcmc_evaluations(parameters, draws), each = pow((double)n, 3) / 3;
    if (evaluations * each > 10 * TELL_WORK)
        cr_log(cx, CR_LOG_INFO,
               "gp: %zu draws of %zu hyper-parameters: about %.0f evaluations of the evidence, "
               "%.3g operations in all, and %.3g for predictions",
               draws, parameters, evaluations, evaluations * each, (double)draws * each);
    return CR_OK;
}
