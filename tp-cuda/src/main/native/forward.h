/* Forwarding libraries: JCuda's natives of CUDA 12 need the sonames and symbol versions of CUDA 12's libraries. On a machine
   that has CUDA 13 only, a library with that soname and version node stands in, whose every function jumps to the one of
   the same name in CUDA 13's, which has the same parameters. The target has been opened before, by absolute path.

   Used by a source file that defines FORWARD_TARGET (the target's soname) and FORWARD_UNSUPPORTED (what a function returns
   that the target lacks), includes this and then lists the functions as FORWARD(name). The registers that carry arguments
   are untouched on the way, so no parameter list is needed. x86-64 Linux. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static int unsupported(void)
{
    return FORWARD_UNSUPPORTED;
}

/* Called by the slow path below, at the first call of a function. */
__attribute__((used, visibility("hidden"))) void *tp4j_forward_resolve(void **slot, const char *name)
{
    static void *target;
    if (target == NULL) {
        target = dlopen(FORWARD_TARGET, RTLD_NOW | RTLD_LOCAL);
    }
    void *function = target == NULL ? NULL : dlsym(target, name);
    if (function == NULL) {
        fprintf(stderr, "tp4j: %s has no %s\n", FORWARD_TARGET, name);
        function = (void *) (intptr_t) unsupported;
    }
    *slot = function;
    return function;
}

#if defined(__x86_64__) && defined(__linux__)
/* On the stack: the slot's address, the name's, the caller's return address. */
__asm__(
    ".text\n"
    "tp4j_forward_slow:\n"
    "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  push %rax\n"
    "  sub $128, %rsp\n"
    "  movups %xmm0, 0(%rsp)\n  movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
    "  mov 184(%rsp), %rdi\n"
    "  mov 192(%rsp), %rsi\n"
    "  call tp4j_forward_resolve\n"
    "  mov %rax, %r11\n"
    "  movups 0(%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
    "  add $128, %rsp\n"
    "  pop %rax\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n"
    "  add $16, %rsp\n"
    "  jmp *%r11\n");

#define FORWARD(name)                                                                                                  \
    __asm__(                                                                                                           \
        ".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                                            \
        "  mov tp4j_slot_" #name "(%rip), %r11\n  test %r11, %r11\n  jz 1f\n  jmp *%r11\n"                             \
        "1: lea tp4j_name_" #name "(%rip), %r11\n  push %r11\n"                                                        \
        "  lea tp4j_slot_" #name "(%rip), %r11\n  push %r11\n  jmp tp4j_forward_slow\n"                                \
        ".size " #name ", . - " #name "\n"                                                                             \
        ".section .rodata\ntp4j_name_" #name ": .asciz \"" #name "\"\n"                                                \
        ".bss\n.balign 8\ntp4j_slot_" #name ": .skip 8\n.text\n");
#else
#define FORWARD(name)
#endif
