/* gradient.c -- contractions sum_ij W_ij dK_ij of Gram matrices, cross matrices and diagonals.
 * A task is a strip of columns; at most MOST_STRIPS of them, cut by the size alone.  Each has sums
 * of its own for the parameters, which are added in order; derivatives by the columns belong to one
 * task each.  What stands over a base owes to the diagonal of the base, or, of centre, to its
 * values between the rows and those of the means: contractions of their own, which follow. */
#include "kernel_internal.h"
#include "base/context_internal.h"
#include "math/dense/blas_internal.h"

#include <string.h>

enum { MOST_STRIPS = 64 };

typedef struct gradient_work {
    const cri_job *job;
    cr_cmat        W;
    const double  *u, *v;     /* instead of W: W_ij = u_i v_j                */
    bool           symmetric; /* W is, and its lower triangle alone is read */
    size_t         strip, strips;
    double        *natural;    /* [strips x n_params]; NULL: not wanted               */
    double       **features_b; /* [n_nodes]; NULL: not wanted                         */
    double       **diagonal_a; /* [n_nodes][strips x rows of a], of what is over a base */
    double       **diagonal_b; /* [n_nodes][rows of b]                                */
    cr_mat         more;       /* derivatives by the rows of b that came by way of means */
} gradient_work;

/* The weights of a tile; of a symmetric matrix those of its mirror image too. */
static void load_weights(const gradient_work *w, cri_tile tile, double *out)
{
    bool across = w->symmetric && tile.i0 == tile.j0;
    if (w->u) {
        for (size_t i = 0; i < tile.ni; i++)
            for (size_t j = 0; j < tile.nj; j++)
                out[i * tile.nj + j] = w->u[tile.i0 + i] * w->v[tile.j0 + j];
        return;
    }
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t row = tile.i0 + i, col = tile.j0 + j;
            bool   above = across && j > i;
            double x = w->W.a[above ? col * w->W.stride + row : row * w->W.stride + col];
            out[i * tile.nj + j] = w->symmetric && !across ? 2 * x : x;
        }
}

static void contract_strip(void *arg, size_t strip)
{
    const gradient_work *w = arg;
    const cri_job       *job = w->job;
    const cr_kernel     *k = job->k;
    cri_range            cols = cri_block_range(job->b.in->rows, w->strip, strip);
    size_t               rows = job->a.in->rows, root = k->n_nodes - 1;
    double              *diagonal_a[CRI_MOST_NODES];
    cri_workspace        workspace;
    for (size_t i = 0; w->diagonal_a && i < k->n_nodes; i++)
        diagonal_a[i] = w->diagonal_a[i] ? w->diagonal_a[i] + strip * rows : NULL;
    cri_gradient g = { w->natural ? w->natural + strip * k->n_params : NULL, w->features_b,
                       w->diagonal_a ? diagonal_a : NULL, w->diagonal_b };
    if (!cri_workspace_new(job, true, &workspace)) {
        atomic_store(job->no_memory, true);
        return;
    }
    for (size_t j0 = cols.begin; j0 < cols.end; j0 += CRI_TILE)
        for (size_t i0 = w->symmetric ? j0 : 0; i0 < rows && !cri_should_stop(job->cx);
             i0 += CRI_TILE) {
            cri_tile tile = { i0, rows - i0 < CRI_TILE ? rows - i0 : CRI_TILE, j0,
                              cols.end - j0 < CRI_TILE ? cols.end - j0 : CRI_TILE, false };
            cri_forward(job, tile, &workspace);
            load_weights(w, tile, workspace.adjoint[root]);
            cri_backward(job, root, tile, &workspace, &g);
        }
    cri_workspace_free(job, &workspace);
}

static double *zeros(cr_scratch *s, size_t rows, size_t cols)
{
    double *x = cr_scratch_matrix(s, rows, cols);
    if (x) memset(x, 0, rows * cols * sizeof *x);
    return x;
}

static cr_status contract_means(cr_ctx *cx, const cr_kernel *k, size_t at, const cr_kernel_input *X,
                                const double *D, double all, double *natural, cr_mat more);

