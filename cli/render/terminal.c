/* terminal.c -- text that a terminal only shows.
 * Names and values come from files that others made, and may hold what steers a terminal: the
 * control characters of ASCII and those of Unicode, U+0080 to U+009F, with which escape sequences
 * begin.  Where people read, each of them becomes a question mark; so does a byte that is no UTF-8.
 * Data for programs, CSV and JSON, stay as they are. */
#include "../cli.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As setlocale would find it, but said aloud: without any of them, UTF-8 is what terminals show. */
bool cli_locale_is_c(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strcmp(value, "C") == 0 || strcmp(value, "POSIX") == 0;
    }
    return false;
}

size_t cli_shown(const char *text, const char *kept, const char **out, size_t *out_size)
{
    unsigned char byte = (unsigned char)*text;
    size_t        length = cri_utf8_length(text);
    bool          control = byte < 0x20 || byte == 0x7F;
    bool          safe = length > 0 && !(byte == 0xC2 && (unsigned char)text[1] < 0xA0);
    if (control) safe = strchr(kept, byte) != NULL;
    *out = safe ? text : "?";
    *out_size = safe ? length : 1;
    return length > 0 ? length : 1;
}

void out_safe(cli *c, const char *text, const char *kept)
{
    const char *begin = text, *shown; /* of a stretch that is shown as it is */
    for (size_t n, size; *text; text += n) {
        n = cli_shown(text, kept, &shown, &size);
        if (shown == text) continue;
        out_bytes(c, begin, (size_t)(text - begin));
        out_bytes(c, shown, size);
        begin = text + n;
    }
    out_bytes(c, begin, (size_t)(text - begin));
}

void cli_print_safe(const char *text, size_t length)
{
    const char *shown;
    for (size_t i = 0, size; i < length;) {
        i += cli_shown(text + i, "\t", &shown, &size);
        (void)fwrite(shown, 1, size, stderr); /* where it cannot be written, nothing else can */
    }
}
