// CUDA's kernels on a CPU, one thread of the card after the other: included before the kernels, which are compiled as C++.
//
// Slow and simple, for tests without a card. Each thread of a block is a fibre that runs until it waits for others (__syncthreads, a shuffle), so that
// a wrong barrier hangs or gives wrong numbers here too. What it cannot show: races between threads, and speed.

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static
#define __constant__ static const

using std::exp;
using std::fabs;
using std::isnan;
using std::log;
using std::log1p;
using std::max;
using std::min;

struct Dim3 {
    unsigned x, y, z;
};
static Dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace card {

const size_t STACK = 64 * 1024;
const int MOST = 1024;

struct Fibre {
    ucontext_t first;
    jmp_buf here;
    char *stack;
    bool started, done;
};

// Threads that meet: how many have not ended, how many have arrived, and how often all have.
struct Meeting {
    int alive, arrived;
    long times;
    void check() {
        if (arrived && arrived == alive) arrived = 0, times++;
    }
};

static Fibre fibres[MOST];
static jmp_buf scheduler;
static int current;
static void (*body)(void **);
static void **parameters;
static double lanes[MOST];
static Meeting whole_block, warps[MOST / 32];

static void run() {
    for (;;) {
        body(parameters);
        fibres[current].done = true;
        for (Meeting *meeting : {&whole_block, &warps[current / 32]}) meeting->alive--, meeting->check();
        if (!_setjmp(fibres[current].here)) _longjmp(scheduler, 1);
    }
}

static void enter(int t) {
    current = t;
    threadIdx = {unsigned(t) % blockDim.x, unsigned(t) / blockDim.x % blockDim.y, unsigned(t) / (blockDim.x * blockDim.y)};
    Fibre &fibre = fibres[t];
    if (_setjmp(scheduler)) return;
    if (fibre.started) _longjmp(fibre.here, 1);
    fibre.started = true;
    fibre.stack = (char *)malloc(STACK);
    getcontext(&fibre.first);
    fibre.first.uc_stack.ss_sp = fibre.stack;
    fibre.first.uc_stack.ss_size = STACK;
    fibre.first.uc_link = nullptr;
    makecontext(&fibre.first, run, 0);
    setcontext(&fibre.first);
}

// Waits until every thread that has not ended has come.
static void wait(Meeting &meeting) {
    int own = current;
    long times = meeting.times;
    meeting.arrived++;
    meeting.check();
    while (meeting.times == times)
        if (!_setjmp(fibres[own].here)) _longjmp(scheduler, 1);
}

template <class... A, size_t... I> static void unpack(void (*kernel)(A...), void **given, std::index_sequence<I...>) {
    kernel(*(A *)given[I]...);
}

template <class... A> static void call(void (*kernel)(A...), void **given) { unpack(kernel, given, std::index_sequence_for<A...>()); }

static void launch(void (*kernel)(void **), Dim3 grid, Dim3 block, void **given) {
    body = kernel;
    parameters = given;
    gridDim = grid;
    blockDim = block;
    int threads = block.x * block.y * block.z;
    if (threads > MOST) abort();
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
                for (int t = 0; t < threads; t++) fibres[t].done = false;
                whole_block = {threads, 0, 0};
                for (int t = 0; t < threads; t += 32) warps[t / 32] = {min(32, threads - t), 0, 0};
                for (bool all = false; !all;) {
                    all = true;
                    for (int t = 0; t < threads; t++) {
                        if (!fibres[t].done) enter(t);
                        all &= fibres[t].done;
                    }
                }
            }
}

} // namespace card

static void __syncwarp() { card::wait(card::warps[card::current / 32]); }
static void __syncthreads() { card::wait(card::whole_block); }

template <class T> static T __shfl_down_sync(unsigned, T value, int step) {
    int own = card::current;
    memcpy(&card::lanes[own], &value, sizeof(T));
    card::wait(card::warps[own / 32]);
    T other = value;
    if (own % 32 + step < 32) memcpy(&other, &card::lanes[own + step], sizeof(T));
    card::wait(card::warps[own / 32]);
    return other;
}

static double __hiloint2double(int high, int low) {
    unsigned long long bits = (unsigned long long)(unsigned)high << 32 | (unsigned)low;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static unsigned long long bits_of(double value) {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static int __double2hiint(double value) { return int(bits_of(value) >> 32); }
static int __double2loint(double value) { return int(unsigned(bits_of(value))); }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static void sincospi(double x, double *sine, double *cosine) { sincos(M_PI * x, sine, cosine); }
