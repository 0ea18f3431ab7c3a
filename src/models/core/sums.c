/* sums.c -- models that learn from sums over rows: leaves, the tree, the posterior, the file. */
#include "sums.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/table/table_internal.h"

#include <stdio.h>

/* --- nodes: the statistics of a face ---------------------------------------------------------- */

static cr_status merge_nodes(cr_ctx *cx, const void *model, void *a, const void *b)
{
    const cr_model *m = model;
    return m->class->sums->merge(cx, m->state, a, b);
}

static void free_node(cr_ctx *cx, const void *model, void *node)
{
    const cri_sums_face *face = ((const cr_model *)model)->class->sums;
    if (node) cri_record_free(cx, face->record, node);
    cr_free(cx, node, 1, face->size);
}

static cr_status copy_node(cr_ctx *cx, const void *model, const void *node, void **out)
{
    const cri_sums_face *face = ((const cr_model *)model)->class->sums;
    void                *copy = cr_alloc(cx, 1, face->size);
    cr_status            st = copy ? cri_record_copy(cx, face->record, node, copy) : CR_ENOMEM;
    if (st == CR_OK)
        *out = copy;
    else
        free_node(cx, model, copy);
    return st;
}

static const cri_forest_kind statistics = { merge_nodes, copy_node, free_node };

void cri_sums_free(cr_ctx *cx, cr_model *m) { cri_forest_free(cx, &statistics, m, &m->forest); }

/* The statistics of the state. */
static void *place(const cr_model *m) { return (char *)m->state + m->class->sums->at; }

static cr_status push(cr_ctx *cx, cr_model *m, void *node, size_t level)
{
    return cri_forest_push(cx, &statistics, m, &m->forest, node, level);
}

/* --- leaves ----------------------------------------------------------------------------------- */

/* The first of the rows from `begin` on that is behind row `end` of the table. */
static size_t find_end(const cri_rows *rows, size_t begin, size_t end)
{
    size_t i = begin;
    if (!rows->index) return end < rows->n ? end : rows->n;
    while (i < rows->n && rows->index[i] < end) i++;
    return i;
}

/* The next leaf that has rows; false behind the last. */
static bool next_leaf(const cri_rows *rows, size_t *leaf, size_t *begin, size_t *end)
{
    size_t        n;
    const size_t *starts = cri_table_leaves(rows->table, &n);
    *begin = *end;
    while (*leaf < n && *end == *begin) {
        ++*leaf;
        *end = *leaf < n ? find_end(rows, *begin, starts[*leaf]) : rows->n;
    }
    return *end > *begin;
}

size_t cri_sums_leaves(const cri_rows *rows)
{
    size_t count = 0, leaf = 0, begin = 0, end = 0;
    while (next_leaf(rows, &leaf, &begin, &end)) count++;
    return count;
}

cr_status cri_each_leaf(cr_ctx *cx, const cri_rows *rows, cri_leaf_fn *body, void *arg)
{
    size_t    n, leaf = 0, begin = 0, end = 0;
    bool      known = cri_table_leaves(rows->table, &n) || rows->n == 0;
    cr_status st = known ? CR_OK : cri_fail_memory(cx, sizeof(size_t)); /* that they would take */
    while (st == CR_OK && next_leaf(rows, &leaf, &begin, &end)) {
        cr_scratch s = cr_scratch_begin(cx);
        cri_rows   part = cri_rows_slice(&s, rows, begin, end);
        st = s.status == CR_OK ? cr_check_interrupt(cx) : s.status;
        if (st == CR_OK) st = body(cx, arg, &part);
        cr_scratch_end(&s);
    }
    return st;
}

static cr_status gather_leaf(cr_ctx *cx, void *model, const cri_rows *leaf)
{
    cr_model            *m = model;
    const cri_sums_face *face = m->class->sums;
    void                *node = cr_alloc(cx, 1, face->size);
    cr_status            st = node ? face->gather(cx, m->state, leaf, m->options, node) : CR_ENOMEM;
    if (st == CR_OK) return push(cx, m, node, 0);
    free_node(cx, m, node);
    return st;
}

cr_status cri_sums_gather(cr_ctx *cx, cr_model *m, const cri_rows *rows)
{
    if (m->class->sums->meet) m->class->sums->meet(cx, m->state, rows, m->options);
    return cri_each_leaf(cx, rows, gather_leaf, m);
}

/* --- the state -------------------------------------------------------------------------------- */

cr_status cri_sums_reopen(cr_ctx *cx, cr_model *m)
{
    const cri_sums_face *face = m->class->sums;
    cr_status            st = face->check ? face->check(cx, m->state) : CR_OK;
    if (st != CR_OK) return st;
    if (m->forest.n == 0) {
        void *node = cr_alloc(cx, 1, face->size);
        if (!node) return CR_ENOMEM;
        cri_record_move(cx, face->record, place(m), node);
        st = push(cx, m, node, m->level);
    }
    if (face->reopen) face->reopen(cx, m->state);
    return st;
}

cr_status cri_sums_join(cr_ctx *cx, cr_model *m, const size_t *map, size_t classes)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < m->forest.n && st == CR_OK; i++)
        st = m->class->sums->join(cx, m->forest.trees[i].root, map, classes);
    return st;
}

