/* layered.c -- the parts of a graph, their layers, the lines between boxes, how it is packed. */
#include "layered_internal.h"
#include "base/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOWHERE = SIZE_MAX };
static const double POINT_WIDTH = 12; /* of a link that passes a layer */
static const double PORT = 15;        /* between the ends of links at one box, at most */
static const double PORTS = 0.7;      /* of the width of a box, at most */

typedef struct part {
    size_t n, *box, m, *link; /* members */
    double width, height;
} part;

typedef struct drawing {
    cr_scratch        *s;
    size_t             n, m;
    cri_box           *box;
    cri_link          *link;
    const cri_spacing *spacing;
    size_t            *chain;        /* [m] first point of a link among the vertices of its part */
    size_t            *local;        /* [n] number of a box within its part */
    cri_lists          above, below; /* the links that end in a box; that begin in it */
    part              *parts;
    size_t             n_parts;
} drawing;

/* --- parts that hang together ---------------------------------------------------------------- */

static cr_status find_parts(drawing *d)
{
    cr_scratch *s = d->s;
    size_t     *parent = cr_scratch_index(s, d->n), *number = cr_scratch_index(s, d->n);
    d->parts = cr_scratch_bytes(s, d->n, sizeof *d->parts);
    if (s->status != CR_OK) return s->status;
    for (size_t v = 0; v < d->n; v++) parent[v] = v;
    for (size_t i = 0; i < d->m; i++)
        parent[cri_find_root(parent, d->link[i].from)] = cri_find_root(parent, d->link[i].to);
    for (size_t v = 0; v < d->n; v++) number[v] = NOWHERE;
    for (size_t v = 0; v < d->n; v++) {
        size_t root = cri_find_root(parent, v);
        if (number[root] == NOWHERE) number[root] = d->n_parts++;
        d->parts[number[root]].n++;
    }
    for (size_t i = 0; i < d->m; i++) d->parts[number[cri_find_root(parent, d->link[i].from)]].m++;
    for (size_t k = 0; k < d->n_parts; k++) {
        part *p = &d->parts[k];
        p->box = cr_scratch_index(s, p->n);
        p->link = cr_scratch_index(s, p->m);
        p->n = p->m = 0;
    }
    if (s->status != CR_OK) return s->status;
    for (size_t v = 0; v < d->n; v++) {
        part *p = &d->parts[number[cri_find_root(parent, v)]];
        d->local[v] = p->n;
        p->box[p->n++] = v;
    }
    for (size_t i = 0; i < d->m; i++) {
        part *p = &d->parts[number[cri_find_root(parent, d->link[i].from)]];
        p->link[p->m++] = i;
    }
    return CR_OK;
}

/* The links that end in (begin in) each box. */
static cr_status list_links(drawing *d, bool above, cri_lists *out)
{
    *out = (cri_lists){ cr_scratch_bytes(d->s, d->n + 2, sizeof(size_t)),
                        cr_scratch_index(d->s, d->m) };
    if (d->s->status != CR_OK) return d->s->status;
    for (size_t i = 0; i < d->m; i++) out->begin[(above ? d->link[i].to : d->link[i].from) + 2]++;
    for (size_t v = 2; v < d->n + 2; v++) out->begin[v] += out->begin[v - 1];
    for (size_t i = 0; i < d->m; i++)
        out->to[out->begin[(above ? d->link[i].to : d->link[i].from) + 1]++] = i;
    return CR_OK;
}

/* --- layers ---------------------------------------------------------------------------------- */

/* The longest way from a source; false: there is a cycle. */
static bool find_depths(const drawing *d, const part *p)
{
    for (size_t k = 0; k < p->n; k++) d->box[p->box[k]].layer = 0;
    for (size_t round = 0; round <= p->n; round++) {
        bool moved = false;
        for (size_t k = 0; k < p->m; k++) {
            const cri_link *l = &d->link[p->link[k]];
            if (d->box[l->to].layer > d->box[l->from].layer) continue;
            d->box[l->to].layer = d->box[l->from].layer + 1;
            moved = true;
        }
        if (!moved) return true;
    }
    return false;
}

