/* gram.c -- whole matrices: Gram, cross, diagonal, and one derivative of a Gram matrix.
 * A task is a strip of columns, CRI_TILE wide; of a Gram matrix only the tiles on and below the
 * diagonal are computed. */
#include "kernel_internal.h"
#include "base/context_internal.h"
#include "math/dense/blas_internal.h"

#include <string.h>

typedef struct matrix_work {
    const cri_job      *job;
    cr_mat              out;
    bool                symmetric, mirror;
    size_t              param; /* SIZE_MAX: values; else the parameter to differentiate by */
    const cri_tangents *tangents;
    double              factor;
} matrix_work;

/* Copies a tile to its place and, of a symmetric matrix, to its mirror image. */
static void store(const matrix_work *w, cri_tile tile, const double *v)
{
    bool across = w->symmetric && tile.i0 == tile.j0; /* this tile is on the diagonal */
    for (size_t i = 0; i < tile.ni; i++) {
        double *row = w->out.a + (tile.i0 + i) * w->out.stride + tile.j0;
        memcpy(row, v + i * tile.nj, (across ? i + 1 : tile.nj) * sizeof *row);
    }
    for (size_t j = 0; w->symmetric && w->mirror && j < tile.nj; j++) {
        double *row = w->out.a + (tile.j0 + j) * w->out.stride + tile.i0;
        for (size_t i = across ? j + 1 : 0; i < tile.ni; i++) row[i] = v[i * tile.nj + j];
    }
}

static void compute_strip(void *arg, size_t block)
{
    const matrix_work *w = arg;
    const cri_job     *job = w->job;
    cri_range          cols = cri_block_range(w->out.cols, CRI_TILE, block);
    size_t             root = job->k->n_nodes - 1;
    cri_workspace      workspace;
    if (!cri_workspace_new(job, w->param != SIZE_MAX, &workspace)) {
        atomic_store(job->no_memory, true);
        return;
    }
    for (size_t b = w->symmetric ? block : 0; b < cri_block_count(w->out.rows, CRI_TILE); b++) {
        cri_range rows = cri_block_range(w->out.rows, CRI_TILE, b);
        cri_tile  tile = { rows.begin, rows.end - rows.begin, cols.begin, cols.end - cols.begin,
                           false };
        if (cri_should_stop(job->cx)) break;
        cri_forward(job, tile, &workspace);
        if (w->param != SIZE_MAX) {
            cri_tangent(job, w->param, w->tangents, tile, &workspace);
            for (size_t e = 0; e < tile.ni * tile.nj; e++) workspace.adjoint[root][e] *= w->factor;
        }
        store(w, tile, w->param == SIZE_MAX ? workspace.value[root] : workspace.adjoint[root]);
    }
    cri_workspace_free(job, &workspace);
}

static cr_status run(cr_ctx *cx, matrix_work *w)
{
    cr_status st = CR_OK;
    cri_blas_enter();
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(w->out.cols, CRI_TILE), compute_strip, w));
    CR_TRY(cr_check_interrupt(cx));
    if (atomic_load(w->job->no_memory))
        CR_TRY(
            cri_fail_memory(cx, cri_workspace_size(w->job, w->param != SIZE_MAX) * sizeof(double)));
done:
    cri_blas_leave();
    return st;
}

static cr_status check_shape(cr_ctx *cx, cr_mat out, size_t rows, size_t cols)
{
    if (out.rows == rows && out.cols == cols && out.stride >= cols) return CR_OK;
    return cr_fail(cx, CR_EARG, "kernel: the result is %zu x %zu, but must be %zu x %zu", out.rows,
                   out.cols, rows, cols);
}

