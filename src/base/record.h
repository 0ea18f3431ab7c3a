/* record.h -- a struct declared once, as options are: from its list of members come the struct, save
 * and load with every shape and value checked (data/store/record_store.h), free and copy.
 *
 *     #define KNN_STATE(MEMBER)                                                           \
 *         MEMBER(count,  n, (),     ">0",  "rows")                                        \
 *         MEMBER(count,  p, (),     "",    "terms")                                       \
 *         MEMBER(real,   k, (),     ">=1", "neighbours")                                  \
 *         MEMBER(matrix, X, (n, p), "",    "where the rows are")                          \
 *         MEMBER(vector, w, (n),    ">0",  "what they count")
 *
 *     CRI_RECORD(cri_knn, KNN_STATE, cr_neighbours *tree;);     the struct, and what no file holds
 *
 *     CRI_RECORD_TABLE(static, knn_record, cri_knn, KNN_STATE); and its table, in one source file
 *
 * Columns: kind, member, shape (members that count, which stand before it; of a part its type, whose
 * table is called type_record), range, help.  A range holds for every number: "" (any that is
 * finite) or bounds as of options, ">0", "0..1"; of a choice "a|b|c".  After it, apart by spaces:
 *     none    a real may be NaN, an array or a part absent
 *     later   a number that older files lack: 0 of a count, NaN of a real that may be none
 *     spare   a count or real that is left out where it is 0, and is 0 where it is left out
 *     found   a count that no file holds: the first array of this shape tells it
 *     minus   of reals and vectors: NaN is allowed, and is -1 in the file
 *     endless a real may be infinite, and is then null in the file
 *     told    of an array that may be absent: the JSON has `true` under its name where it is there
 *     any     numbers need not be finite
 *     sums    a vector, or every row of a matrix, sums to one
 *     rises   no number of an array is below the one before it
 *     made    no part of the file, but made of what is, once that is known to fit
 *     inside  of a part: in the file its numbers stand in an object of its name
 *     full    an array is left out where it has no elements, and is then absent
 *     listed  a vector is a list in the JSON, null where it is not finite
 *     triangle  of a square matrix, or several below each other: the file has the lower triangles, row
 *             after row, in a vector; their diagonals are above 0
 *     as:NAME the last word: the name that it has in the file
 * (Internal header.) */
#ifndef CREDENCE_BASE_RECORD_H
#define CREDENCE_BASE_RECORD_H

#include "context.h"

#include <stddef.h>
#include <stdint.h>

typedef enum cri_member_kind {
    CRI_MEMBER_END,
    CRI_MEMBER_count,  /* size_t                                           */
    CRI_MEMBER_flag,   /* bool                                             */
    CRI_MEMBER_real,   /* double                                           */
    CRI_MEMBER_choice, /* int: index into the choices of the range         */
    CRI_MEMBER_text,   /* char *, of cri_string_copy                       */
    CRI_MEMBER_vector, /* double * [rows]                                  */
    CRI_MEMBER_matrix, /* double * [rows x cols]                           */
    CRI_MEMBER_index,  /* size_t * [rows], whole numbers in the file       */
    CRI_MEMBER_codes,  /* uint32_t * [rows x cols], likewise               */
    CRI_MEMBER_part    /* another record, whose members stand among ours   */
} cri_member_kind;

typedef struct cri_member {
    const char     *name;
    cri_member_kind kind;
    size_t          offset, rows, cols; /* offsets of the member and of the counts of its shape */
    const char     *range, *help;
    const struct cri_member *part;
} cri_member;

/* --- declaring -------------------------------------------------------------------------------- */

#define CRI_DECLARE_count(name, shape) size_t name;
#define CRI_DECLARE_flag(name, shape) bool name;
#define CRI_DECLARE_real(name, shape) double name;
#define CRI_DECLARE_choice(name, shape) int name;
#define CRI_DECLARE_text(name, shape) char *name;
#define CRI_DECLARE_vector(name, shape) double *name;
#define CRI_DECLARE_matrix(name, shape) double *name;
#define CRI_DECLARE_index(name, shape) size_t *name;
#define CRI_DECLARE_codes(name, shape) uint32_t *name;
#define CRI_DECLARE_part(name, ...) CRI_DECLARE_OF(name, CRI_SHAPE_OPEN __VA_ARGS__)
#define CRI_DECLARE_OF(name, type) type name;

#define CRI_RECORD_MEMBER(kind, name, shape, range, help) CRI_DECLARE_##kind(name, shape)
#define CRI_RECORD(...) CRI_RECORD_WITH(__VA_ARGS__, , )
#define CRI_RECORD_WITH(type, LIST, more, ...)                                                     \
    typedef struct type {                                                                          \
        LIST(CRI_RECORD_MEMBER)                                                                    \
        more                                                                                       \
    } type

