/* features.c -- from rows to features: columns, warpings, maps, length-scales. */
#include "kernel_internal.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

enum { NARROW = 16 }; /* features up to which distances are summed directly: exact, and as quick */

cri_family cri_family_of(const cr_kernel *k, const cri_node *node)
{
    if (node->class) return node->class->family;
    return k->hooks[node->hook].width > 0 ? CRI_DOT : CRI_PAIRS;
}

size_t cri_active(const cri_node *node, const cr_kernel_input *in)
{
    if (node->n_columns) return node->n_columns;
    if (!node->class || node->class->kind == CRI_NONE) return 0;
    if (node->class->one_column) return 1;
    return node->class->kind == CR_KERNEL_NUMBER ? in->numbers.cols : in->categories;
}

bool cri_reads_codes(const cr_kernel *k, const cr_kernel_input *in)
{
    return k->names.text || in->names.text;
}

const char *cri_text_of(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in,
                        size_t i)
{
    size_t          column = cri_column_at(k, node, 0);
    cr_kernel_names names = in->names.text ? in->names : k->names;
    if (!names.text) return in->texts[i * in->text_columns + column];
    return names.text(names.user, column, in->codes[i * in->categories + column]);
}

/* --- warping --------------------------------------------------------------------------------- */

typedef struct kumaraswamy {
    double a, b;
} kumaraswamy;

static kumaraswamy shape_of(const cr_kernel *k, const cri_node *node)
{
    size_t s = cri_spec_of_role(node->class, CRI_WARP);
    return (kumaraswamy){ cri_value(k, node, s, 0), cri_value(k, node, s + 1, 0) };
}

static double warp(const cr_kernel *k, const cri_node *node, double x)
{
    if (node->warp == CRI_PLAIN) return x;
    if (node->warp == CRI_WARP_LOG) return log(x);
    kumaraswamy w = shape_of(k, node);
    return -expm1(w.b * log1p(-pow(x, w.a)));
}

/* Inside (0, 1), so that the derivatives at the ends stay finite. */
static double inside(double x) { return x < 1e-12 ? 1e-12 : x > 1 - 1e-12 ? 1 - 1e-12 : x; }

static double warp_slope(const cr_kernel *k, const cri_node *node, double x)
{
    if (node->warp == CRI_PLAIN) return 1;
    if (node->warp == CRI_WARP_LOG) return 1 / x;
    kumaraswamy w = shape_of(k, node);
    x = inside(x);
    return w.a * w.b * pow(x, w.a - 1) * pow(1 - pow(x, w.a), w.b - 1);
}

/* d warp / da, or / db when second. */
static double warp_partial(const cr_kernel *k, const cri_node *node, bool second, double x)
{
    kumaraswamy w = shape_of(k, node);
    x = inside(x);
    double u = pow(x, w.a), rest = 1 - u;
    return second ? -pow(rest, w.b) * log(rest) : w.b * pow(rest, w.b - 1) * u * log(x);
}

static double raw(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in, size_t i,
                  size_t c)
{
    return in->numbers.a[i * in->numbers.stride + cri_column_at(k, node, c)];
}

size_t cri_gather(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in, size_t i,
                  double *x)
{
    size_t n = cri_active(node, in);
    for (size_t c = 0; c < n; c++) x[c] = warp(k, node, raw(k, node, in, i, c));
    return n;
}

size_t cri_pull_back_workspace_size(size_t columns, size_t width) { return 2 * columns + width; }

/* The length-scale of feature f of `width` from n columns. */
static double length_of(const cr_kernel *k, const cri_node *node, size_t f, size_t width, size_t n)
{
    size_t s = node->class ? cri_spec_of_role(node->class, CRI_LENGTH) : SIZE_MAX;
    return s == SIZE_MAX ? 1 : cri_value(k, node, s, f / (width / n));
}

