// The operations of a sweep that touch all rows of the table. Compiled when the table is known: CELL is the size of a cell, COLUMNS their number in a row,
// LAW their law, or -1 if columns differ, SETS the number of sets of categories among them, GROUPS that of groups of columns that share what is known of
// their f, and MIXED whether precision is mixed.
//
// Tables are row-major. `product` is Hβ, or √aH β where a root is given: f = product / root + known. Sums are taken in a fixed order, so that they
// do not depend on the launch.

#if CELL == 1
typedef unsigned char Cell;
#define HOLE 255
#elif CELL == 2
typedef unsigned short Cell;
#define HOLE 65535
#else
typedef double Cell;
#endif

// Above it a rate saturates, so that a hopeless candidate has a huge negative log-likelihood, never an infinity: as on the CPU.
#define MAX_LOG_RATE 690.0

#define GAUSSIAN 0
#define POISSON 1
#define BINOMIAL 2
#define NEGATIVE_BINOMIAL 3
#define STUDENT_T 4
#define ZERO_INFLATED_POISSON 5

// In mixed precision the exponentials and logarithms of cells are taken in single precision, which is what a cell costs; products and sums are not.
#if MIXED
typedef float Real;
#undef MAX_LOG_RATE
#define MAX_LOG_RATE 85.0
#define MIN_LOG 85.0f
#else
typedef double Real;
#define MIN_LOG 700.0
#endif

typedef unsigned long long u64;

// What is known of a column, each for all columns in turn: its law, its parameter (1/σ², trials, r or logit π), the prior mean of its intercept, its
// scale, ν, and the set of categories to which it belongs, or -1.
struct Column {
    double value[6][COLUMNS];
    __device__ __forceinline__ int law(int j) const { return LAW >= 0 ? LAW : (int)value[0][j]; }
    __device__ __forceinline__ double theta(int j) const { return value[1][j]; }
    __device__ __forceinline__ double centre(int j) const { return value[2][j]; }
    __device__ __forceinline__ double scale(int j) const { return value[3][j]; }
    __device__ __forceinline__ double second(int j) const { return value[4][j]; }
    __device__ __forceinline__ int set(int j) const { return SETS == 0 ? -1 : (int)value[5][j]; }
    // All columns are one group, or each set of categories and then the others, or, where columns have processes, each column is one.
    __device__ __forceinline__ int group(int j) const {
        if (GROUPS == 1) return 0;
        if (GROUPS == COLUMNS) return j;
        int own = set(j);
        return own < 0 ? SETS : own;
    }
};

// What is known of the f of a row, N×GROUPS in all; read once if its columns share it.
struct Known {
    const double *row;
    double one;
    __device__ __forceinline__ Known(const double *known, u64 n) : row(known + n * GROUPS), one(GROUPS == 1 ? known[n] : 0.0) {}
    __device__ __forceinline__ double at(const Column *column, int j) const { return GROUPS == 1 ? one : row[column->group(j)]; }
};

// Whether a cell is observed, and its value; zero if it is not.
struct Datum {
    bool seen;
    double y;
};

__device__ __forceinline__ Datum datum(Cell y) {
#ifdef HOLE
    // The bits of 2^52 + y: a card converts whole numbers at a quarter of the speed at which it subtracts.
    bool seen = y != HOLE;
    return Datum{seen, __hiloint2double(0x43300000, seen ? y : 0) - 4503599627370496.0};
#else
    bool seen = !isnan(y);
    return Datum{seen, seen ? y : 0.0};
#endif
}

// CUDA's own exponential and logarithm take every argument there is, at some hundred instructions a cell. These take those that occur: the exponential
// an argument between -MIN_LOG and MAX_LOG_RATE, the logarithm 1 + e for e between 0 and 1. Both are right to the last digit or two, and an argument
// that is not a number is seen in y f, which is part of every log-likelihood that uses them.

// Coefficients, in the card's constant memory, from which an instruction can read its factor.
__constant__ double OF_EXP[12] = {1.0, 1.0, 0.5000000000000019, 0.1666666666666668, 0.04166666666648795, 0.008333333333319589, 0.0013888888952352863, 0.00019841269890076403, 2.4801485441561313e-05, 2.755724088722987e-06, 2.763265472252779e-07, 2.5110049204818658e-08};
__constant__ double OF_LN[21] = {0.8109302162163288, -0.14426354954966195, 0.03315243843855094, -0.008461080413870536, 0.0022882409076902767, -0.0006421503724725223, 0.00018490300180466052, -5.426089824207432e-05, 1.6156949099580387e-05, -4.866877333591529e-06, 1.4798682669311618e-06, -4.5354366598033807e-07, 1.3990346886420576e-07, -4.331304783093553e-08, 1.3500470517435648e-08, -4.336548550414743e-09, 1.363113923159679e-09, -3.420138797930341e-10, 1.0787232813120478e-10, -7.317042246170282e-11, 2.330586809976668e-11};
__constant__ float OF_LN_SINGLE[9] = {0.8109302162163288f, -0.144263336709958f, 0.033152373515996716f, -0.008463898327073453f, 0.0022891003734107017f, -0.0006321981429300617f, 0.00018186836493606408f, -6.69504383877074e-05f, 2.0023836488152004e-05f};

// e^x: 2^k e^r with |r| <= ln(2)/2, and e^r by a polynomial (Chebyshev interpolation; 2e-17 of its value).
__device__ __forceinline__ double exponential(double x) {
    // Adding 3 · 2^51 rounds to a whole number, which is then in the low bits.
    const double shift = 6755399441055744.0;
    double shifted = fma(x, 1.4426950408889634, shift), k = shifted - shift;
    double r = fma(k, -1.90821492927058770002e-10, fma(k, -6.93147180369123816490e-01, x)), e = OF_EXP[11];
#pragma unroll
    for (int i = 10; i >= 0; i--) e = fma(e, r, OF_EXP[i]);
    return __hiloint2double(__double2hiint(e) + (__double2loint(shifted) << 20), __double2loint(e));
}

