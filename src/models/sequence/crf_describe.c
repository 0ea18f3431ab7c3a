/* crf_describe.c -- what a conditional random field says of itself, and what its file must hold. */
#include "crf.h"
#include "base/scratch.h"
#include "math/constants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is made of the file ---------------------------------------------------------------- */

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

/* --- describe -------------------------------------------------------------------------------- */

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
    CR_NUMBER("above_minimum", CR_FIELD_SOMETIMES,
              "with --solver sgd: the objective is above its minimum by this at the most"),
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
        "none: stochastic steps end near the optimum, not at it",
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
    if (m->above > 0) cri_put_real(s, "above_minimum", m->above);
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
