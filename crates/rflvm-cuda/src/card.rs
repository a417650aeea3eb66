//! A card: its stream, cuBLAS, and the kernels, compiled for the table's type.
//!
//! `cudarc` loads the driver and the libraries when they are asked for, so that building needs no toolkit and a program without a card starts as ever. Kernels are compiled
//! at run time (NVRTC, a second or two), for the type in which the table is held and for the card in use.

use cudarc::cublas::CudaBlas;
use cudarc::cublas::sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, LaunchConfig,
};
use cudarc::nvrtc::{CompileOptions, Ptx, compile_ptx_with_opts};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// What a card or its libraries said.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

impl From<cudarc::driver::DriverError> for Fault {
    fn from(error: cudarc::driver::DriverError) -> Self {
        let text =
            error.error_string().map_or_else(|_| format!("{error:?}"), |text| text.to_string_lossy().into_owned());
        Fault(text)
    }
}

impl From<cudarc::cublas::result::CublasError> for Fault {
    fn from(error: cudarc::cublas::result::CublasError) -> Self {
        Fault(format!("cuBLAS: {error:?}"))
    }
}

/// Values on the card.
pub type Values = CudaSlice<f64>;

/// Names of the kernels.
const KERNELS: [&str; 45] = [
    "features",
    "row_ln_lik",
    "row_ln_density",
    "row_sums",
    "row_categories",
    "feature_slopes",
    "cell_slopes",
    "position_slopes",
    "row_slope",
    "pair",
    "row_ln_lik_moved",
    "keep_pair",
    "column_ln_lik",
    "sum_pieces",
    "sum_all",
    "half_squares",
    "turn",
    "normals",
    "to_arguments",
    "add_linear",
    "from_reference",
    "add_known",
    "set_known",
    "curvature",
    "products",
    "fit",
    "aim",
    "turned_ln_lik",
    "add_to_sum",
    "information",
    "row_shares",
    "column_shares",
    "weigh",
    "take_mean",
    "whole",
    "invert",
    "prepare",
    "colour",
    "half_products",
    "pull",
    "arrange",
    "symmetrise",
    "respond",
    "kick",
    "away",
];

/// A card with compiled kernels.
pub struct Card {
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    blas: CudaBlas,
    kernels: HashMap<&'static str, CudaFunction>,
    _module: Arc<CudaModule>,
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("ordinal", &self.context.ordinal()).finish_non_exhaustive()
    }
}

/// A matrix on the card in row-major order, and whether it is transposed.
#[derive(Clone, Copy)]
pub struct Factor<'a, P> {
    pub values: &'a P,
    pub columns: usize,
    pub is_transposed: bool,
}

/// Rows and columns of a product of matrices, and the number of terms of each of its sums.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub rows: usize,
    pub columns: usize,
    pub inner: usize,
}

/// A row-major factor of a product.
pub fn plain<P>(values: &P, columns: usize) -> Factor<'_, P> {
    Factor { values, columns, is_transposed: false }
}

/// A transposed factor, stored row-major with this number of columns.
pub fn transposed<P>(values: &P, columns: usize) -> Factor<'_, P> {
    Factor { values, columns, is_transposed: true }
}

/// A copy that does not fit: an error of this crate, which must not end the program.
fn too_long(needed: usize, has: usize) -> Fault {
    Fault(format!("{needed} numbers were copied where it has {has}; please report this"))
}

/// What kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form {
    /// Bytes of a cell.
    pub cell: usize,
    /// Number of columns.
    pub columns: usize,
    /// The law of all of them; -1 if they differ.
    pub law: i32,
    /// Sets of categories among them.
    pub sets: usize,
    /// Groups of them that share what is known of their f.
    pub groups: usize,
    /// Whether precision is mixed.
    pub is_mixed: bool,
}

/// The kernels for a table and an architecture; compiled once.
fn compiled(form: Form, architecture: String) -> Result<Ptx, Fault> {
    static COMPILED: Mutex<BTreeMap<(Form, String), Ptx>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(ptx) = compiled.get(&(form, architecture.clone())) {
        return Ok(ptx.clone());
    }
    let Form { cell, columns, law, sets, groups, is_mixed } = form;
    let options = CompileOptions {
        options: vec![
            format!("-DCELL={cell}"),
            format!("-DCOLUMNS={columns}"),
            format!("-DLAW={law}"),
            format!("-DSETS={sets}"),
            format!("-DGROUPS={groups}"),
            format!("-DMIXED={}", u8::from(is_mixed)),
            format!("--gpu-architecture={architecture}"),
        ],
        ..CompileOptions::default()
    };
    let ptx = compile_ptx_with_opts(include_str!("kernels.cu"), options)
        .map_err(|error| Fault(format!("its kernels could not be compiled: {error:?}")))?;
    compiled.insert((form, architecture), ptx.clone());
    Ok(ptx)
}

