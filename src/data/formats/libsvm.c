/* libsvm.c -- pieces of whole lines, parsed in parallel straight to their places.
 * Colons bound the entries of a piece and line ends its rows, so each piece has its place in the
 * arrays before it is parsed; what blank lines and comments leave free is closed up afterwards. The
 * parser only finds where a text is wrong; the words are made by reading that token again. */
#include "libsvm.h"
#include "base/bytes.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/reader.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

typedef struct piece {
    const char *begin, *end; /* whole lines */
    size_t      lines, colons;
    size_t      row, entry; /* where its rows and entries go */
    size_t      rows, entries, columns;
    bool        whole_labels, whole_values;
    bool        begins_leaf;
    const char *first, *last; /* where the first and last row stand; NULL without rows */

    const char *fault; /* the token that is wrong; NULL = none */
    bool        in_label;
    size_t      previous; /* the index before it, 0 = none */
} piece;

typedef struct parser {
    cri_libsvm m; /* the arrays, with room for all */
    piece     *pieces;
} parser;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

/* true at what may follow a number: a blank, a line end, a comment, the end. */
static bool is_stop(const char *at, const char *end)
{
    return at == end || is_blank(*at) || *at == '\n' || *at == '#';
}

static const char *token_end(const char *at, const char *end)
{
    while (!is_stop(at, end)) at++;
    return at;
}

static bool is_whole(double x)
{
    return fabs(x) <= 9007199254740992.0 && x == (double)(int64_t)x; /* 2^53 */
}

/* --- the words for a fault ------------------------------------------------------------------- */

/* The length of [from, to) as printf wants it, cut where a message would grow too long. */
static int shown(const char *from, const char *to)
{
    return to - from > 40 ? 40 : (int)(to - from);
}

static cr_status fail_number(cri_reader *r, const char *from, const char *to, const char *what)
{
    size_t      n = (size_t)(to - from);
    double      x = NAN;
    bool        number = n > 0 && cri_parse_double(from, to, &x) == n;
    const char *why = !number                                 ? "not a number"
                      : isinf(x) && cri_is_overflow(from, to) ? "too large for a number"
                                                              : "not finite";
    return cri_reader_fail_at(r, from, n, "%s '%.*s' is %s", what, shown(from, to), from, why);
}

static cr_status fail_label(cri_reader *r, const char *from, const char *to)
{
    size_t n = (size_t)(to - from);
    if (memchr(from, ':', n)) {
        cri_reader_fail_at(r, from, n, "the line begins with '%.*s', but the label comes first",
                           shown(from, to), from);
        return cr_fail_hint(r->cx, "if the label is not known, write 0");
    }
    if (memchr(from, ',', n)) {
        cri_reader_fail_at(r, from, n, "several labels in one row ('%.*s') are not supported",
                           shown(from, to), from);
        return cr_fail_hint(r->cx, "write one file per label");
    }
    return fail_number(r, from, to, "the label");
}

static cr_status fail_form(cri_reader *r, const char *from, const char *to)
{
    size_t n = (size_t)(to - from);
    if (n >= 4 && memcmp(from, "qid:", 4) == 0)
        return cri_reader_fail_at(r, from, n, "ranking data ('%.*s') are not supported",
                                  shown(from, to), from);
    return cri_reader_fail_at(r, from, n, "'%.*s' is not of the form index:value", shown(from, to),
                              from);
}

static cr_status fail_index(cri_reader *r, const char *from, const char *colon, size_t index,
                            size_t previous)
{
    size_t n = (size_t)(colon - from);
    if (index == 0) {
        cri_reader_fail_at(r, from, n, "index 0: the first column is 1");
        return cr_fail_hint(r->cx, "scikit-learn writes such files with "
                                   "dump_svmlight_file(..., zero_based=False)");
    }
    if (index > CRI_LIBSVM_MOST_COLUMNS)
        return cri_reader_fail_at(r, from, n,
                                  "index %.*s is too large: at most %d columns can be read",
                                  shown(from, colon), from, (int)CRI_LIBSVM_MOST_COLUMNS);
    return cri_reader_fail_at(
        r, from, n, "index %zu after %zu: indices must increase along the line", index, previous);
}

/* The digits at `at`, which moves behind them; stops counting past the most columns. */
static size_t read_index(const char **at, const char *end)
{
    size_t index = 0;
    for (; *at < end && is_digit(**at); (*at)++)
        if (index <= CRI_LIBSVM_MOST_COLUMNS) index = 10 * index + (size_t)(**at - '0');
    return index;
}

