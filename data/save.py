"""Write a table of this folder so that the same table always gives the same bytes, and record its checksum."""
import gzip
import hashlib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
HEADER = """\
# sha256 of each table as uncompressed csv, because the bytes of a gzip file depend on the version of zlib.
# To check by hand: gunzip -k *.csv.gz && sha256sum -c SHA256SUMS
"""


def save(name, table, folder=FOLDER):
    """Write `table` as <name>.csv.gz in `folder` and put its line in SHA256SUMS there."""
    csv = table.to_csv(index=False, lineterminator="\n").encode()
    with (open(folder / f"{name}.csv.gz", "wb") as file,
          gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed):
        packed.write(csv)
    sums = folder / "SHA256SUMS"
    lines = sums.read_text(encoding="utf-8").splitlines() if sums.exists() else []
    digests = {line.split()[1]: line.split()[0] for line in lines if not line.startswith("#")}
    digests[f"{name}.csv"] = hashlib.sha256(csv).hexdigest()
    sums.write_text(HEADER + "".join(f"{digests[file]}  {file}\n" for file in sorted(digests)), encoding="utf-8")
