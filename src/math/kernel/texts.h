/* texts.h -- kernels of texts, on the different texts of a column rather than on rows.
 * Each side of a matrix has its different texts; a kernel computes rows of values between texts of
 * the two.  Where rows repeat texts so that a table of all pairs of texts is at most half the
 * matrix, the table is made once and looked up.  (Internal header.) */
#ifndef CREDENCE_MATH_KERNEL_TEXTS_H
#define CREDENCE_MATH_KERNEL_TEXTS_H

#include "kernel_internal.h"

/* A value and its derivative by the learned parameter of the kernel, if it has one. */
typedef struct cri_slope {
    double v, d;
} cri_slope;

/* The texts of one side for one node, and what its kernel made of them. */
typedef struct cri_texts {
    size_t       n;
    const char **text; /* [n] different ones, in order of bytes */
    size_t      *of;   /* [rows] the text of each row           */
    size_t       longest;
    cri_slope   *own;             /* [n] k(x, x), to divide by; or NULL    */
    void        *ready;           /* what the kernel made of them          */
    void        *links;           /* of side a: what it made of both       */
    double      *values, *slopes; /* of side a: [n x n of b] tables, or NULL */
} cri_texts;

struct cri_text_kernel {
    /* Makes ready the texts of a side (NULL: nothing is needed), then both together; the memory is
     * the arena's. */
    cr_status (*read)(cr_scratch *s, const cri_job *job, size_t node, cri_texts *t);
    cr_status (*join)(cr_scratch *s, const cri_job *job, size_t node, cri_texts *a,
                      const cri_texts *b);
    /* The doubles of workspace, zeroed, that rows need: with texts of b, and as they leave it. */
    size_t (*workspace)(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b);
    /* values[q] = k(text i of a, text j[q] of b) and, unless slopes is NULL, their derivatives.
     * Pure. */
    void (*row)(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b, size_t i,
                const size_t *j, size_t n, double *workspace, double *values, double *slopes);
    /* k(x, x) of text i; workspace as for rows of t with itself. */
    cri_slope (*own)(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                     double *workspace);
    /* true when values are to be divided by sqrt(k(x, x) k(y, y)). */
    bool (*normalised)(const cri_node *node);
};

/* The member prepare of the classes of texts. */
cr_status cri_text_prepare(cr_scratch *s, const cri_job *job, size_t node, cri_side *side);
/* Their member join. */
cr_status cri_text_join(cr_scratch *s, const cri_job *job, size_t node);
/* Their member pairs. */
void cri_text_pairs(const cri_job *job, size_t node, cri_tile tile, double *out);
/* What the classes of such kernels have in common. */
#define CRI_TEXT_CLASS(kernel)                                                                     \
    .family = CRI_PAIRS, .kind = CR_KERNEL_TEXT, .one_column = true, .pairs = cri_text_pairs,      \
    .prepare = cri_text_prepare, .join = cri_text_join, .text = (kernel)
/* Their member pairs_partial, of one that has a learned parameter. */
void cri_text_partial(const cri_job *job, size_t node, size_t s, size_t e, cri_tile tile,
                      const double *v, double *out);

/* --- pieces (pieces.c) ----------------------------------------------------------------------- */

typedef struct cri_piece {
    const char *at;
    size_t      length;
} cri_piece;

/* The texts as bags of pieces: text i has piece id[e] count[e] times, begin[i] <= e <
 * begin[i+1]. */
typedef struct cri_pieces {
    size_t     n; /* different pieces */
    cri_piece *piece;
    size_t    *begin, *id;
    double    *count;
    size_t    *slot, mask; /* pieces by their hash: 1 + number, 0 where free */
} cri_pieces;

/* Pieces of side a and those of side b that count together: of piece u, to[e] with weight[e],
 * begin[u] <= e < begin[u+1]. */
typedef struct cri_links {
    size_t *begin, *to;
    double *weight;
} cri_links;

/* Writes the pieces of a text to out (NULL: counts them only). */
typedef size_t cri_cut_fn(const cri_node *node, const char *text, cri_piece *out);

/* Cuts the texts into t->ready.  O(pieces of all texts). */
cr_status cri_pieces_cut(cr_scratch *s, const cri_job *job, size_t node, cri_texts *t,
                         cri_cut_fn *cut);
/* Links each piece with its equal on the other side, weight 1. */
cr_status cri_pieces_join(cr_scratch *s, const cri_job *job, size_t node, cri_texts *a,
                          const cri_texts *b);
/* The member workspace_size of kernels of pieces. */
size_t cri_pieces_workspace_size(const cri_job *job, size_t node, const cri_texts *a,
                                 const cri_texts *b);
/* Their member row: sum over u, v of count_x(u) weight(u, v) count_y(v). */
void cri_pieces_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                    size_t i, const size_t *j, size_t n, double *workspace, double *values,
                    double *slopes);

#endif
