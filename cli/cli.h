/* cli.h -- what the verbs of the program share.
 * A verb declares its options in a table; the parser (args.c) fills them, gathers the settings of
 * models and designs as they were given, and refuses what nobody declared.  Results go through the
 * sink (output.c) to standard output or a file; everything else goes to standard error. */
#ifndef CREDENCE_CLI_H
#define CREDENCE_CLI_H

#include "base/option.h"
#include "base/sheet.h"
#include "data/formats/read.h"
#include "data/stream/stream.h"
#include "models/core/model.h"

typedef enum cli_format { FORMAT_AUTO, FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON } cli_format;
enum { PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_ALWAYS };

/* clang-format off */
#define CLI_GLOBAL_OPTIONS(X)                                                                      \
    X(choice, format,       "auto", "auto|text|csv|json",                                          \
      "form of the result; auto: text on a terminal, csv in a pipe", "json")                       \
    X(flag,   json,         "false", "", "the same as --format json", "")                          \
    X(text,   output,       "", "FILE",                                                            \
      "write the result (fit, update: the model) to this file", "out.csv")                         \
    X(count,  threads,      "0", "0..4096",                                                        \
      "threads to use, 0 for all cores; never changes a result", "2")                              \
    X(flag,   all,          "false", "", "show long tables in full on a terminal too", "")           \
    X(flag,   quiet,        "false", "", "no warnings, no progress", "")                           \
    X(flag,   verbose,      "false", "", "report progress in words", "")                             \
    X(choice, progress,     "auto", "auto|never|always",                                           \
      "progress bar on standard error", "never")                                                   \
    X(text,   time_limit,   "", "", "stop after this long, with the best so far where there is one: 30s, 5m, 2h", "30s") \
    X(text,   memory_limit, "", "", "use at most this much memory: 500M, 2G", "2G")                \
    X(flag,   strict,       "false", "", "treat warnings as errors (exit code 4)", "")          \
    X(flag,   help,         "false", "", "show help for the verb and its options", "")                   \
    X(flag,   version,      "false", "", "print the version", "")
/* clang-format on */
CR_OPTIONS_STRUCT(cli_global, CLI_GLOBAL_OPTIONS);
extern const cr_option cli_global_table[];
/* Of the options of a fit, those that every verb takes: the seed. */
extern const cr_option cli_seed_table[];

enum {                           /* what a verb takes besides its own options */
       VERB_READS = 1 << 0,      /* reads data: the options of readers              */
       VERB_FITS = 1 << 1,       /* its first argument is a model: settings of that */
       VERB_FACTORISES = 1 << 2, /* needs a fast BLAS                               */
       VERB_SAVES = 1 << 3       /* --output is for a model, not for the result     */
};

typedef struct cli cli;

typedef struct cli_verb {
    const char      *name, *usage, *summary;
    const char      *example; /* lines of commands that work on the data in examples/ */
    const cr_option *options; /* its own; NULL for none */
    size_t           options_size;
    unsigned         takes;
    size_t           least, most; /* positional arguments */
    cr_status (*run)(cli *c);
    const cr_field *result; /* what its JSON holds; NULL when there is none */
    enum {
        DESCRIBES_NONE,
        DESCRIBES_MODEL,
        MAY_DESCRIBE_MODEL
    } describes; /* whether it holds what a model says of itself */
} cli_verb;

extern const cli_verb *const cli_verbs[];        /* NULL at the end */
extern const cli_verb *const cli_hidden_verbs[]; /* for programs: not shown */

struct cli {
    cr_ctx         *cx;
    int             argc;
    char          **argv;
    const cli_verb *verb;
    cli_global      global;
    cr_read_options read;
    cr_fit_options  fit;
    void           *own; /* values of the verb's own options */
    char          **args;
    size_t          n_args;
    cr_setting     *settings; /* room for argc; values point into argv */
    size_t          n_settings;
    char           *names; /* room for the names of settings */
    size_t          names_used;

    cli_format format;
    bool       terminal;  /* the result goes to one */
    cri_sheet *said;      /* {"warnings": [...]}, once there was one: see cli_warnings */
    bool       answer_no; /* the result is a negative answer: exit 1 */
    bool       bar_shown;
    double     bar_time;

