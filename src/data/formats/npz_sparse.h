/* npz_sparse.h -- sparse matrices as scipy.sparse.save_npz writes them.
 * Five arrays: indptr [rows + 1], indices and data [entries], shape [2] and format, the text "csr".
 * Entries of a row may be in any order; those of one place are added up, as scipy does.
 * (Internal header.) */
#ifndef CREDENCE_DATA_FORMATS_NPZ_SPARSE_H
#define CREDENCE_DATA_FORMATS_NPZ_SPARSE_H

#include "data/table/table.h"
#include "data/bytes/zip.h"

/* true when the archive has all five arrays. */
bool cri_npz_is_sparse(cr_ctx *cx, const cri_zip *zip);
/* true for the name of one of them. */
bool cri_npz_is_sparse_part(const char *entry);
/* A table with the matrix as its sparse block.  Fails with CR_EDATA for other formats than CSR and
 * for arrays that do not fit together; or CR_ENOMEM. */
cr_status cri_npz_read_sparse(cr_ctx *cx, const cri_zip *zip, const char *source,
                              cr_table **out_table);

#endif
