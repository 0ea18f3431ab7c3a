/* junction.c -- compiling a network into a tree of cliques, and evidence into its tables. */
#include "junction.h"
#include "condition.h"
#include "elimination_tree.h"
#include "junction_internal.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

static void free_tree(cr_ctx *cx, cr_junction *j)
{
    size_t active = j->problem ? j->problem->active : 0;
    for (size_t c = 0; j->clique && c < j->cliques; c++) {
        cri_clique *q = &j->clique[c];
        cr_free(cx, q->scope, q->n, sizeof *q->scope);
        cr_free(cx, q->child, q->children, sizeof *q->child);
        cr_free(cx, q->table, q->tables, sizeof *q->table);
        cr_factor_free(cx, &q->up.table);
        cr_factor_free(cx, &q->down.table);
    }
    cr_free(cx, j->clique, j->cliques, sizeof *j->clique);
    cr_free(cx, j->by_height, j->cliques, sizeof *j->by_height);
    cr_free(cx, j->by_depth, j->cliques, sizeof *j->by_depth);
    cr_free(cx, j->home, active, sizeof *j->home);
    cri_factors_free(cx, j->table, j->tables);
    cr_free(cx, j->scale, j->tables, sizeof *j->scale);
    cri_problem_free(cx, j->problem);
    j->clique = NULL, j->by_height = j->by_depth = j->home = NULL;
    j->table = NULL, j->scale = NULL, j->problem = NULL;
    j->cliques = j->tables = 0;
}

void cr_junction_free(cr_ctx *cx, cr_junction *j)
{
    if (!j) return;
    size_t n = cr_network_size(j->net);
    free_tree(cx, j);
    cr_evidence_free(cx, j->evidence);
    if (j->offset) cr_free(cx, j->marginal, j->offset[n], sizeof *j->marginal);
    cr_free(cx, j->offset, n + 1, sizeof *j->offset);
    cr_free(cx, j->known, n, sizeof *j->known);
    cr_free(cx, j, 1, sizeof *j);
}

cr_exact_report cr_junction_report(const cr_junction *j) { return j->report; }

size_t cr_junction_messages(const cr_junction *j) { return j->messages; }

/* --- cliques --------------------------------------------------------------------------------- */

/* home[i]: the clique in which rank i is eliminated, numbered in the order of their first
 * variables.  The parent p of i joins the clique of i when {p} + later(p) = later(i); last[c]: the
 * last one eliminated. */
static size_t find_homes(const cri_elimination_tree *f, size_t *home, size_t *last)
{
    size_t cliques = 0;
    for (size_t i = 0; i < f->n; i++) home[i] = CR_NONE;
    for (size_t i = 0; i < f->n; i++) {
        if (home[i] == CR_NONE) home[i] = cliques++;
        last[home[i]] = i;
        size_t p = f->parent[i];
        if (p == CR_NONE || home[p] != CR_NONE) continue;
        if (f->begin[i + 1] - f->begin[i] == 1 + f->begin[p + 1] - f->begin[p]) home[p] = home[i];
    }
    return cliques;
}