void cri_pull_back(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in, size_t i,
                   size_t width, const double *FA, double *workspace, double *dx)
{
    size_t  n = cri_active(node, in);
    double *x = workspace, *unit = workspace + n, *T = unit + n;
    cri_gather(k, node, in, i, x);
    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        if (!node->class->push) {
            sum = FA[c] / length_of(k, node, c, width, n);
        } else {
            memset(unit, 0, n * sizeof *unit);
            unit[c] = 1;
            node->class->push(k, node, x, unit, n, T);
            for (size_t f = 0; f < width; f++)
                sum += FA[f] * T[f] / length_of(k, node, f, width, n);
        }
        dx[cri_column_at(k, node, c)] += sum * warp_slope(k, node, raw(k, node, in, i, c));
    }
}

/* --- features of one set --------------------------------------------------------------------- */

static void map_row(const cri_job *job, size_t at, const cr_kernel_input *in, size_t i, double *x,
                    double *F)
{
    const cri_node *node = &job->k->nodes[at];
    if (!node->class) {
        const cr_kernel_hook *hook = &job->k->hooks[node->hook];
        hook->features(hook->user, in, i, F);
    } else if (node->class->map) {
        size_t n = cri_gather(job->k, node, in, i, x);
        node->class->map(job->k, node, x, n, F);
    } else {
        cri_gather(job->k, node, in, i, F);
    }
}

/* dF / dp of a parameter of the map or of the warping, for one row. */
static void tangent_row(const cri_job *job, size_t at, const cr_kernel_input *in, size_t s,
                        size_t e, size_t i, double *x, double *dx, double *T)
{
    const cr_kernel *k = job->k;
    const cri_node  *node = &k->nodes[at];
    size_t           n = cri_gather(k, node, in, i, x);
    if (node->class->specs[s].role == CRI_MAP) {
        node->class->tangent(k, node, s, e, x, n, T);
        return;
    }
    bool second = node->class->specs[s].shown.name[0] == 'b';
    for (size_t c = 0; c < n; c++) dx[c] = warp_partial(k, node, second, raw(k, node, in, i, c));
    if (node->class->push)
        node->class->push(k, node, x, dx, n, T);
    else
        memcpy(T, dx, n * sizeof *T);
}

static size_t width_of(const cr_kernel *k, const cri_node *node, size_t n)
{
    if (!node->class) return k->hooks[node->hook].width;
    return node->class->width ? node->class->width(node, n) : n;
}

static cr_status make_tangents(cr_scratch *s, const cri_job *job, size_t at, cri_side *side,
                               double *x, double *dx)
{
    const cri_node *node = &job->k->nodes[at];
    cri_prepared   *r = &side->node[at];
    size_t          n = cri_active(node, side->in);
    r->tangent = cr_scratch_bytes(s, job->k->n_params, sizeof *r->tangent);
    for (size_t p = 0; r->tangent && p < job->k->n_params; p++) {
        const cri_param *param = &job->k->params[p];
        if (param->node != at || (param->spec->role != CRI_MAP && param->spec->role != CRI_WARP))
            continue;
        double *T = r->tangent[p] = cr_scratch_matrix(s, side->in->rows, r->width);
        for (size_t i = 0; T && i < side->in->rows; i++, T += r->width) {
            tangent_row(job, at, side->in, (size_t)(param->spec - node->class->specs),
                        param->element, i, x, dx, T);
            for (size_t f = 0; f < r->width; f++) T[f] /= length_of(job->k, node, f, r->width, n);
        }
    }
    return s->status;
}

/* Features of distances lose the mean of side a: products of large numbers would cancel. */
static void centre(cri_job *job, size_t at, cri_side *side)
{
    cri_prepared *r = &side->node[at];
    size_t        rows = side->in->rows;
    double       *shift = job->shift[at];
    if (side == &job->a && !job->held) {
        for (size_t f = 0; f < r->width; f++) shift[f] = 0;
        for (size_t i = 0; i < rows; i++)
            for (size_t f = 0; f < r->width; f++) shift[f] += r->F[i * r->width + f] / (double)rows;
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t f = 0; f < r->width; f++) r->F[i * r->width + f] -= shift[f];
}

