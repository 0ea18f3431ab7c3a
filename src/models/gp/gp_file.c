/* gp_file.c -- a fitted Gaussian process to and from a model file. */
#include "gp_centre.h"
#include "gp_lowrank.h"
#include "gp_mcmc.h"
#include "../linear/predictor.h"
#include "../../base/context_internal.h"
#include "../../base/scratch.h"

#include <math.h>
#include <string.h>

/* The lower triangle, row after row. */
static cr_status put_triangle(cr_ctx *cx, cri_store *store, const char *name, const double *L,
                              size_t n)
{
    size_t  size = n * (n + 1) / 2;
    double *packed = cr_alloc(cx, size, sizeof(double)), *to = packed;
    if (!packed) return CR_ENOMEM;
    for (size_t i = 0; i < n; i++, to += i) memcpy(to, L + i * n, (i + 1) * sizeof(double));
    cr_status st = cri_store_put_vector(cx, store, name, packed, size);
    cr_free(cx, packed, size, sizeof(double));
    return st;
}

static cr_status get_triangle(cr_ctx *cx, const cri_store *store, const char *name, size_t n,
                              double *L)
{
    size_t    size = n * (n + 1) / 2;
    double   *packed = NULL, *from;
    cr_status st = cri_store_get_vector(cx, store, name, size, &packed);
    if (st != CR_OK) return st;
    from = packed;
    for (size_t i = 0; i < n; i++, from += i) memcpy(L + i * n, from, (i + 1) * sizeof(double));
    for (size_t i = 0; st == CR_OK && i < n; i++)
        if (!(L[i * n + i] > 0))
            st = cr_fail(cx, CR_EDATA, "%s: the factor '%s' in the model file is not positive",
                         cri_store_source(store), name);
    cr_free(cx, packed, size, sizeof(double));
    return st;
}

static cr_status put_codes(cr_ctx *cx, cri_store *store, const cri_gp_data *a)
{
    size_t  size = a->n * a->c;
    double *codes = cr_alloc(cx, size, sizeof(double));
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < size; i++) codes[i] = a->codes[i];
    cr_status st = cri_store_put_matrix(cx, store, "codes", codes, a->n, a->c);
    cr_free(cx, codes, size, sizeof(double));
    return st;
}

static cr_status write_arrays(cr_ctx *cx, const cri_gp_posterior *m, cri_store *store)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *a = &m->at;
    double            *sd = cr_scratch_f64(&s, m->n_theta + 1);

    CR_TRY(s.status);
    for (size_t j = 0; j <= m->n_theta; j++) sd[j] = isnan(m->sd[j]) ? -1 : m->sd[j];
    CR_TRY(cri_store_put_matrix(cx, store, "X", a->X, a->n, a->d));
    if (a->c) CR_TRY(put_codes(cx, store, a));
    CR_TRY(cri_store_put_vector(cx, store, "y", a->y, a->n));
    CR_TRY(cri_store_put_vector(cx, store, "r", a->r, a->n));
    CR_TRY(cri_store_put_vector(cx, store, "mean_centre", m->mean.centre, m->mean.d));
    CR_TRY(cri_store_put_vector(cx, store, "mean_scale", m->mean.scale, m->mean.d));
    CR_TRY(cri_store_put_vector(cx, store, "mean_column", m->mean.column, m->q));
    CR_TRY(cri_store_put_vector(cx, store, "mean_power", m->mean.power, m->q));
    if (m->L) CR_TRY(put_triangle(cx, store, "L", m->L, a->n));
    if (m->L2) CR_TRY(put_triangle(cx, store, "L2", m->L2, a->n));
    if (m->root) CR_TRY(cri_store_put_matrix(cx, store, "root", m->root, a->n, m->rank));
    if (m->image) CR_TRY(cri_store_put_matrix(cx, store, "image", m->image, a->n, m->rank));
    if (m->draws)
        CR_TRY(
            cri_store_put_matrix(cx, store, "hyper_draws", m->draws, m->n_draws, m->n_theta + 1));
    CR_TRY(cri_store_put_vector(cx, store, "alpha", m->alpha, a->n));
    CR_TRY(cri_store_put_vector(cx, store, "beta", m->beta, m->q));
    CR_TRY(cri_store_put_matrix(cx, store, "U", m->U, a->n, m->q));
    CR_TRY(put_triangle(cx, store, "A", m->A, m->q));
    CR_TRY(cri_store_put_vector(cx, store, "sd", sd, m->n_theta + 1));
