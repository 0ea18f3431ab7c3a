/* message.c -- plain arithmetic first; logarithms where it was not enough. */
#include "message.h"
#include "merge.h"
#include "base/context_internal.h"

#include <math.h>
#include <string.h>

/* A sum of products of numbers <= 1, each short of at most 2^-1074 per factor, is good when above.
 */
static const double SAFE = 1e-290;

/* The largest of n values and `most`, in several lanes: the order does not matter. */
static double largest(const double *x, size_t n, double most)
{
    enum { LANES = 8 };
    double lane[LANES];
    size_t e = 0;
    for (size_t k = 0; k < LANES; k++) lane[k] = most;
    for (; e + LANES <= n; e += LANES)
        for (size_t k = 0; k < LANES; k++) lane[k] = x[e + k] > lane[k] ? x[e + k] : lane[k];
    for (; e < n; e++) lane[0] = x[e] > lane[0] ? x[e] : lane[0];
    for (size_t k = 0; k < LANES; k++) most = lane[k] > most ? lane[k] : most;
    return most;
}

double cri_scale(cr_factor *f)
{
    double peak = largest(f->value, f->size, f->is_log ? -INFINITY : 0);
    if (f->is_log) {
        for (size_t e = 0; peak > -INFINITY && e < f->size; e++) f->value[e] -= peak;
        return peak;
    }
    if (peak == 0) return -INFINITY;
    if (peak != 1)
        for (size_t e = 0; e < f->size; e++) f->value[e] /= peak;
    return log(peak);
}

void cri_unlog(cr_factor *f)
{
    if (!f->is_log) return;
    for (size_t e = 0; e < f->size; e++)
        if (f->value[e] < log(SAFE) && f->value[e] > -INFINITY) return;
    cr_factor_set_log(f, false);
}

static bool has_small(const cr_factor *f)
{
    for (size_t e = 0; e < f->size; e++)
        if (f->value[e] < SAFE) return true;
    return false;
}

static void set_operand(const cri_space *sp, const cr_factor *f, cri_operand *out)
{
    out->value = f->value;
    cri_space_strides(sp, f->n, f->var, f->states, out->stride);
}

/* --- logarithms ------------------------------------------------------------------------------ */

/* Makes all inputs logarithms: copies of those that are not, in `workspace`. */
static void take_logs(size_t inputs, const cr_factor *const *in, cri_operand *operand,
                      double *workspace)
{
    for (size_t i = 0; i < inputs; i++) {
        if (in[i]->is_log) continue;
        for (size_t e = 0; e < in[i]->size; e++) workspace[e] = log(in[i]->value[e]);
        operand[i].value = workspace;
        workspace += in[i]->size;
    }
}

static bool send_log(cr_ctx *cx, const cri_space *sp, bool maximise, size_t inputs,
                     const cri_operand *in, cri_message *out, uint16_t *opt_arg, bool threaded)
{
    cr_factor *f = out->table;
    cri_output to = { .value = f->value, .arg = opt_arg };
    double    *peak = NULL;
    cri_space_strides(sp, f->n, f->var, f->states, to.stride);
    f->is_log = true;
    for (size_t e = 0; e < f->size; e++) f->value[e] = -INFINITY;
    bool fine = cri_combine(cx, sp, CRI_LOG_MAX, inputs, in, 1, &to, threaded, NULL);
    if (fine && !maximise) {
        peak = cri_resize_quietly(cx, NULL, 0, f->size, sizeof *peak);
        if (!peak) return false;
        memcpy(peak, f->value, f->size * sizeof *peak);
        memset(f->value, 0, f->size * sizeof *peak);
        to.peak = peak;
        fine = cri_combine(cx, sp, CRI_LOG_EXP, inputs, in, 1, &to, threaded, NULL);
        for (size_t e = 0; e < f->size; e++)
            f->value[e] = f->value[e] > 0 ? peak[e] + log(f->value[e]) : -INFINITY;
        cr_free(cx, peak, f->size, sizeof *peak);
    }
    out->scale = cri_scale(f);
    cri_unlog(f);
    return fine;
}

static bool send_all_logs(cr_ctx *cx, const cri_space *sp, bool maximise, size_t inputs,
                          const cr_factor *const *in, cri_operand *operand, size_t outputs,
                          cri_message *out, uint16_t *opt_arg, bool threaded)
{
    size_t plain = 0;
    for (size_t i = 0; i < inputs; i++) plain += in[i]->is_log ? 0 : in[i]->size;
    double *workspace = cri_resize_quietly(cx, NULL, 0, plain, sizeof *workspace);
    bool    fine = workspace != NULL;
    if (fine) take_logs(inputs, in, operand, workspace);
    for (size_t k = 0; fine && k < outputs; k++)
        fine = send_log(cx, sp, maximise, inputs, operand, &out[k], opt_arg, threaded);
    cr_free(cx, workspace, plain, sizeof *workspace);
    return fine;
}