/* Boxes that must move together, because the links between them cannot get shorter. */
typedef struct gang {
    size_t *member, n;
    bool   *in;
} gang;

/* What must come along when v goes down by one: its children that are one layer below, and so on.
 * Going up: its parents. */
static void gather_gang(const drawing *d, gang *g, size_t v, bool down)
{
    const cri_lists *to = down ? &d->below : &d->above;
    for (size_t k = 0; k < g->n; k++) g->in[g->member[k]] = false;
    g->member[0] = v, g->n = 1, g->in[v] = true;
    for (size_t at = 0; at < g->n; at++)
        for (size_t k = to->begin[g->member[at]]; k < to->begin[g->member[at] + 1]; k++) {
            const cri_link *l = &d->link[to->to[k]];
            size_t          other = down ? l->to : l->from;
            if (g->in[other] || d->box[l->to].layer - d->box[l->from].layer > 1) continue;
            g->in[other] = true;
            g->member[g->n++] = other;
        }
}

/* By how much the links get shorter, all in all, when the gang goes down (up) by one. */
static ptrdiff_t gang_gain(const drawing *d, const gang *g, bool down)
{
    ptrdiff_t gain = 0;
    for (size_t i = 0; i < g->n; i++) {
        size_t v = g->member[i];
        for (size_t k = d->below.begin[v]; k < d->below.begin[v + 1]; k++)
            if (!g->in[d->link[d->below.to[k]].to]) gain += down ? 1 : -1;
        for (size_t k = d->above.begin[v]; k < d->above.begin[v + 1]; k++)
            if (!g->in[d->link[d->above.to[k]].from]) gain += down ? -1 : 1;
    }
    return gain;
}

/* Moves boxes, with what must come along, while that shortens the links. */
static cr_status shorten_links(drawing *d, const part *p)
{
    cr_scratch *s = d->s;
    enum { MOST_ROUNDS = 40 };
    gang g = { .member = cr_scratch_index(s, d->n), .in = cr_scratch_bytes(s, d->n, sizeof(bool)) };
    bool moved = true;
    size_t lowest = NOWHERE;
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < p->n; k++) d->box[p->box[k]].layer += p->n; /* room to go up */
    for (size_t round = 0; moved && round < MOST_ROUNDS; round++) {
        moved = false;
        for (size_t k = 0; k < p->n; k++)
            for (int down = 0; down < 2; down++)
                for (;;) {
                    gather_gang(d, &g, p->box[k], down);
                    if (g.n == p->n || gang_gain(d, &g, down) <= 0) break;
                    for (size_t i = 0; i < g.n; i++)
                        d->box[g.member[i]].layer += down ? 1 : (size_t)-1;
                    moved = true;
                }
    }
    for (size_t k = 0; k < p->n; k++)
        if (d->box[p->box[k]].layer < lowest) lowest = d->box[p->box[k]].layer;
    for (size_t k = 0; k < p->n; k++) d->box[p->box[k]].layer -= lowest;
    return CR_OK;
}

/* --- the graph of a part --------------------------------------------------------------------- */

static size_t span(const drawing *d, const cri_link *l)
{
    return d->box[l->to].layer - d->box[l->from].layer;
}

/* The vertices of a link from its box down: step 0 is `from`, step span is `to`. */
static size_t vertex_at(const drawing *d, size_t link, size_t step)
{
    const cri_link *l = &d->link[link];
    if (step == 0) return d->local[l->from];
    return step == span(d, l) ? d->local[l->to] : d->chain[link] + step - 1;
}

