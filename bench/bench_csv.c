/* bench_csv.c -- reads a CSV file once and prints one line of JSON: seconds, MB/s, peak RSS.
 *   bench_csv FILE [THREADS]
 * cc -O2 -D_XOPEN_SOURCE=700 -Isrc bench/bench_csv.c build/release/libcredence_static.a -pthread -lz
 * -lzstd -lm */
#include "base/context.h"
#include "data/csv/csv.h"
#include "data/table/table.h"

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

static double column_bytes(const cr_table *table)
{
    double bytes = 0, rows = (double)cr_table_rows(table);
    for (size_t c = 0; c < cr_table_columns(table); c++)
        bytes += rows * (cr_table_column(table, c)->type == CR_CATEGORY ? 4 : 8);
    return bytes;
}

int main(int argc, char **argv)
{
    cr_ctx         *cx = NULL;
    cri_source     *source = NULL;
    cr_table       *table = NULL;
    cr_read_options options = { 0 };
    struct stat     info;
    struct rusage   usage;
    if (argc < 2 || stat(argv[1], &info) != 0 || cr_ctx_new(NULL, &cx) != CR_OK) return 2;
    if (argc > 2) cr_ctx_set_threads(cx, (size_t)atoi(argv[2]));

    double    start = now();
    cr_status st = cri_source_open(cx, argv[1], &source);
    if (st == CR_OK) st = cri_csv_read(cx, source, &options, &table);
    double seconds = now() - start;
    if (st != CR_OK) {
        fprintf(stderr, "%s\n%s\n", cr_error(cx), cr_error_notes(cx));
        return 3;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"file\":\"%s\",\"rows\":%zu,\"columns\":%zu,\"threads\":%zu,\"seconds\":%.4f,"
           "\"mb_per_second\":%.1f,\"peak_rss_mb\":%.1f,\"column_mb\":%.1f}\n",
           argv[1], cr_table_rows(table), cr_table_columns(table), cr_ctx_threads(cx), seconds,
           (double)info.st_size / 1e6 / seconds, (double)usage.ru_maxrss * 1024 / 1e6,
           column_bytes(table) / 1e6);
    cr_table_free(cx, table);
    cri_source_close(source);
    cr_ctx_free(cx);
    return 0;
}
