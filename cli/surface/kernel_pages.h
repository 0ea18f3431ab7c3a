/* kernel_pages.h -- credence models kernels [KERNEL]: what expressions may hold. */
#ifndef CREDENCE_CLI_SURFACE_KERNEL_PAGES_H
#define CREDENCE_CLI_SURFACE_KERNEL_PAGES_H

#include "../cli.h"

/* What the JSON of one holds. */
extern const cr_field kernel_fields[];

/* The list of kernels, or the page of the one that is named.  Fails with CR_EARG when there is none
 * of that name. */
cr_status cli_kernels(cli *c, const char *opt_name);

#endif
