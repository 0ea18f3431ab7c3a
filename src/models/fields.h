/* fields.h -- records of structs that are not yet declared as lists (base/record.h): a table of the
 * members of a struct written by hand, whose values nobody has stated a range for.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_FIELDS_H
#define CREDENCE_MODELS_FIELDS_H

#include "record_store.h"

/* clang-format off */
#define CRI_FIELD_COUNT(type, m)        { #m, CRI_MEMBER_count, offsetof(type, m), 0, 0, "", "", NULL }
#define CRI_FIELD_FLAG(type, m)         { #m, CRI_MEMBER_flag, offsetof(type, m), 0, 0, "", "", NULL }
#define CRI_FIELD_REAL(type, m)         { #m, CRI_MEMBER_real, offsetof(type, m), 0, 0, "any none", "", NULL }
#define CRI_FIELD_VECTOR(type, m, n)    { #m, CRI_MEMBER_vector, offsetof(type, m), offsetof(type, n), 0, "any", "", NULL }
#define CRI_FIELD_MATRIX(type, m, r, c) { #m, CRI_MEMBER_matrix, offsetof(type, m), offsetof(type, r), offsetof(type, c), "any", "", NULL }
#define CRI_FIELD_OPTIONAL_MATRIX(type, m, r, c) { #m, CRI_MEMBER_matrix, offsetof(type, m), offsetof(type, r), offsetof(type, c), "any none", "", NULL }
#define CRI_FIELD_LAST                  CRI_RECORD_END
/* clang-format on */

#endif