__device__ __forceinline__ float exponential(float x) { return exp2f(1.44269504f * x); }

// ln(1 + e): e times a polynomial in 2e - 1 (2e-17 of its value, or 3e-8).
__device__ __forceinline__ double ln_one_plus(double e) {
    double u = fma(2.0, e, -1.0), q = OF_LN[20];
#pragma unroll
    for (int i = 19; i >= 0; i--) q = fma(q, u, OF_LN[i]);
    return e * q;
}

__device__ __forceinline__ float ln_one_plus(float e) {
    float u = fmaf(2.0f, e, -1.0f), q = OF_LN_SINGLE[8];
#pragma unroll
    for (int i = 7; i >= 0; i--) q = fmaf(q, u, OF_LN_SINGLE[i]);
    return e * q;
}

// 1 / m for m between 1 and 2: the card's estimate and two of Newton's steps, without a division's care for other arguments.
__device__ __forceinline__ double reciprocal(double m) {
#ifdef __CUDACC_RTC__
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(m));
    r = fma(r, fma(-m, r, 1.0), r);
    return fma(r, fma(-m, r, 1.0), r);
#else
    return 1.0 / m;
#endif
}

__device__ __forceinline__ float reciprocal(float m) { return 1.0f / m; }

// e^-|f|.
__device__ __forceinline__ Real decay(double f) { return exponential(-min((Real)fabs(f), (Real)MIN_LOG)); }

// ln(1 + e^f), given e^-|f|.
__device__ __forceinline__ double softplus(double f, Real e) { return fma(0.5, f + fabs(f), (double)ln_one_plus(e)); }

__device__ __forceinline__ double softplus(double f) { return softplus(f, decay(f)); }

__device__ __forceinline__ double logistic(double f) {
    Real e = decay(f);
    return (f >= 0.0 ? (Real)1 : e) * reciprocal(1 + e);
}

__device__ __forceinline__ double rate_of(double f) { return exponential((Real)fmax(fmin(f, MAX_LOG_RATE), -(double)MIN_LOG)); }

// The part of ln p(y | f) that depends on f; all of it for zero-inflated columns, as on the CPU.
__device__ __forceinline__ double ln_lik(int law, double y, double theta, double second, double f) {
    switch (law) {
    case GAUSSIAN: return -0.5 * theta * (y - f) * (y - f);
    case POISSON: return y * f - rate_of(f);
    case BINOMIAL: return y * f - theta * softplus(f);
    case STUDENT_T: return -0.5 * (second + 1.0) * log1p((Real)(theta * (y - f) * (y - f) / second));
    case ZERO_INFLATED_POISSON: {
        double rate = rate_of(f);
        // ln(e^t + e^{−rate}) of a zero, from the larger of the two: rates may be huge.
        double of_zero = fmax(theta, -rate) + ln_one_plus(decay(theta + rate));
        return (y == 0.0 ? of_zero : y * f - rate - (y > 1.0 ? lgamma(y + 1.0) : 0.0)) - softplus(theta);
    }
    default: return y * f - (y + theta) * softplus(f);
    }
}

// The same, with its slope and its information, minus the second derivative.
__device__ __forceinline__ double ln_lik_slope(int law, double y, double theta, double second, double f, double *slope, double *information) {
    switch (law) {
    case GAUSSIAN: {
        *slope = theta * (y - f);
        *information = theta;
        return -0.5 * *slope * (y - f);
    }
    case POISSON: {
        double rate = rate_of(f);
        *slope = y - rate;
        *information = rate;
        return y * f - rate;
    }
    case STUDENT_T: {
        // Fisher's information: the second derivative may have either sign.
        double r = y - f;
        *slope = (second + 1.0) * theta * r / (second + theta * r * r);
        *information = theta * (second + 1.0) / (second + 3.0);
        return -0.5 * (second + 1.0) * log1p((Real)(theta * r * r / second));
    }
    case ZERO_INFLATED_POISSON: {
        // Of a zero, as if it were known whether it is a count.
        double rate = rate_of(f), share = y == 0.0 ? logistic(-theta - rate) : 1.0;
        *slope = y - rate * share;
        *information = rate * share;
        return ln_lik(law, y, theta, second, f);
    }
    default: {
        double trials = law == BINOMIAL ? theta : y + theta;
        Real e = decay(f), r = reciprocal(1 + e);
        *slope = y - trials * (f >= 0.0 ? r : e * r);
        *information = trials * (double)(e * r * r);
        return y * f - trials * softplus(f, e);
    }
    }
}

// ln Γ(y + r) − ln Γ(r): a short product for small counts avoids cancellation.
__device__ double ln_rising(double y, double r) {
    if (r > 1e15) return y * log(r);
    if (y <= 16.0) {
        double product = 1.0;
        for (int t = 0; t < (int)y; t++) product *= r + t;
        return log(product);
    }
    return lgamma(y + r) - lgamma(r);
}

// What ln_lik leaves out.
__device__ double constant(int law, double y, double theta, double second) {
    switch (law) {
    case STUDENT_T: return lgamma(0.5 * (second + 1.0)) - lgamma(0.5 * second) + 0.5 * log(theta / (second * 3.14159265358979323846));
    case ZERO_INFLATED_POISSON: return 0.0;
    case GAUSSIAN: return 0.5 * log(theta) - 0.91893853320467274178;
    case POISSON: return y > 1.0 ? -lgamma(y + 1.0) : 0.0;
    case BINOMIAL: return lgamma(theta + 1.0) - lgamma(y + 1.0) - lgamma(theta - y + 1.0);
    default: return y > 0.0 ? ln_rising(y, theta) - lgamma(y + 1.0) : 0.0;
    }
}