/* What the centres on the diagonal owe to their means, D [n_nodes][rows]. */
static cr_status contract_centres(const cri_job *job, const cri_side *side, double *const *D,
                                  double *natural, cr_mat more)
{
    cr_status st = CR_OK;
    for (size_t i = job->k->begin; i < job->k->n_nodes; i++)
        if (D[i])
            CR_TRY(contract_means(job->cx, job->k, i, side->in, D[i],
                                  cri_sum(D[i], side->in->rows) / 2, natural, more));
done:
    return st;
}

/* Adds sum_i weight[i] d (value of `node` on the diagonal) of one side.  O(n), and n for each row
 * where there is a centre in it. */
static cr_status contract_diagonal(const cri_job *job, const cri_side *side, size_t node,
                                   const double *weight, bool white, double *natural,
                                   double **features, cr_mat more)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(job->cx);
    cri_job       own = *job;
    cri_workspace workspace;
    double      **D = cr_scratch_bytes(&s, job->k->n_nodes, sizeof *D);
    cri_gradient  g = { .natural = natural, .features_b = features, .diagonal_b = D };
    for (size_t i = cri_first_below(job->k, node); i <= node; i++)
        if (D && cri_is_centre(&job->k->nodes[i])) D[i] = zeros(&s, 1, side->in->rows);
    own.a = own.b = *side;
    own.same = true, own.white = white;
    CR_TRY(s.status);
    if (!cri_workspace_new(&own, true, &workspace))
        CR_TRY(cri_fail_memory(job->cx, cri_workspace_size(&own, true) * sizeof(double)));
    for (size_t i0 = 0; i0 < side->in->rows; i0 += CRI_AREA) {
        size_t   left = side->in->rows - i0, ni = left < CRI_AREA ? left : CRI_AREA;
        cri_tile tile = { i0, ni, i0, 1, true };
        cri_forward(&own, tile, &workspace);
        memcpy(workspace.adjoint[node], weight + i0, ni * sizeof *weight);
        cri_backward(&own, node, tile, &workspace, &g);
    }
    cri_workspace_free(&own, &workspace);
    CR_TRY(contract_centres(job, side, D, natural, more));
done:
    cr_scratch_end(&s);
    return st;
}

/* What a centre owes to its means of both sides, D_a and D_b. */
static cr_status contract_sides(gradient_work *w, size_t at, double *a, double *b, double *natural)
{
    cr_status      st = CR_OK;
    const cri_job *job = w->job;
    cr_ctx        *cx = job->cx;
    size_t         rows = job->a.in->rows;
    double         all = cri_sum(a, rows);
    cr_mat         none = { NULL, 0, 0, 0 };
    if (natural && job->same) { /* one set of rows */
        for (size_t r = 0; r < rows; r++) a[r] += b[r];
        return contract_means(cx, job->k, at, job->a.in, a, all, natural, none);
    }
    if (natural) CR_TRY(contract_means(cx, job->k, at, job->a.in, a, all, natural, none));
    CR_TRY(contract_means(cx, job->k, at, job->b.in, b, 0, natural, w->more));
done:
    return st;
}

/* What all that stands over a base owes to it. */
static cr_status contract_bases(gradient_work *w, double *natural)
{
    const cri_job *job = w->job;
    cr_mat         none = { NULL, 0, 0, 0 };
    cr_status      st = CR_OK;
    for (size_t i = job->k->begin; i < job->k->n_nodes; i++) {
        size_t base = job->k->nodes[i].first, rows = job->a.in->rows;
        if (job->k->nodes[i].op != CRI_OVER) continue;
        double *a = w->diagonal_a[i], *b = w->diagonal_b[i];
        for (size_t strip = 1; strip < w->strips; strip++)
            for (size_t r = 0; r < rows; r++) a[r] += a[strip * rows + r];
        if (cri_is_centre(&job->k->nodes[i])) {
            CR_TRY(contract_sides(w, i, a, b, natural));
            continue;
        }
        if (natural) CR_TRY(contract_diagonal(job, &job->a, base, a, true, natural, NULL, none));
        CR_TRY(contract_diagonal(job, &job->b, base, b, true, natural, w->features_b, w->more));
    }
done:
    return st;
}