static cr_status fail_pair(cri_reader *r, const char *from, const char *to, size_t previous)
{
    const char *at = from;
    size_t      index = read_index(&at, to);
    if (at == from || at == to || *at != ':') return fail_form(r, from, to);
    if (index <= previous || index > CRI_LIBSVM_MOST_COLUMNS)
        return fail_index(r, from, at, index, previous);
    if (at + 1 == to)
        return cri_reader_fail_at(r, from, (size_t)(to - from), "no value after '%.*s'",
                                  shown(from, to), from);
    return fail_number(r, at + 1, to, "the value");
}

static cr_status explain(cr_ctx *cx, const char *source, const char *begin, size_t line,
                         const piece *p)
{
    cri_reader r = cri_reader_open(cx, source, begin, (size_t)(p->end - begin));
    r.line = line;
    for (const char *at = begin; at < p->fault; at++)
        if (*at == '\n') r.line++, r.line_begin = at + 1;
    const char *to = token_end(p->fault, p->end);
    return p->in_label ? fail_label(&r, p->fault, to) : fail_pair(&r, p->fault, to, p->previous);
}

/* --- parsing --------------------------------------------------------------------------------- */

/* The number at `at`; returns the stop behind it, NULL when there is none or it is infinite. */
static inline const char *parse_number(const char *at, const char *end, double *out)
{
    if (at < end && is_digit(*at) && is_stop(at + 1, end)) { /* by far the most common */
        *out = *at - '0';
        return at + 1;
    }
    size_t      took = cri_parse_double(at, end, out);
    const char *stop = at + took;
    return took == 0 || !is_stop(stop, end) || isinf(*out) ? NULL : stop;
}

static const char *mark(piece *p, const char *token, bool in_label, size_t previous)
{
    p->fault = token;
    p->in_label = in_label;
    p->previous = previous;
    return NULL;
}

/* The pairs behind the label up to the line end or a comment; NULL at a fault. */
static const char *parse_pairs(const parser *s, piece *p, const char *at, const char *end)
{
    size_t    previous = 0;
    uint32_t *column = s->m.column + p->entry;
    double   *value = s->m.value + p->entry, x;
    for (;;) {
        at = skip_blanks(at, end);
        if (at == end || *at == '\n' || *at == '#') break;
        const char *token = at;
        size_t      index = read_index(&at, end);
        if (index <= previous || index > CRI_LIBSVM_MOST_COLUMNS || at == end || *at != ':')
            return mark(p, token, false, previous);
        if (!(at = parse_number(at + 1, end, &x))) return mark(p, token, false, previous);
        column[p->entries] = (uint32_t)(index - 1);
        value[p->entries++] = x;
        p->whole_values &= is_whole(x) || x != x;
        previous = index;
    }
    if (previous > p->columns) p->columns = previous;
    return at;
}

static void parse_piece(void *arg, size_t i)
{
    const parser *s = arg;
    piece        *p = &s->pieces[i];
    const char   *at = p->begin, *end = p->end;
    p->whole_labels = p->whole_values = true;
    while (at < end) {
        at = skip_blanks(at, end);
        if (at < end && *at != '\n' && *at != '#') {
            double      label;
            const char *stop = parse_number(at, end, &label);
            if (!stop || label != label) {
                mark(p, at, true, 0);
                return;
            }
            if (!p->first) p->first = at;
            p->last = at;
            s->m.start[p->row + p->rows] = p->entry + p->entries;
            s->m.label[p->row + p->rows++] = label;
            p->whole_labels &= is_whole(label);
            if (!(at = parse_pairs(s, p, stop, end))) return;
        }
        at = at < end && *at != '\n' ? memchr(at, '\n', (size_t)(end - at)) : at;
        if (!at || at == end) return;
        at++;
    }
}

static void count_piece(void *arg, size_t i)
{
    piece *p = &((parser *)arg)->pieces[i];
    for (const char *at = p->begin; at < p->end;) {
        const char   *stop = p->end - at > 255 * 32 ? at + 255 * 32 : p->end;
        unsigned char lines[32] = { 0 }, colons[32] = { 0 }; /* no counter passes 255 */
        for (; stop - at >= 32; at += 32)
            for (int k = 0; k < 32; k++) {
                lines[k] = (unsigned char)(lines[k] + (at[k] == '\n'));
                colons[k] = (unsigned char)(colons[k] + (at[k] == ':'));
            }
        for (; at < stop && stop == p->end; at++) p->lines += *at == '\n', p->colons += *at == ':';
        for (int k = 0; k < 32; k++) p->lines += lines[k], p->colons += colons[k];
    }
}

