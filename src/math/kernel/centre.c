/* centre.c -- the kernel of features less their mean over rows r_1 .. r_n with weights p of sum 1.
 *   v(x, y) = b(x, y) - m(x) - m(y) + M,   m(x) = sum_i p_i b(x, r_i),   M = sum_i p_i m(r_i)
 * It is the product of phi(x) - mu and phi(y) - mu, mu = sum_i p_i phi(r_i): positive semi-definite
 * where b is.  The means of N rows are made ready with the job, tile by tile, each row by one
 * thread: N n values of b, none where the rows are some of the r_i and these are settled; M takes
 * n^2 until then.
 *   dv = db(x, y) - dm(x) - dm(y) + dM
 * so that adjoints A give A to b, and their sums over rows and columns to b between those and the
 * r_i. */
#include "kernel_internal.h"
#include "base/context_internal.h"
#include "math/dense/blas_internal.h"

#include <string.h>

bool cri_is_centre(const cri_node *node)
{
    return node->op == CRI_OVER && node->class == &cri_kernel_centre;
}

size_t cri_first_below(const cr_kernel *k, size_t at)
{
    while (k->nodes[at].op != CRI_LEAF) at = k->nodes[at].first;
    return at;
}

cr_kernel cri_kernel_below(const cr_kernel *k, size_t at)
{
    cr_kernel below = *k;
    below.begin = cri_first_below(k, at);
    below.n_nodes = k->nodes[at].first + 1;
    return below;
}

/* --- tiles ----------------------------------------------------------------------------------- */

void cri_centre_forward(const cri_job *job, size_t at, cri_tile tile, cri_workspace *workspace)
{
    const double *base = workspace->value[job->k->nodes[at].first], *a = job->a.node[at].diagonal;
    const double *b = tile.diagonal ? a : job->b.node[at].diagonal;
    double       *out = workspace->value[at], total = job->total[at];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j, row = tile.i0 + i, col = tile.diagonal ? row : tile.j0 + j;
            out[e] = (base[e] - a[row]) - (b[col] - total);
        }
}

void cri_centre_backward(const cri_job *job, size_t at, cri_tile tile, const double *adjoint,
                         cri_workspace *workspace, cri_gradient *g)
{
    double *a = g->diagonal_a ? g->diagonal_a[at] : NULL,
           *b = g->diagonal_b ? g->diagonal_b[at] : NULL;
    memcpy(workspace->adjoint[job->k->nodes[at].first], adjoint,
           tile.ni * tile.nj * sizeof *adjoint);
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            double x = adjoint[i * tile.nj + j];
            if (tile.diagonal && b) b[tile.i0 + i] += 2 * x;
            if (tile.diagonal) continue;
            if (a) a[tile.i0 + i] += x;
            if (b) b[tile.j0 + j] += x;
        }
}

void cri_centre_tangent(const cri_job *job, size_t at, const cri_tangents *tangents, cri_tile tile,
                        cri_workspace *workspace)
{
    const double *base = workspace->adjoint[job->k->nodes[at].first], *a = tangents->a[at];
    const double *b = tile.diagonal ? a : tangents->b[at];
    double       *out = workspace->adjoint[at], total = tangents->total[at];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t e = i * tile.nj + j, row = tile.i0 + i, col = tile.diagonal ? row : tile.j0 + j;
            out[e] = (base[e] - a[row]) - (b[col] - total);
        }
}

/* --- means ----------------------------------------------------------------------------------- */

typedef struct mean_work {
    const cri_job      *job; /* rows of it: those to take means of; columns: the reference */
    const double       *p;
    size_t              param; /* SIZE_MAX: values; else the parameter to differentiate by   */
    const cri_tangents *tangents;
    double             *out;
} mean_work;

/* The means of some rows, their columns in order. */
static void mean_block(void *arg, size_t block)
{
    const mean_work *w = arg;
    const cri_job   *job = w->job;
    cri_range        rows = cri_block_range(job->a.in->rows, CRI_TILE, block);
    size_t           n = job->b.in->rows, ni = rows.end - rows.begin, root = job->k->n_nodes - 1;
    bool             slope = w->param != SIZE_MAX;
    cri_workspace    workspace;
    if (!cri_workspace_new(job, slope, &workspace)) {
        atomic_store(job->no_memory, true);
        return;
    }
    memset(w->out + rows.begin, 0, ni * sizeof *w->out);
    for (size_t j0 = 0; j0 < n && !cri_should_stop(job->cx); j0 += CRI_TILE) {
        cri_tile tile = { rows.begin, ni, j0, n - j0 < CRI_TILE ? n - j0 : CRI_TILE, false };
        cri_forward(job, tile, &workspace);
        if (slope) cri_tangent(job, w->param, w->tangents, tile, &workspace);
        const double *v = slope ? workspace.adjoint[root] : workspace.value[root];
        for (size_t i = 0; i < ni; i++)
            w->out[rows.begin + i] += cri_dot_array(v + i * tile.nj, w->p + j0, tile.nj);
    }
    cri_workspace_free(job, &workspace);
}

