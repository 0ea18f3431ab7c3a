/* option.h -- every option declared once.
 * A list macro names the options of a model or verb; from it come the struct with their values, the
 * table that parses, checks and prints them, and every surface: flags, help, man pages,
 * completions, Python keywords, the manual.
 *
 *     #define RIDGE_OPTIONS(X)                                                             \
 *         X(real,   lambda, "1",    ">=0",              "penalty on the squared weights", "0.5")  \
 *         X(choice, solver, "auto", "auto|primal|dual", "which system is solved",         "dual")
 *
 *     CR_OPTIONS(ridge_options, ridge_table, RIDGE_OPTIONS);      the struct and its table
 *
 * Columns: kind, field, default, range, help, example.  A range is "" (any), a list of choices
 * "a|b|c", or bounds: ">0", ">=0", "1..10", "0<..<1" ('<' beside the dots leaves the end out); of
 * a text or list, what it names: "COLUMN" of the data, "FILE"; "N", "X": a number, or a word. */
#ifndef CREDENCE_BASE_OPTION_H
#define CREDENCE_BASE_OPTION_H

#include "context.h"

typedef enum cr_option_kind {
    CR_OPTION_END,
    CR_OPTION_flag,   /* bool: true or false                                     */
    CR_OPTION_count,  /* size_t; default "" = not given = CR_COUNT_UNSET         */
    CR_OPTION_real,   /* double, finite; default "" = not given = NaN            */
    CR_OPTION_choice, /* int: index into the choices of the range                */
    CR_OPTION_text,   /* char *, owned; default "" = not given = NULL            */
    CR_OPTION_list    /* char *, owned: items with commas between; repeating adds
                       * more, the default gives way to the first.  An item in
                       * double quotes may hold commas: a,"k,1","a ""b"" c"      */
} cr_option_kind;

#define CR_COUNT_UNSET SIZE_MAX

typedef struct cr_option {
    const char    *name; /* the C and Python spelling, max_iter; the shell writes --max-iter */
    cr_option_kind kind;
    const char    *fallback, *range, *help, *example;
    size_t         offset;
} cr_option;

typedef bool   cr_kind_flag;
typedef size_t cr_kind_count;
typedef double cr_kind_real;
typedef int    cr_kind_choice;
typedef char  *cr_kind_text;
typedef char  *cr_kind_list;

#define CR_OPTION_FIELD(kind, field, fallback, range, help, example) cr_kind_##kind field;
#define CR_OPTION_ROW(type, kind, field, fallback, range, help, example)                           \
    { #field, CR_OPTION_##kind, fallback, range, help, example, offsetof(type, field) },
#define CR_OPTION_LAST                                                                             \
    {                                                                                              \
        NULL, CR_OPTION_END, NULL, NULL, NULL, NULL, 0                                             \
    }
#define CR_OPTIONS_STRUCT(type, LIST)                                                              \
    typedef struct type {                                                                          \
        LIST(CR_OPTION_FIELD)                                                                      \
    } type

/* The table of a struct that CR_OPTIONS_STRUCT declared; `storage` is static or nothing.  The rows
 * find the struct by the name cr_options_here, so a source file has one such table. */
#define CR_OPTION_HERE(...) CR_OPTION_ROW(cr_options_here, __VA_ARGS__)
#define CR_OPTIONS_TABLE(storage, table, type, LIST)                                               \
    typedef type            cr_options_here;                                                       \
    storage const cr_option table[] = { LIST(CR_OPTION_HERE) CR_OPTION_LAST }
/* Both, for one source file alone. */
#define CR_OPTIONS(type, table, LIST)                                                              \
    CR_OPTIONS_STRUCT(type, LIST);                                                                 \
    CR_OPTIONS_TABLE(static, table, type, LIST)

/* A name and its value as text: how every surface hands over what the user asked for. */
typedef struct cr_setting {
    const char *name, *value;
} cr_setting;

/* The row called `name`; '-' and '_' count as the same.  NULL if there is none. */
CR_API const cr_option *cr_option_find(const cr_option *table, const char *name);
/* Fills the struct at `values` with the defaults.  On failure it may still be freed. */
CR_API cr_status cr_options_init(cr_ctx *cx, const cr_option *table, void *values);
/* Parses, checks and stores one value.  Fails with CR_EARG naming the option, value and range;
 * the struct is then as before. */
CR_API cr_status cr_options_set(cr_ctx *cx, const cr_option *table, void *values, const char *name,
                                const char *value);
/* Adds one item to a list option, with quotes around it where its text needs them: how a name goes
 * into a list, whatever characters it has.  Fails with CR_EARG or CR_ENOMEM. */
CR_API cr_status cr_options_add(cr_ctx *cx, const cr_option *table, void *values, const char *name,
                                const char *item);
/* Writes the value of one option as text that cr_options_set reads back to the same value.
 * Returns the length it needs, like snprintf; "" when the option is not given. */
CR_API size_t cr_options_print(const cr_option *option, const void *values, char *out, size_t size);
/* Whether an option has the value it has when nobody sets it. */
CR_API bool cr_options_at_default(const cr_option *option, const void *values);
/* Frees the texts in `values`. */
CR_API void cr_options_free(cr_ctx *cx, const cr_option *table, void *values);

#endif
