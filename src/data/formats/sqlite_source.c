/* sqlite_source.c -- open, choose the statement, gather the cells by column, type the columns. */
#include "sqlite_source.h"
#include "data/table/dictionary.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/file.h"
#include "base/number.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum kind { MISSING, WHOLE, REAL, TEXT } kind;

typedef struct cell {
    kind kind;
    union {
        int64_t  whole;
        double   real;
        uint32_t code; /* of a text */
    };
} cell;

typedef struct column {
    cell          *cells; /* [capacity], as many used as there are rows */
    size_t         capacity;
    bool           has[4]; /* by kind */
    cri_dictionary texts;
} column;

typedef struct query {
    cr_ctx       *cx;
    char         *file;
    const char   *table, *sql; /* what follows the '?': one of them or none, in the caller's text */
    bool          denied;      /* the authorizer refused something */
    bool          alone;       /* opened as a file that nobody changes */
    struct stat   before;      /* of the file then */
    sqlite3      *db;
    sqlite3_stmt *statement;
    column       *columns;
    size_t        n_columns, rows;
} query;

/* --- failures -------------------------------------------------------------------------------- */

/* Turns a result code of SQLite into a failure with its message. */
static cr_status fail_with(query *q, int code)
{
    char        buffer[CRI_REASON_SIZE];
    const char *why = q->db ? sqlite3_errmsg(q->db) : sqlite3_errstr(code);
    cr_status   st = q->sql ? CR_EARG : CR_EDATA;
    switch (code & 0xff) {
    case SQLITE_INTERRUPT:
        if (cri_should_stop(q->cx)) return cr_check_interrupt(q->cx);
        break;
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG: /* for the memory limit: bound_values */
        st = CR_ENOMEM;
        break;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        st = CR_EDATA;
        break;
    case SQLITE_CANTOPEN:
        if (access(q->file, R_OK) != 0) why = cri_reason(errno, buffer);
        st = CR_EIO;
        break;
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        st = CR_EIO;
        break;
    default:
        break;
    }
    if (q->denied) {
        cr_fail(q->cx, st, "%s: the query does more than read: %s", q->file, why);
        return cr_fail_hint(q->cx, "only SELECT is possible");
    }
    cr_fail(q->cx, st, "%s: %s", q->file, why);
    return st == CR_EARG ? cr_fail_note(q->cx, "query: %s", q->sql) : st;
}

static const char *text_of(const void *dictionary, size_t i)
{
    return ((const cri_dictionary *)dictionary)->texts[i];
}

/* --- opening --------------------------------------------------------------------------------- */

static int stop_wanted(void *cx) { return cri_should_stop(cx); }

static int allow_reading(void *user, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    query *q = user;
    (void)a, (void)c, (void)d;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (sqlite3_stricmp(b, "load_extension") != 0) return SQLITE_OK;
        break;
    default:
        break;
    }
    q->denied = true;
    return SQLITE_DENY;
}

/* --- databases with a write-ahead log -------------------------------------------------------- */

/* true when there is a log beside the database. */
static bool has_log(const query *q)
{
    char        path[PATH_MAX];
    struct stat info;
    int         n = snprintf(path, sizeof path, "%s-wal", q->file);
    return n < 0 || (size_t)n >= sizeof path || stat(path, &info) == 0;
}

/* true for a database that keeps a write-ahead log (bytes 18 and 19 of its head are 2) and has none
 * now: nobody has it open.  Opened as usual, even for reading, it would get two files beside it that
 * stay. */
static bool has_empty_log(query *q)
{
    unsigned char head[20];
    FILE         *f = has_log(q) || stat(q->file, &q->before) != 0 || !S_ISREG(q->before.st_mode)
                          ? NULL
                          : fopen(q->file, "rbe");
    bool          log = f && fread(head, 1, sizeof head, f) == sizeof head &&
               memcmp(head, "SQLite format 3", 16) == 0 && head[18] == 2 && head[19] == 2;
    if (f) (void)fclose(f); /* only read */
    return log;
}

/* file:PATH?immutable=1, with the characters that mean something in a URI written as %XX. */
static char *immutable_uri(cr_ctx *cx, const char *path)
{
    char  *text = NULL, *uri = NULL, *to;
    size_t n = strlen(path);
    while (path[0] == '/' && path[1] == '/') path++; /* two would begin the name of a host */
    text = to = cr_alloc(cx, 3 * n + 1, 1);
    if (!text) return NULL;
    for (; *path; path++)
        to += *path == '?' || *path == '#' || *path == '%'
                  ? snprintf(to, 4, "%%%02X", (unsigned)*path)
                  : (*to = *path, 1);
    *to = '\0';
    uri = cri_string_format(cx, "file:%s?immutable=1", text);
    cr_free(cx, text, 3 * n + 1, 1);
    return uri;
}

