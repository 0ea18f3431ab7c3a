/* column_names.h -- the names of the columns of data, without reading the data.
 * Of delimited text the first part is looked at, as the reader does (csv.h); a database is asked
 * for one row; other formats are read if the file is not large.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_COLUMN_NAMES_H
#define CREDENCE_DATA_FORMATS_COLUMN_NAMES_H

#include "read.h"

typedef void cri_name_fn(void *user, const char *name);

/* Calls take(user, name) for each column of `path`, in order.  Only regular files are opened. Fails
 * like cr_table_read, and with CR_EDATA for a file that is too large to look into. */
cr_status cri_column_names(cr_ctx *cx, const char *path, const cr_read_options *options,
                           cri_name_fn *take, void *user);

#endif
