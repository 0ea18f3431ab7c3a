/* gp_kernel.c -- kernel expressions over the columns of a design. */
#include "gp_data.h"
#include "gp_fisher.h"
#include "base/context_internal.h"
#include "math/kernel/kernel_internal.h"

#include <string.h>

/* --- names ----------------------------------------------------------------------------------- */

static ptrdiff_t find_column(const void *user, const char *name, cr_kernel_column *out)
{
    const cr_design *design = user;
    ptrdiff_t        place[2] = { 0, 0 };
    for (size_t j = 0; j < design->p; j++) {
        bool code = cri_design_is_code(design, j);
        if (strcmp(cr_design_term_name(design, j), name) == 0) {
            size_t levels =
                code ? design->columns[design->terms[j - design->block.n].column].n_levels : 0;
            *out = (cr_kernel_column){ code ? CR_KERNEL_CATEGORY : CR_KERNEL_NUMBER, levels, code };
            return place[code];
        }
        place[code]++;
    }
    return -1;
}

static const char *column_name(const void *user, size_t i) { return cr_design_term_name(user, i); }

static const char *column_role(const void *user, const char *name)
{
    const cr_design *design = user;
    if (design->target.name && strcmp(design->target.name, name) == 0) return "the target";
    if (design->weights && strcmp(design->weights, name) == 0) return "the weights";
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        if (design->roles[k] && strcmp(design->roles[k], name) == 0)
            return "read by another option";
    return NULL;
}

char *cri_gp_kernel_text(cr_ctx *cx, const cr_kernel *k)
{
    size_t size = cr_kernel_print(k, NULL, 0) + 1;
    char  *text = cr_alloc(cx, size, 1);
    if (text) cr_kernel_print(k, text, size);
    return text;
}

enum { MOST_LENGTHS = 200 }; /* columns with a length-scale of their own, by default */

/* rbf(ard) for the numbers, of many rbf; times hamming for the categories. */
static const char *default_text(size_t numbers, size_t categories)
{
    if (numbers > MOST_LENGTHS) return categories == 0 ? "1*rbf" : "1*rbf*hamming";
    if (categories == 0) return numbers ? "1*rbf(ard)" : "1";
    return numbers ? "1*rbf(ard)*hamming" : "1*hamming";
}

/* Whether fisher(file="...") is followed.  Only in what the user typed: the kernel of a fitted model
 * has the numbers in its place, and whoever loads a model opens no other file. */
typedef enum files { FILES_REFUSED, FILES_READ } files;

static cr_status parse(cr_ctx *cx, const char *text, const cr_design *design, files whether,
                       cr_kernel **out)
{
    cr_kernel_columns columns = { .find = find_column,
                                  .name = column_name,
                                  .user = design,
                                  .count = design->p,
                                  .role = column_role,
                                  .file = whether == FILES_READ ? cri_gp_fisher : NULL };
    size_t            categories;
    cri_gp_shape(design, &columns.numbers, &categories);
    if (!text) text = default_text(columns.numbers, categories);
    return cr_kernel_parse(cx, text, &columns, NULL, 0, out);
}

/* Parses and binds; opt_why: what goes wrong with one that is not positive semi-definite, NULL: nothing. */
static cr_status make_kernel(cr_ctx *cx, const char *text, const cr_design *design, files whether,
                             const char *opt_why, cr_kernel **out)
{
    cr_kernel *k = NULL;
    cr_status  st = parse(cx, text, design, whether, &k);
    if (st != CR_OK) return st;
    if (opt_why && !cr_kernel_is_psd(k)) {
        cr_kernel_free(cx, k);
        cr_fail(cx, CR_EARG, "the kernel '%s' is not positive semi-definite: %s", text, opt_why);
        return cr_fail_hint(cx, "--kernel 'poly(degree=3, c=1)' also uses inner products, and is "
                                "positive semi-definite");
    }
    cri_gp_kernel_bind(k, design);
    *out = k;
    return CR_OK;
}