__device__ __forceinline__ double warp_sum(double value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

// One warp per row.
__device__ __forceinline__ u64 row_of_warp() { return ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; }

// Trials that differ from cell to cell, or the column's parameter.
__device__ __forceinline__ double parameter(const Column *column, int j, const double *trials, u64 place) {
    return column->law(j) == BINOMIAL && trials ? trials[place] : column->theta(j);
}

// H, or √a H with root.
extern "C" __global__ void features(u64 rows, int dim, int frequencies, int covariates, int linear, int pitch, double s,
                                    const double *x, const double *w, const double *u, const unsigned *numbers, const double *root, double *h) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * frequencies) return;
    u64 n = i / frequencies;
    int l = i % frequencies, width = 2 * frequencies + covariates + linear + 1;
    double argument = 0.0, weight = root ? root[n] : 1.0, scale = weight * rsqrt((double)frequencies), sine, cosine;
    for (int d = 0; d < dim; d++) argument += x[n * dim + d] * w[l * dim + d];
    sincos(argument, &sine, &cosine);
    double *row = h + n * pitch;
    row[l] = scale * sine;
    row[frequencies + l] = scale * cosine;
    if (l == 0) {
        const double *own = u + (numbers ? numbers[n] : n) * covariates;
        for (int c = 0; c < covariates; c++) row[2 * frequencies + c] = weight * own[c];
        for (int d = 0; d < linear; d++) row[2 * frequencies + covariates + d] = weight * s * x[n * dim + d];
        row[width - 1] = weight;
        for (int m = width; m < pitch; m++) row[m] = 0.0;
    }
}

// Log-likelihood of each row, or its log density; `numbers` are those of the rows in the table, if they are only some.
template <bool DENSITY>
__device__ __forceinline__ void of_rows(u64 rows, const double *product, const Cell *y, const double *known, const Column *column,
                                        const double *trials, const unsigned *numbers, double *out) {
    u64 i = row_of_warp();
    if (i >= rows) return;
    u64 n = numbers ? numbers[i] : i;
    double sum = 0.0;
    Known o(known, n);
#pragma unroll 4
    for (int j = threadIdx.x % 32; j < COLUMNS; j += 32) {
        Datum cell = datum(y[n * COLUMNS + j]);
        double theta = parameter(column, j, trials, n * COLUMNS + j);
        double ln = ln_lik(column->law(j), cell.y, theta, column->second(j), product[i * COLUMNS + j] + o.at(column, j));
        if (DENSITY) ln += constant(column->law(j), cell.y, theta, column->second(j));
        sum += cell.seen ? ln : 0.0;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[i] = sum;
}

extern "C" __global__ void row_ln_lik(u64 rows, const double *product, const Cell *y, const double *known, const Column *column,
                                      const double *trials, const unsigned *numbers, double *out) {
    of_rows<false>(rows, product, y, known, column, trials, numbers, out);
}

// Apart from it, because the constants need three times as many instructions.
extern "C" __global__ void row_ln_density(u64 rows, const double *product, const Cell *y, const double *known, const Column *column,
                                          const double *trials, const unsigned *numbers, double *out) {
    of_rows<true>(rows, product, y, known, column, trials, numbers, out);
}

// The same with the slope in place of the product, over the root.
extern "C" __global__ void row_slope(u64 rows, int columns, double *product, const Cell *y, const double *known,
                                     const Column *column, const double *trials, const double *root, double *out) {
    u64 n = row_of_warp();
    if (n >= rows) return;
    double sum = 0.0, shrink = root ? 1.0 / root[n] : 1.0;
    Known o(known, n);
#pragma unroll 4
    for (int j = threadIdx.x % 32; j < COLUMNS; j += 32) {
        u64 place = n * COLUMNS + j;
        Datum cell = datum(y[place]);
        double slope, information;
        double theta = parameter(column, j, trials, place);
        double ln = ln_lik_slope(column->law(j), cell.y, theta, column->second(j), product[place] * shrink + o.at(column, j), &slope, &information);
        sum += cell.seen ? ln : 0.0;
        product[place] = cell.seen ? slope * shrink : 0.0;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[n] = sum;
}

// ln Σ e^η of a row, over those cells of some columns that are seen: one warp, whose first lane has it.
__device__ __forceinline__ double row_ln_sum(int first, int last, const double *product, const double *paths, const Cell *y) {
    // The sum over e^top; −1e300 stands for nothing.
    double top = -1e300, sum = 0.0;
    for (int j = first + threadIdx.x % 32; j < last; j += 32) {
        double f = datum(y[j]).seen ? product[j] + (paths ? paths[j] : 0.0) : -1e300, next = fmax(top, f);
        sum = sum * exp(top - next) + (f > -1e300 ? exp(f - next) : 0.0);
        top = next;
    }
    for (int step = 16; step > 0; step /= 2) {
        double other = __shfl_down_sync(0xffffffffu, top, step), more = __shfl_down_sync(0xffffffffu, sum, step), next = fmax(top, other);
        sum = sum * exp(top - next) + more * exp(other - next);
        top = next;
    }
    return top + log(sum);
}

// The same of each row.
extern "C" __global__ void row_sums(u64 rows, int first, int last, const double *product, const double *paths, const Cell *y, double *out) {
    u64 n = row_of_warp();
    if (n >= rows) return;
    double ln_sum = row_ln_sum(first, last, product + n * COLUMNS, paths ? paths + n * COLUMNS : paths, y + n * COLUMNS);
    if (threadIdx.x % 32 == 0) out[n] = ln_sum;
}

// Sets what is known of some groups of columns: a number per row, and their paths.
extern "C" __global__ void set_known(u64 rows, int first, int last, const double *values, const double *paths, double *known) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    int count = last - first;
    if (i >= rows * count) return;
    u64 n = i / count, place = n * GROUPS + first + i % count;
    known[place] = values[n] + (paths ? paths[place] : 0.0);
}

// Log-likelihoods of some rows with sets of categories, without the rates of these; the offsets with which their counts have the same slopes, and the rows' totals,
// one for each set.
extern "C" __global__ void row_categories(u64 rows, const int *ends, const double *product, const Cell *y, const double *known, const Column *column,
                                          const double *trials, const unsigned *numbers, double *out, double *offsets, double *totals) {
    u64 i = row_of_warp();
    if (i >= rows) return;
    u64 n = numbers[i];
    product += i * COLUMNS;
    y += n * COLUMNS;
    double sum = 0.0;
    for (int set = 0; set < SETS; set++) {
        int first = ends[2 * set], last = ends[2 * set + 1];
        double ln_sum = row_ln_sum(first, last, product, 0, y), total = 0.0, own = 0.0;
        for (int j = first + threadIdx.x % 32; j < last; j += 32) {
            Datum cell = datum(y[j]);
            total += cell.y;
            own += cell.y * product[j];
        }
        total = warp_sum(total);
        own = warp_sum(own);
        if (threadIdx.x % 32 == 0) {
            // A missing row has no total.
            if (total > 0.0) sum += own - total * ln_sum;
            offsets[i * SETS + set] = log(total) - ln_sum;
            totals[i * SETS + set] = total;
        }
    }
    if (GROUPS > 1) {
        Known o(known, n);
        double others = 0.0;
        for (int j = threadIdx.x % 32; j < COLUMNS; j += 32) {
            Datum cell = datum(y[j]);
            if (column->set(j) >= 0 || !cell.seen) continue;
            others += ln_lik(column->law(j), cell.y, parameter(column, j, trials, n * COLUMNS + j), column->second(j), product[j] + o.at(column, j));
        }
        sum += warp_sum(others);
    }
    if (threadIdx.x % 32 == 0) out[i] = sum;
}

// ∂H/∂x_d of some rows, axis after axis.
extern "C" __global__ void feature_slopes(u64 rows, int dim, int frequencies, int covariates, int linear, int pitch, double s,
                                          const double *x, const double *w, double *h) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * frequencies) return;
    u64 n = i / frequencies;
    int l = i % frequencies;
    double argument = 0.0, scale = rsqrt((double)frequencies), sine, cosine;
    for (int d = 0; d < dim; d++) argument += x[n * dim + d] * w[l * dim + d];
    sincos(argument, &sine, &cosine);
    for (int d = 0; d < dim; d++) {
        double *row = h + (d * rows + n) * pitch;
        row[l] = scale * w[l * dim + d] * cosine;
        row[frequencies + l] = -scale * w[l * dim + d] * sine;
        if (l == 0)
            for (int m = 2 * frequencies; m < pitch; m++) row[m] = linear && m == 2 * frequencies + covariates + d ? s : 0.0;
    }
}

