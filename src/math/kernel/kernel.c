/* kernel.c -- the life of a kernel, its parameters and their priors. */
#include "kernel_internal.h"
#include "base/context_internal.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

void cr_kernel_free(cr_ctx *cx, cr_kernel *k)
{
    if (!k) return;
    cri_kernel_drop_tables(cx, k);
    cri_reference_free(cx, k->reference);
    for (size_t i = 0; i < k->n_columns; i++) cri_string_free(cx, k->columns[i].name);
    for (size_t i = 0; k->hooks && i < k->n_hooks; i++)
        cri_string_free(cx, (char *)(uintptr_t)k->hooks[i].name);
    cr_free(cx, k->nodes, k->node_capacity, sizeof *k->nodes);
    cr_free(cx, k->params, k->param_capacity, sizeof *k->params);
    cr_free(cx, k->columns, k->column_capacity, sizeof *k->columns);
    cr_free(cx, k->hooks, k->n_hooks, sizeof *k->hooks);
    cr_free(cx, k, 1, sizeof *k);
}

cr_status cri_kernel_new(cr_ctx *cx, const cr_kernel_hook *hooks, size_t n_hooks, cr_kernel **out)
{
    cr_kernel *k = cr_alloc(cx, 1, sizeof *k);
    if (!k) return CR_ENOMEM;
    k->n_hooks = n_hooks;
    if (n_hooks > 0) k->hooks = cr_alloc(cx, n_hooks, sizeof *k->hooks);
    bool ok = n_hooks == 0 || k->hooks;
    for (size_t i = 0; ok && i < n_hooks; i++) {
        k->hooks[i] = hooks[i];
        ok = (k->hooks[i].name = cri_string_copy(cx, hooks[i].name)) != NULL;
    }
    if (!ok) {
        cr_kernel_free(cx, k);
        return CR_ENOMEM;
    }
    *out = k;
    return CR_OK;
}

static void *copy_array(cr_ctx *cx, const void *from, size_t n, size_t size)
{
    void *copy = cr_alloc(cx, n, size);
    if (copy && n > 0) memcpy(copy, from, n * size);
    return copy;
}

cr_status cr_kernel_copy(cr_ctx *cx, const cr_kernel *k, cr_kernel **out_kernel)
{
    cr_status  st = CR_OK;
    cr_kernel *copy = NULL;
    CR_TRY(cri_kernel_new(cx, k->hooks, k->n_hooks, &copy));
    copy->nodes = copy_array(cx, k->nodes, k->n_nodes, sizeof *k->nodes);
    copy->node_capacity = copy->n_nodes = k->n_nodes;
    copy->params = copy_array(cx, k->params, k->n_params, sizeof *k->params);
    copy->param_capacity = copy->n_params = k->n_params;
    copy->columns = cr_alloc(cx, k->n_columns, sizeof *k->columns);
    copy->column_capacity = k->n_columns;
    if (!copy->nodes || !copy->params || !copy->columns) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < k->n_columns; i++) {
        char *name = cri_string_copy(cx, k->columns[i].name);
        if (!name) CR_TRY(CR_ENOMEM);
        copy->columns[copy->n_columns++] = (cri_column){ k->columns[i].index, name };
    }
    CR_TRY(cri_reference_copy(cx, k->reference, &copy->reference));
    copy->names = k->names;
    copy->tables = k->tables, copy->n_tables = k->n_tables, copy->borrows_tables = true;
    *out_kernel = copy;
    copy = NULL;
done:
    cr_kernel_free(cx, copy);
    return st;
}

void cr_kernel_set_names(cr_kernel *k, cr_kernel_names names) { k->names = names; }

