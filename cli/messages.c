/* messages.c -- what goes to standard error: failures, warnings, progress; and Ctrl-C. */
#include "cli.h"
#include "base/clock.h"
#include "base/context_internal.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

int cli_exit_code(cr_status st)
{
    switch (st) {
    case CR_OK:
        return 0;
    case CR_EARG:
    case CR_EUNSUPPORTED:
        return 2;
    case CR_EDATA:
        return 3;
    case CR_ENUMERIC:
        return 4;
    case CR_EIO:
        return 5;
    case CR_ENOMEM:
        return 6;
    case CR_EINTERRUPTED:
        return 130;
    }
    return 70;
}

/* --- failures -------------------------------------------------------------------------------- */

size_t cli_quote(const char *text, char *out, size_t size)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*text && !text[strspn(text, plain)]) return (size_t)snprintf(out, size, "%s", text);
    size_t used = (size_t)snprintf(out, size, "'");
    for (; *text; text++) {
        const char *as = *text == '\'' ? "'\\''" : (char[2]){ *text, '\0' };
        used += (size_t)snprintf(out + (used < size ? used : size), used < size ? size - used : 0,
                                 "%s", as);
    }
    used += (size_t)snprintf(out + (used < size ? used : size), used < size ? size - used : 0, "'");
    return used;
}

/* A word of a command, such that a shell reads it back. */
static void print_word(const char *text)
{
    size_t size = cli_quote(text, NULL, 0) + 1;
    char  *word = cli_allocate(size);
    cli_quote(text, word, size);
    cli_print_safe(word, size - 1);
    free(word);
}

/* Where `word` stands in the argument: alone, as the name or the value of --name=value, in a list
 * with commas, or in an expression; NULL if nowhere. */
static const char *find_word(const char *argument, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = argument; (at = strstr(at, word)); at++) {
        bool begins = at == argument || strchr("=,!(|{; ", at[-1]) ||
                      (at == argument + 2 && strncmp(argument, "--", 2) == 0);
        if (begins && strchr(",=)|}:; ", at[n])) return at; /* or at its end */
    }
    return NULL;
}

/* The command line with the unknown word replaced by the nearest known one; nothing where it is not
 * clear which word that is. */
static void print_corrected(const cli *c, const char *unknown, const char *nearest)
{
    size_t found = 0, longest = 0;
    for (int i = 1; i < c->argc; i++) {
        size_t n = strlen(c->argv[i]);
        found += find_word(c->argv[i], unknown) != NULL;
        if (n > longest) longest = n;
    }
    size_t size = longest + strlen(nearest) + 1;
    char  *word = found == 1 ? malloc(size) : NULL;
    if (!word) return;
    fputs("  credence", stderr);
    for (int i = 1; i < c->argc; i++) {
        const char *a = c->argv[i], *at = find_word(a, unknown);
        if (at) snprintf(word, size, "%.*s%s%s", (int)(at - a), a, nearest, at + strlen(unknown));
        fputc(' ', stderr);
        print_word(at ? word : a);
    }
    free(word);
}

void cli_print_error(cli *c)
{
    const char *sentence = cr_error(c->cx);
    if (cr_error_status(c->cx) == CR_EIO && strstr(sentence, strerror(EPIPE)) &&
        !cr_error_hint(c->cx)[0])
        return; /* whoever closed the pipe, as `| head` does, knows */
    cli_clear_progress(c);
    fputs("credence: error: ", stderr);
    cli_print_safe(sentence, strlen(sentence));
    fputc('\n', stderr);
    for (const char *line = cr_error_notes(c->cx); *line;) {
        size_t n = strcspn(line, "\n");
        fputs("  ", stderr);
        cli_print_safe(line, n);
        fputc('\n', stderr);
        line += n + (line[n] == '\n');
    }
    if (!cr_error_hint(c->cx)[0]) return;
    fputs("  hint: ", stderr);
    cli_print_safe(cr_error_hint(c->cx), strlen(cr_error_hint(c->cx)));
    if (cr_error_nearest(c->cx)[0])
        print_corrected(c, cr_error_unknown(c->cx), cr_error_nearest(c->cx));
    fputc('\n', stderr);
}

/* --- warnings and progress ------------------------------------------------------------------- */