/* out [rows of X] = m(x) of the centre at `at`, or its derivative by a parameter. */
static cr_status take_means(cr_ctx *cx, const cr_kernel *k, size_t at, const cr_kernel_input *X,
                            size_t param, double *out)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_reference *r = k->reference;
    cr_kernel            below = cri_kernel_below(k, at);
    cri_tangents         tangents;
    cri_job              job;
    mean_work w = { .job = &job, .p = r->p, .param = param, .tangents = &tangents, .out = out };
    cri_blas_enter();
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_job_begin(&s, &below, X, &r->in, param != SIZE_MAX, &job));
    CR_TRY(cri_job_join(&s, &job));
    if (param != SIZE_MAX) CR_TRY(cri_tangents_new(&s, &job, param, &tangents));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(X->rows, CRI_TILE), mean_block, &w));
    CR_TRY(cr_check_interrupt(cx));
    if (atomic_load(job.no_memory))
        CR_TRY(cri_fail_memory(cx, cri_workspace_size(&job, param != SIZE_MAX) * sizeof(double)));
done:
    cri_blas_leave();
    cr_scratch_end(&s);
    return st;
}

/* The means of the reference itself, *out_mean [n] (the arena's, or those settled), and their
 * mean. */
static cr_status reference_means(cr_scratch *s, const cr_kernel *k, size_t at, size_t param,
                                 const double **out_mean, double *out_total)
{
    const cri_reference *r = k->reference;
    if (param == SIZE_MAX && r->mean) {
        *out_mean = r->mean[at], *out_total = r->total[at];
        return CR_OK;
    }
    double *mean = cr_scratch_f64(s, r->in.rows);
    if (s->status != CR_OK) return s->status;
    cr_status st = take_means(s->cx, k, at, &r->in, param, mean);
    *out_mean = mean;
    *out_total = cri_dot_array(mean, r->p, r->in.rows);
    return st;
}

static cr_status side_means(cr_scratch *s, const cri_job *job, const cri_side *side, size_t at,
                            size_t param, const double *reference, double *out)
{
    const cr_kernel *k = job->k;
    size_t           from = cri_reference_find(k->reference, side->in);
    if (from == SIZE_MAX) return take_means(s->cx, k, at, side->in, param, out);
    memcpy(out, reference + from, side->in->rows * sizeof *out);
    return CR_OK;
}

cr_status cri_centre_means(cr_scratch *s, cri_job *job, size_t at)
{
    cr_status     st = CR_OK;
    const double *mean;
    CR_TRY(reference_means(s, job->k, at, SIZE_MAX, &mean, &job->total[at]));
    CR_TRY(side_means(s, job, &job->a, at, SIZE_MAX, mean, job->a.node[at].diagonal));
    if (!job->same)
        CR_TRY(side_means(s, job, &job->b, at, SIZE_MAX, mean, job->b.node[at].diagonal));
done:
    return st;
}

cr_status cri_centre_mean_tangents(cr_scratch *s, const cri_job *job, size_t at, size_t param,
                                   cri_tangents *out)
{
    cr_status     st = CR_OK;
    const double *mean;
    CR_TRY(reference_means(s, job->k, at, param, &mean, &out->total[at]));
    CR_TRY(side_means(s, job, &job->a, at, param, mean, out->a[at]));
    if (!job->same) CR_TRY(side_means(s, job, &job->b, at, param, mean, out->b[at]));
done:
    return st;
}

/* --- the kernel ------------------------------------------------------------------------------ */

static const cri_spec no_specs[] = { CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_centre = {
    .name = "centre",
    .aliases = "center",
    .summary = "any kernel, with its features centred over the rows of the fit",
    .formula = "k(x, y) = b(x, y) - m(x) - m(y) + M,  m(x) = mean_i b(x, r_i),  M = mean_i m(r_i)\n"
               "r_i: the rows of the fit, by their weights;  b: any expression without white",
    .reference = "Schoelkopf, Smola & Mueller (1998), Neural Computation 10, app. A",
    .example = "centre(poly(degree=3, c=1))",
    .specs = no_specs,
    .family = CRI_CONSTANT,
    .kind = CRI_NONE,
    .wraps = true,
};
