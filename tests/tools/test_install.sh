#!/bin/sh
# test_install.sh BUILD COMPILER [FLAGS] -- installs a build into an empty directory and uses it from there:
# each tier of the header alone as C11 and as C++17, a program through pkg-config (shared and static) and one
# through find_package.  FLAGS: what the library was instrumented with.
set -eu

build=$1 compiler=$2 flags=${3-}
case $compiler in *clang*) cxx=clang++ ;; *) cxx=g++ ;; esac
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() { echo "test_install: $*" >&2; exit 1; }

DESTDIR=$root/image cmake --install "$build" --prefix /usr/local >"$root/log" || { cat "$root/log"; exit 1; }
prefix=$root/image/usr/local
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name credence.pc)")
export PKG_CONFIG_PATH

# --- the tiers of the header: each compiles alone, all together, quietly; nothing else is there
tiers=$(cd "$prefix/include" && find . -type f | sed 's|^./||' | sort)
[ "$tiers" = "credence.h
credence/dist.h
credence/graph.h
credence/math.h" ] || fail "include/ holds $tiers"
grep -rh '#include "' "$prefix/include" | grep -vx '#include "../credence.h"' && fail "a header includes what is not installed"
strict="-Wall -Wextra -pedantic -Werror -fsyntax-only"
all=
for tier in $tiers; do
    line="#include <$tier>"
    all="$line
$all"
    echo "$line" | $compiler -std=c11 $strict -I"$prefix/include" -x c -
    echo "$line" | $cxx -std=c++17 $strict -I"$prefix/include" -x c++ -
done
echo "$all" | $compiler -std=c11 $strict -I"$prefix/include" -x c -
echo "$all" | $cxx -std=c++17 $strict -I"$prefix/include" -x c++ -

# --- a name is declared in one tier, and the library has what they declare, no more and no less
(cd "$prefix/include" && cat $tiers) | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g' |
    grep -o 'CR_API [^;(\[]*[(\[;]' | grep -o 'cr_[a-z0-9_]*[(\[;]' | tr -d '([;' | sort >"$root/declared"
[ -z "$(uniq -d "$root/declared")" ] || fail "declared twice: $(uniq -d "$root/declared")"
nm -D --defined-only "$(find "$prefix" -name libcredence.so)" | awk '{ print $NF }' | grep '^cr_' | sort >"$root/defined"
diff "$root/declared" "$root/defined" || fail "the headers and the library disagree"

# --- a program in C and in C++, and what it prints
cat >"$root/use.c" <<'END'
#include <credence.h>
#include <stdio.h>

int main(void)
{
    cr_ctx *cx = NULL;
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 1;
    cr_ctx_set_threads(cx, 3);
    printf("%d threads\n", (int)cr_ctx_threads(cx));
    cr_ctx_free(cx);
    return 0;
}
END
cp "$root/use.c" "$root/use.cpp"

expect_answer()
{
    answer=$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir credence) "$1") || fail "$1 does not run"
    [ "$answer" = "3 threads" ] || fail "$1 says '$answer'"
}

$compiler $flags "$root/use.c" $(pkg-config --cflags --libs credence) -o "$root/shared"
expect_answer "$root/shared"
$cxx -std=c++17 $flags "$root/use.cpp" $(pkg-config --cflags --libs credence) -o "$root/shared_cpp"
expect_answer "$root/shared_cpp"
# ours static, what it needs shared
libdir=$(pkg-config --variable=libdir credence)
$compiler $flags "$root/use.c" $(pkg-config --cflags credence) "$libdir/libcredence.a" -pthread -lm \
    $(pkg-config --libs $(pkg-config --print-requires-private credence)) -o "$root/static"
expect_answer "$root/static"

# --- a CMake project
mkdir "$root/project"
cat >"$root/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.21)
project(use C)
find_package(credence 0.1 REQUIRED)
add_executable(use ../use.c)
target_link_libraries(use credence::credence)
END
{
    cmake -S "$root/project" -B "$root/project/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" &&
        cmake --build "$root/project/build"
} >"$root/log" 2>&1 || { cat "$root/log"; fail "find_package(credence) does not lead to a program"; }
expect_answer "$root/project/build/use"

# --- the name the loader looks for
readelf -d "$libdir/libcredence.so" | grep -q 'SONAME.*\[libcredence.so.0\]' || fail "wrong SONAME"
echo "test_install: header, pkg-config, static, CMake: all work"
