/* sheet.h -- a result on its way to people and programs: typed values under names.
 * Models, networks and verbs fill sheets; text, CSV and JSON are made of them by the renderers.  What a
 * sheet may hold is declared in a table of fields (field.h).
 *
 *     cri_sheet *s = cri_put_object(out, "statistics");
 *     cri_put_text(s, "solver", "cholesky");
 *     cri_put_real(s, "r2", 0.97);
 *     ...
 *     return cri_sheet_status(out);
 *
 * A sheet remembers its first failure, so that filling needs one check at the end; until it is freed
 * nothing that was put into it moves.  Names and texts are copied.  (Internal header.) */
#ifndef CREDENCE_BASE_SHEET_H
#define CREDENCE_BASE_SHEET_H

#include "context.h"
#include "field.h"

#include <stdarg.h>

typedef enum cri_sheet_kind {
    CRI_SHEET_NULL,
    CRI_SHEET_FLAG,
    CRI_SHEET_COUNT,
    CRI_SHEET_REAL, /* finite */
    CRI_SHEET_TEXT,
    CRI_SHEET_LIST,
    CRI_SHEET_OBJECT
} cri_sheet_kind;

/* A value: of an object its members are values with names, of a list values without. */
typedef struct cri_sheet cri_sheet;

/* An empty object; NULL where memory ran out. */
cri_sheet *cri_sheet_new(cr_ctx *cx);
void       cri_sheet_free(cri_sheet *opt_root);
/* Takes all out again; the memory stays for what comes next. */
void cri_sheet_clear(cri_sheet *root);
/* Of the whole that a value belongs to; CR_ENOMEM of NULL. */
cr_status cri_sheet_status(const cri_sheet *opt_s);

/* --- filling -----------------------------------------------------------------------------------
 * The name is NULL in a list.  Nothing happens once something has failed, and nothing to NULL. */

void cri_put_null(cri_sheet *s, const char *name);
void cri_put_flag(cri_sheet *s, const char *name, bool value);
void cri_put_count(cri_sheet *s, const char *name, size_t value);
/* What is not finite is null. */
void cri_put_real(cri_sheet *s, const char *name, double value);
/* NULL is null. */
void cri_put_text(cri_sheet *s, const char *name, const char *opt_text);
void cri_put_textf(cri_sheet *s, const char *name, const char *format, ...) CR_PRINTF(3, 4);
void cri_put_text_list(cri_sheet *s, const char *name, const char *format, va_list args)
    CR_PRINTF(3, 0);
/* A list of numbers. */
void cri_put_reals(cri_sheet *s, const char *name, const double *values, size_t n);
/* The new part, for what comes into it; NULL once something has failed. */
cri_sheet *cri_put_list(cri_sheet *s, const char *name);
cri_sheet *cri_put_object(cri_sheet *s, const char *name);
/* The texts of a list as one, with something between them. */
void cri_put_joined(cri_sheet *s, const char *name, const cri_sheet *list, const char *between);
/* Adds to a number that is there. */
void cri_sheet_add(cri_sheet *opt_s, double more);
/* A copy of a value with all that is in it; NULL is null. */
void cri_put_copy(cri_sheet *s, const char *name, const cri_sheet *opt_value);

/* --- reading -----------------------------------------------------------------------------------
 * Of NULL there is nothing.  Parts may be added to, where the whole may. */

cri_sheet_kind cri_sheet_kind_of(const cri_sheet *opt_s);
/* The member of this name; NULL where there is none. */
cri_sheet *cri_sheet_get(const cri_sheet *opt_s, const char *name);
/* Members of an object or items of a list, one after another. */
cri_sheet *cri_sheet_first(const cri_sheet *opt_s);
cri_sheet *cri_sheet_next(const cri_sheet *opt_s);
size_t     cri_sheet_size(const cri_sheet *opt_s);
/* The name of a member; NULL of an item. */
const char *cri_sheet_name(const cri_sheet *s);
/* The number, NaN where it is none; the text, NULL where it is none; true where that is the value. */
double      cri_sheet_real(const cri_sheet *opt_s);
size_t      cri_sheet_count(const cri_sheet *opt_s); /* 0 where it is no whole number */
const char *cri_sheet_text(const cri_sheet *opt_s);
bool        cri_sheet_is_true(const cri_sheet *opt_s);

/* The first fault of an object against its declaration, in words; false where there is none. */
bool cri_sheet_find_fault(const cri_sheet *object, const cr_field *fields, char *out, size_t size);

/* --- JSON (sheet_json.c) --------------------------------------------------------------------- */

/* Where the text goes, piece by piece. */
typedef struct cri_sheet_sink {
    void (*put)(void *arg, const char *bytes, size_t n);
    void *arg;
} cri_sheet_sink;

/* A value as JSON.  `depth` groups are open around it: members and items of the outer two levels stand
 * on lines of their own, everything deeper on one line.  Numbers have as many digits as it takes to
 * read them back; bytes that are not UTF-8 become U+FFFD. */
void cri_sheet_write(const cri_sheet_sink *out, const cri_sheet *value, size_t depth);
void cri_sheet_write_text(const cri_sheet_sink *out, const char *text);
/* What stands between the parts of a group: a comma unless it is the first, and a new line if asked. */
void cri_sheet_write_gap(const cri_sheet_sink *out, bool first, bool line, size_t depth);
/* The JSON of a sheet as one text, from cr_alloc with length + 1 bytes. */
cr_status cri_sheet_to_json(cr_ctx *cx, const cri_sheet *sheet, char **out_text);

#endif
