// A CUDA library that is loaded when one of its functions is first called, and not when the program starts.
//
// candle links cudarc to the libraries' names, so a program built plainly does not even start without a driver. Archives made of
// this file, one for each library, take their place at link time: `scripts/cuda-toolkit` compiles it with
//   SONAMES   candidate file names, in order, as C strings with commas
//   MISSING   what a function returns when its library cannot be loaded: the library's own code for "not there"
//   QUIET     1 where the caller says itself that the library is missing
//   NAMES     a file of lines `STUB(index, name)`, or `TEXT(index, name)` for functions that return a text
// The calling convention is that of x86-64 System V: what is not in a register stays where it is on the stack.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#ifndef __x86_64__
#error "the trampolines below are x86-64 only"
#endif

#define STUB(index, name) #name,
#define TEXT(index, name) #name,
static const char *const names[] = {
#include NAMES
};
#undef STUB
#undef TEXT

static const char *const sonames[] = {SONAMES};

static int missing_status(void) { return MISSING; }
static const char *missing_text(void) { return "the CUDA library is not there"; }

// Returns text instead of a status: by index.
#define STUB(index, name) 0,
#define TEXT(index, name) 1,
static const uint8_t is_text[] = {
#include NAMES
};
#undef STUB
#undef TEXT

static void *library(void) {
  static void *handle;
  static int tried;
  if (__atomic_load_n(&tried, __ATOMIC_ACQUIRE)) return __atomic_load_n(&handle, __ATOMIC_ACQUIRE);
  void *found = NULL;
  for (unsigned i = 0; i < sizeof sonames / sizeof *sonames && !found; i++) found = dlopen(sonames[i], RTLD_LAZY | RTLD_LOCAL);
  // Twice in a race is harmless: the loader counts.
  __atomic_store_n(&handle, found, __ATOMIC_RELEASE);
  if (!__atomic_exchange_n(&tried, 1, __ATOMIC_ACQ_REL) && !found && !QUIET)
    fprintf(stderr, "%s cannot be loaded: %s (name its folder in LD_LIBRARY_PATH)\n", sonames[0], dlerror());
  return found;
}

// The function of this index; from now on it is called without us.
__attribute__((used)) static void *resolve(uint64_t index, void **slot) {
  void *handle = library();
  void *function = handle ? dlsym(handle, names[index]) : NULL;
  if (!function) {
    if (handle) fprintf(stderr, "%s has no function `%s`: it is older than the program\n", sonames[0], names[index]);
    function = is_text[index] ? (void *)missing_text : (void *)missing_status;
  }
  __atomic_store_n(slot, function, __ATOMIC_RELEASE);
  return function;
}

// Entered by a jump, with the index in r11 and the slot in r10: keeps every argument register, and the stack as the callee wants it.
__asm__(".text\n"
        ".type lazy_enter,@function\n"
        "lazy_enter:\n"
        "  push %rbp\n  mov %rsp, %rbp\n  and $-16, %rsp\n"
        "  sub $192, %rsp\n"
        "  mov %rdi, 0(%rsp)\n  mov %rsi, 8(%rsp)\n  mov %rdx, 16(%rsp)\n  mov %rcx, 24(%rsp)\n"
        "  mov %r8, 32(%rsp)\n  mov %r9, 40(%rsp)\n  mov %rax, 48(%rsp)\n"
        "  movaps %xmm0, 64(%rsp)\n  movaps %xmm1, 80(%rsp)\n  movaps %xmm2, 96(%rsp)\n  movaps %xmm3, 112(%rsp)\n"
        "  movaps %xmm4, 128(%rsp)\n  movaps %xmm5, 144(%rsp)\n  movaps %xmm6, 160(%rsp)\n  movaps %xmm7, 176(%rsp)\n"
        "  mov %r11, %rdi\n  mov %r10, %rsi\n  call resolve\n  mov %rax, %r11\n"
        "  movaps 64(%rsp), %xmm0\n  movaps 80(%rsp), %xmm1\n  movaps 96(%rsp), %xmm2\n  movaps 112(%rsp), %xmm3\n"
        "  movaps 128(%rsp), %xmm4\n  movaps 144(%rsp), %xmm5\n  movaps 160(%rsp), %xmm6\n  movaps 176(%rsp), %xmm7\n"
        "  mov 0(%rsp), %rdi\n  mov 8(%rsp), %rsi\n  mov 16(%rsp), %rdx\n  mov 24(%rsp), %rcx\n"
        "  mov 32(%rsp), %r8\n  mov 40(%rsp), %r9\n  mov 48(%rsp), %rax\n"
        "  leave\n  jmp *%r11\n"
        ".size lazy_enter, .-lazy_enter\n");

#define STUB(index, name)                                                                              \
  __asm__(".data\n.balign 8\nslot_" #name ": .quad first_" #name "\n"                                  \
          ".text\n.globl " #name "\n.type " #name ",@function\n" #name ": jmp *slot_" #name "(%rip)\n"  \
          "first_" #name ": mov $" #index ", %r11d\n  lea slot_" #name "(%rip), %r10\n  jmp lazy_enter\n" \
          ".size " #name ", .-" #name "\n");
#define TEXT(index, name) STUB(index, name)
#include NAMES
