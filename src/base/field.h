/* field.h -- what a result holds, declared once, as options are.
 * A table of fields stands beside the code that fills a sheet (sheet.h); from it come the JSON schema,
 * the lists in manual, man page and help, and the check that nothing undeclared is said.
 *
 *     static const cr_field ridge_statistics[] = {
 *         CR_TEXT("solver", 0, "which system was solved"),
 *         CR_MEASURE("residual_sd", "target", CR_FIELD_NULL, "standard deviation of the residuals"),
 *         CR_FIELD_LAST,
 *     };
 */
#ifndef CREDENCE_BASE_FIELD_H
#define CREDENCE_BASE_FIELD_H

#include <stddef.h>

typedef enum cr_field_type {
    CR_FIELD_END,
    CR_FIELD_TEXT,
    CR_FIELD_COUNT, /* a whole number, 0 or more                        */
    CR_FIELD_NUMBER,
    CR_FIELD_FLAG,
    CR_FIELD_TEXTS,      /* an array of texts                              */
    CR_FIELD_OBJECT,     /* with the fields `inner`                        */
    CR_FIELD_ROWS,       /* an array of such objects                       */
    CR_FIELD_NUMBERS,    /* an object: any name to a number or null        */
    CR_FIELD_SCORES,     /* an array of such, with the fields `inner` too  */
    CR_FIELD_WORDS,      /* an object: any name to a text                  */
    CR_FIELD_VALUES,     /* an object: any name to a text, number or null  */
    CR_FIELD_ARRAY,      /* an array of numbers or nulls                   */
    CR_FIELD_ENTRIES,    /* a number or null, or an array of such          */
    CR_FIELD_PLACES,     /* an array of numbers, texts or nulls            */
    CR_FIELD_MATRIX,     /* an array of arrays of numbers or nulls         */
    CR_FIELD_STATISTICS, /* an object of what each class of models declares      */
    CR_FIELD_ANY         /* its help says what; never with CR_FIELD_NULL   */
} cr_field_type;

enum {                              /* marks */
       CR_FIELD_NULL = 1 << 0,      /* may be null                                       */
       CR_FIELD_SOMETIMES = 1 << 1, /* may be absent; its help says when                 */
       CR_FIELD_EITHER = CR_FIELD_NULL | CR_FIELD_SOMETIMES,
       /* What --transform-target means for a number that a model reports (models/core/transform_target.h): */
       CR_FIELD_LOG_SCORE = 1 << 2, /* a log density of all targets                      */
       CR_FIELD_CRITERION = 1 << 3, /* -2 times one, and more: aic, bic                  */
       CR_FIELD_OF_TARGET =
           1 << 4 /* depends on the scale of the target; so does what has a unit of it */
};

typedef struct cr_field {
    const char            *name;
    cr_field_type          type;
    unsigned               marks;
    const char            *unit; /* "target", "target^2", "nats", "seconds"; NULL: a plain number */
    const char            *help;
    const struct cr_field *inner; /* CR_FIELD_OBJECT, CR_FIELD_ROWS, CR_FIELD_SCORES */
} cr_field;

/* clang-format off */
#define CR_TEXT(name, marks, help) { name, CR_FIELD_TEXT, marks, NULL, help, NULL }
#define CR_COUNT(name, marks, help) { name, CR_FIELD_COUNT, marks, NULL, help, NULL }
#define CR_NUMBER(name, marks, help) { name, CR_FIELD_NUMBER, marks, NULL, help, NULL }
#define CR_MEASURE(name, unit, marks, help) { name, CR_FIELD_NUMBER, marks, unit, help, NULL }
#define CR_FLAG(name, marks, help) { name, CR_FIELD_FLAG, marks, NULL, help, NULL }
#define CR_OTHER(type, name, marks, help) { name, CR_FIELD_##type, marks, NULL, help, NULL }
#define CR_INNER(type, name, marks, help, inner) { name, CR_FIELD_##type, marks, NULL, help, inner }
#define CR_FIELD_LAST { NULL, CR_FIELD_END, 0, NULL, NULL, NULL }
/* clang-format on */

#endif
