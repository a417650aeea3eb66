// A driver, cuBLAS and a run-time compiler of CUDA that are this processor: what `cudarc` calls when the tests of rflvm-cuda run without a card. The
// same file is libcuda, libcublas and libnvrtc. Memory of the card is memory, a stream does at once what it is told, and the compiler
// is the machine's C++ compiler, for kernels_on_cpu.h and the kernels.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <unistd.h>

typedef unsigned long long Address;

extern "C" {

// --- The driver. ---

static const size_t MEMORY = 4ull << 30;
static std::mutex one_at_a_time;

// Fails every call after this many launches: how the tests lose a card.
static long launches_left() {
    static long left = getenv("RFLVM_CARD_DIES_AFTER") ? atol(getenv("RFLVM_CARD_DIES_AFTER")) : -1;
    return left < 0 ? 1 : left > 0 ? left-- : 0;
}

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int ordinal) { return ordinal < 2 ? (*device = ordinal, 0) : 101; }
int cuDeviceGetName(char *name, int length, int) { return snprintf(name, length, "a stand-in"), 0; }
int cuDeviceGetAttribute(int *value, int attribute, int) { return *value = attribute == 75 ? 9 : 0, 0; } // 75: compute capability, major
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = (void *)1, 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxGetCurrent(void **context) { return *context = (void *)1, 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuMemGetInfo_v2(size_t *left, size_t *total) { return *left = *total = MEMORY, 0; }
int cuStreamCreate(void **stream, unsigned) { return *stream = (void *)1, 0; }
int cuStreamCreateWithPriority(void **stream, unsigned, int) { return *stream = (void *)1, 0; }
int cuStreamDestroy_v2(void *) { return 0; }
int cuStreamSynchronize(void *) { return 0; }
int cuStreamWaitEvent(void *, void *, unsigned) { return 0; }
int cuEventCreate(void **event, unsigned) { return *event = (void *)1, 0; }
int cuEventRecord(void *, void *) { return 0; }
int cuEventSynchronize(void *) { return 0; }
int cuEventDestroy_v2(void *) { return 0; }

int cuMemAlloc_v2(Address *at, size_t bytes) { return *at = (Address)malloc(bytes), *at ? 0 : 2; }
int cuMemFree_v2(Address at) { return free((void *)at), 0; }
int cuMemsetD8_v2(Address at, unsigned char value, size_t bytes) { return memset((void *)at, value, bytes), 0; }
int cuMemsetD8Async(Address at, unsigned char value, size_t bytes, void *) { return memset((void *)at, value, bytes), 0; }
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) { return memcpy((void *)to, from, bytes), 0; }
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *) { return memcpy((void *)to, from, bytes), 0; }
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) { return memcpy(to, (void *)from, bytes), 0; }
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *) { return memcpy(to, (void *)from, bytes), 0; }
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *) { return memmove((void *)to, (void *)from, bytes), 0; }

int cuModuleLoadData(void **module, const void *image) {
    *module = dlopen((const char *)image, RTLD_NOW | RTLD_LOCAL);
    if (!*module) fprintf(stderr, "%s\n", dlerror());
    return *module ? 0 : 200;
}
int cuModuleUnload(void *) { return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = dlsym(module, (std::string("launch_") + name).c_str());
    return *function ? 0 : 500;
}
int cuFuncSetAttribute(void *, int, int) { return 0; }

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, void *,
                   void **parameters, void **) {
    std::lock_guard<std::mutex> lock(one_at_a_time);
    if (!launches_left()) return 719;
    typedef void Launch(const unsigned *, const unsigned *, void **);
    unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    ((Launch *)function)(grid, block, parameters);
    return 0;
}

int cuGetErrorName(int, const char **name) { return *name = "CUDA_ERROR", 0; }
int cuGetErrorString(int error, const char **text) { return *text = error == 719 ? "unspecified launch failure" : "a fault of the stand-in", 0; }

// --- cuBLAS: column-major products. ---

int cublasCreate_v2(void **handle) { return *handle = (void *)1, 0; }
int cublasDestroy_v2(void *) { return 0; }
int cublasSetStream_v2(void *, void *) { return 0; }

}

template <class T>
static int product(int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++) sum += (double)(ta ? a[l + (size_t)i * lda] : a[i + (size_t)l * lda]) * (tb ? b[j + (size_t)l * ldb] : b[l + (size_t)j * ldb]);
            T &to = c[i + (size_t)j * ldc];
            to = alpha * sum + (beta == 0 ? 0 : beta * to);
        }
    return 0;
}

extern "C" {

int cublasDgemm_v2(void *, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda, const double *b, int ldb,
                   const double *beta, double *c, int ldc) {
    return product(ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}
int cublasSgemm_v2(void *, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda, const float *b, int ldb,
                   const float *beta, float *c, int ldc) {
    return product(ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}

// --- The compiler: its "PTX" is the path of a library. ---

struct Program {
    std::string source, library, log;
};

int nvrtcCreateProgram(Program **program, const char *source, const char *, int, const char **, const char **) {
    return *program = new Program{source, "", ""}, 0;
}

int nvrtcCompileProgram(Program *program, int count, const char **options) {
    static int number = 0;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    const char *folder = getenv("RFLVM_STAND_IN");
    std::string stem = std::string(folder) + "/kernels-" + std::to_string(getpid()) + "-" + std::to_string(number++);
    std::ofstream file(stem + ".cpp");
    file << "#include \"" << folder << "/kernels_on_cpu.h\"\n" << program->source << "\n";
    std::regex kernel("__global__ (?:__launch_bounds__\\(\\d+\\) )?void (\\w+)\\(");
    for (std::sregex_iterator found(program->source.begin(), program->source.end(), kernel), end; found != end; ++found) {
        std::string name = (*found)[1];
        file << "static void body_" << name << "(void **given) { card::call(" << name << ", given); }\n"
             << "extern \"C\" void launch_" << name << "(const unsigned *g, const unsigned *b, void **given) {\n    card::launch(body_" << name
             << ", {g[0], g[1], g[2]}, {b[0], b[1], b[2]}, given);\n}\n";
    }
    file.close();
    std::string command = "${CXX:-c++} -std=c++17 -O2 -w -fPIC -shared -U_FORTIFY_SOURCE -Wl,-Bsymbolic";
    for (int i = 0; i < count; i++)
        if (!strncmp(options[i], "-D", 2)) command += std::string(" ") + options[i];
    program->library = stem + ".so";
    command += " -o " + program->library + " " + stem + ".cpp > " + stem + ".log 2>&1";
    if (system(command.c_str())) {
        std::ifstream log(stem + ".log");
        std::stringstream text;
        text << log.rdbuf();
        program->log = text.str();
        return 6;
    }
    return 0;
}
int nvrtcDestroyProgram(Program **program) { return delete *program, *program = nullptr, 0; }
int nvrtcGetPTXSize(Program *program, size_t *size) { return *size = program->library.size() + 1, 0; }
int nvrtcGetPTX(Program *program, char *to) { return strcpy(to, program->library.c_str()), 0; }
int nvrtcGetProgramLogSize(Program *program, size_t *size) { return *size = program->log.size() + 1, 0; }
int nvrtcGetProgramLog(Program *program, char *to) { return strcpy(to, program->log.c_str()), 0; }

}
