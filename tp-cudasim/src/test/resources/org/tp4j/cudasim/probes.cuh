// Included by name: see nvrtcCreateProgram.
#pragma once
#define THREADS 256
__constant__ float table[2] = {0.5f, 0.25f};
#define PROBE_CONSTANT (table[0] + table[1])