done:
    cr_scratch_end(&s);
    return st;
}

/* A number each, null where it is not finite. */
static cr_status write_gradient(cr_ctx *cx, const cri_gp_posterior *m, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list = json_array();
    CR_TRY(cri_store_set(cx, out, "gradient", list));
    for (size_t j = 0; j <= m->n_theta; j++)
        CR_TRY(cri_store_append(cx, list, cri_json_number(m->gradient[j])));
done:
    return st;
}

cr_status cri_gp_write(cr_ctx *cx, const void *state, cri_store *store, json_t *out)
{
    cr_status               st = CR_OK;
    const cri_gp_posterior *m = state;
    char                   *text = NULL;
    cri_gp_centre_rows      centre = { 0 };
    CR_TRY(cri_gp_kernel_keep(cx, m->kernel, &text, &centre));
    CR_TRY(cri_store_set_text(cx, out, "kernel", text));
    CR_TRY(cri_store_set_text(cx, out, "approx", cri_gp_approx_name(m->approx)));
    CR_TRY(cri_store_set_text(cx, out, "at_bound", m->at_bound));
    CR_TRY(cri_store_set(cx, out, "inputs", json_integer((json_int_t)m->at.n)));
    CR_TRY(cri_store_set(cx, out, "mean_terms", json_integer((json_int_t)m->q)));
    CR_TRY(cri_store_set(cx, out, "starts", json_integer((json_int_t)m->starts)));
    CR_TRY(cri_store_set(cx, out, "agreed", json_integer((json_int_t)m->agreed)));
    CR_TRY(cri_store_set(cx, out, "evaluations", json_integer((json_int_t)m->evaluations)));
    CR_TRY(cri_store_set(cx, out, "noise_learned", json_boolean(m->noise_learned)));
    CR_TRY(cri_store_set(cx, out, "noise_column", json_boolean(m->noise_column)));
    CR_TRY(cri_store_set(cx, out, "white", json_boolean(m->white)));
    CR_TRY(cri_store_set_real(cx, out, "noise", m->noise));
    CR_TRY(cri_store_set_real(cx, out, "jitter", m->jitter));
    CR_TRY(cri_store_set_real(cx, out, "rows", m->rows));
    CR_TRY(cri_store_set_real(cx, out, "count", m->at.count));
    CR_TRY(cri_store_set_real(cx, out, "spread", m->at.spread));
    CR_TRY(cri_store_set_real(cx, out, "log_shares", m->at.log_shares));
    CR_TRY(cri_store_set(cx, out, "evidence", cri_json_number(m->evidence)));
    if (m->n_draws)
        CR_TRY(cri_store_set(cx, out, "hyper_draws", json_integer((json_int_t)m->n_draws)));
    if (m->cg) {
        CR_TRY(cri_store_set(cx, out, "root_rank", json_integer((json_int_t)m->rank)));
        CR_TRY(cri_store_set(cx, out, "near", json_integer((json_int_t)m->near)));
        CR_TRY(cri_store_set(cx, out, "cg_iterations", json_integer((json_int_t)m->cg_iterations)));
        CR_TRY(cri_store_set(cx, out, "cg_residual", cri_json_number(m->residual)));
        CR_TRY(cri_store_set(cx, out, "evidence_se", cri_json_number(m->evidence_se)));
        CR_TRY(cri_store_set(cx, out, "sd_error", cri_json_number(m->sd_error)));
    }
    CR_TRY(cri_store_set(cx, out, "loo_score", cri_json_number(m->loo_score)));
    CR_TRY(cri_store_set(cx, out, "loo_rmse", cri_json_number(m->loo_rmse)));
    CR_TRY(cri_store_set(cx, out, "kernel_error", cri_json_number(m->kernel_error)));
    if (m->gradient) CR_TRY(write_gradient(cx, m, out));
    CR_TRY(write_arrays(cx, m, store));
    if (centre.rows) CR_TRY(cri_record_write(cx, cri_gp_centre_rows_record, &centre, store, out));
    if (m->low) CR_TRY(cri_gp_lowrank_write(cx, m->low, store, out));
done:
    cri_string_free(cx, text);
    cri_record_free(cx, cri_gp_centre_rows_record, &centre);
    return st;
}