/* --- plain values ---------------------------------------------------------------------------- */

/* Combines tables without logarithms.  *out_doubtful: underflow may have falsified a result. */
static bool send_plain(cr_ctx *cx, const cri_space *sp, bool maximise, size_t inputs,
                       const cr_factor *const *in, size_t outputs, cri_message *out,
                       cri_operand *operand, cri_output *to, uint16_t *opt_arg, bool threaded,
                       bool *out_doubtful)
{
    bool       lost = false, small = false;
    cri_merged merged;
    bool       fine = cri_merge(cx, sp, inputs, in, threaded, &merged);
    for (size_t i = 0; fine && i < merged.n; i++) set_operand(sp, merged.in[i], &operand[i]);
    for (size_t k = 0; fine && k < outputs; k++) {
        cr_factor *f = out[k].table;
        f->is_log = false;
        memset(f->value, 0, f->size * sizeof *f->value);
        to[k].value = f->value;
        to[k].arg = opt_arg;
        to[k].peak = NULL;
        cri_space_strides(sp, f->n, f->var, f->states, to[k].stride);
    }
    fine = fine && cri_combine(cx, sp, maximise ? CRI_MAX : CRI_SUM, merged.n, operand, outputs, to,
                               threaded, &lost);
    lost |= merged.lost;
    cri_merged_free(cx, &merged);
    if (!fine) return false;
    for (size_t k = 0; lost && k < outputs; k++) small |= has_small(out[k].table);
    *out_doubtful = lost && small;
    for (size_t k = 0; !*out_doubtful && k < outputs; k++) out[k].scale = cri_scale(out[k].table);
    return true;
}

bool cri_send(cr_ctx *cx, const cri_space *space, bool maximise, size_t inputs,
              const cr_factor *const *in, size_t outputs, cri_message *out, uint16_t *opt_arg,
              bool threaded)
{
    size_t       bytes = inputs * sizeof(cri_operand) + outputs * sizeof(cri_output);
    cri_operand *operand = cri_resize_quietly(cx, NULL, 0, bytes, 1);
    cri_output  *to = (cri_output *)(void *)(operand + inputs);
    bool         fine = operand != NULL, logs = false;
    if (!fine) return false;
    for (size_t i = 0; i < inputs; i++) logs |= in[i]->is_log;
    if (!logs)
        fine = send_plain(cx, space, maximise, inputs, in, outputs, out, operand, to, opt_arg,
                          threaded, &logs);
    if (fine && logs) {
        if (opt_arg) memset(opt_arg, 0, out->table->size * sizeof *opt_arg);
        for (size_t i = 0; i < inputs; i++) set_operand(space, in[i], &operand[i]);
        fine = send_all_logs(cx, space, maximise, inputs, in, operand, outputs, out, opt_arg,
                             threaded);
    }
    cr_free(cx, operand, bytes, 1);
    return fine;
}

bool cri_send_bytes(cr_ctx *cx, const cri_space *space, size_t inputs, const cr_factor *const *in,
                    size_t outputs, const cr_factor *const *out, bool threaded, double *out_bytes)
{
    size_t       bytes = inputs * sizeof(cri_operand) + outputs * sizeof(cri_output);
    cri_operand *operand = cri_resize_quietly(cx, NULL, 0, bytes, 1);
    cri_output  *to = (cri_output *)(void *)(operand + inputs);
    cri_merged   merged = { 0 };
    double       combining = 0;
    bool         fine = operand && cri_merge_scopes(cx, space, inputs, in, threaded, &merged);
    for (size_t i = 0; fine && i < merged.n; i++) set_operand(space, merged.in[i], &operand[i]);
    for (size_t k = 0; fine && k < outputs; k++) {
        to[k] = (cri_output){ 0 };
        cri_space_strides(space, out[k]->n, out[k]->var, out[k]->states, to[k].stride);
    }
    fine =
        fine && cri_combine_bytes(cx, space, merged.n, operand, outputs, to, threaded, &combining);
    if (fine)
        *out_bytes = (double)bytes + (double)(inputs * sizeof *merged.in) +
                     fmax(merged.peak, merged.held + combining);
    cri_merged_free(cx, &merged);
    cr_free(cx, operand, bytes, 1);
    return fine;
}
