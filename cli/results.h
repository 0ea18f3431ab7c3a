/* results.h -- what the JSON of each verb holds, declared once.
 * A table beside the verb; from it come the JSON schema, the section on JSON of manual and man
 * page, and the test that nothing undeclared is printed.  `schema` and `warnings`, which every
 * result has, are not repeated in the tables. */
#ifndef CREDENCE_CLI_RESULTS_H
#define CREDENCE_CLI_RESULTS_H

typedef enum cli_type {
    FIELD_END,
    FIELD_TEXT,
    FIELD_COUNT, /* a whole number, 0 or more                        */
    FIELD_NUMBER,
    FIELD_FLAG,
    FIELD_TEXTS,   /* an array of texts                              */
    FIELD_OBJECT,  /* with the fields `inner`                        */
    FIELD_ROWS,    /* an array of such objects                       */
    FIELD_NUMBERS, /* an object: any name to a number or null        */
    FIELD_SCORES,  /* an array of such, with the fields `inner` too  */
    FIELD_WORDS,   /* an object: any name to a text                  */
    FIELD_VALUES,  /* an object: any name to a text, number or null  */
    FIELD_ARRAY,   /* an array of numbers or nulls                   */
    FIELD_ENTRIES, /* a number or null, or an array of such          */
    FIELD_PLACES,  /* an array of numbers, texts or nulls            */
    FIELD_MATRIX,  /* an array of arrays of numbers or nulls         */
    FIELD_ANY      /* its help says what; never with FIELD_NULL      */
} cli_type;

enum {                          /* marks */
       FIELD_NULL = 1 << 0,     /* may be null                                       */
       FIELD_SOMETIMES = 1 << 1 /* may be absent; its help says when                 */
};

typedef struct cli_field {
    const char             *name;
    cli_type                type;
    unsigned                marks;
    const char             *help;
    const struct cli_field *inner; /* FIELD_OBJECT, FIELD_ROWS, FIELD_SCORES */
} cli_field;

#define FIELD_LAST                                                                                 \
    {                                                                                              \
        0                                                                                          \
    }

/* The two that every result has. */
extern const cli_field result_common[];

extern const cli_field result_fit[], result_update[], result_predict[], result_evaluate[],
    result_sample[], result_cv[], result_compare[], result_tune[], result_describe[],
    result_models[], result_check[], result_query[], result_infer[], result_denoise[],
    result_dist[], result_info[], result_plot[], result_version[], result_help[];

#endif