    struct sink *sink;
};

/* --- args.c ---------------------------------------------------------------------------------- */

/* Fills c from its argv; no verb leaves c->verb NULL. */
cr_status cli_parse(cli *c);
void      cli_free(cli *c);
/* Option tables of a verb in the order they are shown; NULL at the end.  Returns how many. */
enum { CLI_MOST_TABLES = 6 };
size_t cli_tables(const cli_verb *verb, const cr_option *out[CLI_MOST_TABLES]);
/* The model that an argument names, alone or with settings (ridge:lambda=1); NULL if none. */
const cr_model_class *cli_model_named(const char *argument);
/* Fails where the data stand before the model, with the command as it was meant (order.c). */
cr_status cli_check_order(cli *c);
/* A program in the place of a model becomes the model `program` with that setting (program.c). */
void cli_take_program(cli *c);
/* Of the model `program` and a file of CmdStan's JSON: a table without columns of its own, the file as setting
 * `arrays`; else NULL. */
cr_status cli_program_table(cli *c, const char *path, cr_table **out_table);
/* Refuses a formula of R among the arguments, with the command that says the same. */
cr_status cli_check_formula(cli *c);
/* Fails where the model is missing before the data. */
cr_status cli_check_no_model(cli *c);
/* The command line without --NAME; what follows it stays. */
void cli_without_flag(const cli *c, const char *name, char *out, size_t size);
/* What an option of other programs is called here, of those that `has` says there are; NULL where nothing is known. */
const char *cli_other_option(const char *name, bool (*has)(const void *list, const char *name),
                             const void *list);
/* Gives an error the hint that option `name` is called `meant` here. */
cr_status cli_fail_other_option(cli *c, const char *name, const char *meant);
/* "-o" for output, ... or '\0'. */
char cli_letter(const char *option);
/* The shell's spelling of an option name: dashes for underscores. */
const char *cli_spell(const char *name, char out[64]);
/* Of these options of the verb, with blanks between, the first that is not at its default, as the shell
 * spells it; NULL: all are. */
const char     *cli_first_set(const cli *c, const char *names, char out[64]);
const cli_verb *cli_verb_find(const char *name);
/* What stands for its value: N, X, WORD, TEXT, LIST, COLUMN, FILE; "" for a flag. */
const char *cli_value_word(const cr_option *o);
/* The range of its value: bounds or choices, else "". */
const char *cli_range(const cr_option *o);

/* --- output.c -------------------------------------------------------------------------------- */

/* The sink: result text to standard output or, atomically, to the file of --output. */
void out_text(cli *c, const char *format, ...) CR_PRINTF(2, 3);
void out_bytes(cli *c, const char *bytes, size_t size);
/* Nothing more is written: what is to be cannot be made. */
void out_fail(cli *c, cr_status st);
/* Lines of text, each behind two blanks; at most `most` of them. */
void      out_lines(cli *c, const char *text, size_t most);
cr_status out_open(cli *c, const char *opt_path);
cr_status out_close(cli *c, cr_status st);
/* Hands over what was written so far, where that does not have to wait for the end. */
cr_status out_flush(cli *c);

/* A number for people (6 digits) or for programs (all of them). */
const char *out_number(double x, bool all_digits, char buffer[32]);

/* --- render.c: sheets as text or CSV --------------------------------------------------------- */

/* A list of objects as a table, with a column for every name in them; an object as lines. */
void out_rows(cli *c, const cri_sheet *rows);
void out_values(cli *c, const cri_sheet *object);
/* The same tables; on a terminal a long one is cut, with a line that says how to see the rest (cut.c): the first
 * rows, or of the parameters of a model the largest. */
void out_some_rows(cli *c, const cri_sheet *rows);
void out_terms(cli *c, const cri_sheet *rows);
/* A table of one row. */
void out_row(cli *c, const cri_sheet *object);
/* {"family": "beta", "a": 2, "b": 3} as beta(a=2, b=3); long lists are cut. */
void out_named(cli *c, const cri_sheet *object);

/* A number in a table, where what has no end is "inf". */
void cli_put_cell(cri_sheet *row, const char *name, double x);