static bool same_node(const cr_kernel *a, const cr_kernel *b, size_t i)
{
    const cri_node *x = &a->nodes[i], *y = &b->nodes[i];
    if (x->op != y->op || x->class != y->class || x->first != y->first || x->next != y->next ||
        x->power != y->power || x->warp != y->warp || x->n_columns != y->n_columns ||
        memcmp(x->setting, y->setting, sizeof x->setting) != 0 ||
        memcmp(x->n_values, y->n_values, sizeof x->n_values) != 0)
        return false;
    if (x->op == CRI_LEAF && !x->class &&
        strcmp(a->hooks[x->hook].name, b->hooks[y->hook].name) != 0)
        return false;
    for (size_t c = 0; c < x->n_columns; c++) {
        const cri_column *p = &a->columns[x->column_begin + c],
                         *q = &b->columns[y->column_begin + c];
        if (p->index != q->index || strcmp(p->name, q->name) != 0) return false;
    }
    return true;
}

static bool same_param(const cri_param *p, const cri_param *q)
{
    return p->value == q->value && p->lower == q->lower && p->upper == q->upper &&
           p->prior == q->prior && p->prior_a == q->prior_a && p->prior_b == q->prior_b &&
           p->fixed == q->fixed && p->spec == q->spec && p->node == q->node &&
           p->element == q->element;
}

bool cr_kernel_equal(const cr_kernel *a, const cr_kernel *b)
{
    if (a->n_nodes != b->n_nodes || a->n_params != b->n_params) return false;
    for (size_t i = 0; i < a->n_nodes; i++)
        if (!same_node(a, b, i)) return false;
    for (size_t i = 0; i < a->n_params; i++)
        if (!same_param(&a->params[i], &b->params[i])) return false;
    return true;
}

bool cr_kernel_is_psd(const cr_kernel *k)
{
    for (size_t i = 0; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        if (node->class ? node->class->not_psd
                        : node->op == CRI_LEAF && k->hooks[node->hook].not_psd)
            return false;
    }
    return true;
}

bool cr_kernel_reads(const cr_kernel *k, cr_kernel_kind kind)
{
    for (size_t i = 0; i < k->n_nodes; i++)
        if (k->nodes[i].op == CRI_LEAF && k->nodes[i].class && k->nodes[i].class->kind == (int)kind)
            return true;
    return false;
}

/* --- coordinates ----------------------------------------------------------------------------- */

double cri_to_theta(const cri_param *p, double value)
{
    if (p->spec->coordinate == CRI_LOG) return log(value);
    return p->spec->coordinate == CRI_LOGIT ? cr_logit(value) : value;
}

double cri_from_theta(const cri_param *p, double theta)
{
    double most = p->spec->coordinate == CRI_LOG ? 690 : 36; /* a value that is still in range */
    if (p->spec->coordinate == CRI_REAL) return theta;
    theta = theta < -most ? -most : theta > most ? most : theta;
    return p->spec->coordinate == CRI_LOG ? exp(theta) : cr_sigmoid(theta);
}

double cri_chain(const cri_param *p)
{
    if (p->spec->coordinate == CRI_LOG) return p->value;
    return p->spec->coordinate == CRI_LOGIT ? p->value * (1 - p->value) : 1;
}

bool cri_in_range(const cri_spec *spec, double value)
{
    if (!isfinite(value)) return false;
    if (spec->role == CRI_SETTING)
        return value >= spec->least && value <= spec->most && (spec->real || value == floor(value));
    if (spec->coordinate == CRI_LOG) return value > 0;
    return spec->coordinate == CRI_REAL || (value > 0 && value < 1);
}

static double clamp(const cri_param *p, double value)
{
    return value < p->lower ? p->lower : value > p->upper ? p->upper : value;
}

size_t cr_kernel_parameters(const cr_kernel *k) { return k->n_params; }

size_t cr_kernel_theta_size(const cr_kernel *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->n_params; i++) n += !k->params[i].fixed;
    return n;
}

void cr_kernel_theta(const cr_kernel *k, double *out_theta)
{
    for (size_t i = 0; i < k->n_params; i++)
        if (!k->params[i].fixed) *out_theta++ = cri_to_theta(&k->params[i], k->params[i].value);
}

