/* number_texts.h -- columns that are texts although most of their values are numbers.
 * A column of texts is told, with the reason and the option that helps, where its whole numbers would
 * lose digits as doubles; where more than half of its values are numbers and the others are not ('-',
 * 'n/a', '12 kg'); and where all are numbers, but with different signs or in different styles; and where all are plain
 * numbers, which in JSON are texts when they are in quotes.  Columns of options->category are meant to be texts.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_NUMBER_TEXTS_H
#define CREDENCE_DATA_FORMATS_NUMBER_TEXTS_H

#include "data/bytes/read_options.h"
#include "data/table/table.h"

/* Warns of such columns of a table, after its dates have been found; quoted: it was JSON.  Cost: the
 * levels, and of columns with numbers among them the rows. */
cr_status cri_warn_of_number_texts(cr_ctx *cx, const cr_read_options *options, bool quoted,
                                   const cr_table *table);
/* The same by the levels of one column of a stream, where rows are not counted. */
cr_status cri_warn_of_number_levels(cr_ctx *cx, const cr_read_options *options, bool quoted,
                                    const char *column, const char *const *levels, size_t n);

#endif