static cr_status spoilt(cr_ctx *cx, const cri_store *store, const char *what)
{
    return cr_fail(cx, CR_EDATA, "%s: %s in the model file does not fit", cri_store_source(store),
                   what);
}

/* An array of the file into memory that is there. */
static cr_status get_into(cr_ctx *cx, const cri_store *store, const char *name, size_t rows,
                          size_t cols, double *to)
{
    double   *a = NULL;
    cr_status st = cols == 0 ? cri_store_get_vector(cx, store, name, rows, &a)
                             : cri_store_get_matrix(cx, store, name, rows, cols, &a);
    size_t    size = rows * (cols ? cols : 1);
    if (st != CR_OK) return st;
    if (size) memcpy(to, a, size * sizeof(double));
    cr_free(cx, a, size, sizeof(double));
    return CR_OK;
}

static cr_status read_codes(cr_ctx *cx, const cri_store *store, const cr_design *design,
                            cri_gp_data *a)
{
    cr_status st = CR_OK;
    double   *codes = NULL;
    size_t    size = a->n * a->c;
    CR_TRY(cri_store_get_matrix(cx, store, "codes", a->n, a->c, &codes));
    for (size_t place = 0; place < a->c; place++) {
        size_t levels = cri_gp_codes(design, place);
        for (size_t i = 0; i < a->n; i++) {
            double code = codes[i * a->c + place];
            if (!(code >= 0 && code < (double)levels)) CR_TRY(spoilt(cx, store, "a code"));
            a->codes[i * a->c + place] = (uint32_t)code;
        }
    }
done:
    cr_free(cx, codes, size, sizeof(double));
    return st;
}

static cr_status read_inputs(cr_ctx *cx, const cri_store *store, const json_t *in,
                             const cr_design *design, cri_gp_data *a)
{
    cr_status st = CR_OK;
    size_t    n;
    CR_TRY(cri_store_get_count(cx, store, in, "inputs", &n));
    cri_gp_shape(design, &a->d, &a->c);
    if (n == 0 || n > SIZE_MAX / sizeof(double) / n / 2 ||
        n > SIZE_MAX / sizeof(double) / 2 / (a->d + a->c + 1))
        CR_TRY(spoilt(cx, store, "the number of inputs"));
    if (!cri_store_has(store, "X")) CR_TRY(spoilt(cx, store, "the array of inputs"));
    CR_TRY(cri_store_get_matrix(cx, store, "X", n, a->d, &a->X));
    a->n = n;
    a->codes = cr_alloc(cx, n * a->c, sizeof(uint32_t));
    a->first = cr_alloc(cx, n, sizeof(size_t));
    if (!a->codes || !a->first) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) a->first[i] = i;
    if (a->c) CR_TRY(read_codes(cx, store, design, a));
    CR_TRY(cri_store_get_vector(cx, store, "y", n, &a->y));
    CR_TRY(cri_store_get_vector(cx, store, "r", n, &a->r));
    CR_TRY(cri_store_get_real(cx, store, in, "count", &a->count));
    CR_TRY(cri_store_get_real(cx, store, in, "spread", &a->spread));
    CR_TRY(cri_store_get_real(cx, store, in, "log_shares", &a->log_shares));
done:
    return st;
}