cr_status cr_kernel_set_theta(cr_ctx *cx, cr_kernel *k, const double *theta)
{
    size_t n = cr_kernel_theta_size(k);
    for (size_t j = 0; j < n; j++)
        if (!isfinite(theta[j]))
            return cr_fail(cx, CR_EARG, "kernel: theta[%zu] is %g, not a finite number", j,
                           theta[j]);
    cri_kernel_unsettle(cx, k);
    for (size_t i = 0; i < k->n_params; i++) {
        cri_param *p = &k->params[i];
        if (!p->fixed) p->value = clamp(p, cri_from_theta(p, *theta++));
    }
    return CR_OK;
}

void cr_kernel_theta_bounds(const cr_kernel *k, double *out_lower, double *out_upper)
{
    for (size_t i = 0; i < k->n_params; i++) {
        const cri_param *p = &k->params[i];
        if (p->fixed) continue;
        *out_lower++ = p->lower == -INFINITY ? -INFINITY : cri_to_theta(p, p->lower);
        *out_upper++ = p->upper == INFINITY ? INFINITY : cri_to_theta(p, p->upper);
    }
}

cr_status cr_kernel_set_value(cr_ctx *cx, cr_kernel *k, size_t i, double value)
{
    if (i >= k->n_params) return cr_fail(cx, CR_EARG, "kernel: there is no parameter %zu", i);
    if (!cri_in_range(k->params[i].spec, value))
        return cr_fail(
            cx, CR_EARG, "kernel: %s is %g, but must be %s", cr_kernel_parameter_at(k, i).name,
            value, k->params[i].spec->shown.range[0] ? k->params[i].spec->shown.range : "finite");
    cri_kernel_unsettle(cx, k);
    k->params[i].value = value;
    return CR_OK;
}

void cr_kernel_fix(cr_kernel *k, size_t i, bool fixed)
{
    if (i < k->n_params) k->params[i].fixed = fixed || !k->params[i].spec->shown.learned;
}

/* --- names ----------------------------------------------------------------------------------- */

static const char *name_of(const cr_kernel *k, size_t node)
{
    return k->nodes[node].class ? k->nodes[node].class->name : "";
}

/* The kernel that the number `node` is the amplitude of: its only sibling in a product. */
static size_t amplified(const cr_kernel *k, size_t node)
{
    for (size_t p = 0; p < k->n_nodes; p++) {
        size_t other = SIZE_MAX, members = 0;
        bool   here = false;
        if (k->nodes[p].op != CRI_PRODUCT) continue;
        for (size_t c = k->nodes[p].first; c != SIZE_MAX; c = k->nodes[c].next) {
            members++;
            if (c == node)
                here = true;
            else
                other = c;
        }
        if (!here) continue;
        return members == 2 && k->nodes[other].class &&
                       k->nodes[other].class != k->nodes[node].class
                   ? other
                   : node;
    }
    return node;
}

static bool has_spec(const cr_kernel_class *c, const char *name)
{
    for (size_t s = 0; c->specs[s].shown.name; s++)
        if (strcmp(c->specs[s].shown.name, name) == 0) return true;
    return false;
}

static void write_name(const cr_kernel *k, const cri_param *p, char out[96])
{
    bool        number = k->nodes[p->node].class == &cri_kernel_constant;
    size_t      node = number ? amplified(k, p->node) : p->node, before = 0, all = 0, used = 0;
    const char *name = name_of(k, node), *param = p->spec->shown.name;
    for (size_t i = 0; i < k->n_nodes; i++)
        if (strcmp(name_of(k, i), name) == 0 &&
            (!number || node != p->node || amplified(k, i) == i))
            all++, before += i <= node;
    if (node != p->node && has_spec(k->nodes[node].class, "variance")) param = "amplitude";
    if (all > 1) used = (size_t)snprintf(out, 96, "%zu.", before);
    used += (size_t)snprintf(out + used, 96 - used, "%s.%s", name, param);
    size_t s = (size_t)(p->spec - k->nodes[p->node].class->specs);
    if (k->nodes[p->node].n_values[s] > 1) snprintf(out + used, 96 - used, "[%zu]", p->element + 1);
}

