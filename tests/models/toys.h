/* toys.h -- the fixture for tests that need kinds of answers which the toy models of tests/surfaces
 * give: toy-mean (numbers with leverage), toy-smooth (numbers of any family, or classes),
 * toy-normal (densities, the next row, draws), toy-centres and toy-mixture (clusters with densities), toy-axes
 * (coordinates).  Including this file puts them into the registry of the test. */
#ifndef CREDENCE_TEST_TOYS_H
#define CREDENCE_TEST_TOYS_H

#include "fixture.h"
#include "models/core/class.h"

#endif