static cr_status read_mean(cr_ctx *cx, const cri_store *store, const json_t *in, size_t d,
                           cri_gp_mean *mean)
{
    cr_status st = CR_OK;
    size_t    q;
    mean->d = d;
    CR_TRY(cri_store_get_count(cx, store, in, "mean_terms", &q));
    if (q > CRI_GP_MOST_POWER * (d + 1)) CR_TRY(spoilt(cx, store, "the mean function"));
    CR_TRY(cri_store_get_vector(cx, store, "mean_centre", d, &mean->centre));
    CR_TRY(cri_store_get_vector(cx, store, "mean_scale", d, &mean->scale));
    mean->q = mean->room = q;
    CR_TRY(cri_store_get_vector(cx, store, "mean_column", q, &mean->column));
    CR_TRY(cri_store_get_vector(cx, store, "mean_power", q, &mean->power));
    bool good = true;
    for (size_t j = 0; j < d; j++) good = good && mean->scale[j] > 0;
    for (size_t t = 0; t < q; t++)
        good = good && mean->power[t] >= 0 && mean->power[t] <= CRI_GP_MOST_POWER &&
               mean->column[t] >= 0 && (mean->column[t] == 0 || mean->column[t] < (double)d) &&
               (mean->power[t] == 0 || d > 0);
    if (!good) CR_TRY(spoilt(cx, store, "the mean function"));
done:
    return st;
}

static cr_status read_texts(cr_ctx *cx, const cri_store *store, const json_t *in,
                            const cr_design *design, cri_gp_posterior *m)
{
    cr_status          st = CR_OK;
    cri_gp_centre_rows centre = { 0 };
    const char        *text, *name, *bound;
    CR_TRY(cri_store_get_text(cx, store, in, "kernel", &text));
    CR_TRY(cri_store_get_text(cx, store, in, "approx", &name));
    CR_TRY(cri_store_get_text(cx, store, in, "at_bound", &bound));
    if (json_object_get(in, "centre_rows"))
        CR_TRY(cri_record_read(cx, cri_gp_centre_rows_record, store, in, &centre));
    st = cri_gp_kernel_restore(cx, text, &centre, design, &m->kernel);
    if (st == CR_EARG) st = spoilt(cx, store, "the kernel");
    CR_TRY(st);
    m->at_bound = cri_string_copy(cx, bound);
    if (!m->at_bound) CR_TRY(CR_ENOMEM);
    for (m->approx = CRI_GP_EXACT; m->approx < CRI_GP_APPROXIMATIONS; m->approx++)
        if (strcmp(name, cri_gp_approx_name(m->approx)) == 0) goto done;
    CR_TRY(spoilt(cx, store, "the approximation"));
done:
    cri_record_free(cx, cri_gp_centre_rows_record, &centre);
    return st;
}

static cr_status read_arrays(cr_ctx *cx, const cri_store *store, cri_gp_posterior *m)
{
    cr_status       st = CR_OK;
    size_t          n = m->at.n, q = m->q;
    cr_kernel_input in = cri_gp_inputs(&m->at);
    st = cr_kernel_check(cx, m->kernel, &in);
    if (st == CR_EARG || st == CR_EDATA) st = spoilt(cx, store, "the kernel");
    CR_TRY(st);
    if (m->L) CR_TRY(get_triangle(cx, store, "L", n, m->L));
    if (m->L2) CR_TRY(get_triangle(cx, store, "L2", n, m->L2));
    CR_TRY(get_into(cx, store, "alpha", n, 0, m->alpha));
    CR_TRY(get_into(cx, store, "beta", q, 0, m->beta));
    if (q) CR_TRY(get_into(cx, store, "U", n, q, m->U));
    CR_TRY(get_triangle(cx, store, "A", q, m->A));
    CR_TRY(get_into(cx, store, "sd", m->n_theta + 1, 0, m->sd));
    for (size_t j = 0; j <= m->n_theta; j++)
        if (m->sd[j] < 0) m->sd[j] = NAN;
done:
    return st;
}

static cr_status read_root(cr_ctx *cx, const cri_store *store, const json_t *in,
                           cri_gp_posterior *m)
{
    cr_status st = CR_OK;
    size_t    rank;
    CR_TRY(cri_store_get_count(cx, store, in, "root_rank", &rank));
    if (rank > m->at.n || m->approx != CRI_GP_EXACT) CR_TRY(spoilt(cx, store, "the rank"));
    CR_TRY(cri_store_get_matrix(cx, store, "root", m->at.n, rank, &m->root));
    m->rank = rank;
    if (json_object_get(in, "near")) CR_TRY(cri_store_get_count(cx, store, in, "near", &m->near));
    if (m->near > m->at.n) CR_TRY(spoilt(cx, store, "the number of nearest inputs"));
    if (m->near) CR_TRY(cri_store_get_matrix(cx, store, "image", m->at.n, rank, &m->image));
    CR_TRY(cri_store_get_count(cx, store, in, "cg_iterations", &m->cg_iterations));
    m->residual = cri_json_number_or_nan(in, "cg_residual");
    m->evidence_se = cri_json_number_or_nan(in, "evidence_se");
    m->sd_error = cri_json_number_or_nan(in, "sd_error");
done:
    return st;
}

