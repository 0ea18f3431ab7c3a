/* junction_calibrate.c -- the two passes over a junction tree: collect towards the roots, distribute
 * away from them. */
#include "junction_internal.h"
#include "graph/factor/factor_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "graph/network/network_internal.h"

#include <math.h>

/* --- a step at every clique ------------------------------------------------------------------ */

typedef enum direction { LEAVES_FIRST, ROOTS_FIRST, ANY_ORDER } direction;

/* What is done at a clique, where it is due; false: without memory. */
typedef struct step {
    direction order;
    bool (*is_due)(const cr_junction *j, const cri_clique *c);
    bool (*take)(cr_ctx *cx, cr_junction *j, size_t c, bool threaded);
} step;

static bool lacks_up(const cr_junction *j, const cri_clique *c)
{
    (void)j;
    return !c->up.valid && !c->skipped;
}

static bool lacks_down(const cr_junction *j, const cri_clique *c)
{
    for (size_t i = 0; i < c->children; i++)
        if (!j->clique[c->child[i]].down.valid) return true;
    return false;
}

static bool lacks_marginal(const cr_junction *j, const cri_clique *c)
{
    for (size_t i = 0; i < c->eliminated; i++)
        if (!j->known[j->problem->var[c->scope[i]]]) return true;
    return false;
}

static bool lacks_either(const cr_junction *j, const cri_clique *c)
{
    return lacks_down(j, c) || lacks_marginal(j, c);
}

static const step COLLECT = { LEAVES_FIRST, lacks_up, cri_send_up };
static const step DISTRIBUTE = { ROOTS_FIRST, lacks_down, cri_send_to_children };
static const step UPDATE = { ROOTS_FIRST, lacks_either, cri_update_children };
static const step MARGINALS = { ANY_ORDER, lacks_marginal, cri_rest_of_marginals };

/* The cliques of one level of the tree, which do not wait for each other. */
typedef struct level {
    cr_ctx        *cx;
    cr_junction   *j;
    const step    *step;
    size_t        *clique;
    unsigned char *failed;
} level;

static void take_step(void *arg, size_t i)
{
    level *l = arg;
    l->failed[i] = !l->step->take(l->cx, l->j, l->clique[i], false);
}

static double clique_size(const cr_junction *j, size_t c)
{
    cri_space sp;
    return cri_clique_space(j, &j->clique[c], &sp) ? cri_space_size(&sp) : INFINITY;
}

static cr_status fail_step(cr_ctx *cx, double size)
{
    return cri_fail_combine(cx, size < 1e15 ? (size_t)size : (size_t)1e15);
}

/* Large cliques one after another, each on all threads; small ones side by side. */
static cr_status take_level(level *l, size_t n)
{
    cr_status st = CR_OK;
    size_t    small = 0;
    double    total = 0;
    for (size_t i = 0; i < n; i++) {
        size_t c = l->clique[i];
        double size = clique_size(l->j, c);
        if (size >= CRI_ALONE) {
            if (!l->step->take(l->cx, l->j, c, true)) CR_TRY(fail_step(l->cx, size));
        } else {
            l->clique[small++] = c;
            total += size;
        }
    }
    if (total >= CRI_WORTH_THREADS && small > 1 && cr_ctx_threads(l->cx) > 1) {
        CR_TRY(cri_parallel_for(l->cx, NULL, small, take_step, l));
    } else {
        for (size_t i = 0; i < small; i++) take_step(l, i);
    }
    for (size_t i = 0; i < small; i++)
        if (l->failed[i]) CR_TRY(fail_step(l->cx, clique_size(l->j, l->clique[i])));
done:
    return st;
}

/* Level by level; a step that is not due is left out. */
static cr_status at_each_clique(cr_ctx *cx, cr_junction *j, const step *todo)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    level         l = { .cx = cx, .j = j, .step = todo };
    const size_t *order = todo->order == LEAVES_FIRST ? j->by_height : j->by_depth;
    l.clique = cr_scratch_index(&s, j->cliques);
    l.failed = cr_scratch_bytes(&s, j->cliques, 1);
    CR_TRY(s.status);
    for (size_t i = 0; i < j->cliques;) {
        const cri_clique *first = &j->clique[order[i]];
        size_t            n = 0;
        for (; i < j->cliques; i++) {
            const cri_clique *c = &j->clique[order[i]];
            if (todo->order == LEAVES_FIRST && c->height != first->height) break;
            if (todo->order == ROOTS_FIRST && c->depth != first->depth) break;
            if (todo->is_due(j, c)) l.clique[n++] = order[i];
        }
        j->messages += todo->order == ANY_ORDER ? 0 : n;
        CR_TRY(take_level(&l, n));
        CR_TRY(cr_check_interrupt(cx));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- calibration ----------------------------------------------------------------------------- */

cr_status cri_junction_collect(cr_ctx *cx, cr_junction *j)
{
    return at_each_clique(cx, j, &COLLECT);
}

/* Messages that are there already are kept: after a change of evidence few are missing. */
cr_status cr_junction_calibrate(cr_ctx *cx, cr_junction *j, cr_calibration how)
{
    cr_status st = CR_OK;
    double    log_e;

    /* collect:     up_c(S_c) = sum over R_c of  phi_c  prod_{children k} up_k
     *              and P(e), the product of what the messages were divided by */
    CR_TRY(cr_junction_log_evidence(cx, j, &log_e));
    if (log_e == -INFINITY) CR_TRY(cri_fail_impossible(cx));

    /* distribute:  down_k(S_k) = sum over C \ S_k of  phi_c  down_c  prod_{children j != k} up_j
     *              or, by Hugin, the belief of c summed onto S_k for all k at once, divided by up_k */
    CR_TRY(at_each_clique(cx, j, how == CR_CALIBRATE_HUGIN ? &UPDATE : &DISTRIBUTE));

    /* marginals:   P(v | e) ~ sum over C \ v of  phi_c  down_c  prod_{children k} up_k, in the clique
     *              where v is eliminated; where a separator of it holds v, of up_k down_k alone */
    CR_TRY(at_each_clique(cx, j, &MARGINALS));
done:
    return st;
}

cr_status cri_junction_pull(cr_ctx *cx, cr_junction *j, size_t towards)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = 0;
    size_t    *path = cr_scratch_index(&s, j->cliques);
    CR_TRY(s.status);
    for (size_t c = towards; c != CR_NONE; c = j->clique[c].parent) j->clique[c].skipped = true;
    st = cri_junction_collect(cx, j);
    for (size_t c = towards; c != CR_NONE; c = j->clique[c].parent) j->clique[c].skipped = false;
    CR_TRY(st);
    for (size_t c = towards; j->clique[c].parent != CR_NONE && !j->clique[c].down.valid;
         c = j->clique[c].parent)
        path[n++] = c;
    while (n-- > 0) {
        size_t parent = j->clique[path[n]].parent;
        double size = clique_size(j, parent);
        j->messages++;
        if (!cri_send_down(cx, j, path[n], size >= CRI_ALONE)) CR_TRY(fail_step(cx, size));
    }
done:
    cr_scratch_end(&s);
    return st;
}
