/* fuzz_sqlite.c -- any bytes as an SQLite database: a table or one sentence, within the memory limit,
 * and no leak.  A first byte of 0: the rest is the file; else the rest is a query to an empty one. */
#include "base/context.h"
#include "data/formats/sqlite_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cr_ctx   *cx = NULL;
    cr_table *t = NULL;
    char      spec[4200];
    bool      query = size && data[0];
    if (size < 1 || size > 4096 || cr_ctx_new(NULL, &cx) != CR_OK) return 0;
    static char path[] = "/tmp/credence-fuzz-XXXXXX";
    static int  file = -1;
    if (file < 0) file = mkstemp(path); /* SQLite follows links, so no file of /proc will do */
    if (file < 0 || ftruncate(file, 0) != 0) abort();
    if (!query && pwrite(file, data + 1, size - 1, 0) != (ssize_t)(size - 1)) abort();
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_memory_limit(cx, (size_t)4 << 20);
    cr_ctx_set_time_limit(cx, 1);
    snprintf(spec, sizeof spec, "%s%s%.*s", path, query ? "?query=" : "",
             query ? (int)(size - 1) : 0, (const char *)data + 1);
    if (cri_sqlite_read(cx, spec, &t) != CR_OK && (t || cr_error(cx)[0] == '\0')) abort();
    cr_table_free(cx, t);
    if (cr_ctx_memory(cx) != 0) abort();
    cr_ctx_free(cx);
    return 0;
}