/* A result in both its forms, an object for JSON and rows for tables, in one sheet. */
typedef struct cli_result {
    cri_sheet *whole, *object, *rows;
    bool       lines; /* there is one row, which text shows as lines */
    bool       cut;   /* the table may be long: a terminal shows the first rows */
} cli_result;
cli_result cli_result_new(cli *c);
/* What stands above the table in text. */
void cli_result_title(cli_result r, const char *format, ...) CR_PRINTF(2, 3);
/* Opens the output once the result is whole and, under --strict, without warnings. */
cr_status cli_result_open(cli *c, cli_result r);
/* That, and the result of the verb in the form asked for. */
cr_status cli_result_print(cli *c, cli_result r);
void      cli_result_free(cli_result r);

/* One CSV field, quoted where it must be. */
void out_csv_field(cli *c, const char *text);
/* How many columns of a terminal a text takes: code points, not bytes. */
size_t out_width(const char *text);

/* --- json.c ---------------------------------------------------------------------------------- */

/* A result as JSON, with its schema and the warnings: one line per member, and per item of its lists of
 * objects.  Bytes that are not UTF-8 become U+FFFD. */
void out_result(cli *c, const char *schema, const cri_sheet *object);
/* The same with one more member at its end, a list too long to build: begin, items, end. */
void out_result_begin(cli *c, const char *schema, const cri_sheet *object, const char *list);
void out_result_item(cli *c, const cri_sheet *value, bool first);
void out_result_end(cli *c);
/* The same where rows come before the warnings about them are known: these stand at the end. */
void out_result_begin_rows(cli *c, const char *schema, const cri_sheet *object, const char *list);
/* The end of such a list, and the warnings. */
void out_result_end_rows(cli *c);
/* A value on a line of its own. */
void out_result_line(cli *c, const cri_sheet *value);
/* The fields that every result has; those of fit and update besides what the model says (cmd_fit.c). */
extern const cr_field result_common[], result_fit[];

/* --- memory.c -------------------------------------------------------------------------------- */

/* To be called before all else. */
void cli_prepare_memory(void);
/* The memory of the program's context. */
extern const cr_allocator cli_allocator;
/* Memory for the program itself, to be freed with free; where there is none, the program ends. */
void *cli_allocate(size_t size);

/* --- terminal.c ------------------------------------------------------------------------------ */

/* What people are shown for the character at text, which is not its end: *out_size bytes.  Of the
 * control characters those in `kept` stay, such as "\n\t".  Returns how many bytes it had. */
size_t cli_shown(const char *text, const char *kept, const char **out, size_t *out_size);
/* The same of a whole text, to the result. */
void out_safe(cli *c, const char *text, const char *kept);
/* So many bytes of a text to standard error, on one line. */
void cli_print_safe(const char *text, size_t length);

/* --- messages.c ------------------------------------------------------------------------------ */

void cli_print_error(cli *c);
/* A word of a command, such that a shell reads it back; returns its length, as snprintf does. */
size_t cli_quote(const char *text, char *out, size_t size);
int    cli_exit_code(cr_status st);
/* A line on standard error that is no warning: what happened, and was perhaps not expected. */
void cli_notice(cli *c, const char *text);
void cli_watch(cli *c); /* log, progress, Ctrl-C */
/* A list of texts, each once. */
cri_sheet *cli_warnings(cli *c);
/* All is done and said: a request to stop finds no work any more. */
void cli_unwatch(void);
/* Ends the program with this line and the exit code of the status, from anywhere, also a signal
 * handler: what is half done is left, but no file of it. */
void cli_end_at_once(const char *line, cr_status st) __attribute__((noreturn));
/* The work has heeded a request to stop, and what it does now may take its time. */
void cli_stop_is_heeded(void);
void cli_clear_progress(cli *c);
/* Standard streams that are closed become such that fail, so that no file takes their place. */
void cli_guard_streams(void);
/* Ends a wait for data when the time is over.  After cli_watch. */
void cli_set_alarm(double seconds);
/* Of a clock that only runs forward. */
/* true where the environment asks for the locale C or POSIX: text figures are then of ASCII. */
bool   cli_locale_is_c(void);
double cli_seconds(void);
/* Parses "30s", "2G".  Fails with CR_EARG. */
cr_status cli_parse_time(cli *c, const char *text, double *out_seconds);
cr_status cli_parse_size(cli *c, const char *text, size_t *out_bytes);

