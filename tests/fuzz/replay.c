/* replay.c -- runs a fuzz target once on each file it is given, and on each file of a directory.
 * Keeps what fuzzing found from coming back, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int replay_file(const char *path)
{
    printf("%s\n", path); /* the last one shown is the one that failed */
    fflush(stdout);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        if (f) fclose(f);
        return 1;
    }
    size_t   size = (size_t)ftell(f);
    uint8_t *bytes = malloc(size ? size : 1); /* exact, so that a read past the end is seen */
    rewind(f);
    int bad = !bytes || fread(bytes, 1, size, f) != size;
    fclose(f);
    if (bad)
        fprintf(stderr, "%s: cannot be read\n", path);
    else
        LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return bad;
}

static int replay_directory(const char *path)
{
    DIR *directory = opendir(path);
    int  bad = 0, files = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        bad |= replay_file(name);
        files++;
    }
    if (directory) closedir(directory);
    if (files == 0) fprintf(stderr, "%s: holds no input\n", path);
    return bad || files == 0;
}

int main(int argc, char **argv)
{
    static const uint8_t nothing[1];
    int                  bad = 0;
    LLVMFuzzerTestOneInput(nothing, 0);
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) != 0) {
            fprintf(stderr, "%s: not there\n", argv[i]);
            bad = 1;
        } else
            bad |= S_ISDIR(info.st_mode) ? replay_directory(argv[i]) : replay_file(argv[i]);
    }
    return bad;
}
