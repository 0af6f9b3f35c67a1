// What every program of the image is linked with. Its working directory, and its end where it throws or aborts: nothing unwinds here, so clang compiles
// `try` and `catch` as if nothing was ever thrown (`-fignore-exceptions`), and a throw calls these functions.
//
// Such a program ends with the status of one that a shell sees aborted. What it has printed is kept, which a process that aborts may lose: most that
// throw would have caught it, and a reader wants to see how far it came.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The first members of every type_info: its table of functions, and the mangled name.
struct type_info {
    const void *table;
    const char *name;
};

char *__cxa_demangle(const char *, char *, size_t *, int *);

__attribute__((constructor(101))) static void enter_work(void) {
    chdir("/work");
}

// Instead of the C library's, which traps.
_Noreturn void abort(void) {
    fflush(NULL);
    _Exit(134);
}

// The numbers of glibc, on which tests that draw their inputs depend: each is the sum of the third and the 31st before it, without its lowest bit. The
// first 31 are a Lehmer sequence of the seed (multiplier 16807, modulus 2^31 - 1), and 310 sums are left out.
static unsigned sums[31];
static int place = -1;

static unsigned next_sum(void) {
    sums[place] += sums[(place + 28) % 31];
    unsigned made = sums[place];
    place = (place + 1) % 31;
    return made;
}

void srand(unsigned seed) {
    int word = seed ? (int)seed : 1;
    for (int i = 0; i < 31; i++) {
        sums[i] = word;
        word = 16807 * (word % 127773) - 2836 * (word / 127773);
        if (word < 0) word += 2147483647;
    }
    place = 3;
    for (int i = 0; i < 310; i++) next_sum();
}

int rand(void) {
    if (place < 0) srand(1);
    return next_sum() >> 1;
}

void *__cxa_allocate_exception(size_t size) {
    void *made = calloc(1, size);
    if (!made) abort();
    return made;
}

void __cxa_free_exception(void *made) {
    free(made);
}

_Noreturn void __cxa_throw(void *made, struct type_info *type, void (*destroy)(void *)) {
    (void)made, (void)destroy;
    fflush(stdout);
    char *name = __cxa_demangle(type->name, NULL, NULL, NULL);
    fprintf(stderr, "terminate called after throwing an instance of '%s'\n", name ? name : type->name);
    abort();
}

_Noreturn void __cxa_rethrow(void) {
    fflush(stdout);
    fputs("terminate called without an active exception\n", stderr);
    abort();
}