static cr_status join_vertices(drawing *d, const part *p, cri_layers *g)
{
    cr_scratch *s = d->s;
    size_t      segments = 0;
    for (size_t k = 0; k < p->m; k++) segments += span(d, &d->link[p->link[k]]);
    g->up =
        (cri_lists){ cr_scratch_bytes(s, g->n + 2, sizeof(size_t)), cr_scratch_index(s, segments) };
    g->down =
        (cri_lists){ cr_scratch_bytes(s, g->n + 2, sizeof(size_t)), cr_scratch_index(s, segments) };
    if (s->status != CR_OK) return s->status;
    for (int fill = 0; fill < 2; fill++) { /* begin is shifted by one while it is filled */
        for (size_t k = 0; k < p->m; k++)
            for (size_t step = 0; step < span(d, &d->link[p->link[k]]); step++) {
                size_t a = vertex_at(d, p->link[k], step), b = vertex_at(d, p->link[k], step + 1);
                if (fill) g->down.to[g->down.begin[a + 1]++] = b;
                if (fill) g->up.to[g->up.begin[b + 1]++] = a;
                if (!fill) g->down.begin[a + 2]++, g->up.begin[b + 2]++;
            }
        for (size_t v = 2; !fill && v < g->n + 2; v++) {
            g->down.begin[v] += g->down.begin[v - 1];
            g->up.begin[v] += g->up.begin[v - 1];
        }
    }
    return CR_OK;
}

/* Vertices into layers, in the order in which a walk from box to box meets them: neighbours start
 * close to each other. */
static cr_status fill_layers(cr_scratch *s, cri_layers *g)
{
    size_t *stack = cr_scratch_index(s, g->n + 1), top = 0;
    bool   *seen = cr_scratch_bytes(s, g->n, 1);
    g->size = cr_scratch_bytes(s, g->layers, sizeof *g->size);
    g->order = cr_scratch_bytes(s, g->layers, sizeof *g->order);
    if (s->status != CR_OK) return s->status;
    for (size_t v = 0; v < g->n; v++) g->size[g->layer[v]]++;
    for (size_t l = 0; l < g->layers; l++) g->order[l] = cr_scratch_index(s, g->size[l]);
    if (s->status != CR_OK) return s->status;
    memset(g->size, 0, g->layers * sizeof *g->size);
    for (size_t first = 0; first < g->n; first++) {
        if (seen[first]) continue;
        stack[top++] = first;
        seen[first] = true;
        while (top > 0) {
            size_t v = stack[--top];
            g->place[v] = g->size[g->layer[v]]++;
            g->order[g->layer[v]][g->place[v]] = v;
            for (int up = 0; up < 2; up++) {
                const cri_lists *to = up ? &g->up : &g->down;
                for (size_t k = to->begin[v]; k < to->begin[v + 1]; k++) {
                    if (seen[to->to[k]]) continue;
                    seen[to->to[k]] = true;
                    stack[top++] = to->to[k];
                }
            }
        }
    }
    return CR_OK;
}

static cr_status make_layers(drawing *d, const part *p, cri_layers *g)
{
    cr_status   st = CR_OK;
    cr_scratch *s = d->s;
    *g = (cri_layers){ .boxes = p->n, .n = p->n };
    for (size_t k = 0; k < p->m; k++) {
        d->chain[p->link[k]] = g->n;
        g->n += span(d, &d->link[p->link[k]]) - 1;
    }
    g->layer = cr_scratch_index(s, g->n);
    g->place = cr_scratch_index(s, g->n);
    g->width = cr_scratch_f64(s, g->n);
    g->x = cr_scratch_f64(s, g->n);
    CR_TRY(s->status);
    for (size_t k = 0; k < p->n; k++) {
        const cri_box *b = &d->box[p->box[k]];
        g->layer[k] = b->layer;
        g->width[k] = b->width + d->spacing->across;
        if (b->layer >= g->layers) g->layers = b->layer + 1;
    }
    for (size_t k = 0; k < p->m; k++) {
        const cri_link *l = &d->link[p->link[k]];
        for (size_t step = 1; step < span(d, l); step++) {
            size_t v = vertex_at(d, p->link[k], step);
            g->layer[v] = d->box[l->from].layer + step;
            g->width[v] = POINT_WIDTH;
        }
    }
    CR_TRY(join_vertices(d, p, g));
    CR_TRY(fill_layers(s, g));
done:
    return st;
}

/* --- lines ----------------------------------------------------------------------------------- */

typedef struct port {
    double x; /* where the other end is */
    size_t link;
} port;

static int by_x(const void *a, const void *b)
{
    const port *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->link > q->link) - (p->link < q->link);
}

