/* gp_noise.c -- the term of a kernel that is noise which depends on columns. */
#include "gp_noise.h"
#include "models/common/noise_terms.h"
#include "base/context_internal.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double START = 0.1;   /* of the variance of the target */
static const double LEAST = 1e-16; /* of its mean square, where it is constant */

/* The nodes of white and loglinear, where these two alone are a factor of each other. */
static bool find_nodes(const cr_kernel *k, size_t *out_white, size_t *out_loglinear)
{
    for (size_t p = 0; p < k->n_nodes; p++) {
        const cri_node *node = &k->nodes[p];
        size_t          a = node->op == CRI_PRODUCT ? node->first : SIZE_MAX;
        size_t          b = a == SIZE_MAX ? SIZE_MAX : k->nodes[a].next;
        if (b == SIZE_MAX || k->nodes[b].next != SIZE_MAX) continue;
        if (k->nodes[a].class != &cri_kernel_white || k->nodes[b].class != &cri_kernel_loglinear)
            continue;
        *out_white = a;
        *out_loglinear = b;
        return true;
    }
    return false;
}

/* --- the term -------------------------------------------------------------------------------- */

/* What the term is made of. */
typedef struct parts {
    size_t  n;
    size_t *term;      /* [n] of the design */
    double *mean, *sd; /* [n] */
    double  variance;
} parts;

static cr_status check_term(cr_ctx *cx, const cr_design *d, size_t term, double mean, double sd)
{
    const char *name = d->columns[d->terms[term].column].name;
    if (d->terms[term].code) {
        cr_fail(cx, CR_EARG,
                "--noise-model: '%s' is a category, but gp takes only columns of numbers", name);
        return cr_fail_hint(cx, "credence fit linear takes categories too");
    }
    return sd > 1e-13 * fabs(mean) ? CR_OK : cri_noise_fail_dependent(cx);
}

static cr_status find_parts(cr_scratch *s, const char *columns, const cri_rows *rows, parts *out)
{
    cr_status st = CR_OK;
    double   *x = cr_scratch_f64(s, rows->n), mean = 0, square = 0, count = 0;
    parts     p = { 0 };

    CR_TRY(cri_noise_terms(s, columns, rows->design, &p.term, &p.n));
    p.mean = cr_scratch_f64(s, p.n);
    p.sd = cr_scratch_f64(s, p.n);
    CR_TRY(s->status);
    for (size_t c = 0; c < p.n; c++) {
        cri_noise_term_moments(rows, p.term[c], x, &p.mean[c], &p.sd[c]);
        CR_TRY(check_term(s->cx, rows->design, p.term[c], p.mean[c], p.sd[c]));
    }
    for (size_t i = 0; i < rows->n; i++) {
        double delta = rows->y[i] - mean;
        mean += delta / ++count;
        square += delta * (rows->y[i] - mean);
    }
    double floor = LEAST * mean * mean;
    p.variance = START * fmax(square / count, floor > 0 ? floor : LEAST);
    *out = p;
done:
    return st;
}

/* The text of the term, without its values, behind `to`, which has room for it: names in quotes, a quote within them
 * written twice. */
static void write_term(const cr_design *d, const parts *p, char *to)
{
    static const char begin[] = " + white*loglinear(", end[] = "ard)";
    memcpy(to, begin, sizeof begin - 1);
    to += sizeof begin - 1;
    for (size_t c = 0; c < p->n; c++) {
        *to++ = '"';
        for (const char *name = d->terms[p->term[c]].name; *name; name++) {
            if (*name == '"') *to++ = '"';
            *to++ = *name;
        }
        *to++ = '"';
        *to++ = c + 1 < p->n ? ',' : ';';
    }
    memcpy(to, end, sizeof end);
}

static cr_status check_white(cr_ctx *cx, const cr_kernel *k)
{
    if (!cri_gp_kernel_has_white(k)) return CR_OK;
    cr_fail(cx, CR_EARG,
            "--noise-model cannot be combined with a white kernel: both are the noise");
    return cr_fail_hint(cx, "leave white out of --kernel");
}

/* The values that the data give: of the noise a start, of the columns their means and sds. */
static cr_status set_values(cr_ctx *cx, const parts *p, cr_kernel *k)
{
    cr_status st = CR_OK;
    size_t    white, loglinear;
    if (!find_nodes(k, &white, &loglinear)) return CR_EDATA;
    size_t centre = cri_loglinear_centre(&k->nodes[loglinear]);
    size_t scale = cri_loglinear_scale(&k->nodes[loglinear]);
    CR_TRY(cr_kernel_set_value(cx, k, k->nodes[white].param[0], p->variance));
    for (size_t c = 0; c < p->n; c++) {
        CR_TRY(cr_kernel_set_value(cx, k, centre + c, p->mean[c]));
        CR_TRY(cr_kernel_set_value(cx, k, scale + c, p->sd[c]));
    }
done:
    return st;
}

cr_status cri_gp_noise_add(cr_ctx *cx, const char *columns, const cri_rows *rows,
                           cr_kernel **kernel)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    const cr_design *d = rows->design;
    cr_kernel       *with = NULL;
    parts            p;

    CR_TRY(check_white(cx, *kernel));
    CR_TRY(find_parts(&s, columns, rows, &p));
    size_t before = cr_kernel_print(*kernel, NULL, 0), size = before + 32;
    for (size_t c = 0; c < p.n; c++) size += 2 * strlen(d->terms[p.term[c]].name) + 3;
    char *text = cr_scratch_bytes(&s, size, 1);
    CR_TRY(s.status);
    cr_kernel_print(*kernel, text, size);
    write_term(d, &p, text + before);
    CR_TRY(cri_gp_kernel(cx, text, d, &with));
    CR_TRY(set_values(cx, &p, with));
    cr_kernel_free(cx, *kernel);
    *kernel = with;
    with = NULL;
done:
    cr_kernel_free(cx, with);
    cr_scratch_end(&s);
    return st;
}

/* --- its parameters -------------------------------------------------------------------------- */

size_t cri_gp_noise_level(const cr_kernel *k)
{
    size_t white, loglinear;
    return find_nodes(k, &white, &loglinear) ? k->nodes[white].param[0] : SIZE_MAX;
}

cr_kernel_parameter cri_gp_shown_parameter(const cr_kernel *k, size_t i, double *out_unit)
{
    cr_kernel_parameter p = cr_kernel_parameter_at(k, i);
    const cri_param    *param = &k->params[i];
    size_t              white, loglinear;
    *out_unit = 1;
    if (p.given || !find_nodes(k, &white, &loglinear)) return p;
    const cri_node *node = &k->nodes[loglinear];
    if (param->node == white) snprintf(p.name, sizeof p.name, "noise");
    if (param->node != loglinear || param->element >= node->n_columns) return p;
    snprintf(p.name, sizeof p.name, "noise.%s",
             k->columns[node->column_begin + param->element].name);
    *out_unit = k->params[cri_loglinear_scale(node) + param->element].value;
    return p;
}
