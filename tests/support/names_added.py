"""The top-level names that `import qops`, and then all of its modules, put into `sys.modules`, but must not.

A name that the user has as well, such as a folder ``shared`` beside a script, would no longer be found. `make wheel`
runs this file by the Python that the wheel is installed in, which has numpy and nothing else.
"""

import importlib
import pkgutil
import sys

CYTHON = ("cython_runtime", "_cython_")  # what every module by Cython adds, numpy's too


def wrong(before):
    """The names that were added, but for the package, numpy, Python's own and Cython's."""
    names = {name.partition(".")[0] for name in set(sys.modules) - before}
    return sorted(name for name in names - sys.stdlib_module_names - {"qops", "numpy"} if not name.startswith(CYTHON))


if __name__ == "__main__":
    before = set(sys.modules)
    import qops

    found = wrong(before)
    for module in pkgutil.walk_packages(qops.__path__, "qops."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    loaded = sum(name.startswith("qops.") for name in sys.modules)
    print(f"{loaded} modules of qops loaded; names that only others should have:", found + wrong(before))
    sys.exit(bool(found + wrong(before)))
