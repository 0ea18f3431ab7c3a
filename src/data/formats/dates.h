/* dates.h -- columns of dates: which they are, and their texts as numbers.
 *
 * A column of texts that are all dates or times of ISO 8601 is a column of dates (CR_DATE), or of
 * times (CR_DATETIME) as soon as one has a time of day; options->category keeps one as it is.
 * options->date names others with the format of their texts, COLUMN:FORMAT, or columns whose texts
 * must be of ISO 8601, COLUMN.  Of a stream that can be read twice a first pass decides, as all of a
 * table does; of a pipe its first block.
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
    bool    settled;             /* its type is known */
    bool    dated, timed, texts; /* it has days or times, times, anything else */
    bool    passed_over;         /* its levels, in a first pass */
} cri_date_column;

/* Those of a source. */
typedef struct cri_dates {
    cri_date_column *columns; /* [n] */
    size_t           n;
    size_t           asked;   /* how many of them, the first, options->date names */
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

/* A first pass: notes what the texts of a block are, ... */
cr_status cri_dates_watch(cr_ctx *cx, cri_dates *dates, const cr_read_options *options,
                          const cr_table *block);
/* ... whether the texts of a column may be dates, so that nobody needs to look at its levels, ... */
bool cri_dates_pass_over(cri_dates *dates, const char *column);
/* ... and after the last block which columns are dates; true where others were passed over. */
bool cri_dates_settle(cri_dates *dates);
/* Says so where the texts of a column, sorted levels, look like dates but are not read as such. */
void cri_dates_warn(cr_ctx *cx, const cr_read_options *options, const char *column,
                    const char *const *levels, size_t n);

/* The same for all of one table, which is freed on failure. */
cr_status cri_dates_take_all(cr_ctx *cx, const cr_read_options *options, cr_table **table);

#endif
