/* column_names.c -- the names of columns, quickly. */
#include "column_names.h"
#include "data/csv/csv_internal.h"
#include "libsvm.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOK = 1 << 16, LARGEST = 1 << 24 }; /* bytes of text looked at; of a file read as a whole */

static const char SQLITE_PREFIX[] = "sqlite:";
enum { SQLITE_PREFIX_LENGTH = sizeof SQLITE_PREFIX - 1 };

static cr_status names_of_text(cr_ctx *cx, cri_source *source, const cr_read_options *options,
                               cri_name_fn *take, void *user)
{
    cr_status st = CR_OK;
    cri_csv   csv = { .cx = cx,
                      .source = source,
                      .options = options,
                      .sizes = { .sample = LOOK },
                      .scratch = cr_scratch_begin(cx) };
    CR_TRY(cri_csv_sample(&csv));
    for (size_t i = 0; i < csv.n; i++) take(user, csv.columns[i].name);
done:
    cri_csv_levels_clear(cx, &csv.names);
    cr_scratch_end(&csv.scratch);
    return st;
}

static cr_status names_of_table(cr_ctx *cx, const char *path, const cr_read_options *options,
                                cri_name_fn *take, void *user)
{
    cr_table *t = NULL;
    cr_status st = cr_table_read(cx, path, options, &t);
    char      numbered[CR_NAME_SIZE];
    for (size_t i = 0; st == CR_OK && i < cr_table_columns(t); i++)
        take(user, cr_table_column_name(t, i, numbered));
    cr_table_free(cx, t);
    return st;
}

/* sqlite:FILE?table and sqlite:FILE?query=... as a query for one row. */
static cr_status names_of_database(cr_ctx *cx, const char *path, const cr_read_options *options,
                                   cri_name_fn *take, void *user)
{
    const char *query = strstr(path, "?query="), *mark = query ? query : strrchr(path, '?');
    char        one[1024];
    int         size = (int)sizeof one;
    if (!mark) return names_of_table(cx, path, options, take, user);
    int n = query ? snprintf(one, sizeof one, "%.*s?query=SELECT * FROM (%s) LIMIT 1",
                             (int)(mark - path), path, mark + 7)
                  : snprintf(one, sizeof one, "%.*s?query=SELECT * FROM \"%s\" LIMIT 1",
                             (int)(mark - path), path, mark + 1);
    if (n >= size) return cr_fail(cx, CR_EDATA, "%s: the query is too long", path);
    return names_of_table(cx, one, options, take, user);
}

static bool is_text(const char *path, const char *bytes, size_t size)
{
    static const char *const magic[] = { "\x93NUMPY", "PK\3\4", "SQLite format 3" };
    const char              *dot = strrchr(path, '.');
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if (size >= strlen(magic[i]) && memcmp(bytes, magic[i], strlen(magic[i])) == 0)
            return false;
    static const char *const other[] = { ".svm", ".libsvm", ".jsonl", ".ndjson" };
    for (size_t i = 0; dot && i < sizeof other / sizeof *other; i++)
        if (strcmp(dot, other[i]) == 0) return false;
    return (dot && strcmp(dot, ".csv") == 0) || !cri_libsvm_looks_like(bytes, size);
}

cr_status cri_column_names(cr_ctx *cx, const char *path, const cr_read_options *options,
                           cri_name_fn *take, void *user)
{
    enum { AUTO, CSV, TSV }; /* choices of --from */
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    const char *bytes;
    size_t      size;
    struct stat info;
    bool        asked = options->from == CSV || options->from == TSV;

    if (strncmp(path, SQLITE_PREFIX, SQLITE_PREFIX_LENGTH) == 0)
        return names_of_database(cx, path, options, take, user);
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return cr_fail(cx, CR_EIO, "%s is not a file", path);
    CR_TRY(cri_source_open(cx, path, &source));
    CR_TRY(cri_source_peek(source, LOOK, &bytes, &size));
    if (asked || (options->from == AUTO && is_text(path, bytes, size))) {
        CR_TRY(names_of_text(cx, source, options, take, user));
    } else if (info.st_size > LARGEST) {
        CR_TRY(cr_fail(cx, CR_EDATA, "%s is too large to look into", path));
    } else {
        CR_TRY(names_of_table(cx, path, options, take, user));
    }
done:
    cri_source_close(source);
    return st;
}
