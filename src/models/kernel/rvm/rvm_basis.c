/* rvm_basis.c -- columns of kernels and designs, and products with them. */
#include "rvm_basis.h"
#include "base/parallel.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 }; /* rows of kernel columns that are not kept */

/* --- the order of the inputs ----------------------------------------------------------------- */

typedef struct place {
    const cri_gp_data *data;
    size_t             at;
} place;

static int compare_places(const void *a, const void *b)
{
    const place       *p = a, *q = b;
    const cri_gp_data *x = p->data;
    for (size_t j = 0; j < x->d; j++) {
        double u = x->X[p->at * x->d + j], v = x->X[q->at * x->d + j];
        if (u != v) return u < v ? -1 : 1;
    }
    for (size_t j = 0; j < x->c; j++) {
        uint32_t u = x->codes[p->at * x->c + j], v = x->codes[q->at * x->c + j];
        if (u != v) return u < v ? -1 : 1;
    }
    return 0;
}

cr_status cri_rvm_sort(cr_ctx *cx, cri_gp_data *data, size_t *position)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = data->n, d = data->d, c = data->c;
    place      *order = cr_scratch_bytes(&s, n, sizeof *order);
    cri_gp_data sorted = { 0 };

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) order[i] = (place){ data, i };
    qsort(order, n, sizeof *order, compare_places);
    CR_TRY(cri_gp_data_new(cx, n, d, c, &sorted));
    for (size_t i = 0; i < n; i++) {
        size_t from = order[i].at;
        position[from] = i;
        memcpy(sorted.X + i * d, data->X + from * d, d * sizeof *sorted.X);
        memcpy(sorted.codes + i * c, data->codes + from * c, c * sizeof *sorted.codes);
        sorted.y[i] = data->y[from];
        sorted.r[i] = data->r[from];
        sorted.first[i] = data->first[from];
    }
    sorted.count = data->count, sorted.spread = data->spread;
    sorted.log_shares = data->log_shares;
    cri_gp_data_free(cx, data);
    *data = sorted;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- terms ----------------------------------------------------------------------------------- */

size_t cri_rvm_terms(const cr_design *design)
{
    size_t d, c, terms;
    cri_gp_shape(design, &d, &c);
    terms = d;
    for (size_t k = 0; k < c; k++) terms += cri_gp_codes(design, k);
    return terms;
}

void cri_rvm_fill_terms(const cr_design *design, const cr_kernel_input *in, double *out,
                        size_t stride)
{
    size_t d = in->numbers.cols, at = d;
    for (size_t i = 0; i < in->rows; i++)
        if (d) memcpy(out + i * stride, in->numbers.a + i * in->numbers.stride, d * sizeof *out);
    for (size_t k = 0; k < in->categories; k++) {
        size_t levels = cri_gp_codes(design, k);
        for (size_t i = 0; i < in->rows; i++)
            for (size_t l = 0; l < levels; l++)
                out[i * stride + at + l] = in->codes[i * in->categories + k] == l;
        at += levels;
    }
}

/* --- functions ------------------------------------------------------------------------------- */

/* Phi of the inputs [begin, end): out [end - begin x C]. */
static cr_status fill_rows(cr_ctx *cx, const cri_rvm_basis *b, const cr_design *opt_design,
                           cri_range rows, double *out)
{
    size_t          skip = b->constant, count = rows.end - rows.begin;
    cri_gp_data     view = cri_gp_data_view(b->at, rows.begin, rows.end);
    cr_kernel_input some = cri_gp_inputs(&view), all = cri_gp_inputs(b->at);
    for (size_t i = 0; skip && i < count; i++) out[i * b->C] = 1;
    if (!b->kernel) {
        cri_rvm_fill_terms(opt_design, &some, out + skip, b->C);
        return CR_OK;
    }
    cr_mat to = { out + skip, count, b->C - skip, b->C };
    return cr_kernel_cross(cx, b->kernel, &some, &all, to);
}

cr_status cri_rvm_basis_new(cr_scratch *s, const cri_gp_data *at, const cr_kernel *opt_kernel,
                            const cr_design *design, bool constant, cri_rvm_basis *out)
{
    size_t terms = opt_kernel ? at->n : cri_rvm_terms(design);
    *out = (cri_rvm_basis){
        .n = at->n, .C = terms + constant, .constant = constant, .at = at, .kernel = opt_kernel
    };
    if (opt_kernel && at->n > CRI_RVM_KEPT) return s->status;
    out->Phi = cr_scratch_matrix(s, out->n, out->C);
    if (s->status != CR_OK) return s->status;
    return fill_rows(s->cx, out, design, (cri_range){ 0, at->n }, out->Phi);
}

