/* attributes.h -- labelled sequences with attributes, as CRFsuite reads them.
 *   line  :=  label { TAB attribute }          a row; a blank line ends a sequence
 *   attribute  :=  NAME=VALUE | NAME | NAME:WEIGHT      in names, \: and \\ are a colon and a backslash
 * The table has the columns `sequence` (1, 2, ...) and `label`, and then one for each NAME in the order of
 * their first appearance: a category of the VALUEs, missing where the row has none; or, of names without
 * a value or with a weight (w=the:0.5 has the name w=the), the number, 1 without a weight, and 0 where the
 * row has none.  A first field that is empty is a missing label.
 * Okazaki (2007), CRFsuite.  (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_ATTRIBUTES_H
#define CREDENCE_DATA_FORMATS_ATTRIBUTES_H

#include "base/context.h"
#include "data/table/table.h"

enum { CRI_ATTRIBUTES_MOST_COLUMNS = 100000 };

/* Reads `size` bytes of text.  O(size + rows x columns).  Fails with CR_EDATA at source:line for a row that has
 * two values of one name, a name that is a category and a number, a weight that is no number, and where there
 * are no rows or too many columns; with CR_ENOMEM or CR_EINTERRUPTED.  Then *out_table is left as it was. */
cr_status cri_attributes_read(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                              cr_table **out_table);

#endif