impl Card {
    /// Opens card number `ordinal` for a table.
    pub fn open(ordinal: usize, form: Form) -> Result<Self, Fault> {
        let context = CudaContext::new(ordinal)?;
        // One stream per chain: nothing has to wait for another.
        // SAFETY: all memory of this card is used on this one stream.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream()?;
        let blas = CudaBlas::new(stream.clone())?;
        let (major, minor) = context.compute_capability()?;
        let module = context.load_module(compiled(form, format!("compute_{major}{minor}"))?)?;
        let mut kernels = HashMap::new();
        for name in KERNELS {
            kernels.insert(name, module.load_function(name)?);
        }
        Ok(Card { context, stream, blas, kernels, _module: module })
    }

    /// A kernel.
    pub fn kernel(&self, name: &str) -> &CudaFunction {
        &self.kernels[name]
    }

    /// Copies values to the card.
    pub fn put<T: DeviceRepr>(&self, from: &[T], to: &mut CudaSlice<T>) -> Result<(), Fault> {
        let (needed, has) = (from.len(), to.len());
        let mut to = to.try_slice_mut(0..needed).ok_or_else(|| too_long(needed, has))?;
        Ok(self.stream.memcpy_htod(from, &mut to)?)
    }

    /// Copies values from the card, and waits for them.
    pub fn get<T: DeviceRepr>(&self, from: &CudaSlice<T>, to: &mut [T]) -> Result<(), Fault> {
        let from = from.try_slice(0..to.len()).ok_or_else(|| too_long(to.len(), from.len()))?;
        self.stream.memcpy_dtoh(&from, to)?;
        Ok(self.stream.synchronize()?)
    }

    /// Memory on the card, zero.
    pub fn zeros<T: DeviceRepr + cudarc::driver::ValidAsZeroBits>(&self, count: usize) -> Result<CudaSlice<T>, Fault> {
        Ok(self.stream.alloc_zeros(count.max(1))?)
    }

    /// out = A B, or out + A B, all row-major.
    pub fn multiply<A: DevicePtr<f64>, B: DevicePtr<f64>, C: DevicePtrMut<f64>>(
        &self,
        extent: Extent,
        a: Factor<'_, A>,
        b: Factor<'_, B>,
        add: bool,
        out: &mut C,
    ) -> Result<(), Fault> {
        self.multiply_scaled(extent, 1.0, a, b, add, (out, extent.columns))
    }

    /// The same with a factor, into a matrix whose rows are `stride` apart.
    pub fn multiply_scaled<A: DevicePtr<f64>, B: DevicePtr<f64>, C: DevicePtrMut<f64>>(
        &self,
        Extent { rows, columns, inner }: Extent,
        alpha: f64,
        a: Factor<'_, A>,
        b: Factor<'_, B>,
        add: bool,
        (out, stride): (&mut C, usize),
    ) -> Result<(), Fault> {
        let operation = |is_transposed| if is_transposed { CUBLAS_OP_T } else { CUBLAS_OP_N };
        let beta = f64::from(u8::from(add));
        let (pa, _keep_a) = a.values.device_ptr(&self.stream);
        let (pb, _keep_b) = b.values.device_ptr(&self.stream);
        let (pc, _keep_c) = out.device_ptr_mut(&self.stream);
        // In cuBLAS's column-major order a row-major matrix is its transpose: outᵀ = Bᵀ Aᵀ.
        // SAFETY: the pointers are valid while the guards live, and callers give the shapes of what they allocated.
        unsafe {
            cudarc::cublas::result::dgemm(
                *self.blas.handle(),
                operation(b.is_transposed),
                operation(a.is_transposed),
                columns as i32,
                rows as i32,
                inner as i32,
                &alpha,
                pb as *const f64,
                b.columns as i32,
                pa as *const f64,
                a.columns as i32,
                &beta,
                pc as *mut f64,
                stride as i32,
            )?;
        }
        Ok(())
    }
}

/// Threads of a block, where nothing else is said.
pub const THREADS: u32 = 256;

/// One thread per element.
pub fn each(count: usize) -> LaunchConfig {
    blocks(count.div_ceil(THREADS as usize).max(1), THREADS)
}

/// As many blocks of as many threads.
pub fn blocks(count: usize, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (count as u32, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Most partial sums of a table.
pub const PARTS: usize = 1024;

/// One block per partial sum of a table of `count` numbers.
pub fn parts(count: usize) -> LaunchConfig {
    blocks(count.div_ceil(THREADS as usize).clamp(1, PARTS), THREADS)
}

/// One warp per row.
pub fn warps(rows: usize) -> LaunchConfig {
    each(rows * 32)
}
