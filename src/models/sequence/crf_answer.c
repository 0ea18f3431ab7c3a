/* crf_answer.c -- probabilities of labels, description, and what a file must hold. */
#include "crf.h"
#include "crf_objective.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/sort.h"
#include "math/constants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is made of the file ----------------------------------------------------------------- */

static bool is_whole(double x, double low, double high)
{
    return x >= low && x <= high && x == floor(x);
}

/* Whether every atom is a term of the design, and every key what a template can give. */
static bool fits(const cri_crf *m, const cr_design *d)
{
    if (m->K != cr_design_classes(d) || m->p != d->p || m->width != m->atoms + 1 ||
        m->atoms > CRI_MOST_ATOMS || !m->weight_sd != !m->transition_sd)
        return false;
    for (size_t i = 0; i < m->templates * m->atoms; i++) {
        bool follows = i % m->atoms == 0 || m->term[i - 1] >= 0 || m->term[i] < 0;
        if (!is_whole(m->term[i], -1, (double)d->p - 1) || !follows ||
            !is_whole(m->offset[i], -CRI_MOST_DISTANCE, CRI_MOST_DISTANCE))
            return false;
    }
    for (size_t a = 0; a < m->A; a++) {
        const uint32_t *key = m->keys + a * m->width;
        if (key[0] >= m->templates) return false;
        for (size_t i = 0; i < m->atoms; i++) {
            double term = m->term[key[0] * m->atoms + i];
            bool   code = term >= 0 && cri_design_is_code(d, (size_t)term);
            size_t levels =
                code ? d->columns[d->terms[(size_t)term - d->block.n].column].n_levels : 0;
            if (key[i + 1] > levels) return false;
        }
    }
    return true;
}

cr_status cri_crf_ready(cr_ctx *cx, void *state, const cr_design *d)
{
    cri_crf *m = state;
    if (!fits(m, d)) return CR_EDATA;
    m->list = cr_alloc(cx, m->templates, sizeof *m->list);
    if (!m->list) return CR_ENOMEM;
    for (size_t k = 0; k < m->templates; k++)
        for (size_t i = 0; i < m->atoms && m->term[k * m->atoms + i] >= 0; i++) {
            size_t term = (size_t)m->term[k * m->atoms + i];
            int    offset = (int)m->offset[k * m->atoms + i];
            m->list[k].atoms[m->list[k].n++] =
                (cri_template_atom){ term, offset, cri_design_is_code(d, term) };
        }
    return cri_attributes_index(cx, m->keys, m->A, m->width, &m->find);
}

void cri_crf_release(cr_ctx *cx, void *state)
{
    cri_crf *m = state;
    cr_free(cx, m->list, m->templates, sizeof *m->list);
    cri_attributes_free_index(cx, &m->find);
    m->list = NULL;
}

/* --- predict ---------------------------------------------------------------------------------- */

typedef struct answer {
    const cri_crf       *m;
    const cri_sequences *q;
    cri_attribute_rows   r;
    const double        *W; /* [A x stride] */
    cri_chain            chain;
    size_t               longest;
    double              *prob; /* [rows x K] */
} answer;

static void pad(const double *from, size_t rows, size_t K, size_t stride, double *to)
{
    for (size_t i = 0; i < rows; i++) memcpy(to + i * stride, from + i * K, K * sizeof *to);
}

static cr_status open_answer(cr_ctx *cx, cr_scratch *s, const cri_crf *m, const cri_rows *rows,
                             answer *a)
{
    cr_status      st = CR_OK;
    cri_attributes find = m->find;
    *a = (answer){ .m = m, .q = rows->sequences };
    cri_chain_begin(s, m->K, &a->chain);
    double *W = cr_scratch_bytes(s, m->A * a->chain.stride, sizeof *W);
    double *T = cr_scratch_bytes(s, m->K * a->chain.stride, sizeof *T);
    CR_TRY(s->status);
    pad(m->weight, m->A, m->K, a->chain.stride, W);
    pad(m->transition, m->K, m->K, a->chain.stride, T);
    cri_chain_set(&a->chain, T);
    a->W = W;
    for (size_t k = 0; k < a->q->n; k++) {
        size_t length = a->q->start[k + 1] - a->q->start[k];
        a->longest = length > a->longest ? length : a->longest;
    }
    CR_TRY(cri_attribute_rows_open(cx, rows, m->list, m->templates, &find, false, &a->r));
done:
    return st;
}

/* work: scores [longest x stride], then that of the chain. */
static void answer_sequences(void *arg, cri_range range, double *work)
{
    const answer *a = arg;
    size_t        stride = a->chain.stride, K = a->m->K;
    for (size_t k = range.begin; k < range.end; k++) {
        const size_t *row = a->q->row + a->q->start[k];
        size_t        n = a->q->start[k + 1] - a->q->start[k];
        cri_crf_scores(&a->r, a->q->start[k], n, a->W, stride, work);
        cri_chain_marginals(&a->chain, n, work, 1, NULL, work + a->longest * stride);
        for (size_t t = 0; t < n; t++) {
            double sum = 0, *p = work + t * stride;
            for (size_t l = 0; l < K; l++) sum += p[l]; /* 1 but for rounding */
            for (size_t l = 0; l < K; l++) a->prob[row[t] * K + l] = p[l] / sum;
        }
    }
}