cr_status cri_rvm_basis_gram(cr_scratch *arena, cri_rvm_basis *b)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(arena->cx);
    size_t     n = b->n, C = b->C;
    double    *U = cr_scratch_matrix(&s, n, C);
    if (b->gram) goto done;
    CR_TRY(s.status);
    b->gram = cr_scratch_matrix(arena, C, C);
    CR_TRY(arena->status);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < C; c++) U[i * C + c] = b->Phi[i * C + c] / sqrt(b->at->r[i]);
    CR_TRY(cr_syrk(arena->cx, 1, cr_cmat_of(U, n, C), CR_TRANSPOSED, 0, cr_mat_of(b->gram, C, C)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_rvm_columns(cr_ctx *cx, const cri_rvm_basis *b, const size_t *which, size_t m,
                          double *out)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    cr_kernel_input all = cri_gp_inputs(b->at), in;
    cri_gp_data     some;
    size_t         *index = cr_scratch_index(&s, m), kernels = 0;
    double         *K;

    CR_TRY(s.status);
    for (size_t i = 0; b->Phi && i < b->n; i++)
        for (size_t j = 0; j < m; j++) out[i * m + j] = b->Phi[i * b->C + which[j]];
    if (b->Phi || m == 0) goto done;
    for (size_t j = 0; j < m; j++)
        if (which[j] >= b->constant) index[kernels++] = which[j] - b->constant;
    CR_TRY(cri_gp_data_pick(&s, b->at, index, kernels, &some));
    K = cr_scratch_matrix(&s, b->n, kernels);
    CR_TRY(s.status);
    in = cri_gp_inputs(&some);
    if (kernels) CR_TRY(cr_kernel_cross(cx, b->kernel, &all, &in, cr_mat_of(K, b->n, kernels)));
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0, k = 0; j < m; j++)
            out[i * m + j] = which[j] >= b->constant ? K[i * kernels + k++] : 1;
done:
    cr_scratch_end(&s);
    return st;
}

/* Calls add(out, Phi, rows, C, U, u) for every block of rows, in order. */
typedef cr_status add_block(cr_ctx *cx, const cri_rvm_basis *b, const double *Phi, cri_range rows,
                            const double *U, size_t u, double *out);

static cr_status over_blocks(cr_ctx *cx, const cri_rvm_basis *b, const double *U, size_t u,
                             add_block *add, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *Phi = b->Phi ? NULL : cr_scratch_matrix(&s, BLOCK, b->C);

    CR_TRY(s.status);
    memset(out, 0, b->C * u * sizeof *out);
    if (b->Phi) {
        CR_TRY(add(cx, b, b->Phi, (cri_range){ 0, b->n }, U, u, out));
        goto done;
    }
    for (size_t k = 0; k < cri_block_count(b->n, BLOCK); k++) {
        cri_range rows = cri_block_range(b->n, BLOCK, k);
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(fill_rows(cx, b, NULL, rows, Phi));
        CR_TRY(add(cx, b, Phi, rows, U, u, out));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status add_products(cr_ctx *cx, const cri_rvm_basis *b, const double *Phi, cri_range rows,
                              const double *U, size_t u, double *out)
{
    size_t count = rows.end - rows.begin;
    return cr_gemm(cx, 1, cr_cmat_of(Phi, count, b->C), CR_TRANSPOSED,
                   cr_cmat_of(U + rows.begin * u, count, u), CR_PLAIN, 1, cr_mat_of(out, b->C, u));
}

cr_status cri_rvm_products(cr_ctx *cx, const cri_rvm_basis *b, const double *U, size_t u,
                           double *out)
{
    return over_blocks(cx, b, U, u, add_products, out);
}

static cr_status add_squares(cr_ctx *cx, const cri_rvm_basis *b, const double *Phi, cri_range rows,
                             const double *U, size_t u, double *out)
{
    (void)cx;
    for (size_t i = rows.begin; i < rows.end; i++) {
        const double *phi = Phi + (i - rows.begin) * b->C;
        for (size_t c = 0; c < b->C; c++)
            for (size_t k = 0; k < u; k++) out[c * u + k] += U[i * u + k] * phi[c] * phi[c];
    }
    return CR_OK;
}

cr_status cri_rvm_squares(cr_ctx *cx, const cri_rvm_basis *b, const double *U, size_t u,
                          double *out)
{
    return over_blocks(cx, b, U, u, add_squares, out);
}