// Slopes of the cells of some rows in the place of their products, and their information; categories have their own offsets and totals.
extern "C" __global__ void cell_slopes(u64 rows, double *product, const Cell *y, const double *known, const Column *column, const double *trials,
                                       const unsigned *numbers, const double *offsets, const double *totals, double *out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * COLUMNS) return;
    u64 k = i / COLUMNS, n = numbers[k];
    int j = i % COLUMNS;
    Datum cell = datum(y[n * COLUMNS + j]);
    int set = column->set(j);
    double slope, information, f = product[i] + (set >= 0 ? offsets[k * SETS + set] : Known(known, n).at(column, j));
    ln_lik_slope(column->law(j), cell.y, parameter(column, j, trials, n * COLUMNS + j), column->second(j), f, &slope, &information);
    if (set >= 0) information *= 1.0 - information / totals[k * SETS + set];
    product[i] = cell.seen ? slope : 0.0;
    out[i] = cell.seen ? information : 0.0;
}

// Slopes of some rows in their positions, and the information about these, from the cells' slopes, followed by the tables of ∂f/∂x_d, and from their information.
// One warp per row and number.
extern "C" __global__ void position_slopes(u64 rows, int dim, const double *slopes, const double *information, double *out) {
    u64 i = row_of_warp();
    int each = dim * (dim + 3) / 2;
    if (i >= rows * each) return;
    u64 n = i / each, table = rows * COLUMNS;
    int k = i % each, d = k, e = -1;
    if (k >= dim) {
        // Pairs in the order (0, 0), (1, 0), (1, 1), (2, 0), …
        for (d = 0, e = k - dim; e > d; d++) e -= d + 1;
    }
    const double *a = slopes + (1 + d) * table + n * COLUMNS, *b = e < 0 ? slopes + n * COLUMNS : slopes + (1 + e) * table + n * COLUMNS;
    double sum = 0.0;
    for (int j = threadIdx.x % 32; j < COLUMNS; j += 32) sum += a[j] * b[j] * (e < 0 ? 1.0 : information[n * COLUMNS + j]);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[i] = sum;
}

// Changes of the sine and the cosine of frequency l in each row, if it were w.
extern "C" __global__ void pair(u64 rows, int dim, int frequencies, int pitch, int l, const double *x, const double *w,
                                const double *h, double *a, double *b) {
    u64 n = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= rows) return;
    double argument = 0.0, scale = rsqrt((double)frequencies), sine, cosine;
    for (int d = 0; d < dim; d++) argument += x[n * dim + d] * w[d];
    sincos(argument, &sine, &cosine);
    a[n] = scale * sine - h[n * pitch + l];
    b[n] = scale * cosine - h[n * pitch + frequencies + l];
}

