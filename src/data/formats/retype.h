/* retype.h -- the user's word about columns, for sources other than CSV.
 * CSV is read with these options in mind; what comes out of a database or an array is changed
 * afterwards.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_RETYPE_H
#define CREDENCE_DATA_FORMATS_RETYPE_H

#include "read.h"

/* What texts are: levels as they are, or, as in a database whose columns are all of texts, typed by the
 * rules of CSV (csv.h): texts that are all numbers are numbers, and '' is missing. */
typedef enum cri_text_use { CRI_TEXTS_ARE_LEVELS, CRI_TEXTS_ARE_TYPED } cri_text_use;

/* Applies options->names and options->rename; to the columns by their new names options->category (numbers become their shortest text), options->real (texts must be
 * numbers) and options->missing_values (texts, and those that are numbers also by value).  Takes
 * over the table, also on failure; without such options it is given back as it is, else copied.
 * A sparse block stays one, unless one of its columns is to be a category
 * or 0 is to be missing: then it is spread out.  O(cells).  Fails with CR_EDATA for an unknown
 * column, or a text that is not a number, with its row; or CR_ENOMEM. */
cr_status cri_table_retype(cr_ctx *cx, cr_table *table, const cr_read_options *options,
                           cri_text_use texts, cr_table **out_table);

#endif