/* A kernel of all columns of a kind that the data have none of would be the same for all rows. */
static cr_status check_columns(cr_ctx *cx, const cr_kernel *k, const cr_design *design)
{
    size_t count[2];
    cri_gp_shape(design, &count[0], &count[1]);
    for (size_t i = 0; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        if (node->op != CRI_LEAF || !node->class || node->class->kind == CRI_NONE ||
            node->n_columns)
            continue;
        bool numbers = node->class->kind == CR_KERNEL_NUMBER;
        if (count[!numbers]) continue;
        cr_fail(cx, CR_EDATA,
                "the kernel %s acts on columns of %s, but none of the features is one",
                node->class->name, numbers ? "numbers" : "categories");
        return cr_fail_hint(
            cx,
            numbers
                ? "hamming is a kernel for categories; --features chooses the columns"
                : "rbf is a kernel for numbers; --category COLUMN reads a column as a category");
    }
    return CR_OK;
}

static const char NOT_A_COVARIANCE[] = "no Gaussian process has such a covariance";

cr_status cri_gp_kernel(cr_ctx *cx, const char *text, const cr_design *design, cr_kernel **out)
{
    return make_kernel(cx, text, design, FILES_REFUSED, NOT_A_COVARIANCE, out);
}

cr_status cri_gp_kernel_any(cr_ctx *cx, const char *text, const cr_design *design, cr_kernel **out)
{
    return make_kernel(cx, text, design, FILES_REFUSED, NULL, out);
}

cr_status cri_gp_kernel_for(cr_ctx *cx, const char *text, const cr_design *design,
                            const char *opt_why, cr_kernel **out)
{
    cr_kernel *k = NULL;
    cr_status  st = make_kernel(cx, text, design, FILES_READ, opt_why, &k);
    if (st == CR_OK) st = check_columns(cx, k, design);
    if (st == CR_OK)
        *out = k;
    else
        cr_kernel_free(cx, k);
    return st;
}

/* --- texts ----------------------------------------------------------------------------------- */

static const char *text_in_design(const void *user, size_t column, uint32_t code)
{
    return cri_design_text(user, column, code);
}

static const char *text_in_rows(const void *user, size_t column, uint32_t code)
{
    return cri_rows_text(user, column, code);
}

void cri_gp_kernel_bind(cr_kernel *k, const cr_design *design)
{
    if (cr_kernel_reads(k, CR_KERNEL_TEXT))
        cr_kernel_set_names(k, (cr_kernel_names){ text_in_design, design });
}

cr_kernel_names cri_gp_names(const cri_rows *rows)
{
    return (cr_kernel_names){ text_in_rows, rows };
}

static bool is_learned(const cr_kernel *k, size_t node)
{
    for (size_t p = 0; p < k->n_params; p++)
        if (k->params[p].node == node && !k->params[p].fixed) return true;
    return false;
}

cr_status cri_gp_tabulate(cr_ctx *cx, cr_kernel *k, const cr_design *design, bool learn)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < k->n_nodes && st == CR_OK; i++) {
        const cri_node *node = &k->nodes[i];
        bool            leaf = node->op == CRI_LEAF && node->class;
        if (!leaf || node->class->kind != CR_KERNEL_TEXT || (learn && is_learned(k, i))) continue;
        size_t n = cri_gp_codes(design, cri_column_at(k, node, 0));
        if (16 * (double)n * (double)n < (double)cri_memory_left(cx))
            st = cri_kernel_tabulate(cx, k, i, n);
    }
    return st;
}

/* The k-th category is read as texts. */
static void mark_texts(cr_design *design, size_t k)
{
    for (size_t j = 0; j < design->n_terms; j++)
        if (design->terms[j].code && k-- == 0)
            design->columns[design->terms[j].column].texts = true;
}