extern "C" __global__ void row_ln_lik_moved(u64 rows, int columns, const double *product, const Cell *y, const double *known,
                                            const Column *column, const double *trials, const double *a, const double *u, const double *b,
                                            const double *v, double *out) {
    u64 n = row_of_warp();
    if (n >= rows) return;
    double sum = 0.0, an = a[n], bn = b[n];
    Known o(known, n);
#pragma unroll 4
    for (int j = threadIdx.x % 32; j < COLUMNS; j += 32) {
        u64 place = n * COLUMNS + j;
        Datum cell = datum(y[place]);
        double f = product[place] + o.at(column, j) + an * u[j] + bn * v[j];
        double ln = ln_lik(column->law(j), cell.y, parameter(column, j, trials, place), column->second(j), f);
        sum += cell.seen ? ln : 0.0;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[n] = sum;
}

extern "C" __global__ void keep_pair(u64 rows, int columns, int frequencies, int pitch, int l, const double *a, const double *u,
                                     const double *b, const double *v, double *product, double *h) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    u64 n = i / columns;
    int j = i % columns;
    product[i] += a[n] * u[j] + b[n] * v[j];
    if (j == 0) {
        h[n * pitch + l] += a[n];
        h[n * pitch + frequencies + l] += b[n];
    }
}

// Rows that a thread of the column sums takes.
#define PIECE 64

struct ColumnAt {
    double factor;
    double shift;
    double theta[2];
};

// Partial log-likelihoods of columns at f' = base + factor (f − base) − shift and another θ: one row of sums per piece of rows.
extern "C" __global__ void column_ln_lik(u64 rows, int columns, const double *product, const Cell *y, const double *known,
                                         const Column *column, const double *trials, const ColumnAt *at, double *sums) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    u64 start = (u64)blockIdx.y * PIECE, end = min(start + PIECE, rows);
    ColumnAt there = at[j];
    int law = column->law(j);
    double sum = 0.0, centre = column->centre(j);
#pragma unroll 4
    for (u64 n = start; n < end; n++) {
        Datum cell = datum(y[n * COLUMNS + j]);
        double o = Known(known, n).at(column, j), base = o + centre, f = product[n * COLUMNS + j] + o;
        double theta = law == BINOMIAL ? parameter(column, j, trials, n * COLUMNS + j) : there.theta[0];
        double ln = ln_lik(law, cell.y, theta, there.theta[1], base + there.factor * (f - base) - there.shift);
        sum += cell.seen ? ln : 0.0;
    }
    sums[(u64)blockIdx.y * columns + j] = sum;
}

// Sums of the pieces: a block takes 32 columns, each of its warps an eighth of the pieces.
extern "C" __global__ void sum_pieces(int pieces, int columns, const double *sums, double *out) {
    __shared__ double part[8][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, j = blockIdx.x * 32 + lane;
    double sum = 0.0;
    if (j < columns)
        for (int piece = warp; piece < pieces; piece += 8) sum += sums[(u64)piece * columns + j];
    part[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || j >= columns) return;
    for (int other = 1; other < 8; other++) sum += part[other][lane];
    out[j] = sum;
}

// One block: the sum of some numbers, or of their squares.
extern "C" __global__ void sum_all(u64 count, const double *values, double *out) {
    __shared__ double part[1024];
    double sum = 0.0;
    for (u64 i = threadIdx.x; i < count; i += 1024) sum += values[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 512; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = part[0];
}

// Half the squares of two tables: one sum per block, of a fixed share.
extern "C" __global__ void half_squares(u64 count, const double *a, const double *b, double *out) {
    __shared__ double part[256];
    u64 stride = (u64)gridDim.x * 256;
    double sum = 0.0;
    for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < count; i += stride) sum += a[i] * a[i] + b[i] * b[i];
    part[threadIdx.x] = 0.5 * sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// The exact flow of ½(q² + p²).
extern "C" __global__ void turn(u64 count, double sine, double cosine, double *q, double *p) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    double a = q[i], b = p[i];
    q[i] = cosine * a + sine * b;
    p[i] = cosine * b - sine * a;
}

// Philox 4×32-10 (Salmon, Moraes, Dror & Shaw 2011): a counter gives two normals, wherever it is evaluated.
extern "C" __global__ void normals(u64 count, u64 key, u64 stream, double *out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i >= count) return;
    unsigned c0 = (unsigned)i, c1 = (unsigned)(i >> 32), c2 = (unsigned)stream, c3 = (unsigned)(stream >> 32);
    unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        unsigned high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    // The middles of 2⁵³ equal intervals: never 0 or 1.
    double unit = 1.0 / 9007199254740992.0;
    double one = ((double)((((u64)c0 << 32) | c1) >> 11) + 0.5) * unit;
    double two = ((double)((((u64)c2 << 32) | c3) >> 11) + 0.5) * unit;
    double radius = sqrt(-2.0 * log(one)), sine, cosine;
    sincospi(2.0 * two, &sine, &cosine);
    out[2 * i] = radius * cosine;
    if (2 * i + 1 < count) out[2 * i + 1] = radius * sine;
}

// t = H_cos ∂H_sin − H_sin ∂H_cos, with which ∂X = tW and ∂W = tᵀX.
extern "C" __global__ void to_arguments(u64 rows, int frequencies, int pitch, const double *h, const double *dh, double *t) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * frequencies) return;
    u64 n = i / frequencies;
    int l = i % frequencies;
    const double *own = h + n * pitch, *slope = dh + n * pitch;
    t[i] = own[frequencies + l] * slope[l] - own[l] * slope[frequencies + l];
}

// What a linear part adds to ∂X; `first` is its first column in H.
extern "C" __global__ void add_linear(u64 rows, int dim, int pitch, int first, double s, const double *root, const double *dh, double *gx) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * dim) return;
    u64 n = i / dim;
    gx[i] += (root ? root[n] : 1.0) * s * dh[n * pitch + first + i % dim];
}