cri_sheet *cli_warnings(cli *c)
{
    cri_sheet *list = cri_sheet_get(c->said, "warnings");
    return list ? list : cri_put_list(c->said, "warnings");
}

/* Its length without how many of several fits gave it (study/jobs.c). */
static size_t length_of_warning(const char *text)
{
    const char *end = strstr(text, " times)"), *last = end && !end[7] ? strrchr(text, '(') : NULL;
    return last && last > text ? (size_t)(last - text) - 1 : strlen(text);
}

static void receive_log(void *user, cr_log_level level, const char *text)
{
    cli *c = user;
    if (level == CR_LOG_WARNING) {
        const cri_sheet *old = cri_sheet_first(cli_warnings(c));
        size_t           length = length_of_warning(text);
        for (; old; old = cri_sheet_next(old)) {
            const char *said = cri_sheet_text(old);
            if (length_of_warning(said) == length && strncmp(said, text, length) == 0) return;
        }
        cri_put_text(cli_warnings(c), NULL, text);
        if (c->global.quiet || c->global.strict) return; /* strict: the failure will name it */
    } else if (!c->global.verbose) {
        return;
    }
    cli_clear_progress(c);
    fputs(level == CR_LOG_WARNING ? "credence: warning: " : "credence: ", stderr);
    cli_print_safe(text, strlen(text));
    fputc('\n', stderr);
}

void cli_notice(cli *c, const char *text)
{
    if (c->global.quiet) return;
    cli_clear_progress(c);
    fputs("credence: ", stderr);
    cli_print_safe(text, strlen(text));
    fputc('\n', stderr);
}

double cli_seconds(void) { return cri_seconds(); }

/* A line that is redrawn at most ten times a second, and not at all for short work. */
static void receive_progress(void *user, const char *what, double done, double total)
{
    enum { WIDTH = 30 };
    cli   *c = user;
    double t = cli_seconds();
    bool   last = c->bar_shown && total > 0 && done >= total;
    if (!last && t - c->bar_time < (c->bar_shown ? 0.1 : 0.3)) return;
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
    (void)fflush(stderr);
}

void cli_clear_progress(cli *c)
{
    if (c->bar_shown) fputs("\r\033[K", stderr);
    c->bar_shown = false;
}

/* --- Ctrl-C, and the time limit ---------------------------------------------------------------
 * Both are requests that the work heeds at its next step.  Where it does not, because a call into
 * another library takes long or goes round in circles, the program ends by itself: after so much
 * work on each thread, or, where it only waits, after a while. */

enum { WAIT = 5, TICKS = 10 };   /* seconds of the clock; ticks of the timer in each */
static const double WORK = 0.75; /* seconds of the processor                         */

static const char            INTERRUPTED[] = "credence: error: interrupted\n";
static cli                  *watched;
static volatile sig_atomic_t asked_to_stop, ticks_past_stop;
static double                work_before; /* the stop, in seconds of the processor */

void cli_guard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", wrong_way) < 0) return;
    }
}

void cli_end_at_once(const char *line, cr_status st)
{
    const char *clear = watched && watched->bar_shown ? "\r\033[K" : "";
    if (watched) cri_ctx_remove_temporaries(watched->cx);
    ssize_t told = write(STDERR_FILENO, clear, strlen(clear));
    told += write(STDERR_FILENO, line, strlen(line));
    _exit(told >= 0 ? cli_exit_code(st) : cli_exit_code(CR_EIO));
}

static void tick_after(double seconds)
{
    struct itimerval timer = { .it_interval = { 0, 1000000 / TICKS } };
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)timer.it_value.tv_sec)) + 1;
    if (timer.it_value.tv_usec > 999999) timer.it_value.tv_usec = 999999;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (asked_to_stop) cli_end_at_once(INTERRUPTED, CR_EINTERRUPTED); /* the second time */
    asked_to_stop = true;
    ticks_past_stop = 0;
    cr_interrupt(watched->cx);
    tick_after(0);
}

