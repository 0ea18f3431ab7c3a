/* version.c -- which library this is. */
#include "version.h"

unsigned    cr_abi_version(void) { return CR_ABI_VERSION; }
const char *cr_version(void) { return CREDENCE_VERSION; }