/* Rows of derivatives by features for all leaves that can be differentiated by the row. */
static double **feature_rows(cr_scratch *s, const cri_job *job)
{
    double **out = cr_scratch_bytes(s, job->k->n_nodes, sizeof *out);
    for (size_t i = job->k->begin; out && i < job->k->n_nodes; i++)
        if (job->k->nodes[i].op == CRI_LEAF && job->k->nodes[i].class && job->b.node[i].F)
            out[i] = zeros(s, job->b.in->rows, job->b.node[i].width);
    return out;
}

static cr_status begin_work(cr_scratch *s, gradient_work *w, bool parameters, bool inputs)
{
    const cri_job *job = w->job;
    size_t         n = job->k->n_nodes, cols = job->b.in->rows;
    size_t         tiles = cri_block_count(cols, CRI_TILE);
    w->strip = (cri_block_count(tiles, MOST_STRIPS) + (tiles == 0)) * CRI_TILE;
    w->strips = cri_block_count(cols, w->strip);
    if (parameters) w->natural = zeros(s, w->strips, job->k->n_params);
    if (inputs) w->features_b = feature_rows(s, job);
    if (inputs)
        w->more = cr_mat_of(zeros(s, cols, job->b.in->numbers.cols), cols, job->b.in->numbers.cols);
    w->diagonal_a = cr_scratch_bytes(s, n, sizeof *w->diagonal_a);
    w->diagonal_b = cr_scratch_bytes(s, n, sizeof *w->diagonal_b);
    for (size_t i = job->k->begin; s->status == CR_OK && i < n; i++)
        if (job->k->nodes[i].op == CRI_OVER) {
            w->diagonal_a[i] = zeros(s, w->strips ? w->strips : 1, job->a.in->rows);
            w->diagonal_b[i] = zeros(s, 1, cols);
        }
    return s->status;
}

/* natural [n_params] = the sums of all strips and of the bases. */
static cr_status run(cr_ctx *cx, gradient_work *w, double *natural)
{
    cr_status st = CR_OK;
    size_t    n = w->job->k->n_params;
    cri_blas_enter();
    CR_TRY(cri_blas_reserve(cx));
    CR_TRY(cri_parallel_for(cx, NULL, w->strips, contract_strip, w));
    CR_TRY(cr_check_interrupt(cx));
    if (atomic_load(w->job->no_memory))
        CR_TRY(cri_fail_memory(cx, cri_workspace_size(w->job, true) * sizeof(double)));
    if (natural) memset(natural, 0, n * sizeof *natural);
    for (size_t s = 0; natural && s < w->strips; s++)
        for (size_t i = 0; i < n; i++) natural[i] += w->natural[s * n + i];
    CR_TRY(contract_bases(w, natural));
done:
    cri_blas_leave();
    return st;
}

static void to_theta(const cr_kernel *k, const double *natural, double *out)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (!k->params[i].fixed) *out++ = natural[i] * cri_chain(&k->params[i]);
}

/* out [rows x d] = factor times the derivatives by the rows: those by features, and more. */
static cr_status to_rows(cr_scratch *s, const cri_job *job, double **features, cr_mat more,
                         double factor, cr_mat out)
{
    const cr_kernel *k = job->k;
    size_t           width = 0, d = job->b.in->numbers.cols;
    for (size_t i = k->begin; i < k->n_nodes; i++)
        if (job->b.node[i].width > width) width = job->b.node[i].width;
    double *workspace = cr_scratch_f64(s, cri_pull_back_workspace_size(d, width));
    if (s->status != CR_OK) return s->status;
    for (size_t r = 0; r < out.rows; r++) {
        double *dx = out.a + r * out.stride;
        if (d > 0) memcpy(dx, more.a + r * more.stride, d * sizeof *dx);
        for (size_t i = k->begin; i < k->n_nodes; i++)
            if (features[i])
                cri_pull_back(k, &k->nodes[i], job->b.in, r, job->b.node[i].width,
                              features[i] + r * job->b.node[i].width, workspace, dx);
        for (size_t c = 0; c < d; c++) dx[c] *= factor;
    }
    return CR_OK;
}