static cr_status fail_overflow(cr_ctx *cx)
{
    return cr_fail(cx, CR_ENUMERIC, "the values of a row are so large that its scores overflow");
}

cr_status cri_crf_predict(cr_ctx *cx, const void *state, const cri_rows *rows, cr_prediction *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    answer     a = { 0 };
    size_t     work;
    CR_TRY(open_answer(cx, &s, state, rows, &a));
    a.prob = out->prob;
    work = a.longest * a.chain.stride + cri_crf_work(&a.chain, a.longest);
    CR_TRY(cri_parallel_rows(cx, "predicting", a.q->n, 16, work, answer_sequences, &a));
    CR_TRY(cr_check_interrupt(cx)); /* a chain may have stopped */
    for (size_t i = 0; i < rows->n * a.m->K; i++)
        if (isnan(out->prob[i])) CR_TRY(fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &a.r);
    cr_scratch_end(&s);
    return st;
}

/* --- decode ----------------------------------------------------------------------------------- */

typedef struct decoding {
    answer *a;
    double *path, *log_probability;
    size_t  work; /* numbers of workspace before those of the path */
} decoding;

/* work: scores and that of the chain as above, then the path and where it comes from as codes. */
static void decode_sequences(void *arg, cri_range range, double *work)
{
    const decoding *d = arg;
    const answer   *a = d->a;
    size_t          stride = a->chain.stride;
    double         *rest = work + a->longest * stride;
    uint32_t       *path = (uint32_t *)(void *)(work + d->work), *from = path + a->longest;
    for (size_t k = range.begin; k < range.end; k++) {
        const size_t *row = a->q->row + a->q->start[k];
        size_t        n = a->q->start[k + 1] - a->q->start[k];
        cri_crf_scores(&a->r, a->q->start[k], n, a->W, stride, work);
        double score = cri_chain_best(&a->chain, n, work, path, from, rest);
        double log_Z = cri_chain_marginals(&a->chain, n, work, 1, NULL, rest);
        d->log_probability[k] = fmin(score - log_Z, 0);
        for (size_t t = 0; t < n; t++) d->path[row[t]] = path[t];
    }
}

cr_status cri_crf_decode(cr_ctx *cx, const void *state, const cri_rows *rows, double *path,
                         double *log_probability)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    answer     a = { 0 };
    decoding   d = { .a = &a, .path = path, .log_probability = log_probability };
    CR_TRY(open_answer(cx, &s, state, rows, &a));
    d.work = a.longest * a.chain.stride + cri_crf_work(&a.chain, a.longest);
    size_t codes = a.longest * (a.m->K + 1); /* two to a number */
    CR_TRY(cri_parallel_rows(cx, "decoding", a.q->n, 16, d.work + codes / 2 + 1, decode_sequences,
                             &d));
    CR_TRY(cr_check_interrupt(cx));
    for (size_t k = 0; k < a.q->n; k++)
        if (isnan(log_probability[k])) CR_TRY(fail_overflow(cx));
done:
    cri_attribute_rows_free(cx, &a.r);
    cr_scratch_end(&s);
    return st;
}

/* --- describe --------------------------------------------------------------------------------- */

enum { MOST_LISTED = 20000 };

/* The name of an attribute: word[-1]=the*length. */
static size_t name_attribute(const cri_crf *m, const cr_design *d, size_t a, char *out, size_t size)
{
    const uint32_t     *key = m->keys + a * m->width;
    const cri_template *t = &m->list[key[0]];
    size_t              n = 0;
    if (t->n == 0) return (size_t)snprintf(out, size, "intercept");
    for (size_t i = 0; i < t->n; i++) {
        const cri_template_atom *atom = &t->atoms[i];
        const cri_design_column *c = &d->columns[d->terms[atom->term - d->block.n].column];
        const char              *name = atom->code ? c->name : cr_design_term_name(d, atom->term);
        char                    *at = n < size ? out + n : NULL, offset[16] = "";
        if (atom->offset) snprintf(offset, sizeof offset, "[%+d]", atom->offset);
        n += (size_t)snprintf(at, at ? size - n : 0, "%s%s%s%s%s", i ? "*" : "", name, offset,
                              atom->code ? "=" : "",
                              !atom->code      ? ""
                              : key[i + 1] > 0 ? c->levels[key[i + 1] - 1]
                                               : "(none)");
    }
    return n;
}

static cri_sheet *put_parameter(cri_sheet *list, double value, const double *opt_sd, size_t at,
                                const char *what, const char *from, const char *to)
{
    double     sd = opt_sd ? opt_sd[at] : NAN;
    bool       state = strcmp(what, "state") == 0;
    cri_sheet *row = state ? cri_parameter_add(list, value, sd, "state[%s].%s", from, to)
                           : cri_parameter_add(list, value, sd, "transition[%s,%s]", from, to);
    cri_parameter_interval(row, value, CRI_Z95 * sd);
    return row;
}