/* --- shared by verbs ------------------------------------------------------------------------- */

bool cli_ends_with(const char *text, const char *end);
/* Can it be set in a fit of the model: an option of its own, of the design or of any fit? */
bool cli_takes_setting(const cr_model_class *m, const char *name);
/* Reads the data file argument `index`, taking the categories of a fitted model as such. */
cr_status cli_read_data(cli *c, size_t index, const cr_model *opt_model, cr_table **out_table);
/* The parameters of a description as a table; where there are none, the numbers among its
 * statistics. */
void cli_print_parameters(cli *c, const cri_sheet *description);
/* As cli_read_data; a header alone is a table without rows. */
cr_status cli_read_rows(cli *c, size_t index, const cr_model *model, cr_table **out_table);
/* The same as a stream of blocks of `rows` rows.  The target of a model that only classifies is a
 * category, so that all its classes are known before the first block.  A pipe is stored first where the
 * model to fit goes through it several times. */
cr_status cli_open_stream(cli *c, size_t index, const cr_model *opt_model, size_t rows,
                          cr_stream **out_stream);
/* Whether the path is of something that can be read once: a pipe, also by its name, or a device. */
bool cli_is_pipe(const char *path);
/* As cr_stream_open, of a pipe whose bytes are stored in $TMPDIR as long as the stream lasts. */
cr_status cli_open_stored(cli *c, const char *path, size_t rows, cr_stream **out_stream);
/* The same for a fitted model that predicts: only the columns it reads, and those that are carried along, are read,
 * nothing is read twice, and memory is that of a block. */
cr_status cli_open_rows(cli *c, size_t index, const cr_model *model, char *const *carried,
                        size_t n_carried, size_t rows, cr_stream **out_stream);
/* Reads the model file argument `index`. */
cr_status cli_read_model(cli *c, size_t index, cr_model **out_model);
/* Reads whichever of the two is in the argument `index`; the other one is left as it was. */
cr_status cli_read_any(cli *c, size_t index, cr_table **out_table, cr_model **out_model);
/* "regression, classification" */
const char *cli_tasks(unsigned tasks, char out[128]);
/* The settings, as far as they can be checked before there are data. */
cr_status cli_check_settings(cli *c);
/* Fails where `path` can be seen not to take the output, before any work is done; also where it is
 * one of the files to be read, from argument `first` on. */
cr_status cli_check_output(cli *c, const char *path, size_t first);
/* Saves a model where --output says and prints what it has learned (cmd_fit.c); one that is not to
 * be trusted under --strict is neither saved nor printed.  `schema` names the result. */
cr_status cli_deliver_model(cli *c, const cr_model *model, const char *schema);
/* Where the verb has the option and it is given, adds the exponentials of the coefficients to a description.  Fails
 * with CR_EARG where they are not the logarithm of anything. */
#define EXP_OPTION(X)                                                                              \
    X(flag, exp, "false", "",                                                                      \
      "also show the exponential of each coefficient and its interval: odds ratios, ratios of "    \
      "means",                                                                                     \
      "")
cr_status cli_put_exp(cli *c, cri_sheet *description);
/* Prints such a description as text: summary lines, statistics, parameters. */
void cli_print_model(cli *c, const cri_sheet *description);
/* A table under a title, nothing where there are no rows. */
void cli_print_rows(cli *c, const char *title, const cri_sheet *rows);
/* Saves the model where -o says, then prints what was learned: a reader of standard output who leaves
 * takes nothing from the file.  For "-" the model itself goes to standard output, and nothing is
 * printed. */
cr_status cli_print_and_save(cli *c, const cr_model                                  *opt_model,
                             cr_status (*print)(cli *c, const void *arg), const void *arg);
/* CR_ENUMERIC under --strict when there were warnings. */
cr_status cli_check_strict(cli *c);
/* Help of a verb (NULL: of the program). */
void cli_print_help(cli *c, const cli_verb *verb);

#endif
