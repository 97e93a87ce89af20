// node run.mjs FOLDER TESTS...: pytest in Pyodide, on what build.py has laid out in FOLDER.
const [folder, ...tests] = process.argv.slice(2);
const { loadPyodide } = await import(`${folder}/node_modules/pyodide/pyodide.mjs`);
const pyodide = await loadPyodide();
for (const name of ["site", "pure", "source"]) pyodide.mountNodeFS(`/${name}`, `${folder}/${name}`);
pyodide.globals.set("tests", pyodide.toPy(tests));
process.exit(pyodide.runPython(`
import os, sys
sys.path[:0] = ["/site", "/pure"]
sys.dont_write_bytecode = True
os.chdir("/source")
import pytest
int(pytest.main(["-q", "--capture=sys", "-p", "no:cacheprovider", *tests]))
`));
