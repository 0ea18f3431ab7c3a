/* dates.h -- columns of dates: which they are, and their texts as numbers.
 *
 * A column of texts that are all dates or times of ISO 8601 is a column of dates (CR_DATE), or of
 * times (CR_DATETIME) as soon as one has a time of day; options->category keeps one as it is.
 * options->date names others with the format of their texts, COLUMN:FORMAT, or columns whose texts
 * must be of ISO 8601, COLUMN.  What a stream begins with decides for all its blocks.
 * (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_DATES_H
#define CREDENCE_DATA_FORMATS_DATES_H

#include "read.h"
#include "base/scratch.h"
#include "data/table/date.h"

/* One column of dates. */
typedef struct cri_date_column {
    char   *name, *format; /* format NULL: ISO 8601 */
    cr_type type;
    bool    settled; /* its type is known */
} cri_date_column;

/* Those of a source. */
typedef struct cri_dates {
    cri_date_column *columns; /* [n] */
    size_t           n;
    bool             settled; /* no others will be found */
} cri_dates;

/* The options with the columns of options->date among the categories, so that their texts are kept;
 * what was made is in the arena.  CR_EARG where a format cannot be. */
cr_status cri_dates_ask(cr_scratch *s, const cr_read_options *options, cr_read_options *out);

/* Makes the columns of dates of a table numbers, in place; finds them in the first table.  Fails with
 * CR_EDATA, naming the place, where a text is not a date, or is one that there is not; warns of
 * columns that only look like dates. */
cr_status cri_dates_take(cr_ctx *cx, cri_dates *dates, const cr_read_options *options,
                         cr_table *table);
void      cri_dates_free(cr_ctx *cx, cri_dates *dates);

/* The same for all of one table, which is freed on failure. */
cr_status cri_dates_take_all(cr_ctx *cx, const cr_read_options *options, cr_table **table);

#endif