/* Spreads the ends of links over the lower (upper) edges of the boxes, in the order of where they
 * go to. */
static cr_status spread_ports(drawing *d, const part *p, bool lower)
{
    cr_scratch *s = d->s;
    size_t     *count = cr_scratch_bytes(s, d->n + 1, sizeof *count);
    port       *all = cr_scratch_bytes(s, p->m, sizeof *all);
    if (s->status != CR_OK) return s->status;
    for (size_t k = 0; k < p->m; k++) {
        const cri_link *l = &d->link[p->link[k]];
        count[(lower ? l->from : l->to) + 1]++;
    }
    for (size_t v = 1; v <= d->n; v++) count[v] += count[v - 1];
    for (size_t k = 0; k < p->m; k++) {
        const cri_link *l = &d->link[p->link[k]];
        all[count[lower ? l->from : l->to]++] = (port){ l->x[lower ? 1 : l->n - 2], p->link[k] };
    }
    for (size_t k = 0, end; k < p->m; k = end) {
        const cri_link *l = &d->link[all[k].link];
        size_t          v = lower ? l->from : l->to;
        end = count[v];
        qsort(all + k, end - k, sizeof *all, by_x);
        double step = fmin(PORT, PORTS * d->box[v].width / (double)(end - k));
        for (size_t i = k; i < end; i++) {
            cri_link *one = &d->link[all[i].link];
            one->x[lower ? 0 : one->n - 1] =
                d->box[v].x + step * ((double)(i - k) - (double)(end - k - 1) / 2);
        }
    }
    return CR_OK;
}

/* Where the layers begin and end: room for the boxes, and more between layers where lines go far to
 * the side. */
static cr_status find_heights(drawing *d, part *p, const cri_layers *g, double *top, double *low)
{
    cr_scratch *s = d->s;
    double     *far = cr_scratch_bytes(s, g->layers, sizeof *far), y = 0;
    if (s->status != CR_OK) return s->status;
    for (size_t l = 0; l < g->layers; l++) low[l] = 0;
    for (size_t k = 0; k < p->n; k++) {
        const cri_box *b = &d->box[p->box[k]];
        low[b->layer] = fmax(low[b->layer], b->height);
    }
    for (size_t v = 0; v < g->n; v++)
        for (size_t k = g->down.begin[v]; k < g->down.begin[v + 1]; k++)
            far[g->layer[v]] = fmax(far[g->layer[v]], fabs(g->x[v] - g->x[g->down.to[k]]));
    for (size_t l = 0; l < g->layers; l++) {
        top[l] = y;
        low[l] += y;
        y = low[l] + d->spacing->down + fmin(1.8 * d->spacing->down, d->spacing->slope * far[l]);
    }
    p->height = low[g->layers - 1];
    return CR_OK;
}

static cr_status draw_links(drawing *d, part *p, const cri_layers *g)
{
    cr_status   st = CR_OK;
    cr_scratch *s = d->s;
    double     *top = cr_scratch_f64(s, g->layers), *low = cr_scratch_f64(s, g->layers);
    CR_TRY(s->status);
    CR_TRY(find_heights(d, p, g, top, low));
    for (size_t k = 0; k < p->n; k++) {
        cri_box *b = &d->box[p->box[k]];
        b->x = g->x[k];
        b->y = (top[b->layer] + low[b->layer]) / 2;
    }
    for (size_t k = 0; k < p->m; k++) {
        cri_link *l = &d->link[p->link[k]];
        size_t    first = d->box[l->from].layer, steps = span(d, l);
        l->x = cr_scratch_f64(s, 2 * steps + 2);
        l->y = cr_scratch_f64(s, 2 * steps + 2);
        CR_TRY(s->status);
        l->n = 0;
        for (size_t step = 0; step <= steps; step++) { /* through a layer: in and out */
            double x = g->x[vertex_at(d, p->link[k], step)];
            if (step > 0 && step < steps) l->x[l->n] = x, l->y[l->n++] = top[first + step];
            l->x[l->n] = x;
            l->y[l->n++] = step < steps ? low[first + step] : top[first + step];
        }
        l->y[0] = d->box[l->from].y + d->box[l->from].height / 2;
        l->y[l->n - 1] = d->box[l->to].y - d->box[l->to].height / 2;
    }
    CR_TRY(spread_ports(d, p, true));
    CR_TRY(spread_ports(d, p, false));
done:
    return st;
}

