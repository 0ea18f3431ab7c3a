/* version.h -- which library this is, for programs that load it at run time. */
#ifndef CREDENCE_BASE_VERSION_H
#define CREDENCE_BASE_VERSION_H

#include "status.h"

/* Grows by one whenever a public function or struct changes or goes; what is only new leaves it as
 * it is.  A program compares it with what cr_abi_version answers before it calls anything else. */
enum { CR_ABI_VERSION = 1 };

/* The CR_ABI_VERSION that this library was built with. */
CR_API unsigned cr_abi_version(void);
/* The version of the library: "0.1.0". */
CR_API const char *cr_version(void);

#endif