static cr_status read_draws(cr_ctx *cx, const cri_store *store, const json_t *in,
                            cri_gp_posterior *m)
{
    cr_status st = CR_OK;
    size_t    n;
    CR_TRY(cri_store_get_count(cx, store, in, "hyper_draws", &n));
    if (n == 0 || n % CRI_GP_CHAINS || m->approx != CRI_GP_EXACT || m->cg)
        CR_TRY(spoilt(cx, store, "the number of draws"));
    CR_TRY(cri_store_get_matrix(cx, store, "hyper_draws", n, m->n_theta + 1, &m->draws));
    m->n_draws = n;
done:
    return st;
}

static cr_status read_gradient(cr_ctx *cx, const cri_store *store, const json_t *list,
                               cri_gp_posterior *m)
{
    if (!json_is_array(list) || json_array_size(list) != m->n_theta + 1)
        return spoilt(cx, store, "the gradient");
    m->gradient = cr_alloc(cx, m->n_theta + 1, sizeof *m->gradient);
    if (!m->gradient) return CR_ENOMEM;
    for (size_t j = 0; j <= m->n_theta; j++) {
        const json_t *x = json_array_get(list, j);
        m->gradient[j] = json_is_number(x) ? json_number_value(x) : (double)NAN;
    }
    return CR_OK;
}

cr_status cri_gp_read(cr_ctx *cx, const cri_store *store, const json_t *in, const cr_design *design,
                      void **out_state)
{
    cr_status         st = CR_OK;
    cri_gp_posterior *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    CR_TRY(read_texts(cx, store, in, design, m));
    CR_TRY(read_inputs(cx, store, in, design, &m->at));
    CR_TRY(read_mean(cx, store, in, m->at.d, &m->mean));
    m->cg = json_object_get(in, "root_rank") != NULL;
    CR_TRY(cri_gp_posterior_allocate(cx, m, m->approx != CRI_GP_EXACT));
    if (m->cg) CR_TRY(read_root(cx, store, in, m));
    if (json_object_get(in, "hyper_draws")) CR_TRY(read_draws(cx, store, in, m));
    if (json_object_get(in, "gradient"))
        CR_TRY(read_gradient(cx, store, json_object_get(in, "gradient"), m));
    CR_TRY(read_arrays(cx, store, m));
    if (json_object_get(in, "lowrank")) CR_TRY(cri_gp_lowrank_read(cx, store, in, m, &m->low));
    CR_TRY(cri_store_get_count(cx, store, in, "starts", &m->starts));
    CR_TRY(cri_store_get_count(cx, store, in, "agreed", &m->agreed));
    CR_TRY(cri_store_get_count(cx, store, in, "evaluations", &m->evaluations));
    CR_TRY(cri_store_get_real(cx, store, in, "noise", &m->noise));
    CR_TRY(cri_store_get_real(cx, store, in, "jitter", &m->jitter));
    CR_TRY(cri_store_get_real(cx, store, in, "rows", &m->rows));
    m->noise_learned = json_is_true(json_object_get(in, "noise_learned"));
    m->noise_column = json_is_true(json_object_get(in, "noise_column"));
    m->white = json_is_true(json_object_get(in, "white"));
    m->evidence = cri_json_number_or_nan(in, "evidence");
    m->loo_score = cri_json_number_or_nan(in, "loo_score");
    m->loo_rmse = cri_json_number_or_nan(in, "loo_rmse");
    m->kernel_error = cri_json_number_or_nan(in, "kernel_error");
    if (m->noise_column && !design->roles[0]) CR_TRY(spoilt(cx, store, "the column of noise"));
    *out_state = m;
    m = NULL;
done:
    cri_gp_posterior_free(cx, m);
    return st;
}