/* --- the pieces together --------------------------------------------------------------------- */

/* Where the leaf ends that the line at `at` is in, behind a line end; *left: the bytes from `at` to
 * where it must end.  A line that is longer is in the leaf in which it ends: *begins. */
static const char *end_of_leaf(const char *at, const char *end, size_t leaf, size_t *left,
                               bool *begins)
{
    for (;; *left += leaf, *begins = true) {
        if ((size_t)(end - at) < *left) return end;
        const char *feed = *left > 0 ? cri_find_last(at, '\n', *left) : NULL;
        if (feed) return feed + 1;
    }
}

/* Pieces of at least `size` bytes that end with a line or a leaf; returns how many. */
static size_t cut(const char *begin, const char *end, cri_libsvm_cuts cuts, piece *pieces)
{
    size_t      n = 0, left = cuts.leaf ? cuts.leaf - cuts.before % cuts.leaf : SIZE_MAX;
    const char *leaf = begin;
    for (const char *at = begin, *stop; at < end; at = stop) {
        const char *feed = NULL;
        bool        begins = false;
        if (at == leaf) {
            begins = cuts.leaf > 0;
            leaf = end_of_leaf(at, end, cuts.leaf, &left, &begins);
            left -= cuts.leaf ? (size_t)(leaf - at) : 0;
        }
        if ((size_t)(leaf - at) > cuts.piece)
            feed = memchr(at + cuts.piece - 1, '\n', (size_t)(leaf - at) - cuts.piece + 1);
        stop = feed ? feed + 1 : leaf;
        pieces[n++] = (piece){ .begin = at, .end = stop, .begins_leaf = begins };
    }
    return n;
}

static size_t line_of(const char *begin, const char *place, size_t line)
{
    for (const char *at = begin; at < place; at++) line += *at == '\n';
    return line;
}

/* Closes up rows and entries, and gathers what the pieces found; row 0 begins at entry 0. */
static void gather(cri_libsvm *m, const piece *pieces, size_t n, size_t line)
{
    size_t entries = 0, first_line = 0, last_line = 0;
    m->rows = m->columns = 0;
    m->whole_labels = m->whole_values = true;
    for (size_t k = 0; k < n; k++) {
        const piece *p = &pieces[k];
        size_t       back = p->entry - entries;
        bool         moved = back > 0 || p->row > m->rows;
        if (p->begins_leaf && (m->n_leaves == 0 || m->rows > m->leaves[m->n_leaves - 1]))
            m->leaves[m->n_leaves++] = m->rows;
        if (moved) {
            memmove(m->label + m->rows, m->label + p->row, p->rows * sizeof *m->label);
            memmove(m->column + entries, m->column + p->entry, p->entries * sizeof *m->column);
            memmove(m->value + entries, m->value + p->entry, p->entries * sizeof *m->value);
        }
        for (size_t i = 0; moved && i < p->rows; i++)
            m->start[m->rows + i] = m->start[p->row + i] - back;
        if (p->first && !first_line) first_line = line_of(p->begin, p->first, line);
        if (p->last) last_line = line_of(p->begin, p->last, line);
        m->rows += p->rows;
        entries += p->entries;
        if (p->columns > m->columns) m->columns = p->columns;
        m->whole_labels = m->whole_labels && p->whole_labels;
        m->whole_values = m->whole_values && p->whole_values;
        line += p->lines;
        m->lines += p->lines;
    }
    m->start[m->rows] = entries;
    if (m->n_leaves > 0 && m->leaves[m->n_leaves - 1] == m->rows) m->n_leaves--;
    if (m->rows > 0 && last_line - first_line == m->rows - 1) m->first_line = first_line;
}

/* How many elements each array has room for. */
typedef struct capacities {
    size_t label, start, column, value, leaves;
} capacities;

/* An array of *capacity elements brought to n; as it was after a failure, which sticks in *st. */
static void *resized(cr_ctx *cx, void *array, size_t *capacity, size_t n, size_t size,
                     cr_status *st)
{
    void *p = *st == CR_OK ? cr_resize(cx, array, *capacity, n, size) : NULL;
    if (!p) {
        *st = CR_ENOMEM;
        return array;
    }
    *capacity = n;
    return p;
}

