"""The lines by which a script makes sure that what it imports is Headlight's, and no model.py beside the script."""

from model import PROGRAM

CHECK = """\
# This runs in any folder, with the Python that {program} is installed in: pip install -e, and {program}'s folder.
from importlib import import_module

for package in map(import_module, {packages}):
    if getattr(package, "PROGRAM", "") != "{program}":
        raise SystemExit(f"{{package}} hides {program}'s package: rename it, or run this script in another folder.")

"""


def package_check(*packages: str) -> str:
    """The lines, which stand before all imports. Of two packages, the one that the other imports comes first."""
    return CHECK.format(packages=packages, program=PROGRAM)