cr_kernel_parameter cr_kernel_parameter_at(const cr_kernel *k, size_t i)
{
    const cri_param    *p = &k->params[i];
    cr_kernel_parameter out = { .value = p->value,
                                .lower = p->lower,
                                .upper = p->upper,
                                .prior = p->prior,
                                .prior_a = p->prior_a,
                                .prior_b = p->prior_b,
                                .fixed = p->fixed,
                                .given = !p->spec->shown.learned,
                                .theta = SIZE_MAX,
                                .help = p->spec->shown.help };
    write_name(k, p, out.name);
    if (p->fixed) return out;
    out.theta = 0;
    for (size_t q = 0; q < i; q++) out.theta += !k->params[q].fixed;
    return out;
}

/* --- priors ---------------------------------------------------------------------------------- */

static const char *const prior_names[] = { "",         "lognormal", "gamma",
                                           "invgamma", "normal",    "halfnormal" };

const char *cri_prior_name(size_t prior)
{
    return prior < sizeof prior_names / sizeof *prior_names ? prior_names[prior] : NULL;
}

size_t cri_prior_size(cr_kernel_prior prior) { return prior == CR_PRIOR_HALFNORMAL ? 1 : 2; }

double cri_prior_centre(const cri_param *p)
{
    switch (p->prior) {
    case CR_PRIOR_LOGNORMAL:
        return exp(p->prior_a);
    case CR_PRIOR_GAMMA:
        return p->prior_a / p->prior_b;
    case CR_PRIOR_INVGAMMA:
        return p->prior_b / (p->prior_a + 1);
    case CR_PRIOR_HALFNORMAL:
    case CR_PRIOR_NORMAL:
        return p->prior_a;
    case CR_PRIOR_NONE:
        break;
    }
    return p->spec->fallback;
}

/* log density at the value, and its derivative by the value. */
static double log_prior(const cri_param *p, double *out_slope)
{
    const double x = p->value, a = p->prior_a, b = p->prior_b, root = CRI_HALF_LOG_2PI;
    double       z;
    switch (p->prior) {
    case CR_PRIOR_LOGNORMAL:
        z = (log(x) - a) / b;
        *out_slope = -(1 + z / b) / x;
        return -root - log(b) - log(x) - 0.5 * z * z;
    case CR_PRIOR_GAMMA:
        *out_slope = (a - 1) / x - b;
        return a * log(b) - cr_lgamma_abs(a) + (a - 1) * log(x) - b * x;
    case CR_PRIOR_INVGAMMA:
        *out_slope = -(a + 1) / x + b / (x * x);
        return a * log(b) - cr_lgamma_abs(a) - (a + 1) * log(x) - b / x;
    case CR_PRIOR_NORMAL:
        z = (x - a) / b;
        *out_slope = -z / b;
        return -root - log(b) - 0.5 * z * z;
    case CR_PRIOR_HALFNORMAL:
        z = x / a;
        *out_slope = -z / a;
        return 0.69314718055994530942 - root - log(a) - 0.5 * z * z;
    case CR_PRIOR_NONE:
        break;
    }
    *out_slope = 0;
    return 0;
}

double cr_kernel_log_prior(const cr_kernel *k, bool with_jacobian, double *opt_gradient)
{
    double sum = 0;
    for (size_t i = 0; i < k->n_params; i++) {
        const cri_param *p = &k->params[i];
        double           slope, chain = cri_chain(p), jacobian = 0;
        if (p->fixed) continue;
        sum += log_prior(p, &slope);
        if (with_jacobian && p->prior != CR_PRIOR_NONE) {
            sum += log(chain);
            if (p->spec->coordinate == CRI_LOG) jacobian = 1;
            if (p->spec->coordinate == CRI_LOGIT) jacobian = 1 - 2 * p->value;
        }
        if (opt_gradient) *opt_gradient++ += slope * chain + jacobian;
    }
    return sum;
}