static cr_status resize_all(cr_ctx *cx, cri_libsvm *m, capacities *r, size_t rows, size_t entries,
                            size_t leaves)
{
    cr_status st = CR_OK;
    m->label = resized(cx, m->label, &r->label, rows, sizeof *m->label, &st);
    m->start = resized(cx, m->start, &r->start, rows + 1, sizeof *m->start, &st);
    m->column = resized(cx, m->column, &r->column, entries, sizeof *m->column, &st);
    m->value = resized(cx, m->value, &r->value, entries, sizeof *m->value, &st);
    m->leaves = resized(cx, m->leaves, &r->leaves, leaves, sizeof *m->leaves, &st);
    return st;
}

static void release(cr_ctx *cx, cri_libsvm *m, capacities r)
{
    cr_free(cx, m->label, r.label, sizeof *m->label);
    cr_free(cx, m->start, r.start, sizeof *m->start);
    cr_free(cx, m->column, r.column, sizeof *m->column);
    cr_free(cx, m->value, r.value, sizeof *m->value);
    cr_free(cx, m->leaves, r.leaves, sizeof *m->leaves);
    *m = (cri_libsvm){ 0 };
}

void cri_libsvm_free(cr_ctx *cx, cri_libsvm *m)
{
    size_t entries = m->start ? m->start[m->rows] : 0;
    release(cx, m, (capacities){ m->rows, m->rows + 1, entries, entries, m->n_leaves });
}

cr_status cri_libsvm_parse_cut(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                               size_t line, cri_libsvm_cuts cuts, cri_libsvm *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    const char *begin = size ? bytes : "", *end = begin + size;
    size_t      leaves = cuts.leaf ? size / cuts.leaf + 2 : 0; /* at most */
    parser q = { .pieces = cr_scratch_bytes(&s, size / cuts.piece + 1 + leaves, sizeof(piece)) };
    size_t n, rows = 0, entries = 0;
    capacities r = { 0 };

    CR_TRY(s.status);
    n = cut(begin, end, cuts, q.pieces);
    CR_TRY(cri_parallel_for(cx, NULL, n, count_piece, &q));
    for (size_t k = 0; k < n; k++) {
        q.pieces[k].row = rows, q.pieces[k].entry = entries;
        rows += q.pieces[k].lines + (end[-1] != '\n' && k + 1 == n);
        entries += q.pieces[k].colons;
    }
    CR_TRY(resize_all(cx, &q.m, &r, rows, entries, leaves));
    CR_TRY(cri_parallel_for(cx, "reading", n, parse_piece, &q));
    for (size_t k = 0; k < n; k++)
        if (q.pieces[k].fault) CR_TRY(explain(cx, source, begin, line, &q.pieces[k]));
    gather(&q.m, q.pieces, n, line);
    CR_TRY(resize_all(cx, &q.m, &r, q.m.rows, q.m.start[q.m.rows], q.m.n_leaves));
    *out = q.m;
    q.m = (cri_libsvm){ 0 };
done:
    release(cx, &q.m, r);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_libsvm_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                           size_t line, cri_libsvm *out)
{
    return cri_libsvm_parse_cut(cx, source, bytes, size, line,
                                (cri_libsvm_cuts){ .piece = CRI_LIBSVM_PIECE }, out);
}

/* --- telling the format ---------------------------------------------------------------------- */

/* true when [at, end) begins with `number index:`. */
static bool is_labelled_pair(const char *at, const char *end)
{
    double      x;
    const char *stop = token_end(at, end);
    if (at == stop || cri_parse_double(at, stop, &x) != (size_t)(stop - at)) return false;
    at = skip_blanks(stop, end);
    stop = at;
    while (stop < end && is_digit(*stop)) stop++;
    return stop > at && stop < end && *stop == ':';
}

/* true when [at, end) is a number alone: a row of zeros. */
static bool is_label(const char *at, const char *end)
{
    double      x;
    const char *stop = token_end(at, end);
    return at < stop && cri_parse_double(at, stop, &x) == (size_t)(stop - at) &&
           skip_blanks(stop, end) == end;
}

bool cri_libsvm_looks_like(const char *text, size_t size)
{
    const char *end = size ? text + size : text;
    for (const char *at = text, *feed; at < end; at = feed + 1) {
        feed = memchr(at, '\n', (size_t)(end - at));
        if (!feed) feed = end;
        const char *hash = memchr(at, '#', (size_t)(feed - at)), *stop = hash ? hash : feed;
        at = skip_blanks(at, stop);
        if (at == stop) continue;
        if (!is_label(at, stop)) return is_labelled_pair(at, stop);
    }
    return false;
}