// f of some columns, from the low-rank product of the reference.
extern "C" __global__ void from_reference(u64 rows, int some, const unsigned *numbers, const Column *column, const double *known,
                                          const double *root, double *at) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * some) return;
    u64 n = i / some;
    int j = numbers[i % some];
    at[i] = at[i] / root[n] + Known(known, n).at(column, j) + column->centre(j);
}

// Adds what is known of some columns.
extern "C" __global__ void add_known(u64 rows, int some, const unsigned *numbers, const Column *column, const double *known, double *at) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * some) at[i] += Known(known, i / some).at(column, numbers[i % some]);
}

// Information and response of the cells of some columns at their f.
extern "C" __global__ void curvature(u64 rows, int some, int columns, const unsigned *numbers, const Cell *y, const double *known,
                                     const Column *column, const double *trials, const double *at, double *weight, double *response) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * some) return;
    int j = numbers[i % some];
    u64 n = i / some, place = n * COLUMNS + j;
    Datum cell = datum(y[place]);
    double slope = 0.0, information = 0.0;
    if (cell.seen) ln_lik_slope(column->law(j), cell.y, parameter(column, j, trials, place), column->second(j), at[i], &slope, &information);
    weight[i] = information;
    response[i] = information * (at[i] - Known(known, n).at(column, j)) + slope;
}

// Products of all pairs of columns of H, of some rows: row t holds h_i h_k for k ≤ i.
extern "C" __global__ void products(u64 first, u64 rows, int width, int pitch, int triangle, const double *h, double *out) {
    __shared__ double own[1024];
    u64 t = blockIdx.x;
    if (t >= rows) return;
    for (int i = threadIdx.x; i < width; i += blockDim.x) own[i] = h[(first + t) * pitch + i];
    __syncthreads();
    double *row = out + t * triangle;
    for (int i = 0; i < width; i++)
        for (int k = threadIdx.x; k <= i; k += blockDim.x) row[(u64)i * (i + 1) / 2 + k] = own[i] * own[k];
}

// Changes the rows of a matrix from `first` on, all threads of a block together. A warp has every 32nd row and a lane every 32nd column of it, so that the
// warp of a row can offer it to the others without waiting for them. Sixteen values are read before any is written: each would take the time that all take.
template <class F> __device__ __forceinline__ void for_each_cell(int rows, int columns, double *a, int stride, int first, F f) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int m0 = warp; m0 < rows; m0 += 128)
        for (int c0 = lane; c0 < columns; c0 += 128) {
            double held[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int m = m0 + 32 * i, c = c0 + 32 * j;
                    held[i][j] = m >= first && m < rows && c < columns ? a[m * stride + c] : 0.0;
                }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int m = m0 + 32 * i, c = c0 + 32 * j;
                    if (m >= first && m < rows && c < columns) a[m * stride + c] = f(m, c, held[i][j]);
                }
        }
}

// A fit with a larger curvature is of no use, since its squares overflow.
#define MOST_CURVATURE 1e100

// x with Ux = b, one warp: U is upper triangular, its rows `stride` apart, and both x and b are read and written by this warp alone.
__device__ void solve_upper(int width, int stride, const double *u, const double *b, int step, double *x) {
    int lane = threadIdx.x % 32;
    for (int k = width - 1; k >= 0; k--) {
        double sum = 0.0;
        for (int c = k + 1 + lane; c < width; c += 32) sum += u[k * stride + c] * x[c];
        sum = warp_sum(sum);
        if (lane == 0) x[k] = (b[k * step] - sum) / u[k * stride + k];
        __syncwarp();
    }
}

// The Gaussian fitted to each of some columns: U with U'U = HΩH + diag(precision) and in its last column U^-T times the shift, and its mean. The prior alone
// where that overflows or is not positive definite. One block per column; rows are offered as in `invert`.
extern "C" __global__ __launch_bounds__(1024) void fit(int width, int pitch, int triangle, const double *grams, const double *responses, const double *precisions, const double *centres,
                               double *factors, double *means) {
    __shared__ double offered[2][1025];
    __shared__ int is_usable;
    int stride = width + 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const double *gram = grams + (u64)blockIdx.x * triangle, *response = responses + (u64)blockIdx.x * pitch;
    const double *precision = precisions + (u64)blockIdx.x * width;
    double *a = factors + (u64)blockIdx.x * width * stride, centre = centres[blockIdx.x];
    if (threadIdx.x == 0) is_usable = 1;
    __syncthreads();
    for (int m = threadIdx.x; m < width; m += blockDim.x)
        if (!(fabs(gram[m * (m + 3) / 2]) < MOST_CURVATURE && fabs(response[m]) < MOST_CURVATURE)) is_usable = 0;
    __syncthreads();
    bool is_done = false;
    for (int attempt = is_usable ? 0 : 1; attempt < 2 && !is_done; attempt++) {
        __syncthreads();
        for (int m = warp; m < width; m += 32)
            for (int c = lane; c < stride; c += 32) {
                if (c < m) continue;
                double known = attempt == 1 ? 0.0 : c < width ? gram[c * (c + 1) / 2 + m] : response[m];
                double prior = c == m ? precision[m] : c == width && m == width - 1 ? precision[m] * centre : 0.0;
                a[m * stride + c] = known + prior;
            }
        if (warp == 0)
            for (int c = lane; c < stride; c += 32) offered[0][c] = a[c];
        is_done = true;
        for (int k = 0; k < width; k++) {
            __syncthreads();
            const double *row = offered[k % 2];
            double pivot = row[k];
            if (!(pivot > 0.0)) {
                is_done = false;
                break;
            }
            double inverse = 1.0 / pivot, root = sqrt(inverse);
            for_each_cell(width, stride, a, stride, k, [&](int m, int c, double held) {
                if (c < m) return 0.0;
                held = m == k ? row[c] * root : held - row[m] * inverse * row[c];
                if (m == k + 1) offered[m % 2][c] = held;
                return held;
            });
        }
    }
    __syncthreads();
    if (warp > 0) return;
    solve_upper(width, stride, a, a + width, stride, offered[0]);
    for (int m = lane; m < width; m += 32) means[(u64)blockIdx.x * pitch + m] = offered[0][m];
}

