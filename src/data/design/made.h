/* made.h -- columns that a design makes of those it reads: functions, products, crossed categories.
 * (Internal header.) */
#ifndef CREDENCE_DATA_DESIGN_MADE_H
#define CREDENCE_DATA_DESIGN_MADE_H

#include "design_block.h"

enum { CRI_MOST_CROSSED = 100000 /* levels of a crossed category */ };

/* Frees how a column is made. */
void cri_made_free(cr_ctx *cx, cri_made *made);

/* The type of a function of a column of this type. */
cr_type cri_function_type(cri_function function, cr_type of);
/* true when it is a function of dates. */
bool cri_function_of_dates(cri_function function);
/* What a function of the calendar gives x days after the origin of a column: a number, or the index
 * of a level; NaN for NaN.  Pure. */
double cri_calendar_value(cri_function function, const cri_design_column *date, double x);
/* f(x); NaN where there is none.  Pure. */
double cri_function_value(cri_term_step step, double x);

/* Writes the levels of a made category of the design: the combinations of those it crosses, the
 * first changing slowest.  CR_EDATA where there are more than CRI_MOST_CROSSED. */
cr_status cri_made_set_levels(cr_ctx *cx, const cr_design *design, cri_design_column *column);

/* Opens the columns that the design has, the first of them matched by name and the others made:
 * rows->columns and what goes with it.  Fails with CR_EDATA, naming the place, where a function has
 * no value or overflows. */
cr_status cri_rows_open_columns(cr_ctx *cx, cri_rows *rows);
void      cri_rows_close_columns(cr_ctx *cx, cri_rows *rows);

/* What a term has in rows begin .. end - 1, whether or not it is one of the design:
 * out[(i - begin) * stride] = (value - shift) / scale.  Pure. */
void cri_rows_fill_values(const cri_rows *rows, const cri_design_term *term, double shift,
                          double scale, size_t begin, size_t end, double *out, size_t stride);

#endif
