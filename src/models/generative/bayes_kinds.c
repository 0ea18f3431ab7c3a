/* bayes_kinds.c -- which distribution each column has: --numbers and --bandwidth. */
#include "bayes_columns.h"

static const char *const    kind_names[] = { "gaussian", "kernel", "multinomial", "bernoulli",
                                             "poisson" };
static const cri_kind_names kinds = { "numbers", kind_names, sizeof kind_names / sizeof *kind_names,
                                      CRI_NB_BERNOULLI };

static cr_status take_width(cr_ctx *cx, const cr_design *d, size_t column, char *value, void *arg)
{
    cri_nb *m = arg;
    double  width = 0;
    if (!cri_text_number(value, &width) || !(width > 0)) {
        cr_fail(cx, CR_EARG, "--bandwidth: '%s' is not a number above 0", value);
        return cr_fail_hint(cx, "for example --bandwidth 0.3, or area=5,rooms=0.5");
    }
    for (size_t j = 0; j < m->p; j++)
        if (column == CRI_ALL_COLUMNS || cri_term_column(d, j) == column) m->width[j] = width;
    return CR_OK;
}

cr_status cri_nb_read_kinds(cr_ctx *cx, const cr_design *d, const char *numbers,
                            const char *bandwidth, cri_nb *m)
{
    cr_status st = CR_OK;
    for (size_t j = 0; j < m->p; j++) {
        cr_type type = cr_design_column_type(d, cri_term_column(d, j));
        m->kind[j] = type == CR_CATEGORY  ? CRI_NB_CATEGORY
                     : type == CR_BOOLEAN ? CRI_NB_BERNOULLI
                                          : CRI_NB_GAUSSIAN;
        m->threshold[j] = 0;
    }
    CR_TRY(cri_column_kinds(cx, d, numbers, &kinds, m->kind, m->threshold));
    CR_TRY(cri_column_items(cx, d, "bandwidth", bandwidth, take_width, m));
    for (size_t j = 0; j < m->p; j++) {
        cri_nb_kind kind = cri_nb_kind_of(m, j);
        m->first[j] = kind == CRI_NB_KERNEL ? m->kernels : m->L;
        m->kernels += kind == CRI_NB_KERNEL;
        m->L += cri_term_levels(d, j);
    }
    m->cells = m->kernels * m->K;
    m->ends = m->cells + 1;
done:
    return st;
}