// Directions U^-1 z of some columns, and with v = Ud, the sums of v v, v z and z z. One block of four warps per column.
extern "C" __global__ void aim(int width, int pitch, const double *factors, const double *normals, const double *from_mean, double *directions,
                               double *squares) {
    __shared__ double x[1024], part[3][4];
    int stride = width + 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 first = (u64)blockIdx.x * width;
    const double *u = factors + first * stride, *z = normals + first, *d = from_mean + first;
    double vv = 0.0, vz = 0.0, zz = 0.0;
    if (warp == 0) {
        solve_upper(width, stride, u, z, 1, x);
        for (int m = lane; m < width; m += 32) directions[(u64)blockIdx.x * pitch + m] = x[m];
    } else {
        for (int k = warp - 1; k < width; k += 3) {
            double v = 0.0;
            for (int c = k + lane; c < width; c += 32) v += u[k * stride + c] * d[c];
            v = warp_sum(v);
            vv += v * v, vz += v * z[k], zz += z[k] * z[k];
        }
    }
    if (lane == 0) part[0][warp] = vv, part[1][warp] = vz, part[2][warp] = zz;
    __syncthreads();
    if (threadIdx.x < 3) squares[3 * blockIdx.x + threadIdx.x] = part[threadIdx.x][1] + part[threadIdx.x][2] + part[threadIdx.x][3];
}

// Partial log-likelihoods of some columns at f_mean + cos (f − f_mean) + sin f_auxiliary.
extern "C" __global__ void turned_ln_lik(u64 rows, int some, int columns, const unsigned *numbers, const double *product, const Cell *y,
                                         const double *known, const Column *column, const double *trials, const double *at,
                                         const double *aim, const double *turns, double *sums) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= some) return;
    u64 start = (u64)blockIdx.y * PIECE, end = min(start + PIECE, rows);
    int j = numbers[k], law = column->law(j);
    double cosine = turns[2 * k], sine = turns[2 * k + 1], sum = 0.0;
    for (u64 n = start; n < end; n++) {
        u64 place = n * COLUMNS + j, i = n * some + k;
        Datum cell = datum(y[place]);
        double f = product[place] + Known(known, n).at(column, j), mean = at[i];
        double ln = ln_lik(law, cell.y, parameter(column, j, trials, place), column->second(j), mean + cosine * (f - mean) + sine * aim[i]);
        sum += cell.seen ? ln : 0.0;
    }
    sums[(u64)blockIdx.y * some + k] = sum;
}

// Adds f, in units of the columns, to a sum.
extern "C" __global__ void add_to_sum(u64 count, int columns, const double *product, const double *known, const Column *column, float *sum) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int j = i % COLUMNS;
    sum[i] += (float)((product[i] + Known(known, i / COLUMNS).at(column, j) - column->centre(j)) / column->scale(j));
}

// Information of all cells at their f, in units of the columns; with totals, one per row and set of categories, that of categories of rows at their mean rates.
extern "C" __global__ void information(u64 count, const double *f, const Cell *y, const Column *column, const double *trials,
                                       const double *totals, double *out) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int j = i % COLUMNS;
    Datum cell = datum(y[i]);
    double slope = 0.0, information = 0.0;
    ln_lik_slope(column->law(j), cell.y, parameter(column, j, trials, i), column->second(j), f[i], &slope, &information);
    int set = column->set(j);
    if (totals && set >= 0) information *= 1.0 - information / totals[i / COLUMNS * SETS + set];
    out[i] = cell.seen ? information * column->scale(j) * column->scale(j) : 0.0;
}

// Sums of the rows of a table over a number per column.
extern "C" __global__ void row_shares(u64 rows, const double *table, const double *over, double *out) {
    u64 n = row_of_warp();
    if (n >= rows) return;
    double sum = 0.0;
    for (int j = threadIdx.x % 32; j < COLUMNS; j += 32) sum += table[n * COLUMNS + j] / over[j];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) out[n] = sum;
}

// Sums of the columns over a number per row, one row of sums per piece of rows.
extern "C" __global__ void column_shares(u64 rows, const double *table, const double *over, double *sums) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= COLUMNS) return;
    u64 start = (u64)blockIdx.y * PIECE, end = min(start + PIECE, rows);
    double sum = 0.0;
    for (u64 n = start; n < end; n++) sum += table[n * COLUMNS + j] / over[n];
    sums[(u64)blockIdx.y * COLUMNS + j] = sum;
}

// f less what is known of it, in units of the columns, times a number per row, in its place.
extern "C" __global__ void weigh(u64 count, const double *root, const double *known, const Column *column, double *f) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int j = i % COLUMNS;
    u64 n = i / COLUMNS;
    f[i] = root[n] * (f[i] - Known(known, n).at(column, j) - column->centre(j)) / column->scale(j);
}

// The mean of what was added, as f.
extern "C" __global__ void take_mean(u64 count, int columns, double added, const Column *column, const float *sum, double *mean) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int j = i % COLUMNS;
    mean[i] = column->centre(j) + column->scale(j) * sum[i] / added;
}

// f.
extern "C" __global__ void whole(u64 count, const double *product, const double *known, const Column *column, double *f) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) f[i] = product[i] + Known(known, i / COLUMNS).at(column, i % COLUMNS);
}

// --- The weights' half of a trajectory: M×J tables, one row per column of H, columns in the order of ζ unless they say otherwise. ---

