-- The Python that runs inside the server is an ordinary package (plpython/memwarden_core). The build
-- puts its source here; the first call on a connection compiles it, later calls find it in GD.
-- The key is the hash of the source: after ALTER EXTENSION UPDATE an open session loads the new code.
-- GD survives SET ROLE and DISCARD ALL and therefore holds code, and nothing of a tenant's.
CREATE OR REPLACE FUNCTION memwarden_internal.load_python()
RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $memwarden_python$
import importlib.abc
import importlib.util
import sys

SOURCES = @python_sources@
PACKAGE = "memwarden_core_@python_hash@"


class Embedded(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    """Finds the package's modules in SOURCES; relative imports work under any package name."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == PACKAGE:
            name = "__init__"
        elif fullname.startswith(PACKAGE + "."):
            name = fullname[len(PACKAGE) + 1:]
        else:
            return None
        if name not in SOURCES:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=name == "__init__")

    def exec_module(self, module):
        name = module.__name__.removeprefix(PACKAGE).lstrip(".") or "__init__"
        exec(compile(SOURCES[name], f"<memwarden_core/{name}.py>", "exec"), module.__dict__)


if PACKAGE not in sys.modules:
    sys.meta_path.insert(0, Embedded())
GD["memwarden:@python_hash@"] = importlib.import_module(PACKAGE + ".server")
$memwarden_python$;
COMMENT ON FUNCTION memwarden_internal.load_python() IS
    'Compiles the embedded Python package into this session. Called by the PL/Python wrappers.';
REVOKE ALL ON FUNCTION memwarden_internal.load_python() FROM PUBLIC;

-- Loading takes a tenth of a second: who writes does it before locking a scope, not while others wait there.
CREATE OR REPLACE FUNCTION memwarden_internal.ready_python()
RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
if "memwarden:@python_hash@" not in GD: plpy.execute("SELECT memwarden_internal.load_python()")
GD["memwarden:@python_hash@"].ready()
$function$;
COMMENT ON FUNCTION memwarden_internal.ready_python() IS
    'Loads the embedded Python package into this session, unless it is there.';
REVOKE ALL ON FUNCTION memwarden_internal.ready_python() FROM PUBLIC;
