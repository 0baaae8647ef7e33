# @title Run this cell first
# It installs what this notebook needs, if that is missing or older.
import subprocess
import sys
from importlib import invalidate_caches, metadata
from importlib.util import find_spec
from pathlib import Path


class Stop(Exception):
    """One line in place of a traceback; the cells below do not run."""

    def _render_traceback_(self):
        return [str(self)]


def prepare(wanted, address, modules):
    name, wheel = "provable-privacy", f"provable_privacy-{wanted}-py3-none-any.whl"

    def installed():
        return {one.metadata["Name"]: one.version for one in metadata.distributions()}

    def numbers(version):
        return [int(part) for part in version.split(".")[:3]]

    def folder(package):
        spec = find_spec(package)
        return Path(spec.origin).parents[1] if spec and spec.origin else None

    before, place = installed(), folder("dplib")
    if "dplib" in before or place and place != folder("provable_privacy"):
        raise Stop(
            f"Another project's dplib is in {place}, and Python would import it in place of this book's. "
            "Remove it (%pip uninstall -y dplib, or rename the file), or use a fresh environment. "
            "Then restart the kernel and run this cell again."
        )
    ours = before.get(name, "0")
    if numbers(ours)[0] == numbers(wanted)[0] and numbers(ours) >= numbers(wanted) and all(map(find_spec, modules)):
        return

    here = [Path.cwd(), *Path.cwd().parents]
    wheelhouses = [one / "wheelhouse" for one in here if (one / "wheelhouse").is_dir()]
    wheels = [one / wheel for one in [*here, *wheelhouses] if (one / wheel).is_file()]
    if not wheels and not address:
        raise Stop(f"Put {wheel} into the folder of this notebook, or into one above it, and run this cell again.")
    offline = ["--no-index", "--find-links", str(wheelhouses[0])] if wheelhouses else []
    wish = f"{wheels[0]}[sections]" if wheels else f"{name}[sections] @ {address}"
    print(f"Installing {name} {wanted} and what it needs. This takes a few minutes.", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *offline, wish]
    done = subprocess.run(pip, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise Stop(
            f"pip could not install {name} {wanted}. It said:\n{done.stderr.strip()[-1000:]}\n"
            "If there is no network, unpack provable-privacy-wheelhouse.zip beside this folder and run this cell again."
        )
    invalidate_caches()
    after = installed()
    loaded = sorted({
        one
        for module, owners in metadata.packages_distributions().items()
        for one in owners
        if module in sys.modules and one in before and before[one] != after.get(one)
    })
    if loaded or not folder("provable_privacy"):
        old = ", ".join(loaded) or "its list of packages"
        raise Stop(
            f"All is installed. Python had loaded another version of {old} before. "
            "Restart the kernel once (menu Kernel or Runtime), and run the cells from the top."
        )
    print("Done.")


prepare("WANTED", "ADDRESS", "MODULES".split())
