"""Zarr folders as tables of the program: every format, codec and order that zarr and AnnData write."""

import json
import subprocess
import sys

import numpy as np
import pytest

zarr, anndata, numcodecs = (pytest.importorskip(name) for name in ("zarr", "anndata", "numcodecs"))
sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore")
SHORT = "--likelihood gaussian --features 4 --warmup 1 --draws 2 --chains 1 --init random --threads 1 --seed 1 --no-report --quiet".split()


def program(folder, *words):
    return subprocess.run([sys.executable, "-m", "rflvm", *map(str, words)], cwd=folder, capture_output=True, text=True)


def fitted(folder, *words):
    """The store of a short fit of a table."""
    done = program(folder, "fit", *words, *SHORT, "--overwrite", "--out", "fit")
    assert done.returncode == 0, done.stderr
    return zarr.open_group(folder / "fit" / "draws.zarr", mode="r")


def refused(folder, *words):
    done = program(folder, "fit", *words, *SHORT, "--out", "refused")
    assert done.returncode == 2 and not (folder / "refused").exists(), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def table():
    """Wide enough that a chunk has several blocks of Blosc, and a rest."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(130, 37)).round(2)
    values[4, 5] = values[99, 0] = np.nan
    return values


@pytest.mark.parametrize(
    "how",
    [
        dict(compressor=None),
        dict(compressor=numcodecs.Zlib(), order="F"),
        dict(compressor=numcodecs.GZip(), dimension_separator="/"),
        dict(compressor=numcodecs.Zstd()),
        dict(compressor=numcodecs.LZ4(), dtype=">f8"),
        *(dict(compressor=numcodecs.Blosc(cname, 5, shuffle), dtype="f4") for cname in ("lz4", "zstd") for shuffle in (0, 1, 2)),
        dict(compressor=numcodecs.Blosc("zlib", 1, 1, blocksize=1024)),
        dict(compressor=numcodecs.Blosc("lz4hc", 9, 2, blocksize=4096), order="F"),
        dict(compressor=numcodecs.Blosc("lz4", 0, 1)),
    ],
    ids=str,
)
def test_arrays_of_format_2(table, tmp_path, how):
    how = dict(dtype="f8", order="C") | how
    array = zarr.create(table.shape, chunks=(50, 16), store=tmp_path / "table.zarr", zarr_format=2, fill_value=np.nan, **how)
    array[:] = table
    kept = fitted(tmp_path, "table.zarr")["observed_data/y"][:]
    assert np.array_equal(kept, table.astype(how["dtype"]).astype(float), equal_nan=True)


@pytest.mark.parametrize(
    "how",
    [
        dict(compressors=None),
        dict(compressors=zarr.codecs.ZstdCodec(checksum=True)),
        dict(compressors=[zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]),
        dict(compressors=zarr.codecs.BloscCodec(cname="zstd", shuffle="bitshuffle")),
        dict(filters=[zarr.codecs.TransposeCodec(order=(1, 0))]),
        dict(chunk_key_encoding={"name": "v2", "separator": "."}),
    ],
    ids=str,
)
def test_arrays_of_format_3(table, tmp_path, how):
    array = zarr.create_array(tmp_path / "table.zarr", shape=table.shape, chunks=(64, 10), dtype="f8", fill_value=np.nan, **how)
    array[:] = table
    assert np.array_equal(fitted(tmp_path, "table.zarr")["observed_data/y"][:], table, equal_nan=True)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "bool"])
def test_whole_numbers_groups_and_chunks_that_were_never_written(tmp_path, dtype):
    group = zarr.open_group(tmp_path / "group.zarr", mode="w")
    counts = (np.arange(60 * 9).reshape(60, 9) % 7 > 3) if dtype == "bool" else np.arange(60 * 9).reshape(60, 9) % 7
    array = group.create_array("counts", shape=counts.shape, chunks=(20, 4), dtype=dtype, fill_value=True if dtype == "bool" else 1)
    array[:40] = counts[:40]
    group.create_array("other", shape=(60,), dtype="f8")
    kept = fitted(tmp_path, "group.zarr", "--columns", "3,9,1")["observed_data/y"][:]
    assert np.array_equal(kept[:40], counts[:40][:, [2, 8, 0]]) and (kept[40:] == 1).all()


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
@pytest.mark.parametrize("layout", [2, 3])
def test_anndata(tmp_path, kind, layout):
    rng = np.random.default_rng(1)
    counts = rng.poisson(1.0, (50, 8)).astype(np.float32)
    adata = anndata.AnnData(counts if kind == "dense" else sparse.csr_matrix(counts).asformat(kind))
    adata.obs_names, adata.var_names = [f"cell {n}" for n in range(50)], [f"gene {j}" for j in range(8)]
    adata.obs["type"] = [["B", "T", "NK"][n % 3] for n in range(50)]
    adata.obs["type"] = adata.obs["type"].astype("category")
    adata.obs["depth"] = rng.normal(size=50)
    adata.layers["twice"] = 2 * adata.X
    with anndata.settings.override(zarr_write_format=layout):
        adata.write_zarr(tmp_path / "cells.zarr")
    assert (tmp_path / "cells.zarr" / "zarr.json").exists() == (layout == 3)
    store = fitted(tmp_path, "cells.zarr", "--labels", "type", "--offset", "depth", "--columns", "gene 7,gene 0")
    assert np.array_equal(store["observed_data/y"][:], counts[:, [7, 0]])
    assert list(store["observed_data/row"][:])[:2] == ["cell 0", "cell 1"] and list(store["observed_data/column"][:]) == ["gene 7", "gene 0"]
    assert list(store["constant_data/label"][:]) == list(adata.obs["type"]) and np.array_equal(store["constant_data/offset"][:], adata.obs["depth"])
    assert np.array_equal(fitted(tmp_path, "cells.zarr", "--array", "layers/twice")["observed_data/y"][:], 2 * counts)
    assert "`kind`, which does not exist in obs" in refused(tmp_path, "cells.zarr", "--labels", "kind")
    assert "X" in refused(tmp_path, "cells.zarr", "--array", "nothing")


def test_columns_of_obs_with_missing_numbers_are_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    adata = anndata.AnnData(np.random.default_rng(1).normal(size=(12, 4)).astype("float32"))
    adata.obs["day"] = pandas.array([None, *range(1, 12)], dtype="Int64")
    adata.obs["dose"] = [np.nan, *np.arange(11) * 0.5]
    adata.write_zarr(tmp_path / "cells.zarr")
    store = fitted(tmp_path, "cells.zarr", "--labels", "day")
    assert list(store["constant_data/label"][:]) == ["", *map(str, range(1, 12))]
    store = fitted(tmp_path, "cells.zarr", "--labels", "dose")
    assert list(store["constant_data/label"][:]) == ["", "0", *(f"{dose:g}" for dose in np.arange(1, 11) * 0.5)]
    for column in ("day", "dose"):
        assert "row 1" in (said := refused(tmp_path, "cells.zarr", "--covariates", column)) and "the covariate is missing" in said


def test_repeated_genes_and_metadata_that_ask_for_too_much(tmp_path):
    counts = sparse.csr_matrix(np.arange(40.0).reshape(10, 4))
    adata = anndata.AnnData(counts)
    adata.var_names = ["a", "b", "a", "a"]
    with anndata.settings.override(zarr_write_format=2):
        adata.write_zarr(tmp_path / "cells.zarr")
    store = fitted(tmp_path, "cells.zarr")
    assert list(store["observed_data/column"][:]) == ["a", "b", "a-1", "a-2"] and np.array_equal(store["observed_data/y"][:], counts.toarray())
    for name in ("X/indptr", "X/data", "X/indices", "obs/_index", "var/_index"):
        file = tmp_path / "cells.zarr" / name / ".zarray"
        right = file.read_text()
        about = json.loads(right)
        about["shape"] = about["chunks"] = [10**15]
        file.write_text(json.dumps(about))
        refused(tmp_path, "cells.zarr")
        file.write_text(right)
    file = tmp_path / "cells.zarr" / "X" / ".zattrs"
    about = json.loads(file.read_text())
    for shape in ([10**15, 4], [10, 10**15], [10, 2], [9, 4]):
        file.write_text(json.dumps(about | {"shape": shape}))
        refused(tmp_path, "cells.zarr")


def test_what_cannot_be_read_is_said_in_one_sentence(table, tmp_path):
    def of(name, **how):
        array = zarr.create_array(tmp_path / name, **(dict(shape=table.shape, chunks=(65, 37), dtype="f8") | how))
        return array

    of("shards.zarr", shards=(130, 37))[:] = table
    assert "write it without shards" in refused(tmp_path, "shards.zarr")
    of("complex.zarr", dtype="c16")
    assert "complex" in refused(tmp_path, "complex.zarr")
    of("deep.zarr", shape=(4, 4, 4), chunks=(2, 2, 2))
    assert "3 axes instead of two" in refused(tmp_path, "deep.zarr")
    group = zarr.open_group(tmp_path / "two.zarr", mode="w")
    for name in ("a", "b"):
        group.create_array(name, shape=(3, 3), dtype="f8")
    assert "2 arrays have two axes" in refused(tmp_path, "two.zarr")
    of("infinite.zarr")[:] = np.where(np.arange(37) == 7, np.inf, table)
    assert "row 1, column `8`" in refused(tmp_path, "infinite.zarr")
    old = zarr.create(table.shape, chunks=(65, 37), store=tmp_path / "old.zarr", zarr_format=2, compressor=numcodecs.Blosc("blosclz"), dtype="f8")
    old[:] = 1.0
    assert "blosclz" in refused(tmp_path, "old.zarr")
    # Damage of any kind is an error of one sentence.
    whole = zarr.create(table.shape, chunks=(65, 37), store=tmp_path / "hurt.zarr", zarr_format=2, compressor=numcodecs.Blosc("lz4"), dtype="f8")
    whole[:] = table
    chunk = tmp_path / "hurt.zarr" / "1.0"
    right = chunk.read_bytes()
    for wrong in (b"", right[:9], right[:40], right[:4] + b"\xff\xff\xff\xff" + right[8:], right[:16] + b"\xff" * 8 + right[24:]):
        chunk.write_bytes(wrong)
        assert "cannot be read as Zarr" in refused(tmp_path, "hurt.zarr")
    chunk.write_bytes(right)
    for wrong in ("{", '{"zarr_format": 2}', (tmp_path / "hurt.zarr" / ".zarray").read_text().replace("65", "0", 1)):
        (tmp_path / "hurt.zarr" / ".zarray").write_text(wrong)
        assert "cannot be read as Zarr" in refused(tmp_path, "hurt.zarr")