/* It comes when there is a reason to stop and then with every tick, which ends waits for data. */
static void on_alarm(int signal_number)
{
    (void)signal_number;
    if (++ticks_past_stop == 1) work_before = cri_seconds_by(CLOCK_PROCESS_CPUTIME_ID);
    double work = (cri_seconds_by(CLOCK_PROCESS_CPUTIME_ID) - work_before) /
                  (double)cr_ctx_threads(watched->cx);
    if (work < WORK && ticks_past_stop <= WAIT * TICKS) return;
    if (asked_to_stop) cli_end_at_once(INTERRUPTED, CR_EINTERRUPTED);
    cli_end_at_once("credence: error: the time limit is reached\n", CR_ENOMEM);
}

void cli_stop_is_heeded(void)
{
    struct itimerval none = { 0 };
    setitimer(ITIMER_REAL, &none, NULL);
}

static void handle(int signal_number, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };
    sigfillset(&action.sa_mask); /* one after the other */
    sigaction(signal_number, &action, NULL);
}

/* A file that is mapped lost its end while it was read; any other fault comes again. */
static void on_bus_error(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (info->si_code == BUS_ADRERR)
        cli_end_at_once("credence: error: a file was truncated while it was being read\n", CR_EIO);
    handle(signal_number, SIG_DFL);
}

static void handle_bus_error(void)
{
    struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
    sigfillset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void cli_watch(cli *c)
{
    bool bar = c->global.progress == PROGRESS_ALWAYS ||
               (c->global.progress == PROGRESS_AUTO && isatty(STDERR_FILENO) && !c->global.quiet);
    cr_ctx_set_log(c->cx, receive_log, c);
    c->bar_time = c->global.progress == PROGRESS_ALWAYS ? 0 : cli_seconds();
    if (bar) cr_ctx_set_progress(c->cx, receive_progress, c);
    watched = c;
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_interrupt);
    handle(SIGTERM, on_interrupt);
    handle_bus_error();
    handle(SIGPIPE, SIG_IGN); /* a closed pipe shows as a failed write, */
    handle(SIGXFSZ, SIG_IGN); /* and so does a file that may not grow   */
}

void cli_unwatch(void)
{
    cli_stop_is_heeded();
    handle(SIGALRM, SIG_IGN);
    handle(SIGINT, SIG_IGN);
    handle(SIGTERM, SIG_IGN);
    watched = NULL;
}

void cli_set_alarm(double seconds)
{
    if (seconds < 1e8) tick_after(seconds);
}

/* --- limits ---------------------------------------------------------------------------------- */

/* A number above 0, then perhaps one of the units, each a letter; *out = number * its factor. */
static bool parse_unit(const char *text, const char *units, const double *factors, double *out)
{
    double      x;
    size_t      n = cri_parse_double(text, text + strlen(text), &x);
    const char *unit = text[n] ? strchr(units, text[n]) : units;
    if (n == 0 || !(x > 0) || !(x < 1e15) || !unit || (text[n] && text[n + 1])) return false;
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
    static const double factors[] = { 1, 0x1p10, 0x1p20, 0x1p30, 0x1p40 };
    double              bytes;
    char                plain[64];
    size_t              n = strlen(text);
    if (n > 2 && strcmp(text + n - 2, "iB") == 0)
        n -= 2; /* 2GiB and 2GB are 2G */
    else if (n > 1 && text[n - 1] == 'B')
        n--;
    snprintf(plain, sizeof plain, "%.*s", (int)n, text);
    if (parse_unit(plain, "BKMGT", factors, &bytes) && bytes < 0x1p62)
        return *out_bytes = bytes < 1 ? 1 : (size_t)bytes, CR_OK;
    cr_fail(c->cx, CR_EARG, "--memory-limit: '%s' is not an amount of memory", text);
    return cr_fail_hint(c->cx, "for example --memory-limit 2G");
}

cr_status cli_check_strict(cli *c)
{
    const cri_sheet *text = cri_sheet_first(cri_sheet_get(c->said, "warnings"));
    if (cri_sheet_status(c->said) != CR_OK) return CR_ENOMEM;
    if (!c->global.strict || !text) return CR_OK;
    cr_fail(c->cx, CR_ENUMERIC, "stopped under --strict, because of a warning: %s",
            cri_sheet_text(text));
    while ((text = cri_sheet_next(text))) cr_fail_note(c->cx, "and: %s", cri_sheet_text(text));
    return CR_ENUMERIC;
}