/* Adds sum_ij u_i v_j dk(x_i, z_j) to natural (NULL: not wanted) and, by the rows of Z, to more. */
static cr_status contract_pairs(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                const cr_kernel_input *Z, const double *u, const double *v,
                                double *natural, cr_mat more)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cri_job       job;
    gradient_work w = { .job = &job, .u = u, .v = v };
    double       *sums = cr_scratch_f64(&s, k->n_params), *dZ = NULL;
    CR_TRY(s.status);
    CR_TRY(cri_job_begin(&s, k, X, Z, true, &job));
    CR_TRY(cri_job_join(&s, &job));
    CR_TRY(begin_work(&s, &w, natural != NULL, more.a != NULL));
    CR_TRY(run(cx, &w, natural ? sums : NULL));
    for (size_t i = 0; natural && i < k->n_params; i++) natural[i] += sums[i];
    if (!more.a) goto done;
    dZ = cr_scratch_matrix(&s, more.rows, more.cols);
    CR_TRY(s.status);
    CR_TRY(to_rows(&s, &job, w.features_b, w.more, 1, cr_mat_of(dZ, more.rows, more.cols)));
    for (size_t i = 0; i < more.rows * more.cols; i++) more.a[i] += dZ[i];
done:
    cr_scratch_end(&s);
    return st;
}

/* Adds all dM - sum_i D_i dm(x_i) of the centre at `at`: by the parameters, and by the rows X to
 * more. */
static cr_status contract_means(cr_ctx *cx, const cr_kernel *k, size_t at, const cr_kernel_input *X,
                                const double *D, double all, double *natural, cr_mat more)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_reference *r = k->reference;
    cr_kernel            below = cri_kernel_below(k, at);
    size_t               n = r->in.rows, rows = X->rows;
    bool                 same = !more.a && rows == n && cri_reference_find(r, X) == 0;
    double              *u = cr_scratch_f64(&s, n > rows ? n : rows);
    cr_mat               none = { NULL, 0, 0, 0 };
    CR_TRY(s.status);
    if (more.a) { /* the rows to differentiate by are the columns */
        for (size_t i = 0; i < n; i++) u[i] = -r->p[i];
        CR_TRY(contract_pairs(cx, &below, &r->in, X, u, D, natural, more));
    } else if (natural) {
        for (size_t i = 0; i < rows; i++) u[i] = (same ? all * r->p[i] : 0) - D[i];
        CR_TRY(contract_pairs(cx, &below, X, &r->in, u, r->p, natural, none));
    }
    if (!natural || same || all == 0) goto done;
    for (size_t i = 0; r->slope && i < k->n_params; i++) natural[i] += all * r->slope[at][i];
    if (r->slope) goto done;
    for (size_t i = 0; i < n; i++) u[i] = all * r->p[i];
    CR_TRY(contract_pairs(cx, &below, &r->in, &r->in, u, r->p, natural, none));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_centre_slopes(cr_ctx *cx, const cr_kernel *k, size_t at, double *natural)
{
    const cri_reference *r = k->reference;
    cr_kernel            below = cri_kernel_below(k, at);
    return contract_pairs(cx, &below, &r->in, &r->in, r->p, r->p, natural,
                          (cr_mat){ NULL, 0, 0, 0 });
}

static cr_status check_weights(cr_ctx *cx, cr_cmat W, size_t rows, size_t cols)
{
    if (W.rows == rows && W.cols == cols && W.stride >= cols) return CR_OK;
    return cr_fail(cx, CR_EARG, "kernel: the weights are %zu x %zu, but must be %zu x %zu", W.rows,
                   W.cols, rows, cols);
}

