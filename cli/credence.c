/* credence.c -- the program: the table of verbs, and the way from main to one of them. */
#include "cli.h"
#include "math/dense/blas.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The verbs, in the order of the help. */
/* clang-format off */
#define VERBS(X)  \
    X(fit)        \
    X(predict)    \
    X(evaluate)   \
    X(sample)     \
    X(update)     \
    X(cv)         \
    X(compare)    \
    X(tune)       \
    X(describe)   \
    X(models)     \
    X(check)      \
    X(convert)    \
    X(query)      \
    X(infer)      \
    X(denoise)    \
    X(dist)       \
    X(info)       \
    X(plot)       \
    X(version)    \
    X(help)       \
    X(completion)
/* clang-format on */

#define DECLARED(name) extern const cli_verb verb_##name;
#define LISTED(name) &verb_##name,
VERBS(DECLARED)
extern const cli_verb verb_complete, verb_document;

const cli_verb *const cli_verbs[] = { VERBS(LISTED) NULL };
const cli_verb *const cli_hidden_verbs[] = { &verb_complete, &verb_document, NULL };

static const char BLAS_THREADS[] = "OPENBLAS_NUM_THREADS";
static bool       asked_for_one_thread;

/* We run BLAS with one thread inside our own; without this OpenBLAS would start threads of its own,
 * which spin before they sleep.  A constructor, so that it comes before OpenBLAS's. */
static void __attribute__((constructor(101))) ask_for_one_thread(void)
{
    asked_for_one_thread = !getenv(BLAS_THREADS) && setenv(BLAS_THREADS, "1", 0) == 0;
}

/* OpenBLAS chooses its kernels when it is loaded.  Where they are older than this CPU,
 * only a fresh start with OPENBLAS_CORETYPE set helps; worth it for verbs that factorise. */
static void restart_with_fast_blas(char **argv)
{
    cr_blas_info blas = cr_blas_query();
    if (!blas.slow || !blas.better[0] || getenv("OPENBLAS_CORETYPE")) return;
    setenv("OPENBLAS_CORETYPE", blas.better, 1);
    execv("/proc/self/exe", argv); /* if it fails, we go on, only slower */
}

static cr_status apply_limits(cli *c)
{
    cr_status st = CR_OK;
    double    seconds = 0;
    size_t    bytes = 0;
    cr_ctx_set_threads(c->cx, c->global.threads);
    if (c->global.time_limit) {
        CR_TRY(cli_parse_time(c, c->global.time_limit, &seconds));
        cr_ctx_set_time_limit(c->cx, seconds);
        cli_set_alarm(seconds);
    }
    if (c->global.memory_limit) {
        CR_TRY(cli_parse_size(c, c->global.memory_limit, &bytes));
        cr_ctx_set_memory_limit(c->cx, bytes);
    }
done:
    return st;
}

static void choose_format(cli *c)
{
    bool saves = c->verb && c->verb->takes & VERB_SAVES;
    bool to_file = !saves && c->global.output && strcmp(c->global.output, "-") != 0;
    bool terminal = !to_file && isatty(STDOUT_FILENO);
    c->format = c->global.json ? FORMAT_JSON : (cli_format)c->global.format;
    c->terminal = terminal;
    if (c->format == FORMAT_AUTO) c->format = terminal ? FORMAT_TEXT : FORMAT_CSV;
}

/* The first argument that is a file to be read and must not be the output as well: for fit and cv
 * the first is the name of a model, and update may put the new model in the place of the old. */
static size_t first_input(const cli_verb *v) { return v->takes & (VERB_FITS | VERB_SAVES) ? 1 : 0; }

/* --version and --help, whatever else there is. */
static cr_status print_about(cli *c)
{
    cr_status st = CR_OK;
    if (c->global.version && c->format == FORMAT_JSON) return verb_version.run(c);
    CR_TRY(out_open(c, NULL));
    if (c->global.version)
        out_text(c, "credence %s\n", CREDENCE_VERSION);
    else
        cli_print_help(c, c->verb);
done:
    return st;
}

static cr_status run(cli *c)
{
    cr_status st = CR_OK;
    CR_TRY(cli_parse(c));
    bool about = c->global.help || c->global.version || !c->verb;
    if (!about && c->verb->takes & VERB_FACTORISES) restart_with_fast_blas(c->argv);
    cli_watch(c);
    CR_TRY(apply_limits(c)); /* after the restart, which a running timer would outlive */
    choose_format(c);
    if (about) {
        CR_TRY(print_about(c));
        goto done;
    }
    CR_TRY(cli_check_order(c));
    if (c->global.output) CR_TRY(cli_check_output(c, c->global.output, first_input(c->verb)));
    CR_TRY(c->verb->run(c));
done:
    return out_close(c, st);
}

int main(int argc, char **argv)
{
    if (asked_for_one_thread) unsetenv(BLAS_THREADS); /* not for commands that we start */
    cli_guard_streams();
    cli_prepare_memory();
    cli c = { .argc = argc, .argv = argv };
    if (cr_ctx_new(&cli_allocator, &c.cx) != CR_OK || !(c.said = cri_sheet_new(c.cx)))
        cli_end_at_once("credence: error: out of memory\n", CR_ENOMEM);
    cr_status st = run(&c);
    cli_clear_progress(&c);
    if (st != CR_OK) cli_print_error(&c);
    if (st == CR_ENOMEM && cr_error_status(c.cx) == CR_EINTERRUPTED)
        st = CR_EINTERRUPTED; /* while memory was made ready */
    int code = st == CR_OK && c.answer_no ? 1 : cli_exit_code(st);
    cli_unwatch();
    cli_free(&c);
    cr_ctx_free(c.cx);
    return code;
}
