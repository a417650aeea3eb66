//! What can be wrong with a table: each message is one sentence with the place and the remedy.

use std::path::PathBuf;

use super::written::Written;

/// Why a table cannot be read; rows are data rows and lines are lines of the file, both from 1.
// The messages document the variants.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("{sentence}")]
    Store { sentence: String },
    #[error("{}: there is no such file; check the path", file.display())]
    Missing { file: PathBuf },
    #[error(
        "{}: this is a folder without a file matrix.mtx or matrix.mtx.gz, and without metadata of Zarr; name a table, for instance a .csv file",
        file.display()
    )]
    Folder { file: PathBuf },
    #[error("{}: the file cannot be read ({reason}); check its permissions", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error(
        "{}: {extension} is not supported; convert the table to .csv (commas), .tsv or .tab (tabs), .mtx (Matrix Market), each also as .gz, .npy or .npz (NumPy), .parquet, .arrow or .feather, or give the separator of a text file with ⟨separator⟩",
        file.display()
    )]
    Extension { file: PathBuf, extension: String },
    #[error("{}: the file is {kind}; {remedy}", file.display())]
    Disguised { file: PathBuf, kind: &'static str, remedy: &'static str },
    #[error(
        "{}: .h5ad is not read by the program; convert it with `{command}`, and give {folder}, or fit it in Python with rflvm.tl.fit",
        file.display()
    )]
    H5ad { file: PathBuf, command: String, folder: String },
    #[error(
        "{}: {place}: `{text}` is a whole number beyond 2^53, which would be rounded; name the column with ⟨id⟩ if it names the rows, leave it out with ⟨without⟩, or subtract a constant",
        file.display()
    )]
    Rounded { file: PathBuf, place: String, text: String },
    #[error(
        "{}: the gzip data are damaged or cut short ({reason}); copy or compress the file again, or remove .gz from its name if it is not compressed",
        file.display()
    )]
    Gzip { file: PathBuf, reason: String },
    #[error("{}: the file cannot be read as {kind} ({reason}); copy or write it again", file.display())]
    Damaged { file: PathBuf, kind: &'static str, reason: String },
    #[error(
        "{}: the table needs {needed} of memory for {what}, but {why}; choose fewer columns with ⟨columns⟩, or split the table",
        file.display()
    )]
    TooLarge { file: PathBuf, needed: String, what: String, why: String },
    #[error("{}: a table is read more than once, which a pipe does not allow; write it to a file, and name that", file.display())]
    Pipe { file: PathBuf },
    #[error("{}: the file is empty; it needs a line of column names and then one line per sample", file.display())]
    Empty { file: PathBuf },
    #[error("{}: there are column names but no data row; add one line per sample", file.display())]
    NoRows { file: PathBuf },
    #[error(
        "{}: no column is left to fit besides those that options such as ⟨id⟩ and ⟨labels⟩ name; omit some of these options, or add columns",
        file.display()
    )]
    NoColumns { file: PathBuf },

    #[error(
        "{}: no column can be fitted: none holds numbers, yes/no answers, or text that repeats; add one that does",
        file.display()
    )]
    NothingToFit { file: PathBuf },

    #[error(
        "{}: {place}the column name `{column}` is used for columns {first} and {second}; rename one of them",
        file.display()
    )]
    DuplicateColumn { file: PathBuf, place: String, column: String, first: usize, second: usize },
    #[error(
        "{}: the first line ({shown}) may name the columns or be a row; if it names them, write names that are not numbers, such as c0, and if it is a row, put a line of names above it",
        file.display()
    )]
    Heading { file: PathBuf, shown: String },
    #[error(
        "{}: line {line}: column {position} has no name; name it, or remove the extra separator at that place on every line",
        file.display()
    )]
    UnnamedColumn { file: PathBuf, line: usize, position: usize },
    #[error(
        "{}: row {row} (line {line}): {expected} cells expected but {found} found; {remedy}",
        file.display()
    )]
    Ragged { file: PathBuf, row: usize, line: usize, expected: usize, found: usize, remedy: &'static str },
    #[error("{}: {place}: `{text}` is not a number; {remedy}", file.display())]
    Text { file: PathBuf, place: String, text: String, remedy: String },
    #[error(
        "{}: {place}: the fit does not know `{text}`; it knows {known}, so correct the cell or leave it empty",
        file.display()
    )]
    UnknownLevel { file: PathBuf, place: String, text: String, known: String },
    #[error(
        "{}: two columns would be named `{name}`, one of them for a level of a category; rename the column or the level",
        file.display()
    )]
    TwiceNamed { file: PathBuf, name: String },
    #[error("{}: {}; try {}", file.display(), written.words(), written.settings())]
    Written { file: PathBuf, written: Written },
    #[error(
        "{}: the line after {row} rows is longer than {megabytes} MiB, the longest allowed; look for missing line ends, or for an unclosed quotation mark",
        file.display()
    )]
    TooLong { file: PathBuf, row: usize, megabytes: u64 },
    #[error(
        "{}: ⟨{option}⟩ applies only to text tables, and this file is not one; omit it",
        file.display()
    )]
    NotText { file: PathBuf, option: &'static str },
    #[error(
        "{}: {place}: `{text}` is infinite or too large; give a finite number, or mark the cell missing (empty in text, otherwise nan or null)",
        file.display()
    )]
    Infinite { file: PathBuf, place: String, text: String },
    #[error(
        "{}: {place}: the offset `{text}` is not a finite number; the column of ⟨offset⟩ needs one in every row",
        file.display()
    )]
    Offset { file: PathBuf, place: String, text: String },
    #[error("{}: {place}: {problem}", file.display())]
    Times { file: PathBuf, place: String, problem: String },
    #[error("{}: {place}: the text `{text}` is not UTF-8; save the file with UTF-8 encoding", file.display())]
    NotUtf8 { file: PathBuf, place: String, text: String },
    #[cfg(feature = "columnar")]
    #[error("{}: the column `{column}` holds {kind}, not numbers; {remedy}", file.display())]
    Column { file: PathBuf, column: String, kind: &'static str, remedy: &'static str },

    #[error(
        "{}: ⟨{option}⟩ names the column `{name}`, which does not exist{hint}; the columns are {available}",
        file.display()
    )]
    UnknownColumn { file: PathBuf, option: &'static str, name: String, hint: String, available: String },
    #[error(
        "{}: the fit has columns that this table lacks: {names}; add them, with empty cells where nothing is known (the columns are {available})",
        file.display()
    )]
    MissingColumns { file: PathBuf, names: String, available: String },
    #[error(
        "{}: the table has {found} columns and the fit {expected}, and columns without names can only be matched by position; name the columns in both tables, or give the same number",
        file.display()
    )]
    OtherWidth { file: PathBuf, found: usize, expected: usize },
    #[error("{}: ⟨columns⟩ names `{name}` twice; name each column once", file.display())]
    RepeatedSelection { file: PathBuf, name: String },
    #[error("{}: ⟨columns⟩ names `{name}`, and so does ⟨{option}⟩; leave it out of one of them", file.display())]
    TwoRoles { file: PathBuf, name: String, option: &'static str },
    #[error(
        "{}: ⟨{option}⟩ cannot be used because {kind} files hold numbers only; give a table with that column as ⟨row-data⟩, use a .csv file, or omit it",
        file.display()
    )]
    NumbersOnly { file: PathBuf, option: &'static str, kind: &'static str },

    #[error(
        "{}: ⟨row-data⟩ is given, but no column of it is named; name some with ⟨covariates⟩, ⟨labels⟩, ⟨id⟩, ⟨offset⟩, ⟨time⟩ or ⟨sequence⟩, or omit it",
        file.display()
    )]
    NoRowData { file: PathBuf },
    #[error(
        "{}: it has {found} rows, but the data have {expected}; give one line per row of the data, in the same order",
        file.display()
    )]
    RowDataRows { file: PathBuf, found: usize, expected: usize },
    #[error(
        "{}: row {row} is named `{found}`, but that row of the data is named `{expected}`; put the lines in the order of the data",
        file.display()
    )]
    RowDataOrder { file: PathBuf, row: usize, found: String, expected: String },

    #[error(
        "{}: this is not a .npy file, since it does not begin with the NumPy signature; save the array with numpy.save or correct the extension",
        file.display()
    )]
    NpyMagic { file: PathBuf },
    #[error(
        "{}: .npy format version {major}.{minor} is not supported; save the array again with numpy.save",
        file.display()
    )]
    NpyVersion { file: PathBuf, major: u8, minor: u8 },
    #[error(
        "{}: the .npy header cannot be understood ({reason}); save the array again with numpy.save",
        file.display()
    )]
    NpyHeader { file: PathBuf, reason: &'static str },
    #[error(
        "{}: the file is cut short, with {found} bytes where {needed} are needed for {what}; copy or save it again",
        file.display()
    )]
    NpyTruncated { file: PathBuf, found: u64, needed: String, what: String },
    #[error(
        "{}: the array holds {kind} (dtype {dtype}), which cannot be used; save real numbers instead, for instance array.astype(float)",
        file.display()
    )]
    NpyType { file: PathBuf, kind: &'static str, dtype: String },
    #[error(
        "{}: the array has shape {shape}, but a table has two axes, rows by columns; {remedy}",
        file.display()
    )]
    NpyAxes { file: PathBuf, shape: String, remedy: &'static str },
    #[error(
        "{}: the array has shape {shape} and so holds no value; save one with at least one row and one column",
        file.display()
    )]
    NpyEmpty { file: PathBuf, shape: String },
    #[error("{}: {problem}; the arrays are {arrays}, and {remedy}", file.display())]
    NpzChoice { file: PathBuf, problem: String, arrays: String, remedy: &'static str },

    #[error("{}: line {line}: {problem}; {remedy}", file.display())]
    Mtx { file: PathBuf, line: usize, problem: String, remedy: &'static str },
    #[error(
        "{}: it names {found} {what}, but the matrix next to it has {expected}; keep the files of one experiment together, or move this one elsewhere to read the matrix without names",
        file.display()
    )]
    MtxNames { file: PathBuf, what: &'static str, found: usize, expected: u64 },
}
