/* gp_diagonal.c -- signal and noise that the data cannot distinguish. */
#include "gp_diagonal.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>

enum { MOST_ROWS = 2000 }; /* far more rows than that are near to each other */
static const double ALIKE = 1e-6;

/* true when every row has the same share of the noise and none is repeated, whose spread would tell
 * of it. */
static bool plain_rows(const cri_gp_data *data)
{
    for (size_t i = 1; i < data->n; i++)
        if (data->r[i] != data->r[0]) return false;
    return data->count == (double)data->n;
}

/* true when K [n x n] is *variance times the identity, nearly. */
static bool is_diagonal(const double *K, size_t n, double *variance)
{
    *variance = K[0];
    if (!(K[0] > 0)) return false;
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(K[i * n + i] - K[0]) <= ALIKE * K[0])) return false;
        for (size_t j = 0; j < i; j++)
            if (!(fabs(K[i * n + j]) <= ALIKE * K[0])) return false;
    }
    return true;
}

/* x [size] := the amplitudes at their least, the noise what it and they were together; false when k
 * has none to move. */
static bool move_to_noise(const cr_kernel *k, const cri_gp_space *u, double total, double share,
                          double *x)
{
    bool moved = false;
    for (size_t i = 0, j = 0; i < k->n_params; i++) {
        if (k->params[i].fixed) continue;
        if (u->kind[j] == CRI_GP_AMPLITUDE) x[j] = u->lower[j], moved = true;
        j++;
    }
    x[u->p] = log(total / share);
    return moved && x[u->p] <= u->upper[u->p];
}

/* The objective with the priors at x; what has no value is -INFINITY. */
static cr_status value_at(cr_ctx *cx, const cri_gp_learning *learning, const cri_gp_space *u,
                          cr_kernel *k, const double *x, double *out)
{
    cr_status st = cr_kernel_set_theta(cx, k, x);
    if (st == CR_OK)
        st = learning->objective(cx, learning->workspace, learning->problem, k, exp(x[u->p]), out,
                                 NULL);
    if (st == CR_OK) *out += cri_gp_log_prior(learning->prior, k, x, NULL);
    if (st != CR_ENUMERIC) return st;
    *out = -INFINITY;
    return CR_OK;
}

cr_status cri_gp_check_diagonal(cr_ctx *cx, const cri_gp_learning *learning, cr_kernel *k,
                                double *noise, bool *out_diagonal)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *data = learning->problem->data;
    size_t             n = data->n, p = cr_kernel_theta_size(k);
    cr_kernel_input    in = cri_gp_inputs(data);
    cri_gp_space       u;
    double             variance, before, after = -INFINITY;

    *out_diagonal = false;
    if (!learning->learn_noise || n < 2 || n > MOST_ROWS || !plain_rows(data)) goto done;
    double *K = cr_scratch_matrix(&s, n, n), *x = cr_scratch_f64(&s, p + 1),
           *moved = cr_scratch_f64(&s, p + 1);
    CR_TRY(s.status);
    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(K, n, n)));
    if (!is_diagonal(K, n, &variance)) goto done;
    CR_TRY(cri_gp_space_new(&s, k, learning->problem, learning->variance, *noise, true, &u));
    cr_kernel_theta(k, x);
    cr_kernel_theta(k, moved);
    x[p] = log(*noise);
    double total = variance + data->r[0] * *noise;
    CR_TRY(value_at(cx, learning, &u, k, x, &before));
    if (move_to_noise(k, &u, total, data->r[0], moved))
        CR_TRY(value_at(cx, learning, &u, k, moved, &after));
    bool taken = after >= before - ALIKE * (1 + fabs(before));
    if (taken) *noise = exp(moved[p]);
    CR_TRY(cr_kernel_set_theta(cx, k, taken ? moved : x));
    cr_log(cx, CR_LOG_WARNING,
           "the rows are so far apart on the learned length-scales that signal and noise cannot be "
           "separated: only the sum of their variances, %.4g, is known%s",
           total,
           taken ? ", and all of it is treated as noise; the length-scales are meaningless" : "");
    *out_diagonal = true;
done:
    cr_scratch_end(&s);
    return st;
}
