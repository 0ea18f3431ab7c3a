/* gp_centre.h -- centre(...) in the kernels of models: the rows that it is about, bound and kept in
 * files.  A row of weight 2 counts as two.  All leave a kernel without centre(...) as it is.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_KERNEL_INPUTS_GP_CENTRE_H
#define CREDENCE_MODELS_KERNEL_INPUTS_GP_CENTRE_H

#include "gp_data.h"

/* Takes the inputs of data, by the weights of the rows they come from: group [rows] tells the input
 * of each row of weight > 0; NULL: by 1 / r. */
cr_status cri_gp_centre(cr_ctx *cx, cr_kernel *k, const cri_gp_data *data, const cri_rows *opt_rows,
                        const size_t *opt_group);

/* --- in model files -------------------------------------------------------------------------- */

/* clang-format off */
#define CRI_GP_CENTRE_ROWS(MEMBER)                                                                 \
    MEMBER(count,  rows,       (),                 ">0 as:centre_rows",      "of centre(...)")     \
    MEMBER(count,  numbers,    (),                 "as:centre_numbers",      "their columns")      \
    MEMBER(count,  categories, (),                 "as:centre_categories",   "likewise")           \
    MEMBER(vector, weights,    (rows),             ">=0 as:centre_weights",  "of the rows")        \
    MEMBER(matrix, X,          (rows, numbers),    "as:centre_X",            "their numbers")      \
    MEMBER(codes,  codes,      (rows, categories), "as:centre_codes",        "their levels")
/* clang-format on */
/* Zeroed of a kernel without centre(...). */
CRI_RECORD(cri_gp_centre_rows, CRI_GP_CENTRE_ROWS);
extern const cri_member cri_gp_centre_rows_record[];

/* What files keep of a kernel: its canonical text, and the rows of centre(...). */
cr_status cri_gp_kernel_keep(cr_ctx *cx, const cr_kernel *k, char **out_text,
                             cri_gp_centre_rows *out_rows);
/* The kernel of it, with its means; CR_EARG where text, rows, inputs and design do not suit each
 * other. */
cr_status cri_gp_kernel_restore(cr_ctx *cx, const char *text, const cri_gp_centre_rows *rows,
                                const cr_kernel_input *inputs, const cr_design *design,
                                cr_kernel **out_kernel);
/* The same, also of one that is not positive semi-definite. */
cr_status cri_gp_kernel_restore_any(cr_ctx *cx, const char *text, const cri_gp_centre_rows *rows,
                                    const cr_kernel_input *inputs, const cr_design *design,
                                    cr_kernel **out_kernel);
/* Whether the codes [n x c] are levels of the categories of the design. */
bool cri_gp_codes_fit(const cr_design *design, const uint32_t *codes, size_t n, size_t c);

#endif
