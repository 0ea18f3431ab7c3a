/* print.c -- kernels to expressions in canonical form: products and sums flat, values in full. */
#include "kernel_internal.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

typedef struct writer {
    char  *out;
    size_t size, used; /* used: what it would take */
} writer;

static void put_n(writer *w, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++, w->used++)
        if (w->used + 1 < w->size) w->out[w->used] = text[i];
}

static void put(writer *w, const char *text) { put_n(w, text, strlen(text)); }

static void put_number(writer *w, double x)
{
    char text[CRI_DOUBLE_SIZE];
    put_n(w, text, cri_print_double(x, text));
}

/* Names in quotes: any character may be in them, and they are never taken for parameters. */
static bool is_plain(const char *name)
{
    if (strcmp(name, "ard") == 0) return false;
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
              (c > name && *c >= '0' && *c <= '9')))
            return false;
    return true;
}

static void put_column(writer *w, const char *name)
{
    bool plain = is_plain(name);
    if (!plain) put(w, "\"");
    for (const char *c = name; *c; c++) {
        if (*c == '"') put(w, "\"");
        put_n(w, c, 1);
    }
    if (!plain) put(w, "\"");
}

static void put_ends(writer *w, const cri_param *p)
{
    double lower = p->spec->coordinate == CRI_REAL ? -INFINITY : 0;
    double upper = p->spec->coordinate == CRI_LOGIT ? 1 : INFINITY;
    if (p->fixed && p->spec->shown.learned) put(w, " fixed");
    if (p->lower != lower || p->upper != upper) {
        put(w, "[");
        put_number(w, p->lower);
        put(w, ",");
        put_number(w, p->upper);
        put(w, "]");
    }
    if (p->prior == CR_PRIOR_NONE) return;
    put(w, "~");
    put(w, cri_prior_name(p->prior));
    put(w, "(");
    put_number(w, p->prior_a);
    if (cri_prior_size(p->prior) == 2) {
        put(w, ",");
        put_number(w, p->prior_b);
    }
    put(w, ")");
}

static void put_values(writer *w, const cri_param *p, size_t n)
{
    if (n > 1) put(w, "[");
    for (size_t i = 0; i < n; i++) {
        if (i) put(w, ",");
        put_number(w, p[i].value);
        put_ends(w, &p[i]);
    }
    if (n > 1) put(w, "]");
}

static void put_node(writer *w, const cr_kernel *k, size_t node, int tightness);

/* "; " or ", " between items: columns first, then a semicolon. */
static void put_separator(writer *w, size_t *items, bool after_columns)
{
    if (*items > 0) put(w, after_columns ? "; " : ", ");
    (*items)++;
}

static void put_parameters(writer *w, const cr_kernel *k, const cri_node *node)
{
    size_t items = 0;
    bool   columns = node->n_columns > 0;
    for (size_t c = 0; c < node->n_columns; c++) {
        put_separator(w, &items, false);
        put_column(w, k->columns[node->column_begin + c].name);
    }
    if (node->op == CRI_OVER) {
        put_separator(w, &items, false);
        if (!node->class->wraps) put(w, "base=");
        put_node(w, k, node->first, 0);
    }
    for (size_t s = 0; node->class->specs[s].shown.name; s++) {
        const cri_spec *spec = &node->class->specs[s];
        bool            setting = spec->role == CRI_SETTING;
        if (!setting && node->n_values[s] == 0) continue;
        put_separator(w, &items, columns);
        columns = false;
        if (spec->role == CRI_WARP && strcmp(spec->shown.name, "a") == 0)
            put(w, "warp=kumaraswamy, ");
        put(w, spec->shown.name);
        put(w, "=");
        if (setting)
            put_number(w, node->setting[s]);
        else
            put_values(w, &k->params[node->param[s]], node->n_values[s]);
    }
    if (node->warp == CRI_WARP_LOG) {
        put_separator(w, &items, columns);
        put(w, "warp=log");
    }
}

static void put_leaf(writer *w, const cr_kernel *k, const cri_node *node)
{
    if (!node->class) {
        put(w, k->hooks[node->hook].name);
        return;
    }
    if (node->class == &cri_kernel_constant) {
        put_values(w, &k->params[node->param[0]], 1);
        return;
    }
    bool empty = node->n_columns == 0 && node->op == CRI_LEAF && node->warp == CRI_PLAIN;
    for (size_t s = 0; empty && node->class->specs[s].shown.name; s++)
        if (node->class->specs[s].role == CRI_SETTING || node->n_values[s]) empty = false;
    put(w, node->class->name);
    if (empty) return;
    put(w, "(");
    put_parameters(w, k, node);
    put(w, ")");
}

/* tightness: 0 anything may stand here, 1 no sum, 2 no sum or product. */
static void put_node(writer *w, const cr_kernel *k, size_t at, int tightness)
{
    const cri_node *node = &k->nodes[at];
    if (node->op == CRI_LEAF || node->op == CRI_OVER) {
        put_leaf(w, k, node);
        return;
    }
    if (node->op == CRI_POWER) {
        put_node(w, k, node->first, 2);
        put(w, "^");
        put_number(w, (double)node->power);
        return;
    }
    bool sum = node->op == CRI_SUM, close = tightness > (sum ? 0 : 1);
    if (close) put(w, "(");
    for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next) {
        if (c != node->first) put(w, sum ? " + " : "*");
        put_node(w, k, c, sum ? 0 : 1);
    }
    if (close) put(w, ")");
}

size_t cr_kernel_print(const cr_kernel *k, char *out, size_t size)
{
    writer w = { out, size, 0 };
    put_node(&w, k, k->n_nodes - 1, 0);
    if (size > 0) out[w.used < size ? w.used : size - 1] = '\0';
    return w.used;
}
