/* messages.c -- what goes to standard error: failures, warnings, progress; and Ctrl-C. */
#include "cli.h"
#include "base/number.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cli_exit_code(cr_status st)
{
    switch (st) {
    case CR_OK: return 0;
    case CR_EARG:
    case CR_EUNSUPPORTED: return 2;
    case CR_EDATA: return 3;
    case CR_ENUMERIC: return 4;
    case CR_EIO: return 5;
    case CR_ENOMEM: return 6;
    case CR_EINTERRUPTED: return 130;
    }
    return 70;
}

/* --- failures -------------------------------------------------------------------------------- */

static bool needs_quotes(const char *text)
{
    return !*text || strpbrk(text, " \t\n*?[]{}()<>|&;$`\"'\\!#~") != NULL;
}

static void print_word(const char *text)
{
    if (needs_quotes(text)) fprintf(stderr, " '%s'", text);
    else fprintf(stderr, " %s", text);
}

/* The command line with the unknown word replaced by the nearest known one; "" if it is not there. */
static void print_corrected(const cli *c, const char *unknown, const char *nearest)
{
    char dashed_unknown[300], dashed_nearest[300], spelled[64];
    snprintf(dashed_unknown, sizeof dashed_unknown, "--%s", unknown);
    snprintf(dashed_nearest, sizeof dashed_nearest, "--%s", cli_spell(nearest, spelled));
    int found = 0;
    for (int i = 1; i < c->argc; i++)
        found += strcmp(c->argv[i], unknown) == 0 || strcmp(c->argv[i], dashed_unknown) == 0;
    if (found != 1) return;
    fputs("  credence", stderr);
    for (int i = 1; i < c->argc; i++) {
        const char *a = c->argv[i];
        if (strcmp(a, unknown) == 0) a = nearest;
        else if (strcmp(a, dashed_unknown) == 0) a = dashed_nearest;
        print_word(a);
    }
}

void cli_print_error(cli *c)
{
    cli_clear_progress(c);
    fprintf(stderr, "credence: error: %s\n", cr_error(c->cx));
    for (const char *line = cr_error_notes(c->cx); *line;) {
        size_t n = strcspn(line, "\n");
        fprintf(stderr, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (!cr_error_hint(c->cx)[0]) return;
    fprintf(stderr, "  hint: %s", cr_error_hint(c->cx));
    if (cr_error_nearest(c->cx)[0])
        print_corrected(c, cr_error_unknown(c->cx), cr_error_nearest(c->cx));
    fputc('\n', stderr);
}

/* --- warnings and progress ------------------------------------------------------------------- */

static void receive_log(void *user, cr_log_level level, const char *text)
{
    cli *c = user;
    if (level == CR_LOG_WARNING) {
        size_t  i;
        json_t *old;
        json_array_foreach(c->warnings, i, old)
            if (strcmp(json_string_value(old), text) == 0) return;
        json_array_append_new(c->warnings, json_string_nocheck(text));
        if (c->global.quiet) return;
    } else if (!c->global.verbose) {
        return;
    }
    cli_clear_progress(c);
    fprintf(stderr, "credence: %s%s\n", level == CR_LOG_WARNING ? "warning: " : "", text);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line that is redrawn at most ten times a second, and not at all for short work. */
static void receive_progress(void *user, const char *what, double done, double total)
{
    enum { WIDTH = 30 };
    cli   *c = user;
    double t = now();
    if (t - c->bar_time < (c->bar_shown ? 0.1 : 0.3)) return;
    c->bar_time = t;
    c->bar_shown = true;
    if (!(total > 0)) {
        fprintf(stderr, "\r\033[K%s: %.0f", what, done);
        return;
    }
    int filled = (int)(WIDTH * done / total);
    fprintf(stderr, "\r\033[K%s [%.*s%.*s] %3.0f %%", what, filled,
            "##############################", WIDTH - filled, "                              ",
            100 * done / total);
    fflush(stderr);
}

void cli_clear_progress(cli *c)
{
    if (c->bar_shown) fputs("\r\033[K", stderr);
    c->bar_shown = false;
}

/* --- Ctrl-C ---------------------------------------------------------------------------------- */

static cr_ctx *interrupted_context;

static void on_interrupt(int signal_number)
{
    cr_interrupt(interrupted_context);
    signal(signal_number, SIG_DFL); /* a second one ends the program at once */
}

void cli_watch(cli *c)
{
    bool bar = c->global.progress == PROGRESS_ALWAYS ||
               (c->global.progress == PROGRESS_AUTO && isatty(STDERR_FILENO) && !c->global.quiet);
    cr_ctx_set_log(c->cx, receive_log, c);
    c->bar_time = now();
    if (bar) cr_ctx_set_progress(c->cx, receive_progress, c);
    interrupted_context = c->cx;
    struct sigaction action = { .sa_handler = on_interrupt };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe shows as a failed write */
}

/* --- limits ---------------------------------------------------------------------------------- */

/* number, then one of the units; *out = number * factor of the unit. */
static bool parse_unit(const char *text, const char *units, const double *factors, double *out)
{
    double      x;
    const char *end = text + strlen(text);
    size_t      n = cri_parse_double(text, end, &x);
    if (n == 0 || !(x > 0) || !(x < 1e18)) return false;
    if (text[n] == '\0') return *out = x * factors[0], true;
    const char *unit = strchr(units, text[n]);
    if (!unit || text[n + 1]) return false;
    *out = x * factors[unit - units];
    return true;
}

cr_status cli_parse_time(cli *c, const char *text, double *out_seconds)
{
    static const double factors[] = { 1, 60, 3600 };
    if (parse_unit(text, "smh", factors, out_seconds)) return CR_OK;
    cr_fail(c->cx, CR_EARG, "--time-limit: '%s' is not a time", text);
    return cr_fail_hint(c->cx, "for example --time-limit 30s");
}

cr_status cli_parse_size(cli *c, const char *text, size_t *out_bytes)
{
    static const double factors[] = { 1, 1024, 1048576, 1073741824 };
    double              bytes;
    if (parse_unit(text, "BKMG", factors, &bytes)) return *out_bytes = (size_t)bytes, CR_OK;
    cr_fail(c->cx, CR_EARG, "--memory-limit: '%s' is not an amount of memory", text);
    return cr_fail_hint(c->cx, "for example --memory-limit 2G");
}

cr_status cli_check_strict(cli *c)
{
    if (!c->global.strict || json_array_size(c->warnings) == 0) return CR_OK;
    return cr_fail(c->cx, CR_ENUMERIC, "stopped under --strict, because of a warning: %s",
                   json_string_value(json_array_get(c->warnings, 0)));
}