cr_status cri_gp_shape_texts(cr_ctx *cx, const char *opt_text, cr_design *design)
{
    cr_kernel *k = NULL;
    size_t     d, c;
    if (!opt_text) return CR_OK;
    cr_status st =
        parse(cx, opt_text, design, FILES_READ, &k); /* what it must be is asked where it is used */
    if (st != CR_OK) return st;
    cri_gp_shape(design, &d, &c);
    for (size_t i = 0; i < k->n_nodes && st == CR_OK; i++) {
        const cri_node *node = &k->nodes[i];
        bool            leaf = node->op == CRI_LEAF && node->class;
        if (!leaf || node->class->kind != CR_KERNEL_TEXT) continue;
        if (c == 0)
            st = cr_fail(cx, CR_EDATA, "the kernel %s reads text, but there is no text column",
                         node->class->name);
        else
            mark_texts(design, cri_column_at(k, node, 0));
    }
    cr_kernel_free(cx, k);
    return st;
}

/* --- amplitudes ------------------------------------------------------------------------------ */

/* true when the node, or a factor of it, has a scale of its own. */
static bool has_amplitude(const cr_kernel *k, size_t at)
{
    const cri_node *node = &k->nodes[at];
    if (node->op == CRI_LEAF)
        return node->class == &cri_kernel_constant || node->class == &cri_kernel_white ||
               node->class == &cri_kernel_polynomial || node->class == &cri_kernel_category;
    if (node->op == CRI_OVER && !cri_is_centre(node)) return false;
    for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next)
        if (has_amplitude(k, c)) return true;
    return false;
}

/* The length of the first term of a sum in canonical text: up to " + " outside brackets. */
static size_t term_length(const char *text)
{
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '"') /* a quoted name */
            for (i++; text[i] && text[i] != '"';) i++;
        if (!text[i]) return i;
        depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
        if (depth == 0 && strncmp(text + i, " + ", 3) == 0) return i;
    }
    return strlen(text);
}

/* out = text with 1* before the terms of the root that lack an amplitude. */
static void write_amplitudes(const cr_kernel *k, const char *text, char *out)
{
    const cri_node *root = &k->nodes[k->n_nodes - 1];
    bool            sum = root->op == CRI_SUM;
    for (size_t c = sum ? root->first : k->n_nodes - 1; c != SIZE_MAX; c = k->nodes[c].next) {
        size_t length = sum ? term_length(text) : strlen(text);
        if (!has_amplitude(k, c)) {
            memcpy(out, "1*", 2);
            out += 2;
        }
        memcpy(out, text, length);
        out += length;
        text += length;
        if (*text) {
            memcpy(out, " + ", 3);
            out += 3;
            text += 3;
        }
        if (!sum) break;
    }
    *out = '\0';
}

cr_status cri_gp_kernel_scaled(cr_ctx *cx, const char *text, const cr_design *design,
                               cr_kernel **out_kernel)
{
    cr_status  st = CR_OK;
    cr_kernel *k = NULL;
    char      *plain = NULL, *scaled = NULL;
    size_t     capacity = 0;

    CR_TRY(cri_gp_kernel_for(cx, text, design, NOT_A_COVARIANCE, &k));
    plain = cri_gp_kernel_text(cx, k);
    if (!plain) CR_TRY(CR_ENOMEM);
    capacity = strlen(plain) + 2 * k->n_nodes + 1;
    scaled = cr_alloc(cx, capacity, 1);
    if (!scaled) CR_TRY(CR_ENOMEM);
    write_amplitudes(k, plain, scaled);
    CR_TRY(cri_gp_kernel(cx, scaled, design, out_kernel));
done:
    cr_free(cx, scaled, capacity, 1);
    cri_string_free(cx, plain);
    cr_kernel_free(cx, k);
    return st;
}

bool cri_gp_kernel_has_white(const cr_kernel *k)
{
    for (size_t i = 0; i < k->n_nodes; i++)
        if (k->nodes[i].class == &cri_kernel_white) return true;
    return false;
}