static cr_status make_cliques(cr_ctx *cx, cr_junction *j, const cri_elimination_tree *f)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = f->n;
    size_t    *last = cr_scratch_index(&s, n);
    CR_TRY(s.status);
    j->home = cr_alloc(cx, n, sizeof *j->home);
    if (!j->home) CR_TRY(CR_ENOMEM);
    size_t cliques = find_homes(f, j->home, last);
    j->clique = cr_alloc(cx, cliques, sizeof *j->clique);
    if (!j->clique) CR_TRY(CR_ENOMEM);
    j->cliques = cliques;
    for (size_t i = 0; i < n; i++) {
        cri_clique *q = &j->clique[j->home[i]];
        if (q->eliminated++ > 0) continue;
        size_t later = f->begin[i + 1] - f->begin[i];
        q->scope = cr_alloc(cx, later + 1, sizeof *q->scope);
        if (!q->scope) CR_TRY(CR_ENOMEM);
        q->n = later + 1;
        q->scope[0] = i;
        if (later > 0) memcpy(q->scope + 1, f->later + f->begin[i], later * sizeof *q->scope);
    }
    for (size_t c = 0; c < cliques; c++) {
        size_t p = f->parent[last[c]];
        j->clique[c].parent = p == CR_NONE ? CR_NONE : j->home[p];
        if (p != CR_NONE) j->clique[j->home[p]].children++;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status link_children(cr_ctx *cx, cr_junction *j)
{
    for (size_t c = 0; c < j->cliques; c++) {
        cri_clique *q = &j->clique[c];
        q->child = cr_alloc(cx, q->children, sizeof *q->child);
        if (!q->child) return CR_ENOMEM;
        q->height = 0; /* until set: how many children are linked */
    }
    for (size_t c = 0; c < j->cliques; c++) {
        size_t p = j->clique[c].parent;
        if (p != CR_NONE) j->clique[p].child[j->clique[p].height++] = c;
    }
    return CR_OK;
}

/* by_depth: roots first, breadth first; by_height: its cliques sorted by their height. */
static cr_status order_cliques(cr_ctx *cx, cr_junction *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = j->cliques, used = 0;
    size_t    *count = cr_scratch_bytes(&s, n + 1, sizeof *count);
    CR_TRY(s.status);
    j->by_depth = cr_alloc(cx, n, sizeof *j->by_depth);
    j->by_height = j->by_depth ? cr_alloc(cx, n, sizeof *j->by_height) : NULL;
    if (!j->by_height) CR_TRY(CR_ENOMEM);
    for (size_t c = 0; c < n; c++) {
        j->clique[c].height = 0;
        if (j->clique[c].parent == CR_NONE) j->by_depth[used++] = c;
    }
    for (size_t i = 0; i < used; i++) {
        const cri_clique *q = &j->clique[j->by_depth[i]];
        for (size_t k = 0; k < q->children; k++) {
            j->clique[q->child[k]].depth = q->depth + 1;
            j->by_depth[used++] = q->child[k];
        }
    }
    for (size_t i = n; i-- > 0;) {
        const cri_clique *q = &j->clique[j->by_depth[i]];
        if (q->parent == CR_NONE) continue;
        size_t *height = &j->clique[q->parent].height;
        if (*height < q->height + 1) *height = q->height + 1;
    }
    for (size_t c = 0; c < n; c++) count[j->clique[c].height + 1]++;
    for (size_t h = 0; h < n; h++) count[h + 1] += count[h];
    for (size_t c = 0; c < n; c++) j->by_height[count[j->clique[c].height]++] = c;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Cuts what evidence leaves out of table t (see cr_junction.table), anew. */
static cr_status cut_table(cr_ctx *cx, cr_junction *j, size_t t)
{
    size_t    network_tables = cr_network_tables(j->net);
    cr_factor f = { 0 };
    double    scale = 0;
    cr_status st = CR_OK;
    if (t < network_tables)
        st = cri_problem_table(cx, j->problem, t, &f, &scale);
    else if (j->problem->weighed[j->problem->var[t - network_tables]])
        st = cri_problem_weight(cx, j->problem, j->problem->var[t - network_tables], &f, &scale);
    if (st != CR_OK) {
        cr_factor_free(cx, &f);
        return st;
    }
    cr_factor_free(cx, &j->table[t]);
    j->table[t] = f;
    j->scale[t] = scale;
    return CR_OK;
}

/* The clique that table t goes to: where the first of its variables is eliminated. */
static size_t clique_of_table(const cr_junction *j, size_t t)
{
    size_t tables = cr_network_tables(j->net), first = CR_NONE;
    if (t >= tables) return j->home[t - tables];
    cr_table_view v = cr_network_table(j->net, t);
    for (size_t k = 0; k < v.n; k++) {
        size_t rank = j->problem->rank[v.scope[k]];
        if (rank != CR_NONE && (first == CR_NONE || rank < first)) first = rank;
    }
    return first == CR_NONE ? CR_NONE : j->home[first];
}

/* Which tables go to which clique; they are made by cut_tables. */
static cr_status assign_tables(cr_ctx *cx, cr_junction *j)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t    *used = cr_scratch_bytes(&s, j->cliques, sizeof *used);
    size_t     tables = cr_network_tables(j->net) + j->problem->active;
    CR_TRY(s.status);
    j->table = cr_alloc(cx, tables, sizeof *j->table);
    if (!j->table) CR_TRY(CR_ENOMEM);
    j->tables = tables;
    j->scale = cr_alloc(cx, tables, sizeof *j->scale);
    if (!j->scale) CR_TRY(CR_ENOMEM);
    for (size_t t = 0; t < tables; t++) {
        size_t c = clique_of_table(j, t);
        if (c != CR_NONE) used[c]++;
    }
    for (size_t c = 0; c < j->cliques; c++) {
        j->clique[c].table = cr_alloc(cx, used[c], sizeof *j->clique[c].table);
        if (!j->clique[c].table) CR_TRY(CR_ENOMEM);
        j->clique[c].tables = used[c];
        used[c] = 0;
    }
    for (size_t t = 0; t < tables; t++) {
        size_t c = clique_of_table(j, t);
        if (c != CR_NONE) j->clique[c].table[used[c]++] = t;
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status cut_tables(cr_ctx *cx, cr_junction *j)
{
    cr_status st = CR_OK;
    for (size_t t = 0; t < j->tables; t++) CR_TRY(cut_table(cx, j, t));
done:
    return st;
}

/* The logs of the likelihoods of variables that are not in the tree. */
static double constant_weight(const cri_problem *p)
{
    double sum = 0;
    for (size_t v = 0; v < p->n; v++)
        if (p->weighed[v] && p->rank[v] == CR_NONE) sum += log(p->weight[p->first[v]]);
    return sum;
}

/* --- compiling ------------------------------------------------------------------------------- */

/* Before the first table is made: does it fit into memory and time? */
static cr_status check_limits(cr_ctx *cx, const cr_junction *j)
{
    if (j->options.memory == SIZE_MAX) return CR_OK;
    if (j->report.tables <= cri_exact_memory(cx, &j->options) &&
        cri_exact_in_time(cx, &j->options, j->report.operations)) {
        cri_exact_warn_long(cx, &j->report);
        return CR_OK;
    }
    return cri_exact_refuse(cx, "a junction tree", &j->report, &j->options);
}

static cr_status compile(cr_ctx *cx, cr_junction *j)
{
    cr_status            st = CR_OK;
    cr_graph             g = { 0 };
    cr_order             o = { 0 };
    cri_elimination_tree f = { 0 };
    double               start = (double)cr_ctx_memory(cx) - j->own, before, finding, passing, now;
    CR_TRY(cri_problem_new(cx, j->net, j->evidence, NULL, &j->problem));
    before = (double)cr_ctx_memory(cx);
    CR_TRY(cri_problem_graph(cx, j->problem, &g));
    finding = (double)cr_ctx_memory(cx) - start;
    CR_TRY(cr_order_find(cx, &g, j->problem->active_states, NULL, j->options.order,
                         j->options.effort, &o));
    CR_TRY(cri_elimination_tree_new(cx, &g, o.order, &f));
    passing = (double)cr_ctx_memory(cx) - before; /* graph, order and fill: not kept */
    CR_TRY(cri_problem_rank(cx, j->problem, o.order));
    CR_TRY(make_cliques(cx, j, &f));
    CR_TRY(link_children(cx, j));
    CR_TRY(order_cliques(cx, j));
    CR_TRY(assign_tables(cx, j));
    now = (double)cr_ctx_memory(cx) - start;
    CR_TRY(cri_junction_predict(cx, j, &o, finding + o.bytes, now, passing));
    CR_TRY(check_limits(cx, j));
    CR_TRY(cut_tables(cx, j));
    j->constant = constant_weight(j->problem);
done:
    cri_elimination_tree_free(cx, &f);
    cr_order_free(cx, &o);
    cr_graph_free(cx, &g);
    return st;
}

static cr_status copy_evidence(cr_ctx *cx, cr_junction *j, const cr_evidence *opt_e)
{
    cr_evidence *e = NULL;
    cr_status    st = cri_evidence_copy(cx, j->net, opt_e, &e);
    if (st != CR_OK) return st;
    cr_evidence_free(cx, j->evidence);
    j->evidence = e;
    return CR_OK;
}

cr_status cr_junction_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                          const cr_exact_options *opt_o, cr_junction **out_j)
{
    cr_status st = cr_network_check(cx, net);
    return st == CR_OK ? cri_junction_new(cx, net, opt_e, opt_o, out_j) : st;
}

cr_status cri_junction_new(cr_ctx *cx, const cr_network *net, const cr_evidence *opt_e,
                           const cr_exact_options *opt_o, cr_junction **out_j)
{
    cr_status    st = CR_OK;
    size_t       n = cr_network_size(net);
    size_t       before = cr_ctx_memory(cx);
    cr_junction *j = cr_alloc(cx, 1, sizeof *j);
    if (!j) return CR_ENOMEM;
    j->net = net;
    j->options = opt_o ? *opt_o : cr_exact_defaults();
    j->known = cr_alloc(cx, n, sizeof *j->known);
    j->offset = j->known ? cr_alloc(cx, n + 1, sizeof *j->offset) : NULL;
    if (!j->offset) CR_TRY(CR_ENOMEM);
    for (size_t v = 0; v < n; v++) j->offset[v + 1] = j->offset[v] + cr_network_states(net, v);
    j->marginal = cr_alloc(cx, j->offset[n], sizeof *j->marginal);
    if (!j->marginal) CR_TRY(CR_ENOMEM);
    CR_TRY(copy_evidence(cx, j, opt_e));
    j->own = (double)cr_ctx_memory(cx) - (double)before;
    CR_TRY(compile(cx, j));
    *out_j = j;
    j = NULL;
done:
    cr_junction_free(cx, j);
    return st;
}

/* --- evidence that changes ------------------------------------------------------------------- */

/* How the evidence on v differs: 0 not at all, 1 in likelihoods, 2 in the states that are left. */
static int difference(const cr_junction *j, const cr_evidence *opt_e, size_t v)
{
    const double *a = cr_evidence_likelihood(j->evidence, v);
    const double *b = opt_e ? cr_evidence_likelihood(opt_e, v) : NULL;
    int           found = 0;
    for (size_t s = 0; s < cr_network_states(j->net, v); s++) {
        double x = a ? a[s] : 1, y = b ? b[s] : 1;
        if ((x == 0) != (y == 0)) return 2;
        if (x != y) found = 1;
    }
    return found;
}

/* Does the tree stay as it is when the states of v that are left change?  A variable that is not in
 * it must be in one state as before, though it may be another. */
static bool stays(const cr_junction *j, const cr_evidence *opt_e, size_t v)
{
    if (!j->problem) return false;
    return j->problem->rank[v] != CR_NONE || (opt_e && cr_evidence_state(opt_e, v) != CR_NONE);
}

void cri_junction_forget(cr_junction *j)
{
    for (size_t c = 0; c < j->cliques; c++) j->clique[c].up.valid = j->clique[c].down.valid = false;
    memset(j->known, 0, cr_network_size(j->net) * sizeof *j->known);
}

/* Drops the messages that leave an affected clique. */
static void drop_messages(cr_junction *j, size_t *affected)
{
    size_t total = 0;
    for (size_t c = 0; c < j->cliques; c++) total += affected[c];
    for (size_t i = j->cliques;
         i-- > 0;) { /* deepest first: affected[c] becomes that of the subtree */
        cri_clique *q = &j->clique[j->by_depth[i]];
        size_t      here = affected[j->by_depth[i]];
        if (q->parent != CR_NONE) affected[q->parent] += here;
        if (here > 0) q->up.valid = false;
        if (here < total || (here > 0 && q->down.divided)) q->down.valid = false;
    }
}

/* Cuts the tables that hold a changed variable, and marks the cliques that this affects. */
static cr_status cut_changed(cr_ctx *cx, cr_junction *j, const int *change, size_t *affected)
{
    size_t tables = cr_network_tables(j->net);
    for (size_t t = 0; t < j->tables; t++) {
        bool cut = false;
        if (t < tables) {
            cr_table_view v = cr_network_table(j->net, t);
            for (size_t k = 0; k < v.n; k++) cut |= change[v.scope[k]] == 2;
        } else {
            cut = change[j->problem->var[t - tables]] > 0;
        }
        if (!cut) continue;
        cr_status st = cut_table(cx, j, t);
        if (st != CR_OK) return st;
        size_t c = clique_of_table(j, t);
        if (c != CR_NONE) affected[c] = 1;
    }
    for (size_t c = 0; c < j->cliques; c++) {
        const cri_clique *q = &j->clique[c];
        for (size_t i = 0; i < q->n; i++) {
            int how = change[j->problem->var[q->scope[i]]];
            if (how == 2 || (how == 1 && i < q->eliminated)) affected[c] = 1;
        }
    }
    return CR_OK;
}

cr_status cr_junction_set_evidence(cr_ctx *cx, cr_junction *j, const cr_evidence *opt_e)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = cr_network_size(j->net);
    int       *change = cr_scratch_bytes(&s, n, sizeof *change);
    size_t    *affected = cr_scratch_bytes(&s, j->cliques, sizeof *affected);
    bool       any = false, anew = false;
    CR_TRY(s.status);
    for (size_t v = 0; v < n; v++) {
        change[v] = difference(j, opt_e, v);
        any |= change[v] > 0;
        anew |= change[v] == 2 && !stays(j, opt_e, v);
    }
    anew |= !j->problem;
    if (!any && !anew) goto done;
    CR_TRY(copy_evidence(cx, j, opt_e));
    memset(j->known, 0, n * sizeof *j->known);
    if (anew) {
        free_tree(cx, j);
        st = compile(cx, j);
    } else {
        cri_problem_take(j->problem, j->evidence);
        j->constant = constant_weight(j->problem);
        st = cut_changed(cx, j, change, affected);
        if (st == CR_OK) drop_messages(j, affected);
    }
    if (st != CR_OK) free_tree(cx, j); /* compiled anew when evidence is set next */
done:
    cr_scratch_end(&s);
    return st;
}