static void scale(const cri_job *job, size_t at, cri_side *side)
{
    const cri_node *node = &job->k->nodes[at];
    cri_prepared   *r = &side->node[at];
    size_t          n = cri_active(node, side->in);
    for (size_t f = 0; f < r->width; f++) {
        double l = length_of(job->k, node, f, r->width, n);
        for (size_t i = 0; i < side->in->rows; i++) r->F[i * r->width + f] /= l;
    }
}

static void turn_over(cri_prepared *r, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t f = 0; r->columns && f < r->width; f++)
            r->columns[f * rows + i] = r->F[i * r->width + f];
        if (r->norm) r->norm[i] = cri_dot_array(r->F + i * r->width, r->F + i * r->width, r->width);
    }
}

static cr_status make_features(cr_scratch *s, cri_job *job, size_t at, cri_side *side)
{
    const cri_node *node = &job->k->nodes[at];
    cri_prepared   *r = &side->node[at];
    cri_family      family = cri_family_of(job->k, node);
    size_t          rows = side->in->rows, n = cri_active(node, side->in);
    r->width = width_of(job->k, node, n);
    r->F = cr_scratch_matrix(s, rows, r->width);
    double *x = cr_scratch_f64(s, n), *dx = cr_scratch_f64(s, n);
    if (family == CRI_DISTANCE && side == &job->a && !job->held)
        job->shift[at] = cr_scratch_f64(s, r->width);
    if (family == CRI_DISTANCE && r->width <= NARROW)
        r->columns = cr_scratch_matrix(s, r->width, rows);
    if (family == CRI_DISTANCE && r->width > NARROW) r->norm = cr_scratch_f64(s, rows);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows; i++) map_row(job, at, side->in, i, x, r->F + i * r->width);
    if (family == CRI_DISTANCE) {
        centre(job, at, side);
        scale(job, at, side);
        turn_over(r, rows);
    }
    return job->gradients && node->class ? make_tangents(s, job, at, side, x, dx) : CR_OK;
}

static cr_status prepare_side(cr_scratch *s, cri_job *job, cri_side *side)
{
    const cr_kernel *k = job->k;
    cr_status        st = CR_OK;
    side->node = cr_scratch_bytes(s, k->n_nodes, sizeof *side->node);
    CR_TRY(s->status);
    for (size_t i = k->begin; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        cri_family      family = node->op == CRI_LEAF ? cri_family_of(k, node) : CRI_CONSTANT;
        if (node->op == CRI_OVER) side->node[i].diagonal = cr_scratch_f64(s, side->in->rows);
        CR_TRY(s->status);
        CR_TRY(cr_check_interrupt(s->cx));
        if (node->class && node->class->prepare && node->op == CRI_LEAF)
            CR_TRY(node->class->prepare(s, job, i, side));
        else if (family == CRI_DISTANCE || family == CRI_DOT ||
                 (family == CRI_PAIRS && node->class && node->class->kind == CR_KERNEL_NUMBER))
            CR_TRY(make_features(s, job, i, side));
    }
done:
    return st;
}

/* k(x, x) of what stands below the node, of one side, with white noise on it. */
static cr_status base_diagonal(const cri_job *job, const cri_side *side, size_t at)
{
    cri_job       own = *job;
    cr_kernel     below = cri_kernel_below(job->k, at);
    cri_workspace workspace;
    own.k = &below;
    own.a = own.b = *side;
    own.same = own.white = true;
    if (!cri_workspace_new(&own, false, &workspace))
        return cri_fail_memory(job->cx, cri_workspace_size(&own, false) * sizeof(double));
    for (size_t i0 = 0; i0 < side->in->rows; i0 += CRI_AREA) {
        size_t   left = side->in->rows - i0, ni = left < CRI_AREA ? left : CRI_AREA;
        cri_tile tile = { i0, ni, i0, 1, true };
        cri_forward(&own, tile, &workspace);
        memcpy(side->node[at].diagonal + i0, workspace.value[below.n_nodes - 1],
               ni * sizeof(double));
    }
    cri_workspace_free(&own, &workspace);
    return CR_OK;
}