/* --- packing --------------------------------------------------------------------------------- */

static void move_part(drawing *d, const part *p, double dx, double dy)
{
    for (size_t k = 0; k < p->n; k++) d->box[p->box[k]].x += dx, d->box[p->box[k]].y += dy;
    for (size_t k = 0; k < p->m; k++) {
        cri_link *l = &d->link[p->link[k]];
        for (size_t i = 0; i < l->n; i++) l->x[i] += dx, l->y[i] += dy;
    }
}

/* To the left edge; how wide it is. */
static void measure_part(drawing *d, part *p)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < p->n; k++) {
        const cri_box *b = &d->box[p->box[k]];
        low = fmin(low, b->x - b->width / 2);
        high = fmax(high, b->x + b->width / 2);
    }
    for (size_t k = 0; k < p->m; k++) {
        const cri_link *l = &d->link[p->link[k]];
        for (size_t i = 0; i < l->n; i++) low = fmin(low, l->x[i]), high = fmax(high, l->x[i]);
    }
    p->width = high - low;
    move_part(d, p, -low, 0);
}

static int by_size(const void *a, const void *b)
{
    const part *p = a, *q = b;
    if (p->height != q->height) return p->height < q->height ? 1 : -1;
    return (p->box[0] > q->box[0]) - (p->box[0] < q->box[0]);
}

/* The highest part first, in rows of about the wanted shape. */
static void pack_parts(drawing *d, double *out_width, double *out_height)
{
    double area = 0, widest = 0, x = 0, y = 0, row = 0;
    double gap = 2 * d->spacing->across;
    qsort(d->parts, d->n_parts, sizeof *d->parts, by_size);
    for (size_t k = 0; k < d->n_parts; k++) {
        area += (d->parts[k].width + gap) * (d->parts[k].height + gap);
        widest = fmax(widest, d->parts[k].width);
    }
    double row_width = fmax(widest, sqrt(area * d->spacing->aspect));
    *out_width = *out_height = 0;
    for (size_t k = 0; k < d->n_parts; k++) {
        const part *p = &d->parts[k];
        if (x > 0 && x + p->width > row_width * 1.01) {
            y += row + gap;
            x = row = 0;
        }
        move_part(d, p, x, y);
        x += p->width + gap;
        row = fmax(row, p->height);
        *out_width = fmax(*out_width, x - gap);
        *out_height = fmax(*out_height, y + row);
    }
}

cr_status cri_layered_place(cr_scratch *s, size_t n, cri_box *box, size_t m, cri_link *link,
                            const cri_spacing *spacing, double *out_width, double *out_height)
{
    cr_status st = CR_OK;
    drawing   d = { .s = s, .n = n, .m = m, .box = box, .link = link, .spacing = spacing };
    d.chain = cr_scratch_index(s, m);
    d.local = cr_scratch_index(s, n);
    CR_TRY(s->status);
    CR_TRY(find_parts(&d));
    CR_TRY(list_links(&d, true, &d.above));
    CR_TRY(list_links(&d, false, &d.below));
    for (size_t k = 0; k < d.n_parts; k++) {
        part      *p = &d.parts[k];
        cri_layers g;
        CR_TRY(cr_check_interrupt(s->cx));
        if (!find_depths(&d, p)) CR_TRY(cr_fail(s->cx, CR_EARG, "the graph has a cycle"));
        CR_TRY(shorten_links(&d, p));
        CR_TRY(make_layers(&d, p, &g));
        CR_TRY(cri_layers_order(s, &g));
        CR_TRY(cri_layers_align(s, &g));
        CR_TRY(draw_links(&d, p, &g));
        measure_part(&d, p);
    }
    pack_parts(&d, out_width, out_height);
done:
    return st;
}