// A^-1 and ln |A| of A = D + rho S, for each rho; ln |A| is not a number if A is not positive definite. One block per rho, which sweeps one row and
// column after the other (Beaton 1964).
extern "C" __global__ __launch_bounds__(1024) void invert(int width, int pitch, double intercept, const double *rho, const double *s,
                                                               double *inverses, double *ln_dets) {
    __shared__ double offered[2][1024];
    double *a = inverses + (u64)blockIdx.x * width * width;
    double r = rho[blockIdx.x], ln_det = 0.0;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int m = warp; m < width; m += 32)
        for (int c = lane; c < width; c += 32) a[m * width + c] = r * s[m * pitch + c] + (m == c ? (m == width - 1 ? intercept : 1.0) : 0.0);
    if (warp == 0)
        for (int c = lane; c < width; c += 32) offered[0][c] = a[c];
    for (int k = 0; k < width; k++) {
        __syncthreads();
        const double *row = offered[k % 2];
        double pivot = row[k], inverse = 1.0 / pivot;
        if (threadIdx.x == 0) ln_det += pivot > 0.0 ? log(pivot) : nan("");
        for_each_cell(width, width, a, width, 0, [&](int m, int c, double held) {
            double factor = m == k ? -inverse : row[m] * inverse;
            held = c == k ? factor : (m == k ? 0.0 : held) - factor * row[c];
            if (m == k + 1) offered[m % 2][c] = held;
            return held;
        });
    }
    for (int m = warp; m < width; m += 32)
        for (int c = lane; c < width; c += 32) a[m * width + c] = -a[m * width + c];
    if (threadIdx.x == 0) ln_dets[blockIdx.x] = ln_det;
}

// Response and noise of the weights, in units of their groups: response · ρ, and √ρ u + √D ξ.
extern "C" __global__ void prepare(int width, int columns, double root_intercept, const double *rho, const double *xi, double *response, double *u) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)width * columns) return;
    double r = rho[i % columns], d = i / columns == width - 1 ? root_intercept : 1.0;
    response[i] *= r;
    u[i] = sqrt(r) * u[i] + d * xi[i];
}

// β in the order of the model, from its mean and A⁻¹u.
extern "C" __global__ void colour(int width, int columns, const unsigned *order, const Column *column, const double *scale,
                                  const double *mean, const double *t, double *beta) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)width * columns) return;
    u64 r = i / columns;
    int k = i % columns;
    unsigned c = order[k];
    beta[r * columns + c] = (r == width - 1 ? column->centre(c) : 0.0) + mean[i] + scale[k] * t[i];
}

// Half the products of two tables: one sum per block.
extern "C" __global__ void half_products(u64 count, const double *a, const double *b, double *out) {
    __shared__ double part[256];
    u64 stride = (u64)gridDim.x * 256;
    double sum = 0.0;
    for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < count; i += stride) sum += a[i] * b[i];
    part[threadIdx.x] = 0.5 * sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// Adds the slope of ln p(β) to ∂β; partial sums of ln p(β), one per block. β and ∂β in the order of the model.
extern "C" __global__ void pull(int width, int columns, double intercept, const double *precision, const Column *column,
                                const double *beta, double *dbeta, double *out) {
    __shared__ double part[256];
    u64 count = (u64)width * columns, stride = (u64)gridDim.x * 256;
    double sum = 0.0;
    for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < count; i += stride) {
        int c = i % columns;
        bool last = i / columns == width - 1;
        double p = precision[c] * (last ? intercept : 1.0), from = beta[i] - (last ? column->centre(c) : 0.0);
        dbeta[i] -= p * from;
        sum -= 0.5 * p * from * from;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// ∂β and β less its prior mean, in the order of ζ.
extern "C" __global__ void arrange(int width, int columns, const unsigned *order, const Column *column, const double *beta,
                                   const double *dbeta, double *own, double *from) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)width * columns) return;
    u64 r = i / columns;
    unsigned c = order[i % columns];
    own[i] = beta[r * columns + c] - (r == width - 1 ? column->centre(c) : 0.0);
    from[i] = dbeta[r * columns + c];
}

// ∂S −= ρ (∂A + ∂Aᵀ), with ∂A + half · A⁻¹ in its place.
extern "C" __global__ void symmetrise(int width, int pitch, double rho, double half, const double *inverse, const double *da, double *ds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * width) return;
    int r = i / width, c = i % width, turned = c * width + r;
    ds[r * pitch + c] -= rho * (da[i] + da[turned] + half * (inverse[i] + inverse[turned]));
}

// ∂u = √ρ (s V + t) in the place of t, and ρ V.
extern "C" __global__ void respond(int width, int columns, const double *rho, const double *scale, double *t, double *v) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)width * columns) return;
    int k = i % columns;
    t[i] = sqrt(rho[k]) * (scale[k] * v[i] + t[i]);
    v[i] *= rho[k];
}

// ∂u times a step, and with it the momenta of ξ.
extern "C" __global__ void kick(int width, int columns, double step, double root_intercept, const double *rho, double *du, double *momenta) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)width * columns) return;
    double d = i / columns == width - 1 ? root_intercept : 1.0;
    du[i] *= step;
    momenta[i] += d / sqrt(rho[i % columns]) * du[i];
}

// How far the weights are from those of the noise: added to ξ, and in `delta` for ζ. The two β are in the order of the model.
extern "C" __global__ void away(int width, int columns, double root_intercept, const unsigned *order, const double *rho, const double *scale,
                                const double *wanted, const double *beta, double *xi, double *delta) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)width * columns) return;
    u64 r = i / columns;
    int k = i % columns;
    double d = r == width - 1 ? root_intercept : 1.0;
    // Columns without weights have no scale.
    double from = scale[k] > 0.0 ? (wanted[r * columns + order[k]] - beta[r * columns + order[k]]) / scale[k] : 0.0;
    xi[i] += d * from;
    delta[i] = sqrt(rho[k]) * from;
}
