/* check.c -- do these rows suit this kernel? */
#include "kernel_internal.h"

#include <math.h>

/* What a number in the c-th column of a leaf must be, and is not; NULL where it suits. */
static const char *find_need(const cri_node *node, size_t c, double x)
{
    bool sd = node->class == &cri_kernel_product && c % 2 == 1;
    return !isfinite(x)                                             ? "finite"
           : node->class->not_negative && x < 0                     ? "at least 0"
           : sd && x <= 0                                           ? "positive, as an sd"
           : node->warp == CRI_WARP_LOG && x <= 0                   ? "positive"
           : node->warp == CRI_WARP_KUMARASWAMY && (x < 0 || x > 1) ? "in 0..1"
                                                                    : NULL;
}

static bool find_fault(const cr_kernel *k, const cri_node *node, const cr_kernel_input *in,
                       cri_kernel_fault *out)
{
    for (size_t c = 0; c < cri_active(node, in); c++) {
        size_t column = cri_column_at(k, node, c);
        for (size_t i = 0; column < in->numbers.cols && i < in->rows; i++) {
            double      x = in->numbers.a[i * in->numbers.stride + column];
            const char *needs = find_need(node, c, x);
            if (!needs) continue;
            *out = (cri_kernel_fault){
                .row = i, .column = column, .value = x, .kernel = node->class->name, .needs = needs
            };
            return true;
        }
    }
    return false;
}

bool cri_kernel_find_fault(const cr_kernel *k, const cr_kernel_input *in, cri_kernel_fault *out)
{
    for (size_t i = 0; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        bool numbers = node->op == CRI_LEAF && node->class && node->class->kind == CR_KERNEL_NUMBER;
        if (numbers && find_fault(k, node, in, out)) return true;
    }
    return false;
}

static cr_status check_numbers(cr_ctx *cx, const cr_kernel *k, const cri_node *node,
                               const cr_kernel_input *in)
{
    size_t n = cri_active(node, in);
    for (size_t s = 0; node->class->specs[s].shown.name; s++)
        if (node->class->specs[s].role != CRI_SETTING && node->n_values[s] > 1 &&
            node->n_values[s] != n &&
            !(node->class == &cri_kernel_fisher && s == 1 && node->n_values[s] == n * n))
            return cr_fail(cx, CR_EARG, "kernel: %s.%s has %zu values, but there are %zu columns",
                           node->class->name, node->class->specs[s].shown.name, node->n_values[s],
                           n);
    bool pairs = node->class == &cri_kernel_product;
    if (pairs && n % 2)
        return cr_fail(
            cx, CR_EARG,
            "kernel: product needs alternating columns of mean and sd, but there are %zu", n);
    for (size_t c = 0; c < n; c++) {
        size_t column = cri_column_at(k, node, c);
        if (column >= in->numbers.cols)
            return cr_fail(cx, CR_EARG, "kernel: %s needs numeric column %zu, but there are %zu",
                           node->class->name, column + 1, in->numbers.cols);
    }
    cri_kernel_fault f;
    if (!find_fault(k, node, in, &f)) return CR_OK;
    cr_fail(cx, CR_EDATA, "kernel: row %zu, column %zu is %g, but %s needs numbers that are %s",
            f.row + 1, f.column + 1, f.value, f.kernel, f.needs);
    if (!isfinite(f.value)) return CR_EDATA;
    return cr_fail_hint(cx, pairs ? "sds must not be standardised: use --scale none"
                                  : "if that is only so after standardising, use --scale none");
}

static cr_status check_categories(cr_ctx *cx, const cr_kernel *k, const cri_node *node,
                                  const cr_kernel_input *in)
{
    bool   bounded = node->class == &cri_kernel_category;
    double levels = node->setting[0];
    if (node->class->one_column && !node->n_columns && in->categories > 1)
        return cr_fail(cx, CR_EARG, "kernel: %s acts on one column, but there are %zu categories",
                       node->class->name, in->categories);
    for (size_t c = 0; c < cri_active(node, in); c++) {
        size_t column = cri_column_at(k, node, c);
        if (column >= in->categories || !in->codes)
            return cr_fail(cx, CR_EARG, "kernel: %s needs category column %zu, but there are %zu",
                           node->class->name, column + 1, in->categories);
        for (size_t i = 0; bounded && i < in->rows; i++)
            if ((double)in->codes[i * in->categories + column] >= levels)
                return cr_fail(
                    cx, CR_EDATA,
                    "kernel: row %zu, category column %zu has level %u, but %s has %g levels",
                    i + 1, column + 1, (unsigned)in->codes[i * in->categories + column] + 1,
                    node->class->name, levels);
    }
    return CR_OK;
}

static cr_status check_texts(cr_ctx *cx, const cr_kernel *k, const cri_node *node,
                             const cr_kernel_input *in)
{
    size_t column = cri_column_at(k, node, 0);
    bool   codes = cri_reads_codes(k, in);
    size_t columns = codes ? in->categories : in->text_columns;
    if (!node->n_columns && columns > 1)
        return cr_fail(cx, CR_EARG,
                       "kernel: %s acts on one column, but there are %zu text columns: name one",
                       node->class->name, columns);
    if (column >= columns || (codes ? !in->codes : !in->texts))
        return cr_fail(cx, CR_EARG, "kernel: %s needs text column %zu, but there are %zu",
                       node->class->name, column + 1, columns);
    for (size_t i = 0; codes && i < in->rows; i++)
        if (!cri_text_of(k, node, in, i))
            return cr_fail(cx, CR_EDATA,
                           "kernel: row %zu, category column %zu has level %u, which has "
                           "no text",
                           i + 1, column + 1, (unsigned)in->codes[i * in->categories + column] + 1);
    return CR_OK;
}

cr_status cr_kernel_check(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *rows)
{
    cr_status st = CR_OK;
    if (!k->reference && cr_kernel_needs_rows(k)) {
        cr_fail(cx, CR_EARG, "kernel: centre(...) takes a mean over rows, but there are none yet");
        CR_TRY(cr_fail_hint(
            cx, "a model uses those it is fitted to; in C, cr_kernel_centre_on sets them"));
    }
    if (rows->numbers.a && rows->numbers.rows != rows->rows)
        CR_TRY(cr_fail(cx, CR_EARG, "kernel: there are %zu rows, but the matrix has %zu",
                       rows->rows, rows->numbers.rows));
    if (rows->numbers.stride < rows->numbers.cols)
        CR_TRY(cr_fail(cx, CR_EARG, "kernel: the rows of the matrix overlap"));
    for (size_t i = k->begin; i < k->n_nodes; i++) {
        const cri_node *node = &k->nodes[i];
        if (node->op != CRI_LEAF || !node->class) continue;
        if (node->class->kind == CR_KERNEL_NUMBER) CR_TRY(check_numbers(cx, k, node, rows));
        if (node->class->kind == CR_KERNEL_CATEGORY) CR_TRY(check_categories(cx, k, node, rows));
        if (node->class->kind == CR_KERNEL_TEXT) CR_TRY(check_texts(cx, k, node, rows));
    }
done:
    return st;
}