cr_status cr_kernel_gram(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                         cr_kernel_fill fill, cr_mat out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    CR_TRY(check_shape(cx, out, X->rows, X->rows));
    CR_TRY(cri_job_begin(&s, k, X, NULL, false, &job));
    CR_TRY(cri_job_join(&s, &job));
    CR_TRY(run(cx, &(matrix_work){ .job = &job,
                                   .out = out,
                                   .symmetric = true,
                                   .mirror = fill == CR_FILL_BOTH,
                                   .param = SIZE_MAX }));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_kernel_cross(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                          const cr_kernel_input *Z, cr_mat out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    CR_TRY(check_shape(cx, out, X->rows, Z->rows));
    CR_TRY(cri_job_begin(&s, k, X, Z, false, &job));
    CR_TRY(cri_job_join(&s, &job));
    CR_TRY(run(cx, &(matrix_work){ .job = &job, .out = out, .param = SIZE_MAX }));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_job_fill(cr_ctx *cx, const cri_job *job, cr_mat out)
{
    cr_status st = CR_OK;
    CR_TRY(check_shape(cx, out, job->a.in->rows, job->b.in->rows));
    CR_TRY(run(cx, &(matrix_work){ .job = job, .out = out, .param = SIZE_MAX }));
done:
    return st;
}

/* --- the diagonal ---------------------------------------------------------------------------- */

enum { DIAGONAL_BLOCK = 512 };

typedef struct diagonal_work {
    const cri_job *job;
    double        *out;
} diagonal_work;

static void compute_diagonal(void *arg, size_t block)
{
    const diagonal_work *w = arg;
    cri_range            rows = cri_block_range(w->job->a.in->rows, DIAGONAL_BLOCK, block);
    cri_tile             tile = { rows.begin, rows.end - rows.begin, rows.begin, 1, true };
    cri_workspace        workspace;
    if (!cri_workspace_new(w->job, false, &workspace)) {
        atomic_store(w->job->no_memory, true);
        return;
    }
    cri_forward(w->job, tile, &workspace);
    memcpy(w->out + rows.begin, workspace.value[w->job->k->n_nodes - 1], tile.ni * sizeof(double));
    cri_workspace_free(w->job, &workspace);
}

cr_status cr_kernel_diagonal(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                             bool with_white, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    CR_TRY(cri_job_begin(&s, k, X, NULL, false, &job));
    job.white = with_white;
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(X->rows, DIAGONAL_BLOCK), compute_diagonal,
                            &(diagonal_work){ &job, out }));
    if (atomic_load(job.no_memory))
        CR_TRY(cri_fail_memory(cx, cri_workspace_size(&job, false) * sizeof(double)));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- one derivative -------------------------------------------------------------------------- */

/* out [rows of the side] = d k(x, x) / dp of what stands below the node; the arrays of nodes below
 * it, of this side, are ready. */
static cr_status tangent_diagonal(const cri_job *job, const cri_side *side, size_t at, size_t param,
                                  double **ready, double *total, double *out)
{
    cri_job       own = *job;
    cr_kernel     below = cri_kernel_below(job->k, at);
    cri_tangents  tangents = { ready, ready, total };
    size_t        rows = side->in->rows;
    cri_workspace workspace;
    own.k = &below;
    own.a = own.b = *side;
    own.same = true;
    if (!cri_workspace_new(&own, true, &workspace))
        return cri_fail_memory(job->cx, cri_workspace_size(&own, true) * sizeof(double));
    for (size_t i0 = 0; i0 < rows; i0 += CRI_AREA) {
        cri_tile tile = { i0, rows - i0 < CRI_AREA ? rows - i0 : CRI_AREA, i0, 1, true };
        cri_forward(&own, tile, &workspace);
        cri_tangent(&own, param, &tangents, tile, &workspace);
        memcpy(out + i0, workspace.adjoint[below.n_nodes - 1], tile.ni * sizeof(double));
    }
    cri_workspace_free(&own, &workspace);
    return CR_OK;
}

cr_status cri_tangents_new(cr_scratch *s, const cri_job *job, size_t param, cri_tangents *out)
{
    cr_status        st = CR_OK;
    const cr_kernel *k = job->k;
    out->a = cr_scratch_bytes(s, k->n_nodes, sizeof *out->a);
    out->b = job->same ? out->a : cr_scratch_bytes(s, k->n_nodes, sizeof *out->b);
    out->total = cr_scratch_bytes(s, k->n_nodes, sizeof *out->total);
    CR_TRY(s->status);
    for (size_t i = k->begin; i < k->n_nodes; i++) {
        if (k->nodes[i].op != CRI_OVER || !cri_depends(k, k->nodes[i].first, param)) continue;
        out->a[i] = cr_scratch_f64(s, job->a.in->rows);
        if (!job->same) out->b[i] = cr_scratch_f64(s, job->b.in->rows);
        CR_TRY(s->status);
        if (cri_is_centre(&k->nodes[i])) {
            CR_TRY(cri_centre_mean_tangents(s, job, i, param, out));
            continue;
        }
        CR_TRY(tangent_diagonal(job, &job->a, i, param, out->a, out->total, out->a[i]));
        if (!job->same)
            CR_TRY(tangent_diagonal(job, &job->b, i, param, out->b, out->total, out->b[i]));
    }
done:
    return st;
}

/* The parameter at place j of theta; SIZE_MAX if there is none. */
static size_t theta_param(const cr_kernel *k, size_t j)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (!k->params[i].fixed && j-- == 0) return i;
    return SIZE_MAX;
}

cr_status cr_kernel_gram_derivative(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                    size_t j, cr_mat out)
{
    cr_status    st = CR_OK;
    cr_scratch   s = cr_scratch_begin(cx);
    cri_job      job;
    size_t       param = theta_param(k, j);
    cri_tangents tangents;
    if (param == SIZE_MAX)
        CR_TRY(cr_fail(cx, CR_EARG, "kernel: theta has %zu entries; there is no entry %zu",
                       cr_kernel_theta_size(k), j));
    CR_TRY(check_shape(cx, out, X->rows, X->rows));
    CR_TRY(cri_job_begin(&s, k, X, NULL, true, &job));
    CR_TRY(cri_job_join(&s, &job));
    CR_TRY(cri_tangents_new(&s, &job, param, &tangents));
    CR_TRY(run(cx, &(matrix_work){ .job = &job,
                                   .out = out,
                                   .symmetric = true,
                                   .mirror = true,
                                   .param = param,
                                   .tangents = &tangents,
                                   .factor = cri_chain(&k->params[param]) }));
done:
    cr_scratch_end(&s);
    return st;
}
