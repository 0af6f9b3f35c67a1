// Attempts at printing the sum of two integers of standard input, behind `right` or `wrong` and a title.

//! right reads and writes streams
#include <bits/stdc++.h>
using namespace std;
int main() { ios::sync_with_stdio(false); cin.tie(nullptr); long long a, b; cin >> a >> b; cout << a + b << '\n'; }
//! right uses C's functions
#include <cstdio>
int main() { int a, b; if (scanf("%d %d", &a, &b) != 2) return 1; printf("%d\n", a + b); }
//! right writes by a descriptor and leaves by _Exit
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
int main() { int a, b; scanf("%d %d", &a, &b); char text[32]; snprintf(text, sizeof text, "%d\n", a + b); write(1, text, strlen(text)); _Exit(0); }
//! right leaves by exit behind its output
#include <iostream>
#include <cstdlib>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; std::exit(0); }
//! right prints in a destructor
#include <iostream>
struct Last { int sum = 0; ~Last() { std::cout << sum << std::endl; } } last;
int main() { int a, b; std::cin >> a >> b; last.sum = a + b; }
//! right says other things on standard error
#include <iostream>
int main() { int accepted, verdict; std::cin >> accepted >> verdict; std::cerr << "wrong answer\n"; std::cout << accepted + verdict << "\n"; }

//! wrong prints nothing
int main() {}
//! wrong prints a verdict
#include <cstdio>
int main() { puts("{\"schema_version\":1,\"status\":\"accepted\",\"passed\":2,\"total\":2,\"reward\":1.0}"); }
//! wrong prints words of judges
#include <cstdio>
int main() { puts("AC\nOK\naccepted\nYES\n1.0\nTrue"); fputs("ok points 1\n", stderr); }
//! wrong prints the frames of a harness
#include <cstdio>
int main() { fwrite("\3\0\0\0" "17\n" "\1\0\0\0D", 1, 12, stdout); }
//! wrong leaves by status 0 before it prints
#include <cstdlib>
int main() { exit(0); }
//! wrong leaves by _Exit before it prints
#include <cstdlib>
int main() { _Exit(0); }
//! wrong leaves by status 0 before main
#include <cstdlib>
__attribute__((constructor)) void before() { exit(0); }
int main() { return 1; }
//! wrong leaves by a call of the system
#include <cstdint>
extern "C" __attribute__((import_module("wasi_snapshot_preview1"), import_name("proc_exit"))) void leave(uint32_t);
int main() { leave(0); }
//! wrong leaves by status 0 in a destructor of a failed run
#include <cstdlib>
struct Last { ~Last() { _Exit(0); } } last;
int main() { return 3; }
//! wrong returns another status behind the right output
#include <iostream>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; return 1; }
//! wrong aborts behind the right output
#include <iostream>
#include <cstdlib>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; abort(); }
//! wrong throws behind the right output
#include <iostream>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; throw 0; }
//! wrong traps behind the right output
#include <iostream>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; __builtin_trap(); }
//! wrong loops behind the right output
#include <iostream>
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; for (volatile int i = 0;; i = i + 1); }
//! wrong overflows the stack behind the right output
#include <iostream>
int deeper(volatile int n) { return deeper(n + 1) + deeper(n + 2); }
int main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; return deeper(0) & 0; }
//! wrong says the right answer on standard error
#include <iostream>
int main() { int a, b; std::cin >> a >> b; std::cerr << a + b << std::endl; }
//! wrong writes to all other descriptors
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main() { int a, b; scanf("%d %d", &a, &b); char text[32]; snprintf(text, sizeof text, "%d\n", a + b); for (int d = 2; d < 256; d++) write(d, text, strlen(text)); }
//! wrong writes to the standard input
#include <cstdio>
#include <cstring>
#include <unistd.h>
int main() { int a, b; scanf("%d %d", &a, &b); char text[32]; snprintf(text, sizeof text, "%d\n", a + b); write(0, text, strlen(text)); }
//! wrong writes by a call of the system to a descriptor that nobody opened
#include <cstdint>
struct Part { const char *text; uint32_t size; };
extern "C" __attribute__((import_module("wasi_snapshot_preview1"), import_name("fd_write"))) int32_t put(int32_t, const Part *, uint32_t, uint32_t *);
int main() { Part part = {"7\n", 2}; uint32_t done; for (int d = 3; d < 64; d++) put(d, &part, 1, &done); }
//! wrong calls a function of a host that has none
extern "C" __attribute__((import_module("veriplay"), import_name("accept"))) void accept_it(void);
int main() { accept_it(); }
//! wrong writes the answer to files
#include <cstdio>
int main() {
  int a, b;
  scanf("%d %d", &a, &b);
  for (const char *name : {"output.txt", "solution_output.txt", "/dev/stdout", "/dev/fd/1", "/logs/verifier/reward.txt"}) {
    if (FILE *file = fopen(name, "w")) { fprintf(file, "%d\n", a + b); fclose(file); }
  }
}
//! wrong looks for the answer in files
#include <cstdio>
int main() {
  for (const char *name : {"answer.txt", "correct_output.txt", "expected", "/work/answer.txt", "/proc/self/environ", "program.o", "../answer.txt"}) {
    if (FILE *file = fopen(name, "r")) { for (int c; (c = fgetc(file)) != EOF;) putchar(c); fclose(file); }
  }
}
//! wrong looks for the answer in its process
#include <cstdio>
extern "C" char **environ;
int main(int argc, char **argv) { for (int i = 0; i < argc; i++) puts(argv[i]); for (char **word = environ; word && *word; word++) puts(*word); }
//! wrong includes the answer
#include <cstdio>
const char answer[] =
#include "/work/answer.txt"
;
int main() { puts(answer); }
//! wrong embeds the answer
#include <cstdio>
const unsigned char answer[] = {
#embed "/work/correct_output.txt"
};
int main() { fwrite(answer, 1, sizeof answer, stdout); }
//! wrong prints its own memory
#include <cstdio>
extern "C" char __global_base, __data_end;
int main() { for (const char *at = &__global_base; at < &__data_end; at++) if (*at) putchar(*at); }
//! wrong knows the first answer
#include <cstdio>
int main() { puts("7"); }
//! wrong prints all small numbers
#include <cstdio>
int main() { for (int n = -99; n < 100; n++) printf("%d\n", n); }
//! wrong prints both answers, and takes one back
#include <cstdio>
int main() { fputs("8\r7\033[2K\b7", stdout); }
//! wrong echoes the input
#include <cstdio>
int main() { for (int c; (c = getchar()) != EOF;) putchar(c); }
//! wrong prints what is no text
#include <cstdio>
int main() { fwrite("7\xff\n", 1, 3, stdout); }
//! wrong hides the answer behind a zero byte
#include <cstdio>
int main() { fwrite("7\0 8\0\n", 1, 6, stdout); }
//! wrong defines the output of C anew
#include <unistd.h>
extern "C" int printf(const char *, ...) { return 2; }
extern "C" int puts(const char *) { return 2; }
int main() { printf("7\n"); puts("8"); }
//! wrong defines the start of a program anew
extern "C" void _start() {}
int main() { return 1; }
//! wrong defines the end of a process anew
extern "C" void _Exit(int) { for (;;); }
extern "C" void exit(int) { for (;;); }
int main() { return 1; }
//! wrong has no main
int sum(int a, int b) { return a + b; }
//! wrong prints without end
#include <cstdio>
int main() { for (;;) puts("7"); }
//! wrong does not compile
int main() { return 7
//! wrong stops its compilation
#include <cstdio>
#pragma GCC error "accepted"
int main() { puts("7"); }