cr_status cri_sums_solve(cr_ctx *cx, cr_model *m)
{
    cr_status            st = CR_OK;
    const cri_sums_face *face = m->class->sums;
    void                *sum = NULL;

    if (m->forest.n == 1) {
        sum = m->forest.trees[0].root;
        m->level = m->forest.trees[0].level;
        m->forest.n = 0;
    } else {
        CR_TRY(cri_forest_fold(cx, &statistics, m, &m->forest, &sum));
    }
    cri_record_move(cx, face->record, sum, place(m));
    CR_TRY(face->solve(cx, m->design, m->options, m->state, &m->report));
done:
    free_node(cx, m, sum);
    return st;
}

/* --- file ------------------------------------------------------------------------------------- */

/* "trees": [{"level": 3, "sums": {...}}, ...] and arrays under tree0/, tree1/, ...; of a single tree its level
 * alone, and nothing at all of a single leaf. */
enum { TREE_NAME = 32 };
static const char *tree_name(size_t i, char out[TREE_NAME])
{
    snprintf(out, TREE_NAME, "tree%zu", i);
    return out;
}

static cr_status write_tree(cr_ctx *cx, const cr_model *m, size_t i, cri_store *store, json_t *list)
{
    cr_status st = CR_OK;
    json_t   *tree = json_object(), *sums = json_object();
    size_t    level = m->forest.n ? m->forest.trees[i].level : m->level;
    char      name[TREE_NAME];

    st = cri_store_append(cx, list, tree);
    if (st == CR_OK) st = cri_store_set(cx, tree, "level", json_integer((json_int_t)level));
    if (st != CR_OK || m->forest.n == 0) {
        json_decref(sums);
        return st;
    }
    CR_TRY(cri_store_set(cx, tree, "sums", sums));
    cri_store_within(store, tree_name(i, name));
    st = cri_record_write(cx, m->class->sums->record, m->forest.trees[i].root, store, sums);
    cri_store_within(store, "");
done:
    return st;
}

cr_status cri_sums_write(cr_ctx *cx, const cr_model *m, cri_store *store, json_t *root)
{
    cr_status st = CR_OK;
    size_t    n = m->forest.n ? m->forest.n : 1;
    json_t   *list = NULL;
    if (!m->class->sums || (m->forest.n == 0 && m->level == 0)) goto done;
    CR_TRY(cri_store_set(cx, root, "trees", list = json_array()));
    for (size_t i = 0; i < n; i++) CR_TRY(write_tree(cx, m, i, store, list));
done:
    return st;
}

/* The arrays of both have the same shapes; what no file holds of them is taken over. */
static bool make_alike(const cri_member *record, const void *like, void *node)
{
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END; m++) {
        const char *from = (const char *)like + m->offset;
        char       *to = (char *)node + m->offset;
        if (m->part && !make_alike(m->part, from, to)) return false;
        if (cri_member_is_array(m) && (cri_member_rows(m, like) != cri_member_rows(m, node) ||
                                       cri_member_cols(m, like) != cri_member_cols(m, node)))
            return false;
        if (m->kind == CRI_MEMBER_count && cri_member_has(m, "made"))
            *(size_t *)to = *(const size_t *)from;
    }
    return true;
}

static cr_status read_node(cr_ctx *cx, cri_store *store, const json_t *tree, size_t i,
                           const cr_model *m, void **out)
{
    cr_status            st = CR_OK;
    const cri_sums_face *face = m->class->sums;
    void                *node = cr_alloc(cx, 1, face->size);
    json_t              *sums;
    char                 name[TREE_NAME];

    if (!node) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_store_get_object(cx, store, tree, "sums", &sums));
    cri_store_within(store, tree_name(i, name));
    st = cri_record_read(cx, face->record, store, sums, node);
    cri_store_within(store, "");
    if (st == CR_OK &&
        !(face->fits ? face->fits(m->state, node) : make_alike(face->record, place(m), node)))
        st = cr_fail(cx, CR_EDATA, "%s: the statistics of %s do not fit its state",
                     cri_store_source(store), m->class->name);
    CR_TRY(st);
    *out = node;
    node = NULL;
done:
    free_node(cx, m, node);
    return st;
}

/* Levels must fall, as they do in a forest. */
cr_status cri_sums_read(cr_ctx *cx, cri_store *store, const json_t *root, cr_model *m)
{
    cr_status st = CR_OK;
    json_t   *list = NULL;
    size_t    n, level, above = SIZE_MAX;
    if (!m->class->sums || !json_object_get(root, "trees")) goto done;
    CR_TRY(cri_store_get_array(cx, store, root, "trees", &list));
    n = json_array_size(list);
    for (size_t i = 0; i < n; i++, above = level) {
        const json_t *tree = json_array_get(list, i);
        void         *node = NULL;
        CR_TRY(cri_store_get_count(cx, store, tree, "level", &level));
        if (n > CRI_MOST_TREES || level >= above || level >= CRI_MOST_TREES)
            CR_TRY(cr_fail(cx, CR_EDATA, "%s: the trees of its statistics are not in order",
                           cri_store_source(store)));
        if (n == 1) {
            m->level = level;
            break;
        }
        CR_TRY(read_node(cx, store, tree, i, m, &node));
        m->forest.trees[m->forest.n++] = (cri_tree){ node, level };
    }
done:
    return st;
}