static int compare_sizes(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* The size from which weights of attributes are listed, so that they are not more than MOST_LISTED. */
static cr_status least_listed(cr_ctx *cx, const cri_crf *m, double *out)
{
    cr_status  st = CR_OK;
    size_t     n = m->A * m->K;
    cr_scratch s = cr_scratch_begin(cx);
    *out = 0;
    if (n <= MOST_LISTED) goto done;
    double *sizes = cr_scratch_f64(&s, n);
    CR_TRY(s.status);
    memcpy(sizes, m->weight, n * sizeof *sizes);
    qsort(sizes, n, sizeof *sizes, compare_sizes);
    *out = nextafter(fabs(sizes[MOST_LISTED]), INFINITY);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status describe_parameters(cr_ctx *cx, const cri_crf *m, const cr_design *d,
                                     cri_sheet *out, size_t *listed)
{
    cr_status  st = CR_OK;
    cri_sheet *list = cri_put_list(out, "parameters");
    char      *name = NULL;
    size_t     size = 0;
    double     least;
    CR_TRY(least_listed(cx, m, &least));
    for (size_t a = 0; a < m->A; a++) {
        size_t needs = name_attribute(m, d, a, name, size) + 1;
        if (needs > size) {
            char *longer = cr_resize(cx, name, size, needs, 1);
            if (!longer) CR_TRY(CR_ENOMEM);
            name = longer, size = needs;
            name_attribute(m, d, a, name, size);
        }
        for (size_t k = 0; k < m->K; k++) {
            size_t at = a * m->K + k;
            if (fabs(m->weight[at]) < least) continue;
            put_parameter(list, m->weight[at], m->weight_sd, at, "state", cr_design_class(d, k),
                          name);
            ++*listed;
        }
    }
    for (size_t i = 0; i < m->K; i++)
        for (size_t j = 0; j < m->K; j++, ++*listed)
            put_parameter(list, m->transition[i * m->K + j], m->transition_sd, i * m->K + j,
                          "transition", cr_design_class(d, i), cr_design_class(d, j));
done:
    cr_free(cx, name, size, 1);
    return st;
}

const cr_field cri_crf_statistics[] = {
    CR_TEXT("objective", 0, "what the weights minimise"),
    CR_NUMBER("objective_value", CR_FIELD_NULL, "its value"),
    CR_NUMBER("lambda", CR_FIELD_NULL, "the quadratic penalty"),
    CR_NUMBER("l1", CR_FIELD_EITHER, "the absolute penalty"),
    CR_NUMBER("kkt_residual", CR_FIELD_NULL, "largest violation of the optimality conditions"),
    CR_COUNT("labels", 0, "classes of the target"),
    CR_COUNT("sequences", 0, "learned from"),
    CR_COUNT("attributes", 0, "different levels, numbers and products that rows have"),
    CR_COUNT("weights", 0, "learned, those of transitions included"),
    CR_COUNT("nonzero", CR_FIELD_SOMETIMES, "with an absolute penalty: weights that are not 0"),
    CR_COUNT("weights_listed", 0,
             "parameters shown: all, or those of transitions and the 20000 largest others"),
    CR_TEXT("standard_errors", 0, "what sd means here, or why there is none"),
    CR_FIELD_LAST,
};

cr_status cri_crf_describe(cr_ctx *cx, const void *state, const cr_design *d, cri_sheet *out)
{
    static const char *const errors[] = {
        "posterior, by the Hessian at the optimum",
        "inverse information, by the Hessian at the optimum",
        "none: too many weights or rows for the Hessian",
        "none: the absolute penalty has kinks",
        "none: the Hessian is singular, as some weights are not determined",
        "none: the search did not converge",
    };
    cr_status      st = CR_OK;
    const cri_crf *m = state;
    size_t         listed = 0;
    cri_sheet     *s;
    CR_TRY(describe_parameters(cx, m, d, out, &listed));
    s = cri_put_object(out, "statistics");
    cri_put_textf(s, "objective", "-sum log p(y | x)%s%s", m->lambda > 0 ? " + lambda/2 |w|^2" : "",
                  m->l1 > 0 ? " + l1 |w|_1" : "");
    cri_put_real(s, "objective_value", m->objective);
    cri_put_real(s, "lambda", m->lambda);
    if (m->l1 > 0) cri_put_real(s, "l1", m->l1);
    cri_put_real(s, "kkt_residual", m->kkt);
    cri_put_count(s, "labels", m->K);
    cri_put_count(s, "sequences", m->sequences);
    cri_put_count(s, "attributes", m->A);
    cri_put_count(s, "weights", m->free);
    if (m->l1 > 0) cri_put_count(s, "nonzero", m->nonzero);
    cri_put_count(s, "weights_listed", listed);
    cri_put_text(s, "standard_errors", errors[m->errors]);
done:
    return st;
}