static cr_status check_rows(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *in, cr_mat out)
{
    for (size_t i = 0; i < k->n_nodes; i++)
        if (k->nodes[i].op == CRI_LEAF && !k->nodes[i].class)
            return cr_fail(cx, CR_EUNSUPPORTED, "kernel: %s has no derivatives by the rows",
                           k->hooks[k->nodes[i].hook].name);
    if (out.rows == in->rows && out.cols == in->numbers.cols && out.stride >= out.cols)
        return CR_OK;
    return cr_fail(cx, CR_EARG,
                   "kernel: derivatives by the rows are %zu x %zu, but must be %zu x %zu", out.rows,
                   out.cols, in->rows, in->numbers.cols);
}

cr_status cr_kernel_gram_gradient(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                  cr_cmat W, double *out_gradient)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    double    *natural = cr_scratch_f64(&s, k->n_params);
    CR_TRY(s.status);
    CR_TRY(check_weights(cx, W, X->rows, X->rows));
    CR_TRY(cri_job_begin(&s, k, X, NULL, true, &job));
    CR_TRY(cri_job_join(&s, &job));
    gradient_work w = { .job = &job, .W = W, .symmetric = true };
    CR_TRY(begin_work(&s, &w, true, false));
    CR_TRY(run(cx, &w, natural));
    to_theta(k, natural, out_gradient);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_kernel_cross_gradient(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                   const cr_kernel_input *Z, cr_cmat W, double *opt_gradient,
                                   cr_mat opt_dZ)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    double    *natural = opt_gradient ? cr_scratch_f64(&s, k->n_params) : NULL;
    CR_TRY(s.status);
    CR_TRY(check_weights(cx, W, X->rows, Z->rows));
    if (opt_dZ.a) CR_TRY(check_rows(cx, k, Z, opt_dZ));
    CR_TRY(cri_job_begin(&s, k, X, Z, true, &job));
    CR_TRY(cri_job_join(&s, &job));
    gradient_work w = { .job = &job, .W = W };
    CR_TRY(begin_work(&s, &w, natural != NULL, opt_dZ.a != NULL));
    CR_TRY(run(cx, &w, natural));
    if (opt_dZ.a) CR_TRY(to_rows(&s, &job, w.features_b, w.more, 1, opt_dZ));
    if (opt_gradient) to_theta(k, natural, opt_gradient);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_kernel_gram_input_gradient(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                        cr_cmat W, cr_mat out_dX)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    CR_TRY(check_weights(cx, W, X->rows, X->rows));
    CR_TRY(check_rows(cx, k, X, out_dX));
    CR_TRY(cri_job_begin(&s, k, X, NULL, true, &job));
    CR_TRY(cri_job_join(&s, &job));
    gradient_work w = { .job = &job, .W = W }; /* by the second row of each pair, all pairs */
    CR_TRY(begin_work(&s, &w, false, true));
    CR_TRY(run(cx, &w, NULL));
    CR_TRY(to_rows(&s, &job, w.features_b, w.more, 2, out_dX));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_kernel_diagonal_gradient(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *X,
                                      const double *w, bool with_white, double *opt_gradient,
                                      cr_mat opt_dX)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    size_t     d = X->numbers.cols;
    double    *natural = opt_gradient ? zeros(&s, 1, k->n_params) : NULL, **features = NULL;
    cr_mat     more =
        opt_dX.a ? cr_mat_of(zeros(&s, X->rows, d), X->rows, d) : (cr_mat){ NULL, 0, 0, 0 };
    CR_TRY(s.status);
    if (opt_dX.a) CR_TRY(check_rows(cx, k, X, opt_dX));
    CR_TRY(cri_job_begin(&s, k, X, NULL, true, &job));
    if (opt_dX.a) features = feature_rows(&s, &job);
    CR_TRY(s.status);
    CR_TRY(contract_diagonal(&job, &job.a, k->n_nodes - 1, w, with_white, natural, features, more));
    if (opt_dX.a) CR_TRY(to_rows(&s, &job, features, more, 1, opt_dX));
    if (opt_gradient) to_theta(k, natural, opt_gradient);
done:
    cr_scratch_end(&s);
    return st;
}
