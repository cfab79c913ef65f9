"""No code is created at run time: all executable code comes from files, and no folder needs to be writable."""

from __future__ import annotations

import ast
import site
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.kernels.copies import PACKAGE, run

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads /proc or calls prctl, which only Linux has"
)

SCORE = """
import captious, warnings
warnings.simplefilter("ignore", UserWarning)
warnings.filterwarnings("error", category=captious.kernels.library.KernelWarning)
references = {"1": ["a dog runs", "a small dog"], "2": ["two cats", "cats on a mat"]}
corpus = captious.load(references, {"1": "a dog", "2": "cats sit"})
scores = captious.score(corpus, METRICS)
print({name: one.value for name, one in scores.items()})
"""
COCO = "BLEU,METEOR,ROUGE-L,CIDEr-D,SPICE"
#: Metrics that do not take long without a cache.
QUICK = "BLEU,ROUGE-L,CIDEr-D,SPICE"
IMPORT = "import captious.kernels.library\n"


def program(metrics: str, before: str = "", after: str = "") -> str:
    return f"METRICS = {metrics!r}\n{before}\n{IMPORT}{SCORE}\n{after}"


@pytest.fixture(scope="module")
def expected() -> str:
    """Scores of the quick metrics as usual."""
    done = run(program(QUICK))
    assert done.returncode == 0, done.stderr
    return done.stdout


@linux_only
def test_all_that_is_executable_comes_from_installed_files() -> None:
    done = run(program(COCO, after="print(open('/proc/self/maps').read(), end='')"))
    assert done.returncode == 0, done.stderr
    roots = {
        sys.prefix,
        sys.base_prefix,
        *site.getsitepackages(),
        *sysconfig.get_paths().values(),
        str(PACKAGE),
        "/usr",
        "/lib",
        "/lib64",
        "/opt",
        "/nix",
    }
    trusted = [path for root in roots for path in (Path(root), Path(root).resolve())]
    files = set()
    for line in done.stdout.splitlines()[1:]:
        _, rights, _, _, _, *path = line.split(maxsplit=5)
        if "x" not in rights:
            continue
        assert "w" not in rights, line
        assert path, f"executable memory that belongs to no file: {line}"
        if path[0] not in ("[vdso]", "[vsyscall]"):
            assert path[0].startswith("/") and not path[0].endswith("(deleted)"), line
            assert any(Path(path[0]).is_relative_to(folder) for folder in trusted), line
            files.add(Path(path[0]).name)
    assert "captious_kernels.so" in files


#: Linux 6.3 and later. From then on the process can neither map memory that is both writable and
#: executable, nor make memory executable later.
DENY = """
import ctypes, mmap, sys
prctl = ctypes.CDLL(None, use_errno=True).prctl
if prctl(65, 1, 0, 0, 0):
    sys.exit("unsupported")
try:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
except PermissionError:
    pass
else:
    sys.exit("memory may still be writable and executable")
"""


@linux_only
def test_scoring_works_where_memory_is_never_writable_and_executable() -> None:
    usual = run(program(COCO))
    done = run(program(COCO, before=DENY))
    if done.stderr.strip() == "unsupported":
        pytest.skip("this kernel has no PR_SET_MDWE")
    assert done.returncode == 0, done.stderr
    assert done.stdout == usual.stdout != ""


NO_ENTRY = """
import pwd
def getpwuid(number):
    raise KeyError(number)
pwd.getpwuid = getpwuid
"""
#: A folder in which not even root can create files.
READ_ONLY = "/proc"


@pytest.mark.parametrize(
    ("home", "before"),
    [(READ_ONLY, ""), ("/nonexistent/home", ""), ("/dev/null", ""), (None, NO_ENTRY)],
    ids=["read-only", "missing", "no folder", "none"],
)
def test_scoring_needs_no_home(home: str | None, before: str, expected: str) -> None:
    check = "from captious.core.cache import cache_directory; print(cache_directory())"
    done = run(
        program(QUICK, before, check), HOME=home, CAPTIOUS_CACHE=None, XDG_CACHE_HOME=None, LOCALAPPDATA=None
    )
    assert done.returncode == 0, done.stderr
    *scores, folder = done.stdout.splitlines(keepends=True)
    assert "".join(scores) == expected
    assert folder.strip() == (f"{home}/.cache/captious" if home else "None")


def test_a_read_only_home_folder(tmp_path: Path, expected: str) -> None:
    """Root can still write to it, so its content afterwards is not checked."""
    tmp_path.chmod(0o555)
    try:
        done = run(
            program(QUICK), HOME=str(tmp_path), CAPTIOUS_CACHE=None, XDG_CACHE_HOME=None, LOCALAPPDATA=None
        )
    finally:
        tmp_path.chmod(0o755)
    assert done.stdout == expected, done.stderr


def test_no_kernel_writes_files(tmp_path: Path, expected: str) -> None:
    """The cache has tables and models; no code."""
    done = run(program(QUICK), CAPTIOUS_CACHE=str(tmp_path))
    assert done.stdout == expected, done.stderr
    kinds = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
    assert not kinds & {".so", ".o", ".kernel", ".nbi", ".nbc", ".dll", ".dylib"}, kinds


def test_nothing_imports_the_compiler() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not {name.split(".")[0] for name in names} & {"numba", "llvmlite", "native"}, path


def test_scoring_works_where_there_is_no_compiler(expected: str) -> None:
    missing = "import sys\nfor name in ('numba', 'llvmlite', 'native'):\n    sys.modules[name] = None"
    assert run(program(QUICK, missing)).stdout == expected


def test_importing_captious_and_scoring_little_loads_nothing_heavy() -> None:
    heavy = "{'numba', 'llvmlite', 'scipy', 'torch', 'matplotlib', 'pandas'}"
    after = f"import sys; print(sorted({heavy} & set(sys.modules)))"
    done = run(program("lexical", after=after))
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr
