/* bench_libsvm.c -- reads a LIBSVM file once and prints one line of JSON: seconds, MB/s, peak RSS.
 *   bench_libsvm FILE [THREADS] */
#include "base/context.h"
#include "data/formats/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    cr_ctx         *cx = NULL;
    cr_table       *table = NULL;
    cr_read_options options = { 0 };
    struct stat     info;
    struct rusage   usage;
    if (argc < 2 || stat(argv[1], &info) != 0 || cr_ctx_new(NULL, &cx) != CR_OK) return 2;
    if (argc > 2) cr_ctx_set_threads(cx, (size_t)atoi(argv[2]));

    double    start = now();
    cr_status st = cr_table_read(cx, argv[1], &options, &table);
    double    seconds = now() - start;
    if (st != CR_OK) {
        fprintf(stderr, "%s\n%s\n", cr_error(cx), cr_error_notes(cx));
        return 3;
    }
    getrusage(RUSAGE_SELF, &usage);
    const cr_csr *X = cr_table_csr(table);
    printf("{\"file\":\"%s\",\"rows\":%zu,\"columns\":%zu,\"entries\":%zu,\"threads\":%zu,"
           "\"seconds\":%.4f,\"mb_per_second\":%.1f,\"peak_rss_mb\":%.1f}\n",
           argv[1], cr_table_rows(table), cr_table_columns(table), X ? X->row_start[X->rows] : 0,
           cr_ctx_threads(cx), seconds, (double)info.st_size / 1e6 / seconds,
           (double)usage.ru_maxrss * 1024 / 1e6);
    cr_table_free(cx, table);
    cr_ctx_free(cx);
    return 0;
}
