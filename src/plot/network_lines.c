/* network_lines.c -- a network on a terminal: a list of its variables, causes before effects, each
 * with its distribution as bars. */
#include "chart.h"
#include "network_view.h"
#include "base/context_internal.h"
#include "graph/network/structure.h"

#include <math.h>
#include <string.h>

enum { LEAST_BAR = 10, MOST_BAR = 40, MOST_STATE = 20, EIGHTHS = 8 };

typedef struct page {
    cr_scratch             *s;
    const cri_network_view *v;
    char                   *text; /* [capacity] */
    size_t                  used, capacity;
} page;

static void put(page *p, const char *text)
{
    size_t n = strlen(text);
    if (p->text && p->used + n < p->capacity) {
        memcpy(p->text + p->used, text, n + 1);
    } else if (p->text || p->capacity == 0) {
        size_t capacity = 2 * (p->used + n + 1);
        char  *more = cr_scratch_bytes(p->s, capacity, 1);
        if (!more) {
            p->text = NULL;
            p->capacity = 1; /* the arena remembers */
            return;
        }
        if (p->text) memcpy(more, p->text, p->used);
        memcpy(more + p->used, text, n + 1);
        p->text = more;
        p->capacity = capacity;
    }
    p->used += n;
}

static size_t columns(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* A text in so many columns, filled up or cut. */
static void put_cell(page *p, const char *text, size_t width)
{
    size_t n = columns(text), bytes = 0, seen = 0;
    while (text[bytes] &&
           (n <= width || seen + 1 < width || ((unsigned char)text[bytes] & 0xc0) == 0x80)) {
        seen += ((unsigned char)text[bytes] & 0xc0) != 0x80;
        bytes++;
    }
    put(p, cri_compose(p->s, "%.*s%s", (int)bytes, text, n > width ? "\u2026" : ""));
    for (seen = n < width ? n : width; seen < width; seen++) put(p, " ");
}

/* A bar of whole blocks and one of eighths. */
static void put_bar(page *p, double share, size_t width)
{
    static const char *const parts[] = { "",       "\u258f", "\u258e", "\u258d",
                                         "\u258c", "\u258b", "\u258a", "\u2589" };
    size_t                   eighths = (size_t)lround(share * EIGHTHS * (double)width);
    if (share > 0 && eighths == 0) eighths = 1;
    for (size_t k = 0; k < eighths / EIGHTHS; k++) put(p, "\u2588");
    put(p, parts[eighths % EIGHTHS]);
    for (size_t k = (eighths + EIGHTHS - 1) / EIGHTHS; k < width; k++) put(p, " ");
}

/* "alarm <- burglary, earthquake   observed"; "a <- b -- c" where the way from c is open. */
static void put_head(page *p, size_t i, size_t width)
{
    static const char *const words[] = { [CR_FINDING_STATE] = "observed",
                                         [CR_FINDING_SET] = "one of a set",
                                         [CR_FINDING_VIRTUAL] = "virtual evidence",
                                         [CR_FINDING_SOFT] = "soft evidence",
                                         [CR_FINDING_DO] = "set from outside" };
    const cri_view_node     *node = &p->v->node[i];
    const char              *line = node->name, *between = NULL;
    for (size_t k = 0; k < p->v->m; k++) {
        const cri_view_arc *a = &p->v->arc[k];
        size_t other = a->to == i ? a->from : a->from == i && !p->v->directed ? a->to : CR_NONE;
        if (other == CR_NONE || p->v->node[other].variable == CR_NONE || a->cut) continue;
        const char *mark = p->v->directed && !a->open ? " \u2190 " : " \u2014 ";
        bool        same = between && strcmp(between, mark) == 0;
        line = cri_compose(p->s, "%s%s%s%s%s", line, same ? ", " : mark, a->label ? a->label : "",
                           a->label ? " " : "", p->v->node[other].name);
        between = mark;
    }
    if (node->known) line = cri_compose(p->s, "%s  [%s]", line, words[node->known->kind]);
    if (columns(line) > width)
        put_cell(p, line, width);
    else
        put(p, line);
    put(p, "\n");
}

static void put_node(page *p, size_t i, size_t width, size_t states, size_t bar)
{
    const cri_view_node *node = &p->v->node[i];
    char                 percent[16];
    put_head(p, i, width);
    if (node->text) put(p, cri_compose(p->s, "  %s\n", node->text));
    for (size_t k = 0; k < node->rows && p->v->bars; k++) {
        put(p, node->row[k].observed ? "\u25b8 " : "  ");
        put_cell(p, node->row[k].state, states);
        put(p, " ");
        put_bar(p, node->row[k].p, bar);
        cri_view_percent(node->row[k].p, percent);
        put(p, cri_compose(p->s, " %7s\n", percent));
    }
}

static cr_status write_page(page *p, size_t width)
{
    cr_status st = CR_OK;
    size_t    n = cr_network_size(p->v->net), states = 1, bar;
    size_t   *order = cr_scratch_index(p->s, n);
    CR_TRY(p->s->status);
    for (size_t i = 0; i < n; i++) order[i] = i;
    if (p->v->directed) CR_TRY(cr_network_order(p->s->cx, p->v->net, order));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p->v->node[i].rows; k++) {
            size_t wide = columns(p->v->node[i].row[k].state);
            if (wide > states) states = wide < MOST_STATE ? wide : MOST_STATE;
        }
    bar = width > states + 11 ? width - states - 11 : 0;
    bar = bar < LEAST_BAR ? LEAST_BAR : bar > MOST_BAR ? MOST_BAR : bar;
    put(p, p->v->bars && !p->v->exact ? "approximate\n\n" : "");
    for (size_t i = 0; i < n; i++) put_node(p, order[i], width, states, bar);
    CR_TRY(p->s->status);
done:
    return st;
}

cr_status cri_plot_any_text(cr_ctx *cx, cri_any_network any, const cr_network_plot *opt_p,
                            size_t width, char **out_text)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_network_view v = { 0 };
    page             p = { .s = &s, .v = &v };
    char            *copy;
    CR_TRY(cri_view_open(&s, any, opt_p, &v));
    CR_TRY(write_page(&p, width));
    copy = cri_string_copy(cx, p.text);
    if (!copy) CR_TRY(CR_ENOMEM);
    *out_text = copy;
done:
    cri_view_close(cx, &v);
    cr_scratch_end(&s);
    return st;
}

cr_status cr_plot_network_text(cr_ctx *cx, const cr_network *net, const cr_network_plot *opt_p,
                               size_t width, char **out_text)
{
    return cri_plot_any_text(cx, (cri_any_network){ .methods = &cri_states_methods, .net = net },
                             opt_p, width, out_text);
}

cr_status cr_plot_gaussian_text(cr_ctx *cx, const cr_gaussian_network *net,
                                const cr_network_plot *opt_p, size_t width, char **out_text)
{
    return cri_plot_any_text(cx, (cri_any_network){ .methods = &cri_gaussian_methods, .net = net },
                             opt_p, width, out_text);
}
