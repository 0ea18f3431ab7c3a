/* small_networks.h -- x -> y -> z as JSON, of states and of numbers. */
#ifndef CREDENCE_TEST_GRAPH_SMALL_NETWORKS_H
#define CREDENCE_TEST_GRAPH_SMALL_NETWORKS_H

static const char CHAIN[] =
    "{\"network\": \"bayes\", \"variables\": {"
    " \"x\": {\"states\": [\"x0\", \"x1\"], \"table\": [0.3, 0.7]},"
    " \"y\": {\"states\": [\"y0\", \"y1\"], \"parents\": [\"x\"], \"table\": [0.1, 0.9, 0.6, 0.4]},"
    " \"z\": {\"states\": [\"z0\", \"z1\"], \"parents\": [\"y\"], \"table\": [0.2, 0.8, 0.5, "
    "0.5]}}}";

static const char NORMALS[] =
    "{\"network\": \"gaussian\", \"variables\": {"
    " \"x\": {\"linear-gaussian\": {\"intercept\": 1, \"variance\": 2}},"
    " \"y\": {\"linear-gaussian\": {\"weights\": {\"x\": 0.5}, \"variance\": 1}},"
    " \"z\": {\"linear-gaussian\": {\"weights\": {\"y\": -2}, \"variance\": 3}}}}";

#endif