/* Nobody may have begun to write meanwhile, for nobody was kept from it. */
static cr_status check_unchanged(const query *q)
{
    struct stat now;
    if (!q->alone) return CR_OK;
    if (stat(q->file, &now) == 0 && now.st_size == q->before.st_size &&
        now.st_mtim.tv_sec == q->before.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == q->before.st_mtim.tv_nsec && !has_log(q))
        return CR_OK;
    cr_fail(q->cx, CR_EIO, "%s changed while it was being read", q->file);
    return cr_fail_hint(q->cx, "read it again");
}

/* SQLite takes its memory for all of the process together, so it is held to the limit by what one
 * query can take: its cache has a fixed size, and no value is longer than a part of what is left. */
static void bound_values(query *q)
{
    size_t most = cri_memory_left(q->cx) / 8;
    if (cri_memory_is_limited(q->cx) && most < INT32_MAX)
        sqlite3_limit(q->db, SQLITE_LIMIT_LENGTH, (int)most);
}

static cr_status open_database(query *q)
{
    enum { STEPS_BETWEEN_CHECKS = 10000, BUSY_MILLISECONDS = 2000 };
    char *uri = NULL;
    q->alone = has_empty_log(q);
    if (q->alone && !(uri = immutable_uri(q->cx, q->file))) return CR_ENOMEM;
    int code = sqlite3_open_v2(uri ? uri : q->file, &q->db,
                               SQLITE_OPEN_READONLY | (uri ? SQLITE_OPEN_URI : 0), NULL);
    cri_string_free(q->cx, uri);
    if (code != SQLITE_OK) return fail_with(q, code);
    sqlite3_extended_result_codes(q->db, 1);
    sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(q->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    bound_values(q);
    sqlite3_busy_timeout(q->db, BUSY_MILLISECONDS);
    sqlite3_progress_handler(q->db, STEPS_BETWEEN_CHECKS, stop_wanted, q->cx);
    sqlite3_set_authorizer(q->db, allow_reading, q);
    return CR_OK;
}

/* Splits FILE?table or FILE?query=SELECT. */
static cr_status split_spec(query *q, const char *spec)
{
    const char *mark = strstr(spec, "?query=");
    if (mark) {
        q->sql = mark + strlen("?query=");
    } else if ((mark = strrchr(spec, '?'))) {
        q->table = mark + 1;
    }
    size_t length = mark ? (size_t)(mark - spec) : strlen(spec);
    if (length == 0 || (q->sql && !q->sql[0]) || (q->table && !q->table[0])) {
        cr_fail(q->cx, CR_EARG, "'sqlite:%s' does not name a database and a table", spec);
        return cr_fail_hint(q->cx, "for example sqlite:shop.db?orders or "
                                   "'sqlite:shop.db?query=SELECT price, area FROM houses'");
    }
    q->file = cri_string_copy_n(q->cx, spec, length);
    return q->file ? CR_OK : CR_ENOMEM;
}

static cr_status prepare(query *q, const char *sql)
{
    const char *rest = NULL;
    int         code = sqlite3_prepare_v2(q->db, sql, -1, &q->statement, &rest);
    if (code != SQLITE_OK) return fail_with(q, code);
    rest += strspn(rest, " \t\r\n;");
    if (!q->statement || *rest) {
        cr_fail(q->cx, CR_EARG, "%s: the query must be one SELECT", q->file);
        return cr_fail_note(q->cx, "query: %s", sql);
    }
    return CR_OK;
}

/* --- the statement --------------------------------------------------------------------------- */

static cr_status list_tables(query *q, cri_dictionary *names)
{
    int       code;
    uint32_t  ignored;
    cr_status st = prepare(q, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                              "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
    CR_TRY(st);
    while ((code = sqlite3_step(q->statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q->statement, 0);
        if (name) CR_TRY(cri_dictionary_code(q->cx, names, name, strlen(name), &ignored));
    }
    if (code != SQLITE_DONE) CR_TRY(fail_with(q, code));
done:
    sqlite3_finalize(q->statement);
    q->statement = NULL;
    return st;
}

/* *out_name = the table meant: the one named, or the only one; it points into `names`. */
static cr_status choose_table(query *q, const cri_dictionary *names, const char **out_name)
{
    for (size_t i = 0; q->table && i < names->n; i++)
        if (sqlite3_stricmp(names->texts[i], q->table) == 0) {
            *out_name = names->texts[i];
            return CR_OK;
        }
    if (names->n == 0) return cr_fail(q->cx, CR_EDATA, "%s holds no tables", q->file);
    if (q->table) {
        cr_fail(q->cx, CR_EDATA, "table '%s' not found in %s", q->table, q->file);
        return cr_fail_nearest(q->cx, q->table, "tables", names->n, text_of, names);
    }
    if (names->n > 1) {
        cr_fail(q->cx, CR_EARG, "%s has %zu tables: name one of them", q->file, names->n);
        cr_fail_nearest(q->cx, "", "tables", names->n, text_of, names);
        return cr_fail_hint(q->cx, "for example 'sqlite:%s?%s'", q->file, names->texts[0]);
    }
    *out_name = names->texts[0];
    return CR_OK;
}

static cr_status prepare_table(query *q)
{
    cr_status      st = CR_OK;
    cri_dictionary names = { 0 };
    const char    *name = NULL;
    char          *sql = NULL;
    CR_TRY(list_tables(q, &names));
    CR_TRY(choose_table(q, &names, &name));
    sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
    if (!sql) CR_TRY(cr_fail(q->cx, CR_ENOMEM, "out of memory in SQLite"));
    CR_TRY(prepare(q, sql));
done:
    sqlite3_free(sql);
    cri_dictionary_free(q->cx, &names);
    return st;
}

/* --- cells ----------------------------------------------------------------------------------- */

static cr_status fail_cell(query *q, size_t j, const char *why)
{
    return cr_fail(q->cx, CR_EDATA, "%s: column '%s' contains %s in row %zu", q->file,
                   sqlite3_column_name(q->statement, (int)j), why, q->rows + 1);
}

static cr_status read_text(query *q, size_t j, cell *out)
{
    const char *text = (const char *)sqlite3_column_text(q->statement, (int)j);
    size_t      length = (size_t)sqlite3_column_bytes(q->statement, (int)j);
    if (!text) return cr_fail(q->cx, CR_ENOMEM, "out of memory in SQLite");
    if (memchr(text, '\0', length)) return fail_cell(q, j, "a text with a zero byte");
    return cri_dictionary_code(q->cx, &q->columns[j].texts, text, length, &out->code);
}

static cr_status read_cell(query *q, size_t j, cell *out)
{
    switch (sqlite3_column_type(q->statement, (int)j)) {
    case SQLITE_INTEGER:
        *out = (cell){ .kind = WHOLE, .whole = sqlite3_column_int64(q->statement, (int)j) };
        return CR_OK;
    case SQLITE_FLOAT:
        *out = (cell){ .kind = REAL, .real = sqlite3_column_double(q->statement, (int)j) };
        return isfinite(out->real) ? CR_OK : fail_cell(q, j, "an infinite number");
    case SQLITE_TEXT:
        out->kind = TEXT;
        return read_text(q, j, out);
    case SQLITE_BLOB:
        fail_cell(q, j, "a BLOB");
        return cr_fail_hint(q->cx, "leave it out: 'sqlite:%s?query=SELECT ...'", q->file);
    default:
        *out = (cell){ .kind = MISSING };
        return CR_OK;
    }
}

static cr_status add_cell(query *q, size_t j)
{
    cr_status st = CR_OK;
    column   *c = &q->columns[j];
    CR_TRY(cri_array_grow(q->cx, &c->cells, q->rows, &c->capacity, sizeof *c->cells));
    CR_TRY(read_cell(q, j, &c->cells[q->rows]));
    c->has[c->cells[q->rows].kind] = true;
done:
    return st;
}

static cr_status read_rows(query *q)
{
    cr_status st = CR_OK;
    int       code;
    q->columns = cr_alloc(q->cx, (size_t)sqlite3_column_count(q->statement), sizeof *q->columns);
    if (!q->columns) CR_TRY(CR_ENOMEM);
    q->n_columns = (size_t)sqlite3_column_count(q->statement);
    while ((code = sqlite3_step(q->statement)) == SQLITE_ROW) {
        for (size_t j = 0; j < q->n_columns; j++) CR_TRY(add_cell(q, j));
        if (++q->rows % 4096 == 0) CR_TRY(cr_check_interrupt(q->cx));
    }
    if (code != SQLITE_DONE) CR_TRY(fail_with(q, code));
    if (q->rows == 0) CR_TRY(cr_fail(q->cx, CR_EDATA, "%s: there are no rows", q->file));
done:
    return st;
}

/* --- columns --------------------------------------------------------------------------------- */

static cr_status add_numbers(query *q, const column *c, const char *name, cr_table *table)
{
    double *values = cr_resize(q->cx, NULL, 0, q->rows, sizeof *values);
    bool    whole = c->has[WHOLE] && !c->has[REAL];
    int64_t most = (int64_t)1 << 53; /* as a double, larger ones may not be exact */
    if (!values) return CR_ENOMEM;
    for (size_t i = 0; i < q->rows; i++) {
        cell at = c->cells[i];
        values[i] = at.kind == MISSING ? (double)NAN : at.kind == REAL ? at.real : (double)at.whole;
        if (at.kind == WHOLE && (at.whole > most || at.whole < -most)) whole = false;
    }
    return cri_table_own_numbers(q->cx, table, name, whole ? CR_INTEGER : CR_REAL, values);
}

/* The code of a cell in a column of texts; a number goes by its own text. */
static cr_status text_code(query *q, column *c, cell at, uint32_t *out_code)
{
    char text[CRI_DOUBLE_SIZE];
    switch (at.kind) {
    case MISSING:
        *out_code = CR_MISSING_CODE;
        return CR_OK;
    case TEXT:
        *out_code = at.code;
        return CR_OK;
    case WHOLE:
        snprintf(text, sizeof text, "%lld", (long long)at.whole);
        break;
    case REAL:
        cri_print_double(at.real, text);
        break;
    }
    return cri_dictionary_code(q->cx, &c->texts, text, strlen(text), out_code);
}

/* Whole numbers alone, some of which would not keep their digits as doubles. */
static bool loses_digits(const query *q, const column *c)
{
    char text[CRI_DOUBLE_SIZE];
    for (size_t i = 0; !c->has[REAL] && i < q->rows; i++) {
        if (c->cells[i].kind != WHOLE) continue;
        int64_t x = c->cells[i].whole;
        int     n = snprintf(text, sizeof text, "%lld", (long long)x);
        if (!cri_keeps_digits(text, text + n, (double)x)) return true;
    }
    return false;
}

static cr_status add_texts(query *q, column *c, const char *name, cr_table *table)
{
    cr_status st = CR_OK;
    uint32_t *codes = cr_resize(q->cx, NULL, 0, q->rows, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    for (size_t i = 0; i < q->rows; i++) CR_TRY(text_code(q, c, c->cells[i], &codes[i]));
    return cri_table_own_category(q->cx, table, name, codes, (const char *const *)c->texts.texts,
                                  c->texts.n);
done:
    cr_free(q->cx, codes, q->rows, sizeof *codes);
    return st;
}

static void free_column(cr_ctx *cx, column *c)
{
    cr_free(cx, c->cells, c->capacity, sizeof *c->cells);
    cri_dictionary_free(cx, &c->texts);
    *c = (column){ 0 };
}

static cr_status make_table(query *q, cr_table **out_table)
{
    cr_status st = CR_OK;
    cr_table *table = NULL;
    char      source[512];
    snprintf(source, sizeof source, "%s%s%s", q->file, q->table ? "?" : "",
             q->table ? q->table : "");
    CR_TRY(cr_table_new(q->cx, source, q->rows, &table));
    for (size_t j = 0; j < q->n_columns; j++) {
        column     *c = &q->columns[j];
        const char *name = sqlite3_column_name(q->statement, (int)j);
        bool        texts = c->has[TEXT] || loses_digits(q, c);
        CR_TRY(texts ? add_texts(q, c, name, table) : add_numbers(q, c, name, table));
        free_column(q->cx, c);
    }
    *out_table = table;
    table = NULL;
done:
    cr_table_free(q->cx, table);
    return st;
}

cr_status cri_sqlite_read(cr_ctx *cx, const char *spec, cr_table **out_table)
{
    cr_status st = CR_OK;
    query     q = { .cx = cx };
    CR_TRY(split_spec(&q, spec));
    CR_TRY(open_database(&q));
    CR_TRY(q.sql ? prepare(&q, q.sql) : prepare_table(&q));
    CR_TRY(read_rows(&q));
    CR_TRY(check_unchanged(&q));
    CR_TRY(make_table(&q, out_table));
done:
    for (size_t j = 0; j < q.n_columns; j++) free_column(cx, &q.columns[j]);
    cr_free(cx, q.columns, q.n_columns, sizeof *q.columns);
    sqlite3_finalize(q.statement);
    sqlite3_close(q.db);
    cri_string_free(cx, q.file);
    return st;
}