#define CRI_SHAPE_count(type, ...) 0, 0
#define CRI_SHAPE_flag(type, ...) 0, 0
#define CRI_SHAPE_real(type, ...) 0, 0
#define CRI_SHAPE_choice(type, ...) 0, 0
#define CRI_SHAPE_text(type, ...) 0, 0
#define CRI_SHAPE_part(type, ...) 0, 0
#define CRI_SHAPE_vector(type, ...) CRI_SHAPE_OF_ONE(type, __VA_ARGS__)
#define CRI_SHAPE_index(type, ...) CRI_SHAPE_OF_ONE(type, __VA_ARGS__)
#define CRI_SHAPE_matrix(type, ...) CRI_SHAPE_OF_TWO(type, __VA_ARGS__)
#define CRI_SHAPE_codes(type, ...) CRI_SHAPE_OF_TWO(type, __VA_ARGS__)
#define CRI_SHAPE_OF_ONE(type, n) offsetof(type, n), 0
#define CRI_SHAPE_OF_TWO(type, n, p) offsetof(type, n), offsetof(type, p)
#define CRI_SHAPE_OPEN(...) __VA_ARGS__
#define CRI_PART_count(...) NULL
#define CRI_PART_flag(...) NULL
#define CRI_PART_real(...) NULL
#define CRI_PART_choice(...) NULL
#define CRI_PART_text(...) NULL
#define CRI_PART_vector(...) NULL
#define CRI_PART_index(...) NULL
#define CRI_PART_matrix(...) NULL
#define CRI_PART_codes(...) NULL
#define CRI_PART_part(...) CRI_PART_OF(__VA_ARGS__)
#define CRI_PART_OF(type) type##_record
#define CRI_RECORD_ROW(kind, name, shape, range, help)                                             \
    { #name,                                                                                       \
      CRI_MEMBER_##kind,                                                                           \
      offsetof(CRI_TYPE, name),                                                                    \
      CRI_SHAPE_##kind(CRI_TYPE, CRI_SHAPE_OPEN shape),                                            \
      range,                                                                                       \
      help,                                                                                        \
      CRI_PART_##kind(CRI_SHAPE_OPEN shape) },
#define CRI_RECORD_END                                                                             \
    {                                                                                              \
        NULL, CRI_MEMBER_END, 0, 0, 0, NULL, NULL, NULL                                            \
    }

/* The table of a struct; `storage` is static or nothing.  Rows find the struct by the name CRI_TYPE: a
 * typedef in a file with tables of one struct, a macro round each table in one with several. */
#define CRI_RECORD_TABLE(storage, table, type, LIST)                                               \
    typedef type             CRI_TYPE;                                                             \
    storage const cri_member table[] = { LIST(CRI_RECORD_ROW) CRI_RECORD_END }

/* Defines the function type_free(cx, x), which frees the parts of a struct, whose table is type_record,
 * and leaves it empty. */
#define CRI_RECORD_FREE(type)                                                                      \
    typedef type type##_itself;                                                                    \
    void         type##_free(cr_ctx *cx, type##_itself *x)                                         \
    {                                                                                              \
        cri_record_free(cx, type##_record, x);                                                     \
        *x = (type##_itself){ 0 };                                                                 \
    }                                                                                              \
    struct cri_semicolon /* takes the one that ends the line */

/* A struct that holds others of its own making, whose members stand in the file apart from each
 * other: a list of two parameters, LIST(MEMBER, INNER), declares the former and names the latter as
 * in INNER(count, at.n, ...).
 *     typedef struct type { inner at; LIST(CRI_RECORD_MEMBER, CRI_RECORD_INNER) } type;
 *     const cri_member record[] = { LIST(CRI_RECORD_ROW, CRI_RECORD_ROW) CRI_RECORD_END }; */
#define CRI_RECORD_INNER(kind, name, shape, range, help)

/* --- living ----------------------------------------------------------------------------------- */

/* Allocates the arrays that must be there and are not yet, zeroed, by the counts that are set. */
cr_status cri_record_allocate(cr_ctx *cx, const cri_member *record, void *state);
/* A copy of all members in a zeroed struct. */
cr_status cri_record_copy(cr_ctx *cx, const cri_member *record, const void *from, void *to);
/* Moves all members to another struct: `from` has no arrays and texts afterwards, and what `to` had is
 * freed. */
void cri_record_move(cr_ctx *cx, const cri_member *record, void *from, void *to);
/* Frees the arrays and texts, not the struct. */
void cri_record_free(cr_ctx *cx, const cri_member *record, void *state);
/* The first member whose numbers are not what its range says; NULL where all are. */
const cri_member *cri_record_find_wrong(const cri_member *record, const void *state);

/* --- for those who walk over members ---------------------------------------------------------- */

bool cri_member_is_array(const cri_member *m);
/* Its name in the file. */
const char *cri_member_file_name(const cri_member *m);
/* true for a part that may be absent and has none of its arrays. */
bool cri_member_is_absent(const cri_member *m, const void *state);
/* true when its range has this word. */
bool cri_member_has(const cri_member *m, const char *word);
/* The rows and columns of an array, 1 column of a vector; the elements, SIZE_MAX where their number
 * overflows. */
size_t cri_member_rows(const cri_member *m, const void *state);
size_t cri_member_cols(const cri_member *m, const void *state);
size_t cri_member_elements(const cri_member *m, const void *state);
/* Number i of an array of whole numbers. */
double cri_member_whole_at(const cri_member *m, const void *a, size_t i);

#endif
