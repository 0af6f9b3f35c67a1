// What `scripts/cuda-toolkit` holds `lazy.c` to, in two halves: -DLIBRARY makes a stand-in for a library, the rest a program that calls it
// through an archive of `lazy.c`. Every register and the stack must arrive; the second call must not go through the resolver's first way.

#include <stdio.h>
#include <string.h>

int lazyMany(int a, long b, void *c, int d, int e, int f, int g, double x, float y, long h);
const char *lazyText(int a);
int lazyAbsent(void);

#ifdef LIBRARY
int lazyMany(int a, long b, void *c, int d, int e, int f, int g, double x, float y, long h) {
  return a == 1 && b == -2 && c == (void *)3 && d == 4 && e == 5 && f == 6 && g == 7 && x == 8.5 && y == 9.5f && h == 10 ? 41 : 42;
}
const char *lazyText(int a) { return a == 5 ? "five" : "other"; }
#else
int main(int argc, char **argv) {
  int there = argc > 1 && strcmp(argv[1], "there") == 0;
  for (int i = 0; i < 2; i++) {
    int found = lazyMany(1, -2, (void *)3, 4, 5, 6, 7, 8.5, 9.5f, 10);
    if (found != (there ? 41 : 77)) return printf("call %d answered %d\n", i, found), 1;
    if (lazyAbsent() != 77) return printf("a function that is nowhere answered\n"), 1;
    if (strcmp(lazyText(5), there ? "five" : "the CUDA library is not there")) return printf("text %s\n", lazyText(5)), 1;
  }
  return 0;
}
#endif