/* Diagonals and means of what stands over a base: each of what stands below it is ready by then. */
static cr_status prepare_bases(cr_scratch *s, cri_job *job)
{
    cr_status st = CR_OK;
    for (size_t i = job->k->begin; i < job->k->n_nodes; i++) {
        if (job->k->nodes[i].op != CRI_OVER) continue;
        if (cri_is_centre(&job->k->nodes[i])) {
            CR_TRY(cri_centre_means(s, job, i));
            continue;
        }
        CR_TRY(base_diagonal(job, &job->a, i));
        if (!job->same) CR_TRY(base_diagonal(job, &job->b, i));
    }
done:
    return st;
}

cr_status cri_job_begin(cr_scratch *s, const cr_kernel *k, const cr_kernel_input *X,
                        const cr_kernel_input *opt_Z, bool gradients, cri_job *out_job)
{
    cr_status st = CR_OK;
    cri_job  *job = out_job;
    *job = (cri_job){ .cx = s->cx, .k = k, .same = !opt_Z, .white = true, .gradients = gradients };
    job->a.in = X;
    job->b.in = opt_Z ? opt_Z : X;
    CR_TRY(cr_kernel_check(s->cx, k, X));
    if (opt_Z) CR_TRY(cr_kernel_check(s->cx, k, opt_Z));
    if (opt_Z && cr_kernel_reads(k, CR_KERNEL_NUMBER) && X->numbers.cols != opt_Z->numbers.cols)
        CR_TRY(cr_fail(s->cx, CR_EARG, "kernel: one set has %zu columns of numbers, the other %zu",
                       X->numbers.cols, opt_Z->numbers.cols));
    job->shift = cr_scratch_bytes(s, k->n_nodes, sizeof *job->shift);
    job->total = cr_scratch_bytes(s, k->n_nodes, sizeof *job->total);
    job->no_memory = cr_scratch_bytes(s, 1, sizeof *job->no_memory);
    CR_TRY(s->status);
    atomic_init(job->no_memory, false);
    CR_TRY(prepare_side(s, job, &job->a));
    if (opt_Z)
        CR_TRY(prepare_side(s, job, &job->b));
    else
        job->b = job->a;
    CR_TRY(prepare_bases(s, job));
done:
    return st;
}

cr_status cri_job_begin_held(cr_scratch *s, const cri_job *held, const cr_kernel_input *X,
                             cri_job *job)
{
    cr_status        st = CR_OK;
    const cr_kernel *k = held->k;
    *job = *held;
    job->cx = s->cx;
    job->same = false;
    job->held = true;
    job->b = held->a;
    job->a = (cri_side){ .in = X };
    CR_TRY(cr_kernel_check(s->cx, k, X));
    if (cr_kernel_reads(k, CR_KERNEL_NUMBER) && X->numbers.cols != job->b.in->numbers.cols)
        CR_TRY(cr_fail(s->cx, CR_EARG, "kernel: one set has %zu columns of numbers, the other %zu",
                       X->numbers.cols, job->b.in->numbers.cols));
    job->no_memory = cr_scratch_bytes(s, 1, sizeof *job->no_memory);
    CR_TRY(s->status);
    atomic_init(job->no_memory, false);
    CR_TRY(prepare_side(s, job, &job->a));
    for (size_t i = k->begin; i < k->n_nodes; i++)
        if (k->nodes[i].op == CRI_OVER) CR_TRY(base_diagonal(job, &job->a, i));
done:
    return st;
}

cr_status cri_job_join(cr_scratch *s, const cri_job *job)
{
    cr_status st = CR_OK;
    for (size_t i = job->k->begin; i < job->k->n_nodes && st == CR_OK; i++) {
        const cri_node *node = &job->k->nodes[i];
        if (node->op == CRI_LEAF && node->class && node->class->join)
            st = node->class->join(s, job, i);
    }
    return st;
}
